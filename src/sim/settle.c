// Stage `settle`: tiles follow the particles, and what lies over the tiles moves with them.
#include "sim/sim.h"

// One allocation holds all fields; it only grows. Contents are not kept: the stages after a sort refill them.
mo_status mo_sim_reserve_fields(mo_sim *sim, mo_error *err)
{
    int64_t cells = mo_grid_cells(sim->grid);
    mo_fields *f = &sim->field;
    enum { plain = 19, byte_fields = 6 };
    const size_t floats = plain + sim->viscous + 4 * sim->non_newtonian;
    if (cells > sim->field_cells || !sim->field_memory) { // also without liquid there are fields, of no cells
        mo_free(sim->field_memory);
        sim->field_cells = 0;
        int64_t capacity = cells + cells / 8 + MO_TILE_CELLS;
        sim->field_memory = mo_calloc((size_t)capacity * (sizeof(float) * floats + byte_fields));
        if (!sim->field_memory) return mo_fail_memory(err);
        sim->field_cells = capacity;
    }
    float *next = sim->field_memory;
    float **all[] = {&f->u[0],         &f->u[1],         &f->u[2],         &f->area[0],     &f->area[1],
                     &f->area[2],      &f->volume,       &f->distance,     &f->phi,         &f->scratch[0],
                     &f->scratch[1],   &f->scratch[2],   &f->scratch[3],   &f->flux[0],     &f->flux[1],
                     &f->flux[2],      &f->mass[0],      &f->mass[1],      &f->mass[2],     &f->viscosity,
                     &f->parameter[0], &f->parameter[1], &f->parameter[2], &f->parameter[3]};
    for (size_t i = 0; i < floats; i++, next += sim->field_cells) *all[i] = next;
    uint8_t *byte = (uint8_t *)((float *)sim->field_memory + floats * (size_t)sim->field_cells);
    for (int a = 0; a < 3; a++, byte += sim->field_cells) f->valid[a] = byte;
    f->phase = byte;
    f->bytes = byte + sim->field_cells;
    return MO_OK;
}

mo_status mo_stage_settle(mo_sim *sim, mo_error *err)
{
    MO_TRY(mo_sim_check_motion(sim, err));
    MO_TRY(mo_particles_sort(&sim->particles, sim->grid, sim->arena, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    return mo_sim_openings(sim, sim->time + sim->dt, err);
}
