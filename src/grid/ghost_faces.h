// Which faces sheets occlude, and the sheet beside each of them. Internal to grid/ghosts.
#ifndef MO_GHOST_FACES_H
#define MO_GHOST_FACES_H

#include "geometry/sheet_tree.h"
#include "grid/ghosts.h"

typedef struct mo_ghost_faces {
    const mo_grid *g;
    mo_sheet sheet; // in lattice coordinates, shifted a little, so that no centre lies on it
    mo_sheet_tree *tree;
    uint8_t *closed;      // [3 cells] low faces that the sheet occludes
    int32_t count, *face; // occluded faces: 3 cell + axis, ascending
    int64_t entries;
    int32_t *cell, *triangle; // [entries] cells that triangles may meet, sorted by cell, then by triangle
} mo_ghost_faces;

mo_status mo_ghost_faces_create(const mo_grid *g, const mo_sheet *sheet, mo_ghost_faces *out, mo_error *err);
void mo_ghost_faces_destroy(mo_ghost_faces *f);
// The cell beside one along an axis, side -1 or +1; -1: none, one beyond the domain, or the sheet lies between the two.
int32_t mo_ghost_open_step(const mo_ghost_faces *f, int32_t cell, int axis, int side);
bool mo_ghost_in_domain(const mo_grid *g, int32_t cell);

enum { MO_GHOST_PIECES = 512 };
typedef struct mo_ghost_patch { // the sheet in the box of one cell's size round a face
    double normal[3];           // mean by area, each part turned towards a place; unit. Without a mean: along the axis
    int32_t count;
    struct {
        int32_t triangle;
        double part, weight[3]; // of the area; barycentric, of its centre
    } piece[MO_GHOST_PIECES];
} mo_ghost_patch;
// The side's cells tell which face, and the normal points towards its real cell.
void mo_ghost_find_patch(const mo_ghost_faces *f, const mo_ghost_side *side, mo_ghost_patch *out);

#endif
