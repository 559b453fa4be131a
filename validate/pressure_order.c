// Order of accuracy of the pressure with cut cells and ghost fluid, on curved domains with a known solution:
//
//     u* = u + dt/rho grad p,   div u = 0;   the projection of u* must return u and p.
//
// Free surface: a ball of liquid with p = 0 on its surface. Solid: a ball-shaped tank full of liquid, u tangent to its
// wall, p any smooth function. 2D and 3D; errors of p in the L2 and max norms, of u in the max norm over wet faces. How
// the surface cuts the cells is a matter of luck: each error is the worst of several places of the ball.
#include "validate.h"
#include "plot.h"
#include "base/parallel.h"
#include "cases/case.h"

static const mo_vec3 centre = {0.513, 0.487, 0.506};
static const double radius = 0.391, density = 2, dt = 0.5;

typedef struct problem {
    bool flat, solid;
    int place; // of the ball
} problem;
enum { PLACES = 6 };

static mo_vec3 from_centre(const problem *p, mo_vec3 x)
{
    mo_vec3 d = mo_sub(x, mo_mad(centre, p->place, mo_v3(0.0037, -0.0023, 0.0031)));
    if (p->flat) d.z = 0;
    return d;
}

static double ball(const void *user, mo_vec3 x) { return mo_norm(from_centre(user, x)) - radius; }
static double tank(const void *user, mo_vec3 x) { return -ball(user, x); }
static double everywhere(const void *user, mo_vec3 x) { return (void)user, (void)x, -1; }

// ---- The exact solution ----

// A smooth function and its gradient.
static double smooth(const problem *p, mo_vec3 d, mo_vec3 *gradient)
{
    double z = p->flat ? 0 : 1.5, a = 3 * d.x + 2 * d.y + z * d.z + 0.3, b = 2 * d.y - 3 * d.x + z * d.z;
    *gradient = mo_v3(3 * cos(a) + 1.5 * sin(b), 2 * cos(a) - sin(b), z * (cos(a) - 0.5 * sin(b)));
    return 2 + sin(a) + 0.5 * cos(b);
}

static double pressure(const problem *p, mo_vec3 x, mo_vec3 *gradient)
{
    mo_vec3 d = from_centre(p, x), g;
    double f = smooth(p, d, &g);
    if (p->solid) {
        *gradient = g;
        return f;
    }
    double s = radius * radius - mo_dot(d, d); // vanishes on the surface
    *gradient = mo_add(mo_mul(s, g), mo_mul(-2 * f, d));
    return s * f;
}

// Divergence-free; at a solid also tangent to every sphere around the centre.
static mo_vec3 velocity(const problem *p, mo_vec3 x)
{
    mo_vec3 d = from_centre(p, x), g;
    double f = smooth(p, d, &g);
    if (!p->flat) return mo_cross(d, g);
    // The rotated gradient of (R^2 - r^2) f.
    double s = radius * radius - mo_dot(d, d);
    return mo_v3(s * g.y - 2 * f * d.y, -(s * g.x - 2 * f * d.x), 0);
}

// ---- Errors ----

typedef struct errors {
    double pressure_l2, pressure_max, velocity_max;
} errors;

static mo_vec3 face_position(const mo_grid *g, int32_t face_at)
{
    int32_t at[3], axis = mo_face_axis(face_at);
    mo_grid_cell(g, mo_face_sample(face_at), at);
    double half[3] = {0.5, 0.5, 0.5};
    half[axis] = 0;
    return mo_grid_world(g, at[0] + half[0], at[1] + half[1], at[2] + half[2]);
}

static void set_velocity(const problem *q, const mo_grid *g, mo_liquid_system *p)
{
    for (int32_t f = 0; f < p->system.faces.count; f++) {
        mo_vec3 x = face_position(g, p->face_at[f]), gradient;
        pressure(q, x, &gradient);
        p->system.faces.velocity[f] =
            mo_get(mo_mad(velocity(q, x), dt / density, gradient), mo_face_axis(p->face_at[f]));
    }
}

// Cells whose centre lies in a solid carry no pressure of the liquid: they are left out.
static void pressure_errors(const problem *q, const mo_case *c, const mo_liquid_system *p, errors *e)
{
    const mo_block *b = p->system.block[MO_BLOCK_PRESSURE];
    double mean = 0, squares = 0;
    int64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < b->rows; r++) {
            int32_t at[3];
            mo_grid_cell(c->grid, p->cell_at[r], at);
            mo_vec3 x = mo_grid_world(c->grid, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5), gradient;
            if (ball(q, x) > 0) continue;
            double error = b->x[r] - pressure(q, x, &gradient) - mean;
            if (pass == 0) {
                squares += error, count++;
            } else {
                squares += error * error;
                e->pressure_max = fmax(e->pressure_max, fabs(error));
            }
        }
        if (pass == 0) mean = q->solid ? squares / (double)count : 0, squares = 0;
    }
    e->pressure_l2 = sqrt(squares / (double)count);
}

