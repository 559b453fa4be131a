// The sides of a cell: regions of its faces and sides of its triangles are joined where it is proven that one can pass.
//
//     regions of two faces           along every part of the edge that they share
//     a region and a triangle        along the segment in which the triangle meets the face
//     triangles round a mesh edge    the sides that face each other; a border's own two
//
// Tangled triangles take no part. Strips are walls where a border passes and nothing elsewhere.
#include "grid/cut_cell.h"
#include <math.h>
#include <string.h>

enum { ELEMENTS = 6 * MO_CUT_REGIONS + 2 * MO_CUT_TRIANGLES, MOST_PARTS = 4 * MO_CUT_TRIANGLES };
// A side whose largest opening is below 1e-6 of a face is a pocket: its row would be rounding, divided by that.
static const double least_opening = 1e-6, least_gap = 1e-3;

typedef struct joining {
    mo_cut_work *w;
    int32_t first[7];         // regions of each face
    int16_t parent[ELEMENTS]; // regions, then for every triangle its + and its -
    int16_t side[ELEMENTS];   // of roots; -1: none
    double volume[6 * MO_CUT_REGIONS];
    int32_t sides;
    mo_cut_part part[MOST_PARTS];
    int32_t parts;
    mo_cut_opening opening[2 * MO_CUT_TRIANGLES];
    int32_t openings;
} joining;

static int32_t root(joining *j, int32_t e)
{
    while (j->parent[e] != e) e = j->parent[e] = j->parent[j->parent[e]];
    return e;
}

static void join(joining *j, int32_t a, int32_t b)
{
    a = root(j, a), b = root(j, b);
    j->parent[a > b ? a : b] = (int16_t)(a < b ? a : b); // regions come first, so they are the roots
}

static int32_t of_triangle(const joining *j, int32_t t, bool minus) { return j->first[6] + 2 * t + minus; }

// ---- Joins ----

// Each edge of the cell is edge `side` of one face and edge `other_side` of another.
static void join_faces(joining *j)
{
    int32_t face[12][2], side[12][2], seen[12] = {0};
    for (int k = 0; k < 6; k++) {
        int a = k / 2, s = k % 2, b = (a + 1) % 3, d = (a + 2) % 3;
        int edge[4] = {4 * b + 2 * s, 4 * d + s + 2, 4 * b + 1 + 2 * s, 4 * d + s};
        for (int e = 0; e < 4; e++) face[edge[e]][seen[edge[e]]] = k, side[edge[e]][seen[edge[e]]++] = e;
    }
    for (int e = 0; e < 12; e++) {
        const mo_cut_face *f = j->w->face + face[e][0], *g = j->w->face + face[e][1];
        if (f->regions < 0 || g->regions < 0) continue;
        for (int32_t k = 0; k <= j->w->edge[e].count; k++)
            join(j, j->first[face[e][0]] + f->interval[side[e][0]][k],
                 j->first[face[e][1]] + g->interval[side[e][1]][k]);
    }
}

static void join_segments(joining *j)
{
    for (int k = 0; k < 6; k++) {
        const mo_cut_face *f = &j->w->face[k];
        for (int32_t s = 0; f->regions > 0 && s < f->segments; s++) {
            int32_t t = f->segment[s].triangle, left = j->first[k] + f->beside[2 * s],
                    right = j->first[k] + f->beside[2 * s + 1];
            if (!mo_cut_is_wall(&j->w->walls, t)) join(j, left, right);
            if (!mo_cut_is_wall(&j->w->walls, t) || j->w->tangled[t]) continue;
            if (j->w->walls.mesh->thin[j->w->triangle[t]]) continue; // what is beside a point may be anything
            join(j, left, of_triangle(j, t, false));
            join(j, right, of_triangle(j, t, true));
        }
    }
}

typedef struct leaf { // a triangle at a mesh edge
    int32_t triangle; // in the cell
    bool along;       // its + side looks towards growing angles
    double key;       // grows with the angle
} leaf;

