// The part of nodes in the Poisson problem of pressure, for multigrid on cells, which knows only neighbours.
#ifndef MO_NEAR_H
#define MO_NEAR_H

#include "system/system.h"

// L += dt R diag(H)^-1 R^T of the rows of pressure: couplings between cells that are not neighbours are added to the
// diagonal, so that sums of rows stay the same, but they never reduce it. Of cloth, with the blocks of vertices in
// place of diag(H), links between the two sides of a cell are kept; springs of contacts on the unknowns of all solids
// (sprung.h; NULL: none), in units of H/dt, are added to those blocks.
mo_status mo_near_add_nodes(const mo_system *s, const mo_block *pressure, const mo_csr *springs, mo_csr *L);

#endif
