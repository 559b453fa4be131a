// Where a deformed body is: distances against those of shapes, weights that reproduce affine motions, threads, memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/shape.h"
#include "geometry/tets.h"
#include "solid/elastic_field.h"
#include <stdlib.h>
#include <string.h>

static uint32_t seed;
static double uniform(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(seed++, 23, 5)); }

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

typedef struct world {
    mo_elastic_body body;
    mo_elastic_field field;
    mo_arena *arena;
    mo_shape *box;
    mo_pose pose;
    double spacing;
    mo_vec3 origin;
} world;

// A box that lies anywhere, in a lattice of that spacing.
static world *world_create(bool flat, double element, double spacing)
{
    world *w = calloc(1, sizeof *w);
    mo_tets mesh;
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.3, 0);
    mo_vec3 size = {0.8, 0.5, 0.4}, axis = flat ? mo_v3(0, 0, 1) : mo_v3(1, 2, 3);
    w->pose = (mo_pose){mo_v3(0.3, -0.2, flat ? 0 : 0.1), mo_quat_axis_angle(axis, 0.7)};
    assert_int_equal(mo_tets_box(size, w->pose, element, flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 500, 0.1, &w->body), MO_OK);
    mo_tets_destroy(&mesh);
    if (flat) size.z = 100;
    w->box = mo_shape_box(size);
    w->arena = mo_arena_create();
    w->spacing = spacing, w->origin = mo_v3(-0.123, 0.456, -0.789);
    assert_int_equal(mo_elastic_field_create(&w->body, &w->field, NULL), MO_OK);
    assert_int_equal(mo_elastic_field_update(&w->field, &w->body, w->origin, spacing, w->arena, NULL), MO_OK);
    return w;
}

static void world_destroy(world *w)
{
    mo_elastic_field_destroy(&w->field);
    mo_elastic_destroy(&w->body);
    mo_arena_destroy(w->arena);
    mo_shape_release(w->box);
    free(w);
}

static mo_vec3 lattice_point(const world *w, bool flat)
{
    double reach = 1.2 / w->spacing;
    mo_vec3 p = {rint(uniform(-reach, reach)), rint(uniform(-reach, reach)), flat ? 0 : rint(uniform(-reach, reach))};
    mo_vec3 x = mo_mad(w->origin, w->spacing, p);
    if (flat) x.z = 0;
    return x;
}

static void distances_are_those_of_the_box(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.13, 0.03);
        int32_t exact = 0, inside = 0, beyond = 0, close = 0;
        for (int n = 0; n < 20000; n++) {
            mo_vec3 x = lattice_point(w, flat);
            double d = mo_shape_distance(w->box, mo_pose_to_body(w->pose, x)),
                   f = mo_elastic_field_distance(&w->field, x);
            double reach = w->field.reach;
            if (fabs(d) < reach)
                near(f, d, 1e-6), exact++;
            else
                near(f, d > 0 ? reach : -reach, 1e-6), beyond++;
            inside += f < 0;
            assert_true(!(fabs(d) < 0.5) || mo_elastic_field_near(&w->field, x, 0.5));
            x = mo_add(x, mo_v3(uniform(-0.1, 0.1), uniform(-0.1, 0.1), flat ? 0 : uniform(-0.1, 0.1)));
            d = mo_shape_distance(w->box, mo_pose_to_body(w->pose, x));
            if (fabs(d) < reach - 2 * w->spacing) near(mo_elastic_field_distance(&w->field, x), d, 0.5 * w->spacing);
            if (fabs(d) < 0.5 * w->spacing)
                near(mo_elastic_field_distance(&w->field, x), d, 0.05 * w->spacing), close++;
        }
        assert_true(exact > 500 && inside > 100 && beyond > 1000 && close > 40);
        assert_false(mo_elastic_field_near(&w->field, mo_v3(50, 0, 0), 0.5));
        near(mo_elastic_field_distance(&w->field, mo_v3(1e30, 0, 0)), w->field.reach, 0);
        world_destroy(w);
    }
}

