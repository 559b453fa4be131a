// Shapes: making, sharing and evaluating the tree of nodes, of whatever kind they are.
#include "geometry/shape_node.h"

// A tree deeper than this is refused: evaluation recurses, and stacks are finite.
enum { MAX_DEPTH = 8000 };

mo_shape *mo_shape_new(const mo_shape_kind *kind, const mo_shape *a, const mo_shape *b)
{
    MO_ASSERT(kind && (!b || a));
    int32_t depth = 1 + (a ? a->depth : 0);
    if (b && b->depth >= depth) depth = 1 + b->depth;
    if (depth > MAX_DEPTH) return NULL;
    mo_shape *s = mo_calloc(sizeof *s);
    if (!s) return NULL;
    atomic_init(&s->references, 1);
    s->kind = kind;
    s->depth = depth;
    s->a = mo_shape_retain(a);
    s->b = mo_shape_retain(b);
    return s;
}

const mo_shape *mo_shape_retain(const mo_shape *s)
{
    if (s) atomic_fetch_add(&((mo_shape *)s)->references, 1);
    return s;
}

void mo_shape_release(const mo_shape *shape)
{
    mo_shape *s = (mo_shape *)shape;
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) return;
    mo_shape_release(s->a);
    mo_shape_release(s->b);
    if (s->kind->destroy) s->kind->destroy(s);
    mo_free(s);
}

// ---- Named shapes ----

// Whether a parameter may have these numbers; *count: how many it takes.
static bool may_be(mo_parameter_kind kind, const double *x, int *count)
{
    *count = kind == MO_PARAMETER_SIZE || kind == MO_PARAMETER_DIRECTION ? 3 : 1;
    double square = 0;
    for (int i = 0; i < *count; i++) {
        bool length = kind == MO_PARAMETER_LENGTH || kind == MO_PARAMETER_SIZE;
        if (!isfinite(x[i]) || (length && x[i] <= 0)) return false;
        square += x[i] * x[i];
    }
    return kind != MO_PARAMETER_DIRECTION || (isfinite(square) && square > 0);
}

mo_shape *mo_shape_make(const mo_shape_kind *kind, const double *given)
{
    int total = 0, count;
    for (int k = 0; k < MO_SHAPE_PARAMETERS && kind->parameter[k].kind; k++, total += count)
        if (!may_be(kind->parameter[k].kind, given + total, &count)) return NULL;
    if (kind->make) return kind->make(given);
    mo_shape *s = mo_shape_new(kind, NULL, NULL);
    if (!s) return NULL;
    if (kind->set)
        kind->set(s, given);
    else
        for (int i = 0; i < total; i++) s->number[i] = given[i];
    return mo_shape_finish(s);
}

// ---- What is asked of a shape ----

double mo_shape_distance(const mo_shape *s, mo_vec3 p) { return s->kind->distance(s, p); }

mo_box3 mo_shape_bounds(const mo_shape *s) { return s->bounds; }

bool mo_shape_is_bounded(const mo_shape *s) { return mo_v3_finite(s->bounds.lo) && mo_v3_finite(s->bounds.hi); }

bool mo_shape_is_faceted(const mo_shape *s)
{
    return s->kind->faceted && (!s->a || mo_shape_is_faceted(s->a)) && (!s->b || mo_shape_is_faceted(s->b));
}

static bool same_numbers(const mo_shape *a, const mo_shape *b)
{
    bool same = true;
    for (int i = 0; i < MO_SHAPE_NUMBERS; i++) same &= a->number[i] == b->number[i];
    return same;
}

bool mo_shape_equal(const mo_shape *a, const mo_shape *b)
{
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->depth != b->depth) return false;
    if (!(a->kind->same ? a->kind->same(a, b) : same_numbers(a, b))) return false;
    return mo_shape_equal(a->a, b->a) && mo_shape_equal(a->b, b->b);
}

// Bounds through support functions: rotations then cost nothing in tightness, and the swelling of a smooth union is an
// offset of its operands.
static mo_box3 find_bounds(const mo_shape *s)
{
    double lo[3], hi[3];
    for (int i = 0; i < 3; i++) {
        mo_vec3 u = {i == 0, i == 1, i == 2};
        hi[i] = s->kind->support(s, u, 0);
        lo[i] = -s->kind->support(s, mo_mul(-1, u), 0);
        if (lo[i] > hi[i]) lo[i] = hi[i] = 0.5 * (lo[i] + hi[i]); // operands that do not meet: nothing inside
    }
    return (mo_box3){mo_v3(lo[0], lo[1], lo[2]), mo_v3(hi[0], hi[1], hi[2])};
}

mo_shape *mo_shape_finish(mo_shape *s)
{
    if (s) s->bounds = s->kind->bounds ? s->kind->bounds(s) : find_bounds(s);
    return s;
}
