// The nearest points of segments and triangles: the vector from there to a point.
#ifndef MO_TRIANGLE_H
#define MO_TRIANGLE_H

#include "base/vec.h"

static inline mo_vec3 mo_segment_way(mo_vec3 a, mo_vec3 b, mo_vec3 p)
{
    mo_vec3 ab = mo_sub(b, a), ap = mo_sub(p, a);
    double square = mo_dot(ab, ab), t = square > 0 ? mo_dot(ap, ab) / square : 0;
    return t <= 0 ? ap : t >= 1 ? mo_sub(p, b) : mo_mad(ap, -t, ab);
}

// The regions of the plane around the triangle tell which corner, edge or the inside is nearest (Ericson, Real-Time
// Collision Detection, 5.1.5). In a sliver without area this may miss an edge, which its neighbours then supply.
static inline mo_vec3 mo_triangle_way(mo_vec3 a, mo_vec3 b, mo_vec3 c, mo_vec3 p)
{
    mo_vec3 ab = mo_sub(b, a), ac = mo_sub(c, a), ap = mo_sub(p, a), bp = mo_sub(p, b), cp = mo_sub(p, c);
    double d1 = mo_dot(ab, ap), d2 = mo_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return ap;
    double d3 = mo_dot(ab, bp), d4 = mo_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return bp;
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return mo_mad(ap, -d1 / (d1 - d3), ab);
    double d5 = mo_dot(ab, cp), d6 = mo_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return cp;
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return mo_mad(ap, -d2 / (d2 - d6), ac);
    double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 >= d3 && d5 >= d6) return mo_mad(bp, -(d4 - d3) / ((d4 - d3) + (d5 - d6)), mo_sub(c, b));
    double scale = 1 / (va + vb + vc);
    return mo_mad(mo_mad(ap, -vb * scale, ab), -vc * scale, ac);
}

#endif
