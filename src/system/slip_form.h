// The form `slip`: pressure and slip along sheets (pressure_slip.h), by conjugate gradients.
//
//     route fast    for (p, l'): a multigrid cycle on p, whose block is a plain Laplacian, and the diagonal on l'
//     route paper   for (p, l), as the paper does, with IC(0)
//
// Pieces that touch no free surface have the null space p = 1, l' = 0. Rows of slip may depend on each other where
// sheets are folded; 1e-12 of their diagonal is added to it.
#ifndef MO_SLIP_FORM_H
#define MO_SLIP_FORM_H

#include "system/form.h"

bool mo_slip_form_applies(const mo_system *s, uint32_t set);
mo_status mo_slip_form_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                             mo_error *err);

// The system of that solve, for tests: rows of p, then those of l' or, if literal, of l. The caller destroys *A and *B
// and frees *b by mo_free.
mo_status mo_slip_form_system(const mo_system *s, bool literal, mo_csr *B, mo_csr *A, double **b, mo_error *err);

#endif
