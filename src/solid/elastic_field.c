// The lattice of distances round an elastic body: bricks of points near the surface, each filled by its own thread from
// the faces and elements that reach into it.
#include "solid/elastic_field.h"
#include "base/matrix3.h"
#include "geometry/tets.h"
#include "geometry/triangle.h"
#include <math.h>
#include <string.h>

enum { EDGE = MO_FIELD_BRICK, OUTSIDE = -1, INSIDE = -2 };

static const double reach_cells = 2; // of the field; collisions and fractions need no more

static int points_of(const mo_elastic_field *f) { return f->dimension == 3 ? EDGE * EDGE * EDGE : EDGE * EDGE; }

// ---- Creation ----

void mo_elastic_field_destroy(mo_elastic_field *f)
{
    mo_free(f->face), mo_free(f->behind), mo_free(f->brick);
    mo_free(f->distance), mo_free(f->nearest), mo_free(f->element);
    *f = (mo_elastic_field){0};
}

static bool has_corner(const mo_elastic_body *b, int32_t element, int32_t vertex)
{
    for (int k = 0; k <= b->dimension; k++)
        if (b->corner[element * (b->dimension + 1) + k] == vertex) return true;
    return false;
}

// The element that has all corners of a face.
static int32_t element_behind(const mo_elastic_body *b, const int32_t *face)
{
    for (int32_t u = b->first[face[0]]; u < b->first[face[0] + 1]; u++) {
        int32_t e = b->use[u] / (b->dimension + 1);
        bool all = true;
        for (int k = 1; k < b->dimension; k++) all &= has_corner(b, e, face[k]);
        if (all) return e;
    }
    return -1;
}

mo_status mo_elastic_field_create(const mo_elastic_body *b, mo_elastic_field *out, mo_error *err)
{
    *out = (mo_elastic_field){.body = b, .dimension = b->dimension};
    mo_tets mesh = {b->dimension, b->vertices, b->elements, (double *)b->rest, b->corner};
    _Static_assert(sizeof(mo_vec3) == 3 * sizeof(double), "places are three numbers each");
    MO_TRY(mo_tets_boundary(&mesh, &out->face, &out->faces, err));
    out->behind = mo_alloc(sizeof(int32_t) * ((size_t)out->faces + 1));
    if (!out->behind) {
        mo_elastic_field_destroy(out);
        return mo_fail_memory(err);
    }
    for (int32_t i = 0; i < out->faces; i++) out->behind[i] = element_behind(b, out->face + i * b->dimension);
    return MO_OK;
}

// ---- Which bricks ----

typedef struct range { // of lattice points or bricks, both ends included
    int32_t lo[3], hi[3];
} range;

static double lattice(const mo_elastic_field *f, mo_vec3 x, int axis)
{
    return axis == 2 && f->dimension == 2 ? 0 : (mo_get(x, axis) - mo_get(f->origin, axis)) / f->spacing;
}

// Lattice points within `margin` (m) of the box round some vertices.
static range points_about(const mo_elastic_field *f, const mo_elastic_body *b, const int32_t *vertex, int count,
                          double margin)
{
    range r;
    for (int a = 0; a < 3; a++) {
        double lo = INFINITY, hi = -INFINITY, m = a < f->dimension ? margin / f->spacing : 0;
        for (int k = 0; k < count; k++) {
            double at = lattice(f, b->position[vertex[k]], a);
            lo = fmin(lo, at), hi = fmax(hi, at);
        }
        r.lo[a] = (int32_t)ceil(lo - m - 1e-9), r.hi[a] = (int32_t)floor(hi + m + 1e-9);
    }
    return r;
}

