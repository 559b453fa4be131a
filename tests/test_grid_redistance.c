// Redistancing against planes, spheres and boxes; extrapolation of constants and of a decaying row.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/extrapolate.h"
#include "grid/redistance.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    mo_grid *g;
    float *phi, *out, *scratch;
    uint8_t *valid, *bytes;
    int64_t cells;
} fixture;

static fixture setup(int32_t x, int32_t y, int32_t z)
{
    fixture f;
    assert_int_equal(mo_grid_create((int32_t[3]){x, y, z}, 0.1, &f.g, NULL), MO_OK);
    mo_grid_want(f.g, (int32_t[3]){0, 0, 0}, f.g->n);
    assert_int_equal(mo_grid_activate(f.g, NULL), MO_OK);
    f.cells = mo_grid_cells(f.g);
    f.phi = mo_alloc(sizeof(float) * (size_t)f.cells), f.out = mo_alloc(sizeof(float) * (size_t)f.cells);
    f.scratch = mo_alloc(2 * sizeof(float) * (size_t)f.cells);
    f.valid = mo_alloc((size_t)f.cells), f.bytes = mo_alloc((size_t)f.cells);
    return f;
}

static void teardown(fixture *f)
{
    mo_free(f->phi), mo_free(f->out), mo_free(f->scratch), mo_free(f->valid), mo_free(f->bytes);
    mo_grid_destroy(f->g);
}

typedef double (*distance_fn)(mo_vec3 x); // of the lattice position, in cells

// Lattice position of a cell centre; the middle of the plane in 2D.
static mo_vec3 centre_of(const fixture *f, int32_t q)
{
    int32_t c[3];
    mo_grid_cell(f->g, q, c);
    return mo_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
}

static bool near_edge(const fixture *f, mo_vec3 x, double width)
{
    for (int a = 0; a < (mo_grid_is_2d(f->g) ? 2 : 3); a++)
        if (mo_get(x, a) < width || mo_get(x, a) > 8 * f->g->tn[a] - width) return true;
    return false;
}

// Functions of the wrong slope in every direction, among them the axes.
static void planes_are_exact(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        fixture f = setup(36, 36, flat ? 1 : 36);
        for (uint32_t shot = 0; shot < 24; shot++) {
            double part[3];
            for (uint32_t a = 0; a < 3; a++)
                part[a] = shot < 6 ? (a == shot / 2) * (shot % 2 ? 1.0 : -1.0) : mo_unit(mo_hash(shot, a, 1)) - 0.5;
            mo_vec3 n = mo_normalize(mo_v3(part[0], part[1], flat ? 0 : part[2]));
            if (mo_norm(n) == 0) continue;
            mo_vec3 middle = mo_v3(20.1 + 0.1 * shot, 20.3, flat ? MO_MARGIN : 19.7);
            for (int32_t q = 0; q < f.cells; q++)
                f.phi[q] = (float)(0.37 * mo_dot(n, mo_sub(centre_of(&f, q), middle)));
            mo_redistance_inside(f.g, f.phi, 3, f.out, f.scratch);
            for (int32_t q = 0; q < f.cells; q++) {
                mo_vec3 x = centre_of(&f, q);
                if (near_edge(&f, x, 8) || (flat && (int)x.z != MO_MARGIN)) continue;
                double d = mo_dot(n, mo_sub(x, middle));
                if (d < 0) assert_true(fabs(f.out[q] - fmax(d, -3)) < 3e-5);
                if (d >= 0) assert_true(fabs(f.out[q] - d) < 3e-5 || f.out[q] == f.phi[q]);
                if (d >= 0 && d < 0.5) assert_true(fabs(f.out[q] - d) < 3e-5);
            }
        }
        teardown(&f);
    }
}

