// The file of air in a frame.
#ifndef MO_OUTPUT_AIR_H
#define MO_OUTPUT_AIR_H

#include "monolith/monolith.h"

// Writes DIR/frames/smoke_00042.vdb: the volumes `density` (kg/m^3 of soot), `temperature` (K above the air's) and
// `velocity` (m/s, at the centres of cells that hold soot or heat).
mo_status mo_write_smoke(const char *dir, const mo_sim *sim, mo_error *err);

#endif
