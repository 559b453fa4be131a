// Redistancing of the liquid's inside (the closing that measures volume) and extrapolation of face velocities.
//
// Both work in rounds in which every tile reads what the round before left and writes only itself, so results do not
// depend on threads, and both keep per tile what is left to do, so that quiet tiles cost next to nothing. In 2D only
// the plane k = MO_MARGIN is real; neighbours in z are absent.
#include "grid/levelset.h"
#include <math.h>
#include <string.h>

// ---- Redistancing ----

// Lives in the tile's part of the second scratch field.
typedef struct front {
    int32_t changed[2]; // by parity of the round
    int32_t count;
    int16_t cell[MO_TILE_CELLS]; // inside cells that do not touch the interface
} front;
_Static_assert(sizeof(front) <= sizeof(float) * MO_TILE_CELLS, "a tile's front fits its scratch");

enum { BLOCK = MO_TILE + 2 };

// Distance to the zero level of a cell next to it, 0 for others: 1/sqrt(sum 1/d_a^2) over the crossings d_a of the
// lattice lines through the cell, also those extrapolated past a neighbour; that is |phi| over the upwind gradient, and
// exact for planes. Without the extrapolated ones oblique planes are off by up to 0.3 cells.
static float interface_distance(const float *at, int axes)
{
    static const int stride[3] = {1, BLOCK, BLOCK * BLOCK};
    float sign = *at < 0 ? -1 : 1, c = sign * *at, sum = 0;
    bool crossed = false;
    for (int a = 0; a < axes; a++) {
        float lo = at[-stride[a]], hi = at[stride[a]];
        crossed |= (lo < 0) != (*at < 0) || (hi < 0) != (*at < 0);
        float slope = fmaxf(0, c - fminf(sign * lo, sign * hi));
        sum += slope * slope;
    }
    return crossed ? fmaxf(c / sqrtf(sum), 1e-6f) : 0;
}

// Values next to the interface, -depth elsewhere inside, and the list of cells to be solved for.
static void start_tile(const mo_grid *g, const float *phi, int32_t tile, float depth, float *out, float *other,
                       front *f)
{
    int64_t first = (int64_t)tile * MO_TILE_CELLS;
    bool flat = mo_grid_is_2d(g);
    float block[BLOCK * BLOCK * BLOCK];
    mo_grid_block(g, phi, tile, 1, 1, block);
    bool wet = false, dry = false;
    for (int i = 0; i < BLOCK * BLOCK * BLOCK; i++) wet |= block[i] < 0, dry |= !(block[i] < 0);
    memcpy(out + first, phi + first, sizeof(float) * MO_TILE_CELLS);
    f->count = f->changed[0] = f->changed[1] = 0;
    if (!wet) return;
    for (int c = 0; c < MO_TILE_CELLS; c++) {
        int x = c & 7, y = c >> 3 & 7, z = c >> 6;
        if (flat && z != MO_MARGIN) continue;
        const float *at = block + x + 1 + BLOCK * (y + 1 + BLOCK * (z + 1));
        float d = dry ? interface_distance(at, flat ? 2 : 3) : 0;
        if (*at >= 0) {
            out[first + c] = fmaxf(*at, d);
        } else if (d > 0) {
            out[first + c] = -fminf(d, depth);
            f->changed[0] = 1;
        } else {
            out[first + c] = -depth;
            f->cell[f->count++] = (int16_t)c;
        }
    }
    memcpy(other + first, out + first, sizeof(float) * MO_TILE_CELLS);
}

// Upwind solution of |grad d| = 1 from the smaller neighbour of each axis.
static float eikonal(float a, float b, float c)
{
    float t;
    if (a > b) t = a, a = b, b = t;
    if (b > c) t = b, b = c, c = t;
    if (a > b) t = a, a = b, b = t;
    t = a + 1;
    if (t <= b) return t;
    t = 0.5f * (a + b + sqrtf(fmaxf(0, 2 - (a - b) * (a - b))));
    if (t <= c) return t;
    // Sums of differences to the smallest: no cancellation far from zero.
    b -= a, c -= a;
    return a + (b + c + sqrtf(fmaxf(0, (b + c) * (b + c) - 3 * (b * b + c * c - 1)))) / 3;
}

