// Shapes: making, sharing and evaluating the tree of nodes. Bounds are in shape_bounds.c, primitives in primitives.h.
#include "geometry/primitives.h"
#include <string.h>

// A tree deeper than this is refused: evaluation recurses, and stacks are finite.
enum { MAX_DEPTH = 8000 };

static bool positive(double x) { return isfinite(x) && x > 0; }

mo_shape *mo_shape_new(mo_shape_kind kind, const mo_shape *a, const mo_shape *b)
{
    int32_t depth = 1 + (a ? a->depth : 0);
    if (b && b->depth >= depth) depth = 1 + b->depth;
    if (depth > MAX_DEPTH) return NULL;
    mo_shape *s = mo_calloc(sizeof *s);
    if (!s) return NULL;
    atomic_init(&s->references, 1);
    s->kind = kind;
    s->depth = depth;
    s->a = mo_shape_retain(a);
    s->b = mo_shape_retain(b);
    return s;
}

const mo_shape *mo_shape_retain(const mo_shape *s)
{
    if (s) atomic_fetch_add(&((mo_shape *)s)->references, 1);
    return s;
}

void mo_shape_release(const mo_shape *shape)
{
    mo_shape *s = (mo_shape *)shape;
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) return;
    mo_shape_release(s->a);
    mo_shape_release(s->b);
    if (s->kind == MO_SHAPE_LATTICE) mo_free(s->lattice.sample);
    mo_free(s);
}

mo_box3 mo_shape_bounds(const mo_shape *s) { return s->bounds; }

bool mo_shape_is_bounded(const mo_shape *s) { return mo_v3_finite(s->bounds.lo) && mo_v3_finite(s->bounds.hi); }

static mo_shape *finish(mo_shape *s)
{
    if (s) s->bounds = mo_shape_find_bounds(s);
    return s;
}

static mo_shape *round_shape(mo_shape_kind kind, double radius, double height, double thickness)
{
    if (!positive(radius) || !positive(height) || !positive(thickness)) return NULL;
    mo_shape *s = mo_shape_new(kind, NULL, NULL);
    if (!s) return NULL;
    s->radius = radius;
    s->height = 0.5 * height;
    s->thickness = thickness;
    return finish(s);
}

mo_shape *mo_shape_sphere(double radius) { return round_shape(MO_SHAPE_SPHERE, radius, 1, 1); }
mo_shape *mo_shape_capsule(double radius, double height)
{
    return round_shape(MO_SHAPE_CAPSULE, fmin(radius, 0.5 * height), height, 1);
}
mo_shape *mo_shape_cylinder(double radius, double height) { return round_shape(MO_SHAPE_CYLINDER, radius, height, 1); }
mo_shape *mo_shape_cone(double radius, double height) { return round_shape(MO_SHAPE_CONE, radius, height, 1); }

// A wall thicker than the radius leaves no hollow.
static mo_shape *hollow(mo_shape_kind kind, double radius, double thickness)
{
    mo_shape *s = round_shape(kind, radius, 1, thickness);
    if (s && thickness >= radius) s->thickness = INFINITY;
    return s;
}

mo_shape *mo_shape_bowl(double radius, double thickness) { return hollow(MO_SHAPE_BOWL, radius, thickness); }
mo_shape *mo_shape_hollow_sphere(double radius, double thickness)
{
    return hollow(MO_SHAPE_HOLLOW_SPHERE, radius, thickness);
}

static mo_shape *sized(mo_shape_kind kind, mo_vec3 half)
{
    if (!positive(half.x) || !positive(half.y) || !positive(half.z)) return NULL;
    mo_shape *s = mo_shape_new(kind, NULL, NULL);
    if (s) s->size = half;
    return finish(s);
}

mo_shape *mo_shape_box(mo_vec3 size) { return sized(MO_SHAPE_BOX, mo_mul(0.5, size)); }
mo_shape *mo_shape_ellipsoid(mo_vec3 half_axes) { return sized(MO_SHAPE_ELLIPSOID, half_axes); }

mo_shape *mo_shape_torus(double major, double minor)
{
    if (!positive(major) || !positive(minor)) return NULL;
    mo_shape *s = mo_shape_new(MO_SHAPE_TORUS, NULL, NULL);
    if (!s) return NULL;
    s->major = major;
    s->minor = minor;
    return finish(s);
}

mo_shape *mo_shape_plane(mo_vec3 normal, double offset)
{
    double length = mo_norm(normal);
    if (!positive(length) || !isfinite(offset)) return NULL;
    mo_shape *s = mo_shape_new(MO_SHAPE_PLANE, NULL, NULL);
    if (!s) return NULL;
    s->normal = mo_mul(1 / length, normal);
    s->offset = offset / length;
    return finish(s);
}

