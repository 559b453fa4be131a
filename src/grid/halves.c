// Half cells: adding them up to samples, and clipping them by the liquid's level set (docs/math.md 2.1).
//
// The level set is known at cell centres and linear between them; its half cells are the eighths of the boxes between
// eight centres, so linear clipping of their corner values misses only the curvature. Along one axis a parabola lies on
// average f''/12 below its chords: half cells are shifted by that much, f'' the least of three neighbouring second
// differences, so that ridges and the plateau of a capped distance do not count as curvature.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") // values stay the same; without it gcc clips one half cell at a time
#endif
#include "grid/halves.h"
#include <math.h>
#include <string.h>

enum { PLANE = 2 * MO_MARGIN + 1 }; // first half-cell layer of the plane of 2D, counted like mo_halves.part

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
            own[y][x] = h[y][2 * x + 1] + h[y][2 * x + 2];
            before[y][x] = h[y][2 * x] + h[y][2 * x + 1];
        }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            out[0][8 * y + x] = own[2 * y + 1][x] + own[2 * y + 2][x];
            out[1][8 * y + x] = before[2 * y + 1][x] + before[2 * y + 2][x];
            out[2][8 * y + x] = own[2 * y][x] + own[2 * y + 1][x];
            out[3][8 * y + x] = before[2 * y][x] + before[2 * y + 1][x];
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
            const float *a = sums[2 * z + 1 - lie[kind].before][lie[kind].sums],
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

// ---- Liquid ----

enum { HALO = 3, BLOCK = MO_TILE + 2 * HALO, CORNERS = MO_HALVES + 1, CELLS = MO_TILE + 1, LANES = 8 };
enum { ROW = 24 };            // corners of a row, padded to whole vectors
#define AIR       2.0f        // of missing tiles
#define MOST_BENT 1.0f        // a surface of two cells' radius: beyond, f'' is noise
#define MOST      (1.0f / 12) // the shift of that

typedef struct level {
    float phi[BLOCK][BLOCK][BLOCK];                          // cells -3 .. 10
    float corner[CORNERS][CORNERS][ROW];                     // half-cell corners -1 .. 16
    float shift[CELLS][CELLS][CELLS];                        // of the half cells of cells -1 .. 7
    uint16_t cut[MO_HALVES * MO_HALVES * MO_HALVES + LANES]; // corner indices of half cells the surface cuts
    int cuts;
} level;

static inline float least(float a, float b, float c)
{
    float lo = mo_minf(a, mo_minf(b, c)), hi = mo_maxf(a, mo_maxf(b, c));
    return mo_maxf(lo, mo_minf(hi, 0));
}

// f'' along one axis at p[0].
static inline float bend(const float *p, int stride)
{
    float a = p[-2 * stride], b = p[-stride], c = p[0], d = p[stride], e = p[2 * stride];
    return least(a - 2 * b + c, b - 2 * c + d, c - 2 * d + e);
}

static void find_shifts(level *l, int z)
{
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            const float *p = &l->phi[z + HALO - 1][y + HALO - 1][x + HALO - 1];
            float sum = bend(p, 1) + bend(p, BLOCK) + bend(p, BLOCK * BLOCK);
            l->shift[z][y][x] = -1.0f / 12 * mo_maxf(-MOST_BENT, mo_minf(MOST_BENT, sum));
        }
}

// Corners along one axis: even ones are cell centres, odd ones lie midway. Cell -1 is at p[0].
static inline float between(const float *p, int stride, int i)
{
    return 0.5f * (p[(i >> 1) * stride] + p[((i + 1) >> 1) * stride]);
}

static void find_corners(level *l, int z)
{
    enum { ROWS = MO_TILE + 2 };
    float middle[ROWS][ROWS], row[ROWS][ROW] = {{0}}; // the plane of the corners: cells -1 .. 8
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < ROWS; x++)
            middle[y][x] = between(&l->phi[HALO - 1][y + HALO - 1][x + HALO - 1], BLOCK * BLOCK, z);
    for (int y = 0; y < ROWS; y++) {
        for (int x = 0; x < CELLS; x++) row[y][2 * x] = middle[y][x];
        for (int x = 0; x < CELLS; x++) row[y][2 * x + 1] = 0.5f * (middle[y][x] + middle[y][x + 1]);
    }
    for (int y = 0; y < CORNERS; y++)
        for (int x = 0; x < ROW; x++) l->corner[z][y][x] = 0.5f * (row[y >> 1][x] + row[(y + 1) >> 1][x]);
}

// Half cells whose corners agree are full or empty; the others are listed.
static void sort_row(level *l, int y, int z, float part[MO_HALVES])
{
    const float *a = l->corner[z][y], *b = l->corner[z][y + 1], *c = l->corner[z + 1][y], *d = l->corner[z + 1][y + 1];
    const float *cell = l->shift[(z + 1) >> 1][(y + 1) >> 1];
    float lo[ROW], hi[ROW], shift[CORNERS];
    int32_t cut[MO_HALVES], any = 0;
    for (int x = 0; x < CELLS; x++) shift[2 * x] = shift[2 * x + 1] = cell[x];
    for (int x = 0; x < ROW; x++) {
        lo[x] = mo_minf(mo_minf(a[x], b[x]), mo_minf(c[x], d[x]));
        hi[x] = mo_maxf(mo_maxf(a[x], b[x]), mo_maxf(c[x], d[x]));
    }
    for (int x = 0; x < MO_HALVES; x++) {
        float least = mo_minf(lo[x], lo[x + 1]) + shift[x + 1], most = mo_maxf(hi[x], hi[x + 1]) + shift[x + 1];
        part[x] = most < 0 ? 1.0f : 0.0f;
        cut[x] = (least < 0) & (most >= 0);
        any |= cut[x];
    }
    int n = l->cuts;
    for (int x = 0; any && x < MO_HALVES; x++) {
        l->cut[n] = (uint16_t)(x + ROW * (y + CORNERS * z));
        n += cut[x];
    }
    l->cuts = n;
}

