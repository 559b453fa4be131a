// A moving sheet against moving points.
#include "geometry/sheet_sweep.h"
#include "geometry/box_tree.h"
#include "geometry/triangle.h"

struct mo_sheet_sweep {
    const mo_sheet *sheet;
    const double (*to)[3];
    mo_box_tree boxes; // round the paths of the triangles
};

mo_status mo_sheet_sweep_create(const mo_sheet *from, const double (*to)[3], mo_sheet_sweep **out, mo_error *err)
{
    mo_sheet_sweep *s = *out = mo_calloc(sizeof *s);
    if (!s) return mo_fail_memory(err);
    s->sheet = from, s->to = to;
    mo_status status = mo_box_tree_create(from->triangles, &s->boxes, err);
    if (status != MO_OK) {
        mo_sheet_sweep_destroy(s);
        *out = NULL;
        return status;
    }
    for (int32_t t = 0; t < from->triangles; t++)
        for (int a = 0; a < 3; a++) {
            double lo = INFINITY, hi = -INFINITY;
            for (int k = 0; k < 3; k++) {
                double x = from->position[from->triangle[t][k]][a], y = to[from->triangle[t][k]][a];
                lo = fmin(lo, fmin(x, y)), hi = fmax(hi, fmax(x, y));
            }
            s->boxes.of[t].lo[a] = lo, s->boxes.of[t].hi[a] = hi;
        }
    mo_box_tree_build(&s->boxes, from->triangles);
    return MO_OK;
}

void mo_sheet_sweep_destroy(mo_sheet_sweep *s)
{
    if (!s) return;
    mo_box_tree_destroy(&s->boxes);
    mo_free(s);
}

// ---- One triangle ----

typedef struct flight { // the corners of a triangle and then the point: where they start, and their ways
    mo_vec3 x[4], by[4];
    double fastest; // bound of how much the distance shrinks on the whole way
} flight;

static mo_vec3 place(const double p[3]) { return mo_v3(p[0], p[1], p[2]); }

// Ways are counted less their mean, which changes no distance.
static flight flight_of(const mo_sheet_sweep *s, int32_t triangle, mo_vec3 a, mo_vec3 b)
{
    flight f = {.x = {[3] = a}, .by = {[3] = mo_sub(b, a)}};
    mo_vec3 mean = mo_mul(0.25, f.by[3]);
    double most = 0;
    for (int k = 0; k < 3; k++) {
        int32_t v = s->sheet->triangle[triangle][k];
        f.x[k] = place(s->sheet->position[v]), f.by[k] = mo_sub(place(s->to[v]), f.x[k]);
        mean = mo_mad(mean, 0.25, f.by[k]);
    }
    for (int k = 0; k < 4; k++) f.by[k] = mo_sub(f.by[k], mean);
    for (int k = 0; k < 3; k++) most = fmax(most, mo_norm(f.by[k]));
    f.fastest = most + mo_norm(f.by[3]);
    return f;
}

static mo_vec3 way_at(const flight *f, double t)
{
    mo_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = mo_mad(f->x[k], t, f->by[k]);
    return mo_triangle_way(x[0], x[1], x[2], x[3]);
}

static double volume(mo_vec3 a, mo_vec3 b, mo_vec3 c) { return mo_dot(mo_cross(a, b), c); }

// Whether the point may come into the triangle's plane.
static bool may_cross(const flight *f)
{
    const double rounding = 1e-13;
    mo_vec3 e[2][3]; // edges and the point, from corner 0, at the start and at the end
    double size = 1;
    for (int k = 0; k < 3; k++) {
        e[0][k] = mo_sub(f->x[k + 1], f->x[0]), e[1][k] = mo_add(e[0][k], mo_sub(f->by[k + 1], f->by[0]));
        size *= mo_norm(e[0][k]) + mo_norm(e[1][k]);
    }
    double b[4] = {0}, lo = INFINITY, hi = -INFINITY;
    for (int m = 0; m < 8; m++) {
        int ends = (m & 1) + (m >> 1 & 1) + (m >> 2);
        b[ends] += volume(e[m & 1][0], e[m >> 1 & 1][1], e[m >> 2][2]) / (ends % 3 ? 3 : 1);
    }
    for (int k = 0; k < 4; k++) lo = fmin(lo, b[k]), hi = fmax(hi, b[k]);
    return !(lo > rounding * size || hi < -rounding * size);
}

