// Energy, forces and stiffness of cloth: found triangle by triangle and cord by cord, then gathered by the vertices
// that own them in the order of elements, so that sums do not depend on threads.
#include "base/parallel.h"
#include "solid/cloth.h"
#include <stddef.h>
#include <string.h>

enum { CORNERS = MO_CLOTH_CORNERS, PAIRS = CORNERS * (CORNERS + 1) / 2 };

typedef struct strain { // of a triangle
    double E[3];        // Green's, 11, 12, 22
    double kappa[3];    // of its edges
} strain;

typedef struct plane { // F: its columns are the images of the axes of the plane at rest
    mo_vec3 u, v;
} plane;

static const int32_t *corners_of(const mo_elastic_body *b, int32_t e) { return b->corner + (int64_t)e * CORNERS; }

static plane plane_of(const mo_elastic_body *b, const mo_vec3 *x, int32_t t)
{
    const double(*g)[2] = (const double(*)[2])b->cloth->gradient[t];
    const int32_t *c = corners_of(b, t);
    plane F;
    F.u = mo_mad(mo_mad(mo_mul(g[0][0], x[c[0]]), g[1][0], x[c[1]]), g[2][0], x[c[2]]);
    F.v = mo_mad(mo_mad(mo_mul(g[0][1], x[c[0]]), g[1][1], x[c[1]]), g[2][1], x[c[2]]);
    return F;
}

// The edge opposite to corner i; without bending stiffness, or a triangle beyond, kappa and its derivatives are 0.
static void flap_of(const mo_elastic_body *b, const mo_vec3 *x, int32_t t, int i, int derivatives, mo_flap *out)
{
    const int32_t *c = corners_of(b, t);
    if (c[3 + i] < 0 || !(b->cloth->material.bend > 0)) {
        memset(out, 0, derivatives > 1 ? sizeof *out : offsetof(mo_flap, hessian));
        return;
    }
    mo_vec3 four[4] = {x[c[(i + 1) % 3]], x[c[(i + 2) % 3]], x[c[i]], x[c[3 + i]]};
    mo_flap_find(four, derivatives, out);
}

// Where the four vertices of that edge are among the triangle's corners.
static int corner_of_flap(int i, int k) { return k < 2 ? (i + 1 + k) % 3 : k == 2 ? i : 3 + i; }

static void green(plane F, double E[3])
{
    E[0] = 0.5 * (mo_dot(F.u, F.u) - 1), E[1] = 0.5 * mo_dot(F.u, F.v), E[2] = 0.5 * (mo_dot(F.v, F.v) - 1);
}

static strain strain_of(const mo_elastic_body *b, const mo_vec3 *x, int32_t t)
{
    strain s;
    green(plane_of(b, x, t), s.E);
    for (int i = 0; i < 3; i++) {
        mo_flap flap;
        flap_of(b, x, t, i, 0, &flap);
        s.kappa[i] = flap.kappa;
    }
    return s;
}

// The factor by which damping multiplies the energy of the step's strain.
static double ratio_of(const mo_elastic_body *b, const mo_elastic_step *step)
{
    return step ? b->cloth->material.damping / step->dt : 0;
}

static double stretch_form(double nu, const double E[3])
{
    double trace = E[0] + E[2];
    return (1 - nu) * (E[0] * E[0] + 2 * E[1] * E[1] + E[2] * E[2]) + nu * trace * trace;
}

