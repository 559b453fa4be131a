// Contact and friction as a law: what force a motion of the solids meets (docs/math.md 3.4, softened as MO 4.4.5).
//
//     x(v) = the admissible force nearest to a + S^-1 (B v - c)
//
// S is the compliance gamma_i dt (B W B^T)_ii of each row (contact_softness.h), a = 0 for normal forces and the warm
// start for friction. Admissible: x >= 0; |z| <= mu n by bounds from the last round, on each tangent or of the vector
// (the cone). The law is the gradient of a convex function, smooth but for kinks: with everything else linear, a step
// is solved by Newton's method, each of whose systems has the active contacts as springs between the solids, B^T D B
// beside their mass. A contact may touch any unknowns of solids: its rows say which.
#ifndef MO_CONTACT_LAW_H
#define MO_CONTACT_LAW_H

#include "system/system.h"

typedef struct mo_contact_law {
    int32_t rows, contacts;                         // rows: normal ones first, then of friction, two of each contact
    int32_t unknowns;                               // of all solids (solids.h)
    bool cone;                                      // friction is bounded as a vector
    mo_csr B;                                       // rows x unknowns
    double *c, *stiffness, *anchor, *lower, *upper; // [rows] stiffness 1/S, 0 where nothing can move
    double *mobility;                               // [rows] dt (B W B^T)_ii: velocity by force, of the solids alone
    double *x;                                      // [rows] force of the present linearisation
    double *slope;                                  // [rows] D on the diagonal
    double *cross;                                  // [rows] and beside it, of a contact's two tangents
    double *offset;                                 // [rows] x = offset + D B v
} mo_contact_law;

// Of the rows of solids alone in a set of blocks. No such rows: rows = 0.
mo_status mo_contact_law_create(const mo_system *s, uint32_t set, bool cone, mo_contact_law *out);
void mo_contact_law_destroy(mo_contact_law *l);

// The other tangent of a contact: its row.
static inline int32_t mo_contact_law_other(const mo_contact_law *l, int32_t i)
{
    return i + ((i - l->contacts) % 2 ? -1 : 1);
}

double mo_contact_law_last(const mo_contact_law *l, const mo_system *s, int32_t i); // the warm start of row i
// The first linearisation: rows whose warm start is within its bounds hold.
void mo_contact_law_start(const mo_system *s, mo_contact_law *l);
// Linearises about the solids' velocities v [unknowns]. Returns how far the force was from what the last linearisation
// gives for v, relative to the largest force; 0 = solved.
double mo_contact_law_linearise(mo_contact_law *l, const double *v);

// Takes forces x [rows] to the nearest admissible ones.
void mo_contact_law_admit(const mo_contact_law *l, double *x);
// Forces by the law [rows] where relative velocities are Bv [rows]; those of the present linearisation for velocities
// v.
void mo_contact_law_force(const mo_contact_law *l, const double *Bv, double *x);
void mo_contact_law_expect(const mo_contact_law *l, const double *v, double *x);
// How far forces x are from the law where relative velocities are Bv: what x would have to change by, as far as
// admissible, for the row's velocity to be right, as the velocity that this change gives. Of rows that hold it is the
// error of their velocity; a force that pushes bodies already apart counts as what it does to them, however stiff the
// contact. scratch: [rows].
double mo_contact_law_residual(const mo_contact_law *l, const double *Bv, const double *x, double *scratch);
// How the law and all else, of which S is known (unknowns x unknowns, symmetric; no diagonal entry > 0: immovable),
// settle from velocities v0 and forces x0 that fit together:
//
//     S (v - v0) + B^T (x(v) - x0) = 0
//
// by Newton's method with a line search; leaves the law linearised about v. Before a large solve it finds which
// contacts hold. Returns in *steps how many it took, -1 = not there after the most.
mo_status mo_contact_law_predict(mo_contact_law *l, const mo_csr *S, const double *v0, const double *x0, double *v,
                                 int32_t *steps);

void mo_contact_law_springs(const mo_contact_law *l, double *A); // adds B^T D B to A [unknowns^2]
void mo_contact_law_take(const mo_contact_law *l, mo_system *s); // x to the blocks

#endif
