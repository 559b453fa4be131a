// Elastic bodies in liquid: what stiff ones have in common with rigid bodies, buoyancy, common motion, a strip under
// water, energy and volume; a drop on a sheet that is much larger.
#include "elastic_test.h"

static mo_vec3 centre_of(const mo_sim *sim, bool rigid, mo_vec3 *force)
{
    mo_body_state body;
    mo_elastic_state elastic;
    if (rigid) mo_sim_body(sim, 0, &body);
    if (!rigid) mo_sim_elastic(sim, 0, &elastic);
    if (force) *force = rigid ? body.force : elastic.force;
    return rigid ? body.pose.position : elastic.centre;
}

// A rigid box, or one that is as good as rigid.
static mo_sim *box_in_pool(world *w, bool rigid, double density, double depth, mo_shape *box)
{
    world_start(w, depth > 0 ? 16 : 24, depth);
    scene_liquid(&w->s, box_between(-1, -1, -1, 2, 0.6, 2));
    if (rigid) {
        mo_solid_def *o = scene_solid(&w->s, "box", box, NULL);
        o->rigid = true, o->density = density;
    } else {
        mo_elastic_def *e = world_elastic(w, "box", box);
        e->density = density, e->young = 1e9;
    }
    return scene_create(&w->s);
}

static void a_stiff_box_floats_as_a_rigid_one(void **state)
{
    (void)state;
    double height[2] = {0, 0};
    for (int rigid = 0; rigid < 2; rigid++) {
        world w;
        mo_sim *sim = box_in_pool(&w, rigid, 600, 0, box_between(0.3, 0.45, -1, 0.7, 0.75, 1));
        for (int k = 0; k < 100; k++) {
            mo_stats s = sim_step(sim);
            assert_true(s.energy_error < 0.01 && fabs(s.volume_error) < 0.01);
            assert_int_equal(s.reason, MO_REASON_CONVERGED);
            if (!rigid) assert_string_equal(s.sets[0].form, "joint");
            height[rigid] += 0.01 * centre_of(sim, rigid, NULL).y;
        }
        mo_sim_destroy(sim);
        world_end(&w);
    }
    near(height[0], height[1], 0.01 * 0.3); // of its height; it bobs twice
}

static void a_stiff_box_moves_as_a_rigid_one(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        mo_vec3 way[2], force[2];
        for (int rigid = 0; rigid < 2; rigid++) {
            world w;
            mo_shape *box = mo_shape_box(mo_v3(0.35, 0.25, two ? 2 : 0.3)), *turned, *moved;
            turned = mo_shape_rotate(box, mo_v3(0, 0, 1), 20);
            moved = mo_shape_move(turned, mo_v3(0.5, 0.35, two ? 0 : 0.5));
            mo_shape_release(box), mo_shape_release(turned);
            mo_sim *sim = box_in_pool(&w, rigid, two ? 2500 : 300, two ? 0 : 1, moved);
            mo_vec3 start = centre_of(sim, rigid, NULL);
            for (int k = 0; k < 5; k++) sim_step(sim);
            way[rigid] = mo_sub(centre_of(sim, rigid, &force[rigid]), start);
            mo_sim_destroy(sim);
            world_end(&w);
        }
        assert_true(mo_norm(way[1]) > 0.01);
        near(mo_norm(mo_sub(way[0], way[1])), 0, 0.003 * mo_norm(way[1]));
        near(mo_norm(mo_sub(force[0], force[1])), 0, 0.003 * mo_norm(force[1]));
    }
}

// Held under water: Archimedes, wherever it lies in the cells.
static void buoyancy_of_a_held_body(void **state)
{
    (void)state;
    static const double offset[] = {0, 1e-4, 0.013, 0.02};
    for (int k = 0; k < 8; k++) {
        world w;
        mo_elastic_state body;
        world_start(&w, 20, 0);
        if (k >= 4) w.s.def.solver.coupling = MO_COUPLING_POLYGONS;
        scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.8, 1));
        mo_elastic_def *e = world_elastic(
            &w, "box", box_between(0.3 - offset[k % 4], 0.2 + offset[k % 4], -1, 0.7, 0.4 + offset[k % 4], 1));
        w.pin[0].where = box_between(-1, -1, -1, 2, 2, 2), e->pins = w.pin, e->pin_count = 1;
        mo_sim *sim = scene_create(&w.s);
        mo_stats s = sim_step(sim);
        mo_sim_elastic(sim, 0, &body);
        near(body.force.y, 9.81 * body.mass, 2e-3 * 9.81 * body.mass);
        assert_true(s.body_kinetic_energy == 0 && s.kinetic_energy < 1e-9);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// Liquid and body fly together, without gravity: nothing happens between them.
