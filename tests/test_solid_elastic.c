// Elastic materials and bodies: singular values, derivatives against differences, formulas, invariants, memory,
// threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "base/matrix3.h"
#include "solid/elastic.h"
#include <stdlib.h>
#include <string.h>

static uint32_t seed;
static double uniform(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(seed++, 17, 4)); }

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static void multiply(const double A[3][3], const double B[3][3], double C[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

static void random_rotation(int dimension, double R[3][3])
{
    mo_vec3 axis = dimension == 2 ? mo_v3(0, 0, 1) : mo_v3(uniform(-1, 1), uniform(-1, 1), uniform(-1, 1));
    mo_quat q = mo_quat_axis_angle(axis, uniform(-3, 3));
    for (int j = 0; j < 3; j++) {
        mo_vec3 c = mo_quat_rotate(q, mo_v3(j == 0, j == 1, j == 2));
        R[0][j] = c.x, R[1][j] = c.y, R[2][j] = c.z;
    }
}

// U diag(s) V^T with random rotations.
static void with_values(int dimension, const double s[3], double F[3][3])
{
    double U[3][3], V[3][3];
    random_rotation(dimension, U), random_rotation(dimension, V);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            F[i][j] = 0;
            for (int k = 0; k < 3; k++) F[i][j] += U[i][k] * s[k] * V[j][k];
        }
    if (dimension == 2) F[2][2] = 1, F[0][2] = F[1][2] = F[2][0] = F[2][1] = 0;
}

// ---- Singular values ----

static void check_svd(const double F[3][3])
{
    double U[3][3], s[3], V[3][3], scale = 0;
    mo_svd3(F, U, s, V);
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(F[i / 3][i % 3]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0, u = 0, v = 0;
            for (int k = 0; k < 3; k++) sum += U[i][k] * s[k] * V[j][k], u += U[k][i] * U[k][j], v += V[k][i] * V[k][j];
            near(sum, F[i][j], 4e-15 * scale), near(u, i == j, 4e-15), near(v, i == j, 4e-15);
        }
    near(mo_det3((const double(*)[3])U), 1, 1e-14), near(mo_det3((const double(*)[3])V), 1, 1e-14);
    assert_true(s[0] >= s[1] && s[1] >= fabs(s[2]) * (1 - 1e-14));
}

static void singular_values_of_any_matrix(void **state)
{
    (void)state;
    static const double value[][3] = {{1, 1, 1},  {2, 1, 0.5},   {1, 1, -1},    {3, 0, 0},      {1, 1e-9, 0},
                                      {2, 2, -0}, {1, 1, 1e-20}, {5, 5, -1e-3}, {1e9, 1, 1e-9}, {1e-200, 1e-200, 0}};
    for (size_t k = 0; k < sizeof value / sizeof value[0]; k++)
        for (int i = 0; i < 50; i++) {
            double F[3][3];
            with_values(3, value[k], F);
            check_svd((const double(*)[3])F);
        }
    double zero[3][3] = {{0}};
    check_svd((const double(*)[3])zero);
    for (int i = 0; i < 1000; i++) {
        double F[3][3];
        for (int k = 0; k < 9; k++) F[k / 3][k % 3] = uniform(-1, 1);
        check_svd((const double(*)[3])F);
    }
}

static void eigenvalues_of_symmetric_matrices(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++)
        for (int trial = 0; trial < 200; trial++) {
            double A[3][3] = {{0}}, copy[3][3], value[3], Q[3][3];
            for (int i = 0; i < n; i++)
                for (int j = 0; j <= i; j++) A[i][j] = A[j][i] = trial % 3 ? uniform(-1, 1) : i == j;
            memcpy(copy, A, sizeof A);
            mo_eigen3(n, copy, value, Q);
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++) {
                    double sum = 0;
                    for (int j = 0; j < n; j++) sum += A[i][j] * Q[j][k];
                    near(sum, value[k] * Q[i][k], 2e-15);
                }
        }
}

// ---- Materials ----

static const mo_elastic_model models[] = {MO_NEO_HOOKEAN, MO_ST_VENANT_KIRCHHOFF};

