// Random scenes of everything a stranger may put together, and what is asked of any run: validate/trust.c and
// tests/test_sim_trust.c.
//
// A scene follows from its number alone. There are pools, blobs, boxes, films and filaments of any viscosity; solids
// that touch walls and each other exactly, overlap, or leave gaps of 0.01 to 1 cell; mazes; shaken and rocking tanks;
// emitters; up to four rigid bodies of any density; odd Courant numbers, tilted gravity, surface tension.
#ifndef TRUST_H
#define TRUST_H

#include "base/parallel.h"
#include "base/vec.h"
#include "monolith/monolith.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRUST_MOST = 16 };

typedef struct trust_motion { // about a middle: a swing along a direction, a rocking about an axis
    mo_vec3 middle, way, axis;
    double angle, rate; // radians, 1/s
} trust_motion;

typedef struct trust_scene {
    mo_sim_def def;
    mo_liquid_def liquid[TRUST_MOST];
    mo_solid_def solid[TRUST_MOST];
    mo_emitter_def emitter[1];
    trust_motion motion;
    mo_box3 taken[TRUST_MOST]; // by solids
    int32_t taken_count;
    char name[TRUST_MOST][16], about[200]; // what is in it, in words
    uint32_t seed, drawn;
    double dx;
    mo_vec3 lo, hi; // where contents may be, m
    bool flat;
} trust_scene;

// ---- Chance ----

static inline double trust_draw(trust_scene *s) { return mo_unit(mo_hash(s->seed, s->drawn++, 11)); }
static inline double trust_between(trust_scene *s, double lo, double hi) { return lo + (hi - lo) * trust_draw(s); }
static inline double trust_spread(trust_scene *s, double lo, double hi) { return lo * pow(hi / lo, trust_draw(s)); }
static inline bool trust_chance(trust_scene *s, double probability) { return trust_draw(s) < probability; }
static inline int32_t trust_below(trust_scene *s, int32_t n) { return (int32_t)(n * trust_draw(s)); }

// Draws are statements of their own: the order of arguments is the compiler's.
static inline mo_vec3 trust_point(trust_scene *s, mo_vec3 lo, mo_vec3 hi)
{
    mo_vec3 v;
    v.x = trust_between(s, lo.x, hi.x);
    v.y = trust_between(s, lo.y, hi.y);
    v.z = trust_between(s, lo.z, hi.z);
    if (s->flat) v.z = 0;
    return v;
}

static inline mo_vec3 trust_velocity(trust_scene *s, double least, double most)
{
    mo_vec3 v = trust_point(s, mo_v3(-1, -1, -1), mo_v3(1, 1, 1));
    double length = mo_norm(v), speed = trust_between(s, least, most);
    return length > 0 ? mo_mul(speed / length, v) : mo_v3(speed, 0, 0);
}

// ---- Shapes ----

static inline mo_shape *trust_moved(mo_shape *shape, mo_vec3 by)
{
    mo_shape *moved = mo_shape_move(shape, by);
    mo_shape_release(shape);
    return moved;
}

static inline mo_shape *trust_turned(mo_shape *shape, mo_vec3 axis, double degrees)
{
    mo_shape *turned = mo_shape_rotate(shape, axis, degrees);
    mo_shape_release(shape);
    return turned;
}

static inline mo_shape *trust_box(mo_vec3 lo, mo_vec3 hi)
{
    return trust_moved(mo_shape_box(mo_sub(hi, lo)), mo_mul(0.5, mo_add(lo, hi)));
}

static inline bool trust_free(const trust_scene *s, const mo_box3 *a)
{
    for (int32_t k = 0; k < s->taken_count; k++) {
        const mo_box3 *b = &s->taken[k];
        bool apart = a->hi.x <= b->lo.x || b->hi.x <= a->lo.x || a->hi.y <= b->lo.y || b->hi.y <= a->lo.y ||
                     (!s->flat && (a->hi.z <= b->lo.z || b->hi.z <= a->lo.z));
        if (!apart) return false;
    }
    return true;
}

static inline void trust_say(trust_scene *s, const char *word)
{
    size_t used = strlen(s->about);
    snprintf(s->about + used, sizeof s->about - used, "%s%s", used ? ", " : "", word);
}

// ---- Solids ----

