// The grid is a lattice of cubic cells. Only tiles of 8 x 8 x 8 cells near the liquid exist.
//
// Lattice coordinates count cells: cell (i, j, k) is the box [i, i+1] x [j, j+1] x [k, k+1], its centre at +1/2.
// The simulated domain starts at cell MO_MARGIN in every direction and ends MO_MARGIN cells before the lattice does, so
// that faces and cells just outside the walls exist. World position = origin + dx * lattice position.
// A field is one array over active tiles, index = tile * 512 + x + 8 (y + 8 z). A face field stores at cell (i, j, k)
// the face on the cell's low side: u at (i, j+1/2, k+1/2), v at (i+1/2, j, k+1/2), w at (i+1/2, j+1/2, k).
// 2D is one cell thick (n[2] = 1 + 2 MO_MARGIN).
#ifndef MO_GRID_H
#define MO_GRID_H

#include "base/base.h"
#include "base/vec.h"

enum { MO_TILE = 8, MO_TILE_CELLS = 512, MO_MARGIN = 2 };

typedef struct mo_grid {
    double dx;                // m
    mo_vec3 origin;           // m, of lattice position (0, 0, 0)
    int32_t n[3];             // lattice cells, margins included
    int32_t tn[3];            // tiles of the lattice
    int32_t *table;           // [tn[0] tn[1] tn[2]] active tile or -1
    int32_t tiles;            // active tiles, in the order of the table
    int32_t (*coord)[3];      // [tiles] tile coordinates; the first cell is 8 * coord
    int32_t (*neighbour)[27]; // [tiles] active tile at offset (x+1) + 3 (y+1) + 9 (z+1), or -1
    int64_t capacity;         // of coord and neighbour
    uint8_t *wanted;          // [table] tiles requested since the last activation
    struct mo_sites *sites;   // sheets (grid/sites.h); NULL: there are none
} mo_grid;

// Makes a lattice for the domain [0, size] with `cells` cells (per axis, without margins).
mo_status mo_grid_create(const int32_t cells[3], double dx, mo_grid **out, mo_error *err);
void mo_grid_destroy(mo_grid *g);
const char *mo_grid_fault(const mo_grid *g); // what is wrong with its tiles, NULL: nothing
static inline bool mo_grid_is_2d(const mo_grid *g) { return g->n[2] == 1 + 2 * MO_MARGIN; }
static inline int mo_grid_axes(const mo_grid *g) { return mo_grid_is_2d(g) ? 2 : 3; }
static inline double mo_grid_cell_volume(const mo_grid *g) { return g->dx * g->dx * g->dx; } // m^3

// mo_grid_want asks for the tiles that touch the cells lo..hi (inclusive, clamped to the lattice); mo_grid_activate
// then activates exactly the tiles that were asked for.
void mo_grid_want(mo_grid *g, const int32_t lo[3], const int32_t hi[3]);
mo_status mo_grid_activate(mo_grid *g, mo_error *err);

static inline int64_t mo_grid_cells(const mo_grid *g) { return (int64_t)g->tiles * MO_TILE_CELLS; }

// Returns the field index of a lattice cell, -1 where no tile is active.
static inline int32_t mo_grid_index(const mo_grid *g, int32_t i, int32_t j, int32_t k)
{
    if ((uint32_t)i >= (uint32_t)g->n[0] || (uint32_t)j >= (uint32_t)g->n[1] || (uint32_t)k >= (uint32_t)g->n[2])
        return -1;
    int32_t t = g->table[(i >> 3) + g->tn[0] * ((j >> 3) + g->tn[1] * (k >> 3))];
    return t < 0 ? -1 : t * MO_TILE_CELLS + (i & 7) + 8 * ((j & 7) + 8 * (k & 7));
}
// Computes the lattice cell of a field index.
static inline void mo_grid_cell(const mo_grid *g, int32_t index, int32_t cell[3])
{
    MO_ASSERT(index >= 0 && index < mo_grid_cells(g));
    const int32_t *c = g->coord[index >> 9];
    cell[0] = 8 * c[0] + (index & 7), cell[1] = 8 * c[1] + (index >> 3 & 7), cell[2] = 8 * c[2] + (index >> 6 & 7);
}
static inline mo_vec3 mo_grid_world(const mo_grid *g, double i, double j, double k)
{
    return mo_v3(g->origin.x + g->dx * i, g->origin.y + g->dx * j, g->origin.z + g->dx * k);
}

// The centre of the low face of a cell.
static inline mo_vec3 mo_grid_face(const mo_grid *g, int32_t index, int axis)
{
    int32_t c[3];
    mo_grid_cell(g, index, c);
    return mo_grid_world(g, c[0] + 0.5 * (axis != 0), c[1] + 0.5 * (axis != 1), c[2] + 0.5 * (axis != 2));
}

// Copies a tile and `halo` (1..8) cells around it into a block of (8 + 2 halo)^3, `outside` where no tile is active.
// Block index: (x + halo) + s ((y + halo) + s (z + halo)), s = 8 + 2 halo.
void mo_grid_block(const mo_grid *g, const float *field, int32_t tile, int32_t halo, float outside, float *block);
void mo_grid_block_u8(const mo_grid *g, const uint8_t *field, int32_t tile, int32_t halo, uint8_t outside,
                      uint8_t *block);

// Returns the index of the cell next to `index` along axis (0..2), on side -1 or +1; -1 where there is none.
static inline int32_t mo_grid_step(const mo_grid *g, int32_t index, int axis, int side)
{
    MO_ASSERT(axis >= 0 && axis < 3 && (side == 1 || side == -1));
    MO_ASSERT(index >= 0 && index < mo_grid_cells(g));
    static const int32_t stride[3] = {1, 8, 64}, offset[3] = {1, 3, 9};
    int32_t at = index >> (3 * axis) & 7, moved = at + side;
    if ((uint32_t)moved < 8u) return index + side * stride[axis];
    int32_t t = g->neighbour[index >> 9][13 + side * offset[axis]];
    return t < 0 ? -1 : (t << 9) + (index & 511) - side * 7 * stride[axis];
}

#endif
