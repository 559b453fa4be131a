// What nodes add to the Poisson problem of pressure, for multigrid on cells, which knows neighbours alone.
#ifndef MO_NEAR_H
#define MO_NEAR_H

#include "system/system.h"

// L += dt R diag(H)^-1 R^T of the rows of pressure: what couples others than neighbours goes to the diagonal, so that
// sums of rows stay, but takes nothing from it.
mo_status mo_near_add_nodes(const mo_system *s, const mo_block *pressure, mo_csr *L);

#endif
