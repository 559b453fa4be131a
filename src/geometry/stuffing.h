// Isosurface stuffing (Labelle, Shewchuk 2007): fills a shape with simplices cut from a lattice. The lattice is sampled
// (signed distance), its edges are cut where the surface crosses them, lattice points that a cut comes too close to
// move onto it, and every lattice simplex leaves the part of it that is inside. In three dimensions the lattice is body
// centred cubic and dihedral angles are proven to lie in 10.7 .. 164.8 degrees; in two dimensions it is the one of
// equilateral triangles. Sharp edges of the shape are rounded off.
#ifndef MO_STUFFING_H
#define MO_STUFFING_H

#include "base/base.h"
#include "base/vec.h"

typedef enum mo_stuffing_outcome {
    MO_STUFFED,
    MO_STUFFED_NOTHING,  // the shape is too small or too thin for any element
    MO_STUFFED_TOO_MANY, // the mesh would have more than MO_TETS_MAX_VERTICES vertices
} mo_stuffing_outcome;

// Fills a bounded shape with elements of edge `element` (3D: the longer lattice edges; the others have 0.87 of it; 2D:
// the section at z = 0). *out is filled, and to be destroyed, only if the outcome is MO_STUFFED. The error is for want
// of memory alone.
mo_status mo_stuff(const mo_shape *shape, double element, bool two_dimensional, mo_stuffing_outcome *outcome,
                   mo_tets *out, mo_error *err);

// ---- Between the files of the mesher ----

enum { MO_STUFFING_DIRECTIONS = 7 }; // at most: half of the edges at a lattice point

typedef struct mo_stuffing_cut {
    int32_t point, direction; // on the edge from this lattice point
    double fraction;          // of the edge's length, 0 .. 1
} mo_stuffing_cut;

typedef struct mo_stuffing {
    const mo_shape *shape;
    int32_t dimension;
    // The lattice: point c is at origin + c[0] axis[0] + c[1] axis[1] + c[2] axis[2]. In 3D, c is all even or all odd.
    mo_vec3 origin, axis[3];
    int32_t directions, direction[MO_STUFFING_DIRECTIONS][3];
    double length[MO_STUFFING_DIRECTIONS]; // m, of the edge
    double warp[MO_STUFFING_DIRECTIONS];   // a point moves to a cut closer than this part of the edge
    // The points kept: all inside, and all of their neighbours.
    int64_t count, capacity;
    int32_t (*at)[3]; // [count]
    double *distance; // [count]
    int8_t *label;    // [count] 1 inside, -1 outside, 0 on the surface
    int32_t *table;   // points by hash of their coordinates, -1 = free
    uint32_t mask;    // size of the table - 1
    // The cuts, by the point that owns the edge.
    uint8_t *cut_mask;    // [count] directions with a cut
    int32_t *first_cut;   // [count]
    mo_stuffing_cut *cut; // [cut_count]
    int64_t cut_count;
    int32_t *moved; // [count] the cut that the point moved to, -1 = none
    // The result: vertex v < count is a lattice point, count + c is cut c.
    int64_t element_count, element_capacity; // entries of element[]
    int32_t *element;
    bool enough; // memory, so far
} mo_stuffing;

void mo_stuffing_make_lattice(mo_stuffing *s, double element);                   // by its dimension
void mo_stuffing_index(mo_stuffing *s);                                          // makes the table of points
mo_vec3 mo_stuffing_position(const mo_stuffing *s, int64_t v);                   // of a vertex of the result
int32_t mo_stuffing_find(const mo_stuffing *s, int32_t x, int32_t y, int32_t z); // a lattice point, or -1
int32_t mo_stuffing_cut_between(const mo_stuffing *s, int32_t p, int32_t q);     // the vertex on the cut edge p q
void mo_stuffing_add(mo_stuffing *s, const int32_t *vertex);                     // dimension + 1 vertices
// Emit the elements inside, after cutting and warping.
void mo_stuffing_triangles(mo_stuffing *s);
void mo_stuffing_tetrahedra(mo_stuffing *s);

#endif
