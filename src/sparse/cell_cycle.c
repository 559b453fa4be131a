// The steps of a multigrid cycle on one level: red-black Gauss-Seidel, transfers, sums of the K-cycle.
#include "sparse/cell_level.h"
#include <string.h>

enum { SMALL = 4096, BLOCKS = 128 };

static inline float neighbours(const mo_cell_level *l, const float *x, int32_t i)
{
    const int32_t *n = l->near[i];
    const float *c = l->couple[i];
    return (c[0] * x[n[0]] + c[1] * x[n[1]]) + (c[2] * x[n[2]] + c[3] * x[n[3]]) + (c[4] * x[n[4]] + c[5] * x[n[5]]);
}

// What a forked row has beyond its slots.
static inline float more(const mo_cell_level *l, const float *x, int32_t i)
{
    float s = 0;
    for (int64_t k = l->more.row[i - l->plain]; k < l->more.row[i - l->plain + 1]; k++)
        s += (float)l->more.val[k] * x[l->more.col[k]];
    return s;
}

// Forked rows couple among themselves: one after the other, up or down.
static void relax_forked(const mo_cell_level *l, bool up)
{
    for (int32_t k = l->plain; k < l->rows; k++) {
        int32_t i = up ? k : l->rows - 1 - (k - l->plain);
        l->x[i] = l->inverse[i] * (l->b[i] + neighbours(l, l->x, i) + more(l, l->x, i));
    }
}

// Rows of one colour: x_i = (b_i - sum of neighbours) / a_ii
static void relax(const mo_cell_level *l, int32_t first, int32_t last)
{
    float *x = l->x;
#pragma omp parallel for schedule(static) if (last - first > SMALL)
    for (int32_t i = first; i < last; i++) {
        const int32_t *n = l->near[i];
        const float *c = l->couple[i];
        float s = (c[0] * x[n[0]] + c[1] * x[n[1]]) + (c[2] * x[n[2]] + c[3] * x[n[3]]);
        x[i] = l->inverse[i] * (l->b[i] + s + (c[4] * x[n[4]] + c[5] * x[n[5]]));
    }
}

void mo_cell_level_smooth_before(mo_cell_level *l)
{
    MO_ASSERT(l->red >= 0 && l->red <= l->plain && l->plain <= l->rows);
    if (l->plain < l->rows) {
        memset(l->x, 0, sizeof(float) * (size_t)l->rows);
        relax_forked(l, true);
        relax(l, 0, l->red);
    } else {
#pragma omp parallel for schedule(static) if (l->red > SMALL)
        for (int32_t i = 0; i < l->red; i++) l->x[i] = l->inverse[i] * l->b[i];
    }
    relax(l, l->red, l->plain);
    relax_forked(l, true);
    relax(l, 0, l->red);
    relax(l, l->red, l->plain);
}

void mo_cell_level_smooth_after(mo_cell_level *l)
{
    for (int32_t sweep = 0; sweep < 2; sweep++) {
        relax(l, l->red, l->plain);
        relax(l, 0, l->red);
        relax_forked(l, false);
    }
}

// ---- Transfers ----

// Linear: x_i = (1 - w_0 - w_1 - w_2) X_I + sum of w_a X_J, J the next coarse cell on i's side along axis a. 1/4 inside
// the liquid; less where the row hangs on it weakly, else a row tied to air would be moved by cells that are not.
static inline float weight(const mo_cell_level *l, int32_t i, int32_t h)
{
    float w = 1.5f * l->couple[i][h] * l->inverse[i];
    return w < 0 ? 0 : w < 0.25f ? w : 0.25f;
}

// Only red and forked children have a residual; forked ones are odd.
static const int32_t red_corner[4] = {0, 3, 5, 6};

static inline float residual(const mo_cell_level *l, int32_t i)
{
    return l->b[i] - l->diagonal[i] * l->x[i] + neighbours(l, l->x, i);
}

static inline float odd_weight(const mo_cell_level *l, const mo_cell_level_odd *o, int32_t axis)
{
    return l->linear ? weight(l, o->row, 2 * axis + (o->corner >> axis & 1)) : 0;
}

static void restrict_odd(const mo_cell_level *l, mo_cell_level *next)
{
    for (int32_t k = 0; k < l->odds; k++) {
        const mo_cell_level_odd *o = &l->odd[k];
        if (o->row >= l->red && o->row < l->plain) continue;
        float r = residual(l, o->row) + (o->row < l->plain ? 0 : more(l, l->x, o->row)), rest = r;
        for (int32_t a = 0; a < 3; a++) {
            float part = odd_weight(l, o, a) * r;
            next->b[o->beside[a]] += part, rest -= part;
        }
        next->b[o->parent] += rest;
    }
}

