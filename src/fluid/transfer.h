// APIC transfers between particles and faces, and advection.
#ifndef MO_TRANSFER_H
#define MO_TRANSFER_H

#include "fluid/particles.h"

typedef struct mo_faces { // velocity on the grid's faces, owned by the caller
    float *u[3];          // m/s
    uint8_t *valid[3];    // 0 unknown, 1 known, 2 fixed by a wall
} mo_faces;

// u = sum w V (v + C (x_face - x)) / sum w V with trilinear w; mass = sum w V, in cells. valid becomes 1 where some
// particle reaches. Particles are scattered tile by tile into a private block; blocks are added in eight colours of
// tiles.
void mo_transfer_to_faces(const mo_particles *p, const mo_grid *g, mo_faces *faces, float *const mass[3]);

// density[c] = sum V hat(x - x_c), trilinear, at cell centres; deep cells count as full.
void mo_transfer_density(const mo_particles *p, const mo_grid *g, float *density);

// The density that deep cells, which are full, give to the cells of a tile (axis 3) or to its faces of an axis:
// integrals of hats. deep: of the tile and one cell around. part: [MO_TILE_CELLS].
void mo_deep_hats(const uint8_t deep[1000], int axis, bool two_dimensional, float *part);

// mean[c] = sum V hat value / sum V hat, at cell centres, of a value that every particle has ([count], in their order);
// 0 where no particle reaches. scratch: one field.
void mo_transfer_mean(const mo_particles *p, const mo_grid *g, const float *value, float *mean, float *scratch);

typedef struct mo_advect {
    double dt;            // s
    mo_vec3 gravity;      // m/s^2, for ballistic particles
    const uint8_t *phase; // field: MO_PHASE_* of fluid/surface.h
    int64_t ballistic;    // out: particles that flew freely
    // Outliers are particles that would cross more than `reach` cells, or end a cell off their velocity's line: they do
    // not fit the blocks of tiles, or could pass walls. They move in parts of about a cell. After each part `collide`
    // is called: particle q came from `from` (cells) within `part` seconds, and `ahead` seconds of the step are left.
    // NULL: they move as the others.
    void (*collide)(void *user, int32_t q, const float from[3], double part, double ahead);
    void *user;
    float reach;
    uint8_t *outlier; // [particles] out: those
    int64_t outliers; // out: how many
} mo_advect;

// Particles take v and C from the faces, then move by the third-order Runge-Kutta method of Ralston.
void mo_transfer_advect(mo_particles *p, const mo_grid *g, const mo_faces *faces, mo_advect *advect);

// Moves particles by the trilinear interpolation of the faces, which hold a displacement in cells, but by at most
// `limit` cells. Returns how many reached the limit.
int64_t mo_transfer_displace(mo_particles *p, const mo_grid *g, const mo_faces *faces, float limit);

// Sums volume times displacement over the particles, in cells, as mo_transfer_displace would move them. Nothing is
// moved.
mo_vec3 mo_transfer_displacement(const mo_particles *p, const mo_grid *g, const mo_faces *faces, float limit);

#endif
