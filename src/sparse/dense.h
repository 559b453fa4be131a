// Small dense symmetric matrices, row-major.
#ifndef MO_DENSE_H
#define MO_DENSE_H

#include <stdint.h>

// Factors A = L D L^T in place: L is below the diagonal, 1/D on it. Where a pivot is less than `least` times its
// diagonal entry, 1/D is set to 0, and that unknown stays 0.
void mo_dense_factor(int32_t n, double *A, double least);
void mo_dense_solve(int32_t n, const double *L, double *x); // x: right-hand side in, solution out

#endif
