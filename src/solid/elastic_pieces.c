// Faces of elastic bodies cut by cells: Sutherland and Hodgman's clipping, with barycentric coordinates carried along.
#include "solid/elastic_pieces.h"
#include <math.h>
#include <stdlib.h>

enum { CORNERS = 3, MOST = CORNERS + 6 };

typedef struct corner {
    mo_vec3 x;              // in cells
    double weight[CORNERS]; // of the face's vertices
} corner;

typedef struct polygon {
    int32_t count;
    corner at[MOST + 1];
} polygon;

void mo_elastic_pieces_destroy(mo_elastic_pieces *p)
{
    for (int k = 0; k < MO_SAMPLE_KINDS; k++) mo_free(p->of[k].piece);
    *p = (mo_elastic_pieces){0};
}

static corner between(const corner *a, const corner *b, double t)
{
    corner c = {.x = mo_mad(a->x, t, mo_sub(b->x, a->x))};
    for (int k = 0; k < CORNERS; k++) c.weight[k] = a->weight[k] + t * (b->weight[k] - a->weight[k]);
    return c;
}

// How far a point is inside a plane across an axis.
static double depth_in(const corner *c, int axis, double plane, bool low)
{
    return low ? mo_get(c->x, axis) - plane : plane - mo_get(c->x, axis);
}

// Keeps the part on the inner side of a plane. Points on the plane are inside for a low plane, outside for a high one.
// closed: the last corner is followed by the first.
static void clip(polygon *p, int axis, double plane, bool low, bool closed)
{
    polygon out = {0};
    for (int32_t k = 0; k < p->count; k++) {
        const corner *a = &p->at[k], *b = &p->at[(k + 1) % p->count];
        double da = depth_in(a, axis, plane, low), db = depth_in(b, axis, plane, low);
        bool in_a = da > 0 || (low && da == 0), in_b = db > 0 || (low && db == 0);
        if (in_a) out.at[out.count++] = *a;
        if (in_a != in_b && (closed || k + 1 < p->count)) out.at[out.count++] = between(a, b, da / (da - db));
    }
    *p = out;
}

// Adds a part of a piece: its area (times the normal), and the mean of its corners' weights.
static void add_part(mo_surface_piece *out, mo_vec3 area, const corner *const at[], int corners)
{
    double size = mo_norm(area);
    out->area = mo_add(out->area, area);
    for (int k = 0; k < CORNERS; k++)
        for (int i = 0; i < corners; i++) out->weight[k] += size * at[i]->weight[k] / corners;
}

// The area and the weights of the centroid of a polygon, in cells. Returns whether there is something.
static bool measure(const polygon *p, int dimension, mo_surface_piece *out)
{
    if (dimension == 2 && p->count == 2) {
        mo_vec3 e = mo_sub(p->at[1].x, p->at[0].x); // outside is on its right
        add_part(out, mo_v3(e.y, -e.x, 0), (const corner *[]){&p->at[0], &p->at[1]}, 2);
    }
    for (int32_t k = 1; dimension == 3 && k + 1 < p->count; k++) {
        const corner *const at[] = {&p->at[0], &p->at[k], &p->at[k + 1]};
        mo_vec3 area = mo_cross(mo_sub(at[1]->x, at[0]->x), mo_sub(at[2]->x, at[0]->x));
        add_part(out, mo_mul(0.5, area), at, CORNERS);
    }
    out->size = out->weight[0] + out->weight[1] + out->weight[2];
    for (int k = 0; k < CORNERS && out->size > 0; k++) out->weight[k] /= out->size;
    return out->size > 0;
}

static mo_status store(mo_piece_list *p, const mo_surface_piece *piece)
{
    if (!mo_reserve((void **)&p->piece, &p->capacity, p->count + 1, sizeof *p->piece)) return MO_ERROR_MEMORY;
    p->piece[p->count++] = *piece;
    return MO_OK;
}

