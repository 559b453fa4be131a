// The surface of a deformed elastic body as triangles (2D: edges), for contacts: its nearest point to any other point,
// the side on which that point lies, and the normals of its vertices.
//
// A tree of boxes is built over the faces once, by their places at rest; when vertices have moved, its boxes are fitted
// anew. The result of a query does not depend on the order in which the tree is visited: if several faces are equally
// near, the first one counts.
#ifndef MO_ELASTIC_SURFACE_H
#define MO_ELASTIC_SURFACE_H

#include "solid/elastic.h"

typedef struct mo_surface_box { // of the tree: children are `first` and `first` + 1, or faces listed from `first` on
    mo_box3 box;
    int32_t first, count; // count: faces of a leaf; 0: it is none
} mo_surface_box;

typedef struct mo_elastic_surface {
    const mo_elastic_body *body;
    int32_t dimension;
    int32_t faces, *face;      // [faces][dimension] vertices, outward (geometry/tets.h)
    int32_t *across;           // [faces][dimension] the face that shares all but corner k; -1: none
    int32_t vertices, *vertex; // those of the body that are on the surface, ascending
    double element;            // m: mean length of the surface's edges at rest
    mo_vec3 *face_normal;      // [faces] unit, outward
    mo_vec3 *normal;           // [vertices of the body] mean of the faces' about each, by angles; unit, 0 inside
    int32_t boxes, *order;     // of the tree; [faces] in the order of its leaves
    mo_surface_box *tree;      // parents before children
} mo_elastic_surface;

// Finds the boundary of a body's mesh, or takes the triangles of cloth, whose orientation gives the normals, and fits
// the tree to the places of the vertices. The body must outlive the surface.
mo_status mo_elastic_surface_create(const mo_elastic_body *b, mo_elastic_surface *out, mo_error *err);
void mo_elastic_surface_destroy(mo_elastic_surface *s); // frees the arrays, not the struct
void mo_elastic_surface_update(mo_elastic_surface *s);  // after vertices moved

typedef struct mo_surface_point { // the nearest point of the surface to x
    int32_t face;
    double weight[3];      // of the face's corners, >= 0, of sum 1
    mo_vec3 point, normal; // normal: of the face, or the mean of those that meet in the edge or vertex; unit
    double gap;            // m: distance of x, < 0 behind the surface
} mo_surface_point;

// Returns whether a face counts.
typedef bool (*mo_face_filter)(const void *user, int32_t face);

// Finds the nearest point to x within `limit` (m); false: there is none. filter NULL: every face counts.
bool mo_elastic_surface_nearest(const mo_elastic_surface *s, mo_vec3 x, double limit, mo_face_filter filter,
                                const void *user, mo_surface_point *out);

// Finds the weights of a face's corners at its point y. A face without area counts as one of its edges.
void mo_elastic_surface_weigh(const mo_elastic_surface *s, int32_t face, mo_vec3 y, double weight[3]);

static inline const mo_vec3 *mo_surface_corner(const mo_elastic_surface *s, const mo_vec3 *x, int32_t face, int k)
{
    return &x[s->face[face * s->dimension + k]];
}

#endif
