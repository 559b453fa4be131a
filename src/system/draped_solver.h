// Internal to the form `draped`: what it sets up, and one linear solve with given springs.
#ifndef MO_DRAPED_SOLVER_H
#define MO_DRAPED_SOLVER_H

#include "sparse/multigrid.h"
#include "system/pieces.h"
#include "system/sprung.h"

typedef struct mo_draped_solver {
    mo_system *s;
    mo_block *pressure;
    mo_csr L; // dt B M^-1 B^T of pressure and faces
    mo_csr R; // rows of pressure on the unknowns of all solids
    mo_csr S; // H/dt
    mo_csr G; // H/dt + R^T D^-1 R
    mo_pieces pieces;
    double *diagonal;    // [rows] of L
    double *inverse;     // [rows] D^-1, 0 for rows that have no solids
    mo_sprung springs;   // of S
    mo_sprung response;  // of G
    mo_multigrid *cycle; // of L with links of cloth
    double *force;       // [faces or solids] scratch
    double *work;        // [5 rows]
} mo_draped_solver;

mo_status mo_draped_solver_create(mo_system *s, const mo_contact_law *l, mo_draped_solver *out);
void mo_draped_solver_destroy(mo_draped_solver *k);
mo_status mo_draped_solver_factor(mo_draped_solver *k, const mo_contact_law *l);
// Solves (L + R K^-1 R^T) p = b until |r| <= tolerance |b| in the max norm.
mo_solve_info mo_draped_solver_run(mo_draped_solver *k, const double *b, double *p, double tolerance, int32_t limit);

#endif
