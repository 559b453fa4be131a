// Rigid bodies in air: how they begin to move, spin, energy and soot beside them, the same bits for threads and after
// loading.
#include "air_test.h"

static mo_solid_def *add_ball(room *r, double radius, mo_vec3 at, double density)
{
    mo_solid_def *s = &r->solid[r->def.solid_count++];
    *s = mo_solid_def_default();
    s->name = "ball", s->shape = ball(radius, at), s->rigid = true, s->density = density;
    return s;
}

static void leave(room *r, mo_sim *sim)
{
    mo_sim_destroy(sim);
    if (r->smoke.shape) mo_shape_release(r->smoke.shape);
    for (int32_t i = 0; i < r->def.solid_count; i++) mo_shape_release(r->solid[i].shape);
}

// The part of gravity that a ball of a density begins to move by, over the part that it should: the air round it weighs
// half of what it displaces (in two dimensions all of it). The first step, and the fourth.
static void fall(mo_vec3 size, double radius, double ratio, double part[2])
{
    enum { STEPS = 4 };
    room r = make_room(size, size.z > 0 ? 40 : 80);
    r.def.time.max_step = 1e-3;
    add_ball(&r, radius, mo_mul(0.5, size), ratio * r.air.density);
    mo_sim *sim = enter(&r);
    double added = size.z > 0 ? 0.5 : 1, expected = (1 - ratio) / (ratio + added) * 9.81;
    for (int k = 0; k < STEPS; k++) {
        double before = sim->solids[0].velocity.y;
        mo_stats s = step(sim);
        double a = (sim->solids[0].velocity.y - before) / s.dt;
        if (k == 0) part[0] = expected != 0 ? a / expected : a / 9.81;
        part[1] = expected != 0 ? a / expected : a / 9.81;
    }
    leave(&r, sim);
}

static void first_acceleration(void **state)
{
    (void)state;
    static const double ratio[] = {0.1, 0.99, 1, 5};
    for (int k = 0; k < 4; k++) {
        double ball[2], disc[2], aim = ratio[k] == 1 ? 0 : 1, bound = ratio[k] == 1 ? 1e-3 : 0.02;
        fall((mo_vec3){1, 1, 1}, 0.1, ratio[k], ball);
        fall((mo_vec3){1, 1, 0}, 0.07, ratio[k], disc);
        printf("ratio %g: ball %.4f %.4f, disc %.4f %.4f\n", ratio[k], ball[0], ball[1], disc[0], disc[1]);
        for (int s = 0; s < 2; s++)
            assert_true(fabs(ball[s] - aim) < bound && fabs(disc[s] - aim) < 1.5 * bound); // walls are near the disc
    }
}

// Air without viscosity slips along a ball.
static void spin_stays(void **state)
{
    (void)state;
    room r = make_room((mo_vec3){1, 1, 1}, 32);
    r.def.gravity = mo_v3(0, 0, 0);
    mo_vec3 spin = mo_v3(3, -5, 8);
    mo_solid_def *s = add_ball(&r, 0.15, mo_v3(0.51, 0.48, 0.5), 2);
    s->angular_velocity = spin;
    mo_sim *sim = enter(&r);
    for (int k = 0; k < 10; k++) step(sim);
    double change = mo_norm(mo_sub(sim->solids[0].angular_velocity, spin)) / mo_norm(spin);
    printf("spin: changed by %.2e, drift %.2e m/s\n", change, mo_norm(sim->solids[0].velocity));
    assert_true(change < 1e-3 && mo_norm(sim->solids[0].velocity) < 1e-3 * mo_norm(spin) * 0.15);
    leave(&r, sim);
}

