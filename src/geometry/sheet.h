// Sheets: open triangle surfaces without thickness, from which thin shells are made.
//
// A sheet may have borders (an edge of one triangle) and junctions (an edge of three or more). Triangles need not be
// turned alike. In two dimensions a sheet is a curve, swept along z beyond the one layer of cells.
#ifndef MO_SHEET_H
#define MO_SHEET_H

#include "base/base.h"
#include "base/vec.h"

typedef struct mo_sheet {
    int32_t vertices, triangles;
    double (*position)[3];  // [vertices] m
    int32_t (*triangle)[3]; // [triangles]
} mo_sheet;
void mo_sheet_destroy(mo_sheet *s); // frees the arrays, not the struct

// The makers below give edges of about `edge` m and not above 1.5 of it. MO_ERROR_INPUT: a number is not above 0, or
// there would be more than mo_sheet_most triangles.
static const int32_t mo_sheet_most = 2000000;

// A plate in the plane y = 0, centred.
mo_status mo_sheet_plate(double size_x, double size_z, double edge, mo_sheet *out, mo_error *err);
// What a line through `count` points (r, y), r >= 0, sweeps when it is turned about the y axis.
mo_status mo_sheet_revolve(int32_t count, const double (*point)[2], double edge, mo_sheet *out, mo_error *err);
mo_status mo_sheet_disk(double radius, double edge, mo_sheet *out, mo_error *err);                // in y = 0
mo_status mo_sheet_tube(double radius, double height, double edge, mo_sheet *out, mo_error *err); // about y, centred
mo_status mo_sheet_hemisphere(double radius, double edge, mo_sheet *out, mo_error *err);         // a bowl, rim in y = 0
mo_status mo_sheet_cup(double radius, double height, double edge, mo_sheet *out, mo_error *err); // its bottom in y = 0
// A ribbon that winds about the y axis and rises by `pitch` per turn: from the radius inwards it is `width` broad.
mo_status mo_sheet_helix(double radius, double pitch, double turns, double width, double edge, mo_sheet *out,
                         mo_error *err);
// A line through `count` points (x, y), swept from z = -depth to z = depth: for two dimensions. Its triangles are as
// long as that, and only its own edges are divided.
mo_status mo_sheet_curve(int32_t count, const double (*point)[2], double edge, double depth, mo_sheet *out,
                         mo_error *err);
// The triangles of a file. Equal vertices become one, and edges above `edge` are halved until none is left.
mo_status mo_sheet_read(const char *path, double edge, mo_sheet *out, mo_error *err);

mo_status mo_sheet_copy(const mo_sheet *s, mo_sheet *out, mo_error *err);
void mo_sheet_move(mo_sheet *s, mo_vec3 by);
void mo_sheet_rotate(mo_sheet *s, mo_vec3 axis, double radians);
void mo_sheet_scale(mo_sheet *s, mo_vec3 by);
// Both in one. Vertices at most `tolerance` apart become one, and triangles that lose a corner are left out.
mo_status mo_sheet_weld(const mo_sheet *a, const mo_sheet *b, double tolerance, mo_sheet *out, mo_error *err);

// The edges of a sheet, and the triangles round each of them.
typedef struct mo_sheet_edges {
    int32_t count;
    int32_t (*vertex)[2]; // [count] the lower number first
    int32_t *first;       // [count + 1]
    int32_t *around;      // [first[count]] 4 triangle + corner: the edge goes from this corner to the next one
    int32_t (*of)[3];     // [triangles] edge from each corner to the next
    int32_t borders, junctions;
} mo_sheet_edges;
mo_status mo_sheet_edges_create(const mo_sheet *s, mo_sheet_edges *out, mo_error *err);
void mo_sheet_edges_destroy(mo_sheet_edges *e);

#endif
