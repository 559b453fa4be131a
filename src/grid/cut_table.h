// The table of sites made of cut cells. Internal to grid/cut.
#ifndef MO_CUT_TABLE_H
#define MO_CUT_TABLE_H

#include "grid/cut.h"
#include "grid/cut_cell.h"

// Makes the grid's sites of `count` cells (field indices ascending). On success sites, if there are any, own the mesh.
mo_status mo_cut_table(mo_grid *g, const mo_cut_mesh *mesh, int32_t count, const int32_t *index,
                       const mo_cut_cell *cell, mo_cut_info *info, mo_error *err);

#endif
