// Stage `apply`: the new velocities on every face that particles may visit.
#include "grid/extrapolate.h"
#include "grid/sites.h"
#include "sim/sim.h"
#include <string.h>

// ---- Faces at walls and in solids ----

void mo_sim_fix_walls(const mo_sim *sim, const mo_faces *faces)
{
    const mo_grid *g = sim->grid;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++)
        for (int a = 0; a < 3; a++) {
            bool closed[2] = {sim->def.domain.walls[2 * a] != MO_WALL_OPEN,
                              sim->def.domain.walls[2 * a + 1] != MO_WALL_OPEN};
            int32_t low = MO_MARGIN - 8 * g->coord[t][a], high = g->n[a] - MO_MARGIN - 8 * g->coord[t][a];
            if ((!closed[0] || low < 0) && (!closed[1] || high > 7)) continue;
            for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
                int32_t at = l >> (3 * a) & 7, i = t * MO_TILE_CELLS + l;
                if ((closed[0] && at <= low) || (closed[1] && at >= high))
                    faces->u[a][i] = mo_sim_wall_velocity(sim, 2 * a + (at > low)), faces->valid[a][i] = 2;
            }
        }
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_samples(g); i++) { // pieces are as their faces
        int32_t a = mo_sites_sample(g, 0, i).axis, c[3];
        mo_grid_cell(g, mo_sites_sample(g, a, i).cell, c);
        bool low = sim->def.domain.walls[2 * a] != MO_WALL_OPEN && c[a] <= MO_MARGIN,
             high = sim->def.domain.walls[2 * a + 1] != MO_WALL_OPEN && c[a] >= g->n[a] - MO_MARGIN;
        if (low || high) faces->u[a][i] = 0, faces->valid[a][i] = 2;
    }
}

// Mean over the four faces of another axis around a face, and the gradient of the distance there, by block lookups.
typedef struct face_block {
    float u[3][1000], distance[1000];
} face_block;

static float constrained(const mo_sim *sim, const face_block *b, int axis, const int32_t c[3], int at)
{
    static const int stride[3] = {1, 10, 100};
    float velocity[3], normal[3], length = 0;
    int s = stride[axis];
    for (int a = 0; a < 3; a++) {
        int r = stride[a];
        if (a == axis) {
            velocity[a] = b->u[a][at];
            normal[a] = b->distance[at] - b->distance[at - s];
        } else {
            const float *u = b->u[a];
            velocity[a] = 0.25f * (u[at] + u[at + r] + u[at - s] + u[at + r - s]);
            normal[a] =
                0.25f * (b->distance[at + r] - b->distance[at - r] + b->distance[at + r - s] - b->distance[at - r - s]);
        }
        length += normal[a] * normal[a];
    }
    if (length < 1e-12f) return velocity[axis];
    double half[3] = {0.5, 0.5, 0.5};
    half[axis] = 0;
    mo_vec3 v =
        sim->moving
            ? mo_sim_nearest_velocity(sim, mo_grid_world(sim->grid, c[0] + half[0], c[1] + half[1], c[2] + half[2]))
            : mo_v3(0, 0, 0);
    float inward = 0;
    for (int a = 0; a < 3; a++) inward += (velocity[a] - (float)mo_get(v, a)) * normal[a];
    return velocity[axis] - normal[axis] * inward / length;
}

void mo_sim_constrain(const mo_sim *sim, const mo_faces *faces)
{
    if (sim->solid_count == 0) return;
    const mo_grid *g = sim->grid;
    const mo_openings *o = &sim->openings;
    float *const *old = sim->scratch.field;
    for (int a = 0; a < 3; a++) memcpy(old[a], faces->u[a], sizeof(float) * (size_t)mo_grid_cells(g));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        const float *d = o->distance + (int64_t)t * MO_TILE_CELLS;
        bool near = false;
        for (int32_t l = 0; l < MO_TILE_CELLS && !near; l++) near = d[l] < 0.5f;
        if (!near) continue;
        face_block b;
        mo_grid_block(g, o->distance, t, 1, 0, b.distance);
        for (int a = 0; a < 3; a++) mo_grid_block(g, old[a], t, 1, 0, b.u[a]);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++)
            for (int a = 0; a < 3; a++) {
                int32_t i = t * MO_TILE_CELLS + l, c[3];
                if (o->area[a][i] > 0 || faces->valid[a][i] != 1) continue;
                mo_grid_cell(g, i, c);
                faces->u[a][i] =
                    constrained(sim, &b, a, c, (l & 7) + 1 + 10 * ((l >> 3 & 7) + 1 + 10 * ((l >> 6) + 1)));
            }
    }
}
// ---- The stage ----

// Faces start from the velocities before the solve.
static mo_status make_room(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_faces *faces = &c->apply.faces;
    size_t cells = (size_t)mo_grid_fields(sim->grid);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, faces->u, err));
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 3, faces->valid, err));
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 1, &c->apply.phase, err));
    for (int a = 0; a < 3; a++) {
        memcpy(faces->u[a], c->transfer.u[a], sizeof(float) * cells);
        memset(faces->valid[a], 0, cells);
    }
    memcpy(c->apply.phase, c->transfer.phase, cells);
    return MO_OK;
}

mo_status mo_stage_apply(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_scratch *scratch = &sim->scratch;
    mo_balance balance;
    MO_TRY(make_room(sim, c, err));
    MO_TRY(mo_sim_balance(sim, c, &balance, err));
    mo_faces *faces = &c->apply.faces;
    mo_liquid_scatter(&c->assemble.liquid, faces->u, faces->valid);
    mo_liquid_destroy(&c->assemble.liquid);
    sim->account.work += mo_sim_emitter_lift(sim, c->transfer.phase, &balance, c->dt);
    MO_TRY(mo_balance_share(&balance, sim->arena, err));
    mo_sim_fix_walls(sim, faces);
    mo_sim_emitter_velocities(sim, sim->time, faces, c->apply.phase);
    for (int a = 0; a < 3; a++) {
        mo_faces_before before = {c->transfer.u[a], c->transfer.mass[a]};
        mo_extrapolate_change(sim->grid, a, faces->u[a], faces->valid[a], MO_REACH + 1, 2, &before, scratch->field[0],
                              scratch->bytes);
    }
    mo_sim_constrain(sim, faces);
    MO_TRY(mo_balance_limit(&balance, scratch->field, sim->arena, err));
    mo_sim_energy_carried(sim, c);
    sim->stats.shared = balance.shared, sim->stats.limited = balance.limited;
    return MO_OK;
}
