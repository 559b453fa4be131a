// Simplex meshes from files: which format a file has, and what its mesh must satisfy.
#include "base/parallel.h"
#include "geometry/tets.h"
#include "geometry/tets_text.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double FLAT = 1e-6; // least altitude of an element, in parts of its longest edge

// A file's mesh under examination.
typedef struct reading {
    const char *path; // of the elements
    const mo_raw *raw;
    const mo_raw_element *element;
    const char *kind; // "triangle" or "tetrahedron"
} reading;

// Fails at an element: "FILE:LINE: tetrahedron 17 is flat".
static mo_status fail_element(const reading *r, int32_t element, mo_error *err, const char *what)
{
    const mo_raw_element *e = &r->element[element];
    return mo_fail(err, MO_ERROR_INPUT, "%s:%d: %s %lld %s", r->path, e->line, r->kind, (long long)e->number, what);
}

// ---- From the file's numbers of vertices to ours ----

typedef struct tag_table {
    int32_t *slot; // vertices, -1 = free
    uint32_t mask;
} tag_table;

static int32_t *tag_slot(const tag_table *table, const mo_raw *raw, int64_t tag)
{
    uint32_t k = mo_hash((uint32_t)tag, (uint32_t)((uint64_t)tag >> 32), 5) & table->mask;
    while (table->slot[k] >= 0 && raw->vertex[table->slot[k]].tag != tag) k = (k + 1) & table->mask;
    return &table->slot[k];
}

static mo_status index_tags(const reading *r, const char *vertex_path, tag_table *table, mo_error *err)
{
    size_t size = 16;
    while (size < 2 * (size_t)r->raw->vertex_count) size *= 2;
    *table = (tag_table){mo_alloc(sizeof(int32_t) * size), (uint32_t)(size - 1)};
    if (!table->slot) return mo_fail_memory(err);
    memset(table->slot, 0xff, sizeof(int32_t) * size);
    for (int32_t v = 0; v < r->raw->vertex_count; v++) {
        const mo_raw_vertex *vertex = &r->raw->vertex[v];
        int32_t *slot = tag_slot(table, r->raw, vertex->tag);
        if (*slot >= 0)
            return mo_fail(err, MO_ERROR_INPUT, "%s:%d: there are two vertices of number %lld", vertex_path,
                           vertex->line, (long long)vertex->tag);
        *slot = v;
    }
    return MO_OK;
}

static mo_status fail_vertex(const reading *r, int32_t element, int64_t tag, mo_error *err, const char *what)
{
    char text[100];
    snprintf(text, sizeof text, "has the vertex %lld, which is not %s", (long long)tag, what);
    return fail_element(r, element, err, text);
}

static mo_status find_vertices(const reading *r, const tag_table *table, mo_tets *out, mo_error *err)
{
    int32_t corners = out->dimension + 1;
    for (int32_t e = 0; e < out->element_count; e++)
        for (int32_t k = 0; k < corners; k++) {
            int64_t tag = r->element[e].vertex[k];
            int32_t v = *tag_slot(table, r->raw, tag);
            if (v < 0) return fail_vertex(r, e, tag, err, "in the file");
            if (out->dimension == 2 && r->raw->vertex[v].x[2] != 0) return fail_vertex(r, e, tag, err, "at z = 0");
            out->element[corners * (int64_t)e + k] = v;
        }
    return MO_OK;
}

// ---- Checks ----

static mo_status check_flat(const reading *r, const mo_tets *t, mo_error *err)
{
    for (int32_t e = 0; e < t->element_count; e++) {
        double flatness = mo_tets_flatness(t, e);
        if (flatness >= FLAT) continue;
        char text[120];
        snprintf(text, sizeof text, "is flat: its smallest altitude is %.3g of its longest edge", flatness);
        return fail_element(r, e, err, text);
    }
    return MO_OK;
}

// Turns the mesh if all elements are inverted. Else the few that are unlike the others are wrong.
static mo_status check_orientation(const reading *r, mo_tets *t, mo_error *err)
{
    int32_t inverted = 0;
    for (int32_t e = 0; e < t->element_count; e++) inverted += mo_tets_volume(t, e) < 0;
    if (inverted == 0) return MO_OK;
    bool few = inverted <= t->element_count / 2;
    for (int32_t e = 0; e < t->element_count; e++) {
        int32_t *v = t->element + (t->dimension + 1) * (int64_t)e, last = v[t->dimension];
        if (inverted < t->element_count && (mo_tets_volume(t, e) < 0) == few)
            return fail_element(r, e, err, "is inverted: its vertices are not in the order of the others");
        if (inverted == t->element_count) v[t->dimension] = v[t->dimension - 1], v[t->dimension - 1] = last;
    }
    return MO_OK;
}

