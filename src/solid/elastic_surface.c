// Surfaces of elastic bodies: neighbours, normals, a tree of boxes, nearest points.
#include "solid/elastic_surface.h"
#include "base/elementary.h"
#include "geometry/shape_node.h"
#include "geometry/tets.h"
#include "geometry/triangle.h"
#include "solid/cloth.h"
#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, DEEPEST = 64 };

static const double on_edge = 1e-9; // weights below it are none

void mo_elastic_surface_destroy(mo_elastic_surface *s)
{
    mo_free(s->face), mo_free(s->across), mo_free(s->vertex), mo_free(s->face_normal), mo_free(s->normal);
    mo_free(s->order), mo_free(s->tree);
    *s = (mo_elastic_surface){0};
}

static mo_vec3 corner(const mo_elastic_surface *s, int32_t face, int k)
{
    return *mo_surface_corner(s, s->body->position, face, k);
}

// ---- Neighbours ----

typedef struct side { // of a face: all its vertices but one
    int32_t a, b, face, corner;
} side;

static int by_vertices(const void *p, const void *q)
{
    const side *s = p, *t = q;
    if (s->a != t->a) return s->a < t->a ? -1 : 1;
    if (s->b != t->b) return s->b < t->b ? -1 : 1;
    return s->face != t->face ? (s->face < t->face ? -1 : 1) : s->corner - t->corner;
}

static side side_of(const mo_elastic_surface *s, int32_t face, int k)
{
    int d = s->dimension;
    int32_t a = s->face[face * d + (k + 1) % d], b = d == 3 ? s->face[face * d + (k + 2) % d] : -1;
    return (side){a > b ? a : b, a > b ? b : a, face, k};
}

// A side that more than two faces share has no neighbour.
static mo_status find_neighbours(mo_elastic_surface *s)
{
    int32_t n = s->dimension * s->faces;
    side *list = mo_alloc(sizeof *list * ((size_t)n + 1));
    if (!list) return MO_ERROR_MEMORY;
    for (int32_t i = 0; i < n; i++) s->across[i] = -1, list[i] = side_of(s, i / s->dimension, i % s->dimension);
    qsort(list, (size_t)n, sizeof *list, by_vertices);
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && list[end].a == list[i].a && list[end].b == list[i].b;) end++;
        if (end != i + 2) continue;
        s->across[list[i].face * s->dimension + list[i].corner] = list[i + 1].face;
        s->across[list[i + 1].face * s->dimension + list[i + 1].corner] = list[i].face;
    }
    mo_free(list);
    return MO_OK;
}

// ---- The tree ----

typedef struct keyed {
    double at;
    int32_t face;
} keyed;

static int by_place(const void *p, const void *q)
{
    const keyed *a = p, *b = q;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->face - b->face;
}

static mo_vec3 middle(const mo_elastic_surface *s, int32_t face)
{
    mo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < s->dimension; k++) sum = mo_add(sum, *mo_surface_corner(s, s->body->rest, face, k));
    return sum; // times the number of corners
}

// The axis along which the middles of listed faces spread most.
static int widest(const mo_elastic_surface *s, const int32_t *list, int32_t count)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            double x = mo_get(middle(s, list[i]), a);
            lo[a] = fmin(lo[a], x), hi[a] = fmax(hi[a], x);
        }
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (hi[a] - lo[a] > hi[axis] - lo[axis]) axis = a;
    return axis;
}

static void split(mo_elastic_surface *s, int32_t box, int32_t first, int32_t count, keyed *scratch)
{
    if (count <= LEAF) {
        s->tree[box].first = first, s->tree[box].count = count;
        return;
    }
    int axis = widest(s, s->order + first, count);
    for (int32_t i = 0; i < count; i++)
        scratch[i] = (keyed){mo_get(middle(s, s->order[first + i]), axis), s->order[first + i]};
    qsort(scratch, (size_t)count, sizeof *scratch, by_place);
    for (int32_t i = 0; i < count; i++) s->order[first + i] = scratch[i].face;
    int32_t child = s->boxes, half = count / 2;
    s->boxes += 2;
    s->tree[box].first = child, s->tree[box].count = 0;
    split(s, child, first, half, scratch);
    split(s, child + 1, first + half, count - half, scratch);
}

static mo_box3 box_about(mo_box3 b, mo_vec3 x)
{
    return (mo_box3){{fmin(b.lo.x, x.x), fmin(b.lo.y, x.y), fmin(b.lo.z, x.z)},
                     {fmax(b.hi.x, x.x), fmax(b.hi.y, x.y), fmax(b.hi.z, x.z)}};
}

