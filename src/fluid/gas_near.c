// Velocities of gas that carry themselves near sheets, row by row. A row sees what it reaches, and what lies behind a
// sheet is extrapolated from its own side. So paths that lead through a sheet bring nothing from beyond it.
#include "fluid/gas_near.h"
#include "fluid/sampler.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <math.h>

typedef struct sight { // what a row sees
    const mo_grid *g;
    const mo_gas_flow *flow;
    float *const *first, *const *out;
    int axes, radius;   // cells that must be seen: the way of the fastest, and the samples round its end
    float lo[3], hi[3]; // lattice positions that a path may not leave
    sampler w, f;
    int32_t around[MO_REACH_MOST_CELLS];
    float range[3][2]; // of the velocities of the rows that it reaches
} sight;

static void stay(const sight *s, float x[3])
{
    for (int a = 0; a < s->axes; a++) x[a] = mo_minf(mo_maxf(x[a], s->lo[a]), s->hi[a]);
}

// Where the gas at x was a step ago (gas.c).
static void trace_foot(const sight *s, const float x[3], float foot[3])
{
    enum { ROUNDS = 3 };
    for (int a = 0; a < 3; a++) foot[a] = x[a];
    for (int r = 0; r < ROUNDS; r++) {
        float v[3] = {0};
        for (int c = 0; c < s->axes; c++) v[c] = sample(&s->w, c, foot);
        for (int c = 0; c < s->axes; c++) foot[c] = x[c] - s->flow->step * v[c];
        stay(s, foot);
    }
}

// The least and the largest of the values of a component round a place.
static void range_at(const sampler *s, int c, const float x[3], float range[2])
{
    place at = place_of(inside(x[0] - s->base[c][0]), inside(x[1] - s->base[c][1]), inside(x[2] - s->base[c][2]), IN);
    range[0] = range[1] = s->block[c][at.index];
    for (int k = 1; k < 8; k++) {
        float v = s->block[c][at.index + (k & 1) + IN * ((k >> 1 & 1) + IN * (k >> 2))];
        range[0] = mo_minf(range[0], v), range[1] = mo_maxf(range[1], v);
    }
}

// f + (w - f(x + dt w))/2, within the values round the foot.
static float correct(const sight *s, int axis, const float x[3], float own, float once)
{
    float foot[3], ahead[3] = {x[0], x[1], x[2]}, range[2];
    trace_foot(s, x, foot);
    range_at(&s->w, axis, foot, range);
    for (int c = 0; c < s->axes; c++) ahead[c] += s->flow->step * sample(&s->w, c, x);
    stay(s, ahead);
    return mo_minf(mo_maxf(once + 0.5f * (own - sample(&s->f, axis, ahead)), range[0]), range[1]);
}

// A sample belongs to the row on its high side, if there is one.
static bool owns(const mo_grid *g, const mo_row_sample *k)
{
    return k->side == 0 || mo_sample_high(g, k->axis, k->sample) < 0;
}

// Beyond the domain no row determines velocities, and those that a row would extrapolate there from its own could grow
// without bounds; there the lattice tells, on which the wind blows beyond the tiles.
static bool is_outside(const mo_grid *g, int32_t row)
{
    int32_t c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    return !mo_levelset_in_domain(g, c);
}

// Pieces of faces are read at the faces' centres, and faces behind a sheet are extrapolated: along slopes, which lead
// beyond all values there are. Gas that is carried along has one of the values that there are.
static void find_range(sight *s, int radius)
{
    const int edge = 2 * radius + 1;
    for (int a = 0; a < 3; a++) s->range[a][0] = INFINITY, s->range[a][1] = -INFINITY;
    for (int i = 0; i < edge * edge * edge; i++) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        for (int k = 0, n = s->around[i] < 0 ? 0 : mo_row_faces(s->g, s->around[i], six, &list); k < n; k++) {
            float v = s->flow->w[list[k].axis][list[k].sample], *range = s->range[list[k].axis];
            range[0] = mo_minf(range[0], v), range[1] = mo_maxf(range[1], v);
        }
    }
}

static void carry_row(sight *s, int32_t row)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    if (is_outside(s->g, row)) return;
    mo_faces w = {.u = {s->flow->w[0], s->flow->w[1], s->flow->w[2]}};
    bool corrects = s->first && !mo_reach_near(s->g, mo_site_cell(s->g, row), 0);
    if (s->first && !corrects) {
        for (int k = 0, n = mo_row_faces(s->g, row, six, &list); k < n; k++)
            if (owns(s->g, &list[k])) s->out[list[k].axis][list[k].sample] = s->first[list[k].axis][list[k].sample];
        return;
    }
    find_range(s, mo_sampler_load_row(&s->w, s->g, &w, row, s->flow->step, s->radius, s->around));
    if (corrects) {
        mo_faces f = {.u = {s->first[0], s->first[1], s->first[2]}};
        mo_sampler_load_row(&s->f, s->g, &f, row, s->flow->step, s->radius, s->around);
    }
    for (int k = 0, n = mo_row_faces(s->g, row, six, &list); k < n; k++) {
        int axis = list[k].axis;
        int32_t at = list[k].sample;
        double at_place[3];
        float foot[3];
        if (axis >= s->axes || !owns(s->g, &list[k])) continue;
        mo_sample_place(s->g, axis, at, at_place);
        const float x[3] = {(float)at_place[0], (float)at_place[1], (float)at_place[2]};
        trace_foot(s, x, foot);
        float v = corrects ? correct(s, axis, x, s->flow->w[axis][at], s->first[axis][at]) : sample(&s->w, axis, foot);
        s->out[axis][at] = mo_minf(mo_maxf(v, s->range[axis][0]), s->range[axis][1]);
    }
}

static void carry_tile(sight *s, int32_t tile)
{
    const mo_grid *g = s->g;
    mo_faces w = {.u = {s->flow->w[0], s->flow->w[1], s->flow->w[2]}};
    int32_t first, end, start = tile * MO_TILE_CELLS;
    bool any = false;
    for (int32_t i = 0; i < MO_TILE_CELLS && !any; i++) any = mo_reach_near(g, start + i, MO_REACH_MOST);
    if (!any) return;
    sampler_load(&s->w, g, &w, tile);
    int radius = mo_sampler_radius(&s->w, s->flow->step) - 1; // paths start at faces of the cell itself
    s->radius = radius < MO_REACH_AROUND ? MO_REACH_AROUND : radius;
    s->w.radius = s->f.radius = 0;
    for (int32_t i = 0; i < MO_TILE_CELLS; i++)
        if (mo_reach_near(g, start + i, s->radius) && (s->axes == 3 || i >> 6 == MO_MARGIN)) carry_row(s, start + i);
    mo_sites_rows(g, tile, &first, &end);
    for (int32_t row = first; row < end && !mo_ghosts_of(g); row++) carry_row(s, row);
}

void mo_gas_carry_near(const mo_grid *g, const mo_gas_flow *flow, float *const first[3], float *const out[3])
{
    if (!mo_reach_of(g)) return;
#pragma omp parallel
    {
        sight s = {.g = g, .flow = flow, .first = first, .out = out, .axes = mo_grid_axes(g)};
        for (int a = 0; a < 3; a++) {
            s.lo[a] = flow->closed[2 * a] ? MO_MARGIN : -1e6f;
            s.hi[a] = flow->closed[2 * a + 1] ? (float)(g->n[a] - MO_MARGIN) : 1e6f;
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t t = 0; t < g->tiles; t++) carry_tile(&s, t);
    }
}
