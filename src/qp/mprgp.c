// MPRGP. Letters as in Dostal's papers: phi free gradient, beta chopped gradient, p direction, z preconditioned phi.
#include "qp/mprgp.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096, STALL_WINDOW = 1000, NORM_PRODUCTS = 12 };

typedef struct state {
    int32_t n;
    const mo_operator *A, *M;
    const double *b, *lower, *upper;
    double *x, *g, *phi, *p, *z, *Ap, *best, *spare;
    double alpha; // length of fixed steps, < 2 / |A|
    const double *scale;
} state;

static double low(const state *s, int32_t i) { return s->lower ? s->lower[i] : -INFINITY; }
static double high(const state *s, int32_t i) { return s->upper ? s->upper[i] : INFINITY; }

static double unit(const state *s, int32_t i) { return s->scale ? s->scale[i] : 1; }

static bool is_free(const state *s, int32_t i) { return s->x[i] > low(s, i) && s->x[i] < high(s, i); }

static double project(const state *s, int32_t i, double v) { return fmin(fmax(v, low(s, i)), high(s, i)); }

// beta_i: the part of the gradient at an active bound that leads away from the bound.
static double chopped(const state *s, int32_t i)
{
    if (low(s, i) == high(s, i)) return 0;
    if (s->x[i] <= low(s, i)) return fmin(s->g[i], 0);
    if (s->x[i] >= high(s, i)) return fmax(s->g[i], 0);
    return 0;
}

// phi, and the squares of phi (reduced: as far as bounds let a fixed step go) and of beta; returns |phi + beta|_max.
static double split(const state *s, double *free_square, double *chopped_square)
{
    double most = 0;
    double *products = s->spare;
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++) {
        double f = is_free(s, i) ? s->g[i] : 0, reduced = f;
        double step = s->alpha * unit(s, i);
        if (f > 0) reduced = fmin((s->x[i] - low(s, i)) / step, f);
        if (f < 0) reduced = fmax((s->x[i] - high(s, i)) / step, f);
        s->phi[i] = f;
        products[i] = f * reduced * unit(s, i);
    }
    *free_square = mo_sum(s->n, products);
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++) products[i] = chopped(s, i);
    most = fmax(mo_max_abs(s->n, s->phi), mo_max_abs(s->n, products));
    for (int32_t i = 0; s->scale && i < s->n; i++) products[i] *= sqrt(s->scale[i]);
    *chopped_square = mo_dot_product(s->n, products, products);
    return *free_square != *free_square || *chopped_square != *chopped_square ? NAN : most;
}

static void gradient(const state *s)
{
    s->A->apply(s->A->context, s->x, s->g);
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++) s->g[i] -= s->b[i];
}

// z = M phi on the free set.
static void precondition(const state *s)
{
    if (s->M)
        s->M->apply(s->M->context, s->phi, s->z);
    else
        memcpy(s->z, s->phi, sizeof(double) * (size_t)s->n);
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++)
        if (!is_free(s, i)) s->z[i] = 0;
}

// How far x - alpha p stays within bounds.
static double feasible_step(const state *s, const double *p)
{
    double step = INFINITY;
    for (int32_t i = 0; (s->lower || s->upper) && i < s->n; i++) {
        if (p[i] > 0) step = fmin(step, (s->x[i] - low(s, i)) / p[i]);
        if (p[i] < 0) step = fmin(step, (s->x[i] - high(s, i)) / p[i]);
    }
    return step;
}

static void advance(const state *s, double alpha, const double *p, const double *Ap)
{
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++) s->x[i] = project(s, i, s->x[i] - alpha * p[i]), s->g[i] -= alpha * Ap[i];
}

