// Reviews of the solved system: what they change is solved for in the same step, from the same velocities, and they are
// asked a few times at most.
#include "sim_test.h"
#include "sim/sim.h"

typedef struct reviewer {
    int asked, wants; // so many repeats
    double push;      // m/s, at which contacts are to part
} reviewer;

static mo_status review(void *user, mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    reviewer *r = user;
    mo_system *s = &c->assemble.liquid.system;
    mo_block *contact = s->block[MO_BLOCK_CONTACT];
    (void)err;
    assert_int_equal(c->solve.repeats, r->asked);
    if (r->push != 0 && r->asked == 0) {
        assert_true(contact && contact->rows > 0);
        for (int32_t i = 0; i < contact->rows; i++) contact->rhs[i] = -r->push / sim->grid->dx;
    }
    *again = r->asked++ < r->wants;
    return MO_OK;
}

// A box that stands on the floor of a tank with shallow water; the last of some steps is reviewed. Tells its velocity.
static mo_vec3 last_velocity(reviewer *r, double viscosity)
{
    enum { STEPS = 4 };
    scene s;
    scene_start(&s, 12, 1);
    scene_liquid(&s, box_between(0, 0, 0, 1, 0.3, 1))->viscosity = viscosity;
    mo_solid_def *o = scene_solid(&s, "box", box_between(0.3, 0.001, 0.3, 0.7, 0.4, 0.7), NULL);
    o->rigid = true, o->density = 3000;
    s.def.time.max_step = 0.01;
    mo_sim *sim = scene_create(&s);
    for (int k = 0; k < STEPS; k++) {
        if (k == STEPS - 1 && r) sim->review = review, sim->review_user = r;
        sim_step(sim);
    }
    mo_vec3 v = sim->solids[0].velocity;
    mo_sim_destroy(sim);
    scene_end(&s);
    return v;
}

static void a_repeated_solve_takes_what_was_changed(void **state)
{
    (void)state;
    for (int viscous = 0; viscous < 2; viscous++) {
        reviewer r = {.wants = 1, .push = 0.25};
        mo_vec3 still = last_velocity(NULL, 10 * viscous), pushed = last_velocity(&r, 10 * viscous);
        print_message("box rises at %g m/s, and at %g m/s when pushed\n", still.y, pushed.y);
        assert_int_equal(r.asked, 2);
        assert_true(still.y < 1e-3);               // it still settles into the margin
        assert_true(fabs(pushed.y - 0.25) < 1e-3); // softness is by the load, 1e-4 of it
    }
}

// One that is never content is asked eight times, and unchanged systems have the same solution.
static void repeats_are_few_and_change_nothing_by_themselves(void **state)
{
    (void)state;
    for (int viscous = 0; viscous < 2; viscous++) {
        reviewer r = {.wants = 1000};
        mo_vec3 once = last_velocity(NULL, 10 * viscous), often = last_velocity(&r, 10 * viscous);
        assert_int_equal(r.asked, 8);
        assert_true(mo_norm(mo_sub(often, once)) < 1e-5); // m/s: tolerance of the solve
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeated_solve_takes_what_was_changed),
        cmocka_unit_test(repeats_are_few_and_change_nothing_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
