// The lattice of isosurface stuffing: which points are kept, where the surface cuts edges, which points move to a cut.
// The elements themselves are in stuffing_triangles.c and stuffing_tetrahedra.c.
#include "geometry/stuffing.h"
#include "base/parallel.h"
#include "geometry/shape_node.h"
#include "geometry/tets.h"
#include <string.h>

enum {
    MAX_POINTS = 5 * MO_TETS_MAX_VERTICES, // of the lattice near the shape: bounds the memory, also for thin shapes
    MAX_RANGE = 1 << 20,                   // of lattice coordinates: the bounds of any shape that fits are smaller
};

static mo_vec3 lattice_position(const mo_stuffing *s, double x, double y, double z)
{
    return mo_mad(mo_mad(mo_mad(s->origin, x, s->axis[0]), y, s->axis[1]), z, s->axis[2]);
}

static mo_vec3 point_position(const mo_stuffing *s, int64_t p)
{
    return lattice_position(s, s->at[p][0], s->at[p][1], s->at[p][2]);
}

static mo_vec3 edge_vector(const mo_stuffing *s, int d)
{
    const int32_t *e = s->direction[d];
    return mo_mad(mo_mad(mo_mul(e[0], s->axis[0]), e[1], s->axis[1]), e[2], s->axis[2]);
}

// ---- The lattices ----

// Body centred cubic: three long edges and four short ones at each point, and as many that others own. Points that move
// far make flat elements, cuts left near points make thin ones; with these limits the smallest dihedral angle that any
// labels, cuts and moves can give is largest: 10.78 degrees, and the largest angle is 164.74.
static void make_cubic(mo_stuffing *s, double element)
{
    static const int32_t direction[7][3] = {{2, 0, 0},  {0, 2, 0},  {0, 0, 2},  {1, 1, 1},
                                            {1, 1, -1}, {1, -1, 1}, {1, -1, -1}};
    s->axis[0] = mo_v3(0.5 * element, 0, 0);
    s->axis[1] = mo_v3(0, 0.5 * element, 0);
    s->axis[2] = mo_v3(0, 0, 0.5 * element);
    s->directions = 7;
    memcpy(s->direction, direction, sizeof direction);
    for (int d = 0; d < 7; d++) s->warp[d] = d < 3 ? 0.28511 : 0.39881;
}

// Equilateral triangles: any labels, cuts and moves give 15.4 .. 120 degrees.
static void make_triangular(mo_stuffing *s, double element)
{
    static const int32_t direction[3][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 1, 0}};
    s->axis[0] = mo_v3(element, 0, 0);
    s->axis[1] = mo_v3(0.5 * element, 0.5 * sqrt(3) * element, 0);
    s->directions = 3;
    memcpy(s->direction, direction, sizeof direction);
    for (int d = 0; d < 3; d++) s->warp[d] = 0.38;
}

void mo_stuffing_make_lattice(mo_stuffing *s, double element)
{
    if (s->dimension == 2)
        make_triangular(s, element);
    else
        make_cubic(s, element);
    for (int d = 0; d < s->directions; d++) s->length[d] = mo_norm(edge_vector(s, d));
}

// ---- The points ----

// A block is the cells lo .. lo + size - 1 of each axis; a cell has the even point 2 c and the odd one beside it (3D),
// or the point c (2D). It may matter if an inside point may be within an edge of one of its points. The slope of
// sampled distances reaches sqrt(3).
static bool block_matters(const mo_stuffing *s, const int32_t lo[3], int32_t size)
{
    bool flat = s->dimension == 2;
    double half = 0.5 * (flat ? size - 1 : 2 * size - 1), first = flat ? 1 : 2;
    mo_vec3 centre = lattice_position(s, first * lo[0] + half, first * lo[1] + half, flat ? 0 : first * lo[2] + half);
    mo_vec3 diagonal = mo_add(mo_add(s->axis[0], s->axis[1]), s->axis[2]);
    double reach = half * mo_norm(diagonal) + s->length[0];
    if (mo_box_outside(&s->shape->bounds, centre) > reach) return false;
    return mo_shape_distance(s->shape, centre) <= sqrt(3) * reach;
}

static void add_cell(mo_stuffing *s, const int32_t c[3])
{
    int32_t points = s->dimension == 2 ? 1 : 2;
    s->enough = s->enough && mo_reserve((void **)&s->at, &s->capacity, s->count + points, sizeof *s->at);
    if (!s->enough) return;
    for (int32_t k = 0; k < points; k++, s->count++)
        for (int a = 0; a < 3; a++) s->at[s->count][a] = points * c[a] + k;
}

