// Direct solves for marked rows of a matrix whose rows have places: piece by piece, each ordered by nested dissection.
#ifndef MO_DIRECT_H
#define MO_DIRECT_H

#include "sparse/ldl.h"

typedef struct mo_direct {
    mo_ldl ldl;
    int32_t chains, *chain; // [chains + 1] first block: blocks of a chain couple, chains do not
    int64_t factor_entries;
} mo_direct;

// Factors the marked rows of A. `at` is the doubled lattice position of each row; [3] is 0 for faces, else the row is
// that of a carried unknown.
mo_status mo_direct_create(const mo_csr *A, const uint8_t *marked, const int32_t (*at)[4], mo_direct *out);
void mo_direct_destroy(mo_direct *d);

#endif
