// Rigid bodies in liquid on analytic cases: added mass, common motion, momentum, both kinds of weights.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/case.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

static const double density = 1000, gravity = 9.81, outer = 0.45;

typedef struct world {
    bool flat;
    double radius;
    mo_vec3 at; // of the ball
} world;

static mo_vec3 flattened(const world *w, mo_vec3 x)
{
    if (w->flat) x.z = 0;
    return x;
}

// Solid 0: everything outside the container; solid 1: the ball.
static double distance(const void *user, int32_t solid, mo_vec3 x)
{
    const world *w = user;
    mo_vec3 middle = {0.5, 0.5, w->flat ? 0 : 0.5};
    x = flattened(w, x);
    return solid == 0 ? outer - mo_norm(mo_sub(x, middle)) : mo_norm(mo_sub(x, w->at)) - w->radius;
}

static double everywhere(const void *user, mo_vec3 x) { return (void)user, (void)x, -1; }

static mo_rigid ball_body(const world *w, double body_density, double dx)
{
    double r = w->radius, mass = body_density * (w->flat ? M_PI * r * r * dx : 4 * M_PI / 3 * r * r * r);
    double turn = mass * r * r * (w->flat ? 0.5 : 0.4);
    mo_rigid b = {.mass = mass, .pose = {w->at, {1, 0, 0, 0}}};
    for (int a = 0; a < 3; a++) b.inertia.m[a][a] = turn, b.inverse.m[a][a] = 1 / turn;
    return b;
}

// First-step acceleration of a ball released in a full container at rest.
static double first_acceleration(bool flat, int32_t cells, double body_density, double viscosity, mo_route route)
{
    world w = {flat, 0.15, {0.5, 0.5, flat ? 0 : 0.5}};
    const int32_t body[2] = {-1, 0};
    const mo_vec3 centre[2] = {{0, 0, 0}, w.at};
    mo_solid_set solids = {.count = 2, .distance = distance, .user = &w, .body = body, .centre = centre, .bodies = 1};
    double dx = 1.0 / cells, dt = 0.01;
    mo_rigid ball = ball_body(&w, body_density, dx);
    mo_case_def def = {.cells = {cells, cells, flat ? 1 : cells},
                       .dx = dx,
                       .liquid = everywhere,
                       .solids = &solids,
                       .rigid = &ball,
                       .user = &w,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c;
    mo_error err;
    mo_system_info info;
    mo_solver_def solver = {.route = route, .tolerance = 1e-8, .max_iterations = 5000, .rounds = 2};
    assert_int_equal(mo_case_create(&def, &c, &err), MO_OK);
    for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] = (float)(-gravity * dt);
    ball.velocity.y = -gravity * dt;
    mo_status status = viscosity > 0 ? mo_case_stokes(&c, dt, &solver, &info, NULL, &err)
                                     : mo_case_project(&c, dt, &solver, &info, NULL, &err);
    assert_int_equal(status, MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    if (viscosity == 0 && route == MO_ROUTE_FAST && cells >= 32 && !flat) // light balls too; to 1e-8
        assert_true(info.fallbacks == 0 && info.solve.iterations <= (body_density < 100 ? 14 : 12));
    assert_true(fabs(ball.velocity.x) < 1e-5 && mo_norm(ball.angular_velocity) < 1e-4);
    mo_case_destroy(&c);
    return ball.velocity.y / dt;
}

static double theory(bool flat, double body_density)
{
    double r1 = 0.15, r2 = outer,
           Cm = flat ? (r2 * r2 + r1 * r1) / (r2 * r2 - r1 * r1)
                     : 0.5 * (pow(r2, 3) + 2 * pow(r1, 3)) / (pow(r2, 3) - pow(r1, 3));
    return (density - body_density) * gravity / (body_density + Cm * density);
}

static void added_mass(void **state)
{
    (void)state;
    static const double ratio[] = {1e-3, 0.1, 0.5, 1, 2, 10, 1000};
    for (int flat = 1; flat >= 0; flat--)
        for (int k = 0; k < 7; k++)
            for (int route = 0; route < 2; route++) {
                double a = first_acceleration(flat, flat ? 64 : 32, ratio[k] * density, 0, (mo_route)route);
                double exact = theory(flat, ratio[k] * density);
                print_message("%s ratio %g route %d: %g, exact %g\n", flat ? "2D" : "3D", ratio[k], route, a, exact);
                // Measured: 0.06% in 2D, 0.33% in 3D; 1.5e-4 g for a body as heavy as the liquid.
                assert_true(fabs(a - exact) < (flat ? 0.0015 : 0.006) * fabs(exact) + 3e-4 * gravity);
            }
}

static double piston(const void *user, int32_t solid, mo_vec3 x) { return (void)user, (void)solid, 0.53 - x.y; }

// A piston that closes a tank full of liquid stays, and the liquid carries it: a constant pressure is no null space.
static void pistons_rest(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const int32_t body[1] = {0};
        mo_vec3 centre = {0.5, 0.7, 0};
        mo_solid_set solids = {.count = 1, .distance = piston, .body = body, .centre = &centre, .bodies = 1};
        double dx = 1.0 / 16, dt = 0.01, mass = 300 * dx;
        mo_rigid lid = {.mass = mass, .pose = {centre, {1, 0, 0, 0}}, .velocity = {0, -gravity * dt, 0}};
        for (int a = 0; a < 3; a++) lid.inertia.m[a][a] = mass, lid.inverse.m[a][a] = 1 / mass;
        mo_case_def def = {.cells = {16, 16, 1},
                           .dx = dx,
                           .liquid = everywhere,
                           .solids = &solids,
                           .rigid = &lid,
                           .density = density,
                           .viscosity = k < 2 ? 0 : 1};
        mo_case c;
        mo_error err;
        mo_system_info info;
        mo_solver_def solver = {.route = (mo_route)(k % 2), .tolerance = 1e-9, .max_iterations = 5000, .rounds = 2};
        assert_int_equal(mo_case_create(&def, &c, &err), MO_OK);
        for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] = (float)(-gravity * dt);
        mo_liquid_system p;
        mo_liquid_system s;
        if (def.viscosity > 0)
            assert_int_equal(mo_case_stokes(&c, dt, &solver, &info, &s, &err), MO_OK);
        else
            assert_int_equal(mo_case_project(&c, dt, &solver, &info, &p, &err), MO_OK);
        const mo_liquid_system *l = def.viscosity > 0 ? &s : &p;
        const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
        // In the lowest cells: the piston's weight, and that of the liquid up to the top cells, half a cell uncertain.
        double lowest = 0;
        for (int32_t r = 0; r < b->rows; r++) lowest = fmax(lowest, b->x[r]);
        double expected = 300 * gravity + density * gravity * (0.53 - 0.5 * dx);
        assert_true(fabs(lid.velocity.y) < 1e-4 * gravity * dt);
        assert_true(fabs(lowest - expected) < 0.51 * density * gravity * dx);
        assert_int_equal(info.enclosed, 0);
        if (def.viscosity > 0)
            mo_liquid_destroy(&s);
        else
            mo_liquid_destroy(&p);
        mo_case_destroy(&c);
    }
}

