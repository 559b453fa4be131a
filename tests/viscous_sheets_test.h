// Helpers of tests of viscous liquid and sheets.
#ifndef MO_VISCOUS_SHEETS_TEST_H
#define MO_VISCOUS_SHEETS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/case.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double density = 1000, eta = 20;

static inline double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

static inline mo_vec3 world(const mo_case *c, const double x[3]) { return mo_grid_world(c->grid, x[0], x[1], x[2]); }

static inline mo_vec3 sample_at(const mo_case *c, int32_t code)
{
    double x[3];
    mo_sample_place(c->grid, mo_face_axis(code), mo_face_sample(code), x);
    return world(c, x);
}

static inline void solve(mo_liquid_system *l, mo_route route, double tolerance, mo_system_info *info)
{
    mo_solver_def solver = {.route = route, .tolerance = tolerance, .max_iterations = 20000};
    assert_int_equal(mo_system_solve(&l->system, &solver, info, NULL), MO_OK);
}

static inline mo_vec3 turned(mo_vec3 axis, double angle, mo_vec3 v)
{
    return mo_quat_rotate(mo_quat_axis_angle(axis, angle), v);
}

#endif
