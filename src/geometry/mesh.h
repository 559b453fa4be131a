// Triangle meshes: reading, welding, checking, and a bounding volume hierarchy for queries.
#ifndef MO_MESH_H
#define MO_MESH_H

#include "base/base.h"
#include "base/vec.h"

// Reads an .obj, .off, .ply or .stl file; polygons are split into triangles. Nothing is welded or checked yet, but
// every triangle has vertices that exist.
mo_status mo_mesh_read(const char *path, mo_mesh *out, mo_error *err);
mo_status mo_mesh_copy(const mo_mesh *mesh, mo_mesh *out, mo_error *err);              // positions and triangles
mo_status mo_mesh_check_numbers(const mo_mesh *mesh, const char *name, mo_error *err); // finite, in range, not empty
// Merges vertices at most `tolerance` apart (0: equal), drops triangles that lose a corner, and unused vertices.
mo_status mo_mesh_weld(mo_mesh *mesh, double tolerance, mo_error *err);
// Moves every vertex along its normal. Vertices at the same place (creases) move together, along all of their normals.
mo_status mo_mesh_swell(mo_mesh *mesh, double distance, mo_error *err);
// Checks that every edge is used by two triangles in opposite directions.
mo_status mo_mesh_check_closed(const mo_mesh *mesh, const char *name, mo_error *err);
mo_box3 mo_mesh_bounds(const mo_mesh *mesh);

static inline mo_vec3 mo_mesh_corner(const mo_mesh *m, int32_t triangle, int corner)
{
    MO_ASSERT(triangle >= 0 && triangle < m->triangle_count && corner >= 0 && corner < 3);
    const float *x = m->position + 3 * (int64_t)m->triangle[3 * (int64_t)triangle + corner];
    return mo_v3(x[0], x[1], x[2]);
}

// A bounding volume hierarchy over the triangles of a mesh, which must outlive it. Queries may run in parallel.
typedef struct mo_mesh_bvh mo_mesh_bvh;
mo_status mo_mesh_bvh_create(const mo_mesh *mesh, mo_mesh_bvh **out, mo_error *err);
void mo_mesh_bvh_destroy(mo_mesh_bvh *bvh);
// Finds the unsigned distance from p. *triangle holds a guess (-1: none) and gets the nearest one; with a good guess
// this is far faster.
double mo_mesh_bvh_distance(const mo_mesh_bvh *bvh, mo_vec3 p, int32_t *triangle);
int64_t mo_mesh_bvh_crossings(const mo_mesh_bvh *bvh); // pairs of triangles that pass through each other

#endif
