// Bounded quadratic programs against an exhaustive reference, conjugate gradients, and each other's expansions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver_test.h"
#include "qp/mprgp.h"

enum { N = 40 };

typedef struct quadratic {
    int32_t n;
    double A[N * N], b[N], lower[N], upper[N];
} quadratic;

static void apply(void *context, const double *x, double *y)
{
    const quadratic *q = context;
    for (int32_t i = 0; i < q->n; i++) {
        y[i] = 0;
        for (int32_t j = 0; j < q->n; j++) y[i] += q->A[i * q->n + j] * x[j];
    }
}

static void apply_inverse_diagonal(void *context, const double *x, double *y)
{
    const quadratic *q = context;
    for (int32_t i = 0; i < q->n; i++) y[i] = x[i] / q->A[i * q->n + i];
}

// A = C^T C + shift, of widely different scales; bounds of all kinds.
static void make(quadratic *q, int32_t n, uint32_t seed, double shift, bool bounds)
{
    double C[N * N];
    q->n = n;
    for (int32_t i = 0; i < n * n; i++)
        C[i] = random_number((uint32_t)i, seed) * pow(10, random_number((uint32_t)(i % n), seed + 7));
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            q->A[i * n + j] = i == j ? shift : 0;
            for (int32_t k = 0; k < n; k++) q->A[i * n + j] += C[k * n + i] * C[k * n + j];
        }
    for (int32_t i = 0; i < n; i++) {
        q->b[i] = 3 * random_number((uint32_t)i, seed + 1);
        double r = random_number((uint32_t)i, seed + 2);
        q->lower[i] = !bounds || r < -0.5 ? -INFINITY : r < 0 ? 0 : -0.05;
        q->upper[i] = !bounds || r < 0.2 ? INFINITY : r < 0.9 ? 0.05 : -0.05;
    }
}

// Optimality: the gradient vanishes where free and points outwards at bounds.
static double violation(const quadratic *q, const double *x)
{
    double g[N], worst = 0, scale = 0;
    apply((void *)q, x, g);
    for (int32_t i = 0; i < q->n; i++) {
        double v = g[i] - q->b[i];
        scale = fmax(scale, fabs(q->b[i]));
        assert_true(x[i] >= q->lower[i] && x[i] <= q->upper[i]);
        if (x[i] > q->lower[i] && x[i] < q->upper[i])
            worst = fmax(worst, fabs(v));
        else if (q->lower[i] < q->upper[i])
            worst = fmax(worst, x[i] <= q->lower[i] ? -v : v);
    }
    return worst / scale;
}

static void solutions_are_optimal(void **state)
{
    (void)state;
    double work[MO_MPRGP_WORK * N];
    int32_t most[2] = {0};
    for (uint32_t seed = 1; seed <= 60; seed++)
        for (int variant = 0; variant < 4; variant++) {
            quadratic q;
            int32_t n = 1 + (int32_t)(seed % N);
            make(&q, n, seed, 0.1, true);
            mo_operator A = {apply, &q}, M = {apply_inverse_diagonal, &q};
            mo_mprgp_options o = {
                .tolerance = 1e-9, .max_iterations = 100000, .expansion = (mo_expansion)(variant & 1)};
            double x[N];
            for (int32_t i = 0; i < n; i++) x[i] = variant > 1 ? 10 * random_number((uint32_t)i, seed + 3) : 0;
            mo_mprgp_info info = mo_mprgp(n, &A, variant > 1 ? &M : NULL, q.b, q.lower, q.upper, x, &o, work);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_true(violation(&q, x) < 2e-9);
            if (info.solve.iterations > most[variant & 1]) most[variant & 1] = info.solve.iterations;
        }
    assert_true(most[0] < 5000 && most[1] < 50000);
}

// Units of the entries of x change neither the solution nor, if they are told, the way there.
static void units_do_not_matter(void **state)
{
    (void)state;
    double work[MO_MPRGP_WORK * N];
    for (uint32_t seed = 1; seed <= 20; seed++) {
        static quadratic q, r;
        double unit[N], scale[2][N], x[2][N] = {{0}};
        int32_t iterations[2];
        make(&q, N, seed, 1, true);
        r = q;
        for (int32_t i = 0; i < N; i++) unit[i] = pow(10, 2 * random_number((uint32_t)i, seed + 3)); // x = unit y
        for (int32_t i = 0; i < N; i++) {
            for (int32_t j = 0; j < N; j++) r.A[i * N + j] *= unit[i] * unit[j];
            r.b[i] *= unit[i], r.lower[i] /= unit[i], r.upper[i] /= unit[i];
            scale[0][i] = 1 / q.A[i * N + i], scale[1][i] = 1 / r.A[i * N + i];
        }
        for (int k = 0; k < 2; k++) {
            quadratic *p = k ? &r : &q;
            mo_operator A = {apply, p}, M = {apply_inverse_diagonal, p};
            mo_mprgp_options o = {.tolerance = 1e-12, .max_iterations = 20000, .norm = N, .scale = scale[k]};
            mo_mprgp_info info = mo_mprgp(N, &A, &M, p->b, p->lower, p->upper, x[k], &o, work);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_true(violation(p, x[k]) < 1e-11);
            iterations[k] = info.solve.iterations;
        }
        for (int32_t i = 0; i < N; i++) assert_true(fabs(x[0][i] - unit[i] * x[1][i]) < 1e-6 * (1 + fabs(x[0][i])));
        assert_true(abs(iterations[0] - iterations[1]) <=
                    0.3 * iterations[0] + 3); // the tolerance is not in these units
    }
}

