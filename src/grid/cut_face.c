// Divides a face of the lattice into regions: the parts of the square between the segments in which triangles meet it.
//
// Regions are the cycles of half-edges that keep the region on their left. At the rim and where a mesh edge with two
// triangles passes, the next half-edge is known without comparing angles; only junctions and crossings need them.
#include "geometry/predicates.h"
#include "grid/cut_cell.h"
#include <math.h>
#include <string.h>

enum {
    PIECES = 2 * MO_CUT_SEGMENTS, // of segments between crossings
    RIM = 4 * (MO_CUT_HITS + 1),  // parts of the rim
    HALVES = 2 * PIECES + RIM     // half-edges: two of each piece, one of each part of the rim
};

typedef struct drawing {
    mo_cut_face *f;
    int32_t pieces, rims;
    int16_t from[PIECES], to[PIECES], of[PIECES]; // nodes, and the segment
    int16_t rim_from[RIM], rim_to[RIM];
    int16_t next[HALVES], region[HALVES];
    int16_t group[MO_CUT_NODES]; // connected nodes
    bool full;                   // something did not fit, or contradicts itself
} drawing;

// ---- Crossings ----

static int32_t new_node(mo_cut_face *f, double x, double y)
{
    int32_t n = f->nodes;
    if (n == MO_CUT_NODES) return -1;
    f->x[n][0] = x, f->x[n][1] = y, f->edge[n] = -1, f->on[n] = -1, f->hit[n] = -1;
    f->nodes++;
    return n;
}

static double gap_between(double a0, double a1, double b0, double b1)
{
    return mo_cut_more(mo_cut_less(a0, a1), mo_cut_less(b0, b1)) -
           mo_cut_less(mo_cut_more(a0, a1), mo_cut_more(b0, b1));
}

static double point_distance(const double *p, const double *a, const double *b)
{
    double ex = b[0] - a[0], ey = b[1] - a[1], px = p[0] - a[0], py = p[1] - a[1], ee = ex * ex + ey * ey;
    double t = ee > 0 ? (px * ex + py * ey) / ee : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(px - t * ex, py - t * ey);
}

enum { APART, CLOSE, CROSS, TOUCH };

// How two segments lie: further apart than 1e-9 or closer, crossing (*at: where on the first), or touching. `place` has
// one node for all nodes at one place that segments without length connect.
static int meet(const mo_cut_face *f, const int16_t *place, const mo_cut_segment *s, const mo_cut_segment *r,
                double *at)
{
    const double *a = f->x[s->from], *b = f->x[s->to], *c = f->x[r->from], *d = f->x[r->to];
    int16_t i = place[s->from], j = place[s->to], k = place[r->from], l = place[r->to];
    if (i == k || i == l || j == k || j == l) return APART;
    if (gap_between(a[0], b[0], c[0], d[0]) > 1e-9 || gap_between(a[1], b[1], c[1], d[1]) > 1e-9) return APART;
    int side_c = mo_orient2d(a, b, c), side_d = mo_orient2d(a, b, d);
    int side_a = mo_orient2d(c, d, a), side_b = mo_orient2d(c, d, b);
    if (side_c * side_d < 0 && side_a * side_b < 0) {
        double ux = b[0] - a[0], uy = b[1] - a[1], vx = d[0] - c[0], vy = d[1] - c[1], det = ux * vy - uy * vx;
        *at = ((c[0] - a[0]) * vy - (c[1] - a[1]) * vx) / det;
        return *at > 0 && *at < 1 ? CROSS : TOUCH;
    }
    bool line = !side_a && !side_b && !side_c && !side_d;
    if (side_c * side_d <= 0 && side_a * side_b <= 0 &&
        (!line || (gap_between(a[0], b[0], c[0], d[0]) <= 0 && gap_between(a[1], b[1], c[1], d[1]) <= 0)))
        return TOUCH;
    double near = mo_cut_less(mo_cut_less(point_distance(a, c, d), point_distance(b, c, d)),
                              mo_cut_less(point_distance(c, a, b), point_distance(d, a, b)));
    return near < 1e-9 ? CLOSE : APART;
}

static int32_t root(int16_t *group, int32_t n)
{
    while (group[n] != n) n = group[n] = group[group[n]];
    return n;
}

