// Where triangles meet the edges and faces of a cell: decided exactly, computed in floating point.
#include "grid/cut_cell.h"
#include "geometry/predicates.h"
#include <math.h>
#include <string.h>

static const double *corner_of(const mo_cut_work *w, int32_t t, int k)
{
    const mo_cut_mesh *m = w->walls.mesh;
    return m->x[m->triangle[w->triangle[t]][k]];
}

// ---- Triangles and edges of the lattice ----

static int node_sign(mo_cut_work *w, int32_t t, int corner)
{
    if (!w->sign[t][corner]) {
        int32_t node[3];
        for (int k = 0; k < 3; k++) node[k] = w->base[k] + (corner >> k & 1);
        w->sign[t][corner] = (int8_t)mo_orient_node(corner_of(w, t, 0), corner_of(w, t, 1), corner_of(w, t, 2), node);
    }
    return w->sign[t][corner];
}

// The point where the line of an edge meets the triangle, as a mean of the triangle's corners.
static double hit_at(const mo_cut_work *w, int32_t t, int axis, const int32_t node[3])
{
    int b = (axis + 1) % 3, d = (axis + 2) % 3;
    double x[3][2], at = 0, all = 0;
    for (int k = 0; k < 3; k++) {
        const double *p = corner_of(w, t, k);
        x[k][0] = p[b] - node[b], x[k][1] = p[d] - node[d];
    }
    for (int k = 0; k < 3; k++) {
        const double *p = x[(k + 1) % 3], *q = x[(k + 2) % 3];
        double weight = fabs(p[0] * q[1] - p[1] * q[0]);
        at += weight * (corner_of(w, t, k)[axis] - node[axis]), all += weight;
    }
    at = all > 0 ? at / all : corner_of(w, t, 0)[axis] - node[axis];
    return at > 0 ? at < 1 ? at : 1 : 0;
}

static bool add_hit(mo_cut_edge *e, mo_cut_hit hit)
{
    int32_t j = e->count;
    if (j == MO_CUT_HITS) return false;
    for (; j > 0 && e->hit[j - 1].at > hit.at; j--) e->hit[j] = e->hit[j - 1];
    e->hit[j] = hit, e->count++;
    return true;
}

// One triangle and one edge, whose line passes the triangle's box; high: bit 0 along the next axis, bit 1 along the one
// after.
static bool try_edge(mo_cut_work *w, int32_t t, int axis, int high)
{
    int b = (axis + 1) % 3, d = (axis + 2) % 3;
    int32_t node[3];
    node[axis] = w->base[axis], node[b] = w->base[b] + (high & 1), node[d] = w->base[d] + (high >> 1);
    const double *p = corner_of(w, t, 0), *q = corner_of(w, t, 1), *r = corner_of(w, t, 2);
    int one = mo_orient_line(p, q, axis, node);
    if (one == 0 || mo_orient_line(q, r, axis, node) != one || mo_orient_line(r, p, axis, node) != one) return true;
    int low = (high & 1) << b | (high >> 1) << d, first = node_sign(w, t, low);
    if (first == node_sign(w, t, low | 1 << axis)) return true;
    return add_hit(&w->edge[4 * axis + high], (mo_cut_hit){hit_at(w, t, axis, node), (int16_t)t, (int8_t)first});
}

// Bits of the six planes of the cell, 2 axis + (1: high), that pass a triangle's box.
static int planes_through(const mo_cut_work *w, int32_t t)
{
    const double *p = corner_of(w, t, 0), *q = corner_of(w, t, 1), *r = corner_of(w, t, 2);
    int through = 0;
    for (int k = 0; k < 6; k++) {
        int a = k / 2, plane = w->base[a] + k % 2, above = (p[a] > plane) + (q[a] > plane) + (r[a] > plane);
        through |= (above != 0 && above != 3) << k;
    }
    return through;
}

