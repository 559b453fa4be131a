// The flow of soot and heat near sheets: from row to row through the pieces of faces, and through gaps. Nothing passes
// a sheet, because no piece joins the rows on its two sides.
//
// A tile that sheets meet, or that has such a tile beside it, is swept row by row. Where no sheet is, this does what
// gas_flux.c does with lines, with the same rounding errors, so that the two agree on the faces between their tiles.
#include "fluid/gas_flux.h"
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

typedef struct door { // a way into a row, or out of it
    int32_t sample;   // -1: into the gas beyond the tiles
    int8_t axis, side;
} door;
enum { DOORS = 64 };

// The ways of a row along an axis, at most DOORS.
static int doors_of(const mo_gas_sweep *s, int32_t row, door *out)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    int count = 0, highs = 0;
    for (int k = 0, n = mo_row_samples(s->g, row, six, &list); k < n && count < DOORS - 1; k++) {
        if (list[k].axis != s->axis) continue;
        out[count++] = (door){list[k].sample, list[k].axis, list[k].side};
        highs += list[k].side;
    }
    bool plain = row < mo_grid_cells(s->g) && !mo_reach_near(s->g, row, 0);
    if (!highs && plain && mo_grid_step(s->g, row, s->axis, 1) < 0) out[count++] = (door){-1, (int8_t)s->axis, 1};
    return count;
}

// The volume that passes, upwards.
static float flow_through(const mo_gas_sweep *s, const door *d)
{
    if (d->sample < 0) return s->flux->wind[s->axis] * s->step;
    float area = (float)mo_sample_area(s->g, s->axis, d->sample) * s->flux->area[s->axis][d->sample];
    return s->flux->u[s->axis][d->sample] * (s->step * area);
}

// A row's neighbour through its largest opening, as a value and a volume. Beyond the tiles there is gas without soot;
// behind a sheet there is nothing.
static void look(const mo_gas_sweep *s, int32_t row, int side, float *value, float *volume)
{
    int32_t n = side ? mo_site_step(s->g, MO_SITE_ROW, row, s->axis, side) : row;
    bool plain = row < mo_grid_cells(s->g) && !mo_reach_near(s->g, row, 0);
    *value = n < 0 ? 0 : mo_gas_value(s, s->content[n], s->volume[n]);
    *volume = n < 0 ? (plain ? 1 : 0) : s->volume[n];
}

// The amount that passes a way upwards if the row that it comes from had enough; *from: that row, -1: beyond the tiles.
static float offered(const mo_gas_sweep *s, const door *d, int32_t row, float flow, int32_t *from)
{
    float value[3], volume[3];
    bool own = d->side ? flow > 0 : flow < 0;
    *from = own ? row : -1;
    if (!own && d->sample >= 0)
        *from = d->side ? mo_sample_high(s->g, s->axis, d->sample) : mo_sample_low(s->g, s->axis, d->sample);
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

// ---- Gaps ----

// The volume that flows out of a row through its samples.
static float outflow(const mo_grid *g, const mo_gas_flux *f, float step, int32_t row)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    double sum = 0;
    for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n; k++) {
        int a = list[k].axis;
        double through = mo_sample_area(g, a, list[k].sample) * f->area[a][list[k].sample] * f->u[a][list[k].sample];
        sum += list[k].side ? through : -through;
    }
    return (float)(step * sum);
}

static int gaps_of(const mo_sites *s, int32_t at, int32_t row)
{
    int count = 0;
    for (int32_t k = at; k >= 0 && s->gap[k].cell == s->gap[at].cell; k--)
        count += s->gap[k].area > 0 && (s->gap[k].low == row || s->gap[k].high == row);
    for (int32_t k = at + 1; k < s->gaps && s->gap[k].cell == s->gap[at].cell; k++)
        count += s->gap[k].area > 0 && (s->gap[k].low == row || s->gap[k].high == row);
    return count;
}

void mo_gas_flow_gaps(const mo_grid *g, const mo_gas_flux *f, float step, float *content, float *volume)
{
    const mo_sites *s = g->sites;
    for (int32_t k = 0; s && k < s->gaps; k++) {
        const mo_gap *gap = &s->gap[k];
        if (gap->area <= 0) continue;
        float flow = 0; // from low to high
        if (gaps_of(s, k, gap->low) == 1)
            flow = -outflow(g, f, step, gap->low);
        else if (gaps_of(s, k, gap->high) == 1)
            flow = outflow(g, f, step, gap->high);
        int32_t from = flow > 0 ? gap->low : gap->high, to = flow > 0 ? gap->high : gap->low;
        float size = fabsf(flow), room = mo_maxf(volume[from], f->least);
        float amount = volume[from] > 0 ? content[from] * mo_minf(size / room, 1) : 0;
        content[from] -= amount, content[to] += amount;
        volume[from] -= size, volume[to] += size;
    }
}

// ---- Slivers ----

// The row at the other end of a sample; -1: none, or the sample is closed.
static int32_t across(const mo_grid *g, const mo_row_sample *s)
{
    return s->side ? mo_sample_high(g, s->axis, s->sample) : mo_sample_low(g, s->axis, s->sample);
}

static void share_sliver(const mo_grid *g, const float *open, int32_t row, float *content)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    float room = 0, sum = content[row];
    int n = mo_row_samples(g, row, six, &list);
    for (int k = 0; k < n; k++) {
        int32_t other = across(g, &list[k]);
        if (other >= 0) room += open[other], sum += content[other];
    }
    float excess = room > 0 ? content[row] - open[row] * sum / (room + open[row]) : 0;
    if (excess * content[row] <= 0) return;
    for (int k = 0; k < n; k++) {
        int32_t other = across(g, &list[k]);
        if (other >= 0) content[other] += excess * open[other] / room;
    }
    content[row] -= excess;
}

void mo_gas_share_slivers(const mo_grid *g, const float *open, float *content)
{
    const float little = 0.25f; // parts of a cell
    const mo_reach *r = mo_reach_of(g);
    for (int32_t k = 0; r && k < r->count; k++)
        if (open[r->row[k]] < little && mo_reach_near(g, mo_site_cell(g, r->row[k]), 0))
            share_sliver(g, open, r->row[k], content);
}
