// Cut meshes: closed whatever the two fields, exact on curved solids, smooth on the free surface, volume as computed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "base/vec.h"
#include "geometry/cut_mesh.h"
#include "geometry/mesh.h"
#include <stdlib.h>
#include <string.h>

enum { EDGE = 8, ACROSS = 3, BRICKS = ACROSS * ACROSS * ACROSS, NODES = EDGE * ACROSS };

typedef double (*field_fn)(const void *user, mo_vec3 x);
typedef struct fields {
    field_fn phi, solid;
    const void *user;
    mo_cut_def def;
    int32_t lo[BRICKS][3];
} fields;

static bool load(void *user, int32_t brick, float *phi, float *solid)
{
    const fields *f = user;
    const mo_cut_def *d = &f->def;
    for (int32_t z = -1; z <= EDGE + 1; z++)
        for (int32_t y = -1; y <= EDGE + 1; y++)
            for (int32_t x = -1; x <= EDGE + 1; x++) {
                const int32_t *lo = f->lo[brick];
                mo_vec3 p = mo_v3(d->origin.x + d->spacing[0] * (lo[0] + x), d->origin.y + d->spacing[1] * (lo[1] + y),
                                  d->origin.z + d->spacing[2] * (lo[2] + z));
                *phi++ = (float)f->phi(f->user, p);
                if (f->solid) *solid++ = (float)f->solid(f->user, p);
            }
    return f->solid != NULL;
}

static double distance(void *user, int32_t brick, mo_vec3 x)
{
    (void)brick;
    const fields *f = user;
    return f->solid(f->user, x);
}

// A box of 20 nodes across out of 24, its low corner at the origin.
static mo_mesh cut(field_fn phi, field_fn solid, const void *user, double spacing)
{
    static fields f;
    f = (fields){.phi = phi, .solid = solid, .user = user};
    for (int32_t b = 0; b < BRICKS; b++)
        for (int a = 0; a < 3; a++)
            f.lo[b][a] = EDGE * (a == 0 ? b % ACROSS : a == 1 ? b / ACROSS % ACROSS : b / ACROSS / ACROSS);
    f.def = (mo_cut_def){.count = BRICKS,
                         .edge = {EDGE, EDGE, EDGE},
                         .lo = (const int32_t(*)[3])f.lo,
                         .low = {2, 2, 2},
                         .high = {22, 22, 22},
                         .origin = {-2 * spacing, -2 * spacing, -2 * spacing},
                         .spacing = {spacing, spacing, spacing},
                         .load = load,
                         .distance = distance,
                         .user = &f};
    mo_mesh m;
    assert_int_equal(mo_cut_mesh(&f.def, &m, NULL), MO_OK);
    return m;
}

static void assert_closed(const mo_mesh *mesh)
{
    mo_mesh m;
    mo_error err;
    assert_int_equal(mo_mesh_copy(mesh, &m, NULL), MO_OK);
    assert_int_equal(mo_mesh_weld(&m, 0, NULL), MO_OK);
    if (mo_mesh_check_closed(&m, "cut mesh", &err) != MO_OK) fail_msg("%s", err.text);
    mo_mesh_destroy(&m);
}

// ---- Random fields ----

static double noise_at(uint32_t seed, mo_vec3 x)
{
    int32_t c[3] = {(int32_t)floor(x.x), (int32_t)floor(x.y), (int32_t)floor(x.z)};
    double t[3] = {x.x - c[0], x.y - c[1], x.z - c[2]}, sum = 0;
    for (int k = 0; k < 8; k++) {
        double weight = (k & 1 ? t[0] : 1 - t[0]) * (k & 2 ? t[1] : 1 - t[1]) * (k & 4 ? t[2] : 1 - t[2]);
        if (weight == 0) continue;
        uint32_t h = mo_hash((uint32_t)(c[0] + (k & 1) + 100),
                             (uint32_t)(c[1] + (k >> 1 & 1) + 100 * (c[2] + (k >> 2)) + 9999), seed);
        sum += weight * (mo_unit(h) - 0.5);
    }
    return sum;
}
static double noise_phi(const void *user, mo_vec3 x) { return noise_at(*(const uint32_t *)user, x); }
static double noise_solid(const void *user, mo_vec3 x) { return noise_at(7777 + *(const uint32_t *)user, x) + 0.1; }

