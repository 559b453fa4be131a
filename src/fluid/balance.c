// See balance.h. The step calls share between the solve and the extrapolation, limit after all velocities are known.
#include "fluid/balance.h"
#include "grid/sites.h"
#include <math.h>
#include <string.h>

enum { SWEEPS = 4, REACH = 2 };
static const float full_part = 0.8f;  // of the particles' mass: lighter faces share; less is noise of their density
static const float light_part = 0.5f; // of the particles' mass: lighter faces may be limited
static const float rounding = 1e-6f;  // of the kinetic energy: smaller changes are no gain
static const float tolerance = 0.01f; // of the kinetic energy, per cell of motion: transfers may change as much

// Kinetic energy that one cell of liquid gains from velocity v to u.
static inline float gain(float u, float v) { return 0.5f * (u - v) * (u + v); }

// Velocity of the nearest solid at a face.
static inline float frame_at(const mo_balance *b, int axis, int64_t i)
{
    if (!b->frame || i >= mo_grid_cells(b->grid)) return 0;
    const mo_frame *f = &b->frame[i / MO_TILE_CELLS];
    const float *d = f->gradient[axis];
    return f->velocity[axis] + d[0] * (float)(i & 7) + d[1] * (float)(i >> 3 & 7) + d[2] * (float)(i >> 6 & 7);
}

// ---- Boxes ----

// Sums over the boxes of 5^3 cells round the cells of a tile, of a block with halo 2, axis by axis.
enum { EDGE = MO_TILE + 2 * REACH, BLOCK = EDGE * EDGE * EDGE };

static void sum_boxes(float *block)
{
    static const int stride[3] = {1, EDGE, EDGE * EDGE};
    for (int a = 0; a < 3; a++) {
        int s = stride[a], p = stride[(a + 1) % 3], q = stride[(a + 2) % 3];
        for (int j = 0; j < EDGE; j++)
            for (int k = 0; k < EDGE; k++) {
                float *line = block + j * p + k * q, out[MO_TILE];
                for (int i = 0; i < MO_TILE; i++)
                    out[i] =
                        line[i * s] + line[(i + 1) * s] + line[(i + 2) * s] + line[(i + 3) * s] + line[(i + 4) * s];
                for (int i = 0; i < MO_TILE; i++) line[(i + REACH) * s] = out[i];
            }
    }
}

static inline int block_index(int32_t l) // of a cell of the tile
{
    return (l & 7) + REACH + EDGE * ((l >> 3 & 7) + REACH + EDGE * ((l >> 6) + REACH));
}

// ---- Masses ----

// Sums of the masses of all axes over the boxes round the cells of a tile.
static void sum_masses(const mo_grid *g, const float *const mass[3], int32_t tile, float *sum)
{
    float block[BLOCK];
    mo_grid_block(g, mass[0], tile, REACH, 0, sum);
    for (int a = 1; a < 3; a++) {
        mo_grid_block(g, mass[a], tile, REACH, 0, block);
        for (int i = 0; i < BLOCK; i++) sum[i] += block[i];
    }
    sum_boxes(sum);
}

void mo_balance_masses(const mo_grid *g, const float *const particles[3], const float *const system[3], float *part)
{
    const float least = 0.05f;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        float own[BLOCK], there[BLOCK];
        sum_masses(g, system, t, own), sum_masses(g, particles, t, there);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            float m = full_part * own[block_index(l)], p = there[block_index(l)];
            part[(int64_t)t * MO_TILE_CELLS + l] = p < m ? mo_maxf(p / m, least) : 1;
        }
    }
}

// ---- Share ----

typedef struct light_faces { // those with Ms < 0.8 Mp, in the order of tiles
    int64_t count;
    int32_t *index; // mo_face_code
    float *own;     // D of the solve
    float *next;    // D of the sweep
} light_faces;

static inline bool is_light(const mo_balance *b, int axis, int64_t i)
{
    return b->valid[axis][i] == 1 && b->system[axis][i] < full_part * b->particles[axis][i];
}

// Finds the energy that the system gave to the faces of a cell, and which of them may be limited; returns how many are
// light.
static int32_t survey_cell(mo_balance *b, int64_t i, int axes)
{
    int32_t count = 0;
    float given = 0, from_rest = 0;
    uint8_t light = 0;
    for (int a = 0; a < axes; a++) {
        float ms = b->valid[a][i] == 1 ? b->system[a][i] : 0, mp = b->particles[a][i];
        float frame = frame_at(b, a, i), u = b->u[a][i] - frame, v = b->before[a][i] - frame;
        if (ms > 0) given += ms * gain(u, v), from_rest += ms * gain(u, v - b->kick[a]);
        if (ms < light_part * mp) light |= (uint8_t)(1 << a);
        count += is_light(b, a, i);
    }
    b->given[0][i] = given, b->given[1][i] = from_rest;
    b->light[i] = light;
    return count;
}

