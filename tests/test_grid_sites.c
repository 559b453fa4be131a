// Sites: the table answers as the lattice where no sheet is, and keeps the two sides of a sheet apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "grid/extrapolate.h"
#include "grid/redistance.h"
#include "sites_test.h"
#include <math.h>

static void check_as_lattice(const mo_grid *g)
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        int count = mo_row_samples(g, i, six, &list), expected = 0;
        for (int a = 0; a < 3; a++) {
            assert_int_equal(mo_sample_low(g, a, i), mo_grid_step(g, i, a, -1));
            assert_int_equal(mo_sample_high(g, a, i), i);
            for (int side = -1; side <= 1; side += 2) {
                int32_t n = mo_grid_step(g, i, a, side);
                for (int kind = 0; kind <= MO_SITE_ROW; kind++) assert_int_equal(mo_site_step(g, kind, i, a, side), n);
                if (side > 0 && n < 0) continue;
                assert_true(expected < count);
                assert_int_equal(list[expected].sample, side < 0 ? i : n);
                assert_int_equal(list[expected].axis, a);
                assert_int_equal(list[expected++].side, side > 0);
            }
        }
        assert_int_equal(count, expected);
    }
}

// Without sites, and with a table that says in its own way what the lattice says.
static void whole_faces_are_as_the_lattice(void **state)
{
    (void)state;
    mo_grid *g = whole_grid(20, 13, 17, 0.1);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, (int32_t[3]){9, 9, 30}); // some tiles only
    mo_grid_want(g, (int32_t[3]){10, 2, 2}, (int32_t[3]){20, 4, 12});
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    check_as_lattice(g);
    mo_sample said[3];
    int32_t count = 0, middle = mo_grid_index(g, 7, 7, 8);
    for (int32_t a = 0; a < 3; a++) said[count++] = mo_sample_plain(g, middle, a);
    assert_int_equal(mo_sites_create(g, &(mo_sites_def){.samples = count, .sample = said}, NULL), MO_OK);
    assert_true(g->sites && g->sites->cuts >= 8);
    check_as_lattice(g);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, g->n);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    assert_null(g->sites);
    mo_grid_destroy(g);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    mo_grid *g = whole_grid(8, 8, 8, 0.1);
    int32_t i = mo_grid_index(g, 5, 5, 5), far = mo_grid_index(g, 8, 8, 8), sides[2] = {far, i};
    mo_error err;
    assert_int_equal(mo_sites_create(g, &(mo_sites_def){.sides = 2, .side = sides}, &err), MO_ERROR_INPUT);
    mo_sample s = {i, 0, far, i, 1, {0.5, 0.5}};
    assert_int_equal(mo_sites_create(g, &(mo_sites_def){.samples = 1, .sample = &s}, &err), MO_ERROR_INPUT);
    s = (mo_sample){i, 0,         mo_grid_step(g, i, 0, -1), (int32_t)mo_grid_cells(g),
                    1, {0.5, 0.5}}; // a side that is not there
    assert_int_equal(mo_sites_create(g, &(mo_sites_def){.samples = 1, .sample = &s}, &err), MO_ERROR_INPUT);
    assert_null(g->sites);
    mo_grid_destroy(g);
}

static bool square_hole(int32_t y, int32_t z) { return y >= 7 && y <= 9 && (z >= 5 && z <= 11); }

// On which side of the sheet a row lies: -1 low, +1 high, 0 in the hole.
static int side_of(const mo_grid *g, const sheet *w, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    if (c[0] != w->at) return c[0] < w->at ? -1 : 1;
    return row >= mo_grid_cells(g) ? 1 : sheet_divides(w, c) ? -1 : 0;
}

// Every step goes back, samples join rows of one side, lists and samples agree.
static void a_sheet_keeps_its_sides_apart(void **state)
{
    (void)state;
    for (int hole = 0; hole < 2; hole++) {
        mo_grid *g = whole_grid(18, 12, 12, 0.1);
        sheet w = {.at = 9, .hole = hole ? square_hole : NULL};
        assert_int_equal(sheet_create(g, &w), MO_OK);
        int32_t cells = (int32_t)mo_grid_cells(g), crossings = 0;
        for (int32_t row = 0; row < cells + g->sites->rows; row++) {
            mo_row_sample six[6];
            const mo_row_sample *list;
            for (int k = 0, count = mo_row_samples(g, row, six, &list); k < count; k++) {
                int32_t s = list[k].sample, low = mo_sample_low(g, list[k].axis, s),
                        high = mo_sample_high(g, list[k].axis, s);
                assert_int_equal(list[k].side ? low : high, row);
                if (low >= 0) assert_true(side_of(g, &w, low) * side_of(g, &w, high) >= 0);
            }
            for (int a = 0; a < 3; a++)
                for (int side = -1; side <= 1; side += 2) {
                    int32_t n = mo_site_step(g, MO_SITE_ROW, row, a, side);
                    if (n < 0) continue;
                    assert_true(side_of(g, &w, row) * side_of(g, &w, n) >= 0);
                    crossings += side_of(g, &w, row) != side_of(g, &w, n);
                    int32_t back = mo_site_step(g, MO_SITE_ROW, n, a, -side);
                    assert_true(back == row || side_of(g, &w, n) == 0); // the hole's border sees one of two
                }
        }
        assert_true(hole ? crossings > 0 : crossings == 0);
        sheet_destroy(&w);
        mo_grid_destroy(g);
    }
}

