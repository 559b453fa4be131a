// The stages of a step in air that differ from those of a liquid (fluid/gas.h has the formulas).
#include "base/elementary.h"
#include "fluid/gas_ghosts.h"
#include "grid/extrapolate.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include "grid/sites.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static mo_gas_weight weight_of(const mo_sim *sim)
{
    return (mo_gas_weight){sim->air.def.density, sim->air.def.temperature, sim->def.gravity};
}

// ---- transfer: the carrying velocity, and the fields that it carries ----

// The open part of a face, or of a piece of one: as a part of the piece, or, if `whole`, of the whole face. Pieces that
// lead nowhere are closed.
static float open_part(const mo_sim *sim, int axis, int32_t i, bool whole)
{
    const mo_grid *g = sim->grid;
    float open = sim->openings.area[axis][i];
    if (!mo_site_is_cut(g, i)) return open;
    if (mo_ghost_owner(g, axis, i) >= 0) return open;
    bool joins = mo_sample_low(g, axis, i) >= 0 && mo_sample_high(g, axis, i) >= 0;
    return joins ? open * (whole ? (float)mo_sample_area(g, axis, i) : 1) : 0;
}

// Whether a face has a velocity of its own. In the carrier those in solids that move were extrapolated already, for the
// poses at which k was found.
static bool is_known(const mo_sim *sim, int axis, int32_t i, bool carrier)
{
    const float least = 0.1f;
    if (carrier && sim->moving && !mo_site_is_cut(sim->grid, i)) return true;
    return open_part(sim, axis, i, carrier) >= least;
}

// Open faces keep their velocity, faces in solids and beyond are extrapolated, and nothing enters walls and solids. A
// face that is hardly open counts as inside the solid: no row determines its velocity, which pressure alone would
// drive. Small pieces beside sheets do so too in the carrier; as the gas's velocity they keep what the solve found,
// with which soot flows without gathering anywhere.
static void continue_faces(mo_sim *sim, bool carrier, const mo_faces *faces)
{
    for (int a = 0; a < 3; a++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_samples(sim->grid); i++)
            faces->valid[a][i] = is_known(sim, a, (int32_t)i, carrier);
    mo_sim_fix_walls(sim, faces);
    for (int a = 0; a < 3; a++)
        mo_extrapolate(sim->grid, a, faces->u[a], faces->valid[a], MO_REACH + 1, 1, sim->scratch.field[0],
                       sim->scratch.bytes);
    if (!(carrier && sim->moving)) mo_sim_constrain(sim, faces);
}

// Applies a part of the forces on the gas in a step: weight, and vorticity confinement (at cells; NULL: none).
static void push(const mo_sim *sim, double dt, float *const confine[3], float *const u[3])
{
    mo_gas_weight weight = weight_of(sim);
    for (int a = 0; a < 3; a++) {
        mo_gas_push(&sim->air.gas, sim->grid, &weight, dt, a, u[a]);
        if (!confine) continue;
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
            int32_t low = mo_grid_step(sim->grid, i, a, -1);
            if (mo_reach_near(sim->grid, i, 1)) continue; // the curl there would be across the sheet
            if (low >= 0 && sim->openings.area[a][i] > 0)
                u[a][i] += 0.5f * (float)dt * (confine[a][low] + confine[a][i]);
        }
    }
}

// w = u + (k + dt a)/2, with the k of the last step scaled to the length of this one.
static void find_carrier(mo_sim *sim, double dt, float *const confine[3], const mo_faces *w)
{
    const mo_gas *gas = &sim->air.gas;
    float part = (float)(gas->kick_step > 0 ? 0.5 * dt / gas->kick_step : 0);
    for (int a = 0; a < 3; a++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_fields(sim->grid); i++) w->u[a][i] = gas->u[a][i] + part * gas->kick[a][i];
    if (sim->air.def.advection != MO_ADVECTION_PAPER) push(sim, 0.5 * dt, confine, w->u);
    if (sim->moving && !sim->grid->sites)
        mo_sim_fix_walls(sim, w);
    else
        continue_faces(sim, true, w);
}

