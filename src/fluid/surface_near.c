// Surfaces of particles near sheets.
#include "fluid/surface_near.h"
#include "fluid/levelset.h"
#include "fluid/transfer_near.h"
#include <math.h>
#include <string.h>

enum { EDGE = MO_REACH_EDGE, PLANE = EDGE * EDGE, MIDDLE = MO_REACH_CELLS / 2 };

// A place of the 3^3 or, in 2D, 3^2 round the middle; o: 0..26.
static inline int place_at(int o) { return MIDDLE + (o % 3 - 1) + EDGE * (o / 3 % 3 - 1) + PLANE * (o / 9 - 1); }
static inline bool is_real(const mo_grid *g, int o) { return !mo_grid_is_2d(g) || o / 9 == 1; }

static bool in_domain(const mo_grid *g, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    return mo_levelset_in_domain(g, c);
}

// ---- Balls ----

static float nearest_reached(const mo_particles *p, const mo_grid *g, const int32_t *around, const float x[3])
{
    float least = 4;
    for (int i = 0; i < MO_REACH_CELLS; i++) {
        if (around[i] < 0 || (mo_grid_is_2d(g) && i / PLANE != MO_REACH_AROUND)) continue;
        int32_t cell = mo_site_cell(g, around[i]);
        for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++) {
            if (!mo_near_is_in(p, g, q, around[i], cell)) continue;
            float d[3] = {p->x[0][q] - x[0], p->x[1][q] - x[1], p->x[2][q] - x[2]};
            least = mo_minf(least, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
    return sqrtf(least);
}

void mo_near_union(const mo_particles *p, const mo_grid *g, float radius, const mo_surface_walls *walls, float *phi)
{
    const mo_reach *r = mo_reach_of(g);
    if (!r) return;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) {
        int32_t c[3], cell = mo_site_cell(g, r->row[k]);
        if (walls->distance[cell] < 0) continue; // in a solid
        mo_grid_cell(g, cell, c);
        float x[3] = {(float)c[0] + 0.5f, (float)c[1] + 0.5f, (float)c[2] + 0.5f};
        float d = nearest_reached(p, g, r->around[k], x) - radius;
        for (int a = 0; a < 3; a++) { // beyond an open wall there is air
            if (walls->open_wall[2 * a]) d = mo_maxf(d, (float)MO_MARGIN - x[a]);
            if (walls->open_wall[2 * a + 1]) d = mo_maxf(d, x[a] - (float)(g->n[a] - MO_MARGIN));
        }
        phi[r->row[k]] = d;
    }
}

// ---- Thin parts ----

void mo_near_thin(const mo_grid *g, const float *phi, uint8_t *deep, uint8_t *thin)
{
    const mo_reach *r = mo_reach_of(g);
    if (!r) return;
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) deep[i] = phi[i] < -0.7f, thin[i] = 1;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) {
        uint8_t any = 0;
        for (int i = 0; i < MO_REACH_CELLS; i++) any |= r->around[k][i] >= 0 && deep[r->around[k][i]];
        thin[r->row[k]] = !any;
    }
}

void mo_near_choose(const mo_particles *p, const mo_grid *g, const float *level, const uint8_t *thin, const float *phi,
                    float *out)
{
    const mo_reach *r = mo_reach_of(g);
    int axes = mo_grid_axes(g);
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t i = r->row[k];
        bool touches = level[i] < 0 || !mo_row_has_particles(p, g, i);
        for (int e = 0; e < 2 * axes && !touches; e++) {
            int32_t n = mo_site_step(g, MO_SITE_ROW, i, e >> 1, e & 1 ? 1 : -1);
            touches = n >= 0 && level[n] < 0;
        }
        out[i] = touches && !thin[i] ? level[i] : phi[i];
    }
}

// ---- Phases ----

void mo_near_slave(const mo_grid *g, const uint8_t *before, uint8_t *phase)
{
    const mo_reach *r = mo_reach_of(g);
    for (int32_t k = 0; r && k < r->count; k++) {
        int32_t i = r->row[k];
        if (before[i] != MO_PHASE_AIR) continue;
        bool beside = false;
        for (int o = 0; o < 27; o++) {
            int32_t n = is_real(g, o) ? r->around[k][place_at(o)] : -1;
            beside |= n >= 0 && before[n] == MO_PHASE_LIQUID;
        }
        phase[i] = beside ? MO_PHASE_SLAVED : MO_PHASE_AIR;
    }
}

