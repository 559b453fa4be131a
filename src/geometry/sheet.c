// Sheets: memory, placing, welding, edges.
#include "geometry/sheet.h"
#include "geometry/sheet_make.h"
#include <stdlib.h>
#include <string.h>

void mo_sheet_destroy(mo_sheet *s)
{
    if (!s) return;
    mo_free(s->position), mo_free(s->triangle);
    *s = (mo_sheet){0};
}

mo_status mo_sheet_reserve(int64_t vertices, int64_t triangles, mo_sheet *out, mo_error *err)
{
    *out = (mo_sheet){0};
    if (triangles > mo_sheet_most || vertices > 3 * (int64_t)mo_sheet_most)
        return mo_fail(err, MO_ERROR_INPUT,
                       "the sheet would have %lld triangles, at most %d are allowed: take longer "
                       "edges",
                       (long long)triangles, mo_sheet_most);
    *out = (mo_sheet){(int32_t)vertices, (int32_t)triangles, NULL, NULL};
    out->position = mo_alloc(sizeof *out->position * (size_t)(vertices + 1));
    out->triangle = mo_alloc(sizeof *out->triangle * (size_t)(triangles + 1));
    if (out->position && out->triangle) return MO_OK;
    mo_sheet_destroy(out);
    return mo_fail_memory(err);
}

mo_status mo_sheet_copy(const mo_sheet *s, mo_sheet *out, mo_error *err)
{
    MO_TRY(mo_sheet_reserve(s->vertices, s->triangles, out, err));
    memcpy(out->position, s->position, sizeof *s->position * (size_t)s->vertices);
    memcpy(out->triangle, s->triangle, sizeof *s->triangle * (size_t)s->triangles);
    return MO_OK;
}

// ---- Placing ----

static void place(mo_sheet *s, int32_t v, mo_vec3 x)
{
    s->position[v][0] = x.x, s->position[v][1] = x.y, s->position[v][2] = x.z;
}

static mo_vec3 vertex(const mo_sheet *s, int32_t v)
{
    return mo_v3(s->position[v][0], s->position[v][1], s->position[v][2]);
}

void mo_sheet_move(mo_sheet *s, mo_vec3 by)
{
    for (int32_t v = 0; v < s->vertices; v++) place(s, v, mo_add(vertex(s, v), by));
}

void mo_sheet_rotate(mo_sheet *s, mo_vec3 axis, double radians)
{
    mo_quat q = mo_quat_axis_angle(axis, radians);
    for (int32_t v = 0; v < s->vertices; v++) place(s, v, mo_quat_rotate(q, vertex(s, v)));
}

void mo_sheet_scale(mo_sheet *s, mo_vec3 by)
{
    for (int32_t v = 0; v < s->vertices; v++)
        for (int a = 0; a < 3; a++) s->position[v][a] *= mo_get(by, a);
}

// ---- Welding ----

typedef struct place_of {
    double x;
    int32_t vertex;
} place_of;

