// Liquids whose viscosity depends on the flow: Herschel-Bulkley (MO eq. 27), regularised below a threshold of shear.
#ifndef MO_RHEOLOGY_H
#define MO_RHEOLOGY_H

#include "monolith/monolith.h"

// Tells whether the liquid neither thins nor thickens nor yields, so that its consistency is its viscosity.
bool mo_rheology_is_newtonian(const mo_rheology *r);
// Returns the effective viscosity (Pa s) at a shear rate sqrt(2 D:D) >= 0 (1/s). It is finite and >= 0 for every
// checked rheology.
double mo_rheology_viscosity(const mo_rheology *r, double shear_rate);
// Refuses numbers that are NaN or negative, a yield stress or an index other than 1 without a threshold, and a limiting
// viscosity that overflows. `place` begins the message ("liquid 2").
mo_status mo_rheology_check(const mo_rheology *r, const char *place, mo_error *err);

#endif