// States from rest to inverted, in both dimensions.
static void random_state(int dimension, int i, double F[3][3])
{
    static const double value[][3] = {{1, 1, 1},      {1.3, 0.9, 0.8}, {2, 0.4, 1.5},
                                      {1, 0.6, -0.3}, {1, 1, 0},       {0.1, 0.1, 0.1}};
    double s[3];
    memcpy(s, value[i % 6], sizeof s);
    if (dimension == 2) s[1] = s[2], s[2] = 1;
    with_values(dimension, s, F);
}

static void stress_is_the_derivative_of_energy(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++)
        for (int i = 0; i < 60; i++) {
            mo_elasticity m = mo_elasticity_create(models[model], 1, uniform(0, 0.49), 0);
            m.pressure = uniform(-0.5, 0.5);
            int dimension = 2 + i % 2;
            double F[3][3], P[3][3], h = 1e-5;
            random_state(dimension, i / 2, F);
            mo_elasticity_stress(&m, (const double(*)[3])F, P);
            for (int k = 0; k < 9; k++) {
                double *f = &F[k / 3][k % 3], keep = *f, difference = 0;
                for (int side = -2; side <= 2; side++) {
                    static const double weight[5] = {1 / 12.0, -8 / 12.0, 0, 8 / 12.0, -1 / 12.0};
                    *f = keep + side * h;
                    difference += weight[side + 2] * mo_elasticity_energy(&m, (const double(*)[3])F) / h;
                }
                *f = keep;
                near(P[k / 3][k % 3], difference, 1e-8 * (m.mu + m.lambda));
            }
        }
}

// The product of the stiffness with a direction, and that of its modes which count.
static void apply_modes(const mo_stiffness_modes *m, bool projected, const double D[3][3], double out[3][3])
{
    memset(out, 0, sizeof(double) * 9);
    for (int i = 0; i < m->count; i++) {
        double along = 0;
        for (int k = 0; k < 9; k++) along += m->direction[i][k / 3][k % 3] * D[k / 3][k % 3];
        if (projected && m->value[i] < 0) continue;
        for (int k = 0; k < 9; k++) out[k / 3][k % 3] += m->value[i] * along * m->direction[i][k / 3][k % 3];
    }
}

static void modes_are_the_derivative_of_stress(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++)
        for (int i = 0; i < 60; i++) {
            mo_elasticity m = mo_elasticity_create(models[model], 1, uniform(0, 0.49), 0);
            m.pressure = uniform(-0.5, 0.5);
            int dimension = 2 + i % 2;
            double F[3][3], D[3][3] = {{0}}, P[2][3][3], H[3][3], h = 1e-6;
            mo_stiffness_modes modes;
            random_state(dimension, i / 2, F);
            mo_elasticity_modes(&m, (const double(*)[3])F, dimension, &modes);
            assert_int_equal(modes.count, dimension == 3 ? 9 : 4);
            for (int a = 0; a < dimension; a++)
                for (int b = 0; b < dimension; b++) D[a][b] = uniform(-1, 1);
            for (int side = 0; side < 2; side++) {
                double G[3][3];
                for (int k = 0; k < 9; k++) G[k / 3][k % 3] = F[k / 3][k % 3] + (side ? h : -h) * D[k / 3][k % 3];
                mo_elasticity_stress(&m, (const double(*)[3])G, P[side]);
            }
            apply_modes(&modes, false, (const double(*)[3])D, H);
            for (int a = 0; a < dimension; a++)
                for (int b = 0; b < dimension; b++)
                    near(H[a][b], (P[1][a][b] - P[0][a][b]) / (2 * h), 1e-8 * (m.mu + m.lambda));
            for (int a = 0; a < modes.count; a++)
                for (int b = 0; b < modes.count; b++) {
                    double product = 0;
                    for (int k = 0; k < 9; k++)
                        product += modes.direction[a][k / 3][k % 3] * modes.direction[b][k / 3][k % 3];
                    near(product, a == b, 1e-14);
                }
        }
}

// Small strains see Young's modulus and Poisson's ratio.
static void small_strains_see_the_moduli(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        double young = 3e4, poisson = 0.3, e = 1e-7;
        mo_elasticity m = mo_elasticity_create(models[model], young, poisson, 0);
        double F[3][3] = {{1 + e, 0, 0}, {0, 1 - poisson * e, 0}, {0, 0, 1 - poisson * e}}, P[3][3];
        mo_elasticity_stress(&m, (const double(*)[3])F, P);
        near(P[0][0] / (young * e), 1, 1e-6), near(P[1][1] / (young * e), 0, 1e-6);
    }
}

