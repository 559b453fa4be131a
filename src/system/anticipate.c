// Contacts of elastic bodies, solved in turn for motions and for forces.
#include "system/anticipate.h"
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "system/nodes_guise.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

enum { MOST_ICA = 1500, MOST_ADMM = 50, ROW_VECTORS = 7 + MO_MPRGP_WORK, SOLID_VECTORS = 10 };

typedef struct turns {
    mo_system *s;
    int32_t rows, solids;
    mo_block *block[2]; // contact and friction; NULL: not in the set
    mo_csr J;           // rows x solids
    mo_csr A;           // S + dt J M^-1 J^T (ica)
    // [rows]
    double *soft, *goal, *lower, *upper, *x, *next, *b, *work;
    // [solids]
    double *start, *v, *force, *diagonal, *inner;
    double stiffness; // rho (admm)
    int64_t iterations;
} turns;

static void turns_destroy(turns *t)
{
    mo_csr_destroy(&t->J), mo_csr_destroy(&t->A);
    mo_free(t->soft), mo_free(t->start);
}

static bool allocate(turns *t)
{
    size_t rows = (size_t)t->rows, solids = (size_t)t->solids;
    double *r = t->soft = mo_calloc(sizeof(double) * ROW_VECTORS * (rows + 1));
    double *p = t->start = mo_calloc(sizeof(double) * SOLID_VECTORS * (solids + 1));
    if (!r || !p) return false;
    t->goal = r + rows, t->lower = r + 2 * rows, t->upper = r + 3 * rows, t->x = r + 4 * rows, t->next = r + 5 * rows;
    t->b = r + 6 * rows, t->work = r + 7 * rows;
    t->v = p + solids, t->force = p + 2 * solids, t->diagonal = p + 3 * solids, t->inner = p + 4 * solids;
    return true;
}

// Makes rows, bounds and softness as in the dual form, and the start of the motion. goal: the rows are J v = goal + S
// x, where friction is softened about its last value.
static mo_status turns_create(mo_system *s, uint32_t set, turns *t)
{
    *t = (turns){.s = s, .solids = mo_solids_count(s)};
    for (int k = 0; k < 2; k++) {
        int32_t kind = MO_BLOCK_CONTACT + k;
        t->block[k] = mo_set_has(s, set, kind) ? s->block[kind] : NULL;
        t->rows += t->block[k] ? t->block[k]->rows : 0;
    }
    MO_TRY(mo_solids_rows(s, 2, t->block, &t->J));
    if (!allocate(t)) return MO_ERROR_MEMORY;
    for (int32_t k = 0, at = 0; k < 2; k++)
        for (int32_t i = 0; t->block[k] && i < t->block[k]->rows; i++, at++) {
            const mo_block *b = t->block[k];
            t->soft[at] = mo_block_softness(b, i) * s->dt * mo_solids_yield(s, b, i);
            t->lower[at] = b->lower[i], t->upper[at] = b->upper[i], t->x[at] = b->x[i];
            t->goal[at] = (b->rhs ? b->rhs[i] : 0) - (b->lower[i] < 0 ? t->soft[at] * b->x[i] : 0);
        }
    mo_solids_get(s, t->start);
    memcpy(t->v, t->start, sizeof(double) * (size_t)t->solids);
    return MO_OK;
}

static void give_back(turns *t)
{
    mo_solids_set(t->s, t->v);
    for (int32_t k = 0, at = 0; k < 2; k++)
        for (int32_t i = 0; t->block[k] && i < t->block[k]->rows; i++) t->block[k]->x[i] = t->x[at++];
}

// ---- Iterative constraint anticipation ----

// The rows on one group.
static mo_status stack(const turns *t, int32_t g, mo_csr *out)
{
    int64_t at = 0;
    MO_TRY(mo_csr_create(t->rows, t->s->group[g].count, mo_csr_entries(&t->J), out));
    for (int32_t k = 0, row = 0; k < 2; k++)
        for (int32_t i = 0; t->block[k] && i < t->block[k]->rows; i++) {
            const mo_csr *B = &t->block[k]->on[g];
            for (int64_t e = mo_csr_begin(B, i); e < mo_csr_end(B, i); e++)
                out->col[at] = B->col[e], out->val[at++] = B->val[e];
            out->row[++row] = at;
        }
    return MO_OK;
}

