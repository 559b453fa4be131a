// Stage `fractions`: the open parts of cells and faces; for viscous liquids also the volume weights and the viscosity
// on the grid.
#include "fluid/rheology.h"
#include "grid/sites.h"
#include "sim/slits.h"
#include <math.h>
#include <string.h>

// ---- Openings ----

// Makes room for the covers of the tiles near solids.
static mo_status reserve_covers(mo_sim *sim, mo_error *err)
{
    mo_openings *o = &sim->openings;
    const mo_grid *g = sim->grid;
    const double reach = 10.2 * g->dx; // of a tile's corners, and a cell
    mo_solid_set solids = mo_sim_solid_set(sim);
    int64_t count = 0;
    if (sim->solid_count == 0 || sim->weighed) return MO_OK;
    if (g->tiles + 1 > sim->cover_tiles) {
        mo_free(sim->cover_first);
        sim->cover_tiles = g->tiles + 1 + g->tiles / 4;
        sim->cover_first = mo_alloc(sizeof(int32_t) * (size_t)sim->cover_tiles);
        if (!sim->cover_first) return sim->cover_tiles = 0, mo_fail_memory(err);
    }
    for (int fill = 0; fill < 2; fill++) {
        if (fill && count > sim->cover_capacity) {
            mo_free(o->cover), mo_free(o->spare);
            sim->cover_capacity = count + count / 4 + 8;
            o->cover = mo_alloc(sizeof(mo_cover) * (size_t)sim->cover_capacity);
            o->spare = mo_alloc(sizeof(mo_spare) * (size_t)sim->cover_capacity);
            if (!o->cover || !o->spare) return sim->cover_capacity = 0, mo_fail_memory(err);
        }
        count = 0;
        for (int32_t t = 0; t < g->tiles; t++) {
            const int32_t *c = g->coord[t];
            sim->cover_first[t] = (int32_t)count;
            mo_vec3 x = mo_grid_world(g, 8 * c[0] + 4, 8 * c[1] + 4, 8 * c[2] + 4);
            for (int32_t s = 0; s < sim->solid_count; s++) {
                if (!mo_solid_near(&solids, s, x, reach)) continue;
                if (fill) o->cover[count].tile = t, o->cover[count].solid = s;
                count++;
            }
        }
        sim->cover_first[g->tiles] = (int32_t)count;
    }
    o->first = sim->cover_first;
    return MO_OK;
}

mo_status mo_sim_openings(mo_sim *sim, double time, mo_error *err)
{
    MO_ASSERT(mo_grid_fields(sim->grid) <= sim->field_cells);
    MO_TRY(reserve_covers(sim, err));
    mo_solid_set set = mo_sim_solid_set(sim);
    mo_openings_compute(sim->grid, &set, &sim->openings);
    MO_TRY(mo_sim_find_slits(sim, err));
    mo_sim_close_slits(sim);
    mo_sim_emitter_openings(sim, time);
    mo_sim_open_shells(sim);
    mo_sim_open_to_wind(sim);
    return MO_OK;
}

// ---- Viscosity of cells ----

static const float thinnest = 1e-12f; // Pa s: less is none

// Harmonic means at cells, because the thinner part of a mixture does the shearing.
static void spread_viscosity(const mo_sim *sim, float *value, float *eta)
{
    const mo_particles *p = &sim->particles;
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++) value[q] = 1 / mo_maxf(p->viscosity[q], thinnest);
    mo_transfer_mean(p, sim->grid, value, eta, sim->scratch.field[0]);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_fields(sim->grid); i++)
        eta[i] = eta[i] == 0 ? -1 : 1 / eta[i] > 1000 * thinnest ? 1 / eta[i] : 0;
    if (!p->deep) return;
    float all = (float)sim->least_viscosity; // there is one viscosity where there are deep cells
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++)
        if (p->deep[i]) eta[i] = all > 1000 * thinnest ? all : 0;
}

static mo_rheology rheology_of(const mo_sim *sim, int32_t source, float viscosity)
{
    MO_ASSERT(source >= 0 && source < sim->def.liquid_count + sim->def.emitter_count);
    int32_t liquids = sim->def.liquid_count;
    mo_rheology r = source < liquids ? sim->liquids[source].rheology : sim->emitters[source - liquids].rheology;
    if (r.consistency == 0 && r.yield_stress == 0) r = (mo_rheology){viscosity, 1, 0, 1}; // Newtonian
    if (r.threshold == 0) r.threshold = 1; // liquids that may go without a threshold do not depend on it
    return r;
}

