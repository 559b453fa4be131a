// Cloth that touches a ball under water: few iterations (form `draped`), and the solution of route paper.
#include "shell_world.h"
#include <math.h>

typedef struct tank {
    world w;
    mo_cloth_def cloth;
} tank;

// A square of heavy cloth that sinks onto a ball.
static mo_sim *start(tank *t, int32_t cells, bool verify)
{
    memset(t, 0, sizeof *t);
    world_start(&t->w, cells);
    t->w.def.shell_count = 0, t->w.def.time.fps = 50;
    t->cloth = mo_cloth_def_default();
    t->cloth.name = "cloth", t->cloth.sheet = &t->w.sheet, t->cloth.density = 20, t->cloth.damping = 5e-3;
    t->cloth.velocity = mo_v3(0, -0.4, 0);
    t->w.def.cloths = &t->cloth, t->w.def.cloth_count = 1, t->w.def.solver.verify = verify;
    assert_int_equal(mo_sheet_plate(0.6, 0.6, 1.0 / cells, &t->w.sheet, &err), MO_OK);
    mo_sheet_rotate(&t->w.sheet, mo_v3(0, 1, 0), 0.3), mo_sheet_move(&t->w.sheet, mo_v3(0.5, 0.46, 0.5));
    t->w.solid = mo_solid_def_default();
    t->w.solid.name = "ball", t->w.solid.shape = moved(mo_shape_sphere(0.2), mo_v3(0.5, 0.25, 0.5));
    t->w.def.solids = &t->w.solid, t->w.def.solid_count = 1;
    add_liquid(&t->w, moved(mo_shape_box(mo_v3(1, 0.6, 1)), mo_v3(0.5, 0.3, 0.5)));
    return world_create(&t->w);
}

// Every step is solved again by the papers' form, which bounds multipliers of one matrix and knows no springs.
static void the_solution_is_that_of_route_paper(void **state)
{
    (void)state;
    tank t;
    mo_sim *sim = start(&t, 8, true);
    double most = 0;
    int32_t contacts = 0;
    for (int i = 0; i < 4; i++) {
        mo_stats s = step(sim);
        most = fmax(most, s.verify.velocity), contacts = s.contacts > contacts ? s.contacts : contacts;
        assert_true(s.verify.done && s.fallbacks == 0);
    }
    print_message("velocities differ by %.1e from those of route paper, %d contacts\n", most, contacts);
    assert_true(most < 1e-4 && contacts >= 5);
    world_end(&t.w, sim);
}

// Rounds of Newton's method, each with a few steps of contact: so many iterations altogether for one solve of them.
static void iterations_are_few(void **state)
{
    (void)state;
    tank t;
    mo_sim *sim = start(&t, 16, false);
    double most = 0, energy = 0;
    for (int i = 0; i < 8; i++) {
        mo_stats s = step(sim);
        for (int32_t k = 0; k < s.set_count; k++) most = fmax(most, (double)s.sets[k].iterations / s.sets[k].solves);
        energy = fmax(energy, s.energy_error);
        assert_true(s.fallbacks == 0 && s.cloth.stopped == 0);
        if (s.contacts) assert_string_equal(s.sets[0].form, "draped");
    }
    print_message("%.1f iterations for a solve, energy error %.1e\n", most, energy);
    assert_true(most <= 25 && energy < 0.01);
    world_end(&t.w, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_solution_is_that_of_route_paper),
        cmocka_unit_test(iterations_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
