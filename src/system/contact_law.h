// Contact and friction as a law: it gives the force for any motion of the solids (docs/math.md 3.4, softened as MO
// 4.4.5).
//
//     x(v) = the admissible force nearest to a + S^-1 (B v - c)
//
// S is the compliance gamma_i dt (B W B^T)_ii of each row (contact_softness.h), a = 0 for normal forces and the warm
// start for friction. A force is admissible if x >= 0 and |z| <= mu n. The bounds of z come from the last round; they
// hold on each tangent or for the vector (the cone). The law is the gradient of a convex function, smooth but for
// kinks: with everything else linear, a step is solved by Newton's method, each of whose systems has the active
// contacts as springs between the solids, B^T D B beside their mass. A contact may touch any unknowns of solids: its
// rows say which.
#ifndef MO_CONTACT_LAW_H
#define MO_CONTACT_LAW_H

#include "system/system.h"

typedef struct mo_contact_law {
    int32_t rows, contacts;                         // rows: normal ones first, then of friction, two of each contact
    int32_t unknowns;                               // of all solids (solids.h)
    bool cone;                                      // friction is bounded as a vector
    mo_csr B;                                       // rows x unknowns
    double *c, *stiffness, *anchor, *lower, *upper; // [rows] stiffness: 1/S, 0 where nothing can move
    double *mobility;                               // [rows] dt (B W B^T)_ii: velocity by force, of the solids alone
    double *x;                                      // [rows] force of the present linearisation
    double *slope;                                  // [rows] D on the diagonal
    double *cross;                                  // [rows] and beside it, of a contact's two tangents
    double *offset;                                 // [rows] x = offset + D B v
} mo_contact_law;

// Makes the law of those rows of a set of blocks that are on solids alone. If there are none, `rows` is 0.
mo_status mo_contact_law_create(const mo_system *s, uint32_t set, bool cone, mo_contact_law *out);
void mo_contact_law_destroy(mo_contact_law *l);

// Returns the row of the contact's other tangent.
static inline int32_t mo_contact_law_other(const mo_contact_law *l, int32_t i)
{
    return i + ((i - l->contacts) % 2 ? -1 : 1);
}

double mo_contact_law_last(const mo_contact_law *l, const mo_system *s, int32_t i); // the warm start of row i
// Makes the first linearisation, in which the rows whose warm start is within its bounds hold.
void mo_contact_law_start(const mo_system *s, mo_contact_law *l);
// Linearises about the solids' velocities v [unknowns]. Returns how far the force was from what the last linearisation
// gives for v, relative to the largest force; 0 = solved.
double mo_contact_law_linearise(mo_contact_law *l, const double *v);

// Linearises about admissible forces x [rows] instead, with relative velocities Bv: rows within their bounds hold.
void mo_contact_law_hold(mo_contact_law *l, const double *x, const double *Bv);

// Takes forces x [rows] to the nearest admissible ones.
void mo_contact_law_admit(const mo_contact_law *l, double *x);
// The first gives the law's forces [rows] where relative velocities are Bv [rows]; the second those of the present
// linearisation for velocities v.
void mo_contact_law_force(const mo_contact_law *l, const double *Bv, double *x);
void mo_contact_law_expect(const mo_contact_law *l, const double *v, double *x);
// Tells how far forces x are from the law where relative velocities are Bv. For each row it takes the change of x, as
// far as it is admissible, that would make the row's velocity right, and measures it by the velocity that this change
// gives. For rows that hold, this is the error of their velocity. A force that pushes bodies already apart counts as
// what it does to them, however stiff the contact. scratch: [rows].
double mo_contact_law_residual(const mo_contact_law *l, const double *Bv, const double *x, double *scratch);
// The largest that rows ask for where solids move with v, or `norm` if that is larger.
double mo_contact_law_norm(const mo_contact_law *l, const double *v, double norm);
// Finds how the law and all else settle from velocities v0 and forces x0 that fit together. The matrix S (unknowns
// x unknowns, symmetric; an unknown without a diagonal entry > 0 cannot move) stands for all else:
//
//     S (v - v0) + B^T (x(v) - x0) = 0
//
// It uses Newton's method with a line search and leaves the law linearised about v. Before a large solve it finds which
// contacts hold. *steps tells how many steps it took; -1 means that it did not get there in the most that it may take.
mo_status mo_contact_law_predict(mo_contact_law *l, const mo_csr *S, const double *v0, const double *x0, double *v,
                                 int32_t *steps);

void mo_contact_law_springs(const mo_contact_law *l, double *A); // adds B^T D B to A [unknowns^2]
void mo_contact_law_take(const mo_contact_law *l, mo_system *s); // x to the blocks

#endif
