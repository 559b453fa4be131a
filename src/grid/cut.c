// From triangles to the sites of a grid: cells that triangles meet, their sides, and the pieces that cells share.
#include "grid/cut.h"
#include "base/parallel.h"
#include "grid/cut_finder.h"
#include "grid/cut_mesh.h"
#include "grid/cut_table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Cells that triangles meet ----

typedef struct raster {
    int64_t entries;
    int32_t *cell, *triangle; // [entries] sorted by cell, then by triangle
    int32_t cells;
    int32_t *first; // [cells + 1] entries of each cell
} raster;

static void raster_destroy(raster *r) { mo_free(r->cell), mo_free(r->triangle), mo_free(r->first); }

// Whether the plane of a triangle passes the cell, or nearly.
static bool plane_meets(const double *n, const double *x, int32_t i, int32_t j, int32_t k)
{
    double h = n[0] * (i + 0.5 - x[0]) + n[1] * (j + 0.5 - x[1]) + n[2] * (k + 0.5 - x[2]);
    double size = fabs(n[0]) + fabs(n[1]) + fabs(n[2]);
    return fabs(h) <= (0.5 + 1e-9) * size;
}

// Counts the active cells that a triangle may meet, or writes them.
static int32_t scan(const mo_grid *g, const mo_cut_mesh *m, int32_t t, int32_t *cell)
{
    const double *x[3] = {m->x[m->triangle[t][0]], m->x[m->triangle[t][1]], m->x[m->triangle[t][2]]};
    double n[3];
    int32_t lo[3], hi[3], count = 0;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        n[k] = (x[1][a] - x[0][a]) * (x[2][b] - x[0][b]) - (x[1][b] - x[0][b]) * (x[2][a] - x[0][a]);
        lo[k] = (int32_t)floor(mo_cut_less(mo_cut_less(x[0][k], x[1][k]), x[2][k]) - 1e-9);
        hi[k] = (int32_t)floor(mo_cut_more(mo_cut_more(x[0][k], x[1][k]), x[2][k]) + 1e-9);
        lo[k] = lo[k] < 0 ? 0 : lo[k], hi[k] = hi[k] >= g->n[k] ? g->n[k] - 1 : hi[k];
    }
    if (mo_grid_is_2d(g)) lo[2] = lo[2] > MO_MARGIN ? lo[2] : MO_MARGIN, hi[2] = hi[2] < MO_MARGIN ? hi[2] : MO_MARGIN;
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                int32_t index = plane_meets(n, x[0], i, j, k) ? mo_grid_index(g, i, j, k) : -1;
                if (index < 0) continue;
                if (cell) cell[count] = index;
                count++;
            }
    return count;
}

// Stable sorting by the cell in its tile, then by tile.
static bool sort_entries(const mo_grid *g, raster *r, mo_arena *arena)
{
    int64_t n = r->entries;
    int32_t *key = MO_ARENA_ARRAY(arena, int32_t, n + 1), *order = MO_ARENA_ARRAY(arena, int32_t, n + 1);
    int32_t *old = MO_ARENA_ARRAY(arena, int32_t, n + 1), *start = MO_ARENA_ARRAY(arena, int32_t, 514 + g->tiles);
    if (!key || !order || !old || !start) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < n; k++) key[k] = pass ? r->cell[k] / MO_TILE_CELLS : r->cell[k] % MO_TILE_CELLS;
        if (!mo_counting_sort(n, key, pass ? g->tiles : MO_TILE_CELLS, start, order, arena)) return false;
        int32_t *list[2] = {r->cell, r->triangle};
        for (int l = 0; l < 2; l++) {
            memcpy(old, list[l], sizeof(int32_t) * (size_t)n);
            for (int64_t k = 0; k < n; k++) list[l][k] = old[order[k]];
        }
    }
    return true;
}

