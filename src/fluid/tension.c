// Curvature of a surface known only through jittered particles, and the jump of pressure it makes (VS 5.1, eq. 23).
//
// 1. Colour c: hat density of the particles, mirrored into walls and solids (contact at a right angle), smoothed by
//    SMOOTHINGS binomial passes. Its variance is v0 = SMOOTHINGS + 1/6 (the hat's), so c = Phi(q / sqrt(v0)) with q the
//    depth of a flat surface; of a curved one the depth is D = q + v0 kappa / 2.
// 2. Principal curvatures of the level sets of q. Differences of q are exact for tilted planes, those of c are not (off
//    by 0.006 / dx at two cells from the surface). A level set at depth D continues to the surface: k / (1 + k D).
// 3. One S = a few normalised triangle passes over the cells near the surface. Curvature after S, S^2, S^3 lies on a
//    parabola in the exponent t; its value at t = -undone takes back the damping of S and of the colour's smoothing.
//    Long waves are then right to the third order in their squared wave number, the noise of particles, which is short,
//    is averaged away, and the response is positive for every wave: none is driven.
//
// Measured (2 particles per axis, jittered, also stirred by 0.2 cells; R = 8, 12, 16): mean off by < 0.3%; rms along
// the surface 2.5, 3.6, 4.7% of 1/R in 2D and 1.6, 2.6, 3.5% in 3D; modes 2, 3, 4 at R = 16 have 1.01, 0.99, 0.93 of
// their amplitude in 2D and 1.00, 0.98, 0.96 in 3D; a rope 4 cells thick has an error of 2.5%; moving the particles
// over the grid changes 0.3% (rms). Cost: 1.5 to 2 times that of mo_surface_union. Rejected: differences of c (above);
// colour from the union of spheres or its closings with radii 0.7 .. 2 (the same noise, bias 1 .. 2.5%); smoothing of c
// alone (noise of 5% costs a quarter of mode 4).
#include "fluid/tension.h"
#include "base/elementary.h"
#include <math.h>
#include <string.h>

enum { SMOOTHINGS = 2, PASSES_2D = 4, PASSES_3D = 2 }; // passes of one S: surfaces need fewer than curves
static const float colour_variance = SMOOTHINGS + 1 / 6.0f, triangle_variance = 4;
static const float band = 3; // |D|, cells: further out than the header promises, for bumps of the pressure's level set
static const float faintest = 0.02f;    // colour: single particles make less
static const float mirror_depth = 3.5f; // cells of solid that a smoothing pass can see from open cells

static const float binomial[5] = {1 / 16.0f, 4 / 16.0f, 6 / 16.0f, 4 / 16.0f, 1 / 16.0f};
static const float triangle[9] = {0.04f, 0.08f, 0.12f, 0.16f, 0.2f, 0.16f, 0.12f, 0.08f, 0.04f};

typedef struct work {
    const mo_particles *p;
    const mo_grid *g;
    const float *density; // hat density of the liquid; NULL: the particles'
    const float *solid;   // walls->distance
    bool flat;
    int first, end;  // planes of a tile that are real
    uint8_t *active; // [tiles] the surface is in this tile or next to it
    uint8_t *banded; // [tiles] some cells have a curvature
} work;

static inline float clamped(float x, float limit) { return mo_minf(mo_maxf(x, -limit), limit); }

static void fill(float *tile, float value)
{
    for (int i = 0; i < MO_TILE_CELLS; i++) tile[i] = value;
}

// ---- Tiles near the surface ----

// Every cell holds particles or is solid.
static bool is_deep(const work *s, int32_t tile)
{
    for (int32_t i = tile * MO_TILE_CELLS + 64 * s->first; i < tile * MO_TILE_CELLS + 64 * s->end; i++)
        if (s->p->start[i] == s->p->start[i + 1] && s->solid[i] >= 0 && !(s->p->deep && s->p->deep[i])) return false;
    return true;
}

// A deep tile has all its neighbours within the lattice, so that a missing one is no surface.
static void find_active(const work *s, uint8_t *deep)
{
    const mo_grid *g = s->g;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) deep[t] = is_deep(s, t);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) {
        s->active[t] = 0, s->banded[t] = 0;
        for (int o = 0; o < 27; o++) {
            int32_t n = g->neighbour[t][o];
            if (n >= 0 && !deep[n]) s->active[t] = 1;
        }
    }
}

// ---- Colour ----

enum { RING = MO_TILE + 2, RING_CELLS = RING * RING * RING }; // a tile and one cell around it

