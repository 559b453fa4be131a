// APIC transfers and advection, tile by tile: particles of a tile work on a private block of the fields around it.
#include "fluid/transfer.h"
#include "fluid/sampler.h"
#include "fluid/surface.h"
#include "fluid/transfer_near.h"
#include <math.h>
#include <string.h>

// ---- Particles to grid ----

enum { OUT_HALO = 2, OUT = MO_TILE + 2 * OUT_HALO, OUT_CELLS = OUT * OUT * OUT };

// One run of a row, if its tile is there.
static inline void add_run(const mo_grid *g, int32_t tile, int neighbour, int at, const float *from, int count,
                           float *field)
{
    int32_t t = g->neighbour[tile][neighbour];
    if (t < 0) return;
    float *restrict to = field + (int64_t)t * MO_TILE_CELLS + at;
    for (int i = 0; i < count; i++) to[i] += from[i];
}

// Adds a block with halo OUT_HALO to a field, row by row. Each row is three runs: the low neighbour's last cells, the
// tile's cells and the high neighbour's first cells.
static inline void add_block(const mo_grid *g, int32_t tile, const float *block, float *field)
{
    static const int first[3] = {MO_TILE - OUT_HALO, 0, 0}, count[3] = {OUT_HALO, MO_TILE, OUT_HALO};
    for (int z = 0; z < 3; z++)
        for (int k = first[z]; k < first[z] + count[z]; k++)
            for (int y = 0; y < 3; y++)
                for (int j = first[y]; j < first[y] + count[y]; j++, block += OUT) {
                    int row = 8 * (j + 8 * k), n = 3 * y + 9 * z;
                    add_run(g, tile, n, row + MO_TILE - OUT_HALO, block, OUT_HALO, field);
                    add_run(g, tile, n + 1, row, block + OUT_HALO, MO_TILE, field);
                    add_run(g, tile, n + 2, row, block + OUT_HALO + MO_TILE, OUT_HALO, field);
                }
}

// The four pairs of samples along x round a place: how far they are from the first.
static const int32_t pair_offset[4] = {0, OUT, OUT *OUT, OUT *OUT + OUT};

// Where eight particles lie in the block of their tile: index i[0] of the low corner, fractions f.
static inline void place_lanes(const mo_particles *p, const float base[3], int32_t q, int32_t count, lane_ints i[3],
                               lanes f[3])
{
    for (int a = 0; a < 3; a++) {
        lanes_load(p->x[a] + q, count, &f[a]);
        f[a] -= base[a];
        i[a] = __builtin_convertvector(f[a], lane_ints);
        f[a] -= __builtin_convertvector(i[a], lanes);
    }
    i[0] += OUT * (i[1] + OUT * i[2]);
}

// Momentum and weight that particles q, q + 1 .. (at most eight) give to one face component. Those of the two faces
// along x lie side by side and are added together.
static inline void scatter_eight(const mo_particles *p, int axis, const float base[3], int32_t q, int32_t count,
                                 lane_four *pair)
{
    lanes f[3], c[3], low, high, volume;
    lane_ints i[3];
    int32_t first[LANES];
    lane_four give[4][LANES];
    lanes_load(p->v[axis] + q, count, &low), lanes_load(p->volume + q, count, &volume);
    place_lanes(p, base, q, count, i, f);
    for (int a = 0; a < 3; a++) {
        lanes_load(p->c[axis][a] + q, count, &c[a]);
        low -= c[a] * f[a]; // the velocity at the low corner of the eight
    }
    memcpy(first, &i[0], sizeof first);
    high = low + c[0];
    for (int r = 0; r < 4; r++) {
        lanes w = volume * (r >> 1 ? f[2] : 1 - f[2]) * (r & 1 ? f[1] : 1 - f[1]), w_low = w * (1 - f[0]),
              w_high = w * f[0], u_low = low, u_high = high;
        if (r & 1) u_low += c[1], u_high += c[1];
        if (r >> 1) u_low += c[2], u_high += c[2];
        lanes four[4] = {w_low * u_low, w_low, w_high * u_high, w_high};
        lanes_transpose(four, give[r]);
    }
    for (int l = 0; l < count; l++)
        for (int r = 0; r < 4; r++) pair[first[l] + pair_offset[r]] += give[r][l];
}

