// What the Stokes step must get exactly right, at any viscosity, on domains that do not follow the grid (VS 6.2):
//
// rest    a liquid under gravity in box, tilted and round tank stays at rest, with and without free surface; its
//         pressure is rho g depth
// rigid   a free blob keeps its rigid translation and rotation; momenta are conserved whatever the velocity
// trouton a filament with free sides that is stretched carries the axial stress 4 eta e' (2D), 3 eta e' (3D)
// shear   between parallel plates that move against each other the stress is uniform, plates on or off the grid
#include "stokes_case.h"

static const double viscosities[] = {0, 1, 1e3, 1e6};
enum { VISCOSITIES = 4 };

static const double density = 1000, dt = 0.01;

// Velocities of a step are taken from and left in the system, in double.
static void noise(mo_system *s, double size)
{
    for (int32_t f = 0; f < s->faces.count; f++)
        s->faces.velocity[f] += size * (mo_unit(mo_hash((uint32_t)f, 7, 11)) - 0.5);
}

// ---- Rest ----

typedef enum tank_kind { BOX, TILTED, ROUND, TANK_KINDS } tank_kind;
static const char *const tank_name[TANK_KINDS] = {"box", "tilted tank", "round tank"};

typedef struct tank {
    tank_kind kind;
    bool flat, full;
} tank;

static const double gravity = 9.81, level = 0.5573, tank_radius = 0.4321, half_edge = 0.3137;

static mo_vec3 from_middle(bool flat, mo_vec3 x)
{
    mo_vec3 d = mo_sub(x, mo_v3(0.5, 0.5, 0.5));
    if (flat) d.z = 0;
    return d;
}

static double tank_distance(const void *user, mo_vec3 x)
{
    const tank *t = user;
    mo_vec3 d = from_middle(t->flat, x);
    if (t->kind == ROUND) return tank_radius - mo_norm(d);
    mo_quat q = mo_quat_axis_angle(t->flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), 23 * M_PI / 180);
    d = mo_quat_rotate(mo_quat_conj(q), d);
    return half_edge - fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
}

static double pool(const void *user, mo_vec3 x) { return ((const tank *)user)->full ? -1 : x.y - level; }

// Largest error of the pressure relative to rho g 1 m. Enclosed: up to a constant.
static double depth_error(const mo_case *c, const tank *t, const mo_liquid_system *s)
{
    const mo_block *b = s->system.block[MO_BLOCK_PRESSURE];
    double mean = 0, worst = 0;
    int32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < b->rows; r++) {
            double depth = level - cell_position(c->grid, s->cell_at[r]).y;
            double dx = c->grid->dx, wet = fmin(fmax(depth + 0.5 * dx, 0), dx);
            if (!t->full && wet < dx)
                depth = 0.5 * wet * wet / dx; // the multiplier is the mean of max(p, 0) over cells
            double error = b->x[r] / (density * gravity) - depth;
            if (pass == 0)
                mean += error, count++;
            else
                worst = fmax(worst, fabs(error - mean));
        }
        if (pass == 0) mean = t->full ? mean / count : 0;
    }
    return worst;
}

static void rest(validation *v, const tank *t, int32_t cells)
{
    enum { STEPS = 10 };
    double speed = 0, pressure = 0;
    for (int k = 0; k < VISCOSITIES; k++) {
        mo_case_def def = {.cells = {cells, cells, t->flat ? 1 : cells},
                           .dx = 1.0 / cells,
                           .liquid = pool,
                           .solid = t->kind == BOX ? NULL : tank_distance,
                           .user = t,
                           .density = density,
                           .viscosity = viscosities[k]};
        mo_case c = create_case(&def);
        // What the residual leaves of the strain rate makes pressures of that times the viscosity.
        mo_solver_def solver = solver_with(viscosities[k] < 1e6 ? 1e-9 : 1e-11);
        mo_liquid_system s = assemble(&c, dt, &solver);
        mo_system *y = &s.system;
        for (int step = 0; step < STEPS; step++) { // from the pressures of the step before
            for (int32_t f = 0; f < y->faces.count; f++)
                y->faces.velocity[f] -= mo_face_axis(s.face_at[f]) == 1 ? gravity * dt : 0;
            solve_system(v, y, &solver);
            speed = fmax(speed, mo_max_abs(y->faces.count, y->faces.velocity));
            pressure = fmax(pressure, depth_error(&c, t, &s));
        }
        mo_liquid_destroy(&s);
        mo_case_destroy(&c);
    }
    const char *d = t->flat ? "2D" : "3D", *top = t->full ? "full" : "free surface";
    at_most(v, speed, 1e-6, "rest %s %d cells, %s, %s: max |u|, m/s", d, cells, tank_name[t->kind], top);
    at_most(v, pressure, 1e-6, "rest %s %d cells, %s, %s: |p - rho g depth| / rho g H", d, cells, tank_name[t->kind],
            top);
}