static int32_t floor_divide(int32_t a, int32_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static range bricks_of(const range *points)
{
    range r;
    for (int a = 0; a < 3; a++)
        r.lo[a] = floor_divide(points->lo[a], EDGE), r.hi[a] = floor_divide(points->hi[a], EDGE);
    return r;
}

static int32_t place_of(const mo_elastic_field *f, int32_t i, int32_t j, int32_t k)
{
    return i - f->lo[0] + f->n[0] * (j - f->lo[1] + f->n[1] * (k - f->lo[2]));
}

static mo_status lay_bricks(mo_elastic_field *f, const mo_elastic_body *b, mo_error *err)
{
    mo_vec3 lo = b->position[0], hi = lo;
    for (int32_t v = 1; v < b->vertices; v++) {
        mo_vec3 x = b->position[v];
        lo = mo_v3(fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z));
        hi = mo_v3(fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z));
    }
    double count = 1;
    for (int a = 0; a < 3; a++) {
        double margin = a < f->dimension ? f->reach / f->spacing + 1 : 0;
        double first = floor((lattice(f, lo, a) - margin) / EDGE), last = floor((lattice(f, hi, a) + margin) / EDGE);
        if (!(fabs(first) < 1e6 && fabs(last) < 1e6))
            return mo_fail(err, MO_ERROR_FAILED, "an elastic body has flown apart");
        f->lo[a] = (int32_t)first, f->n[a] = (int32_t)(last - first) + 1;
        count *= f->n[a];
    }
    if (count > 1e8) return mo_fail(err, MO_ERROR_FAILED, "an elastic body has flown apart");
    if (!mo_reserve((void **)&f->brick, &f->table_capacity, (int64_t)count, sizeof *f->brick))
        return mo_fail_memory(err);
    for (int64_t i = 0; i < (int64_t)count; i++) f->brick[i] = OUTSIDE;
    return MO_OK;
}

// ---- Lists of faces and elements in bricks ----

typedef struct lists { // items first[k] .. first[k + 1] - 1 of brick k, ascending
    int32_t *first, *item;
} lists;

typedef range (*range_fn)(const mo_elastic_field *f, const mo_elastic_body *b, int32_t item);

static range about_face(const mo_elastic_field *f, const mo_elastic_body *b, int32_t i)
{
    return points_about(f, b, f->face + (int64_t)i * f->dimension, f->dimension, f->reach);
}

static range about_element(const mo_elastic_field *f, const mo_elastic_body *b, int32_t e)
{
    return points_about(f, b, b->corner + (int64_t)e * (b->dimension + 1), b->dimension + 1, 0);
}

#define FOR_BRICKS(r, i, j, k)                                                                                         \
    for (int32_t k = (r).lo[2]; k <= (r).hi[2]; k++)                                                                   \
        for (int32_t j = (r).lo[1]; j <= (r).hi[1]; j++)                                                               \
            for (int32_t i = (r).lo[0]; i <= (r).hi[0]; i++)

static bool is_empty(const range *r) { return r->lo[0] > r->hi[0] || r->lo[1] > r->hi[1] || r->lo[2] > r->hi[2]; }

// Marks and numbers the bricks that faces reach into.
static void number_bricks(mo_elastic_field *f, const mo_elastic_body *b)
{
    for (int32_t i = 0; i < f->faces; i++) {
        range points = about_face(f, b, i), r = bricks_of(&points);
        if (is_empty(&points)) continue;
        FOR_BRICKS(r, x, y, z) f->brick[place_of(f, x, y, z)] = 0;
    }
    f->bricks = 0;
    int32_t total = f->n[0] * f->n[1] * f->n[2];
    for (int32_t i = 0; i < total; i++)
        if (f->brick[i] == 0) f->brick[i] = f->bricks++;
}

static mo_status list_items(const mo_elastic_field *f, const mo_elastic_body *b, int32_t items, range_fn about,
                            mo_arena *arena, lists *out)
{
    out->first = MO_ARENA_ARRAY(arena, int32_t, f->bricks + 2);
    if (!out->first) return MO_ERROR_MEMORY;
    memset(out->first, 0, sizeof(int32_t) * ((size_t)f->bricks + 2));
    for (int pass = 0; pass < 2; pass++) { // counts, then lists
        for (int32_t i = 0; i < items; i++) {
            range points = about(f, b, i), r = bricks_of(&points);
            if (is_empty(&points)) continue;
            FOR_BRICKS(r, x, y, z)
            {
                int32_t k = f->brick[place_of(f, x, y, z)];
                if (k >= 0 && pass == 0) out->first[k + 2]++;
                if (k >= 0 && pass == 1) out->item[out->first[k + 1]++] = i;
            }
        }
        if (pass == 1) break;
        for (int32_t k = 0; k <= f->bricks; k++) out->first[k + 1] += out->first[k];
        out->item = MO_ARENA_ARRAY(arena, int32_t, out->first[f->bricks + 1] + 1);
        if (!out->item) return MO_ERROR_MEMORY;
    }
    return MO_OK;
}

// ---- One brick ----

