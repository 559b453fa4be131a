// Marching cubes over bricks of lattice samples. The caller loads samples brick by brick, so that sparse fields need no
// dense copy; vertices on shared edges are shared across bricks. The result does not depend on the number of threads.
#ifndef MO_SURFACE_H
#define MO_SURFACE_H

#include "base/base.h"

typedef struct mo_bricks {
    int32_t count, edge;    // bricks of edge^3 cubes; brick b covers the cubes lo[b] .. lo[b] + edge - 1
    const int32_t (*lo)[3]; // lattice sample at each brick's low corner
    void (*load)(void *user, int32_t brick, float *sample); // fills (edge + 1)^3 samples, x fastest; < 0 is inside;
                                                            // called from several threads at once
    void *user;
    mo_vec3 origin; // world position of sample (0, 0, 0)
    double spacing; // m between samples
} mo_bricks;

// A vertex normal is the area-weighted mean of its triangles' normals, of unit length, pointing outwards.
mo_status mo_marching_cubes(const mo_bricks *bricks, mo_mesh *out, mo_error *err);

#endif
