// Stage `assemble`: the system of the step, inviscid (cut cells, ghost fluid) or viscous (volume weights).
#include "fluid/tension.h"
#include "sim/slits.h"
#include <math.h>
#include <string.h>

mo_stress_def mo_sim_stress_def(const mo_sim *sim, const mo_step_context *c, const mo_solid_set *solids)
{
    const mo_solver_def *solver = &sim->def.solver;
    const char *scheme = solver->scheme[0] ? solver->scheme : "PV-unified";
    return (mo_stress_def){.grid = sim->grid,
                           .weights = c->fractions.weights,
                           .solids = solids,
                           .viscosity = c->fractions.viscosity,
                           .fixed = c->fractions.prescribed[0] ? (const uint8_t *const *)c->fractions.prescribed : NULL,
                           .u = c->transfer.u,
                           .density = sim->density,
                           .gravity = sim->def.gravity,
                           .excess = c->fractions.excess,
                           .dt = c->dt,
                           .clamp = solver->raw_weights ? 0 : mo_weight_clamp,
                           .reduced = solver->decoupled_stress == MO_DECOUPLED_REDUCED ||
                                      mo_scheme_couples(scheme, MO_BLOCK_PRESSURE, MO_BLOCK_STRESS)};
}

static mo_status assemble_viscous(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stress_def def = mo_sim_stress_def(sim, c, &solids);
    mo_slits slits;
    MO_TRY(mo_sim_slits(sim, sim->arena, &slits, err));
    def.slits = &slits;
    return mo_stress_assemble(&def, sim->arena, &c->assemble.liquid, err);
}

mo_pressure_def mo_sim_pressure_def(const mo_sim *sim, const mo_step_context *c, const mo_solid_set *solids)
{
    const mo_openings *o = &sim->openings;
    return (mo_pressure_def){.grid = sim->grid,
                             .phi = c->fractions.surface ? c->fractions.surface : sim->level.press,
                             .liquid = c->transfer.phase,
                             .area = o->area,
                             .flux = sim->moving || sim->def.emitter_count || sim->air.present ? o->flux : NULL,
                             .density = sim->density,
                             .dt = c->dt,
                             .dx = sim->grid->dx,
                             .solids = solids,
                             .cover = o->cover,
                             .spare = o->spare,
                             .open = o->volume,
                             .sheet = mo_shells_still(&sim->shells) ? NULL : (const double(*)[3])sim->shells.velocity,
                             .sheet_at = (const double(*)[3])sim->shells.all.position,
                             .sheet_solid = sim->shells.solid,
                             .sheet_node = sim->shells.node,
                             .gravity = mo_sim_fall(sim),
                             .excess = c->fractions.excess,
                             .covers = o->first ? o->first[sim->grid->tiles] : 0};
}

mo_sheet_stress_def mo_sim_sheet_stress_def(const mo_sim *sim, const mo_step_context *c,
                                            const mo_pressure_def *pressure)
{
    return (mo_sheet_stress_def){.pressure = pressure,
                                 .viscosity = c->fractions.viscosity,
                                 .volume = sim->openings.volume,
                                 .slip = sim->shells.slip,
                                 .reduced = mo_sim_stress_def(sim, c, pressure->solids).reduced,
                                 .varies = sim->non_newtonian};
}

static mo_status assemble_inviscid(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def def = mo_sim_pressure_def(sim, c, &solids);
    mo_slits slits;
    MO_TRY(mo_sim_slits(sim, sim->arena, &slits, err));
    def.slits = &slits;
    MO_TRY(mo_pressure_assemble(&def, sim->arena, &c->assemble.liquid, err));
    mo_liquid_gather(&c->assemble.liquid, c->transfer.u);
    if (sim->air.present) mo_sim_set_air_gaps(sim, c->dt, &c->assemble.liquid);
    // Masses are fitted for the sake of bodies.
    return sim->air.present || (sim->shells.count && !sim->bodies && !sim->elastics.count)
               ? MO_OK
               : mo_sim_fit_masses(sim, c, err);
}