// Runs of particles without a sheet near, or of all particles.
typedef struct run {
    int32_t first, end, last;
} run;

static bool next_run(const mo_particles *p, const mo_grid *g, bool sheets, int radius, run *r)
{
    r->first = r->end;
    if (!sheets) return r->end = r->last, r->first < r->last;
    while (r->first < r->last && mo_near_sheet(p, g, r->first, radius)) r->first++;
    for (r->end = r->first; r->end < r->last && !mo_near_sheet(p, g, r->end, radius);) r->end++;
    return r->first < r->last;
}

// The same for all particles of a tile. Each pair of faces has a place of its own until all particles are done. If the
// pairs to the left and right of a face shared its sum, a processor that has just stored one of them could not load the
// other before the store has gone through the cache.
static void scatter_component(const mo_particles *p, const mo_grid *g, int32_t tile, int axis, float *momentum,
                              float *weight)
{
    lane_four pair[OUT_CELLS]; // momentum and weight of the low face, of the high one
    float base[3];
    for (int a = 0; a < 3; a++) base[a] = (float)(8 * g->coord[tile][a] - OUT_HALO) + (a == axis ? 0.0f : 0.5f);
    memset(pair, 0, sizeof pair);
    run r = {p->start[tile * MO_TILE_CELLS], p->start[tile * MO_TILE_CELLS], p->start[(tile + 1) * MO_TILE_CELLS]};
    bool sheets = mo_near_sheets(p, g, tile);
    while (next_run(p, g, sheets, MO_REACH_AROUND, &r)) {
        int32_t q = r.first;
        for (; r.end - q >= LANES; q += LANES) scatter_eight(p, axis, base, q, LANES, pair);
        if (q < r.end) scatter_eight(p, axis, base, q, r.end - q, pair);
    }
    momentum[0] = pair[0][0], weight[0] = pair[0][1];
    for (int i = 1; i < OUT_CELLS; i++)
        momentum[i] = pair[i][0] + pair[i - 1][2], weight[i] = pair[i][1] + pair[i - 1][3];
}

// Runs over tiles in eight colours: blocks of one colour do not overlap, so sums have one order for any threads.
static inline bool has_colour(const mo_grid *g, int32_t tile, int colour)
{
    const int32_t *c = g->coord[tile];
    return (c[0] & 1) + 2 * (c[1] & 1) + 4 * (c[2] & 1) == colour;
}
static inline bool has_particles(const mo_particles *p, int32_t tile)
{
    return p->start[(tile + 1) * MO_TILE_CELLS] > p->start[tile * MO_TILE_CELLS];
}

void mo_transfer_to_faces(const mo_particles *p, const mo_grid *g, mo_faces *faces, float *const mass[3])
{
    MO_ASSERT(p->count == 0 || p->start[mo_grid_cells(g)] == p->count);
    int64_t cells = mo_grid_fields(g);
    for (int axis = 0; axis < 3; axis++) {
        float *u = faces->u[axis];
        uint8_t *valid = faces->valid[axis];
        float *weight = mass[axis];
        memset(u, 0, sizeof(float) * (size_t)cells);
        memset(weight, 0, sizeof(float) * (size_t)cells);
        for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
            for (int32_t t = 0; t < g->tiles; t++) {
                if (!has_colour(g, t, colour) || !has_particles(p, t)) continue;
                float block[2][OUT_CELLS];
                scatter_component(p, g, t, axis, block[0], block[1]);
                add_block(g, t, block[0], u);
                add_block(g, t, block[1], weight);
                if (!mo_near_sheets(p, g, t)) continue;
                for (int32_t q = p->start[t * MO_TILE_CELLS]; q < p->start[(t + 1) * MO_TILE_CELLS]; q++)
                    if (mo_near_sheet(p, g, q, MO_REACH_AROUND)) mo_near_to_faces(p, g, q, axis, u, weight);
            }
        }
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < cells; i++) {
            valid[i] = weight[i] > 1e-6f;
            u[i] = valid[i] ? u[i] / weight[i] : 0;
        }
    }
}

