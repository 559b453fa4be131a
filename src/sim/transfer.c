// Stage `transfer`: velocities on the grid from the particles, phases from the surface.
#include "grid/levelset.h"
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

// Velocities on the grid from the particles, phases from the surface.
mo_status mo_stage_transfer(mo_sim *sim, mo_error *err)
{
    MO_TRY(vary_viscosity(sim, err));
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    MO_TRY(mo_surface_phase(&sim->particles, g, sim->level.press, f->area, f->phase, sim->arena, err));
    mo_surface_slave(g, f->phase, f->bytes);
    mo_faces faces = {{f->u[0], f->u[1], f->u[2]}, {f->valid[0], f->valid[1], f->valid[2]}};
    mo_transfer_to_faces(&sim->particles, g, &faces, f->mass);
    const double gravity[3] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z};
    for (int a = 0; a < 3; a++) {
        // Faces of liquid cells that no particle reaches take their neighbours' velocity.
        mo_extrapolate(g, f->u[a], f->valid[a], 2, 2, f->scratch[0], f->bytes);
        float kick = (float)(gravity[a] * sim->dt);
        if (kick == 0) continue;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_cells(g); i++) f->u[a][i] += kick;
    }
    return MO_OK;
}
