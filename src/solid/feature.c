// Sharp edges and corners of a signed distance: points around a place are put onto the surface, their tangent planes
// sorted by direction, and the planes intersected; again closer by, until curvature no longer matters.
#include "solid/feature.h"

static const double SAME_FACE = 0.9; // cosine between normals of one face
static const double OPPOSITE = -0.8; // cosine between normals of two sides of a wall
static const double FLAT = 0.05;     // eigenvalues below it add no direction
enum { MOST_FACES = 12, PROBES = 14, LEVELS = 4 };

mo_zero_level mo_zero_level_of(const mo_shape *shape, bool flat)
{
    mo_box3 b = mo_shape_bounds(shape);
    double size = fmax(b.hi.x - b.lo.x, fmax(b.hi.y - b.lo.y, b.hi.z - b.lo.z));
    return (mo_zero_level){shape, flat, isfinite(size) ? 1e-7 * size : 1e-7};
}

mo_vec3 mo_zero_level_gradient(const mo_zero_level *l, mo_vec3 x)
{
    MO_ASSERT(l->step > 0);
    double g[3] = {0, 0, 0}, h = l->step;
    for (int a = 0; a < (l->flat ? 2 : 3); a++) {
        mo_vec3 e = {a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0};
        g[a] = (mo_shape_distance(l->shape, mo_add(x, e)) - mo_shape_distance(l->shape, mo_sub(x, e))) / (2 * h);
    }
    return mo_v3(g[0], g[1], g[2]);
}

mo_vec3 mo_zero_level_gradient_from(const mo_zero_level *l, mo_vec3 x, double d)
{
    double h = l->step;
    mo_vec3 g = {(mo_shape_distance(l->shape, mo_v3(x.x + h, x.y, x.z)) - d) / h,
                 (mo_shape_distance(l->shape, mo_v3(x.x, x.y + h, x.z)) - d) / h,
                 l->flat ? 0 : (mo_shape_distance(l->shape, mo_v3(x.x, x.y, x.z + h)) - d) / h};
    double slope2 = mo_dot(g, g);
    return slope2 > 0.81 && slope2 < 1.21 ? g
                                          : mo_zero_level_gradient(l, x); // else across a sharp edge: both sides count
}

bool mo_zero_level_project(const mo_zero_level *l, double reach, mo_vec3 *x)
{
    MO_ASSERT(reach > 0 && mo_v3_finite(*x));
    mo_vec3 start = *x;
    double close = 1e-2 * l->step; // 1e-9 of the size
    for (int iteration = 0; iteration < 8; iteration++) {
        double d = mo_shape_distance(l->shape, *x);
        if (!(fabs(d) > close)) return true;
        mo_vec3 g = mo_zero_level_gradient(l, *x);
        double slope = mo_dot(g, g);
        if (!(slope > 0.01)) return false;
        *x = mo_mad(*x, -d / slope, g);
        if (!(mo_norm(mo_sub(*x, start)) < reach)) return false;
    }
    return fabs(mo_shape_distance(l->shape, *x)) < 100 * close;
}

