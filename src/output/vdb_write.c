// Writing OpenVDB files. The tree of a volume has a root, nodes of 32^3 children, nodes of 16^3 children, and leaves of
// 8^3 voxels (a "5_4_3" tree). A file holds the masks of all nodes first, the values of all leaves behind them.
#include "base/base.h"
#include "output/checkpoint.h"
#include "output/file.h"
#include "output/json.h"
#include "output/vdb.h"
#include "output/vdb_format.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct place { // where a leaf hangs in the tree
    int32_t root[3];   // of its upper node, in units of 4096 voxels
    int32_t upper;     // child of the upper node in which it lies
    int32_t lower;     // child of the lower node that it is
    int32_t leaf;      // its number in the volume
} place;

typedef struct volume { // a volume on its way into the file
    const mo_vdb *vdb;
    const mo_vdb_grid *grid;
    place *place; // [count] leaves with an active voxel, in the order of the tree
    int32_t count;
    mo_text *text;
} volume;

// ---- Numbers, strings, compressed values ----

static void put(mo_text *t, const void *data, size_t bytes)
{
    if (bytes) mo_text_add(t, data, bytes);
}

static void put_u32(mo_text *t, uint32_t value) { put(t, &value, sizeof value); }
static void put_i64(mo_text *t, int64_t value) { put(t, &value, sizeof value); }
static void put_vector(mo_text *t, mo_vec3 v) { put(t, (double[3]){v.x, v.y, v.z}, 3 * sizeof(double)); }

static void put_string(mo_text *t, const char *s)
{
    put_u32(t, (uint32_t)strlen(s));
    put(t, s, strlen(s));
}

static void put_metadata(mo_text *t, const char *name, const char *type, const void *data, size_t bytes)
{
    put_string(t, name), put_string(t, type);
    put_u32(t, (uint32_t)bytes);
    put(t, data, bytes);
}

// The active values of a node, behind a byte that says that inactive ones are the background. What compression does
// not make smaller is stored as it is, with a negative length.
static void put_values(mo_text *t, const float *values, size_t count)
{
    static const char all_inactive_are_background = 0;
    Bytef packed[3 * MO_VDB_LEAF * sizeof(float) + 256];
    uLongf bytes = sizeof packed, raw = count * sizeof(float);
    put(t, &all_inactive_are_background, 1);
    MO_ASSERT(compressBound(raw) <= sizeof packed);
    if (count && compress(packed, &bytes, (const Bytef *)values, raw) == Z_OK && bytes < raw) {
        put_i64(t, (int64_t)bytes);
        put(t, packed, bytes);
    } else {
        put_i64(t, -(int64_t)raw);
        put(t, values, raw);
    }
}

// ---- Leaves ----

// Which voxels of a leaf are active, in the file's order, and their values. Returns their number.
static int active_values(const volume *v, int32_t leaf, uint64_t mask[8], float *values)
{
    int count = 0;
    memset(mask, 0, 8 * sizeof *mask);
    for (int n = 0; n < MO_VDB_LEAF; n++) {
        int64_t i = (int64_t)leaf * MO_VDB_LEAF + mo_vdb_voxel(n);
        bool active = false;
        for (int k = 0; k < v->grid->components; k++) active |= v->grid->value[k][i] != 0;
        if (!active) continue;
        mask[n >> 6] |= (uint64_t)1 << (n & 63);
        for (int k = 0; k < v->grid->components; k++) values[v->grid->components * count + k] = v->grid->value[k][i];
        count++;
    }
    return count;
}

static int compare_places(const void *a, const void *b)
{
    const place *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p->root[k] != q->root[k]) return p->root[k] < q->root[k] ? -1 : 1;
    if (p->upper != q->upper) return p->upper < q->upper ? -1 : 1;
    return p->lower < q->lower ? -1 : p->lower > q->lower;
}

static void find_places(volume *v)
{
    uint64_t mask[8];
    float values[3 * MO_VDB_LEAF];
    v->count = 0;
    for (int32_t l = 0; l < v->vdb->leaves; l++) {
        if (!active_values(v, l, mask, values)) continue;
        place *p = &v->place[v->count++];
        *p = (place){.leaf = l};
        for (int k = 0; k < 3; k++) {
            int32_t c = v->vdb->leaf[l][k];
            p->root[k] = c >> 9;
            p->upper = p->upper << 5 | (c >> 4 & 31);
            p->lower = p->lower << 4 | (c & 15);
        }
    }
    if (v->count) qsort(v->place, (size_t)v->count, sizeof *v->place, compare_places);
}

// ---- The tree ----

static bool same_upper(const place *a, const place *b) { return !memcmp(a->root, b->root, sizeof a->root); }
static bool same_lower(const place *a, const place *b) { return same_upper(a, b) && a->upper == b->upper; }

// The end of the range of places from `first` on that share a node.
static int32_t range_end(const volume *v, int32_t first, bool (*same)(const place *, const place *))
{
    int32_t end = first + 1;
    while (end < v->count && same(&v->place[first], &v->place[end])) end++;
    return end;
}

static void put_bit(uint64_t *mask, int32_t bit) { mask[bit >> 6] |= (uint64_t)1 << (bit & 63); }

// A node's mask of children, its mask of active tiles, of which there are none, and their values.
static void put_node(mo_text *t, const uint64_t *children, size_t words)
{
    static const uint64_t none[MO_VDB_UPPER_WORDS];
    put(t, children, words * sizeof *children);
    put(t, none, words * sizeof *none);
    put_values(t, NULL, 0);
}

