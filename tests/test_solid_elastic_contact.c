// Contacts of elastic bodies: nearest points of surfaces against a search through all faces, contacts of pairs with
// known answers, deep overlaps, bodies that touch themselves, threads, memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/tets.h"
#include "geometry/triangle.h"
#include "solid/elastic_contact.h"
#include "ration.h"
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static void near3(mo_vec3 a, mo_vec3 b, double tolerance)
{
    if (!(mo_norm(mo_sub(a, b)) <= tolerance))
        fail_msg("(%g, %g, %g) is not (%g, %g, %g) within %g", a.x, a.y, a.z, b.x, b.y, b.z, tolerance);
}

static double uniform(uint32_t a, uint32_t b) { return 2 * mo_unit(mo_hash(a, b, 5)) - 1; }

enum { MOST = 4 };

typedef struct world {
    bool flat;
    int32_t count, bodies;
    mo_collider c[MOST];
    mo_elastic_body body[MOST];
    mo_elastic_surface surface[MOST];
    mo_samples samples[MOST];
    mo_contact_def def;
    mo_contacts found;
    mo_arena *arena;
} world;

static world *world_create(bool flat, double reach)
{
    world *w = calloc(1, sizeof *w);
    w->flat = flat;
    w->def = (mo_contact_def){.reach = reach, .two_dimensional = flat};
    w->arena = mo_arena_create();
    return w;
}

static void world_destroy(world *w)
{
    for (int32_t i = 0; i < w->count; i++) {
        mo_elastic_surface_destroy(&w->surface[i]), mo_elastic_destroy(&w->body[i]);
        mo_samples_destroy(&w->samples[i]);
        if (w->c[i].shape) mo_shape_release(w->c[i].shape);
    }
    mo_contacts_destroy(&w->found);
    mo_arena_destroy(w->arena);
    free(w);
}

// An elastic block of a size about a place.
static mo_elastic_body *put_block(world *w, mo_vec3 size, mo_vec3 at, double element)
{
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.4, 0);
    pose.position = at;
    int32_t i = w->count++;
    assert_int_equal(mo_tets_box(size, pose, element, w->flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 500, 0.1, &w->body[i]), MO_OK);
    mo_tets_destroy(&mesh);
    assert_int_equal(mo_elastic_surface_create(&w->body[i], &w->surface[i], NULL), MO_OK);
    w->c[i] = (mo_collider){.elastic = &w->surface[i], .friction = 0.5};
    return &w->body[i];
}

static mo_collider *put_shape(world *w, mo_shape *s, mo_vec3 at, double angle, double spacing)
{
    int32_t i = w->count++;
    w->c[i] = (mo_collider){.shape = s, .rigid = spacing > 0, .friction = 0.5, .restitution = 0.3, .radius = INFINITY};
    w->c[i].pose = (mo_pose){at, mo_quat_axis_angle(mo_v3(0, 0, 1), angle)};
    if (spacing > 0) {
        mo_box3 b = mo_shape_bounds(s);
        w->c[i].centre = mo_mul(0.5, mo_add(b.lo, b.hi)), w->c[i].radius = 0.5 * mo_norm(mo_sub(b.hi, b.lo));
        assert_int_equal((w->flat ? mo_samples_create_2d : mo_samples_create)(s, spacing, 4000, &w->samples[i], NULL),
                         MO_OK);
        w->c[i].samples = &w->samples[i];
    }
    return &w->c[i];
}

