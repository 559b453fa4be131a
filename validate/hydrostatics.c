// A liquid at rest under gravity stays at rest, and its pressure is rho g depth: both are linear, so the discretisation
// must reproduce them exactly, in boxes, tanks tilted against the grid and curved tanks, with and without free surface.
//
// (a) on the grid, with an analytic level set; (b) whole simulations of tanks filled to the lid, and (c) with a free
// surface; (d) bodies that float where they were put: boxes rest; what the grid makes of a ball's volume is not exact,
// so it heaves by a hundredth of a cell at most; (e) balls and boxes that float in a surface inclined to the grid,
// under gravity at 17 degrees: put where the grid lets them float, which is within a thousandth of a cell and a
// hundredth of a degree of where they should be, they rest.
#include "validate.h"
#include "base/parallel.h"
#include "cases/case.h"

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

static double rms_speed(const mo_stats *s)
{
    return sqrt(2 * (s->kinetic_energy + s->body_kinetic_energy) / (density * s->volume_target));
}

typedef struct motion { // of a whole simulation
    double speed;       // largest of any particle at any time, m/s
    double rms, last;   // largest and last rms of the liquid, with the energy of bodies, m/s
    double way;         // largest distance of the first solid's centre of mass from where it began, m
} motion;

static motion watch(const mo_sim_def *def)
{
    mo_sim *sim = create_sim(def);
    motion m = {0};
    mo_body_state start = {0}, body = {0};
    if (def->solid_count) mo_sim_body(sim, 0, &start);
    while (!mo_sim_done(sim)) {
        mo_stats s = step_sim(sim);
        m.last = rms_speed(&s);
        m.speed = fmax(m.speed, s.max_speed), m.rms = fmax(m.rms, m.last);
        if (def->solid_count) mo_sim_body(sim, 0, &body);
        m.way = fmax(m.way, mo_norm(mo_sub(body.pose.position, start.pose.position)));
    }
    mo_sim_destroy(sim);
    return m;
}

static mo_sim_def still_def(const validation *v, bool flat, int32_t cells, double seconds)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(1, 1, flat ? 0 : 1);
    def.domain.cells = cells;
    def.threads = v->threads;
    def.time.fps = 1 / dt, def.time.seconds = v->quick ? 1 : seconds;
    return def;
}

static void simulate(validation *v, const tank *t, int32_t cells)
{
    mo_sim_def def = still_def(v, t->flat, cells, t->full ? 1 : 10);
    mo_shape *wall = tank_shape(t), *water = checked(mo_shape_plane(mo_v3(0, 1, 0), t->full ? 2 : level));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water, liquid.density = density;
    mo_solid_def solid = mo_solid_def_default();
    solid.name = "tank", solid.shape = wall;
    def.liquids = &liquid, def.liquid_count = 1;
    def.solids = &solid, def.solid_count = t->kind != BOX;
    motion m = watch(&def);
    mo_shape_release(wall), mo_shape_release(water);
    const char *d = t->flat ? "2D" : "3D", *name = tank_name[t->kind], *top = t->full ? "full" : "free surface";
    at_most(v, t->full ? m.speed : m.rms, 1e-6, "simulation %s %d cells, %s, %s, %g s: %s, m/s", d, cells, name, top,
            def.time.seconds, t->full ? "max |u|" : "largest rms |u|");
    if (!t->full) figure(m.speed, "    max |u|, m/s");
}

// ---- (d) Floating bodies ----

typedef struct floater {
    const char *name;
    bool flat, round;
    double viscosity;
    double bottom; // cells above a grid plane
} floater;

