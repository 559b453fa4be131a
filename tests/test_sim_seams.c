// Solids that touch walls and each other, in whole runs: nothing gains energy in the seams, nothing leaks through.
#include "sim_test.h"
#include "base/parallel.h"

enum { MOST = 8 };

typedef struct tank {
    mo_sim_def def;
    mo_liquid_def liquid;
    mo_solid_def solid[MOST];
} tank;

static void tank_start(tank *t, double viscosity, mo_shape *liquid)
{
    memset(t, 0, sizeof *t);
    t->def = mo_sim_def_default();
    t->def.domain.size = mo_v3(1, 0.5, 0.375), t->def.domain.cells = 16;
    t->def.liquids = &t->liquid, t->def.liquid_count = 1, t->def.solids = t->solid;
    t->def.threads = 1;
    t->def.time.fps = 20;
    t->liquid = mo_liquid_def_default();
    t->liquid.shape = liquid, t->liquid.viscosity = viscosity;
}

static mo_solid_def *add(tank *t, const char *name, mo_shape *shape)
{
    mo_solid_def *s = &t->solid[t->def.solid_count++];
    *s = mo_solid_def_default();
    s->name = name, s->shape = shape;
    return s;
}

static mo_shape *put(mo_shape *shape, double x, double y, double z)
{
    mo_shape *moved = mo_shape_move(shape, mo_v3(x, y, z));
    mo_shape_release(shape);
    return moved;
}

static mo_shape *upside_down(mo_shape *shape)
{
    mo_shape *turned = mo_shape_rotate(shape, mo_v3(1, 0, 0), 180);
    mo_shape_release(shape);
    return turned;
}

static void tank_end(tank *t)
{
    mo_shape_release(t->liquid.shape);
    for (int32_t i = 0; i < t->def.solid_count; i++) mo_shape_release(t->solid[i].shape);
}

// How deep the deepest particle lies in a fixed solid, m.
static double deepest(const tank *t, const mo_sim *sim)
{
    int64_t n = mo_sim_particle_count(sim);
    float *x = malloc(sizeof(float) * 7 * (size_t)n), *v = x + 3 * n;
    double deep = 0;
    mo_sim_particles(sim, x, v, v + 3 * n);
    for (int64_t q = 0; q < n; q++)
        for (int32_t s = 0; s < t->def.solid_count; s++)
            deep = fmax(deep, -mo_shape_distance(t->solid[s].shape, mo_v3(x[3 * q], x[3 * q + 1], x[3 * q + 2])));
    free(x);
    return deep;
}

// The largest speed of a run; no particle may lie in a solid after any step, and energy may not grow.
static double run(tank *t, int frames)
{
    mo_sim *sim = NULL;
    mo_error err = {0};
    double speed = 0;
    mo_status status = mo_sim_create(&t->def, &sim, &err);
    if (status != MO_OK) print_error("%s\n", err.text);
    assert_int_equal(status, MO_OK);
    while (mo_sim_frame(sim) < frames) {
        mo_stats stats = sim_step(sim);
        double depth = deepest(t, sim);
        if (depth > 1e-6) print_error("%g s: a particle lies %g m inside a solid\n", stats.time, depth);
        assert_true(depth <= 1e-6);
        assert_true(stats.energy_error < 0.01);
        speed = fmax(speed, stats.max_speed);
    }
    mo_sim_destroy(sim);
    return speed;
}

static const double viscosities[] = {0, 0.001, 0.1};

// A stream of 0.4 m/s round one solid that stands on the floor, on grid planes and off them.
static void streams_pass_what_stands_on_the_floor(void **state)
{
    (void)state;
    static const char *const name[] = {"post", "post off the grid", "cone on its tip", "ball", "cylinder", "two boxes"};
    for (int which = 0; which < 6; which++)
        for (int k = 0; k < 3; k += which == 0 ? 1 : 2) {
            tank t;
            tank_start(&t, viscosities[k], box_between(-1, -1, -1, 2, 0.3, 2));
            t.liquid.velocity = mo_v3(0.4, 0, 0);
            if (which == 0) add(&t, "post", box_between(0.5, 0, 0.125, 0.625, 0.4, 0.25));
            if (which == 1) add(&t, "post", box_between(0.51, 0, 0.13, 0.67, 0.2, 0.28));
            if (which == 2) add(&t, "cone", put(upside_down(mo_shape_cone(0.13, 0.2)), 0.55, 0.1, 0.19));
            if (which == 3) add(&t, "ball", ball_at(0.55, 0.1, 0.19, 0.1));
            if (which == 4) add(&t, "cylinder", put(mo_shape_cylinder(0.09, 0.2), 0.55, 0.1, 0.19));
            if (which == 5) add(&t, "left", box_between(0.5, 0, 0.06, 0.65, 0.19, 0.2));
            if (which == 5) add(&t, "right", box_between(0.5, 0, 0.2, 0.65, 0.19, 0.3));
            double speed = run(&t, 8), bound = 3 * 0.4; // twice that of the stream passes a cylinder
            print_message("%s, %g Pa s: %.2f m/s of %.2f\n", name[which], viscosities[k], speed, bound);
            assert_true(speed < bound);
            tank_end(&t);
        }
}

