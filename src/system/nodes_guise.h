// The guise that nodes have for the papers' methods (method.h) while a solve runs. Usually nodes have an exact factor
// of their matrix H = mass + stiffness; a guise replaces it. Steps of Newton's method then always use the convex
// stiffness.
//
//     lumped      the masses alone: the stiffness is a block of rows beside them (elastic_block.h)
//     iterative   H, but its inverse by conjugate gradients with SSOR
#ifndef MO_NODES_GUISE_H
#define MO_NODES_GUISE_H

#include "sparse/krylov.h"
#include "system/nodes.h"

typedef struct mo_node_solver { // of one part
    mo_csr H;                   // without held unknowns, whose rows are those of the identity
    mo_sweep sweep;
    mo_ssor ssor;
} mo_node_solver;

typedef struct mo_node_guise {
    mo_group_kind kind;
    double share;             // of the masses that lumped nodes keep: the rest belongs to the stiffness
    double *weight, *inverse; // [count] that share of each, and 1 over it; 0 where something is held
    double *at;               // [count] the velocities that the last step of Newton's method is about
    double tolerance;
    int32_t most;           // iterations of one solve
    int64_t iterations;     // of all solves since the guise was put on
    mo_solve_info last;     // solve
    mo_node_solver *solver; // [parts]
    double *work;           // [7 count]
} mo_node_guise;

// The law of the group must know its masses. Both leave the group as it was if there is no memory.
mo_status mo_nodes_lump(mo_group *g, double share);
mo_status mo_nodes_iterate(mo_group *g, double tolerance, int32_t most);
void mo_nodes_bare(mo_group *g); // removes the guise; does nothing without one

// A += s B M^-1 B^T with the masses M, whatever the guise.
mo_status mo_nodes_lumped_square(const mo_group *g, double s, const mo_csr *B, mo_csr *A);
// v = H^-1 f by conjugate gradients that start at the given v; only for iterative nodes.
void mo_nodes_solve(const mo_group *g, const double *f, double *v);

#endif
