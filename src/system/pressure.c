// Assembly of the pressure block from the fields of the grid.
#include "system/pressure.h"
#include "base/parallel.h"
#include "grid/ghosts.h"
#include "grid/weights.h"
#include "system/pressure_gaps.h"
#include "system/pressure_sheets.h"
#include "system/pressure_slip.h"
#include <string.h>

typedef struct numbering {
    int32_t rows, faces, gaps;
    int32_t *row;                    // [fields] row of the system or -1, of each of the grid's
    int32_t *face[3];                // [fields] number of each sample of an axis or -1
    int32_t *first_row, *first_face; // [tiles + 1]
} numbering;

// The open part of the face of a sample: of the whole face, or of a sheet's piece of it.
static inline double open_area(const mo_pressure_def *d, int32_t i, int axis)
{
    double part = d->area[axis][i];
    return mo_site_is_cut(d->grid, i) ? part * mo_sites_sample(d->grid, axis, i).area : part;
}

// A sample is unknown if it is open and joins a row of liquid to anything.
static inline bool face_exists(const mo_pressure_def *d, int32_t i, int axis)
{
    if (d->area[axis][i] <= 0) return false;
    int32_t high = mo_sample_high(d->grid, axis, i);
    if (high >= 0 && d->liquid[high] == 1) return true;
    int32_t low = mo_sample_low(d->grid, axis, i);
    return low >= 0 && d->liquid[low] == 1;
}

static inline void number_row(const mo_pressure_def *d, numbering *n, int32_t i, int32_t *rows)
{
    n->row[i] = d->liquid[i] == 1 ? (*rows)++ : -1;
}
static inline void number_face(const mo_pressure_def *d, numbering *n, int32_t i, int axis, int32_t *faces)
{
    n->face[axis][i] = face_exists(d, i, axis) ? (*faces)++ : -1;
}

// Whether there may be liquid beside the samples of a tile.
static bool near_liquid(const mo_pressure_def *d, int32_t tile)
{
    static const int around[4] = {13, 12, 10, 4}; // itself, and where its low samples lead
    if (mo_site_is_cut(d->grid, tile * MO_TILE_CELLS)) return true;
    for (int k = 0; k < 4; k++) {
        int32_t t = d->grid->neighbour[tile][around[k]];
        if (t >= 0 && memchr(d->liquid + (int64_t)t * MO_TILE_CELLS, 1, MO_TILE_CELLS)) return true;
    }
    return false;
}

// Within a tile cells come first, then sides and pieces beyond the first.
static void number_tile(const mo_pressure_def *d, int32_t tile, numbering *n, int32_t *rows, int32_t *faces)
{
    int32_t first, end;
    *rows = *faces = 0;
    if (!near_liquid(d, tile)) {
        int64_t at = (int64_t)tile * MO_TILE_CELLS;
        memset(n->row + at, 0xff, sizeof(int32_t) * MO_TILE_CELLS);
        for (int a = 0; a < 3; a++) memset(n->face[a] + at, 0xff, sizeof(int32_t) * MO_TILE_CELLS);
        return;
    }
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        number_row(d, n, i, rows);
        for (int a = 0; a < 3; a++) number_face(d, n, i, a, faces);
    }
    mo_sites_rows(d->grid, tile, &first, &end);
    for (int32_t i = first; i < end; i++) number_row(d, n, i, rows);
    mo_sites_samples(d->grid, tile, &first, &end);
    for (int32_t i = first; i < end; i++)
        for (int a = 0; a < 3; a++)
            if (mo_sites_sample(d->grid, a, i).axis == a)
                number_face(d, n, i, a, faces);
            else
                n->face[a][i] = -1;
}

static void shift(int32_t *number, int32_t by)
{
    if (*number >= 0) *number += by;
}

static bool is_empty(const numbering *n, int32_t tile)
{
    return n->first_row[tile] == n->first_row[tile + 1] && n->first_face[tile] == n->first_face[tile + 1];
}

