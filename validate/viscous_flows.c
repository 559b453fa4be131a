// Viscous flows with exact solutions, on the grid: plates, films, cylinders, ducts and tubes in their steady state, and
// a decaying vortex. Every steady flow starts at rest and is stepped implicitly until nothing changes.
//
// What is to be expected. Walls on the grid's planes: second order, and between plates an error of exactly (dx/L)^2 of
// the largest speed, for the stencil is exact but for the half cell at the wall. Walls off the grid: a face whose
// control volume has the open part f > 1/2 carries f u where the profile has u, so its velocity is off by dx u' (1 -
// f)(f - 1/2)/f, at most 0.086 dx u'. That is first order in the max norm but only there: its neighbours, the forces
// and the amounts that flow through are better.
#include "plot.h"
#include "viscous.h"

enum { PLACES = 6, MOST = 5 };

static const double viscosity = 0.7, density = 1.3, force = 2.1; // force: m/s^2

typedef struct errors {
    double velocity, amount; // the largest, over the largest speed; flow or torque, relative
} errors;

static errors worse(errors a, errors b) { return (errors){fmax(a.velocity, b.velocity), fmax(a.amount, b.amount)}; }

static double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

// How the walls lie on the grid: the six places are spread over a cell.
static double shift(int place) { return place / (double)PLACES + 0.03; }

static double relative(double measured, double exact) { return fabs(measured / exact - 1); }

static void settle(flow *f, double dt, vector_fn drive, const void *user, double speed)
{
    flow_ready(f, dt);
    if (flow_settle(f, drive, user, 1e-7 * speed, 100) < 100) return;
    fprintf(stderr, "error: a flow does not settle\n");
    exit(1);
}

static mo_vec3 along_x(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return mo_v3(force, 0, 0);
}

static mo_vec3 along_z(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return mo_v3(0, 0, force);
}

// ---- Between plates, and in a film that runs along a wall ----

typedef struct layer {
    double bottom, height; // m
    bool film;             // free surface at the top instead of a plate
} layer;

static double layer_solid(const void *user, mo_vec3 x)
{
    const layer *l = user;
    return l->film ? x.y - l->bottom : fmin(x.y - l->bottom, l->bottom + l->height - x.y);
}

static double layer_liquid(const void *user, mo_vec3 x)
{
    const layer *l = user;
    return l->film ? x.y - (l->bottom + l->height) : -1;
}

static double layer_inside(const void *user, mo_vec3 x) { return fmax(layer_liquid(user, x), -layer_solid(user, x)); }

static mo_vec3 layer_velocity(const void *user, mo_vec3 x)
{
    const layer *l = user;
    double y = x.y - l->bottom, G = density * force, full = l->film ? 2 * l->height : l->height;
    return mo_v3(G * y * (full - y) / (2 * viscosity), 0, 0);
}

static errors solve_layer(const layer *l, int32_t n)
{
    mo_case_def def = {.cells = {8, n + 8, 1},
                       .dx = 1.0 / n,
                       .liquid = layer_liquid,
                       .solid = layer_solid,
                       .user = l,
                       .density = density,
                       .viscosity = viscosity};
    double G = density * force, speed = layer_velocity(l, mo_v3(0, l->bottom + (l->film ? 1 : 0.5) * l->height, 0)).x;
    double through = G * pow(l->height, 3) / ((l->film ? 3 : 12) * viscosity);
    flow f;
    flow_create(&f, &def);
    flow_open_ends(&f, 0, 2, 5);
    settle(&f, 2, along_x, l, speed);
    errors e = {flow_error(&f, layer_inside, layer_velocity, l) / speed, relative(flow_through(&f, 0, 4), through)};
    flow_destroy(&f);
    return e;
}

static errors plates_on_grid(int32_t n, int place)
{
    (void)place;
    return solve_layer(&(layer){3.0 / n, 1, false}, n);
}

static errors plates_off_grid(int32_t n, int place)
{
    return solve_layer(&(layer){(2 + shift(place)) / n, 0.9137, false}, n);
}

static errors film(int32_t n, int place) { return solve_layer(&(layer){(2 + shift(place)) / n, 0.8371, true}, n); }

// ---- A film down an incline that is tilted against the grid ----

typedef struct incline {
    mo_vec3 foot, down, up; // a point of the floor, along it and away from it
    double depth, reach;    // m; beyond the reach on both sides the flow is prescribed
} incline;

