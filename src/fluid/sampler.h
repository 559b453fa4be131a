// Interpolation of face velocities round one tile: a private block of the fields, read with trilinear weights. Internal
// to fluid/: particles (transfer.c), the level set (levelset.c) and deep liquid (band.c) move in the same velocity
// field.
#ifndef MO_SAMPLER_H
#define MO_SAMPLER_H

#include "base/lanes.h"
#include "fluid/transfer.h"

// Position of a particle in the block of its tile, for samples offset by (ox, oy, oz) from the low corner of cells.
typedef struct place {
    int32_t index;
    float fx, fy, fz;
} place;

static inline place place_of(float lx, float ly, float lz, int edge)
{
    int32_t i = (int32_t)lx, j = (int32_t)ly, k = (int32_t)lz;
    return (place){i + edge * (j + edge * k), lx - (float)i, ly - (float)j, lz - (float)k};
}

enum { IN_HALO = 4, IN = MO_TILE + 2 * IN_HALO, IN_CELLS = IN * IN * IN };

typedef struct sampler { // the three velocity components around one tile
    float block[3][IN_CELLS];
    float base[3][3]; // [component][axis] lattice position of sample (0, 0, 0)
    int radius;       // of what a row sees, within which alone values are not 0; 0: a tile is loaded, or nothing yet
} sampler;

static inline void sampler_load(sampler *s, const mo_grid *g, const mo_faces *faces, int32_t tile)
{
    s->radius = 0;
    for (int c = 0; c < 3; c++) {
        mo_grid_block(g, faces->u[c], tile, IN_HALO, 0, s->block[c]);
        for (int a = 0; a < 3; a++) s->base[c][a] = (float)(8 * g->coord[tile][a] - IN_HALO) + (a == c ? 0.0f : 0.5f);
    }
}

// Returns how far something that moves in a tile's block for `step` (s per cell length) may see: the distance that it
// moves, plus the samples round its end. Where no sheet is so near, the lattice tells.
int mo_sampler_radius(const sampler *s, float step);

// Loads the same round the cell of a row, as the row sees it (grid/reach.h): as far as something that starts there may
// move in `step`, plus the samples round its end, at most `most` cells. around: scratch; it gets the rows that the row
// reaches. s->radius must be set. Returns how far it loaded.
int mo_sampler_load_row(sampler *s, const mo_grid *g, const mo_faces *faces, int32_t row, float step, int most,
                        int32_t *around);

// Steps are limited so that samples stay inside the block; the clamp only guards memory.
static inline float inside(float x) { return mo_minf(mo_maxf(x, 0), (float)IN - 1.001f); }

static inline float sample(const sampler *s, int c, const float x[3])
{
    place at = place_of(inside(x[0] - s->base[c][0]), inside(x[1] - s->base[c][1]), inside(x[2] - s->base[c][2]), IN);
    const float *b = s->block[c] + at.index;
    float b00 = b[0] + at.fx * (b[1] - b[0]), b10 = b[IN] + at.fx * (b[IN + 1] - b[IN]);
    b += IN * IN;
    float b01 = b[0] + at.fx * (b[1] - b[0]), b11 = b[IN] + at.fx * (b[IN + 1] - b[IN]);
    float b0 = b00 + at.fy * (b10 - b00), b1 = b01 + at.fy * (b11 - b01);
    return b0 + at.fz * (b1 - b0);
}

// Value and gradient per cell.
static inline float sample_gradient(const sampler *s, int c, const float x[3], float gradient[3])
{
    place at = place_of(inside(x[0] - s->base[c][0]), inside(x[1] - s->base[c][1]), inside(x[2] - s->base[c][2]), IN);
    const float *b = s->block[c] + at.index;
    float d00 = b[1] - b[0], d10 = b[IN + 1] - b[IN], b00 = b[0] + at.fx * d00, b10 = b[IN] + at.fx * d10;
    b += IN * IN;
    float d01 = b[1] - b[0], d11 = b[IN + 1] - b[IN], b01 = b[0] + at.fx * d01, b11 = b[IN] + at.fx * d11;
    float b0 = b00 + at.fy * (b10 - b00), b1 = b01 + at.fy * (b11 - b01);
    float d0 = d00 + at.fy * (d10 - d00), d1 = d01 + at.fy * (d11 - d01);
    gradient[0] = d0 + at.fz * (d1 - d0);
    gradient[1] = (b10 - b00) + at.fz * ((b11 - b01) - (b10 - b00));
    gradient[2] = b1 - b0;
    return b0 + at.fz * (b1 - b0);
}