static void interpolate_odd(mo_cell_level *l, const mo_cell_level *next)
{
    for (int32_t k = 0; k < l->odds; k++) {
        const mo_cell_level_odd *o = &l->odd[k];
        float own = next->x[o->parent], x = own;
        for (int32_t a = 0; a < 3; a++) x += odd_weight(l, o, a) * (next->x[o->beside[a]] - own);
        l->x[o->row] += x;
    }
}

static void restrict_linear(mo_cell_level *l, mo_cell_level *next)
{
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t e = 0; e < next->rows; e++) {
        float share[8] = {0}; // for the neighbours by direction; [6] for the row itself
        for (int32_t k = 0; k < 4; k++) {
            int32_t corner = red_corner[k], i = l->child[e][corner];
            if (i < 0) continue;
            float r = residual(l, i), rest = r;
            for (int32_t a = 0; a < 3; a++) {
                int32_t h = 2 * a + (corner >> a & 1);
                float part = weight(l, i, h) * r;
                share[h] += part, rest -= part;
            }
            share[6] += rest;
        }
        for (int32_t h = 0; h < 8; h++) l->share[e][h] = share[h];
    }
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t e = 0; e < next->rows; e++) {
        float b = l->share[e][6];
        for (int32_t h = 0; h < 6; h++) {
            int32_t j = next->near[e][h];
            if (j != e) b += l->share[j][h ^ 1];
        }
        next->b[e] = b;
    }
}

static void restrict_constant(mo_cell_level *l, mo_cell_level *next)
{
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t e = 0; e < next->rows; e++) {
        float b = 0;
        for (int32_t k = 0; k < 4; k++) {
            int32_t i = l->child[e][red_corner[k]];
            if (i >= 0) b += residual(l, i);
        }
        next->b[e] = b;
    }
}

void mo_cell_level_restrict(mo_cell_level *l, mo_cell_level *next)
{
    MO_ASSERT(next->rows <= l->rows);
    if (l->linear)
        restrict_linear(l, next);
    else
        restrict_constant(l, next);
    restrict_odd(l, next);
}

void mo_cell_level_interpolate(mo_cell_level *l, const mo_cell_level *next)
{
    MO_ASSERT(next->rows <= l->rows);
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t e = 0; e < next->rows; e++) {
        float own = next->x[e], rise[6];
        for (int32_t h = 0; h < 6 && l->linear; h++) rise[h] = next->x[next->near[e][h]] - own;
        for (int32_t corner = 0; corner < 8; corner++) {
            int32_t i = l->child[e][corner];
            if (i < 0) continue;
            float x = own;
            for (int32_t a = 0; a < 3 && l->linear; a++) {
                int32_t h = 2 * a + (corner >> a & 1);
                x += weight(l, i, h) * rise[h];
            }
            l->x[i] += x;
        }
    }
    interpolate_odd(l, next);
}

// ---- Sums ----

mo_cell_level_sums mo_cell_level_energy(const mo_cell_level *l, const float *v, float *image)
{
    mo_cell_level_sums partial[BLOCKS], all = {0};
    int32_t blocks = l->rows > SMALL ? BLOCKS : 1;
#pragma omp parallel for schedule(static) if (blocks > 1)
    for (int32_t k = 0; k < blocks; k++) {
        mo_cell_level_sums s = {0};
        int32_t last = (int32_t)((int64_t)l->rows * (k + 1) / blocks);
        for (int32_t i = (int32_t)((int64_t)l->rows * k / blocks); i < last; i++) {
            float Ax = l->diagonal[i] * l->x[i] - neighbours(l, l->x, i);
            if (i >= l->plain) Ax -= more(l, l->x, i);
            double x = l->x[i], b = l->b[i];
            s.xAx += x * Ax, s.xb += x * b, s.bb += b * b;
            if (v) s.xv += x * v[i];
            if (image) image[i] = Ax;
        }
        partial[k] = s;
    }
    for (int32_t k = 0; k < blocks; k++) {
        all.xAx += partial[k].xAx, all.xb += partial[k].xb;
        all.bb += partial[k].bb, all.xv += partial[k].xv;
    }
    return all;
}
