// Divided cells are found by the 27 corners of their half cells, bit x + 3 (y + 3 z) of a set. Half cells are too small
// to lie on both sides of a solid of 0.87 cells or more, so the outside corners of one half cell are on one side.
#include "grid/seal.h"
#include <math.h>

#define CELL_REACH 0.8661 // from a cell's centre to its corners
#define NEAR       8.6603 // from a tile's centre to the corners of its cells -1 .. 7

enum { MOST_NEAR = 64 }; // solids near one tile; more do not seal

typedef struct sealer {
    const mo_grid *g;
    const mo_solid_set *solids;
    mo_openings *out;
    int32_t tile, count;
    int32_t near[MOST_NEAR];
    uint32_t sealed[9][9][9]; // [z + 1][y + 1][x + 1] of the cells -1 .. 7
} sealer;

static uint32_t corners_of_half(int i) { return 0x361bu << ((i & 1) + 3 * (i >> 1 & 1) + 9 * (i >> 2)); }

// The solids within reach of a cell; no more than a meeting holds.
static mo_meeting meeting_at(const sealer *s, const int cell[3])
{
    mo_meeting m = mo_meeting_of_none(s->g, s->solids, s->tile);
    for (int32_t k = 0; k < s->count && m.count < MO_MEETING; k++)
        if (mo_meeting_distance(&m, s->near[k], cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5) <= CELL_REACH)
            m.solid[m.count++] = s->near[k];
    return m;
}

static bool outside(const mo_meeting *m, double x, double y, double z)
{
    for (int32_t k = 0; k < m->count; k++)
        if (mo_meeting_distance(m, m->solid[k], x, y, z) < 0) return false;
    return true;
}

// Whether the corners of the cell that are outside, as bits x + 2 y + 4 z, are connected along its edges.
static bool hangs_together(uint32_t set)
{
    static const uint32_t low[3] = {0x55, 0x33, 0x0f}; // corners on the low side of each axis
    uint32_t part = set & (~set + 1), before = 0;
    while (part != before) {
        before = part;
        for (int a = 0; a < 3; a++) part |= ((part & low[a]) << (1 << a) | (part & ~low[a]) >> (1 << a)) & set;
    }
    return part == set;
}

// The corners of half cells that are connected to one of them.
static uint32_t side_of(uint32_t set, uint32_t part)
{
    for (uint32_t before = 0; part != before;) {
        before = part;
        for (int i = 0; i < 8; i++)
            if (part & corners_of_half(i)) part |= set & corners_of_half(i);
    }
    return part;
}

