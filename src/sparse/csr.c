// Compressed sparse rows: products, transposition, weighted squares, connected pieces.
#include "sparse/csr.h"
#include "base/parallel.h"
#include "base/union_find.h"
#include <omp.h>
#include <string.h>

enum { SMALL = 4096 }; // rows below which a parallel region costs more than it saves

mo_status mo_csr_create(int32_t rows, int32_t cols, int64_t entries, mo_csr *out)
{
    MO_ASSERT(rows >= 0 && cols >= 0 && entries >= 0);
    *out = (mo_csr){.rows = rows, .cols = cols};
    out->row = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    out->col = mo_alloc(sizeof(int32_t) * (size_t)entries);
    out->val = mo_alloc(sizeof(double) * (size_t)entries);
    if (out->row && out->col && out->val) return MO_OK;
    mo_csr_destroy(out);
    return MO_ERROR_MEMORY;
}

void mo_csr_destroy(mo_csr *A)
{
    mo_free(A->row), mo_free(A->col), mo_free(A->val);
    *A = (mo_csr){0};
}

void mo_csr_multiply(const mo_csr *A, const double *x, double *y)
{
    MO_ASSERT(x != y || A->rows == 0);
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) y[i] = mo_csr_row_product(A, i, x);
}

void mo_csr_multiply_add(const mo_csr *A, double s, const double *x, double *y)
{
    MO_ASSERT(x != y || A->rows == 0);
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) y[i] += s * mo_csr_row_product(A, i, x);
}

void mo_csr_push(const mo_csr *A, double s, const double *x, double *y)
{
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) y[A->col[k]] += A->val[k] * (s * x[i]);
}

mo_status mo_csr_transpose(const mo_csr *A, mo_csr *out)
{
    MO_ASSERT(A != out);
    int64_t entries = mo_csr_entries(A);
    MO_TRY(mo_csr_create(A->cols, A->rows, entries, out));
    // Entry counts one place late, so that placing the entries below leaves row[j] at the start of row j.
    int64_t *row = out->row;
    for (int64_t k = 0; k < entries; k++)
        if (A->col[k] + 2 <= A->cols) row[A->col[k] + 2]++;
    for (int32_t j = 1; j < A->cols; j++) row[j + 1] += row[j];
    // Rows of A in order: the entries of each row of the transpose ascend.
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            int64_t place = row[A->col[k] + 1]++;
            out->col[place] = i, out->val[place] = A->val[k];
        }
    return MO_OK;
}

void mo_csr_diagonal(const mo_csr *A, double *d)
{
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) {
        d[i] = 0;
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            if (A->col[k] == i) d[i] = A->val[k];
    }
}

// ---- A += B ----

// Whether A has all entries of row i of B; they are added there if `add`.
static bool add_row(mo_csr *A, const mo_csr *B, int32_t i, bool add)
{
    int64_t a = A->row[i];
    for (int64_t b = B->row[i]; b < B->row[i + 1]; b++) {
        while (a < A->row[i + 1] && A->col[a] < B->col[b]) a++;
        if (a == A->row[i + 1] || A->col[a] != B->col[b]) return false;
        if (add) A->val[a] += B->val[b];
    }
    return true;
}

// Row i of A + B at `to` of C (col NULL: only counted); returns its length.
static int64_t merge_row(const mo_csr *A, const mo_csr *B, int32_t i, int32_t *col, double *val)
{
    int64_t a = A->row[i], b = B->row[i], n = 0;
    for (; a < A->row[i + 1] || b < B->row[i + 1]; n++) {
        int32_t ca = a < A->row[i + 1] ? A->col[a] : INT32_MAX, cb = b < B->row[i + 1] ? B->col[b] : INT32_MAX;
        double v = (ca <= cb ? A->val[a] : 0) + (cb <= ca ? B->val[b] : 0);
        if (col) col[n] = ca < cb ? ca : cb, val[n] = v;
        a += ca <= cb, b += cb <= ca;
    }
    return n;
}

