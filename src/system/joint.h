// The form `joint`: pressure, contact and friction of a set with nodes in one bounded problem of their multipliers,
//
//     (S + dt B H^-1 B^T) x = B v^ - c,   lower <= x <= upper        S: the softness of contacts
//
// Every product takes one exact solve with the nodes' H; no full matrix is formed. With contacts as springs, as in
// other forms, H would have to be factored anew whenever a contact opens or closes.
#ifndef MO_JOINT_H
#define MO_JOINT_H

#include "system/system.h"

bool mo_joint_applies(const mo_system *s, uint32_t set);
mo_status mo_joint_solve(mo_system *s, uint32_t set, const mo_solver_def *solver, mo_system_info *info, mo_error *err);

#endif
