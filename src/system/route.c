// Solution routes of one symmetric system: `fast` = CG with a multigrid cycle (SSOR for small ones), `paper` = CG with
// SSOR, IC(0) or Jacobi.
//
// Enclosed pieces have a null space (pieces.h): their right-hand side is projected, their solution has mean zero.
// Bounds: MPRGP instead of conjugate gradients. form.c decides what follows a solve that stalls.
#include "system/system.h"
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "sparse/multigrid.h"
#include "system/pieces.h"
#include <math.h>
#include <string.h>

// A multigrid solve that needs more iterations has failed; with contacts it may take more, because it must find which
// ones hold.
enum { FAST_ITERATIONS = 100, CONTACT_ITERATIONS = 1000, TILE = 8 };

typedef struct problem {
    const mo_problem *q;
    const mo_csr *A;
    const int32_t (*coord)[3];
    const uint8_t *hard; // [rows], NULL = all
    const mo_solver_def *solver;
    int32_t touching, *touch; // rows of q->on_bodies with entries
    double *force;            // [4 unknowns of bodies] forces of rows of liquid, of all; motions by them
    mo_pieces pieces;
    double *work; // [5 rows]
} problem;

static void problem_destroy(problem *p)
{
    mo_pieces_destroy(&p->pieces);
    mo_free(p->work), mo_free(p->touch), mo_free(p->force);
}

static bool find_touching(problem *p)
{
    const mo_csr none = {0}, *R = p->q->on_bodies ? p->q->on_bodies : &none;
    p->force = mo_alloc(sizeof(double) * 4 * (size_t)R->cols);
    p->touch = mo_csr_filled_rows(R, 0, &p->touching);
    return p->touch && p->force;
}

static mo_status problem_create(const mo_problem *q, const mo_solver_def *solver, problem *p)
{
    bool all_hard = true;
    const mo_csr *A = q->A;
    for (int32_t i = 0; q->hard && i < A->rows && all_hard; i++) all_hard = q->hard[i];
    *p = (problem){.q = q, .A = A, .coord = q->coord, .hard = all_hard ? NULL : q->hard, .solver = solver};
    size_t vectors = q->lower || q->upper ? MO_MPRGP_WORK : 5;
    p->work = mo_alloc(sizeof(double) * vectors * (size_t)A->rows);
    if (p->work && find_touching(p) &&
        mo_pieces_create(A, p->hard, q->on_bodies ? 1 : 0, q->on_bodies, &p->pieces) == MO_OK)
        return MO_OK;
    problem_destroy(p);
    return MO_ERROR_MEMORY;
}

// ---- Routes ----

// y = (A + dt R H^-1 R^T) x. Rows of solids alone are coupled among themselves in A already: they feel what rows of
// liquid do to the bodies, the others feel both.
static void apply_problem(void *context, const double *x, double *y)
{
    const problem *p = context;
    const mo_problem *q = p->q;
    const mo_csr *R = q->on_bodies;
    mo_csr_multiply(p->A, x, y);
    if (!R) return;
    int32_t n = R->cols;
    double *liquid = p->force, *both = liquid + n, *v_liquid = both + n, *v_both = v_liquid + n;
    int32_t solids = p->A->rows - q->contacts; // first row of solids alone
    memset(p->force, 0, sizeof(double) * 4 * (size_t)n);
    for (int32_t t = 0; t < p->touching; t++) {
        int32_t i = p->touch[t];
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k++) {
            both[R->col[k]] += R->val[k] * x[i];
            if (i < solids) liquid[R->col[k]] += R->val[k] * x[i];
        }
    }
    mo_group_apply_inverse(q->bodies, q->dt, liquid, v_liquid);
    mo_group_apply_inverse(q->bodies, q->dt, both, v_both);
    for (int32_t t = 0; t < p->touching; t++) {
        int32_t i = p->touch[t];
        const double *v = i < solids ? v_both : v_liquid;
        for (int64_t k = R->row[i]; k < R->row[i + 1]; k++) y[i] += R->val[k] * v[R->col[k]];
    }
}

static mo_solve_info solve(const problem *p, const mo_operator *M, const double *b, double *x, int32_t limit,
                           bool flexible)
{
    mo_operator A = {apply_problem, (void *)p};
    if (!p->q->lower && !p->q->upper)
        return (p->q->by_mean ? mo_cg_mean : mo_cg)(p->A->rows, &A, M, b, x, p->solver->tolerance, limit, flexible,
                                                    p->work);
    mo_mprgp_options options = {
        .tolerance = p->solver->tolerance, .max_iterations = limit, .expansion = p->solver->expansion};
    return mo_mprgp(p->A->rows, &A, M, b, p->q->lower, p->q->upper, x, &options, p->work).solve;
}

