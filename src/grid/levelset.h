// Level sets on tiles (values in cells, negative inside) and extrapolation of face velocities.
#ifndef MO_LEVELSET_H
#define MO_LEVELSET_H

#include "grid/grid.h"

// Replaces phi < 0 by the distance to the zero level, exact to second order up to `depth` cells inside (deeper:
// -depth); phi >= 0 becomes the larger of itself and the interface distance next to the interface, else stays. Missing
// tiles are outside (positive). Jacobi rounds of the upwind eikonal update, so independent of threads. scratch: 2
// fields.
void mo_redistance_inside(const mo_grid *g, const float *phi, float depth, float *out, float *scratch);

// Signed distances on both sides of the zero level, up to `band` cells from it (then +-band). Cells with a neighbour of
// the other sign keep their value, so that the surface stays where it is. Missing tiles say nothing. scratch: 1 field,
// 2 byte fields.
void mo_redistance_both(const mo_grid *g, const float *phi, float band, float *out, float *scratch, uint8_t *bytes);

// Fills invalid faces from their valid neighbours (six, along the lattice), layer by layer: the mean of what each of
// them continues to. In the first `linear` layers that is a line through it and the two behind it, its slope the
// smaller of their two, the less the more they differ (none where they are not there), so that rigid rotations go on
// exactly; after that a constant. valid: 0 no, 1 yes, 2 fixed (keeps its value, never a source). On return faces
// reached have valid = 1. scratch: one field and one byte field.
void mo_extrapolate(const mo_grid *g, float *face, uint8_t *valid, int32_t layers, int32_t linear, float *scratch,
                    uint8_t *scratch_valid);

// Wet part of the segment between two samples a, b of a level set (a < 0 <= b or the reverse), in [minimum, 1]; 1 if
// both are inside. The ghost-fluid weight WL^u.
static inline double mo_theta(double a, double b, double minimum)
{
    if (a < 0 && b < 0) return 1;
    double inside = a < 0 ? a : b, t = inside / (a < 0 ? a - b : b - a);
    return t > minimum ? t : minimum;
}

#endif
