// Internal to the form `bodies`. It keeps the liquid's matrix, its multigrid cycle and its response to bodies between
// solves, and makes one linear solve with given springs between the bodies.
#ifndef MO_BODIES_SOLVER_H
#define MO_BODIES_SOLVER_H

#include "sparse/multigrid.h"
#include "system/clusters.h"
#include "system/bodies_form.h"
#include "system/pieces.h"
#include "system/woodbury.h"

typedef struct mo_bodies_solver {
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
} mo_bodies_solver;

// If `liquid` is false, the set holds bodies alone.
mo_status mo_bodies_solver_create(const mo_system *s, bool liquid, mo_bodies_solver **out);
void mo_bodies_solver_destroy(mo_bodies_solver *k);
int64_t mo_bodies_solver_bytes(const mo_bodies_solver *k);

// Computes the columns once they are worth their cost: for a single very light body before the first solve, for others
// once as many iterations were spent without them as they would have cost. `count` reports iterations spent without
// them.
mo_status mo_bodies_solver_respond(mo_bodies_solver *k);
void mo_bodies_solver_count(mo_bodies_solver *k, int32_t iterations);
void mo_bodies_solver_forgo(mo_bodies_solver *k); // from now on the columns are not computed

// The first adds R^T p to f [solids], the second adds R v to r [rows].
void mo_bodies_solver_force(const mo_bodies_solver *k, const double *p, double *f);
void mo_bodies_solver_sweep(const mo_bodies_solver *k, const double *v, double *r);

// A system of linearised contacts: the bodies' matrices in factored form, and scratch.
typedef struct mo_bodies_step {
    mo_bodies_solver *k;
    mo_clusters springs;  // S + B^T D B
    mo_clusters response; // C + B^T D B, if there is C
    double *deflation;    // [pushing][pushing] factored
    double *f;            // [solids + pushing]
} mo_bodies_step;

mo_status mo_bodies_step_create(mo_bodies_solver *k, const mo_contact_law *l, mo_bodies_step *out);
void mo_bodies_step_destroy(mo_bodies_step *t);
void mo_bodies_step_factor(mo_bodies_step *t, const mo_contact_law *l);
// Solves (L + R springs^-1 R^T) p = b until |r| <= tolerance |b| in the max norm.
mo_solve_info mo_bodies_step_solve(mo_bodies_step *t, const double *b, double *p, double tolerance, int32_t limit);

#endif
