// A tree of boxes over the triangles of a sheet.
#include "geometry/sheet_tree.h"
#include "geometry/box_tree.h"
#include "geometry/predicates.h"
#include "geometry/triangle.h"
#include <math.h>

struct mo_sheet_tree {
    const mo_sheet *sheet;
    mo_box_tree boxes; // of the triangles
};

mo_status mo_sheet_tree_create(const mo_sheet *s, mo_sheet_tree **out, mo_error *err)
{
    mo_sheet_tree *t = *out = mo_calloc(sizeof *t);
    if (!t) return mo_fail_memory(err);
    t->sheet = s;
    mo_status status = mo_box_tree_create(s->triangles, &t->boxes, err);
    if (status != MO_OK) {
        mo_sheet_tree_destroy(t);
        *out = NULL;
        return status;
    }
    for (int32_t k = 0; k < s->triangles; k++)
        for (int a = 0; a < 3; a++) {
            double x = s->position[s->triangle[k][0]][a], y = s->position[s->triangle[k][1]][a],
                   z = s->position[s->triangle[k][2]][a];
            t->boxes.of[k].lo[a] = fmin(x, fmin(y, z)), t->boxes.of[k].hi[a] = fmax(x, fmax(y, z));
        }
    mo_box_tree_build(&t->boxes, s->triangles);
    return MO_OK;
}

void mo_sheet_tree_destroy(mo_sheet_tree *t)
{
    if (!t) return;
    mo_box_tree_destroy(&t->boxes);
    mo_free(t);
}

// ---- Questions ----

static mo_vec3 corner(const mo_sheet *s, int32_t triangle, int k)
{
    const double *x = s->position[s->triangle[triangle][k]];
    return mo_v3(x[0], x[1], x[2]);
}

static mo_vec3 normal_of(const mo_sheet *s, int32_t triangle)
{
    mo_vec3 a = corner(s, triangle, 0);
    return mo_cross(mo_sub(corner(s, triangle, 1), a), mo_sub(corner(s, triangle, 2), a));
}

// Where the way from p to q meets a triangle, 0..1; 2: nowhere.
static double meet(const mo_sheet *s, int32_t triangle, const double p[3], const double q[3])
{
    const int32_t *t = s->triangle[triangle];
    const double *a = s->position[t[0]], *b = s->position[t[1]], *c = s->position[t[2]];
    int above = mo_orient3d(a, b, c, p), below = mo_orient3d(a, b, c, q);
    if (above * below > 0) return 2;
    int u = mo_orient3d(p, q, a, b), v = mo_orient3d(p, q, b, c), w = mo_orient3d(p, q, c, a);
    if ((u > 0 || v > 0 || w > 0) && (u < 0 || v < 0 || w < 0)) return 2;
    mo_vec3 n = normal_of(s, triangle), x = corner(s, triangle, 0);
    double hp = mo_dot(n, mo_sub(mo_v3(p[0], p[1], p[2]), x)), hq = mo_dot(n, mo_sub(mo_v3(q[0], q[1], q[2]), x));
    double at = hp == hq ? 0 : hp / (hp - hq);
    return at > 0 ? fmin(at, 1) : 0;
}

double mo_sheet_tree_meet(const mo_sheet_tree *t, mo_vec3 a, mo_vec3 b, int32_t *triangle)
{
    const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    mo_bounds round = mo_bounds_of(a, b, 0);
    mo_box_walk w = mo_box_walk_start(&t->boxes);
    double first = 2;
    *triangle = -1;
    for (int32_t k; (k = mo_box_walk_next(&t->boxes, &round, &w)) >= 0;) {
        double at = meet(t->sheet, k, p, q);
        if (at < first || (at == first && at < 2 && k < *triangle)) first = at, *triangle = k;
    }
    return first;
}

