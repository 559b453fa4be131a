// Reading OpenVDB files as vdb_write.c writes them. Every length is checked against the file, so that a damaged file is
// an error and never more.
#include "base/base.h"
#include "output/file.h"
#include "output/vdb.h"
#include "output/vdb_format.h"
#include <math.h>
#include <string.h>
#include <zlib.h>

typedef struct cursor { // where reading is; the first thing that is wrong stops it
    const char *data;
    size_t bytes, at;
    const char *fault; // what is wrong; NULL: nothing yet
    bool out_of_memory;
} cursor;

typedef struct leaf_mask { // a leaf of one volume, as its tree tells it
    int32_t leaf[3];
    uint64_t mask[8];
} leaf_mask;

typedef struct tree {
    leaf_mask *leaf;
    int64_t count, capacity;
} tree;

// ---- Numbers, strings, compressed values ----

static void fail(cursor *c, const char *fault)
{
    if (!c->fault) c->fault = fault;
}

// The next bytes; NULL once something is wrong.
static const void *take(cursor *c, size_t bytes)
{
    if (c->fault) return NULL;
    if (bytes > c->bytes - c->at) return fail(c, "ends too early"), NULL;
    const char *data = c->data + c->at;
    c->at += bytes;
    return data;
}

static void get(cursor *c, void *out, size_t bytes)
{
    const void *data = take(c, bytes);
    if (data)
        memcpy(out, data, bytes);
    else
        memset(out, 0, bytes);
}

static uint32_t get_u32(cursor *c)
{
    uint32_t value;
    get(c, &value, sizeof value);
    return value;
}

static int64_t get_i64(cursor *c)
{
    int64_t value;
    get(c, &value, sizeof value);
    return value;
}

// A string of less than `size` characters; longer ones are cut.
static void get_string(cursor *c, char *out, size_t size)
{
    uint32_t length = get_u32(c);
    const char *data = take(c, length);
    size_t kept = data ? length < size ? length : size - 1 : 0;
    if (kept) memcpy(out, data, kept);
    out[kept] = 0;
}

static void skip_metadata(cursor *c)
{
    char name[8];
    for (uint32_t n = get_u32(c); n > 0 && !c->fault; n--) {
        get_string(c, name, sizeof name);
        get_string(c, name, sizeof name);
        take(c, get_u32(c));
    }
}

// `count` floats that are compressed, or stored as they are behind a negative length.
static void get_values(cursor *c, float *values, size_t count)
{
    char inactive;
    get(c, &inactive, 1);
    int64_t bytes = get_i64(c);
    uLongf raw = count * sizeof(float);
    if (c->fault) return;
    if (inactive != 0) return fail(c, "has inactive values that are not the background");
    if (bytes <= 0) {
        if (bytes != -(int64_t)raw) return fail(c, "has a block of values of a wrong length");
        get(c, values, raw);
        return;
    }
    const void *packed = take(c, (size_t)bytes);
    uLongf got = raw;
    if (packed && (uncompress((Bytef *)values, &got, packed, (uLong)bytes) != Z_OK || got != raw))
        fail(c, "has a damaged block of values");
}

// ---- Trees ----

static int count_bits(const uint64_t *mask, int words)
{
    int count = 0;
    for (int w = 0; w < words; w++) count += __builtin_popcountll(mask[w]);
    return count;
}

static bool bit(const uint64_t *mask, int n) { return mask[n >> 6] >> (n & 63) & 1; }

// The children of a node; active tiles are no part of what we write.
static void get_node(cursor *c, uint64_t *children, int words)
{
    uint64_t tiles[MO_VDB_UPPER_WORDS];
    get(c, children, sizeof *children * (size_t)words);
    get(c, tiles, sizeof *tiles * (size_t)words);
    if (count_bits(tiles, words)) return fail(c, "has active tiles");
    float none[1];
    get_values(c, none, 0);
}

static void get_leaf(cursor *c, tree *t, const int32_t leaf[3])
{
    leaf_mask found;
    memcpy(found.leaf, leaf, sizeof found.leaf);
    get(c, found.mask, sizeof found.mask);
    if (c->fault) return;
    if (!mo_reserve((void **)&t->leaf, &t->capacity, t->count + 1, sizeof found)) {
        c->out_of_memory = true;
        return fail(c, "");
    }
    t->leaf[t->count++] = found;
}

static void get_lower_node(cursor *c, tree *t, const int32_t first[3])
{
    uint64_t children[MO_VDB_LOWER_WORDS];
    get_node(c, children, MO_VDB_LOWER_WORDS);
    for (int n = 0; n < 4096 && !c->fault; n++) {
        const int32_t leaf[3] = {first[0] + (n >> 8), first[1] + (n >> 4 & 15), first[2] + (n & 15)};
        if (bit(children, n)) get_leaf(c, t, leaf);
    }
}

static void get_upper_node(cursor *c, tree *t)
{
    uint64_t children[MO_VDB_UPPER_WORDS];
    int32_t origin[3];
    get(c, origin, sizeof origin);
    get_node(c, children, MO_VDB_UPPER_WORDS);
    for (int n = 0; n < 32768 && !c->fault; n++) {
        if (!bit(children, n)) continue;
        const int32_t at[3] = {n >> 10, n >> 5 & 31, n & 31};
        int32_t first[3];
        for (int k = 0; k < 3; k++) first[k] = origin[k] / 8 + 16 * at[k];
        get_lower_node(c, t, first);
    }
}

