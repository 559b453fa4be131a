// Bounds of shapes through support functions: how far the set {distance < offset} reaches in a direction. Rotations
// then cost nothing in tightness, and the swelling of a smooth union is an offset of its operands.
#include "geometry/shape_node.h"

static double cone_support(const mo_shape *s, mo_vec3 u, double across)
{
    return fmax(s->height * u.y, s->radius * across - s->height * u.y);
}

// A half space reaches infinitely far except along its normal.
static double plane_support(const mo_shape *s, mo_vec3 u, double offset)
{
    bool along = mo_dot(u, s->normal) > 0 && mo_norm(mo_cross(u, s->normal)) < 1e-12;
    return along ? s->offset + offset : INFINITY;
}

static double box_support(const mo_box3 *b, mo_vec3 u)
{
    return u.x * (u.x > 0 ? b->hi.x : b->lo.x) + u.y * (u.y > 0 ? b->hi.y : b->lo.y) +
           u.z * (u.z > 0 ? b->hi.z : b->lo.z);
}

double mo_shape_support(const mo_shape *s, mo_vec3 u, double offset)
{
    double across = sqrt(u.x * u.x + u.z * u.z);
    switch (s->kind) {
    case MO_SHAPE_SPHERE:
    case MO_SHAPE_HOLLOW_SPHERE: return s->radius + offset;
    case MO_SHAPE_BOX: return s->size.x * fabs(u.x) + s->size.y * fabs(u.y) + s->size.z * fabs(u.z) + offset;
    case MO_SHAPE_ELLIPSOID: return mo_norm(mo_v3(s->size.x * u.x, s->size.y * u.y, s->size.z * u.z)) + offset;
    case MO_SHAPE_CAPSULE: return (s->height - s->radius) * fabs(u.y) + s->radius + offset;
    case MO_SHAPE_CYLINDER: return s->height * fabs(u.y) + s->radius * across + offset;
    case MO_SHAPE_CONE: return cone_support(s, u, across) + offset;
    case MO_SHAPE_TORUS: return s->major * across + s->minor + offset;
    case MO_SHAPE_PLANE: return plane_support(s, u, offset);
    case MO_SHAPE_BOWL: return s->radius * (u.y > 0 ? across : 1) + offset;
    case MO_SHAPE_LATTICE: return box_support(&s->lattice.box, u) + offset;
    case MO_SHAPE_TRANSFORM:
        return mo_dot(u, s->move) + s->scale * mo_shape_support(s->a, mo_mat3_mul(s->inverse, u), offset / s->scale);
    case MO_SHAPE_SHELL:
    case MO_SHAPE_DIFFERENCE: return mo_shape_support(s->a, u, offset);
    case MO_SHAPE_UNION: return fmax(mo_shape_support(s->a, u, offset), mo_shape_support(s->b, u, offset));
    case MO_SHAPE_INTERSECT: return fmin(mo_shape_support(s->a, u, offset), mo_shape_support(s->b, u, offset));
    case MO_SHAPE_SMOOTH_UNION:
        offset += 0.25 * s->thickness;
        return fmax(mo_shape_support(s->a, u, offset), mo_shape_support(s->b, u, offset));
    }
    return INFINITY;
}

mo_box3 mo_shape_find_bounds(const mo_shape *s)
{
    mo_box3 box;
    if (s->kind == MO_SHAPE_UNION) { // from the operands' boxes: long chains of unions stay linear
        mo_box3 a = s->a->bounds, b = s->b->bounds;
        box.lo = mo_v3(fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z));
        box.hi = mo_v3(fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z));
        return box;
    }
    double lo[3], hi[3];
    for (int i = 0; i < 3; i++) {
        mo_vec3 u = {i == 0, i == 1, i == 2};
        hi[i] = mo_shape_support(s, u, 0);
        lo[i] = -mo_shape_support(s, mo_mul(-1, u), 0);
        if (lo[i] > hi[i]) lo[i] = hi[i] = 0.5 * (lo[i] + hi[i]); // operands that do not meet: nothing inside
    }
    box.lo = mo_v3(lo[0], lo[1], lo[2]);
    box.hi = mo_v3(hi[0], hi[1], hi[2]);
    return box;
}