// Largest and mean error of the distance inside, down to depth 3, of a body given in cells.
static void errors(fixture *f, distance_fn distance, double (*distort)(double), double *worst, double *mean)
{
    for (int32_t q = 0; q < f->cells; q++) f->phi[q] = (float)distort(distance(centre_of(f, q)));
    mo_redistance_inside(f->g, f->phi, 3, f->out, f->scratch);
    int count = 0;
    *worst = *mean = 0;
    for (int32_t q = 0; q < f->cells; q++) {
        mo_vec3 x = centre_of(f, q);
        if (mo_grid_is_2d(f->g) && (int)x.z != MO_MARGIN) continue;
        double d = distance(x);
        assert_true((f->out[q] < 0) == (d < 0));
        assert_true(f->out[q] >= -3);
        if (d >= 0) {
            assert_true(f->out[q] >= f->phi[q]);
            continue;
        }
        double e = fabs(f->out[q] - fmax(d, -3));
        *worst = fmax(*worst, e), *mean += e, count++;
    }
    *mean /= count;
}

static double same(double d) { return d; }
static double bent(double d) { return d < 0 ? -0.5 * d * d / (1 - d) + 0.5 * d : 0.5 * d; }
static double radius;
static double sphere(mo_vec3 x) { return mo_norm(mo_sub(x, mo_v3(22.1, 22.3, 21.9))) - radius; }
static double disc(mo_vec3 x) { return hypot(x.x - 22.1, x.y - 22.3) - radius; }
static double box(mo_vec3 x)
{
    double a = fabs(x.x - 22) - radius, b = fabs(x.y - 22) - radius, c = fabs(x.z - 22) - radius;
    double out = mo_norm(mo_v3(fmax(a, 0), fmax(b, 0), fmax(c, 0)));
    return out > 0 ? out : fmax(a, fmax(b, c));
}

// In cells the error is of the order of the curvature: second order in the cell's size.
static void curved_bodies_converge(void **state)
{
    (void)state;
    fixture f = setup(40, 40, 40), flat = setup(40, 40, 1);
    double before[3] = {1, 1, 1};
    for (radius = 4.2; radius < 20; radius *= 2) {
        double worst[3], mean[3];
        errors(&f, sphere, same, &worst[0], &mean[0]);
        errors(&f, sphere, bent, &worst[1], &mean[1]);
        errors(&flat, disc, same, &worst[2], &mean[2]);
        for (int i = 0; i < 3; i++) {
            print_message("%s of %.1f cells: worst %.3f mean %.4f\n",
                          i == 2 ? "disc"
                          : i    ? "bent sphere"
                                 : "sphere",
                          radius, worst[i], mean[i]);
            assert_true(worst[i] < 2 / radius && mean[i] < 0.5 / radius && worst[i] < 0.6 * before[i]);
            before[i] = worst[i];
        }
    }
    teardown(&f);
    teardown(&flat);
}

// Exact under the faces; at edges and corners the zero level is rounded, so the distance is too small, never too large.
static void boxes_are_exact_off_edges(void **state)
{
    (void)state;
    fixture f = setup(40, 40, 40);
    radius = 10.7;
    double worst, mean;
    errors(&f, box, same, &worst, &mean);
    assert_true(worst < 0.5 && mean < 0.05);
    int exact = 0;
    for (int32_t q = 0; q < f.cells; q++) {
        mo_vec3 x = centre_of(&f, q);
        double d = box(x);
        if (d >= 0) continue;
        assert_true(f.out[q] > d - 1e-5 || f.out[q] == -3);
        int flank = 0;
        for (int a = 0; a < 3; a++) flank += fabs(mo_get(x, a) - 22) < radius - 5;
        if (flank < 2) continue;
        assert_true(fabs(f.out[q] - fmax(d, -3)) < 1e-5);
        exact += d > -3;
    }
    assert_true(exact > 1000);
    teardown(&f);
}

