// Energy, forces and stiffness of elastic bodies: found element by element, then gathered by the vertices that own them
// in the order of elements, so that sums do not depend on threads.
#include "base/parallel.h"
#include "solid/cloth.h"
#include <string.h>

// sym Ft^T (F - Ft)
static void strain_of_step(const double Ft[3][3], const double F[3][3], double S[3][3])
{
    double A[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            A[i][j] = 0;
            for (int l = 0; l < 3; l++) A[i][j] += Ft[l][i] * (F[l][j] - Ft[l][j]);
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[i][j] = 0.5 * (A[i][j] + A[j][i]);
}

// The factor of the square of the step's strain in damping; 0 without it.
static double damping(const mo_elastic_body *b, const mo_elastic_step *step)
{
    return step && b->elasticity.viscosity > 0 ? b->elasticity.viscosity / step->dt : 0;
}

static double element_energy(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t e)
{
    double F[3][3], Ft[3][3], S[3][3], c = damping(b, step), sum = 0;
    mo_elastic_deformation(b, x, e, F);
    if (c > 0) {
        mo_elastic_deformation(b, step->from, e, Ft);
        strain_of_step(Ft, F, S);
        for (int i = 0; i < 9; i++) sum += S[i / 3][i % 3] * S[i / 3][i % 3];
    }
    return b->volume[e] * (mo_elasticity_energy(&b->elasticity, F) + c * sum);
}

mo_status mo_elastic_energy(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                            double *out)
{
    size_t mark = mo_arena_mark(arena);
    double *energy = MO_ARENA_ARRAY(arena, double, b->elements + 1);
    if (!energy) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < b->elements; e++)
        energy[e] = b->cloth ? mo_cloth_element_energy(b, x, step, e) : element_energy(b, x, step, e);
    *out = mo_sum(b->elements, energy);
    mo_arena_release(arena, mark);
    return MO_OK;
}

// V (P + 2 c Ft sym Ft^T (F - Ft)), the derivative of an element's W with respect to F.
static void element_stress(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t e,
                           double P[3][3])
{
    double F[3][3], Ft[3][3], S[3][3], c = damping(b, step);
    mo_elastic_deformation(b, x, e, F);
    mo_elasticity_stress(&b->elasticity, F, P);
    if (c > 0) {
        mo_elastic_deformation(b, step->from, e, Ft);
        strain_of_step(Ft, F, S);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++) P[i][j] += 2 * c * Ft[i][l] * S[l][j];
    }
    for (int i = 0; i < 9; i++) P[i / 3][i % 3] *= b->volume[e];
}

// dW/dx_k = P g_k, summed over the elements about a vertex
static void gather_gradient(const mo_elastic_body *b, const double (*P)[3][3], int32_t v, double *out)
{
    int corners = b->dimension + 1;
    for (int i = 0; i < b->dimension; i++) out[i] = 0;
    for (int32_t k = b->first[v]; k < b->first[v + 1]; k++) {
        const double *g = b->gradient + 3 * (int64_t)b->use[k];
        const double(*p)[3] = P[b->use[k] / corners];
        for (int i = 0; i < b->dimension; i++) out[i] += p[i][0] * g[0] + p[i][1] * g[1] + p[i][2] * g[2];
    }
}

mo_status mo_elastic_gradient(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                              double *gradient)
{
    if (b->cloth) return mo_cloth_gradient(b, x, step, arena, gradient);
    size_t mark = mo_arena_mark(arena);
    double(*P)[3][3] = mo_arena_alloc(arena, sizeof(double[3][3]) * (size_t)(b->elements + 1));
    if (!P) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < b->elements; e++) element_stress(b, x, step, e, P[e]);
#pragma omp parallel for schedule(static)
    for (int32_t v = 0; v < b->vertices; v++)
        gather_gradient(b, (const double(*)[3][3])P, v, gradient + (int64_t)v * b->dimension);
    mo_arena_release(arena, mark);
    return MO_OK;
}

mo_status mo_elastic_pattern(const mo_elastic_body *b, mo_csr *out)
{
    int32_t d = b->dimension, n = mo_elastic_unknowns(b);
    MO_TRY(mo_csr_create(n, n, (int64_t)d * d * b->start[b->vertices], out));
    for (int32_t i = 0; i < n; i++) {
        int32_t v = i / d, count = b->start[v + 1] - b->start[v];
        int64_t at = out->row[i];
        for (int32_t k = 0; k < count * d; k++)
            out->col[at + k] = d * b->near[b->start[v] + k / d] + k % d, out->val[at + k] = 0;
        out->row[i + 1] = at + (int64_t)count * d;
    }
    return MO_OK;
}

enum { PAIRS = 10 }; // of corners k <= l

typedef struct element_matrix {
    double block[PAIRS][3][3]; // d2W / dx_k dx_l
} element_matrix;

