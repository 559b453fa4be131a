// Rigid bodies without liquid: towers, houses of cards and pyramids stand; sliding, rolling and bouncing against
// formulas; momentum exchanged exactly; a heap of bodies comes to rest.
//
// Lengths in cells are those of the domain's grid, which sets the margin of contacts (0.1 cells) and their sampling.
#include "validate.h"
#include "plot.h"
#include "sim/sim.h"
#include "stacks.h"

typedef struct extent {              // how far bodies are from where they began
    double drift, fall, tilt, speed; // horizontally, vertically, m; degrees; m/s
} extent;

static extent measure(const mo_sim *sim, const mo_body_state *start)
{
    extent e = {0};
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) {
        mo_body_state b;
        mo_sim_body(sim, i, &b);
        mo_vec3 d = mo_sub(b.pose.position, start[i].pose.position);
        mo_quat turn = mo_quat_mul(b.pose.rotation, mo_quat_conj(start[i].pose.rotation));
        e.drift = fmax(e.drift, hypot(d.x, d.z)), e.fall = fmax(e.fall, fabs(d.y));
        e.tilt = fmax(e.tilt, 2 * atan2(sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z), fabs(turn.w)));
        e.speed = fmax(e.speed, mo_norm(b.velocity));
    }
    e.tilt *= 180 / M_PI;
    return e;
}

static void remember(const mo_sim *sim, mo_body_state *out)
{
    for (int32_t i = 0; i < mo_sim_solid_count(sim); i++) mo_sim_body(sim, i, &out[i]);
}

typedef struct cost {
    int64_t steps, iterations, rounds;
    double penetration;
} cost;

static void run_to(mo_sim *sim, double time, cost *c)
{
    while (mo_sim_time(sim) < time - 1e-9) {
        mo_stats s = step_sim(sim);
        c->steps++, c->iterations += s.iterations, c->rounds += s.rounds;
        c->penetration = fmax(c->penetration, s.max_penetration);
    }
}

// ---- Stacks ----

typedef void (*builder)(dry *d);

static extent stand(builder build, int32_t rounds, double seconds, extent *creep, cost *c)
{
    static dry d;
    static mo_body_state start[MOST_BODIES], half[MOST_BODIES];
    build(&d);
    d.def.solver.rounds = rounds;
    mo_sim *sim = create_sim(&d.def);
    *c = (cost){0};
    remember(sim, start);
    run_to(sim, 0.5 * seconds, c);
    remember(sim, half);
    run_to(sim, seconds, c);
    extent all = measure(sim, start);
    *creep = measure(sim, half);
    mo_sim_destroy(sim);
    dry_end(&d);
    return all;
}

static void stack(validation *v, const char *name, builder build, double dx)
{
    extent creep;
    cost c;
    double seconds = v->quick ? 2 : 10;
    extent e = stand(build, 2, seconds, &creep, &c);
    at_most(v, e.drift / dx, 0.1, "%s, %g s: drift of a body, cells; exact 0", name, seconds);
    at_most(v, e.fall / dx, 0.1, "%s: height lost, cells; exact 0", name);
    at_most(v, e.tilt, 0.1, "%s: tilt, degrees; exact 0", name);
    at_most(v, fmax(creep.drift, creep.fall) / dx, 1e-3, "%s: creep in the second half, cells; exact 0", name);
    at_most(v, c.penetration / dx, 0.12, "%s: deepest overlap, cells; the margin is 0.1", name);
    figure((double)c.iterations / (double)c.steps, "%s: iterations of a step", name);
    figure((double)c.rounds / (double)c.steps, "%s: rounds of a step", name);
}

static void rounds(validation *v)
{
    double seconds = v->quick ? 1 : 3;
    for (int32_t r = 1; r <= 8; r *= 2) {
        extent creep;
        cost c;
        extent e = stand(build_cards, r, seconds, &creep, &c);
        at_most(v, e.drift / CARDS_DX, 0.1, "house of cards, at most %d rounds: drift in %g s, cells; exact 0", r,
                seconds);
        figure((double)c.rounds / (double)c.steps, "  rounds of a step");
        figure((double)c.iterations / (double)c.steps, "  iterations of a step");
    }
}

