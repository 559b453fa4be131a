// Liquid with a free surface at shells without thickness: that it rests, stays where it is, and gains no energy.
//
// rest    Still water about submerged plates, about a junction of three plates and in a cup: nothing moves.
// force   The force on a cup is the weight of the water in it.
// drop    A ball of water falls into a cup of water, below its rim: nothing leaves, and energy does not grow.
// sinking scenes/sinking_cup.lua: a cup afloat takes in a ball of water and sinks. No particle may be much faster than
//         the ball can fall.
// settle  The same drop of a liquid of 2 Pa s comes to rest.
// minute  scenes/thin_cup.lua for a minute. Liquid without viscosity keeps sloshing; its energy must not grow.
#include "validate.h"
#include "sim/sim.h"

static const double gravity = 9.81, density = 1000;

static mo_shape *moved(mo_shape *shape, mo_vec3 by)
{
    mo_shape *m = checked(mo_shape_move(checked(shape), by));
    mo_shape_release(shape);
    return m;
}

// ---- Boxes of liquid with one shell ----

typedef struct world {
    mo_sim_def def;
    mo_sheet sheet;
    mo_shell_def shell;
    mo_liquid_def liquid[2];
} world;

// A cube of 1 m. The sheet is made by the caller.
static void world_start(world *w, const validation *v, int32_t cells)
{
    *w = (world){.def = mo_sim_def_default(), .shell = mo_shell_def_default()};
    w->def.domain.size = mo_v3(1, 1, 1), w->def.domain.cells = v->cells ? v->cells : cells;
    w->def.threads = v->threads, w->def.time.fps = 50, w->def.time.seconds = 60;
    w->shell.name = "shell", w->shell.sheet = &w->sheet;
    w->def.shells = &w->shell, w->def.shell_count = 1, w->def.liquids = w->liquid;
}

static void add_liquid(world *w, mo_shape *shape, double viscosity)
{
    mo_liquid_def *l = &w->liquid[w->def.liquid_count++];
    *l = mo_liquid_def_default();
    l->shape = shape, l->viscosity = viscosity, l->density = density;
}

static void world_end(world *w, mo_sim *sim)
{
    mo_sim_destroy(sim);
    for (int32_t i = 0; i < w->def.liquid_count; i++) mo_shape_release((mo_shape *)w->liquid[i].shape);
    mo_sheet_destroy(&w->sheet);
}

static double edge_of(const world *w) { return 1.0 / w->def.domain.cells; }

static void cup_of(world *w, const validation *v, int32_t cells, double viscosity, double depth)
{
    mo_error err;
    world_start(w, v, cells);
    must(mo_sheet_cup(0.3, 0.6, edge_of(w), &w->sheet, &err), &err);
    mo_sheet_move(&w->sheet, mo_v3(0.5, 0.15, 0.5));
    add_liquid(w, moved(mo_shape_cylinder(0.3, depth), mo_v3(0.5, 0.15 + 0.5 * depth, 0.5)), viscosity);
}

// ---- Rest and force ----

static double fastest_in(mo_sim *sim, int steps)
{
    double fastest = 0;
    for (int k = 0; k < steps; k++) fastest = fmax(fastest, step_sim(sim).max_speed);
    return fastest;
}

static void rest(validation *v, world *w, const char *what)
{
    mo_sim *sim = create_sim(&w->def);
    at_most(v, fastest_in(sim, v->quick ? 5 : 20), 1e-6, "rest: %s: fastest particle, m/s", what);
    world_end(w, sim);
}

static void plate_under_water(validation *v, double about_x, double about_z)
{
    char what[80];
    mo_error err;
    world w;
    world_start(&w, v, 16);
    must(mo_sheet_plate(0.5, 0.4, edge_of(&w), &w.sheet, &err), &err);
    mo_sheet_rotate(&w.sheet, mo_v3(1, 0, 0), about_x);
    mo_sheet_rotate(&w.sheet, mo_v3(0, 0, 1), about_z);
    mo_sheet_move(&w.sheet, mo_v3(0.51, 0.33, 0.48));
    add_liquid(&w, checked(mo_shape_plane(mo_v3(0, 1, 0), 0.7)), 0);
    snprintf(what, sizeof what, "plate under water, turned by %.1f and %.1f", about_x, about_z);
    rest(v, &w, what);
}

