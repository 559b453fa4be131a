// Corrects a pressure cycle for solids that are light in the liquid. With a cycle L~ for L alone, Woodbury's formula
// gives a preconditioner that contains the motion of the solids:
//
//     (L + R S^-1 R^T)^-1 ~ L~ - L~ R C^-1 R^T L~        C = S + R^T L~ R
//
// on some unknowns of solids, the columns. Springs of contacts are added both to S and to C (clusters.h).
#ifndef MO_WOODBURY_H
#define MO_WOODBURY_H

#include "sparse/multigrid.h"

typedef struct mo_woodbury {
    int32_t rows, columns; // without columns the rest is empty
    int32_t *column;       // [columns] unknowns, ascending
    double *Z;             // [columns][rows] L~ R
    mo_csr G; // R^T L~ R on the columns, of all unknowns; made symmetric, because the cycle is only nearly so
    mo_csr C; // S + G
} mo_woodbury;

// R: rows x unknowns; S: of all unknowns; work: [rows].
mo_status mo_woodbury_create(const mo_csr *R, const mo_csr *S, int32_t columns, const int32_t *column,
                             mo_multigrid *cycle, double *work, mo_woodbury *out);
void mo_woodbury_destroy(mo_woodbury *w);
void mo_woodbury_gather(const mo_woodbury *w, double s, const double *r, double *f); // f = s Z^T r; 0 elsewhere

#endif
