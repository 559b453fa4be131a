// Exact predicates by filtered expansions.
#include "geometry/predicates.h"
#include <math.h>

// ---- Expansions: doubles of ascending size that do not overlap; their sum is the value ----

enum { MOST = 192 }; // terms of an orientation in space
typedef struct expansion {
    int n;
    double x[MOST];
} expansion;

static inline void two_sum(double a, double b, double *sum, double *error)
{
    double s = a + b, part = s - a;
    *error = (a - (s - part)) + (b - part), *sum = s;
}

static inline void halves(double a, double *high, double *low)
{
    double c = 134217729.0 * a; // 2^27 + 1
    *high = c - (c - a), *low = a - *high;
}

static inline void two_product(double a, double b, double *product, double *error)
{
    double p = a * b, ah, al, bh, bl;
    halves(a, &ah, &al), halves(b, &bh, &bl);
    *error = al * bl - (((p - ah * bh) - al * bh) - ah * bl), *product = p;
}

static void add(expansion *e, double b)
{
    int n = 0;
    double carry = b, part;
    for (int k = 0; k < e->n; k++) {
        two_sum(carry, e->x[k], &carry, &part);
        if (part != 0) e->x[n++] = part;
    }
    if (carry != 0 || n == 0) e->x[n++] = carry;
    e->n = n;
    MO_ASSERT(n < MOST);
}

// e += s f, every product as two terms.
static void add_scaled(expansion *e, double s, const expansion *f)
{
    for (int k = 0; k < f->n; k++) {
        double product, error;
        two_product(s, f->x[k], &product, &error);
        if (error != 0) add(e, error);
        if (product != 0) add(e, product);
    }
}

static expansion difference(double a, double b)
{
    expansion e = {.n = 2};
    two_sum(a, -b, &e.x[1], &e.x[0]);
    return e;
}

// e += sign f g
static void add_product(expansion *e, double sign, const expansion *f, const expansion *g)
{
    for (int k = 0; k < f->n; k++) add_scaled(e, sign * f->x[k], g);
}

static int sign_of(double x) { return (x > 0) - (x < 0); }

static int expansion_sign(const expansion *e)
{
    for (int k = e->n - 1; k >= 0; k--)
        if (e->x[k] != 0) return sign_of(e->x[k]);
    return 0;
}

// ---- Orientations ----

// (qx - px)(ry - py) - (qy - py)(rx - px)
static expansion minor(double px, double py, double qx, double qy, double rx, double ry)
{
    expansion a = difference(qx, px), b = difference(ry, py), c = difference(qy, py), d = difference(rx, px);
    expansion e = {.n = 0};
    add_product(&e, 1, &a, &b);
    add_product(&e, -1, &c, &d);
    return e;
}

static int orient2d(double px, double py, double qx, double qy, double rx, double ry)
{
    double l = (qx - px) * (ry - py), r = (qy - py) * (rx - px), value = l - r;
    if (fabs(value) > 4e-16 * (fabs(l) + fabs(r))) return sign_of(value); // (3 + 16 u) u, u = 2^-53, is less
    if (l == 0 && r == 0 && (qx == px || ry == py) && (qy == py || rx == px)) return 0; // not by underflow
    expansion e = minor(px, py, qx, qy, rx, ry);
    return expansion_sign(&e);
}

int mo_orient2d(const double p[2], const double q[2], const double r[2])
{
    return orient2d(p[0], p[1], q[0], q[1], r[0], r[1]);
}

static int orient3d_exact(const double a[3], const double b[3], const double c[3], const double d[3])
{
    expansion e = {.n = 0};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        expansion m = minor(a[i], a[j], b[i], b[j], c[i], c[j]), h = difference(d[k], a[k]);
        add_product(&e, 1, &h, &m);
    }
    return expansion_sign(&e);
}

int mo_orient3d(const double a[3], const double b[3], const double c[3], const double d[3])
{
    double value = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double l = (b[i] - a[i]) * (c[j] - a[j]), r = (b[j] - a[j]) * (c[i] - a[i]), h = d[k] - a[k];
        value += h * (l - r), size += fabs(h) * (fabs(l) + fabs(r));
    }
    if (fabs(value) > 1e-15 * size) return sign_of(value); // (7 + 56 u) u is less
    return orient3d_exact(a, b, c, d);
}

// ---- Nodes of the lattice, moved by (e, e^2, e^3) ----

int mo_orient_line(const double p[3], const double q[3], int axis, const int32_t node[3])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    int s = orient2d(p[i], p[j], q[i], q[j], node[i], node[j]);
    if (s) return s;
    int along = sign_of(q[i] - p[i]), up = sign_of(q[j] - p[j]); // d/dnode: -(q - p)_j by node_i, (q - p)_i by node_j
    int first = i < j ? -up : along, second = i < j ? along : -up;
    return first ? first : second;
}

int mo_orient_node(const double a[3], const double b[3], const double c[3], const int32_t node[3])
{
    int s = mo_orient3d(a, b, c, (double[3]){node[0], node[1], node[2]});
    for (int k = 0; s == 0 && k < 3; k++) { // the normal's components
        int i = (k + 1) % 3, j = (k + 2) % 3;
        s = orient2d(a[i], a[j], b[i], b[j], c[i], c[j]);
    }
    return s;
}
