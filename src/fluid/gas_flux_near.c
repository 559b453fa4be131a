// The flow of soot and heat near sheets: from row to row through the pieces of faces. Nothing passes
// a sheet, because no piece joins the rows on its two sides.
//
// A tile that sheets meet, or that has such a tile beside it, is swept row by row. Where no sheet is, this does what
// gas_flux.c does with lines, with the same rounding errors, so that the two agree on the faces between their tiles.
#include "base/union_find.h"
#include "fluid/gas_flux.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include "grid/sites.h"

bool mo_gas_is_near(const mo_grid *g, int32_t tile)
{
    for (int o = 0; g->sites && o < 27; o++) {
        int32_t t = g->neighbour[tile][o];
        if (t >= 0 && g->sites->cut[t] >= 0) return true;
    }
    return false;
}

// ---- Groups of rows ----

// The row through a row's largest open sample; -1: none.
static int32_t host_of(const mo_grid *g, const mo_gas_flux *f, int32_t row)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    double largest = 0;
    int32_t host = -1;
    for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n; k++) {
        int a = list[k].axis;
        int32_t i = list[k].sample, other = list[k].side ? mo_sample_high(g, a, i) : mo_sample_low(g, a, i);
        double area = mo_sample_area(g, a, i) * f->area[a][i];
        if (other >= 0 && f->open[other] > f->open[row] && area > largest) largest = area, host = other;
    }
    return host;
}

// A ghost has no room; gas passes it together with one of its real cells.
static int32_t cell_of_ghost(const mo_grid *g, const mo_gas_flux *f, int32_t row)
{
    const mo_ghosts *s = mo_ghosts_of(g);
    int32_t r = row - (int32_t)mo_grid_cells(g);
    for (int32_t k = s->first_side[r]; k < s->first_side[r + 1]; k++)
        if (f->open[s->side[s->side_of[k]].cell] > 0) return s->side[s->side_of[k]].cell;
    return -1;
}

mo_status mo_gas_group(const mo_grid *g, mo_gas_flux *f, mo_arena *arena, mo_error *err)
{
    const float little = 0.5f; // parts of a cell
    const mo_reach *r = mo_reach_of(g);
    int32_t rows = mo_grid_rows(g);
    if (!r) return MO_OK;
    int32_t *root = MO_ARENA_ARRAY(arena, int32_t, rows + 1), *next = MO_ARENA_ARRAY(arena, int32_t, rows + 1);
    if (!root || !next) return mo_fail_memory(err);
    for (int32_t i = 0; i < rows; i++) root[i] = i, next[i] = -1;
    for (int32_t k = 0; k < g->sites->gaps; k++) {
        const mo_gap *gap = &g->sites->gap[k];
        if (gap->area > 0) mo_join_sets(root, gap->low, gap->high);
    }
    for (int32_t k = 0; k < r->count; k++) {
        int32_t row = r->row[k], host = -1;
        if (f->open[row] > 0 && f->open[row] < little && mo_reach_near(g, mo_site_cell(g, row), 0))
            host = host_of(g, f, row);
        if (mo_is_ghost(g, row)) host = cell_of_ghost(g, f, row);
        if (host >= 0) mo_join_sets(root, row, host);
    }
    for (int32_t k = 0; k < r->count; k++) root[r->row[k]] = mo_find_root(root, r->row[k]);
    for (int32_t k = r->count - 1; k >= 0; k--) {
        int32_t row = r->row[k], top = root[row];
        if (top != row) next[row] = next[top], next[top] = row;
    }
    f->root = root, f->next = next;
    return MO_OK;
}

void mo_gas_gather(const mo_grid *g, const mo_gas_flux *f, float *content, float *volume)
{
    const mo_reach *r = mo_reach_of(g);
    for (int32_t k = 0; f->root && k < r->count; k++) {
        int32_t row = r->row[k], top = f->root[row];
        if (top != row) content[top] += content[row], volume[top] += volume[row];
    }
}

void mo_gas_spread(const mo_grid *g, const mo_gas_flux *f, float *content)
{
    const mo_reach *r = mo_reach_of(g);
    for (int32_t k = 0; f->root && k < r->count; k++) {
        int32_t top = r->row[k];
        if (f->root[top] != top || f->next[top] < 0) continue;
        float room = f->open[top], all = content[top];
        for (int32_t row = f->next[top]; row >= 0; row = f->next[row]) room += f->open[row];
        if (!(room > 0)) continue; // beyond a wall
        for (int32_t row = f->next[top]; row >= 0; row = f->next[row]) {
            content[row] = all * f->open[row] / room;
            content[top] -= content[row];
        }
    }
}

// ---- Sweeps ----

