// Liquid and shells through whole steps: a cup holds water, plates divide it, a paddle pushes it.
#include "shell_world.h"
#include "fluid/transfer_near.h"
#include "geometry/mesh.h"
#include "grid/cut.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_liquid_at(world *w, mo_shape *shape, mo_vec3 at) { add_liquid(w, moved(shape, at)); }

static void cup_filled_to(world *w, int32_t cells, double depth)
{
    world_start(w, cells);
    assert_int_equal(mo_sheet_cup(0.3, 0.6, 1.0 / cells, &w->sheet, &err), MO_OK);
    mo_sheet_move(&w->sheet, mo_v3(0.5, 0.15, 0.5));
    add_liquid_at(w, mo_shape_cylinder(0.3, depth), mo_v3(0.5, 0.15 + 0.5 * depth, 0.5));
}

static void cup_of_water(world *w, int32_t cells) { cup_filled_to(w, cells, 0.35); }

static double level_volume(const mo_sim *sim) // cells
{
    return mo_levelset_volume(sim->grid, sim->level.phi, sim->openings.volume);
}

// The weight of what a cup holds, on the cup; nothing moves. part: that is left of the particles' volume before the
// first step, so that the surface is lowered.
static void check_cup(double depth, float part)
{
    world w;
    cup_filled_to(&w, 16, depth);
    mo_sim *sim = world_create(&w);
    int32_t particles = sim->particles.count;
    assert_true(fabs(mo_particles_volume(&sim->particles) / level_volume(sim) - 1) < 1e-6);
    for (int32_t q = 0; q < particles; q++) sim->particles.volume[q] *= part;
    const mo_sites *cut = sim->grid->sites;
    double fastest = 0, off = 0;
    for (int k = 0; k < 12; k++) {
        double cell = mo_grid_cell_volume(sim->grid); // the step presses before it corrects the surface
        double weight = 9.81 * 1000 * level_volume(sim) * cell;
        mo_stats s = step(sim);
        fastest = fmax(fastest, s.max_speed);
        off = fmax(off, fabs(-sim->shells.shell[0].force.y / weight - 1));
    }
    print_message("fastest %.2g m/s, force / weight - 1 %.2g\n", fastest, off);
    assert_int_equal(sim->particles.count, particles);
    assert_ptr_equal(sim->grid->sites, cut); // it is cut once: neither the cup nor the tiles change
    assert_true(fastest < 1e-5);
    assert_true(off < 1e-6);
    world_end(&w, sim);
}

static void a_cup_holds_water(void **state)
{
    (void)state;
    check_cup(0.35, 1);
    check_cup(0.3, 1); // between planes of the lattice
    check_cup(0.3, 0.994f);
}

static double below(const mo_sim *sim, double y) // cells of liquid
{
    double sum = 0;
    for (int32_t q = 0; q < sim->particles.count; q++)
        if (sim->particles.x[1][q] < y) sum += sim->particles.volume[q];
    return sum;
}

// Water shaken in a cup stays in it.
static void nothing_leaves_a_cup(void **state)
{
    (void)state;
    world w;
    cup_of_water(&w, 16);
    w.liquid[0].velocity = mo_v3(0.5, 0, 0.2);
    mo_sim *sim = world_create(&w);
    double start = mo_particles_volume(&sim->particles);
    for (int k = 0; k < 16; k++) {
        mo_stats s = step(sim);
        assert_true(fabs(s.volume_error) < 0.02);
        assert_true(s.energy_error < 0.03);
    }
    assert_true(fabs(mo_particles_volume(&sim->particles) / start - 1) < 1e-6);
    assert_true(below(sim, 0.15 * 16 + MO_MARGIN) == 0);
    for (int32_t q = 0; q < sim->particles.count; q++) {
        double x = sim->particles.x[0][q] - 10, z = sim->particles.x[2][q] - 10;
        assert_true(hypot(x, z) < 0.3 * 16 + 1e-4);
    }
    world_end(&w, sim);
}

