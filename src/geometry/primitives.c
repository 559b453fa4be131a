// The primitives and other shapes that scenes make by name: for each its exact signed distance in its own frame, its
// support and its moments, then its entry in the table. Round ones work in the half plane (r, y).
#include "geometry/shape_node.h"
#include <stdio.h>

static double across(mo_vec3 u) { return sqrt(u.x * u.x + u.z * u.z); }

static mo_moments add(mo_moments a, double weight, mo_moments b)
{
    return (mo_moments){a.volume + weight * b.volume, a.y + weight * b.y, a.xx + weight * b.xx, a.yy + weight * b.yy,
                        a.zz + weight * b.zz};
}

// ---- Ellipsoid: half axes ----

// The nearest point x of an ellipsoid with half axes a: x_i = a_i^2 p_i / (t + a_i^2) with |x / a| = 1. Newton on
// 1 / |x / a|, nearly linear in t, climbs to the root from the left without overshooting. The unknown is
// s = t + min a^2, which stays accurate next to the pole t = -min a^2.
static double ellipsoid_distance(const mo_shape *shape, mo_vec3 p)
{
    mo_vec3 a = shape->size;
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

static double ellipsoid_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return mo_norm(mo_v3(s->size.x * u.x, s->size.y * u.y, s->size.z * u.z)) + offset;
}

static mo_moments moments_of_ellipsoid(mo_vec3 a)
{
    double V = 4 * M_PI / 3 * a.x * a.y * a.z;
    return (mo_moments){V, 0, V * a.x * a.x / 5, V * a.y * a.y / 5, V * a.z * a.z / 5};
}

static bool ellipsoid_moments(const mo_shape *s, mo_moments *m)
{
    *m = moments_of_ellipsoid(s->size);
    return true;
}

static const mo_shape_kind ellipsoid = {.parameter = {{"half_axes", MO_PARAMETER_SIZE}}, // scenes have no such shape
                                        .distance = ellipsoid_distance,
                                        .support = ellipsoid_support,
                                        .moments = ellipsoid_moments};

mo_shape *mo_shape_ellipsoid(mo_vec3 a) { return mo_shape_make(&ellipsoid, (double[]){a.x, a.y, a.z}); }

// ---- Sphere ----

static double sphere_distance(const mo_shape *s, mo_vec3 p) { return mo_norm(p) - s->radius; }

static double sphere_support(const mo_shape *s, mo_vec3 u, double offset)
{
    (void)u;
    return s->radius + offset;
}

static mo_moments moments_of_ball(double r) { return moments_of_ellipsoid(mo_v3(r, r, r)); }

static bool sphere_moments(const mo_shape *s, mo_moments *m)
{
    *m = moments_of_ball(s->radius);
    return true;
}

static const mo_shape_kind sphere = {.name = "sphere",
                                     .parameter = {{"radius", MO_PARAMETER_LENGTH}},
                                     .distance = sphere_distance,
                                     .support = sphere_support,
                                     .moments = sphere_moments};

mo_shape *mo_shape_sphere(double radius) { return mo_shape_make(&sphere, &radius); }

// ---- Box ----

static void box_set(mo_shape *s, const double *given) { s->size = mo_mul(0.5, mo_v3(given[0], given[1], given[2])); }

static double box_distance(const mo_shape *s, mo_vec3 p)
{
    mo_vec3 half = s->size;
    double x = fabs(p.x) - half.x, y = fabs(p.y) - half.y, z = fabs(p.z) - half.z;
    double inside = fmin(fmax(x, fmax(y, z)), 0);
    x = fmax(x, 0), y = fmax(y, 0), z = fmax(z, 0);
    return inside + sqrt(x * x + y * y + z * z);
}

static double box_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return s->size.x * fabs(u.x) + s->size.y * fabs(u.y) + s->size.z * fabs(u.z) + offset;
}

static bool box_moments(const mo_shape *s, mo_moments *m)
{
    mo_vec3 h = s->size;
    double V = 8 * h.x * h.y * h.z;
    *m = (mo_moments){V, 0, V * h.x * h.x / 3, V * h.y * h.y / 3, V * h.z * h.z / 3};
    return true;
}

