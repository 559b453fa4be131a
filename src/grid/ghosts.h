// Sites by the method of "Accurate Tangential Velocities for Solid Fluid Coupling" (Robinson-Mosher, English and Fedkiw
// 2009), in place of cut cells (grid/cut.h): the solver's key shells = "paper".
//
// Cells stay whole. A face is occluded if a sheet lies between the centres of its two cells. It then has a velocity of
// its own for each side, (face, cell), which only the row of this side contains, N.W u = N.J V
// (system/pressure_slip.h). Behind each side a ghost cell carries the flow along the sheet on:
//
//     own      sample of one side; it joins no rows: its `low` or `high` is the real cell, the other one is -1
//     beside   joins a real cell and its ghost
//     between  joins two ghosts, or a ghost and the cell beyond a wall of the domain
//
// Ghosts are rows without volume in the cells behind the faces. Sides whose real cells are at most two open steps apart
// share the ghost at their place; ghosts at neighbouring places are joined if real cells of theirs are the same or one
// open step apart. So nothing leads from one side of a sheet to the other.
#ifndef MO_GHOSTS_H
#define MO_GHOSTS_H

#include "grid/cut.h"

typedef struct mo_ghost_side { // of an occluded face
    int32_t cell, other;       // the real cell, and the one behind the face (field indices)
    int8_t axis, side;         // of the face, seen from the real cell: side 0: on its low side, 1: on its high side
    int32_t own, beside;       // samples
    int32_t ghost;             // row
    double normal[3];          // of the sheet, towards the real cell; unit
} mo_ghost_side;

typedef struct mo_ghost_link { // a sample between two ghosts
    int32_t sample, axis;
    int32_t cell[2]; // real cells of its low and high ghost, for which they were joined; beyond walls both the same
} mo_ghost_link;

typedef struct mo_ghosts {
    int32_t sides, links, rows;
    mo_ghost_side *side; // by face: cell on its high side, axis; then the low side first
    int32_t *first_wall; // [sides + 1]
    mo_site_wall *wall;  // J of each side: N.J V = sum vector . (weight V); `row` is the real cell
    mo_ghost_link *link;
    int32_t (*own)[6];             // [512 cut tiles] a cell's own samples, low x first; -1: the face is open
    int32_t *first_side, *side_of; // [rows + 1] the sides of each ghost
} mo_ghosts;

// Gives the grid the sites of a sheet, whose vertices are in m. Earlier sites are destroyed. Faces at walls of the
// domain are never occluded. The result does not depend on the number of threads. info: cells = those beside occluded
// faces, sides = ghosts.
mo_status mo_ghosts_cut(mo_grid *g, const mo_sheet *sheet, mo_cut_info *info, mo_error *err);
void mo_ghosts_destroy(mo_ghosts *s);

static inline const mo_ghosts *mo_ghosts_of(const mo_grid *g) { return g->sites ? g->sites->ghosts : NULL; }
static inline bool mo_is_ghost(const mo_grid *g, int32_t row) { return mo_ghosts_of(g) && row >= mo_grid_cells(g); }
// The real cell of an own sample; -1: it is none.
int32_t mo_ghost_owner(const mo_grid *g, int axis, int32_t sample);
// The sample on one side (0, 1) of a real cell: its own one, or that of the open face; -1: there is no face.
int32_t mo_ghost_face(const mo_grid *g, int32_t cell, int axis, int side);
// The samples that tell a row's velocities: its own ones and open faces. For other grids those of mo_row_samples.
int mo_row_faces(const mo_grid *g, int32_t row, mo_row_sample six[6], const mo_row_sample **list);

typedef struct mo_ghost_term { // of N.W u
    int32_t sample, axis;
    double weight;
} mo_ghost_term;
enum { MO_GHOST_TERMS = 5 };
// The velocity at a side is W u: its own sample, and the means of the cell's two samples along the other axes. Lists
// the terms of `along` . W u; returns how many there are.
int mo_ghost_terms(const mo_grid *g, const mo_ghost_side *side, const double along[3],
                   mo_ghost_term term[MO_GHOST_TERMS]);

#endif
