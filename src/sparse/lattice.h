// Internal to multigrid: unknowns of one level found by lattice cell and
// connected piece, and those of the next level.
//
// Unknowns are numbered block by block. A block holds the cells of one 4 x 4 x
// 4 tile that belong to one piece, as a bit mask: cell (x, y, z) of the tile is
// bit x + 4 y + 16 z, its unknown is start + (set bits below it).
#ifndef MO_LATTICE_H
#define MO_LATTICE_H

#include "base/base.h"

typedef struct mo_cells {
    int32_t tile[3], piece, start;
    uint64_t mask;
    uint64_t regular; // cells whose row is the level's constant stencil
} mo_cells;

typedef struct mo_lattice {
    int32_t blocks;
    mo_cells *block;
    int64_t capacity;
    int64_t slots; // hash table of block numbers, -1 = empty; a power of two
    int32_t *slot;
    int32_t *order; // [rows] row of each place in block order, NULL = the same
} mo_lattice;

void mo_lattice_destroy(mo_lattice *lattice);
// pattern[rows]: 0 = the constant stencil. MO_ERROR_INPUT: two rows in one cell
// and piece.
mo_status mo_lattice_create(int32_t rows, const int32_t (*coord)[3], const int32_t *piece, const int32_t *pattern,
                            mo_lattice *out);
int32_t mo_lattice_rows(const mo_lattice *lattice);
int32_t mo_lattice_find(const mo_lattice *lattice, const int32_t tile[3],
                        int32_t piece); // block number or -1
// Rows of a piece in the box of width[] cells (each <= 12) from cell first[], x
// fastest; -1 where there is none. Not for a lattice with an order.
void mo_lattice_box(const mo_lattice *lattice, int32_t piece, const int32_t first[3], const int32_t width[3],
                    int32_t *row);

// Axes along which all cells of the living pieces share one coordinate.
void mo_lattice_flat(const mo_lattice *lattice, const uint8_t *alive, bool flat[3]);
// The next level: every cell (coordinate >> 1, flat axes unchanged) from which
// a cell of a living piece interpolates.
mo_status mo_lattice_coarsen(const mo_lattice *fine, const uint8_t *alive, const bool flat[3], mo_lattice *coarse);

#endif
