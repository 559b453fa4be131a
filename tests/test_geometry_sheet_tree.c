// Points that slide along sheets: none passes, whatever the sheet and the point do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/predicates.h"
#include "geometry/sheet_tree.h"
#include "geometry/triangle.h"
#include <math.h>
#include <stdlib.h>

static uint32_t counter;
static double unit(void) { return mo_unit(mo_hash(counter++, 17, 4)); }
static double within(double lo, double hi) { return lo + (hi - lo) * unit(); }
static mo_vec3 anywhere(double size) { return mo_v3(within(-size, size), within(-size, size), within(-size, size)); }

static mo_vec3 corner(const mo_sheet *s, int32_t t, int k)
{
    const double *x = s->position[s->triangle[t][k]];
    return mo_v3(x[0], x[1], x[2]);
}

// By looking at all triangles.
static void questions_are_those_of_all_triangles(void **state)
{
    (void)state;
    mo_sheet s;
    mo_sheet_tree *t;
    mo_error err;
    assert_int_equal(mo_sheet_cup(0.4, 0.7, 0.11, &s, &err), MO_OK);
    assert_int_equal(mo_sheet_tree_create(&s, &t, &err), MO_OK);
    int met = 0;
    for (int n = 0; n < 4000; n++) {
        mo_vec3 a = anywhere(0.8), b = anywhere(0.8), way;
        int32_t triangle;
        double at = mo_sheet_tree_meet(t, a, b, &triangle), least = 0.3;
        bool any = false;
        for (int32_t k = 0; k < s.triangles; k++) {
            const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
            const double *x = s.position[s.triangle[k][0]], *y = s.position[s.triangle[k][1]],
                         *z = s.position[s.triangle[k][2]];
            int u = mo_orient3d(p, q, x, y), v = mo_orient3d(p, q, y, z), w = mo_orient3d(p, q, z, x);
            any |= mo_orient3d(x, y, z, p) != mo_orient3d(x, y, z, q) && u == v && v == w;
            least = fmin(least, mo_norm(mo_triangle_way(corner(&s, k, 0), corner(&s, k, 1), corner(&s, k, 2), a)));
        }
        assert_int_equal(at <= 1, any);
        met += any;
        assert_true(fabs(mo_sheet_tree_near(t, a, 0.3, &way) - least) < 1e-12);
    }
    assert_true(met > 500);
    mo_sheet_tree_destroy(t);
    mo_sheet_destroy(&s);
}

static mo_pose any_pose(double size, double turn)
{
    mo_vec3 axis = anywhere(1);
    mo_quat q = {1, turn * axis.x, turn * axis.y, turn * axis.z};
    double n = sqrt(1 + turn * turn * mo_dot(axis, axis));
    return (mo_pose){anywhere(size), {q.w / n, q.x / n, q.y / n, q.z / n}};
}

// Points are rounded to float, as particles are.
static mo_vec3 rounded(mo_vec3 x) { return mo_v3((float)x.x, (float)x.y, (float)x.z); }

static const double gap = 2e-3;

// Which side of a plate far larger than all ways, in its own frame; of a closed sheet, whether inside.
static bool above(const mo_sheet *s, mo_vec3 x)
{
    (void)s;
    return x.y > 0;
}
static bool inside(const mo_sheet *s, mo_vec3 x)
{
    int crossings = 0;
    const double p[3] = {x.x, x.y, x.z}, q[3] = {x.x + 31.7, x.y + 40.3, x.z + 11.9};
    for (int32_t k = 0; k < s->triangles; k++) {
        const double *a = s->position[s->triangle[k][0]], *b = s->position[s->triangle[k][1]],
                     *c = s->position[s->triangle[k][2]];
        int u = mo_orient3d(p, q, a, b), v = mo_orient3d(p, q, b, c), w = mo_orient3d(p, q, c, a);
        crossings += mo_orient3d(a, b, c, p) != mo_orient3d(a, b, c, q) && u == v && v == w;
    }
    return crossings & 1;
}

