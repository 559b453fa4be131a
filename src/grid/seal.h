// Cells that a solid divides: a wall of one cell that stands askew leaves corners of a cell open on both of its sides,
// and the cell's one pressure would connect them. Only the larger side keeps its openings. Inner to grid/.
#ifndef MO_SEAL_H
#define MO_SEAL_H

#include "grid/meet.h"

// Closes what is sealed of one tile's faces and cells. The openings of all tiles are known but for this; only their
// distances are read beyond the tile.
void mo_openings_seal(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out);

#endif
