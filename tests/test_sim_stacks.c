// Stacks of rigid bodies: leaning plates stand, friction is there from the first round, forces carried from step to
// step save iterations and survive a checkpoint; the matrix of contacts is sparse and right.
#include "sim_test.h"
#include "sim/sim.h"

enum { MOST = 12 };

typedef struct stack {
    mo_sim_def def;
    mo_solid_def solid[MOST];
} stack;

static void stack_start(stack *s, mo_vec3 size, int32_t cells)
{
    memset(s, 0, sizeof *s);
    s->def = mo_sim_def_default();
    s->def.domain.size = size, s->def.domain.cells = cells, s->def.domain.friction = 0.6;
    s->def.solids = s->solid, s->def.threads = 1, s->def.time.max_step = 0.01;
}

static mo_solid_def *stack_add(stack *s, mo_shape *shape, double degrees, mo_vec3 at)
{
    mo_solid_def *o = &s->solid[s->def.solid_count++];
    mo_shape *turned = mo_shape_rotate(shape, mo_v3(0, 0, 1), degrees);
    *o = mo_solid_def_default();
    o->name = "body", o->shape = mo_shape_move(turned, at), o->rigid = true, o->friction = 0.6;
    mo_shape_release(shape), mo_shape_release(turned);
    return o;
}

static mo_sim *stack_create(stack *s)
{
    mo_sim *sim;
    assert_int_equal(mo_sim_create(&s->def, &sim, NULL), MO_OK);
    return sim;
}

static void stack_end(stack *s, mo_sim *sim)
{
    for (int32_t i = 0; i < s->def.solid_count; i++) mo_shape_release(s->solid[i].shape);
    mo_sim_destroy(sim);
}

// Two plates that lean on each other, edge against edge, 20 degrees from the vertical; they rest in the margin.
static void add_tent(stack *s, double x, double dx)
{
    double a = 20 * M_PI / 180, length = 0.3, thickness = 0.05, overlap = 0.1 * dx;
    for (int side = -1; side <= 1; side += 2)
        stack_add(s, mo_shape_box(mo_v3(thickness, length, 0.2)), 20 * side,
                  mo_v3(x + 0.5 * side * (thickness * cos(a) + length * sin(a) - overlap),
                        0.5 * (length * cos(a) + thickness * sin(a)) - overlap, 0.2));
}

static double farthest(const mo_sim *sim, const mo_body_state *from)
{
    double most = 0;
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) {
        mo_body_state b;
        mo_sim_body(sim, i, &b);
        most = fmax(most, mo_norm(mo_sub(b.pose.position, from[i].pose.position)));
    }
    return most;
}

static void leaning_plates_stand(void **state)
{
    (void)state;
    for (int rounds = 0; rounds < 3; rounds++) { // 0: no friction
        stack s;
        double dx = 0.025;
        stack_start(&s, mo_v3(0.6, 0.4, 0.4), 24);
        s.def.solver.rounds = rounds ? rounds : 2;
        if (!rounds) s.def.domain.friction = 0;
        add_tent(&s, 0.3, dx);
        mo_sim *sim = stack_create(&s);
        mo_body_state before[2];
        for (int i = 0; i < 2; i++) mo_sim_body(sim, i, &before[i]);
        while (mo_sim_time(sim) < 0.5 - 1e-9) sim_step(sim);
        double way = farthest(sim, before), last;
        for (int i = 0; i < 2; i++) mo_sim_body(sim, i, &before[i]);
        while (mo_sim_time(sim) < 1 - 1e-9) sim_step(sim);
        last = farthest(sim, before);
        assert_true(rounds ? way < 0.05 * dx && last < 1e-4 * dx : way > dx);
        stack_end(&s, sim);
    }
}

static void add_tower(stack *s, int boxes, double dx)
{
    for (int k = 0; k < boxes; k++)
        stack_add(s, mo_shape_box(mo_v3(0.1, 0.1, 0.1)), 0, mo_v3(0.2, 0.05 - 0.1 * dx + k * (0.1 - 0.1 * dx), 0.2));
}

// Resting, a step needs one round of a few iterations; without the forces of the last step it needs five times as many.
static void kept_forces_save_iterations(void **state)
{
    (void)state;
    stack s;
    stack_start(&s, mo_v3(0.4, 0.8, 0.4), 32);
    add_tower(&s, 6, 0.025);
    mo_sim *sim = stack_create(&s);
    int32_t iterations = 0, cold = 0;
    for (int k = 0; k < 60; k++) {
        mo_stats stats = sim_step(sim);
        if (k < 30) continue;
        assert_int_equal(stats.rounds, 1);
        iterations += stats.iterations;
    }
    for (int k = 0; k < 30; k++) {
        sim->kept_count = 0;
        cold += sim_step(sim).iterations;
    }
    assert_true(iterations < 30 * 15 && cold > 5 * iterations);
    stack_end(&s, sim);
}

