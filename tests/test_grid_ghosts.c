// Ghosts of whole cells beside sheets (grid/ghosts.h): which samples and rows there are, and what they join.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/union_find.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mo_error err;

static mo_grid *make_grid(int32_t n, int32_t deep, const mo_sheet *sheet, mo_cut_info *info)
{
    mo_grid *g;
    const int32_t cells[3] = {n, n, deep}, lo[3] = {0, 0, 0};
    assert_int_equal(mo_grid_create(cells, 1.0 / n, &g, &err), MO_OK);
    const int32_t hi[3] = {g->n[0] - 1, g->n[1] - 1, g->n[2] - 1};
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, &err), MO_OK);
    if (mo_ghosts_cut(g, sheet, info, &err) != MO_OK) fail_msg("%s", err.text);
    return g;
}

static void plate(double size, double angle, double tilt, mo_vec3 at, mo_sheet *s)
{
    assert_int_equal(mo_sheet_plate(size, size, 0.07, s, &err), MO_OK);
    mo_sheet_rotate(s, mo_v3(0, 0, 1), angle);
    mo_sheet_rotate(s, mo_v3(1, 0, 0), tilt);
    mo_sheet_move(s, at);
}

// Samples know what they are, and the sheet beside a side has weights that sum to 1.
static void check_sides(const mo_grid *g)
{
    const mo_ghosts *s = mo_ghosts_of(g);
    for (int32_t k = 0; k < s->sides; k++) {
        const mo_ghost_side *q = &s->side[k];
        mo_ghost_term term[MO_GHOST_TERMS];
        const double v[3] = {0.3, -1.2, 0.7};
        double sum[3] = {0}, along = 0, sheet = 0, goal = 0;
        assert_int_equal(mo_ghost_owner(g, q->axis, q->own), q->cell);
        assert_int_equal(mo_ghost_owner(g, q->axis, q->beside), -1);
        assert_int_equal(mo_ghost_face(g, q->cell, q->axis, q->side), q->own);
        assert_int_equal(mo_site_cell(g, q->ghost), q->other);
        int32_t low = mo_sample_low(g, q->axis, q->beside), high = mo_sample_high(g, q->axis, q->beside);
        assert_int_equal(q->side ? low : high, q->cell), assert_int_equal(q->side ? high : low, q->ghost);
        assert_int_equal(mo_site_step(g, MO_SITE_ROW, q->cell, q->axis, q->side ? 1 : -1), -1);
        for (int32_t i = s->first_wall[k]; i < s->first_wall[k + 1]; i++) {
            const mo_site_wall *w = &s->wall[i];
            assert_true(fabs(w->weight[0] + w->weight[1] + w->weight[2] - 1) < 1e-9);
            for (int a = 0; a < 3; a++) sum[a] += w->vector[a], sheet += w->vector[a] * v[a];
        }
        for (int a = 0; a < 3; a++) assert_true(fabs(sum[a] - q->normal[a]) < 1e-9), goal += q->normal[a] * v[a];
        for (int i = 0, n = mo_ghost_terms(g, q, q->normal, term); i < n; i++)
            along += term[i].weight * v[term[i].axis];
        assert_true(fabs(along - goal) < 1e-12 && fabs(sheet - goal) < 1e-9); // even flow, even motion
    }
}

// No row has an own sample; ghosts have no volume.
static void check_rows(const mo_grid *g)
{
    for (int32_t r = 0; r < mo_grid_rows(g); r++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        assert_true(mo_site_volume(g, r) == (r < mo_grid_cells(g)));
        for (int k = 0, n = mo_row_samples(g, r, six, &list); k < n; k++)
            assert_int_equal(mo_ghost_owner(g, list[k].axis, list[k].sample), -1);
    }
}

static void sites_are_good(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        mo_sheet sheet;
        mo_cut_info info;
        plate(0.6, 0.3 * k, 0.4 * (k % 3), mo_v3(0.47, 0.52, 0.5), &sheet);
        mo_grid *g = make_grid(9, 9, &sheet, &info);
        check_sides(g), check_rows(g);
        printf("plate %d: %d cells, %d ghosts, %d links\n", k, info.cells, info.sides, mo_ghosts_of(g)->links);
        assert_true(info.cells > 20 && info.sides > 20 && (k > 1 || mo_ghosts_of(g)->links > 10));
        mo_grid_destroy(g), mo_sheet_destroy(&sheet);
    }
}

// Whether two cells are joined by samples, over real cells and ghosts.
static bool are_joined(const mo_grid *g, int32_t a, int32_t b)
{
    int32_t *root = mo_alloc(sizeof(int32_t) * (size_t)mo_grid_rows(g));
    for (int32_t r = 0; r < mo_grid_rows(g); r++) root[r] = r;
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int x = 0; x < 3; x++) {
            if (i >= mo_grid_cells(g) && mo_sites_sample(g, x, i).axis != x) continue;
            int32_t low = mo_sample_low(g, x, i), high = mo_sample_high(g, x, i), c[2][3];
            if (low < 0 || high < 0) continue;
            mo_grid_cell(g, mo_site_cell(g, low), c[0]), mo_grid_cell(g, mo_site_cell(g, high), c[1]);
            bool inside = true; // walls of the domain are closed
            for (int s = 0; s < 2; s++)
                for (int d = 0; d < 3; d++) inside &= c[s][d] >= MO_MARGIN && c[s][d] < g->n[d] - MO_MARGIN;
            if (inside) mo_join_sets(root, low, high);
        }
    bool joined = mo_find_root(root, a) == mo_find_root(root, b);
    mo_free(root);
    return joined;
}

