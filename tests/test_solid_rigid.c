// Rigid bodies: masses against formulas, free rotation against its invariants and the theory of tops.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solid/rigid.h"
#include "ration.h"
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

// Checks mass, centre and principal inertia (divided by the mass) of shape, then of the same turned, scaled and moved.
static void check_mass(mo_shape *s, double volume, mo_vec3 centre, mo_vec3 I, double tolerance)
{
    const double density = 700, scale = 1.7;
    mo_shape *big = mo_shape_scale(s, scale), *turned = mo_shape_rotate(big, mo_v3(1, 2, -1), 50);
    mo_shape *moved = mo_shape_move(turned, mo_v3(4, -3, 2));
    mo_quat q = mo_quat_axis_angle(mo_v3(1, 2, -1), 50 * M_PI / 180);
    for (int k = 0; k < 2; k++) {
        const mo_shape *body;
        mo_rigid r;
        assert_int_equal(mo_rigid_create(k ? moved : s, density, false, 0, "here", &r, &body, NULL), MO_OK);
        double L = k ? scale : 1, size = cbrt(volume) * L;
        near(r.mass / (density * volume * L * L * L), 1, tolerance);
        mo_vec3 c = k ? mo_add(mo_v3(4, -3, 2), mo_quat_rotate(q, mo_mul(scale, centre))) : centre;
        near(mo_norm(mo_sub(r.pose.position, c)), 0, tolerance * size);
        for (int i = 0; i < 3; i++) {
            mo_vec3 e = {i == 0, i == 1, i == 2}, u = k ? mo_quat_rotate(q, e) : e;
            mo_vec3 expect = mo_mul(r.mass * L * L * mo_get(I, i), u);
            near(mo_norm(mo_sub(mo_mat3_mul(mo_rigid_inertia(&r), u), expect)), 0,
                 tolerance * r.mass * mo_norm(I) * L * L);
            near(mo_norm(mo_sub(mo_mat3_mul(r.inverse, mo_mat3_mul(r.inertia, e)), e)), 0, 1e-12);
        }
        // The body's frame has the centre of mass as its origin.
        mo_vec3 x = mo_v3(0.3, 0.1, -0.2);
        near(mo_shape_distance(body, x), mo_shape_distance(k ? moved : s, mo_pose_apply(r.pose, x)), 1e-12);
        mo_shape_release(body);
    }
    mo_shape_release(s);
    mo_shape_release(big);
    mo_shape_release(turned);
    mo_shape_release(moved);
}

static void masses_of_primitives(void **state)
{
    (void)state;
    mo_vec3 o = {0, 0, 0};
    double V = 4 * M_PI / 3 * 0.125, h, r, a;
    check_mass(mo_shape_sphere(0.5), V, o, mo_mul(0.4 * 0.25, mo_v3(1, 1, 1)), 1e-12);
    check_mass(mo_shape_box(mo_v3(1, 2, 0.7)), 1.4, o, mo_mul(1 / 12.0, mo_v3(4.49, 1.49, 5)), 1e-12);
    r = 0.3, h = 0.8;
    V = M_PI * r * r * h;
    a = r * r / 4 + h * h / 12;
    check_mass(mo_shape_cylinder(r, h), V, o, mo_v3(a, r * r / 2, a), 1e-12);
    // A capsule: half balls whose centres lie 3/8 r outside the cylinder's ends.
    double length = h - 2 * r, mc = M_PI * r * r * length, mb = 4 * M_PI / 3 * r * r * r, m = mc + mb;
    double axial = (mc * r * r / 2 + mb * 0.4 * r * r) / m, out = 0.5 * length + 0.375 * r;
    double cap = 0.4 * r * r - 0.375 * 0.375 * r * r; // about the half ball's own centre
    a = (mc * (r * r / 4 + length * length / 12) + mb * (cap + out * out)) / m;
    check_mass(mo_shape_capsule(r, h), m, o, mo_v3(a, axial, a), 1e-12);
    a = 3.0 / 20 * r * r + 3.0 / 80 * h * h;
    check_mass(mo_shape_cone(r, h), V / 3, mo_v3(0, -h / 4, 0), mo_v3(a, 0.3 * r * r, a), 1e-12);
    double R = 0.6;
    a = (4 * R * R + 5 * r * r) / 8;
    check_mass(mo_shape_torus(R, r), 2 * M_PI * M_PI * R * r * r, o, mo_v3(a, R * R + 0.75 * r * r, a), 1e-12);
}

