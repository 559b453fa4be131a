// Liquid without particles: cells deep below the surface, whose velocity the grid carries (docs/band.md).
//
// A deep cell stands for a cell full of particles at even places. Where the liquid of deep cells flows into cells that
// are not deep it becomes particles again; particles that get into deep cells are taken out. One account holds the
// volume of deep liquid and its first moment, so that these exchanges neither make nor lose volume, nor lift liquid.
#ifndef MO_BAND_H
#define MO_BAND_H

#include "fluid/levelset.h"

enum { MO_BAND_LEAST = 2, MO_BAND_MOST = 4 }; // cells of depth; the level set has no distances beyond

typedef struct mo_band { // fields over the tiles of the level set
    int32_t depth;       // cells below the surface that keep their particles; 0: all liquid has particles
    uint8_t *deep;       // 1: the cell is full of liquid without particles
    float *u[3];         // m/s, on the faces round deep cells: the velocity that the liquid there brought along
    uint8_t *next;       // one more field, to write into
    int64_t capacity;    // cells of a field
    int64_t cells;       // how many are deep
    double volume;       // cells: their volume, by the account
    double moment[3];    // cells * cell: volume times lattice position of its centre, by the account
} mo_band;

void mo_band_destroy(mo_band *b);                                                // frees the arrays, not the struct
mo_status mo_band_reserve(mo_band *b, int64_t cells, mo_error *err);             // for so many cells; contents are lost
void mo_band_want(const mo_band *b, mo_grid *g);                                 // activates the tiles round deep cells
void mo_band_want_tile(const uint8_t *deep, const int32_t coord[3], mo_grid *g); // the same for one tile's cells
int64_t mo_band_count(const mo_grid *g, const uint8_t *deep);                    // of deep cells
void mo_band_velocity(const mo_band *b, const mo_grid *g, int32_t cell, float v[3]); // of a deep cell, m/s
double mo_band_max_speed(const mo_band *b, const mo_grid *g);                        // m/s, of deep cells

// Makes the fields fit the grid's present tiles. The level set must not have been settled yet.
mo_status mo_band_settle(mo_band *b, const mo_levelset *l, const mo_grid *g, mo_arena *arena, mo_error *err);

typedef struct mo_band_flow { // the flow that moves deep liquid, and where deep cells may be
    const mo_faces *faces;
    float step;         // s per cell length
    const float *phi;   // before it moves
    const uint8_t *may; // cells that may be deep after it: away from solids, emitters and open walls
    int32_t per_axis;   // particles of a full cell: their places are the middles of its parts
} mo_band_flow;

typedef struct mo_band_gap { // a cell that may lack particles
    int32_t cell, count;     // how many
    uint64_t free;           // bit s: a particle may be put at place s
} mo_band_gap;
typedef struct mo_band_gaps {
    mo_band_gap *gap; // in the order of cells
    int64_t capacity, count;
} mo_band_gaps;

// Moves deep liquid. A cell becomes deep where all its liquid comes from more than depth + 1 cells below the surface;
// it stays deep where all of it comes from deep cells and from below the depth. The code finds this by tracing back the
// places of the cell's particles (Ralston's method). Faces round deep cells get the velocity of the place that their
// liquid comes from. Cells that are not deep, but get liquid from deep ones, are added to `exposed`, which the caller
// frees; in them, the places that get this liquid are free. The account's moment moves with the liquid of the cells
// that were deep.
mo_status mo_band_carry(mo_band *b, const mo_grid *g, const mo_band_flow *flow, mo_band_gaps *exposed, mo_arena *arena,
                        mo_error *err);

// Finds the moment that the account would have if deep cells were evenly full. The volume for which they have no room
// lies in the cells beside them, where it is missing.
void mo_band_even_moment(const mo_band *b, const mo_grid *g, double moment[3]);

// New particles for the first `count` free places of every gap, with the velocity of the place that the liquid there
// comes from.
typedef struct mo_seed {
    float x[3], v[3], c[3][3];
} mo_seed;
void mo_band_fill(const mo_grid *g, const mo_band_flow *flow, const mo_band_gap *gap, int64_t gaps, mo_seed *out);

// Adds deep liquid to the velocities and masses that particles gave to the faces: u = (m u + d b->u)/(m + d), with d
// the hat integral of deep cells; mass becomes m + d.
void mo_band_mix(const mo_band *b, const mo_grid *g, const mo_faces *faces, float *const mass[3]);

#endif
