// Stage `assemble`: the system of the step, inviscid (cut cells, ghost fluid) or viscous (volume weights).
#include "fluid/tension.h"
#include "grid/levelset.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

mo_stokes_def mo_sim_stokes_def(const mo_sim *sim, const mo_solid_set *solids)
{
    const mo_fields *f = &sim->field;
    const mo_solver_def *solver = &sim->def.solver;
    const char *scheme = solver->scheme[0] ? solver->scheme : "PV-unified";
    return (mo_stokes_def){.grid = sim->grid,
                           .weights = &sim->weights,
                           .solids = solids,
                           .viscosity = f->viscosity,
                           .fixed = sim->def.emitter_count ? (const uint8_t *const *)f->valid : NULL,
                           .u = f->u,
                           .density = sim->density,
                           .dt = sim->dt,
                           .clamp = solver->raw_weights ? 0 : mo_weight_clamp,
                           .reduced = mo_scheme_couples(scheme, MO_BLOCK_PRESSURE, MO_BLOCK_STRESS)};
}

static mo_status assemble_viscous(mo_sim *sim, mo_error *err)
{
    mo_fields *f = &sim->field;
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_stokes_def def = mo_sim_stokes_def(sim, &solids);
    for (int a = 0; a < 3; a++) memset(f->valid[a], 0, (size_t)mo_grid_cells(sim->grid));
    mo_sim_emitter_fix(sim, sim->time);
    return mo_stokes_assemble(&def, sim->arena, &sim->stokes, err);
}

mo_pressure_def mo_sim_pressure_def(const mo_sim *sim, const mo_solid_set *solids)
{
    const mo_fields *f = &sim->field;
    return (mo_pressure_def){.grid = sim->grid,
                             .phi = sim->level.press,
                             .liquid = f->phase,
                             .area = f->area,
                             .flux = sim->moving || sim->def.emitter_count ? f->flux : NULL,
                             .density = sim->density,
                             .dt = sim->dt,
                             .dx = sim->grid->dx,
                             .solids = solids,
                             .cover = sim->cover,
                             .spare = sim->spare,
                             .covers = sim->bodies && !sim->viscous ? sim->cover_first[sim->grid->tiles] : 0};
}

static mo_status assemble_inviscid(mo_sim *sim, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def def = mo_sim_pressure_def(sim, &solids);
    MO_TRY(mo_pressure_assemble(&def, sim->arena, &sim->stokes.liquid, err));
    mo_liquid_gather(&sim->stokes.liquid, sim->field.u);
    return MO_OK;
}

// ---- Surface tension ----

// Liquid part of each of the system's faces, and which cells have no pressure of a mostly liquid cell.
static void find_wet(const mo_sim *sim, float *const wet[3], uint8_t *air)
{
    const mo_grid *g = sim->grid;
    const float *phi = sim->level.press;
    const mo_liquid_system *l = &sim->stokes.liquid;
    double clamp = sim->def.solver.raw_weights ? 0 : mo_weight_clamp;
    for (int a = 0; a < 3; a++) memset(wet[a], 0, sizeof(float) * (size_t)mo_grid_cells(g));
    memset(air, 1, (size_t)mo_grid_cells(g));
    for (int32_t k = 0; k < l->system.faces.count; k++) {
        int32_t axis = l->face_at[k] % 3, i = l->face_at[k] / 3, low = mo_grid_step(g, i, axis, -1);
        wet[axis][i] = (float)(sim->viscous ? fmax(sim->weights.liquid[MO_SAMPLE_FACE + axis][i], clamp)
                                            : mo_theta(low < 0 ? 1 : phi[low], phi[i], mo_theta_minimum));
    }
    for (int32_t r = 0; r < l->system.block[MO_BLOCK_PRESSURE]->rows; r++) {
        int32_t i = l->cell_at[r];
        air[i] = sim->viscous && sim->weights.liquid[MO_SAMPLE_CELL][i] < 0.5f;
    }
}

// The level set's hat density; of films the particles'. Into scratch[1].
static const float *surface_density(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    uint8_t *thin = f->bytes + mo_grid_cells(g);
    mo_surface_expected(g, sim->level.phi, f->volume, f->scratch[1], f->scratch[2]);
    mo_transfer_density(&sim->particles, g, f->scratch[2]);
    mo_surface_thin(g, sim->level.phi, f->distance, f->bytes, thin);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++)
        if (thin[i]) f->scratch[1][i] = f->scratch[2][i];
    return f->scratch[1];
}

// Only the system's velocities take the pull. Fields stay as they were before it: what the solve, which takes most of
// the pull back, changes with it is one change (fluid/balance.h).
static mo_status pull_surface(mo_sim *sim, mo_error *err)
{
    mo_fields *f = &sim->field;
    size_t cells = (size_t)mo_grid_cells(sim->grid);
    float *pulled[3];
    for (int a = 0; a < 3; a++) {
        if (!(pulled[a] = MO_ARENA_ARRAY(sim->arena, float, cells + 1))) return mo_fail_memory(err);
        memcpy(pulled[a], f->u[a], sizeof(float) * cells);
    }
    mo_surface_walls walls = mo_sim_walls(sim);
    float *kappa = f->scratch[3];
    MO_TRY(mo_curvature(&sim->particles, sim->grid, surface_density(sim), &walls, kappa, sim->arena, err));
    find_wet(sim, f->scratch, f->bytes);
    mo_tension_def def = {sim->grid, kappa, f->bytes, f->scratch, sim->surface_tension, sim->density, sim->dt};
    mo_tension_apply(&def, pulled);
    mo_liquid_gather(&sim->stokes.liquid, pulled);
    return MO_OK;
}

mo_status mo_stage_assemble(mo_sim *sim, mo_error *err)
{
    MO_TRY(sim->viscous ? assemble_viscous(sim, err) : assemble_inviscid(sim, err));
    if (sim->surface_tension > 0) MO_TRY(pull_surface(sim, err));
    return mo_sim_add_bodies(sim, err);
}