// Adds the contributions of particles q, q + 1 .. (at most eight) to cells: V hat value, value NULL: 1. pair: two cells
// along x.
static inline void scatter_eight_to_cells(const mo_particles *p, const float *value, const float base[3], int32_t q,
                                          int32_t count, float pair[][2])
{
    lanes f[3], amount, other;
    lane_ints i[3];
    int32_t first[LANES];
    float low[4][LANES], high[4][LANES];
    lanes_load(p->volume + q, count, &amount);
    if (value) lanes_load(value + q, count, &other), amount *= other;
    place_lanes(p, base, q, count, i, f);
    memcpy(first, &i[0], sizeof first);
    for (int r = 0; r < 4; r++) {
        lanes w = amount * (r >> 1 ? f[2] : 1 - f[2]) * (r & 1 ? f[1] : 1 - f[1]), w_low = w * (1 - f[0]),
              w_high = w * f[0];
        lanes_store(&w_low, LANES, low[r]), lanes_store(&w_high, LANES, high[r]);
    }
    for (int l = 0; l < count; l++)
        for (int r = 0; r < 4; r++) {
            float *at = pair[first[l] + pair_offset[r]];
            at[0] += low[r][l], at[1] += high[r][l];
        }
}

// sum[c] = sum V hat value, value NULL: 1.
static void scatter_cells(const mo_particles *p, const mo_grid *g, const float *value, float *sum)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_fields(g); i++) sum[i] = 0;
    for (int colour = 0; colour < 8; colour++) {
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t t = 0; t < g->tiles; t++) {
            if (!has_colour(g, t, colour) || !has_particles(p, t)) continue;
            float pair[OUT_CELLS][2] = {{0}}, block[OUT_CELLS], base[3];
            for (int a = 0; a < 3; a++) base[a] = (float)(8 * g->coord[t][a] - OUT_HALO) + 0.5f;
            run r = {p->start[t * MO_TILE_CELLS], p->start[t * MO_TILE_CELLS], p->start[(t + 1) * MO_TILE_CELLS]};
            bool sheets = mo_near_sheets(p, g, t);
            while (next_run(p, g, sheets, MO_REACH_AROUND, &r)) {
                int32_t q = r.first;
                for (; r.end - q >= LANES; q += LANES) scatter_eight_to_cells(p, value, base, q, LANES, pair);
                if (q < r.end) scatter_eight_to_cells(p, value, base, q, r.end - q, pair);
            }
            block[0] = pair[0][0];
            for (int i = 1; i < OUT_CELLS; i++) block[i] = pair[i][0] + pair[i - 1][1];
            add_block(g, t, block, sum);
            for (int32_t q = p->start[t * MO_TILE_CELLS]; sheets && q < p->start[(t + 1) * MO_TILE_CELLS]; q++)
                if (mo_near_sheet(p, g, q, MO_REACH_AROUND))
                    mo_near_to_rows(p, g, q, p->volume[q] * (value ? value[q] : 1), sum);
        }
    }
}

// Along an axis a hat takes (1, 6, 1)/8 of the cells round its centre, that of a face (1, 1)/2 of the two beside it.
void mo_deep_hats(const uint8_t deep[1000], int axis, bool two_dimensional, float *part)
{
    enum { EDGE = MO_TILE + 2 };
    static const int stride[3] = {1, EDGE, EDGE * EDGE};
    float a[EDGE * EDGE * EDGE], b[EDGE * EDGE * EDGE] = {0};
    for (int i = 0; i < EDGE * EDGE * EDGE; i++) a[i] = deep[i];
    for (int d = 0; d < (two_dimensional ? 2 : 3); d++) {
        int s = stride[d];
        for (int i = s; i < EDGE * EDGE * EDGE - s; i++)
            b[i] = d == axis ? 0.5f * (a[i - s] + a[i]) : 0.125f * (a[i - s] + a[i + s]) + 0.75f * a[i];
        memcpy(a, b, sizeof a);
    }
    for (int l = 0; l < MO_TILE_CELLS; l++)
        part[l] = a[(l & 7) + 1 + EDGE * ((l >> 3 & 7) + 1 + EDGE * ((l >> 6) + 1))];
}

