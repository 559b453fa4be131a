// Random scenes with elastic bodies: dry, in inviscid and in viscous liquid, with rigid bodies, ledges, pins and
// scripts. Nothing breaks, energy does not grow, liquid is kept, and both routes agree. `build/test_sim_elastic_random
// 20 200` tries other seeds and prints a line for each.
#include "elastic_test.h"
#include "base/parallel.h"
#include <stdio.h>

enum { STEPS = 40, VERIFIED = 6 };

typedef struct dice {
    uint32_t seed, count;
} dice;

static double uniform(dice *d, double lo, double hi)
{
    return lo + (hi - lo) * mo_unit(mo_hash(d->seed, d->count++, 771));
}
static bool chance(dice *d, double p) { return uniform(d, 0, 1) < p; }

static mo_shape *turned(mo_shape *shape, dice *d, mo_vec3 at)
{
    mo_shape *turn = mo_shape_rotate(shape, mo_v3(0, 0, 1), uniform(d, 0, 90)), *moved = mo_shape_move(turn, at);
    mo_shape_release(shape), mo_shape_release(turn);
    return moved;
}

static mo_shape *some_shape(dice *d, bool flat, double size)
{
    switch ((int)uniform(d, 0, 2.999)) {
    case 0: return mo_shape_sphere(size);
    case 1: return mo_shape_box(mo_v3(2 * size, size * uniform(d, 0.7, 1.5), flat ? 4 : 1.3 * size));
    default: return flat ? mo_shape_cone(1.2 * size, 2 * size) : mo_shape_cylinder(0.8 * size, 1.6 * size);
    }
}

static mo_status sway(void *user, double t, mo_pose *pose, mo_error *err)
{
    const double *p = user;
    (void)err;
    *pose = mo_pose_identity();
    pose->position = mo_v3(p[0] * sin(p[1] * t), p[2] * sin(p[1] * t), 0);
    return MO_OK;
}

// Stiff enough to bear its own weight.
static void add_elastic(world *w, dice *d, bool flat, mo_vec3 at, double script[3])
{
    double size = uniform(d, 0.1, 0.17);
    mo_elastic_def *e = world_elastic(w, w->s.def.elastic_count ? "b" : "a", turned(some_shape(d, flat, size), d, at));
    e->density = pow(10, uniform(d, 2, 3.5));
    e->young = 20 * e->density * 9.81 * size * pow(10, uniform(d, 0, 5));
    e->poisson = chance(d, 0.2) ? 0.499 : uniform(d, 0, 0.49);
    e->viscosity = chance(d, 0.3) ? uniform(d, 0, 30) : 0, e->drag = chance(d, 0.2) ? uniform(d, 0, 3) : 0;
    e->velocity = mo_v3(uniform(d, -2, 2), uniform(d, -2, 2), 0);
    e->angular_velocity.z = chance(d, 0.3) ? uniform(d, -20, 20) : 0;
    e->friction = uniform(d, 0, 1), e->self_contact = chance(d, 0.3);
    if (w->pin[0].where || chance(d, 0.7)) return;
    w->pin[0].where = box_between(at.x - 2 * size, 0, -2, at.x - 0.3 * size, 1, 2);
    e->pins = w->pin, e->pin_count = 1;
    if (chance(d, 0.5)) return;
    script[0] = uniform(d, 0, 0.1), script[1] = uniform(d, 1, 10), script[2] = uniform(d, 0, 0.1);
    w->pin[0].motion = sway, w->pin[0].user = script;
}

static void random_world(world *w, uint32_t seed, double script[3])
{
    dice d = {seed, 0};
    bool flat = chance(&d, 0.8), two = chance(&d, 0.5);
    world_start(w, (int32_t)(flat ? uniform(&d, 16, 26) : uniform(&d, 9, 12)), flat ? 0 : 1);
    int liquid = (int)uniform(&d, 0, 2.999);
    if (liquid) {
        mo_liquid_def *l = scene_liquid(&w->s, box_between(-1, -1, -1, chance(&d, 0.5) ? 2 : 0.5, 0.45, 2));
        l->viscosity = liquid == 2 ? pow(10, uniform(&d, -1, 3)) : 0;
    }
    for (int k = 0; k <= two; k++)
        add_elastic(w, &d, flat,
                    mo_v3(k     ? 0.74
                          : two ? 0.26
                                : 0.5,
                          uniform(&d, 0.3, 0.6), flat ? 0 : uniform(&d, 0.4, 0.6)),
                    script);
    if (chance(&d, 0.4)) {
        mo_shape *box = mo_shape_box(mo_v3(0.2, 0.1, flat ? 4 : 0.2));
        mo_solid_def *o = scene_solid(&w->s, "r", mo_shape_move(box, mo_v3(0.5, 0.9, flat ? 0 : 0.5)), NULL);
        o->rigid = true, o->density = pow(10, uniform(&d, 2, 3.5));
        mo_shape_release(box);
    }
    if (chance(&d, 0.3)) scene_solid(&w->s, "ledge", box_between(0.4, -1, -1, 0.6, 0.1, 2), NULL);
    w->s.def.solver.verify = seed <= VERIFIED;
}

typedef struct outcome {
    double energy, volume, least, overlap, velocity;
    int32_t steps, unsolved, fallbacks;
    mo_error err;
} outcome;

static outcome run(uint32_t seed)
{
    world w;
    double script[3];
    mo_stats s;
    mo_sim *sim = NULL;
    outcome o = {.least = 1};
    random_world(&w, seed, script);
    mo_status status = mo_sim_create(&w.s.def, &sim, &o.err);
    int32_t steps = w.s.def.solver.verify ? STEPS / 4 : STEPS;
    while (status == MO_OK && o.steps < steps && (status = mo_sim_step(sim, &s, &o.err)) == MO_OK) {
        o.steps++;
        o.energy = fmax(o.energy, s.energy_error), o.volume = fmax(o.volume, fabs(s.volume_error));
        o.least = fmin(o.least, s.least_volume), o.overlap = fmax(o.overlap, s.max_penetration / sim->grid->dx);
        o.velocity = fmax(o.velocity, s.verify.velocity), o.fallbacks += (int32_t)s.fallbacks;
        o.unsolved += s.reason == MO_REASON_STALLED || s.reason == MO_REASON_MAX_ITERATIONS;
    }
    mo_sim_destroy(sim);
    world_end(&w);
    return o;
}

static void scenes_behave(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        outcome o = run(seed);
        if (o.err.text[0]) fail_msg("seed %u: %s", seed, o.err.text);
        if (!(o.energy < 0.01 && o.volume < 0.05 && o.overlap < 0.5 && o.velocity < 1e-4 && !o.unsolved))
            fail_msg("seed %u: energy +%.3g, volume %.3g, overlap %.3g cells, routes %.3g, unsolved %d", seed, o.energy,
                     o.volume, o.overlap, o.velocity, o.unsolved);
    }
}

int main(int argc, char **argv)
{
    for (int seed = argc == 3 ? atoi(argv[1]) : 0, end = argc == 3 ? atoi(argv[2]) : 0; seed < end; seed++) {
        outcome o = run((uint32_t)seed);
        printf("%d: %d steps, energy %+.2e, volume %.2e, det F %.3f, overlap %.2f, unsolved %d, fallbacks %d %s\n",
               seed, o.steps, o.energy, o.volume, o.least, o.overlap, o.unsolved, o.fallbacks, o.err.text);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_behave)};
    return argc == 3 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
