// Air and smoke: rest, a vortex, buoyancy, accounts, the same bits for threads and after loading, what is refused.
#include "air_test.h"
#include "../validate/air.h"
#include <string.h>

// Sets the velocity of every face of the domain.
static void set_velocity(mo_sim *sim, mo_vec3 (*u)(mo_vec3 x))
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++)
        for (int a = 0; a < 3; a++) sim->air.gas.u[a][i] = (float)mo_get(u(mo_grid_face(sim->grid, i, a)), a);
}

static void nothing_moves_by_itself(void **state)
{
    (void)state;
    room r = make_room((mo_vec3){1, 1, 1}, 12);
    mo_sim *sim = enter(&r);
    for (int k = 0; k < 3; k++) {
        mo_stats s = step(sim);
        assert_true(s.max_speed == 0 && s.energy_error == 0 && s.volume_error == 0);
    }
    mo_sim_destroy(sim);
}

// The wind blows through open walls for ever.
static mo_vec3 windy(mo_vec3 x)
{
    (void)x;
    return mo_v3(1.5, -0.25, 0.5);
}

static void keeps_wind(room r)
{
    r.smoke.shape = ball(0.2, mo_v3(0.5, 0.5, 0.5));
    r.smoke.density = 0; // it only asks for tiles
    mo_sim *sim = enter(&r);
    for (int k = 0; k < 5; k++) step(sim);
    double most = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
        int32_t c[3];
        mo_grid_cell(sim->grid, i, c);
        for (int a = 0; a < 3 && mo_levelset_in_domain(sim->grid, c); a++)
            most = fmax(most, fabs(sim->air.gas.u[a][i] - mo_get(r.air.wind, a)));
    }
    assert_true(most < 1e-5);
    mo_sim_destroy(sim);
    mo_shape_release(r.smoke.shape);
}

static void wind_stays(void **state)
{
    (void)state;
    room r = make_room((mo_vec3){1, 1, 1}, 16);
    for (int w = 0; w < 6; w++) r.def.domain.walls[w] = MO_WALL_OPEN;
    r.air.wind = windy((mo_vec3){0});
    keeps_wind(r);
    // A duct of which there are not all tiles: none of its ends is a wall.
    room duct = make_room((mo_vec3){1, 4, 1}, 128);
    duct.def.domain.walls[MO_YMIN] = duct.def.domain.walls[MO_YMAX] = MO_WALL_OPEN;
    duct.air.wind = mo_v3(0, -0.8, 0);
    duct.smoke.density = 0;
    keeps_wind(duct);
}

static void vortex_lasts(void **state)
{
    (void)state;
    double coarse = air_vortex_error(16, 0, 1), fine = air_vortex_error(32, 0, 1), finest = air_vortex_error(64, 0, 1);
    printf("vortex: %.5f %.5f %.5f, order %.2f %.2f\n", coarse, fine, finest, log2(coarse / fine), log2(fine / finest));
    assert_true(log2(fine / finest) >= 1.8 && finest < 0.004);
    double paper[2] = {air_vortex_error(16, MO_ADVECTION_PAPER, 1), air_vortex_error(32, MO_ADVECTION_PAPER, 1)};
    printf("of first order: %.5f %.5f, order %.2f\n", paper[0], paper[1], log2(paper[0] / paper[1]));
    assert_true(paper[1] > 4 * fine && log2(paper[0] / paper[1]) > 0.7);
}

static void buoyant_ball(void **state)
{
    (void)state;
    double disc = air_first_rise(true, 96, 0.08, 1), sphere = air_first_rise(false, 48, 0.12, 1);
    printf("rise: %.4f (1/2), %.4f (2/3)\n", disc, sphere);
    assert_true(fabs(disc - 0.5 * (1 - 0.16 * 0.16)) < 0.01); // the walls hold it back by about (r/R)^2
    assert_true(fabs(sphere - 2.0 / 3) < 0.02);
}

