// Woodbury's formula for solids in liquid.
#include "system/woodbury.h"
#include "base/parallel.h"
#include <string.h>

void mo_woodbury_destroy(mo_woodbury *w)
{
    mo_free(w->column), mo_free(w->Z);
    mo_csr_destroy(&w->G), mo_csr_destroy(&w->C);
    *w = (mo_woodbury){0};
}

static double *column_of(const mo_woodbury *w, int32_t number) { return w->Z + (size_t)number * (size_t)w->rows; }

static void find_columns(const mo_csr *R, mo_multigrid *cycle, double *work, const mo_woodbury *w)
{
    MO_ASSERT(w->columns == 0 || w->rows == R->rows);
    for (int32_t c = 0; c < w->columns; c++) {
        for (int32_t i = 0; i < R->rows; i++) work[i] = mo_csr_entry(R, i, w->column[c]);
        mo_multigrid_apply(cycle, work, column_of(w, c));
    }
}

static mo_status find_product(const mo_csr *R, mo_woodbury *w)
{
    int32_t n = w->columns, unknowns = R->cols;
    MO_TRY(mo_csr_create(unknowns, unknowns, (int64_t)n * n, &w->G));
    double *force = mo_calloc(sizeof(double) * (size_t)n * (size_t)unknowns);
    for (int32_t a = 0; force && a < n; a++) mo_csr_push(R, 1, column_of(w, a), force + (size_t)a * (size_t)unknowns);
    int64_t at = 0;
    for (int32_t i = 0, a = 0; force && i < unknowns; i++) {
        if (a < n && w->column[a] == i) {
            for (int32_t b = 0; b < n; b++) {
                double one = force[a * unknowns + w->column[b]], other = force[b * unknowns + i];
                w->G.col[at] = w->column[b], w->G.val[at++] = 0.5 * (one + other);
            }
            a++;
        }
        w->G.row[i + 1] = at;
    }
    mo_free(force);
    return force ? MO_OK : MO_ERROR_MEMORY;
}

// C = S + G, in S's pattern and G's.
static mo_status find_core(const mo_csr *S, mo_woodbury *w)
{
    MO_TRY(mo_csr_create(S->rows, S->cols, mo_csr_entries(S), &w->C));
    memcpy(w->C.row, S->row, sizeof(int64_t) * ((size_t)S->rows + 1));
    memcpy(w->C.col, S->col, sizeof(int32_t) * (size_t)mo_csr_entries(S));
    memcpy(w->C.val, S->val, sizeof(double) * (size_t)mo_csr_entries(S));
    return mo_csr_add(&w->C, &w->G);
}

mo_status mo_woodbury_create(const mo_csr *R, const mo_csr *S, int32_t columns, const int32_t *column,
                             mo_multigrid *cycle, double *work, mo_woodbury *w)
{
    MO_ASSERT(S->rows == S->cols && S->rows == R->cols && columns >= 0);
    *w = (mo_woodbury){.rows = R->rows, .columns = columns};
    if (!columns) return MO_OK;
    w->column = mo_alloc(sizeof(int32_t) * (size_t)columns);
    w->Z = mo_alloc(sizeof(double) * (size_t)columns * (size_t)R->rows);
    mo_status status = w->column && w->Z ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        memcpy(w->column, column, sizeof(int32_t) * (size_t)columns);
        find_columns(R, cycle, work, w);
        status = find_product(R, w);
    }
    if (status == MO_OK) status = find_core(S, w);
    if (status != MO_OK) mo_woodbury_destroy(w);
    return status;
}

void mo_woodbury_gather(const mo_woodbury *w, double s, const double *r, double *f)
{
    memset(f, 0, sizeof(double) * (size_t)w->C.rows);
    for (int32_t c = 0; c < w->columns; c++) f[w->column[c]] = s * mo_dot_product(w->rows, column_of(w, c), r);
}
