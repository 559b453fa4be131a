// Gas where sheets have moved: its fields go from the sites before the move to those after it (grid/sites.h).
//
// A value belongs to a side of a sheet. A place before the move and a place after it lie on the same side if no sheet
// is met on the way between them, in the frame of the sheet, in which it rests. So
//
//     velocity, kick   a piece of a face takes the value of the nearest old piece of this face on its side; one that a
//                      sheet has swept is filled from the pieces beside it on its side, or else moves with the sheet
//     pressure         rows likewise
//     soot, heat, room the content of a row goes to the rows of its cell on its side; if there are none, to the nearest
//
// Nothing passes a sheet. Soot and heat are lost only where they find no row, as in a space that closes.
#ifndef MO_GAS_MOVE_H
#define MO_GAS_MOVE_H

#include "fluid/gas.h"
#include "grid/sites.h"

typedef struct mo_gas_move {
    const mo_grid *old, *now; // the same tiles, with the sites before and after the move
    // Whether a sheet parts place a before the move from place b after it (lattice coordinates).
    bool (*parts)(const void *user, const double a[3], const double b[3]);
    const void *user;
    const double (*velocity)[3]; // m/s, of the sheets' vertices
    double way;                  // cells that the fastest vertex has moved
} mo_gas_move;

// Moves the fields; soot and heat must be contents (mo_gas_pack). fresh: [rows] 1 for rows that no row of their cell
// was before, 0 for others; in the arena.
mo_status mo_gas_follow_sheets(mo_gas *gas, const mo_gas_move *m, mo_arena *arena, uint8_t **fresh, mo_error *err);
// Makes contents fit the rooms of rows, once the open parts are known. Fresh rows share contents with the rows from
// which their gas comes. Then gas flows between groups of rows (mo_gas_group) until what each holds (gas->room) fits
// its room: what sheets have left of a row differs from what the flow through its faces has left, by an error of second
// order in the step, which in small rows may be as much as they hold. Even soot stays even.
mo_status mo_gas_fit(const mo_gas *gas, const mo_grid *g, const mo_gas_flux *f, const uint8_t *fresh, mo_arena *arena,
                     mo_error *err);

#endif
