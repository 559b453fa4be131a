// Skins: the boundary's triangles (2D: those of the extruded slice), cut open along the sharp edges of the body at
// rest.
//
// A corner of a triangle names a place of the body: vertex, and in 2D the side. The corners about a place that smooth
// edges join are one vertex of the skin.
#include "solid/elastic_skin.h"
#include <string.h>

typedef struct corners { // of all triangles, by the place they name
    int32_t places;
    int32_t *place;        // [3 * triangles] 2 * vertex + front
    int32_t *first, *next; // lists of the corners about a place; -1 ends
} corners;

void mo_elastic_skin_destroy(mo_elastic_skin *s)
{
    mo_free(s->vertex);
    mo_free(s->front);
    mo_free(s->triangle);
    *s = (mo_elastic_skin){0};
}

// ---- Triangles ----

static int32_t triangle_count(const mo_elastic_body *b, int32_t faces)
{
    return b->dimension == 3 ? faces : 2 * faces + 2 * b->elements;
}

static void put(int32_t *to, int32_t a, int32_t b, int32_t c) { to[0] = a, to[1] = b, to[2] = c; }

// An edge of the boundary has the inside on its left: seen from outside the front is above the back, and the edge goes
// from left to right.
static void fill_places(const mo_elastic_body *b, const int32_t *face, int32_t faces, int32_t *place)
{
    for (int32_t f = 0; f < faces; f++) {
        const int32_t *v = face + b->dimension * (int64_t)f;
        if (b->dimension == 3) {
            put(place + 3 * (int64_t)f, 2 * v[0], 2 * v[1], 2 * v[2]);
        } else {
            put(place + 6 * (int64_t)f, 2 * v[0], 2 * v[1], 2 * v[1] + 1);
            put(place + 6 * (int64_t)f + 3, 2 * v[0], 2 * v[1] + 1, 2 * v[0] + 1);
        }
    }
    for (int32_t e = 0; b->dimension == 2 && e < b->elements; e++) {
        const int32_t *v = b->corner + 3 * (int64_t)e;
        int32_t *to = place + 6 * (int64_t)faces + 6 * (int64_t)e;
        put(to, 2 * v[0] + 1, 2 * v[1] + 1, 2 * v[2] + 1);
        put(to + 3, 2 * v[0], 2 * v[2], 2 * v[1]);
    }
}

static mo_vec3 place_at(const mo_vec3 *x, int32_t place, double depth)
{
    mo_vec3 p = x[place / 2];
    if (depth > 0) p.z = place % 2 ? depth : 0;
    return p;
}

// As long as twice the area.
static mo_vec3 normal_of(const mo_vec3 *x, const int32_t *place, double depth)
{
    mo_vec3 a = place_at(x, place[0], depth), b = place_at(x, place[1], depth), c = place_at(x, place[2], depth);
    return mo_cross(mo_sub(b, a), mo_sub(c, a));
}

// ---- Sharp edges ----

// Do the triangles of two corners about one place share a smooth edge there?
static bool are_joined(const corners *c, const mo_vec3 *normal, int32_t one, int32_t other)
{
    int32_t p = one / 3, q = other / 3;
    bool share = false;
    for (int i = 1; i < 3; i++)
        for (int j = 1; j < 3; j++) share |= c->place[3 * p + (one + i) % 3] == c->place[3 * q + (other + j) % 3];
    double sharp = mo_cos(MO_SKIN_CREASE * (M_PI / 180));
    double length = mo_norm(normal[p]) * mo_norm(normal[q]);
    return share && mo_dot(normal[p], normal[q]) >= sharp * length;
}

// Gives the corners that smooth edges join to `corner` its number.
static void flood(const corners *c, const mo_vec3 *normal, int32_t corner, int32_t number, int32_t *of)
{
    bool grown = true;
    of[corner] = number;
    while (grown) {
        grown = false;
        for (int32_t i = c->first[c->place[corner]]; i >= 0; i = c->next[i])
            for (int32_t k = c->first[c->place[corner]]; of[i] == number && k >= 0; k = c->next[k])
                if (of[k] < 0 && are_joined(c, normal, i, k)) of[k] = number, grown = true;
    }
}

// of[3 * triangles]: the vertex of each corner, in the order of corners. Returns how many there are.
static int32_t number_corners(const corners *c, const mo_vec3 *normal, int32_t triangles, int32_t *of)
{
    int32_t count = 0;
    for (int32_t i = 0; i < 3 * triangles; i++) of[i] = -1;
    for (int32_t i = 0; i < 3 * triangles; i++)
        if (of[i] < 0) flood(c, normal, i, count++, of);
    return count;
}

static void list_corners(corners *c, int32_t triangles)
{
    for (int32_t p = 0; p < c->places; p++) c->first[p] = -1;
    for (int32_t i = 3 * triangles - 1; i >= 0; i--) {
        c->next[i] = c->first[c->place[i]];
        c->first[c->place[i]] = i;
    }
}

// ---- Creation ----