// One face in all cells that it may pass.
static mo_status cut_face(mo_piece_list *p, const polygon *face, const int32_t vertex[CORNERS], int dimension)
{
    int32_t lo[3] = {0}, hi[3] = {0};
    for (int a = 0; a < dimension; a++) {
        double least = INFINITY, most = -INFINITY;
        for (int k = 0; k < dimension; k++)
            least = fmin(least, mo_get(face->at[k].x, a)), most = fmax(most, mo_get(face->at[k].x, a));
        lo[a] = (int32_t)floor(least), hi[a] = (int32_t)floor(most);
    }
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                mo_surface_piece piece = {.cell = {i, j, k}, .vertex = {vertex[0], vertex[1], vertex[2]}};
                polygon part = *face;
                for (int a = 0; a < dimension; a++) {
                    clip(&part, a, piece.cell[a], true, dimension == 3);
                    clip(&part, a, piece.cell[a] + 1, false, dimension == 3);
                }
                if (measure(&part, dimension, &piece)) MO_TRY(store(p, &piece));
            }
    return MO_OK;
}

static int compare_cells(const int32_t *a, const int32_t *b)
{
    for (int k = 2; k >= 0; k--)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

// By cell, then as the faces' vertices are, so that the order is one.
static int compare_pieces(const void *a, const void *b)
{
    const mo_surface_piece *p = a, *q = b;
    int cells = compare_cells(p->cell, q->cell);
    for (int k = 0; !cells && k < CORNERS; k++)
        if (p->vertex[k] != q->vertex[k]) cells = p->vertex[k] < q->vertex[k] ? -1 : 1;
    return cells;
}

static mo_status cut(mo_piece_list *p, const mo_elastic_body *b, const mo_elastic_field *f, mo_vec3 origin, double dx)
{
    int d = b->dimension;
    p->count = 0;
    for (int32_t i = 0; i < f->faces; i++) {
        polygon face = {.count = d};
        int32_t vertex[CORNERS] = {0, 0, -1};
        for (int k = 0; k < d; k++) {
            vertex[k] = f->face[d * i + k];
            face.at[k] = (corner){.x = mo_mul(1 / dx, mo_sub(b->position[vertex[k]], origin))};
            face.at[k].weight[k] = 1;
        }
        MO_TRY(cut_face(p, &face, vertex, d));
    }
    if (p->count) qsort(p->piece, (size_t)p->count, sizeof *p->piece, compare_pieces);
    return MO_OK;
}

mo_status mo_elastic_pieces_update(mo_elastic_pieces *p, const mo_elastic_body *b, const mo_elastic_field *f,
                                   mo_vec3 origin, double dx, bool edges, mo_error *err)
{
    mo_status status = cut(&p->of[MO_SAMPLE_CELL], b, f, origin, dx);
    for (int along = b->dimension == 2 ? 2 : 0; edges && along < 3 && status == MO_OK; along++) {
        mo_vec3 across = mo_v3(along != 0, along != 1, along != 2);
        status = cut(&p->of[MO_SAMPLE_EDGE + along], b, f, mo_mad(origin, -0.5 * dx, across), dx);
    }
    return status == MO_OK ? MO_OK : mo_fail_memory(err);
}

int32_t mo_elastic_pieces_in(const mo_elastic_pieces *all, int sample, const int32_t cell[3],
                             const mo_surface_piece **first)
{
    MO_ASSERT(sample == MO_SAMPLE_CELL || (sample >= MO_SAMPLE_EDGE && sample < MO_SAMPLE_KINDS));
    const mo_piece_list *p = &all->of[sample];
    int32_t lo = 0, hi = p->count, end;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (compare_cells(p->piece[middle].cell, cell) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (end = lo; end < p->count && compare_cells(p->piece[end].cell, cell) == 0;) end++;
    *first = p->piece + lo;
    return end - lo;
}
