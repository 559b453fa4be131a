// The surface of a deformed body cut by the cells of the grid: pieces of faces, each in one cell (EM 3.2.2). For shear
// stress the surface is also cut by the boxes round edges. With the coupling `polygons`, rows of pressure and stress
// act on these pieces; with `faces` (the default), they act on the parts of cells' faces that bodies cover.
#ifndef MO_ELASTIC_PIECES_H
#define MO_ELASTIC_PIECES_H

#include "grid/fractions.h"
#include "grid/weights.h"
#include "solid/elastic_field.h"

typedef struct mo_piece_list {
    mo_surface_piece *piece; // [count] in the order of cells: of z, y, x
    int32_t count;
    int64_t capacity;
} mo_piece_list;

typedef struct mo_elastic_pieces {
    mo_piece_list of[MO_SAMPLE_KINDS]; // MO_SAMPLE_CELL, MO_SAMPLE_EDGE + axis; faces have none
} mo_elastic_pieces;

void mo_elastic_pieces_destroy(mo_elastic_pieces *p);
// Cuts the faces of a body's boundary, where its vertices are, by cells of edge dx from the grid's origin on, and, if
// `edges`, by the cubes of edge dx round the cells' edges: the cube of an edge along an axis begins half a cell below
// its cell along the two other axes. In two dimensions faces are as deep as a cell. A cell owns its low planes, not its
// high ones.
mo_status mo_elastic_pieces_update(mo_elastic_pieces *p, const mo_elastic_body *b, const mo_elastic_field *f,
                                   mo_vec3 origin, double dx, bool edges, mo_error *err);
// Finds the pieces in a cell, or round one of its low edges (`sample`: as of weights); returns how many.
int32_t mo_elastic_pieces_in(const mo_elastic_pieces *p, int sample, const int32_t cell[3],
                             const mo_surface_piece **first);

#endif
