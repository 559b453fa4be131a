// Forces of an inviscid liquid on solids whose motion is prescribed.
//
//     F = -R^T x        R: the entries that the velocity of a solid would have in the rows, as for bodies (couple_row
//     in pressure.c)
//
// The parts that solids take of a face and its open part add up to 1, so the liquid, the bodies and these solids
// together keep their momentum, wherever they share cells.
#include "system/pressure.h"
#include "system/solid_rows.h"

typedef struct receiver {
    const mo_pressure_def *d;
    const mo_cover_index *index;
    const mo_vec3 *about;
    mo_vec3 *force, *torque;
} receiver;

// Adds the force of one row on the parts that prescribed solids take of one of its faces; sign: of the face in the row,
// times the part of the face that the row has.
static void press_face(const receiver *to, int32_t face, int axis, double sign, double pressure)
{
    const mo_pressure_def *d = to->d;
    const int32_t tile = face / MO_TILE_CELLS;
    const mo_vec3 e = {axis == 0, axis == 1, axis == 2};
    for (int32_t k = to->index->first[tile]; k < to->index->first[tile + 1]; k++) {
        double part = d->cover[k].part[axis][face % MO_TILE_CELLS];
        int32_t solid = d->cover[k].solid;
        if (part <= 0 || mo_solid_moves(d->solids, solid)) continue;
        mo_vec3 force = mo_mul(-sign * part * pressure * d->dx * d->dx, e);
        mo_vec3 arm = mo_sub(mo_grid_face(d->grid, face, axis), to->about[solid]);
        to->force[solid] = mo_add(to->force[solid], force);
        to->torque[solid] = mo_add(to->torque[solid], mo_cross(arm, force));
    }
}

mo_status mo_pressure_forces(const mo_pressure_def *d, const mo_liquid_system *l, const mo_vec3 *about, mo_vec3 *force,
                             mo_vec3 *torque, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(about && force && torque);
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    mo_cover_index index;
    if (d->covers == 0) return MO_OK;
    size_t mark = mo_arena_mark(arena);
    MO_TRY(mo_cover_index_create(d->grid, d->solids, d->cover, d->covers, arena, &index, err));
    receiver to = {d, &index, about, force, torque};
    for (int32_t r = 0; r < b->rows; r++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        for (int k = 0, count = mo_row_samples(d->grid, l->cell_at[r], six, &list); k < count; k++)
            press_face(&to, mo_sample_cell(d->grid, list[k].axis, list[k].sample), list[k].axis,
                       (list[k].side ? -1 : 1) * mo_sample_area(d->grid, list[k].axis, list[k].sample), b->x[r]);
    }
    mo_arena_release(arena, mark);
    return MO_OK;
}

void mo_pressure_sheet_forces(const mo_pressure_def *d, const mo_liquid_system *l, double (*force)[3])
{
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    double face = d->dx * d->dx; // m^2
    for (int32_t r = 0; r < b->rows; r++) {
        const mo_site_wall *wall;
        for (int k = 0, count = mo_site_walls(d->grid, l->cell_at[r], &wall); k < count; k++)
            for (int v = 0; v < 3; v++)
                for (int a = 0; a < 3; a++)
                    force[wall[k].vertex[v]][a] += face * b->x[r] * wall[k].weight[v] * wall[k].vector[a];
    }
}
