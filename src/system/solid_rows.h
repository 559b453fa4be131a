// Rows on solids that the solve moves: R = -Frp^T, -Frs^T (docs/math.md 3.1), from the parts that solids take of the
// faces of a row, and from contacts. Only a solid's columns say which unknowns move its points (mo_solid_set).
#ifndef MO_SOLID_ROWS_H
#define MO_SOLID_ROWS_H

#include "grid/fractions.h"
#include "system/system.h"

// Tells how the velocity of a solid's material at x along a direction follows from unknowns of the solve, in ascending
// order. Returns their number; 0 means that the velocity is prescribed.
int32_t mo_solid_columns(const mo_solid_set *solids, int32_t solid, mo_vec3 x, mo_vec3 direction,
                         mo_column out[MO_SOLID_COLUMNS]);
// The columns of a rigid body: its velocity along the direction and its rotation; `arm` leads from its centre to the
// point.
int32_t mo_rigid_columns(int32_t body, mo_vec3 arm, mo_vec3 direction, mo_column *out);
int32_t mo_solid_unknowns(const mo_solid_set *solids, int32_t group); // of a group, that all solids have

typedef struct mo_solid_row { // one row, with room for all columns that may be added
    int32_t count;
    mo_column *column; // ascending by group and unknown
} mo_solid_row;

// Adds value times n columns, which ascend.
void mo_solid_row_merge(mo_solid_row *row, int32_t n, const mo_column *own, double value);
// Adds value times the velocity of a solid at x along a direction.
void mo_solid_row_add(mo_solid_row *row, const mo_solid_set *solids, int32_t solid, mo_vec3 x, mo_vec3 direction,
                      double value);

// Makes the parts of rows that are on each group but faces. `find` fills one row, which it gets empty.
typedef void (*mo_solid_row_fn)(const void *user, int32_t row, mo_solid_row *out);
mo_status mo_solid_rows_create(int32_t rows, const mo_solid_set *solids, mo_solid_row_fn find, const void *user,
                               mo_csr on[MO_GROUPS]);

// ---- Covers ----

// How a row acts on the pieces of a solid's surface in its cell or round its edge. Along each axis, the row has the
// velocity times `factor` times the pieces' area across `normal`. For the divergence `normal` is the axis itself, for
// shear it is the other axis.
typedef struct mo_piece_row {
    int axes; // 2 or 3
    int normal[3];
    double factor[3]; // 1/m; 0: the row has no velocity along this axis
    double sum[3];    // 1/m: the row's total factor of the solid's velocity, by its parts of faces
} mo_piece_row;

// Whether a row acts on a solid by pieces. Only solids that the solve moves have them.
bool mo_has_pieces(const mo_solid_set *solids, int32_t solid, int sample, const int32_t cell[3]);
// Adds the pieces. Their difference from the row's sum is spread over them, so that a common velocity gets exactly the
// sum.
void mo_pieces_add(mo_solid_row *row, const mo_solid_set *solids, int32_t solid, int sample, const int32_t cell[3],
                   const mo_piece_row *of);

typedef struct mo_cover_index { // covers found by tile
    const mo_grid *grid;
    const mo_solid_set *solids;
    const mo_cover *cover;
    const int32_t *first; // [tiles + 1]
} mo_cover_index;

// Finds `first` of covers that are in the order of tiles.
mo_status mo_cover_index_create(const mo_grid *g, const mo_solid_set *solids, const mo_cover *cover, int32_t covers,
                                mo_arena *arena, mo_cover_index *out, mo_error *err);

// Adds value * (velocity of the solid along `axis` at the low face of a cell), for a solid that takes a part of it.
void mo_cover_add(mo_solid_row *row, const mo_cover_index *index, int32_t solid, int32_t cell, int axis, double value);

#endif
