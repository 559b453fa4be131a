// Liquid moves with a solid where it lies on faces that are not unknowns although they are not all solid
// (stress_force.c, pressure.c). Its mass is added to the masses of bodies and nodes, and its momentum, where that is
// known, to their momentum. So this liquid still has weight and inertia:
//
//     (M + Ma) v*' = M v* + Ma u*
//
// A face moves with the velocity w.v of unknowns (mo_solid_columns). Bodies get all of its mass matrix, m w w^T. Nodes
// get m w on the diagonal, which keeps the mass, its centre and the motion of free fall. The group keeps this mass in
// every step of Newton's method (nodes.h).
#ifndef MO_ATTACH_H
#define MO_ATTACH_H

#include "grid/fractions.h"
#include "system/system.h"

typedef struct mo_attached {           // to one body, over dx^3
    mo_body_matrix mass;               // Ma, for the velocity of the body's centre and its angular velocity
    double momentum[MO_BODY_UNKNOWNS]; // Ma (u* - v*)
    double velocity[MO_BODY_UNKNOWNS]; // v*, set by mo_attach
} mo_attached;

// Adds the liquid of one face or sheet, at x. `mass` is over dx^3; it may be negative for rigid bodies. u is its
// velocity u* along the axis; NULL: it has the velocity of the solid. The solve moves the solid. of: [bodies].
void mo_attach_face(mo_system *s, mo_attached *of, const mo_solid_set *solids, int32_t solid, double mass, int axis,
                    mo_vec3 x, const double *u);

// What rows lift of a body beyond the liquid that it displaces, by axes of gravity: volumes over dx^3, and their
// moments about its centre, m (grid/displaced.h).
typedef struct mo_excess {
    double force[3];
    mo_vec3 turn[3];
} mo_excess;

// Attaches liquid whose weight undoes the excess. It moves with the body, so that free fall stays free fall and a
// common acceleration counts like gravity. It may count negative. A body that is much lighter than the liquid it
// displaces, which cannot last, gets only as large a part of it that half of the body's mass is left. excess: [bodies].
void mo_attach_excess(mo_system *s, mo_attached *of, const mo_excess *excess, double density);

// Attached liquid may count negative in sum (mo_attach_excess, pressure_sheets.h), and more so than a light body
// weighs, but masses must stay positive. Such a body takes only as large a part of the liquid that half of its own mass
// is left, and the weight of the rest acts as a force. So it floats as high as it should, and only its inertia is not
// that of what it carries. fall: gravity times the step. Returns how many bodies these are.
int32_t mo_attach_limit(mo_system *s, mo_attached *of, mo_vec3 fall);

// Changes the masses and velocities of the system's bodies and nodes.
mo_status mo_attach(mo_system *s, mo_attached *of, mo_error *err);

// Computes the force and torque (over dx^3) of the attached liquid on its body, once the solve has found the velocity
// v.
void mo_attached_force(const mo_attached *of, const double v[MO_BODY_UNKNOWNS], double dt,
                       double force[MO_BODY_UNKNOWNS]);

#endif