double mo_sheet_tree_near(const mo_sheet_tree *t, mo_vec3 p, double most, mo_vec3 *way)
{
    mo_bounds round = mo_bounds_of(p, p, most);
    mo_box_walk w = mo_box_walk_start(&t->boxes);
    double least = most * most;
    for (int32_t k; (k = mo_box_walk_next(&t->boxes, &round, &w)) >= 0;) {
        mo_vec3 v = mo_triangle_way(corner(t->sheet, k, 0), corner(t->sheet, k, 1), corner(t->sheet, k, 2), p);
        double d = mo_dot(v, v);
        if (d < least) least = d, *way = v;
    }
    return sqrt(least);
}

// ---- Sliding ----

// What is left of a way along the planes that were met.
static mo_vec3 along(mo_vec3 way, const mo_vec3 *normal, int met)
{
    mo_vec3 n = normal[met - 1], rest = mo_mad(way, -mo_dot(way, n), n);
    for (int k = 0; k < met - 1; k++) {
        if (mo_dot(rest, normal[k]) >= 0) continue;
        mo_vec3 crease = mo_cross(n, normal[k]);
        double square = mo_dot(crease, crease);
        if (met > 2 || square < 1e-12) return mo_v3(0, 0, 0);
        rest = mo_mul(mo_dot(way, crease) / square, crease);
    }
    return rest;
}

// A free place near `to`, at least `gap` from the sheet, to which a way from `from` leads; false: none is found.
static bool keep_off(const mo_sheet_tree *t, mo_vec3 from, mo_vec3 to, double gap, mo_vec3 *end)
{
    enum { PUSHES = 4 };
    int32_t triangle;
    *end = to;
    for (int k = 0; k < PUSHES; k++) {
        mo_vec3 way = {0, 0, 0};
        double d = mo_sheet_tree_near(t, *end, gap, &way);
        if (d >= gap * (1 - 1e-9)) return mo_sheet_tree_meet(t, from, *end, &triangle) > 1;
        if (!(d > 0)) return false;
        *end = mo_mad(*end, (gap - d) * (1 + 1e-6) / d, way);
    }
    return false;
}

// The part of a way, at most `stop`, that ends `gap` off all triangles; 0 where none is found.
static double clear_of_others(const mo_sheet_tree *t, mo_vec3 from, mo_vec3 way, double stop, double gap)
{
    enum { HALVINGS = 6 };
    const double enough = 0.999; // of the gap: sliding along a plane stays as near as that
    for (int k = 0; k < HALVINGS && stop > 0; k++, stop *= 0.5) {
        mo_vec3 off;
        if (mo_sheet_tree_near(t, mo_mad(from, stop, way), gap, &off) >= enough * gap) return stop;
    }
    return 0;
}

mo_sheet_slide mo_sheet_tree_slide(const mo_sheet_tree *t, mo_vec3 a, mo_vec3 b, double gap)
{
    mo_sheet_slide s = {.end = a};
    mo_vec3 to = b;
    int32_t triangle;
    for (;;) {
        double at = mo_sheet_tree_meet(t, s.end, to, &triangle);
        mo_vec3 way = mo_sub(to, s.end), end;
        if (at > 1) {
            if (keep_off(t, s.end, to, gap, &end)) s.end = end;
            return s;
        }
        mo_vec3 n = normal_of(t->sheet, triangle);
        double length = mo_norm(n), height = mo_dot(n, mo_sub(s.end, corner(t->sheet, triangle, 0)));
        if (s.met == MO_SHEET_BOUNCES || !(length > 0)) return s;
        n = mo_mul((height < 0 ? -1 : 1) / length, n);
        s.triangle[s.met] = triangle, s.normal[s.met++] = n;
        // It stops where it is `gap` above the plane: on the way that it has gone without meeting anything.
        double into = -mo_dot(way, n), stop = into > 0 ? fmax(at - gap / into, 0) : 0;
        stop = clear_of_others(t, s.end, way, stop, gap);
        s.end = mo_mad(s.end, stop, way);
        to = mo_add(s.end, along(mo_mul(1 - stop, way), s.normal, s.met));
    }
}