// A plate that divides the box leads nowhere, in the plane and in space; one that ends inside it does.
static void sides_are_apart(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        static const double angles[4] = {0, 0.1963, 0.6, 1.3};
        mo_sheet sheet;
        mo_cut_info info;
        bool whole = k < 4;
        plate(whole ? 2.4 : 0.5, angles[k % 4], 0.2, mo_v3(0.503, 0.507, 0.5), &sheet);
        mo_grid *g = make_grid(12, 12, &sheet, &info);
        int32_t a = mo_grid_index(g, k % 4 < 3 ? 8 : 2, k % 4 < 3 ? 13 : 8, 8),
                b = mo_grid_index(g, k % 4 < 3 ? 8 : 13, k % 4 < 3 ? 2 : 8, 8);
        assert_int_equal(are_joined(g, a, b), !whole);
        mo_grid_destroy(g), mo_sheet_destroy(&sheet);
    }
}

// A row sees its own velocities at faces that the sheet occludes, and those of the other side nowhere.
static void rows_see_their_side(void **state)
{
    (void)state;
    mo_sheet sheet;
    mo_cut_info info;
    const double angle = 0.3;
    const mo_vec3 n = mo_v3(-sin(angle), cos(angle), 0), middle = mo_v3(0.503, 0.507, 0.5);
    plate(2.4, angle, 0, middle, &sheet);
    mo_grid *g = make_grid(12, 12, &sheet, &info);
    assert_int_equal(mo_reach_create(g, &err), MO_OK);
    float *u = mo_calloc(sizeof(float) * (size_t)mo_grid_fields(g)), block[MO_REACH_CELLS];
    for (int32_t i = 0; i < mo_grid_cells(g); i++)
        for (int side = 0; side < 2; side++) { // +1 above the plate, -1 below
            int32_t c[3], sample = mo_ghost_face(g, i, 1, side);
            mo_grid_cell(g, i, c);
            mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
            if (sample >= 0) u[sample] = mo_dot(mo_sub(x, middle), n) > 0 ? 1 : -1;
        }
    int32_t seen = 0;
    for (int32_t i = 0; i < mo_grid_cells(g); i++) {
        const int32_t *around = mo_reach_around(g, i);
        int32_t c[3];
        bool inside = around != NULL;
        mo_grid_cell(g, i, c);
        for (int a = 0; a < 3; a++) inside &= c[a] >= MO_MARGIN + 3 && c[a] < g->n[a] - MO_MARGIN - 3;
        if (!inside) continue;
        mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        mo_reach_faces(g, u, 1, around, MO_REACH_AROUND, block);
        for (int k = 0; k < MO_REACH_CELLS; k++) assert_true(block[k] == (mo_dot(mo_sub(x, middle), n) > 0 ? 1 : -1));
        seen++;
    }
    printf("%d rows see one side of a plate alone\n", seen);
    assert_true(seen > 50);
    mo_free(u);
    mo_grid_destroy(g), mo_sheet_destroy(&sheet);
}

// Memory may end at any allocation.
static int64_t allowed;
static void *limited(void *user, void *p, size_t bytes)
{
    (void)user;
    if (bytes) return allowed-- > 0 ? realloc(p, bytes) : NULL;
    free(p);
    return NULL;
}

static void memory_may_end(void **state)
{
    (void)state;
    mo_sheet sheet;
    mo_cut_info info;
    const int32_t cells[3] = {5, 5, 5}, lo[3] = {0, 0, 0}, hi[3] = {8, 8, 8};
    mo_grid *g;
    plate(0.6, 0.3, 0.2, mo_v3(0.47, 0.52, 0.5), &sheet);
    assert_int_equal(mo_grid_create(cells, 0.2, &g, &err), MO_OK);
    mo_grid_want(g, lo, hi);
    assert_int_equal(mo_grid_activate(g, &err), MO_OK);
    mo_status status = MO_ERROR_MEMORY;
    int tries = 0;
    for (; status != MO_OK && tries < 500; tries++) {
        allowed = tries;
        mo_set_allocator(limited, NULL);
        status = mo_ghosts_cut(g, &sheet, &info, &err);
        mo_set_allocator(NULL, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        if (status != MO_OK) assert_null(g->sites);
    }
    assert_true(status == MO_OK && tries > 20);
    mo_grid_destroy(g), mo_sheet_destroy(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_are_good),
        cmocka_unit_test(sides_are_apart),
        cmocka_unit_test(rows_see_their_side),
        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
