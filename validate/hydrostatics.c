// A liquid at rest under gravity stays at rest, and its pressure is rho g depth: both are linear, so the discretisation
// must reproduce them exactly, in boxes, tanks tilted against the grid and curved tanks, with and without free surface.
//
// (a) on the grid, with an analytic level set; (b) whole simulations of tanks filled to the lid; (c) whole simulations
// with a free surface, where the level set made from particles is bumpy: reported, not required.
#include "validate.h"
#include "base/parallel.h"
#include "bench/case.h"

enum { STEPS = 100 };

static const double gravity = 9.81, density = 1000, dt = 0.01;

typedef enum tank_kind { BOX, TILTED, ROUND, TANK_KINDS } tank_kind;
static const char *const tank_name[TANK_KINDS] = {"box", "tilted tank", "round tank"};

typedef struct tank {
    tank_kind kind;
    bool flat; // 2D
    bool full; // no free surface
} tank;

static const mo_vec3 centre = {0.5, 0.5, 0.5};
static const double level = 0.5573, radius = 0.4321, half_edge = 0.3137, degrees = 23;

// A point in the frame of the tilted tank.
static mo_vec3 tilt(const tank *t, mo_vec3 x)
{
    mo_vec3 d = mo_sub(x, centre);
    if (t->flat) d.z = 0;
    mo_quat q = mo_quat_axis_angle(t->flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), degrees * M_PI / 180);
    return mo_quat_rotate(mo_quat_conj(q), d);
}

static double solid_distance(const void *user, mo_vec3 x)
{
    const tank *t = user;
    mo_vec3 d = tilt(t, x);
    if (t->kind == TILTED) return half_edge - fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
    return radius - mo_norm(d);
}

static double liquid_distance(const void *user, mo_vec3 x) { return ((const tank *)user)->full ? -1 : x.y - level; }

// ---- (a) On the grid ----

typedef struct rest {
    double speed, pressure; // largest |u|, m/s; largest error of the pressure relative to rho g times the height
} rest;

// Pressures of an enclosed liquid are known up to a constant: the mean difference is taken out.
static double pressure_error(const mo_case *c, const tank *t, const mo_liquid_system *p)
{
    const mo_block *b = p->system.block[MO_BLOCK_PRESSURE];
    double mean = 0, worst = 0, scale = density * gravity;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t r = 0; r < b->rows; r++) {
            int32_t at[3];
            mo_grid_cell(c->grid, p->cell_at[r], at);
            double depth = level - mo_grid_world(c->grid, at[0], at[1] + 0.5, at[2]).y, error = b->x[r] / scale - depth;
            if (pass == 0)
                mean += t->full ? error / b->rows : 0;
            else
                worst = fmax(worst, fabs(error - mean));
        }
    return worst;
}

static double largest_speed(const mo_liquid_system *p)
{
    double largest = 0;
    for (int32_t f = 0; f < p->system.faces.count; f++) largest = fmax(largest, fabs(p->system.faces.velocity[f]));
    return largest;
}

static rest stand(const tank *t, int32_t cells)
{
    mo_case_def def = {.cells = {cells, cells, t->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = liquid_distance,
                       .solid = t->kind == BOX ? NULL : solid_distance,
                       .user = t,
                       .density = density};
    mo_case c;
    mo_error err;
    must(mo_case_create(&def, &c, &err), &err);
    mo_solver_def solver = mo_sim_def_default().solver;
    rest r = {0};
    for (int step = 0; step < STEPS; step++) {
        mo_liquid_system p;
        mo_system_info info;
        for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] -= (float)(gravity * dt);
        must(mo_case_project(&c, dt, &solver, &info, &p, &err), &err);
        r.speed = fmax(r.speed, largest_speed(&p));
        r.pressure = fmax(r.pressure, pressure_error(&c, t, &p));
        mo_liquid_destroy(&p);
    }
    mo_case_destroy(&c);
    return r;
}

