// Sparse Cholesky: against dense factors, residuals, matrices that are not positive, held rows, patterns with zeros,
// fill, bits, lack of memory; separators and orders of elimination.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "sparse/cholesky.h"
#include "sparse/dense.h"
#include "sparse/graph.h"
#include "ration.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double unit(int32_t a, int32_t b, int32_t c) { return mo_unit(mo_hash((uint32_t)a, (uint32_t)b, (uint32_t)c)); }

// ---- Matrices ----

typedef bool (*link_fn)(const int32_t *size, int32_t u, int32_t v); // are vertices u < v coupled?

// Rows in groups of `block`; couplings are random, and the diagonal is larger than the rest of its row by `excess`.
static mo_csr matrix(const int32_t *size, int32_t vertices, int32_t block, link_fn linked, double excess, int32_t seed)
{
    mo_csr A;
    int64_t at = 0, links = 0;
    for (int32_t u = 0; u < vertices; u++)
        for (int32_t v = 0; v < vertices; v++) links += u == v || linked(size, u < v ? u : v, u < v ? v : u);
    assert_int_equal(mo_csr_create(vertices * block, vertices * block, links * block * block, &A), MO_OK);
    for (int32_t i = 0; i < vertices * block; i++) {
        double sum = 0;
        int64_t diagonal = 0;
        for (int32_t v = 0, u = i / block; v < vertices; v++) {
            if (u != v && !linked(size, u < v ? u : v, u < v ? v : u)) continue;
            for (int32_t j = v * block; j < (v + 1) * block; j++) {
                double a = 2 * unit(seed, i < j ? i : j, i < j ? j : i) - 1;
                if (j == i) diagonal = at, a = 0;
                sum += fabs(a);
                A.col[at] = j, A.val[at++] = a;
            }
        }
        A.val[diagonal] = sum + excess;
        A.row[i + 1] = at;
    }
    return A;
}

static bool random_links(const int32_t *size, int32_t u, int32_t v) { return unit(size[0], u, v) < 3.0 / size[1]; }
static bool no_links(const int32_t *size, int32_t u, int32_t v) { return (void)size, (void)u, (void)v, false; }
static bool all_links(const int32_t *size, int32_t u, int32_t v) { return (void)size, (void)u, (void)v, true; }
static bool star_links(const int32_t *size, int32_t u, int32_t v) { return (void)v, u == size[0]; }
static bool piece_links(const int32_t *size, int32_t u, int32_t v) { return u / size[0] == v / size[0] && v - u < 4; }

// Edges of a lattice of size[0] x size[1] x size[2] vertices whose cells have five tetrahedra each: along the axes, and
// diagonals of faces between vertices of odd parity.
static bool tetrahedra(const int32_t *size, int32_t u, int32_t v)
{
    int32_t d[3], far = 0, parity = 0;
    for (int a = 0; a < 3; a++) {
        d[a] = v % size[a] - u % size[a], parity += u % size[a], far += abs(d[a]);
        if (abs(d[a]) > 1) return false;
        u /= size[a], v /= size[a];
    }
    return far == 1 || (far == 2 && parity % 2 == 1);
}

static mo_csr lattice(int32_t nx, int32_t ny, int32_t nz, int32_t block, int32_t seed)
{
    return matrix((int32_t[]){nx, ny, nz}, nx * ny * nz, block, tetrahedra, 1e-3, seed);
}

static mo_cholesky *create(const mo_csr *A, int32_t block)
{
    mo_cholesky *c;
    assert_int_equal(mo_cholesky_create(A, block, &c, NULL), MO_OK);
    return c;
}

static bool factor(mo_cholesky *c, const mo_csr *A, const uint8_t *held)
{
    bool positive;
    assert_int_equal(mo_cholesky_factor(c, A, held, &positive, NULL), MO_OK);
    return positive;
}

static double *vector(int32_t n, int32_t seed)
{
    double *x = malloc(sizeof(double) * ((size_t)n + 1));
    for (int32_t i = 0; i < n; i++) x[i] = 2 * unit(seed, i, 77) - 1;
    return x;
}

// |A x - b| / |b|, rows and columns of held unknowns aside.
static double residual(const mo_csr *A, const uint8_t *held, const double *x, const double *b)
{
    double error = 0, size = 0;
    for (int32_t i = 0; i < A->rows; i++) {
        if (held && held[i]) continue;
        double r = mo_csr_row_product(A, i, x) - b[i];
        error += r * r, size += b[i] * b[i];
    }
    return size > 0 ? sqrt(error / size) : 0;
}