static void list_light(const mo_balance *b, int32_t from, int32_t to, int axes, int64_t at, light_faces *l)
{
    for (int32_t i = from; i < to; i++)
        for (int a = 0; a < axes; a++) {
            if (!is_light(b, a, i)) continue;
            l->index[at] = mo_face_code(i, a);
            l->own[at++] = b->u[a][i] - b->before[a][i];
        }
}

static mo_status find_light(mo_balance *b, light_faces *l, mo_arena *arena, mo_error *err)
{
    const mo_grid *g = b->grid;
    int axes = mo_grid_axes(g);
    int32_t cells = (int32_t)mo_grid_cells(g), end = mo_grid_samples(g);
    int64_t *first = MO_ARENA_ARRAY(arena, int64_t, g->tiles + 1), more = 0;
    if (!first) return mo_fail_memory(err);
    first[0] = 0;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) {
        int64_t count = 0;
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) count += survey_cell(b, i, axes);
        first[t + 1] = count;
    }
    for (int32_t t = 0; t < g->tiles; t++) first[t + 1] += first[t];
    for (int32_t i = cells; i < end; i++) more += survey_cell(b, i, axes);
    l->count = first[g->tiles] + more;
    l->index = MO_ARENA_ARRAY(arena, int32_t, l->count + 1);
    l->own = MO_ARENA_ARRAY(arena, float, l->count + 1), l->next = MO_ARENA_ARRAY(arena, float, l->count + 1);
    if (!l->index || !l->own || !l->next) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++)
        if (first[t + 1] > first[t]) list_light(b, t * MO_TILE_CELLS, (t + 1) * MO_TILE_CELLS, axes, first[t], l);
    list_light(b, cells, end, axes, first[g->tiles], l);
    return MO_OK;
}

// lam D + (1 - lam) mean D of the neighbours in the system, each weighted by the smaller of its two masses.
static float shared_change(const mo_balance *b, int axis, int32_t i, float own, int axes)
{
    const float *u = b->u[axis], *v = b->before[axis], *ms = b->system[axis], *mp = b->particles[axis];
    float sum = 0, weight = 0;
    for (int a = 0; a < axes; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_site_step(b->grid, axis, i, a, side);
            if (n < 0 || b->valid[axis][n] != 1) continue;
            float w = mo_minf(ms[n], mp[n]) + 1e-6f;
            sum += w * (u[n] - v[n]), weight += w;
        }
    float lam = ms[i] / (full_part * mp[i]);
    return weight > 0 ? lam * own + (1 - lam) * (sum / weight) : own;
}

mo_status mo_balance_share(mo_balance *b, mo_arena *arena, mo_error *err)
{
    light_faces l;
    int axes = mo_grid_axes(b->grid);
    MO_TRY(find_light(b, &l, arena, err));
    b->shared = l.count;
    for (int sweep = 0; sweep < SWEEPS; sweep++) { // of Jacobi, so that the order does not matter
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < l.count; k++)
            l.next[k] = shared_change(b, mo_face_axis(l.index[k]), mo_face_sample(l.index[k]), l.own[k], axes);
#pragma omp parallel for schedule(static)
        for (int64_t k = 0; k < l.count; k++) {
            int32_t a = mo_face_axis(l.index[k]), i = mo_face_sample(l.index[k]);
            b->u[a][i] = b->before[a][i] + l.next[k];
        }
    }
    return MO_OK;
}

// ---- Limit ----

// The energy that the particles gain at a face from velocity v to u. Faces of walls and emitters do not count. Work
// there is theirs to do. What liquid loses by landing the system does not give: it has no such face. If that loss
// counted, it would pay for the speed of particles that run ahead along the floor.
static inline float particles_gain(const mo_balance *b, int axis, int64_t i, float u, float v)
{
    return b->valid[axis][i] == 2 ? 0 : b->particles[axis][i] * gain(u, v);
}

static inline bool may_give(const mo_balance *b, int axis, int64_t i)
{
    if (!(b->light[i] >> axis & 1) || b->valid[axis][i] == 2) return false;
    float frame = frame_at(b, axis, i);
    return gain(b->u[axis][i] - frame, b->before[axis][i] - frame) > 0;
}

// The account of a cell: the energy that its faces can give back, and the energy that must be paid, which is less than
// 0 where energy was lost. It is counted from u*, and once more from the velocities before gravity, less the tolerance;
// the second is 0 at rest.
enum { ABLE, LEFT, LEFT_FROM_REST };

