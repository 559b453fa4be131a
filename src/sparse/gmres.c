// Flexible GMRES.
#include "sparse/gmres.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

// A cycle ends after CYCLE iterations, or earlier if its vectors would take too much memory, but not before
// LEAST_CYCLE: a new one begins without what the last has learned.
enum { CYCLE = 120, LEAST_CYCLE = 60, BLOCK = 1024, STALLED_CYCLES = 2 };
static const double most_bytes = 128e6; // of the vectors of a cycle, where it is not the shortest

typedef struct basis {
    const mo_gmres_def *def;
    int32_t cycle;              // most iterations of one
    double *v[CYCLE + 1];       // [n] orthonormal
    float *z[CYCLE];            // [n] M v
    double *exact[CYCLE];       // [exact_end - exact] of the unknowns that are kept in double
    double h[CYCLE + 1][CYCLE]; // upper triangular after the rotations
    double c[CYCLE], s[CYCLE], g[CYCLE + 1];
    double *partial;       // [blocks (CYCLE + 1)]
    double *work, *scaled; // [n] each: scratch, the scaled residual
} basis;

static int32_t blocks_of(int32_t n) { return (n + BLOCK - 1) / BLOCK; }

static int32_t cycle_for(int32_t n)
{
    double room = most_bytes / ((sizeof(double) + sizeof(float)) * fmax(n, 1));
    return (int32_t)fmin(fmax(room, LEAST_CYCLE), CYCLE);
}

static int32_t block_end(int32_t n, int32_t b) { return n < (b + 1) * BLOCK ? n : (b + 1) * BLOCK; }

// h[k] = v_k . w for k < count, block by block so that w is read once.
static void products(const basis *s, int32_t count, const double *w, double *h)
{
    int32_t n = s->def->n, blocks = blocks_of(n);
#pragma omp parallel for schedule(static) if (blocks > 8)
    for (int32_t b = 0; b < blocks; b++)
        for (int32_t k = 0; k < count; k++) {
            double p[4] = {0};
            int32_t i = b * BLOCK, end = block_end(n, b);
            for (; i + 4 <= end; i += 4)
                for (int m = 0; m < 4; m++) p[m] += s->v[k][i + m] * w[i + m];
            for (; i < end; i++) p[0] += s->v[k][i] * w[i];
            s->partial[(int64_t)b * (CYCLE + 1) + k] = (p[0] + p[1]) + (p[2] + p[3]);
        }
    for (int32_t k = 0; k < count; k++) h[k] = 0;
    for (int32_t b = 0; b < blocks; b++)
        for (int32_t k = 0; k < count; k++) h[k] += s->partial[(int64_t)b * (CYCLE + 1) + k];
}

// w -= sum of h[k] v_k; returns the norm of what is left.
static double subtract(const basis *s, int32_t count, const double *h, double *w)
{
    int32_t n = s->def->n, blocks = blocks_of(n);
#pragma omp parallel for schedule(static) if (blocks > 8)
    for (int32_t b = 0; b < blocks; b++) {
        int32_t first = b * BLOCK, end = block_end(n, b);
        for (int32_t k = 0; k < count; k++)
            for (int32_t i = first; i < end; i++) w[i] -= h[k] * s->v[k][i];
        double p[4] = {0};
        int32_t i = first;
        for (; i + 4 <= end; i += 4)
            for (int m = 0; m < 4; m++) p[m] += w[i + m] * w[i + m];
        for (; i < end; i++) p[0] += w[i] * w[i];
        s->partial[b] = (p[0] + p[1]) + (p[2] + p[3]);
    }
    double sum = 0;
    for (int32_t b = 0; b < blocks; b++) sum += s->partial[b];
    return sqrt(sum);
}

// Makes w orthogonal to the first `count` vectors, twice if much of it lies in their span.
static double orthogonalise(const basis *s, int32_t count, double *w, double *h)
{
    double more[CYCLE + 1], before = sqrt(mo_dot_product(s->def->n, w, w));
    products(s, count, w, h);
    double left = subtract(s, count, h, w);
    if (left < 0.1 * before) {
        products(s, count, w, more);
        left = subtract(s, count, more, w);
        for (int32_t k = 0; k < count; k++) h[k] += more[k];
    }
    return left;
}

