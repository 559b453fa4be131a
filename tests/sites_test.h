// A sheet, made by hand: it stands across x in the middle of one layer of cells, with a hole or
// without.
#ifndef SITES_TEST_H
#define SITES_TEST_H

#include "grid/sites.h"
#include <stdlib.h>
#include <string.h>

typedef struct sheet {
    int32_t at;                         // the layer of cells that it divides
    bool (*hole)(int32_t y, int32_t z); // cells of the layer that it leaves whole; NULL: none
    int32_t *second;                    // [cells] row of the second side (high x), -1: the cell is whole
} sheet;

static inline int32_t sheet_second(const sheet *w, int32_t cell) { return cell < 0 ? -1 : w->second[cell]; }

static inline bool sheet_divides(const sheet *w, const int32_t c[3])
{
    return c[0] == w->at && !(w->hole && w->hole(c[1], c[2]));
}

// The pieces of one face beside the sheet; returns how many, 0: the face is plain.
static inline int sheet_pieces(const mo_grid *g, const sheet *w, int32_t i, int32_t axis, mo_sample piece[2])
{
    int32_t low = mo_grid_step(g, i, axis, -1), mine = w->second[i], below = sheet_second(w, low);
    if (low < 0 || (mine < 0 && below < 0)) return 0;
    if (axis == 0) { // the face above the layer belongs to its second sides
        if (below < 0) return 0;
        piece[0] = (mo_sample){i, axis, below, i, 1, {0.5, 0.5}};
        return 1;
    }
    piece[0] = (mo_sample){i, axis, low, i, 0.5, {0.5, 0.5}};
    piece[1] = (mo_sample){i, axis, below < 0 ? low : below, mine < 0 ? i : mine, 0.5, {0.5, 0.5}};
    return 2;
}

static inline mo_status sheet_create(mo_grid *g, sheet *w)
{
    int32_t cells = (int32_t)mo_grid_cells(g), sides = 0, samples = 0;
    int32_t *side = malloc(sizeof(int32_t) * (size_t)cells);
    mo_sample *sample = malloc(sizeof *sample * 6 * (size_t)cells);
    w->second = malloc(sizeof(int32_t) * (size_t)cells);
    for (int32_t i = 0; i < cells; i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        bool real = !mo_grid_is_2d(g) || c[2] == MO_MARGIN;
        w->second[i] = real && sheet_divides(w, c) ? cells + sides : -1;
        if (w->second[i] >= 0) side[sides++] = i;
    }
    for (int32_t i = 0; i < cells; i++)
        for (int32_t a = 0; a < (mo_grid_is_2d(g) ? 2 : 3); a++) samples += sheet_pieces(g, w, i, a, sample + samples);
    mo_status status =
        mo_sites_create(g, &(mo_sites_def){.sides = sides, .side = side, .samples = samples, .sample = sample}, NULL);
    free(side), free(sample);
    return status;
}

static inline void sheet_destroy(sheet *w) { free(w->second); }

// A grid whose tiles are all active.
static inline mo_grid *whole_grid(int32_t nx, int32_t ny, int32_t nz, double dx)
{
    mo_grid *g = NULL;
    if (mo_grid_create((int32_t[3]){nx, ny, nz}, dx, &g, NULL) != MO_OK) return NULL;
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, g->n);
    if (mo_grid_activate(g, NULL) == MO_OK) return g;
    mo_grid_destroy(g);
    return NULL;
}

#endif
