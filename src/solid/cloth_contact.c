// Contacts of cloth: against shapes by their distances, against surfaces and other cloth by nearest points.
#include "solid/cloth_contact.h"
#include "base/parallel.h"
#include "geometry/shape_node.h"
#include "geometry/triangle.h"
#include "solid/feature.h"
#include <stdlib.h>
#include <string.h>

// How a contact was found, in the upper bits of its feature (elastic_contact.c has them for elastic bodies).
enum { OF_VERTEX, OF_EDGE, OF_TRIANGLE, OF_PAIR, KIND_SHIFT = 29 };

static const double AHEAD = 0.25; // thicknesses: places that come this near in the step are contacts from the start
static const double MET = 0.05;   // thicknesses: nearer than this is an impact
// The distance that an impact's plane keeps, in thicknesses; the next step restores the rest. If it were the whole
// thickness, a row that takes back only a part of an overlap in a step would leave an impact in every step.
static const double KEPT = 0.35;
static const double LOWER = 1e-3;  // of an edge: a shape must reach so much nearer to its inside than to its ends
static const double AT_REST = 0.8; // of their distance at rest: places of one cloth keep no more than that

typedef struct work {
    const mo_collider *collider;
    int32_t count;
    double dt, reach;
    bool impacts; // at the ends of the ways; else at their beginnings
    double *distance;
    int64_t capacity;
    mo_contacts *out;
    bool enough; // memory
} work;

static void emit(work *w, int32_t own, int32_t other, const mo_elastic_touch *t)
{
    const mo_collider *A = &w->collider[own], *B = &w->collider[other];
    if (!mo_contact_can_move(A, &t->own) && !mo_contact_can_move(B, &t->other)) return;
    w->enough =
        w->enough && mo_reserve((void **)&w->out->contact, &w->capacity, w->out->count + 1, sizeof *w->out->contact);
    w->out->capacity = (int32_t)w->capacity;
    if (w->enough) w->out->contact[w->out->count++] = mo_elastic_contact_of(w->collider, own, other, t);
}

// ---- Motions ----

static mo_vec3 way_of(const mo_drape *d, const mo_contact_place *p)
{
    mo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < p->count; k++)
        sum = mo_mad(sum, p->weight[k], mo_sub(d->to[p->vertex[k]], d->from[p->vertex[k]]));
    return sum;
}

static mo_vec3 place_at(const mo_vec3 *x, const mo_contact_place *p)
{
    mo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < p->count; k++) sum = mo_mad(sum, p->weight[k], x[p->vertex[k]]);
    return sum;
}

// ---- Against shapes ----

typedef struct meeting { // a cloth and a shape
    work *w;
    int32_t own, other;
    const mo_drape *drape;
    const mo_collider *shape;
    const mo_vec3 *x; // where the cloth is
    mo_pose pose;     // and the shape
    mo_zero_level level;
    double size; // m, of an edge
} meeting;

// How the gap changes in the step, along n, at a place of the cloth.
static double gap_change(const meeting *m, const mo_contact_place *p, mo_vec3 n)
{
    mo_vec3 arm = mo_sub(place_at(m->drape->from, p), m->shape->pose.position);
    mo_vec3 v = mo_add(m->shape->velocity, mo_cross(m->shape->angular_velocity, arm));
    return mo_dot(mo_mad(way_of(m->drape, p), -m->w->dt, v), n);
}

static double distance_at(const meeting *m, mo_vec3 x)
{
    return mo_shape_distance(m->shape->shape, mo_pose_to_body(m->pose, x));
}

// Whether the place depends on a vertex that the shape holds, or that is held inside the shape: there the two are
// joined.
static bool is_clamped(const meeting *m, const mo_contact_place *p)
{
    const uint8_t *pinned = m->w->collider[m->own].pinned;
    const int32_t *bond = m->w->collider[m->own].bond;
    for (int k = 0; k < p->count && bond; k++)
        if (bond[p->vertex[k]] == m->other) return true;
    for (int k = 0; k < p->count && pinned && !m->shape->rigid; k++)
        if (pinned[p->vertex[k]] && m->w->distance[p->vertex[k]] < 0.5 * m->drape->thickness) return true;
    return false;
}

