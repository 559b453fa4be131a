// What particles tell of the surface: a union of spheres, in which every cell with a
// particle is liquid, its closing, which holds the true volume, and the surface of their smoothed density.
#ifndef MO_FLUID_SURFACE_H
#define MO_FLUID_SURFACE_H

#include "fluid/particles.h"

// Slaved: air beside liquid. It has no pressure; the particles in it swim along in the liquid's velocity.
enum { MO_PHASE_AIR, MO_PHASE_LIQUID, MO_PHASE_BALLISTIC, MO_PHASE_SLAVED };

typedef struct mo_radii {
    float pressure, visible;
} mo_radii; // cells
// For particles of rest volume 1 / per_axis^d cells.
mo_radii mo_radii_for(bool two_dimensional, int32_t per_axis);

// Distance to the nearest particle minus `radius`, at the centres of liquid cells near the surface and of the air cells
// round them; -radius deep inside, up to +2 - radius in the rest of the air. Extended two cells into solids
// (solid_distance < 0), so that a wall is never air: a cell takes the mean of its neighbours across open faces, or,
// buried, the least of all neighbours; so the two sides of a thin wall stay apart. Air beyond open walls. area (3
// fields) may be NULL. scratch: 1 field, 2 byte fields.
typedef struct mo_surface_walls {
    const float *distance;
    float *const *area;
    bool open_wall[6];
} mo_surface_walls;
void mo_surface_union(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls, float *phi,
                      float *scratch, uint8_t *bytes);

// The level set to redistance: solid cells take the least value around them, `layers` deep, so that liquid reaches
// through the walls that hold it and the closing does not retreat from them. out: phi elsewhere. scratch: one field.
void mo_surface_flood(const mo_grid *g, const float *phi, const float *solid_distance, int32_t layers, float *out,
                      float *scratch);

// The visible liquid at cell centres from the union phi: its closing, redistanced and shifted back, which holds the
// true volume; extended into solids as the union is. out; scratch: 3 fields, 2 byte fields.
void mo_surface_visible(const mo_grid *g, const float *phi, const mo_radii *radii, const mo_surface_walls *walls,
                        float *out, float *const scratch[3], uint8_t *bytes);

// The surface that the particles tell, in place of `visible`: where their density, smoothed, has a surface that agrees
// with the visible one, the signed distance of that surface (sigma = sqrt(2/3) cells: exact for planes in any
// direction, and it holds the particles' volume); elsewhere the visible one. rho: particle density (hat), volume: open
// parts. scratch: 2 fields.
void mo_surface_smooth(const mo_grid *g, const float *rho, const float *volume, const float *solid_distance,
                       float *visible, float *const scratch[2]);

// Which cells have no depth of 0.7 within two cells (5^3), solids not counted: films, sheets, drops, and the air far
// from liquid. deep: a byte field.
void mo_surface_thin(const mo_grid *g, const float *phi, const float *solid_distance, uint8_t *deep, uint8_t *thin);

// phi (the union of balls) becomes `level`, but thin parts and cells with particles that touch no liquid of the level
// keep the union. scratch: 1 field.
void mo_surface_choose(const mo_particles *p, const mo_grid *g, const float *level, const uint8_t *thin, float *phi,
                       float *scratch);

// Air cells among the 26 neighbours of liquid become slaved. bytes: a byte field.
void mo_surface_slave(const mo_grid *g, uint8_t *phase, uint8_t *bytes);

// Phase of each cell from phi and the open faces; pieces of liquid of less than one cell of particle volume are
// ballistic. area[3]: open part of faces.
mo_status mo_surface_phase(const mo_particles *p, const mo_grid *g, const float *phi, float *const area[3],
                           uint8_t *phase, mo_arena *arena, mo_error *err);

// The part of each cell (2 x 2 x 2 samples) and of each cell's hat that the visible liquid fills, times the open
// volume. phi_visible: redistanced closing. Returns the visible volume in cells. expected, capacity (hat integrals of
// liquid and of open space), scratch: fields.
double mo_surface_expected(const mo_grid *g, const float *phi_visible, const float *open_volume, float *expected,
                           float *capacity);

#endif
