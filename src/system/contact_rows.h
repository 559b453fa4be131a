// The blocks of contact and friction (MO 3.2, eq. 9-16) have rows on solids alone, whatever moves those.
//
//     normal    B = -J_n / dx,   0 <= n,        B v - c <= 0  perpendicular to n
//     friction  B = -J_t / dx,   |z| <= mu n    on each of two tangents (bounds are set in the rounds)
//
// A multiplier times dx^2 is the force (N): rows are scaled by 1/dx, which makes them rates like the pressure's. Rows
// on vertices of elastic bodies close their gap completely, without a margin, and do not bounce, because elasticity
// makes bodies bounce. The row of a bond holds with equality, -inf < n, and closes its gap in the step.
#ifndef MO_CONTACT_ROWS_H
#define MO_CONTACT_ROWS_H

#include "grid/fractions.h"
#include "solid/contact.h"
#include "system/system.h"

typedef struct mo_contact_rows_def {
    const mo_contacts *contacts;
    const mo_solid_set *solids; // the colliders; those beyond its count are walls that stand still
    // These describe elastic bodies, and are unused where no contact is on one: the first unknown of each body's
    // vertices, the unknowns of a vertex, and v* of all nodes (the group has the velocities from which Newton's method
    // starts).
    const int32_t *first_node; // [solids]
    int32_t dimension;
    const double *node_target; // [nodes], NULL: the group's velocities
    const mo_vec3 *belt;       // [solids] velocity of the surface along itself, beside `velocity`; NULL: none has one
    const double *load; // [bodies] mass that may press on a body, if more than its own, in units of 1/W; NULL: none
    mo_vec3 gravity;    // m/s^2; the velocities v* contain its effect in the step
    double dx, dt;
    double margin;        // m: tolerated overlap (MO 3.2.4)
    double stabilisation; // beta: part of a deeper overlap taken back in a step
    bool overlapping;     // as MO: no contact approaches, all bounce; false: up to touching, and only impacts bounce
    double node_softness; // largest softness of contacts on nodes (contact_softness.h); 0: 1e-6
    double slowest;       // m/s: bodies that approach slower do not bounce
} mo_contact_rows_def;

// Adds the blocks to a system whose solids' groups, with velocities v*, and dt are set. Without contacts it adds none.
mo_status mo_contact_rows_add(const mo_contact_rows_def *def, mo_system *s, mo_error *err);

#endif
