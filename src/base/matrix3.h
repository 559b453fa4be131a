// Matrices of 3 x 3: determinant, cofactors, singular values, eigenvalues.
#ifndef MO_MATRIX3_H
#define MO_MATRIX3_H

double mo_det3(const double F[3][3]);
void mo_cofactor3(const double F[3][3], double C[3][3]); // the derivative of the determinant

// F = U diag(s) V^T. U and V are rotations (determinant +1), s is in descending order of magnitude, and only the last,
// smallest one may be negative: it carries the sign of det F. Any matrix is allowed, the zero matrix too.
void mo_svd3(const double F[3][3], double U[3][3], double s[3], double V[3][3]);

// Eigenvalues and eigenvectors (the columns of Q, orthonormal) of the leading n x n part of a symmetric matrix, n <= 3.
// A is destroyed.
void mo_eigen3(int n, double A[3][3], double value[3], double Q[3][3]);

#endif
