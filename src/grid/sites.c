// Sites: the tables of rows and samples where sheets divide cells.
#include "grid/sites.h"
#include "grid/cut_finder.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include <string.h>

void mo_sites_destroy(mo_grid *g)
{
    mo_sites *s = g->sites;
    if (!s) return;
    mo_free(s->cell), mo_free(s->sample), mo_free(s->first_row), mo_free(s->first_sample), mo_free(s->cut);
    mo_free(s->face), mo_free(s->first), mo_free(s->list), mo_free(s->beside);
    mo_free(s->volume), mo_free(s->first_wall), mo_free(s->wall), mo_free(s->gap);
    mo_cut_finder_destroy(s->finder);
    mo_reach_destroy(s->reach);
    mo_ghosts_destroy(s->ghosts);
    mo_free(s);
    g->sites = NULL;
}

// ---- Building ----

static bool row_exists(const mo_grid *g, const mo_sites_def *def, int32_t row)
{
    return row >= 0 && row < mo_grid_cells(g) + def->sides;
}

static int32_t cell_of(const mo_grid *g, const mo_sites_def *def, int32_t row)
{
    return row < mo_grid_cells(g) ? row : def->side[row - mo_grid_cells(g)];
}

static bool sample_is_good(const mo_grid *g, const mo_sites_def *def, int32_t k)
{
    const mo_sample *s = &def->sample[k];
    if (s->cell < 0 || s->cell >= mo_grid_cells(g) || s->axis < 0 || s->axis > 2) return false;
    if (k > 0 && (s[-1].cell > s->cell || (s[-1].cell == s->cell && s[-1].axis > s->axis))) return false;
    if (s->low < 0 && s->high < 0) return true; // closed
    bool low = row_exists(g, def, s->low) && cell_of(g, def, s->low) == mo_grid_step(g, s->cell, s->axis, -1);
    bool high = row_exists(g, def, s->high) && cell_of(g, def, s->high) == s->cell;
    return (low || (def->ghosts && s->low < 0)) && (high || (def->ghosts && s->high < 0));
}

static mo_status check(const mo_grid *g, const mo_sites_def *def, mo_error *err)
{
    for (int32_t k = 0; k < def->sides; k++)
        if (def->side[k] < 0 || def->side[k] >= mo_grid_cells(g) || (k > 0 && def->side[k] < def->side[k - 1]))
            return mo_fail(err, MO_ERROR_INPUT, "side %d of the divided cells is out of order", k);
    for (int32_t k = 0; k < def->samples; k++)
        if (!sample_is_good(g, def, k))
            return mo_fail(err, MO_ERROR_INPUT, "piece %d of the divided faces does not lie between its rows", k);
    if (mo_grid_cells(g) + def->sides + def->samples > INT32_MAX / 3)
        return mo_fail(err, MO_ERROR_INPUT, "too many cells for one system");
    return MO_OK;
}

// Marks tiles that hold a cell that sheets change, or a neighbour of one: what they see may differ from the lattice.
static void mark_cut(const mo_grid *g, int32_t cell, int32_t *cut)
{
    int32_t c[3], x = cell & 7, y = cell >> 3 & 7, z = cell >> 6 & 7;
    if (x > 0 && x < 7 && y > 0 && y < 7 && z > 0 && z < 7) { // all within one tile
        cut[cell / MO_TILE_CELLS] = 0;
        return;
    }
    mo_grid_cell(g, cell, c);
    for (int32_t o = 0; o < 27; o++) {
        int32_t i = mo_grid_index(g, c[0] + o % 3 - 1, c[1] + o / 3 % 3 - 1, c[2] + o / 9 - 1);
        if (i >= 0) cut[i / MO_TILE_CELLS] = 0;
    }
}

