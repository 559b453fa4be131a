// The data that the parts of the Cholesky factor share: its structure, and the form in which dense blocks are stored.
//
// Strips: a dense block is stored in strips of four rows, the four entries of a column side by side. So the entry of
// row r and column k of a block with `width` columns is at [(r / 4) * 4 * width + 4 * k + r % 4]: four rows are one
// vector, strips are read from end to end by factorisation and solves alike, and no sum ever runs over the lanes of a
// vector.
#ifndef MO_CHOLESKY_PARTS_H
#define MO_CHOLESKY_PARTS_H

#include "sparse/cholesky.h"
#include "sparse/graph.h"

enum { LANES = 4 };
typedef double mo_lanes __attribute__((vector_size(8 * LANES), may_alias));

static inline int32_t mo_strips(int32_t rows) { return (rows + LANES - 1) / LANES; }

// A supernode is a run of vertices (in the order of elimination) whose columns of L have the same rows below. Its panel
// of L: the strips of its own rows, padded to a multiple of four with rows and columns of the identity, then those of
// the rows below. On the diagonal are the inverses of L's entries.
//
// Supernodes of subtrees that do not touch each other are in bins, which threads may take at the same time; the rest of
// the tree comes after them. The update that a supernode leaves for its parent has its own place in one memory of
// updates. So nothing depends on the number of threads.
enum { MO_BINS = 8 };

typedef struct mo_cholesky_work { // of a bin; the rest of the tree uses that of the first bin
    int32_t *local;               // [vertices] row of a front
    int32_t *target;              // [longest] rows of a front that a child's update goes to
    double *part;                 // [4 (widest + longest)] unknowns of a front, for four right-hand sides
    double *sum;                  // [16 widest]
} mo_cholesky_work;

struct mo_cholesky {
    int32_t block, rows, vertices;
    int32_t groups;           // of vertices; 0: each vertex is its own group
    const int32_t *group;     // [vertices] while being created
    int32_t *order, *place;   // [vertices] the k-th to be eliminated, and back
    int32_t nodes;            // supernodes, children before parents
    int32_t *first;           // [nodes + 1] first vertex of each
    int32_t *parent;          // [nodes] -1: none
    int32_t *child, *sibling; // [nodes] last child, the one before it; -1: none
    int64_t *below;           // [nodes + 1] first of its entries in `vertex` and `into`
    int32_t *vertex;          // vertices of the rows below, ascending
    int32_t *into;            // [below[nodes]] their rows in the parent's front
    int64_t *panel;           // [nodes + 1] first value of each
    double *value;            // [panel[nodes]]
    int32_t bins, *turn;      // [nodes] supernodes, bin by bin, then the rest
    int32_t bin[MO_BINS + 2]; // first of each in `turn`
    int64_t *fresh, *kept;    // [nodes] place of its update while children's are there, and afterwards
    int64_t entries, stack;   // of L; doubles of all updates
    int64_t widest, longest;  // most columns of a panel, and rows below it, both padded
    double *update;           // [stack] in solves: the contributions to the rows below
    mo_cholesky_work work[MO_BINS];
    double *x;     // [4 rows] in the order of elimination
    uint8_t *held; // [rows] of the last factor
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

// Finds the order of a graph's vertices on the graph of their groups. False: no memory.
bool mo_cholesky_order_groups(const mo_graph *g, int32_t groups, const int32_t *group, int32_t *order, mo_arena *arena);

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
