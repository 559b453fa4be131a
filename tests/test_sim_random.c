// Fifty random scenes, a few steps each, every step solved again by route paper (solver.verify): inviscid, viscous and
// yielding liquids in two and three dimensions, drops and filaments, all kinds of walls and solids, emitters, light and
// heavy bodies that float, rest, lean and collide. The two solutions agree to ten times the tolerance, and the fast
// route gives up nowhere. Other seeds: test_sim_random FIRST LAST.
#include "sim_test.h"
#include "base/parallel.h"
#include <stdio.h>

enum { SCENES = 50, STEPS = 3, MOST = 8 };

typedef struct motion {
    mo_vec3 start, velocity, axis;
    double spin;
} motion;

typedef struct random_scene {
    mo_sim_def def;
    mo_liquid_def liquid[MOST];
    mo_solid_def solid[MOST];
    mo_emitter_def emitter[1];
    motion motion[MOST];
    mo_box3 taken[2 * MOST]; // by solids and emitters
    int32_t taken_count;
    char name[MOST][16];
    uint32_t seed, drawn;
    double dx, depth; // m; 0: two dimensions
} random_scene;

// ---- Chance ----

static double draw(random_scene *s) { return mo_unit(mo_hash(s->seed, s->drawn++, 7)); }
static double between(random_scene *s, double lo, double hi) { return lo + (hi - lo) * draw(s); }
static double spread(random_scene *s, double lo, double hi) { return lo * pow(hi / lo, draw(s)); } // by its logarithm
static bool chance(random_scene *s, double probability) { return draw(s) < probability; }
static int32_t below(random_scene *s, int32_t n) { return (int32_t)(n * draw(s)); }

// Draws are statements of their own: the order of arguments is the compiler's.
static mo_vec3 draw_in(random_scene *s, mo_vec3 lo, mo_vec3 hi)
{
    mo_vec3 v;
    v.x = between(s, lo.x, hi.x);
    v.y = between(s, lo.y, hi.y);
    v.z = between(s, lo.z, hi.z);
    return v;
}

static mo_vec3 direction(random_scene *s)
{
    mo_vec3 v = draw_in(s, mo_v3(-1, -1, -1), mo_v3(1, 1, 1));
    if (s->depth == 0) v.z = 0;
    double length = mo_norm(v);
    return length > 0 ? mo_mul(1 / length, v) : mo_v3(1, 0, 0);
}

static mo_vec3 random_velocity(random_scene *s, double least, double most)
{
    double speed = between(s, least, most);
    return mo_mul(speed, direction(s));
}

static mo_vec3 random_axis(random_scene *s)
{
    mo_vec3 axis = direction(s);
    return s->depth == 0 ? mo_v3(0, 0, 1) : axis;
}

// ---- Shapes ----

static mo_shape *placed(mo_shape *shape, mo_vec3 at)
{
    mo_shape *moved = mo_shape_move(shape, at);
    mo_shape_release(shape);
    return moved;
}

static mo_shape *turned(mo_shape *shape, mo_vec3 axis, double degrees)
{
    mo_shape *t = mo_shape_rotate(shape, axis, degrees);
    mo_shape_release(shape);
    return t;
}

// Half the extent of what `shape` occupies, centred.
static mo_vec3 half_extent(const mo_shape *shape)
{
    mo_box3 b = mo_shape_bounds(shape);
    return mo_v3(fmax(b.hi.x, -b.lo.x), fmax(b.hi.y, -b.lo.y), fmax(b.hi.z, -b.lo.z));
}

static mo_shape *random_solid(random_scene *s)
{
    double size = between(s, 2.2, 4.5) * s->dx;
    mo_vec3 edges = mo_mul(size, draw_in(s, mo_v3(1, 0.6, 0.6), mo_v3(1, 1.4, 1.4)));
    int32_t kind = below(s, 4);
    mo_shape *shape = kind == 0   ? mo_shape_sphere(0.5 * size)
                      : kind == 1 ? mo_shape_capsule(0.5 * size, 1.5 * size)
                                  : mo_shape_box(edges);
    if (chance(s, 0.5)) return shape;
    mo_vec3 axis = random_axis(s);
    return turned(shape, axis, between(s, 0, 90));
}