// ---- The same for eight positions x[axis] at once ----

typedef struct corners {
    lanes f[3], v[8]; // fractions; values at the eight corners, x fastest
} corners;

static inline void find_corners(const sampler *s, int c, const lanes x[3], corners *at)
{
    static const int32_t offset[4] = {0, IN, IN * IN, IN * IN + IN};
    lane_ints i[3];
    for (int a = 0; a < 3; a++) {
        lanes p = x[a] - s->base[c][a];
        lanes_clamp(&p, (float)IN - 1.001f);
        i[a] = __builtin_convertvector(p, lane_ints);
        at->f[a] = p - __builtin_convertvector(i[a], lanes);
    }
    i[0] += IN * (i[1] + IN * i[2]);
    lanes_gather_pairs(s->block[c], &i[0], offset, at->v);
}

static inline void sample_lanes(const sampler *s, int c, const lanes x[3], lanes *out)
{
    corners at;
    find_corners(s, c, x, &at);
    const lanes *v = at.v, *f = at.f;
    lanes b00 = v[0] + f[0] * (v[1] - v[0]), b10 = v[2] + f[0] * (v[3] - v[2]);
    lanes b01 = v[4] + f[0] * (v[5] - v[4]), b11 = v[6] + f[0] * (v[7] - v[6]);
    lanes b0 = b00 + f[1] * (b10 - b00), b1 = b01 + f[1] * (b11 - b01);
    *out = b0 + f[2] * (b1 - b0);
}

static inline void sample_gradient_lanes(const sampler *s, int c, const lanes x[3], lanes *out, lanes gradient[3])
{
    corners at;
    find_corners(s, c, x, &at);
    const lanes *v = at.v, *f = at.f;
    lanes d00 = v[1] - v[0], d10 = v[3] - v[2], b00 = v[0] + f[0] * d00, b10 = v[2] + f[0] * d10;
    lanes d01 = v[5] - v[4], d11 = v[7] - v[6], b01 = v[4] + f[0] * d01, b11 = v[6] + f[0] * d11;
    lanes b0 = b00 + f[1] * (b10 - b00), b1 = b01 + f[1] * (b11 - b01);
    lanes d0 = d00 + f[1] * (d10 - d00), d1 = d01 + f[1] * (d11 - d01);
    gradient[0] = d0 + f[2] * (d1 - d0);
    gradient[1] = (b10 - b00) + f[2] * ((b11 - b01) - (b10 - b00));
    gradient[2] = b1 - b0;
    *out = b0 + f[2] * (b1 - b0);
}

// Finds where the liquid at x was a step ago, by Ralston's method, for eight places.
static inline void trace_back(const sampler *s, const lanes x[3], float step, int axes, lanes z[3])
{
    lanes k1[3], k2[3], k3, y[3] = {x[0], x[1], x[2]};
    for (int c = 0; c < axes; c++) sample_lanes(s, c, x, &k1[c]);
    for (int c = 0; c < axes; c++) y[c] = x[c] - 0.5f * step * k1[c];
    for (int c = 0; c < axes; c++) sample_lanes(s, c, y, &k2[c]);
    for (int c = 0; c < axes; c++) y[c] = x[c] - 0.75f * step * k2[c];
    z[2] = x[2];
    for (int c = 0; c < axes; c++) {
        sample_lanes(s, c, y, &k3);
        z[c] = x[c] - step * (2 * k1[c] + 3 * k2[c] + 4 * k3) * (1 / 9.0f);
    }
}

#endif