typedef struct brick { // what is filled
    const mo_elastic_field *f;
    const mo_elastic_body *b;
    int32_t at[3]; // its first lattice point
    float *distance;
    int32_t *nearest, *element;
} brick;

static range clip(const brick *k, range r)
{
    for (int a = 0; a < 3; a++) {
        r.lo[a] -= k->at[a], r.hi[a] -= k->at[a];
        if (r.lo[a] < 0) r.lo[a] = 0;
        if (r.hi[a] > EDGE - 1) r.hi[a] = EDGE - 1;
    }
    return r;
}

static mo_vec3 point(const brick *k, int32_t i, int32_t j, int32_t l)
{
    const mo_elastic_field *f = k->f;
    return mo_mad(f->origin, f->spacing, mo_v3(k->at[0] + i, k->at[1] + j, k->at[2] + l));
}

static double face_distance(const mo_elastic_field *f, const mo_elastic_body *b, int32_t face, mo_vec3 p,
                            mo_vec3 *nearest)
{
    const int32_t *v = f->face + (int64_t)face * f->dimension;
    const mo_vec3 *x = b->position;
    if (f->dimension == 2) p.z = 0;
    mo_vec3 way =
        f->dimension == 3 ? mo_triangle_way(x[v[0]], x[v[1]], x[v[2]], p) : mo_segment_way(x[v[0]], x[v[1]], p);
    *nearest = mo_sub(p, way);
    return mo_norm(way);
}

// A ball round a face.
static double ball_of(const brick *k, int32_t face, mo_vec3 *centre)
{
    const int32_t *v = k->f->face + (int64_t)face * k->f->dimension;
    double square = 0;
    *centre = mo_v3(0, 0, 0);
    for (int c = 0; c < k->f->dimension; c++) *centre = mo_mad(*centre, 1.0 / k->f->dimension, k->b->position[v[c]]);
    for (int c = 0; c < k->f->dimension; c++) {
        mo_vec3 arm = mo_sub(k->b->position[v[c]], *centre);
        square = fmax(square, mo_dot(arm, arm));
    }
    return sqrt(square);
}

// Points whose nearest face so far is nearer than the ball round this face are skipped.
static void add_face(const brick *k, int32_t face)
{
    range r = clip(k, about_face(k->f, k->b, face));
    mo_vec3 centre;
    double radius = (1 + 1e-6) * ball_of(k, face, &centre);
    FOR_BRICKS(r, i, j, l)
    {
        mo_vec3 at, p = point(k, i, j, l), arm = mo_sub(p, centre);
        int32_t q = i + EDGE * (j + EDGE * l);
        double far = k->distance[q] * (1 + 1e-6) + radius;
        if (mo_dot(arm, arm) > far * far) continue;
        float d = (float)face_distance(k->f, k->b, face, p, &at);
        if (d < k->distance[q]) k->distance[q] = d, k->nearest[q] = face;
    }
}

// The inverse of an element's edges as they are now, by which barycentric coordinates follow. False: it is flat.
static bool element_inverse(const mo_elastic_body *b, int32_t e, double inverse[3][3], mo_vec3 *corner)
{
    int d = b->dimension;
    const int32_t *c = b->corner + (int64_t)e * (d + 1);
    double E[3][3] = {{0}, {0}, {0, 0, 1}}, C[3][3];
    *corner = b->position[c[0]];
    for (int k = 0; k < d; k++)
        for (int a = 0; a < d; a++) E[a][k] = mo_get(b->position[c[k + 1]], a) - mo_get(*corner, a);
    double J = mo_det3((const double(*)[3])E);
    if (J == 0) return false;
    mo_cofactor3((const double(*)[3])E, C);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse[i][j] = C[j][i] / J;
    return true;
}

static void barycentric(int d, const double inverse[3][3], mo_vec3 corner, mo_vec3 p, double w[4])
{
    mo_vec3 x = mo_sub(p, corner);
    w[0] = 1;
    for (int k = 0; k < d; k++) {
        w[k + 1] = inverse[k][0] * x.x + inverse[k][1] * x.y + (d == 3 ? inverse[k][2] * x.z : 0);
        w[0] -= w[k + 1];
    }
}

static bool all_positive(int d, const double w[4])
{
    for (int k = 0; k <= d; k++)
        if (w[k] < -1e-12) return false;
    return true;
}

