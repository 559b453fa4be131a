// Forces of the liquid on solids: buoyancy of what is submerged, weight of what a floor carries.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rho = 1000, gravity = 9.81, pi = 3.14159265358979;

// A fixed solid in a pool of a unit box at rest; the force after some steps.
static void pool_force(const mo_shape *solid, const mo_shape *pool, bool flat, mo_body_state *body)
{
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_solid_def fixed = mo_solid_def_default();
    mo_error err;
    mo_sim *sim;
    liquid.shape = pool, fixed.shape = solid;
    def.domain.cells = 24, def.threads = 2;
    if (flat) def.domain.size.z = 0;
    def.liquids = &liquid, def.liquid_count = 1;
    def.solids = &fixed, def.solid_count = 1;
    assert_int_equal(mo_sim_create(&def, &sim, &err), MO_OK);
    for (int i = 0; i < 5; i++) assert_int_equal(mo_sim_step(sim, NULL, &err), MO_OK);
    mo_sim_body(sim, 0, body);
    mo_sim_destroy(sim);
}

static void a_submerged_ball_is_pushed_up_by_what_it_displaces(void **state)
{
    (void)state;
    double radius = 0.17;
    mo_shape *ball = mo_shape_sphere(radius), *solid = mo_shape_move(ball, (mo_vec3){0.52, 0.33, 0.47});
    mo_shape *pool = mo_shape_plane((mo_vec3){0, 1, 0}, 0.75);
    mo_body_state body;
    pool_force(solid, pool, false, &body);
    double buoyancy = rho * gravity * 4 / 3 * pi * radius * radius * radius;
    assert_true(fabs(body.force.y / buoyancy - 1) < 0.03);
    assert_true(fabs(body.force.x) < 0.03 * buoyancy && fabs(body.force.z) < 0.03 * buoyancy);
    // The force acts at the ball's centre; the torque is about the origin of its frame.
    assert_true(fabs(body.torque.z - 0.52 * body.force.y) < 0.02 * buoyancy);
    assert_true(fabs(body.torque.x + 0.47 * body.force.y) < 0.02 * buoyancy);
    mo_shape_release(ball), mo_shape_release(solid), mo_shape_release(pool);
}

// In 2D, wherever its bottom and top lie between the grid's planes.
static void a_submerged_box_is_pushed_up_by_what_it_displaces(void **state)
{
    (void)state;
    mo_shape *pool = mo_shape_plane((mo_vec3){0, 1, 0}, 0.75), *box = mo_shape_box((mo_vec3){0.43, 0.31, 1});
    for (int k = 0; k < 8; k++) {
        mo_shape *solid = mo_shape_move(box, (mo_vec3){0.51, 0.35 + k / (8 * 24.0), 0});
        mo_body_state body;
        pool_force(solid, pool, true, &body);
        double buoyancy = rho * gravity * 0.43 * 0.31 / 24;
        print_message("%d: %.4f\n", k, body.force.y / buoyancy);
        assert_true(fabs(body.force.y / buoyancy - 1) < 0.01);
        mo_shape_release(solid);
    }
    mo_shape_release(box), mo_shape_release(pool);
}

// The slab's top is at 0.215 m: a cut cell. Its pressure is that of the cell's centre, and the surface lies where the
// particles say: together within half a cell. Six cells more of water weigh what they weigh.
static void a_floor_carries_the_weight(void **state)
{
    (void)state;
    mo_shape *slab = mo_shape_box((mo_vec3){4, 0.43, 4});
    double level[2] = {0.7, 0.45}, depth[2];
    for (int k = 0; k < 2; k++) {
        mo_shape *pool = mo_shape_plane((mo_vec3){0, 1, 0}, level[k]);
        mo_body_state body;
        pool_force(slab, pool, false, &body);
        depth[k] = -body.force.y / (rho * gravity);
        assert_true(fabs(depth[k] - (level[k] - 0.215)) < 0.5 / 24);
        mo_shape_release(pool);
    }
    print_message("0.25 m of water weigh like %.4f m\n", depth[0] - depth[1]);
    assert_true(fabs((depth[0] - depth[1]) / 0.25 - 1) < 0.01);
    mo_shape_release(slab);
}

// ---- Bodies that share cells ----

typedef struct pair {
    mo_sim_def def;
    mo_liquid_def liquid;
    mo_solid_def solid[3];
    const mo_shape *shape[4];
} pair;

static const double ball_radius = 0.095;

