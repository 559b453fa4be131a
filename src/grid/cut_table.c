// The table of sites made of cut cells: rows of their sides, samples that two cells share, walls that close them.
#include "grid/cut_table.h"
#include "grid/cut_finder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_sample = 1e-12;

typedef struct table {
    mo_grid *g;
    const mo_cut_mesh *mesh;
    int32_t count;
    const int32_t *index;
    const mo_cut_cell *cell;
    int32_t *second; // [count] row of each cell's second side
    int32_t *slot;   // [count + 1] place of each cell's first side among all sides
    int32_t samples, volumes, walls, gaps;
    int64_t sample_room, volume_room, wall_room, gap_room;
    mo_sample *sample;
    int32_t *volume_row;
    double *volume;
    mo_site_wall *wall;
    mo_gap *gap;
    double (*lack)[3]; // [slots] what the openings and walls of a side sum to
    double *area;      // [slots] of its walls
} table;

static void table_destroy(table *t)
{
    mo_free(t->second), mo_free(t->slot), mo_free(t->sample), mo_free(t->volume_row), mo_free(t->volume),
        mo_free(t->wall);
    mo_free(t->gap), mo_free(t->lack), mo_free(t->area);
}

static int32_t find(const table *t, int32_t index) { return mo_cut_search(t->count, t->index, index); }

// The row of a side; a cell that is not cut has one.
static int32_t row_of(const table *t, int32_t cut, int32_t index, int32_t side)
{
    return side < 0 ? -1 : side == 0 ? index : t->second[cut] + side - 1;
}

// ---- Closure: what a side's openings and walls sum to ----

static void lack_add(table *t, int32_t cut, int32_t row, double sign, const double *vector)
{
    if (cut < 0 || row < 0) return;
    double *lack = t->lack[t->slot[cut] + (row == t->index[cut] ? 0 : row - t->second[cut] + 1)];
    for (int a = 0; a < 3; a++) lack[a] += sign * vector[a];
}

static void lack_face(table *t, int32_t cut, int32_t row, int32_t axis, double area)
{
    double e[3] = {0, 0, 0};
    e[axis] = area;
    lack_add(t, cut, row, 1, e);
}

// ---- Samples ----

static const mo_cut_piece whole = {1, {0.5, 0.5}, 0};

static void add_piece(mo_sample *list, int32_t *count, mo_sample s)
{
    for (int32_t k = 0; k < *count; k++) {
        mo_sample *o = &list[k];
        if (o->low != s.low || o->high != s.high) continue;
        double area = o->area + s.area;
        for (int a = 0; a < 2; a++) o->at[a] = (o->area * o->at[a] + s.area * s.at[a]) / area;
        o->area = area;
        return;
    }
    list[(*count)++] = s;
}

