// The lift of bodies at walls. A body is lifted by its parts of the boxes round faces (docs/step.md, fractions). The
// half of a cell beside a closed wall is in no such box, because nothing passes the wall. If a body is there, pressure
// acts on it at the centre of the cell instead of at the wall, and the body's volume in that half is missing from the
// volume that it displaces. The weight of that much liquid is added as a force.
#include "sim/slits.h"
#include <math.h>
#include <string.h>

// A body's part of the half of a cell at the wall, in cells, and of the half beyond: bodies overlap what they stand on
// by the margin of contacts.
static double part_at_wall(const mo_sim *sim, const mo_solid *s, const int32_t c[3], int axis, bool high)
{
    bool flat = sim->cells[2] == 1;
    double sum = 0;
    int quarters = flat ? 2 : 4, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    for (int q = 0; q < 2 * quarters; q++) {
        double low[3] = {c[0], c[1], c[2]}, corner[8], centre;
        low[axis] += (high ? 0.5 : -0.5) + 0.5 * (q / quarters);
        low[u] += 0.5 * (q & 1), low[v] += flat ? 0 : 0.5 * (q >> 1 & 1);
        for (int i = 0; i <= 8; i++) {
            double x[3] = {low[0] + 0.25, low[1] + 0.25, low[2] + 0.25};
            for (int a = 0; a < 3 && i < 8; a++) x[a] = low[a] + 0.5 * (i >> a & 1);
            if (flat) x[2] = c[2] + 0.5;
            double d = mo_solid_distance_at(s, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx;
            *(i < 8 ? &corner[i] : &centre) = d;
        }
        sum += mo_fraction_box(corner, centre) / quarters;
    }
    return 0.5 * sum;
}

typedef struct lifting {
    mo_sim *sim;
    const float *wet; // [cells] 1: the cell has a pressure; slits: as much of it as is wet
    double dt, *push;
} lifting;

static void lift_at_wall(const lifting *l, int32_t solid, int axis, bool high)
{
    const mo_sim *sim = l->sim;
    const mo_grid *g = sim->grid;
    const mo_solid *s = &sim->solids[solid];
    int32_t lo[3], hi[3];
    mo_vec3 middle = mo_pose_apply(s->pose, s->centre), r = mo_v3(s->radius, s->radius, s->radius);
    mo_sim_cell_range(sim, (mo_box3){mo_sub(middle, r), mo_add(middle, r)}, lo, hi);
    int32_t layer = high ? g->n[axis] - MO_MARGIN - 1 : MO_MARGIN;
    if (lo[axis] > layer || hi[axis] < layer) return;
    lo[axis] = hi[axis] = layer;
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                int32_t at = mo_grid_index(g, i, j, k);
                if (at < 0 || l->wet[at] == 0) continue;
                double part = part_at_wall(sim, s, (int32_t[3]){i, j, k}, axis, high);
                if (part == 0) continue;
                double gravity = mo_get(sim->def.gravity, axis), force = -l->dt * sim->density * gravity * part;
                mo_vec3 e = {axis == 0, axis == 1, axis == 2};
                mo_vec3 x = mo_grid_world(g, i + 0.5, j + 0.5, k + 0.5),
                        turn = mo_cross(mo_sub(x, sim->centre[solid]), e);
                double *push = l->push + (int64_t)MO_BODY_UNKNOWNS * sim->body_of[solid];
                push[axis] += force * l->wet[at];
                for (int a = 0; a < 3; a++) push[3 + a] += force * l->wet[at] * mo_get(turn, a);
            }
}

static mo_status find_wet(mo_sim *sim, const mo_liquid_system *l, float *wet, mo_error *err)
{
    int32_t n = sim->slits.count;
    memset(wet, 0, sizeof(float) * (size_t)mo_grid_cells(sim->grid));
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) wet[l->cell_at[r]] = 1;
    if (n == 0) return MO_OK;
    double *of = MO_ARENA_ARRAY(sim->arena, double, n);
    uint8_t *liquid = MO_ARENA_ARRAY(sim->arena, uint8_t, mo_grid_cells(sim->grid) + 1);
    if (!of || !liquid) return mo_fail_memory(err);
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) liquid[i] = wet[i] > 0;
    MO_TRY(mo_sim_wet_slits(sim, liquid, of, err));
    for (int32_t k = 0; k < n; k++) wet[sim->slits.slit[k].cell] = (float)of[k];
    return MO_OK;
}

mo_status mo_sim_lift_at_walls(mo_sim *sim, double dt, mo_liquid_system *l, mo_error *err)
{
    float *wet;
    if (!sim->bodies || l->system.block[MO_BLOCK_PRESSURE]->rows == 0) return MO_OK;
    if (!l->push) MO_TRY(mo_liquid_push(l, MO_BODY_UNKNOWNS * sim->bodies, err));
    MO_TRY(mo_sim_floats(sim, sim->arena, 1, &wet, err));
    MO_TRY(find_wet(sim, l, wet, err));
    lifting lift = {sim, wet, dt, l->push};
    for (int32_t s = 0; s < sim->def.solid_count; s++)
        for (int w = 0; w < (sim->cells[2] == 1 ? 4 : 6) && sim->solids[s].rigid; w++)
            if (sim->def.domain.walls[w] != MO_WALL_OPEN && mo_get(sim->def.gravity, w / 2) != 0)
                lift_at_wall(&lift, s, w / 2, w & 1);
    return MO_OK;
}