static void assert_solves(const mo_cholesky *c, const mo_csr *A, const uint8_t *held)
{
    double *b = vector(A->rows, 5), *x = vector(A->rows, 6);
    mo_cholesky_solve(c, b, x);
    for (int32_t i = 0; i < A->rows && held; i++) assert_true(!held[i] || x[i] == 0);
    double r = residual(A, held, x, b);
    if (!(r < 1e-12)) fail_msg("residual %g", r);
    memcpy(x, b, sizeof(double) * (size_t)A->rows);
    mo_cholesky_solve(c, x, x); // in place
    assert_true(residual(A, held, x, b) < 1e-12);
    free(b), free(x);
}

// ---- Solutions ----

static void dense_factors_agree(void **state)
{
    (void)state;
    for (int32_t n = 1; n < 60; n += n < 8 ? 1 : 17)
        for (int32_t block = 1; block <= 3; block++) {
            mo_csr A = matrix((int32_t[]){n, n}, n, block, random_links, 0.1, n);
            int32_t rows = A.rows;
            double *dense = calloc((size_t)(rows * rows), sizeof(double)), *b = vector(rows, n), *x = vector(rows, 0);
            for (int32_t i = 0; i < rows; i++)
                for (int64_t e = A.row[i]; e < A.row[i + 1]; e++) dense[i * rows + A.col[e]] = A.val[e];
            mo_dense_factor(rows, dense, 1e-14);
            mo_cholesky *c = create(&A, block);
            assert_true(factor(c, &A, NULL));
            mo_cholesky_solve(c, b, x);
            mo_dense_solve(rows, dense, b);
            for (int32_t i = 0; i < rows; i++) assert_true(fabs(x[i] - b[i]) < 1e-12 * (1 + mo_max_abs(rows, b)));
            free(dense), free(b), free(x);
            mo_cholesky_destroy(c);
            mo_csr_destroy(&A);
        }
}

static void all_shapes_are_solved(void **state)
{
    (void)state;
    const int32_t size[][2] = {{300, 300}, {1, 40}, {1, 200}, {7, 300}, {4, 300}};
    const link_fn links[] = {random_links, no_links, all_links, star_links, piece_links};
    for (int k = 0; k < 5; k++)
        for (int32_t block = 1; block <= 3; block++) {
            mo_csr A = matrix(size[k], size[k][1], block, links[k], 0.01, k);
            mo_cholesky *c = create(&A, block);
            assert_true(factor(c, &A, NULL));
            assert_solves(c, &A, NULL);
            mo_cholesky_destroy(c);
            mo_csr_destroy(&A);
        }
}

// Rows in groups of any size, also with rows that belong to the group of others.
static void groups_are_ordered_together(void **state)
{
    (void)state;
    for (int32_t seed = 0; seed < 3; seed++) {
        mo_csr A = lattice(9, 8, 7, 3, seed);
        int32_t *group = malloc(sizeof(int32_t) * (size_t)A.rows), groups = A.rows / 3;
        for (int32_t i = 0; i < A.rows; i++) {
            group[i] = i / 3;
            if (unit(seed, i, 3) < 0.2) group[i] = seed == 1 ? groups++ : (int32_t)(unit(seed, i, 4) * (A.rows / 3));
        }
        mo_cholesky *c, *single = create(&A, 1);
        assert_int_equal(mo_cholesky_create_grouped(&A, groups, group, &c, NULL), MO_OK);
        assert_true(factor(c, &A, NULL));
        assert_solves(c, &A, NULL);
        if (seed == 1) assert_true(mo_cholesky_entries(c) < 1.5 * mo_cholesky_entries(single));
        mo_cholesky_destroy(c), mo_cholesky_destroy(single);
        free(group);
        mo_csr_destroy(&A);
    }
}

static void empty_matrices_are_fine(void **state)
{
    (void)state;
    mo_csr A;
    assert_int_equal(mo_csr_create(0, 0, 0, &A), MO_OK);
    mo_cholesky *c = create(&A, 3);
    assert_true(factor(c, &A, NULL));
    mo_cholesky_solve(c, NULL, NULL);
    mo_cholesky_solve_many(c, 3, NULL, NULL);
    assert_int_equal(mo_cholesky_entries(c), 0);
    mo_cholesky_destroy(c);
    mo_cholesky_destroy(NULL);
    mo_csr_destroy(&A);
}

