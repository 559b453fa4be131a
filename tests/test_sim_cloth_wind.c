// Wind on cloth: its derivatives against differences; the speed at which cloth falls in it; its work.
#include "base/parallel.h"
#include "cloth_test.h"
#include "solid/cloth_wind.h"
#include "system/elastic_law.h"

typedef struct trial {
    mo_sheet sheet;
    mo_elastic_body body;
    mo_cloth_wind wind;
    double *v; // [unknowns]
    int32_t unknowns;
} trial;

static void start(trial *t)
{
    mo_cloth_material m = {0.2, 100, 1e-3, 0.3, 0};
    *t = (trial){0};
    assert_int_equal(mo_sheet_plate(0.4, 0.3, 0.1, &t->sheet, NULL), MO_OK);
    mo_sheet_rotate(&t->sheet, mo_v3(0.6, 0, 0.8), 0.7);
    for (int32_t k = 0; k < t->sheet.vertices; k++) t->sheet.position[k][1] += 0.05 * sin(20 * t->sheet.position[k][0]);
    assert_int_equal(mo_cloth_create(&t->sheet, &m, 0, NULL, &t->body, NULL), MO_OK);
    assert_int_equal(mo_cloth_wind_create(&t->body, mo_v3(3, 1, -2), &t->wind, NULL), MO_OK);
    t->unknowns = mo_elastic_unknowns(&t->body);
    t->v = malloc(sizeof(double) * (size_t)t->unknowns);
    for (int32_t i = 0; i < t->unknowns; i++) t->v[i] = 4 * mo_unit(mo_hash((uint32_t)i, 3, 8)) - 2;
    double *dry = malloc(sizeof(double) * (size_t)t->body.cloth->triangles);
    for (int32_t i = 0; i < t->body.cloth->triangles; i++) dry[i] = mo_unit(mo_hash((uint32_t)i, 4, 8));
    mo_cloth_wind_aim(&t->body, 1.2, dry, &t->wind);
    free(dry);
}

static void end(trial *t)
{
    mo_cloth_wind_destroy(&t->wind), mo_elastic_destroy(&t->body), mo_sheet_destroy(&t->sheet);
    free(t->v);
}

static void derivatives_are_those_of_differences(void **state)
{
    (void)state;
    trial t;
    mo_csr A;
    start(&t);
    size_t bytes = sizeof(double) * (size_t)t.unknowns;
    double *f = calloc(1, bytes), *low = malloc(bytes), *high = malloc(bytes), h = 1e-5, worst[2] = {0}, size[2] = {0};
    assert_int_equal(mo_elastic_pattern(&t.body, &A), MO_OK);
    mo_cloth_wind_add_force(&t.body, &t.wind, t.v, 1, f);
    mo_cloth_wind_add_stiffness(&t.body, &t.wind, t.v, 1, &A);
    for (int32_t i = 0; i < t.unknowns; i++) {
        double at = t.v[i];
        memset(low, 0, bytes), memset(high, 0, bytes);
        t.v[i] = at - h;
        double before = mo_cloth_wind_value(&t.body, &t.wind, t.v);
        mo_cloth_wind_add_force(&t.body, &t.wind, t.v, 1, low);
        t.v[i] = at + h;
        double after = mo_cloth_wind_value(&t.body, &t.wind, t.v);
        mo_cloth_wind_add_force(&t.body, &t.wind, t.v, 1, high);
        t.v[i] = at;
        worst[0] = fmax(worst[0], fabs(f[i] + (after - before) / (2 * h))), size[0] = fmax(size[0], fabs(f[i]));
        for (int32_t k = 0; k < t.unknowns; k++) {
            double own = mo_csr_entry(&A, k, i);
            worst[1] = fmax(worst[1], fabs(own + (high[k] - low[k]) / (2 * h))), size[1] = fmax(size[1], fabs(own));
        }
    }
    print_message("force %.1e of %.2g, stiffness %.1e of %.2g\n", worst[0], size[0], worst[1], size[1]);
    assert_true(worst[0] < 1e-7 * size[0] && worst[1] < 1e-5 * size[1] && size[0] > 0.01);
    mo_csr_destroy(&A);
    free(f), free(low), free(high);
    end(&t);
}

