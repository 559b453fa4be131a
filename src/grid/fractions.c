// The parts of half cells and faces inside solids, from which volume fractions are summed up (halves.h,
// docs/math.md 2.1).
//
// Lengths in here are in cells.
#include "grid/halves.h"
#include "grid/covering.h"
#include <math.h>
#include <string.h>

#define BLOCK_REACH 2.599 // from the centre of 3 x 3 x 3 cells to their corners
#define HALF_REACH  8.661 // from a tile's centre to the corners of its half cells -2 .. 15

// From the tile's centre.
static double middle_of(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    double z = mo_grid_is_2d(g) ? MO_MARGIN + 0.5 : 4;
    mo_meeting m = mo_meeting_alone(g, solids, solid, tile);
    return mo_meeting_distance(&m, solid, 4, 4, z);
}

bool mo_halves_near(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile)
{
    return middle_of(g, solids, solid, tile) <= HALF_REACH;
}

// Covers the half cells from `first` on of cell (x, y, z), in the tile or one before it; d: the distance there.
static void cover_halves(mo_covering *s, double d, int x, int y, int z, int first, mo_halves *cover)
{
    for (int i = 0; i < (s->m.flat ? 4 : 8); i++) {
        int hx = 2 * x + (i & 1), hy = 2 * y + (i >> 1 & 1), hz = 2 * z + (i >> 2);
        bool asked = hx >= first && hy >= first && hz >= first;
        double part = d > MO_CELL_REACH || !asked ? 0 : d < -MO_CELL_REACH ? 1 : mo_covering_half(s, hx, hy, hz);
        cover->part[hz + 2][hy + 2][hx + 2] = mo_half_round((float)part);
    }
}

// Covers 3 x 3 x 3 cells, in the plane of 2D 3 x 3; the one in the middle may tell for all.
static void cover_block(mo_covering *s, int x, int y, int z, int first, mo_halves *cover)
{
    double middle = mo_covering_centre(s, x, y, z);
    bool far = fabs(middle) > BLOCK_REACH;
    int deep = s->m.flat ? 0 : 1;
    for (int k = z - deep; k <= z + deep; k++)
        for (int j = y - 1; j <= y + 1; j++)
            for (int i = x - 1; i <= x + 1; i++)
                cover_halves(s, far ? middle : mo_covering_centre(s, i, j, k), i, j, k, first, cover);
}

bool mo_halves_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, int first, mo_halves *h)
{
    MO_ASSERT(solid >= 0 && solid < solids->count && tile >= 0 && tile < g->tiles);
    double middle = middle_of(g, solids, solid, tile);
    if (middle > HALF_REACH) return false;
    if (middle < -HALF_REACH) {
        for (int i = 0; i < MO_HALVES * MO_HALVES * MO_HALVES; i++) ((float *)h->part)[i] = 1;
        return true;
    }
    mo_covering s;
    mo_covering_start(&s, g, solids, solid, g->coord[tile]);
    s.m.flat = mo_grid_is_2d(g);
    for (int z = s.m.flat ? MO_MARGIN : 0; z < (s.m.flat ? MO_MARGIN + 1 : MO_TILE); z += 3)
        for (int y = 0; y < MO_TILE; y += 3)
            for (int x = 0; x < MO_TILE; x += 3) cover_block(&s, x, y, z, first, h);
    if (s.m.flat) memcpy(h->part[2 * MO_MARGIN + 3], h->part[2 * MO_MARGIN + 2], sizeof h->part[0]);
    return true;
}

// Those gathered before a solid that come within reach of a point, and itself as the last.
static mo_meeting meeting_at(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                             const mo_gathered *before, const double x[3], double reach)
{
    mo_meeting m = mo_meeting_alone(g, solids, solid, tile);
    m.count = 0, m.flat = mo_grid_is_2d(g);
    for (int32_t k = 0; k < before->count && before->solid[k] != solid && m.count < MO_MEETING - 1; k++)
        if (mo_meeting_distance(&m, before->solid[k], x[0], x[1], x[2]) <= reach) m.solid[m.count++] = before->solid[k];
    m.solid[m.count++] = solid;
    return m;
}

static void meet_half(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                      const mo_gathered *before, int at[3], float left, float *part)
{
    double low[3] = {0.5 * at[0], 0.5 * at[1], 0.5 * at[2]}, cover[MO_MEETING];
    mo_meeting m = meeting_at(g, solids, solid, tile, before, (double[3]){low[0] + 0.25, low[1] + 0.25, low[2] + 0.25},
                              0.5 * MO_CELL_REACH);
    if (m.count < 2) return;
    mo_meet_half(&m, low, cover);
    float more = mo_half_round((float)cover[m.count - 1]) - (1 - left);
    *part = mo_maxf(more, 0);
}

