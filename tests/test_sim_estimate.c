// What a run needs, told before it starts: memory within a factor of 1.5 of what it then takes, from coarser copies.
#include "sim_test.h"

static mo_motion_fn no_motion = NULL;

typedef void (*make_fn)(scene *s);

static void pool(scene *s) { scene_liquid(s, box_between(-1, -1, -1, 0.6, 0.6, 2)); }

static void honey(scene *s)
{
    scene_liquid(s, box_between(-1, -1, -1, 2, 0.4, 2))->viscosity = 50;
    mo_solid_def *ball = scene_solid(s, "ball", ball_at(0.5, 0.6, 0.5, 0.15), no_motion);
    ball->rigid = true;
}

static void bodies(scene *s)
{
    scene_liquid(s, box_between(-1, -1, -1, 2, 0.5, 2));
    for (int i = 0; i < 3; i++) {
        mo_solid_def *box = scene_solid(s, "box", ball_at(0.2 + 0.3 * i, 0.55, 0.4, 0.12), no_motion);
        box->rigid = true, box->density = 500;
    }
}

static void tap(scene *s) // fills a quarter of the domain
{
    mo_emitter_def *e = scene_emitter(s, box_between(0.35, 0.7, 0.35, 0.65, 0.8, 0.65), mo_v3(0, -2, 0));
    e->seconds = 1.4;
    s->def.time.seconds = 1.5;
}

// Steps until the end, or so many.
static double memory_of_run(const scene *s, int32_t steps)
{
    int64_t before = mo_memory_in_use();
    mo_memory_reset_peak();
    mo_sim *sim = scene_create(s);
    for (int32_t k = 0; k < steps && !mo_sim_done(sim); k++) sim_step(sim);
    double used = (double)(mo_memory_peak() - before);
    mo_sim_destroy(sim);
    return used;
}

static void memory_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        make_fn make;
        int32_t cells, steps;
        double seconds; // for measuring: too few for the scene's own cells
    } cases[] = {{"pool", pool, 40, 3, 0.3},
                 {"honey", honey, 32, 3, 0.5},
                 {"bodies", bodies, 36, 3, 0.3},
                 {"tap", tap, 24, 10000, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s;
        mo_needs needs;
        mo_error err = {0};
        scene_start(&s, cases[i].cells, 1);
        cases[i].make(&s);
        int64_t before = mo_memory_in_use();
        assert_int_equal(mo_sim_needs(&s.def, cases[i].seconds, &needs, &err), MO_OK);
        assert_int_equal(mo_memory_in_use(), before);
        double told = (double)(needs.bytes - before), used = memory_of_run(&s, cases[i].steps);
        print_message("%-6s told %.1f MB from %d cells, used %.1f MB with %d: %.2f; %lld particles at most, "
                      "%.2g s per frame\n",
                      cases[i].name, 1e-6 * told, needs.measured_cells, 1e-6 * used, cases[i].cells, told / used,
                      (long long)needs.most_particles, needs.frame_seconds);
        assert_true(told > used / 1.5 && told < used * 1.5);
        assert_true(needs.frame_seconds > 0 && needs.measured_steps >= 2);
        scene_end(&s);
    }
}

// The largest grids take seconds: particles are counted by samples, within a hundredth.
static void largest_grids(void **state)
{
    (void)state;
    scene s;
    mo_needs needs;
    mo_error err = {0};
    scene_start(&s, 1200, 1);
    scene_liquid(&s, ball_at(0.5, 0.5, 0.5, 0.4));
    double start = mo_cpu_seconds(), exact = 4.0 / 3 * 3.14159265 * 0.064 * 1200.0 * 1200 * 1200 * 8;
    assert_int_equal(mo_sim_needs(&s.def, 0, &needs, &err), MO_OK);
    assert_true(needs.sampled && fabs((double)needs.particles - exact) < 0.01 * exact);
    print_message("1200 cells: %.3g particles, %.2f s\n", (double)needs.particles, mo_cpu_seconds() - start);
    assert_true(mo_cpu_seconds() - start < 5);
    s.def.domain.cells = 1300;
    assert_int_equal(mo_sim_needs(&s.def, 0, &needs, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "2^31"));
    scene_end(&s);
}

// A scene whose coarse copies cannot be made is told by the rule of thumb, and why.
static void copies_may_fail(void **state)
{
    (void)state;
    scene s;
    mo_needs needs;
    scene_start(&s, 64, 1);
    scene_liquid(&s, ball_at(0.503, 0.503, 0.503, 0.016)); // no seed of a coarse copy is in it
    assert_int_equal(mo_sim_needs(&s.def, 1e-3, &needs, NULL), MO_OK);
    if (needs.measured_cells == 0) assert_non_null(strstr(needs.why.text, "liquid 1"));
    assert_true(needs.bytes > 0 && needs.particles > 0);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_told),
        cmocka_unit_test(largest_grids),
        cmocka_unit_test(copies_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
