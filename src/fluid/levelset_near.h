// The level set near sheets: its rows see what they reach (grid/reach.h). Inner to fluid/.
#ifndef MO_LEVELSET_NEAR_H
#define MO_LEVELSET_NEAR_H

#include "fluid/levelset.h"
#include "grid/reach.h"

// The margins' rows near sheets, as mo_levelset_fill_margins has the others.
void mo_near_margins(const mo_grid *g, const bool open_wall[6], float *phi);
// The 27 values that a row sees, in the order of gather_around; false: no sheet is near, the lattice tells.
bool mo_near_values(const mo_grid *g, const float *field, int32_t row, float v[27]);

#endif