static void add_particles(const mo_particles *p, int32_t first, int32_t last, const float base[3], float *block)
{
    for (int32_t q = first; q < last; q++) {
        float x = p->x[0][q] - base[0], y = p->x[1][q] - base[1], z = p->x[2][q] - base[2];
        if (!(x >= 0 && y >= 0 && z >= 0 && x < RING - 1 && y < RING - 1 && z < RING - 1)) continue;
        int i = (int)x, j = (int)y, k = (int)z;
        float fx = x - (float)i, fy = y - (float)j, fz = z - (float)k;
        float *b = block + i + RING * (j + RING * k), v = p->volume[q];
        float w[4] = {v * (1 - fy) * (1 - fz), v * fy * (1 - fz), v * (1 - fy) * fz, v * fy * fz};
        for (int r = 0; r < 4; r++) {
            float *row = b + RING * ((r & 1) + RING * (r >> 1));
            row[0] += w[r] * (1 - fx), row[1] += w[r] * fx;
        }
    }
}

// Part of a cell's hat that is open, from the distance to solids at the 27 cells around; exact at walls between cells.
static float open_part(const float *distance, bool flat)
{
    static const float w[3] = {0.125f, 0.75f, 0.125f};
    float sum = 0;
    for (int o = flat ? 9 : 0; o < (flat ? 18 : 27); o++) {
        int x = o % 3 - 1, y = o / 3 % 3 - 1, z = o / 9 - 1;
        float open = mo_minf(mo_maxf(0.5f + distance[x + RING * (y + RING * z)], 0), 1);
        sum += w[x + 1] * w[y + 1] * (flat ? 1 : w[z + 1]) * open;
    }
    return mo_maxf(sum, 0.25f);
}

// The tile's own cells gather from the lists of all cells around, which may be half a cell stale.
static void density_tile(const work *s, int32_t tile, float *c)
{
    const mo_grid *g = s->g;
    const int32_t *at = g->coord[tile];
    float block[RING_CELLS] = {0}, base[3];
    for (int a = 0; a < 3; a++) base[a] = (float)(8 * at[a]) - 0.5f;
    if (s->density) mo_grid_block(g, s->density, tile, 1, 0, block);
    for (int z = s->density ? MO_TILE + 1 : s->flat ? MO_MARGIN : -1; z < (s->flat ? MO_MARGIN + 1 : MO_TILE + 1); z++)
        for (int y = -1; y <= MO_TILE; y++)
            for (int x = -1; x <= MO_TILE; x += x == 0 ? MO_TILE : 1) { // -1, the run 0 .. 7, 8
                int32_t i = mo_grid_index(g, 8 * at[0] + x, 8 * at[1] + y, 8 * at[2] + z);
                if (i >= 0) add_particles(s->p, s->p->start[i], s->p->start[x ? i + 1 : (i | 7) + 1], base, block);
            }
    float distance[RING_CELLS];
    mo_grid_block(g, s->solid, tile, 1, 4, distance);
    for (int32_t l = 64 * s->first; l < 64 * s->end; l++) {
        int q = (l & 7) + 1 + RING * ((l >> 3 & 7) + 1 + RING * ((l >> 6) + 1));
        float *out = &c[tile * MO_TILE_CELLS + l];
        *out = block[q];
        if (distance[q] >= 0 && distance[q] < 2.3f) *out /= open_part(distance + q, s->flat);
    }
}

// The trilinear mean of the open cells around x; *weight: their part of the weights. Missing tiles are air.
static float sample_open(const work *s, const float *c, const float x[3], float *weight)
{
    int32_t cell[3];
    float f[3], sum = 0;
    for (int a = 0; a < 3; a++) cell[a] = (int32_t)floorf(x[a] - 0.5f), f[a] = x[a] - 0.5f - (float)cell[a];
    *weight = 0;
    for (int o = 0; o < 8; o++) {
        float w = (o & 1 ? f[0] : 1 - f[0]) * (o & 2 ? f[1] : 1 - f[1]) * (o & 4 ? f[2] : 1 - f[2]);
        int32_t i = mo_grid_index(s->g, cell[0] + (o & 1), cell[1] + (o >> 1 & 1), cell[2] + (o >> 2));
        if (w <= 0 || (i >= 0 && s->solid[i] < 0)) continue;
        *weight += w;
        if (i >= 0) sum += w * c[i];
    }
    return *weight > 0 ? sum / *weight : 0;
}