// A plate divides a tank, with different levels: both rest, and it bears the difference.
static void a_plate_divides_a_tank(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    assert_int_equal(mo_sheet_plate(1.3, 1.3, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), 1.5707963267948966);
    mo_sheet_move(&w.sheet, mo_v3(0.47, 0.5, 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(0.47, 0.6, 1)), mo_v3(0.235, 0.3, 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(0.53, 0.31, 1)), mo_v3(0.735, 0.155, 0.5));
    mo_sim *sim = world_create(&w);
    double fastest = 0;
    for (int k = 0; k < 10; k++) fastest = fmax(fastest, step(sim).max_speed);
    double force = 0.5 * 9810 * (0.6 * 0.6 - 0.31 * 0.31);
    print_message("fastest %.2g m/s, force %.6g of %.6g N\n", fastest, sim->shells.shell[0].force.x, force);
    assert_true(fastest < 1e-5);
    assert_true(fabs(sim->shells.shell[0].force.x / force - 1) < 0.03);
    world_end(&w, sim);
}

// Water lies on a plate; below it there is none, in the same cells.
static void water_lies_on_a_floor_without_thickness(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    assert_int_equal(mo_sheet_plate(1.3, 1.3, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.41, 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(1, 0.2, 1)), mo_v3(0.5, 0.51, 0.5));
    mo_sim *sim = world_create(&w);
    double fastest = 0;
    for (int k = 0; k < 10; k++) fastest = fmax(fastest, step(sim).max_speed);
    const mo_grid *g = sim->grid;
    int both = 0;
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_rows(g); i++) {
        int32_t cell = mo_site_cell(g, i), c[3];
        mo_grid_cell(g, cell, c);
        if (mo_levelset_in_domain(g, c)) both += (sim->level.phi[i] < 0) != (sim->level.phi[cell] < 0);
    }
    assert_int_equal(both, 16 * 16);
    assert_true(fastest < 1e-5);
    assert_true(below(sim, 0.41 * 16 + MO_MARGIN) == 0);
    world_end(&w, sim);
}

// Nothing moves, and nothing leaves through where the shell ends.
static void check_rest(world *w, const char *what)
{
    mo_sim *sim = world_create(w);
    double fastest = 0;
    for (int k = 0; k < 6; k++) {
        mo_stats s = step(sim);
        fastest = fmax(fastest, s.max_speed);
        assert_true(fabs(s.volume_error) < 0.005);
    }
    print_message("%s: fastest %.2g m/s\n", what, fastest);
    assert_true(fastest < 1e-5);
    world_end(w, sim);
}

// A cup and a tube stand on the floor of the tank; a plate that is as large as the tank divides it.
static void shells_reach_the_tank(void **state)
{
    (void)state;
    world w;
    for (int k = 0; k < 2; k++) {
        world_start(&w, 16);
        assert_int_equal(k ? mo_sheet_tube(0.3, 0.6, 1.0 / 16, &w.sheet, &err)
                           : mo_sheet_cup(0.3, 0.6, 1.0 / 16, &w.sheet, &err),
                         MO_OK);
        mo_sheet_move(&w.sheet, mo_v3(0.5, k ? 0.3 : 0, 0.5));
        add_liquid_at(&w, mo_shape_cylinder(0.3, 0.35), mo_v3(0.5, 0.175, 0.5));
        check_rest(&w, k ? "tube" : "cup");
    }
    world_start(&w, 16);
    assert_int_equal(mo_sheet_plate(1, 1, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), 1.5707963267948966);
    mo_sheet_move(&w.sheet, mo_v3(0.47, 0.5, 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(0.47, 0.5, 1)), mo_v3(0.235, 0.25, 0.5));
    check_rest(&w, "partition");
}