// At edges and corners of a shape its gradient is that of one of the faces there. The push on a place inside an edge of
// the cloth is across that edge, and inside a triangle across the triangle.
static mo_vec3 across(const meeting *m, const mo_contact_place *p, mo_vec3 gradient)
{
    if (p->count == 1) return gradient;
    mo_vec3 a = m->x[p->vertex[0]], ab = mo_normalize(mo_sub(m->x[p->vertex[1]], a)), n;
    if (p->count == 2) return mo_normalize(mo_mad(gradient, -mo_dot(gradient, ab), ab));
    n = mo_normalize(mo_cross(ab, mo_sub(m->x[p->vertex[2]], a)));
    return mo_dot(n, gradient) < 0 ? mo_mul(-1, n) : n;
}

// A place of the cloth at distance d of the shape. For impacts at the end of the step, the gap is such that the plane
// across n holds.
static void meet(const meeting *m, const mo_contact_place *p, double d, uint32_t feature)
{
    mo_vec3 x = place_at(m->x, p), y = mo_pose_to_body(m->pose, x);
    mo_vec3 n = mo_normalize(mo_quat_rotate(m->pose.rotation, mo_zero_level_gradient_from(&m->level, y, d)));
    n = across(m, p, n);
    double gap = d - 0.5 * m->drape->thickness, change = gap_change(m, p, n);
    bool vertex = p->count == 1;
    if (!(mo_norm(n) > 0.5) || is_clamped(m, p)) return; // at the middle of the shape
    if (m->w->impacts ? d >= MET * m->drape->thickness
                      : !vertex && gap + fmin(change, 0) >= AHEAD * m->drape->thickness)
        return;
    if (m->w->impacts) gap = d - KEPT * m->drape->thickness - change;
    mo_elastic_touch t = {mo_mad(x, -0.5 * d, n), n, gap, *p, {0}, feature};
    emit(m->w, m->own, m->other, &t);
}

static void meet_vertices(const meeting *m)
{
    const mo_elastic_surface *s = m->drape->surface;
    mo_box3 box = mo_shape_bounds(m->shape->shape);
    double limit = m->w->reach + 0.5 * m->drape->thickness;
    for (int32_t i = 0; i < s->vertices; i++) {
        int32_t v = s->vertex[i];
        double *d = &m->w->distance[v];
        *d = INFINITY;
        mo_vec3 y = mo_pose_to_body(m->pose, m->x[v]);
        if (mo_box_outside(&box, y) > limit + m->size) continue;
        *d = mo_shape_distance(m->shape->shape, y);
        mo_contact_place p = {1, {v}, {1}};
        if (*d < limit) meet(m, &p, *d, (uint32_t)OF_VERTEX << KIND_SHIFT | (uint32_t)v);
    }
}

// The part of the way from a to b at which the shape is nearest: the best of some samples, then the golden section
// about it.
static double lowest_on_edge(const meeting *m, mo_vec3 a, mo_vec3 b, double *part)
{
    enum { PIECES = 6, CUTS = 12 };
    const double golden = 0.6180339887498949;
    double best = INFINITY, at = 0;
    mo_vec3 ab = mo_sub(b, a);
    for (int k = 1; k < PIECES; k++) {
        double d = distance_at(m, mo_mad(a, (double)k / PIECES, ab));
        if (d < best) best = d, at = (double)k / PIECES;
    }
    double lo = at - 1.0 / PIECES, hi = at + 1.0 / PIECES;
    for (int k = 0; k < CUTS; k++) {
        double u = hi - golden * (hi - lo), v = lo + golden * (hi - lo);
        double du = distance_at(m, mo_mad(a, u, ab)), dv = distance_at(m, mo_mad(a, v, ab));
        if (du < best) best = du, at = u;
        if (dv < best) best = dv, at = v;
        if (du < dv)
            hi = v;
        else
            lo = u;
    }
    *part = at;
    return best;
}

