// OFF: the numbers of vertices and faces, then a line for each. Normals, colours and texture behind them do not matter.
#include "geometry/mesh_files.h"

static mo_status read_header(mo_text *t, mo_error *err)
{
    static const char *const names[] = {"OFF", "COFF", "NOFF", "CNOFF", "NCOFF", "STOFF"};
    bool known = false, first = mo_text_next(t);
    for (size_t i = 0; first && i < sizeof names / sizeof *names; i++) known = known || mo_text_is(t, names[i]);
    if (!known) return mo_text_fail(t, err, "not a mesh: an OFF file begins with OFF");
    return MO_OK;
}

static mo_status read_vertices(mo_text *t, int64_t count, mo_mesh_maker *m, mo_error *err)
{
    for (int64_t v = 0; v < count; v++) {
        double x[3];
        MO_TRY(mo_mesh_read_place(t, x, err));
        MO_TRY(mo_mesh_add_vertex(m, t, x, err));
        mo_text_skip_line(t);
    }
    return MO_OK;
}

static mo_status read_faces(mo_text *t, int64_t count, mo_mesh_maker *m, mo_error *err)
{
    for (int64_t f = 0; f < count; f++) {
        int64_t corners, vertex;
        MO_TRY(mo_text_integer(t, "number of corners of a face", 3, MO_POLYGON_MAX, &corners, err));
        for (int64_t k = 0; k < corners; k++) {
            MO_TRY(mo_text_integer(t, "vertex of a face", 0, MO_MESH_MAX, &vertex, err));
            MO_TRY(mo_mesh_add_corner(m, t, vertex, err));
        }
        MO_TRY(mo_mesh_end_polygon(m, t, err));
        mo_text_skip_line(t);
    }
    return MO_OK;
}

mo_status mo_mesh_read_off(mo_text *t, mo_mesh_maker *m, mo_error *err)
{
    int64_t vertices, faces;
    t->comments = true;
    MO_TRY(read_header(t, err));
    MO_TRY(mo_text_integer(t, "number of vertices", 0, MO_MESH_MAX, &vertices, err));
    MO_TRY(mo_text_integer(t, "number of faces", 0, MO_MESH_MAX, &faces, err));
    mo_text_skip_line(t); // the number of edges, which nobody needs
    MO_TRY(read_vertices(t, vertices, m, err));
    return read_faces(t, faces, m, err);
}