static bool find_hits(mo_cut_work *w)
{
    for (int e = 0; e < 12; e++) w->edge[e].count = 0;
    for (int32_t t = 0; t < w->walls.count; t++) {
        int through = planes_through(w, t);
        for (int e = 0; e < 12 && through; e++) {
            int b = (e / 4 + 1) % 3, d = (e / 4 + 2) % 3;
            if (!(through >> (2 * b + e % 2) & 1) || !(through >> (2 * d + e % 4 / 2) & 1)) continue;
            if (!try_edge(w, t, e / 4, e % 4)) return false;
        }
    }
    return true;
}

// ---- Edges of the mesh and faces ----

static bool pierces(const mo_cut_work *w, const double *p, const double *q, int axis, int32_t plane)
{
    int b = (axis + 1) % 3, d = (axis + 2) % 3, up = mo_against_plane(q[axis], plane);
    if (up == mo_against_plane(p[axis], plane)) return false;
    for (int s = 0; s < 2; s++) {
        int32_t node[3];
        node[axis] = plane, node[b] = w->base[b] + s, node[d] = w->base[d] + s;
        int past = 1 - 2 * s; // beyond the low line, before the high one
        if (mo_orient_line(p, q, d, node) * up != -past || mo_orient_line(p, q, b, node) * up != past) return false;
    }
    return true;
}

static bool add_node(mo_cut_face *f, double x, double y, int32_t edge, int on, int32_t hit)
{
    int32_t n = f->nodes;
    if (n == MO_CUT_NODES) return false;
    f->x[n][0] = x > 0 ? x < 1 ? x : 1 : 0, f->x[n][1] = y > 0 ? y < 1 ? y : 1 : 0;
    f->edge[n] = edge, f->on[n] = (int8_t)on, f->hit[n] = (int16_t)hit;
    f->nodes++;
    return true;
}

static bool pierce_faces(mo_cut_work *w, int32_t edge, bool *met)
{
    const mo_cut_mesh *m = w->walls.mesh;
    const double *p = m->x[m->edges.vertex[edge][0]], *q = m->x[m->edges.vertex[edge][1]];
    for (int k = 0; k < 6; k++) {
        int a = k / 2, b = (a + 1) % 3, d = (a + 2) % 3;
        int32_t plane = w->base[a] + k % 2;
        if (!pierces(w, p, q, a, plane)) continue;
        double t = (plane - p[a]) / (q[a] - p[a]), x = p[b] - w->base[b], y = p[d] - w->base[d];
        *met = true;
        if (!add_node(&w->face[k], x + t * (q[b] - p[b]), y + t * (q[d] - p[d]), edge, -1, -1)) return false;
    }
    return true;
}

static bool holds(const mo_cut_work *w, const double *x)
{
    for (int k = 0; k < 3; k++)
        if (!(x[k] > w->base[k]) || x[k] > w->base[k] + 1) return false;
    return true;
}

// Every edge once: with the first of its triangles. One whose first triangle is elsewhere does not meet the cell.
static bool find_edges(mo_cut_work *w)
{
    const mo_sheet_edges *e = &w->walls.mesh->edges;
    w->edges = 0, w->walls.border = false;
    for (int32_t t = 0; t < w->walls.count; t++)
        for (int k = 0; k < 3; k++) {
            int32_t edge = e->of[w->triangle[t]][k], first = e->around[e->first[edge]];
            if (first != 4 * w->triangle[t] + k) continue;
            bool met = holds(w, w->walls.mesh->x[e->vertex[edge][0]]) || holds(w, w->walls.mesh->x[e->vertex[edge][1]]);
            if (!pierce_faces(w, edge, &met)) return false;
            if (!met) continue;
            w->met[w->edges++] = edge;
            int32_t around = e->first[edge + 1] - e->first[edge], last = e->around[e->first[edge + 1] - 1] / 4;
            bool ends = around == 2 && first / 4 < w->walls.mesh->real && last >= w->walls.mesh->real;
            w->walls.border |= ends; // one real triangle and the strip that continues it
            MO_ASSERT(mo_cut_search(w->walls.count, w->triangle, last) >= 0);
        }
    return true;
}

// ---- Segments ----

typedef struct end {
    int32_t node;
    int sort; // 1: the triangle's rim rises through the face here, -1: it falls; 0: at the rim of the face
    int left; // sign of the triangle's side on the left when one comes here
} end;

