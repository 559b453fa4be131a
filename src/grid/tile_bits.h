// Tiles as bits: a few kinds of cells, kept in a byte field, and the cells next to those of a kind. They serve work in
// rounds in which every tile reads the result of the round before and writes only itself, so that results do not depend
// on threads.
#ifndef MO_TILE_BITS_H
#define MO_TILE_BITS_H

#include "grid/sites.h"
#include <string.h>

// A tile as bits, one word of x + 8 y per plane z; a few kinds of them are kept in the tile's 512 bytes of scratch.
typedef struct mo_tile_bits {
    uint64_t plane[MO_TILE];
} mo_tile_bits;
enum { MO_TILE_KINDS = 5 };
_Static_assert(MO_TILE_KINDS * sizeof(mo_tile_bits) <= MO_TILE_CELLS, "a tile's bits fit its scratch");

static inline mo_tile_bits mo_tile_bits_get(const uint8_t *scratch, int32_t tile, int kind)
{
    mo_tile_bits b;
    memcpy(&b, scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof b, sizeof b);
    return b;
}

static inline void mo_tile_bits_put(uint8_t *scratch, int32_t tile, int kind, const mo_tile_bits *b)
{
    memcpy(scratch + (int64_t)tile * MO_TILE_CELLS + kind * (int)sizeof *b, b, sizeof *b);
}

// The planes of a tile that are real.
static inline int mo_first_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN : 0; }
static inline int mo_end_plane(const mo_grid *g) { return mo_grid_is_2d(g) ? MO_MARGIN + 1 : MO_TILE; }

// The same for one cell, side or piece. Those beyond the cells have a byte of scratch each.
static inline bool mo_tile_flag(const mo_grid *g, const uint8_t *scratch, int32_t i, int kind)
{
    if (i >= mo_grid_cells(g)) return scratch[i] >> kind & 1;
    mo_tile_bits b = mo_tile_bits_get(scratch, i / MO_TILE_CELLS, kind);
    return b.plane[i >> 6 & 7] >> (i & 63) & 1;
}

static inline void mo_tile_flag_put(uint8_t *scratch, int32_t i, int kind, bool value)
{
    scratch[i] = (uint8_t)((scratch[i] & ~(1u << kind)) | (unsigned)value << kind);
}

// Whether the cell of a cell, side or piece has no neighbour there: its tile is missing.
bool mo_lattice_ends(const mo_grid *g, int site, int32_t i, int axis, int side);
// Whether a neighbour of a cell, side or piece is of one kind. `missing` says whether missing tiles are of that kind;
// neighbours behind a sheet do not count.
bool mo_tile_bits_beside(const mo_grid *g, const uint8_t *scratch, int site, int32_t i, int kind, bool missing);
// The cells next to those of one kind, across tiles. `missing` says whether missing tiles are of that kind.
mo_tile_bits mo_tile_bits_grow(const mo_grid *g, const uint8_t *scratch, int site, int32_t tile, int kind,
                               bool missing);

#endif
