// Sheets on the lattice, and the strips that continue their borders.
#include "grid/cut_mesh.h"
#include "geometry/predicates.h"
#include "grid/cut_finder.h"
#include <math.h>
#include <string.h>

void mo_cut_mesh_destroy(mo_cut_mesh *m)
{
    mo_free(m->x), mo_free(m->triangle), mo_free(m->host), mo_free(m->thin);
    mo_sheet_edges_destroy(&m->edges);
    *m = (mo_cut_mesh){0};
}

static bool has_area(double (*x)[3], const int32_t t[3])
{
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double p[3][2];
        for (int c = 0; c < 3; c++) p[c][0] = x[t[c]][i], p[c][1] = x[t[c]][j];
        if (mo_orient2d(p[0], p[1], p[2])) return true;
    }
    return false;
}

static mo_status place_sheet(const mo_grid *g, const mo_sheet *s, mo_cut_mesh *m, mo_error *err)
{
    const double origin[3] = {g->origin.x, g->origin.y, g->origin.z};
    m->vertices = s->vertices;
    for (int32_t v = 0; v < s->vertices; v++)
        for (int a = 0; a < 3; a++) {
            m->x[v][a] = (s->position[v][a] - origin[a]) / g->dx + mo_cut_shift[a];
            if (!(fabs(m->x[v][a]) < 1e6))
                return mo_fail(err, MO_ERROR_INPUT, "vertex %d of a sheet is at %g, not near the domain", v,
                               s->position[v][a]);
        }
    m->real = m->triangles = s->triangles;
    memcpy(m->triangle, s->triangle, sizeof *m->triangle * (size_t)s->triangles);
    return MO_OK;
}

static mo_vec3 vertex(const mo_cut_mesh *m, int32_t v) { return mo_v3(m->x[v][0], m->x[v][1], m->x[v][2]); }

// Outwards in the plane of the triangle, from a border's edge; ends of the edge in the triangle's order.
static mo_vec3 conormal(const mo_cut_mesh *m, int32_t where, int32_t ends[2])
{
    const int32_t *t = m->triangle[where / 4];
    int k = where % 4;
    ends[0] = t[k], ends[1] = t[(k + 1) % 3];
    mo_vec3 a = vertex(m, t[k]), e = mo_sub(vertex(m, t[(k + 1) % 3]), a), r = mo_sub(vertex(m, t[(k + 2) % 3]), a);
    return mo_normalize(mo_sub(mo_mul(mo_dot(r, e) / mo_dot(e, e), e), r));
}

// Two triangles behind every border's edge. `mean`: sums of conormals at vertices; `outer`: the vertex further out.
static void add_strips(mo_cut_mesh *m, const mo_sheet_edges *e, mo_vec3 *mean, int32_t *outer)
{
    int32_t ends[2], vertices = m->vertices;
    for (int32_t v = 0; v < vertices; v++) mean[v] = mo_v3(0, 0, 0), outer[v] = -1;
    for (int32_t k = 0; k < e->count; k++) {
        if (e->first[k + 1] - e->first[k] != 1) continue;
        mo_vec3 c = conormal(m, e->around[e->first[k]], ends);
        for (int i = 0; i < 2; i++) mean[ends[i]] = mo_add(mean[ends[i]], c);
    }
    for (int32_t v = 0; v < vertices; v++) {
        if (!(mo_norm(mean[v]) > 1e-3)) continue;
        mo_vec3 x = mo_mad(vertex(m, v), 2, mo_normalize(mean[v]));
        outer[v] = m->vertices;
        m->x[m->vertices][0] = x.x, m->x[m->vertices][1] = x.y, m->x[m->vertices++][2] = x.z;
    }
    for (int32_t k = 0; k < e->count; k++) {
        if (e->first[k + 1] - e->first[k] != 1) continue;
        int32_t where = e->around[e->first[k]];
        conormal(m, where, ends);
        int32_t a = outer[ends[0]], b = outer[ends[1]];
        int32_t strip[2][3] = {{ends[1], ends[0], a >= 0 ? a : b}, {ends[1], a, b}};
        for (int i = 0; i < 2; i++) {
            if (strip[i][1] < 0 || strip[i][2] < 0 || !has_area(m->x, strip[i])) continue;
            m->host[m->triangles - m->real] = where / 4;
            memcpy(m->triangle[m->triangles++], strip[i], sizeof *strip);
        }
    }
}

static mo_status find_strips(mo_cut_mesh *m, int32_t vertices, mo_error *err)
{
    mo_sheet real = {m->vertices, m->real, m->x, m->triangle};
    mo_sheet_edges e;
    MO_TRY(mo_sheet_edges_create(&real, &e, err));
    mo_vec3 *mean = mo_alloc(sizeof *mean * ((size_t)vertices + 1));
    int32_t *outer = mo_alloc(sizeof(int32_t) * ((size_t)vertices + 1));
    bool enough = mean && outer;
    if (enough) add_strips(m, &e, mean, outer);
    mo_free(mean), mo_free(outer);
    mo_sheet_edges_destroy(&e);
    return enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cut_mesh_create(const mo_grid *g, const mo_sheet *sheet, mo_cut_mesh *out, mo_error *err)
{
    size_t vertices = 2 * (size_t)sheet->vertices + 1, triangles = 7 * (size_t)sheet->triangles + 1;
    *out = (mo_cut_mesh){.x = mo_alloc(sizeof *out->x * vertices)};
    out->triangle = mo_alloc(sizeof *out->triangle * triangles), out->host = mo_alloc(sizeof(int32_t) * triangles);
    out->thin = mo_alloc(triangles);
    mo_status status = out->x && out->triangle && out->host && out->thin ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) status = place_sheet(g, sheet, out, err);
    if (status == MO_OK) status = find_strips(out, sheet->vertices, err);
    mo_sheet all = {out->vertices, out->triangles, out->x, out->triangle};
    for (int32_t t = 0; status == MO_OK && t < out->triangles; t++) out->thin[t] = !has_area(out->x, out->triangle[t]);
    if (status == MO_OK) status = mo_sheet_edges_create(&all, &out->edges, err);
    if (status != MO_OK) mo_cut_mesh_destroy(out);
    return status;
}
