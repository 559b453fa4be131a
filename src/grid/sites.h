// Sites: which unknowns a cell and a face have. A sheet is a solid without thickness.
//
// Mostly a cell has one value ("row") and each of its low faces one velocity ("sample"), and both have the cell's field
// index. A sheet divides cells into sides and faces into pieces. The first side of a cell and the first piece of a face
// keep the cell's index; the others come behind all cells, in the order of their tiles:
//
//     row     mo_grid_cells + k    side k of those beyond the first
//     sample  mo_grid_cells + k    piece k of those beyond the first; it belongs to one axis
//
// Fields of a grid with sheets have mo_grid_fields entries. Code that goes from a cell to its neighbours uses the
// functions below. For tiles that no sheet meets they return what the lattice has, at no cost.
#ifndef MO_SITES_H
#define MO_SITES_H

#include "grid/grid.h"

typedef struct mo_sample { // a piece of a face, and the rows that it joins
    int32_t cell, axis;    // it lies on the low side of this cell (a field index)
    int32_t low, high;     // -1: none, the piece is closed
    double area;           // part of the face
    double at[2];          // its centre, in the two axes behind `axis` in cyclic order: 0..1 from the face's low corner
} mo_sample;

// A sheet's triangle as a wall of a row. `vector` is the area of its part, outwards of the row, in faces; the weights
// of the triangle's vertices give the mean of a linear field over the part. So rows have D u + Fw V = 0 with Fw V = sum
// vector . (weight V).
typedef struct mo_site_wall {
    int32_t row, triangle, vertex[3];
    double vector[3], weight[3];
} mo_site_wall;

// An opening between two rows of one cell, where a sheet ends.
typedef struct mo_gap {
    int32_t cell, low, high;
    int32_t triangle;       // of the strip in which it lies, among those of the finder
    double area, normal[3]; // in faces, 0: closed; unit, from low to high
    double at[3];           // its centre, lattice coordinates
} mo_gap;

typedef struct mo_row_sample { // a sample seen from a row
    int32_t sample;
    int8_t axis, side; // side 0: on the row's low side, 1: on its high side
} mo_row_sample;

typedef struct mo_sites {
    int32_t rows, samples;               // beyond the cells
    int32_t *cell;                       // [rows] to which each belongs
    mo_sample *sample;                   // [samples]
    int32_t *first_row, *first_sample;   // [tiles + 1] of each tile
    int32_t cuts, *cut;                  // [tiles] number among those that sheets meet, -1: none does
    mo_sample (*face)[MO_TILE_CELLS][3]; // [cuts] samples with the index of their cell
    int64_t *first;                      // [512 cuts + rows + 1] the samples of each row
    mo_row_sample *list;
    int32_t (*beside)[6]; // [512 cuts + rows] the row through the largest opening of each side, low x first; -1: none
    double *volume;       // [512 cuts + rows] part of the cell, of each row; NULL: not known
    int64_t *first_wall;  // [512 cuts + rows + 1] walls of each row; NULL: none
    mo_site_wall *wall;   // by row
    int32_t gaps;         // by cell
    mo_gap *gap;
    struct mo_cut_finder *finder; // finds the row of a point (grid/cut.h); NULL: there are no triangles
    struct mo_reach *reach;       // what rows near sheets see (grid/reach.h); NULL: not made
    struct mo_ghosts *ghosts; // rows beyond the cells are ghosts of whole cells (grid/ghosts.h); NULL: sides of them
} mo_sites;

// How sheets divide a lattice: the cell of every side beyond the first, ascending; and every piece of every face that
// is not one whole piece between the first sides of its cells, by cell and axis. Pieces beyond the first of a face get
// their numbers in this order. Rows beyond the cells are mo_grid_cells + k for side k.
typedef struct mo_sites_def {
    int32_t sides;
    const int32_t *side;
    int32_t samples;
    const mo_sample *sample;
    // Further data from triangles, or nothing:
    int32_t volumes; // of rows, all others are 1
    const int32_t *volume_row;
    const double *volume;
    int32_t walls, gaps;
    const mo_site_wall *wall; // of any order; a row's walls keep theirs
    const mo_gap *gap;        // by cell
    // Rows beyond the cells are ghosts: mo_site_step does not lead from cells to them. Samples may have one row alone;
    // such a sample is not among those of the row (grid/ghosts.h).
    bool ghosts;
} mo_sites_def;

// The grid owns its sites; they last until an activation that changes the tiles. MO_ERROR_INPUT: the order is wrong, or
// a sample joins rows that do not lie on its two sides.
mo_status mo_sites_create(mo_grid *g, const mo_sites_def *def, mo_error *err);
void mo_sites_destroy(mo_grid *g);