static void masses_of_hollow_bodies(void **state)
{
    (void)state;
    double R = 0.5;
    for (double t = 0.2; t > 0.001; t *= 0.3) {
        double i = R - t, V = 4 * M_PI / 3 * (R * R * R - i * i * i);
        double a = 0.4 * (pow(R, 5) - pow(i, 5)) / (R * R * R - i * i * i);
        double y = -3.0 / 8 * (pow(R, 4) - pow(i, 4)) / (R * R * R - i * i * i);
        check_mass(mo_shape_hollow_sphere(R, t), V, mo_v3(0, 0, 0), mo_v3(a, a, a), 1e-12);
        check_mass(mo_shape_bowl(R, t), V / 2, mo_v3(0, y, 0), mo_v3(a - y * y, a, a - y * y), 1e-12);
    }
    // No formula: a shell of a sphere, its wall as thin as 1/50 of its size, and a box with a hole.
    mo_shape *s = mo_shape_sphere(R), *shell = mo_shape_shell(s, 0.02);
    double i = R - 0.02, a = 0.4 * (pow(R, 5) - pow(i, 5)) / (R * R * R - i * i * i);
    check_mass(shell, 4 * M_PI / 3 * (R * R * R - i * i * i), mo_v3(0, 0, 0), mo_v3(a, a, a), 2e-3);
    mo_shape_release(s);
    mo_shape *box = mo_shape_box(mo_v3(1, 1, 1)), *hole = mo_shape_box(mo_v3(0.5, 0.5, 3));
    mo_shape *frame = mo_shape_difference(box, hole);
    double V = 0.75, zz = (1 / 6.0 - 0.25 / 24) / V, xx = (1 / 6.0 - 0.25 * (0.25 + 1) / 12) / V;
    check_mass(frame, V, mo_v3(0, 0, 0), mo_v3(xx, xx, zz), 3e-3);
    mo_shape_release(box);
    mo_shape_release(hole);
}

static void twins(void **state)
{
    (void)state;
    mo_shape *a = mo_shape_bowl(0.5, 0.1), *b = mo_shape_bowl(0.5, 0.1), *c = mo_shape_bowl(0.5, 0.11);
    mo_shape *big = mo_shape_scale(a, 1.5), *turned = mo_shape_rotate(big, mo_v3(1, -1, 2), 130);
    mo_shape *first = mo_shape_move(turned, mo_v3(1, 2, 3));
    mo_shape *other = mo_shape_rotate(first, mo_v3(0, 1, 1), -200);
    mo_shape *same = mo_shape_scale(b, 1.5);
    mo_pose from, to;
    const mo_shape *core = mo_shape_core(first, &from), *core2 = mo_shape_core(other, &to), *body, *body2;
    assert_true(mo_shape_equal(core, core2) && mo_shape_equal(core, same) && mo_shape_equal(a, b));
    assert_false(mo_shape_equal(a, c) || mo_shape_equal(core, a));
    mo_rigid r, s;
    assert_int_equal(mo_rigid_create(first, 300, false, 0, "here", &r, &body, NULL), MO_OK);
    assert_int_equal(mo_rigid_create(other, 900, false, 0, "here", &s, &body2, NULL), MO_OK);
    mo_rigid twin = mo_rigid_twin(&r, 3, from, to);
    mo_vec3 x = {0.3, -0.8, 0.5};
    near(twin.mass / s.mass, 1, 1e-14);
    near(mo_norm(mo_sub(twin.pose.position, s.pose.position)), 0, 1e-13);
    mo_vec3 turn = mo_mat3_mul(mo_rigid_inertia(&s), x);
    near(mo_norm(mo_sub(mo_mat3_mul(mo_rigid_inertia(&twin), x), turn)), 0, 1e-12 * mo_norm(turn));
    near(mo_norm(mo_sub(mo_mat3_mul(mo_rigid_inertia_inverse(&twin), turn), x)), 0, 1e-12);
    near(mo_shape_distance(body, mo_pose_to_body(twin.pose, x)), mo_shape_distance(other, x), 1e-13);
    const mo_shape *all[] = {a, b, c, big, turned, first, other, same, core, core2, body, body2};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) mo_shape_release(all[i]);
}