// Where mesh edges of a triangle pass through the face; -1: it does not meet the face's plane.
static int ends_inside(const mo_cut_work *w, const mo_cut_face *f, int32_t t, int axis, int32_t plane, end *list)
{
    const int32_t *edge = w->walls.mesh->edges.of[w->triangle[t]];
    int count = 0, above = 0;
    for (int k = 0; k < 3; k++) above += mo_against_plane(corner_of(w, t, k)[axis], plane) > 0;
    if (above == 0 || above == 3) return -1;
    for (int32_t n = 4; n < f->nodes; n++)
        for (int k = 0; k < 3 && f->edge[n] >= 0; k++)
            if (f->edge[n] == edge[k] && count < 4)
                list[count++] = (end){n, mo_against_plane(corner_of(w, t, (k + 1) % 3)[axis], plane), 0};
    return count;
}

static int ends_on_rim(const mo_cut_face *f, const mo_cut_edge *const edge[4], int32_t t, int count, end *list)
{
    for (int32_t n = 4; n < f->nodes; n++) {
        if (f->on[n] < 0) continue;
        const mo_cut_hit *h = &edge[f->on[n]]->hit[f->hit[n]];
        if (h->triangle != t || count >= 4) continue;
        list[count++] = (end){n, 0, f->on[n] < 2 ? -h->first : h->first}; // the corner that comes next on the rim
    }
    return count;
}

static bool add_segment(mo_cut_face *f, int32_t t, int count, const end *e)
{
    if (count == 0) return true;
    if (count != 2 || f->segments == MO_CUT_SEGMENTS) return false;
    bool forward = e[1].sort == 0 ? e[1].left > 0 : e[0].sort == 0 ? e[0].left < 0 : e[0].sort > 0;
    int16_t from = (int16_t)e[!forward].node, to = (int16_t)e[forward].node;
    f->segment[f->segments++] = (mo_cut_segment){from, to, (int16_t)t};
    return true;
}

static void edges_of_face(const mo_cut_work *w, int k, const mo_cut_edge *edge[4])
{
    int a = k / 2, s = k % 2, b = (a + 1) % 3, d = (a + 2) % 3;
    edge[0] = &w->edge[4 * b + 2 * s], edge[1] = &w->edge[4 * d + s + 2];
    edge[2] = &w->edge[4 * b + 1 + 2 * s], edge[3] = &w->edge[4 * d + s];
}

static bool rim_nodes(mo_cut_face *f, const mo_cut_edge *const edge[4])
{
    for (int side = 0; side < 4; side++)
        for (int32_t h = 0; h < edge[side]->count; h++) {
            double at = edge[side]->hit[h].at, far = side == 1 || side == 2;
            if (!add_node(f, side % 2 ? far : at, side % 2 ? at : far, -1, side, h)) return false;
        }
    return true;
}

static void divide_face(mo_cut_work *w, int k)
{
    mo_cut_face *f = &w->face[k];
    const mo_cut_edge *edge[4];
    edges_of_face(w, k, edge);
    f->segments = 0, f->regions = -1;
    if (!rim_nodes(f, edge)) return;
    if (f->nodes == 4) {
        f->regions = 1, f->area[0] = 1, f->moment[0][0] = f->moment[0][1] = 0.5;
        for (int side = 0; side < 4; side++) f->interval[side][0] = 0;
        return;
    }
    for (int32_t t = 0; t < w->walls.count; t++) {
        end list[4];
        int count = ends_inside(w, f, t, k / 2, w->base[k / 2] + k % 2, list);
        if (count < 0) continue; // beside the face's plane
        if (!add_segment(f, t, ends_on_rim(f, edge, t, count, list), list)) return;
    }
    mo_cut_face_divide(f, edge, &w->walls);
}

static void find_tangles(mo_cut_work *w)
{
    memset(w->tangled, 0, sizeof w->tangled);
    for (int32_t i = 0; i < w->walls.count; i++)
        for (int32_t j = 0; j < i; j++)
            if (mo_cut_is_wall(&w->walls, i) && mo_cut_is_wall(&w->walls, j) && !(w->tangled[i] && w->tangled[j]) &&
                mo_cut_tangled(w->walls.mesh, w->triangle[i], w->triangle[j]))
                w->tangled[i] = w->tangled[j] = 1;
}