static void find_cut(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    memset(s->cut, 0xff, sizeof(int32_t) * (size_t)g->tiles);
    for (int32_t k = 0; k < def->sides; k++) mark_cut(g, def->side[k], s->cut);
    for (int32_t k = 0; k < def->samples; k++)
        if (k == 0 || def->sample[k].cell != def->sample[k - 1].cell) mark_cut(g, def->sample[k].cell, s->cut);
    for (int32_t k = 0; k < def->volumes; k++)
        if (def->volume_row[k] < mo_grid_cells(g)) mark_cut(g, def->volume_row[k], s->cut);
    for (int32_t t = 0; t < g->tiles; t++)
        if (s->cut[t] >= 0) s->cut[t] = s->cuts++;
}

static bool first_piece(const mo_sites_def *def, int32_t k)
{
    const mo_sample *s = &def->sample[k];
    return k == 0 || s[-1].cell != s->cell || s[-1].axis != s->axis;
}

static void fill_faces(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    for (int32_t t = 0; t < g->tiles; t++)
        for (int32_t q = 0; s->cut[t] >= 0 && q < MO_TILE_CELLS; q++)
            for (int32_t a = 0; a < 3; a++) s->face[s->cut[t]][q][a] = mo_sample_plain(g, t * MO_TILE_CELLS + q, a);
    int32_t more = 0;
    for (int32_t k = 0; k < def->samples; k++) {
        const mo_sample *p = &def->sample[k];
        if (first_piece(def, k))
            s->face[s->cut[p->cell / MO_TILE_CELLS]][p->cell % MO_TILE_CELLS][p->axis] = *p;
        else
            s->sample[more++] = *p;
    }
    for (int32_t k = 0, t = 0; t <= g->tiles; t++) {
        while (k < more && s->sample[k].cell / MO_TILE_CELLS < t) k++;
        s->first_sample[t] = k;
    }
    for (int32_t k = 0, t = 0; t <= g->tiles; t++) {
        while (k < s->rows && s->cell[k] / MO_TILE_CELLS < t) k++;
        s->first_row[t] = k;
    }
}

// Number of a row among those that have a list, -1: it has none.
static int64_t listed(const mo_grid *g, const mo_sites *s, int32_t row)
{
    if (row >= mo_grid_cells(g)) return (int64_t)s->cuts * MO_TILE_CELLS + (row - mo_grid_cells(g));
    int32_t cut = row < 0 ? -1 : s->cut[row / MO_TILE_CELLS];
    return cut < 0 ? -1 : (int64_t)cut * MO_TILE_CELLS + row % MO_TILE_CELLS;
}

// Adds a sample to the row at one of its ends: counts it, or writes it at the end of the row's list.
static void tell(const mo_grid *g, mo_sites *s, int32_t row, mo_row_sample what, int64_t *end, bool write)
{
    int64_t at = listed(g, s, row);
    if (at < 0) return;
    if (write)
        s->list[end[at]++] = what;
    else
        s->first[at + 1]++;
}

static void tell_sample(const mo_grid *g, mo_sites *s, const mo_sample *p, int32_t index, int64_t *end, bool write)
{
    if (mo_sample_is_own(g, p)) return;
    tell(g, s, p->high, (mo_row_sample){index, (int8_t)p->axis, 0}, end, write);
    tell(g, s, p->low, (mo_row_sample){index, (int8_t)p->axis, 1}, end, write);
}

// A face on a tile's high side is stored with the tile beyond, which need not be cut.
static void tell_beyond(const mo_grid *g, mo_sites *s, int32_t tile, int32_t axis, int64_t *end, bool write)
{
    static const int32_t stride[3] = {1, 8, 64}, offset[3] = {1, 3, 9};
    int32_t before = g->neighbour[tile][13 - offset[axis]];
    if (before < 0 || s->cut[before] < 0) return;
    for (int32_t q = 0; q < MO_TILE_CELLS; q++) {
        int32_t i = tile * MO_TILE_CELLS + q;
        if (q / stride[axis] % MO_TILE) continue;
        mo_sample plain = mo_sample_plain(g, i, axis);
        tell_sample(g, s, &plain, i, end, write);
    }
}

