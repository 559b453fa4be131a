// Verified steps: what the difference is measured to be, that a wrong solution shows, that the run stays the same to
// the last bit, and that every failing allocation is reported.
#include "sim_test.h"
#include "sim/sim.h"
#include "ration.h"

// ---- A system by hand: one cell between two faces ----

typedef struct tiny {
    mo_sim sim;
    mo_step_context step;
    mo_grid grid;
    mo_system *s;
} tiny;

static const double dx = 0.5, dt = 0.1, density = 1000;

// u* = (2, -1) squeezes the cell: u = 1/2 on both faces, and p stops 3/2 of the speed: density dx/dt 3/2.
static void tiny_start(tiny *t)
{
    memset(t, 0, sizeof *t);
    t->grid.dx = dx;
    t->sim.grid = &t->grid, t->sim.density = density;
    t->sim.def = mo_sim_def_default();
    mo_system *s = t->s = &t->step.assemble.liquid.system;
    s->dt = dt;
    assert_int_equal(mo_faces_create(2, &s->faces), MO_OK);
    s->faces.mass[0] = s->faces.mass[1] = density;
    s->faces.velocity[0] = 2, s->faces.velocity[1] = -1;
    mo_block *p = s->block[MO_BLOCK_PRESSURE] = mo_calloc(sizeof *p);
    p->rows = 1, p->x = mo_calloc(sizeof(double)), p->coord = mo_calloc(sizeof *p->coord);
    assert_int_equal(mo_csr_create(1, 2, 2, &p->on[MO_FACES]), MO_OK);
    p->on[MO_FACES].row[1] = 2;
    p->on[MO_FACES].col[0] = 0, p->on[MO_FACES].val[0] = 1 / dx;
    p->on[MO_FACES].col[1] = 1, p->on[MO_FACES].val[1] = -1 / dx;
}

// The step's own solve, then wrong by so much, then verified.
static mo_verify_stats verify_wrong(double velocity, double pressure)
{
    tiny t;
    tiny_start(&t);
    mo_verification *v = NULL;
    mo_system_info info;
    assert_int_equal(mo_verify_begin(&t.step, &v, NULL), MO_OK);
    assert_int_equal(mo_system_solve(t.s, &t.sim.def.solver, &info, NULL), MO_OK);
    double *u = t.s->faces.velocity, *p = t.s->block[MO_BLOCK_PRESSURE]->x;
    assert_true(fabs(u[0] - 0.5) < 1e-9 && fabs(u[1] - 0.5) < 1e-9);
    assert_true(fabs(*p - 1.5 * density * dx / dt) < 1e-6 * *p);
    u[1] += velocity, *p += pressure;
    double kept[3] = {u[0], u[1], *p};
    assert_int_equal(mo_verify_end(&t.sim, &t.step, v, NULL), MO_OK);
    assert_true(u[0] == kept[0] && u[1] == kept[1] && *p == kept[2]); // the system is left as it was
    mo_verify_destroy(v);
    mo_system_destroy(t.s);
    return t.sim.stats.verify;
}

static void differences_are_measured(void **state)
{
    (void)state;
    mo_verify_stats right = verify_wrong(0, 0), fast = verify_wrong(3e-4, 0), high = verify_wrong(0, 50);
    assert_true(right.done && right.reason == MO_REASON_CONVERGED && right.velocity < 1e-9 && right.pressure < 1e-9);
    assert_true(fabs(fast.velocity - 3e-4 / 2) < 1e-9 && fast.pressure < 1e-9);
    assert_true(high.velocity < 1e-9 && fabs(high.pressure - 50 / (2 * density * dx / dt)) < 1e-9);
}

// ---- Whole steps ----

// Two yielding boxes of liquid, a floating ball and a box that rests on a floor and rubs on it.
static void scene_mixed(scene *s, bool verify)
{
    scene_start(s, 12, 0.75);
    s->def.solver.verify = verify, s->def.solver.rounds = 3;
    s->def.time.max_step = 0.01;
    scene_liquid(s, box_between(-1, -1, -1, 0.5, 0.5, 2))->rheology = (mo_rheology){20, 0.5, 5, 0.1};
    mo_solid_def *ball = scene_solid(s, "ball", ball_at(0.3, 0.45, 0.4, 0.12), NULL);
    ball->rigid = true, ball->density = 200;
    mo_solid_def *box = scene_solid(s, "box", box_between(0.6, -0.01, 0.3, 0.85, 0.2, 0.5), NULL);
    box->rigid = true, box->density = 700, box->velocity = mo_v3(-0.4, 0, 0.1);
}

static block state_after(void (*make)(scene *, bool), bool verify, int32_t steps, mo_stats *last)
{
    scene s;
    make(&s, verify);
    mo_sim *sim = scene_create(&s);
    for (int32_t k = 0; k < steps; k++) {
        *last = sim_step(sim);
        assert_int_equal(last->verify.done, verify);
        if (!verify) continue;
        assert_true(last->verify.velocity > 0 && last->verify.velocity <= 10 * s.def.solver.tolerance);
        assert_true(last->verify.iterations > 0 && last->verify.seconds > 0);
    }
    block b = sim_save(sim);
    mo_sim_destroy(sim);
    scene_end(&s);
    return b;
}

static void make_busy(scene *s, bool verify)
{
    scene_busy(s, 1);
    s->def.solver.verify = verify;
}

static void runs_stay_the_same(void **state)
{
    (void)state;
    void (*const make[])(scene *, bool) = {make_busy, scene_mixed};
    for (int k = 0; k < 2; k++) {
        mo_stats a, b;
        block plain = state_after(make[k], false, 4, &a), verified = state_after(make[k], true, 4, &b);
        assert_same_blocks(&plain, &verified);
        assert_true(a.iterations == b.iterations && a.residual == b.residual && a.max_divergence == b.max_divergence);
        assert_true(k == 0 || (b.contacts > 0 && b.rounds > 1));
        block_free(&plain), block_free(&verified);
    }
}

// ---- Allocation failure at every call ----

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    ration r = {.for_good = true};
    mo_set_allocator(rationed, &r);
    int64_t before = mo_memory_in_use();
    for (int64_t calls = 0;; calls++) {
        tiny t;
        r.fail_at = 0;
        tiny_start(&t);
        mo_verification *v = NULL;
        r.calls = 0, r.fail_at = calls + 1;
        mo_status status = mo_verify_begin(&t.step, &v, NULL);
        if (status == MO_OK) status = mo_verify_end(&t.sim, &t.step, v, NULL);
        mo_verify_destroy(v);
        mo_system_destroy(t.s);
        assert_int_equal(mo_memory_in_use(), before);
        if (status == MO_OK) {
            assert_true(calls > 5);
            break;
        }
        assert_int_equal(status, MO_ERROR_MEMORY);
    }
    mo_set_allocator(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_measured),
        cmocka_unit_test(runs_stay_the_same),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
