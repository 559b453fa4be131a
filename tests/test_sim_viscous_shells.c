// Viscous liquid and shells through whole steps: a cup holds honey, a bowl catches it, a plate is drawn through it, a
// disk sinks in it; slip and no-slip; the same bits for threads and after loading.
#include "shell_world.h"
#include <math.h>
#include <stdlib.h>

static void add_honey(world *w, mo_shape *shape, mo_vec3 at, double viscosity)
{
    add_liquid(w, moved(shape, at));
    w->liquid[w->def.liquid_count - 1].viscosity = viscosity;
}

static void cup_of_honey(world *w, int32_t cells)
{
    world_start(w, cells);
    assert_int_equal(mo_sheet_cup(0.3, 0.6, 1.0 / cells, &w->sheet, &err), MO_OK);
    mo_sheet_move(&w->sheet, mo_v3(0.5, 0.15, 0.5));
    add_honey(w, mo_shape_cylinder(0.3, 0.35), mo_v3(0.5, 0.325, 0.5), 10);
}

static double below(const mo_sim *sim, double y) // cells of liquid, y in m
{
    double sum = 0, at = (y - sim->grid->origin.y) / sim->grid->dx;
    for (int32_t q = 0; q < sim->particles.count; q++)
        if (sim->particles.x[1][q] < at) sum += sim->particles.volume[q];
    return sum;
}

static void a_cup_holds_honey(void **state)
{
    (void)state;
    world w;
    cup_of_honey(&w, 16);
    mo_sim *sim = world_create(&w);
    double fastest = 0, off = 0;
    for (int k = 0; k < 10; k++) {
        double cell = mo_grid_cell_volume(sim->grid); // the step presses before it corrects the surface
        double weight = 9.81 * 1000 * mo_levelset_volume(sim->grid, sim->level.phi, sim->openings.volume) * cell;
        fastest = fmax(fastest, step(sim).max_speed);
        off = fmax(off, fabs(-sim->shells.shell[0].force.y / weight - 1));
    }
    print_message("fastest %.2g m/s, force / weight - 1 %.2g\n", fastest, off);
    assert_true(fastest < 1e-5 && off < 1e-4);
    world_end(&w, sim);
}

// A ball of honey falls into a bowl and stays in it.
static void a_bowl_catches_honey(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    assert_int_equal(mo_sheet_hemisphere(0.3, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.5, 0.5));
    add_honey(&w, mo_shape_sphere(0.17), mo_v3(0.5, 0.6, 0.5), 20);
    mo_sim *sim = world_create(&w);
    mo_stats s = {0};
    double most = 0, fastest = 0;
    for (int k = 0; k < 30; k++) {
        s = step(sim);
        most = fmax(most, fabs(s.volume_error)), fastest = fmax(fastest, s.max_speed);
        assert_true(s.energy_error < 1e-3);
    }
    print_message("fastest %.2g m/s, %.2g m/s at the end; volume off by %.2g; below the bowl %.2g\n", fastest,
                  s.max_speed, most, below(sim, 0.199));
    assert_true(below(sim, 0.199) == 0 && most < 0.02);
    assert_true(fastest < 2.6 && s.max_speed < 0.1);
    world_end(&w, sim);
}

static mo_status draw(void *user, double t, mo_pose *pose, mo_error *e)
{
    (void)user, (void)e;
    *pose = mo_pose_identity();
    pose->position = mo_v3(0.35 + 0.5 * t, 0.3, 0.5);
    pose->rotation = mo_quat_axis_angle(mo_v3(0, 0, 1), 1.5707963267948966);
    return MO_OK;
}

static void deep_honey(world *w, int32_t cells, double viscosity)
{
    world_start(w, cells);
    w->def.time.fps = 100;
    add_honey(w, mo_shape_box(mo_v3(1, 0.6, 1)), mo_v3(0.5, 0.3, 0.5), viscosity);
}