static inline int64_t mo_grid_fields(const mo_grid *g)
{
    const mo_sites *s = g->sites;
    return mo_grid_cells(g) + (!s ? 0 : s->rows > s->samples ? s->rows : s->samples);
}
// One past the last row, and past the last sample.
static inline int32_t mo_grid_rows(const mo_grid *g)
{
    return (int32_t)mo_grid_cells(g) + (g->sites ? g->sites->rows : 0);
}
static inline int32_t mo_grid_samples(const mo_grid *g)
{
    return (int32_t)mo_grid_cells(g) + (g->sites ? g->sites->samples : 0);
}
// The sides beyond the first that lie in a tile are rows *first .. *end - 1; the pieces likewise are samples.
void mo_sites_rows(const mo_grid *g, int32_t tile, int32_t *first, int32_t *end);
void mo_sites_samples(const mo_grid *g, int32_t tile, int32_t *first, int32_t *end);

// The whole low face of a cell, as a sample.
static inline mo_sample mo_sample_plain(const mo_grid *g, int32_t cell, int axis)
{
    return (mo_sample){cell, axis, mo_grid_step(g, cell, axis, -1), cell, 1, {0.5, 0.5}};
}

// Whether a sample belongs to one row alone, though there are cells on both of its sides.
static inline bool mo_sample_is_own(const mo_grid *g, const mo_sample *s)
{
    return (s->low >= 0 && s->high < 0) || (s->low < 0 && s->high >= 0 && mo_grid_step(g, s->cell, s->axis, -1) >= 0);
}

static inline bool mo_site_is_cut(const mo_grid *g, int32_t index)
{
    return g->sites && (index >= mo_grid_cells(g) || g->sites->cut[index >> 9] >= 0);
}

// These do the work where sheets are; use the functions below instead.
int32_t mo_sites_cell(const mo_grid *g, int32_t row);
int32_t mo_sites_step(const mo_grid *g, int kind, int32_t index, int axis, int side);
mo_sample mo_sites_sample(const mo_grid *g, int axis, int32_t sample);
int mo_sites_of_row(const mo_grid *g, int32_t row, const mo_row_sample **list);

double mo_sites_volume(const mo_grid *g, int32_t row);
int mo_sites_walls(const mo_grid *g, int32_t row, const mo_site_wall **list);

// The part of its cell that a row has, and the walls of a row.
static inline double mo_site_volume(const mo_grid *g, int32_t row)
{
    return mo_site_is_cut(g, row) ? mo_sites_volume(g, row) : 1;
}
static inline int mo_site_walls(const mo_grid *g, int32_t row, const mo_site_wall **list)
{
    return mo_site_is_cut(g, row) ? mo_sites_walls(g, row, list) : 0;
}
// The open part of a face, and where a sample lies (lattice coordinates).
static inline double mo_sample_area(const mo_grid *g, int axis, int32_t sample)
{
    return mo_site_is_cut(g, sample) ? mo_sites_sample(g, axis, sample).area : 1;
}
// The cell on whose low side a sample lies.
static inline int32_t mo_sample_cell(const mo_grid *g, int axis, int32_t sample)
{
    return mo_site_is_cut(g, sample) ? mo_sites_sample(g, axis, sample).cell : sample;
}
void mo_sample_place(const mo_grid *g, int axis, int32_t sample, double x[3]);

// Returns the field index of the cell in which a row lies.
static inline int32_t mo_site_cell(const mo_grid *g, int32_t row)
{
    return row < mo_grid_cells(g) ? row : mo_sites_cell(g, row);
}

// The neighbour along an axis, side -1 or +1, through the largest opening; -1: none. Kinds 0..2 are samples of that
// axis, MO_SITE_ROW are rows.
enum { MO_SITE_ROW = 3 };
static inline int32_t mo_site_step(const mo_grid *g, int kind, int32_t index, int axis, int side)
{
    return mo_site_is_cut(g, index) ? mo_sites_step(g, kind, index, axis, side) : mo_grid_step(g, index, axis, side);
}

// The rows that a sample joins; -1 where there is none.
static inline int32_t mo_sample_low(const mo_grid *g, int axis, int32_t sample)
{
    return mo_site_is_cut(g, sample) ? mo_sites_sample(g, axis, sample).low : mo_grid_step(g, sample, axis, -1);
}
static inline int32_t mo_sample_high(const mo_grid *g, int axis, int32_t sample)
{
    return mo_site_is_cut(g, sample) ? mo_sites_sample(g, axis, sample).high : sample;
}

// All samples of a row: for each axis those on its low side, then those on its high side. Returns their number; *list
// is `six` where no sheet is.
static inline int mo_row_samples(const mo_grid *g, int32_t row, mo_row_sample six[6], const mo_row_sample **list)
{
    if (mo_site_is_cut(g, row)) return mo_sites_of_row(g, row, list);
    int count = 0;
    for (int8_t a = 0; a < 3; a++) {
        int32_t high = mo_grid_step(g, row, a, 1);
        six[count++] = (mo_row_sample){row, a, 0};
        if (high >= 0) six[count++] = (mo_row_sample){high, a, 1};
    }
    *list = six;
    return count;
}

// A sample and its axis in one number.
static inline int32_t mo_face_code(int32_t sample, int axis) { return 3 * sample + axis; }
static inline int32_t mo_face_sample(int32_t code) { return code / 3; }
static inline int mo_face_axis(int32_t code) { return code % 3; }

#endif