static void shift_tile(const mo_grid *g, int32_t tile, numbering *n)
{
    int32_t first, end, row = n->first_row[tile], face = n->first_face[tile];
    if (is_empty(n, tile)) return;
    for (int32_t i = tile * MO_TILE_CELLS; i < (tile + 1) * MO_TILE_CELLS; i++) {
        shift(&n->row[i], row);
        for (int a = 0; a < 3; a++) shift(&n->face[a][i], face);
    }
    mo_sites_rows(g, tile, &first, &end);
    for (int32_t i = first; i < end; i++) shift(&n->row[i], row);
    mo_sites_samples(g, tile, &first, &end);
    for (int32_t i = first; i < end; i++)
        for (int a = 0; a < 3; a++) shift(&n->face[a][i], face);
}

// Rows and faces are numbered tile by tile.
static mo_status number_unknowns(const mo_pressure_def *d, mo_arena *arena, numbering *n, mo_error *err)
{
    int32_t tiles = d->grid->tiles;
    int64_t fields = mo_grid_fields(d->grid);
    if (fields > INT32_MAX / 3) return mo_fail(err, MO_ERROR_INPUT, "too many cells for one system");
    n->row = MO_ARENA_ARRAY(arena, int32_t, fields);
    for (int a = 0; a < 3; a++) n->face[a] = MO_ARENA_ARRAY(arena, int32_t, fields);
    int32_t *first_row = n->first_row = MO_ARENA_ARRAY(arena, int32_t, tiles + 1);
    int32_t *first_face = n->first_face = MO_ARENA_ARRAY(arena, int32_t, tiles + 1);
    if (!n->row || !n->face[0] || !n->face[1] || !n->face[2] || !first_row || !first_face) return mo_fail_memory(err);
    for (int64_t i = mo_grid_cells(d->grid); i < fields; i++) // rows and samples may differ in number
        n->row[i] = n->face[0][i] = n->face[1][i] = n->face[2][i] = -1;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles; t++) number_tile(d, t, n, &first_row[t], &first_face[t]);
    n->rows = first_row[tiles] = (int32_t)mo_prefix_sum(tiles, first_row);
    n->faces = first_face[tiles] = (int32_t)mo_prefix_sum(tiles, first_face);
    n->gaps = mo_pressure_gaps(d);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles; t++) shift_tile(d->grid, t, n);
    return MO_OK;
}

static mo_status allocate(const numbering *n, mo_liquid_system *out, mo_error *err)
{
    memset(out, 0, sizeof *out);
    mo_system *s = &out->system;
    mo_block *b = mo_calloc(sizeof *b);
    s->block[MO_BLOCK_PRESSURE] = b;
    if (!b) return mo_fail_memory(err);
    size_t rows = (size_t)n->rows, faces = (size_t)n->faces + (size_t)n->gaps;
    out->gaps = n->gaps;
    out->face_at = mo_alloc(sizeof(int32_t) * faces);
    out->cell_at = mo_alloc(sizeof(int32_t) * rows);
    b->rows = n->rows;
    b->rhs = mo_calloc(sizeof(double) * rows);
    b->x = mo_calloc(sizeof(double) * rows);
    b->coord = mo_alloc(sizeof *b->coord * rows);
    bool ok = mo_faces_create(n->faces + n->gaps, &s->faces) == MO_OK && out->face_at && out->cell_at && b->rhs &&
              b->x && b->coord;
    int64_t ends = 2 * (int64_t)n->faces; // a face has two rows
    if (!ok || mo_csr_create(n->rows, n->faces, ends, &b->on[MO_FACES]) != MO_OK) return mo_fail_memory(err);
    return MO_OK;
}

static void fill_face(const mo_pressure_def *d, mo_liquid_system *out, int32_t i, int axis, int32_t face)
{
    int32_t low = mo_sample_low(d->grid, axis, i), high = mo_sample_high(d->grid, axis, i);
    bool own = mo_ghost_owner(d->grid, axis, i) >= 0; // of one side of a sheet
    double theta = own ? 1 : mo_theta(low < 0 ? 1 : d->phi[low], d->phi[high], mo_theta_minimum);
    out->system.faces.mass[face] = d->density * open_area(d, i, axis) * theta;
    out->face_at[face] = mo_face_code(i, axis);
}

// Puts an open face into a row of `entries`, ascending.
static inline int insert(const mo_pressure_def *d, const numbering *n, int axis, int32_t sample, double sign,
                         int entries, int32_t *col, double *val)
{
    int32_t face = n->face[axis][sample];
    if (face < 0) return entries;
    int p = entries;
    for (; p > 0 && col[p - 1] > face; p--) col[p] = col[p - 1], val[p] = val[p - 1];
    col[p] = face, val[p] = sign * open_area(d, sample, axis) / d->dx;
    return entries + 1;
}

