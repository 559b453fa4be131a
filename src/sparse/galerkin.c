// The Galerkin product P^T A P on lattices: every coarse block gathers the fine rows in the support of its cells.
//
// For a fine row i the row of A P is summed in a window of 4^3 coarse cells around i; the coarse rows that i
// interpolates from add their share of it. Windows are rows of four floats along x. Coarse rows reach two cells: the
// support of a coarse cell is 4 fine cells wide and neighbours of its last cell belong to the next but one.
#include "sparse/lattice.h"
#include <string.h>

typedef float vec4 __attribute__((vector_size(16)));
typedef float vec4_unaligned __attribute__((vector_size(16), aligned(4)));

enum { LINE = 8, PLANE = 5 * LINE, ROW = 5 * PLANE }; // sums of one coarse row: 5 x 5 x 5, lines padded to 8

// One axis of the interpolation. `odd`: parity of the fine cell; offset: to the neighbour, -2..2, at [offset + 2].
// Window places count from coarse cell I - 1 (odd) or I - 2 (even), where I is the fine cell's own coarse cell.
typedef struct axis_table {
    int32_t places;            // parents along the axis: 2, flat 1
    int32_t place[2][5][2];    // window places of the parents of the neighbour: near, far
    float weight[2];           // near, far
    int32_t shift[2][2];       // [odd][near, far]: window start minus first column (-2) of that parent's row
    int32_t cell[2][2];        // [odd][near, far]: coarse cell minus I
    int32_t first[2], last[2]; // window places in use for this parity
} axis_table;

static void axis_create(bool flat, int32_t reach, axis_table *t)
{
    *t = (axis_table){.places = flat ? 1 : 2, .weight = {flat ? 1 : 0.75f, 0.25f}};
    for (int32_t odd = 0; odd < 2; odd++) {
        int32_t side = odd ? 1 : -1, start = flat || odd ? -1 : -2;
        t->cell[odd][0] = 0, t->cell[odd][1] = side;
        for (int32_t k = 0; k < 2; k++) t->shift[odd][k] = start - (t->cell[odd][k] - 2);
        t->first[odd] = flat ? 1 : reach == 2 ? 0 : odd ? 0 : 1;
        t->last[odd] = flat ? 1 : reach == 2 ? 3 : odd ? 2 : 3;
        for (int32_t d = -2; d <= 2; d++) {
            int32_t fine = odd + d, near = fine >> 1, far = near + (fine & 1 ? 1 : -1);
            t->place[odd][d + 2][0] = flat ? 1 : near - start;
            t->place[odd][d + 2][1] = flat ? 1 : far - start;
        }
    }
}

typedef struct product {
    const mo_stencils *A;
    const mo_lattice *fine, *coarse;
    const mo_transfer *P;
    axis_table axis[3];
    vec4 line[2][5]; // x interpolation of a neighbour as a window line
    mo_stencils *out;
} product;

// Row i of A P in the window AP[z][y].
static inline void window_row(const product *p, int32_t i, const int32_t odd[3], vec4 AP[4][4])
{
    const mo_stencils *A = p->A;
    const axis_table *Y = &p->axis[1], *Z = &p->axis[2];
    memset(AP, 0, sizeof(vec4) * 16);
    for (int64_t k = A->row[i]; k < A->row[i + 1]; k++) {
        int32_t d[3];
        if (A->code) {
            int32_t code = A->code[k];
            d[0] = code % 5, d[1] = code / 5 % 5, d[2] = code / 25;
        } else {
            const int32_t *a = A->coord[i], *b = A->coord[A->col[k]];
            for (int32_t axis = 0; axis < 3; axis++) d[axis] = b[axis] - a[axis] + 2;
        }
        vec4 line = A->val[k] * p->line[odd[0]][d[0]];
        for (int32_t z = 0; z < Z->places; z++)
            for (int32_t y = 0; y < Y->places; y++)
                AP[Z->place[odd[2]][d[2]][z]][Y->place[odd[1]][d[1]][y]] += Z->weight[z] * Y->weight[y] * line;
    }
}

// Adds weight * AP to the sums of one coarse row.
static inline void add_window(const product *p, const int32_t odd[3], const int32_t shift[3], float weight,
                              vec4 AP[4][4], float *sum)
{
    for (int32_t z = p->axis[2].first[odd[2]]; z <= p->axis[2].last[odd[2]]; z++)
        for (int32_t y = p->axis[1].first[odd[1]]; y <= p->axis[1].last[odd[1]]; y++) {
            vec4_unaligned *s = (vec4_unaligned *)(sum + (z + shift[2]) * PLANE + (y + shift[1]) * LINE + shift[0]);
            *s += weight * AP[z][y];
        }
}

