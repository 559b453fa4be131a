// The multigrid preconditioner: its Galerkin products, symmetry, iteration
// counts, and what must not break it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver_test.h"
#include "sparse/level.h"
#include "sparse/multigrid.h"

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
    assert_int_equal(mo_multigrid_create(&p->A, (const int32_t(*)[3])p->D.coord, p->piece, &mg), MO_OK);
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

// Interpolation weight of coarse cell c for fine cell f along one axis.
static double weight(int32_t f, int32_t c, bool flat)
{
    if (flat) return f == c;
    int32_t near = f >> 1, far = near + (f & 1 ? 1 : -1);
    return c == near ? 0.75 : c == far ? 0.25 : 0;
}

typedef struct cell {
    int32_t at[3], piece;
} cell;

static void coarse_cells(const mo_lattice *l, cell *out)
{
    for (int32_t b = 0; b < l->blocks; b++) {
        int32_t i = l->block[b].start;
        for (int32_t bit = 0; bit < 64; bit++)
            if (l->block[b].mask >> bit & 1) {
                int32_t at[3] = {bit & 3, bit >> 2 & 3, bit >> 4};
                for (int a = 0; a < 3; a++) out[i].at[a] = 4 * l->block[b].tile[a] + at[a];
                out[i++].piece = l->block[b].piece;
            }
    }
}

// P by its definition.
static double *dense_interpolation(int32_t n, const cell *fine, int32_t m, const cell *coarse, const bool flat[3])
{
    double *P = calloc((size_t)n * (size_t)m, sizeof(double));
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t c = 0; c < m; c++) {
            double w = fine[i].piece == coarse[c].piece;
            for (int a = 0; a < 3; a++) w *= weight(fine[i].at[a], coarse[c].at[a], flat[a]);
            P[(int64_t)i * m + c] = w;
            sum += w;
        }
        assert_true(fabs(sum - 1) < 1e-14); // every parent exists
    }
    return P;
}

// Interpolation and restriction of a level against P.
static void check_transfer(mo_level *f, mo_level *c, const double *P)
{
    int32_t n = f->A.rows, m = c->A.rows;
    for (int32_t i = 0; i < n; i++) f->x[i] = 0, f->b[i] = (float)random_number((uint32_t)i, 1);
    for (int32_t e = 0; e < m; e++) c->x[e] = (float)random_number((uint32_t)e, 2);
    mo_level_restrict(f, c); // x = 0: the residual is b
    mo_level_interpolate(f, c);
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t e = 0; e < m; e++) sum += P[(int64_t)i * m + e] * c->x[e];
        assert_true(fabs(sum - f->x[i]) < 1e-6);
    }
    for (int32_t e = 0; e < m; e++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++) sum += P[(int64_t)i * m + e] * f->b[i];
        assert_true(fabs(sum - c->b[e]) < 1e-5);
    }
}

// P^T A P by its definition.
static void check_product(const mo_csr *A, const mo_csr *Ac, const double *P)
{
    int32_t n = A->rows, m = Ac->rows;
    double *AP = calloc((size_t)n * (size_t)m, sizeof(double)), *row = malloc(sizeof(double) * (size_t)m);
    for (int32_t i = 0; i < n; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
            for (int32_t e = 0; e < m; e++) AP[(int64_t)i * m + e] += A->val[k] * P[(int64_t)A->col[k] * m + e];
    for (int32_t c = 0; c < m; c++) {
        double largest = 0, touched = 0;
        memset(row, 0, sizeof(double) * (size_t)m);
        for (int32_t i = 0; i < n; i++) {
            double w = P[(int64_t)i * m + c];
            touched += w;
            for (int32_t e = 0; e < m && w > 0; e++) row[e] += w * AP[(int64_t)i * m + e];
        }
        assert_true(touched > 0);
        for (int32_t e = 0; e < m; e++) largest = fmax(largest, fabs(row[e]));
        for (int64_t k = Ac->row[c]; k < Ac->row[c + 1]; k++) row[Ac->col[k]] -= Ac->val[k];
        for (int32_t e = 0; e < m; e++) assert_true(fabs(row[e]) < 1e-5 * largest);
    }
    free(AP), free(row);
}

// Three levels of one problem; shifted, so that cells are negative and tiles
// are cut.
static void check_levels(problem *p, int32_t shift)
{
    enum { LEVELS = 3 };
    mo_level *l = mo_calloc(sizeof(mo_level) * LEVELS);
    mo_csr A[LEVELS] = {p->A};
    cell *cells[LEVELS];
    uint8_t *alive = malloc((size_t)p->pieces);
    double scale;
    memset(alive, 1, (size_t)p->pieces);
    cells[0] = malloc(sizeof(cell) * (size_t)p->A.rows);
    for (int32_t i = 0; i < p->A.rows; i++) {
        for (int a = 0; a < 3; a++) cells[0][i].at[a] = p->D.coord[i][a] -= shift;
        cells[0][i].piece = p->piece[i];
    }
    const int32_t(*coord)[3] = (const int32_t(*)[3])p->D.coord;
    assert_int_equal(mo_stencils_create(&p->A, coord, MO_FINEST_TILE, &l[0].A, &scale), MO_OK);
    assert_int_equal(mo_level_create_finest(&l[0], &p->A, coord), MO_OK);
    assert_int_equal(mo_lattice_create(p->A.rows, coord, p->piece, l[0].A.pattern, &l[0].lattice), MO_OK);
    for (int64_t k = 0; k < mo_csr_entries(&p->A); k++) p->A.val[k] /= scale;
    for (int k = 0; k + 1 < LEVELS; k++) {
        mo_level *f = &l[k], *c = &l[k + 1];
        mo_lattice_flat(&f->lattice, alive, f->flat);
        assert_int_equal(mo_lattice_coarsen(&f->lattice, alive, f->flat, &c->lattice), MO_OK);
        assert_int_equal(mo_level_connect(f, &c->lattice, alive, k ? NULL : coord, p->piece), MO_OK);
        assert_int_equal(mo_galerkin(&f->A, &f->lattice, f->flat, &c->lattice, &c->A), MO_OK);
        assert_int_equal(mo_level_create_coarse(c), MO_OK);
        assert_int_equal(mo_stencils_pieces(&c->A, &c->lattice, alive, &A[k + 1]), MO_OK);
        cells[k + 1] = malloc(sizeof(cell) * (size_t)c->A.rows);
        coarse_cells(&c->lattice, cells[k + 1]);
        double *P = dense_interpolation(f->A.rows, cells[k], c->A.rows, cells[k + 1], f->flat);
        check_transfer(f, c, P);
        check_product(&A[k], &A[k + 1], P);
        free(P);
    }
    for (int k = 0; k < LEVELS; k++) {
        mo_level_destroy(&l[k]);
        if (k) mo_csr_destroy(&A[k]);
        free(cells[k]);
    }
    mo_free(l), free(alive);
}

static void levels_match_dense(void **state)
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
    // Mostly inside, where rows are regular.
    problem p;
    problem_create(14, 3, full_liquid, no_solid, &p);
    check_levels(&p, 1);
    problem_destroy(&p);
    problem_create(40, 2, full_liquid, no_solid, &p);
    check_levels(&p, 0);
    problem_destroy(&p);
}