// Half as heavy as the liquid, half immersed: 0.4 m wide; a box is 0.3 m high.
static void simulate_floater(validation *v, const floater *f, int32_t cells)
{
    mo_sim_def def = still_def(v, f->flat, cells, 10);
    double high = f->round ? 0.4 : 0.3, dx = 1.0 / cells,
           stands = (rint((level - 0.5 * high) * cells) + f->bottom) * dx + 0.5 * high;
    mo_shape *body, *water = checked(mo_shape_plane(mo_v3(0, 1, 0), stands));
    if (!f->round) {
        body = checked(mo_shape_box(mo_v3(0.4, high, f->flat ? 1 : 0.4)));
    } else if (f->flat) {
        body = checked(mo_shape_cylinder(0.2, 1));
        body = owned(mo_shape_rotate(body, mo_v3(1, 0, 0), 90), body, NULL);
    } else
        body = checked(mo_shape_sphere(0.2));
    body = moved(body, mo_v3(0.5, stands, f->flat ? 0 : 0.5));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water, liquid.density = density, liquid.viscosity = f->viscosity;
    mo_solid_def solid = mo_solid_def_default();
    solid.name = f->name, solid.shape = body, solid.rigid = true, solid.density = 0.5 * density;
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &solid, def.solid_count = 1;
    motion m = watch(&def);
    mo_shape_release(body), mo_shape_release(water);
    const char *d = f->flat ? "2D" : "3D";
    char what[100];
    snprintf(what, sizeof what, "floating %s %d cells, %s at %g cells, %g Pa s, %g s", d, cells, f->name, f->bottom,
             f->viscosity, def.time.seconds);
    if (f->round)
        at_most(v, m.way / dx, 0.01, "%s: way, cells", what), figure(m.rms, "    largest rms |u|, m/s");
    else
        at_most(v, m.rms, 1e-6, "%s: largest rms |u|, m/s", what);
    figure(m.speed, "    max |u|, m/s"), figure(m.last, "    last rms |u|, m/s");
}

static void simulate_floaters(validation *v, bool flat, int32_t cells)
{
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 3; k++) // at a grid plane; between two, also with viscosity
            simulate_floater(v, &(floater){round ? "ball" : "box", flat, round, k == 2 ? 1e-3 : 0, k == 0 ? 0 : 0.4},
                             cells);
}

// ---- (e) Bodies in an inclined surface ----

typedef struct leaning {
    bool flat, box;
    double viscosity;
    double height, tilt; // m above where it should float, degrees
} leaning;

static const double lean = 17, half_width = 0.15;

// Half as heavy as the liquid, half immersed; a box is 0.6 times as high as it is wide.
static mo_sim *create_leaning(const validation *v, const leaning *f, int32_t cells)
{
    mo_sim_def def = still_def(v, f->flat, cells, 10);
    const double angle = lean * M_PI / 180;
    const mo_vec3 up = {sin(angle), cos(angle), 0}, at = {0.5, level, f->flat ? 0 : 0.5};
    mo_shape *body, *water = checked(mo_shape_plane(up, mo_dot(up, at)));
    if (f->box)
        body = checked(mo_shape_box(mo_v3(2 * half_width, 1.2 * half_width, f->flat ? 1 : 2 * half_width)));
    else if (f->flat) {
        body = checked(mo_shape_cylinder(half_width, 1));
        body = owned(mo_shape_rotate(body, mo_v3(1, 0, 0), 90), body, NULL);
    } else
        body = checked(mo_shape_sphere(half_width));
    body = owned(mo_shape_rotate(body, mo_v3(0, 0, 1), f->tilt - lean), body, NULL);
    body = moved(body, mo_add(at, mo_mul(f->height, up)));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water, liquid.density = density, liquid.viscosity = f->viscosity;
    mo_solid_def solid = mo_solid_def_default();
    solid.name = "body", solid.shape = body, solid.rigid = true, solid.density = 0.5 * density;
    def.gravity = mo_mul(-gravity, up);
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &solid, def.solid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_shape_release(body), mo_shape_release(water);
    return sim;
}

typedef struct push { // acceleration in the first step, over g: upwards, along the surface, of a turn times half_width
    double heave, along, spin;
} push;