static void add_deep(const uint8_t *deep, const mo_grid *g, float *density)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        uint8_t block[1000];
        float part[MO_TILE_CELLS];
        mo_grid_block_u8(g, deep, t, 1, 0, block);
        if (!memchr(block, 1, sizeof block)) continue;
        mo_deep_hats(block, 3, mo_grid_is_2d(g), part);
        for (int l = 0; l < MO_TILE_CELLS; l++) density[t * MO_TILE_CELLS + l] += part[l];
    }
}

void mo_transfer_density(const mo_particles *p, const mo_grid *g, float *density)
{
    scatter_cells(p, g, NULL, density);
    if (p->deep) add_deep(p->deep, g, density);
}

void mo_transfer_mean(const mo_particles *p, const mo_grid *g, const float *value, float *mean, float *weight)
{
    scatter_cells(p, g, value, mean);
    scatter_cells(p, g, NULL, weight);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_fields(g); i++) mean[i] = weight[i] > 0 ? mean[i] / weight[i] : 0;
}

// ---- Grid to particles ----

// A particle without a pressure of its own falls freely.
static inline void fly(mo_particles *p, int32_t q, const float gravity[3], float dt, float cells_per_metre)
{
    for (int a = 0; a < 3; a++) {
        p->x[a][q] += dt * cells_per_metre * (p->v[a][q] + 0.5f * dt * gravity[a]);
        p->v[a][q] += dt * gravity[a];
    }
}

// A drop that flies alone keeps its spin. The strain of the flow that it came from would take it apart within the time
// in which it was made; if a drop kept it, it would give faces the velocities of a flow that is gone.
static inline void keep_spin(mo_particles *p, int32_t q)
{
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3;
        float spin = 0.5f * (p->c[a][b][q] - p->c[b][a][q]);
        p->c[a][a][q] = 0, p->c[a][b][q] = spin, p->c[b][a][q] = -spin;
    }
}

// Velocity and its gradient from the faces.
static inline void take_velocity(mo_particles *p, int32_t q, const sampler *s, bool two_dimensional)
{
    float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]};
    for (int c = 0; c < 3; c++) {
        float gradient[3];
        p->v[c][q] = sample_gradient(s, c, x, gradient);
        p->c[c][0][q] = gradient[0], p->c[c][1][q] = gradient[1];
        p->c[c][2][q] = two_dimensional ? 0 : gradient[2];
    }
}

// Ralston's method, from the velocity k1 at the particle.
static inline void swim(mo_particles *p, int32_t q, const sampler *s, const float k1[3], float step)
{
    float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]}, k2[3], y[3];
    for (int a = 0; a < 3; a++) y[a] = x[a] + 0.5f * step * k1[a];
    for (int c = 0; c < 3; c++) k2[c] = sample(s, c, y);
    for (int a = 0; a < 3; a++) y[a] = x[a] + 0.75f * step * k2[a];
    for (int c = 0; c < 3; c++) {
        float k3 = sample(s, c, y);
        p->x[c][q] = x[c] + step * (2 * k1[c] + 3 * k2[c] + 4 * k3) * (1 / 9.0f);
    }
}

