// Gas on the grid: storage over tiles, motion, weight. See gas.h.
#include "fluid/gas.h"
#include "fluid/gas_near.h"
#include "fluid/sampler.h"
#include "grid/sites.h"
#include <math.h>
#include <string.h>

static int first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static int end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// ---- Storage ----

void mo_gas_destroy(mo_gas *gas)
{
    for (int f = 0; f < MO_GAS_FIELDS; f++) mo_free(gas->field[f]);
    mo_free(gas->gap[0]), mo_free(gas->gap[1]);
    memset(gas, 0, sizeof *gas);
}

mo_status mo_gas_reserve(mo_gas *gas, int64_t cells, mo_error *err)
{
    if (cells <= gas->capacity && gas->field[0]) return MO_OK;
    int64_t capacity = cells + cells / 8 + MO_TILE_CELLS;
    bool all = true;
    for (int f = 0; f < MO_GAS_FIELDS; f++) {
        mo_free(gas->field[f]);
        gas->field[f] = mo_calloc(sizeof(float) * (size_t)capacity);
        all &= gas->field[f] != NULL;
    }
    gas->capacity = all ? capacity : 0;
    return all ? MO_OK : mo_fail_memory(err);
}

mo_status mo_gas_reserve_gaps(mo_gas *gas, const mo_grid *g, mo_error *err)
{
    int64_t gaps = g->sites ? g->sites->gaps : 0;
    if (gaps > gas->gap_capacity) {
        gas->gap_capacity = 0;
        for (int k = 0; k < 2; k++) {
            mo_free(gas->gap[k]);
            if (!(gas->gap[k] = mo_alloc(sizeof(float) * (size_t)gaps))) return mo_fail_memory(err);
        }
        gas->gap_capacity = gaps;
    }
    for (int k = 0; k < 2 && gaps; k++) memset(gas->gap[k], 0, sizeof(float) * (size_t)gaps);
    return MO_OK;
}

// The first gap of each tile.
static void first_gaps(const mo_grid *g, int32_t *first)
{
    int32_t k = 0;
    for (int32_t t = 0; t < g->tiles; t++) {
        first[t] = k;
        while (k < g->sites->gaps && g->sites->gap[k].cell < (t + 1) * MO_TILE_CELLS) k++;
    }
    first[g->tiles] = k;
}

// Which values of a field belong to sides and pieces beyond the first: rows, or samples of an axis.
static bool is_row_field(int f) { return f >= 9; }

mo_status mo_gas_keep(const mo_gas *gas, const mo_grid *g, mo_arena *arena, mo_gas_extras *out, mo_error *err)
{
    const mo_sites *s = g->sites;
    *out = (mo_gas_extras){0};
    if (!s || !gas->field[0]) return MO_OK;
    size_t extras = (size_t)(mo_grid_fields(g) - mo_grid_cells(g));
    out->row = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1), out->sample = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    out->gap = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    if (!out->row || !out->sample || !out->gap) return mo_fail_memory(err);
    first_gaps(g, out->gap);
    for (int k = 0; k < 2; k++) {
        if (!(out->gaps[k] = MO_ARENA_ARRAY(arena, float, s->gaps + 1))) return mo_fail_memory(err);
        if (s->gaps) memcpy(out->gaps[k], gas->gap[k], sizeof(float) * (size_t)s->gaps);
    }
    memcpy(out->row, s->first_row, sizeof(int32_t) * (size_t)(g->tiles + 1));
    memcpy(out->sample, s->first_sample, sizeof(int32_t) * (size_t)(g->tiles + 1));
    for (int f = 0; f < MO_GAS_FIELDS; f++) {
        if (!(out->field[f] = MO_ARENA_ARRAY(arena, float, extras + 1))) return mo_fail_memory(err);
        memcpy(out->field[f], gas->field[f] + mo_grid_cells(g), sizeof(float) * extras);
    }
    out->tiles = g->tiles;
    return MO_OK;
}

