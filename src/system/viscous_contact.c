// Contact in viscous liquids: the linear step of Newton's method on the law (contact_newton.h) is a solve of the form
// with springs. The first has the forces of the last step; pairs of forces and velocities from the solves correct an
// estimate of how solids resist.
#include "system/contact_newton.h"
#include "system/viscous_solver.h"
#include <math.h>
#include <string.h>

// The resistance of solids to forces. Dry solids resist by their mass; for wet ones it is an estimate that every solve
// improves.
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
static void mark_wet(const mo_viscous_form *f, uint8_t *wet)
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

// The pattern: all wet unknowns together, the others by their masses.
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

static mo_status resistance_create(mo_viscous_solver *s, resistance *q)
{
    const mo_viscous_form *f = &s->form;
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
        for (int32_t i = 0; i < q->wet; i++)
            for (int32_t j = 0; j < q->wet; j++) {
                int32_t d = f->dof[q->dof[i]], e = f->dof[q->dof[j]];
                q->S[i * q->wet + j] = 0.5 * (dense[d * n + e] + dense[e * n + d]) / (f->scale[d] * f->scale[e]);
                if (s->wet.columns) q->S[i * q->wet + j] += mo_csr_entry(&s->wet.G, q->dof[i], q->dof[j]);
            }
    }
    mo_free(wet);
    return status;
}

// Copies S into the whole matrix.
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

// Forces x [rows] moved the bodies to v: two such pairs show how they resist in that direction (BFGS).
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

// Puts the springs of the present linearisation into K and the hierarchy, and its forces into the right-hand side b.
static mo_status load_contacts(mo_viscous_solver *s)
{
    mo_viscous_form *f = &s->form;
    s->sprung = s->law.rows > 0;
    int32_t dofs = f->inertia.rows;
    if (mo_viscous_has_nodes(&s->form)) return mo_viscous_touch_load(s);
    double *springs = s->springs, *change = springs + (size_t)dofs * (size_t)dofs, *push = s->dv,
           *scratch = change + (size_t)f->extra * (size_t)f->extra;
    memset(springs, 0, sizeof(double) * (size_t)dofs * (size_t)dofs);
    memset(push, 0, sizeof(double) * (size_t)dofs);
    mo_contact_law_springs(&s->law, springs);
    mo_csr_push(&s->law.B, 1, s->law.offset, push);
    mo_viscous_form_springs(f, springs, change);
    mo_face_multigrid_corner(s->faces, change, scratch);
    if (s->wet.columns) mo_clusters_factor(&s->core, &s->wet.C, &s->law);
    for (int32_t k = 0; k < dofs; k++)
        if (f->dof[k] >= 0) s->b[f->faces + f->dof[k]] = f->f[f->faces + f->dof[k]] - f->scale[f->dof[k]] * push[k];
    return MO_OK;
}

// ---- The functions that Newton's method calls ----

typedef struct viscous {
    mo_viscous_solver *s;
    resistance q;
    double *before;  // [size] solution when it was last mixed
    double *x;       // [rows]
    double *scratch; // [2 rows + unknowns]
    double linear;   // residual of the last step
} viscous;

static mo_status solve_linear(void *form, double tolerance, int32_t limit, double *v, mo_solve_info *info)
{
    viscous *n = form;
    mo_viscous_solver *s = n->s;
    if (s->law.rows || s->sprung) MO_TRY(load_contacts(s));
    MO_TRY(mo_viscous_solve_linear(s, tolerance, limit, info));
    n->linear = info->residual;
    mo_viscous_velocity(&s->form, s->x, s->du, s->dv);
    memcpy(v, s->dv, sizeof(double) * (size_t)s->law.unknowns);
    if (!s->law.rows) return MO_OK;
    mo_contact_law_expect(&s->law, v, n->x);
    if (mo_viscous_has_nodes(&s->form))
        mo_viscous_touch_learn(s, n->x);
    else
        resistance_learn(&n->q, &s->law.B, v, n->x, n->scratch);
    return MO_OK;
}

static void mix(void *form, double t)
{
    viscous *n = form;
    double *x = n->s->x;
    for (int32_t i = 0; i < n->s->size && t < 1; i++) x[i] = (1 - t) * n->before[i] + t * x[i];
    memcpy(n->before, x, sizeof(double) * (size_t)n->s->size);
}

// How far forces are from the law at these velocities, as the residual of rows relative to their norm. So light bodies
// count beside heavy ones, whose forces would hide theirs.
static double settle(void *form, const double *v, const double *x, double goal, bool *settled)
{
    viscous *n = form;
    mo_contact_law *l = &n->s->law;
    *settled = true;
    if (!l->rows) return n->linear;
    mo_csr_multiply(&l->B, v, n->scratch);
    double missing = mo_contact_law_residual(l, n->scratch, x, n->scratch + l->rows) / n->s->norm;
    mo_contact_law_linearise(l, v);
    *settled = missing <= goal;
    return fmax(missing, n->linear);
}

static const mo_csr *resist(void *form, double *v)
{
    (void)v;
    return &((viscous *)form)->q.all;
}

static mo_status predict(void *form, const double *v0, const double *x0, double *v, int32_t *steps)
{
    return mo_viscous_touch_predict(((viscous *)form)->s, v0, x0, v, steps);
}

static mo_status viscous_create(mo_viscous_solver *s, viscous *n)
{
    size_t rows = (size_t)s->law.rows, dofs = (size_t)s->law.unknowns;
    *n = (viscous){.s = s, .before = mo_alloc(sizeof(double) * ((size_t)s->size + 3 * rows + dofs))};
    if (!n->before) return MO_ERROR_MEMORY;
    n->x = n->before + s->size, n->scratch = n->x + rows;
    return rows && !mo_viscous_has_nodes(&s->form) ? resistance_create(s, &n->q) : MO_OK;
}

mo_status mo_viscous_solve_contacts(mo_viscous_solver *s, int32_t limit, mo_solve_info *info)
{
    MO_ASSERT(limit >= 0);
    viscous n;
    mo_contact_law *l = &s->law;
    int32_t predicted;
    double goal = s->solver->tolerance, *v = mo_alloc(sizeof(double) * ((size_t)l->unknowns + (size_t)l->rows));
    mo_contact_form form = {&n, solve_linear, settle, resist, mix, .norm = s->norm, .loose = 0.1, .least = goal};
    if (mo_viscous_has_nodes(&s->form)) form.predict = predict;
    mo_status status = viscous_create(s, &n);
    if (!v) status = MO_ERROR_MEMORY;
    for (int32_t i = 0; i < l->rows; i++) l->slope[i] = l->cross[i] = 0, l->offset[i] = l->x[i]; // forces as they were
    if (status == MO_OK) status = mo_contact_newton(l, &form, goal, limit, v, v + l->unknowns, info, &predicted);
    resistance_destroy(&n.q);
    mo_free(n.before), mo_free(v);
    return status;
}