static void many_right_hand_sides_have_the_bits_of_one(void **state)
{
    (void)state;
    mo_csr A = lattice(6, 5, 4, 3, 3);
    mo_cholesky *c = create(&A, 3);
    uint8_t *held = calloc((size_t)A.rows, 1);
    held[17] = held[100] = 1;
    assert_true(factor(c, &A, held));
    for (int32_t n = 1; n <= 9; n++) {
        double *b = vector(n * A.rows, n), *x = vector(n * A.rows, 0), *one = vector(A.rows, 0);
        mo_cholesky_solve_many(c, n, b, x);
        for (int32_t k = 0; k < n; k++) {
            mo_cholesky_solve(c, b + k * A.rows, one);
            assert_memory_equal(one, x + k * A.rows, sizeof(double) * (size_t)A.rows);
        }
        free(b), free(x), free(one);
    }
    free(held);
    mo_cholesky_destroy(c);
    mo_csr_destroy(&A);
}

// ---- Values ----

static void other_values_are_factored_anew(void **state)
{
    (void)state;
    mo_csr A = lattice(7, 6, 5, 3, 1), B = lattice(7, 6, 5, 3, 2);
    for (int64_t e = 0; e < mo_csr_entries(&B); e += 3) // zeros in the pattern, on both sides of the diagonal
        for (int32_t i = 0; i < B.rows; i++)
            if (e >= B.row[i] && e < B.row[i + 1] && B.col[e] < i) {
                B.val[e] = 0;
                for (int64_t k = B.row[B.col[e]]; k < B.row[B.col[e] + 1]; k++)
                    if (B.col[k] == i) B.val[k] = 0;
            }
    mo_cholesky *c = create(&A, 3);
    const mo_csr *turns[] = {&A, &B, &A};
    for (int k = 0; k < 3; k++) {
        assert_true(factor(c, turns[k], NULL));
        assert_solves(c, turns[k], NULL);
    }
    // A matrix that lacks entries has the bits of one with zeros there.
    double *b = vector(A.rows, 1), *x = vector(A.rows, 0), *y = vector(A.rows, 0);
    int64_t at = 0;
    assert_true(factor(c, &B, NULL));
    mo_cholesky_solve(c, b, x);
    for (int32_t i = 0; i < B.rows; i++) {
        int64_t from = i ? A.row[i] : 0;
        for (int64_t e = from; e < A.row[i + 1]; e++)
            if (B.val[e] != 0) B.col[at] = B.col[e], B.val[at++] = B.val[e];
        B.row[i] = i ? B.row[i] : 0, B.row[i + 1] = at;
    }
    assert_true(at < mo_csr_entries(&A));
    assert_true(factor(c, &B, NULL));
    mo_cholesky_solve(c, b, y);
    assert_memory_equal(x, y, sizeof(double) * (size_t)A.rows);
    free(b), free(x), free(y);
    mo_cholesky_destroy(c);
    mo_csr_destroy(&A), mo_csr_destroy(&B);
}

static void set_diagonal(mo_csr *A, int32_t i, double value)
{
    for (int64_t e = A->row[i]; e < A->row[i + 1]; e++)
        if (A->col[e] == i) A->val[e] = value;
}

static void what_is_not_positive_is_found(void **state)
{
    (void)state;
    const double bad[] = {0, -1, 1e-3, NAN, INFINITY, -INFINITY};
    mo_csr A = lattice(6, 6, 4, 2, 4);
    mo_cholesky *c = create(&A, 2);
    uint8_t *held = calloc((size_t)A.rows, 1);
    for (int k = 0; k < 6; k++)
        for (int32_t i = k; i < A.rows; i += 29) {
            double was = mo_csr_entry(&A, i, i);
            set_diagonal(&A, i, bad[k]);
            assert_false(factor(c, &A, NULL));
            // The same row taken out leaves a matrix that is positive.
            held[i] = 1;
            assert_true(factor(c, &A, held));
            held[i] = 0;
            set_diagonal(&A, i, was);
        }
    assert_true(factor(c, &A, NULL));
    assert_solves(c, &A, NULL);
    free(held);
    mo_cholesky_destroy(c);
    mo_csr_destroy(&A);
}

