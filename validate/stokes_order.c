// Order of accuracy of the Stokes step on curved domains with a known solution (VS 6.2):
//
//     u* = u + dt/rho (grad p - eta lap u),   div u = 0;   the step from u* must return u, p and the stresses of u.
//
// Free surface: a ball of liquid without traction on its surface. In 2D part of that comes about by a pressure that
// balances the viscous normal stress, which only the unified scheme can do. Solid: a ball-shaped no-slip tank full of
// liquid, at rest or in rigid motion, p any smooth function. How the surface cuts the cells is a matter of luck: each
// error is the worst of several places of the ball.
//
// Velocities are curls of potentials, and potentials are Taylor polynomials: every derivative is exact.
#include "plot.h"
#include "stokes_case.h"

static const mo_vec3 centre = {0.513, 0.487, 0.506};
static const double radius = 0.391, density = 2, dt = 0.5, viscosity = 0.2; // eta dt / (rho R^2) = 1/3

typedef struct problem {
    const char *name;
    bool flat, solid, moving; // moving: the tank
    int place;                // of the ball
} problem;

static mo_vec3 middle_of(const problem *p) { return mo_mad(centre, p->place, mo_v3(0.0037, -0.0023, 0.0031)); }

static mo_vec3 from_middle(const problem *p, mo_vec3 x)
{
    mo_vec3 d = mo_sub(x, middle_of(p));
    if (p->flat) d.z = 0;
    return d;
}

static double ball(const void *user, mo_vec3 x) { return mo_norm(from_middle(user, x)) - radius; }
static double everywhere(const void *user, mo_vec3 x) { return (void)user, (void)x, -1; }
static double tank(const void *user, int32_t solid, mo_vec3 x) { return (void)solid, -ball(user, x); }

// Of a moving tank, and part of the liquid's velocity there and in a free ball.
static mo_vec3 rigid(const problem *p, mo_vec3 d)
{
    mo_vec3 spin = p->flat ? mo_v3(0, 0, 0.9) : mo_v3(0.4, -0.5, 0.7), shift = {0.3, -0.2, p->flat ? 0 : 0.25};
    return p->solid && !p->moving ? mo_v3(0, 0, 0) : mo_add(shift, mo_cross(spin, d));
}
static mo_vec3 tank_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    return (void)solid, rigid(user, from_middle(user, x));
}

// ---- Taylor polynomials of third degree ----

typedef struct taylor {
    double c[4][4][4]; // of x^i y^j z^k, i + j + k <= 3
} taylor;

static taylor linear(double value, mo_vec3 slope)
{
    taylor t = {0};
    t.c[0][0][0] = value, t.c[1][0][0] = slope.x, t.c[0][1][0] = slope.y, t.c[0][0][1] = slope.z;
    return t;
}

static taylor plus(taylor a, double factor, taylor b)
{
    for (int i = 0; i < 64; i++) (&a.c[0][0][0])[i] += factor * (&b.c[0][0][0])[i];
    return a;
}

static taylor times(const taylor a, const taylor b)
{
    taylor r = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; i + j < 4; j++)
            for (int k = 0; i + j + k < 4; k++)
                for (int l = 0; i + j + k + l < 4; l++)
                    for (int m = 0; i + j + k + l + m < 4; m++)
                        for (int n = 0; i + j + k + l + m + n < 4; n++)
                            r.c[i + l][j + m][k + n] += a.c[i][j][k] * b.c[l][m][n];
    return r;
}

static taylor sine(taylor a)
{
    double s = sin(a.c[0][0][0]), c = cos(a.c[0][0][0]);
    taylor zero = {0}, h = a;
    h.c[0][0][0] = 0;
    taylor h2 = times(h, h), h3 = times(h2, h), r = plus(plus(plus(zero, c, h), -s / 2, h2), -c / 6, h3);
    r.c[0][0][0] += s;
    return r;
}

// The derivative with order n[a] along axis a.
static double derivative(const taylor *t, const int n[3])
{
    static const double factorial[4] = {1, 1, 2, 6};
    return factorial[n[0]] * factorial[n[1]] * factorial[n[2]] * t->c[n[0]][n[1]][n[2]];
}