static inline mo_solid_def *trust_add_solid(trust_scene *s, mo_shape *shape)
{
    if (s->def.solid_count == TRUST_MOST) {
        mo_shape_release(shape);
        return NULL;
    }
    int32_t n = s->def.solid_count++;
    mo_solid_def *o = &s->solid[n];
    *o = mo_solid_def_default();
    snprintf(s->name[n], sizeof s->name[n], "solid %d", n);
    o->name = s->name[n], o->shape = shape;
    o->wall = trust_chance(s, 0.3) ? MO_WALL_SLIP : MO_WALL_NO_SLIP;
    o->friction = trust_chance(s, 0.3) ? 0 : trust_between(s, 0.05, 0.8);
    o->restitution = trust_chance(s, 0.2) ? 0.5 : 0;
    return o;
}

static inline void trust_take(trust_scene *s, mo_box3 box)
{
    if (s->taken_count < TRUST_MOST) s->taken[s->taken_count++] = box;
}

// How far a solid stays from what it stands at: it touches, overlaps, or leaves a gap of 0.01 to 1 cell.
static inline double trust_gap(trust_scene *s)
{
    int32_t kind = trust_below(s, 4);
    double gap = trust_spread(s, 0.01, 1) * s->dx, overlap = trust_between(s, 0.05, 1) * s->dx;
    return kind == 0 ? gap : kind == 1 ? -overlap : 0;
}

// Posts, steps and slabs: at the floor, a wall or an earlier solid.
static inline void trust_add_block(trust_scene *s)
{
    mo_vec3 size = mo_sub(s->hi, s->lo), edge = trust_point(s, mo_mul(0.08, size), mo_mul(0.35, size)), at;
    if (s->flat) edge.z = 4;
    if (trust_chance(s, 0.3)) edge.x = trust_between(s, 0.3, 1.5) * s->dx; // thin
    at = trust_point(s, s->lo, mo_sub(s->hi, edge));
    double gap = trust_gap(s);
    int32_t where = trust_below(s, 4);
    if (where == 0) at.y = s->lo.y + gap;
    if (where == 1) at.x = trust_chance(s, 0.5) ? s->lo.x + gap : s->hi.x - edge.x - gap;
    if (where == 2 && s->taken_count) {
        const mo_box3 *to = &s->taken[trust_below(s, s->taken_count)];
        bool beside = trust_chance(s, 0.5);
        at = mo_v3(beside ? to->hi.x + gap : to->lo.x, beside ? to->lo.y : to->hi.y + gap, to->lo.z);
    }
    if (!s->flat && trust_chance(s, 0.5)) at.z = s->lo.z - s->dx, edge.z = size.z + 2 * s->dx; // through the domain
    if (s->flat) at.z = -2;
    mo_box3 box = {at, mo_add(at, edge)};
    mo_shape *shape = trust_chance(s, 0.2) ? trust_moved(mo_shape_sphere(0.5 * fmin(edge.x, edge.y)),
                                                         mo_mul(0.5, mo_add(box.lo, box.hi)))
                                           : trust_box(box.lo, box.hi);
    mo_solid_def *o = trust_add_solid(s, shape);
    trust_take(s, box);
    if (o && trust_chance(s, 0.1)) o->surface_velocity = trust_velocity(s, 0.1, 1);
}

// Slabs one above the other, open at alternating ends.
static inline void trust_add_maze(trust_scene *s)
{
    int32_t slabs = 2 + trust_below(s, 3);
    double height = s->hi.y - s->lo.y, thick = trust_between(s, 0.4, 2) * s->dx,
           door = trust_between(s, 0.8, 4) * s->dx;
    trust_say(s, "maze");
    for (int32_t k = 1; k <= slabs; k++) {
        double y = s->lo.y + height * k / (slabs + 1.5), gap = trust_gap(s);
        mo_vec3 lo = {k % 2 ? s->lo.x + fmin(gap, 0) : s->lo.x + door, y, -2};
        mo_vec3 hi = {k % 2 ? s->hi.x - door : s->hi.x - fmin(gap, 0), y + thick, 4};
        trust_add_solid(s, trust_box(lo, hi));
        trust_take(s, (mo_box3){lo, hi});
    }
}

static inline mo_status trust_move(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)err;
    const trust_motion *m = user;
    pose->position = mo_mad(m->middle, 1 - cos(m->rate * t), m->way);
    pose->rotation = mo_quat_axis_angle(m->axis, m->angle * sin(m->rate * t));
    return MO_OK;
}

