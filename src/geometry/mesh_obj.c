// Wavefront OBJ: a line for each vertex and face. Texture, normals, groups and materials do not matter here.
#include "geometry/mesh_files.h"
#include <string.h>

// A line that ends in \ goes on in the next one.
static bool more_words(mo_text *t)
{
    while (mo_text_more(t)) {
        if (*t->at != '\\') return true;
        const char *end = t->at + 1;
        if (end < t->end && *end == '\r') end++;
        if (end == t->end || *end != '\n') return true;
        t->at = end + 1;
        t->line++;
    }
    return false;
}

// 7, 7/1, 7//3 or 7/1/3; counted from 1, or from the last vertex backwards.
static mo_status read_corner(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    mo_text_next(t);
    bool back = t->word[0] == '-';
    int32_t i = back;
    int64_t vertex = 0;
    for (; i < t->length && i < 12 && t->word[i] >= '0' && t->word[i] <= '9'; i++)
        vertex = 10 * vertex + (t->word[i] - '0');
    if (i == back || (i < t->length && t->word[i] != '/'))
        return mo_text_fail(t, err, "a corner of a face is no number");
    return mo_mesh_add_corner(m, t, back ? m->mesh.vertex_count - vertex : vertex - 1, err);
}

static mo_status read_face(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    while (more_words(t)) MO_TRY(read_corner(t, m, err));
    return mo_mesh_end_polygon(m, t, err);
}

static mo_status read_vertex(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    double x[3];
    MO_TRY(mo_mesh_read_place(t, x, err));
    return mo_mesh_add_vertex(m, t, x, err);
}

static bool word_is_one_of(const mo_text *t, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mo_text_is(t, words[i])) return true;
    return false;
}

static mo_status read_line(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    static const char *const ignored[] = {"vt",       "vn",       "vp",     "g",      "o",          "s",   "mg",
                                          "usemtl",   "mtllib",   "usemap", "maplib", "shadow_obj", "lod", "bevel",
                                          "c_interp", "d_interp", "l",      "p",      "trace_obj"};
    if (mo_text_is(t, "v")) return read_vertex(t, m, err);
    if (mo_text_is(t, "f") || mo_text_is(t, "fo")) return read_face(t, m, err);
    if (word_is_one_of(t, ignored, sizeof ignored / sizeof *ignored)) return MO_OK;
    return mo_text_fail(t, err, "not a mesh: no line of an OBJ file begins like this, or one of curves and surfaces");
}

mo_status mo_mesh_read_obj(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    t->comments = true;
    while (mo_text_next(t)) {
        MO_TRY(read_line(t, m, err));
        while (more_words(t)) mo_text_next(t); // colours, weights, names
        mo_text_skip_line(t);
    }
    return MO_OK;
}
