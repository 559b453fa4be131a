// Few rows as a full matrix: products, sweeps that are symmetric and leave rows at bounds alone, quick solves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "system/dense_rows.h"
#include <math.h>
#include <string.h>

enum { N = 40 };
static double A[N][N];

static void multiply(void *context, const double *x, double *y)
{
    (void)context;
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int k = 0; k < N; k++) y[i] += A[i][k] * x[k];
    }
}

static double number(int i, int k) { return 2 * mo_unit(mo_hash((uint32_t)i, (uint32_t)k, 12)) - 1; }

// G G^T + d, of scales that differ.
static void make_matrix(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            A[i][k] = i == k ? 1e-3 : 0;
            for (int l = 0; l < N / 2; l++) A[i][k] += number(i, l) * number(k, l);
            A[i][k] *= (1 + i % 7) * (1 + k % 7);
        }
}

static void products_and_sweeps(void **state)
{
    (void)state;
    mo_dense_rows d;
    double x[N], lower[N], upper[N], u[N], v[N], Mu[N], Mv[N], y[N], z[N], uMv = 0, vMu = 0;
    make_matrix();
    assert_int_equal(mo_dense_rows_create(N, &(mo_operator){multiply, NULL}, &d), MO_OK);
    d.x = x, d.lower = lower, d.upper = upper;
    for (int i = 0; i < N; i++)
        x[i] = i % 3 ? 1 : 0, lower[i] = 0, upper[i] = INFINITY, u[i] = number(i, 90), v[i] = number(i, 91);
    mo_dense_rows_apply(&d, u, y), multiply(NULL, u, z);
    for (int i = 0; i < N; i++) assert_true(fabs(y[i] - z[i]) < 1e-10);
    for (int i = 0; i < N; i++)
        if (i % 3 == 0) u[i] = v[i] = 0; // at their bounds
    mo_dense_rows_sweep(&d, u, Mu), mo_dense_rows_sweep(&d, v, Mv);
    for (int i = 0; i < N; i++) uMv += u[i] * Mv[i], vMu += v[i] * Mu[i];
    assert_true(fabs(uMv - vMu) < 1e-10 * fabs(uMv));
    for (int i = 0; i < N; i += 3) assert_true(Mu[i] == 0);
    mo_dense_rows_destroy(&d);
}

// With bounds, the sweep as preconditioner finds what none finds, in fewer steps.
static void sweeps_precondition(void **state)
{
    (void)state;
    mo_dense_rows d;
    double b[N], lower[N], upper[N], x[2][N], work[MO_MPRGP_WORK * N];
    int32_t iterations[2];
    make_matrix();
    assert_int_equal(mo_dense_rows_create(N, &(mo_operator){multiply, NULL}, &d), MO_OK);
    for (int i = 0; i < N; i++) b[i] = number(i, 92), lower[i] = 0, upper[i] = i % 2 ? 0.1 : INFINITY;
    for (int k = 0; k < 2; k++) {
        memset(x[k], 0, sizeof x[k]);
        d.x = x[k], d.lower = lower, d.upper = upper;
        mo_operator product = {mo_dense_rows_apply, &d}, sweep = {mo_dense_rows_sweep, &d};
        mo_mprgp_options options = {.tolerance = 1e-10, .max_iterations = 100000};
        mo_solve_info info = mo_mprgp(N, &product, k ? &sweep : NULL, b, lower, upper, x[k], &options, work).solve;
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
        iterations[k] = info.iterations;
    }
    print_message("%d products, with sweeps %d\n", iterations[0], iterations[1]);
    assert_true(iterations[1] < iterations[0]);
    double Ax[2][N];
    multiply(NULL, x[0], Ax[0]), multiply(NULL, x[1], Ax[1]);
    for (int i = 0; i < N; i++) assert_true(fabs(Ax[0][i] - Ax[1][i]) < 1e-6);
    mo_dense_rows_destroy(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_and_sweeps), cmocka_unit_test(sweeps_precondition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