static double incline_solid(const void *user, mo_vec3 x)
{
    const incline *q = user;
    return mo_dot(mo_sub(x, q->foot), q->up);
}

static double incline_liquid(const void *user, mo_vec3 x)
{
    return incline_solid(user, x) - ((const incline *)user)->depth;
}

static double incline_inside(const void *user, mo_vec3 x)
{
    return fmax(incline_liquid(user, x), -incline_solid(user, x));
}

static double incline_beyond(const void *user, mo_vec3 x)
{
    const incline *q = user;
    return fabs(mo_dot(mo_sub(x, q->foot), q->down)) - q->reach;
}

static mo_vec3 incline_velocity(const void *user, mo_vec3 x)
{
    const incline *q = user;
    double h = fmin(fmax(incline_solid(q, x), 0), q->depth);
    return mo_mul(density * force * -q->down.y * h * (q->depth - 0.5 * h) / viscosity, q->down);
}

static mo_vec3 downwards(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return mo_v3(0, -force, 0);
}

// Root of the mean squared error of the pressure over the largest. Cells whose centre is not liquid are left out.
static double incline_pressure(const flow *f, const incline *q)
{
    const mo_block *p = f->s.system.block[MO_BLOCK_PRESSURE];
    double scale = density * force * q->up.y, squares = 0;
    int64_t count = 0;
    for (int32_t r = 0; r < p->rows; r++) {
        int32_t at[3];
        mo_grid_cell(f->c.grid, f->s.cell_at[r], at);
        mo_vec3 x = mo_grid_world(f->c.grid, at[0] + 0.5, at[1] + 0.5, 0);
        if (incline_inside(q, x) > 0) continue;
        double error = p->x[r] + scale * incline_liquid(q, x);
        squares += error * error, count++;
    }
    return sqrt(squares / (double)count) / (scale * q->depth);
}

static errors film_on_incline(int32_t n, int place)
{
    double angle = 17 * M_PI / 180, dx = 1.0 / n;
    incline q = {.foot = mo_v3(0.5 + shift(place) * dx, 0.35 + 0.7 * shift(place) * dx, 0),
                 .down = mo_v3(cos(angle), -sin(angle), 0),
                 .up = mo_v3(sin(angle), cos(angle), 0),
                 .depth = 0.3,
                 .reach = 0.32};
    mo_case_def def = {.cells = {n, n, 1},
                       .dx = dx,
                       .liquid = incline_liquid,
                       .solid = incline_solid,
                       .user = &q,
                       .density = density,
                       .viscosity = viscosity};
    double speed = mo_norm(incline_velocity(&q, mo_mad(q.foot, q.depth, q.up)));
    flow f;
    flow_create(&f, &def);
    flow_prescribe(&f, incline_beyond, incline_velocity, &q);
    settle(&f, 0.5, downwards, &q, speed);
    errors e = {flow_error(&f, incline_inside, incline_velocity, &q) / speed, incline_pressure(&f, &q)};
    flow_destroy(&f);
    return e;
}

// ---- Between cylinders: the inner one turns, or a force drives the liquid round ----

typedef struct ring {
    mo_vec3 centre;
    double inner, outer, turn; // m, m, rad/s
    bool driven;               // by a force per volume of G m / r along the circles, cylinders at rest
} ring;

static double ring_radius(const ring *q, mo_vec3 x) { return hypot(x.x - q->centre.x, x.y - q->centre.y); }

static double ring_solid(const void *user, int32_t solid, mo_vec3 x)
{
    const ring *q = user;
    return solid == 0 ? ring_radius(q, x) - q->inner : q->outer - ring_radius(q, x);
}

static double ring_inside(const void *user, mo_vec3 x) { return -fmin(ring_solid(user, 0, x), ring_solid(user, 1, x)); }

static mo_vec3 turning(const ring *q, mo_vec3 x, double rate)
{
    return mo_v3(-rate * (x.y - q->centre.y), rate * (x.x - q->centre.x), 0);
}

static mo_vec3 ring_wall(const void *user, int32_t solid, mo_vec3 x)
{
    const ring *q = user;
    return turning(q, x, solid == 0 && !q->driven ? q->turn : 0);
}

// u = A r + B / r, and C r ln r where a force C' / r drives.
static double ring_speed(const ring *q, double r)
{
    double a = q->inner, b = q->outer;
    if (!q->driven) return q->turn * a * a * (b * b / r - r) / (b * b - a * a);
    double C = -density * force / (2 * viscosity), A = -C * (b * b * log(b) - a * a * log(a)) / (b * b - a * a),
           B = -a * a * (C * log(a) + A);
    return C * r * log(r) + A * r + B / r;
}

