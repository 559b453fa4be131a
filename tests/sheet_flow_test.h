// Flows about sheets in a unit box, for tests of one solve.
#ifndef MO_SHEET_FLOW_TEST_H
#define MO_SHEET_FLOW_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cases/case.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double density = 1000;

static inline double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

typedef struct flow { // u(x), m/s
    mo_vec3 velocity, turn, centre;
    mo_vec3 normal; // not 0: velocities are reversed on this side of the plane through the centre
} flow;

static inline mo_vec3 flow_at(const flow *f, mo_vec3 x)
{
    mo_vec3 r = mo_sub(x, f->centre), u = mo_add(f->velocity, mo_cross(f->turn, r));
    return mo_dot(r, f->normal) < 0 ? mo_mul(-1, u) : u;
}

static inline double drop(const void *user, mo_vec3 x)
{
    double r = *(const double *)user; // of a drop in the middle of a unit box; negative: in two dimensions
    return mo_norm(mo_v3(x.x - 0.5, x.y - 0.5, r < 0 ? 0 : x.z - 0.5)) - fabs(r);
}

static inline double pool(const void *user, mo_vec3 x) { return x.y - *(const double *)user; }

static inline mo_vec3 world(const mo_case *c, const double x[3]) { return mo_grid_world(c->grid, x[0], x[1], x[2]); }

static inline mo_vec3 sample_at(const mo_case *c, int32_t code)
{
    double x[3];
    mo_sample_place(c->grid, mo_face_axis(code), mo_face_sample(code), x);
    return world(c, x);
}

// Velocities of a flow at all samples and gaps.
static inline void set_flow(const mo_case *c, const flow *f, mo_liquid_system *l)
{
    int32_t faces = l->system.faces.count - l->gaps;
    for (int32_t k = 0; k < faces; k++)
        l->system.faces.velocity[k] = mo_get(flow_at(f, sample_at(c, l->face_at[k])), mo_face_axis(l->face_at[k]));
    int32_t gaps = c->grid->sites ? c->grid->sites->gaps : 0;
    double *through = malloc(sizeof(double) * (size_t)(gaps + 1));
    for (int32_t k = 0; k < gaps; k++) {
        const mo_gap *gap = &c->grid->sites->gap[k];
        through[k] = mo_dot(mo_v3(gap->normal[0], gap->normal[1], gap->normal[2]), flow_at(f, world(c, gap->at)));
    }
    mo_liquid_set_gaps(l, through);
    free(through);
}

static inline void solve(mo_liquid_system *l, mo_route route, double tolerance, mo_system_info *info)
{
    mo_solver_def solver = {.route = route, .tolerance = tolerance, .max_iterations = 3000};
    assert_int_equal(mo_system_solve(&l->system, &solver, info, NULL), MO_OK);
}

static inline mo_vec3 turned(mo_vec3 axis, double angle, mo_vec3 v)
{
    return mo_quat_rotate(mo_quat_axis_angle(axis, angle), v);
}

// A circle about the origin, in two dimensions.
static inline void circle(double radius, int32_t n, mo_sheet *out)
{
    double line[257][2];
    int32_t count = (int32_t)ceil(2 * M_PI * radius * n);
    for (int32_t k = 0; k <= count; k++) {
        double angle = 2 * M_PI * (k % count) / count;
        line[k][0] = radius * cos(angle), line[k][1] = radius * sin(angle);
    }
    mo_sheet half[2];
    assert_int_equal(mo_sheet_curve(count / 2 + 1, line, 2.0 / n, 3.0 / n, &half[0], NULL), MO_OK);
    assert_int_equal(mo_sheet_curve(count - count / 2 + 1, line + count / 2, 2.0 / n, 3.0 / n, &half[1], NULL), MO_OK);
    assert_int_equal(mo_sheet_weld(&half[0], &half[1], 1e-9, out, NULL), MO_OK);
    mo_sheet_destroy(&half[0]), mo_sheet_destroy(&half[1]);
}

#endif