static void held_rows_stay(void **state)
{
    (void)state;
    mo_csr A = lattice(7, 5, 5, 3, 8);
    mo_cholesky *c = create(&A, 3);
    uint8_t *held = calloc((size_t)A.rows, 1);
    for (int32_t i = 0; i < A.rows; i++) held[i] = i % 7 == 0 || (i > 200 && i < 230);
    for (int32_t i = 0; i < A.rows; i++)
        if (held[i]) set_diagonal(&A, i, -1);
    assert_true(factor(c, &A, held));
    assert_solves(c, &A, held);
    memset(held, 1, (size_t)A.rows);
    assert_true(factor(c, &A, held));
    assert_solves(c, &A, held);
    assert_false(factor(c, &A, NULL));
    free(held);
    mo_cholesky_destroy(c);
    mo_csr_destroy(&A);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    mo_error err;
    mo_cholesky *c;
    bool positive;
    mo_csr A = lattice(5, 4, 3, 2, 1), B = lattice(5, 4, 2, 2, 1);
    assert_int_equal(mo_cholesky_create(&A, 4, &c, &err), MO_ERROR_INPUT);
    assert_null(c);
    assert_int_equal(mo_cholesky_create(&A, 0, &c, &err), MO_ERROR_INPUT);
    A.cols++;
    assert_int_equal(mo_cholesky_create(&A, 2, &c, &err), MO_ERROR_INPUT);
    A.cols--;
    int64_t last = A.row[1] - 1; // a coupling of row 0, put where no other row has it
    int32_t was = A.col[last];
    A.col[last] = A.rows - 1;
    assert_int_equal(mo_cholesky_create(&A, 2, &c, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "symmetric"));
    A.col[last] = was;
    assert_int_equal(mo_cholesky_create(&A, 2, &c, &err), MO_OK);
    assert_int_equal(mo_cholesky_factor(c, &B, NULL, &positive, &err), MO_ERROR_INPUT);
    mo_csr full = matrix(NULL, 60, 2, all_links, 1, 1);
    assert_int_equal(mo_cholesky_factor(c, &full, NULL, &positive, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "pattern"));
    mo_cholesky_destroy(c);
    mo_csr_destroy(&full);
    assert_int_equal(mo_csr_create(5, 5, 0, &full), MO_OK);
    assert_int_equal(mo_cholesky_create(&full, 2, &c, &err), MO_ERROR_INPUT);
    mo_csr_destroy(&A), mo_csr_destroy(&B), mo_csr_destroy(&full);
}

// ---- Fill, bits, memory ----

// With the order of METIS 5.1 the factor has 211551 entries, with that of AMD 196170.
static void fill_is_that_of_good_orders(void **state)
{
    (void)state;
    mo_csr A = lattice(11, 11, 7, 3, 1);
    mo_cholesky *c = create(&A, 3);
    print_message("847 vertices: %ld entries of L, %ld bytes\n", (long)mo_cholesky_entries(c),
                  (long)mo_cholesky_bytes(c));
    assert_true(labs((long)mo_cholesky_entries(c) - 208518) < 2000);
    assert_true(mo_cholesky_bytes(c) < 3.5 * 8 * (double)mo_cholesky_entries(c));
    assert_true(factor(c, &A, NULL));
    assert_solves(c, &A, NULL);
    mo_cholesky_destroy(c);
    // A chain of 500 has 999 entries in its lower half, and each has one of fill at most.
    mo_csr chain = matrix((int32_t[]){500, 1, 1}, 500, 1, tetrahedra, 1, 1);
    c = create(&chain, 1);
    assert_true(mo_cholesky_entries(c) < 2 * 999);
    mo_cholesky_destroy(c);
    mo_csr_destroy(&A), mo_csr_destroy(&chain);
}

static uint32_t hash_of(int32_t n, const double *x)
{
    uint32_t hash = 0;
    for (int32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = mo_hash(hash, (uint32_t)bits, (uint32_t)(bits >> 32));
    }
    return hash;
}

