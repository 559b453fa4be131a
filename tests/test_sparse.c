// CSR operations, conjugate gradients and the papers' preconditioners against dense references.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver_test.h"
#include "sparse/krylov.h"
#include "ration.h"

// About `fill` of the entries, values in (-1, 1).
static void random_matrix(int32_t rows, int32_t cols, double fill, uint32_t seed, mo_csr *A)
{
    assert_int_equal(mo_csr_create(rows, cols, (int64_t)rows * cols, A), MO_OK);
    int64_t n = 0;
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < cols; j++)
            if (mo_unit(mo_hash((uint32_t)i, (uint32_t)j, seed)) < fill)
                A->col[n] = j, A->val[n++] = random_number((uint32_t)(i * cols + j), seed);
        A->row[i + 1] = n;
    }
}

static void csr_matches_dense(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{0, 0}, {1, 1}, {7, 3}, {3, 9}, {40, 31}};
    for (uint32_t s = 0; s < 5; s++) {
        int32_t m = sizes[s][0], n = sizes[s][1];
        mo_csr A, T, C;
        random_matrix(m, n, 0.3, s, &A);
        double M[40 * 31], N[40 * 31], x[40], y[40], d[40];
        dense_matrix(&A, M);
        for (int32_t i = 0; i < 40; i++)
            x[i] = random_number((uint32_t)i, 5), d[i] = 1.5 + random_number((uint32_t)i, 6);
        mo_csr_multiply(&A, x, y);
        mo_csr_multiply_add(&A, -0.5, x, y);
        for (int32_t i = 0; i < m; i++) {
            double sum = 0;
            for (int32_t j = 0; j < n; j++) sum += M[i * n + j] * x[j];
            assert_true(fabs(0.5 * sum - y[i]) < 1e-14);
        }
        assert_int_equal(mo_csr_transpose(&A, &T), MO_OK);
        dense_matrix(&T, N);
        assert_int_equal(mo_csr_entries(&T), mo_csr_entries(&A));
        for (int32_t i = 0; i < m; i++)
            for (int32_t j = 0; j < n; j++) assert_true(N[j * m + i] == M[i * n + j]);
        for (int32_t j = 0; j < n; j++)
            for (int64_t k = T.row[j] + 1; k < T.row[j + 1]; k++) assert_true(T.col[k] > T.col[k - 1]);
        assert_int_equal(mo_csr_weighted_square(&A, &T, d, &C), MO_OK);
        double *S = calloc((size_t)(m * m + 1), sizeof(double));
        dense_matrix(&C, S);
        for (int32_t i = 0; i < m; i++) {
            bool diagonal = false;
            for (int64_t k = C.row[i]; k < C.row[i + 1]; k++) {
                assert_true(k == C.row[i] || C.col[k] > C.col[k - 1]);
                diagonal |= C.col[k] == i;
            }
            assert_true(diagonal);
            for (int32_t j = 0; j < m; j++) {
                double sum = 0;
                for (int32_t k = 0; k < n; k++) sum += M[i * n + k] * d[k] * M[j * n + k];
                assert_true(fabs(sum - S[i * m + j]) < 1e-13);
                assert_true(S[i * m + j] == S[j * m + i]); // to the last bit
            }
        }
        mo_csr_diagonal(&C, y);
        for (int32_t i = 0; i < m; i++) assert_true(y[i] == S[i * m + i]);
        free(S);
        mo_csr_destroy(&A), mo_csr_destroy(&T), mo_csr_destroy(&C);
    }
}

