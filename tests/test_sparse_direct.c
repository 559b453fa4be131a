// Sparse LDL^T in blocks and flexible GMRES: residuals, singular matrices, restarts, lack of memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "sparse/gmres.h"
#include "sparse/ldl.h"
#include "ration.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A symmetric matrix of random couplings, diagonally dominant by `excess` (0: rows sum to zero).
static mo_csr random_matrix(int32_t n, double excess, uint32_t seed)
{
    double *A = calloc((size_t)(n * n) + 1, sizeof(double));
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t j = (int32_t)(mo_unit(mo_hash(seed, (uint32_t)i, (uint32_t)k)) * n);
            double v = 0.1 + mo_unit(mo_hash(seed + 1, (uint32_t)i, (uint32_t)k));
            if (j != i) A[i * n + j] -= v, A[j * n + i] -= v, A[i * n + i] += v, A[j * n + j] += v;
        }
    mo_csr out;
    int64_t entries = 0;
    for (int32_t i = 0; i < n; i++) A[i * n + i] += excess;
    for (int32_t i = 0; i < n * n; i++) entries += A[i] != 0;
    assert_int_equal(mo_csr_create(n, n, entries, &out), MO_OK);
    int64_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++)
            if (A[i * n + j] != 0) out.col[at] = j, out.val[at++] = A[i * n + j];
        out.row[i + 1] = at;
    }
    free(A);
    return out;
}

// Members of `blocks` blocks: every unknown in one, in a shuffled order.
static void make_blocks(int32_t n, int32_t blocks, int32_t **block, int32_t **member)
{
    *block = mo_calloc(sizeof(int32_t) * ((size_t)blocks + 1)), *member = mo_alloc(sizeof(int32_t) * (size_t)n);
    int32_t at = 0;
    for (int32_t b = 0; b < blocks; b++) {
        for (int32_t i = 0; i < n; i++) {
            int32_t k = (int32_t)((int64_t)(i + 3) * 7919 % n); // n prime to 7919
            if (k % blocks == b) (*member)[at++] = k;
        }
        (*block)[b + 1] = at;
    }
    assert_int_equal(at, n);
}

static void blocks_are_solved(void **state)
{
    (void)state;
    for (int32_t blocks = 1; blocks <= 4; blocks++) {
        int32_t n = 60, *block, *member;
        mo_csr A = random_matrix(n, 0.01, 5);
        mo_ldl l;
        make_blocks(n, blocks, &block, &member);
        assert_int_equal(mo_ldl_create(&A, blocks, block, member, &l), MO_OK);
        for (int32_t b = 0; b < blocks; b++) {
            int32_t first = l.block[b], size = l.block[b + 1] - first;
            double x[60], y[60] = {0};
            for (int32_t k = 0; k < size; k++) x[k] = mo_unit(mo_hash(8, (uint32_t)b, (uint32_t)k)) - 0.5;
            double rhs[60];
            memcpy(rhs, x, sizeof x);
            mo_ldl_solve(&l, b, x);
            for (int32_t k = 0; k < size; k++) y[l.member[first + k]] = x[k];
            for (int32_t k = 0; k < size; k++)
                assert_true(fabs(mo_csr_row_product(&A, l.member[first + k], y) - rhs[k]) < 1e-10);
        }
        mo_ldl_destroy(&l);
        mo_csr_destroy(&A);
    }
}

// Of a singular matrix: some solution of what has one.
static void singular_matrices_are_solved(void **state)
{
    (void)state;
    int32_t n = 40, *block, *member;
    mo_csr A = random_matrix(n, 0, 9);
    mo_ldl l;
    double x[40], y[40], rhs[40];
    make_blocks(n, 1, &block, &member);
    assert_int_equal(mo_ldl_create(&A, 1, block, member, &l), MO_OK);
    for (int32_t i = 0; i < n; i++) y[i] = sin(i);
    mo_csr_multiply(&A, y, rhs);
    for (int32_t k = 0; k < n; k++) x[k] = rhs[l.member[k]];
    mo_ldl_solve(&l, 0, x);
    for (int32_t k = 0; k < n; k++) y[l.member[k]] = x[k];
    int32_t vanished = 0;
    for (int32_t k = 0; k < n; k++) vanished += l.inverse[k] == 0;
    assert_true(vanished >= 1);
    for (int32_t i = 0; i < n; i++) assert_true(fabs(mo_csr_row_product(&A, i, y) - rhs[i]) < 1e-9);
    mo_ldl_destroy(&l);
    mo_csr_destroy(&A);
}

