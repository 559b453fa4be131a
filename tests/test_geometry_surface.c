// Marching cubes and mass: closed surfaces for any signs, topology, convergence, the same bits for any threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "geometry/surface.h"
#include <stdlib.h>
#include <string.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.12g and %.12g differ by %g > %g", a, b, fabs(a - b), tolerance);
}

static void assert_closed(const mo_mesh *m)
{
    mo_error err;
    if (mo_mesh_check_closed(m, "surface", &err) != MO_OK) fail_msg("%s", err.text);
}

// Vertices - edges + triangles of a closed mesh.
static int32_t euler(const mo_mesh *m) { return m->vertex_count - m->triangle_count / 2; }

// Every vertex has one fan of triangles: as many corners as a walk round it visits.
static void assert_manifold_vertices(const mo_mesh *m)
{
    int32_t *corners = calloc((size_t)m->vertex_count, sizeof(int32_t)), *first = calloc((size_t)m->vertex_count, 4);
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) corners[m->triangle[i]]++, first[m->triangle[i]] = i;
    // opposite[i]: the half edge that runs against i -> next(i), by brute hashing on the vertex pair.
    int64_t size = 1;
    while (size < 8 * (int64_t)m->triangle_count) size *= 2;
    int32_t *table = malloc((size_t)size * 4);
    memset(table, 0xff, (size_t)size * 4);
    for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
        int32_t a = m->triangle[i], b = m->triangle[i - i % 3 + (i + 1) % 3];
        int64_t h = mo_hash((uint32_t)a, (uint32_t)b, 0) & (size - 1);
        while (table[h] >= 0) h = (h + 1) & (size - 1);
        table[h] = i;
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        int32_t i = first[v], steps = 0;
        do { // to the triangle across the edge that arrives at v
            int32_t from = m->triangle[i - i % 3 + (i + 2) % 3];
            int64_t h = mo_hash((uint32_t)v, (uint32_t)from, 0) & (size - 1);
            while (m->triangle[table[h]] != v || m->triangle[table[h] - table[h] % 3 + (table[h] + 1) % 3] != from)
                h = (h + 1) & (size - 1);
            i = table[h];
            steps++;
        } while (i != first[v] && steps <= corners[v]);
        assert_int_equal(steps, corners[v]);
    }
    free(corners);
    free(first);
    free(table);
}

// ---- Random signs: every pattern of every pair of neighbouring cubes turns up ----

enum { EDGE = 4, BRICKS = 5 };

typedef struct noise {
    uint32_t seed;
    double fill;
    int32_t lo[BRICKS * BRICKS * BRICKS][3];
} noise;

static void load_noise(void *user, int32_t brick, float *sample)
{
    const noise *n = user;
    int32_t end = EDGE * BRICKS - 7;
    for (int32_t z = 0; z <= EDGE; z++)
        for (int32_t y = 0; y <= EDGE; y++)
            for (int32_t x = 0; x <= EDGE; x++, sample++) {
                int32_t c[3] = {n->lo[brick][0] + x, n->lo[brick][1] + y, n->lo[brick][2] + z};
                bool border = false;
                for (int a = 0; a < 3; a++) border = border || c[a] <= -7 || c[a] >= end;
                uint32_t h = mo_hash((uint32_t)(c[0] + 100), (uint32_t)(c[1] + 100 * c[2] + 9999), n->seed);
                *sample = border ? 1 : (float)(mo_unit(h) - n->fill);
                if (!border && h % 50 == 0) *sample = 0; // exactly on the surface
            }
}

static void make_noise(noise *n, uint32_t seed, double fill, mo_bricks *bricks)
{
    n->seed = seed;
    n->fill = fill;
    for (int32_t b = 0; b < BRICKS * BRICKS * BRICKS; b++) {
        n->lo[b][0] = b % BRICKS * EDGE - 7; // corners need not be multiples of the edge
        n->lo[b][1] = b / BRICKS % BRICKS * EDGE - 7;
        n->lo[b][2] = b / BRICKS / BRICKS * EDGE - 7;
    }
    *bricks = (mo_bricks){BRICKS * BRICKS * BRICKS, EDGE, (const int32_t(*)[3])n->lo, load_noise, n, {1, 2, 3}, 0.25};
}

