// Pressure of air from step to step, and its force on solids. A step takes half of the pressure P of the last one
// before the gas drifts, and the solve finds the rest, x (fluid/gas.h):
//
//     gas     k = -dt Mf^-1 B^T P      kicks that the next step takes half of
//     bodies  (M + Ma) (V* - V) = dt (F/2 + (m - rho0 V0) g),     F = -R^T P
//     P' = P/2 + x; after an impulse P' = P, which leaves no trace, but never in two steps in a row
//
// Gas and bodies get their halves of one pressure at the same places of the solids, so that bodies lose the momentum
// that the gas gains. (In an earlier version the force was kept and moved on with its body, F' = F/2 - R^T x, while the
// gas's kick stayed where it was. This drove balls forward, with a coefficient of drag of -0.1.) The air's own weight
// is not in its pressure, so the weight of bodies is reduced by that of the air that they displace. Ma is the air that
// moves with the body (system/attach.h).
#include "grid/extrapolate.h"
#include "sim/sim.h"
#include "system/pressure_gaps.h"
#include <math.h>
#include <string.h>

// ---- Bodies ----

static mo_vec3 weight_in_air(const mo_sim *sim, const mo_solid *s)
{
    return s->rigid ? mo_mul(s->body.mass - sim->density * mo_solid_displaced(s), sim->def.gravity) : mo_v3(0, 0, 0);
}

mo_status mo_sim_push_bodies(mo_sim *sim, double dt, mo_liquid_system *l, mo_error *err)
{
    if (!sim->bodies) return MO_OK;
    if (!l->push) MO_TRY(mo_liquid_push(l, MO_BODY_UNKNOWNS * sim->bodies, err));
    double scale = dt / mo_grid_cell_volume(sim->grid);
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!s->rigid) continue;
        double *push = l->push + (int64_t)MO_BODY_UNKNOWNS * sim->body_of[i];
        mo_vec3 force = mo_mad(weight_in_air(sim, s), 0.5, s->kick_force);
        for (int a = 0; a < 3; a++) {
            push[a] += scale * mo_get(force, a);
            push[3 + a] += 0.5 * scale * mo_get(s->kick_torque, a);
        }
    }
    return MO_OK;
}

// Gaps keep their velocity and get half of their kick, as faces do. If they began each step with that of the faces
// alone, pressure would have to drive them anew every time. The gas beside would get half of these impulses too, in
// the next step, and the more the shorter steps are: this grew without bounds. The gas that flows through a gap takes
// w along and is replaced by gas that moves as the faces beside do: dw/dt = -w |u| / length. Without this a pressure
// difference would drive w for ever; with it w ends where rho u^2 is the difference.
void mo_sim_set_air_gaps(const mo_sim *sim, double dt, mo_liquid_system *l)
{
    const mo_gas *gas = &sim->air.gas;
    double *u = l->system.faces.velocity, *w = u + l->system.faces.count - l->gaps;
    double part = gas->kick_step > 0 ? 0.5 * dt / gas->kick_step : 0, length = mo_gap_depth * sim->grid->dx;
    for (int32_t k = 0; k < l->gaps; k++) {
        double kept = gas->gap[0][l->gap_at[k]] + part * gas->gap[1][l->gap_at[k]];
        double through = kept + mo_csr_row_product(&l->gap_mean, k, u);
        w[k] = kept / (1 + fabs(through) * dt / length);
    }
}

// The system's force on a body contains everything that pushed it, also its weight.
void mo_sim_finish_air_forces(mo_sim *sim)
{
    for (int32_t i = 0; i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        if (s->rigid)
            s->force = mo_sub(s->force, weight_in_air(sim, s));
        else
            s->force = mo_mad(s->force, 0.5, s->kick_force), s->torque = mo_mad(s->torque, 0.5, s->kick_torque);
        if (s->rigid && s->shell) s->shell->force = s->force, s->shell->torque = s->torque;
    }
}

void mo_sim_air_before(const mo_sim *sim, double *body)
{
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!s->rigid) continue;
        double *v = body + (int64_t)MO_BODY_UNKNOWNS * sim->body_of[i];
        for (int a = 0; a < 3; a++) v[a] = mo_get(s->velocity, a), v[3 + a] = mo_get(s->angular_velocity, a);
    }
}

// ---- From step to step ----

// -dt Mf^-1 B^T x of the rows' present x.
static void find_kick(const mo_system *s, double *kick)
{
    memset(kick, 0, sizeof(double) * (size_t)s->faces.count);
    mo_block_add_force(s->block[MO_BLOCK_PRESSURE], MO_FACES, kick);
    for (int32_t f = 0; f < s->faces.count; f++) kick[f] *= s->dt / s->faces.mass[f];
}

