// Contacts of elastic bodies in a simulation: weights on floors, all kinds of solids together, energy, mistakes,
// resuming, threads.
#include "elastic_test.h"
#include "base/parallel.h"

// The sum of normal forces of the last step on a pair's contacts, N.
static double force_between(const mo_sim *sim, int32_t a, int32_t b)
{
    double sum = 0;
    for (int32_t i = 0; i < sim->kept_count; i++)
        if (sim->kept[i].a == a && (b < 0 || sim->kept[i].b == b)) sum += sim->kept[i].normal;
    return sum * sim->grid->dx * sim->grid->dx;
}

// A block falls on the floor, and comes to rest with its weight on it.
static void a_block_at_rest(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        world w;
        mo_stats stats;
        mo_elastic_state body;
        world_start(&w, 8, two ? 0 : 1);
        w.s.def.time.fps = 100;
        mo_elastic_def *e = world_elastic(&w, "block", box_between(0.3, 0.02, two ? -1 : 0.3, 0.7, 0.3, two ? 1 : 0.7));
        e->drag = 30, e->young = 2e4, e->velocity = mo_v3(0.2, 0, 0);
        mo_sim *sim = scene_create(&w.s);
        double energy = INFINITY;
        for (int k = 0; k < 150; k++) {
            stats = sim_step(sim);
            assert_true(stats.energy < energy + 1e-6);
            assert_int_equal(stats.fallbacks, 0);
            energy = stats.energy;
        }
        mo_sim_elastic(sim, 0, &body);
        near(force_between(sim, 0, -1), 9.81 * body.mass, 1e-6 * 9.81 * body.mass);
        assert_true(mo_norm(body.velocity) < 1e-6);
        assert_true(stats.contacts >= (two ? 4 : 16) && stats.max_penetration < 1e-6);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

static mo_status shake(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){mo_v3(0.03 * sin(8 * t), 0.01 * sin(11 * t), 0), mo_quat_identity()};
    return MO_OK;
}

// A shaken table, an elastic slab on it, a rigid ball and an elastic block above, and a post beside them.
static void start_crowd(world *w, int32_t cells, double depth)
{
    double z0 = depth > 0 ? 0.3 : -1, z1 = depth > 0 ? 0.7 : 1;
    world_start(w, cells, depth);
    w->s.def.time.fps = 100;
    scene_solid(&w->s, "table", box_between(0.2, 0.1, z0 - 0.1, 0.8, 0.2, z1 + 0.1), shake);
    mo_solid_def *ball = scene_solid(&w->s, "ball", ball_at(0.4, 0.46, depth > 0 ? 0.5 : 0, 0.1), NULL);
    ball->rigid = true, ball->density = 800;
    scene_solid(&w->s, "post", box_between(0.85, -1, -1, 0.95, 0.6, 2), NULL);
    world_elastic(w, "slab", box_between(0.25, 0.205, z0, 0.75, 0.35, z1))->young = 3e4;
    mo_elastic_def *e = world_elastic(w, "block", box_between(0.55, 0.36, z0, 0.75, 0.56, z1));
    e->young = 1e4, e->velocity = mo_v3(0.8, 0, 0), e->self_contact = true;
}