// A box of 0.4 x 0.3 (x 0.4) whose lower left corner is at `user`, in water of depth 0.83.
typedef struct tank {
    bool flat;
    mo_vec3 low;
} tank;

static double block(const void *user, int32_t solid, mo_vec3 x)
{
    const tank *t = user;
    (void)solid;
    double d = fmax(fabs(x.x - t->low.x - 0.2) - 0.2, fabs(x.y - t->low.y - 0.15) - 0.15);
    return t->flat ? d : fmax(d, fabs(x.z - t->low.z - 0.2) - 0.2);
}

static double still(const void *user, mo_vec3 x) { return (void)user, x.y - 0.83; }

static double displaced(const tank *t, double dx) { return 0.4 * fmin(0.3, 0.83 - t->low.y) * (t->flat ? dx : 0.4); }

// One step of 0.01 s of the box in the tank, the water falling with gravity; returns the liquid attached to the box.
static mo_attached step_tank(tank *t, int32_t cells, mo_rigid *box, double viscosity)
{
    const int32_t body[1] = {0};
    const uint8_t faceted[1] = {1};
    double dx = 1.0 / cells, dt = 0.01;
    mo_vec3 centre = mo_add(t->low, mo_v3(0.2, 0.15, t->flat ? 0 : 0.2));
    mo_solid_set solids = {.count = 1, .distance = block, .user = t, .body = body, .centre = &centre, .bodies = 1};
    solids.faceted = faceted;
    mo_case_def def = {.cells = {cells, cells, t->flat ? 1 : cells},
                       .dx = dx,
                       .liquid = still,
                       .solids = &solids,
                       .rigid = box,
                       .density = density,
                       .viscosity = viscosity};
    mo_case c;
    mo_error err;
    mo_system_info info;
    mo_solver_def solver = {.tolerance = 1e-10, .max_iterations = 5000, .rounds = 2};
    mo_liquid_system l;
    mo_liquid_system s;
    box->pose = (mo_pose){centre, {1, 0, 0, 0}};
    assert_int_equal(mo_case_create(&def, &c, &err), MO_OK);
    for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] = (float)(-gravity * dt);
    if (viscosity > 0)
        assert_int_equal(mo_case_stokes(&c, dt, &solver, &info, &s, &err), MO_OK);
    else
        assert_int_equal(mo_case_project(&c, dt, &solver, &info, &l, &err), MO_OK);
    mo_attached attached = viscosity > 0 ? s.attached[0] : l.attached[0];
    if (viscosity > 0)
        mo_liquid_destroy(&s);
    else
        mo_liquid_destroy(&l);
    mo_case_destroy(&c);
    return attached;
}