// Fine row i at `cell` gives to the coarse rows of the tile that starts at coarse cell `origin`.
static void add_row(const product *p, int32_t i, const int32_t cell[3], const int32_t origin[3], float *sums)
{
    int32_t odd[3], first[3];
    for (int32_t a = 0; a < 3; a++) {
        odd[a] = p->P->flat[a] ? 1 : cell[a] & 1;
        first[a] = (p->P->flat[a] ? cell[a] : cell[a] >> 1) - origin[a];
    }
    vec4 AP[4][4];
    window_row(p, i, odd, AP);
    const axis_table *X = &p->axis[0], *Y = &p->axis[1], *Z = &p->axis[2];
    for (int32_t z = 0; z < Z->places; z++) {
        int32_t cz = first[2] + Z->cell[odd[2]][z];
        if (cz & ~3) continue;
        for (int32_t y = 0; y < Y->places; y++) {
            int32_t cy = first[1] + Y->cell[odd[1]][y];
            if (cy & ~3) continue;
            for (int32_t x = 0; x < X->places; x++) {
                int32_t cx = first[0] + X->cell[odd[0]][x];
                if (cx & ~3) continue;
                int32_t shift[3] = {X->shift[odd[0]][x], Y->shift[odd[1]][y], Z->shift[odd[2]][z]};
                add_window(p, odd, shift, X->weight[x] * Y->weight[y] * Z->weight[z], AP,
                           sums + ROW * (cx + 4 * cy + 16 * cz));
            }
        }
    }
}

// Fine blocks along an axis that meet the support of a coarse tile, and the cells of them that do.
static int32_t support(const product *p, int32_t axis, int32_t tile, int32_t block, int32_t *first, int32_t *last)
{
    *first = 0, *last = 3;
    if (p->P->flat[axis]) return tile;
    if (block == 0) *first = 3;
    if (block == 3) *last = 0;
    return 2 * tile - 1 + block;
}

// All sums of a coarse block.
static void add_support(const product *p, const mo_cells *c, float *sums)
{
    int32_t origin[3], n[3], first[3], last[3], tile[3];
    for (int32_t a = 0; a < 3; a++) origin[a] = 4 * c->tile[a], n[a] = p->P->flat[a] ? 1 : 4;
    for (int32_t z = 0; z < n[2]; z++) {
        tile[2] = support(p, 2, c->tile[2], z, &first[2], &last[2]);
        for (int32_t y = 0; y < n[1]; y++) {
            tile[1] = support(p, 1, c->tile[1], y, &first[1], &last[1]);
            for (int32_t x = 0; x < n[0]; x++) {
                tile[0] = support(p, 0, c->tile[0], x, &first[0], &last[0]);
                int32_t f = mo_lattice_find(p->fine, tile, c->piece);
                if (f < 0) continue;
                const mo_cells *b = &p->fine->block[f];
                int32_t place = b->start;
                for (uint64_t m = b->mask; m; m &= m - 1, place++) {
                    int32_t bit = __builtin_ctzll(m), at[3] = {bit & 3, bit >> 2 & 3, bit >> 4};
                    if (at[0] < first[0] || at[0] > last[0] || at[1] < first[1] || at[1] > last[1] ||
                        at[2] < first[2] || at[2] > last[2])
                        continue;
                    int32_t cell[3] = {4 * tile[0] + at[0], 4 * tile[1] + at[1], 4 * tile[2] + at[2]};
                    add_row(p, p->fine->order ? p->fine->order[place] : place, cell, origin, sums);
                }
            }
        }
    }
}

// Rows of the coarse cells within two cells of a block: index[z][y][x] from -2, -1 where there is none.
static void neighbour_rows(const mo_lattice *l, const mo_cells *c, int32_t index[8][8][8])
{
    memset(index, 0xff, sizeof(int32_t) * 512);
    for (int32_t t = 0; t < 27; t++) {
        int32_t o[3] = {t % 3 - 1, t / 3 % 3 - 1, t / 9 - 1};
        int32_t tile[3] = {c->tile[0] + o[0], c->tile[1] + o[1], c->tile[2] + o[2]};
        int32_t b = mo_lattice_find(l, tile, c->piece);
        if (b < 0) continue;
        int32_t row = l->block[b].start;
        for (uint64_t m = l->block[b].mask; m; m &= m - 1, row++) {
            int32_t bit = __builtin_ctzll(m);
            uint32_t x = (uint32_t)(4 * o[0] + (bit & 3) + 2), y = (uint32_t)(4 * o[1] + (bit >> 2 & 3) + 2),
                     z = (uint32_t)(4 * o[2] + (bit >> 4) + 2);
            if (x < 8 && y < 8 && z < 8) index[z][y][x] = row;
        }
    }
}

// Offsets an entry can have. From rows that reach one cell along one axis at a time, a coarse row reaches two cells
// along at most one axis.
static int32_t possible_offsets(int32_t reach, int32_t offset[MO_STENCIL][3])
{
    int32_t n = 0;
    for (int32_t code = 0; code < MO_STENCIL; code++) {
        int32_t d[3] = {code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2};
        int32_t wide = (d[0] * d[0] == 4) + (d[1] * d[1] == 4) + (d[2] * d[2] == 4);
        if (reach == 1 && wide > 1) continue;
        for (int32_t a = 0; a < 3; a++) offset[n][a] = d[a];
        n++;
    }
    return n;
}