// P11 = mu (s - t^2/s) where the sides are free; in plane strain, and in shear mu gamma.
static void stretch_and_shear_follow_the_formulas(void **state)
{
    (void)state;
    mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.45, 0);
    for (double s = 0.5; s <= 3; s += 0.25) {
        double t2 = (1 + m.mu / m.lambda * (1 - 1 / s)) / s, t = sqrt(t2), P[3][3];
        double F[3][3] = {{s, 0, 0}, {0, t, 0}, {0, 0, t}};
        mo_elasticity_stress(&m, (const double(*)[3])F, P);
        near(P[0][0], m.mu * (s - t2 / s), 1e-8 * m.mu), near(P[1][1], 0, 1e-8 * m.mu);
        double u = (m.lambda + m.mu) / (m.lambda * s + m.mu / s), G[3][3] = {{s, 0, 0}, {0, u, 0}, {0, 0, 1}};
        mo_elasticity_stress(&m, (const double(*)[3])G, P);
        near(P[1][1], 0, 1e-8 * m.mu);
    }
    double S[3][3] = {{1, 0.7, 0}, {0, 1, 0}, {0, 0, 1}}, P[3][3];
    mo_elasticity_stress(&m, (const double(*)[3])S, P);
    near(P[0][1], m.mu * 0.7, 1e-8 * m.mu);
    near(mo_elasticity_von_mises(&m, (const double(*)[3])(double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}), 0, 1e-9);
}

static void rotations_are_free(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++)
        for (int i = 0; i < 50; i++) {
            mo_elasticity m = mo_elasticity_create(models[model], 1, 0.4, 0);
            double R[3][3], P[3][3], F[3][3], RF[3][3], RP[3][3], PR[3][3];
            random_rotation(3, R);
            near(mo_elasticity_energy(&m, (const double(*)[3])R), 0, 1e-14);
            mo_elasticity_stress(&m, (const double(*)[3])R, P);
            for (int k = 0; k < 9; k++) near(P[k / 3][k % 3], 0, 1e-14);
            random_state(3, i, F);
            multiply((const double(*)[3])R, (const double(*)[3])F, RF);
            near(mo_elasticity_energy(&m, (const double(*)[3])RF), mo_elasticity_energy(&m, (const double(*)[3])F),
                 1e-13);
            mo_elasticity_stress(&m, (const double(*)[3])F, P), mo_elasticity_stress(&m, (const double(*)[3])RF, PR);
            multiply((const double(*)[3])R, (const double(*)[3])P, RP);
            for (int k = 0; k < 9; k++) near(RP[k / 3][k % 3], PR[k / 3][k % 3], 1e-13);
        }
}

// ---- Bodies ----

// A block of n cells along each axis, six simplices (two triangles) to a cell, its inner vertices moved a little.
typedef struct block {
    mo_tets mesh;
    mo_elastic_body body;
    mo_arena *arena;
} block;

static int32_t vertex_of(int n, int i, int j, int k) { return i + (n + 1) * (j + (n + 1) * k); }

static void add_cell(mo_tets *t, int n, int i, int j, int k)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int p = 0; p < (t->dimension == 3 ? 6 : 2); p++) {
        int at[3] = {i, j, k}, corners = t->dimension + 1;
        int32_t *c = t->element + t->element_count * corners;
        const int *axis = t->dimension == 3 ? order[p] : order[p == 0 ? 0 : 5];
        for (int l = 0; l < corners; l++) {
            c[l] = vertex_of(n, at[0], at[1], at[2]);
            if (l < t->dimension) at[axis[l]]++;
        }
        if (t->dimension == 3 ? p >= 3 : p == 1) {
            int32_t swap = c[1];
            c[1] = c[2], c[2] = swap;
        }
        t->element_count++;
    }
}