// S + dt J M^-1 J^T, where nodes have only their masses.
static mo_status anticipate(turns *t)
{
    const mo_system *s = t->s;
    MO_TRY(mo_csr_create(t->rows, t->rows, t->rows, &t->A));
    for (int32_t i = 0; i < t->rows; i++) t->A.col[i] = i, t->A.val[i] = t->soft[i], t->A.row[i + 1] = i + 1;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        if (!s->group[g].count) continue;
        mo_csr B = {0};
        mo_status status = stack(t, g, &B);
        if (status == MO_OK)
            status = g == MO_NODES ? mo_nodes_lumped_square(&s->group[g], s->dt, &B, &t->A)
                                   : s->group[g].kind->add_square(&s->group[g], s->dt, &B, 0, &t->A);
        mo_csr_destroy(&B);
        MO_TRY(status);
    }
    return MO_OK;
}

// The motion with the forces x: H v = H start - dt J^T x, nodes from the v before.
static void move_with(turns *t)
{
    const mo_system *s = t->s;
    double *force = t->force;
    memset(force, 0, sizeof(double) * (size_t)t->solids);
    mo_csr_push(&t->J, -s->dt, t->x, force);
    double *v = t->v, *start = t->start;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; g++) {
        const mo_group *group = &s->group[g];
        for (int32_t i = 0; i < group->count; i++) v[i] -= start[i]; // the change, which is 0 for held unknowns
        if (g == MO_NODES) {
            mo_nodes_solve(group, force, v);
        } else {
            for (int32_t i = 0; i < group->count; i++) v[i] = 0;
            mo_group_apply_inverse(group, 1, force, v);
        }
        for (int32_t i = 0; i < group->count; i++) v[i] += start[i];
        v += group->count, start += group->count, force += group->count;
    }
}

static void apply_anticipated(void *context, const double *x, double *y) { mo_csr_multiply(context, x, y); }

// Makes one turn; returns the largest change of how far rows yield.
static double turn(turns *t, const mo_jacobi *jacobi, const mo_solver_def *solver)
{
    mo_operator A = {apply_anticipated, &t->A}, M = {mo_jacobi_apply, (void *)jacobi};
    mo_mprgp_options options = {.tolerance = 0.1 * solver->tolerance, .max_iterations = solver->max_iterations};
    move_with(t);
    mo_csr_multiply(&t->A, t->x, t->b);
    for (int32_t i = 0; i < t->rows; i++)
        t->b[i] += mo_csr_row_product(&t->J, i, t->v) - t->goal[i] - t->soft[i] * t->x[i], t->next[i] = t->x[i];
    t->iterations += mo_mprgp(t->rows, &A, &M, t->b, t->lower, t->upper, t->next, &options, t->work).solve.iterations;
    for (int32_t i = 0; i < t->rows; i++) t->work[i] = t->next[i] - t->x[i];
    mo_csr_multiply(&t->A, t->work, t->b);
    memcpy(t->x, t->next, sizeof(double) * (size_t)t->rows);
    return mo_max_abs(t->rows, t->b);
}

static mo_status run_ica(turns *t, const mo_solver_def *solver, mo_system_info *info)
{
    mo_jacobi jacobi;
    MO_TRY(anticipate(t));
    MO_TRY(mo_jacobi_create(&t->A, &jacobi));
    for (int32_t i = 0; i < t->rows; i++) {
        t->b[i] = mo_csr_row_product(&t->J, i, t->start) - t->goal[i];
        t->x[i] = fmin(fmax(t->x[i], t->lower[i]), t->upper[i]);
    }
    double size = mo_max_abs(t->rows, t->b), change = INFINITY;
    int32_t k = 0;
    for (; k < MOST_ICA && change > solver->tolerance * size; k++) change = turn(t, &jacobi, solver);
    move_with(t);
    info->solve =
        (mo_solve_info){k < MOST_ICA ? MO_REASON_CONVERGED : MO_REASON_MAX_ITERATIONS, k, size > 0 ? change / size : 0};
    mo_jacobi_destroy(&jacobi);
    return MO_OK;
}

// ---- The alternating direction method of multipliers ----

static void apply_stiffened(void *context, const double *v, double *f)
{
    const turns *t = context;
    const double *at = v;
    double *to = f;
    memset(f, 0, sizeof(double) * (size_t)t->solids);
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; at += t->s->group[g].count, to += t->s->group[g++].count)
        mo_group_apply(&t->s->group[g], 1, at, to);
    mo_csr_multiply(&t->J, v, t->b);
    mo_csr_push(&t->J, t->stiffness, t->b, f);
    for (int32_t i = 0; i < t->solids; i++)
        if (!(t->diagonal[i] > 0)) f[i] = 0;
}

