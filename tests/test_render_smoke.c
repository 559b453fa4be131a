// Smoke in pictures: the field between voxels, and what of light passes it, against Beer's law.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "ration.h"
#include "render/smoke.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVES = 8 };

typedef struct cloud { // 16^3 voxels of 0.1 m, from (1, 0, 0) on
    float density[MO_VDB_LEAF * LEAVES];
    int32_t leaf[LEAVES][3];
    mo_vdb_grid grid;
    mo_vdb vdb;
} cloud;

static void fill(cloud *c, float (*density)(float x, float y, float z))
{
    for (int l = 0; l < LEAVES; l++) {
        for (int a = 0; a < 3; a++) c->leaf[l][a] = l >> a & 1;
        for (int i = 0; i < MO_VDB_LEAF; i++)
            c->density[l * MO_VDB_LEAF + i] =
                density((float)(8 * c->leaf[l][0] + (i & 7)), (float)(8 * c->leaf[l][1] + (i >> 3 & 7)),
                        (float)(8 * c->leaf[l][2] + (i >> 6)));
    }
    c->grid = (mo_vdb_grid){.name = "density", .components = 1, .value = {c->density}};
    c->vdb = (mo_vdb){
        .voxel = 0.1, .origin = {1.05, 0.05, 0.05}, .leaves = LEAVES, .leaf = c->leaf, .grids = 1, .grid = &c->grid};
}

static float even(float x, float y, float z)
{
    (void)x, (void)y, (void)z;
    return 2;
}
static float slanted(float x, float y, float z) { return 1 + 0.5f * x + 0.25f * y + 0.125f * z; }

static void between_voxels(void **state)
{
    (void)state;
    cloud *c = calloc(1, sizeof *c);
    mo_smoke *s;
    fill(c, slanted);
    assert_int_equal(mo_smoke_create(&c->vdb, 3, &s, NULL), MO_OK);
    assert_float_equal(mo_smoke_at(s, mo_f3(1.05f, 0.05f, 0.05f)), 3, 1e-4);
    assert_float_equal(mo_smoke_at(s, mo_f3(1.83f, 0.77f, 0.99f)), 3 * slanted(7.8f, 7.2f, 9.4f), 1e-3);
    assert_float_equal(mo_smoke_at(s, mo_f3(0.5f, 0.5f, 0.5f)), 0, 0);
    assert_float_equal(mo_smoke_at(s, mo_f3(2.0f, 2.0f, 1.7f)), 0, 0);
    mo_smoke_destroy(s);
    free(c);
}

// What arrives of the sun: extinction of 1/m over the way out, along an axis and aslant.
static void sunlight(void **state)
{
    (void)state;
    cloud *c = calloc(1, sizeof *c);
    mo_smoke *s;
    fill(c, even);
    assert_int_equal(mo_smoke_create(&c->vdb, 0.5, &s, NULL), MO_OK);
    assert_int_equal(mo_smoke_light(s, mo_f3(0, 1, 0), NULL), MO_OK);
    assert_float_equal(mo_smoke_clear(s, mo_f3(1.8f, 0.75f, 0.8f)), expf(-0.85f), 0.005f);
    assert_float_equal(mo_smoke_clear(s, mo_f3(1.83f, 0.21f, 0.77f)), expf(-1.39f), 0.005f);
    assert_int_equal(mo_smoke_light(s, mo_f3(0, 0.6f, 0.8f), NULL), MO_OK);
    assert_float_equal(mo_smoke_clear(s, mo_f3(1.8f, 0.45f, 0.8f)), expf(-1), 0.005f);
    mo_smoke_destroy(s);
    free(c);
}

// The line through the middle: extinction rises and falls within half a voxel of the ends, so its length is 1.6 m.
static void beer(void **state)
{
    (void)state;
    enum { PATHS = 20000 };
    cloud *c = calloc(1, sizeof *c);
    mo_smoke *s;
    fill(c, even);
    assert_int_equal(mo_smoke_create(&c->vdb, 0.5, &s, NULL), MO_OK);
    mo_vec3f o = {-1, 0.81f, 0.79f}, d = {1, 0, 0};
    double passes = 0, met = 0, near = 0;
    for (uint32_t i = 0; i < PATHS; i++) {
        mo_sampler sampler = {7, i, 0};
        passes += mo_smoke_passes(s, o, d, INFINITY, &sampler);
        float at = mo_smoke_meet(s, o, d, INFINITY, &sampler);
        met += at < INFINITY, near += at < 2.8f; // half of the way through
        assert_true(at > 1.9f && (at < 3.7f || at == INFINITY));
    }
    double noise = 4 / sqrt(PATHS);
    assert_true(fabs(passes / PATHS - exp(-1.6)) < noise * 0.5);
    assert_true(fabs(met / PATHS - (1 - exp(-1.6))) < noise * 0.5);
    assert_true(fabs(near / PATHS - (1 - exp(-0.8))) < noise * 0.5);
    // As far as a surface before it, beside it, and away from it there is nothing.
    mo_sampler sampler = {7, 1, 0};
    assert_true(mo_smoke_passes(s, o, d, 1.9f, &sampler) == 1 && mo_smoke_meet(s, o, d, 1.9f, &sampler) == INFINITY);
    assert_true(mo_smoke_passes(s, mo_f3(-1, 3, 0.8f), d, INFINITY, &sampler) == 1);
    assert_true(mo_smoke_passes(s, o, mo_f3(-1, 0, 0), INFINITY, &sampler) == 1);
    assert_true(mo_smoke_passes(NULL, o, d, INFINITY, &sampler) == 1);
    mo_smoke_destroy(s);
    free(c);
}

static void nothing_and_no_memory(void **state)
{
    (void)state;
    cloud *c = calloc(1, sizeof *c);
    mo_smoke *s;
    fill(c, even);
    c->vdb.leaves = 0;
    assert_int_equal(mo_smoke_create(&c->vdb, 1, &s, NULL), MO_OK);
    assert_null(s);
    c->vdb.leaves = LEAVES;
    ration r = {0};
    mo_set_allocator(rationed, &r);
    for (r.fail_at = 1; r.fail_at <= 4; r.fail_at++) {
        r.calls = 0;
        assert_int_equal(mo_smoke_create(&c->vdb, 1, &s, NULL), MO_ERROR_MEMORY);
        assert_int_equal(r.live, 0);
    }
    mo_set_allocator(NULL, NULL);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_voxels), cmocka_unit_test(sunlight),
                                       cmocka_unit_test(beer), cmocka_unit_test(nothing_and_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
