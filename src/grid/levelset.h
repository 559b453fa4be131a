// Level sets on tiles (values in cells, negative inside) and extrapolation of face velocities.
#ifndef MO_LEVELSET_H
#define MO_LEVELSET_H

#include "grid/grid.h"

// Replaces phi < 0 by the distance to the zero level, exact to second order up to `depth` cells inside (deeper:
// -depth). Next to the zero level, phi >= 0 becomes the larger of itself and the distance; elsewhere it stays. Missing
// tiles are outside (positive). It makes Jacobi rounds of the upwind eikonal update, so that the result does not depend
// on threads. scratch: 2 fields.
void mo_redistance_inside(const mo_grid *g, const float *phi, float depth, float *out, float *scratch);

// Makes signed distances on both sides of the zero level, up to `band` cells from it (then +-band). Cells with a
// neighbour of the other sign keep their value, so that the surface stays where it is. Missing tiles say nothing.
// scratch: 1 field, 2 byte fields.
void mo_redistance_both(const mo_grid *g, const float *phi, float band, float *out, float *scratch, uint8_t *bytes);

// Fills invalid faces from their valid neighbours (six, along the lattice; mo_site_step), layer by layer. `site` is the
// axis of the faces, or MO_SITE_ROW for a field of cells. A face takes the mean of what its neighbours continue to. In
// the first `linear` layers a neighbour continues as a line through itself and the two faces behind it, so that rigid
// rotations go on exactly; the slope is that between itself and the next, less where the two slopes differ by more than
// half, and none where those faces are not there. After that it continues as a constant. valid: 0 no, 1 yes, 2 fixed
// (keeps its value and is never a source). On return faces that were reached have valid = 1. scratch: one field, one
// byte field.
void mo_extrapolate(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                    float *scratch, uint8_t *scratch_valid);

#endif
