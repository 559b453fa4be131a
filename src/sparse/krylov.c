// Conjugate gradients; coloured Gauss-Seidel sweeps with SSOR; Jacobi.
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

static double true_residual(int32_t n, const mo_operator *A, const double *b, const double *x, double *r)
{
    A->apply(A->context, x, r);
    combine(n, b, -1, r);
    return mo_max_abs(n, r);
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

mo_solve_info mo_cg(int32_t n, const mo_operator *A, const mo_operator *M, const double *b, double *x, double tolerance,
                    int32_t max_iterations, bool flexible, double *work)
{
    mo_solve_info info = {.reason = MO_REASON_MAX_ITERATIONS};
    double *r = work, *z = r + n, *p = z + n, *q = p + n, norm = mo_max_abs(n, b);
    if (!(norm > 0)) { // nothing, or not a number
        memset(x, 0, sizeof(double) * (size_t)n);
        info.reason = norm == 0 ? MO_REASON_NOTHING_TO_DO : MO_REASON_STALLED;
        return info;
    }
    double residual = true_residual(n, A, b, x, r) / norm, rz = 0, alpha = 0;
    if (!isfinite(residual)) { // a useless start
        memset(x, 0, sizeof(double) * (size_t)n);
        residual = true_residual(n, A, b, x, r) / norm;
    }
    best_x best = {residual, q + n, true, false};
    double mark = residual, verified = residual; // best residual at the window's start, last true residual
    bool restart = true;
    int32_t window = flexible ? FLEXIBLE_STALL_WINDOW : STALL_WINDOW;
    while (true) {
        if (residual <= tolerance) {
            // The recurrence may have drifted: believe only the true residual.
            if (info.iterations) residual = true_residual(n, A, b, x, r) / norm;
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
        residual = advance(n, alpha, p, q, x, r) / norm;
        info.iterations++;
        keep_best(&best, n, residual, alpha, p, x);
    }
    if (info.reason != MO_REASON_CONVERGED) {
        if (info.iterations < max_iterations) info.reason = MO_REASON_STALLED;
        if (best.saved && !best.current) memcpy(x, best.x, sizeof(double) * (size_t)n);
        residual = true_residual(n, A, b, x, r) / norm;
    }
    info.residual = residual;
    return info;
}

// ---- Sweeps over coloured cubes ----

static int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static bool same_cube(const int32_t a[3], const int32_t b[3], int32_t edge)
{
    return floor_div(a[0], edge) == floor_div(b[0], edge) && floor_div(a[1], edge) == floor_div(b[1], edge) &&
           floor_div(a[2], edge) == floor_div(b[2], edge);
}

static int32_t cube_colour(const int32_t c[3], int32_t edge, bool diagonal)
{
    int32_t x = floor_div(c[0], edge) & 1, y = floor_div(c[1], edge) & 1, z = floor_div(c[2], edge) & 1;
    return diagonal ? x + 2 * y + 4 * z : x ^ y ^ z;
}

mo_status mo_sweep_create(int32_t rows, const int32_t (*coord)[3], int32_t edge, bool diagonal, mo_sweep *out)
{
    int32_t groups = 0, colours = diagonal ? 8 : 2;
    for (int32_t i = 0; i < rows; i++) groups += i == 0 || !same_cube(coord[i], coord[i - 1], edge);
    *out = (mo_sweep){.groups = groups, .colours = colours};
    out->group = mo_alloc(sizeof(int32_t) * ((size_t)groups + 1));
    out->colour = mo_calloc(sizeof(int32_t) * ((size_t)colours + 1));
    out->member = mo_alloc(sizeof(int32_t) * (size_t)groups);
    if (!out->group || !out->colour || !out->member) {
        mo_sweep_destroy(out);
        return MO_ERROR_MEMORY;
    }
    int32_t g = 0;
    for (int32_t i = 0; i < rows; i++)
        if (i == 0 || !same_cube(coord[i], coord[i - 1], edge)) out->group[g++] = i;
    out->group[groups] = rows;
    // Stable counting sort by colour.
    int32_t place[8] = {0};
    for (g = 0; g < groups; g++) out->colour[cube_colour(coord[out->group[g]], edge, diagonal) + 1]++;
    for (int32_t c = 0; c < colours; c++) {
        out->colour[c + 1] += out->colour[c];
        place[c] = out->colour[c];
    }
    for (g = 0; g < groups; g++) out->member[place[cube_colour(coord[out->group[g]], edge, diagonal)]++] = g;
    return MO_OK;
}

void mo_sweep_destroy(mo_sweep *sweep)
{
    mo_free(sweep->group), mo_free(sweep->colour), mo_free(sweep->member);
    *sweep = (mo_sweep){0};
}

// ---- SSOR: one forward and one backward SOR sweep from zero ----

mo_status mo_ssor_create(const mo_csr *A, const mo_sweep *sweep, double omega, mo_ssor *out)
{
    *out = (mo_ssor){.A = A, .sweep = sweep, .omega = omega};
    mo_jacobi jacobi;
    MO_TRY(mo_jacobi_create(A, &jacobi));
    out->dinv = jacobi.dinv;
    return MO_OK;
}

void mo_ssor_destroy(mo_ssor *s)
{
    mo_free(s->dinv);
    *s = (mo_ssor){0};
}

// z_i += omega (r_i - A_i z) / a_ii
static inline void sor_row(const mo_ssor *s, const double *r, double *z, int32_t i)
{
    const mo_csr *A = s->A;
    double t = r[i];
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) t -= A->val[k] * z[A->col[k]];
    z[i] += s->omega * t * s->dinv[i];
}

void mo_ssor_apply(void *ssor, const double *r, double *z)
{
    const mo_ssor *s = ssor;
    const mo_sweep *sweep = s->sweep;
    memset(z, 0, sizeof(double) * (size_t)s->A->rows);
#pragma omp parallel if (s->A->rows > SMALL)
    {
        for (int32_t c = 0; c < sweep->colours; c++) {
#pragma omp for schedule(static)
            for (int32_t m = sweep->colour[c]; m < sweep->colour[c + 1]; m++) {
                int32_t g = sweep->member[m];
                for (int32_t i = sweep->group[g]; i < sweep->group[g + 1]; i++) sor_row(s, r, z, i);
            }
        }
        for (int32_t c = sweep->colours - 1; c >= 0; c--) {
#pragma omp for schedule(static)
            for (int32_t m = sweep->colour[c]; m < sweep->colour[c + 1]; m++) {
                int32_t g = sweep->member[m];
                for (int32_t i = sweep->group[g + 1] - 1; i >= sweep->group[g]; i--) sor_row(s, r, z, i);
            }
        }
    }
}

// ---- Jacobi ----

mo_status mo_jacobi_create(const mo_csr *A, mo_jacobi *out)
{
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