mo_status mo_csr_add(mo_csr *A, const mo_csr *B)
{
    MO_ASSERT(A->rows == B->rows && A->cols == B->cols);
    bool fits = true;
    mo_csr C = {.rows = A->rows, .cols = A->cols};
    for (int32_t i = 0; i < A->rows && fits; i++) fits = add_row(A, B, i, false);
    if (fits) {
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
        for (int32_t i = 0; i < A->rows; i++) add_row(A, B, i, true);
        return MO_OK;
    }
    C.row = mo_calloc(sizeof(int64_t) * ((size_t)A->rows + 1));
    if (!C.row) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < A->rows; i++) C.row[i + 1] = C.row[i] + merge_row(A, B, i, NULL, NULL);
    C.col = mo_alloc(sizeof(int32_t) * (size_t)C.row[A->rows]);
    C.val = mo_alloc(sizeof(double) * (size_t)C.row[A->rows]);
    if (!C.col || !C.val) {
        mo_csr_destroy(&C);
        return MO_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) merge_row(A, B, i, C.col + C.row[i], C.val + C.row[i]);
    mo_csr_destroy(A);
    *A = C;
    return MO_OK;
}

// ---- C = A diag(d) A^T ----

// Columns of row i of C, ascending, into col; returns their number. val (or NULL) gets the values: products summed in
// the order of A's columns, which is the same for c_ij and c_ji.
static int32_t square_row(const mo_csr *A, const mo_csr *At, const double *d, int32_t i, int32_t *col, double *val)
{
    int32_t n = 1;
    col[0] = i;
    if (val) val[0] = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t c = A->col[k];
        double scale = d ? d[c] : 1;
        for (int64_t m = At->row[c]; m < At->row[c + 1]; m++) {
            int32_t j = At->col[m], p = n;
            while (p > 0 && col[p - 1] > j) p--;
            if (p == 0 || col[p - 1] != j) { // new column: make room
                for (int32_t q = n; q > p; q--) {
                    col[q] = col[q - 1];
                    if (val) val[q] = val[q - 1];
                }
                col[p] = j, n++;
                if (val) val[p] = 0;
            } else
                p--;
            if (val) {
                double product = A->val[k] * At->val[m];
                val[p] += product * scale;
            }
        }
    }
    return n;
}

// Where every column of A has two entries at most, as a face lies between two cells, each entry of row i gives its own
// square to the diagonal and one product to the row on the other side. Returns the number of these; other[] and
// value[] get them, *diagonal its sum.
enum { PAIRED = 8 }; // entries of a row, at most
typedef int32_t places __attribute__((vector_size(4 * PAIRED)));

static int32_t list_others(const mo_csr *A, const mo_csr *At, const double *d, int32_t i, int32_t other[PAIRED],
                           double value[PAIRED], double *diagonal)
{
    int32_t n = 0;
    *diagonal = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t c = A->col[k];
        int64_t m = At->row[c];
        double scale = d ? d[c] : 1, own = A->val[k], square = own * own;
        *diagonal += square * scale;
        if (At->row[c + 1] - m == 1) continue;
        m += At->col[m] == i; // the entry that is not the row's own
        double product = own * At->val[m];
        other[n] = At->col[m], value[n++] = product * scale;
    }
    return n;
}

// The row of a cell inside its tile, all of whose faces are open: the cells below, in the order of x, y and z, then
// those above. False if it is another.
static inline bool plain_row(int32_t n, const int32_t other[PAIRED], const double value[PAIRED], int32_t i,
                             double diagonal, int32_t *col, double *val)
{
    if (n != 6 || other[2] >= other[1] || other[1] >= other[0] || other[0] >= i) return false;
    if (i >= other[3] || other[3] >= other[4] || other[4] >= other[5]) return false;
    for (int a = 0; a < 3; a++) col[a] = other[2 - a], val[a] = value[2 - a];
    col[3] = i, val[3] = diagonal;
    for (int a = 3; a < 6; a++) col[a + 1] = other[a], val[a + 1] = value[a];
    return true;
}

