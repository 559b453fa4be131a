// Trials.
#include "bench/trial.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

enum { PROBE_ITERATIONS = 20 };

static size_t face_bytes(const mo_system *s) { return sizeof(double) * (size_t)s->faces.count; }
static size_t body_bytes(const mo_system *s) { return sizeof(double) * (size_t)s->bodies.count; }
int32_t mo_trial_size(const mo_trial *t) { return t->system->faces.count + t->system->bodies.count; }

// The velocities of faces and bodies as one array.
static void get_velocity(const mo_system *s, double *to)
{
    memcpy(to, s->faces.velocity, face_bytes(s));
    if (s->bodies.count) memcpy(to + s->faces.count, s->bodies.velocity, body_bytes(s));
}

// Copies multipliers and bounds of friction to (`back`: from) one array; returns how many there are.
static size_t copy_multipliers(const mo_system *s, double *kept, bool back)
{
    size_t at = 0;
    for (int k = 0; k < MO_BLOCK_KINDS; k++) {
        const mo_block *b = s->block[k];
        double *const part[3] = {b ? b->x : NULL, b && k == MO_BLOCK_FRICTION ? b->lower : NULL,
                                 b && k == MO_BLOCK_FRICTION ? b->upper : NULL};
        for (int i = 0; i < 3; i++) {
            if (!part[i]) continue;
            size_t rows = (size_t)b->rows;
            if (kept && rows) memcpy(back ? part[i] : kept + at, back ? kept + at : part[i], sizeof(double) * rows);
            at += rows;
        }
    }
    return at;
}

mo_status mo_trial_create(mo_system *s, mo_trial *out, mo_error *err)
{
    *out = (mo_trial){.system = s, .reference_residual = NAN};
    size_t size = (size_t)mo_trial_size(out), multipliers = copy_multipliers(s, NULL, false);
    out->start = mo_alloc(sizeof(double) * (3 * size + multipliers + 1));
    if (!out->start) return mo_fail_memory(err);
    out->velocity = out->start + size, out->reference = out->velocity + size, out->multiplier = out->reference + size;
    get_velocity(s, out->start);
    copy_multipliers(s, out->multiplier, false);
    return MO_OK;
}

void mo_trial_destroy(mo_trial *t)
{
    mo_free(t->start);
    *t = (mo_trial){0};
}

void mo_trial_restart(const mo_trial *t, bool keep_multipliers)
{
    const mo_system *s = t->system;
    memcpy(s->faces.velocity, t->start, face_bytes(s));
    if (s->bodies.count) memcpy(s->bodies.velocity, t->start + s->faces.count, body_bytes(s));
    if (!keep_multipliers) copy_multipliers(s, t->multiplier, true);
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
    get_velocity(t->system, t->velocity);
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
    get_velocity(t->system, t->reference);
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
