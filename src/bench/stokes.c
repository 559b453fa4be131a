// Pressure and viscosity of the standard domain in one solve: viscosities, raw and clamped weights, preconditioners.
//
// Raw weights and high viscosities need more iterations than one can wait for: a solve ends after 20000 of them, or
// when its time is up, and its line says so.
#include "base/parallel.h"
#include "bench/bench.h"
#include "bench/case.h"
#include "output/file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ITERATIONS = 20000, PROBE_ITERATIONS = 20, MOST_REPEATS = 16, DEFAULT_SECONDS = 45 };

static const double density = 1000, time_step = 0.01;

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
    mo_stokes stokes;
    double *start;             // [faces] u*
    double *velocity;          // [faces] of the method that found the reference
    double *reference;         // [faces] solved to 1e-10
    double reference_residual; // NaN: there is no reference
} problem;

typedef struct measurement {
    double cpu[MOST_REPEATS], wall[MOST_REPEATS];
    mo_system_info info;
    const char *reason;
    int64_t bytes; // most in use, above what was before
} measurement;

static mo_system *system_of(problem *p) { return &p->stokes.liquid.system; }

static int32_t block_rows(problem *p, int32_t kind)
{
    const mo_block *b = system_of(p)->block[kind];
    return b ? b->rows : 0;
}

static void problem_destroy(problem *p)
{
    mo_stokes_destroy(&p->stokes);
    mo_free(p->start);
    *p = (problem){0};
}

static mo_status problem_create(const mo_bench *b, mo_case *c, double viscosity, bool raw, problem *p)
{
    mo_solver_def solver = {.raw_weights = raw};
    *p = (problem){.cells = c->def.cells[0], .viscosity = viscosity, .raw = raw, .reference_residual = NAN};
    for (int64_t i = 0; i < mo_grid_cells(c->grid); i++) c->viscosity[i] = (float)viscosity;
    mo_case_std_velocity(c);
    MO_TRY(mo_case_stokes_assemble(c, time_step, &solver, &p->stokes, b->err));
    size_t faces = (size_t)system_of(p)->faces;
    p->start = mo_alloc(sizeof(double) * 3 * faces);
    if (!p->start) {
        problem_destroy(p);
        return mo_fail_memory(b->err);
    }
    p->velocity = p->start + faces, p->reference = p->velocity + faces;
    memcpy(p->start, system_of(p)->velocity, sizeof(double) * faces);
    return MO_OK;
}

static void restart(problem *p, bool keep_multipliers)
{
    mo_system *s = system_of(p);
    memcpy(s->velocity, p->start, sizeof(double) * (size_t)s->faces);
    for (int k = 0; k < MO_BLOCK_KINDS && !keep_multipliers; k++)
        if (s->block[k]) memset(s->block[k]->x, 0, sizeof(double) * (size_t)s->block[k]->rows);
}

// How many iterations fit into the time, from the speed of the first few; at most MOST_ITERATIONS.
static mo_status limit_by_time(const mo_bench *b, problem *p, mo_solver_def *solver)
{
    mo_system_info info;
    solver->max_iterations = PROBE_ITERATIONS;
    restart(p, false);
    double cpu = mo_cpu_seconds(), wall = mo_wall_seconds();
    MO_TRY(mo_system_solve(system_of(p), solver, &info, b->err));
    // The part of the machine this process got: on a busy one seconds of the clock mean little.
    double share = fmin((mo_cpu_seconds() - cpu) / (mo_wall_seconds() - wall) / mo_thread_count(), 1);
    double each = share * info.solve_seconds / (info.solve.iterations > 0 ? info.solve.iterations : 1);
    double fits = mo_bench_option(b->options.seconds, DEFAULT_SECONDS) / each;
    solver->max_iterations = fits < MOST_ITERATIONS ? (int32_t)fits + 1 : MOST_ITERATIONS;
    return MO_OK;
}

static mo_status measure(const mo_bench *b, problem *p, const mo_solver_def *solver, int32_t repeats, measurement *m)
{
    for (int32_t r = 0; r < repeats; r++) {
        restart(p, false);
        mo_memory_reset_peak();
        int64_t before = mo_memory_in_use();
        double cpu = mo_cpu_seconds(), wall = mo_wall_seconds();
        MO_TRY(mo_system_solve(system_of(p), solver, &m->info, b->err));
        m->bytes = mo_memory_peak() - before;
        m->cpu[r] = mo_cpu_seconds() - cpu, m->wall[r] = mo_wall_seconds() - wall;
    }
    m->reason = mo_reason_name(m->info.solve.reason);
    if (m->info.solve.reason == MO_REASON_MAX_ITERATIONS && solver->max_iterations < MOST_ITERATIONS)
        m->reason = "time";
    return MO_OK;
}

// Goes on from the solution just found. What does not get two orders below the tolerance is no reference.
static mo_status find_reference(const mo_bench *b, problem *p, mo_solver_def solver)
{
    mo_system_info info;
    size_t bytes = sizeof(double) * (size_t)system_of(p)->faces;
    memcpy(p->velocity, system_of(p)->velocity, bytes);
    restart(p, true);
    solver.tolerance = 1e-10;
    MO_TRY(mo_system_solve(system_of(p), &solver, &info, b->err));
    memcpy(p->reference, system_of(p)->velocity, bytes);
    if (info.solve.residual < 1e-8) p->reference_residual = info.solve.residual;
    return MO_OK;
}