// Estimates the largest eigenvalue, from a vector that is not an eigenvector; a tenth is added for the error of the
// power iterations.
static double find_norm(const state *s)
{
    double norm = 1;
    for (int32_t i = 0; i < s->n; i++) s->z[i] = 1 + 0.5 * mo_unit(mo_hash((uint32_t)i, 1, 2));
    for (int k = 0; k < NORM_PRODUCTS; k++) {
        double length = sqrt(mo_dot_product(s->n, s->z, s->z));
        if (!(length > 0) || !isfinite(length)) break;
        for (int32_t i = 0; i < s->n; i++) s->z[i] /= length;
        s->A->apply(s->A->context, s->z, s->Ap);
        for (int32_t i = 0; s->scale && i < s->n; i++) s->Ap[i] *= s->scale[i];
        norm = sqrt(mo_dot_product(s->n, s->Ap, s->Ap));
        memcpy(s->z, s->Ap, sizeof(double) * (size_t)s->n);
    }
    return 1.1 * norm;
}

// The whole step, projected. It need not lead downwards, and steps that do not can go in circles: then it is taken
// back. Returns whether it led downwards. phi and z, which the next step finds anew, are scratch.
static bool expand_far(const state *s, double cg_step)
{
    size_t bytes = sizeof(double) * (size_t)s->n;
    double *x = s->spare, *g = s->z;
    memcpy(x, s->x, bytes), memcpy(g, s->g, bytes);
    for (int32_t i = 0; i < s->n; i++) s->x[i] = project(s, i, s->x[i] - cg_step * s->p[i]);
    gradient(s);
    for (int32_t i = 0; i < s->n; i++) s->phi[i] = 0.5 * (s->x[i] - x[i]) * (s->g[i] + g[i]);
    if (mo_sum(s->n, s->phi) < 0) return true;
    memcpy(s->x, x, bytes), memcpy(s->g, g, bytes);
    return false;
}

// Hits a bound on the way: the whole step, projected; or to the bound, then a gradient step of fixed length, projected.
// The gradient anew is a second product, and a third where the whole step was taken back.
static void expand(const state *s, const mo_mprgp_options *o, double cg_step, double feasible, mo_mprgp_info *info)
{
    info->expansions++;
    if (o->expansion != MO_EXPANSION_FIXED) {
        info->solve.iterations++;
        if (expand_far(s, cg_step)) return;
    }
    advance(s, feasible, s->p, s->Ap);
    for (int32_t i = 0; i < s->n; i++)
        if (is_free(s, i)) s->x[i] = project(s, i, s->x[i] - s->alpha * unit(s, i) * s->g[i]);
    gradient(s);
    info->solve.iterations++;
}

// Lets go of the bounds that the chopped gradient wants to leave.
static bool proportion(const state *s)
{
    for (int32_t i = 0; i < s->n; i++) s->p[i] = unit(s, i) * chopped(s, i);
    s->A->apply(s->A->context, s->p, s->Ap);
    double curvature = mo_dot_product(s->n, s->p, s->Ap), slope = mo_dot_product(s->n, s->p, s->g);
    if (!(curvature > 0)) return false;
    advance(s, fmin(slope / curvature, feasible_step(s, s->p)), s->p, s->Ap);
    return true;
}

// One step in the free set along p; *restart: the next direction begins anew. False: it broke down.
static bool step(const state *s, const mo_mprgp_options *o, bool *restart, mo_mprgp_info *info)
{
    if (*restart) {
        precondition(s);
        memcpy(s->p, s->z, sizeof(double) * (size_t)s->n);
    }
    *restart = true;
    s->A->apply(s->A->context, s->p, s->Ap);
    double curvature = mo_dot_product(s->n, s->p, s->Ap), slope = mo_dot_product(s->n, s->phi, s->p);
    if (!(curvature > 0) || !(slope > 0)) return false;
    double cg_step = slope / curvature, feasible = feasible_step(s, s->p);
    if (cg_step > feasible) {
        expand(s, o, cg_step, feasible, info);
        return true;
    }
    advance(s, cg_step, s->p, s->Ap);
    double unused[2];
    split(s, &unused[0], &unused[1]);
    precondition(s);
    double gamma = mo_dot_product(s->n, s->z, s->Ap) / curvature;
#pragma omp parallel for schedule(static) if (s->n > SMALL)
    for (int32_t i = 0; i < s->n; i++) s->p[i] = s->z[i] - gamma * s->p[i];
    *restart = false;
    return true;
}

