// Single points of elastic bodies and of the solids that they touch.
#include "solid/elastic_contact.h"
#include "geometry/shape_node.h"
#include "geometry/triangle.h"
#include "solid/feature.h"
#include <math.h>

static const double AWAY = 0.5;     // cosine: normals that agree so much do not face each other
static const double FACING = -0.4;  // cosine: normals that differ so much face each other
static const double OPPOSED = -0.2; // cosine: normals of a body that touches itself
static const double RIM = 0.1;      // elements: how far beyond and below their edges faces count for points facing them
static const double APART = 3;      // elements: places nearer than this at rest do not touch each other
static const double SELF_DEPTH = .5; // elements: points deeper in their own body are on the other side of it
static const double LOWER = 0.01;    // elements: how far round shapes may be in a face beyond its vertices
static const double CLOSE = 1e-6;    // elements: nearer than this, directions are those of normals

// ---- Against a surface ----

static mo_contact_place place_of(const mo_elastic_surface *s, const mo_surface_point *p)
{
    mo_contact_place place = {0};
    for (int k = 0; k < s->dimension; k++)
        if (p->weight[k] > 0) {
            place.vertex[place.count] = s->face[p->face * s->dimension + k];
            place.weight[place.count++] = p->weight[k];
        }
    return place;
}

static bool within_face(const mo_elastic_surface *s, const mo_surface_point *p)
{
    return p->weight[0] > 0 && p->weight[1] > 0 && (s->dimension == 2 || p->weight[2] > 0);
}

// The direction in which the surface pushes x, whose nearest point is p.
static mo_vec3 push_of(const mo_elastic_surface *s, const mo_surface_point *p, mo_vec3 x)
{
    if (within_face(s, p) || fabs(p->gap) < CLOSE * s->element) return s->face_normal[p->face];
    return mo_mul(1 / p->gap, mo_sub(x, p->point));
}

static mo_elastic_touch touch_at(const mo_elastic_surface *s, const mo_surface_point *p, mo_vec3 x, mo_vec3 push)
{
    return (mo_elastic_touch){.point = mo_mul(0.5, mo_add(x, p->point)),
                              .normal = push,
                              .gap = mo_dot(mo_sub(x, p->point), push),
                              .other = place_of(s, p)};
}

typedef struct facing { // what a search for faces depends on
    const mo_elastic_surface *s;
    int32_t vertex;
    mo_vec3 x, n;
} facing;

static bool does_not_agree(const void *user, int32_t face)
{
    const facing *f = user;
    return mo_dot(f->n, f->s->face_normal[face]) < 0;
}

static bool is_faced(const void *user, int32_t face)
{
    const facing *f = user;
    return mo_dot(f->n, f->s->face_normal[face]) < FACING;
}

// Where edges lie on each other, rounding decides whether a point is beyond the edge or on which side of it, and the
// nearest point would push it along the face on which it lies. If there is a face that it faces, that one counts.
static bool touch_rim(const facing *f, double reach, mo_elastic_touch *out)
{
    mo_surface_point p;
    double rim = RIM * f->s->element;
    if (!mo_elastic_surface_nearest(f->s, f->x, rim, is_faced, f, &p)) return false;
    *out = touch_at(f->s, &p, f->x, f->s->face_normal[p.face]);
    return out->gap < reach;
}

bool mo_touch_surface(const mo_elastic_surface *s, mo_vec3 x, mo_vec3 n, double reach, mo_elastic_touch *out)
{
    mo_surface_point p, back;
    if (!s->faces || mo_box_outside(&s->tree[0].box, x) >= reach) return false;
    if (!mo_elastic_surface_nearest(s, x, INFINITY, NULL, NULL, &p) || p.gap >= reach) return false;
    facing f = {s, -1, x, n};
    mo_vec3 push = push_of(s, &p, x);
    if (mo_dot(n, push) > FACING && touch_rim(&f, reach, out)) return true;
    if (mo_dot(n, push) > AWAY) {
        if (p.gap >= 0) return false;
        if (mo_elastic_surface_nearest(s, x, INFINITY, does_not_agree, &f, &back) && back.gap < 0)
            p = back, push = push_of(s, &p, x);
    }
    *out = touch_at(s, &p, x, push);
    return true;
}

static double rest_distance(const mo_elastic_surface *s, int32_t face, mo_vec3 x)
{
    const mo_vec3 *a = mo_surface_corner(s, s->body->rest, face, 0), *b = mo_surface_corner(s, s->body->rest, face, 1);
    if (s->dimension == 2) return mo_norm(mo_segment_way(*a, *b, x));
    return mo_norm(mo_triangle_way(*a, *b, *mo_surface_corner(s, s->body->rest, face, 2), x));
}

