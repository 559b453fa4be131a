// Sets that are joined step by step (union-find): `parent` leads from every member to the root of its set, which is its
// own parent. The code that makes the array sets parent[i] = i.
#ifndef MO_UNION_FIND_H
#define MO_UNION_FIND_H

#include "base/assert.h"
#include <stdint.h>

static inline int32_t mo_find_root(int32_t *parent, int32_t i)
{
    MO_ASSERT(i >= 0);
    while (parent[i] != i) i = parent[i] = parent[parent[i]]; // halves the path for later searches
    return i;
}

// Joins the sets of a and b; the smaller of their roots stays one.
static inline void mo_join_sets(int32_t *parent, int32_t a, int32_t b)
{
    a = mo_find_root(parent, a), b = mo_find_root(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

#endif
