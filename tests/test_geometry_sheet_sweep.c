// Points beside sheets whose vertices all move: none passes, and meetings are found in time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/predicates.h"
#include "geometry/sheet_sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gap = 2e-3;
static uint32_t counter;
static double within(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(counter++, 23, 8)); }
static mo_vec3 anywhere(double size) { return mo_v3(within(-size, size), within(-size, size), within(-size, size)); }
static mo_vec3 rounded(mo_vec3 x) { return mo_v3((float)x.x, (float)x.y, (float)x.z); }

// Which side of a large sheet about the plane y = 0: straight up there is nothing. Of a closed one, whether inside.
static bool side_of(const mo_sheet *s, mo_vec3 x, bool closed)
{
    int crossings = 0;
    const double p[3] = {x.x, x.y, x.z}, q[3] = {x.x + (closed ? 31.7 : 0), x.y + 40.3, x.z + (closed ? 11.9 : 0)};
    for (int32_t k = 0; k < s->triangles; k++) {
        const double *a = s->position[s->triangle[k][0]], *b = s->position[s->triangle[k][1]],
                     *c = s->position[s->triangle[k][2]];
        int u = mo_orient3d(p, q, a, b), v = mo_orient3d(p, q, b, c), w = mo_orient3d(p, q, c, a);
        crossings += mo_orient3d(a, b, c, p) != mo_orient3d(a, b, c, q) && u == v && v == w;
    }
    return crossings & 1;
}

typedef struct wave { // a motion of space, so that no part of a sheet passes another
    mo_vec3 by[3], along[3], shift;
    double phase[3];
} wave;

static wave any_wave(double height, double shift)
{
    wave w = {.shift = anywhere(shift)};
    for (int k = 0; k < 3; k++) w.by[k] = anywhere(height), w.along[k] = anywhere(1.5), w.phase[k] = within(0, 6);
    return w;
}

static mo_vec3 moved(const wave *w, mo_vec3 x)
{
    mo_vec3 y = mo_add(x, w->shift);
    for (int k = 0; k < 3; k++) y = mo_mad(y, sin(mo_dot(w->along[k], x) + w->phase[k]), w->by[k]);
    return y;
}

static void place(const mo_sheet *rest, const wave *w, double (*to)[3])
{
    for (int32_t v = 0; v < rest->vertices; v++) {
        const double *p = rest->position[v];
        mo_vec3 x = moved(w, mo_v3(p[0], p[1], p[2]));
        to[v][0] = x.x, to[v][1] = x.y, to[v][2] = x.z;
    }
}

static int move_many(const mo_sheet *rest, double size, double height, int sheets, int points, bool closed)
{
    mo_sheet now, then;
    int met = 0, crossed = 0;
    double nearest = 1;
    assert_int_equal(mo_sheet_copy(rest, &now, NULL), MO_OK);
    assert_int_equal(mo_sheet_copy(rest, &then, NULL), MO_OK);
    for (int n = 0; n < sheets; n++) {
        wave from = any_wave(height, 0.3), to = any_wave(height, 0.8);
        mo_sheet_tree *first, *last;
        mo_sheet_sweep *sweep;
        place(rest, &from, now.position), place(rest, &to, then.position);
        assert_int_equal(mo_sheet_tree_create(&now, &first, NULL), MO_OK);
        assert_int_equal(mo_sheet_tree_create(&then, &last, NULL), MO_OK);
        assert_int_equal(mo_sheet_sweep_create(&now, (const double(*)[3])then.position, &sweep, NULL), MO_OK);
        for (int k = 0; k < points; k++) {
            mo_vec3 x = rounded(anywhere(size)), goal = mo_add(x, anywhere(1)), way;
            if (mo_sheet_tree_near(first, x, gap, &way) < gap) continue;
            mo_sweep_hit hit;
            met += mo_sheet_sweep_meet(sweep, x, goal, 0.1 * gap, &hit);
            mo_vec3 beside = mo_sheet_sweep_carry(sweep, last, x, goal, gap);
            mo_vec3 end = rounded(mo_sheet_tree_slide(last, beside, goal, gap).end);
            crossed += side_of(&now, x, closed) != side_of(&then, end, closed);
            nearest = fmin(nearest, mo_sheet_tree_near(last, end, gap, &way));
        }
        mo_sheet_tree_destroy(first), mo_sheet_tree_destroy(last), mo_sheet_sweep_destroy(sweep);
    }
    print_message("%d of %d met the sheet, %d crossed it, nearest %.2g\n", met, sheets * points, crossed, nearest);
    assert_int_equal(crossed, 0);
    assert_true(nearest > 0.1 * gap);
    mo_sheet_destroy(&now), mo_sheet_destroy(&then);
    return met;
}

static void nothing_passes(void **state)
{
    (void)state;
    mo_sheet s;
    assert_int_equal(mo_sheet_plate(14, 14, 0.5, &s, NULL), MO_OK);
    assert_true(move_many(&s, 1.5, 0.3, 60, 500, false) > 3000);
    mo_sheet_destroy(&s);
    double arc[9][2];
    for (int k = 0; k < 9; k++) arc[k][0] = sin(M_PI * k / 8), arc[k][1] = -cos(M_PI * k / 8);
    arc[0][0] = arc[8][0] = 0;
    assert_int_equal(mo_sheet_revolve(9, arc, 0.3, &s, NULL), MO_OK);
    assert_true(move_many(&s, 1.5, 0.2, 60, 500, true) > 3000);
    mo_sheet_destroy(&s);
}

// One triangle that falls on a point at rest, and one that turns away in time.
static void times_are_right(void **state)
{
    (void)state;
    double from[3][3] = {{-1, 1, -1}, {1, 1, -1}, {0, 1, 1}}, to[3][3] = {{-1, -1, -1}, {1, -1, -1}, {0, -1, 1}};
    int32_t corner[1][3] = {{0, 1, 2}};
    mo_sheet s = {3, 1, from, corner};
    mo_sheet_sweep *sweep;
    mo_sweep_hit hit;
    mo_vec3 at = {0.1, 0.2, 0.1};
    assert_int_equal(mo_sheet_sweep_create(&s, (const double(*)[3])to, &sweep, NULL), MO_OK);
    assert_true(mo_sheet_sweep_meet(sweep, at, at, 1e-4, &hit));
    assert_true(hit.time < 0.4 && hit.time > 0.3998 && hit.triangle == 0 && hit.side == 1);
    double x = 0, z = 0;
    for (int k = 0; k < 3; k++) x += hit.weight[k] * from[k][0], z += hit.weight[k] * from[k][2];
    assert_true(fabs(x - at.x) < 1e-9 && fabs(z - at.z) < 1e-9);
    assert_false(mo_sheet_sweep_meet(sweep, at, mo_v3(0.1, -1.1, 0.1), 1e-4, &hit)); // it stays ahead
    assert_false(mo_sheet_sweep_meet(sweep, mo_v3(1.2, 0, 0), mo_v3(1.2, 0, 0), 1e-4, &hit));
    mo_sheet_sweep_destroy(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_right),
        cmocka_unit_test(nothing_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
