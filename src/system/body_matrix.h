// A symmetric matrix on the bodies' velocities with the springs of contacts, S + B^T D B, factored densely for every
// cluster of bodies that S or contacts join, active ones or not: clusters stay when contacts open and close.
#ifndef MO_BODY_MATRIX_H
#define MO_BODY_MATRIX_H

#include "system/contact_law.h"

typedef struct mo_body_matrix {
    int32_t bodies, clusters;
    int32_t *first;           // [clusters + 1] of member
    int32_t *member;          // [bodies]
    int32_t *cluster, *place; // [bodies] its cluster, and number there
    int64_t *at;              // [clusters + 1] first entry in L
    double *L;                // dense factors
    double *x;                // [6 bodies]
} mo_body_matrix;

// S: 6 bodies x 6 bodies; a component without a diagonal entry > 0 cannot move. l: may have no rows.
mo_status mo_body_matrix_create(const mo_csr *S, const mo_contact_law *l, mo_body_matrix *out);
void mo_body_matrix_destroy(mo_body_matrix *m);
double mo_body_matrix_work(const mo_body_matrix *m); // multiplications of a factorisation
// Factors S + B^T D B of the law's present linearisation.
void mo_body_matrix_factor(mo_body_matrix *m, const mo_csr *S, const mo_contact_law *l);
void mo_body_matrix_solve(mo_body_matrix *m, double *x); // [6 bodies] right-hand side in, solution out

// The bodies' masses, /dt.
mo_status mo_body_inertia(const mo_system *s, mo_csr *S);

#endif
