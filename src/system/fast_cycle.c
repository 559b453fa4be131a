// The steps of a cycle of multigrid on faces: sweeps, residuals, transfers, direct solves, in float.
#include "system/fast_level.h"

enum { SMALL = 2048 };

// Entries first .. last - 1 of a row times x, in a fixed order that the processor's vectors can follow.
static inline float product(const mo_face_level *l, int64_t first, int64_t last, const float *x)
{
    float s[8] = {0};
    int64_t k = first;
    for (; k + 8 <= last; k += 8)
        for (int m = 0; m < 8; m++) s[m] += l->val[k + m] * x[l->col[k + m]];
    for (int m = 0; k < last; k++, m++) s[m] += l->val[k] * x[l->col[k]];
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

void mo_face_level_forward(mo_face_level *l)
{
#pragma omp parallel if (l->rows > SMALL)
    for (int32_t c = 0; c < l->colours; c++) {
#pragma omp for schedule(static)
        for (int32_t g = l->colour[c]; g < l->colour[c + 1]; g++)
            for (int32_t i = l->group[g]; i < l->group[g + 1]; i++)
                l->x[i] = l->inverse[i] * (l->b[i] - product(l, l->row[i], l->behind[i], l->x));
    }
}

void mo_face_level_backward(mo_face_level *l)
{
#pragma omp parallel if (l->rows > SMALL)
    for (int32_t c = l->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
        for (int32_t g = l->colour[c]; g < l->colour[c + 1]; g++)
            for (int32_t i = l->group[g + 1] - 1; i >= l->group[g]; i--)
                l->x[i] = l->inverse[i] * (l->b[i] - product(l, l->row[i], l->row[i + 1], l->x));
    }
}

static inline float full_residual(const mo_face_level *l, int32_t i)
{
    return l->b[i] - l->diagonal[i] * l->x[i] - product(l, l->row[i], l->row[i + 1], l->x);
}

// A forward sweep from zero leaves only what lies behind the diagonal.
void mo_face_level_residual(mo_face_level *l, const mo_direct *direct)
{
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++)
        l->r[i] = l->diagonal[i] > 0 ? -product(l, l->behind[i], l->row[i + 1], l->x) : l->b[i];
    int32_t affected = direct ? direct->affected : 0;
#pragma omp parallel for schedule(static) if (affected > SMALL)
    for (int32_t k = 0; k < affected; k++) l->r[direct->neighbour[k]] = full_residual(l, direct->neighbour[k]);
}

static inline float transfer(const mo_transfer_rows *t, int32_t i, const float *x)
{
    float s = 0;
    for (int64_t k = t->row[i]; k < t->row[i + 1]; k++) s += t->val[k] * x[t->col[k]];
    return s;
}

void mo_face_level_restrict(const mo_face_level *l, mo_face_level *next)
{
#pragma omp parallel for schedule(static) if (next->rows > SMALL)
    for (int32_t i = 0; i < next->rows; i++) next->b[i] = transfer(&l->down, i, l->r);
}

void mo_face_level_interpolate(mo_face_level *l, const mo_face_level *next)
{
#pragma omp parallel for schedule(static) if (l->rows > SMALL)
    for (int32_t i = 0; i < l->rows; i++) l->x[i] += transfer(&l->up, i, next->x);
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