static double bend_form(const double M[3][3], const double k[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += k[i] * (M[i][0] * k[0] + M[i][1] * k[1] + M[i][2] * k[2]);
    return sum;
}

// A/2 S q(E) and A/2 D q(b), of a strain relative to another one.
static void triangle_energy(const mo_elastic_body *b, int32_t t, const strain *s, double *stretching, double *bending)
{
    const mo_cloth_material *m = &b->cloth->material;
    *stretching = 0.5 * b->volume[t] * m->stretch * stretch_form(m->poisson, s->E);
    *bending = 0.5 * b->volume[t] * m->bend * bend_form((const double(*)[3])b->cloth->form[t], s->kappa);
}

static strain less_rest(const mo_elastic_body *b, int32_t t, strain s)
{
    for (int i = 0; i < 3; i++) s.kappa[i] -= b->cloth->kappa[t][i];
    return s;
}

static strain difference(strain s, const strain *from)
{
    for (int i = 0; i < 3; i++) s.E[i] -= from->E[i], s.kappa[i] -= from->kappa[i];
    return s;
}

// ---- Cords ----

// Its direction and length now; the extension, 0 where it is slack.
static double cord_extension(const mo_elastic_body *b, const mo_vec3 *x, int32_t i, mo_vec3 *along, double *length)
{
    const mo_cord *c = &b->cloth->cord[i];
    mo_vec3 way = mo_sub(x[c->from], c->to < 0 ? c->point : x[c->to]);
    *length = mo_norm(way);
    if (!(*length > c->length)) return 0;
    *along = mo_mul(1 / *length, way);
    return *length - c->length;
}

static double cord_energy(const mo_elastic_body *b, const mo_vec3 *x, int32_t i)
{
    mo_vec3 along;
    double length, out = cord_extension(b, x, i, &along, &length);
    return 0.5 * b->cloth->cord[i].stretch / b->cloth->cord[i].length * out * out;
}

static void cord_gradient(const mo_elastic_body *b, const mo_vec3 *x, int32_t i, mo_vec3 out[CORNERS])
{
    mo_vec3 along = {0, 0, 0};
    double length, force = b->cloth->cord[i].stretch / b->cloth->cord[i].length;
    force *= cord_extension(b, x, i, &along, &length);
    out[0] = mo_mul(force, along), out[1] = mo_mul(-force, along);
}

// k/L (a a^T + (1 - L/l)(1 - a a^T))
static void cord_matrix(const mo_elastic_body *b, const mo_vec3 *x, int32_t i, double (*out)[3][3])
{
    mo_vec3 along;
    double length, k = b->cloth->cord[i].stretch / b->cloth->cord[i].length;
    double across = cord_extension(b, x, i, &along, &length) / length;
    if (!(across > 0)) return;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            double value = k * ((1 - across) * (mo_get(along, r) * mo_get(along, c)) + (r == c ? across : 0));
            out[mo_corner_pair(0, 0)][r][c] = out[mo_corner_pair(1, 1)][r][c] = value;
            out[mo_corner_pair(0, 1)][r][c] = -value;
        }
}

// ---- Energy ----

double mo_cloth_element_energy(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t e)
{
    if (e >= b->cloth->triangles) return cord_energy(b, x, e - b->cloth->triangles);
    double stretching, bending, sum, ratio = ratio_of(b, step);
    strain now = strain_of(b, x, e), own = less_rest(b, e, now);
    triangle_energy(b, e, &own, &stretching, &bending);
    sum = stretching + bending;
    if (ratio > 0) {
        strain then = strain_of(b, step->from, e), change = difference(now, &then);
        triangle_energy(b, e, &change, &stretching, &bending);
        sum += ratio * (stretching + bending);
    }
    return sum;
}

mo_cloth_sums mo_cloth_measure(const mo_elastic_body *b, const mo_vec3 *x)
{
    mo_cloth_sums sums = {0};
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        double stretching, bending;
        strain s = less_rest(b, t, strain_of(b, x, t));
        triangle_energy(b, t, &s, &stretching, &bending);
        sums.stretching += stretching, sums.bending += bending;
        double largest = 0.5 * (s.E[0] + s.E[2]) + hypot(0.5 * (s.E[0] - s.E[2]), s.E[1]);
        sums.most = fmax(sums.most, sqrt(1 + 2 * largest) - 1);
    }
    for (int32_t i = 0; i < b->cloth->cords; i++) sums.cords += cord_energy(b, x, i);
    return sums;
}

// ---- Forces ----

typedef struct stress { // derivatives of a triangle's energy
    double T[3];        // with respect to E, over its area: 11, 12, 22
    double mu[3];       // with respect to kappa
} stress;

static stress stress_of(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t t)
{
    const mo_cloth_material *m = &b->cloth->material;
    const double(*M)[3] = (const double(*)[3])b->cloth->form[t];
    double ratio = ratio_of(b, step);
    strain now = strain_of(b, x, t), own = less_rest(b, t, now);
    if (ratio > 0) {
        strain then = strain_of(b, step->from, t), change = difference(now, &then);
        for (int i = 0; i < 3; i++) own.E[i] += ratio * change.E[i], own.kappa[i] += ratio * change.kappa[i];
    }
    stress s;
    double pressure = m->poisson * (own.E[0] + own.E[2]);
    for (int i = 0; i < 3; i++) {
        s.T[i] = m->stretch * ((1 - m->poisson) * own.E[i] + (i == 1 ? 0 : pressure));
        double sum = M[i][0] * own.kappa[0] + M[i][1] * own.kappa[1] + M[i][2] * own.kappa[2];
        s.mu[i] = b->volume[t] * m->bend * sum;
    }
    return s;
}

