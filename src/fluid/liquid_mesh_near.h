// The liquid's surface near sheets: the level set as a place sees it, from its own side. Inner to fluid/.
#ifndef MO_LIQUID_MESH_NEAR_H
#define MO_LIQUID_MESH_NEAR_H

#include "grid/cut.h"
#include "grid/reach.h"

// phi at x (lattice coordinates) by cubic interpolation of the rows that are reached from there; false: no sheet is
// near, the lattice tells. Values beyond `most` are cut off.
bool mo_liquid_near(const mo_grid *g, const float *phi, const double x[3], float most, float *value);

#endif