static int64_t csr_bytes(const mo_csr *A) { return mo_csr_entries(A) * 12 + (int64_t)A->rows * 8; }

// A cycle for the rows of liquid, a symmetric Gauss-Seidel sweep for those of solids alone, which come last: in the
// matrix the two meet only through the bodies' product, which is not in A.
typedef struct fast_preconditioner {
    mo_multigrid *mg;
    const mo_csr *A;
    int32_t liquid; // rows
} fast_preconditioner;

static void fast_apply(void *context, const double *r, double *z)
{
    const fast_preconditioner *c = context;
    const mo_csr *A = c->A;
    if (c->liquid) mo_multigrid_apply(c->mg, r, z);
    for (int32_t i = c->liquid; i < A->rows; i++) z[i] = 0;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t m = c->liquid; m < A->rows; m++) {
            int32_t i = pass ? A->rows - 1 - (m - c->liquid) : m;
            double rest = r[i], diagonal = 1;
            for (int64_t k = A->row[i]; k < A->row[i + 1]; k++)
                if (A->col[k] == i)
                    diagonal = A->val[k];
                else
                    rest -= A->val[k] * z[A->col[k]];
            z[i] = rest / diagonal;
        }
}

static mo_status solve_fast(problem *p, const double *b, double *x, mo_system_info *info)
{
    double start = mo_wall_seconds();
    fast_preconditioner c = {.A = p->A, .liquid = p->A->rows - p->q->contacts};
    mo_csr liquid = *p->A;
    liquid.rows = liquid.cols = c.liquid;
    mo_status status = c.liquid ? mo_multigrid_create(&liquid, p->coord, &c.mg) : MO_OK;
    double ready = mo_wall_seconds();
    info->setup_seconds += ready - start;
    if (status != MO_OK) return status;
    int32_t limit = p->q->contacts ? CONTACT_ITERATIONS : FAST_ITERATIONS;
    if (p->solver->max_iterations < limit) limit = p->solver->max_iterations;
    mo_operator M = {fast_apply, &c};
    info->solve = solve(p, &M, b, x, limit, true);
    if (c.liquid) info->bytes += mo_multigrid_describe(c.mg).bytes;
    mo_multigrid_destroy(c.mg);
    info->solve_seconds += mo_wall_seconds() - ready;
    return MO_OK;
}

// Couples two cubes of the sweep at most across faces?
static bool couples_faces_only(const mo_csr *A, const int32_t (*coord)[3])
{
    for (int32_t i = 0; i < A->rows; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            const int32_t *a = coord[i], *b = coord[A->col[k]];
            if ((a[0] != b[0]) + (a[1] != b[1]) + (a[2] != b[2]) > 1) return false;
        }
    return true;
}

typedef struct paper_preconditioner {
    mo_sweep sweep;
    mo_ssor ssor;
    mo_ic0 *ic;
    mo_jacobi jacobi;
    mo_operator M;
} paper_preconditioner;

static mo_status paper_create(const problem *p, paper_preconditioner *c, int64_t *breakdowns)
{
    *c = (paper_preconditioner){0};
    switch (p->solver->preconditioner) {
    case MO_PRECONDITIONER_IC0:
        if (p->q->far) {
            double shift;
            MO_TRY(mo_ic0_create_shifted(p->A, &c->ic, &shift));
            *breakdowns += shift > 0;
        } else
            MO_TRY(mo_ic0_create(p->A, p->hard ? 0 : 0.97, &c->ic, breakdowns)); // modified only for Poisson problems
        c->M = (mo_operator){mo_ic0_apply, c->ic};
        return MO_OK;
    case MO_PRECONDITIONER_JACOBI:
        MO_TRY(mo_jacobi_create(p->A, &c->jacobi));
        c->M = (mo_operator){mo_jacobi_apply, &c->jacobi};
        return MO_OK;
    default:
        MO_TRY(p->q->far ? mo_sweep_serial(p->A->rows, &c->sweep)
                         : mo_sweep_create(p->A->rows, p->coord, TILE, !couples_faces_only(p->A, p->coord), &c->sweep));
        MO_TRY(mo_ssor_create(p->A, &c->sweep, 1, &c->ssor));
        c->M = (mo_operator){mo_ssor_apply, &c->ssor};
        return MO_OK;
    }
}

