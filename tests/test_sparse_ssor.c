// SSOR on coloured cubes is a forward and a backward SOR sweep from zero in the order of the colours, for any number
// of threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver_test.h"
#include "sparse/krylov.h"

// z_i += omega (r_i - A_i z) / a_ii
static void relax(const mo_csr *A, double omega, const double *r, int32_t i, double *z)
{
    double t = r[i], d = 0;
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        t -= A->val[k] * z[A->col[k]];
        if (A->col[k] == i) d = A->val[k];
    }
    z[i] += omega * t / d;
}

static void sweep_twice(const mo_csr *A, const mo_sweep *s, double omega, const double *r, double *z)
{
    memset(z, 0, sizeof(double) * (size_t)A->rows);
    for (int32_t m = 0; m < s->groups; m++)
        for (int32_t i = s->group[s->member[m]]; i < s->group[s->member[m] + 1]; i++) relax(A, omega, r, i, z);
    for (int32_t m = s->groups - 1; m >= 0; m--)
        for (int32_t i = s->group[s->member[m] + 1] - 1; i >= s->group[s->member[m]]; i--) relax(A, omega, r, i, z);
}

static void ssor_is_two_sweeps(void **state)
{
    (void)state;
    domain D;
    mo_csr A;
    random_seed = 7, random_share = 0.7;
    domain_create(28, 3, random_liquid, no_solid, &D);
    assert_int_equal(domain_matrix(&D, &A), MO_OK);
    size_t bytes = sizeof(double) * (size_t)A.rows;
    assert_true(A.rows > 8192); // enough for threads
    double *r = malloc(bytes), *z = malloc(bytes), *one = malloc(bytes), *two = malloc(bytes);
    for (int32_t i = 0; i < A.rows; i++) r[i] = random_number((uint32_t)i, 3);
    for (int k = 0; k < 4; k++) {
        mo_sweep sweep;
        mo_ssor ssor;
        double omega = k & 1 ? 1 : 1.6;
        assert_int_equal(mo_sweep_create(A.rows, (const int32_t(*)[3])D.coord, 8, k & 2, &sweep), MO_OK);
        assert_int_equal(mo_ssor_create(&A, &sweep, omega, &ssor), MO_OK);
        assert_true(mo_csr_entries(&ssor.L) + mo_csr_entries(&ssor.U) + A.rows == mo_csr_entries(&A));
        sweep_twice(&A, &sweep, omega, r, z);
        mo_use_threads(1);
        mo_ssor_apply(&ssor, r, one);
        mo_use_threads(3);
        mo_ssor_apply(&ssor, r, two);
        assert_memory_equal(one, two, bytes);
        double scale = mo_max_abs(A.rows, z);
        for (int32_t i = 0; i < A.rows; i++) assert_true(fabs(one[i] - z[i]) < 1e-13 * scale);
        mo_ssor_destroy(&ssor);
        mo_sweep_destroy(&sweep);
    }
    free(r), free(z), free(one), free(two);
    mo_csr_destroy(&A);
    domain_destroy(&D);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ssor_is_two_sweeps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