static mo_rigid box_of(double mass)
{
    mo_rigid box = {.mass = mass};
    for (int a = 0; a < 3; a++) box.inertia.m[a][a] = 0.03 * mass, box.inverse.m[a][a] = 1 / (0.03 * mass);
    return box;
}

// However a box lies on the grid, under water or half out of it, the liquid lifts it by the weight of what it
// displaces, without torque. The box is heavy and has no weight of its own; liquid that an inviscid one attaches to it
// is taken to move with it, so that its weight is to be added.
static void boxes_displace(void **state)
{
    (void)state;
    for (int k = 0; k < 64; k++) {
        bool flat = k & 8, viscous = k & 16, floats = k & 32;
        double dx = 1.0 / 16, dt = 0.01, mass = 1e9;
        if (!flat && k % 8 % 3) continue; // fewer in 3D
        tank t = {flat, {(3.1 + 0.37 * (k % 8)) * dx, ((floats ? 9 : 4) + 0.125 * (k % 8)) * dx, flat ? 0 : 4.3 * dx}};
        mo_rigid box = box_of(mass);
        mo_attached attached = step_tank(&t, 16, &box, viscous ? 0.1 : 0);
        double lift = mass * box.velocity.y / dt, weight = density * gravity * displaced(&t, dx);
        double turn = box.angular_velocity.z * 0.03 * mass / dt;
        if (!viscous) lift -= attached.mass[1][1] * dx * dx * dx * gravity;
        if (!viscous) turn -= attached.mass[1][5] * dx * dx * dx * gravity;
        assert_true(fabs(lift / weight - 1) < 1e-3);
        assert_true(fabs(turn) < 1e-2 * 0.2 * weight); // forces act at the centres of faces, not of their covered parts
    }
}

// A box that weighs what it displaces stays where it is, however light it is and wherever its bottom lies.
static void boxes_float_at_rest(void **state)
{
    (void)state;
    static const double part[] = {0.9, 0.5, 0.1};
    for (int k = 0; k < 48; k++) {
        bool viscous = k >= 24;
        double dx = 1.0 / 32, of = part[k / 8 % 3];
        double bottom = (rint((0.83 - 0.3 * of) / dx) - (of < 0.2) + 0.125 * (k % 8)) * dx; // the light one stays wet
        tank t = {true, {7.3 * dx, bottom, 0}};
        mo_rigid box = box_of(density * displaced(&t, dx));
        box.velocity.y = -gravity * 0.01;
        step_tank(&t, 32, &box, viscous ? 0.1 : 0);
        assert_true(fabs(box.velocity.y) < 1e-4 * gravity * 0.01);
    }
}

// Above the water nothing is attached; in free fall with it nothing pushes, whatever is attached.
static double falling(const void *user, mo_vec3 x)
{
    return (void)user, fmax(fabs(x.x - 0.5) - 0.4, fabs(x.y - 0.5) - 0.3);
}

static void boxes_fall_with_water(void **state)
{
    (void)state;
    tank t = {true, {0.3, 0.85, 0}};
    mo_rigid box = box_of(1);
    mo_attached attached = step_tank(&t, 32, &box, 0);
    for (int i = 0; i < 6; i++) assert_true(attached.mass[i][i] == 0);
    for (int k = 0; k < 8; k++) {
        const int32_t body[1] = {0};
        double dx = 1.0 / 32, dt = 0.01;
        t.low = mo_v3(0.3, (19 + 0.125 * k) * dx, 0);
        mo_vec3 centre = mo_add(t.low, mo_v3(0.2, 0.15, 0)), v = {0.3, -1.1, 0};
        mo_solid_set solids = {.count = 1, .distance = block, .user = &t, .body = body, .centre = &centre, .bodies = 1};
        box = box_of(10 * displaced(&t, dx)), box.velocity = v, box.pose = (mo_pose){centre, {1, 0, 0, 0}};
        box.angular_velocity.z = 0.7;
        mo_case_def def = {.cells = {32, 32, 1},
                           .dx = dx,
                           .liquid = falling,
                           .solids = &solids,
                           .rigid = &box,
                           .user = &t,
                           .density = density};
        mo_case c;
        mo_error err;
        mo_system_info info;
        mo_solver_def solver = {.tolerance = 1e-9, .max_iterations = 5000, .rounds = 2};
        assert_int_equal(mo_case_create(&def, &c, &err), MO_OK);
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(c.grid); i++) {
            int32_t at[3];
            mo_grid_cell(c.grid, i, at);
            mo_vec3 x = mo_grid_world(c.grid, at[0], at[1] + 0.5, 0), y = mo_grid_world(c.grid, at[0] + 0.5, at[1], 0);
            c.u[0][i] = (float)(v.x - 0.7 * (x.y - centre.y)), c.u[1][i] = (float)(v.y + 0.7 * (y.x - centre.x));
        }
        assert_int_equal(mo_case_project(&c, dt, &solver, &info, NULL, &err), MO_OK);
        assert_true(mo_norm(mo_sub(box.velocity, v)) < 1e-6 && fabs(box.angular_velocity.z - 0.7) < 1e-5);
        mo_case_destroy(&c);
    }
}

