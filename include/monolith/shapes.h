// Part of monolith.h: shapes, triangle meshes, sheets and simplex meshes.
#ifndef MONOLITH_SHAPES_H
#define MONOLITH_SHAPES_H

#include "monolith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Shapes: signed distances, negative inside ----------------------------------------------------------------------

// Shapes are immutable and reference counted: constructors return a new reference (NULL = out of memory), operations
// keep a reference to their operands. Shapes are centred at the origin, y up. Lengths are in metres, all > 0.
typedef struct mo_shape mo_shape;

mo_shape *mo_shape_sphere(double radius);
mo_shape *mo_shape_box(mo_vec3 size);                      // full edge lengths
mo_shape *mo_shape_capsule(double radius, double height);  // height of the whole capsule, caps included, along y
mo_shape *mo_shape_cylinder(double radius, double height); // axis y
mo_shape *mo_shape_cone(double radius, double height);     // base at -height/2, tip at +height/2
mo_shape *mo_shape_torus(double major, double minor);      // axis y
mo_shape *mo_shape_plane(mo_vec3 normal, double offset);   // half space dot(normal, x) < offset
mo_shape *mo_shape_bowl(double radius, double thickness);  // lower half shell, outer radius, open upwards
mo_shape *mo_shape_hollow_sphere(double radius, double thickness); // outer radius
mo_shape *mo_shape_rabbit(double height); // smooth union of ellipsoids; stands on y = -height/2
// Makes a sampled signed distance of a closed triangle mesh, from an .obj, .off, .ply or .stl file. `resolution` is
// the number of samples along the longest edge (0: 128). Open or badly oriented meshes are refused; the message counts
// the edges that are wrong.
mo_status mo_shape_mesh_file(const char *path, int32_t resolution, mo_shape **out, mo_error *err);

