// A sparse symmetric matrix on the unknowns of solids with the springs of contacts, S + B^T D B, and its factor. It is
// for solids with many unknowns, such as cloth; those with few have dense factors (clusters.h).
#ifndef MO_SPRUNG_H
#define MO_SPRUNG_H

#include "sparse/cholesky.h"
#include "system/contact_law.h"

typedef struct mo_sprung {
    const mo_csr *S; // without springs, kept by the caller; an unknown without a diagonal entry > 0 cannot move
    mo_csr rows;     // of the law
    mo_csr springs;  // B^T D B
    uint8_t *held;   // [unknowns]
    mo_cholesky *factor;
} mo_sprung;

// Finds the order of elimination, for all contacts of the law. Destroy *out in any case.
mo_status mo_sprung_create(const mo_csr *S, const mo_contact_law *l, mo_sprung *out);
void mo_sprung_destroy(mo_sprung *m);
// Factors with the law's present linearisation. MO_ERROR_FAILED: the matrix is not positive in double precision.
mo_status mo_sprung_factor(mo_sprung *m, const mo_contact_law *l);
mo_status mo_sprung_release(mo_sprung *m);           // factors without springs
void mo_sprung_solve(const mo_sprung *m, double *x); // [unknowns] right-hand side in, solution out

#endif
