// TetGen's and Triangle's pair of files. Each line of .node is a vertex (number, coordinates, attributes, marker), each
// one of .ele an element (number, vertices, attributes); the first lines have the counts. Numbers may begin at 0 or 1.
#include "geometry/tets_text.h"

static mo_status skip_numbers(mo_text *t, int64_t count, mo_error *err)
{
    double value;
    for (int64_t i = 0; i < count; i++) MO_TRY(mo_text_number(t, "attribute", &value, err));
    return MO_OK;
}

mo_status mo_raw_read_node(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t count, dimension, attributes, markers, tag;
    t->comments = true;
    MO_TRY(mo_text_integer(t, "number of vertices", 0, MO_RAW_MAX, &count, err));
    MO_TRY(mo_text_integer(t, "dimension", 2, 3, &dimension, err));
    MO_TRY(mo_text_integer(t, "number of attributes", 0, 1000, &attributes, err));
    MO_TRY(mo_text_integer(t, "number of markers", 0, 1, &markers, err));
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(mo_text_integer(t, "number of a vertex", 0, INT32_MAX, &tag, err));
        MO_TRY(mo_raw_read_vertex(raw, t, (int32_t)dimension, tag, err));
        MO_TRY(skip_numbers(t, attributes + markers, err));
    }
    return MO_OK;
}

mo_status mo_raw_read_ele(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t count, corners, attributes, number;
    t->comments = true;
    MO_TRY(mo_text_integer(t, "number of elements", 0, MO_RAW_MAX, &count, err));
    MO_TRY(mo_text_integer(t, "number of vertices of an element", 3, 10, &corners, err));
    if (corners > 4)
        return mo_text_fail(t, err,
                            "elements have %lld vertices; only triangles and tetrahedra of first order are read",
                            (long long)corners);
    MO_TRY(mo_text_integer(t, "number of attributes", 0, 1000, &attributes, err));
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(mo_text_integer(t, "number of an element", 0, INT32_MAX, &number, err));
        MO_TRY(mo_raw_read_element(raw, t, (int32_t)corners - 1, number, err));
        MO_TRY(skip_numbers(t, attributes, err));
    }
    return MO_OK;
}