// Two balls of different density in a pool, 0.3 cells apart, that move apart; a fixed box close to one of them.
static void pair_start(pair *p, double viscosity)
{
    const double density[2] = {400, 2500};
    *p = (pair){.def = mo_sim_def_default(), .liquid = mo_liquid_def_default()};
    mo_shape *ball = mo_shape_sphere(ball_radius), *box = mo_shape_box((mo_vec3){0.1, 0.3, 0.3});
    double gap = 0.3 / 24, middle = 0.513;
    for (int k = 0; k < 2; k++) {
        double side = k ? 1 : -1;
        p->shape[k] = mo_shape_move(ball, (mo_vec3){middle + side * (ball_radius + 0.5 * gap), 0.4 + 0.01 * k, 0.487});
        p->solid[k] = mo_solid_def_default();
        p->solid[k].shape = p->shape[k], p->solid[k].rigid = true, p->solid[k].density = density[k];
        p->solid[k].name = k ? "heavy" : "light", p->solid[k].velocity = (mo_vec3){0.3 * side, 0.1, 0.02};
        p->solid[k].angular_velocity = (mo_vec3){1, -2, 3 * side};
    }
    p->shape[2] = mo_shape_move(box, (mo_vec3){middle - 2 * ball_radius - 2.5 * gap - 0.05, 0.41, 0.5});
    p->solid[2] = mo_solid_def_default();
    p->solid[2].shape = p->shape[2];
    p->liquid.shape = p->shape[3] = mo_shape_plane((mo_vec3){0, 1, 0}, 0.75), p->liquid.viscosity = viscosity;
    p->def.domain.cells = 24, p->def.threads = 2, p->def.solver.tolerance = 1e-9, p->def.time.max_step = 0.004;
    p->def.liquids = &p->liquid, p->def.liquid_count = 1, p->def.solids = p->solid, p->def.solid_count = 3;
    mo_shape_release(ball), mo_shape_release(box);
}

// The change of a ball's momentum, linear and angular, is the force that is told times the length of the step: no other
// acts but gravity. The box, which shares cells with a ball, has no part in it.
static void bodies_that_share_cells_get_their_own_forces(void **state)
{
    (void)state;
    for (int viscous = 0; viscous < 2; viscous++) {
        pair p;
        mo_sim *sim;
        mo_error err;
        mo_stats stats;
        pair_start(&p, viscous ? 2 : 0);
        assert_int_equal(mo_sim_create(&p.def, &sim, &err), MO_OK);
        for (int step = 0; step < 4; step++) {
            mo_body_state old[2], now[2];
            for (int k = 0; k < 2; k++) mo_sim_body(sim, k, &old[k]);
            assert_int_equal(mo_sim_step(sim, &stats, &err), MO_OK);
            for (int k = 0; k < 2; k++) mo_sim_body(sim, k, &now[k]);
            for (int k = 0; k < 2; k++) {
                double m = now[k].mass, inertia = 0.4 * m * ball_radius * ball_radius, dt = stats.dt;
                const double force[6] = {now[k].force.x,  now[k].force.y,  now[k].force.z,
                                         now[k].torque.x, now[k].torque.y, now[k].torque.z};
                const double gained[6] = {m * (now[k].velocity.x - old[k].velocity.x),
                                          m * (now[k].velocity.y - old[k].velocity.y + gravity * dt),
                                          m * (now[k].velocity.z - old[k].velocity.z),
                                          inertia * (now[k].angular_velocity.x - old[k].angular_velocity.x),
                                          inertia * (now[k].angular_velocity.y - old[k].angular_velocity.y),
                                          inertia * (now[k].angular_velocity.z - old[k].angular_velocity.z)};
                for (int a = 0; a < 6; a++) {
                    double scale = m * gravity * dt * (a < 3 ? 1 : ball_radius);
                    if (!(fabs(gained[a] - force[a] * dt) < 1e-9 * scale))
                        fail_msg("%s, step %d, body %d, %d: %g instead of %g", viscous ? "viscous" : "inviscid", step,
                                 k, a, force[a] * dt, gained[a]);
                }
            }
        }
        mo_sim_destroy(sim);
        for (int k = 0; k < 4; k++) mo_shape_release(p.shape[k]);
    }
}

// ---- What liquid, bodies and prescribed solids exchange ----

static mo_status rise(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){{0.3 * t, 0.7 * t, -0.2 * t}, {cos(t), 0, sin(t), 0}};
    return MO_OK;
}

