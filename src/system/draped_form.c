// Cloth in liquid that touches something: the functions of Newton's method on the law of contact.
#include "system/draped_form.h"
#include "base/parallel.h"
#include "system/contact_newton.h"
#include "system/contact_respond.h"
#include "system/draped_solver.h"
#include "system/solids.h"
#include <math.h>
#include <string.h>

enum { CG_ITERATIONS = 200, CORRECTIONS = 3 };

typedef struct state {
    mo_system *s;
    mo_draped_solver k;
    mo_contact_law law;
    int32_t rows, dofs;
    double *p, *b0, *b, *last;     // [rows] pressure; B u* - c without solids; right-hand side or residual; p before
    double *v, *moved, *f, *start; // [solids] velocities; by the law's own forces; forces; v*
    double *x, *x0, *Bv, *trial;   // [rows of the law]
    double norm, linear;           // of the right-hand side; residual of the last linear step
    int32_t predicted;
    mo_expansion expansion; // of the solver
} state;

bool mo_draped_applies(const mo_system *s, uint32_t set)
{
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    bool contacts = mo_set_has(s, set, MO_BLOCK_CONTACT) || mo_set_has(s, set, MO_BLOCK_FRICTION);
    if (!s->nodes.count || !contacts || mo_set_has(s, set, MO_BLOCK_STRESS)) return false;
    return mo_set_has(s, set, MO_BLOCK_PRESSURE) && p->cloth && !p->compliance.rows && !p->lower && !p->upper &&
           p->coord;
}

static void state_destroy(state *n)
{
    mo_draped_solver_destroy(&n->k);
    mo_contact_law_destroy(&n->law);
    mo_free(n->p), mo_free(n->v), mo_free(n->x);
}

static mo_status state_create(state *n, uint32_t set, bool cone)
{
    MO_TRY(mo_contact_law_create(n->s, set, cone, &n->law));
    MO_TRY(mo_draped_solver_create(n->s, &n->law, &n->k));
    n->rows = n->k.L.rows, n->dofs = n->k.S.rows;
    size_t rows = (size_t)n->rows, dofs = (size_t)n->dofs, contacts = (size_t)n->law.rows;
    n->p = mo_alloc(sizeof(double) * 4 * rows), n->v = mo_alloc(sizeof(double) * 4 * dofs);
    n->x = mo_alloc(sizeof(double) * 4 * contacts);
    if (!n->p || !n->v || !n->x) return MO_ERROR_MEMORY;
    n->b0 = n->p + rows, n->b = n->b0 + rows, n->last = n->b + rows;
    n->moved = n->v + dofs, n->f = n->moved + dofs, n->start = n->f + dofs;
    n->x0 = n->x + contacts, n->Bv = n->x0 + contacts, n->trial = n->Bv + contacts;
    mo_solids_get(n->s, n->start);
    return MO_OK;
}

// ---- Pieces of a step ----

// v = v* - dt H^-1 (R^T p + B^T x)
static void find_motion(state *n, const double *x, double *v)
{
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_csr_push(&n->k.R, 1, n->p, n->f);
    mo_csr_push(&n->law.B, 1, x, n->f);
    memcpy(v, n->start, sizeof(double) * (size_t)n->dofs);
    mo_solids_apply_inverse(n->s, -n->s->dt, n->f, v);
}

// b = B u* - c + R v
static int32_t find_rhs(state *n, const double *v, double notable)
{
    memcpy(n->b, n->b0, sizeof(double) * (size_t)n->rows);
    mo_csr_multiply_add(&n->k.R, 1, v, n->b);
    return mo_pieces_project(&n->k.pieces, n->rows, n->k.diagonal, n->b, notable);
}

// The error of the rows of pressure where solids move with v.
static double pressure_residual(state *n, const double *v)
{
    find_rhs(n, v, INFINITY);
    mo_csr_multiply_add(&n->k.L, -1, n->p, n->b);
    return mo_max_abs(n->rows, n->b);
}

static double contact_residual(state *n, const double *x, const double *v)
{
    mo_csr_multiply(&n->law.B, v, n->Bv);
    return mo_contact_law_residual(&n->law, n->Bv, x, n->x0);
}

static void find_norm(state *n, mo_system_info *info, double tolerance)
{
    mo_block_residual(n->s, n->s->block[MO_BLOCK_PRESSURE], n->b0);
    double largest = mo_max_abs(n->rows, n->b0);
    mo_csr_multiply_add(&n->k.R, -1, n->start, n->b0);
    info->relaxed = find_rhs(n, n->start, tolerance * largest);
    n->norm = mo_contact_law_norm(&n->law, n->start, mo_max_abs(n->rows, n->b));
    if (!(n->norm > 1e-14 * largest)) n->norm = n->norm >= 0 ? 0 : n->norm;
}

// ---- The functions that Newton's method calls ----

static mo_status solve_linear(void *form, double tolerance, int32_t limit, double *v, mo_solve_info *info)
{
    state *n = form;
    MO_TRY(mo_draped_solver_factor(&n->k, &n->law));
    mo_contact_law_expect(&n->law, n->start, n->x0);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_csr_push(&n->law.B, 1, n->x0, n->f);
    mo_sprung_solve(&n->k.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) v[i] = n->start[i] - n->f[i];
    find_rhs(n, v, INFINITY);
    double size = mo_max_abs(n->rows, n->b);
    *info = mo_draped_solver_run(&n->k, n->b, n->p, size > 0 ? tolerance * n->norm / size : 1,
                                 limit < CG_ITERATIONS ? limit : CG_ITERATIONS);
    memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
    mo_csr_push(&n->k.R, 1, n->p, n->f);
    mo_sprung_solve(&n->k.springs, n->f);
    for (int32_t i = 0; i < n->dofs; i++) v[i] -= n->f[i];
    n->linear = info->residual *= size / n->norm;
    return MO_OK;
}

