// Whole steps of viscous liquids: the same bytes for any number of threads, states that continue exactly, nothing lost
// when memory runs out; free flight, belts, walls that hold or let slip, viscosity that is carried or varies, the order
// of rheologies, drops that become round.
#include "sim_test.h"
#include "sim/sim.h"
#include "ration.h"

static mo_status rising(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    (void)user, (void)err;
    *viscosity = 1 + 50 * x.y + 20 * t;
    return MO_OK;
}

// Honey over a ledge, a swinging bar along which it slips, a belt, a thinning jet, a part whose viscosity varies.
static void scene_sticky(scene *s, int32_t threads)
{
    scene_start(s, 16, 0.6);
    s->amplitude = 0.1;
    s->def.domain.walls[MO_XMAX] = s->def.domain.walls[MO_YMAX] = MO_WALL_OPEN;
    s->def.domain.walls[MO_YMIN] = MO_WALL_NO_SLIP;
    s->def.time.fps = 20, s->def.threads = threads;
    mo_liquid_def *l = scene_liquid(s, box_between(-1, -1, -1, 0.4, 0.3, 2));
    l->velocity = mo_v3(0.5, 0, 0.2), l->viscosity = 20, l->surface_tension = 2;
    l = scene_liquid(s, box_between(-1, 0.3, -1, 0.4, 0.5, 2));
    l->viscosity_fn = rising, l->viscosity_varies = true, l->surface_tension = 2;
    scene_solid(s, "ledge", box_between(0.7, -1, -1, 0.8, 0.12, 2), NULL)->surface_velocity = mo_v3(0, 0, 1);
    scene_solid(s, "bar", mo_shape_box(mo_v3(0.2, 0.08, 0.3)), swing)->wall = MO_WALL_SLIP;
    mo_emitter_def *e = scene_emitter(s, ball_at(0.7, 0.7, 0.3, 0.08), mo_v3(-1.5, 0.3, 0));
    e->start = 0.02, e->surface_tension = 2, e->rheology = (mo_rheology){5, 0.5, 10, 0.1};
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int32_t threads[] = {1, 2, 4};
    block first = {0};
    for (int n = 0; n < 3; n++) {
        scene s;
        scene_sticky(&s, threads[n]);
        mo_sim *sim = scene_create(&s);
        mo_stats stats = {0};
        for (int step = 0; step < 8; step++) stats = sim_step(sim);
        assert_true(stats.stresses > stats.pressures && stats.rounds == 2);
        assert_string_equal(stats.scheme, "PV-unified");
        block b = sim_save(sim);
        if (n == 0)
            first = b;
        else {
            assert_same_blocks(&first, &b);
            block_free(&b);
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
    block_free(&first);
}

static void saved_states_continue_exactly(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    scene s;
    scene_sticky(&s, 1);
    mo_sim *sim = scene_create(&s), *other = scene_create(&s);
    block middle = {0};
    for (int k = 0; k < STEPS; k++) {
        if (k == 3) middle = sim_save(sim);
        sim_step(sim);
    }
    assert_int_equal(mo_sim_load(other, middle.data, middle.bytes, NULL), MO_OK);
    for (int k = 3; k < STEPS; k++) sim_step(other);
    block a = sim_save(sim), b = sim_save(other);
    assert_same_blocks(&a, &b);
    block_free(&a), block_free(&b), block_free(&middle);
    mo_sim_destroy(sim), mo_sim_destroy(other);
    scene_end(&s);
}

// ---- Memory ----

static mo_status play(const scene *s)
{
    mo_sim *sim;
    mo_stats stats;
    mo_status status = mo_sim_create(&s->def, &sim, NULL);
    for (int step = 0; step < 2 && status == MO_OK; step++) status = mo_sim_step(sim, &stats, NULL);
    mo_sim_destroy(sim);
    return status;
}

// Shapes are the test's own; every other call fails once.
static void memory_may_run_out_at_any_call(void **state)
{
    (void)state;
    scene s;
    scene_sticky(&s, 1);
    s.def.domain.cells = 10;
    ration r = {0};
    mo_set_allocator(rationed, &r);
    assert_int_equal(play(&s), MO_OK);
    int64_t calls = r.calls;
    assert_true(calls > 100);
    for (int64_t fail = 1; fail <= calls; fail += 1 + fail / 40) {
        r = (ration){.fail_at = fail};
        mo_status status = play(&s);
        assert_true(status == MO_ERROR_MEMORY || status == MO_OK); // OK: the arena found another way
        assert_int_equal(r.live, 0);
    }
    mo_set_allocator(NULL, NULL);
    scene_end(&s);
}

// ---- Physics ----

// A ball in free flight keeps its velocity but for gravity, whatever its viscosity.
static void free_flight_is_not_slowed(void **state)
{
    (void)state;
    static const double viscosity[] = {1e-3, 1, 1e3, 1e6};
    for (int n = 0; n < 4; n++) {
        scene s;
        scene_start(&s, 16, 1);
        mo_liquid_def *l = scene_liquid(&s, ball_at(0.5, 0.6, 0.5, 0.2));
        l->viscosity = viscosity[n], l->velocity = mo_v3(0.3, 1, -0.2);
        s.def.time.max_step = 0.01;
        mo_sim *sim = scene_create(&s);
        for (int step = 0; step < 5; step++) sim_step(sim);
        const mo_particles *p = &sim->particles;
        double t = mo_sim_time(sim), v[3] = {0.3, 1 - 9.81 * t, -0.2};
        for (int32_t q = 0; q < p->count; q++)
            for (int a = 0; a < 3; a++) assert_true(fabs(p->v[a][q] - v[a]) < 1e-5);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// Mean velocity along x of a layer of syrup on a belt after a while.
static double dragged(mo_wall wall, double speed)
{
    scene s;
    scene_start(&s, 24, 0);
    s.def.domain.walls[MO_XMIN] = s.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
    scene_liquid(&s, box_between(0.25, 0.2, -1, 0.75, 0.35, 1))->viscosity = 200;
    mo_solid_def *belt = scene_solid(&s, "belt", box_between(-1, -1, -1, 2, 0.2, 1), NULL);
    belt->wall = wall, belt->surface_velocity = mo_v3(speed, 0.7, 0);
    s.def.time.max_step = 0.01;
    mo_sim *sim = scene_create(&s);
    mo_stats stats = {0};
    for (int step = 0; step < 30; step++)
        stats = sim_step(sim); // about 8 times what viscosity takes to cross the layer
    double mass = 1000 * mo_particles_volume(&sim->particles) * pow(sim->grid->dx, 3);
    mo_sim_destroy(sim);
    scene_end(&s);
    return stats.momentum.x / mass;
}

static void belts_drag_what_sticks(void **state)
{
    (void)state;
    double held = dragged(MO_WALL_NO_SLIP, 0.5), slipping = dragged(MO_WALL_SLIP, 0.5),
           still = dragged(MO_WALL_NO_SLIP, 0);
    assert_true(fabs(held - 0.5) < 0.05);
    assert_true(fabs(slipping) < 0.01);
    assert_true(fabs(still) < 0.01);
}

// A viscous layer given a push parallel to the floor stops on a no-slip floor and slides on over a slippery one.
static double pushed(bool solid, mo_wall wall)
{
    scene s;
    scene_start(&s, 24, 0);
    s.def.domain.walls[MO_YMIN] = solid ? MO_WALL_SLIP : wall;
    double floor = solid ? 0.21 : 0;
    mo_liquid_def *l = scene_liquid(&s, box_between(0.2, floor, -1, 0.5, floor + 0.2, 1));
    l->viscosity = 500, l->velocity = mo_v3(1, 0, 0);
    if (solid) scene_solid(&s, "floor", box_between(-1, -1, -1, 2, floor, 1), NULL)->wall = wall;
    s.def.time.max_step = 0.01;
    mo_sim *sim = scene_create(&s);
    mo_stats stats = {0};
    for (int step = 0; step < 30; step++)
        stats = sim_step(sim); // about 8 times what viscosity takes to cross the layer
    double mass = 1000 * mo_particles_volume(&sim->particles) * pow(sim->grid->dx, 3);
    mo_sim_destroy(sim);
    scene_end(&s);
    return stats.momentum.x / mass;
}

static void floors_hold_or_let_slip(void **state)
{
    (void)state;
    assert_true(fabs(pushed(false, MO_WALL_NO_SLIP)) < 0.05);
    assert_true(fabs(pushed(false, MO_WALL_SLIP) - 1) < 0.02);
    assert_true(fabs(pushed(true, MO_WALL_NO_SLIP)) < 0.05);
    assert_true(fabs(pushed(true, MO_WALL_SLIP) - 1) < 0.02);
}

static void viscosity_is_carried_or_varies(void **state)
{
    (void)state;
    for (int varies = 0; varies < 2; varies++) {
        scene s;
        scene_start(&s, 16, 0);
        mo_liquid_def *l = scene_liquid(&s, box_between(0.3, 0.5, -1, 0.7, 0.9, 1));
        l->viscosity_fn = rising, l->viscosity_varies = varies;
        s.def.time.max_step = 0.02;
        mo_sim *sim = scene_create(&s);
        const mo_particles *p = &sim->particles;
        double before = 0, after = 0, fall = 0, time = 0;
        for (int32_t q = 0; q < p->count; q++) before += p->viscosity[q] / p->count;
        for (int step = 0; step < 6; step++) {
            fall = 0, time = mo_sim_time(sim); // of the last step's start, when a varying one is asked
            for (int32_t q = 0; q < p->count; q++)
                fall += mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], 0).y / p->count;
            sim_step(sim);
        }
        for (int32_t q = 0; q < p->count; q++) after += p->viscosity[q] / p->count;
        assert_true(fabs(before - (1 + 50 * 0.7)) < 0.1);
        assert_true(fabs(after - (varies ? 1 + 50 * fall + 20 * time : before)) < 0.01);
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

static mo_status wild(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    (void)user, (void)err;
    *viscosity = x.x > 0.6 && t > 0.03 ? NAN : 1;
    return MO_OK;
}

static void a_viscosity_that_is_none_stops_the_run(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 16, 0);
    mo_liquid_def *l = scene_liquid(&s, box_between(0.3, 0.5, -1, 0.7, 0.9, 1));
    l->viscosity_fn = wild, l->viscosity_varies = true;
    s.def.time.max_step = 0.01;
    mo_sim *sim = scene_create(&s);
    mo_error err = {0};
    mo_stats stats;
    mo_status status = MO_OK;
    for (int step = 0; step < 20 && status == MO_OK; step++) status = mo_sim_step(sim, &stats, &err);
    assert_int_equal(status, MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "liquid 1: viscosity at ("));
    mo_sim_destroy(sim);
    scene_end(&s);
}

// How wide a column has spread.
static double spread_of(mo_rheology rheology, int32_t rounds)
{
    scene s;
    scene_start(&s, 32, 0);
    s.def.domain.walls[MO_YMIN] = MO_WALL_NO_SLIP;
    scene_liquid(&s, box_between(0.4, -1, -1, 0.6, 0.5, 1))->rheology = rheology;
    s.def.time.max_step = 0.01, s.def.solver.rounds = rounds;
    mo_sim *sim = scene_create(&s);
    while (mo_sim_time(sim) < 0.3) sim_step(sim);
    const mo_particles *p = &sim->particles;
    double mean = 0, square = 0;
    for (int32_t q = 0; q < p->count; q++) mean += p->x[0][q] / p->count;
    for (int32_t q = 0; q < p->count; q++) square += (p->x[0][q] - mean) * (p->x[0][q] - mean) / p->count;
    mo_sim_destroy(sim);
    scene_end(&s);
    return sqrt(square);
}

// Sheared faster than 1/s, thinning liquids flow more easily, thickening and yielding ones less.
static void rheologies_flow_in_their_order(void **state)
{
    (void)state;
    double newtonian = spread_of((mo_rheology){20, 1, 0, 0}, 2),
           thinning = spread_of((mo_rheology){20, 0.5, 0, 0.01}, 2),
           thickening = spread_of((mo_rheology){20, 1.7, 0, 0.01}, 2),
           yielding = spread_of((mo_rheology){20, 1, 1000, 0.01}, 2);
    // 1.25, 0.67 and 0.44 times as wide.
    assert_true(thinning > 1.15 * newtonian && thinning < 1.35 * newtonian);
    assert_true(thickening > 0.57 * newtonian && thickening < 0.77 * newtonian);
    assert_true(yielding > 0.34 * newtonian && yielding < 0.54 * newtonian);
}

// A square drop under tension becomes round, its momentum stays 0; the decoupled scheme runs too.
static void drops_become_round(void **state)
{
    (void)state;
    static const char *const schemes[] = {"", "P-V-P", ""};
    for (int n = 0; n < 3; n++) {
        scene s;
        scene_start(&s, 32, 0);
        s.def.gravity = mo_v3(0, 0, 0), s.def.time.seconds = 10;
        strcpy(s.def.solver.scheme, schemes[n]);
        mo_liquid_def *l = scene_liquid(&s, box_between(0.3, 0.3, -1, 0.7, 0.7, 1));
        l->viscosity = n == 2 ? 0 : 30, l->surface_tension = 50;
        mo_sim *sim = scene_create(&s);
        mo_stats stats = {0};
        while (mo_sim_time(sim) < (n == 2 ? 0.1 : 1)) stats = sim_step(sim);
        const mo_particles *p = &sim->particles;
        double c[2] = {0}, outside = 0, round = 0.4 / sqrt(M_PI) * 32; // part of the particles beyond the round drop
        for (int32_t q = 0; q < p->count; q++)
            for (int a = 0; a < 2; a++) c[a] += p->x[a][q] / p->count;
        for (int32_t q = 0; q < p->count; q++)
            outside += hypot(p->x[0][q] - c[0], p->x[1][q] - c[1]) > 1.04 * round ? 1.0 / p->count : 0;
        double mass = 1000 * mo_particles_volume(p) * pow(sim->grid->dx, 3);
        assert_true(mo_norm(stats.momentum) / mass < 0.02);
        if (n < 2) assert_true(outside < 0.015); // 4% in the square
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// A stiff drop in free flight: what is to be solved is rounding of a velocity that everything has in common.
static void stiff_drops_fall_by_the_fast_route(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 24, 1);
    scene_liquid(&s, ball_at(0.5, 0.6, 0.5, 0.2))->viscosity = 1e4;
    mo_sim *sim = scene_create(&s);
    for (int k = 0; k < 6; k++) {
        mo_stats stats = sim_step(sim);
        assert_int_equal(stats.fallbacks, 0);
        assert_true(stats.reason == MO_REASON_CONVERGED || stats.reason == MO_REASON_NOTHING_TO_DO);
    }
    mo_sim_destroy(sim), scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_drops_fall_by_the_fast_route),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(saved_states_continue_exactly),
        cmocka_unit_test(memory_may_run_out_at_any_call),
        cmocka_unit_test(free_flight_is_not_slowed),
        cmocka_unit_test(belts_drag_what_sticks),
        cmocka_unit_test(floors_hold_or_let_slip),
        cmocka_unit_test(viscosity_is_carried_or_varies),
        cmocka_unit_test(a_viscosity_that_is_none_stops_the_run),
        cmocka_unit_test(rheologies_flow_in_their_order),
        cmocka_unit_test(drops_become_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
