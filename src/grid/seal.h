// Sealing of cells that a solid divides. A wall of one cell that stands askew leaves corners of a cell open on both of
// its sides, and the cell's one pressure would connect them. Only the larger side keeps its openings. Inner to grid/.
#ifndef MO_SEAL_H
#define MO_SEAL_H

#include "grid/meet.h"

// Closes what is to be sealed of one tile's faces and cells, once the openings of all tiles are known. Beyond the tile
// only distances are read.
void mo_openings_seal(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out);

#endif