// Liquid ends where its tiles do; deep tiles hold -depth; cells far outside keep their value.
static void missing_tiles_are_air(void **state)
{
    (void)state;
    mo_grid *g;
    assert_int_equal(mo_grid_create((int32_t[3]){44, 44, 44}, 0.1, &g, NULL), MO_OK);
    mo_grid_want(g, (int32_t[3]){8, 8, 8}, (int32_t[3]){31, 31, 31});
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(g);
    float *phi = mo_alloc(bytes), *out = mo_alloc(bytes), *scratch = mo_alloc(2 * bytes);
    for (int64_t q = 0; q < mo_grid_cells(g); q++) phi[q] = -1;
    mo_redistance_inside(g, phi, 3, out, scratch);
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3], layer = 100;
        mo_grid_cell(g, q, c);
        for (int a = 0; a < 3; a++) {
            layer = c[a] - 8 < layer ? c[a] - 8 : layer;
            layer = 31 - c[a] < layer ? 31 - c[a] : layer;
        }
        // Half a cell beyond the last centre; rounded off at the edges.
        assert_true(out[q] >= fmaxf(-3, -0.5f - (float)layer) - 1e-6f && out[q] < 0);
        if (layer >= 5) assert_true(out[q] == -3);
    }
    int32_t face = mo_grid_index(g, 9, 20, 20);
    assert_true(fabsf(out[face] + 1.5f) < 1e-6f);
    for (int64_t q = 0; q < mo_grid_cells(g); q++) phi[q] = 5;
    mo_redistance_inside(g, phi, 3, out, scratch);
    assert_memory_equal(out, phi, bytes);
    mo_free(phi), mo_free(out), mo_free(scratch);
    mo_grid_destroy(g);
}

// What mo_extrapolate promises, in the plainest form.
static void reference(const mo_grid *g, float *face, uint8_t *valid, int32_t layers)
{
    size_t n = (size_t)mo_grid_cells(g);
    float *value = malloc(sizeof(float) * n);
    uint8_t *now = malloc(n);
    bool flat = mo_grid_is_2d(g);
    for (int32_t l = 0; l < layers; l++) {
        memcpy(value, face, sizeof(float) * n), memcpy(now, valid, n);
        for (int32_t q = 0; q < (int32_t)n; q++) {
            int32_t c[3], count = 0;
            mo_grid_cell(g, q, c);
            double sum = 0;
            if (valid[q] || (flat && c[2] != MO_MARGIN)) continue;
            for (int o = 0; o < (flat ? 4 : 6); o++) {
                int32_t d[3] = {c[0], c[1], c[2]};
                d[o / 2] += o & 1 ? 1 : -1;
                int32_t p = mo_grid_index(g, d[0], d[1], d[2]);
                if (p >= 0 && valid[p] == 1) sum += face[p], count++;
            }
            if (count) value[q] = (float)(sum / count), now[q] = 1;
        }
        memcpy(face, value, sizeof(float) * n), memcpy(valid, now, n);
    }
    free(value), free(now);
}

// Tiles in and out at random, a few sources, some fixed faces.
static void extrapolation_matches_the_reference(void **state)
{
    (void)state;
    for (uint32_t trial = 0; trial < 12; trial++) {
        bool flat = trial % 3 == 2;
        mo_grid *g;
        assert_int_equal(mo_grid_create((int32_t[3]){28, 36, flat ? 1 : 20}, 1, &g, NULL), MO_OK);
        for (int32_t t = 0; t < g->tn[0] * g->tn[1] * g->tn[2]; t++)
            g->wanted[t] = mo_hash(trial, (uint32_t)t, 1) % 3 > 0;
        assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
        size_t n = (size_t)mo_grid_cells(g);
        float *face = malloc(sizeof(float) * n), *want = malloc(sizeof(float) * n),
              *scratch = malloc(sizeof(float) * n);
        uint8_t *valid = malloc(n), *want_valid = malloc(n), *bytes = malloc(n);
        for (size_t q = 0; q < n; q++) {
            uint32_t h = mo_hash((uint32_t)q, trial, 2) % 100;
            want_valid[q] = valid[q] = h < 4 ? 1 : h < 20 ? 2 : 0;
            want[q] = face[q] = (float)mo_unit(mo_hash((uint32_t)q, trial, 3));
        }
        reference(g, want, want_valid, 3);
        mo_extrapolate(g, 0, face, valid, 3, 0, scratch, bytes);
        assert_memory_equal(valid, want_valid, n);
        assert_memory_equal(face, want, sizeof(float) * n);
        free(face), free(want), free(scratch), free(valid), free(want_valid), free(bytes);
        mo_grid_destroy(g);
    }
}

