// The steps of a cycle of multigrid on faces: sweeps, residuals, transfers, direct solves, in float.
#include "sparse/dense.h"
#include "sparse/face_level.h"

enum { SMALL = 2048 };

// Row i times x. Four sums, as the additions of one would wait for each other.
static inline float product(const mo_float_rows *A, int32_t i, const float *x)
{
    const float *val = A->val + A->row[i];
    const int32_t *col = A->col + A->row[i];
    int32_t n = (int32_t)(A->row[i + 1] - A->row[i]), k = 0;
    float s = 0, t = 0, u = 0, v = 0;
    for (; k + 4 <= n; k += 4) {
        s += val[k] * x[col[k]];
        t += val[k + 1] * x[col[k + 1]];
        u += val[k + 2] * x[col[k + 2]];
        v += val[k + 3] * x[col[k + 3]];
    }
    for (; k < n; k++) s += val[k] * x[col[k]];
    return (s + t) + (u + v);
}

// The same from the last entry to the first: backward sweeps read memory in one direction.
static inline float product_down(const mo_float_rows *A, int32_t i, const float *x)
{
    const float *val = A->val + A->row[i];
    const int32_t *col = A->col + A->row[i];
    int32_t k = (int32_t)(A->row[i + 1] - A->row[i]) - 1;
    float s = 0, t = 0, u = 0, v = 0;
    for (; k >= 3; k -= 4) {
        s += val[k] * x[col[k]];
        t += val[k - 1] * x[col[k - 1]];
        u += val[k - 2] * x[col[k - 2]];
        v += val[k - 3] * x[col[k - 3]];
    }
    for (; k >= 0; k--) s += val[k] * x[col[k]];
    return (s + t) + (u + v);
}

// What faces contribute to a carried row times x. Entries among carried unknowns come last before the diagonal, and are
// all that is behind it.
static double from_faces(const mo_face_level *l, int32_t i, const float *x)
{
    const mo_float_rows *A = &l->before;
    double sum = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1] - (i - l->faces); k++) sum += (double)A->val[k] * x[A->col[k]];
    return sum;
}

// Carried unknowns as one block; change [rows] or NULL.
static void solve_carried(mo_face_level *l, float *change)
{
    int32_t n = l->rows - l->faces;
    for (int32_t e = 0; e < n; e++) l->carried[e] = l->b[l->faces + e] - from_faces(l, l->faces + e, l->x);
    mo_dense_solve(n, l->corner, l->carried);
    for (int32_t e = 0; e < n; e++) {
        float x = (float)l->carried[e];
        if (change) change[l->faces + e] = x - l->x[l->faces + e];
        l->x[l->faces + e] = x;
    }
}

// What the slots of row i contribute; their number is fixed, so nothing has to be guessed.
static inline float slots(const mo_face_level *l, int32_t i, const float *x)
{
    const int32_t *near = l->near[i];
    const float *c = l->couple[i];
    float s = c[12] * x[near[12]], t = c[13] * x[near[13]], u = 0, v = 0;
    for (int32_t k = 0; k < 12; k += 4) {
        s += c[k] * x[near[k]];
        t += c[k + 1] * x[near[k + 1]];
        u += c[k + 2] * x[near[k + 2]];
        v += c[k + 3] * x[near[k + 3]];
    }
    return (s + t) + (u + v);
}

// Rows first .. last - 1 of a group, with slots. `more`: some row has entries besides.
static inline void forward_slots(mo_face_level *l, int32_t first, int32_t last, bool more)
{
    float *x = l->x;
    for (int32_t i = first; i < last; i++) {
        float b = l->b[i] - slots(l, i, x);
        if (more) b -= product(&l->before, i, x) + product(&l->behind, i, x);
        x[i] = l->inverse[i] * b;
    }
}

static inline void backward_slots(mo_face_level *l, int32_t first, int32_t last, bool more, float *change)
{
    float *x = l->x;
    for (int32_t i = last - 1; i >= first; i--) {
        float b = l->b[i] - slots(l, i, x), old = x[i];
        if (more) b -= product(&l->before, i, x) + product(&l->behind, i, x);
        x[i] = l->inverse[i] * b;
        if (change) change[i] = x[i] - old;
    }
}

static inline void forward_rows(mo_face_level *l, int32_t first, int32_t last, bool from_zero)
{
    for (int32_t i = first; i < last; i++) {
        float b = from_zero ? l->b[i] : l->b[i] - product(&l->behind, i, l->x);
        l->x[i] = l->inverse[i] * (b - product(&l->before, i, l->x));
    }
}

