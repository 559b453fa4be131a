// The nearest points of triangles and segments.
#ifndef MO_TRIANGLE_H
#define MO_TRIANGLE_H

#include "base/vec.h"

static inline mo_vec3 mo_segment_nearest(mo_vec3 a, mo_vec3 b, mo_vec3 p)
{
    mo_vec3 e = mo_sub(b, a);
    double square = mo_dot(e, e), t = square > 0 ? mo_dot(mo_sub(p, a), e) / square : 0;
    return t <= 0 ? a : t >= 1 ? b : mo_mad(a, t, e);
}

// In the plane if p lies above the triangle, else on the nearest edge.
static inline mo_vec3 mo_triangle_nearest(mo_vec3 a, mo_vec3 b, mo_vec3 c, mo_vec3 p)
{
    mo_vec3 n = mo_cross(mo_sub(b, a), mo_sub(c, a)), best;
    double square = mo_dot(n, n);
    mo_vec3 corner[3] = {a, b, c};
    bool above = square > 0;
    for (int k = 0; k < 3 && above; k++) {
        mo_vec3 edge = mo_sub(corner[(k + 1) % 3], corner[k]);
        above = mo_dot(mo_cross(n, edge), mo_sub(p, corner[k])) >= 0;
    }
    if (above) return mo_mad(p, -mo_dot(mo_sub(p, a), n) / square, n);
    best = mo_segment_nearest(a, b, p);
    for (int k = 1; k < 3; k++) {
        mo_vec3 next = mo_segment_nearest(corner[k], corner[(k + 1) % 3], p);
        if (mo_norm(mo_sub(next, p)) < mo_norm(mo_sub(best, p))) best = next;
    }
    return best;
}

#endif