// ---- The exact solution ----

typedef struct state {
    mo_vec3 u, laplacian; // of u
    double gradient[3][3], p;
    mo_vec3 grad_p;
} state;

// 1 - r^2 / R^2 about d.
static taylor bubble(const problem *q, mo_vec3 d)
{
    taylor t = linear(1 - mo_dot(d, d) / (radius * radius), mo_mul(-2 / (radius * radius), d));
    t.c[2][0][0] = t.c[0][2][0] = -1 / (radius * radius), t.c[0][0][2] = q->flat ? 0 : t.c[2][0][0];
    return t;
}

// Smooth functions of the position, different for each phase.
static taylor smooth(const problem *q, mo_vec3 d, double phase)
{
    double z = q->flat ? 0 : 1.5;
    mo_vec3 a = {3, 2, z}, b = {-3, 2, z};
    taylor one = sine(linear(mo_dot(a, d) + 0.3 + phase, a)), two = sine(linear(mo_dot(b, d) + 1.6 - phase, b));
    taylor t = plus(one, 0.5, two);
    t.c[0][0][0] += 1;
    return t;
}

// 2D: without tangential traction at r = R, the normal one being -16 eta x y / R^2.
static const double balanced = 0.3;
static taylor balanced_potential(const problem *q, mo_vec3 d)
{
    taylor x = linear(d.x, mo_v3(1, 0, 0)), y = linear(d.y, mo_v3(0, 1, 0)), b = bubble(q, d);
    taylor profile = plus((taylor){0}, -1, times(b, b)); // 1 + 2 (1 - b) - (1 - b)^2 = 2 - b^2
    profile.c[0][0][0] += 2;
    return times(plus(times(x, x), -1, times(y, y)), profile);
}

// Vector potential: a power of the bubble, so that u (solid) or also its gradient (free) vanishes at r = R.
static taylor potential(const problem *q, mo_vec3 d, int axis)
{
    taylor b = bubble(q, d), power = times(b, b);
    if (!q->solid) power = times(power, b);
    taylor t = plus((taylor){0}, 0.15, times(power, smooth(q, d, axis + 1)));
    return q->flat && !q->solid ? plus(t, balanced, balanced_potential(q, d)) : t;
}

static void set_pressure(const problem *q, mo_vec3 d, state *s)
{
    taylor t = smooth(q, d, 0);
    if (!q->solid) t = times(t, bubble(q, d));
    if (!q->solid && q->flat) {
        taylor x = linear(d.x, mo_v3(1, 0, 0)), y = linear(d.y, mo_v3(0, 1, 0));
        t = plus(t, -16 * balanced * viscosity / (radius * radius), times(x, y));
    }
    s->p = t.c[0][0][0];
    s->grad_p = mo_v3(t.c[1][0][0], t.c[0][1][0], t.c[0][0][1]);
}

static state exact(const problem *q, mo_vec3 x)
{
    mo_vec3 d = from_middle(q, x), none = {0, 0, 0};
    double u[3] = {0}, laplacian[3] = {0};
    state s = {0};
    for (int c = q->flat ? 2 : 0; c < 3; c++) {
        taylor t = potential(q, d, c);
        for (int side = 0; side < 2; side++) { // u_a = d_b A_c - d_c A_b
            int a = (c + 1 + side) % 3, b = (c + 2 - side) % 3, sign = side ? -1 : 1;
            int n[3] = {0};
            n[b] = 1, u[a] += sign * derivative(&t, n);
            for (int e = 0; e < 3; e++) {
                n[e] += 1, s.gradient[a][e] += sign * derivative(&t, n);
                n[e] += 1, laplacian[a] += sign * derivative(&t, n);
                n[e] -= 2;
            }
        }
    }
    for (int a = 0; a < 3; a++)
        for (int e = 0; e < (q->flat ? 2 : 3); e++) {
            mo_vec3 unit = {e == 0, e == 1, e == 2};
            s.gradient[a][e] += mo_get(mo_sub(rigid(q, unit), rigid(q, none)), a);
        }
    s.u = mo_add(mo_v3(u[0], u[1], u[2]), rigid(q, d));
    s.laplacian = mo_v3(laplacian[0], laplacian[1], laplacian[2]);
    set_pressure(q, d, &s);
    return s;
}

