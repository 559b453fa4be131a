// Triangle meshes from files: which format a file has, and the lists that its reader fills.
//
// Polygons become triangles by cutting off ears: corners that are convex and hold no other corner. A convex polygon
// becomes a fan.
#include "geometry/mesh_files.h"
#include <math.h>
#include <string.h>
#include <strings.h>

mo_status mo_mesh_read_place(mo_text *t, double x[3], mo_error *err)
{
    static const char *const what[] = {"coordinate x of a vertex", "coordinate y of a vertex",
                                       "coordinate z of a vertex"};
    for (int a = 0; a < 3; a++) MO_TRY(mo_text_number(t, what[a], &x[a], err));
    return MO_OK;
}

mo_status mo_mesh_add_vertex(mo_mesh_maker *m, const mo_text *t, const double x[3], mo_error *err)
{
    int32_t v = m->mesh.vertex_count;
    if (v == MO_MESH_MAX) return mo_text_fail(t, err, "the mesh has more than %d vertices", MO_MESH_MAX);
    if (!mo_reserve((void **)&m->mesh.position, &m->vertex_capacity, (int64_t)v + 1, 3 * sizeof(float)))
        return mo_fail_memory(err);
    for (int a = 0; a < 3; a++) m->mesh.position[3 * (int64_t)v + a] = (float)x[a];
    m->mesh.vertex_count++;
    return MO_OK;
}

mo_status mo_mesh_add_corner(mo_mesh_maker *m, const mo_text *t, int64_t vertex, mo_error *err)
{
    if (vertex < 0 || vertex >= m->mesh.vertex_count)
        return mo_text_fail(t, err, "a face has a vertex that is not there: %lld of %d", (long long)vertex + 1,
                            m->mesh.vertex_count);
    if (m->corners == MO_POLYGON_MAX) return mo_text_fail(t, err, "a face has more than %d corners", MO_POLYGON_MAX);
    m->corner[m->corners++] = (int32_t)vertex;
    return MO_OK;
}

static mo_status add_triangle(mo_mesh_maker *m, const mo_text *t, int a, int b, int c, mo_error *err)
{
    int32_t n = m->mesh.triangle_count;
    if (n == MO_MESH_MAX) return mo_text_fail(t, err, "the mesh has more than %d triangles", MO_MESH_MAX);
    if (!mo_reserve((void **)&m->mesh.triangle, &m->triangle_capacity, (int64_t)n + 1, 3 * sizeof(int32_t)))
        return mo_fail_memory(err);
    int32_t *to = m->mesh.triangle + 3 * (int64_t)n;
    to[0] = m->corner[a], to[1] = m->corner[b], to[2] = m->corner[c];
    m->mesh.triangle_count++;
    return MO_OK;
}

// ---- Polygons ----

static const float *place_of(const mo_mesh_maker *m, int32_t corner)
{
    return m->mesh.position + 3 * (int64_t)m->corner[corner];
}

// Lays the corners into the coordinate plane in which the polygon's area is largest, counterclockwise.
static void flatten(mo_mesh_maker *m)
{
    double area[3] = {0};
    const float *o = place_of(m, 0);
    for (int32_t k = 1; k + 1 < m->corners; k++) {
        const float *p = place_of(m, k), *q = place_of(m, k + 1);
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            area[a] += ((double)p[b] - o[b]) * ((double)q[c] - o[c]) - ((double)p[c] - o[c]) * ((double)q[b] - o[b]);
        }
    }
    int axis = 0;
    for (int a = 1; a < 3; a++) axis = fabs(area[a]) > fabs(area[axis]) ? a : axis;
    for (int32_t k = 0; k < m->corners; k++) {
        m->plane[k][0] = place_of(m, k)[(axis + 1) % 3];
        m->plane[k][1] = place_of(m, k)[(axis + 2) % 3] * (area[axis] < 0 ? -1.0 : 1.0);
    }
}

