// Pairs of cloth that come near each other: trees of swept boxes against each other, then nearest points and times.
#include "solid/cloth_pairs.h"
#include "geometry/triangle.h"
#include "solid/cloth.h"
#include <string.h>

// ---- Data that stay from step to step ----

void mo_drape_destroy(mo_drape *d)
{
    mo_free(d->edge), mo_free(d->own), mo_free(d->box);
    *d = (mo_drape){0};
}

// Every vertex and every edge belongs to the first triangle that has it.
static void share_out(const mo_sheet_edges *e, const mo_elastic_surface *s, uint8_t *seen, mo_drape *d)
{
    for (int32_t t = 0; t < s->faces; t++)
        for (int k = 0; k < 3; k++) {
            int32_t v = s->face[3 * t + k];
            if (!seen[v]) d->own[t] |= (uint8_t)(1 << k), seen[v] = 1;
            if (e->around[e->first[e->of[t][k]]] == 4 * t + k) d->own[t] |= (uint8_t)(8 << k);
        }
}

mo_status mo_drape_create(const mo_elastic_surface *s, double thickness, mo_drape *out, mo_error *err)
{
    *out = (mo_drape){.surface = s, .thickness = thickness};
    mo_sheet sheet = {s->body->vertices, s->faces, (double(*)[3])s->body->rest, (int32_t(*)[3])s->face};
    mo_sheet_edges edges;
    MO_TRY(mo_sheet_edges_create(&sheet, &edges, err));
    uint8_t *seen = mo_calloc((size_t)s->body->vertices + 1);
    out->edge = mo_alloc(sizeof *out->edge * ((size_t)edges.count + 1)), out->edges = edges.count;
    out->own = mo_calloc((size_t)s->faces + 1), out->box = mo_alloc(sizeof(mo_box3) * ((size_t)s->boxes + 1));
    bool enough = seen && out->edge && out->own && out->box;
    if (enough) {
        memcpy(out->edge, edges.vertex, sizeof *out->edge * (size_t)edges.count);
        share_out(&edges, s, seen, out);
    }
    mo_free(seen);
    mo_sheet_edges_destroy(&edges);
    if (enough) return MO_OK;
    mo_drape_destroy(out);
    return mo_fail_memory(err);
}

// ---- Boxes ----

static const mo_box3 nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void include(mo_box3 *b, mo_vec3 x)
{
    b->lo = mo_v3(fmin(b->lo.x, x.x), fmin(b->lo.y, x.y), fmin(b->lo.z, x.z));
    b->hi = mo_v3(fmax(b->hi.x, x.x), fmax(b->hi.y, x.y), fmax(b->hi.z, x.z));
}

static mo_box3 box_of(const mo_drape *d, int32_t count, const int32_t *vertex)
{
    mo_box3 b = nothing;
    for (int32_t k = 0; k < count; k++) include(&b, d->from[vertex[k]]), include(&b, d->to[vertex[k]]);
    return b;
}

static bool overlap(const mo_box3 *a, const mo_box3 *b, double reach)
{
    return a->lo.x <= b->hi.x + reach && b->lo.x <= a->hi.x + reach && a->lo.y <= b->hi.y + reach &&
           b->lo.y <= a->hi.y + reach && a->lo.z <= b->hi.z + reach && b->lo.z <= a->hi.z + reach;
}

static void fit(mo_drape *d)
{
    const mo_elastic_surface *s = d->surface;
    for (int32_t i = s->boxes - 1; i >= 0; i--) { // children before parents
        const mo_surface_box *t = &s->tree[i];
        d->box[i] = nothing;
        for (int32_t k = 0; k < t->count; k++) {
            mo_box3 own = box_of(d, 3, s->face + 3 * s->order[t->first + k]);
            include(&d->box[i], own.lo), include(&d->box[i], own.hi);
        }
        for (int32_t k = 0; !t->count && k < 2; k++)
            include(&d->box[i], d->box[t->first + k].lo), include(&d->box[i], d->box[t->first + k].hi);
    }
}