static inline float length(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// The velocity on faces is known within MO_REACH cells of where a particle of the liquid began.
static bool knows(const float begin[3], const float x[3])
{
    float far = 0;
    for (int a = 0; a < 3; a++) far = mo_maxf(far, fabsf(x[a] - begin[a]));
    return far < MO_REACH - 1;
}

// Whether a particle that came from x ends more than a cell off the line of its velocity there. Then its path is not
// the one that collisions would test.
static bool bends(const mo_particles *p, int32_t q, const float x[3], const float v[3], float step)
{
    float off[3];
    for (int a = 0; a < 3; a++) off[a] = p->x[a][q] - x[a] - step * v[a];
    return !(length(off) <= 1);
}

// Follows the faces' velocity for `part` seconds, or less if the flow ahead is so much faster that the particle would
// move over two cells. Returns the time.
static double swim_part(mo_particles *p, int32_t q, const sampler *s, const float from[3], const float v[3],
                        double part, float scale)
{
    for (int tries = 0; tries < 64; tries++, part *= 0.5) {
        float way[3];
        for (int a = 0; a < 3; a++) p->x[a][q] = from[a];
        swim(p, q, s, v, (float)part * scale);
        for (int a = 0; a < 3; a++) way[a] = p->x[a][q] - from[a];
        if (length(way) <= 2) break;
    }
    return part;
}

// An outlier follows the faces' velocity (s, NULL: there is none) as far as that is known, then flies on. A part takes
// it about one cell further. It gets as many parts as the lattice has cells along its edges, which brings it to a wall
// or out of the domain, whatever its speed.
static void move_in_parts(mo_particles *p, const mo_grid *g, int32_t q, const sampler *s, const mo_advect *advect)
{
    MO_ASSERT(advect->collide && advect->outlier);
    float gravity[3] = {(float)advect->gravity.x, (float)advect->gravity.y, (float)advect->gravity.z};
    float begin[3] = {p->x[0][q], p->x[1][q], p->x[2][q]}, scale = (float)(1 / g->dx);
    double left = advect->dt;
    for (int32_t n = g->n[0] + g->n[1] + g->n[2]; n > 0 && left > 0; n--) {
        float from[3] = {p->x[0][q], p->x[1][q], p->x[2][q]}, v[3];
        bool swims = s && knows(begin, from);
        for (int a = 0; a < 3; a++) v[a] = swims ? sample(s, a, from) : p->v[a][q];
        double part = fmin(left, g->dx / fmax(length(v), 1e-30));
        if (left - part < 1e-9 * advect->dt) part = left;
        if (swims)
            part = swim_part(p, q, s, from, v, part, scale);
        else
            fly(p, q, gravity, (float)part, scale);
        left -= part;
        advect->collide(advect->user, q, from, part, left);
        for (int a = 0; a < 3; a++)
            if (!(p->x[a][q] >= 0 && p->x[a][q] < (float)g->n[a])) return; // left through an open wall
    }
}

// The data with which one tile's particles move.
typedef struct stream {
    const sampler *s;
    const uint8_t *phase; // of the tile's cells and one around, edge 10
    bool all_swim;        // wherever they are
    const int32_t *coord; // of the tile
    // Near sheets: the rows that the row of the particles reaches, round its cell, and phases of rows; else NULL.
    const int32_t *around, *cell;
    int radius;
    const uint8_t *phase_of;
    float dt, scale, step, gravity[3];
    bool two_dimensional;
} stream;

static bool all_swim(const uint8_t phase[1000])
{
    int others = 0;
    for (int i = 0; i < 1000; i++) others += phase[i] != MO_PHASE_LIQUID && phase[i] != MO_PHASE_SLAVED;
    return others == 0;
}

// The same near sheets: in the row that is reached there.
static bool swims_near(const stream *w, const mo_particles *p, int32_t q)
{
    int edge = 2 * w->radius + 1, at = 0, stride = 1;
    for (int a = 0; a < 3; a++, stride *= edge) {
        int i = (int32_t)p->x[a][q] - w->cell[a] + w->radius;
        at += (i < 0 ? 0 : i >= edge ? edge - 1 : i) * stride;
    }
    int32_t row = w->around[at];
    return row >= 0 && (w->phase_of[row] == MO_PHASE_LIQUID || w->phase_of[row] == MO_PHASE_SLAVED);
}

static inline bool swims_at(const stream *w, const mo_particles *p, int32_t q)
{
    if (w->around) return swims_near(w, p, q);
    int32_t i = (int32_t)p->x[0][q] - 8 * w->coord[0] + 1, j = (int32_t)p->x[1][q] - 8 * w->coord[1] + 1,
            k = (int32_t)p->x[2][q] - 8 * w->coord[2] + 1;
    uint8_t here = w->phase[i + 10 * (j + 10 * k)];
    return here == MO_PHASE_LIQUID || here == MO_PHASE_SLAVED;
}

static void move_particle(mo_particles *p, const mo_grid *g, int32_t q, const stream *w, mo_advect *advect)
{
    bool swims = swims_at(w, p, q);
    if (swims)
        take_velocity(p, q, w->s, w->two_dimensional);
    else
        keep_spin(p, q);
    float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]}, v[3] = {p->v[0][q], p->v[1][q], p->v[2][q]};
    bool outlier = advect->collide && length(v) * w->step > advect->reach;
    if (swims && !outlier)
        swim(p, q, w->s, v, w->step), outlier = advect->collide && bends(p, q, x, v, w->step);
    else if (!outlier)
        fly(p, q, w->gravity, w->dt, w->scale);
    if (outlier) {
        for (int a = 0; a < 3; a++) p->x[a][q] = x[a];
        move_in_parts(p, g, q, swims ? w->s : NULL, advect);
    }
    if (advect->collide) advect->outlier[q] = outlier;
    advect->ballistic += !swims, advect->outliers += outlier;
}