// One more column of H, its rotations, and the scaled residual: r = s^2 r + c g v.
static void rotate(basis *q, int32_t j, const double *h, double below)
{
    double column[CYCLE + 1];
    memcpy(column, h, sizeof(double) * (size_t)(j + 1));
    for (int32_t k = 0; k < j; k++) {
        double t = q->c[k] * column[k] + q->s[k] * column[k + 1];
        column[k + 1] = q->c[k] * column[k + 1] - q->s[k] * column[k];
        column[k] = t;
    }
    double length = hypot(column[j], below);
    q->c[j] = length > 0 ? column[j] / length : 1, q->s[j] = length > 0 ? below / length : 0;
    column[j] = length;
    for (int32_t k = 0; k <= j; k++) q->h[k][j] = column[k];
    q->g[j + 1] = -q->s[j] * q->g[j], q->g[j] *= q->c[j];
    double old = q->s[j] * q->s[j], new = q->c[j] * q->g[j + 1];
    const double *v = q->v[j + 1];
#pragma omp parallel for schedule(static) if (q->def->n > 4 * BLOCK)
    for (int32_t i = 0; i < q->def->n; i++) q->scaled[i] = old * q->scaled[i] + new *v[i];
}

// x += Z y with H y = g over the first `count` columns.
static void correct(const basis *q, int32_t count, double *x)
{
    double y[CYCLE];
    for (int32_t k = count - 1; k >= 0; k--) {
        y[k] = q->g[k];
        for (int32_t m = k + 1; m < count; m++) y[k] -= q->h[k][m] * y[m];
        y[k] = q->h[k][k] != 0 ? y[k] / q->h[k][k] : 0;
    }
    int32_t n = q->def->n;
#pragma omp parallel for schedule(static) if (n > 4 * BLOCK)
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t k = 0; k < count; k++) sum += y[k] * q->z[k][i];
        if (i < q->def->exact || i >= q->def->exact_end) x[i] += sum;
    }
    for (int32_t i = q->def->exact; i < q->def->exact_end; i++)
        for (int32_t k = 0; k < count; k++) x[i] += y[k] * q->exact[k][i - q->def->exact];
}

static double measure(const basis *q)
{
    int32_t n = q->def->n;
#pragma omp parallel for schedule(static) if (n > 4 * BLOCK)
    for (int32_t i = 0; i < n; i++) q->work[i] = q->scaled[i] / q->def->scale[i];
    return q->def->measure(q->def->context, q->work);
}

// z_j = M v_j in float, and w = A z_j, scaled.
static mo_status expand(basis *q, int32_t j, double *t)
{
    const mo_gmres_def *d = q->def;
    double *w;
    if (!q->z[j]) q->z[j] = mo_alloc(sizeof(float) * (size_t)d->n);
    if (!q->v[j + 1]) q->v[j + 1] = mo_alloc(sizeof(double) * (size_t)d->n);
    size_t exact = (size_t)(d->exact_end - d->exact);
    if (!q->exact[j] && exact) q->exact[j] = mo_alloc(sizeof(double) * exact);
    if (!q->z[j] || !(w = q->v[j + 1]) || (exact && !q->exact[j])) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (d->n > 4 * BLOCK)
    for (int32_t i = 0; i < d->n; i++) w[i] = q->v[j][i] / d->scale[i];
    d->M.apply(d->M.context, w, t);
    // One size for all directions: the range of float is no limit.
    double size = mo_max_abs(d->n, t), down = size > 0 ? 1 / size : 0;
    for (int32_t i = d->exact; i < d->exact_end; i++) q->exact[j][i - d->exact] = down * t[i];
#pragma omp parallel for schedule(static) if (d->n > 4 * BLOCK)
    for (int32_t i = 0; i < d->n; i++) t[i] = q->z[j][i] = (float)(down * t[i]);
    if (exact) memcpy(t + d->exact, q->exact[j], sizeof(double) * exact);
    d->A.apply(d->A.context, t, w);
#pragma omp parallel for schedule(static) if (d->n > 4 * BLOCK)
    for (int32_t i = 0; i < d->n; i++) w[i] *= d->scale[i];
    return MO_OK;
}