// Random points and motions, of some cells in a step; returns how many slid.
static int move_many(const mo_sheet *s, double size, int points, bool side_of(const mo_sheet *, mo_vec3))
{
    mo_sheet_tree *t;
    mo_error err;
    int slid = 0, stopped = 0;
    double nearest = 1;
    assert_int_equal(mo_sheet_tree_create(s, &t, &err), MO_OK);
    for (int n = 0; n < points; n++) {
        mo_pose pose = any_pose(0.5, 1), next = pose, by = any_pose(1, 0.1);
        next.position = mo_add(pose.position, by.position);
        next.rotation = mo_quat_mul(by.rotation, pose.rotation);
        mo_vec3 x = rounded(anywhere(size)), way;
        if (mo_sheet_tree_near(t, mo_pose_to_body(pose, x), gap, &way) < gap) continue;
        bool side = side_of(s, mo_pose_to_body(pose, x));
        mo_vec3 to = mo_add(x, anywhere(2));
        mo_sheet_slide slide = mo_sheet_tree_slide(t, mo_pose_to_body(pose, x), mo_pose_to_body(next, to), gap);
        mo_vec3 end = mo_pose_to_body(next, rounded(mo_pose_apply(next, slide.end)));
        assert_int_equal(side_of(s, end), side);
        nearest = fmin(nearest, mo_sheet_tree_near(t, end, gap, &way));
        slid += slide.met > 0, stopped += slide.met == MO_SHEET_BOUNCES;
        if (slide.met == 0) assert_true(mo_norm(mo_sub(mo_pose_apply(next, slide.end), to)) < 1.1 * gap);
    }
    print_message("%d of %d slid, %d met three, nearest %.2g\n", slid, points, stopped, nearest);
    assert_true(nearest > 0.5 * gap);
    mo_sheet_tree_destroy(t);
    return slid;
}

static void nothing_passes(void **state)
{
    (void)state;
    mo_sheet s;
    mo_error err;
    assert_int_equal(mo_sheet_plate(60, 60, 5, &s, &err), MO_OK);
    assert_true(move_many(&s, 2, 60000, above) > 1000);
    mo_sheet_destroy(&s);
    double arc[9][2];
    for (int k = 0; k < 9; k++) arc[k][0] = sin(M_PI * k / 8), arc[k][1] = -cos(M_PI * k / 8);
    arc[0][0] = arc[8][0] = 0;
    assert_int_equal(mo_sheet_revolve(9, arc, 0.4, &s, &err), MO_OK);
    assert_true(move_many(&s, 1.5, 40000, inside) > 1000);
    mo_sheet_destroy(&s);
    const double can[4][2] = {{0, 0}, {1, 0}, {1, 1.2}, {0, 1.2}}; // with corners
    assert_int_equal(mo_sheet_revolve(4, can, 0.4, &s, &err), MO_OK);
    assert_true(move_many(&s, 1.5, 40000, inside) > 1000);
    mo_sheet_destroy(&s);
}

// Along a plate a point keeps what of its way is along it.
static void points_slide(void **state)
{
    (void)state;
    mo_sheet s;
    mo_sheet_tree *t;
    mo_error err;
    assert_int_equal(mo_sheet_plate(4, 4, 0.3, &s, &err), MO_OK);
    assert_int_equal(mo_sheet_tree_create(&s, &t, &err), MO_OK);
    mo_sheet_slide slide = mo_sheet_tree_slide(t, mo_v3(-1, 0.5, 0.1), mo_v3(0.3, -0.7, 0.4), gap);
    assert_int_equal(slide.met, 1);
    assert_true(mo_norm(mo_sub(slide.end, mo_v3(0.3, gap, 0.4))) < 1e-9);
    assert_true(mo_norm(mo_sub(slide.normal[0], mo_v3(0, 1, 0))) < 1e-12);
    slide = mo_sheet_tree_slide(t, mo_v3(-1, 0.5, 0.1), mo_v3(-1, 0.7, 0.4), gap);
    assert_int_equal(slide.met, 0);
    slide = mo_sheet_tree_slide(t, mo_v3(2.5, 0.5, 0.1), mo_v3(2.6, -0.7, 0.4), gap); // past the border
    assert_int_equal(slide.met, 0);
    mo_sheet_tree_destroy(t);
    mo_sheet_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_are_those_of_all_triangles),
        cmocka_unit_test(nothing_passes),
        cmocka_unit_test(points_slide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
