// Sparse LDL^T: elimination tree, column counts, up-looking rows (Davis, Direct Methods for Sparse Linear Systems).
#include "sparse/ldl.h"
#include "base/parallel.h"
#include <omp.h>
#include <string.h>

void mo_ldl_destroy(mo_ldl *l)
{
    mo_free(l->block), mo_free(l->member), mo_free(l->start), mo_free(l->row), mo_free(l->val), mo_free(l->inverse);
    *l = (mo_ldl){0};
}

int64_t mo_ldl_bytes(const mo_ldl *l)
{
    int64_t members = l->block[l->blocks];
    return members * (4 + 8 + 8) + l->start[members] * (4 + 8);
}

typedef struct work {                                  // of one thread
    int32_t *place;                                    // [rows of A] member of the present block, or -1
    int32_t *parent, *flag, *pattern, *stack, *filled; // [widest]
    double *y;                                         // [widest]
} work;

// Columns of row k of L (k and columns counted within the block), in topological order at pattern[top ..]; returns top.
// `parent` grows as needed when `build`; lengths are counted then.
static int32_t row_pattern(const mo_csr *A, const mo_ldl *l, int32_t first, int32_t k, work *w, bool build)
{
    int32_t top = k, row = l->member[first + k];
    w->flag[k] = k;
    if (build) w->parent[k] = -1, w->filled[k] = 0;
    for (int64_t e = A->row[row]; e < A->row[row + 1]; e++) {
        int32_t i = w->place[A->col[e]], n = 0;
        if (i < 0 || i >= k) continue;
        w->y[i] = A->val[e];
        for (; w->flag[i] != k; i = w->parent[i]) {
            if (build && w->parent[i] < 0) w->parent[i] = k;
            w->stack[n++] = i, w->flag[i] = k;
            if (build) w->filled[i]++;
        }
        while (n > 0) w->pattern[--top] = w->stack[--n];
    }
    return top;
}

static void enter_block(const mo_ldl *l, int32_t b, work *w)
{
    int32_t first = l->block[b], n = l->block[b + 1] - first;
    for (int32_t k = 0; k < n; k++) w->place[l->member[first + k]] = k;
    for (int32_t k = 0; k < n; k++) w->flag[k] = -1;
}
static void leave_block(const mo_ldl *l, int32_t b, work *w)
{
    for (int32_t k = l->block[b]; k < l->block[b + 1]; k++) w->place[l->member[k]] = -1;
}

static void count_block(const mo_csr *A, mo_ldl *l, int32_t b, work *w)
{
    int32_t first = l->block[b], n = l->block[b + 1] - first;
    enter_block(l, b, w);
    for (int32_t k = 0; k < n; k++) row_pattern(A, l, first, k, w, true);
    for (int32_t k = 0; k < n; k++) l->start[first + k + 1] = w->filled[k];
    leave_block(l, b, w);
}

// Rows of L one after another: solve with the rows before, L(k, :) = (L D)^-1 a_k, d_k = a_kk - L(k, :) D L(k, :)^T
static void factor_block(const mo_csr *A, mo_ldl *l, int32_t b, work *w)
{
    MO_ASSERT(l->block[b] <= l->block[b + 1]);
    const double least = 1e-11; // pivots below this part of the diagonal are rounding
    int32_t first = l->block[b], n = l->block[b + 1] - first;
    enter_block(l, b, w);
    for (int32_t k = 0; k < n; k++) w->y[k] = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t top = row_pattern(A, l, first, k, w, true), row = l->member[first + k];
        double d = 0, size;
        for (int64_t e = A->row[row]; e < A->row[row + 1]; e++)
            if (A->col[e] == row) d = A->val[e];
        size = d;
        for (; top < k; top++) {
            int32_t i = w->pattern[top];
            int64_t start = l->start[first + i];
            double yi = w->y[i], lki = yi * l->inverse[first + i];
            int32_t have = w->filled[i] - 1; // this row's entry is counted already
            w->y[i] = 0;
            for (int64_t p = start; p < start + have; p++) w->y[l->row[p]] -= l->val[p] * yi;
            d -= lki * yi;
            l->row[start + have] = k, l->val[start + have] = lki;
        }
        l->inverse[first + k] = d > least * size ? 1 / d : 0;
    }
    leave_block(l, b, w);
}