// A vessel that swings or rocks, closed or open at the top; contents start inside.
static inline void trust_add_tank(trust_scene *s)
{
    mo_vec3 size = s->hi, half = mo_mul(0.5, size), in = mo_mul(trust_between(s, 0.5, 0.7), size);
    double wall = trust_between(s, 1.2, 3) * s->dx;
    bool lid = trust_chance(s, 0.5);
    if (s->flat) half.z = 0, in.z = 4;
    mo_shape *outer = mo_shape_box(mo_add(in, mo_v3(2 * wall, 2 * wall, 2 * wall)));
    mo_vec3 hollow = mo_add(in, mo_v3(0, lid ? 0 : 2 * wall, 0));
    mo_shape *inner = trust_moved(mo_shape_box(hollow), mo_v3(0, lid ? 0 : wall, 0));
    mo_shape *vessel = mo_shape_difference(outer, inner);
    mo_shape_release(outer), mo_shape_release(inner);
    trust_motion *m = &s->motion;
    *m = (trust_motion){.middle = half, .axis = mo_v3(0, 0, 1), .rate = trust_between(s, 2, 12)};
    double room = 0.5 * (size.x - in.x) - wall;
    m->way = mo_v3(trust_between(s, 0.1, 0.5) * fmax(room, 0), 0, 0);
    if (trust_chance(s, 0.4)) m->angle = trust_between(s, 0.05, 0.4);
    mo_solid_def *o = trust_add_solid(s, vessel);
    o->motion = trust_move, o->user = m;
    s->lo = mo_sub(half, mo_mul(0.5, in)), s->hi = mo_add(half, mo_mul(0.5, in));
    if (s->flat) s->lo.z = s->hi.z = 0;
    trust_say(s, lid ? "shaken tank with a lid" : "shaken tank");
}

static inline void trust_add_body(trust_scene *s)
{
    double size = trust_between(s, 2.2, 5) * s->dx;
    mo_vec3 edge = mo_mul(size, trust_point(s, mo_v3(1, 0.6, 0.6), mo_v3(1, 1.4, 1.4)));
    int32_t kind = trust_below(s, 3);
    if (s->flat) edge.z = 4;
    mo_shape *shape = kind == 0   ? mo_shape_sphere(0.5 * size)
                      : kind == 1 ? mo_shape_capsule(0.4 * size, 1.3 * size)
                                  : mo_shape_box(edge);
    if (trust_chance(s, 0.5)) shape = trust_turned(shape, mo_v3(0, 0, 1), trust_between(s, 0, 90));
    mo_box3 b = mo_shape_bounds(shape);
    mo_vec3 half = {fmax(b.hi.x, -b.lo.x), fmax(b.hi.y, -b.lo.y), s->flat ? 0 : fmax(b.hi.z, -b.lo.z)};
    for (int32_t tries = 0; tries < 40; tries++) {
        mo_vec3 at = trust_point(s, mo_add(s->lo, half), mo_sub(s->hi, half));
        if (trust_chance(s, 0.3)) at.y = s->lo.y + half.y;
        mo_box3 box = {mo_sub(at, half), mo_add(at, half)};
        if (box.lo.x < s->lo.x || box.hi.x > s->hi.x || box.lo.y < s->lo.y || box.hi.y > s->hi.y) continue;
        if ((!s->flat && (box.lo.z < s->lo.z || box.hi.z > s->hi.z)) || !trust_free(s, &box)) continue;
        mo_solid_def *o = trust_add_solid(s, trust_moved(shape, at));
        trust_take(s, box);
        if (!o) return;
        o->rigid = true, o->density = trust_spread(s, 10, 1e5);
        if (trust_chance(s, 0.3)) o->velocity = trust_velocity(s, 0, 1);
        if (trust_chance(s, 0.3)) o->angular_velocity = mo_v3(0, 0, trust_between(s, -5, 5));
        return;
    }
    mo_shape_release(shape);
}

// ---- Liquids ----

