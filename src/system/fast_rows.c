// Matrices found row by row, and their symmetric completion.
#include "base/parallel.h"
#include "system/fast.h"
#include <omp.h>
#include <string.h>

enum { BATCH = 2048 };

typedef struct growing {
    mo_csr *A;
    int64_t cols, vals; // capacities
    int32_t *count, *col;
    double *val; // [BATCH width] of one batch
} growing;

static mo_status append(growing *g, int32_t first, int32_t last, int32_t width)
{
    mo_csr *A = g->A;
    for (int32_t i = first; i < last; i++) {
        if (g->count[i - first] < 0) return MO_ERROR_FAILED;
        A->row[i + 1] = A->row[i] + g->count[i - first];
    }
    if (!mo_reserve((void **)&A->col, &g->cols, A->row[last], sizeof(int32_t)) ||
        !mo_reserve((void **)&A->val, &g->vals, A->row[last], sizeof(double)))
        return MO_ERROR_MEMORY;
    for (int32_t i = first; i < last; i++) {
        size_t n = (size_t)g->count[i - first], from = (size_t)(i - first) * (size_t)width;
        memcpy(A->col + A->row[i], g->col + from, sizeof(int32_t) * n);
        memcpy(A->val + A->row[i], g->val + from, sizeof(double) * n);
    }
    return MO_OK;
}

mo_status mo_csr_collect(int32_t rows, int32_t cols, int32_t width, mo_row_fn find, void *user, mo_csr *out)
{
    *out = (mo_csr){.rows = rows, .cols = cols};
    size_t room = (size_t)width * (size_t)(rows < BATCH ? rows : BATCH);
    growing g = {.A = out, .count = mo_alloc(sizeof(int32_t) * BATCH)};
    g.col = mo_alloc(sizeof(int32_t) * room), g.val = mo_alloc(sizeof(double) * room);
    out->row = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    mo_status status = g.count && g.col && g.val && out->row &&
                               mo_reserve((void **)&out->col, &g.cols, 16 * (int64_t)rows + 16, sizeof(int32_t)) &&
                               mo_reserve((void **)&out->val, &g.vals, 16 * (int64_t)rows + 16, sizeof(double))
                           ? MO_OK
                           : MO_ERROR_MEMORY;
    for (int32_t first = 0; first < rows && status == MO_OK; first += BATCH) {
        int32_t last = first + BATCH < rows ? first + BATCH : rows;
#pragma omp parallel for schedule(dynamic, 64) if (last - first > 256)
        for (int32_t i = first; i < last; i++) {
            size_t at = (size_t)(i - first) * (size_t)width;
            g.count[i - first] = find(user, i, omp_get_thread_num(), g.col + at, g.val + at);
        }
        status = append(&g, first, last, width);
    }
    mo_free(g.count), mo_free(g.col), mo_free(g.val);
    if (status != MO_OK) mo_csr_destroy(out);
    return status;
}

// Entries of A below the border, then the border's own, all placed by column: as A is symmetric, rows of the transpose
// are rows with ascending columns.
mo_status mo_csr_border(mo_csr *A, const double *corner, mo_csr *out)
{
    int32_t rows = A->rows, n = A->cols, extra = n - rows;
    int64_t entries = 0;
    for (int64_t k = 0; k < A->row[rows]; k++) entries += A->col[k] >= rows ? 2 : 1;
    MO_TRY(mo_csr_create(n, n, entries + (int64_t)extra * extra, out));
    int64_t *length = mo_calloc(sizeof(int64_t) * ((size_t)n + 1));
    if (!length) {
        mo_csr_destroy(out);
        return MO_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            length[A->col[k]]++;
            if (A->col[k] >= rows) length[i]++;
        }
    for (int32_t e = rows; e < n; e++) length[e] += extra;
    for (int32_t i = 0; i < n; i++) out->row[i + 1] = out->row[i] + length[i], length[i] = out->row[i];
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            int64_t to = length[A->col[k]]++;
            out->col[to] = i, out->val[to] = A->val[k];
        }
    for (int32_t e = rows; e < n; e++) // what row e has of faces, below every face; then the corner
        for (int64_t k = out->row[e]; k < out->row[e + 1] - extra; k++) {
            int64_t to = length[out->col[k]]++;
            out->col[to] = e, out->val[to] = out->val[k];
        }
    for (int32_t e = 0; e < extra; e++)
        for (int32_t d = 0; d < extra; d++) {
            int64_t to = length[rows + e]++;
            out->col[to] = rows + d, out->val[to] = corner[(size_t)e * (size_t)extra + (size_t)d];
        }
    mo_free(length);
    return MO_OK;
}