// Every contact in order, with weights that add up to 1, and a gap that is that of its places.
static void find(world *w)
{
    for (int32_t i = 0; i < w->count; i++)
        if (w->c[i].elastic) mo_elastic_surface_update(&w->surface[i]);
    assert_int_equal(mo_contacts_find(w->c, w->count, &w->def, &w->found, w->arena, NULL), MO_OK);
    for (int32_t i = 0; i < w->found.count; i++) {
        const mo_contact *c = &w->found.contact[i];
        assert_true(c->a <= c->b && c->gap < w->def.reach);
        near(mo_norm(c->normal), 1, 1e-12);
        mo_vec3 at[2] = {{0}};
        for (int k = 0; k < 2; k++) {
            const mo_contact_place *p = &c->on[k];
            double sum = 0;
            assert_int_equal(p->count > 0, w->c[k ? c->b : c->a].elastic != NULL);
            for (int m = 0; m < p->count; m++) {
                assert_true(p->weight[m] > 0);
                sum += p->weight[m];
                at[k] = mo_mad(at[k], p->weight[m], w->body[k ? c->b : c->a].position[p->vertex[m]]);
            }
            if (p->count) near(sum, 1, 1e-12);
        }
        if (c->on[0].count && c->on[1].count) near(mo_dot(mo_sub(at[0], at[1]), c->normal), c->gap, 1e-9);
        near(c->restitution, 0, c->on[0].count || c->on[1].count ? 0 : 1);
        if (i == 0) continue;
        const mo_contact *p = c - 1;
        assert_true(p->a < c->a || (p->a == c->a && (p->b < c->b || (p->b == c->b && p->feature < c->feature))));
    }
}

// ---- Surfaces ----

static void bend(mo_elastic_body *b)
{
    for (int32_t i = 0; i < b->vertices; i++) {
        mo_vec3 x = b->rest[i];
        b->position[i] =
            mo_v3(x.x + 0.2 * x.y * x.y, x.y + 0.3 * x.x * x.x, b->dimension == 3 ? x.z + 0.2 * x.x * x.y : 0);
    }
}

static double face_distance(const mo_elastic_surface *s, int32_t f, mo_vec3 x)
{
    const mo_vec3 *p = s->body->position;
    mo_vec3 a = *mo_surface_corner(s, p, f, 0), b = *mo_surface_corner(s, p, f, 1);
    return mo_norm(s->dimension == 3 ? mo_triangle_way(a, b, *mo_surface_corner(s, p, f, 2), x)
                                     : mo_segment_way(a, b, x));
}

// Whether x lies in an element.
static bool inside(const mo_elastic_body *b, mo_vec3 x)
{
    int n = b->dimension + 1;
    for (int32_t e = 0; e < b->elements; e++) {
        mo_tets t = {b->dimension, n, 1, NULL, (int32_t[]){0, 1, 2, 3}};
        bool in = true;
        for (int k = 0; k < n && in; k++) {
            double place[12];
            for (int c = 0; c < n; c++) {
                mo_vec3 p = c == k ? x : b->position[b->corner[e * n + c]];
                place[3 * c] = p.x, place[3 * c + 1] = p.y, place[3 * c + 2] = p.z;
            }
            t.position = place;
            in = mo_tets_volume(&t, 0) >= 0;
        }
        if (in) return true;
    }
    return false;
}

static bool even(const void *user, int32_t face) { return (void)user, face % 2 == 0; }

