// One brick of a cut mesh: its samples, and the vertices and triangles that they give (cut_mesh.h).
#ifndef MO_CUT_BRICK_H
#define MO_CUT_BRICK_H

#include "base/vec.h"
#include "geometry/brick_mesh.h"
#include "geometry/cut_mesh.h"

typedef struct mo_cut_vertex {
    uint64_t key; // what it lies on, and its sheet; MO_KEY_SHARED: other bricks may have it, too
    float x[3], normal[3];
    int32_t id; // in the whole mesh
} mo_cut_vertex;
enum { MO_CUT_AXIS_BITS = 18 }; // of a lattice coordinate in a key

// One thread's output and scratch.
typedef struct mo_cut_worker {
    const mo_cut_def *def;
    int32_t brick, low[3]; // low: smallest lattice coordinate of all bricks
    bool solids;           // near this brick
    float *phi, *solid;    // samples with one node around
    float *root;       // [14 per node] roots on the edges that start there: 7 of phi, 7 of the distance; NaN: not yet
    int32_t stride[3]; // of samples
    mo_key_map map;
    mo_cut_vertex *vertices;
    int32_t (*triangles)[3]; // vertices of the brick
    int64_t vertex_count, triangle_count, vertex_capacity, triangle_capacity;
    int64_t first; // vertex of the brick
    bool failed;
} mo_cut_worker;

void mo_cut_brick(mo_cut_worker *w); // appends the triangles of the loaded brick; sets `failed` without memory

#endif
