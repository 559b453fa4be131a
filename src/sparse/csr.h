// Compressed sparse rows: the one matrix format of the project (double values, int32 columns, int64 row starts).
#ifndef MO_CSR_H
#define MO_CSR_H

#include "base/base.h"

typedef struct mo_csr {
    int32_t rows, cols;
    int64_t *row; // [rows + 1] first entry of each row
    int32_t *col; // [row[rows]] ascending within a row
    double *val;  // [row[rows]]
} mo_csr;

mo_status mo_csr_create(int32_t rows, int32_t cols, int64_t entries, mo_csr *out); // row starts zeroed
const char *mo_csr_fault(const mo_csr *A); // what is wrong with starts, columns or numbers; NULL: nothing
void mo_csr_destroy(mo_csr *A);            // frees arrays, zeroes the struct
static inline int64_t mo_csr_entries(const mo_csr *A) { return A->rows ? A->row[A->rows] : 0; }

// Row i of A times x. There are two sums, because the additions of one would wait for each other.
static inline double mo_csr_row_product(const mo_csr *A, int32_t i, const double *x)
{
    MO_ASSERT(i >= 0 && i < A->rows);
    double s = 0, t = 0;
    int64_t k = A->row[i], end = A->row[i + 1];
    for (; k + 1 < end; k += 2) {
        s += A->val[k] * x[A->col[k]];
        t += A->val[k + 1] * x[A->col[k + 1]];
    }
    if (k < end) s += A->val[k] * x[A->col[k]];
    return s + t;
}

// Where row i begins and ends; a matrix without rows has no entries.
static inline int64_t mo_csr_begin(const mo_csr *A, int32_t i) { return A->rows ? A->row[i] : 0; }
static inline int64_t mo_csr_end(const mo_csr *A, int32_t i) { return A->rows ? A->row[i + 1] : 0; }

// Searches row i for its entry in column j; returns 0 if there is none.
static inline double mo_csr_entry(const mo_csr *A, int32_t i, int32_t j)
{
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
        if (A->col[k] == j) return A->val[k];
    return 0;
}

// Lists the rows from `from` on that have entries, ascending; *count tells how many. The caller frees the list by
// mo_free; NULL: no memory.
int32_t *mo_csr_filled_rows(const mo_csr *A, int32_t from, int32_t *count);

void mo_csr_multiply(const mo_csr *A, const double *x, double *y);               // y = A x
void mo_csr_multiply_add(const mo_csr *A, double s, const double *x, double *y); // y += s A x
void mo_csr_push(const mo_csr *A, double s, const double *x, double *y);         // y += s A^T x, by one thread
mo_status mo_csr_transpose(const mo_csr *A, mo_csr *out); // entries of a row in ascending columns
void mo_csr_diagonal(const mo_csr *A, double *d);
// C = A diag(d) A^T (d NULL = identity). C is symmetric to the last bit, and every row has its diagonal entry.
mo_status mo_csr_weighted_square(const mo_csr *A, const mo_csr *At, const double *d, mo_csr *out);
mo_status mo_csr_add(mo_csr *A, const mo_csr *B); // A += B; entries A lacks are inserted
// Finds the connected pieces of a symmetric pattern and labels its rows; pieces are numbered in the order of their
// first rows. Returns their number, -1 = no memory.
int32_t mo_csr_components(const mo_csr *A, int32_t *label);

// ---- Building (csr_rows.c) ----

// Makes a matrix row by row: `find` writes the columns and values of a row (at most `width`) and returns their number,
// -1 = too many. Threads have numbers below mo_thread_count().
typedef int32_t (*mo_row_fn)(void *user, int32_t row, int32_t thread, int32_t *col, double *val);
mo_status mo_csr_collect(int32_t rows, int32_t cols, int32_t width, mo_row_fn find, void *user, mo_csr *out);
int32_t mo_csr_widest(const mo_csr *A); // entries of the longest row
// Appends rows to a matrix (rows x cols, cols >= rows) so that it becomes symmetric; corner: the square block below
// right (cols - rows wide, row-major).
mo_status mo_csr_border(mo_csr *A, const double *corner);
mo_status mo_csr_border_sparse(mo_csr *A, const mo_csr *corner); // the same with a sparse corner
// Copies the block of so many rows and columns that begins at (row, col).
mo_status mo_csr_block(const mo_csr *A, int32_t row, int32_t rows, int32_t col, int32_t cols, mo_csr *out);

#endif
