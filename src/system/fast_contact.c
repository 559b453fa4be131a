// Contact on the fast route: Newton's method over the law (contact_law.h), each step a solve of the form with springs.
//
// A solve with the forces of the last step tells how all moves with them; then a small problem, in which the bodies
// meet an estimated resistance, tells which contacts hold, and a solve with those as springs what it comes to. Pairs of
// forces and velocities from the solves correct the estimate.
#include "system/fast_solver.h"
#include <math.h>
#include <string.h>

enum { MOST_NEWTON = 100, HASTY = 6 }; // steps; those that need not lead downwards

// How solids resist to being pushed. Dry ones by their mass; of wet ones an estimate, improved by every solve.
typedef struct resistance {
    int32_t dofs, wet, *dof; // [wet] movable unknowns of wet solids
    double *S;               // [wet x wet]
    double *v, *f;           // [wet] velocity and contact force of the last solve
    double *s, *y, *t;       // [wet] scratch
    mo_csr all;              // [dofs x dofs] with S
    bool known;              // there was a last solve
} resistance;

static void resistance_destroy(resistance *q)
{
    mo_csr_destroy(&q->all);
    mo_free(q->dof), mo_free(q->S);
}

// Marks the unknowns that the liquid pushes, and those that move only with them.
static void mark_wet(const mo_fast_form *f, uint8_t *wet)
{
    const mo_block *const block[2] = {f->stress, f->pressure};
    const mo_csr *M = &f->inertia;
    for (int b = 0; b < 2; b++) {
        const mo_csr *R = block[b] ? &block[b]->on[MO_BODIES] : NULL;
        for (int64_t k = 0; R && k < mo_csr_entries(R); k++)
            if (R->val[k] != 0) wet[R->col[k]] = 1;
    }
    for (int32_t i = 0; i < M->rows; i++)
        for (int64_t k = M->row[i]; k < M->row[i + 1] && wet[i] == 1; k++)
            if (!wet[M->col[k]]) wet[M->col[k]] = 2;
}

// The pattern: all that is wet together, the others by their masses.
static void resistance_pattern(const mo_csr *M, const uint8_t *wet, mo_csr *all)
{
    int64_t at = 0;
    for (int32_t i = 0; i < M->rows; i++) {
        for (int32_t j = 0; j < M->rows && wet[i]; j++)
            if (wet[j]) all->col[at] = j, all->val[at++] = 0;
        for (int64_t k = M->row[i]; k < M->row[i + 1] && !wet[i]; k++)
            all->col[at] = M->col[k], all->val[at++] = M->val[k];
        all->row[i + 1] = at;
    }
}

static mo_status resistance_create(mo_fast *s, resistance *q)
{
    const mo_fast_form *f = &s->form;
    int32_t n = f->extra;
    q->dofs = f->inertia.rows;
    double *dense = s->springs + (size_t)q->dofs * (size_t)q->dofs;
    uint8_t *wet = mo_calloc((size_t)q->dofs);
    q->dof = mo_alloc(sizeof(int32_t) * (size_t)q->dofs);
    mo_status status =
        wet && q->dof ? mo_csr_create(q->dofs, q->dofs, (int64_t)q->dofs * q->dofs, &q->all) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        mark_wet(f, wet);
        resistance_pattern(&f->inertia, wet, &q->all);
        for (int32_t i = 0; i < q->dofs; i++)
            if (wet[i] && f->dof[i] >= 0) q->dof[q->wet++] = i;
        size_t m = (size_t)q->wet;
        q->S = mo_calloc(sizeof(double) * (m * m + 5 * m));
        if (!q->S) status = MO_ERROR_MEMORY;
    }
    if (status == MO_OK) {
        size_t m = (size_t)q->wet;
        q->v = q->S + m * m, q->f = q->v + m, q->s = q->f + m, q->y = q->s + m, q->t = q->y + m;
        mo_face_multigrid_resistance(s->faces, dense);
        for (int32_t i = 0; s->wet.count && i < n * n; i++) dense[i] += s->wet.G[i];
        for (int32_t i = 0; i < q->wet; i++)
            for (int32_t j = 0; j < q->wet; j++) {
                int32_t d = f->dof[q->dof[i]], e = f->dof[q->dof[j]];
                q->S[i * q->wet + j] = 0.5 * (dense[d * n + e] + dense[e * n + d]) / (f->scale[d] * f->scale[e]);
            }
    }
    mo_free(wet);
    return status;
}

