// Predicts which contacts hold where solids respond to forces by C, which is only applied: a small problem in the
// contacts' forces alone (contact_law.h),
//
//     (B C B^T + S) x = B v0 + B C B^T x0 - c + S a,   bounds,      v = v0 - C B^T (x - x0)
//
// Newton's method on the law (contact_law.h, mo_contact_law_predict) takes up to 200 factors for a few hundred contacts
// on cloth; this takes some hundred products.
#ifndef MO_CONTACT_RESPOND_H
#define MO_CONTACT_RESPOND_H

#include "system/contact_law.h"

typedef struct mo_contact_response {
    const mo_csr *B;                                            // the law's rows on the unknowns of C
    void (*give)(const void *user, const double *f, double *v); // v = C f
    const void *user;
    mo_expansion expansion;
} mo_contact_response;

// From velocities v0 [unknowns of solids] and forces x0 that fit together it finds forces x [rows] and the change of
// velocity dv [unknowns of C]. *steps: iterations.
mo_status mo_contact_respond(const mo_contact_law *l, const mo_contact_response *r, const double *v0, const double *x0,
                             double *x, double *dv, int32_t *steps);

#endif