// ---- Formulas ----

static const double g = 9.81;

typedef struct slope {
    double angle, heading; // rad: its steepness; its direction about the vertical
    mo_vec3 along, up, top;
} slope;

static slope make_slope(double degrees, double heading)
{
    slope s = {.angle = degrees * M_PI / 180, .heading = heading * M_PI / 180, .top = {0.5, 0.5, 0.5}};
    double c = cos(s.angle), n = sin(s.angle), x = cos(s.heading), z = -sin(s.heading);
    s.along = mo_v3(-c * x, -n, -c * z), s.up = mo_v3(-n * x, c, -n * z);
    return s;
}

// A body on a slope without walls: it starts in the margin, at rest.
static mo_sim *on_slope(dry *d, const slope *s, mo_shape *shape, double height, double friction)
{
    double dx = 1.0 / 32;
    dry_start(d, mo_v3(1, 1, 1), 32);
    d->def.domain.contact = false, d->def.time.max_step = 0.005;
    dry_fixed(d, mo_shape_plane(s->up, mo_dot(s->up, s->top)))->friction = friction;
    mo_shape *tilted = mo_shape_rotate(shape, mo_v3(0, 0, 1), s->angle * 180 / M_PI);
    mo_shape *turned = mo_shape_rotate(tilted, mo_v3(0, 1, 0), s->heading * 180 / M_PI);
    mo_shape_release(shape), mo_shape_release(tilted);
    dry_place(d, turned, mo_mad(s->top, height - 0.1 * dx, s->up))->friction = friction;
    return create_sim(&d->def);
}

// Acceleration down the slope between 0.1 and 0.5 s; *moved: the way in 5 s, of those that stick.
static double slide(const slope *s, double friction, double *moved)
{
    static dry d;
    mo_body_state a, b;
    cost c = {0};
    mo_sim *sim = on_slope(&d, s, mo_shape_box(mo_v3(0.2, 0.1, 0.2)), 0.05, friction);
    run_to(sim, 0.1, &c);
    mo_sim_body(sim, 1, &a);
    run_to(sim, 0.5, &c);
    mo_sim_body(sim, 1, &b);
    double acceleration = mo_dot(mo_sub(b.velocity, a.velocity), s->along) / 0.4;
    if (moved) {
        run_to(sim, 5, &c);
        mo_sim_body(sim, 1, &b);
        *moved = mo_norm(mo_sub(b.pose.position, a.pose.position));
    }
    mo_sim_destroy(sim);
    dry_end(&d);
    return acceleration;
}

static void incline(validation *v)
{
    const double sticks[] = {0.368, 0.6}, slides[] = {0, 0.1, 0.2, 0.3, 0.36}; // tan 20 degrees = 0.36397
    const double headings[] = {0, 45, 20};
    for (int h = 0; h < 3; h++) {
        slope s = make_slope(20, headings[h]);
        for (int k = 0; k < 5; k++) {
            double exact = g * (sin(s.angle) - slides[k] * cos(s.angle)), a = slide(&s, slides[k], NULL);
            at_most(v, fabs(a - exact), 1e-4 * g * sin(s.angle),
                    "block, 20 deg slope heading %g, mu %.3g: %.4f m/s^2, exact %.4f", headings[h], slides[k], a,
                    exact);
        }
        for (int k = 0; k < 2; k++) {
            double moved, a = slide(&s, sticks[k], &moved);
            at_most(v, fabs(a), 1e-4, "block, 20 deg slope heading %g, mu %.3g: sticks; acceleration, exact 0",
                    headings[h], sticks[k]);
            at_most(v, moved * 32, 1e-3, "  moves in 5 s, cells; exact 0");
        }
    }
}

