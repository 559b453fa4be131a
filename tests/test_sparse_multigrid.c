// The multigrid preconditioner: its levels, near-symmetry, iteration counts, and what must not break it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver_test.h"
#include "sparse/cell_level.h"
#include "sparse/multigrid.h"
#include "ration.h"

typedef struct problem {
    domain D;
    mo_csr A;
    int32_t pieces, *piece;
    double *b, *x, *work;
} problem;

static void problem_create(int32_t n, int d, domain_fn liquid, domain_fn solid, problem *p)
{
    domain_create(n, d, liquid, solid, &p->D);
    assert_int_equal(domain_matrix(&p->D, &p->A), MO_OK);
    size_t rows = (size_t)p->A.rows + 1;
    p->piece = malloc(sizeof(int32_t) * rows);
    p->pieces = mo_csr_components(&p->A, p->piece);
    p->b = malloc(sizeof(double) * rows * 7), p->x = p->b + rows, p->work = p->x + rows;
    domain_rhs(&p->D, p->b);
}

static void problem_destroy(problem *p)
{
    free(p->piece), free(p->b);
    mo_csr_destroy(&p->A);
    domain_destroy(&p->D);
}

static mo_multigrid *hierarchy(const problem *p)
{
    mo_multigrid *mg = NULL;
    assert_int_equal(mo_multigrid_create(&p->A, (const int32_t(*)[3])p->D.coord, &mg), MO_OK);
    return mg;
}

static void apply_matrix(void *A, const double *x, double *y) { mo_csr_multiply(A, x, y); }

static mo_solve_info solve(problem *p)
{
    mo_multigrid *mg = hierarchy(p);
    mo_operator A = {apply_matrix, &p->A}, M = {mo_multigrid_apply, mg};
    memset(p->x, 0, sizeof(double) * (size_t)p->A.rows);
    mo_solve_info info = mo_cg(p->A.rows, &A, &M, p->b, p->x, 1e-6, 100, true, p->work);
    mo_multigrid_destroy(mg);
    return info;
}

// ---- Levels against dense matrices made from their definition ----

static double *dense_level(const mo_cell_level *l)
{
    double *M = calloc((size_t)l->rows * (size_t)l->rows, sizeof(double));
    for (int32_t i = 0; i < l->rows; i++) {
        M[(int64_t)i * l->rows + i] += l->diagonal[i];
        for (int h = 0; h < 6; h++) {
            int32_t j = l->near[i][h];
            assert_true((l->couple[i][h] != 0) == (j != i));
            assert_true(j == i || i >= l->plain || j >= l->plain || (i < l->red) != (j < l->red)); // colours differ
            M[(int64_t)i * l->rows + j] -= l->couple[i][h];
        }
        for (int64_t k = i < l->plain ? 0 : l->more.row[i - l->plain];
             i >= l->plain && k < l->more.row[i - l->plain + 1]; k++)
            M[(int64_t)i * l->rows + l->more.col[k]] -= l->more.val[k];
    }
    return M;
}

// Which row of the next level each row belongs to, and the interpolation by its definition.
static double *dense_interpolation(const mo_cell_level *f, const mo_cell_level *c, int32_t *parent)
{
    double *P = calloc((size_t)f->rows * (size_t)c->rows, sizeof(double));
    for (int32_t i = 0; i < f->rows; i++) parent[i] = -1;
    for (int32_t e = 0; e < c->rows; e++)
        for (int corner = 0; corner < 8; corner++) {
            int32_t i = f->child[e][corner];
            if (i < 0) continue;
            assert_int_equal(parent[i], -1);
            parent[i] = e, P[(int64_t)i * c->rows + e] = 1;
            for (int a = 0; a < 3; a++) {
                assert_int_equal(f->coord[i][a], 2 * c->coord[e][a] + (corner >> a & 1));
                int h = 2 * a + (corner >> a & 1);
                double w = f->linear ? fmin(0.25, 1.5 * f->couple[i][h] / f->diagonal[i]) : 0;
                P[(int64_t)i * c->rows + e] -= w, P[(int64_t)i * c->rows + c->near[e][h]] += w;
            }
        }
    for (int32_t k = 0; k < f->odds; k++) {
        const mo_cell_level_odd *o = &f->odd[k];
        assert_int_equal(parent[o->row], -1);
        parent[o->row] = o->parent, P[(int64_t)o->row * c->rows + o->parent] += 1;
        for (int a = 0; a < 3; a++) {
            assert_int_equal(f->coord[o->row][a], 2 * c->coord[o->parent][a] + (o->corner >> a & 1));
            int h = 2 * a + (o->corner >> a & 1);
            double w = f->linear ? fmin(0.25, 1.5 * f->couple[o->row][h] / f->diagonal[o->row]) : 0;
            P[(int64_t)o->row * c->rows + o->parent] -= w, P[(int64_t)o->row * c->rows + o->beside[a]] += w;
        }
    }
    return P;
}

