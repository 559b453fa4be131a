// Newton's method on the law of contact beside a linear response: small dense problems, one for each cluster of solids.
//
// The merit is convex, piecewise quadratic but for the cone; its derivative along a step rises, so that a bracketed
// secant finds where it vanishes. Each cluster has a step length of its own.
#include "system/clusters.h"
#include <math.h>
#include <string.h>

enum { MAX_STEPS = 60, MAX_TRIALS = 30 };

typedef struct newton {
    mo_contact_law *l;
    const mo_csr *S;
    const double *v0, *x0;
    mo_clusters matrix;
    int32_t *cluster;          // [rows] of its solids
    double *Bv, *Bd, *x, *at;  // [rows] at: Bv + t Bd
    double *force, *d;         // [unknowns] S (v - v0) + B^T (x - x0), the step
    double *start, *bend;      // [clusters] derivative of the merit: of S alone, and how it changes with t
    double *low, *high, *t;    // [clusters]
    double *at_low, *at_high;  // [clusters] derivative there
    double largest;            // of size, of all steps; far smaller values are rounding errors
    double *derivative, *size; // [clusters] at t; that at 0
} newton;

static void newton_destroy(newton *n)
{
    mo_clusters_destroy(&n->matrix);
    mo_free(n->cluster), mo_free(n->Bv), mo_free(n->force), mo_free(n->start);
}

static mo_status newton_create(newton *n)
{
    MO_TRY(mo_clusters_create(n->S, n->l, &n->matrix));
    size_t rows = (size_t)n->l->rows, dofs = (size_t)n->S->rows, clusters = (size_t)n->matrix.count;
    n->cluster = mo_alloc(sizeof(int32_t) * rows);
    n->Bv = mo_alloc(sizeof(double) * 4 * rows);
    n->force = mo_alloc(sizeof(double) * 2 * dofs);
    n->start = mo_alloc(sizeof(double) * 9 * clusters);
    if (!n->cluster || !n->Bv || !n->force || !n->start) return MO_ERROR_MEMORY;
    n->Bd = n->Bv + rows, n->x = n->Bd + rows, n->at = n->x + rows, n->d = n->force + dofs;
    double **part[] = {&n->bend, &n->low, &n->high, &n->t, &n->at_low, &n->at_high, &n->derivative, &n->size};
    for (size_t k = 0; k < 8; k++) *part[k] = n->start + (k + 1) * clusters;
    const mo_csr *B = &n->l->B;
    for (int32_t i = 0; i < n->l->rows; i++)
        n->cluster[i] = B->row[i + 1] > B->row[i] ? n->matrix.cluster[B->col[B->row[i]]] : 0;
    return MO_OK;
}

// d = -(S + B^T D B)^-1 (S (v - v0) + B^T (x - x0))
static void find_step(newton *n, const double *v, const double *x)
{
    const mo_csr *S = n->S, *B = &n->l->B;
    for (int32_t i = 0; i < S->rows; i++) {
        n->force[i] = 0;
        for (int64_t k = S->row[i]; k < S->row[i + 1]; k++)
            n->force[i] += S->val[k] * (v[S->col[k]] - n->v0[S->col[k]]);
        n->d[i] = -n->force[i];
    }
    for (int32_t i = 0; i < B->rows; i++)
        for (int64_t k = B->row[i]; k < B->row[i + 1]; k++) n->d[B->col[k]] -= B->val[k] * (x[i] - n->x0[i]);
    mo_clusters_factor(&n->matrix, S, n->l);
    mo_clusters_solve(&n->matrix, n->d);
    mo_csr_multiply(B, v, n->Bv);
    mo_csr_multiply(B, n->d, n->Bd);
}

