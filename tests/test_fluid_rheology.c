// Herschel-Bulkley: the stress of simple shear, the plateau below the threshold, every number checked by name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fluid/rheology.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const mo_rheology thinning = {10, 0.5, 0, 0.01}, thickening = {10, 2, 0, 0.01}, bingham = {10, 1, 1000, 0.01},
                         full = {3, 0.4, 15, 0.1}, plastic = {0, 1, 20, 0.5};

static void near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-13 * fabs(expected))) print_error("got %.17g, expected %.17g\n", got, expected);
    assert_true(fabs(got - expected) <= 1e-13 * fabs(expected));
}

// Shear g: u = (g y, 0, 0) has D_xy = g / 2, sqrt(2 D:D) = g, and the stress is eta g = K g^n + tau0.
static void simple_shear_has_the_textbook_stress(void **state)
{
    (void)state;
    const mo_rheology all[] = {thinning, thickening, bingham, full, plastic};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (double g = 1.001 * all[i].threshold; g < 1e4; g *= 1.7) {
            double D_xy = g / 2, rate = sqrt(2 * (2 * D_xy * D_xy)); // both off-diagonal entries
            double stress = 2 * mo_rheology_viscosity(&all[i], rate) * D_xy;
            near(stress, all[i].consistency * pow(g, all[i].flow_index) + all[i].yield_stress);
        }
    // By hand: 10 / sqrt(4), 10 * 4, 10 + 1000 / 4, 20 / 4.
    near(mo_rheology_viscosity(&thinning, 4), 5);
    near(mo_rheology_viscosity(&thickening, 4), 40);
    near(mo_rheology_viscosity(&bingham, 4), 260);
    near(mo_rheology_viscosity(&plastic, 4), 5);
}

static void below_the_threshold_it_is_constant(void **state)
{
    (void)state;
    const double expected[] = {10 / 0.1, 10 * 0.01, 10 + 1000 / 0.01, 20 / 0.5};
    const mo_rheology all[] = {thinning, thickening, bingham, plastic};
    for (int i = 0; i < 4; i++) {
        const double rates[] = {0, DBL_MIN, 0.3 * all[i].threshold, all[i].threshold};
        for (int k = 0; k < 4; k++) near(mo_rheology_viscosity(&all[i], rates[k]), expected[i]);
        double above = mo_rheology_viscosity(&all[i], all[i].threshold * (1 + 1e-9));
        assert_true(fabs(above / expected[i] - 1) < 1e-8); // no jump
        // Falls with the shear rate, except where it thickens.
        double last = expected[i];
        for (double g = 2 * all[i].threshold; g < 1e5; g *= 2) {
            double eta = mo_rheology_viscosity(&all[i], g);
            assert_true(all[i].flow_index > 1 ? eta > last : eta < last);
            last = eta;
        }
    }
}

static void newtonian_liquids_are_known(void **state)
{
    (void)state;
    const mo_rheology none = {0, 1, 0, 0}, honey = {10, 1, 0, 0}, with_threshold = {10, 1, 0, 2},
                      nothing_to_bend = {0, 0.5, 0, 2};
    assert_true(mo_rheology_is_newtonian(&none));
    assert_true(mo_rheology_is_newtonian(&honey));
    assert_true(mo_rheology_is_newtonian(&with_threshold));
    assert_true(mo_rheology_is_newtonian(&nothing_to_bend));
    assert_false(mo_rheology_is_newtonian(&thinning));
    assert_false(mo_rheology_is_newtonian(&thickening));
    assert_false(mo_rheology_is_newtonian(&bingham));
    assert_false(mo_rheology_is_newtonian(&plastic));
    for (double g = 0; g < 1e6; g = 3 * g + 0.01) {
        assert_true(mo_rheology_viscosity(&none, g) == 0);
        assert_true(mo_rheology_viscosity(&honey, g) == 10);
        assert_true(mo_rheology_viscosity(&with_threshold, g) == 10);
    }
}