// Triangles without area connect nodes at one place. False: more than two segments meet there, and their order cannot
// be found.
static bool find_places(const mo_cut_face *f, int16_t *place)
{
    uint8_t meets[MO_CUT_NODES];
    bool thin = false;
    for (int32_t n = 0; n < f->nodes; n++) place[n] = (int16_t)n;
    for (int32_t k = 0; k < f->segments; k++) {
        int32_t a = f->segment[k].from, b = f->segment[k].to;
        if (f->x[a][0] != f->x[b][0] || f->x[a][1] != f->x[b][1]) continue;
        place[root(place, a)] = (int16_t)root(place, b), thin = true;
    }
    if (!thin) return true;
    for (int32_t n = 0; n < f->nodes; n++) place[n] = (int16_t)root(place, n), meets[n] = 0;
    for (int32_t k = 0; k < f->segments; k++) {
        int32_t a = place[f->segment[k].from], b = place[f->segment[k].to];
        if (a != b) meets[a]++, meets[b]++;
    }
    for (int32_t n = 0; n < f->nodes; n++)
        if (place[n] != n && meets[place[n]] > 2) return false;
    return true;
}

typedef struct crossing {
    int16_t segment, node;
    double at;
} crossing;

static bool share_vertex(const mo_cut_walls *w, int32_t s, int32_t r)
{
    const int32_t *a = w->mesh->triangle[w->all[s]], *b = w->mesh->triangle[w->all[r]];
    for (int k = 0; k < 3; k++)
        if (a[k] == b[0] || a[k] == b[1] || a[k] == b[2]) return true;
    return false;
}

static void note(mo_cut_walls *w, int32_t s, int32_t r, bool cross)
{
    if (!mo_cut_is_wall(w, s) || !mo_cut_is_wall(w, r) || (!cross && share_vertex(w, s, r))) return;
    w->tangled[s] = w->tangled[r] = 1;
}

// If segments touch, the sides cannot be determined; then the face is closed.
static int32_t find_crossings(mo_cut_face *f, mo_cut_walls *walls, crossing *list, bool *full)
{
    int32_t count = 0, segments = f->segments;
    int16_t place[MO_CUT_NODES];
    *full = !find_places(f, place);
    for (int32_t i = 0; i < segments; i++)
        for (int32_t j = 0; j < i; j++) {
            const mo_cut_segment *s = &f->segment[i], *r = &f->segment[j];
            double at = 0, back = 0;
            int how = meet(f, place, s, r, &at);
            if (how == APART) continue;
            note(walls, s->triangle, r->triangle, how != CLOSE);
            if (how == CROSS) how = meet(f, place, r, s, &back);
            if (how == TOUCH) *full = true;
            if (how != CROSS) continue;
            const double *a = f->x[s->from], *b = f->x[s->to];
            int32_t node = new_node(f, a[0] + at * (b[0] - a[0]), a[1] + at * (b[1] - a[1]));
            if (node < 0 || count + 2 > PIECES - MO_CUT_SEGMENTS) {
                *full = true;
                return count;
            }
            list[count++] = (crossing){(int16_t)i, (int16_t)node, at};
            list[count++] = (crossing){(int16_t)j, (int16_t)node, back};
        }
    return count;
}

static void cut_segments(drawing *w, const crossing *list, int32_t count)
{
    for (int32_t i = 0; i < w->f->segments; i++) {
        const mo_cut_segment *s = &w->f->segment[i];
        int16_t last = s->from;
        double after = -1;
        for (;;) { // the nearest crossing behind the last one
            int32_t best = -1;
            for (int32_t k = 0; k < count; k++)
                if (list[k].segment == i && list[k].at > after && (best < 0 || list[k].at < list[best].at)) best = k;
            int32_t p = w->pieces++;
            w->from[p] = last, w->to[p] = best < 0 ? s->to : list[best].node, w->of[p] = (int16_t)i;
            if (best < 0) break;
            last = list[best].node, after = list[best].at;
        }
    }
}

// ---- Half-edges: 2 p along a piece, 2 p + 1 back, then the rim ----

static int32_t from_of(const drawing *w, int32_t h)
{
    if (h >= 2 * w->pieces) return w->rim_from[h - 2 * w->pieces];
    return h & 1 ? w->to[h / 2] : w->from[h / 2];
}
static int32_t to_of(const drawing *w, int32_t h)
{
    if (h >= 2 * w->pieces) return w->rim_to[h - 2 * w->pieces];
    return h & 1 ? w->from[h / 2] : w->to[h / 2];
}

// The rim, counter-clockwise; corners are nodes 0..3. Nodes with hits lie between, `at_hit` has them.
static void draw_rim(drawing *w, const mo_cut_edge *const edge[4], int16_t at_hit[4][MO_CUT_HITS])
{
    for (int side = 0; side < 4; side++) {
        int32_t count = edge[side]->count, last = side;
        for (int32_t k = 0; k <= count; k++) {
            int32_t hit = side < 2 ? k : count - 1 - k, to = k == count ? (side + 1) % 4 : at_hit[side][hit];
            w->full |= to < 0;
            w->rim_from[w->rims] = (int16_t)last, w->rim_to[w->rims++] = (int16_t)to;
            last = to;
        }
    }
}