// F = -R^T x of the rows' present x, of all solids.
static mo_status find_forces(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    const mo_system *y = &c->assemble.liquid.system;
    int32_t n = sim->solid_count;
    double volume = mo_grid_cell_volume(sim->grid), *row = MO_ARENA_ARRAY(sim->arena, double, y->bodies.count + 1);
    mo_vec3 *v = MO_ARENA_ARRAY(sim->arena, mo_vec3, 3 * n + 1);
    if (!row || !v) return mo_fail_memory(err);
    if (n == 0) return MO_OK;
    memset(row, 0, sizeof(double) * (size_t)y->bodies.count);
    mo_block_add_force(y->block[MO_BLOCK_PRESSURE], MO_BODIES, row);
    for (int32_t i = 0; i < n; i++) v[i] = sim->solids[i].pose.position, v[n + i] = v[2 * n + i] = mo_v3(0, 0, 0);
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def def = mo_sim_pressure_def(sim, c, &solids);
    MO_TRY(mo_pressure_forces(&def, &c->assemble.liquid, v, v + n, v + 2 * n, sim->arena, err));
    for (int32_t i = 0; i < n; i++) {
        mo_solid *s = &sim->solids[i];
        const double *r = row + (int64_t)MO_BODY_UNKNOWNS * (s->rigid ? sim->body_of[i] : 0);
        s->kick_force = s->rigid ? mo_mul(volume, mo_v3(r[0], r[1], r[2])) : v[n + i];
        s->kick_torque = s->rigid ? mo_mul(volume, mo_v3(r[3], r[4], r[5])) : v[2 * n + i];
    }
    return mo_sim_find_cloth_kicks(sim, y, err);
}

// Cells and faces that solids uncover in the next step then have a pressure and kicks, as they have a velocity.
static void continue_kick(mo_sim *sim, const mo_liquid_system *l, const mo_faces *faces)
{
    enum { LAYERS = 4 };
    mo_gas *gas = &sim->air.gas;
    size_t cells = (size_t)mo_grid_fields(sim->grid);
    uint8_t *known = sim->scratch.bytes, *spare = known + cells;
    if (!sim->moving) return;
    for (int a = 0; a < 3; a++) {
        memcpy(known, faces->valid[a], cells);
        mo_extrapolate(sim->grid, a, gas->kick[a], known, LAYERS, 1, sim->scratch.field[0], spare);
    }
    memset(known, 0, cells);
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) known[l->cell_at[r]] = 1;
    mo_extrapolate(sim->grid, MO_SITE_ROW, gas->pressure, known, LAYERS, 1, sim->scratch.field[0], spare);
}

mo_status mo_sim_renew_kick(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_air *air = &sim->air;
    mo_gas *gas = &air->gas;
    const mo_liquid_system *l = &c->assemble.liquid;
    const mo_block *b = l->system.block[MO_BLOCK_PRESSURE];
    gas->kick_step = c->dt;
    const double *w = l->system.faces.velocity + l->system.faces.count - l->gaps;
    for (int32_t k = 0; k < l->gaps; k++) gas->gap[0][l->gap_at[k]] = (float)w[k];
    if (air->def.advection == MO_ADVECTION_PAPER) return MO_OK; // the solve finds all of the pressure
    int32_t faces = l->system.faces.count;
    double *kick = MO_ARENA_ARRAY(sim->arena, double, 2 * faces + 1), *found = kick + faces, change = 0, size = 0;
    double *x = MO_ARENA_ARRAY(sim->arena, double, b->rows + 1);
    if (!kick || !x) return mo_fail_memory(err);
    memcpy(x, b->x, sizeof(double) * (size_t)b->rows);
    find_kick(&l->system, found);
    for (int32_t r = 0; r < b->rows; r++) b->x[r] = gas->pressure[l->cell_at[r]];
    find_kick(&l->system, kick);
    for (int32_t f = 0; f < faces; f++) {
        double d = found[f] - 0.5 * kick[f];
        change += d * d, size += kick[f] * kick[f];
    }
    air->skipped = change > size && !air->skipped;
    for (int32_t r = 0; r < b->rows && !air->skipped; r++) b->x[r] = x[r] + 0.5 * b->x[r];
    MO_TRY(find_forces(sim, c, err));
    for (int a = 0; a < 3; a++) memset(gas->kick[a], 0, sizeof(float) * (size_t)mo_grid_fields(sim->grid));
    memset(gas->pressure, 0, sizeof(float) * (size_t)mo_grid_fields(sim->grid));
    for (int32_t r = 0; r < b->rows; r++) gas->pressure[l->cell_at[r]] = (float)b->x[r];
    for (int32_t f = 0; f < faces - l->gaps; f++)
        gas->kick[mo_face_axis(l->face_at[f])][mo_face_sample(l->face_at[f])] =
            (float)(air->skipped ? kick[f] : 0.5 * kick[f] + found[f]);
    for (int32_t k = 0, f = faces - l->gaps; k < l->gaps; k++, f++)
        gas->gap[1][l->gap_at[k]] = (float)(air->skipped ? kick[f] : 0.5 * kick[f] + found[f]);
    continue_kick(sim, l, &c->apply.faces);
    return MO_OK;
}