static inline void backward_rows(mo_face_level *l, int32_t first, int32_t last, float *change)
{
    for (int32_t i = last - 1; i >= first; i--) {
        float b = l->b[i] - product_down(&l->before, i, l->x);
        float x = l->inverse[i] * (b - product_down(&l->behind, i, l->x));
        if (change) change[i] = x - l->x[i];
        l->x[i] = x;
    }
}

void mo_face_level_forward(mo_face_level *l, bool from_zero)
{
    MO_ASSERT(l->faces >= 0 && l->faces <= l->rows);
#pragma omp parallel if (l->rows > SMALL)
    {
        if (l->near && from_zero) {
#pragma omp for schedule(static)
            for (int32_t i = 0; i < l->rows; i++) l->x[i] = 0;
        }
        for (int32_t c = 0; c < l->colours; c++) {
#pragma omp for schedule(static)
            for (int32_t g = l->colour[c]; g < l->colour[c + 1]; g++)
                if (l->near)
                    forward_slots(l, l->group[g], l->group[g + 1], l->over[g]);
                else
                    forward_rows(l, l->group[g], l->group[g + 1], from_zero);
        }
    }
    if (l->rows > l->faces) solve_carried(l, NULL);
}

void mo_face_level_backward(mo_face_level *l, float *change)
{
    MO_ASSERT(l->faces >= 0 && l->faces <= l->rows);
    if (l->rows > l->faces) solve_carried(l, change);
#pragma omp parallel if (l->rows > SMALL)
    for (int32_t c = l->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
        for (int32_t g = l->colour[c]; g < l->colour[c + 1]; g++)
            if (l->near)
                backward_slots(l, l->group[g], l->group[g + 1], l->over[g], change);
            else
                backward_rows(l, l->group[g], l->group[g + 1], change);
    }
}

static inline float full_residual(const mo_face_level *l, int32_t i)
{
    float r = l->b[i] - l->diagonal[i] * l->x[i] - product(&l->before, i, l->x) - product(&l->behind, i, l->x);
    return l->near && i < l->faces ? r - slots(l, i, l->x) : r;
}

float mo_face_level_row_residual(const mo_face_level *l, int32_t row) { return full_residual(l, row); }

// After a forward sweep from zero only what lies behind the diagonal is left (change NULL); after a backward sweep what
// it changed before the diagonal. Slots do not tell the two apart.
void mo_face_level_residual(mo_face_level *l, const float *change)
{
    const mo_float_rows *half = change ? &l->before : &l->behind;
    const float *x = change ? change : l->x;
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t g = 0; g < l->groups; g++)
        for (int32_t i = l->group[g]; i < l->group[g + 1]; i++)
            if (!l->near)
                l->r[i] = l->diagonal[i] > 0 ? -product(half, i, x) : l->b[i];
            else if (l->over[g])
                l->r[i] = full_residual(l, i);
            else
                l->r[i] = l->b[i] - l->diagonal[i] * l->x[i] - slots(l, i, l->x);
    for (int32_t i = l->faces; i < l->rows; i++) l->r[i] = change ? (float)-from_faces(l, i, x) : 0;
}

void mo_face_level_restrict(const mo_face_level *l, mo_face_level *next)
{
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t i = 0; i < next->rows; i++) next->b[i] = product(&l->down, i, l->r);
}

void mo_face_level_interpolate(mo_face_level *l, const mo_face_level *next)
{
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) l->x[i] += product(&l->up, i, next->x);
}

void mo_face_level_direct(mo_face_level *l, const mo_direct *d, bool reverse, double *work)
{
    const mo_ldl *f = &d->ldl;
#pragma omp parallel for schedule(dynamic, 1) if (f->block[f->blocks] > SMALL)
    for (int32_t c = 0; c < d->chains; c++)
        for (int32_t m = 0, n = d->chain[c + 1] - d->chain[c]; m < n; m++) {
            int32_t b = reverse ? d->chain[c + 1] - 1 - m : d->chain[c] + m;
            double *y = work + f->block[b];
            const int32_t *member = f->member + f->block[b];
            for (int32_t k = 0; k < f->block[b + 1] - f->block[b]; k++) y[k] = full_residual(l, member[k]);
            mo_ldl_solve(f, b, y);
            for (int32_t k = 0; k < f->block[b + 1] - f->block[b]; k++) l->x[member[k]] += (float)y[k];
        }
}
