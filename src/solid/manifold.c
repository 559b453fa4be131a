// The contact points of a pair: duplicates merged, patches of one normal reduced to their outline, few kept. Choices
// between nearly equal points fall to the lower feature, so that a resting body keeps its points from step to step.
#include "solid/manifold.h"
#include <stdlib.h>

static const double MERGE = 0.25;    // spacings: nearer points of one normal are the same
static const double FAR = 0.83;      // spacings: samples slid farther than this name a point only if no other does
static const double STRAIGHT = 0.05; // spacings: an outline point nearer to the line of its neighbours is dropped
static const double BULGE = 0.02;    // spacings: an inner point this much nearer than the outline says is kept
static const double DEEPER = 0.01;   // spacings: of points that are the same, one this much deeper is kept
static const double DEEP = 0.05;     // spacings: gaps that differ less are equally deep
static const double SAME_FACE = 0.9; // cosines
static const double SAME_PATCH = 0.999;

static int by_feature(const void *a, const void *b)
{
    const mo_touch *p = a, *q = b;
    return p->feature < q->feature ? -1 : p->feature > q->feature;
}

// Corners before edges before smooth points, those that stayed near before those that came from afar.
static int by_worth(const void *a, const void *b)
{
    const mo_touch *p = a, *q = b;
    if (p->kind != q->kind) return q->kind - p->kind;
    if ((p->moved < 0) != (q->moved < 0)) return p->moved < 0 ? 1 : -1;
    return by_feature(a, b);
}

static bool is_same(const mo_touch *a, const mo_touch *b, double spacing)
{
    mo_vec3 d = mo_sub(a->point, b->point);
    return mo_dot(d, d) < MERGE * MERGE * spacing * spacing && mo_dot(a->normal, b->normal) > SAME_FACE;
}

// Of points that are the same the worthier is kept, or the one that is clearly deeper: a body would sink in as far as
// the other one is above it.
static int32_t merge(mo_touch *t, int32_t count, double spacing)
{
    for (int32_t i = 0; i < count; i++)
        if (t[i].moved > FAR * spacing) t[i].moved = -1;
    qsort(t, (size_t)count, sizeof *t, by_worth);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t known = 0;
        while (known < kept && !is_same(&t[known], &t[i], spacing)) known++;
        if (known == kept)
            t[kept++] = t[i];
        else if (t[i].gap < t[known].gap - DEEPER * spacing)
            t[known] = t[i];
    }
    return kept;
}

typedef struct spot { // a touching point in the plane across the patch's normal
    double u, v, gap;
    mo_touch touch;
} spot;

static double turn(const spot *a, const spot *b, const spot *c)
{
    return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

static int by_place(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->u != q->u) return p->u < q->u ? -1 : 1;
    if (p->v != q->v) return p->v < q->v ? -1 : 1;
    return by_feature(&p->touch, &q->touch);
}

// Indices of the convex hull's corners, counter-clockwise, of spots sorted by place.
static int32_t hull(const spot *s, int32_t count, int32_t *corner)
{
    int32_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        int32_t least = pass ? n : 1;
        for (int32_t k = 0; k < count; k++) {
            int32_t i = pass ? count - 1 - k : k;
            while (n > least && turn(&s[corner[n - 2]], &s[corner[n - 1]], &s[i]) <= 0) n--;
            if (n == 0 || corner[n - 1] != i) corner[n++] = i;
        }
    }
    return n > 1 && corner[n - 1] == corner[0] ? n - 1 : n;
}

// How far corner i stands out from the way between its neighbours.
static double height(const spot *s, const int32_t *corner, int32_t n, int32_t i)
{
    const spot *a = &s[corner[(i + n - 1) % n]], *b = &s[corner[i]], *c = &s[corner[(i + 1) % n]];
    double du = c->u - a->u, dv = c->v - a->v, length2 = du * du + dv * dv;
    double t = length2 > 0 ? fmin(fmax(((b->u - a->u) * du + (b->v - a->v) * dv) / length2, 0), 1) : 0;
    return hypot(b->u - a->u - t * du, b->v - a->v - t * dv);
}

// Drops corners that hardly stand out, the least first.
static int32_t straighten(const spot *s, int32_t *corner, int32_t n, double spacing)
{
    while (n > 1) {
        int32_t worst = -1;
        double least = 0;
        for (int32_t i = 0; i < n; i++) {
            double h = height(s, corner, n, i);
            if (h >= STRAIGHT * spacing) continue;
            h = floor(h / (0.01 * spacing)) + 100 * s[corner[i]].touch.kind;
            bool tie = worst >= 0 && h == least && s[corner[i]].touch.feature > s[corner[worst]].touch.feature;
            if (worst < 0 || h < least || tie) worst = i, least = h;
        }
        if (worst < 0) break;
        for (int32_t i = worst; i + 1 < n; i++) corner[i] = corner[i + 1];
        n--;
    }
    return n;
}

