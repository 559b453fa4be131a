// The liquid's surface near sheets: the level set as a place sees it, from its own side. Inner to fluid/.
#ifndef MO_LIQUID_MESH_NEAR_H
#define MO_LIQUID_MESH_NEAR_H

#include "grid/cut.h"
#include "grid/reach.h"

// Weights of the four cells round a place that lies t behind the centre of the second.
static inline void mo_cubic_weights(float t, float w[4])
{
    w[0] = -t * (t - 1) * (t - 2) / 6, w[1] = (t + 1) * (t - 1) * (t - 2) / 2;
    w[2] = -(t + 1) * t * (t - 2) / 2, w[3] = (t + 1) * t * (t - 1) / 6;
}

// phi at x (lattice coordinates) by cubic interpolation of the rows that are reached from there; false: no sheet is
// near, the lattice tells. Values beyond `most` are cut off.
bool mo_liquid_near(const mo_grid *g, const float *phi, const double x[3], float most, float *value);

#endif