// A plate drawn through honey: its force grows with the viscosity, and does the work that energy and heat take.
static void a_plate_is_drawn_through_honey(void **state)
{
    (void)state;
    double force[2];
    for (int k = 0; k < 2; k++) {
        world w;
        deep_honey(&w, 14, k ? 1000 : 500);
        assert_int_equal(mo_sheet_plate(0.4, 0.4, 1.0 / 14, &w.sheet, &err), MO_OK);
        w.shell.motion = draw;
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        for (int n = 0; n < 12; n++) s = step(sim);
        force[k] = -sim->shells.shell[0].force.x;
        print_message("viscosity %d Pa s: force %.1f N, volume off by %.2g, energy by %.2g\n", k ? 1000 : 500, force[k],
                      s.volume_error, s.energy_error);
        assert_true(s.energy_error < 1e-3 && fabs(s.volume_error) < 0.01);
        world_end(&w, sim);
    }
    assert_true(force[1] > 1.85 * force[0] && force[1] < 2.1 * force[0]);
}

// A disk sinks: its weight is what honey resists with, so that it soon goes on at one speed.
static void a_disk_sinks_in_honey(void **state)
{
    (void)state;
    world w;
    deep_honey(&w, 14, 400);
    assert_int_equal(mo_sheet_disk(0.2, 1.0 / 14, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.35, 0.5));
    w.shell.density = 400;
    mo_sim *sim = world_create(&w);
    mo_stats s = {0};
    for (int n = 0; n < 15; n++) {
        s = step(sim);
        assert_true(s.energy_error < 1e-3);
    }
    const mo_shell *disk = &sim->shells.shell[0];
    double weight = 9.81 * 400 * M_PI * 0.04, U = -disk->velocity.y, stokes = weight / (16 * 400 * 0.2);
    print_message("speed %.3f m/s, %.3f of that in an unbounded liquid; force over weight %.4f\n", U, U / stokes,
                  disk->force.y / weight);
    assert_true(U > 0.3 * stokes && U < stokes && fabs(disk->force.y / weight - 1) < 0.1);
    world_end(&w, sim);
}

// A layer of honey between two plates falls if it slips along them, and hardly moves if it sticks.
static void honey_slips_or_sticks(void **state)
{
    (void)state;
    double speed[2];
    for (int slips = 0; slips < 2; slips++) {
        world w;
        mo_sheet a, b;
        world_start(&w, 16);
        assert_int_equal(mo_sheet_plate(0.8, 3, 1.0 / 16, &a, &err), MO_OK);
        mo_sheet_rotate(&a, mo_v3(0, 0, 1), 1.5707963267948966);
        assert_int_equal(mo_sheet_plate(0.8, 3, 1.0 / 16, &b, &err), MO_OK);
        mo_sheet_rotate(&b, mo_v3(0, 0, 1), 1.5707963267948966);
        mo_sheet_move(&b, mo_v3(0.15, 0, 0));
        assert_int_equal(mo_sheet_weld(&a, &b, 1e-9, &w.sheet, &err), MO_OK);
        mo_sheet_move(&w.sheet, mo_v3(0.43, 0.5, 0.5));
        mo_sheet_destroy(&a), mo_sheet_destroy(&b);
        w.shell.wall = slips ? MO_WALL_SLIP : MO_WALL_NO_SLIP;
        for (int k = 4; k < 6; k++) w.def.domain.walls[k] = MO_WALL_SLIP;
        add_honey(&w, mo_shape_box(mo_v3(0.15, 0.4, 1)), mo_v3(0.505, 0.5, 0.5), 50);
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        double time = 0, mass = 1000 * 0.15 * 0.4;
        for (int n = 0; n < 4; n++) s = step(sim), time += s.dt;
        speed[slips] = sqrt(2 * s.kinetic_energy / mass) / (9.81 * time);
        print_message("%s: %.3f g t in the mean square\n", slips ? "slip" : "stick", speed[slips]);
        world_end(&w, sim);
    }
    assert_true(fabs(speed[1] - 1) < 0.02 && speed[0] < 0.5);
}

