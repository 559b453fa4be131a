// The Galerkin product P^T A P on lattices: every coarse block gathers the fine
// rows in the support of its cells.
//
// For a fine row i the row of A P is summed in a window of 4^3 coarse cells
// around i; the coarse rows that i interpolates from add their share of it.
// Coarse rows whose whole support is regular are the next constant stencil.
// Windows are rows of four floats along x. Coarse rows reach two cells: the
// support of a coarse cell is 4 fine cells wide and neighbours of its last cell
// belong to the next but one.
#include "sparse/stencil.h"
#include <string.h>

typedef float vec4 __attribute__((vector_size(16)));
typedef float vec4_unaligned __attribute__((vector_size(16), aligned(4)));

enum { LINE = 8, PLANE = 5 * LINE, ROW = 5 * PLANE }; // sums of one coarse row: 5 x 5 x 5, lines padded to 8

// One axis of the interpolation. `odd`: parity of the fine cell; offset: to the
// neighbour, -2..2, at [offset + 2]. Window places count from coarse cell I - 1
// (odd) or I - 2 (even), where I is the fine cell's own coarse cell.
typedef struct axis_table {
    int32_t places;            // parents along the axis: 2, flat 1
    int32_t place[2][5][2];    // window places of the parents of the neighbour: near, far
    float weight[2];           // near, far
    int32_t shift[2][2];       // [odd][near, far]: window start minus first column (-2)
                               // of that parent's row
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
    const mo_lattice *fine;
    mo_lattice *coarse;
    const bool *flat;
    axis_table axis[3];
    vec4 line[2][5];      // x interpolation of a neighbour as a window line
    uint8_t (*offset)[3]; // [2 * middle + 1] step of A + middle -> offset + 2
                          // along each axis
    int32_t middle;
    mo_stencils *out;
} product;

static inline void add_entry(const product *p, float value, const uint8_t d[3], const int32_t odd[3], vec4 AP[4][4])
{
    const axis_table *Y = &p->axis[1], *Z = &p->axis[2];
    vec4 line = value * p->line[odd[0]][d[0]];
    for (int32_t z = 0; z < Z->places; z++)
        for (int32_t y = 0; y < Y->places; y++)
            AP[Z->place[odd[2]][d[2]][z]][Y->place[odd[1]][d[1]][y]] += Z->weight[z] * Y->weight[y] * line;
}