// Transforms of transforms become one: x = move + scale R x_operand.
static mo_shape *transform(const mo_shape *s, mo_mat3 rotation, mo_vec3 move, double scale)
{
    bool nested = s->kind == MO_SHAPE_TRANSFORM;
    mo_shape *t = mo_shape_new(MO_SHAPE_TRANSFORM, nested ? s->a : s, NULL);
    if (!t) return NULL;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            t->inverse.m[i][j] = rotation.m[j][i];
            if (!nested) continue;
            t->inverse.m[i][j] = 0;
            for (int k = 0; k < 3; k++) t->inverse.m[i][j] += s->inverse.m[i][k] * rotation.m[j][k];
        }
    t->move = nested ? mo_mad(move, scale, mo_mat3_mul(rotation, s->move)) : move;
    t->scale = nested ? scale * s->scale : scale;
    return finish(t);
}

static const mo_mat3 identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

mo_shape *mo_shape_move(const mo_shape *s, mo_vec3 by)
{
    return s && mo_v3_finite(by) ? transform(s, identity, by, 1) : NULL;
}

mo_shape *mo_shape_rotate(const mo_shape *s, mo_vec3 axis, double degrees)
{
    if (!s || !positive(mo_norm(axis)) || !isfinite(degrees)) return NULL;
    mo_quat q = mo_quat_axis_angle(axis, fmod(degrees, 360) * (M_PI / 180));
    mo_vec3 x = mo_quat_rotate(q, mo_v3(1, 0, 0)), y = mo_quat_rotate(q, mo_v3(0, 1, 0)), z = mo_cross(x, y);
    return transform(s, (mo_mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}}, mo_v3(0, 0, 0), 1);
}

mo_shape *mo_shape_scale(const mo_shape *s, double factor)
{
    return s && positive(factor) ? transform(s, identity, mo_v3(0, 0, 0), factor) : NULL;
}

const mo_shape *mo_shape_core(const mo_shape *s, mo_pose *motion)
{
    *motion = mo_pose_identity();
    if (s->kind != MO_SHAPE_TRANSFORM) return mo_shape_retain(s);
    mo_mat3 rotation;
    for (int i = 0; i < 9; i++) rotation.m[i / 3][i % 3] = s->inverse.m[i % 3][i / 3];
    *motion = (mo_pose){s->move, mo_quat_from_matrix(rotation)};
    return s->scale == 1 ? mo_shape_retain(s->a) : mo_shape_scale(s->a, s->scale);
}

bool mo_shape_is_faceted(const mo_shape *s)
{
    switch (s->kind) {
    case MO_SHAPE_BOX:
    case MO_SHAPE_PLANE: return true;
    case MO_SHAPE_TRANSFORM: return mo_shape_is_faceted(s->a);
    case MO_SHAPE_UNION:
    case MO_SHAPE_DIFFERENCE:
    case MO_SHAPE_INTERSECT: return mo_shape_is_faceted(s->a) && mo_shape_is_faceted(s->b);
    default: return false;
    }
}

static bool same_lattice(const mo_distance_lattice *a, const mo_distance_lattice *b)
{
    if (memcmp(a->n, b->n, sizeof a->n) != 0 || a->spacing != b->spacing || !mo_v3_equal(a->origin, b->origin))
        return false;
    size_t count = (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2];
    return a->sample == b->sample || memcmp(a->sample, b->sample, sizeof(float) * count) == 0;
}

static bool same_node(const mo_shape *a, const mo_shape *b)
{
    switch (a->kind) {
    case MO_SHAPE_BOX:
    case MO_SHAPE_ELLIPSOID: return mo_v3_equal(a->size, b->size);
    case MO_SHAPE_TORUS: return a->major == b->major && a->minor == b->minor;
    case MO_SHAPE_PLANE: return mo_v3_equal(a->normal, b->normal) && a->offset == b->offset;
    case MO_SHAPE_TRANSFORM:
        return memcmp(&a->inverse, &b->inverse, sizeof a->inverse) == 0 && mo_v3_equal(a->move, b->move) &&
               a->scale == b->scale;
    case MO_SHAPE_LATTICE: return same_lattice(&a->lattice, &b->lattice);
    case MO_SHAPE_UNION:
    case MO_SHAPE_DIFFERENCE:
    case MO_SHAPE_INTERSECT: return true;
    default: return a->radius == b->radius && a->height == b->height && a->thickness == b->thickness;
    }
}

