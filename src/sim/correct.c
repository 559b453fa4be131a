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
static const double trim_seconds = 0.5, trim_limit = 0.03, correction_tolerance = 0.1;

typedef struct density_sum {
    double squares;
    int64_t cells;
} density_sum;

// The right-hand side, in place of rho; and the rms of rho in interior cells.
static double density_error(mo_sim *sim, float *rho, const float *expected, const float *capacity, const float *depth)
{
    const mo_grid *g = sim->grid;
    double squares = 0, trim = sim->trim;
    int64_t count = 0;
    for (int32_t t = 0; t < g->tiles; t++)
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            if (sim->field.phase[i] != MO_PHASE_LIQUID) continue;
            if (depth[i] <= -2.5f && capacity[i] > 0.999f) squares += (rho[i] - 1) * (double)(rho[i] - 1), count++;
            float e = (rho[i] - expected[i]) / fmaxf(capacity[i], 0.25f) - (float)trim * fminf(rho[i], 1);
            rho[i] = fminf(fmaxf(e, -error_limit), error_limit);
        }
    return count ? sqrt(squares / (double)count) : 0;
}

// Solves for the displacement and leaves it, extrapolated, on the faces.
static mo_status solve_displacement(mo_sim *sim, const float *error, mo_error *err)
{
    mo_fields *f = &sim->field;
    mo_pressure_def def = {sim->grid, f->phi, f->phase, f->area, NULL, 1, 1, 1};
    mo_pressure q;
    MO_TRY(mo_pressure_assemble(&def, sim->arena, &q, err));
    mo_block *b = q.system.block[MO_BLOCK_PRESSURE];
    for (int32_t r = 0; r < b->rows; r++) b->rhs[r] = -(double)error[q.cell_at[r]] * f->volume[q.cell_at[r]];
    mo_solver_def solver = sim->def.solver;
    mo_system_info info;
    solver.tolerance = fmax(solver.tolerance, correction_tolerance);
    mo_status status = mo_system_solve(&q.system, &solver, &info, err);
    sim->stats.correction_iterations = info.solve.iterations;
    int64_t cells = mo_grid_cells(sim->grid);
    for (int a = 0; a < 3; a++) {
        memset(f->u[a], 0, sizeof(float) * (size_t)cells);
        memset(f->valid[a], 0, (size_t)cells);
    }
    mo_pressure_scatter(&q, f->u);
    for (int32_t k = 0; k < q.system.faces; k++) f->valid[q.face_at[k] % 3][q.face_at[k] / 3] = 1;
    mo_pressure_destroy(&q);
    mo_sim_fix_walls(sim);
    for (int a = 0; a < 3; a++) mo_extrapolate(sim->grid, f->u[a], f->valid[a], 2, f->scratch[0], f->bytes);
    return status;
}

mo_status mo_sim_correct(mo_sim *sim, mo_error *err)
{
    const mo_grid *g = sim->grid;
    mo_fields *f = &sim->field;
    bool open[6];
    for (int w = 0; w < 6; w++) open[w] = sim->def.domain.walls[w] == MO_WALL_OPEN;
    float *visible = f->scratch[0], *expected = f->scratch[2], *capacity = f->scratch[3], *rho = f->scratch[1],
          *depth = f->u[0];
    mo_surface_union(&sim->particles, g, sim->radii.pressure, f->distance, open, f->phi, f->scratch[0], f->bytes);
    // Visible level set: the closing. Shift back from the pressure radius after redistancing.
    mo_redistance_inside(g, f->phi, 3, depth, f->scratch[1]);
    float shift = sim->radii.pressure - sim->radii.visible;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(g); i++) visible[i] = depth[i] + shift;
    double volume = mo_surface_expected(g, visible, f->volume, expected, capacity),
           target = mo_particles_volume(&sim->particles);
    double cell = g->dx * g->dx * g->dx;
    sim->stats.volume = volume * cell;
    sim->stats.volume_target = target * cell;
    sim->stats.volume_error = target > 0 ? volume / target - 1 : 0;
    if (!sim->def.correct_volume || sim->particles.count == 0) return MO_OK;
    sim->trim += sim->dt * sim->stats.volume_error / trim_seconds;
    sim->trim = fmin(fmax(sim->trim, -trim_limit), trim_limit);
    MO_TRY(mo_surface_phase(&sim->particles, g, f->phi, f->area, f->phase, sim->arena, err));
    mo_transfer_density(&sim->particles, g, rho);
    sim->stats.density_rms = density_error(sim, rho, expected, capacity, depth);
    MO_TRY(solve_displacement(sim, rho, err));
    mo_faces faces = {.u = {f->u[0], f->u[1], f->u[2]}};
    sim->stats.clamped = mo_transfer_displace(&sim->particles, g, &faces, displacement_limit);
    mo_sim_collide(sim);
    return MO_OK;
}
