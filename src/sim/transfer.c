// Stage `transfer`: velocities on the grid from the particles, phases from the surface.
#include "grid/extrapolate.h"
#include "grid/sites.h"
#include "sim/sim.h"
#include <string.h>

static bool varies(const mo_sim *sim, int32_t source)
{
    int32_t liquids = sim->def.liquid_count;
    return source < liquids ? sim->liquids[source].viscosity_varies : sim->emitters[source - liquids].viscosity_varies;
}

static mo_status vary_viscosity(mo_sim *sim, mo_error *err)
{
    mo_particles *p = &sim->particles;
    bool any = false;
    for (int32_t s = 0; s < sim->def.liquid_count + sim->def.emitter_count; s++) any |= varies(sim, s);
    for (int32_t q = 0; any && q < p->count; q++) {
        int32_t source = (int32_t)p->material[q];
        double viscosity;
        if (!varies(sim, source)) continue;
        mo_vec3 x = mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
        MO_TRY(mo_sim_viscosity_at(sim, source, x, sim->time, &viscosity, err));
        p->viscosity[q] = (float)viscosity;
    }
    return MO_OK;
}

static mo_status make_room(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, c->transfer.u, err));
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, c->transfer.mass, err));
    return mo_sim_bytes(sim, sim->step_arena, 1, &c->transfer.phase, err);
}

mo_status mo_stage_transfer(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_ASSERT(mo_grid_fields(sim->grid) <= sim->field_cells &&
              c->dt >= 0); // 0: a velocity is infinite; the step reports it
    MO_TRY(vary_viscosity(sim, err));
    MO_TRY(mo_sim_stall_emitters(sim, c, err));
    MO_TRY(make_room(sim, c, err));
    MO_TRY(mo_particles_find_rows(&sim->particles, sim->grid, err));
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    MO_TRY(
        mo_surface_phase(&sim->particles, g, sim->level.press, sim->openings.area, c->transfer.phase, sim->arena, err));
    mo_surface_slave(g, c->transfer.phase, scratch->bytes);
    for (int32_t k = 0; k < sim->slits.count; k++) c->transfer.phase[sim->slits.slit[k].cell] = MO_PHASE_SLAVED;
    mo_faces faces = {.u = {c->transfer.u[0], c->transfer.u[1], c->transfer.u[2]}};
    MO_TRY(mo_sim_bytes(sim, sim->arena, 3, faces.valid, err));
    mo_transfer_to_faces(&sim->particles, g, &faces, c->transfer.mass);
    mo_band_mix(&sim->band, g, &faces, c->transfer.mass);
    const double gravity[3] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z};
    for (int a = 0; a < 3; a++) {
        // Faces of liquid cells that no particle reaches take their neighbours' velocity.
        mo_extrapolate(g, a, faces.u[a], faces.valid[a], 2, 2, scratch->field[0], scratch->bytes);
        float kick = (float)(gravity[a] * c->dt);
        if (kick == 0) continue;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_fields(g); i++) faces.u[a][i] += kick;
    }
    return MO_OK;
}