static void scale_stiffened(void *context, const double *r, double *z)
{
    const turns *t = context;
    for (int32_t i = 0; i < t->solids; i++) z[i] = t->diagonal[i] > 0 ? r[i] / t->diagonal[i] : 0;
}

// rho is the mean resistance of rows when everything else stands still. Also makes the diagonal of H + rho J^T J.
static void stiffen(turns *t)
{
    double *d = t->diagonal, yield = 0;
    for (int32_t i = 0; i < t->block[0]->rows; i++) yield += mo_solids_yield(t->s, t->block[0], i) / t->block[0]->rows;
    t->stiffness = yield > 0 ? 1 / yield : 0;
    for (int32_t g = MO_SOLIDS; g < MO_GROUPS; d += t->s->group[g++].count)
        if (t->s->group[g].count) t->s->group[g].kind->diagonal(&t->s->group[g], d);
    for (int64_t e = 0; e < mo_csr_entries(&t->J); e++)
        if (t->diagonal[t->J.col[e]] > 0) t->diagonal[t->J.col[e]] += t->stiffness * t->J.val[e] * t->J.val[e];
}

// The change v - start that minimises 1/2 |change|^2_H + rho/2 |J v - goal + gap + y|^2, y = dt x / rho.
static void move_between(turns *t, const double *gap, const mo_solver_def *solver)
{
    mo_operator A = {apply_stiffened, t}, M = {scale_stiffened, t};
    for (int32_t i = 0; i < t->rows; i++)
        t->work[i] = t->goal[i] - mo_csr_row_product(&t->J, i, t->start) - gap[i] - t->s->dt * t->x[i] / t->stiffness;
    memset(t->force, 0, sizeof(double) * (size_t)t->solids);
    mo_csr_push(&t->J, t->stiffness, t->work, t->force);
    for (int32_t i = 0; i < t->solids; i++) {
        if (!(t->diagonal[i] > 0)) t->force[i] = 0;
        t->v[i] -= t->start[i];
    }
    t->iterations +=
        mo_cg(t->solids, &A, &M, t->force, t->v, 0.1 * solver->tolerance, solver->max_iterations, false, t->inner)
            .iterations;
    for (int32_t i = 0; i < t->solids; i++) t->v[i] += t->start[i];
}

static void run_admm(turns *t, const mo_solver_def *solver, mo_system_info *info)
{
    double *gap = t->next, change = INFINITY, size = 0;
    stiffen(t);
    for (int32_t i = 0; i < t->rows; i++) {
        double r = mo_csr_row_product(&t->J, i, t->start) - t->goal[i];
        gap[i] = fmax(-r, 0), size = fmax(size, fabs(r));
    }
    int32_t k = 0;
    for (; k < MOST_ADMM && change > solver->tolerance * size; k++) {
        change = 0;
        move_between(t, gap, solver);
        for (int32_t i = 0; i < t->rows; i++) {
            double r = mo_csr_row_product(&t->J, i, t->v) - t->goal[i], y = t->s->dt * t->x[i] / t->stiffness;
            double open = fmax(-r - y, 0);
            change = fmax(change, fmax(fabs(r + open), fabs(open - gap[i])));
            gap[i] = open, t->x[i] = t->stiffness / t->s->dt * fmax(y + r + open, 0);
        }
    }
    info->solve = (mo_solve_info){k < MOST_ADMM ? MO_REASON_CONVERGED : MO_REASON_MAX_ITERATIONS, k,
                                  size > 0 ? change / size : 0};
}

// ---- Both ----

static mo_status solve(mo_system *s, uint32_t set, bool ica, const mo_solver_def *solver, mo_system_info *info,
                       mo_error *err)
{
    double start = mo_wall_seconds();
    turns t;
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    mo_status status = turns_create(s, set, &t);
    if (status == MO_OK && t.rows) {
        if (ica)
            status = run_ica(&t, solver, info);
        else
            run_admm(&t, solver, info);
        if (status == MO_OK) give_back(&t);
    }
    info->by_paper = 1, info->inner_iterations = t.iterations;
    info->solve_seconds += mo_wall_seconds() - start;
    turns_destroy(&t);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}

mo_status mo_ica_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    return solve(s, set, true, solver, info, err);
}

mo_status mo_admm_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    return solve(s, set, false, solver, info, err);
}