// Fills a field's values of sides and pieces beyond the first. As long as sheets rest, a tile has the same ones in the
// same order as before; those of a new tile begin with the value of their cell.
static void recall(const mo_grid *g, int f, const int32_t *from, const mo_gas_extras *kept, float *field)
{
    const mo_sites *s = g->sites;
    int64_t cells = mo_grid_cells(g);
    const int32_t *now = !s ? NULL : is_row_field(f) ? s->first_row : s->first_sample;
    const int32_t *old = !kept ? NULL : is_row_field(f) ? kept->row : kept->sample;
    memset(field + cells, 0, sizeof(float) * (size_t)(mo_grid_fields(g) - cells));
    for (int32_t t = 0; s && t < g->tiles; t++) {
        int32_t count = now[t + 1] - now[t], o = old && from[t] >= 0 && from[t] < kept->tiles ? from[t] : -1;
        if (o >= 0 && old[o + 1] - old[o] == count) {
            memcpy(field + cells + now[t], kept->field[f] + old[o], sizeof(float) * (size_t)count);
            continue;
        }
        for (int32_t k = now[t]; k < now[t + 1]; k++)
            field[cells + k] = field[is_row_field(f) ? s->cell[k] : s->sample[k].cell];
    }
}

static mo_status recall_gaps(mo_gas *gas, const mo_grid *g, const int32_t *from, const mo_gas_extras *kept,
                             mo_arena *arena, mo_error *err)
{
    MO_TRY(mo_gas_reserve_gaps(gas, g, err));
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    if (!first) return mo_fail_memory(err);
    if (!g->sites || !kept) return MO_OK;
    first_gaps(g, first);
    for (int32_t t = 0; t < g->tiles; t++) {
        int32_t count = first[t + 1] - first[t], o = from[t] >= 0 && from[t] < kept->tiles ? from[t] : -1;
        for (int k = 0; k < 2 && o >= 0 && count && kept->gap[o + 1] - kept->gap[o] == count; k++)
            memcpy(gas->gap[k] + first[t], kept->gaps[k] + kept->gap[o], sizeof(float) * (size_t)count);
    }
    return MO_OK;
}

// One field after the other, so that one more is enough room.
mo_status mo_gas_settle(mo_gas *gas, const mo_levelset *l, const mo_grid *g, const float wind[3],
                        const mo_gas_extras *kept, mo_arena *arena, mo_error *err)
{
    size_t mark = mo_arena_mark(arena), cells = (size_t)mo_grid_fields(g), tile = sizeof(float) * MO_TILE_CELLS;
    int32_t *from = MO_ARENA_ARRAY(arena, int32_t, g->tiles + 1);
    float *moved[MO_GAS_FIELDS];
    bool all = from != NULL;
    for (int f = 0; f < MO_GAS_FIELDS; f++) all &= (moved[f] = MO_ARENA_ARRAY(arena, float, cells + 1)) != NULL;
    if (!all) return mo_fail_memory(err);
    mo_levelset_match(l, g, from);
    for (int f = 0; f < MO_GAS_FIELDS; f++) {
        float outside = f < 3 ? wind[f] : f >= 6 && f < 9 ? wind[f - 6] : 0;
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < g->tiles; t++) {
            float *to = moved[f] + (int64_t)t * MO_TILE_CELLS;
            if (from[t] >= 0)
                memcpy(to, gas->field[f] + (int64_t)from[t] * MO_TILE_CELLS, tile);
            else
                for (int i = 0; i < MO_TILE_CELLS; i++) to[i] = outside;
        }
        recall(g, f, from, kept, moved[f]);
    }
    MO_TRY(recall_gaps(gas, g, from, kept, arena, err));
    MO_TRY(mo_gas_reserve(gas, (int64_t)cells, err));
    for (int f = 0; f < MO_GAS_FIELDS; f++) memcpy(gas->field[f], moved[f], sizeof(float) * cells);
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Motion ----

typedef struct nest { // the data with which the samples of one tile find where their gas comes from
    const mo_gas_flow *flow;
    int axes;
    float lo[3], hi[3]; // lattice positions that a path may not leave
    sampler w, q;       // velocity; the field, as component 0
} nest;

static void enter_tile(nest *n, const mo_grid *g, const mo_gas_flow *flow, int32_t tile)
{
    n->flow = flow, n->axes = mo_grid_axes(g);
    for (int a = 0; a < 3; a++) {
        n->lo[a] = flow->closed[2 * a] ? MO_MARGIN : -1e6f;
        n->hi[a] = flow->closed[2 * a + 1] ? (float)(g->n[a] - MO_MARGIN) : 1e6f;
    }
    for (int c = 0; c < 3; c++) {
        mo_grid_block(g, flow->w[c], tile, IN_HALO, flow->wind[c], n->w.block[c]);
        for (int a = 0; a < 3; a++) n->w.base[c][a] = (float)(8 * g->coord[tile][a] - IN_HALO) + (a == c ? 0.0f : 0.5f);
    }
}

