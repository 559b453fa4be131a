// Meshes: copies, bounds, and welding.
#include "geometry/mesh.h"
#include "base/parallel.h"
#include <string.h>

void mo_mesh_destroy(mo_mesh *mesh)
{
    if (!mesh) return;
    mo_free(mesh->position);
    mo_free(mesh->normal);
    mo_free(mesh->velocity);
    mo_free(mesh->triangle);
    *mesh = (mo_mesh){0};
}

static mo_status allocate(mo_mesh *m, int64_t vertices, int64_t triangles, mo_error *err)
{
    *m = (mo_mesh){.vertex_count = (int32_t)vertices, .triangle_count = (int32_t)triangles};
    m->position = mo_alloc(sizeof(float) * 3 * (size_t)vertices);
    m->triangle = mo_alloc(sizeof(int32_t) * 3 * (size_t)triangles);
    if (m->position && m->triangle) return MO_OK;
    mo_mesh_destroy(m);
    return mo_fail_memory(err);
}

mo_status mo_mesh_copy(const mo_mesh *mesh, mo_mesh *out, mo_error *err)
{
    MO_TRY(allocate(out, mesh->vertex_count, mesh->triangle_count, err));
    memcpy(out->position, mesh->position, sizeof(float) * 3 * (size_t)mesh->vertex_count);
    memcpy(out->triangle, mesh->triangle, sizeof(int32_t) * 3 * (size_t)mesh->triangle_count);
    return MO_OK;
}

mo_box3 mo_mesh_bounds(const mo_mesh *mesh)
{
    mo_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const float *x = mesh->position + 3 * (int64_t)v;
        b.lo = mo_v3(fmin(b.lo.x, x[0]), fmin(b.lo.y, x[1]), fmin(b.lo.z, x[2]));
        b.hi = mo_v3(fmax(b.hi.x, x[0]), fmax(b.hi.y, x[1]), fmax(b.hi.z, x[2]));
    }
    return b;
}

// Welding: vertices hashed by a cell twice the tolerance wide; candidates are in the (up to 8) cells within reach.
typedef struct welder {
    const float *position;
    double tolerance;
    int32_t *head, *next; // chains of kept vertices
    uint32_t mask;
} welder;

// The bucket of the cell that holds x, or (reach 0..7) of x moved by the tolerance along each axis.
static uint32_t weld_bucket(const welder *w, const float *x, int reach)
{
    MO_ASSERT(reach >= -1 && reach < 8);
    uint32_t h[3];
    for (int a = 0; a < 3; a++) {
        float exact = x[a] + 0.0f; // -0 and 0 are equal
        memcpy(&h[a], &exact, sizeof h[a]);
        if (w->tolerance == 0) continue;
        double shift = reach < 0 ? 0 : reach >> a & 1 ? w->tolerance : -w->tolerance;
        h[a] = (uint32_t)(int64_t)fmod(floor((x[a] + shift) / (2 * w->tolerance)), 4294967296.0);
    }
    return mo_hash(h[0], h[1], h[2]) & w->mask;
}

static bool weld_match(const welder *w, const float *x, int32_t v)
{
    const float *y = w->position + 3 * (int64_t)v;
    double dx = (double)x[0] - y[0], dy = (double)x[1] - y[1], dz = (double)x[2] - y[2];
    return dx * dx + dy * dy + dz * dz <= w->tolerance * w->tolerance;
}

// The kept vertex at x, or -1.
static int32_t weld_find(const welder *w, const float *x)
{
    for (int reach = 0; reach < (w->tolerance > 0 ? 8 : 1); reach++)
        for (int32_t v = w->head[weld_bucket(w, x, reach)]; v >= 0; v = w->next[v])
            if (weld_match(w, x, v)) return v;
    return -1;
}

