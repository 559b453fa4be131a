// Pairs of cloth: nearest points, meeting times that are never late, all pairs found, crossing triangles.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "solid/cloth.h"
#include "solid/cloth_pairs.h"
#include <stdlib.h>
#include <string.h>

static uint32_t seed;
static double uniform(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(seed++, 5, 8)); }
static mo_vec3 random_vector(double size)
{
    double z = uniform(-size, size), y = uniform(-size, size),
           x = uniform(-size, size); // in this order by any compiler
    return mo_v3(x, y, z);
}

static mo_vec3 mean_of(const double *w, const mo_vec3 *x, int n)
{
    mo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < n; k++) sum = mo_mad(sum, w[k], x[k]);
    return sum;
}

// No point of a lattice on both is nearer, and weights give the way that is told.
static void nearest_points_are_nearest(void **state)
{
    (void)state;
    enum { N = 30 };
    for (int trial = 0; trial < 200; trial++) {
        mo_pair p = {0, 0, trial % 2, {0, 1}, {2, 3, 4}};
        mo_vec3 x[5];
        for (int k = 0; k < 5; k++) x[k] = random_vector(1);
        mo_nearest n = mo_pair_nearest(&p, x, x);
        int own = p.edges ? 2 : 1, other = p.edges ? 2 : 3;
        mo_vec3 way = mo_sub(mean_of(n.own, x, own), mean_of(n.other, x + 2, other));
        assert_true(mo_norm(mo_sub(way, n.way)) < 1e-12 && fabs(mo_norm(way) - n.distance) < 1e-12);
        for (int i = 0; i <= N; i++)
            for (int k = 0; k <= N; k++) {
                double s = i / (double)N, t = k / (double)N;
                if (!p.edges && s + t > 1) continue;
                mo_vec3 a = p.edges ? mo_mad(x[0], s, mo_sub(x[1], x[0])) : x[0];
                mo_vec3 b = mo_mad(x[2], t, mo_sub(x[3], x[2]));
                if (!p.edges) b = mo_mad(b, s, mo_sub(x[4], x[2]));
                assert_true(mo_norm(mo_sub(a, b)) >= n.distance - 1e-12);
            }
    }
}

// Two drapes of one triangle each, on random ways: what is told not to meet does not, and what meets is told before.
static void meeting_times_are_never_late(void **state)
{
    (void)state;
    enum { STEPS = 2000 };
    int32_t met = 0, missed = 0;
    for (int trial = 0; trial < 300; trial++) {
        mo_vec3 from[2][3], to[2][3];
        mo_drape drape[2] = {{.from = from[0], .to = to[0]}, {.from = from[1], .to = to[1]}};
        for (int k = 0; k < 3; k++) {
            from[0][k] = random_vector(0.5), from[1][k] = mo_add(random_vector(0.5), mo_v3(0, 1.2, 0));
            to[0][k] = mo_add(from[0][k], mo_add(mo_v3(0, 1, 0), random_vector(0.5)));
            to[1][k] = mo_add(from[1][k], mo_add(mo_v3(0, -1, 0), random_vector(0.5)));
        }
        mo_pair p = {0, 1, trial % 2, {0, trial % 2}, {0, 1, 2}};
        double least = 0.02, time, nearest = INFINITY, first = INFINITY;
        bool meets = mo_pair_meets(&p, drape, least, &time);
        for (int i = 0; i <= STEPS; i++) {
            double t = i / (double)STEPS;
            mo_vec3 a[3], b[3];
            for (int k = 0; k < 3; k++) {
                a[k] = mo_mad(from[0][k], t, mo_sub(to[0][k], from[0][k]));
                b[k] = mo_mad(from[1][k], t, mo_sub(to[1][k], from[1][k]));
            }
            double d = mo_pair_nearest(&p, a, b).distance;
            nearest = fmin(nearest, d);
            if (d < least && first == INFINITY) first = t;
        }
        if (!meets) assert_true(nearest >= least * 0.999);
        if (meets) assert_true(time <= first && nearest < 1.2 * least + 1e-3);
        met += meets, missed += !meets;
    }
    print_message("%d met, %d did not\n", met, missed);
    assert_true(met > 30 && missed > 30);
}

static mo_elastic_body sheet_body(double size, double edge)
{
    mo_sheet sheet;
    mo_elastic_body b;
    mo_cloth_material m = {1, 1, 1, 0, 0};
    assert_int_equal(mo_sheet_plate(size, size, edge, &sheet, NULL), MO_OK);
    assert_int_equal(mo_cloth_create(&sheet, &m, 0, NULL, &b, NULL), MO_OK);
    mo_sheet_destroy(&sheet);
    return b;
}