static void finish(state *s, mo_mprgp_info *info, double best, bool saved)
{
    if (saved && info->solve.reason != MO_REASON_CONVERGED && best < info->solve.residual) {
        memcpy(s->x, s->best, sizeof(double) * (size_t)s->n);
        info->solve.residual = best;
    }
    for (int32_t i = 0; i < s->n; i++) info->active += !is_free(s, i);
}

// Largest residual at x = 0, to which the tolerance is relative. A bound there against which the gradient presses does
// not count: contacts out of reach, however far away, must not loosen the tolerance for the rest.
static double residual_of_zero(const state *s)
{
    double most = 0;
    for (int32_t i = 0; i < s->n; i++) {
        bool idle = (low(s, i) == 0 && s->b[i] < 0) || (high(s, i) == 0 && s->b[i] > 0);
        if (!idle) most = fabs(s->b[i]) > most || s->b[i] != s->b[i] ? fabs(s->b[i]) : most;
    }
    return most;
}

mo_mprgp_info mo_mprgp(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, const double *lower,
                       const double *upper, double *x, const mo_mprgp_options *o, double *work)
{
    MO_ASSERT(n >= 0 && A->apply && x && work);
    MO_ASSERT(o->max_iterations >= 0 && o->proportioning >= 0 && o->norm >= 0);
    state s = {.n = n, .A = A, .M = M, .b = b, .lower = lower, .upper = upper, .x = x, .scale = o->scale};
    double **vectors[] = {&s.g, &s.phi, &s.p, &s.z, &s.Ap, &s.best, &s.spare};
    for (int k = 0; k < 7; k++) *vectors[k] = work + (int64_t)k * n;
    mo_mprgp_info info = {.solve.reason = MO_REASON_MAX_ITERATIONS};
    double scale = residual_of_zero(&s), Gamma = o->proportioning > 0 ? o->proportioning : 1, best = INFINITY,
           mark = INFINITY;
    bool restart = true, verified = true, saved = false;
    int32_t window = STALL_WINDOW;
    for (int32_t i = 0; i < n; i++) x[i] = project(&s, i, isfinite(x[i]) && scale > 0 ? x[i] : 0);
    info.norm = o->norm > 0 ? o->norm : find_norm(&s);
    s.alpha = 1.9 / info.norm;
    gradient(&s);
    while (true) {
        double free_square, chopped_square, residual = split(&s, &free_square, &chopped_square);
        info.solve.residual = scale > 0 ? residual / scale : residual;
        if (!isfinite(residual)) {
            info.solve.reason = MO_REASON_STALLED;
            break;
        }
        if (residual < best) best = residual, saved = false;
        if (info.solve.residual <= o->tolerance || residual == 0) {
            info.solve.reason = scale > 0 || residual > 0 ? MO_REASON_CONVERGED : MO_REASON_NOTHING_TO_DO;
            if (verified) break;
            gradient(&s); // believe only the true gradient
            verified = restart = true;
            continue;
        }
        if (info.solve.iterations >= o->max_iterations) break;
        if (info.solve.iterations >= window) {
            info.solve.reason = MO_REASON_STALLED;
            if (best > 0.9 * mark) break;
            info.solve.reason = MO_REASON_MAX_ITERATIONS;
            mark = best, window = info.solve.iterations + STALL_WINDOW;
        }
        if (residual == best && !saved) memcpy(s.best, x, sizeof(double) * (size_t)n), saved = true;
        verified = false;
        bool ok;
        if (chopped_square <= Gamma * Gamma * free_square)
            ok = step(&s, o, &restart, &info);
        else {
            ok = proportion(&s);
            restart = true;
            info.proportionings++;
        }
        info.solve.iterations++;
        if (!ok) {
            info.solve.reason = MO_REASON_STALLED;
            break;
        }
    }
    finish(&s, &info, scale > 0 ? best / scale : best, saved);
    return info;
}
