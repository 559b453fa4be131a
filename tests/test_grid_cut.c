// Cut cells: rows close, linear fields are exact, volumes are whole, nothing passes through sheets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cut_oracles.h"
#include "ration.h"

static void rows_are_exact(void **state)
{
    (void)state;
    check_exactness(90);
}
static void sides_are_what_a_flood_finds(void **state)
{
    (void)state;
    check_floods(45);
}
static void closed_sheets_are_tight(void **state)
{
    (void)state;
    check_tightness(30);
}

// ---- Solids ----

static double above(const void *user, const double x[3]) { return x[1] - *(const double *)user; }

static double gap_area(mo_grid *g, double level)
{
    double area = 0;
    mo_cut_cover_gaps(g, above, &level);
    for (int32_t k = 0; k < g->sites->gaps; k++) area += g->sites->gap[k].area;
    return area;
}

// An upright plate ends at y = 6.6 (lattice coordinates), in the middle of cells; a floor rises to it. The gap below it
// is as wide as the floor leaves it, at every level, and closed where it touches; it opens again where the floor sinks.
static void floors_close_gaps(void **state)
{
    (void)state;
    mo_sheet s;
    assert_int_equal(mo_sheet_plate(4, 24, 1, &s, NULL), MO_OK);
    mo_sheet_rotate(&s, mo_v3(0, 0, 1), M_PI / 2);
    mo_sheet_move(&s, mo_v3(6.3, 2 + 6.6 - MO_MARGIN, 6));
    mo_grid *g = whole_grid(12, 12, 12, 1);
    assert_int_equal(mo_cut(g, &s, NULL, NULL), MO_OK);
    double whole = gap_area(g, 1), upper = gap_area(g, 6.7), wide = 0.6; // upper: of the plate's other end
    assert_true(whole - upper > 10 * wide);
    for (double level = 6; level < 6.55; level += 0.1)
        assert_true(fabs((gap_area(g, level) - upper) / (whole - upper) - (6.6 - level) / wide) < 1e-9);
    assert_true(gap_area(g, 6.5995) == upper);
    assert_true(fabs(gap_area(g, 5) - whole) < 1e-12);
    mo_grid_destroy(g);
    mo_sheet_destroy(&s);
}

// ---- Threads, memory, planes ----

static void threads_change_no_bit(void **state)
{
    (void)state;
    dice d = {31, 0};
    mo_sheet s;
    assert_int_equal(random_sheet(SORT_HELIX, &d, 20, &s), MO_OK);
    mo_grid *g[2];
    for (int k = 0; k < 2; k++) {
        g[k] = whole_grid(20, 20, 20, 1);
        mo_use_threads(k ? 5 : 1);
        assert_int_equal(mo_cut(g[k], &s, NULL, NULL), MO_OK);
    }
    mo_use_threads(0);
    const mo_sites *a = g[0]->sites, *b = g[1]->sites;
    int64_t rows = (int64_t)a->cuts * MO_TILE_CELLS + a->rows;
    assert_true(a->rows == b->rows && a->samples == b->samples && a->gaps == b->gaps && a->rows > 100 && a->gaps > 10);
    assert_memory_equal(a->sample, b->sample, sizeof *a->sample * (size_t)a->samples);
    assert_memory_equal(a->face, b->face, sizeof *a->face * (size_t)a->cuts);
    assert_memory_equal(a->volume, b->volume, sizeof(double) * (size_t)rows);
    assert_memory_equal(a->wall, b->wall, sizeof *a->wall * (size_t)a->first_wall[rows]);
    assert_memory_equal(a->gap, b->gap, sizeof *a->gap * (size_t)a->gaps);
    mo_grid_destroy(g[0]), mo_grid_destroy(g[1]);
    mo_sheet_destroy(&s);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    dice d = {7, 0};
    mo_sheet s;
    assert_int_equal(random_sheet(SORT_PLATE, &d, 8, &s), MO_OK);
    mo_use_threads(1);
    int64_t fails = 0;
    for (mo_status status = MO_ERROR_MEMORY; status != MO_OK; fails++) {
        ration r = {.fail_at = fails + 1};
        mo_set_allocator(rationed, &r);
        mo_grid *g = whole_grid(8, 8, 8, 1);
        mo_error err;
        if (g) status = mo_cut(g, &s, NULL, &err);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        mo_grid_destroy(g);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(r.live, 0);
    }
    assert_true(fails > 20);
    mo_use_threads(0);
    mo_sheet_destroy(&s);
}

// A curve in two dimensions: a half circle, open above. Linear fields without z are exact.
static void curves_cut_the_plane(void **state)
{
    (void)state;
    double point[17][2];
    for (int k = 0; k < 17; k++)
        point[k][0] = 10.2 + 6 * cos(M_PI * k / 16), point[k][1] = 11.3 - 6 * sin(M_PI * k / 16);
    mo_sheet s;
    mo_cut_info info;
    mo_grid *g = whole_grid(20, 20, 1, 1);
    assert_int_equal(mo_sheet_curve(17, (const double(*)[2])point, 1, 2, &s, NULL), MO_OK);
    assert_int_equal(mo_cut(g, &s, &info, NULL), MO_OK);
    assert_true(info.gaps >= 2 && info.tangled + info.closed + info.pockets == 0);
    linear l = {{0.3, -0.7, 0}, {{0.02, 0.1, 0}, {-0.06, 0.05, 0}, {0, 0, 0}}};
    double most = 0;
    for (int32_t k = 0; k < g->sites->finder->cells; k++)
        most = fmax(most, fabs(row_error(g, g->sites->finder->cell[k], &l)));
    for (int32_t k = 0; k < info.sides; k++) most = fmax(most, fabs(row_error(g, (int32_t)mo_grid_cells(g) + k, &l)));
    print_message("%d cells, %d gaps: %.1e\n", info.cells, info.gaps, most);
    assert_true(most < 1e-12);
    mo_sheet_destroy(&s);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_exact),          cmocka_unit_test(sides_are_what_a_flood_finds),
        cmocka_unit_test(closed_sheets_are_tight), cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(memory_may_run_out),      cmocka_unit_test(curves_cut_the_plane),
        cmocka_unit_test(floors_close_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