// Colour of a solid cell: that of its mirror image in the solid's surface; in a corner the image of the image. Reads
// open cells only, so tiles do not see each other's work.
static float mirrored(const work *s, const float *c, int32_t index)
{
    for (int bounce = 0; bounce < 3 && index >= 0; bounce++) {
        int32_t cell[3];
        float normal[3] = {0}, x[3], norm = 0, weight;
        mo_grid_cell(s->g, index, cell);
        for (int a = 0; a < (s->flat ? 2 : 3); a++) {
            int32_t lo = mo_grid_step(s->g, index, a, -1), hi = mo_grid_step(s->g, index, a, 1);
            bool edge = cell[a] == 0 || cell[a] == s->g->n[a] - 1; // walls continue beyond the lattice
            float none = s->solid[index] - (edge ? 1 : 0);
            normal[a] = 0.5f * ((hi < 0 ? none : s->solid[hi]) - (lo < 0 ? none : s->solid[lo]));
            norm += normal[a] * normal[a];
        }
        if (norm < 0.01f) return 0;
        float reach = -2 * s->solid[index] / sqrtf(norm);
        for (int a = 0; a < 3; a++) x[a] = (float)cell[a] + 0.5f + reach * normal[a];
        float value = sample_open(s, c, x, &weight);
        if (weight > 0.1f) return value;
        index = mo_grid_index(s->g, (int32_t)floorf(x[0]), (int32_t)floorf(x[1]), (int32_t)floorf(x[2]));
    }
    return 0;
}

static void mirror(const work *s, float *c)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) {
        if (!s->active[t]) continue;
        for (int32_t i = t * MO_TILE_CELLS + 64 * s->first; i < t * MO_TILE_CELLS + 64 * s->end; i++)
            if (s->solid[i] < 0) c[i] = s->solid[i] > -mirror_depth ? mirrored(s, c, i) : 0;
    }
}

// ---- Convolution ----

// Symmetric weights of 2 halo + 1 taps along every axis, over a block with that halo; out: the tile's real planes.
static void convolve(const work *s, const float *block, int halo, const float *weight, float *out)
{
    const int S = MO_TILE + 2 * halo, taps = 2 * halo + 1;
    float along_x[MO_TILE * 16 * 16], along_y[MO_TILE * MO_TILE * 16];
    int z0 = s->flat ? MO_MARGIN + halo : 0, z1 = s->flat ? z0 + 1 : S;
    for (int r = S * z0; r < S * z1; r++) {
        float sum[MO_TILE] = {0};
        for (int t = 0; t < taps; t++)
            for (int i = 0; i < MO_TILE; i++) sum[i] += weight[t] * block[S * r + t + i];
        memcpy(along_x + MO_TILE * r, sum, sizeof sum);
    }
    for (int z = z0; z < z1; z++)
        for (int y = 0; y < MO_TILE; y++) {
            float sum[MO_TILE] = {0};
            for (int t = 0; t < taps; t++)
                for (int i = 0; i < MO_TILE; i++) sum[i] += weight[t] * along_x[MO_TILE * (S * z + y + t) + i];
            memcpy(along_y + MO_TILE * (MO_TILE * z + y), sum, sizeof sum);
        }
    if (s->flat) {
        memcpy(out + 64 * MO_MARGIN, along_y + 64 * z0, 64 * sizeof(float));
        return;
    }
    for (int z = 0; z < MO_TILE; z++) {
        float sum[64] = {0};
        for (int t = 0; t < taps; t++)
            for (int i = 0; i < 64; i++) sum[i] += weight[t] * along_y[64 * (z + t) + i];
        memcpy(out + 64 * z, sum, sizeof sum);
    }
}

// The smoothed colour ends in c; inside, out of the surface's reach, it is 1.
static void make_colour(const work *s, float *c, float *next)
{
    _Static_assert(SMOOTHINGS % 2 == 0, "an even number of passes ends where it began");
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) {
        fill(c + (int64_t)t * MO_TILE_CELLS, 1), fill(next + (int64_t)t * MO_TILE_CELLS, 1);
        if (s->active[t]) density_tile(s, t, c);
    }
    mirror(s, c);
    for (int pass = 0; pass < SMOOTHINGS; pass++) {
        float *to = pass % 2 ? c : next;
        const float *from = pass % 2 ? next : c;
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t t = 0; t < s->g->tiles; t++) {
            float block[12 * 12 * 12];
            if (!s->active[t]) continue;
            mo_grid_block(s->g, from, t, 2, 0, block);
            convolve(s, block, 2, binomial, to + (int64_t)t * MO_TILE_CELLS);
        }
        mirror(s, to);
    }
}

