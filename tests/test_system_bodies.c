// Rows on rigid bodies: products of rows that touch several bodies, and rows that meet many.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/grid.h"
#include "system/solid_rows.h"
#include "system_test.h"

enum { BODIES = 12 };

static void random_masses(mo_group *g)
{
    assert_int_equal(mo_bodies_create(BODIES, g), MO_OK);
    for (int32_t b = 0; b < BODIES; b++) {
        for (int i = 0; i < 6; i++) g->body[b].inverse[i][i] = b == 2 && i > 3 ? 0 : 1 + 0.1 * b + 0.01 * i;
        g->body[b].inverse[0][3] = g->body[b].inverse[3][0] = 0.2;
        mo_body_mass_from_inverse(&g->body[b]);
    }
}

// dt R H^-1 R^T of rows that touch one to four bodies, against the same by solves with the group.
static void products_match_the_group(void **state)
{
    (void)state;
    enum { ROWS = 20, FROM = 4 };
    mo_group g;
    mo_csr R, C;
    int64_t at = 0;
    random_masses(&g);
    assert_int_equal(mo_csr_create(ROWS, 6 * BODIES, 24 * ROWS, &R), MO_OK);
    for (int32_t i = 0; i < ROWS; i++) {
        for (int32_t b = i % 5; b < BODIES && at < R.row[i] + 6 * (1 + i % 4); b += 1 + i % 3)
            for (int a = 0; a < 6; a++) R.col[at] = 6 * b + a, R.val[at++] = random_number((uint32_t)(6 * i + a), 3);
        R.row[i + 1] = at;
    }
    assert_int_equal(mo_bodies_product(&g, 0.5, &R, FROM, &C), MO_OK);
    assert_int_equal(C.row[FROM], 0);
    for (int32_t i = FROM; i < ROWS; i++) {
        double f[6 * BODIES] = {0}, v[6 * BODIES] = {0}, found[ROWS] = {0};
        for (int64_t k = R.row[i]; k < R.row[i + 1]; k++) f[R.col[k]] = R.val[k];
        mo_group_apply_inverse(&g, 0.5, f, v);
        for (int64_t k = C.row[i]; k < C.row[i + 1]; k++) {
            assert_true(k == C.row[i] || C.col[k] > C.col[k - 1]);
            found[C.col[k]] = C.val[k];
        }
        for (int32_t j = 0; j < ROWS; j++)
            assert_true(fabs(found[j] - (j < FROM ? 0 : mo_csr_row_product(&R, j, v))) < 1e-13);
        assert_true(fabs(mo_group_yield(&g, &R, i) - 2 * found[i]) < 1e-13);
    }
    mo_csr_destroy(&R), mo_csr_destroy(&C);
    mo_group_destroy(&g);
}

// Bodies in any order; each has its part of the row.
static void meet_all(const void *user, int32_t row, mo_solid_row *out)
{
    for (int32_t k = 0; k < BODIES * (row % 2); k++) mo_cover_add(out, user, 5 * k % BODIES, 0, 1, k + 1);
    for (int32_t k = 0; k < row % 2; k++) mo_cover_add(out, user, 0, 0, 0, 100);
}

static void a_row_may_meet_many_bodies(void **state)
{
    (void)state;
    int32_t body[BODIES], none = 0;
    mo_vec3 centre[BODIES];
    mo_error err;
    for (int32_t b = 0; b < BODIES; b++) body[b] = b, centre[b] = mo_v3(0.1 * b, 0.2, 0.3);
    mo_grid *g;
    assert_int_equal(mo_grid_create((int32_t[3]){8, 8, 8}, 0.125, &g, &err), MO_OK);
    mo_grid_want(g, (int32_t[3]){2, 2, 2}, (int32_t[3]){3, 3, 3});
    assert_int_equal(mo_grid_activate(g, &err), MO_OK);
    mo_solid_set solids = {.count = BODIES, .body = body, .centre = centre, .bodies = BODIES};
    mo_cover_index index = {.grid = g, .solids = &solids, .first = &none};
    mo_csr on[MO_GROUPS] = {0};
    assert_int_equal(mo_solid_rows_create(5, &solids, meet_all, &index, on), MO_OK);
    mo_csr R = on[MO_BODIES];
    for (int32_t i = 0; i < 5; i++) {
        assert_int_equal(R.row[i + 1] - R.row[i], i % 2 ? 6 * BODIES : 0);
        for (int32_t k = 0; k < BODIES * (i % 2); k++) {
            int32_t b = 5 * k % BODIES;
            assert_int_equal(R.col[R.row[i] + 6 * b], 6 * b);
            assert_true(R.val[R.row[i] + 6 * b + 1] == k + 1);
        }
        if (i % 2) assert_true(R.val[R.row[i]] == 100);
    }
    mo_csr_destroy(&R);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_match_the_group),
        cmocka_unit_test(a_row_may_meet_many_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
