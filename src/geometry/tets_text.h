// Reads text files of simplex meshes word by word, into raw meshes that are not checked yet. Each format is a file of
// its own; tets_read.c checks the raw meshes.
#ifndef MO_TETS_TEXT_H
#define MO_TETS_TEXT_H

#include "geometry/text.h"

// ---- A mesh as it is in the file ----

enum { MO_RAW_MAX = 4000000 }; // vertices, and elements of a kind

typedef struct mo_raw_vertex {
    double x[3];
    int64_t tag; // its number in elements
    int32_t line;
} mo_raw_vertex;

typedef struct mo_raw_element {
    int64_t vertex[4], number; // in the file
    int32_t line;
} mo_raw_element;

typedef struct mo_raw {
    mo_raw_vertex *vertex;
    int64_t vertex_count, vertex_capacity;
    mo_raw_element *element[2]; // triangles, tetrahedra
    int64_t element_count[2], element_capacity[2];
} mo_raw;

// Read `dimension` coordinates, or dimension + 1 tags of the triangle or tetrahedron, and add them.
mo_status mo_raw_read_vertex(mo_raw *raw, mo_text *t, int32_t dimension, int64_t tag, mo_error *err);
mo_status mo_raw_read_element(mo_raw *raw, mo_text *t, int32_t dimension, int64_t number, mo_error *err);
mo_status mo_raw_add_element(mo_raw *raw, const mo_text *t, int32_t dimension, mo_raw_element element, mo_error *err);

mo_status mo_raw_read_medit(mo_text *t, mo_raw *raw, mo_error *err);
mo_status mo_raw_read_gmsh(mo_text *t, mo_raw *raw, mo_error *err);
mo_status mo_raw_read_vtk(mo_text *t, mo_raw *raw, mo_error *err);
mo_status mo_raw_read_node(mo_text *t, mo_raw *raw, mo_error *err); // the vertices
mo_status mo_raw_read_ele(mo_text *t, mo_raw *raw, mo_error *err);  // the elements

#endif