// Flat cloth falls in still air until 0.6 A v^2 carries it. Wind along it changes nothing.
static void cloth_falls_at_its_final_speed(void **state)
{
    (void)state;
    world w;
    world_start(&w, 8);
    mo_cloth_def *c = world_cloth(&w, "sheet", 0.4, 0.1);
    mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.9, 0.5));
    c->wind = mo_v3(1e-9, 0, 0), c->density = 0.05;
    w.s.def.time.fps = 200;
    mo_sim *sim = scene_create(&w.s);
    double error = 0, final = sqrt(0.05 * 9.81 / 0.6);
    mo_cloth_state s;
    for (int k = 0; k < 140; k++) error = fmax(error, sim_step(sim).energy_error);
    mo_sim_cloth(sim, 0, &s);
    print_message("falls at %.5f m/s, in theory %.5f; energy error %.2g\n", -s.velocity.y, final, error);
    assert_true(fabs(-s.velocity.y / final - 1) < 1e-4 && error < 1e-3);
    mo_sim_destroy(sim);
    world_end(&w);
}

// Cloth without weight that wind carries off: v' = 3 (w - v)^2, so v = w - 1/(3 t + 1/w) for density 0.2. Its energy is
// the wind's work less what the step loses.
static void wind_carries_cloth_off(void **state)
{
    (void)state;
    world w;
    world_start(&w, 8);
    mo_cloth_def *c = world_cloth(&w, "sheet", 0.4, 0.1);
    mo_sheet_rotate(&w.sheet[0], mo_v3(0, 0, 1), 0.5 * 3.14159265358979323846);
    mo_sheet_move(&w.sheet[0], mo_v3(0.2, 0.5, 0.5));
    c->wind = mo_v3(2, 0, 0), w.s.def.gravity = mo_v3(0, 0, 0);
    w.s.def.time.fps = 1000;
    mo_sim *sim = scene_create(&w.s);
    mo_stats now = {0};
    mo_cloth_state s;
    for (int k = 0; k < 200; k++) now = sim_step(sim);
    mo_sim_cloth(sim, 0, &s);
    double exact = 2 - 1 / (3 * now.time + 0.5);
    print_message("%.4f m/s, in theory %.4f; kinetic %.6g J, work %.6g J, loss %.3g J, error %.2g\n", s.velocity.x,
                  exact, s.kinetic, now.energy_work, now.energy_loss, now.energy_error);
    assert_true(fabs(s.velocity.x / exact - 1) < 5e-3 && now.energy_error < 1e-9);
    assert_true(fabs(s.kinetic - now.energy_work + now.energy_loss) < 1e-9 * now.energy_work && s.kinetic > 0.015);
    mo_sim_destroy(sim);
    world_end(&w);
}

// An upright sheet that stands in water up to its middle: wind reaches the upper half.
static void wind_reaches_what_is_dry(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    mo_cloth_def *c = world_cloth(&w, "sheet", 0.4, 0.05);
    mo_sheet_rotate(&w.sheet[0], mo_v3(0, 0, 1), 0.5 * 3.14159265358979323846);
    mo_sheet_move(&w.sheet[0], mo_v3(0.52, 0.4, 0.5));
    c->wind = mo_v3(2, 0, 0);
    scene_liquid(&w.s, box_between(0, 0, 0, 1, 0.4, 1));
    mo_sim *sim = scene_create(&w.s);
    sim_step(sim);
    double reached = 0;
    const mo_elastic *e = world_body(sim, 0);
    for (int32_t t = 0; t < e->body.cloth->triangles; t++) reached += e->wind.strength[t] / (0.6 * 0.16);
    print_message("wind reaches %.3f of a sheet that is half dry\n", reached);
    assert_true(fabs(reached - 0.5) < 0.03);
    mo_sim_destroy(sim);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(cloth_falls_at_its_final_speed),
        cmocka_unit_test(wind_carries_cloth_off),
        cmocka_unit_test(wind_reaches_what_is_dry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
