// Where a deformed elastic body is: the distance to its surface, and the element that holds a point, on the lattice of
// half cells, which contains the centres of cells and faces. It is made anew from the vertices' places in every step.
//
// A point is inside if it lies in any element: bodies that overlap themselves stay whole.
#ifndef MO_ELASTIC_FIELD_H
#define MO_ELASTIC_FIELD_H

#include "solid/elastic.h"

enum { MO_FIELD_BRICK = 8 }; // lattice points along the edge of a brick

typedef struct mo_elastic_field {
    const mo_elastic_body *body;
    int32_t dimension;     // 2: the lattice is a plane, and z does not count
    int32_t faces, *face;  // [faces][dimension] vertices of the boundary, outward (geometry/tets.h)
    int32_t *behind;       // [faces] the element of each
    double spacing, reach; // m: half a cell; how far from the surface distances are known
    mo_vec3 origin;        // of lattice point (0, 0, 0)
    int32_t lo[3], n[3];   // first brick, and how many
    int32_t *brick;        // [n0 n1 n2] its number among those near the surface; -1: outside, -2: inside
    int32_t bricks;
    float *distance;  // [bricks][points] m, < 0 inside, within +-reach
    int32_t *nearest; // [bricks][points] face, -1: none within reach
    int32_t *element; // [bricks][points] the first that holds the point, -1: none
    int64_t table_capacity, distance_capacity, nearest_capacity, element_capacity;
} mo_elastic_field;

// Finds the boundary of a body's mesh. The body must outlive the field, and stay where it is in memory.
mo_status mo_elastic_field_create(const mo_elastic_body *b, mo_elastic_field *out, mo_error *err);
void mo_elastic_field_destroy(mo_elastic_field *f);
// Makes the field from the body's present places; spacing: half a cell, origin: of the grid.
mo_status mo_elastic_field_update(mo_elastic_field *f, const mo_elastic_body *b, mo_vec3 origin, double spacing,
                                  mo_arena *arena, mo_error *err);

// The distance is interpolated between lattice points, and +-reach further away. Within half a cell of the surface it
// is computed from the faces that are nearest to the lattice points round x, because interpolation would make edges
// blunt and round bodies smaller.
double mo_elastic_field_distance(const mo_elastic_field *f, mo_vec3 x);
bool mo_elastic_field_near(const mo_elastic_field *f, mo_vec3 x, double reach); // the surface may be that near

enum { MO_ELASTIC_WEIGHTS = 24 };
// Finds the motion of the body's material at x as a mean of its vertices' motions, which is exact where those are
// affine. Inside an element the vertices are its own; outside they are those about the nearest point of the surface, by
// least squares. Returns how many vertices, ascending; 0: x is too far away.
int32_t mo_elastic_field_weights(const mo_elastic_field *f, const mo_elastic_body *b, mo_vec3 x,
                                 int32_t vertex[MO_ELASTIC_WEIGHTS], double weight[MO_ELASTIC_WEIGHTS]);

#endif