// Three half planes that meet in a line, through the surface.
static void junction(validation *v)
{
    mo_error err;
    world w;
    mo_sheet part[3], two;
    world_start(&w, v, 16);
    for (int k = 0; k < 3; k++) {
        must(mo_sheet_plate(0.3, 0.8, edge_of(&w), &part[k], &err), &err);
        mo_sheet_move(&part[k], mo_v3(0.15, 0, 0));
        mo_sheet_rotate(&part[k], mo_v3(1, 0, 0), 0.5 * 3.14159265358979323846);
        mo_sheet_rotate(&part[k], mo_v3(0, 1, 0), 0.4 + k * 2.0943951023931953);
        mo_sheet_move(&part[k], mo_v3(0.51, 0.42, 0.48));
    }
    must(mo_sheet_weld(&part[0], &part[1], 1e-9, &two, &err), &err);
    must(mo_sheet_weld(&two, &part[2], 1e-9, &w.sheet, &err), &err);
    for (int k = 0; k < 3; k++) mo_sheet_destroy(&part[k]);
    mo_sheet_destroy(&two);
    add_liquid(&w, checked(mo_shape_plane(mo_v3(0, 1, 0), 0.6)), 0);
    rest(v, &w, "three plates that meet, through the surface");
}

static void check_rest(validation *v)
{
    static const double angle[3][2] = {{0, 0}, {0.3, 0}, {0.5, 0.7}};
    for (int k = 0; k < 3; k++) plate_under_water(v, angle[k][0], angle[k][1]);
    junction(v);
    world w;
    cup_of(&w, v, 16, 0, 0.3);
    rest(v, &w, "cup of water");
}

static double level_volume(const mo_sim *sim)
{
    return mo_levelset_volume(sim->grid, sim->level.phi, sim->openings.volume) * mo_grid_cell_volume(sim->grid);
}

static double force_error(const validation *v, double depth)
{
    world w;
    cup_of(&w, v, 16, 0, depth);
    mo_sim *sim = create_sim(&w.def);
    double off = 0;
    for (int k = 0; k < (v->quick ? 5 : 20); k++) {
        mo_body_state cup;
        double weight = density * gravity * level_volume(sim); // of the water that the step begins with
        step_sim(sim);
        mo_sim_shell(sim, 0, &cup);
        off = fmax(off, fabs(-cup.force.y / weight - 1));
    }
    world_end(&w, sim);
    return off;
}

static void check_force(validation *v)
{
    at_most(v, force_error(v, 0.35), 1e-6, "force on a cup of water over its weight, less 1");
    at_most(v, force_error(v, 0.3), 1e-6, "the same with the surface between planes of the lattice");
}

// ---- Whole runs ----

typedef struct course {
    int64_t crossed, lost;
    double volume, energy, fastest; // largest errors over the run; m/s
    double later;                   // the volume's after 2 s
    double late;                    // m/s: fastest in the last quarter
    double kinetic[2];              // J: largest in the second sixth of the run, and in the last
    double rms;                     // m/s, at the end
} course;

static course follow(mo_sim *sim, double seconds)
{
    course c = {0};
    int64_t start = mo_sim_particle_count(sim);
    while (mo_sim_time(sim) < seconds - 1e-9) {
        mo_stats s = step_sim(sim);
        double part = s.time / seconds, mass = density * s.volume_target;
        c.crossed += s.crossed;
        c.volume = fmax(c.volume, fabs(s.volume_error));
        if (s.time > 2) c.later = fmax(c.later, fabs(s.volume_error));
        c.energy = fmax(c.energy, s.energy_error), c.fastest = fmax(c.fastest, s.max_speed);
        if (part > 0.75) c.late = fmax(c.late, s.max_speed);
        if (part > 1 / 6.0 && part <= 2 / 6.0) c.kinetic[0] = fmax(c.kinetic[0], s.kinetic_energy);
        if (part > 5 / 6.0) c.kinetic[1] = fmax(c.kinetic[1], s.kinetic_energy);
        c.rms = sqrt(2 * s.kinetic_energy / mass);
    }
    c.lost = start - mo_sim_particle_count(sim);
    return c;
}

