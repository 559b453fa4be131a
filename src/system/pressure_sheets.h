// Sheets in the pressure block: the volume that they sweep, Fw V. A script gives the velocity V of their vertices, or a
// sheet is a rigid body and V = J v of its six unknowns. Then its rows have -Fw J, and it feels the transpose of that.
// The vertices of cloth are nodes: V are unknowns themselves, and the rows have -Fw.
#ifndef MO_PRESSURE_SHEETS_H
#define MO_PRESSURE_SHEETS_H

#include "system/pressure.h"
#include "system/solid_rows.h"

// The volume over dx^3 and time that sheets with a prescribed motion sweep in a row of the grid: Fw V.
double mo_sheets_sweep(const mo_pressure_def *d, int32_t row);
// Adds the entries of sheets that the solve moves: -Fw J, or -Fw of cloth.
void mo_sheets_couple(const mo_pressure_def *d, int32_t row, mo_solid_row *out);
// Attaches liquid to sheets that the solve moves. A row presses on a sheet with the pressure at its cell's centre, c.
// The boxes round the faces hold the liquid up to that centre, and what lies between the centre and the sheet at x is
//
//     m_a = rho A_a (x - c)_a      along axis a, with A the wall's area outwards of the row
//
// so that boxes and m together hold all of the row's liquid, on every axis (divergence theorem). It is negative where
// the sheet comes before the centre. On a sheet in liquid both sides cancel. Where one side is dry, the sheet feels the
// pressure at its own place.
void mo_sheets_attach(const mo_pressure_def *d, mo_liquid_system *l);
// The same for cloth, by vertex: m times the weights of a wall's vertices. Cloth is far lighter than a cell of liquid,
// and masses must stay positive. Unknowns with a negative sum therefore get only the weight of it, as a force: cloth
// floats and hangs as it should, but the liquid that the boxes count twice keeps its inertia.
mo_status mo_cloth_attach(const mo_pressure_def *d, mo_liquid_system *l, mo_error *err);

#endif
