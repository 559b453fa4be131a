// The group of nodes holds the vertices of deformable bodies. Its H is sparse, for example M + dt^2 K.
#ifndef MO_NODES_H
#define MO_NODES_H

#include "sparse/ldl.h"
#include "system/group.h"

typedef struct mo_node_matrix {
    mo_csr H;      // of all nodes' components
    mo_ldl factor; // of those that can move: rows of H with a diagonal entry > 0
    double *x;     // [count] scratch of one solve: solves with one group are not made side by side
} mo_node_matrix;

// Takes over H (rows in ascending columns, symmetric), also on failure. A row without a diagonal entry > 0 is held.
mo_status mo_nodes_create(mo_csr *H, mo_group *out);

#endif
