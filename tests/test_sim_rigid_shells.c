// Shells that are rigid bodies through whole steps: cups and bowls float, plates sink, all keep what they should.
#include "shell_world.h"
#include "grid/sites.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mo_shape *without(mo_shape *a, mo_shape *b)
{
    mo_shape *d = mo_shape_difference(a, b);
    mo_shape_release(a), mo_shape_release(b);
    return d;
}

static void start(world *w, int32_t cells)
{
    world_start(w, cells);
    w->def.time.fps = 50;
}

// The area that a sheet of outward triangles shows from below, where it lies at most at the height y.
static double area_below(const mo_sheet *s, double y)
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangles; t++) {
        const double *a = s->position[s->triangle[t][0]], *b = s->position[s->triangle[t][1]],
                     *c = s->position[s->triangle[t][2]];
        if (fmax(a[1], fmax(b[1], c[1])) > y) continue;
        sum += 0.5 * fabs((b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]));
    }
    return sum;
}

static double area(const mo_sheet *s)
{
    mo_rigid r;
    assert_int_equal(mo_rigid_of_sheet(s, 1, false, 0, "sheet", &r, NULL), MO_OK);
    return r.mass;
}

// A cup of `draft` in water up to `level`; off: it starts so much higher.
static void floating_cup(world *w, int32_t cells, double level, double draft, double off)
{
    const double radius = 0.26; // off the lattice, so that no side of a cell comes and goes
    start(w, cells);
    assert_int_equal(mo_sheet_cup(radius, 0.4, 1.0 / cells, &w->sheet, &err), MO_OK);
    w->shell.density = 1000 * draft * area_below(&w->sheet, 1e-9) / area(&w->sheet);
    mo_sheet_move(&w->sheet, mo_v3(0.5, level - draft + off, 0.5));
    add_liquid(w, without(moved(mo_shape_box(mo_v3(1, level, 1)), mo_v3(0.5, 0.5 * level, 0.5)),
                          moved(mo_shape_cylinder(radius, 0.8), mo_v3(0.5, level - draft + off + 0.4, 0.5))));
}

// A cup that weighs as much as it displaces rests, wherever its bottom lies in a cell; nothing is in it.
static void a_cup_floats_at_its_draft(void **state)
{
    (void)state;
    static const double draft[] = {0.15, 0.2, 0.22};
    for (int k = 0; k < 3; k++) {
        world w;
        floating_cup(&w, 16, 0.53, draft[k], 0);
        mo_sim *sim = world_create(&w);
        double start = sim->shells.shell[0].pose.position.y, fastest = 0, first = 0;
        for (int i = 0; i < 6; i++) {
            mo_stats s = step(sim);
            fastest = fmax(fastest, fmax(s.max_speed, s.max_body_speed));
            if (i == 0) first = sim->shells.shell[0].velocity.y / (9.81 * s.dt);
        }
        double moved_by = sim->shells.shell[0].pose.position.y - start;
        print_message("draft %.4f: first acceleration %.2g g, fastest %.2g m/s, moved by %.2g m, %lld limited\n",
                      draft[k], first, fastest, moved_by, (long long)sim->stats.sheets.light);
        assert_true(fabs(first) < 1e-6 && fastest < 1e-5 && fabs(moved_by) < 1e-7);
        assert_int_equal(sim->stats.sheets.light, 0);
        for (int32_t q = 0; q < sim->particles.count; q++) { // nothing is in the cup
            mo_vec3 x =
                mo_grid_world(sim->grid, sim->particles.x[0][q], sim->particles.x[1][q], sim->particles.x[2][q]);
            assert_true(x.y < 0.53 - draft[k] || hypot(x.x - 0.5, x.z - 0.5) > 0.99 * 0.26);
        }
        world_end(&w, sim);
    }
}

