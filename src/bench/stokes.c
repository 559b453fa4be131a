// Pressure and viscosity of the standard domain in one solve: viscosities, raw and clamped weights, preconditioners;
// with light rigid bodies on request.
//
// Raw weights and high viscosities need more iterations than one can wait for: a solve ends after 20000 of them, or
// when its time is up, and its line says so.
#include "bench/bench.h"
#include "cases/case.h"
#include "bench/trial.h"
#include "output/file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_SECONDS = 45 };

static const double density = 1000, time_step = 0.01, light = 0.1; // the latter of bodies, of the liquid's density

typedef struct method {
    const char *route, *preconditioner;
    mo_route which;
    mo_preconditioner kind;
    int32_t most_cells;
} method;

// The first that converges also finds the reference.
static const method methods[] = {{"paper", "ssor", MO_ROUTE_PAPER, MO_PRECONDITIONER_SSOR, INT32_MAX},
                                 {"fast", "multigrid", MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR, INT32_MAX},
                                 {"paper", "jacobi", MO_ROUTE_PAPER, MO_PRECONDITIONER_JACOBI, 32},
                                 {"paper", "ic0", MO_ROUTE_PAPER, MO_PRECONDITIONER_IC0, 32}};
enum { METHODS = sizeof methods / sizeof *methods };

static const char *const weights_name[2] = {"clamped", "raw"};

typedef struct problem { // one system, to be solved again and again
    int32_t cells;
    double viscosity;
    bool raw;
    mo_liquid_system liquid;
    mo_trial trial;
} problem;

static mo_system *system_of(problem *p) { return &p->liquid.system; }

static const char *case_name(problem *p) { return system_of(p)->bodies.count ? "balls" : "std"; }

static int32_t block_rows(problem *p, int32_t kind)
{
    const mo_block *b = system_of(p)->block[kind];
    return b ? b->rows : 0;
}

static void problem_destroy(problem *p)
{
    mo_trial_destroy(&p->trial);
    mo_liquid_destroy(&p->liquid);
    *p = (problem){0};
}

static mo_status problem_create(const mo_bench *b, mo_case *c, double viscosity, bool raw, problem *p)
{
    mo_solver_def solver = {.raw_weights = raw};
    *p = (problem){.cells = c->def.cells[0], .viscosity = viscosity, .raw = raw};
    for (int64_t i = 0; i < mo_grid_cells(c->grid); i++) c->viscosity[i] = (float)viscosity;
    mo_case_std_velocity(c);
    MO_TRY(mo_case_stokes_assemble(c, time_step, &solver, &p->liquid, b->err));
    return mo_trial_create(system_of(p), &p->trial, b->err);
}

static void report_solve(const mo_bench *b, problem *p, const method *k, const mo_cost *m)
{
    const mo_trial *t = &p->trial;
    double number = p->viscosity * time_step / density * p->cells * p->cells, error[2] = {NAN, NAN};
    int32_t unknowns = block_rows(p, MO_BLOCK_PRESSURE) + block_rows(p, MO_BLOCK_STRESS);
    char text[3][32];
    if (!isnan(t->reference_residual)) {
        error[0] = mo_trial_difference(t, t->velocity, t->reference);
        error[1] = mo_trial_body_difference(t, t->velocity, t->reference);
    }
    mo_bench_report(b,
                    "{\"bench\":\"stokes\",\"case\":\"%s\",\"route\":\"%s\",\"preconditioner\":\"%s\",\"weights\":\"%"
                    "s\",\"cells\":%d,\"bodies\":%d,\"viscosity\":%g,\"viscous_number\":%.4g,\"unknowns\":%d,"
                    "\"iterations\":%d,\"reason\":\"%s\",\"breakdowns\":%lld,\"fallbacks\":%d,\"cpu_seconds\":%.4g,"
                    "\"wall_seconds\":%.4g,\"setup_seconds\":%.4g,\"solve_seconds\":%.4g,\"bytes\":%lld,"
                    "\"bytes_per_unknown\":%.1f,\"residual\":%.3g,\"error\":%s,\"body_error\":%s,"
                    "\"reference_residual\":%s}",
                    case_name(p), k->route, k->preconditioner, weights_name[p->raw], p->cells,
                    mo_body_count(&system_of(p)->bodies), p->viscosity, number, unknowns, m->info.solve.iterations,
                    m->reason, (long long)m->info.breakdowns, m->info.fallbacks, mo_cost_median(m, MO_COST_CPU),
                    mo_cost_median(m, MO_COST_WALL), mo_cost_median(m, MO_COST_SETUP), mo_cost_median(m, MO_COST_SOLVE),
                    (long long)m->bytes, (double)m->bytes / unknowns, m->info.solve.residual,
                    mo_bench_number(error[0], text[0]), mo_bench_number(error[1], text[1]),
                    mo_bench_number(t->reference_residual, text[2]));
}

