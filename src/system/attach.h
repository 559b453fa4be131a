// Some liquid moves with rigid bodies: that on faces which are no unknowns of their own though they are not all solid
// (stress_force.c, pressure.c). Its mass is added to the bodies' masses, and its momentum, where that is known, to
// their momentum. So it still weighs something, and its inertia is felt:
//
//     (M + Ma) v*' = M v* + Ma u*
#ifndef MO_ATTACH_H
#define MO_ATTACH_H

#include "system/system.h"

typedef struct mo_attached { // to one body, over dx^3
    double mass[6][6];       // Ma, for the velocity of the body's centre and its angular velocity
    double momentum[6];      // Ma (u* - v*)
    double velocity[6];      // v*, set by mo_attach
} mo_attached;

// Adds the liquid of one face. `mass` is over dx^3, `arm` leads from the body's centre to the face, and `excess` is
// u* - v* along the axis.
void mo_attach_face(mo_attached *to, double mass, int axis, mo_vec3 arm, double excess);

// Changes the masses and velocities of the system's bodies.
void mo_attach(mo_system *s, mo_attached *of);

// Tells the force and torque (over dx^3) of the attached liquid on its body, once the solve has found the velocity v.
void mo_attached_force(const mo_attached *of, const double v[6], double dt, double force[6]);

#endif
