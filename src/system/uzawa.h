// The methods `ucg` and `ucg-cg` (method.h): conjugate gradients on the multipliers without bounds, so that contacts
// hold and cling (Uzawa; EM eq. 61, 62).
//
//     (S + dt B N^-1 B^T) x = B v - c        of pressure, contact and friction
//
// Contacts that do not touch are left out: those with a gap of more than a thousandth of a cell that the motion without
// forces would not close. N is the matrix of all groups. Where there is stress, it is eliminated, N = H + dt Bs^T Ss^-1
// Bs, and every product solves with N by conjugate gradients.
#ifndef MO_UZAWA_H
#define MO_UZAWA_H

#include "system/system.h"

mo_status mo_uzawa_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

#endif
