// Light cloth in the preconditioner of pressure. Cloth that hardly weighs anything couples the pressures on both of its
// sides so strongly that a cycle on neighbouring cells is not enough: jumps of pressure that vertices do not see,
// because there are fewer vertices than cells, keep the small eigenvalues of the liquid alone. With D the diagonal of
// the liquid's matrix, the coupling itself is inverted exactly on the rows at the cloth (Woodbury):
//
//     (D + F H^-1 F^T)^-1 = D^-1 - D^-1 F (H + F^T D^-1 F)^-1 F^T D^-1
//
// The matrix in the middle is sparse and is factored once. The result is added to that of the cycle.
#ifndef MO_MEMBRANE_H
#define MO_MEMBRANE_H

#include "sparse/cholesky.h"
#include "system/system.h"

typedef struct mo_membrane {
    int32_t rows, nodes;
    const mo_csr *F;     // rows of pressure on nodes
    double *inverse;     // [rows] D^-1, 0 for rows that have no nodes
    double *force;       // [nodes] scratch
    mo_cholesky *factor; // NULL: there is no such cloth
} mo_membrane;

// L: the liquid's matrix of the pressure rows. Without cloth nothing is made. Destroy *out in any case.
mo_status mo_membrane_create(const mo_system *s, const mo_block *pressure, const mo_csr *L, mo_membrane *out);
void mo_membrane_destroy(mo_membrane *m);
void mo_membrane_add(const mo_membrane *m, const double *r, double *z); // z += (D + F H^-1 F^T)^-1 r, on its rows

#endif
