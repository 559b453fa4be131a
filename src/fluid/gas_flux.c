// Soot and heat flow through faces: the amount that leaves one cell enters the next, so that nothing is created or
// lost. Sweeps along the axes follow each other. A cell's volume is followed through them, because the flow along one
// axis alone is not free of divergence. Van Leer's scheme with monotonised slopes is of second order where the field is
// smooth, and makes no new extremes beside jumps.
#include "fluid/gas_flux.h"
#include "grid/sites.h"
#include <string.h>

enum { HALO = 3, LINE = MO_TILE + 2 * HALO };

// ---- Lines of a tile ----

static const int strides[3] = {1, 8, 64}, neighbours[3] = {1, 3, 9};

// The eight cells of a line through a tile and three on each side. first: the line's first cell in the tile.
static void load_line(const mo_gas_sweep *s, const float *field, int32_t tile, int32_t first, float outside,
                      float line[LINE])
{
    const int stride = strides[s->axis];
    for (int side = -1; side <= 1; side++) {
        int32_t t = s->g->neighbour[tile][13 + side * neighbours[s->axis]];
        int from = side < 0 ? MO_TILE - HALO : 0, to = side > 0 ? HALO : MO_TILE, at = HALO + MO_TILE * side;
        const float *cells = field + (int64_t)t * MO_TILE_CELLS + first;
        for (int i = from; i < to; i++) line[at + i] = t < 0 ? outside : cells[i * stride];
    }
}

// Volume that passes the low faces of the line's cells in the sweep, upwards.
static void load_flow(const mo_gas_sweep *s, int32_t tile, int32_t first, float flow[LINE])
{
    float area[LINE];
    load_line(s, s->flux->u[s->axis], tile, first, s->flux->wind[s->axis], flow);
    load_line(s, s->flux->area[s->axis], tile, first, 1, area);
    for (int i = 0; i < LINE; i++) flow[i] *= s->step * area[i];
}

static void sweep_line(const mo_gas_sweep *s, int32_t tile, int32_t first)
{
    float content[LINE], volume[LINE], flow[LINE], value[LINE], passed[LINE] = {0}, keep[LINE];
    load_line(s, s->content, tile, first, 0, content);
    load_line(s, s->volume, tile, first, 1, volume);
    load_flow(s, tile, first, flow);
    for (int i = 0; i < LINE; i++) value[i] = mo_gas_value(s, content[i], volume[i]);
    for (int f = HALO - 1; f <= HALO + MO_TILE + 1; f++) {
        int low = (flow[f] > 0 ? f - 1 : f) - 1;
        passed[f] = mo_gas_passing(flow[f], value + low, volume + low);
    }
    // No cell may give more than it has; cells that solids nearly fill could.
    for (int i = HALO - 1; i <= HALO + MO_TILE; i++)
        keep[i] = mo_gas_spare(content[i], mo_gas_leaving(content[i], passed[i + 1], flow[i + 1], 1) +
                                               mo_gas_leaving(content[i], passed[i], flow[i], -1));
    for (int f = HALO; f <= HALO + MO_TILE; f++) passed[f] *= keep[flow[f] > 0 ? f - 1 : f];
    for (int i = 0; i < MO_TILE; i++) {
        int64_t cell = (int64_t)tile * MO_TILE_CELLS + first + i * strides[s->axis];
        int at = HALO + i;
        s->next_content[cell] = content[at] - (passed[at + 1] - passed[at]);
        s->next_volume[cell] = volume[at] - (flow[at + 1] - flow[at]);
    }
}

static bool row_in_domain(const mo_grid *g, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    return mo_levelset_in_domain(g, c);
}

// Beyond the domain there is nothing: soot and heat that passed an open wall are gone.
static void empty_margins(const mo_gas_sweep *s, int32_t tile)
{
    const mo_grid *g = s->g;
    bool inside = true;
    for (int a = 0; a < 3; a++)
        inside &= 8 * g->coord[tile][a] >= MO_MARGIN && 8 * g->coord[tile][a] + 8 <= g->n[a] - MO_MARGIN;
    if (inside) return;
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++)
        if (!row_in_domain(g, i)) s->next_content[i] = 0, s->next_volume[i] = 1;
    int32_t first, end;
    mo_sites_rows(g, tile, &first, &end);
    for (int32_t i = first; i < end; i++)
        if (!row_in_domain(g, i)) s->next_content[i] = 0, s->next_volume[i] = 1;
}

static void sweep_tiles(const mo_gas_sweep *s)
{
    const mo_grid *g = s->g;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        bool near = mo_gas_is_near(g, t);
        if (near) mo_gas_sweep_near(s, t);
        for (int32_t i = 0; i < MO_TILE_CELLS && !near; i++) {
            if (i >> (3 * s->axis) & 7) continue; // lines start at the tile's low side
            if (mo_grid_is_2d(g) && i >> 6 != MO_MARGIN) continue;
            sweep_line(s, t, i);
        }
        empty_margins(s, t);
    }
}

// ---- A field ----

// The number of sweeps with which nothing crosses more than a cell in one.
static int sweeps_of(const mo_grid *g, const mo_gas_flux *f)
{
    float most = 0;
    for (int a = 0; a < 3; a++) {
        const float *u = f->u[a];
        most = mo_maxf(most, fabsf(f->wind[a]));
#pragma omp parallel for schedule(static) reduction(max : most)
        for (int64_t i = 0; i < mo_grid_samples(g); i++) most = mo_maxf(most, fabsf(u[i]));
    }
    double cells = (double)most * f->step;
    return cells < 1 || !isfinite(cells) ? 1 : (int)ceil(cells);
}

void mo_gas_transport(const mo_grid *g, const mo_gas_flux *f, float *field, float *room, float *const work[4])
{
    int rounds = sweeps_of(g, f), axes = mo_grid_axes(g);
    float *content = work[0], *volume = work[1], *next_content = work[2], *next_volume = work[3];
    size_t bytes = sizeof(float) * (size_t)mo_grid_rows(g);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        bool inside = row_in_domain(g, i);
        volume[i] = inside ? f->open[i] : 1;
        content[i] = inside ? field[i] * f->open[i] : 0;
    }
    mo_gas_gather(g, f, content, volume);
    memcpy(next_content, content, bytes), memcpy(next_volume, volume, bytes); // planes beside that of 2D
    for (int k = 0; k < rounds * axes; k++) {
        int turn = k / axes % 2 ? axes - 1 - k % axes : k % axes; // x y z z y x ...
        mo_gas_sweep s = {.g = g,
                          .flux = f,
                          .axis = f->reverse ? axes - 1 - turn : turn,
                          .step = f->step / (float)rounds,
                          .content = content,
                          .volume = volume,
                          .next_content = next_content,
                          .next_volume = next_volume};
        sweep_tiles(&s);
        float *c = content, *v = volume;
        content = next_content, volume = next_volume, next_content = c, next_volume = v;
    }
    mo_gas_spread(g, f, content);
    mo_gas_share_slivers(g, f, content);
    if (room) mo_gas_spread(g, f, volume), memcpy(room, volume, bytes);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(g); i++) field[i] = f->open[i] > 0 ? content[i] / f->open[i] : 0;
}
