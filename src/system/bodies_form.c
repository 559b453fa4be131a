// Pressure and solids, contacts being springs: the linear step of Newton's method on the law of contact.
#include "system/bodies_form.h"
#include "base/parallel.h"
#include "system/contact_newton.h"
#include "system/form.h"
#include "system/bodies_solver.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

enum { MAX_CORRECTIONS = 3, CG_ITERATIONS = 100, SMALL = 4096 };
static const double most_factor = 1e8; // multiplications: larger heaps are left to MPRGP

typedef struct state {
    mo_system *s;
    mo_bodies_solver *k;
    mo_contact_law law;
    mo_bodies_step step;
    int32_t rows, dofs;
    double *p, *b0, *b;    // [rows] pressure; B u* - c; right-hand side, or residual
    double *last;          // [rows] pressure before it was last mixed
    double *v, *moved, *f; // [solids] velocities, by the law's own forces, forces
    double *start;         // [solids] v*
    double *x, *x0, *Bv;   // [rows of the law] forces, relative velocities
    double *trial;         // [rows of the law] forces, corrected
    double norm, linear;   // of the dual right-hand side; residual of the last linear step
    mo_block *pressure;    // NULL: not in the set
    int32_t predicted;     // steps of predictions
} state;

static void state_destroy(state *n)
{
    mo_bodies_step_destroy(&n->step);
    mo_contact_law_destroy(&n->law);
    mo_free(n->p), mo_free(n->v), mo_free(n->x);
}

static mo_status state_create(state *n, uint32_t set, bool cone)
{
    MO_TRY(mo_contact_law_create(n->s, set, cone, &n->law));
    MO_TRY(mo_bodies_step_create(n->k, &n->law, &n->step));
    n->rows = n->k->dual.rows, n->dofs = mo_solids_count(n->s);
    size_t rows = (size_t)n->rows, dofs = (size_t)n->dofs, contacts = (size_t)n->law.rows;
    n->p = mo_alloc(sizeof(double) * 4 * rows), n->v = mo_alloc(sizeof(double) * 4 * dofs);
    n->x = mo_alloc(sizeof(double) * 4 * contacts);
    if (!n->p || !n->v || !n->x) return MO_ERROR_MEMORY;
    n->b0 = n->p + rows, n->b = n->b0 + rows, n->last = n->b + rows;
    n->moved = n->v + dofs, n->f = n->moved + dofs, n->start = n->f + dofs;
    mo_solids_get(n->s, n->start);
    n->x0 = n->x + contacts, n->Bv = n->x0 + contacts, n->trial = n->Bv + contacts;
    return MO_OK;
}

// ---- Pieces of a step ----

// v = v* - dt W (R^T p + B^T x)
static void find_motion(state *n, const double *x, double *v)
{
    const mo_system *s = n->s;
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_bodies_solver_force(n->k, n->p, n->f);
    mo_csr_push(&n->law.B, 1, x, n->f);
    memcpy(v, n->start, sizeof(double) * (size_t)n->dofs);
    mo_solids_apply_inverse(s, -s->dt, n->f, v);
}

// b = B u* - c + R v, projected; returns how many pieces the projection changed.
static int32_t find_rhs(state *n, const double *v, double notable)
{
    memcpy(n->b, n->b0, sizeof(double) * (size_t)n->rows);
    mo_bodies_solver_sweep(n->k, v, n->b);
    return mo_pieces_project(&n->k->pieces, n->rows, n->k->diagonal, n->b, notable);
}

// b = B u - c + R v of the liquid under pressure p: the residual of pressure rows; returns its max norm.
static double find_residual(state *n, const double *v)
{
    find_rhs(n, v, INFINITY);
    mo_csr_multiply_add(&n->k->dual.A, -1, n->p, n->b);
    return mo_max_abs(n->rows, n->b);
}

// How far the forces x are from the law at velocities v, as a velocity, like the residual of a row.
static double contact_residual(state *n, const double *x, const double *v)
{
    if (!n->law.rows) return 0;
    mo_csr_multiply(&n->law.B, v, n->Bv);
    return mo_contact_law_residual(&n->law, n->Bv, x, n->x0);
}

// Norm of the dual right-hand side; the first residual.
static void find_norm(state *n, mo_system_info *info, double tolerance)
{
    if (n->pressure) mo_block_residual(n->s, n->pressure, n->b0);
    double largest = mo_max_abs(n->rows, n->b0);
    for (int32_t t = 0; t < n->k->touching; t++) {
        int32_t i = n->k->touch[t];
        n->b0[i] -= mo_csr_row_product(&n->k->dual.on[MO_BODIES], i, n->start);
    }
    info->relaxed = find_rhs(n, n->start, tolerance * largest);
    n->norm = mo_contact_law_norm(&n->law, n->start, mo_max_abs(n->rows, n->b));
    if (!(n->norm > 1e-14 * largest)) n->norm = n->norm >= 0 ? 0 : n->norm;
}

// ---- The functions that Newton's method calls ----

// Adds the effect that the residual of pressure will have on the solids to v.
static const mo_csr *resist(void *form, double *v)
{
    state *n = form;
    mo_bodies_solver *k = n->k;
    if (!k->wet.columns) return &k->S;
    const mo_contact_law none = {.unknowns = n->dofs};
    find_residual(n, v);
    mo_woodbury_gather(&k->wet, -1, n->b, n->f);
    mo_clusters_factor(&n->step.response, &k->wet.C, &none);
    mo_clusters_solve(&n->step.response, n->f);
    for (int32_t i = 0; i < n->dofs; i++) v[i] += n->f[i];
    return &k->wet.C;
}

