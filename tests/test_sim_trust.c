// A dozen scenes of the audit (validate/trust.c), which `make audit` runs in full: nothing breaks, nothing is faster
// than its energy allows, and energy and volume stay. The limits are those of the audit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../validate/trust.h"

static const trust_limits limits = {.speed = 1.5, .energy_error = 0.01, .volume_error = 0.05, .overlap = 0.5};

static void a_dozen_scenes_can_be_trusted(void **state)
{
    (void)state;
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

// What the audit says of a step in which the fastest liquid has a speed; 100 cells of 1 kg that started at rest have
// fallen by 0.1 m, and V is the speed of a fall through the domain.
static int judge_speed(double speed, double *V)
{
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def water = mo_liquid_def_default();
    def.domain.size = mo_v3(1, 1, 1), def.domain.cells = 10, def.liquids = &water, def.liquid_count = 1;
    mo_sim *sim = NULL;
    trust_result r = {0};
    mo_error err;
    double driven = 0;
    water.shape = mo_shape_box(mo_v3(1, 1, 1));
    assert_int_equal(mo_sim_create(&def, &sim, &err), MO_OK);
    mo_stats first = {.energy = 981, .potential_energy = 981}, now = first;
    now.potential_energy -= 98.1, now.max_speed = speed, now.time = 0.1;
    trust_note(&r, &first, 0.1, false), trust_note_speeds(&r, &def, sim, &first, 0, &driven);
    trust_note(&r, &now, 0.1, false), trust_note_speeds(&r, &def, sim, &now, 0, &driven);
    *V = trust_allowed(&def, 0, 0, 1);
    mo_sim_destroy(sim);
    mo_shape_release(water.shape);
    return trust_judge(&r, &limits);
}

// A part of the liquid may gather the energy of the rest: sqrt(2 98.1 J/1 kg) = 14.0 m/s is the most for a cell of it.
// A fall through the domain makes 4.4 m/s.
static void speeds_are_judged_by_the_energy_released(void **state)
{
    (void)state;
    double V;
    assert_int_equal(judge_speed(1, &V), 0);
    assert_true(fabs(V - sqrt(2 * 9.81)) < 1e-6);
    assert_int_equal(judge_speed(2 * V, &V), 0);
    assert_int_equal(judge_speed(13.9, &V), 0);
    assert_int_equal(judge_speed(14.1, &V), TRUST_SPEED);
    assert_int_equal(judge_speed(1e19, &V), TRUST_SPEED);
}

// A body of 1 kg may have the energy of heavier ones: turning, its fastest point has twice the speed of its centre.
static void light_bodies_may_have_the_energy_of_heavy_ones(void **state)
{
    (void)state;
    trust_result r = {0};
    trust_note_speed(&r, 8, 0.1, 4, trust_gather(100, 1, true));
    trust_note_speed(&r, 5, 0.2, 4, trust_gather(100, 1, true));
    assert_int_equal(trust_judge(&r, &limits), 0);
    assert_true(r.fastest == 8);
    trust_note_speed(&r, 7, 0.3, 4, trust_gather(100, 1000, true));
    assert_int_equal(trust_judge(&r, &limits), TRUST_SPEED);
    assert_true(r.fastest == 7);
    trust_note_speed(&r, 28, 0.4, 4, trust_gather(100, 1, true));
    assert_true(r.fastest == 7);
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
        cmocka_unit_test(speeds_are_judged_by_the_energy_released),
        cmocka_unit_test(light_bodies_may_have_the_energy_of_heavy_ones),
        cmocka_unit_test(scenes_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
