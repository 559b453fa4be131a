// The level set near sheets.
#include "fluid/levelset_near.h"
#include <math.h>
#include <string.h>

static inline float clampf(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }

// A row beyond a wall is extrapolated from the first two rows inside; out: how many cells it lies beyond.
static void fill_margin_row(const mo_grid *g, int axis, const bool open[2], int32_t row, float *phi)
{
    int32_t c[3], low = MO_MARGIN, high = g->n[axis] - MO_MARGIN - 1, first = row;
    mo_grid_cell(g, mo_site_cell(g, row), c);
    if (c[axis] >= low && c[axis] <= high) return;
    int side = c[axis] > high, depth = side ? c[axis] - high : low - c[axis];
    for (int k = 0; k < depth && first >= 0; k++) first = mo_site_step(g, MO_SITE_ROW, first, axis, side ? -1 : 1);
    int32_t second = first < 0 ? -1 : mo_site_step(g, MO_SITE_ROW, first, axis, side ? -1 : 1);
    float value = first < 0 ? MO_LEVELSET_BAND : phi[first];
    if (second >= 0) value += (float)depth * clampf(phi[first] - phi[second], -1, 1);
    if (open[side]) value = mo_maxf(value, (float)depth - 0.5f);
    phi[row] = clampf(value, -MO_LEVELSET_BAND, MO_LEVELSET_BAND);
}

void mo_near_margins(const mo_grid *g, const bool open_wall[6], float *phi)
{
    const mo_reach *r = mo_reach_of(g);
    for (int a = 0; r && a < mo_grid_axes(g); a++)
        for (int32_t k = 0; k < r->count; k++) fill_margin_row(g, a, open_wall + 2 * a, r->row[k], phi);
}

bool mo_near_values(const mo_grid *g, const float *field, int32_t row, float v[27])
{
    const int32_t *around = mo_reach_around(g, row);
    float block[MO_REACH_CELLS];
    if (!around) return false;
    mo_reach_values(field, around, MO_REACH_AROUND, 1, block);
    for (int o = 0; o < 27; o++) v[o] = block[o % 3 + 1 + 5 * (o / 3 % 3 + 1) + 25 * (o / 9 + 1)];
    return true;
}
