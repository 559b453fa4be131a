// Building a level: groups, boxes, windows.
#include "sparse/level.h"
#include <math.h>
#include <string.h>

enum { SMALL = 4096, MAX_BOX = 12 * 12 * 12, MAX_PIECES = 512 };

void mo_level_destroy(mo_level *l)
{
    mo_stencils_destroy(&l->A);
    mo_sweep_destroy(&l->sweep);
    mo_free(l->place), mo_free(l->halo), mo_free(l->halo_row), mo_free(l->halo_place);
    mo_free(l->near), mo_free(l->corner), mo_free(l->window), mo_free(l->window_row);
    mo_direct_destroy(&l->direct);
    mo_free(l->x), mo_free(l->b), mo_free(l->r);
    mo_lattice_destroy(&l->lattice);
    *l = (mo_level){0};
}

int64_t mo_level_bytes(const mo_level *l)
{
    int64_t groups = l->sweep.groups;
    int64_t bytes = mo_stencils_entries(&l->A) * 6 + (int64_t)l->A.patterns * 16 + (int64_t)l->A.rows * (4 + 2 + 12);
    bytes += 12 * groups + (l->halo ? 6 * (int64_t)l->halo[groups] : 0) + 4 * l->direct.entries;
    if (l->window) bytes += 3 * (int64_t)l->A.rows + 4 * (int64_t)l->window[groups];
    return bytes;
}

static mo_status allocate_vectors(mo_level *l)
{
    size_t n = (size_t)l->A.rows;
    l->x = mo_alloc(sizeof(float) * n), l->b = mo_alloc(sizeof(float) * n), l->r = mo_alloc(sizeof(float) * n);
    l->place = mo_alloc(sizeof(uint16_t) * n);
    return l->x && l->b && l->r && l->place ? MO_OK : MO_ERROR_MEMORY;
}

// Counts in halo[g + 1] become starts; room for the entries.
static mo_status allocate_halo(mo_level *l)
{
    int32_t groups = l->sweep.groups;
    for (int32_t g = 0; g < groups; g++) l->halo[g + 1] += l->halo[g];
    l->halo_row = mo_alloc(sizeof(int32_t) * (size_t)l->halo[groups]);
    l->halo_place = mo_alloc(sizeof(uint16_t) * (size_t)l->halo[groups]);
    return l->halo_row && l->halo_place ? MO_OK : MO_ERROR_MEMORY;
}

// ---- Finest level: groups are the tiles, neighbours come from the matrix ----

// Rows outside the group that its rows couple with, each once. row and place
// may be NULL to count only.
static int32_t finest_halo(const mo_level *l, const mo_csr *A, const int32_t (*coord)[3], int32_t g, int32_t *row,
                           uint16_t *place)
{
    uint8_t seen[MAX_BOX] = {0};
    int32_t first = l->sweep.group[g], end = l->sweep.group[g + 1], n = 0, side = l->A.side;
    for (int32_t i = first; i < end; i++)
        for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
            int32_t j = A->col[k];
            if (j >= first && j < end) continue;
            const int32_t *a = coord[i], *b = coord[j];
            int32_t at = l->place[i] + b[0] - a[0] + side * (b[1] - a[1] + side * (b[2] - a[2]));
            if (seen[at]) continue;
            seen[at] = 1;
            if (row) row[n] = j, place[n] = (uint16_t)at;
            n++;
        }
    return n;
}

// A constant stencil that is the seven-point Laplacian.
static bool is_seven_point(const mo_stencils *A) { return A->reach == 1 && A->regular[MO_CODES / 2] == 6; }

mo_status mo_level_create_finest(mo_level *l, const mo_csr *A, const int32_t (*coord)[3])
{
    l->finest = true;
    l->seven_point = is_seven_point(&l->A);
    MO_TRY(mo_sweep_create(A->rows, coord, MO_FINEST_TILE, true, &l->sweep));
    MO_TRY(allocate_vectors(l));
    int32_t side = l->A.side, reach = l->A.reach, groups = l->sweep.groups;
    l->halo = mo_calloc(sizeof(int32_t) * ((size_t)groups + 1));
    if (!l->halo) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(static) if (A->rows > SMALL)
    for (int32_t i = 0; i < A->rows; i++)
        l->place[i] = (uint16_t)((coord[i][0] & 7) + reach +
                                 side * ((coord[i][1] & 7) + reach + side * ((coord[i][2] & 7) + reach)));
#pragma omp parallel for schedule(dynamic, 8) if (A->rows > SMALL)
    for (int32_t g = 0; g < groups; g++) l->halo[g + 1] = finest_halo(l, A, coord, g, NULL, NULL);
    MO_TRY(allocate_halo(l));
#pragma omp parallel for schedule(dynamic, 8) if (A->rows > SMALL)
    for (int32_t g = 0; g < groups; g++)
        finest_halo(l, A, coord, g, l->halo_row + l->halo[g], l->halo_place + l->halo[g]);
    return MO_OK;
}

// ---- Coarse levels: groups are the blocks, neighbours come from the lattice
// ----

