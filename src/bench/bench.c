// Benchmarks: every measurement is one JSON line.
#include "bench/bench.h"
#include "base/parallel.h"
#include "cases/case.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mo_bench_report(const mo_bench *b, const char *format, ...)
{
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    b->line(b->user, text);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double mo_bench_median(double *v, int32_t n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

const char *mo_bench_number(double value, char text[32])
{
    snprintf(text, 32, isfinite(value) ? "%.3g" : "null", value);
    return text;
}

// ---- pressure ----

enum { MOST_REPEATS = 64 };

typedef struct solve_times {
    double cpu[MOST_REPEATS], wall[MOST_REPEATS];
    int32_t iterations;
    int64_t bytes;
    double error;
} solve_times;

// One timed projection of the case's standard velocity; the error is that of the velocity against `reference`.
static mo_status time_projection(const mo_bench *b, mo_case *c, const mo_solver_def *solver,
                                 const mo_liquid_system *reference, int32_t repeat, solve_times *t)
{
    mo_pressure_def def = {.grid = c->grid,
                           .phi = c->phi,
                           .liquid = c->phase,
                           .area = c->area,
                           .density = c->def.density,
                           .dt = 0.01,
                           .dx = c->def.dx};
    mo_liquid_system p;
    mo_system_info info;
    mo_case_std_velocity(c);
    mo_arena_reset(c->arena);
    MO_TRY(mo_pressure_assemble(&def, c->arena, &p, b->err));
    mo_liquid_gather(&p, c->u);
    double cpu = mo_cpu_seconds(), wall = mo_wall_seconds();
    mo_status status = mo_system_solve(&p.system, solver, &info, b->err);
    t->cpu[repeat] = mo_cpu_seconds() - cpu, t->wall[repeat] = mo_wall_seconds() - wall;
    t->iterations = info.solve.iterations, t->bytes = info.bytes;
    double worst = 0, scale = 0;
    for (int32_t f = 0; reference && f < p.system.faces.count; f++) {
        worst = fmax(worst, fabs(p.system.faces.velocity[f] - reference->system.faces.velocity[f]));
        scale = fmax(scale, fabs(reference->system.faces.velocity[f]));
    }
    t->error = scale > 0 ? worst / scale : 0;
    mo_liquid_destroy(&p);
    return status;
}

static mo_status pressure_case(const mo_bench *b, int32_t cells)
{
    static const struct {
        const char *name;
        mo_route route;
        mo_preconditioner preconditioner;
    } routes[] = {{"fast", MO_ROUTE_FAST, 0},
                  {"paper", MO_ROUTE_PAPER, MO_PRECONDITIONER_SSOR},
                  {"paper-ic0", MO_ROUTE_PAPER, MO_PRECONDITIONER_IC0}};
    enum { ROUTES = 3 };
    mo_case_def def = {.cells = {cells, cells, cells},
                       .dx = 1.0 / cells,
                       .liquid = mo_case_std_liquid,
                       .solid = mo_case_std_solid,
                       .density = 1000};
    mo_case c;
    mo_liquid_system reference;
    mo_system_info info;
    MO_TRY(mo_case_create(&def, &c, b->err));
    mo_solver_def solver = {.tolerance = 1e-12, .max_iterations = 200};
    mo_case_std_velocity(&c);
    mo_status status = mo_case_project(&c, 0.01, &solver, &info, &reference, b->err);
    if (status != MO_OK) {
        mo_case_destroy(&c);
        return status;
    }
    solver = (mo_solver_def){.tolerance = 1e-6, .max_iterations = 10000};
    int32_t repeats = mo_bench_option(b->options.repeats, cells <= 128 ? 3 : 1);
    if (repeats > MOST_REPEATS) repeats = MOST_REPEATS;
    solve_times times[ROUTES];
    for (int32_t r = 0; r < repeats && status == MO_OK; r++) // alternate, so that ratios hold on a noisy machine
        for (int k = 0; k < ROUTES && status == MO_OK; k++) {
            solver.route = routes[k].route, solver.preconditioner = routes[k].preconditioner;
            status = time_projection(b, &c, &solver, &reference, r, &times[k]);
        }
    for (int k = 0; k < ROUTES && status == MO_OK; k++)
        mo_bench_report(
            b,
            "{\"bench\":\"pressure\",\"case\":\"std\",\"route\":\"%s\",\"cells\":%d,\"unknowns\":%d,\"iterations\":%"
            "d,\"cpu_seconds\":%.4g,\"wall_seconds\":%.4g,\"bytes\":%lld,\"error\":%.3g}",
            routes[k].name, cells, reference.system.block[MO_BLOCK_PRESSURE]->rows, times[k].iterations,
            mo_bench_median(times[k].cpu, repeats), mo_bench_median(times[k].wall, repeats), (long long)times[k].bytes,
            times[k].error);
    mo_liquid_destroy(&reference);
    mo_case_destroy(&c);
    return status;
}

static mo_status bench_pressure(const mo_bench *b)
{
    for (int32_t cells = mo_bench_option(b->options.min_cells, 32); cells <= mo_bench_option(b->options.max_cells, 256);
         cells *= 2)
        MO_TRY(pressure_case(b, cells));
    return MO_OK;
}

// ---- step and scaling: dam breaks ----

typedef struct step_cost {
    double cpu, wall, seconds[MO_STAGE_COUNT];
    int64_t particles, bytes;
    double iterations;
} step_cost;

// Runs `steps` steps from the start and returns the median cost of a step. Box `size`, liquid shape given.
static mo_status measure_steps(const mo_bench *b, mo_vec3 size, int32_t cells, const mo_shape *shape, int32_t steps,
                               step_cost *cost)
{
    enum { MOST = 400 };
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = shape;
    def.domain.size = size, def.domain.cells = cells, def.time.seconds = 100, def.threads = b->options.threads;
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim;
    int64_t before = mo_memory_in_use();
    mo_memory_reset_peak();
    if (!shape) return mo_fail_memory(b->err);
    MO_TRY(mo_sim_create(&def, &sim, b->err));
    double cpu[MOST], wall[MOST], stage[MO_STAGE_COUNT][MOST];
    mo_status status = MO_OK;
    cost->iterations = 0;
    if (steps > MOST) steps = MOST;
    for (int32_t s = 0; s < steps && status == MO_OK; s++) {
        mo_stats stats;
        double start = mo_wall_seconds();
        status = mo_sim_step(sim, &stats, b->err);
        wall[s] = mo_wall_seconds() - start, cpu[s] = stats.cpu_seconds;
        for (int k = 0; k < MO_STAGE_COUNT; k++) stage[k][s] = stats.seconds[k];
        cost->iterations += (double)stats.iterations / steps;
        cost->particles = stats.particles;
    }
    cost->bytes = mo_memory_peak() - before;
    cost->cpu = mo_bench_median(cpu, steps), cost->wall = mo_bench_median(wall, steps);
    for (int k = 0; k < MO_STAGE_COUNT; k++) cost->seconds[k] = mo_bench_median(stage[k], steps);
    mo_sim_destroy(sim);
    return status;
}

static mo_shape *dam_column(void) { return mo_shape_box(mo_v3(0.6, 1.2, 4)); } // a corner column of 0.3 x 0.6

static mo_status measure_dam(const mo_bench *b, int32_t cells, int32_t steps, step_cost *cost)
{
    mo_shape *column = dam_column();
    mo_status status = measure_steps(b, mo_v3(1, 1, 1), cells, column, steps, cost);
    mo_shape_release(column);
    return status;
}

static void report_steps(const mo_bench *b, const char *name, const char *which, int32_t cells, const step_cost *c)
{
    char stages[600];
    int at = 0;
    for (int k = 0; k < MO_STAGE_COUNT; k++)
        at +=
            snprintf(stages + at, sizeof stages - (size_t)at, ",\"%s_seconds\":%.4g", mo_stage_name[k], c->seconds[k]);
    mo_bench_report(
        b,
        "{\"bench\":\"%s\",\"case\":\"%s\",\"route\":\"fast\",\"cells\":%d,\"unknowns\":%lld,\"iterations\":%.1f,"
        "\"cpu_seconds\":%.4g,\"wall_seconds\":%.4g,\"bytes\":%lld,\"cpu_us_per_particle\":%.3f,\"bytes_per_"
        "particle\":%.1f%s}",
        name, which, cells, (long long)c->particles, c->iterations, c->cpu, c->wall, (long long)c->bytes,
        1e6 * c->cpu / (double)c->particles, (double)c->bytes / (double)c->particles, stages);
}

static mo_status bench_step(const mo_bench *b)
{
    step_cost cost;
    int32_t cells = mo_bench_option(b->options.max_cells, 128);
    MO_TRY(measure_dam(b, cells, mo_bench_option(b->options.repeats, 30), &cost));
    report_steps(b, "step", "dam", cells, &cost);
    return MO_OK;
}

// The same falling ball in a box and in one sixteen times larger, alternated.
static mo_status empty_space(const mo_bench *b)
{
    mo_shape *ball = mo_shape_sphere(0.3), *placed = ball ? mo_shape_move(ball, mo_v3(0.5, 0.5, 0.5)) : NULL;
    enum { ROUNDS = 9 };
    double ratio[ROUNDS];
    mo_status status = MO_OK;
    step_cost small = {0}, large = {0};
    for (int r = 0; r < ROUNDS && status == MO_OK; r++) {
        status = measure_steps(b, mo_v3(1, 1, 1), 64, placed, 10, &small);
        if (status == MO_OK) status = measure_steps(b, mo_v3(4, 2, 2), 256, placed, 10, &large);
        ratio[r] = large.cpu / small.cpu;
    }
    mo_shape_release(ball);
    mo_shape_release(placed);
    MO_TRY(status);
    report_steps(b, "scaling", "ball", 64, &small);
    report_steps(b, "scaling", "ball in 16x the space", 256, &large);
    mo_bench_report(b, "{\"bench\":\"scaling\",\"case\":\"cost of 16x empty space\",\"ratio\":%.3f}",
                    mo_bench_median(ratio, ROUNDS));
    return MO_OK;
}

static mo_status bench_scaling(const mo_bench *b)
{
    // Least squares of log(cpu) over log(particles).
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int32_t cells = mo_bench_option(b->options.min_cells, 32); cells <= mo_bench_option(b->options.max_cells, 256);
         cells *= 2) {
        step_cost cost;
        MO_TRY(measure_dam(b, cells,
                           mo_bench_option(b->options.repeats, cells <= 64    ? 20
                                                               : cells <= 128 ? 8
                                                                              : 4),
                           &cost));
        report_steps(b, "scaling", "dam", cells, &cost);
        double x = log((double)cost.particles), y = log(cost.cpu);
        n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    if (n > 1)
        mo_bench_report(b, "{\"bench\":\"scaling\",\"case\":\"exponent of cpu over particles\",\"exponent\":%.3f}",
                        (n * sxy - sx * sy) / (n * sxx - sx * sx));
    return empty_space(b);
}

// ---- triad ----

static mo_status bench_triad(const mo_bench *b)
{
    int64_t n = 1 << 25;
    double *a = mo_alloc(sizeof(double) * (size_t)n), *c = mo_alloc(sizeof(double) * (size_t)n),
           *d = mo_alloc(sizeof(double) * (size_t)n), best = INFINITY;
    if (!a || !c || !d) {
        mo_free(a), mo_free(c), mo_free(d);
        return mo_fail_memory(b->err);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) a[i] = 0, c[i] = (double)i, d[i] = 1;
    for (int r = 0; r < mo_bench_option(b->options.repeats, 10); r++) {
        double start = mo_wall_seconds();
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) a[i] = c[i] + 3 * d[i];
        best = fmin(best, mo_wall_seconds() - start);
    }
    mo_bench_report(b,
                    "{\"bench\":\"triad\",\"case\":\"a = b + s "
                    "c\",\"wall_seconds\":%.4g,\"bytes\":%lld,\"gigabytes_per_second\":%.2f,\"threads\":%d}",
                    best, (long long)(24 * n), 24e-9 * (double)n / best, mo_thread_count());
    mo_free(a), mo_free(c), mo_free(d);
    return MO_OK;
}

mo_status mo_bench_run(const char *name, const mo_bench_options *options, mo_line_fn line, void *user, mo_error *err)
{
    static const struct {
        const char *name;
        mo_status (*run)(const mo_bench *b);
    } benches[] = {{"pressure", bench_pressure},  {"stokes", mo_bench_stokes},   {"contact", mo_bench_contact},
                   {"step", bench_step},          {"scaling", bench_scaling},    {"triad", bench_triad},
                   {"kernels", mo_bench_kernels}, {"elastic", mo_bench_elastic}, {"smoke", mo_bench_smoke}};
    mo_bench b = {.line = line, .user = user, .err = err};
    if (options) b.options = *options;
    mo_use_threads(b.options.threads);
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++)
        if (!strcmp(name, benches[i].name)) {
            mo_memory_hold();
            mo_status status = benches[i].run(&b);
            mo_memory_release();
            return status;
        }
    return mo_fail(
        err, MO_ERROR_INPUT,
        "no benchmark '%s': there are pressure, stokes, contact, elastic, smoke, step, scaling, triad, kernels", name);
}
