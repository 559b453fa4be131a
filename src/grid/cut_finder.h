// Finds the row in which a point lies, where sheets cut cells. Internal to grid/sites and grid/cut.
#ifndef MO_CUT_FINDER_H
#define MO_CUT_FINDER_H

#include "grid/cut_cell.h"

typedef struct mo_cut_finder {
    mo_cut_mesh mesh;
    int32_t cells;
    int32_t *cell;        // [cells] field indices, ascending
    int32_t *second;      // [cells] row of the side behind the first; others follow it
    int16_t (*corner)[8]; // [cells] sides
    int16_t *largest;     // [cells] the side of the largest volume; -1: none
    int64_t *first;       // [cells + 1]
    mo_cut_facing *facing;
} mo_cut_finder;

void mo_cut_mesh_destroy(mo_cut_mesh *m);
void mo_cut_finder_destroy(mo_cut_finder *f);

#endif