static void spread_rheology(const mo_sim *sim, float *value, float *const parameter[4], float *eta)
{
    const mo_particles *p = &sim->particles;
    for (int k = 0; k < 4; k++) {
#pragma omp parallel for schedule(static)
        for (int32_t q = 0; q < p->count; q++) {
            mo_rheology r = rheology_of(sim, (int32_t)p->material[q], p->viscosity[q]);
            const double part[4] = {r.consistency, r.flow_index, r.yield_stress, r.threshold};
            value[q] = (float)part[k];
        }
        mo_transfer_mean(p, sim->grid, value, parameter[k], sim->scratch.field[0]);
    }
    // Rows are made where there is a viscosity. It is that at rest, until the first round finds that of the flow.
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(sim->grid); i++) {
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
// density divided by the open part. So no film is lost, and none is lighter than the particles that take its velocity.
static void weigh_films(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    const mo_scratch *scratch = &sim->scratch;
    uint8_t *thin = scratch->bytes + mo_grid_fields(g);
    float *part = scratch->field[3], *capacity = scratch->field[2];
    mo_surface_thin(g, sim->level.phi, sim->openings.distance, scratch->bytes, thin);
    mo_transfer_density(&sim->particles, g, part);
    mo_surface_expected(g, sim->level.phi, sim->openings.volume, scratch->field[1], capacity);
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

mo_status mo_sim_weights(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    if (c->fractions.weights) return MO_OK;
    c->fractions.weights = &sim->weights;
    MO_TRY(mo_sim_continue_surface(sim, c, &solids, err));
    const float *surface = c->fractions.surface ? c->fractions.surface : sim->level.phi;
    return mo_weights_compute(sim->grid, surface, &solids, &sim->weights, err);
}

static mo_status weigh(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    float *value = MO_ARENA_ARRAY(sim->arena, float, sim->particles.count + 1);
    if (!value) return mo_fail_memory(err);
    MO_TRY(mo_sim_floats(sim, sim->step_arena, 1, &c->fractions.viscosity, err));
    spread_viscosity(sim, value, c->fractions.viscosity);
    if (sim->non_newtonian) {
        MO_TRY(mo_sim_floats(sim, sim->step_arena, 4, c->fractions.parameter, err));
        spread_rheology(sim, value, c->fractions.parameter, c->fractions.viscosity);
    }
    if (!sim->weighed) return MO_OK;
    MO_TRY(mo_sim_weights(sim, c, err));
    mo_solid_set solids = mo_sim_solid_set(sim);
    MO_TRY(mo_sim_find_excess(sim, c, &solids, err));
    weigh_films(sim);
    for (int32_t k = 0; k < sim->slits.count; k++) sim->weights.fluid[MO_SAMPLE_CELL][sim->slits.slit[k].cell] = 0;
    return MO_OK;
}

// Viscous liquids have no openings at emitters: their faces there are prescribed.
static mo_status prescribe(const mo_sim *sim, mo_step_context *c, mo_error *err)
{
    if (!sim->def.emitter_count) return MO_OK;
    uint8_t **prescribed = c->fractions.prescribed;
    float *const *u = c->transfer.u;
    MO_TRY(mo_sim_bytes(sim, sim->step_arena, 3, prescribed, err));
    for (int a = 0; a < 3; a++) memset(prescribed[a], 0, (size_t)mo_grid_cells(sim->grid));
    mo_faces faces = {{u[0], u[1], u[2]}, {prescribed[0], prescribed[1], prescribed[2]}};
    mo_sim_emitter_prescribe(sim, sim->time, &faces);
    return MO_OK;
}

// Openings were made for these poses when the particles were sorted; scripted solids now also sweep.
mo_status mo_stage_fractions(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    if (sim->moving) MO_TRY(mo_sim_openings(sim, sim->time, err));
    mo_solid_set solids = mo_sim_solid_set(sim);
    MO_TRY(mo_sim_continue_surface(sim, c, &solids, err));
    if (!sim->viscous) return mo_sim_find_excess(sim, c, &solids, err);
    MO_TRY(weigh(sim, c, err));
    return sim->weighed ? prescribe(sim, c, err) : MO_OK;
}
