// Internal to multigrid on faces: one level of the hierarchy.
//
// Rows are numbered colour by colour and cube by cube: cubes of one colour do not couple, and a sweep meets rows in the
// order of their numbers. Unknowns that every level carries (bodies' velocities) come last.
#ifndef MO_FACE_LEVEL_H
#define MO_FACE_LEVEL_H

#include "sparse/cholesky.h"
#include "sparse/face_multigrid.h"

typedef struct mo_float_rows { // sparse rows in float
    int64_t *row;
    int32_t *col;
    float *val;
} mo_float_rows;

enum { MO_STRAIN_SLOTS = 15 };

typedef struct mo_strain { // the part of a matrix that consists of strain rates (face_strain.c), while building
    int32_t (*near)[MO_STRAIN_SLOTS]; // [faces] rows of the faces that share a strain rate with each; -1 = none
    double (*weight)[3];              // [faces] of the rates a face owns: in its cell, on the edges with later axes
    double *mass;                     // [faces] the rest of the diagonal
} mo_strain;

enum { MO_FACE_SLOTS = MO_STRAIN_SLOTS - 1 };

typedef struct mo_face_level {
    int32_t rows, faces;
    // The first entries of each row off the diagonal; where there are fewer, `near` is the row itself and `couple` 0.
    // NULL: most rows are longer.
    int32_t (*near)[MO_FACE_SLOTS]; // [faces]
    float (*couple)[MO_FACE_SLOTS]; // [faces]
    uint8_t *over;                  // [groups] 1 = some row has more entries: they are in the two below
    mo_float_rows before, behind;   // [rows] entries before and behind the diagonal; sweeps from zero need one half
    float *diagonal, *inverse;      // [rows] inverse 0 where the diagonal is
    int32_t groups, *group;         // [groups + 1] first row of each cube
    int32_t colours, *colour;       // [colours + 1] first cube of each colour
    const double *corner;           // [carried x carried] factored (dense.h): carried unknowns are solved as one block
    double *carried;                // [carried] scratch
    mo_float_rows up, down;         // [rows] interpolation from the next level; [rows of it] restriction to it
    float *vectors, *x, *b, *r;     // [rows] each
    int32_t (*coord)[4], *label;    // [faces] while building: cell and axis, connected piece (-1: not carried further)
    mo_csr A;                       // while building
    mo_strain strain; // while building, if split: the part of A with strain rates; `rest` is the rest of its rows
    mo_csr rest;
    bool wide; // rows couple further than those of strain do, by nodes
} mo_face_level;

typedef struct mo_face_nodes { // nodes beside the finest level (face_nodes.c); all is over the level's scale
    int32_t count, rows;       // nodes; rows of the level
    mo_csr to, from, among;    // count x rows, rows x count, count x count
    const double (*at)[3];     // while building
    const uint8_t *axis;
    int32_t *label;           // [count] while building: piece, -1: not carried further
    mo_csr up;                // count x rows of the next level: interpolation
    int32_t members, *member; // rows that are solved together with the nodes: faces, then carried unknowns
    int32_t carried;
    mo_csr matrix;            // of members and nodes, without springs
    mo_csr springs;           // [carried + count, squared]; without rows: none
    mo_cholesky *factor;      // of the matrix with springs
    double *x, *b, *r, *work; // [count] each, [members + count]
} mo_face_nodes;

void mo_face_level_destroy(mo_face_level *l);
void mo_face_level_built(mo_face_level *l); // frees what only building needs
int64_t mo_face_level_bytes(const mo_face_level *l);

mo_status mo_strain_create(int32_t faces, mo_strain *s);
void mo_strain_destroy(mo_strain *s);
void mo_strain_neighbour(const int32_t at[4], int32_t slot, int32_t out[4]);
// Gives the entries of row i, a face of axis a, by slot.
void mo_strain_row(const mo_strain *s, int32_t a, int32_t i, double row[MO_STRAIN_SLOTS]);
// Gives the weights and the mass of the next level's face I, with the restriction R.
void mo_strain_restrict(const mo_face_level *l, const mo_csr *R, int axes, mo_face_level *next, int32_t I);

