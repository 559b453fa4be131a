// Newton's method on the law of contact (contact_law.h), about linear steps of any form: solids alone, with the
// pressure of an inviscid liquid, or in a viscous one.
//
// A small problem, in which the solids meet a known or estimated resistance, predicts which contacts hold; a linear
// step with those as springs gives the new velocities and the remaining error. Steps are solved loosely while contacts
// open and close. After a few steps, a step must lower the function that is minimised; otherwise only a part of it is
// taken.
#ifndef MO_CONTACT_NEWTON_H
#define MO_CONTACT_NEWTON_H

#include "system/contact_law.h"

typedef struct mo_contact_form { // the functions of a form; forces x [rows of the law], velocities v [unknowns of
                                 // solids]
    void *form;
    // Makes the linear step with the law's springs, which gives the solids' velocities v, to a residual relative to the
    // form's norm. It counts its iterations in *info from 0 and makes at most `limit` of them.
    mo_status (*solve)(void *form, double tolerance, int32_t limit, double *v, mo_solve_info *info);
    // Gets velocities v and forces x that fit together in the result of `solve`. It chooses the final forces, law->x,
    // and returns how far they are from a solution, relative to the norm. *settled means that contacts no longer open
    // and close, and only the linear step is not accurate enough.
    double (*settle)(void *form, const double *v, const double *x, double goal, bool *settled);
    // Returns the resistance of the solids, for a prediction from v, and corrects v by the error that the form knows.
    const mo_csr *(*resist)(void *form, double *v);
    // Replaces the result of `solve` by (1 - t) times the result at the last call plus t times the present one.
    void (*mix)(void *form, double t);
    double norm;  // of the residual
    double loose; // the tolerance of the first steps, while contacts still open and close
    double least; // that of the last step
    bool known;   // v and x fit together before the first step
    // The form's own prediction: from velocities v0 and forces x0 that fit together it finds v, leaves the law
    // linearised about the forces there, and counts *steps. NULL: the law predicts, with the resistance above.
    mo_status (*predict)(void *form, const double *v0, const double *x0, double *v, int32_t *steps);
} mo_contact_form;

// Solves from velocities v and forces x. info has the iterations of all steps (at most `limit`) and the reason for the
// end; *predicted has the steps of predictions.
mo_status mo_contact_newton(mo_contact_law *l, const mo_contact_form *f, double goal, int32_t limit, double *v,
                            double *x, mo_solve_info *info, int32_t *predicted);

#endif
