// Energy between particles and system (fluid/balance.h): what the step keeps of the time before its solve.
#include "sim/sim.h"
#include <string.h>

// Ms, the masses of the system's faces in cells of liquid.
static void system_masses(const mo_sim *sim, float *const mass[3])
{
    const mo_liquid_system *l = &sim->stokes.liquid;
    for (int a = 0; a < 3; a++) memset(mass[a], 0, sizeof(float) * (size_t)mo_grid_cells(sim->grid));
#pragma omp parallel for schedule(static)
    for (int32_t f = 0; f < l->system.faces; f++)
        mass[l->face_at[f] % 3][l->face_at[f] / 3] = (float)(l->system.mass[f] / sim->density);
}

mo_status mo_sim_balance(mo_sim *sim, mo_balance *out, mo_error *err)
{
    const mo_fields *f = &sim->field;
    size_t cells = (size_t)mo_grid_cells(sim->grid);
    float *kept = MO_ARENA_ARRAY(sim->arena, float, 5 * cells + 1);
    if (!kept) return mo_fail_memory(err);
    system_masses(sim, f->scratch);
    *out = (mo_balance){.grid = sim->grid,
                        .courant = (float)(sim->dt / sim->grid->dx),
                        .given = {kept, kept + cells},
                        .light = f->bytes + cells};
    for (int a = 0; a < 3; a++) {
        float *before = kept + (size_t)(2 + a) * cells;
        memcpy(before, f->u[a], sizeof(float) * cells);
        out->u[a] = f->u[a], out->valid[a] = f->valid[a], out->before[a] = before;
        out->particles[a] = f->mass[a], out->system[a] = f->scratch[a];
        out->kick[a] = (float)(mo_get(sim->def.gravity, a) * sim->dt);
    }
    return MO_OK;
}
