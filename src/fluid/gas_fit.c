// The contents of rows fit the rooms that sheets have left them. See gas_move.h.
#include "fluid/gas_flux.h"
#include "fluid/gas_move.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <math.h>
#include <string.h>

// The row at the other end of a sample.
static int32_t across(const mo_grid *g, const mo_row_sample *s)
{
    return s->side ? mo_sample_high(g, s->axis, s->sample) : mo_sample_low(g, s->axis, s->sample);
}

// ---- Fresh rows ----

// The first row of the group that a fresh row joins: that of the row through its largest opening that has a group; -1:
// none has.
static int32_t group_beside(const mo_grid *g, const float *open, const int32_t *group, int32_t row)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    int32_t best = -1;
    double largest = 0;
    for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n; k++) {
        int32_t other = across(g, &list[k]);
        if (other < 0 || group[other] < 0 || open[other] <= 0) continue;
        double area = mo_sample_area(g, list[k].axis, list[k].sample);
        if (area > largest) largest = area, best = group[other];
    }
    return best;
}

// Gives the rows of a group their shares of its content, by their rooms.
static void share(const float *open, const int32_t *next, int32_t top, float *field)
{
    float content = field[top], room = open[top], rest;
    for (int32_t row = next[top]; row >= 0; row = next[row]) content += field[row], room += open[row];
    rest = content;
    for (int32_t row = next[top]; row >= 0; row = next[row]) rest -= field[row] = content * open[row] / room;
    field[top] = rest;
}

static mo_status share_fresh(const mo_gas *gas, const mo_grid *g, const float *open, const uint8_t *fresh,
                             mo_arena *arena, mo_error *err)
{
    int32_t rows = mo_grid_rows(g), count = 0;
    int32_t *group = MO_ARENA_ARRAY(arena, int32_t, rows + 1), *next = MO_ARENA_ARRAY(arena, int32_t, rows + 1);
    int32_t *list = MO_ARENA_ARRAY(arena, int32_t, 2 * (size_t)rows + 1), *found = list + rows;
    if (!group || !next || !list) return mo_fail_memory(err);
    for (int32_t i = 0; i < rows; i++) {
        group[i] = fresh[i] ? -1 : i, next[i] = -1;
        if (fresh[i] && open[i] > 0) list[count++] = i;
    }
    for (int layer = 0; layer < MO_REACH_MOST; layer++) {
        for (int32_t k = 0; k < count; k++)
            found[k] = group[list[k]] < 0 ? group_beside(g, open, group, list[k]) : group[list[k]];
        for (int32_t k = 0; k < count; k++) group[list[k]] = found[k];
    }
    for (int32_t k = 0; k < count; k++) {
        int32_t top = group[list[k]];
        if (top >= 0) next[list[k]] = next[top], next[top] = list[k];
    }
    for (int32_t k = 0; k < count; k++) {
        int32_t top = group[list[k]];
        if (top < 0 || next[top] != list[k]) continue; // each group once, with its last row
        share(open, next, top, gas->soot), share(open, next, top, gas->heat), share(open, next, top, gas->room);
    }
    return MO_OK;
}

// ---- Flow between groups ----

typedef struct link { // an opening of a group
    int32_t to, row;  // the group behind it in the list, -1: one that is far from sheets, of this row
    double area;
} link;

enum { ROOM, SOOT, HEAT, CONTENTS };

typedef struct groups {
    int32_t count, *top; // [count] their first rows
    int32_t *of;         // [rows] number of the group of a first row, -1
    int32_t *first;      // [count + 1] links
    link *link;
    double *area, *volume; // [count] of all openings; of the rows
    double (*now)[CONTENTS], (*next)[CONTENTS];
} groups;

// Lists the openings of a group, or counts them.
static int32_t list_links(const mo_grid *g, const mo_gas_flux *f, const groups *q, int32_t top, link *out)
{
    int32_t count = 0;
    for (int32_t row = top; row >= 0; row = f->next[row]) {
        mo_row_sample six[6];
        const mo_row_sample *list;
        for (int k = 0, n = mo_row_samples(g, row, six, &list); k < n; k++) {
            int a = list[k].axis;
            int32_t other = a < mo_grid_axes(g) ? across(g, &list[k]) : -1;
            double area = mo_sample_area(g, a, list[k].sample) * f->area[a][list[k].sample];
            if (other < 0 || f->root[other] == top || !(area > 0)) continue;
            if (!(f->open[mo_is_ghost(g, other) ? f->root[other] : other] > 0)) continue;
            int32_t to = q->of[f->root[other]];
            if (out) out[count] = (link){to, f->root[other], area};
            count++;
        }
    }
    return count;
}