static void add_element(const brick *k, int32_t e)
{
    double inverse[3][3], w[4];
    mo_vec3 corner;
    if (!element_inverse(k->b, e, inverse, &corner)) return;
    range r = clip(k, about_element(k->f, k->b, e));
    FOR_BRICKS(r, i, j, l)
    {
        int32_t q = i + EDGE * (j + EDGE * l);
        if (k->element[q] >= 0) continue;
        barycentric(k->f->dimension, (const double(*)[3])inverse, corner, point(k, i, j, l), w);
        if (all_positive(k->f->dimension, w)) k->element[q] = e;
    }
}

static void fill_brick(const brick *k, const lists *faces, const lists *elements, int32_t number)
{
    int points = points_of(k->f);
    for (int q = 0; q < points; q++) k->distance[q] = (float)k->f->reach, k->nearest[q] = k->element[q] = -1;
    for (int32_t n = faces->first[number]; n < faces->first[number + 1]; n++) add_face(k, faces->item[n]);
    for (int32_t n = elements->first[number]; n < elements->first[number + 1]; n++) add_element(k, elements->item[n]);
    for (int q = 0; q < points; q++)
        if (k->element[q] >= 0) k->distance[q] = -k->distance[q];
}

// Bricks without surface are wholly inside or outside, like their first point.
static void find_inner(mo_elastic_field *f, const mo_elastic_body *b)
{
    for (int32_t e = 0; e < b->elements; e++) {
        double inverse[3][3], w[4];
        mo_vec3 corner;
        range points = about_element(f, b, e), r = bricks_of(&points);
        if (is_empty(&points) || !element_inverse(b, e, inverse, &corner)) continue;
        FOR_BRICKS(r, i, j, k)
        {
            int32_t *to = &f->brick[place_of(f, i, j, k)];
            if (*to != OUTSIDE) continue;
            mo_vec3 p = mo_mad(f->origin, EDGE * f->spacing, mo_v3(i, j, k));
            barycentric(f->dimension, (const double(*)[3])inverse, corner, p, w);
            if (all_positive(f->dimension, w)) *to = INSIDE;
        }
    }
}

mo_status mo_elastic_field_update(mo_elastic_field *f, const mo_elastic_body *b, mo_vec3 origin, double spacing,
                                  mo_arena *arena, mo_error *err)
{
    MO_ASSERT(f->dimension == b->dimension && spacing > 0);
    size_t mark = mo_arena_mark(arena);
    lists faces, elements;
    f->origin = origin, f->spacing = spacing, f->reach = 2 * reach_cells * spacing;
    if (f->dimension == 2) f->origin.z = 0;
    MO_TRY(lay_bricks(f, b, err));
    number_bricks(f, b);
    int64_t points = (int64_t)f->bricks * points_of(f);
    if (!mo_reserve((void **)&f->distance, &f->distance_capacity, points, sizeof *f->distance) ||
        !mo_reserve((void **)&f->nearest, &f->nearest_capacity, points, sizeof *f->nearest) ||
        !mo_reserve((void **)&f->element, &f->element_capacity, points, sizeof *f->element) ||
        list_items(f, b, f->faces, about_face, arena, &faces) != MO_OK ||
        list_items(f, b, b->elements, about_element, arena, &elements) != MO_OK)
        return mo_fail_memory(err);
    int32_t total = f->n[0] * f->n[1] * f->n[2];
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t i = 0; i < total; i++) {
        int32_t number = f->brick[i];
        if (number < 0) continue;
        int64_t first = (int64_t)number * points_of(f);
        brick k = {.f = f,
                   .b = b,
                   .at = {EDGE * (f->lo[0] + i % f->n[0]), EDGE * (f->lo[1] + i / f->n[0] % f->n[1]),
                          EDGE * (f->lo[2] + i / f->n[0] / f->n[1])},
                   .distance = f->distance + first,
                   .nearest = f->nearest + first,
                   .element = f->element + first};
        fill_brick(&k, &faces, &elements, number);
    }
    find_inner(f, b);
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Queries ----

// The sample at a lattice point: its index in the arrays, or OUTSIDE or INSIDE.
static int64_t sample_at(const mo_elastic_field *f, const int32_t p[3])
{
    int32_t c[3], in[3];
    for (int a = 0; a < 3; a++) {
        c[a] = floor_divide(p[a], EDGE), in[a] = p[a] - EDGE * c[a];
        if (c[a] < f->lo[a] || c[a] >= f->lo[a] + f->n[a]) return OUTSIDE;
    }
    int32_t number = f->brick[place_of(f, c[0], c[1], c[2])];
    return number < 0 ? number : (int64_t)number * points_of(f) + in[0] + EDGE * (in[1] + EDGE * in[2]);
}