static void tell_all(const mo_grid *g, mo_sites *s, int64_t *end, bool write)
{
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t t = 0; t < g->tiles; t++) {
            if (s->cut[t] < 0) tell_beyond(g, s, t, a, end, write);
            for (int32_t q = 0; s->cut[t] >= 0 && q < MO_TILE_CELLS; q++)
                tell_sample(g, s, &s->face[s->cut[t]][q][a], t * MO_TILE_CELLS + q, end, write);
        }
        for (int32_t k = 0; k < s->samples; k++)
            if (s->sample[k].axis == a) tell_sample(g, s, &s->sample[k], (int32_t)mo_grid_cells(g) + k, end, write);
    }
}

// Puts the samples of a row in order: axis by axis, those on the low side first.
static void sort_row(mo_sites *s, int64_t row)
{
    mo_row_sample *list = s->list;
    for (int64_t k = s->first[row] + 1; k < s->first[row + 1]; k++)
        for (int64_t j = k; j > s->first[row]; j--) {
            bool before = list[j].axis < list[j - 1].axis ||
                          (list[j].axis == list[j - 1].axis && list[j].side < list[j - 1].side);
            if (!before) break;
            mo_row_sample swap = list[j];
            list[j] = list[j - 1], list[j - 1] = swap;
        }
}

// A sample, even where no sheet is.
static mo_sample any_sample(const mo_grid *g, const mo_sites *s, int axis, int32_t sample)
{
    if (sample >= mo_grid_cells(g)) return s->sample[sample - mo_grid_cells(g)];
    int32_t cut = s->cut[sample / MO_TILE_CELLS];
    return cut < 0 ? mo_sample_plain(g, sample, axis) : s->face[cut][sample % MO_TILE_CELLS][axis];
}

static mo_status fill_lists(const mo_grid *g, mo_sites *s)
{
    int64_t rows = (int64_t)s->cuts * MO_TILE_CELLS + s->rows;
    s->first = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    int64_t *end = mo_alloc(sizeof(int64_t) * ((size_t)rows + 1));
    if (s->first && end) {
        tell_all(g, s, NULL, false);
        for (int64_t r = 0; r < rows; r++) s->first[r + 1] += s->first[r];
        s->list = mo_alloc(sizeof *s->list * ((size_t)s->first[rows] + 1));
        if (s->list) {
            memcpy(end, s->first, sizeof(int64_t) * ((size_t)rows + 1));
            tell_all(g, s, end, true);
            for (int64_t r = 0; r < rows; r++) sort_row(s, r);
        }
    }
    mo_free(end);
    return s->list ? MO_OK : MO_ERROR_MEMORY;
}

// The rows beside each row, through the largest samples. Steps from cells do not lead to ghosts.
static mo_status fill_beside(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    int64_t rows = (int64_t)s->cuts * MO_TILE_CELLS + s->rows;
    s->beside = mo_alloc(sizeof *s->beside * ((size_t)rows + 1));
    if (!s->beside) return MO_ERROR_MEMORY;
    for (int64_t r = 0; r < rows; r++) {
        double area[6] = {0};
        for (int e = 0; e < 6; e++) s->beside[r][e] = -1;
        for (int64_t k = s->first[r]; k < s->first[r + 1]; k++) {
            int side = s->list[k].side, e = 2 * s->list[k].axis + side;
            mo_sample q = any_sample(g, s, s->list[k].axis, s->list[k].sample);
            int32_t to = side ? q.high : q.low;
            if (def->ghosts && r < (int64_t)s->cuts * MO_TILE_CELLS && to >= mo_grid_cells(g)) continue;
            if (q.area > area[e]) area[e] = q.area, s->beside[r][e] = to;
        }
    }
    return MO_OK;
}

// ---- Data from triangles ----

static mo_status fill_volumes(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    int64_t rows = (int64_t)s->cuts * MO_TILE_CELLS + s->rows;
    if (!def->volumes) return MO_OK;
    s->volume = mo_alloc(sizeof(double) * (size_t)rows);
    if (!s->volume) return MO_ERROR_MEMORY;
    for (int64_t r = 0; r < rows; r++) s->volume[r] = 1;
    for (int32_t k = 0; k < def->volumes; k++) s->volume[listed(g, s, def->volume_row[k])] = def->volume[k];
    return MO_OK;
}