// A bowl as light as paper is pushed under water and held by nothing: far lighter than the liquid in its cells counts.
// It rises, and stays afloat and whole.
static void a_light_bowl_stays_afloat(void **state)
{
    (void)state;
    world w;
    start(&w, 16);
    assert_int_equal(mo_sheet_hemisphere(0.27, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.55, 0.5));
    w.shell.density = 0.2;
    add_liquid(&w, without(moved(mo_shape_box(mo_v3(1, 0.45, 1)), mo_v3(0.5, 0.225, 0.5)),
                           moved(mo_shape_sphere(0.27), mo_v3(0.5, 0.55, 0.5))));
    mo_sim *sim = world_create(&w);
    double start = sim->shells.shell[0].pose.position.y, fastest = 0;
    int64_t light = 0;
    for (int i = 0; i < 12; i++) {
        mo_stats s = step(sim);
        fastest = fmax(fastest, fmax(s.max_speed, s.max_body_speed));
        light += s.sheets.light;
        assert_true(fabs(s.volume_error) < 0.01 && s.energy_error < 0.03);
    }
    double rise = sim->shells.shell[0].pose.position.y - start;
    print_message("rose by %.3g m, fastest %.3g m/s, limited in %lld of 12 steps\n", rise, fastest, (long long)light);
    assert_true(rise > 0.05 && fastest < 3);
    world_end(&w, sim);
}

// A horizontal plate that is released under water drags its added mass: it falls with m g/(m + ma) at first, and the
// liquid does not pass it.
static void a_plate_sinks(void **state)
{
    (void)state;
    world w;
    const double radius = 0.2;
    start(&w, 20);
    assert_int_equal(mo_sheet_disk(radius, 1.0 / 20, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.51, 0.43, 0.49));
    w.shell.density = 200;
    add_liquid(&w, moved(mo_shape_box(mo_v3(1, 0.8, 1)), mo_v3(0.5, 0.4, 0.5)));
    mo_sim *sim = world_create(&w);
    mo_stats first = step(sim);
    double mass = sim->shells.shell[0].body.mass, added = 8.0 / 3 * 1000 * pow(radius, 3);
    double got = -sim->shells.shell[0].velocity.y / (9.81 * first.dt), dragged = mass / got - mass;
    print_message("first acceleration %.4f g, added mass %.3f of 8/3 rho a^3\n", got, dragged / added);
    assert_true(fabs(dragged / added - 1) < 0.08); // of a disk of four cells, as in test_system_sheets
    for (int i = 0; i < 5; i++) {
        mo_stats s = step(sim);
        assert_true(fabs(s.volume_error) < 0.01 && s.energy_error < 0.01);
    }
    assert_true(sim->shells.shell[0].velocity.y < -0.1);
    world_end(&w, sim);
}

// Without liquid a shell is any rigid body: it falls onto the floor and a block and lies there.
static void a_dry_shell_falls_and_lies(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        world w;
        start(&w, 16);
        assert_int_equal(k == 2 ? mo_sheet_cup(0.15, 0.2, 1.0 / 16, &w.sheet, &err)
                                : mo_sheet_plate(0.4, 0.3, 1.0 / 16, &w.sheet, &err),
                         MO_OK);
        if (k == 1) mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), 0.3);
        double ground = k == 0 ? 0.21 : 0;
        mo_sheet_move(&w.sheet, mo_v3(0.5, ground + 0.1, 0.5));
        w.shell.density = 2;
        w.solid = mo_solid_def_default();
        w.solid.shape = moved(mo_shape_box(mo_v3(0.9, 0.21, 0.9)), mo_v3(0.5, 0.105, 0.5));
        w.def.solids = &w.solid, w.def.solid_count = k == 0;
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        for (int i = 0; i < 60; i++) s = step(sim);
        const mo_shells *all = &sim->shells;
        double lowest = INFINITY;
        for (int32_t v = 0; v < all->all.vertices; v++) lowest = fmin(lowest, all->all.position[v][1] - ground);
        print_message("%d: speed %.2g m/s, lowest %.3g cells above the ground, energy error %.2g\n", k,
                      s.max_body_speed, 16 * lowest, s.energy_error);
        assert_true(s.max_body_speed < 1e-3 && lowest > 0 && 16 * lowest < 0.03 && s.energy_error < 0.01);
        if (k == 0) w.def.solid_count = 1;
        world_end(&w, sim);
        if (k > 0) mo_shape_release(w.solid.shape);
    }
}

static mo_status rise(void *user, double t, mo_pose *pose, mo_error *e)
{
    (void)user, (void)e;
    *pose = (mo_pose){{0.5, 0.4 + 0.2 * t, 0.5}, {1, 0, 0, 0}};
    return MO_OK;
}

