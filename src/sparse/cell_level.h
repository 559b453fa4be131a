// Internal to multigrid: one level of the hierarchy, and the steps of a cycle on it.
//
// Most rows couple to one row in each of the six cells around their own: these entries sit in slots by direction (2
// axis + side, side 1 = up), so rows have no structure of their own. Rows of even cells (coordinate sum; "red") come
// first, those of odd cells ("black") after them: rows of one colour do not couple. Last come the rows that couple to
// several rows in one direction or to another row of their own cell ("forked"); their entries that do not fit the slots
// are in a list. A row of the next level stands for rows of 2 x 2 x 2 cells that are connected inside this block.
#ifndef MO_CELL_LEVEL_H
#define MO_CELL_LEVEL_H

#include "sparse/csr.h"

typedef struct mo_cell_level {
    int32_t rows, red, plain;      // rows 0 .. red - 1 are red, those up to plain - 1 black, the others forked
    int32_t (*near)[6];            // [rows] neighbours, the row itself where there is none
    float (*couple)[6];            // [rows] minus the off-diagonal entries, 0 where there is no neighbour
    float *diagonal, *inverse;     // [rows] inverse 0 where the diagonal is
    float *excess;                 // [rows] row sums: the coupling of the row to air
    mo_csr more;                   // [rows - plain] forked rows: minus the entries that are in no slot
    int32_t (*child)[8];           // [rows of the next level] by corner, bit a = upper half along axis a; -1 = none
    struct mo_cell_level_odd *odd; // [odds] rows that are not transferred to the next level by `child`
    int32_t odds;
    float (*share)[8];           // [rows of the next level] scratch of the restriction, if linear
    bool linear;                 // transfer to the next level: linear, else constant
    float *vectors;              // the four below
    float *x, *b, *z, *v;        // [rows] solution, right-hand side; first direction and its image (K-cycle)
    int32_t (*coord)[3], *order; // [rows] while building; order: rows tile by tile
} mo_cell_level;

// A row, its row of the next level, and those that lie beside that one, on the row's side of each axis.
typedef struct mo_cell_level_odd {
    int32_t row, corner, parent, beside[3]; // beside: the parent where there is none
} mo_cell_level_odd;

void mo_cell_level_destroy(mo_cell_level *l);
void mo_cell_level_built(mo_cell_level *l); // frees what only building needs
int64_t mo_cell_level_bytes(const mo_cell_level *l);
int64_t mo_cell_level_entries(const mo_cell_level *l);

// Makes the finest level of A / scale, where scale is the largest coupling; place[rows of A] gets the level's row of
// each row of A. MO_ERROR_INPUT: entries couple cells that are not neighbours.
mo_status mo_cell_level_create(mo_cell_level *l, const mo_csr *A, const int32_t (*coord)[3], int32_t *place,
                               double *scale);
// Makes the next level, which has no rows if nothing is coupled.
mo_status mo_cell_level_coarsen(mo_cell_level *l, mo_cell_level *next);

void mo_cell_level_smooth_before(mo_cell_level *l);                 // from x = 0; leaves no residual on black rows
void mo_cell_level_smooth_after(mo_cell_level *l);                  // in exactly the reverse order
void mo_cell_level_restrict(mo_cell_level *l, mo_cell_level *next); // next->b = P^T (b - A x)
void mo_cell_level_interpolate(mo_cell_level *l, const mo_cell_level *next); // x += P next->x

// Returns the sums x A x, x v (0 if v is NULL), x b and b b. Writes A x to `image` unless that is NULL.
typedef struct mo_cell_level_sums {
    double xAx, xv, xb, bb;
} mo_cell_level_sums;
mo_cell_level_sums mo_cell_level_energy(const mo_cell_level *l, const float *v, float *image);

#endif
