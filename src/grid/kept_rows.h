// Keeps values of rows in cut cells over a change of tiles or a move of sheets.
//
// Rows have no names of their own. As long as sheets rest, a cell is cut as before and its sides come in the same
// order. When they move, a row is recognised by the sides of triangles beside which it lies: the same cell beside the
// same triangle.
#ifndef MO_KEPT_ROWS_H
#define MO_KEPT_ROWS_H

#include "grid/sites.h"

enum { MO_KEPT_FIELDS = 3 };
typedef struct mo_kept_row {
    int64_t cell; // of the lattice
    int32_t key, unused;
    float value[MO_KEPT_FIELDS];
} mo_kept_row;
typedef struct mo_kept_rows {
    bool still; // sheets rest
    int64_t count;
    mo_kept_row *row; // by cell and key
} mo_kept_rows;

mo_status mo_rows_keep(const mo_grid *g, bool still, const float *const field[MO_KEPT_FIELDS], mo_kept_rows *out,
                       mo_error *err);
void mo_kept_rows_destroy(mo_kept_rows *k);
// Puts the values back on the grid's present rows. known (a byte of each row, may be NULL): 1, except 0 for rows of
// cells that are or were cut and for which no value is known.
void mo_rows_recall(const mo_grid *g, const mo_kept_rows *k, float *const field[MO_KEPT_FIELDS], uint8_t *known);

#endif
