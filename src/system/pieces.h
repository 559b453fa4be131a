// Finds the connected pieces of hard rows, and the null spaces of those that touch no free surface (docs/math.md 6).
// The null space of such a piece consists of the constants, unless these push a solid that the solve moves, such as a
// piston or a body with a slit below it (slits.h).
#ifndef MO_PIECES_H
#define MO_PIECES_H

#include "sparse/csr.h"

enum { MO_PIECE_OPEN, MO_PIECE_ENCLOSED, MO_PIECE_PUSHES }; // PUSHES: sums to zero in A, but not on solids

typedef struct mo_pieces {
    const uint8_t *hard; // [rows], NULL = all
    int32_t count, enclosed, pushing;
    int32_t *of;          // [rows] piece of hard rows; -1 elsewhere
    uint8_t *kind;        // [count]
    int32_t *rows;        // [count]
    double *sum, *weight; // [count]
} mo_pieces;

// on [groups] are the rows' parts on solids of several groups; parts without rows touch none.
mo_status mo_pieces_create(const mo_csr *A, const uint8_t *hard, int32_t groups, const mo_csr *on, mo_pieces *out);
void mo_pieces_destroy(mo_pieces *p);
// Takes the sum over every enclosed piece out of v, in proportion to the weights (NULL: equal); returns for how many
// the mean exceeded `notable`. A right-hand side is weighted by the diagonal: an equal part would be enormous for
// slivers.
int32_t mo_pieces_project(mo_pieces *p, int32_t n, const double *weight, double *v, double notable);
// Removes the sums over enclosed pieces from a right-hand side b [rows of A], shared in proportion to the diagonal of
// A, so that a solution exists. Returns for how many pieces the mean was more than `tolerance` times the largest entry.
// diagonal: [rows] scratch.
int32_t mo_pieces_relax(mo_pieces *p, const mo_csr *A, double tolerance, double *b, double *diagonal);
// Adds a little to the diagonal of pieces that push solids. In a multigrid cycle, which does not contain the solids,
// such a piece has a null space, and the cycle would turn a mean into a rounding error or NaN.
void mo_pieces_firm(const mo_pieces *p, mo_csr *A);

#endif