static void without_bounds_it_is_conjugate_gradients(void **state)
{
    (void)state;
    quadratic q;
    double work[MO_MPRGP_WORK * N], x[N] = {0}, y[N] = {0};
    make(&q, N, 5, 1, false);
    mo_operator A = {apply, &q}, M = {apply_inverse_diagonal, &q};
    mo_mprgp_options o = {.tolerance = 1e-8, .max_iterations = 10000};
    mo_mprgp_info info = mo_mprgp(N, &A, &M, q.b, NULL, NULL, x, &o, work);
    mo_solve_info cg = mo_cg(N, &A, &M, q.b, y, 1e-8, 10000, false, work);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    assert_true(abs(info.solve.iterations - cg.iterations) <= 2 + cg.iterations / 10);
    assert_int_equal(info.expansions + info.proportionings, 0);
    for (int32_t i = 0; i < N; i++) assert_true(fabs(x[i] - y[i]) < 1e-5 * (1 + fabs(y[i])));
}

static void apply_nothing_good(void *context, const double *x, double *y)
{
    (void)context, (void)x;
    for (int32_t i = 0; i < N; i++) y[i] = NAN;
}

static void odd_problems_end(void **state)
{
    (void)state;
    quadratic q;
    double work[MO_MPRGP_WORK * N], x[N];
    make(&q, 8, 3, 1, true);
    mo_operator A = {apply, &q}, bad = {apply_nothing_good, &q};
    mo_mprgp_options o = {.tolerance = 1e-8, .max_iterations = 1000};
    // Everything fixed by equal bounds.
    for (int32_t i = 0; i < 8; i++) q.lower[i] = q.upper[i] = 0.25 * i, x[i] = NAN;
    mo_mprgp_info info = mo_mprgp(8, &A, NULL, q.b, q.lower, q.upper, x, &o, work);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    for (int32_t i = 0; i < 8; i++) assert_true(x[i] == 0.25 * i);
    // Nothing asked.
    memset(q.b, 0, sizeof q.b), memset(x, 0, sizeof x);
    info = mo_mprgp(8, &A, NULL, q.b, NULL, NULL, x, &o, work);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    // No numbers.
    make(&q, N, 3, 1, true);
    memset(x, 0, sizeof x);
    info = mo_mprgp(N, &bad, NULL, q.b, q.lower, q.upper, x, &o, work);
    assert_int_equal(info.solve.reason, MO_REASON_STALLED);
    // Too few iterations: the best x so far, within bounds.
    o.max_iterations = 3;
    info = mo_mprgp(N, &A, NULL, q.b, q.lower, q.upper, x, &o, work);
    assert_int_equal(info.solve.reason, MO_REASON_MAX_ITERATIONS);
    for (int32_t i = 0; i < N; i++) assert_true(x[i] >= q.lower[i] && x[i] <= q.upper[i]);
}

// A bound that holds by far, with a huge entry of b behind it, does not loosen the tolerance for the rest; and where 0
// is the solution, it is found from any start.
static void idle_bounds_do_not_count(void **state)
{
    (void)state;
    quadratic q = {.n = N};
    double x[N] = {0}, g[N], work[MO_MPRGP_WORK * N], worst = 0;
    for (int32_t i = 0; i < N; i++) { // a chain
        for (int32_t j = i > 0 ? i - 1 : 0; j < N && j <= i + 1; j++) q.A[i * N + j] = i == j ? 2.001 : -1;
        q.b[i] = i == 0 ? -1e7 : 1 + i % 3, q.lower[i] = i == 0 ? 0 : -INFINITY;
    }
    mo_operator A = {apply, &q};
    mo_mprgp_options options = {.tolerance = 1e-6, .max_iterations = 10000};
    mo_mprgp_info info = mo_mprgp(N, &A, NULL, q.b, q.lower, NULL, x, &options, work);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    apply(&q, x, g);
    for (int32_t i = 1; i < N; i++) worst = fmax(worst, fabs(g[i] - q.b[i]));
    assert_true(x[0] == 0 && worst <= 3e-6 * (1 + 1e-9)); // the largest other entry is 3
    for (int32_t i = 0; i < N; i++) q.b[i] = -1, q.lower[i] = 0, x[i] = 1 + i;
    info = mo_mprgp(N, &A, NULL, q.b, q.lower, NULL, x, &options, work);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    for (int32_t i = 0; i < N; i++) assert_true(x[i] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_optimal),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(without_bounds_it_is_conjugate_gradients),
        cmocka_unit_test(odd_problems_end),
        cmocka_unit_test(idle_bounds_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