static void load_field(nest *n, const mo_grid *g, int site, const float *field, float outside, int32_t tile)
{
    mo_grid_block(g, field, tile, IN_HALO, outside, n->q.block[0]);
    for (int a = 0; a < 3; a++) n->q.base[0][a] = (float)(8 * g->coord[tile][a] - IN_HALO) + (a == site ? 0.0f : 0.5f);
}

// The places of the eight samples of a row.
static void row_places(const mo_grid *g, int site, int32_t row, lanes x[3])
{
    int32_t c[3];
    mo_grid_cell(g, row, c);
    for (int a = 0; a < 3; a++) x[a] = (float)c[a] + (a == site ? 0.0f : 0.5f) + (lanes){0};
    x[0] += (lanes){0, 1, 2, 3, 4, 5, 6, 7};
}

static void stay(const nest *n, lanes x[3])
{
    for (int a = 0; a < n->axes; a++) {
        lanes lo = n->lo[a] + (lanes){0}, hi = n->hi[a] + (lanes){0};
        lanes_max(&x[a], &lo, &x[a]);
        lanes_min(&x[a], &hi, &x[a]);
    }
}

// Finds where the gas at x was a step ago, if it has kept its velocity since: x_d = x - dt w(x_d), by three rounds.
static void trace_foot(const nest *n, const lanes x[3], lanes foot[3])
{
    enum { ROUNDS = 3 };
    for (int a = 0; a < 3; a++) foot[a] = x[a];
    for (int r = 0; r < ROUNDS; r++) {
        lanes v[3];
        for (int c = 0; c < n->axes; c++) sample_lanes(&n->w, c, foot, &v[c]);
        for (int c = 0; c < n->axes; c++) foot[c] = x[c] - n->flow->step * v[c];
        stay(n, foot);
    }
}

// Paths that would end in a solid end in front of it instead, so that gas behind it does not come through (TV 4).
// Component 1 of q is the distance.
static void stop_at_solids(const nest *n, const lanes x[3], lanes foot[3])
{
    enum { HALVINGS = 6 };
    const float before = 1e-3f; // cells
    lanes at, start;
    sample_lanes(&n->q, 1, foot, &at);
    sample_lanes(&n->q, 1, x, &start);
    for (int l = 0; l < LANES; l++) {
        if (at[l] >= before || start[l] < before) continue;
        float free = 0, hit = 1;
        for (int k = 0; k < HALVINGS; k++) {
            float middle = 0.5f * (free + hit);
            lanes way[3], there;
            for (int a = 0; a < 3; a++) way[a] = x[a] + middle * (foot[a] - x[a]);
            sample_lanes(&n->q, 1, way, &there);
            if (there[l] < before)
                hit = middle;
            else
                free = middle;
        }
        for (int a = 0; a < 3; a++) foot[a][l] = x[a][l] + free * (foot[a][l] - x[a][l]);
    }
}

// f, of first order, of one axis.
static void carry_once(const mo_grid *g, const mo_gas_flow *flow, int axis, float *out)
{
    const float *field = flow->w[axis];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        nest n;
        enter_tile(&n, g, flow, t);
        load_field(&n, g, axis, field, flow->wind[axis], t);
        bool stops = flow->once && flow->distance;
        if (stops) mo_grid_block(g, flow->distance, t, IN_HALO, 1e3f, n.q.block[1]);
        for (int a = 0; a < 3; a++) n.q.base[1][a] = (float)(8 * g->coord[t][a] - IN_HALO) + 0.5f;
        memcpy(out + (int64_t)t * MO_TILE_CELLS, field + (int64_t)t * MO_TILE_CELLS, sizeof(float) * MO_TILE_CELLS);
        for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i += MO_TILE) {
            lanes x[3], foot[3], value;
            int32_t row = t * MO_TILE_CELLS + i;
            row_places(g, axis, row, x);
            trace_foot(&n, x, foot);
            if (stops) stop_at_solids(&n, x, foot);
            sample_lanes(&n.q, 0, foot, &value);
            lanes_store(&value, LANES, out + row);
        }
    }
}

// The least and the largest of the values round a place; in 2D there is one plane of them.
static void range_at(const nest *n, const lanes x[3], lanes *least, lanes *most)
{
    corners at;
    find_corners(&n->q, 0, x, &at);
    *least = *most = at.v[0];
    for (int k = 1; k < (n->axes == 2 ? 4 : 8); k++) lanes_min(least, &at.v[k], least), lanes_max(most, &at.v[k], most);
}

