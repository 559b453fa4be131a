// The cubes of a brick: marched where nothing but the free surface passes, cut as tetrahedra where solids are, and
// capped at the box's walls.
//
// An edge (node, s) runs from a node to the one at offset s, three bits for x, y, z: seven edges start at a node. The
// tetrahedra of a cube are the six chains 0 < s1 < s2 < 7 of corners (Kuhn), so that all edges and triangles are such
// chains, and neighbouring cubes agree about them. On an edge that both fields cross, the order of the two roots
// decides which crossings belong to the surface; the lines phi = 0 and d = 0 on a triangle then cross or do not by
// their ends alone, whatever the fields do in between.
#include "geometry/cut_brick.h"
#include <float.h>
#include <string.h>

static const float MARGIN = 1e-4f; // roots keep this share of an edge away from its ends: no triangle collapses
enum { SHEET_FREE, SHEET_SOLID, SHEET_WALL };                  // and one for each of the six walls
enum { ON_PHI = 0, ON_SOLID = 7, ON_BOTH = 14, ON_NODE = 26 }; // kinds of vertices: 7 edges, 7 edges, 12 triangles

// ---- Samples ----

static inline int32_t sample_at(const mo_cut_worker *w, const int32_t c[3])
{
    MO_ASSERT(c[0] >= -1 && c[0] <= w->def->edge[0] + 1 && c[1] >= -1 && c[1] <= w->def->edge[1] + 1);
    MO_ASSERT(c[2] >= -1 && c[2] <= w->def->edge[2] + 1);
    return c[0] + 1 + w->stride[1] * (c[1] + 1) + w->stride[2] * (c[2] + 1);
}

static inline int32_t step_of(const mo_cut_worker *w, int s)
{
    MO_ASSERT(s >= 0 && s < 8);
    return (s & 1) + (s >> 1 & 1) * w->stride[1] + (s >> 2) * w->stride[2];
}

// A distance changes by no more than the spacing: what changes by more is behind a sheet, and does not count.
static inline float slope_beside(const mo_cut_worker *w, int32_t at, int a)
{
    float most = 1.5f * (float)w->def->spacing[a];
    float up = w->phi[at + w->stride[a]] - w->phi[at], down = w->phi[at] - w->phi[at - w->stride[a]];
    bool high = up <= most && up >= -most, low = down <= most && down >= -most;
    return high && low ? 0.5f * (up + down) : high ? up : low ? down : 0;
}

// Gradient of phi times the spacing: central differences.
static inline void slope(const mo_cut_worker *w, int32_t at, float g[3])
{
    for (int a = 0; a < 3; a++)
        g[a] = w->def->sheet ? slope_beside(w, at, a) : 0.5f * (w->phi[at + w->stride[a]] - w->phi[at - w->stride[a]]);
}

static inline float along(const float g[3], int s)
{
    return (s & 1 ? g[0] : 0) + (s & 2 ? g[1] : 0) + (s & 4 ? g[2] : 0);
}

static mo_vec3 node_place(const mo_cut_worker *w, const int32_t c[3])
{
    const mo_cut_def *d = w->def;
    const int32_t *lo = d->lo[w->brick];
    return mo_v3(d->origin.x + d->spacing[0] * (lo[0] + c[0]), d->origin.y + d->spacing[1] * (lo[1] + c[1]),
                 d->origin.z + d->spacing[2] * (lo[2] + c[2]));
}

static mo_vec3 edge_vector(const mo_cut_worker *w, int s)
{
    const double *h = w->def->spacing;
    return mo_v3(s & 1 ? h[0] : 0, s & 2 ? h[1] : 0, s & 4 ? h[2] : 0);
}

// ---- Roots on edges ----

static float keep_inside(double t) { return t > MARGIN ? t < 1 - MARGIN ? (float)t : 1 - MARGIN : MARGIN; }

// phi along an edge is f0 + t (f1 - f0 + k) - k t^2, exact for quadratic fields: the one root in (0, 1).
static float root_of_phi(const mo_cut_worker *w, int32_t at, int s)
{
    float g0[3], g1[3];
    int32_t end = at + step_of(w, s);
    slope(w, at, g0), slope(w, end, g1);
    double f0 = w->phi[at], f1 = w->phi[end], k = 0.5 * ((double)along(g0, s) - along(g1, s)), b = f1 - f0 + k;
    double q = -0.5 * (b + copysign(sqrt(fmax(b * b + 4 * k * f0, 0)), b));
    double t = f0 / q, other = -q / k;
    if (!(t >= 0 && t <= 1)) t = other >= 0 && other <= 1 ? other : f0 / (f0 - f1);
    return keep_inside(t);
}