static void nearest_points(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.1);
        mo_elastic_body *b = put_block(w, mo_v3(1, 0.6, 0.5), mo_v3(0.1, 0, 0), 0.2);
        const mo_elastic_surface *s = &w->surface[0];
        bend(b);
        mo_elastic_surface_update(&w->surface[0]);
        for (uint32_t i = 0; i < 400; i++) {
            mo_vec3 x = {uniform(i, 1), uniform(i, 2), flat ? 0 : uniform(i, 3)};
            if (i % 4 == 0) x = b->position[i % (uint32_t)b->vertices]; // ties
            mo_surface_point p;
            int32_t best = -1;
            bool filtered = i % 3 == 0;
            for (int32_t f = 0; f < s->faces; f++)
                if ((!filtered || f % 2 == 0) && (best < 0 || face_distance(s, f, x) < face_distance(s, best, x)))
                    best = f;
            assert_true(mo_elastic_surface_nearest(s, x, INFINITY, filtered ? even : NULL, NULL, &p));
            assert_int_equal(p.face, best);
            near(fabs(p.gap), face_distance(s, best, x), 1e-12);
            mo_vec3 y = {0, 0, 0};
            for (int k = 0; k < s->dimension; k++)
                y = mo_mad(y, p.weight[k], *mo_surface_corner(s, b->position, best, k));
            near3(y, p.point, 1e-8);
            if (!filtered && fabs(p.gap) > 1e-9) assert_int_equal(p.gap < 0, inside(b, x));
            double limit = face_distance(s, best, x);
            assert_false(limit > 1e-6 &&
                         mo_elastic_surface_nearest(s, x, 0.999 * limit, filtered ? even : NULL, NULL, &p));
        }
        for (int32_t f = 0; f < s->faces; f++)
            for (int k = 0; k < s->dimension; k++) assert_true(s->across[f * s->dimension + k] >= 0);
        world_destroy(w);
    }
}

// ---- Shapes ----

// A block above a plane: all its lowest vertices, and no others.
static void block_on_a_plane(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int k = 0; k < 2; k++) {
            double gap = k ? 0.01 : -0.03;
            world *w = world_create(flat, 0.02);
            put_shape(w, mo_shape_plane(mo_v3(0, 1, 0), 0), mo_v3(0, 0, 0), 0, 0);
            mo_elastic_body *b = put_block(w, mo_v3(1, 0.5, 1), mo_v3(0, 0.25 + gap, 0), 0.25);
            find(w);
            int32_t low = 0;
            for (int32_t i = 0; i < b->vertices; i++) low += b->position[i].y < gap + 1e-9;
            assert_int_equal(low, flat ? 5 : 25);
            assert_int_equal(w->found.count, low);
            for (int32_t i = 0; i < low; i++) {
                const mo_contact *c = &w->found.contact[i];
                near(c->gap, gap, 1e-9);
                near3(c->normal, mo_v3(0, -1, 0), 1e-9); // from the block to the plane
                near(c->friction, 0.5, 0);
                assert_int_equal(c->on[1].count, 1);
                near(c->point.y, 0.5 * gap, 1e-9);
            }
            world_destroy(w);
        }
}

// Pinned vertices on what does not move are no contacts; on a rigid body they are.
static void pinned_vertices(void **state)
{
    (void)state;
    world *w = world_create(false, 0.02);
    mo_elastic_body *b = put_block(w, mo_v3(1, 0.5, 1), mo_v3(0, 0.25, 0), 0.5);
    uint8_t *pinned = malloc((size_t)b->vertices);
    memset(pinned, 1, (size_t)b->vertices);
    put_shape(w, mo_shape_plane(mo_v3(0, 1, 0), 0), mo_v3(0, 0, 0), 0, 0);
    put_shape(w, mo_shape_box(mo_v3(2, 0.2, 2)), mo_v3(0, 0.6, 0), 0, 0.1);
    w->c[0].pinned = pinned;
    find(w);
    assert_int_equal(w->found.count, 9);
    for (int i = 0; i < 9; i++) assert_int_equal(w->found.contact[i].b, 2);
    free(pinned);
    world_destroy(w);
}