static double angle_key(const drawing *w, int32_t h)
{
    const double *a = w->f->x[from_of(w, h)], *b = w->f->x[to_of(w, h)];
    double x = b[0] - a[0], y = b[1] - a[1], n = fabs(x) + fabs(y);
    return n == 0 ? 0 : y >= 0 ? 1 - x / n : 3 + x / n; // grows with the angle, 0..4
}

// Links at a node inside the face: a half-edge that arrives is followed by the next one clockwise from where it came.
static void link_inside(drawing *w, int32_t *out, int32_t count)
{
    for (int32_t i = 1; i < count && count > 2; i++) { // sorted by angle
        int32_t h = out[i], j = i;
        double key = angle_key(w, h);
        for (; j > 0 && angle_key(w, out[j - 1]) > key; j--) out[j] = out[j - 1];
        out[j] = h;
    }
    for (int32_t i = 0; i < count; i++) w->next[out[i] ^ 1] = (int16_t)out[(i + count - 1) % count];
}

static void link_all(drawing *w)
{
    int32_t first[MO_CUT_NODES + 1], out[2 * PIECES], end[MO_CUT_NODES];
    int32_t rim_in[MO_CUT_NODES], rim_out[MO_CUT_NODES], nodes = w->f->nodes;
    for (int32_t n = 0; n < nodes; n++) rim_in[n] = rim_out[n] = -1, first[n + 1] = 0;
    first[0] = 0;
    for (int32_t r = 0; r < w->rims; r++)
        rim_out[w->rim_from[r]] = 2 * w->pieces + r, rim_in[w->rim_to[r]] = 2 * w->pieces + r;
    for (int32_t h = 0; h < 2 * w->pieces; h++) first[from_of(w, h) + 1]++;
    for (int32_t n = 0; n < nodes; n++) first[n + 1] += first[n], end[n] = first[n];
    for (int32_t h = 0; h < 2 * w->pieces; h++) out[end[from_of(w, h)]++] = h;
    for (int32_t n = 0; n < nodes; n++) {
        int32_t count = first[n + 1] - first[n], *list = out + first[n];
        if (rim_in[n] < 0) {
            link_inside(w, list, count);
        } else if (count == 0) {
            w->next[rim_in[n]] = (int16_t)rim_out[n];
        } else { // one segment leaves the rim here
            w->full |= count != 1;
            w->next[rim_in[n]] = (int16_t)list[0], w->next[list[0] ^ 1] = (int16_t)rim_out[n];
        }
    }
}

// ---- Cycles ----

typedef struct cycle {
    double area, moment[2];
    int32_t start, group; // a half-edge; connected part of the drawing
} cycle;

static void add_edge(cycle *c, const double *a, const double *b)
{
    double cross = a[0] * b[1] - b[0] * a[1];
    c->area += 0.5 * cross;
    for (int k = 0; k < 2; k++) c->moment[k] += (a[k] + b[k]) * cross / 6;
}

static void group_nodes(drawing *w)
{
    for (int32_t n = 0; n < w->f->nodes; n++) w->group[n] = (int16_t)n;
    for (int32_t p = 0; p < w->pieces; p++) {
        int32_t a = root(w->group, w->from[p]), b = root(w->group, w->to[p]);
        w->group[a > b ? a : b] = (int16_t)(a < b ? a : b);
    }
    for (int32_t r = 0; r < w->rims; r++) {
        int32_t a = root(w->group, w->rim_from[r]), b = root(w->group, w->rim_to[r]);
        w->group[a > b ? a : b] = (int16_t)(a < b ? a : b);
    }
}

static int32_t trace(drawing *w, cycle *list)
{
    int32_t halves = 2 * w->pieces + w->rims, count = 0;
    for (int32_t h = 0; h < halves; h++) w->region[h] = -1;
    for (int32_t h = 0; h < halves; h++) {
        if (w->region[h] >= 0) continue;
        if (count == MO_CUT_REGIONS) return -1;
        cycle *c = &list[count];
        *c = (cycle){.start = h, .group = root(w->group, from_of(w, h))};
        for (int32_t e = h; w->region[e] < 0; e = w->next[e]) {
            w->region[e] = (int16_t)count;
            add_edge(c, w->f->x[from_of(w, e)], w->f->x[to_of(w, e)]);
        }
        count++;
    }
    return count;
}

// A drawing in the plane with V nodes and E edges, connected, has E - V + 1 regions, and one cycle outside.
static bool is_plane(const drawing *w, const cycle *list, int32_t count)
{
    int32_t surplus[MO_CUT_NODES]; // by group
    for (int32_t n = 0; n < w->f->nodes; n++) surplus[n] = 0;
    for (int32_t n = 0; n < w->f->nodes; n++) surplus[root((int16_t *)w->group, n)]--;
    for (int32_t p = 0; p < w->pieces; p++) surplus[root((int16_t *)w->group, w->from[p])]++;
    for (int32_t r = 0; r < w->rims; r++) surplus[root((int16_t *)w->group, w->rim_from[r])]++;
    for (int32_t k = 0; k < count; k++) surplus[list[k].group]--;
    for (int32_t n = 0; n < w->f->nodes; n++)
        if (w->group[n] == n && surplus[n] != (n == 0 ? -1 : -2)) return false; // the rim has no cycle outside
    return true;
}

