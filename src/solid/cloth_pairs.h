// Pairs of vertices and triangles of cloth, and of its edges, that come near each other in a step: where they are
// nearest, and when they meet.
//
// Two triangle meshes first touch with a vertex on a triangle or an edge on an edge. Paths are straight, from `from` to
// `to`. Meeting times are found by additive conservative advancement (Li, Kaufman and Jiang 2021), which never reports
// a time after the true one.
#ifndef MO_CLOTH_PAIRS_H
#define MO_CLOTH_PAIRS_H

#include "solid/elastic_surface.h"

typedef struct mo_drape { // a cloth on its path through a step
    const mo_elastic_surface *surface;
    double thickness;         // m
    const mo_vec3 *from, *to; // [vertices] m
    int32_t edges, (*edge)[2];
    uint8_t *own; // [triangles] bits of corners 0..2, and of the edges from them (3..5), that this triangle stands for
    mo_box3 *box; // [boxes of the surface's tree] round the paths
} mo_drape;

// Makes the parts that do not change from step to step; the surface must outlive the drape.
mo_status mo_drape_create(const mo_elastic_surface *surface, double thickness, mo_drape *out, mo_error *err);
void mo_drape_destroy(mo_drape *d); // frees the arrays, not the struct

typedef struct mo_pair {
    int32_t a, b;   // drapes
    bool edges;     // an edge of a and an edge of b; else a vertex of a and a triangle of b
    int32_t own[2]; // vertices of a; of a vertex the first
    int32_t other[3];
} mo_pair;

typedef struct mo_pairs {
    int32_t count;
    int64_t capacity;
    mo_pair *pair; // in an order that does not depend on threads
} mo_pairs;

// Lists the pairs whose paths come within `margin` plus the thickness of each other, along each axis. Pairs that share
// a vertex are left out. out->pair is kept for the next call: mo_free.
mo_status mo_pairs_find(int32_t count, mo_drape *drape, double margin, mo_pairs *out, mo_error *err);

typedef struct mo_nearest {  // of a pair
    double own[2], other[3]; // weights of the vertices, >= 0, each of sum 1
    mo_vec3 way;             // from b to a, m
    double distance;
    bool inside; // of the triangle, or of both edges; points nearest to borders belong to other pairs
} mo_nearest;
// Finds where a pair is nearest when its drapes are at xa and xb.
mo_nearest mo_pair_nearest(const mo_pair *p, const mo_vec3 *xa, const mo_vec3 *xb);

// Whether the pair comes as near as `least` on its path or, if it begins so near, nearer still by a tenth. *time: the
// part of the path, 0..1, up to which it certainly does not.
bool mo_pair_meets(const mo_pair *p, const mo_drape *drape, double least, double *time);

// Whether an edge of one triangle goes through the other.
bool mo_triangles_cross(const mo_vec3 a[3], const mo_vec3 b[3]);
// Whether triangles of the drapes that share no vertex cross at the start of the paths; *a, *b: drapes of the first
// that do.
bool mo_drapes_cross(int32_t count, mo_drape *drape, int32_t *a, int32_t *b);

#endif