// One cycle from the residual in q->scaled; returns when converged by the measure, full, broken down or at the limit.
static mo_status run_cycle(basis *q, double *x, mo_solve_info *info)
{
    const mo_gmres_def *d = q->def;
    double norm = sqrt(mo_dot_product(d->n, q->scaled, q->scaled)), known = norm, ratio = info->residual / norm;
    int32_t j = 0;
    q->g[0] = norm;
    for (int32_t i = 0; i < d->n; i++) q->v[0][i] = q->scaled[i] / norm;
    while (j < q->cycle && info->iterations < d->max_iterations) {
        double h[CYCLE + 1];
        MO_TRY(expand(q, j, q->work));
        double below = orthogonalise(q, j + 1, q->v[j + 1], h);
        if (!isfinite(below)) break;
        for (int32_t i = 0; below > 0 && i < d->n; i++) q->v[j + 1][i] /= below;
        rotate(q, j++, h, below);
        info->iterations++;
        // The measure follows the norm closely enough to be left out far from the end.
        double now = fabs(q->g[j]);
        if (now * ratio < 5 * d->tolerance || j % 8 == 0) {
            info->residual = measure(q);
            known = now, ratio = known > 0 ? info->residual / known : 0;
            if (!(info->residual > d->tolerance)) break;
        }
        if (!(below > 0)) break;
    }
    correct(q, j, x);
    return MO_OK;
}

static void residual_of(const mo_gmres_def *d, const double *b, const double *x, double *r)
{
    d->A.apply(d->A.context, x, r);
#pragma omp parallel for schedule(static) if (d->n > 4 * BLOCK)
    for (int32_t i = 0; i < d->n; i++) r[i] = b[i] - r[i];
}

static mo_status run(basis *q, const double *b, double *x, double *r, mo_solve_info *info)
{
    const mo_gmres_def *d = q->def;
    double best = INFINITY;
    int32_t stalled = 0;
    while (true) { // believes only true residuals
        residual_of(d, b, x, r);
        info->residual = d->measure(d->context, r);
        info->reason = MO_REASON_CONVERGED;
        if (info->residual <= d->tolerance) return MO_OK;
        info->reason = MO_REASON_STALLED;
        stalled = info->residual < 0.5 * best ? 0 : stalled + 1;
        best = fmin(best, info->residual);
        if (stalled == STALLED_CYCLES || !isfinite(info->residual)) return MO_OK;
        info->reason = MO_REASON_MAX_ITERATIONS;
        if (info->iterations >= d->max_iterations) return MO_OK;
        for (int32_t i = 0; i < d->n; i++) q->scaled[i] = d->scale[i] * r[i];
        MO_TRY(run_cycle(q, x, info));
    }
}

mo_status mo_gmres(const mo_gmres_def *def, const double *b, double *x, double *r, mo_solve_info *info)
{
    MO_ASSERT(def->n >= 0 && def->A.apply && def->M.apply && def->measure && def->scale);
    MO_ASSERT(def->max_iterations >= 0);
    MO_ASSERT(def->exact >= 0 && def->exact <= def->exact_end && def->exact_end <= def->n);
    MO_ASSERT(b != x && b != r && x != r);
    basis *q = mo_calloc(sizeof *q);
    mo_status status = MO_ERROR_MEMORY;
    *info = (mo_solve_info){.reason = MO_REASON_STALLED};
    if (!q) return status;
    q->def = def, q->cycle = cycle_for(def->n);
    q->partial = mo_alloc(sizeof(double) * (size_t)blocks_of(def->n) * (CYCLE + 1));
    q->work = mo_alloc(sizeof(double) * (size_t)def->n), q->scaled = mo_alloc(sizeof(double) * (size_t)def->n);
    q->v[0] = mo_alloc(sizeof(double) * (size_t)def->n);
    if (q->partial && q->work && q->scaled && q->v[0]) status = run(q, b, x, r, info);
    for (int32_t k = 0; k <= CYCLE; k++) mo_free(q->v[k]);
    for (int32_t k = 0; k < CYCLE; k++) mo_free(q->z[k]), mo_free(q->exact[k]);
    mo_free(q->partial), mo_free(q->work), mo_free(q->scaled), mo_free(q);
    return status;
}
