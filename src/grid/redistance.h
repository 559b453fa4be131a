// Redistancing of level sets on tiles (values in cells, negative inside).
#ifndef MO_REDISTANCE_H
#define MO_REDISTANCE_H

#include "grid/grid.h"

// Replaces phi < 0 by the distance to the zero level, exact to second order up to `depth` cells inside (deeper:
// -depth). Next to the zero level, phi >= 0 becomes the larger of itself and the distance; elsewhere it stays. Missing
// tiles are outside (positive). It makes Jacobi rounds of the upwind eikonal update, so that the result does not depend
// on threads. scratch: 2 fields.
void mo_redistance_inside(const mo_grid *g, const float *phi, float depth, float *out, float *scratch);

// Makes signed distances on both sides of the zero level, up to `band` cells from it (then +-band). Cells with a
// neighbour of the other sign keep their value, so that the surface stays where it is. Missing tiles have no influence.
// scratch: 1 field, 2 byte fields.
void mo_redistance_both(const mo_grid *g, const float *phi, float band, float *out, float *scratch, uint8_t *bytes);

#endif