// Eigenvectors of a symmetric matrix as the columns of v, by Jacobi's rotations.
static void eigen(mo_mat3 a, double value[3], mo_mat3 *v)
{
    *v = (mo_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a.m[p][q] == 0) continue;
                double t = (a.m[q][q] - a.m[p][p]) / (2 * a.m[p][q]);
                t = (t < 0 ? -1 : 1) / (fabs(t) + sqrt(t * t + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) { // a <- a J
                    double x = a.m[k][p], y = a.m[k][q];
                    a.m[k][p] = c * x - s * y, a.m[k][q] = s * x + c * y;
                    x = v->m[k][p], y = v->m[k][q];
                    v->m[k][p] = c * x - s * y, v->m[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) { // a <- J^T a
                    double x = a.m[p][k], y = a.m[q][k];
                    a.m[p][k] = c * x - s * y, a.m[q][k] = s * x + c * y;
                }
            }
    for (int i = 0; i < 3; i++) value[i] = a.m[i][i];
}

// The planes from the nearest to the farthest, without those that oppose a nearer one: the other side of a thin wall.
static int nearest_first(const mo_plane *plane, int count, mo_vec3 x, mo_plane *out)
{
    double distance[MO_MOST_PLANES];
    int n = 0;
    for (int i = 0; i < count; i++) {
        double d = mo_norm(mo_sub(plane[i].point, x));
        int k = n++;
        for (; k > 0 && distance[k - 1] > d; k--) distance[k] = distance[k - 1], out[k] = out[k - 1];
        distance[k] = d, out[k] = plane[i];
    }
    int kept = 0;
    for (int i = 0; i < n; i++) {
        bool opposed = false;
        for (int k = 0; k < kept && !opposed; k++) opposed = mo_dot(out[k].normal, out[i].normal) < OPPOSITE;
        if (!opposed) out[kept++] = out[i];
    }
    return kept;
}

// Planes of about one normal become their mean. Returns the number of faces.
static int gather_faces(const mo_plane *plane, int count, mo_plane *face)
{
    int faces = 0, members[MOST_FACES];
    mo_vec3 first[MOST_FACES];
    for (int i = 0; i < count; i++) {
        int f = 0;
        while (f < faces && mo_dot(first[f], plane[i].normal) < SAME_FACE) f++;
        if (f == MOST_FACES) continue;
        if (f == faces) {
            first[faces] = plane[i].normal;
            members[faces] = 0;
            face[faces++] = (mo_plane){{0, 0, 0}, {0, 0, 0}};
        }
        members[f]++;
        face[f].normal = mo_add(face[f].normal, plane[i].normal);
        face[f].point = mo_add(face[f].point, plane[i].point);
    }
    for (int f = 0; f < faces; f++) {
        face[f].normal = mo_normalize(face[f].normal);
        face[f].point = mo_mul(1.0 / members[f], face[f].point);
    }
    return faces;
}

mo_feature mo_feature_fit(const mo_plane *plane, int count, mo_vec3 x)
{
    MO_ASSERT(count >= 0 && count <= MO_MOST_PLANES);
    mo_plane sorted[MO_MOST_PLANES], face[MOST_FACES];
    int faces = gather_faces(sorted, nearest_first(plane, count, x, sorted), face);
    mo_feature out = {.point = x};
    mo_mat3 A = {{{0}}}, v;
    mo_vec3 b = {0, 0, 0};
    for (int f = 0; f < faces; f++) {
        mo_vec3 n = face[f].normal;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) A.m[i][j] += mo_get(n, i) * mo_get(n, j);
        b = mo_mad(b, mo_dot(n, mo_sub(face[f].point, x)), n);
        out.normal = mo_add(out.normal, n);
    }
    out.normal = mo_normalize(out.normal);
    double value[3];
    eigen(A, value, &v);
    for (int i = 0; i < 3; i++) {
        mo_vec3 u = {v.m[0][i], v.m[1][i], v.m[2][i]};
        if (value[i] > FLAT) {
            out.point = mo_mad(out.point, mo_dot(u, b) / value[i], u);
            out.rank++;
        } else {
            out.tangent = u;
        }
    }
    return out;
}

// Tangent planes at points of the surface about `radius` from x.
static int probe(const mo_zero_level *l, mo_vec3 x, double radius, mo_plane *plane)
{
    int count = 0;
    for (int k = 0; k < PROBES; k++) {
        double d = sqrt(1 / 3.0);
        mo_vec3 u = k < 6 ? mo_v3(k / 2 == 0, k / 2 == 1, k / 2 == 2) : mo_v3(d, k & 2 ? d : -d, k & 4 ? d : -d);
        if (l->flat) u = mo_v3(mo_cos(2 * M_PI * k / PROBES), mo_sin(2 * M_PI * k / PROBES), 0);
        mo_vec3 y = mo_mad(x, k & 1 ? -radius : radius, u);
        if (l->flat) y = mo_mad(x, radius, u);
        if (!mo_zero_level_project(l, 2 * radius, &y)) continue;
        mo_vec3 g = mo_zero_level_gradient(l, y);
        double slope = mo_norm(g);
        if (slope > 0.9) plane[count++] = (mo_plane){y, mo_mul(1 / slope, g)}; // less: on an edge
    }
    return count;
}

mo_feature mo_feature_find(const mo_zero_level *l, mo_vec3 x, double radius)
{
    MO_ASSERT(radius > 0);
    mo_feature f = {.point = x};
    for (int level = 0; level < LEVELS; level++) {
        mo_plane plane[PROBES];
        double r = fmax(radius / (1 << 2 * level), 20 * l->step);
        int count = probe(l, f.point, r, plane);
        mo_feature next = {.point = f.point};
        if (count > 0) next = mo_feature_fit(plane, count, f.point);
        if (next.rank < 2 || !(mo_norm(mo_sub(next.point, f.point)) < 2 * r)) return (mo_feature){.point = x};
        f = next;
    }
    if (!(fabs(mo_shape_distance(l->shape, f.point)) < 100 * l->step)) f.rank = 0;
    return f;
}
