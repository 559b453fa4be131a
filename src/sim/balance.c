// Energy between particles and system (fluid/balance.h): the data that the step keeps from before its solve.
#include "grid/sites.h"
#include "sim/sim.h"
#include <string.h>

// Ms, the masses of the system's faces in cells of liquid.
static void system_masses(const mo_sim *sim, const mo_liquid_system *l, float *const mass[3])
{
    for (int a = 0; a < 3; a++) memset(mass[a], 0, sizeof(float) * (size_t)mo_grid_fields(sim->grid));
#pragma omp parallel for schedule(static)
    for (int32_t f = 0; f < l->system.faces.count - l->gaps; f++)
        mass[mo_face_axis(l->face_at[f])][mo_face_sample(l->face_at[f])] =
            (float)(l->system.faces.mass[f] / sim->density);
}

// Adds the pieces of faces that shells divide to their faces.
static void join_pieces(const mo_grid *g, float *const mass[3])
{
    for (int32_t i = (int32_t)mo_grid_cells(g); i < mo_grid_samples(g); i++) {
        int32_t axis = mo_sites_sample(g, 0, i).axis;
        mass[axis][mo_sites_sample(g, axis, i).cell] += mass[axis][i];
    }
}

// The cell of a face of the system, or of a gap, which come last.
static int32_t cell_of(const mo_grid *g, const mo_liquid_system *l, int32_t face)
{
    int32_t gap = face - (l->system.faces.count - l->gaps);
    if (gap >= 0) return g->sites->gap[l->gap_at[gap]].cell;
    return mo_sample_cell(g, mo_face_axis(l->face_at[face]), mo_face_sample(l->face_at[face]));
}

mo_status mo_sim_fit_masses(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_grid *g = sim->grid;
    mo_liquid_system *l = &c->assemble.liquid;
    float *const *own = sim->scratch.field, *part, *whole[3];
    const float *particles[3], *system[3];
    MO_TRY(mo_sim_floats(sim, sim->arena, 1, &part, err));
    system_masses(sim, l, own);
    for (int a = 0; a < 3; a++) particles[a] = c->transfer.mass[a], system[a] = own[a];
    if (g->sites) {
        MO_TRY(mo_sim_floats(sim, sim->arena, 3, whole, err));
        for (int a = 0; a < 3; a++) {
            memcpy(whole[a], c->transfer.mass[a], sizeof(float) * (size_t)mo_grid_fields(g));
            particles[a] = whole[a];
        }
        join_pieces(g, own), join_pieces(g, whole);
    }
    mo_balance_masses(g, particles, system, part);
#pragma omp parallel for schedule(static)
    for (int32_t f = 0; f < l->system.faces.count; f++) l->system.faces.mass[f] *= part[cell_of(g, l, f)];
    return MO_OK;
}

// The motion of a solid on the faces of a tile.
static mo_frame frame_of(const mo_sim *sim, const mo_solid *s, int32_t tile)
{
    MO_ASSERT(tile >= 0 && tile < sim->grid->tiles);
    const mo_grid *g = sim->grid;
    mo_frame frame;
    double first[3];
    for (int a = 0; a < 3; a++) first[a] = 8.0 * g->coord[tile][a];
    for (int a = 0; a < 3; a++) {
        double half[3] = {0.5, 0.5, 0.5};
        half[a] = 0;
        mo_vec3 x = mo_grid_world(g, first[0] + half[0], first[1] + half[1], first[2] + half[2]);
        double v = mo_get(mo_solid_velocity_at(s, x), a);
        frame.velocity[a] = (float)v;
        for (int b = 0; b < 3; b++) {
            mo_vec3 y = mo_add(x, mo_v3(b == 0 ? g->dx : 0, b == 1 ? g->dx : 0, b == 2 ? g->dx : 0));
            frame.gradient[a][b] = (float)(mo_get(mo_solid_velocity_at(s, y), a) - v);
        }
    }
    return frame;
}

// Finds for every tile how the nearest solid moves, among those that the liquid does not move; NULL if all of them
// rest.
static mo_status find_frames(const mo_sim *sim, const mo_frame **out, mo_error *err)
{
    const mo_grid *g = sim->grid;
    bool any = false;
    for (int32_t s = 0; s < sim->solid_count; s++) any |= sim->solids[s].motion != NULL;
    *out = NULL;
    if (!any) return MO_OK;
    mo_frame *frame = MO_ARENA_ARRAY(sim->arena, mo_frame, g->tiles + 1);
    if (!frame) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        const int32_t *c = g->coord[t];
        mo_vec3 centre = mo_grid_world(g, 8.0 * c[0] + 4, 8.0 * c[1] + 4, 8.0 * c[2] + 4);
        int32_t solid = mo_sim_nearest_prescribed(sim, centre);
        frame[t] = solid < 0 ? (mo_frame){0} : frame_of(sim, &sim->solids[solid], t);
    }
    *out = frame;
    return MO_OK;
}

mo_status mo_sim_balance(mo_sim *sim, mo_step_context *c, mo_balance *out, mo_error *err)
{
    MO_ASSERT(c->dt >= 0); // 0: a velocity is infinite; the step reports it
    const mo_scratch *scratch = &sim->scratch;
    size_t cells = (size_t)mo_grid_fields(sim->grid);
    system_masses(sim, &c->assemble.liquid, scratch->field);
    *out = (mo_balance){.grid = sim->grid, .courant = (float)(c->dt / sim->grid->dx), .light = scratch->bytes + cells};
    MO_TRY(mo_sim_floats(sim, sim->arena, 2, out->given, err));
    for (int a = 0; a < 3; a++) {
        out->u[a] = c->apply.faces.u[a], out->valid[a] = c->apply.faces.valid[a], out->before[a] = c->transfer.u[a];
        out->particles[a] = c->transfer.mass[a], out->system[a] = scratch->field[a];
        out->kick[a] = (float)(mo_get(sim->def.gravity, a) * c->dt);
    }
    return find_frames(sim, &out->frame, err);
}
