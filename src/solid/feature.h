// Points on the surface of a signed distance, and its sharp features, where several smooth faces meet.
#ifndef MO_FEATURE_H
#define MO_FEATURE_H

#include "geometry/shape.h"

typedef struct mo_zero_level { // the zero level of a shape, or its section at z = 0
    const mo_shape *shape;
    bool flat;   // section: z stays 0
    double step; // of differences, m; far below the size of the shape
} mo_zero_level;

mo_zero_level mo_zero_level_of(const mo_shape *shape, bool flat);
mo_vec3 mo_zero_level_gradient(const mo_zero_level *l,
                               mo_vec3 x); // central differences; not normalised: < 1 at sharp edges
// The same from one side; d is the distance at x. It is cheaper, and as good where the surface is smooth.
mo_vec3 mo_zero_level_gradient_from(const mo_zero_level *l, mo_vec3 x, double d);
// Moves *x onto the zero level along gradients; false if it does not get there within `reach`.
bool mo_zero_level_project(const mo_zero_level *l, double reach, mo_vec3 *x);

typedef struct mo_plane {
    mo_vec3 point, normal; // normal of unit length
} mo_plane;

typedef struct mo_feature {
    mo_vec3 point, normal; // normal: mean of the faces'
    mo_vec3 tangent;       // of an edge
    int rank;              // independent normals: 1 smooth, 2 edge, 3 corner (of a section: 2 corner)
} mo_feature;

// Finds the point nearest to x where the planes meet; planes of about the same normal count as one. count >= 1.
enum { MO_MOST_PLANES = 27 };
mo_feature mo_feature_fit(const mo_plane *plane, int count, mo_vec3 x);
// Searches for a feature near x within `radius`, in smaller and smaller neighbourhoods. A rank of 1 or less means that
// there is none.
mo_feature mo_feature_find(const mo_zero_level *l, mo_vec3 x, double radius);

#endif
