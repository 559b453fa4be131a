// Bounds of friction, |z| <= mu n, renewed in the rounds of a solve from the normal forces of the round before.
//
// That is a fixed point b = mu n(b). Where friction itself presses bodies on each other, such as soft bodies that are
// held at both ends, a round removes only a small part of the error (8% in the worst step of a beam under honey). So
// from the fifth round on the fixed point is extrapolated from the bounds of up to `MO_BOUNDS_KEPT` earlier rounds:
// with f = mu n(b) - b,
//
//     b' = b + f - sum g_j (db_j + df_j),   g: |f - sum g_j df_j| is least     (Anderson's mixing, 1965)
#ifndef MO_FRICTION_BOUNDS_H
#define MO_FRICTION_BOUNDS_H

#include "system/system.h"

enum { MO_BOUNDS_KEPT = 3 };

typedef struct mo_friction_bounds { // data of earlier rounds of the solve; all zero: there are none
    int32_t rounds;
    double *b, *f;                                   // [contacts] of the last round
    double *db[MO_BOUNDS_KEPT], *df[MO_BOUNDS_KEPT]; // [contacts] changes in the rounds before it, cyclic
} mo_friction_bounds;

void mo_friction_bounds_destroy(mo_friction_bounds *k);

bool mo_system_rubs(const mo_system *s); // there is friction
// Sets the bounds of friction from the normal forces, for each tangent or for both together (cone). *change: by how
// much the new bounds cut the present friction, or free friction that was at its bound, relative to the largest bound;
// 0 = another round would change nothing.
mo_status mo_friction_bound(mo_friction_bounds *k, mo_system *s, bool cone, double *change);

#endif