// ---- Candidates ----

typedef struct search {
    mo_drape *drape;
    int32_t a, b;
    double reach;
    mo_pairs *out; // NULL: triangles that cross are looked for
    bool enough;   // memory
    bool crossed;
} search;

static void add(search *s, const mo_pair *p)
{
    const mo_drape *a = &s->drape[p->a], *b = &s->drape[p->b];
    mo_box3 own = box_of(a, p->edges ? 2 : 1, p->own), other = box_of(b, p->edges ? 2 : 3, p->other);
    if (!overlap(&own, &other, s->reach)) return;
    s->enough = s->enough && mo_reserve((void **)&s->out->pair, &s->out->capacity, s->out->count + 1, sizeof *p);
    if (s->enough) s->out->pair[s->out->count++] = *p;
}

static bool has(const int32_t *list, int count, int32_t v)
{
    for (int k = 0; k < count; k++)
        if (list[k] == v) return true;
    return false;
}

// Pairs the vertices that belong to triangle i of drape a with triangle k of drape b.
static void pair_vertices(search *s, int32_t a, int32_t i, int32_t b, int32_t k)
{
    const int32_t *own = s->drape[a].surface->face + 3 * i, *other = s->drape[b].surface->face + 3 * k;
    for (int c = 0; c < 3; c++) {
        if (!(s->drape[a].own[i] >> c & 1) || (a == b && has(other, 3, own[c]))) continue;
        mo_pair p = {a, b, false, {own[c], own[c]}, {other[0], other[1], other[2]}};
        add(s, &p);
    }
}

static void pair_edges(search *s, int32_t a, int32_t i, int32_t b, int32_t k)
{
    const int32_t *own = s->drape[a].surface->face + 3 * i, *other = s->drape[b].surface->face + 3 * k;
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) {
            if (!(s->drape[a].own[i] >> (3 + c) & 1) || !(s->drape[b].own[k] >> (3 + d) & 1)) continue;
            mo_pair p = {a, b, true, {own[c], own[(c + 1) % 3]}, {other[d], other[(d + 1) % 3], other[(d + 1) % 3]}};
            if (a == b && (has(p.other, 2, p.own[0]) || has(p.other, 2, p.own[1]))) continue;
            add(s, &p);
        }
}

// ---- Crossing ----

// Whether the segment p, q goes through the triangle.
static bool pierces(mo_vec3 p, mo_vec3 q, const mo_vec3 t[3])
{
    mo_vec3 n = mo_cross(mo_sub(t[1], t[0]), mo_sub(t[2], t[0]));
    double a = mo_dot(n, mo_sub(p, t[0])), b = mo_dot(n, mo_sub(q, t[0]));
    if ((a > 0) == (b > 0) || a == b) return false;
    mo_vec3 x = mo_mad(p, a / (a - b), mo_sub(q, p));
    for (int k = 0; k < 3; k++)
        if (!(mo_dot(n, mo_cross(mo_sub(t[(k + 1) % 3], t[k]), mo_sub(x, t[k]))) > 0)) return false;
    return true;
}

bool mo_triangles_cross(const mo_vec3 a[3], const mo_vec3 b[3])
{
    for (int k = 0; k < 3; k++)
        if (pierces(a[k], a[(k + 1) % 3], b) || pierces(b[k], b[(k + 1) % 3], a)) return true;
    return false;
}

static bool cross(const search *s, int32_t t, int32_t u)
{
    const mo_drape *a = &s->drape[s->a], *b = &s->drape[s->b];
    const int32_t *own = a->surface->face + 3 * t, *other = b->surface->face + 3 * u;
    mo_vec3 x[3], y[3];
    for (int k = 0; k < 3; k++) {
        if (s->a == s->b && has(other, 3, own[k])) return false;
        x[k] = a->from[own[k]], y[k] = b->from[other[k]];
    }
    return mo_triangles_cross(x, y);
}

// ---- Trees ----