// A wall of wind brings it into a duct that starts at rest.
static mo_vec3 still(mo_vec3 x) { return mo_v3(0 * x.x, 0, 0); }

static void wall_of_wind(void **state)
{
    (void)state;
    room r = make_room((mo_vec3){2, 1, 0}, 32);
    r.def.domain.walls[MO_XMIN] = MO_WALL_WIND, r.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
    r.air.wind = mo_v3(0.7, 0, 0), r.air.margin = 40;
    r.smoke.shape = ball(0.2, mo_v3(1, 0.5, 0)), r.smoke.density = 0;
    mo_sim *sim = enter(&r);
    set_velocity(sim, still);
    double most = 0;
    for (int k = 0; k < 3; k++) step(sim);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
        int32_t c[3];
        mo_grid_cell(sim->grid, i, c);
        if (mo_levelset_in_domain(sim->grid, c)) most = fmax(most, fabs(sim->air.gas.u[0][i] - 0.7));
    }
    printf("wall of wind: %.2e m/s off\n", most);
    assert_true(most < 1e-5);
    mo_sim_destroy(sim);
    mo_shape_release(r.smoke.shape);
}

// Wind past a disc 1.7 cells wide: the solve gives the air no energy that the wind did not bring, and the air is about
// as fast as potential flow, twice the wind and a tenth more between walls five diameters apart.
static void wind_past_a_disc(void **state)
{
    (void)state;
    room r = make_room((mo_vec3){2, 0.5, 0}, 40);
    r.def.domain.walls[MO_XMIN] = MO_WALL_WIND, r.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
    r.def.time.cfl = 1, r.def.gravity = mo_v3(0, 0, 0);
    r.air.wind = mo_v3(1, 0, 0), r.air.margin = 64;
    r.solid[0] = mo_solid_def_default();
    r.solid[0].name = "disc", r.solid[0].shape = ball(0.05, mo_v3(0.4, 0.255, 0));
    r.def.solid_count = 1;
    mo_sim *sim = enter(&r);
    double error = 0, speed = 0;
    for (int k = 0; k < 40; k++) {
        mo_stats s = step(sim);
        error = fmax(error, s.energy_error), speed = fmax(speed, s.max_speed);
    }
    printf("wind past a disc: energy %.1e above its account, %.2f of the wind's speed\n", error, speed);
    assert_true(error < 1e-4 && speed > 1.8 && speed < 2.5);
    mo_sim_destroy(sim);
    mo_shape_release(r.solid[0].shape);
}

// Vorticity confinement drives a vortex on.
static void swirls_get_livelier(void **state)
{
    (void)state;
    double kinetic[2];
    for (int k = 0; k < 2; k++) {
        room r = make_room((mo_vec3){1, 1, 0}, 24);
        r.air.vorticity = 0.5 * k;
        mo_sim *sim = enter(&r);
        set_velocity(sim, air_vortex);
        for (int s = 0; s < 5; s++) assert_true(step(sim).energy_error < 0.01);
        kinetic[k] = sim->stats.kinetic_energy;
        mo_sim_destroy(sim);
    }
    printf("confinement: energy %.5f times\n", kinetic[1] / kinetic[0]);
    assert_true(kinetic[1] > 1.001 * kinetic[0] && kinetic[1] < 1.5 * kinetic[0]);
}

static room make_plume(bool open)
{
    room r = make_room((mo_vec3){0.5, 1, 0.5}, 32);
    if (open) r.def.domain.walls[MO_YMAX] = r.def.domain.walls[MO_XMIN] = MO_WALL_OPEN;
    r.smoke.shape = ball(0.08, mo_v3(0.25, 0.15, 0.25));
    r.smoke.temperature = 400, r.smoke.seconds = 1e9;
    return r;
}

