// Contact on the fast route: Newton's method over the law (contact_law.h), each step a solve of the form with springs.
//
// A solve with the forces of the last step tells how all moves with them; then a small problem, in which the bodies
// meet an estimated resistance, tells which contacts hold, and a solve with those as springs what it comes to. Pairs of
// forces and velocities from the solves correct the estimate.
#include "system/fast_solver.h"
#include <math.h>
#include <string.h>

enum { MOST_NEWTON = 40 };

// How bodies resist to being pushed. Dry ones by their mass; of wet ones an estimate, improved by every solve.
typedef struct resistance {
    int32_t dofs, wet, *dof; // [wet] components of wet bodies
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

static void mark_wet(const mo_csr *R, uint8_t *wet)
{
    for (int64_t k = 0; k < mo_csr_entries(R); k++)
        if (R->val[k] != 0) wet[R->col[k] / 6] = 1;
}

static mo_status resistance_create(mo_fast *s, resistance *q)
{
    const mo_fast_form *f = &s->form;
    int32_t bodies = f->system->bodies, n = f->extra;
    q->dofs = 6 * bodies;
    double *dense = s->springs + (size_t)q->dofs * (size_t)q->dofs;
    uint8_t *wet = mo_calloc((size_t)bodies);
    q->dof = mo_alloc(sizeof(int32_t) * (size_t)q->dofs);
    mo_status status =
        wet && q->dof ? mo_csr_create(q->dofs, q->dofs, (int64_t)q->dofs * q->dofs, &q->all) : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        mark_wet(&f->stress->rigid, wet);
        if (f->pressure) mark_wet(&f->pressure->rigid, wet);
        for (int32_t i = 0; i < q->dofs; i++)
            if (wet[i / 6] && f->dof[i] >= 0) q->dof[q->wet++] = i;
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
        int64_t at = 0;
        for (int32_t i = 0; i < q->dofs; i++) {
            for (int32_t j = 0; j < q->dofs; j++) {
                bool both = wet[i / 6] && wet[j / 6];
                if (!both && i / 6 != j / 6) continue;
                q->all.col[at] = j, q->all.val[at++] = both ? 0 : f->inertia[i][j % 6];
            }
            q->all.row[i + 1] = at;
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
    for (int32_t i = 0; i < B->rows; i++)
        for (int64_t k = B->row[i]; k < B->row[i + 1]; k++) force[B->col[k]] -= B->val[k] * x[i];
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
    int32_t dofs = 6 * f->system->bodies;
    double *springs = s->springs, *change = springs + (size_t)dofs * (size_t)dofs, *push = s->dv,
           *scratch = change + (size_t)f->extra * (size_t)f->extra;
    memset(springs, 0, sizeof(double) * (size_t)dofs * (size_t)dofs);
    memset(push, 0, sizeof(double) * (size_t)dofs);
    mo_contact_law_springs(&s->law, springs);
    mo_contact_law_push(&s->law, push);
    mo_fast_form_springs(f, springs, change);
    mo_face_multigrid_corner(s->faces, change, scratch);
    mo_fast_load_wet(s, change);
    for (int32_t k = 0; k < dofs; k++)
        if (f->dof[k] >= 0) s->b[f->faces + f->dof[k]] = f->f[f->faces + f->dof[k]] - f->scale[f->dof[k]] * push[k];
}

// Newton's method over contacts, each step about what a small problem expects of them: loosely while it is not known
// which of them hold.
mo_status mo_fast_solve_contacts(mo_fast *s, int32_t limit, mo_solve_info *info)
{
    const double loose = 0.1;
    double tolerance = s->solver->tolerance, now = fmax(loose, tolerance);
    mo_contact_law *l = &s->law;
    resistance q = {0};
    double *x = mo_alloc(sizeof(double) * ((size_t)l->rows + 2 * (size_t)(6 * l->bodies))), *v = x + l->rows;
    mo_status status = x ? resistance_create(s, &q) : MO_ERROR_MEMORY;
    info->reason = MO_REASON_STALLED;
    for (int32_t i = 0; i < l->rows; i++) l->slope[i] = l->cross[i] = 0, l->offset[i] = l->x[i]; // forces as they were
    for (int32_t k = 0; k < MOST_NEWTON && status == MO_OK; k++) {
        int32_t steps = 0, before = info->iterations;
        mo_fast_load_contacts(s);
        status = mo_fast_solve_linear(s, now, limit - info->iterations, info);
        if (status != MO_OK || info->reason != MO_REASON_CONVERGED) break;
        mo_fast_velocity(&s->form, s->x, s->du, s->dv);
        mo_contact_law_expect(l, s->dv, x);
        double change = mo_contact_law_linearise(l, s->dv);
        if (!(change > tolerance)) {
            if (now <= tolerance) break;
            now = tolerance;
            continue;
        }
        info->reason = MO_REASON_STALLED;
        if (info->iterations == before || k % 4 == 3) now = fmax(0.1 * now, tolerance); // too loose to tell
        resistance_learn(&q, &l->B, s->dv, x, v + 6 * l->bodies);
        status = mo_contact_law_predict(l, &q.all, s->dv, x, v, &steps);
    }
    resistance_destroy(&q);
    mo_free(x);
    return status;
}