// Soot and heat flow with the velocity at the middle of the step, extrapolated from the last two. Where shells move,
// they flow with the velocity that the solve has found: with it rows lose as much gas as shells take room from them.
static mo_status flow(mo_sim *sim, double dt, mo_error *err)
{
    const mo_gas *gas = &sim->air.gas;
    const float wind[3] = {(float)sim->air.def.wind.x, (float)sim->air.def.wind.y, (float)sim->air.def.wind.z};
    bool found = !mo_shells_still(&sim->shells);
    float *middle[3], part = (float)(gas->kick_step > 0 && !found ? 0.5 * dt / gas->kick_step : 0);
    MO_TRY(mo_sim_floats(sim, sim->arena, 3, middle, err));
    for (int a = 0; a < 3; a++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < mo_grid_samples(sim->grid); i++)
            middle[a][i] = gas->u[a][i] + part * (gas->u[a][i] - gas->last[a][i]);
    mo_gas_flux flux = {.u = middle,
                        .area = sim->openings.area,
                        .open = sim->openings.volume,
                        .wind = wind,
                        .step = (float)(dt / sim->grid->dx),
                        .least = 0.05f,
                        .reverse = sim->step & 1};
    MO_TRY(mo_gas_group(sim->grid, &flux, sim->arena, err));
    mo_gas_transport(sim->grid, &flux, gas->soot, found ? gas->room : NULL, sim->scratch.field);
    mo_gas_transport(sim->grid, &flux, gas->heat, NULL, sim->scratch.field);
    float keep = (float)mo_exp(-sim->air.def.cooling * dt);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(sim->grid); i++) gas->heat[i] *= keep;
    return MO_OK;
}

// Every cell of the domain that is open has a pressure.
static void find_phase(const mo_sim *sim, uint8_t *phase)
{
    const mo_grid *g = sim->grid;
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        bool open = false;
        for (int k = 0, n = mo_row_samples(g, i, six, &list); k < n && sim->level.press[i] < 0 && !open; k++)
            open = sim->openings.area[list[k].axis][list[k].sample] > 0;
        phase[i] = open ? MO_PHASE_LIQUID : MO_PHASE_AIR;
    }
}

mo_status mo_stage_air_transfer(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_gas *gas = &sim->air.gas;
    const mo_grid *g = sim->grid;
    const mo_air_def *def = &sim->air.def;
    mo_faces w;
    float *confined[3], *const *confine = def->vorticity > 0 ? confined : NULL;
    MO_TRY(mo_sim_floats(sim, sim->arena, 3, w.u, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 3, w.valid, err));
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, c->transfer.u, err));
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 1, &c->transfer.phase, err));
    bool exchange = mo_sim_air_exchanges(sim);
    mo_air_sums before = exchange ? mo_sim_air_sums(sim) : (mo_air_sums){0};
    if (confine) {
        MO_TRY(mo_sim_floats(sim, sim->arena, 3, confined, err));
        mo_gas_confine(g, gas->u, (float)def->vorticity, confined, sim->scratch.field);
    }
    find_carrier(sim, c->dt, confine, &w);
    const float wind[3] = {(float)sim->air.def.wind.x, (float)sim->air.def.wind.y, (float)sim->air.def.wind.z};
    mo_gas_flow carrier = {.w = w.u,
                           .wind = wind,
                           .step = (float)(c->dt / g->dx),
                           .once = def->advection == MO_ADVECTION_PAPER,
                           .distance = sim->solid_count ? sim->openings.distance : NULL};
    for (int k = 0; k < 6; k++)
        carrier.closed[k] = sim->def.domain.walls[k] != MO_WALL_OPEN && sim->def.domain.walls[k] != MO_WALL_WIND;
    mo_gas_carry(g, &carrier, sim->scratch.field, c->transfer.u);
    if (mo_grid_is_2d(g)) memset(c->transfer.u[2], 0, sizeof(float) * (size_t)mo_grid_fields(g));
    if (mo_shells_still(&sim->shells)) MO_TRY(flow(sim, c->dt, err));
    mo_gas_fill_ghosts(gas, g);
    mo_gas_start_ghosts(g, c->transfer.u);
    push(sim, (carrier.once ? 1 : 0.5) * c->dt, confine, c->transfer.u);
    for (int a = 0; a < 3; a++) {
        memcpy(gas->last[a], gas->u[a], sizeof(float) * (size_t)mo_grid_fields(g));
        memcpy(gas->u[a], c->transfer.u[a], sizeof(float) * (size_t)mo_grid_fields(g));
    }
    if (exchange) mo_sim_air_exchange(sim, &before, true);
    find_phase(sim, c->transfer.phase);
    return MO_OK;
}

// ---- apply: velocities after the solve, and the kick of pressure ----