static mo_status list_groups(const mo_grid *g, const mo_gas_flux *f, mo_arena *arena, groups *q, mo_error *err)
{
    const mo_reach *r = mo_reach_of(g);
    q->of = MO_ARENA_ARRAY(arena, int32_t, mo_grid_rows(g) + 1);
    q->top = MO_ARENA_ARRAY(arena, int32_t, r->count + 1), q->first = MO_ARENA_ARRAY(arena, int32_t, r->count + 2);
    if (!q->of || !q->top || !q->first) return mo_fail_memory(err);
    memset(q->of, 0xff, sizeof(int32_t) * (size_t)mo_grid_rows(g));
    for (int32_t k = 0; k < r->count; k++)
        if (f->root[r->row[k]] == r->row[k] && f->open[r->row[k]] > 0)
            q->of[r->row[k]] = q->count, q->top[q->count++] = r->row[k];
    q->first[0] = 0;
    for (int32_t k = 0; k < q->count; k++) q->first[k + 1] = q->first[k] + list_links(g, f, q, q->top[k], NULL);
    size_t count = (size_t)q->count;
    q->link = mo_arena_alloc(arena, sizeof(link) * (size_t)(q->first[q->count] + 1));
    q->area = MO_ARENA_ARRAY(arena, double, 2 * count + 1), q->volume = q->area + count;
    q->now = mo_arena_alloc(arena, sizeof *q->now * (2 * count + 1)), q->next = q->now + count;
    if (!q->link || !q->area || !q->now) return mo_fail_memory(err);
    for (int32_t k = 0; k < q->count; k++) {
        list_links(g, f, q, q->top[k], q->link + q->first[k]);
        q->area[k] = 0;
        for (int32_t i = q->first[k]; i < q->first[k + 1]; i++) q->area[k] += q->link[i].area;
    }
    return MO_OK;
}

// What passes a link from group k in a round: a part of the difference of what does not fit, with the densities of the
// group that it leaves. What rows far from sheets hold always fits.
static void pass(const groups *q, const mo_gas *gas, const float *open, int32_t k, const link *l, double out[CONTENTS])
{
    const double few = 6, least = 0.05; // openings of a cell far away; parts of a cell
    const double far[CONTENTS] = {open[l->row], gas->soot[l->row], gas->heat[l->row]};
    double own = q->now[k][ROOM] - q->volume[k], other = l->to < 0 ? 0 : q->now[l->to][ROOM] - q->volume[l->to];
    double most = fmax(q->area[k], l->to < 0 ? few : q->area[l->to]), volume = 0.5 * l->area / most * (own - other);
    const double *from = volume > 0 ? q->now[k] : l->to < 0 ? far : q->now[l->to];
    out[ROOM] = volume;
    for (int c = SOOT; c < CONTENTS; c++) out[c] = volume * from[c] / fmax(from[ROOM], least);
}

static void level(groups *q, const mo_gas *gas, const float *open)
{
    for (int32_t k = 0; k < q->count; k++) {
        memcpy(q->next[k], q->now[k], sizeof q->now[k]);
        for (int32_t i = q->first[k]; i < q->first[k + 1]; i++) {
            const link *l = &q->link[i];
            double passed[CONTENTS];
            pass(q, gas, open, k, l, passed);
            for (int c = 0; c < CONTENTS; c++) q->next[k][c] -= passed[c];
            if (l->to < 0) gas->soot[l->row] += (float)passed[SOOT], gas->heat[l->row] += (float)passed[HEAT];
        }
    }
    double(*swap)[CONTENTS] = q->now;
    q->now = q->next, q->next = swap;
}

mo_status mo_gas_fit(const mo_gas *gas, const mo_grid *g, const mo_gas_flux *f, const uint8_t *fresh, mo_arena *arena,
                     mo_error *err)
{
    enum { ROUNDS = 60 };
    groups q = {0};
    if (!f->root) return MO_OK;
    float *volume = MO_ARENA_ARRAY(arena, float, mo_grid_rows(g) + 1);
    if (!volume) return mo_fail_memory(err);
    MO_TRY(share_fresh(gas, g, f->open, fresh, arena, err));
    memcpy(volume, f->open, sizeof(float) * (size_t)mo_grid_rows(g));
    mo_gas_gather(g, f, gas->soot, volume);
    mo_gas_gather(g, f, gas->heat, gas->room);
    MO_TRY(list_groups(g, f, arena, &q, err));
    for (int32_t k = 0; k < q.count; k++) {
        int32_t top = q.top[k];
        q.volume[k] = volume[top];
        q.now[k][ROOM] = gas->room[top], q.now[k][SOOT] = gas->soot[top], q.now[k][HEAT] = gas->heat[top];
    }
    for (int round = 0; round < ROUNDS; round++) level(&q, gas, f->open);
    for (int32_t k = 0; k < q.count; k++)
        gas->soot[q.top[k]] = (float)q.now[k][SOOT], gas->heat[q.top[k]] = (float)q.now[k][HEAT];
    mo_gas_spread(g, f, gas->soot);
    mo_gas_spread(g, f, gas->heat);
    return MO_OK;
}