// Each edge as often in one direction as in the other. Places that coincide by chance may be shared by more than two.
static void assert_balanced(const mo_mesh *mesh)
{
    mo_mesh m;
    assert_int_equal(mo_mesh_copy(mesh, &m, NULL), MO_OK);
    assert_int_equal(mo_mesh_weld(&m, 0, NULL), MO_OK);
    int64_t size = 16;
    while (size < 8 * (int64_t)m.triangle_count) size *= 2;
    int32_t(*pair)[2] = malloc(sizeof *pair * (size_t)size), *net = calloc((size_t)size, sizeof *net);
    memset(pair, 0xff, sizeof *pair * (size_t)size);
    for (int32_t i = 0; i < 3 * m.triangle_count; i++) {
        int32_t a = m.triangle[i], b = m.triangle[i - i % 3 + (i + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
        int64_t h = mo_hash((uint32_t)low, (uint32_t)high, 0) & (size - 1);
        while (pair[h][0] >= 0 && (pair[h][0] != low || pair[h][1] != high)) h = (h + 1) & (size - 1);
        pair[h][0] = low, pair[h][1] = high, net[h] += a < b ? 1 : -1;
    }
    int64_t open = 0;
    for (int64_t h = 0; h < size; h++) open += net[h] != 0;
    if (open) fail_msg("%lld edges are open", (long long)open);
    free(pair);
    free(net);
    mo_mesh_destroy(&m);
}

static void random_fields_give_closed_surfaces(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        mo_mesh m = cut(noise_phi, seed % 4 ? noise_solid : NULL, &seed, 1);
        assert_true(m.triangle_count > 1000);
        assert_balanced(&m);
        assert_true(mo_mesh_volume(&m) > 1000 && mo_mesh_volume(&m) < 6000);
        mo_mesh_destroy(&m);
    }
}

// ---- Pools and drops ----

typedef struct place {
    mo_vec3 centre, normal;
    double radius, level;
} place;

static double pool_phi(const void *user, mo_vec3 x)
{
    const place *p = user;
    return mo_dot(p->normal, x) - p->level;
}
static double drop_phi(const void *user, mo_vec3 x)
{
    const place *p = user;
    return mo_norm(mo_sub(x, p->centre)) - p->radius;
}

static void flat_pool_is_flat_and_ends_at_walls(void **state)
{
    (void)state;
    const double levels[] = {7.3, 8, 10.0000001, 11.99999};
    for (int k = 0; k < 4; k++) {
        place p = {.normal = {0, 1, 0}, .level = levels[k]};
        mo_mesh m = cut(pool_phi, NULL, &p, 1);
        assert_closed(&m);
        for (int32_t v = 0; v < m.vertex_count; v++) {
            const float *x = m.position + 3 * (int64_t)v, *n = m.normal + 3 * (int64_t)v;
            for (int a = 0; a < 3; a++) assert_true(x[a] >= 0 && x[a] <= 20);
            assert_true(x[1] < p.level + 2e-4);
            if (n[1] > 0.5f) assert_true(fabs(x[1] - p.level) < 2e-4 && n[1] > 0.99999f);
        }
        assert_true(fabs(mo_mesh_volume(&m) / (400 * p.level) - 1) < 2e-5);
        mo_mesh_destroy(&m);
    }
}

static void drop_is_round(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        place p = {.centre = {10.13, 9.71 + 0.2 * k, 10.37}, .radius = 5 + 1.7 * k};
        mo_mesh m = cut(drop_phi, NULL, &p, 1);
        assert_closed(&m);
        double low = 1e9, high = 0, lean = 1;
        for (int32_t v = 0; v < m.vertex_count; v++) {
            const float *x = m.position + 3 * (int64_t)v, *n = m.normal + 3 * (int64_t)v;
            mo_vec3 r = mo_sub(mo_v3(x[0], x[1], x[2]), p.centre);
            low = fmin(low, mo_norm(r)), high = fmax(high, mo_norm(r));
            lean = fmin(lean, mo_dot(mo_normalize(r), mo_v3(n[0], n[1], n[2])));
        }
        assert_true(high - low < 0.005 && fabs(high - p.radius) < 0.005);
        assert_true(lean > 0.9999);
        double exact = 4.0 / 3 * 3.14159265358979 * p.radius * p.radius * p.radius;
        assert_true(fabs(mo_mesh_volume(&m) / exact - 1) < 0.55 / (p.radius * p.radius)); // facets lie inside
        mo_mesh_destroy(&m);
    }
}

// ---- Containers ----

typedef struct container {
    place pool;
    mo_vec3 centre, axis;
    double radius;
    int kind; // 0 hollow ball, 1 hollow cylinder with a floor, 2 half space, 3 a ball in the pool
} container;

static double container_phi(const void *user, mo_vec3 x) { return pool_phi(&((const container *)user)->pool, x); }
static double container_solid(const void *user, mo_vec3 x)
{
    const container *c = user;
    mo_vec3 r = mo_sub(x, c->centre);
    switch (c->kind) {
    case 0: return c->radius - mo_norm(r);
    case 1: return fmin(c->radius - sqrt(r.x * r.x + r.z * r.z), r.y);
    case 2: return mo_dot(c->axis, r);
    default: return mo_norm(r) - c->radius;
    }
}