static void judge(validation *v, const course *c, const char *what, double volume, double energy)
{
    at_most(v, (double)c->lost, 0, "%s: particles lost", what);
    at_most(v, (double)c->crossed, 0, "%s: particles that crossed", what);
    at_most(v, c->volume, volume, "%s: volume error in any step", what);
    if (c->later > 0) at_most(v, c->later, 0.5 * volume, "%s: the same after 2 s", what);
    at_most(v, c->energy, energy, "%s: energy above its least value, in any step", what);
}

// Particles outside of the cup.
static int64_t outside(const mo_sim *sim)
{
    int64_t count = 0;
    snapshot s = take_snapshot(sim);
    for (int64_t q = 0; q < s.count; q++) {
        const float *x = s.x + 3 * q;
        count += x[1] < 0.15 || (x[1] < 0.75 && hypot(x[0] - 0.5, x[2] - 0.5) > 0.3);
    }
    free_snapshot(&s);
    return count;
}

static void check_drop(validation *v, const char *what, double viscosity, double seconds)
{
    world w;
    cup_of(&w, v, 16, viscosity, 0.3);
    add_liquid(&w, moved(mo_shape_sphere(0.12), mo_v3(0.5, 0.6, 0.5)), viscosity);
    mo_sim *sim = create_sim(&w.def);
    course c = follow(sim, v->quick ? 0.5 : seconds);
    judge(v, &c, what, 0.01, 0.005);
    at_most(v, (double)outside(sim), 0, "%s: particles outside of the cup", what);
    if (viscosity > 0 && !v->quick) at_most(v, c.rms, 1e-5, "%s: rms speed at the end, m/s", what);
    world_end(&w, sim);
}

static course run_scene(const validation *v, const char *scene, const char *const *overrides, double seconds)
{
    mo_scene *s;
    mo_error err;
    must(mo_scene_load(scene, overrides, 1, &s, &err), &err);
    mo_scene_sim_def_mutable(s)->threads = v->threads;
    mo_sim *sim = create_sim(mo_scene_sim_def(s));
    course c = follow(sim, seconds);
    mo_sim_destroy(sim);
    mo_scene_destroy(s);
    return c;
}

static void check_sinking(validation *v)
{
    const char *cells[1] = {"domain.cells=20"};
    course c = run_scene(v, "scenes/sinking_cup.lua", cells, v->quick ? 0.4 : 4);
    judge(v, &c, "sinking cup", 0.01, 0.002);
    at_most(v, c.fastest, 3.1, "sinking cup: fastest particle, m/s (the ball falls to the floor at 3.0)");
    if (!v->quick) at_most(v, c.late, 1.5, "sinking cup: fastest particle in the last second, m/s");
}

static void check_minute(validation *v)
{
    const char *cells[1] = {"domain.cells=18"};
    course c = run_scene(v, "scenes/thin_cup.lua", cells, v->quick ? 1 : 60);
    judge(v, &c, "minute", 0.01, 0.005);
    if (v->quick) return;
    at_most(v, c.kinetic[1] / c.kinetic[0], 1, "minute: largest kinetic energy, 50..60 s over 10..20 s");
    figure(c.rms, "minute: rms speed at the end, m/s");
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Liquid at shells without thickness");
    if (wants(&v, "rest")) check_rest(&v);
    if (wants(&v, "force")) check_force(&v);
    if (wants(&v, "drop")) check_drop(&v, "drop", 0, 4);
    if (wants(&v, "sinking")) check_sinking(&v);
    if (wants(&v, "settle")) check_drop(&v, "settle", 2, 10);
    if (wants(&v, "minute")) check_minute(&v);
    return validation_end(&v);
}