// ---- Curvature of level sets ----

// The depth at which a flat surface's smoothed colour is c: sqrt(v0) Phi^-1(c), to 0.2% (Winitzki).
static float depth_of(float c)
{
    const float a = 0.147f, x = clamped(2 * c - 1, 0.998f), log_part = log1pf(-x * x);
    const float t = 2 / (3.14159265f * a) + 0.5f * log_part, y = -log_part / a;
    return copysignf(sqrtf(2 * colour_variance * y / (sqrtf(t * t + y) + t)), x);
}

typedef struct bend { // of the level set of q through a cell, per cell
    float mean, gauss, slope2;
} bend; // k1 + k2, k1 k2, |grad q|^2

static bend bend_at(const float *q, bool flat)
{
    static const int stride[3] = {1, RING, RING * RING};
    int axes = flat ? 2 : 3;
    float g[3] = {0}, h[3][3] = {{0}}, slope2 = 1e-6f, trace = 0, ghg = 0, gauss = 0;
    for (int a = 0; a < axes; a++) {
        int i = stride[a];
        g[a] = 0.5f * (q[i] - q[-i]), h[a][a] = q[i] - 2 * q[0] + q[-i];
        slope2 += g[a] * g[a], trace += h[a][a];
        for (int b = 0; b < a; b++) {
            int j = stride[b];
            h[a][b] = h[b][a] = 0.25f * (q[i + j] - q[i - j] - q[j - i] + q[-i - j]);
        }
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            ghg += g[a] * h[a][b] * g[b];
            gauss += g[a] * (h[a1][b1] * h[a2][b2] - h[a1][b2] * h[a2][b1]) * g[b]; // the adjugate of h
        }
    return (bend){-(slope2 * trace - ghg) / (slope2 * sqrtf(slope2)), gauss / (slope2 * slope2), slope2};
}

// A principal curvature at depth d, continued to the surface and limited to one over a cell. Differences cannot show
// more than a curvature of two per cell; the lower bound keeps the continuation from crossing the centre of curvature.
static float at_surface(float k, float d)
{
    k = clamped(k, 2);
    return clamped(k / mo_maxf(1 + k * d, 0.25f), 1);
}

enum { REACH = 3, WIDE = MO_TILE + 2 * REACH }; // cells inside that see the surface

// Bit x of seen[z][y]: a cell at most REACH away along each axis is more air than liquid.
static void sight(const work *s, const float *c, uint32_t seen[MO_TILE][MO_TILE])
{
    uint32_t row[WIDE][WIDE] = {{0}};
    int z0 = s->flat ? MO_MARGIN + REACH : 0, z1 = s->flat ? z0 + 1 : WIDE;
    for (int z = z0; z < z1; z++)
        for (int y = 0; y < WIDE; y++) {
            uint32_t m = 0;
            const float *v = c + WIDE * (y + WIDE * z);
            for (int x = 0; x < WIDE; x++) m |= (uint32_t)(v[x] >= 0 && v[x] < 0.5f) << x;
            for (int r = 0; r <= 2 * REACH; r++) row[z][y] |= m >> r;
        }
    for (int z = 0; z < MO_TILE; z++)
        for (int y = 0; y < MO_TILE; y++) {
            seen[z][y] = 0;
            for (int r = 0; r < (2 * REACH + 1) * (2 * REACH + 1); r++)
                seen[z][y] |= row[z + r / (2 * REACH + 1)][y + r % (2 * REACH + 1)];
        }
}

// The depths of a tile's cells and of those around it; seen: as above. False if the surface is not here.
static bool depths(const work *s, const float *c, int32_t tile, float *q, uint32_t seen[MO_TILE][MO_TILE])
{
    float wide[WIDE * WIDE * WIDE], low = 1, high = 0;
    mo_grid_block(s->g, c, tile, REACH, -1, wide); // -1 acts as 0 for depths, but walls beyond the lattice are not air
    int z0 = s->flat ? MO_MARGIN + 1 : 0, z1 = s->flat ? z0 + 1 : RING;
    for (int z = z0; z < z1; z++)
        for (int y = 0; y < RING; y++)
            for (int x = 0; x < RING; x++) {
                float value = wide[x + REACH - 1 + WIDE * (y + REACH - 1 + WIDE * (z + REACH - 1))];
                q[x + RING * (y + RING * z)] = value;
                low = mo_minf(low, value), high = mo_maxf(high, value);
            }
    if (low > 1 - faintest || high < faintest) return false;
    for (int i = RING * RING * z0; i < RING * RING * z1; i++) q[i] = depth_of(q[i]);
    sight(s, wide, seen);
    return true;
}

