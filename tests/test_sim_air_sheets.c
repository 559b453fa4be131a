// Air and shells at rest through whole steps: flow along plates stays as it is, soot stays on its side, accounts hold.
#include "air_sheets.h"

// Wind along a plate that ends inside the room: nothing changes, at any angle.
static void test_wind_along_a_plate(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        static const double angles[4] = {0, 0.1963, 0.6, 1.1};
        sheet_room w;
        start(&w, mo_v3(1, 1, 1), 16);
        plate(&w, 0.5, angles[k], mo_v3(0.5, 0.5, 0.5));
        open_all(&w);
        w.r.air.wind = mo_v3(cos(angles[k]), sin(angles[k]), 0);
        mo_sim *sim = enter_sheet(&w);
        for (int i = 0; i < 8; i++) step(sim);
        double worst = worst_of(sim, w.r.air.wind, mo_v3(0, 1, 0), 1);
        printf("wind along a plate at %.2f rad: change of velocity %.2g\n", angles[k], worst);
        assert_true(worst < 2e-5);
        leave(&w, sim);
    }
}

// Hot soot swirls in a closed ball without thickness, round which wind blows: none of it comes out.
static void test_soot_stays_inside(void **state)
{
    (void)state;
    const mo_vec3 middle = mo_v3(0.51, 0.52, 0.5);
    sheet_room w;
    start(&w, mo_v3(1, 1, 1), 16);
    ball_sheet(&w, middle);
    open_all(&w);
    w.r.air.wind = mo_v3(1, 0.3, 0), w.r.smoke.shape = ball(0.1, mo_v3(0.55, 0.5, 0.5));
    w.r.smoke.temperature = 400;
    mo_sim *sim = enter_sheet(&w);
    const mo_grid *g = sim->grid;
    double speed = 0, first = mo_sim_air_sums(sim).soot;
    for (int i = 0; i < 40; i++) step(sim);
    uint8_t *mark = mo_alloc((size_t)mo_grid_rows(g));
    double x[3], sum = 0, most = 0;
    for (int a = 0; a < 3; a++) x[a] = (mo_get(middle, a) - mo_get(g->origin, a)) / g->dx;
    flood(g, mo_site_find(g, x), mark);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        double soot = sim->openings.volume[i] * sim->air.gas.soot[i];
        if (mark[i]) {
            sum += soot * mo_grid_cell_volume(g), most = fmax(most, sim->air.gas.soot[i]);
            if (i < mo_grid_cells(g)) speed = fmax(speed, fabs(sim->air.gas.u[1][i]));
        } else
            assert_true(soot == 0);
    }
    printf("soot in a ball: %.8g of %.8g kg, densest %.2g of the source's, up to %.2g m/s inside\n", sum, first,
           most / w.r.smoke.density, speed);
    assert_true(fabs(sum / first - 1) < 1e-5 && speed > 0.05 && most < 1.01 * w.r.smoke.density);
    mo_free(mark);
    leave(&w, sim);
}

// Opposite flows on the two sides of a plate that divides the room carry themselves: nothing comes through the plate.
static void test_opposite_flows(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const double angles[3] = {0.1963, 0.7, 1.2};
        const double angle = angles[k];
        sheet_room w;
        start(&w, mo_v3(1, 1, 1), 16);
        plate(&w, 1.8, angle, mo_v3(0.5, 0.5, 0.5));
        mo_sim *sim = enter_sheet(&w); // a closed room: all tiles exist
        mo_vec3 u = mo_v3(cos(angle), sin(angle), 0), n = mo_v3(-sin(angle), cos(angle), 0);
        const mo_grid *g = sim->grid;
        float *f[9];
        const float wind[3] = {0};
        assert_int_equal(mo_sim_floats(sim, sim->arena, 9, f, &err), MO_OK);
        for (int32_t i = 0; i < mo_grid_samples(g); i++)
            for (int a = 0; a < 3; a++) {
                double x[3];
                f[a][i] = 0;
                if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
                mo_sample_place(g, a, i, x);
                double side = mo_dot(mo_sub(mo_grid_world(g, x[0], x[1], x[2]), mo_v3(0.5, 0.5, 0.5)), n);
                f[a][i] = (float)((side > 0 ? 1 : -1) * mo_get(u, a));
            }
        mo_gas_flow flow = {.w = f, .wind = wind, .step = 1.4f};
        mo_gas_carry(g, &flow, f + 3, f + 6);
        double worst = 0;
        int32_t seen = 0;
        for (int32_t i = 0; i < mo_grid_samples(g); i++)
            for (int a = 0; a < 3; a++) {
                bool middle = true;
                double x[3];
                if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
                if (mo_sample_low(g, a, i) < 0 || mo_sample_high(g, a, i) < 0) continue;
                mo_sample_place(g, a, i, x);
                for (int b = 0; b < 3; b++) middle &= x[b] > 5 && x[b] < g->n[b] - 5;
                if (middle) worst = fmax(worst, fabs(f[6 + a][i] - f[a][i])), seen++;
            }
        printf("opposite flows at %.2f rad: change %.2g of %d samples\n", angle, worst, seen);
        assert_true(worst < 1e-5 && seen > 2000);
        leave(&w, sim);
    }
}

