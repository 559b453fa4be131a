// Newton's method on the law of contact, about linear steps.
#include "system/contact_newton.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 100, HASTY = 6 }; // linear steps; those that need not lead downwards

// Velocities of the solids, and the contact forces that are in balance with everything else at these velocities.
typedef struct state {
    double *v, *x;
} state;

typedef struct newton {
    mo_contact_law *l;
    const mo_contact_form *f;
    double *memory;
    state now, last;
    double *from, *scratch; // [unknowns] where a prediction begins; [2 rows]
    int32_t *predicted;
} newton;

static mo_status newton_create(newton *n)
{
    size_t rows = (size_t)n->l->rows, dofs = (size_t)n->l->unknowns;
    n->memory = mo_alloc(sizeof(double) * (3 * rows + 2 * dofs));
    if (!n->memory) return MO_ERROR_MEMORY;
    n->last.x = n->memory, n->scratch = n->last.x + rows;
    n->last.v = n->scratch + 2 * rows, n->from = n->last.v + dofs;
    return MO_OK;
}

// ---- How far to go ----

// The derivative of the minimised function along the way from one state to the next, at t: the law's force minus the
// force there.
static double slope_at(const newton *n, double t)
{
    const mo_contact_law *l = n->l;
    double sum = 0, *Bv = n->scratch, *force = n->scratch + l->rows;
    for (int32_t i = 0; i < l->rows; i++) {
        double a = mo_csr_row_product(&l->B, i, n->last.v), b = mo_csr_row_product(&l->B, i, n->now.v);
        Bv[i] = (1 - t) * a + t * b;
    }
    mo_contact_law_force(l, Bv, force);
    for (int32_t i = 0; i < l->rows; i++) {
        double way = mo_csr_row_product(&l->B, i, n->now.v) - mo_csr_row_product(&l->B, i, n->last.v);
        sum += way * (force[i] - (1 - t) * n->last.x[i] - t * n->now.x[i]);
    }
    return sum;
}

// 1 if it still falls there or almost levels; 0 if it does not fall at all.
static double search(const newton *n)
{
    double low = 0, high = 1, start = slope_at(n, 0);
    if (!(start < 0)) return 0;
    if (!(slope_at(n, 1) > 0.1 * -start)) return 1;
    for (int k = 0; k < 20; k++) {
        double middle = 0.5 * (low + high);
        if (slope_at(n, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return high;
}

// The error of the law at the present state, relative to the norm.
static double mismatch(const newton *n)
{
    mo_csr_multiply(&n->l->B, n->now.v, n->scratch);
    return mo_contact_law_residual(n->l, n->scratch, n->now.x, n->scratch + n->l->rows) / n->f->norm;
}

static void mix(int32_t count, double t, const double *from, double *to)
{
    MO_ASSERT(t >= 0 && t <= 1);
    for (int32_t i = 0; i < count && t < 1; i++) to[i] = (1 - t) * from[i] + t * to[i];
}

// Goes from the last state to the present one, or a part of the way if it must lead downwards. Returns how far.
static double advance(newton *n, bool downwards, double goal)
{
    const mo_contact_law *l = n->l;
    double t = downwards && mismatch(n) > goal ? search(n) : 1;
    n->f->mix(n->f->form, t);
    mix(l->unknowns, t, n->last.v, n->now.v), mix(l->rows, t, n->last.x, n->now.x);
    memcpy(n->last.v, n->now.v, sizeof(double) * (size_t)l->unknowns);
    if (l->rows) memcpy(n->last.x, n->now.x, sizeof(double) * (size_t)l->rows);
    return t;
}

// ---- The loop ----

// Predicts which contacts hold, from the present state.
static mo_status predict(newton *n)
{
    int32_t steps;
    memcpy(n->from, n->now.v, sizeof(double) * (size_t)n->l->unknowns);
    if (n->f->predict)
        MO_TRY(n->f->predict(n->f->form, n->from, n->now.x, n->now.v, &steps));
    else {
        const mo_csr *S = n->f->resist(n->f->form, n->from);
        MO_TRY(mo_contact_law_predict(n->l, S, n->from, n->now.x, n->now.v, &steps));
    }
    *n->predicted += abs(steps);
    return MO_OK;
}

static mo_status iterate(newton *n, double goal, int32_t limit, mo_solve_info *all)
{
    const mo_contact_form *f = n->f;
    double tolerance = n->l->rows ? fmax(f->loose, f->least) : goal;
    if (n->l->rows && f->known) MO_TRY(predict(n));
    for (int32_t step = 0; step < MOST_STEPS; step++) {
        mo_solve_info one = {0};
        MO_TRY(f->solve(f->form, tolerance, limit - all->iterations, n->now.v, &one));
        all->iterations += one.iterations, all->residual = one.residual, all->reason = one.reason;
        if (!mo_is_solved(&one)) return MO_OK;
        mo_contact_law_expect(n->l, n->now.v, n->now.x);
        double t = advance(n, step > HASTY, goal);
        bool settled;
        all->residual = f->settle(f->form, n->now.v, n->now.x, goal, &settled), all->reason = MO_REASON_CONVERGED;
        if (t == 1 && all->residual <= goal) return MO_OK;
        // While contacts open or close, steps must improve, or the method might not move on. Otherwise only accuracy is
        // missing, and the whole step is taken.
        settled &= t == 1;
        tolerance = settled ? f->least : (one.iterations ? 0.3 : 0.1) * fmin(tolerance, all->residual);
        tolerance = fmax(tolerance, f->least);
        if (t == 0)
            mo_contact_law_linearise(n->l, n->now.v);
        else if (!settled)
            MO_TRY(predict(n));
    }
    all->reason = MO_REASON_STALLED;
    return MO_OK;
}

mo_status mo_contact_newton(mo_contact_law *l, const mo_contact_form *f, double goal, int32_t limit, double *v,
                            double *x, mo_solve_info *info, int32_t *predicted)
{
    MO_ASSERT(f->solve && f->settle && (f->resist || f->predict) && f->mix);
    MO_ASSERT(f->norm >= 0 && goal >= 0 && limit >= 0);
    newton n = {.l = l, .f = f, .now = {v, x}, .predicted = predicted};
    *info = (mo_solve_info){.reason = MO_REASON_STALLED};
    *predicted = 0;
    mo_status status = newton_create(&n);
    if (status == MO_OK) status = iterate(&n, goal, limit, info);
    mo_free(n.memory);
    return status;
}