// Where there are shells, stress joins the pressure of cut cells.
static mo_status assemble_sheets(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_TRY(assemble_inviscid(sim, c, err));
    if (!sim->viscous) return MO_OK;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def pressure = mo_sim_pressure_def(sim, c, &solids);
    mo_sheet_stress_def def = mo_sim_sheet_stress_def(sim, c, &pressure);
    return mo_sheet_stress_add(&def, sim->arena, &c->assemble.liquid, err);
}

// ---- Surface tension ----

// Finds the liquid part of each of the system's faces, and which cells do not have the pressure of a mostly liquid
// cell.
static void find_wet(const mo_sim *sim, const mo_step_context *c, float *const wet[3], uint8_t *air)
{
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.press;
    const mo_liquid_system *l = &c->assemble.liquid;
    const mo_weights *weights = c->fractions.weights;
    double clamp = sim->def.solver.raw_weights ? 0 : mo_weight_clamp;
    for (int a = 0; a < 3; a++) memset(wet[a], 0, sizeof(float) * (size_t)mo_grid_cells(g));
    memset(air, 1, (size_t)mo_grid_cells(g));
    for (int32_t k = 0; k < l->system.faces.count; k++) {
        int32_t axis = mo_face_axis(l->face_at[k]), i = mo_face_sample(l->face_at[k]),
                low = mo_grid_step(g, i, axis, -1);
        wet[axis][i] = (float)(sim->weighed ? fmax(weights->liquid[MO_SAMPLE_FACE + axis][i], clamp)
                                            : mo_theta(low < 0 ? 1 : phi[low], phi[i], mo_theta_minimum));
    }
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) {
        int32_t i = l->cell_at[r];
        air[i] = sim->weighed && weights->liquid[MO_SAMPLE_CELL][i] < 0.5f;
    }
}

// The hat density of the level set, and in films that of the particles; in a scratch field.
static const float *surface_density(const mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    uint8_t *thin = scratch->bytes + mo_grid_fields(g);
    float *expected = scratch->field[1], *density = scratch->field[2];
    mo_surface_expected(g, sim->level.phi, sim->openings.volume, expected, density);
    mo_transfer_density(&sim->particles, g, density);
    mo_surface_thin(g, sim->level.phi, sim->openings.distance, scratch->bytes, thin);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++)
        if (thin[i]) expected[i] = density[i];
    return expected;
}

// Only the system's velocities take the pull; fields stay as they were before it. The solve cancels most of the pull,
// so pull and solve count as one change (fluid/balance.h).
static mo_status pull_surface(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    const mo_scratch *scratch = &sim->scratch;
    size_t cells = (size_t)mo_grid_cells(sim->grid);
    float *pulled[3];
    MO_TRY(mo_sim_floats(sim, sim->arena, 3, pulled, err));
    for (int a = 0; a < 3; a++) memcpy(pulled[a], c->transfer.u[a], sizeof(float) * cells);
    mo_surface_walls walls = mo_sim_walls(sim);
    float *kappa = scratch->field[3];
    MO_TRY(mo_curvature(&sim->particles, sim->grid, surface_density(sim), &walls, kappa, sim->arena, err));
    find_wet(sim, c, scratch->field, scratch->bytes);
    mo_tension_def def = {sim->grid, kappa, scratch->bytes, scratch->field, sim->surface_tension, sim->density, c->dt};
    mo_tension_apply(&def, pulled);
    mo_liquid_gather(&c->assemble.liquid, pulled);
    return MO_OK;
}

mo_status mo_stage_assemble(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    MO_TRY(sim->weighed ? assemble_viscous(sim, c, err) : assemble_sheets(sim, c, err));
    if (sim->surface_tension > 0) MO_TRY(pull_surface(sim, c, err));
    MO_TRY(sim->air.present ? mo_sim_push_bodies(sim, c->dt, &c->assemble.liquid, err)
                            : mo_sim_lift_at_walls(sim, c->dt, &c->assemble.liquid, err));
    return mo_sim_add_bodies(sim, c, err);
}
