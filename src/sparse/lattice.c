// Blocks of lattice cells in a hash table, and the cells of the next coarser level.
#include "sparse/lattice.h"
#include "base/parallel.h"
#include <string.h>

void mo_lattice_destroy(mo_lattice *lattice)
{
    mo_free(lattice->block), mo_free(lattice->slot), mo_free(lattice->order);
    *lattice = (mo_lattice){0};
}

static uint32_t hash_of(const int32_t tile[3], int32_t piece)
{
    return mo_hash((uint32_t)tile[0], (uint32_t)tile[1], (uint32_t)tile[2]) ^ ((uint32_t)piece * 0x9e3779b1u);
}

// The slot that holds the block, or the empty one where it belongs.
static int64_t slot_of(const mo_lattice *l, const int32_t tile[3], int32_t piece)
{
    int64_t s = hash_of(tile, piece) & (uint64_t)(l->slots - 1);
    while (l->slot[s] >= 0) {
        const mo_cells *b = &l->block[l->slot[s]];
        if (b->piece == piece && b->tile[0] == tile[0] && b->tile[1] == tile[1] && b->tile[2] == tile[2]) break;
        s = (s + 1) & (l->slots - 1);
    }
    return s;
}

int32_t mo_lattice_find(const mo_lattice *l, const int32_t tile[3], int32_t piece)
{
    return l->slots ? l->slot[slot_of(l, tile, piece)] : -1;
}

static bool grow_table(mo_lattice *l)
{
    int64_t slots = l->slots ? 2 * l->slots : 256;
    int32_t *slot = mo_alloc(sizeof(int32_t) * (size_t)slots);
    if (!slot) return false;
    memset(slot, 0xff, sizeof(int32_t) * (size_t)slots);
    mo_free(l->slot);
    l->slot = slot, l->slots = slots;
    for (int32_t b = 0; b < l->blocks; b++) slot[slot_of(l, l->block[b].tile, l->block[b].piece)] = b;
    return true;
}

// Finds or makes the block; -1 = no memory.
static int32_t want_block(mo_lattice *l, const int32_t tile[3], int32_t piece)
{
    if (2 * (int64_t)l->blocks >= l->slots && !grow_table(l)) return -1;
    int64_t s = slot_of(l, tile, piece);
    if (l->slot[s] < 0) {
        if (!mo_reserve((void **)&l->block, &l->capacity, l->blocks + 1, sizeof(mo_cells))) return -1;
        l->block[l->blocks] = (mo_cells){.tile = {tile[0], tile[1], tile[2]}, .piece = piece};
        l->slot[s] = l->blocks++;
    }
    return l->slot[s];
}

static void number_rows(mo_lattice *l)
{
    int32_t start = 0;
    for (int32_t b = 0; b < l->blocks; b++) {
        l->block[b].start = start;
        start += __builtin_popcountll(l->block[b].mask);
    }
}

int32_t mo_lattice_rows(const mo_lattice *l)
{
    return l->blocks ? l->block[l->blocks - 1].start + __builtin_popcountll(l->block[l->blocks - 1].mask) : 0;
}

void mo_lattice_coordinates(const mo_lattice *l, int32_t (*coord)[3], int32_t *piece)
{
    for (int32_t b = 0; b < l->blocks; b++) {
        const mo_cells *c = &l->block[b];
        int32_t row = c->start;
        for (uint64_t m = c->mask; m; m &= m - 1, row++) {
            int32_t bit = __builtin_ctzll(m);
            coord[row][0] = 4 * c->tile[0] + (bit & 3);
            coord[row][1] = 4 * c->tile[1] + (bit >> 2 & 3);
            coord[row][2] = 4 * c->tile[2] + (bit >> 4);
            piece[row] = c->piece;
        }
    }
}

