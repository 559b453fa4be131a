// Sealing of cells that a solid divides. An oblique wall one cell thick leaves corners of a cell open on both of its
// sides, and the cell's single pressure would connect them. Only the larger side keeps its openings. Internal to grid/.
#ifndef MO_SEAL_H
#define MO_SEAL_H

#include "grid/meet.h"

// Closes the faces and cells of one tile that must be sealed, once the openings of all tiles are known. Beyond the tile
// only distances are read.
void mo_openings_seal(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out);

#endif