static bool apart(const random_scene *s, const mo_box3 *a, const mo_box3 *b)
{
    return a->hi.x <= b->lo.x || b->hi.x <= a->lo.x || a->hi.y <= b->lo.y || b->hi.y <= a->lo.y ||
           (s->depth > 0 && (a->hi.z <= b->lo.z || b->hi.z <= a->lo.z));
}

static bool is_free(const random_scene *s, const mo_box3 *box)
{
    bool free = true;
    for (int32_t k = 0; k < s->taken_count; k++) free &= apart(s, box, &s->taken[k]);
    return free;
}

// A free place for a solid: anywhere, on the floor or on top of an earlier one, there as deep as contacts let it be or
// a little deeper. False: no room.
static bool find_place(random_scene *s, mo_vec3 half, mo_vec3 *at)
{
    double deep = s->depth > 0 ? s->depth : 2 * half.z;
    for (int32_t tries = 0; tries < 40; tries++) {
        *at = draw_in(s, half, mo_sub(mo_v3(1, 0.9, deep), half));
        int32_t way = below(s, 3);
        if (way == 1) at->y = half.y;
        if (way == 2 && s->taken_count) {
            const mo_box3 *under = &s->taken[below(s, s->taken_count)];
            mo_vec3 above = draw_in(s, under->lo, under->hi);
            *at = mo_v3(fmin(fmax(above.x, half.x), 1 - half.x), under->hi.y + half.y,
                        fmin(fmax(above.z, half.z), deep - half.z));
        }
        if (s->depth == 0) at->z = 0;
        mo_box3 box = {mo_sub(*at, half), mo_add(*at, half)};
        if (box.hi.y > 1 || 2 * half.z > deep || !is_free(s, &box)) continue;
        s->taken[s->taken_count++] = box;
        if (way) at->y -= between(s, 0.09, 0.15) * s->dx;
        return true;
    }
    return false;
}

// ---- Contents ----

static mo_status move(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)err;
    const motion *m = user;
    pose->position = mo_mad(m->start, t, m->velocity);
    pose->rotation = mo_quat_axis_angle(m->axis, m->spin * t);
    return MO_OK;
}

static void add_solids(random_scene *s, int32_t fixed, int32_t moving, int32_t rigid)
{
    for (int32_t k = 0; k < fixed + moving + rigid; k++) {
        mo_vec3 at;
        mo_shape *shape = random_solid(s);
        if (!find_place(s, half_extent(shape), &at)) {
            mo_shape_release(shape);
            continue;
        }
        int32_t n = s->def.solid_count++;
        mo_solid_def *o = &s->solid[n];
        *o = mo_solid_def_default();
        snprintf(s->name[n], sizeof s->name[n], "solid %d", n);
        o->name = s->name[n];
        o->friction = chance(s, 0.3) ? 0 : between(s, 0.05, 0.8);
        o->restitution = chance(s, 0.2) ? 0.5 : 0;
        o->wall = chance(s, 0.3) ? MO_WALL_SLIP : MO_WALL_NO_SLIP;
        bool moves = k >= fixed && k < fixed + moving;
        o->shape = moves ? shape : placed(shape, at);
        mo_vec3 velocity = random_velocity(s, 0, 1), axis = random_axis(s);
        double spin = between(s, -4, 4);
        if (moves) {
            s->motion[n] = (motion){at, velocity, axis, spin};
            o->motion = move, o->user = &s->motion[n];
        } else if (k >= fixed) {
            o->rigid = true, o->density = 1000 * spread(s, 0.05, 20);
            o->velocity = velocity, o->angular_velocity = mo_mul(spin, axis);
        } else if (chance(s, 0.2))
            o->surface_velocity = velocity;
    }
}

static mo_rheology random_rheology(random_scene *s)
{
    mo_rheology r = {.threshold = 0.05};
    r.consistency = spread(s, 0.1, 1000);
    r.flow_index = between(s, 0.4, 1.4);
    if (chance(s, 0.6)) r.yield_stress = spread(s, 1, 300);
    return r;
}

