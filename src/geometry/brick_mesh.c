// What meshes made brick by brick share.
#include "geometry/brick_mesh.h"
#include "base/parallel.h"
#include <string.h>

// ---- Numbers by key ----

bool mo_key_map_create(mo_key_map *m, int64_t entries)
{
    int64_t size = 64;
    while (size < 2 * entries) size *= 2;
    *m = (mo_key_map){.key = mo_calloc(sizeof(uint64_t) * (size_t)size),
                      .id = mo_alloc(sizeof(int32_t) * (size_t)size),
                      .size = size};
    return m->key && m->id;
}

void mo_key_map_clear(mo_key_map *m)
{
    if (m->used) memset(m->key, 0, sizeof(uint64_t) * (size_t)m->size);
    m->used = 0;
}

void mo_key_map_destroy(mo_key_map *m)
{
    mo_free(m->key);
    mo_free(m->id);
    *m = (mo_key_map){0};
}

int32_t mo_key_map_put(mo_key_map *m, uint64_t key, int32_t id)
{
    MO_ASSERT(key != 0);
    MO_ASSERT(2 * m->used <= m->size);
    uint64_t mask = (uint64_t)m->size - 1, i = mo_hash((uint32_t)key, (uint32_t)(key >> 32), 0) & mask;
    for (; m->key[i] != 0; i = (i + 1) & mask)
        if (m->key[i] == key) return m->id[i];
    m->key[i] = key;
    m->id[i] = id;
    m->used++;
    return id;
}

bool mo_key_map_room(mo_key_map *m, int64_t entries)
{
    if (2 * (m->used + entries) <= m->size) return true;
    mo_key_map bigger;
    bool enough = mo_key_map_create(&bigger, 2 * (m->used + entries));
    for (int64_t i = 0; enough && i < m->size; i++)
        if (m->key[i]) mo_key_map_put(&bigger, m->key[i], m->id[i]);
    mo_key_map_destroy(enough ? m : &bigger);
    if (enough) *m = bigger;
    return enough;
}

// ---- Meshes ----

mo_status mo_mesh_make_room(int64_t vertices, int64_t triangles, mo_mesh *out, mo_error *err)
{
    if (vertices > INT32_MAX || triangles > INT32_MAX)
        return mo_fail(err, MO_ERROR_FAILED, "surface has %lld triangles, more than a mesh can hold",
                       (long long)triangles);
    out->position = mo_alloc(sizeof(float) * 3 * (size_t)vertices + 1);
    out->normal = mo_alloc(sizeof(float) * 3 * (size_t)vertices + 1);
    out->triangle = mo_alloc(sizeof(int32_t) * 3 * (size_t)triangles + 1);
    return out->position && out->normal && out->triangle ? MO_OK : mo_fail_memory(err);
}

mo_status mo_bricks_low(int32_t count, const int32_t (*lo)[3], const int32_t edge[3], int bits, int32_t low[3],
                        mo_error *err)
{
    for (int a = 0; a < 3 && count > 0; a++) {
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (int32_t b = 0; b < count; b++) {
            if (lo[b][a] < least) least = lo[b][a];
            if (lo[b][a] > most) most = lo[b][a];
        }
        low[a] = least;
        if ((int64_t)most - least + edge[a] >= 1 << bits)
            return mo_fail(err, MO_ERROR_INPUT, "surface lattice spans %lld samples, at most %d are possible",
                           (long long)most - least, 1 << bits);
    }
    return MO_OK;
}
