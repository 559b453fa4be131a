// Newton's method on the law of contact, around solves of pressure and bodies.
#include "system/inviscid.h"
#include "base/parallel.h"
#include "system/form.h"
#include "system/inviscid_liquid.h"
#include "system/solids.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 20, MAX_CORRECTIONS = 3, CG_ITERATIONS = 100, SMALL = 4096 };
static const double loose = 3e-2;      // residual of solves while contacts still open and close
static const double most_factor = 1e8; // multiplications: larger heaps are left to MPRGP

typedef struct newton {
    mo_system *s;
    mo_inviscid *k;
    mo_contact_law law;
    mo_inviscid_step step;
    int32_t rows, dofs;
    double *p, *b0, *b;     // [rows] pressure; B u* - c; right-hand side, or residual
    double *v, *before, *f; // [solids] velocities, of before a prediction, forces
    double *start;          // [solids] v*
    double *x, *x0, *Bv;    // [rows of the law] forces, relative velocities
    double *trial;          // [rows of the law] forces, corrected
    double norm;            // of the dual right-hand side
    mo_block *pressure;     // NULL: not in the set
    int32_t steps;          // of predictions
} newton;

static void newton_destroy(newton *n)
{
    mo_inviscid_step_destroy(&n->step);
    mo_contact_law_destroy(&n->law);
    mo_free(n->p), mo_free(n->v), mo_free(n->x);
}

static mo_status newton_create(newton *n, uint32_t set, bool cone)
{
    MO_TRY(mo_contact_law_create(n->s, set, cone, &n->law));
    MO_TRY(mo_inviscid_step_create(n->k, &n->law, &n->step));
    n->rows = n->k->dual.rows, n->dofs = mo_solids_count(n->s);
    size_t rows = (size_t)n->rows, dofs = (size_t)n->dofs, contacts = (size_t)n->law.rows;
    n->p = mo_alloc(sizeof(double) * 3 * rows), n->v = mo_alloc(sizeof(double) * 4 * dofs);
    n->x = mo_alloc(sizeof(double) * 4 * contacts);
    if (!n->p || !n->v || !n->x) return MO_ERROR_MEMORY;
    n->b0 = n->p + rows, n->b = n->b0 + rows;
    n->before = n->v + dofs, n->f = n->before + dofs, n->start = n->f + dofs;
    mo_solids_get(n->s, n->start);
    n->x0 = n->x + contacts, n->Bv = n->x0 + contacts, n->trial = n->Bv + contacts;
    return MO_OK;
}

// ---- Pieces of a step ----

// v = v* - dt W (R^T p + B^T x)
static void find_motion(newton *n, const double *x, double *v)
{
    const mo_system *s = n->s;
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_inviscid_force(n->k, n->p, n->f);
    mo_csr_push(&n->law.B, 1, x, n->f);
    memcpy(v, n->start, sizeof(double) * (size_t)n->dofs);
    mo_solids_apply_inverse(s, -s->dt, n->f, v);
}

// b = B u* - c + R v, projected; returns for how many pieces that took something.
static int32_t find_rhs(newton *n, const double *v, double notable)
{
    memcpy(n->b, n->b0, sizeof(double) * (size_t)n->rows);
    mo_inviscid_sweep(n->k, v, n->b);
    return mo_pieces_project(&n->k->pieces, n->rows, n->k->diagonal, n->b, notable);
}

// b = B u - c + R v of the liquid under pressure p: the residual of pressure rows; returns its max norm.
static double find_residual(newton *n, const double *v)
{
    find_rhs(n, v, INFINITY);
    mo_csr_multiply_add(&n->k->dual.A, -1, n->p, n->b);
    return mo_max_abs(n->rows, n->b);
}

// How far the forces x are from what the law asks at velocities v: as a velocity, like the residual of a row.
static double contact_residual(newton *n, const double *x, const double *v)
{
    if (!n->law.rows) return 0;
    mo_csr_multiply(&n->law.B, v, n->Bv);
    return mo_contact_law_residual(&n->law, n->Bv, x, n->x0);
}