// Interpolation, and restriction of the residual that smoothing leaves, against P.
static void check_transfer(mo_cell_level *f, mo_cell_level *c, const double *A, const double *P)
{
    int32_t n = f->rows, m = c->rows;
    for (int32_t i = 0; i < n; i++) f->x[i] = 0, f->b[i] = (float)random_number((uint32_t)i, 1);
    for (int32_t e = 0; e < m; e++) c->x[e] = (float)random_number((uint32_t)e, 2);
    mo_cell_level_interpolate(f, c);
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t e = 0; e < m; e++) sum += P[(int64_t)i * m + e] * c->x[e];
        assert_true(fabs(sum - f->x[i]) < 1e-6);
    }
    mo_cell_level_smooth_before(f);
    mo_cell_level_restrict(f, c);
    double *r = malloc(sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
        r[i] = f->b[i];
        for (int32_t j = 0; j < n; j++) r[i] -= A[(int64_t)i * n + j] * f->x[j];
        assert_true(i < f->red || i >= f->plain || fabs(r[i]) < 1e-5);
    }
    for (int32_t e = 0; e < m; e++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += P[(int64_t)i * m + e] * r[i];
        assert_true(fabs(sum - c->b[e]) < 1e-4);
    }
    free(r);
}

// Couplings of the next level are sums (halved where the transfer is linear), row sums are sums.
static void check_sums(const mo_cell_level *f, const mo_cell_level *c, const double *A, const double *Ac,
                       const int32_t *parent)
{
    int32_t n = f->rows, m = c->rows;
    double *M = calloc((size_t)m * (size_t)m, sizeof(double));
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double a = A[(int64_t)i * n + j], part = f->linear ? 0.5 : 1;
            if (a == 0 || parent[i] < 0) continue;
            M[(int64_t)parent[i] * m + parent[i]] += a; // row sum
            if (parent[i] == parent[j]) continue;
            M[(int64_t)parent[i] * m + parent[j]] += part * a, M[(int64_t)parent[i] * m + parent[i]] -= part * a;
        }
    for (int64_t k = 0; k < (int64_t)m * m; k++) assert_true(fabs(M[k] - Ac[k]) < 1e-4 * (1 + fabs(M[k])));
    free(M);
}

// Three levels of one problem; shifted, so that cells are negative and tiles are cut.
static void check_levels(problem *p, int32_t shift)
{
    mo_cell_level l[3];
    int32_t *place = malloc(sizeof(int32_t) * (size_t)p->A.rows), *parent = malloc(sizeof(int32_t) * (size_t)p->A.rows);
    double scale;
    for (int32_t i = 0; i < p->A.rows; i++)
        for (int a = 0; a < 3; a++) p->D.coord[i][a] -= shift;
    assert_int_equal(mo_cell_level_create(&l[0], &p->A, (const int32_t(*)[3])p->D.coord, place, &scale), MO_OK);
    double *A = dense_level(&l[0]);
    for (int32_t i = 0; i < p->A.rows; i++)
        for (int64_t k = p->A.row[i]; k < p->A.row[i + 1]; k++)
            assert_true(fabs(A[(int64_t)place[i] * p->A.rows + place[p->A.col[k]]] - p->A.val[k] / scale) < 1e-5);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(mo_cell_level_coarsen(&l[k], &l[k + 1]), MO_OK);
        double *Ac = dense_level(&l[k + 1]), *P = dense_interpolation(&l[k], &l[k + 1], parent);
        check_transfer(&l[k], &l[k + 1], A, P);
        check_sums(&l[k], &l[k + 1], A, Ac, parent);
        free(A), free(P);
        A = Ac;
    }
    free(A), free(place), free(parent);
    for (int k = 0; k < 3; k++) mo_cell_level_destroy(&l[k]);
}