static mo_status fill_walls(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    int64_t rows = (int64_t)s->cuts * MO_TILE_CELLS + s->rows;
    if (!def->walls) return MO_OK;
    s->first_wall = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    s->wall = mo_alloc(sizeof *s->wall * (size_t)def->walls);
    if (!s->first_wall || !s->wall) return MO_ERROR_MEMORY;
    int64_t *first = s->first_wall;
    for (int32_t k = 0; k < def->walls; k++) first[listed(g, s, def->wall[k].row) + 1]++;
    for (int64_t r = 0; r < rows; r++) first[r + 1] += first[r];
    for (int32_t k = 0; k < def->walls; k++) s->wall[first[listed(g, s, def->wall[k].row)]++] = def->wall[k];
    for (int64_t r = rows; r > 0; r--) first[r] = first[r - 1];
    first[0] = 0;
    return MO_OK;
}

static mo_status fill_gaps(const mo_sites_def *def, mo_sites *s)
{
    if (!def->gaps) return MO_OK;
    s->gaps = def->gaps;
    s->gap = mo_alloc(sizeof *s->gap * (size_t)def->gaps);
    if (!s->gap) return MO_ERROR_MEMORY;
    memcpy(s->gap, def->gap, sizeof *s->gap * (size_t)def->gaps);
    return MO_OK;
}

static mo_status build(const mo_grid *g, const mo_sites_def *def, mo_sites *s)
{
    size_t tiles = (size_t)g->tiles;
    s->rows = def->sides;
    for (int32_t k = 0; k < def->samples; k++) s->samples += !first_piece(def, k);
    s->cell = mo_alloc(sizeof(int32_t) * (size_t)s->rows);
    s->sample = mo_alloc(sizeof *s->sample * (size_t)s->samples);
    s->first_row = mo_alloc(sizeof(int32_t) * (tiles + 1)), s->first_sample = mo_alloc(sizeof(int32_t) * (tiles + 1));
    s->cut = mo_alloc(sizeof(int32_t) * tiles);
    if (!s->cell || !s->sample || !s->first_row || !s->first_sample || !s->cut) return MO_ERROR_MEMORY;
    if (s->rows) memcpy(s->cell, def->side, sizeof(int32_t) * (size_t)s->rows);
    find_cut(g, def, s);
    s->face = mo_alloc(sizeof *s->face * (size_t)s->cuts);
    if (!s->face) return MO_ERROR_MEMORY;
    fill_faces(g, def, s);
    MO_TRY(fill_lists(g, s));
    MO_TRY(fill_beside(g, def, s));
    MO_TRY(fill_volumes(g, def, s));
    MO_TRY(fill_walls(g, def, s));
    return fill_gaps(def, s);
}

mo_status mo_sites_create(mo_grid *g, const mo_sites_def *def, mo_error *err)
{
    mo_sites_destroy(g);
    MO_TRY(check(g, def, err));
    if (!def->sides && !def->samples && !def->volumes) return MO_OK;
    g->sites = mo_calloc(sizeof *g->sites);
    mo_status status = g->sites ? build(g, def, g->sites) : MO_ERROR_MEMORY;
    if (status == MO_OK) return MO_OK;
    mo_sites_destroy(g);
    return mo_fail_memory(err);
}

// ---- Queries ----

int32_t mo_sites_cell(const mo_grid *g, int32_t row) { return g->sites->cell[row - mo_grid_cells(g)]; }

mo_sample mo_sites_sample(const mo_grid *g, int axis, int32_t sample)
{
    const mo_sites *s = g->sites;
    if (sample >= mo_grid_cells(g)) return s->sample[sample - mo_grid_cells(g)];
    return s->face[s->cut[sample / MO_TILE_CELLS]][sample % MO_TILE_CELLS][axis];
}

int mo_sites_of_row(const mo_grid *g, int32_t row, const mo_row_sample **list)
{
    const mo_sites *s = g->sites;
    int64_t at = listed(g, s, row);
    *list = s->list + s->first[at];
    return (int)(s->first[at + 1] - s->first[at]);
}

double mo_sites_volume(const mo_grid *g, int32_t row)
{
    const mo_sites *s = g->sites;
    return s->volume ? s->volume[listed(g, s, row)] : 1;
}