// Norm of the dual right-hand side; the first residual.
static void find_norm(newton *n, mo_system_info *info, double tolerance)
{
    const mo_contact_law *l = &n->law;
    if (n->pressure) mo_block_residual(n->s, n->pressure, n->b0);
    double largest = mo_max_abs(n->rows, n->b0);
    for (int32_t t = 0; t < n->k->touching; t++) {
        int32_t i = n->k->touch[t];
        n->b0[i] -= mo_csr_row_product(&n->k->dual.on[MO_BODIES], i, n->start);
    }
    info->relaxed = find_rhs(n, n->start, tolerance * largest);
    n->norm = mo_max_abs(n->rows, n->b);
    for (int32_t i = 0; i < l->rows; i++) {
        if (!(l->stiffness[i] > 0)) continue;
        double Bv = mo_csr_row_product(&l->B, i, n->start);
        double b = Bv - l->c[i] + l->anchor[i] / l->stiffness[i], size = fabs(b);
        bool idle = (l->lower[i] == 0 && b < 0) || (l->upper[i] == 0 && b > 0); // asks for nothing (as in MPRGP)
        if (!idle) n->norm = size > n->norm || size != size ? size : n->norm;
    }
    if (!(n->norm > 1e-14 * largest)) n->norm = n->norm >= 0 ? 0 : n->norm;
}

// Which contacts hold, from velocities v and forces x that fit together under pressure p.
static mo_status predict(newton *n)
{
    mo_inviscid *k = n->k;
    int32_t steps;
    memcpy(n->before, n->v, sizeof(double) * (size_t)n->dofs);
    if (k->columns) { // what the residual of pressure will do to the bodies
        const mo_contact_law none = {.unknowns = n->dofs};
        find_residual(n, n->v);
        memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
        for (int32_t c = 0; c < k->columns; c++)
            n->f[k->column[c]] = -mo_dot_product(n->rows, k->Z + (size_t)c * (size_t)n->rows, n->b);
        mo_clusters_factor(&n->step.response, &k->C, &none);
        mo_clusters_solve(&n->step.response, n->f);
        for (int32_t i = 0; i < n->dofs; i++) n->before[i] += n->f[i];
    }
    MO_TRY(mo_contact_law_predict(&n->law, k->columns ? &k->C : &k->S, n->before, n->x, n->v, &steps));
    n->steps += abs(steps);
    return MO_OK;
}

// p, v and x of the linearised contacts; tolerance and residual are relative to the norm of the dual right-hand side.
static mo_solve_info solve_linear(newton *n, double tolerance, int32_t limit)
{
    mo_contact_law_expect(&n->law, n->start, n->x);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_csr_push(&n->law.B, 1, n->x, n->f);
    mo_clusters_solve(&n->step.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) n->v[i] = n->start[i] - n->f[i];
    find_rhs(n, n->v, INFINITY);
    double size = mo_max_abs(n->rows, n->b);
    mo_solve_info info = mo_inviscid_step_solve(&n->step, n->b, n->p, size > 0 ? tolerance * n->norm / size : 1, limit);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_inviscid_force(n->k, n->p, n->f);
    mo_clusters_solve(&n->step.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) n->v[i] -= n->f[i];
    mo_contact_law_expect(&n->law, n->v, n->x);
    info.residual *= size / n->norm;
    return info;
}

// ---- The loop ----

// The first linearisation: as the last forces say, or by prediction if the pressure's response or the pressure is
// known.
static mo_status start(newton *n)
{
    mo_contact_law_start(n->s, &n->law);
    if (!n->law.rows || !(!n->rows || n->k->columns || mo_max_abs(n->rows, n->p) > 0)) return MO_OK;
    return predict(n);
}