static void pair_leaves(search *s, const mo_surface_box *x, const mo_surface_box *y)
{
    const mo_elastic_surface *a = s->drape[s->a].surface, *b = s->drape[s->b].surface;
    for (int32_t i = 0; i < x->count; i++)
        for (int32_t k = 0; k < y->count; k++) {
            int32_t t = a->order[x->first + i], u = b->order[y->first + k];
            if (s->a == s->b && (x == y ? t >= u : t == u)) continue;
            if (!s->out) {
                s->crossed |= cross(s, t, u);
                continue;
            }
            pair_vertices(s, s->a, t, s->b, u), pair_vertices(s, s->b, u, s->a, t);
            pair_edges(s, s->a, t, s->b, u);
        }
}

// Boxes i of drape a and k of drape b; of one drape with itself every pair of boxes once.
static void descend(search *s, int32_t i, int32_t k)
{
    const mo_drape *a = &s->drape[s->a], *b = &s->drape[s->b];
    const mo_surface_box *x = &a->surface->tree[i], *y = &b->surface->tree[k];
    bool same = s->a == s->b && i == k;
    if (!same && !overlap(&a->box[i], &b->box[k], s->reach)) return;
    if (x->count && y->count) {
        pair_leaves(s, x, y);
    } else if (same) {
        descend(s, x->first, x->first), descend(s, x->first + 1, x->first + 1), descend(s, x->first, x->first + 1);
    } else if (!x->count) {
        descend(s, x->first, k), descend(s, x->first + 1, k);
    } else {
        descend(s, i, y->first), descend(s, i, y->first + 1);
    }
}

mo_status mo_pairs_find(int32_t count, mo_drape *drape, double margin, mo_pairs *out, mo_error *err)
{
    search s = {.drape = drape, .out = out, .enough = true};
    out->count = 0;
    for (int32_t k = 0; k < count; k++) fit(&drape[k]);
    for (s.a = 0; s.a < count; s.a++)
        for (s.b = s.a; s.b < count; s.b++) {
            s.reach = margin + 0.5 * (drape[s.a].thickness + drape[s.b].thickness);
            if (drape[s.a].surface->faces && drape[s.b].surface->faces) descend(&s, 0, 0);
        }
    return s.enough ? MO_OK : mo_fail_memory(err);
}

bool mo_drapes_cross(int32_t count, mo_drape *drape, int32_t *a, int32_t *b)
{
    search s = {.drape = drape};
    for (int32_t k = 0; k < count; k++) fit(&drape[k]);
    for (s.a = 0; s.a < count; s.a++)
        for (s.b = s.a; s.b < count; s.b++) {
            if (drape[s.a].surface->faces && drape[s.b].surface->faces) descend(&s, 0, 0);
            *a = s.a, *b = s.b;
            if (s.crossed) return true;
        }
    return false;
}

// ---- Nearest points ----

