// Sparse Cholesky factor L L^T of symmetric positive definite matrices, for solves by the hundred with one matrix.
//
// It is our own: nested dissection (sparse/graph.h), supernodes, a multifrontal factor in dense tiles. It has no
// dependencies and gives the same bits on every machine and for any number of threads. docs/performance.md compares it
// with CHOLMOD.
#ifndef MO_CHOLESKY_H
#define MO_CHOLESKY_H

#include "sparse/csr.h"

typedef struct mo_cholesky mo_cholesky;

// Finds the order of elimination and the places of the entries of L for matrices with the pattern of A: symmetric, both
// halves stored, rows in groups of `block` (1, 2 or 3) unknowns that belong to one vertex. The values of A are not
// read. MO_ERROR_INPUT: A is not square, the number of its rows is not a multiple of block, or its pattern is not
// symmetric.
mo_status mo_cholesky_create(const mo_csr *A, int32_t block, mo_cholesky **out, mo_error *err);
// The same for single rows, where rows of one group, group[row] < groups, belong to one place. The order is found on
// the graph of groups, which is smaller, and the rows of a group are eliminated one after the other, in ascending
// order.
mo_status mo_cholesky_create_grouped(const mo_csr *A, int32_t groups, const int32_t *group, mo_cholesky **out,
                                     mo_error *err);
void mo_cholesky_destroy(mo_cholesky *c); // NULL is fine

// Factors a matrix with that pattern; it may have explicit zeros, and may lack entries. Only the lower half is read.
// Rows marked in `held` (may be NULL) are taken out together with their columns, whatever they contain; their unknowns
// stay 0. *positive = false: the rest of A is not positive definite, or not finite. This is not an error, but there is
// no factor then. MO_ERROR_INPUT: an entry is outside the pattern.
mo_status mo_cholesky_factor(mo_cholesky *c, const mo_csr *A, const uint8_t *held, bool *positive, mo_error *err);

// x = A^-1 b with the last factor; b may be x. The object holds the scratch, so only one solve may run on it at a time.
void mo_cholesky_solve(const mo_cholesky *c, const double *b, double *x);
// n right-hand sides, one behind the other in b and in x. The bits are those of n single solves, in less time.
void mo_cholesky_solve_many(const mo_cholesky *c, int32_t n, const double *b, double *x);

int64_t mo_cholesky_entries(const mo_cholesky *c); // of L with its diagonal, without zeros that supernodes add
int64_t mo_cholesky_bytes(const mo_cholesky *c);   // memory the object holds

#endif