static void sections(void **state)
{
    (void)state;
    mo_shape *box = mo_shape_box(mo_v3(0.4, 0.2, 5)), *turned = mo_shape_rotate(box, mo_v3(0, 0, 1), 30);
    mo_shape *moved = mo_shape_move(turned, mo_v3(1, 2, 0.3)), *ball = mo_shape_sphere(0.5);
    mo_shape *off = mo_shape_move(ball, mo_v3(-1, 0.5, 0.3)), *away = mo_shape_move(ball, mo_v3(0, 0, 1));
    const mo_shape *body;
    mo_error err;
    mo_rigid r;
    assert_int_equal(mo_rigid_create(moved, 100, true, 0.05, "here", &r, &body, NULL), MO_OK);
    near(r.mass, 100 * 0.08 * 0.05, 1e-5 * r.mass);
    near(r.inertia.m[2][2], r.mass * (0.16 + 0.04) / 12, 1e-5 * r.inertia.m[2][2]);
    near(mo_norm(mo_sub(r.pose.position, mo_v3(1, 2, 0))), 0, 1e-6);
    mo_shape_release(body);
    assert_int_equal(mo_rigid_create(off, 100, true, 0.05, "here", &r, &body, NULL), MO_OK);
    near(r.mass, 100 * M_PI * 0.16 * 0.05, 1e-5 * r.mass); // the section has radius 0.4
    near(r.inertia.m[2][2], r.mass * 0.08, 1e-5 * r.inertia.m[2][2]);
    near(mo_norm(mo_sub(r.pose.position, mo_v3(-1, 0.5, 0))), 0, 1e-6);
    // Nothing turns it out of the plane.
    mo_vec3 w = mo_mat3_mul(mo_rigid_inertia_inverse(&r), mo_v3(1, 2, 3));
    assert_true(w.x == 0 && w.y == 0 && w.z > 0);
    r.angular_velocity = mo_v3(0, 0, 3);
    mo_rigid_move(&r, 0.1);
    near(mo_norm(mo_sub(mo_quat_difference(mo_quat_identity(), r.pose.rotation), mo_v3(0, 0, 0.3))), 0, 1e-6);
    near(r.angular_velocity.z, 3, 1e-12);
    mo_shape_release(body);
    assert_int_equal(mo_rigid_create(away, 100, true, 0.05, "here", &r, &body, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "empty at z = 0"));
    mo_shape *all[] = {box, turned, moved, ball, off, away};
    for (int i = 0; i < 6; i++) mo_shape_release(all[i]);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(1), *plane = mo_shape_plane(mo_v3(0, 1, 0), 0);
    mo_shape *far = mo_shape_move(ball, mo_v3(3, 0, 0)), *nothing = mo_shape_intersect(ball, far);
    const struct {
        const mo_shape *shape;
        double density;
        const char *text;
    } cases[] = {{ball, 0, "scene.lua:3: rigid 'a': density must be > 0, got 0"},
                 {ball, -3, "scene.lua:3: rigid 'a': density must be > 0, got -3"},
                 {ball, NAN, "scene.lua:3: rigid 'a': density"},
                 {ball, INFINITY, "scene.lua:3: rigid 'a': density"},
                 {plane, 1, "scene.lua:3: rigid 'a': the shape has no finite bounds"},
                 {nothing, 1, "scene.lua:3: rigid 'a': the shape is empty"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mo_rigid r;
        const mo_shape *body;
        mo_error err;
        assert_int_equal(
            mo_rigid_create(cases[i].shape, cases[i].density, false, 0, "scene.lua:3: rigid 'a'", &r, &body, &err),
            MO_ERROR_INPUT);
        assert_int_equal(strncmp(err.text, cases[i].text, strlen(cases[i].text)), 0);
        assert_null(body);
    }
    mo_shape_release(ball);
    mo_shape_release(plane);
    mo_shape_release(far);
    mo_shape_release(nothing);
}

static mo_rigid body_of(mo_shape *s, mo_vec3 w)
{
    mo_rigid r;
    const mo_shape *body;
    assert_int_equal(mo_rigid_create(s, 500, false, 0, "here", &r, &body, NULL), MO_OK);
    mo_shape_release(body);
    mo_shape_release(s);
    r.pose.rotation = mo_quat_axis_angle(mo_v3(1, -1, 0.5), 0.7);
    r.angular_velocity = w;
    return r;
}

static void spinning_keeps_momentum_and_energy(void **state)
{
    (void)state;
    mo_rigid r = body_of(mo_shape_box(mo_v3(1, 0.6, 0.25)), mo_v3(6, 5, -6.2));
    r.velocity = mo_v3(1, 2, 3);
    mo_vec3 L = mo_rigid_angular_momentum(&r), x = r.pose.position;
    double E = mo_rigid_energy(&r), dt = 0.2 / mo_norm(r.angular_velocity);
    for (int i = 0; i < 1000; i++) {
        mo_rigid_move(&r, dt);
        near(mo_rigid_energy(&r) / E, 1, 1e-11);
        near(mo_norm(mo_sub(mo_rigid_angular_momentum(&r), L)) / mo_norm(L), 0, 1e-12);
    }
    near(mo_norm(mo_sub(r.pose.position, mo_mad(x, 1000 * dt, mo_v3(1, 2, 3)))), 0, 1e-9);
    mo_quat q = r.pose.rotation;
    near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
    // Long steps, a needle: still kept.
    r = body_of(mo_shape_box(mo_v3(2, 0.02, 0.03)), mo_v3(9, 5, 2));
    L = mo_rigid_angular_momentum(&r), E = mo_rigid_energy(&r);
    for (int i = 0; i < 20; i++) mo_rigid_move(&r, 0.3);
    near(mo_rigid_energy(&r) / E, 1, 1e-9);
    near(mo_norm(mo_sub(mo_rigid_angular_momentum(&r), L)) / mo_norm(L), 0, 1e-10);
    // At rest nothing happens.
    r.angular_velocity = mo_v3(0, 0, 0);
    q = r.pose.rotation;
    mo_rigid_move(&r, 1);
    assert_memory_equal(&q, &r.pose.rotation, sizeof q);
}

// The axis of a symmetric top goes round L with the rate |L| / I_across.
static void top_precesses_on_time(void **state)
{
    (void)state;
    mo_rigid r = body_of(mo_shape_cylinder(0.5, 0.2), mo_v3(0, 0, 0));
    mo_vec3 axis = mo_quat_rotate(r.pose.rotation, mo_v3(0, 1, 0));
    r.angular_velocity = mo_mad(mo_mul(8, axis), 2, mo_v3(0.3, 0.2, 0.9));
    mo_vec3 L = mo_rigid_angular_momentum(&r);
    double period = 2 * M_PI * r.inertia.m[0][0] / mo_norm(L), before = mo_dot(axis, mo_normalize(L));
    assert_true(before < 0.999); // it does precess
    const int steps = 40;
    for (int i = 0; i < steps; i++) {
        mo_rigid_move(&r, period / steps);
        mo_vec3 now = mo_quat_rotate(r.pose.rotation, mo_v3(0, 1, 0));
        near(mo_dot(now, mo_normalize(L)), before, 1e-9);
        // The exact place: the axis turned about L by the fraction of the period.
        mo_quat q = mo_quat_axis_angle(L, 2 * M_PI * (i + 1) / steps);
        near(mo_norm(mo_sub(now, mo_quat_rotate(q, axis))), 0, 2e-5);
    }
}

// Spin about one principal axis is exact in rate, and fourth order.
static void spin_is_of_fourth_order(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        mo_rigid r = body_of(mo_shape_sphere(1), mo_v3(0.06, 0.06, 0.03)); // omega = 0.09: one substep
        mo_quat q = r.pose.rotation;
        for (int i = 0; i < (k ? 20 : 10); i++) mo_rigid_move(&r, k ? 0.5 : 1);
        error[k] = mo_norm(mo_sub(mo_quat_difference(q, r.pose.rotation), mo_v3(0.6, 0.6, 0.3)));
    }
    assert_true(error[0] < 1e-6);
    near(log2(error[0] / error[1]), 4, 0.2);
}

