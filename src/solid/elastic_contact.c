// Contacts of all pairs with elastic bodies. The points of a pair are independent, and each writes to its own place, so
// that threads do not change the result.
#include "solid/cloth_contact.h"
#include "base/parallel.h"
#include "geometry/shape_node.h"
#include <stdlib.h>

// How a contact was found: the upper bits of its feature; the lower ones are a number.
enum { OF_VERTEX, OF_SAMPLE, OF_FACE, OF_EDGE, OF_B = 4, KIND_SHIFT = 29, MANY = 256 };

typedef struct work {
    const mo_collider *collider;
    int32_t count;
    double reach;
    mo_elastic_touch *touch; // [most points of a kind]
    bool *touches;
    double *distance; // [most vertices]
    mo_elastic_touches edges;
    int64_t capacity;
    mo_contacts *out;
} work;

// ---- Sides ----

bool mo_contact_can_move(const mo_collider *c, const mo_contact_place *place)
{
    if (!c->elastic) return c->rigid;
    for (int k = 0; k < place->count; k++)
        if (!c->pinned || !c->pinned[place->vertex[k]]) return true;
    return false;
}

mo_contact mo_elastic_contact_of(const mo_collider *collider, int32_t own, int32_t other, const mo_elastic_touch *t)
{
    bool first = own <= other;
    const mo_collider *A = &collider[own], *B = &collider[other];
    return (mo_contact){.a = first ? own : other,
                        .b = first ? other : own,
                        .point = t->point,
                        .normal = first ? t->normal : mo_mul(-1, t->normal),
                        .gap = t->gap,
                        .friction = sqrt(A->friction * B->friction),
                        .feature = first ? t->feature : t->feature | (uint32_t)OF_B << KIND_SHIFT,
                        .on = {first ? t->own : t->other, first ? t->other : t->own}};
}

static mo_status reserve(work *w, int64_t more, mo_error *err)
{
    if (!mo_reserve((void **)&w->out->contact, &w->capacity, w->out->count + more, sizeof *w->out->contact))
        return mo_fail_memory(err);
    w->out->capacity = (int32_t)w->capacity;
    return MO_OK;
}

static void emit(work *w, int32_t own, int32_t other, const mo_elastic_touch *t)
{
    if (mo_contact_can_move(&w->collider[own], &t->own) || mo_contact_can_move(&w->collider[other], &t->other))
        w->out->contact[w->out->count++] = mo_elastic_contact_of(w->collider, own, other, t);
}

// Collects the contacts found among n points of one kind.
static mo_status gather(work *w, int32_t own, int32_t other, uint32_t kind, int32_t n, mo_error *err)
{
    int64_t found = 0;
    for (int32_t i = 0; i < n; i++) found += w->touches[i];
    MO_TRY(reserve(w, found, err));
    for (int32_t i = 0; i < n; i++) {
        mo_elastic_touch *t = &w->touch[i];
        if (!w->touches[i]) continue;
        t->feature = kind << KIND_SHIFT | (uint32_t)i;
        emit(w, own, other, t);
    }
    return MO_OK;
}

// ---- Points of one collider against another ----

// Vertices of an elastic body against another, or itself.
static mo_status touch_elastic(work *w, int32_t own, int32_t other, mo_error *err)
{
    const mo_elastic_surface *s = w->collider[own].elastic, *o = w->collider[other].elastic;
#pragma omp parallel for schedule(dynamic, 32) if (s->vertices > MANY)
    for (int32_t i = 0; i < s->vertices; i++) {
        int32_t v = s->vertex[i];
        mo_elastic_touch *t = &w->touch[i];
        w->touches[i] = own == other ? mo_touch_self(s, v, w->reach, t)
                                     : mo_touch_surface(o, s->body->position[v], s->normal[v], w->reach, t);
        t->own = (mo_contact_place){1, {v}, {1}};
    }
    return gather(w, own, other, OF_VERTEX, s->vertices, err);
}

// Edges of two elastic bodies.
static mo_status touch_edges(work *w, int32_t a, int32_t b, mo_error *err)
{
    MO_TRY(mo_touch_edges(w->collider[a].elastic, w->collider[b].elastic, w->reach, &w->edges, err));
    MO_TRY(reserve(w, w->edges.count, err));
    for (int64_t i = 0; i < w->edges.count; i++) {
        mo_elastic_touch *t = &w->edges.touch[i];
        t->feature |= (uint32_t)OF_EDGE << KIND_SHIFT;
        emit(w, a, b, t);
    }
    return MO_OK;
}

// Vertices of an elastic body against a shape, and its faces where that is round.
static mo_status touch_shape(work *w, int32_t own, int32_t other, mo_error *err)
{
    const mo_elastic_surface *s = w->collider[own].elastic;
    const mo_collider *o = &w->collider[other];
#pragma omp parallel for schedule(dynamic, 32) if (s->vertices > MANY)
    for (int32_t i = 0; i < s->vertices; i++)
        w->touches[i] = mo_touch_shape(s, s->vertex[i], o, w->reach, &w->distance[s->vertex[i]], &w->touch[i]);
    MO_TRY(gather(w, own, other, OF_VERTEX, s->vertices, err));
    if (!isfinite(o->radius) || mo_shape_is_faceted(o->shape)) return MO_OK;
#pragma omp parallel for schedule(dynamic, 32) if (s->faces > MANY)
    for (int32_t f = 0; f < s->faces; f++) w->touches[f] = mo_touch_round(s, f, o, w->distance, w->reach, &w->touch[f]);
    return gather(w, own, other, OF_FACE, s->faces, err);
}

