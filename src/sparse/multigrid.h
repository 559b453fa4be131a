// Multigrid for matrices whose rows sit on lattice cells and couple to rows of the same cell and of the six cells
// around. Mostly a cell has one row; cells that sheets divide have several. What is connected inside
// 2 x 2 x 2 cells becomes one unknown of the next level, down to one per connected piece. Each level has two red-black
// Gauss-Seidel sweeps before and after; the coarse levels run a K-cycle. One cycle in float is a preconditioner for
// flexible conjugate gradients; it is symmetric up to rounding.
#ifndef MO_MULTIGRID_H
#define MO_MULTIGRID_H

#include "sparse/krylov.h"

typedef struct mo_multigrid mo_multigrid;

typedef struct mo_multigrid_info {
    int32_t levels, coarsest;   // number of levels, unknowns on the last
    double operator_complexity; // entries on all levels / entries on the finest
    int64_t bytes;
} mo_multigrid_info;

// A is symmetric positive semi-definite and much like an M-matrix. coord[rows] is the lattice cell of each row; the
// rows of one 8^3 tile are contiguous. MO_ERROR_INPUT: entries couple cells that are no neighbours.
mo_status mo_multigrid_create(const mo_csr *A, const int32_t (*coord)[3], mo_multigrid **out);
void mo_multigrid_destroy(mo_multigrid *mg);
void mo_multigrid_apply(void *mg, const double *r, double *z); // an mo_apply_fn: z = one cycle from zero on r
mo_multigrid_info mo_multigrid_describe(const mo_multigrid *mg);

#endif
