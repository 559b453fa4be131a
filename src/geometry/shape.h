// Shapes beyond the public interface: mass properties, and construction of a mesh shape from arrays.
#ifndef MO_SHAPE_H
#define MO_SHAPE_H

#include "base/base.h"
#include "base/vec.h"

typedef struct mo_mass {
    double volume;   // m^3
    mo_vec3 centre;  // m
    mo_mat3 inertia; // about the centre, of unit density, m^5
} mo_mass;

mo_mass mo_mesh_mass(const mo_mesh *mesh); // exact for a closed mesh
// Finds the mass of a shape, by clipping.
mo_status mo_shape_mass(const mo_shape *s, int32_t resolution, mo_mass *out, mo_error *err);
// Makes a sampled signed distance of a closed mesh, with the checks and messages of mo_shape_mesh_file; `name` is for
// the messages.
mo_status mo_shape_from_mesh(const mo_mesh *mesh, const char *name, int32_t resolution, mo_shape **out, mo_error *err);
// Whether the shape has finite bounds; half spaces have none.
bool mo_shape_is_bounded(const mo_shape *s);
// Returns the shape without the motion on top of it (a new reference, NULL without memory), and that motion.
const mo_shape *mo_shape_core(const mo_shape *s, mo_pose *motion);
bool mo_shape_is_box(const mo_shape *s, mo_vec3 *size);    // a box, moved or not, and its edges
bool mo_shape_is_faceted(const mo_shape *s);               // bounded by planes alone
bool mo_shape_equal(const mo_shape *a, const mo_shape *b); // the same tree with the same numbers

#endif