static double twice_area(const double a[2], const double b[2], const double c[2])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool same_place(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

// Whether corner k of the n that are left (numbers in `left`) can be cut off.
static bool is_ear(const mo_mesh_maker *m, const int32_t *left, int32_t n, int32_t k)
{
    const double *a = m->plane[left[(k + n - 1) % n]], *b = m->plane[left[k]], *c = m->plane[left[(k + 1) % n]];
    if (!(twice_area(a, b, c) > 0)) return false;
    for (int32_t i = 2; i < n - 1; i++) {
        const double *p = m->plane[left[(k + i) % n]];
        bool inside = twice_area(a, b, p) >= 0 && twice_area(b, c, p) >= 0 && twice_area(c, a, p) >= 0;
        if (inside && !same_place(p, a) && !same_place(p, b) && !same_place(p, c)) return false;
    }
    return true;
}

// Where a polygon crosses itself there may be no ear: after some rounds any corner is cut off.
static mo_status cut_ears(mo_mesh_maker *m, const mo_text *t, mo_error *err)
{
    int32_t left[MO_POLYGON_MAX], n = m->corners, tries = 16 * n;
    for (int32_t k = 0; k < n; k++) left[k] = k;
    flatten(m);
    for (int32_t k = 1; n > 3; tries--) {
        k %= n;
        if (tries > 0 && !is_ear(m, left, n, k)) {
            k++;
            continue;
        }
        MO_TRY(add_triangle(m, t, left[(k + n - 1) % n], left[k], left[(k + 1) % n], err));
        memmove(left + k, left + k + 1, sizeof *left * (size_t)(n - 1 - k));
        n--;
    }
    return add_triangle(m, t, left[0], left[1], left[2], err);
}

mo_status mo_mesh_end_polygon(mo_mesh_maker *m, const mo_text *t, mo_error *err)
{
    if (m->corners < 3) return mo_text_fail(t, err, "a face has %d corners, must have at least 3", m->corners);
    MO_TRY(m->corners == 3 ? add_triangle(m, t, 0, 1, 2, err) : cut_ears(m, t, err));
    m->corners = 0;
    return MO_OK;
}

// ---- Formats ----

typedef mo_status (*mesh_reader)(mo_text *t, mo_mesh_maker *m, mo_error *err);

static mesh_reader reader_of(const char *path)
{
    static const struct {
        const char *extension;
        mesh_reader read;
    } formats[] = {
        {".obj", mo_mesh_read_obj}, {".off", mo_mesh_read_off}, {".ply", mo_mesh_read_ply}, {".stl", mo_mesh_read_stl}};
    const char *extension = strrchr(path, '.');
    for (size_t i = 0; extension && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(extension, formats[i].extension) == 0) return formats[i].read;
    return NULL;
}

static mo_status read_with(mesh_reader read, mo_text *t, mo_mesh *out, mo_error *err)
{
    mo_mesh_maker *m = mo_calloc(sizeof *m);
    if (!m) return mo_fail_memory(err);
    mo_status status = read(t, m, err);
    if (status == MO_OK && m->mesh.triangle_count == 0)
        status = mo_fail(err, MO_ERROR_INPUT, "%s: the mesh has no triangles", t->path);
    if (status == MO_OK)
        *out = m->mesh;
    else
        mo_mesh_destroy(&m->mesh);
    mo_free(m);
    return status;
}

mo_status mo_mesh_read(const char *path, mo_mesh *out, mo_error *err)
{
    *out = (mo_mesh){0};
    mesh_reader read = reader_of(path);
    if (!read)
        return mo_fail(err, MO_ERROR_INPUT, "%s: no format of triangle meshes that is read: .obj, .off, .ply or .stl",
                       path);
    mo_text text;
    MO_TRY(mo_text_open(path, &text, err));
    mo_status status = read_with(read, &text, out, err);
    mo_text_close(&text);
    return status;
}
