// Pressure in slits: harmonic, between rims and air, and its own adjoint.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "system/slits.h"
#include <math.h>
#include <string.h>

enum { N = 7 };

// A chain of cells between two others.
static void chain(int32_t low, int32_t high, int32_t to[N][6], double diagonal[N])
{
    for (int k = 0; k < N; k++) {
        for (int e = 0; e < 6; e++) to[k][e] = MO_SLIT_CLOSED;
        to[k][0] = k ? k - 1 : low, to[k][1] = k < N - 1 ? k + 1 : high;
        diagonal[k] = 2;
    }
}

// Between a row and air the pressure falls linearly; between two rows it is all theirs.
static void continuation_is_linear_in_a_channel(void **state)
{
    (void)state;
    int32_t to[N][6];
    double diagonal[N], wet[N], work[4 * N];
    mo_slit_links links = {N, to, diagonal};
    chain(MO_SLIT_ROW - 5, MO_SLIT_AIR, to, diagonal);
    mo_slits_wet(&links, wet, work);
    for (int k = 0; k < N; k++) assert_true(fabs(wet[k] - (double)(N - k) / (N + 1)) < 1e-9);
    chain(MO_SLIT_ROW - 5, MO_SLIT_ROW - 9, to, diagonal);
    mo_slits_wet(&links, wet, work);
    for (int k = 0; k < N; k++) assert_true(fabs(wet[k] - 1) < 1e-9);
}

// What the rim gets is all that the slit's cells have: H is harmonic, its columns add up to 1.
static void rims_take_what_slits_need(void **state)
{
    (void)state;
    int32_t to[N][6];
    double diagonal[N], b[N], z[N], work[3 * N], sum = 0, first = 0;
    mo_slit_links links = {N, to, diagonal};
    chain(MO_SLIT_ROW, MO_SLIT_ROW - 1, to, diagonal);
    for (int k = 0; k < N; k++) b[k] = 0.1 + k * k % 5, sum += b[k], first += b[k] * (N - k) / (N + 1);
    mo_slits_solve(&links, b, z, work);
    assert_true(fabs(z[0] + z[N - 1] - sum) < 1e-8 * sum);
    assert_true(fabs(z[0] - first) < 1e-8 * sum); // the share of the first rim, by the linear H
}

// Cells that no liquid reaches have no pressure.
static void dry_slits_have_no_pressure(void **state)
{
    (void)state;
    int32_t to[N][6];
    double diagonal[N], wet[N], work[4 * N];
    mo_slit_links links = {N, to, diagonal};
    chain(MO_SLIT_AIR, MO_SLIT_CLOSED, to, diagonal);
    memset(diagonal, 0, sizeof diagonal);
    mo_slits_wet(&links, wet, work);
    for (int k = 0; k < N; k++) assert_true(wet[k] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continuation_is_linear_in_a_channel),
        cmocka_unit_test(rims_take_what_slits_need),
        cmocka_unit_test(dry_slits_have_no_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
