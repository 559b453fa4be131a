// The system of a step: inviscid (cut cells, ghost fluid) or viscous (volume weights), and what it needs on the grid.
#include "fluid/rheology.h"
#include "fluid/tension.h"
#include "grid/levelset.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// ---- Viscosity of particles and cells ----

static bool varies(const mo_sim *sim, int32_t source)
{
    int32_t liquids = sim->def.liquid_count;
    return source < liquids ? sim->liquids[source].viscosity_varies : sim->emitters[source - liquids].viscosity_varies;
}

mo_status mo_sim_vary_viscosity(mo_sim *sim, mo_error *err)
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

static const float thinnest = 1e-12f; // Pa s: less is none

// Harmonic means at cells: what shears is the thinner part of a mixture.
static void spread_viscosity(mo_sim *sim, float *value)
{
    const mo_particles *p = &sim->particles;
    float *eta = sim->field.viscosity;
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) value[q] = 1 / mo_maxf(p->viscosity[q], thinnest);
    mo_transfer_mean(p, sim->grid, value, eta, sim->field.scratch[0]);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++)
        eta[i] = eta[i] == 0 ? -1 : 1 / eta[i] > 1000 * thinnest ? 1 / eta[i] : 0;
}

static mo_rheology rheology_of(const mo_sim *sim, int32_t source, float viscosity)
{
    int32_t liquids = sim->def.liquid_count;
    mo_rheology r = source < liquids ? sim->liquids[source].rheology : sim->emitters[source - liquids].rheology;
    if (r.consistency == 0 && r.yield_stress == 0) r = (mo_rheology){viscosity, 1, 0, 1}; // Newtonian
    if (r.threshold == 0) r.threshold = 1; // which matters to none that may do without
    return r;
}

static void spread_rheology(mo_sim *sim, float *value)
{
    const mo_particles *p = &sim->particles;
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for schedule(static)
        for (int32_t q = 0; q < p->count; q++) {
            mo_rheology r = rheology_of(sim, (int32_t)p->material[q], p->viscosity[q]);
            const double part[4] = {r.consistency, r.flow_index, r.yield_stress, r.threshold};
            value[q] = (float)part[k];
        }
        mo_transfer_mean(p, sim->grid, value, sim->field.parameter[k], sim->field.scratch[0]);
    }
    // Rows are made where there is a viscosity: that of rest, until the first round finds the flow's.
    float *const *parameter = sim->field.parameter, *eta = sim->field.viscosity;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) {
        mo_rheology r = {parameter[0][i], parameter[1][i], parameter[2][i], parameter[3][i]};
        if (eta[i] >= 0) eta[i] = (float)mo_rheology_viscosity(&r, 0);
    }
}

// ---- Films ----

// The mean of the liquid's part over the cells (2, or 4 round an edge) that share a sample; false unless all are thin.
static bool film_part(const mo_grid *g, const uint8_t *thin, const float *part, int32_t i, int kind, float *mean)
{
    int axis[2] = {kind - MO_SAMPLE_FACE, -1}, count = 1;
    if (kind >= MO_SAMPLE_EDGE) {
        axis[0] = (kind - MO_SAMPLE_EDGE + 1) % 3, axis[1] = (kind - MO_SAMPLE_EDGE + 2) % 3;
        count = 2;
    }
    float sum = 0;
    for (int s = 0; s < 1 << count; s++) {
        int32_t n = i;
        for (int k = 0; k < count && n >= 0; k++)
            if (s >> k & 1) n = mo_grid_step(g, n, axis[k], -1);
        if (n >= 0 && !thin[n]) return false;
        if (n >= 0) sum += part[n];
    }
    *mean = sum / (float)(1 << count);
    return true;
}

// Liquid too thin for the level set to show weighs what its particles weigh: its part of a cell is the particles'
// density by what of it is open. So no film is lost, and none is lighter than the particles that take its velocity.
static void weigh_films(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    uint8_t *thin = f->bytes + mo_grid_cells(g);
    float *part = f->scratch[3], *capacity = f->scratch[2];
    mo_surface_thin(g, sim->level.phi, f->distance, f->bytes, thin);
    mo_transfer_density(&sim->particles, g, part);
    mo_surface_expected(g, sim->level.phi, f->volume, f->scratch[1], capacity);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++) part[i] = mo_minf(part[i] / mo_maxf(capacity[i], 0.25f), 1);
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++) {
        float *weight = sim->weights.liquid[kind];
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
            if (!thin[i] || (mo_grid_is_2d(g) && (i >> 6 & 7) != MO_MARGIN)) continue;
            float mean;
            if (kind == MO_SAMPLE_CELL)
                weight[i] = part[i];
            else if (film_part(g, thin, part, i, kind, &mean))
                weight[i] = mean;
        }
    }
}

mo_status mo_sim_weigh(mo_sim *sim, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    float *value = MO_ARENA_ARRAY(sim->arena, float, sim->particles.count + 1);
    if (!value) return mo_fail_memory(err);
    spread_viscosity(sim, value);
    if (sim->non_newtonian) spread_rheology(sim, value);
    MO_TRY(mo_weights_compute(sim->grid, sim->level.phi, &solids, &sim->weights, err));
    weigh_films(sim);
    return MO_OK;
}

// ---- Assembly ----

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

mo_status mo_sim_assemble(mo_sim *sim, mo_error *err)
{
    MO_TRY(sim->viscous ? assemble_viscous(sim, err) : assemble_inviscid(sim, err));
    if (sim->surface_tension > 0) MO_TRY(pull_surface(sim, err));
    return mo_sim_add_bodies(sim, err);
}