void mo_halves_meet(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile, mo_gathered *before,
                    const mo_halves *left, mo_halves *h)
{
    MO_ASSERT(before->count >= 0 && before->count <= MO_GATHERED);
    bool flat = mo_grid_is_2d(g);
    int first = flat ? 2 * MO_MARGIN + 2 : 0, end = flat ? first + 1 : MO_HALVES;
    for (int z = first; z < end && before->count > 0; z++)
        for (int y = 0; y < MO_HALVES; y++)
            for (int x = 0; x < MO_HALVES; x++) {
                float l = left->part[z][y][x], *part = &h->part[z][y][x];
                if (*part <= 0 || *part >= 1 || l <= 0 || l >= 1) continue;
                meet_half(g, solids, solid, tile, before, (int[3]){x - 2, y - 2, z - 2}, l, part);
            }
    if (flat) memcpy(h->part[first + 1], h->part[first], sizeof h->part[0]);
    if (before->count < MO_GATHERED) before->solid[before->count++] = solid;
}

// What the last of a meeting adds to the others on the low face of a cell.
static double add_face(const mo_meeting *m, int axis, const int cell[3])
{
    double sum = 0, cover[MO_MEETING];
    for (int quarter = 0; quarter < 4; quarter++) {
        double low[3] = {cell[0], cell[1], cell[2]};
        low[axis == 0 ? 1 : 0] += 0.5 * (quarter & 1), low[axis == 2 ? 1 : 2] += 0.5 * (quarter >> 1);
        mo_meet_quarter(m, axis, low, cover);
        sum += cover[m->count - 1] - cover[m->count - 2];
    }
    return sum / 4;
}

void mo_areas_solid(const mo_grid *g, const mo_solid_set *solids, int32_t solid, int32_t tile,
                    const mo_gathered *gathered, float part[3][MO_TILE_CELLS])
{
    MO_ASSERT(gathered->count >= 0 && gathered->count <= MO_GATHERED);
    bool flat = mo_grid_is_2d(g);
    mo_covering s;
    mo_covering_start(&s, g, solids, solid, g->coord[tile]);
    memset(part, 0, sizeof(float) * 3 * MO_TILE_CELLS);
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) {
                double d = mo_covering_centre(&s, x, y, z);
                if (d > MO_CELL_REACH) continue;
                mo_meeting m =
                    meeting_at(g, solids, solid, tile, gathered, (double[3]){x + 0.5, y + 0.5, z + 0.5}, MO_CELL_REACH);
                for (int a = 0; a < (flat ? 2 : 3); a++) {
                    int cell[3] = {x, y, z};
                    double area = m.count > 1          ? add_face(&m, a, cell)
                                  : d < -MO_CELL_REACH ? 1
                                                       : mo_covering_face(&s, a, cell);
                    part[a][x + 8 * (y + 8 * z)] = (float)(area < MO_PART_TINY       ? 0
                                                           : area > 1 - MO_PART_TINY ? 1
                                                                                     : area);
                }
            }
}

void mo_volume_fractions_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile,
                              float (*solid)[7][MO_TILE_CELLS], float fluid[7][MO_TILE_CELLS])
{
    MO_ASSERT(tile >= 0 && tile < g->tiles);
    mo_halves left, taken;
    mo_gathered before = {.count = 0};
    bool touched = false, flat = mo_grid_is_2d(g);
    float *out[7];
    for (int i = 0; i < MO_HALVES * MO_HALVES * MO_HALVES; i++) ((float *)left.part)[i] = 1;
    for (int32_t n = 0; n < solids->count; n++) {
        for (int kind = 0; kind < 7; kind++) out[kind] = solid[n][kind];
        if (!mo_halves_solid(g, solids, n, tile, -1, &taken)) {
            mo_halves_fill(flat, 0, out);
            continue;
        }
        touched = true;
        mo_halves_meet(g, solids, n, tile, &before, &left, &taken);
        mo_halves_take(flat, &left, &taken);
        mo_halves_gather(flat, &taken, out);
    }
    for (int kind = 0; kind < 7; kind++) out[kind] = fluid[kind];
    if (touched)
        mo_halves_gather(flat, &left, out);
    else
        mo_halves_fill(flat, 1, out);
}
