// Few rows as a full matrix.
#include "system/dense_rows.h"
#include "base/base.h"
#include <string.h>

void mo_dense_rows_destroy(mo_dense_rows *d)
{
    mo_free(d->A);
    *d = (mo_dense_rows){0};
}

mo_status mo_dense_rows_create(int32_t rows, const mo_operator *op, mo_dense_rows *out)
{
    size_t n = (size_t)rows;
    *out = (mo_dense_rows){.rows = rows, .A = mo_alloc(sizeof(double) * (n * n + n + 1))};
    if (!out->A) return MO_ERROR_MEMORY;
    double *unit = out->A + n * n;
    memset(unit, 0, sizeof(double) * n);
    for (size_t i = 0; i < n; i++) {
        unit[i] = 1;
        op->apply(op->context, unit, out->A + i * n);
        unit[i] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) out->A[k * n + i] = out->A[i * n + k];
    return MO_OK;
}

void mo_dense_rows_apply(void *dense, const double *x, double *y)
{
    const mo_dense_rows *d = dense;
    for (int32_t i = 0; i < d->rows; i++) {
        const double *row = d->A + (int64_t)i * d->rows;
        double sum = 0;
        for (int32_t k = 0; k < d->rows; k++) sum += row[k] * x[k];
        y[i] = sum;
    }
}

static bool is_free(const mo_dense_rows *d, int32_t i) { return d->x[i] > d->lower[i] && d->x[i] < d->upper[i]; }

// (D + U)^-1 D (D + L)^-1 r of the free rows. Both halves run along rows of the matrix, which is symmetric.
void mo_dense_rows_sweep(void *dense, const double *r, double *z)
{
    const mo_dense_rows *d = dense;
    int32_t n = d->rows;
    for (int32_t i = 0; i < n; i++) z[i] = r[i];
    for (int32_t i = 0; i < n; i++) { // z becomes D (D + L)^-1 r
        const double *row = d->A + (int64_t)i * n;
        if (!is_free(d, i)) continue;
        double part = z[i] / row[i];
        for (int32_t k = i + 1; k < n; k++) z[k] -= row[k] * part;
    }
    for (int32_t i = 0; i < n; i++)
        if (!is_free(d, i)) z[i] = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = d->A + (int64_t)i * n;
        if (!is_free(d, i)) continue;
        double sum = z[i];
        for (int32_t k = i + 1; k < n; k++) sum -= row[k] * z[k];
        z[i] = sum / row[i];
    }
}
