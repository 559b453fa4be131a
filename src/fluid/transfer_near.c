// Transfers of particles near sheets.
#include "fluid/transfer_near.h"
#include "fluid/sampler.h"
#include <math.h>
#include <string.h>

bool mo_near_sheets(const mo_particles *p, const mo_grid *g, int32_t tile)
{
    for (int o = 0; p->row && o < 27; o++) {
        int32_t t = g->neighbour[tile][o];
        if (t >= 0 && mo_reach_has(g, t)) return true;
    }
    return false;
}

// The eight places of a block of edge MO_REACH_EDGE round a particle, and their weights. offset: where places lie in
// their cells. The cell of its row is in the middle of the block.
static void find_places(const mo_particles *p, const mo_grid *g, int32_t q, const float offset[3], int *first,
                        float weight[8])
{
    static const int stride[3] = {1, MO_REACH_EDGE, MO_REACH_EDGE * MO_REACH_EDGE};
    int32_t c[3];
    float f[3];
    mo_grid_cell(g, mo_site_cell(g, p->row[q]), c);
    *first = 0;
    for (int a = 0; a < 3; a++) {
        float x = p->x[a][q] - (float)(c[a] - MO_REACH_AROUND) - offset[a];
        x = mo_minf(mo_maxf(x, 1), MO_REACH_EDGE - 1.001f); // rows are found where particles are; this guards memory
        int i = (int)x;
        *first += i * stride[a], f[a] = x - (float)i;
    }
    for (int s = 0; s < 8; s++)
        weight[s] = (s & 1 ? f[0] : 1 - f[0]) * (s & 2 ? f[1] : 1 - f[1]) * (s & 4 ? f[2] : 1 - f[2]);
}

static inline int place_at(int first, int s)
{
    return first + (s & 1) + MO_REACH_EDGE * ((s >> 1 & 1) + MO_REACH_EDGE * (s >> 2));
}

// Gives one sample the particle's velocity there.
static void give(const mo_particles *p, const mo_grid *g, int32_t q, int axis, int32_t sample, float amount,
                 float *momentum, float *weight)
{
    double x[3];
    float v = p->v[axis][q];
    mo_sample_place(g, axis, sample, x);
    for (int a = 0; a < 3; a++) v += p->c[axis][a][q] * ((float)x[a] - p->x[a][q]);
    momentum[sample] += amount * v, weight[sample] += amount;
}

void mo_near_to_faces(const mo_particles *p, const mo_grid *g, int32_t q, int axis, float *momentum, float *weight)
{
    static const int stride[3] = {1, MO_REACH_EDGE, MO_REACH_EDGE * MO_REACH_EDGE};
    const int32_t *around = mo_reach_around(g, p->row[q]);
    float w[8], reached = 0, offset[3] = {0.5f, 0.5f, 0.5f};
    int32_t sample[8][MO_REACH_SAMPLES];
    int first, count[8];
    offset[axis] = 0;
    find_places(p, g, q, offset, &first, w);
    for (int s = 0; s < 8; s++) {
        int at = place_at(first, s);
        count[s] = w[s] > 0 ? mo_reach_samples(g, axis, around[at - stride[axis]], around[at], sample[s]) : 0;
        if (count[s]) reached += w[s];
    }
    if (!(reached > 0)) return;
    for (int s = 0; s < 8; s++) {
        double area = 0;
        for (int k = 0; k < count[s] && count[s] > 1; k++) area += mo_sample_area(g, axis, sample[s][k]);
        for (int k = 0; k < count[s]; k++) {
            double part = count[s] > 1 ? mo_sample_area(g, axis, sample[s][k]) / area : 1;
            give(p, g, q, axis, sample[s][k], (float)(part * p->volume[q] * w[s] / reached), momentum, weight);
        }
    }
}

void mo_near_to_rows(const mo_particles *p, const mo_grid *g, int32_t q, float amount, float *sum)
{
    const int32_t *around = mo_reach_around(g, p->row[q]);
    const float offset[3] = {0.5f, 0.5f, 0.5f};
    float w[8];
    int first;
    find_places(p, g, q, offset, &first, w);
    for (int s = 0; s < 8; s++) {
        int32_t row = around[place_at(first, s)];
        if (row >= 0 && w[s] > 0) sum[row] += amount * w[s];
    }
}

// ---- Grid to particles ----

static float fastest_in(const float *u, int count)
{
    float most = 0;
    for (int i = 0; i < count; i++) most = mo_maxf(most, fabsf(u[i]));
    return most;
}

// Cells that must be seen for what moves with the speed `fastest`: the samples round its way, which starts anywhere in
// its cell, and one more, so that values behind sheets are continued from three.
static int radius_for(float fastest, float step)
{
    float far = ceilf(fastest * step + 0.5f) + 1;
    return far < MO_REACH_MOST ? (int)far : MO_REACH_MOST;
}

int mo_sampler_radius(const sampler *s, float step)
{
    float fastest = 0;
    for (int k = 0; k < 3; k++) fastest = mo_maxf(fastest, fastest_in(s->block[k], IN_CELLS));
    return radius_for(fastest, step);
}

// Loads the values within a radius; returns the fastest.
static float load_within(sampler *s, const mo_grid *g, const mo_faces *faces, const int32_t c[3], int radius,
                         const int32_t *around)
{
    enum { MIDDLE = IN / 2 - 1 };
    float block[MO_REACH_MOST_CELLS], fastest = 0;
    int edge = 2 * radius + 1;
    if (s->radius != radius) memset(s->block, 0, sizeof s->block);
    s->radius = radius;
    for (int k = 0; k < 3; k++) {
        mo_reach_faces(g, faces->u[k], k, around, radius, block);
        fastest = mo_maxf(fastest, fastest_in(block, edge * edge * edge));
        for (int a = 0; a < 3; a++) s->base[k][a] = (float)(c[a] - MIDDLE) + (a == k ? 0.0f : 0.5f);
        for (int z = 0; z < edge; z++)
            for (int y = 0; y < edge; y++) {
                int at = MIDDLE - radius + IN * (MIDDLE - radius + y + IN * (MIDDLE - radius + z));
                memcpy(s->block[k] + at, block + edge * (y + edge * z), sizeof(float) * (size_t)edge);
            }
    }
    return fastest;
}

static float fastest_at(const mo_grid *g, const mo_faces *faces, int32_t row)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    float most = 0;
    for (int k = 0, count = mo_row_samples(g, row, six, &list); k < count; k++)
        most = mo_maxf(most, fabsf(faces->u[list[k].axis][list[k].sample]));
    return most;
}

int mo_sampler_load_row(sampler *s, const mo_grid *g, const mo_faces *faces, int32_t row, float step, int most,
                        int32_t *around)
{
    int32_t c[3];
    int radius = radius_for(fastest_at(g, faces, row), step);
    if (radius > most) radius = most;
    mo_grid_cell(g, mo_site_cell(g, row), c);
    for (;;) {
        const int32_t *listed = radius == MO_REACH_AROUND ? mo_reach_around(g, row) : NULL;
        if (listed)
            memcpy(around, listed, sizeof(int32_t) * MO_REACH_CELLS);
        else
            mo_reach_find(g, row, radius, around);
        int asked = radius_for(load_within(s, g, faces, c, radius, around), step);
        if (asked <= radius || radius == most) return radius;
        radius = asked < most ? asked : most;
    }
}