// ---- Rigid motion ----

typedef struct motion {
    const char *name;
    bool flat;
    mo_vec3 shift, spin;
} motion;

static mo_vec3 rigid(const motion *m, mo_vec3 x)
{
    return mo_add(m->shift, mo_cross(m->spin, from_middle(m->flat, x)));
}

// Three overlapping balls, none of whose surfaces follows the grid, and a thin bridge.
static double blob(const void *user, mo_vec3 x)
{
    mo_vec3 d = from_middle(((const motion *)user)->flat, x);
    double a = mo_norm(mo_sub(d, mo_v3(-0.113, 0.031, 0))) - 0.171,
           b = mo_norm(mo_sub(d, mo_v3(0.093, -0.047, 0))) - 0.157;
    double c = mo_norm(mo_sub(d, mo_v3(0.271, 0.193, 0))) - 0.073;
    mo_vec3 ab = {0.2, 0.25, 0}, from = {0.07, -0.05, 0};
    double t = fmin(fmax(mo_dot(mo_sub(d, from), ab) / mo_dot(ab, ab), 0), 1);
    return fmin(fmin(a, b), fmin(c, mo_norm(mo_sub(d, mo_mad(from, t, ab))) - 0.037));
}

typedef struct momenta {
    mo_vec3 linear, angular;
    double scale;
} momenta;

static momenta momenta_of(const mo_case *c, const mo_liquid_system *s)
{
    momenta m = {0};
    for (int32_t f = 0; f < s->system.faces.count; f++) {
        int axis = mo_face_axis(s->face_at[f]);
        double p = s->system.faces.mass[f] * s->system.faces.velocity[f];
        mo_vec3 part = {axis == 0 ? p : 0, axis == 1 ? p : 0, axis == 2 ? p : 0};
        mo_vec3 d = from_middle(mo_grid_is_2d(c->grid), face_position(c->grid, s->face_at[f]));
        m.linear = mo_add(m.linear, part);
        m.angular = mo_add(m.angular, mo_cross(d, part));
        m.scale += fabs(p);
    }
    return m;
}

typedef struct drift {
    double velocity, linear, angular; // m/s; of the noisy motion, relative to the sum of |m u|
} drift;