// f + (w - f(x + dt w))/2: the error of f on its way there and back is known, and half of it is corrected.
static void correct_row(const nest *n, const sampler *first, const lanes x[3], const float *field, const float *f,
                        float *out)
{
    lanes foot[3], ahead[3], v, back, value, once, least, most;
    trace_foot(n, x, foot);
    range_at(n, foot, &least, &most);
    for (int a = 0; a < 3; a++) ahead[a] = x[a];
    for (int c = 0; c < n->axes; c++) {
        sample_lanes(&n->w, c, x, &v);
        ahead[c] = x[c] + n->flow->step * v;
    }
    stay(n, ahead);
    sample_lanes(first, 0, ahead, &back);
    lanes_load(field, LANES, &value);
    lanes_load(f, LANES, &once);
    value = once + 0.5f * (value - back);
    lanes_max(&value, &least, &value);
    lanes_min(&value, &most, &value);
    lanes_store(&value, LANES, out);
}

static void carry_twice(const mo_grid *g, const mo_gas_flow *flow, int axis, const float *first, float *out)
{
    const float *field = flow->w[axis];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        nest n;
        sampler f;
        int32_t start = t * MO_TILE_CELLS;
        enter_tile(&n, g, flow, t);
        load_field(&n, g, axis, field, flow->wind[axis], t);
        mo_grid_block(g, first, t, IN_HALO, flow->wind[axis], f.block[0]);
        memcpy(f.base[0], n.q.base[0], sizeof f.base[0]);
        memcpy(out + start, field + start, sizeof(float) * MO_TILE_CELLS);
        for (int32_t i = 64 * first_plane(g); i < 64 * end_plane(g); i += MO_TILE) {
            lanes x[3];
            row_places(g, axis, start + i, x);
            correct_row(&n, &f, x, field + start + i, first + start + i, out + start + i);
        }
    }
}

void mo_gas_carry(const mo_grid *g, const mo_gas_flow *flow, float *const first[3], float *const out[3])
{
    float *const *once = flow->once ? out : first;
    size_t cells = (size_t)mo_grid_cells(g), extras = (size_t)mo_grid_fields(g) - cells;
    for (int a = 0; a < 3 && extras; a++) {
        memcpy(first[a] + cells, flow->w[a] + cells, sizeof(float) * extras);
        memcpy(out[a] + cells, flow->w[a] + cells, sizeof(float) * extras);
    }
    for (int a = 0; a < mo_grid_axes(g); a++) carry_once(g, flow, a, once[a]);
    mo_gas_carry_near(g, flow, NULL, once);
    if (flow->once) return;
    for (int a = 0; a < mo_grid_axes(g); a++) carry_twice(g, flow, a, first[a], out[a]);
    mo_gas_carry_near(g, flow, first, out);
}

// ---- Weight ----

void mo_gas_push(const mo_gas *gas, const mo_grid *g, const mo_gas_weight *weight, double dt, int axis, float *u)
{
    float kick = (float)(0.5 * dt * mo_get(weight->gravity, axis)), heavy = (float)(1 / weight->density),
          light = (float)(1 / weight->temperature);
    if (kick == 0) return;
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_samples(g); i++) {
        if (i >= mo_grid_cells(g) && mo_sites_sample(g, axis, i).axis != axis) continue;
        int32_t low = mo_sample_low(g, axis, i), high = mo_sample_high(g, axis, i);
        float soot = (high < 0 ? 0 : gas->soot[high]) + (low < 0 ? 0 : gas->soot[low]),
              heat = (high < 0 ? 0 : gas->heat[high]) + (low < 0 ? 0 : gas->heat[low]);
        if (soot != 0 || heat != 0) u[i] += kick * (soot * heavy - heat * light);
    }
}

double mo_gas_max_speed(const mo_gas *gas, const mo_grid *g, float *const area[3])
{
    float most = 0;
#pragma omp parallel for schedule(static, 4096) reduction(max : most)
    for (int32_t i = 0; i < mo_grid_samples(g); i++) {
        float square = 0;
        for (int a = 0; a < 3; a++) square += area[a][i] > 0 ? gas->u[a][i] * gas->u[a][i] : 0;
        most = mo_maxf(most, square);
    }
    return sqrt(most);
}
