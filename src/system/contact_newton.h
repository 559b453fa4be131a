// Newton's method on the law of contact (contact_law.h), about linear steps of any form: solids alone, with the
// pressure of an inviscid liquid, or in a viscous one.
//
// A small problem, in which the solids meet a known or estimated resistance, predicts which contacts hold; a linear
// step with those as springs tells what it comes to, and what is still missing. Steps are solved loosely while contacts
// open and close. After a few of them a step must lead downwards in what is minimised, else only a part of it is taken.
#ifndef MO_CONTACT_NEWTON_H
#define MO_CONTACT_NEWTON_H

#include "system/contact_law.h"

typedef struct mo_contact_form { // what a form gives; forces x [rows of the law], velocities v [unknowns of solids]
    void *form;
    // Makes the linear step with the law's springs, by which solids get v, to a residual relative to the form's norm.
    // It counts its iterations in *info from 0 and makes at most `limit` of them.
    mo_status (*solve)(void *form, double tolerance, int32_t limit, double *v, mo_solve_info *info);
    // Velocities v and forces x fit together in what `solve` found. It chooses the forces to end with, law->x, and
    // returns how far they are from a solution, relative to the norm. *settled tells that contacts no longer open and
    // close: only the linear step is not accurate enough.
    double (*settle)(void *form, const double *v, const double *x, double goal, bool *settled);
    // Tells how solids resist, for a prediction from v, and adds to v what the form knows to be missing.
    const mo_csr *(*resist)(void *form, double *v);
    // Replaces what `solve` found by (1 - t) times what it was at the last call plus t times what it is.
    void (*mix)(void *form, double t);
    double norm;  // of the residual
    double loose; // the tolerance of the first steps, while contacts still open and close
    double least; // that of the last step
    bool known;   // v and x fit together before the first step
    // Predicts in its own way: from velocities v0 and forces x0 that fit together it finds v, leaves the law linearised
    // about the forces there, and counts *steps. NULL: the law does, with that resistance.
    mo_status (*predict)(void *form, const double *v0, const double *x0, double *v, int32_t *steps);
} mo_contact_form;

// Solves from velocities v and forces x. info tells the iterations of all steps (at most `limit`) and how it ended,
// *predicted the steps of predictions.
mo_status mo_contact_newton(mo_contact_law *l, const mo_contact_form *f, double goal, int32_t limit, double *v,
                            double *x, mo_solve_info *info, int32_t *predicted);

#endif
