// STL: triangles with corners of their own, as text or as 50 bytes each. Both kinds may begin with "solid"; a file
// that is as long as its number of triangles says is binary.
#include "geometry/mesh_files.h"
#include <string.h>
#include <strings.h>

enum { HEAD = 84, ROW = 50, NORMAL = 12 };

static uint32_t little_u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float little_float(const char *at)
{
    uint32_t bits = little_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static mo_status read_binary(mo_text *t, int64_t triangles, mo_mesh_maker *m, mo_error *err)
{
    t->word_line = 1;
    for (int64_t i = 0; i < triangles; i++) {
        const char *row = t->start + HEAD + ROW * i + NORMAL;
        for (int k = 0; k < 3; k++, row += 3 * sizeof(float)) {
            double x[3] = {little_float(row), little_float(row + 4), little_float(row + 8)};
            MO_TRY(mo_mesh_add_vertex(m, t, x, err));
            MO_TRY(mo_mesh_add_corner(m, t, 3 * i + k, err));
        }
        MO_TRY(mo_mesh_end_polygon(m, t, err));
    }
    return MO_OK;
}

static bool word_is(const mo_text *t, const char *word)
{
    return (size_t)t->length == strlen(word) && strncasecmp(t->word, word, (size_t)t->length) == 0;
}

static mo_status expect(mo_text *t, const char *word, mo_error *err)
{
    if (mo_text_next(t) && word_is(t, word)) return MO_OK;
    return mo_text_fail(t, err, "'%s' should be here", word);
}

// Behind "facet". Normals follow from the corners, and some programs write nonsense there.
static mo_status read_facet(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    MO_TRY(expect(t, "normal", err));
    for (int a = 0; a < 3; a++) mo_text_next(t);
    MO_TRY(expect(t, "outer", err));
    MO_TRY(expect(t, "loop", err));
    for (int k = 0; k < 3; k++) {
        double x[3];
        MO_TRY(expect(t, "vertex", err));
        MO_TRY(mo_mesh_read_place(t, x, err));
        MO_TRY(mo_mesh_add_vertex(m, t, x, err));
        MO_TRY(mo_mesh_add_corner(m, t, m->mesh.vertex_count - 1, err));
    }
    MO_TRY(expect(t, "endloop", err));
    MO_TRY(expect(t, "endfacet", err));
    return mo_mesh_end_polygon(m, t, err);
}

// One solid or several, each with a name of any words.
static mo_status read_text(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    bool open = false;
    while (mo_text_next(t)) {
        if (word_is(t, open ? "endsolid" : "solid")) {
            mo_text_skip_line(t);
            open = !open;
        } else if (open && word_is(t, "facet")) {
            MO_TRY(read_facet(t, m, err));
        } else {
            return mo_text_fail(t, err, "'%s' should be here", open ? "facet' or 'endsolid" : "solid");
        }
    }
    return open ? mo_text_fail(t, err, "the file is cut off: 'endsolid' is missing") : MO_OK;
}

mo_status mo_mesh_read_stl(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    int64_t bytes = t->end - t->start, triangles = bytes < HEAD ? -1 : (int64_t)little_u32(t->start + HEAD - 4);
    if (bytes == HEAD + ROW * triangles) return read_binary(t, triangles, m, err);
    if (bytes > 5 && strncasecmp(t->start, "solid", 5) == 0) return read_text(t, m, err);
    if (triangles > 0 && bytes > HEAD + ROW * triangles) return read_binary(t, triangles, m, err);
    if (triangles < 0) return mo_fail(err, MO_ERROR_INPUT, "%s: not a mesh: too short for an STL file", t->path);
    return mo_fail(err, MO_ERROR_INPUT, "%s: not a mesh, or cut off: %lld triangles need %lld bytes, the file has %lld",
                   t->path, (long long)triangles, (long long)(HEAD + ROW * triangles), (long long)bytes);
}
