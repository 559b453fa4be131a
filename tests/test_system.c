// Routes and schemes: the solution against a dense reference, null spaces, fallback, and the velocities that result.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "system_test.h"
#include "ration.h"

static mo_solver_def solver_of(mo_route route, mo_preconditioner preconditioner, double tolerance)
{
    return (mo_solver_def){
        .route = route, .preconditioner = preconditioner, .tolerance = tolerance, .max_iterations = 2000};
}

// Every route there is.
static const struct {
    mo_route route;
    mo_preconditioner preconditioner;
} routes[] = {{MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR},
              {MO_ROUTE_PAPER, MO_PRECONDITIONER_SSOR},
              {MO_ROUTE_PAPER, MO_PRECONDITIONER_IC0},
              {MO_ROUTE_PAPER, MO_PRECONDITIONER_JACOBI}};
enum { ROUTES = 4 };

// A system that owns the arrays of the domain; the domain is left empty.
static void system_create(domain *D, mo_system *s)
{
    *s = (mo_system){.dt = D->dt};
    take_faces(D, &s->faces);
    mo_block *b = s->block[MO_BLOCK_PRESSURE] = mo_calloc(sizeof(mo_block));
    *b = (mo_block){.rows = D->rows, .on = {D->B}, .coord = D->coord};
    b->x = mo_calloc(sizeof(double) * (size_t)D->rows);
    b->rhs = mo_calloc(sizeof(double) * (size_t)D->rows);
    for (int32_t f = 0; f < D->faces; f++) s->faces.velocity[f] = random_number((uint32_t)f, 11);
    mo_free(D->mass);
    *D = (domain){0};
}

static void system_random(int32_t n, int d, domain_fn liquid, domain_fn solid, mo_system *s)
{
    domain D;
    domain_create(n, d, liquid, solid, &D);
    system_create(&D, s);
}

static void routes_match_dense(void **state)
{
    (void)state;
    static const struct {
        int32_t n;
        int d;
        domain_fn liquid, solid;
        double share;
        bool enclosed;
    } cases[] = {{8, 3, random_liquid, no_solid, 0.75, false},  {8, 3, random_liquid, no_solid, 0.25, false},
                 {26, 2, random_liquid, no_solid, 0.65, false}, {14, 3, boxes_liquid, boxes_solid, 0, true},
                 {7, 3, full_liquid, no_solid, 0, true},        {24, 2, boxes_liquid, boxes_solid, 0, true},
                 {1, 3, random_liquid, no_solid, 1, false},     {12, 3, std_liquid, std_solid, 0, false}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int k = 0; k < ROUTES; k++) {
            random_seed = (uint32_t)c, random_share = cases[c].share;
            domain D;
            mo_csr A;
            domain_create(cases[c].n, cases[c].d, cases[c].liquid, cases[c].solid, &D);
            assert_int_equal(domain_matrix(&D, &A), MO_OK);
            size_t n = (size_t)A.rows + 1;
            double *b = malloc(sizeof(double) * n * 3), *x = b + n, *reference = x + n;
            domain_rhs(&D, b);
            for (int32_t i = 0; i < A.rows; i++) x[i] = random_number((uint32_t)i, 8);
            int32_t enclosed = reference_solve(&A, b, reference);
            mo_solver_def solver = solver_of(routes[k].route, routes[k].preconditioner, 1e-11);
            mo_system_info info;
            mo_error err;
            mo_problem_fn solve = routes[k].route == MO_ROUTE_FAST ? mo_problem_solve_fast : mo_problem_solve_paper;
            mo_problem problem = {.A = &A, .coord = (const int32_t(*)[3])D.coord};
            assert_int_equal(solve(&problem, b, x, &solver, &info, &err), MO_OK);
            assert_int_equal(info.enclosed, enclosed);
            assert_int_equal(info.relaxed, enclosed); // the right-hand side has a mean everywhere
            assert_true(!cases[c].enclosed || enclosed > 0);
            if (A.rows) assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_int_equal(info.fallbacks, 0);
            assert_int_equal(info.breakdowns, 0);
            assert_true(largest_difference(A.rows, x, reference) <= 1e-8 * mo_max_abs(A.rows, reference));
            free(b);
            mo_csr_destroy(&A);
            domain_destroy(&D);
        }
}

