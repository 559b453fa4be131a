// Slits between bodies and what they stand on, in the simulation (slits.c, slit_fill.c).
#ifndef MO_SIM_SLITS_H
#define MO_SIM_SLITS_H

#include "sim/sim.h"
#include "system/slits.h"

// The first finds the slits of the present poses and tiles, from the openings of the solids alone; the second closes
// their faces.
mo_status mo_sim_find_slits(mo_sim *sim, mo_error *err);
void mo_sim_close_slits(mo_sim *sim);
void mo_slit_set_destroy(mo_slit_set *set);
// Makes the slits in the form that the system uses, in an arena.
mo_status mo_sim_slits(const mo_sim *sim, mo_arena *arena, mo_slits *out, mo_error *err);
double mo_sim_slit_gap(const mo_sim *sim, const mo_slit *slit); // cells, at the present poses
mo_vec3 mo_sim_slit_point(const mo_sim *sim, const mo_slit *slit, mo_vec3 offset, double height);
// Finds which slit cells hold liquid: wet[k] is the part of their rim that holds liquid; liquid: 1 for cells that hold
// it. Scratch is in the arena of the stage.
mo_status mo_sim_wet_slits(const mo_sim *sim, const uint8_t *liquid, double *wet, mo_error *err);
// Moves particles between slits and their rims, once bodies have moved: before the tiles change.
mo_status mo_sim_fill_slits(mo_sim *sim, const uint8_t *phase, mo_error *err);

// wall_lift.c: adds the weight of the liquid that bodies displace beside walls to the system's impulses.
mo_status mo_sim_lift_at_walls(mo_sim *sim, double dt, mo_liquid_system *l, mo_error *err);

#endif
