// The liquid's weights WL of one tile (weights.h, docs/math.md 2.1): the parts of half cells below the level set, added
// up.
//
// The level set is known at cell centres and linear between them; its half cells are the eighths of the boxes between
// eight centres, so linear clipping of their corner values misses only the curvature. Along one axis a parabola lies on
// average f''/12 below its chords: half cells are shifted by that much, f'' the least of three neighbouring second
// differences, so that ridges and the plateau of a capped distance do not count as curvature.
//
// Cells and edges have the volume of a box. A face has the mean of the boxes between the centres of its two cells:
//
//     WL^u = integral over both cells of (1 - |x|) H,     x from the face along its axis, in cells
//
// which needs the volume and the first moment along the axis of either cell. Then liquid at rest stays at rest, however
// it lies on the grid: rho WL^u g must be the difference of two cells' multipliers on faces of every axis. The mean of
// max(p, 0) over cells has that difference, because the derivative of a mean over boxes is the mean of the derivative.
// With volumes of boxes round faces each axis would need a different multiplier. The tents of the faces of one axis add
// up to 1 everywhere: together they have the whole volume, including thin layers and drops.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math") // values stay the same; without it gcc clips one half cell at a time
#endif
#include "grid/halves.h"
#include "grid/weights.h"
#include <math.h>
#include <string.h>

enum { HALO = 3, BLOCK = MO_TILE + 2 * HALO, LANES = 8 };
enum { CELLS = MO_TILE + 1, HALVES = 2 * CELLS, CORNERS = HALVES + 1 }; // cells -1 .. 7, half cells -2 .. 15
enum { NODES = MO_TILE + 3 };                                           // cells -2 .. 8, between which corners lie
enum { ROW = 24 };                                                      // corners of a row, padded to whole vectors
enum { PLANE = 2 * MO_MARGIN + 2, MIDDLE = MO_MARGIN + HALO }; // of 2D: first layer of half cells, layer of the block
#define AIR       2.0f                                         // of missing tiles
#define MOST_BENT 1.0f                                         // a surface of two cells' radius: beyond, f'' is noise
#define MOST      (1.0f / 12)                                  // the shift of that

typedef float cell_field[CELLS][CELLS][CELLS];

typedef struct level {
    float phi[BLOCK][BLOCK][BLOCK];                 // cells -3 .. 10
    float corner[CORNERS][CORNERS][ROW];            // half-cell corners -2 .. 16
    cell_field shift;                               // of a cell's half cells
    uint16_t cut[HALVES * HALVES * HALVES + LANES]; // corner indices of half cells the surface cuts
    int cuts;
} level;

// ---- Level set ----

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

// Corners along one axis: odd ones are cell centres, even ones lie midway. Cell -2 is node 0.
static inline int node_before(int corner) { return (corner + 1) >> 1; }
static inline int node_after(int corner) { return (corner + 2) >> 1; }

static void find_corners(level *l, int z)
{
    float middle[NODES][NODES], row[NODES][ROW] = {{0}};
    for (int y = 0; y < NODES; y++)
        for (int x = 0; x < NODES; x++)
            middle[y][x] = 0.5f * (l->phi[node_before(z) + HALO - 2][y + HALO - 2][x + HALO - 2] +
                                   l->phi[node_after(z) + HALO - 2][y + HALO - 2][x + HALO - 2]);
    for (int y = 0; y < NODES; y++) {
        for (int x = 0; x < CELLS; x++) row[y][2 * x + 1] = middle[y][x + 1];
        for (int x = 0; x < CELLS + 1; x++) row[y][2 * x] = 0.5f * (middle[y][x] + middle[y][x + 1]);
    }
    for (int y = 0; y < CORNERS; y++)
        for (int x = 0; x < ROW; x++) l->corner[z][y][x] = 0.5f * (row[node_before(y)][x] + row[node_after(y)][x]);
}

// Range of the values between which the corners lie, in the layers z .. end - 1 of the block.
static void range_of(const level *l, int z, int end, float *lowest, float *highest)
{
    enum { FIRST = HALO - 2 };
    float lo[NODES], hi[NODES];
    for (int x = 0; x < NODES; x++) lo[x] = hi[x] = l->phi[z][FIRST][FIRST + x];
    for (; z < end; z++)
        for (int y = FIRST; y < FIRST + NODES; y++) {
            const float *p = &l->phi[z][y][FIRST];
            for (int x = 0; x < NODES; x++) lo[x] = mo_minf(lo[x], p[x]), hi[x] = mo_maxf(hi[x], p[x]);
        }
    *lowest = lo[0], *highest = hi[0];
    for (int x = 1; x < NODES; x++) *lowest = mo_minf(*lowest, lo[x]), *highest = mo_maxf(*highest, hi[x]);
}

