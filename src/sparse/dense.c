// LDL^T of small dense matrices.
#include "sparse/dense.h"
#include "base/assert.h"

// Four sums, as the additions of one would wait for each other.
static double product(int32_t n, const double *a, const double *b)
{
    double s[4] = {0};
    int32_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (int j = 0; j < 4; j++) s[j] += a[k + j] * b[k + j];
    for (; k < n; k++) s[0] += a[k] * b[k];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

void mo_dense_factor(int32_t n, double *A, double least)
{
    MO_ASSERT(n >= 0 && least >= 0);
    for (int32_t i = 0; i < n; i++) {
        double *row = A + (int64_t)i * n, size = row[i], d = size;
        int32_t first = 0; // zeros before the first entry stay
        while (first < i && row[first] == 0) first++;
        for (int32_t k = first; k < i; k++) { // row[k] = (L D)_ik
            const double *other = A + (int64_t)k * n;
            row[k] -= product(k - first, row + first, other + first);
        }
        for (int32_t k = first; k < i; k++) {
            double l = row[k] * A[(int64_t)k * n + k];
            d -= l * row[k];
            row[k] = l;
        }
        row[i] = d > least * size ? 1 / d : 0;
    }
}

void mo_dense_solve(int32_t n, const double *L, double *x)
{
    MO_ASSERT(n >= 0);
    for (int32_t i = 0; i < n; i++) x[i] -= product(i, L + (int64_t)i * n, x);
    for (int32_t i = 0; i < n; i++) x[i] *= L[(int64_t)i * n + i];
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = L + (int64_t)i * n;
        for (int32_t k = 0; k < i; k++) x[k] -= row[k] * x[i];
    }
}