static mo_status run_method(const mo_bench *b, problem *p, const method *k)
{
    mo_cost m = {0};
    mo_trial *t = &p->trial;
    int32_t repeats = mo_bench_option(b->options.repeats, 1);
    mo_solver_def solver = {
        .route = k->which, .preconditioner = k->kind, .tolerance = 1e-6, .raw_weights = p->raw, .rounds = 1};
    solver.max_iterations = MO_TRIAL_ITERATIONS;
    if (k->which == MO_ROUTE_PAPER)
        MO_TRY(mo_trial_limit(t, mo_bench_option(b->options.seconds, DEFAULT_SECONDS), &solver, b->err));
    for (int32_t r = 0; r < repeats && r < MO_TRIAL_RUNS; r++) MO_TRY(mo_trial_measure(t, &solver, &m, b->err));
    bool converged = m.info.solve.reason == MO_REASON_CONVERGED;
    if (isnan(t->reference_residual) && converged) MO_TRY(mo_trial_refer(t, solver, b->err));
    // Conjugate gradients that start anew may pause for longer than a solve is given: then multigrid goes on.
    solver.route = MO_ROUTE_FAST;
    if (isnan(t->reference_residual) && converged) MO_TRY(mo_trial_refer(t, solver, b->err));
    report_solve(b, p, k, &m);
    return MO_OK;
}

// ---- Export ----

// A: the matrix, b: right-hand side, x: solution, c: lattice cell of each row.
static mo_status write_files(const mo_bench *b, problem *p, const mo_dual *d)
{
    static const char kinds[] = "Abxc";
    mo_status status = MO_OK;
    char comment[200];
    snprintf(comment, sizeof comment, "monolith bench stokes: std, %d cells, viscosity %g, weights %s", p->cells,
             p->viscosity, weights_name[p->raw]);
    for (const char *kind = kinds; *kind && status == MO_OK; kind++) {
        char *path =
            mo_path(b->options.export_to, "std_%d_%.0f_%s_%c.mtx", p->cells, p->viscosity, weights_name[p->raw], *kind);
        if (!path)
            status = mo_fail_memory(b->err);
        else if (*kind == 'A')
            status = mo_matrix_market_write(path, comment, &d->A, b->err);
        else if (*kind == 'c')
            status = mo_matrix_market_coord(path, comment, d->rows, (const int32_t(*)[3])d->coord, b->err);
        else
            status = mo_matrix_market_vector(path, comment, d->rows, *kind == 'b' ? d->rhs : d->x, b->err);
        mo_free(path);
    }
    return status;
}

// The dual system of u* with the multipliers last found: the reference's, if there is one.
static mo_status export_system(const mo_bench *b, problem *p)
{
    mo_dual d;
    if (!b->options.export_to) return MO_OK;
    mo_trial_restart(&p->trial, true);
    MO_TRY(mo_dual_create(system_of(p), 1u << MO_BLOCK_PRESSURE | 1u << MO_BLOCK_STRESS, &d, b->err));
    mo_status status = write_files(b, p, &d);
    mo_dual_destroy(&d);
    return status;
}

