// A preconditioner for rows of contact on rigid bodies (and perhaps on nodes, too): Woodbury's formula for
//
//     D + dt R M^-1 R^T        D: how each row yields otherwise, its softness included; R: the rows' part on bodies
//
// among the rows that are not at a bound. A light body between others makes all its rows yield together, by far more
// than each row alone would; a diagonal does not contain this.
#ifndef MO_BODY_ROWS_H
#define MO_BODY_ROWS_H

#include "system/system.h"

enum { MO_BODY_ROWS_BLOCKS = 2 };

typedef struct mo_body_rows {
    int32_t unknowns; // of bodies; 0: there is nothing to do
    int32_t blocks, first[MO_BODY_ROWS_BLOCKS];
    const mo_csr *R[MO_BODY_ROWS_BLOCKS];
    double *mass, *C, *y; // [unknowns^2] M / dt; scratch of the same size; [unknowns]
} mo_body_rows;

// Blocks of contact and friction, and the first row of each. More than 16 bodies: nothing is done.
mo_status mo_body_rows_create(const mo_system *s, int32_t blocks, mo_block *const *block, const int32_t *first,
                              mo_body_rows *out);
void mo_body_rows_destroy(mo_body_rows *b);
bool mo_body_rows_has(const mo_body_rows *b, int32_t row); // whether it is on a body
// Computes z for all rows on bodies. inverse: 1/D. Rows with r = 0 are at a bound and left out.
void mo_body_rows_apply(const mo_body_rows *b, const double *inverse, const double *r, double *z);

#endif
