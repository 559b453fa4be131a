// The multigrid hierarchy and its K-cycle (Notay & Vassilevski 2008), in float.
//
// The next level joins 2 x 2 x 2 cells; its matrix is made of sums of couplings, so rows of every level couple to the
// six cells around, and building costs little more than reading the matrix. Constant transfers alone scale corrections
// badly: on every level but the finest one or two steps of flexible conjugate gradients set that right, and the
// transfer from the finest level is linear, which keeps the iterations at any size where constants need half as many
// again.
#include "sparse/multigrid.h"
#include "base/parallel.h"
#include "sparse/cell_level.h"
#include <string.h>

enum { MAX_LEVELS = 32, SMALL = 4096 };

struct mo_multigrid {
    int32_t levels;
    mo_cell_level level[MAX_LEVELS];
    int32_t *place; // [rows] row of level 0 for each row of A
    double scale;   // level 0 holds A / scale
    int64_t entries, all_entries;
};

void mo_multigrid_destroy(mo_multigrid *mg)
{
    if (!mg) return;
    for (int32_t l = 0; l < mg->levels; l++) mo_cell_level_destroy(&mg->level[l]);
    mo_free(mg->place);
    mo_free(mg);
}

static mo_status build(mo_multigrid *mg, const mo_csr *A, const int32_t (*coord)[3])
{
    mg->place = mo_alloc(sizeof(int32_t) * (size_t)A->rows);
    if (!mg->place) return MO_ERROR_MEMORY;
    mg->levels = 1, mg->entries = mo_csr_entries(A);
    MO_TRY(mo_cell_level_create(&mg->level[0], A, coord, mg->place, &mg->scale));
    // Coordinates halve each time: every piece ends as a single cell, long before the levels do.
    for (bool more = true; more && mg->levels < MAX_LEVELS;) {
        mo_cell_level *l = &mg->level[mg->levels - 1];
        mg->levels++; // whatever next holds is freed with the rest
        MO_TRY(mo_cell_level_coarsen(l, l + 1));
        mo_cell_level_built(l);
        mg->all_entries += mo_cell_level_entries(l);
        more = l[1].rows > 0;
    }
    mg->levels--;
    return MO_OK;
}

mo_status mo_multigrid_create(const mo_csr *A, const int32_t (*coord)[3], mo_multigrid **out)
{
    MO_ASSERT(A->rows == A->cols);
    *out = NULL;
    mo_multigrid *mg = mo_calloc(sizeof(mo_multigrid));
    mo_status status = mg ? build(mg, A, coord) : MO_ERROR_MEMORY;
    if (status != MO_OK) {
        mo_multigrid_destroy(mg);
        return status;
    }
    *out = mg;
    return MO_OK;
}

// ---- Cycle ----

static void krylov(mo_multigrid *mg, int32_t number);

// x ~ A^-1 b on one level.
static void cycle(mo_multigrid *mg, int32_t number)
{
    mo_cell_level *l = &mg->level[number];
    if (number == mg->levels - 1) { // no row is coupled to another
        for (int32_t i = 0; i < l->rows; i++) l->x[i] = l->inverse[i] * l->b[i];
        return;
    }
    mo_cell_level_smooth_before(l);
    mo_cell_level_restrict(l, l + 1);
    krylov(mg, number + 1);
    mo_cell_level_interpolate(l, l + 1);
    mo_cell_level_smooth_after(l);
}

// y = a y + c x
static void combine(int32_t n, float a, float *y, float c, const float *x)
{
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t i = 0; i < n; i++) y[i] = a * y[i] + c * x[i];
}

static double square(int32_t n, const float *x)
{
    enum { BLOCKS = 128 };
    double partial[BLOCKS], sum = 0;
    int32_t blocks = n > SMALL ? BLOCKS : 1;
#pragma omp parallel for schedule(static) if (blocks > 1)
    for (int32_t k = 0; k < blocks; k++) {
        partial[k] = 0;
        for (int64_t i = (int64_t)n * k / blocks; i < (int64_t)n * (k + 1) / blocks; i++)
            partial[k] += (double)x[i] * x[i];
    }
    for (int32_t k = 0; k < blocks; k++) sum += partial[k];
    return sum;
}

// One or two steps of conjugate gradients with the cycle as preconditioner; spoils b.
static void krylov(mo_multigrid *mg, int32_t number)
{
    mo_cell_level *l = &mg->level[number];
    int32_t n = l->rows;
    cycle(mg, number);
    if (number == mg->levels - 1) return;
    mo_cell_level_sums first = mo_cell_level_energy(l, NULL, l->v);
    if (!(first.xAx > 0)) return;
    double step = first.xb / first.xAx;
    combine(n, 1, l->b, (float)-step, l->v); // the residual
    if (square(n, l->b) <= 0.0625 * first.bb) {
        combine(n, (float)step, l->x, 0, l->x);
        return;
    }
    float *direction = l->x;
    l->x = l->z, l->z = direction;
    cycle(mg, number);
    mo_cell_level_sums second = mo_cell_level_energy(l, l->v, NULL);
    double across = second.xv / first.xAx, energy = second.xAx - across * second.xv;
    double other = energy > 0 ? second.xb / energy : 0;
    combine(n, (float)other, l->x, (float)(step - other * across), l->z);
}

void mo_multigrid_apply(void *context, const double *r, double *z)
{
    MO_ASSERT(r != z);
    mo_multigrid *mg = context;
    mo_cell_level *l = &mg->level[0];
    // Scaled to the size of one: residuals near convergence must not leave the range of float.
    double norm = mo_max_abs(l->rows, r), down = norm > 0 ? 1 / norm : 0, up = norm / mg->scale;
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) l->b[mg->place[i]] = (float)(down * r[i]);
    cycle(mg, 0);
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) z[i] = up * l->x[mg->place[i]];
}

mo_multigrid_info mo_multigrid_describe(const mo_multigrid *mg)
{
    mo_multigrid_info info = {.levels = mg->levels, .coarsest = mg->level[mg->levels - 1].rows};
    info.operator_complexity = mg->entries ? (double)mg->all_entries / (double)mg->entries : 1;
    for (int32_t l = 0; l < mg->levels; l++) info.bytes += mo_cell_level_bytes(&mg->level[l]);
    return info;
}