// ---- Cases ----

// What clamping changes: both references, if they have the same faces.
static void report_clamping(const mo_bench *b, problem *clamped, problem *raw)
{
    const mo_liquid_system *l = &clamped->liquid, *m = &raw->liquid;
    double change = NAN;
    char text[32];
    if (!isnan(clamped->trial.reference_residual + raw->trial.reference_residual) &&
        l->system.faces.count == m->system.faces.count &&
        memcmp(l->face_at, m->face_at, sizeof(int32_t) * (size_t)m->system.faces.count) == 0)
        change = mo_trial_difference(&raw->trial, clamped->trial.reference, raw->trial.reference);
    mo_bench_report(b,
                    "{\"bench\":\"stokes\",\"case\":\"%s, clamped against raw\",\"cells\":%d,\"bodies\":%d,"
                    "\"viscosity\":%g,\"difference\":%s}",
                    case_name(raw), raw->cells, mo_body_count(&system_of(raw)->bodies), raw->viscosity,
                    mo_bench_number(change, text));
}

static mo_status run_viscosity(const mo_bench *b, mo_case *c, double viscosity)
{
    problem p[2] = {0};
    mo_status status = MO_OK;
    for (int raw = 0; raw < 2 && status == MO_OK; raw++) {
        status = problem_create(b, c, viscosity, raw, &p[raw]);
        for (int k = 0; k < METHODS && status == MO_OK; k++) {
            if (c->def.cells[0] > methods[k].most_cells || (k > 1 && b->options.bodies)) continue;
            status = run_method(b, &p[raw], &methods[k]);
            if (k == 0 && status == MO_OK) status = export_system(b, &p[raw]);
        }
    }
    if (status == MO_OK) report_clamping(b, &p[0], &p[1]);
    problem_destroy(&p[0]), problem_destroy(&p[1]);
    return status;
}

static mo_status run_cells(const mo_bench *b, int32_t cells)
{
    static const double viscosity[] = {0, 1, 1e2, 1e4, 1e6};
    mo_case_def def = {.cells = {cells, cells, cells},
                       .dx = 1.0 / cells,
                       .liquid = mo_case_std_liquid,
                       .solid = mo_case_std_solid,
                       .density = density};
    mo_case_balls balls;
    if (b->options.bodies > 0) {
        mo_case_balls_create(b->options.bodies, light * density, &balls);
        def.liquid = mo_case_plain_liquid, def.solids = &balls.solids, def.rigid = balls.rigid;
    }
    mo_case c;
    MO_TRY(mo_case_create(&def, &c, b->err));
    mo_status status = MO_OK;
    if (b->options.viscosity > 0) status = run_viscosity(b, &c, b->options.viscosity);
    for (size_t i = 0; i < sizeof viscosity / sizeof *viscosity && status == MO_OK && b->options.viscosity <= 0; i++)
        status = run_viscosity(b, &c, viscosity[i]);
    mo_case_destroy(&c);
    return status;
}

mo_status mo_bench_stokes(const mo_bench *b)
{
    static const int32_t sizes[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
    if (b->options.bodies < 0 || b->options.bodies > MO_CASE_BALLS)
        return mo_fail(b->err, MO_ERROR_INPUT, "bench stokes: at most %d bodies, got %d", MO_CASE_BALLS,
                       b->options.bodies);
    if (b->options.bodies && b->options.export_to)
        return mo_fail(b->err, MO_ERROR_INPUT, "bench stokes: systems with bodies are not exported");
    if (b->options.export_to) MO_TRY(mo_directory_create(b->options.export_to, NULL, b->err));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] >= mo_bench_option(b->options.min_cells, 32) &&
            sizes[i] <= mo_bench_option(b->options.max_cells, 64))
            MO_TRY(run_cells(b, sizes[i]));
    return MO_OK;
}
