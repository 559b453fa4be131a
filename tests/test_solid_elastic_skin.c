// Skins of elastic bodies: closed, with the body's volume, sharp where the body is at rest, following it as it moves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "geometry/tets.h"
#include "solid/elastic_skin.h"
#include "ration.h"
#include <stdlib.h>
#include <string.h>

typedef struct body {
    mo_elastic_body b;
    mo_elastic_skin skin;
} body;

static void make(const mo_shape *shape, double element, bool flat, double depth, body *out)
{
    mo_error err = {0};
    mo_tets mesh;
    int32_t *face, faces;
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.3, 0);
    if (mo_tets_from_shape(shape, element, flat, &mesh, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(mo_tets_boundary(&mesh, &face, &faces, &err), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 1000, depth, &out->b), MO_OK);
    assert_int_equal(mo_elastic_skin_create(&out->b, face, faces, depth, &out->skin, &err), MO_OK);
    mo_free(face);
    mo_tets_destroy(&mesh);
    mo_shape_release(shape);
}

static void release(body *s)
{
    mo_elastic_skin_destroy(&s->skin);
    mo_elastic_destroy(&s->b);
}

static double volume_of(const mo_elastic_body *b)
{
    double sum = 0;
    for (int32_t e = 0; e < b->elements; e++) sum += b->volume[e];
    return sum;
}

// Closed once creases are welded, of the body's volume, with unit normals that point outwards.
static void check_skin(const body *s)
{
    mo_error err = {0};
    mo_mesh mesh, welded;
    assert_int_equal(mo_elastic_skin_mesh(&s->skin, &s->b, &mesh, &err), MO_OK);
    assert_int_equal(mo_mesh_copy(&mesh, &welded, &err), MO_OK);
    assert_int_equal(mo_mesh_weld(&welded, 0, &err), MO_OK);
    if (mo_mesh_check_closed(&welded, "skin", &err) != MO_OK) fail_msg("%s", err.text);
    double volume = volume_of(&s->b);
    assert_true(fabs(mo_mesh_volume(&mesh) - volume) < 1e-5 * volume);
    for (int32_t t = 0; t < mesh.triangle_count; t++) {
        mo_vec3 a = mo_mesh_corner(&mesh, t, 0), b = mo_mesh_corner(&mesh, t, 1), c = mo_mesh_corner(&mesh, t, 2);
        mo_vec3 flat = mo_normalize(mo_cross(mo_sub(b, a), mo_sub(c, a)));
        for (int k = 0; k < 3; k++) {
            const float *n = mesh.normal + 3 * mesh.triangle[3 * t + k];
            mo_vec3 normal = mo_v3(n[0], n[1], n[2]);
            assert_true(fabs(mo_norm(normal) - 1) < 1e-5 && mo_dot(normal, flat) > 0.5);
        }
    }
    mo_mesh_destroy(&welded);
    mo_mesh_destroy(&mesh);
}

static const mo_shape *ball(void) { return mo_shape_sphere(0.5); }

static const mo_shape *brick(void) { return mo_shape_box((mo_vec3){1, 0.5, 0.25}); }

static void boxes_keep_their_edges(void **state)
{
    (void)state;
    body s;
    make(brick(), 0.25, false, 0, &s);
    check_skin(&s);
    // 4 x 2 x 1 cells: 5 x 3 x 2 places, all on the surface; each side has places of its own.
    assert_int_equal(s.skin.triangles, 2 * 2 * (4 * 2 + 4 * 1 + 2 * 1));
    assert_int_equal(s.skin.vertices, 2 * (5 * 3 + 5 * 2 + 3 * 2));
    mo_mesh mesh;
    mo_error err;
    assert_int_equal(mo_elastic_skin_mesh(&s.skin, &s.b, &mesh, &err), MO_OK);
    for (int32_t i = 0; i < 3 * mesh.vertex_count; i++)
        assert_true(fabsf(mesh.normal[i]) < 1e-6f || fabsf(mesh.normal[i]) > 0.999f);
    mo_mesh_destroy(&mesh);
    release(&s);
}

static void round_bodies_have_no_edges(void **state)
{
    (void)state;
    body s;
    make(ball(), 0.12, false, 0, &s);
    check_skin(&s);
    assert_int_equal(s.skin.triangles, 2 * s.skin.vertices - 4); // Euler: no place is there twice
    release(&s);
}