// Corrects the forces law.x of contacts, under which bodies move with n->before, by the linearised contacts. Where a
// heavy body stands on a light one, springs are so stiff that a rounding of velocities is a notable force: the law then
// gives forces from which these velocities do not follow. A correction is as precise as what it corrects is small.
// Returns what is left as contact_residual, never more than before.
static double correct(newton *n, double goal)
{
    const mo_contact_law *l = &n->law;
    double residual = contact_residual(n, l->x, n->before);
    for (int32_t pass = 0; pass < MAX_CORRECTIONS && residual > goal; pass++) {
        mo_contact_law_expect(l, n->before, n->x0);
        for (int32_t i = 0; i < l->rows; i++) n->x0[i] -= l->x[i];
        memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
        mo_csr_push(&l->B, 1, n->x0, n->f);
        mo_clusters_solve(&n->step.springs, n->f);
        mo_csr_multiply(&l->B, n->f, n->Bv);
        for (int32_t i = 0; i < l->rows; i++) {
            double across = l->cross[i] != 0 ? n->Bv[mo_contact_law_other(l, i)] : 0;
            n->trial[i] = l->x[i] + n->x0[i] - l->slope[i] * n->Bv[i] - l->cross[i] * across;
        }
        mo_contact_law_admit(l, n->trial);
        find_motion(n, n->trial, n->before);
        double next = contact_residual(n, n->trial, n->before);
        if (!(next < residual)) {
            find_motion(n, l->x, n->before);
            break;
        }
        memcpy(l->x, n->trial, sizeof(double) * (size_t)l->rows);
        residual = next;
    }
    return residual;
}

// One linearised solve; then the law's own forces, and how far they and the pressure are from a solution: *residual.
static mo_solve_info advance(newton *n, double tolerance, double goal, int32_t limit, double *residual)
{
    mo_solve_info info = solve_linear(n, tolerance, limit);
    if (n->law.rows) {
        mo_csr_multiply(&n->law.B, n->v, n->Bv);
        mo_contact_law_force(&n->law, n->Bv, n->law.x);
    }
    find_motion(n, n->law.x, n->before);
    *residual = correct(n, 0.5 * goal * n->norm) / n->norm;
    *residual = fmax(*residual, find_residual(n, n->before) / n->norm);
    return info;
}

static mo_status iterate(newton *n, const mo_solver_def *solver, mo_solve_info *all)
{
    double goal = solver->tolerance, tolerance = n->law.rows ? loose : goal;
    *all = (mo_solve_info){.reason = MO_REASON_STALLED};
    MO_TRY(start(n));
    for (int32_t step = 0; step < MAX_STEPS; step++) {
        mo_inviscid_step_factor(&n->step, &n->law);
        int32_t limit = solver->max_iterations - all->iterations;
        tolerance = fmax(tolerance, 0.5 * goal);
        mo_solve_info one = advance(n, tolerance, goal, limit < CG_ITERATIONS ? limit : CG_ITERATIONS, &all->residual);
        all->iterations += one.iterations;
        if (one.reason != MO_REASON_CONVERGED && one.reason != MO_REASON_NOTHING_TO_DO) return MO_OK;
        if (all->residual <= goal) {
            all->reason = MO_REASON_CONVERGED;
            return MO_OK;
        }
        // More than the linear solve has left: contacts open or close, and solves must get better or they might stay
        // where they are. Else only pressure is missing: go all the way.
        bool settled = all->residual <= 2 * one.residual;
        tolerance = settled ? 0.5 * goal : (one.iterations ? 0.3 : 0.1) * fmin(tolerance, all->residual);
        if (!settled) MO_TRY(predict(n));
    }
    return MO_OK;
}

