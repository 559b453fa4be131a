// The triangles of sheets on the lattice. Internal to grid/cut.
#ifndef MO_CUT_MESH_H
#define MO_CUT_MESH_H

#include "grid/cut_cell.h"
#include "grid/grid.h"

// Sheets are moved by this, in cells. People put sheets on planes of the lattice; the shift keeps lengths there above
// the rounding error.
static const double mo_cut_shift[3] = {1.13e-11, 1.71e-11, 2.39e-11};

// Vertices on the lattice, triangles, and strips 2 cells wide that continue borders outwards.
mo_status mo_cut_mesh_create(const mo_grid *g, const mo_sheet *sheet, mo_cut_mesh *out, mo_error *err);

#endif
