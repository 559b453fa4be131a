// Reads text files of simplex meshes word by word, into raw meshes that are not checked yet. Each format is a file of
// its own; tets_read.c checks the raw meshes.
#ifndef MO_TETS_TEXT_H
#define MO_TETS_TEXT_H

#include "base/base.h"
#include <locale.h>

// ---- Words of a file. Messages begin with file:line. ----

typedef struct mo_text {
    const char *path;
    char *start;          // the whole file, and a 0 behind it
    const char *at, *end; // the rest that is still to be read
    int32_t line;         // of `at`, from 1
    bool comments;        // from # to the end of a line
    const char *word;     // the last word read
    int32_t length;       // of it, at most INT32_MAX
    int32_t word_line;    // where it is
    locale_t locale;      // numbers have a point everywhere
} mo_text;

mo_status mo_text_open(const char *path, mo_text *t, mo_error *err);
void mo_text_close(mo_text *t);
// Fails at the last word, or at the end of the file.
mo_status mo_text_fail(const mo_text *t, mo_error *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool mo_text_next(mo_text *t);                       // reads the next word; false at the end of the file
bool mo_text_is(const mo_text *t, const char *word); // whether the last word is this one
void mo_text_skip_line(mo_text *t);                  // goes on behind the end of the line
// Read a word that must be of this kind; `what` is for messages, as in "coordinate x of vertex".
mo_status mo_text_expect(mo_text *t, const char *word, mo_error *err);
mo_status mo_text_integer(mo_text *t, const char *what, int64_t least, int64_t most, int64_t *out, mo_error *err);
mo_status mo_text_number(mo_text *t, const char *what, double *out, mo_error *err);

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