mo_status mo_stage_air_apply(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_gas *gas = &sim->air.gas;
    mo_faces *faces = &c->apply.faces;
    size_t cells = (size_t)mo_grid_fields(sim->grid);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 3, faces->u, err));
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 3, faces->valid, err));
    for (int a = 0; a < 3; a++) {
        memcpy(faces->u[a], c->transfer.u[a], sizeof(float) * cells);
        memset(faces->valid[a], 0, cells);
    }
    mo_liquid_scatter(&c->assemble.liquid, faces->u, faces->valid);
    MO_TRY(mo_sim_renew_kick(sim, c, err));
    mo_liquid_destroy(&c->assemble.liquid);
    continue_faces(sim, false, faces);
    for (int a = 0; a < 3; a++) memcpy(gas->u[a], faces->u[a], sizeof(float) * cells);
    return MO_OK;
}

// ---- advect, settle, correct ----

mo_status mo_stage_air_advect(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    bool shells = !mo_shells_still(&sim->shells), exchange = mo_sim_air_exchanges(sim);
    mo_air_sums before = shells && exchange ? mo_sim_air_sums(sim) : (mo_air_sums){0};
    if (shells) MO_TRY(flow(sim, c->dt, err));
    if (shells && exchange) mo_sim_air_exchange(sim, &before, true);
    for (int32_t s = 0; s < sim->solid_count; s++) sim->solids[s].pose = sim->solids[s].next;
    MO_TRY(mo_sim_move_elastics(sim, c->dt, err));
    mo_sim_end_motion(sim);
    return MO_OK;
}

// Fields move with their tiles first, while shells are where they were, and then with the shells.
static mo_status settle_fields(mo_sim *sim, const mo_gas_extras *kept, bool shells, uint8_t **fresh, mo_error *err)
{
    MO_TRY(mo_sim_cut_shells(sim, err));
    MO_TRY(mo_sim_settle_air(sim, kept, err));
    if (shells) MO_TRY(mo_sim_move_air(sim, fresh, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    mo_sim_fill_air(sim);
    return MO_OK;
}

mo_status mo_stage_air_settle(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_TRY(mo_sim_check_motion(sim, c->dt, err));
    mo_gas *gas = &sim->air.gas;
    bool shells = !mo_shells_still(&sim->shells), moves = sim->moving || shells;
    bool ghosts = mo_sim_has_ghosts(sim),
         exchange = sim->open || sim->moving || ghosts; // of tiles that are dropped, and under solids that move
    mo_air_sums before = exchange ? mo_sim_air_sums(sim) : (mo_air_sums){0};
    mo_gas_extras kept;
    uint8_t *fresh = NULL;
    if (moves) mo_gas_pack(gas, sim->grid, sim->openings.volume);
    MO_TRY(mo_gas_keep(gas, sim->grid, sim->arena, &kept, err));
    mo_sim_want_air(sim);
    MO_TRY(mo_particles_sort(&sim->particles, sim->grid, sim->arena, err));
    *c = (mo_step_context){.dt = c->dt}; // the data that stages handed on belong to the old tiles
    mo_arena_reset(sim->step_arena);
    MO_TRY(settle_fields(sim, &kept, shells, &fresh, err));
    MO_TRY(mo_sim_openings(sim, sim->time + c->dt, err));
    if (fresh) {
        mo_gas_flux flux = {.area = sim->openings.area, .open = sim->openings.volume};
        MO_TRY(mo_gas_group(sim->grid, &flux, sim->arena, err));
        MO_TRY(mo_gas_fit(gas, sim->grid, &flux, fresh, sim->arena, err));
    }
    if (moves) mo_gas_unpack(gas, sim->grid, sim->openings.volume, sim->scratch.field);
    if (exchange) mo_sim_air_exchange(sim, &before, sim->open || ghosts);
    return MO_OK;
}

// Sources act, and the mass of soot is compared with its account: they differ only by rounding errors.
mo_status mo_stage_air_correct(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    (void)err;
    mo_stats *stats = &sim->stats;
    mo_sim_act_air(sim, sim->time, sim->time + c->dt);
    stats->smoke = mo_sim_air_sums(sim).soot, stats->smoke_target = sim->air.soot;
    stats->smoke_error = stats->smoke_target > 0 ? stats->smoke / stats->smoke_target - 1 : 0;
    stats->tiles = sim->grid->tiles;
    c->correct.before = mo_sim_liquid_sums(sim);
    // The first step has no velocity of an earlier step, with which soot and heat would flow. So the account begins
    // after it.
    if (sim->step == 0) mo_sim_energy_open(sim);
    return MO_OK;
}