// The time up to which the point certainly stays clear of the triangle; 2: all the way, or beyond `before`.
static double clear_until(const flight *f, double least, double before)
{
    enum { STEPS = 1000 };
    const double rest = 0.1; // of the distance that is left, at which both count as met
    double d = mo_norm(way_at(f, 0)), t = 0;
    if (!(d - f->fastest < least) || !may_cross(f)) return 2;
    least = fmin(least, 0.5 * d);
    double near = rest * fmin(d - least, least);
    for (int k = 0; k < STEPS && d - least >= near; k++) {
        double next = t + (1 - rest) * (d - least) / f->fastest; // the distance is still above `least` there
        if (next >= before || next >= 1) return 2;
        t = next;
        d = mo_norm(way_at(f, t));
    }
    return t;
}

// ---- The sheet ----

static void describe(const flight *f, mo_sweep_hit *hit)
{
    mo_vec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = mo_mad(f->x[k], hit->time, f->by[k]);
    mo_vec3 n = mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0]));
    mo_vec3 foot = mo_sub(x[3], mo_triangle_way(x[0], x[1], x[2], x[3]));
    double square = mo_dot(n, n), sum = 0;
    for (int k = 0; k < 3; k++) {
        mo_vec3 p = x[(k + 1) % 3], q = x[(k + 2) % 3];
        double part = square > 0 ? mo_dot(n, mo_cross(mo_sub(q, p), mo_sub(foot, p))) / square : 1;
        sum += hit->weight[k] = part > 0 ? part : 0;
    }
    for (int k = 0; k < 3; k++) hit->weight[k] /= sum;
    hit->side = mo_dot(n, mo_sub(x[3], x[0])) < 0 ? -1 : 1;
}

bool mo_sheet_sweep_meet(const mo_sheet_sweep *s, mo_vec3 a, mo_vec3 b, double least, mo_sweep_hit *hit)
{
    mo_bounds round = mo_bounds_of(a, b, least);
    mo_box_walk w = mo_box_walk_start(&s->boxes);
    *hit = (mo_sweep_hit){.time = 2, .triangle = -1};
    for (int32_t k; (k = mo_box_walk_next(&s->boxes, &round, &w)) >= 0;) {
        flight f = flight_of(s, k, a, b);
        double t = clear_until(&f, least, hit->time);
        if (t < hit->time) hit->time = t, hit->triangle = k;
    }
    if (hit->triangle < 0) return false;
    flight f = flight_of(s, hit->triangle, a, b);
    describe(&f, hit);
    return true;
}

// The place above a triangle, at the end of the step, that a hit leads to.
static mo_vec3 carried(const mo_sheet_sweep *s, const mo_sweep_hit *hit, double above)
{
    mo_vec3 x[3], foot = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        x[k] = place(s->to[s->sheet->triangle[hit->triangle][k]]);
        foot = mo_mad(foot, hit->weight[k], x[k]);
    }
    mo_vec3 n = mo_normalize(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
    return mo_mad(foot, above * hit->side, n);
}

mo_vec3 mo_sheet_sweep_carry(const mo_sheet_sweep *s, const mo_sheet_tree *end, mo_vec3 a, mo_vec3 b, double gap)
{
    enum { HALVINGS = 10 };
    const double nearest = 0.1, foot = 1e-3; // of the gap
    mo_sweep_hit hit;
    int32_t triangle;
    mo_vec3 x = b;
    if (!mo_sheet_sweep_meet(s, a, b, nearest * gap, &hit)) return b;
    for (int k = 0; k < HALVINGS; k++, gap *= 0.5) { // in a fold another layer may be nearer
        x = carried(s, &hit, gap);
        if (mo_sheet_tree_meet(end, carried(s, &hit, foot * gap), x, &triangle) > 1) break;
    }
    return x;
}