static void paper_destroy(paper_preconditioner *c)
{
    mo_ssor_destroy(&c->ssor);
    mo_sweep_destroy(&c->sweep);
    mo_ic0_destroy(c->ic);
    mo_jacobi_destroy(&c->jacobi);
}

static mo_status solve_paper(const problem *p, const double *b, double *x, mo_system_info *info)
{
    double start = mo_wall_seconds();
    paper_preconditioner c;
    int64_t breakdowns = 0;
    mo_status status = paper_create(p, &c, &breakdowns);
    double ready = mo_wall_seconds();
    info->by_paper = 1;
    info->setup_seconds += ready - start;
    info->breakdowns += breakdowns;
    if (status == MO_OK) {
        int32_t before = info->solve.iterations;
        info->solve = solve(p, &c.M, b, x, p->solver->max_iterations, false);
        info->solve.iterations += before;
    }
    paper_destroy(&c);
    info->solve_seconds += mo_wall_seconds() - ready;
    return status;
}

// Small sets: the same iteration with a sweep in place of the cycle.
static mo_status solve_small(problem *p, const double *b, double *x, mo_system_info *info)
{
    const mo_solver_def *solver = p->solver;
    mo_solver_def own = *solver;
    own.preconditioner = MO_PRECONDITIONER_SSOR;
    p->solver = &own;
    mo_status status = solve_paper(p, b, x, info);
    p->solver = solver, info->by_paper = 0;
    return status;
}

// IC(0) breaks down on stiff viscous sets: SSOR then goes on from where it stopped.
static mo_status solve_with_fallback(problem *p, const double *b, double *x, mo_system_info *info)
{
    const mo_solver_def *solver = p->solver;
    MO_TRY(solve_paper(p, b, x, info));
    if (solver->preconditioner != MO_PRECONDITIONER_IC0 || info->solve.reason != MO_REASON_STALLED) return MO_OK;
    mo_solver_def other = *solver;
    other.preconditioner = MO_PRECONDITIONER_SSOR;
    p->solver = &other;
    info->fallbacks++;
    mo_status status = solve_paper(p, b, x, info);
    p->solver = solver;
    return status;
}

typedef mo_status (*way)(problem *p, const double *b, double *x, mo_system_info *info);

// A sweep where building a hierarchy costs more than it saves.
static mo_status solve_fast_or_small(problem *p, const double *b, double *x, mo_system_info *info)
{
    bool small = p->A->rows < mo_small_set && !p->q->contacts;
    return small ? solve_small(p, b, x, info) : solve_fast(p, b, x, info);
}

static mo_status solve_by(way solve_way, const mo_problem *q, double *b, double *x, const mo_solver_def *solver,
                          mo_system_info *info, mo_error *err)
{
    MO_ASSERT(q->A->rows == q->A->cols && b != x);
    const mo_csr *A = q->A;
    *info = (mo_system_info){.rounds = 1, .bytes = csr_bytes(A)};
    double start = mo_wall_seconds(), largest = mo_max_abs(A->rows, b);
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    if (!isfinite(largest)) return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    problem p;
    if (problem_create(q, solver, &p) != MO_OK) return mo_fail_memory(err);
    info->pieces = p.pieces.count, info->enclosed = p.pieces.enclosed;
    info->relaxed = mo_pieces_relax(&p.pieces, A, solver->tolerance, b, p.work);
    mo_pieces_project(&p.pieces, A->rows, NULL, x, INFINITY);
    info->setup_seconds = mo_wall_seconds() - start;
    // The projection of a right-hand side like the diagonal leaves only rounding errors.
    mo_status status = MO_OK;
    if (mo_max_abs(A->rows, b) > 1e-14 * largest)
        status = solve_way(&p, b, x, info);
    else
        memset(x, 0, sizeof(double) * (size_t)A->rows);
    if (status == MO_OK) mo_pieces_project(&p.pieces, A->rows, NULL, x, INFINITY);
    problem_destroy(&p);
    if (status == MO_ERROR_MEMORY) return mo_fail_memory(err);
    if (status != MO_OK) return mo_fail(err, status, "solve: rows do not sit on distinct neighbouring lattice cells");
    return MO_OK;
}

mo_status mo_problem_solve_fast(const mo_problem *q, double *b, double *x, const mo_solver_def *solver,
                                mo_system_info *info, mo_error *err)
{
    return solve_by(solve_fast_or_small, q, b, x, solver, info, err);
}

mo_status mo_problem_solve_paper(const mo_problem *q, double *b, double *x, const mo_solver_def *solver,
                                 mo_system_info *info, mo_error *err)
{
    return solve_by(solve_with_fallback, q, b, x, solver, info, err);
}
