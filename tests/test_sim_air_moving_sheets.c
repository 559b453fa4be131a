// Air and shells that move, by a script or as rigid bodies: common motion changes nothing, soot stays on its side,
// accounts hold, plates drag the air beside them along.
#include "air_sheets.h"

// A plate moves with the wind, in any direction: nothing changes.
static void test_common_motion(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        static const double angles[4] = {0, 0.1963, 0.6, 1.1};
        sheet_room w;
        course c = {.velocity = {1, 0.4, 0.2}, .centre = {0.35, 0.4, 0.45}};
        start(&w, mo_v3(1, 1, 1), 16);
        plate(&w, 0.4, angles[k], mo_v3(0, 0, 0));
        open_all(&w);
        w.shell.motion = follow, w.shell.user = &c;
        w.r.air.wind = c.velocity;
        mo_sim *sim = enter_sheet(&w);
        for (int i = 0; i < 12; i++) step(sim);
        double worst = worst_of(sim, w.r.air.wind, mo_v3(0, 1, 0), 1);
        printf("plate at %.2f rad in a wind of its own velocity: change of velocity %.2g\n", angles[k], worst);
        assert_true(worst < 2e-5);
        leave(&w, sim);
    }
}

// A closed ball without thickness swings and turns with hot soot in it: none comes out, none is lost.
static void test_ball_carries_soot(void **state)
{
    (void)state;
    sheet_room w;
    course c = {.velocity = {1.2, 0.5, 0.3}, .spin = {0, 0, 2}, .centre = {0.51, 0.52, 0.5}, .swing = 6};
    start(&w, mo_v3(1, 1, 1), 16);
    ball_sheet(&w, mo_v3(0, 0, 0));
    w.shell.motion = follow, w.shell.user = &c;
    w.r.smoke.shape = ball(0.1, mo_v3(0.55, 0.5, 0.5)), w.r.smoke.temperature = 400;
    mo_sim *sim = enter_sheet(&w);
    double first = mo_sim_air_sums(sim).soot, energy = 0, most = 0, least = 1, fastest = 0;
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        energy = fmax(energy, s.energy_error), fastest = fmax(fastest, s.max_speed);
        soot_range(sim, w.r.smoke.density, &least, &most);
    }
    const mo_grid *g = sim->grid;
    uint8_t *mark = mo_alloc((size_t)mo_grid_rows(g));
    double x[3], sum = 0;
    mo_vec3 middle = sim->shells.shell[0].pose.position;
    for (int a = 0; a < 3; a++) x[a] = (mo_get(middle, a) - mo_get(g->origin, a)) / g->dx;
    flood(g, mo_site_find(g, x), mark);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        double soot = sim->openings.volume[i] * sim->air.gas.soot[i];
        if (mark[i])
            sum += soot * mo_grid_cell_volume(g);
        else
            assert_true(soot == 0);
    }
    printf(
        "soot in a ball that swings: %.8g of %.8g kg, densest %.3g of the source's, energy error %.2g, fastest %.2g\n",
        sum, first, most, energy, fastest);
    assert_true(fabs(sum / first - 1) < 1e-5 && most < 1.05 && energy < 0.01);
    mo_free(mark);
    leave(&w, sim);
}

// A plate swings and turns in a closed room of even soot: it stays even, and energy keeps its account.
static void test_paddle(void **state)
{
    (void)state;
    sheet_room w;
    course c = {.velocity = {0.3, 1, 0}, .spin = {0, 0, 3}, .centre = {0.5, 0.45, 0.5}, .swing = 4};
    start(&w, mo_v3(1, 1, 1), 16);
    plate(&w, 0.5, 0.3, mo_v3(0, 0, 0));
    w.shell.motion = follow, w.shell.user = &c;
    w.r.def.gravity = mo_v3(0, 0, 0);
    w.r.smoke.shape = ball(3, mo_v3(0.5, 0.5, 0.5));
    mo_sim *sim = enter_sheet(&w);
    double least = 1, most = 1, soot = 0, energy = 0, fastest = 0;
    int iterations = 0;
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        soot_range(sim, w.r.smoke.density, &least, &most);
        soot = fmax(soot, fabs(s.smoke_error)), energy = fmax(energy, s.energy_error);
        fastest = fmax(fastest, s.max_speed), iterations = s.iterations > iterations ? s.iterations : iterations;
    }
    printf("a paddle in even soot: %.4f to %.4f, account %.2g, energy error %.2g, fastest %.3g, %d iterations\n", least,
           most, soot, energy, fastest, iterations);
    assert_true(soot < 1e-5 && energy < 0.01 && least > 0.9 && most < 1.1);
    leave(&w, sim);
}

// A disk that is released falls with m g/(m + 8/3 rho a^3) at first; on its edge with g.
static void test_added_mass(void **state)
{
    (void)state;
    const double radius = 0.25;
    for (int edgewise = 0; edgewise < 2; edgewise++) {
        sheet_room w;
        start(&w, mo_v3(1, 1, 1), 28);
        assert_int_equal(mo_sheet_disk(radius, 1.0 / 28, &w.sheet, &err), MO_OK);
        if (edgewise) mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), 0.5 * M_PI);
        mo_sheet_move(&w.sheet, mo_v3(0.51, 0.49, 0.505));
        open_all(&w);
        w.shell.density = 0.3;
        mo_sim *sim = enter_sheet(&w);
        mo_stats s = step(sim);
        double mass = sim->shells.shell[0].body.mass, added = 8.0 / 3 * 1.2 * pow(radius, 3);
        double got = -sim->shells.shell[0].velocity.y / (9.81 * s.dt), dragged = mass / got - mass;
        printf("a disk of 7 cells falls %s: first acceleration %.4f g, added mass %.3f of 8/3 rho a^3\n",
               edgewise ? "edgewise" : "broadside", got, dragged / added);
        assert_true(fabs(dragged / added - !edgewise) < (edgewise ? 1e-6 : 0.05));
        leave(&w, sim);
    }
}