// S to the whole.
static void resistance_place(resistance *q)
{
    for (int32_t i = 0; i < q->wet; i++) {
        int64_t k = q->all.row[q->dof[i]];
        for (int32_t j = 0; j < q->wet; j++) {
            while (q->all.col[k] != q->dof[j]) k++;
            q->all.val[k] = q->S[i * q->wet + j];
        }
    }
}

// Forces x [rows] moved the bodies to v: two such pairs tell how they resist in that direction (BFGS).
static void resistance_learn(resistance *q, const mo_csr *B, const double *v, const double *x, double *force)
{
    int32_t n = q->wet;
    memset(force, 0, sizeof(double) * (size_t)q->dofs);
    mo_csr_push(B, -1, x, force);
    double work = 0, model = 0;
    for (int32_t i = 0; i < n; i++) {
        q->s[i] = v[q->dof[i]] - q->v[i], q->y[i] = force[q->dof[i]] - q->f[i];
        q->v[i] = v[q->dof[i]], q->f[i] = force[q->dof[i]];
        work += q->s[i] * q->y[i];
    }
    for (int32_t i = 0; i < n; i++) {
        q->t[i] = 0;
        for (int32_t j = 0; j < n; j++) q->t[i] += q->S[i * n + j] * q->s[j];
        model += q->s[i] * q->t[i];
    }
    if (q->known && work > 1e-3 * model && model > 0)
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) q->S[i * n + j] += q->y[i] * q->y[j] / work - q->t[i] * q->t[j] / model;
    q->known = true;
    resistance_place(q);
}

void mo_fast_load_contacts(mo_fast *s)
{
    mo_fast_form *f = &s->form;
    s->sprung = s->law.rows > 0;
    int32_t dofs = f->system->bodies.count;
    double *springs = s->springs, *change = springs + (size_t)dofs * (size_t)dofs, *push = s->dv,
           *scratch = change + (size_t)f->extra * (size_t)f->extra;
    memset(springs, 0, sizeof(double) * (size_t)dofs * (size_t)dofs);
    memset(push, 0, sizeof(double) * (size_t)dofs);
    mo_contact_law_springs(&s->law, springs);
    mo_csr_push(&s->law.B, 1, s->law.offset, push);
    mo_fast_form_springs(f, springs, change);
    mo_face_multigrid_corner(s->faces, change, scratch);
    mo_fast_load_wet(s, change);
    for (int32_t k = 0; k < dofs; k++)
        if (f->dof[k] >= 0) s->b[f->faces + f->dof[k]] = f->f[f->faces + f->dof[k]] - f->scale[f->dof[k]] * push[k];
}

// A state: velocities v of the solids [unknowns], and the forces x [rows] with which all else is at rest with them.
typedef struct state {
    double *v, *x;
} state;

// Derivative of what is minimised along the way from one state to the next, at t: force by the law against force there.
static double slope_at(const mo_contact_law *l, state from, state to, double t, double *Bv, double *force)
{
    double sum = 0;
    for (int32_t i = 0; i < l->rows; i++) {
        double a = mo_csr_row_product(&l->B, i, from.v), b = mo_csr_row_product(&l->B, i, to.v);
        Bv[i] = (1 - t) * a + t * b;
    }
    mo_contact_law_force(l, Bv, force);
    for (int32_t i = 0; i < l->rows; i++) {
        double way = mo_csr_row_product(&l->B, i, to.v) - mo_csr_row_product(&l->B, i, from.v);
        sum += way * (force[i] - (1 - t) * from.x[i] - t * to.x[i]);
    }
    return sum;
}