static mo_vec3 before_step(const state *s)
{
    mo_vec3 force = mo_mad(s->grad_p, -viscosity, s->laplacian);
    return mo_mad(s->u, dt / density, force);
}

// ---- Self-check ----

// Largest difference from derivatives by central differences, and largest divergence, at random points.
static double derivative_mismatch(const problem *q)
{
    const double h = 2e-3, first[3] = {0, 8.0 / 12, -1.0 / 12}, second[3] = {-30.0 / 12, 16.0 / 12, -1.0 / 12};
    double worst = 0;
    for (uint32_t i = 0; i < 50; i++) {
        mo_vec3 x = {mo_unit(mo_hash(i, 0, 1)), mo_unit(mo_hash(i, 0, 2)), mo_unit(mo_hash(i, 0, 3))};
        state s = exact(q, x);
        mo_vec3 laplacian = {0, 0, 0};
        double divergence = 0;
        for (int a = 0; a < (q->flat ? 2 : 3); a++) {
            mo_vec3 unit = {a == 0, a == 1, a == 2}, slope = {0, 0, 0};
            double rise = 0;
            laplacian = mo_mad(laplacian, second[0] / (h * h), s.u);
            for (int k = 1; k < 3; k++) {
                state up = exact(q, mo_mad(x, k * h, unit)), down = exact(q, mo_mad(x, -k * h, unit));
                slope = mo_mad(slope, first[k] / h, mo_sub(up.u, down.u));
                rise += first[k] / h * (up.p - down.p);
                laplacian = mo_mad(laplacian, second[k] / (h * h), mo_add(up.u, down.u));
            }
            for (int b = 0; b < 3; b++) worst = fmax(worst, fabs(mo_get(slope, b) - s.gradient[b][a]));
            worst = fmax(worst, fabs(rise - mo_get(s.grad_p, a)));
            divergence += s.gradient[a][a];
        }
        worst = fmax(worst, fmax(fabs(divergence), mo_norm(mo_sub(laplacian, s.laplacian))));
    }
    return worst;
}

// Free: largest traction on the surface. Solid: largest velocity relative to the tank there.
static double boundary_mismatch(const problem *q)
{
    double worst = 0;
    for (uint32_t i = 0; i < 50; i++) {
        mo_vec3 n = {mo_unit(mo_hash(i, 1, 1)) - 0.5, mo_unit(mo_hash(i, 1, 2)) - 0.5,
                     q->flat ? 0 : mo_unit(mo_hash(i, 1, 3)) - 0.5};
        n = mo_normalize(n);
        mo_vec3 x = mo_mad(middle_of(q), radius, n), wrong;
        state s = exact(q, x);
        if (q->solid) {
            wrong = mo_sub(s.u, rigid(q, mo_mul(radius, n)));
        } else {
            wrong = mo_mul(-s.p, n);
            for (int e = 0; e < 3; e++) {
                mo_vec3 column = {s.gradient[0][e] + s.gradient[e][0], s.gradient[1][e] + s.gradient[e][1],
                                  s.gradient[2][e] + s.gradient[e][2]};
                wrong = mo_mad(wrong, viscosity * mo_get(n, e), column);
            }
        }
        worst = fmax(worst, mo_norm(wrong));
    }
    return worst;
}

// ---- Errors ----

enum { VELOCITY_MAX, VELOCITY_L2, PRESSURE_MAX, PRESSURE_L2, PRESSURE_INNER, ERRORS };
static const char *const error_name[ERRORS] = {"velocity, max", "velocity, L2", "pressure, max", "pressure, L2",
                                               "pressure, max inside 3/4 R"};
typedef struct errors {
    double e[ERRORS];
} errors;

static void velocity_errors(const problem *q, const mo_case *c, const mo_liquid_system *s, errors *e)
{
    double squares = 0;
    int64_t count = 0;
    for (int32_t f = 0; f < s->system.faces.count; f++) {
        int32_t at = s->face_at[f];
        mo_vec3 x = face_position(c->grid, at);
        if (ball(q, x) > 0) continue;
        double error = s->system.faces.velocity[f] - mo_get(exact(q, x).u, mo_face_axis(at));
        e->e[VELOCITY_MAX] = fmax(e->e[VELOCITY_MAX], fabs(error));
        squares += error * error, count++;
    }
    e->e[VELOCITY_L2] = sqrt(squares / (double)count);
}

