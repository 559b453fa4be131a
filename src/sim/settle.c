// Stage `settle`: tiles follow the particles, and fields over the tiles move with them.
#include "grid/sites.h"
#include "sim/sim.h"

// One allocation holds openings and scratch; it only grows. Contents are not kept.
mo_status mo_sim_reserve_fields(mo_sim *sim, mo_error *err)
{
    int64_t cells = mo_grid_fields(sim->grid);
    mo_openings *o = &sim->openings;
    mo_scratch *s = &sim->scratch;
    float **all[] = {&o->area[0],  &o->area[1],  &o->area[2],  &o->flux[0],  &o->flux[1],  &o->flux[2], &o->volume,
                     &o->distance, &s->field[0], &s->field[1], &s->field[2], &s->field[3], &s->field[4]};
    enum { FLOATS = sizeof all / sizeof *all, BYTES = 2 };
    if (cells > sim->field_cells || !sim->field_memory) { // without liquid there are fields too, of no cells
        mo_free(sim->field_memory);
        sim->field_cells = 0;
        int64_t capacity = cells + cells / 8 + MO_TILE_CELLS;
        sim->field_memory = mo_calloc((size_t)capacity * (sizeof(float) * FLOATS + BYTES));
        if (!sim->field_memory) return mo_fail_memory(err);
        sim->field_cells = capacity;
    }
    float *next = sim->field_memory;
    for (int i = 0; i < FLOATS; i++, next += sim->field_cells) *all[i] = next;
    s->bytes = (uint8_t *)next;
    return MO_OK;
}

mo_status mo_sim_floats(const mo_sim *sim, mo_arena *arena, int count, float **out, mo_error *err)
{
    for (int k = 0; k < count; k++)
        if (!(out[k] = MO_ARENA_ARRAY(arena, float, mo_grid_fields(sim->grid) + 1))) return mo_fail_memory(err);
    return MO_OK;
}

mo_status mo_sim_bytes(const mo_sim *sim, mo_arena *arena, int count, uint8_t **out, mo_error *err)
{
    for (int k = 0; k < count; k++)
        if (!(out[k] = MO_ARENA_ARRAY(arena, uint8_t, mo_grid_fields(sim->grid) + 1))) return mo_fail_memory(err);
    return MO_OK;
}

// Renews the fields over the tiles when these have changed.
static mo_status settle_tiles(mo_sim *sim, const mo_kept_rows *kept, mo_error *err)
{
    MO_TRY(mo_sim_cut_shells(sim, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_band_settle(&sim->band, &sim->level, sim->grid, sim->arena, err));
    mo_sim_show_deep(sim);
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    return mo_sim_recall_rows(sim, kept, err);
}

mo_status mo_sim_follow_particles(mo_sim *sim, double time, mo_error *err)
{
    mo_band_want(&sim->band, sim->grid);
    mo_kept_rows kept;
    MO_TRY(mo_sim_keep_rows(sim, &kept, err));
    mo_status status = mo_particles_sort(&sim->particles, sim->grid, sim->arena, err);
    if (status == MO_OK) status = settle_tiles(sim, &kept, err);
    mo_kept_rows_destroy(&kept);
    MO_TRY(status);
    return mo_sim_openings(sim, time, err);
}

mo_status mo_stage_settle(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_TRY(mo_sim_check_motion(sim, c->dt, err));
    mo_free(c->advect.exposed.gap);
    *c = (mo_step_context){.dt = c->dt}; // the data that stages handed on belong to the old tiles
    mo_arena_reset(sim->step_arena);
    return mo_sim_follow_particles(sim, sim->time + c->dt, err);
}