// A box turning about its middle axis, a little off, flips over and over; about the others it does not.
static void middle_axis_flips(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        mo_rigid r = body_of(mo_shape_box(mo_v3(1, 0.5, 0.2)), mo_v3(0, 0, 0)); // inertia: x least, y middle, z most
        r.pose.rotation = mo_quat_identity();
        mo_vec3 spin = {axis == 0 ? 10 : 0.01, axis == 1 ? 10 : 0.01, axis == 2 ? 10 : 0.01};
        r.angular_velocity = spin;
        int flips = 0;
        double side = 1;
        for (int i = 0; i < 1000; i++) {
            mo_rigid_move(&r, 0.01);
            mo_vec3 e = {axis == 0, axis == 1, axis == 2};
            double now = mo_dot(mo_quat_rotate(r.pose.rotation, e), e);
            if (fabs(now) > 0.9 && now * side < 0) side = -side, flips++;
        }
        if (axis == 1)
            assert_true(flips >= 4);
        else
            assert_int_equal(flips, 0);
    }
}

static void velocities_and_axes(void **state)
{
    (void)state;
    mo_rigid r = body_of(mo_shape_box(mo_v3(1, 0.5, 0.2)), mo_v3(1, 2, 3));
    r.velocity = mo_v3(-1, 0, 1);
    mo_vec3 x = mo_add(r.pose.position, mo_v3(0, 1, 0)), v = mo_rigid_velocity_at(&r, x);
    near(mo_norm(mo_sub(v, mo_v3(-1 - 3, 0, 1 + 1))), 0, 1e-15);
    mo_vec3 L = mo_mat3_mul(mo_rigid_inertia(&r), r.angular_velocity);
    near(mo_norm(mo_sub(L, mo_rigid_angular_momentum(&r))), 0, 1e-12 * mo_norm(L));
    near(mo_norm(mo_sub(mo_mat3_mul(mo_rigid_inertia_inverse(&r), L), r.angular_velocity)), 0, 1e-12);
    near(mo_rigid_energy(&r), 0.5 * r.mass * 2 + 0.5 * mo_dot(L, r.angular_velocity), 1e-10);
}