static void hot_room(sheet_room *w, int cells)
{
    start(w, mo_v3(1, 1, 1), cells);
    plate(w, 0.5, 0.3, mo_v3(0.5, 0.55, 0.5));
    w->r.smoke.shape = ball(0.15, mo_v3(0.5, 0.3, 0.5));
    w->r.smoke.temperature = 400, w->r.smoke.density = 0.01;
}

// A hot ball of smoke rises against a plate in a closed room.
static void test_accounts(void **state)
{
    (void)state;
    sheet_room w;
    hot_room(&w, 16);
    mo_sim *sim = enter_sheet(&w);
    double soot = 0, energy = 0;
    int iterations = 0;
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        soot = fmax(soot, fabs(s.smoke_error)), energy = fmax(energy, s.energy_error);
        iterations = s.iterations > iterations ? s.iterations : iterations;
    }
    printf("hot smoke under a plate: soot %.2g, energy %.2g, at most %d iterations\n", soot, energy, iterations);
    assert_true(soot < 1e-5 && energy < 0.01);
    leave(&w, sim);
}

// Even soot stays even while a vortex stirs it past a plate.
static void test_even_soot(void **state)
{
    (void)state;
    sheet_room w;
    start(&w, mo_v3(1, 1, 1), 16);
    plate(&w, 0.5, 0.3, mo_v3(0.5, 0.55, 0.5));
    w.r.def.gravity = mo_v3(0, 0, 0);
    w.r.smoke.shape = ball(3, mo_v3(0.5, 0.5, 0.5));
    mo_sim *sim = enter_sheet(&w);
    const mo_grid *g = sim->grid;
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 2; a++) {
            double x[3];
            if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
            mo_sample_place(g, a, i, x);
            mo_vec3 y = mo_grid_world(g, x[0], x[1], x[2]);
            sim->air.gas.u[a][i] = (float)(a ? -cos(M_PI * y.x) * sin(M_PI * y.y) : sin(M_PI * y.x) * cos(M_PI * y.y));
        }
    double least = 9, most = 0;
    for (int k = 0; k < 3; k++) step(sim); // until the flow is that round the plate
    for (int32_t i = 0; i < mo_grid_rows(g); i++) sim->air.gas.soot[i] = (float)w.r.smoke.density;
    for (int k = 0; k < 40; k++) {
        step(sim);
        for (int32_t i = 0; i < mo_grid_rows(g); i++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, i), c);
            if (!mo_levelset_in_domain(g, c) || sim->openings.volume[i] <= 0) continue;
            double soot = sim->air.gas.soot[i] / w.r.smoke.density;
            least = fmin(least, soot), most = fmax(most, soot);
        }
    }
    printf("even soot past a plate: %.6f to %.6f\n", least, most);
    assert_true(least > 0.9999 && most < 1.0001);
    leave(&w, sim);
}

// Two jets along the two sides of a plate that goes on beyond the open walls of a room in the plane: nothing grows
// outside. (In margins of the domain, velocities once grew by 2.5 per step.)
static void test_plate_through_open_walls(void **state)
{
    (void)state;
    static const double line[2][2] = {{-0.7, 0}, {0.7, 0}};
    const double angle = M_PI / 16;
    const mo_vec3 along = mo_v3(cos(angle), sin(angle), 0), off = mo_v3(0.4, 0.4 * tan(angle) - 0.16, 0);
    sheet_room w;
    mo_smoke_def jet[2] = {mo_smoke_def_default(), mo_smoke_def_default()};
    start(&w, mo_v3(1, 1, 0), 64);
    assert_int_equal(mo_sheet_curve(2, line, 1.0 / 64, 1.0 / 64, &w.sheet, &err), MO_OK);
    mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), angle);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.5, 0));
    open_all(&w);
    w.r.def.gravity = mo_v3(0, 0, 0), w.r.def.time.cfl = 1;
    for (int k = 0; k < 2; k++) {
        mo_shape *box = mo_shape_box(mo_v3(0.08, 0.25, 1));
        jet[k].shape = mo_shape_move(box, mo_mad(mo_v3(0.5, 0.5, 0), k ? 1 : -1, off));
        jet[k].velocity = mo_mul(k ? -1 : 1, along), jet[k].moves = true, jet[k].seconds = 60;
        mo_shape_release(box);
    }
    w.r.def.smokes = jet, w.r.def.smoke_count = 2;
    mo_sim *sim = enter_sheet(&w);
    double fastest = 0;
    for (int i = 0; i < 60; i++) fastest = fmax(fastest, step(sim).max_speed);
    printf("jets of 1 m/s along a plate through open walls: fastest %.3g m/s\n", fastest);
    assert_true(fastest < 3);
    for (int k = 0; k < 2; k++) mo_shape_release((mo_shape *)jet[k].shape);
    leave(&w, sim);
}

static void test_threads_and_resume(void **state)
{
    (void)state;
    sheet_room a, b;
    hot_room(&a, 16), hot_room(&b, 16);
    b.r.def.threads = 2;
    mo_sim *one = enter_sheet(&a), *two = enter_sheet(&b);
    two = compare_parts(one, two, enter_sheet_again, &b);
    mo_sim_destroy(two);
    leave(&a, one);
    mo_sheet_destroy(&b.sheet), mo_shape_release((mo_shape *)b.r.smoke.shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wind_along_a_plate), cmocka_unit_test(test_opposite_flows),
        cmocka_unit_test(test_soot_stays_inside),  cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_even_soot),          cmocka_unit_test(test_plate_through_open_walls),
        cmocka_unit_test(test_threads_and_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