// Bodies touch midway in the margin, so a ball's lever is short by half of it: r - 0.05 cells, here 1.6%. The formulas
// must hold to rounding errors of the steps with that lever, and to what it makes without.
static void roll(validation *v)
{
    static dry d;
    const double radius = 0.1, dx = 1.0 / 32, lever = radius - 0.05 * dx, off = 0.05 * dx / radius;
    const double inertia = 0.4 * radius * radius / (lever * lever); // over m lever^2
    const double friction[] = {0.5, 0.15, 0.05};                    // rolls from 2/7 tan 30 = 0.165 on
    slope s = make_slope(30, 0);
    for (int k = 0; k < 3; k++) {
        mo_body_state a, b;
        cost c = {0};
        double mu = friction[k], push = g * sin(s.angle), rub = mu * g * cos(s.angle);
        bool rolls = mu > 2.0 / 7 * tan(s.angle);
        mo_sim *sim = on_slope(&d, &s, mo_shape_sphere(radius), radius, mu);
        run_to(sim, 0.1, &c);
        mo_sim_body(sim, 1, &a);
        run_to(sim, 0.5, &c);
        mo_sim_body(sim, 1, &b);
        double measured = mo_dot(mo_sub(b.velocity, a.velocity), s.along) / 0.4;
        double spin = mo_norm(mo_sub(b.angular_velocity, a.angular_velocity)) / 0.4;
        double exact = rolls ? push / 1.4 : push - rub, turn = rolls ? push / 1.4 / radius : 2.5 * rub / radius;
        double ours = rolls ? push / (1 + inertia) : push - rub;
        double our_turn = rolls ? ours / lever : 2.5 * rub * lever / (radius * radius);
        const char *how = rolls ? "rolls" : "slips";
        at_most(v, fabs(measured / exact - 1), off, "ball %s, 30 deg, mu %.2f: %.4f m/s^2, exact %.4f; error", how, mu,
                measured, exact);
        at_most(v, fabs(spin / turn - 1), 1.01 * off, "  spins up by %.3f 1/s^2, exact %.3f; error", spin, turn);
        at_most(v, fmax(fabs(measured / ours - 1), fabs(spin / our_turn - 1)), 1e-4,
                "  against %.4f and %.3f, which the lever makes; error", ours, our_turn);
        mo_sim_destroy(sim);
        dry_end(&d);
    }
    // A ball thrown along a floor: slides until 2 v / (7 mu g), then rolls at 5/7 v.
    dry_start(&d, mo_v3(2, 0.5, 0.5), 64);
    d.def.time.max_step = 0.005, d.def.domain.friction = 0.2;
    mo_solid_def *ball = dry_rigid(&d, mo_shape_sphere(radius), 0, mo_v3(0.2, radius - 0.1 * dx, 0.25));
    ball->velocity = mo_v3(1.4, 0, 0), ball->friction = 0.2;
    mo_sim *sim = create_sim(&d.def);
    mo_body_state b;
    cost c = {0};
    run_to(sim, 0.1, &c);
    mo_sim_body(sim, 0, &b);
    double slides = 1.4 - 0.2 * g * 0.1, rolls = 1.4 / (1 + inertia);
    at_most(v, fabs(b.velocity.x / slides - 1), 1e-4, "thrown ball at 0.1 s: %.4f m/s, exact %.4f; error", b.velocity.x,
            slides);
    run_to(sim, 0.7, &c);
    mo_sim_body(sim, 0, &b);
    at_most(v, fabs(b.velocity.x - 1), off, "thrown ball, rolling: %.4f m/s, exact 1; error", b.velocity.x);
    at_most(v, fabs(b.velocity.x / rolls - 1), 1e-4, "  against %.4f, which the lever makes; error", rolls);
    mo_sim_destroy(sim);
    dry_end(&d);
}

// How high a ball comes back from the floor, over how far it fell. Speeds of steps do not tell the restitution: the
// ball hits within a step, of which gravity has only a part.
static double height_after_bounce(const mo_sim_def *def, double touching)
{
    double highest = -INFINITY, fell;
    bool rises = false;
    mo_body_state b;
    mo_sim *sim = create_sim(def);
    mo_sim_body(sim, 0, &b);
    fell = b.pose.position.y - touching;
    while (mo_sim_time(sim) < 0.7) { // reaches the floor at 0.32 s with 3.1 m/s
        step_sim(sim);
        mo_sim_body(sim, 0, &b);
        rises |= b.velocity.y > 0;
        if (rises) highest = fmax(highest, b.pose.position.y);
    }
    mo_sim_destroy(sim);
    return rises ? fmax(highest - touching, 0) / fell : 0;
}