// Beyond a flat boundary values go on unchanged along the normal, for exactly as many layers as asked.
static void extrapolation_continues_linear_fields(void **state)
{
    (void)state;
    fixture f = setup(28, 28, 28);
    for (int32_t q = 0; q < f.cells; q++) {
        mo_vec3 x = centre_of(&f, q);
        f.valid[q] = x.y < 11, f.phi[q] = f.valid[q] ? (float)(2 * x.x - x.z + 0.25 * x.y) : -99;
    }
    mo_extrapolate(f.g, 0, f.phi, f.valid, 5, 0, f.scratch, f.bytes);
    for (int32_t q = 0; q < f.cells; q++) {
        mo_vec3 x = centre_of(&f, q);
        assert_int_equal(f.valid[q], x.y < 16);
        assert_true(f.phi[q] == (x.y < 16 ? (float)(2 * x.x - x.z + 0.25 * fmin(x.y, 10.5)) : -99));
    }
    // A constant stays one wherever it is reached from.
    for (int32_t q = 0; q < f.cells; q++) {
        f.valid[q] = mo_hash((uint32_t)q, 5, 5) % 20 == 0;
        f.phi[q] = f.valid[q] ? 0.1f : -99;
    }
    mo_extrapolate(f.g, 0, f.phi, f.valid, 4, 0, f.scratch, f.bytes);
    for (int32_t q = 0; q < f.cells; q++) assert_true(f.phi[q] == (f.valid[q] ? 0.1f : -99));
    teardown(&f);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    fixture f = setup(60, 44, 44);
    size_t n = (size_t)f.cells;
    float *one = malloc(sizeof(float) * n), *face = malloc(sizeof(float) * n), *first = malloc(sizeof(float) * n);
    for (int32_t q = 0; q < f.cells; q++) {
        mo_vec3 x = centre_of(&f, q);
        f.phi[q] =
            (float)(sin(0.3 * x.x) + cos(0.4 * x.y) * sin(0.23 * x.z) + 0.2 * mo_unit(mo_hash((uint32_t)q, 1, 1)));
    }
    for (int threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_redistance_inside(f.g, f.phi, 3, f.out, f.scratch);
        for (size_t q = 0; q < n; q++) face[q] = f.phi[q], f.valid[q] = f.phi[q] < -1;
        mo_extrapolate(f.g, 0, face, f.valid, 5, 0, f.scratch, f.bytes);
        if (threads == 1) memcpy(one, f.out, sizeof(float) * n), memcpy(first, face, sizeof(float) * n);
        assert_memory_equal(one, f.out, sizeof(float) * n);
        assert_memory_equal(first, face, sizeof(float) * n);
    }
    mo_use_threads(0);
    free(one), free(face), free(first);
    teardown(&f);
}