// Of the true distance, by the Illinois method.
static float root_of_solid(const mo_cut_worker *w, const int32_t c[3], int32_t at, int s)
{
    mo_vec3 from = node_place(w, c), way = edge_vector(w, s);
    double t0 = 0, t1 = 1, f0 = w->solid[at], f1 = w->solid[at + step_of(w, s)], t = 0.5;
    double enough = 1e-4 * w->def->spacing[0];
    for (int i = 0, side = 0; i < 12; i++) {
        t = f0 == f1 ? 0.5 : t0 + (t1 - t0) * f0 / (f0 - f1);
        double f = w->def->distance(w->def->user, w->brick, mo_mad(from, t, way));
        if (fabs(f) < enough) break;
        if ((f > 0) == (f0 > 0)) {
            t0 = t, f0 = f;
            if (side == -1) f1 *= 0.5;
            side = -1;
        } else {
            t1 = t, f1 = f;
            if (side == 1) f0 *= 0.5;
            side = 1;
        }
    }
    return keep_inside(t);
}

// Whether a sheet parts the ends of an edge, seen from the wet one.
static double meet_sheet(const mo_cut_worker *w, const int32_t c[3], int32_t at, int s, mo_vec3 *normal)
{
    mo_vec3 from = node_place(w, c), to = mo_add(from, edge_vector(w, s));
    bool wet = w->phi[at] < w->phi[at + step_of(w, s)];
    return wet ? w->def->sheet(w->def->user, w->brick, from, to, normal)
               : w->def->sheet(w->def->user, w->brick, to, from, normal);
}

// The surface ends at a sheet that parts the ends of an edge; beside sheets slopes are not known well enough for more
// than a straight line.
static float root_beside(const mo_cut_worker *w, const int32_t c[3], int32_t at, int s)
{
    mo_vec3 normal;
    float f0 = w->phi[at], f1 = w->phi[at + step_of(w, s)];
    double met = meet_sheet(w, c, at, s, &normal);
    if (met == MO_CUT_FREE) return root_of_phi(w, at, s);
    if (met == MO_CUT_BESIDE) return keep_inside(f0 / (f0 - f1));
    return keep_inside(f0 < f1 ? met : 1 - met);
}

static float root_on(mo_cut_worker *w, const int32_t c[3], int s, int kind)
{
    MO_ASSERT(s > 0 && s < 8 && (kind == ON_PHI || kind == ON_SOLID));
    int32_t at = sample_at(w, c);
    float *known = &w->root[14 * (int64_t)at + kind + s - 1];
    if (*known != *known)
        *known = kind == ON_SOLID ? root_of_solid(w, c, at, s)
                 : w->def->sheet  ? root_beside(w, c, at, s)
                                  : root_of_phi(w, at, s);
    return *known;
}

// ---- Vertices ----

static uint64_t make_key(const mo_cut_worker *w, const int32_t c[3], int extent, int kind, int sheet)
{
    MO_ASSERT(kind >= 0 && kind <= ON_NODE && sheet >= 0 && sheet < SHEET_WALL + 6);
    const int32_t *lo = w->def->lo[w->brick], *n = w->def->edge;
    uint64_t key = (uint64_t)(kind + 1) << 3 | (uint64_t)sheet;
    bool shared = false;
    for (int a = 0; a < 3; a++) {
        key = key << MO_CUT_AXIS_BITS | (uint64_t)(lo[a] + c[a] - w->low[a]);
        shared = shared || (!(extent >> a & 1) && (c[a] == 0 || c[a] == n[a]));
    }
    return shared ? key | MO_KEY_SHARED : key;
}