static void random_signs_give_closed_surfaces(void **state)
{
    (void)state;
    static noise n;
    for (uint32_t seed = 0; seed < 30; seed++) {
        mo_bricks bricks;
        make_noise(&n, seed, 0.1 + 0.8 * seed / 30, &bricks);
        mo_mesh m;
        assert_int_equal(mo_marching_cubes(&bricks, &m, NULL), MO_OK);
        assert_true(m.triangle_count > 1000);
        assert_closed(&m);
        assert_manifold_vertices(&m);
        assert_true(mo_mesh_mass(&m).volume > 0);
        mo_mesh_destroy(&m);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static noise n;
    mo_bricks bricks;
    make_noise(&n, 77, 0.4, &bricks);
    mo_shape *rabbit = mo_shape_rabbit(1);
    mo_mesh first[2] = {{0}};
    mo_mass first_mass = {0};
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_mesh m[2];
        mo_mass mass;
        assert_int_equal(mo_marching_cubes(&bricks, &m[0], NULL), MO_OK);
        assert_int_equal(mo_shape_to_mesh(rabbit, 40, &m[1], NULL), MO_OK);
        assert_int_equal(mo_shape_mass(rabbit, 40, &mass, NULL), MO_OK);
        for (int i = 0; i < 2; i++) {
            if (threads == 1) {
                first[i] = m[i];
                first_mass = mass;
                continue;
            }
            assert_int_equal(m[i].vertex_count, first[i].vertex_count);
            assert_int_equal(m[i].triangle_count, first[i].triangle_count);
            assert_memory_equal(m[i].position, first[i].position, 12 * (size_t)m[i].vertex_count);
            assert_memory_equal(m[i].normal, first[i].normal, 12 * (size_t)m[i].vertex_count);
            assert_memory_equal(m[i].triangle, first[i].triangle, 12 * (size_t)m[i].triangle_count);
            mo_mesh_destroy(&m[i]);
        }
        assert_memory_equal(&mass, &first_mass, sizeof mass);
    }
    mo_use_threads(0);
    for (int i = 0; i < 2; i++) mo_mesh_destroy(&first[i]);
    mo_shape_release(rabbit);
}

// ---- Surfaces of shapes ----

static void topology_of_shapes(void **state)
{
    (void)state;
    mo_shape *s[6] = {mo_shape_sphere(1),     mo_shape_torus(1, 0.3),          mo_shape_bowl(1, 0.2),
                      mo_shape_rabbit(1.234), mo_shape_hollow_sphere(1, 0.25), mo_shape_cone(1, 1.7)};
    int32_t expected[6] = {2, 0, 2, 2, 4, 2};
    for (int i = 0; i < 6; i++) {
        mo_mesh m;
        assert_int_equal(mo_shape_to_mesh(s[i], 48, &m, NULL), MO_OK);
        assert_closed(&m);
        assert_manifold_vertices(&m);
        if (i != 3) assert_int_equal(euler(&m), expected[i]); // the rabbit has a gap between its feet
        mo_box3 b = mo_mesh_bounds(&m), shape = mo_shape_bounds(s[i]);
        assert_true(b.lo.x > shape.lo.x - 1e-3 && b.hi.y < shape.hi.y + 1e-3);
        mo_mesh_destroy(&m);
        mo_shape_release(s[i]);
    }
}

static void sphere_volume_converges(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(0.7), *s = mo_shape_move(ball, mo_v3(0.123, 0.456, 0.789));
    double exact = 4 * M_PI / 3 * 0.343, error[3];
    for (int i = 0; i < 3; i++) {
        mo_mesh m;
        assert_int_equal(mo_shape_to_mesh(s, 16 << i, &m, NULL), MO_OK);
        error[i] = fabs(mo_mesh_mass(&m).volume / exact - 1);
        for (int32_t v = 0; v < m.vertex_count; v++) { // normals point away from the centre
            const float *x = m.position + 3 * v, *n = m.normal + 3 * v;
            mo_vec3 r = mo_normalize(mo_sub(mo_v3(x[0], x[1], x[2]), mo_v3(0.123, 0.456, 0.789)));
            assert_true(mo_dot(r, mo_v3(n[0], n[1], n[2])) > 0.97);
            assert_near(mo_norm(mo_v3(n[0], n[1], n[2])), 1, 1e-5);
        }
        mo_mesh_destroy(&m);
    }
    double order = log2(error[0] / error[2]) / 2;
    if (!(order > 1.8 && order < 2.2)) fail_msg("order %g (errors %g %g %g)", order, error[0], error[1], error[2]);
    mo_shape_release(ball);
    mo_shape_release(s);
}

