// Walls that let a viscous liquid slip against walls that hold it.
//
// couette  a cylinder at rest inside a turning tank: with slip the liquid turns like a rigid body and leaves the
//          cylinder without torque; held, the torque is 4 pi eta W R1^2 R2^2 / (R2^2 - R1^2) per length
// plug     liquid that moves along an open channel: with slip it goes on like a rigid body, held it loses its momentum
#include "plot.h"
#include "stokes_case.h"

static const mo_vec3 middle = {0.5037, 0.4961, 0};
static const double density = 1000, viscosity = 1e3, dt = 10; // momentum crosses the liquid in a part of a step
enum { STEPS = 3 };

// ---- Couette ----

static const double inner = 0.1713, outer = 0.4337, spin = 0.8;

static double from_middle(mo_vec3 x) { return hypot(x.x - middle.x, x.y - middle.y); }
static mo_vec3 turning(mo_vec3 x) { return mo_v3(-spin * (x.y - middle.y), spin * (x.x - middle.x), 0); }

static double everywhere(const void *user, mo_vec3 x) { return (void)user, (void)x, -1; }
static double cylinder(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user;
    return solid == 0 ? from_middle(x) - inner : outer - from_middle(x);
}
static mo_vec3 tank_turns(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user;
    return solid == 0 ? mo_v3(0, 0, 0) : turning(x);
}

// Velocity round the middle at a distance r: A r + B / r, or rigid.
static double angular_rate(bool slip, double r)
{
    double a = outer * outer / (outer * outer - inner * inner);
    return slip ? spin : spin * a * (1 - inner * inner / (r * r));
}

typedef struct couette {
    double torque, balance, velocity; // relative to the held cylinder's torque, and to W R2
} couette;