// Angles round an edge of three triangles or more.
static void find_keys(const mo_cut_mesh *m, int32_t edge, int32_t count, leaf *list)
{
    const int32_t *ends = m->edges.vertex[edge], *around = m->edges.around + m->edges.first[edge];
    mo_vec3 a = mo_v3(m->x[ends[0]][0], m->x[ends[0]][1], m->x[ends[0]][2]), u = {0, 0, 0}, v = {0, 0, 0};
    mo_vec3 e = mo_normalize(mo_sub(mo_v3(m->x[ends[1]][0], m->x[ends[1]][1], m->x[ends[1]][2]), a));
    for (int32_t k = 0; k < count; k++) {
        const double *x = m->x[m->triangle[around[k] / 4][(around[k] % 4 + 2) % 3]];
        mo_vec3 r = mo_sub(mo_v3(x[0], x[1], x[2]), a);
        r = mo_normalize(mo_mad(r, -mo_dot(r, e), e));
        if (k == 0) u = r, v = mo_cross(e, u);
        double c = mo_dot(r, u), s = mo_dot(r, v), n = fabs(c) + fabs(s);
        list[k].key = k == 0 || n == 0 ? 0 : s >= 0 ? 1 - c / n : 3 + c / n;
    }
    for (int32_t i = 1; i < count; i++) {
        leaf l = list[i];
        int32_t j = i;
        for (; j > 0 && list[j - 1].key > l.key; j--) list[j] = list[j - 1];
        list[j] = l;
    }
}

static void join_round_edge(joining *j, int32_t edge)
{
    enum { MOST = 32 };
    const mo_cut_mesh *m = j->w->walls.mesh;
    int32_t first = m->edges.first[edge], count = m->edges.first[edge + 1] - first;
    leaf list[MOST];
    if (count > MOST) return;
    for (int32_t k = 0; k < count; k++) {
        int32_t where = m->edges.around[first + k], t = mo_cut_search(j->w->walls.count, j->w->triangle, where / 4);
        if (t < 0) return;
        list[k] = (leaf){t, m->triangle[where / 4][where % 4] == m->edges.vertex[edge][0], 0};
        if (!mo_cut_is_wall(&j->w->walls, t)) return; // nothing ends here that is a wall
    }
    if (count > 2) find_keys(m, edge, count, list);
    for (int32_t k = 0; k < count; k++) { // what looks forward from one and back from the next
        const leaf *a = &list[k], *b = &list[(k + 1) % count];
        if (j->w->tangled[a->triangle] || j->w->tangled[b->triangle]) continue;
        join(j, of_triangle(j, a->triangle, !a->along), of_triangle(j, b->triangle, b->along));
    }
}

// ---- Sides ----

static void join_all(joining *j)
{
    for (int k = 0; k < 6; k++) {
        int32_t regions = j->w->face[k].regions;
        j->first[k + 1] = j->first[k] + (regions > 0 ? regions : 0);
    }
    for (int32_t e = 0; e < j->first[6] + 2 * j->w->walls.count; e++) j->parent[e] = (int16_t)e, j->side[e] = -1;
    join_faces(j);
    join_segments(j);
    for (int32_t k = 0; k < j->w->edges; k++) join_round_edge(j, j->w->met[k]);
}

// Corners of a cell: in faces of axis 0.
static int32_t corner_region(const joining *j, int corner)
{
    int k = corner & 1, b = corner >> 1 & 1, d = corner >> 2;
    const mo_cut_face *f = &j->w->face[k];
    const mo_cut_edge *e = &j->w->edge[4 + d + 2 * k];
    return f->regions < 0 ? -1 : j->first[k] + f->interval[d ? 2 : 0][b ? e->count : 0];
}

// Sides have openings on faces. The one that owns most corners is the first.
static void number_sides(joining *j, mo_cut_cell *out)
{
    double open[6 * MO_CUT_REGIONS];
    int32_t corners[6 * MO_CUT_REGIONS], first = -1;
    for (int32_t e = 0; e < j->first[6]; e++) open[e] = corners[e] = 0;
    for (int k = 0; k < 6; k++)
        for (int32_t r = 0; r < j->w->face[k].regions; r++) {
            int32_t e = root(j, j->first[k] + r);
            open[e] = mo_cut_more(open[e], j->w->face[k].area[r]);
        }
    for (int c = 0; c < 8; c++) {
        int32_t e = corner_region(j, c);
        if (e < 0) continue;
        e = root(j, e), corners[e]++;
    }
    for (int32_t e = 0; e < j->first[6]; e++)
        if (j->parent[e] == e && open[e] > least_opening && (first < 0 || corners[e] > corners[first])) first = e;
    if (first >= 0) j->side[first] = (int16_t)j->sides++;
    for (int32_t e = 0; e < j->first[6]; e++) {
        if (j->parent[e] != e || e == first) continue;
        if (open[e] > least_opening && j->sides < MO_CUT_SIDES)
            j->side[e] = (int16_t)j->sides++;
        else
            out->pockets++;
    }
    for (int c = 0; c < 8; c++) {
        int32_t e = corner_region(j, c);
        out->corner[c] = e < 0 ? -1 : j->side[root(j, e)];
    }
}

