// The nodes of a shape: a tree of primitives, transforms and set operations, immutable once made.
#ifndef MO_SHAPE_NODE_H
#define MO_SHAPE_NODE_H

#include "geometry/shape.h"
#include <stdatomic.h>

typedef enum mo_shape_kind {
    MO_SHAPE_SPHERE,
    MO_SHAPE_BOX,
    MO_SHAPE_ELLIPSOID,
    MO_SHAPE_CAPSULE,
    MO_SHAPE_CYLINDER,
    MO_SHAPE_CONE,
    MO_SHAPE_TORUS,
    MO_SHAPE_PLANE,
    MO_SHAPE_BOWL,
    MO_SHAPE_HOLLOW_SPHERE,
    MO_SHAPE_LATTICE,
    MO_SHAPE_TRANSFORM,
    MO_SHAPE_SHELL,
    MO_SHAPE_UNION,
    MO_SHAPE_DIFFERENCE,
    MO_SHAPE_INTERSECT,
    MO_SHAPE_SMOOTH_UNION,
} mo_shape_kind;

// Distances sampled on a regular lattice that encloses a mesh with a margin.
typedef struct mo_distance_lattice {
    mo_vec3 origin; // of sample (0, 0, 0)
    double spacing;
    int32_t n[3];  // samples per axis, at least 2
    float *sample; // x fastest
    mo_box3 box;   // of the mesh itself
} mo_distance_lattice;

struct mo_shape {
    _Atomic int32_t references;
    mo_shape_kind kind;
    int32_t depth; // of the tree below: recursion stays bounded
    mo_box3 bounds;
    const mo_shape *a, *b; // operands, or NULL
    union {
        struct {
            double radius, height, thickness;
        }; // sphere, capsule, cylinder, cone (half height), bowl, hollow sphere; shell and smooth union: thickness
        struct {
            double major, minor;
        };            // torus
        mo_vec3 size; // box: half edges; ellipsoid: half axes
        struct {
            mo_vec3 normal;
            double offset;
        }; // plane, unit normal
        struct {
            mo_mat3 inverse; // rotation from the outside to the operand
            mo_vec3 move;
            double scale;
        }; // x_outside = move + scale R x_operand
        mo_distance_lattice lattice;
    };
};

mo_shape *mo_shape_new(mo_shape_kind kind, const mo_shape *a, const mo_shape *b); // retains a and b
mo_shape *mo_shape_ellipsoid(mo_vec3 half_axes);
// The largest dot(direction, x) of all points with distance < offset, or a little more; direction is a unit vector.
double mo_shape_support(const mo_shape *s, mo_vec3 direction, double offset);
mo_box3 mo_shape_find_bounds(const mo_shape *s);

// 0 inside the box, else the distance to it.
static inline double mo_box_outside(const mo_box3 *b, mo_vec3 p)
{
    double x = fmax(fmax(b->lo.x - p.x, p.x - b->hi.x), 0);
    double y = fmax(fmax(b->lo.y - p.y, p.y - b->hi.y), 0);
    double z = fmax(fmax(b->lo.z - p.z, p.z - b->hi.z), 0);
    return sqrt(x * x + y * y + z * z);
}

#endif
