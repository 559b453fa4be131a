// Elastic materials. The stiffness is found in the basis of singular vectors, F = U diag(s) V^T, where it falls apart
// into three pairs of a twist and a flip about an axis, and one block of stretches (Smith, de Goes, Kim 2018, 2019).
#include "solid/elasticity.h"
#include "base/matrix3.h"
#include <math.h>
#include <string.h>

mo_elasticity mo_elasticity_create(mo_elastic_model model, double young, double poisson, double viscosity)
{
    MO_ASSERT(young > 0 && poisson >= 0 && poisson < 0.5 && viscosity >= 0);
    double mu = young / (2 * (1 + poisson)), lame = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    return (mo_elasticity){model, mu, model == MO_NEO_HOOKEAN ? lame + mu : lame, viscosity, 0};
}

// E = (F^T F - 1)/2
static void green_strain(const double F[3][3], double E[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E[i][j] = 0.5 * (F[0][i] * F[0][j] + F[1][i] * F[1][j] + F[2][i] * F[2][j] - (i == j));
}

static double square(const double A[3][3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += A[i][j] * A[i][j];
    return sum;
}

double mo_elasticity_energy(const mo_elasticity *m, const double F[3][3])
{
    double E[3][3];
    green_strain(F, E);
    double trace = E[0][0] + E[1][1] + E[2][2];
    if (m->model == MO_ST_VENANT_KIRCHHOFF)
        return m->mu * square(E) + 0.5 * m->lambda * trace * trace + m->pressure * (mo_det3(F) - 1);
    // |F|^2 - 3 is twice the trace of E. Where the strain is small, J - 1 is found from J^2 - 1 = det (1 + 2 E) - 1:
    // its rounding errors are then relative to the strains, not to 1, so that line searches of stiff bodies see the
    // changes.
    double grown = mo_det3(F) - 1;
    if (grown > -0.5) {
        double minors = E[0][0] * E[1][1] + E[1][1] * E[2][2] + E[2][2] * E[0][0] - E[0][1] * E[0][1] -
                        E[1][2] * E[1][2] - E[2][0] * E[2][0];
        double square_less = 2 * trace + 4 * minors + 8 * mo_det3((const double(*)[3])E);
        grown = square_less / (1 + sqrt(1 + square_less));
    }
    return m->mu * (trace - grown) + 0.5 * m->lambda * grown * grown + m->pressure * grown;
}

// P = mu F + (lambda (J - 1) - mu) cof F
static void neo_hookean_stress(const mo_elasticity *m, const double F[3][3], double P[3][3])
{
    double C[3][3], q = m->lambda * (mo_det3(F) - 1) - m->mu + m->pressure;
    mo_cofactor3(F, C);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P[i][j] = m->mu * F[i][j] + q * C[i][j];
}

// P = F (2 mu E + lambda tr E)
static void venant_stress(const mo_elasticity *m, const double F[3][3], double P[3][3])
{
    double E[3][3];
    green_strain(F, E);
    double pressure = m->lambda * (E[0][0] + E[1][1] + E[2][2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[i][j] = 2 * m->mu * (F[i][0] * E[0][j] + F[i][1] * E[1][j] + F[i][2] * E[2][j]) + pressure * F[i][j];
    if (m->pressure == 0) return;
    mo_cofactor3(F, E);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) P[i][j] += m->pressure * E[i][j];
}

void mo_elasticity_stress(const mo_elasticity *m, const double F[3][3], double P[3][3])
{
    if (m->model == MO_ST_VENANT_KIRCHHOFF)
        venant_stress(m, F, P);
    else
        neo_hookean_stress(m, F, P);
}

double mo_elasticity_von_mises(const mo_elasticity *m, const double F[3][3])
{
    double P[3][3], S[3][3], J = mo_det3(F), mean = 0;
    mo_elasticity_stress(m, F, P);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) S[i][j] = (P[i][0] * F[j][0] + P[i][1] * F[j][1] + P[i][2] * F[j][2]) / J;
    for (int i = 0; i < 3; i++) mean += S[i][i] / 3;
    for (int i = 0; i < 3; i++) S[i][i] -= mean;
    return sqrt(1.5 * square(S));
}

// The directions of the pair about axis k: U [e_k]x V^T / sqrt 2, and the same with both signs alike.
static void pair_directions(const double U[3][3], const double V[3][3], int k, double twist[3][3], double flip[3][3])
{
    int a = (k + 1) % 3, b = (k + 2) % 3;
    double r = sqrt(0.5);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double ab = r * U[i][a] * V[j][b], ba = r * U[i][b] * V[j][a];
            twist[i][j] = ba - ab, flip[i][j] = ba + ab;
        }
}

// The values of the pair about axis k.
static void pair_values(const mo_elasticity *m, const double s[3], int k, double *twist, double *flip)
{
    if (m->model == MO_NEO_HOOKEAN) {
        double q = m->lambda * (s[0] * s[1] * s[2] - 1) - m->mu;
        *twist = m->mu + q * s[k], *flip = m->mu - q * s[k];
    } else {
        double a = s[(k + 1) % 3], b = s[(k + 2) % 3];
        double c = 0.5 * m->lambda * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3), d = a * a + b * b - 1;
        *twist = m->mu * (d - a * b) + c, *flip = m->mu * (d + a * b) + c;
    }
    *twist += m->pressure * s[k], *flip -= m->pressure * s[k];
}

