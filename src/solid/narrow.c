// The samples of one solid against the distance of another. A near sample is settled where it is nearest: smooth ones
// slide over the surface, those on edges along the edge, corners stay. A contact is a point of the solid that no small
// move within the solid brings nearer to the other; near sharp edges of the other this also sorts out gradients that
// point sideways.
#include "solid/narrow.h"
#include "geometry/shape_node.h"

static const double SLACK = 0.5;     // spacings: how much nearer sliding may bring a smooth sample
static const double STEEP = 0.15;    // a smooth sample is left to a neighbour that is nearer by this slope
static const double NEIGHBOUR = 1.6; // spacings
static const double SLIDE = 1.5;     // spacings: the most a smooth sample slides
static const double CREEP = 1;       // spacings: the most an edge or corner moves
static const double DEEP = 0.3;      // spacings: edges and corners as deep as this do not move
static const double LEVEL = 0.15;    // slopes below it are level: faces that lie on each other, a little tilted
static const double TIP = 0.15;      // spacings: how far from the nearest place a steep one may be
static const double FLUSH = 0.05;    // spacings: edges this far outside lie on those of the other solid
static const double EXACT = 2e-4;    // slopes below it are none
static const double COVERED = 1;     // spacings: a contact this near speaks for a sample that did not settle,
static const double DEEPER = 0.25;   // spacings: unless the sample is deeper by this

typedef struct pair { // everything in the frame of the sampled solid
    mo_zero_level own, other;
    mo_pose to_other;
    mo_box3 box; // of the other, in its frame
    double spacing, reach;
} pair;

static double other_distance(const pair *p, mo_vec3 x)
{
    return mo_shape_distance(p->other.shape, mo_pose_apply(p->to_other, x));
}

static mo_vec3 other_gradient(const pair *p, mo_vec3 x)
{
    mo_vec3 y = mo_pose_apply(p->to_other, x);
    mo_vec3 g = mo_zero_level_gradient_from(&p->other, y, mo_shape_distance(p->other.shape, y));
    return mo_normalize(mo_quat_rotate(mo_quat_conj(p->to_other.rotation), g));
}

static pair pair_of(const mo_collider *own, const mo_collider *other, double reach, bool flat)
{
    MO_ASSERT(own->samples->spacing > 0);
    pair p = {mo_zero_level_of(own->shape, flat), mo_zero_level_of(other->shape, flat),
              .spacing = own->samples->spacing};
    mo_quat back = mo_quat_conj(other->pose.rotation);
    p.to_other.rotation = mo_quat_mul(back, own->pose.rotation);
    p.to_other.position = mo_quat_rotate(back, mo_sub(own->pose.position, other->pose.position));
    p.box = mo_shape_bounds(other->shape);
    p.reach = reach;
    return p;
}

static bool far_off(const pair *p, mo_vec3 x, double limit, double *distance)
{
    mo_vec3 y = mo_pose_apply(p->to_other, x);
    if (mo_box_outside(&p->box, y) > limit) return true;
    *distance = mo_shape_distance(p->other.shape, y);
    return *distance > limit;
}

// Samples within the limit. As the slope is at most 1, the distance at a nearby point rules many out.
static int32_t gather(const pair *p, const mo_samples *s, const mo_ball *block, mo_near_sample *near)
{
    int32_t count = 0;
    double smooth = p->reach + SLACK * p->spacing, sharp = p->reach + CREEP * p->spacing;
    for (int32_t first = 0; first < s->count; first += MO_BLOCK) {
        const mo_ball *ball = &block[first / MO_BLOCK];
        mo_vec3 known = ball->centre;
        double at_known, d;
        if (far_off(p, known, sharp + ball->radius, &at_known)) continue;
        for (int32_t i = first; i < first + MO_BLOCK && i < s->count; i++) {
            double limit = s->kind[i] == MO_POINT_SMOOTH ? smooth : sharp;
            if (at_known - mo_norm(mo_sub(s->point[i], known)) > limit) continue;
            if (far_off(p, s->point[i], INFINITY, &d)) continue;
            known = s->point[i], at_known = d;
            if (d < limit) near[count++] = (mo_near_sample){.index = i, .distance = d};
        }
    }
    return count;
}