// A box lies on a plate that is fixed, or goes up with it.
static void a_box_rests_on_a_shell(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        world w;
        start(&w, 16);
        assert_int_equal(mo_sheet_plate(0.6, 0.5, 1.0 / 16, &w.sheet, &err), MO_OK);
        w.shell.motion = moves ? rise : NULL;
        w.shell.pose.position = mo_v3(0.5, 0.4, 0.5);
        w.solid = mo_solid_def_default();
        w.solid.rigid = true, w.solid.density = 500;
        w.solid.shape = moved(mo_shape_box(mo_v3(0.21, 0.2, 0.19)), mo_v3(0.52, 0.52, 0.47));
        w.def.solids = &w.solid, w.def.solid_count = 1;
        mo_sim *sim = world_create(&w);
        mo_stats s = {0};
        for (int i = 0; i < 40; i++) s = step(sim);
        double speed = mo_norm(mo_sub(sim->solids[0].velocity, mo_v3(0, moves ? 0.2 : 0, 0)));
        double over = 16 * (sim->solids[0].pose.position.y - 0.1 - sim->shells.shell[0].pose.position.y);
        print_message("%s plate: speed %.2g m/s, bottom %.3g cells above the shell, energy error %.2g\n",
                      moves ? "rising" : "fixed", speed, over, s.energy_error);
        assert_true(speed < 1e-3 && over > 0 && over < 0.03 && s.energy_error < 0.01);
        world_end(&w, sim);
    }
}

// A ball of half the water's density falls into a cup of water without thickness, and floats up again.
static void a_ball_floats_in_a_cup(void **state)
{
    (void)state;
    world w;
    start(&w, 16);
    assert_int_equal(mo_sheet_cup(0.36, 0.6, 1.0 / 16, &w.sheet, &err), MO_OK);
    mo_sheet_move(&w.sheet, mo_v3(0.5, 0.15, 0.5));
    add_liquid(&w, moved(mo_shape_cylinder(0.36, 0.4), mo_v3(0.5, 0.35, 0.5)));
    w.solid = mo_solid_def_default();
    w.solid.rigid = true, w.solid.density = 500;
    w.solid.shape = moved(mo_shape_sphere(0.15), mo_v3(0.5, 0.72, 0.5));
    w.def.solids = &w.solid, w.def.solid_count = 1;
    mo_sim *sim = world_create(&w);
    double lowest = 1, highest = 0, energy = 0;
    for (int i = 0; i < 30; i++) {
        mo_stats s = step(sim);
        lowest = fmin(lowest, sim->solids[0].pose.position.y), energy = fmax(energy, s.energy_error);
        if (i > 15) highest = fmax(highest, sim->solids[0].pose.position.y);
        assert_true(fabs(s.volume_error) < 0.02);
    }
    for (int32_t q = 0; q < sim->particles.count; q++) {
        mo_vec3 x = mo_grid_world(sim->grid, sim->particles.x[0][q], sim->particles.x[1][q], sim->particles.x[2][q]);
        assert_true(x.y > 0.15 && (x.y > 0.75 || hypot(x.x - 0.5, x.z - 0.5) < 0.36));
    }
    print_message("between %.3f and %.3f m, energy error %.2g\n", lowest, highest, energy);
    assert_true(lowest > 0.3 && lowest < 0.58 && highest > lowest + 0.02 && energy < 0.01);
    world_end(&w, sim);
}

// A run that was stopped and loaded goes on as one that was not, bit by bit.
static void a_state_holds_rigid_shells(void **state)
{
    (void)state;
    world w;
    floating_cup(&w, 12, 0.53, 0.2, 0.05);
    w.shell.angular_velocity = mo_v3(0.3, 0.1, -0.2);
    mo_sim *sim = world_create(&w), *other = world_create(&w);
    void *data;
    size_t bytes;
    for (int k = 0; k < 3; k++) step(sim);
    assert_int_equal(mo_sim_save(sim, &data, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_load(other, data, bytes, &err), MO_OK);
    for (int k = 0; k < 2; k++) step(sim), step(other);
    mo_free(data);
    void *a, *b;
    size_t more;
    assert_int_equal(mo_sim_save(sim, &a, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_save(other, &b, &more, &err), MO_OK);
    assert_int_equal(bytes, more);
    assert_memory_equal(a, b, bytes);
    mo_free(a), mo_free(b);
    mo_sim_destroy(other);
    world_end(&w, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cup_floats_at_its_draft),
        cmocka_unit_test(a_light_bowl_stays_afloat),
        cmocka_unit_test(a_plate_sinks),
        cmocka_unit_test(a_dry_shell_falls_and_lies),
        cmocka_unit_test(a_box_rests_on_a_shell),
        cmocka_unit_test(a_ball_floats_in_a_cup),
        cmocka_unit_test(a_state_holds_rigid_shells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
