// Velocities of gas that carry themselves near sheets. Internal to fluid/.
#ifndef MO_GAS_NEAR_H
#define MO_GAS_NEAR_H

#include "fluid/gas.h"

// Overwrites the samples whose paths may come near sheets: with f, or, if `first` holds f, with the corrected value
// where a whole cell lies round the sample; cells that sheets cut keep f.
void mo_gas_carry_near(const mo_grid *g, const mo_gas_flow *flow, float *const first[3], float *const out[3]);

#endif