static mo_status sweep_blocks(const mo_lattice *lattice, mo_sweep *out)
{
    *out = (mo_sweep){.groups = lattice->blocks, .colours = 8};
    out->group = mo_alloc(sizeof(int32_t) * ((size_t)lattice->blocks + 1));
    out->colour = mo_calloc(sizeof(int32_t) * 9);
    out->member = mo_alloc(sizeof(int32_t) * (size_t)lattice->blocks);
    if (!out->group || !out->colour || !out->member) return MO_ERROR_MEMORY;
    int32_t n = 0;
    for (int32_t c = 0; c < 8; c++) {
        for (int32_t b = 0; b < lattice->blocks; b++) {
            const int32_t *t = lattice->block[b].tile;
            if (((t[0] & 1) | (t[1] & 1) << 1 | (t[2] & 1) << 2) == c) out->member[n++] = b;
        }
        out->colour[c + 1] = n;
    }
    for (int32_t b = 0; b < lattice->blocks; b++) out->group[b] = lattice->block[b].start;
    out->group[lattice->blocks] = mo_lattice_rows(lattice);
    return MO_OK;
}

// Cells of the block's piece within reach around it. row and place may be NULL
// to count only.
static int32_t coarse_halo(const mo_lattice *lattice, const mo_cells *c, int32_t *row, uint16_t *place)
{
    int32_t box[MO_COARSE_SIDE * MO_COARSE_SIDE * MO_COARSE_SIDE], n = 0, rows = __builtin_popcountll(c->mask);
    int32_t first[3] = {4 * c->tile[0] - 2, 4 * c->tile[1] - 2, 4 * c->tile[2] - 2};
    mo_lattice_box(lattice, c->piece, first, (int32_t[3]){MO_COARSE_SIDE, MO_COARSE_SIDE, MO_COARSE_SIDE}, box);
    for (int32_t p = 0; p < MO_COARSE_SIDE * MO_COARSE_SIDE * MO_COARSE_SIDE; p++) {
        if (box[p] < 0 || (box[p] >= c->start && box[p] < c->start + rows)) continue;
        if (row) row[n] = box[p], place[n] = (uint16_t)p;
        n++;
    }
    return n;
}

// The constant stencil by lines along x; the last entries of a line are 0.
static void set_lines(mo_level *l)
{
    for (int32_t k = 0; k < 25; k++) {
        const double *v = l->A.regular + 5 * k;
        float *line = l->line[l->lines], any = 0;
        for (int32_t x = 0; x < 5; x++) {
            line[x] = 5 * k + x == MO_CODES / 2 ? 0 : (float)v[x];
            any += fabsf(line[x]);
        }
        if (any == 0) continue;
        l->line_step[l->lines++] = (int16_t)(MO_COARSE_SIDE * (k % 5 - 2 + MO_COARSE_SIDE * (k / 5 - 2)) - 2);
    }
}

mo_status mo_level_create_coarse(mo_level *l)
{
    set_lines(l);
    const mo_lattice *lattice = &l->lattice;
    MO_TRY(sweep_blocks(lattice, &l->sweep));
    MO_TRY(allocate_vectors(l));
    int32_t blocks = lattice->blocks;
    l->halo = mo_calloc(sizeof(int32_t) * ((size_t)blocks + 1));
    if (!l->halo) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 8) if (l->A.rows > SMALL)
    for (int32_t b = 0; b < blocks; b++) {
        const mo_cells *c = &lattice->block[b];
        int32_t i = c->start;
        for (uint64_t m = c->mask; m; m &= m - 1) {
            int32_t bit = __builtin_ctzll(m);
            l->place[i++] = (uint16_t)((bit & 3) + 2 + MO_COARSE_SIDE * ((bit >> 2 & 3) + 2) +
                                       MO_COARSE_SIDE * MO_COARSE_SIDE * ((bit >> 4) + 2));
        }
        l->halo[b + 1] = coarse_halo(lattice, c, NULL, NULL);
    }
    MO_TRY(allocate_halo(l));
#pragma omp parallel for schedule(dynamic, 8) if (l->A.rows > SMALL)
    for (int32_t b = 0; b < blocks; b++)
        coarse_halo(lattice, &lattice->block[b], l->halo_row + l->halo[b], l->halo_place + l->halo[b]);
    return MO_OK;
}

// ---- Interpolation ----

typedef struct window {
    int32_t first[3], width[3], size; // coarse cells around a group
} window;

static window window_of(const mo_level *l, const int32_t cell[3], int32_t edge)
{
    window w = {.size = 1};
    for (int32_t a = 0; a < 3; a++) {
        int32_t low = cell[a] & ~(edge - 1);
        w.first[a] = l->flat[a] ? low : (low >> 1) - 1;
        w.width[a] = l->flat[a] ? edge : edge / 2 + 2;
        w.size *= w.width[a];
    }
    return w;
}

