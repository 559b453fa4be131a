// Elementary functions against those of the C library in long double, and at their ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/elementary.h"
#include "base/parallel.h"
#include <math.h>

enum { SAMPLES = 200000 };

static double between(uint32_t seed, double low, double high)
{
    return low + (high - low) * mo_unit(mo_hash(seed, 3, 1));
}

// The error in units of the last place.
static double units(double got, long double exact)
{
    double e = (double)exact;
    return (double)(fabsl(got - exact) / (nextafter(fabs(e), INFINITY) - fabs(e)));
}

typedef struct function {
    double (*mine)(double);
    long double (*exact)(long double);
    double low, high, most;
} function;

static void one_argument(void **state)
{
    (void)state;
    const function functions[] = {
        {mo_sin, sinl, -20, 20, 0.9},   {mo_cos, cosl, -20, 20, 0.9}, {mo_sin, sinl, -0.7, 0.7, 0.9},
        {mo_cos, cosl, -1e4, 1e4, 0.9}, {mo_tan, tanl, -3, 3, 2.6},   {mo_exp, expl, -700, 700, 0.9},
        {mo_exp, expl, -0.5, 0.5, 0.9}, {mo_ln, logl, 0.5, 2, 0.9},   {mo_ln, logl, 1e-9, 1e-3, 0.9},
        {mo_ln, logl, 1e3, 1e300, 0.9},
    };
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (uint32_t k = 0; k < SAMPLES; k++) {
            double x = between(k, functions[f].low, functions[f].high);
            if (!(units(functions[f].mine(x), functions[f].exact(x)) <= functions[f].most))
                fail_msg("function %d at %.17g: %.17g", (int)f, x, functions[f].mine(x));
        }
}

static void two_arguments(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SAMPLES; k++) {
        double x = between(k, -1, 1), y = between(k + SAMPLES, -1, 1), rate = mo_exp(10 * x);
        assert_true(units(mo_atan2(y, x), atan2l(y, x)) <= 2.6);
        double exact = (double)powl(rate, y);
        assert_true(fabs(mo_pow(rate, y) - exact) <= 2e-16 * (2 + fabs(10 * x * y)) * exact);
    }
}

static void ends(void **state)
{
    (void)state;
    assert_true(mo_exp(0) == 1 && mo_ln(1) == 0 && mo_sin(0) == 0 && mo_cos(0) == 1 && mo_tan(0) == 0);
    assert_true(mo_exp(INFINITY) == INFINITY && mo_exp(-INFINITY) == 0 && isnan(mo_exp(NAN)) &&
                mo_exp(800) == INFINITY);
    assert_true(mo_exp(-745) == exp(-745) && mo_ln(5e-324) == log(5e-324)); // numbers without leading digits
    assert_true(mo_ln(0) == -INFINITY && mo_ln(INFINITY) == INFINITY && isnan(mo_ln(-1)) && isnan(mo_ln(NAN)));
    assert_true(isnan(mo_sin(INFINITY)) && isnan(mo_cos(NAN)) && fabs(mo_sin(1e7) - sin(1e7)) < 1e-9);
    assert_true(mo_sin(M_PI) == sin(M_PI) && mo_cos(M_PI_2) == cos(M_PI_2)); // far below a unit of pi
    assert_true(mo_pow(0, 2) == 0 && mo_pow(0, -1) == INFINITY && mo_pow(0, 0) == 1 && mo_pow(2, 0) == 1);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            assert_true(mo_atan2(y, x) == atan2(y, x) && signbit(mo_atan2(y, x)) == signbit(atan2(y, x)));
            assert_true(y == 0 || fabs(mo_atan2(y * INFINITY, x) - atan2(y * INFINITY, x)) < 5e-16);
        }
    assert_true(mo_atan2(-0., -1) == -M_PI && signbit(mo_atan2(-0., 1)) && isnan(mo_atan2(NAN, 1)));
    assert_true(fabs(mo_atan2(INFINITY, -INFINITY) - 0.75 * M_PI) < 5e-16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_argument),
        cmocka_unit_test(two_arguments),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
