// One solid in one tile, sampled on the lattice of half cells: the parts of half cells, cells and faces that it covers.
// Internal to grid/.
//
// Lengths are in cells from the tile's low corner. Each corner and each half cell is sampled when it is first asked
// for.
#ifndef MO_COVERING_H
#define MO_COVERING_H

#include "grid/meet.h"

#define MO_CELL_REACH 0.8661 // from a cell's centre to its corners
#define MO_PART_TINY  1e-6   // areas and volumes this near to 0 and 1 are 0 and 1

enum { MO_HALF_CORNERS = 2 * MO_TILE + 3 }; // half-cell corners -2 .. 16 of a tile, along one axis
enum { MO_ALL_CORNERS = MO_HALF_CORNERS * MO_HALF_CORNERS * MO_HALF_CORNERS };

typedef struct mo_covering {
    mo_meeting m;                  // with one solid
    double corner[MO_ALL_CORNERS]; // distance, NaN = not yet asked for
    float half[MO_ALL_CORNERS];    // covered part of the half cell above each corner, likewise
} mo_covering;

// coord: of the tile, which may be missing; it must outlive s.
void mo_covering_start(mo_covering *s, const mo_grid *g, const mo_solid_set *solids, int32_t solid,
                       const int32_t coord[3]);
double mo_covering_centre(mo_covering *s, int x, int y, int z); // the distance at a cell's centre

// The covered part of a half cell, whose coordinates are in half cells; of a cell; of the low face of a cell; and of
// the box round that face.
double mo_covering_half(mo_covering *s, int x, int y, int z);
double mo_covering_cell(mo_covering *s, int x, int y, int z);
double mo_covering_face(mo_covering *s, int axis, const int cell[3]);
double mo_covering_round(mo_covering *s, int axis, const int cell[3]);

// The integrals of 1, x, y, z over the part of a half cell that a body covers and in which `level` is negative, given
// at its corners (x + 2 y + 4 z). Without the level, sum[0] is an eighth of mo_covering_half.
void mo_covering_wet_half(mo_covering *s, const int half[3], const double level[8], double sum[4]);

#endif