// A ball falls on the floor, and one flies at another.
static void bounce(validation *v)
{
    static dry d;
    const double radius = 0.1, dx = 1.0 / 32;
    for (int k = 0; k <= 4; k++) {
        double e = 0.25 * k;
        dry_start(&d, mo_v3(0.5, 1, 0.5), 32);
        d.def.time.max_step = 0.005, d.def.domain.restitution = e;
        dry_rigid(&d, mo_shape_sphere(radius), 0, mo_v3(0.25, 0.6, 0.25))->friction = 0;
        double measured = sqrt(height_after_bounce(&d.def, radius - 0.1 * dx)); // it rests at an overlap of 0.1 cells
        at_most(v, fabs(measured - e), 0.01, "ball on floor, restitution %.2f: measured by its height %.4f", e,
                measured);
        dry_end(&d);
    }
    for (int k = 0; k <= 2; k++) {
        double e = 0.5 * k;
        dry_start(&d, mo_v3(1, 0.5, 0.5), 32);
        d.def.time.max_step = 0.005, d.def.gravity = mo_v3(0, 0, 0);
        mo_solid_def *a = dry_rigid(&d, mo_shape_sphere(0.1), 0, mo_v3(0.3, 0.25, 0.25));
        mo_solid_def *b = dry_rigid(&d, mo_shape_sphere(0.1), 0, mo_v3(0.6, 0.25, 0.25));
        a->velocity = mo_v3(1, 0, 0), a->restitution = b->restitution = e, b->density = 3 * a->density;
        mo_sim *sim = create_sim(&d.def);
        cost c = {0};
        mo_body_state A, B;
        run_to(sim, 0.2, &c);
        mo_sim_body(sim, 0, &A), mo_sim_body(sim, 1, &B);
        at_most(v, fmax(fabs(A.velocity.x - (1 - 3 * e) / 4), fabs(B.velocity.x - (1 + e) / 4)), 1e-3,
                "balls of masses 1, 3, restitution %.1f: %.4f and %.4f m/s, exact %.4f, %.4f", e, A.velocity.x,
                B.velocity.x, (1 - 3 * e) / 4, (1 + e) / 4);
        mo_sim_destroy(sim);
        dry_end(&d);
    }
}

// ---- Momentum ----

typedef struct momenta {
    mo_vec3 linear, angular;
    double size, turn; // sums of absolute values
} momenta;

static momenta momenta_of(const mo_sim *sim)
{
    momenta m = {0};
    for (int32_t i = 0; i < sim->def.solid_count; i++) {
        mo_rigid r = sim->solids[i].body;
        r.pose = sim->solids[i].pose, r.velocity = sim->solids[i].velocity;
        r.angular_velocity = sim->solids[i].angular_velocity;
        mo_vec3 p = mo_mul(r.mass, r.velocity);
        mo_vec3 l = mo_add(mo_cross(r.pose.position, p), mo_rigid_angular_momentum(&r));
        m.linear = mo_add(m.linear, p), m.angular = mo_add(m.angular, l);
        m.size += mo_norm(p), m.turn += mo_norm(l);
    }
    return m;
}

