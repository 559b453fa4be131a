// Liquid without particles below a band: what it must not change, and what it must keep.
#include "sim_test.h"
#include "sim/sim.h"

static mo_sim *create_with(scene *s, int32_t band)
{
    s->def.particles_band = band;
    return scene_create(s);
}

// All liquid is in particles and in the account of deep cells, which lie away from solids and open walls.
static void assert_sound(const mo_sim *sim, const mo_stats *stats)
{
    const mo_particles *p = &sim->particles;
    const mo_band *b = &sim->band;
    double cell = pow(sim->grid->dx, 3), total = mo_particles_volume(p) + b->volume;
    assert_int_equal(stats->deep, b->cells);
    assert_int_equal(b->cells, mo_band_count(sim->grid, b->deep));
    assert_true(fabs(stats->deep_volume - b->volume * cell) <= 1e-12);
    assert_true(fabs(stats->volume_target - total * cell) <= 1e-9);
    double even[3];
    mo_band_even_moment(b, sim->grid, even);
    for (int a = 0; a < 3; a++) assert_true(fabs(b->moment[a] - even[a]) <= 0.1 * (double)b->cells);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
        if (!b->deep[i]) continue;
        assert_true(p->start[i] == p->start[i + 1]);
        assert_true(sim->level.phi[i] < 0 && sim->openings.volume[i] == 1);
    }
}

static void assert_refused(scene *s, const char *text)
{
    mo_sim *sim = NULL;
    mo_error err = {0};
    assert_int_equal(mo_sim_create(&s->def, &sim, &err), MO_ERROR_INPUT);
    if (!strstr(err.text, text)) print_error("%s\n", err.text);
    assert_non_null(strstr(err.text, text));
    assert_null(sim);
}

static void odd_values_are_refused(void **state)
{
    (void)state;
    static const int32_t odd[] = {-1, 1, 5};
    scene s;
    scene_start(&s, 16, 0);
    mo_liquid_def *l = scene_liquid(&s, box_between(-1, -1, -1, 2, 0.8, 1));
    for (int k = 0; k < 3; k++) {
        s.def.particles_band = odd[k];
        assert_refused(&s, "particles: band must be 0 (particles everywhere) or in 2..4, got");
    }
    s.def.particles_band = 3;
    l->rheology.consistency = 1;
    assert_refused(&s, "particles: band is for liquids of constant viscosity; that of liquid 1");
    l->rheology.consistency = 0;
    scene_emitter(&s, ball_at(0.5, 0.9, 0, 0.1), mo_v3(0, -1, 0))->viscosity = 2;
    assert_refused(&s, "particles: band is for liquids of one viscosity; that of emitter 1 is 2, of liquid 1 0");
    scene_end(&s);
}

