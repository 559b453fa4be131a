// What rows reach: a sheet hides what is behind it, linear fields go on through it, each side sees its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/sheet.h"
#include "grid/cut.h"
#include "grid/reach.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mo_grid *whole_grid(int32_t cells, int32_t layers)
{
    mo_grid *g;
    mo_error err;
    assert_int_equal(mo_grid_create((int32_t[3]){cells, cells, layers}, 1.0, &g, &err), MO_OK);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, g->n);
    assert_int_equal(mo_grid_activate(g, &err), MO_OK);
    return g;
}

// A plate through (x, y, z) that divides the whole lattice, turned about two axes.
static void divide(mo_grid *g, double height, double about_x, double about_z)
{
    mo_sheet plate;
    mo_error err;
    assert_int_equal(mo_sheet_plate(60, 60, 1, &plate, &err), MO_OK);
    mo_sheet_rotate(&plate, mo_v3(1, 0, 0), about_x);
    mo_sheet_rotate(&plate, mo_v3(0, 0, 1), about_z);
    mo_sheet_move(&plate, mo_v3(6.1, height, 6.2));
    assert_int_equal(mo_cut(g, &plate, NULL, &err), MO_OK);
    assert_int_equal(mo_reach_create(g, &err), MO_OK);
    mo_sheet_destroy(&plate);
}

// Pieces of rows joined by open samples.
static void flood(const mo_grid *g, int32_t *piece, int32_t rows)
{
    int32_t *stack = malloc(sizeof(int32_t) * (size_t)rows), number = 0;
    memset(piece, 0xff, sizeof(int32_t) * (size_t)rows);
    for (int32_t seed = 0; seed < rows; seed++) {
        if (piece[seed] >= 0) continue;
        int32_t size = 0;
        stack[size++] = seed, piece[seed] = number;
        while (size) {
            mo_row_sample six[6];
            const mo_row_sample *list;
            int32_t r = stack[--size];
            for (int k = 0, n = mo_row_samples(g, r, six, &list); k < n; k++) {
                int32_t to = list[k].side ? mo_sample_high(g, list[k].axis, list[k].sample)
                                          : mo_sample_low(g, list[k].axis, list[k].sample);
                if (to >= 0 && piece[to] < 0) piece[to] = number, stack[size++] = to;
            }
        }
        number++;
    }
    free(stack);
}

static void a_dividing_plate_hides_the_other_side(void **state)
{
    (void)state;
    static const double angle[4][2] = {{0, 0}, {0.3, 0}, {0.2, 0.7}, {1.1, 0.4}};
    mo_grid *g = whole_grid(12, 12);
    for (int v = 0; v < 4; v++) {
        divide(g, 5.83, angle[v][0], angle[v][1]);
        int32_t rows = (int32_t)mo_grid_cells(g) + g->sites->rows, *piece = malloc(sizeof(int32_t) * (size_t)rows);
        flood(g, piece, rows);
        const mo_reach *r = mo_reach_of(g);
        assert_true(r->count > 500);
        int64_t reached = 0, hidden = 0;
        for (int32_t k = 0; k < r->count; k++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, r->row[k]), c);
            assert_int_equal(r->around[k][MO_REACH_CELLS / 2], r->row[k]);
            for (int i = 0; i < MO_REACH_CELLS; i++) {
                int32_t n = r->around[k][i], d[3];
                hidden += n < 0, reached += n >= 0;
                if (n < 0) continue;
                mo_grid_cell(g, mo_site_cell(g, n), d);
                assert_int_equal(d[0] - c[0], i % 5 - 2);
                assert_int_equal(d[1] - c[1], i / 5 % 5 - 2);
                assert_int_equal(d[2] - c[2], i / 25 - 2);
                assert_int_equal(piece[n], piece[r->row[k]]);
            }
        }
        assert_true(hidden > reached / 20 && reached > hidden);
        free(piece);
    }
    mo_grid_destroy(g);
}

// The distance by looking at all cells.
static void distances_are_those_of_all_cells(void **state)
{
    (void)state;
    mo_grid *g = whole_grid(12, 12);
    divide(g, 5.83, 0.2, 0.7);
    const mo_reach *r = mo_reach_of(g);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i += 7) {
        int32_t c[3], least = MO_REACH_MOST + 1;
        mo_grid_cell(g, i, c);
        for (int32_t n = 0; n < (int32_t)mo_grid_cells(g); n++) {
            int32_t d[3], most = 0;
            if (r->distance[n] != 0) continue;
            mo_grid_cell(g, n, d);
            for (int a = 0; a < 3; a++) most = abs(d[a] - c[a]) > most ? abs(d[a] - c[a]) : most;
            least = most < least ? most : least;
        }
        assert_int_equal(r->distance[i], least);
    }
    mo_grid_destroy(g);
}