// How far in front of a face's plane a point lies; `way` leads from the face to the point.
static double before_face(const mo_elastic_field *f, int32_t face, mo_vec3 way)
{
    const int32_t *v = f->face + (int64_t)face * f->dimension;
    const mo_vec3 *x = f->body->position;
    mo_vec3 side = mo_sub(x[v[1]], x[v[0]]), n = mo_v3(side.y, -side.x, 0); // in 2D the inside is on its left
    if (f->dimension == 3) n = mo_cross(side, mo_sub(x[v[2]], x[v[0]]));
    return mo_dot(way, mo_normalize(n));
}

// The distance to the nearest of some faces. Where an edge or a corner is nearest, several faces are: then the face
// that is most perpendicular to the way decides about the side.
static double nearest_of(const mo_elastic_field *f, int32_t count, const int32_t *face, mo_vec3 x)
{
    double least = INFINITY, side = 0;
    for (int32_t k = 0; k < count; k++) {
        mo_vec3 at;
        double d = face_distance(f, f->body, face[k], x, &at), tie = 1e-9 * f->spacing;
        if (d > least + tie) continue;
        double before = before_face(f, face[k], mo_sub(x, at));
        if (d < least - tie || fabs(before) > fabs(side)) side = before;
        least = fmin(least, d);
    }
    return side < 0 ? -least : least;
}

double mo_elastic_field_distance(const mo_elastic_field *f, mo_vec3 x)
{
    enum { CORNERS = 8 };
    const double interpolated_side = 0.35; // spacings, from which on the interpolated distance gives the side
    int32_t base[3], face[CORNERS], faces = 0, corners = 0, inside = 0;
    double part[3], sum = 0;
    if (f->dimension == 2) x.z = 0;
    for (int a = 0; a < 3; a++) {
        double at = lattice(f, x, a), low = floor(at);
        if (!(fabs(at) < 1e8)) return f->reach;
        base[a] = (int32_t)low, part[a] = at - low;
    }
    for (int corner = 0; corner < (f->dimension == 3 ? 8 : 4); corner++) {
        int32_t p[3];
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            int high = corner >> a & 1;
            p[a] = base[a] + high;
            if (a < f->dimension) weight *= high ? part[a] : 1 - part[a];
        }
        if (weight == 0) continue;
        int64_t q = sample_at(f, p);
        sum += weight * (q >= 0 ? f->distance[q] : q == OUTSIDE ? f->reach : -f->reach);
        corners++, inside += q == INSIDE || (q >= 0 && f->element[q] >= 0);
        if (q < 0 || f->nearest[q] < 0) continue;
        int32_t k = 0;
        while (k < faces && face[k] != f->nearest[q]) k++;
        if (k == faces) face[faces++] = f->nearest[q];
    }
    if (corners == 1 || faces == 0 || fabs(sum) >= f->spacing) return sum;
    double exact = nearest_of(f, faces, face, x);
    bool trusted = exact * sum > 0 || (inside < corners && fabs(sum) < interpolated_side * f->spacing);
    return trusted ? exact : copysign(exact, sum);
}

bool mo_elastic_field_near(const mo_elastic_field *f, mo_vec3 x, double reach)
{
    range r;
    for (int a = 0; a < 3; a++) {
        double at = lattice(f, x, a), m = a < f->dimension ? reach / f->spacing + 1 : 0;
        r.lo[a] = (int32_t)fmax(floor((at - m) / EDGE), f->lo[a]);
        r.hi[a] = (int32_t)fmin(floor((at + m) / EDGE), f->lo[a] + f->n[a] - 1);
    }
    if (is_empty(&r)) return false;
    FOR_BRICKS(r, i, j, k)
    if (f->brick[place_of(f, i, j, k)] >= 0) return true;
    return false;
}

// ---- Weights ----

static void sort_weights(int32_t count, int32_t *vertex, double *weight)
{
    for (int32_t i = 1; i < count; i++)
        for (int32_t k = i; k > 0 && vertex[k] < vertex[k - 1]; k--) {
            int32_t v = vertex[k];
            double w = weight[k];
            vertex[k] = vertex[k - 1], weight[k] = weight[k - 1];
            vertex[k - 1] = v, weight[k - 1] = w;
        }
}