// A linear field goes on exactly in the linear layers; a kink gives no slope.
static void extrapolation_continues_lines(void **state)
{
    (void)state;
    mo_grid *g;
    int32_t cells[3] = {28, 28, 28}, lo[3] = {0, 0, 0}, hi[3] = {31, 31, 31};
    assert_int_equal(mo_grid_create(cells, 1, &g, NULL), MO_OK);
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    size_t n = (size_t)mo_grid_cells(g);
    float *face = calloc(n, sizeof *face), *scratch = calloc(n, sizeof *scratch);
    uint8_t *valid = calloc(n, 1), *bytes = calloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        int32_t c[3];
        mo_grid_cell(g, (int32_t)i, c);
        double r = hypot(hypot(c[0] - 15.5, c[1] - 14.5), c[2] - 16);
        valid[i] = r < 8;
        if (valid[i]) face[i] = (float)(1 + 0.25 * c[0] - 0.5 * c[1] + 2 * c[2]);
    }
    mo_extrapolate(g, 0, face, valid, 2, 2, scratch, bytes);
    for (size_t i = 0; i < n; i++) {
        int32_t c[3];
        mo_grid_cell(g, (int32_t)i, c);
        if (valid[i]) assert_true(fabs(face[i] - (1 + 0.25 * c[0] - 0.5 * c[1] + 2 * c[2])) < 1e-4);
    }
    // One row: 0 1 2 | 2 + slope; and 0 2 1, where the slopes disagree.
    memset(valid, 0, n);
    for (int32_t k = 0; k < 2; k++)
        for (int32_t i = 0; i < 3; i++) {
            int32_t q = mo_grid_index(g, 4 + i, 4 + 6 * k, 4);
            if (q < 0) fail();
            valid[q] = 1;
            face[q] = (float)(k ? (i == 1 ? 2 : i / 2) : i);
        }
    mo_extrapolate(g, 0, face, valid, 1, 1, scratch, bytes);
    assert_true(face[mo_grid_index(g, 7, 4, 4)] == 3);
    assert_true(face[mo_grid_index(g, 7, 10, 4)] == 1);
    free(face), free(scratch), free(valid), free(bytes);
    mo_grid_destroy(g);
}

// A limb of two faces has no lines. With what its faces had before it goes on turning, whatever its sources gained.
static void extrapolation_continues_changes(void **state)
{
    (void)state;
    mo_grid *g;
    int32_t cells[3] = {28, 28, 28}, lo[3] = {0, 0, 0}, hi[3] = {31, 31, 31};
    assert_int_equal(mo_grid_create(cells, 1, &g, NULL), MO_OK);
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    size_t n = (size_t)mo_grid_cells(g);
    float *field = calloc(4 * n, sizeof *field), *face = field, *scratch = field + n, *u = field + 2 * n,
          *mass = field + 3 * n;
    uint8_t *valid = calloc(2 * n, 1), *bytes = valid + n;
    for (size_t i = 0; i < n; i++) {
        int32_t c[3];
        mo_grid_cell(g, (int32_t)i, c);
        bool limb = c[1] >= 12 && c[1] < 14 && c[2] >= 12 && c[2] < 14, round = c[1] >= 11 && c[1] < 15;
        u[i] = (float)(0.25 * c[1] - 0.5 * c[2]), mass[i] = limb || (round && c[2] >= 11 && c[2] < 15) ? 1 : 0;
        valid[i] = limb, face[i] = limb ? u[i] + 3 : 0;
    }
    mo_faces_before before = {u, mass};
    mo_extrapolate_change(g, 0, face, valid, 2, 2, &before, scratch, bytes);
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        if (mass[i] > 0 && valid[i]) assert_true(fabs(face[i] - (u[i] + 3)) < 1e-5), count++;
    }
    assert_int_equal(count, 32 * 16);
    // Where there is no mass a face of the first layer is a constant.
    memset(mass, 0, n * sizeof *mass);
    int32_t source = mo_grid_index(g, 9, 12, 12), beside = mo_grid_index(g, 9, 11, 12);
    if (source < 0 || beside < 0) fail();
    memset(valid, 0, n);
    valid[source] = 1;
    mo_extrapolate_change(g, 0, face, valid, 1, 1, &before, scratch, bytes);
    assert_true(face[beside] == face[source]);
    free(field), free(valid);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extrapolation_continues_changes),
        cmocka_unit_test(extrapolation_continues_lines),
        cmocka_unit_test(planes_are_exact),
        cmocka_unit_test(curved_bodies_converge),
        cmocka_unit_test(boxes_are_exact_off_edges),
        cmocka_unit_test(missing_tiles_are_air),
        cmocka_unit_test(extrapolation_matches_the_reference),
        cmocka_unit_test(extrapolation_continues_linear_fields),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