// A tube without a bottom, and a cup, stand on a block whose top lies in the middle of cells.
static void shells_stand_on_a_block(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w;
        world_start(&w, 16);
        w.solid = mo_solid_def_default();
        mo_shape *box = mo_shape_box(mo_v3(0.9, 0.21, 0.9));
        w.solid.shape = mo_shape_move(box, mo_v3(0.5, 0.105, 0.5));
        mo_shape_release(box);
        w.def.solids = &w.solid, w.def.solid_count = 1;
        assert_int_equal(k ? mo_sheet_tube(0.25, 0.5, 1.0 / 16, &w.sheet, &err)
                           : mo_sheet_cup(0.25, 0.5, 1.0 / 16, &w.sheet, &err),
                         MO_OK);
        mo_sheet_move(&w.sheet, mo_v3(0.5, k ? 0.46 : 0.21, 0.5));
        add_liquid_at(&w, mo_shape_cylinder(0.25, 0.3), mo_v3(0.5, 0.36, 0.5));
        check_rest(&w, k ? "tube on a block" : "cup on a block");
    }
}

// A partition stands in a channel between three blocks, whose faces lie across cells, and ends in their corners. Cells
// whose centres lie in the blocks continue the surface, where it meets them, as a plane.
static void a_partition_ends_in_corners(void **state)
{
    (void)state;
    const double floor = 0.09, side = 0.16, at = 0.52, level[2] = {0.6, 0.31}, wide = 1 - 2 * side;
    world w;
    world_start(&w, 16);
    mo_shape *low = moved(mo_shape_box(mo_v3(1.2, 0.4, 1.2)), mo_v3(0.5, floor - 0.2, 0.5)),
             *left = moved(mo_shape_box(mo_v3(1.2, 1.2, 0.4)), mo_v3(0.5, 0.5, side - 0.2)),
             *right = moved(mo_shape_box(mo_v3(1.2, 1.2, 0.4)), mo_v3(0.5, 0.5, 1.2 - side)),
             *both = mo_shape_union(left, right);
    w.solid = mo_solid_def_default();
    w.solid.shape = mo_shape_union(low, both);
    mo_shape_release(low), mo_shape_release(left), mo_shape_release(right), mo_shape_release(both);
    w.def.solids = &w.solid, w.def.solid_count = 1;
    assert_int_equal(mo_sheet_plate(0.95 - floor, wide, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), 1.5707963267948966);
    mo_sheet_move(&w.sheet, mo_v3(at, 0.5 * (0.95 + floor), 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(at, level[0] - floor, wide)), mo_v3(0.5 * at, 0.5 * (level[0] + floor), 0.5));
    add_liquid_at(&w, mo_shape_box(mo_v3(1 - at, level[1] - floor, wide)),
                  mo_v3(0.5 * (1 + at), 0.5 * (level[1] + floor), 0.5));
    check_rest(&w, "partition between blocks");
}

static void count_warnings(void *user, mo_log_level level, const char *text)
{
    if (level == MO_LOG_WARNING && strstr(text, "lie along solids")) ++*(int *)user;
}

// A cup that hangs half a cell above a block is told of; one that stands on it, in it or a cell above it is not.
static void shells_close_along_solids_are_told(void **state)
{
    (void)state;
    static const double height[] = {0.5, 0, -0.4, 1.1};
    for (int k = 0; k < 4; k++) {
        world w;
        int warnings = 0;
        world_start(&w, 16);
        w.def.log = count_warnings, w.def.log_user = &warnings;
        w.solid = mo_solid_def_default();
        mo_shape *box = mo_shape_box(mo_v3(0.9, 0.21, 0.9));
        w.solid.shape = mo_shape_move(box, mo_v3(0.5, 0.105, 0.5));
        mo_shape_release(box);
        w.def.solids = &w.solid, w.def.solid_count = 1;
        assert_int_equal(mo_sheet_cup(0.25, 0.5, 1.0 / 16, &w.sheet, &err), MO_OK);
        mo_sheet_move(&w.sheet, mo_v3(0.5, 0.21 + height[k] / 16, 0.5));
        add_liquid_at(&w, mo_shape_sphere(0.1), mo_v3(0.5, 0.5, 0.5));
        mo_sim *sim = world_create(&w);
        assert_int_equal(warnings, k == 0);
        world_end(&w, sim);
    }
}

