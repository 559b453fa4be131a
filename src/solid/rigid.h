// Rigid bodies: mass, inertia, and motion that conserves angular momentum.
#ifndef MO_RIGID_H
#define MO_RIGID_H

#include "base/vec.h"
#include "geometry/shape.h"
#include "geometry/sheet.h"

typedef struct mo_rigid {
    double mass;              // kg
    mo_mat3 inertia, inverse; // kg m^2 about the centre of mass, in the body's frame; and its inverse
    mo_pose pose;             // of the body's frame, whose origin is the centre of mass
    mo_vec3 velocity;         // m/s, of the centre of mass
    mo_vec3 angular_velocity; // 1/s, world axes
} mo_rigid;

// Makes a body of uniform density that fills `shape` (world coordinates). The position of its pose is the centre of
// mass; the rotation is the one on top of the shape. *body_shape (a new reference) is the shape in the body's frame,
// the same for equal shapes however they lie. A two-dimensional body is the shape's section at z = 0 times `depth` (m),
// starts without rotation and turns about z only. Its mass is that of the true geometry, not of cells. MO_ERROR_INPUT,
// with a text that begins with `place`: the shape is unbounded or empty, or the density is not > 0.
mo_status mo_rigid_create(const mo_shape *shape, double density, bool two_dimensional, double depth, const char *place,
                          mo_rigid *out, const mo_shape **body_shape, mo_error *err);

// Makes a body of a sheet with a mass of `density` kg/m^2, where the sheet is: its pose is the centre of mass, without
// rotation. In two dimensions the sheet is a curve that was swept along z, and `depth` (m) of it counts; it turns about
// z only. MO_ERROR_INPUT, with a text that begins with `place`: it has no mass.
mo_status mo_rigid_of_sheet(const mo_sheet *sheet, double density, bool two_dimensional, double depth,
                            const char *place, mo_rigid *out, mo_error *err);

// Makes the body of an equal shape that lies elsewhere; `from` and `to` are the motions on top of the two shapes.
mo_rigid mo_rigid_twin(const mo_rigid *r, double density_ratio, mo_pose from, mo_pose to);

mo_mat3 mo_rigid_inertia(const mo_rigid *r);         // in world axes
mo_mat3 mo_rigid_inertia_inverse(const mo_rigid *r); // in world axes
mo_vec3 mo_rigid_velocity_at(const mo_rigid *r, mo_vec3 x);
mo_vec3 mo_rigid_angular_momentum(const mo_rigid *r); // about the centre of mass
double mo_rigid_energy(const mo_rigid *r);            // kinetic, J

// Moves the body freely for dt. Its position follows its velocity; its rotation keeps the angular momentum (gyroscopic
// motion), so that the angular velocity at the end belongs to the new rotation. Fast spin takes as many substeps as it
// needs.
void mo_rigid_move(mo_rigid *r, double dt);

#endif