// The gap at (u, v) between those of the outline, linear in the triangles of a fan.
static double outline_gap(const spot *s, const int32_t *corner, int32_t n, const spot *at)
{
    const spot *a = &s[corner[0]], *b = &s[corner[n > 1]];
    if (n < 3) {
        double du = b->u - a->u, dv = b->v - a->v, length2 = du * du + dv * dv;
        double t = length2 > 0 ? ((at->u - a->u) * du + (at->v - a->v) * dv) / length2 : 0;
        return a->gap + fmin(fmax(t, 0), 1) * (b->gap - a->gap);
    }
    double best = -INFINITY, gap = 0;
    for (int32_t i = 1; i + 1 < n; i++) {
        const spot *p = &s[corner[i]], *q = &s[corner[i + 1]];
        double area = turn(a, p, q), w[3] = {turn(p, q, at) / area, turn(q, a, at) / area, turn(a, p, at) / area};
        double least = fmin(w[0], fmin(w[1], w[2])), sum = 0;
        if (!(least > best)) continue;
        best = least;
        for (int k = 0; k < 3; k++) w[k] = fmax(w[k], 0), sum += w[k];
        gap = (w[0] * a->gap + w[1] * p->gap + w[2] * q->gap) / sum;
    }
    return gap;
}

// Spots of one normal: keeps the outline, and inner ones that bulge out. The outline can replace all others.
static int32_t reduce_patch(spot *s, int32_t count, double spacing, int32_t *corner, mo_touch *out)
{
    qsort(s, (size_t)count, sizeof *s, by_place);
    int32_t n = straighten(s, corner, hull(s, count, corner), spacing), kept = 0;
    for (int32_t i = 0; i < count; i++) {
        bool keep = s[i].gap < outline_gap(s, corner, n, &s[i]) - BULGE * spacing;
        for (int32_t k = 0; k < n && !keep; k++) keep = corner[k] == i;
        if (keep) out[kept++] = s[i].touch;
    }
    return kept;
}

enum { MOST_SPOTS = 256 };

static int32_t reduce_patches(mo_touch *t, int32_t count, double spacing)
{
    spot s[MOST_SPOTS];
    int32_t corner[2 * MOST_SPOTS + 2], done = 0;
    while (done < count) {
        mo_vec3 normal = t[done].normal, t1, t2;
        mo_tangents(normal, &t1, &t2);
        int32_t n = 0, rest = done;
        for (int32_t i = done; i < count; i++) { // the patch goes to s, the others close up
            if (i == done || (n < MOST_SPOTS && mo_dot(t[i].normal, normal) > SAME_PATCH))
                s[n++] = (spot){mo_dot(t[i].point, t1), mo_dot(t[i].point, t2), t[i].gap, t[i]};
            else
                t[rest++] = t[i];
        }
        mo_touch kept[MOST_SPOTS];
        int32_t k = reduce_patch(s, n, spacing, corner, kept);
        for (int32_t i = rest; i-- > done;) t[i + k] = t[i];
        for (int32_t i = 0; i < k; i++) t[done + i] = kept[i];
        count = rest + k;
        done += k;
    }
    return count;
}

// A deep one first, then always the one farthest from those chosen.
static int32_t spread(mo_touch *t, int32_t count, double spacing, int32_t most)
{
    if (count <= most) return count;
    qsort(t, (size_t)count, sizeof *t, by_feature);
    double deepest = INFINITY;
    for (int32_t i = 0; i < count; i++) deepest = fmin(deepest, t[i].gap);
    for (int32_t chosen = 0; chosen < most; chosen++) {
        int32_t next = -1;
        double farthest = 0;
        for (int32_t i = chosen; i < count; i++) {
            double distance = chosen ? INFINITY : t[i].gap <= deepest + DEEP * spacing;
            for (int32_t k = 0; k < chosen; k++) distance = fmin(distance, mo_norm(mo_sub(t[i].point, t[k].point)));
            bool equal = next >= 0 && fabs(distance - farthest) <= 0.01 * spacing && chosen;
            if (equal ? t[i].feature < t[next].feature : distance > farthest || next < 0) next = i, farthest = distance;
        }
        mo_touch swap = t[chosen];
        t[chosen] = t[next], t[next] = swap;
    }
    return most;
}

// Brings points that push in the direction of the deepest one to the front and returns how many they are.
static int32_t take_side(mo_touch *t, int32_t count)
{
    int32_t deepest = 0, taken = 0;
    for (int32_t i = 1; i < count; i++)
        if (t[i].gap < t[deepest].gap) deepest = i;
    mo_vec3 normal = t[deepest].normal;
    for (int32_t i = 0; i < count; i++) {
        if (!(mo_dot(t[i].normal, normal) > SAME_FACE)) continue;
        mo_touch swap = t[taken];
        t[taken++] = t[i], t[i] = swap;
    }
    return taken;
}

// A body in a vessel touches several of its faces, and needs a spread choice on each: points on one face cannot exert
// the push of another. The last side takes all directions that are left.
static int32_t spread_sides(mo_touch *t, int32_t count, double spacing, int32_t most)
{
    int32_t kept = 0, done = 0;
    for (int32_t side = 1; done < count; side++) {
        int32_t n = side < MO_MANIFOLD_SIDES ? take_side(t + done, count - done) : count - done;
        int32_t k = spread(t + done, n, spacing, most);
        for (int32_t i = 0; i < k; i++) t[kept++] = t[done + i];
        done += n;
    }
    return kept;
}

int32_t mo_manifold_reduce(mo_touch *touch, int32_t count, double spacing, int32_t most)
{
    MO_ASSERT(count >= 0 && spacing > 0 && most >= 1);
    count = merge(touch, count, spacing);
    count = reduce_patches(touch, count, spacing);
    qsort(touch, (size_t)count, sizeof *touch, by_feature);
    if (count > most) count = spread_sides(touch, count, spacing, most);
    qsort(touch, (size_t)count, sizeof *touch, by_feature);
    return count;
}