// Whether a neighbour of the same side is clearly nearer to the other solid.
static bool on_slope(const pair *p, const mo_samples *s, const mo_near_sample *near, int32_t count, int32_t i)
{
    double most = NEIGHBOUR * NEIGHBOUR * p->spacing * p->spacing;
    mo_vec3 x = s->point[near[i].index], n = s->normal[near[i].index];
    for (int32_t j = 0; j < count; j++) {
        mo_vec3 d = mo_sub(s->point[near[j].index], x);
        double d2 = mo_dot(d, d), lower = near[i].distance - near[j].distance;
        if (lower > 0 && d2 < most && lower * lower > STEEP * STEEP * d2 && mo_dot(n, s->normal[near[j].index]) > 0.3)
            return true;
    }
    return false;
}

// Drops smooth samples on slopes: sliding would lead to the same place.
static void drop_slopes(const pair *p, const mo_samples *s, mo_near_sample *near, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        near[i].dropped = s->kind[near[i].index] == MO_POINT_SMOOTH && on_slope(p, s, near, count, i);
}

// Curvatures of gap = other + weight own over the plane (t1, t2) at x: xx, yy, xy.
static void gap_curvature(const pair *p, mo_vec3 x, mo_vec3 t1, mo_vec3 t2, double weight, double c[3])
{
    static const double at[7][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};
    double h = 0.1 * p->spacing, f[7];
    for (int k = 0; k < (p->own.flat ? 3 : 7); k++) {
        mo_vec3 y = mo_mad(mo_mad(x, h * at[k][0], t1), h * at[k][1], t2);
        f[k] = other_distance(p, y) + weight * mo_shape_distance(p->own.shape, y);
    }
    c[0] = (f[1] - 2 * f[0] + f[2]) / (h * h);
    c[1] = c[2] = 0;
    if (p->own.flat) return;
    c[1] = (f[3] - 2 * f[0] + f[4]) / (h * h);
    c[2] = (f[5] + f[6] - f[1] - f[2] - f[3] - f[4] + 2 * f[0]) / (2 * h * h);
}

// One coordinate of Newton's step. Directions too flat for a minimum nearby are left alone.
static double newton(double slope, double curvature, double limit)
{
    return curvature * limit > fabs(slope) && curvature * limit > 1e-4 ? -slope / curvature : 0;
}

static mo_vec3 newton_step(const pair *p, mo_vec3 g, const double c[3], mo_vec3 t1, mo_vec3 t2)
{
    double limit = SLIDE * p->spacing, angle = 0.5 * mo_atan2(2 * c[2], c[0] - c[1]);
    double a = mo_cos(angle), b = mo_sin(angle);
    double high = c[0] * a * a + 2 * c[2] * a * b + c[1] * b * b, low = c[0] + c[1] - high;
    if (p->own.flat) a = 1, b = 0, high = c[0], low = 0;
    mo_vec3 u = mo_mad(mo_mul(a, t1), b, t2), v = mo_mad(mo_mul(-b, t1), a, t2);
    return mo_mad(mo_mul(newton(mo_dot(g, u), high, limit), u), newton(mo_dot(g, v), low, limit), v);
}

// Puts x, a point near the own surface, onto it; n: the normal there.
static mo_vec3 to_surface(const pair *p, mo_vec3 x, mo_vec3 *n)
{
    double d = mo_shape_distance(p->own.shape, x);
    *n = mo_normalize(mo_zero_level_gradient_from(&p->own, x, d));
    return mo_mad(x, -d, *n);
}

// Whether a steep place is nearly the minimum: on tips far smaller than the spacing slopes change within a tiny
// distance, and Newton's steps go to and fro. n, g: the own normal and the other's gradient at x.
static bool at_tip(const pair *p, mo_vec3 x, mo_vec3 n, mo_vec3 g)
{
    mo_vec3 across = mo_mad(g, -mo_dot(g, n), n), t1 = mo_normalize(across);
    double curvature[3];
    gap_curvature(p, x, t1, mo_cross(n, t1), -mo_dot(g, n), curvature);
    return mo_norm(across) < TIP * p->spacing * curvature[0];
}