// Bodies of all kinds fly at each other without gravity, with friction and restitution.
static void exchange(validation *v)
{
    static dry d;
    dry_start(&d, mo_v3(1, 1, 1), 32);
    d.def.time.max_step = 0.01, d.def.gravity = mo_v3(0, 0, 0), d.def.domain.contact = false;
    for (int k = 0; k < 8; k++) {
        mo_vec3 at = {k & 1 ? 0.7 : 0.3, k & 2 ? 0.66 : 0.3, k & 4 ? 0.71 : 0.3};
        mo_solid_def *b = dry_rigid(&d, mixed_shape(k, 0.24), 25 * k, at);
        b->density = 300 * (1 + k % 3), b->restitution = 0.5 * (k % 2);
        b->velocity = mo_mul(1.5, mo_sub(mo_v3(0.5, 0.5, 0.5), at));
        b->angular_velocity = mo_v3(sin(k), 2 * cos(3 * k), sin(5 * k));
    }
    mo_sim *sim = create_sim(&d.def);
    momenta first = momenta_of(sim), last;
    cost c = {0};
    run_to(sim, v->quick ? 0.5 : 1, &c);
    last = momenta_of(sim);
    at_most(v, mo_norm(mo_sub(last.linear, first.linear)) / first.size, 1e-13,
            "8 bodies collide: change of momentum over the sum of m |v|; exact 0");
    at_most(v, mo_norm(mo_sub(last.angular, first.angular)) / first.turn, 1e-12,
            "  of angular momentum, over the sum of absolute values; exact 0");
    at_most(v, last.size / first.size, 1, "  sum of m |v|, over that at the start: they met");
    mo_sim_destroy(sim);
    dry_end(&d);
}

// ---- A heap ----

enum { HEAP_SAMPLES = 2000 };

static void heap(validation *v, bool rabbits)
{
    static dry d;
    static double time[HEAP_SAMPLES], speed[HEAP_SAMPLES];
    const char *name = rabbits ? "45 rabbits" : "45 mixed bodies";
    int count = 0;
    build_heap(&d, rabbits);
    double dx = HEAP_DX, seconds = v->quick ? 1 : 2.5;
    mo_sim *sim = create_sim(&d.def);
    mo_body_state now[MOST_BODIES];
    cost c = {0};
    while (mo_sim_time(sim) < seconds - 1e-9) {
        run_to(sim, mo_sim_time(sim) + 0.02, &c);
        remember(sim, now);
        double fastest = 0;
        for (int32_t i = 0; i < d.def.solid_count; i++)
            fastest = mo_norm(now[i].velocity) <= fastest ? fastest : mo_norm(now[i].velocity); // keeps NaN
        if (count < HEAP_SAMPLES) time[count] = mo_sim_time(sim), speed[count++] = fastest;
    }
    double outside = 0;
    for (int32_t i = 0; i < d.def.solid_count; i++) {
        mo_vec3 x = now[i].pose.position, size = d.def.domain.size;
        outside = fmax(outside, fmax(fmax(-x.x, x.x - size.x), fmax(-x.y, fmax(-x.z, x.z - size.z))));
    }
    at_most(v, c.penetration / dx, 0.5, "%s dropped: deepest overlap at any time, cells; the margin is 0.1", name);
    at_most(v, speed[count - 1], v->quick ? 1 : 0.02, "  fastest after %g s, m/s; exact 0", seconds);
    at_most(v, outside, 0, "  centres outside the box, m");
    figure((double)c.iterations / (double)c.steps, "  iterations of a step");
    figure((double)c.rounds / (double)c.steps, "  rounds of a step");
    if (v->plots) {
        plot_def def = {"Bodies dropped into a box", "t, s", "fastest body, m/s", false, true};
        plot_series_t line = {name, count, time, speed, PLOT_LINE};
        plot_write(v->plots, rabbits ? "stacks_rabbits.svg" : "stacks_mixed.svg", &def, &line, 1);
    }
    mo_sim_destroy(sim);
    dry_end(&d);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Stacks and contact of rigid bodies");
    if (wants(&v, "tower")) stack(&v, "tower of 10 boxes", build_tower, TOWER_DX);
    if (wants(&v, "cards")) stack(&v, "house of cards", build_cards, CARDS_DX);
    if (wants(&v, "pyramid")) stack(&v, "pyramid of 15 boxes", build_pyramid, TOWER_DX);
    if (wants(&v, "rounds")) rounds(&v);
    if (wants(&v, "incline")) incline(&v);
    if (wants(&v, "roll")) roll(&v);
    if (wants(&v, "bounce")) bounce(&v);
    if (wants(&v, "momentum")) exchange(&v);
    if (wants(&v, "mixed")) heap(&v, false);
    if (v.only && wants(&v, "rabbits")) heap(&v, true); // takes long
    return validation_end(&v);
}
