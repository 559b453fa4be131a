// A local correction of particles' positions, as the papers have it: neighbours that crowd push each other apart
// (docs/volume.md, "The papers' correction").
//
//     C_i = sum_j V_j W(x_i - x_j) / K_i - 1 <= 0,        x_i += 1/V_i sum_k lambda_k dC_k/dx_i
//     lambda_k = -max(C_k, 0) / (sum_j 1/V_j |dC_k/dx_j|^2 + e)
//
// One pass of position based fluids (Macklin and Mueller 2013). W has a radius of one cell. K is the part of it that is
// open, which the particles themselves do not know.
#ifndef MO_SPREAD_H
#define MO_SPREAD_H

#include "fluid/particles.h"

// Moves every particle by at most `limit` cells, less than 1/2; open_volume: [cells]. The particles must be sorted.
// *clamped: how many the limit cut. The sum of volume times displacement is zero but for those.
mo_status mo_particles_spread(mo_particles *p, const mo_grid *g, const float *open_volume, float limit,
                              int64_t *clamped, mo_arena *arena, mo_error *err);

#endif