// ---- Walls and gaps ----

static void add_part(joining *j, int32_t triangle, int32_t side, double share, const double *vector,
                     const double *centre)
{
    if (side < 0 || share == 0 || j->parts == MOST_PARTS) return;
    const mo_cut_mesh *m = j->w->walls.mesh;
    mo_cut_part *p = &j->part[j->parts++];
    *p = (mo_cut_part){.triangle = triangle < m->real ? triangle : m->host[triangle - m->real], .side = side};
    for (int k = 0; k < 3; k++) p->vector[k] = share * vector[k], p->centre[k] = centre[k];
}

// One side of a triangle in this cell belongs to a side of the cell; of a tangled one, to several, by the lengths of
// its segments.
static void add_wall(joining *j, int32_t t, bool minus, const double *vector, const double *centre)
{
    double sign = minus ? 1 : -1, all = 0, length[MO_CUT_SIDES]; // outwards: from the + side against the normal
    int32_t e = root(j, of_triangle(j, t, minus));
    if (e < j->first[6]) {
        add_part(j, j->w->triangle[t], j->side[e], sign, vector, centre);
        return;
    }
    for (int32_t s = 0; s < j->sides; s++) length[s] = 0;
    for (int k = 0; k < 6; k++) {
        const mo_cut_face *f = &j->w->face[k];
        for (int32_t s = 0; f->regions > 0 && s < f->segments; s++) {
            if (f->segment[s].triangle != t) continue;
            const double *a = f->x[f->segment[s].from], *b = f->x[f->segment[s].to];
            int32_t side = j->side[root(j, j->first[k] + f->beside[2 * s + minus])];
            double l = hypot(b[0] - a[0], b[1] - a[1]);
            all += l;
            if (side >= 0) length[side] += l;
        }
    }
    for (int32_t s = 0; s < j->sides && all > 0; s++)
        add_part(j, j->w->triangle[t], s, sign * length[s] / all, vector, centre);
}

static int32_t side_of(joining *j, int32_t t, bool minus)
{
    int32_t e = root(j, of_triangle(j, t, minus));
    return e < j->first[6] ? j->side[e] : -1;
}

static void add_triangle(joining *j, int32_t t)
{
    double vector[3], centre[3];
    const mo_cut_mesh *m = j->w->walls.mesh;
    int32_t plus = side_of(j, t, false), minus = side_of(j, t, true);
    bool strip = j->w->triangle[t] >= m->real;
    if (!mo_cut_is_wall(&j->w->walls, t) || (plus == minus && !j->w->tangled[t])) return;
    if (!mo_cut_clip(m, j->w->triangle[t], j->w->base, vector, centre)) return;
    if (strip && plus >= 0 && minus >= 0) {
        mo_cut_opening *o = &j->opening[j->openings++];
        *o = (mo_cut_opening){.low = minus, .high = plus, .triangle = j->w->triangle[t]};
        for (int k = 0; k < 3; k++) o->vector[k] = vector[k], o->centre[k] = centre[k];
        return;
    }
    for (int s = 0; s < 2; s++) add_wall(j, t, s, vector, centre);
}

static double area_of(const mo_cut_opening *o)
{
    return sqrt(o->vector[0] * o->vector[0] + o->vector[1] * o->vector[1] + o->vector[2] * o->vector[2]);
}

// Gaps between two sides that are small together are closed: what is there belongs to the sheet.
static void close_small_gaps(joining *j, const int32_t *triangle)
{
    int32_t kept = 0;
    double area[2 * MO_CUT_TRIANGLES];
    for (int32_t a = 0; a < j->openings; a++) area[a] = 0;
    for (int32_t a = 0; a < j->openings; a++)
        for (int32_t b = 0; b < j->openings; b++) {
            const mo_cut_opening *p = &j->opening[a], *q = &j->opening[b];
            if ((p->low == q->low && p->high == q->high) || (p->low == q->high && p->high == q->low))
                area[a] += area_of(q);
        }
    for (int32_t a = 0; a < j->openings; a++) {
        mo_cut_opening o = j->opening[a];
        if (area[a] >= least_gap) {
            j->opening[kept++] = o;
            continue;
        }
        add_part(j, triangle[a], o.low, 1, o.vector, o.centre);
        add_part(j, triangle[a], o.high, -1, o.vector, o.centre);
    }
    j->openings = kept;
}

