#include "fluid/spread.h"
#include <math.h>

static const float least_open = 0.25f, least_gradient = 1e-3f;

typedef struct kernels { // of radius 1, with integral 1: (1 - r^2)^3 for densities, (1 - r)^3 for gradients, as usual:
    float density;       // the slope of the former vanishes where particles coincide
    float slope;         // of the latter: -slope (1 - r)^2
} kernels;

static kernels kernels_of(const mo_grid *g)
{
    const float pi = 3.14159265f;
    return mo_grid_is_2d(g) ? (kernels){4 / pi, 30 / pi} : (kernels){315 / (64 * pi), 45 / pi};
}

typedef struct neighbours { // of the particles of a cell: those of the cells round it
    int32_t count, first[27], end[27];
} neighbours;

static neighbours find_neighbours(const mo_particles *p, const mo_grid *g, int32_t cell)
{
    neighbours n = {0};
    int32_t c[3];
    mo_grid_cell(g, cell, c);
    for (int o = 0; o < 27; o++) {
        int32_t i = mo_grid_index(g, c[0] + o % 3 - 1, c[1] + o / 3 % 3 - 1, c[2] + o / 9 - 1);
        if (i < 0 || p->start[i] == p->start[i + 1]) continue;
        n.first[n.count] = p->start[i], n.end[n.count++] = p->start[i + 1];
    }
    return n;
}

// The open part of the space round a particle: open volumes of cells, interpolated.
static float open_at(const mo_grid *g, const float *open_volume, const float x[3])
{
    float sum = 0;
    int32_t low[3];
    for (int a = 0; a < 3; a++) low[a] = (int32_t)floorf(x[a] - 0.5f);
    for (int o = 0; o < (mo_grid_is_2d(g) ? 4 : 8); o++) {
        int32_t c[3] = {low[0] + (o & 1), low[1] + (o >> 1 & 1), low[2] + (o >> 2 & 1)};
        if (mo_grid_is_2d(g)) c[2] = (int32_t)x[2];
        int32_t i = mo_grid_index(g, c[0], c[1], c[2]);
        float w = 1;
        for (int a = 0; a < mo_grid_axes(g); a++) w *= 1 - fabsf(x[a] - 0.5f - (float)c[a]);
        sum += i < 0 ? w : w * open_volume[i];
    }
    return sum > least_open ? sum : least_open;
}

// The vector between two particles; false if they are no neighbours. z does not count in the plane.
static bool between_two(const mo_particles *p, int axes, int32_t q, int32_t j, float d[3], float *square)
{
    *square = 0;
    for (int a = 0; a < axes; a++) d[a] = p->x[a][q] - p->x[a][j], *square += d[a] * d[a];
    return *square < 1;
}

// lambda of a particle, and the part of its own displacement that is due to it, lambda dC/dx / V.
static float multiplier_of(const mo_particles *p, int axes, const kernels *k, const neighbours *n, int32_t q,
                           float open)
{
    float density = 0, own[3] = {0}, squares = 0;
    for (int32_t m = 0; m < n->count; m++)
        for (int32_t j = n->first[m]; j < n->end[m]; j++) {
            float d[3], square;
            if (!between_two(p, axes, q, j, d, &square)) continue;
            float left = 1 - square, r = sqrtf(square), slope = k->slope * (1 - r) * (1 - r);
            density += p->volume[j] * k->density * left * left * left;
            if (r <= 0) continue;
            for (int a = 0; a < axes; a++) own[a] -= p->volume[j] * slope * d[a] / r;
            squares += p->volume[j] * slope * slope;
        }
    for (int a = 0; a < axes; a++) squares += own[a] * own[a] / p->volume[q];
    float excess = density / open - 1;
    return excess > 0 ? -excess * open / (squares + least_gradient) : 0;
}

static void displacement_of(const mo_particles *p, int axes, const kernels *k, const neighbours *n, int32_t q,
                            const float *multiplier, float move[3])
{
    move[0] = move[1] = move[2] = 0;
    for (int32_t m = 0; m < n->count; m++)
        for (int32_t j = n->first[m]; j < n->end[m]; j++) {
            float d[3], square;
            float pull = multiplier[q] * p->volume[j] / p->volume[q] + multiplier[j];
            if (pull == 0 || !between_two(p, axes, q, j, d, &square) || square <= 0) continue;
            float r = sqrtf(square), slope = k->slope * (1 - r) * (1 - r);
            for (int a = 0; a < axes; a++) move[a] -= pull * slope * d[a] / r;
        }
}

static bool cut_to(float limit, float move[3])
{
    float way = sqrtf(move[0] * move[0] + move[1] * move[1] + move[2] * move[2]);
    for (int a = 0; a < 3 && way > limit; a++) move[a] *= limit / way;
    return way > limit;
}

mo_status mo_particles_spread(mo_particles *p, const mo_grid *g, const float *open_volume, float limit,
                              int64_t *clamped, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(limit > 0 && limit < 0.5f);
    MO_ASSERT(p->count == 0 || p->start[mo_grid_cells(g)] == p->count);
    const kernels k = kernels_of(g);
    const int axes = mo_grid_axes(g);
    int32_t cells = (int32_t)mo_grid_cells(g);
    int64_t cut = 0;
    float *multiplier = MO_ARENA_ARRAY(arena, float, p->count + 1),
          *move = MO_ARENA_ARRAY(arena, float, 3 * p->count + 1);
    if (!multiplier || !move) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 512)
    for (int32_t i = 0; i < cells; i++) {
        if (p->start[i] == p->start[i + 1]) continue;
        neighbours n = find_neighbours(p, g, i);
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++) {
            const float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]};
            multiplier[q] = multiplier_of(p, axes, &k, &n, q, open_at(g, open_volume, x));
        }
    }
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : cut)
    for (int32_t i = 0; i < cells; i++) {
        if (p->start[i] == p->start[i + 1]) continue;
        neighbours n = find_neighbours(p, g, i);
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++) {
            displacement_of(p, axes, &k, &n, q, multiplier, move + 3 * q);
            cut += cut_to(limit, move + 3 * q);
        }
    }
#pragma omp parallel for schedule(static)
    for (int32_t q = 0; q < p->count; q++)
        for (int a = 0; a < axes; a++) p->x[a][q] += move[3 * q + a];
    p->stale += limit;
    *clamped = cut;
    return MO_OK;
}
