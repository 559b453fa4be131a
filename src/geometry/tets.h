// Simplex meshes beyond the public interface: boxes, boundaries, measures, and checks.
#ifndef MO_TETS_H
#define MO_TETS_H

#include "base/base.h"
#include "base/vec.h"

enum { MO_TETS_MAX_VERTICES = 200000 }; // of any mesh

// Makes a box of edges `size` about the origin, and moves it. It has cells of about `element`, at least one along each
// edge, of which every second one is the mirror image of its neighbours. In 3D a cell is five tetrahedra; in 2D the
// rectangle size.x by size.y two triangles, and the motion turns it about z.
mo_status mo_tets_box(mo_vec3 size, mo_pose motion, double element, bool two_dimensional, mo_tets *out, mo_error *err);

// Lists the faces that belong to one element: triangles, counter-clockwise seen from outside (2D: edges, with the
// inside on their left), `dimension` vertices each, in the order of elements and within an element of the vertex
// opposite to the face. *faces is for mo_free. The error names two elements that overlap or a face of three elements.
mo_status mo_tets_boundary(const mo_tets *t, int32_t **faces, int32_t *count, mo_error *err);
// Finds for every face of every element (the one opposite to vertex k of element e is (dimension + 1) e + k) whether it
// belongs to one element only. *first and *second get two elements that cannot be neighbours, -1 if there are none.
mo_status mo_tets_match_faces(const mo_tets *t, bool *single, int32_t *first, int32_t *second, mo_error *err);
// Removes elements until every edge (2D: vertex) of the boundary belongs to two faces: if several parts meet only in
// that edge, the largest one stays. Vertices without an element are removed.
mo_status mo_tets_unpinch(mo_tets *t, mo_error *err);
mo_status mo_tets_drop_unused(mo_tets *t, mo_error *err); // vertices without element

double mo_tets_volume(const mo_tets *t, int32_t element);   // m^3, 2D: m^2; negative if inverted
double mo_tets_flatness(const mo_tets *t, int32_t element); // the least altitude in parts of the longest edge
// Returns what is wrong with the numbers of a mesh; for example, every element must have positive volume. NULL: nothing
// is wrong.
const char *mo_tets_fault(const mo_tets *t);

// The vertices of an element's faces, by the vertex opposite: of triangles (0), of tetrahedra (1). Outward.
static const int8_t mo_tets_face[2][4][3] = {{{1, 2}, {2, 0}, {0, 1}}, {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

static inline mo_vec3 mo_tets_position(const mo_tets *t, int32_t vertex)
{
    const double *x = t->position + 3 * (int64_t)vertex;
    return mo_v3(x[0], x[1], x[2]);
}
static inline const int32_t *mo_tets_element(const mo_tets *t, int32_t element)
{
    return t->element + (t->dimension + 1) * (int64_t)element;
}

#endif
