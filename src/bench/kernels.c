// The kernels of the form `viscous` on the standard domain, against the bandwidth of memory: bytes that must move,
// over the time they take.
#include "base/parallel.h"
#include "bench/bench.h"
#include "cases/case.h"
#include "sparse/face_level.h"
#include "system/viscous.h"
#include <math.h>
#include <string.h>

enum { REPEATS = 40, TRIAD = 1 << 23 };

typedef struct bench_kernels {
    mo_liquid_system liquid;
    mo_viscous_form form;
    mo_face_level level;
    int32_t *label, *place; // [faces]
    uint8_t *none;          // [faces]
    double *x, *y;          // [rows]
    double *triad;          // [3 TRIAD]
} bench_kernels;

static void destroy(bench_kernels *k)
{
    mo_face_level_destroy(&k->level);
    mo_viscous_form_destroy(&k->form);
    mo_liquid_destroy(&k->liquid);
    mo_free(k->label), mo_free(k->none), mo_free(k->x), mo_free(k->triad);
}

static mo_status create(const mo_bench *b, mo_case *c, bench_kernels *k)
{
    mo_solver_def solver = {.route = MO_ROUTE_FAST};
    mo_case_std_velocity(c);
    MO_TRY(mo_case_stokes_assemble(c, 0.01, &solver, &k->liquid, b->err));
    const mo_system *y = &k->liquid.system;
    size_t n = (size_t)y->faces.count;
    if (mo_viscous_form_create(y, 1u << MO_BLOCK_PRESSURE | 1u << MO_BLOCK_STRESS, &k->form) != MO_OK)
        return mo_fail_memory(b->err);
    k->label = mo_calloc(sizeof(int32_t) * 2 * n), k->none = mo_calloc(n);
    k->x = mo_alloc(sizeof(double) * 2 * n), k->triad = mo_alloc(sizeof(double) * 3 * (size_t)TRIAD);
    if (!k->label || !k->none || !k->x || !k->triad) return mo_fail_memory(b->err);
    k->place = k->label + n, k->y = k->x + n;
    mo_face_multigrid_def def = {&k->form.K, y->faces.count, y->lattice->axes, (const int32_t(*)[4])y->lattice->face,
                                 k->none,    k->none,        k->form.mass,     NULL};
    if (mo_face_level_create(&def, k->label, k->place, &k->level) != MO_OK ||
        mo_face_level_compress(&k->level) != MO_OK)
        return mo_fail_memory(b->err);
    mo_face_level_built(&k->level);
    for (int32_t i = 0; i < y->faces.count; i++) k->x[i] = k->level.b[i] = (float)mo_unit(mo_hash((uint32_t)i, 1, 2));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 3 * (int64_t)TRIAD; i++) k->triad[i] = 1;
    return MO_OK;
}

// ---- What is measured ----

static void run_triad(bench_kernels *k)
{
    double *a = k->triad, *b = a + TRIAD, *c = b + TRIAD;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < TRIAD; i++) a[i] = b[i] + 3 * c[i];
}
static void run_operator(bench_kernels *k) { mo_csr_multiply(&k->form.K, k->x, k->y); }
static void run_sweep(bench_kernels *k) { mo_face_level_forward(&k->level, false); }

static int64_t triad_bytes(const bench_kernels *k) { return (void)k, 24 * (int64_t)TRIAD; }
static int64_t operator_bytes(const bench_kernels *k)
{
    return mo_csr_entries(&k->form.K) * 12 + (int64_t)k->form.n * (8 + 8 + 8); // and row starts, x, y
}
static int64_t sweep_bytes(const bench_kernels *k)
{
    const mo_face_level *l = &k->level;
    int64_t bytes = (l->before.row[l->rows] + l->behind.row[l->rows]) * 8 + (int64_t)l->rows * (4 + 4 + 4 + 4);
    return bytes + (int64_t)l->rows * (l->near ? MO_FACE_SLOTS * 8 : 2 * 8); // slots, else row starts
}

static const struct kernel {
    const char *name;
    void (*run)(bench_kernels *k);
    int64_t (*bytes)(const bench_kernels *k);
} kernels[] = {{"triad", run_triad, triad_bytes},
               {"operator: K x, double", run_operator, operator_bytes},
               {"smoother: one sweep, float", run_sweep, sweep_bytes}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static void measure(const mo_bench *b, bench_kernels *k, int32_t cells)
{
    double best[KERNELS], rate[KERNELS];
    double (*seconds)(void) = mo_thread_count() == 1 ? mo_cpu_seconds : mo_wall_seconds; // others may share the machine
    for (int i = 0; i < KERNELS; i++) best[i] = INFINITY;
    for (int32_t r = 0; r < mo_bench_option(b->options.repeats, REPEATS); r++)
        for (int i = 0; i < KERNELS; i++) {
            double start = seconds();
            kernels[i].run(k);
            best[i] = fmin(best[i], seconds() - start);
        }
    for (int i = 0; i < KERNELS; i++) {
        rate[i] = 1e-9 * (double)kernels[i].bytes(k) / best[i];
        mo_bench_report(b,
                        "{\"bench\":\"kernels\",\"case\":\"%s\",\"cells\":%d,\"threads\":%d,\"rows\":%d,\"bytes\":%lld,"
                        "\"seconds\":%.4g,\"gigabytes_per_second\":%.2f,\"share_of_triad\":%.2f}",
                        kernels[i].name, cells, mo_thread_count(), k->form.n, (long long)kernels[i].bytes(k), best[i],
                        rate[i], rate[i] / rate[0]);
    }
}

mo_status mo_bench_kernels(const mo_bench *b)
{
    static const int32_t sizes[] = {32, 64, 128};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int32_t n = sizes[i];
        if (n < mo_bench_option(b->options.min_cells, 64) || n > mo_bench_option(b->options.max_cells, 128)) continue;
        mo_case_def def = {.cells = {n, n, n},
                           .dx = 1.0 / n,
                           .liquid = mo_case_std_liquid,
                           .solid = mo_case_std_solid,
                           .density = 1000,
                           .viscosity = 1e4};
        mo_case c;
        bench_kernels k = {0};
        MO_TRY(mo_case_create(&def, &c, b->err));
        mo_status status = create(b, &c, &k);
        if (status == MO_OK) measure(b, &k, n);
        destroy(&k);
        mo_case_destroy(&c);
        MO_TRY(status);
    }
    return MO_OK;
}
