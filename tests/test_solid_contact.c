// Samples and contacts: against formulas for simple pairs, steady manifolds, threads, memory, cost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "solid/contact.h"
#include "solid/manifold.h"
#include "ration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static void near3(mo_vec3 a, mo_vec3 b, double tolerance)
{
    if (!(mo_norm(mo_sub(a, b)) <= tolerance))
        fail_msg("(%g, %g, %g) is not (%g, %g, %g) within %g", a.x, a.y, a.z, b.x, b.y, b.z, tolerance);
}

enum { MOST_SOLIDS = 200 };

typedef struct world {
    int32_t count;
    mo_collider c[MOST_SOLIDS];
    mo_samples samples[MOST_SOLIDS];
    mo_contact_def def;
    mo_contacts found;
    mo_arena *arena;
} world;

static world *world_create(double reach)
{
    world *w = calloc(1, sizeof *w);
    w->def.reach = reach;
    w->arena = mo_arena_create();
    return w;
}

static void world_destroy(world *w)
{
    for (int32_t i = 0; i < w->count; i++) {
        mo_shape_release(w->c[i].shape);
        if (w->c[i].samples == &w->samples[i]) mo_samples_destroy(&w->samples[i]);
    }
    mo_contacts_destroy(&w->found);
    mo_arena_destroy(w->arena);
    free(w);
}

// Takes over the shape; spacing 0: as one without samples.
static mo_collider *put(world *w, mo_shape *s, mo_vec3 at, mo_vec3 axis, double angle, double spacing)
{
    int32_t i = w->count++;
    mo_collider *c = &w->c[i];
    *c = (mo_collider){.shape = s, .rigid = spacing > 0, .friction = 0.5, .restitution = 0.1 * i};
    c->pose = (mo_pose){at, angle == 0 ? mo_quat_identity() : mo_quat_axis_angle(axis, angle)};
    c->radius = INFINITY;
    if (spacing > 0) {
        mo_box3 b = mo_shape_bounds(s);
        c->centre = mo_mul(0.5, mo_add(b.lo, b.hi));
        c->radius = 0.5 * mo_norm(mo_sub(b.hi, b.lo));
        assert_int_equal(
            (w->def.two_dimensional ? mo_samples_create_2d : mo_samples_create)(s, spacing, 4000, &w->samples[i], NULL),
            MO_OK);
        c->samples = &w->samples[i];
    }
    return c;
}

static void find(world *w)
{
    assert_int_equal(mo_contacts_find(w->c, w->count, &w->def, &w->found, w->arena, NULL), MO_OK);
    for (int32_t i = 0; i < w->found.count; i++) {
        const mo_contact *c = &w->found.contact[i];
        assert_true(c->a < c->b && c->gap < w->def.reach);
        near(mo_norm(c->normal), 1, 1e-12);
        if (i == 0) continue;
        const mo_contact *p = c - 1;
        assert_true(p->a < c->a || (p->a == c->a && (p->b < c->b || (p->b == c->b && p->feature < c->feature))));
    }
}

static void ground(world *w) { put(w, mo_shape_plane(mo_v3(0, 1, 0), 0), mo_v3(0, 0, 0), mo_v3(0, 0, 1), 0, 0); }

static const mo_contact *contact_at(const world *w, mo_vec3 x, double tolerance)
{
    for (int32_t i = 0; i < w->found.count; i++)
        if (mo_norm(mo_sub(w->found.contact[i].point, x)) <= tolerance) return &w->found.contact[i];
    for (int32_t i = 0; i < w->found.count; i++) {
        mo_vec3 p = w->found.contact[i].point;
        print_message("contact %d at (%g, %g, %g), gap %g\n", i, p.x, p.y, p.z, w->found.contact[i].gap);
    }
    fail_msg("no contact at (%g, %g, %g)", x.x, x.y, x.z);
    return NULL;
}

static double uniform(uint32_t *seed) { return mo_unit(mo_hash((*seed)++, 1, 2)); }

static mo_vec3 uniform3(uint32_t *seed)
{
    double x = uniform(seed), y = uniform(seed);
    return mo_v3(x, y, uniform(seed));
}

static const mo_vec3 O = {0, 0, 0}, X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

// ---- Samples ----

static int nearest(const mo_samples *s, mo_vec3 x)
{
    int best = -1;
    for (int32_t i = 0; i < s->count; i++)
        if (best < 0 || mo_norm(mo_sub(s->point[i], x)) < mo_norm(mo_sub(s->point[best], x))) best = i;
    return best;
}