// Vertices of the free surface lie on it, those that touch the solid on the solid, creases on both.
static double check_container(const container *c, double spacing)
{
    mo_mesh m = cut(container_phi, container_solid, c, spacing);
    assert_closed(&m);
    int64_t on_solid = 0, on_both = 0;
    for (int32_t v = 0; v < m.vertex_count; v++) {
        const float *p = m.position + 3 * (int64_t)v, *n = m.normal + 3 * (int64_t)v;
        mo_vec3 x = mo_v3(p[0], p[1], p[2]);
        double phi = container_phi(c, x), d = container_solid(c, x), near = 0.005 * spacing;
        bool wall = false;
        for (int a = 0; a < 3; a++) wall = wall || p[a] < near || p[a] > 20 * spacing - near;
        if (!(phi < near && d > -near)) fail_msg("a vertex lies outside: phi %g, d %g", phi / spacing, d / spacing);
        if (!(wall || fabs(phi) < near || fabs(d) < near))
            fail_msg("a vertex lies on nothing: phi %g, d %g", phi / spacing, d / spacing);
        on_solid += fabs(d) < near, on_both += fabs(d) < near && fabs(phi) < near;
        if (!wall && fabs(phi) > 2 * near && c->kind != 1) { // into the solid
            mo_vec3 e = mo_mad(x, 0.01 * spacing, mo_v3(n[0], n[1], n[2]));
            assert_true(container_solid(c, e) - d < -0.0099 * spacing);
        }
    }
    assert_true(on_solid > 100 && on_both > 30);
    double volume = mo_mesh_volume(&m) / (spacing * spacing * spacing);
    mo_mesh_destroy(&m);
    return volume;
}

static void liquid_ends_exactly_at_curved_solids(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    place pool = {.normal = {0, 1, 0}, .level = 8.37};
    // A cap of height h in a ball of radius R: pi h^2 (R - h / 3).
    container ball = {.pool = pool, .centre = {10.1, 10.2, 9.8}, .radius = 8.4, .kind = 0};
    double h = pool.level - (ball.centre.y - ball.radius), exact = pi * h * h * (ball.radius - h / 3);
    assert_true(fabs(check_container(&ball, 1) / exact - 1) < 0.01);
    container tube = {.pool = pool, .centre = {10.1, 1.3, 9.8}, .radius = 8.2, .kind = 1};
    exact = pi * tube.radius * tube.radius * (pool.level - tube.centre.y);
    assert_true(fabs(check_container(&tube, 1) / exact - 1) < 0.006);
    container ramp = {.pool = pool, .centre = {10, 4, 10}, .kind = 2};
    ramp.axis = mo_normalize(mo_v3(-0.4, 1, 0));
    // The ramp goes from y = 0 to 8 at x = 0 .. 20; the pool above it.
    ramp.pool.level = 6;
    exact = 20 * 0.5 * 15 * 6;
    assert_true(fabs(check_container(&ramp, 1) / exact - 1) < 1e-4);
    container bead = {.pool = pool, .centre = {10.1, 7.2, 9.8}, .radius = 5.3, .kind = 3};
    double under = pool.level - (bead.centre.y - bead.radius);
    exact = 400 * pool.level - pi * under * under * (bead.radius - under / 3);
    assert_true(fabs(check_container(&bead, 1) / exact - 1) < 0.002);
}

static void inclined_pools_cross_solids_cleanly(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        double angle = 0.5 * k;
        container c = {.pool = {.level = 9}, .centre = {10.1, 10.2, 9.8}, .radius = 7.9, .kind = k % 2 ? 0 : 3};
        c.pool.normal = mo_normalize(mo_v3(0.5 * sin(angle), 1, 0.7 * cos(2 * angle)));
        c.pool.level = mo_dot(c.pool.normal, c.centre) - 0.4 * k;
        double h = 0.013; // the same with other units
        c.pool.level *= h, c.radius *= h, c.centre = mo_mul(h, c.centre);
        check_container(&c, h);
    }
}

static void mesh_is_the_same_for_any_threads(void **state)
{
    (void)state;
    uint32_t seed = 5;
    mo_mesh m[2];
    for (int k = 0; k < 2; k++) {
        mo_use_threads(k ? 4 : 1);
        m[k] = cut(noise_phi, noise_solid, &seed, 1);
    }
    mo_use_threads(0);
    assert_int_equal(m[0].vertex_count, m[1].vertex_count);
    assert_int_equal(m[0].triangle_count, m[1].triangle_count);
    assert_memory_equal(m[0].position, m[1].position, 12 * (size_t)m[0].vertex_count);
    assert_memory_equal(m[0].normal, m[1].normal, 12 * (size_t)m[0].vertex_count);
    assert_memory_equal(m[0].triangle, m[1].triangle, 12 * (size_t)m[0].triangle_count);
    mo_mesh_destroy(&m[0]);
    mo_mesh_destroy(&m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_fields_give_closed_surfaces),
        cmocka_unit_test(flat_pool_is_flat_and_ends_at_walls),
        cmocka_unit_test(drop_is_round),
        cmocka_unit_test(liquid_ends_exactly_at_curved_solids),
        cmocka_unit_test(inclined_pools_cross_solids_cleanly),
        cmocka_unit_test(mesh_is_the_same_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