static bool work_create(int32_t threads, int32_t rows, int32_t widest, work *w, void **memory)
{
    size_t n = (size_t)widest + 1, each = sizeof(int32_t) * ((size_t)rows + 5 * n + 1) + sizeof(double) * n;
    each = (each + 63) & ~(size_t)63;
    char *p = *memory = mo_alloc(each * (size_t)threads);
    for (int32_t t = 0; p && t < threads; t++, p += each) {
        w[t].y = (double *)p, w[t].place = (int32_t *)(w[t].y + n);
        w[t].parent = w[t].place + rows, w[t].flag = w[t].parent + n, w[t].pattern = w[t].flag + n;
        w[t].stack = w[t].pattern + n, w[t].filled = w[t].stack + n;
        memset(w[t].place, 0xff, sizeof(int32_t) * (size_t)rows);
    }
    return p != NULL;
}

static mo_status factor(const mo_csr *A, mo_ldl *l)
{
    int32_t threads = mo_thread_count(), members = l->block[l->blocks];
    void *memory = NULL;
    for (int32_t b = 0; b < l->blocks; b++) {
        int32_t n = l->block[b + 1] - l->block[b];
        if (n > l->widest) l->widest = n;
    }
    work *w = mo_alloc(sizeof(work) * (size_t)threads);
    l->start = mo_calloc(sizeof(int64_t) * ((size_t)members + 1));
    l->inverse = mo_alloc(sizeof(double) * (size_t)members);
    bool ok = w && l->start && l->inverse && work_create(threads, A->rows, l->widest, w, &memory);
    if (ok) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (members > 1000)
        for (int32_t b = 0; b < l->blocks; b++) count_block(A, l, b, &w[omp_get_thread_num()]);
        for (int32_t k = 0; k < members; k++) l->start[k + 1] += l->start[k];
        l->row = mo_alloc(sizeof(int32_t) * (size_t)l->start[members]);
        l->val = mo_alloc(sizeof(double) * (size_t)l->start[members]);
        ok = l->row && l->val;
    }
    if (ok) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (members > 1000)
        for (int32_t b = 0; b < l->blocks; b++) factor_block(A, l, b, &w[omp_get_thread_num()]);
    }
    mo_free(memory), mo_free(w);
    return ok ? MO_OK : MO_ERROR_MEMORY;
}

mo_status mo_ldl_create(const mo_csr *A, int32_t blocks, int32_t *block, int32_t *member, mo_ldl *out)
{
    MO_ASSERT(A->rows == A->cols && blocks >= 0);
    MO_ASSERT(blocks == 0 || (block && member && block[0] == 0));
    *out = (mo_ldl){.blocks = blocks, .block = block, .member = member};
    mo_status status = factor(A, out);
    if (status != MO_OK) mo_ldl_destroy(out);
    return status;
}

void mo_ldl_solve(const mo_ldl *l, int32_t b, double *x)
{
    MO_ASSERT(b >= 0 && b < l->blocks);
    int32_t first = l->block[b], n = l->block[b + 1] - first;
    const int64_t *start = l->start + first;
    for (int32_t k = 0; k < n; k++)
        for (int64_t p = start[k]; p < start[k + 1]; p++) x[l->row[p]] -= l->val[p] * x[k];
    for (int32_t k = n - 1; k >= 0; k--) {
        double s = x[k] * l->inverse[first + k];
        for (int64_t p = start[k]; p < start[k + 1]; p++) s -= l->val[p] * x[l->row[p]];
        x[k] = s;
    }
}
