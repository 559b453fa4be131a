// Internal to multigrid: matrices in float whose rows sit on lattice cells.
//
// A row names its pattern: off-diagonal entries as steps in a box around a
// tile, and the diagonal. Pattern 0 is the constant stencil that most rows
// inside the liquid share; every other row has a pattern of its own.
#ifndef MO_STENCIL_H
#define MO_STENCIL_H

#include "sparse/csr.h"
#include "sparse/lattice.h"

enum {
    MO_CODES = 125,            // neighbours within two cells: (dx + 2) + 5 (dy + 2) + 25 (dz + 2)
    MO_COARSE_TILE = 4,        // rows of coarse levels are swept in blocks of mo_lattice
    MO_COARSE_REACH = 2,       // coarse rows reach two cells
    MO_COARSE_SIDE = 4 + 2 * 2 // of the box around a block
};

typedef struct mo_stencils {
    int32_t rows, patterns;
    int32_t reach;             // largest offset along an axis; 1 only if entries step along
                               // one axis at a time
    int32_t side;              // of the box in which steps are x + side (y + side z)
    int32_t *pattern;          // [rows]
    int64_t *start;            // [patterns + 1] first entry
    int16_t *step;             // [entries] of the off-diagonal entries
    float *val;                // [entries]
    float *diagonal, *inverse; // [patterns] inverse 0 where the diagonal is
    double regular[MO_CODES];  // the constant stencil by code, all 0 if there is none
} mo_stencils;

void mo_stencils_destroy(mo_stencils *A);
static inline int64_t mo_stencils_entries(const mo_stencils *A) { return A->start ? A->start[A->patterns] : 0; }

// Arrays for out->patterns patterns with that many entries besides those of
// pattern 0, which is written from regular.
mo_status mo_stencils_allocate(mo_stencils *out, int64_t entries);
// A / scale, where scale makes the constant stencil's neighbours -1; tiles of
// `edge` cells. MO_ERROR_INPUT: an entry reaches further than two cells.
mo_status mo_stencils_create(const mo_csr *A, const int32_t (*coord)[3], int32_t edge, mo_stencils *out, double *scale);

// Galerkin product P^T A P on the cells of `coarse`; also marks
// coarse->block[].regular.
mo_status mo_galerkin(const mo_stencils *A, const mo_lattice *fine, const bool flat[3], mo_lattice *coarse,
                      mo_stencils *out);

// The rows chosen[piece] of a coarse level as a matrix (others stay empty).
mo_status mo_stencils_pieces(const mo_stencils *A, const mo_lattice *lattice, const uint8_t *chosen, mo_csr *out);

#endif