// Whatever passes the check is finite and >= 0 at any shear rate, also at those no flow has.
static void checked_viscosities_are_finite(void **state)
{
    (void)state;
    const double consistency[] = {0, 1e-300, 1e-3, 1, 1e6, 1e38, 1e300}, index[] = {1e-3, 0.5, 1, 2, 100, 1e300},
                 stress[] = {0, 1e-300, 1, 1e38, 1e300}, threshold[] = {0, 1e-300, 1e-6, 1, 1e300};
    const double rate[] = {0, DBL_MIN, 1e-300, 1e-6, 1, 1e6, 1e150, DBL_MAX, INFINITY};
    int passed = 0, refused = 0;
    for (int c = 0; c < 7; c++)
        for (int n = 0; n < 6; n++)
            for (int s = 0; s < 5; s++)
                for (int t = 0; t < 5; t++) {
                    mo_rheology r = {consistency[c], index[n], stress[s], threshold[t]};
                    if (mo_rheology_check(&r, "liquid 1", NULL) != MO_OK) {
                        refused++;
                        continue;
                    }
                    passed++;
                    for (size_t k = 0; k < sizeof rate / sizeof *rate; k++) {
                        double eta = mo_rheology_viscosity(&r, rate[k]);
                        assert_true(eta >= 0 && eta <= FLT_MAX);
                    }
                }
    assert_true(passed > 100 && refused > 100);
    assert_true(isnan(mo_rheology_viscosity(&thinning, NAN)) && isnan(mo_rheology_viscosity(&bingham, NAN)));
}

static void expect(mo_rheology r, const char *place, const char *text)
{
    mo_error err = {0};
    mo_status status = mo_rheology_check(&r, place, &err);
    if (status != MO_ERROR_INPUT || !strstr(err.text, text)) print_error("status %d: %s\n", status, err.text);
    assert_int_equal(status, MO_ERROR_INPUT);
    assert_int_equal(err.status, MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, text));
}

static void mistakes_are_named(void **state)
{
    (void)state;
    const mo_rheology good[] = {{0, 1, 0, 0}, {10, 1, 0, 0}, {10, 1, 0, 1}, thinning,
                                thickening,   bingham,       full,          plastic};
    mo_error err = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(mo_rheology_check(&good[i], "liquid 1", &err), MO_OK);

    expect((mo_rheology){10, 1, -3, 0.1}, "liquid 2", "liquid 2: rheology.yield_stress must be >= 0, got -3");
    expect((mo_rheology){-1, 1, 0, 0.1}, "emitter 1", "emitter 1: rheology.consistency must be >= 0, got -1");
    expect((mo_rheology){10, 0, 0, 0.1}, "liquid 1", "liquid 1: rheology.flow_index must be > 0, got 0");
    expect((mo_rheology){10, -2, 0, 0.1}, "liquid 1", "rheology.flow_index must be > 0, got -2");
    expect((mo_rheology){10, 1, 5, -0.1}, "liquid 1", "rheology.threshold must be >= 0, got -0.1");
    const char *names[] = {"consistency", "flow_index", "yield_stress", "threshold"};
    for (int i = 0; i < 4; i++)
        for (int infinite = 0; infinite < 2; infinite++) {
            double value[4] = {10, 0.5, 5, 0.1};
            value[i] = infinite ? INFINITY : NAN;
            char text[80];
            snprintf(text, sizeof text, "liquid 1: rheology.%s must be %s", names[i], infinite ? "finite" : "");
            expect((mo_rheology){value[0], value[1], value[2], value[3]}, "liquid 1", text);
        }
    // What a threshold is, where one is missing.
    expect((mo_rheology){10, 1, 5, 0}, "liquid 1", "liquid 1: rheology.threshold must be > 0 with a yield_stress of 5");
    expect((mo_rheology){10, 0.5, 0, 0}, "liquid 1", "rheology.threshold must be > 0 with a flow_index of 0.5");
    expect((mo_rheology){10, 1.5, 0, 0}, "liquid 1", "the shear rate (1/s) below which the viscosity stays constant");
    // Limits that no float holds.
    expect((mo_rheology){1e39, 1, 0, 0}, "liquid 1", "rheology.consistency is too large, 1e+39");
    expect((mo_rheology){10, 1, 5, 1e-200}, "liquid 1", "take another threshold than 1e-200");
    expect((mo_rheology){10, 1e-3, 0, 1e-300}, "liquid 1", "too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_shear_has_the_textbook_stress),
        cmocka_unit_test(below_the_threshold_it_is_constant),
        cmocka_unit_test(newtonian_liquids_are_known),
        cmocka_unit_test(checked_viscosities_are_finite),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
