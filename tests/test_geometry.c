// Shapes: distances against brute force, slopes, transforms, set operations, bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/shape_node.h"

static double random_in(uint32_t *seed, double lo, double hi)
{
    return lo + (hi - lo) * mo_unit(mo_hash((*seed)++, 1, 2));
}

static mo_vec3 random_point(uint32_t *seed, double reach)
{
    double x = random_in(seed, -reach, reach), y = random_in(seed, -reach, reach);
    return mo_v3(x, y, random_in(seed, -reach, reach));
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g and %.12g differ by more than %g", a, b, tolerance);
}

// ---- Bodies of revolution against their profile, a closed polygon in the half plane (r, y) ----

enum { ARC = 2000, PROFILE = 4 * ARC };
typedef struct profile {
    double r[PROFILE], y[PROFILE];
    int n;
} profile;

static void add_corner(profile *p, double r, double y)
{
    p->r[p->n] = r;
    p->y[p->n++] = y;
}

static void add_arc(profile *p, double cr, double cy, double radius, double from, double to)
{
    for (int i = 0; i <= ARC; i++) {
        double angle = (from + (to - from) * i / ARC) * (M_PI / 180);
        add_corner(p, cr + radius * cos(angle), cy + radius * sin(angle));
    }
}

// Distance to the edges off the axis, negative inside (even-odd rule, mirrored at the axis).
static double profile_distance(const profile *p, mo_vec3 x)
{
    double r = sqrt(x.x * x.x + x.z * x.z), best = INFINITY;
    bool inside = false;
    for (int i = 0; i < p->n; i++) {
        int j = (i + 1) % p->n;
        double ar = p->r[i], ay = p->y[i], dr = p->r[j] - ar, dy = p->y[j] - ay, l2 = dr * dr + dy * dy;
        if ((ay > x.y) != (p->y[j] > x.y) && r < ar + dr * (x.y - ay) / dy) inside = !inside;
        if (l2 == 0 || (fabs(ar) < 1e-12 && fabs(p->r[j]) < 1e-12)) continue;
        double t = fmin(fmax(((r - ar) * dr + (x.y - ay) * dy) / l2, 0), 1);
        best = fmin(best, hypot(r - ar - t * dr, x.y - ay - t * dy));
    }
    return inside ? -best : best;
}

static void check_profile(mo_shape *s, const profile *p)
{
    assert_non_null(s);
    uint32_t seed = 7;
    for (int i = 0; i < 400; i++) {
        mo_vec3 x = random_point(&seed, i % 2 ? 1.0 : 2.5);
        assert_near(mo_shape_distance(s, x), profile_distance(p, x), 2e-6);
    }
    mo_shape_release(s);
}

static void round_shapes_match_their_profiles(void **state)
{
    (void)state;
    static profile p;
    p.n = 0, add_arc(&p, 0, 0, 0.8, -90, 90);
    check_profile(mo_shape_sphere(0.8), &p);
    p.n = 0, add_arc(&p, 0, -0.5, 0.4, -90, 0), add_arc(&p, 0, 0.5, 0.4, 0, 90);
    check_profile(mo_shape_capsule(0.4, 1.8), &p);
    p.n = 0, add_corner(&p, 0, -0.7), add_corner(&p, 0.5, -0.7), add_corner(&p, 0.5, 0.7), add_corner(&p, 0, 0.7);
    check_profile(mo_shape_cylinder(0.5, 1.4), &p);
    p.n = 0, add_corner(&p, 0, -0.6), add_corner(&p, 0.7, -0.6), add_corner(&p, 0, 0.6);
    check_profile(mo_shape_cone(0.7, 1.2), &p);
    p.n = 0, add_arc(&p, 0.9, 0, 0.3, 0, 360);
    check_profile(mo_shape_torus(0.9, 0.3), &p);
    p.n = 0, add_arc(&p, 0, 0, 0.9, -90, 0), add_arc(&p, 0, 0, 0.6, 0, -90);
    check_profile(mo_shape_bowl(0.9, 0.3), &p);
    p.n = 0, add_arc(&p, 0, 0, 0.9, -90, 0), add_corner(&p, 0, 0);
    check_profile(mo_shape_bowl(0.9, 2), &p);
    p.n = 0, add_arc(&p, 0, 0, 0.9, -90, 90), add_arc(&p, 0, 0, 0.7, 90, -90);
    check_profile(mo_shape_hollow_sphere(0.9, 0.2), &p);
}