static void meet_edges(const meeting *m, double limit)
{
    const double *d = m->w->distance;
    for (int32_t e = 0; e < m->drape->edges; e++) {
        int32_t a = m->drape->edge[e][0], b = m->drape->edge[e][1];
        double length = mo_norm(mo_sub(m->x[b], m->x[a])), part;
        if (!(0.5 * (d[a] + d[b] - length) < limit)) continue; // no point of the edge is nearer than that
        double least = lowest_on_edge(m, m->x[a], m->x[b], &part);
        if (!(least < fmin(d[a], d[b]) - LOWER * length) || !(least < limit)) continue;
        mo_contact_place p = {2, {a, b}, {1 - part, part}};
        meet(m, &p, least, (uint32_t)OF_EDGE << KIND_SHIFT | (uint32_t)e);
    }
}

static void meet_triangles(const meeting *m, double limit)
{
    const mo_elastic_surface *s = m->drape->surface;
    const double *d = m->w->distance, inner = 0.02; // with smaller weights the place belongs to an edge
    for (int32_t t = 0; t < s->faces; t++) {
        const int32_t *v = s->face + 3 * t;
        double low = fmin(d[v[0]], fmin(d[v[1]], d[v[2]]));
        if (!(low - m->size < limit)) continue;
        mo_vec3 y[3], at, g;
        for (int k = 0; k < 3; k++) y[k] = mo_pose_to_body(m->pose, m->x[v[k]]);
        double least = mo_lowest_on_triangle(m->shape->shape, y, m->size, &at, &g);
        if (!(least < low - LOWER * m->size) || !(least < limit)) continue;
        double w[3];
        mo_vec3 a = mo_sub(y[1], y[0]), b = mo_sub(y[2], y[0]), c = mo_sub(at, y[0]), n = mo_cross(a, b);
        w[1] = mo_dot(mo_cross(c, b), n) / mo_dot(n, n), w[2] = mo_dot(mo_cross(a, c), n) / mo_dot(n, n);
        w[0] = 1 - w[1] - w[2];
        if (!(w[0] > inner && w[1] > inner && w[2] > inner)) continue;
        mo_contact_place p = {3, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
        meet(m, &p, least, (uint32_t)OF_TRIANGLE << KIND_SHIFT | (uint32_t)t);
    }
}

static double longest_way(const mo_drape *d)
{
    double square = 0;
    for (int32_t v = 0; v < d->surface->body->vertices; v++) {
        mo_vec3 way = mo_sub(d->to[v], d->from[v]);
        square = fmax(square, mo_dot(way, way));
    }
    return sqrt(square);
}

static void touch_shape(work *w, int32_t own, int32_t other)
{
    const mo_collider *o = &w->collider[other];
    const mo_drape *drape = w->collider[own].cloth;
    meeting m = {.w = w, .own = own, .other = other, .drape = drape, .shape = o};
    m.x = w->impacts ? drape->to : drape->from, m.pose = w->impacts ? o->next : o->pose;
    m.level = mo_zero_level_of(o->shape, false), m.size = 1.5 * drape->surface->element;
    double turn = mo_norm(o->angular_velocity), far = isfinite(o->radius) ? o->radius + mo_norm(o->centre) : 0;
    double motion = longest_way(drape) + w->dt * (mo_norm(o->velocity) + turn * far);
    double limit = (0.5 + AHEAD) * drape->thickness + (w->impacts ? 0 : motion);
    meet_vertices(&m);
    meet_edges(&m, limit);
    meet_triangles(&m, limit);
}

// ---- Against elastic bodies ----

// Vertices of the cloth against the surface of the body; vertices of the body against the cloth, on whichever side they
// are.
static void touch_elastic(work *w, int32_t own, int32_t other)
{
    const mo_drape *drape = w->collider[own].cloth;
    const mo_elastic_surface *cloth = drape->surface, *body = w->collider[other].elastic;
    double reach = w->reach + 0.5 * drape->thickness;
    for (int32_t i = 0; i < cloth->vertices; i++) {
        mo_elastic_touch t;
        int32_t v = cloth->vertex[i];
        if (!mo_touch_surface(body, drape->from[v], mo_v3(0, 0, 0), reach, &t)) continue;
        t.own = (mo_contact_place){1, {v}, {1}}, t.gap -= 0.5 * drape->thickness;
        t.feature = (uint32_t)OF_VERTEX << KIND_SHIFT | (uint32_t)v;
        emit(w, own, other, &t);
    }
    for (int32_t i = 0; i < body->vertices; i++) {
        mo_surface_point p;
        int32_t v = body->vertex[i];
        mo_vec3 x = body->body->position[v];
        if (!mo_elastic_surface_nearest(cloth, x, reach, NULL, NULL, &p) || !(fabs(p.gap) > 0)) continue;
        mo_elastic_touch t = {.point = mo_mul(0.5, mo_add(x, p.point)), .gap = fabs(p.gap) - 0.5 * drape->thickness};
        t.normal = mo_mul(1 / fabs(p.gap), mo_sub(x, p.point));
        t.own = (mo_contact_place){1, {v}, {1}};
        for (int k = 0; k < 3; k++)
            if (p.weight[k] > 0)
                t.other.vertex[t.other.count] = cloth->face[3 * p.face + k],
                t.other.weight[t.other.count++] = p.weight[k];
        t.feature = (uint32_t)OF_VERTEX << KIND_SHIFT | (uint32_t)v;
        emit(w, other, own, &t);
    }
}

// ---- Cloth ----

static mo_contact_place place_of(const int32_t *vertex, const double *weight, int count)
{
    mo_contact_place p = {0};
    for (int k = 0; k < count; k++)
        if (weight[k] > 0) p.vertex[p.count] = vertex[k], p.weight[p.count++] = weight[k];
    return p;
}

// The distance that two places must keep: less for places of one cloth that are nearer at rest.
static double offset_of(const mo_pair *p, const mo_drape *drape)
{
    double offset = 0.5 * (drape[p->a].thickness + drape[p->b].thickness);
    if (p->a != p->b) return offset;
    const mo_vec3 *rest = drape[p->a].surface->body->rest;
    return fmin(offset, AT_REST * mo_pair_nearest(p, rest, rest).distance);
}

static uint32_t feature_of(const mo_pair *p)
{
    uint64_t h = mo_hash((uint32_t)p->own[0], (uint32_t)p->own[1], p->edges);
    h = mo_hash((uint32_t)h, (uint32_t)p->other[0], (uint32_t)p->other[1]);
    h = mo_hash((uint32_t)h, (uint32_t)p->other[2], (uint32_t)p->b);
    return (uint32_t)OF_PAIR << KIND_SHIFT | ((uint32_t)h & ((1u << KIND_SHIFT) - 1));
}

// The contact of a pair with its nearest points as they are at xa, xb, and the gap that this plane has at the start.
static void touch_pair(work *w, const int32_t *of, const mo_pair *p, const mo_drape *drape, const mo_nearest *n,
                       double offset)
{
    mo_elastic_touch t = {.normal = mo_mul(1 / n->distance, n->way), .feature = feature_of(p)};
    t.own = place_of(p->own, n->own, p->edges ? 2 : 1), t.other = place_of(p->other, n->other, p->edges ? 2 : 3);
    mo_vec3 a = place_at(drape[p->a].from, &t.own), b = place_at(drape[p->b].from, &t.other);
    t.point = mo_mul(0.5, mo_add(a, b));
    t.gap = mo_dot(mo_sub(a, b), t.normal) - offset;
    emit(w, of[p->a], of[p->b], &t);
}

typedef struct near_pair { // one that may touch in the step
    mo_nearest nearest;
    double offset, distance; // distance: sorts those of one vertex or edge
    int32_t pair;
    mo_pair key;
} near_pair;

static bool may_touch(const mo_pair *p, const mo_drape *drape, near_pair *out)
{
    mo_nearest n = mo_pair_nearest(p, drape[p->a].from, drape[p->b].from);
    if (!(n.distance > 0) || (p->edges && !n.inside)) return false;
    mo_contact_place own = place_of(p->own, n.own, p->edges ? 2 : 1);
    mo_contact_place other = place_of(p->other, n.other, p->edges ? 2 : 3);
    double change = mo_dot(mo_sub(way_of(&drape[p->a], &own), way_of(&drape[p->b], &other)), n.way) / n.distance;
    double thickness = 0.5 * (drape[p->a].thickness + drape[p->b].thickness), ahead = AHEAD * thickness;
    if (n.distance - thickness + fmin(change, 0) >= ahead) return false;
    double offset = offset_of(p, drape);
    *out = (near_pair){n, offset, n.distance, 0, *p};
    return n.distance - offset + fmin(change, 0) < ahead;
}

static int by_own_and_distance(const void *x, const void *y)
{
    const near_pair *p = x, *q = y;
    if (p->key.edges != q->key.edges) return p->key.edges - q->key.edges;
    if (p->key.a != q->key.a) return p->key.a < q->key.a ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (p->key.own[k] != q->key.own[k]) return p->key.own[k] < q->key.own[k] ? -1 : 1;
    if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
    return p->pair - q->pair;
}

static bool same_own(const near_pair *p, const near_pair *q)
{
    return p->key.edges == q->key.edges && p->key.a == q->key.a && p->key.own[0] == q->key.own[0] &&
           p->key.own[1] == q->key.own[1];
}

// If a vertex or an edge is near to several places in about one direction, only the nearest counts: triangles that meet
// in an edge would give the same contact twice, and layers beyond the first are behind it.
static void touch_nearest(work *w, const int32_t *of, const mo_drape *drape, near_pair *list, int32_t count)
{
    enum { MOST = 8 };
    const double alike = 0.7; // cosine
    qsort(list, (size_t)count, sizeof *list, by_own_and_distance);
    for (int32_t i = 0, end; i < count; i = end) {
        mo_vec3 kept[MOST];
        int n = 0;
        for (end = i; end < count && same_own(&list[end], &list[i]); end++) {
            const near_pair *p = &list[end];
            mo_vec3 normal = mo_mul(1 / p->distance, p->nearest.way);
            bool known = n == MOST;
            for (int k = 0; k < n; k++) known |= mo_dot(normal, kept[k]) > alike;
            if (known) continue;
            kept[n++] = normal;
            touch_pair(w, of, &p->key, drape, &p->nearest, p->offset);
        }
    }
}

static mo_status touch_near(work *w, const int32_t *of, const mo_drape *drape, const mo_pairs *pairs, mo_error *err)
{
    int64_t capacity = 0;
    int32_t count = 0;
    near_pair *list = NULL, one;
    for (int32_t i = 0; i < pairs->count; i++) {
        if (pairs->pair[i].edges || !may_touch(&pairs->pair[i], drape, &one)) continue;
        if (!mo_reserve((void **)&list, &capacity, count + 1, sizeof *list)) {
            mo_free(list);
            return mo_fail_memory(err);
        }
        one.pair = i;
        list[count++] = one;
    }
    if (count) touch_nearest(w, of, drape, list, count);
    mo_free(list);
    return MO_OK;
}

// How near pairs may come before that is an impact.
static double met(const mo_pair *p, const mo_drape *drape)
{
    return MET * (drape[p->a].thickness + drape[p->b].thickness);
}

static void touch_meeting_pair(work *w, const int32_t *of, const mo_pair *p, const mo_drape *drape)
{
    double time;
    if (!mo_pair_meets(p, drape, met(p, drape), &time)) return;
    mo_vec3 own[2], other[3];
    const mo_drape *a = &drape[p->a], *b = &drape[p->b];
    for (int k = 0; k < 2; k++) own[k] = mo_mad(a->from[p->own[k]], time, mo_sub(a->to[p->own[k]], a->from[p->own[k]]));
    for (int k = 0; k < 3; k++)
        other[k] = mo_mad(b->from[p->other[k]], time, mo_sub(b->to[p->other[k]], b->from[p->other[k]]));
    const mo_pair places = {0, 0, p->edges, {0, 1}, {0, 1, 2}};
    mo_nearest n = mo_pair_nearest(&places, own, other);
    if (n.distance > 0) touch_pair(w, of, p, drape, &n, fmin(offset_of(p, drape), KEPT / MET * met(p, drape)));
}

// The drapes of all cloth among the colliders, in the arena, and which collider each is; *drapes of them.
static bool list_drapes(const mo_collider *collider, int32_t count, mo_arena *arena, mo_drape **drape, int32_t **of,
                        int32_t *drapes)
{
    *drape = MO_ARENA_ARRAY(arena, mo_drape, count + 1), *of = MO_ARENA_ARRAY(arena, int32_t, count + 1);
    *drapes = 0;
    for (int32_t i = 0; *drape && *of && i < count; i++)
        if (collider[i].cloth) (*drape)[*drapes] = *collider[i].cloth, (*of)[(*drapes)++] = i;
    return *drape && *of;
}

static mo_status touch_cloth(work *w, mo_pairs *pairs, mo_arena *arena, mo_error *err)
{
    mo_drape *drape;
    int32_t *of, drapes;
    double thickest = 0;
    if (!list_drapes(w->collider, w->count, arena, &drape, &of, &drapes)) return mo_fail_memory(err);
    for (int32_t k = 0; k < drapes; k++) thickest = fmax(thickest, drape[k].thickness);
    MO_TRY(mo_pairs_find(drapes, drape, AHEAD * thickest, pairs, err));
    if (!w->impacts) return touch_near(w, of, drape, pairs, err);
    for (int32_t i = 0; i < pairs->count; i++) touch_meeting_pair(w, of, &pairs->pair[i], drape);
    return MO_OK;
}

// ---- All ----

static mo_status touch_all(work *w, mo_pairs *pairs, mo_arena *arena, mo_error *err)
{
    int32_t vertices = 0;
    for (int32_t i = 0; i < w->count; i++)
        if (w->collider[i].cloth && w->collider[i].elastic->body->vertices > vertices)
            vertices = w->collider[i].elastic->body->vertices;
    w->distance = MO_ARENA_ARRAY(arena, double, vertices + 1);
    if (!w->distance) return mo_fail_memory(err);
    for (int32_t i = 0; i < w->count; i++)
        for (int32_t k = 0; w->collider[i].cloth && k < w->count; k++) {
            const mo_collider *o = &w->collider[k];
            if (o->shape) touch_shape(w, i, k);
            if (!w->impacts && o->elastic && !o->cloth) touch_elastic(w, i, k);
        }
    MO_TRY(touch_cloth(w, pairs, arena, err));
    return w->enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cloth_contacts_add(const mo_collider *collider, int32_t count, const mo_contact_def *def, mo_contacts *out,
                                mo_arena *arena, mo_error *err)
{
    work w = {.collider = collider, .count = count, .dt = def->dt, .reach = def->reach};
    w.capacity = out->capacity, w.out = out, w.enough = true;
    mo_pairs pairs = {0};
    bool any = false;
    for (int32_t i = 0; i < count; i++) any |= collider[i].cloth != NULL;
    mo_status status = any ? touch_all(&w, &pairs, arena, err) : MO_OK;
    mo_free(pairs.pair);
    return status;
}

mo_status mo_cloth_impacts_find(const mo_collider *collider, int32_t count, double dt, mo_contacts *out,
                                mo_arena *arena, mo_error *err)
{
    work w = {.collider = collider, .count = count, .dt = dt, .impacts = true};
    w.capacity = out->capacity, w.out = out, w.enough = true;
    mo_pairs pairs = {0};
    out->count = 0;
    mo_status status = touch_all(&w, &pairs, arena, err);
    mo_free(pairs.pair);
    return status;
}