static void accounts(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        room r = make_plume(open);
        mo_sim *sim = enter(&r);
        double error = 0, energy = 0;
        mo_stats s = {0};
        for (int k = 0; k < 60; k++) {
            s = step(sim);
            error = fmax(error, fabs(s.smoke_error)), energy = fmax(energy, s.energy_error);
            assert_true(s.reason != MO_REASON_STALLED && s.smoke >= 0);
        }
        printf("plume: soot %.3g kg, error %.2e, energy %.2e, speed %.2f, tiles %d\n", s.smoke, error, energy,
               s.max_speed, (int)s.tiles);
        assert_true(s.smoke > 0 && error < 1e-6);
        assert_true(energy < 0.01);
        mo_sim_destroy(sim);
        mo_shape_release(r.smoke.shape);
    }
}

static void same_bits(void **state)
{
    (void)state;
    room r = make_plume(true), two = r;
    r.solid[0] = mo_solid_def_default();
    r.solid[0].name = "ball", r.solid[0].shape = ball(0.1, mo_v3(0.25, 0.5, 0.25));
    r.def.solid_count = 1;
    two = r, two.def.threads = 2;
    mo_sim *a = enter(&r), *b = enter(&two), *c = enter(&r);
    for (int k = 0; k < 6; k++) step(a), step(b);
    same_fields(a, b);
    void *data;
    size_t bytes;
    assert_int_equal(mo_sim_save(a, &data, &bytes, NULL), MO_OK);
    assert_int_equal(mo_sim_load(c, data, bytes, NULL), MO_OK);
    mo_free_block(data);
    for (int k = 0; k < 6; k++) step(a), step(c);
    same_fields(a, c);
    mo_sim_destroy(a), mo_sim_destroy(b), mo_sim_destroy(c);
    mo_shape_release(r.smoke.shape), mo_shape_release(r.solid[0].shape);
}

static void refuse(room *r, const char *text)
{
    mo_sim *sim;
    mo_error err = {0};
    assert_int_equal(mo_sim_create(&r->def, &sim, &err), MO_ERROR_INPUT);
    if (!strstr(err.text, text)) fail_msg("'%s' lacks '%s'", err.text, text);
}

static void mistakes(void **state)
{
    (void)state;
    const mo_shape *shape = ball(0.1, mo_v3(0.5, 0.5, 0.5));
    room r = make_room((mo_vec3){1, 1, 1}, 8);
    r.smoke.shape = shape;
    r.def.smokes = &r.smoke, r.def.smoke_count = 1;
    refuse(&r, "smoke needs air");
    r.def.air = &r.air;
    r.air.density = 0;
    refuse(&r, "air: density and temperature must be finite and > 0");
    r.air = mo_air_def_default(), r.air.margin = 2;
    refuse(&r, "air: margin must be 4..64 cells, got 2");
    r.air = mo_air_def_default(), r.air.vorticity = -1;
    refuse(&r, "air: vorticity must be finite and >= 0, got -1");
    r.air = mo_air_def_default(), r.def.domain.walls[MO_XMIN] = MO_WALL_WIND;
    refuse(&r, "domain: walls of wind need an open wall");
    r.def.domain.walls[MO_XMIN] = MO_WALL_SLIP, r.smoke.density = -1;
    refuse(&r, "smoke 1: density and temperature must be finite and >= 0");
    r.smoke.density = 1, r.smoke.shape = NULL;
    refuse(&r, "smoke 1: no shape");
    r.smoke.shape = shape;
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = shape;
    r.def.liquids = &liquid, r.def.liquid_count = 1;
    refuse(&r, "air and liquid exclude each other");
    mo_shape_release(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_moves_by_itself),
        cmocka_unit_test(wind_stays),
        cmocka_unit_test(vortex_lasts),
        cmocka_unit_test(buoyant_ball),
        cmocka_unit_test(wall_of_wind),
        cmocka_unit_test(wind_past_a_disc),
        cmocka_unit_test(swirls_get_livelier),
        cmocka_unit_test(accounts),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