static mo_status finish(const corners *c, const mo_vec3 *normal, mo_elastic_skin *s, mo_error *err)
{
    s->triangle = mo_alloc(sizeof(int32_t) * (3 * (size_t)s->triangles + 1));
    if (!s->triangle) return mo_fail_memory(err);
    s->vertices = number_corners(c, normal, s->triangles, s->triangle);
    s->vertex = mo_alloc(sizeof(int32_t) * ((size_t)s->vertices + 1));
    s->front = mo_alloc((size_t)s->vertices + 1);
    if (!s->vertex || !s->front) return mo_fail_memory(err);
    for (int32_t i = 0; i < 3 * s->triangles; i++) {
        s->vertex[s->triangle[i]] = c->place[i] / 2;
        s->front[s->triangle[i]] = (uint8_t)(c->place[i] % 2);
    }
    return MO_OK;
}

mo_status mo_elastic_skin_create(const mo_elastic_body *b, const int32_t *face, int32_t faces, double depth,
                                 mo_elastic_skin *out, mo_error *err)
{
    mo_elastic_skin s = {.triangles = triangle_count(b, faces), .depth = b->dimension == 2 ? depth : 0};
    size_t n = 3 * (size_t)s.triangles + 1;
    corners c = {.places = 2 * b->vertices};
    c.place = mo_alloc(sizeof(int32_t) * n), c.next = mo_alloc(sizeof(int32_t) * n);
    c.first = mo_alloc(sizeof(int32_t) * ((size_t)c.places + 1));
    mo_vec3 *normal = mo_alloc(sizeof *normal * n);
    mo_status status = c.place && c.next && c.first && normal ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        fill_places(b, face, faces, c.place);
        list_corners(&c, s.triangles);
        for (int32_t t = 0; t < s.triangles; t++) normal[t] = normal_of(b->rest, c.place + 3 * (int64_t)t, s.depth);
        status = finish(&c, normal, &s, err);
    }
    mo_free(c.place), mo_free(c.next), mo_free(c.first), mo_free(normal);
    if (status != MO_OK)
        mo_elastic_skin_destroy(&s);
    else
        *out = s;
    return status;
}

// ---- As the body is now ----

static void store(float *to, int32_t vertex, mo_vec3 x)
{
    memcpy(to + 3 * (int64_t)vertex, (float[]){(float)x.x, (float)x.y, (float)x.z}, 3 * sizeof(float));
}

// Sums over a vertex's triangles in their order, by area.
static void fill_normals(const mo_elastic_skin *s, const mo_elastic_body *b, mo_vec3 *sum, float *out)
{
    memset(sum, 0, sizeof *sum * (size_t)s->vertices);
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *corner = s->triangle + 3 * (int64_t)t;
        int32_t place[3];
        for (int k = 0; k < 3; k++) place[k] = 2 * s->vertex[corner[k]] + s->front[corner[k]];
        mo_vec3 n = normal_of(b->position, place, s->depth);
        for (int k = 0; k < 3; k++) sum[corner[k]] = mo_add(sum[corner[k]], n);
    }
    for (int32_t v = 0; v < s->vertices; v++) {
        double length = mo_norm(sum[v]);
        store(out, v, length > 0 ? mo_mul(1 / length, sum[v]) : mo_v3(0, 1, 0)); // flattened to nothing: any
    }
}

mo_status mo_elastic_skin_mesh(const mo_elastic_skin *s, const mo_elastic_body *b, mo_mesh *out, mo_error *err)
{
    *out = (mo_mesh){.vertex_count = s->vertices, .triangle_count = s->triangles};
    size_t floats = sizeof(float) * (3 * (size_t)s->vertices + 1);
    mo_vec3 *sum = mo_alloc(sizeof *sum * ((size_t)s->vertices + 1));
    out->position = mo_alloc(floats), out->normal = mo_alloc(floats), out->velocity = mo_alloc(floats);
    out->triangle = mo_alloc(sizeof(int32_t) * (3 * (size_t)s->triangles + 1));
    if (!sum || !out->position || !out->normal || !out->velocity || !out->triangle) {
        mo_free(sum);
        mo_mesh_destroy(out);
        return mo_fail_memory(err);
    }
    for (int32_t v = 0; v < s->vertices; v++) {
        store(out->position, v, place_at(b->position, 2 * s->vertex[v] + s->front[v], s->depth));
        store(out->velocity, v, b->velocity[s->vertex[v]]);
    }
    fill_normals(s, b, sum, out->normal);
    memcpy(out->triangle, s->triangle, 3 * sizeof(int32_t) * (size_t)s->triangles);
    mo_free(sum);
    return MO_OK;
}

void mo_elastic_skin_mean(const mo_elastic_skin *s, const mo_elastic_body *b, const double *element, float *out)
{
    for (int32_t v = 0; v < s->vertices; v++) {
        double sum = 0, weight = 0;
        for (int32_t u = b->first[s->vertex[v]]; u < b->first[s->vertex[v] + 1]; u++) {
            int32_t e = b->use[u] / (b->dimension + 1);
            if (isfinite(element[e])) sum += b->volume[e] * element[e], weight += b->volume[e];
        }
        out[v] = weight > 0 ? (float)(sum / weight) : 0;
    }
}
