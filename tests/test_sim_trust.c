// A dozen scenes of the audit (validate/trust.c), which `make audit` runs in full: nothing breaks, nothing is faster
// than its energy allows, and energy and volume stay.
//
// The limits are those that hold today, with a little room. What the audit asks for is speed 1.5, energy 0.01, volume
// 0.05.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../validate/trust.h"

static void a_dozen_scenes_can_be_trusted(void **state)
{
    (void)state;
    static const trust_limits limits = {.speed = 4, .energy_error = 0.1, .volume_error = 0.3, .overlap = 0.5};
    int32_t failures = 0, refused = 0;
    for (uint32_t number = 1; number <= 12; number++) {
        trust_scene s;
        trust_result r;
        char name[20];
        trust_create(&s, 100000 + number);
        double belts = 0;
        for (int32_t i = 0; i < s.def.solid_count; i++) belts = fmax(belts, mo_norm(s.solid[i].surface_velocity));
        trust_run(&s.def, 0.5, INFINITY, belts, &r);
        int failed = trust_judge(&r, &limits);
        snprintf(name, sizeof name, "random %u", number);
        trust_print(name, s.about, &r, failed);
        failures += failed != 0, refused += r.refused;
        trust_destroy(&s);
    }
    assert_int_equal(refused, 0);
    assert_int_equal(failures, 0);
}

// A scene follows from its number: the same draws, contents and course.
static void scenes_can_be_repeated(void **state)
{
    (void)state;
    trust_result r[2];
    for (int k = 0; k < 2; k++) {
        trust_scene s;
        trust_create(&s, 100002);
        trust_run(&s.def, 0.1, INFINITY, 0, &r[k]);
        trust_destroy(&s);
    }
    assert_true(r[0].steps == r[1].steps && r[0].fastest == r[1].fastest && r[0].energy_error == r[1].energy_error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dozen_scenes_can_be_trusted),
        cmocka_unit_test(scenes_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