// Of full cells. In an enclosed liquid pressures are known up to a constant.
static void pressure_errors(const problem *q, const mo_case *c, const mo_liquid_system *s, errors *e)
{
    const mo_block *b = s->system.block[MO_BLOCK_PRESSURE];
    double mean = 0, squares = 0;
    int64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = 0; r < b->rows; r++) {
            int32_t i = s->cell_at[r];
            mo_vec3 x = cell_position(c->grid, i);
            if (c->weights.liquid[MO_SAMPLE_CELL][i] < 1 || c->weights.fluid[MO_SAMPLE_CELL][i] < 1) continue;
            double error = b->x[r] - exact(q, x).p - mean;
            squares += pass == 0 ? error : error * error, count++;
            if (pass == 0) continue;
            e->e[PRESSURE_MAX] = fmax(e->e[PRESSURE_MAX], fabs(error));
            if (ball(q, x) < -0.25 * radius) e->e[PRESSURE_INNER] = fmax(e->e[PRESSURE_INNER], fabs(error));
        }
        if (pass == 0) mean = q->solid ? squares / (double)count : 0, squares = 0, count = 0;
    }
    e->e[PRESSURE_L2] = sqrt(squares / (double)count);
}

static errors solve(validation *v, const problem *q, const mo_solver_def *solver, int32_t cells)
{
    mo_solid_set solids = {.count = q->solid, .distance = tank, .user = q};
    if (q->moving) solids.velocity = tank_velocity;
    mo_case_def def = {.cells = {cells, cells, q->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = q->solid ? everywhere : ball,
                       .solids = &solids,
                       .user = q,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c = create_case(&def);
    mo_liquid_system s = assemble(&c, dt, solver);
    for (int32_t f = 0; f < s.system.faces.count; f++) {
        state here = exact(q, face_position(c.grid, s.face_at[f]));
        s.system.faces.velocity[f] = mo_get(before_step(&here), mo_face_axis(s.face_at[f]));
    }
    solve_system(v, &s.system, solver);
    errors e = {0};
    velocity_errors(q, &c, &s, &e);
    pressure_errors(q, &c, &s, &e);
    mo_liquid_destroy(&s);
    mo_case_destroy(&c);
    return e;
}

// ---- Orders ----

enum { MOST = 8, PLACES = 3 };

typedef struct study {
    const problem *q;
    const char *name;
    mo_solver_def solver;
    int count;
    double n[MOST], e[ERRORS][MOST];
} study;

static study refine(validation *v, const problem *q, const char *name, const mo_solver_def *solver, int count,
                    const int32_t *cells)
{
    study s = {.q = q, .name = name, .solver = *solver, .count = count};
    for (int i = 0; i < count; i++) {
        s.n[i] = cells[i];
        for (int place = 0; place < PLACES; place++) {
            problem moved = *q;
            moved.place = place;
            errors e = solve(v, &moved, solver, cells[i]);
            for (int k = 0; k < ERRORS; k++) s.e[k][i] = fmax(s.e[k][i], e.e[k]);
        }
        printf("  %s, %s, n = %3d: velocity max %.3e, L2 %.3e; pressure max %.3e, L2 %.3e, inner %.3e\n", q->name, name,
               cells[i], s.e[VELOCITY_MAX][i], s.e[VELOCITY_L2][i], s.e[PRESSURE_MAX][i], s.e[PRESSURE_L2][i],
               s.e[PRESSURE_INNER][i]);
    }
    return s;
}

// Slope of -log(error) over log(n), by least squares.
static double order(const study *s, int error)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < s->count; i++) {
        double x = log(s->n[i]), y = log(s->e[error][i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return -(s->count * sxy - sx * sy) / (s->count * sxx - sx * sx);
}

static void judge(validation *v, const study *s, double required)
{
    between(v, order(s, VELOCITY_MAX), required, 9, "%s, %s: order of the velocity, max", s->q->name, s->name);
    for (int k = VELOCITY_L2; k < ERRORS; k++)
        figure(order(s, k), "%s, %s: order of the %s", s->q->name, s->name, error_name[k]);
}

static void plot(const validation *v, const study *s, const char *file)
{
    if (!v->plots) return;
    int last = s->count - 1;
    const double *u = s->e[VELOCITY_MAX];
    double ends[2] = {s->n[0], s->n[last]}, slope[2] = {u[0], u[0] * s->n[0] / s->n[last]};
    plot_series_t series[] = {{"velocity, max", s->count, s->n, u, PLOT_POINTS},
                              {"velocity, L2", s->count, s->n, s->e[VELOCITY_L2], PLOT_POINTS},
                              {"pressure, L2", s->count, s->n, s->e[PRESSURE_L2], PLOT_POINTS},
                              {"order 1", 2, ends, slope, PLOT_LINE}};
    char title[100];
    snprintf(title, sizeof title, "Stokes step on a curved domain, %s", s->q->name);
    plot_def p = {title, "cells", "error", true, true};
    plot_write(v->plots, file, &p, series, 4);
}

static const problem free_2d = {"2D free surface", true, false, false, 0},
                     free_3d = {"3D free surface", false, false, false, 0},
                     resting_2d = {"2D tank at rest", true, true, false, 0},
                     moving_2d = {"2D moving tank", true, true, true, 0},
                     moving_3d = {"3D moving tank", false, true, true, 0};

static void check_solutions(validation *v)
{
    const problem *all[] = {&free_2d, &resting_2d, &moving_2d, &free_3d, &moving_3d};
    double derivatives = 0, boundary = 0;
    for (int i = 0; i < 5; i++) {
        derivatives = fmax(derivatives, derivative_mismatch(all[i]));
        boundary = fmax(boundary, boundary_mismatch(all[i]));
    }
    at_most(v, derivatives, 1e-4, "exact solutions: derivatives against differences");
    at_most(v, boundary, 1e-12, "exact solutions: traction on free surfaces, slip at tanks");
}

// A rigid motion of tank and liquid adds itself to the solution and changes nothing else.
static void compare_motion(validation *v, const mo_solver_def *solver)
{
    errors rest = solve(v, &resting_2d, solver, 64), moving = solve(v, &moving_2d, solver, 64);
    double change = 0;
    for (int k = 0; k < ERRORS; k++) change = fmax(change, fabs(moving.e[k] / rest.e[k] - 1));
    at_most(v, change, 1e-3, "tank at rest and moving tank, n = 64: relative change of the errors");
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Order of the Stokes step on curved domains");
    mo_use_threads(v.threads);
    const int32_t flat[] = {16, 32, 64, 128, 256}, deep[] = {16, 24, 32};
    mo_solver_def clamped = solver_with(1e-7), raw = clamped, decoupled = clamped;
    raw.raw_weights = true;
    snprintf(decoupled.scheme, sizeof decoupled.scheme, "P-V-P");
    check_solutions(&v);
    compare_motion(&v, &clamped);
    const problem *problems[] = {&free_2d, &moving_2d, &free_3d, &moving_3d};
    const char *files[] = {"stokes_order_surface_2D.svg", "stokes_order_solid_2D.svg", NULL, NULL};
    for (int i = 0; i < 4; i++) {
        bool is_flat = problems[i]->flat;
        study s = refine(&v, problems[i], "clamped weights", &clamped, is_flat ? (v.quick ? 3 : 5) : (v.quick ? 2 : 3),
                         is_flat ? flat : deep);
        judge(&v, &s, is_flat ? 1 : 0.9);
        if (files[i]) plot(&v, &s, files[i]);
        if (!is_flat) continue;
        study r = refine(&v, problems[i], "raw weights", &raw, 3, flat);
        judge(&v, &r, 0.9);
    }
    study s = refine(&v, &free_2d, "P-V-P", &decoupled, 3, flat);
    figure(order(&s, VELOCITY_MAX), "2D free surface, P-V-P: order of the velocity, max");
    return validation_end(&v);
}