static void add_liquid(random_scene *s, mo_shape *shape, double viscosity, bool yields)
{
    mo_liquid_def *l = &s->liquid[s->def.liquid_count++];
    *l = mo_liquid_def_default(), l->shape = shape;
    l->velocity = random_velocity(s, 0, 1);
    l->viscosity = chance(s, 0.3) ? fmin(viscosity * spread(s, 1e-2, 1e2), 1e5) : viscosity;
    if (yields) l->viscosity = 0, l->rheology = random_rheology(s);
}

// A middle for a piece of liquid that lies outside solids.
static mo_vec3 find_middle(random_scene *s)
{
    mo_vec3 at, half = mo_v3(s->dx, s->dx, s->dx);
    for (int32_t tries = 0; tries < 40; tries++) {
        at = draw_in(s, mo_v3(0.1, 0.1, 0.1 * s->depth), mo_v3(0.9, 0.9, 0.9 * s->depth));
        if (s->depth == 0) at.z = 0.5 * s->dx;
        mo_box3 box = {mo_sub(at, half), mo_add(at, half)};
        if (is_free(s, &box)) break;
    }
    return at;
}

// What lies in an earlier liquid does not count: the small ones come first.
static void add_liquids(random_scene *s, double viscosity, bool yields)
{
    for (int32_t k = below(s, 3); k > 0; k--) { // drops of one to seven cells
        mo_shape *drop = mo_shape_sphere(between(s, 0.8, 3.5) * s->dx);
        add_liquid(s, placed(drop, find_middle(s)), viscosity, yields);
    }
    if (chance(s, 0.4)) { // a filament or sheet
        mo_shape *sheet = mo_shape_box(mo_mul(s->dx, draw_in(s, mo_v3(5, 1, 1), mo_v3(12, 3, 6))));
        sheet = turned(sheet, mo_v3(0, 0, 1), between(s, 0, 90));
        add_liquid(s, placed(sheet, find_middle(s)), viscosity, yields);
    }
    if (chance(s, 0.85) || s->def.liquid_count == 0) { // a pool or column
        double x = chance(s, 0.5) ? 2 : between(s, 0.3, 0.8), y = between(s, 0.15, 0.7);
        add_liquid(s, box_between(-1, -1, -1, x, y, 2), viscosity, yields);
    }
}

static void add_emitter(random_scene *s, double viscosity, bool yields)
{
    double radius = between(s, 1.2, 2) * s->dx;
    mo_vec3 at, half = mo_v3(radius + s->dx, radius + s->dx, radius + s->dx);
    if (!find_place(s, half, &at)) return;
    mo_emitter_def *e = &s->emitter[s->def.emitter_count++];
    *e = mo_emitter_def_default(), e->shape = placed(mo_shape_sphere(radius), at);
    e->velocity = random_velocity(s, 0.3, 1.5);
    e->viscosity = viscosity;
    if (yields) e->viscosity = 0, e->rheology = random_rheology(s);
}

static void create(random_scene *s, uint32_t seed)
{
    *s = (random_scene){.def = mo_sim_def_default(), .seed = seed};
    bool flat = chance(s, 0.4), viscous = chance(s, 0.65), yields = viscous && chance(s, 0.2);
    int32_t cells = flat ? 12 + below(s, 9) : 10 + below(s, 9);
    s->dx = 1.0 / cells, s->depth = flat ? 0 : ceil(between(s, 0.4, 1) * cells) / cells;
    s->def.domain.size = mo_v3(1, 1, s->depth), s->def.domain.cells = cells;
    s->def.liquids = s->liquid, s->def.solids = s->solid, s->def.emitters = s->emitter;
    s->def.threads = 1, s->def.solver.verify = true;
    s->def.time.fps = 50, s->def.time.max_step = spread(s, 0.002, 0.02);
    for (int w = 0; w < (flat ? 4 : 6); w++) {
        static const mo_wall kinds[] = {MO_WALL_SLIP, MO_WALL_SLIP, MO_WALL_NO_SLIP, MO_WALL_OPEN};
        s->def.domain.walls[w] = kinds[below(s, 4)];
    }
    double viscosity = viscous ? spread(s, 1e-2, 1e5) : 0;
    if (chance(s, 0.3)) add_emitter(s, viscosity, yields);
    int32_t fixed = below(s, 3), moving = below(s, 2), rigid = below(s, 5);
    add_solids(s, fixed, moving, rigid);
    add_liquids(s, viscosity, yields);
}

