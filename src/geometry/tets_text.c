// The lists of raw meshes that text files fill.
#include "geometry/tets_text.h"

mo_status mo_raw_read_vertex(mo_raw *raw, mo_text *t, int32_t dimension, int64_t tag, mo_error *err)
{
    static const char *const what[] = {"coordinate x of a vertex", "coordinate y of a vertex",
                                       "coordinate z of a vertex"};
    mo_raw_vertex vertex = {.tag = tag};
    for (int a = 0; a < dimension; a++) MO_TRY(mo_text_number(t, what[a], &vertex.x[a], err));
    vertex.line = t->word_line;
    if (raw->vertex_count == MO_RAW_MAX) return mo_text_fail(t, err, "there are more than %d vertices", MO_RAW_MAX);
    if (!mo_reserve((void **)&raw->vertex, &raw->vertex_capacity, raw->vertex_count + 1, sizeof vertex))
        return mo_fail_memory(err);
    raw->vertex[raw->vertex_count++] = vertex;
    return MO_OK;
}

mo_status mo_raw_add_element(mo_raw *raw, const mo_text *t, int32_t dimension, mo_raw_element element, mo_error *err)
{
    int kind = dimension - 2;
    if (raw->element_count[kind] == MO_RAW_MAX)
        return mo_text_fail(t, err, "there are more than %d elements", MO_RAW_MAX);
    if (!mo_reserve((void **)&raw->element[kind], &raw->element_capacity[kind], raw->element_count[kind] + 1,
                    sizeof element))
        return mo_fail_memory(err);
    raw->element[kind][raw->element_count[kind]++] = element;
    return MO_OK;
}

mo_status mo_raw_read_element(mo_raw *raw, mo_text *t, int32_t dimension, int64_t number, mo_error *err)
{
    mo_raw_element element = {.number = number};
    for (int k = 0; k <= dimension; k++)
        MO_TRY(mo_text_integer(t, "vertex of an element", INT64_MIN, INT64_MAX, &element.vertex[k], err));
    element.line = t->word_line;
    return mo_raw_add_element(raw, t, dimension, element, err);
}
