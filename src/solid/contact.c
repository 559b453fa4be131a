// Contacts of all pairs: pairs whose bounding balls are near, both solids' samples against the other, and per pair the
// few points that matter. Pairs are independent; each writes to its own place, so threads do not change the result.
#include "solid/contact.h"
#include "base/parallel.h"
#include "solid/elastic_contact.h"
#include "solid/narrow.h"
#include <omp.h>

enum { DEFAULT_MOST = 8 };
static const uint32_t OF_B = 0x80000000u; // features of b's samples

typedef struct scratch { // of one thread
    mo_near_sample *near;
    mo_touch *touch;
} scratch;

typedef struct work {
    const mo_collider *collider;
    int32_t count, most;
    double reach;
    bool flat;
    mo_ball **block; // of each collider's samples
    int32_t (*pair)[2];
    int32_t pair_count, *found; // contacts of each pair
    mo_contact **contact;       // of each pair
    mo_arena *arena;
    scratch *scratch; // of each thread
} work;

void mo_tangents(mo_vec3 n, mo_vec3 *t1, mo_vec3 *t2)
{
    mo_vec3 axis = fabs(n.z) < 0.7 ? mo_v3(0, 0, 1) : mo_v3(1, 0, 0); // normals in the plane z = 0: t1 in it, t2 = z
    *t1 = mo_normalize(mo_cross(axis, n));
    *t2 = mo_cross(n, *t1);
}

static mo_ball ball_of(const mo_samples *s, int32_t first)
{
    int32_t end = first + MO_BLOCK < s->count ? first + MO_BLOCK : s->count;
    mo_ball b = {{0, 0, 0}, 0};
    for (int32_t i = first; i < end; i++) b.centre = mo_add(b.centre, s->point[i]);
    b.centre = mo_mul(1.0 / (end - first), b.centre);
    for (int32_t i = first; i < end; i++) b.radius = fmax(b.radius, mo_norm(mo_sub(s->point[i], b.centre)));
    return b;
}

static mo_status make_blocks(work *w, mo_arena *arena, mo_error *err)
{
    w->block = MO_ARENA_ARRAY(arena, mo_ball *, w->count + 1);
    if (!w->block) return mo_fail_memory(err);
    for (int32_t c = 0; c < w->count; c++) {
        const mo_samples *s = w->collider[c].samples;
        w->block[c] = NULL;
        for (int32_t k = 0; s && k < c && !w->block[c]; k++) // solids of equal shape share them
            if (w->collider[k].samples == s) w->block[c] = w->block[k];
        if (!s || w->block[c]) continue;
        w->block[c] = MO_ARENA_ARRAY(arena, mo_ball, s->count / MO_BLOCK + 1);
        if (!w->block[c]) return mo_fail_memory(err);
        for (int32_t i = 0; i < s->count; i += MO_BLOCK) w->block[c][i / MO_BLOCK] = ball_of(s, i);
    }
    return MO_OK;
}

// Whether the ball round a comes near b: its ball, then its distance.
static bool ball_near(const mo_collider *a, const mo_collider *b, double reach)
{
    if (!isfinite(a->radius)) return true;
    mo_vec3 c = mo_pose_apply(a->pose, a->centre);
    if (isfinite(b->radius)) {
        mo_vec3 d = mo_sub(mo_pose_apply(b->pose, b->centre), c);
        double far = a->radius + b->radius + reach;
        if (mo_dot(d, d) > far * far) return false;
    }
    return mo_shape_distance(b->shape, mo_pose_to_body(b->pose, c)) <= a->radius + reach;
}

static bool may_touch(const work *w, const mo_collider *a, const mo_collider *b)
{
    if (!a->shape || !b->shape || !(a->rigid || b->rigid) || !(a->samples || b->samples)) return false;
    return ball_near(a, b, w->reach) && ball_near(b, a, w->reach);
}

// Counts when w->pair is NULL, else lists.
static int32_t find_pairs(const work *w)
{
    int32_t n = 0;
    for (int32_t a = 0; a < w->count; a++)
        for (int32_t b = a + 1; b < w->count; b++) {
            if (!may_touch(w, &w->collider[a], &w->collider[b])) continue;
            if (w->pair) w->pair[n][0] = a, w->pair[n][1] = b;
            n++;
        }
    return n;
}

static mo_status make_room(work *w, int32_t threads, mo_arena *arena, mo_error *err)
{
    int64_t largest = 0;
    for (int32_t c = 0; c < w->count; c++) {
        const mo_samples *s = w->collider[c].samples;
        if (s && s->count > largest) largest = s->count;
    }
    w->pair_count = find_pairs(w);
    w->pair = mo_arena_alloc(arena, sizeof *w->pair * (size_t)(w->pair_count + 1));
    w->found = MO_ARENA_ARRAY(arena, int32_t, w->pair_count + 1);
    w->contact = MO_ARENA_ARRAY(arena, mo_contact *, w->pair_count + 1);
    w->scratch = MO_ARENA_ARRAY(arena, scratch, threads);
    if (!w->pair || !w->found || !w->contact || !w->scratch) return mo_fail_memory(err);
    find_pairs(w);
    for (int32_t t = 0; t < threads; t++) {
        w->scratch[t].near = MO_ARENA_ARRAY(arena, mo_near_sample, largest + 1);
        w->scratch[t].touch = MO_ARENA_ARRAY(arena, mo_touch, 2 * largest + 1);
        if (!w->scratch[t].near || !w->scratch[t].touch) return mo_fail_memory(err);
    }
    return MO_OK;
}

