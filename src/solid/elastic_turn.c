// How an elastic body turns as a whole: the nearest rotation, and its part of the velocities.
#include "solid/elastic_turn.h"
#include "base/matrix3.h"
#include <math.h>

// The rotation nearest to A, by its singular vectors; for bodies in a plane a rotation about z.
static mo_quat nearest(double A[3][3], int dimension)
{
    double U[3][3], s[3], V[3][3];
    if (dimension == 2) A[2][2] = hypot(hypot(A[0][0], A[0][1]), hypot(A[1][0], A[1][1]));
    mo_svd3((const double(*)[3])A, U, s, V);
    mo_mat3 R = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) R.m[i][k] += U[i][l] * V[k][l];
    return mo_quat_from_matrix(R);
}

static mo_vec3 centre_of(const mo_elastic_body *b, const mo_vec3 *x)
{
    mo_vec3 sum = {0, 0, 0};
    double mass = 0;
    for (int32_t v = 0; v < b->vertices; v++) sum = mo_mad(sum, b->mass[v], x[v]), mass += b->mass[v];
    return mo_mul(1 / mass, sum);
}

static void add_product(int dimension, double mass, mo_vec3 to, mo_vec3 from, double A[3][3])
{
    for (int i = 0; i < dimension; i++)
        for (int k = 0; k < dimension; k++) A[i][k] += mass * mo_get(to, i) * mo_get(from, k);
}

mo_quat mo_elastic_rotation(const mo_elastic_body *b, const mo_vec3 *from, const mo_vec3 *to)
{
    double A[3][3] = {{0}};
    mo_vec3 first = centre_of(b, from), last = centre_of(b, to);
    for (int32_t v = 0; v < b->vertices; v++)
        add_product(b->dimension, b->mass[v], mo_sub(to[v], last), mo_sub(from[v], first), A);
    return nearest(A, b->dimension);
}

void mo_elastic_chord(const mo_elastic_body *b, double dt, const double *v, double *out)
{
    int d = b->dimension;
    double A[3][3] = {{0}};
    mo_vec3 centre = centre_of(b, b->position);
    for (int32_t k = 0; k < b->vertices; k++) { // arms add up to 0: the velocity of the centre does not count
        mo_vec3 arm = mo_sub(b->position[k], centre), u = {v[d * k], v[d * k + 1], d == 3 ? v[d * k + 2] : 0};
        add_product(d, b->mass[k], mo_mad(arm, dt, u), arm, A);
    }
    mo_quat turn = nearest(A, d);
    mo_vec3 w = mo_mul(1 / dt, mo_quat_difference(mo_quat_identity(), turn));
    for (int32_t k = 0; k < b->vertices; k++) {
        mo_vec3 arm = mo_sub(b->position[k], centre), way = mo_sub(mo_quat_rotate(turn, arm), arm);
        mo_vec3 chord = mo_sub(mo_mul(1 / dt, way), mo_cross(w, arm));
        for (int a = 0; a < d; a++) out[d * k + a] = mo_get(chord, a);
    }
}
