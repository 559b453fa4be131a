// Two methods for contacts of elastic bodies without liquid, for comparisons (method.h).
//
//     ica    iterative constraint anticipation (Otaduy et al. 2009) takes turns: conjugate gradients find the motion
//            with fixed forces, H v = H v^ - dt J^T c, and MPRGP on S + dt J M^-1 J^T finds forces that correct it as
//            if nodes had their masses alone; at most 1500 turns
//     admm   the alternating direction method of multipliers (Narain et al. 2016): motions by conjugate gradients on
//            H + rho J^T J, gaps >= 0, without friction; at most 50 turns
#ifndef MO_ANTICIPATE_H
#define MO_ANTICIPATE_H

#include "system/system.h"

mo_status mo_ica_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);
mo_status mo_admm_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

#endif