// Parents of a row: their weights and, for each corner of a coarse cell, their
// steps in a window.
static void set_parents(mo_level *l, const int32_t width[3])
{
    int32_t stride[3] = {1, width[0], width[0] * width[1]};
    l->parents = 1, l->weight[0] = 1;
    memset(l->step, 0, sizeof l->step);
    for (int32_t a = 0; a < 3; a++) {
        if (l->flat[a]) continue;
        for (int32_t k = 0; k < l->parents; k++) {
            l->weight[l->parents + k] = 0.25f * l->weight[k];
            l->weight[k] *= 0.75f;
            for (int32_t c = 0; c < 8; c++)
                l->step[c][l->parents + k] = (int16_t)(l->step[c][k] + (c >> a & 1 ? stride[a] : -stride[a]));
        }
        l->parents *= 2;
    }
}

static void set_row(mo_level *l, int32_t i, const window *w, int32_t number, const int32_t cell[3])
{
    int32_t place = 0, corner = 0, stride = 1;
    for (int32_t a = 0; a < 3; a++) {
        place += stride * ((l->flat[a] ? cell[a] : cell[a] >> 1) - w->first[a]);
        stride *= w->width[a];
        corner |= (cell[a] & 1) << a;
    }
    l->near[i] = (uint16_t)(number * w->size + place), l->corner[i] = (uint8_t)corner;
}

// Living pieces in a tile of the finest level, in the order of their first
// rows.
static int32_t tile_pieces(const mo_level *l, int32_t g, const uint8_t *alive, const int32_t *piece, int32_t *found)
{
    int32_t n = 0, last = -1;
    for (int32_t i = l->sweep.group[g]; i < l->sweep.group[g + 1]; i++) {
        if (piece[i] == last || !alive[piece[i]]) continue;
        last = piece[i];
        int32_t k = 0;
        while (k < n && found[k] != last) k++;
        if (k == n) found[n++] = last;
    }
    return n;
}

static void connect_tile(mo_level *l, int32_t g, const mo_lattice *next, const uint8_t *alive,
                         const int32_t (*coord)[3], const int32_t *piece)
{
    int32_t found[MAX_PIECES], n = tile_pieces(l, g, alive, piece, found), k = 0;
    window w = window_of(l, coord[l->sweep.group[g]], MO_FINEST_TILE);
    for (int32_t q = 0; q < n; q++)
        mo_lattice_box(next, found[q], w.first, w.width, l->window_row + l->window[g] + q * w.size);
    for (int32_t i = l->sweep.group[g]; i < l->sweep.group[g + 1]; i++) {
        l->near[i] = MO_NO_PARENT, l->corner[i] = 0;
        if (!alive[piece[i]]) continue;
        if (found[k] != piece[i])
            for (k = 0; found[k] != piece[i];) k++;
        set_row(l, i, &w, k, coord[i]);
    }
}

static void connect_block(mo_level *l, int32_t b, const mo_lattice *next, const uint8_t *alive)
{
    const mo_cells *c = &l->lattice.block[b];
    int32_t i = c->start, origin[3] = {4 * c->tile[0], 4 * c->tile[1], 4 * c->tile[2]};
    window w = window_of(l, origin, MO_COARSE_TILE);
    if (alive[c->piece]) mo_lattice_box(next, c->piece, w.first, w.width, l->window_row + l->window[b]);
    for (uint64_t m = c->mask; m; m &= m - 1, i++) {
        int32_t bit = __builtin_ctzll(m),
                cell[3] = {origin[0] + (bit & 3), origin[1] + (bit >> 2 & 3), origin[2] + (bit >> 4)};
        l->near[i] = MO_NO_PARENT, l->corner[i] = 0;
        if (alive[c->piece]) set_row(l, i, &w, 0, cell);
    }
}

mo_status mo_level_connect(mo_level *l, const mo_lattice *next, const uint8_t *alive, const int32_t (*coord)[3],
                           const int32_t *piece)
{
    int32_t groups = l->sweep.groups, edge = coord ? MO_FINEST_TILE : MO_COARSE_TILE;
    window w = window_of(l, (const int32_t[3]){0, 0, 0}, edge);
    set_parents(l, w.width);
    l->near = mo_alloc(sizeof(uint16_t) * (size_t)l->A.rows);
    l->corner = mo_alloc((size_t)l->A.rows);
    l->window = mo_calloc(sizeof(int32_t) * ((size_t)groups + 1));
    if (!l->near || !l->corner || !l->window) return MO_ERROR_MEMORY;
    for (int32_t g = 0; g < groups; g++) {
        int32_t found[MAX_PIECES];
        int32_t n = coord ? tile_pieces(l, g, alive, piece, found) : alive[l->lattice.block[g].piece];
        l->window[g + 1] = l->window[g] + n * w.size;
    }
    l->window_row = mo_alloc(sizeof(int32_t) * (size_t)l->window[groups]);
    if (!l->window_row) return MO_ERROR_MEMORY;
#pragma omp parallel for schedule(dynamic, 8) if (l->A.rows > SMALL)
    for (int32_t g = 0; g < groups; g++) {
        if (coord)
            connect_tile(l, g, next, alive, coord, piece);
        else
            connect_block(l, g, next, alive);
    }
    return MO_OK;
}
