// Borders that nearly meet a sheet and are not welded to it.
#include "geometry/sheet.h"
#include "geometry/triangle.h"
#include <math.h>
#include <stdlib.h>

typedef struct span { // of a triangle along x
    double lo;
    int32_t triangle;
} span;

typedef struct search {
    const mo_sheet *s;
    double reach, longest;   // of all spans
    span *order;             // [triangles] by lo
    uint8_t *border;         // [vertices]
    int32_t *first, *around; // [vertices + 2] triangles of each vertex v: from first[v + 1] to first[v + 2]
    int32_t *near;           // [vertices] the vertex whose neighbour it is, 1 more than its number
} search;

static int by_lo(const void *a, const void *b)
{
    const span *p = a, *q = b;
    if (p->lo != q->lo) return p->lo < q->lo ? -1 : 1;
    return (p->triangle > q->triangle) - (p->triangle < q->triangle);
}

static mo_vec3 at(const mo_sheet *s, int32_t v)
{
    return mo_v3(s->position[v][0], s->position[v][1], s->position[v][2]);
}

static void list_all(search *h, const mo_sheet_edges *e)
{
    const mo_sheet *s = h->s;
    for (int32_t k = 0; k < e->count; k++)
        if (e->first[k + 1] - e->first[k] == 1) h->border[e->vertex[k][0]] = h->border[e->vertex[k][1]] = 1;
    for (int32_t t = 0; t < s->triangles; t++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = s->position[s->triangle[t][k]][0], h->first[s->triangle[t][k] + 1]++;
        h->order[t] = (span){fmin(x[0], fmin(x[1], x[2])), t};
        h->longest = fmax(h->longest, fmax(x[0], fmax(x[1], x[2])) - h->order[t].lo);
    }
    qsort(h->order, (size_t)s->triangles, sizeof *h->order, by_lo);
    for (int32_t v = 0; v < s->vertices; v++) h->first[v + 1] += h->first[v];
    h->first[s->vertices + 1] = 3 * s->triangles;
    for (int32_t t = s->triangles; t-- > 0;)
        for (int k = 0; k < 3; k++) h->around[--h->first[s->triangle[t][k] + 1]] = t;
}

// Whether a vertex lies within reach of a triangle that is no neighbour of it.
static bool is_loose(search *h, int32_t v)
{
    const mo_sheet *s = h->s;
    int32_t low = 0, high = s->triangles, self = v + 1;
    double from = s->position[v][0] - h->longest - h->reach, to = s->position[v][0] + h->reach;
    for (int32_t k = h->first[v + 1]; k < h->first[v + 2]; k++)
        for (int c = 0; c < 3; c++) h->near[s->triangle[h->around[k]][c]] = self;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        *(h->order[middle].lo < from ? &low : &high) = h->order[middle].lo < from ? middle + 1 : middle;
    }
    for (; low < s->triangles && h->order[low].lo <= to; low++) {
        const int32_t *t = s->triangle[h->order[low].triangle];
        if (h->near[t[0]] == self || h->near[t[1]] == self || h->near[t[2]] == self) continue;
        mo_vec3 way = mo_triangle_way(at(s, t[0]), at(s, t[1]), at(s, t[2]), at(s, v));
        if (mo_dot(way, way) <= h->reach * h->reach) return true;
    }
    return false;
}

mo_status mo_sheet_loose(const mo_sheet *s, double reach, int32_t *count, mo_vec3 *first, mo_error *err)
{
    *count = 0;
    size_t vertices = (size_t)s->vertices, triangles = (size_t)s->triangles;
    mo_sheet_edges e;
    MO_TRY(mo_sheet_edges_create(s, &e, err));
    search h = {.s = s, .reach = reach, .order = mo_alloc(sizeof *h.order * (triangles + 1))};
    h.border = mo_calloc(vertices + 1), h.first = mo_calloc(sizeof(int32_t) * (vertices + 2));
    h.around = mo_alloc(sizeof(int32_t) * (3 * triangles + 1)), h.near = mo_calloc(sizeof(int32_t) * (vertices + 1));
    bool enough = h.order && h.border && h.first && h.around && h.near;
    if (enough) list_all(&h, &e);
    for (int32_t v = 0; enough && v < s->vertices; v++)
        if (h.border[v] && is_loose(&h, v) && (*count)++ == 0) *first = at(s, v);
    mo_free(h.order), mo_free(h.border), mo_free(h.first), mo_free(h.around), mo_free(h.near);
    mo_sheet_edges_destroy(&e);
    return enough ? MO_OK : mo_fail_memory(err);
}
