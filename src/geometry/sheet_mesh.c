// A sheet as a mesh with normals, for pictures: smooth where it bends, with creases where it is sharp.
#include "geometry/sheet.h"
#include <math.h>
#include <string.h>

typedef struct normals {
    const mo_sheet *s;
    mo_vec3 *normal;         // [triangles] twice the area long
    int32_t *first, *around; // [vertices + 1] corners of each vertex: 3 triangle + corner
} normals;

static const double sharp = 0.82; // cosine of 35 degrees

static mo_vec3 at(const mo_sheet *s, int32_t v)
{
    return mo_v3(s->position[v][0], s->position[v][1], s->position[v][2]);
}

static void list_corners(normals *n)
{
    const mo_sheet *s = n->s;
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *c = s->triangle[t];
        n->normal[t] = mo_cross(mo_sub(at(s, c[1]), at(s, c[0])), mo_sub(at(s, c[2]), at(s, c[0])));
        for (int k = 0; k < 3; k++) n->first[c[k]]++;
    }
    for (int32_t v = 0; v < s->vertices; v++) n->first[v + 1] += n->first[v];
    for (int32_t c = 3 * s->triangles; c-- > 0;) n->around[--n->first[s->triangle[c / 3][c % 3]]] = c;
    n->first[s->vertices] = 3 * s->triangles;
}

// The mean over the triangles round a corner that lie nearly in its triangle's plane, turned as it is.
static mo_vec3 corner_normal(const normals *n, int32_t corner)
{
    mo_vec3 own = n->normal[corner / 3], sum = {0, 0, 0};
    int32_t v = n->s->triangle[corner / 3][corner % 3];
    for (int32_t k = n->first[v]; k < n->first[v + 1]; k++) {
        mo_vec3 other = n->normal[n->around[k] / 3];
        double dot = mo_dot(own, other);
        if (fabs(dot) >= sharp * mo_norm(own) * mo_norm(other)) sum = mo_mad(sum, dot < 0 ? -1 : 1, other);
    }
    return mo_norm(sum) > 0 ? mo_normalize(sum) : mo_v3(0, 1, 0);
}

static bool equal(const float *a, const float *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

// Corners of one vertex with one normal become one vertex of the mesh.
static void write_mesh(const normals *n, int32_t *number, mo_mesh *out)
{
    const mo_sheet *s = n->s;
    for (int32_t v = 0; v < s->vertices; v++)
        for (int32_t k = n->first[v]; k < n->first[v + 1]; k++) {
            mo_vec3 m = corner_normal(n, n->around[k]);
            float normal[3] = {(float)m.x, (float)m.y, (float)m.z};
            int32_t same = n->first[v];
            while (same < k && !equal(out->normal + 3 * number[n->around[same]], normal)) same++;
            number[n->around[k]] = same < k ? number[n->around[same]] : out->vertex_count;
            out->triangle[n->around[k]] = number[n->around[k]];
            if (same < k) continue;
            memcpy(out->normal + 3 * out->vertex_count, normal, sizeof normal);
            for (int a = 0; a < 3; a++) out->position[3 * out->vertex_count + a] = (float)s->position[v][a];
            out->vertex_count++;
        }
    out->triangle_count = s->triangles;
}

mo_status mo_sheet_to_mesh(const mo_sheet *s, mo_mesh *out, mo_error *err)
{
    size_t corners = 3 * (size_t)s->triangles;
    *out = (mo_mesh){.position = mo_alloc(3 * sizeof(float) * (corners + 1)),
                     .normal = mo_alloc(3 * sizeof(float) * (corners + 1)),
                     .triangle = mo_alloc(sizeof(int32_t) * (corners + 1))};
    normals n = {s, mo_alloc(sizeof *n.normal * ((size_t)s->triangles + 1)),
                 mo_calloc(sizeof(int32_t) * ((size_t)s->vertices + 1)), mo_alloc(sizeof(int32_t) * (corners + 1))};
    int32_t *number = mo_alloc(sizeof *number * (corners + 1));
    bool enough = out->position && out->normal && out->triangle && n.normal && n.first && n.around && number;
    if (enough) list_corners(&n), write_mesh(&n, number, out);
    mo_free(n.normal), mo_free(n.first), mo_free(n.around), mo_free(number);
    if (enough) return MO_OK;
    mo_mesh_destroy(out);
    return mo_fail_memory(err);
}