// Nothing brakes or drives a ball that moves through still air, but for the error of the grid, which brakes.
static void ball_glides(void **state)
{
    (void)state;
    const double radius = 0.1, pi = 3.14159265358979323846;
    room r = make_room((mo_vec3){0.6, 1, 0.6}, 40);
    r.def.gravity = mo_v3(0, 0, 0);
    r.def.time.max_step = 0.02;
    add_ball(&r, radius, mo_v3(0.3, 0.3, 0.3), 0.6)->velocity = mo_v3(0, 1.5, 0);
    mo_sim *sim = enter(&r);
    double sum = 0, energy = 0;
    for (int k = 0; k < 18; k++) {
        double v = (step(sim), sim->solids[0].velocity.y);
        if (k >= 3) sum -= sim->solids[0].force.y / (0.5 * r.air.density * v * v * pi * radius * radius) / 15;
        energy = fmax(energy, sim->stats.energy_error);
    }
    printf("glide: coefficient of drag %.3f, energy %.2e\n", sum, energy);
    assert_true(sum > -0.02 && sum < 0.08 && energy < 0.01);
    leave(&r, sim);
}

// A heavy and a light ball in smoke, one falls on the floor, the other one rises to the ceiling.
static room make_smoky(void)
{
    room r = make_room((mo_vec3){0.5, 0.5, 0.5}, 24);
    r.def.time.cfl = 1;
    add_ball(&r, 0.07, mo_v3(0.15, 0.3, 0.25), 6);
    add_ball(&r, 0.07, mo_v3(0.35, 0.2, 0.25), 0.3);
    r.smoke.shape = ball(0.15, mo_v3(0.25, 0.25, 0.25));
    return r;
}

static void accounts(void **state)
{
    (void)state;
    room r = make_smoky();
    mo_sim *sim = enter(&r);
    double error = 0, energy = 0, soot = sim->air.soot;
    mo_stats s = {0};
    for (int k = 0; k < 40; k++) {
        s = step(sim);
        error = fmax(error, fabs(s.smoke_error)), energy = fmax(energy, s.energy_error);
        assert_true(s.reason != MO_REASON_STALLED && s.max_penetration < 0.2 * sim->grid->dx);
    }
    printf("two balls: heights %.3f %.3f, soot lost %.2e, error %.2e, energy %.2e, speed %.2f\n",
           sim->solids[0].pose.position.y, sim->solids[1].pose.position.y, 1 - sim->air.soot / soot, error, energy,
           s.max_speed);
    assert_true(sim->solids[0].pose.position.y < 0.1 && sim->solids[1].pose.position.y > 0.4);
    assert_true(error < 1e-6 && energy < 0.01 && fabs(1 - sim->air.soot / soot) < 1e-3);
    leave(&r, sim);
}

static void same_bodies(const mo_sim *a, const mo_sim *b)
{
    for (int32_t i = 0; i < a->solid_count; i++) {
        assert_memory_equal(&a->solids[i].pose, &b->solids[i].pose, sizeof(mo_pose));
        assert_memory_equal(&a->solids[i].velocity, &b->solids[i].velocity, sizeof(mo_vec3));
        assert_memory_equal(&a->solids[i].kick_force, &b->solids[i].kick_force, sizeof(mo_vec3));
    }
}

static void same_bits(void **state)
{
    (void)state;
    room r = make_smoky(), two;
    two = r, two.def.threads = 2;
    mo_sim *a = enter(&r), *b = enter(&two), *c = enter(&r);
    for (int k = 0; k < 6; k++) step(a), step(b);
    same_fields(a, b), same_bodies(a, b);
    void *data;
    size_t bytes;
    assert_int_equal(mo_sim_save(a, &data, &bytes, NULL), MO_OK);
    assert_int_equal(mo_sim_load(c, data, bytes, NULL), MO_OK);
    mo_free_block(data);
    for (int k = 0; k < 6; k++) step(a), step(c);
    same_fields(a, c), same_bodies(a, c);
    mo_sim_destroy(b), mo_sim_destroy(c);
    leave(&r, a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_acceleration), cmocka_unit_test(spin_stays), cmocka_unit_test(ball_glides),
        cmocka_unit_test(accounts),           cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
