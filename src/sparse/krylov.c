// Conjugate gradients; Jacobi.
#include "sparse/krylov.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

// Iterations without progress after which a solve has stalled. Stiff viscous problems without multigrid pause for
// hundreds of iterations in the max norm and still converge.
enum { SMALL = 4096, STALL_WINDOW = 1000, FLEXIBLE_STALL_WINDOW = 100 };

// ---- Conjugate gradients ----

enum { BLOCKS = 256 };

// x += alpha p, r -= alpha q; returns the largest |r|, NaN if there is one.
static double advance(int32_t n, double alpha, const double *p, const double *q, double *x, double *r)
{
    double partial[BLOCKS];
    int32_t blocks = n > SMALL ? BLOCKS : 1;
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t k = 0; k < blocks; k++) {
        double m = 0;
        for (int64_t i = (int64_t)n * k / blocks; i < (int64_t)n * (k + 1) / blocks; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            double v = fabs(r[i]);
            m = v > m || v != v ? v : m;
        }
        partial[k] = m;
    }
    double m = 0;
    for (int32_t k = 0; k < blocks; k++) m = partial[k] > m || partial[k] != partial[k] ? partial[k] : m;
    return m;
}

// y = a y + x
static void combine(int32_t n, const double *x, double a, double *y)
{
#pragma omp parallel for schedule(static) if (n > SMALL)
    for (int32_t i = 0; i < n; i++) y[i] = x[i] + a * y[i];
}

static bool is_zero(int32_t n, const double *x)
{
    for (int32_t i = 0; i < n; i++)
        if (x[i] != 0) return false;
    return true;
}

typedef double (*norm_fn)(int64_t n, const double *v);

static double length_of(int64_t n, const double *v) { return sqrt(mo_dot_product(n, v, v)); }

static double true_residual(int32_t n, const mo_operator *A, const double *b, const double *x, norm_fn size, double *r)
{
    if (is_zero(n, x)) { // as at the start of many solves
        memcpy(r, b, sizeof(double) * (size_t)n);
        return size(n, r);
    }
    A->apply(A->context, x, r);
    combine(n, b, -1, r);
    return size(n, r);
}

typedef struct best_x { // the best iterate, copied only once a worse one follows it
    double residual, *x;
    bool current, saved; // is it the present x; has it been copied
} best_x;

static void keep_best(best_x *best, int32_t n, double residual, double alpha, const double *p, const double *x)
{
    if (residual <= best->residual) {
        best->residual = residual, best->current = true;
        return;
    }
    if (best->current) { // the previous iterate was the best: step back to it
        for (int32_t i = 0; i < n; i++) best->x[i] = x[i] - alpha * p[i];
        best->saved = true;
    }
    best->current = false;
}