// The corners and edges of a rigid box that stands on a large face, and a ball between its vertices.
static void shapes_on_a_block(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.01);
        put_block(w, mo_v3(2, 0.5, 2), mo_v3(0, -0.25, 0), 0.5);
        put_shape(w, mo_shape_box(mo_v3(0.2, 0.2, 0.2)), mo_v3(0.16, 0.095, flat ? 0 : 0.17), 0, 0.1);
        find(w);
        assert_true(w->found.count >= (flat ? 2 : 4));
        int corners = 0;
        for (int32_t i = 0; i < w->found.count; i++) {
            const mo_contact *c = &w->found.contact[i];
            near(c->gap, -0.005, 1e-9);
            near3(c->normal, mo_v3(0, -1, 0), 1e-9);
            double x = fabs(c->point.x - 0.16), z = flat ? 0.1 : fabs(c->point.z - 0.17);
            corners += fabs(x - 0.1) < 1e-9 && fabs(z - 0.1) < 1e-9;
            assert_true(fmax(x, z) > 0.1 - 1e-9);
        }
        assert_int_equal(corners, flat ? 2 : 4);
        world_destroy(w);
        for (int k = 0; k < 3; k++) { // on a face, an edge, and so high that it does not touch
            w = world_create(flat, 0.01);
            put_block(w, mo_v3(2, 0.5, 2), mo_v3(0, -0.25, 0), 0.5);
            double height = k == 2 ? 0.115 : 0.097;
            mo_vec3 at = {flat ? 0.27 : 0.1, height, flat ? 0 : k == 1 ? 0.25 : 0.3};
            if (k == 1 && !flat) at.x = 0.25;
            put_shape(w, mo_shape_sphere(0.1), at, 0.3, 0.05);
            find(w);
            assert_int_equal(w->found.count, k < 2);
            if (k < 2) {
                const mo_contact *c = &w->found.contact[0];
                near(c->gap, -0.003 + 0.01 * w->surface[0].element, 1e-5);
                near3(c->normal, mo_v3(0, -1, 0), 2e-2);
                near3(mo_v3(c->point.x, 0, c->point.z), mo_v3(at.x, 0, at.z), 2e-3);
            }
            world_destroy(w);
        }
    }
}

// ---- Elastic bodies ----

static void blocks_on_each_other(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int k = 0; k < 2; k++) {
            double gap = k ? 0.005 : -0.02;
            world *w = world_create(flat, 0.008);
            put_block(w, mo_v3(1, 0.5, 1), mo_v3(0, 0, 0), 0.25);
            put_block(w, mo_v3(0.4, 0.4, 0.4), mo_v3(0.04, 0.45 + gap, 0.03), 0.2);
            find(w);
            int32_t of_a = 0, of_b = 0;
            for (int32_t i = 0; i < w->found.count; i++) {
                const mo_contact *c = &w->found.contact[i];
                near(c->gap, gap, 1e-9);
                near3(c->normal, mo_v3(0, -1, 0), 1e-9);
                if (c->feature >> 31)
                    of_b++;
                else
                    of_a++;
            }
            assert_int_equal(of_b, flat ? 3 : 9);
            assert_int_equal(of_a, flat ? 1 : 1); // the vertex of the large one below the small one
            world_destroy(w);
        }
}

// Blocks with edges above each other: whether these are a hair apart or across, the faces between them push.
static void edges_on_edges(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int k = 0; k < 9; k++) {
            double off = 1e-4 * (k % 3 - 1), gap = 1e-5 * (k / 3 - 1);
            world *w = world_create(flat, 0.01);
            put_block(w, mo_v3(0.4, 0.4, 0.4), mo_v3(0, -0.2, 0), 0.2);
            put_block(w, mo_v3(0.4, 0.4, 0.4), mo_v3(off, 0.2 + gap, flat ? 0 : -off), 0.2);
            find(w);
            assert_int_equal(w->found.count, flat ? 6 : 18);
            for (int32_t i = 0; i < w->found.count; i++) {
                near3(w->found.contact[i].normal, mo_v3(0, -1, 0), 1e-9);
                near(w->found.contact[i].gap, gap, 1e-12);
            }
            world_destroy(w);
        }
}