// Columns with two entries at most, as of faces between cells, go another way through the square: a lattice of 3 x 3
// cells with walls on two sides, and the same with two cells joined twice, where products meet.
static void square_of_paired_columns(void **state)
{
    (void)state;
    enum { CELLS = 9, FACES = 19 };
    for (int twice = 0; twice < 2; twice++) {
        double M[CELLS][FACES] = {{0}}, d[FACES];
        int32_t faces = 0;
        for (int32_t i = 0; i < CELLS; i++) {
            if (i % 3 < 2) M[i][faces] = -1.5, M[i + 1][faces++] = 0.5 + i;
            if (i < 6) M[i][faces] = -2, M[i + 3][faces++] = 1;
            if (i % 3 == 0) M[i][faces++] = 3;
            if (i < 3) M[i][faces++] = 4;
        }
        if (twice) M[4][faces] = 1, M[3][faces] = -7;
        mo_csr A, T, C;
        assert_int_equal(mo_csr_create(CELLS, FACES, CELLS * FACES, &A), MO_OK);
        for (int32_t i = 0; i < CELLS; i++) {
            A.row[i + 1] = A.row[i];
            for (int32_t f = 0; f < FACES; f++)
                if (M[i][f] != 0) A.col[A.row[i + 1]] = f, A.val[A.row[i + 1]++] = M[i][f];
        }
        for (int32_t f = 0; f < FACES; f++) d[f] = 1.5 + random_number((uint32_t)f, 6);
        assert_int_equal(mo_csr_transpose(&A, &T), MO_OK);
        assert_int_equal(mo_csr_weighted_square(&A, &T, d, &C), MO_OK);
        for (int32_t i = 0; i < CELLS; i++)
            for (int32_t j = 0, k = (int32_t)C.row[i]; j < CELLS; j++) {
                double sum = 0, found = 0;
                for (int32_t f = 0; f < FACES; f++) sum += M[i][f] * d[f] * M[j][f];
                if (k < C.row[i + 1] && C.col[k] == j) found = C.val[k++];
                assert_true(fabs(sum - found) < 1e-13);
                if (j == CELLS - 1) assert_int_equal(k, C.row[i + 1]); // ascending, and nothing else
            }
        mo_csr_destroy(&A), mo_csr_destroy(&T), mo_csr_destroy(&C);
    }
}

static void pieces_are_connected_sets(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        mo_csr A, T, C;
        random_matrix(40, 30, 0.03, seed, &A);
        assert_int_equal(mo_csr_transpose(&A, &T), MO_OK);
        assert_int_equal(mo_csr_weighted_square(&A, &T, NULL, &C), MO_OK);
        int32_t label[40], flood[40], next = 0;
        int32_t pieces = mo_csr_components(&C, label);
        for (int32_t i = 0; i < 40; i++) flood[i] = -1;
        for (int32_t i = 0; i < 40; i++) {
            if (flood[i] >= 0) continue;
            flood[i] = next;
            for (bool grown = true; grown;) {
                grown = false;
                for (int32_t j = 0; j < 40; j++)
                    for (int64_t k = C.row[j]; k < C.row[j + 1]; k++)
                        if (flood[j] == next && flood[C.col[k]] < 0) flood[C.col[k]] = next, grown = true;
            }
            next++;
        }
        assert_int_equal(pieces, next);
        for (int32_t i = 0; i < 40; i++) assert_int_equal(label[i], flood[i]);
        mo_csr_destroy(&A), mo_csr_destroy(&T), mo_csr_destroy(&C);
    }
}

static void apply_matrix(void *A, const double *x, double *y) { mo_csr_multiply(A, x, y); }

// A random irregular pressure matrix.
static void test_matrix(int32_t n, uint32_t seed, double share, domain *D, mo_csr *A)
{
    random_seed = seed, random_share = share;
    domain_create(n, 3, random_liquid, no_solid, D);
    assert_int_equal(domain_matrix(D, A), MO_OK);
}