static double drop(const void *user, mo_vec3 x)
{
    mo_vec3 middle = {0.47, 0.52, 0.5};
    const world *w = user;
    if (w->flat) middle.z = x.z = 0;
    return mo_norm(mo_sub(x, middle)) - 0.3;
}

static double ball_alone(const void *user, int32_t solid, mo_vec3 x) { return (void)solid, distance(user, 1, x); }

// A drop in free flight with a ball half in its surface, all velocities at random: what the liquid loses the ball gets,
// to rounding. Forces are those of the multipliers found.
static void momentum_is_exchanged(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        bool flat = k & 1, viscous = k & 2;
        world w = {flat, 0.15, {0.71, 0.6, flat ? 0 : 0.5}};
        const int32_t body[1] = {0};
        mo_solid_set solids = {
            .count = 1, .distance = ball_alone, .user = &w, .body = body, .centre = &w.at, .bodies = 1};
        double dx = 1.0 / 20, dt = 0.01, liquid[3] = {0}, solid[3] = {0}, size = 0;
        mo_rigid ball = ball_body(&w, 300, dx);
        ball.velocity = mo_v3(-1, 0.5, flat ? 0 : 0.3), ball.angular_velocity.z = 3;
        mo_case_def def = {.cells = {20, 20, flat ? 1 : 20},
                           .dx = dx,
                           .liquid = drop,
                           .solids = &solids,
                           .rigid = &ball,
                           .user = &w,
                           .density = density,
                           .viscosity = viscous ? 10 : 0};
        mo_case c;
        mo_error err;
        mo_system_info info;
        mo_solver_def solver = {.route = (mo_route)(k / 4), .tolerance = 1e-6, .max_iterations = 5000, .rounds = 2};
        assert_int_equal(mo_case_create(&def, &c, &err), MO_OK);
        mo_case_std_velocity(&c);
        mo_liquid_system p;
        mo_liquid_system s;
        if (viscous)
            assert_int_equal(mo_case_stokes(&c, dt, &solver, &info, &s, &err), MO_OK);
        else
            assert_int_equal(mo_case_project(&c, dt, &solver, &info, &p, &err), MO_OK);
        const mo_liquid_system *l = viscous ? &s : &p;
        for (int32_t kind = 0; kind <= MO_BLOCK_STRESS; kind++) {
            const mo_block *b = l->system.block[kind];
            for (int32_t r = 0; b && r < b->rows; r++) {
                for (int64_t e = b->on[MO_FACES].row[r]; e < b->on[MO_FACES].row[r + 1]; e++) {
                    liquid[l->face_at[b->on[MO_FACES].col[e]] % 3] -= b->on[MO_FACES].val[e] * b->x[r];
                    size += fabs(b->on[MO_FACES].val[e] * b->x[r]);
                }
                for (int64_t e = b->on[MO_BODIES].row[r]; b->on[MO_BODIES].rows && e < b->on[MO_BODIES].row[r + 1]; e++)
                    if (b->on[MO_BODIES].col[e] < 3)
                        solid[b->on[MO_BODIES].col[e]] -= b->on[MO_BODIES].val[e] * b->x[r];
            }
        }
        double push = fmax(fabs(solid[0]), fabs(solid[1]));
        assert_true(push > 1e-4 * size);
        for (int a = 0; a < (flat ? 2 : 3); a++) assert_true(fabs(liquid[a] + solid[a]) < 1e-6 * push);
        if (viscous)
            mo_liquid_destroy(&s);
        else
            mo_liquid_destroy(&p);
        mo_case_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(added_mass),
                                       cmocka_unit_test(pistons_rest),
                                       cmocka_unit_test(boxes_displace),
                                       cmocka_unit_test(boxes_float_at_rest),
                                       cmocka_unit_test(boxes_fall_with_water),
                                       cmocka_unit_test(momentum_is_exchanged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
