// Linear clipping of tetrahedra, boxes and squares (fractions.h).
#include "grid/fractions.h"

double mo_fraction_tet(const double phi[4])
{
    // Negative corners to the front.
    double in[4], out[4];
    int n = 0, m = 0;
    for (int i = 0; i < 4; i++)
        if (phi[i] < 0)
            in[n++] = phi[i];
        else
            out[m++] = phi[i];
    if (n == 0) return 0;
    if (n == 4) return 1;
    double a = in[0];
    if (n == 1) return a / (a - out[0]) * (a / (a - out[1])) * (a / (a - out[2]));
    if (n == 3) {
        double p = out[0];
        return 1 - p / (p - in[0]) * (p / (p - in[1])) * (p / (p - in[2]));
    }
    // A wedge of three tetrahedra; ac = part of edge a-c that is negative.
    double b = in[1], c = out[0], d = out[1];
    double ac = a / (a - c), ad = a / (a - d), bc = b / (b - c), bd = b / (b - d);
    return bc * bd + ac * ad * (1 - bd) + ac * bd * (1 - bc);
}

static double fraction_triangle(double a, double b, double c)
{
    int n = (a < 0) + (b < 0) + (c < 0);
    if (n == 0 || n == 3) return n == 3;
    // The corner alone on its side.
    double p = a, q = b, r = c;
    if ((b < 0) == (n == 1)) p = b, q = a;
    if ((c < 0) == (n == 1)) p = c, q = a, r = b;
    double part = p / (p - q) * (p / (p - r));
    return n == 1 ? part : 1 - part;
}

// Interpolation between the corners sees a curved function too high by its bending: for x^2 the mean over the box lies
// two thirds of the way from the corners' mean to the centre. Returns false if nothing crosses zero.
static bool shift_corners(int n, const double *corner, double centre, double *shifted)
{
    double mean = 0;
    int negative = centre < 0;
    for (int i = 0; i < n; i++) mean += corner[i], negative += corner[i] < 0;
    if (negative == 0 || negative == n + 1) return false;
    double shift = 2.0 / 3 * (centre - mean / n);
    for (int i = 0; i < n; i++) shifted[i] = corner[i] + shift;
    return true;
}

// Kuhn's six tetrahedra: from corner 0 to corner 7 one axis at a time.
static const uint8_t path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};

double mo_fraction_box(const double corner[8], double centre)
{
    double c[8], sum = 0;
    if (!shift_corners(8, corner, centre, c)) return centre < 0;
    for (int t = 0; t < 6; t++) sum += mo_fraction_tet((double[4]){c[0], c[path[t][0]], c[path[t][1]], c[7]});
    return sum < 6 ? sum / 6 : 1;
}

double mo_fraction_square(const double corner[4], double centre)
{
    double c[4];
    if (!shift_corners(4, corner, centre, c)) return centre < 0;
    double m = 0.25 * (c[0] + c[1] + c[2] + c[3]);
    double sum = fraction_triangle(c[0], c[1], m) + fraction_triangle(c[1], c[3], m) +
                 fraction_triangle(c[3], c[2], m) + fraction_triangle(c[2], c[0], m);
    return sum < 4 ? 0.25 * sum : 1;
}

// ---- Two functions at once ----

typedef struct point {
    double x[3], f[2]; // in the unit box; of the two functions
} point;

// The point between p and q where function k is zero.
static point cross_between(const point *p, const point *q, int k)
{
    double part = p->f[k] / (p->f[k] - q->f[k]);
    point c;
    for (int i = 0; i < 3; i++) c.x[i] = p->x[i] + part * (q->x[i] - p->x[i]);
    for (int i = 0; i < 2; i++) c.f[i] = p->f[i] + part * (q->f[i] - p->f[i]);
    c.f[k] = 0;
    return c;
}

static void add_tet(const point t[4], double sum[4])
{
    double e[3][3];
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 3; a++) e[i][a] = t[i + 1].x[a] - t[0].x[a];
    double volume =
        fabs(e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
             e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
        6;
    sum[0] += volume;
    for (int a = 0; a < 3; a++) sum[1 + a] += 0.25 * volume * (t[0].x[a] + t[1].x[a] + t[2].x[a] + t[3].x[a]);
}

static void integrate_tet(const point t[4], int k, double sum[4]);

// A prism is three tetrahedra.
static void integrate_prism(const point low[3], const point high[3], int k, double sum[4])
{
    integrate_tet((point[4]){low[0], low[1], low[2], high[0]}, k, sum);
    integrate_tet((point[4]){low[1], low[2], high[0], high[1]}, k, sum);
    integrate_tet((point[4]){low[2], high[0], high[1], high[2]}, k, sum);
}

// Adds up the part of a tetrahedron in which the functions from k on are negative.
static void integrate_tet(const point t[4], int k, double sum[4])
{
    point in[4], out[4], cut[3];
    int n = 0, m = 0;
    if (k == 2) {
        add_tet(t, sum);
        return;
    }
    for (int i = 0; i < 4; i++)
        if (t[i].f[k] < 0)
            in[n++] = t[i];
        else
            out[m++] = t[i];
    if (n == 4) integrate_tet(t, k + 1, sum);
    if (n == 1) {
        for (int i = 0; i < 3; i++) cut[i] = cross_between(&in[0], &out[i], k);
        integrate_tet((point[4]){in[0], cut[0], cut[1], cut[2]}, k + 1, sum);
    }
    if (n == 3) {
        for (int i = 0; i < 3; i++) cut[i] = cross_between(&in[i], &out[0], k);
        integrate_prism(in, cut, k + 1, sum);
    }
    if (n == 2) {
        point a[3] = {in[0], cross_between(&in[0], &out[0], k), cross_between(&in[0], &out[1], k)};
        point b[3] = {in[1], cross_between(&in[1], &out[0], k), cross_between(&in[1], &out[1], k)};
        integrate_prism(a, b, k + 1, sum);
    }
}

void mo_integrate_box(const double corner[8], double centre, const double level[8], double sum[4])
{
    double c[8];
    int wet = 0;
    for (int i = 0; i < 4; i++) sum[i] = 0;
    for (int i = 0; i < 8; i++) wet += level[i] < 0;
    if (!shift_corners(8, corner, centre, c)) {
        if (wet == 0 || !(centre < 0)) return;
        for (int i = 0; i < 8; i++) c[i] = -1;
        if (wet == 8) {
            sum[0] = 1, sum[1] = sum[2] = sum[3] = 0.5;
            return;
        }
    }
    for (int t = 0; t < 6 && wet; t++) {
        const int at[4] = {0, path[t][0], path[t][1], 7};
        point p[4];
        for (int i = 0; i < 4; i++) p[i] = (point){{at[i] & 1, at[i] >> 1 & 1, at[i] >> 2}, {c[at[i]], level[at[i]]}};
        integrate_tet(p, 0, sum);
    }
}