static double clamp(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

// Parameters of the nearest points of segments p + s u and q + t v (Ericson, Real-Time Collision Detection, 5.1.9).
static void nearest_of_segments(mo_vec3 p, mo_vec3 u, mo_vec3 q, mo_vec3 v, double *s, double *t)
{
    mo_vec3 r = mo_sub(p, q);
    double a = mo_dot(u, u), e = mo_dot(v, v), f = mo_dot(v, r), c = mo_dot(u, r), b = mo_dot(u, v);
    double det = a * e - b * b;
    *s = det > 1e-14 * a * e ? clamp((b * f - c * e) / det) : 0.5;
    *t = e > 0 ? (b * *s + f) / e : 0;
    if (*t < 0 || *t > 1) {
        *t = clamp(*t);
        *s = a > 0 ? clamp((b * *t - c) / a) : 0;
    }
}

static void weigh_triangle(mo_vec3 a, mo_vec3 b, mo_vec3 c, mo_vec3 y, double w[3])
{
    mo_vec3 ab = mo_sub(b, a), ac = mo_sub(c, a), ay = mo_sub(y, a), n = mo_cross(ab, ac);
    double square = mo_dot(n, n), sum = 0;
    w[1] = square > 0 ? mo_dot(mo_cross(ay, ac), n) / square : 0;
    w[2] = square > 0 ? mo_dot(mo_cross(ab, ay), n) / square : 0;
    w[0] = 1 - w[1] - w[2];
    for (int k = 0; k < 3; k++) sum += w[k] = w[k] < 1e-9 ? 0 : w[k];
    for (int k = 0; k < 3; k++) w[k] /= sum;
}

mo_nearest mo_pair_nearest(const mo_pair *p, const mo_vec3 *xa, const mo_vec3 *xb)
{
    mo_nearest n = {.own = {1, 0}};
    mo_vec3 own = xa[p->own[0]], a = xb[p->other[0]], b = xb[p->other[1]];
    if (p->edges) {
        mo_vec3 u = mo_sub(xa[p->own[1]], own), v = mo_sub(b, a);
        double s, t;
        nearest_of_segments(own, u, a, v, &s, &t);
        n.own[0] = 1 - s, n.own[1] = s, n.other[0] = 1 - t, n.other[1] = t;
        n.way = mo_sub(mo_mad(own, s, u), mo_mad(a, t, v));
        n.inside = s > 0 && s < 1 && t > 0 && t < 1;
    } else {
        mo_vec3 c = xb[p->other[2]];
        n.way = mo_triangle_way(a, b, c, own);
        weigh_triangle(a, b, c, mo_sub(own, n.way), n.other);
        n.inside = n.other[0] > 0 && n.other[1] > 0 && n.other[2] > 0;
    }
    n.distance = mo_norm(n.way);
    return n;
}

// ---- Meeting ----

// The four vertices on their ways, less the mean motion: own[0..1], then other[0..2].
typedef struct flight {
    mo_vec3 x[5], by[5];
    double fastest; // bound of how much the distance shrinks on the whole way
} flight;

static flight flight_of(const mo_pair *p, const mo_drape *drape)
{
    const mo_drape *a = &drape[p->a], *b = &drape[p->b];
    int n = p->edges ? 2 : 1, m = p->edges ? 2 : 3;
    flight f;
    mo_vec3 mean = {0, 0, 0};
    double most[2] = {0, 0};
    for (int k = 0; k < 5; k++) {
        const mo_drape *d = k < 2 ? a : b;
        int32_t v = k < 2 ? p->own[k] : p->other[k - 2];
        f.x[k] = d->from[v], f.by[k] = mo_sub(d->to[v], d->from[v]);
        if (k < n || (k >= 2 && k < 2 + m)) mean = mo_mad(mean, 0.25, f.by[k]);
    }
    for (int k = 0; k < 5; k++) {
        f.by[k] = mo_sub(f.by[k], mean);
        most[k >= 2] = fmax(most[k >= 2], mo_norm(f.by[k]));
    }
    f.fastest = most[0] + most[1];
    return f;
}

static double distance_at(const mo_pair *p, const flight *f, double t)
{
    static const mo_pair places[2] = {{0, 0, false, {0, 1}, {2, 3, 4}}, {0, 0, true, {0, 1}, {2, 3, 4}}};
    mo_vec3 x[5];
    for (int k = 0; k < 5; k++) x[k] = mo_mad(f->x[k], t, f->by[k]);
    return mo_pair_nearest(&places[p->edges], x, x).distance;
}

bool mo_pair_meets(const mo_pair *p, const mo_drape *drape, double least, double *time)
{
    enum { STEPS = 1000 };
    const double rest = 0.1; // of the distance to `least`, and of `least`, at which the two count as met
    flight f = flight_of(p, drape);
    double d = distance_at(p, &f, 0), t = 0;
    *time = 1;
    if (!(d - f.fastest < least)) return false;
    least = fmin(least, 0.9 * d);
    double near = rest * fmin(d - least, least);
    for (int k = 0; k < STEPS; k++) {
        t += (1 - rest) * (d - least) / f.fastest; // the distance is still above `least` there
        if (t >= 1) return false;
        *time = t;
        d = distance_at(p, &f, t);
        if (d - least < near) break;
    }
    return true;
}