// ---- Stages ----

// A field that is 1 on one side of the sheet and 3 on the other stays so when it is continued.
static void extrapolation_does_not_cross(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        mo_grid *g = whole_grid(18, 12, flat ? 1 : 12, 0.1);
        sheet w = {.at = 9};
        assert_int_equal(sheet_create(g, &w), MO_OK);
        size_t fields = (size_t)mo_grid_fields(g);
        float *face = malloc(sizeof(float) * fields), *scratch = malloc(sizeof(float) * fields);
        uint8_t *valid = malloc(fields), *bytes = malloc(fields);
        for (int kind = 0; kind <= MO_SITE_ROW; kind++) {
            if (flat && kind == 2) continue;
            memset(valid, 0, fields);
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
                int32_t c[3];
                mo_grid_cell(g, i, c);
                face[i] = -1;
                if (flat && c[2] != MO_MARGIN) continue;
                if (c[0] == 6) face[i] = 1, valid[i] = 1;
                if (c[0] == 13) face[i] = 3, valid[i] = 1;
            }
            for (size_t i = (size_t)mo_grid_cells(g); i < fields; i++) face[i] = -1;
            mo_extrapolate(g, kind, face, valid, 9, 2, scratch, bytes);
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
                int32_t c[3];
                mo_grid_cell(g, i, c);
                if ((flat && c[2] != MO_MARGIN) || c[0] < 2 || c[0] > 16) continue;
                assert_true(face[i] == (c[0] <= 9 ? 1 : 3));
            }
            int32_t more = kind == MO_SITE_ROW ? g->sites->rows : g->sites->samples;
            for (int32_t k = 0; k < more; k++) {
                int32_t i = (int32_t)mo_grid_cells(g) + k;
                if (kind == MO_SITE_ROW || g->sites->sample[k].axis == kind) assert_true(face[i] == 3 && valid[i]);
            }
        }
        free(face), free(scratch), free(valid), free(bytes);
        sheet_destroy(&w);
        mo_grid_destroy(g);
    }
}

// Liquid of another height on each side: distances are those to the own side's surface.
static void distances_do_not_cross(void **state)
{
    (void)state;
    mo_grid *g = whole_grid(20, 20, 20, 0.1);
    sheet w = {.at = 11};
    assert_int_equal(sheet_create(g, &w), MO_OK);
    size_t fields = (size_t)mo_grid_fields(g);
    float *phi = malloc(sizeof(float) * 4 * fields), *out = phi + fields, *scratch = out + fields;
    uint8_t *bytes = malloc(2 * fields);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t row = 0; row < (int32_t)mo_grid_cells(g) + g->sites->rows; row++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, row), c);
            phi[row] = (float)(c[1] + 0.5 - (side_of(g, &w, row) < 0 ? 14.25 : 7.75));
        }
        if (pass)
            mo_redistance_both(g, phi, 4, out, scratch, bytes);
        else
            mo_redistance_inside(g, phi, 3, out, scratch);
        float band = pass ? 4 : 3;
        for (int32_t row = 0; row < (int32_t)mo_grid_cells(g) + g->sites->rows; row++) {
            int32_t c[3];
            mo_grid_cell(g, mo_site_cell(g, row), c);
            bool end = false; // beyond the lattice all is outside
            for (int a = 0; a < 3; a++) end |= c[a] < 6 || c[a] >= g->n[a] - 6;
            if (end && !pass) continue;
            float exact = phi[row] < -band ? -band : pass && phi[row] > band ? band : phi[row];
            assert_true(fabsf(out[row] - exact) < 1e-5f);
        }
    }
    free(phi), free(bytes);
    sheet_destroy(&w);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_faces_are_as_the_lattice), cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(a_sheet_keeps_its_sides_apart),  cmocka_unit_test(extrapolation_does_not_cross),
        cmocka_unit_test(distances_do_not_cross),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