// p and v of the linearised contacts.
static mo_status solve_linear(void *form, double tolerance, int32_t limit, double *v, mo_solve_info *info)
{
    state *n = form;
    mo_bodies_step_factor(&n->step, &n->law);
    mo_contact_law_expect(&n->law, n->start, n->x0);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_csr_push(&n->law.B, 1, n->x0, n->f);
    mo_clusters_solve(&n->step.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) v[i] = n->start[i] - n->f[i];
    find_rhs(n, v, INFINITY);
    double size = mo_max_abs(n->rows, n->b);
    *info = mo_bodies_step_solve(&n->step, n->b, n->p, size > 0 ? tolerance * n->norm / size : 1,
                                 limit < CG_ITERATIONS ? limit : CG_ITERATIONS);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_bodies_solver_force(n->k, n->p, n->f);
    mo_clusters_solve(&n->step.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) v[i] -= n->f[i];
    n->linear = info->residual *= size / n->norm;
    return MO_OK;
}

static void mix(void *form, double t)
{
    state *n = form;
    for (int32_t i = 0; i < n->rows && t < 1; i++) n->p[i] = (1 - t) * n->last[i] + t * n->p[i];
    if (n->rows) memcpy(n->last, n->p, sizeof(double) * (size_t)n->rows);
}

// Corrects the forces law.x of contacts, under which solids move with n->moved, by the linearised contacts. Where a
// heavy body stands on a light one, springs are so stiff that a rounding error of velocities is a notable force. Then
// the forces of the law do not lead to the velocities at which they were computed. The smaller the error, the more
// precise is its correction. Returns the remaining contact_residual, which is never larger than before.
static double correct(state *n, double goal)
{
    const mo_contact_law *l = &n->law;
    double residual = contact_residual(n, l->x, n->moved);
    for (int32_t pass = 0; pass < MAX_CORRECTIONS && residual > goal; pass++) {
        mo_contact_law_expect(l, n->moved, n->x0);
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
        find_motion(n, n->trial, n->moved);
        double next = contact_residual(n, n->trial, n->moved);
        if (!(next < residual)) {
            find_motion(n, l->x, n->moved);
            break;
        }
        memcpy(l->x, n->trial, sizeof(double) * (size_t)l->rows);
        residual = next;
    }
    return residual;
}

// The law's own forces, and how far they and the pressure are from a solution.
static double settle(void *form, const double *v, const double *x, double goal, bool *settled)
{
    state *n = form;
    (void)x;
    if (n->law.rows) {
        mo_csr_multiply(&n->law.B, v, n->Bv);
        mo_contact_law_force(&n->law, n->Bv, n->law.x);
    }
    find_motion(n, n->law.x, n->moved);
    double residual = correct(n, 0.5 * goal * n->norm) / n->norm;
    residual = fmax(residual, find_residual(n, n->moved) / n->norm);
    *settled = residual <= 2 * n->linear; // not larger than the residual of the linear step
    return residual;
}

// The first linearisation follows from the last forces, or from a prediction if the pressure's response or the pressure
// is known.
static mo_status iterate(state *n, const mo_solver_def *solver, mo_solve_info *info)
{
    mo_contact_form form = {n,   solve_linear,    settle,        resist,
                            mix, .norm = n->norm, .loose = 3e-2, .least = 0.5 * solver->tolerance};
    form.known = !n->rows || n->k->wet.columns || mo_max_abs(n->rows, n->p) > 0;
    mo_contact_law_start(n->s, &n->law);
    return mo_contact_newton(&n->law, &form, solver->tolerance, solver->max_iterations, n->v, n->x, info,
                             &n->predicted);
}

static void take(state *n)
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

static mo_status run(state *n, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    mo_system *s = n->s;
    MO_TRY(state_create(n, set, solver->cone));
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
static mo_status run_again(state *n, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    mo_status status = run(n, set, solver, info);
    state_destroy(n);
    if (status != MO_OK || info->solve.reason != MO_REASON_STALLED || !n->k->wet.columns) return status;
    int32_t before = info->solve.iterations;
    mo_bodies_solver_forgo(n->k);
    *n = (state){.s = n->s, .k = n->k, .pressure = n->pressure};
    status = run(n, set, solver, info);
    state_destroy(n);
    info->solve.iterations += before;
    return status;
}

mo_status mo_bodies_form_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                               mo_error *err)
{
    MO_ASSERT(set != 0 && s->dt >= 0);
    double start = mo_wall_seconds();
    bool liquid = mo_set_has(s, set, MO_BLOCK_PRESSURE);
    mo_bodies_solver *solids = NULL, **kept = liquid ? &s->bodies_solver : &solids;
    *info = (mo_system_info){.rounds = 1};
    mo_status status = *kept ? MO_OK : mo_bodies_solver_create(s, liquid, kept);
    if (status == MO_OK) status = mo_bodies_solver_respond(*kept);
    if (status == MO_ERROR_INPUT) { // rows are not on distinct neighbouring cells
        info->solve.reason = MO_REASON_STALLED;
        return MO_OK;
    }
    if (status != MO_OK) return mo_fail_memory(err);
    state n = {.s = s, .k = *kept, .pressure = liquid ? s->block[MO_BLOCK_PRESSURE] : NULL};
    info->pieces = n.k->pieces.count, info->enclosed = n.k->pieces.enclosed;
    double ready = mo_wall_seconds();
    status = run_again(&n, set, solver, info);
    if (!n.k->wet.columns) mo_bodies_solver_count(n.k, info->solve.iterations);
    if (!liquid) info->solve.iterations = n.predicted;
    info->bytes = mo_bodies_solver_bytes(n.k);
    mo_bodies_solver_destroy(solids);
    info->setup_seconds = ready - start, info->solve_seconds = mo_wall_seconds() - ready;
    if (status == MO_ERROR_FAILED) return mo_fail(err, status, "solve: the right-hand side is not finite");
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
