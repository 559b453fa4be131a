// Validator of the grid: table, coordinates and neighbours must agree.
#include "grid/grid.h"

static int32_t tile_at(const mo_grid *g, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || x >= g->tn[0] || y >= g->tn[1] || z >= g->tn[2]) return -1;
    return g->table[x + g->tn[0] * (y + g->tn[1] * z)];
}

static const char *tile_fault(const mo_grid *g, int32_t t)
{
    const int32_t *c = g->coord[t];
    if (tile_at(g, c[0], c[1], c[2]) != t) return "the table does not lead to a tile";
    for (int32_t o = 0; o < 27; o++)
        if (g->neighbour[t][o] != tile_at(g, c[0] + o % 3 - 1, c[1] + o / 3 % 3 - 1, c[2] + o / 9 - 1))
            return "a neighbour of a tile is another one than the table says";
    return NULL;
}

const char *mo_grid_fault(const mo_grid *g)
{
    if (!(g->dx > 0)) return "cells have no size";
    int64_t size = 1, active = 0;
    for (int a = 0; a < 3; a++) {
        if (g->tn[a] != (g->n[a] + MO_TILE - 1) / MO_TILE) return "tiles do not cover the lattice";
        size *= g->tn[a];
    }
    if (g->tiles < 0 || g->tiles > g->capacity) return "there are more tiles than room for them";
    for (int64_t t = 0; t < size; t++) {
        if (g->table[t] < 0) continue;
        if (g->table[t] != active++) return "tiles are not in the order of the table";
    }
    if (active != g->tiles) return "the table does not have all tiles";
    const char *fault = NULL;
    for (int32_t t = 0; t < g->tiles && !fault; t++) fault = tile_fault(g, t);
    return fault;
}