// dW/dx_k = A F T g_k + sum mu_i dkappa_i/dx_k
static void triangle_gradient(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, int32_t t,
                              mo_vec3 out[CORNERS])
{
    const double(*g)[2] = (const double(*)[2])b->cloth->gradient[t];
    stress s = stress_of(b, x, step, t);
    plane F = plane_of(b, x, t);
    for (int k = 0; k < 3; k++) {
        double along_u = s.T[0] * g[k][0] + s.T[1] * g[k][1], along_v = s.T[1] * g[k][0] + s.T[2] * g[k][1];
        out[k] = mo_mul(b->volume[t], mo_mad(mo_mul(along_u, F.u), along_v, F.v));
        out[3 + k] = mo_v3(0, 0, 0);
    }
    for (int i = 0; i < 3; i++) {
        mo_flap flap;
        flap_of(b, x, t, i, 1, &flap);
        for (int k = 0; k < 4; k++) {
            mo_vec3 *to = &out[corner_of_flap(i, k)];
            *to = mo_mad(*to, s.mu[i], flap.gradient[k]);
        }
    }
}

mo_status mo_cloth_gradient(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, mo_arena *arena,
                            double *gradient)
{
    size_t mark = mo_arena_mark(arena);
    mo_vec3(*of)[CORNERS] = mo_arena_alloc(arena, sizeof *of * (size_t)(b->elements + 1));
    if (!of) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < b->elements; e++)
        if (e < b->cloth->triangles)
            triangle_gradient(b, x, step, e, of[e]);
        else
            cord_gradient(b, x, e - b->cloth->triangles, of[e]);
#pragma omp parallel for schedule(static)
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 sum = {0, 0, 0};
        for (int32_t k = b->first[v]; k < b->first[v + 1]; k++)
            sum = mo_add(sum, of[b->use[k] / CORNERS][b->use[k] % CORNERS]);
        gradient[3 * v] = sum.x, gradient[3 * v + 1] = sum.y, gradient[3 * v + 2] = sum.z;
    }
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Stiffness ----

// Keeps the part of a stress that pulls: its positive eigenvalues. Returns whether there was another.
static bool keep_pull(double T[3])
{
    double mean = 0.5 * (T[0] + T[2]), half = 0.5 * (T[0] - T[2]), radius = hypot(half, T[1]);
    if (mean - radius >= 0) return false;
    double value = fmax(mean + radius, 0), c = radius > 0 ? half / radius : 1, s = radius > 0 ? T[1] / radius : 0;
    T[0] = 0.5 * value * (1 + c), T[1] = 0.5 * value * s, T[2] = 0.5 * value * (1 - c);
    return true;
}

// A S (1 + ratio) [(1 - nu)/2 ((g_k . g_l) F F^T + F g_l (F g_k)^T) + nu F g_k (F g_l)^T] + A (g_k . T g_l) 1
static void add_stretching(const mo_elastic_body *b, plane F, const double T[3], double ratio, int32_t t,
                           double (*out)[3][3])
{
    const mo_cloth_material *m = &b->cloth->material;
    const double(*g)[2] = (const double(*)[2])b->cloth->gradient[t];
    double scale = b->volume[t] * m->stretch * (1 + ratio), nu = m->poisson, f[3][3], square[3][3];
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) f[k][r] = mo_get(F.u, r) * g[k][0] + mo_get(F.v, r) * g[k][1];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) square[r][c] = mo_get(F.u, r) * mo_get(F.u, c) + mo_get(F.v, r) * mo_get(F.v, c);
    for (int l = 0; l < 3; l++)
        for (int k = 0; k <= l; k++) {
            double product = g[k][0] * g[l][0] + g[k][1] * g[l][1];
            double pull = g[k][0] * (T[0] * g[l][0] + T[1] * g[l][1]) + g[k][1] * (T[1] * g[l][0] + T[2] * g[l][1]);
            double(*B)[3] = out[mo_corner_pair(k, l)];
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    B[r][c] += scale * (0.5 * (1 - nu) * (product * square[r][c] + f[l][r] * f[k][c]) +
                                        nu * (f[k][r] * f[l][c])) +
                               (r == c ? b->volume[t] * pull : 0);
        }
}

