// The springs of linearised contacts, B^T D B of contact_law.h, as a sparse matrix. It is made as a square of rows:
// D = L L^T of every pair of tangents.
#ifndef MO_CONTACT_SPRINGS_H
#define MO_CONTACT_SPRINGS_H

#include "system/contact_law.h"

// The law's rows on `unknowns` others: unknown k of solids is dof[k] of them times scale[dof[k]], or left out if
// dof[k] < 0. dof NULL: they are the solids' own. Both tangents of a contact get one pattern.
mo_status mo_contact_springs_rows(const mo_contact_law *l, int32_t unknowns, const int32_t *dof, const double *scale,
                                  mo_csr *out);
// B^T D B of the present linearisation, or with D = 1 (`all`), whose pattern contains every other one. *out is
// replaced.
mo_status mo_contact_springs(const mo_contact_law *l, const mo_csr *rows, bool all, mo_csr *out);

#endif
