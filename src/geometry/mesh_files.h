// Readers of triangle meshes, a file for each format, and the mesh that they fill. Inner to geometry/.
#ifndef MO_MESH_FILES_H
#define MO_MESH_FILES_H

#include "geometry/mesh.h"
#include "geometry/text.h"

enum { MO_MESH_MAX = INT32_MAX / 3, MO_POLYGON_MAX = 1024 };

// A mesh that grows, and the corners of the polygon that is being read.
typedef struct mo_mesh_maker {
    mo_mesh mesh;
    int64_t vertex_capacity, triangle_capacity;
    int32_t corner[MO_POLYGON_MAX], corners;
    double plane[MO_POLYGON_MAX][2]; // the corners as they lie in the polygon's plane
} mo_mesh_maker;

// `t` is for messages.
mo_status mo_mesh_add_vertex(mo_mesh_maker *m, const mo_text *t, const double x[3], mo_error *err);
mo_status mo_mesh_add_corner(mo_mesh_maker *m, const mo_text *t, int64_t vertex, mo_error *err);
mo_status mo_mesh_end_polygon(mo_mesh_maker *m, const mo_text *t, mo_error *err); // splits it into triangles
mo_status mo_mesh_read_place(mo_text *t, double x[3], mo_error *err);             // three coordinates

mo_status mo_mesh_read_obj(mo_text *t, mo_mesh_maker *m, mo_error *err);
mo_status mo_mesh_read_off(mo_text *t, mo_mesh_maker *m, mo_error *err);
mo_status mo_mesh_read_ply(mo_text *t, mo_mesh_maker *m, mo_error *err);
mo_status mo_mesh_read_stl(mo_text *t, mo_mesh_maker *m, mo_error *err);

#endif