// Slides x over its own surface, whose normal there is n, to where the other solid is nearest. False: it has not
// arrived yet, does not face the other solid, or is too far.
static bool settle_smooth(const pair *p, mo_vec3 *x, mo_vec3 n, mo_vec3 *g, double *gap)
{
    mo_vec3 start = *x, t1 = {0, 0, 0}, t2;
    double curvature[3] = {0}, length = INFINITY, slope = INFINITY;
    for (int iteration = 0; iteration < 6; iteration++) {
        if (iteration > 0) *x = to_surface(p, *x, &n);
        *g = other_gradient(p, *x);
        *gap = other_distance(p, *x);
        double facing = -mo_dot(*g, n);
        slope = mo_norm(mo_mad(*g, facing, n));
        if (facing < 0.3) return false;
        if (slope < 1e-6) break;
        if (length > 0.3 * p->spacing) {
            mo_tangents(n, &t1, &t2);
            gap_curvature(p, *x, t1, t2, facing, curvature);
        } else { // the last curvatures will do
            t1 = mo_normalize(mo_mad(t1, -mo_dot(t1, n), n));
            t2 = mo_cross(n, t1);
        }
        mo_vec3 step = newton_step(p, *g, curvature, t1, t2);
        length = mo_norm(step);
        if (!(length > 1e-4 * p->spacing)) break;
        if (iteration == 0 && *gap + 0.5 * mo_dot(*g, step) > p->reach + 0.1 * p->spacing) return false;
        *x = mo_mad(*x, fmin(1, SLIDE * p->spacing / length), step);
        if (mo_norm(mo_sub(*x, start)) > 2 * SLIDE * p->spacing) return false;
    }
    if (!(mo_norm(mo_sub(*x, start)) < 2 * SLIDE * p->spacing)) return false;
    return slope < LEVEL || at_tip(p, *x, n, *g);
}

// The point at arc length s along the circle that an edge follows.
static mo_vec3 along_edge(mo_vec3 x, mo_vec3 tangent, mo_vec3 bend, double s)
{
    double k = mo_norm(bend), angle = k * s;
    if (!(fabs(angle) > 1e-6)) return mo_mad(x, s, tangent);
    double half = mo_sin(0.5 * angle); // 1 - cos = 2 half^2
    return mo_mad(mo_mad(x, mo_sin(angle) / k, tangent), 2 * half * half / (k * k), bend);
}

// Moves along the edge to its nearest place; stays where there is none near. False: there is one, of another sample.
static bool settle_edge(const pair *p, mo_vec3 tangent, mo_vec3 bend, mo_vec3 *x)
{
    double s = 0, limit = CREEP * p->spacing, h = 0.3 * p->spacing, step = limit;
    for (int round = 0; round < 10 && fabs(step) > 1e-5 * p->spacing; round++) {
        double f[3], most = round ? 3 * h : limit;
        for (int k = 0; k < 3; k++) f[k] = other_distance(p, along_edge(*x, tangent, bend, s + (k - 1) * h));
        double curvature = (f[0] - 2 * f[1] + f[2]) / (h * h);
        step = newton((f[2] - f[0]) / (2 * h), curvature, 4 * limit);
        if (step == 0 && curvature * limit < 1e-4) return true; // level, or on the way into a level part: stays
        step = fmin(fmax(step, -most), most);
        s += step;
        if (fabs(s) > limit || (!round && f[1] - 0.5 * curvature * step * step > p->reach + 0.2 * p->spacing))
            return false;
        h = fmin(fmax(2 * fabs(step), 0.05 * h), 0.5 * h);
    }
    *x = along_edge(*x, tangent, bend, s);
    mo_vec3 n;
    *x = to_surface(p, *x, &n);
    return true;
}

// x moved by `step` against the other's gradient g, as far as the own solid goes.
static mo_vec3 descend(const pair *p, mo_vec3 x, mo_vec3 g, double step)
{
    mo_vec3 y = mo_mad(x, -step, g);
    for (int k = 0; k < 2; k++) {
        double d = mo_shape_distance(p->own.shape, y);
        if (d <= 1e-6 * step) break;
        y = mo_mad(y, -d, mo_normalize(mo_zero_level_gradient_from(&p->own, y, d)));
    }
    return y;
}

// How much of a small step against g the own solid allows.
static double slope_against(const pair *p, mo_vec3 x, mo_vec3 g)
{
    double step = 0.004 * p->spacing;
    return mo_norm(mo_sub(descend(p, x, g, step), x)) / step;
}

// The same towards the other solid, whose gradient at x is g: 0 at a minimum.
static double slope_at(const pair *p, mo_vec3 x, mo_vec3 *g)
{
    *g = other_gradient(p, x);
    return slope_against(p, x, *g);
}