// Row i of A P in the window AP[z][y].
static inline void window_row(const product *p, int32_t i, const int32_t odd[3], vec4 AP[4][4])
{
    const mo_stencils *A = p->A;
    int32_t q = A->pattern[i];
    memset(AP, 0, sizeof(vec4) * 16);
    add_entry(p, A->diagonal[q], (const uint8_t[3]){2, 2, 2}, odd, AP);
    for (int64_t k = A->start[q]; k < A->start[q + 1]; k++)
        add_entry(p, A->val[k], p->offset[A->step[k] + p->middle], odd, AP);
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

// Fine row i at `cell` gives to the coarse rows of the tile that starts at
// coarse cell `origin`.
static void add_row(const product *p, int32_t i, const int32_t cell[3], const int32_t origin[3], float *sums)
{
    int32_t odd[3], first[3];
    for (int32_t a = 0; a < 3; a++) {
        odd[a] = p->flat[a] ? 1 : cell[a] & 1;
        first[a] = (p->flat[a] ? cell[a] : cell[a] >> 1) - origin[a];
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

// Fine blocks along an axis that meet the support of a coarse tile, and the
// cells of them that do.
static int32_t support(const product *p, int32_t axis, int32_t tile, int32_t block, int32_t *first, int32_t *last)
{
    *first = 0, *last = 3;
    if (p->flat[axis]) return tile;
    if (block == 0) *first = 3;
    if (block == 3) *last = 0;
    return 2 * tile - 1 + block;
}

// Calls for every fine block in the support of a coarse block.
typedef void (*block_fn)(const product *p, const mo_cells *c, const mo_cells *b, const int32_t first[3],
                         const int32_t last[3], void *result);

static void each_support(const product *p, const mo_cells *c, block_fn call, void *result)
{
    int32_t n[3], first[3], last[3], tile[3];
    for (int32_t a = 0; a < 3; a++) n[a] = p->flat[a] ? 1 : 4;
    for (int32_t z = 0; z < n[2]; z++) {
        tile[2] = support(p, 2, c->tile[2], z, &first[2], &last[2]);
        for (int32_t y = 0; y < n[1]; y++) {
            tile[1] = support(p, 1, c->tile[1], y, &first[1], &last[1]);
            for (int32_t x = 0; x < n[0]; x++) {
                tile[0] = support(p, 0, c->tile[0], x, &first[0], &last[0]);
                int32_t f = mo_lattice_find(p->fine, tile, c->piece);
                if (f >= 0) call(p, c, &p->fine->block[f], first, last, result);
            }
        }
    }
}

// ---- Regular rows ----

// Bit x of line[z][y]: fine cell x, y, z of the support of a coarse block, from
// its first cell, is regular.
static void add_regular_lines(const product *p, const mo_cells *c, const mo_cells *b, const int32_t first[3],
                              const int32_t last[3], void *result)
{
    uint16_t(*line)[10] = result;
    int32_t o[3];
    for (int32_t a = 0; a < 3; a++) o[a] = 4 * b->tile[a] - (p->flat[a] ? 4 * c->tile[a] : 8 * c->tile[a] - 1);
    for (int32_t z = first[2]; z <= last[2]; z++)
        for (int32_t y = first[1]; y <= last[1]; y++) {
            uint32_t bits = (uint32_t)(b->regular >> (4 * y + 16 * z) & 15);
            bits &= (15u << first[0]) & (15u >> (3 - last[0]));
            line[z + o[2]][y + o[1]] |= (uint16_t)(o[0] < 0 ? bits >> -o[0] : bits << o[0]);
        }
}

// Coarse cells whose children are all there and regular.
static uint64_t regular_cells(const product *p, const mo_cells *c)
{
    uint16_t line[10][10] = {0};
    each_support(p, c, add_regular_lines, line);
    int32_t n[3], stride[3];
    for (int32_t a = 0; a < 3; a++) n[a] = p->flat[a] ? 1 : 4, stride[a] = p->flat[a] ? 1 : 2;
    uint64_t regular = 0;
    for (int32_t yz = 0; yz < 16; yz++) {
        uint32_t all = 0xffff;
        for (int32_t z = 0; z < n[2]; z++)
            for (int32_t y = 0; y < n[1]; y++) all &= line[stride[2] * (yz >> 2) + z][stride[1] * (yz & 3) + y];
        for (int32_t x = 1; x < n[0]; x *= 2) all &= all >> x;
        for (int32_t x = 0; x < 4; x++) regular |= (uint64_t)(all >> stride[0] * x & 1) << (x + 4 * yz);
    }
    return regular & c->mask;
}

// The constant stencil of the next level: K_de = sum_i w(i, 0) w(i + d, e)
// along each axis.
static void coarsen_stencil(const double fine[MO_CODES], const bool flat[3], double coarse[MO_CODES])
{
    double K[2][5][5] = {0};
    K[1][2][2] = 1;
    for (int32_t d = -2; d <= 2; d++)
        for (int32_t i = -1; i <= 2; i++) {
            int32_t j = i + d, near = j >> 1, far = near + (j & 1 ? 1 : -1);
            double w = i == 0 || i == 1 ? 0.75 : 0.25;
            if (near >= -2 && near <= 2) K[0][d + 2][near + 2] += 0.75 * w;
            if (far >= -2 && far <= 2) K[0][d + 2][far + 2] += 0.25 * w;
        }
    for (int32_t e = 0; e < MO_CODES; e++) {
        coarse[e] = 0;
        for (int32_t d = 0; d < MO_CODES; d++)
            coarse[e] +=
                fine[d] * K[flat[0]][d % 5][e % 5] * K[flat[1]][d / 5 % 5][e / 5 % 5] * K[flat[2]][d / 25][e / 25];
    }
}

// ---- Other rows ----

static void add_block(const product *p, const mo_cells *c, const mo_cells *b, const int32_t first[3],
                      const int32_t last[3], void *sums)
{
    int32_t place = b->start, origin[3] = {4 * c->tile[0], 4 * c->tile[1], 4 * c->tile[2]};
    for (uint64_t m = b->mask; m; m &= m - 1, place++) {
        int32_t bit = __builtin_ctzll(m), at[3] = {bit & 3, bit >> 2 & 3, bit >> 4};
        if (at[0] < first[0] || at[0] > last[0] || at[1] < first[1] || at[1] > last[1] || at[2] < first[2] ||
            at[2] > last[2])
            continue;
        int32_t cell[3] = {4 * b->tile[0] + at[0], 4 * b->tile[1] + at[1], 4 * b->tile[2] + at[2]};
        add_row(p, p->fine->order ? p->fine->order[place] : place, cell, origin, sums);
    }
}

// Rows of the coarse cells within two cells of a block.
static void neighbour_rows(const mo_lattice *l, const mo_cells *c, int32_t *box)
{
    int32_t first[3], width[3] = {MO_COARSE_SIDE, MO_COARSE_SIDE, MO_COARSE_SIDE};
    for (int32_t a = 0; a < 3; a++) first[a] = 4 * c->tile[a] - MO_COARSE_REACH;
    mo_lattice_box(l, c->piece, first, width, box);
}

static int32_t box_place(int32_t bit)
{
    return (bit & 3) + 2 + MO_COARSE_SIDE * ((bit >> 2 & 3) + 2 + MO_COARSE_SIDE * ((bit >> 4) + 2));
}

typedef struct candidate { // an entry that a row may have
    int32_t step, sum;     // in the box; in the sums of a row
} candidate;

// From rows that reach one cell along one axis at a time, a coarse row reaches
// two cells along at most one axis.
static int32_t candidates(int32_t reach, candidate *out)
{
    int32_t n = 0;
    for (int32_t code = 0; code < MO_CODES; code++) {
        int32_t d[3] = {code % 5 - 2, code / 5 % 5 - 2, code / 25 - 2};
        int32_t wide = (d[0] * d[0] == 4) + (d[1] * d[1] == 4) + (d[2] * d[2] == 4);
        if (code == MO_CODES / 2 || (reach == 1 && wide > 1)) continue;
        out[n].step = d[0] + MO_COARSE_SIDE * (d[1] + MO_COARSE_SIDE * d[2]);
        out[n++].sum = (d[2] + 2) * PLANE + (d[1] + 2) * LINE + d[0] + 2;
    }
    return n;
}

// Marks the regular rows (pattern 0) and counts the entries of the others in
// pattern[].
static void count_entries(const product *p, int32_t n, const candidate *candidate)
{
    mo_lattice *l = p->coarse;
#pragma omp parallel for schedule(dynamic, 8) if (l->blocks > 8)
    for (int32_t b = 0; b < l->blocks; b++) {
        mo_cells *c = &l->block[b];
        int32_t box[MO_COARSE_SIDE * MO_COARSE_SIDE * MO_COARSE_SIDE], i = c->start;
        c->regular = regular_cells(p, c);
        if (c->regular != c->mask) neighbour_rows(l, c, box);
        for (uint64_t m = c->mask; m; m &= m - 1, i++) {
            int32_t bit = __builtin_ctzll(m), entries = 0;
            if (!(c->regular >> bit & 1)) {
                const int32_t *centre = box + box_place(bit);
                for (int32_t k = 0; k < n; k++) entries += centre[candidate[k].step] >= 0;
                entries++; // never 0: that is the mark of a regular row
            }
            p->out->pattern[i] = entries;
        }
    }
}

// Writes the sums of one row; sums that vanish leave entries 0 at the end.
static void write_row(mo_stencils *out, int32_t i, int32_t n, const candidate *candidate, const float *sum,
                      const int32_t *centre)
{
    int32_t q = out->pattern[i];
    int64_t at = out->start[q];
    for (int32_t k = 0; k < n; k++) {
        float value = sum[candidate[k].sum];
        if (value == 0 || centre[candidate[k].step] < 0) continue;
        out->step[at] = (int16_t)candidate[k].step;
        out->val[at++] = value;
    }
    for (; at < out->start[q + 1]; at++) out->step[at] = 0, out->val[at] = 0;
    float diagonal = sum[2 * PLANE + 2 * LINE + 2];
    out->diagonal[q] = diagonal, out->inverse[q] = diagonal > 0 ? 1 / diagonal : 0;
}

static void fill_entries(const product *p, int32_t n, const candidate *candidate)
{
    const mo_lattice *l = p->coarse;
#pragma omp parallel for schedule(dynamic, 1) if (l->blocks > 1)
    for (int32_t b = 0; b < l->blocks; b++) {
        const mo_cells *c = &l->block[b];
        if (c->regular == c->mask) continue;
        int32_t box[MO_COARSE_SIDE * MO_COARSE_SIDE * MO_COARSE_SIDE], i = c->start;
        float sums[64 * ROW];
        for (uint64_t m = c->mask; m; m &= m - 1) memset(sums + ROW * __builtin_ctzll(m), 0, sizeof(float) * ROW);
        each_support(p, c, add_block, sums);
        neighbour_rows(l, c, box);
        for (uint64_t m = c->mask; m; m &= m - 1, i++) {
            int32_t bit = __builtin_ctzll(m);
            if (!(c->regular >> bit & 1)) write_row(p->out, i, n, candidate, sums + ROW * bit, box + box_place(bit));
        }
    }
}

// Numbers the patterns, counted entries become starts.
static mo_status number_patterns(mo_stencils *out)
{
    int64_t entries = 0;
    out->patterns = 1;
    for (int32_t i = 0; i < out->rows; i++)
        if (out->pattern[i]) entries += out->pattern[i] - 1, out->patterns++;
    MO_TRY(mo_stencils_allocate(out, entries));
    int32_t q = 1;
    for (int32_t i = 0; i < out->rows; i++)
        if (out->pattern[i]) {
            out->start[q + 1] = out->start[q] + out->pattern[i] - 1;
            out->pattern[i] = q++;
        }
    return MO_OK;
}

// Tables of the axes, of lines along x, and of steps.
static void product_tables(product *p, uint8_t (*offset)[3])
{
    for (int32_t a = 0; a < 3; a++) axis_create(p->flat[a], p->A->reach, &p->axis[a]);
    for (int32_t odd = 0; odd < 2; odd++)
        for (int32_t d = 0; d < 5; d++)
            for (int32_t k = 0; k < p->axis[0].places; k++) {
                int32_t place = p->axis[0].place[odd][d][k];
                if (place >= 0 && place < 4) p->line[odd][d][place] += p->axis[0].weight[k];
            }
    int32_t side = p->A->side;
    p->offset = offset, p->middle = 2 + side * (2 + side * 2);
    for (int32_t code = 0; code < MO_CODES; code++) {
        int32_t d[3] = {code % 5, code / 5 % 5, code / 25};
        for (int32_t a = 0; a < 3; a++) offset[d[0] + side * (d[1] + side * d[2])][a] = (uint8_t)d[a];
    }
}

mo_status mo_galerkin(const mo_stencils *A, const mo_lattice *fine, const bool flat[3], mo_lattice *coarse,
                      mo_stencils *out)
{
    enum { WIDEST = 12 }; // side of a box
    uint8_t offset[4 * (1 + WIDEST + WIDEST * WIDEST) + 1][3];
    product p = {.A = A, .fine = fine, .coarse = coarse, .flat = flat, .out = out};
    product_tables(&p, offset);
    candidate entry[MO_CODES];
    int32_t n = candidates(A->reach, entry), rows = mo_lattice_rows(coarse);
    *out = (mo_stencils){.rows = rows, .reach = MO_COARSE_REACH, .side = MO_COARSE_SIDE};
    coarsen_stencil(A->regular, flat, out->regular);
    out->pattern = mo_alloc(sizeof(int32_t) * (size_t)rows);
    if (!out->pattern) return MO_ERROR_MEMORY;
    count_entries(&p, n, entry);
    mo_status status = number_patterns(out);
    if (status == MO_OK)
        fill_entries(&p, n, entry);
    else
        mo_stencils_destroy(out);
    return status;
}