static void account_cell(const mo_balance *b, int64_t i, int axes, float *const sum[3])
{
    float able = 0, left = -b->given[0][i], from_rest = -b->given[1][i];
    for (int a = 0; a < axes; a++) {
        float mp = b->particles[a][i];
        if (mp <= 0) continue;
        float frame = frame_at(b, a, i), u = b->u[a][i] - frame, v = b->before[a][i] - frame, w = v - b->kick[a];
        float e = particles_gain(b, a, i, u, v), own = may_give(b, a, i) ? e : 0;
        able += own, left += e - own - rounding * mp * 0.5f * v * v;
        from_rest +=
            particles_gain(b, a, i, u, w) - own - tolerance * mo_minf(b->courant * fabsf(w), 1) * mp * 0.5f * w * w;
    }
    sum[ABLE][i] = able, sum[LEFT][i] = left, sum[LEFT_FROM_REST][i] = from_rest;
}

// Shrinks D so that the face keeps this part of its gain: s^2 D^2/2 + s v D = keep gain.
static float shrunk(float u, float v, float keep)
{
    float d = u - v, A = 0.5f * d * d, B = v * d;
    if (A < 1e-20f) return u;
    float s = (-B + sqrtf(mo_maxf(B * B + 4 * A * keep * gain(u, v), 0))) / (2 * A);
    return v + mo_minf(mo_maxf(s, 0), 1) * d;
}

// Every cell distributes the energy that must be paid over the faces around it that can pay, in proportion: LEFT
// becomes a part of what they can give. So a cell's loss covers the gains of others only once.
static void lay_tile(const mo_balance *b, int32_t tile, float *const sum[3])
{
    const float most = 1000; // keeps the sums of parts exact enough; a face can use at most 1
    float able[BLOCK];
    mo_grid_block(b->grid, sum[ABLE], tile, REACH, 0, able);
    sum_boxes(able);
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        int64_t i = (int64_t)tile * MO_TILE_CELLS + l;
        float around = able[block_index(l)];
        for (int k = LEFT; k <= LEFT_FROM_REST; k++)
            sum[k][i] = around > 0 ? mo_maxf(-most, mo_minf(sum[k][i] / around, most)) : 0;
    }
}

static int64_t limit_tile(mo_balance *b, int32_t tile, int axes, float *const sum[3])
{
    float left[BLOCK], from_rest[BLOCK];
    int64_t limited = 0;
    mo_grid_block(b->grid, sum[LEFT], tile, REACH, 0, left);
    mo_grid_block(b->grid, sum[LEFT_FROM_REST], tile, REACH, 0, from_rest);
    sum_boxes(left), sum_boxes(from_rest);
    for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
        int32_t i = tile * MO_TILE_CELLS + l;
        float keep = -mo_minf(left[block_index(l)], from_rest[block_index(l)]);
        if (sum[ABLE][i] <= 0 || keep >= 1) continue;
        for (int a = 0; a < axes; a++) {
            if (!may_give(b, a, i)) continue;
            float frame = frame_at(b, a, i);
            b->u[a][i] = frame + shrunk(b->u[a][i] - frame, b->before[a][i] - frame, mo_maxf(keep, 0));
            limited++;
        }
    }
    return limited;
}

static bool tile_may_give(const mo_balance *b, int32_t tile, int axes)
{
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++)
        for (int a = 0; b->light[i] && a < axes; a++)
            if (may_give(b, a, i)) return true;
    return false;
}

static bool beside(const mo_grid *g, const uint8_t *flag, int32_t tile)
{
    for (int o = 0; o < 27; o++)
        if (g->neighbour[tile][o] >= 0 && flag[g->neighbour[tile][o]]) return true;
    return false;
}

mo_status mo_balance_limit(mo_balance *b, float *const scratch[3], mo_arena *arena, mo_error *err)
{
    const mo_grid *g = b->grid;
    int axes = mo_grid_axes(g);
    int64_t limited = 0;
    uint8_t *able = mo_arena_alloc(arena, (size_t)g->tiles + 1);
    if (!able) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < g->tiles; t++) able[t] = tile_may_give(b, t, axes);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++)
        if (beside(g, able, t))
            for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) account_cell(b, i, axes, scratch);
        else
            memset(scratch[ABLE] + (int64_t)t * MO_TILE_CELLS, 0, sizeof(float) * MO_TILE_CELLS);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++)
        if (beside(g, able, t)) lay_tile(b, t, scratch);
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : limited)
    for (int32_t t = 0; t < g->tiles; t++)
        if (able[t]) limited += limit_tile(b, t, axes, scratch);
    b->limited = limited;
    return MO_OK;
}
