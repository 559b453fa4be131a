// Stage `advect`: surface, particles and solids move; liquid enters and leaves.
#include "sim/slits.h"
#include <math.h>

// Takes out the particles that left through open walls.
static mo_status drain(mo_sim *sim, mo_error *err)
{
    mo_particles *p = &sim->particles;
    uint8_t *gone = mo_arena_alloc(sim->arena, (size_t)p->count + 1);
    if (!gone) return mo_fail_memory(err);
    int64_t count = 0;
    for (int32_t q = 0; q < p->count; q++) {
        gone[q] = 0;
        for (int a = 0; a < 3; a++)
            gone[q] |= p->x[a][q] < MO_MARGIN || p->x[a][q] >= (float)(sim->grid->n[a] - MO_MARGIN);
        count += gone[q];
    }
    if (count == 0) return MO_OK;
    mo_liquid_sums before = mo_sim_liquid_sums(sim);
    mo_particles_remove(p, gone);
    mo_sim_energy_exchange(sim, &before);
    return MO_OK;
}

mo_status mo_stage_advect(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_ASSERT(sim->level.tiles == sim->grid->tiles && c->dt >= 0); // 0: a velocity is infinite; the step reports it
    const mo_faces *faces = &c->apply.faces;
    mo_collision collision = {.sim = sim, .phase = c->apply.phase, .swept = true, .dt = c->dt};
    MO_TRY(mo_collision_start(&collision, err));
    MO_TRY(mo_sim_carry_deep(sim, c, err));
    mo_sim_advect_level(sim, faces, c->dt);
    for (int32_t s = 0; s < sim->solid_count; s++) sim->solids[s].pose = sim->solids[s].next;
    MO_TRY(mo_sim_move_elastics(sim, c->dt, err));
    mo_advect advect = {.dt = c->dt,
                        .gravity = sim->def.gravity,
                        .phase = c->apply.phase,
                        .collide = mo_sim_collide_part,
                        .user = sim,
                        .reach = (float)fmax(sim->def.time.cfl, 3) + 0.1f,
                        .outlier = mo_arena_alloc(sim->arena, (size_t)sim->particles.count + 1)};
    if (!advect.outlier) return mo_fail_memory(err);
    mo_transfer_advect(&sim->particles, sim->grid, faces, &advect);
    sim->stats.ballistic = advect.ballistic, sim->stats.outliers = advect.outliers;
    collision.outlier = advect.outlier;
    MO_TRY(mo_sim_collide(&collision, err));
    MO_TRY(mo_sim_collide_shells(&collision, err));
    MO_TRY(mo_shells_arrive(&sim->shells, err));
    MO_TRY(mo_sim_fill_slits(sim, c->apply.phase, err));
    MO_TRY(mo_sim_exchange_deep(sim, c, err));
    mo_sim_end_motion(sim);
    if (sim->open) MO_TRY(drain(sim, err));
    mo_liquid_sums before = {0};
    if (sim->def.emitter_count) before = mo_sim_liquid_sums(sim);
    MO_TRY(mo_sim_emit(sim, sim->time, sim->time + c->dt, err));
    if (sim->def.emitter_count) mo_sim_energy_exchange(sim, &before);
    return MO_OK;
}