// ---- Half cells ----

// Half cells whose corners agree are full or empty; the others are listed.
static void sort_row(level *l, int y, int z, float part[HALVES])
{
    const float *a = l->corner[z][y], *b = l->corner[z][y + 1], *c = l->corner[z + 1][y], *d = l->corner[z + 1][y + 1];
    const float *cell = l->shift[z >> 1][y >> 1];
    float lo[ROW], hi[ROW], shift[HALVES];
    int32_t cut[HALVES], any = 0;
    for (int x = 0; x < CELLS; x++) shift[2 * x] = shift[2 * x + 1] = cell[x];
    for (int x = 0; x < ROW; x++) {
        lo[x] = mo_minf(mo_minf(a[x], b[x]), mo_minf(c[x], d[x]));
        hi[x] = mo_maxf(mo_maxf(a[x], b[x]), mo_maxf(c[x], d[x]));
    }
    for (int x = 0; x < HALVES; x++) {
        float lowest = mo_minf(lo[x], lo[x + 1]) + shift[x], highest = mo_maxf(hi[x], hi[x + 1]) + shift[x];
        part[x] = highest < 0 ? 1.0f : 0.0f;
        cut[x] = (lowest < 0) & (highest >= 0);
        any |= cut[x];
    }
    int n = l->cuts;
    for (int x = 0; any && x < HALVES; x++) {
        l->cut[n] = (uint16_t)(x + ROW * (y + CORNERS * z));
        n += cut[x];
    }
    l->cuts = n;
}

typedef struct node { // a corner of a tetrahedron
    float phi;
    int32_t at; // the box's corner, x + 2 y + 4 z
} node;

static inline void order(node *p, node *q)
{
    bool swap = q->phi < p->phi;
    node low = {swap ? q->phi : p->phi, swap ? q->at : p->at}, high = {swap ? p->phi : q->phi, swap ? p->at : q->at};
    *p = low, *q = high;
}

// Negative part of the edge between x <= y.
static inline float clip_edge(float x, float y) { return mo_maxf(0, mo_minf(1, -x / (y - x + 1e-30f))); }

// Adds the negative part of a tetrahedron, and the integral of each coordinate of the unit cube over it, both relative
// to the tetrahedron's volume. mo_fraction_tet without branches, so that several run at once: corners sorted a <= b <=
// c <= d, AC the zero of the edge ac. The wedge of two negative corners is made of the tetrahedra a b BC BD, a AC BC BD
// and a AC AD BD, of which the last shrinks to a AB AC AD if there is one; c CD AD BD is added by three.
static inline void clip_tet(node a, node b, node c, node d, float sum[4][LANES], int lane)
{
    order(&a, &b), order(&c, &d), order(&a, &c), order(&b, &d), order(&b, &c);
    float ab = clip_edge(a.phi, b.phi), ac = clip_edge(a.phi, c.phi), ad = clip_edge(a.phi, d.phi);
    float bc = clip_edge(b.phi, c.phi), bd = clip_edge(b.phi, d.phi), cd = clip_edge(c.phi, d.phi);
    float t0 = bc * bd, t1 = ac * bd * (1 - bc), t2 = (1 - bd) * ab * ac * ad, t3 = (1 - bd) * (1 - ad) * cd;
    // A tetrahedron's centroid is the mean of its corners, and these lie between a, b, c, d.
    float part = t0 + t1 + t2 + t3;
    float of_b = t0 * (3 - bc - bd) + t1 * (2 - bc - bd) + t2 * ab * (1 - bd) + t3 * (1 - bd);
    float of_c = t0 * bc + t1 * (ac + bc) + t2 * ac + t3 * (2 - cd);
    float of_d = t0 * bd + t1 * bd + t2 * (ad + ab * bd) + t3 * (cd + ad + bd);
    float of_a = 4 * part - of_b - of_c - of_d;
    sum[0][lane] += part;
    for (int k = 0; k < 3; k++)
        sum[k + 1][lane] += 0.25f * ((a.at >> k & 1 ? of_a : 0) + (b.at >> k & 1 ? of_b : 0) +
                                     (c.at >> k & 1 ? of_c : 0) + (d.at >> k & 1 ? of_d : 0));
}