static void from_b(mo_touch *t) { t->normal = mo_mul(-1, t->normal), t->feature |= OF_B; }

// No overlap may be missed: the nearest sample touches if it is clearly nearer than all that were found.
static int32_t add_missed(mo_touch *t, int32_t count, const mo_touch *nearest, double reach, double spacing)
{
    double least = INFINITY;
    for (int32_t i = 0; i < count; i++) least = fmin(least, t[i].gap);
    if (nearest->gap < reach && nearest->gap < least - 0.1 * spacing) t[count++] = *nearest;
    return count;
}

static int32_t touch_pair(const work *w, int32_t a, int32_t b, const scratch *s, mo_contact **contact)
{
    MO_ASSERT(a != b && (w->collider[a].rigid || w->collider[b].rigid));
    const mo_collider *A = &w->collider[a], *B = &w->collider[b];
    int32_t count = 0, from_a;
    mo_touch nearest[2] = {{.gap = INFINITY}, {.gap = INFINITY}};
    if (A->samples) count = mo_narrow_find(A, B, w->block[a], w->reach, w->flat, s->near, s->touch, &nearest[0]);
    from_a = count;
    if (B->samples)
        count += mo_narrow_find(B, A, w->block[b], w->reach, w->flat, s->near, s->touch + count, &nearest[1]);
    for (int32_t i = from_a; i < count; i++) from_b(&s->touch[i]);
    from_b(&nearest[1]);
    double spacing = A->samples ? A->samples->spacing : B->samples->spacing;
    if (B->samples) spacing = fmin(spacing, B->samples->spacing);
    count = add_missed(s->touch, count, &nearest[nearest[1].gap < nearest[0].gap], w->reach, spacing);
    count = mo_manifold_reduce(s->touch, count, spacing, w->most);
    mo_contact *out;
#pragma omp critical(mo_contact_room)
    out = *contact = MO_ARENA_ARRAY(w->arena, mo_contact, count + 1);
    for (int32_t i = 0; out && i < count; i++) {
        const mo_touch *t = &s->touch[i];
        out[i] = (mo_contact){a,
                              b,
                              t->point,
                              t->normal,
                              t->gap,
                              sqrt(A->friction * B->friction),
                              fmax(A->restitution, B->restitution),
                              t->feature,
                              {{0}, {0}},
                              false,
                              A->thin || B->thin};
    }
    return count;
}

static mo_status gather(const work *w, mo_contacts *out, mo_error *err)
{
    int64_t total = 0, capacity = out->capacity;
    for (int32_t p = 0; p < w->pair_count; p++) {
        if (!w->contact[p]) return mo_fail_memory(err);
        total += w->found[p];
    }
    if (!mo_reserve((void **)&out->contact, &capacity, total, sizeof *out->contact)) return mo_fail_memory(err);
    out->capacity = (int32_t)capacity;
    for (int32_t p = 0; p < w->pair_count; p++)
        for (int32_t i = 0; i < w->found[p]; i++) out->contact[out->count++] = w->contact[p][i];
    return MO_OK;
}

static mo_status find(work *w, mo_contacts *out, mo_arena *arena, mo_error *err)
{
    int32_t threads = mo_thread_count();
    MO_TRY(make_blocks(w, arena, err));
    MO_TRY(make_room(w, threads, arena, err));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int32_t p = 0; p < w->pair_count; p++)
        w->found[p] = touch_pair(w, w->pair[p][0], w->pair[p][1], &w->scratch[omp_get_thread_num()], &w->contact[p]);
    return gather(w, out, err);
}

mo_status mo_contacts_find(const mo_collider *collider, int32_t count, const mo_contact_def *def, mo_contacts *out,
                           mo_arena *arena, mo_error *err)
{
    MO_ASSERT(count >= 0 && def->reach > 0 && def->most >= 0);
    work w = {.collider = collider, .count = count, .most = def->most > 0 ? def->most : DEFAULT_MOST, .arena = arena};
    w.reach = def->reach;
    w.flat = def->two_dimensional;
    out->count = 0;
    size_t mark = mo_arena_mark(arena);
    mo_status status = find(&w, out, arena, err);
    if (status == MO_OK) status = mo_elastic_contacts_add(collider, count, def, out, arena, err);
    mo_arena_release(arena, mark);
    return status;
}

void mo_contacts_destroy(mo_contacts *c)
{
    mo_free(c->contact);
    *c = (mo_contacts){0};
}