// Water falls onto boxes, a ball, a cylinder and a cone that touch and overlap.
static void dams_break_onto_heaps(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        tank t;
        tank_start(&t, viscosities[k], box_between(-1, -1, -1, 0.35, 0.375, 2));
        add(&t, "step", box_between(0.4375, 0, 0, 0.5625, 0.1, 0.375));
        add(&t, "block", box_between(0.5625, -0.1, -0.1, 0.7, 0.1875, 0.2));
        add(&t, "ball", ball_at(0.63, 0.2575, 0.1, 0.07));
        add(&t, "cylinder", put(mo_shape_cylinder(0.07, 0.1875), 0.63, 0.09375, 0.27));
        add(&t, "cone", put(mo_shape_cone(0.09, 0.18), 0.8, 0.09, 0.19));
        double speed = run(&t, 12), bound = 2 * sqrt(2 * 9.81 * 0.375);
        print_message("heap, %g Pa s: %.2f m/s of %.2f\n", viscosities[k], speed, bound);
        assert_true(speed < bound);
        tank_end(&t);
    }
}

static double between(int heap, int draw, double low, double high)
{
    return low + (high - low) * mo_unit(mo_hash((uint32_t)heap, (uint32_t)draw, 0));
}

// One of eight solids that lie across each other, with wedges of any angle between them, the walls and the floor.
static mo_shape *heaped(int heap, int k)
{
    enum { DRAWS = 16 };
    double size[3], place[3] = {0.42, 0, 0}, room[3] = {0.38, 0.22, 0.375}, axis[3];
    for (int a = 0; a < 3; a++) {
        size[a] = between(heap, DRAWS * k + a, 0.08, 0.25), axis[a] = between(heap, DRAWS * k + 3 + a, -1, 1);
        place[a] += between(heap, DRAWS * k + 6 + a, 0, room[a]);
    }
    mo_shape *s = k % 4 == 0   ? mo_shape_box(mo_v3(size[0], size[1], size[2]))
                  : k % 4 == 1 ? mo_shape_sphere(0.5 * size[0])
                  : k % 4 == 2 ? mo_shape_cylinder(0.4 * size[0], size[1])
                               : mo_shape_cone(0.5 * size[0], size[1]);
    mo_shape *turned = mo_shape_rotate(s, mo_v3(axis[0], axis[1], axis[2]), between(heap, DRAWS * k + 9, 0, 90));
    mo_shape_release(s);
    return put(turned, place[0], place[1], place[2]);
}

static void no_particle_enters_a_wedge(void **state)
{
    (void)state;
    static const int heaps[] = {1, 2, 7, 9, 13, 16, 23}; // in which some did, by up to 6 mm
    for (size_t h = 0; h < sizeof heaps / sizeof *heaps; h++) {
        tank t;
        tank_start(&t, 0, box_between(-1, -1, -1, 0.35, 0.375, 2));
        t.def.domain.cells = 24;
        for (int k = 0; k < MOST; k++) add(&t, "solid", heaped(heaps[h], k));
        run(&t, 14);
        tank_end(&t);
    }
}

// Rooms between walls that touch end to end, each with its own level: at rest it stays, and no level follows another.
static void mazes_keep_their_levels(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        tank t;
        tank_start(&t, k ? 0.1 : 0, box_between(-1, -1, -1, 0.35, 0.3, 2));
        add(&t, "a", box_between(0.3125, 0, 0, 0.3875, 0.5, 0.19));
        add(&t, "b", box_between(0.3125, 0, 0.19, 0.3875, 0.5, 0.375));
        add(&t, "c", box_between(0.3875, 0, 0.15, 0.7, 0.5, 0.225));
        add(&t, "d", box_between(0.7, 0, 0, 0.775, 0.5, 0.375));
        mo_sim *sim = NULL;
        assert_int_equal(mo_sim_create(&t.def, &sim, NULL), MO_OK);
        double speed = 0;
        while (mo_sim_frame(sim) < 8) speed = fmax(speed, sim_step(sim).max_speed);
        int64_t n = mo_sim_particle_count(sim);
        float *x = malloc(sizeof(float) * 7 * (size_t)n);
        mo_sim_particles(sim, x, x + 3 * n, x + 6 * n);
        for (int64_t q = 0; q < n; q++) assert_true(x[3 * q] < 0.3125);
        print_message("maze %d: %.3f m/s\n", k, speed);
        assert_true(speed < 0.5);
        free(x);
        mo_sim_destroy(sim);
        tank_end(&t);
    }
}

