// PLY: a header that lists elements and their properties, then their values as text or binary in either byte order.
// Vertices with x, y, z and faces with their list of vertices count; all else is passed over.
#include "geometry/mesh_files.h"
#include <math.h>
#include <string.h>

enum { MOST_ELEMENTS = 32, MOST_PROPERTIES = 128 };

typedef enum number { I8, U8, I16, U16, I32, U32, F32, F64, NUMBERS } number;
static const int size_of[NUMBERS] = {1, 1, 2, 2, 4, 4, 4, 8};

typedef enum role { OTHER, X, Y, Z, CORNERS } role;

typedef struct property {
    role role;
    bool list;
    number count, value;
} property;

typedef struct element {
    char kind; // 'v'ertex, 'f'ace or 0
    int64_t count;
    int32_t properties;
    property property[MOST_PROPERTIES];
} element;

typedef struct ply {
    mo_text *text;
    mo_mesh_maker *maker;
    bool format, binary, big; // whether the header told it; how it is
    int32_t elements;
    element element[MOST_ELEMENTS];
} ply;

// ---- Header ----

static mo_status read_number_type(mo_text *t, number *out, mo_error *err)
{
    static const char *const names[2][NUMBERS] = {
        {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"},
        {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"}};
    mo_text_next(t);
    for (int i = 0; i < 2 * NUMBERS; i++)
        if (mo_text_is(t, names[i / NUMBERS][i % NUMBERS])) {
            *out = (number)(i % NUMBERS);
            return MO_OK;
        }
    return mo_text_fail(t, err,
                        "a type of numbers should be here: char, uchar, short, ushort, int, uint, float, double");
}

static mo_status read_property(ply *p, mo_error *err)
{
    mo_text *t = p->text;
    if (p->elements == 0) return mo_text_fail(t, err, "a property stands before the first element");
    element *e = &p->element[p->elements - 1];
    if (e->properties == MOST_PROPERTIES)
        return mo_text_fail(t, err, "an element has more than %d properties", MOST_PROPERTIES);
    property q = {0};
    const char *before = t->at;
    if (mo_text_next(t) && mo_text_is(t, "list")) {
        q.list = true;
        MO_TRY(read_number_type(t, &q.count, err));
        if (q.count >= F32) return mo_text_fail(t, err, "the length of a list must be an integer");
    } else {
        t->at = before;
    }
    MO_TRY(read_number_type(t, &q.value, err));
    mo_text_next(t);
    bool vertex = e->kind == 'v' && !q.list, face = e->kind == 'f' && q.list;
    if (vertex) q.role = mo_text_is(t, "x") ? X : mo_text_is(t, "y") ? Y : mo_text_is(t, "z") ? Z : OTHER;
    if (face) q.role = mo_text_is(t, "vertex_indices") || mo_text_is(t, "vertex_index") ? CORNERS : OTHER;
    e->property[e->properties++] = q;
    return MO_OK;
}

static mo_status read_element(ply *p, mo_error *err)
{
    mo_text *t = p->text;
    if (p->elements == MOST_ELEMENTS) return mo_text_fail(t, err, "there are more than %d elements", MOST_ELEMENTS);
    element *e = &p->element[p->elements++];
    mo_text_next(t);
    e->kind = mo_text_is(t, "vertex") ? 'v' : mo_text_is(t, "face") ? 'f' : 0;
    if (mo_text_is(t, "tristrips"))
        return mo_text_fail(t, err, "strips of triangles are not read: export faces instead");
    return mo_text_integer(t, "number of elements", 0, INT64_MAX, &e->count, err);
}

static mo_status read_format(ply *p, mo_error *err)
{
    mo_text *t = p->text;
    mo_text_next(t);
    p->format = true;
    p->big = mo_text_is(t, "binary_big_endian");
    p->binary = p->big || mo_text_is(t, "binary_little_endian");
    if (p->binary || mo_text_is(t, "ascii")) return MO_OK;
    return mo_text_fail(t, err, "the format must be ascii, binary_little_endian or binary_big_endian");
}

static mo_status read_header_line(ply *p, mo_error *err)
{
    mo_text *t = p->text;
    if (mo_text_is(t, "format")) return read_format(p, err);
    if (mo_text_is(t, "element")) return read_element(p, err);
    if (mo_text_is(t, "property")) return read_property(p, err);
    if (mo_text_is(t, "comment") || mo_text_is(t, "obj_info")) return MO_OK;
    return mo_text_fail(t, err, "not a mesh: no line of a PLY header begins like this");
}

static mo_status read_header(ply *p, mo_error *err)
{
    mo_text *t = p->text;
    MO_TRY(mo_text_expect(t, "ply", err));
    while (mo_text_next(t) && !mo_text_is(t, "end_header")) {
        MO_TRY(read_header_line(p, err));
        mo_text_skip_line(t);
    }
    if (t->length == 0) return mo_text_fail(t, err, "not a mesh: the PLY file is cut off, end_header is missing");
    if (!p->format) return mo_text_fail(t, err, "the header does not tell the format");
    mo_text_skip_line(t);
    if (t->at < t->end) t->at++, t->line++; // binary values begin right behind the line
    return MO_OK;
}

static mo_status check_header(const ply *p, mo_error *err)
{
    bool vertices = false;
    for (int32_t i = 0; i < p->elements; i++) {
        const element *e = &p->element[i];
        int32_t roles[CORNERS + 1] = {0};
        for (int32_t k = 0; k < e->properties; k++) roles[e->property[k].role]++;
        if (e->kind == 'v' && (roles[X] != 1 || roles[Y] != 1 || roles[Z] != 1))
            return mo_text_fail(p->text, err, "vertices must have x, y and z");
        if (e->kind == 'f' && roles[CORNERS] != 1)
            return mo_text_fail(p->text, err, "faces must have a list vertex_indices");
        if (e->kind == 'f' && !vertices) return mo_text_fail(p->text, err, "faces stand before the vertices");
        if (e->kind == 'v' && vertices) return mo_text_fail(p->text, err, "there are vertices twice");
        if (e->count > 0 && e->properties == 0) return mo_text_fail(p->text, err, "an element has no properties");
        vertices = vertices || e->kind == 'v';
    }
    return MO_OK;
}

// ---- Values ----

static uint64_t bits_of(const ply *p, const char *at, int bytes)
{
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++) {
        uint64_t byte = (unsigned char)at[p->big ? bytes - 1 - i : i];
        bits |= byte << 8 * i;
    }
    return bits;
}

static double value_of(uint64_t bits, number kind)
{
    double wide;
    float narrow;
    uint32_t half = (uint32_t)bits;
    switch (kind) {
    case I8: return (int8_t)bits;
    case I16: return (int16_t)bits;
    case I32: return (int32_t)bits;
    case F32: memcpy(&narrow, &half, sizeof narrow); return narrow;
    case F64: memcpy(&wide, &bits, sizeof wide); return wide;
    default: return (double)bits;
    }
}

static mo_status read_value(ply *p, number kind, double *out, mo_error *err)
{
    mo_text *t = p->text;
    if (!p->binary) return mo_text_number(t, "value", out, err);
    if (t->end - t->at < size_of[kind])
        return mo_fail(err, MO_ERROR_INPUT, "%s: not a mesh: the PLY file is cut off", t->path);
    *out = value_of(bits_of(p, t->at, size_of[kind]), kind);
    t->at += size_of[kind];
    return MO_OK;
}

// Of what does not matter any word will do, such as the nan of a normal.
static mo_status skip_value(ply *p, number kind, mo_error *err)
{
    double ignored;
    if (p->binary) return read_value(p, kind, &ignored, err);
    return mo_text_next(p->text) ? MO_OK : mo_text_fail(p->text, err, "not a mesh: the PLY file is cut off");
}

// Without a number that is whole there is no element of a list.
static mo_status read_whole(ply *p, number kind, int64_t *out, mo_error *err)
{
    double value = 0;
    MO_TRY(read_value(p, kind, &value, err));
    if (!(fabs(value) < 1e15) || value != floor(value))
        return mo_text_fail(p->text, err, "a number that should be whole is %g", value);
    *out = (int64_t)value;
    return MO_OK;
}

static mo_status read_list(ply *p, const property *q, mo_error *err)
{
    int64_t count = 0, vertex = 0;
    MO_TRY(read_whole(p, q->count, &count, err));
    for (int64_t i = 0; i < count; i++)
        if (q->role != CORNERS) {
            MO_TRY(skip_value(p, q->value, err));
        } else {
            MO_TRY(read_whole(p, q->value, &vertex, err));
            MO_TRY(mo_mesh_add_corner(p->maker, p->text, vertex, err));
        }
    return MO_OK;
}

static mo_status read_row(ply *p, const element *e, mo_error *err)
{
    double x[3] = {0};
    for (int32_t k = 0; k < e->properties; k++) {
        const property *q = &e->property[k];
        if (q->list) {
            MO_TRY(read_list(p, q, err));
            continue;
        }
        MO_TRY(q->role == OTHER ? skip_value(p, q->value, err) : read_value(p, q->value, &x[q->role - X], err));
    }
    if (e->kind == 'v') return mo_mesh_add_vertex(p->maker, p->text, x, err);
    return e->kind == 'f' ? mo_mesh_end_polygon(p->maker, p->text, err) : MO_OK;
}

static mo_status read_all(ply *p, mo_error *err)
{
    MO_TRY(read_header(p, err));
    MO_TRY(check_header(p, err));
    for (int32_t i = 0; i < p->elements; i++)
        for (int64_t row = 0; row < p->element[i].count; row++) MO_TRY(read_row(p, &p->element[i], err));
    return MO_OK;
}

mo_status mo_mesh_read_ply(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    ply *p = mo_calloc(sizeof *p);
    if (!p) return mo_fail_memory(err);
    p->text = t, p->maker = m;
    mo_status status = read_all(p, err);
    mo_free(p);
    return status;
}
