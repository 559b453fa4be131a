// Methods of route paper for sets with nodes: ElastoMonolith's, and those that it compares itself with (EM 4).
//
//     ldlt      the stiffness as a block of rows by its factor L D L^T: ElastoMonolith. The default
//     natural   the same by the eigenvectors of the elements; ic: by an incomplete Cholesky factor
//     z1-z2     the same by the stiffness itself and a tenth of the masses (Zarifi, Batty 2017)
//     delassus  the inverse of H formed among the rows that touch nodes: full, for small bodies and verification
//     primal    nodes alone: conjugate gradients on H
//     ucg       contacts hold and cling: conjugate gradients on the multipliers, H^-1 by its factor (Uzawa)
//     ucg-cg    the same, H^-1 by conjugate gradients
//     ica       contacts by turns: nodes with fixed forces, forces with lumped nodes (Otaduy et al. 2009)
//     admm      contacts as penalties with multipliers, without friction (Narain et al. 2016)
#ifndef MO_METHOD_H
#define MO_METHOD_H

#include "system/elastic_block.h"
#include "system/form.h"

typedef enum mo_method_nodes { MO_METHOD_EXACT, MO_METHOD_LUMPED, MO_METHOD_ITERATIVE } mo_method_nodes;
typedef enum mo_method_friction { MO_METHOD_BOUNDED, MO_METHOD_CLINGS, MO_METHOD_SLIPS } mo_method_friction;

typedef struct mo_method {
    const char *name;
    mo_method_nodes nodes;      // what they are while it runs (nodes_guise.h)
    double share;               // of the masses that lumped nodes keep
    mo_stiffness_factor factor; // of the block of elasticity; NULL: there is none
    uint32_t kinds;             // blocks that it can have, bits 1 << MO_BLOCK_...
    const char *knows;          // the same in words, for errors
    mo_method_friction friction;
    mo_form form; // without solve: the dual form
} mo_method;

// Puts the method of the solver on a system, and takes it off again. Without nodes, or on route fast, there is none.
mo_status mo_method_begin(mo_system *s, const mo_solver_def *solver, mo_error *err);
void mo_method_end(mo_system *s, mo_system_info *info);
mo_status mo_method_renew(mo_system *s, mo_error *err); // after nodes were linearised
// Whether a set has blocks that the method does not know.
mo_status mo_method_admits(const mo_system *s, uint32_t set, mo_error *err);

#endif
