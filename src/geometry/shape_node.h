// The nodes of a shape: a tree of primitives, transforms and set operations, immutable once made. Everything about a
// kind of node stands in one mo_shape_kind: primitives are in primitives.c, operations in shape_operations.c, meshes in
// distance_lattice.c, sheets in sheet_shape.c.
#ifndef MO_SHAPE_NODE_H
#define MO_SHAPE_NODE_H

#include "geometry/shape.h"
#include <stdatomic.h>

// The parameters of a shape, with their names in scenes.
typedef enum mo_parameter_kind {
    MO_PARAMETER_NONE,
    MO_PARAMETER_LENGTH,    // > 0
    MO_PARAMETER_NUMBER,    // any; 0 if a scene does not give it
    MO_PARAMETER_SIZE,      // three lengths
    MO_PARAMETER_DIRECTION, // three numbers, not all 0
} mo_parameter_kind;

typedef struct mo_shape_parameter {
    const char *name;
    mo_parameter_kind kind;
} mo_shape_parameter;

enum { MO_SHAPE_PARAMETERS = 3, MO_SHAPE_NUMBERS = 4 };

// Moments about the origin: volume, first moment along y (primitives are symmetric in x and z), second moments.
typedef struct mo_moments {
    double volume, y, xx, yy, zz;
} mo_moments;

typedef struct mo_shape_kind {
    const char *name; // in scenes; NULL: scenes cannot make one by name
    mo_shape_parameter parameter[MO_SHAPE_PARAMETERS];
    // Further checks of a scene's parameters: returns the parameter that is wrong and a message, or -1. NULL: none.
    int (*check)(const double *given, char *text, size_t size);
    void (*set)(mo_shape *s, const double *given); // takes the parameters in their order; NULL: as they are
    mo_shape *(*make)(const double *given);        // in place of a node: shapes that are made of others

    double (*distance)(const mo_shape *s, mo_vec3 p);
    // The largest dot(direction, x) of all points with distance < offset, or a little more; direction is a unit vector.
    double (*support)(const mo_shape *s, mo_vec3 direction, double offset);
    bool (*moments)(const mo_shape *s, mo_moments *out); // by formula; NULL or false: found by quadrature
    mo_box3 (*bounds)(const mo_shape *s);                // NULL: from the support
    bool (*same)(const mo_shape *a, const mo_shape *b);  // but for operands; NULL: the numbers are the same
    void (*destroy)(mo_shape *s);                        // what the node owns; NULL: nothing
    bool faceted;                                        // bounded by planes alone, if the operands are
} mo_shape_kind;

// Distances sampled on a regular lattice that encloses a mesh with a margin.
typedef struct mo_distance_lattice {
    mo_vec3 origin; // of sample (0, 0, 0)
    double spacing;
    int32_t n[3];  // samples per axis, at least 2
    float *sample; // x fastest
    mo_box3 box;   // of the mesh itself
} mo_distance_lattice;
// mesh_sweep.c: fills the samples with distances to a mesh, without signs.
mo_status mo_mesh_sweep_distances(mo_distance_lattice *l, const struct mo_mesh *mesh, mo_error *err);

struct mo_shape {
    _Atomic int32_t references;
    int32_t depth; // of the tree below: recursion stays bounded
    const mo_shape_kind *kind;
    mo_box3 bounds;
    const mo_shape *a, *b; // operands, or NULL
    union {
        double number[MO_SHAPE_NUMBERS]; // all that primitives have, under names or not
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
        struct {
            const struct mo_sheet_tree *tree;
            mo_box3 box; // of the sheet
            double half; // of the thickness
            double edge; // about that of its triangles
        } sheet;
    };
};

// The shapes that scenes make by name; ends with NULL.
extern const mo_shape_kind *const mo_named_shapes[];
extern const mo_shape_kind mo_shape_transform, mo_shape_lattice;

mo_shape *mo_shape_new(const mo_shape_kind *kind, const mo_shape *a, const mo_shape *b); // retains a and b
mo_shape *mo_shape_finish(mo_shape *s); // finds the bounds of a node that is complete; NULL stays NULL
// Makes a shape from its parameters in their order, each with its one or three numbers; NULL: one is wrong, or there is
// no memory.
mo_shape *mo_shape_make(const mo_shape_kind *kind, const double *given);
mo_shape *mo_shape_ellipsoid(mo_vec3 half_axes);

// 0 inside the box, else the distance to it.
static inline double mo_box_outside(const mo_box3 *b, mo_vec3 p)
{
    double x = fmax(fmax(b->lo.x - p.x, p.x - b->hi.x), 0);
    double y = fmax(fmax(b->lo.y - p.y, p.y - b->hi.y), 0);
    double z = fmax(fmax(b->lo.z - p.z, p.z - b->hi.z), 0);
    return sqrt(x * x + y * y + z * z);
}

#endif
