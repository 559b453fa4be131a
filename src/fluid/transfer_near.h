// Transfers of particles near sheets, one by one: particles see what their rows reach (grid/reach.h). Internal to
// fluid/.
#ifndef MO_TRANSFER_NEAR_H
#define MO_TRANSFER_NEAR_H

#include "fluid/particles.h"
#include "grid/reach.h"

// Whether particles of a tile's list may be near sheets, even after they have moved by a cell.
bool mo_near_sheets(const mo_particles *p, const mo_grid *g, int32_t tile);

// Whether the row of a particle has a sheet within `radius` cells.
static inline bool mo_near_sheet(const mo_particles *p, const mo_grid *g, int32_t q, int radius)
{
    return p->row[q] >= 0 && mo_reach_near(g, mo_site_cell(g, p->row[q]), radius);
}

// Whether a particle of a cell's list is in a row of that cell.
static inline bool mo_near_is_in(const mo_particles *p, const mo_grid *g, int32_t q, int32_t row, int32_t cell)
{
    return !p->row || p->row[q] == row || !mo_reach_near(g, cell, 0);
}
static inline bool mo_row_has_particles(const mo_particles *p, const mo_grid *g, int32_t row)
{
    int32_t cell = mo_site_cell(g, row);
    for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++)
        if (mo_near_is_in(p, g, q, row, cell)) return true;
    return false;
}

// Adds the momentum and weight of a particle to the samples of an axis that it reaches. If it reaches any, they get all
// of it; samples behind a sheet get nothing.
void mo_near_to_faces(const mo_particles *p, const mo_grid *g, int32_t q, int axis, float *momentum, float *weight);
// Adds amount times its hat to the rows that it reaches.
void mo_near_to_rows(const mo_particles *p, const mo_grid *g, int32_t q, float amount, float *sum);

#endif
