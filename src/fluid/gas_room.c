// Soot and heat in cells whose room changes, because solids move.
//
// Gas that a solid pushes flows through the open faces of the cells that the solid enters (gas_flux.c), so that the
// contents of these cells fit their rooms up to the error of a step. In a cell with little room that error is large
// relative to its contents, so its contents are shared with the cells beside it.
#include "fluid/gas_flux.h"
#include "grid/reach.h"
#include "grid/sites.h"

static const float little = 0.25f; // parts of a cell

void mo_gas_pack(const mo_gas *gas, const mo_grid *g, const float *open)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(g); i++) gas->soot[i] *= open[i], gas->heat[i] *= open[i];
}

// The rows beside a row, in every direction; where sheets are, those to which pieces of faces lead. Returns how many.
enum { BESIDE = 6 * 128 };
static int beside(const mo_grid *g, int32_t i, int32_t out[BESIDE])
{
    const mo_row_sample *list;
    int count = 0;
    if (!mo_site_is_cut(g, i)) {
        for (int k = 0; k < 2 * mo_grid_axes(g); k++) out[count++] = mo_grid_step(g, i, k / 2, k & 1 ? 1 : -1);
        return count;
    }
    for (int k = 0, n = mo_sites_of_row(g, i, &list); k < n && count < BESIDE; k++) {
        int a = list[k].axis;
        if (a >= mo_grid_axes(g)) continue;
        out[count++] = list[k].side ? mo_sample_high(g, a, list[k].sample) : mo_sample_low(g, a, list[k].sample);
    }
    return count;
}

// The amount that a row gives away per room of the rows beside it. It keeps the mean of them all. It takes nothing,
// because they may have nothing.
static float gift(const mo_grid *g, const float *open, const float *content, int32_t i)
{
    float room = 0, sum = content[i];
    int32_t list[BESIDE];
    if (open[i] >= little * (float)mo_site_volume(g, i)) return 0; // sheets take no room
    for (int k = 0, count = beside(g, i, list); k < count; k++) {
        int32_t n = list[k];
        if (n >= 0 && open[n] > 0) room += open[n], sum += content[n];
    }
    float excess = room > 0 ? content[i] - open[i] * sum / (room + open[i]) : 0;
    return excess * content[i] > 0 ? excess / room : 0;
}

static void unpack(const mo_grid *g, const float *open, float *field, float *const work[2])
{
    float *given = work[0], *next = work[1];
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) given[i] = gift(g, open, field, i);
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        float room = 0, got = 0;
        int32_t list[BESIDE];
        for (int k = 0, count = beside(g, i, list); k < count; k++) {
            int32_t n = list[k];
            if (n < 0) continue;
            if (open[n] > 0) room += open[n];
            got += given[n] * open[i];
        }
        next[i] = field[i] + got - given[i] * room;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mo_grid_rows(g); i++) field[i] = open[i] > 0 ? next[i] / open[i] : 0;
}

void mo_gas_unpack(const mo_gas *gas, const mo_grid *g, const float *open, float *const work[2])
{
    unpack(g, open, gas->soot, work);
    unpack(g, open, gas->heat, work);
}

// ---- Slivers ----

// The row at the other end of an open sample; -1: there is none.
static int32_t across(const mo_grid *g, float *const area[3], const mo_row_sample *s)
{
    if (area[s->axis][s->sample] <= 0) return -1;
    return s->side ? mo_sample_high(g, s->axis, s->sample) : mo_sample_low(g, s->axis, s->sample);
}

// Gives a row the mean density of itself and the rows that it is open to; they get or give the difference. They get by
// their rooms and give by their contents, so that none gives what it does not have.
static void share_sliver(const mo_grid *g, const mo_gas_flux *f, int32_t row, float *content)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    float room = 0, others = 0;
    int n = mo_row_samples(g, row, six, &list);
    for (int k = 0; k < n; k++) {
        int32_t other = across(g, f->area, &list[k]);
        if (other >= 0) room += f->open[other], others += content[other];
    }
    if (!(room > 0)) return;
    float excess = content[row] - f->open[row] * (content[row] + others) / (room + f->open[row]);
    bool takes = excess * others < 0; // from contents of their sign
    if (takes && fabsf(others) < 1e-30f) return;
    for (int k = 0; k < n; k++) {
        int32_t other = across(g, f->area, &list[k]);
        if (other >= 0) content[other] += excess * (takes ? content[other] / others : f->open[other] / room);
    }
    content[row] -= excess;
}

void mo_gas_share_slivers(const mo_grid *g, const mo_gas_flux *f, float *content)
{
    for (int32_t row = 0; row < mo_grid_rows(g); row++)
        if (f->open[row] > 0 && f->open[row] < little && !mo_reach_near(g, mo_site_cell(g, row), 0))
            share_sliver(g, f, row, content);
}