static inline mo_shape *trust_liquid_shape(trust_scene *s, int32_t kind)
{
    mo_vec3 size = mo_sub(s->hi, s->lo), at = trust_point(s, s->lo, s->hi), far = mo_v3(9, 9, 9);
    mo_vec3 low = mo_sub(s->lo, far), high = mo_add(s->hi, far);
    bool tank = s->motion.rate > 0; // shapes may reach through walls, but not out of a vessel
    if (tank) low = mo_sub(s->lo, mo_v3(0.5 * s->dx, 0.5 * s->dx, 9)), high = mo_add(s->hi, mo_v3(0.5 * s->dx, 0, 9));
    if (kind == 0) // a pool
        return trust_box(low, mo_v3(high.x, s->lo.y + trust_between(s, 0.1, 0.7) * size.y, high.z));
    if (kind == 1) { // a column
        double width = trust_between(s, 0.15, 0.6) * size.x, height = trust_between(s, 0.2, 0.9) * size.y;
        return trust_box(low, mo_v3(s->lo.x + width, s->lo.y + height, high.z));
    }
    if (kind == 2) // a blob
        return trust_moved(mo_shape_sphere(trust_spread(s, 0.9, 6) * s->dx), at);
    if (kind == 3) { // a film on the floor or on a solid, 0.5 to 2 cells thick
        double floor = s->lo.y, thick = trust_between(s, 0.5, 2) * s->dx;
        if (s->taken_count && trust_chance(s, 0.5)) floor = s->taken[trust_below(s, s->taken_count)].hi.y;
        return trust_box(mo_v3(low.x, floor, low.z), mo_v3(high.x, floor + thick, high.z));
    }
    mo_vec3 edge = mo_mul(s->dx, trust_point(s, mo_v3(2, 1, 1), mo_v3(10, 6, 6))); // a box, any way
    if (s->flat) edge.z = 4;
    return trust_moved(trust_turned(mo_shape_box(edge), mo_v3(0, 0, 1), trust_between(s, 0, 90)), at);
}

static inline void trust_add_liquids(trust_scene *s, double viscosity, double tension)
{
    static const char *const word[] = {"pool", "column", "blob", "film", "box"};
    int32_t count = 1 + trust_below(s, 3);
    for (int32_t k = 0; k < count; k++) {
        int32_t kind = trust_below(s, 5);
        if (k + 1 == count && trust_chance(s, 0.5)) kind = 0;
        mo_liquid_def *l = &s->liquid[s->def.liquid_count++];
        *l = mo_liquid_def_default(), l->shape = trust_liquid_shape(s, kind);
        l->viscosity = viscosity, l->surface_tension = tension;
        if (trust_chance(s, 0.3)) l->velocity = trust_velocity(s, 0, 2);
        trust_say(s, word[kind]);
    }
}

static inline void trust_add_emitter(trust_scene *s, double viscosity, double tension)
{
    double radius = trust_between(s, 1.2, 2.5) * s->dx;
    mo_vec3 half = mo_v3(1.5 * radius, 1.5 * radius, s->flat ? 0 : 1.5 * radius);
    mo_vec3 at = trust_point(s, mo_add(s->lo, half), mo_sub(s->hi, half));
    mo_emitter_def *e = &s->emitter[s->def.emitter_count++];
    *e = mo_emitter_def_default();
    e->shape = trust_moved(mo_shape_sphere(radius), at);
    e->velocity = trust_velocity(s, 0.2, 2);
    e->viscosity = viscosity, e->surface_tension = tension;
    e->seconds = trust_between(s, 0.2, 1);
    trust_say(s, "emitter");
}

// ---- The scene ----

static inline void trust_settings(trust_scene *s)
{
    static const double courant[] = {3, 3, 3, 0.3, 0.5, 1, 2, 3.5};
    mo_domain_def *domain = &s->def.domain;
    s->flat = trust_chance(s, 0.5);
    int32_t cells = s->flat ? 12 + trust_below(s, 13) : 12 + trust_below(s, 9);
    s->dx = 1.0 / cells;
    double height = ceil(trust_between(s, 0.6, 1) * cells) / cells,
           depth = ceil(trust_between(s, 0.3, 0.8) * cells) / cells;
    domain->size = mo_v3(1, height, s->flat ? 0 : depth), domain->cells = cells;
    s->hi = domain->size;
    for (int w = 0; w < (s->flat ? 4 : 6); w++) {
        static const mo_wall kinds[] = {MO_WALL_SLIP, MO_WALL_SLIP, MO_WALL_SLIP, MO_WALL_NO_SLIP, MO_WALL_NO_SLIP};
        domain->walls[w] = trust_chance(s, 0.08) ? MO_WALL_OPEN : kinds[trust_below(s, 5)];
    }
    s->def.time.fps = 50, s->def.time.cfl = courant[trust_below(s, 8)];
    if (trust_chance(s, 0.15)) {
        double angle = trust_between(s, -0.6, 0.6);
        s->def.gravity = mo_v3(9.81 * sin(angle), -9.81 * cos(angle), 0);
        trust_say(s, "tilted gravity");
    }
}