// One Jacobi round of a tile. The neighbours of a listed cell are all inside and exist, or it would not be listed.
static bool sweep_tile(const mo_grid *g, int32_t tile, const front *f, float depth, const float *from, float *to)
{
    int axes = mo_grid_is_2d(g) ? 2 : 3;
    bool changed = false;
    for (int32_t n = 0; n < f->count; n++) {
        int32_t q = tile * MO_TILE_CELLS + f->cell[n];
        float d[3] = {2 * depth + 2, 2 * depth + 2, 2 * depth + 2};
        for (int a = 0; a < axes; a++) d[a] = -fmaxf(from[mo_grid_step(g, q, a, -1)], from[mo_grid_step(g, q, a, 1)]);
        float value = fmaxf(from[q], -eikonal(d[0], d[1], d[2]));
        changed |= value != from[q];
        to[q] = value;
    }
    return changed;
}

static front *front_of(float *fronts, int32_t tile) { return (front *)(fronts + (int64_t)tile * MO_TILE_CELLS); }

static bool near_change(const mo_grid *g, float *fronts, int32_t tile, int parity)
{
    static const int around[7] = {4, 10, 12, 13, 14, 16, 22};
    for (int i = 0; i < 7; i++) {
        int32_t t = g->neighbour[tile][around[i]];
        if (t >= 0 && front_of(fronts, t)->changed[parity]) return true;
    }
    return false;
}

void mo_redistance_inside(const mo_grid *g, const float *phi, float depth, float *out, float *scratch)
{
    float *buffer[2] = {out, scratch}, *fronts = scratch + mo_grid_cells(g);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++) start_tile(g, phi, t, depth, out, scratch, front_of(fronts, t));

    // Values only fall and depend on smaller ones, so the rounds end; the cap guards against a stuck last bit.
    int rounds = 0, cap = 4 * (int)ceilf(depth) + 8, active = 1;
    while (active && rounds < cap) {
        int now = ++rounds & 1;
        active = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(| : active)
        for (int32_t t = 0; t < g->tiles; t++) {
            front *f = front_of(fronts, t);
            // A tile left alone is equal in both buffers.
            bool changed = f->count > 0 && near_change(g, fronts, t, 1 - now) &&
                           sweep_tile(g, t, f, depth, buffer[1 - now], buffer[now]);
            f->changed[now] = changed;
            active |= changed;
        }
    }
    if (!(rounds & 1)) return;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) {
        const front *f = front_of(fronts, t);
        int64_t first = (int64_t)t * MO_TILE_CELLS;
        for (int32_t n = 0; n < f->count; n++) out[first + f->cell[n]] = scratch[first + f->cell[n]];
    }
}

// ---- Extrapolation ----

// A tile as bits, one word of x + 8 y per plane z, kept in the tile's part of the byte scratch.
typedef struct bits {
    uint64_t plane[MO_TILE];
} bits;
enum { OPEN, SOURCE, FILL, KINDS }; // not yet reached; valid; reached by this layer
_Static_assert(KINDS * sizeof(bits) <= MO_TILE_CELLS, "a tile's bits fit its scratch");

static bits get_bits(const uint8_t *scratch, int32_t tile, int kind)
{
    bits b;
    memcpy(&b, scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof b, sizeof b);
    return b;
}

static void put_bits(uint8_t *scratch, int32_t tile, int kind, const bits *b)
{
    memcpy(scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof *b, b, sizeof *b);
}