// After the solve B u = c, and u - u* = -dt M^-1 B^T p.
static void velocities_satisfy_the_constraints(void **state)
{
    (void)state;
    for (int k = 0; k < ROUTES; k++) {
        mo_system s;
        system_random(20, 3, std_liquid, std_solid, &s);
        mo_block *b = s.block[MO_BLOCK_PRESSURE];
        for (int32_t i = 0; i < b->rows; i++) b->rhs[i] = 0.1 * random_number((uint32_t)i, 4);
        size_t rows = (size_t)b->rows, faces = (size_t)s.faces.count;
        double *r = malloc(sizeof(double) * rows), *before = malloc(sizeof(double) * faces);
        double *force = calloc(faces, sizeof(double));
        memcpy(before, s.faces.velocity, sizeof(double) * faces);
        mo_block_residual(&s, b, r);
        double start = mo_max_abs(b->rows, r);
        mo_solver_def solver = solver_of(routes[k].route, routes[k].preconditioner, 1e-9);
        mo_system_info info;
        mo_error err;
        assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
        assert_true(info.pieces >= 2);
        mo_block_residual(&s, b, r);
        assert_true(mo_max_abs(b->rows, r) < 2e-9 * start);
        for (int32_t i = 0; i < b->rows; i++)
            for (int64_t e = b->on[MO_FACES].row[i]; e < b->on[MO_FACES].row[i + 1]; e++)
                force[b->on[MO_FACES].col[e]] += b->on[MO_FACES].val[e] * b->x[i];
        for (size_t f = 0; f < faces; f++)
            assert_true(fabs(s.faces.mass[f] * (s.faces.velocity[f] - before[f]) + s.dt * force[f]) <
                        1e-9 * s.faces.mass[f]);
        // Liquid at rest.
        memset(b->x, 0, sizeof(double) * rows);
        solver.tolerance = 1e-3;
        memset(s.faces.velocity, 0, sizeof(double) * faces);
        memset(b->rhs, 0, sizeof(double) * rows);
        assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
        free(r), free(before), free(force);
        mo_system_destroy(&s);
    }
}

// A compliant block: A = S + dt B M^-1 B^T, and no null space.
static void compliance_is_added(void **state)
{
    (void)state;
    mo_system s;
    system_random(5, 3, full_liquid, no_solid, &s);
    mo_block *b = s.block[MO_BLOCK_PRESSURE];
    mo_dual hard, soft;
    assert_int_equal(mo_dual_create(&s, 1u << MO_BLOCK_PRESSURE, &hard, NULL), MO_OK);
    assert_int_equal(mo_csr_create(b->rows, b->rows, b->rows, &b->compliance), MO_OK);
    for (int32_t i = 0; i < b->rows; i++)
        b->compliance.row[i + 1] = i + 1, b->compliance.col[i] = i, b->compliance.val[i] = 1e-3 * (i + 1);
    assert_int_equal(mo_dual_create(&s, 1u << MO_BLOCK_PRESSURE, &soft, NULL), MO_OK);
    for (int32_t i = 0; i < b->rows; i++)
        for (int64_t k = hard.A.row[i]; k < hard.A.row[i + 1]; k++)
            assert_true(fabs(soft.A.val[k] - hard.A.val[k] - (hard.A.col[k] == i ? b->compliance.val[i] : 0)) < 1e-15);
    mo_dual_destroy(&hard), mo_dual_destroy(&soft);
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR, 1e-10);
    mo_system_info info;
    assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.enclosed, 0);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    mo_system_destroy(&s);
}

// An enclosed piece whose right-hand side sums to zero is not relaxed; its pressure has mean zero.
static void consistent_enclosed_pieces_are_not_relaxed(void **state)
{
    (void)state;
    mo_system s;
    system_random(12, 3, full_liquid, no_solid, &s);
    mo_block *b = s.block[MO_BLOCK_PRESSURE];
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR, 1e-6);
    mo_system_info info;
    for (int32_t i = 0; i < b->rows; i++) b->x[i] = 1e6;
    assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.enclosed, 1);
    assert_int_equal(info.relaxed, 0);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    assert_true(fabs(mo_sum(b->rows, b->x)) < 1e-8 * mo_max_abs(b->rows, b->x) * b->rows);
    // Squeezed in proportion to the diagonal: no solution exists, nothing is left of it, the step goes on.
    mo_dual d;
    assert_int_equal(mo_dual_create(&s, 1u << MO_BLOCK_PRESSURE, &d, NULL), MO_OK);
    mo_csr_diagonal(&d.A, b->rhs);
    mo_dual_destroy(&d);
    memset(s.faces.velocity, 0, sizeof(double) * (size_t)s.faces.count);
    assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.relaxed, 1);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    assert_true(mo_max_abs(s.faces.count, s.faces.velocity) == 0);
    mo_system_destroy(&s);
}