static void get_topology(cursor *c, tree *t, int components)
{
    float background[3];
    if (get_u32(c) != 1) fail(c, "has several buffers per leaf");
    get(c, background, sizeof(float) * (size_t)components);
    if (get_u32(c) != 0) fail(c, "has tiles in its root");
    for (uint32_t n = get_u32(c); n > 0 && !c->fault; n--) get_upper_node(c, t);
}

// ---- A volume ----

static void get_map(cursor *c, mo_vdb *v)
{
    char map[32];
    double number[18];
    get_string(c, map, sizeof map);
    if (!c->fault && strcmp(map, MO_VDB_MAP) != 0) fail(c, "has a map that is no uniform scale and translation");
    get(c, number, sizeof number);
    v->origin = (mo_vec3){number[0], number[1], number[2]};
    v->voxel = number[3];
    if (!c->fault && !(isfinite(v->voxel) && v->voxel > 0)) fail(c, "has voxels without a size");
}

static void get_leaf_values(cursor *c, const leaf_mask *leaf, mo_vdb_grid *g, int64_t at)
{
    uint64_t mask[8];
    float values[3 * MO_VDB_LEAF] = {0};
    int count = count_bits(leaf->mask, 8), next = 0;
    get(c, mask, sizeof mask);
    if (!c->fault && memcmp(mask, leaf->mask, sizeof mask) != 0) fail(c, "tells two masks of one leaf");
    get_values(c, values, (size_t)(count * g->components));
    for (int n = 0; n < MO_VDB_LEAF && !c->fault; n++) {
        if (!bit(mask, n)) continue;
        for (int k = 0; k < g->components; k++) g->value[k][at + mo_vdb_voxel(n)] = values[next++];
    }
}

static bool make_room(mo_vdb *v, const tree *t, int components)
{
    size_t voxels = (size_t)t->count * MO_VDB_LEAF;
    v->leaf = mo_alloc(sizeof *v->leaf * ((size_t)t->count + 1));
    v->grid = mo_calloc(sizeof *v->grid);
    if (!v->leaf || !v->grid) return false;
    v->grids = 1, v->grid->components = components, v->leaves = (int32_t)t->count;
    for (int64_t l = 0; l < t->count; l++) memcpy(v->leaf[l], t->leaf[l].leaf, sizeof *v->leaf);
    for (int k = 0; k < components; k++)
        if (!(v->grid->value[k] = mo_calloc(sizeof(float) * voxels + 1))) return false;
    return true;
}

static void get_volume(cursor *c, int components, mo_vdb *v)
{
    tree t = {0};
    if (get_u32(c) != (MO_VDB_ZIP | MO_VDB_ACTIVE_MASK)) fail(c, "is compressed in another way");
    skip_metadata(c);
    get_map(c, v);
    get_topology(c, &t, components);
    if (!c->fault && t.count > INT32_MAX / MO_VDB_LEAF) fail(c, "has too many leaves");
    if (!c->fault && !make_room(v, &t, components)) c->out_of_memory = true, fail(c, "");
    for (int64_t l = 0; l < t.count && !c->fault; l++) get_leaf_values(c, &t.leaf[l], v->grid, l * MO_VDB_LEAF);
    mo_free(t.leaf);
}

// ---- The file ----

static void skip_header(cursor *c)
{
    if (get_i64(c) != MO_VDB_MAGIC) fail(c, "is no OpenVDB file");
    if (get_u32(c) != MO_VDB_FORMAT) fail(c, "is of another version of the format");
    take(c, 2 * sizeof(uint32_t));
    const char *offsets = take(c, 1);
    if (offsets && !*offsets) fail(c, "does not tell where its volumes are");
    take(c, 36);
    skip_metadata(c);
}

static void find_volume(cursor *c, const char *name, mo_vdb *v)
{
    char found[sizeof v->grid->name], type[32], parent[2];
    for (uint32_t n = get_u32(c); n > 0 && !c->fault; n--) {
        get_string(c, found, sizeof found);
        get_string(c, type, sizeof type);
        get_string(c, parent, sizeof parent);
        int64_t start = get_i64(c), end = (get_i64(c), get_i64(c));
        if (c->fault) return;
        if (start < (int64_t)c->at || end < start || end > (int64_t)c->bytes) return fail(c, "has wrong positions");
        bool floats = !strcmp(type, MO_VDB_FLOATS), vectors = !strcmp(type, MO_VDB_VECTORS);
        c->at = (size_t)end;
        if (strcmp(found, name) != 0) continue;
        if (!floats && !vectors) return fail(c, "has a tree of another kind");
        c->at = (size_t)start;
        get_volume(c, vectors ? 3 : 1, v);
        if (v->grid) memcpy(v->grid->name, found, sizeof found);
        return;
    }
    fail(c, "has no volume of this name");
}

mo_status mo_read_vdb(const char *path, const char *name, mo_vdb *out, mo_error *err)
{
    *out = (mo_vdb){0};
    char *data;
    cursor c = {0};
    MO_TRY(mo_file_read(path, &data, &c.bytes, NULL, err));
    c.data = data;
    skip_header(&c);
    find_volume(&c, name, out);
    mo_free_block(data);
    if (c.out_of_memory) return mo_fail_memory(err);
    return c.fault ? mo_fail(err, MO_ERROR_FILE, "%s: %s: %s", path, name, c.fault) : MO_OK;
}

void mo_vdb_destroy(mo_vdb *v)
{
    for (int32_t g = 0; g < v->grids; g++)
        for (int k = 0; k < 3; k++) mo_free(v->grid[g].value[k]);
    mo_free(v->grid);
    mo_free(v->leaf);
    *v = (mo_vdb){0};
}