// Water at rest rests, with and without viscosity.
static void rest_stays(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        scene s;
        scene_start(&s, 16, kind == 2 ? 0 : 0.7);
        scene_liquid(&s, box_between(-1, -1, -1, 2, 0.72, 2))->viscosity = kind == 1 ? 1 : 0;
        mo_sim *sim = create_with(&s, 3);
        int64_t deep = sim->band.cells;
        assert_true(deep > 0);
        for (int k = 0; k < 12; k++) {
            mo_stats stats = sim_step(sim);
            assert_sound(sim, &stats);
            assert_int_equal(stats.deep, deep);
            assert_true(stats.max_speed <= 1e-6);
            assert_true(fabs(stats.volume_error) <= 1e-4);
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

// Taking particles out at the start changes neither mass nor energy: the account has their volume and moment.
static void start_keeps_energy(void **state)
{
    (void)state;
    scene s;
    mo_liquid_sums sums[2];
    scene_start(&s, 16, 0.7);
    scene_liquid(&s, box_between(-1, -1, -1, 2, 0.72, 2));
    for (int banded = 0; banded < 2; banded++) {
        mo_sim *sim = create_with(&s, banded ? 3 : 0);
        sums[banded] = mo_sim_liquid_sums(sim);
        mo_sim_destroy(sim);
    }
    assert_true(fabs(sums[1].mass / sums[0].mass - 1) <= 1e-12);
    assert_true(fabs(sums[1].potential / sums[0].potential - 1) <= 1e-12);
    scene_end(&s);
}

// Three deep cells in a row, with half a cell more in the account than they have room for, and with none beside them.
static void even_moment_is_that_of_cells(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 16, 0);
    scene_liquid(&s, box_between(-1, -1, -1, 2, 0.72, 1));
    mo_sim *sim = create_with(&s, 3);
    mo_band *b = &sim->band;
    double moment[3];
    memset(b->deep, 0, (size_t)mo_grid_cells(sim->grid));
    for (int k = 0; k < 3; k++) b->deep[mo_grid_index(sim->grid, 8 + k, 6, MO_MARGIN)] = 1;
    b->cells = 3, b->volume = 3.5;
    mo_band_even_moment(b, sim->grid, moment);
    assert_true(fabs(moment[0] - 3.5 * 9.5) <= 1e-12 && fabs(moment[1] - 3.5 * 6.5) <= 1e-12);
    b->deep[mo_grid_index(sim->grid, 8, 7, MO_MARGIN)] = 1, b->cells = 4, b->volume = 4;
    mo_band_even_moment(b, sim->grid, moment);
    assert_true(fabs(moment[0] - (3 * 9.5 + 8.5)) <= 1e-12 && fabs(moment[1] - (3 * 6.5 + 7.5)) <= 1e-12);
    mo_sim_destroy(sim);
    scene_end(&s);
}

// A sloshing tank at the moment when its surface is level.
static mo_status swing_field(void *user, mo_vec3 x, mo_vec3 *v, mo_error *err)
{
    (void)user, (void)err;
    const double k = 3.14159265358979, depth = 0.6, u = 0.15 / cosh(k * depth); // the first mode at its fastest
    *v = mo_v3(u * sin(k * x.x) * cosh(k * x.y), -u * cos(k * x.x) * sinh(k * x.y), 0);
    return MO_OK;
}

// Half a period: the time between two changes of sign of the momentum. error: the largest energy_error.
static double sloshing_time(int32_t band, double *error)
{
    scene s;
    scene_start(&s, 32, 0);
    s.def.time.fps = 100, s.def.time.seconds = 2;
    scene_liquid(&s, box_between(-1, -1, -1, 2, 0.6, 1))->velocity_fn = swing_field;
    mo_sim *sim = create_with(&s, band);
    double before = 1, at = 0, first = 0;
    int changes = 0;
    *error = 0;
    while (changes < 2 && mo_sim_time(sim) < 2) {
        mo_stats stats = sim_step(sim);
        if (band) assert_sound(sim, &stats), assert_true(stats.deep > 100);
        *error = fmax(*error, stats.energy_error);
        double now = stats.momentum.x;
        if (now * before < 0) {
            at = stats.time - stats.dt * now / (now - before);
            if (changes++ == 0) first = at;
        }
        before = now;
    }
    mo_sim_destroy(sim);
    scene_end(&s);
    return at - first;
}

static void sloshing_keeps_its_period(void **state)
{
    (void)state;
    double error[2], all = sloshing_time(0, &error[0]), banded = sloshing_time(3, &error[1]);
    double exact = 3.14159265358979 / sqrt(9.81 * 3.14159265358979 * tanh(3.14159265358979 * 0.6)); // half a period
    print_message("half a period: %.5f s, with a band %.5f s, exact %.5f s; energy_error %.4f, %.4f\n", all, banded,
                  exact, error[0], error[1]);
    assert_true(fabs(banded / all - 1) <= 0.005);
    assert_true(fabs(banded / exact - 1) <= 0.01);
    assert_true(error[1] <= fmax(0.005, 1.5 * error[0]));
}

// Two vortices side by side below a level surface.
static mo_status vortex_field(void *user, mo_vec3 x, mo_vec3 *v, mo_error *err)
{
    (void)user, (void)err;
    const double kx = 2 * 3.14159265358979, ky = 3.14159265358979 / 0.8, u = 0.4;
    *v = mo_v3(u * sin(kx * x.x) * cos(ky * x.y), -u * kx / ky * cos(kx * x.x) * sin(ky * x.y), 0);
    return MO_OK;
}

// The grid keeps the energy of deep liquid as particles do.
static void vortices_last(void **state)
{
    (void)state;
    double kept[2];
    for (int banded = 0; banded < 2; banded++) {
        scene s;
        scene_start(&s, 32, 0);
        s.def.time.fps = 50, s.def.time.seconds = 2;
        scene_liquid(&s, box_between(-1, -1, -1, 2, 0.8, 1))->velocity_fn = vortex_field;
        mo_sim *sim = create_with(&s, banded ? 3 : 0);
        double first = sim_step(sim).kinetic_energy;
        for (int k = 0; k < 60; k++) {
            mo_stats stats = sim_step(sim);
            if (banded) assert_sound(sim, &stats);
            kept[banded] = stats.kinetic_energy / first;
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
    print_message("two vortices keep %.3f of their energy, with a band %.3f\n", kept[0], kept[1]);
    assert_true(fabs(kept[1] - kept[0]) <= 0.02);
}

// Front of a collapsing column, which is thin: particles tell it.
static double front_of(const mo_sim *sim)
{
    double most = 0;
    for (int32_t q = 0; q < sim->particles.count; q++) most = fmax(most, sim->particles.x[0][q]);
    return most - MO_MARGIN;
}

static void dam_break_agrees(void **state)
{
    (void)state;
    double front[2][8], largest = 0, energy[2] = {0};
    for (int banded = 0; banded < 2; banded++) {
        scene s;
        scene_start(&s, 24, 0.4);
        s.def.time.fps = 25;
        scene_liquid(&s, box_between(-1, -1, -1, 0.4, 0.8, 2));
        mo_sim *sim = create_with(&s, banded ? 3 : 0);
        double target = mo_sim_liquid_volume(sim);
        for (int k = 0; k < 8; k++) {
            mo_stats stats;
            for (int32_t frame = mo_sim_frame(sim); mo_sim_frame(sim) == frame;) {
                stats = sim_step(sim);
                if (banded) assert_sound(sim, &stats);
                if (banded) largest = fmax(largest, fabs(stats.volume_error));
                assert_true(fabs(mo_sim_liquid_volume(sim) / target - 1) <= 1e-6); // rounding of floats
            }
            if (banded) assert_true(stats.deep > 0);
            front[banded][k] = front_of(sim), energy[banded] = stats.energy - stats.energy_correction;
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
    for (int k = 0; k < 8; k++) assert_true(fabs(front[1][k] - front[0][k]) <= 0.7);
    print_message("front after 0.2 s: %.2f and %.2f cells; volume_error %.3f%%; energy %.1f and %.1f J\n", front[0][4],
                  front[1][4], 100 * largest, energy[0], energy[1]);
    assert_true(largest <= 0.01);
    assert_true(fabs(energy[1] / energy[0] - 1) <= 0.02);
}

// A scene in which bodies pass deep liquid.
static void scene_plunge(scene *s, int32_t threads)
{
    scene_start(s, 20, 0.7);
    s->def.time.fps = 25, s->def.threads = threads, s->def.particles_band = 2;
    scene_liquid(s, box_between(-1, -1, -1, 2, 0.7, 2));
    mo_solid_def *ball = scene_solid(s, "ball", ball_at(0.5, 0.85, 0.35, 0.1), NULL);
    ball->rigid = true, ball->density = 4000, ball->velocity = mo_v3(0, -2, 0);
}

static void solids_pass(void **state)
{
    (void)state;
    scene s;
    scene_plunge(&s, 1);
    mo_sim *sim = scene_create(&s);
    double target = mo_sim_liquid_volume(sim), lowest = 1;
    for (int k = 0; k < 14; k++) {
        mo_stats stats = sim_step(sim);
        assert_sound(sim, &stats);
        assert_true(fabs(mo_sim_liquid_volume(sim) / target - 1) <= 1e-6);
        assert_true(fabs(stats.volume_error) <= 0.02 && stats.energy_error <= 0.05);
        mo_vec3 centre = sim->solids[0].pose.position;
        lowest = fmin(lowest, centre.y);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
            int32_t c[3];
            if (!sim->band.deep[i]) continue;
            mo_grid_cell(sim->grid, i, c);
            mo_vec3 x = mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
            assert_true(mo_norm(mo_sub(x, centre)) - 0.1 >= 2 * sim->grid->dx);
        }
    }
    assert_true(lowest < 0.3); // it went through
    mo_sim_destroy(sim);
    scene_end(&s);
}

static void assert_same(const mo_sim *a, const mo_sim *b)
{
    block x = sim_save(a), y = sim_save(b);
    assert_int_equal(x.bytes, y.bytes);
    assert_memory_equal(x.data, y.data, x.bytes);
    mo_free_block(x.data), mo_free_block(y.data);
}

static void resume_and_threads_are_exact(void **state)
{
    (void)state;
    scene s, t;
    scene_plunge(&s, 1), scene_plunge(&t, 3);
    mo_sim *one = scene_create(&s), *three = scene_create(&t), *again = scene_create(&s);
    for (int k = 0; k < 4; k++) sim_step(one), sim_step(three);
    assert_true(one->band.cells > 0);
    assert_same(one, three);
    block saved = sim_save(one);
    mo_error err = {0};
    assert_int_equal(mo_sim_load(again, saved.data, saved.bytes, &err), MO_OK);
    assert_same(one, again);
    for (int k = 0; k < 3; k++) sim_step(one), sim_step(again), sim_step(three);
    assert_same(one, again);
    assert_same(one, three);
    scene other;
    scene_plunge(&other, 1);
    mo_sim *without = create_with(&other, 0);
    assert_int_equal(mo_sim_load(without, saved.data, saved.bytes, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "band 2, here 0"));
    mo_free_block(saved.data);
    mo_sim_destroy(one), mo_sim_destroy(three), mo_sim_destroy(again), mo_sim_destroy(without);
    scene_end(&s), scene_end(&t), scene_end(&other);
}

// A jet fills a tank until it has deep liquid; a tank without a wall runs empty until it has none.
static void filling_and_draining(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 24, 0);
    s.def.time.fps = 25, s.def.time.seconds = 5;
    scene_emitter(&s, box_between(0.3, 0.85, -1, 0.7, 0.95, 1), mo_v3(0, -1.5, 0));
    mo_sim *sim = create_with(&s, 2);
    mo_stats stats;
    assert_int_equal(sim->band.cells, 0);
    for (double last = 0; mo_sim_time(sim) < 1.1; last = stats.volume_target) {
        stats = sim_step(sim);
        assert_sound(sim, &stats);
        assert_true(stats.volume_target >= last * (1 - 1e-6));
        assert_true(fabs(stats.volume_error) <= 0.03);
    }
    assert_true(stats.deep > 50);
    double poured = stats.volume_target / sim->grid->dx,
           due = 0.4 * (0.1 + 1.5 * stats.time); // m^2, with the shape itself
    print_message("poured %.4f of %.4f m^2, %d cells are deep\n", poured, due, (int)stats.deep);
    assert_true(fabs(poured / due - 1) <= 0.03);
    mo_sim_destroy(sim);
    scene_end(&s);
    scene_start(&s, 24, 0);
    s.def.time.fps = 25, s.def.time.seconds = 5;
    s.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
    scene_liquid(&s, box_between(-1, -1, -1, 0.9, 0.6, 1));
    sim = create_with(&s, 2);
    assert_true(sim->band.cells > 50);
    double start = mo_sim_liquid_volume(sim), least = start;
    do {
        stats = sim_step(sim);
        assert_sound(sim, &stats);
        assert_true(mo_sim_liquid_volume(sim) <= least * (1 + 1e-6));
        least = mo_sim_liquid_volume(sim);
    } while (stats.deep && mo_sim_time(sim) < 3);
    print_message("drained: %.0f of %.0f cells left, %d deep\n", least, start, (int)stats.deep);
    assert_true(stats.deep == 0 && sim->band.volume == 0);
    assert_true(least < 0.4 * start);
    mo_sim_destroy(sim);
    scene_end(&s);
}

// A scene with everything, and other numbers of particles.
static void busy_scenes_keep_volume(void **state)
{
    (void)state;
    for (int32_t per_axis = 1; per_axis <= 3; per_axis += 2) {
        scene s;
        scene_busy(&s, 1);
        s.def.domain.cells = 20, s.def.particles_per_axis = per_axis;
        mo_shape_release(s.liquid[0].shape);
        s.liquid[0].shape = box_between(-1, -1, -1, 0.7, 0.8, 2);
        mo_sim *sim = create_with(&s, 2);
        assert_true(sim->band.cells > 500);
        for (int k = 0; k < 10; k++) {
            mo_stats stats = sim_step(sim);
            assert_sound(sim, &stats);
            assert_true(fabs(stats.volume_error) <= 0.01 && stats.energy_error <= 0.02);
            assert_true(fabs(sim->band.volume - (double)sim->band.cells) <= 0.1 * mo_sim_liquid_volume(sim));
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_values_are_refused),
        cmocka_unit_test(rest_stays),
        cmocka_unit_test(start_keeps_energy),
        cmocka_unit_test(even_moment_is_that_of_cells),
        cmocka_unit_test(sloshing_keeps_its_period),
        cmocka_unit_test(vortices_last),
        cmocka_unit_test(dam_break_agrees),
        cmocka_unit_test(solids_pass),
        cmocka_unit_test(resume_and_threads_are_exact),
        cmocka_unit_test(filling_and_draining),
        cmocka_unit_test(busy_scenes_keep_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