// Liquids that chance put wholly into solids or other liquids are left out; the last one stays.
static inline void trust_drop_empty(trust_scene *s)
{
    int64_t particles, bytes;
    mo_error err;
    int empty = 0;
    while (s->def.liquid_count > 1 && mo_sim_estimate(&s->def, &particles, &bytes, &err) != MO_OK &&
           sscanf(err.text, "liquid %d:", &empty) == 1) {
        mo_shape_release(s->liquid[empty - 1].shape);
        for (int32_t i = empty; i < s->def.liquid_count; i++) s->liquid[i - 1] = s->liquid[i];
        s->def.liquid_count--;
    }
}

static inline void trust_create(trust_scene *s, uint32_t seed)
{
    *s = (trust_scene){.def = mo_sim_def_default(), .seed = seed};
    s->def.liquids = s->liquid, s->def.solids = s->solid, s->def.emitters = s->emitter, s->def.threads = 1;
    trust_settings(s);
    double viscosity = trust_chance(s, 0.3) ? 0 : trust_spread(s, 1e-3, 1e4);
    double tension = trust_chance(s, 0.15) ? trust_spread(s, 0.01, 1) : 0;
    int32_t kind = trust_below(s, 10);
    if (kind < 2) trust_add_tank(s);
    if (kind == 2) trust_add_maze(s);
    int32_t blocks = kind < 2 ? 0 : trust_below(s, 7), bodies = trust_chance(s, 0.5) ? trust_below(s, 5) : 0;
    for (int32_t k = 0; k < blocks; k++) trust_add_block(s);
    for (int32_t k = 0; k < bodies; k++) trust_add_body(s);
    if (kind >= 2 && trust_chance(s, 0.2)) trust_add_emitter(s, viscosity, tension);
    trust_add_liquids(s, viscosity, tension);
    trust_drop_empty(s);
    char text[200];
    snprintf(text, sizeof text, "%dD %d cells cfl %g eta %.2g%s%s, %d solids: %.60s", s->flat ? 2 : 3,
             s->def.domain.cells, s->def.time.cfl, viscosity, tension > 0 ? " tension" : "", bodies ? " bodies" : "",
             s->def.solid_count, s->about);
    memcpy(s->about, text, sizeof text);
}

static inline void trust_destroy(trust_scene *s)
{
    for (int32_t i = 0; i < s->def.liquid_count; i++) mo_shape_release(s->liquid[i].shape);
    for (int32_t i = 0; i < s->def.solid_count; i++) mo_shape_release(s->solid[i].shape);
    for (int32_t i = 0; i < s->def.emitter_count; i++) mo_shape_release(s->emitter[i].shape);
}

// ---- A run, and what is asked of it ----

typedef struct trust_limits {
    double speed;        // times what a fall allows, or what the gathered energy allows
    double energy_error; // largest
    double volume_error; // largest, either way; of small liquids see trust_surface_share
    double overlap;      // of solids, cells
} trust_limits;

typedef struct trust_result {
    bool refused, broken, cut; // not a scene; a step failed; the limit of CPU time was reached
    char error[200];
    int32_t steps, unconverged, fallbacks;
    double time, cpu;
    double fastest, fastest_at; // m/s, s: liquid or body, fastest for its bounds
    double allowed, gathered;   // its bounds, m/s, see trust_allowed, trust_gather
    double energy, energy_error, energy_at, volume_low, volume_high, overlap; // overlap in cells
    double volume_error;                                                      // what is judged
} trust_result;

static const double TRUST_FACTOR = 1.5; // how much faster than a fall allows liquid and bodies may be

enum { TRUST_SPEED = 1, TRUST_ENERGY = 2, TRUST_VOLUME = 4, TRUST_SOLVER = 8, TRUST_OVERLAP = 16, TRUST_BROKEN = 32 };

static inline bool trust_settled(mo_reason r) { return r == MO_REASON_CONVERGED || r == MO_REASON_NOTHING_TO_DO; }

// Whether a rigid body's centre of mass has left the domain: beyond an open wall it falls as long as the run lasts, and
// may become faster than a fall through the domain makes it.
static inline bool trust_left(const mo_sim_def *def, const mo_sim *sim, int32_t i)
{
    mo_body_state b;
    mo_sim_body(sim, i, &b);
    mo_vec3 x = b.pose.position, size = def->domain.size;
    bool inside =
        x.x >= 0 && x.x <= size.x && x.y >= 0 && x.y <= size.y && (size.z <= 0 || (x.z >= 0 && x.z <= size.z));
    return b.rigid && !inside;
}