static void fit_boxes(mo_elastic_surface *s)
{
    for (int32_t i = s->boxes - 1; i >= 0; i--) { // children before parents
        mo_surface_box *t = &s->tree[i];
        t->box = (mo_box3){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
        for (int32_t k = 0; k < t->count * s->dimension; k++)
            t->box = box_about(t->box, corner(s, s->order[t->first + k / s->dimension], k % s->dimension));
        for (int32_t k = 0; !t->count && k < 2; k++)
            t->box = box_about(box_about(t->box, s->tree[t->first + k].box.lo), s->tree[t->first + k].box.hi);
    }
}

// ---- Normals ----

static mo_vec3 normal_of(const mo_elastic_surface *s, int32_t face)
{
    mo_vec3 a = corner(s, face, 0), b = corner(s, face, 1), ab = mo_sub(b, a);
    return s->dimension == 3 ? mo_normalize(mo_cross(ab, mo_sub(corner(s, face, 2), a)))
                             : mo_normalize(mo_v3(ab.y, -ab.x, 0)); // the inside is on the left
}

// The angle of a face at its corner k, of a triangle; edges count alike.
static double angle_at(const mo_elastic_surface *s, int32_t face, int k)
{
    if (s->dimension == 2) return 1;
    mo_vec3 x = corner(s, face, k), a = mo_sub(corner(s, face, (k + 1) % 3), x),
            b = mo_sub(corner(s, face, (k + 2) % 3), x);
    return mo_atan2(mo_norm(mo_cross(a, b)), mo_dot(a, b));
}

static void find_normals(mo_elastic_surface *s)
{
    for (int32_t i = 0; i < s->vertices; i++) s->normal[s->vertex[i]] = mo_v3(0, 0, 0);
    for (int32_t f = 0; f < s->faces; f++) {
        s->face_normal[f] = normal_of(s, f);
        for (int k = 0; k < s->dimension; k++) {
            mo_vec3 *n = &s->normal[s->face[f * s->dimension + k]];
            *n = mo_mad(*n, angle_at(s, f, k), s->face_normal[f]);
        }
    }
    for (int32_t i = 0; i < s->vertices; i++) s->normal[s->vertex[i]] = mo_normalize(s->normal[s->vertex[i]]);
}

void mo_elastic_surface_update(mo_elastic_surface *s)
{
    fit_boxes(s);
    find_normals(s);
}

// ---- Creation ----

static void list_vertices(mo_elastic_surface *s)
{
    for (int32_t i = 0; i < s->dimension * s->faces; i++) s->normal[s->face[i]].x = 1; // marked
    for (int32_t v = 0; v < s->body->vertices; v++)
        if (s->normal[v].x > 0) s->vertex[s->vertices++] = v;
}

static double mean_edge(const mo_elastic_surface *s)
{
    double sum = 0;
    int32_t edges = s->dimension == 3 ? 3 : 1;
    for (int32_t f = 0; f < s->faces; f++)
        for (int k = 0; k < edges; k++)
            sum += mo_norm(mo_sub(*mo_surface_corner(s, s->body->rest, f, (k + 1) % s->dimension),
                                  *mo_surface_corner(s, s->body->rest, f, k)));
    return s->faces ? sum / (edges * s->faces) : 0;
}

static mo_status allocate(mo_elastic_surface *s)
{
    size_t faces = (size_t)s->faces, vertices = (size_t)s->body->vertices;
    s->across = mo_alloc(sizeof(int32_t) * ((size_t)s->dimension * faces + 1));
    s->vertex = mo_alloc(sizeof(int32_t) * (vertices + 1));
    s->order = mo_alloc(sizeof(int32_t) * (faces + 1));
    s->face_normal = mo_calloc(sizeof(mo_vec3) * (faces + 1));
    s->normal = mo_calloc(sizeof(mo_vec3) * (vertices + 1));
    s->tree = mo_alloc(sizeof(mo_surface_box) * (2 * faces + 1));
    bool ok = s->across && s->vertex && s->order && s->face_normal && s->normal && s->tree;
    return ok ? MO_OK : MO_ERROR_MEMORY;
}

static mo_status build(mo_elastic_surface *s)
{
    MO_TRY(allocate(s));
    MO_TRY(find_neighbours(s));
    keyed *scratch = mo_alloc(sizeof *scratch * ((size_t)s->faces + 1));
    if (!scratch) return MO_ERROR_MEMORY;
    for (int32_t f = 0; f < s->faces; f++) s->order[f] = f;
    s->boxes = 1;
    split(s, 0, 0, s->faces, scratch);
    mo_free(scratch);
    s->element = mean_edge(s);
    list_vertices(s);
    mo_elastic_surface_update(s);
    return MO_OK;
}

// Cloth is all surface.
static mo_status copy_triangles(const mo_cloth *c, mo_elastic_surface *s, mo_error *err)
{
    size_t bytes = sizeof *c->triangle * (size_t)c->triangles;
    s->face = mo_alloc(bytes + 1), s->faces = c->triangles;
    if (!s->face) return mo_fail_memory(err);
    memcpy(s->face, c->triangle, bytes);
    return MO_OK;
}

mo_status mo_elastic_surface_create(const mo_elastic_body *b, mo_elastic_surface *out, mo_error *err)
{
    *out = (mo_elastic_surface){.body = b, .dimension = b->dimension};
    mo_tets mesh = {b->dimension, b->vertices, b->elements, (double *)b->rest, b->corner};
    MO_TRY(b->cloth ? copy_triangles(b->cloth, out, err) : mo_tets_boundary(&mesh, &out->face, &out->faces, err));
    mo_status status = build(out);
    if (status == MO_OK) return MO_OK;
    mo_elastic_surface_destroy(out);
    return mo_fail_memory(err);
}

// ---- Nearest points ----

// The way from the nearest point of a face to x.
static mo_vec3 way_to(const mo_elastic_surface *s, int32_t face, mo_vec3 x)
{
    mo_vec3 a = corner(s, face, 0), b = corner(s, face, 1);
    return s->dimension == 3 ? mo_triangle_way(a, b, corner(s, face, 2), x) : mo_segment_way(a, b, x);
}

static double square(mo_vec3 a) { return mo_dot(a, a); }

typedef struct query {
    const mo_elastic_surface *s;
    mo_vec3 x;
    mo_face_filter filter;
    const void *user;
    double best; // m^2
    int32_t face;
} query;

static void visit_leaf(query *q, const mo_surface_box *leaf)
{
    for (int32_t i = 0; i < leaf->count; i++) {
        int32_t face = q->s->order[leaf->first + i];
        double d2 = square(way_to(q->s, face, q->x));
        bool nearer = d2 < q->best || (d2 == q->best && (q->face < 0 || face < q->face));
        if (nearer && (!q->filter || q->filter(q->user, face))) q->best = d2, q->face = face;
    }
}

static void visit(query *q)
{
    int32_t stack[DEEPEST], depth = 0;
    stack[depth++] = 0;
    while (depth) {
        const mo_surface_box *t = &q->s->tree[stack[--depth]];
        double out = mo_box_outside(&t->box, q->x);
        if (out * out * (1 - 1e-12) > q->best) continue;
        if (t->count) {
            visit_leaf(q, t);
            continue;
        }
        const mo_surface_box *child = &q->s->tree[t->first];
        int later = mo_box_outside(&child[0].box, q->x) <= mo_box_outside(&child[1].box, q->x); // that child
        MO_ASSERT(depth + 2 <= DEEPEST);
        stack[depth++] = t->first + later, stack[depth++] = t->first + 1 - later;
    }
}

void mo_elastic_surface_weigh(const mo_elastic_surface *s, int32_t face, mo_vec3 y, double weight[3])
{
    mo_vec3 a = corner(s, face, 0), b = mo_sub(corner(s, face, 1), a), p = mo_sub(y, a);
    double w[3] = {0, square(b) > 0 ? mo_dot(p, b) / square(b) : 0, 0};
    if (s->dimension == 3) {
        mo_vec3 c = mo_sub(corner(s, face, 2), a), n = mo_cross(b, c);
        double area2 = square(n);
        if (area2 > 1e-24 * square(b) * square(c))
            w[1] = mo_dot(mo_cross(p, c), n) / area2, w[2] = mo_dot(mo_cross(b, p), n) / area2;
        else if (square(c) > square(b))
            w[1] = 0, w[2] = mo_dot(p, c) / square(c);
    }
    w[0] = 1 - w[1] - w[2];
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += w[k] = w[k] < on_edge ? 0 : w[k];
    for (int k = 0; k < 3; k++) weight[k] = w[k] / sum;
}

// Finds the normal of the face, edge or vertex on which the point lies. It gives the right side for any x (Baerentzen
// and Aanaes 2005).
static mo_vec3 normal_at(const mo_elastic_surface *s, const mo_surface_point *p)
{
    int corners = 0, last = 0, missing = 0, d = s->dimension;
    for (int k = 0; k < d; k++)
        if (p->weight[k] > 0)
            corners++, last = k;
        else
            missing = k;
    mo_vec3 n = s->face_normal[p->face];
    if (corners == d) return n;
    if (corners == 1) return s->normal[s->face[p->face * d + last]];
    int32_t other = s->across[p->face * d + missing];
    return other >= 0 ? mo_normalize(mo_add(n, s->face_normal[other])) : n;
}

bool mo_elastic_surface_nearest(const mo_elastic_surface *s, mo_vec3 x, double limit, mo_face_filter filter,
                                const void *user, mo_surface_point *out)
{
    query q = {s, x, filter, user, limit * limit, -1};
    if (s->faces) visit(&q);
    if (q.face < 0) return false;
    mo_vec3 way = way_to(s, q.face, x);
    out->face = q.face, out->point = mo_sub(x, way);
    mo_elastic_surface_weigh(s, q.face, out->point, out->weight);
    out->normal = normal_at(s, out);
    out->gap = mo_dot(way, out->normal) < 0 ? -mo_norm(way) : mo_norm(way);
    return true;
}