// The water in a cup, as it is written: closed, and no corner of it lies beyond the cup by more than roots keep from
// nodes (1e-4 of the spacing). The mesh cuts off the edge round the bottom, where it has no corner; else it is as large
// as the level set.
static void check_mesh(const mo_sim *sim, double radius, double bottom)
{
    mo_mesh m;
    double beyond = 0, dx = sim->grid->dx, volume = 0;
    assert_int_equal(mo_sim_surface(sim, &m, &err), MO_OK);
    for (int32_t v = 0; v < m.vertex_count; v++) {
        const float *x = m.position + 3 * v;
        beyond = fmax(beyond, fmax(hypot(x[0] - 0.5, x[2] - 0.5) - radius, bottom - x[1]) / dx);
    }
    volume = mo_mesh_volume(&m);
    double cell = mo_grid_cell_volume(sim->grid);
    double held = mo_levelset_volume(sim->grid, sim->level.phi, sim->openings.volume) * cell;
    double edge = 2 * 3.14159 * radius * 0.125 * dx * dx; // the half of a cube's section, spacing half a cell
    print_message("beyond %.2g cells, volume %.5g of %.5g\n", beyond, volume, held);
    assert_true(beyond < 1e-4);
    assert_true(volume < 1.002 * held && volume > 0.995 * held - edge);
    assert_int_equal(mo_mesh_weld(&m, 0, &err), MO_OK);
    if (mo_mesh_check_closed(&m, "liquid", &err) != MO_OK) fail_msg("%s", err.text);
    mo_mesh_destroy(&m);
}

// Cups across the lattice and on it: a bottom in a plane of the lattice, a wall that touches planes of it.
static void the_written_water_ends_at_a_cup(void **state)
{
    (void)state;
    static const double radius[] = {0.3, 0.25, 0.27}, bottom[] = {0.15, 0.125, 0.1875};
    for (int k = 0; k < 3; k++) {
        world w;
        world_start(&w, 16);
        assert_int_equal(mo_sheet_cup(radius[k], 0.6, 1.0 / 16, &w.sheet, &err), MO_OK);
        mo_sheet_move(&w.sheet, mo_v3(0.5, bottom[k], 0.5));
        add_liquid_at(&w, mo_shape_cylinder(radius[k], 0.3), mo_v3(0.5, bottom[k] + 0.15, 0.5));
        mo_sim *sim = world_create(&w);
        check_mesh(sim, radius[k], bottom[k]);
        step(sim), step(sim);
        check_mesh(sim, radius[k], bottom[k]);
        world_end(&w, sim);
    }
}

static mo_status swing(void *user, double t, mo_pose *pose, mo_error *e)
{
    (void)user, (void)e;
    *pose = mo_pose_identity();
    pose->position = mo_v3(0.4 + 0.1 * sin(4 * t), 0.2, 0.5);
    pose->rotation = mo_quat_axis_angle(mo_v3(0, 0, 1), 1.5707963267948966 + 0.3 * sin(3 * t));
    return MO_OK;
}

// A paddle pushes water: no particle passes it, and no volume is lost.
static void a_paddle_pushes_water(void **state)
{
    (void)state;
    world w;
    world_start(&w, 16);
    w.def.domain.size = mo_v3(1, 0.5, 1);
    assert_int_equal(mo_sheet_plate(0.3, 0.6, 1.0 / 16, &w.sheet, &err), MO_OK);
    w.shell.motion = swing;
    add_liquid_at(&w, mo_shape_box(mo_v3(1, 0.25, 1)), mo_v3(0.5, 0.125, 0.5));
    mo_sim *sim = world_create(&w);
    double fastest = 0, moving = 0;
    for (int k = 0; k < 12; k++) {
        mo_stats s = step(sim);
        fastest = fmax(fastest, s.max_speed), moving = fmax(moving, s.kinetic_energy);
        assert_true(fabs(s.volume_error) < 0.02);
        assert_true(s.energy_error < 0.03);
    }
    print_message("fastest %.2g m/s, kinetic energy %.2g J\n", fastest, moving);
    assert_true(moving > 0.2 && fastest < 5);
    world_end(&w, sim);
}