static void all_kinds_of_solids(void **state)
{
    (void)state;
    for (int32_t two = 0; two < 2; two++) {
        world w;
        start_crowd(&w, two ? 24 : 12, two ? 0 : 1);
        mo_sim *sim = scene_create(&w.s);
        double pushed[4] = {0};
        for (int k = 0; k < (two ? 120 : 60); k++) {
            mo_stats stats = sim_step(sim);
            assert_true(stats.max_penetration < 0.05 * sim->grid->dx);
            assert_true(stats.energy_error < 1e-2);
            assert_int_equal(stats.fallbacks, 0);
            pushed[0] += force_between(sim, 0, 3), pushed[1] += force_between(sim, 1, 3); // table, ball and slab
            pushed[2] += force_between(sim, 3, 4), pushed[3] += force_between(sim, 2, 4); // slab and block, post
        }
        for (int k = 0; k < (two ? 4 : 3); k++) assert_true(pushed[k] > 0);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

static void resuming_and_threads(void **state)
{
    (void)state;
    block end[3];
    for (int run = 0; run < 3; run++) {
        world w;
        start_crowd(&w, 10, 1);
        w.s.def.threads = run == 2 ? 3 : 1;
        mo_sim *sim = scene_create(&w.s), *other = scene_create(&w.s);
        for (int k = 0; k < 15; k++) {
            sim_step(sim);
            if (run == 1 && k == 8) {
                block b = sim_save(sim);
                mo_sim_destroy(sim);
                sim = other;
                assert_int_equal(mo_sim_load(sim, b.data, b.bytes, NULL), MO_OK);
                block_free(&b);
            }
        }
        end[run] = sim_save(sim);
        if (run != 1) mo_sim_destroy(other);
        mo_sim_destroy(sim);
        world_end(&w);
    }
    assert_same_blocks(&end[0], &end[1]);
    assert_same_blocks(&end[0], &end[2]);
    for (int run = 0; run < 3; run++) block_free(&end[run]);
}

static void bodies_in_one_another(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        world w;
        mo_sim *sim = NULL;
        mo_error err = {0};
        world_start(&w, 10, 1);
        world_elastic(&w, "jelly", box_between(0.3, k == 2 ? -0.2 : 0.3, 0.3, 0.7, 0.7, 0.7));
        if (k == 0) scene_solid(&w.s, "post", box_between(0.4, 0, 0.4, 0.6, 0.5, 0.6), NULL);
        if (k == 1) world_elastic(&w, "pudding", box_between(0.3, 0.45, 0.35, 0.8, 0.8, 0.6));
        assert_int_equal(mo_sim_create(&w.s.def, &sim, &err), MO_ERROR_INPUT);
        if (!strstr(err.text, "elastic 'jelly'") || !strstr(err.text, k == 2 ? "wall" : k ? "'pudding'" : "'post'"))
            fail_msg("%s", err.text);
        world_end(&w);
    }
}

// How soft contacts are, as the solver's key says.
static mo_status look_at_softness(void *user, mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_block *b = c->assemble.liquid.system.block[MO_BLOCK_CONTACT];
    int32_t *seen = user;
    (void)err;
    for (int32_t i = 0; b && i < b->rows; i++, (*seen)++) assert_true(b->softness[i] == sim->def.solver.softness);
    return MO_OK;
}

static void softness_is_the_solvers(void **state)
{
    (void)state;
    static const double softness[] = {1e-6, 1e-5, 1e-4};
    double overlap[3];
    for (int k = 0; k < 3; k++) {
        world w;
        int32_t seen = 0;
        world_start(&w, 8, 0);
        w.s.def.solver.softness = softness[k];
        mo_elastic_def *e = world_elastic(&w, "block", box_between(0.3, 0.001, -1, 0.7, 0.3, 1));
        e->drag = 30, e->young = 2e4;
        mo_sim *sim = scene_create(&w.s);
        sim->inspect = look_at_softness, sim->inspect_user = &seen;
        for (int i = 0; i < 40; i++) overlap[k] = sim_step(sim).max_penetration;
        assert_true(seen > 40);
        mo_sim_destroy(sim);
        world_end(&w);
    }
    assert_true(overlap[1] > 5 * overlap[0] && overlap[2] > 5 * overlap[1] && overlap[2] < 1e-5);
}

// A soft beam, held at both ends, that honey bends down to a rough floor: friction presses the beam on the floor, so
// that bounds taken from the normal forces of the round before close in slowly. Newton's method ends with small steps
// all the same.
static void friction_settles(void **state)
{
    (void)state;
    world w;
    world_start(&w, 20, 0);
    w.s.def.domain.friction = 1, w.s.def.time.fps = 50;
    scene_liquid(&w.s, box_between(0.3, 0.425, -1, 0.7, 0.775, 1))->viscosity = 100;
    mo_elastic_def *e = world_elastic(&w, "beam", box_between(0.05, 0.25, -1, 0.95, 0.35, 1));
    e->element = 0.025, e->density = 200, e->young = 1e4, e->poisson = 0.49, e->friction = 1;
    e->pins = w.pin, e->pin_count = 2;
    w.pin[0].where = box_between(-1, -1, -1, 0.05 + 1e-6, 2, 1);
    w.pin[1].where = box_between(0.95 - 1e-6, -1, -1, 2, 2, 1);
    mo_sim *sim = scene_create(&w.s);
    int32_t rounds = 0;
    for (int k = 0; k < 20; k++) {
        mo_stats s = sim_step(sim);
        rounds = s.rounds > rounds ? s.rounds : rounds;
        assert_true(s.newton < 0.01 && s.energy_error < 0.01);
    }
    assert_true(sim->stats.contacts > 10 && rounds > 5);
    mo_sim_destroy(sim);
    world_end(&w);
}

// A bar along x or z about a place, turned by 45 degrees about itself if it lies on edge.
static mo_elastic_def *put_bar(world *w, const char *name, bool along_x, mo_vec3 at, double thickness, bool on_edge)
{
    double length = 0.8;
    mo_shape *bar = mo_shape_box(mo_v3(along_x ? length : thickness, thickness, along_x ? thickness : length));
    mo_shape *turned = mo_shape_rotate(bar, along_x ? mo_v3(1, 0, 0) : mo_v3(0, 0, 1), on_edge ? 45 : 0);
    mo_shape *moved = mo_shape_move(turned, at);
    mo_shape_release(bar), mo_shape_release(turned);
    mo_elastic_def *e = world_elastic(w, name, moved);
    e->element = 0.05, e->young = 1e6, e->density = 500;
    return e;
}

// A bar falls across another that is held at its ends. Both are one element thick, and no vertex of one meets a face of
// the other; their edges hold it. Without them it falls through, to the floor.
static void crossed_bars(void **state)
{
    (void)state;
    for (int on_edge = 0; on_edge < 2; on_edge++) {
        world w;
        mo_elastic_state high;
        double thickness = on_edge ? 0.02 : 0.03;
        world_start(&w, 20, 1);
        w.s.def.time.fps = 50;
        mo_elastic_def *low = put_bar(&w, "low", true, mo_v3(0.5, 0.4, 0.5), thickness, on_edge);
        put_bar(&w, "high", false, mo_v3(0.523, 0.45, 0.523), thickness, on_edge);
        w.pin[0].where = box_between(0, 0, 0, 0.1001, 1, 1), w.pin[1].where = box_between(0.8999, 0, 0, 1, 1, 1);
        low->pins = w.pin, low->pin_count = 2;
        mo_sim *sim = scene_create(&w.s);
        for (int step = 0; step < 30; step++) {
            mo_stats stats = sim_step(sim);
            assert_true(stats.max_penetration < 1e-3 && stats.energy_error < 1e-3);
        }
        mo_sim_elastic(sim, 1, &high);
        assert_true(high.centre.y > 0.25);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_at_rest),
        cmocka_unit_test(all_kinds_of_solids),
        cmocka_unit_test(resuming_and_threads),
        cmocka_unit_test(bodies_in_one_another),
        cmocka_unit_test(softness_is_the_solvers),
        cmocka_unit_test(friction_settles),
        cmocka_unit_test(crossed_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