// Stores the part of one cut half cell, rounded in h, and its first moments about its low corner.
static void keep_half(mo_wet *w, mo_halves *h, int at, const float sum[4])
{
    int x = at % ROW, y = at / ROW % CORNERS, z = at / (ROW * CORNERS);
    float part = mo_minf(sum[0] / 6, 1), rounded = mo_half_round(part);
    h->part[z][y][x] = rounded;
    w->part[z][y][x] = rounded > 0 ? part : 0;
    for (int a = 0; a < 3; a++) w->far[a][z][y][x] = rounded > 0 ? mo_minf(sum[a + 1] / 6, part) : 0;
}

static void clip_halves(level *l, mo_wet *w, mo_halves *h)
{
    // Kuhn's six tetrahedra, as mo_fraction_box.
    static const uint8_t path[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    const float *corner = (const float *)l->corner;
    for (int i = 0; i < LANES; i++) l->cut[l->cuts + i] = 0;
    for (int first = 0; first < l->cuts; first += LANES) {
        float c[8][LANES], sum[4][LANES] = {{0}};
        for (int i = 0; i < LANES; i++) {
            int at = l->cut[first + i], x = at % ROW, y = at / ROW % CORNERS, z = at / (ROW * CORNERS);
            float s = l->shift[z >> 1][y >> 1][x >> 1];
            for (int n = 0; n < 8; n++) c[n][i] = corner[at + (n & 1) + ROW * ((n >> 1 & 1) + CORNERS * (n >> 2))] + s;
        }
        for (int t = 0; t < 6; t++) {
            int u = path[t][0], v = path[t][1];
            for (int i = 0; i < LANES; i++)
                clip_tet((node){c[0][i], 0}, (node){c[u][i], u}, (node){c[v][i], v}, (node){c[7][i], 7}, sum, i);
        }
        for (int i = 0; i < LANES && first + i < l->cuts; i++)
            keep_half(w, h, l->cut[first + i], (float[4]){sum[0][i], sum[1][i], sum[2][i], sum[3][i]});
    }
}

// ---- Faces ----

enum { STEP_Y = HALVES, STEP_Z = HALVES * HALVES };
static const int step_along[3] = {1, STEP_Y, STEP_Z};
static const int column[3][4] = {
    {0, STEP_Y, STEP_Z, STEP_Y + STEP_Z}, {0, 1, STEP_Z, STEP_Z + 1}, {0, 1, STEP_Y, STEP_Y + 1}}; // across each axis

// Finds the part that the half cells of a cut cell, the first of them at `corner`, give to the farther face of the
// cell, from their first moments. Let a and b lie behind one another along the axis, a below b: the tent of the lower
// face is 1 - y and that of the upper one y, so a gives the upper face its moment, b gives the lower one the rest of
// its own. Only the difference is given, so that full half cells give nothing.
static void give_far(mo_wet *w, int corner)
{
    const float *part = (const float *)w->part;
    for (int axis = 0; axis < 3; axis++) {
        float *far = (float *)w->far[axis];
        for (int k = 0; k < 4; k++) {
            int a = corner + column[axis][k], b = a + step_along[axis];
            float up = 0.5f * far[a], down = 0.5f * (part[b] - far[b]);
            far[a] = mo_maxf(up - down, 0), far[b] = mo_maxf(down - up, 0);
        }
    }
}

// Finds which cells are cut, from the half cells of the layers first .. end - 1, and what these give.
static void sort_cells(mo_wet *w, int first, int end)
{
    const float *part = (const float *)w->part;
    for (int z = first / 2; z < end / 2; z++)
        for (int y = 0; y < CELLS; y++)
            for (int x = 0; x < CELLS; x++) {
                int corner = 2 * x + STEP_Y * 2 * y + STEP_Z * 2 * z;
                float sum = 0;
                for (int n = 0; n < 8; n++) sum += part[corner + (n & 1) + STEP_Y * (n >> 1 & 1) + STEP_Z * (n >> 2)];
                w->cell[z][y][x] = sum <= 0 ? MO_WET_NONE : sum >= 8 ? MO_WET_FULL : MO_WET_CUT;
                if (w->cell[z][y][x] == MO_WET_CUT) give_far(w, corner);
            }
}

// The kinds of the two cells of the low face of cell i.
static inline void cells_of(const mo_wet *w, int axis, int i, int kind[2])
{
    static const int before[3] = {1, CELLS, CELLS * CELLS};
    const uint8_t *own = &w->cell[1 + (i >> 6)][1 + (i >> 3 & 7)][1 + (i & 7)];
    kind[0] = own[-before[axis]], kind[1] = *own;
}

float mo_wet_share(const mo_wet *w, const mo_halves *of, int face)
{
    MO_ASSERT(face >= 0 && face < 3 * MO_TILE_CELLS);
    const int axis = face / MO_TILE_CELLS, i = face % MO_TILE_CELLS, s = step_along[axis],
              own = 2 + 2 * (i & 7) + STEP_Y * (2 + 2 * (i >> 3 & 7)) + STEP_Z * (2 + 2 * (i >> 6));
    const float *part = (const float *)w->part, *far = (const float *)w->far[axis], *value = (const float *)of;
    float total = 0;
    int kind[2];
    cells_of(w, axis, i, kind);
    for (int side = 0; side < 2; side++) {
        const int next = side ? own : own - s,
                  beyond = side ? s : -s; // the half cells beside the face, and behind them
        for (int k = 0; k < 4 && kind[side] != MO_WET_NONE; k++) {
            const int a = next + column[axis][k], b = a + beyond;
            if (kind[side] == MO_WET_FULL)
                total += value ? value[a] : 1;
            else
                total += (part[a] - far[a]) * (value ? value[a] : 1) + far[b] * (value ? value[b] : 1);
        }
    }
    return 0.125f * total;
}

// Faces of a wet cell have some liquid, so that its pressure has a row. Cut ones with more than that are listed.
static void gather_tents(bool flat, mo_wet *w, int axis, float *to)
{
    if (flat) memset(to, 0, sizeof *to * MO_TILE_CELLS);
    for (int i = flat ? 64 * MO_MARGIN : 0; i < (flat ? 64 * (MO_MARGIN + 1) : MO_TILE_CELLS); i++) {
        int kind[2];
        cells_of(w, axis, i, kind);
        to[i] = kind[0] == MO_WET_FULL;
        if (kind[0] == kind[1] && kind[0] != MO_WET_CUT) continue;
        int face = MO_TILE_CELLS * axis + i;
        to[i] = mo_minf(mo_maxf(mo_wet_share(w, NULL, face), MO_LEAST_TENT), 1);
        if (to[i] > MO_LEAST_TENT) w->face[w->faces++] = (uint16_t)face;
    }
}

// ---- Tile ----

void mo_liquid_tile(const mo_grid *g, const float *phi, int32_t tile, mo_wet *w, float *const out[7])
{
    MO_ASSERT(tile >= 0 && tile < g->tiles);
    level l;
    mo_halves h;
    bool flat = mo_grid_is_2d(g);
    mo_grid_block(g, phi, tile, HALO, AIR, (float *)l.phi);
    float lo, hi;
    range_of(&l, flat ? MIDDLE : HALO - 2, flat ? MIDDLE + 1 : HALO + MO_TILE + 1, &lo, &hi);
    w->cut = lo <= MOST && hi >= -MOST;
    if (!w->cut) {
        mo_halves_fill(flat, lo > MOST ? 0 : 1, out);
        return;
    }
    // 2D: alike at every height.
    for (int z = MIDDLE - 2; flat && z <= MIDDLE + 2; z++)
        if (z != MIDDLE) memcpy(l.phi[z], l.phi[MIDDLE], sizeof l.phi[z]);
    int first = flat ? PLANE : 0, end = flat ? PLANE + 2 : HALVES;
    for (int z = first / 2; z < end / 2; z++) find_shifts(&l, z);
    for (int z = first; z <= end; z++) find_corners(&l, z);
    l.cuts = 0;
    for (int z = first; z < end; z++)
        for (int y = 0; y < HALVES; y++) sort_row(&l, y, z, w->part[z][y]);
    memcpy(h.part[first], w->part[first], sizeof h.part[0] * (size_t)(end - first));
    for (int a = 0; a < 3; a++)
        for (int i = STEP_Z * first; i < STEP_Z * end; i++)
            ((float *)w->far[a])[i] = 0.5f * ((const float *)w->part)[i];
    clip_halves(&l, w, &h);
    sort_cells(w, first, end);
    w->faces = 0;
    for (int a = 0; a < (flat ? 2 : 3); a++) gather_tents(flat, w, a, out[MO_SAMPLE_FACE + a]);
    if (flat) memset(out[MO_SAMPLE_FACE + 2], 0, sizeof(float) * MO_TILE_CELLS);
    mo_halves_gather(flat, &h, (float *[7]){out[0], NULL, NULL, NULL, out[4], out[5], out[6]});
}