// The row of C: a product's place is the number of columns before its own. False if two products meet in one place.
static bool paired_row(const mo_csr *A, const mo_csr *At, const double *d, int32_t i, int32_t *col, double *val)
{
    int32_t other[PAIRED], met = 0, low = 0;
    double value[PAIRED], diagonal;
    int32_t n = list_others(A, At, d, i, other, value, &diagonal);
    if (plain_row(n, other, value, i, diagonal, col, val)) return true;
    for (int q = n; q < PAIRED; q++) other[q] = INT32_MAX;
    places column, before, same = {0};
    memcpy(&column, other, sizeof column);
    before = -(column > i);
    for (int32_t a = 0; a < n; a++) before -= column > other[a], same -= column == other[a];
    for (int32_t a = 0; a < n; a++) {
        col[before[a]] = other[a], val[before[a]] = value[a];
        low += other[a] < i, met += same[a] - 1;
    }
    col[low] = i, val[low] = diagonal;
    return met == 0;
}

static int32_t paired_length(const mo_csr *A, const mo_csr *At, int32_t i)
{
    int32_t n = 1;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) n += At->row[A->col[k] + 1] - At->row[A->col[k]] == 2;
    return n;
}

static bool is_paired(const mo_csr *A, const mo_csr *At)
{
    bool paired = true;
#pragma omp parallel for schedule(static) reduction(&& : paired) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++) paired = A->row[i + 1] - A->row[i] <= PAIRED && paired;
#pragma omp parallel for schedule(static) reduction(&& : paired) if (At->rows > SMALL)
    for (int32_t c = 0; c < At->rows; c++) paired = At->row[c + 1] - At->row[c] <= 2 && paired;
    return paired;
}

// C of such an A; *done is false if it is none, or if products meet.
static mo_status square_paired(const mo_csr *A, const mo_csr *At, const double *d, mo_csr *out, bool *done)
{
    int32_t n = A->rows;
    bool apart = is_paired(A, At);
    *done = false;
    if (!apart) return MO_OK;
    *out = (mo_csr){.rows = n, .cols = n, .row = mo_calloc(sizeof(int64_t) * ((size_t)n + 1))};
    if (!out->row) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t i = 0; i < n; i++) out->row[i + 1] = paired_length(A, At, i);
    for (int32_t i = 0; i < n; i++) out->row[i + 1] += out->row[i];
    out->col = mo_alloc(sizeof(int32_t) * (size_t)out->row[n]);
    out->val = mo_alloc(sizeof(double) * (size_t)out->row[n]);
    if (!out->col || !out->val) {
        mo_csr_destroy(out);
        return MO_ERROR_MEMORY;
    }
#pragma omp parallel for schedule(static) reduction(&& : apart) if (n > SMALL)
    for (int32_t i = 0; i < n; i++)
        apart = paired_row(A, At, d, i, out->col + out->row[i], out->val + out->row[i]) && apart;
    if (!apart) mo_csr_destroy(out);
    *done = apart;
    return MO_OK;
}

// Rows in which many products meet are summed in an array of all columns; bits mark those that are there.
enum { WIDE = 96, BITS = 64 };

typedef struct square_work { // of one thread
    int32_t narrow[WIDE + 1];
    uint64_t *mark; // [n / BITS + 1] zero between rows
    double *sum;    // [n]
} square_work;

static int64_t count_products(const mo_csr *A, const mo_csr *At, int32_t i)
{
    int64_t n = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) n += At->row[A->col[k] + 1] - At->row[A->col[k]];
    return n;
}

static void mark_column(square_work *w, int32_t j)
{
    uint64_t bit = (uint64_t)1 << (j % BITS), *word = &w->mark[j / BITS];
    if (!(*word & bit)) *word |= bit, w->sum[j] = 0;
}

// As square_row; col NULL: only counts. The sums are the same to the last bit.
static int32_t square_wide_row(const mo_csr *A, const mo_csr *At, const double *d, int32_t i, square_work *w,
                               int32_t *col, double *val)
{
    int32_t n = 0;
    mark_column(w, i);
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t c = A->col[k];
        double scale = d ? d[c] : 1;
        for (int64_t m = At->row[c]; m < At->row[c + 1]; m++) {
            mark_column(w, At->col[m]);
            double product = A->val[k] * At->val[m];
            w->sum[At->col[m]] += product * scale;
        }
    }
    for (int32_t q = 0; q <= A->rows / BITS; q++) {
        for (uint64_t bits = w->mark[q]; bits; bits &= bits - 1, n++) {
            int32_t j = q * BITS + __builtin_ctzll(bits);
            if (col) col[n] = j, val[n] = w->sum[j];
        }
        w->mark[q] = 0;
    }
    return n;
}