// A ball of liquid in the air that flows into a fixed box, a scripted one and a rigid ball. All of them share cells;
// nothing touches the walls, and nothing is heavy.
static void crowd_start(pair *p)
{
    const double middle = 0.513, gap = 0.3 / 24;
    *p = (pair){.def = mo_sim_def_default(), .liquid = mo_liquid_def_default()};
    mo_shape *ball = mo_shape_sphere(ball_radius), *box = mo_shape_box((mo_vec3){0.12, 0.13, 0.3});
    mo_shape *liquid = mo_shape_sphere(0.32);
    p->shape[0] = mo_shape_move(ball, (mo_vec3){middle, 0.52, 0.487});
    p->shape[1] = mo_shape_move(box, (mo_vec3){middle - ball_radius - 0.06 - gap, 0.5, 0.5});
    p->shape[2] = mo_shape_move(box, (mo_vec3){middle - ball_radius - 0.05 - gap, 0.5 + 0.13 + gap, 0.48});
    p->shape[3] = mo_shape_move(liquid, (mo_vec3){0.5, 0.5, 0.5});
    for (int k = 0; k < 3; k++) p->solid[k] = mo_solid_def_default(), p->solid[k].shape = p->shape[k];
    p->solid[0].rigid = true, p->solid[0].density = 700, p->solid[0].velocity = (mo_vec3){0.2, 0.1, -0.3};
    p->solid[0].angular_velocity = (mo_vec3){1, 2, 3};
    p->solid[2].motion = rise;
    p->liquid.shape = p->shape[3], p->liquid.velocity = (mo_vec3){-1, 0.6, 0.3};
    p->def.domain.cells = 24, p->def.threads = 2, p->def.gravity = (mo_vec3){0, 0, 0}, p->def.time.max_step = 0.004;
    p->def.liquids = &p->liquid, p->def.liquid_count = 1, p->def.solids = p->solid, p->def.solid_count = 3;
    mo_shape_release(ball), mo_shape_release(box), mo_shape_release(liquid);
}

typedef struct exchange {
    mo_vec3 sum[2]; // momentum and angular momentum about the origin that all have got
    double size[2]; // of the parts
    int looks;
} exchange;

static void add_push(exchange *x, mo_vec3 push, mo_vec3 at, mo_vec3 turn)
{
    mo_vec3 both[2] = {push, mo_add(turn, mo_cross(at, push))};
    for (int k = 0; k < 2; k++) x->sum[k] = mo_add(x->sum[k], both[k]), x->size[k] += mo_norm(both[k]);
}

// Solves the step's system and adds up what the liquid, the body and the other solids got.
static mo_status look_at_exchange(void *user, mo_sim *sim, mo_step_context *c, mo_error *err)
{
    exchange *x = user;
    mo_liquid_system *l = &c->assemble.liquid;
    mo_system *y = &l->system;
    double volume = mo_grid_cell_volume(sim->grid), body[6] = {0};
    double *before = malloc(sizeof(double) * (size_t)y->faces.count);
    mo_system_info info;
    memcpy(before, y->faces.velocity, sizeof(double) * (size_t)y->faces.count);
    assert_int_equal(mo_system_solve(y, &sim->def.solver, &info, err), MO_OK);
    assert_int_equal(mo_sim_measure_forces(sim, c, err), MO_OK);
    for (int32_t f = 0; f < y->faces.count; f++) {
        int axis = mo_face_axis(l->face_at[f]);
        double gained = volume * y->faces.mass[f] * (y->faces.velocity[f] - before[f]);
        mo_vec3 push = {axis == 0 ? gained : 0, axis == 1 ? gained : 0, axis == 2 ? gained : 0};
        add_push(x, push, mo_grid_face(sim->grid, mo_face_sample(l->face_at[f]), axis), (mo_vec3){0, 0, 0});
    }
    mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_BODIES, body);
    for (int k = 0; k < 6; k++) body[k] *= volume * c->dt;
    add_push(x, mo_v3(body[0], body[1], body[2]), sim->centre[0], mo_v3(body[3], body[4], body[5]));
    for (int k = 1; k < 3; k++) {
        const mo_solid *s = &sim->solids[k];
        assert_true(mo_norm(s->force) > 0);
        add_push(x, mo_mul(c->dt, s->force), s->pose.position, mo_mul(c->dt, s->torque));
    }
    free(before);
    x->looks++;
    return MO_OK;
}

// What is open of a face and what solids take of it add up to 1, and all forces are those of rows: then nothing is lost
// between liquid, bodies and prescribed solids, whatever the pressures are.
static void momentum_is_exchanged_without_loss(void **state)
{
    (void)state;
    pair p;
    mo_sim *sim;
    mo_error err;
    crowd_start(&p);
    assert_int_equal(mo_sim_create(&p.def, &sim, &err), MO_OK);
    for (int step = 0; step < 3; step++) {
        exchange x = {0};
        sim->inspect = look_at_exchange, sim->inspect_user = &x;
        assert_int_equal(mo_sim_step(sim, NULL, &err), MO_OK);
        assert_int_equal(x.looks, 1);
        print_message("lost of momentum: %.1e, of angular momentum: %.1e\n", mo_norm(x.sum[0]) / x.size[0],
                      mo_norm(x.sum[1]) / x.size[1]);
        for (int k = 0; k < 2; k++) assert_true(x.size[k] > 0 && mo_norm(x.sum[k]) < 1e-9 * x.size[k]);
    }
    mo_sim_destroy(sim);
    for (int k = 0; k < 4; k++) mo_shape_release(p.shape[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submerged_ball_is_pushed_up_by_what_it_displaces),
        cmocka_unit_test(a_submerged_box_is_pushed_up_by_what_it_displaces),
        cmocka_unit_test(a_floor_carries_the_weight),
        cmocka_unit_test(bodies_that_share_cells_get_their_own_forces),
        cmocka_unit_test(momentum_is_exchanged_without_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
