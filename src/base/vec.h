// Small vectors, matrices, quaternions (double).
#ifndef MO_VEC_H
#define MO_VEC_H

#include "base/elementary.h"
#include "monolith/monolith.h"
#include <math.h>

typedef struct mo_mat3 {
    double m[3][3];
} mo_mat3; // m[row][column]

// These are plain comparisons, because the C library's fminf and fmaxf are calls.
static inline float mo_minf(float a, float b) { return a < b ? a : b; }
static inline float mo_maxf(float a, float b) { return a > b ? a : b; }

static inline mo_vec3 mo_v3(double x, double y, double z) { return (mo_vec3){x, y, z}; }
static inline mo_vec3 mo_add(mo_vec3 a, mo_vec3 b) { return (mo_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline mo_vec3 mo_sub(mo_vec3 a, mo_vec3 b) { return (mo_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline mo_vec3 mo_mul(double s, mo_vec3 a) { return (mo_vec3){s * a.x, s * a.y, s * a.z}; }
static inline mo_vec3 mo_mad(mo_vec3 a, double s, mo_vec3 b)
{
    return (mo_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double mo_dot(mo_vec3 a, mo_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double mo_norm(mo_vec3 a) { return sqrt(mo_dot(a, a)); }
static inline mo_vec3 mo_cross(mo_vec3 a, mo_vec3 b)
{
    return (mo_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline mo_vec3 mo_normalize(mo_vec3 a)
{
    double n = mo_norm(a);
    return n > 0 ? mo_mul(1 / n, a) : a;
}
static inline double mo_get(mo_vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
static inline bool mo_v3_equal(mo_vec3 a, mo_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
static inline bool mo_v3_finite(mo_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static inline mo_quat mo_quat_identity(void) { return (mo_quat){1, 0, 0, 0}; }
static inline mo_quat mo_quat_mul(mo_quat a, mo_quat b)
{
    return (mo_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline mo_quat mo_quat_conj(mo_quat q) { return (mo_quat){q.w, -q.x, -q.y, -q.z}; }
static inline mo_quat mo_quat_normalize(mo_quat q)
{
    double n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return n > 0 ? (mo_quat){q.w / n, q.x / n, q.y / n, q.z / n} : mo_quat_identity();
}
static inline mo_quat mo_quat_axis_angle(mo_vec3 axis, double radians)
{
    mo_vec3 a = mo_mul(mo_sin(0.5 * radians), mo_normalize(axis));
    return (mo_quat){mo_cos(0.5 * radians), a.x, a.y, a.z};
}
static inline mo_vec3 mo_quat_rotate(mo_quat q, mo_vec3 v)
{
    mo_vec3 u = {q.x, q.y, q.z}, t = mo_mul(2, mo_cross(u, v));
    return mo_add(mo_mad(v, q.w, t), mo_cross(u, t));
}
// The quaternion of a rotation matrix: its largest component comes from the diagonal, the others from that one.
static inline mo_quat mo_quat_from_matrix(mo_mat3 r)
{
    const double(*m)[3] = r.m;
    double square[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2],
                        1 - m[0][0] + m[1][1] - m[2][2], 1 - m[0][0] - m[1][1] + m[2][2]}; // 4 w^2, 4 x^2, ...
    double wx = m[2][1] - m[1][2], wy = m[0][2] - m[2][0], wz = m[1][0] - m[0][1];         // 4 w x, ...
    double xy = m[1][0] + m[0][1], xz = m[0][2] + m[2][0], yz = m[2][1] + m[1][2];
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[largest]) largest = i;
    mo_quat q[4] = {{square[0], wx, wy, wz}, {wx, square[1], xy, xz}, {wy, xy, square[2], yz}, {wz, xz, yz, square[3]}};
    return mo_quat_normalize(q[largest]);
}
// The rotation vector (axis times angle) that turns a into b.
static inline mo_vec3 mo_quat_difference(mo_quat a, mo_quat b)
{
    mo_quat d = mo_quat_mul(b, mo_quat_conj(a));
    if (d.w < 0) d = (mo_quat){-d.w, -d.x, -d.y, -d.z};
    mo_vec3 v = {d.x, d.y, d.z};
    double s = mo_norm(v);
    return s > 0 ? mo_mul(2 * mo_atan2(s, d.w) / s, v) : mo_v3(0, 0, 0);
}
static inline mo_vec3 mo_pose_apply(mo_pose p, mo_vec3 x) { return mo_add(p.position, mo_quat_rotate(p.rotation, x)); }
static inline mo_vec3 mo_pose_to_body(mo_pose p, mo_vec3 x)
{
    return mo_quat_rotate(mo_quat_conj(p.rotation), mo_sub(x, p.position));
}
static inline bool mo_pose_finite(mo_pose p)
{
    return mo_v3_finite(p.position) && isfinite(p.rotation.w + p.rotation.x + p.rotation.y + p.rotation.z);
}
static inline mo_pose mo_pose_identity(void) { return (mo_pose){{0, 0, 0}, {1, 0, 0, 0}}; }

static inline mo_vec3 mo_mat3_mul(mo_mat3 a, mo_vec3 v)
{
    return (mo_vec3){a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                     a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                     a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

#endif
