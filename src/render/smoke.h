// Smoke on the stage: soot scatters and absorbs light. Delta tracking finds where a ray meets soot next; ratio tracking
// finds how much light arrives along a line. Both are right in the mean for any density, without steps along the ray.
// The sunlight that arrives at each voxel, and that soot scatters there, is computed beforehand.
#ifndef MO_RENDER_SMOKE_H
#define MO_RENDER_SMOKE_H

#include "output/vdb.h"
#include "render/sampler.h"
#include "render/vec3f.h"

typedef struct mo_smoke mo_smoke;

// Takes the density of a volume, kg/m^3; extinction: m^2/kg, the area that a kilogramme covers.
mo_status mo_smoke_create(const mo_vdb *density, double extinction, mo_smoke **out, mo_error *err);
void mo_smoke_destroy(mo_smoke *s);

float mo_smoke_at(const mo_smoke *s, mo_vec3f x); // 1/m, of light lost at a place

// Finds where a ray that starts at o meets soot within `far`; INFINITY: nowhere. s NULL: there is no smoke.
float mo_smoke_meet(const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far, mo_sampler *sampler);
// Estimates the part of light that passes from o as far as `far`.
float mo_smoke_passes(const mo_smoke *s, mo_vec3f o, mo_vec3f d, float far, mo_sampler *sampler);

// Finds the part of the light of a distant sun that arrives at every voxel, once for all paths; sun: unit, towards it.
// Its disc counts as a point.
mo_status mo_smoke_light(mo_smoke *s, mo_vec3f sun, mo_error *err);
// The part of it that arrives at a place in smoke, once that is found.
float mo_smoke_clear(const mo_smoke *s, mo_vec3f place);

#endif