// Weight and weighted curvature of the tile's cells near the surface, 0 elsewhere. Inside, a colour below 1 may be a
// loose packing, so only cells that see the surface count. The weight falls with the colour's slope, squared: the noise
// of q grows as one over it. In the middle of thin pieces q is flat and says nothing.
static bool bend_tile(const work *s, const float *c, int32_t tile, float *weight, float *f)
{
    const float deepest = depth_of(1 - faintest);
    float q[RING_CELLS];
    uint32_t seen[MO_TILE][MO_TILE];
    bool any = false;
    if (!depths(s, c, tile, q, seen)) return false;
    for (int32_t l = 64 * s->first; l < 64 * s->end; l++) {
        const float *here = q + (l & 7) + 1 + RING * ((l >> 3 & 7) + 1 + RING * ((l >> 6) + 1));
        if (fabsf(*here) > deepest || s->solid[tile * MO_TILE_CELLS + l] <= -1) continue;
        if (!(seen[l >> 6][l >> 3 & 7] >> (l & 7) & 1)) continue;
        bend b = bend_at(here, s->flat);
        float depth = *here + 0.5f * colour_variance * clamped(b.mean, s->flat ? 1 : 2);
        if (fabsf(depth) > band) continue;
        float split = sqrtf(mo_maxf(0.25f * b.mean * b.mean - b.gauss, 0));
        float kappa = s->flat ? at_surface(b.mean, depth)
                              : at_surface(0.5f * b.mean + split, depth) + at_surface(0.5f * b.mean - split, depth);
        weight[l] = (float)mo_exp(-*here * *here / colour_variance) * mo_minf(b.slope2, 1) + 1e-4f;
        f[l] = weight[l] * kappa;
        any = true;
    }
    return any;
}

// ---- Smoothing along the surface ----

// to = ratio * (triangle * from): with from = w k and ratio = w / (triangle * w) one normalised pass over k.
static void surface_pass(const work *s, const float *from, const float *ratio, float *to)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) {
        float block[16 * 16 * 16], *out = to + (int64_t)t * MO_TILE_CELLS;
        const float *r = ratio + (int64_t)t * MO_TILE_CELLS;
        if (!s->banded[t]) continue;
        mo_grid_block(s->g, from, t, 4, 0, block);
        convolve(s, block, 4, triangle, out);
        for (int l = 64 * s->first; l < 64 * s->end; l++) out[l] *= r[l];
    }
}

// ratio[i] = w / (triangle * w) where there is a weight, 0 elsewhere.
static void normalise(const work *s, const float *weight, float *ratio)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < s->g->tiles; t++) {
        float block[16 * 16 * 16], sum[MO_TILE_CELLS], *out = ratio + (int64_t)t * MO_TILE_CELLS;
        const float *w = weight + (int64_t)t * MO_TILE_CELLS;
        fill(out, 0);
        if (!s->banded[t]) continue;
        mo_grid_block(s->g, weight, t, 4, 0, block);
        convolve(s, block, 4, triangle, sum);
        for (int l = 64 * s->first; l < 64 * s->end; l++) out[l] = w[l] > 0 ? w[l] / sum[l] : 0;
    }
}

static void add_scaled(const work *s, float scale, const float *f, float *sum)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < s->g->tiles; t++)
        for (int32_t i = t * MO_TILE_CELLS; s->banded[t] && i < (t + 1) * MO_TILE_CELLS; i++) sum[i] += scale * f[i];
}

// kappa = (S f, S^2 f, S^3 f continued to t = -undone) / weight, in 1/m. f and other: workspaces, 0 off the band.
static void smooth(const work *s, const float *weight, const float *ratio, float *f, float *other, float *kappa)
{
    _Static_assert(PASSES_2D % 2 == 0 && PASSES_3D % 2 == 0, "an even number of passes ends where it began");
    int passes = s->flat ? PASSES_2D : PASSES_3D;
    // In 2D, where S is wide, half as much again evens out the response up to mode 4 at R = 16.
    float undone = (s->flat ? 1.5f : 1.0f) * colour_variance / (triangle_variance * (float)passes);
    float lagrange[3] = {0.5f * (undone + 2) * (undone + 3), -(undone + 1) * (undone + 3),
                         0.5f * (undone + 1) * (undone + 2)};
    float most = s->flat ? 1 : 2, scale = (float)(1 / s->g->dx);
    memset(kappa, 0, sizeof(float) * (size_t)mo_grid_cells(s->g));
    for (int t = 0; t < 3; t++) {
        for (int pass = 0; pass < passes; pass += 2) {
            surface_pass(s, f, ratio, other);
            surface_pass(s, other, ratio, f);
        }
        add_scaled(s, lagrange[t], f, kappa);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_cells(s->g); i++)
        kappa[i] = weight[i] > 0 ? scale * clamped(kappa[i] / weight[i], most) : 0;
}

