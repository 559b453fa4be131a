// Galerkin multigrid for matrices whose rows sit on lattice cells: linear interpolation (3/4, 1/4), coarse unknowns
// split by connected piece, Gauss-Seidel on coloured cubes forward before and backward after, dense solve at the
// bottom. One V(1,1) cycle in float is a symmetric preconditioner (SOLVER.md A). Knows no physics.
#ifndef MO_MULTIGRID_H
#define MO_MULTIGRID_H

#include "sparse/krylov.h"

typedef struct mo_multigrid mo_multigrid;

typedef struct mo_multigrid_info {
    int32_t levels, coarsest;   // number of levels, unknowns on the last
    double operator_complexity; // entries on all levels / entries on the finest
    int64_t bytes;
} mo_multigrid_info;

// A: symmetric positive semi-definite M-matrix-like; coord[rows]: lattice cell of each row, rows of one 8^3 tile
// contiguous; piece[rows]: connected piece of each row (mo_csr_components). A is kept by reference.
mo_status mo_multigrid_create(const mo_csr *A, const int32_t (*coord)[3], const int32_t *piece, mo_multigrid **out);
void mo_multigrid_destroy(mo_multigrid *mg);
void mo_multigrid_apply(void *mg, const double *r, double *z); // an mo_apply_fn: z = one V-cycle from zero on r
mo_multigrid_info mo_multigrid_describe(const mo_multigrid *mg);

#endif