// Lists the points of a block, its octants one after the other. False when there are too many.
static bool list_points(mo_stuffing *s, const int32_t lo[3], int32_t size)
{
    if (!s->enough || !block_matters(s, lo, size)) return true;
    if (size == 1) add_cell(s, lo);
    if (size == 1) return s->count <= MAX_POINTS;
    int32_t half = size / 2;
    for (int octant = 0; octant < (s->dimension == 2 ? 4 : 8); octant++) {
        int32_t at[3] = {lo[0] + half * (octant & 1), lo[1] + half * (octant >> 1 & 1), lo[2] + half * (octant >> 2)};
        if (!list_points(s, at, half)) return false;
    }
    return true;
}

// Finds the points that matter, from a block about the origin that holds the bounds.
static bool find_points(mo_stuffing *s)
{
    const mo_box3 *b = &s->shape->bounds;
    mo_vec3 half = mo_mul(0.5, mo_sub(b->hi, b->lo));
    double cells = fmax(half.x, fmax(half.y, half.z)) / s->length[0];
    if (s->dimension == 2) cells = 1.2 * (half.x + half.y) / s->length[0]; // the axes of the lattice are oblique
    if (!(cells < MAX_RANGE / 4)) return false;
    int32_t size = 1;
    while (size < cells + 3) size *= 2;
    int32_t lo[3] = {-size, -size, s->dimension == 2 ? 0 : -size};
    return list_points(s, lo, 2 * size);
}

static uint32_t bucket_of(const mo_stuffing *s, int32_t x, int32_t y, int32_t z)
{
    return mo_hash((uint32_t)x, (uint32_t)y, (uint32_t)z) & s->mask;
}

void mo_stuffing_index(mo_stuffing *s)
{
    size_t size = 16;
    while (size < 2 * (size_t)s->count) size *= 2;
    s->mask = (uint32_t)(size - 1);
    s->table = mo_alloc(sizeof(int32_t) * size);
    s->enough = s->enough && s->table;
    if (!s->enough) return;
    memset(s->table, 0xff, sizeof(int32_t) * size);
    for (int32_t p = 0; p < s->count; p++) {
        uint32_t k = bucket_of(s, s->at[p][0], s->at[p][1], s->at[p][2]);
        while (s->table[k] >= 0) k = (k + 1) & s->mask;
        s->table[k] = p;
    }
}

int32_t mo_stuffing_find(const mo_stuffing *s, int32_t x, int32_t y, int32_t z)
{
    for (uint32_t k = bucket_of(s, x, y, z);; k = (k + 1) & s->mask) {
        int32_t p = s->table[k];
        if (p < 0) return -1;
        const int32_t *c = s->at[p];
        if (c[0] == x && c[1] == y && c[2] == z) return p;
    }
}

static int32_t neighbour(const mo_stuffing *s, int64_t p, int d, int32_t sign)
{
    const int32_t *c = s->at[p], *e = s->direction[d];
    return mo_stuffing_find(s, c[0] + sign * e[0], c[1] + sign * e[1], c[2] + sign * e[2]);
}

static void sample_points(mo_stuffing *s)
{
    s->distance = mo_alloc(sizeof(double) * (size_t)s->count);
    s->label = mo_alloc((size_t)s->count);
    s->enough = s->enough && s->distance && s->label;
    if (!s->enough) return;
#pragma omp parallel for schedule(static, 256)
    for (int64_t p = 0; p < s->count; p++) {
        double f = mo_shape_distance(s->shape, point_position(s, p));
        s->distance[p] = f;
        s->label[p] = (int8_t)((f < 0) - (f > 0));
    }
}

// Nearly all of these become vertices.
static int64_t count_inside(const mo_stuffing *s)
{
    int64_t inside = 0;
    for (int64_t p = 0; p < s->count; p++) inside += s->label[p] > 0;
    return inside;
}

// ---- The cuts ----

// Where the distance vanishes on the edge: regula falsi that halves the value of an end that stays (Illinois).
static double find_cut(const mo_stuffing *s, mo_vec3 x, mo_vec3 edge, double f0, double f1)
{
    double t0 = 0, t1 = 1;
    int stayed = 0;
    for (int iteration = 0; iteration < 60 && t1 - t0 > 1e-7; iteration++) {
        double t = (t0 * f1 - t1 * f0) / (f1 - f0);
        if (!(t > t0 && t < t1)) t = 0.5 * (t0 + t1);
        double f = mo_shape_distance(s->shape, mo_mad(x, t, edge));
        if (f == 0) return t;
        if ((f < 0) == (f0 < 0)) {
            t0 = t, f0 = f;
            if (stayed == 1) f1 *= 0.5;
            stayed = 1;
        } else {
            t1 = t, f1 = f;
            if (stayed == 0) f0 *= 0.5;
            stayed = 0;
        }
    }
    return fabs(f0) < fabs(f1) ? t0 : t1;
}

