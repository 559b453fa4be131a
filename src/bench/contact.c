// Rigid bodies in contact, with liquid, in one solve: real systems of steps, taken from scenes while they run.
//
// The same system is solved by both routes, with the contacts and with the contact rows taken out; a viscous one is
// assembled a second time with raw weights. Raw weights may need more iterations than one can wait for: a solve ends
// when its time is up, and its line says so.
#include "bench/bench.h"
#include "bench/trial.h"
#include "output/file.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_SECONDS = 45, DEFAULT_CELLS = 32, MOMENTS = 2 };

typedef struct scene_case {
    const char *scene, *figure; // of the Monolith paper
    double moment[MOMENTS];     // s: the step that begins then is measured
} scene_case;

static const scene_case cases[] = {
    {"bowl_afloat", "3", {0.3, 0.6}},  // {P, C}: just hit, and swimming
    {"viscous_bowl", "6", {0.4, 0.7}}, // {P, V, C}: the liquid has reached the bowl, which stands
    {"nine_in_bowl", "7", {0.3, 0.6}}, // {P, V, C}: falling on each other, and at rest
};

typedef struct method {
    const char *name;
    mo_route route;
    bool ignore; // contacts
} method;

enum { PAPER, FAST, FAST_WITHOUT, PAPER_WITHOUT, METHODS };
static const method methods[METHODS] = {{"paper", MO_ROUTE_PAPER, false},
                                        {"fast", MO_ROUTE_FAST, false},
                                        {"fast", MO_ROUTE_FAST, true},
                                        {"paper", MO_ROUTE_PAPER, true}};
static const char *const weights_name[2] = {"clamped", "raw"};

typedef struct study { // of one system
    const mo_bench *bench;
    const scene_case *of;
    mo_sim *sim;
    mo_step_context *step; // while it is inspected
    bool raw;
    mo_trial trial;
    mo_cost cost[METHODS];
    double *found[METHODS]; // [mo_trial_size] velocities
} study;

static int32_t block_rows(const mo_system *y, int32_t kind) { return y->block[kind] ? y->block[kind]->rows : 0; }

// ---- Reports ----

static void report_solve(const study *s, int32_t k)
{
    const mo_trial *t = &s->trial;
    const mo_system *y = t->system;
    const mo_cost *c = &s->cost[k];
    double error[2] = {NAN, NAN};
    int32_t unknowns = block_rows(y, MO_BLOCK_PRESSURE) + block_rows(y, MO_BLOCK_STRESS),
            contacts = (int32_t)s->sim->stats.contacts;
    char text[3][32];
    if (!methods[k].ignore) unknowns += block_rows(y, MO_BLOCK_CONTACT);
    if (!methods[k].ignore && !isnan(t->reference_residual)) {
        error[0] = mo_trial_difference(t, s->found[k], t->reference);
        error[1] = mo_trial_body_difference(t, s->found[k], t->reference);
    }
    mo_bench_report(
        s->bench,
        "{\"bench\":\"contact\",\"case\":\"%s\",\"figure\":%s,\"time\":%.2f,\"route\":\"%s\",\"weights\":\"%s\","
        "\"contact_rows\":\"%s\",\"cells\":%d,\"bodies\":%d,\"contacts\":%d,\"unknowns\":%d,\"iterations\":%d,"
        "\"rounds\":%d,\"passes\":%d,\"reason\":\"%s\",\"by_paper\":%d,\"fallbacks\":%d,\"cpu_seconds\":%.4g,"
        "\"wall_seconds\":%.4g,\"setup_seconds\":%.4g,\"solve_seconds\":%.4g,\"bytes\":%lld,\"bytes_per_unknown\":%.1f,"
        "\"residual\":%.3g,\"error\":%s,\"body_error\":%s,\"reference_residual\":%s}",
        s->of->scene, s->of->figure, s->sim->time, methods[k].name, weights_name[s->raw],
        methods[k].ignore ? "ignored" : "kept", s->sim->def.domain.cells, mo_body_count(&y->bodies), contacts, unknowns,
        c->info.solve.iterations, c->info.rounds, c->info.passes, c->reason, c->info.by_paper, c->info.fallbacks,
        mo_cost_median(c, MO_COST_CPU), mo_cost_median(c, MO_COST_WALL), mo_cost_median(c, MO_COST_SETUP),
        mo_cost_median(c, MO_COST_SOLVE), (long long)c->bytes, (double)c->bytes / fmax(unknowns, 1),
        c->info.solve.residual, mo_bench_number(error[0], text[0]), mo_bench_number(error[1], text[1]),
        mo_bench_number(t->reference_residual, text[2]));
}

