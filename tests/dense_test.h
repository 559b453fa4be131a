// A dense solve of matrices that are not positive definite, as those of whole systems are.
#ifndef MO_DENSE_TEST_H
#define MO_DENSE_TEST_H

#include <math.h>
#include <stdint.h>

// A x = b by Gauss with pivots; b becomes x.
static inline void eliminate(int32_t n, double *A, double *b)
{
    for (int32_t c = 0; c < n; c++) {
        int32_t p = c;
        for (int32_t i = c + 1; i < n; i++)
            if (fabs(A[i * n + c]) > fabs(A[p * n + c])) p = i;
        for (int32_t k = 0; k < n; k++) {
            double t = A[c * n + k];
            A[c * n + k] = A[p * n + k], A[p * n + k] = t;
        }
        double t = b[c];
        b[c] = b[p], b[p] = t;
        for (int32_t i = c + 1; i < n; i++) {
            double f = A[i * n + c] / A[c * n + c];
            for (int32_t k = c; k < n && f != 0; k++) A[i * n + k] -= f * A[c * n + k];
            b[i] -= f * b[c];
        }
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
}

#endif
