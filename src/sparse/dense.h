// Small dense symmetric matrices, row-major.
#ifndef MO_DENSE_H
#define MO_DENSE_H

#include <stdint.h>

// A = L D L^T in place: L below the diagonal, 1/D on it; 0 where a pivot is below `least` of its diagonal entry: that
// unknown then stays 0.
void mo_dense_factor(int32_t n, double *A, double least);
void mo_dense_solve(int32_t n, const double *L, double *x); // x: right-hand side in, solution out

#endif
