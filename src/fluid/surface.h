// The surfaces that follow from the particles: the union of balls, in which every cell with a particle is liquid; its
// closing, which holds the true volume; and the surface of their smoothed density (docs/volume.md 5).
#ifndef MO_FLUID_SURFACE_H
#define MO_FLUID_SURFACE_H

#include "fluid/particles.h"

// Slaved cells are air beside liquid. They have no pressure; the particles in them swim along in the liquid's velocity.
enum { MO_PHASE_AIR, MO_PHASE_LIQUID, MO_PHASE_BALLISTIC, MO_PHASE_SLAVED };

typedef struct mo_radii {
    float pressure, visible;
} mo_radii; // cells
// Gives the radii for particles of rest volume 1 / per_axis^d cells.
mo_radii mo_radii_for(bool two_dimensional, int32_t per_axis);

// The union of balls: phi is the distance to the nearest particle minus `radius`, at the centres of liquid cells near
// the surface and of the air cells round them. It is -radius deep inside, and up to 2 - radius in the rest of the air.
// It is extended two cells into solids (walls->distance < 0), so that a wall is never air: a cell takes the mean of its
// neighbours across open faces or, if it is buried, the least of all neighbours. So the two sides of a thin wall stay
// apart. Beyond open walls there is air. walls->area (3 fields) may be NULL. scratch: 1 field, 2 byte fields.
typedef struct mo_surface_walls {
    const float *distance;
    float *const *area;
    bool open_wall[6];
} mo_surface_walls;
void mo_surface_union(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls, float *phi,
                      float *scratch, uint8_t *bytes);

// Returns by how much linear interpolation at the middle of a cell's eighth exceeds the mean over the eighth, for a
// function whose second differences have this sum. The error of the interpolation is 3/32 of the sum, and the mean
// exceeds the value at the middle by 1/96. A sphere of 5 cells would lose 2% of its volume without the first and gain
// 0.3% without the second. The result is bounded by the difference of the mesh's cubic interpolation at the ridge of a
// film, so that films hold the volume that the mesh shows.
static inline float mo_eighths_error(float second_differences)
{
    const float kink = 0.1f; // cells
    return mo_minf(mo_maxf(second_differences / 12, -kink), kink);
}

// Makes the level set that is to be redistanced: solid cells take the least value around them, `layers` deep, so that
// liquid reaches through the walls that hold it and the closing does not retreat from them. Other cells get phi.
// scratch: one field.
void mo_surface_flood(const mo_grid *g, const float *phi, const float *solid_distance, int32_t layers, float *out,
                      float *scratch);

// The visible liquid at cell centres from the union phi: the closing of the union, which is redistanced and shifted
// back so that it holds the true volume. It is extended into solids as the union is. scratch: 3 fields, 2 byte fields.
void mo_surface_visible(const mo_grid *g, const float *phi, const mo_radii *radii, const mo_surface_walls *walls,
                        float *out, float *const scratch[3], uint8_t *bytes);

// Replaces `visible` where the smoothed density of the particles has a surface that agrees with the visible one: there
// it becomes the signed distance of that surface (sigma = sqrt(2/3) cells), which is exact for planes in any direction
// and holds the particles' volume. rho: particle density (hat); volume: open parts. scratch: 2 fields.
void mo_surface_smooth(const mo_grid *g, const float *rho, const float *volume, const float *solid_distance,
                       float *visible, float *const scratch[2]);

// Marks the thin cells: those without a place 0.7 cells deep within two cells (5^3), where solids do not count. They
// are films, thin layers, drops, and the air far from liquid. deep: a byte field for scratch.
void mo_surface_thin(const mo_grid *g, const float *phi, const float *solid_distance, uint8_t *deep, uint8_t *thin);

// phi, which holds the union of balls, becomes `level`. Thin parts, and cells with particles that touch no liquid of
// `level`, keep the union. scratch: 1 field.
void mo_surface_choose(const mo_particles *p, const mo_grid *g, const float *level, const uint8_t *thin, float *phi,
                       float *scratch);

// Air cells among the 26 neighbours of liquid become slaved. bytes: a byte field.
void mo_surface_slave(const mo_grid *g, uint8_t *phase, uint8_t *bytes);

// Finds the phase of each cell from phi and the open faces. Pieces of liquid with less than one cell of particle volume
// are ballistic. area[3]: open part of faces.
mo_status mo_surface_phase(const mo_particles *p, const mo_grid *g, const float *phi, float *const area[3],
                           uint8_t *phase, mo_arena *arena, mo_error *err);

// Finds the density that particles should have: `expected` is the integral of each cell's hat over the liquid of
// phi_visible, by 2 x 2 x 2 samples per cell, and `capacity` that over open space. Returns the liquid's volume in
// cells.
double mo_surface_expected(const mo_grid *g, const float *phi_visible, const float *open_volume, float *expected,
                           float *capacity);

#endif
