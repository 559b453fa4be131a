// Operations: motions, shells and combinations of shapes. Each has its distance, its support and its entry.
#include "geometry/shape_node.h"

static bool positive(double x) { return isfinite(x) && x > 0; }

static double support(const mo_shape *s, mo_vec3 u, double offset)
{
    MO_ASSERT(fabs(mo_norm(u) - 1) < 1e-9);
    return s->kind->support(s, u, offset);
}

// ---- Motion ----

static double transform_distance(const mo_shape *s, mo_vec3 p)
{
    p = mo_mul(1 / s->scale, mo_mat3_mul(s->inverse, mo_sub(p, s->move)));
    return s->scale * mo_shape_distance(s->a, p);
}

static double transform_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return mo_dot(u, s->move) + s->scale * support(s->a, mo_mat3_mul(s->inverse, u), offset / s->scale);
}

static bool same_transform(const mo_shape *a, const mo_shape *b)
{
    bool same = mo_v3_equal(a->move, b->move) && a->scale == b->scale;
    for (int i = 0; i < 9; i++) same &= a->inverse.m[i / 3][i % 3] == b->inverse.m[i / 3][i % 3];
    return same;
}

const mo_shape_kind mo_shape_transform = {
    .distance = transform_distance, .support = transform_support, .same = same_transform, .faceted = true};

// Transforms of transforms become one: x = move + scale R x_operand.
static mo_shape *transform(const mo_shape *s, mo_mat3 rotation, mo_vec3 move, double scale)
{
    bool nested = s->kind == &mo_shape_transform;
    mo_shape *t = mo_shape_new(&mo_shape_transform, nested ? s->a : s, NULL);
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
    return mo_shape_finish(t);
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
    if (s->kind != &mo_shape_transform) return mo_shape_retain(s);
    mo_mat3 rotation;
    for (int i = 0; i < 9; i++) rotation.m[i / 3][i % 3] = s->inverse.m[i % 3][i / 3];
    *motion = (mo_pose){s->move, mo_quat_from_matrix(rotation)};
    return s->scale == 1 ? mo_shape_retain(s->a) : mo_shape_scale(s->a, s->scale);
}

// ---- Shell ----

static double shell_distance(const mo_shape *s, mo_vec3 p)
{
    double d = mo_shape_distance(s->a, p);
    return fmax(d, -(d + s->thickness));
}

static double first_support(const mo_shape *s, mo_vec3 u, double offset) { return support(s->a, u, offset); }

static const mo_shape_kind shell = {.distance = shell_distance, .support = first_support};

mo_shape *mo_shape_shell(const mo_shape *s, double thickness)
{
    if (!s || !positive(thickness)) return NULL;
    mo_shape *t = mo_shape_new(&shell, s, NULL);
    if (t) t->thickness = thickness;
    return mo_shape_finish(t);
}

// ---- Combinations ----

static mo_shape *combine(const mo_shape_kind *kind, const mo_shape *a, const mo_shape *b)
{
    return a && b ? mo_shape_finish(mo_shape_new(kind, a, b)) : NULL;
}

static double difference_distance(const mo_shape *s, mo_vec3 p)
{
    return fmax(mo_shape_distance(s->a, p), -mo_shape_distance(s->b, p));
}

static const mo_shape_kind difference = {.distance = difference_distance, .support = first_support, .faceted = true};

mo_shape *mo_shape_difference(const mo_shape *a, const mo_shape *b) { return combine(&difference, a, b); }

static double intersect_distance(const mo_shape *s, mo_vec3 p)
{
    return fmax(mo_shape_distance(s->a, p), mo_shape_distance(s->b, p));
}

static double intersect_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return fmin(support(s->a, u, offset), support(s->b, u, offset));
}

static const mo_shape_kind intersect = {.distance = intersect_distance, .support = intersect_support, .faceted = true};

mo_shape *mo_shape_intersect(const mo_shape *a, const mo_shape *b) { return combine(&intersect, a, b); }

// An operand of a union, at least as far as its bounds: with that, skipping a far operand changes nothing.
static double operand_distance(const mo_shape *s, mo_vec3 p, double outside)
{
    double d = mo_shape_distance(s, p);
    return outside > 0 && outside > d ? outside : d;
}

// Quadratic blend over |a - b| < radius: a convex combination of the slopes, so it stays a distance bound.
static double blended_distance(const mo_shape *s, mo_vec3 p, double radius)
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

static double union_distance(const mo_shape *s, mo_vec3 p) { return blended_distance(s, p, 0); }

static double union_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return fmax(support(s->a, u, offset), support(s->b, u, offset));
}

// From the operands' boxes: long chains of unions stay linear.
static mo_box3 union_bounds(const mo_shape *s)
{
    mo_box3 a = s->a->bounds, b = s->b->bounds;
    return (mo_box3){mo_v3(fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)),
                     mo_v3(fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z))};
}

static const mo_shape_kind plain_union = {
    .distance = union_distance, .support = union_support, .bounds = union_bounds, .faceted = true};

mo_shape *mo_shape_union(const mo_shape *a, const mo_shape *b) { return combine(&plain_union, a, b); }

static double smooth_distance(const mo_shape *s, mo_vec3 p) { return blended_distance(s, p, s->thickness); }

static double smooth_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return union_support(s, u, offset + 0.25 * s->thickness);
}

static const mo_shape_kind smooth_union = {.distance = smooth_distance, .support = smooth_support};

mo_shape *mo_shape_smooth_union(const mo_shape *a, const mo_shape *b, double radius)
{
    if (!a || !b || !positive(radius)) return NULL;
    mo_shape *s = mo_shape_new(&smooth_union, a, b);
    if (s) s->thickness = radius;
    return mo_shape_finish(s);
}
