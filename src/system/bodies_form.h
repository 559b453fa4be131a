// The forms `bodies` and `contacts`: solids in an inviscid liquid, with or without contact and friction, and solids in
// contact without liquid (docs/step.md).
//
// With contacts linearised, x = offset + D B v (contact_law.h), the bodies have the mass M_A/dt = M/dt + B^T D B, and
//
//     (L + R (M_A/dt)^-1 R^T) p = B u* - c + R v_A          L = dt B M^-1 B^T of the liquid, R of bodies in its rows
//
// is symmetric and has no bounds: conjugate gradients with a multigrid cycle L~ solve it. Newton's method on the law of
// contact repeats such solves. The resistance of bodies together with the liquid, C = M/dt + R^T L~ R, predicts which
// contacts hold before a large solve, and corrects the preconditioner for the bodies: L~ - L~ R (C + B^T D B)^-1 R^T L~
// (Woodbury).
#ifndef MO_BODIES_FORM_H
#define MO_BODIES_FORM_H

#include "system/system.h"

// Solves the set: velocities and multipliers of the system are changed if info->solve.reason says converged or nothing
// to do; otherwise they are as they were. Data that depend on the blocks alone are kept on the system for further sets
// and rounds.
mo_status mo_bodies_form_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info,
                               mo_error *err);
void mo_bodies_form_forget(mo_system *s); // drops these data, when masses or rows of the liquid change

#endif