static double linear(const double x[3], int32_t piece)
{
    return piece ? 3 + 0.3 * x[0] - 0.2 * x[1] + 0.4 * x[2] : -7 - 0.1 * x[0] + 0.6 * x[1] + 0.2 * x[2];
}

// Each side has a linear field of its own, which goes on behind the sheet.
static void linear_fields_go_on(void **state)
{
    (void)state;
    static const double angle[3][2] = {{0, 0}, {0.3, 0}, {0.2, 0.7}};
    mo_grid *g = whole_grid(12, 12);
    for (int v = 0; v < 3; v++) {
        divide(g, 5.83, angle[v][0], angle[v][1]);
        int32_t rows = (int32_t)mo_grid_cells(g) + g->sites->rows, *piece = malloc(sizeof(int32_t) * (size_t)rows);
        float *field = malloc(sizeof(float) * (size_t)mo_grid_fields(g)), block[MO_REACH_CELLS];
        flood(g, piece, rows);
        for (int32_t i = 0; i < rows; i++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, i), c);
            field[i] = (float)linear((double[3]){c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, piece[i]);
        }
        const mo_reach *r = mo_reach_of(g);
        double worst = 0;
        for (int32_t k = 0; k < r->count; k++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, r->row[k]), c);
            bool inner = true;
            for (int a = 0; a < 3; a++) inner &= c[a] >= 3 && c[a] < g->n[a] - 3;
            mo_reach_values(field, r->around[k], 2, 1, block);
            for (int i = 0; i < MO_REACH_CELLS && inner; i++) {
                double x[3] = {c[0] + i % 5 - 1.5, c[1] + i / 5 % 5 - 1.5, c[2] + i / 25 - 1.5};
                worst = fmax(worst, fabs(block[i] - linear(x, piece[r->row[k]])));
            }
        }
        print_message("values: %.2g\n", worst);
        assert_true(worst < 2e-5);
        free(piece), free(field);
    }
    mo_grid_destroy(g);
}

// The same for faces: their samples lie at the centroids of pieces, the block at centres of faces.
static void linear_velocities_go_on(void **state)
{
    (void)state;
    static const double angle[3][2] = {{0, 0}, {0.3, 0}, {0.2, 0.7}};
    static const double most[3] = {2e-5, 0.1, 0.5}, mean[3] = {1e-6, 1e-3, 4e-3}; // slopes are some 0.5 per cell
    mo_grid *g = whole_grid(12, 12);
    for (int v = 0; v < 3; v++) {
        divide(g, 5.83, angle[v][0], angle[v][1]);
        int32_t rows = (int32_t)mo_grid_cells(g) + g->sites->rows, *piece = malloc(sizeof(int32_t) * (size_t)rows);
        float *field = calloc((size_t)mo_grid_fields(g), sizeof(float)), block[MO_REACH_CELLS];
        flood(g, piece, rows);
        double worst = 0, sum = 0, count = 0;
        for (int axis = 0; axis < 3; axis++) {
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g) + g->sites->samples; i++) {
                if (i >= mo_grid_cells(g) && mo_sites_sample(g, axis, i).axis != axis) continue;
                double x[3];
                int32_t row = mo_sample_high(g, axis, i);
                if (row < 0) row = mo_sample_low(g, axis, i);
                if (row < 0) continue;
                mo_sample_place(g, axis, i, x);
                field[i] = (float)linear(x, piece[row]);
            }
            const mo_reach *r = mo_reach_of(g);
            for (int32_t k = 0; k < r->count; k++) {
                int32_t c[3];
                mo_grid_cell(g, mo_site_cell(g, r->row[k]), c);
                bool inner = true;
                for (int a = 0; a < 3; a++) inner &= c[a] >= 4 && c[a] < g->n[a] - 4;
                mo_reach_faces(g, field, axis, r->around[k], 2, block);
                for (int i = 0; i < MO_REACH_CELLS && inner; i++) {
                    double x[3] = {c[0] + i % 5 - 1.5, c[1] + i / 5 % 5 - 1.5, c[2] + i / 25 - 1.5};
                    x[axis] -= 0.5;
                    double e = fabs(block[i] - linear(x, piece[r->row[k]]));
                    bool close = abs(i % 5 - 2) < 2 && abs(i / 5 % 5 - 2) < 2 && abs(i / 25 - 2) < 2;
                    if (close) worst = fmax(worst, e), sum += e, count++;
                }
            }
        }
        print_message("faces: %.2g mean %.2g\n", worst, sum / count);
        assert_true(worst < most[v] && sum / count < mean[v]);
        free(piece), free(field);
    }
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dividing_plate_hides_the_other_side),
        cmocka_unit_test(distances_are_those_of_all_cells),
        cmocka_unit_test(linear_fields_go_on),
        cmocka_unit_test(linear_velocities_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