static int32_t element_weights(const mo_elastic_body *b, int32_t e, mo_vec3 x, int32_t *vertex, double *weight)
{
    double inverse[3][3];
    mo_vec3 corner;
    if (!element_inverse(b, e, inverse, &corner)) return 0;
    barycentric(b->dimension, (const double(*)[3])inverse, corner, x, weight);
    for (int k = 0; k <= b->dimension; k++) vertex[k] = b->corner[(int64_t)e * (b->dimension + 1) + k];
    sort_weights(b->dimension + 1, vertex, weight);
    return b->dimension + 1;
}

static int32_t add_vertex(int32_t count, int32_t *vertex, int32_t v)
{
    for (int32_t i = 0; i < count; i++)
        if (vertex[i] == v) return count;
    if (count < MO_ELASTIC_WEIGHTS) vertex[count++] = v;
    return count;
}

// The corners of the element behind a face, then the vertices that share an element with a corner of the face, those of
// the corner nearest to `at` first: a set that spans space.
static int32_t vertices_about(const mo_elastic_field *f, const mo_elastic_body *b, int32_t face, mo_vec3 at,
                              int32_t *vertex)
{
    int32_t d = b->dimension, count = 0, nearest = 0, element = f->behind[face];
    const int32_t *corner = f->face + (int64_t)face * d;
    for (int k = 1; k < d; k++)
        if (mo_norm(mo_sub(b->position[corner[k]], at)) < mo_norm(mo_sub(b->position[corner[nearest]], at)))
            nearest = k;
    for (int k = 0; k <= d; k++) count = add_vertex(count, vertex, b->corner[(int64_t)element * (d + 1) + k]);
    for (int k = 0; k < d; k++) {
        int32_t c = corner[(nearest + k) % d];
        for (int32_t n = b->start[c]; n < b->start[c + 1]; n++) count = add_vertex(count, vertex, b->near[n]);
    }
    return count;
}

// The affine function nearest to values at the vertices, at x: w_k = 1/n + (x - c) C^-1 (x_k - c), c their centre and C
// their second moments.
static bool fit_weights(const mo_elastic_body *b, mo_vec3 x, int32_t count, const int32_t *vertex, double *weight)
{
    int d = b->dimension;
    mo_vec3 c = {0};
    double C[3][3] = {{0}, {0}, {0, 0, d == 2}}, inverse[3][3];
    for (int32_t k = 0; k < count; k++) c = mo_mad(c, 1.0 / count, b->position[vertex[k]]);
    for (int32_t k = 0; k < count; k++) {
        mo_vec3 r = mo_sub(b->position[vertex[k]], c);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) C[i][j] += mo_get(r, i) * mo_get(r, j);
    }
    double J = mo_det3((const double(*)[3])C);
    if (!(J > 0)) return false;
    mo_cofactor3((const double(*)[3])C, inverse);
    mo_vec3 y = mo_sub(x, c);
    double g[3] = {0};
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) g[i] += inverse[i][j] / J * mo_get(y, j);
    for (int32_t k = 0; k < count; k++) {
        mo_vec3 r = mo_sub(b->position[vertex[k]], c);
        weight[k] = 1.0 / count + g[0] * r.x + g[1] * r.y + (d == 3 ? g[2] * r.z : 0);
    }
    return true;
}

int32_t mo_elastic_field_weights(const mo_elastic_field *f, const mo_elastic_body *b, mo_vec3 x,
                                 int32_t vertex[MO_ELASTIC_WEIGHTS], double weight[MO_ELASTIC_WEIGHTS])
{
    int32_t p[3];
    mo_vec3 at;
    for (int a = 0; a < 3; a++) {
        double to = rint(lattice(f, x, a));
        if (!(fabs(to) < 1e8)) return 0;
        p[a] = (int32_t)to;
    }
    int64_t q = sample_at(f, p);
    if (q < 0) return 0;
    if (f->element[q] >= 0) return element_weights(b, f->element[q], x, vertex, weight);
    if (f->nearest[q] < 0) return 0;
    face_distance(f, b, f->nearest[q], x, &at);
    int32_t count = vertices_about(f, b, f->nearest[q], at, vertex);
    if (!fit_weights(b, x, count, vertex, weight))
        return element_weights(b, f->behind[f->nearest[q]], x, vertex, weight);
    sort_weights(count, vertex, weight);
    return count;
}