static block *block_create(int dimension, int n, const mo_elasticity *m)
{
    block *b = calloc(1, sizeof *b);
    int layers = dimension == 3 ? n : 0;
    mo_tets *t = &b->mesh;
    t->dimension = dimension, t->vertex_count = (n + 1) * (n + 1) * (layers + 1);
    t->position = calloc((size_t)t->vertex_count * 3, sizeof(double));
    t->element = calloc((size_t)(6 * n * n * n + 2 * n * n) * 4, sizeof(int32_t));
    for (int k = 0; k <= layers; k++)
        for (int j = 0; j <= n; j++)
            for (int i = 0; i <= n; i++) {
                double *x = t->position + 3 * vertex_of(n, i, j, k);
                x[0] = (i + uniform(-0.1, 0.1)) / n, x[1] = (j + uniform(-0.1, 0.1)) / n;
                if (dimension == 3) x[2] = (k + uniform(-0.1, 0.1)) / n;
            }
    for (int k = 0; k < (dimension == 3 ? n : 1); k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) add_cell(t, n, i, j, k);
    assert_int_equal(mo_elastic_create(t, m, 700, 0.1, &b->body), MO_OK);
    assert_null(mo_elastic_fault(&b->body));
    b->arena = mo_arena_create();
    return b;
}

static void block_destroy(block *b)
{
    mo_elastic_destroy(&b->body);
    mo_arena_destroy(b->arena);
    free(b->mesh.position), free(b->mesh.element), free(b);
}

static mo_vec3 *jiggle(const block *b, double size)
{
    mo_vec3 *x = malloc(sizeof *x * (size_t)b->body.vertices);
    for (int32_t v = 0; v < b->body.vertices; v++)
        x[v] = mo_add(b->body.position[v], mo_v3(uniform(-size, size), uniform(-size, size),
                                                 b->body.dimension == 3 ? uniform(-size, size) : 0));
    return x;
}

static double *component(const block *b, mo_vec3 *x, int32_t i)
{
    int32_t d = b->body.dimension;
    return i % d == 0 ? &x[i / d].x : i % d == 1 ? &x[i / d].y : &x[i / d].z;
}

static void forces_and_stiffness_are_derivatives(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        int dimension = 2 + variant % 2;
        mo_elasticity m = mo_elasticity_create(models[variant / 2 % 2], 2, 0.35, variant / 4 ? 0.3 : 0);
        m.pressure = variant % 2 ? 0.4 : 0;
        block *b = block_create(dimension, 2, &m);
        int32_t n = mo_elastic_unknowns(&b->body);
        mo_vec3 *from = jiggle(b, 0.05), *x = jiggle(b, 0.1), *y = malloc(sizeof *y * (size_t)b->body.vertices);
        mo_elastic_step step = {from, 0.05};
        double *g = malloc(sizeof(double) * (size_t)n * 3), *lo = g + n, *hi = lo + n, h = 1e-6;
        mo_csr A;
        assert_int_equal(mo_elastic_pattern(&b->body, &A), MO_OK);
        assert_int_equal(mo_elastic_gradient(&b->body, x, &step, b->arena, g), MO_OK);
        assert_int_equal(mo_elastic_stiffness(&b->body, x, &step, false, b->arena, &A, NULL), MO_OK);
        assert_null(mo_csr_fault(&A));
        for (int32_t i = 0; i < n; i++) {
            double e[2];
            for (int side = 0; side < 2; side++) {
                memcpy(y, x, sizeof *y * (size_t)b->body.vertices);
                *component(b, y, i) += side ? h : -h;
                assert_int_equal(mo_elastic_energy(&b->body, y, &step, b->arena, &e[side]), MO_OK);
                assert_int_equal(mo_elastic_gradient(&b->body, y, &step, b->arena, side ? hi : lo), MO_OK);
            }
            near((e[1] - e[0]) / (2 * h), g[i], 2e-8);
            for (int32_t j = 0; j < n; j++) {
                near(mo_csr_entry(&A, i, j), (hi[j] - lo[j]) / (2 * h), 2e-8);
                assert_true(mo_csr_entry(&A, i, j) == mo_csr_entry(&A, j, i));
            }
        }
        mo_csr_destroy(&A);
        free(from), free(x), free(y), free(g);
        block_destroy(b);
    }
}

