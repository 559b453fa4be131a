// What the parts of the Cholesky factor share: its structure, and the form in which dense blocks are stored.
//
// Strips: a dense block is stored in strips of four rows, the four entries of a column side by side. So the entry of
// row r and column k of a block with `width` columns is at [(r / 4) * 4 * width + 4 * k + r % 4]: four rows are one
// vector, strips are read from end to end by factorisation and solves alike, and no sum ever runs over the lanes of a
// vector.
#ifndef MO_CHOLESKY_PARTS_H
#define MO_CHOLESKY_PARTS_H

#include "sparse/cholesky.h"

enum { LANES = 4 };
typedef double mo_lanes __attribute__((vector_size(8 * LANES), may_alias));

static inline int32_t mo_strips(int32_t rows) { return (rows + LANES - 1) / LANES; }

// A supernode is a run of vertices (in the order of elimination) whose columns of L have the same rows below. Its panel
// of L: the strips of its own rows, padded to a multiple of four with rows and columns of the identity, then those of
// the rows below. On the diagonal are the inverses of L's entries.
struct mo_cholesky {
    int32_t block, rows, vertices;
    int32_t *order, *place;   // [vertices] the k-th to be eliminated, and back
    int32_t nodes;            // supernodes, children before parents
    int32_t *first;           // [nodes + 1] first vertex of each
    int32_t *parent;          // [nodes] -1: none
    int32_t *child, *sibling; // [nodes] last child, the one before it; -1: none
    int64_t *below;           // [nodes + 1] first of its entries in `vertex`
    int32_t *vertex;          // vertices of the rows below, ascending
    int64_t *panel;           // [nodes + 1] first value of each
    double *value;            // [panel[nodes]]
    int64_t entries, stack;   // of L; doubles that updates of fronts need at most
    int64_t widest, longest;  // most columns of a panel, and rows below it, both padded
    double flops;
    double *update;          // [stack]
    int32_t *local, *target; // [vertices], [most rows below] work of the factorisation
    double *x, *part, *sum;  // work of the solves: [4 rows], [4 most rows of a panel], [16 most columns]
    uint8_t *held;           // [rows] of the last factor
    bool factored;
};

static inline int32_t mo_node_columns(const mo_cholesky *c, int32_t node)
{
    return (c->first[node + 1] - c->first[node]) * c->block;
}
static inline int32_t mo_node_below(const mo_cholesky *c, int32_t node)
{
    return (int32_t)(c->below[node + 1] - c->below[node]) * c->block;
}

// Fills everything of c but values and work, from the pattern of A. c holds block, rows, vertices.
mo_status mo_cholesky_analyse(const mo_csr *A, mo_cholesky *c, mo_error *err);

// ---- Dense blocks in strips (cholesky_dense.c) ----

// Doubles of the lower half of a square block of so many strips; strip i has i + 1 tiles, its first value is at
// mo_triangle(i).
static inline int64_t mo_triangle(int64_t strips) { return 2 * LANES * strips * (strips + 1); }

// Factors a panel of `columns` (a multiple of four) columns and `strips` strips in place. False: a pivot is not
// positive.
bool mo_panel_factor(int32_t columns, int32_t strips, double *panel);
// update -= B B^T, its lower half, with B = `strips` strips of `columns` columns.
void mo_panel_update(int32_t columns, int32_t strips, const double *B, double *update);

#endif