static void unusable_requests_are_refused(void **state)
{
    (void)state;
    mo_mesh m;
    mo_mass mass;
    mo_error err;
    mo_shape *plane = mo_shape_plane(mo_v3(0, 1, 0), 0), *ball = mo_shape_sphere(1);
    assert_int_equal(mo_shape_to_mesh(plane, 32, &m, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "bounds"));
    assert_int_equal(mo_shape_mass(plane, 32, &mass, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_shape_to_mesh(ball, 1, &m, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_shape_to_mesh(ball, 1 << 20, &m, &err), MO_ERROR_INPUT);
    // Nothing inside: an empty mesh.
    mo_shape *nothing = mo_shape_difference(ball, ball);
    assert_int_equal(mo_shape_to_mesh(nothing, 16, &m, &err), MO_OK);
    assert_int_equal(m.triangle_count, 0);
    mo_mesh_destroy(&m);
    mo_bricks none = {.count = 0, .edge = 8, .spacing = 1};
    assert_int_equal(mo_marching_cubes(&none, &m, &err), MO_OK);
    assert_int_equal(m.vertex_count, 0);
    mo_mesh_destroy(&m);
    mo_shape_release(nothing);
    mo_shape_release(plane);
    mo_shape_release(ball);
}

// ---- Mass ----

static void check_mass(const mo_shape *s, double tolerance, double volume, mo_vec3 centre, mo_vec3 inertia)
{
    mo_mass m;
    assert_int_equal(mo_shape_mass(s, 0, &m, NULL), MO_OK);
    double length = cbrt(volume);
    assert_near(m.volume, volume, tolerance * volume);
    assert_near(mo_norm(mo_sub(m.centre, centre)), 0, tolerance * length);
    double want[3] = {inertia.x, inertia.y, inertia.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) assert_near(m.inertia.m[i][j], i == j ? want[i] : 0, 2 * tolerance * inertia.x);
}

static void masses_match_formulas(void **state)
{
    (void)state;
    mo_vec3 o = {0, 0, 0};
    double V = 4 * M_PI / 3 * 0.125;
    mo_shape *s = mo_shape_sphere(0.5), *moved = mo_shape_move(s, mo_v3(3, -2, 1));
    check_mass(s, 2e-5, V, o, mo_mul(0.4 * V * 0.25, mo_v3(1, 1, 1)));
    check_mass(moved, 2e-5, V, mo_v3(3, -2, 1), mo_mul(0.4 * V * 0.25, mo_v3(1, 1, 1)));
    mo_shape_release(s);
    mo_shape_release(moved);
    s = mo_shape_box(mo_v3(1, 2, 0.7));
    check_mass(s, 1e-3, 1.4, o, mo_mul(1.4 / 12, mo_v3(4 + 0.49, 1 + 0.49, 5)));
    mo_shape *turned = mo_shape_rotate(s, mo_v3(1, 1, 0.3), 33);
    mo_mass m;
    assert_int_equal(mo_shape_mass(turned, 0, &m, NULL), MO_OK);
    assert_near(m.volume, 1.4, 1e-3 * 1.4);
    assert_near(m.inertia.m[0][0] + m.inertia.m[1][1] + m.inertia.m[2][2], 1.4 / 6 * (1 + 4 + 0.49), 2e-3);
    mo_shape_release(s);
    mo_shape_release(turned);
    double R = 0.8, r = 0.25;
    V = 2 * M_PI * M_PI * R * r * r;
    double across = V * (0.5 * R * R + 0.625 * r * r), axial = V * (R * R + 0.75 * r * r);
    s = mo_shape_torus(R, r);
    check_mass(s, 1e-3, V, o, mo_v3(across, axial, across));
    mo_shape_release(s);
    s = mo_shape_cone(0.6, 1); // centre a quarter up from the base
    V = M_PI * 0.36 / 3;
    check_mass(s, 1e-3, V, mo_v3(0, -0.25, 0),
               mo_v3(V * (0.15 * 0.36 + 3.0 / 80), V * 0.3 * 0.36, V * (0.15 * 0.36 + 3.0 / 80)));
    mo_shape_release(s);
}

static void mass_of_a_mesh_is_exact(void **state)
{
    (void)state;
    // The tetrahedron 0, e1, e2, e3, far from the origin.
    float x[12];
    int32_t t[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    for (int v = 0; v < 4; v++)
        for (int a = 0; a < 3; a++) x[3 * v + a] = 64 + (v == a + 1);
    mo_mesh mesh = {4, 4, x, NULL, t, NULL};
    mo_mass m = mo_mesh_mass(&mesh);
    assert_near(m.volume, 1.0 / 6, 1e-14);
    assert_near(m.centre.x, 64.25, 1e-12);
    assert_near(m.centre.z, 64.25, 1e-12);
    assert_near(m.inertia.m[0][0], 2 * (1.0 / 60 - 1.0 / 96), 1e-14); // int y^2 + z^2 about the centre
    assert_near(m.inertia.m[0][1], -(1.0 / 120 - 1.0 / 96), 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_signs_give_closed_surfaces),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(topology_of_shapes),
        cmocka_unit_test(sphere_volume_converges),
        cmocka_unit_test(unusable_requests_are_refused),
        cmocka_unit_test(masses_match_formulas),
        cmocka_unit_test(mass_of_a_mesh_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