// Two bars whose lowest and highest edges cross between their vertices: a single contact, along the direction across
// both, wherever they cross and whichever bar comes first.
static void crossing_edges(void **state)
{
    (void)state;
    static const double gaps[] = {-0.012, -1e-3, 1e-3, 0.01};
    for (int k = 0; k < 8; k++) {
        double gap = gaps[k % 4], away = 0.1 * sqrt(2.0) + gap;
        bool first = k < 4;
        world *w = world_create(false, 0.005);
        put_block(w, mo_v3(0.4, 0.1, 0.1), mo_v3(0, 0, 0), 0.1);
        put_block(w, mo_v3(0.1, 0.1, 0.4), mo_v3(0, 0, 0), 0.1);
        for (int i = 0; i < 2; i++) {
            mo_quat turn = mo_quat_axis_angle(i ? mo_v3(0, 0, 1) : mo_v3(1, 0, 0), 0.25 * acos(-1.0));
            mo_vec3 by = i ? mo_v3(0.033, first ? away : -away, 0.071) : mo_v3(0, 0, 0);
            for (int32_t v = 0; v < w->body[i].vertices; v++)
                w->body[i].position[v] = mo_add(by, mo_quat_rotate(turn, w->body[i].rest[v]));
        }
        find(w);
        assert_int_equal(w->found.count, gap < 0.005);
        for (int32_t i = 0; i < w->found.count; i++) {
            const mo_contact *c = w->found.contact;
            near3(c->normal, mo_v3(0, first ? -1 : 1, 0), 1e-12);
            near3(c->point, mo_v3(0.033, (first ? 0.5 : -0.5) * away, 0), 1e-12);
            near(c->gap, gap, 1e-12);
            assert_true(c->on[0].count == 2 && c->on[1].count == 2);
        }
        world_destroy(w);
    }
}

// A vertex that went through more than half of a sheet, elastic or rigid, is still pushed back, with a normal and a gap
// that change evenly.
static void deep_overlaps(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int rigid = 0; rigid < 2; rigid++)
            for (double depth = 0.005; depth < 0.09; depth += 0.01) {
                world *w = world_create(flat, 0.02);
                put_block(w, mo_v3(0.4, 0.4, 0.4), mo_v3(0, 0.2 - depth, 0), 0.4);
                if (rigid)
                    put_shape(w, mo_shape_box(mo_v3(2, 0.1, 2)), mo_v3(0.01, -0.05, 0.02), 0, 0.2);
                else
                    put_block(w, mo_v3(2, 0.1, 2), mo_v3(0.01, -0.05, 0.02), 0.1);
                find(w);
                int corners = 0;
                for (int32_t i = 0; i < w->found.count; i++) {
                    const mo_contact *c = &w->found.contact[i];
                    if (c->on[0].count != 1 || c->feature >> 31) continue; // of the block's vertices
                    near3(c->normal, mo_v3(0, 1, 0), 1e-6);
                    near(c->gap, -depth, 1e-6);
                    corners++;
                }
                assert_int_equal(corners, flat ? 2 : 4);
                world_destroy(w);
            }
}

// A strip bent to most of a ring: its ends touch each other, the rest does not.
static void a_ring_touches_itself(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int touching = 0; touching < 2; touching++) {
            world *w = world_create(flat, 0.03);
            const double length = 4, angle = 2 * M_PI + (touching ? 0.0 : -0.2);
            mo_elastic_body *b = put_block(w, mo_v3(length, 0.2, 0.2), mo_v3(0, 0, 0), 0.1);
            for (int32_t i = 0; i < b->vertices; i++) {
                mo_vec3 x = b->rest[i];
                double a = angle * x.x / length, r = length / (2 * M_PI) - x.y;
                b->position[i] = mo_v3(r * sin(a), -r * cos(a), x.z);
            }
            find(w);
            assert_int_equal(w->found.count, 0); // not asked for
            w->c[0].self_contact = true;
            find(w);
            if (!touching) assert_int_equal(w->found.count, 0);
            if (touching) assert_int_equal(w->found.count, flat ? 6 : 18); // both ends' faces
            for (int32_t i = 0; i < w->found.count; i++) {
                const mo_contact *c = &w->found.contact[i];
                assert_int_equal(c->a, c->b);
                near(fabs(c->normal.x), 1, 1e-2);
                near(c->gap, 0, 1e-9);
            }
            world_destroy(w);
        }
}