// Adds V value (Q g_k) (Q g_l)^T of every mode that counts; whether a negative one was left out. The root of the value
// goes to both factors, so that blocks on the diagonal are symmetric to the last bit.
static bool add_modes(const mo_elastic_body *b, const mo_stiffness_modes *m, int32_t e, bool projected,
                      element_matrix *out)
{
    int corners = b->dimension + 1;
    const double *g = b->gradient + (int64_t)e * corners * 3;
    bool clipped = false;
    for (int i = 0; i < m->count; i++) {
        double w[4][3], value = b->volume[e] * m->value[i], root = sqrt(fabs(value)), sign = value < 0 ? -1 : 1;
        if (projected && value < 0) {
            clipped = true;
            continue;
        }
        const double(*Q)[3] = m->direction[i];
        for (int k = 0; k < corners; k++)
            for (int r = 0; r < 3; r++)
                w[k][r] = root * (Q[r][0] * g[3 * k] + Q[r][1] * g[3 * k + 1] + Q[r][2] * g[3 * k + 2]);
        for (int l = 0; l < corners; l++)
            for (int k = 0; k <= l; k++)
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) out->block[mo_corner_pair(k, l)][r][c] += sign * (w[k][r] * w[l][c]);
    }
    return clipped;
}

// Adds the stiffness of damping: c V Ft ((g_k . g_l) 1 + g_l g_k^T) Ft^T
static void add_damping(const mo_elastic_body *b, const mo_elastic_step *step, int32_t e, double c, element_matrix *out)
{
    int corners = b->dimension + 1;
    const double *g = b->gradient + (int64_t)e * corners * 3;
    double Ft[3][3], f[4][3]; // Ft g_k
    mo_elastic_deformation(b, step->from, e, Ft);
    for (int k = 0; k < corners; k++)
        for (int r = 0; r < 3; r++) f[k][r] = Ft[r][0] * g[3 * k] + Ft[r][1] * g[3 * k + 1] + Ft[r][2] * g[3 * k + 2];
    for (int l = 0; l < corners; l++)
        for (int k = 0; k <= l; k++) {
            double along = g[3 * k] * g[3 * l] + g[3 * k + 1] * g[3 * l + 1] + g[3 * k + 2] * g[3 * l + 2];
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++) {
                    double square = Ft[r][0] * Ft[s][0] + Ft[r][1] * Ft[s][1] + Ft[r][2] * Ft[s][2];
                    out->block[mo_corner_pair(k, l)][r][s] += c * b->volume[e] * (along * square + f[l][r] * f[k][s]);
                }
        }
}

static bool find_matrix(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                        int32_t e, element_matrix *out)
{
    double F[3][3], c = damping(b, step);
    mo_stiffness_modes modes;
    memset(out, 0, sizeof *out);
    mo_elastic_deformation(b, x, e, F);
    mo_elasticity_modes(&b->elasticity, F, b->dimension, &modes);
    bool clipped = add_modes(b, &modes, e, projected, out);
    if (c > 0) add_damping(b, step, e, c, out);
    return clipped;
}

void mo_elastic_gather_rows(const mo_elastic_body *b, const double (*block)[3][3], int32_t stride, int32_t v, mo_csr *A)
{
    int32_t d = b->dimension, corners = b->corners;
    double *row[3] = {0};
    for (int r = 0; r < d; r++) {
        row[r] = A->val + A->row[d * v + r];
        memset(row[r], 0, sizeof(double) * (size_t)(A->row[d * v + r + 1] - A->row[d * v + r]));
    }
    for (int32_t u = b->first[v]; u < b->first[v + 1]; u++) {
        int32_t e = b->use[u] / corners, k = b->use[u] % corners;
        const int32_t *place = b->place + ((int64_t)e * corners + k) * corners;
        const double(*own)[3][3] = block + (int64_t)e * stride;
        for (int l = 0; l < corners; l++) {
            if (b->corner[(int64_t)e * corners + l] < 0) continue;
            const double(*B)[3] = own[k <= l ? mo_corner_pair(k, l) : mo_corner_pair(l, k)];
            for (int r = 0; r < d; r++)
                for (int c = 0; c < d; c++) row[r][d * place[l] + c] += k <= l ? B[r][c] : B[c][r];
        }
    }
}

mo_status mo_elastic_stiffness(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                               mo_arena *arena, mo_csr *A, int32_t *clipped)
{
    MO_ASSERT(A->rows == mo_elastic_unknowns(b));
    if (b->cloth) return mo_cloth_stiffness(b, x, step, projected, arena, A, clipped);
    size_t mark = mo_arena_mark(arena);
    element_matrix *m = MO_ARENA_ARRAY(arena, element_matrix, b->elements + 1);
    int32_t count = 0;
    if (!m) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int32_t e = 0; e < b->elements; e++) count += find_matrix(b, x, step, projected, e, &m[e]);
#pragma omp parallel for schedule(static)
    for (int32_t v = 0; v < b->vertices; v++) mo_elastic_gather_rows(b, m->block, PAIRS, v, A);
    if (clipped) *clipped = count;
    mo_arena_release(arena, mark);
    return MO_OK;
}
