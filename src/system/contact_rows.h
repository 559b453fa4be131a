// Contact and friction blocks of rigid bodies (MO 3.2, eq. 9-16): rows on bodies alone.
//
//     normal    B = -J_n / dx,   0 <= n,        B v - c <= 0  perpendicular to n
//     friction  B = -J_t / dx,   |z| <= mu n    on each of two tangents (bounds are set in the rounds)
//
// A multiplier times dx^2 is the force (N): rows are scaled by 1/dx, which makes them rates like the pressure's.
#ifndef MO_CONTACT_ROWS_H
#define MO_CONTACT_ROWS_H

#include "solid/contact.h"
#include "system/system.h"

typedef struct mo_contact_rows_def {
    const mo_contacts *contacts;
    const int32_t *body;     // [colliders] number of the rigid body, -1: prescribed
    const mo_vec3 *centre;   // [colliders] of mass, of bodies
    const mo_vec3 *velocity; // [colliders] of the origin, of prescribed ones
    const mo_vec3 *spin;     // [colliders] angular velocity, of prescribed ones
    const mo_vec3 *origin;   // [colliders]
    const mo_vec3 *belt;     // [colliders] velocity of the surface along itself, of any
    const double *load;      // [bodies] what may press on a body, if more than itself, in units of 1/W; NULL: nothing
    mo_vec3 gravity;         // m/s^2, that body velocities v* contain the step's part of
    double dx, dt;
    double margin;        // m: overlap that is let be (MO 3.2.4)
    double stabilisation; // beta: part of a deeper overlap taken back in a step
    double slowest;       // m/s: what approaches slower does not bounce
} mo_contact_rows_def;

// Adds the blocks to a system whose bodies, dt and body velocities v* are set. No contacts: no blocks.
mo_status mo_contact_rows_add(const mo_contact_rows_def *def, mo_system *s, mo_error *err);

#endif