static void destroy(random_scene *s)
{
    for (int32_t i = 0; i < s->def.liquid_count; i++) mo_shape_release(s->liquid[i].shape);
    for (int32_t i = 0; i < s->def.solid_count; i++) mo_shape_release(s->solid[i].shape);
    for (int32_t i = 0; i < s->def.emitter_count; i++) mo_shape_release(s->emitter[i].shape);
}

// ---- The test ----

typedef struct tally {
    double velocity, pressure, contact; // largest differences
    int32_t steps, viscous, contacts, forces, fast, fallbacks, failed, refused;
    int64_t iterations[2]; // of the route, of the papers'
} tally;

static bool settled(mo_reason reason) { return reason == MO_REASON_CONVERGED || reason == MO_REASON_NOTHING_TO_DO; }

static void describe(const random_scene *s, const mo_stats *t)
{
    print_error(
        "seed %u step %d: %dD, %d cells, %s, route %s, dofs %d %d %d, pieces %d, enclosed %d, rounds %d, %s after "
        "%d iterations, fallbacks %d; paper %s after %d; velocity %.1e pressure %.1e contact %.1e\n",
        s->seed, (int)t->step, s->depth > 0 ? 3 : 2, s->def.domain.cells, t->scheme, t->route, (int)t->pressures,
        (int)t->stresses, (int)t->contacts, (int)t->pieces, (int)t->enclosed, t->rounds, mo_reason_name(t->reason),
        t->iterations, (int)t->fallbacks, mo_reason_name(t->verify.reason), t->verify.iterations, t->verify.velocity,
        t->verify.pressure, t->verify.contact);
}

static void count(const random_scene *s, const mo_stats *stats, tally *t)
{
    const mo_verify_stats *v = &stats->verify;
    bool good = v->velocity <= 10 * s->def.solver.tolerance && settled(v->reason) && settled(stats->reason) &&
                stats->fallbacks == 0;
    if (!good) describe(s, stats);
    t->failed += !good;
    t->velocity = fmax(t->velocity, v->velocity);
    t->pressure = fmax(t->pressure, v->pressure), t->contact = fmax(t->contact, v->contact);
    t->steps++, t->viscous += stats->stresses > 0, t->contacts += stats->contacts > 0, t->forces += v->contact > 0;
    t->fast += strcmp(stats->route, "fast") == 0, t->fallbacks += (int32_t)stats->fallbacks;
    t->iterations[0] += stats->iterations, t->iterations[1] += v->iterations;
}

static void routes_agree(void **state)
{
    const uint32_t *range = *state;
    tally t = {0};
    for (uint32_t seed = range[0]; seed <= range[1]; seed++) {
        random_scene s;
        create(&s, seed);
        mo_sim *sim = NULL;
        mo_error err = {0};
        if (mo_sim_create(&s.def, &sim, &err) != MO_OK) print_error("seed %u: %s\n", seed, err.text), t.refused++;
        for (int32_t step = 0; sim && step < STEPS; step++) {
            mo_stats stats = sim_step(sim);
            count(&s, &stats, &t);
        }
        mo_sim_destroy(sim);
        destroy(&s);
    }
    print_message(
        "%d steps, %d viscous, %d with contacts, %d with forces there, %d by route fast; fallbacks %d; largest "
        "difference of velocities %.1e, pressures %.1e, contact forces %.1e; iterations %lld, of paper %lld\n",
        t.steps, t.viscous, t.contacts, t.forces, t.fast, t.fallbacks, t.velocity, t.pressure, t.contact,
        (long long)t.iterations[0], (long long)t.iterations[1]);
    assert_int_equal(t.failed, 0);
    if (range[0] == 1 && range[1] == SCENES)
        assert_true(t.refused == 0 && t.viscous > 50 && t.steps - t.viscous > 30 && t.contacts > 50 && t.forces > 20 &&
                    t.fast > 50);
}

int main(int argc, char **argv)
{
    uint32_t range[2] = {1, SCENES};
    for (int k = 0; k < 2 && argc == 3; k++) range[k] = (uint32_t)atoi(argv[1 + k]);
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(routes_agree, range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
