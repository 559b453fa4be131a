// The papers' own baselines: what split schemes lose with the papers' correction of positions, contacts of what
// overlaps, the stress of schemes that solve viscosity without pressure.
#include "sim_test.h"
#include "sim/sim.h"
#include <stdio.h>

// A light bowl of a wall and a half that stands on the floor with water in it.
static mo_shape *vessel(void)
{
    mo_shape *outer = box_between(0.2, 0, -2, 0.8, 0.6, 2), *inner = box_between(0.3, 0.1, -3, 0.7, 1, 3);
    mo_shape *bowl = mo_shape_difference(outer, inner);
    mo_shape_release(outer), mo_shape_release(inner);
    return bowl;
}

static double lost_in_bowl(const char *scheme, mo_correction correction)
{
    scene s;
    scene_start(&s, 20, 0);
    s.def.correct_volume = correction, s.def.time.max_step = 0.01, s.def.domain.friction = 0;
    snprintf(s.def.solver.scheme, sizeof s.def.solver.scheme, "%s", scheme);
    mo_solid_def *bowl = scene_solid(&s, "bowl", vessel(), NULL);
    bowl->rigid = true, bowl->density = 200, bowl->friction = 0;
    scene_liquid(&s, box_between(0.3, 0.1, -2, 0.7, 0.45, 2));
    mo_sim *sim = scene_create(&s);
    double error = 0;
    for (int i = 0; i < 60; i++) error = sim_step(sim).volume_error;
    mo_sim_destroy(sim), scene_end(&s);
    return -error;
}

static void the_papers_correction_lets_split_schemes_lose_liquid(void **state)
{
    (void)state;
    double split = lost_in_bowl("P-C", MO_CORRECTION_LOCAL), whole = lost_in_bowl("PC-unified", MO_CORRECTION_LOCAL),
           ours = lost_in_bowl("P-C", MO_CORRECTION_GLOBAL);
    print_message("lost: P-C %.3f, PC-unified %.3f; with the global correction P-C %.3f\n", split, whole, ours);
    assert_true(split > 0.2 && whole < 0.05 && fabs(ours) < 0.02);
}

static void the_local_correction_needs_particles_everywhere(void **state)
{
    (void)state;
    scene s;
    mo_sim *sim;
    mo_error err;
    scene_start(&s, 16, 0);
    scene_liquid(&s, box_between(0, 0, -2, 1, 0.5, 2));
    s.def.correct_volume = MO_CORRECTION_LOCAL, s.def.particles_band = 3;
    assert_int_equal(mo_sim_create(&s.def, &sim, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "particles everywhere"));
    scene_end(&s);
}

// A ball falls on the floor. Contact is there once it overlaps; then it leaves at e times the speed at which it would
// have gone on, gravity of the step included, and never sooner. Without restitution it comes to rest in the margin.
static void only_what_overlaps_touches(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s;
        const double e = k ? 0 : 0.5, dt = 0.01, fall = 9.81 * dt, dx = 1.0 / 20;
        scene_start(&s, 20, 0);
        s.def.time.max_step = dt, s.def.solver.contact = MO_TOUCHING_OVERLAP, s.def.domain.friction = 0;
        s.def.solver.stabilisation = 0.3;
        mo_solid_def *ball = scene_solid(&s, "ball", ball_at(0.5, 0.3, 0, 0.15), NULL);
        ball->rigid = true, ball->restitution = e, ball->friction = 0;
        mo_sim *sim = scene_create(&s);
        bool met = false;
        mo_body_state b;
        for (int i = 0; i < (k ? 100 : 60); i++) {
            mo_sim_body(sim, 0, &b);
            double speed = b.velocity.y, gap = b.pose.position.y - 0.15;
            mo_stats stats = sim_step(sim);
            mo_sim_body(sim, 0, &b);
            assert_int_equal(stats.contacts > 0, gap < 0);
            if (gap >= 0) assert_true(fabs(b.velocity.y - (speed - fall)) < 1e-9);
            if (gap < 0 && !met) {
                double out = fmax(-e * (speed - fall), 0) + 0.3 * fmax(-gap - 0.1 * dx, 0) / dt;
                assert_true(fabs(b.velocity.y - out) < 1e-3 * fabs(speed)); // contacts are soft by 1e-4
                met = true;
            }
        }
        assert_true(met);
        double overlap = 0.15 - b.pose.position.y;
        if (k) print_message("rests %.3f cells deep, at %.2g m/s\n", overlap / dx, b.velocity.y);
        if (k) assert_true(overlap > 0 && overlap < 0.11 * dx);
        mo_sim_destroy(sim), scene_end(&s);
    }
}

static mo_status create(const mo_sim_def *d, mo_error *err)
{
    mo_sim *sim = NULL;
    mo_status status = mo_sim_create(d, &sim, err);
    if (status == MO_OK) mo_sim_destroy(sim);
    return status;
}

static void settings_are_checked(void **state)
{
    (void)state;
    scene s;
    mo_error err;
    scene_start(&s, 16, 0);
    scene_liquid(&s, box_between(0, 0, -2, 1, 0.5, 2));
    s.def.solver.margin = 1.5;
    assert_int_equal(create(&s.def, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "margin"));
    s.def.solver.margin = 0.1, s.def.solver.stabilisation = NAN;
    assert_int_equal(create(&s.def, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "stabilisation"));
    s.def.solver.stabilisation = 0.2, s.def.solver.contact = (mo_touching)2;
    assert_int_equal(create(&s.def, &err), MO_ERROR_INPUT);
    s.def.solver.contact = MO_TOUCHING_AHEAD, s.def.solver.decoupled_stress = (mo_decoupled_stress)-1;
    assert_int_equal(create(&s.def, &err), MO_ERROR_INPUT);
    s.def.solver.decoupled_stress = MO_DECOUPLED_FULL, s.def.correct_volume = (mo_correction)3;
    assert_int_equal(create(&s.def, &err), MO_ERROR_INPUT);
    scene_end(&s);
}

// The first step of a falling, stretched block, viscosity by itself.
static int64_t stress_rows(const char *scheme, mo_decoupled_stress stress)
{
    scene s;
    scene_start(&s, 16, 0.5);
    snprintf(s.def.solver.scheme, sizeof s.def.solver.scheme, "%s", scheme);
    s.def.solver.decoupled_stress = stress;
    scene_liquid(&s, box_between(0.3, 0.3, 0.1, 0.7, 0.7, 0.4))->viscosity = 10;
    mo_sim *sim = scene_create(&s);
    mo_stats stats = sim_step(sim);
    mo_sim_destroy(sim), scene_end(&s);
    return stats.stresses;
}

// Of six stresses five are left; the unified scheme has those anyway.
static void reduced_stress_has_no_trace(void **state)
{
    (void)state;
    int64_t full = stress_rows("P-V-P", MO_DECOUPLED_FULL), reduced = stress_rows("P-V-P", MO_DECOUPLED_REDUCED),
            unified = stress_rows("PV-unified", MO_DECOUPLED_FULL);
    print_message("stresses: full %d, reduced %d, unified %d\n", (int)full, (int)reduced, (int)unified);
    assert_int_equal(reduced, unified);
    assert_true(full > reduced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_correction_lets_split_schemes_lose_liquid),
        cmocka_unit_test(the_local_correction_needs_particles_everywhere), cmocka_unit_test(only_what_overlaps_touches),
        cmocka_unit_test(settings_are_checked), cmocka_unit_test(reduced_stress_has_no_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