static mo_solve_info iterate(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x,
                             double tolerance, int32_t max_iterations, bool flexible, norm_fn size, double *work)
{
    MO_ASSERT(n >= 0 && max_iterations >= 0 && A->apply);
    MO_ASSERT(n == 0 || (x != b && work));
    mo_solve_info info = {.reason = MO_REASON_MAX_ITERATIONS};
    if (n == 0) return (mo_solve_info){.reason = MO_REASON_NOTHING_TO_DO}; // there may be no arrays
    double *r = work, *z = r + n, *p = z + n, *q = p + n, norm = size(n, b);
    if (!(norm > 0)) { // nothing, or not a number
        memset(x, 0, sizeof(double) * (size_t)n);
        info.reason = norm == 0 ? MO_REASON_NOTHING_TO_DO : MO_REASON_STALLED;
        return info;
    }
    double residual = true_residual(n, A, b, x, size, r) / norm, rz = 0, alpha = 0;
    if (!isfinite(residual)) { // a useless start
        memset(x, 0, sizeof(double) * (size_t)n);
        residual = true_residual(n, A, b, x, size, r) / norm;
    }
    best_x best = {residual, q + n, true, false};
    double mark = residual, verified = residual; // best residual at the window's start, last true residual
    bool restart = true;
    int32_t window = flexible ? FLEXIBLE_STALL_WINDOW : STALL_WINDOW;
    while (true) {
        if (residual <= tolerance) {
            // The recurrence may have drifted: believe only the true residual.
            if (info.iterations) residual = true_residual(n, A, b, x, size, r) / norm;
            info.reason = residual <= tolerance ? MO_REASON_CONVERGED : MO_REASON_STALLED;
            if (info.reason == MO_REASON_CONVERGED || !(residual < 0.5 * verified)) break;
            info.reason = MO_REASON_MAX_ITERATIONS;
            best = (best_x){residual, q + n, true, false};
            verified = mark = residual, restart = true;
        }
        if (info.iterations == max_iterations) break;
        if (info.iterations % window == window - 1) {
            if (best.residual > 0.9 * mark) break;
            mark = best.residual;
        }
        if (M)
            M->apply(M->context, r, z);
        else
            memcpy(z, r, sizeof(double) * (size_t)n);
        // Flexible (Polak-Ribiere): z (r - r_old) = -alpha z q.
        double old = rz, beta = 0;
        if (!restart && flexible) beta = -alpha * mo_dot_product(n, z, q) / old;
        rz = mo_dot_product(n, r, z);
        if (!restart && !flexible) beta = rz / old;
        if (!(rz > 0) || !isfinite(beta)) break;
        if (restart)
            memcpy(p, z, sizeof(double) * (size_t)n);
        else
            combine(n, z, beta, p);
        restart = false;
        A->apply(A->context, p, q);
        alpha = rz / mo_dot_product(n, p, q);
        if (!isfinite(alpha) || !(alpha > 0)) break;
        double largest = advance(n, alpha, p, q, x, r);
        residual = (size == mo_max_abs ? largest : size(n, r)) / norm;
        info.iterations++;
        keep_best(&best, n, residual, alpha, p, x);
    }
    if (info.reason != MO_REASON_CONVERGED) {
        if (info.iterations < max_iterations) info.reason = MO_REASON_STALLED;
        if (best.saved && !best.current) memcpy(x, best.x, sizeof(double) * (size_t)n);
        residual = true_residual(n, A, b, x, size, r) / norm;
    }
    info.residual = residual;
    return info;
}

mo_solve_info mo_cg(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x, double tolerance,
                    int32_t max_iterations, bool flexible, double *work)
{
    return iterate(n, A, M, b, x, tolerance, max_iterations, flexible, mo_max_abs, work);
}

mo_solve_info mo_cg_mean(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x,
                         double tolerance, int32_t max_iterations, bool flexible, double *work)
{
    return iterate(n, A, M, b, x, tolerance, max_iterations, flexible, length_of, work);
}

// ---- Jacobi ----

mo_status mo_jacobi_create(const mo_csr *A, mo_jacobi *out)
{
    MO_ASSERT(A->rows == A->cols);
    *out = (mo_jacobi){.n = A->rows, .dinv = mo_alloc(sizeof(double) * (size_t)A->rows)};
    if (!out->dinv) return MO_ERROR_MEMORY;
    mo_csr_diagonal(A, out->dinv);
    for (int32_t i = 0; i < A->rows; i++) out->dinv[i] = out->dinv[i] > 0 ? 1 / out->dinv[i] : 0;
    return MO_OK;
}

void mo_jacobi_destroy(mo_jacobi *j)
{
    mo_free(j->dinv);
    *j = (mo_jacobi){0};
}

void mo_jacobi_apply(void *jacobi, const double *r, double *z)
{
    const mo_jacobi *j = jacobi;
#pragma omp parallel for schedule(static) if (j->n > SMALL)
    for (int32_t i = 0; i < j->n; i++) z[i] = j->dinv[i] * r[i];
}
