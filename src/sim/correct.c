// Position correction: a projection that moves particles so that their density matches the visible liquid (VOLUME.md).
//
//     -div(w grad q) = err,  x += -grad q      err_c = (rho_c - E_c) / max(K_c, 1/4) - b min(rho_c, 1)
//
// rho: hat density of the particles; E, K: hat integrals of the visible liquid and of open space; b: slow trim of the
// total volume. Velocities are not touched.
#include "grid/levelset.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static const float error_limit = 0.5f, displacement_limit = 0.25f;
static const double trim_seconds = 0.5, trim_limit = 0.03, correction_tolerance = 0.2; // max norm

typedef struct density_sum {
    double squares;
    int64_t cells;
} density_sum;

// Density error in interior cells, at least 2.5 cells deep and off walls.
static double interior_rms(const mo_sim *sim, const float *rho, const float *capacity, const float *depth)
{
    double squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) {
        if (depth[i] > -2.5f || capacity[i] <= 0.999f || sim->field.volume[i] < 1) continue;
        squares += (rho[i] - 1) * (double)(rho[i] - 1);
        count++;
    }
    return count ? sqrt(squares / (double)count) : 0;
}

// The right-hand side, in place of rho.
static void density_error(const mo_sim *sim, float *rho, const float *expected, const float *capacity)
{
    float trim = (float)sim->trim;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(sim->grid); i++) {
        if (sim->field.phase[i] != MO_PHASE_LIQUID) continue;
        float e = (rho[i] - expected[i]) / mo_maxf(capacity[i], 0.25f) - trim * mo_minf(rho[i], 1);
        rho[i] = mo_minf(mo_maxf(e, -error_limit), error_limit);
    }
}

// Solves for the displacement and leaves it, extrapolated, on the faces.
static mo_status solve_displacement(mo_sim *sim, const float *error, mo_error *err)
{
    mo_fields *f = &sim->field;
    mo_pressure_def def = {
        .grid = sim->grid, .phi = f->phi, .liquid = f->phase, .area = f->area, .density = 1, .dt = 1, .dx = 1};
    mo_liquid_system q;
    MO_TRY(mo_pressure_assemble(&def, sim->arena, &q, err));
    mo_block *b = q.system.block[MO_BLOCK_PRESSURE];
    for (int32_t r = 0; r < b->rows; r++) b->rhs[r] = -(double)error[q.cell_at[r]] * f->volume[q.cell_at[r]];
    mo_solver_def solver = sim->def.solver;
    mo_system_info info = {0};
    solver.scheme[0] = 0; // there is only this block
    solver.tolerance = fmax(solver.tolerance, correction_tolerance);
    mo_status status = mo_system_solve(&q.system, &solver, &info, err);
    sim->stats.correction_iterations = info.solve.iterations;
    sim->stats.fallbacks += info.fallbacks;
    int64_t cells = mo_grid_cells(sim->grid);
    for (int a = 0; a < 3; a++) {
        memset(f->u[a], 0, sizeof(float) * (size_t)cells);
        memset(f->valid[a], 0, (size_t)cells);
    }
    mo_liquid_scatter(&q, f->u, f->valid);
    mo_liquid_destroy(&q);
    mo_sim_fix_walls(sim);
    mo_sim_emitter_hold(sim, sim->time + sim->dt);
    for (int a = 0; a < 3; a++) mo_extrapolate(sim->grid, f->u[a], f->valid[a], 2, 0, f->scratch[0], f->bytes);
    return status;
}

// The visible level set (closing: redistanced, then shifted back from the pressure radius), what density it asks for,
// and what density there is. Fields: phi, depth (redistanced), rho, expected, capacity, spare. Returns the visible
// volume in cells.
typedef struct density {
    float *phi, *depth, *rho, *expected, *capacity, *spare;
    uint8_t *bytes;
} density;

static double measure_density(const mo_sim *sim, const density *d)
{
    const mo_grid *g = sim->grid;
    mo_surface_walls walls = mo_sim_walls(sim);
    mo_surface_union(&sim->particles, g, sim->radii.pressure, &walls, d->phi, d->spare, d->bytes);
    // rho, expected and capacity are free until below.
    mo_surface_flood(g, d->phi, sim->field.distance, 2, d->spare, d->capacity);
    mo_redistance_inside(g, d->spare, 3, d->depth, d->rho);
    float shift = sim->radii.pressure - sim->radii.visible;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++) d->spare[i] = d->depth[i] + shift;
    double volume = mo_surface_expected(g, d->spare, sim->field.volume, d->expected, d->capacity);
    mo_transfer_density(&sim->particles, g, d->rho);
    return volume;
}

mo_status mo_sim_density_rms(const mo_sim *sim, double *rms, mo_error *err)
{
    size_t cells = (size_t)mo_grid_cells(sim->grid);
    float *f = mo_alloc(cells * (6 * sizeof(float) + 2));
    if (!f) return mo_fail_memory(err);
    density d = {f, f + cells, f + 2 * cells, f + 3 * cells, f + 4 * cells, f + 5 * cells, (uint8_t *)(f + 6 * cells)};
    measure_density(sim, &d);
    *rms = interior_rms(sim, d.rho, d.capacity, d.depth);
    mo_free(f);
    return MO_OK;
}

mo_status mo_sim_correct(mo_sim *sim, mo_error *err)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    mo_stats *stats = &sim->stats;
    // Face velocities are not needed any more: u[0] holds the depth.
    density d = {f->phi, f->u[0], f->scratch[1], f->scratch[2], f->scratch[3], f->scratch[0], f->bytes};
    double volume = measure_density(sim, &d), target = mo_particles_volume(&sim->particles),
           cell = g->dx * g->dx * g->dx;
    stats->volume = volume * cell;
    stats->volume_target = target * cell;
    stats->volume_error = target > 0 ? volume / target - 1 : 0;
    stats->density_rms = interior_rms(sim, d.rho, d.capacity, d.depth);
    if (!sim->def.correct_volume || sim->particles.count == 0) return MO_OK;
    sim->trim += sim->dt * stats->volume_error / trim_seconds;
    sim->trim = fmin(fmax(sim->trim, -trim_limit), trim_limit);
    MO_TRY(mo_surface_phase(&sim->particles, g, f->phi, f->area, f->phase, sim->arena, err));
    density_error(sim, d.rho, d.expected, d.capacity);
    MO_TRY(solve_displacement(sim, d.rho, err));
    mo_faces faces = {.u = {f->u[0], f->u[1], f->u[2]}};
    stats->clamped = mo_transfer_displace(&sim->particles, g, &faces, displacement_limit);
    mo_sim_collide(sim, false);
    return MO_OK;
}
