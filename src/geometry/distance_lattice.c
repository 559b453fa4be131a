// The node of a mesh: distances sampled on a lattice (mesh_distance.c makes them).
#include "geometry/shape_node.h"
#include <string.h>

// Trilinear inside the lattice. Outside, with q the nearest lattice point and e = |p - q|: the mesh lies on q's side
// of the planes between, so sqrt(f(q)^2 + e^2) is a lower bound of the distance, continuous and of slope <= 1.
static double lattice_distance(const mo_shape *shape, mo_vec3 p)
{
    const mo_distance_lattice *l = &shape->lattice;
    double g[3] = {p.x - l->origin.x, p.y - l->origin.y, p.z - l->origin.z}, f[3], e2 = 0;
    int32_t c[3];
    for (int a = 0; a < 3; a++) {
        g[a] /= l->spacing;
        double inside = fmin(fmax(g[a], 0), l->n[a] - 1);
        double e = (g[a] - inside) * l->spacing;
        e2 += e * e;
        c[a] = (int32_t)inside;
        if (c[a] > l->n[a] - 2) c[a] = l->n[a] - 2;
        f[a] = inside - c[a];
    }
    int64_t dy = l->n[0], dz = dy * l->n[1];
    const float *s = l->sample + c[0] + dy * c[1] + dz * c[2];
    double y0 = (1 - f[0]) * s[0] + f[0] * s[1], y1 = (1 - f[0]) * s[dy] + f[0] * s[dy + 1];
    s += dz;
    double y2 = (1 - f[0]) * s[0] + f[0] * s[1], y3 = (1 - f[0]) * s[dy] + f[0] * s[dy + 1];
    double d = (1 - f[2]) * ((1 - f[1]) * y0 + f[1] * y1) + f[2] * ((1 - f[1]) * y2 + f[1] * y3);
    if (e2 > 0) d = sqrt(d * d + e2);
    double outside = mo_box_outside(&l->box, p);
    return outside > 0 && outside > d ? outside : d;
}

static double lattice_support(const mo_shape *s, mo_vec3 u, double offset)
{
    const mo_box3 *b = &s->lattice.box;
    return u.x * (u.x > 0 ? b->hi.x : b->lo.x) + u.y * (u.y > 0 ? b->hi.y : b->lo.y) +
           u.z * (u.z > 0 ? b->hi.z : b->lo.z) + offset;
}

static bool same_lattice(const mo_shape *one, const mo_shape *other)
{
    const mo_distance_lattice *a = &one->lattice, *b = &other->lattice;
    if (memcmp(a->n, b->n, sizeof a->n) != 0 || a->spacing != b->spacing || !mo_v3_equal(a->origin, b->origin))
        return false;
    size_t count = (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2];
    return a->sample == b->sample || memcmp(a->sample, b->sample, sizeof(float) * count) == 0;
}

static void lattice_destroy(mo_shape *s) { mo_free(s->lattice.sample); }

const mo_shape_kind mo_shape_lattice = {
    .distance = lattice_distance, .support = lattice_support, .same = same_lattice, .destroy = lattice_destroy};