// An affine motion of the vertices is that of all points near the body, inside and outside.
static void weights_reproduce_affine_motions(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.1, 0.05);
        double A[3][4], largest = 0;
        int32_t found = 0, outside = 0;
        for (int k = 0; k < 12; k++) A[k / 4][k % 4] = uniform(-1, 1);
        for (int n = 0; n < 10000; n++) {
            mo_vec3 x = lattice_point(w, flat);
            int32_t vertex[MO_ELASTIC_WEIGHTS];
            double weight[MO_ELASTIC_WEIGHTS], sum = 0, d = mo_elastic_field_distance(&w->field, x);
            int32_t count = mo_elastic_field_weights(&w->field, &w->body, x, vertex, weight);
            if (fabs(d) < w->field.reach - 1e-6) assert_true(count > 0);
            if (d > w->field.reach - 1e-9) assert_int_equal(count, 0);
            if (!count) continue;
            found++, outside += d > 0;
            for (int i = 0; i < (flat ? 2 : 3); i++) {
                double value = 0, expected = A[i][0] * x.x + A[i][1] * x.y + A[i][2] * x.z + A[i][3];
                for (int32_t k = 0; k < count; k++) {
                    mo_vec3 y = w->body.position[vertex[k]];
                    value += weight[k] * (A[i][0] * y.x + A[i][1] * y.y + A[i][2] * y.z + A[i][3]);
                }
                near(value, expected, 1e-12);
            }
            for (int32_t k = 0; k < count; k++) {
                sum += weight[k];
                assert_true(k == 0 || vertex[k] > vertex[k - 1]);
                if (d < 0) assert_true(weight[k] > -1e-9);
                if (fabs(d) < 0.1) largest = fmax(largest, fabs(weight[k])); // within a cell
            }
            near(sum, 1, 1e-13);
        }
        assert_true(found > 300 && outside > 200 && largest < 1.5);
        world_destroy(w);
    }
}

// After a deformation the field is that of where vertices are now; threads make no difference.
static void it_follows_the_body(void **state)
{
    (void)state;
    world *w = world_create(false, 0.1, 0.04);
    for (int32_t v = 0; v < w->body.vertices; v++) { // twisted and moved
        mo_vec3 x = w->body.position[v];
        mo_quat turn = mo_quat_axis_angle(mo_v3(0, 1, 0), x.y);
        w->body.position[v] = mo_add(mo_quat_rotate(turn, x), mo_v3(3, 0, -2));
    }
    float *distance = NULL;
    int32_t bricks = 0;
    for (int threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        assert_int_equal(mo_elastic_field_update(&w->field, &w->body, w->origin, w->spacing, w->arena, NULL), MO_OK);
        size_t bytes = sizeof(float) * 512 * (size_t)w->field.bricks;
        if (threads == 1) {
            bricks = w->field.bricks, distance = malloc(bytes);
            memcpy(distance, w->field.distance, bytes);
        }
        assert_int_equal(w->field.bricks, bricks);
        assert_memory_equal(w->field.distance, distance, bytes);
    }
    mo_use_threads(0);
    free(distance);
    for (int32_t v = 0; v < w->body.vertices; v++) // vertices are inside or on the surface
        assert_true(mo_elastic_field_distance(&w->field, w->body.position[v]) < 0.6 * w->spacing);
    for (int32_t v = 0; v < w->body.vertices; v++) w->body.position[v].x *= 1e12;
    mo_error err;
    assert_int_equal(mo_elastic_field_update(&w->field, &w->body, w->origin, w->spacing, w->arena, &err),
                     MO_ERROR_FAILED);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_box),
        cmocka_unit_test(weights_reproduce_affine_motions),
        cmocka_unit_test(it_follows_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
