// The part of a field that a row sees: the rows round it that it reaches without passing a sheet.
//
// Stencils use the values at the cells round a cell. Where sheets are, a cell has several rows. The right one depends
// on the row in the middle: it is the one that this row reaches through open samples, where each step leads away from
// it. Cells that are not reached lie behind a sheet. Their values are extrapolated linearly from reached cells, so that
// a row sees neither air nor the liquid behind the sheet.
#ifndef MO_REACH_H
#define MO_REACH_H

#include "grid/sites.h"

enum { MO_REACH_AROUND = 2, MO_REACH_EDGE = 5, MO_REACH_CELLS = 125 }; // cells round a row, in a block of edge 5
enum { MO_REACH_MOST = 5, MO_REACH_MOST_EDGE = 11, MO_REACH_MOST_CELLS = 1331 }; // of mo_reach_find

// Finds the rows within `radius` (1..MO_REACH_MOST) cells of a row, in a block of edge 2 radius + 1, x fastest; -1:
// none is reached. In 2D the planes beside the real one repeat it.
void mo_reach_find(const mo_grid *g, int32_t row, int radius, int32_t *around);

// Lists the rows that have sheets within MO_REACH_AROUND cells, and what they reach. The grid's sites own the lists.
mo_status mo_reach_create(mo_grid *g, mo_error *err);

typedef struct mo_reach {
    int32_t count, *row; // [count] by tile; in a tile cells come first, then sides beyond the first
    int32_t *first;      // [tiles + 1] those of a tile
    int32_t *of;         // [rows of the grid] number in the list, -1: no sheet is near
    int32_t (*around)[MO_REACH_CELLS];
    uint8_t
        *distance; // [cells] to the next cell that a sheet meets, the largest of the axes; MO_REACH_MOST + 1: further
} mo_reach;
void mo_reach_destroy(mo_reach *r);

// The lists; NULL: there are no sheets, or the lists were not made.
static inline const mo_reach *mo_reach_of(const mo_grid *g) { return g->sites ? g->sites->reach : NULL; }
// Whether some rows of a tile have sheets near.
static inline bool mo_reach_has(const mo_grid *g, int32_t tile)
{
    const mo_reach *r = mo_reach_of(g);
    return r && r->first[tile] < r->first[tile + 1];
}
// The rows that a row reaches within two cells; NULL: no sheet is near, and the lattice has them.
static inline const int32_t *mo_reach_around(const mo_grid *g, int32_t row)
{
    const mo_reach *r = mo_reach_of(g);
    return r && r->of[row] >= 0 ? r->around[r->of[row]] : NULL;
}

// Whether a sheet meets a cell within `radius` cells of a cell.
static inline bool mo_reach_near(const mo_grid *g, int32_t cell, int radius)
{
    const mo_reach *r = mo_reach_of(g);
    return r && r->distance[cell] <= radius;
}

// Whether no sheet meets the cell of a row or one of its faces: then the lattice has its neighbours.
static inline bool mo_reach_is_whole(const mo_grid *g, int32_t row)
{
    return row < mo_grid_cells(g) && g->sites && g->sites->reach && g->sites->reach->distance[row] > 0;
}

// Reads a field at the cells of a block. Values of cells that are not reached are extrapolated linearly, with slopes of
// at most `steepest`.
void mo_reach_values(const float *field, const int32_t *around, int radius, float steepest, float *block);
// The same for the low faces of the cells across an axis, at their centres. A sample that a sheet bounds lies off the
// centre, and its value is continued to the centre from the two samples behind it. Both this and the continuation
// behind the sheet have the limited slopes of mo_extrapolate: linear fields are exact, and where slopes differ,
// particles do not get faster than the samples. Faces of which a sheet leaves less than a tenth are not used where
// there are others. Below the largest radius, the outermost faces of a block only serve to continue the others: those
// that are not reached are 0.
void mo_reach_faces(const mo_grid *g, const float *face, int axis, const int32_t *around, int radius, float *block);

// The samples of the face between two rows, one of which may be -1: those that join them, or else those that touch one.
// Returns how many there are, at most MO_REACH_SAMPLES.
enum { MO_REACH_SAMPLES = 16 };
int mo_reach_samples(const mo_grid *g, int axis, int32_t low, int32_t high, int32_t *sample);

#endif