static bool may_touch_itself(const void *user, int32_t face)
{
    const facing *f = user;
    const mo_elastic_surface *s = f->s;
    mo_vec3 m = s->face_normal[face], a = *mo_surface_corner(s, s->body->position, face, 0);
    if (mo_dot(f->n, m) > OPPOSED || mo_dot(mo_sub(f->x, a), m) < -SELF_DEPTH * s->element) return false;
    return rest_distance(s, face, s->body->rest[f->vertex]) > APART * s->element;
}

bool mo_touch_self(const mo_elastic_surface *s, int32_t vertex, double reach, mo_elastic_touch *out)
{
    mo_surface_point p;
    facing f = {s, vertex, s->body->position[vertex], s->normal[vertex]};
    double limit = fmax(reach, SELF_DEPTH * s->element);
    if (!mo_elastic_surface_nearest(s, f.x, limit, may_touch_itself, &f, &p) || p.gap >= reach) return false;
    if (p.gap < -SELF_DEPTH * s->element) return false; // behind the edge of a face whose plane it is in front of
    mo_vec3 push = push_of(s, &p, f.x);
    if (mo_dot(f.n, push) > 0) return false;
    *out = touch_at(s, &p, f.x, push);
    out->own = (mo_contact_place){1, {vertex}, {1}};
    return true;
}

// ---- Against a shape ----

static mo_vec3 gradient_at(const mo_zero_level *l, mo_vec3 y, double d)
{
    return mo_normalize(mo_zero_level_gradient_from(l, y, d));
}

// Goes from y, inside, against the direction n to where the line leaves the shape within `most`, with a gradient there
// that faces n. All in the shape's frame.
static bool leave_shape(const mo_zero_level *l, mo_vec3 y, mo_vec3 n, double most, mo_vec3 *out, mo_vec3 *g)
{
    enum { STEPS = 100 };
    double way = 0, d = 0;
    for (int k = 0; k < STEPS && way < most; k++) {
        *out = mo_mad(y, -way, n);
        d = mo_shape_distance(l->shape, *out);
        if (d > -l->step) break;
        way += fmax(-d, l->step);
    }
    if (!(d > -l->step)) return false;
    *g = gradient_at(l, *out, d);
    return mo_dot(*g, n) < 0;
}

bool mo_touch_shape(const mo_elastic_surface *s, int32_t vertex, const mo_collider *other, double reach,
                    double *distance, mo_elastic_touch *out)
{
    mo_zero_level level = mo_zero_level_of(other->shape, s->dimension == 2);
    mo_vec3 x = s->body->position[vertex], y = mo_pose_to_body(other->pose, x);
    mo_box3 box = mo_shape_bounds(other->shape);
    *distance = INFINITY;
    if (mo_box_outside(&box, y) > reach + s->element) return false;
    double d = *distance = mo_shape_distance(other->shape, y);
    if (!(d < reach)) return false;
    mo_vec3 n = mo_quat_rotate(mo_quat_conj(other->pose.rotation), s->normal[vertex]), left, h;
    mo_vec3 g = gradient_at(&level, y, d);
    if (!(mo_norm(g) > 0.5)) g = mo_mul(-1, n); // at the middle of the shape
    bool away = mo_dot(n, g) > AWAY, rim = mo_dot(n, g) > FACING && d < 0 && -d < RIM * s->element;
    if (away && d > 0) return false;
    if ((away || rim) && isfinite(other->radius) &&
        leave_shape(&level, y, n, away ? 4 * other->radius : RIM * s->element, &left, &h))
        g = h, d = mo_dot(mo_sub(y, left), h);
    g = mo_normalize(mo_quat_rotate(other->pose.rotation, g));
    *out = (mo_elastic_touch){.point = mo_mad(x, -0.5 * d, g), .normal = g, .gap = d, .own = {1, {vertex}, {1}}};
    return true;
}

// ---- A face against a round shape ----

typedef struct patch { // a face in the shape's frame
    int dimension;
    mo_zero_level level;
    mo_vec3 corner[3], normal;
    double size; // m
} patch;

static mo_vec3 onto_patch(const patch *p, mo_vec3 y)
{
    mo_vec3 way = p->dimension == 3 ? mo_triangle_way(p->corner[0], p->corner[1], p->corner[2], y)
                                    : mo_segment_way(p->corner[0], p->corner[1], y);
    return mo_sub(y, way);
}