typedef struct door { // a way into a group of rows, or out of it
    int32_t sample;   // -1: into the gas beyond the tiles
    int8_t axis, side;
} door;
enum { DOORS = 512 };

static int32_t top_of(const mo_gas_sweep *s, int32_t row) { return row < 0 ? -1 : s->flux->root[row]; }

// The group behind a way.
static int32_t behind(const mo_gas_sweep *s, const door *d)
{
    if (d->sample < 0) return -1;
    return top_of(s, d->side ? mo_sample_high(s->g, s->axis, d->sample) : mo_sample_low(s->g, s->axis, d->sample));
}

// The ways of a group of rows along an axis.
static int doors_of(const mo_gas_sweep *s, int32_t top, door *out)
{
    int count = 0;
    for (int32_t row = top; row >= 0; row = s->flux->next[row]) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        int highs = 0;
        for (int k = 0, n = mo_row_samples(s->g, row, six, &list); k < n && count < DOORS - 1; k++) {
            door d = {list[k].sample, list[k].axis, list[k].side};
            if (d.axis != s->axis) continue;
            highs += d.side;
            if (behind(s, &d) != top) out[count++] = d;
        }
        bool plain = row < mo_grid_cells(s->g) && !mo_reach_near(s->g, row, 0);
        if (!highs && plain && mo_grid_step(s->g, row, s->axis, 1) < 0) out[count++] = (door){-1, (int8_t)s->axis, 1};
    }
    MO_ASSERT(count < DOORS - 1);
    return count;
}

// The volume that passes, upwards.
static float flow_through(const mo_gas_sweep *s, const door *d)
{
    if (d->sample < 0) return s->flux->wind[s->axis] * s->step;
    float area = (float)mo_sample_area(s->g, s->axis, d->sample) * s->flux->area[s->axis][d->sample];
    return s->flux->u[s->axis][d->sample] * (s->step * area);
}

// A group's neighbour through the largest opening of its first row, as a value and a volume. Beyond the tiles there is
// gas without soot; behind a sheet there is nothing.
static void look(const mo_gas_sweep *s, int32_t row, int side, float *value, float *volume)
{
    int32_t n = side ? top_of(s, mo_site_step(s->g, MO_SITE_ROW, row, s->axis, side)) : row;
    bool plain = row < mo_grid_cells(s->g) && !mo_reach_near(s->g, row, 0);
    *value = n < 0 ? 0 : mo_gas_value(s, s->content[n], s->volume[n]);
    *volume = n < 0 ? (plain ? 1 : 0) : s->volume[n];
}

// The amount that passes a way upwards if the row that it comes from had enough; *from: that row, -1: beyond the tiles.
static float offered(const mo_gas_sweep *s, const door *d, int32_t row, float flow, int32_t *from)
{
    float value[3], volume[3];
    bool own = d->side ? flow > 0 : flow < 0;
    *from = own ? row : behind(s, d);
    if (*from < 0) return 0;
    for (int k = 0; k < 3; k++) look(s, *from, k - 1, &value[k], &volume[k]);
    return mo_gas_passing(flow, value, volume);
}

static float keep_of(const mo_gas_sweep *s, int32_t row)
{
    door d[DOORS];
    float leaves = 0;
    for (int k = 0, n = doors_of(s, row, d); k < n; k++) {
        int32_t from;
        float flow = flow_through(s, &d[k]), passed = offered(s, &d[k], row, flow, &from);
        leaves += mo_gas_leaving(s->content[row], passed, flow, d[k].side ? 1 : -1);
    }
    return mo_gas_spare(s->content[row], leaves);
}

static void sweep_row(const mo_gas_sweep *s, int32_t row)
{
    if (s->flux->root[row] != row) return;
    door d[DOORS];
    float passed[2] = {0}, flows[2] = {0};
    for (int k = 0, n = doors_of(s, row, d); k < n; k++) {
        int32_t from;
        float flow = flow_through(s, &d[k]), amount = offered(s, &d[k], row, flow, &from);
        flows[d[k].side] += flow;
        if (amount != 0) passed[d[k].side] += amount * keep_of(s, from);
    }
    s->next_content[row] = s->content[row] - (passed[1] - passed[0]);
    s->next_volume[row] = s->volume[row] - (flows[1] - flows[0]);
}

void mo_gas_sweep_near(const mo_gas_sweep *s, int32_t tile)
{
    int32_t first, end;
    for (int32_t i = 0; i < MO_TILE_CELLS; i++)
        if (!mo_grid_is_2d(s->g) || i >> 6 == MO_MARGIN) sweep_row(s, tile * MO_TILE_CELLS + i);
    mo_sites_rows(s->g, tile, &first, &end);
    for (int32_t row = first; row < end; row++) sweep_row(s, row);
}