// The same for `count` particles (at most eight) at once, if all of them swim and none may be an outlier; else it
// returns false and moves none.
static bool move_together(mo_particles *p, int32_t q, int32_t count, const stream *w, const mo_advect *advect)
{
    const float nearly = 0.99f; // closer to a limit than that, one by one
    for (int32_t l = 0; l < count && !w->all_swim; l++)
        if (!swims_at(w, p, q + l)) return false;
    lanes x[3], y[3], k1[3], k2[3], k3[3], c[3], square = {0}, off = {0};
    float step = w->step;
    for (int a = 0; a < 3; a++) lanes_load(p->x[a] + q, count, &x[a]);
    for (int a = 0; a < 3; a++) {
        sample_gradient_lanes(w->s, a, x, &k1[a], c);
        if (w->two_dimensional) c[2] = (lanes){0};
        lanes_store(&k1[a], count, p->v[a] + q);
        for (int b = 0; b < 3; b++) lanes_store(&c[b], count, p->c[a][b] + q);
        square += k1[a] * k1[a];
    }
    if (advect->collide) {
        square *= step * step;
        if (!lanes_below(&square, nearly * advect->reach * advect->reach)) return false;
    }
    for (int a = 0; a < 3; a++) y[a] = x[a] + 0.5f * step * k1[a];
    for (int a = 0; a < 3; a++) sample_lanes(w->s, a, y, &k2[a]);
    for (int a = 0; a < 3; a++) y[a] = x[a] + 0.75f * step * k2[a];
    for (int a = 0; a < 3; a++) sample_lanes(w->s, a, y, &k3[a]);
    for (int a = 0; a < 3; a++) {
        y[a] = x[a] + step * (2 * k1[a] + 3 * k2[a] + 4 * k3[a]) * (1 / 9.0f);
        lanes d = y[a] - x[a] - step * k1[a];
        off += d * d;
    }
    if (advect->collide && !lanes_below(&off, nearly)) return false;
    for (int a = 0; a < 3; a++) lanes_store(&y[a], count, p->x[a] + q);
    if (advect->collide) memset(advect->outlier + q, 0, (size_t)count);
    return true;
}

// Whether some particle before q, from `first` on, is of the same row.
static bool met_before(const mo_particles *p, int32_t first, int32_t q)
{
    for (int32_t r = first; r < q; r++)
        if (p->row[r] == p->row[q]) return true;
    return false;
}

