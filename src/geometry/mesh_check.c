// What a mesh must satisfy before it can be a solid: finite numbers, and a closed, consistently oriented surface.
#include "base/parallel.h"
#include "geometry/mesh.h"
#include <string.h>

mo_status mo_mesh_check_numbers(const mo_mesh *mesh, const char *name, mo_error *err)
{
    if (mesh->triangle_count < 1) return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh has no triangles", name);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        for (int a = 0; a < 3; a++)
            if (!(fabsf(mesh->position[3 * (int64_t)v + a]) < 1e18f))
                return mo_fail(err, MO_ERROR_INPUT, "%s: coordinate %c of vertex %d is %g, not a usable number", name,
                               "xyz"[a], v, (double)mesh -> position[3 * (int64_t)v + a]);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++)
        if (mesh->triangle[i] < 0 || mesh->triangle[i] >= mesh->vertex_count)
            return mo_fail(err, MO_ERROR_INPUT, "%s: triangle %d uses vertex %d, the mesh has %d", name,
                           (int32_t)(i / 3), mesh->triangle[i], mesh->vertex_count);
    return MO_OK;
}

typedef struct edge_count {
    int64_t open, turned, crowded, degenerate;
} edge_count;

// The edges of one vertex to vertices of larger index, as 2 other + direction.
static void count_edges(int32_t *edge, int32_t n, edge_count *count)
{
    for (int32_t i = 1; i < n; i++) { // a handful: insertion sort
        int32_t e = edge[i], j = i;
        for (; j > 0 && edge[j - 1] > e; j--) edge[j] = edge[j - 1];
        edge[j] = e;
    }
    for (int32_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && edge[j] / 2 == edge[i] / 2; j++) {}
        if (j - i == 1)
            count->open++;
        else if (j - i > 2)
            count->crowded++;
        else if (edge[i] == edge[i + 1])
            count->turned++;
    }
}

static void list_edges(const mo_mesh *mesh, int32_t *start, int32_t *edge, edge_count *count)
{
    memset(start, 0, sizeof(int32_t) * ((size_t)mesh->vertex_count + 1));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t t = 0; t < mesh->triangle_count; t++)
            for (int k = 0; k < 3; k++) {
                int32_t a = mesh->triangle[3 * (int64_t)t + k], b = mesh->triangle[3 * (int64_t)t + (k + 1) % 3];
                int32_t low = a < b ? a : b, high = a < b ? b : a;
                if (a == b)
                    count->degenerate += pass;
                else if (pass == 0)
                    start[low]++;
                else
                    edge[start[low]++] = 2 * high + (a < b);
            }
        if (pass == 0) mo_prefix_sum(mesh->vertex_count + 1, start);
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++) { // filling moved each start to its end
        int32_t first = v > 0 ? start[v - 1] : 0;
        count_edges(edge + first, start[v] - first, count);
    }
}

mo_status mo_mesh_check_closed(const mo_mesh *mesh, const char *name, mo_error *err)
{
    int32_t *start = mo_alloc(sizeof(int32_t) * ((size_t)mesh->vertex_count + 1));
    int32_t *edge = mo_alloc(sizeof(int32_t) * 3 * (size_t)mesh->triangle_count);
    edge_count count = {0};
    bool enough = start && edge;
    if (enough) list_edges(mesh, start, edge, &count);
    mo_free(start);
    mo_free(edge);
    if (!enough) return mo_fail_memory(err);
    if (count.open + count.turned + count.crowded + count.degenerate == 0) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT,
                   "%s: the mesh is not a closed, oriented surface: %lld open edges, %lld edges between triangles of "
                   "opposite orientation, %lld edges shared by more than two triangles, %lld degenerate edges",
                   name, (long long)count.open, (long long)count.turned, (long long)count.crowded,
                   (long long)count.degenerate);
}
