// Sheets: areas, borders and junctions of what the makers make, lengths of edges, welding, files, memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/sheet.h"
#include "ration.h"
#include <math.h>
#include <stdio.h>

static double area(const mo_sheet *s)
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangles; t++) {
        mo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const double *p = s->position[s->triangle[t][k]];
            x[k] = mo_v3(p[0], p[1], p[2]);
        }
        double one = 0.5 * mo_norm(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
        assert_true(one > 0);
        sum += one;
    }
    return sum;
}

static double longest(const mo_sheet *s, const mo_sheet_edges *e)
{
    double most = 0;
    for (int32_t k = 0; k < e->count; k++) {
        const double *p = s->position[e->vertex[k][0]], *q = s->position[e->vertex[k][1]];
        most = fmax(most, mo_norm(mo_v3(p[0] - q[0], p[1] - q[1], p[2] - q[2])));
    }
    return most;
}

// Every triangle lists its edges and every edge its triangles; Euler's number is vertices - edges + triangles.
static int32_t check(const mo_sheet *s, double exact_area, double tolerance, double edge, int32_t borders)
{
    mo_sheet_edges e;
    assert_int_equal(mo_sheet_edges_create(s, &e, NULL), MO_OK);
    assert_true(fabs(area(s) / exact_area - 1) < tolerance);
    assert_true(longest(s, &e) <= 1.5 * edge);
    for (int32_t k = 0; k < e.count; k++)
        for (int32_t i = e.first[k]; i < e.first[k + 1]; i++)
            assert_int_equal(e.of[e.around[i] / 4][e.around[i] % 4], k);
    assert_true(borders < 0 || e.borders == borders);
    assert_int_equal(e.junctions, 0);
    int32_t euler = s->vertices - e.count + s->triangles;
    mo_sheet_edges_destroy(&e);
    return euler;
}