static const mo_shape_kind box = {.name = "box",
                                  .parameter = {{"size", MO_PARAMETER_SIZE}},
                                  .set = box_set,
                                  .distance = box_distance,
                                  .support = box_support,
                                  .moments = box_moments,
                                  .faceted = true};

mo_shape *mo_shape_box(mo_vec3 size) { return mo_shape_make(&box, (double[]){size.x, size.y, size.z}); }

bool mo_shape_is_box(const mo_shape *s, mo_vec3 *size)
{
    bool moved = s->kind == &mo_shape_transform;
    const mo_shape *own = moved ? s->a : s;
    if (own->kind != &box) return false;
    *size = mo_mul(2 * (moved ? s->scale : 1), own->size);
    return true;
}

// ---- Cylinder: half the height is kept, as for cone and capsule ----

static void set_round(mo_shape *s, const double *given) { s->radius = given[0], s->height = 0.5 * given[1]; }

static double cylinder_distance(const mo_shape *s, mo_vec3 p)
{
    double radius = s->radius, half = s->height;
    double x = sqrt(p.x * p.x + p.z * p.z) - radius, y = fabs(p.y) - half;
    double inside = fmin(fmax(x, y), 0);
    x = fmax(x, 0), y = fmax(y, 0);
    return inside + sqrt(x * x + y * y);
}

static double cylinder_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return s->height * fabs(u.y) + s->radius * across(u) + offset;
}

static mo_moments moments_of_cylinder(double r, double half)
{
    double V = 2 * M_PI * r * r * half;
    return (mo_moments){V, 0, 0.25 * V * r * r, V * half * half / 3, 0.25 * V * r * r};
}

static bool cylinder_moments(const mo_shape *s, mo_moments *m)
{
    *m = moments_of_cylinder(s->radius, s->height);
    return true;
}

static const mo_shape_kind cylinder = {.name = "cylinder",
                                       .parameter = {{"radius", MO_PARAMETER_LENGTH}, {"height", MO_PARAMETER_LENGTH}},
                                       .set = set_round,
                                       .distance = cylinder_distance,
                                       .support = cylinder_support,
                                       .moments = cylinder_moments};

mo_shape *mo_shape_cylinder(double radius, double height)
{
    return mo_shape_make(&cylinder, (double[]){radius, height});
}

// ---- Capsule: two half balls and a cylinder between ----

static int capsule_check(const double *given, char *text, size_t size)
{
    double least = 2 * given[0];
    snprintf(text, size, "height includes both caps and must be >= 2 radius = %g, got %g", least, given[1]);
    return given[1] < least ? 1 : -1;
}

static void capsule_set(mo_shape *s, const double *given)
{
    set_round(s, given);
    s->radius = fmin(s->radius, s->height);
}

static double capsule_distance(const mo_shape *s, mo_vec3 p)
{
    double radius = s->radius, half = s->height;
    double y = fmax(fabs(p.y) - (half - radius), 0);
    return sqrt(p.x * p.x + y * y + p.z * p.z) - radius;
}

static double capsule_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return (s->height - s->radius) * fabs(u.y) + s->radius + offset;
}

// The half balls are moved apart by half - r.
static bool capsule_moments(const mo_shape *s, mo_moments *m)
{
    double r = s->radius, by = s->height - r, V = moments_of_ball(r).volume, first = 0.25 * M_PI * r * r * r * r;
    *m = add(moments_of_cylinder(r, by), 1, moments_of_ball(r));
    m->yy += V * by * by + 4 * by * first;
    return true;
}

static const mo_shape_kind capsule = {.name = "capsule",
                                      .parameter = {{"radius", MO_PARAMETER_LENGTH}, {"height", MO_PARAMETER_LENGTH}},
                                      .check = capsule_check,
                                      .set = capsule_set,
                                      .distance = capsule_distance,
                                      .support = capsule_support,
                                      .moments = capsule_moments};

mo_shape *mo_shape_capsule(double radius, double height) { return mo_shape_make(&capsule, (double[]){radius, height}); }

// ---- Cone ----

