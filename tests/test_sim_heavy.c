// Contact at any ratio of masses: heavy bodies rest on light ones without sinking in, in any order, dry and in liquid;
// what falls or is pushed gains no energy; both routes converge.
#include "sim_test.h"
#include "sim/sim.h"

enum { MOST = 3 };
static const double dx = 0.025, edge = 0.1, margin = 0.1; // m, m, cells of overlap that are let be

typedef struct pile {
    mo_sim_def def;
    mo_solid_def solid[MOST];
    mo_liquid_def liquid;
    double mass[MOST];
} pile;

typedef struct outcome {
    double overlap;  // cells, deepest
    double moved;    // cells, farthest
    double speed;    // m/s, largest in the last half
    double energy;   // kinetic and potential, by how much above the first at most, relative
    int32_t stalled; // steps whose solve did not converge
    int64_t fallbacks;
} outcome;

static void pile_start(pile *p, mo_route route)
{
    memset(p, 0, sizeof *p);
    p->def = mo_sim_def_default();
    p->def.domain.size = mo_v3(0.4, 0.6, 0.4), p->def.domain.cells = 24, p->def.domain.friction = 0.6;
    p->def.solids = p->solid, p->def.threads = 1, p->def.time.max_step = 0.01;
    p->def.solver.route = route;
}

static mo_solid_def *pile_add(pile *p, mo_shape *shape, double volume, mo_vec3 at, double density)
{
    int32_t i = p->def.solid_count++;
    mo_solid_def *o = &p->solid[i];
    *o = mo_solid_def_default();
    o->name = "body", o->shape = mo_shape_move(shape, at), o->rigid = true, o->friction = 0.6, o->density = density;
    p->mass[i] = density * volume;
    mo_shape_release(shape);
    return o;
}

// Boxes on each other, from below, `apart` cells between them.
static void pile_boxes(pile *p, int32_t count, const double *density, double apart)
{
    for (int32_t k = 0; k < count; k++)
        pile_add(p, mo_shape_box(mo_v3(edge, edge, edge)), edge * edge * edge,
                 mo_v3(0.2, 0.5 * edge + apart * dx + k * (edge + apart * dx), 0.2), density[k]);
}

static void pile_liquid(pile *p, double depth, double viscosity)
{
    p->liquid = mo_liquid_def_default();
    p->liquid.shape = box_between(0, 0, 0, 0.4, depth, 0.4), p->liquid.viscosity = viscosity;
    p->def.liquids = &p->liquid, p->def.liquid_count = 1;
}

static void pile_end(pile *p, mo_sim *sim)
{
    for (int32_t i = 0; i < p->def.solid_count; i++) mo_shape_release(p->solid[i].shape);
    if (p->def.liquid_count) mo_shape_release(p->liquid.shape);
    mo_sim_destroy(sim);
}

static mo_sim *pile_create(pile *p)
{
    mo_sim *sim;
    assert_int_equal(mo_sim_create(&p->def, &sim, NULL), MO_OK);
    return sim;
}

static double energy_of(const pile *p, const mo_sim *sim)
{
    double sum = 0, inertia = edge * edge / 6; // of a box, by its mass
    for (int32_t i = 0; i < p->def.solid_count; i++) {
        mo_body_state b;
        mo_sim_body(sim, i, &b);
        sum += p->mass[i] * (0.5 * mo_dot(b.velocity, b.velocity) + 9.81 * b.pose.position.y +
                             0.5 * inertia * mo_dot(b.angular_velocity, b.angular_velocity));
    }
    return sum;
}

static outcome pile_run(pile *p, double seconds)
{
    mo_sim *sim = pile_create(p);
    mo_body_state start[MOST], now;
    outcome o = {0};
    double first = energy_of(p, sim);
    for (int32_t i = 0; i < p->def.solid_count; i++) mo_sim_body(sim, i, &start[i]);
    while (mo_sim_time(sim) < seconds - 1e-9) {
        mo_stats stats = sim_step(sim);
        o.overlap = fmax(o.overlap, stats.max_penetration / dx);
        o.stalled += stats.reason != MO_REASON_CONVERGED && stats.reason != MO_REASON_NOTHING_TO_DO;
        o.fallbacks += stats.fallbacks;
        o.energy = fmax(o.energy, energy_of(p, sim) / first - 1);
        for (int32_t i = 0; i < p->def.solid_count; i++) {
            mo_sim_body(sim, i, &now);
            o.moved = fmax(o.moved, mo_norm(mo_sub(now.pose.position, start[i].pose.position)) / dx);
            double speed = mo_norm(now.velocity) + edge * mo_norm(now.angular_velocity);
            if (mo_sim_time(sim) > 0.5 * seconds) o.speed = fmax(o.speed, speed);
        }
    }
    pile_end(p, sim);
    return o;
}