static int by_area(const void *a, const void *b)
{
    const mo_sample *p = a, *q = b;
    if (p->area != q->area) return p->area > q->area ? -1 : 1;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

// The face between two cells, of which one at least is cut. The largest piece comes first.
static mo_status add_face(table *t, int32_t low, int32_t low_cut, int32_t high, int32_t high_cut, int32_t axis)
{
    const mo_cut_piece *below = low_cut < 0 ? &whole : t->cell[low_cut].piece[2 * axis + 1];
    const mo_cut_piece *above = high_cut < 0 ? &whole : t->cell[high_cut].piece[2 * axis];
    int32_t pieces = high_cut < 0 ? 1 : t->cell[high_cut].pieces[2 * axis];
    int32_t others = low_cut < 0 ? 1 : t->cell[low_cut].pieces[2 * axis + 1], count = 0;
    MO_ASSERT(pieces == others || pieces == 0 || others == 0);
    mo_sample list[MO_CUT_REGIONS];
    for (int32_t k = 0; k < pieces && k < others; k++) {
        int32_t a = row_of(t, low_cut, low, below[k].side), b = row_of(t, high_cut, high, above[k].side);
        if (a >= 0 && b >= 0 && above[k].area > 0)
            add_piece(list, &count, (mo_sample){high, axis, a, b, above[k].area, {above[k].at[0], above[k].at[1]}});
    }
    qsort(list, (size_t)count, sizeof *list, by_area);
    while (count > 0 && !(list[count - 1].area > least_sample)) count--;
    for (int32_t k = 0; k < count; k++) {
        lack_face(t, low_cut, list[k].low, axis, list[k].area);
        lack_face(t, high_cut, list[k].high, axis, -list[k].area);
    }
    if (count == 1 && list[0].low == low && list[0].high == high && list[0].area == 1) return MO_OK;
    if (count == 0) list[count++] = (mo_sample){high, axis, -1, -1, 0, {0.5, 0.5}};
    if (!mo_reserve((void **)&t->sample, &t->sample_room, t->samples + count, sizeof *list)) return MO_ERROR_MEMORY;
    memcpy(t->sample + t->samples, list, sizeof *list * (size_t)count);
    t->samples += count;
    return MO_OK;
}

static int by_face(const void *a, const void *b)
{
    const mo_sample *p = a, *q = b;
    if (p->cell != q->cell) return p->cell < q->cell ? -1 : 1;
    if (p->axis != q->axis) return p->axis < q->axis ? -1 : 1;
    return by_area(a, b);
}

// A face without a cell beyond, or across the plane of two dimensions: it counts as open and has no samples.
static void pass_over(table *t, int32_t c, int32_t axis, bool high)
{
    const mo_cut_cell *o = &t->cell[c];
    for (int32_t k = 0; k < o->pieces[2 * axis + high]; k++) {
        const mo_cut_piece *p = &o->piece[2 * axis + high][k];
        lack_face(t, c, row_of(t, c, t->index[c], p->side), axis, high ? p->area : -p->area);
    }
}

// The cell beside one; -1 also where tiles reach beyond the lattice.
static int32_t neighbour(const mo_grid *g, int32_t index, int axis, int side)
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    c[axis] += side;
    return mo_grid_index(g, c[0], c[1], c[2]);
}

static mo_status add_samples(table *t)
{
    for (int32_t c = 0; c < t->count; c++)
        for (int32_t a = 0; a < 3; a++) {
            int32_t i = t->index[c], low = neighbour(t->g, i, a, -1), high = neighbour(t->g, i, a, 1);
            bool flat = a == 2 && mo_grid_is_2d(t->g);
            if (low < 0 || flat) pass_over(t, c, a, false);
            if (high < 0 || flat) pass_over(t, c, a, true);
            if (low >= 0 && !flat) MO_TRY(add_face(t, low, find(t, low), i, c, a));
            if (high >= 0 && !flat && find(t, high) < 0) MO_TRY(add_face(t, i, c, high, -1, a));
        }
    qsort(t->sample, (size_t)t->samples, sizeof *t->sample, by_face);
    return MO_OK;
}

// ---- Volumes, gaps, walls ----

static mo_status add_volumes(table *t)
{
    for (int32_t c = 0; c < t->count; c++) {
        const mo_cut_cell *o = &t->cell[c];
        int32_t n = o->sides > 0 ? o->sides : 1;
        int64_t room = t->volume_room;
        if (!mo_reserve((void **)&t->volume, &room, t->volumes + n, sizeof(double)) ||
            !mo_reserve((void **)&t->volume_row, &t->volume_room, t->volumes + n, sizeof(int32_t)))
            return MO_ERROR_MEMORY;
        for (int32_t s = 0; s < n; s++) {
            t->volume_row[t->volumes] = row_of(t, c, t->index[c], s);
            t->volume[t->volumes++] = o->sides > 0 ? o->volume[s] : 0;
        }
    }
    return MO_OK;
}