bool mo_shape_equal(const mo_shape *a, const mo_shape *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->depth != b->depth || !same_node(a, b)) return false;
    return mo_shape_equal(a->a, b->a) && mo_shape_equal(a->b, b->b);
}

mo_shape *mo_shape_shell(const mo_shape *s, double thickness)
{
    if (!s || !positive(thickness)) return NULL;
    mo_shape *shell = mo_shape_new(MO_SHAPE_SHELL, s, NULL);
    if (shell) shell->thickness = thickness;
    return finish(shell);
}

static mo_shape *combine(mo_shape_kind kind, const mo_shape *a, const mo_shape *b)
{
    return a && b ? finish(mo_shape_new(kind, a, b)) : NULL;
}

mo_shape *mo_shape_union(const mo_shape *a, const mo_shape *b) { return combine(MO_SHAPE_UNION, a, b); }
mo_shape *mo_shape_difference(const mo_shape *a, const mo_shape *b) { return combine(MO_SHAPE_DIFFERENCE, a, b); }
mo_shape *mo_shape_intersect(const mo_shape *a, const mo_shape *b) { return combine(MO_SHAPE_INTERSECT, a, b); }

mo_shape *mo_shape_smooth_union(const mo_shape *a, const mo_shape *b, double radius)
{
    if (!a || !b || !positive(radius)) return NULL;
    mo_shape *s = mo_shape_new(MO_SHAPE_SMOOTH_UNION, a, b);
    if (s) s->thickness = radius;
    return finish(s);
}

// An operand of a union, at least as far as its bounds: with that, skipping a far operand changes nothing.
static double operand_distance(const mo_shape *s, mo_vec3 p, double outside)
{
    double d = mo_shape_distance(s, p);
    return outside > 0 && outside > d ? outside : d;
}

// Quadratic blend over |a - b| < radius: a convex combination of the slopes, so it stays a distance bound.
static double union_distance(const mo_shape *s, mo_vec3 p, double radius)
{
    const mo_shape *near = s->a, *far = s->b;
    double near_outside = mo_box_outside(&near->bounds, p), far_outside = mo_box_outside(&far->bounds, p);
    if (far_outside < near_outside) {
        const mo_shape *shape = near;
        near = far, far = shape;
        double outside = near_outside;
        near_outside = far_outside, far_outside = outside;
    }
    double a = operand_distance(near, p, near_outside);
    if (far_outside > 0 && far_outside >= a + radius) return a;
    double b = operand_distance(far, p, far_outside);
    double least = fmin(a, b), h = radius - fabs(a - b);
    return h > 0 ? least - h * h / (4 * radius) : least;
}

double mo_shape_distance(const mo_shape *s, mo_vec3 p)
{
    double d;
    switch (s->kind) {
    case MO_SHAPE_SPHERE: return mo_norm(p) - s->radius;
    case MO_SHAPE_BOX: return box_distance(s->size, p);
    case MO_SHAPE_ELLIPSOID: return ellipsoid_distance(s->size, p);
    case MO_SHAPE_CAPSULE: return capsule_distance(s->radius, s->height, p);
    case MO_SHAPE_CYLINDER: return cylinder_distance(s->radius, s->height, p);
    case MO_SHAPE_CONE: return cone_distance(s->radius, s->height, p);
    case MO_SHAPE_TORUS: return torus_distance(s->major, s->minor, p);
    case MO_SHAPE_PLANE: return mo_dot(s->normal, p) - s->offset;
    case MO_SHAPE_BOWL: return bowl_distance(s->radius, s->thickness, p);
    case MO_SHAPE_HOLLOW_SPHERE: return hollow_sphere_distance(s->radius, s->thickness, p);
    case MO_SHAPE_LATTICE: return lattice_distance(&s->lattice, p);
    case MO_SHAPE_TRANSFORM:
        p = mo_mul(1 / s->scale, mo_mat3_mul(s->inverse, mo_sub(p, s->move)));
        return s->scale * mo_shape_distance(s->a, p);
    case MO_SHAPE_SHELL: d = mo_shape_distance(s->a, p); return fmax(d, -(d + s->thickness));
    case MO_SHAPE_UNION: return union_distance(s, p, 0);
    case MO_SHAPE_DIFFERENCE: return fmax(mo_shape_distance(s->a, p), -mo_shape_distance(s->b, p));
    case MO_SHAPE_INTERSECT: return fmax(mo_shape_distance(s->a, p), mo_shape_distance(s->b, p));
    case MO_SHAPE_SMOOTH_UNION: return union_distance(s, p, s->thickness);
    }
    return INFINITY;
}
