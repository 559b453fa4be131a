// The level set near sheets: its rows see the part of a field that they reach (grid/reach.h). Internal to fluid/.
#ifndef MO_LEVELSET_NEAR_H
#define MO_LEVELSET_NEAR_H

#include "fluid/levelset.h"
#include "grid/reach.h"

// Fills the margins' rows near sheets, as mo_levelset_fill_margins fills the others.
void mo_near_margins(const mo_grid *g, const bool open_wall[6], float *phi);
// Finds the 27 values that a row sees, in the order of gather_around; false: no sheet is near, and the lattice has the
// values.
bool mo_near_values(const mo_grid *g, const float *field, int32_t row, float v[27]);

#endif
