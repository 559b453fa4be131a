// Reduces the touching points of a pair of solids to the few that matter.
#ifndef MO_MANIFOLD_H
#define MO_MANIFOLD_H

#include "solid/contact.h"

typedef struct mo_touch {  // one sample that touches the other solid
    mo_vec3 point, normal; // as of mo_contact
    double gap, moved;     // moved: how far the sample was slid, m
    uint32_t feature;
    uint8_t kind; // mo_point_kind
} mo_touch;

enum { MO_MANIFOLD_SIDES = 6 }; // of a box in a box

// Reorders `touch` and returns how many of the first ones to keep. Duplicates are merged; a point is dropped if other
// points of the same normal can exert its push together; of the rest a well spread choice is kept: at most `most` of
// each side, which is what pushes in about one direction. `spacing` is that of the samples, m.
int32_t mo_manifold_reduce(mo_touch *touch, int32_t count, double spacing, int32_t most);

#endif