// Derivative of the merit along the step, at t of each cluster.
static void find_derivative(newton *n)
{
    const mo_contact_law *l = n->l;
    for (int32_t c = 0; c < n->matrix.count; c++) n->derivative[c] = n->start[c] + n->t[c] * n->bend[c];
    for (int32_t i = 0; i < l->rows; i++) n->at[i] = n->Bv[i] + n->t[n->cluster[i]] * n->Bd[i];
    mo_contact_law_force(l, n->at, n->x);
    for (int32_t i = 0; i < l->rows; i++) n->derivative[n->cluster[i]] += n->Bd[i] * (n->x[i] - n->x0[i]);
}

// t of every cluster: 1 if the merit still falls there or almost levels, else where it levels. Returns whether all
// are 1.
static bool search(newton *n)
{
    const mo_csr *S = n->S;
    int32_t clusters = n->matrix.count;
    memset(n->start, 0, sizeof(double) * 9 * (size_t)clusters);
    for (int32_t i = 0; i < S->rows; i++) {
        int32_t c = n->matrix.cluster[i];
        n->start[c] += n->d[i] * n->force[i];
        n->bend[c] += n->d[i] * mo_csr_row_product(S, i, n->d);
    }
    find_derivative(n);
    for (int32_t c = 0; c < clusters; c++) {
        n->at_low[c] = n->derivative[c], n->size[c] = fabs(n->derivative[c]);
        n->high[c] = n->t[c] = 1;
        n->largest = fmax(n->largest, n->size[c]);
    }
    bool whole = true, more = true;
    for (int32_t trial = 0; trial < MAX_TRIALS && more; trial++) {
        find_derivative(n);
        more = false;
        for (int32_t c = 0; c < clusters; c++) {
            double g = n->derivative[c];
            if (trial == 0) n->at_high[c] = g;
            if (trial == 0 && !(g > 0.1 * n->size[c] && n->size[c] > 1e-20 * n->largest)) n->low[c] = 1; // the whole
            if (n->low[c] == n->high[c]) continue;
            whole = false, more = true;
            // The end that stays counts half: it cannot stay for ever (Illinois).
            if (trial > 0 && g > 0)
                n->high[c] = n->t[c], n->at_high[c] = g, n->at_low[c] *= 0.5;
            else if (trial > 0)
                n->low[c] = n->t[c], n->at_low[c] = g, n->at_high[c] *= 0.5;
            if (trial > 0 && !(fabs(g) > 1e-3 * n->size[c]))
                n->low[c] = n->high[c] = n->t[c];
            else
                n->t[c] = n->low[c] - (n->high[c] - n->low[c]) * n->at_low[c] / (n->at_high[c] - n->at_low[c]);
        }
    }
    return whole;
}

mo_status mo_contact_law_predict(mo_contact_law *l, const mo_csr *S, const double *v0, const double *x0, double *v,
                                 int32_t *steps)
{
    MO_ASSERT(S->rows == l->unknowns && S->cols == l->unknowns);
    MO_ASSERT(v != v0);
    newton n = {.l = l, .S = S, .v0 = v0, .x0 = x0};
    mo_status status = newton_create(&n);
    const double settled = 1e-10;
    *steps = 0;
    memcpy(v, v0, sizeof(double) * (size_t)S->rows);
    bool done = l->rows == 0;
    if (status == MO_OK && !done) { // the state to which the present contacts lead: if few change, few steps follow
        mo_contact_law_expect(l, v, n.x);
        find_step(&n, v, n.x);
        for (int32_t i = 0; i < S->rows; i++) v[i] += n.d[i];
        done = mo_contact_law_linearise(l, v) <= settled;
    }
    while (status == MO_OK && !done && *steps < MAX_STEPS) {
        find_step(&n, v, l->x);
        bool whole = search(&n);
        for (int32_t i = 0; i < S->rows; i++) v[i] += n.t[n.matrix.cluster[i]] * n.d[i];
        done = mo_contact_law_linearise(l, v) <= settled && whole;
        ++*steps;
    }
    if (!done) *steps = -1;
    newton_destroy(&n);
    return status;
}