// ---- Others ----

static void boxes_match_their_faces(void **state)
{
    (void)state;
    mo_shape *s = mo_shape_box(mo_v3(1, 2, 0.6));
    double half[3] = {0.5, 1, 0.3};
    uint32_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        mo_vec3 p = random_point(&seed, 1.5);
        double best = INFINITY;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            inside = inside && fabs(mo_get(p, a)) < half[a];
            for (int side = -1; side <= 1; side += 2) { // the nearest point of each face
                double q[3];
                for (int b = 0; b < 3; b++) q[b] = fmin(fmax(mo_get(p, b), -half[b]), half[b]);
                q[a] = side * half[a];
                best = fmin(best, mo_norm(mo_sub(p, mo_v3(q[0], q[1], q[2]))));
            }
        }
        assert_near(mo_shape_distance(s, p), inside ? -best : best, 1e-14);
    }
    mo_shape_release(s);
}

static void ellipsoids_match_their_samples(void **state)
{
    (void)state;
    enum { N = 400 };
    static mo_vec3 surface[2 * N * N];
    mo_vec3 axes = {0.3, 0.9, 0.5};
    int n = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2 * N; j++) {
            double a = M_PI * (i + 0.5) / N, b = M_PI * j / N;
            surface[n++] = mo_v3(axes.x * sin(a) * cos(b), axes.y * cos(a), axes.z * sin(a) * sin(b));
        }
    mo_shape *s = mo_shape_ellipsoid(axes);
    uint32_t seed = 5;
    for (int i = 0; i < 60; i++) {
        mo_vec3 p = random_point(&seed, i % 2 ? 0.4 : 1.5);
        if (i % 10 == 0) p.x = 0; // on the planes of symmetry
        if (i % 20 == 0) p.y = 0;
        double best = INFINITY;
        for (int k = 0; k < n; k++) best = fmin(best, mo_norm(mo_sub(p, surface[k])));
        double d = mo_shape_distance(s, p);
        assert_true(fabs(d) <= best + 1e-9 && best <= fabs(d) + 1e-2 * fmin(0.3, 5e-3 / fmax(fabs(d), 1e-2)));
        assert_true((d < 0) == (mo_norm(mo_v3(p.x / axes.x, p.y / axes.y, p.z / axes.z)) < 1));
    }
    assert_near(mo_shape_distance(s, mo_v3(0, 0, 0)), -0.3, 1e-9);
    assert_near(mo_shape_distance(s, mo_v3(0, 2, 0)), 1.1, 1e-9);
    mo_shape_release(s);
}

static void known_points(void **state)
{
    (void)state;
    mo_shape *plane = mo_shape_plane(mo_v3(0, 2, 0), 1), *rabbit = mo_shape_rabbit(2);
    assert_near(mo_shape_distance(plane, mo_v3(5, 0.5, 3)), 0, 1e-15);
    assert_near(mo_shape_distance(plane, mo_v3(5, 3, 3)), 2.5, 1e-15);
    // The rabbit fills its height: bottom and ear tips.
    double lowest = INFINITY, highest = -INFINITY;
    for (int i = -60; i <= 60; i++)
        for (int j = -300; j <= 300; j++)
            for (int k = -40; k <= 40; k++) {
                mo_vec3 p = {i * 0.0125, j * 0.0034, k * 0.0125};
                if (mo_shape_distance(rabbit, p) >= 0) continue;
                lowest = fmin(lowest, p.y), highest = fmax(highest, p.y);
            }
    assert_near(lowest, -1, 0.005);
    assert_near(highest, 1, 0.02);
    assert_true(mo_shape_distance(rabbit, mo_v3(0, -1.001, 0)) > 0);
    assert_near(mo_shape_bounds(rabbit).lo.y, -1, 1e-12);
    assert_near(mo_shape_bounds(rabbit).hi.y, 1, 1e-12);
    mo_shape_release(plane);
    mo_shape_release(rabbit);
}

// ---- Properties of every kind of shape ----

enum { ZOO = 20 };

static mo_shape *turned(const mo_shape *s)
{
    mo_shape *a = mo_shape_rotate(s, mo_v3(1, 2, -0.5), 37), *b = mo_shape_scale(a, 0.8);
    mo_shape *c = mo_shape_move(b, mo_v3(0.1, -0.2, 0.3));
    mo_shape_release(a);
    mo_shape_release(b);
    return c;
}