// How far a shape reaches from its origin along a direction of length 1, at most `far`: marched inwards, as the
// distance is never more than the way to the shape.
static inline double trust_extent(const mo_shape *shape, mo_vec3 direction, double far)
{
    double at = far;
    for (int tries = 0; tries < 100 && at > 0; tries++) {
        double distance = mo_shape_distance(shape, mo_mul(at, direction));
        if (distance <= 1e-4 * far) return at;
        at -= distance;
    }
    return fmax(at, 0);
}

// The fastest point of a rigid body that turns, among those farthest from its centre of mass along many directions:
// towards the corners of its bounds, and evenly all round; in two dimensions in the plane. The corners of the bounds
// themselves are no points of a ball: they would be faster by half and more.
static inline double trust_turning_speed(const mo_body_state *b, mo_vec3 half, bool flat)
{
    enum { DIRECTIONS = 200 };
    double fastest = mo_norm(b->velocity), far = mo_norm(half);
    for (int k = 0; k < DIRECTIONS + 8 && far > 0; k++) {
        double z = flat ? 0 : 1 - (2 * k + 1) / (double)DIRECTIONS, angle = flat ? 2 * M_PI * k / DIRECTIONS : 2.4 * k;
        mo_vec3 d = {sqrt(1 - z * z) * cos(angle), sqrt(1 - z * z) * sin(angle), z};
        int c = k - DIRECTIONS;
        if (c >= 0)
            d = mo_mul(1 / far, mo_v3(c & 1 ? half.x : -half.x, c & 2 ? half.y : -half.y, c & 4 ? half.z : -half.z));
        mo_vec3 r = mo_quat_rotate(b->pose.rotation, mo_mul(trust_extent(b->shape, d, far), d));
        fastest = fmax(fastest, mo_norm(mo_add(b->velocity, mo_cross(b->angular_velocity, r))));
    }
    return fastest;
}

// Largest speed of a point of a solid, and whether it is prescribed; of prescribed ones a bound by the corners of its
// bounds. In two dimensions solids turn in the plane, and how far they reach across it is of no meaning.
static inline double trust_solid_speed(const mo_sim_def *def, const mo_sim *sim, int32_t i, bool *rigid)
{
    mo_body_state b;
    mo_sim_body(sim, i, &b);
    mo_box3 box = mo_shape_bounds(b.shape);
    bool flat = def->domain.size.z <= 0;
    mo_vec3 half = {fmax(box.hi.x, -box.lo.x), fmax(box.hi.y, -box.lo.y), flat ? 0 : fmax(box.hi.z, -box.lo.z)};
    double radius = mo_norm(half), turn = mo_norm(b.angular_velocity);
    *rigid = b.rigid;
    if (!(turn > 0 && isfinite(radius))) return mo_norm(b.velocity);
    return b.rigid ? trust_turning_speed(&b, half, flat) : mo_norm(b.velocity) + turn * radius;
}