// The gradient of the other solid for an edge or corner with mean normal m, a tiny distance inside the own solid: there
// it is that of a face even if the edges of both lie on each other.
static mo_vec3 inner_gradient(const pair *p, mo_vec3 x, mo_vec3 g, mo_vec3 m)
{
    mo_vec3 across = mo_normalize(mo_mad(m, -mo_dot(m, g), g));
    return other_gradient(p, mo_mad(x, -20 * p->other.step, across));
}

static bool same_direction(mo_vec3 g, mo_vec3 h, double tolerance) { return mo_norm(mo_sub(g, h)) < tolerance; }

// An edge inside the edge of the other solid: there the nearest face cannot push, and the search goes to and fro
// between it and the one next to it, which can: that of `near`, where the search ended, or its neighbour across the
// edge. Where that one is far deeper than the nearest, the edges cross and neither is right.
static bool settle_edge_in_edge(const pair *p, const mo_vec3 *x, mo_vec3 near, mo_vec3 *g, double *gap)
{
    for (int k = 0; k < 2; k++) {
        *g = other_gradient(p, near);
        *gap = other_distance(p, near) + mo_dot(mo_sub(*x, near), *g);
        if (slope_against(p, *x, *g) < EXACT) return *gap > 4 * other_distance(p, *x) - 0.01 * p->spacing;
        near = descend(p, near, *g, 0.5 * p->spacing);
    }
    return false;
}

// Edges and corners: a minimum; or level, where the slope does not change; or not far from where it becomes one of
// these - past an edge of the other solid. m: the sample's mean normal.
static bool settle_sharp(const pair *p, mo_vec3 *x, mo_vec3 m, mo_vec3 *g, double *gap)
{
    mo_vec3 before = *x, here = *x, next_g;
    double d = other_distance(p, here), step = 0, slope;
    bool inside = d < FLUSH * p->spacing;
    int tries = 0;
    if (d > p->reach) { // only relevant if the nearest point of the other solid faces the own one
        here = descend(p, here, other_gradient(p, here), 1.05 * d);
        d = other_distance(p, here);
        if (d > p->reach + 0.1 * p->spacing) return false;
        tries++;
    }
    slope = slope_at(p, here, g);
    if (d < -DEEP * p->spacing && slope >= LEVEL) return false; // other samples separate the solids better
    for (; slope >= EXACT; tries++) {
        // Outside, the nearest point of the other solid is at the distance d; inside, it is not known.
        step = fmin(fmax(tries == 0 && d > 0 ? 1.05 * d : 2 * step, fabs(d)), 0.5 * p->spacing);
        step = fmax(step, 0.01 * p->spacing);
        mo_vec3 next = descend(p, here, *g, step);
        double next_slope = slope_at(p, next, &next_g);
        if (slope < LEVEL && same_direction(*g, next_g, 5e-3 * slope + 1e-7)) break;
        before = here, here = next;
        *g = next_g, slope = next_slope;
        if (tries == 6) return d < 0 && settle_edge_in_edge(p, x, here, g, gap);
    }
    if (mo_norm(mo_sub(here, *x)) > CREEP * p->spacing) return false;
    for (int k = 0; tries && k < 6; k++) { // back towards the edge that was passed
        mo_vec3 middle = mo_mul(0.5, mo_add(here, before)), middle_g = other_gradient(p, middle);
        if (same_direction(*g, middle_g, 1e-4))
            here = middle;
        else
            before = middle;
    }
    *g = inner_gradient(p, here, *g, m);
    *gap = other_distance(p, here);
    // A deep corner was led away from the nearest side face: with the right face known, it may stay where it was. A
    // point outside the other solid is not below that face, whatever the face's plane says.
    mo_vec3 back = mo_sub(*x, here);
    double stays = *gap + mo_dot(back, *g);
    if (mo_norm(back) <= 4 * fabs(*gap) + 0.01 * p->spacing && (inside || stays >= fmin(*gap, 0) - FLUSH * p->spacing))
        *gap = stays;
    else
        *x = here;
    return true;
}

// A sample at x, in the frame of its solid, with the other's gradient g.
static mo_touch touch_at(const mo_collider *own, int32_t i, mo_vec3 x, mo_vec3 g, double gap)
{
    MO_ASSERT(i >= 0 && i < own->samples->count);
    const mo_samples *s = own->samples;
    if (!(mo_norm(g) > 0.5)) g = mo_mul(-1, s->normal[i]); // at the middle of the other solid
    return (mo_touch){.point = mo_pose_apply(own->pose, mo_mad(x, -0.5 * gap, g)),
                      .normal = mo_normalize(mo_quat_rotate(own->pose.rotation, g)),
                      .gap = gap,
                      .moved = mo_norm(mo_sub(x, s->point[i])),
                      .feature = (uint32_t)i,
                      .kind = s->kind[i]};
}