static bool contains(const drawing *w, const cycle *c, const double *p)
{
    bool odd = false;
    int32_t e = c->start;
    do {
        const double *a = w->f->x[from_of(w, e)], *b = w->f->x[to_of(w, e)];
        if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1])) odd = !odd;
        e = w->next[e];
    } while (e != c->start);
    return odd;
}

// The outermost cycle of every part that does not touch the rim bounds a hole in the region that holds the part.
static bool place_holes(const drawing *w, const cycle *list, int32_t count, int16_t *owner)
{
    for (int32_t k = 0; k < count; k++) owner[k] = (int16_t)k;
    for (int32_t n = 0; n < w->f->nodes; n++) {
        if (w->group[n] != n || root((int16_t *)w->group, 0) == n) continue;
        int32_t outer = -1, home = -1;
        for (int32_t k = 0; k < count; k++)
            if (list[k].group == n && (outer < 0 || list[k].area < list[outer].area)) outer = k;
        if (outer < 0) return false;
        for (int32_t k = 0; k < count; k++)
            if (list[k].group != n && list[k].area > 0 && contains(w, &list[k], w->f->x[n]) &&
                (home < 0 || list[k].area < list[home].area))
                home = k;
        if (home < 0) return false;
        owner[outer] = (int16_t)home;
    }
    return true;
}

// ---- Regions ----

static void number_regions(drawing *w, const cycle *list, int32_t count, const int16_t *owner)
{
    mo_cut_face *f = w->f;
    int16_t number[MO_CUT_REGIONS];
    f->regions = 0;
    for (int32_t k = 0; k < count; k++)
        if (owner[k] == k) {
            number[k] = (int16_t)f->regions;
            f->area[f->regions] = 0, f->moment[f->regions][0] = f->moment[f->regions][1] = 0, f->regions++;
        }
    for (int32_t k = 0; k < count; k++) {
        int32_t r = number[owner[k]];
        f->area[r] += list[k].area;
        for (int a = 0; a < 2; a++) f->moment[r][a] += list[k].moment[a];
    }
    for (int32_t h = 0; h < 2 * w->pieces + w->rims; h++) w->region[h] = number[owner[w->region[h]]];
}

static void tell_neighbours(const drawing *w, const mo_cut_edge *const edge[4])
{
    mo_cut_face *f = w->f;
    int32_t rim = 2 * w->pieces;
    for (int side = 0; side < 4; side++)
        for (int32_t k = 0, count = edge[side]->count; k <= count; k++)
            f->interval[side][side < 2 ? k : count - k] = w->region[rim++];
    f->segments = 0; // from here on pieces are the segments
    for (int32_t p = 0; p < w->pieces && p < MO_CUT_SEGMENTS; p++) {
        f->beside[2 * p] = w->region[2 * p], f->beside[2 * p + 1] = w->region[2 * p + 1];
        f->segments++;
    }
}

void mo_cut_face_divide(mo_cut_face *f, const mo_cut_edge *const edge[4], mo_cut_walls *walls)
{
    drawing w;
    crossing cross[PIECES - MO_CUT_SEGMENTS];
    cycle list[MO_CUT_REGIONS];
    int16_t owner[MO_CUT_REGIONS], at_hit[4][MO_CUT_HITS], triangle[PIECES];
    w.f = f, w.pieces = w.rims = 0, w.full = false;
    memset(at_hit, 0xff, sizeof at_hit);
    for (int32_t n = 0; n < f->nodes; n++)
        if (f->on[n] >= 0) at_hit[f->on[n]][f->hit[n]] = (int16_t)n;
    f->regions = -1;
    int32_t crossings = find_crossings(f, walls, cross, &w.full);
    if (w.full) return;
    cut_segments(&w, cross, crossings);
    draw_rim(&w, edge, at_hit);
    if (w.full || w.pieces > MO_CUT_SEGMENTS) return;
    link_all(&w);
    if (w.full) return;
    group_nodes(&w);
    int32_t count = trace(&w, list);
    if (count < 0 || !is_plane(&w, list, count) || !place_holes(&w, list, count, owner)) return;
    number_regions(&w, list, count, owner);
    for (int32_t p = 0; p < w.pieces; p++) triangle[p] = f->segment[w.of[p]].triangle;
    tell_neighbours(&w, edge);
    for (int32_t p = 0; p < w.pieces; p++) f->segment[p] = (mo_cut_segment){w.from[p], w.to[p], triangle[p]};
}