// Out of the liquid: along the gradient of phi; into the solid; out of the box.
static mo_vec3 sheet_normal(const mo_cut_worker *w, int sheet, mo_vec3 x, const double gradient[3])
{
    if (sheet == SHEET_FREE) {
        const double *h = w->def->spacing;
        return mo_normalize(mo_v3(gradient[0] / h[0], gradient[1] / h[1], gradient[2] / h[2]));
    }
    if (sheet == SHEET_SOLID) {
        double h = 0.02 * w->def->spacing[0], n[3];
        for (int a = 0; a < 3; a++) {
            mo_vec3 e = mo_v3(a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0);
            n[a] = w->def->distance(w->def->user, w->brick, mo_sub(x, e)) -
                   w->def->distance(w->def->user, w->brick, mo_add(x, e));
        }
        return mo_normalize(mo_v3(n[0], n[1], n[2]));
    }
    int wall = sheet - SHEET_WALL, sign = wall & 1 ? 1 : -1;
    return mo_v3(wall / 2 == 0 ? sign : 0, wall / 2 == 1 ? sign : 0, wall / 2 == 2 ? sign : 0);
}

typedef struct corner { // a point of the lattice: weights of up to three nodes, the first at c, the others at offsets
    int32_t c[3];
    int extent, kind, offset[2];
    double weight[2]; // of the offsets
} corner;

static int32_t put_vertex(mo_cut_worker *w, const corner *p, int sheet)
{
    if (!mo_key_map_room(&w->map, 1) ||
        !mo_reserve((void **)&w->vertices, &w->vertex_capacity, w->vertex_count + 1, sizeof *w->vertices)) {
        w->failed = true;
        return 0;
    }
    uint64_t key = make_key(w, p->c, p->extent, p->kind, sheet);
    int32_t next = (int32_t)(w->vertex_count - w->first), id = mo_key_map_put(&w->map, key, next);
    if (id < next) return id;
    mo_vec3 x = node_place(w, p->c);
    int32_t at = sample_at(w, p->c);
    float g[3], gs[3];
    slope(w, at, g);
    double gradient[3] = {g[0], g[1], g[2]};
    for (int k = 0; k < 2 && p->offset[k]; k++) {
        x = mo_mad(x, p->weight[k], edge_vector(w, p->offset[k]));
        slope(w, at + step_of(w, p->offset[k]), gs);
        for (int a = 0; a < 3; a++) gradient[a] += p->weight[k] * ((double)gs[a] - g[a]);
    }
    mo_vec3 n = sheet_normal(w, sheet, x, gradient), met;
    if (sheet == SHEET_FREE && w->def->sheet && p->kind < ON_SOLID && meet_sheet(w, p->c, at, p->offset[0], &met) <= 1)
        n = met;
    w->vertices[w->vertex_count++] = (mo_cut_vertex){
        .key = key, .x = {(float)x.x, (float)x.y, (float)x.z}, .normal = {(float)n.x, (float)n.y, (float)n.z}};
    return id;
}

static int32_t edge_vertex(mo_cut_worker *w, const int32_t c[3], int s, int kind, int sheet)
{
    corner p = {.c = {c[0], c[1], c[2]}, .extent = s, .kind = kind + s - 1, .offset = {s}};
    p.weight[0] = root_on(w, c, s, kind);
    return put_vertex(w, &p, sheet);
}

// ---- Triangles on which both fields vanish somewhere ----

// Triangle (node, s1, s2) of the chain 0 < s1 < s2, numbered 0..11.
static int triangle_kind(int s1, int s2)
{
    MO_ASSERT(0 < s1 && s1 < s2 && s2 < 8 && (s1 & s2) == s1);
    static const int8_t kind[8][8] = {[1] = {[3] = 0, [5] = 1, [7] = 2},
                                      [2] = {[3] = 3, [6] = 4, [7] = 5},
                                      [4] = {[5] = 6, [6] = 7, [7] = 8},
                                      [3] = {[7] = 9},
                                      [5] = {[7] = 10},
                                      [6] = {[7] = 11}};
    return kind[s1][s2];
}

// phi within a triangle, exact for quadratic fields: the mean of linear interpolation and of the nodes' tangents.
static double phi_within(const mo_cut_worker *w, const int32_t at[3], int s1, int s2, double u, double v)
{
    double weight[3] = {1 - u - v, u, v}, sum = 0;
    for (int k = 0; k < 3; k++) {
        float g[3];
        slope(w, at[k], g);
        double way = u * along(g, s1) + v * along(g, s2);
        if (k) way -= along(g, k == 1 ? s1 : s2);
        sum += weight[k] * (w->phi[at[k]] + 0.5 * way);
    }
    return sum;
}