static mo_status add_gaps(table *t, int32_t c)
{
    const mo_cut_cell *o = &t->cell[c];
    int32_t base[3];
    mo_grid_cell(t->g, t->index[c], base);
    if (!mo_reserve((void **)&t->gap, &t->gap_room, t->gaps + o->openings, sizeof *t->gap)) return MO_ERROR_MEMORY;
    for (int32_t k = 0; k < o->openings; k++) {
        const mo_cut_opening *p = &o->opening[k];
        mo_gap *gap = &t->gap[t->gaps++];
        double square = 0;
        *gap = (mo_gap){.cell = t->index[c],
                        .low = row_of(t, c, t->index[c], p->low),
                        .high = row_of(t, c, t->index[c], p->high),
                        .triangle = p->triangle};
        for (int a = 0; a < 3; a++) square += p->vector[a] * p->vector[a], gap->at[a] = base[a] + p->centre[a];
        gap->area = sqrt(square);
        for (int a = 0; a < 3; a++) gap->normal[a] = p->vector[a] / gap->area;
        lack_add(t, c, gap->low, 1, p->vector), lack_add(t, c, gap->high, -1, p->vector);
    }
    return MO_OK;
}

// Weights of a triangle's vertices at a point of its plane.
static void weights_at(const mo_cut_mesh *m, int32_t triangle, const double x[3], double weight[3])
{
    const int32_t *t = m->triangle[triangle];
    mo_vec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = mo_v3(m->x[t[k]][0] - x[0], m->x[t[k]][1] - x[1], m->x[t[k]][2] - x[2]);
    mo_vec3 n = mo_cross(mo_sub(p[1], p[0]), mo_sub(p[2], p[0]));
    double square = mo_dot(n, n);
    for (int k = 0; k < 3; k++) weight[k] = mo_dot(mo_cross(p[(k + 1) % 3], p[(k + 2) % 3]), n) / square;
}

static double size_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static mo_status add_walls(table *t, int32_t c)
{
    const mo_cut_cell *o = &t->cell[c];
    int32_t base[3];
    mo_grid_cell(t->g, t->index[c], base);
    if (!mo_reserve((void **)&t->wall, &t->wall_room, t->walls + o->parts, sizeof *t->wall)) return MO_ERROR_MEMORY;
    for (int32_t k = 0; k < o->parts; k++) {
        const mo_cut_part *p = &o->part[k];
        mo_site_wall *w = &t->wall[t->walls++];
        *w = (mo_site_wall){row_of(t, c, t->index[c], p->side), p->triangle, {0}, {0}, {0}};
        memcpy(w->vertex, t->mesh->triangle[p->triangle], sizeof w->vertex);
        double x[3];
        for (int a = 0; a < 3; a++) w->vector[a] = p->vector[a], x[a] = base[a] + p->centre[a];
        weights_at(t->mesh, p->triangle, x, w->weight);
        lack_add(t, c, w->row, 1, w->vector);
        t->area[t->slot[c] + p->side] += size_of(w->vector);
    }
    return MO_OK;
}

// What all parts of a side's rim lack to sum to nothing goes to its walls, by area: a common motion of liquid and sheet
// then changes nothing. It is rounding, but where pieces are closed or triangles are tangled.
static void close_walls(table *t)
{
    for (int32_t c = 0, k = 0; c < t->count; c++)
        for (int32_t p = 0; p < t->cell[c].parts; p++, k++) {
            int32_t at = t->slot[c] + t->cell[c].part[p].side;
            double part = t->area[at] > 0 ? size_of(t->wall[k].vector) / t->area[at] : 0;
            for (int a = 0; a < 3; a++) t->wall[k].vector[a] -= part * t->lack[at][a];
        }
}

// ---- All of it ----

