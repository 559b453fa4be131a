// The rows that a row reaches without passing a sheet.
#include "grid/reach.h"
#include <string.h>

// ---- Rows ----

void mo_reach_find(const mo_grid *g, int32_t row, int radius, int32_t *around)
{
    MO_ASSERT(radius >= 1 && radius <= MO_REACH_MOST);
    const int edge = 2 * radius + 1, stride[3] = {1, edge, edge * edge}, cells = edge * edge * edge;
    const bool flat = mo_grid_is_2d(g);
    struct {
        int16_t at;
        int8_t c[3]; // from the row
    } queue[MO_REACH_MOST_CELLS];
    int size = 1;
    for (int i = 0; i < cells; i++) around[i] = -1;
    queue[0].at = (int16_t)(cells / 2), around[cells / 2] = row;
    for (int a = 0; a < 3; a++) queue[0].c[a] = 0;
    for (int next = 0; next < size; next++) {
        const int at = queue[next].at;
        const int8_t *c = queue[next].c;
        for (int a = 0; a < (flat ? 2 : 3); a++)
            for (int side = -1; side <= 1; side += 2) {
                int to = at + side * stride[a];
                if (side * c[a] < 0 || side * c[a] == radius || around[to] >= 0) continue; // only away from the row
                int32_t from = around[at], n = mo_reach_is_whole(g, from) ? mo_grid_step(g, from, a, side)
                                                                          : mo_site_step(g, MO_SITE_ROW, from, a, side);
                if (n < 0) continue;
                around[to] = n;
                queue[size] = queue[next], queue[size].at = (int16_t)to;
                queue[size].c[a] = (int8_t)(c[a] + side), size++;
            }
    }
    for (int z = 0; z < edge && flat; z++)
        if (z != radius)
            memcpy(around + stride[2] * z, around + stride[2] * radius, sizeof(int32_t) * (size_t)stride[2]);
}

// ---- Lists ----

void mo_reach_destroy(mo_reach *r)
{
    if (!r) return;
    mo_free(r->row), mo_free(r->first), mo_free(r->of), mo_free(r->around), mo_free(r->distance);
    mo_free(r);
}

static bool is_plain(const mo_grid *g, int32_t cell, int axis)
{
    mo_sample s = mo_sites_sample(g, axis, cell);
    return s.low == mo_grid_step(g, cell, axis, -1) && s.high == cell && s.area == 1;
}

// Distance 0 where a sheet meets a cell or one of its faces.
static void mark_met(const mo_grid *g, uint8_t *distance)
{
    const mo_sites *s = g->sites;
    memset(distance, MO_REACH_MOST + 1, (size_t)mo_grid_cells(g));
    for (int32_t k = 0; k < s->rows; k++) distance[s->cell[k]] = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        if (s->cut[i / MO_TILE_CELLS] < 0) continue;
        if (s->volume && mo_sites_volume(g, i) != 1) distance[i] = 0;
        for (int a = 0; a < 3; a++) {
            if (is_plain(g, i, a)) continue;
            int32_t low = mo_grid_step(g, i, a, -1);
            distance[i] = 0;
            if (low >= 0) distance[low] = 0;
        }
    }
}

// The largest of the axes' distances spreads axis by axis: with m the distance so far, the least of max(m, way).
static void spread_along(const mo_grid *g, int axis, const uint8_t *from, uint8_t *to)
{
#pragma omp parallel for schedule(static, 4096)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        uint8_t least = from[i];
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = i;
            for (uint8_t way = 1; way <= MO_REACH_MOST && way < least; way++) {
                if ((n = mo_grid_step(g, n, axis, side)) < 0) break;
                uint8_t there = from[n] > way ? from[n] : way;
                least = there < least ? there : least;
            }
        }
        to[i] = least;
    }
}

static int32_t list_rows(const mo_grid *g, mo_reach *r)
{
    int32_t count = 0, first, end;
    for (int32_t t = 0; t < g->tiles; t++) {
        if (r->first) r->first[t] = count;
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            if (r->distance[i] > MO_REACH_AROUND) continue;
            if (r->row) r->row[count] = i, r->of[i] = count;
            count++;
        }
        mo_sites_rows(g, t, &first, &end);
        for (int32_t i = first; i < end; i++, count++)
            if (r->row) r->row[count] = i, r->of[i] = count;
    }
    if (r->first) r->first[g->tiles] = count;
    return count;
}

static mo_status fill_lists(const mo_grid *g, mo_reach *r)
{
    size_t fields = (size_t)mo_grid_cells(g) + (size_t)g->sites->rows;
    r->count = list_rows(g, r);
    r->row = mo_alloc(sizeof(int32_t) * ((size_t)r->count + 1));
    r->first = mo_alloc(sizeof(int32_t) * ((size_t)g->tiles + 1));
    r->of = mo_alloc(sizeof(int32_t) * (fields + 1));
    r->around = mo_alloc(sizeof *r->around * ((size_t)r->count + 1));
    if (!r->row || !r->first || !r->of || !r->around) return MO_ERROR_MEMORY;
    memset(r->of, 0xff, sizeof(int32_t) * fields);
    list_rows(g, r);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t k = 0; k < r->count; k++) mo_reach_find(g, r->row[k], MO_REACH_AROUND, r->around[k]);
    return MO_OK;
}

mo_status mo_reach_create(mo_grid *g, mo_error *err)
{
    if (!g->sites) return MO_OK;
    size_t cells = (size_t)mo_grid_cells(g);
    mo_reach_destroy(g->sites->reach);
    mo_reach *r = g->sites->reach = mo_calloc(sizeof *r);
    uint8_t *other = mo_alloc(cells + 1);
    if (r) r->distance = mo_alloc(cells + 1);
    mo_status status = r && other && r->distance ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        mark_met(g, r->distance);
        for (int a = 0; a < mo_grid_axes(g); a++) {
            spread_along(g, a, r->distance, other);
            memcpy(r->distance, other, cells);
        }
        status = fill_lists(g, r);
    }
    mo_free(other);
    if (status == MO_OK) return MO_OK;
    mo_reach_destroy(r);
    g->sites->reach = NULL;
    return mo_fail_memory(err);
}
