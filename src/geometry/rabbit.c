// A rabbit, sitting up and looking along +x: ellipsoids blended by smooth unions, cut flat where it stands.
#include "geometry/shape_node.h"

typedef struct part {
    mo_vec3 centre, axes; // of the left one (z > 0) when paired; in heights
    double back, out;     // degrees: leaning backwards (about z), and outwards (about x)
    bool paired;
} part;

// Neighbours side by side, so that the halves of the list, and theirs, are far apart.
static const part parts[] = {
    {{0.07, 0.3085, 0.06}, {0.055, 0.20, 0.03}, 14, 10, true}, // ears
    {{0.21, 0.07, 0.00}, {0.17, 0.135, 0.125}, -15, 0, false}, // head
    {{0.11, -0.16, 0.00}, {0.15, 0.20, 0.14}, 20, 0, false},   // chest
    {{0.18, -0.39, 0.07}, {0.055, 0.13, 0.045}, -10, 0, true}, // fore legs
    {{-0.06, -0.22, 0.00}, {0.27, 0.25, 0.20}, 0, 0, false},   // body
    {{-0.33, -0.31, 0.00}, {0.08, 0.08, 0.08}, 0, 0, false},   // tail
    {{-0.13, -0.31, 0.13}, {0.17, 0.17, 0.09}, 0, 0, true},    // haunches
    {{0.01, -0.47, 0.14}, {0.18, 0.05, 0.06}, 0, 0, true},     // hind feet
};
enum { PARTS = sizeof parts / sizeof parts[0] };
static const double BLEND = 0.05;

// Takes over both references.
static mo_shape *blend(mo_shape *a, mo_shape *b)
{
    mo_shape *s = mo_shape_smooth_union(a, b, BLEND);
    mo_shape_release(a);
    mo_shape_release(b);
    return s;
}

static mo_shape *turn(mo_shape *s, mo_vec3 axis, double degrees)
{
    mo_shape *t = mo_shape_rotate(s, axis, degrees);
    mo_shape_release(s);
    return t;
}

static mo_shape *place(const part *p, double side)
{
    mo_shape *s = mo_shape_ellipsoid(p->axes);
    s = turn(s, mo_v3(0, 0, 1), p->back);
    s = turn(s, mo_v3(1, 0, 0), side * p->out);
    mo_shape *moved = mo_shape_move(s, mo_v3(p->centre.x, p->centre.y, side * p->centre.z));
    mo_shape_release(s);
    return moved;
}

// The parts first .. first + count - 1 as a balanced tree: fewer blends on top of each other, tighter bounds.
static mo_shape *assemble(int first, int count)
{
    if (count > 1) {
        mo_shape *a = assemble(first, count / 2);
        return blend(a, assemble(first + count / 2, count - count / 2));
    }
    const part *p = &parts[first];
    if (!p->paired) return place(p, 1);
    mo_shape *left = place(p, 1);
    return blend(left, place(p, -1));
}

mo_shape *mo_shape_rabbit(double height)
{
    mo_shape *whole = assemble(0, PARTS), *room = mo_shape_box(mo_v3(1.5, 1, 1));
    mo_shape *cut = mo_shape_intersect(whole, room), *rabbit = mo_shape_scale(cut, height);
    mo_shape_release(whole);
    mo_shape_release(room);
    mo_shape_release(cut);
    return rabbit;
}
