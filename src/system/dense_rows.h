// A symmetric operator on few rows as a full matrix, for solves that take more products than there are rows: a product
// with the operator costs a solve of all nodes, while a product with the matrix costs one multiplication for each pair
// of rows.
#ifndef MO_DENSE_ROWS_H
#define MO_DENSE_ROWS_H

#include "sparse/krylov.h"

typedef struct mo_dense_rows {
    int32_t rows;
    double *A; // [rows][rows], symmetric to the last bit
    // Sweeps leave out rows that are at a bound; x, lower, upper [rows] belong to the solver.
    const double *x, *lower, *upper;
} mo_dense_rows;

// Makes one product with the operator for each row.
mo_status mo_dense_rows_create(int32_t rows, const mo_operator *op, mo_dense_rows *out);
void mo_dense_rows_destroy(mo_dense_rows *d); // frees the matrix, not the struct

// y = A x, for a mo_operator with the matrix as its context.
void mo_dense_rows_apply(void *dense, const double *x, double *y);
// Approximates z = A^-1 r on the rows that are not at a bound, by a sweep of Gauss-Seidel forwards and one backwards,
// which together are symmetric.
void mo_dense_rows_sweep(void *dense, const double *r, double *z);

#endif