mo_status mo_lattice_create(int32_t rows, const int32_t (*coord)[3], const int32_t *piece, mo_lattice *out)
{
    *out = (mo_lattice){0};
    mo_status status = MO_ERROR_MEMORY;
    int32_t *block = mo_alloc(sizeof(int32_t) * (size_t)rows), last = -1;
    out->order = mo_alloc(sizeof(int32_t) * (size_t)rows);
    if (!block || !out->order) goto done;
    for (int32_t i = 0; i < rows; i++) {
        int32_t tile[3] = {coord[i][0] >> 2, coord[i][1] >> 2, coord[i][2] >> 2};
        if (last < 0 || memcmp(out->block[last].tile, tile, sizeof tile) != 0 || out->block[last].piece != piece[i])
            last = want_block(out, tile, piece[i]);
        if (last < 0) goto done;
        uint64_t bit = 1ull << ((coord[i][0] & 3) + 4 * (coord[i][1] & 3) + 16 * (coord[i][2] & 3));
        if (out->block[last].mask & bit) {
            status = MO_ERROR_INPUT;
            goto done;
        }
        out->block[last].mask |= bit;
        block[i] = last;
    }
    number_rows(out);
    for (int32_t i = 0; i < rows; i++) {
        const mo_cells *b = &out->block[block[i]];
        uint64_t bit = 1ull << ((coord[i][0] & 3) + 4 * (coord[i][1] & 3) + 16 * (coord[i][2] & 3));
        out->order[b->start + __builtin_popcountll(b->mask & (bit - 1))] = i;
    }
    status = MO_OK;
done:
    mo_free(block);
    if (status != MO_OK) mo_lattice_destroy(out);
    return status;
}

// ---- Coarsening ----

// Parents of the cells of a block lie in a window of 4^3 coarse cells that starts at 2 tile - 1 (flat axes: 4 tile).
// Places in the window of the near and the far parent of cell 0..3:
static const int32_t near_place[4] = {1, 1, 2, 2}, far_place[4] = {0, 2, 1, 3};

// Window places of the parents of a cell of the block, in the order of mo_transfer.
static int32_t window_parents(int32_t bit, const bool flat[3], int32_t place[8])
{
    int32_t at[3] = {bit & 3, bit >> 2 & 3, bit >> 4}, n = 1;
    place[0] = 0;
    for (int32_t a = 2; a >= 0; a--) {
        int32_t stride = 1 << 2 * a;
        if (flat[a]) {
            for (int32_t k = 0; k < n; k++) place[k] += stride * at[a];
            continue;
        }
        for (int32_t k = n - 1; k >= 0; k--) {
            place[2 * k + 1] = place[k] + stride * far_place[at[a]];
            place[2 * k] = place[k] + stride * near_place[at[a]];
        }
        n *= 2;
    }
    return n;
}

// Tile of a window place (0 or 1 along each axis from the first tile of the window) and bit within that tile.
static void window_cell(const mo_cells *b, const bool flat[3], int32_t place, int32_t *octant, int32_t *bit)
{
    *octant = *bit = 0;
    for (int32_t a = 0; a < 3; a++) {
        int32_t first = flat[a] ? 4 * b->tile[a] : 2 * b->tile[a] - 1, cell = first + (place >> 2 * a & 3);
        *octant |= ((cell >> 2) - (first >> 2)) << a;
        *bit |= (cell & 3) << 2 * a;
    }
}

static void window_tile(const mo_cells *b, const bool flat[3], int32_t octant, int32_t tile[3])
{
    for (int32_t a = 0; a < 3; a++)
        tile[a] = ((flat[a] ? 4 * b->tile[a] : 2 * b->tile[a] - 1) >> 2) + (octant >> a & 1);
}

// Coarse blocks touched by each fine block; up[8 * block + octant].
static mo_status touch(const mo_lattice *fine, const uint8_t *alive, const bool flat[3], mo_lattice *coarse,
                       int32_t *up)
{
    uint64_t parents[64]; // of each cell, as window masks
    for (int32_t bit = 0; bit < 64; bit++) {
        int32_t place[8], n = window_parents(bit, flat, place);
        parents[bit] = 0;
        for (int32_t k = 0; k < n; k++) parents[bit] |= 1ull << place[k];
    }
    for (int32_t f = 0; f < fine->blocks; f++) {
        const mo_cells *b = &fine->block[f];
        if (!alive[b->piece]) continue;
        uint64_t window = 0, masks[8] = {0};
        for (uint64_t m = b->mask; m; m &= m - 1) window |= parents[__builtin_ctzll(m)];
        for (uint64_t m = window; m; m &= m - 1) {
            int32_t octant, bit;
            window_cell(b, flat, __builtin_ctzll(m), &octant, &bit);
            masks[octant] |= 1ull << bit;
        }
        for (int32_t o = 0; o < 8; o++) {
            up[8 * (int64_t)f + o] = -1;
            if (!masks[o]) continue;
            int32_t tile[3];
            window_tile(b, flat, o, tile);
            int32_t c = want_block(coarse, tile, b->piece);
            if (c < 0) return MO_ERROR_MEMORY;
            coarse->block[c].mask |= masks[o];
            up[8 * (int64_t)f + o] = c;
        }
    }
    number_rows(coarse);
    return MO_OK;
}

