// Contacts between solids given as signed distances: where they are, which way they push, how near they are.
//
// Points on the surface of one solid are tested against the distance of the other, both ways. Near points are slid
// along the surface to where the two are closest. Each pair keeps a bounded set of points that spans the touching
// patch. Every vertex of an elastic body that touches counts (elastic_contact.h).
#ifndef MO_CONTACT_H
#define MO_CONTACT_H

#include "base/base.h"
#include "base/vec.h"
#include "geometry/shape.h"

typedef enum mo_point_kind { MO_POINT_SMOOTH, MO_POINT_EDGE, MO_POINT_CORNER } mo_point_kind;

typedef struct mo_samples { // points on a shape's surface, body frame, with outward normals
    int32_t count;
    mo_vec3 *point, *normal;
    uint8_t *kind;           // mo_point_kind
    mo_vec3 *tangent, *bend; // of edges: unit direction, and curvature vector (1/m, towards the circle's centre)
    double spacing;          // m, as made
    bool two_dimensional;
} mo_samples;

// Makes points about `spacing` (m) apart, corners and edges included; if they would be more than `most`, they are
// coarser. Two-dimensional contacts need samples of the section at z = 0, which ..._2d makes.
mo_status mo_samples_create(const mo_shape *shape, double spacing, int32_t most, mo_samples *out, mo_error *err);
mo_status mo_samples_create_2d(const mo_shape *shape, double spacing, int32_t most, mo_samples *out, mo_error *err);
void mo_samples_destroy(mo_samples *s); // frees the arrays, not the struct

struct mo_elastic_surface;
struct mo_drape;

typedef struct mo_collider {
    const mo_shape *shape; // body frame; NULL: none, an elastic body
    mo_pose pose;
    mo_vec3 centre;               // of a ball round the shape, body frame
    double radius;                // m; infinite for half spaces
    const mo_samples *samples;    // NULL: only tested against (half spaces)
    bool rigid;                   // at least one collider of a pair is
    bool thin;                    // a shell: its contacts tolerate no overlap, which would be on its other side
    double friction, restitution; // of a pair: geometric mean of frictions, larger restitution; 0 on elastic bodies
    const struct mo_elastic_surface *elastic; // as its vertices lie now; NULL: no elastic body
    const uint8_t *pinned;                    // [vertices of the elastic body] 1: contacts cannot move it; NULL: none
    const int32_t *bond;                      // [vertices] the collider that holds it, -1: none; NULL: none is held
    bool self_contact;                        // parts of the elastic body touch each other
    const struct mo_drape *cloth;             // the elastic body is cloth, on its way through the step; NULL: none
    mo_vec3 velocity, angular_velocity;       // m/s of the pose's position, 1/s; used for cloth only
    mo_pose next;                             // at the end of the step, likewise
} mo_collider;

typedef struct mo_contact_place { // a place on an elastic body; its motion is a mean of vertices' motions
    int32_t count;                // of vertices; 0: the side is not an elastic body, and `point` is the place
    int32_t vertex[3];
    double weight[3]; // > 0, of sum 1
} mo_contact_place;

typedef struct mo_contact {
    int32_t a, b;   // colliders, a < b; a = b: an elastic body touches itself
    mo_vec3 point;  // world, midway between the surfaces
    mo_vec3 normal; // unit, from b towards a
    double gap;     // m, < 0: overlap
    double friction, restitution;
    uint32_t feature;       // for warm starts: the same place of the same pair has the same feature in the next step
    mo_contact_place on[2]; // on a and on b
    bool bond;              // holds the two places together along the normal: pulls as well as pushes
    bool tight;             // tolerates no overlap
} mo_contact;

typedef struct mo_contact_def {
    double reach; // m: contacts with gap < reach are reported
    int32_t most; // of a pair without elastic bodies on each side (manifold.h), >= 1; 0 = 8
    bool two_dimensional;
    double dt; // s, of the step; used for cloth only
} mo_contact_def;

typedef struct mo_contacts {
    int32_t count, capacity;
    mo_contact *contact; // by a, b, then feature: the same for any number of threads
} mo_contacts;

mo_status mo_contacts_find(const mo_collider *collider, int32_t count, const mo_contact_def *def, mo_contacts *out,
                           mo_arena *arena, mo_error *err);
int mo_contact_order(const void *contact, const void *other); // by a, b, feature, for qsort
void mo_contacts_destroy(mo_contacts *c);                     // frees the array, not the struct

// Makes two unit vectors across n, the same for the same n.
void mo_tangents(mo_vec3 n, mo_vec3 *t1, mo_vec3 *t2);

#endif