static mo_status number_rows(table *t, int32_t **side, mo_cut_info *info)
{
    int32_t cells = (int32_t)mo_grid_cells(t->g);
    t->second = mo_alloc(sizeof(int32_t) * ((size_t)t->count + 1));
    t->slot = mo_calloc(sizeof(int32_t) * ((size_t)t->count + 1));
    if (!t->second || !t->slot) return MO_ERROR_MEMORY;
    for (int32_t c = 0; c < t->count; c++) {
        const mo_cut_cell *o = &t->cell[c];
        t->slot[c + 1] = t->slot[c] + o->sides;
        t->second[c] = cells + info->sides;
        info->sides += o->sides > 1 ? o->sides - 1 : 0;
        info->pockets += o->pockets, info->tangled += o->tangled, info->closed += o->closed;
    }
    info->cells = t->count;
    *side = mo_alloc(sizeof(int32_t) * ((size_t)info->sides + 1));
    t->lack = mo_calloc(sizeof *t->lack * ((size_t)t->slot[t->count] + 1));
    t->area = mo_calloc(sizeof(double) * ((size_t)t->slot[t->count] + 1));
    if (!*side || !t->lack || !t->area) return MO_ERROR_MEMORY;
    for (int32_t c = 0, k = 0; c < t->count; c++)
        for (int32_t s = 1; s < t->cell[c].sides; s++) (*side)[k++] = t->index[c];
    return MO_OK;
}

static mo_status fill(table *t)
{
    MO_TRY(add_samples(t));
    MO_TRY(add_volumes(t));
    for (int32_t c = 0; c < t->count; c++) {
        MO_TRY(add_gaps(t, c));
        MO_TRY(add_walls(t, c));
    }
    close_walls(t);
    return MO_OK;
}

static mo_cut_finder *make_finder(const table *t)
{
    mo_cut_finder *f = mo_calloc(sizeof *f);
    if (!f) return NULL;
    size_t n = (size_t)t->count;
    int64_t facings = 0;
    for (int32_t c = 0; c < t->count; c++) facings += t->cell[c].facings;
    f->cells = t->count;
    f->cell = mo_alloc(sizeof(int32_t) * n), f->second = mo_alloc(sizeof(int32_t) * n);
    f->corner = mo_alloc(sizeof *f->corner * n), f->largest = mo_alloc(sizeof(int16_t) * n);
    f->first = mo_calloc(sizeof(int64_t) * (n + 1)), f->facing = mo_alloc(sizeof *f->facing * (size_t)(facings + 1));
    if (!f->cell || !f->second || !f->corner || !f->largest || !f->first || !f->facing) {
        mo_cut_finder_destroy(f);
        return NULL;
    }
    memcpy(f->cell, t->index, sizeof(int32_t) * n), memcpy(f->second, t->second, sizeof(int32_t) * n);
    for (int32_t c = 0; c < t->count; c++) {
        const mo_cut_cell *o = &t->cell[c];
        memcpy(f->corner[c], o->corner, sizeof o->corner);
        memcpy(f->facing + f->first[c], o->facing, sizeof *f->facing * (size_t)o->facings);
        f->first[c + 1] = f->first[c] + o->facings, f->largest[c] = o->sides > 0 ? 0 : -1;
        for (int32_t s = 1; s < o->sides; s++)
            if (o->volume[s] > o->volume[f->largest[c]]) f->largest[c] = (int16_t)s;
    }
    return f;
}

mo_status mo_cut_table(mo_grid *g, const mo_cut_mesh *mesh, int32_t count, const int32_t *index,
                       const mo_cut_cell *cell, mo_cut_info *info, mo_error *err)
{
    table t = {.g = g, .mesh = mesh, .count = count, .index = index, .cell = cell};
    int32_t *side = NULL;
    mo_status status = number_rows(&t, &side, info);
    if (status == MO_OK) status = fill(&t);
    if (status != MO_OK) mo_fail_memory(err);
    info->gaps = t.gaps;
    mo_sites_def def = {.sides = info->sides, .side = side, .samples = t.samples, .sample = t.sample};
    def.volumes = t.volumes, def.volume_row = t.volume_row, def.volume = t.volume;
    def.walls = t.walls, def.wall = t.wall, def.gaps = t.gaps, def.gap = t.gap;
    if (status == MO_OK) status = mo_sites_create(g, &def, err);
    if (status == MO_OK && g->sites) {
        g->sites->finder = make_finder(&t);
        if (g->sites->finder)
            g->sites->finder->mesh = *mesh;
        else
            mo_sites_destroy(g), status = mo_fail_memory(err);
    }
    mo_free(side);
    table_destroy(&t);
    return status;
}
