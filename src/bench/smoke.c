// A whole step in air: a plume, per cell that is simulated, and the same plume in wider rooms whose rest is empty.
#include "base/parallel.h"
#include "bench/bench.h"
#include <math.h>

typedef struct cost { // of a step: medians
    double cpu, cells, iterations;
} cost;

// A plume in the middle of a room of `wide` metres with open walls, as high as one metre. Its size does not depend on
// the room's.
static mo_status measure(const mo_bench *b, int32_t cells, double wide, int32_t steps, cost *out)
{
    enum { MOST = 64, WARM = 8 };
    mo_sim_def def = mo_sim_def_default();
    mo_air_def air = mo_air_def_default();
    mo_smoke_def smoke = mo_smoke_def_default();
    mo_shape *ball = mo_shape_sphere(0.1),
             *placed = ball ? mo_shape_move(ball, (mo_vec3){wide / 2, 0.15, wide / 2}) : NULL;
    mo_shape_release(ball);
    if (!placed) return mo_fail_memory(b->err);
    smoke.shape = placed, smoke.density = 4e-3, smoke.temperature = 420, smoke.seconds = 1e6;
    def.domain.size = (mo_vec3){wide, 1, wide}, def.domain.cells = (int32_t)lround(cells * fmax(wide, 1));
    for (int w = 0; w < 6; w++) def.domain.walls[w] = w == MO_YMIN ? MO_WALL_SLIP : MO_WALL_OPEN;
    def.time.seconds = 100, def.time.cfl = 2, def.threads = b->options.threads;
    def.air = &air, def.smokes = &smoke, def.smoke_count = 1;
    mo_sim *sim = NULL;
    double cpu[MOST], count[MOST];
    mo_status status = mo_sim_create(&def, &sim, b->err);
    *out = (cost){0};
    if (steps > MOST) steps = MOST;
    for (int32_t s = -WARM; s < steps && status == MO_OK; s++) {
        mo_stats stats;
        status = mo_sim_step(sim, &stats, b->err);
        if (s < 0) continue;
        cpu[s] = stats.cpu_seconds, count[s] = 512.0 * stats.tiles;
        out->iterations += (double)stats.iterations / steps;
    }
    out->cpu = mo_bench_median(cpu, steps), out->cells = mo_bench_median(count, steps);
    mo_sim_destroy(sim);
    mo_shape_release(placed);
    return status;
}

mo_status mo_bench_smoke(const mo_bench *b)
{
    static const double width[] = {2, 4, 8};
    int32_t steps = mo_bench_option(b->options.repeats, 16), least = mo_bench_option(b->options.min_cells, 32),
            most = mo_bench_option(b->options.max_cells, 128);
    cost c;
    for (int32_t cells = least; cells <= most; cells *= 2) {
        MO_TRY(measure(b, cells, 1, steps, &c));
        mo_bench_report(b,
                        "{\"bench\":\"smoke\",\"case\":\"plume\",\"cells\":%d,\"simulated\":%.0f,\"iterations\":%.1f,"
                        "\"cpu_seconds\":%.4g,\"cpu_us_per_cell\":%.3f}",
                        cells, c.cells, c.iterations, c.cpu, 1e6 * c.cpu / c.cells);
    }
    double first = 0;
    for (int k = 0; k < 3; k++) {
        MO_TRY(measure(b, least, width[k], steps, &c));
        if (k == 0) first = c.cpu;
        mo_bench_report(b,
                        "{\"bench\":\"smoke\",\"case\":\"room of %g m\",\"cells\":%d,\"simulated\":%.0f,"
                        "\"iterations\":%.1f,\"cpu_seconds\":%.4g,\"of_narrow\":%.3f}",
                        width[k], (int)lround(least * width[k]), c.cells, c.iterations, c.cpu, c.cpu / first);
    }
    return MO_OK;
}