static void levels_match_their_definition(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (uint32_t seed = 0; seed < 3; seed++) {
            problem p;
            random_seed = seed, random_share = d == 2 ? 0.7 : 0.5;
            problem_create(d == 2 ? 22 : 9, d, random_liquid, no_solid, &p);
            check_levels(&p, 3);
            problem_destroy(&p);
        }
    problem p;
    problem_create(14, 3, full_liquid, no_solid, &p);
    check_levels(&p, 1);
    problem_destroy(&p);
    problem_create(40, 2, full_liquid, no_solid, &p);
    check_levels(&p, 0);
    problem_destroy(&p);
}

// ---- Cells with several rows ----

static double row_chance(int32_t i, int32_t j, uint32_t seed)
{
    return mo_unit(mo_hash((uint32_t)(i < j ? i : j), (uint32_t)(i < j ? j : i), seed));
}

// One to three rows in every cell of a box, coupled at random to those of the cells around and, rarely, of their own.
// One row in ten is held, and one of every piece.
static void forked_problem(int32_t n, int d, uint32_t seed, problem *p)
{
    int32_t cells = d == 2 ? n * n : n * n * n, rows = 0;
    memset(p, 0, sizeof *p);
    p->D.coord = mo_alloc(sizeof *p->D.coord * 3 * (size_t)cells);
    for (int32_t c = 0; c < cells; c++)
        for (uint32_t r = mo_hash((uint32_t)c, seed, 5) % 8, k = 0; k < (r == 0 ? 3 : r < 3 ? 2 : 1); k++, rows++)
            p->D.coord[rows][0] = c % n, p->D.coord[rows][1] = c / n % n, p->D.coord[rows][2] = c / n / n;
    double *M = calloc((size_t)rows * (size_t)rows, sizeof(double));
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < i; j++) {
            const int32_t *a = p->D.coord[i], *b = p->D.coord[j];
            int32_t apart = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]);
            if (apart > 1 || row_chance(i, j, seed) > (apart ? 0.8 : 0.1)) continue;
            double c = 0.1 + row_chance(i, j, seed + 1);
            M[(int64_t)i * rows + j] -= c, M[(int64_t)j * rows + i] -= c;
            M[(int64_t)i * rows + i] += c, M[(int64_t)j * rows + j] += c;
        }
    for (int32_t i = 0; i < rows; i++)
        if (mo_hash((uint32_t)i, seed, 7) % 10 == 0 || M[(int64_t)i * rows + i] == 0) M[(int64_t)i * rows + i] += 0.5;
    int64_t entries = 0;
    for (int64_t k = 0; k < (int64_t)rows * rows; k++) entries += M[k] != 0;
    assert_int_equal(mo_csr_create(rows, rows, entries, &p->A), MO_OK);
    for (int32_t i = 0; i < rows; i++) {
        int64_t at = p->A.row[i];
        for (int32_t j = 0; j < rows; j++)
            if (M[(int64_t)i * rows + j] != 0) p->A.col[at] = j, p->A.val[at++] = M[(int64_t)i * rows + j];
        p->A.row[i + 1] = at;
    }
    p->piece = malloc(sizeof(int32_t) * (size_t)rows);
    p->pieces = mo_csr_components(&p->A, p->piece);
    for (int32_t i = 0, known = 0; i < rows; i++) {
        if (p->piece[i] != known) continue;
        for (int64_t k = p->A.row[i]; k < p->A.row[i + 1]; k++) p->A.val[k] += p->A.col[k] == i ? 0.5 : 0;
        known++;
    }
    free(M);
    p->b = malloc(sizeof(double) * ((size_t)rows + 1) * 7), p->x = p->b + rows + 1, p->work = p->x + rows + 1;
    for (int32_t i = 0; i < rows; i++) p->b[i] = random_number((uint32_t)i, seed);
}