mo_status mo_curvature(const mo_particles *p, const mo_grid *g, const float *density, const mo_surface_walls *walls,
                       float *kappa, mo_arena *arena, mo_error *err)
{
    size_t mark = mo_arena_mark(arena), cells = (size_t)mo_grid_cells(g), tiles = (size_t)g->tiles;
    bool flat = mo_grid_is_2d(g);
    float *field = MO_ARENA_ARRAY(arena, float, 4 * cells);
    uint8_t *bytes = MO_ARENA_ARRAY(arena, uint8_t, 3 * tiles);
    if (!field || !bytes) {
        mo_arena_release(arena, mark);
        return mo_fail_memory(err);
    }
    work s = {p,
              g,
              density,
              walls->distance,
              flat,
              flat ? MO_MARGIN : 0,
              flat ? MO_MARGIN + 1 : MO_TILE,
              bytes,
              bytes + tiles};
    float *c = field, *f = field + cells, *weight = field + 2 * cells, *ratio = field + 3 * cells;
    find_active(&s, bytes + 2 * tiles);
    make_colour(&s, c, f);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        int64_t first = (int64_t)t * MO_TILE_CELLS;
        fill(weight + first, 0), fill(f + first, 0);
        s.banded[t] = s.active[t] && bend_tile(&s, c, t, weight + first, f + first);
    }
    memset(c, 0, sizeof(float) * cells);
    normalise(&s, weight, ratio);
    smooth(&s, weight, ratio, f, c, kappa);
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- The force ----

void mo_tension_apply(const mo_tension_def *def, float *const u[3])
{
    MO_ASSERT(def->gamma >= 0 && def->density > 0 && def->dt > 0);
    const mo_grid *g = def->grid;
    const double scale = def->gamma * def->dt / (def->density * g->dx);
    for (int a = 0; a < mo_grid_axes(g); a++) {
        const float *wet = def->wet[a];
#pragma omp parallel for schedule(static, 4096)
        for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
            if (!(wet[i] > 0)) continue;
            int32_t low = mo_grid_step(g, i, a, -1);
            double k1 = def->kappa[i], k0 = low < 0 ? 0 : def->kappa[low];
            // Next to the band only one value exists, and it is used for both: a missing value must not look like a
            // jump.
            if (k0 == 0) k0 = k1;
            if (k1 == 0) k1 = k0;
            if (k0 == 0) continue;
            double air1 = def->air[i], air0 = low < 0 ? 1 : def->air[low];
            double jump = air1 * k1 - air0 * k0 - (1 - (double)wet[i]) * (k1 - k0);
            u[a][i] = (float)(u[a][i] - scale * jump / wet[i]);
        }
    }
}

// Tension is explicit. Without viscosity the shortest wave of the grid, k = pi/dx and omega^2 = gamma k^3/rho, must not
// travel half a cell in a step: dt^2 <= c1 rho dx^3/gamma, c1 = 1/(4 pi) (Brackbill 1992). In a very viscous liquid it
// decays as exp(-gamma k t/(2 eta)); a step that does not overshoot is dt <= c2 eta dx/gamma, c2 = 2/pi (twice that
// would still be stable). Between them the root of dt^2 = a dt + b (Galusinski & Vigneaux 2008). Both are conservative:
// the curvature of waves that short is smoothed away.
double mo_tension_time_step(double gamma, double density, double viscosity, double dx)
{
    MO_ASSERT(gamma >= 0 && density > 0 && viscosity >= 0 && dx > 0);
    const double pi = 3.14159265358979323846;
    if (!(gamma > 0)) return INFINITY;
    double a = 2 / pi * viscosity * dx / gamma, b = density * dx * dx * dx / (4 * pi * gamma);
    return 0.5 * (a + sqrt(a * a + 4 * b));
}