// The particles of one cell's list that have sheets near, row by row.
static void advect_near(mo_particles *p, const mo_grid *g, const mo_faces *faces, int32_t list, int radius,
                        const stream *tile, sampler *near, mo_advect *advect)
{
    int32_t first = p->start[list], last = p->start[list + 1], around[MO_REACH_MOST_CELLS], cell[3];
    for (int32_t q = first; q < last; q++) {
        if (!mo_near_sheet(p, g, q, radius) || met_before(p, first, q)) continue;
        stream w = *tile;
        mo_grid_cell(g, mo_site_cell(g, p->row[q]), cell);
        w.radius = mo_sampler_load_row(near, g, faces, p->row[q], w.step, MO_REACH_MOST, around);
        w.s = near, w.around = around, w.cell = cell, w.phase_of = advect->phase;
        for (int32_t r = q; r < last; r++)
            if (p->row[r] == p->row[q]) move_particle(p, g, r, &w, advect);
    }
}

static void advect_run(mo_particles *p, const mo_grid *g, int32_t first, int32_t last, const stream *w,
                       mo_advect *advect)
{
    for (int32_t q = first; q < last; q += LANES) {
        int32_t count = last - q < LANES ? last - q : LANES;
        if (move_together(p, q, count, w, advect)) continue;
        for (int32_t l = 0; l < count; l++) move_particle(p, g, q + l, w, advect);
    }
}

void mo_transfer_advect(mo_particles *p, const mo_grid *g, const mo_faces *faces, mo_advect *advect)
{
    MO_ASSERT(advect->dt >= 0);
    MO_ASSERT(p->count == 0 || p->start[mo_grid_cells(g)] == p->count);
    MO_ASSERT(p->stale <= 0.5f);
    int64_t ballistic = 0, outliers = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : ballistic, outliers)
    for (int32_t t = 0; t < g->tiles; t++) {
        if (!has_particles(p, t)) continue;
        sampler s, near;
        near.radius = 0;
        uint8_t phase[10 * 10 * 10];
        sampler_load(&s, g, faces, t);
        mo_grid_block_u8(g, advect->phase, t, 1, MO_PHASE_AIR, phase);
        mo_advect own = *advect; // with counts of its own
        own.ballistic = own.outliers = 0;
        stream w = {.s = &s,
                    .phase = phase,
                    .all_swim = all_swim(phase),
                    .coord = g->coord[t],
                    .dt = (float)advect->dt,
                    .scale = (float)(1 / g->dx),
                    .step = (float)(advect->dt / g->dx),
                    .gravity = {(float)advect->gravity.x, (float)advect->gravity.y, (float)advect->gravity.z},
                    .two_dimensional = mo_grid_is_2d(g)};
        int32_t first = p->start[t * MO_TILE_CELLS];
        run r = {first, first, p->start[(t + 1) * MO_TILE_CELLS]};
        bool sheets = mo_near_sheets(p, g, t);
        int radius = sheets ? mo_sampler_radius(&s, w.step) : 0;
        while (next_run(p, g, sheets, radius, &r)) advect_run(p, g, r.first, r.end, &w, &own);
        for (int32_t i = t * MO_TILE_CELLS; sheets && i < (t + 1) * MO_TILE_CELLS; i++)
            if (p->start[i] < p->start[i + 1]) advect_near(p, g, faces, i, radius, &w, &near, &own);
        ballistic += own.ballistic, outliers += own.outliers;
    }
    advect->ballistic = ballistic, advect->outliers = outliers;
}

// The displacement of a particle; returns whether it was cut to the limit.
static bool displacement_of(const mo_particles *p, int32_t q, const sampler *s, float limit, float d[3])
{
    const float x[3] = {p->x[0][q], p->x[1][q], p->x[2][q]};
    for (int c = 0; c < 3; c++) d[c] = sample(s, c, x);
    float way = length(d), keep = way > limit ? limit / way : 1;
    for (int a = 0; a < 3; a++) d[a] *= keep;
    return way > limit;
}

static bool displace_particle(mo_particles *p, int32_t q, const sampler *s, float limit)
{
    float d[3];
    bool cut = displacement_of(p, q, s, limit, d);
    for (int a = 0; a < 3; a++) p->x[a][q] += d[a];
    return cut;
}

