// Orders of minimum degree: permutations of every pattern, no fill where there need be none, little on meshes. Products
// with wide rows, for which such factors are made: against a dense product.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "sparse/ldl.h"
#include "sparse/minimum_degree.h"
#include "solver_test.h"
#include "ration.h"

// Vertices with `block` rows each, joined where linked(u, v) says so.
typedef bool (*link_fn)(int32_t n, int32_t u, int32_t v);

static mo_csr pattern(int32_t n, int32_t block, link_fn linked)
{
    mo_csr A;
    int64_t at = 0;
    assert_int_equal(mo_csr_create(n * block, n * block, (int64_t)n * n * block * block, &A), MO_OK);
    for (int32_t i = 0; i < n * block; i++) {
        int32_t u = i / block;
        for (int32_t v = 0; v < n; v++)
            for (int32_t k = 0; (v == u || linked(n, u < v ? u : v, u < v ? v : u)) && k < block; k++)
                A.col[at] = v * block + k, A.val[at++] = v * block + k == i ? 3.0 * n * block : -1;
        A.row[i + 1] = at;
    }
    return A;
}

static bool chain(int32_t n, int32_t u, int32_t v) { return (void)n, v == u + 1; }
static bool star(int32_t n, int32_t u, int32_t v) { return (void)n, (void)v, u == 0; }
static bool nothing(int32_t n, int32_t u, int32_t v) { return (void)n, (void)u, (void)v, false; }
static bool everything(int32_t n, int32_t u, int32_t v) { return (void)n, (void)u, (void)v, true; }
static bool at_random(int32_t n, int32_t u, int32_t v)
{
    return mo_unit(mo_hash((uint32_t)u, (uint32_t)v, 5)) < 3.0 / n;
}
static bool lattice(int32_t n, int32_t u, int32_t v)
{
    int32_t edge = (int32_t)(sqrt(n) + 0.5);
    return v == u + edge || (v == u + 1 && v % edge > 0);
}

// Entries of L in that order; NULL: as the rows come.
static int64_t fill(const mo_csr *A, const int32_t *order)
{
    int32_t *block = mo_calloc(sizeof(int32_t) * 2), *member = mo_alloc(sizeof(int32_t) * (size_t)A->rows);
    mo_ldl l;
    block[1] = A->rows;
    for (int32_t i = 0; i < A->rows; i++) member[i] = order ? order[i] : i;
    assert_int_equal(mo_ldl_create(A, 1, block, member, &l), MO_OK);
    int64_t entries = l.start[A->rows];
    mo_ldl_destroy(&l);
    return entries;
}

static void orders_of_elimination(void **state)
{
    (void)state;
    static const struct {
        link_fn linked;
        int32_t n, block;
        bool perfect; // there is an order without fill
    } all[] = {{chain, 50, 1, true},       {chain, 20, 3, true},      {star, 40, 1, true},
               {nothing, 9, 1, true},      {everything, 12, 2, true}, {at_random, 60, 1, false},
               {at_random, 200, 3, false}, {lattice, 400, 1, false},  {nothing, 0, 1, true},
               {chain, 1, 3, true}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        mo_csr A = pattern(all[k].n, all[k].block, all[k].linked);
        int32_t *order = malloc(sizeof(int32_t) * (size_t)(A.rows + 1)), *seen = calloc((size_t)A.rows + 1, 4);
        assert_int_equal(mo_minimum_degree(&A, order), MO_OK);
        for (int32_t i = 0; i < A.rows; i++) {
            assert_true(order[i] >= 0 && order[i] < A.rows && !seen[order[i]]);
            seen[order[i]] = 1;
        }
        int64_t half = (mo_csr_entries(&A) - A.rows) / 2;
        if (A.rows && all[k].perfect) assert_int_equal(fill(&A, order), half);
        if (!all[k].perfect)
            assert_true(fill(&A, order) < (all[k].linked == lattice ? 0.5 : 0.9) * (double)fill(&A, NULL));
        mo_csr_destroy(&A);
        free(order), free(seen);
    }
}

static void lack_of_memory(void **state)
{
    (void)state;
    mo_csr A = pattern(30, 2, at_random);
    int32_t order[60];
    mo_status status = MO_ERROR_MEMORY;
    int64_t k = 0;
    for (; status != MO_OK; k++) {
        ration r = {.fail_at = k + 1};
        int64_t before = (int64_t)mo_memory_in_use();
        mo_set_allocator(rationed, &r);
        status = mo_minimum_degree(&A, order);
        mo_set_allocator(NULL, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), before);
    }
    assert_true(k > 1);
    mo_csr_destroy(&A);
}

// Some rows with hundreds of products, some with few, some with none.
static void wide_rows_of_products(void **state)
{
    (void)state;
    enum { ROWS = 150, COLS = 90 };
    mo_csr A, At, C;
    double d[COLS];
    int64_t at = 0;
    assert_int_equal(mo_csr_create(ROWS, COLS, ROWS * COLS, &A), MO_OK);
    for (int32_t i = 0; i < ROWS; i++) {
        double chance = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 0.02 : 0;
        for (int32_t j = 0; j < COLS; j++)
            if (mo_unit(mo_hash((uint32_t)i, (uint32_t)j, 1)) < chance)
                A.col[at] = j, A.val[at++] = random_number((uint32_t)(i * COLS + j), 6);
        A.row[i + 1] = at;
    }
    for (int32_t j = 0; j < COLS; j++) d[j] = 1 + 0.1 * j;
    assert_int_equal(mo_csr_transpose(&A, &At), MO_OK);
    assert_int_equal(mo_csr_weighted_square(&A, &At, d, &C), MO_OK);
    assert_null(mo_csr_fault(&C));
    for (int32_t i = 0; i < ROWS; i++)
        for (int32_t k = 0; k < ROWS; k++) {
            double sum = 0;
            for (int32_t j = 0; j < COLS; j++) sum += mo_csr_entry(&A, i, j) * d[j] * mo_csr_entry(&A, k, j);
            assert_true(fabs(mo_csr_entry(&C, i, k) - sum) <= 1e-13 * (1 + fabs(sum)));
            assert_true(mo_csr_entry(&C, i, k) == mo_csr_entry(&C, k, i)); // to the last bit
        }
    mo_csr_destroy(&A), mo_csr_destroy(&At), mo_csr_destroy(&C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_of_elimination),
        cmocka_unit_test(lack_of_memory),
        cmocka_unit_test(wide_rows_of_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