static inline double trust_start_speed(const mo_sim_def *def, const mo_sim *sim, float *velocity)
{
    double square = 0, speed = 0;
    bool rigid;
    mo_sim_particles(sim, NULL, velocity, NULL);
    for (int64_t q = 0; q < mo_sim_particle_count(sim); q++) {
        const float *v = velocity + 3 * q;
        square = fmax(square, (double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    }
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) {
        double s = trust_solid_speed(def, sim, i, &rigid);
        if (rigid) speed = fmax(speed, s);
    }
    return fmax(speed, sqrt(square));
}

// How much more energy than by its own fall a ball lighter than what is round it gains, for what moves with it: rising
// by h it lets (1 - s) of the mass that it displaces sink by h, and sets in motion its own mass, s of that, and half of
// it of what is round it (the added mass of a ball): v^2/2 = g h (1 - s)/(s + 1/2). A disc has an added mass of 1, and
// is never faster than what falls.
static inline double trust_rise(const mo_sim_def *def, const mo_solid_def *solid)
{
    double around = def->air ? def->air->density : def->liquid_count ? def->liquids[0].density : 0;
    if (def->domain.size.z <= 0 || !(around > 0) || !solid->rigid || !(solid->density < around)) return 1;
    double s = solid->density / around;
    return fmax(1, (1 - s) / (s + 0.5));
}

// The speed of wind where it passes solids. In potential flow it is twice the wind beside a cylinder, which is what a
// solid in two dimensions is, and 3/2 of it beside a ball.
static inline double trust_wind(const mo_sim_def *d)
{
    double past = d->domain.size.z <= 0 ? 2 : 1.5;
    return (d->solid_count ? past : 1) * mo_norm(d->air->wind);
}

// What energy allows, m/s: free fall through the domain from the fastest start, capillary jets of the grid's size, and
// the fastest of prescribed motions, emitters, moving smoke and wind on top. rise: of a body, see trust_rise; else 1.
static inline double trust_allowed(const mo_sim_def *d, double start, double driven, double rise)
{
    mo_vec3 g = d->gravity, size = d->domain.size;
    double fall = fabs(g.x) * size.x + fabs(g.y) * size.y + fabs(g.z) * size.z, tension = 0;
    double dx = fmax(size.x, fmax(size.y, size.z)) / d->domain.cells, density = 1000;
    if (d->liquid_count) tension = d->liquids[0].surface_tension, density = d->liquids[0].density;
    for (int32_t i = 0; i < d->emitter_count; i++) driven = fmax(driven, mo_norm(d->emitters[i].velocity));
    for (int32_t i = 0; i < d->smoke_count; i++)
        if (d->smokes[i].moves) driven = fmax(driven, mo_norm(d->smokes[i].velocity));
    if (d->air) driven = fmax(driven, trust_wind(d));
    return sqrt(start * start + 2 * rise * fall + 4 * tension / (density * dx)) + driven;
}

// The speed of a mass that has gathered all of an energy: of its centre, or if it turns, of its fastest point, with a
// radius R and m R^2/I of 3 (boxes and rods; a ball has 5/2, a disc 2): v_c + w R is the most for w R = 3 v_c.
static inline double trust_gather(double energy, double mass, bool turns)
{
    return mass > 0 ? sqrt(2 * fmax(energy, 0) / mass * (turns ? 4 : 1)) : 0;
}

// The energy that may have become motion by now: what there was after the first step and was put in since, without what
// is still potential, elastic or in the surface. It does not contain the motion itself, which may be wrong.
static inline double trust_released(trust_result *r, const mo_stats *s)
{
    if (r->steps == 1) r->energy = s->energy - s->energy_work;
    return r->energy + s->energy_work - s->potential_energy - s->surface_energy - s->elastic_energy;
}

static inline bool trust_explained(double speed, double allowed, double gathered)
{
    return speed <= TRUST_FACTOR * allowed || speed <= gathered;
}

// Notes a speed if it is the fastest, compared with what a fall allows, or if nothing explains it.
static inline void trust_note_speed(trust_result *r, double speed, double time, double allowed, double gathered)
{
    bool explained = trust_explained(speed, allowed, gathered);
    bool known = trust_explained(r->fastest, r->allowed, r->gathered); // nothing noted yet: a speed of 0
    if (explained == known ? speed * r->allowed < r->fastest * allowed : explained) return;
    r->fastest = speed, r->fastest_at = time, r->allowed = allowed, r->gathered = gathered;
}

// A surface that lies a twentieth of a cell off its place is as good as the grid's. Of a ball (in the plane, of a disc)
// of n cells that makes a twentieth of its area in cells: more than a twentieth of its volume if the ball is less than
// 6 cells wide (4), as what is left when all has drained. Returns area / volume, at least 1.
static inline double trust_surface_share(double cells, bool flat)
{
    return cells > 0 ? fmax(1, flat ? 3.545 / sqrt(cells) : 4.836 / cbrt(cells)) : 1;
}

static inline void trust_note(trust_result *r, const mo_stats *s, double dx, bool flat)
{
    double share = trust_surface_share(s->volume_target / (dx * dx * dx), flat);
    r->volume_error = fmax(r->volume_error, fabs(s->volume_error) / share);
    r->steps++, r->time = s->time, r->cpu += s->cpu_seconds;
    r->unconverged += !trust_settled(s->reason), r->fallbacks += (int32_t)s->fallbacks;
    if (s->energy_error > r->energy_error) r->energy_error = s->energy_error, r->energy_at = s->time;
    r->volume_low = fmin(r->volume_low, s->volume_error), r->volume_high = fmax(r->volume_high, s->volume_error);
    r->overlap = fmax(r->overlap, s->max_penetration / dx);
}

// driven: the fastest prescribed motion so far, m/s.
static inline void trust_note_speeds(trust_result *r, const mo_sim_def *def, const mo_sim *sim, const mo_stats *s,
                                     double start, double *driven)
{
    double size = fmax(def->domain.size.x, fmax(def->domain.size.y, def->domain.size.z)),
           cell = pow(size / def->domain.cells, 3), energy = trust_released(r, s), speed;
    bool rigid;
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++)
        if (speed = trust_solid_speed(def, sim, i, &rigid), !rigid) *driven = fmax(*driven, speed);
    double density = def->air ? def->air->density : def->liquid_count ? def->liquids[0].density : 1000;
    trust_note_speed(r, s->max_speed, s->time, trust_allowed(def, start, *driven, 1),
                     trust_gather(energy, density * cell, false));
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) {
        mo_body_state b;
        mo_sim_body(sim, i, &b);
        speed = trust_solid_speed(def, sim, i, &rigid);
        if (rigid && !trust_left(def, sim, i))
            trust_note_speed(r, speed, s->time, trust_allowed(def, start, *driven, trust_rise(def, &def->solids[i])),
                             trust_gather(energy, b.mass, true));
    }
}