static void makers_make_what_they_say(void **state)
{
    (void)state;
    mo_sheet s;
    assert_int_equal(mo_sheet_plate(2, 1, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 2, 1e-12, 0.1, 60), 1);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_disk(1, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, M_PI, 0.01, 0.1, 63), 1);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_tube(1, 0.5, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, M_PI, 0.01, 0.1, 126), 0);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_hemisphere(1, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 2 * M_PI, 0.01, 0.1, 63), 1);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_cup(1, 0.5, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 2 * M_PI, 0.01, 0.1, 63), 1);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_helix(1, 0.3, 2, 0.4, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 2 * M_PI * 0.8 * 2 * 0.4, 0.01, 0.1, -1), 1);
    mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_revolve(3, (const double[3][2]){{0, 0}, {1, 1}, {0, 2}}, 0.1, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 2 * M_PI * sqrt(2), 0.01, 0.1, 0), 2); // closed
    mo_sheet_destroy(&s);
    const double square[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    assert_int_equal(mo_sheet_curve(5, square, 0.1, 0.05, &s, NULL), MO_OK);
    assert_int_equal(check(&s, 0.4, 1e-12, 0.1, 80), 0);
    mo_sheet_destroy(&s);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    mo_sheet s;
    mo_error err;
    assert_int_equal(mo_sheet_plate(1, 1, 0, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_plate(1, NAN, 0.1, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_plate(1, 1, 1e-5, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_tube(-1, 1, 0.1, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_helix(1, 1, 1, 1, 0.1, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_revolve(1, (const double[1][2]){{0, 0}}, 0.1, &s, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_sheet_read("/nowhere.obj", 0.1, &s, &err), MO_ERROR_FILE);
}

// Three plates along one line: their edge there becomes a junction. A turned and moved one is the same.
static void welding_makes_junctions(void **state)
{
    (void)state;
    mo_sheet plate, second, third, two, all;
    mo_sheet_edges e;
    assert_int_equal(mo_sheet_plate(1, 1, 0.25, &plate, NULL), MO_OK);
    mo_sheet_move(&plate, mo_v3(0.5, 0, 0));
    assert_int_equal(mo_sheet_copy(&plate, &second, NULL), MO_OK);
    assert_int_equal(mo_sheet_copy(&plate, &third, NULL), MO_OK);
    mo_sheet_rotate(&second, mo_v3(0, 0, 1), 2);
    mo_sheet_scale(&third, mo_v3(-1, 1, 1));
    assert_int_equal(mo_sheet_weld(&plate, &second, 1e-9, &two, NULL), MO_OK);
    assert_int_equal(mo_sheet_weld(&two, &third, 1e-9, &all, NULL), MO_OK);
    assert_int_equal(mo_sheet_edges_create(&all, &e, NULL), MO_OK);
    assert_int_equal(e.junctions, 4);
    assert_int_equal(e.borders, 3 * 12);
    assert_true(fabs(area(&all) - 3) < 1e-12);
    mo_sheet_edges_destroy(&e);
    mo_sheet *sheets[] = {&plate, &second, &third, &two, &all};
    for (int k = 0; k < 5; k++) mo_sheet_destroy(sheets[k]);
}

static void files_are_read_and_divided(void **state)
{
    (void)state;
    const char *path = BINARY_DIR "/sheet_test.obj";
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 3 0.5 0\nf 1 2 3\nf 1 3 4\nf 2 5 3\n", f);
    fclose(f);
    mo_sheet s;
    mo_sheet_edges e;
    assert_int_equal(mo_sheet_read(path, 0.3, &s, NULL), MO_OK);
    assert_int_equal(mo_sheet_edges_create(&s, &e, NULL), MO_OK);
    assert_true(longest(&s, &e) <= 0.3);
    assert_true(fabs(area(&s) - 2) < 1e-6);
    assert_int_equal(s.vertices - e.count + s.triangles, 1); // conforming: still one disk
    assert_int_equal(e.junctions, 0);
    mo_sheet_edges_destroy(&e);
    mo_sheet_destroy(&s);
    remove(path);
}

// A plate that stands on another: welded to it, a little above it, and touching it elsewhere than at its vertices.
static int32_t loose_above(double height, double along, double tolerance)
{
    mo_sheet a, b, both;
    assert_int_equal(mo_sheet_plate(2, 2, 0.1, &a, NULL), MO_OK);
    assert_int_equal(mo_sheet_plate(1, 1, 0.1, &b, NULL), MO_OK);
    mo_sheet_rotate(&b, mo_v3(0, 0, 1), M_PI / 2);
    mo_sheet_move(&b, mo_v3(along, 0.5 + height, 0));
    assert_int_equal(mo_sheet_weld(&a, &b, tolerance, &both, NULL), MO_OK);
    int32_t count;
    mo_vec3 place = {NAN, NAN, NAN};
    assert_int_equal(mo_sheet_loose(&both, 0.005, &count, &place, NULL), MO_OK);
    if (count) assert_true(fabs(place.x - along) < 1e-12 && fabs(place.y - height) < 1e-12);
    mo_sheet_destroy(&a), mo_sheet_destroy(&b), mo_sheet_destroy(&both);
    return count;
}

static void borders_that_nearly_meet_are_loose(void **state)
{
    (void)state;
    assert_int_equal(loose_above(0, 0, 1e-6), 0);
    assert_int_equal(loose_above(0, 0.03, 1e-6), 11);
    assert_int_equal(loose_above(0.004, 0, 1e-6), 11);
    assert_int_equal(loose_above(0.004, 0, 0.0045), 0);
    assert_int_equal(loose_above(0.006, 0, 1e-6), 0);
    mo_sheet s; // triangles of a bent sheet are no strangers to each other
    int32_t count;
    mo_vec3 place;
    assert_int_equal(mo_sheet_helix(0.5, 0.3, 2.5, 0.2, 0.05, &s, NULL), MO_OK);
    assert_int_equal(mo_sheet_loose(&s, 0.005, &count, &place, NULL), MO_OK);
    assert_int_equal(count, 0);
    mo_sheet_destroy(&s);
}

// A bowl is smooth: as many vertices as before, with the sphere's normals. A cup has a crease round its bottom.
static void meshes_have_creases(void **state)
{
    (void)state;
    mo_sheet s;
    mo_mesh m;
    assert_int_equal(mo_sheet_hemisphere(1, 0.1, &s, NULL), MO_OK);
    assert_int_equal(mo_sheet_to_mesh(&s, &m, NULL), MO_OK);
    assert_int_equal(m.vertex_count, s.vertices);
    assert_int_equal(m.triangle_count, s.triangles);
    for (int32_t v = 0; v < m.vertex_count; v++) {
        const float *n = m.normal + 3 * v, *x = m.position + 3 * v;
        assert_true(fabs(fabs(n[0] * x[0] + n[1] * x[1] + n[2] * x[2]) - 1) < 5e-3);
    }
    mo_mesh_destroy(&m), mo_sheet_destroy(&s);
    assert_int_equal(mo_sheet_cup(1, 1, 0.1, &s, NULL), MO_OK);
    int32_t round = 0;
    for (int32_t v = 0; v < s.vertices; v++)
        round += s.position[v][1] == 0 && hypot(s.position[v][0], s.position[v][2]) > 1 - 1e-9;
    assert_int_equal(mo_sheet_to_mesh(&s, &m, NULL), MO_OK);
    assert_true(round > 60);
    assert_int_equal(m.vertex_count, s.vertices + round);
    for (int32_t t = 0; t < m.triangle_count; t++)
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++)
                assert_true(m.position[3 * m.triangle[3 * t + k] + a] == (float)s.position[s.triangle[t][k]][a]);
    mo_mesh_destroy(&m), mo_sheet_destroy(&s);
}

static mo_status make_and_weld(mo_error *err)
{

    mo_sheet a = {0}, b = {0}, c = {0};
    mo_sheet_edges e = {0};
    mo_status status = mo_sheet_cup(1, 1, 0.3, &a, err);
    if (status == MO_OK) status = mo_sheet_hemisphere(1, 0.3, &b, err);
    if (status == MO_OK) status = mo_sheet_weld(&a, &b, 1e-6, &c, err);
    if (status == MO_OK) status = mo_sheet_edges_create(&c, &e, err);
    int32_t loose;
    mo_vec3 place;
    if (status == MO_OK) status = mo_sheet_loose(&c, 0.01, &loose, &place, err);
    mo_mesh mesh = {0};
    if (status == MO_OK) status = mo_sheet_to_mesh(&c, &mesh, err);
    mo_mesh_destroy(&mesh);
    mo_sheet_edges_destroy(&e);
    mo_sheet_destroy(&a), mo_sheet_destroy(&b), mo_sheet_destroy(&c);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (int64_t fail_at = 1;; fail_at++) {
        ration r = {.fail_at = fail_at};
        mo_set_allocator(rationed, &r);
        mo_error err;
        mo_status status = make_and_weld(&err);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(r.live, 0);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makers_make_what_they_say), cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(welding_makes_junctions),   cmocka_unit_test(files_are_read_and_divided),
        cmocka_unit_test(meshes_have_creases),       cmocka_unit_test(borders_that_nearly_meet_are_loose),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
