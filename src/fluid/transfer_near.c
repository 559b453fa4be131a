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

// Gives to one sample the particle's velocity there.
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

void mo_sampler_load_row(sampler *s, const mo_grid *g, const mo_faces *faces, int32_t row, int radius, int32_t *around)
{
    enum { MIDDLE = IN / 2 - 1 };
    float block[MO_REACH_MOST_CELLS];
    int32_t c[3];
    int edge = 2 * radius + 1;
    mo_grid_cell(g, mo_site_cell(g, row), c);
    mo_reach_find(g, row, radius, around);
    memset(s->block, 0, sizeof s->block);
    for (int k = 0; k < 3; k++) {
        mo_reach_faces(g, faces->u[k], k, around, radius, block);
        for (int a = 0; a < 3; a++) s->base[k][a] = (float)(c[a] - MIDDLE) + (a == k ? 0.0f : 0.5f);
        for (int z = 0; z < edge; z++)
            for (int y = 0; y < edge; y++) {
                int at = MIDDLE - radius + IN * (MIDDLE - radius + y + IN * (MIDDLE - radius + z));
                memcpy(s->block[k] + at, block + edge * (y + edge * z), sizeof(float) * (size_t)edge);
            }
    }
}

int mo_sampler_radius(const mo_grid *g, const mo_faces *faces, float step)
{
    float most = 0;
    for (int a = 0; a < 3 && g->sites; a++) {
#pragma omp parallel for schedule(static) reduction(max : most)
        for (int64_t i = 0; i < mo_grid_fields(g); i++)
            if (faces->valid[a][i]) most = mo_maxf(most, fabsf(faces->u[a][i]));
    }
    float far = ceilf(most * step);
    return far < MO_REACH_MOST - 2 ? (int)far + 2 : MO_REACH_MOST;
}
