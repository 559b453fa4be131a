// Pressure of air on cloth from step to step (air_pressure.c): each vertex keeps the force F = -Fw^T P of the last
// step's pressure P at the places at which P was found, and gets half of it before the solve, as the gas does.
#include "sim/sim.h"
#include <string.h>

void mo_sim_kick_cloths(mo_sim *sim, double dt)
{
    for (int32_t k = 0; k < sim->elastics.count && sim->air.present; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++)
            if (!e->pinned[i / 3]) e->target[i] += 0.5 * dt * e->kick[i] / e->body.mass[i / 3];
    }
}

mo_status mo_sim_find_cloth_kicks(mo_sim *sim, const mo_system *y, mo_error *err)
{
    double volume = mo_grid_cell_volume(sim->grid), *force = MO_ARENA_ARRAY(sim->arena, double, y->nodes.count + 1);
    if (!force) return mo_fail_memory(err);
    memset(force, 0, sizeof(double) * (size_t)y->nodes.count);
    if (y->nodes.count) mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_NODES, force);
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++) e->kick[i] = volume * force[e->first + i];
    }
    return MO_OK;
}

void mo_sim_add_cloth_kicks(const mo_sim *sim, double scale, double *force)
{
    for (int32_t k = 0; k < sim->elastics.count && sim->air.present; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++) force[e->first + i] += scale * e->kick[i];
    }
}

// From v0 on, gravity and kick lead to v*: the kick's part of the change of energy is F dt/2 . (v0 + v*)/2.
void mo_sim_account_kicks(mo_sim *sim, double dt, const double *before, const double *now)
{
    if (!sim->air.present || !mo_sim_air_exchanges(sim)) return;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++) {
            double start = before[e->first + i], held = now[e->first + i];
            double way = e->pinned[i / 3] ? held : 0.5 * (start + e->target[i]);
            sim->account.work += 0.5 * dt * e->kick[i] * way;
        }
    }
}
