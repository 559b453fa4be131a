// Matrices found row by row, and their symmetric completion.
#include "base/parallel.h"
#include "sparse/csr.h"
#include <omp.h>
#include <string.h>

enum { BATCH = 1024 };

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
    // Room for all rows to come, if they are like those before.
    int64_t need = A->row[last], room = need + (int64_t)(1.1 * (double)need / last * (A->rows - last)) + 1;
    if ((need > g->cols && !mo_reserve((void **)&A->col, &g->cols, room, sizeof(int32_t))) ||
        (need > g->vals && !mo_reserve((void **)&A->val, &g->vals, room, sizeof(double))))
        return MO_ERROR_MEMORY;
    for (int32_t i = first; i < last; i++) {
        size_t n = (size_t)g->count[i - first], from = (size_t)(i - first) * (size_t)width;
        if (n == 0) continue; // there may be no memory yet
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
    mo_status status = g.count && g.col && g.val && out->row ? MO_OK : MO_ERROR_MEMORY;
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

int32_t mo_csr_widest(const mo_csr *A)
{
    int64_t most = 0;
    for (int32_t i = 0; i < A->rows; i++) most = A->row[i + 1] - A->row[i] > most ? A->row[i + 1] - A->row[i] : most;
    return (int32_t)most;
}

mo_status mo_csr_border(mo_csr *A, const double *corner)
{
    int32_t rows = A->rows, n = A->cols, extra = n - rows;
    int64_t first = A->row[rows], entries = first + (int64_t)extra * extra;
    if (extra == 0) return MO_OK;
    int64_t *row = mo_calloc(sizeof(int64_t) * ((size_t)n + 2));
    if (!row) return MO_ERROR_MEMORY;
    memcpy(row, A->row, sizeof(int64_t) * ((size_t)rows + 1));
    for (int64_t k = 0; k < first; k++) entries += A->col[k] >= rows;
    int32_t *col = mo_alloc(sizeof(int32_t) * (size_t)entries);
    double *val = mo_alloc(sizeof(double) * (size_t)entries);
    if (!col || !val) {
        mo_free(row), mo_free(col), mo_free(val);
        return MO_ERROR_MEMORY;
    }
    memcpy(col, A->col, sizeof(int32_t) * (size_t)first), memcpy(val, A->val, sizeof(double) * (size_t)first);
    mo_csr_destroy(A);
    *A = (mo_csr){.rows = rows, .cols = n, .row = row, .col = col, .val = val};
    // Lengths one place late, so that placing the entries leaves every row's start.
    for (int64_t k = 0; k < first; k++)
        if (A->col[k] >= rows) row[A->col[k] + 2]++;
    row[rows + 1] = first;
    for (int32_t e = rows + 1; e <= n; e++) row[e + 1] += row[e] + extra;
    for (int32_t i = 0; i < rows; i++)
        for (int64_t k = row[i]; k < row[i + 1]; k++) {
            if (A->col[k] < rows) continue;
            int64_t to = row[A->col[k] + 1]++;
            A->col[to] = i, A->val[to] = A->val[k];
        }
    for (int32_t e = 0; e < extra; e++)
        for (int32_t d = 0; d < extra; d++) {
            int64_t to = row[rows + e + 1]++;
            A->col[to] = rows + d, A->val[to] = corner[(size_t)e * (size_t)extra + (size_t)d];
        }
    A->rows = n;
    return MO_OK;
}

mo_status mo_csr_block(const mo_csr *A, int32_t row, int32_t rows, int32_t col, int32_t cols, mo_csr *out)
{
    MO_ASSERT(row >= 0 && row + rows <= A->rows && col >= 0 && col + cols <= A->cols);
    int64_t entries = 0, at = 0;
    for (int64_t k = A->row[row]; k < A->row[row + rows]; k++) entries += A->col[k] >= col && A->col[k] < col + cols;
    MO_TRY(mo_csr_create(rows, cols, entries, out));
    for (int32_t i = 0; i < rows; i++) {
        for (int64_t k = A->row[row + i]; k < A->row[row + i + 1]; k++)
            if (A->col[k] >= col && A->col[k] < col + cols) out->col[at] = A->col[k] - col, out->val[at++] = A->val[k];
        out->row[i + 1] = at;
    }
    return MO_OK;
}

static void append_entries(const mo_csr *from, int32_t i, int32_t shift, mo_csr *to, int64_t *at)
{
    for (int64_t k = from->row[i]; k < from->row[i + 1]; k++, (*at)++)
        to->col[*at] = from->col[k] + shift, to->val[*at] = from->val[k];
}

mo_status mo_csr_border_sparse(mo_csr *A, const mo_csr *corner)
{
    MO_ASSERT(corner->rows == A->cols - A->rows && corner->cols == corner->rows);
    mo_csr right = {0}, below = {0}, all = {0};
    int64_t at = 0;
    mo_status status = mo_csr_block(A, 0, A->rows, A->rows, A->cols - A->rows, &right);
    if (status == MO_OK) status = mo_csr_transpose(&right, &below);
    if (status == MO_OK) {
        int64_t entries = mo_csr_entries(A) + mo_csr_entries(&below) + mo_csr_entries(corner);
        status = mo_csr_create(A->cols, A->cols, entries, &all);
    }
    for (int32_t i = 0; status == MO_OK && i < A->cols; i++) {
        if (i < A->rows)
            append_entries(A, i, 0, &all, &at);
        else
            append_entries(&below, i - A->rows, 0, &all, &at), append_entries(corner, i - A->rows, A->rows, &all, &at);
        all.row[i + 1] = at;
    }
    mo_csr_destroy(&right), mo_csr_destroy(&below);
    if (status == MO_OK) mo_csr_destroy(A), *A = all;
    return status;
}