static void take(newton *n)
{
    mo_system *s = n->s;
    const mo_csr *Bt = &n->k->dual.Bt;
    mo_pieces_project(&n->k->pieces, n->rows, NULL, n->p, INFINITY);
#pragma omp parallel for schedule(static) if (s->faces.count > SMALL)
    for (int32_t f = 0; f < (n->rows ? s->faces.count : 0); f++) {
        double force = 0;
        for (int64_t k = Bt->row[f]; k < Bt->row[f + 1]; k++) force += Bt->val[k] * n->p[Bt->col[k]];
        s->faces.velocity[f] -= s->dt / s->faces.mass[f] * force;
    }
    find_motion(n, n->law.x, n->v);
    mo_solids_set(s, n->v);
    if (n->rows) memcpy(n->pressure->x, n->p, sizeof(double) * (size_t)n->rows);
    mo_contact_law_take(&n->law, s);
}

static mo_status run(newton *n, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    mo_system *s = n->s;
    MO_TRY(newton_create(n, set, solver->cone));
    if (n->rows) memcpy(n->p, n->pressure->x, sizeof(double) * (size_t)n->rows);
    mo_pieces_project(&n->k->pieces, n->rows, NULL, n->p, INFINITY);
    for (int32_t i = 0; i < n->law.rows; i++) n->x[i] = mo_contact_law_last(&n->law, s, i);
    find_motion(n, n->x, n->v);
    find_norm(n, info, solver->tolerance);
    if (!isfinite(n->norm)) return MO_ERROR_FAILED;
    info->solve.reason = MO_REASON_STALLED;
    if (mo_clusters_work(&n->step.springs) > most_factor) return MO_OK;
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    if (n->norm > 0)
        MO_TRY(iterate(n, solver, &info->solve));
    else {
        memset(n->p, 0, sizeof(double) * (size_t)n->rows);
        for (int32_t i = 0; i < n->law.rows; i++) n->law.x[i] = 0;
    }
    if (info->solve.reason != MO_REASON_STALLED) take(n);
    return MO_OK;
}

// The cycle is symmetric only nearly: with very light bodies the product of columns may not be positive.
static mo_status run_again(newton *n, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    mo_status status = run(n, set, solver, info);
    newton_destroy(n);
    if (status != MO_OK || info->solve.reason != MO_REASON_STALLED || !n->k->columns) return status;
    int32_t before = info->solve.iterations;
    mo_inviscid_forgo(n->k);
    *n = (newton){.s = n->s, .k = n->k, .pressure = n->pressure};
    status = run(n, set, solver, info);
    newton_destroy(n);
    info->solve.iterations += before;
    return status;
}

mo_status mo_inviscid_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                            mo_error *err)
{
    double start = mo_wall_seconds();
    bool liquid = mo_set_has(s, set, MO_BLOCK_PRESSURE);
    mo_inviscid *solids = NULL, **kept = liquid ? &s->inviscid : &solids;
    *info = (mo_system_info){.rounds = 1};
    mo_status status = *kept ? MO_OK : mo_inviscid_create(s, liquid, kept);
    if (status == MO_OK) status = mo_inviscid_respond(s, *kept);
    if (status == MO_ERROR_INPUT) { // rows are not on distinct neighbouring cells
        info->solve.reason = MO_REASON_STALLED;
        return MO_OK;
    }
    if (status != MO_OK) return mo_fail_memory(err);
    newton n = {.s = s, .k = *kept, .pressure = liquid ? s->block[MO_BLOCK_PRESSURE] : NULL};
    info->pieces = n.k->pieces.count, info->enclosed = n.k->pieces.enclosed;
    double ready = mo_wall_seconds();
    status = run_again(&n, set, solver, info);
    if (!n.k->columns) mo_inviscid_count(n.k, info->solve.iterations);
    if (!liquid) info->solve.iterations = n.steps;
    info->bytes = mo_inviscid_bytes(n.k);
    mo_inviscid_destroy(solids);
    info->setup_seconds = ready - start, info->solve_seconds = mo_wall_seconds() - ready;
    if (status == MO_ERROR_FAILED) return mo_fail(err, status, "solve: the right-hand side is not finite");
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