static bool has(const int32_t *list, int n, int32_t v)
{
    for (int k = 0; k < n; k++)
        if (list[k] == v) return true;
    return false;
}

// Every vertex against every triangle of a crumpled sheet: those within reach are in the list, once.
static void all_near_pairs_are_listed(void **state)
{
    (void)state;
    mo_elastic_body b = sheet_body(1, 0.12);
    mo_elastic_surface s;
    mo_drape drape;
    mo_pairs pairs = {0};
    const double reach = 0.05;
    for (int32_t v = 0; v < b.vertices; v++) b.position[v] = mo_add(mo_mul(0.3, b.rest[v]), random_vector(0.1));
    assert_int_equal(mo_elastic_surface_create(&b, &s, NULL), MO_OK);
    assert_int_equal(mo_drape_create(&s, 0.01, &drape, NULL), MO_OK);
    drape.from = drape.to = b.position;
    assert_int_equal(mo_pairs_find(1, &drape, reach - 0.01, &pairs, NULL), MO_OK);
    int32_t vertices = 0, edges = 0, near[2] = {0, 0};
    for (int32_t i = 0; i < pairs.count; i++) {
        double d = mo_pair_nearest(&pairs.pair[i], b.position, b.position).distance;
        if (pairs.pair[i].edges)
            edges++, near[1] += d < reach;
        else
            vertices++, near[0] += d < reach;
    }
    int32_t all[2] = {0, 0};
    for (int32_t v = 0; v < b.vertices; v++)
        for (int32_t t = 0; t < s.faces; t++) {
            mo_pair p = {0, 0, false, {v, v}, {s.face[3 * t], s.face[3 * t + 1], s.face[3 * t + 2]}};
            if (has(p.other, 3, v)) continue;
            all[0] += mo_pair_nearest(&p, b.position, b.position).distance < reach;
        }
    for (int32_t e = 0; e < drape.edges; e++)
        for (int32_t f = e + 1; f < drape.edges; f++) {
            mo_pair p = {0,
                         0,
                         true,
                         {drape.edge[e][0], drape.edge[e][1]},
                         {drape.edge[f][0], drape.edge[f][1], drape.edge[f][1]}};
            if (has(p.other, 2, p.own[0]) || has(p.other, 2, p.own[1])) continue;
            all[1] += mo_pair_nearest(&p, b.position, b.position).distance < reach;
        }
    print_message("%d and %d pairs listed, %d and %d within reach\n", vertices, edges, all[0], all[1]);
    assert_true(all[0] > 100 && all[1] > 100);
    assert_int_equal(near[0], all[0]), assert_int_equal(near[1], all[1]);
    mo_free(pairs.pair);
    mo_drape_destroy(&drape);
    mo_elastic_surface_destroy(&s);
    mo_elastic_destroy(&b);
}

static void crossing_is_seen(void **state)
{
    (void)state;
    mo_elastic_body b[2] = {sheet_body(1, 0.3), sheet_body(1, 0.25)};
    mo_elastic_surface s[2];
    mo_drape drape[2];
    int32_t a, c;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(mo_elastic_surface_create(&b[k], &s[k], NULL), MO_OK);
        assert_int_equal(mo_drape_create(&s[k], 0.01, &drape[k], NULL), MO_OK);
        drape[k].from = drape[k].to = b[k].position;
    }
    mo_quat turn = mo_quat_axis_angle(mo_v3(1, 0, 0.4), 1);
    for (int32_t v = 0; v < b[1].vertices; v++) b[1].position[v] = mo_add(b[1].rest[v], mo_v3(0.013, 0.02, 0.017));
    assert_false(mo_drapes_cross(2, drape, &a, &c));
    for (int32_t v = 0; v < b[1].vertices; v++)
        b[1].position[v] = mo_add(mo_quat_rotate(turn, b[1].rest[v]), mo_v3(0.013, 0.02, 0.017));
    assert_true(mo_drapes_cross(2, drape, &a, &c));
    assert_int_equal(a, 0), assert_int_equal(c, 1);
    for (int k = 0; k < 2; k++)
        mo_drape_destroy(&drape[k]), mo_elastic_surface_destroy(&s[k]), mo_elastic_destroy(&b[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_are_nearest),
        cmocka_unit_test(meeting_times_are_never_late),
        cmocka_unit_test(all_near_pairs_are_listed),
        cmocka_unit_test(crossing_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
