// The liquid of an inviscid set with bodies: its matrix, multigrid cycle and response to bodies, kept between solves;
// and one linear solve with given springs between the bodies.
#ifndef MO_INVISCID_LIQUID_H
#define MO_INVISCID_LIQUID_H

#include "sparse/multigrid.h"
#include "system/clusters.h"
#include "system/inviscid.h"
#include "system/pieces.h"
#include "system/woodbury.h"

typedef struct mo_inviscid {
    mo_dual dual; // of pressure alone
    mo_pieces pieces;
    mo_multigrid *mg;
    double *diagonal;         // [rows] of the matrix
    int32_t touching, *touch; // rows that touch bodies
    mo_csr S;                 // the bodies' masses, /dt
    int32_t light, *column;   // components of light bodies in the liquid
    mo_woodbury wet;          // of them: all, or none
    double saved;             // iterations that columns would save or would have saved
    double *push;             // [pushing pieces][solids] R^T of constants there
    int32_t *number;          // [pieces] among pushing ones, -1 = not
    double *work;             // [6 rows]
} mo_inviscid;

// liquid: false = of bodies alone.
mo_status mo_inviscid_create(const mo_system *s, bool liquid, mo_inviscid **out);
void mo_inviscid_destroy(mo_inviscid *k);
int64_t mo_inviscid_bytes(const mo_inviscid *k);

// Finds the columns once they are worth their cost: for one very light body before the first solve, for others after as
// many iterations spent without as they would have cost. `count` tells of iterations spent without.
mo_status mo_inviscid_respond(mo_inviscid *k);
void mo_inviscid_count(mo_inviscid *k, int32_t iterations);
void mo_inviscid_forgo(mo_inviscid *k); // does without for good

// R^T p added to f [solids]; R v added to r [rows].
void mo_inviscid_force(const mo_inviscid *k, const double *p, double *f);
void mo_inviscid_sweep(const mo_inviscid *k, const double *v, double *r);

// A system of linearised contacts: the bodies' matrices factored, and what goes with them.
typedef struct mo_inviscid_step {
    mo_inviscid *k;
    mo_clusters springs;  // S + B^T D B
    mo_clusters response; // C + B^T D B, if there is C
    double *deflation;    // [pushing][pushing] factored
    double *f;            // [solids + pushing]
} mo_inviscid_step;

mo_status mo_inviscid_step_create(mo_inviscid *k, const mo_contact_law *l, mo_inviscid_step *out);
void mo_inviscid_step_destroy(mo_inviscid_step *t);
void mo_inviscid_step_factor(mo_inviscid_step *t, const mo_contact_law *l);
// (L + R springs^-1 R^T) p = b, to |r| <= tolerance |b| in the max norm.
mo_solve_info mo_inviscid_step_solve(mo_inviscid_step *t, const double *b, double *p, double tolerance, int32_t limit);

#endif