// Marks the edges between inside and outside.
static void mark_cuts(mo_stuffing *s)
{
#pragma omp parallel for schedule(static, 256)
    for (int64_t p = 0; p < s->count; p++) {
        s->cut_mask[p] = 0;
        for (int d = 0; d < s->directions && s->label[p] != 0; d++) {
            int32_t q = neighbour(s, p, d, 1);
            if (q >= 0 && s->label[p] * s->label[q] < 0) s->cut_mask[p] |= (uint8_t)(1 << d);
        }
        s->first_cut[p] = __builtin_popcount(s->cut_mask[p]);
    }
}

static void cut_edges(mo_stuffing *s)
{
    s->cut_mask = mo_alloc((size_t)s->count);
    s->first_cut = mo_alloc(sizeof(int32_t) * (size_t)s->count);
    s->enough = s->enough && s->cut_mask && s->first_cut;
    if (!s->enough) return;
    mark_cuts(s);
    s->cut_count = mo_prefix_sum(s->count, s->first_cut);
    s->cut = mo_alloc(sizeof *s->cut * (size_t)s->cut_count);
    s->enough = s->cut != NULL;
    if (!s->enough) return;
#pragma omp parallel for schedule(static, 256)
    for (int64_t p = 0; p < s->count; p++) {
        mo_stuffing_cut *cut = s->cut + s->first_cut[p];
        for (int d = 0; d < s->directions; d++) {
            if (!(s->cut_mask[p] >> d & 1)) continue;
            int32_t q = neighbour(s, p, d, 1);
            double t = find_cut(s, point_position(s, p), edge_vector(s, d), s->distance[p], s->distance[q]);
            *cut++ = (mo_stuffing_cut){(int32_t)p, d, t};
        }
    }
}

static int32_t cut_of(const mo_stuffing *s, int32_t p, int d)
{
    return s->first_cut[p] + __builtin_popcount(s->cut_mask[p] & ((1u << d) - 1));
}

int32_t mo_stuffing_cut_between(const mo_stuffing *s, int32_t p, int32_t q)
{
    const int32_t *a = s->at[p], *b = s->at[q];
    for (int d = 0; d < s->directions; d++) {
        const int32_t *e = s->direction[d];
        if (b[0] - a[0] == e[0] && b[1] - a[1] == e[1] && b[2] - a[2] == e[2])
            return (int32_t)s->count + cut_of(s, p, d);
        if (a[0] - b[0] == e[0] && a[1] - b[1] == e[1] && a[2] - b[2] == e[2])
            return (int32_t)s->count + cut_of(s, q, d);
    }
    MO_ASSERT(!"an edge of the lattice");
    return -1;
}

// ---- Warping ----

// The nearest cut on the edges at p that is too close to it, or -1. Edges to points that have moved have no cut any
// more.
static int32_t violating_cut(const mo_stuffing *s, int32_t p)
{
    int32_t found = -1;
    double nearest = INFINITY;
    for (int d = 0; d < s->directions; d++)
        for (int32_t sign = 1; sign >= -1; sign -= 2) {
            if (sign > 0 && !(s->cut_mask[p] >> d & 1)) continue;
            int32_t q = neighbour(s, p, d, sign), owner = sign > 0 ? p : q;
            if (q < 0 || s->label[q] == 0 || !(s->cut_mask[owner] >> d & 1)) continue;
            int32_t c = cut_of(s, owner, d);
            double part = sign > 0 ? s->cut[c].fraction : 1 - s->cut[c].fraction;
            if (!(part < s->warp[d] && part * s->length[d] < nearest)) continue;
            nearest = part * s->length[d];
            found = c;
        }
    return found;
}

// One after the other, because a point that moves takes the cuts of its edges away from the next ones.
static void warp_points(mo_stuffing *s)
{
    s->moved = mo_alloc(sizeof(int32_t) * (size_t)s->count);
    s->enough = s->enough && s->moved;
    if (!s->enough) return;
    for (int32_t p = 0; p < s->count; p++) {
        // No cut of an edge is nearer than the surface, with room for slopes above 1.
        bool near = fabs(s->distance[p]) <= 0.8 * s->length[0];
        s->moved[p] = near && s->label[p] != 0 ? violating_cut(s, p) : -1;
        if (s->moved[p] >= 0) s->label[p] = 0;
    }
}

