// Edges of two elastic bodies that cross between their vertices.
//
// Bodies that are thin, or lie edge on edge, meet where no vertex of either is near the other. An edge is convex if its
// two faces bend away from the outside; the directions between their normals are those in which it can be pushed. Two
// convex edges touch if the direction across both is one of these for each, from opposite sides (for convex bodies,
// these are the faces of their Minkowski difference that belong to edges). Flat and concave edges are left to vertices.
#include "solid/elastic_contact.h"
#include "base/parallel.h"
#include "solid/cloth_pairs.h"
#include <stdlib.h>

static const double FLAT = 0.98;     // cosine between the normals of an edge's faces: it is none
static const double PARALLEL = 0.05; // sine between edges: below it, vertices of one are near the other
static const double DEEPEST = 0.25;  // elements: edges deeper in each other belong to other sides of the bodies
static const double SLACK = 0.2;     // sine: directions so far beyond the normals of the faces count

static const double END = 1e-3; // of an edge: nearer to its ends, vertices touch

typedef struct edge {
    int32_t number, vertex[2];
    mo_vec3 normal[2], along; // of its faces; along: not normalised
} edge;

typedef struct search {
    const mo_elastic_surface *a, *b;
    double reach, deepest;
    mo_elastic_touches *out;
    bool enough; // memory
} search;

// Edge k of a face is the one opposite to its corner k. Each belongs to the first of its two faces.
static bool convex_edge(const mo_elastic_surface *s, int32_t face, int k, edge *out)
{
    int32_t across = s->across[3 * face + k];
    if (across < face) return false;
    const int32_t *v = s->face + 3 * face;
    const mo_vec3 *x = s->body->position;
    *out = (edge){.number = 3 * face + k, .vertex = {v[(k + 1) % 3], v[(k + 2) % 3]}};
    out->normal[0] = s->face_normal[face], out->normal[1] = s->face_normal[across];
    out->along = mo_sub(x[out->vertex[1]], x[out->vertex[0]]);
    if (mo_dot(out->normal[0], out->normal[1]) > FLAT) return false;
    return mo_dot(mo_cross(out->normal[0], out->normal[1]), out->along) > 0;
}

// Whether a unit direction across the edge lies between the normals of its faces.
static bool between_faces(const edge *e, mo_vec3 d)
{
    mo_vec3 axis = mo_normalize(e->along);
    return mo_dot(mo_cross(e->normal[0], d), axis) > -SLACK && mo_dot(mo_cross(d, e->normal[1]), axis) > -SLACK &&
           mo_dot(d, mo_add(e->normal[0], e->normal[1])) > 0;
}

// The direction from b to a in which the two edges push each other.
static bool push_between(const edge *a, const edge *b, mo_vec3 *push)
{
    mo_vec3 n = mo_cross(a->along, b->along);
    double sine = mo_norm(n), most = mo_norm(a->along) * mo_norm(b->along);
    if (!(sine > PARALLEL * most)) return false;
    n = mo_mul(1 / sine, n);
    if (mo_dot(n, mo_add(b->normal[0], b->normal[1])) < 0) n = mo_mul(-1, n);
    *push = n;
    return between_faces(b, n) && between_faces(a, mo_mul(-1, n));
}

static mo_contact_place place_of(const edge *e, const double weight[2])
{
    return (mo_contact_place){2, {e->vertex[0], e->vertex[1]}, {weight[0], weight[1]}};
}

static void touch_edges(search *s, const edge *a, const edge *b)
{
    const mo_vec3 *x = s->a->body->position, *y = s->b->body->position;
    mo_pair pair = {0, 0, true, {a->vertex[0], a->vertex[1]}, {b->vertex[0], b->vertex[1], b->vertex[1]}};
    mo_vec3 push;
    if (!push_between(a, b, &push)) return;
    mo_nearest n = mo_pair_nearest(&pair, x, y);
    double gap = mo_dot(n.way, push);
    bool between = fmin(n.own[0], n.own[1]) > END && fmin(n.other[0], n.other[1]) > END;
    if (!between || !(gap < s->reach) || gap < -s->deepest) return;
    mo_elastic_touches *out = s->out;
    s->enough = s->enough && mo_reserve((void **)&out->touch, &out->capacity, out->count + 1, sizeof *out->touch);
    if (!s->enough) return;
    mo_elastic_touch t = {.normal = push, .gap = gap, .own = place_of(a, n.own), .other = place_of(b, n.other)};
    mo_vec3 on_a = mo_mad(mo_mul(n.own[0], x[a->vertex[0]]), n.own[1], x[a->vertex[1]]);
    t.point = mo_mad(on_a, -0.5, n.way);
    t.feature = mo_hash((uint32_t)a->number, (uint32_t)b->number, 3) & ((1u << 28) - 1);
    out->touch[out->count++] = t;
}

static void touch_faces(search *s, int32_t f, int32_t g)
{
    edge a, b;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3 && convex_edge(s->a, f, i, &a); k++)
            if (convex_edge(s->b, g, k, &b)) touch_edges(s, &a, &b);
}

static bool boxes_near(const mo_box3 *a, const mo_box3 *b, double reach)
{
    return a->lo.x <= b->hi.x + reach && b->lo.x <= a->hi.x + reach && a->lo.y <= b->hi.y + reach &&
           b->lo.y <= a->hi.y + reach && a->lo.z <= b->hi.z + reach && b->lo.z <= a->hi.z + reach;
}

static void descend(search *s, int32_t i, int32_t k)
{
    const mo_surface_box *x = &s->a->tree[i], *y = &s->b->tree[k];
    if (!boxes_near(&x->box, &y->box, fmax(s->reach, s->deepest))) return;
    if (!x->count) {
        descend(s, x->first, k), descend(s, x->first + 1, k);
    } else if (!y->count) {
        descend(s, i, y->first), descend(s, i, y->first + 1);
    } else {
        for (int32_t f = 0; f < x->count; f++)
            for (int32_t g = 0; g < y->count; g++) touch_faces(s, s->a->order[x->first + f], s->b->order[y->first + g]);
    }
}

static int by_feature(const void *p, const void *q)
{
    const mo_elastic_touch *a = p, *b = q;
    if (a->feature != b->feature) return a->feature < b->feature ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (a->own.vertex[k] != b->own.vertex[k]) return a->own.vertex[k] < b->own.vertex[k] ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (a->other.vertex[k] != b->other.vertex[k]) return a->other.vertex[k] < b->other.vertex[k] ? -1 : 1;
    return 0;
}

mo_status mo_touch_edges(const mo_elastic_surface *a, const mo_elastic_surface *b, double reach,
                         mo_elastic_touches *out, mo_error *err)
{
    search s = {a, b, reach, DEEPEST * fmin(a->element, b->element), out, true};
    out->count = 0;
    if (a->dimension == 2 || !a->faces || !b->faces) return MO_OK; // edges are faces there
    descend(&s, 0, 0);
    if (!s.enough) return mo_fail_memory(err);
    if (out->count) qsort(out->touch, (size_t)out->count, sizeof *out->touch, by_feature);
    for (int64_t i = 1; i < out->count; i++) // two pairs with one hash
        if (out->touch[i].feature <= out->touch[i - 1].feature) out->touch[i].feature = out->touch[i - 1].feature + 1;
    return MO_OK;
}