static drift move(validation *v, const motion *m, double viscosity, const char *scheme, int32_t cells)
{
    mo_case_def def = {.cells = {cells, cells, m->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = blob,
                       .user = m,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c = create_case(&def);
    mo_solver_def solver =
        solver_with(1e-8); // the fast route keeps momentum to a thousandth of this, paper to rounding
    snprintf(solver.scheme, sizeof solver.scheme, "%s", scheme);
    mo_liquid_system s = assemble(&c, dt, &solver);
    mo_system *y = &s.system;
    drift d = {0};
    for (int noisy = 0; noisy < 2; noisy++) {
        for (int32_t f = 0; f < y->faces.count; f++)
            y->faces.velocity[f] = mo_get(rigid(m, face_position(c.grid, s.face_at[f])), mo_face_axis(s.face_at[f]));
        if (noisy) noise(y, 1);
        momenta before = momenta_of(&c, &s);
        solve_system(v, y, &solver);
        momenta after = momenta_of(&c, &s);
        d.linear = fmax(d.linear, mo_norm(mo_sub(after.linear, before.linear)) / before.scale);
        d.angular = fmax(d.angular, mo_norm(mo_sub(after.angular, before.angular)) / before.scale);
        for (int32_t f = 0; f < y->faces.count && !noisy; f++) {
            double exact = mo_get(rigid(m, face_position(c.grid, s.face_at[f])), mo_face_axis(s.face_at[f]));
            d.velocity = fmax(d.velocity, fabs(y->faces.velocity[f] - exact));
        }
    }
    mo_liquid_destroy(&s);
    mo_case_destroy(&c);
    return d;
}

static void rigid_motion(validation *v, bool flat, const char *scheme, int32_t cells)
{
    motion motions[] = {{"translation", flat, {1, -0.7, flat ? 0 : 0.4}, {0, 0, 0}},
                        {"rotation", flat, {0, 0, 0}, {flat ? 0 : 2, flat ? 0 : -1, 4}}};
    for (int i = 0; i < 2; i++) {
        drift worst = {0};
        for (int k = 0; k < VISCOSITIES; k++) {
            drift d = move(v, &motions[i], viscosities[k], scheme, cells);
            worst.velocity = fmax(worst.velocity, d.velocity);
            worst.linear = fmax(worst.linear, d.linear), worst.angular = fmax(worst.angular, d.angular);
        }
        const char *d = flat ? "2D" : "3D", *name = motions[i].name;
        at_most(v, worst.velocity, 1e-9, "rigid %s, %s, %s: change of velocity, m/s", d, scheme, name);
        at_most(v, worst.linear, 1e-9, "rigid %s, %s, %s with noise: linear momentum", d, scheme, name);
        at_most(v, worst.angular, 1e-9, "rigid %s, %s, %s with noise: angular momentum", d, scheme, name);
    }
}

// ---- Held flows: Trouton and shear ----

typedef enum flow_kind { SLAB, SQUARE, ROUND_FILAMENT, PLATES } flow_kind;

// A flow of uniform velocity gradient, held at its ends |x| > reach, with x along it.
typedef struct flow {
    const char *name;
    flow_kind kind;
    bool flat;
    double half;    // half the thickness, m
    double degrees; // against the grid
    double offset;  // m, of the middle across the flow
} flow;

static const double rate = 0.7, reach = 0.3, flow_viscosity = 1e4;

static mo_vec3 turn(const flow *f, mo_vec3 d, int sign)
{
    return mo_quat_rotate(mo_quat_axis_angle(mo_v3(0, 0, 1), sign * f->degrees * M_PI / 180), d);
}

// Position along and across.
static mo_vec3 in_flow(const flow *f, mo_vec3 x)
{
    mo_vec3 d = from_middle(f->flat, x);
    d.y -= f->offset;
    return turn(f, d, -1);
}

static double across(const flow *f, mo_vec3 d)
{
    if (f->kind == ROUND_FILAMENT) return sqrt(d.y * d.y + d.z * d.z);
    return f->kind == SQUARE ? fmax(fabs(d.y), fabs(d.z)) : fabs(d.y);
}

static double filament(const void *user, mo_vec3 x)
{
    const flow *f = user;
    mo_vec3 d = in_flow(f, x);
    return fmax(across(f, d) - f->half, fabs(d.x) - 0.45);
}
static double everywhere(const void *user, mo_vec3 x) { return (void)user, (void)x, -1; }

static double plate_distance(const void *user, int32_t plate, mo_vec3 x)
{
    const flow *f = user;
    return f->half + (plate == 0 ? 1 : -1) * in_flow(f, x).y;
}

// Extension, or shear that ends at the plates.
static mo_vec3 flow_velocity(const flow *f, mo_vec3 x)
{
    mo_vec3 d = in_flow(f, x);
    double squeeze = f->flat ? -rate : -0.5 * rate;
    mo_vec3 u = {rate * d.x, squeeze * d.y, f->flat ? 0 : squeeze * d.z};
    if (f->kind == PLATES) u = mo_v3(rate * fmin(fmax(d.y, -f->half), f->half), 0, 0);
    return turn(f, u, 1);
}
static mo_vec3 plate_velocity(const void *user, int32_t plate, mo_vec3 x)
{
    return (void)plate, flow_velocity(user, x);
}

typedef struct held {
    const flow *f;
    mo_solid_set solids;
    mo_case c;
    mo_liquid_system s;
    uint8_t *fixed[3];
} held;

// Starts from rest between the held ends. Momentum crosses the flow in 1e-2 of a step: a few make it steady.
// Longer steps would make the system too stiff for the tolerance.
static void hold(validation *v, held *h, const flow *f, const char *scheme, double tolerance, int32_t cells)
{
    *h = (held){.f = f};
    h->solids = (mo_solid_set){
        .count = f->kind == PLATES ? 2 : 0, .distance = plate_distance, .velocity = plate_velocity, .user = f};
    mo_case_def def = {.cells = {cells, cells, f->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = f->kind == PLATES ? everywhere : filament,
                       .solids = &h->solids,
                       .user = f,
                       .density = density,
                       .viscosity = flow_viscosity,
                       .slip_wall = {[MO_ZMIN] = true, [MO_ZMAX] = true}};
    h->c = create_case(&def);
    int32_t count = (int32_t)mo_grid_cells(h->c.grid);
    for (int a = 0; a < 3; a++) {
        h->fixed[a] = checked(calloc((size_t)count + 1, 1));
        for (int32_t i = 0; i < count; i++) {
            mo_vec3 x = face_position(h->c.grid, mo_face_code(i, a));
            h->fixed[a][i] = fabs(in_flow(f, x).x) > reach;
            if (h->fixed[a][i]) h->c.u[a][i] = (float)mo_get(flow_velocity(f, x), a);
        }
    }
    mo_solver_def solver = solver_with(tolerance);
    snprintf(solver.scheme, sizeof solver.scheme, "%s", scheme);
    h->s = assemble_fixed(&h->c, 1, &solver, (const uint8_t *const *)h->fixed);
    for (int step = 0; step < 4; step++) solve_system(v, &h->s.system, &solver);
}

static void release(held *h)
{
    mo_liquid_destroy(&h->s);
    mo_case_destroy(&h->c);
    for (int a = 0; a < 3; a++) free(h->fixed[a]);
}

// Whether a sample lies in the middle of the flow, off its ends; with a margin also off its sides.
static bool in_middle(const held *h, mo_vec3 x, double margin)
{
    mo_vec3 d = in_flow(h->f, x);
    return fabs(d.x) < 0.15 && across(h->f, d) < h->f->half - margin;
}

// Pressure of every cell with a row, from the multiplier WL^p p; 0 elsewhere. To be freed.
static double *cell_pressures(const held *h)
{
    const mo_block *b = h->s.system.block[MO_BLOCK_PRESSURE];
    double *p = checked(calloc((size_t)mo_grid_cells(h->c.grid) + 1, sizeof *p));
    for (int32_t r = 0; r < b->rows; r++) {
        int32_t i = h->s.cell_at[r];
        p[i] = b->x[r] / fmax(h->c.weights.liquid[MO_SAMPLE_CELL][i], mo_weight_clamp);
    }
    return p;
}

typedef struct range {
    double least, greatest, sum;
    int32_t count;
} range;

// Of one component of the total stress -p + s over eta times the rate, among the samples in the middle.
static range component(const held *h, int kind, double margin)
{
    const mo_block *b = h->s.system.block[MO_BLOCK_STRESS];
    double *p = cell_pressures(h);
    range all = {INFINITY, -INFINITY, 0, 0};
    for (int32_t r = 0; r < b->rows; r++) {
        int32_t at = h->s.sample_at[r];
        if ((at & 7) != kind || !in_middle(h, stress_position(h->c.grid, at), margin)) continue;
        double total = (b->x[r] - (kind < MO_STRESS_YZ ? p[at >> 3] : 0)) / (flow_viscosity * rate);
        all.least = fmin(all.least, total), all.greatest = fmax(all.greatest, total);
        all.sum += total, all.count++;
    }
    free(p);
    return all;
}

// Mean stress in the frame of a flow in 2D: along it, or across (shear). yy = -xx up to the pressure.
static double mean_stress(const held *h, bool shear)
{
    double margin = 0.05, angle = h->f->degrees * M_PI / 180, c = cos(angle), s = sin(angle), pressure = 0;
    range xx = component(h, MO_STRESS_XX, margin), xy = component(h, MO_STRESS_XY, margin);
    const mo_block *b = h->s.system.block[MO_BLOCK_PRESSURE];
    for (int32_t r = 0, n = 0; r < b->rows; r++) {
        mo_vec3 x = cell_position(h->c.grid, h->s.cell_at[r]);
        if (in_middle(h, x, margin)) n++, pressure += (b->x[r] / (flow_viscosity * rate) - pressure) / n;
    }
    double deviator = xx.sum / xx.count + pressure, t = xy.sum / xy.count;
    return shear ? (c * c - s * s) * t - 2 * c * s * deviator : (c * c - s * s) * deviator + 2 * c * s * t - pressure;
}

// Largest error of the velocity in the middle, over the rate times half the thickness.
static double velocity_error(const held *h)
{
    double worst = 0;
    uint8_t *has_rows = find_held_faces(&h->s.system);
    for (int32_t k = 0; k < h->s.system.faces.count; k++) {
        int32_t at = h->s.face_at[k];
        mo_vec3 x = face_position(h->c.grid, at);
        if (!has_rows[k] || !in_middle(h, x, 0)) continue;
        worst = fmax(worst, fabs(h->s.system.faces.velocity[k] - mo_get(flow_velocity(h->f, x), mo_face_axis(at))));
    }
    free(has_rows);
    return worst / (rate * h->f->half);
}

static double largest_difference(range r, double exact)
{
    return fmax(fabs(r.least - exact), fabs(r.greatest - exact));
}

static void trouton(validation *v, int32_t flat_cells, int32_t deep_cells)
{
    const flow flows[] = {{"2D slab", SLAB, true, 0.1137, 0, 0.0123},
                          {"3D square filament", SQUARE, false, 0.1437, 0, 0.0123},
                          {"3D round filament", ROUND_FILAMENT, false, 0.1537, 0, 0.0123}};
    for (int i = 0; i < 3; i++) {
        double ratio = flows[i].flat ? 4 : 3;
        int32_t cells = flows[i].flat ? flat_cells : deep_cells;
        held h;
        hold(v, &h, &flows[i], "PV-unified", 1e-8, cells);
        at_most(v, largest_difference(component(&h, MO_STRESS_XX, 0), ratio), 1e-5,
                "trouton, %s: axial stress - %g eta e', over eta e'", flows[i].name, ratio);
        at_most(v, velocity_error(&h), 1e-5, "trouton, %s: error of velocity, over e' a", flows[i].name);
        release(&h);
        hold(v, &h, &flows[i], "P-V-P", 1e-8, cells);
        range r = component(&h, MO_STRESS_XX, 0);
        figure(r.sum / r.count / ratio, "trouton, %s, P-V-P: axial stress over %g eta e'", flows[i].name, ratio);
        figure(velocity_error(&h), "trouton, %s, P-V-P: error of velocity, over e' a", flows[i].name);
        release(&h);
    }
}

static void shear(validation *v, int32_t flat_cells, int32_t deep_cells)
{
    const flow flows[] = {{"2D, plates on the grid", PLATES, true, 0.25, 0, 0},
                          {"2D, plates off the grid", PLATES, true, 0.2437, 0, 0.0123},
                          {"3D, plates off the grid", PLATES, false, 0.2437, 0, 0.0123}};
    for (int i = 0; i < 3; i++) {
        held h;
        hold(v, &h, &flows[i], "PV-unified", 1e-8, flows[i].flat ? flat_cells : deep_cells);
        at_most(v, largest_difference(component(&h, MO_STRESS_XY, -1), 1), 1e-5,
                "shear, %s: stress - eta U / h, over eta U / h", flows[i].name);
        at_most(v, velocity_error(&h), 1e-5, "shear, %s: error of velocity, over U / 2", flows[i].name);
        release(&h);
    }
}

// The weights of one line differ from face to edge, so what is exact along the grid is of first order across it.
static void tilted(validation *v, const int32_t *cells, int count)
{
    const flow slab = {"2D slab", SLAB, true, 0.1137, 20, 0.0123}, plates = {"2D", PLATES, true, 0.2437, 20, 0.0123};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            held h;
            hold(v, &h, k ? &plates : &slab, "PV-unified", 1e-6, cells[i]);
            const char *name = k ? "shear, plates" : "trouton, slab";
            double error = fabs(mean_stress(&h, k) / (k ? 1 : 4) - 1);
            if (i == count - 1)
                at_most(v, error, 0.005, "%s tilted by 20 degrees, %d cells: error of mean stress", name, cells[i]);
            else
                figure(error, "%s tilted by 20 degrees, %d cells: error of mean stress", name, cells[i]);
            figure(velocity_error(&h), "%s tilted by 20 degrees, %d cells: error of velocity", name, cells[i]);
            release(&h);
        }
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Exact solutions of the Stokes step, viscosities 0, 1, 1e3, 1e6 Pa s");
    mo_use_threads(v.threads);
    const int32_t tilted_cells[] = {32, 64, 128}, fine = v.quick ? 32 : 48, coarse = v.quick ? 12 : 16;
    for (int flat = 1; flat >= 0; flat--)
        for (int kind = 0; kind < TANK_KINDS && wants(&v, "rest"); kind++)
            for (int full = 0; full < 2; full++) rest(&v, &(tank){kind, flat, full}, flat ? fine : coarse);
    for (int flat = 1; flat >= 0 && wants(&v, "rigid"); flat--) {
        rigid_motion(&v, flat, "PV-unified", flat ? 48 : 24);
        rigid_motion(&v, flat, "P-V-P", flat ? 48 : 24);
    }
    if (wants(&v, "trouton")) trouton(&v, 48, 24);
    if (wants(&v, "shear")) shear(&v, 48, coarse);
    if (wants(&v, "tilted")) tilted(&v, tilted_cells, v.quick ? 2 : 3);
    return validation_end(&v);
}
