// Gas where sheets have moved. See gas_move.h.
#include "fluid/gas_move.h"
#include "fluid/gas_ghosts.h"
#include "grid/cut.h"
#include "grid/extrapolate.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { U = 0, KICK = 3, LAST = 6, SOOT = 9, HEAT = 10, PRESSURE = 11, ROOM = 12, MOST = 300, LAYERS = 3 };

typedef struct move {
    const mo_gas_move *m;
    float *const *from; // fields on the old sites
    float *to[MO_GAS_FIELDS];
    uint8_t *known[4]; // of samples of the axes, and of rows: 0 not yet, 1 known, 2 leads nowhere
    int32_t *near;     // cells that sheets cut, or may have passed
    int32_t near_count;
    int radius;
    bool ghosts; // in place of sides of cells
} move;

// ---- Sites of a cell ----

// The first of an ascending list that is not below `cell`.
static int32_t first_row_of(const mo_sites *s, int32_t cell)
{
    int32_t lo = s->first_row[cell / MO_TILE_CELLS], hi = s->first_row[cell / MO_TILE_CELLS + 1];
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (s->cell[middle] < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static int32_t first_piece_of(const mo_sites *s, int32_t cell)
{
    int32_t lo = s->first_sample[cell / MO_TILE_CELLS], hi = s->first_sample[cell / MO_TILE_CELLS + 1];
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (s->sample[middle].cell < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static int rows_of(const mo_grid *g, int32_t cell, int32_t list[MOST])
{
    const mo_sites *s = g->sites;
    int count = 0;
    list[count++] = cell;
    if (!s) return count;
    for (int32_t k = first_row_of(s, cell); k < s->rows && s->cell[k] == cell && count < MOST; k++)
        list[count++] = (int32_t)mo_grid_cells(g) + k;
    return count;
}

static int pieces_of(const mo_grid *g, int32_t cell, int axis, int32_t list[MOST])
{
    const mo_sites *s = g->sites;
    int count = 0;
    list[count++] = cell;
    if (!s) return count;
    for (int32_t k = first_piece_of(s, cell); k < s->samples && s->sample[k].cell == cell && count < MOST; k++)
        if (s->sample[k].axis == axis) list[count++] = (int32_t)mo_grid_cells(g) + k;
    return count;
}

static bool leads(const mo_grid *g, int axis, int32_t sample)
{
    bool joins = mo_sample_low(g, axis, sample) >= 0 || mo_sample_high(g, axis, sample) >= 0;
    return joins && mo_sample_area(g, axis, sample) > 0;
}

// A place in a row; false: the row has no opening.
static bool row_place(const mo_grid *g, int32_t row, double x[3])
{
    int32_t c[3], cell = mo_site_cell(g, row);
    mo_row_sample six[6];
    const mo_row_sample *list;
    mo_grid_cell(g, cell, c);
    for (int a = 0; a < 3; a++) x[a] = c[a] + 0.5;
    if (!mo_reach_near(g, cell, 0)) return true;
    if (mo_row_samples(g, row, six, &list) == 0) return false;
    mo_site_place(g, row, x);
    return true;
}

static bool parted(const mo_gas_move *m, const double a[3], const double b[3]) { return m->parts(m->user, a, b); }

static double distance_square(const double a[3], const double b[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

// ---- Velocities and pressure ----

static void move_piece(const move *v, int32_t cell, int axis, int32_t piece)
{
    const mo_gas_move *m = v->m;
    int32_t old[MOST], best = -1;
    double x[3], y[3], least = INFINITY;
    v->known[axis][piece] = leads(m->now, axis, piece) ? 0 : 2;
    if (v->known[axis][piece] == 2) return;
    mo_sample_place(m->now, axis, piece, x);
    for (int k = 0, n = pieces_of(m->old, cell, axis, old); k < n; k++) {
        if (!leads(m->old, axis, old[k])) continue;
        mo_sample_place(m->old, axis, old[k], y);
        double d = distance_square(x, y);
        if (d < least && !parted(m, y, x)) least = d, best = old[k];
    }
    if (best < 0) return;
    v->known[axis][piece] = 1;
    for (int f = axis; f < SOOT; f += 3) v->to[f][piece] = v->from[f][best];
}

static void move_row(const move *v, int32_t cell, int32_t row)
{
    const mo_gas_move *m = v->m;
    int32_t old[MOST], best = -1;
    double x[3], y[3], least = INFINITY;
    for (int f = SOOT; f < MO_GAS_FIELDS; f++) v->to[f][row] = 0;
    v->known[MO_SITE_ROW][row] = row_place(m->now, row, x) ? 0 : 2;
    if (v->known[MO_SITE_ROW][row] == 2) return;
    for (int k = 0, n = rows_of(m->old, cell, old); k < n; k++) {
        if (!row_place(m->old, old[k], y)) continue;
        double d = distance_square(x, y);
        if (d < least && !parted(m, y, x)) least = d, best = old[k];
    }
    if (best < 0) return;
    v->known[MO_SITE_ROW][row] = 1;
    v->to[PRESSURE][row] = v->from[PRESSURE][best];
}

static void move_cell(const move *v, int32_t cell)
{
    const mo_grid *g = v->m->now;
    int32_t list[MOST];
    for (int a = 0; a < mo_grid_axes(g) && !v->ghosts; a++)
        for (int k = 0, n = pieces_of(g, cell, a, list); k < n; k++) move_piece(v, cell, a, list[k]);
    for (int k = 0, n = rows_of(g, cell, list); k < n; k++) move_row(v, cell, list[k]);
}

// The velocity of the sheets beside a sample, along its axis: the mean over the walls of its rows.
static float sheet_velocity(const mo_gas_move *m, int axis, int32_t sample)
{
    const int32_t row[2] = {mo_sample_low(m->now, axis, sample), mo_sample_high(m->now, axis, sample)};
    double area = 0, sum = 0;
    for (int s = 0; s < 2; s++) {
        const mo_site_wall *w;
        for (int k = 0, n = row[s] < 0 ? 0 : mo_site_walls(m->now, row[s], &w); k < n; k++) {
            double part = sqrt(w[k].vector[0] * w[k].vector[0] + w[k].vector[1] * w[k].vector[1] +
                               w[k].vector[2] * w[k].vector[2]);
            area += part;
            for (int i = 0; i < 3; i++) sum += part * w[k].weight[i] * m->velocity[w[k].vertex[i]][axis];
        }
    }
    return area > 0 ? (float)(sum / area) : 0;
}

// Fills the values of a field that the move left open, from those beside them on the same side.
static mo_status fill(const move *v, int f, int site, mo_arena *arena, mo_error *err)
{
    const mo_grid *g = v->m->now;
    size_t mark = mo_arena_mark(arena), fields = (size_t)mo_grid_fields(g);
    uint8_t *known = MO_ARENA_ARRAY(arena, uint8_t, 2 * fields + 1);
    float *scratch = MO_ARENA_ARRAY(arena, float, fields + 1);
    if (!known || !scratch) return mo_fail_memory(err);
    memcpy(known, v->known[site], fields);
    mo_extrapolate(g, site, v->to[f], known, LAYERS, 1, scratch, known + fields);
    for (int32_t k = 0; k < mo_grid_samples(g) && (f < KICK || (f >= LAST && f < SOOT)); k++) {
        bool own = k < mo_grid_cells(g) || mo_sites_sample(g, site, k).axis == site;
        if (own && known[k] == 0 && v->known[site][k] == 0) v->to[f][k] = sheet_velocity(v->m, site, k);
    }
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Gaps ----

// A gap keeps its velocity if it is where it was; otherwise it takes the mean over the gaps of its triangle, which
// moves with the sheet.
static void move_gap(const move *v, const mo_gas *gas, int32_t k, float out[2])
{
    const mo_gap *now = &v->m->now->sites->gap[k];
    const mo_sites *old = v->m->old->sites;
    double area = 0, sum[2] = {0};
    out[0] = out[1] = 0;
    for (int32_t i = 0; old && i < old->gaps; i++) {
        const mo_gap *g = &old->gap[i];
        if (g->triangle != now->triangle) continue;
        double along = 0;
        for (int a = 0; a < 3; a++) along += g->normal[a] * now->normal[a];
        double sign = along < 0 ? -1 : 1;
        if (g->cell == now->cell && distance_square(g->at, now->at) < 1e-18) {
            for (int f = 0; f < 2; f++) out[f] = (float)sign * gas->gap[f][i];
            return;
        }
        area += g->area;
        for (int f = 0; f < 2; f++) sum[f] += sign * g->area * gas->gap[f][i];
    }
    for (int f = 0; f < 2 && area > 0; f++) out[f] = (float)(sum[f] / area);
}

static mo_status move_gaps(const move *v, mo_gas *gas, mo_arena *arena, mo_error *err)
{
    const mo_sites *s = v->m->now->sites;
    int32_t gaps = s ? s->gaps : 0;
    float(*kept)[2] = mo_arena_alloc(arena, sizeof *kept * ((size_t)gaps + 1));
    if (!kept) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t k = 0; k < gaps; k++) move_gap(v, gas, k, kept[k]);
    MO_TRY(mo_gas_reserve_gaps(gas, v->m->now, err));
    for (int32_t k = 0; k < gaps; k++) gas->gap[0][k] = kept[k][0], gas->gap[1][k] = kept[k][1];
    return MO_OK;
}

// ---- Soot and heat ----

typedef struct goal { // rows that take the content of a row
    int count;
    int32_t row[MOST];
    double share[MOST];
} goal;

// The rows of a cell on the side of place x, by their volumes.
static void add_goals(const mo_gas_move *m, int32_t cell, const double x[3], goal *out)
{
    int32_t list[MOST];
    for (int k = 0, n = rows_of(m->now, cell, list); k < n && out->count < MOST; k++) {
        double y[3];
        if (!row_place(m->now, list[k], y) || parted(m, x, y)) continue;
        out->row[out->count] = list[k], out->share[out->count++] = mo_site_volume(m->now, list[k]);
    }
}

// The nearest row on the side of place x among the cells at a distance of `ring` cells.
static void add_nearest(const mo_gas_move *m, int32_t cell, int ring, const double x[3], goal *out)
{
    int32_t c[3], list[MOST], best = -1;
    double least = INFINITY;
    int deep = mo_grid_is_2d(m->now) ? 0 : ring;
    mo_grid_cell(m->now, cell, c);
    for (int z = -deep; z <= deep; z++)
        for (int y = -ring; y <= ring; y++)
            for (int w = -ring; w <= ring; w++) {
                bool on = abs(w) == ring || abs(y) == ring || abs(z) == ring;
                int32_t n = on ? mo_grid_index(m->now, c[0] + w, c[1] + y, c[2] + z) : -1;
                for (int k = 0, count = n < 0 ? 0 : rows_of(m->now, n, list); k < count; k++) {
                    double at[3];
                    if (!row_place(m->now, list[k], at)) continue;
                    double d = distance_square(x, at);
                    if (d < least && !parted(m, x, at)) least = d, best = list[k];
                }
            }
    if (best >= 0) out->row[0] = best, out->share[0] = 1, out->count = 1;
}

static void find_goals(const move *v, int32_t row, goal *out)
{
    double x[3];
    int32_t cell = mo_site_cell(v->m->old, row);
    out->count = 0;
    if (!row_place(v->m->old, row, x)) return;
    add_goals(v->m, cell, x, out);
    for (int ring = 1; ring <= v->radius && !out->count; ring++) add_nearest(v->m, cell, ring, x, out);
}

// Where a row finds none, the rows that it was open to may.
static void find_goals_beside(const move *v, int32_t row, goal *out)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    const mo_grid *g = v->m->old;
    for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n && !out->count; k++) {
        int a = list[k].axis;
        int32_t other = list[k].side ? mo_sample_high(g, a, list[k].sample) : mo_sample_low(g, a, list[k].sample);
        if (other >= 0) find_goals(v, other, out);
    }
}

static void give(const goal *g, float content, float *to)
{
    double all = 0;
    for (int k = 0; k < g->count; k++) all += g->share[k];
    for (int k = 0; k < g->count; k++)
        to[g->row[k]] += (float)(all > 0 ? content * (g->share[k] / all) : content / g->count);
}

// Whether a cell was whole and is, and no sheet has passed it.
static bool stays(const move *v, int32_t cell)
{
    double x[3];
    if (mo_reach_near(v->m->old, cell, 0) || mo_reach_near(v->m->now, cell, 0)) return false;
    return row_place(v->m->old, cell, x) && !parted(v->m, x, x);
}

static void move_content(const move *v, int32_t row)
{
    static const int contents[3] = {SOOT, HEAT, ROOM};
    goal to;
    find_goals(v, row, &to);
    if (!to.count) find_goals_beside(v, row, &to);
    for (int k = 0; k < 3; k++) give(&to, v->from[contents[k]][row], v->to[contents[k]]);
}

static mo_status move_contents(const move *v, mo_arena *arena, mo_error *err)
{
    uint8_t *same = MO_ARENA_ARRAY(arena, uint8_t, v->near_count + 1);
    if (!same) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < v->near_count; i++) same[i] = stays(v, v->near[i]);
    for (int32_t i = 0; i < v->near_count; i++) {
        int32_t list[MOST], cell = v->near[i];
        for (int k = 0, n = same[i] ? 0 : rows_of(v->m->old, cell, list); k < n; k++) move_content(v, list[k]);
        if (!same[i]) continue;
        v->to[SOOT][cell] += v->from[SOOT][cell], v->to[HEAT][cell] += v->from[HEAT][cell];
        v->to[ROOM][cell] += v->from[ROOM][cell];
    }
    return MO_OK;
}

// ---- The move ----

// Cells beyond the near ones are as they were: one row, whole faces.
static mo_status start(move *v, mo_arena *arena, mo_error *err)
{
    const mo_grid *g = v->m->now;
    size_t cells = (size_t)mo_grid_cells(g), fields = (size_t)mo_grid_fields(g);
    bool all = (v->near = MO_ARENA_ARRAY(arena, int32_t, cells + 1)) != NULL;
    for (int f = 0; f < MO_GAS_FIELDS; f++) all &= (v->to[f] = MO_ARENA_ARRAY(arena, float, fields + 1)) != NULL;
    for (int k = 0; k < 4; k++) all &= (v->known[k] = MO_ARENA_ARRAY(arena, uint8_t, fields + 1)) != NULL;
    if (!all) return mo_fail_memory(err);
    for (int f = 0; f < MO_GAS_FIELDS; f++) {
        memcpy(v->to[f], v->from[f], sizeof(float) * cells);
        memset(v->to[f] + cells, 0, sizeof(float) * (fields - cells));
    }
    for (int k = 0; k < 4; k++) memset(v->known[k], 1, cells), memset(v->known[k] + cells, 2, fields - cells);
    for (int32_t i = 0; i < (int32_t)cells; i++)
        if (mo_reach_near(g, i, v->radius) || mo_reach_near(v->m->old, i, v->radius)) v->near[v->near_count++] = i;
    return MO_OK;
}

mo_status mo_gas_follow_sheets(mo_gas *gas, const mo_gas_move *m, mo_arena *arena, uint8_t **fresh, mo_error *err)
{
    int radius = 1 + (int)ceil(m->way);
    move v = {.m = m, .from = gas->field, .radius = radius < MO_REACH_MOST ? radius : MO_REACH_MOST};
    size_t fields = (size_t)mo_grid_fields(m->now);
    v.ghosts = mo_ghosts_of(m->old) || mo_ghosts_of(m->now);
    MO_TRY(start(&v, arena, err));
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t i = 0; i < v.near_count; i++) move_cell(&v, v.near[i]);
    if (v.ghosts) MO_TRY(mo_gas_follow_ghosts(m, v.near_count, v.near, gas->u, v.to, arena, err));
    for (int f = 0; f < SOOT && !v.ghosts; f++)
        if (f % 3 < mo_grid_axes(m->now)) MO_TRY(fill(&v, f, f % 3, arena, err));
    MO_TRY(fill(&v, PRESSURE, MO_SITE_ROW, arena, err));
    MO_TRY(move_contents(&v, arena, err));
    MO_TRY(move_gaps(&v, gas, arena, err));
    MO_TRY(mo_gas_reserve(gas, (int64_t)fields, err));
    for (int f = 0; f < MO_GAS_FIELDS; f++) memcpy(gas->field[f], v.to[f], sizeof(float) * fields);
    *fresh = v.known[MO_SITE_ROW];
    for (size_t i = 0; i < fields; i++) (*fresh)[i] = (*fresh)[i] == 0;
    return MO_OK;
}