static mo_vec3 ring_velocity(const void *user, mo_vec3 x)
{
    const ring *q = user;
    double r = ring_radius(q, x);
    return turning(q, x, ring_speed(q, r) / r);
}

static mo_vec3 ring_force(const void *user, mo_vec3 x)
{
    double r = ring_radius(user, x);
    return turning(user, x, force / (r * r));
}

// Torque of the liquid on the inner cylinder, per depth: 2 pi r^2 times the shear stress eta r (u / r)' there.
static double ring_torque(const ring *q)
{
    double a = q->inner, b = q->outer, h = 1e-5;
    if (!q->driven) return -4 * M_PI * viscosity * q->turn * a * a * b * b / (b * b - a * a);
    double rate = (ring_speed(q, a + h) / (a + h) - ring_speed(q, a - h) / (a - h)) / (2 * h);
    return 2 * M_PI * a * a * viscosity * a * rate;
}

static errors solve_ring(bool driven, int32_t n, int place)
{
    double dx = 1.0 / n;
    ring q = {.centre = mo_v3(0.5 + shift(place) * dx, 0.5 - 0.6 * shift(place) * dx, 0),
              .inner = 0.2,
              .outer = 0.43,
              .turn = 1,
              .driven = driven};
    mo_solid_set solids = {.count = 2, .distance = ring_solid, .velocity = ring_wall, .user = &q};
    mo_case_def def = {.cells = {n, n, 1},
                       .dx = dx,
                       .liquid = everywhere,
                       .solids = &solids,
                       .user = &q,
                       .density = density,
                       .viscosity = viscosity};
    double speed = driven ? ring_speed(&q, 0.5 * (q.inner + q.outer)) : q.turn * q.inner;
    flow f;
    mo_error err;
    flow_create(&f, &def);
    settle(&f, 0.2, driven ? ring_force : NULL, &q, speed);
    mo_vec3 about[2] = {q.centre, q.centre}, on[2], torque[2];
    must(mo_stress_forces(&f.def, &f.s, about, on, torque, f.c.arena, &err), &err);
    errors e = {flow_error(&f, ring_inside, ring_velocity, &q) / speed, relative(torque[0].z / dx, ring_torque(&q))};
    flow_destroy(&f);
    return e;
}

static errors couette(int32_t n, int place) { return solve_ring(false, n, place); }
static errors driven_ring(int32_t n, int place) { return solve_ring(true, n, place); }

// ---- 3D: a square duct on the grid, a round tube off it ----

typedef struct tube {
    mo_vec3 centre;
    double radius;
} tube;

static double tube_solid(const void *user, mo_vec3 x)
{
    const tube *q = user;
    return q->radius - hypot(x.x - q->centre.x, x.y - q->centre.y);
}

static double tube_inside(const void *user, mo_vec3 x) { return -tube_solid(user, x); }

static mo_vec3 tube_velocity(const void *user, mo_vec3 x)
{
    const tube *q = user;
    double r = q->radius - tube_solid(q, x);
    return mo_v3(0, 0, density * force / (4 * viscosity) * (q->radius * q->radius - r * r));
}

static mo_vec3 duct_velocity(const void *user, mo_vec3 x)
{
    double sum = 0;
    (void)user;
    for (int k = 1; k < 80; k += 2) {
        double a = k * M_PI;
        sum += sin(a * x.x) / (a * a * a) * (1 - cosh(a * (x.y - 0.5)) / cosh(0.5 * a));
    }
    return mo_v3(0, 0, 4 * density * force / viscosity * sum);
}

static double duct_through(void)
{
    double sum = 0;
    for (int k = 1; k < 80; k += 2) sum += tanh(0.5 * k * M_PI) / pow(k, 5);
    return density * force / (12 * viscosity) * (1 - 192 / pow(M_PI, 5) * sum);
}