// The profile is a triangle: base from (0, -half) to (radius, -half), slant from there to the tip (0, half).
static double cone_distance(const mo_shape *s, mo_vec3 p)
{
    double radius = s->radius, half = s->height;
    double r = sqrt(p.x * p.x + p.z * p.z), h = 2 * half;
    double base_r = fmax(r - radius, 0), base_y = p.y + half;
    double t = fmin(fmax(((radius - r) * radius + base_y * h) / (radius * radius + h * h), 0), 1);
    double slant_r = r - radius * (1 - t), slant_y = base_y - h * t;
    double d2 = fmin(base_r * base_r + base_y * base_y, slant_r * slant_r + slant_y * slant_y);
    bool inside = base_y > 0 && r * h < radius * (h - base_y);
    return inside ? -sqrt(d2) : sqrt(d2);
}

static double cone_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return fmax(s->height * u.y, s->radius * across(u) - s->height * u.y) + offset;
}

// Tip up: int (r t)^2 over t = distance from the tip / height.
static bool cone_moments(const mo_shape *s, mo_moments *m)
{
    double r = s->radius, h = 2 * s->height, V = M_PI * r * r * h / 3;
    double tip = s->height; // y = tip - h t, weights 3 t^2 dt: <t> = 3/4, <t^2> = 3/5
    double y = tip - 0.75 * h, yy = tip * tip - 1.5 * tip * h + 0.6 * h * h;
    *m = (mo_moments){V, V * y, V * 0.15 * r * r, V * yy, V * 0.15 * r * r};
    return true;
}

static const mo_shape_kind cone = {.name = "cone",
                                   .parameter = {{"radius", MO_PARAMETER_LENGTH}, {"height", MO_PARAMETER_LENGTH}},
                                   .set = set_round,
                                   .distance = cone_distance,
                                   .support = cone_support,
                                   .moments = cone_moments};

mo_shape *mo_shape_cone(double radius, double height) { return mo_shape_make(&cone, (double[]){radius, height}); }

// ---- Torus ----

static int torus_check(const double *given, char *text, size_t size)
{
    snprintf(text, size, "minor must be <= major = %g, got %g", given[0], given[1]);
    return given[1] > given[0] ? 1 : -1;
}

static double torus_distance(const mo_shape *s, mo_vec3 p)
{
    double x = across(p) - s->major;
    return sqrt(x * x + p.y * p.y) - s->minor;
}

static double torus_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return s->major * across(u) + s->minor + offset;
}

static bool torus_moments(const mo_shape *s, mo_moments *m)
{
    double R = s->major, r = s->minor, V = 2 * M_PI * M_PI * R * r * r, wide = V * (0.5 * R * R + 0.375 * r * r);
    *m = (mo_moments){V, 0, wide, 0.25 * V * r * r, wide};
    return R >= r; // else it overlaps itself
}

static const mo_shape_kind torus = {.name = "torus",
                                    .parameter = {{"major", MO_PARAMETER_LENGTH}, {"minor", MO_PARAMETER_LENGTH}},
                                    .check = torus_check,
                                    .distance = torus_distance,
                                    .support = torus_support,
                                    .moments = torus_moments};

mo_shape *mo_shape_torus(double major, double minor) { return mo_shape_make(&torus, (double[]){major, minor}); }

// ---- Plane: a half space ----

static void plane_set(mo_shape *s, const double *given)
{
    mo_vec3 normal = mo_v3(given[0], given[1], given[2]);
    double length = mo_norm(normal);
    s->normal = mo_mul(1 / length, normal);
    s->offset = given[3] / length;
}

static double plane_distance(const mo_shape *s, mo_vec3 p) { return mo_dot(s->normal, p) - s->offset; }

// It reaches infinitely far except along its normal.
static double plane_support(const mo_shape *s, mo_vec3 u, double offset)
{
    bool along = mo_dot(u, s->normal) > 0 && mo_norm(mo_cross(u, s->normal)) < 1e-12;
    return along ? s->offset + offset : INFINITY;
}

