// Sparse LDL^T of symmetric positive semidefinite matrices, column by column; one object holds many independent blocks.
// It is simplicial: made for small or slender problems.
#ifndef MO_LDL_H
#define MO_LDL_H

#include "sparse/csr.h"

typedef struct mo_ldl {
    int32_t blocks, *block; // [blocks + 1] first member of each
    int32_t *member;        // [members] rows of A, in the order of elimination
    int64_t *start;         // [members + 1] first entry of each column of L below the diagonal
    int32_t *row;           // [entries] member numbers, ascending within a column
    double *val;            // [entries]
    double *inverse;        // [members] 1/d; 0 where the pivot vanished: that unknown stays 0
    int32_t widest;         // members of the largest block
} mo_ldl;

// Factors the submatrix of A on the members of each block. The arrays block and member become part of the object, which
// frees them in mo_ldl_destroy, also on failure.
mo_status mo_ldl_create(const mo_csr *A, int32_t blocks, int32_t *block, int32_t *member, mo_ldl *out);
void mo_ldl_destroy(mo_ldl *l);
int64_t mo_ldl_bytes(const mo_ldl *l);
// Solves for one block; x [its members] holds the right-hand side and gets the solution.
void mo_ldl_solve(const mo_ldl *l, int32_t block, double *x);

#endif