static void make_zoo(mo_shape *zoo[ZOO])
{
    zoo[0] = mo_shape_sphere(0.7);
    zoo[1] = mo_shape_box(mo_v3(1, 0.5, 1.4));
    zoo[2] = mo_shape_capsule(0.3, 1.2);
    zoo[3] = mo_shape_cylinder(0.5, 0.8);
    zoo[4] = mo_shape_cone(0.6, 1.2);
    zoo[5] = mo_shape_torus(0.7, 0.2);
    zoo[6] = mo_shape_plane(mo_v3(1, 2, 3), 0.2);
    zoo[7] = mo_shape_bowl(0.9, 0.1);
    zoo[8] = mo_shape_hollow_sphere(0.9, 0.2);
    zoo[9] = mo_shape_rabbit(1.6);
    zoo[10] = turned(zoo[1]);
    zoo[11] = turned(zoo[7]);
    zoo[12] = mo_shape_shell(zoo[1], 0.05);
    zoo[13] = mo_shape_union(zoo[5], zoo[10]);
    zoo[14] = mo_shape_difference(zoo[0], zoo[4]);
    zoo[15] = mo_shape_intersect(zoo[3], zoo[10]);
    zoo[16] = mo_shape_smooth_union(zoo[15], zoo[2], 0.2);
    zoo[17] = turned(zoo[16]);
    zoo[18] = turned(zoo[4]);
    zoo[19] = mo_shape_union(zoo[18], zoo[6]);
    for (int i = 0; i < ZOO; i++) assert_non_null(zoo[i]);
}

static void release_zoo(mo_shape *zoo[ZOO])
{
    for (int i = 0; i < ZOO; i++) mo_shape_release(zoo[i]);
}

static void slopes_are_at_most_one(void **state)
{
    (void)state;
    mo_shape *zoo[ZOO];
    make_zoo(zoo);
    uint32_t seed = 11;
    for (int i = 0; i < ZOO; i++)
        for (int k = 0; k < 20000; k++) {
            mo_vec3 p = random_point(&seed, 1.5), q = mo_mad(p, k % 2 ? 1e-3 : 0.3, random_point(&seed, 1));
            double rise = fabs(mo_shape_distance(zoo[i], p) - mo_shape_distance(zoo[i], q));
            if (rise > mo_norm(mo_sub(p, q)) * (1 + 1e-9) + 1e-12) fail_msg("shape %d is steeper than 1", i);
        }
    release_zoo(zoo);
}

static void bounds_enclose_the_inside(void **state)
{
    (void)state;
    mo_shape *zoo[ZOO];
    make_zoo(zoo);
    uint32_t seed = 23;
    for (int i = 0; i < ZOO; i++) {
        mo_box3 b = mo_shape_bounds(zoo[i]), seen = {{9, 9, 9}, {-9, -9, -9}};
        for (int k = 0; k < 100000; k++) {
            mo_vec3 p = random_point(&seed, 1.5);
            if (mo_shape_distance(zoo[i], p) >= 0) continue;
            assert_true(mo_box_outside(&b, p) < 1e-12);
            seen.lo = mo_v3(fmin(seen.lo.x, p.x), fmin(seen.lo.y, p.y), fmin(seen.lo.z, p.z));
            seen.hi = mo_v3(fmax(seen.hi.x, p.x), fmax(seen.hi.y, p.y), fmax(seen.hi.z, p.z));
        }
        if (!mo_shape_is_bounded(zoo[i])) continue;
        // Tight: primitives and their rotations to sampling, set operations within a third.
        mo_vec3 loose = mo_sub(mo_sub(b.hi, b.lo), mo_sub(seen.hi, seen.lo));
        double allowed = i <= 8 || i == 10 || i == 11 || i == 18 ? 0.2 : 0.45;
        if (loose.x > allowed || loose.y > allowed || loose.z > allowed)
            fail_msg("bounds of shape %d are loose by (%g, %g, %g)", i, loose.x, loose.y, loose.z);
    }
    assert_false(mo_shape_is_bounded(zoo[6]));
    assert_false(mo_shape_is_bounded(zoo[19]));
    assert_true(isinf(mo_shape_bounds(zoo[6]).hi.x));
    release_zoo(zoo);
}

