// The form `draped`: cloth in liquid that touches something. Contacts are springs beside the stiffness of cloth, as in
// the form `bodies`; with K = H/dt + B^T D B, the linear step of Newton's method on the law of contact is
//
//     (L + R K^-1 R^T) p = b        L: the liquid's matrix; R: rows of pressure on solids
//
// K is sparse and factored anew when contacts open or close. The preconditioner is that of membrane.h with K in place
// of H/dt: a multigrid cycle, in which links join the two sides of a cell as far as contacts let the cloth yield, plus
// the exact inverse of D + R K^-1 R^T on the rows at solids. The same matrix, K + R^T D^-1 R, predicts which contacts
// hold.
#ifndef MO_DRAPED_FORM_H
#define MO_DRAPED_FORM_H

#include "system/system.h"

bool mo_draped_applies(const mo_system *s, uint32_t set);
mo_status mo_draped_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

#endif