// How far to go: 1 if it still falls there or almost levels; 0 if it does not fall at all.
static double search(const mo_contact_law *l, state from, state to, double *scratch)
{
    double *Bv = scratch, *force = scratch + l->rows, low = 0, high = 1;
    double start = slope_at(l, from, to, 0, Bv, force);
    if (!(start < 0)) return 0;
    if (!(slope_at(l, from, to, 1, Bv, force) > 0.1 * -start)) return 1;
    for (int k = 0; k < 20; k++) {
        double middle = 0.5 * (low + high);
        if (slope_at(l, from, to, middle, Bv, force) > 0)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void mix(int32_t n, double t, const double *from, double *to)
{
    for (int32_t i = 0; i < n; i++) to[i] = (1 - t) * from[i] + t * to[i];
}

// How far forces are from what the law asks at these velocities: as the residual of rows, relative to their norm. Light
// bodies count beside heavy ones, whose forces would hide theirs.
static double mismatch(const mo_contact_law *l, state s, double norm, double *scratch)
{
    mo_csr_multiply(&l->B, s.v, scratch);
    return mo_contact_law_residual(l, scratch, s.x, scratch + l->rows) / norm;
}

typedef struct newton {
    mo_fast *s;
    resistance q;
    double *memory, *before; // before [size]: solution of the last state
    state now, last;
    double *v, *scratch; // [unknowns], [max(2 rows, unknowns)]
} newton;

static mo_status newton_create(mo_fast *s, newton *n)
{
    size_t rows = (size_t)s->law.rows, dofs = (size_t)s->law.unknowns;
    *n = (newton){.s = s, .memory = mo_alloc(sizeof(double) * ((size_t)s->size + 4 * rows + 4 * dofs))};
    if (!n->memory) return MO_ERROR_MEMORY;
    n->before = n->memory;
    n->now.x = n->before + s->size, n->last.x = n->now.x + rows, n->scratch = n->last.x + rows;
    n->now.v = n->scratch + 2 * rows + dofs, n->last.v = n->now.v + dofs, n->v = n->last.v + dofs;
    return resistance_create(s, &n->q);
}

// After a solve: the state it found or, if safe is asked for, one on the way there. Returns how far it went.
static double step(newton *n, bool safe)
{
    mo_fast *s = n->s;
    mo_contact_law *l = &s->law;
    int32_t dofs = l->unknowns;
    mo_fast_velocity(&s->form, s->x, s->du, s->dv);
    memcpy(n->now.v, s->dv, sizeof(double) * (size_t)dofs);
    mo_contact_law_expect(l, n->now.v, n->now.x);
    resistance_learn(&n->q, &l->B, n->now.v, n->now.x, n->scratch);
    double t = 1;
    if (safe && mismatch(l, n->now, s->norm, n->scratch) > s->solver->tolerance)
        t = search(l, n->last, n->now, n->scratch);
    if (t < 1) {
        mix(s->size, t, n->before, s->x);
        mix(dofs, t, n->last.v, n->now.v), mix(l->rows, t, n->last.x, n->now.x);
    }
    memcpy(n->before, s->x, sizeof(double) * (size_t)s->size);
    memcpy(n->last.v, n->now.v, sizeof(double) * (size_t)dofs);
    memcpy(n->last.x, n->now.x, sizeof(double) * (size_t)l->rows);
    return t;
}

// Newton's method over contacts, each step about what a small problem expects of them - or, where that leads nowhere,
// about where they are: loosely while it is not known which of them hold.
static mo_status iterate(newton *n, int32_t limit, mo_solve_info *info)
{
    const double loose = 0.1;
    mo_fast *s = n->s;
    mo_contact_law *l = &s->law;
    double tolerance = s->solver->tolerance, now = fmax(loose, tolerance);
    for (int32_t i = 0; i < l->rows; i++) l->slope[i] = l->cross[i] = 0, l->offset[i] = l->x[i]; // forces as they were
    for (int32_t k = 0; k < MOST_NEWTON; k++) {
        int32_t steps = 0, before = info->iterations;
        mo_fast_load_contacts(s);
        MO_TRY(mo_fast_solve_linear(s, now, limit - info->iterations, info));
        if (info->reason != MO_REASON_CONVERGED) return MO_OK;
        double t = step(n, k > HASTY), change = mismatch(l, n->now, s->norm, n->scratch);
        mo_contact_law_linearise(l, n->now.v);
        if (t == 1 && !(change > tolerance)) {
            if (now <= tolerance) return MO_OK;
            now = tolerance;
            continue;
        }
        if (info->iterations == before || k % 4 == 3) now = fmax(0.1 * now, tolerance); // too loose to tell
        if (t > 0) MO_TRY(mo_contact_law_predict(l, &n->q.all, n->now.v, n->now.x, n->v, &steps));
    }
    info->reason = MO_REASON_STALLED;
    return MO_OK;
}

mo_status mo_fast_solve_contacts(mo_fast *s, int32_t limit, mo_solve_info *info)
{
    newton n;
    mo_status status = newton_create(s, &n);
    info->reason = MO_REASON_STALLED;
    if (status == MO_OK) status = iterate(&n, limit, info);
    resistance_destroy(&n.q);
    mo_free(n.memory);
    return status;
}