static void find_parents(const mo_lattice *fine, const uint8_t *alive, const mo_lattice *coarse, const int32_t *up,
                         mo_transfer *t)
{
#pragma omp parallel for schedule(static) if (fine->blocks > 64)
    for (int32_t f = 0; f < fine->blocks; f++) {
        const mo_cells *b = &fine->block[f];
        int32_t window[64], n = t->parents, place = b->start;
        for (int32_t p = 0; p < 64 && alive[b->piece]; p++) {
            int32_t octant, bit;
            window_cell(b, t->flat, p, &octant, &bit);
            int32_t c = up[8 * (int64_t)f + octant];
            window[p] =
                c < 0 ? -1 : coarse->block[c].start + __builtin_popcountll(coarse->block[c].mask & ((1ull << bit) - 1));
        }
        for (uint64_t m = b->mask; m; m &= m - 1, place++) {
            int32_t row = fine->order ? fine->order[place] : place, at[8];
            int32_t *parent = &t->parent[(int64_t)n * row];
            window_parents(__builtin_ctzll(m), t->flat, at);
            for (int32_t k = 0; k < n; k++) parent[k] = alive[b->piece] ? window[at[k]] : -1;
        }
    }
}

// An axis is flat when all cells of the living pieces share its coordinate.
static void find_flat_axes(const mo_lattice *l, const uint8_t *alive, bool flat[3])
{
    static const uint64_t slab[3] = {0x1111111111111111ull, 0x000f000f000f000full, 0xffffull};
    for (int32_t a = 0; a < 3; a++) {
        int32_t seen = 0, common = 0;
        flat[a] = true;
        for (int32_t b = 0; b < l->blocks && flat[a]; b++) {
            if (!alive[l->block[b].piece]) continue;
            for (int32_t x = 0; x < 4; x++)
                if (l->block[b].mask & slab[a] << (x << 2 * a)) {
                    int32_t cell = 4 * l->block[b].tile[a] + x;
                    if (seen++ && cell != common) flat[a] = false;
                    common = cell;
                }
        }
    }
}

mo_status mo_lattice_coarsen(const mo_lattice *fine, int32_t rows, const uint8_t *alive, mo_transfer *transfer,
                             mo_lattice *coarse)
{
    *transfer = (mo_transfer){.parents = 1, .weight = {1}};
    *coarse = (mo_lattice){0};
    find_flat_axes(fine, alive, transfer->flat);
    for (int32_t a = 2; a >= 0; a--) {
        if (transfer->flat[a]) continue;
        for (int32_t k = transfer->parents - 1; k >= 0; k--) {
            float w = transfer->weight[k];
            transfer->weight[2 * k] = 0.75f * w, transfer->weight[2 * k + 1] = 0.25f * w;
        }
        transfer->parents *= 2;
    }
    int32_t *up = mo_alloc(sizeof(int32_t) * 8 * (size_t)fine->blocks);
    transfer->parent = mo_alloc(sizeof(int32_t) * (size_t)transfer->parents * (size_t)rows);
    mo_status status = MO_ERROR_MEMORY;
    if (up && transfer->parent) status = touch(fine, alive, transfer->flat, coarse, up);
    if (status == MO_OK)
        find_parents(fine, alive, coarse, up, transfer);
    else {
        mo_lattice_destroy(coarse);
        mo_free(transfer->parent);
        transfer->parent = NULL;
    }
    mo_free(up);
    return status;
}
