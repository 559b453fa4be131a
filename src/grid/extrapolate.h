// Extrapolation of face velocities, and of fields of cells, beyond where they are known.
#ifndef MO_EXTRAPOLATE_H
#define MO_EXTRAPOLATE_H

#include "grid/grid.h"

// Fills invalid faces from their valid neighbours (six, along the lattice; mo_site_step), layer by layer. `site` is the
// axis of the faces, or MO_SITE_ROW for a field of cells. A face takes the mean of what its neighbours continue to. In
// the first `linear` layers a neighbour continues as a line through itself and the two faces behind it, so that rigid
// rotations go on exactly; the slope is that between itself and the next, less where the two slopes differ by more than
// half, and none where those faces are not there. After that it continues as a constant. valid: 0 no, 1 yes, 2 fixed
// (keeps its value and is never a source). On return faces that were reached have valid = 1. scratch: one field, one
// byte field.
void mo_extrapolate(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                    float *scratch, uint8_t *scratch_valid);

// What the faces of an axis had before their sources changed, and the mass that gave it to them.
typedef struct mo_faces_before {
    const float *u, *mass; // [cells of the grid]
} mo_faces_before;

// The same, but a face that has mass and no line behind any neighbour, in the first `linear` layers, changes as its
// neighbours did: u = u_before + mean (u - u_before). A limb of two cells has no lines; continued as constants its
// rotation would lose angular momentum. Where there are lines they are better: a change would keep what noise the
// particles beyond the sources have.
void mo_extrapolate_change(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                           const mo_faces_before *before, float *scratch, uint8_t *scratch_valid);

#endif
