// A tree of boxes.
#include "geometry/box_tree.h"

enum { LEAF = 4 };

static void box_add(mo_bounds *b, const mo_bounds *o)
{
    for (int a = 0; a < 3; a++) b->lo[a] = fmin(b->lo[a], o->lo[a]), b->hi[a] = fmax(b->hi[a], o->hi[a]);
}

static double middle(const mo_box_tree *t, int32_t thing, int axis)
{
    return t->of[thing].lo[axis] + t->of[thing].hi[axis];
}

// Orders things first .. first + count - 1 so that the lower half along an axis comes first: quickselect, ties by
// number, so that the tree is always the same.
static bool before(const mo_box_tree *t, int32_t a, int32_t b, int axis)
{
    double x = middle(t, a, axis), y = middle(t, b, axis);
    return x < y || (x == y && a < b);
}

static void halve(mo_box_tree *t, int32_t first, int32_t count, int axis)
{
    int32_t lo = first, hi = first + count - 1, half = first + count / 2, *o = t->order;
    while (lo < hi) {
        int32_t pivot = o[lo + (hi - lo) / 2], i = lo, j = hi;
        while (i <= j) {
            while (before(t, o[i], pivot, axis)) i++;
            while (before(t, pivot, o[j], axis)) j--;
            if (i <= j) {
                int32_t swap = o[i];
                o[i++] = o[j], o[j--] = swap;
            }
        }
        if (half <= j)
            hi = j;
        else if (half >= i)
            lo = i;
        else
            return;
    }
}

static int32_t build(mo_box_tree *t, int32_t first, int32_t count)
{
    int32_t at = t->nodes++;
    mo_box_node *n = &t->node[at];
    *n = (mo_box_node){t->of[t->order[first]], first, count};
    for (int32_t k = 1; k < count; k++) box_add(&n->around, &t->of[t->order[first + k]]);
    if (count <= LEAF) return at;
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (n->around.hi[a] - n->around.lo[a] > n->around.hi[axis] - n->around.lo[axis]) axis = a;
    halve(t, first, count, axis);
    build(t, first, count / 2);
    int32_t second = build(t, first + count / 2, count - count / 2);
    t->node[at].first = second, t->node[at].count = 0;
    return at;
}

mo_status mo_box_tree_create(int32_t count, mo_box_tree *out, mo_error *err)
{
    size_t room = (size_t)count + 1;
    *out = (mo_box_tree){.node = mo_alloc(sizeof *out->node * 2 * room),
                         .order = mo_alloc(sizeof *out->order * room),
                         .of = mo_alloc(sizeof *out->of * room)};
    if (out->node && out->order && out->of) return MO_OK;
    mo_box_tree_destroy(out);
    return mo_fail_memory(err);
}

void mo_box_tree_build(mo_box_tree *t, int32_t count)
{
    for (int32_t k = 0; k < count; k++) t->order[k] = k;
    t->nodes = 0;
    if (count) build(t, 0, count);
}

void mo_box_tree_destroy(mo_box_tree *t)
{
    mo_free(t->node), mo_free(t->order), mo_free(t->of);
    *t = (mo_box_tree){0};
}