// Overlap stays within the margin and a hundredth of a cell; nothing creeps or jitters.
static void assert_rests(const outcome *o)
{
    assert_true(o->overlap < margin + 0.01 && o->moved < 0.01 && o->speed < 1e-4);
    assert_int_equal(o->stalled, 0);
    assert_int_equal(o->fallbacks, 0);
}

static void heavy_rests_on_light(void **state)
{
    (void)state;
    for (int route = 0; route < 2; route++)
        for (double ratio = 1e3; ratio < 2e6; ratio *= 10) {
            pile p;
            pile_start(&p, route ? MO_ROUTE_PAPER : MO_ROUTE_FAST);
            pile_boxes(&p, 2, (double[2]){1000, 1000 * ratio}, -margin);
            outcome o = pile_run(&p, route ? 2 : 10);
            assert_rests(&o);
        }
}

static void any_order_stands(void **state)
{
    (void)state;
    static const double density[6][3] = {{1e3, 1e6, 1e9}, {1e3, 1e9, 1e6}, {1e6, 1e3, 1e9},
                                         {1e6, 1e9, 1e3}, {1e9, 1e3, 1e6}, {1e9, 1e6, 1e3}};
    for (int route = 0; route < 2; route++)
        for (int k = 0; k < 6; k++) {
            pile p;
            pile_start(&p, route ? MO_ROUTE_PAPER : MO_ROUTE_FAST);
            pile_boxes(&p, 3, density[k], -margin);
            outcome o = pile_run(&p, route ? 2 : 10);
            assert_rests(&o);
        }
}

static void heavy_rests_in_liquid(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) { // inviscid by both routes, viscous
        pile p;
        pile_start(&p, k == 1 ? MO_ROUTE_PAPER : MO_ROUTE_FAST);
        pile_boxes(&p, 2, (double[2]){1000, 1e8}, -margin);
        pile_liquid(&p, 0.06, k == 2 ? 10 : 0);
        outcome o = pile_run(&p, k == 0 ? 0.5 : 0.2);
        assert_rests(&o);
    }
}

// A box of hardly any weight is pressed by its buoyancy, many times that weight, against a plate in the liquid.
static void liquid_presses_light(void **state)
{
    (void)state;
    for (double density = 1; density > 0.005; density *= 0.01) {
        pile p;
        pile_start(&p, MO_ROUTE_FAST);
        pile_add(&p, mo_shape_box(mo_v3(edge, edge, edge)), edge * edge * edge, mo_v3(0.2, 0.2, 0.2), density);
        pile_add(&p, mo_shape_box(mo_v3(0.2, 0.1, 0.2)), 0, mo_v3(0.2, 0.3 - margin * dx, 0.2), 1000)->rigid = false;
        pile_liquid(&p, 0.4, 0);
        outcome o = pile_run(&p, 0.2);
        assert_rests(&o);
    }
}

// Falls, and a push from the side: energy never rises above the first, and bodies come to rest without sinking in.
static void impacts_gain_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        bool paper = k % 2, ball = k / 2 == 0, three = k / 2 == 2;
        pile p;
        pile_start(&p, paper ? MO_ROUTE_PAPER : MO_ROUTE_FAST);
        pile_boxes(&p, ball ? 1 : three ? 3 : 2, three ? (double[3]){1e3, 1e6, 1e9} : (double[3]){1e3, 1e9}, -margin);
        if (ball)
            pile_add(&p, mo_shape_sphere(0.05), 4e-6 / 3 * 125 * M_PI, mo_v3(0.2, 0.25, 0.2), 1e8);
        else
            p.solid[p.def.solid_count - 1].velocity = mo_v3(0.5, 0, 0.1);
        outcome o = pile_run(&p, 1.5);
        assert_true(o.overlap < margin + 0.05 && o.energy < 1e-9 && o.speed < (ball ? 0.01 : 2));
        assert_int_equal(o.stalled, 0);
        assert_int_equal(o.fallbacks, 0);
    }
}