static void half_spaces_meet_in_finite_bounds(void **state)
{
    (void)state;
    mo_shape *s = mo_shape_plane(mo_v3(1, 0, 0), 2);
    for (int i = 1; i < 6; i++) {
        mo_vec3 n = mo_mul(i % 2 ? -1 : 1, mo_v3(i / 2 == 0, i / 2 == 1, i / 2 == 2));
        mo_shape *plane = mo_shape_plane(n, 2), *both = mo_shape_intersect(s, plane);
        mo_shape_release(plane);
        mo_shape_release(s);
        s = both;
        assert_int_equal(mo_shape_is_bounded(s), i == 5);
    }
    mo_box3 b = mo_shape_bounds(s);
    assert_near(b.lo.x, -2, 1e-14);
    assert_near(b.hi.z, 2, 1e-14);
    mo_shape_release(s);
}

static void transforms_move_points(void **state)
{
    (void)state;
    mo_shape *zoo[ZOO];
    make_zoo(zoo);
    uint32_t seed = 31;
    for (int i = 0; i < ZOO; i++) {
        mo_shape *t = turned(zoo[i]);
        mo_quat q = mo_quat_axis_angle(mo_v3(1, 2, -0.5), 37 * M_PI / 180);
        for (int k = 0; k < 200; k++) {
            mo_vec3 p = random_point(&seed, 1.2);
            mo_vec3 image = mo_add(mo_v3(0.1, -0.2, 0.3), mo_mul(0.8, mo_quat_rotate(q, p)));
            assert_near(mo_shape_distance(t, image), 0.8 * mo_shape_distance(zoo[i], p), 1e-13);
        }
        mo_shape_release(t);
    }
    release_zoo(zoo);
}

static void set_operations_combine_signs(void **state)
{
    (void)state;
    mo_shape *a = mo_shape_sphere(0.6), *box = mo_shape_box(mo_v3(1, 0.5, 0.8));
    mo_shape *b = mo_shape_move(box, mo_v3(0.3, 0.2, 0));
    mo_shape *all[5] = {mo_shape_union(a, b), mo_shape_difference(a, b), mo_shape_intersect(a, b),
                        mo_shape_smooth_union(a, b, 0.1), mo_shape_shell(a, 0.2)};
    uint32_t seed = 41;
    for (int k = 0; k < 20000; k++) {
        mo_vec3 p = random_point(&seed, 1);
        double da = mo_shape_distance(a, p), db = mo_shape_distance(b, p), d[5];
        for (int i = 0; i < 5; i++) d[i] = mo_shape_distance(all[i], p);
        assert_near(d[0], fmin(da, db), 1e-15);
        assert_near(d[1], fmax(da, -db), 1e-15);
        assert_near(d[2], fmax(da, db), 1e-15);
        assert_true(d[3] <= d[0] + 1e-15 && d[3] >= d[0] - 0.025 - 1e-15);
        if (fabs(da - db) >= 0.1) assert_near(d[3], d[0], 1e-15);
        assert_true((d[4] < 0) == (da < 0 && da > -0.2));
    }
    for (int i = 0; i < 5; i++) mo_shape_release(all[i]);
    mo_shape_release(a);
    mo_shape_release(b);
    mo_shape_release(box);
}

static void references_are_counted(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    mo_shape *a = mo_shape_sphere(1), *b = mo_shape_box(mo_v3(1, 1, 1)), *u = mo_shape_union(a, b);
    mo_shape_release(a);
    mo_shape_release(b);
    mo_shape *m = mo_shape_move(u, mo_v3(1, 0, 0)), *n = mo_shape_rotate(m, mo_v3(0, 1, 0), 90);
    mo_shape_release(u);
    mo_shape_release(m);
    assert_near(mo_shape_distance(n, mo_v3(0, 0, -1)), -1, 1e-12);
    assert_ptr_equal(mo_shape_retain(n), n);
    mo_shape_release(n);
    mo_shape_release(n);
    mo_shape_release(NULL);
    assert_int_equal(mo_memory_in_use(), before);
    // A long chain is one scene's loop; an endless one is refused before the stack is in danger.
    mo_shape *chain = mo_shape_sphere(1), *ball = mo_shape_sphere(0.5);
    for (int i = 0; chain && i < 9000; i++) {
        mo_shape *moved = mo_shape_move(ball, mo_v3(i, 0, 0)), *longer = mo_shape_union(chain, moved);
        mo_shape_release(moved);
        mo_shape_release(chain);
        chain = longer;
        if (i == 4000) assert_near(mo_shape_distance(chain, mo_v3(4000, 0, 0)), -0.5, 1e-12);
    }
    assert_null(chain);
    mo_shape_release(ball);
    assert_int_equal(mo_memory_in_use(), before);
}