// A shell far away changes how viscous liquid is discretised everywhere, but hardly how a column of honey collapses.
static void a_shell_far_away_changes_little(void **state)
{
    (void)state;
    const double line[2][2] = {{0.9, 0.9}, {0.95, 0.9}};
    double potential[2];
    for (int k = 0; k < 2; k++) {
        world w;
        world_start(&w, 32);
        w.def.domain.size.z = 0, w.def.shell_count = k;
        assert_int_equal(mo_sheet_curve(2, line, 1.0 / 32, 3.0 / 32, &w.sheet, &err), MO_OK);
        add_honey(&w, mo_shape_box(mo_v3(0.4, 0.4, 1)), mo_v3(0.2, 0.2, 0), 20);
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        for (int n = 0; n < 12; n++) s = step(sim);
        potential[k] = s.potential_energy;
        world_end(&w, sim);
    }
    print_message("potential energy %.4f J, with the shell %.4f J\n", potential[0], potential[1]);
    assert_true(fabs(potential[1] / potential[0] - 1) < 0.02);
}

// A slab lies on a plate at 15 degrees, along which it is pulled by 200 Pa. With a yield stress it only creeps, with
// the viscosity of the law at rest, 60 kPa s: its surface by 1.4e-4 m/s. Honey runs down.
static void a_yield_stress_holds_a_slab(void **state)
{
    (void)state;
    const double line[2][2] = {{-0.4, 0}, {0.4, 0}}, angle = -0.2617993877991494;
    double speed[2];
    for (int yields = 0; yields < 2; yields++) {
        world w;
        world_start(&w, 24);
        w.def.domain.size.z = 0;
        assert_int_equal(mo_sheet_curve(2, line, 1.0 / 24, 3.0 / 24, &w.sheet, &err), MO_OK);
        mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), angle);
        mo_sheet_move(&w.sheet, mo_v3(0.5, 0.5, 0));
        mo_shape *box = mo_shape_box(mo_v3(0.4, 0.08, 1)), *up = mo_shape_move(box, mo_v3(-0.1, 0.04, 0));
        add_honey(&w, mo_shape_rotate(up, mo_v3(0, 0, 1), -15), mo_v3(0.5, 0.5, 0), 20);
        mo_shape_release(box), mo_shape_release(up);
        w.def.solver.rounds = 10;
        if (yields) w.liquid[0].viscosity = 0, w.liquid[0].rheology = (mo_rheology){20, 1, 600, 0.01};
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        for (int n = 0; n < 8; n++) s = step(sim);
        speed[yields] = sqrt(2 * s.kinetic_energy / (1000 * s.volume_target));
        print_message("%s: rms speed %.2g m/s\n", yields ? "yield stress" : "honey", speed[yields]);
        world_end(&w, sim);
    }
    assert_true(speed[0] > 0.05 && speed[1] < 4e-4);
}

// A run that was stopped and loaded, or that has more threads, makes the same bits.
static void bits_stay_the_same(void **state)
{
    (void)state;
    world w;
    cup_of_honey(&w, 12);
    w.liquid[0].velocity = mo_v3(0.5, 0, 0.2);
    w.def.threads = 1;
    mo_sim *sim = world_create(&w), *loaded = world_create(&w);
    w.def.threads = 3;
    mo_sim *other = world_create(&w);
    void *data;
    size_t bytes;
    for (int k = 0; k < 3; k++) step(sim), step(other);
    assert_int_equal(mo_sim_save(sim, &data, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_load(loaded, data, bytes, &err), MO_OK);
    for (int k = 0; k < 2; k++) step(sim), step(other), step(loaded);
    for (int a = 0; a < 3; a++) {
        size_t size = sizeof(float) * (size_t)sim->particles.count;
        assert_memory_equal(sim->particles.x[a], loaded->particles.x[a], size);
        assert_memory_equal(sim->particles.x[a], other->particles.x[a], size);
    }
    mo_free(data);
    mo_sim_destroy(loaded), mo_sim_destroy(other);
    world_end(&w, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cup_holds_honey),
        cmocka_unit_test(a_bowl_catches_honey),
        cmocka_unit_test(a_plate_is_drawn_through_honey),
        cmocka_unit_test(a_disk_sinks_in_honey),
        cmocka_unit_test(honey_slips_or_sticks),
        cmocka_unit_test(a_shell_far_away_changes_little),
        cmocka_unit_test(a_yield_stress_holds_a_slab),
        cmocka_unit_test(bits_stay_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
