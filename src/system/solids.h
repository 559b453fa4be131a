// The unknowns of all solids are one vector here: every group but faces, one behind the other, as in a motion
// (state.h). Contact, and all else that couples solids of any kind, works on it.
#ifndef MO_SOLIDS_H
#define MO_SOLIDS_H

#include "system/system.h"

int32_t mo_solids_count(const mo_system *s);
void mo_solids_get(const mo_system *s, double *v);                                        // velocities [count]
void mo_solids_set(mo_system *s, const double *v);                                        // [count]
void mo_solids_apply_inverse(const mo_system *s, double a, const double *f, double *v);   // v += a H^-1 f
double mo_solids_yield(const mo_system *s, const mo_block *b, int32_t row);               // (B H^-1 B^T)_ii, or about
mo_status mo_solids_rows(const mo_system *s, int32_t n, mo_block *const *b, mo_csr *out); // B of n blocks; NULL: none
void mo_solids_units(const mo_system *s, double *unit);                                   // that make speeds of them
mo_status mo_solids_inertia(const mo_system *s, mo_csr *out);                             // H/dt

#endif