static void bad_parameters_give_no_shape(void **state)
{
    (void)state;
    assert_null(mo_shape_sphere(0));
    assert_null(mo_shape_sphere(NAN));
    assert_null(mo_shape_box(mo_v3(1, -1, 1)));
    assert_null(mo_shape_capsule(0.1, 0));
    assert_null(mo_shape_bowl(1, 0));
    assert_null(mo_shape_torus(1, INFINITY));
    assert_null(mo_shape_plane(mo_v3(0, 0, 0), 1));
    assert_null(mo_shape_rabbit(-1));
    assert_null(mo_shape_union(NULL, NULL));
    mo_shape *s = mo_shape_sphere(1);
    assert_null(mo_shape_move(s, mo_v3(NAN, 0, 0)));
    assert_null(mo_shape_rotate(s, mo_v3(0, 0, 0), 10));
    assert_null(mo_shape_scale(s, 0));
    assert_null(mo_shape_shell(s, -1));
    assert_null(mo_shape_smooth_union(s, s, 0));
    mo_shape_release(s);
}

// ---- Every shape that scenes can name ----

// Numbers that a kind of shape takes.
static mo_shape *sample_of(const mo_shape_kind *kind)
{
    static const double given[2][4] = {{0.3, 0.8, 0.5, 0.2}, {0.8, 0.3, 0.5, 0.2}};
    char text[200];
    bool turned = kind->check && kind->check(given[0], text, sizeof text) >= 0;
    assert_true(!turned || kind->check(given[1], text, sizeof text) < 0);
    return mo_shape_make(kind, given[turned]);
}

static void check_moments(const mo_shape *s)
{
    mo_moments m;
    mo_mass mass;
    if (!s->kind->moments || !s->kind->moments(s, &m)) return;
    assert_int_equal(mo_shape_mass(s, 48, &mass, NULL), MO_OK);
    double y = m.y / m.volume, yy = m.yy - m.volume * y * y, turn[3] = {yy + m.zz, m.xx + m.zz, m.xx + yy};
    assert_near(mass.volume, m.volume, 5e-3 * m.volume);
    assert_near(mass.centre.y, y, 2e-3);
    for (int a = 0; a < 3; a++) assert_near(mass.inertia.m[a][a], turn[a], 1e-2 * turn[a]);
}

static void named_shapes_are_what_their_entries_say(void **state)
{
    (void)state;
    uint32_t seed = 5;
    for (const mo_shape_kind *const *kind = mo_named_shapes; *kind; kind++) {
        assert_non_null((*kind)->name);
        assert_non_null((*kind)->parameter[0].name);
        mo_shape *s = sample_of(*kind), *again = sample_of(*kind);
        assert_non_null(s);
        assert_true(mo_shape_equal(s, again));
        for (int i = 0; i < 4000; i++) {
            mo_vec3 a = random_point(&seed, 1.2), b = mo_mad(a, 0.1, random_point(&seed, 1));
            double d = mo_shape_distance(s, a);
            assert_true(fabs(d - mo_shape_distance(s, b)) <= mo_norm(mo_sub(a, b)) * (1 + 1e-9) + 1e-12);
            assert_true(d >= 0 || mo_box_outside(&s->bounds, a) == 0);
        }
        check_moments(s);
        mo_shape_release(s), mo_shape_release(again);
        assert_null(mo_shape_make(*kind, (double[4]){NAN, 1, 1, 1}));
        assert_null(mo_shape_make(*kind, (double[4]){0, 0, 0, 1}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_shapes_match_their_profiles),
        cmocka_unit_test(boxes_match_their_faces),
        cmocka_unit_test(ellipsoids_match_their_samples),
        cmocka_unit_test(known_points),
        cmocka_unit_test(named_shapes_are_what_their_entries_say),
        cmocka_unit_test(slopes_are_at_most_one),
        cmocka_unit_test(bounds_enclose_the_inside),
        cmocka_unit_test(half_spaces_meet_in_finite_bounds),
        cmocka_unit_test(transforms_move_points),
        cmocka_unit_test(set_operations_combine_signs),
        cmocka_unit_test(references_are_counted),
        cmocka_unit_test(bad_parameters_give_no_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