// ---- Walls that divide a tank ----

// How many particles lie beyond the middle of a wall.
static int64_t beyond(const mo_sim *sim, mo_vec3 middle, mo_vec3 normal)
{
    int64_t n = mo_sim_particle_count(sim), count = 0;
    float *x = malloc(sizeof(float) * 7 * (size_t)n);
    mo_sim_particles(sim, x, x + 3 * n, x + 6 * n);
    for (int64_t q = 0; q < n; q++)
        count += mo_dot(normal, mo_sub(mo_v3(x[3 * q], x[3 * q + 1], x[3 * q + 2]), middle)) > 0;
    free(x);
    return count;
}

// Water on one side of a wall of one cell to one and a half that stands askew: none comes to the other side.
static void walls_of_a_cell_hold_water(void **state)
{
    (void)state;
    const double degree = 3.14159265358979 / 180;
    for (int k = 0; k < 6; k++) {
        tank t;
        double thickness = (1 + 0.1 * k) / 16, lean = 7 * k - 15, turn = 5 * k;
        mo_vec3 middle = mo_v3(0.55 + 0.013 * k, 0.2, 0.19),
                normal = mo_v3(cos(lean * degree) * cos(turn * degree), sin(lean * degree),
                               -cos(lean * degree) * sin(turn * degree));
        tank_start(&t, 0, box_between(-1, -1, -1, 0.3, 0.3, 2));
        t.liquid.velocity = mo_v3(0.5, 0, 0.2);
        mo_shape *plate = mo_shape_box(mo_v3(thickness, 3, 3)), *leaning = mo_shape_rotate(plate, mo_v3(0, 0, 1), lean);
        add(&t, "wall", put(mo_shape_rotate(leaning, mo_v3(0, 1, 0), turn), middle.x, middle.y, middle.z));
        mo_shape_release(plate), mo_shape_release(leaning);
        mo_sim *sim = NULL;
        assert_int_equal(mo_sim_create(&t.def, &sim, NULL), MO_OK);
        assert_int_equal(beyond(sim, middle, normal), 0);
        while (mo_sim_frame(sim) < 10) sim_step(sim);
        int64_t passed = beyond(sim, middle, normal);
        print_message("wall of %.1f cells, %g and %g degrees: %lld passed\n", 1 + 0.1 * k, lean, turn,
                      (long long)passed);
        assert_true(passed == 0);
        mo_sim_destroy(sim);
        tank_end(&t);
    }
}

static void keep_warning(void *user, mo_log_level level, const char *text)
{
    char *kept = user;
    if (level == MO_LOG_WARNING) strncat(kept, text, 999 - strlen(kept));
}

// What is thinner than a cell is named before the run; what tapers off, and a cell's thickness, are not.
static void thin_solids_are_named(void **state)
{
    (void)state;
    char warning[1000] = "";
    tank t;
    tank_start(&t, 0, box_between(-1, -1, -1, 0.3, 0.3, 2));
    t.def.log = keep_warning, t.def.log_user = warning;
    add(&t, "sheet", box_between(0.5, 0, 0, 0.54, 0.5, 0.375));
    add(&t, "board", box_between(0.6, 0, 0, 0.6625, 0.5, 0.375));
    add(&t, "cone", put(mo_shape_cone(0.1, 0.2), 0.8, 0.1, 0.19));
    mo_sim *sim = NULL;
    assert_int_equal(mo_sim_create(&t.def, &sim, NULL), MO_OK);
    assert_non_null(strstr(warning, "fixed 'sheet': only 0.64 cells thick"));
    assert_null(strstr(warning, "board"));
    assert_null(strstr(warning, "cone"));
    mo_sim_destroy(sim);
    tank_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_pass_what_stands_on_the_floor),
        cmocka_unit_test(dams_break_onto_heaps),
        cmocka_unit_test(no_particle_enters_a_wedge),
        cmocka_unit_test(mazes_keep_their_levels),
        cmocka_unit_test(walls_of_a_cell_hold_water),
        cmocka_unit_test(thin_solids_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