static void cycle_is_symmetric_and_positive(void **state)
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
            assert_true(fabs(a - b) < 2e-5 * xx);
        }
        mo_multigrid_destroy(mg);
        problem_destroy(&p);
    }
}

// Droplets of a few cells are solved exactly.
static void small_pieces_are_exact(void **state)
{
    (void)state;
    problem p;
    random_seed = 1, random_share = 0.15;
    problem_create(12, 3, random_liquid, no_solid, &p);
    assert_true(p.pieces > 100);
    mo_multigrid *mg = hierarchy(&p);
    assert_int_equal(mo_multigrid_describe(mg).levels, 1);
    double *z = p.work;
    reference_solve(&p.A, p.b, p.x);
    mo_multigrid_apply(mg, p.b, z);
    assert_true(largest_difference(p.A.rows, p.x, z) < 1e-5 * mo_max_abs(p.A.rows, p.x));
    mo_multigrid_destroy(mg);
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
    } cases[] = {{32, 3, std_liquid, std_solid, 7},  {64, 3, std_liquid, std_solid, 8},
                 {128, 2, std_liquid, std_solid, 8}, {512, 2, std_liquid, std_solid, 9},
                 {64, 3, spray_liquid, no_solid, 5}, {200, 2, spray_liquid, no_solid, 6}};
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
    assert_int_equal(mo_multigrid_create(&A, NULL, NULL, &mg), MO_OK);
    mo_multigrid_apply(mg, r, z);
    mo_multigrid_destroy(mg);
    mo_csr_destroy(&A);
    // A row that is zero beside one that is not.
    assert_int_equal(mo_csr_create(2, 2, 2, &A), MO_OK);
    A.row[1] = 1, A.row[2] = 2, A.col[0] = 0, A.col[1] = 1, A.val[0] = 1.5, A.val[1] = 0;
    int32_t coord[2][3] = {{0, 0, 0}, {5, 0, 0}}, piece[2] = {0, 1};
    assert_int_equal(mo_multigrid_create(&A, (const int32_t(*)[3])coord, piece, &mg), MO_OK);
    mo_multigrid_apply(mg, r, z);
    assert_true(fabs(z[0] - 2) < 1e-6 && z[1] == 0);
    mo_multigrid_destroy(mg);
    mo_csr_destroy(&A);
    // Coupled cells that are no neighbours.
    assert_int_equal(mo_csr_create(2, 2, 4, &A), MO_OK);
    A.row[1] = 2, A.row[2] = 4;
    for (int k = 0; k < 4; k++) A.col[k] = k % 2, A.val[k] = k % 3 ? -1 : 2;
    piece[1] = 0;
    assert_int_equal(mo_multigrid_create(&A, (const int32_t(*)[3])coord, piece, &mg), MO_ERROR_INPUT);
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
    for (failing f = {0, 0};; f.fail_at++, failures++) {
        f.calls = 0;
        mo_set_allocator(failing_resize, &f);
        mo_multigrid *mg;
        mo_status s = mo_multigrid_create(&p.A, (const int32_t(*)[3])p.D.coord, p.piece, &mg);
        mo_multigrid_destroy(mg);
        mo_set_allocator(NULL, NULL);
        assert_true(mo_memory_in_use() == before);
        if (s == MO_OK) break;
        assert_int_equal(s, MO_ERROR_MEMORY);
    }
    assert_true(failures > 50);
    problem_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_match_dense),
        cmocka_unit_test(cycle_is_symmetric_and_positive),
        cmocka_unit_test(small_pieces_are_exact),
        cmocka_unit_test(iteration_counts),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(odd_inputs),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
