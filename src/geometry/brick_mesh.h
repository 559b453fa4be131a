// The common part of meshes that are made brick by brick (surface.h, cut_mesh.h): vertices on the boundaries of bricks
// are recognised by their key, which is their place on the lattice.
#ifndef MO_BRICK_MESH_H
#define MO_BRICK_MESH_H

#include "base/base.h"

#define MO_KEY_SHARED (1ull << 63) // in a key: other bricks may have the vertex, too

typedef struct mo_key_map { // key -> number, open addressing
    uint64_t *key;          // 0 = free
    int32_t *id;
    int64_t size, used;
} mo_key_map;
bool mo_key_map_create(mo_key_map *m, int64_t entries);
void mo_key_map_clear(mo_key_map *m);
void mo_key_map_destroy(mo_key_map *m);
bool mo_key_map_room(mo_key_map *m, int64_t entries);            // for that many more; false = no memory
int32_t mo_key_map_put(mo_key_map *m, uint64_t key, int32_t id); // the number stored before, or `id`

// Allocates the arrays of so many vertices, with normals, and triangles; MO_ERROR_FAILED: they are more than a mesh can
// hold.
mo_status mo_mesh_make_room(int64_t vertices, int64_t triangles, mo_mesh *out, mo_error *err);

// Finds the smallest lattice coordinates of bricks of `edge` cubes with low corners lo. It is an error if their extent
// does not fit `bits` of a key.
mo_status mo_bricks_low(int32_t count, const int32_t (*lo)[3], const int32_t edge[3], int bits, int32_t low[3],
                        mo_error *err);

#endif