// Runs a definition for so many seconds; one that needs more CPU time than `limit` is cut. belts: the fastest surface
// of solids, m/s.
static inline void trust_run(const mo_sim_def *def, double seconds, double limit, double belts, trust_result *r)
{
    mo_error err = {0};
    mo_sim *sim = NULL;
    *r = (trust_result){0};
    if (mo_sim_create(def, &sim, &err) != MO_OK) {
        r->refused = true;
        snprintf(r->error, sizeof r->error, "%.199s", err.text);
        return;
    }
    float *velocity = malloc(sizeof(float) * 3 * ((size_t)mo_sim_particle_count(sim) + 1));
    double start = velocity ? trust_start_speed(def, sim, velocity) : 0, driven = belts;
    double dx = fmax(def->domain.size.x, fmax(def->domain.size.y, def->domain.size.z)) / def->domain.cells;
    free(velocity);
    while (mo_sim_time(sim) < seconds - 1e-9 && !r->cut) {
        mo_stats stats;
        if (mo_sim_step(sim, &stats, &err) != MO_OK) {
            r->broken = true;
            snprintf(r->error, sizeof r->error, "%.199s", err.text);
            break;
        }
        trust_note(r, &stats, dx, def->domain.size.z <= 0);
        trust_note_speeds(r, def, sim, &stats, start, &driven);
        r->cut = r->cpu > limit;
    }
    mo_sim_destroy(sim);
}

// Which limits it breaks, as a set of TRUST_...
static inline int trust_judge(const trust_result *r, const trust_limits *limits)
{
    if (r->refused) return 0;
    return (r->broken ? TRUST_BROKEN : 0) |
           (r->fastest <= fmax(limits->speed * r->allowed, r->gathered) ? 0 : TRUST_SPEED) |
           (r->energy_error <= limits->energy_error ? 0 : TRUST_ENERGY) |
           (r->volume_error <= limits->volume_error ? 0 : TRUST_VOLUME) | (r->unconverged ? TRUST_SOLVER : 0) |
           (r->overlap <= limits->overlap ? 0 : TRUST_OVERLAP);
}

static inline void trust_print(const char *name, const char *about, const trust_result *r, int failed)
{
    if (r->refused) {
        printf("%-26s refused: %s\n", name, r->error);
        return;
    }
    printf(
        "%-26s %-5s %4.2f s %4d steps  speed %7.2f of %5.2f (%.3g) at %4.2f  energy %8.2g at %4.2f  volume %+6.1f .. "
        "%+6.1f %%  "
        "overlap %4.2f  unconverged %d  fallbacks %d  cpu %5.1f %s%s%s%s%s%s%s%s%s%s  %s\n",
        name,
        r->broken ? "BROKE"
        : r->cut  ? "cut"
                  : "",
        r->time, r->steps, r->fastest, r->allowed, r->gathered, r->fastest_at, r->energy_error, r->energy_at,
        100 * r->volume_low, 100 * r->volume_high, r->overlap, r->unconverged, r->fallbacks, r->cpu,
        failed ? "FAILS:" : "ok", failed & TRUST_BROKEN ? " broke" : "", failed & TRUST_SPEED ? " speed" : "",
        failed & TRUST_ENERGY ? " energy" : "", failed & TRUST_VOLUME ? " volume" : "",
        failed & TRUST_SOLVER ? " unconverged" : "", failed & TRUST_OVERLAP ? " overlap" : "", about ? "  [" : "",
        about ? about : "", about ? "]" : "", r->error);
    fflush(stdout);
}

#endif