// ---- What comes out ----

void mo_stuffing_add(mo_stuffing *s, const int32_t *vertex)
{
    int64_t corners = s->dimension + 1;
    s->enough = s->enough &&
                mo_reserve((void **)&s->element, &s->element_capacity, s->element_count + corners, sizeof *s->element);
    if (!s->enough) return;
    memcpy(s->element + s->element_count, vertex, sizeof(int32_t) * (size_t)corners);
    s->element_count += corners;
}

mo_vec3 mo_stuffing_position(const mo_stuffing *s, int64_t v)
{
    int64_t c = v < s->count ? s->moved[v] : v - s->count;
    if (c < 0) return point_position(s, v);
    const mo_stuffing_cut *cut = &s->cut[c];
    return mo_mad(point_position(s, cut->point), cut->fraction, edge_vector(s, cut->direction));
}

// Numbers the vertices in use and hands over. place: work, one entry per point and cut.
static bool collect(mo_stuffing *s, int32_t *place, mo_tets *out)
{
    int64_t total = s->count + s->cut_count, used = 0;
    memset(place, 0xff, sizeof(int32_t) * (size_t)total);
    for (int64_t i = 0; i < s->element_count; i++) place[s->element[i]] = 0;
    for (int64_t v = 0; v < total; v++)
        if (place[v] == 0) place[v] = (int32_t)used++;
    *out = (mo_tets){.dimension = s->dimension, .vertex_count = (int32_t)used};
    out->element_count = (int32_t)(s->element_count / (s->dimension + 1));
    out->position = mo_alloc(sizeof(double) * 3 * (size_t)used);
    out->element = mo_alloc(sizeof(int32_t) * (size_t)s->element_count);
    if (!out->position || !out->element) return false;
    for (int64_t v = 0; v < total; v++) {
        if (place[v] < 0) continue;
        mo_vec3 x = mo_stuffing_position(s, v);
        double *to = out->position + 3 * (int64_t)place[v];
        to[0] = x.x, to[1] = x.y, to[2] = x.z;
    }
    for (int64_t i = 0; i < s->element_count; i++) out->element[i] = place[s->element[i]];
    return true;
}

static mo_stuffing_outcome finish(mo_stuffing *s, mo_tets *out)
{
    if (!s->enough || s->element_count == 0) return MO_STUFFED_NOTHING;
    int32_t *place = mo_alloc(sizeof(int32_t) * (size_t)(s->count + s->cut_count));
    s->enough = place && collect(s, place, out);
    mo_free(place);
    bool fits = s->enough && out->vertex_count <= MO_TETS_MAX_VERTICES;
    if (!fits) mo_tets_destroy(out);
    return fits ? MO_STUFFED : MO_STUFFED_TOO_MANY;
}

static mo_stuffing_outcome stuff(mo_stuffing *s, mo_tets *out)
{
    if (!find_points(s)) return MO_STUFFED_TOO_MANY;
    if (s->count == 0) return MO_STUFFED_NOTHING;
    mo_stuffing_index(s);
    sample_points(s);
    if (s->enough && count_inside(s) > MO_TETS_MAX_VERTICES) return MO_STUFFED_TOO_MANY;
    cut_edges(s);
    warp_points(s);
    if (s->enough && s->dimension == 2) mo_stuffing_triangles(s);
    if (s->enough && s->dimension == 3) mo_stuffing_tetrahedra(s);
    return finish(s, out);
}

mo_status mo_stuff(const mo_shape *shape, double element, bool two_dimensional, mo_stuffing_outcome *outcome,
                   mo_tets *out, mo_error *err)
{
    MO_ASSERT(mo_shape_is_bounded(shape) && element > 0);
    *out = (mo_tets){0};
    mo_stuffing s = {.shape = shape, .dimension = two_dimensional ? 2 : 3, .enough = true};
    s.origin = mo_mul(0.5, mo_add(shape->bounds.lo, shape->bounds.hi));
    if (two_dimensional) s.origin.z = 0;
    mo_stuffing_make_lattice(&s, element);
    *outcome = stuff(&s, out);
    mo_free(s.at);
    mo_free(s.distance);
    mo_free(s.label);
    mo_free(s.table);
    mo_free(s.cut_mask);
    mo_free(s.first_cut);
    mo_free(s.cut);
    mo_free(s.moved);
    mo_free(s.element);
    return s.enough ? MO_OK : mo_fail_memory(err);
}
