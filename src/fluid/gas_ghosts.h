// Velocities of gas on the sites of ghosts (grid/ghosts.h), before each solve and where sheets have moved.
#ifndef MO_GAS_GHOSTS_H
#define MO_GAS_GHOSTS_H

#include "fluid/gas.h"
#include "fluid/gas_move.h"

// Starts the flow into ghosts, in the velocities u: faces beside them get the part along the sheet of the velocity at
// their side, P.(I - N N^T) W u. Faces between ghosts keep what the last solve gave them.
void mo_gas_start_ghosts(const mo_grid *g, float *const u[3]);
// Ghosts hold nothing, but they have the soot and heat of their real cells, whose weight acts on the faces beside them.
void mo_gas_fill_ghosts(const mo_gas *gas, const mo_grid *g);

// The velocities on the sites after a move, from those before it: a sample belongs to the cells whose velocity it
// tells, and it keeps its value if a sheet has swept the centre of none of them. Those of swept cells are filled from
// samples beside them on their new side, or else move with the sheet. Faces between ghosts keep their value by face and
// real cell; new ones take the mean of their real cells. near: the cells that sheets have come near.
mo_status mo_gas_follow_ghosts(const mo_gas_move *m, int32_t near_count, const int32_t *near, float *const from[3],
                               float *const to[3], mo_arena *arena, mo_error *err);

#endif