static double ratio(const study *s, int32_t above, int32_t below)
{
    const mo_cost *a = &s->cost[above], *b = &s->cost[below];
    return a->runs && b->runs ? mo_cost_median(a, MO_COST_CPU) / mo_cost_median(b, MO_COST_CPU) : NAN;
}

static bool converged(const study *s, int32_t k)
{
    return s->cost[k].runs && s->cost[k].info.solve.reason == MO_REASON_CONVERGED;
}

// What contacts cost on each route, and what the fast route saves; `at_least`: the papers' route did not finish.
static void report_ratios(const study *s)
{
    double difference = NAN;
    char text[4][32];
    if (converged(s, FAST) && converged(s, PAPER))
        difference = mo_trial_body_difference(&s->trial, s->found[FAST], s->found[PAPER]);
    mo_bench_report(
        s->bench,
        "{\"bench\":\"contact\",\"case\":\"%s, ratios\",\"figure\":%s,\"time\":%.2f,\"weights\":\"%s\","
        "\"cells\":%d,\"bodies\":%d,\"contacts\":%d,\"fast_kept_to_ignored\":%s,\"paper_kept_to_ignored\":%s,"
        "\"paper_to_fast\":%s,\"at_least\":%s,\"body_difference\":%s}",
        s->of->scene, s->of->figure, s->sim->time, weights_name[s->raw], s->sim->def.domain.cells,
        mo_body_count(&s->trial.system->bodies), (int32_t)s->sim->stats.contacts,
        mo_bench_number(ratio(s, FAST, FAST_WITHOUT), text[0]),
        mo_bench_number(ratio(s, PAPER, PAPER_WITHOUT), text[1]), mo_bench_number(ratio(s, PAPER, FAST), text[2]),
        converged(s, PAPER) ? "false" : "true", mo_bench_number(difference, text[3]));
}

// ---- Solves ----

static mo_status run_method(study *s, int32_t k, const mo_solver_def *solver)
{
    mo_system *y = s->trial.system;
    mo_block *contact = y->block[MO_BLOCK_CONTACT], *friction = y->block[MO_BLOCK_FRICTION];
    // The last kinds of blocks: the trial's other multipliers stay in their places.
    if (methods[k].ignore) y->block[MO_BLOCK_CONTACT] = y->block[MO_BLOCK_FRICTION] = NULL;
    mo_status status = mo_trial_measure(&s->trial, solver, &s->cost[k], s->bench->err);
    y->block[MO_BLOCK_CONTACT] = contact, y->block[MO_BLOCK_FRICTION] = friction;
    memcpy(s->found[k], s->trial.velocity, sizeof(double) * (size_t)mo_trial_size(&s->trial));
    return status;
}

// The papers' route without contacts is no yardstick for raw weights: it takes as long as one lets it.
static bool wanted(const study *s, int32_t k) { return !(s->raw && k == PAPER_WITHOUT); }

// In turn, so that ratios hold on a noisy machine; what did not converge runs once. The first that converges, the
// papers' if it does, also finds the reference.
static mo_status run_methods(study *s)
{
    const mo_bench *b = s->bench;
    mo_solver_def solver = s->sim->def.solver;
    int32_t repeats = mo_bench_option(b->options.repeats, 3);
    if (repeats > MO_TRIAL_RUNS) repeats = MO_TRIAL_RUNS;
    solver.route = MO_ROUTE_PAPER;
    MO_TRY(mo_trial_limit(&s->trial, mo_bench_option(b->options.seconds, DEFAULT_SECONDS), &solver, b->err));
    for (int32_t r = 0; r < repeats; r++)
        for (int32_t k = 0; k < METHODS; k++) {
            if (!wanted(s, k) || (r > 0 && !converged(s, k))) continue;
            solver.route = methods[k].route;
            MO_TRY(run_method(s, k, &solver));
            if (!methods[k].ignore && converged(s, k) && isnan(s->trial.reference_residual))
                MO_TRY(mo_trial_refer(&s->trial, solver, b->err));
        }
    for (int32_t k = 0; k < METHODS; k++)
        if (wanted(s, k)) report_solve(s, k);
    report_ratios(s);
    return MO_OK;
}