bool mo_cut_work_begin(mo_cut_work *w, const mo_cut_mesh *mesh, const int32_t base[3], int32_t count,
                       const int32_t *triangle)
{
    memcpy(w->base, base, sizeof w->base);
    w->walls = (mo_cut_walls){mesh, count, false, w->triangle, w->tangled};
    if (count > MO_CUT_TRIANGLES) return false;
    memcpy(w->triangle, triangle, sizeof(int32_t) * (size_t)count);
    memset(w->sign, 0, sizeof w->sign[0] * (size_t)count);
    for (int k = 0; k < 6; k++) {
        w->face[k].nodes = 0;
        for (int c = 0; c < 4; c++) add_node(&w->face[k], c == 1 || c == 2, c >= 2, -1, -1, -1);
    }
    if (!find_hits(w) || !find_edges(w)) return false;
    find_tangles(w);
    for (int k = 0; k < 6; k++) divide_face(w, k);
    return true;
}

// ---- Clipping ----

// Keeps the part of a polygon with sign x_axis >= sign at.
static int clip_plane(double (*in)[3], int n, int axis, double sign, double at, double (*out)[3])
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double *p = in[i], *q = in[(i + 1) % n];
        double a = sign * (p[axis] - at), b = sign * (q[axis] - at);
        if (a >= 0) memcpy(out[count++], p, sizeof *out);
        if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
            for (int k = 0; k < 3; k++) out[count][k] = p[k] + (q[k] - p[k]) * (a / (a - b));
            out[count++][axis] = at;
        }
    }
    return count;
}

static bool all_within(double (*in)[3], int n, int axis, double sign, double at)
{
    for (int i = 0; i < n; i++)
        if (!(sign * (in[i][axis] - at) >= 0)) return false;
    return true;
}

int mo_cut_corners(const mo_cut_mesh *m, int32_t triangle, const int32_t base[3], double corner[MO_CUT_CORNERS][3])
{
    double room[2][MO_CUT_CORNERS][3], (*x)[3] = room[0];
    int n = 3;
    for (int k = 0; k < 9; k++) x[k / 3][k % 3] = m->x[m->triangle[triangle][k / 3]][k % 3] - base[k % 3];
    for (int k = 0; k < 6 && n > 0; k++) {
        double sign = k % 2 ? -1 : 1, at = k % 2;
        if (all_within(x, n, k / 2, sign, at)) continue;
        double(*out)[3] = x == room[0] ? room[1] : room[0];
        n = clip_plane(x, n, k / 2, sign, at, out), x = out;
    }
    memcpy(corner, x, sizeof *x * (size_t)n);
    return n;
}

bool mo_cut_area(int n, double (*x)[3], double vector[3], double centre[3])
{
    double part[MO_CUT_CORNERS][3], all = 0;
    for (int k = 0; k < 3; k++) vector[k] = centre[k] = 0;
    for (int i = 1; i + 1 < n; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            double(*p)[3] = x;
            part[i][k] =
                0.5 * ((p[i][a] - p[0][a]) * (p[i + 1][b] - p[0][b]) - (p[i][b] - p[0][b]) * (p[i + 1][a] - p[0][a]));
            vector[k] += part[i][k];
        }
    for (int i = 1; i + 1 < n; i++) {
        double weight = 0;
        for (int k = 0; k < 3; k++) weight += part[i][k] * vector[k];
        for (int k = 0; k < 3; k++) centre[k] += weight * (x[0][k] + x[i][k] + x[i + 1][k]) / 3;
        all += weight;
    }
    if (!(all > 1e-300)) return false;
    for (int k = 0; k < 3; k++) centre[k] /= all;
    return true;
}

bool mo_cut_clip(const mo_cut_mesh *m, int32_t triangle, const int32_t base[3], double vector[3], double centre[3])
{
    double corner[MO_CUT_CORNERS][3];
    return mo_cut_area(mo_cut_corners(m, triangle, base, corner), corner, vector, centre);
}
