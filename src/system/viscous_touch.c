// Contact of elastic bodies in viscous liquid.
//
// Contacts that hold are springs in K, as for rigid bodies; the factor of nodes and the faces about them has them too.
// A small problem in the contacts' forces alone predicts which contacts hold,
//
//     (B C B^T + S) x = B v0 + B C B^T x0 - c + S a,   bounds,      v = v0 - C B^T (x - x0)
//
// in which solids respond to forces by C: by that factor without springs, with the liquid beyond the faces about them
// at rest. In a stiff liquid this response is too small. Changes of force and velocity that solves have shown correct
// it (BFGS).
#include "base/parallel.h"
#include "qp/mprgp.h"
#include "system/contact_springs.h"
#include "system/viscous_solver.h"
#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 8, MOST_STEPS = 1000 };

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
    t->work = mo_alloc(sizeof(double) * ((MO_MPRGP_WORK + 6) * rows + 4 * extra + MOST_PAIRS));
    if (!t->dv || !t->work) return MO_ERROR_MEMORY;
    t->df = t->dv + MOST_PAIRS * extra, t->v = t->df + MOST_PAIRS * extra, t->f = t->v + extra;
    t->inverse = t->work + (MO_MPRGP_WORK + 5) * rows + 4 * extra + MOST_PAIRS;
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

// ---- The small problem ----

typedef struct small {
    const mo_viscous_solver *s;
    double *soft, *b, *x, *lower, *upper; // [rows]
    double *force, *v, *scratch;          // [extra]
    double *work;                         // of MPRGP
} small;

// y = (B C B^T + S) x
static void small_apply(void *context, const double *x, double *y)
{
    const small *p = context;
    const mo_csr *B = &p->s->touch.B;
    memset(p->force, 0, sizeof(double) * (size_t)B->cols);
    mo_csr_push(B, 1, x, p->force);
    give(p->s, p->force, p->v, p->scratch);
    mo_csr_multiply(B, p->v, y);
    for (int32_t i = 0; i < B->rows; i++) y[i] += p->soft[i] * x[i];
}

static void small_precondition(void *context, const double *r, double *z)
{
    const small *p = context;
    for (int32_t i = 0; i < p->s->law.rows; i++) z[i] = p->s->touch.inverse[i] * r[i];
}

// How far each row yields alone is known from the solids' own masses; one product with random signs shows how much less
// or more it is altogether.
static void scale_rows(small *p)
{
    const mo_contact_law *l = &p->s->law;
    double *sign = p->work, *answer = sign + l->rows, alone = 0, together = 0;
    for (int32_t i = 0; i < l->rows; i++) sign[i] = l->stiffness[i] == 0 ? 0 : mo_hash((uint32_t)i, 3, 9) & 1 ? 1 : -1;
    small_apply(p, sign, answer);
    for (int32_t i = 0; i < l->rows; i++) alone += l->mobility[i], together += sign[i] * answer[i];
    double more = alone > 0 && together > 0 ? together / alone : 1;
    for (int32_t i = 0; i < l->rows; i++)
        p->s->touch.inverse[i] = l->stiffness[i] > 0 ? 1 / (more * l->mobility[i] + p->soft[i]) : 0;
}

static void small_create(const mo_viscous_solver *s, small *p)
{
    const mo_contact_law *l = &s->law;
    size_t rows = (size_t)l->rows, extra = (size_t)s->form.extra;
    *p = (small){.s = s, .soft = s->touch.work};
    p->b = p->soft + rows, p->x = p->b + rows, p->lower = p->x + rows, p->upper = p->lower + rows;
    p->force = p->upper + rows, p->v = p->force + extra, p->scratch = p->v + extra, p->work = p->scratch + extra;
    for (int32_t i = 0; i < l->rows; i++) {
        bool moves = l->stiffness[i] > 0;
        p->soft[i] = moves ? 1 / l->stiffness[i] : 1;
        p->lower[i] = moves ? l->lower[i] : 0, p->upper[i] = moves ? l->upper[i] : 0;
    }
}

// b = B v0 + B C B^T x0 - c + S a
static void load_small(small *p, const double *v0, const double *x0)
{
    const mo_contact_law *l = &p->s->law;
    small_apply(p, x0, p->b);
    for (int32_t i = 0; i < l->rows; i++) {
        p->b[i] += mo_csr_row_product(&l->B, i, v0) - l->c[i] + p->soft[i] * (l->anchor[i] - x0[i]);
        p->x[i] = fmin(fmax(x0[i], p->lower[i]), p->upper[i]);
        if (l->stiffness[i] == 0) p->b[i] = 0;
    }
}

mo_status mo_viscous_touch_predict(mo_viscous_solver *s, const double *v0, const double *x0, double *v, int32_t *steps)
{
    const double tolerance = 1e-6;
    const mo_viscous_form *f = &s->form;
    mo_contact_law *l = &s->law;
    small p;
    MO_TRY(mo_face_multigrid_springs(s->faces, NULL));
    small_create(s, &p);
    scale_rows(&p);
    load_small(&p, v0, x0);
    mo_operator A = {small_apply, &p}, M = {small_precondition, &p};
    mo_mprgp_options options = {
        .tolerance = tolerance, .max_iterations = MOST_STEPS, .expansion = s->solver->expansion};
    mo_mprgp_info info = mo_mprgp(l->rows, &A, &M, p.b, p.lower, p.upper, p.x, &options, p.work);
    *steps = info.solve.iterations;
    double *change = p.work, *Bv = p.work + l->rows;
    for (int32_t i = 0; i < l->rows; i++) change[i] = p.x[i] - x0[i];
    memset(p.force, 0, sizeof(double) * (size_t)f->extra);
    mo_csr_push(&s->touch.B, -1, change, p.force);
    give(s, p.force, p.v, p.scratch);
    for (int32_t i = 0; i < l->unknowns; i++)
        v[i] = f->dof[i] < 0 ? v0[i] : v0[i] + f->scale[f->dof[i]] * p.v[f->dof[i]];
    mo_csr_multiply(&l->B, v, Bv);
    mo_contact_law_hold(l, p.x, Bv);
    return MO_OK;
}
