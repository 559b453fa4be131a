// Internal to multigrid: one level of the hierarchy, and the steps of a cycle
// on it.
//
// Rows are swept group by group (the tiles of the finest level, the blocks of
// coarse ones). A group first copies the values of its cells and of those
// around them into a small box, where the neighbours of a cell are constant
// steps away; it reads no column indices, and rows inside the liquid read no
// matrix entries of their own either.
#ifndef MO_LEVEL_H
#define MO_LEVEL_H

#include "sparse/direct.h"
#include "sparse/krylov.h"
#include "sparse/stencil.h"

enum { MO_FINEST_TILE = 8, MO_NO_PARENT = 0xffff };

typedef struct mo_level {
    mo_stencils A;
    bool finest;
    // The constant stencil in forms that read nothing: six neighbours -1, or
    // lines of weights from two cells before.
    bool seven_point;
    int32_t lines;
    int16_t line_step[25];
    float line[25][8] __attribute__((aligned(32)));
    mo_sweep sweep;       // 8 colours of groups
    uint16_t *place;      // [rows] in the box of the group
    int32_t *halo;        // [groups + 1] first entry below of each group
    int32_t *halo_row;    // cells around the group's
    uint16_t *halo_place; // in its box
    // Interpolation (3/4, 1/4) from the next level: the coarse cells around a
    // group are its window, one for each piece.
    bool flat[3];        // axes not coarsened
    int32_t parents;     // of a row: 1, 2, 4 or 8
    float weight[8];     // of each parent
    int16_t step[8][8];  // [corner of the coarse cell][parent] from the near
                         // parent in the window
    uint16_t *near;      // [rows] near parent in the windows of the group, or MO_NO_PARENT
    uint8_t *corner;     // [rows] bit a: in the upper half of its coarse cell along axis a
    int32_t *window;     // [groups + 1] first entry below of each group
    int32_t *window_row; // rows of the next level, -1 = none
    mo_direct direct;    // pieces that end on this level
    float *x, *b, *r;    // [rows]
    mo_lattice lattice;  // while building
} mo_level;

void mo_level_destroy(mo_level *l);
int64_t mo_level_bytes(const mo_level *l);
// The finest level (its stencils), or a coarse one (its stencils and lattice):
// everything that does not need the next.
mo_status mo_level_create_finest(mo_level *l, const mo_csr *A, const int32_t (*coord)[3]);
mo_status mo_level_create_coarse(mo_level *l);
// Interpolation for the pieces alive[]. coord and piece of the rows on the
// finest level; NULL on others.
mo_status mo_level_connect(mo_level *l, const mo_lattice *next, const uint8_t *alive, const int32_t (*coord)[3],
                           const int32_t *piece);

void mo_level_sweep_forward(mo_level *l);                     // Gauss-Seidel from x = 0
void mo_level_sweep_backward(mo_level *l);                    // in exactly the reverse order
void mo_level_restrict(mo_level *l, mo_level *next);          // next->b = P^T (b - A x); r where pieces end
void mo_level_interpolate(mo_level *l, const mo_level *next); // x += P next->x

#endif