// Ends of the line on which a field vanishes, in coordinates u, v of the triangle.
static void line_ends(mo_cut_worker *w, const int32_t c[3], int s1, int s2, int kind, const bool sign[3],
                      double end[2][2])
{
    int32_t mid[3] = {c[0] + (s1 & 1), c[1] + (s1 >> 1 & 1), c[2] + (s1 >> 2)};
    int k = 0;
    if (sign[0] != sign[1]) end[k][0] = root_on(w, c, s1, kind), end[k++][1] = 0;
    if (sign[0] != sign[2]) end[k][0] = 0, end[k++][1] = root_on(w, c, s2, kind);
    if (k < 2 && sign[1] != sign[2]) end[k][1] = root_on(w, mid, s1 ^ s2, kind), end[k][0] = 1 - end[k][1];
}

// A curved crease may leave the triangle a little although its sheets' roots lie about it.
static void keep_within(double p[2])
{
    double least = -0.1;
    p[0] = fmax(p[0], least), p[1] = fmax(p[1], least);
    double sum = p[0] + p[1];
    if (sum > 1 - least) p[0] *= (1 - least) / sum, p[1] *= (1 - least) / sum;
}

// Where both fields vanish: the crossing of the two lines, then Newton's method with the slopes of the corners' values.
static void find_crease(mo_cut_worker *w, const int32_t c[3], int s1, int s2, double p[2])
{
    int32_t base = sample_at(w, c), at[3] = {base, base + step_of(w, s1), base + step_of(w, s2)};
    bool wet[3], open[3];
    for (int k = 0; k < 3; k++) wet[k] = w->phi[at[k]]<0, open[k] = w->solid[at[k]]> 0;
    double a[2][2], b[2][2];
    line_ends(w, c, s1, s2, ON_PHI, wet, a);
    line_ends(w, c, s1, s2, ON_SOLID, open, b);
    double ax = a[1][0] - a[0][0], ay = a[1][1] - a[0][1], bx = b[1][0] - b[0][0], by = b[1][1] - b[0][1];
    double det = ax * by - ay * bx;
    double t = det == 0 ? 0.5 : ((b[0][0] - a[0][0]) * by - (b[0][1] - a[0][1]) * bx) / det;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    p[0] = a[0][0] + t * ax, p[1] = a[0][1] + t * ay;
    keep_within(p);
    double j[2][2] = {{(double)w->phi[at[1]] - w->phi[at[0]], (double)w->phi[at[2]] - w->phi[at[0]]},
                      {(double)w->solid[at[1]] - w->solid[at[0]], (double)w->solid[at[2]] - w->solid[at[0]]}};
    double h = w->def->spacing[0], best = DBL_MAX, q[2] = {p[0], p[1]};
    det = j[0][0] * j[1][1] - j[0][1] * j[1][0];
    for (int i = 0; i < 6 && fabs(det) > 1e-3 * h * h; i++) {
        mo_vec3 x = mo_mad(mo_mad(node_place(w, c), q[0], edge_vector(w, s1)), q[1], edge_vector(w, s2));
        double f = phi_within(w, at, s1, s2, q[0], q[1]), d = w->def->distance(w->def->user, w->brick, x);
        double error = fabs(f) + fabs(d);
        if (error < best) best = error, p[0] = q[0], p[1] = q[1];
        if (error < 1e-4 * h) break;
        q[0] -= (f * j[1][1] - d * j[0][1]) / det;
        q[1] -= (d * j[0][0] - f * j[1][0]) / det;
        keep_within(q);
    }
}

static int32_t crease_vertex(mo_cut_worker *w, const int32_t c[3], int s1, int s2, int sheet)
{
    corner p = {.c = {c[0], c[1], c[2]}, .extent = s2, .kind = ON_BOTH + triangle_kind(s1, s2), .offset = {s1, s2}};
    find_crease(w, c, s1, s2, p.weight);
    return put_vertex(w, &p, sheet);
}

// ---- Polygons ----

enum { MOST_CORNERS = 32 };

static mo_vec3 place_of(const mo_cut_worker *w, int32_t id)
{
    MO_ASSERT(id >= 0 && w->first + id < w->vertex_count);
    const float *x = w->vertices[w->first + id].x;
    return mo_v3(x[0], x[1], x[2]);
}

