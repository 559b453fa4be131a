// Trials.
#include "bench/trial.h"
#include "base/parallel.h"
#include "system/state.h"
#include <math.h>
#include <string.h>

enum { PROBE_ITERATIONS = 20 };

int32_t mo_trial_size(const mo_trial *t) { return (int32_t)mo_motion_size(t->system); }

mo_status mo_trial_create(mo_system *s, mo_trial *out, mo_error *err)
{
    *out = (mo_trial){.system = s, .reference_residual = NAN};
    size_t size = (size_t)mo_trial_size(out), duals = (size_t)mo_duals_size(s);
    out->start = mo_alloc(sizeof(double) * (3 * size + duals + 1));
    if (!out->start) return mo_fail_memory(err);
    out->velocity = out->start + size, out->reference = out->velocity + size, out->multiplier = out->reference + size;
    mo_motion_get(s, out->start), mo_duals_get(s, out->multiplier);
    return MO_OK;
}

void mo_trial_destroy(mo_trial *t)
{
    mo_free(t->start);
    *t = (mo_trial){0};
}

void mo_trial_restart(const mo_trial *t, bool keep_multipliers)
{
    mo_motion_set(t->system, t->start);
    if (!keep_multipliers) mo_duals_set(t->system, t->multiplier);
}

mo_status mo_trial_limit(const mo_trial *t, double seconds, mo_solver_def *solver, mo_error *err)
{
    mo_system_info info;
    solver->max_iterations = PROBE_ITERATIONS;
    mo_trial_restart(t, false);
    double cpu = mo_cpu_seconds(), wall = mo_wall_seconds();
    MO_TRY(mo_system_solve(t->system, solver, &info, err));
    // The part of the machine this process got: on a busy one seconds of the clock mean little.
    double share = fmin((mo_cpu_seconds() - cpu) / (mo_wall_seconds() - wall) / mo_thread_count(), 1);
    double each = share * info.solve_seconds / (info.solve.iterations > 0 ? info.solve.iterations : 1);
    double fits = seconds / each;
    solver->max_iterations = fits < MO_TRIAL_ITERATIONS ? (int32_t)fits + 1 : MO_TRIAL_ITERATIONS;
    return MO_OK;
}

mo_status mo_trial_measure(const mo_trial *t, const mo_solver_def *solver, mo_cost *cost, mo_error *err)
{
    double(*seconds)[MO_TRIAL_RUNS] = cost->seconds;
    int32_t r = cost->runs++;
    mo_trial_restart(t, false);
    mo_memory_reset_peak();
    int64_t before = mo_memory_in_use();
    double cpu = mo_cpu_seconds(), wall = mo_wall_seconds();
    MO_TRY(mo_system_solve(t->system, solver, &cost->info, err));
    cost->bytes = mo_memory_peak() - before;
    seconds[MO_COST_CPU][r] = mo_cpu_seconds() - cpu, seconds[MO_COST_WALL][r] = mo_wall_seconds() - wall;
    seconds[MO_COST_SETUP][r] = cost->info.setup_seconds, seconds[MO_COST_SOLVE][r] = cost->info.solve_seconds;
    cost->reason = mo_reason_name(cost->info.solve.reason);
    if (cost->info.solve.reason == MO_REASON_MAX_ITERATIONS && solver->max_iterations < MO_TRIAL_ITERATIONS)
        cost->reason = "time";
    mo_motion_get(t->system, t->velocity);
    return MO_OK;
}

double mo_cost_median(const mo_cost *c, mo_cost_kind kind)
{
    double v[MO_TRIAL_RUNS];
    memcpy(v, c->seconds[kind], sizeof v);
    return mo_bench_median(v, c->runs);
}

mo_status mo_trial_refer(mo_trial *t, mo_solver_def solver, mo_error *err)
{
    mo_system_info info;
    mo_trial_restart(t, true);
    solver.tolerance = 1e-10;
    MO_TRY(mo_system_solve(t->system, &solver, &info, err));
    mo_motion_get(t->system, t->reference);
    if (info.solve.residual < 1e-8) t->reference_residual = info.solve.residual;
    return MO_OK;
}

double mo_trial_difference(const mo_trial *t, const double *u, const double *v)
{
    const mo_system *s = t->system;
    double above = 0, below = 0;
    for (int32_t f = 0; f < s->faces.count; f++) {
        above += s->faces.mass[f] * (u[f] - v[f]) * (u[f] - v[f]);
        below += s->faces.mass[f] * fmax(v[f] * v[f], t->start[f] * t->start[f]);
    }
    return sqrt(above / below);
}

double mo_trial_body_difference(const mo_trial *t, const double *u, const double *v)
{
    double most = 0, size = 0;
    for (int32_t i = t->system->faces.count; i < mo_trial_size(t); i++)
        most = fmax(most, fabs(u[i] - v[i])), size = fmax(size, fmax(fabs(v[i]), fabs(t->start[i])));
    return size > 0 ? most / size : NAN;
}