// A run that was stopped and loaded goes on as one that was not.
static void a_state_holds_shells(void **state)
{
    (void)state;
    world w;
    cup_of_water(&w, 12);
    w.liquid[0].velocity = mo_v3(0.5, 0, 0.2);
    mo_sim *sim = world_create(&w), *other = world_create(&w);
    void *data;
    size_t bytes;
    for (int k = 0; k < 3; k++) step(sim);
    assert_int_equal(mo_sim_save(sim, &data, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_load(other, data, bytes, &err), MO_OK);
    for (int k = 0; k < 2; k++) step(sim), step(other);
    for (int a = 0; a < 3; a++)
        assert_memory_equal(sim->particles.x[a], other->particles.x[a], sizeof(float) * (size_t)sim->particles.count);
    assert_memory_equal(sim->level.phi, other->level.phi, sizeof(float) * (size_t)mo_grid_rows(sim->grid));
    mo_free(data);
    mo_sim_destroy(other);
    world_end(&w, sim);
}

static void what_is_not_built_is_refused(void **state)
{
    (void)state;
    world w;
    cup_of_water(&w, 12);
    mo_sim *sim;
    w.liquid[0].surface_tension = 0.07;
    assert_int_equal(mo_sim_create(&w.def, &sim, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "cannot have surface tension yet"));
    world_end(&w, NULL);
}

static mo_status sway(void *user, double t, mo_pose *pose, mo_error *e)
{
    (void)user, (void)e;
    *pose = (mo_pose){{0.5, 0.7 - 0.002 * (1 - exp(-8 * t) * cos(30 * t)), 0.5}, {1, 0, 0, 0}};
    return MO_OK;
}

// A round bowl of water that moves by 2 mm. Slivers of faces that come and go have velocities far from those beside
// them: when particles read these, the water came to 8 m/s.
static void a_swaying_bowl_stays_calm(void **state)
{
    (void)state;
    world w;
    const double radius = 0.27, depth = 0.2;
    double fastest = 0, energy = 0;
    world_start(&w, 16);
    w.def.time.fps = 100, w.shell.motion = sway;
    assert_int_equal(mo_sheet_hemisphere(radius, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_shape *ball = moved(mo_shape_sphere(radius), mo_v3(0.5, 0.7, 0.5)),
             *slab = moved(mo_shape_box(mo_v3(1, depth, 1)), mo_v3(0.5, 0.7 - radius + 0.5 * depth, 0.5));
    add_liquid(&w, mo_shape_intersect(ball, slab));
    mo_shape_release(ball), mo_shape_release(slab);
    mo_sim *sim = world_create(&w);
    for (int i = 0; i < 30; i++) {
        mo_stats s = step(sim);
        fastest = fmax(fastest, s.max_speed), energy = fmax(energy, s.energy_error);
    }
    print_message("fastest %.2g m/s, energy error %.2g\n", fastest, energy);
    assert_true(fastest < 0.8 && energy < 0.005);
    world_end(&w, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cup_holds_water),
        cmocka_unit_test(nothing_leaves_a_cup),
        cmocka_unit_test(a_plate_divides_a_tank),
        cmocka_unit_test(water_lies_on_a_floor_without_thickness),
        cmocka_unit_test(shells_reach_the_tank),
        cmocka_unit_test(shells_stand_on_a_block),
        cmocka_unit_test(a_partition_ends_in_corners),
        cmocka_unit_test(shells_close_along_solids_are_told),
        cmocka_unit_test(the_written_water_ends_at_a_cup),
        cmocka_unit_test(a_paddle_pushes_water),
        cmocka_unit_test(a_swaying_bowl_stays_calm),
        cmocka_unit_test(a_state_holds_shells),
        cmocka_unit_test(what_is_not_built_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