static const mo_shape_kind plane = {.name = "plane",
                                    .parameter = {{"normal", MO_PARAMETER_DIRECTION}, {"offset", MO_PARAMETER_NUMBER}},
                                    .set = plane_set,
                                    .distance = plane_distance,
                                    .support = plane_support,
                                    .faceted = true};

mo_shape *mo_shape_plane(mo_vec3 normal, double offset)
{
    return mo_shape_make(&plane, (double[]){normal.x, normal.y, normal.z, offset});
}

// ---- Hollow sphere ----

static int hollow_check(const double *given, char *text, size_t size)
{
    snprintf(text, size, "thickness must be < radius = %g, got %g", given[0], given[1]);
    return given[1] >= given[0] ? 1 : -1;
}

// A wall thicker than the radius leaves no hollow.
static void hollow_set(mo_shape *s, const double *given)
{
    s->radius = given[0], s->thickness = given[1] >= given[0] ? INFINITY : given[1];
}

static double hollow_radius(const mo_shape *s) { return fmax(s->radius - s->thickness, 0); }

static double hollow_sphere_distance(const mo_shape *s, mo_vec3 p)
{
    double outer = mo_norm(p) - s->radius;
    return fmax(outer, -(outer + s->thickness));
}

static bool hollow_sphere_moments(const mo_shape *s, mo_moments *m)
{
    *m = add(moments_of_ball(s->radius), -1, moments_of_ball(hollow_radius(s)));
    return true;
}

static const mo_shape_kind hollow_sphere = {
    .name = "hollow_sphere",
    .parameter = {{"radius", MO_PARAMETER_LENGTH}, {"thickness", MO_PARAMETER_LENGTH}},
    .check = hollow_check,
    .set = hollow_set,
    .distance = hollow_sphere_distance,
    .support = sphere_support,
    .moments = hollow_sphere_moments};

mo_shape *mo_shape_hollow_sphere(double radius, double thickness)
{
    return mo_shape_make(&hollow_sphere, (double[]){radius, thickness});
}

// ---- Bowl: the lower half of a hollow sphere ----

// Above the rim the nearest point is on the rim's flat ring. Below, it is on the spheres, or on the ring for points in
// the wall.
static double bowl_distance(const mo_shape *s, mo_vec3 p)
{
    if (p.y <= 0) return fmax(hollow_sphere_distance(s, p), p.y);
    double r = across(p);
    double x = fmax(fmax(r - s->radius, (s->radius - s->thickness) - r), 0);
    return sqrt(x * x + p.y * p.y);
}

static double bowl_support(const mo_shape *s, mo_vec3 u, double offset)
{
    return s->radius * (u.y > 0 ? across(u) : 1) + offset;
}

static mo_moments moments_of_lower_half_ball(double r)
{
    mo_moments m = add((mo_moments){0}, 0.5, moments_of_ball(r));
    m.y = -0.25 * M_PI * r * r * r * r; // V 3 r / 8
    return m;
}

static bool bowl_moments(const mo_shape *s, mo_moments *m)
{
    *m = add(moments_of_lower_half_ball(s->radius), -1, moments_of_lower_half_ball(hollow_radius(s)));
    return true;
}

static const mo_shape_kind bowl = {.name = "bowl",
                                   .parameter = {{"radius", MO_PARAMETER_LENGTH}, {"thickness", MO_PARAMETER_LENGTH}},
                                   .check = hollow_check,
                                   .set = hollow_set,
                                   .distance = bowl_distance,
                                   .support = bowl_support,
                                   .moments = bowl_moments};

mo_shape *mo_shape_bowl(double radius, double thickness) { return mo_shape_make(&bowl, (double[]){radius, thickness}); }

// ---- Rabbit: a tree of other shapes (rabbit.c) ----

static mo_shape *rabbit_make(const double *given) { return mo_shape_rabbit(given[0]); }

static const mo_shape_kind rabbit = {
    .name = "rabbit", .parameter = {{"height", MO_PARAMETER_LENGTH}}, .make = rabbit_make};

// ---- The table ----

const mo_shape_kind *const mo_named_shapes[] = {&sphere, &box,  &capsule,       &cylinder, &cone, &torus,
                                                &plane,  &bowl, &hollow_sphere, &rabbit,   NULL};
