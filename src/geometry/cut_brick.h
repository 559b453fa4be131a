// One brick of a cut mesh: its samples, and the vertices and triangles that they give (cut_mesh.h).
#ifndef MO_CUT_BRICK_H
#define MO_CUT_BRICK_H

#include "base/vec.h"
#include "geometry/cut_mesh.h"

typedef struct mo_cut_vertex {
    uint64_t key; // what it lies on, and its sheet; MO_CUT_SHARED: other bricks may have it, too
    float x[3], normal[3];
    int32_t id; // in the whole mesh
} mo_cut_vertex;
#define MO_CUT_SHARED (1ull << 63)
enum { MO_CUT_AXIS_BITS = 18 }; // of a lattice coordinate in a key

typedef struct mo_cut_map { // key -> number, open addressing
    uint64_t *key;          // 0 = free
    int32_t *id;
    int64_t size, used;
} mo_cut_map;
bool mo_cut_map_create(mo_cut_map *m, int64_t entries);
void mo_cut_map_clear(mo_cut_map *m);
void mo_cut_map_destroy(mo_cut_map *m);
bool mo_cut_map_room(mo_cut_map *m, int64_t entries);            // for that many more; false = no memory
int32_t mo_cut_map_put(mo_cut_map *m, uint64_t key, int32_t id); // the number stored before, or `id`

// One thread's output and scratch.
typedef struct mo_cut_worker {
    const mo_cut_def *def;
    int32_t brick, low[3]; // low: smallest lattice coordinate of all bricks
    bool solids;           // near this brick
    float *phi, *solid;    // samples with one node around
    float *root;       // [14 per node] roots on the edges that start there: 7 of phi, 7 of the distance; NaN: not yet
    int32_t stride[3]; // of samples
    mo_cut_map map;
    mo_cut_vertex *vertices;
    int32_t (*triangles)[3]; // vertices of the brick
    int64_t vertex_count, triangle_count, vertex_capacity, triangle_capacity;
    int64_t first; // vertex of the brick
    bool failed;
} mo_cut_worker;

void mo_cut_brick(mo_cut_worker *w); // appends what the loaded brick gives; sets `failed` without memory

#endif