static int by_place(const void *a, const void *b)
{
    const place_of *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

// target[v]: the vertex of lowest number within the tolerance that is kept, or v itself.
static void find_targets(const mo_sheet *s, double tolerance, place_of *order, int32_t *target)
{
    for (int32_t v = 0; v < s->vertices; v++) order[v] = (place_of){s->position[v][0], v}, target[v] = v;
    qsort(order, (size_t)s->vertices, sizeof *order, by_place);
    for (int32_t i = 0; i < s->vertices; i++) // those behind in the order
        for (int32_t j = i + 1; j < s->vertices && order[j].x - order[i].x <= tolerance; j++) {
            int32_t a = order[i].vertex, b = order[j].vertex;
            if (mo_norm(mo_sub(vertex(s, a), vertex(s, b))) > tolerance) continue;
            while (target[a] != a) a = target[a];
            while (target[b] != b) b = target[b];
            target[a < b ? b : a] = a < b ? a : b;
        }
    for (int32_t v = 0; v < s->vertices; v++) target[v] = target[target[v]]; // targets are lower: theirs are final
}

static void join_vertices(mo_sheet *s, const int32_t *target, int32_t *number)
{
    int32_t kept = 0, triangles = 0;
    for (int32_t v = 0; v < s->vertices; v++) {
        if (target[v] != v) continue;
        memmove(s->position[kept], s->position[v], sizeof *s->position);
        number[v] = kept++;
    }
    for (int32_t t = 0; t < s->triangles; t++) {
        int32_t c[3];
        for (int k = 0; k < 3; k++) c[k] = number[target[s->triangle[t][k]]];
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
        memcpy(s->triangle[triangles++], c, sizeof c);
    }
    s->vertices = kept, s->triangles = triangles;
}

mo_status mo_sheet_join(mo_sheet *s, double tolerance, mo_error *err)
{
    size_t n = (size_t)s->vertices + 1;
    place_of *order = mo_alloc(sizeof *order * n);
    int32_t *target = mo_alloc(sizeof(int32_t) * n), *number = mo_alloc(sizeof(int32_t) * n);
    bool enough = order && target && number;
    if (enough) {
        find_targets(s, tolerance, order, target);
        join_vertices(s, target, number);
    }
    mo_free(order), mo_free(target), mo_free(number);
    return enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_sheet_weld(const mo_sheet *a, const mo_sheet *b, double tolerance, mo_sheet *out, mo_error *err)
{
    MO_TRY(mo_sheet_reserve((int64_t)a->vertices + b->vertices, (int64_t)a->triangles + b->triangles, out, err));
    memcpy(out->position, a->position, sizeof *a->position * (size_t)a->vertices);
    memcpy(out->position + a->vertices, b->position, sizeof *b->position * (size_t)b->vertices);
    memcpy(out->triangle, a->triangle, sizeof *a->triangle * (size_t)a->triangles);
    for (int32_t t = 0; t < b->triangles; t++)
        for (int k = 0; k < 3; k++) out->triangle[a->triangles + t][k] = a->vertices + b->triangle[t][k];
    mo_status status = mo_sheet_join(out, tolerance, err);
    if (status != MO_OK) mo_sheet_destroy(out);
    return status;
}

// ---- Edges ----

typedef struct half {
    int32_t low, high, where; // 4 triangle + corner
} half;

static int by_ends(const void *a, const void *b)
{
    const half *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->where > q->where) - (p->where < q->where);
}

static void list_edges(const mo_sheet *s, half *h, mo_sheet_edges *e)
{
    int32_t n = 0, halves = 3 * s->triangles;
    for (int32_t t = 0; t < s->triangles; t++)
        for (int32_t k = 0; k < 3; k++) {
            int32_t a = s->triangle[t][k], b = s->triangle[t][(k + 1) % 3];
            h[n++] = (half){a < b ? a : b, a < b ? b : a, 4 * t + k};
        }
    qsort(h, (size_t)halves, sizeof *h, by_ends);
    for (int32_t i = 0; i < halves; i++) {
        if (i == 0 || h[i].low != h[i - 1].low || h[i].high != h[i - 1].high) {
            e->vertex[e->count][0] = h[i].low, e->vertex[e->count][1] = h[i].high;
            e->first[e->count++] = i;
        }
        e->around[i] = h[i].where;
        e->of[h[i].where / 4][h[i].where % 4] = e->count - 1;
    }
    e->first[e->count] = halves;
    for (int32_t k = 0; k < e->count; k++) {
        e->borders += e->first[k + 1] - e->first[k] == 1;
        e->junctions += e->first[k + 1] - e->first[k] > 2;
    }
}

mo_status mo_sheet_edges_create(const mo_sheet *s, mo_sheet_edges *out, mo_error *err)
{
    size_t n = 3 * (size_t)s->triangles + 1;
    *out = (mo_sheet_edges){.vertex = mo_alloc(sizeof *out->vertex * n), .first = mo_alloc(sizeof(int32_t) * (n + 1))};
    out->around = mo_alloc(sizeof(int32_t) * n), out->of = mo_alloc(sizeof *out->of * ((size_t)s->triangles + 1));
    half *h = mo_alloc(sizeof *h * n);
    bool enough = out->vertex && out->first && out->around && out->of && h;
    if (enough) list_edges(s, h, out);
    mo_free(h);
    if (enough) return MO_OK;
    mo_sheet_edges_destroy(out);
    return mo_fail_memory(err);
}

void mo_sheet_edges_destroy(mo_sheet_edges *e)
{
    mo_free(e->vertex), mo_free(e->first), mo_free(e->around), mo_free(e->of);
    *e = (mo_sheet_edges){0};
}