// A D (1 + ratio) sum M_ij dkappa_i dkappa_j^T: G holds the derivatives of kappa_i at all corners.
static void add_bending(const mo_elastic_body *b, const mo_vec3 G[3][CORNERS], double ratio, int32_t t,
                        double (*out)[3][3])
{
    double scale = b->volume[t] * b->cloth->material.bend * (1 + ratio);
    const double(*M)[3] = (const double(*)[3])b->cloth->form[t];
    for (int k = 0; k < CORNERS; k++)
        for (int i = 0; i < 3; i++) {
            mo_vec3 sum = mo_mad(mo_mad(mo_mul(M[i][0], G[0][k]), M[i][1], G[1][k]), M[i][2], G[2][k]);
            sum = mo_mul(scale, sum);
            for (int l = k; l < CORNERS; l++) {
                double(*B)[3] = out[mo_corner_pair(k, l)];
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) B[r][c] += mo_get(sum, r) * mo_get(G[i][l], c);
            }
        }
}

// mu d2kappa_i
static void add_turning(const mo_flap *flap, double mu, int i, double (*out)[3][3])
{
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < 4; l++) {
            int p = corner_of_flap(i, k), q = corner_of_flap(i, l);
            if (p > q) continue;
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) out[mo_corner_pair(p, q)][r][c] += mu * flap->hessian[k][l][r][c];
        }
}

// Makes blocks on the diagonal symmetric, because sums in a different order make their two halves differ in the last
// bits.
static void make_symmetric(double (*out)[3][3])
{
    for (int k = 0; k < CORNERS; k++) {
        double(*B)[3] = out[mo_corner_pair(k, k)];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < r; c++) B[r][c] = B[c][r] = 0.5 * (B[r][c] + B[c][r]);
    }
}

static bool triangle_matrix(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                            int32_t t, double (*out)[3][3])
{
    stress s = stress_of(b, x, step, t);
    bool clipped = projected && keep_pull(s.T);
    double ratio = ratio_of(b, step);
    mo_vec3 G[3][CORNERS] = {{{0, 0, 0}}};
    add_stretching(b, plane_of(b, x, t), s.T, ratio, t, out);
    if (!(b->cloth->material.bend > 0)) return clipped;
    for (int i = 0; i < 3; i++) {
        mo_flap flap;
        flap_of(b, x, t, i, projected ? 1 : 2, &flap);
        for (int k = 0; k < 4 && corners_of(b, t)[3 + i] >= 0; k++) G[i][corner_of_flap(i, k)] = flap.gradient[k];
        if (!projected) add_turning(&flap, s.mu[i], i, out);
    }
    add_bending(b, (const mo_vec3(*)[CORNERS])G, ratio, t, out);
    make_symmetric(out);
    return clipped;
}

mo_status mo_cloth_stiffness(const mo_elastic_body *b, const mo_vec3 *x, const mo_elastic_step *step, bool projected,
                             mo_arena *arena, mo_csr *A, int32_t *clipped)
{
    size_t mark = mo_arena_mark(arena), bytes = sizeof(double[PAIRS][3][3]) * ((size_t)b->elements + 1);
    double(*block)[3][3] = mo_arena_alloc(arena, bytes);
    int32_t count = 0;
    if (!block) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int32_t e = 0; e < b->elements; e++) {
        double(*own)[3][3] = block + (int64_t)e * PAIRS;
        memset(own, 0, sizeof(double[PAIRS][3][3]));
        if (e < b->cloth->triangles)
            count += triangle_matrix(b, x, step, projected, e, own);
        else
            cord_matrix(b, x, e - b->cloth->triangles, own);
    }
#pragma omp parallel for schedule(static)
    for (int32_t v = 0; v < b->vertices; v++) mo_elastic_gather_rows(b, (const double(*)[3][3])block, PAIRS, v, A);
    if (clipped) *clipped = count;
    mo_arena_release(arena, mark);
    return MO_OK;
}
