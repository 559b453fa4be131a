// Slits: cells between a body and a wall or another solid that lie too near to each other for the grid to see the
// liquid that flows there. Real bodies never seal the surface that they stand on, so the pressure beside a slit is
// continued inside. It is harmonic there, as in the thin film of a gap of even width:
//
//     p_s = sum_r H_sr (p_r + rho g . (x_s - x_r)),       H = harmonic, 1 at its row r of the rim, 0 at the others and
//                                                         at air
//
// The row of a slit cell, R_s v = c_s, is then added to the rows of the rim with the same H: the liquid that fills the
// space behind a rising body comes from there. This adds no unknown, and the system stays symmetric.
#ifndef MO_SLITS_H
#define MO_SLITS_H

#include "system/liquid_system.h"
#include "system/solid_rows.h"

typedef struct mo_slits {
    int32_t count;
    const int32_t *cell;    // [count] the grid's cells
    const uint8_t *along;   // [count] bits of the axes along which the slit goes on
    const mo_vec3 *surface; // [count] m: where the body's surface is
} mo_slits;

// How slit cells are connected and what lies beside them.
typedef struct mo_slit_links {
    int32_t count;
    int32_t (*to)[6]; // a slit cell, or MO_SLIT_..., or MO_SLIT_ROW - row
    double *diagonal; // number of links of a cell; 0: the cell is in no slit that liquid reaches
} mo_slit_links;
enum { MO_SLIT_CLOSED = -1, MO_SLIT_AIR = -2, MO_SLIT_ROW = -3 };

// row: a field, the row of a cell or -1; open: a field, the open part of cells.
mo_status mo_slits_link(const mo_slits *slits, const mo_grid *g, const int32_t *row, const float *open, mo_arena *arena,
                        mo_slit_links *out, mo_error *err);

// Solves for the harmonic continuation: x gets L^-1 b, where L counts links; work: 3 count. It is its own adjoint.
void mo_slits_solve(const mo_slit_links *links, const double *b, double *x, double *work);
// The part of each cell's pressure that comes from liquid, in [0, 1]. work: 4 count.
void mo_slits_wet(const mo_slit_links *links, double *wet, double *work);

// The entries that slits add to the rows of the rim.
typedef struct mo_slit_row {
    int32_t row, slit;
} mo_slit_row;
typedef struct mo_slit_rows {
    int32_t count;
    mo_slit_row *link; // by row, then slit
    int32_t columns, slits;
    int32_t *unknown; // [columns] of bodies
    double *value;    // [columns][slits]
    double *swept;    // [slits] for the right-hand side
} mo_slit_rows;

typedef struct mo_slits_def {
    const mo_slits *slits;
    const mo_grid *grid;
    const mo_solid_set *solids;
    const int32_t *row;
    const float *open;
    mo_vec3 gravity;
    double density, dt;
    mo_solid_row_fn find;                            // the row of a cell, as if it had one
    double (*swept)(const void *user, int32_t cell); // its right-hand side; NULL: 0
    const void *user;
} mo_slits_def;

// Arrays are in the arena. push: [unknowns of bodies] gets the impulse of the weight of liquid between the rim and the
// slit, over dx^3.
mo_status mo_slit_rows_create(const mo_slits_def *def, mo_arena *arena, double *push, mo_slit_rows *out, mo_error *err);
void mo_slit_rows_add(const mo_slit_rows *rows, int32_t row, mo_solid_row *to); // to one row on solids
void mo_slit_rows_sweep(const mo_slit_rows *rows, double *rhs);                 // to all right-hand sides

#endif