static void forked_levels_match_their_definition(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++)
        for (uint32_t seed = 0; seed < 3; seed++) {
            problem p;
            forked_problem(d == 2 ? 20 : 8, d, seed, &p);
            check_levels(&p, 3);
            problem_destroy(&p);
        }
}

static void forked_rows_are_solved(void **state)
{
    (void)state;
    for (int d = 2; d <= 3; d++) {
        problem p;
        forked_problem(d == 2 ? 24 : 9, d, 4, &p);
        double *exact = malloc(sizeof(double) * (size_t)p.A.rows);
        reference_solve(&p.A, p.b, exact);
        mo_solve_info info = solve(&p);
        print_message("%d rows in %dD, several in a cell: %d iterations\n", p.A.rows, d, info.iterations);
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
        assert_in_range(info.iterations, 1, 12);
        assert_true(largest_difference(p.A.rows, p.x, exact) < 1e-5 * mo_max_abs(p.A.rows, exact));
        free(exact);
        problem_destroy(&p);
    }
}

static void cycle_is_positive_and_nearly_symmetric(void **state)
{
    (void)state;
    static const domain_fn liquid[] = {std_liquid, spray_liquid, random_liquid},
                           solid[] = {std_solid, no_solid, no_solid};
    random_seed = 2, random_share = 0.5;
    for (int c = 0; c < 3; c++) {
        problem p;
        problem_create(24, 3, liquid[c], solid[c], &p);
        mo_multigrid *mg = hierarchy(&p);
        int32_t n = p.A.rows;
        double *y = p.work, *Mx = y + n, *My = Mx + n;
        for (uint32_t seed = 0; seed < 4; seed++) {
            for (int32_t i = 0; i < n; i++)
                p.x[i] = random_number((uint32_t)i, seed), y[i] = random_number((uint32_t)i, seed + 9);
            mo_multigrid_apply(mg, p.x, Mx);
            mo_multigrid_apply(mg, y, My);
            double a = mo_dot_product(n, p.x, My), b = mo_dot_product(n, y, Mx), xx = mo_dot_product(n, p.x, Mx);
            assert_true(xx > 0);
            assert_true(fabs(a - b) < 1e-3 * xx); // inner conjugate gradients are not linear
        }
        mo_multigrid_destroy(mg);
        problem_destroy(&p);
    }
}

// Droplets of a few cells end on the first levels.
static void small_pieces_take_few_iterations(void **state)
{
    (void)state;
    problem p;
    random_seed = 1, random_share = 0.15;
    problem_create(12, 3, random_liquid, no_solid, &p);
    assert_true(p.pieces > 100);
    reference_solve(&p.A, p.b, p.work);
    double *exact = malloc(sizeof(double) * (size_t)p.A.rows);
    memcpy(exact, p.work, sizeof(double) * (size_t)p.A.rows);
    mo_solve_info info = solve(&p);
    print_message("%d pieces: %d iterations\n", p.pieces, info.iterations);
    assert_int_equal(info.reason, MO_REASON_CONVERGED);
    assert_in_range(info.iterations, 1, 6);
    assert_true(largest_difference(p.A.rows, p.x, exact) < 1e-4 * mo_max_abs(p.A.rows, exact));
    free(exact);
    problem_destroy(&p);
}

// Iterations to a relative residual of 1e-6 in the max norm; a change by more
// than one is news.
static void iteration_counts(void **state)
{
    (void)state;
    static const struct {
        int32_t n;
        int d;
        domain_fn liquid, solid;
        int32_t iterations;
    } cases[] = {{32, 3, std_liquid, std_solid, 7},  {64, 3, std_liquid, std_solid, 9},
                 {128, 2, std_liquid, std_solid, 8}, {512, 2, std_liquid, std_solid, 9},
                 {64, 3, spray_liquid, no_solid, 6}, {200, 2, spray_liquid, no_solid, 7}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        problem p;
        problem_create(cases[c].n, cases[c].d, cases[c].liquid, cases[c].solid, &p);
        mo_solve_info info = solve(&p);
        print_message("%d^%d: %d rows, %d pieces, %d iterations\n", cases[c].n, cases[c].d, p.A.rows, p.pieces,
                      info.iterations);
        assert_int_equal(info.reason, MO_REASON_CONVERGED);
        assert_in_range(info.iterations, cases[c].iterations - 1, cases[c].iterations + 1);
        problem_destroy(&p);
    }
}