// ---- GMRES ----

enum { N = 400 };

// A rotating convection and diffusion, not symmetric.
static void convect(void *user, const double *x, double *y)
{
    (void)user;
    for (int i = 0; i < N; i++)
        y[i] = 2.2 * x[i] - 1.6 * x[(i + N - 1) % N] - 0.4 * x[(i + 1) % N] + 0.3 * x[(i * 7 + 3) % N];
}
static void same(void *user, const double *x, double *y) { (void)user, memcpy(y, x, sizeof(double) * N); }
static double largest(void *user, const double *r) { return (void)user, mo_max_abs(N, r); }

static mo_status run_gmres(double tolerance, int32_t limit, double *x, mo_solve_info *info)
{
    double b[N], r[N], scale[N], true_r[N];
    for (int i = 0; i < N; i++) b[i] = cos(3 * i), x[i] = 0, scale[i] = 1 + 0.5 * sin(i);
    mo_gmres_def def = {.n = N,
                        .A = {convect, NULL},
                        .M = {same, NULL},
                        .scale = scale,
                        .measure = largest,
                        .tolerance = tolerance,
                        .max_iterations = limit};
    MO_TRY(mo_gmres(&def, b, x, r, info));
    convect(NULL, x, true_r);
    for (int i = 0; i < N; i++) assert_true(fabs(b[i] - true_r[i] - r[i]) < 1e-12);
    assert_true(fabs(info->residual - mo_max_abs(N, r)) < 1e-13);
    return MO_OK;
}

static void gmres_solves_what_is_not_symmetric(void **state)
{
    (void)state;
    double x[N];
    mo_solve_info info;
    for (int k = 0; k < 3; k++) {
        double tolerance = k == 0 ? 1e-4 : k == 1 ? 1e-8 : 1e-12;
        assert_int_equal(run_gmres(tolerance, 1000, x, &info), MO_OK);
        print_message("tolerance %g: %d iterations\n", tolerance, info.iterations);
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
        assert_true(info.residual <= tolerance && info.iterations > 5 && info.iterations < 300);
    }
    assert_int_equal(run_gmres(1e-12, 7, x, &info), MO_OK);
    assert_true(info.reason == MO_REASON_MAX_ITERATIONS && info.iterations == 7);
    assert_int_equal(run_gmres(1e-30, 1000, x, &info), MO_OK); // below rounding
    assert_int_equal(info.reason, MO_REASON_STALLED);
}

// GMRES learns nothing of a rotation of 90 places until it has made all 90 steps: with shorter cycles it would stall.
static void rotate_places(void *user, const double *x, double *y)
{
    enum { PLACES = 90 };
    (void)user;
    for (int i = 0; i < N; i++) y[i] = i < PLACES ? x[(i + 1) % PLACES] : x[i];
}

static void small_problems_have_long_cycles(void **state)
{
    (void)state;
    double b[N] = {1}, x[N] = {0}, r[N], scale[N];
    mo_solve_info info;
    for (int i = 0; i < N; i++) scale[i] = 1;
    mo_gmres_def def = {.n = N,
                        .A = {rotate_places, NULL},
                        .M = {same, NULL},
                        .scale = scale,
                        .measure = largest,
                        .tolerance = 1e-10,
                        .max_iterations = 1000};
    assert_int_equal(mo_gmres(&def, b, x, r, &info), MO_OK);
    assert_int_equal(info.reason, MO_REASON_CONVERGED);
    assert_int_equal(info.iterations, 90);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    double x[N];
    mo_solve_info info;
    int64_t all = 1, before = mo_memory_in_use();
    for (int64_t at = -1; at < all; at++) {
        ration r = {.fail_at = at + 1};
        mo_set_allocator(rationed, &r);
        mo_status status = run_gmres(1e-4, 1000, x, &info);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(status, at < 0 ? MO_OK : MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), before);
        if (at < 0) all = r.calls;
    }
    assert_true(all > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_solved),
        cmocka_unit_test(singular_matrices_are_solved),
        cmocka_unit_test(gmres_solves_what_is_not_symmetric),
        cmocka_unit_test(small_problems_have_long_cycles),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