static void samples_of_a_box(void **state)
{
    (void)state;
    mo_vec3 size = {1, 0.6, 0.02}; // a thin board
    mo_shape *box = mo_shape_box(size), *turned = mo_shape_rotate(box, mo_v3(1, 2, 3), 40);
    mo_shape *moved = mo_shape_move(turned, mo_v3(5, 6, 7));
    mo_quat q = mo_quat_axis_angle(mo_v3(1, 2, 3), 40 * M_PI / 180);
    mo_samples s;
    assert_int_equal(mo_samples_create(moved, 0.1, 2000, &s, NULL), MO_OK);
    int corners = 0;
    for (int32_t i = 0; i < s.count; i++) {
        near(mo_shape_distance(moved, s.point[i]), 0, 1e-8);
        near(mo_norm(s.normal[i]), 1, 1e-12);
        corners += s.kind[i] == MO_POINT_CORNER;
    }
    assert_int_equal(corners, 8);
    for (int k = 0; k < 8; k++) {
        mo_vec3 x = {k & 1 ? 0.5 : -0.5, k & 2 ? 0.3 : -0.3, k & 4 ? 0.01 : -0.01};
        x = mo_add(mo_v3(5, 6, 7), mo_quat_rotate(q, x));
        near3(s.point[nearest(&s, x)], x, 1e-9);
    }
    // Along the long edges there is always a sample of the edge nearby, and its tangent is the edge's.
    for (double t = -0.5; t <= 0.5; t += 0.01) {
        mo_vec3 x = mo_add(mo_v3(5, 6, 7), mo_quat_rotate(q, mo_v3(t, 0.3, 0.01)));
        int i = -1;
        for (int32_t j = 0; j < s.count; j++) {
            bool nearer = i < 0 || mo_norm(mo_sub(s.point[j], x)) < mo_norm(mo_sub(s.point[i], x));
            if (s.kind[j] != MO_POINT_SMOOTH && nearer) i = j;
        }
        assert_true(mo_norm(mo_sub(s.point[i], x)) < 0.06);
        if (s.kind[i] == MO_POINT_EDGE) near(fabs(mo_dot(s.tangent[i], mo_quat_rotate(q, X))), 1, 1e-9);
    }
    mo_samples_destroy(&s);
    mo_shape_release(box);
    mo_shape_release(turned);
    mo_shape_release(moved);
}

// Every point of the surface has a sample within about the spacing, and no two are much nearer to each other.
static void samples_cover(void **state)
{
    (void)state;
    mo_shape *shape[] = {mo_shape_sphere(0.5),     mo_shape_cylinder(0.3, 1),          mo_shape_cone(0.4, 1),
                         mo_shape_bowl(0.5, 0.02), mo_shape_hollow_sphere(0.5, 0.015), mo_shape_torus(0.4, 0.1),
                         mo_shape_rabbit(1)};
    for (size_t k = 0; k < sizeof shape / sizeof shape[0]; k++) {
        mo_samples s;
        mo_mesh m;
        const double spacing = 0.1;
        assert_int_equal(mo_samples_create(shape[k], spacing, 4000, &s, NULL), MO_OK);
        assert_int_equal(mo_shape_to_mesh(shape[k], 150, &m, NULL), MO_OK);
        for (int32_t v = 0; v < m.vertex_count; v += 7) {
            mo_vec3 x = {m.position[3 * v], m.position[3 * v + 1], m.position[3 * v + 2]};
            assert_true(mo_norm(mo_sub(s.point[nearest(&s, x)], x)) < 1.1 * spacing);
        }
        for (int32_t i = 0; i < s.count; i++) {
            near(mo_shape_distance(shape[k], s.point[i]), 0, 1e-5);
            for (int32_t j = 0; j < i; j++)
                assert_true(mo_dot(s.normal[i], s.normal[j]) < 0.5 ||
                            mo_norm(mo_sub(s.point[i], s.point[j])) >
                                (s.kind[i] == MO_POINT_EDGE && s.kind[j] == MO_POINT_EDGE ? 0.4 : 0.7) * spacing);
        }
        mo_mesh_destroy(&m);
        // Few: coarser, evenly.
        mo_samples few;
        assert_int_equal(mo_samples_create(shape[k], spacing, 60, &few, NULL), MO_OK);
        assert_true(few.count <= 60 && few.count > 15 && few.spacing > spacing);
        mo_samples_destroy(&few);
        mo_samples_destroy(&s);
        mo_shape_release(shape[k]);
    }
}

// Rims: both of a bowl's, thin as its wall is, and a cylinder's, whose bend is 1/radius.
static void samples_of_rims(void **state)
{
    (void)state;
    mo_shape *bowl = mo_shape_bowl(0.5, 0.03), *cylinder = mo_shape_cylinder(0.3, 1);
    mo_samples s;
    assert_int_equal(mo_samples_create(bowl, 0.1, 4000, &s, NULL), MO_OK);
    int rim[2] = {0, 0};
    for (int32_t i = 0; i < s.count; i++) {
        if (s.kind[i] != MO_POINT_EDGE) continue;
        double r = hypot(s.point[i].x, s.point[i].z);
        near(s.point[i].y, 0, 1e-6);
        rim[r > 0.485]++;
        near(r, r > 0.485 ? 0.5 : 0.47, 1e-6);
    }
    assert_true(rim[0] > 20 && rim[1] > 20);
    mo_samples_destroy(&s);
    assert_int_equal(mo_samples_create(cylinder, 0.1, 4000, &s, NULL), MO_OK);
    for (int32_t i = 0; i < s.count; i++)
        if (s.kind[i] == MO_POINT_EDGE)
            near3(s.bend[i], mo_mul(-1 / (0.3 * 0.3), mo_v3(s.point[i].x, 0, s.point[i].z)), 0.01);
    mo_samples_destroy(&s);
    mo_shape_release(bowl);
    mo_shape_release(cylinder);
}

