// Factors a symmetric matrix on the unknowns of solids with the springs of contacts, S + B^T D B, densely for every
// cluster of unknowns that S or contacts join. Contacts count whether they are active or not, so that the clusters stay
// the same when contacts open and close.
#ifndef MO_CLUSTERS_H
#define MO_CLUSTERS_H

#include "system/contact_law.h"

typedef struct mo_clusters {
    int32_t unknowns, count;
    int32_t *first;           // [count + 1] of member
    int32_t *member;          // [unknowns]
    int32_t *cluster, *place; // [unknowns] its cluster, and number there
    int64_t *at;              // [count + 1] first entry in L
    double *L;                // dense factors
    double *x;                // [unknowns]
} mo_clusters;

// S is of all unknowns of solids (solids.h); one without a diagonal entry > 0 cannot move. The law l may have no rows.
mo_status mo_clusters_create(const mo_csr *S, const mo_contact_law *l, mo_clusters *out);
void mo_clusters_destroy(mo_clusters *m);
double mo_clusters_work(const mo_clusters *m); // multiplications of a factorisation
// Factors S + B^T D B of the law's present linearisation.
void mo_clusters_factor(mo_clusters *m, const mo_csr *S, const mo_contact_law *l);
void mo_clusters_solve(mo_clusters *m, double *x); // [unknowns] right-hand side in, solution out

#endif
