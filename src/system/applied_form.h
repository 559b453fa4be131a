// The form `applied`: the dual form of a set with nodes whose inverse would be too full to be formed. It follows the
// form `viscous` where that stalls.
//
//     (S + dt B H^-1 B^T) x = B v^ - c,   bounds        every product takes one exact solve with the nodes' H
//
// The preconditioner is SSOR of the matrix that faces, compliance and the diagonal of the nodes' H give.
#ifndef MO_APPLIED_FORM_H
#define MO_APPLIED_FORM_H

#include "system/system.h"

bool mo_applied_applies(const mo_system *s, uint32_t set);
mo_status mo_applied_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                           mo_error *err);

#endif
