// Which triangles of sheets meet each other.
#include "geometry/predicates.h"
#include "grid/cut_cell.h"
#include <math.h>

static int dominant_axis(const double a[3], const double b[3], const double c[3])
{
    double most = -1;
    int best = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double n = fabs((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]));
        if (n > most) most = n, best = k;
    }
    return best;
}

static int turn(const double p[3], const double q[3], const double r[3], int axis)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double a[2] = {p[i], p[j]}, b[2] = {q[i], q[j]}, c[2] = {r[i], r[j]};
    return mo_orient2d(a, b, c);
}

// Closed segments in one plane; those on one line count by their boxes.
static bool segments_meet(const double *p, const double *q, const double *r, const double *s, int axis)
{
    int a = turn(p, q, r, axis), b = turn(p, q, s, axis), c = turn(r, s, p, axis), d = turn(r, s, q, axis);
    if (a == 0 && b == 0) {
        for (int k = 0; k < 3; k++)
            if (mo_cut_more(p[k], q[k]) < mo_cut_less(r[k], s[k]) || mo_cut_more(r[k], s[k]) < mo_cut_less(p[k], q[k]))
                return false;
        return true;
    }
    return a * b <= 0 && c * d <= 0;
}

static bool inside(const double *p, const double *const t[3], int axis)
{
    int a = turn(t[0], t[1], p, axis), b = turn(t[1], t[2], p, axis), c = turn(t[2], t[0], p, axis);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

static bool meets_flat(const double *p, const double *q, const double *const t[3])
{
    int axis = dominant_axis(t[0], t[1], t[2]);
    if (inside(p, t, axis)) return true;
    for (int k = 0; k < 3; k++)
        if (segments_meet(p, q, t[k], t[(k + 1) % 3], axis)) return true;
    return false;
}

// A closed segment and a closed triangle.
static bool segment_meets(const double *p, const double *q, const double *const t[3])
{
    int a = mo_orient3d(t[0], t[1], t[2], p), b = mo_orient3d(t[0], t[1], t[2], q);
    if (a * b > 0) return false;
    if (a == 0 && b == 0) return meets_flat(p, q, t);
    int c = mo_orient3d(p, q, t[0], t[1]), d = mo_orient3d(p, q, t[1], t[2]), e = mo_orient3d(p, q, t[2], t[0]);
    return (c >= 0 && d >= 0 && e >= 0) || (c <= 0 && d <= 0 && e <= 0);
}

static bool boxes_part(const double *const a[3], const double *const b[3])
{
    for (int k = 0; k < 3; k++) {
        double a0 = mo_cut_less(mo_cut_less(a[0][k], a[1][k]), a[2][k]),
               a1 = mo_cut_more(mo_cut_more(a[0][k], a[1][k]), a[2][k]);
        double b0 = mo_cut_less(mo_cut_less(b[0][k], b[1][k]), b[2][k]),
               b1 = mo_cut_more(mo_cut_more(b[0][k], b[1][k]), b[2][k]);
        if (a1 < b0 || b1 < a0) return true;
    }
    return false;
}

// Whether a plane across the line between their middles separates two triangles, except for a vertex that they share.
static bool plane_parts(const double *const a[3], const double *const b[3], int i, int j)
{
    double d[3], p[3], q[3], size = 0;
    for (int k = 0; k < 3; k++) d[k] = a[0][k] + a[1][k] + a[2][k] - b[0][k] - b[1][k] - b[2][k], size += fabs(d[k]);
    for (int v = 0; v < 3; v++) {
        p[v] = q[v] = 0;
        for (int k = 0; k < 3; k++) { // as seen from the shared vertex, or from any point
            double o = i < 0 ? b[0][k] : a[i][k];
            p[v] += d[k] * (a[v][k] - o), q[v] += d[k] * (b[v][k] - o);
        }
    }
    double margin = 1e-6 * size, lowest = INFINITY, highest = -INFINITY;
    for (int v = 0; v < 3; v++) {
        if (v != i) lowest = mo_cut_less(lowest, p[v]);
        if (v != j) highest = mo_cut_more(highest, q[v]);
    }
    return i < 0 ? lowest > highest + margin : lowest > margin && highest < -margin;
}

// Whether a plane that stands on a side of `a`, across it, separates two triangles, except for a vertex that they
// share. This avoids the exact tests for neighbours in one plane, which need long sums there.
static bool side_parts(const double *const a[3], const double *const b[3], int i, int j)
{
    double u[3], v[3], n[3], size = 0;
    for (int k = 0; k < 3; k++) u[k] = a[1][k] - a[0][k], v[k] = a[2][k] - a[0][k];
    for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    for (int e = 0; e < 3; e++) {
        if (i >= 0 && e == (i + 1) % 3) continue; // the side without the shared vertex
        const double *o = a[e], *p = a[(e + 1) % 3];
        double d[3], within = 0, most = -INFINITY;
        for (int k = 0; k < 3; k++) u[k] = p[k] - o[k];
        for (int k = 0; k < 3; k++) d[k] = n[(k + 1) % 3] * u[(k + 2) % 3] - n[(k + 2) % 3] * u[(k + 1) % 3];
        size = 0;
        for (int k = 0; k < 3; k++) within += d[k] * (a[(e + 2) % 3][k] - o[k]), size += fabs(d[k]);
        for (int w = 0; w < 3; w++) {
            double h = 0;
            for (int k = 0; k < 3; k++) h += d[k] * (b[w][k] - o[k]);
            if (w != j) most = mo_cut_more(most, h);
        }
        if (within > 1e-6 * size && most < -1e-6 * size) return true;
    }
    return false;
}

// Triangles v w p and v w q that make an angle below 1e-6, or none.
static bool is_fold(const double *v, const double *w, const double *p, const double *q)
{
    double e[3], a[3], b[3], ee = 0, ea = 0, eb = 0, aa = 0, bb = 0, ab = 0;
    for (int k = 0; k < 3; k++) e[k] = w[k] - v[k], ee += e[k] * e[k];
    for (int k = 0; k < 3; k++) ea += e[k] * (p[k] - v[k]) / ee, eb += e[k] * (q[k] - v[k]) / ee;
    for (int k = 0; k < 3; k++) {
        a[k] = p[k] - v[k] - ea * e[k], b[k] = q[k] - v[k] - eb * e[k];
        aa += a[k] * a[k], bb += b[k] * b[k], ab += a[k] * b[k];
    }
    return ab > 0 && ab * ab >= (1 - 1e-12) * aa * bb;
}

bool mo_cut_tangled(const mo_cut_mesh *m, int32_t a, int32_t b)
{
    const int32_t *u = m->triangle[a], *v = m->triangle[b];
    const double *x[3] = {m->x[u[0]], m->x[u[1]], m->x[u[2]]}, *y[3] = {m->x[v[0]], m->x[v[1]], m->x[v[2]]};
    int shared = 0, i = -1, j = -1; // corners that they do not share, or the one that they do
    bool mine[3] = {false, false, false}, yours[3] = {false, false, false};
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            if (u[k] == v[l]) mine[k] = yours[l] = true, shared++;
    if (m->thin[a] || m->thin[b] || boxes_part(x, y)) return false;
    for (int k = 0; k < 3; k++) {
        if (mine[k] == (shared == 1)) i = k;
        if (yours[k] == (shared == 1)) j = k;
    }
    if (shared == 3) return true;
    if (shared == 2) return is_fold(x[(i + 1) % 3], x[(i + 2) % 3], x[i], y[j]);
    i = shared ? i : -1, j = shared ? j : -1;
    if (plane_parts(x, y, i, j) || side_parts(x, y, i, j) || side_parts(y, x, j, i)) return false;
    if (shared == 1)
        return segment_meets(x[(i + 1) % 3], x[(i + 2) % 3], y) || segment_meets(y[(j + 1) % 3], y[(j + 2) % 3], x);
    for (int k = 0; k < 3; k++)
        if (segment_meets(x[k], x[(k + 1) % 3], y) || segment_meets(y[k], y[(k + 1) % 3], x)) return true;
    return false;
}