// The open faces of a row; signs of the negative divergence.
static void fill_row(const mo_pressure_def *d, const numbering *n, int32_t i, int32_t *col, double *val)
{
    int entries = 0;
    if (mo_site_is_cut(d->grid, i)) {
        const mo_row_sample *list;
        for (int k = 0, count = mo_sites_of_row(d->grid, i, &list); k < count; k++)
            entries = insert(d, n, list[k].axis, list[k].sample, list[k].side ? -1 : 1, entries, col, val);
        return;
    }
    for (int a = 0; a < 3; a++) entries = insert(d, n, a, i, 1, entries, col, val);
    for (int a = 0; a < 3; a++) {
        int32_t high = mo_grid_step(d->grid, i, a, 1);
        if (high >= 0) entries = insert(d, n, a, high, -1, entries, col, val);
    }
}

// How many those are.
static int row_length(const mo_pressure_def *d, const numbering *n, int32_t i)
{
    int entries = 0;
    if (mo_site_is_cut(d->grid, i)) {
        const mo_row_sample *list;
        for (int k = 0, count = mo_sites_of_row(d->grid, i, &list); k < count; k++)
            entries += n->face[list[k].axis][list[k].sample] >= 0;
        return entries;
    }
    for (int a = 0; a < 3; a++) {
        int32_t high = mo_grid_step(d->grid, i, a, 1);
        entries += (n->face[a][i] >= 0) + (high >= 0 && n->face[a][high] >= 0);
    }
    return entries;
}

// Divergence of the solids' flux.
static double swept_of(const mo_pressure_def *d, int32_t i)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    double swept = 0;
    for (int k = 0, count = mo_row_samples(d->grid, i, six, &list); k < count; k++) {
        double flux =
            d->flux[list[k].axis][list[k].sample] * mo_sample_area(d->grid, list[k].axis, list[k].sample) / d->dx;
        swept += list[k].side ? flux : -flux;
    }
    return swept;
}

// Fills in the part of one field index: its faces, and its row without the entries.
static void fill_field(const mo_pressure_def *d, const numbering *n, int32_t i, mo_liquid_system *out)
{
    mo_block *b = out->system.block[MO_BLOCK_PRESSURE];
    for (int a = 0; a < 3; a++)
        if (n->face[a][i] >= 0) fill_face(d, out, i, a, n->face[a][i]);
    int32_t row = n->row[i];
    if (row < 0) return;
    out->cell_at[row] = i;
    mo_grid_cell(d->grid, mo_site_cell(d->grid, i), b->coord[row]);
    b->on[MO_FACES].row[row + 1] = row_length(d, n, i);
    b->rhs[row] = d->flux ? swept_of(d, i) : 0;
    b->rhs[row] += mo_sheets_sweep(d, i);
}

typedef struct coupling {
    const mo_pressure_def *d;
    const mo_liquid_system *out;
    mo_cover_index index;
    mo_slit_rows slits;
} coupling;

// The row of a cell in the form that pieces need: the parts that a solid takes of the low faces minus those of the high
// ones, over dx.
static mo_piece_row piece_row_of(const coupling *c, int32_t cell, int32_t solid)
{
    const mo_pressure_def *d = c->d;
    mo_row_sample six[6];
    const mo_row_sample *list;
    mo_piece_row row = {.axes = mo_grid_axes(d->grid)};
    for (int a = 0; a < row.axes; a++) row.normal[a] = a, row.factor[a] = 1 / d->dx;
    for (int s = 0, count = mo_row_samples(d->grid, cell, six, &list); s < count; s++) {
        int32_t at = list[s].sample, a = list[s].axis, tile = at / MO_TILE_CELLS;
        for (int32_t k = c->index.first[tile]; k < c->index.first[tile + 1]; k++)
            if (d->cover[k].solid == solid)
                row.sum[a] += (list[s].side ? -1 : 1) * d->cover[k].part[a][at % MO_TILE_CELLS] / d->dx;
    }
    return row;
}

