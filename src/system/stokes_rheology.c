// Viscosity that depends on the flow, renewed between rounds (MO Algorithm 2).
#include "base/parallel.h"
#include "fluid/rheology.h"
#include "system/stokes.h"
#include <math.h>

// Mean of a parameter over the cells round a sample that know it (viscosity >= 0, as for the viscosity itself).
static mo_rheology parameters_at(const mo_stokes_rheology *r, int32_t sample)
{
    int32_t i = sample >> 3, kind = sample & 7, cell[4] = {i, -1, -1, -1};
    double sum[4] = {0}, n = 0;
    if (kind >= MO_STRESS_YZ) {
        int b = kind == MO_STRESS_YZ, c = kind == MO_STRESS_XY ? 1 : 2;
        cell[1] = mo_grid_step(r->grid, i, b, -1), cell[2] = mo_grid_step(r->grid, i, c, -1);
        cell[3] = cell[1] < 0 ? -1 : mo_grid_step(r->grid, cell[1], c, -1);
    }
    for (int k = 0; k < 4; k++) {
        if (cell[k] < 0 || r->known[cell[k]] < 0) continue;
        for (int q = 0; q < 4; q++) sum[q] += r->parameter[q][cell[k]];
        n++;
    }
    return (mo_rheology){sum[0] / n, sum[1] / n, sum[2] / n, sum[3] / n};
}

double mo_stokes_renew(void *user, mo_system *system, int32_t round)
{
    const mo_stokes_rheology *r = user;
    mo_stokes *s = r->stokes;
    int32_t rows = system->block[MO_BLOCK_STRESS]->rows;
    size_t mark = mo_arena_mark(r->arena);
    double *rate = MO_ARENA_ARRAY(r->arena, double, rows + 1), *viscosity = MO_ARENA_ARRAY(r->arena, double, rows + 1),
           change = -1; // no memory
    if (!rate || !viscosity) return change;
    // The shear rate of u* first, then that of the stresses just found.
    if (round == 0)
        mo_stokes_strain_of(s, system->velocity, viscosity);
    else
        mo_stokes_strain(s, viscosity);
    if (mo_shear_rate(r->grid, s, viscosity, r->reduced, r->arena, rate, NULL) == MO_OK) {
#pragma omp parallel for schedule(static)
        for (int32_t i = 0; i < rows; i++) {
            mo_rheology p = parameters_at(r, s->sample_at[i]);
            double eta = mo_rheology_viscosity(&p, rate[i]);
            viscosity[i] = eta < 1e-12 ? 1e-12 : eta; // a NaN stays one
            rate[i] = fabs(viscosity[i] - s->viscosity[i]) / fmax(viscosity[i], s->viscosity[i]);
        }
        change = rows ? mo_sum(rows, rate) / rows : 0;
        mo_stokes_set_viscosity(s, viscosity);
    }
    mo_arena_release(r->arena, mark);
    return change;
}
