// Half cells: adding them up to samples (docs/math.md 2.1).
#include "grid/halves.h"
#include <string.h>

enum { PLANE = 2 * MO_MARGIN + 2 }; // first half-cell layer of the plane of 2D, counted like mo_halves.part

// ---- Adding up ----

enum { LAYER = MO_HALVES * MO_HALVES };
static int first_half(bool flat) { return flat ? PLANE * LAYER : 0; }
static int end_of_halves(bool flat) { return (flat ? PLANE + 2 : MO_HALVES) * LAYER; }

void mo_halves_take(bool flat, mo_halves *left, mo_halves *taken)
{
    float *l = (float *)left->part, *t = (float *)taken->part;
    for (int i = first_half(flat); i < end_of_halves(flat); i++) {
        float want = mo_minf(t[i], l[i]), rest = l[i] - want;
        t[i] = rest < MO_HALF_SNAP ? l[i] : want;
        l[i] = rest < MO_HALF_SNAP ? 0 : rest;
    }
}

void mo_halves_add(bool flat, const mo_halves *h, mo_halves *sum)
{
    const float *from = (const float *)h->part;
    float *to = (float *)sum->part;
    for (int i = first_half(flat); i < end_of_halves(flat); i++) to[i] += from[i];
}

// Sums over the four half cells in one layer of each sample's control volume: it starts at the cell's own half cells,
// or one before along x (1), y (2), both (3).
typedef float layer_sums[4][64];

static void sum_layer(const float h[MO_HALVES][MO_HALVES], layer_sums out)
{
    float own[MO_HALVES][8], before[MO_HALVES][8];
    for (int y = 0; y < MO_HALVES; y++)
        for (int x = 0; x < 8; x++) {
            own[y][x] = h[y][2 * x + 2] + h[y][2 * x + 3];
            before[y][x] = h[y][2 * x + 1] + h[y][2 * x + 2];
        }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            out[0][8 * y + x] = own[2 * y + 2][x] + own[2 * y + 3][x];
            out[1][8 * y + x] = before[2 * y + 2][x] + before[2 * y + 3][x];
            out[2][8 * y + x] = own[2 * y + 1][x] + own[2 * y + 2][x];
            out[3][8 * y + x] = before[2 * y + 1][x] + before[2 * y + 2][x];
        }
}

// How the kinds lie: which sums of the layers, and whether one layer before.
static const struct {
    int sums, before;
} lie[7] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {2, 1}, {1, 1}, {3, 0}};

void mo_halves_gather(bool flat, const mo_halves *h, float *const out[7])
{
    layer_sums sums[MO_HALVES];
    int first = flat ? MO_MARGIN : 0, end = flat ? MO_MARGIN + 1 : 8;
    for (int z = flat ? PLANE : 0; z < (flat ? PLANE + 2 : MO_HALVES); z++) sum_layer(h->part[z], sums[z]);
    for (int kind = 0; kind < 7; kind++) {
        if (!out[kind]) continue;
        if (flat) memset(out[kind], 0, sizeof(float) * MO_TILE_CELLS);
        if (flat && lie[kind].before) continue;
        for (int z = first; z < end; z++) {
            const float *a = sums[2 * z + 2 - lie[kind].before][lie[kind].sums],
                        *b = a + sizeof(layer_sums) / sizeof *a;
            for (int i = 0; i < 64; i++) out[kind][64 * z + i] = 0.125f * (a[i] + b[i]);
        }
    }
}

void mo_halves_fill(bool flat, float part, float *const out[7])
{
    MO_ASSERT(part >= 0 && part <= 1);
    for (int kind = 0; kind < 7; kind++) {
        if (!out[kind]) continue;
        if (flat || part == 0) memset(out[kind], 0, sizeof(float) * MO_TILE_CELLS);
        if (part == 0 || (flat && lie[kind].before)) continue;
        int first = flat ? 64 * MO_MARGIN : 0, end = flat ? 64 * (MO_MARGIN + 1) : MO_TILE_CELLS;
        for (int i = first; i < end; i++) out[kind][i] = part;
    }
}