// target[v]: the vertex that v becomes one with.
static void weld_vertices(welder *w, int32_t vertices, int32_t *target)
{
    memset(w->head, 0xff, sizeof(int32_t) * ((size_t)w->mask + 1));
    for (int32_t v = 0; v < vertices; v++) {
        const float *x = w->position + 3 * (int64_t)v;
        target[v] = weld_find(w, x);
        if (target[v] >= 0) continue;
        uint32_t bucket = weld_bucket(w, x, -1);
        target[v] = v;
        w->next[v] = w->head[bucket];
        w->head[bucket] = v;
    }
}

static void weld_triangles(mo_mesh *mesh, const int32_t *target)
{
    int32_t kept = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *c = mesh->triangle + 3 * (int64_t)t;
        int32_t a = target[c[0]], b = target[c[1]], d = target[c[2]];
        if (a == b || b == d || d == a) continue;
        int32_t *to = mesh->triangle + 3 * (int64_t)kept++;
        to[0] = a, to[1] = b, to[2] = d;
    }
    mesh->triangle_count = kept;
}

// Renumbers the vertices in use without gaps. place: work of vertex_count entries.
static void drop_unused(mo_mesh *mesh, int32_t *place)
{
    memset(place, 0, sizeof(int32_t) * (size_t)mesh->vertex_count);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++) place[mesh->triangle[i]] = 1;
    int32_t kept = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!place[v]) continue;
        memmove(mesh->position + 3 * (int64_t)kept, mesh->position + 3 * (int64_t)v, 3 * sizeof(float));
        place[v] = kept++;
    }
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++) mesh->triangle[i] = place[mesh->triangle[i]];
    mesh->vertex_count = kept;
}

mo_status mo_mesh_weld(mo_mesh *mesh, double tolerance, mo_error *err)
{
    MO_ASSERT(tolerance >= 0);
    size_t buckets = 16, vertices = (size_t)mesh->vertex_count;
    while (buckets < 2 * vertices) buckets *= 2;
    welder w = {mesh->position, tolerance, NULL, NULL, (uint32_t)(buckets - 1)};
    w.head = mo_alloc(buckets * sizeof(int32_t));
    w.next = mo_alloc(vertices * sizeof(int32_t));
    int32_t *target = mo_alloc(vertices * sizeof(int32_t));
    bool enough = w.head && w.next && target;
    if (enough) {
        weld_vertices(&w, mesh->vertex_count, target);
        weld_triangles(mesh, target);
        drop_unused(mesh, target);
    }
    mo_free(w.head);
    mo_free(w.next);
    mo_free(target);
    return enough ? MO_OK : mo_fail_memory(err);
}

// target[v] for all vertices: the first at the same place.
static bool find_twins(const mo_mesh *mesh, int32_t *target)
{
    size_t buckets = 16, vertices = (size_t)mesh->vertex_count;
    while (buckets < 2 * vertices) buckets *= 2;
    welder w = {mesh->position, 0, NULL, NULL, (uint32_t)(buckets - 1)};
    w.head = mo_alloc(buckets * sizeof(int32_t));
    w.next = mo_alloc(vertices * sizeof(int32_t) + 1);
    bool enough = w.head && w.next;
    if (enough) weld_vertices(&w, mesh->vertex_count, target);
    mo_free(w.head);
    mo_free(w.next);
    return enough;
}

mo_status mo_mesh_swell(mo_mesh *mesh, double distance, mo_error *err)
{
    MO_ASSERT(mesh->normal || mesh->vertex_count == 0);
    size_t vertices = (size_t)mesh->vertex_count;
    int32_t *target = mo_alloc(vertices * sizeof(int32_t) + 1);
    float *sum = mo_calloc(3 * vertices * sizeof(float) + 1);
    bool enough = target && sum && find_twins(mesh, target);
    for (size_t i = 0; enough && i < 3 * vertices; i++) sum[3 * target[i / 3] + (int32_t)(i % 3)] += mesh->normal[i];
    for (size_t i = 0; enough && i < 3 * vertices; i++)
        mesh->position[i] += (float)distance * sum[3 * target[i / 3] + (int32_t)(i % 3)];
    mo_free(target);
    mo_free(sum);
    return enough ? MO_OK : mo_fail_memory(err);
}
