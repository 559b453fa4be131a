// How much liquid a rigid body displaces, and where; and how much a discretisation lifts of it.
//
// On each axis the boxes round faces fill space. The part of a body below the surface, added up over them, is the
// volume that Archimedes' law needs, with its first moment. A discretisation carries the weight of a part of each box
// instead, at the centre of the face. Both are the same where a box is full, and differ where it is cut.
//
// Inside a body there is no liquid, but its boxes count as well: sums over them end at the body's surface only if the
// level set goes on through the body. There a plane continues it.
#ifndef MO_DISPLACED_H
#define MO_DISPLACED_H

#include "grid/fractions.h"

typedef struct mo_displaced { // for each axis: volumes in cells, and their moments r x e_axis about the body's centre,
                              // m
    double lift[3], volume[3];
    mo_vec3 lift_turn[3], volume_turn[3];
} mo_displaced;

typedef struct mo_displacing {
    const mo_grid *grid;
    const float *phi;      // cells: the surface that pressure sees, continued in the body
    const float *distance; // cells: to the nearest solid
    const mo_solid_set *solids;
    int32_t solid; // a rigid body
    bool tents;    // weights are those of viscous liquid (weights.h): the wet part of a face is that of its tent
    double offset; // the surface inside the body: phi = offset + slope.(x - its centre), both in cells
    mo_vec3 slope;
    double even; // 1: the surface near the body is that plane; 0: it is no plane, and nothing is known of it inside
} mo_displacing;

typedef struct mo_lifts { // of the low faces of a tile's cells
    // What counts of the body's part of each box; < 0: the box does not count, neither as lifted nor as displaced.
    double part[3][MO_TILE_CELLS];
    double wet[3][MO_TILE_CELLS]; // asked with tents: the wet part of each face
} mo_lifts;

// Finds the plane: the mean slope of the level set at open cells near the body and near the surface, within the tiles
// listed, and how well they fit. If there are none, the body is under water or above it, and so is the plane.
void mo_displacing_plane(mo_displacing *d, int32_t tiles, const int32_t *tile, const float *level,
                         float *const area[3]);
// Sets phi to the plane in the cells of these tiles that are inside the body and have no open face.
void mo_displacing_continue(const mo_displacing *d, int32_t tiles, const int32_t *tile, float *const area[3],
                            float *phi);

// Adds what the body displaces and is lifted by in the boxes of a tile with the given coordinates; it may be missing.
void mo_displaced_tile(const mo_displacing *d, const int32_t coord[3], const mo_lifts *lifts, mo_displaced *sum);

#endif