static void stacks_continue_exactly(void **state)
{
    (void)state;
    stack s;
    stack_start(&s, mo_v3(0.6, 0.4, 0.4), 24);
    add_tent(&s, 0.3, 0.025);
    mo_sim *sim = stack_create(&s), *other = stack_create(&s);
    for (int k = 0; k < 5; k++) sim_step(sim);
    block middle = sim_save(sim);
    assert_int_equal(mo_sim_load(other, middle.data, middle.bytes, NULL), MO_OK);
    assert_int_equal(other->kept_count, sim->kept_count);
    for (int k = 0; k < 5; k++) sim_step(sim), sim_step(other);
    block a = sim_save(sim), b = sim_save(other);
    assert_same_blocks(&a, &b);
    block_free(&a), block_free(&b), block_free(&middle);
    mo_sim_destroy(other);
    stack_end(&s, sim);
}

// Rows i, j of R with the bodies' inverse masses between them.
static double product(const mo_system *y, const mo_csr *R, int32_t i, int32_t j)
{
    double f[6 * MOST] = {0}, sum = 0;
    for (int64_t k = R->row[i]; k < R->row[i + 1]; k++) f[R->col[k]] = R->val[k];
    for (int64_t k = R->row[j]; k < R->row[j + 1]; k++) {
        int32_t body = R->col[k] / 6, a = R->col[k] % 6;
        for (int c = 0; c < 6; c++) sum += y->bodies.body[body].inverse[a][c] * f[6 * body + c] * R->val[k];
    }
    return y->dt * sum;
}

// Contacts of bodies far apart share no entries, and those there are, are right.
static void contact_matrix_is_sparse(void **state)
{
    (void)state;
    stack s;
    stack_start(&s, mo_v3(1.6, 0.4, 0.4), 64);
    for (int k = 0; k < 5; k++) add_tent(&s, 0.2 + 0.3 * k, 0.025);
    mo_sim *sim = stack_create(&s);
    mo_step_context c = {.dt = 0.01};
    assert_int_equal(mo_stage_contacts(sim, &c, NULL), MO_OK);
    assert_int_equal(mo_stage_assemble(sim, &c, NULL), MO_OK);
    const mo_system *y = &c.assemble.liquid.system;
    mo_dual d;
    assert_int_equal(mo_dual_create(y, 1u << MO_BLOCK_CONTACT | 1u << MO_BLOCK_FRICTION, &d, NULL), MO_OK);
    int32_t n = c.contacts.found->count;
    assert_true(n >= 5 * 6);
    assert_int_equal(d.rows, 3 * n);
    assert_true(mo_csr_entries(&d.A) <= 9 * (int64_t)n * n / 4);
    for (int32_t i = 0; i < d.rows; i++)
        for (int32_t j = 0; j < d.rows; j++) {
            double expected = product(y, &d.on[MO_BODIES], i, j), found = 0;
            for (int64_t k = d.A.row[i]; k < d.A.row[i + 1]; k++)
                if (d.A.col[k] == j) found = d.A.val[k];
            if (i == j) expected *= 1 + 1e-4;
            assert_true(fabs(found - expected) <= 1e-12 * fabs(product(y, &d.on[MO_BODIES], i, i)));
        }
    mo_dual_destroy(&d);
    mo_liquid_destroy(&c.assemble.liquid);
    stack_end(&s, sim);
}

// Balls of many cells touch at several points under several angles: only the first to meet may bounce.
static void fine_balls_bounce_straight(void **state)
{
    (void)state;
    stack s;
    stack_start(&s, mo_v3(0.8, 0.3, 0.3), 160);
    s.def.time.max_step = 0.00125;
    for (int k = 0; k < 2; k++) {
        mo_solid_def *ball = stack_add(&s, mo_shape_sphere(0.1), 0, mo_v3(0.2 + 0.25 * k, 0.0995, 0.15));
        ball->restitution = 0.8, ball->friction = 0, ball->velocity = mo_v3(k ? 0 : 1, 0, 0);
        ball->angular_velocity = mo_v3(0, 0, k ? 0 : -10);
    }
    mo_sim *sim = stack_create(&s);
    while (mo_sim_time(sim) < 0.08 - 1e-9) sim_step(sim);
    mo_body_state a, b;
    mo_sim_body(sim, 0, &a), mo_sim_body(sim, 1, &b);
    assert_true(fabs(a.velocity.x - 0.1) < 2e-3 && fabs(b.velocity.x - 0.9) < 2e-3);
    assert_true(fabs(a.velocity.y) + fabs(a.velocity.z) + fabs(b.velocity.y) + fabs(b.velocity.z) < 2e-3);
    stack_end(&s, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaning_plates_stand),       cmocka_unit_test(kept_forces_save_iterations),
        cmocka_unit_test(stacks_continue_exactly),    cmocka_unit_test(contact_matrix_is_sparse),
        cmocka_unit_test(fine_balls_bounce_straight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