// Negative part of the edge between x <= y.
static inline float clip_edge(float x, float y) { return mo_maxf(0, mo_minf(1, -x / (y - x + 1e-30f))); }

// mo_fraction_tet without branches, so that several run at once: corners sorted a <= b <= c <= d. The wedge of two
// negative corners, to which the edges ab and cd add the cases of one and three.
static inline float clip_tet(float p, float q, float r, float s)
{
    float l1 = mo_minf(p, q), h1 = mo_maxf(p, q), l2 = mo_minf(r, s), h2 = mo_maxf(r, s);
    float a = mo_minf(l1, l2), d = mo_maxf(h1, h2), m1 = mo_maxf(l1, l2), m2 = mo_minf(h1, h2);
    float b = mo_minf(m1, m2), c = mo_maxf(m1, m2);
    float ab = clip_edge(a, b), ac = clip_edge(a, c), ad = clip_edge(a, d);
    float bc = clip_edge(b, c), bd = clip_edge(b, d), cd = clip_edge(c, d);
    return bc * bd + ac * bd * (1 - bc) + (1 - bd) * (ab * ac * ad + cd * (1 - ad));
}

static void clip_halves(level *l, mo_halves *h)
{
    // Kuhn's six tetrahedra, as mo_fraction_box.
    static const uint8_t path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    const float *corner = (const float *)l->corner;
    for (int i = 0; i < LANES; i++) l->cut[l->cuts + i] = 0;
    for (int first = 0; first < l->cuts; first += LANES) {
        float c[8][LANES], sum[LANES] = {0};
        for (int i = 0; i < LANES; i++) {
            int at = l->cut[first + i], x = at % ROW, y = at / ROW % CORNERS, z = at / (ROW * CORNERS);
            float s = l->shift[(z + 1) >> 1][(y + 1) >> 1][(x + 1) >> 1];
            for (int n = 0; n < 8; n++) c[n][i] = corner[at + (n & 1) + ROW * ((n >> 1 & 1) + CORNERS * (n >> 2))] + s;
        }
        for (int t = 0; t < 6; t++) {
            const float *u = c[path[t][0]], *v = c[path[t][1]];
            for (int i = 0; i < LANES; i++) sum[i] += clip_tet(c[0][i], u[i], v[i], c[7][i]);
        }
        for (int i = 0; i < LANES && first + i < l->cuts; i++) {
            int at = l->cut[first + i], x = at % ROW, y = at / ROW % CORNERS, z = at / (ROW * CORNERS);
            h->part[z][y][x] = mo_half_round(sum[i] / 6);
        }
    }
}

// Range of the values between which the corners lie, in the layers z .. end - 1 of the block.
static void range_of(const level *l, int z, int end, float *least, float *greatest)
{
    enum { NEXT = HALO - 1, SIDE = MO_TILE + 2 };
    float lo[SIDE], hi[SIDE];
    for (int x = 0; x < SIDE; x++) lo[x] = hi[x] = l->phi[z][NEXT][NEXT + x];
    for (; z < end; z++)
        for (int y = NEXT; y < NEXT + SIDE; y++) {
            const float *p = &l->phi[z][y][NEXT];
            for (int x = 0; x < SIDE; x++) lo[x] = mo_minf(lo[x], p[x]), hi[x] = mo_maxf(hi[x], p[x]);
        }
    *least = lo[0], *greatest = hi[0];
    for (int x = 1; x < SIDE; x++) *least = mo_minf(*least, lo[x]), *greatest = mo_maxf(*greatest, hi[x]);
}

float mo_halves_liquid(const mo_grid *g, const float *phi, int32_t tile, mo_halves *h)
{
    MO_ASSERT(tile >= 0 && tile < g->tiles);
    level l;
    bool flat = mo_grid_is_2d(g);
    enum { MIDDLE = MO_MARGIN + HALO };
    mo_grid_block(g, phi, tile, HALO, AIR, (float *)l.phi);
    float lo, hi;
    range_of(&l, flat ? MIDDLE : HALO - 1, flat ? MIDDLE + 1 : HALO + MO_TILE + 1, &lo, &hi);
    if (lo > MOST) return 0;
    if (hi < -MOST) return 1;
    // 2D: alike at every height.
    for (int z = MIDDLE - 2; flat && z <= MIDDLE + 2; z++)
        if (z != MIDDLE) memcpy(l.phi[z], l.phi[MIDDLE], sizeof l.phi[z]);
    int first = flat ? PLANE : 0, end = flat ? PLANE + 1 : MO_HALVES;
    for (int z = (first + 1) >> 1; z <= end >> 1; z++) find_shifts(&l, z);
    for (int z = first; z <= end; z++) find_corners(&l, z);
    l.cuts = 0;
    for (int z = first; z < end; z++)
        for (int y = 0; y < MO_HALVES; y++) sort_row(&l, y, z, h->part[z][y]);
    clip_halves(&l, h);
    if (flat) memcpy(h->part[PLANE + 1], h->part[PLANE], sizeof h->part[PLANE]);
    return 0.5f;
}