// Smallest area (times two, squared) of the triangles of a fan.
static double worst_of_fan(const mo_cut_worker *w, const int32_t *id, int n, int start)
{
    double worst = DBL_MAX;
    mo_vec3 o = place_of(w, id[start]);
    for (int k = 1; k + 1 < n; k++) {
        mo_vec3 a = mo_sub(place_of(w, id[(start + k) % n]), o), b = mo_sub(place_of(w, id[(start + k + 1) % n]), o);
        mo_vec3 cross = mo_cross(a, b);
        worst = fmin(worst, mo_dot(cross, cross));
    }
    return worst;
}

// The fan whose smallest triangle is largest.
static void put_polygon(mo_cut_worker *w, const int32_t *id, int n)
{
    MO_ASSERT(n <= MOST_CORNERS);
    if (n < 3 || w->failed) return;
    if (!mo_reserve((void **)&w->triangles, &w->triangle_capacity, w->triangle_count + n, sizeof *w->triangles)) {
        w->failed = true;
        return;
    }
    int start = 0;
    double best = -1;
    for (int k = 0; n > 3 && k < n; k++) {
        double worst = worst_of_fan(w, id, n, k);
        if (worst > best) best = worst, start = k;
    }
    for (int k = 1; k + 1 < n; k++) {
        int32_t *t = w->triangles[w->triangle_count++];
        t[0] = id[start], t[1] = id[(start + k) % n], t[2] = id[(start + k + 1) % n];
    }
}

// ---- Tetrahedra ----

typedef struct tetrahedron {
    int32_t cube[3];
    int8_t corner[4]; // offsets in the cube: a chain
    bool odd;         // mirrored
    int wet, open;    // bits of the corners
} tetrahedron;

static void tet_node(const tetrahedron *t, int i, int32_t c[3])
{
    for (int a = 0; a < 3; a++) c[a] = t->cube[a] + (t->corner[i] >> a & 1);
}

// Whether the root of one field on the edge i < j is where the other lets it count.
static bool root_counts(mo_cut_worker *w, const tetrahedron *t, int i, int j, int kind)
{
    int other = kind == ON_PHI ? t->open : t->wet;
    bool at_i = other >> i & 1, at_j = other >> j & 1;
    if (at_i == at_j) return at_i;
    int32_t c[3];
    tet_node(t, i, c);
    int s = t->corner[i] ^ t->corner[j];
    bool phi_first = root_on(w, c, s, ON_PHI) < root_on(w, c, s, ON_SOLID);
    return at_i == ((kind == ON_PHI) == phi_first);
}

static int32_t tet_crease(mo_cut_worker *w, const tetrahedron *t, int corners, int sheet)
{
    int k[3], n = 0;
    for (int i = 0; i < 4; i++)
        if (corners >> i & 1) k[n++] = i;
    int32_t c[3];
    tet_node(t, k[0], c);
    return crease_vertex(w, c, t->corner[k[0]] ^ t->corner[k[1]], t->corner[k[0]] ^ t->corner[k[2]], sheet);
}

