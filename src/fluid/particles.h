// Liquid particles as a structure of arrays, sorted by cell. Positions are lattice positions (cells), velocities m/s.
#ifndef MO_PARTICLES_H
#define MO_PARTICLES_H

#include "grid/grid.h"

enum { MO_PARTICLE_FIELDS = 18, MO_PLAIN_FIELDS = 16 }; // the last two only of viscous liquids
enum { MO_REACH = 4 };                                  // cells around a particle that get a tile

typedef struct mo_particles {
    int32_t count, capacity;
    union {
        struct {
            float *x[3];      // position, cells
            float *v[3];      // velocity, m/s
            float *c[3][3];   // affine velocity d v[a] / d x[b], m/s per cell
            float *volume;    // rest volume, cells
            float *viscosity; // Pa s (of a Herschel-Bulkley liquid: its consistency)
            float *material;  // number of its liquid's rheology, a whole number >= 0
        };
        float *field[MO_PARTICLE_FIELDS]; // the same arrays, for copying
    };
    int32_t fields; // in use: MO_PLAIN_FIELDS, or all; the others are NULL. 0 = not set yet: MO_PLAIN_FIELDS
    float *spare;   // one more array, to reorder into
    int32_t *start; // [cells + 1] first particle of each cell (field index) of the grid, as of the last sort
    int64_t start_capacity;
    const uint8_t *deep; // [cells] 1: full of liquid that has no particles (fluid/band.h); NULL: there is none
    float deep_share;    // cells of volume that each of those holds
    // With sheets: the row (grid/sites.h) in which each particle lies; NULL: it is the particle's cell.
    const int32_t *row;
    int32_t *row_memory;
    int64_t row_capacity;
    float stale; // cells a particle may have moved along an axis since the sort, at most 1/2
} mo_particles;

void mo_particles_destroy(mo_particles *p); // frees the arrays, not the struct
// Returns what is wrong with places, volumes or lists of cells, as of the last sort; NULL: nothing is.
const char *mo_particles_fault(const mo_particles *p, const mo_grid *g);
mo_status mo_particles_reserve(mo_particles *p, int64_t count, mo_error *err);
mo_status mo_particles_shrink(mo_particles *p, mo_error *err); // gives back memory that the present count does not need

// Activates the tiles within MO_REACH cells of the particles and sorts the particles by cell. Cell lists stay usable
// while particles move by less than half a cell.
mo_status mo_particles_sort(mo_particles *p, mo_grid *g, mo_arena *arena, mo_error *err);
// Does the same, but the caller gives the lattice cell (i + n0 (j + n1 k)) of every particle, which restores a saved
// state.
mo_status mo_particles_sort_by(mo_particles *p, mo_grid *g, const int32_t *lattice_cell, mo_arena *arena,
                               mo_error *err);
void mo_particles_cells(const mo_particles *p, const mo_grid *g, int32_t *lattice_cell); // what the above takes

// Finds the rows of the particles at their present places, if the grid has sheets. Moving and sorting do not renew
// them.
mo_status mo_particles_find_rows(mo_particles *p, const mo_grid *g, mo_error *err);

// Removes the particles with remove[i] != 0, keeping the order of the rest.
void mo_particles_remove(mo_particles *p, const uint8_t *remove);

double mo_particles_volume(const mo_particles *p);                     // sum of rest volumes, cells
double mo_particles_max_speed(const mo_particles *p);                  // m/s
double mo_particles_volume_above(const mo_particles *p, double speed); // of those that are faster, cells

#endif