// Bodies that are squeezed to half their thickness do not touch themselves.
static void squeezed_bodies(void **state)
{
    (void)state;
    world *w = world_create(false, 0.02);
    mo_elastic_body *b = put_block(w, mo_v3(1, 0.4, 0.4), mo_v3(0, 0, 0), 0.1);
    for (int32_t i = 0; i < b->vertices; i++) b->position[i].y *= 0.4;
    w->c[0].self_contact = true;
    find(w);
    assert_int_equal(w->found.count, 0);
    world_destroy(w);
}

// ---- Threads and memory ----

static world *crowd(void)
{
    world *w = world_create(false, 0.05);
    mo_elastic_body *a = put_block(w, mo_v3(1, 0.4, 1), mo_v3(0, 0, 0), 0.1);
    mo_elastic_body *b = put_block(w, mo_v3(1, 0.4, 1), mo_v3(0.13, 0.41, 0.07), 0.08);
    put_shape(w, mo_shape_sphere(0.4), mo_v3(0.1, 0.98, 0.1), 0.3, 0.05);
    put_shape(w, mo_shape_plane(mo_v3(0, 1, 0), -0.2), mo_v3(0, 0, 0), 0, 0);
    for (int32_t i = 0; i < a->vertices; i++) a->position[i].y += 0.02 * uniform((uint32_t)i, 7);
    for (int32_t i = 0; i < b->vertices; i++) b->position[i].y += 0.02 * uniform((uint32_t)i, 8);
    return w;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    world *w = crowd();
    mo_use_threads(1);
    find(w);
    int32_t count = w->found.count;
    assert_true(count > 200);
    mo_contact *first = malloc(sizeof *first * (size_t)count);
    memcpy(first, w->found.contact, sizeof *first * (size_t)count);
    for (int threads = 2; threads <= 4; threads++) {
        mo_use_threads(threads);
        find(w);
        assert_int_equal(w->found.count, count);
        for (int32_t i = 0; i < count; i++) {
            const mo_contact *p = &first[i], *q = &w->found.contact[i];
            assert_true(p->a == q->a && p->b == q->b && p->feature == q->feature && p->gap == q->gap);
            assert_true(mo_v3_equal(p->point, q->point) && mo_v3_equal(p->normal, q->normal));
            assert_memory_equal(p->on, q->on, sizeof p->on);
        }
    }
    mo_use_threads(1);
    free(first);
    world_destroy(w);
}

static void failing_memory_loses_nothing(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    world *w = crowd();
    int failures = 0;
    for (int at = 1;; at++) {
        ration memory = {.fail_at = at};
        mo_elastic_surface s;
        mo_arena_destroy(w->arena);
        mo_contacts_destroy(&w->found);
        w->arena = mo_arena_create();
        mo_set_allocator(rationed, &memory);
        mo_status status = mo_elastic_surface_create(&w->body[0], &s, NULL);
        if (status == MO_OK) mo_elastic_surface_destroy(&s);
        if (status == MO_OK) status = mo_contacts_find(w->c, w->count, &w->def, &w->found, w->arena, NULL);
        mo_set_allocator(NULL, NULL);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
    world_destroy(w);
    assert_int_equal(mo_memory_in_use(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points),        cmocka_unit_test(block_on_a_plane),
        cmocka_unit_test(pinned_vertices),       cmocka_unit_test(shapes_on_a_block),
        cmocka_unit_test(blocks_on_each_other),  cmocka_unit_test(edges_on_edges),
        cmocka_unit_test(crossing_edges),        cmocka_unit_test(deep_overlaps),
        cmocka_unit_test(a_ring_touches_itself), cmocka_unit_test(squeezed_bodies),
        cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(failing_memory_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
