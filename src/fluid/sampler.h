// Interpolation of face velocities round one tile: a private block of the fields, read with trilinear weights. Inner to
// fluid/: particles (transfer.c) and the level set (level.c) move in the very same velocity field.
#ifndef MO_SAMPLER_H
#define MO_SAMPLER_H

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
} sampler;

static inline void sampler_load(sampler *s, const mo_grid *g, const mo_faces *faces, int32_t tile)
{
    for (int c = 0; c < 3; c++) {
        mo_grid_block(g, faces->u[c], tile, IN_HALO, 0, s->block[c]);
        for (int a = 0; a < 3; a++) s->base[c][a] = (float)(8 * g->coord[tile][a] - IN_HALO) + (a == c ? 0.0f : 0.5f);
    }
}

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

#endif