static couette turn(validation *v, bool slip, int32_t cells)
{
    const uint8_t slips[2] = {slip, 0};
    mo_solid_set solids = {.count = 2, .distance = cylinder, .velocity = tank_turns, .slip = slips};
    mo_case_def def = {.cells = {cells, cells, 1},
                       .dx = 1.0 / cells,
                       .liquid = everywhere,
                       .solids = &solids,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c = create_case(&def);
    mo_solver_def solver = solver_with(1e-7);
    mo_liquid_system s = assemble(&c, dt, &solver);
    for (int step = 0; step < STEPS; step++) solve_system(v, &s.system, &solver);
    mo_stress_def blocks = mo_case_stress_def(&c, dt, &solver);
    mo_vec3 about[2] = {middle, middle}, force[2], torque[2];
    mo_error err;
    must(mo_stress_forces(&blocks, &s, about, force, torque, c.arena, &err), &err);
    double exact = 4 * M_PI * viscosity * spin * inner * inner * outer * outer / (outer * outer - inner * inner);
    couette r = {.torque = torque[0].z / def.dx / exact, .balance = (torque[0].z + torque[1].z) / def.dx / exact};
    for (int32_t f = 0; f < s.system.faces.count; f++) {
        mo_vec3 x = face_position(c.grid, s.face_at[f]);
        double d = from_middle(x);
        if (d < inner || d > outer) continue;
        double here = mo_get(turning(x), mo_face_axis(s.face_at[f])) * angular_rate(slip, d) / spin;
        r.velocity = fmax(r.velocity, fabs(s.system.faces.velocity[f] - here) / (spin * outer));
    }
    mo_liquid_destroy(&s);
    mo_case_destroy(&c);
    return r;
}

static void turning_tank(validation *v, const int32_t *cells, int count)
{
    double n[8], held[8], loose[8], held_u[8], loose_u[8];
    for (int i = 0; i < count; i++) {
        couette h = turn(v, false, cells[i]), l = turn(v, true, cells[i]);
        n[i] = cells[i], held[i] = fabs(h.torque - 1), loose[i] = fabs(l.torque);
        held_u[i] = h.velocity, loose_u[i] = l.velocity;
        printf("  couette, %3d cells: torque held %.4f, slip %+.4f; velocity error held %.4f, slip %.4f\n", cells[i],
               h.torque, l.torque, h.velocity, l.velocity);
        at_most(v, fabs(h.balance), 1e-3, "couette, %d cells, held: torques of cylinder and tank, sum", cells[i]);
        figure(l.balance, "couette, %d cells, slip: torques of cylinder and tank, sum", cells[i]);
    }
    at_most(v, held[count - 1], 0.01, "couette, %d cells, held: error of the torque", cells[count - 1]);
    at_most(v, loose[count - 1], 0.01, "couette, %d cells, slip: torque over the held cylinder's", cells[count - 1]);
    if (!v->plots) return;
    double ends[2] = {n[0], n[count - 1]}, slope[2] = {held[0], held[0] * n[0] / n[count - 1]};
    plot_series_t series[] = {{"torque, held", count, n, held, PLOT_POINTS},
                              {"torque, slip", count, n, loose, PLOT_POINTS},
                              {"velocity, held", count, n, held_u, PLOT_POINTS},
                              {"velocity, slip", count, n, loose_u, PLOT_POINTS},
                              {"order 1", 2, ends, slope, PLOT_LINE}};
    plot_def p = {"Cylinder at rest in a turning tank", "cells", "error", true, true};
    plot_write(v->plots, "stokes_slip.svg", &p, series, 5);
}

// ---- Plug ----

typedef struct channel {
    double half, degrees;
} channel;

static const double speed = 0.6, short_step = 0.1;

static mo_vec3 direction(const channel *c)
{
    return mo_v3(cos(c->degrees * M_PI / 180), sin(c->degrees * M_PI / 180), 0);
}
static double across(const channel *c, mo_vec3 x)
{
    mo_vec3 d = direction(c);
    return (x.y - middle.y) * d.x - (x.x - middle.x) * d.y;
}
static double plate(const void *user, int32_t solid, mo_vec3 x)
{
    const channel *c = user;
    return c->half + (solid == 0 ? 1 : -1) * across(c, x);
}

typedef struct flow {
    double change, kept; // largest |u - U| / U; part of the momentum along the channel that is left
} flow;

// One step from the plug's velocity, in a channel that is open at both ends.
static flow coast(validation *v, const channel *ch, bool slip, int32_t cells)
{
    const uint8_t slips[2] = {slip, slip};
    mo_solid_set solids = {.count = 2, .distance = plate, .user = ch, .slip = slips};
    for (int w = 0; w < 6; w++) solids.open_wall[w] = w < MO_ZMIN;
    mo_case_def def = {.cells = {cells, cells, 1},
                       .dx = 1.0 / cells,
                       .liquid = everywhere,
                       .solids = &solids,
                       .user = ch,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c = create_case(&def);
    mo_solver_def solver = solver_with(1e-8);
    mo_liquid_system s = assemble(&c, short_step, &solver);
    mo_system *y = &s.system;
    flow r = {0};
    double before = 0, after = 0;
    for (int32_t f = 0; f < y->faces.count; f++) {
        double part = mo_get(direction(ch), mo_face_axis(s.face_at[f]));
        y->faces.velocity[f] = speed * part;
        before += y->faces.mass[f] * y->faces.velocity[f] * part;
    }
    solve_system(v, y, &solver);
    for (int32_t f = 0; f < y->faces.count; f++) {
        double part = mo_get(direction(ch), mo_face_axis(s.face_at[f]));
        after += y->faces.mass[f] * y->faces.velocity[f] * part;
        if (fabs(across(ch, face_position(c.grid, s.face_at[f]))) > ch->half) continue;
        r.change = fmax(r.change, fabs(y->faces.velocity[f] / speed - part));
    }
    r.kept = after / before;
    mo_liquid_destroy(&s);
    mo_case_destroy(&c);
    return r;
}

static void plug(validation *v, const int32_t *cells, int count)
{
    const channel straight = {0.1237, 0}, tilted = {0.1237, 20};
    double k = straight.half / sqrt(viscosity * short_step / density), left = 1 - tanh(k) / k; // of an endless channel
    for (int i = 0; i < count; i++) {
        flow loose = coast(v, &straight, true, cells[i]), held = coast(v, &straight, false, cells[i]);
        at_most(v, loose.change, 1e-6, "plug, %d cells, slip, walls off the grid: |u - U| / U", cells[i]);
        between(v, held.kept / left, 0.9, 1.15, "plug, %d cells, held: momentum left over 1 - tanh(k) / k", cells[i]);
        loose = coast(v, &tilted, true, cells[i]), held = coast(v, &tilted, false, cells[i]);
        figure(loose.change, "plug, %d cells, slip, walls tilted by 20 degrees: |u - U| / U", cells[i]);
        between(v, loose.kept, 0.99, 1.01, "plug, %d cells, slip, walls tilted by 20 degrees: momentum left", cells[i]);
        between(v, held.kept / left, 0.9, 1.15, "plug, %d cells, held, tilted: momentum left over 1 - tanh(k) / k",
                cells[i]);
    }
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Walls with and without slip");
    mo_use_threads(v.threads);
    const int32_t cells[] = {32, 64, 128};
    if (wants(&v, "couette")) turning_tank(&v, cells, v.quick ? 2 : 3);
    if (wants(&v, "plug")) plug(&v, cells, v.quick ? 2 : 3);
    return validation_end(&v);
}
