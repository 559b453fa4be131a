// Internal to multigrid: unknowns of one level found by lattice cell and connected piece, and the next coarser level.
//
// Unknowns are numbered block by block. A block holds the cells of one 4 x 4 x 4 tile that belong to one piece, as a
// bit mask: cell (x, y, z) of the tile is bit x + 4 y + 16 z, its unknown is start + (set bits below it).
#ifndef MO_LATTICE_H
#define MO_LATTICE_H

#include "sparse/csr.h"

enum { MO_STENCIL = 125 }; // codes (dx + 2) + 5 (dy + 2) + 25 (dz + 2) of the neighbours of a row

typedef struct mo_cells {
    int32_t tile[3], piece;
    uint64_t mask;
    int32_t start;
} mo_cells;

typedef struct mo_lattice {
    int32_t blocks;
    mo_cells *block;
    int64_t capacity;
    int64_t slots; // hash table of block numbers, -1 = empty; a power of two
    int32_t *slot;
    int32_t *order; // [rows] row of each place in block order, NULL = the same
} mo_lattice;

// A matrix in float whose rows sit on a lattice.
typedef struct mo_stencils {
    int32_t rows;
    const int64_t *row;
    const int32_t *col;
    float *val;
    uint8_t *code;             // [entries] NULL: from coord
    const int32_t (*coord)[3]; // [rows]
    int32_t reach;             // largest offset of an entry along an axis: 1 or 2
} mo_stencils;

// Interpolation from the next level: every row has 2^(axes not flat) parents, near before far along each axis.
typedef struct mo_transfer {
    bool flat[3];    // axis along which the level is one cell thick: not coarsened
    int32_t parents; // 1, 2, 4 or 8
    float weight[8]; // of each parent, the same for every row
    int32_t *parent; // [rows * parents] or -1 in rows of pieces that are not coarsened
} mo_transfer;

void mo_lattice_destroy(mo_lattice *lattice);
// MO_ERROR_INPUT: two rows in one cell and piece.
mo_status mo_lattice_create(int32_t rows, const int32_t (*coord)[3], const int32_t *piece, mo_lattice *out);
// The cells of the next level touched by the pieces alive[piece], and the interpolation from them.
mo_status mo_lattice_coarsen(const mo_lattice *fine, int32_t rows, const uint8_t *alive, mo_transfer *transfer,
                             mo_lattice *coarse);
int32_t mo_lattice_rows(const mo_lattice *lattice);
void mo_lattice_coordinates(const mo_lattice *lattice, int32_t (*coord)[3], int32_t *piece);
// Block number of a tile and piece, or -1.
int32_t mo_lattice_find(const mo_lattice *lattice, const int32_t tile[3], int32_t piece);

// Galerkin product P^T A P. The arrays of out are new: row, col, val, code; coord is left to the caller.
mo_status mo_galerkin(const mo_stencils *A, const mo_lattice *fine, const mo_lattice *coarse, const mo_transfer *P,
                      mo_stencils *out);

#endif
