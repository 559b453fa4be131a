// Analytic cases: hydrostatics is exact on the grid, and the pressure on a curved domain is of second order. Long
// versions: validate/hydrostatics.c and validate/pressure_order.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "cases/case.h"
#include <math.h>

typedef struct tank {
    bool flat, full, tilted;
} tank;

static const double level = 0.5573, gravity = 9.81, density = 1000;

static double tank_wall(const void *user, mo_vec3 x)
{
    const tank *t = user;
    mo_vec3 d = mo_sub(x, mo_v3(0.5, 0.5, 0.5));
    if (t->flat) d.z = 0;
    if (!t->tilted) return 0.4321 - mo_norm(d);
    d = mo_quat_rotate(mo_quat_axis_angle(t->flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3), 0.4), d);
    return 0.3137 - fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
}

static double tank_liquid(const void *user, mo_vec3 x) { return ((const tank *)user)->full ? -1 : x.y - level; }

// Largest |p / (rho g) - depth|, up to a constant where the liquid is enclosed.
static double pressure_error(const mo_case *c, const mo_liquid_system *p, bool full)
{
    const mo_block *b = p->system.block[MO_BLOCK_PRESSURE];
    double low = INFINITY, high = -INFINITY;
    for (int32_t r = 0; r < b->rows; r++) {
        int32_t at[3];
        mo_grid_cell(c->grid, p->cell_at[r], at);
        double error = b->x[r] / (density * gravity) - (level - mo_grid_world(c->grid, 0, at[1] + 0.5, 0).y);
        low = fmin(low, error), high = fmax(high, error);
    }
    return full ? high - low : fmax(fabs(low), fabs(high));
}

static void stand(const tank *t, int32_t cells)
{
    const double dt = 0.01;
    mo_case_def def = {.cells = {cells, cells, t->flat ? 1 : cells},
                       .dx = 1.0 / cells,
                       .liquid = tank_liquid,
                       .solid = tank_wall,
                       .user = t,
                       .density = density};
    mo_case c;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    mo_solver_def solver = {.tolerance = 1e-6, .max_iterations = 500};
    for (int step = 0; step < 10; step++) {
        mo_liquid_system p;
        mo_system_info info;
        for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] -= (float)(gravity * dt);
        assert_int_equal(mo_case_project(&c, dt, &solver, &info, &p, NULL), MO_OK);
        assert_int_equal(info.enclosed, t->full);
        assert_true(p.system.block[MO_BLOCK_PRESSURE]->rows > 200);
        assert_true(mo_max_abs(p.system.faces.count, p.system.faces.velocity) < 1e-6);
        assert_true(pressure_error(&c, &p, t->full) < 1e-6);
        mo_liquid_destroy(&p);
    }
    mo_case_destroy(&c);
}

static void liquid_at_rest_stays_at_rest(void **state)
{
    (void)state;
    mo_use_threads(1);
    for (int kind = 0; kind < 8; kind++) {
        tank t = {.flat = kind & 1, .full = kind & 2, .tilted = kind & 4};
        stand(&t, t.flat ? 32 : 24);
    }
}

// ---- Order ----

static const double ball_radius = 0.391;

static double ball(const void *user, mo_vec3 x)
{
    (void)user;
    return hypot(x.x - 0.513, x.y - 0.487) - ball_radius;
}

// p = (R^2 - r^2) (2 + sin a), u* = dt/rho grad p + a rotation; returns the largest error of the pressure.
static double ball_error(int32_t cells)
{
    mo_case_def def = {.cells = {cells, cells, 1}, .dx = 1.0 / cells, .liquid = ball, .density = 1};
    mo_case c;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    mo_pressure_def pressure_def = {
        .grid = c.grid, .phi = c.phi, .liquid = c.phase, .area = c.area, .density = 1, .dt = 1, .dx = def.dx};
    mo_liquid_system p;
    assert_int_equal(mo_pressure_assemble(&pressure_def, c.arena, &p, NULL), MO_OK);
    for (int32_t f = 0; f < p.system.faces.count; f++) {
        int32_t at[3], axis = mo_face_axis(p.face_at[f]);
        mo_grid_cell(c.grid, mo_face_sample(p.face_at[f]), at);
        mo_vec3 w = mo_grid_world(c.grid, at[0] + (axis == 0 ? 0 : 0.5), at[1] + (axis == 1 ? 0 : 0.5), 0);
        double x = w.x - 0.513, y = w.y - 0.487, s = ball_radius * ball_radius - x * x - y * y, a = 3 * x + 2 * y + 0.3;
        p.system.faces.velocity[f] = axis == 0   ? 3 * s * cos(a) - 2 * x * (2 + sin(a)) - y
                                     : axis == 1 ? 2 * s * cos(a) - 2 * y * (2 + sin(a)) + x
                                                 : 0;
    }
    mo_solver_def solver = {.tolerance = 1e-10, .max_iterations = 500};
    mo_system_info info;
    assert_int_equal(mo_system_solve(&p.system, &solver, &info, NULL), MO_OK);
    const mo_block *b = p.system.block[MO_BLOCK_PRESSURE];
    double worst = 0;
    for (int32_t r = 0; r < b->rows; r++) {
        mo_vec3 w = mo_grid_world(c.grid, b->coord[r][0] + 0.5, b->coord[r][1] + 0.5, 0);
        double x = w.x - 0.513, y = w.y - 0.487, s = ball_radius * ball_radius - x * x - y * y;
        worst = fmax(worst, fabs(b->x[r] - s * (2 + sin(3 * x + 2 * y + 0.3))));
    }
    mo_liquid_destroy(&p);
    mo_case_destroy(&c);
    return worst;
}

static void pressure_is_second_order(void **state)
{
    (void)state;
    double coarse = ball_error(16), fine = ball_error(64), order = log2(coarse / fine) / 2;
    if (!(order > 1.8)) fail_msg("order %g (%g, %g)", order, coarse, fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(liquid_at_rest_stays_at_rest),
                                       cmocka_unit_test(pressure_is_second_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
