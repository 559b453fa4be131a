// Bending of one edge: kappa = 2 h sin(theta/2) and its derivatives, where h is the height of a triangle over the edge
// and theta the angle to the triangle beyond it, > 0 if the first lies above the plane of the second.
//
// Of one triangle a, b, c with the foot of c at a + s (b - a), the weights w = (s - 1, -s, 1) give the motion of c
// relative to the foot. With the normal n and the direction t from the foot to c,
//
//     grad h = t w,   grad theta = (n/h) w   for either triangle, the second with its normal turned to the first's
//
// and what follows differentiates these once more.
#include "solid/cloth.h"
#include <string.h>

typedef struct wing {    // one triangle of the edge
    mo_vec3 n, t, along; // unit: normal, foot to tip, edge
    double h, one_over_h, length;
    double w[3];   // of a, b, tip
    mo_vec3 ds[3]; // derivatives of s
} wing;

// A triangle without area has no angle to others: quotients by its height are set to 0.
static wing wing_of(mo_vec3 a, mo_vec3 b, mo_vec3 tip)
{
    wing g;
    mo_vec3 e = mo_sub(b, a), c = mo_sub(tip, a);
    double square = mo_dot(e, e), s = square > 0 ? mo_dot(c, e) / square : 0;
    double one_over = square > 0 ? 1 / square : 0;
    mo_vec3 q = mo_mad(c, -s, e);
    g.length = sqrt(square), g.along = mo_mul(g.length * one_over, e);
    g.h = mo_norm(q), g.one_over_h = g.h > 0 ? 1 / g.h : 0;
    g.t = mo_mul(g.one_over_h, q), g.n = mo_cross(g.along, g.t);
    g.w[0] = s - 1, g.w[1] = -s, g.w[2] = 1;
    g.ds[2] = mo_mul(one_over, e), g.ds[1] = mo_mul(one_over, mo_mad(q, -s, e));
    g.ds[0] = mo_mul(-1, mo_add(g.ds[1], g.ds[2]));
    return g;
}

static void add_outer(double H[3][3], double value, mo_vec3 a, mo_vec3 b)
{
    const double u[3] = {value * a.x, value * a.y, value * a.z}, v[3] = {b.x, b.y, b.z};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) H[r][c] += u[r] * v[c];
}

// dw_i/dx_k = sign_i ds_k
static const double sign_of[3] = {1, -1, 0};

// value * d2h/dx_i dx_k = w_i dt/dx_k + t dw_i/dx_k,  dt/dx_k = (w_k (1 - t t^T) - (b - a) ds_k^T)/h
static void add_height(const wing *g, double value, int i, int k, double H[3][3])
{
    double part = value * g->w[i] * g->one_over_h;
    for (int r = 0; r < 3; r++) H[r][r] += part * g->w[k];
    add_outer(H, -part * g->w[k], g->t, g->t);
    add_outer(H, -part * g->length, g->along, g->ds[k]);
    add_outer(H, value * sign_of[i], g->t, g->ds[k]);
}

// value * of d2theta/dx_i dx_k what one triangle gives: w_i d(n/h)/dx_k + (n/h) dw_i/dx_k
static void add_angle(const wing *g, double value, int i, int k, double H[3][3])
{
    static const double along[3] = {-1, 1, 0};
    double part = value * g->w[i] * g->one_over_h;
    add_outer(H, -part * g->w[k] * g->one_over_h, g->t, g->n);
    add_outer(H, -part * g->w[k] * g->one_over_h, g->n, g->t);
    if (g->length > 0) add_outer(H, -part * along[k] / g->length, g->along, g->n);
    add_outer(H, value * sign_of[i] * g->one_over_h, g->n, g->ds[k]);
}

// The places of a triangle's a, b and tip among the four.
static const int own_place[3] = {0, 1, 2}, other_place[3] = {0, 1, 3};

static void find_hessian(const wing *own, const wing *other, const mo_vec3 dh[4], const mo_vec3 dtheta[4], double sine,
                         double cosine, mo_flap *out)
{
    memset(out->hessian, 0, sizeof out->hessian);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            add_outer(out->hessian[i][k], cosine, dh[i], dtheta[k]);
            add_outer(out->hessian[i][k], cosine, dtheta[i], dh[k]);
            add_outer(out->hessian[i][k], -0.5 * own->h * sine, dtheta[i], dtheta[k]);
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            add_height(own, 2 * sine, i, k, out->hessian[i][k]);
            add_angle(own, own->h * cosine, i, k, out->hessian[own_place[i]][own_place[k]]);
            add_angle(other, own->h * cosine, i, k, out->hessian[other_place[i]][other_place[k]]);
        }
}

void mo_flap_find(const mo_vec3 x[4], int derivatives, mo_flap *out)
{
    wing own = wing_of(x[0], x[1], x[2]), other = wing_of(x[0], x[1], x[3]);
    other.n = mo_mul(-1, other.n); // as that of the first where both lie in a plane
    double sine = 0.5 * mo_norm(mo_sub(own.n, other.n)), cosine = 0.5 * mo_norm(mo_add(own.n, other.n));
    if (mo_dot(other.n, own.t) < 0) sine = -sine;
    out->kappa = 2 * own.h * sine;
    if (!derivatives) return;
    mo_vec3 dh[4] = {{0, 0, 0}}, dtheta[4] = {{0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        dh[k] = mo_mul(own.w[k], own.t);
        dtheta[own_place[k]] = mo_mad(dtheta[own_place[k]], own.w[k] * own.one_over_h, own.n);
        dtheta[other_place[k]] = mo_mad(dtheta[other_place[k]], other.w[k] * other.one_over_h, other.n);
    }
    for (int k = 0; k < 4; k++) out->gradient[k] = mo_mad(mo_mul(2 * sine, dh[k]), own.h * cosine, dtheta[k]);
    if (derivatives > 1) find_hessian(&own, &other, dh, dtheta, sine, cosine, out);
}
