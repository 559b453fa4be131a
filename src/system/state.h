// Copies the data that a solve changes into arrays, for starting again, for comparing solutions, for verification and
// benchmarks.
//
//     motion   velocities of all groups, in the order of groups: those of solids follow those of faces
//     duals    multipliers of all blocks but elasticity's, with their bounds and `turned`, which rounds renew
#ifndef MO_STATE_H
#define MO_STATE_H

#include "system/system.h"

int64_t mo_motion_size(const mo_system *s);
void mo_motion_get(const mo_system *s, double *to);   // [mo_motion_size]
void mo_motion_set(mo_system *s, const double *from); // [mo_motion_size]
// Finds the velocities of every group in such an array.
void mo_motion_split(const mo_system *s, const double *motion, const double *of[MO_GROUPS]);

int64_t mo_duals_size(const mo_system *s);
void mo_duals_get(const mo_system *s, double *to);
void mo_duals_set(mo_system *s, const double *from);
const double *mo_duals_of(const mo_system *s, const double *duals, int32_t kind); // multipliers of a kind of block

#endif
