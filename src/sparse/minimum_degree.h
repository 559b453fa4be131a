// Approximate minimum degree: the order of elimination that the papers' factors take (Amestoy, Davis, Duff 1996).
// Orders by nested dissection are in graph.h; they give less fill for large meshes.
#ifndef MO_MINIMUM_DEGREE_H
#define MO_MINIMUM_DEGREE_H

#include "sparse/csr.h"

// Finds the order for a matrix with a symmetric pattern: order[k] is the k-th row to be eliminated. It depends on the
// pattern alone.
mo_status mo_minimum_degree(const mo_csr *A, int32_t *order);

#endif