// Edges and corners of a shape against an elastic body.
static mo_status touch_samples(work *w, int32_t own, int32_t other, mo_error *err)
{
    const mo_collider *c = &w->collider[own];
    const mo_samples *p = c->samples;
    if (!p) return MO_OK;
#pragma omp parallel for schedule(dynamic, 32) if (p->count > MANY)
    for (int32_t i = 0; i < p->count; i++) {
        mo_vec3 n = mo_quat_rotate(c->pose.rotation, p->normal[i]);
        w->touch[i] = (mo_elastic_touch){0};
        w->touches[i] = p->kind[i] != MO_POINT_SMOOTH &&
                        mo_touch_surface(w->collider[other].elastic, mo_pose_apply(c->pose, p->point[i]), n, w->reach,
                                         &w->touch[i]);
    }
    return gather(w, own, other, OF_SAMPLE, p->count, err);
}

// ---- Pairs ----

static bool boxes_near(const mo_box3 *a, const mo_box3 *b, double reach)
{
    for (int k = 0; k < 3; k++)
        if (mo_get(a->lo, k) > mo_get(b->hi, k) + reach || mo_get(b->lo, k) > mo_get(a->hi, k) + reach) return false;
    return true;
}

// Whether an elastic body comes near another collider: its box, and the ball round it.
static bool may_touch(const mo_elastic_surface *s, const mo_collider *c, double reach)
{
    mo_box3 box = s->tree[0].box;
    if (c->elastic) return boxes_near(&box, &c->elastic->tree[0].box, reach);
    mo_vec3 middle = mo_mul(0.5, mo_add(box.lo, box.hi)), at = mo_pose_apply(c->pose, c->centre);
    if (isfinite(c->radius) && mo_box_outside(&box, at) > c->radius + reach) return false;
    double half = 0.5 * mo_norm(mo_sub(box.hi, box.lo));
    return mo_shape_distance(c->shape, mo_pose_to_body(c->pose, middle)) <= half + reach;
}

static mo_status touch_pair(work *w, int32_t a, int32_t b, mo_error *err)
{
    const int32_t side[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        int32_t own = side[k], other = side[1 - k];
        const mo_collider *A = &w->collider[own], *B = &w->collider[other];
        if (A->elastic && B->elastic)
            MO_TRY(touch_elastic(w, own, other, err));
        else
            MO_TRY(A->elastic ? touch_shape(w, own, other, err) : touch_samples(w, own, other, err));
    }
    return w->collider[a].elastic && w->collider[b].elastic ? touch_edges(w, a, b, err) : MO_OK;
}

static mo_status touch_all(work *w, mo_error *err)
{
    for (int32_t a = 0; a < w->count; a++) {
        const mo_collider *A = &w->collider[a];
        if (A->cloth) continue; // cloth_contact.h
        if (A->elastic && A->self_contact) MO_TRY(touch_elastic(w, a, a, err));
        for (int32_t b = a + 1; b < w->count; b++) {
            const mo_collider *B = &w->collider[b];
            if ((!A->elastic && !B->elastic) || B->cloth) continue;
            if (A->elastic ? may_touch(A->elastic, B, w->reach) : may_touch(B->elastic, A, w->reach))
                MO_TRY(touch_pair(w, a, b, err));
        }
    }
    return MO_OK;
}

// ---- All ----

int mo_contact_order(const void *p, const void *q)
{
    const mo_contact *a = p, *b = q;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    if (a->b != b->b) return a->b < b->b ? -1 : 1;
    return a->feature < b->feature ? -1 : a->feature > b->feature;
}

static bool make_room(work *w, mo_arena *arena)
{
    int64_t points = 0, vertices = 0;
    for (int32_t i = 0; i < w->count; i++) {
        const mo_collider *c = &w->collider[i];
        int64_t own = c->elastic ? (c->elastic->faces > c->elastic->vertices ? c->elastic->faces : c->elastic->vertices)
                      : c->samples ? c->samples->count
                                   : 0;
        points = own > points ? own : points;
        if (c->elastic && c->elastic->body->vertices > vertices) vertices = c->elastic->body->vertices;
    }
    w->touch = MO_ARENA_ARRAY(arena, mo_elastic_touch, points + 1);
    w->touches = MO_ARENA_ARRAY(arena, bool, points + 1);
    w->distance = MO_ARENA_ARRAY(arena, double, vertices + 1);
    return w->touch && w->touches && w->distance;
}

mo_status mo_elastic_contacts_add(const mo_collider *collider, int32_t count, const mo_contact_def *def,
                                  mo_contacts *out, mo_arena *arena, mo_error *err)
{
    work w = {.collider = collider, .count = count, .reach = def->reach, .capacity = out->capacity, .out = out};
    bool any = false;
    for (int32_t i = 0; i < count; i++) any |= collider[i].elastic != NULL;
    if (!any) return MO_OK;
    if (!make_room(&w, arena)) return mo_fail_memory(err);
    mo_status status = touch_all(&w, err);
    mo_free(w.edges.touch);
    MO_TRY(status);
    MO_TRY(mo_cloth_contacts_add(collider, count, def, out, arena, err));
    if (out->count) qsort(out->contact, (size_t)out->count, sizeof *out->contact, mo_contact_order);
    return MO_OK;
}
