// The block E of the papers' route (docs/math.md 5.1): the stiffness of nodes as rows of constraints beside their
// masses.
//
//     stiffness = Q C Q^T:   Q^T v - Q^T v_k = S x,   S = dt C^-1,   v_k: the velocities from which a step of Newton's
//     method starts
//
// Its multipliers are dt x = C Q^T (v - v_k). In the dual form mass and rows together act as H = mass + Q C Q^T.
#ifndef MO_ELASTIC_BLOCK_H
#define MO_ELASTIC_BLOCK_H

#include "system/nodes_guise.h"
#include "system/system.h"

// Factors the stiffness of one part: Q^T, on its unknowns, and C^-1.
typedef mo_status (*mo_stiffness_factor)(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance);

mo_status mo_factor_ldlt(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance);    // L D L^T, AMD
mo_status mo_factor_natural(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance); // of the elements
mo_status mo_factor_ic(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance);      // IC(0), C = 1
// Q = C^-1 = H - mass, where a share of the masses belongs to the stiffness (Zarifi, Batty 2017).
mo_status mo_factor_itself(const mo_group *nodes, int32_t part, mo_csr *Qt, mo_csr *compliance);

// Makes the block of a system whose nodes are lumped (nodes_guise.h) for their present stiffness, in place of the one
// before.
mo_status mo_elastic_block_renew(mo_system *s, mo_stiffness_factor factor);
void mo_elastic_block_restart(mo_system *s); // v_k = the present velocities, x = 0; nothing without the block

#endif