static mo_status check_neighbours(const reading *r, const mo_tets *t, mo_error *err)
{
    bool *single = mo_alloc((size_t)(t->dimension + 1) * (size_t)t->element_count);
    if (!single) return mo_fail_memory(err);
    int32_t first, second;
    mo_status status = mo_tets_match_faces(t, single, &first, &second, err);
    mo_free(single);
    if (status != MO_OK || first < 0) return status;
    char text[150];
    snprintf(text, sizeof text, "and %s %lld of line %d overlap, or share a face with a third one", r->kind,
             (long long)r->element[first].number, r->element[first].line);
    return fail_element(r, second, err, text);
}

static mo_status check(const reading *r, mo_tets *t, mo_error *err)
{
    MO_TRY(check_flat(r, t, err));
    MO_TRY(check_orientation(r, t, err));
    MO_TRY(check_neighbours(r, t, err));
    MO_TRY(mo_tets_drop_unused(t, err));
    if (t->vertex_count > MO_TETS_MAX_VERTICES)
        return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh has %d vertices, at most %d are possible", r->path,
                       t->vertex_count, MO_TETS_MAX_VERTICES);
    MO_ASSERT_SOUND(mo_tets_fault(t));
    return MO_OK;
}

static mo_status convert(const reading *r, const char *vertex_path, mo_tets *out, mo_error *err)
{
    out->position = mo_alloc(sizeof(double) * 3 * (size_t)out->vertex_count);
    out->element = mo_alloc(sizeof(int32_t) * (size_t)(out->dimension + 1) * (size_t)out->element_count);
    if (!out->position || !out->element) return mo_fail_memory(err);
    for (int32_t v = 0; v < out->vertex_count; v++)
        memcpy(out->position + 3 * (int64_t)v, r->raw->vertex[v].x, sizeof r->raw->vertex[v].x);
    tag_table table;
    mo_status status = index_tags(r, vertex_path, &table, err);
    if (status == MO_OK) status = find_vertices(r, &table, out, err);
    mo_free(table.slot);
    return status == MO_OK ? check(r, out, err) : status;
}

// Takes the tetrahedra, or the triangles if there are none.
static mo_status examine(const mo_raw *raw, const char *vertex_path, const char *path, mo_tets *out, mo_error *err)
{
    int kind = raw->element_count[1] > 0;
    if (raw->element_count[kind] == 0)
        return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh has neither tetrahedra nor triangles", path);
    reading r = {path, raw, raw->element[kind], kind ? "tetrahedron" : "triangle"};
    *out = (mo_tets){.dimension = 2 + kind,
                     .vertex_count = (int32_t)raw->vertex_count,
                     .element_count = (int32_t)raw->element_count[kind]};
    mo_status status = convert(&r, vertex_path, out, err);
    if (status != MO_OK) mo_tets_destroy(out);
    return status;
}

// ---- Formats ----

typedef mo_status (*raw_reader)(mo_text *t, mo_raw *raw, mo_error *err);

static mo_status read_with(raw_reader read, const char *path, mo_raw *raw, mo_error *err)
{
    mo_text text;
    MO_TRY(mo_text_open(path, &text, err));
    mo_status status = read(&text, raw, err);
    mo_text_close(&text);
    return status;
}

static bool ends_with(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

// NAME.node and NAME.ele; one of them is given.
static mo_status read_pair(const char *path, mo_tets *out, mo_error *err)
{
    size_t length = strlen(path);
    char *node = mo_alloc(length + 2), *ele = mo_alloc(length + 2);
    mo_raw raw = {0};
    mo_status status = node && ele ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        int stem = (int)(strrchr(path, '.') - path);
        snprintf(node, length + 2, "%.*s.node", stem, path);
        snprintf(ele, length + 2, "%.*s.ele", stem, path);
        status = read_with(mo_raw_read_node, node, &raw, err);
    }
    if (status == MO_OK) status = read_with(mo_raw_read_ele, ele, &raw, err);
    if (status == MO_OK) status = examine(&raw, node, ele, out, err);
    mo_free(node);
    mo_free(ele);
    mo_free(raw.vertex);
    mo_free(raw.element[0]);
    mo_free(raw.element[1]);
    return status;
}

mo_status mo_tets_read(const char *path, mo_tets *out, mo_error *err)
{
    static const struct {
        const char *extension;
        raw_reader read;
    } formats[] = {{".mesh", mo_raw_read_medit}, {".msh", mo_raw_read_gmsh}, {".vtk", mo_raw_read_vtk}};
    *out = (mo_tets){0};
    if (ends_with(path, ".node") || ends_with(path, ".ele")) return read_pair(path, out, err);
    raw_reader read = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ends_with(path, formats[i].extension)) read = formats[i].read;
    if (!read)
        return mo_fail(err, MO_ERROR_INPUT, "%s: no format of simplex meshes: .mesh, .msh, .vtk, .node or .ele", path);
    mo_raw raw = {0};
    mo_status status = read_with(read, path, &raw, err);
    if (status == MO_OK) status = examine(&raw, path, path, out, err);
    mo_free(raw.vertex);
    mo_free(raw.element[0]);
    mo_free(raw.element[1]);
    return status;
}