static void count_entries(const product *p, int32_t offsets, const int32_t (*offset)[3], int64_t *row)
{
    const mo_lattice *l = p->coarse;
#pragma omp parallel for schedule(dynamic, 8) if (l->blocks > 8)
    for (int32_t b = 0; b < l->blocks; b++) {
        int32_t index[8][8][8], i = l->block[b].start;
        neighbour_rows(l, &l->block[b], index);
        for (uint64_t m = l->block[b].mask; m; m &= m - 1, i++) {
            int32_t bit = __builtin_ctzll(m), n = 0;
            const int32_t *centre = &index[(bit >> 4) + 2][(bit >> 2 & 3) + 2][(bit & 3) + 2];
            for (int32_t k = 0; k < offsets; k++) n += centre[64 * offset[k][2] + 8 * offset[k][1] + offset[k][0]] >= 0;
            row[i + 1] = n;
        }
    }
}

// Writes the sums of one row as entries; sums that vanish leave entries 0 on the diagonal at the end.
static void write_row(mo_stencils *out, int32_t i, int32_t offsets, const int32_t (*offset)[3], const float *sum,
                      const int32_t *centre)
{
    int64_t place = out->row[i], end = out->row[i + 1];
    for (int32_t k = 0; k < offsets; k++) {
        const int32_t *d = offset[k];
        float value = sum[(d[2] + 2) * PLANE + (d[1] + 2) * LINE + d[0] + 2];
        int32_t column = centre[64 * d[2] + 8 * d[1] + d[0]];
        if (value == 0 || column < 0) continue;
        ((int32_t *)out->col)[place] = column;
        out->val[place] = value;
        out->code[place++] = (uint8_t)(d[0] + 2 + 5 * (d[1] + 2) + 25 * (d[2] + 2));
    }
    for (; place < end; place++) {
        ((int32_t *)out->col)[place] = i;
        out->val[place] = 0;
        out->code[place] = MO_STENCIL / 2;
    }
}

static void fill_entries(const product *p, int32_t offsets, const int32_t (*offset)[3])
{
    const mo_lattice *l = p->coarse;
#pragma omp parallel for schedule(dynamic, 1) if (l->blocks > 1)
    for (int32_t b = 0; b < l->blocks; b++) {
        int32_t index[8][8][8], i = l->block[b].start;
        float sums[64 * ROW];
        for (uint64_t m = l->block[b].mask; m; m &= m - 1)
            memset(sums + ROW * __builtin_ctzll(m), 0, sizeof(float) * ROW);
        add_support(p, &l->block[b], sums);
        neighbour_rows(l, &l->block[b], index);
        for (uint64_t m = l->block[b].mask; m; m &= m - 1, i++) {
            int32_t bit = __builtin_ctzll(m);
            write_row(p->out, i, offsets, offset, sums + ROW * bit,
                      &index[(bit >> 4) + 2][(bit >> 2 & 3) + 2][(bit & 3) + 2]);
        }
    }
}

mo_status mo_galerkin(const mo_stencils *A, const mo_lattice *fine, const mo_lattice *coarse, const mo_transfer *P,
                      mo_stencils *out)
{
    product p = {.A = A, .fine = fine, .coarse = coarse, .P = P, .out = out};
    for (int32_t a = 0; a < 3; a++) axis_create(P->flat[a], A->reach, &p.axis[a]);
    for (int32_t odd = 0; odd < 2; odd++)
        for (int32_t d = 0; d < 5; d++)
            for (int32_t k = 0; k < p.axis[0].places; k++) {
                int32_t place = p.axis[0].place[odd][d][k];
                if (place >= 0 && place < 4) p.line[odd][d][place] += p.axis[0].weight[k];
            }
    int32_t offset[MO_STENCIL][3], offsets = possible_offsets(A->reach, offset), rows = mo_lattice_rows(coarse);
    *out = (mo_stencils){.rows = rows, .reach = 2};
    int64_t *row = mo_calloc(sizeof(int64_t) * ((size_t)rows + 1));
    if (!row) return MO_ERROR_MEMORY;
    out->row = row;
    count_entries(&p, offsets, offset, row);
    for (int32_t i = 0; i < rows; i++) row[i + 1] += row[i];
    int32_t *col = mo_alloc(sizeof(int32_t) * (size_t)row[rows]);
    out->val = mo_alloc(sizeof(float) * (size_t)row[rows]);
    out->code = mo_alloc((size_t)row[rows]);
    out->col = col;
    if (!col || !out->val || !out->code) {
        mo_free(row), mo_free(col), mo_free(out->val), mo_free(out->code);
        *out = (mo_stencils){0};
        return MO_ERROR_MEMORY;
    }
    fill_entries(&p, offsets, offset);
    return MO_OK;
}