static errors solve(const problem *q, int32_t cells)
{
    mo_case_def def = {.cells = {cells, cells, q->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = q->solid ? everywhere : ball,
                       .solid = q->solid ? tank : NULL,
                       .user = q,
                       .density = density};
    mo_case c;
    mo_error err;
    must(mo_case_create(&def, &c, &err), &err);
    mo_pressure_def pressure_def = {
        .grid = c.grid, .phi = c.phi, .liquid = c.phase, .area = c.area, .density = density, .dt = dt, .dx = def.dx};
    mo_liquid_system p;
    must(mo_pressure_assemble(&pressure_def, c.arena, &p, &err), &err);
    set_velocity(q, c.grid, &p);
    mo_solver_def solver = mo_sim_def_default().solver;
    mo_system_info info;
    solver.tolerance = 1e-10; // errors of the finest grid reach 1e-6
    must(mo_system_solve(&p.system, &solver, &info, &err), &err);
    errors e = {0};
    pressure_errors(q, &c, &p, &e);
    for (int32_t f = 0; f < p.system.faces.count; f++) {
        mo_vec3 x = face_position(c.grid, p.face_at[f]);
        if (ball(q, x) > 0) continue;
        double exact = mo_get(velocity(q, x), mo_face_axis(p.face_at[f]));
        e.velocity_max = fmax(e.velocity_max, fabs(p.system.faces.velocity[f] - exact));
    }
    mo_liquid_destroy(&p);
    mo_case_destroy(&c);
    return e;
}

static errors worst(const problem *q, int32_t cells)
{
    errors all = {0};
    for (int place = 0; place < PLACES; place++) {
        errors e = solve(&(problem){q->flat, q->solid, place}, cells);
        all.pressure_l2 = fmax(all.pressure_l2, e.pressure_l2);
        all.pressure_max = fmax(all.pressure_max, e.pressure_max);
        all.velocity_max = fmax(all.velocity_max, e.velocity_max);
    }
    return all;
}

// ---- Orders ----

// Slope of -log(error) over log(n), by least squares.
static double order(int count, const double *n, const double *error)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        double x = log(n[i]), y = log(error[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return -(count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void study(validation *v, const problem *q, int32_t finest)
{
    enum { MOST = 8 };
    double n[MOST], l2[MOST], largest[MOST], u[MOST];
    int count = 0;
    const char *name = q->solid ? "solid" : "free surface", *d = q->flat ? "2D" : "3D";
    for (int32_t cells = 16; cells <= finest; cells *= 2, count++) {
        errors e = worst(q, cells);
        n[count] = cells, l2[count] = e.pressure_l2, largest[count] = e.pressure_max, u[count] = e.velocity_max;
        printf("  %s %s, n = %3d: pressure L2 %.3e, max %.3e; velocity max %.3e\n", d, name, cells, e.pressure_l2,
               e.pressure_max, e.velocity_max);
    }
    between(v, order(count, n, l2), 1.8, 9, "%s, %s: order of the pressure, L2", d, name);
    between(v, order(count, n, largest), 1.8, 9, "%s, %s: order of the pressure, max", d, name);
    between(v, order(count, n, u), 0.9, 9, "%s, %s: order of the velocity, max", d, name);
    if (!v->plots) return;
    char file[100], title[100];
    snprintf(file, sizeof file, "order_%s_%s.svg", q->solid ? "solid" : "surface", d);
    snprintf(title, sizeof title, "Errors on a curved domain, %s, %s", name, d);
    double slope[2] = {l2[0], l2[0] * pow(n[0] / n[count - 1], 2)}, ends[2] = {n[0], n[count - 1]};
    plot_series_t s[] = {{"pressure, L2", count, n, l2, PLOT_POINTS},
                         {"pressure, max", count, n, largest, PLOT_POINTS},
                         {"velocity, max", count, n, u, PLOT_POINTS},
                         {"order 2", 2, ends, slope, PLOT_LINE}};
    plot_def p = {title, "cells", "error", true, true};
    plot_write(v->plots, file, &p, s, 4);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Order of the pressure on curved domains");
    mo_use_threads(v.threads);
    for (int solid = 0; solid < 2; solid++) {
        study(&v, &(problem){true, solid, 0}, v.quick ? 128 : 256);
        study(&v, &(problem){false, solid, 0}, 64); // two grids alone say little of an order
    }
    return validation_end(&v);
}