// The projected stiffness of a crushed body is positive, and equals the true one of a body that is stretched a little.
static void projection_leaves_nothing_negative(void **state)
{
    (void)state;
    mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.45, 0);
    block *b = block_create(3, 2, &m);
    int32_t n = mo_elastic_unknowns(&b->body), clipped;
    double *v = malloc(sizeof(double) * (size_t)n * 2), *w = v + n;
    mo_vec3 *x = jiggle(b, 0.6);
    mo_csr A, B;
    assert_int_equal(mo_elastic_pattern(&b->body, &A), MO_OK);
    assert_int_equal(mo_elastic_pattern(&b->body, &B), MO_OK);
    assert_int_equal(mo_elastic_stiffness(&b->body, x, NULL, true, b->arena, &A, &clipped), MO_OK);
    assert_true(clipped > 0);
    for (int trial = 0; trial < 200; trial++) {
        for (int32_t i = 0; i < n; i++) v[i] = uniform(-1, 1);
        mo_csr_multiply(&A, v, w);
        assert_true(mo_dot_product(n, v, w) > -1e-12);
    }
    for (int32_t k = 0; k < b->body.vertices; k++) x[k] = mo_mul(1.01, b->body.rest[k]);
    assert_int_equal(mo_elastic_stiffness(&b->body, x, NULL, true, b->arena, &A, &clipped), MO_OK);
    assert_int_equal(mo_elastic_stiffness(&b->body, x, NULL, false, b->arena, &B, NULL), MO_OK);
    assert_int_equal(clipped, 0);
    assert_memory_equal(A.val, B.val, sizeof(double) * (size_t)mo_csr_entries(&A));
    mo_csr_destroy(&A), mo_csr_destroy(&B);
    free(v), free(x);
    block_destroy(b);
}

// Inner forces, viscous ones too, have neither a sum nor a moment, whatever the deformation.
static void forces_have_no_sum_and_no_moment(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 5, 0.4, 0);
        block *b = block_create(dimension, 3, &m);
        mo_vec3 *x = jiggle(b, 0.2), sum = {0}, moment = {0};
        double *g = malloc(sizeof(double) * (size_t)mo_elastic_unknowns(&b->body)), size = 0;
        assert_int_equal(mo_elastic_gradient(&b->body, x, NULL, b->arena, g), MO_OK);
        for (int32_t v = 0; v < b->body.vertices; v++) {
            mo_vec3 f = mo_v3(g[dimension * v], g[dimension * v + 1], dimension == 3 ? g[3 * v + 2] : 0);
            sum = mo_add(sum, f), moment = mo_add(moment, mo_cross(x[v], f)), size = fmax(size, mo_norm(f));
        }
        near(mo_norm(sum), 0, 1e-13 * size), near(mo_norm(moment), 0, 1e-13 * size);
        free(x), free(g);
        block_destroy(b);
    }
}

// Damping does not brake an infinitesimal rotation of a strained body, and shears as a liquid of its viscosity does.
static void damping_spares_rotations(void **state)
{
    (void)state;
    mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.4, 7),
                  dry = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.4, 0);
    block *b = block_create(3, 2, &m);
    mo_vec3 *from = jiggle(b, 0.1), *x = jiggle(b, 0), w = {0.3, -0.2, 0.5};
    mo_elastic_step step = {from, 0.01};
    double damped, plain, dt = step.dt, rate = 2, volume = 0;
    for (int32_t v = 0; v < b->body.vertices; v++) x[v] = mo_mad(from[v], dt, mo_cross(w, from[v]));
    assert_int_equal(mo_elastic_energy(&b->body, x, &step, b->arena, &damped), MO_OK);
    b->body.elasticity = dry;
    assert_int_equal(mo_elastic_energy(&b->body, x, &step, b->arena, &plain), MO_OK);
    near(damped, plain, 1e-15);
    for (int32_t v = 0; v < b->body.vertices; v++) {
        from[v] = b->body.rest[v];
        x[v] = mo_mad(from[v], dt * rate * from[v].y, mo_v3(1, 0, 0));
    }
    for (int32_t e = 0; e < b->body.elements; e++) volume += b->body.volume[e];
    assert_int_equal(mo_elastic_energy(&b->body, x, &step, b->arena, &plain), MO_OK);
    b->body.elasticity = m;
    assert_int_equal(mo_elastic_energy(&b->body, x, &step, b->arena, &damped), MO_OK);
    near((damped - plain) / volume, dt * 0.5 * m.viscosity * rate * rate, 1e-12); // half of stress times rate
    free(from), free(x);
    block_destroy(b);
}

