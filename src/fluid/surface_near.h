// The functions of surface.h for rows near sheets, which see only the rows that they reach (grid/reach.h). They do
// nothing without sheets. Internal to fluid/.
#ifndef MO_SURFACE_NEAR_H
#define MO_SURFACE_NEAR_H

#include "fluid/surface.h"

void mo_near_union(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls, float *phi);
void mo_near_thin(const mo_grid *g, const float *phi, uint8_t *deep, uint8_t *thin);
void mo_near_choose(const mo_particles *p, const mo_grid *g, const float *level, const uint8_t *thin, const float *phi,
                    float *out);
void mo_near_slave(const mo_grid *g, const uint8_t *before, uint8_t *phase);
// Finds which rows are liquid, before small pieces become ballistic.
void mo_near_phase(const mo_grid *g, const float *phi, float *const area[3], uint8_t *phase);
// Hats take (1, 6, 1)/8 of the rows along each axis.
void mo_near_expected(const mo_grid *g, const float *phi, const float *open_volume, float *expected, float *capacity);

// The wet part of a row's cell, from phi at its 27 cells (in the middle of a block of edge MO_REACH_EDGE).
float mo_near_wet_part(const float *block, bool flat);

#endif
