// Exact signed distances of the primitives, in their own frame. Those of round primitives work in the half plane (r,
// y).
#ifndef MO_PRIMITIVES_H
#define MO_PRIMITIVES_H

#include "geometry/shape_node.h"

static inline double box_distance(mo_vec3 half, mo_vec3 p)
{
    double x = fabs(p.x) - half.x, y = fabs(p.y) - half.y, z = fabs(p.z) - half.z;
    double inside = fmin(fmax(x, fmax(y, z)), 0);
    x = fmax(x, 0), y = fmax(y, 0), z = fmax(z, 0);
    return inside + sqrt(x * x + y * y + z * z);
}

static inline double capsule_distance(double radius, double half, mo_vec3 p)
{
    double y = fmax(fabs(p.y) - (half - radius), 0);
    return sqrt(p.x * p.x + y * y + p.z * p.z) - radius;
}

static inline double cylinder_distance(double radius, double half, mo_vec3 p)
{
    double x = sqrt(p.x * p.x + p.z * p.z) - radius, y = fabs(p.y) - half;
    double inside = fmin(fmax(x, y), 0);
    x = fmax(x, 0), y = fmax(y, 0);
    return inside + sqrt(x * x + y * y);
}

// The profile is a triangle: base from (0, -half) to (radius, -half), slant from there to the tip (0, half).
static inline double cone_distance(double radius, double half, mo_vec3 p)
{
    double r = sqrt(p.x * p.x + p.z * p.z), h = 2 * half;
    double base_r = fmax(r - radius, 0), base_y = p.y + half;
    double t = fmin(fmax(((radius - r) * radius + base_y * h) / (radius * radius + h * h), 0), 1);
    double slant_r = r - radius * (1 - t), slant_y = base_y - h * t;
    double d2 = fmin(base_r * base_r + base_y * base_y, slant_r * slant_r + slant_y * slant_y);
    bool inside = base_y > 0 && r * h < radius * (h - base_y);
    return inside ? -sqrt(d2) : sqrt(d2);
}

static inline double torus_distance(double major, double minor, mo_vec3 p)
{
    double x = sqrt(p.x * p.x + p.z * p.z) - major;
    return sqrt(x * x + p.y * p.y) - minor;
}

static inline double hollow_sphere_distance(double radius, double thickness, mo_vec3 p)
{
    double outer = mo_norm(p) - radius;
    return fmax(outer, -(outer + thickness));
}

// Above the rim the nearest point is on the rim's flat ring. Below, it is on the spheres, or on the ring for points in
// the wall.
static inline double bowl_distance(double radius, double thickness, mo_vec3 p)
{
    if (p.y <= 0) return fmax(hollow_sphere_distance(radius, thickness, p), p.y);
    double r = sqrt(p.x * p.x + p.z * p.z);
    double x = fmax(fmax(r - radius, (radius - thickness) - r), 0);
    return sqrt(x * x + p.y * p.y);
}

// The nearest point x of an ellipsoid with half axes a: x_i = a_i^2 p_i / (t + a_i^2) with |x / a| = 1. Newton on
// 1 / |x / a|, nearly linear in t, climbs to the root from the left without overshooting. The unknown is
// s = t + min a^2, which stays accurate next to the pole t = -min a^2.
static inline double ellipsoid_distance(mo_vec3 a, mo_vec3 p)
{
    double tiny = 1e-12 * (a.x + a.y + a.z); // keeps points on the symmetry planes off the poles
    double y[3] = {fmax(fabs(p.x), tiny), fmax(fabs(p.y), tiny), fmax(fabs(p.z), tiny)}, r[3] = {a.x, a.y, a.z};
    double least = fmin(a.x, fmin(a.y, a.z)), least2 = least * least, level = 0, s = 0, above[3];
    for (int i = 0; i < 3; i++) {
        above[i] = (r[i] - least) * (r[i] + least);
        level += (y[i] / r[i]) * (y[i] / r[i]);
        s = fmax(s, r[i] * y[i] - above[i]);
    }
    for (int iteration = 0; iteration < 40; iteration++) {
        double x2 = 0, slope = 0; // x2 = |x / a|^2
        for (int i = 0; i < 3; i++) {
            double w = 1 / (s + above[i]), q = r[i] * y[i] * w;
            x2 += q * q;
            slope += q * q * w;
        }
        double step = x2 * (sqrt(x2) - 1) / slope;
        s += step;
        if (!(step > 1e-7 * s)) break; // converges quadratically
    }
    double d2 = 0;
    for (int i = 0; i < 3; i++) {
        double d = (s - least2) * y[i] / (s + above[i]);
        d2 += d * d;
    }
    return level < 1 ? -sqrt(d2) : sqrt(d2);
}

// Trilinear inside the lattice. Outside, with q the nearest lattice point and e = |p - q|: the mesh lies on q's side
// of the planes between, so sqrt(f(q)^2 + e^2) is a lower bound of the distance, continuous and of slope <= 1.
static inline double lattice_distance(const mo_distance_lattice *l, mo_vec3 p)
{
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

#endif