// The same for up to eight particles at once, if none comes near the limit; else false, and nothing is done.
static bool displace_together(mo_particles *p, int32_t q, int32_t count, const sampler *s, float limit)
{
    lanes x[3], d[3], square = {0};
    for (int a = 0; a < 3; a++) lanes_load(p->x[a] + q, count, &x[a]);
    for (int c = 0; c < 3; c++) sample_lanes(s, c, x, &d[c]), square += d[c] * d[c];
    if (!lanes_below(&square, 0.99f * limit * limit)) return false;
    for (int a = 0; a < 3; a++) x[a] += d[a], lanes_store(&x[a], count, p->x[a] + q);
    return true;
}

// Loads the samples that the row of a particle sees, unless the particle before it (from `first` on) has the same row.
static void load_near(sampler *s, const mo_grid *g, const mo_faces *faces, const mo_particles *p, int32_t first,
                      int32_t q)
{
    int32_t around[MO_REACH_CELLS];
    if (q > first && p->row[q] == p->row[q - 1]) return;
    mo_sampler_load_row(s, g, faces, p->row[q], 0, MO_REACH_AROUND, around);
}

int64_t mo_transfer_displace(mo_particles *p, const mo_grid *g, const mo_faces *faces, float limit)
{
    MO_ASSERT(limit > 0);
    MO_ASSERT(p->count == 0 || p->start[mo_grid_cells(g)] == p->count);
    int64_t clamped = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : clamped)
    for (int32_t t = 0; t < g->tiles; t++) {
        if (!has_particles(p, t)) continue;
        sampler s;
        sampler_load(&s, g, faces, t);
        int32_t first = p->start[t * MO_TILE_CELLS];
        run r = {first, first, p->start[(t + 1) * MO_TILE_CELLS]};
        bool sheets = mo_near_sheets(p, g, t);
        while (next_run(p, g, sheets, MO_REACH_AROUND, &r))
            for (int32_t q = r.first; q < r.end; q += LANES) {
                int32_t count = r.end - q < LANES ? r.end - q : LANES;
                if (displace_together(p, q, count, &s, limit)) continue;
                for (int32_t l = 0; l < count; l++) clamped += displace_particle(p, q + l, &s, limit);
            }
        for (int32_t q = first; sheets && q < r.last; q++) {
            if (!mo_near_sheet(p, g, q, MO_REACH_AROUND)) continue;
            load_near(&s, g, faces, p, first, q);
            clamped += displace_particle(p, q, &s, limit);
        }
    }
    p->stale += limit;
    return clamped;
}

static mo_vec3 tile_displacement(const mo_particles *p, const mo_grid *g, const mo_faces *faces, float limit, int32_t t)
{
    sampler s;
    double sum[3] = {0};
    sampler near;
    near.radius = 0;
    bool sheets = mo_near_sheets(p, g, t);
    int32_t first = p->start[t * MO_TILE_CELLS];
    sampler_load(&s, g, faces, t);
    for (int32_t q = first; q < p->start[(t + 1) * MO_TILE_CELLS]; q++) {
        float d[3];
        bool is_near = sheets && mo_near_sheet(p, g, q, MO_REACH_AROUND);
        if (is_near) load_near(&near, g, faces, p, first, q);
        displacement_of(p, q, is_near ? &near : &s, limit, d);
        for (int a = 0; a < 3; a++) sum[a] += (double)p->volume[q] * d[a];
    }
    return mo_v3(sum[0], sum[1], sum[2]);
}

mo_vec3 mo_transfer_displacement(const mo_particles *p, const mo_grid *g, const mo_faces *faces, float limit)
{
    mo_vec3 total = {0};
    enum { BATCH = 1024 }; // tiles; their sums are added in order
    for (int32_t from = 0; from < g->tiles; from += BATCH) {
        mo_vec3 sum[BATCH] = {{0}};
        int32_t to = from + BATCH < g->tiles ? from + BATCH : g->tiles;
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t t = from; t < to; t++)
            if (has_particles(p, t)) sum[t - from] = tile_displacement(p, g, faces, limit, t);
        for (int32_t t = from; t < to; t++) total = mo_add(total, sum[t - from]);
    }
    return total;
}