static void add_walls(joining *j)
{
    int32_t triangle[2 * MO_CUT_TRIANGLES];
    for (int32_t t = 0; t < j->w->walls.count; t++) {
        int32_t before = j->openings;
        add_triangle(j, t);
        if (j->openings > before) triangle[before] = j->w->triangle[t];
    }
    close_small_gaps(j, triangle);
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Three volumes are the integral of x . n over the rim of a side.
static void find_volumes(joining *j)
{
    double *v = j->volume, all = 0;
    bool unproven = false;
    for (int k = 0; k < 6; k++) unproven |= j->w->face[k].regions < 0;
    for (int32_t t = 0; t < j->w->walls.count; t++) unproven |= j->w->tangled[t];
    for (int32_t s = 0; s < j->sides; s++) v[s] = 0;
    for (int k = 1; k < 6; k += 2)
        for (int32_t r = 0; r < j->w->face[k].regions; r++) {
            int32_t s = j->side[root(j, j->first[k] + r)];
            if (s >= 0) v[s] += j->w->face[k].area[r] / 3;
        }
    for (int32_t p = 0; p < j->parts; p++) v[j->part[p].side] += dot3(j->part[p].vector, j->part[p].centre) / 3;
    for (int32_t k = 0; k < j->openings; k++) {
        const mo_cut_opening *o = &j->opening[k];
        double part = dot3(o->vector, o->centre) / 3;
        v[o->low] += part, v[o->high] -= part;
    }
    for (int32_t s = 0; s < j->sides; s++) v[s] = v[s] > 0 ? v[s] : 0, all += v[s];
    if (unproven)
        for (int32_t s = 0; s < j->sides && all > 0; s++) v[s] /= all;
}

// ---- The result ----

static void *keep(mo_arena *arena, const void *what, size_t bytes)
{
    void *p = mo_arena_alloc(arena, bytes + 1);
    if (p && bytes) memcpy(p, what, bytes);
    return p;
}

static bool keep_faces(joining *j, mo_arena *arena, mo_cut_cell *out)
{
    for (int k = 0; k < 6; k++) {
        const mo_cut_face *f = &j->w->face[k];
        out->pieces[k] = f->regions > 0 ? f->regions : 0, out->closed |= f->regions < 0;
        out->piece[k] = MO_ARENA_ARRAY(arena, mo_cut_piece, out->pieces[k] + 1);
        if (!out->piece[k]) return false;
        for (int32_t r = 0; r < out->pieces[k]; r++) {
            mo_cut_piece *p = &out->piece[k][r];
            *p = (mo_cut_piece){.area = f->area[r], .side = j->side[root(j, j->first[k] + r)]};
            for (int a = 0; a < 2; a++) p->at[a] = f->area[r] > 0 ? f->moment[r][a] / f->area[r] : 0.5;
        }
    }
    return true;
}

static bool keep_all(joining *j, mo_arena *arena, mo_cut_cell *out)
{
    mo_cut_facing facing[MO_CUT_TRIANGLES];
    for (int32_t t = 0; t < j->w->walls.count; t++) {
        out->tangled += j->w->tangled[t];
        if (!mo_cut_is_wall(&j->w->walls, t)) continue;
        facing[out->facings++] =
            (mo_cut_facing){j->w->triangle[t], (int16_t)side_of(j, t, false), (int16_t)side_of(j, t, true)};
    }
    out->sides = j->sides, out->parts = j->parts, out->openings = j->openings;
    out->volume = keep(arena, j->volume, sizeof(double) * (size_t)j->sides);
    out->part = keep(arena, j->part, sizeof *j->part * (size_t)j->parts);
    out->opening = keep(arena, j->opening, sizeof *j->opening * (size_t)j->openings);
    out->facing = keep(arena, facing, sizeof *facing * (size_t)out->facings);
    return out->volume && out->part && out->opening && out->facing && keep_faces(j, arena, out);
}

bool mo_cut_cell_create(mo_cut_work *w, mo_arena *arena, mo_cut_cell *out)
{
    joining j;
    j.w = w, j.first[0] = j.sides = j.parts = j.openings = 0;
    *out = (mo_cut_cell){0};
    join_all(&j);
    number_sides(&j, out);
    add_walls(&j);
    find_volumes(&j);
    return keep_all(&j, arena, out);
}