// Whether the row of a cell has a solid by the pieces of its surface.
static bool has_pieces(const coupling *c, int32_t cell, int32_t solid)
{
    int32_t at[3];
    if (!c->d->solids->pieces || cell >= mo_grid_cells(c->d->grid)) return false;
    mo_grid_cell(c->d->grid, cell, at);
    return mo_has_pieces(c->d->solids, solid, MO_SAMPLE_CELL, at);
}

static void add_pieces(const coupling *c, int32_t cell, mo_solid_row *r)
{
    const mo_pressure_def *d = c->d;
    for (int32_t k = 0; d->solids->pieces && k < d->solids->count; k++) {
        int32_t at[3];
        if (!has_pieces(c, cell, k)) continue;
        mo_grid_cell(d->grid, cell, at);
        mo_piece_row row = piece_row_of(c, cell, k);
        mo_pieces_add(r, d->solids, k, MO_SAMPLE_CELL, at, &row);
    }
}

// Where the velocity of a solid counts in its part of a sample, m.
static mo_vec3 place_of(const mo_grid *g, int axis, int32_t sample)
{
    double x[3];
    if (!mo_site_is_cut(g, sample)) return mo_grid_face(g, sample, axis);
    mo_sample_place(g, axis, sample, x);
    return mo_grid_world(g, x[0], x[1], x[2]);
}

// -Frp^T of one row: the volume that solids sweep through their part of its faces, or by the pieces of their surface in
// it. Of a piece of a face they take the same part as of the whole face.
static void couple_cell(const void *user, int32_t cell, mo_solid_row *r)
{
    const coupling *c = user;
    const mo_pressure_def *d = c->d;
    mo_row_sample six[6];
    const mo_row_sample *list;
    add_pieces(c, cell, r);
    for (int s = 0, count = mo_row_samples(d->grid, cell, six, &list); s < count; s++) {
        int32_t a = list[s].axis, at = mo_sample_cell(d->grid, a, list[s].sample);
        double area = mo_sample_area(d->grid, a, list[s].sample);
        for (int32_t k = c->index.first[at / MO_TILE_CELLS]; k < c->index.first[at / MO_TILE_CELLS + 1]; k++) {
            double part = area * d->cover[k].part[a][at % MO_TILE_CELLS];
            if (!(part > 0) || !mo_solid_moves(d->solids, d->cover[k].solid)) continue;
            if (has_pieces(c, cell, d->cover[k].solid)) continue;
            const mo_vec3 e = {a == 0, a == 1, a == 2};
            mo_solid_row_add(r, d->solids, d->cover[k].solid, place_of(d->grid, a, list[s].sample), e,
                             (list[s].side ? -1 : 1) * part / d->dx);
        }
    }
}

// The entries of a row from its own cell, and from slits beside it.
static void couple_row(const void *user, int32_t row, mo_solid_row *r)
{
    const coupling *c = user;
    couple_cell(c, c->out->cell_at[row], r);
    mo_sheets_couple(c->d, c->out->cell_at[row], r);
    mo_slit_rows_add(&c->slits, row, r);
}

static double swept_in(const void *user, int32_t cell) { return swept_of(((const coupling *)user)->d, cell); }

static mo_status couple_slits(const mo_pressure_def *d, const numbering *n, mo_arena *arena, coupling *c,
                              mo_liquid_system *out, mo_error *err)
{
    if (!d->slits || d->slits->count == 0) return MO_OK;
    mo_slits_def def = {.slits = d->slits,
                        .grid = d->grid,
                        .solids = d->solids,
                        .row = n->row,
                        .open = d->open,
                        .gravity = d->gravity,
                        .density = d->density,
                        .dt = d->dt,
                        .find = couple_cell,
                        .swept = d->flux ? swept_in : NULL,
                        .user = c};
    MO_TRY(mo_liquid_push(out, mo_solid_unknowns(d->solids, MO_BODIES), err));
    MO_TRY(mo_slit_rows_create(&def, arena, out->push, &c->slits, err));
    mo_slit_rows_sweep(&c->slits, out->system.block[MO_BLOCK_PRESSURE]->rhs);
    return MO_OK;
}