// Softness of all rows of contact i.
static double softness_of(const mo_system *y, int32_t i)
{
    double normal = mo_block_softness(y->block[MO_BLOCK_CONTACT], i);
    for (int k = 0; k < 2; k++) assert_true(mo_block_softness(y->block[MO_BLOCK_FRICTION], 2 * i + k) == normal);
    return normal;
}

// Bodies of about one mass have the softness of the papers; where a heavy one is joined to them all contacts of the
// cluster have one that is by their lighter body; others have not.
static void softness_is_by_the_heaviest(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        pile p;
        pile_start(&p, MO_ROUTE_FAST);
        p.def.domain.size.x = 0.8;
        pile_boxes(&p, 2, (double[2]){1e3, k ? 1e8 : 5e3}, -margin);
        pile_add(&p, mo_shape_box(mo_v3(edge, edge, edge)), edge * edge * edge,
                 mo_v3(0.6, 0.5 * edge - margin * dx, 0.2), 1e3);
        mo_sim *sim = pile_create(&p);
        mo_step_context step = {.dt = 0.01};
        assert_int_equal(mo_stage_contacts(sim, &step, NULL), MO_OK);
        assert_int_equal(mo_stage_assemble(sim, &step, NULL), MO_OK);
        const mo_contacts *found = step.contacts.found;
        assert_true(found->count >= 12);
        for (int32_t i = 0; i < found->count; i++) {
            const mo_contact *c = &found->contact[i];
            double expected = k && c->a != 2 && c->b != 2 ? 1e-8 : 1e-4;
            assert_true(fabs(softness_of(&step.assemble.liquid.system, i) / expected - 1) < 1e-12);
        }
        mo_liquid_destroy(&step.assemble.liquid);
        pile_end(&p, sim);
    }
}

static void heavy_stacks_continue_exactly(void **state)
{
    (void)state;
    pile p;
    pile_start(&p, MO_ROUTE_FAST);
    pile_boxes(&p, 3, (double[3]){1e3, 1e9, 1e6}, 0.1);
    mo_sim *sim = pile_create(&p), *other = pile_create(&p);
    for (int k = 0; k < 8; k++) sim_step(sim);
    block middle = sim_save(sim);
    assert_int_equal(mo_sim_load(other, middle.data, middle.bytes, NULL), MO_OK);
    for (int k = 0; k < 8; k++) sim_step(sim), sim_step(other);
    block a = sim_save(sim), b = sim_save(other);
    assert_same_blocks(&a, &b);
    block_free(&a), block_free(&b), block_free(&middle);
    mo_sim_destroy(other);
    pile_end(&p, sim);
}

// A lid from wall to wall shuts liquid in, which gives way with the lid alone: what the solvers make of a pressure that
// is the same everywhere in it is no rounding.
static void lids_shut_liquid_in(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        const double density = k % 3 == 0 ? 30 : k % 3 == 1 ? 3000 : 1e5;
        scene s;
        scene_start(&s, 15, 0);
        scene_liquid(&s, box_between(-1, -1, -1, 2, 0.42, 2))->viscosity = k / 3 * 0.02;
        mo_solid_def *lid = scene_solid(&s, "lid", box_between(0, 0.42, -1, 1, 0.6, 1), NULL);
        lid->rigid = true, lid->density = density;
        mo_solid_def *ball = scene_solid(&s, "ball", ball_at(0.4, 0.2, 0, 0.12), NULL);
        ball->rigid = true, ball->density = 2000, ball->velocity = mo_v3(0.3, 0, 0);
        mo_sim *sim = scene_create(&s);
        int64_t fallbacks = 0, iterations = 0;
        for (int step = 0; step < 20; step++) {
            mo_stats stats = sim_step(sim);
            assert_int_equal(stats.reason, MO_REASON_CONVERGED);
            fallbacks += stats.fallbacks, iterations += stats.iterations;
        }
        print_message("lid of %g kg/m^3: %lld iterations, %lld fallbacks\n", density, (long long)iterations,
                      (long long)fallbacks);
        assert_int_equal(fallbacks, 0);
        mo_sim_destroy(sim), scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lids_shut_liquid_in),
        cmocka_unit_test(heavy_rests_on_light),
        cmocka_unit_test(any_order_stands),
        cmocka_unit_test(heavy_rests_in_liquid),
        cmocka_unit_test(liquid_presses_light),
        cmocka_unit_test(impacts_gain_nothing),
        cmocka_unit_test(softness_is_by_the_heaviest),
        cmocka_unit_test(heavy_stacks_continue_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
