// Blocks of lattice cells in a hash table, and the cells of the next coarser
// level.
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

void mo_lattice_box(const mo_lattice *l, int32_t piece, const int32_t first[3], const int32_t width[3], int32_t *row)
{
    int32_t size = width[0] * width[1] * width[2], tile[3], low[3], high[3];
    memset(row, 0xff, sizeof(int32_t) * (size_t)size);
    for (int32_t a = 0; a < 3; a++) low[a] = first[a] >> 2, high[a] = (first[a] + width[a] - 1) >> 2;
    for (tile[2] = low[2]; tile[2] <= high[2]; tile[2]++)
        for (tile[1] = low[1]; tile[1] <= high[1]; tile[1]++)
            for (tile[0] = low[0]; tile[0] <= high[0]; tile[0]++) {
                int32_t b = mo_lattice_find(l, tile, piece);
                if (b < 0) continue;
                int32_t number = l->block[b].start;
                int32_t o[3] = {4 * tile[0] - first[0], 4 * tile[1] - first[1], 4 * tile[2] - first[2]};
                for (uint64_t m = l->block[b].mask; m; m &= m - 1, number++) {
                    int32_t bit = __builtin_ctzll(m);
                    int32_t x = o[0] + (bit & 3), y = o[1] + (bit >> 2 & 3), z = o[2] + (bit >> 4);
                    if ((uint32_t)x < (uint32_t)width[0] && (uint32_t)y < (uint32_t)width[1] &&
                        (uint32_t)z < (uint32_t)width[2])
                        row[x + width[0] * (y + width[1] * z)] = number;
                }
            }
}

mo_status mo_lattice_create(int32_t rows, const int32_t (*coord)[3], const int32_t *piece, const int32_t *pattern,
                            mo_lattice *out)
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
        if (pattern[i] == 0) out->block[last].regular |= bit;
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

// Parents of the cells of a block lie in a window of 4^3 coarse cells. Places
// along an axis of the near and the far parent of cell 0..3 of the block:
static const int32_t near_place[4] = {1, 1, 2, 2}, far_place[4] = {0, 2, 1, 3};

static int32_t window_start(const mo_cells *b, const bool flat[3], int32_t axis)
{
    return flat[axis] ? 4 * b->tile[axis] : 2 * b->tile[axis] - 1;
}

static uint64_t window_parents(int32_t bit, const bool flat[3])
{
    int32_t places[3]; // bits along each axis
    for (int32_t a = 0; a < 3; a++) {
        int32_t at = bit >> 2 * a & 3;
        places[a] = flat[a] ? 1 << at : 1 << near_place[at] | 1 << far_place[at];
    }
    uint64_t mask = 0;
    for (int32_t p = 0; p < 64; p++)
        if (places[0] >> (p & 3) & places[1] >> (p >> 2 & 3) & places[2] >> (p >> 4) & 1) mask |= 1ull << p;
    return mask;
}

// A place of the window as tile (0 or 1 along each axis from the window's first
// tile) and bit within that tile.
static void window_cell(const mo_cells *b, const bool flat[3], int32_t place, int32_t *octant, int32_t *bit)
{
    *octant = *bit = 0;
    for (int32_t a = 0; a < 3; a++) {
        int32_t first = window_start(b, flat, a), cell = first + (place >> 2 * a & 3);
        *octant |= ((cell >> 2) - (first >> 2)) << a;
        *bit |= (cell & 3) << 2 * a;
    }
}

mo_status mo_lattice_coarsen(const mo_lattice *fine, const uint8_t *alive, const bool flat[3], mo_lattice *coarse)
{
    *coarse = (mo_lattice){0};
    uint64_t parents[64]; // of each cell, as masks of the window
    for (int32_t bit = 0; bit < 64; bit++) parents[bit] = window_parents(bit, flat);
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
            if (!masks[o]) continue;
            int32_t tile[3];
            for (int32_t a = 0; a < 3; a++) tile[a] = (window_start(b, flat, a) >> 2) + (o >> a & 1);
            int32_t c = want_block(coarse, tile, b->piece);
            if (c < 0) {
                mo_lattice_destroy(coarse);
                return MO_ERROR_MEMORY;
            }
            coarse->block[c].mask |= masks[o];
        }
    }
    number_rows(coarse);
    return MO_OK;
}

void mo_lattice_flat(const mo_lattice *l, const uint8_t *alive, bool flat[3])
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