static void on_the_grid(validation *v, bool flat, int32_t cells)
{
    for (int kind = 0; kind < TANK_KINDS; kind++)
        for (int full = 0; full < 2; full++) {
            tank t = {kind, flat, full};
            rest r = stand(&t, cells);
            const char *top = full ? "full" : "free surface", *d = flat ? "2D" : "3D";
            at_most(v, r.speed, 1e-6, "grid %s %d cells, %s, %s: max |u|, m/s", d, cells, tank_name[kind], top);
            at_most(v, r.pressure, 1e-6, "grid %s %d cells, %s, %s: |p - rho g depth| / rho g H", d, cells,
                    tank_name[kind], top);
        }
}

// ---- (b), (c) Whole simulations ----

static mo_shape *owned(mo_shape *made, mo_shape *a, mo_shape *b)
{
    mo_shape_release(a), mo_shape_release(b);
    return checked(made);
}

static mo_shape *moved(mo_shape *s, mo_vec3 by) { return owned(mo_shape_move(s, by), s, NULL); }
static mo_shape *minus(mo_shape *a, mo_shape *b) { return owned(mo_shape_difference(a, b), a, b); }

// Everything but the inside of the tank.
static mo_shape *tank_shape(const tank *t)
{
    mo_shape *inside;
    if (t->kind == TILTED) {
        double edge = 2 * half_edge;
        inside = checked(mo_shape_box(mo_v3(edge, edge, t->flat ? 10 : edge)));
        inside = owned(mo_shape_rotate(inside, t->flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), degrees), inside, NULL);
    } else if (t->flat) {
        inside = checked(mo_shape_cylinder(radius, 10));
        inside = owned(mo_shape_rotate(inside, mo_v3(1, 0, 0), 90), inside, NULL);
    } else
        inside = checked(mo_shape_sphere(radius));
    mo_shape *around = checked(mo_shape_box(mo_v3(4, 4, 4)));
    return minus(moved(around, centre), moved(inside, centre));
}

static void simulate(validation *v, const tank *t, int32_t cells)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(1, 1, t->flat ? 0 : 1);
    def.domain.cells = cells;
    def.threads = v->threads;
    def.time.fps = 1 / dt, def.time.seconds = STEPS * dt;
    mo_shape *wall = tank_shape(t), *water = checked(mo_shape_plane(mo_v3(0, 1, 0), t->full ? 2 : level));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water, liquid.density = density;
    mo_solid_def solid = mo_solid_def_default();
    solid.name = "tank", solid.shape = wall;
    def.liquids = &liquid, def.liquid_count = 1;
    def.solids = &solid, def.solid_count = t->kind != BOX;
    mo_sim *sim = create_sim(&def);
    double speed = 0, energy = 0, volume = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
        mo_stats s = step_sim(sim);
        speed = fmax(speed, s.max_speed), energy = fmax(energy, s.kinetic_energy), volume = s.volume_target;
        last = s.kinetic_energy;
    }
    mo_sim_destroy(sim);
    mo_shape_release(wall), mo_shape_release(water);
    const char *d = t->flat ? "2D" : "3D", *name = tank_name[t->kind];
    if (t->full) {
        at_most(v, speed, 1e-6, "simulation %s %d cells, %s, full: max |u|, m/s", d, cells, name);
    } else {
        figure(speed, "simulation %s %d cells, %s, free surface: max |u|, m/s", d, cells, name);
        figure(sqrt(2 * energy / (density * volume)), "simulation %s %d cells, %s, free surface: largest rms |u|", d,
               cells, name);
        figure(sqrt(2 * last / (density * volume)), "simulation %s %d cells, %s, free surface: last rms |u|", d, cells,
               name);
    }
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Hydrostatics: a liquid at rest, 100 steps of 0.01 s");
    mo_use_threads(v.threads);
    int32_t fine = v.cells ? v.cells : v.quick ? 32 : 64, coarse = v.cells ? v.cells : v.quick ? 20 : 32;
    on_the_grid(&v, true, fine);
    on_the_grid(&v, false, coarse);
    for (int full = 1; full >= 0; full--)
        for (int flat = 1; flat >= 0; flat--)
            for (int kind = 0; kind < TANK_KINDS; kind++) simulate(&v, &(tank){kind, flat, full}, flat ? fine : coarse);
    return validation_end(&v);
}
