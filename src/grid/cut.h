// Sheets cut cells: the sides of cells, the pieces of faces, the walls and gaps between them, made from triangles.
//
// Sheets divide a cell into sides and a face into pieces; each side is a row of grid/sites.h and each piece a sample.
// Where a sheet ends inside a cell, strips continue it to the cell's faces, and gaps join the two sides across them.
// Which triangle meets which edge of the lattice is decided exactly (geometry/predicates.h), so that cells agree on
// their common faces. Sides are joined only where they are proven to be open: sheets that pass through each other, or
// lie upon each other, close the space between them.
#ifndef MO_CUT_H
#define MO_CUT_H

#include "geometry/sheet.h"
#include "grid/sites.h"

typedef struct mo_cut_info {
    int32_t cells;   // that triangles meet
    int32_t sides;   // rows beyond the cells
    int32_t gaps;    // between sides, at borders
    int32_t pockets; // sides without an opening; they have no row
    int32_t tangled; // triangles that meet others where they should not, counted in every cell
    int32_t closed;  // cells with too many triangles, or where rounding errors contradict each other
} mo_cut_info;

// Gives the grid the sites of a sheet (several as one, with or without welding), whose vertices are in m. Earlier sites
// are destroyed. The result does not depend on the number of threads.
mo_status mo_cut(mo_grid *g, const mo_sheet *sheet, mo_cut_info *info, mo_error *err);

// Counts the cells in which sheets pass through each other, or touch without being welded. *first: the first of them.
int32_t mo_cut_crossings(const mo_grid *g, int32_t *first);

// Takes from gaps the parts that lie in solids, so that a sheet that ends on a solid is tight there. distance: of the
// nearest solid at a point (lattice coordinates), in cells, negative inside; it is taken as linear between the corners
// of a gap. Gaps between two rows are closed if less than 1e-3 of a face is left of them. May be called again after
// solids moved. Returns the number of gaps that solids meet.
int32_t mo_cut_cover_gaps(mo_grid *g, double (*distance)(const void *user, const double x[3]), const void *user);

// Returns the row in which a point (lattice coordinates) lies; -1 where no tile is active.
int32_t mo_site_find(const mo_grid *g, const double x[3]);
// A place inside a row (lattice coordinates). Of ghosts it is the centre of a real cell (grid/ghosts.h). Else: the mean
// of where its samples lie if it is there, else the middle of the largest sample that lies at the row. A side that
// bends round an edge of a sheet has a mean that is not in it. x keeps its value if the row has no samples.
void mo_site_place(const mo_grid *g, int32_t row, double x[3]);

#endif
