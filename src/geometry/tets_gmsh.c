// Gmsh's .msh, versions 2.2 and 4.1, as text: sections from $Name to $EndName, in any order.
#include "geometry/tets_text.h"
#include <stdio.h>
#include <string.h>

// By Gmsh's number of a type: its vertices; points and lines are skipped.
enum { LINE = 1, TRIANGLE = 2, TETRAHEDRON = 4, POINT = 15, LINE_3 = 8, LINE_4 = 26, LINE_5 = 27, LINE_6 = 28 };

static int32_t skipped_vertices(int64_t type)
{
    switch (type) {
    case POINT: return 1;
    case LINE: return 2;
    case LINE_3: return 3;
    case LINE_4: return 4;
    case LINE_5: return 5;
    case LINE_6: return 6;
    default: return 0;
    }
}

static mo_status skip_integers(mo_text *t, int64_t count, mo_error *err)
{
    int64_t value;
    for (int64_t i = 0; i < count; i++) MO_TRY(mo_text_integer(t, "tag", INT64_MIN, INT64_MAX, &value, err));
    return MO_OK;
}

static mo_status read_tag(mo_text *t, const char *what, int64_t *tag, mo_error *err)
{
    return mo_text_integer(t, what, INT64_MIN, INT64_MAX, tag, err);
}

static mo_status read_element(mo_text *t, int64_t type, int64_t number, mo_raw *raw, mo_error *err)
{
    if (type == TRIANGLE || type == TETRAHEDRON)
        return mo_raw_read_element(raw, t, type == TRIANGLE ? 2 : 3, number, err);
    if (skipped_vertices(type) > 0) return skip_integers(t, skipped_vertices(type), err);
    return mo_text_fail(t, err, "element %lld is of type %lld; only triangles and tetrahedra of first order are read",
                        (long long)number, (long long)type);
}

// ---- Version 2.2 ----

static mo_status read_nodes_2(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t count, tag;
    MO_TRY(mo_text_integer(t, "number of nodes", 0, MO_RAW_MAX, &count, err));
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(read_tag(t, "number of a node", &tag, err));
        MO_TRY(mo_raw_read_vertex(raw, t, 3, tag, err));
    }
    return MO_OK;
}

static mo_status read_elements_2(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t count, number, type, tags;
    MO_TRY(mo_text_integer(t, "number of elements", 0, 4 * (int64_t)MO_RAW_MAX, &count, err));
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(read_tag(t, "number of an element", &number, err));
        MO_TRY(mo_text_integer(t, "type of an element", 1, 1000, &type, err));
        MO_TRY(mo_text_integer(t, "number of tags", 0, 1000, &tags, err));
        MO_TRY(skip_integers(t, tags, err));
        MO_TRY(read_element(t, type, number, raw, err));
    }
    return MO_OK;
}

// ---- Version 4.1: blocks of one entity each; of nodes first the numbers, then the coordinates ----

static mo_status read_node_block(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t dimension, entity, parametric, count;
    MO_TRY(mo_text_integer(t, "dimension of an entity", 0, 3, &dimension, err));
    MO_TRY(read_tag(t, "tag of an entity", &entity, err));
    MO_TRY(mo_text_integer(t, "parametric flag", 0, 1, &parametric, err));
    MO_TRY(mo_text_integer(t, "number of nodes", 0, MO_RAW_MAX, &count, err));
    mo_text tags = *t; // the numbers are read again, next to the coordinates
    MO_TRY(skip_integers(t, count, err));
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        double parameter;
        MO_TRY(read_tag(&tags, "number of a node", &tag, err));
        MO_TRY(mo_raw_read_vertex(raw, t, 3, tag, err));
        for (int64_t k = 0; k < parametric * dimension; k++)
            MO_TRY(mo_text_number(t, "parameter of a node", &parameter, err));
    }
    return MO_OK;
}

static mo_status read_element_block(mo_text *t, mo_raw *raw, mo_error *err)
{
    int64_t dimension, entity, type, count, number;
    MO_TRY(mo_text_integer(t, "dimension of an entity", 0, 3, &dimension, err));
    MO_TRY(read_tag(t, "tag of an entity", &entity, err));
    MO_TRY(mo_text_integer(t, "type of an element", 1, 1000, &type, err));
    MO_TRY(mo_text_integer(t, "number of elements", 0, MO_RAW_MAX, &count, err));
    for (int64_t i = 0; i < count; i++) {
        MO_TRY(read_tag(t, "number of an element", &number, err));
        MO_TRY(read_element(t, type, number, raw, err));
    }
    return MO_OK;
}

static mo_status read_blocks_4(mo_text *t, bool nodes, mo_raw *raw, mo_error *err)
{
    int64_t blocks;
    MO_TRY(mo_text_integer(t, "number of blocks", 0, MO_RAW_MAX, &blocks, err));
    MO_TRY(skip_integers(t, 3, err)); // the total, and the range of numbers
    for (int64_t i = 0; i < blocks; i++) MO_TRY(nodes ? read_node_block(t, raw, err) : read_element_block(t, raw, err));
    return MO_OK;
}

// ---- Sections ----

static mo_status read_format(mo_text *t, int *version, mo_error *err)
{
    double number;
    int64_t binary, size;
    MO_TRY(mo_text_expect(t, "$MeshFormat", err));
    MO_TRY(mo_text_number(t, "version", &number, err));
    *version = number == 4.1 ? 4 : number >= 2 && number <= 2.2 ? 2 : 0;
    if (*version == 0) return mo_text_fail(t, err, "version %g is not read; 2.2 and 4.1 are", number);
    MO_TRY(mo_text_integer(t, "file type", 0, 1, &binary, err));
    if (binary) return mo_text_fail(t, err, "the file is binary; text is read (Gmsh: Mesh.Binary = 0)");
    MO_TRY(mo_text_integer(t, "size of numbers", 1, 16, &size, err));
    return mo_text_expect(t, "$EndMeshFormat", err);
}

static mo_status skip_section(mo_text *t, mo_error *err)
{
    char end[64];
    if (t->length < 2 || t->length > 50 || t->word[0] != '$')
        return mo_text_fail(t, err, "a section ($Nodes, $Elements) should begin here");
    snprintf(end, sizeof end, "$End%.*s", t->length - 1, t->word + 1);
    while (mo_text_next(t))
        if (mo_text_is(t, end)) return MO_OK;
    return mo_text_fail(t, err, "the file ends where %s should be", end);
}

mo_status mo_raw_read_gmsh(mo_text *t, mo_raw *raw, mo_error *err)
{
    int version;
    MO_TRY(read_format(t, &version, err));
    while (mo_text_next(t)) {
        bool nodes = mo_text_is(t, "$Nodes");
        if (!nodes && !mo_text_is(t, "$Elements")) {
            MO_TRY(skip_section(t, err));
            continue;
        }
        if (version == 4)
            MO_TRY(read_blocks_4(t, nodes, raw, err));
        else
            MO_TRY(nodes ? read_nodes_2(t, raw, err) : read_elements_2(t, raw, err));
        MO_TRY(mo_text_expect(t, nodes ? "$EndNodes" : "$EndElements", err));
    }
    return MO_OK;
}