// |u - v| / |v| in the norm of the mass.
static double difference(problem *p, const double *u, const double *v)
{
    const mo_system *s = system_of(p);
    double above = 0, below = 0;
    for (int32_t f = 0; f < s->faces; f++) {
        above += s->mass[f] * (u[f] - v[f]) * (u[f] - v[f]);
        below += s->mass[f] * v[f] * v[f];
    }
    return sqrt(above / below);
}

static const char *number_or_null(double value, char text[32])
{
    snprintf(text, 32, isfinite(value) ? "%.3g" : "null", value);
    return text;
}

static void report_solve(const mo_bench *b, problem *p, const method *k, measurement *m, int32_t repeats, double error)
{
    double number = p->viscosity * time_step / density * p->cells * p->cells, setup = m->info.setup_seconds;
    char text[2][32];
    mo_bench_report(b,
                    "{\"bench\":\"stokes\",\"case\":\"std\",\"route\":\"%s\",\"preconditioner\":\"%s\",\"weights\":\"%"
                    "s\",\"cells\":%d,\"viscosity\":%g,\"viscous_number\":%.4g,\"unknowns\":%d,\"iterations\":%d,"
                    "\"reason\":\"%s\",\"breakdowns\":%lld,\"fallbacks\":%d,\"cpu_seconds\":%.4g,\"wall_seconds\":%.4g,"
                    "\"setup_part\":%.3g,\"bytes\":%lld,"
                    "\"residual\":%.3g,\"error\":%s,\"reference_residual\":%s}",
                    k->route, k->preconditioner, weights_name[p->raw], p->cells, p->viscosity, number,
                    block_rows(p, MO_BLOCK_PRESSURE) + block_rows(p, MO_BLOCK_STRESS), m->info.solve.iterations,
                    m->reason, (long long)m->info.breakdowns, m->info.fallbacks, mo_bench_median(m->cpu, repeats),
                    mo_bench_median(m->wall, repeats), setup / (setup + m->info.solve_seconds), (long long)m->bytes,
                    m->info.solve.residual, number_or_null(error, text[0]),
                    number_or_null(p->reference_residual, text[1]));
}

static mo_status run_method(const mo_bench *b, problem *p, const method *k)
{
    measurement m;
    int32_t repeats = mo_bench_option(b->options.repeats, 1);
    if (repeats > MOST_REPEATS) repeats = MOST_REPEATS;
    mo_solver_def solver = {
        .route = k->which, .preconditioner = k->kind, .tolerance = 1e-6, .raw_weights = p->raw, .rounds = 1};
    solver.max_iterations = MOST_ITERATIONS;
    if (k->which == MO_ROUTE_PAPER) MO_TRY(limit_by_time(b, p, &solver));
    MO_TRY(measure(b, p, &solver, repeats, &m));
    const double *velocity = system_of(p)->velocity;
    if (isnan(p->reference_residual) && m.info.solve.reason == MO_REASON_CONVERGED) {
        MO_TRY(find_reference(b, p, solver));
        velocity = p->velocity;
    }
    double error = isnan(p->reference_residual) ? NAN : difference(p, velocity, p->reference);
    report_solve(b, p, k, &m, repeats, error);
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
    restart(p, true);
    MO_TRY(mo_dual_create(system_of(p), 1u << MO_BLOCK_PRESSURE | 1u << MO_BLOCK_STRESS, &d, b->err));
    mo_status status = write_files(b, p, &d);
    mo_dual_destroy(&d);
    return status;
}

// ---- Cases ----

// What clamping changes: both references, if they have the same faces.
static void report_clamping(const mo_bench *b, problem *clamped, problem *raw)
{
    const mo_liquid_system *l = &clamped->stokes.liquid, *m = &raw->stokes.liquid;
    double change = NAN;
    char text[32];
    if (!isnan(clamped->reference_residual + raw->reference_residual) && l->system.faces == m->system.faces &&
        memcmp(l->face_at, m->face_at, sizeof(int32_t) * (size_t)m->system.faces) == 0)
        change = difference(raw, clamped->reference, raw->reference);
    mo_bench_report(b,
                    "{\"bench\":\"stokes\",\"case\":\"clamped against raw\",\"cells\":%d,\"viscosity\":%g,"
                    "\"difference\":%s}",
                    raw->cells, raw->viscosity, number_or_null(change, text));
}

static mo_status run_viscosity(const mo_bench *b, mo_case *c, double viscosity)
{
    problem p[2] = {0};
    mo_status status = MO_OK;
    for (int raw = 0; raw < 2 && status == MO_OK; raw++) {
        status = problem_create(b, c, viscosity, raw, &p[raw]);
        for (int k = 0; k < METHODS && status == MO_OK; k++) {
            if (c->def.cells[0] > methods[k].most_cells) continue;
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
    mo_case c;
    MO_TRY(mo_case_create(&def, &c, b->err));
    mo_status status = MO_OK;
    for (size_t i = 0; i < sizeof viscosity / sizeof *viscosity && status == MO_OK; i++)
        status = run_viscosity(b, &c, viscosity[i]);
    mo_case_destroy(&c);
    return status;
}

mo_status mo_bench_stokes(const mo_bench *b)
{
    static const int32_t sizes[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
    if (b->options.export_to) MO_TRY(mo_directory_create(b->options.export_to, NULL, b->err));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] >= mo_bench_option(b->options.min_cells, 32) &&
            sizes[i] <= mo_bench_option(b->options.max_cells, 64))
            MO_TRY(run_cells(b, sizes[i]));
    return MO_OK;
}