static void samples_refuse(void **state)
{
    (void)state;
    mo_shape *plane = mo_shape_plane(Y, 0), *ball = mo_shape_sphere(1), *far = mo_shape_move(ball, mo_v3(3, 0, 0));
    mo_shape *nothing = mo_shape_intersect(ball, far);
    mo_samples s;
    mo_error err;
    assert_int_equal(mo_samples_create(plane, 0.1, 100, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_samples_create(ball, 0, 100, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_samples_create(ball, NAN, 100, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_samples_create(ball, 0.1, 0, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_samples_create(nothing, 0.1, 100, &s, &err), MO_OK);
    assert_int_equal(s.count, 0);
    mo_samples_destroy(&s);
    mo_shape_release(plane);
    mo_shape_release(ball);
    mo_shape_release(far);
    mo_shape_release(nothing);
}

// ---- Pairs with known answers ----

// Of points that are the same the one that is clearly deeper is kept, else the lower number: thin cards once stood on
// points beside their edges, sank in, and were pushed out again.
static void deeper_points_are_kept(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double deeper = k ? 0.05 : 0.005;
        mo_touch t[2] = {{.point = {0, 0, 0}, .normal = {0, 1, 0}, .gap = -0.1, .feature = 3},
                         {.point = {0.2, 0, 0}, .normal = {0, 1, 0}, .gap = -0.1 - deeper, .feature = 7}};
        assert_int_equal(mo_manifold_reduce(t, 2, 1, 8), 1);
        assert_int_equal(t[0].feature, k ? 7 : 3);
    }
}

static void sphere_on_plane(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int trial = 0; trial < 40; trial++) {
        world *w = world_create(0.02);
        mo_vec3 n = mo_normalize(mo_sub(uniform3(&seed), mo_v3(0.5, -0.2, 0.5)));
        double gap = 0.02 * (uniform(&seed) - 0.5), spacing = 0.05 + 0.02 * (trial % 5);
        put(w, mo_shape_plane(n, 0.3), O, Z, 0, 0);
        put(w, mo_shape_sphere(0.25), mo_mul(0.55 + gap, n), mo_v3(1, seed, 2), seed, spacing);
        find(w);
        assert_int_equal(w->found.count, 1);
        mo_contact c = w->found.contact[0];
        near3(c.normal, mo_mul(-1, n), 1e-9); // from b, the sphere, to a
        near(c.gap, gap, 1e-9);
        near3(c.point, mo_mul(0.3 + 0.5 * gap, n), 1e-5);
        near(c.friction, 0.5, 0);
        near(c.restitution, 0.1, 0);
        world_destroy(w);
    }
}

static void spheres(void **state)
{
    (void)state;
    // Beside each other, and a small one inside a hollow one.
    world *w = world_create(0.02);
    mo_vec3 u = mo_normalize(mo_v3(1, 0.3, -0.5));
    put(w, mo_shape_sphere(0.25), O, Z, 0, 0.06);
    put(w, mo_shape_sphere(0.4), mo_mul(0.66, u), mo_v3(1, 1, 0), 1, 0.1);
    put(w, mo_shape_hollow_sphere(0.5, 0.05), mo_v3(5, 0, 0), X, 0.3, 0.1);
    put(w, mo_shape_sphere(0.2), mo_add(mo_v3(5, 0, 0), mo_mul(0.253, u)), Z, 0.2, 0.07);
    find(w);
    assert_int_equal(w->found.count, 2);
    const mo_contact *c = w->found.contact;
    near(c->gap, 0.01, 1e-8);
    near3(c->normal, mo_mul(-1, u), 1e-4);
    near3(c->point, mo_mul(0.255, u), 1e-4);
    c++;
    near(c->gap, -0.003, 1e-8);
    near3(c->normal, u, 1e-3); // from the ball towards the wall
    near3(c->point, mo_add(mo_v3(5, 0, 0), mo_mul(0.4515, u)), 1e-3);
    world_destroy(w);
}

static void box_on_plane(void **state)
{
    (void)state;
    const mo_vec3 half = {0.5, 0.3, 0.2};
    for (int trial = 0; trial < 4; trial++) { // flat, tilted by 1, 20 degrees; on an edge
        world *w = world_create(0.03);
        double angle = (double[]){0, 1, 20, 45}[trial] * M_PI / 180;
        mo_quat q = mo_quat_axis_angle(Z, angle);
        double lowest = -(half.x * sin(angle) + half.y * cos(angle));
        ground(w);
        mo_vec3 at = {0.1, -lowest - 0.002, 0.2};
        put(w, mo_shape_box(mo_mul(2, half)), at, Z, angle, 0.11);
        find(w);
        assert_int_equal(w->found.count, trial < 2 ? 4 : 2);
        for (int k = 0; k < (trial < 2 ? 4 : 2); k++) {
            mo_vec3 x = {k & 2 ? half.x : -half.x, -half.y, k & 1 ? half.z : -half.z};
            mo_vec3 corner = mo_add(at, mo_quat_rotate(q, x));
            const mo_contact *c = contact_at(w, mo_v3(corner.x, 0.5 * corner.y, corner.z), 1e-9);
            near3(c->normal, mo_v3(0, -1, 0), 1e-12);
            near(c->gap, corner.y, 1e-12);
        }
        world_destroy(w);
    }
}

static void boxes_stacked(void **state)
{
    (void)state;
    // Equal ones: overlapping a little or apart, exactly above each other or off by a little; a tower of ten.
    for (int trial = 0; trial < 8; trial++) {
        double gap = trial & 1 ? 1e-4 : -2e-3, off = (double[]){0, 1e-5, 1e-3, 0.04}[trial / 2];
        world *w = world_create(0.01);
        for (int k = 0; k < 10; k++)
            put(w, mo_shape_box(mo_v3(0.4, 0.2, 0.3)), mo_v3(off * (k % 2), k * (0.2 + gap), -off * (k % 3)), Z, 0,
                0.05);
        find(w);
        assert_int_equal(w->found.count, 9 * 4);
        for (int i = 0; i < w->found.count; i++) {
            const mo_contact *c = &w->found.contact[i];
            near3(c->normal, mo_v3(0, -1, 0), 1e-9);
            near(c->gap, gap, 1e-9);
            near(c->point.y, 0.1 + gap / 2 + c->a * (0.2 + gap), 1e-9);
            near(fabs(c->point.x), 0.2, off + 0.003);
            near(fabs(c->point.z), 0.15, 2 * off + 0.003);
        }
        world_destroy(w);
    }
}

// A small box on a large one, turned: its four corners; the large one hangs over the edge of a table.
static void boxes_of_different_size(void **state)
{
    (void)state;
    world *w = world_create(0.01);
    put(w, mo_shape_box(mo_v3(1, 0.2, 1)), O, Z, 0, 0.1);
    put(w, mo_shape_box(mo_v3(0.3, 0.3, 0.3)), mo_v3(0.1, 0.2495, -0.2), Y, 0.5, 0.06);
    put(w, mo_shape_box(mo_v3(0.6, 0.1, 2)), mo_v3(-0.3, -0.1502, 0), Z, 0, 0.1);
    find(w);
    assert_int_equal(w->found.count, 8);
    for (int i = 0; i < 4; i++) near(w->found.contact[i].gap, -5e-4, 1e-12);
    for (int k = 0; k < 4; k++) {
        mo_vec3 x = mo_quat_rotate(mo_quat_axis_angle(Y, 0.5), mo_v3(k & 1 ? 0.15 : -0.15, 0, k & 2 ? 0.15 : -0.15));
        near3(contact_at(w, mo_add(x, mo_v3(0.1, 0.09975, -0.2)), 1e-9)->normal, mo_v3(0, -1, 0), 1e-12);
        // The patch with the table: x from -0.5 to 0, z from -0.5 to 0.5.
        mo_vec3 y = {k & 1 ? -0.5 : 0, -0.1001, k & 2 ? 0.5 : -0.5};
        const mo_contact *c = contact_at(w, y, 0.025);
        near3(c->normal, Y, 1e-9);
        near(c->gap, 2e-4, 1e-9);
    }
    world_destroy(w);
}

static void lying_cylinders(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool capsule = k & 1;
        double tilt = k & 2 ? 0.002 : 0, half = capsule ? 0.5 - 0.1 : 0.5;
        world *w = world_create(0.01);
        ground(w);
        // Lying along x (turned about z by 90 degrees), rolled by an odd angle about its own axis.
        mo_collider *c = put(w, capsule ? mo_shape_capsule(0.1, 1) : mo_shape_cylinder(0.1, 1), mo_v3(0, 0.099, 0), Z,
                             M_PI / 2 + tilt, 0.04);
        c->pose.rotation = mo_quat_mul(c->pose.rotation, mo_quat_axis_angle(Y, 0.123));
        find(w);
        assert_int_equal(w->found.count, 2);
        for (int side = -1; side <= 1; side += 2) {
            const mo_contact *at = contact_at(w, mo_v3(side * half, 0, 0), capsule ? 0.02 : 0.003);
            near3(at->normal, mo_v3(0, -1, 0), 1e-9);
            near(at->gap, -0.001 + at->point.x * sin(tilt), 2e-6);
        }
        world_destroy(w);
    }
}

static void bowls(void **state)
{
    (void)state;
    // Upside down: a ring; standing: one point; a ball inside: one point.
    world *w = world_create(0.01);
    ground(w);
    put(w, mo_shape_bowl(0.5, 0.04), mo_v3(0, -0.001, 0), Z, M_PI, 0.1);
    put(w, mo_shape_bowl(0.5, 0.04), mo_v3(3, 0.499, 0), Z, 0, 0.1);
    put(w, mo_shape_sphere(0.1), mo_v3(3, 0.501 - 0.362, 0), Z, 0, 0.05);
    find(w);
    int ring = 0;
    double quadrant[4] = {0};
    for (int i = 0; i < w->found.count; i++) {
        const mo_contact *c = &w->found.contact[i];
        if (c->b != 1) continue;
        ring++;
        near3(c->normal, mo_v3(0, -1, 0), 1e-9);
        near(c->gap, -0.001, 1e-6);
        double r = hypot(c->point.x, c->point.z);
        assert_true(r < 0.501 && r > 0.46);
        quadrant[(c->point.x > 0) + 2 * (c->point.z > 0)]++;
    }
    assert_true(ring >= 6 && ring <= 8);
    for (int k = 0; k < 4; k++) assert_true(quadrant[k] >= 1 && quadrant[k] <= 3);
    assert_int_equal(w->found.count, ring + 2);
    near3(contact_at(w, mo_v3(3, -0.0005, 0), 1e-5)->normal, mo_v3(0, -1, 0), 1e-9);
    const mo_contact *c = contact_at(w, mo_v3(3, 0.039, 0), 0.002);
    near(c->gap, 0.000, 1e-8);
    near3(c->normal, mo_v3(0, -1, 0), 1e-3); // from b, the ball, to the bowl
    world_destroy(w);
}

static void crossed_edges(void **state)
{
    (void)state;
    // Two bars that meet with their edges, at right angles; and one bar across another's top.
    world *w = world_create(0.02);
    double r = 0.1 * sqrt(2);
    put(w, mo_shape_box(mo_v3(1, 0.2, 0.2)), O, X, M_PI / 4, 0.07);
    put(w, mo_shape_box(mo_v3(0.2, 0.2, 1)), mo_v3(0.03, 2 * r + 0.005, 0.02), Z, M_PI / 4, 0.07);
    put(w, mo_shape_box(mo_v3(1, 0.1, 0.1)), mo_v3(4, 0, 0), X, 0, 0.05);
    put(w, mo_shape_box(mo_v3(0.1, 0.1, 1)), mo_v3(4, 0.099, 0), X, 0, 0.05);
    find(w);
    assert_int_equal(w->found.count, 5);
    near3(w->found.contact[0].point, mo_v3(0.03, r + 0.0025, 0.0), 0.01);
    near3(w->found.contact[0].normal, mo_v3(0, -1, 0), 0.02);
    near(w->found.contact[0].gap, 0.005, 1e-4);
    for (int k = 0; k < 4; k++) {
        mo_vec3 x = {4 + (k & 1 ? 0.05 : -0.05), 0.0495, k & 2 ? 0.05 : -0.05};
        near3(contact_at(w, x, 0.013)->normal, mo_v3(0, -1, 0), 1e-9);
    }
    world_destroy(w);
}

// A plank of half a spacing and a small box across or beside it, in any pose. The plane of a face goes on beyond its
// solid: a point of the other solid there is not the deeper for it. (It was, by up to 0.9 spacings; no point of the
// plank is deeper than 0.25, and none of the box than 0.32.)
static void planes_of_faces_end_with_their_solids(void **state)
{
    (void)state;
    uint32_t seed = 77;
    double deepest = 0;
    world *w = world_create(0.6);
    put(w, mo_shape_box(mo_v3(0.5, 2, 5)), O, X, 0, 1);
    put(w, mo_shape_box(mo_v3(0.64, 0.64, 0.64)), O, X, 0, 0.66);
    for (int k = 0; k < 500; k++) {
        mo_vec3 at = mo_sub(uniform3(&seed), mo_v3(0.5, -0.2, 0.5)), axis = mo_normalize(uniform3(&seed));
        w->c[1].pose = (mo_pose){at, mo_quat_axis_angle(axis, 0.3 * uniform(&seed))};
        find(w);
        for (int32_t i = 0; i < w->found.count; i++) {
            const mo_contact *c = &w->found.contact[i];
            int own = c->feature >> 31; // whose sample it is
            mo_vec3 x = mo_mad(c->point, own ? -0.5 * c->gap : 0.5 * c->gap, c->normal);
            const mo_collider *other = &w->c[!own];
            if (mo_shape_distance(other->shape, mo_pose_to_body(other->pose, x)) > 0.06)
                deepest = fmax(deepest, -c->gap);
        }
    }
    world_destroy(w);
    print_message("beyond faces contacts overlap by at most %.3f\n", deepest);
    assert_true(deepest < 0.3);
}

// A box that lies in a closed vessel, near its other faces too: all four of its lower corners touch the floor. When the
// points of all faces shared the places of one, the box stood on two corners and tipped into the floor.
static void boxes_in_vessels_touch_every_face(void **state)
{
    (void)state;
    const double gap = 0.02;
    for (int trial = 0; trial < 10; trial++) {
        world *w = world_create(3 * gap);
        mo_shape *outer = mo_shape_box(mo_v3(1.4, 1.2, 1)), *inner = mo_shape_box(mo_v3(1.2, 1, 0.8));
        put(w, mo_shape_difference(outer, inner), O, Y, 0, 0.1)->rigid = false;
        mo_vec3 edge = mo_v3(1.2 - 2 * gap - 0.04 * trial, 1 - 2 * gap, 0.8 - 2 * gap);
        put(w, mo_shape_box(edge), mo_v3(0, -gap - 0.002, 0), Y, 0, 0.1);
        find(w);
        for (int corner = 0; corner < 4; corner++) {
            mo_vec3 at = {(corner & 1 ? 0.5 : -0.5) * edge.x, -0.5, (corner & 2 ? 0.5 : -0.5) * edge.z};
            double nearest = INFINITY;
            for (int i = 0; i < w->found.count; i++) {
                const mo_contact *c = &w->found.contact[i];
                if (c->normal.y < -0.99) nearest = fmin(nearest, mo_norm(mo_sub(c->point, at)));
            }
            assert_true(nearest < 0.01);
        }
        assert_in_range(w->found.count, 8, 6 * 8);
        world_destroy(w);
        mo_shape_release(outer), mo_shape_release(inner);
    }
}

static void rabbit_on_ground(void **state)
{
    (void)state;
    world *w = world_create(0.01);
    w->def.most = 6;
    ground(w);
    put(w, mo_shape_rabbit(1), mo_v3(0, 0.499, 0), Y, 0.4, 0.06);
    find(w);
    assert_in_range(w->found.count, 3, 6);
    for (int i = 0; i < w->found.count; i++) {
        near3(w->found.contact[i].normal, mo_v3(0, -1, 0), 1e-9);
        near(w->found.contact[i].gap, -0.001, 1e-5);
    }
    world_destroy(w);
}

// Rabbits of few samples put down in a bowl, upright and thrown anyhow: wherever one reaches into the bowl, there is a
// contact about as deep: at most 0.15 spacings less, also where ears are thinner than samples are apart.
static void rabbit_in_bowl(void **state)
{
    (void)state;
    const double spacing = 0.03;
    uint32_t seed = 7;
    world *w = world_create(spacing);
    put(w, mo_shape_bowl(0.34, 0.07), mo_v3(0, 0, 0), Y, 0, spacing)->rigid = false;
    mo_collider *rabbit = put(w, mo_shape_rabbit(0.18), mo_v3(0, 0, 0), Y, 0, spacing);
    mo_samples fine;
    assert_int_equal(mo_samples_create(rabbit->shape, 0.1 * spacing, 100000, &fine, NULL), MO_OK);
    for (int trial = 0; trial < 200; trial++) {
        mo_vec3 axis = trial % 2 ? mo_normalize(mo_sub(uniform3(&seed), mo_v3(0.5, 0.5, 0.5))) : Y;
        double angle = 2 * M_PI * uniform(&seed), deepest = INFINITY, least = INFINITY;
        mo_vec3 at = mo_v3(0.2 * (uniform(&seed) - 0.5), 0, 0.2 * (uniform(&seed) - 0.5));
        rabbit->pose = (mo_pose){at, mo_quat_axis_angle(axis, angle)};
        for (int lower = 0; lower < 8; lower++) { // down until it reaches 0.3 spacings in
            deepest = INFINITY;
            for (int32_t i = 0; i < fine.count; i++)
                deepest = fmin(deepest, mo_shape_distance(w->c[0].shape, mo_pose_apply(rabbit->pose, fine.point[i])));
            rabbit->pose.position.y -= lower < 7 ? deepest + 0.3 * spacing : 0;
        }
        find(w);
        for (int32_t i = 0; i < w->found.count; i++) least = fmin(least, w->found.contact[i].gap);
        if (deepest > -0.4 * spacing && !(least < deepest + 0.15 * spacing))
            fail_msg("trial %d: %g spacings deep, found %g", trial, -deepest / spacing, -least / spacing);
    }
    mo_samples_destroy(&fine);
    world_destroy(w);
}

static void two_dimensions(void **state)
{
    (void)state;
    world *w = world_create(0.01);
    w->def.two_dimensional = true;
    ground(w);
    put(w, mo_shape_box(mo_v3(0.4, 0.2, 1)), mo_v3(0, 0.099, 0), Z, 0, 0.05);
    put(w, mo_shape_box(mo_v3(0.4, 0.2, 1)), mo_v3(1, 0.3 * sqrt(0.5) - 0.001, 0), Z, M_PI / 4, 0.05);
    put(w, mo_shape_sphere(0.2), mo_v3(2, 0.199, 0), Z, 1, 0.05);
    find(w);
    assert_int_equal(w->found.count, 4);
    contact_at(w, mo_v3(-0.2, -0.0005, 0), 1e-9);
    contact_at(w, mo_v3(0.2, -0.0005, 0), 1e-9);
    near(contact_at(w, mo_v3(1 - 0.1 * sqrt(0.5), -0.0005, 0), 1e-9)->gap, -0.001, 1e-9);
    near(contact_at(w, mo_v3(2, -0.0005, 0), 1e-5)->gap, -0.001, 1e-9);
    for (int i = 0; i < 4; i++) near3(w->found.contact[i].normal, mo_v3(0, -1, 0), 1e-9);
    world_destroy(w);
}

static void far_and_fixed_pairs_are_none(void **state)
{
    (void)state;
    world *w = world_create(0.01);
    ground(w);
    mo_collider *fixed = put(w, mo_shape_box(mo_v3(1, 1, 1)), mo_v3(0, 0.5, 0), Z, 0, 0.2);
    fixed->rigid = false;
    put(w, mo_shape_sphere(0.5), mo_v3(0, 1.52, 0), Z, 0, 0.2);
    find(w);
    assert_int_equal(w->found.count, 0);
    w->c[2].pose.position.y = 1.505;
    find(w);
    assert_int_equal(w->found.count, 1);
    assert_int_equal(w->found.contact[0].a, 1);
    assert_int_equal(w->found.contact[0].b, 2);
    near3(w->found.contact[0].normal, mo_v3(0, -1, 0), 1e-4);
    world_destroy(w);
}

// ---- From step to step ----

static void resting_bodies_keep_their_features(void **state)
{
    (void)state;
    world *w = world_create(0.01);
    ground(w);
    put(w, mo_shape_box(mo_v3(0.5, 0.4, 0.3)), mo_v3(0, 0.199, 0), Z, 0, 0.06);
    put(w, mo_shape_box(mo_v3(0.5, 0.4, 0.3)), mo_v3(0, 0.598, 0), Z, 0, 0.06);
    put(w, mo_shape_bowl(0.3, 0.04), mo_v3(2, -0.001, 0), Z, M_PI, 0.06);
    put(w, mo_shape_rabbit(0.5), mo_v3(4, 0.249, 0), Z, 0, 0.05);
    put(w, mo_shape_sphere(0.2), mo_v3(6, 0.199, 0), Z, 0, 0.05);
    put(w, mo_shape_capsule(0.1, 0.6), mo_v3(8, 0.099, 0), Z, M_PI / 2, 0.05);
    mo_pose rest[8];
    for (int i = 0; i < w->count; i++) rest[i] = w->c[i].pose;
    mo_contact first[100];
    int count = 0, kept = 0, total = 0, box_kept = 0, box_total = 0;
    uint32_t seed = 1;
    for (int step = 0; step < 50; step++) {
        for (int i = 1; i < w->count && step > 0; i++) {
            double r[6], size = 0.5e-5;
            for (int k = 0; k < 6; k++) r[k] = size * (2 * uniform(&seed) - 1);
            w->c[i].pose.position = mo_add(rest[i].position, mo_v3(r[0], r[1], r[2]));
            mo_quat turn = mo_quat_axis_angle(mo_v3(r[3], r[4], r[5]), 2 * hypot(r[3], r[4]));
            w->c[i].pose.rotation = mo_quat_mul(turn, rest[i].rotation);
        }
        find(w);
        if (step == 0) {
            count = w->found.count;
            memcpy(first, w->found.contact, sizeof *first * (size_t)count);
            continue;
        }
        for (int i = 0; i < count; i++) {
            bool same = false;
            for (int j = 0; j < w->found.count && !same; j++) {
                const mo_contact *c = &w->found.contact[j];
                same = c->a == first[i].a && c->b == first[i].b && c->feature == first[i].feature &&
                       mo_norm(mo_sub(c->point, first[i].point)) < 1e-3;
            }
            kept += same, total++;
            if (first[i].b <= 2) box_kept += same, box_total++;
        }
    }
    assert_int_equal(box_total, 49 * 8);
    assert_int_equal(box_kept, box_total);
    if (kept < total) print_message("%d of %d features kept\n", kept, total);
    assert_true(kept > 0.98 * total);
    world_destroy(w);
}

static world *pile(int bodies)
{
    world *w = world_create(0.01);
    ground(w);
    uint32_t seed = 5;
    mo_shape *rabbit = mo_shape_rabbit(0.3);
    for (int i = 0; i < bodies; i++) {
        int32_t k = w->count;
        mo_vec3 r = uniform3(&seed);
        mo_vec3 at = {0.17 * (i % 3) + 0.02 * r.x, 0.12 + 0.17 * (i / 9) + 0.02 * r.y, 0.17 * (i / 3 % 3) + 0.02 * r.z};
        put(w, (mo_shape *)mo_shape_retain(rabbit), at, mo_v3(r.x - 0.5, r.y - 0.5, r.z - 0.5), 6 * r.y, i ? 0 : 0.03);
        w->c[k].rigid = true;
        w->c[k].centre = w->c[1].centre;
        w->c[k].radius = w->c[1].radius;
        w->c[k].samples = &w->samples[1];
    }
    mo_shape_release(rabbit);
    return w;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    world *w = pile(12);
    mo_use_threads(1);
    find(w);
    int32_t count = w->found.count;
    assert_true(count > 20);
    mo_contact *first = malloc(sizeof *first * (size_t)count);
    memcpy(first, w->found.contact, sizeof *first * (size_t)count);
    for (int threads = 2; threads <= 4; threads++) {
        mo_use_threads(threads);
        find(w);
        assert_int_equal(w->found.count, count);
        for (int32_t i = 0; i < count; i++) { // without the bytes that only fill
            const mo_contact *c = &w->found.contact[i];
            assert_memory_equal(&first[i], c, offsetof(mo_contact, feature) + sizeof c->feature);
            assert_memory_equal(first[i].on, c->on, sizeof c->on);
        }
        mo_samples s;
        assert_int_equal(mo_samples_create(w->c[1].shape, 0.03, 4000, &s, NULL), MO_OK);
        assert_int_equal(s.count, w->samples[1].count);
        assert_memory_equal(s.point, w->samples[1].point, 4 * sizeof(mo_vec3) * (size_t)s.count);
        mo_samples_destroy(&s);
    }
    mo_use_threads(1);
    free(first);
    world_destroy(w);
}

static void a_pile_of_rabbits_is_cheap(void **state)
{
    (void)state;
    world *w = pile(45);
    find(w);
    double best = INFINITY;
    for (int k = 0; k < 3; k++) {
        double start = mo_cpu_seconds();
        find(w);
        best = fmin(best, mo_cpu_seconds() - start);
    }
    double deepest = 0;
    for (int i = 0; i < w->found.count; i++) deepest = fmin(deepest, w->found.contact[i].gap);
    print_message("45 rabbits of %d samples: %d contacts, deepest %g m, %.1f ms\n", w->samples[1].count, w->found.count,
                  deepest, 1e3 * best);
    assert_true(w->found.count > 100);
    world_destroy(w);
}

static void failing_memory_loses_nothing(void **state)
{
    (void)state;
    mo_shape *box = mo_shape_box(mo_v3(1, 1, 1));
    int64_t before = mo_memory_in_use();
    int failures = 0;
    for (int at = 1;; at++) {
        ration memory = {.fail_at = at};
        mo_samples s;
        mo_set_allocator(rationed, &memory);
        mo_status status = mo_samples_create(box, 0.2, 1000, &s, NULL);
        mo_samples_destroy(&s);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(mo_memory_in_use(), before);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures > 8);
    mo_shape_release(box);
    before = mo_memory_in_use();
    world *w = pile(6);
    failures = 0;
    for (int at = 1;; at++) {
        ration memory = {.fail_at = at};
        mo_arena_destroy(w->arena);
        mo_contacts_destroy(&w->found);
        w->arena = mo_arena_create();
        mo_set_allocator(rationed, &memory);
        mo_status status = mo_contacts_find(w->c, w->count, &w->def, &w->found, w->arena, NULL);
        mo_set_allocator(NULL, NULL);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures >= 2);
    world_destroy(w);
    assert_int_equal(mo_memory_in_use(), before);
}

static void tangents(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        mo_vec3 n = {mo_unit(mo_hash(i, 1, 0)) - 0.5, mo_unit(mo_hash(i, 2, 0)) - 0.5,
                     i % 3 ? mo_unit(mo_hash(i, 3, 0)) - 0.5 : 0};
        mo_vec3 t1, t2;
        n = mo_normalize(n);
        mo_tangents(n, &t1, &t2);
        near3(mo_cross(n, t1), t2, 1e-14);
        near(mo_norm(t1), 1, 1e-14);
        near(mo_dot(n, t1), 0, 1e-14);
        if (n.z == 0) near3(t2, Z, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deeper_points_are_kept),
        cmocka_unit_test(samples_of_a_box),
        cmocka_unit_test(samples_cover),
        cmocka_unit_test(samples_of_rims),
        cmocka_unit_test(samples_refuse),
        cmocka_unit_test(sphere_on_plane),
        cmocka_unit_test(spheres),
        cmocka_unit_test(box_on_plane),
        cmocka_unit_test(boxes_stacked),
        cmocka_unit_test(boxes_of_different_size),
        cmocka_unit_test(lying_cylinders),
        cmocka_unit_test(bowls),
        cmocka_unit_test(crossed_edges),
        cmocka_unit_test(planes_of_faces_end_with_their_solids),
        cmocka_unit_test(boxes_in_vessels_touch_every_face),
        cmocka_unit_test(rabbit_on_ground),
        cmocka_unit_test(rabbit_in_bowl),
        cmocka_unit_test(two_dimensions),
        cmocka_unit_test(far_and_fixed_pairs_are_none),
        cmocka_unit_test(resting_bodies_keep_their_features),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_pile_of_rabbits_is_cheap),
        cmocka_unit_test(failing_memory_loses_nothing),
        cmocka_unit_test(tangents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