// The point of the face that is nearest to the shape, or deepest in it, by gradient steps of Barzilai and Borwein's
// length, each brought back to the face. Returns its distance.
static double lowest(const patch *p, mo_vec3 *at, mo_vec3 *gradient)
{
    enum { STEPS = 10 };
    mo_vec3 y = {0, 0, 0}, slope = {0, 0, 0};
    double step = 0.5 * p->size, least = INFINITY;
    for (int k = 0; k < p->dimension; k++) y = mo_mad(y, 1.0 / p->dimension, p->corner[k]);
    for (int k = 0; k < STEPS; k++) {
        double d = mo_shape_distance(p->level.shape, y);
        mo_vec3 g = gradient_at(&p->level, y, d);
        if (d < least) least = d, *at = y, *gradient = g;
        slope = mo_mad(g, -mo_dot(g, p->normal), p->normal);
        mo_vec3 next = onto_patch(p, mo_mad(y, -step, slope)), way = mo_sub(next, y);
        if (mo_norm(way) < 1e-4 * p->size) break;
        double there = mo_shape_distance(p->level.shape, next);
        mo_vec3 change = mo_sub(gradient_at(&p->level, next, there), g);
        double bend = mo_dot(way, mo_mad(change, -mo_dot(change, p->normal), p->normal));
        step = bend > 0 ? fmin(mo_dot(way, way) / bend, 4 * p->size) : p->size;
        y = next;
    }
    return least;
}

double mo_lowest_on_triangle(const mo_shape *shape, const mo_vec3 corner[3], double size, mo_vec3 *at,
                             mo_vec3 *gradient)
{
    patch p = {.dimension = 3, .level = mo_zero_level_of(shape, false), .size = size};
    for (int k = 0; k < 3; k++) p.corner[k] = corner[k];
    p.normal = mo_normalize(mo_cross(mo_sub(corner[1], corner[0]), mo_sub(corner[2], corner[0])));
    return lowest(&p, at, gradient);
}

// Whether the surface continues downwards beyond the side of the face on which y lies; then the neighbour finds a
// deeper point. If both find the same point, the first face counts.
static bool is_of_neighbour(const mo_elastic_surface *s, const patch *p, const mo_collider *other, int32_t face,
                            const double weight[3], mo_vec3 y, double d)
{
    for (int k = 0; k < s->dimension; k++) {
        int32_t across = s->across[face * s->dimension + k];
        if (weight[k] > 1e-6 || across < 0) continue;
        if (across < face) return true;
        for (int c = 0; c < s->dimension; c++) {
            mo_vec3 z = mo_pose_to_body(other->pose, *mo_surface_corner(s, s->body->position, across, c));
            if (mo_shape_distance(p->level.shape, mo_mad(y, 0.05, mo_sub(z, y))) < d) return true;
        }
    }
    return false;
}

bool mo_touch_round(const mo_elastic_surface *s, int32_t face, const mo_collider *other, const double *distance,
                    double reach, mo_elastic_touch *out)
{
    patch p = {.dimension = s->dimension, .size = s->element};
    double least = INFINITY;
    for (int k = 0; k < p.dimension; k++) least = fmin(least, distance[s->face[face * p.dimension + k]]);
    if (!(least < reach + s->element)) return false;
    p.level = mo_zero_level_of(other->shape, s->dimension == 2);
    for (int k = 0; k < p.dimension; k++)
        p.corner[k] = mo_pose_to_body(other->pose, *mo_surface_corner(s, s->body->position, face, k));
    p.normal = mo_quat_rotate(mo_quat_conj(other->pose.rotation), s->face_normal[face]);
    mo_vec3 y = p.corner[0], g = {0, 0, 0};
    double d = lowest(&p, &y, &g);
    double let = LOWER * s->element;
    if (!(d + let < fmin(reach, least)) || mo_dot(g, p.normal) > -AWAY) return false;
    mo_surface_point at = {.face = face};
    mo_vec3 x = mo_pose_apply(other->pose, y);
    mo_elastic_surface_weigh(s, face, x, at.weight);
    if (is_of_neighbour(s, &p, other, face, at.weight, y, d)) return false;
    g = mo_normalize(mo_quat_rotate(other->pose.rotation, g));
    *out = (mo_elastic_touch){.point = mo_mad(x, -0.5 * d, g), .normal = g, .gap = d + let, .own = place_of(s, &at)};
    return true;
}
