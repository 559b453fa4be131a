// Contact of elastic bodies in viscous liquid.
//
// Contacts that hold are springs in K, as for rigid bodies; the factor of nodes and the faces about them has them too.
// A small problem in the contacts' forces alone predicts which contacts hold (contact_respond.h). In it solids respond
// to forces by C: by that factor without springs, with the liquid beyond the faces about them at rest. In a stiff
// liquid this response is too small. Changes of force and velocity that solves have shown correct it (BFGS).
#include "system/contact_respond.h"
#include "system/contact_springs.h"
#include "system/viscous_solver.h"
#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 8 };

void mo_viscous_touch_destroy(mo_viscous_touch *t)
{
    mo_csr_destroy(&t->B), mo_csr_destroy(&t->springs);
    mo_free(t->dv), mo_free(t->work);
    *t = (mo_viscous_touch){0};
}

// ---- Springs ----

mo_status mo_viscous_touch_create(mo_viscous_solver *s)
{
    mo_viscous_touch *t = &s->touch;
    size_t extra = (size_t)s->form.extra, rows = (size_t)s->law.rows;
    mo_viscous_touch_destroy(t);
    MO_TRY(mo_contact_springs_rows(&s->law, s->form.extra, s->form.dof, s->form.scale, &t->B));
    MO_TRY(mo_contact_springs(&s->law, &t->B, true, &t->springs));
    t->dv = mo_alloc(sizeof(double) * (2 * MOST_PAIRS + 2) * extra);
    t->work = mo_alloc(sizeof(double) * (2 * rows + 2 * extra));
    if (!t->dv || !t->work) return MO_ERROR_MEMORY;
    t->df = t->dv + MOST_PAIRS * extra, t->v = t->df + MOST_PAIRS * extra, t->f = t->v + extra;
    return MO_OK;
}

mo_status mo_viscous_touch_load(mo_viscous_solver *s)
{
    const mo_viscous_form *f = &s->form;
    const mo_contact_law *l = &s->law;
    double *push = s->b + f->faces;
    bool any = false;
    MO_TRY(mo_contact_springs(l, &s->touch.B, false, &s->touch.springs));
    memcpy(push, f->f + f->faces, sizeof(double) * (size_t)f->extra);
    mo_csr_push(&s->touch.B, -1, l->offset, push);
    for (int32_t i = 0; i < l->rows; i++) any |= l->slope[i] != 0;
    return mo_face_multigrid_springs(s->faces, any ? &s->touch.springs : NULL);
}

// ---- The response of solids ----

static double dot(int32_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// v = C f: the factor, corrected by the pairs (two loops). The hierarchy has no springs now.
static void give(const mo_viscous_solver *s, const double *f, double *v, double *scratch)
{
    const mo_viscous_touch *t = &s->touch;
    int32_t n = s->form.extra;
    double part[MOST_PAIRS];
    memcpy(scratch, f, sizeof(double) * (size_t)n);
    for (int32_t k = t->pairs - 1; k >= 0; k--) {
        const double *dv = t->dv + (int64_t)k * n, *df = t->df + (int64_t)k * n;
        part[k] = dot(n, dv, scratch) / dot(n, dv, df);
        for (int32_t i = 0; i < n; i++) scratch[i] -= part[k] * df[i];
    }
    mo_face_multigrid_give(s->faces, scratch, v);
    for (int32_t k = 0; k < t->pairs; k++) {
        const double *dv = t->dv + (int64_t)k * n, *df = t->df + (int64_t)k * n;
        double more = part[k] - dot(n, df, v) / dot(n, dv, df);
        for (int32_t i = 0; i < n; i++) v[i] += more * dv[i];
    }
}

void mo_viscous_touch_learn(mo_viscous_solver *s, const double *x)
{
    mo_viscous_touch *t = &s->touch;
    int32_t n = s->form.extra;
    const double *now = s->x + s->form.faces;
    double *force = t->work, *dv, *df;
    memset(force, 0, sizeof(double) * (size_t)n);
    mo_csr_push(&t->B, -1, x, force);
    if (t->known) {
        if (t->pairs == MOST_PAIRS) { // the oldest pair is dropped
            memmove(t->dv, t->dv + n, sizeof(double) * (size_t)n * (MOST_PAIRS - 1));
            memmove(t->df, t->df + n, sizeof(double) * (size_t)n * (MOST_PAIRS - 1));
            t->pairs--;
        }
        dv = t->dv + (int64_t)t->pairs * n, df = t->df + (int64_t)t->pairs * n;
        for (int32_t i = 0; i < n; i++) dv[i] = now[i] - t->v[i], df[i] = force[i] - t->f[i];
        double work = dot(n, dv, df), size = sqrt(dot(n, dv, dv) * dot(n, df, df));
        if (work > 1e-6 * size && isfinite(work)) t->pairs++;
    }
    memcpy(t->v, now, sizeof(double) * (size_t)n);
    memcpy(t->f, force, sizeof(double) * (size_t)n);
    t->known = true;
}

// ---- The prediction ----

static void give_by(const void *user, const double *f, double *v)
{
    const mo_viscous_solver *s = user;
    give(s, f, v, s->touch.work);
}

mo_status mo_viscous_touch_predict(mo_viscous_solver *s, const double *v0, const double *x0, double *v, int32_t *steps)
{
    const mo_viscous_form *f = &s->form;
    mo_contact_law *l = &s->law;
    mo_contact_response response = {&s->touch.B, give_by, s, s->solver->expansion};
    double *dv = s->touch.work + f->extra, *x = dv + f->extra, *Bv = x + l->rows;
    MO_TRY(mo_face_multigrid_springs(s->faces, NULL));
    MO_TRY(mo_contact_respond(l, &response, v0, x0, x, dv, steps));
    for (int32_t i = 0; i < l->unknowns; i++)
        v[i] = f->dof[i] < 0 ? v0[i] : v0[i] + f->scale[f->dof[i]] * dv[f->dof[i]];
    mo_csr_multiply(&l->B, v, Bv);
    mo_contact_law_hold(l, x, Bv);
    return MO_OK;
}
