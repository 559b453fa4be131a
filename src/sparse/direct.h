// Internal to multigrid: dense L D L^T factors of many small independent pieces
// of one level.
#ifndef MO_DIRECT_H
#define MO_DIRECT_H

#include "sparse/csr.h"

enum { MO_DIRECT_LIMIT = 128 }; // rows of one piece, at most

typedef struct mo_direct {
    int32_t pieces;
    int32_t *start;  // [pieces + 1] into row
    int32_t *row;    // rows of each piece
    int64_t *offset; // [pieces] into factor
    float *factor;   // row by row: l_i0 .. l_i(i-1), 1 / d_i
    int64_t entries;
} mo_direct;

// Factors A / scale on the pieces chosen[piece]. A pivot below `epsilon` times
// its diagonal entry belongs to a null space: its inverse is taken as 0.
mo_status mo_direct_create(const mo_csr *A, double scale, const int32_t *piece, int32_t pieces, const uint8_t *chosen,
                           double epsilon, mo_direct *out);
void mo_direct_destroy(mo_direct *d);
void mo_direct_solve_add(const mo_direct *d, const float *r,
                         float *x); // x += A^-1 r on the rows of the pieces

#endif