static void mix(void *form, double t)
{
    state *n = form;
    for (int32_t i = 0; i < n->rows && t < 1; i++) n->p[i] = (1 - t) * n->last[i] + t * n->p[i];
    memcpy(n->last, n->p, sizeof(double) * (size_t)n->rows);
}

// Corrects the forces law.x by the linearised contacts: stiff springs make forces of rounding errors of velocities.
static double correct(state *n, double goal)
{
    const mo_contact_law *l = &n->law;
    double residual = contact_residual(n, l->x, n->moved);
    for (int32_t pass = 0; pass < CORRECTIONS && residual > goal; pass++) {
        mo_contact_law_expect(l, n->moved, n->x0);
        for (int32_t i = 0; i < l->rows; i++) n->x0[i] -= l->x[i];
        memset(n->f, 0, sizeof(double) * (size_t)n->dofs);
        mo_csr_push(&l->B, 1, n->x0, n->f);
        mo_sprung_solve(&n->k.springs, n->f);
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

static double settle(void *form, const double *v, const double *x, double goal, bool *settled)
{
    state *n = form;
    (void)v;
    memcpy(n->law.x, x, sizeof(double) * (size_t)n->law.rows);
    mo_contact_law_admit(&n->law, n->law.x);
    find_motion(n, n->law.x, n->moved);
    double residual = correct(n, 0.5 * goal * n->norm) / n->norm;
    residual = fmax(residual, pressure_residual(n, n->moved) / n->norm);
    *settled = residual <= 2 * n->linear;
    return residual;
}

// Solids respond by G^-1: as if each row of pressure at them resisted alone.
static void give(const void *user, const double *f, double *v)
{
    const mo_draped_solver *k = user;
    memcpy(v, f, sizeof(double) * (size_t)k->G.rows);
    mo_sprung_solve(&k->response, v);
}

static mo_status predict(void *form, const double *v0, const double *x0, double *v, int32_t *steps)
{
    state *n = form;
    mo_contact_response response = {&n->law.B, give, &n->k, n->expansion};
    MO_TRY(mo_sprung_release(&n->k.response));
    MO_TRY(mo_contact_respond(&n->law, &response, v0, x0, n->trial, n->f, steps));
    for (int32_t i = 0; i < n->dofs; i++) v[i] = v0[i] + n->f[i];
    mo_csr_multiply(&n->law.B, v, n->Bv);
    mo_contact_law_hold(&n->law, n->trial, n->Bv);
    return MO_OK;
}

// ---- The form ----

static mo_status iterate(state *n, const mo_solver_def *solver, mo_solve_info *info)
{
    mo_contact_form form = {.form = n,
                            .solve = solve_linear,
                            .settle = settle,
                            .mix = mix,
                            .predict = predict,
                            .norm = n->norm,
                            .loose = 3e-2,
                            .least = 0.5 * solver->tolerance,
                            .known = mo_max_abs(n->rows, n->p) > 0};
    mo_contact_law_start(n->s, &n->law);
    return mo_contact_newton(&n->law, &form, solver->tolerance, solver->max_iterations, n->v, n->x, info,
                             &n->predicted);
}

static void take(state *n)
{
    mo_system *s = n->s;
    mo_block *p = s->block[MO_BLOCK_PRESSURE];
    mo_pieces_project(&n->k.pieces, n->rows, NULL, n->p, INFINITY);
    memcpy(p->x, n->p, sizeof(double) * (size_t)n->rows);
    find_motion(n, n->law.x, n->v);
    mo_solids_set(s, n->v);
    mo_contact_law_take(&n->law, s);
    mo_group_push(&s->faces, s->dt, &p->on[MO_FACES], n->p, n->k.force);
}

static mo_status run(state *n, uint32_t set, const mo_solver_def *solver, mo_system_info *info)
{
    MO_TRY(state_create(n, set, solver->cone));
    info->pieces = n->k.pieces.count, info->enclosed = n->k.pieces.enclosed;
    memcpy(n->p, n->s->block[MO_BLOCK_PRESSURE]->x, sizeof(double) * (size_t)n->rows);
    mo_pieces_project(&n->k.pieces, n->rows, NULL, n->p, INFINITY);
    for (int32_t i = 0; i < n->law.rows; i++) n->x[i] = mo_contact_law_last(&n->law, n->s, i);
    find_motion(n, n->x, n->v);
    find_norm(n, info, solver->tolerance);
    if (!isfinite(n->norm)) return MO_ERROR_INPUT;
    info->solve.reason = MO_REASON_NOTHING_TO_DO;
    if (n->norm > 0)
        MO_TRY(iterate(n, solver, &info->solve));
    else {
        memset(n->p, 0, sizeof(double) * (size_t)n->rows);
        for (int32_t i = 0; i < n->law.rows; i++) n->law.x[i] = 0;
    }
    if (mo_is_solved(&info->solve)) take(n);
    return MO_OK;
}

mo_status mo_draped_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err)
{
    double start = mo_wall_seconds();
    MO_ASSERT(mo_draped_applies(s, set));
    state n = {.s = s, .expansion = solver->expansion};
    mo_status status = run(&n, set, solver, info);
    state_destroy(&n);
    info->solve_seconds += mo_wall_seconds() - start;
    if (status == MO_ERROR_FAILED) { // a matrix with springs is not positive in double precision
        info->solve.reason = MO_REASON_STALLED;
        return MO_OK;
    }
    if (status == MO_ERROR_INPUT) return mo_fail(err, MO_ERROR_FAILED, "solve: the right-hand side is not finite");
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}