static void classify_tile(const mo_grid *g, const uint8_t *valid, int32_t tile, uint8_t *scratch)
{
    bits open = {{0}}, source = {{0}};
    bool flat = mo_grid_is_2d(g);
    for (int z = flat ? MO_MARGIN : 0; z < (flat ? MO_MARGIN + 1 : MO_TILE); z++) {
        const uint8_t *v = valid + (int64_t)tile * MO_TILE_CELLS + 64 * z;
        for (int i = 0; i < 64; i++) {
            open.plane[z] |= (uint64_t)(v[i] == 0) << i;
            source.plane[z] |= (uint64_t)(v[i] == 1) << i;
        }
    }
    put_bits(scratch, tile, OPEN, &open);
    put_bits(scratch, tile, SOURCE, &source);
}

// Faces next to a source.
static bits grow(const mo_grid *g, const uint8_t *scratch, int32_t tile)
{
    const uint64_t first = 0x0101010101010101u, last = first << 7; // columns x = 0 and x = 7
    bits s = get_bits(scratch, tile, SOURCE), d, n[6];
    static const int side[6] = {12, 14, 10, 16, 4, 22}; // x-, x+, y-, y+, z-, z+
    for (int i = 0; i < 6; i++) {
        int32_t t = g->neighbour[tile][side[i]];
        n[i] = t >= 0 ? get_bits(scratch, t, SOURCE) : (bits){{0}};
    }
    for (int z = 0; z < MO_TILE; z++) {
        uint64_t p = s.plane[z];
        d.plane[z] = (p << 1 & ~first) | (p >> 1 & ~last) | p << 8 | p >> 8;
        d.plane[z] |= (n[0].plane[z] >> 7 & first) | (n[1].plane[z] << 7 & last);
        d.plane[z] |= n[2].plane[z] >> 56 | n[3].plane[z] << 56;
        d.plane[z] |= z > 0 ? s.plane[z - 1] : n[4].plane[7];
        d.plane[z] |= z < 7 ? s.plane[z + 1] : n[5].plane[0];
    }
    return d;
}

static float mean_of_sources(const mo_grid *g, const float *face, const uint8_t *valid, int32_t q)
{
    int axes = mo_grid_is_2d(g) ? 2 : 3, count = 0;
    double sum = 0;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_grid_step(g, q, a, side);
            if (n >= 0 && valid[n] == 1) sum += face[n], count++;
        }
    return (float)(sum / count);
}

// Values of the next layer into value, its places into FILL; true if there are any.
static bool reach_tile(const mo_grid *g, const float *face, const uint8_t *valid, int32_t tile, float *value,
                       uint8_t *scratch)
{
    bits open = get_bits(scratch, tile, OPEN), fill = grow(g, scratch, tile);
    uint64_t any = 0;
    for (int z = 0; z < MO_TILE; z++) {
        any |= fill.plane[z] &= open.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            value[q] = mean_of_sources(g, face, valid, q);
        }
    }
    put_bits(scratch, tile, FILL, &fill);
    return any != 0;
}

static void commit_tile(int32_t tile, const float *value, uint8_t *scratch, float *face, uint8_t *valid)
{
    bits fill = get_bits(scratch, tile, FILL), open = get_bits(scratch, tile, OPEN);
    bits source = get_bits(scratch, tile, SOURCE);
    for (int z = 0; z < MO_TILE; z++) {
        open.plane[z] &= ~fill.plane[z];
        source.plane[z] |= fill.plane[z];
        for (uint64_t p = fill.plane[z]; p; p &= p - 1) {
            int32_t q = tile * MO_TILE_CELLS + 64 * z + __builtin_ctzll(p);
            face[q] = value[q];
            valid[q] = 1;
        }
    }
    put_bits(scratch, tile, OPEN, &open);
    put_bits(scratch, tile, SOURCE, &source);
}

void mo_extrapolate(const mo_grid *g, float *face, uint8_t *valid, int32_t layers, float *scratch,
                    uint8_t *scratch_valid)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) classify_tile(g, valid, t, scratch_valid);
    int active = 1;
    for (int32_t layer = 0; layer < layers && active; layer++) {
        active = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(| : active)
        for (int32_t t = 0; t < g->tiles; t++) active |= reach_tile(g, face, valid, t, scratch, scratch_valid);
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < g->tiles; t++) commit_tile(t, scratch, scratch_valid, face, valid);
    }
}