// Faces are ordered by colour, then by cube of so many cells along an edge, then by cell within it. Keys of one cube
// share all but the last 9 bits, those of one colour the first 4.
uint64_t mo_face_key(const int32_t face[4], int32_t cube);
mo_status mo_face_level_group(mo_face_level *l, const uint64_t *key); // cubes and colours of faces, whose keys ascend
mo_status mo_float_rows_create(int64_t entries, mo_float_rows *t);    // entries of rows whose starts are there

// Makes the finest level from K; place[rows] gets the row of each of K's rows.
mo_status mo_face_level_create(const mo_face_multigrid_def *def, const int32_t *label, int32_t *place,
                               mo_face_level *l);
// Splits A into strain and rest; mass [faces] is the part of the diagonal that couples nothing. The next level is then
// split as well, and its matrix is smaller. mo_face_level_join undoes it.
mo_status mo_face_level_split(mo_face_level *l, const double *mass);
void mo_face_level_join(mo_face_level *l);
// Makes the next level, whose matrix is still in double. It has no rows if nothing is carried further.
// nodes: those beside the level, or NULL; they get their interpolation.
mo_status mo_face_level_coarsen(mo_face_level *l, int32_t axes, mo_face_nodes *nodes, mo_face_level *next);
mo_status mo_face_level_compress(mo_face_level *l); // float rows from l->A

// Copies the matrix among carried unknowns [carried x carried]. It is the same on all levels, which have it while they
// are built. NULL: no memory.
double *mo_face_level_copy_corner(const mo_face_level *l);
// Changes that matrix.
void mo_face_level_corner(mo_face_level *l, const double *corner);

void mo_face_level_forward(mo_face_level *l, bool from_zero);             // a sweep over x
void mo_face_level_backward(mo_face_level *l, float *change);             // in reverse order; change [rows] or NULL
void mo_face_level_residual(mo_face_level *l, const float *change);       // r = b - A x, right after a sweep
void mo_face_level_restrict(const mo_face_level *l, mo_face_level *next); // next->b = P^T r
void mo_face_level_interpolate(mo_face_level *l, const mo_face_level *next);
float mo_face_level_row_residual(const mo_face_level *l, int32_t row);                       // b - A x of one row
void mo_face_level_direct(mo_face_level *l, const mo_direct *d, bool reverse, double *work); // work [members]

// ---- Nodes ----

// Puts the nodes of a definition beside the finest level; place: where its rows are, scale: by what they are divided.
// Labels exist already.
mo_status mo_face_nodes_create(const mo_face_nodes_def *def, int32_t rows, const int32_t *place, double scale,
                               mo_face_nodes *out);
void mo_face_nodes_destroy(mo_face_nodes *n);
// Joins the pieces of faces, label [faces] < pieces, that nodes touch; label_of [count] gets those of nodes.
mo_status mo_face_nodes_label(const mo_face_nodes_def *def, int32_t faces, int32_t pieces, int32_t *label,
                              int32_t *label_of);
// Finds the members and their matrix, while the level has its own, with room for springs of a pattern (NULL: none).
mo_status mo_face_nodes_collect(mo_face_nodes *n, const mo_face_level *l, const mo_csr *springs);
mo_status mo_face_nodes_factor(mo_face_nodes *n, const mo_csr *springs, double scale); // springs over scale, or NULL
// Makes one matrix of the level's part without strain and its nodes.
mo_status mo_face_nodes_rest(const mo_face_nodes *n, const mo_face_level *l, mo_csr *out);

void mo_face_nodes_start(mo_face_nodes *n, const double *r, double scale);
void mo_face_nodes_direct(mo_face_nodes *n, mo_face_level *l); // solves for nodes and the faces about them
void mo_face_nodes_restrict(mo_face_nodes *n, const mo_face_level *l,
                            mo_face_level *next);                                // adds to its right-hand side
void mo_face_nodes_give(const mo_face_nodes *n, const double *force, double *v); // of carried unknowns and nodes
void mo_face_nodes_interpolate(mo_face_nodes *n, mo_face_level *l, const mo_face_level *next);

#endif