static void threads_do_not_change_the_result(void **state)
{
    (void)state;
    problem p;
    problem_create(48, 3, std_liquid, std_solid, &p);
    double *first = malloc(sizeof(double) * (size_t)p.A.rows);
    static const int32_t threads[] = {1, 2, 4};
    for (int t = 0; t < 3; t++) {
        mo_use_threads(threads[t]);
        solve(&p);
        if (t == 0) memcpy(first, p.x, sizeof(double) * (size_t)p.A.rows);
        assert_memory_equal(first, p.x, sizeof(double) * (size_t)p.A.rows);
    }
    mo_use_threads(0);
    free(first);
    problem_destroy(&p);
}

static void odd_inputs(void **state)
{
    (void)state;
    mo_multigrid *mg;
    mo_csr A;
    double z[2] = {7, 7}, r[2] = {3, 0};
    // Nothing.
    assert_int_equal(mo_csr_create(0, 0, 0, &A), MO_OK);
    assert_int_equal(mo_multigrid_create(&A, NULL, &mg), MO_OK);
    mo_multigrid_apply(mg, r, z);
    mo_multigrid_destroy(mg);
    mo_csr_destroy(&A);
    // A row that is zero beside one that is not.
    assert_int_equal(mo_csr_create(2, 2, 2, &A), MO_OK);
    A.row[1] = 1, A.row[2] = 2, A.col[0] = 0, A.col[1] = 1, A.val[0] = 1.5, A.val[1] = 0;
    int32_t coord[2][3] = {{0, 0, 0}, {5, 0, 0}};
    assert_int_equal(mo_multigrid_create(&A, (const int32_t(*)[3])coord, &mg), MO_OK);
    mo_multigrid_apply(mg, r, z);
    assert_true(fabs(z[0] - 2) < 1e-6 && z[1] == 0);
    mo_multigrid_destroy(mg);
    mo_csr_destroy(&A);
    // Coupled cells that are no neighbours.
    assert_int_equal(mo_csr_create(2, 2, 4, &A), MO_OK);
    A.row[1] = 2, A.row[2] = 4;
    for (int k = 0; k < 4; k++) A.col[k] = k % 2, A.val[k] = k % 3 ? -1 : 2;
    assert_int_equal(mo_multigrid_create(&A, (const int32_t(*)[3])coord, &mg), MO_ERROR_INPUT);
    assert_null(mg);
    mo_csr_destroy(&A);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    problem p;
    problem_create(20, 3, std_liquid, std_solid, &p);
    int64_t before = mo_memory_in_use();
    int32_t failures = 0;
    for (ration r = {.fail_at = 1};; r.fail_at++, failures++) {
        r.calls = 0;
        mo_set_allocator(rationed, &r);
        mo_multigrid *mg;
        mo_status s = mo_multigrid_create(&p.A, (const int32_t(*)[3])p.D.coord, &mg);
        mo_multigrid_destroy(mg);
        mo_set_allocator(NULL, NULL);
        assert_true(mo_memory_in_use() == before);
        if (s == MO_OK) break;
        assert_int_equal(s, MO_ERROR_MEMORY);
    }
    assert_true(failures > 40);
    problem_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forked_levels_match_their_definition),
        cmocka_unit_test(forked_rows_are_solved),
        cmocka_unit_test(levels_match_their_definition),
        cmocka_unit_test(cycle_is_positive_and_nearly_symmetric),
        cmocka_unit_test(small_pieces_take_few_iterations),
        cmocka_unit_test(iteration_counts),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(odd_inputs),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