static void common_motion_is_exact(void **state)
{
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        bool two = kind & 1;
        world w;
        mo_elastic_state body;
        world_start(&w, 16, two ? 0 : 1);
        w.s.def.gravity = mo_v3(0, 0, 0);
        if (kind & 2) w.s.def.solver.coupling = MO_COUPLING_POLYGONS;
        mo_vec3 v = mo_v3(0.4, 0.3, two ? 0 : 0.2);
        mo_liquid_def *liquid = scene_liquid(&w.s, ball_at(0.5, 0.5, two ? 0 : 0.5, 0.35));
        liquid->velocity = v, liquid->viscosity = kind & 4 ? 10 : 0;
        mo_elastic_def *e = world_elastic(&w, "ball", ball_at(0.55, 0.5, two ? 0 : 0.5, 0.2));
        e->velocity = v, e->young = 1e3;
        mo_sim *sim = scene_create(&w.s);
        for (int k = 0; k < 3; k++) {
            mo_stats s = sim_step(sim);
            assert_true(s.elastic_energy < 1e-12 * s.body_kinetic_energy);
        }
        mo_sim_elastic(sim, 0, &body);
        near(mo_norm(mo_sub(body.velocity, v)), 0, 1e-6); // particles are floats
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// An aluminium strip closes a vessel under 2 m of water, both ends held: it bends by 6.85e-5 m.
static void a_strip_under_water(void **state)
{
    (void)state;
    world w;
    mo_elastic_state body;
    world_start(&w, 108, 0);
    w.s.def.domain.size = mo_v3(1, 2.7, 0);
    scene_liquid(&w.s, box_between(-1, 0.25, -1, 2, 2.25, 1));
    mo_elastic_def *e = world_elastic(&w, "strip", box_between(0, 0.2, -1, 1, 0.25, 1));
    e->young = 67.5e9, e->poisson = 0.34, e->density = 2700, e->element = 0.005;
    e->pins = w.pin, e->pin_count = 2;
    w.pin[0].where = box_between(-1, -1, -1, 1e-6, 1, 1), w.pin[1].where = box_between(1 - 1e-6, -1, -1, 2, 1, 1);
    mo_sim *sim = scene_create(&w.s);
    const mo_elastic_body *b = &sim->elastics.body[0].body;
    double lowest = 0;
    for (int k = 0; k < 8; k++) assert_true(sim_step(sim).energy_error < 0.01);
    for (int32_t v = 0; v < b->vertices; v++) lowest = fmin(lowest, b->position[v].y - b->rest[v].y);
    mo_sim_elastic(sim, 0, &body);
    near(lowest, -6.85e-5, 0.05 * 6.85e-5);
    near(body.force.y, -9810 * 2 * 0.025, 0.01 * 9810 * 2 * 0.025);
    mo_sim_destroy(sim);
    world_end(&w);
}

// A soft ball falls into a pool, comes up and floats: energy does not grow, liquid is kept, it stays whole.
static void a_soft_ball_in_a_pool(void **state)
{
    (void)state;
    world w;
    mo_elastic_state body;
    world_start(&w, 24, 0);
    scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.5, 1));
    mo_elastic_def *e = world_elastic(&w, "ball", ball_at(0.45, 0.75, 0, 0.15));
    e->young = 2e3, e->density = 400, e->viscosity = 1;
    mo_sim *sim = scene_create(&w.s);
    for (int k = 0; k < 150; k++) {
        mo_stats s = sim_step(sim);
        assert_true(s.energy_error < 0.01 && fabs(s.volume_error) < 0.02 && s.inverted == 0);
    }
    mo_sim_elastic(sim, 0, &body);
    assert_true(body.centre.y > 0.42 && body.centre.y < 0.7);
    mo_sim_destroy(sim);
    world_end(&w);
}

// Pressure round a body that turns does not spin it up: it goes on as a rigid one.
static void a_spinning_disc_keeps_its_spin(void **state)
{
    (void)state;
    static const double young[] = {1e5, 1e9};
    for (int k = 0; k < 2; k++)
        for (int box = 0; box < 2; box++) {
            world w;
            mo_elastic_state body;
            world_start(&w, 20, 0);
            scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.8, 1));
            mo_elastic_def *e = world_elastic(
                &w, "disc", box ? box_between(0.35, 0.25, -1, 0.65, 0.55, 1) : ball_at(0.5, 0.4, 0, 0.15));
            e->young = young[k], e->angular_velocity.z = 2;
            mo_sim *sim = scene_create(&w.s);
            for (int i = 0; i < 25; i++) assert_true(sim_step(sim).energy_error < 2e-3);
            mo_sim_elastic(sim, 0, &body);
            assert_true(body.angular_velocity.z < 2.02 && body.angular_velocity.z > (box ? 1 : 1.8));
            mo_sim_destroy(sim);
            world_end(&w);
        }
}