// Too few iterations for the fast route: the papers' goes on from where it stopped.
static void a_failed_fast_solve_falls_back(void **state)
{
    (void)state;
    mo_system s;
    system_random(30, 3, std_liquid, std_solid, &s);
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, MO_PRECONDITIONER_IC0, 1e-8);
    solver.max_iterations = 5; // multigrid needs about twice as many
    mo_system_info info;
    assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.fallbacks, 1);
    assert_true(info.solve.iterations > 5 && info.solve.iterations <= 10);
    assert_true(info.solve.residual < 1e-3);
    mo_system_destroy(&s);
}

static void schemes_are_checked(void **state)
{
    (void)state;
    mo_error err = {0};
    assert_int_equal(mo_scheme_check("", &err), MO_OK);
    assert_int_equal(mo_scheme_check("P", &err), MO_OK);
    assert_int_equal(mo_scheme_check("PC-united", &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "PC-united"));
    assert_non_null(strstr(err.text, "\"P\""));
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR, 1e-6);
    mo_system s = {.dt = 1};
    mo_system_info info;
    assert_string_equal(mo_scheme_name(&solver, &s), "P");
    // No blocks, or a block without rows: nothing to do.
    assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    random_share = 0;
    system_random(4, 3, random_liquid, no_solid, &s);
    assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_NOTHING_TO_DO);
    mo_system_destroy(&s);
    // Mistakes come back as such.
    strcpy(solver.scheme, "Q");
    assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_ERROR_INPUT);
    solver = solver_of(MO_ROUTE_FAST, MO_PRECONDITIONER_SSOR, 0);
    assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_ERROR_INPUT);
    system_random(6, 3, full_liquid, no_solid, &s);
    s.faces.velocity[3] = NAN;
    solver.tolerance = 1e-6;
    assert_int_equal(mo_system_solve(&s, &solver, &info, &err), MO_ERROR_FAILED);
    mo_system_destroy(&s);
}

static void threads_do_not_change_the_result(void **state)
{
    (void)state;
    static const int32_t threads[] = {1, 2, 4};
    for (int k = 0; k < ROUTES; k++) {
        double *first = NULL;
        for (int t = 0; t < 3; t++) {
            mo_use_threads(threads[t]);
            mo_system s;
            system_random(36, 3, std_liquid, std_solid, &s);
            mo_solver_def solver = solver_of(routes[k].route, routes[k].preconditioner, 1e-6);
            mo_system_info info;
            assert_int_equal(mo_system_solve(&s, &solver, &info, NULL), MO_OK);
            size_t bytes = sizeof(double) * (size_t)s.faces.count;
            if (!first) {
                first = malloc(bytes);
                memcpy(first, s.faces.velocity, bytes);
            }
            assert_memory_equal(first, s.faces.velocity, bytes);
            mo_system_destroy(&s);
        }
        free(first);
    }
    mo_use_threads(0);
}

static void failed_allocations_are_reported(void **state)
{
    (void)state;
    for (int k = 0; k < ROUTES; k++) {
        mo_system s;
        system_random(14, 3, boxes_liquid, boxes_solid, &s);
        mo_solver_def solver = solver_of(routes[k].route, routes[k].preconditioner, 1e-6);
        int64_t before = mo_memory_in_use();
        int32_t failures = 0;
        for (ration r = {.fail_at = 1};; r.fail_at++, failures++) {
            r.calls = 0;
            mo_set_allocator(rationed, &r);
            mo_system_info info;
            mo_error err = {0};
            mo_status status = mo_system_solve(&s, &solver, &info, &err);
            mo_set_allocator(NULL, NULL);
            assert_true(mo_memory_in_use() == before);
            if (status == MO_OK) break;
            assert_int_equal(status, MO_ERROR_MEMORY);
            assert_string_equal(err.text, "out of memory");
        }
        assert_true(failures >= 15);
        mo_system_destroy(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_match_dense),
        cmocka_unit_test(velocities_satisfy_the_constraints),
        cmocka_unit_test(compliance_is_added),
        cmocka_unit_test(consistent_enclosed_pieces_are_not_relaxed),
        cmocka_unit_test(a_failed_fast_solve_falls_back),
        cmocka_unit_test(schemes_are_checked),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