static void slices_are_closed(void **state)
{
    (void)state;
    body s;
    make(ball(), 0.1, true, 0.2, &s);
    check_skin(&s);
    mo_mesh mesh;
    mo_error err;
    assert_int_equal(mo_elastic_skin_mesh(&s.skin, &s.b, &mesh, &err), MO_OK);
    mo_box3 box = mo_mesh_bounds(&mesh);
    assert_true(box.lo.z == 0 && fabs(box.hi.z - 0.2) < 1e-6);
    mo_mesh_destroy(&mesh);
    release(&s);
    make(brick(), 0.25, true, 0.1, &s);
    check_skin(&s);
    assert_int_equal(s.skin.vertices, 2 * (5 * 3) + 2 * 2 * (5 + 3));
    release(&s);
}

// A motion of the vertices: places and velocities are the body's, triangles stay.
static void it_follows_the_body(void **state)
{
    (void)state;
    body s;
    make(ball(), 0.2, false, 0, &s);
    for (int32_t v = 0; v < s.b.vertices; v++) {
        mo_vec3 x = s.b.rest[v];
        s.b.position[v] = mo_v3(2 * x.x + 1, 0.5 * x.y + 0.1 * x.x, x.z);
        s.b.velocity[v] = mo_v3(x.y, 0, 1);
    }
    mo_mesh mesh;
    mo_error err;
    assert_int_equal(mo_elastic_skin_mesh(&s.skin, &s.b, &mesh, &err), MO_OK);
    for (int32_t k = 0; k < mesh.vertex_count; k++) {
        mo_vec3 x = s.b.rest[s.skin.vertex[k]];
        assert_true(mesh.position[3 * k] == (float)(2 * x.x + 1) && mesh.velocity[3 * k] == (float)x.y);
    }
    assert_true(fabs(mo_mesh_volume(&mesh) - volume_of(&s.b)) < 1e-5);
    mo_mesh_destroy(&mesh);
    release(&s);
}

static void means_are_by_volume(void **state)
{
    (void)state;
    body s;
    make(brick(), 0.25, false, 0, &s);
    double *value = malloc(sizeof *value * (size_t)s.b.elements);
    float *mean = malloc(sizeof *mean * (size_t)s.skin.vertices);
    for (int32_t e = 0; e < s.b.elements; e++) value[e] = 7;
    mo_elastic_skin_mean(&s.skin, &s.b, value, mean);
    for (int32_t v = 0; v < s.skin.vertices; v++) assert_true(fabsf(mean[v] - 7) < 1e-5f);
    // One element alone: its corners get its share of the volume about them.
    memset(value, 0, sizeof *value * (size_t)s.b.elements);
    value[3] = 1;
    mo_elastic_skin_mean(&s.skin, &s.b, value, mean);
    for (int32_t k = 0; k < s.skin.vertices; k++) {
        int32_t v = s.skin.vertex[k];
        double about = 0, mine = 0;
        for (int32_t u = s.b.first[v]; u < s.b.first[v + 1]; u++) {
            about += s.b.volume[s.b.use[u] / 4];
            if (s.b.use[u] / 4 == 3) mine = s.b.volume[3];
        }
        assert_true(fabs(mean[k] - mine / about) < 1e-6);
    }
    value[3] = INFINITY;
    mo_elastic_skin_mean(&s.skin, &s.b, value, mean);
    for (int32_t k = 0; k < s.skin.vertices; k++) assert_true(mean[k] == 0);
    free(value), free(mean);
    release(&s);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ration memory = {0};
    mo_set_allocator(rationed, &memory);
    body s;
    make(brick(), 0.25, false, 0, &s);
    mo_tets mesh = {3, s.b.vertices, s.b.elements, (double *)s.b.rest, s.b.corner};
    int32_t *face, faces;
    mo_error err;
    assert_int_equal(mo_tets_boundary(&mesh, &face, &faces, &err), MO_OK);
    for (int k = 0; k < 40; k++) {
        mo_elastic_skin skin;
        mo_mesh out;
        int64_t before = mo_memory_in_use();
        memory = (ration){.fail_at = k + 1};
        mo_status status = mo_elastic_skin_create(&s.b, face, faces, 0, &skin, &err);
        if (status == MO_OK) {
            status = mo_elastic_skin_mesh(&skin, &s.b, &out, &err);
            if (status == MO_OK) mo_mesh_destroy(&out);
            mo_elastic_skin_destroy(&skin);
        }
        memory.fail_at = 0;
        assert_true(status == (k < memory.calls ? MO_ERROR_MEMORY : MO_OK));
        assert_true(mo_memory_in_use() == before);
    }
    mo_free(face);
    release(&s);
    mo_set_allocator(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_keep_their_edges), cmocka_unit_test(round_bodies_have_no_edges),
        cmocka_unit_test(slices_are_closed),      cmocka_unit_test(it_follows_the_body),
        cmocka_unit_test(means_are_by_volume),    cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