int mo_sites_walls(const mo_grid *g, int32_t row, const mo_site_wall **list)
{
    const mo_sites *s = g->sites;
    int64_t at = listed(g, s, row);
    if (!s->first_wall) return 0;
    *list = s->wall + s->first_wall[at];
    return (int)(s->first_wall[at + 1] - s->first_wall[at]);
}

void mo_sample_place(const mo_grid *g, int axis, int32_t sample, double x[3])
{
    mo_sample s = mo_site_is_cut(g, sample) ? mo_sites_sample(g, axis, sample) : mo_sample_plain(g, sample, axis);
    int32_t c[3];
    mo_grid_cell(g, s.cell, c);
    x[axis] = c[axis];
    for (int k = 0; k < 2; k++) x[(axis + 1 + k) % 3] = c[(axis + 1 + k) % 3] + s.at[k];
}

void mo_sites_rows(const mo_grid *g, int32_t tile, int32_t *first, int32_t *end)
{
    const mo_sites *s = g->sites;
    *first = (int32_t)mo_grid_cells(g) + (s ? s->first_row[tile] : 0);
    *end = (int32_t)mo_grid_cells(g) + (s ? s->first_row[tile + 1] : 0);
}

void mo_sites_samples(const mo_grid *g, int32_t tile, int32_t *first, int32_t *end)
{
    const mo_sites *s = g->sites;
    *first = (int32_t)mo_grid_cells(g) + (s ? s->first_sample[tile] : 0);
    *end = (int32_t)mo_grid_cells(g) + (s ? s->first_sample[tile + 1] : 0);
}

// The largest sample on one side of a row; with `to` (not -1) only those that lead there. -1: none.
static int32_t largest(const mo_grid *g, int32_t row, int axis, int side, int32_t to)
{
    if (row < 0) return -1;
    mo_row_sample six[6];
    const mo_row_sample *list;
    int32_t best = -1;
    double area = 0;
    for (int k = 0, count = mo_row_samples(g, row, six, &list); k < count; k++) {
        if (list[k].axis != axis || list[k].side != side) continue;
        mo_sample s = any_sample(g, g->sites, axis, list[k].sample);
        if (s.area > area && (to < 0 || to == (side ? s.high : s.low))) best = list[k].sample, area = s.area;
    }
    return best;
}

// Along its own axis a sample's neighbour is the other sample of the row between; across it, the one that joins the
// neighbours of its rows, or else one that touches at least one of them.
static int32_t step_sample(const mo_grid *g, int kind, int32_t sample, int axis, int side)
{
    mo_sample s = any_sample(g, g->sites, kind, sample);
    if (axis == kind) return largest(g, side > 0 ? s.high : s.low, axis, side > 0, -1);
    int32_t low = s.low < 0 ? -1 : mo_site_step(g, MO_SITE_ROW, s.low, axis, side);
    int32_t high = s.high < 0 ? -1 : mo_site_step(g, MO_SITE_ROW, s.high, axis, side);
    int32_t both = low >= 0 && high >= 0 ? largest(g, low, kind, 1, high) : -1;
    if (both >= 0) return both;
    int32_t one = largest(g, high, kind, 0, -1);
    return one >= 0 ? one : largest(g, low, kind, 1, -1);
}

// Whether sheets are so far away that the lattice has the answer: for rows they meet none of the cell's faces, for
// samples none of the cells round it.
static bool is_plain(const mo_grid *g, int kind, int32_t index)
{
    const mo_reach *r = g->sites->reach;
    return r && index < mo_grid_cells(g) && r->distance[index] > (kind == MO_SITE_ROW ? 0 : 1);
}

int32_t mo_sites_step(const mo_grid *g, int kind, int32_t index, int axis, int side)
{
    if (is_plain(g, kind, index)) return mo_grid_step(g, index, axis, side);
    if (kind != MO_SITE_ROW) return step_sample(g, kind, index, axis, side);
    return g->sites->beside[listed(g, g->sites, index)][2 * axis + (side > 0)];
}