// In three dimensions and coarse cells, where some cells hold little but the body, stiff ones keep their spin too, but
// for what implicit Euler loses, w^2 dt, and they let no liquid in.
static void a_stiff_ball_keeps_its_spin(void **state)
{
    (void)state;
    static const double young[] = {1e6, 1e9};
    for (int k = 0; k < 2; k++) {
        world w;
        mo_elastic_state body;
        world_start(&w, 12, 1);
        w.s.def.time.max_step = 0.02;
        scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.8, 2));
        mo_elastic_def *e = world_elastic(&w, "ball", ball_at(0.5, 0.4, 0.5, 0.2));
        e->young = young[k], e->angular_velocity.z = 3;
        mo_sim *sim = scene_create(&w.s);
        for (int i = 0; i < 10; i++) {
            mo_stats s = sim_step(sim);
            assert_true(s.energy_error < 2e-3 && fabs(s.volume_error) < 2e-4);
        }
        mo_sim_elastic(sim, 0, &body);
        assert_true(body.angular_velocity.z < 3.01 && body.angular_velocity.z > 2.85);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

// What pieces of the surface do to a body that turns is right to first order in the cells' size only: a square spins as
// the rigid one to a third, where faces make a fiftieth of difference.
static void polygons_brake_what_turns(void **state)
{
    (void)state;
    double spin[3]; // by faces, by polygons, rigid
    for (int k = 0; k < 3; k++) {
        world w;
        mo_elastic_state body;
        mo_body_state rigid;
        world_start(&w, 20, 0);
        w.s.def.time.max_step = 0.02;
        scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.8, 1));
        mo_shape *box = box_between(0.35, 0.25, -1, 0.65, 0.55, 1);
        if (k == 2) {
            mo_solid_def *o = scene_solid(&w.s, "box", box, NULL);
            o->rigid = true, o->density = 1000, o->angular_velocity.z = 2;
        } else {
            mo_elastic_def *e = world_elastic(&w, "box", box);
            e->young = 1e9, e->angular_velocity.z = 2;
            if (k == 1) w.s.def.solver.coupling = MO_COUPLING_POLYGONS;
        }
        mo_sim *sim = scene_create(&w.s);
        for (int i = 0; i < 10; i++) assert_true(sim_step(sim).energy_error < 2e-3);
        if (k == 2) mo_sim_body(sim, 0, &rigid);
        if (k < 2) mo_sim_elastic(sim, 0, &body);
        spin[k] = k == 2 ? rigid.angular_velocity.z : body.angular_velocity.z;
        mo_sim_destroy(sim);
        world_end(&w);
    }
    near(spin[0], spin[2], 0.04 * spin[2]);
    near(spin[1], spin[2], 0.35 * spin[2]);
}

// A soft disc sinks in honey, held back by stress on its surface, by both couplings alike.
static void drag_by_polygons(void **state)
{
    (void)state;
    double speed[2], turn[2];
    for (int k = 0; k < 2; k++) {
        world w;
        mo_elastic_state body;
        world_start(&w, 24, 0);
        w.s.def.time.max_step = 0.01;
        if (k) w.s.def.solver.coupling = MO_COUPLING_POLYGONS;
        scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.9, 1))->viscosity = 30;
        mo_elastic_def *e = world_elastic(&w, "disc", ball_at(0.4, 0.6, 0, 0.15));
        e->density = 2000, e->young = 1e5;
        mo_sim *sim = scene_create(&w.s);
        for (int i = 0; i < 10; i++) {
            mo_stats s = sim_step(sim);
            assert_true(s.reason == MO_REASON_CONVERGED && s.energy_error < 1e-3);
            assert_string_equal(s.sets[0].form, "viscous");
        }
        mo_sim_elastic(sim, 0, &body);
        speed[k] = body.velocity.y, turn[k] = body.angular_velocity.z; // the left wall is nearer
        mo_sim_destroy(sim);
        world_end(&w);
    }
    print_message("sinks by faces %.5f m/s, %.5f/s; by polygons %.5f m/s, %.5f/s\n", speed[0], turn[0], speed[1],
                  turn[1]);
    assert_true(speed[0] < -0.05);
    near(speed[1], speed[0], -0.02 * speed[0]);
    near(turn[1] * 0.15, turn[0] * 0.15, -0.05 * speed[0]); // turning is right to first order only
}