static mo_status rasterise(const mo_grid *g, const mo_cut_mesh *m, mo_arena *arena, raster *r, mo_error *err)
{
    *r = (raster){0};
    int32_t *first = MO_ARENA_ARRAY(arena, int32_t, m->triangles + 1);
    if (!first) return mo_fail_memory(err);
    int64_t total = 0;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < m->triangles; t++) first[t] = scan(g, m, t, NULL);
    for (int32_t t = 0; t < m->triangles; t++) total += first[t];
    if (total > INT32_MAX / 4) return mo_fail(err, MO_ERROR_INPUT, "the triangles of sheets are far larger than cells");
    r->entries = mo_prefix_sum(m->triangles, first);
    r->cell = mo_alloc(sizeof(int32_t) * (size_t)(total + 1)),
    r->triangle = mo_alloc(sizeof(int32_t) * (size_t)(total + 1));
    r->first = mo_alloc(sizeof(int32_t) * (size_t)(total + 2));
    if (!r->cell || !r->triangle || !r->first) return mo_fail_memory(err);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < m->triangles; t++) {
        int32_t count = scan(g, m, t, r->cell + first[t]);
        for (int32_t k = 0; k < count; k++) r->triangle[first[t] + k] = t;
    }
    if (!sort_entries(g, r, arena)) return mo_fail_memory(err);
    for (int64_t k = 0; k < total; k++)
        if (k == 0 || r->cell[k] != r->cell[k - 1]) r->first[r->cells++] = (int32_t)k;
    r->first[r->cells] = (int32_t)total;
    return MO_OK;
}

// ---- Cells ----

typedef struct worker {
    mo_cut_work *work;
    mo_arena *arena;
} worker;

static bool cut_cell(const mo_grid *g, const mo_cut_mesh *m, const raster *r, int32_t c, worker *w, mo_cut_cell *out)
{
    int32_t base[3], first = r->first[c];
    mo_grid_cell(g, r->cell[first], base);
    if (mo_cut_work_begin(w->work, m, base, r->first[c + 1] - first, r->triangle + first))
        return mo_cut_cell_create(w->work, w->arena, out);
    *out = (mo_cut_cell){.closed = true};
    for (int k = 0; k < 8; k++) out->corner[k] = -1;
    return true;
}

static mo_status cut_cells(const mo_grid *g, const mo_cut_mesh *m, const raster *r, int32_t workers, worker *w,
                           mo_cut_cell *out)
{
    bool enough = true;
    for (int32_t k = 0; k < workers; k++) {
        w[k] = (worker){mo_alloc(sizeof(mo_cut_work)), mo_arena_create()};
        enough = enough && w[k].work && w[k].arena;
    }
    if (!enough) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static, 1) num_threads(workers) reduction(&& : enough)
    for (int32_t k = 0; k < workers; k++)
        for (int32_t c = (int32_t)((int64_t)r->cells * k / workers),
                     end = (int32_t)((int64_t)r->cells * (k + 1) / workers);
             c < end; c++)
            enough = cut_cell(g, m, r, c, &w[k], &out[c]) && enough;
    return enough ? MO_OK : MO_ERROR_MEMORY;
}

static mo_status cut_mesh(mo_grid *g, mo_cut_mesh *m, mo_arena *arena, mo_cut_info *info, mo_error *err)
{
    raster r;
    int32_t workers = mo_thread_count();
    worker *w = mo_calloc(sizeof *w * (size_t)workers);
    mo_cut_cell *cell = NULL;
    mo_status status = rasterise(g, m, arena, &r, err);
    if (status == MO_OK) {
        cell = mo_alloc(sizeof *cell * ((size_t)r.cells + 1));
        if (!w || !cell || cut_cells(g, m, &r, workers, w, cell) != MO_OK) status = mo_fail_memory(err);
    }
    if (status == MO_OK && r.cells > 0) {
        int32_t *index = MO_ARENA_ARRAY(arena, int32_t, r.cells);
        for (int32_t c = 0; index && c < r.cells; c++) index[c] = r.cell[r.first[c]];
        status = index ? mo_cut_table(g, m, r.cells, index, cell, info, err) : mo_fail_memory(err);
    }
    for (int32_t k = 0; w && k < workers; k++) mo_free(w[k].work), mo_arena_destroy(w[k].arena);
    mo_free(w), mo_free(cell);
    raster_destroy(&r);
    return status;
}

mo_status mo_cut(mo_grid *g, const mo_sheet *sheet, mo_cut_info *info, mo_error *err)
{
    mo_cut_info unused;
    mo_sites_destroy(g);
    info = info ? info : &unused;
    *info = (mo_cut_info){0};
    mo_arena *arena = mo_arena_create();
    if (!arena) return mo_fail_memory(err);
    mo_cut_mesh m;
    mo_status status = mo_cut_mesh_create(g, sheet, &m, err);
    if (status == MO_OK) status = cut_mesh(g, &m, arena, info, err);
    if (status == MO_OK && g->sites) // the sites keep the mesh
        m = (mo_cut_mesh){0};
    mo_cut_mesh_destroy(&m);
    mo_arena_destroy(arena);
    return status;
}
