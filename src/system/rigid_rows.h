// Coupling of rows with rigid bodies: R = -Frp^T, -Frs^T (docs/math.md 3.1), from what bodies take of the faces of a
// row.
#ifndef MO_RIGID_ROWS_H
#define MO_RIGID_ROWS_H

#include "grid/fractions.h"
#include "system/system.h"

typedef struct mo_cover_index { // covers found by tile
    const mo_grid *grid;
    const mo_solid_set *solids;
    const mo_cover *cover;
    const int32_t *first; // [tiles + 1]
} mo_cover_index;

// `first` of covers that are in the order of tiles.
mo_status mo_cover_index_create(const mo_grid *g, const mo_solid_set *solids, const mo_cover *cover, int32_t covers,
                                mo_arena *arena, mo_cover_index *out, mo_error *err);

typedef struct mo_rigid_row { // one row, with room for all bodies
    int32_t count, *body;     // ascending
    double (*part)[6];        // of velocity and angular velocity
} mo_rigid_row;

// Adds value * share * (velocity of the body along `axis` at the face) for a body that takes `share` of the face.
void mo_rigid_row_add(mo_rigid_row *row, const mo_cover_index *index, int32_t solid, int32_t face, int axis,
                      double value);

// R of a block from its rows: `find` fills one row (given empty).
typedef void (*mo_rigid_row_fn)(const void *user, int32_t row, mo_rigid_row *out);
mo_status mo_rigid_rows_create(int32_t rows, int32_t bodies, mo_rigid_row_fn find, const void *user, mo_csr *out);

#endif
