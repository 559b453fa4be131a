// Tests the samples of one solid against the distance of another.
#ifndef MO_NARROW_H
#define MO_NARROW_H

#include "solid/feature.h"
#include "solid/manifold.h"

enum { MO_BLOCK = 16 };

typedef struct mo_ball {
    mo_vec3 centre;
    double radius;
} mo_ball;

typedef struct mo_near_sample {
    int32_t index;
    double distance;
    bool dropped, settled;
} mo_near_sample;

// Finds where samples of `own` touch `other`, at most one touch for each sample. Normals point from other to own;
// features are sample indices. block: a ball round each MO_BLOCK samples. near: scratch, one for each sample. *nearest
// gets the nearest sample where it is, even if others slid elsewhere; its gap is infinite if no sample is near.
int32_t mo_narrow_find(const mo_collider *own, const mo_collider *other, const mo_ball *block, double reach, bool flat,
                       mo_near_sample *near, mo_touch *out, mo_touch *nearest);

#endif