static errors solve_pipe(const tube *q, int32_t n)
{
    mo_case_def def = {.cells = {n, n, 8},
                       .dx = 1.0 / n,
                       .liquid = everywhere,
                       .solid = q ? tube_solid : NULL,
                       .user = q,
                       .density = density,
                       .viscosity = viscosity};
    vector_fn velocity = q ? tube_velocity : duct_velocity;
    double speed = velocity(q, q ? q->centre : mo_v3(0.5, 0.5, 0)).z;
    double through = q ? M_PI * density * force * pow(q->radius, 4) / (8 * viscosity) : duct_through();
    flow f;
    flow_create(&f, &def);
    flow_open_ends(&f, 2, 2, 5);
    settle(&f, 0.5, along_z, q, speed);
    errors e = {flow_error(&f, q ? tube_inside : everywhere, velocity, q) / speed,
                relative(flow_through(&f, 2, 4), through)};
    flow_destroy(&f);
    return e;
}

static errors square_duct(int32_t n, int place)
{
    (void)place;
    return solve_pipe(NULL, n);
}

static errors round_tube(int32_t n, int place)
{
    return solve_pipe(&(tube){mo_v3(0.5 + shift(place) / n, 0.5 - 0.6 * shift(place) / n, 0), 0.41}, n);
}

// ---- Orders ----

typedef struct law { // the error on n cells per metre is at most factor / n^order; fitted orders may be 0.1 lower
    double order, factor;
} law;

typedef struct setup {
    const char *part, *name, *amount;
    errors (*solve)(int32_t n, int place);
    int places;
    int32_t finest, quick;
    law velocity_law, amount_law;
} setup;

// Factors of first order for velocities: 0.1 u' where walls run along the grid, 0.3 u' where they do not, with u' the
// shear at the wall over the largest speed.
static const setup setups[] = {
    {"plates", "plates on the grid", "flow", plates_on_grid, 1, 128, 64, {2, 1.01}, {2, 2.01}},
    {"plates_off", "plates off the grid", "flow", plates_off_grid, PLACES, 128, 64, {1, 0.44}, {2, 4}},
    {"film", "film along a wall", "flow", film, PLACES, 128, 64, {1, 0.24}, {2, 2}},
    {"incline", "film on an incline", "pressure, L2", film_on_incline, 3, 128, 64, {1, 2.0}, {1, 1}},
    {"couette", "cylinders, one turns", "torque", couette, 3, 128, 64, {1, 2.3}, {1, 0.5}},
    {"ring", "cylinders, liquid driven", "torque", driven_ring, 3, 128, 64, {1, 5.7}, {1, 1.5}},
    {"duct", "square duct, 3D", "flow", square_duct, 1, 64, 32, {2, 2}, {2, 4}},
    {"tube", "round tube, 3D", "flow", round_tube, 2, 64, 32, {1, 1.5}, {1, 0.1}},
};

static void require(validation *v, const setup *s, const char *what, const law *bound, int count, const double *n,
                    const double *error)
{
    double finest = n[count - 1];
    between(v, fitted_order(count, n, error), bound->order - 0.1, 9, "%s: order of the %s", s->name, what);
    at_most(v, error[count - 1], bound->factor / pow(finest, bound->order), "%s: error of the %s at n = %.0f", s->name,
            what, finest);
}

static void study(validation *v, const setup *s)
{
    double n[MOST], velocity[MOST], amount[MOST];
    int count = 0;
    for (int32_t cells = 16; cells <= (v->quick ? s->quick : s->finest); cells *= 2, count++) {
        errors e = {0};
        for (int place = 0; place < s->places; place++) e = worse(e, s->solve(cells, place));
        n[count] = cells, velocity[count] = e.velocity, amount[count] = e.amount;
        printf("  %s, n = %3d: velocity max %.3e, %s %.3e\n", s->name, cells, e.velocity, s->amount, e.amount);
    }
    require(v, s, "velocity, max", &s->velocity_law, count, n, velocity);
    require(v, s, s->amount, &s->amount_law, count, n, amount);
    if (!v->plots) return;
    char file[100];
    snprintf(file, sizeof file, "viscous_%s.svg", s->part);
    double ends[2] = {n[0], n[count - 1]}, first[2] = {velocity[0], velocity[0] * n[0] / n[count - 1]},
           second[2] = {amount[0], amount[0] * pow(n[0] / n[count - 1], 2)};
    plot_series_t series[] = {{"velocity, max", count, n, velocity, PLOT_POINTS},
                              {s->amount, count, n, amount, PLOT_POINTS},
                              {"order 1", 2, ends, first, PLOT_LINE},
                              {"order 2", 2, ends, second, PLOT_LINE}};
    plot_write(v->plots, file, &(plot_def){s->name, "cells", "relative error", true, true}, series, 4);
}