static void cg_matches_cholesky(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    test_matrix(8, 3, 0.6, &D, &A);
    int32_t n = A.rows;
    double *b = malloc(sizeof(double) * (size_t)n * 8), *x = b + n, *reference = x + n, *work = reference + n;
    for (int32_t i = 0; i < n; i++) b[i] = random_number((uint32_t)i, 1), x[i] = random_number((uint32_t)i, 2);
    assert_int_equal(reference_solve(&A, b, reference), 0);
    mo_operator op = {apply_matrix, &A};
    for (int flexible = 0; flexible < 2; flexible++) {
        for (int32_t i = 0; i < n; i++) x[i] = random_number((uint32_t)i, 2);
        mo_solve_info info = mo_cg(n, &op, NULL, b, x, 1e-12, 1000, flexible, work);
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
        assert_true(info.residual <= 1e-12 && info.iterations > 5);
        assert_true(largest_difference(n, x, reference) < 1e-8 * mo_max_abs(n, reference));
        // A converged start is left alone.
        info = mo_cg(n, &op, NULL, b, x, 1e-10, 1000, flexible, work);
        assert_int_equal(info.iterations, 0);
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
    }
    // By mean squares: few rows may be left, the mean is as asked.
    for (int32_t i = 0; i < n; i++) x[i] = 0;
    mo_solve_info mean = mo_cg_mean(n, &op, NULL, b, x, 0.05, 1000, false, work);
    assert_int_equal(mean.reason, MO_REASON_CONVERGED);
    mo_csr_multiply(&A, x, work);
    for (int32_t i = 0; i < n; i++) work[i] -= b[i];
    assert_true(mo_dot_product(n, work, work) <= 0.05 * 0.05 * mo_dot_product(n, b, b));
    assert_true(mo_max_abs(n, work) > 0.05 * mo_max_abs(n, b));
    assert_true(mean.iterations > 1 && mean.iterations <= 1000);
    // Too few iterations: reported, with the residual of the x that is returned.
    memset(x, 0, sizeof(double) * (size_t)n);
    mo_solve_info info = mo_cg(n, &op, NULL, b, x, 1e-12, 3, false, work);
    assert_int_equal(info.reason, MO_REASON_MAX_ITERATIONS);
    assert_int_equal(info.iterations, 3);
    mo_csr_multiply(&A, x, work);
    assert_true(fabs(largest_difference(n, b, work) / mo_max_abs(n, b) - info.residual) < 1e-13);
    // Nothing to do; a NaN; a tolerance nobody reaches.
    memset(b, 0, sizeof(double) * (size_t)n);
    info = mo_cg(n, &op, NULL, b, x, 1e-6, 10, false, work);
    assert_int_equal(info.reason, MO_REASON_NOTHING_TO_DO);
    assert_true(mo_max_abs(n, x) == 0);
    b[n / 2] = NAN;
    assert_int_equal(mo_cg(n, &op, NULL, b, x, 1e-6, 10, false, work).reason, MO_REASON_STALLED);
    b[n / 2] = 1;
    info = mo_cg(n, &op, NULL, b, x, 1e-30, 100000, false, work);
    assert_int_equal(info.reason, MO_REASON_STALLED);
    assert_true(info.residual < 1e-10);
    free(b);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

// x^T M y = y^T M x and x^T M x > 0.
static void check_symmetric(int32_t n, const mo_operator *M, double accuracy)
{
    double *x = malloc(sizeof(double) * (size_t)n * 4), *y = x + n, *Mx = y + n, *My = Mx + n;
    for (uint32_t seed = 0; seed < 5; seed++) {
        for (int32_t i = 0; i < n; i++)
            x[i] = random_number((uint32_t)i, seed), y[i] = random_number((uint32_t)i, seed + 50);
        M->apply(M->context, x, Mx);
        M->apply(M->context, y, My);
        double a = mo_dot_product(n, x, My), b = mo_dot_product(n, y, Mx), c = mo_dot_product(n, x, Mx);
        assert_true(c > 0);
        assert_true(fabs(a - b) <= accuracy * c);
    }
    free(x);
}

static void preconditioners_are_symmetric(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    test_matrix(20, 1, 0.7, &D, &A);
    mo_sweep sweep;
    mo_ssor ssor;
    mo_ic0 *ic;
    mo_jacobi jacobi;
    int64_t breakdowns;
    for (int diagonal = 0; diagonal < 2; diagonal++)
        for (int k = 0; k < 2; k++) {
            assert_int_equal(mo_sweep_create(A.rows, (const int32_t(*)[3])D.coord, 8, diagonal, &sweep), MO_OK);
            assert_int_equal(mo_ssor_create(&A, &sweep, k ? 1 : 1.4, &ssor), MO_OK);
            check_symmetric(A.rows, &(mo_operator){mo_ssor_apply, &ssor}, 1e-12);
            mo_ssor_destroy(&ssor);
            mo_sweep_destroy(&sweep);
            assert_int_equal(mo_ic0_create(&A, k ? 0.97 : 0, &ic, &breakdowns), MO_OK);
            assert_int_equal(breakdowns, 0);
            check_symmetric(A.rows, &(mo_operator){mo_ic0_apply, ic}, 1e-12);
            mo_ic0_destroy(ic);
        }
    assert_int_equal(mo_jacobi_create(&A, &jacobi), MO_OK);
    check_symmetric(A.rows, &(mo_operator){mo_jacobi_apply, &jacobi}, 1e-14);
    mo_jacobi_destroy(&jacobi);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

// M^-1 = (D + wL) D^-1 (D + wU) / (w (2 - w)) in the plain order of rows.
static void ssor_is_the_textbook_formula(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    test_matrix(5, 2, 0.6, &D, &A);
    int32_t n = A.rows;
    assert_true(n > 20 && n <= 125);
    int32_t(*same)[3] = calloc((size_t)n, sizeof *same);
    mo_sweep sweep;
    mo_ssor ssor;
    double omega = 1.3, r[125], z[125], y[125], M[125 * 125];
    assert_int_equal(mo_sweep_create(n, (const int32_t(*)[3])same, 8, false, &sweep), MO_OK);
    assert_int_equal(sweep.groups, 1);
    assert_int_equal(mo_ssor_create(&A, &sweep, omega, &ssor), MO_OK);
    for (int32_t i = 0; i < n; i++) r[i] = random_number((uint32_t)i, 1);
    mo_ssor_apply(&ssor, r, z);
    dense_matrix(&A, M);
    for (int32_t i = 0; i < n; i++) { // y = D^-1 (D + wU) z
        y[i] = z[i];
        for (int32_t j = i + 1; j < n; j++) y[i] += omega * M[i * n + j] * z[j] / M[i * n + i];
    }
    for (int32_t i = 0; i < n; i++) { // (D + wL) y / (w (2 - w)) = r
        double s = M[i * n + i] * y[i];
        for (int32_t j = 0; j < i; j++) s += omega * M[i * n + j] * y[j];
        assert_true(fabs(s / (omega * (2 - omega)) - r[i]) < 1e-12);
    }
    mo_ssor_destroy(&ssor);
    mo_sweep_destroy(&sweep);
    free(same);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

// No entry couples two groups of one colour, and groups are cubes.
static void sweeps_do_not_race(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    test_matrix(21, 4, 0.5, &D, &A);
    mo_sweep s;
    assert_int_equal(mo_sweep_create(A.rows, (const int32_t(*)[3])D.coord, 8, false, &s), MO_OK);
    assert_int_equal(s.groups, 27);
    assert_int_equal(s.colours, 2);
    int32_t *group = malloc(sizeof(int32_t) * (size_t)A.rows), colour[27];
    for (int32_t c = 0; c < s.colours; c++)
        for (int32_t m = s.colour[c]; m < s.colour[c + 1]; m++) colour[s.member[m]] = c;
    for (int32_t g = 0; g < s.groups; g++)
        for (int32_t i = s.group[g]; i < s.group[g + 1]; i++) group[i] = g;
    for (int32_t i = 0; i < A.rows; i++)
        for (int64_t k = A.row[i]; k < A.row[i + 1]; k++) {
            int32_t g = group[i], h = group[A.col[k]];
            assert_true(g == h || colour[g] != colour[h]);
        }
    free(group);
    mo_sweep_destroy(&s);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

// On a chain nothing is dropped: IC(0) is the exact factor. MIC(1) keeps row sums: M 1 = A 1.
static void ic0_is_exact_where_it_should_be(void **state)
{
    (void)state;
    enum { N = 30 };
    mo_csr A;
    assert_int_equal(mo_csr_create(N, N, 3 * N, &A), MO_OK);
    int64_t k = 0, breakdowns;
    for (int32_t i = 0; i < N; i++) {
        if (i > 0) A.col[k] = i - 1, A.val[k++] = -1;
        A.col[k] = i, A.val[k++] = 2.1;
        if (i < N - 1) A.col[k] = i + 1, A.val[k++] = -1;
        A.row[i + 1] = k;
    }
    double x[N], b[N], z[N];
    for (int32_t i = 0; i < N; i++) x[i] = random_number((uint32_t)i, 3);
    mo_csr_multiply(&A, x, b);
    mo_ic0 *ic;
    assert_int_equal(mo_ic0_create(&A, 0, &ic, &breakdowns), MO_OK);
    mo_ic0_apply(ic, b, z);
    assert_true(largest_difference(N, x, z) < 1e-13);
    mo_ic0_destroy(ic);
    mo_csr_destroy(&A);

    domain D;
    test_matrix(9, 5, 0.6, &D, &A);
    double *one = malloc(sizeof(double) * (size_t)A.rows * 3), *Aone = one + A.rows, *back = Aone + A.rows;
    for (int32_t i = 0; i < A.rows; i++) one[i] = 1;
    mo_csr_multiply(&A, one, Aone);
    assert_int_equal(mo_ic0_create(&A, 1, &ic, &breakdowns), MO_OK);
    assert_int_equal(breakdowns, 0);
    mo_ic0_apply(ic, Aone, back);
    assert_true(largest_difference(A.rows, one, back) < 1e-9);
    mo_ic0_destroy(ic);
    free(one);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    test_matrix(9, 5, 0.6, &D, &A);
    int64_t before = mo_memory_in_use();
    int32_t failures = 0;
    for (ration r = {.fail_at = 1};; r.fail_at++) {
        r.calls = 0;
        mo_set_allocator(rationed, &r);
        mo_csr T = {0}, C = {0};
        mo_sweep sweep = {0};
        mo_ssor ssor = {0};
        mo_ic0 *ic = NULL;
        int64_t breakdowns;
        mo_status s = mo_csr_transpose(&D.B, &T);
        if (s == MO_OK) s = mo_csr_weighted_square(&D.B, &T, NULL, &C);
        if (s == MO_OK) s = mo_sweep_create(A.rows, (const int32_t(*)[3])D.coord, 8, true, &sweep);
        if (s == MO_OK) s = mo_ssor_create(&A, &sweep, 1, &ssor);
        if (s == MO_OK) s = mo_ic0_create(&A, 0.97, &ic, &breakdowns);
        mo_csr_destroy(&T), mo_csr_destroy(&C), mo_sweep_destroy(&sweep), mo_ssor_destroy(&ssor), mo_ic0_destroy(ic);
        mo_set_allocator(NULL, NULL);
        assert_true(mo_memory_in_use() == before);
        if (s == MO_OK) break;
        assert_int_equal(s, MO_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures >= 15);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csr_matches_dense),
        cmocka_unit_test(square_of_paired_columns),
        cmocka_unit_test(pieces_are_connected_sets),
        cmocka_unit_test(cg_matches_cholesky),
        cmocka_unit_test(preconditioners_are_symmetric),
        cmocka_unit_test(ssor_is_the_textbook_formula),
        cmocka_unit_test(sweeps_do_not_race),
        cmocka_unit_test(ic0_is_exact_where_it_should_be),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