static void failing_memory_loses_nothing(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(0.5), *box = mo_shape_box(mo_v3(1, 1, 1)), *s = mo_shape_union(ball, box);
    int64_t before = mo_memory_in_use();
    int failures = 0;
    for (int at = 1;; at++) {
        ration memory = {.fail_at = at};
        mo_rigid r;
        const mo_shape *body;
        mo_error err;
        mo_set_allocator(rationed, &memory);
        mo_status status = mo_rigid_create(s, 1, false, 0, "here", &r, &body, &err);
        mo_shape_release(body);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(mo_memory_in_use(), before);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures > 5);
    mo_shape_release(ball);
    mo_shape_release(box);
    mo_shape_release(s);
}

// Rigid bodies of sheets: a plate is exact, round ones have corners. The tube and its disk give the mass of a cup.
static void masses_of_sheets(void **state)
{
    (void)state;
    mo_sheet s;
    mo_rigid r;
    assert_int_equal(mo_sheet_plate(0.6, 0.4, 0.13, &s, NULL), MO_OK);
    mo_sheet_move(&s, mo_v3(1, -2, 0.5));
    assert_int_equal(mo_rigid_of_sheet(&s, 3, false, 0, "here", &r, NULL), MO_OK);
    near(r.mass, 3 * 0.24, 1e-14);
    near(mo_norm(mo_sub(r.pose.position, mo_v3(1, -2, 0.5))), 0, 1e-14);
    near(r.inertia.m[0][0], r.mass * 0.4 * 0.4 / 12, 1e-14);
    near(r.inertia.m[1][1], r.mass * (0.4 * 0.4 + 0.6 * 0.6) / 12, 1e-14);
    near(r.inertia.m[2][2], r.mass * 0.6 * 0.6 / 12, 1e-14);
    near(r.inertia.m[0][1], 0, 1e-14);
    near(r.inverse.m[2][2] * r.inertia.m[2][2], 1, 1e-14);
    assert_int_equal(mo_rigid_of_sheet(&s, 0, false, 0, "here", &r, NULL), MO_ERROR_INPUT);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_hemisphere(0.5, 0.02, &s, NULL), MO_OK);
    assert_int_equal(mo_rigid_of_sheet(&s, 2, false, 0, "here", &r, NULL), MO_OK);
    near(r.mass / (2 * 2 * M_PI * 0.25), 1, 1e-3);
    near(r.pose.position.y / 0.5, -0.5, 1e-3);
    near(r.inertia.m[1][1] / (r.mass * 0.25), 2.0 / 3, 1e-3);
    near(r.inertia.m[0][0] / (r.mass * 0.25), 2.0 / 3 - 0.25, 1e-3);
    mo_sheet_destroy(&s);
    const double line[2][2] = {{-0.3, 0}, {0.3, 0}}; // a rod in the plane, half a metre of it deep
    assert_int_equal(mo_sheet_curve(2, line, 0.1, 4, &s, NULL), MO_OK);
    assert_int_equal(mo_rigid_of_sheet(&s, 2, true, 0.5, "here", &r, NULL), MO_OK);
    near(r.mass, 2 * 0.6 * 0.5, 1e-14);
    near(r.inertia.m[2][2], r.mass * 0.36 / 12, 1e-14);
    near(r.inverse.m[0][0], 0, 0);
    mo_sheet_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_of_primitives),
        cmocka_unit_test(masses_of_hollow_bodies),
        cmocka_unit_test(masses_of_sheets),
        cmocka_unit_test(twins),
        cmocka_unit_test(sections),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(velocities_and_axes),
        cmocka_unit_test(spinning_keeps_momentum_and_energy),
        cmocka_unit_test(top_precesses_on_time),
        cmocka_unit_test(spin_is_of_fourth_order),
        cmocka_unit_test(middle_axis_flips),
        cmocka_unit_test(failing_memory_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
