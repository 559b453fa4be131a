// Vectors and colours in float: what the path tracer computes with.
#ifndef MO_VEC3F_H
#define MO_VEC3F_H

#include "base/vec.h"

typedef struct mo_vec3f {
    float x, y, z;
} mo_vec3f;

static inline mo_vec3f mo_f3(float x, float y, float z) { return (mo_vec3f){x, y, z}; }
static inline mo_vec3f mo_f3_from(mo_vec3 a) { return (mo_vec3f){(float)a.x, (float)a.y, (float)a.z}; }
static inline mo_vec3f mo_f3_add(mo_vec3f a, mo_vec3f b) { return mo_f3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline mo_vec3f mo_f3_sub(mo_vec3f a, mo_vec3f b) { return mo_f3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline mo_vec3f mo_f3_mul(mo_vec3f a, mo_vec3f b) { return mo_f3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline mo_vec3f mo_f3_scale(float s, mo_vec3f a) { return mo_f3(s * a.x, s * a.y, s * a.z); }
static inline mo_vec3f mo_f3_mad(mo_vec3f a, float s, mo_vec3f b)
{
    return mo_f3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline mo_vec3f mo_f3_mix(mo_vec3f a, mo_vec3f b, float t) { return mo_f3_mad(mo_f3_scale(1 - t, a), t, b); }
static inline float mo_f3_dot(mo_vec3f a, mo_vec3f b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline mo_vec3f mo_f3_cross(mo_vec3f a, mo_vec3f b)
{
    return mo_f3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline mo_vec3f mo_f3_unit(mo_vec3f a)
{
    float n = mo_f3_dot(a, a);
    return n > 0 ? mo_f3_scale(1 / sqrtf(n), a) : mo_f3(0, 1, 0);
}
static inline float mo_luminance(mo_vec3f c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }
static inline float mo_clampf(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }

// Two unit vectors that make a right-handed frame with the unit vector n (Duff et al. 2017).
static inline void mo_f3_frame(mo_vec3f n, mo_vec3f *s, mo_vec3f *t)
{
    float sign = copysignf(1, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    *s = mo_f3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t = mo_f3(b, sign + n.y * n.y * a, -n.y);
}

#endif
