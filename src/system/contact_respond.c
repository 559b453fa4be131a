// The small problem of contacts' forces.
#include "system/contact_respond.h"
#include "base/parallel.h"
#include "qp/mprgp.h"
#include <math.h>
#include <string.h>

enum { MOST_STEPS = 1000, VECTORS = 5 };

typedef struct small {
    const mo_contact_law *l;
    const mo_contact_response *r;
    double *soft, *b, *lower, *upper, *inverse; // [rows]
    double *force, *v;                          // [unknowns of C]
    double *work;                               // of MPRGP
} small;

// y = (B C B^T + S) x
static void apply(void *context, const double *x, double *y)
{
    const small *p = context;
    const mo_csr *B = p->r->B;
    memset(p->force, 0, sizeof(double) * (size_t)B->cols);
    mo_csr_push(B, 1, x, p->force);
    p->r->give(p->r->user, p->force, p->v);
    mo_csr_multiply(B, p->v, y);
    for (int32_t i = 0; i < B->rows; i++) y[i] += p->soft[i] * x[i];
}

static void precondition(void *context, const double *r, double *z)
{
    const small *p = context;
    for (int32_t i = 0; i < p->l->rows; i++) z[i] = p->inverse[i] * r[i];
}

// How far each row yields alone is known from the solids' own masses; one product with random signs shows how much less
// or more it is altogether.
static void scale_rows(small *p)
{
    const mo_contact_law *l = p->l;
    double *sign = p->work, *answer = sign + l->rows, alone = 0, together = 0;
    for (int32_t i = 0; i < l->rows; i++) sign[i] = l->stiffness[i] == 0 ? 0 : mo_hash((uint32_t)i, 3, 9) & 1 ? 1 : -1;
    apply(p, sign, answer);
    for (int32_t i = 0; i < l->rows; i++) alone += l->mobility[i], together += sign[i] * answer[i];
    double more = alone > 0 && together > 0 ? together / alone : 1;
    for (int32_t i = 0; i < l->rows; i++)
        p->inverse[i] = l->stiffness[i] > 0 ? 1 / (more * l->mobility[i] + p->soft[i]) : 0;
}

static bool small_create(small *p)
{
    const mo_contact_law *l = p->l;
    size_t rows = (size_t)l->rows, unknowns = (size_t)p->r->B->cols;
    p->soft = mo_alloc(sizeof(double) * ((VECTORS + MO_MPRGP_WORK) * rows + 2 * unknowns));
    if (!p->soft) return false;
    p->b = p->soft + rows, p->lower = p->b + rows, p->upper = p->lower + rows, p->inverse = p->upper + rows;
    p->work = p->inverse + rows, p->force = p->work + MO_MPRGP_WORK * rows, p->v = p->force + unknowns;
    for (int32_t i = 0; i < l->rows; i++) {
        bool moves = l->stiffness[i] > 0;
        p->soft[i] = moves ? 1 / l->stiffness[i] : 1;
        p->lower[i] = moves ? l->lower[i] : 0, p->upper[i] = moves ? l->upper[i] : 0;
    }
    return true;
}

// b = B v0 + B C B^T x0 - c + S a
static void load(small *p, const double *v0, const double *x0, double *x)
{
    const mo_contact_law *l = p->l;
    apply(p, x0, p->b);
    for (int32_t i = 0; i < l->rows; i++) {
        p->b[i] += mo_csr_row_product(&l->B, i, v0) - l->c[i] + p->soft[i] * (l->anchor[i] - x0[i]);
        x[i] = fmin(fmax(x0[i], p->lower[i]), p->upper[i]);
        if (l->stiffness[i] == 0) p->b[i] = 0;
    }
}

mo_status mo_contact_respond(const mo_contact_law *l, const mo_contact_response *r, const double *v0, const double *x0,
                             double *x, double *dv, int32_t *steps)
{
    const double tolerance = 1e-6;
    small p = {.l = l, .r = r};
    if (!small_create(&p)) return MO_ERROR_MEMORY;
    scale_rows(&p);
    load(&p, v0, x0, x);
    mo_operator A = {apply, &p}, M = {precondition, &p};
    mo_mprgp_options options = {.tolerance = tolerance, .max_iterations = MOST_STEPS, .expansion = r->expansion};
    *steps = mo_mprgp(l->rows, &A, &M, p.b, p.lower, p.upper, x, &options, p.work).solve.iterations;
    double *change = p.work;
    for (int32_t i = 0; i < l->rows; i++) change[i] = x[i] - x0[i];
    memset(p.force, 0, sizeof(double) * (size_t)r->B->cols);
    mo_csr_push(r->B, -1, change, p.force);
    r->give(r->user, p.force, dv);
    mo_free(p.soft);
    return MO_OK;
}