static void put_lower_node(const volume *v, int32_t first, int32_t end)
{
    uint64_t children[MO_VDB_LOWER_WORDS] = {0}, mask[8];
    float values[3 * MO_VDB_LEAF];
    for (int32_t i = first; i < end; i++) put_bit(children, v->place[i].lower);
    put_node(v->text, children, MO_VDB_LOWER_WORDS);
    for (int32_t i = first; i < end; i++) {
        active_values(v, v->place[i].leaf, mask, values);
        put(v->text, mask, sizeof mask);
    }
}

static void put_upper_node(const volume *v, int32_t first, int32_t end)
{
    uint64_t children[MO_VDB_UPPER_WORDS] = {0};
    int32_t origin[3];
    for (int k = 0; k < 3; k++) origin[k] = v->place[first].root[k] * 4096;
    put(v->text, origin, sizeof origin);
    for (int32_t i = first; i < end; i++) put_bit(children, v->place[i].upper);
    put_node(v->text, children, MO_VDB_UPPER_WORDS);
    for (int32_t i = first, next; i < end; i = next) {
        next = range_end(v, i, same_lower);
        put_lower_node(v, i, next);
    }
}

static void put_topology(const volume *v)
{
    static const float background[3];
    uint32_t children = 0;
    for (int32_t i = 0; i < v->count; i = range_end(v, i, same_upper)) children++;
    put_u32(v->text, 1); // buffers per leaf
    put(v->text, background, sizeof(float) * (size_t)v->grid->components);
    put_u32(v->text, 0); // tiles of the root
    put_u32(v->text, children);
    for (int32_t i = 0, next; i < v->count; i = next) {
        next = range_end(v, i, same_upper);
        put_upper_node(v, i, next);
    }
}

static void put_buffers(const volume *v)
{
    uint64_t mask[8];
    float values[3 * MO_VDB_LEAF];
    for (int32_t i = 0; i < v->count; i++) {
        int count = active_values(v, v->place[i].leaf, mask, values);
        put(v->text, mask, sizeof mask);
        put_values(v->text, values, (size_t)(count * v->grid->components));
    }
}

// ---- A volume, and the file ----

static void put_head(const volume *v)
{
    static const char no_half = 0;
    mo_text *t = v->text;
    const char *kind = v->grid->components == 3 ? "unknown" : "fog volume";
    put_u32(t, MO_VDB_ZIP | MO_VDB_ACTIVE_MASK);
    put_u32(t, 3); // metadata
    put_metadata(t, "class", "string", kind, strlen(kind));
    put_metadata(t, "is_saved_as_half_float", "bool", &no_half, 1);
    put_metadata(t, "name", "string", v->grid->name, strlen(v->grid->name));
    double s = v->vdb->voxel;
    put_string(t, MO_VDB_MAP);
    put_vector(t, v->vdb->origin);
    for (int k = 0; k < 2; k++) put_vector(t, (mo_vec3){s, s, s}); // scale, and the size of a voxel
    put_vector(t, (mo_vec3){1 / s, 1 / s, 1 / s});
    put_vector(t, (mo_vec3){1 / (s * s), 1 / (s * s), 1 / (s * s)});
    put_vector(t, (mo_vec3){0.5 / s, 0.5 / s, 0.5 / s});
}

// A volume is put together behind the file's text, so that the three positions before it can be filled in.
static void put_volume(volume *v)
{
    mo_text *t = v->text;
    put_string(t, v->grid->name);
    put_string(t, v->grid->components == 3 ? MO_VDB_VECTORS : MO_VDB_FLOATS);
    put_string(t, ""); // no other volume shares its tree
    int64_t at = t->bytes, position[3] = {0};
    put(t, position, sizeof position);
    position[0] = t->bytes;
    put_head(v);
    put_topology(v);
    position[1] = t->bytes;
    put_buffers(v);
    position[2] = t->bytes;
    if (!t->failed) memcpy(t->data + at, position, sizeof position);
}

static void put_header(mo_text *t, const mo_vdb *vdb)
{
    static const char has_offsets = 1;
    char id[37];
    uint64_t hash = 1;
    for (int32_t g = 0; g < vdb->grids; g++)
        hash = mo_checksum(hash, vdb->grid[g].value[0], sizeof(float) * MO_VDB_LEAF * (size_t)vdb->leaves);
    snprintf(id, sizeof id, "6d6f6e6f-6c69-4748-8000-%012llx", (unsigned long long)(hash & 0xffffffffffffULL));
    put_i64(t, MO_VDB_MAGIC);
    put_u32(t, MO_VDB_FORMAT);
    put_u32(t, 10), put_u32(t, 0); // the version of the library that wrote such files first
    put(t, &has_offsets, 1);
    put(t, id, 36);
    put_u32(t, 1); // metadata of the file
    put_metadata(t, "creator", "string", "monolith", 8);
    put_u32(t, (uint32_t)vdb->grids);
}

mo_status mo_write_vdb(const char *path, const mo_vdb *vdb, mo_error *err)
{
    MO_ASSERT(vdb->voxel > 0 && vdb->leaves >= 0 && vdb->grids >= 0);
    mo_text text = {0};
    place *places = mo_alloc(sizeof *places * ((size_t)vdb->leaves + 1));
    if (!places) return mo_fail_memory(err);
    put_header(&text, vdb);
    for (int32_t g = 0; g < vdb->grids; g++) {
        volume v = {.vdb = vdb, .grid = &vdb->grid[g], .place = places, .text = &text};
        find_places(&v);
        put_volume(&v);
    }
    mo_free(places);
    mo_file *f = NULL;
    mo_status status = text.failed ? mo_fail_memory(err) : mo_file_create(path, &f, err);
    if (f) {
        mo_file_write(f, text.data, (size_t)text.bytes);
        status = mo_file_commit(f, err);
    }
    mo_text_destroy(&text);
    return status;
}
