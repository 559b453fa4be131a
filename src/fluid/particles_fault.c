// Validator of particles: each is inside the lattice, near the cell that lists it, and has a volume.
#include "fluid/particles.h"

static const char *particle_fault(const mo_particles *p, const mo_grid *g, int32_t q, const int32_t cell[3])
{
    const float slack = p->stale + 1e-3f; // positions are rounded
    for (int a = 0; a < 3; a++) {
        float x = p->x[a][q];
        if (!(x >= 0 && x <= (float)g->n[a])) return "a particle is outside the lattice";
        if (x < (float)cell[a] - slack || x > (float)cell[a] + 1 + slack) return "a particle is far from its cell";
    }
    return p->volume[q] > 0 && isfinite(p->volume[q]) ? NULL : "a particle has no volume";
}

static const char *cell_fault(const mo_particles *p, const mo_grid *g, int32_t index)
{
    int32_t cell[3];
    if (p->start[index] > p->start[index + 1]) return "starts of cells descend";
    if (p->start[index] == p->start[index + 1]) return NULL;
    mo_grid_cell(g, index, cell);
    const char *fault = NULL;
    for (int32_t q = p->start[index]; q < p->start[index + 1] && !fault; q++) fault = particle_fault(p, g, q, cell);
    return fault;
}

const char *mo_particles_fault(const mo_particles *p, const mo_grid *g)
{
    if (p->count < 0 || p->count > p->capacity) return "there are more particles than room for them";
    for (int32_t f = 0; f < p->fields && p->count; f++)
        if (!p->field[f]) return "a field of the particles is missing";
    if (p->count == 0) return NULL;
    int32_t cells = (int32_t)mo_grid_cells(g);
    if (!p->start || p->start[0] != 0 || p->start[cells] != p->count) return "cells do not list all particles";
    const char *fault = NULL;
    for (int32_t i = 0; i < cells && !fault; i++) fault = cell_fault(p, g, i);
    return fault;
}