static int32_t square_any_row(const mo_csr *A, const mo_csr *At, const double *d, int32_t i, square_work *w,
                              int32_t *col, double *val)
{
    if (count_products(A, At, i) > WIDE) return square_wide_row(A, At, d, i, w, col, val);
    return square_row(A, At, d, i, col ? col : w->narrow, val);
}

static square_work *create_square_work(int32_t threads, int32_t n)
{
    size_t words = (size_t)n / BITS + 1, each = words + (size_t)n;
    square_work *w = mo_calloc((sizeof *w + sizeof(double) * each) * (size_t)threads);
    uint64_t *memory = (uint64_t *)(w + threads);
    for (int32_t t = 0; w && t < threads; t++, memory += each)
        w[t].mark = memory, w[t].sum = (double *)(memory + words);
    return w;
}

mo_status mo_csr_weighted_square(const mo_csr *A, const mo_csr *At, const double *d, mo_csr *out)
{
    MO_ASSERT(At->rows == A->cols && At->cols == A->rows);
    MO_ASSERT(mo_csr_entries(At) == mo_csr_entries(A));
    bool done;
    MO_TRY(square_paired(A, At, d, out, &done));
    if (done) return MO_OK;
    *out = (mo_csr){.rows = A->rows, .cols = A->rows};
    int32_t threads = mo_thread_count(), n = A->rows;
    square_work *work = create_square_work(threads, n);
    out->row = mo_calloc(sizeof(int64_t) * ((size_t)n + 1));
    if (!work || !out->row) goto no_memory;
#pragma omp parallel for schedule(static) num_threads(threads) if (n > SMALL)
    for (int32_t i = 0; i < n; i++)
        out->row[i + 1] = square_any_row(A, At, d, i, &work[omp_get_thread_num()], NULL, NULL);
    for (int32_t i = 0; i < n; i++) out->row[i + 1] += out->row[i];
    out->col = mo_alloc(sizeof(int32_t) * (size_t)out->row[n]);
    out->val = mo_alloc(sizeof(double) * (size_t)out->row[n]);
    if (!out->col || !out->val) goto no_memory;
#pragma omp parallel for schedule(static) num_threads(threads) if (n > SMALL)
    for (int32_t i = 0; i < n; i++)
        square_any_row(A, At, d, i, &work[omp_get_thread_num()], out->col + out->row[i], out->val + out->row[i]);
    mo_free(work);
    return MO_OK;
no_memory:
    mo_free(work);
    mo_csr_destroy(out);
    return MO_ERROR_MEMORY;
}

int32_t *mo_csr_filled_rows(const mo_csr *A, int32_t from, int32_t *count)
{
    MO_ASSERT(from >= 0);
    *count = 0;
    for (int32_t i = from; i < A->rows; i++) *count += A->row[i + 1] > A->row[i];
    int32_t *list = mo_alloc(sizeof(int32_t) * (size_t)*count);
    for (int32_t i = from, n = 0; list && i < A->rows; i++)
        if (A->row[i + 1] > A->row[i]) list[n++] = i;
    return list;
}

// ---- Pieces: union-find with the smaller row as the root, so that label[i] <= i always ----

int32_t mo_csr_components(const mo_csr *A, int32_t *label)
{
    MO_ASSERT(A->rows == A->cols);
    for (int32_t i = 0; i < A->rows; i++) {
        label[i] = i;
        int32_t root = i;
        for (int64_t k = A->row[i]; k < A->row[i + 1] && A->col[k] < i; k++) {
            int32_t other = mo_find_root(label, A->col[k]);
            if (other < root) {
                label[root] = other;
                root = other;
            } else
                label[other] = root;
        }
    }
    int32_t pieces = 0;
    for (int32_t i = 0; i < A->rows; i++) label[i] = label[i] == i ? pieces++ : label[label[i]];
    return pieces;
}