mo_shape *mo_shape_move(const mo_shape *s, mo_vec3 by);
mo_shape *mo_shape_rotate(const mo_shape *s, mo_vec3 axis, double degrees);
mo_shape *mo_shape_scale(const mo_shape *s, double factor);
mo_shape *mo_shape_shell(const mo_shape *s, double thickness); // the wall of that thickness inside the surface of s
mo_shape *mo_shape_union(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_difference(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_intersect(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_smooth_union(const mo_shape *a, const mo_shape *b, double radius);

const mo_shape *mo_shape_retain(const mo_shape *s);
void mo_shape_release(const mo_shape *s);
double mo_shape_distance(const mo_shape *s, mo_vec3 p); // < 0 inside; |gradient| <= 1
mo_box3 mo_shape_bounds(const mo_shape *s);             // encloses the inside; infinite for half spaces

// ---- Triangle meshes ---------------------------------------------------------------------------------------------

typedef struct mo_mesh {
    int32_t vertex_count, triangle_count;
    float *position;   // [3 * vertex_count]
    float *normal;     // [3 * vertex_count], unit, outwards; or NULL
    int32_t *triangle; // [3 * triangle_count], counter-clockwise seen from outside
    float *velocity;   // [3 * vertex_count], m/s, of what moves there; or NULL
} mo_mesh;
void mo_mesh_destroy(mo_mesh *mesh); // frees the arrays, not the struct
// Makes the surface of a shape by marching cubes, with `resolution` cells along the longest edge of its bounds.
mo_status mo_shape_to_mesh(const mo_shape *s, int32_t resolution, mo_mesh *out, mo_error *err);

// ---- Sheets: open surfaces without thickness ---------------------------------------------------------------------

// Thin shells are made of sheets. A sheet may have borders (an edge of one triangle) and junctions (an edge of three or
// more). Triangles need not be turned alike. In two dimensions a sheet is a curve, swept along z beyond the one layer
// of cells.
typedef struct mo_sheet {
    int32_t vertices, triangles;
    double (*position)[3];  // [vertices] m
    int32_t (*triangle)[3]; // [triangles]
} mo_sheet;
void mo_sheet_destroy(mo_sheet *s); // frees the arrays, not the struct

// The makers give edges of about `edge` m and not above 1.5 of it. MO_ERROR_INPUT: a number is not above 0, or there
// would be more than 2 million triangles.
// Makes a plate in the plane y = 0, centred.
mo_status mo_sheet_plate(double size_x, double size_z, double edge, mo_sheet *out, mo_error *err);
// Makes the surface that a line through `count` points (r, y), r >= 0, sweeps when it is turned about the y axis.
mo_status mo_sheet_revolve(int32_t count, const double (*point)[2], double edge, mo_sheet *out, mo_error *err);
mo_status mo_sheet_disk(double radius, double edge, mo_sheet *out, mo_error *err);                // in y = 0
mo_status mo_sheet_tube(double radius, double height, double edge, mo_sheet *out, mo_error *err); // about y, centred
mo_status mo_sheet_hemisphere(double radius, double edge, mo_sheet *out, mo_error *err);         // a bowl, rim in y = 0
mo_status mo_sheet_cup(double radius, double height, double edge, mo_sheet *out, mo_error *err); // its bottom in y = 0
// Makes a ribbon that winds about the y axis and rises by `pitch` per turn; from the radius inwards it is `width`
// broad.
mo_status mo_sheet_helix(double radius, double pitch, double turns, double width, double edge, mo_sheet *out,
                         mo_error *err);
// Sweeps a line through `count` points (x, y) from z = -depth to z = depth: for two dimensions. Its triangles are as
// long as that, and only its own edges are divided.
mo_status mo_sheet_curve(int32_t count, const double (*point)[2], double edge, double depth, mo_sheet *out,
                         mo_error *err);
// Reads the triangles of a file. Equal vertices become one, and edges above `edge` are halved until none is left.
mo_status mo_sheet_read(const char *path, double edge, mo_sheet *out, mo_error *err);

mo_status mo_sheet_copy(const mo_sheet *s, mo_sheet *out, mo_error *err);
void mo_sheet_move(mo_sheet *s, mo_vec3 by);
void mo_sheet_rotate(mo_sheet *s, mo_vec3 axis, double radians);
void mo_sheet_scale(mo_sheet *s, mo_vec3 by);
// Makes one sheet of both. Vertices at most `tolerance` apart become one, and triangles that lose a corner are left
// out.
mo_status mo_sheet_weld(const mo_sheet *a, const mo_sheet *b, double tolerance, mo_sheet *out, mo_error *err);
// The same triangles with normals, for pictures. A vertex where the sheet is bent by more than 35 degrees exists
// several times.
mo_status mo_sheet_to_mesh(const mo_sheet *s, mo_mesh *out, mo_error *err);

// ---- Simplex meshes ----------------------------------------------------------------------------------------------

// Tetrahedra, or triangles in two dimensions: what elastic bodies are made of. Neighbours share whole faces.
typedef struct mo_tets {
    int32_t dimension; // 3: tetrahedra; 2: triangles, z = 0 everywhere
    int32_t vertex_count, element_count;
    double *position; // [3 * vertex_count] m
    int32_t *element; // [(dimension + 1) * element_count] vertices; every element has positive volume
} mo_tets;
// Fills a shape (2D: its section at z = 0) with elements whose edges are about `element` long, at most 200000 vertices.
// Boxes, also turned ones, get layers of cells and keep their planes. All other shapes are filled by isosurface
// stuffing, which rounds sharp edges off; the angles between faces are within 10.7 .. 164.8 degrees (2D: 15 .. 120). A
// size of elements that does not suit the shape is an error, whose text names one that does.
mo_status mo_tets_from_shape(const mo_shape *shape, double element, bool two_dimensional, mo_tets *out, mo_error *err);
// Reads a mesh from a text file: Medit (.mesh), Gmsh (.msh, 2.2 and 4.1), VTK (.vtk, legacy, unstructured grid), TetGen
// and Triangle (.node and .ele; either may be named). Tetrahedra, or triangles at z = 0 if there are none. A mesh that
// is inside out is reversed; single inverted or flat elements are refused, and the message names file and line.
mo_status mo_tets_read(const char *path, mo_tets *out, mo_error *err);
void mo_tets_destroy(mo_tets *tets); // frees the arrays, not the struct
typedef struct mo_tets_quality {
    double volume;                        // m^3, 2D: m^2
    double smallest_angle, largest_angle; // degrees, between faces; 2D: between edges
    double shortest_altitude;             // m, of a vertex above the opposite face
    double shortest_edge, longest_edge;   // m
    double flattest;                      // the least altitude in parts of the longest edge of its element
    double volume_error;                  // part of the shape's volume; NAN where that is not known
    int32_t pieces;                       // parts that no vertex joins; thin parts of a shape may break off
    int32_t inner;                        // vertices that are not on the surface; 0: it is one element thick
} mo_tets_quality;
// Measures a mesh; shape: the shape from which it was made, or NULL. The volume of shapes in 2D is not known here.
mo_status mo_tets_measure(const mo_tets *t, const mo_shape *shape, mo_tets_quality *out, mo_error *err);

#ifdef __cplusplus
}
#endif
#endif