void mo_near_phase(const mo_grid *g, const float *phi, float *const area[3], uint8_t *phase)
{
    const mo_reach *r = mo_reach_of(g);
    for (int64_t i = mo_grid_cells(g); i < mo_grid_fields(g); i++) phase[i] = MO_PHASE_AIR;
    for (int32_t k = 0; r && k < r->count; k++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        int32_t i = r->row[k];
        bool open = false;
        for (int s = 0, count = mo_row_samples(g, i, six, &list); s < count && !open; s++)
            open = area[list[s].axis][list[s].sample] > 0 && mo_sample_area(g, list[s].axis, list[s].sample) > 0;
        phase[i] = phi[i] < 0 && open && in_domain(g, i) ? MO_PHASE_LIQUID : MO_PHASE_AIR;
    }
}

// ---- Volume ----

float mo_near_wet_part(const float *block, bool flat)
{
    const float *q = block + MIDDLE;
    if (q[0] > 1.3f || q[0] < -1.3f) return q[0] < 0 ? 1 : 0;
    float sum = 0, bent = mo_eighths_error(q[1] + q[-1] + q[EDGE] + q[-EDGE] +
                                           (flat ? 2 * q[0] : q[PLANE] + q[-PLANE]) - 6 * q[0]);
    for (int s = 0; s < 8; s++) {
        float v = 0;
        int side[3] = {s & 1 ? 1 : -1, s & 2 ? EDGE : -EDGE, flat ? 0 : s & 4 ? PLANE : -PLANE};
        for (int o = 0; o < 8; o++)
            v += (o & 1 ? 0.25f : 0.75f) * (o & 2 ? 0.25f : 0.75f) * (o & 4 ? 0.25f : 0.75f) *
                 q[(o & 1 ? side[0] : 0) + (o & 2 ? side[1] : 0) + (o & 4 ? side[2] : 0)];
        sum += mo_minf(mo_maxf(0.5f - 2 * (v - bent), 0), 1);
    }
    return sum / 8;
}

// The liquid of a row, in cells.
static float wet_volume(const mo_grid *g, const float *phi, const float *open_volume, int32_t row)
{
    const int32_t *around = mo_reach_around(g, row);
    float block[MO_REACH_CELLS], open = open_volume[row];
    if (open <= 0 || !in_domain(g, row) || phi[row] > 1.3f) return 0;
    if (phi[row] < -1.3f) return open;
    int32_t plain[MO_REACH_CELLS];
    if (!around) mo_reach_find(g, row, MO_REACH_AROUND, plain), around = plain;
    mo_reach_values(phi, around, MO_REACH_AROUND, 1, block);
    return open * mo_near_wet_part(block, mo_grid_is_2d(g));
}

// Sums open parts, or the values in `capacity`, over the hat of a row.
static float hat_sum(const mo_grid *g, const int32_t *around, const float *phi, const float *open_volume,
                     const float *wet)
{
    static const float hat[3] = {0.125f, 0.75f, 0.125f};
    float sum = 0;
    for (int o = 0; o < 27; o++) {
        int32_t n = is_real(g, o) ? around[place_at(o)] : -1;
        if (n < 0) continue;
        float w = hat[o % 3] * hat[o / 3 % 3] * (mo_grid_is_2d(g) ? 1 : hat[o / 9]);
        sum += w * (!wet ? open_volume[n] : mo_reach_around(g, n) ? wet[n] : wet_volume(g, phi, open_volume, n));
    }
    return sum;
}

// Meanwhile `capacity` holds the liquid of rows.
void mo_near_expected(const mo_grid *g, const float *phi, const float *open_volume, float *expected, float *capacity)
{
    const mo_reach *r = mo_reach_of(g);
    if (!r) return;
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) capacity[r->row[k]] = wet_volume(g, phi, open_volume, r->row[k]);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) expected[r->row[k]] = hat_sum(g, r->around[k], phi, open_volume, capacity);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) capacity[r->row[k]] = hat_sum(g, r->around[k], phi, open_volume, NULL);
}