static mo_status run_system(study *s)
{
    MO_TRY(mo_trial_create(&s->step->assemble.liquid.system, &s->trial, s->bench->err));
    size_t size = (size_t)mo_trial_size(&s->trial);
    double *memory = mo_alloc(sizeof(double) * METHODS * size);
    for (int32_t k = 0; k < METHODS && memory; k++) s->found[k] = memory + (size_t)k * size;
    memset(s->cost, 0, sizeof s->cost);
    mo_status status = memory ? run_methods(s) : mo_fail_memory(s->bench->err);
    mo_trial_restart(&s->trial, false);
    mo_trial_destroy(&s->trial);
    mo_free(memory);
    return status;
}

// ---- Scenes ----

static mo_status assemble(study *s, bool raw)
{
    mo_liquid_destroy(&s->step->assemble.liquid);
    s->raw = s->sim->def.solver.raw_weights = raw;
    return mo_stage_assemble(s->sim, s->step, s->bench->err);
}

// Measures the system of a step, and leaves it as it was.
static mo_status inspect(void *user, mo_sim *sim, mo_step_context *c, mo_error *err)
{
    study *s = user;
    (void)err;
    s->step = c;
    MO_TRY(run_system(s));
    if (!sim->viscous) return MO_OK;
    MO_TRY(assemble(s, true));
    MO_TRY(run_system(s));
    return assemble(s, false);
}

static mo_status run_moments(study *s)
{
    mo_error *err = s->bench->err;
    for (int32_t m = 0; m < MOMENTS; m++) {
        while (mo_sim_time(s->sim) < s->of->moment[m] - 1e-9) MO_TRY(mo_sim_step(s->sim, NULL, err));
        s->sim->inspect = inspect, s->sim->inspect_user = s;
        MO_TRY(mo_sim_step(s->sim, NULL, err));
        s->sim->inspect = NULL;
    }
    return MO_OK;
}

static mo_status run_scene(const mo_bench *b, const scene_case *of, int32_t cells)
{
    study s = {.bench = b, .of = of};
    mo_scene *scene = NULL;
    char override[40];
    const char *const overrides[] = {override, "solver.route=fast", "solver.weights=clamped"};
    snprintf(override, sizeof override, "domain.cells=%d", cells);
    char *path = mo_path(b->options.scenes ? b->options.scenes : "scenes", "%s.lua", of->scene);
    mo_status status = path ? mo_scene_load(path, overrides, 3, &scene, b->err) : mo_fail_memory(b->err);
    if (status == MO_OK) {
        mo_scene_sim_def_mutable(scene)->threads = b->options.threads;
        status = mo_sim_create(mo_scene_sim_def(scene), &s.sim, b->err);
    }
    if (status == MO_OK) status = run_moments(&s);
    mo_sim_destroy(s.sim);
    mo_scene_destroy(scene);
    mo_free(path);
    return status;
}

mo_status mo_bench_contact(const mo_bench *b)
{
    static const int32_t sizes[] = {16, 24, 32, 48, 64, 96, 128};
    int32_t least = mo_bench_option(b->options.min_cells, DEFAULT_CELLS),
            most = mo_bench_option(b->options.max_cells, least > DEFAULT_CELLS ? least : DEFAULT_CELLS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (least == most) MO_TRY(run_scene(b, &cases[i], least));
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes && least < most; k++)
            if (sizes[k] >= least && sizes[k] <= most) MO_TRY(run_scene(b, &cases[i], sizes[k]));
    }
    return MO_OK;
}