static int size_of(uint32_t set)
{
    int n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

// The corners outside that are not on the cell's larger side.
static uint32_t find_sealed(const mo_meeting *m, const int cell[3])
{
    uint32_t ends = 0, set = 0, best = 0;
    for (int i = 0; i < 8; i++)
        if (outside(m, cell[0] + (i & 1), cell[1] + (i >> 1 & 1), cell[2] + (i >> 2))) ends |= 1u << i;
    if (hangs_together(ends)) return 0;
    for (int i = 0; i < 27; i++)
        if (outside(m, cell[0] + 0.5 * (i % 3), cell[1] + 0.5 * (i / 3 % 3), cell[2] + 0.5 * (i / 9))) set |= 1u << i;
    for (uint32_t rest = set; rest;) {
        uint32_t side = side_of(set, rest & (~rest + 1));
        if (size_of(side) > size_of(best)) best = side;
        rest &= ~side;
    }
    return set & ~best;
}

// Only a cell whose centre lies inside a solid can be divided.
static uint32_t sealed_in(const sealer *s, const int cell[3])
{
    const int32_t *at = s->g->coord[s->tile];
    int32_t q = mo_grid_index(s->g, 8 * at[0] + cell[0], 8 * at[1] + cell[1], 8 * at[2] + cell[2]);
    if (q < 0 || s->out->distance[q] >= 0 || s->out->distance[q] < -CELL_REACH) return 0;
    mo_meeting m = meeting_at(s, cell);
    return m.count ? find_sealed(&m, cell) : 0;
}

static double last(const mo_meeting *m, const double *cover) { return cover[m->count - 1]; }

// Gives a part of a face to the solid nearest to its centre.
static void give_face(const sealer *s, int32_t q, int axis, const int cell[3], double part)
{
    MO_ASSERT(part >= 0);
    const mo_openings *out = s->out;
    mo_meeting m = mo_meeting_of_none(s->g, s->solids, s->tile);
    double x[3], best = INFINITY;
    int32_t nearest = s->near[0];
    for (int a = 0; a < 3; a++) x[a] = cell[a] + 0.5 * (a != axis);
    for (int32_t k = 0; k < s->count; k++) {
        double d = mo_meeting_distance(&m, s->near[k], x[0], x[1], x[2]);
        if (d < best) best = d, nearest = s->near[k];
    }
    part = part < out->area[axis][q] - MO_SLIT ? mo_whole_part(part) : out->area[axis][q];
    out->area[axis][q] = (float)(out->area[axis][q] - part);
    mo_openings_give(s->g, s->solids, nearest, q, axis, part, s->out);
}

// Closes the quarters of a cell's low face that either of its cells has sealed.
static void seal_face(const sealer *s, int axis, const int cell[3], uint32_t own, uint32_t below)
{
    int32_t q = s->tile * MO_TILE_CELLS + cell[0] + 8 * (cell[1] + 8 * cell[2]);
    int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    double part = 0;
    if (s->out->area[axis][q] <= 0) return;
    mo_meeting m = meeting_at(s, cell);
    for (int quarter = 0; quarter < 4 && m.count; quarter++) {
        int half = (quarter & 1) << u | (quarter >> 1) << v;
        static const uint32_t low[3] = {0x1249249, 0x1c0e07, 0x1ff}; // corners on the low side of a cell
        uint32_t mine = corners_of_half(half) & low[axis];
        uint32_t other = corners_of_half(half | 1 << axis) & low[axis] << (axis == 0 ? 2 : axis == 1 ? 6 : 18);
        if (!(own & mine) && !(below & other)) continue;
        double at[3] = {cell[0], cell[1], cell[2]}, cover[MO_MEETING];
        at[u] += 0.5 * (quarter & 1), at[v] += 0.5 * (quarter >> 1);
        mo_meet_quarter(&m, axis, at, cover);
        part += 0.25 * (1 - last(&m, cover));
    }
    if (part > 0) give_face(s, q, axis, cell, part);
}

static void seal_volume(const sealer *s, const int cell[3], uint32_t own)
{
    float *volume = &s->out->volume[s->tile * MO_TILE_CELLS + cell[0] + 8 * (cell[1] + 8 * cell[2])];
    mo_meeting m = meeting_at(s, cell);
    for (int i = 0; i < 8; i++) {
        if (!(own & corners_of_half(i))) continue;
        double at[3] = {cell[0] + 0.5 * (i & 1), cell[1] + 0.5 * (i >> 1 & 1), cell[2] + 0.5 * (i >> 2)};
        double cover[MO_MEETING];
        mo_meet_half(&m, at, cover);
        *volume -= (float)(0.125 * (1 - last(&m, cover)));
    }
    if (*volume < 1e-6f) *volume = 0;
}

static void seal_cell(const sealer *s, const int cell[3], bool flat)
{
    const uint32_t *sealed = &s->sealed[cell[2] + 1][cell[1] + 1][cell[0] + 1], own = *sealed;
    static const int stride[3] = {1, 9, 81};
    for (int a = 0; a < (flat ? 2 : 3); a++)
        if (own || sealed[-stride[a]]) seal_face(s, a, cell, own, sealed[-stride[a]]);
    if (own) seal_volume(s, cell, own);
}

static bool find_all_sealed(sealer *s, bool flat)
{
    bool any = false;
    for (int z = flat ? MO_MARGIN : -1; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = -1; y < MO_TILE; y++)
            for (int x = -1; x < MO_TILE; x++) {
                uint32_t *sealed = &s->sealed[z + 1][y + 1][x + 1];
                *sealed = (x < 0) + (y < 0) + (z < 0) > 1 ? 0 : sealed_in(s, (int[3]){x, y, z});
                any |= *sealed != 0;
            }
    return any;
}

// A cell before the tile whose centre is inside a solid is next to one of the tile's.
static bool comes_near(const float *distance)
{
    for (int c = 0; c < MO_TILE_CELLS; c++)
        if (distance[c] < 1) return true;
    return false;
}

void mo_openings_seal(const mo_grid *g, const mo_solid_set *solids, int32_t tile, mo_openings *out)
{
    MO_ASSERT(tile >= 0 && tile < g->tiles);
    sealer s;
    if (!comes_near(out->distance + (int64_t)tile * MO_TILE_CELLS)) return;
    s.g = g, s.solids = solids, s.tile = tile, s.out = out, s.count = 0;
    mo_meeting m = mo_meeting_of_none(g, solids, tile);
    bool flat = mo_grid_is_2d(g);
    for (int32_t k = 0; k < solids->count && s.count < MOST_NEAR; k++) {
        double d = mo_meeting_distance(&m, k, 4, 4, 4);
        if (d <= NEAR && d > -NEAR) s.near[s.count++] = k;
    }
    if (s.count == 0 || !find_all_sealed(&s, flat)) return;
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++)
        for (int y = 0; y < MO_TILE; y++)
            for (int x = 0; x < MO_TILE; x++) seal_cell(&s, (int[3]){x, y, z}, flat);
}
