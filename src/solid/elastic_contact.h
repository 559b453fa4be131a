// Contacts of elastic bodies, which are surfaces of triangles (2D: edges), with shapes, with each other and with
// themselves.
//
//     vertices of an elastic body        in the distance of a shape; or against the nearest face of an elastic body
//     edges and corners of a shape       against the nearest face of an elastic body
//     faces of an elastic body           where a round shape comes nearer to them than to their vertices; it may lie a
//                                        hundredth of an element deep in them
//     edges of two elastic bodies        where convex ones cross between their vertices
//
// Every such point that is near enough is a contact. A vertex behind a surface is pushed out where it came in: only
// faces whose normal is opposed to the vertex's own are taken, although a face on the other side may be nearer.
#ifndef MO_ELASTIC_CONTACT_H
#define MO_ELASTIC_CONTACT_H

#include "solid/contact.h"
#include "solid/elastic_surface.h"

// Adds the contacts of all pairs with elastic bodies among them, and puts all into order. Without elastic bodies it
// does nothing.
mo_status mo_elastic_contacts_add(const mo_collider *collider, int32_t count, const mo_contact_def *def,
                                  mo_contacts *out, mo_arena *arena, mo_error *err);

// ---- Parts of it ----

struct mo_elastic_touch;
// Whether the solve can move a collider at a place of it.
bool mo_contact_can_move(const mo_collider *c, const mo_contact_place *place);
// Makes the contact of a point of one collider that touches another.
mo_contact mo_elastic_contact_of(const mo_collider *collider, int32_t own, int32_t other,
                                 const struct mo_elastic_touch *t);

typedef struct mo_elastic_touch { // a point of one solid that touches another
    mo_vec3 point, normal;        // as of mo_contact; normal: from the other solid
    double gap;
    mo_contact_place own, other;
    uint32_t feature;
} mo_elastic_touch;

// Tests a point x with normal n, of anything, against the surface of an elastic body.
bool mo_touch_surface(const mo_elastic_surface *s, mo_vec3 x, mo_vec3 n, double reach, mo_elastic_touch *out);
typedef struct mo_elastic_touches {
    int64_t count, capacity;
    mo_elastic_touch *touch; // mo_free
} mo_elastic_touches;

// Finds where convex edges of a cross those of b nearer than `reach`, in an order by features, which differ. 2D: none.
// out->touch is kept for the next call.
mo_status mo_touch_edges(const mo_elastic_surface *a, const mo_elastic_surface *b, double reach,
                         mo_elastic_touches *out, mo_error *err);
// Tests a vertex against faces of its own body that are far from it at rest.
bool mo_touch_self(const mo_elastic_surface *s, int32_t vertex, double reach, mo_elastic_touch *out);
// Tests a vertex against a shape. *distance: of the vertex, INFINITY where that is further away than `reach` and an
// element.
bool mo_touch_shape(const mo_elastic_surface *s, int32_t vertex, const mo_collider *other, double reach,
                    double *distance, mo_elastic_touch *out);
// Tests a face against a shape that is round; distance: upper bounds of the vertices' distances.
bool mo_touch_round(const mo_elastic_surface *s, int32_t face, const mo_collider *other, const double *distance,
                    double reach, mo_elastic_touch *out);

// Finds where a shape is nearest to a triangle, or deepest in it, all in the shape's frame; size: about the length of
// its edges. Returns the distance; *gradient: the gradient of the distance there.
double mo_lowest_on_triangle(const mo_shape *shape, const mo_vec3 corner[3], double size, mo_vec3 *at,
                             mo_vec3 *gradient);

#endif