// ---- All at once ----

static mo_status lift(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = mo_pose_identity();
    pose->position.y = 0.05 * sin(8 * t);
    return MO_OK;
}

// Liquid, a rigid box on a soft block that stands on the floor, a ball, and a flap moved by its pins.
static void three_way(world *w, int32_t threads, double viscosity, mo_coupling coupling)
{
    world_start(w, 24, 0);
    w->s.def.solver.coupling = coupling;
    w->s.def.threads = threads;
    scene_liquid(&w->s, box_between(-1, -1, -1, 0.6, 0.45, 1))->viscosity = viscosity;
    mo_elastic_def *e = world_elastic(w, "block", box_between(0.1, 0, -1, 0.45, 0.2, 1));
    e->young = 2e4;
    world_elastic(w, "ball", ball_at(0.3, 0.7, 0, 0.1))->density = 500;
    e = world_elastic(w, "flap", box_between(0.7, 0.2, -1, 0.8, 0.8, 1));
    e->young = 1e4, e->pins = w->pin, e->pin_count = 1;
    w->pin[0].where = box_between(0, 0.7, -1, 1, 1, 1), w->pin[0].motion = lift;
    mo_solid_def *o = scene_solid(&w->s, "box", box_between(0.15, 0.22, -1, 0.4, 0.35, 1), NULL);
    o->rigid = true, o->density = 1500;
}

static void three_way_is_the_same_for_threads_and_resumed(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        block saved[3], middle = {0};
        for (int k = 0; k < 2; k++) {
            world w;
            three_way(&w, k ? 4 : 1, kind ? 3 : 0, kind == 2 ? MO_COUPLING_POLYGONS : MO_COUPLING_FACES);
            mo_sim *sim = scene_create(&w.s);
            for (int i = 0; i < 12; i++) {
                mo_stats s = sim_step(sim);
                assert_true(s.energy_error < 0.01 && s.inverted == 0 && s.max_penetration < 0.5 / 24);
                if (k == 0 && i == 5) middle = sim_save(sim);
            }
            saved[k] = sim_save(sim);
            if (k == 1) { // from the middle on
                assert_int_equal(mo_sim_load(sim, middle.data, middle.bytes, NULL), MO_OK);
                for (int i = 6; i < 12; i++) sim_step(sim);
                saved[2] = sim_save(sim);
            }
            mo_sim_destroy(sim);
            world_end(&w);
        }
        assert_same_blocks(&saved[0], &saved[1]);
        assert_same_blocks(&saved[0], &saved[2]);
        for (int k = 0; k < 3; k++) block_free(&saved[k]);
        block_free(&middle);
    }
}

// Most of a sheet is out of the liquid: multigrid has more coarse faces about its nodes than there are fine ones.
static void a_viscous_drop_on_a_wide_sheet(void **state)
{
    (void)state;
    world w;
    world_start(&w, 24, 1);
    scene_liquid(&w.s, ball_at(0.5, 0.62, 0.5, 0.14))->viscosity = 100;
    world_elastic(&w, "sheet", box_between(0.02, 0.4, 0.02, 0.98, 0.5, 0.98))->element = 0.06;
    mo_sim *sim = scene_create(&w.s);
    for (int k = 0; k < 2; k++) {
        mo_stats s = sim_step(sim);
        assert_int_equal(s.reason, MO_REASON_CONVERGED);
        assert_string_equal(s.sets[0].form, "viscous");
    }
    mo_sim_destroy(sim);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stiff_box_floats_as_a_rigid_one),
        cmocka_unit_test(a_stiff_box_moves_as_a_rigid_one),
        cmocka_unit_test(buoyancy_of_a_held_body),
        cmocka_unit_test(common_motion_is_exact),
        cmocka_unit_test(a_strip_under_water),
        cmocka_unit_test(a_soft_ball_in_a_pool),
        cmocka_unit_test(a_spinning_disc_keeps_its_spin),
        cmocka_unit_test(a_stiff_ball_keeps_its_spin),
        cmocka_unit_test(polygons_brake_what_turns),
        cmocka_unit_test(drag_by_polygons),
        cmocka_unit_test(three_way_is_the_same_for_threads_and_resumed),
        cmocka_unit_test(a_viscous_drop_on_a_wide_sheet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