static void stretch_matrix(const mo_elasticity *m, const double s[3], double A[3][3])
{
    double J = s[0] * s[1] * s[2];
    double c = 0.5 * m->lambda * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double others = i == j ? s[(i + 1) % 3] * s[(i + 2) % 3] : s[3 - i - j];
            if (m->model == MO_NEO_HOOKEAN)
                A[i][j] = i == j ? m->mu + m->lambda * others * others : others * (m->lambda * (2 * J - 1) - m->mu);
            else
                A[i][j] = m->lambda * s[i] * s[j] + (i == j ? m->mu * (3 * s[i] * s[i] - 1) + c : 0);
            if (i != j) A[i][j] += m->pressure * others;
        }
}

static void stretch_modes(const mo_elasticity *m, int n, const double U[3][3], const double s[3], const double V[3][3],
                          mo_stiffness_modes *out)
{
    double A[3][3], value[3], Q[3][3];
    stretch_matrix(m, s, A);
    mo_eigen3(n, A, value, Q);
    for (int k = 0; k < n; k++) {
        double(*to)[3] = out->direction[out->count];
        out->value[out->count++] = value[k];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                to[i][j] = 0;
                for (int l = 0; l < n; l++) to[i][j] += Q[l][k] * U[i][l] * V[j][l];
            }
    }
}

// The singular values of a plane deformation, with the third axis across the plane.
static void plane_svd(const double F[3][3], double U[3][3], double s[3], double V[3][3])
{
    // (a, b) and (c, d) turn by the sum and the difference of the angles of U and V.
    double a = F[0][0] + F[1][1], b = F[1][0] - F[0][1], c = F[0][0] - F[1][1], d = F[1][0] + F[0][1];
    double sum = sqrt(a * a + b * b), difference = sqrt(c * c + d * d);
    double cs = sum > 0 ? a / sum : 1, sn = sum > 0 ? b / sum : 0;                             // of the angles u - v
    double cd = difference > 0 ? c / difference : 1, sd = difference > 0 ? d / difference : 0; // of u + v
    // u is half of the sum of both angles: half angles from the cosine and sine of the whole.
    double c2 = cs * cd - sn * sd, s2 = sn * cd + cs * sd;
    double cu = sqrt(0.5 * fmax(1 + c2, 0)), su = sqrt(0.5 * fmax(1 - c2, 0)) * (s2 < 0 ? -1 : 1);
    if (1 + c2 > 1)
        su = 0.5 * s2 / cu;
    else
        cu = 0.5 * s2 / su;
    double cv = cu * cs + su * sn, sv = su * cs - cu * sn; // v = u - (u - v)
    double left[3][3] = {{cu, -su, 0}, {su, cu, 0}, {0, 0, 1}}, right[3][3] = {{cv, -sv, 0}, {sv, cv, 0}, {0, 0, 1}};
    memcpy(U, left, sizeof left), memcpy(V, right, sizeof right);
    s[0] = 0.5 * (sum + difference), s[1] = 0.5 * (sum - difference), s[2] = 1;
}

void mo_elasticity_modes(const mo_elasticity *m, const double F[3][3], int32_t dimension, mo_stiffness_modes *out)
{
    MO_ASSERT(dimension == 3 || (dimension == 2 && F[2][2] == 1));
    double U[3][3], s[3], V[3][3];
    if (dimension == 3)
        mo_svd3(F, U, s, V);
    else
        plane_svd(F, U, s, V);
    out->count = 0;
    for (int k = dimension == 3 ? 0 : 2; k < 3; k++) {
        int i = out->count;
        pair_directions(U, V, k, out->direction[i], out->direction[i + 1]);
        pair_values(m, s, k, &out->value[i], &out->value[i + 1]);
        out->count += 2;
    }
    stretch_modes(m, dimension, U, s, V, out);
}
