// A tree of boxes over numbered things, such as the triangles of a sheet: which of them may meet a box.
#ifndef MO_BOX_TREE_H
#define MO_BOX_TREE_H

#include "base/base.h"
#include "base/vec.h"
#include <math.h>

enum { MO_BOX_TREE_DEPTH = 64 };

typedef struct mo_bounds {
    double lo[3], hi[3];
} mo_bounds;

typedef struct mo_box_node {
    mo_bounds around;
    int32_t first, count; // things in `order`; of an inner node 0, and `first` is its second child
} mo_box_node;

typedef struct mo_box_tree {
    mo_box_node *node;
    int32_t nodes, *order;
    mo_bounds *of; // [things]
} mo_box_tree;

// Makes room for `count` things. The caller fills `of` and then builds the tree, which depends on nothing else. Destroy
// it in any case.
mo_status mo_box_tree_create(int32_t count, mo_box_tree *out, mo_error *err);
void mo_box_tree_build(mo_box_tree *t, int32_t count);
void mo_box_tree_destroy(mo_box_tree *t);

typedef struct mo_box_walk { // over the things whose boxes meet a box
    int32_t stack[MO_BOX_TREE_DEPTH], size;
    int32_t next, end; // of a leaf
} mo_box_walk;

static inline bool mo_bounds_apart(const mo_bounds *b, const mo_bounds *o)
{
    for (int a = 0; a < 3; a++)
        if (b->lo[a] > o->hi[a] || b->hi[a] < o->lo[a]) return true;
    return false;
}

static inline mo_bounds mo_bounds_of(mo_vec3 a, mo_vec3 b, double more)
{
    return (mo_bounds){{fmin(a.x, b.x) - more, fmin(a.y, b.y) - more, fmin(a.z, b.z) - more},
                       {fmax(a.x, b.x) + more, fmax(a.y, b.y) + more, fmax(a.z, b.z) + more}};
}

static inline mo_box_walk mo_box_walk_start(const mo_box_tree *t)
{
    mo_box_walk w;
    w.size = t->nodes > 0, w.stack[0] = 0, w.next = w.end = 0;
    return w;
}

// The next thing, -1: there are no more.
static inline int32_t mo_box_walk_next(const mo_box_tree *t, const mo_bounds *b, mo_box_walk *w)
{
    for (;;) {
        while (w->next < w->end) {
            int32_t thing = t->order[w->next++];
            if (!mo_bounds_apart(&t->of[thing], b)) return thing;
        }
        if (w->size == 0) return -1;
        int32_t at = w->stack[--w->size];
        const mo_box_node *n = &t->node[at];
        if (mo_bounds_apart(&n->around, b)) continue;
        if (n->count)
            w->next = n->first, w->end = n->first + n->count;
        else
            w->stack[w->size++] = n->first, w->stack[w->size++] = at + 1;
    }
}

#endif