// The same bits for any number of threads, and by every compiler and machine: the hash is saved.
static void bits_are_always_the_same(void **state)
{
    (void)state;
    mo_csr A = lattice(13, 12, 11, 3, 7); // large enough for threads in every loop
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_cholesky *c = create(&A, 3);
        double *b = vector(A.rows, 1);
        assert_true(factor(c, &A, NULL));
        mo_cholesky_solve(c, b, b);
        print_message("%d threads: %08x\n", threads, hash_of(A.rows, b));
        assert_int_equal(hash_of(A.rows, b), 0x70e9b440);
        free(b);
        mo_cholesky_destroy(c);
    }
    mo_use_threads(0);
    mo_csr_destroy(&A);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    mo_csr A = lattice(12, 12, 5, 1, 1);
    int64_t all = 1, before = mo_memory_in_use();
    for (int64_t at = -1; at < all; at++) {
        mo_cholesky *c;
        mo_error err = {0};
        bool positive;
        ration r = {.fail_at = at + 1};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_cholesky_create(&A, 1, &c, &err);
        if (status == MO_OK) status = mo_cholesky_factor(c, &A, NULL, &positive, &err);
        mo_cholesky_destroy(c);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(status, at < 0 ? MO_OK : MO_ERROR_MEMORY);
        assert_true(at < 0 || err.text[0]);
        assert_int_equal(mo_memory_in_use(), before);
        if (at < 0) all = r.calls;
    }
    assert_true(all > 20);
    mo_csr_destroy(&A);
}

// ---- Graphs ----

static mo_graph graph_of(const mo_csr *A)
{
    mo_graph g = {.n = A->rows};
    int64_t entries = mo_csr_entries(A);
    g.start = calloc((size_t)g.n + 1, sizeof(int32_t)), g.weight = calloc((size_t)g.n + 1, sizeof(int32_t));
    g.neighbour = calloc((size_t)entries + 1, sizeof(int32_t)), g.bond = calloc((size_t)entries + 1, sizeof(int32_t));
    for (int32_t i = 0, at = 0; i < g.n; i++) {
        for (int64_t e = A->row[i]; e < A->row[i + 1]; e++)
            if (A->col[e] != i) g.neighbour[at] = A->col[e], g.bond[at++] = 1;
        g.start[i + 1] = at, g.weight[i] = 1;
    }
    return g;
}

static void separators_separate(void **state)
{
    (void)state;
    const int32_t size[][3] = {{20, 10, 5}, {600, 600, 0}, {9, 900, 0}, {1, 150, 0}};
    const int32_t n[] = {1000, 600, 900, 150};
    const link_fn links[] = {tetrahedra, random_links, piece_links, all_links};
    mo_arena *arena = mo_arena_create();
    for (int k = 0; k < 4; k++) {
        mo_csr A = matrix(size[k], n[k], 1, links[k], 1, 1);
        mo_graph g = graph_of(&A);
        uint8_t *side = calloc((size_t)g.n, 1), *seen = calloc((size_t)g.n, 1);
        int32_t *order = calloc((size_t)g.n, sizeof(int32_t)), count[3] = {0};
        assert_true(mo_graph_bisect(&g, side, arena));
        for (int32_t v = 0; v < g.n; v++) {
            count[side[v]]++;
            for (int32_t e = g.start[v]; e < g.start[v + 1]; e++)
                assert_true(side[v] == MO_SIDE_BETWEEN || side[g.neighbour[e]] != 1 - side[v]);
        }
        print_message("sides %d, %d, between %d\n", count[0], count[1], count[2]);
        if (k == 0) assert_true(count[2] <= 50);   // the cross section
        if (k == 2) assert_int_equal(count[2], 0); // pieces that do not couple
        if (k != 3) assert_true(count[0] <= 0.61 * g.n && count[1] <= 0.61 * g.n);
        assert_true(mo_graph_dissect(&g, order, arena));
        for (int32_t i = 0; i < g.n; i++) assert_false(seen[order[i]]++);
        free(side), free(seen), free(order), free(g.start), free(g.neighbour), free(g.weight), free(g.bond);
        mo_csr_destroy(&A);
    }
    mo_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_factors_agree),
        cmocka_unit_test(all_shapes_are_solved),
        cmocka_unit_test(groups_are_ordered_together),
        cmocka_unit_test(empty_matrices_are_fine),
        cmocka_unit_test(many_right_hand_sides_have_the_bits_of_one),
        cmocka_unit_test(other_values_are_factored_anew),
        cmocka_unit_test(what_is_not_positive_is_found),
        cmocka_unit_test(held_rows_stay),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(fill_is_that_of_good_orders),
        cmocka_unit_test(bits_are_always_the_same),
        cmocka_unit_test(lack_of_memory_is_reported),
        cmocka_unit_test(separators_separate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