// Goes towards the nearest place in smaller and smaller steps over the own surface, whose normal at x is n; it needs no
// slopes. False: not facing the other solid.
static bool settle_slowly(const pair *p, mo_vec3 *x, mo_vec3 n, mo_vec3 *g, double *gap)
{
    *gap = other_distance(p, *x);
    for (double step = 0.5 * p->spacing; step > 0.03 * p->spacing; step *= 0.5) {
        mo_vec3 t1, t2, best_n = n, best = *x;
        mo_tangents(n, &t1, &t2);
        for (int k = 0; k < (p->own.flat ? 2 : 4); k++) {
            mo_vec3 m, y = to_surface(p, mo_mad(*x, k & 1 ? -step : step, k & 2 ? t2 : t1), &m);
            double d = other_distance(p, y);
            if (d < *gap) *gap = d, best = y, best_n = m;
        }
        *x = best, n = best_n;
    }
    *g = other_gradient(p, *x);
    double facing = -mo_dot(*g, n);
    if (facing < 0.9) *g = mo_normalize(mo_sub(*g, n)); // at an edge of either
    return facing > 0.1;
}

// Edges on curved solids and features finer than the samples may not settle by slopes. If the lowest sample of such a
// place is near and no contact speaks for it, it is settled without: a contact in not quite the right place is better
// than none.
static int32_t keep_unsettled(const pair *p, const mo_collider *own, const mo_near_sample *near, int32_t count,
                              mo_touch *out, int32_t touches)
{
    const mo_samples *s = own->samples;
    for (int32_t k = 0; k < count; k++) {
        int32_t i = near[k].index;
        if (near[k].dropped || near[k].settled || !(near[k].distance < p->reach)) continue;
        mo_vec3 x = s->point[i], g, world = mo_pose_apply(own->pose, x);
        bool known = false;
        double gap;
        for (int32_t t = 0; t < touches && !known; t++)
            known = mo_norm(mo_sub(out[t].point, world)) < COVERED * p->spacing &&
                    out[t].gap < near[k].distance + DEEPER * p->spacing;
        if (known || on_slope(p, s, near, count, k)) continue;
        if (settle_slowly(p, &x, s->normal[i], &g, &gap) && gap < p->reach)
            out[touches++] = touch_at(own, i, x, g, gap);
    }
    return touches;
}

static mo_touch nearest_sample(const pair *p, const mo_collider *own, const mo_near_sample *near, int32_t count)
{
    const mo_near_sample *best = NULL;
    for (int32_t k = 0; k < count; k++)
        if (!best || near[k].distance < best->distance) best = &near[k];
    if (!best) return (mo_touch){.gap = INFINITY};
    mo_vec3 x = own->samples->point[best->index];
    return touch_at(own, best->index, x, other_gradient(p, x), best->distance);
}

int32_t mo_narrow_find(const mo_collider *own, const mo_collider *other, const mo_ball *block, double reach, bool flat,
                       mo_near_sample *near, mo_touch *out, mo_touch *nearest)
{
    MO_ASSERT(own != other && own->samples && reach > 0);
    const mo_samples *s = own->samples;
    pair p = pair_of(own, other, reach, flat);
    int32_t count = gather(&p, s, block, near), touches = 0;
    *nearest = nearest_sample(&p, own, near, count);
    drop_slopes(&p, s, near, count);
    for (int32_t k = 0; k < count; k++) {
        int32_t i = near[k].index;
        if (near[k].dropped) continue;
        mo_vec3 x = s->point[i], g;
        if (s->kind[i] == MO_POINT_EDGE && !settle_edge(&p, s->tangent[i], s->bend[i], &x)) continue;
        double gap;
        near[k].settled = s->kind[i] == MO_POINT_SMOOTH ? settle_smooth(&p, &x, s->normal[i], &g, &gap)
                                                        : settle_sharp(&p, &x, s->normal[i], &g, &gap);
        if (near[k].settled && gap < reach) out[touches++] = touch_at(own, i, x, g, gap);
    }
    return keep_unsettled(&p, own, near, count, out, touches);
}