// A disk that moves along its own plane does not disturb the air; across it, it does.
static void test_edge_on(void **state)
{
    (void)state;
    double energy[2];
    for (int across = 0; across < 2; across++) {
        sheet_room w;
        course c = {.velocity = across ? mo_v3(0, 1, 0) : mo_v3(1, 0, 0), .centre = {0.4, 0.45, 0.5}};
        start(&w, mo_v3(1, 1, 1), 16);
        assert_int_equal(mo_sheet_disk(0.2, 1.0 / 16, &w.sheet, &err), MO_OK);
        mo_sheet_rotate(&w.sheet, mo_v3(1, 0, 0), 0.45);
        w.shell.motion = follow, w.shell.user = &c;
        w.r.def.gravity = mo_v3(0, 0, 0);
        mo_sim *sim = enter_sheet(&w);
        for (int i = 0; i < 10; i++) step(sim);
        energy[across] = mo_sim_air_sums(sim).kinetic;
        leave(&w, sim);
    }
    printf("a disk in still air: energy edge-on %.2g of that broadside\n", energy[0] / energy[1]);
    assert_true(energy[1] > 0 && energy[0] < 1e-6 * energy[1]);
}

// A rigid ball falls past a plate at rest: solids and shells in one room of air.
static void test_ball_and_plate(void **state)
{
    (void)state;
    sheet_room w;
    start(&w, mo_v3(1, 1, 1), 16);
    plate(&w, 0.5, 0.5, mo_v3(0.4, 0.3, 0.5));
    w.r.smoke.shape = ball(0.2, mo_v3(0.5, 0.45, 0.5));
    w.r.solid[0] = mo_solid_def_default();
    w.r.solid[0].rigid = true, w.r.solid[0].density = 20,
    w.r.solid[0].shape = (mo_shape *)ball(0.12, mo_v3(0.6, 0.8, 0.5));
    w.r.def.solid_count = 1;
    mo_sim *sim = enter_sheet(&w);
    double energy = 0, soot = 0, fastest = 0, first = mo_sim_air_sums(sim).soot;
    for (int i = 0; i < 25; i++) {
        mo_stats s = step(sim);
        energy = fmax(energy, s.energy_error), fastest = fmax(fastest, s.max_speed);
        soot = fmax(soot, fabs(s.smoke / first - 1));
    }
    printf("a ball falls past a plate: energy error %.2g, soot %.2g, fastest %.3g m/s\n", energy, soot, fastest);
    assert_true(energy < 0.01 && soot < 1e-4);
    mo_shape_release((mo_shape *)w.r.solid[0].shape);
    leave(&w, sim);
}

static void leaf_room(sheet_room *w, int cells, double angle)
{
    start(w, mo_v3(1, 1, 1), cells);
    assert_int_equal(mo_sheet_plate(0.4, 0.3, 1.0 / cells, &w->sheet, &err), MO_OK);
    mo_sheet_rotate(&w->sheet, mo_v3(0, 0, 1), angle);
    mo_sheet_move(&w->sheet, mo_v3(0.5, 0.75, 0.5));
    w->shell.density = 0.3;
}

// Plates fall in a closed room: energy keeps its account.
static void test_leaf(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const double angles[3] = {0, 0.4, 1.2};
        sheet_room w;
        leaf_room(&w, 16, angles[k]);
        mo_sim *sim = enter_sheet(&w);
        double energy = 0, fastest = 0, body = 0;
        int iterations = 0;
        for (int i = 0; i < 25; i++) {
            mo_stats s = step(sim);
            energy = fmax(energy, s.energy_error), fastest = fmax(fastest, s.max_speed);
            body = fmax(body, s.max_body_speed), iterations = s.iterations > iterations ? s.iterations : iterations;
        }
        mo_vec3 x = sim->shells.shell[0].pose.position;
        printf(
            "a leaf at %.1f rad: at (%.3f, %.3f, %.3f) after %.2f s, energy error %.2g, fastest %.3g, leaf %.3g m/s, "
            "%d iterations\n",
            angles[k], x.x, x.y, x.z, sim->time, energy, fastest, body, iterations);
        assert_true(energy < 0.01 && x.y < 0.7);
        leave(&w, sim);
    }
}

static void test_threads_and_resume(void **state)
{
    (void)state;
    sheet_room a, b;
    leaf_room(&a, 12, 0.4), leaf_room(&b, 12, 0.4);
    a.r.smoke.shape = ball(0.2, mo_v3(0.5, 0.5, 0.5)), b.r.smoke.shape = ball(0.2, mo_v3(0.5, 0.5, 0.5));
    b.r.def.threads = 2;
    mo_sim *one = enter_sheet(&a), *two = enter_sheet(&b);
    two = compare_parts(one, two, enter_sheet_again, &b);
    assert_memory_equal(&one->shells.shell[0].pose, &two->shells.shell[0].pose, sizeof(mo_pose));
    leave(&b, two), leave(&a, one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_motion),  cmocka_unit_test(test_ball_carries_soot),
        cmocka_unit_test(test_paddle),         cmocka_unit_test(test_added_mass),
        cmocka_unit_test(test_edge_on),        cmocka_unit_test(test_leaf),
        cmocka_unit_test(test_ball_and_plate), cmocka_unit_test(test_threads_and_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
