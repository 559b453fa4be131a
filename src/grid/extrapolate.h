// Extrapolation of face velocities, and of fields of cells, beyond where they are known.
#ifndef MO_EXTRAPOLATE_H
#define MO_EXTRAPOLATE_H

#include "grid/grid.h"

// The slope with which a value is continued, if that between it and the next one is `near` and that behind them `far`:
// `near` itself where both agree by half, and less the more they differ, because in splashes a line is wrong.
static inline float mo_limited_slope(float near, float far)
{
    float ratio = near * far > 0 ? near / far : 0;
    return near * mo_minf(1, mo_minf(1.5f * ratio, 2.25f / mo_maxf(ratio * ratio, 1e-12f)));
}

// Fills invalid faces from their valid neighbours (six, along the lattice; mo_site_step), layer by layer. `site` is the
// axis of the faces, or MO_SITE_ROW for a field of cells. A face takes the mean of the extrapolations from its
// neighbours. In the first `linear` layers, the extrapolation from a neighbour is the line through it and the two faces
// behind it, so that rigid rotations are continued exactly. The slope is that between the neighbour and the next face;
// it is reduced where the two slopes differ by more than half, and 0 where those faces do not exist. In later layers
// the extrapolation is constant. valid: 0 no, 1 yes, 2 fixed (keeps its value and is never a source). On return faces
// that were reached have valid = 1. scratch: one field, one byte field.
void mo_extrapolate(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                    float *scratch, uint8_t *scratch_valid);

// The velocities of the faces of an axis before their sources changed, and the masses that gave them.
typedef struct mo_faces_before {
    const float *u, *mass; // [cells of the grid]
} mo_faces_before;

// The same, except for a face with mass, in the first `linear` layers, for which no neighbour has a line: it changes as
// its neighbours did, u = u_before + mean (u - u_before). A limb of two cells has no lines; with constant extrapolation
// its rotation would lose angular momentum. Where there are lines they are better, because a change would keep the
// noise of the particles beyond the sources.
void mo_extrapolate_change(const mo_grid *g, int site, float *face, uint8_t *valid, int32_t layers, int32_t linear,
                           const mo_faces_before *before, float *scratch, uint8_t *scratch_valid);

#endif