// ---- A decaying vortex ----

static mo_vec3 vortex(const void *user, mo_vec3 x)
{
    (void)user;
    return mo_v3(sin(M_PI * x.x) * cos(M_PI * x.y), -cos(M_PI * x.x) * sin(M_PI * x.y), 0);
}

static void vortex_start(flow *f, int32_t n, double dt)
{
    mo_case_def def = {
        .cells = {n, n, 1}, .dx = 1.0 / n, .liquid = everywhere, .density = density, .viscosity = viscosity};
    for (int w = 0; w < 6; w++) def.slip_wall[w] = true;
    flow_create(f, &def);
    flow_ready(f, dt);
    for (int32_t i = 0; i < f->s.system.faces.count; i++) {
        int32_t at = f->s.face_at[i];
        f->s.system.faces.velocity[i] = mo_get(vortex(NULL, flow_face(f, at)), mo_face_axis(at));
    }
}

// How much of the vortex is left, and the largest deviation from a vortex of that strength.
static double vortex_left(const flow *f, double *deviation)
{
    const mo_liquid_system *l = &f->s;
    double uv = 0, vv = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < l->system.faces.count; i++) {
            double v = mo_get(vortex(NULL, flow_face(f, l->face_at[i])), mo_face_axis(l->face_at[i])),
                   u = l->system.faces.velocity[i];
            if (pass == 0)
                uv += u * v, vv += v * v;
            else
                *deviation = fmax(*deviation, fabs(u - uv / vv * v));
        }
    return uv / vv;
}

static void decay(validation *v)
{
    double rate = 2 * viscosity / density * M_PI * M_PI, T = 1 / rate, n[MOST], space[MOST], steps[MOST], time[MOST],
           deviation = 0;
    int count = 0, finest = v->quick ? 64 : 128;
    for (int32_t cells = 16; cells <= finest; cells *= 2, count++) { // an implicit step leaves 1 / (1 + rate dt)
        flow f;
        vortex_start(&f, cells, 0.1 * T);
        flow_step(&f, NULL, NULL);
        n[count] = cells;
        space[count] = relative((1 / vortex_left(&f, &deviation) - 1) / (0.1 * T), rate);
        printf("  vortex, n = %3d: rate of decay without the error in time %.3e\n", cells, space[count]);
        flow_destroy(&f);
    }
    between(v, fitted_order(count, n, space), 1.95, 9, "vortex: order of the rate of decay in dx");
    at_most(v, space[count - 1], 1.1 * pow(M_PI / n[count - 1], 2) / 12, "vortex: its error at n = %.0f", n[count - 1]);
    count = 0;
    enum { CURVE = 64 };
    double curve_t[CURVE + 1], curve[CURVE + 1], exact[CURVE + 1];
    for (int parts = 8; parts <= 64; parts *= 2, count++) {
        flow f;
        vortex_start(&f, 64, T / parts);
        for (int k = 0; k <= parts; k++) {
            curve_t[k] = k * T / parts, curve[k] = vortex_left(&f, &deviation), exact[k] = exp(-rate * curve_t[k]);
            if (k < parts) flow_step(&f, NULL, NULL);
        }
        steps[count] = parts, time[count] = fabs(curve[parts] - exact[parts]) / exact[parts];
        printf("  vortex, dt = T/%-2d: strength after T = 1 / rate %.3e\n", parts, time[count]);
        flow_destroy(&f);
    }
    between(v, fitted_order(count, steps, time), 0.95, 1.05, "vortex: order of its strength in dt (implicit Euler)");
    at_most(v, time[count - 1], 1.1 / 128, "vortex: its error for dt = T/64 (expected rate dt / 2)");
    at_most(v, deviation, 1e-8, "vortex: deviation of its shape");
    if (!v->plots) return;
    plot_series_t series[] = {{"64 steps", CURVE + 1, curve_t, curve, PLOT_POINTS},
                              {"exp(-2 nu k^2 t)", CURVE + 1, curve_t, exact, PLOT_LINE}};
    plot_write(v->plots, "viscous_decay.svg", &(plot_def){"Decaying vortex", "t, s", "strength", false, false}, series,
               2);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Viscous flows with exact solutions");
    mo_use_threads(v.threads);
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        if (wants(&v, setups[i].part)) study(&v, &setups[i]);
    if (wants(&v, "decay")) decay(&v);
    return validation_end(&v);
}
