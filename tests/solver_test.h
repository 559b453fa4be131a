// What the solver tests share: dense references and random domains.
#ifndef SOLVER_TEST_H
#define SOLVER_TEST_H

#include "std_domain.h"

// ---- Random domains: set random_seed and random_share, then use random_liquid as the level set ----

static uint32_t random_seed;
static double random_share; // of liquid cells

static inline double random_liquid(const double x[3], int d)
{
    (void)d;
    uint32_t c[3] = {(uint32_t)(x[0] * 1024), (uint32_t)(x[1] * 1024), (uint32_t)(x[2] * 1024)};
    double chance = mo_unit(mo_hash(c[0], c[1], c[2] + 4096 * random_seed));
    double depth = 0.01 + mo_unit(mo_hash(c[0] + 7, c[1], c[2] + 4096 * random_seed));
    return chance < random_share ? -depth : depth;
}
static inline double full_liquid(const double x[3], int d)
{
    (void)x, (void)d;
    return -1;
}

static inline double random_number(uint32_t i, uint32_t seed) { return 2 * mo_unit(mo_hash(i, seed, 99)) - 1; }

// ---- Dense reference: A x = b by Cholesky; null spaces of enclosed pieces filled, so that means are zero ----

static inline void dense_matrix(const mo_csr *A, double *M)
{
    memset(M, 0, sizeof(double) * (size_t)A->rows * (size_t)A->cols);
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) M[(int64_t)i * A->cols + A->col[k]] += A->val[k];
}

static inline void dense_solve(int32_t n, double *M, const double *b, double *x)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double s = M[i * n + j];
            for (int32_t k = 0; k < j; k++) s -= M[i * n + k] * M[j * n + k];
            M[i * n + j] = i == j ? sqrt(s) : s / M[j * n + j];
        }
    for (int32_t i = 0; i < n; i++) {
        x[i] = b[i];
        for (int32_t k = 0; k < i; k++) x[i] -= M[i * n + k] * x[k];
        x[i] /= M[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) x[i] -= M[k * n + i] * x[k];
        x[i] /= M[i * n + i];
    }
}

// Projects b, solves for x. Returns the number of enclosed pieces.
static inline int32_t reference_solve(const mo_csr *A, const double *b, double *x)
{
    int32_t n = A->rows, *piece = malloc(sizeof(int32_t) * ((size_t)n + 1)), enclosed = 0;
    int32_t pieces = mo_csr_components(A, piece);
    double *M = malloc(sizeof(double) * ((size_t)n * (size_t)n + 1)), *c = malloc(sizeof(double) * ((size_t)n + 1));
    dense_matrix(A, M);
    double *diagonal_of = malloc(sizeof(double) * ((size_t)n + 1)); // what a piece must lose is shared by it
    for (int32_t i = 0; i < n; i++) diagonal_of[i] = M[i * n + i];
    memcpy(c, b, sizeof(double) * (size_t)n);
    for (int32_t p = 0; p < pieces; p++) {
        double sum = 0, total = 0, diagonal = 0, scale = 0;
        int32_t count = 0;
        for (int32_t i = 0; i < n; i++) {
            if (piece[i] != p) continue;
            double row = 0;
            for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) row += A->val[k], scale += fabs(A->val[k]);
            sum += fabs(row), total += b[i], diagonal += diagonal_of[i], count++;
        }
        if (sum > 1e-10 * scale) continue;
        enclosed++;
        for (int32_t i = 0; i < n; i++) {
            if (piece[i] != p) continue;
            if (diagonal > 0) c[i] -= total * diagonal_of[i] / diagonal;
            for (int32_t j = 0; j < n; j++)
                if (piece[j] == p) M[i * n + j] += scale > 0 ? scale / count / count : 1;
        }
    }
    dense_solve(n, M, c, x);
    free(M), free(c), free(piece), free(diagonal_of);
    return enclosed;
}

static inline double largest_difference(int32_t n, const double *a, const double *b)
{
    double m = 0;
    for (int32_t i = 0; i < n; i++) m = fmax(m, fabs(a[i] - b[i]));
    return m;
}

#endif