// The edges that a field crosses, in the order that turns round its outward normal. inside: bits of the corners.
static int crossed_edges(int inside, bool odd, int8_t edge[4][2])
{
    static const int8_t even[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    int count = 0, n = (inside & 1) + (inside >> 1 & 1) + (inside >> 2 & 1) + (inside >> 3);
    if (n == 2) {
        int8_t a = -1, b = -1, c = -1, d = -1;
        for (int8_t i = 0; i < 4; i++) {
            if (inside >> i & 1)
                b = i, a = a < 0 ? i : a;
            else
                d = i, c = c < 0 ? i : c;
        }
        // (a, b, c, d) is odd for 02|13 and 13|02.
        if ((inside == 5 || inside == 10) != odd) {
            int8_t swap = c;
            c = d, d = swap;
        }
        const int8_t cycle[4][2] = {{a, c}, {a, d}, {b, d}, {b, c}};
        memcpy(edge, cycle, sizeof cycle);
        count = 4;
    } else {
        bool single = n == 1, flip = odd == single;
        int alone = single ? inside : 15 & ~inside, w = alone == 1 ? 0 : alone == 2 ? 1 : alone == 4 ? 2 : 3;
        const int8_t *p = even[w];
        for (int k = 0; k < 3; k++) edge[k][0] = p[0], edge[k][1] = p[flip ? 3 - k : 1 + k];
        count = 3;
    }
    for (int k = 0; k < count; k++)
        if (edge[k][0] > edge[k][1]) {
            int8_t swap = edge[k][0];
            edge[k][0] = edge[k][1], edge[k][1] = swap;
        }
    return count;
}

static int32_t tet_root(mo_cut_worker *w, const tetrahedron *t, const int8_t edge[2], int kind, int sheet)
{
    int32_t c[3];
    tet_node(t, edge[0], c);
    return edge_vertex(w, c, t->corner[edge[0]] ^ t->corner[edge[1]], kind, sheet);
}

// Corners of the face that two edges span.
static int face_of(const int8_t a[2], const int8_t b[2]) { return 1 << a[0] | 1 << a[1] | 1 << b[0] | 1 << b[1]; }

// One sheet in a tetrahedron: the polygon of its field's roots, cut where the other field ends it. Roots that count
// come in runs; each with the creases at its two ends is a polygon.
static void cut_sheet(mo_cut_worker *w, const tetrahedron *t, int kind, int sheet)
{
    int8_t edge[4][2];
    int n = crossed_edges(kind == ON_PHI ? t->wet : t->open, t->odd, edge), kept = 0, flips = 0, m = 0, first = 0;
    bool keep[4];
    for (int k = 0; k < n; k++) kept += keep[k] = root_counts(w, t, edge[k][0], edge[k][1], kind);
    if (kept == 0) return;
    for (int k = 0; k < n; k++) {
        flips += keep[k] != keep[(k + 1) % n];
        if (keep[k] && !keep[(k + n - 1) % n]) first = k;
    }
    // Two runs: the creases go round the kept roots of phi, so the solid's sheet is one piece unless its kept roots lie
    // on the same edges.
    bool joined = flips == 4 && kind == ON_SOLID && !root_counts(w, t, edge[first][0], edge[first][1], ON_PHI);
    int32_t id[MOST_CORNERS];
    for (int i = 0; i < n; i++) {
        int k = (first + i) % n, before = (k + n - 1) % n, next = (k + 1) % n;
        if (!keep[k]) continue;
        if (!keep[before]) id[m++] = tet_crease(w, t, face_of(edge[before], edge[k]), sheet);
        id[m++] = tet_root(w, t, edge[k], kind, sheet);
        if (keep[next]) continue;
        id[m++] = tet_crease(w, t, face_of(edge[k], edge[next]), sheet);
        if (joined) continue;
        put_polygon(w, id, m);
        m = 0;
    }
    put_polygon(w, id, m);
}

static void cut_cube(mo_cut_worker *w, const int32_t cube[3], int wet, int open)
{
    static const int8_t chain[6][2] = {{1, 3}, {2, 3}, {1, 5}, {4, 5}, {2, 6}, {4, 6}};
    static const bool odd[6] = {false, true, true, false, false, true};
    for (int k = 0; k < 6; k++) {
        tetrahedron t = {
            .cube = {cube[0], cube[1], cube[2]}, .corner = {0, chain[k][0], chain[k][1], 7}, .odd = odd[k]};
        for (int i = 0; i < 4; i++) {
            t.wet |= (wet >> t.corner[i] & 1) << i;
            t.open |= (open >> t.corner[i] & 1) << i;
        }
        if (t.wet == 0 || t.open == 0) continue;
        if (t.wet != 15) cut_sheet(w, &t, ON_PHI, SHEET_FREE);
        if (t.open != 15) cut_sheet(w, &t, ON_SOLID, SHEET_SOLID);
    }
}

// ---- Walls ----

typedef struct rim { // a corner or root on the border of a triangle
    int32_t c[3];
    int s, kind; // s = 0: the node
    bool keep;
} rim;

// The wet and open part of a triangle (node, s1, s2) of a wall.
static void cap_triangle(mo_cut_worker *w, const int32_t c[3], int s1, int s2, int wall)
{
    int off[4] = {0, s1, s2, 0};
    bool wet[4], open[4];
    int32_t node[4][3];
    for (int k = 0; k < 4; k++) {
        for (int a = 0; a < 3; a++) node[k][a] = c[a] + (off[k] >> a & 1);
        int32_t at = sample_at(w, node[k]);
        wet[k] = w->phi[at] < 0, open[k] = !w->solids || w->solid[at] > 0;
    }
    rim r[9];
    int n = 0, kept = 0, phi_kept = 0, phi_roots = 0;
    for (int k = 0; k < 3; k++) {
        r[n++] = (rim){{node[k][0], node[k][1], node[k][2]}, 0, 0, wet[k] && open[k]};
        bool phi = wet[k] != wet[k + 1], solid = open[k] != open[k + 1];
        const int32_t *low = node[k == 2 ? 0 : k];
        int s = off[k] ^ off[k + 1];
        bool up = k < 2; // the edge is walked from its start
        bool phi_first = phi && solid && root_on(w, low, s, ON_PHI) < root_on(w, low, s, ON_SOLID);
        bool phi_near = phi_first == up; // met first on this walk
        rim p = {{low[0], low[1], low[2]}, s, ON_PHI, solid ? phi_near ? open[k] : open[k + 1] : open[k]};
        rim d = {{low[0], low[1], low[2]}, s, ON_SOLID, phi ? phi_near ? wet[k + 1] : wet[k] : wet[k]};
        if (phi && (!solid || phi_near)) r[n++] = p;
        if (solid) r[n++] = d;
        if (phi && solid && !phi_near) r[n++] = p;
        if (phi) phi_roots++, phi_kept += p.keep;
    }
    for (int k = 0; k < n; k++) kept += r[k].keep;
    if (kept == 0) return;
    int first = 0;
    for (int k = 0; k < n; k++)
        if (r[k].keep && !r[(k + n - 1) % n].keep) first = k;
    int32_t id[MOST_CORNERS];
    int m = 0, sheet = SHEET_WALL + wall;
    for (int i = 0; i < n; i++) {
        const rim *p = &r[(first + i) % n];
        if (!p->keep) continue;
        if (p->s) {
            id[m++] = edge_vertex(w, p->c, p->s, p->kind, sheet);
        } else {
            corner q = {.c = {p->c[0], p->c[1], p->c[2]}, .kind = ON_NODE};
            id[m++] = put_vertex(w, &q, sheet);
        }
    }
    if (phi_roots == 2 && phi_kept == 1) id[m++] = crease_vertex(w, c, s1, s2, sheet);
    // The order s1, s2 turns to the right or left as seen from outside.
    int a = wall / 2, x = (a + 1) % 3, y = (a + 2) % 3;
    int turn = (s1 >> x & 1) * (s2 >> y & 1) - (s1 >> y & 1) * (s2 >> x & 1);
    if ((turn > 0) != (wall & 1))
        for (int k = 0; k < m / 2; k++) {
            int32_t swap = id[k];
            id[k] = id[m - 1 - k], id[m - 1 - k] = swap;
        }
    put_polygon(w, id, m);
}

static void cap_cube(mo_cut_worker *w, const int32_t cube[3], int wall)
{
    int a = wall / 2, x = 1 << (a + 1) % 3, y = 1 << (a + 2) % 3;
    int32_t c[3] = {cube[0], cube[1], cube[2]};
    c[a] += wall & 1;
    cap_triangle(w, c, x, x | y, wall);
    cap_triangle(w, c, y, x | y, wall);
}

// ---- Cubes with the free surface alone ----

// Links the root where the walk round a face (seen from outside) enters the liquid to the one where it leaves.
static void link_face(int8_t next[64], int wet, const int8_t *walk, int n)
{
    for (int k = 0; k < n; k++) {
        int from = walk[(k + n - 1) % n], to = walk[k];
        if ((wet >> from & 1) || !(wet >> to & 1)) continue;
        int end = k;
        while (wet >> walk[(end + 1) % n] & 1) end++;
        int last = walk[end % n], beyond = walk[(end + 1) % n];
        // A root is named by the lower corner of its edge and the offset.
        next[8 * (from & to) + (from ^ to)] = (int8_t)(8 * (last & beyond) + (last ^ beyond));
    }
}

// split: bits of the faces (walls of the cube) that neighbours cut into triangles.
static void march_cube(mo_cut_worker *w, const int32_t cube[3], int wet, int split)
{
    int8_t next[64];
    memset(next, -1, sizeof next);
    for (int face = 0; face < 6; face++) {
        int a = face / 2, x = 1 << (a + 1) % 3, y = 1 << (a + 2) % 3, base = face & 1 ? 1 << a : 0;
        int8_t o = (int8_t)base, p = (int8_t)(base | x), q = (int8_t)(base | x | y), r = (int8_t)(base | y);
        bool high = face & 1; // seen from outside, x to y turns left on the high side
        if (split >> face & 1) {
            link_face(next, wet, high ? (int8_t[]){o, p, q} : (int8_t[]){o, q, p}, 3);
            link_face(next, wet, high ? (int8_t[]){o, q, r} : (int8_t[]){o, r, q}, 3);
        } else {
            link_face(next, wet, high ? (int8_t[]){o, p, q, r} : (int8_t[]){o, r, q, p}, 4);
        }
    }
    for (int start = 0; start < 64; start++) {
        int32_t id[MOST_CORNERS];
        int m = 0;
        for (int k = start; next[k] >= 0;) {
            int32_t c[3] = {cube[0] + (k >> 3 & 1), cube[1] + (k >> 4 & 1), cube[2] + (k >> 5)};
            id[m++] = edge_vertex(w, c, k & 7, ON_PHI, SHEET_FREE);
            int to = next[k];
            next[k] = -1;
            k = to;
        }
        put_polygon(w, id, m);
    }
}

// ---- The brick ----

static int cube_bits(const mo_cut_worker *w, const float *field, int32_t at, bool below)
{
    int bits = 0;
    for (int s = 0; s < 8; s++) {
        float f = field[at + step_of(w, s)];
        bits |= (below ? f < 0 : f > 0) << s;
    }
    return bits;
}

static bool some_closed(const mo_cut_worker *w, int32_t at)
{
    return w->solids && cube_bits(w, w->solid, at, false) != 255;
}

// Which faces lie on walls of the box, or are shared with cubes that are cut into tetrahedra.
static int wall_faces(const mo_cut_worker *w, const int32_t c[3])
{
    int bits = 0;
    for (int a = 0; a < 3; a++) {
        int32_t at = w->def->lo[w->brick][a] + c[a];
        bits |= (at == w->def->low[a]) << (2 * a) | (at + 1 == w->def->high[a]) << (2 * a + 1);
    }
    return bits;
}

static int split_faces(const mo_cut_worker *w, int32_t at, int walls)
{
    int bits = walls;
    for (int face = 0; w->solids && face < 6; face++) {
        int32_t step = w->stride[face / 2];
        if (!(walls >> face & 1) && some_closed(w, face & 1 ? at + step : at - step)) bits |= 1 << face;
    }
    return bits;
}

// Bit 1: some sample is inside, bit 2: some is not.
static int inside_or_not(const mo_cut_worker *w)
{
    const int32_t *n = w->def->edge;
    int seen = 0;
    for (int32_t z = 0; z <= n[2]; z++)
        for (int32_t y = 0; y <= n[1]; y++) {
            const float *row = w->phi + sample_at(w, (int32_t[]){0, y, z});
            for (int32_t x = 0; x <= n[0]; x++) seen |= row[x] < 0 ? 1 : 2;
        }
    return seen;
}

static void cut_one(mo_cut_worker *w, const int32_t c[3], int wet)
{
    int32_t at = sample_at(w, c);
    int open = w->solids ? cube_bits(w, w->solid, at, false) : 255, walls = wall_faces(w, c);
    if (open == 0) return;
    if (open != 255)
        cut_cube(w, c, wet, open);
    else if (wet != 255)
        march_cube(w, c, wet, split_faces(w, at, walls));
    for (int wall = 0; walls >> wall; wall++)
        if (walls >> wall & 1) cap_cube(w, c, wall);
}

void mo_cut_brick(mo_cut_worker *w)
{
    const int32_t *n = w->def->edge, *lo = w->def->lo[w->brick];
    int32_t from[3], to[3];
    bool at_wall = false;
    for (int a = 0; a < 3; a++) {
        from[a] = w->def->low[a] > lo[a] ? w->def->low[a] - lo[a] : 0;
        to[a] = w->def->high[a] < lo[a] + n[a] ? w->def->high[a] - lo[a] : n[a];
        at_wall |= lo[a] <= w->def->low[a] || lo[a] + n[a] >= w->def->high[a];
    }
    int seen = inside_or_not(w);
    if (!(seen & 1) || (seen == 1 && !at_wall && !w->solids)) return;
    mo_key_map_clear(&w->map);
    memset(w->root, 0xff, 14 * sizeof(float) * (size_t)w->stride[2] * (size_t)(n[2] + 3)); // NaN
    for (int32_t z = from[2]; z < to[2]; z++)
        for (int32_t y = from[1]; y < to[1]; y++)
            for (int32_t x = from[0]; x < to[0] && !w->failed; x++) {
                int32_t c[3] = {x, y, z};
                int wet = cube_bits(w, w->phi, sample_at(w, c), true);
                if (wet) cut_one(w, c, wet);
            }
}
