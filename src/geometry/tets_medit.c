// Medit's .mesh: keywords, each with a count and as many entries. Vertices and elements end with a reference number.
#include "geometry/tets_text.h"

static mo_status read_vertices(mo_text *t, int32_t dimension, mo_raw *raw, mo_error *err)
{
    int64_t count, reference;
    MO_TRY(mo_text_integer(t, "number of vertices", 0, MO_RAW_MAX, &count, err));
    for (int64_t i = 1; i <= count; i++) {
        MO_TRY(mo_raw_read_vertex(raw, t, dimension, raw->vertex_count + 1, err));
        MO_TRY(mo_text_integer(t, "reference of a vertex", INT32_MIN, INT32_MAX, &reference, err));
    }
    return MO_OK;
}

static mo_status read_elements(mo_text *t, int32_t dimension, mo_raw *raw, mo_error *err)
{
    int64_t count, reference;
    MO_TRY(mo_text_integer(t, "number of elements", 0, MO_RAW_MAX, &count, err));
    for (int64_t i = 1; i <= count; i++) {
        MO_TRY(mo_raw_read_element(raw, t, dimension, i, err));
        MO_TRY(mo_text_integer(t, "reference of an element", INT32_MIN, INT32_MAX, &reference, err));
    }
    return MO_OK;
}

static bool is_letter(const mo_text *t)
{
    char c = t->word[0];
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Elements that would be left out.
static bool is_foreign(const mo_text *t)
{
    static const char *const foreign[] = {"Hexahedra", "Prisms", "Wedges", "Pyramids", "TetrahedraP2", "TrianglesP2"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (mo_text_is(t, foreign[i])) return true;
    return false;
}

static mo_status read_foreign(mo_text *t, mo_error *err)
{
    int64_t count;
    MO_TRY(mo_text_integer(t, "number of elements", 0, INT32_MAX, &count, err));
    if (count > 0)
        return mo_text_fail(t, err, "only triangles and tetrahedra of first order are read; %lld elements are others",
                            (long long)count);
    return MO_OK;
}

mo_status mo_raw_read_medit(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t version, dimension = 0;
    t->comments = true;
    MO_TRY(mo_text_expect(t, "MeshVersionFormatted", err));
    MO_TRY(mo_text_integer(t, "version", 1, 4, &version, err));
    MO_TRY(mo_text_expect(t, "Dimension", err));
    MO_TRY(mo_text_integer(t, "dimension", 2, 3, &dimension, err));
    bool skipping = false; // numbers of no concern: of edges, corners, normals
    while (mo_text_next(t) && !mo_text_is(t, "End")) {
        if (!is_letter(t) && skipping) continue;
        if (!is_letter(t)) return mo_text_fail(t, err, "a keyword should be here");
        skipping = false;
        if (mo_text_is(t, "Vertices"))
            MO_TRY(read_vertices(t, (int32_t)dimension, raw, err));
        else if (mo_text_is(t, "Triangles"))
            MO_TRY(read_elements(t, 2, raw, err));
        else if (mo_text_is(t, "Tetrahedra"))
            MO_TRY(read_elements(t, 3, raw, err));
        else if (is_foreign(t))
            MO_TRY(read_foreign(t, err));
        else
            skipping = true;
    }
    return MO_OK;
}