// An affine motion of all vertices gives every element the same stress, and forces only on the surface.
static void affine_patch(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 4, 0.3, 0);
        int n = 4;
        block *b = block_create(dimension, n, &m);
        mo_vec3 *x = jiggle(b, 0);
        double A[3][3] = {{1.2, 0.3, 0.1}, {-0.2, 0.9, 0.2}, {0, 0.1, 1.1}};
        double *g = malloc(sizeof(double) * (size_t)mo_elastic_unknowns(&b->body));
        for (int32_t v = 0; v < b->body.vertices; v++) {
            mo_vec3 r = b->body.rest[v];
            x[v] = mo_v3(A[0][0] * r.x + A[0][1] * r.y + A[0][2] * r.z, A[1][0] * r.x + A[1][1] * r.y + A[1][2] * r.z,
                         dimension == 3 ? A[2][0] * r.x + A[2][1] * r.y + A[2][2] * r.z : 0);
        }
        assert_int_equal(mo_elastic_gradient(&b->body, x, NULL, b->arena, g), MO_OK);
        for (int k = dimension == 3 ? 1 : 0; k < (dimension == 3 ? n : 1); k++)
            for (int j = 1; j < n; j++)
                for (int i = 1; i < n; i++)
                    for (int a = 0; a < dimension; a++) near(g[dimension * vertex_of(n, i, j, k) + a], 0, 1e-14);
        free(x), free(g);
        block_destroy(b);
    }
}

static void sums_of_a_body(void **state)
{
    (void)state;
    mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.4, 0);
    block *b = block_create(3, 3, &m);
    double volume = 0;
    for (int32_t e = 0; e < b->body.elements; e++) volume += b->body.volume[e];
    for (int32_t v = 0; v < b->body.vertices; v++) b->body.velocity[v] = mo_v3(1, 2, 3);
    mo_elastic_sums s = mo_elastic_measure(&b->body);
    near(s.mass, 700 * volume, 1e-10), near(s.momentum.z, 3 * s.mass, 1e-10), near(s.kinetic, 7 * s.mass, 1e-9);
    near(mo_norm(s.angular_momentum), 0, 1e-10), near(s.elastic, 0, 1e-12), near(s.least, 1, 1e-12);
    assert_int_equal(s.inverted, 0);
    b->body.position[0] = mo_v3(5, 5, 5);
    assert_true(mo_elastic_measure(&b->body).inverted > 0);
    b->body.position[0].x = NAN;
    assert_non_null(mo_elastic_fault(&b->body));
    block_destroy(b);
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    mo_elasticity m = mo_elasticity_create(MO_NEO_HOOKEAN, 1, 0.4, 0.1);
    block *b = block_create(3, 6, &m);
    mo_vec3 *from = jiggle(b, 0.02), *x = jiggle(b, 0.05);
    mo_elastic_step step = {from, 0.01};
    int32_t n = mo_elastic_unknowns(&b->body);
    double *g = malloc(sizeof(double) * (size_t)n * 3), energy[3];
    mo_csr A[3];
    for (int t = 0; t < 3; t++) {
        mo_use_threads(1 << t);
        assert_int_equal(mo_elastic_pattern(&b->body, &A[t]), MO_OK);
        assert_int_equal(mo_elastic_energy(&b->body, x, &step, b->arena, &energy[t]), MO_OK);
        assert_int_equal(mo_elastic_gradient(&b->body, x, &step, b->arena, g + t * n), MO_OK);
        assert_int_equal(mo_elastic_stiffness(&b->body, x, &step, true, b->arena, &A[t], NULL), MO_OK);
        assert_true(energy[t] == energy[0]);
        assert_memory_equal(g, g + t * n, sizeof(double) * (size_t)n);
        assert_memory_equal(A[0].val, A[t].val, sizeof(double) * (size_t)mo_csr_entries(&A[0]));
    }
    mo_use_threads(0);
    for (int t = 0; t < 3; t++) mo_csr_destroy(&A[t]);
    free(from), free(x), free(g);
    block_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_values_of_any_matrix),
        cmocka_unit_test(eigenvalues_of_symmetric_matrices),
        cmocka_unit_test(stress_is_the_derivative_of_energy),
        cmocka_unit_test(modes_are_the_derivative_of_stress),
        cmocka_unit_test(small_strains_see_the_moduli),
        cmocka_unit_test(stretch_and_shear_follow_the_formulas),
        cmocka_unit_test(rotations_are_free),
        cmocka_unit_test(forces_and_stiffness_are_derivatives),
        cmocka_unit_test(projection_leaves_nothing_negative),
        cmocka_unit_test(forces_have_no_sum_and_no_moment),
        cmocka_unit_test(damping_spares_rotations),
        cmocka_unit_test(affine_patch),
        cmocka_unit_test(sums_of_a_body),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