static mo_status couple_solids(const mo_pressure_def *d, const numbering *n, mo_arena *arena, mo_liquid_system *out,
                               mo_error *err)
{
    coupling c = {.d = d, .out = out};
    if (!d->solids || !d->solids->body) return MO_OK;
    MO_TRY(mo_cover_index_create(d->grid, d->solids, d->cover, d->covers, arena, &c.index, err));
    MO_TRY(couple_slits(d, n, arena, &c, out, err));
    mo_block *b = out->system.block[MO_BLOCK_PRESSURE];
    mo_status status = MO_OK;
    if (d->solids->bodies) status = mo_bodies_create(d->solids->bodies, &out->system.bodies);
    if (status == MO_OK) status = mo_solid_rows_create(b->rows, d->solids, couple_row, &c, b->on);
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}

mo_status mo_pressure_assemble(const mo_pressure_def *d, mo_arena *arena, mo_liquid_system *out, mo_error *err)
{
    MO_ASSERT(d->density > 0 && d->dt >= 0 && d->dx > 0);
    MO_ASSERT(d->grid && (d->grid->tiles == 0 || (d->phi && d->liquid && d->area)));
    MO_ASSERT(d->covers == 0 || (d->cover && d->solids));
    size_t mark = mo_arena_mark(arena);
    numbering n;
    memset(out, 0, sizeof *out);
    MO_TRY(number_unknowns(d, arena, &n, err));
    mo_status status = allocate(&n, out, err);
    if (status != MO_OK) {
        mo_liquid_destroy(out);
        return status;
    }
    mo_block *b = out->system.block[MO_BLOCK_PRESSURE];
    out->system.dt = d->dt, b->cloth = d->sheet_node != NULL;
    // Lengths of rows first, so that rows can then be written in parallel.
    mo_csr *B = &b->on[MO_FACES];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < d->grid->tiles; t++)
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS && !is_empty(&n, t); i++)
            fill_field(d, &n, i, out);
    for (int32_t i = (int32_t)mo_grid_cells(d->grid); i < (int32_t)mo_grid_fields(d->grid); i++)
        fill_field(d, &n, i, out);
    for (int32_t r = 0; r < n.rows; r++) B->row[r + 1] += B->row[r];
#pragma omp parallel for schedule(static)
    for (int32_t r = 0; r < n.rows; r++) fill_row(d, &n, out->cell_at[r], B->col + B->row[r], B->val + B->row[r]);
    status = mo_pressure_add_gaps(d, n.row, n.face, out, err);
    if (status == MO_OK) status = mo_pressure_add_slip(d, n.row, n.face, out, err);
    if (status == MO_OK) status = couple_solids(d, &n, arena, out, err);
    if (status != MO_OK) mo_liquid_destroy(out);
    mo_arena_release(arena, mark);
    return status;
}

// ---- Liquid that moves with bodies ----

double mo_wet_part(const mo_grid *g, const float *phi, int32_t sample, int axis)
{
    int32_t low = mo_sample_low(g, axis, sample), high = mo_sample_high(g, axis, sample);
    double a = low < 0 ? 1 : phi[low], b = high < 0 ? 1 : phi[high];
    return a < 0 || b < 0 ? mo_theta(a, b, 0) : 0;
}

mo_status mo_pressure_attach(const mo_pressure_def *d, mo_liquid_system *l, mo_error *err)
{
    const mo_grid *g = d->grid;
    MO_TRY(mo_liquid_attached(l, err));
    for (int32_t k = 0; k < d->covers; k++) {
        int32_t solid = d->cover[k].solid, first = d->cover[k].tile * MO_TILE_CELLS;
        if (!mo_solid_moves(d->solids, solid)) continue;
        for (int a = 0; a < mo_grid_axes(g); a++)
            for (int32_t q = 0; q < MO_TILE_CELLS; q++) {
                double mass =
                    d->spare[k].part[a][q] > 0 ? d->spare[k].part[a][q] * mo_wet_part(g, d->phi, first + q, a) : 0;
                if (mass == 0) continue;
                mo_vec3 x = mo_grid_face(g, first + q, a);
                mo_attach_face(&l->system, l->attached, d->solids, solid, d->density * mass, a, x, NULL);
            }
    }
    if (d->excess) mo_attach_excess(&l->system, l->attached, d->excess, d->density);
    mo_sheets_attach(d, l);
    MO_TRY(mo_cloth_attach(d, l, err));
    l->limited = mo_attach_limit(&l->system, l->attached, mo_mul(d->dt, d->gravity));
    return mo_attach(&l->system, l->attached, err);
}