static push first_push(const validation *v, const leaning *f, int32_t cells)
{
    mo_sim *sim = create_leaning(v, f, cells);
    const double angle = lean * M_PI / 180;
    mo_body_state b;
    double unit = step_sim(sim).dt * gravity;
    mo_sim_body(sim, 0, &b);
    mo_sim_destroy(sim);
    double heave = mo_dot(b.velocity, mo_v3(sin(angle), cos(angle), 0));
    mo_vec3 along = mo_sub(b.velocity, mo_mul(heave, mo_v3(sin(angle), cos(angle), 0)));
    return (push){heave / unit, mo_norm(along) / unit, b.angular_velocity.z * half_width / unit};
}

// Newton's method for the height, and the tilt of a box.
static void put_at_rest(const validation *v, leaning *f, int32_t cells)
{
    const double higher = 1e-4, turned = 0.05;
    for (int round = 0; round < 4; round++) {
        leaning h = *f, t = *f;
        h.height += higher, t.tilt += turned;
        push p = first_push(v, f, cells), up = first_push(v, &h, cells), turn = f->box ? first_push(v, &t, cells) : p;
        double a = (up.heave - p.heave) / higher, b = (turn.heave - p.heave) / turned;
        double c = f->box ? (up.spin - p.spin) / higher : 0, d = f->box ? (turn.spin - p.spin) / turned : 1;
        f->height -= (d * p.heave - b * p.spin) / (a * d - b * c);
        f->tilt -= f->box ? (a * p.spin - c * p.heave) / (a * d - b * c) : 0;
    }
}

static void simulate_leaning(validation *v, leaning f, int32_t cells)
{
    char what[100];
    snprintf(what, sizeof what, "inclined %s %d cells, %s, %g Pa s", f.flat ? "2D" : "3D", cells,
             f.box ? "box" : "ball", f.viscosity);
    push p = first_push(v, &f, cells);
    at_most(v, p.along, 1e-5, "%s: first acceleration along the surface, g", what);
    at_most(v, fabs(p.spin), f.box ? 1e-4 : 1e-5, "%s: first angular acceleration times half the width, g", what);
    put_at_rest(v, &f, cells);
    at_most(v, fabs(f.height) * cells, 0.001, "%s: height at which it floats, cells", what);
    if (f.box) at_most(v, fabs(f.tilt), 0.01, "%s: tilt at which it floats, degrees", what);
    mo_sim *sim = create_leaning(v, &f, cells);
    double most = 0;
    while (!mo_sim_done(sim)) {
        mo_stats s = step_sim(sim);
        most = fmax(most, rms_speed(&s));
    }
    mo_sim_destroy(sim);
    at_most(v, most, 1e-6, "%s, %d s: largest rms |u|, m/s", what, v->quick ? 1 : 10);
}

static void simulate_inclined(validation *v, bool flat, int32_t cells)
{
    for (int k = 0; k < 4; k++)
        simulate_leaning(v, (leaning){.flat = flat, .box = k & 1, .viscosity = k & 2 ? 1e-3 : 0}, cells);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Hydrostatics: a liquid at rest, steps of 0.01 s");
    mo_use_threads(v.threads);
    int32_t fine = v.cells ? v.cells : v.quick ? 32 : 64, coarse = v.cells ? v.cells : v.quick ? 20 : 32;
    int32_t lasting = v.cells ? v.cells : 20; // of runs over 10 s in 3D
    if (wants(&v, "grid")) on_the_grid(&v, true, fine), on_the_grid(&v, false, coarse);
    for (int full = 1; full >= 0; full--)
        for (int flat = 1; flat >= 0; flat--)
            for (int kind = 0; kind < TANK_KINDS; kind++)
                if (wants(&v, full ? "full" : "free"))
                    simulate(&v, &(tank){kind, flat, full}, flat ? fine : full ? coarse : lasting);
    if (wants(&v, "floating")) simulate_floaters(&v, true, fine), simulate_floaters(&v, false, lasting);
    if (wants(&v, "inclined")) simulate_inclined(&v, true, v.cells ? v.cells : 32);
    if (wants(&v, "inclined")) simulate_inclined(&v, false, v.cells ? v.cells : 16);
    return validation_end(&v);
}
