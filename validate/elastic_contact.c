// Contacts of elastic bodies without liquid: weights at rest, friction on an incline, Hertz's sphere, stacks, heavy
// bodies on soft ones, a ring that touches itself, a ball between walls. Whole simulations, with the steps, contacts
// and solves of any scene.
#include "elastic_scene.h"
#include "plot.h"
#include "geometry/tets.h"
#include "geometry/triangle.h"

typedef struct course { // of a run
    int64_t steps, iterations, rounds, fallbacks;
    double overlap, late; // m: the largest of contacts on elastic bodies, of all steps and of the last half
    double rise;          // J: the largest growth of energy in a step
    double energy, start; // J
    double least;         // smallest det F
} course;

static double deepest(const mo_sim *sim)
{
    double most = 0;
    for (int32_t i = 0; i < sim->contacts.count; i++) {
        const mo_contact *c = &sim->contacts.contact[i];
        if (c->on[0].count || c->on[1].count) most = fmax(most, -c->gap);
    }
    return most;
}

static course run(mo_sim *sim, double seconds)
{
    course c = {.rise = -INFINITY, .least = 1};
    double from = mo_sim_time(sim), before = NAN;
    while (mo_sim_time(sim) < from + seconds - 1e-9) {
        mo_stats s = step_sim(sim);
        c.steps++, c.iterations += s.iterations, c.rounds += s.rounds, c.fallbacks += s.fallbacks;
        c.overlap = fmax(c.overlap, deepest(sim));
        if (mo_sim_time(sim) > from + 0.5 * seconds) c.late = fmax(c.late, deepest(sim));
        if (c.steps > 1) c.rise = fmax(c.rise, s.energy - before);
        if (c.steps == 1) c.start = s.energy;
        before = c.energy = s.energy;
        c.least = fmin(c.least, s.least_volume);
    }
    return c;
}

static void tell_cost(const course *c, const char *what)
{
    figure((double)c->iterations / (double)c->steps, "%s: products in a step of %.1f rounds", what,
           (double)c->rounds / (double)c->steps);
}

// ---- A block at rest ----

static void at_rest(validation *v)
{
    for (int flat = 0; flat < 2; flat++) {
        const char *space = flat ? "2D" : "3D";
        scene s;
        start(&s, v, mo_v3(1, 0.6, flat ? 0 : 1), 16, 0.01);
        put_elastic(&s, box_at(mo_v3(0.4, 0.3, flat ? 2 : 0.4), mo_v3(0.5, 0.17, flat ? 0 : 0.5)), 0.06, 2e4, 1000)
            ->drag = 10;
        mo_sim *sim = create_sim(&s.def);
        course c = run(sim, 3);
        double weight = g * mass_of(sim, 0);
        at_most(v, fabs(force_between(sim, 0, -1) / weight - 1), 1e-6, "block at rest, %s: normal forces against m g",
                space);
        at_most(v, c.late, 1e-6, "block at rest, %s: overlap, m", space);
        at_most(v, c.rise / c.start, 1e-6, "block, %s: growth of energy in any step, of the whole", space);
        mo_sim_destroy(sim), end(&s);
    }
}

// ---- An incline: gravity leans, the floor stays ----

// Drops a block onto the floor, gently, with gravity at a slope of tan along a direction, and returns its mean
// acceleration along that in the second half.
static double slide(const validation *v, double tangent, double direction, double friction, double *speed)
{
    scene s;
    double down = 1 / sqrt(1 + tangent * tangent), along = tangent * down;
    start(&s, v, mo_v3(2, 0.5, 2), 32, 0.01);
    s.def.gravity = mo_v3(g * along * cos(direction), -g * down, g * along * sin(direction));
    s.def.domain.friction = friction;
    mo_elastic_def *e = put_elastic(&s, box_at(mo_v3(0.3, 0.15, 0.3), mo_v3(0.4, 0.0751, 0.4)), 0.075, 1e5, 1000);
    e->friction = friction, e->viscosity = 20;
    mo_sim *sim = create_sim(&s.def);
    mo_elastic_state half, now;
    run(sim, 0.3);
    mo_sim_elastic(sim, 0, &half);
    run(sim, 0.3);
    mo_sim_elastic(sim, 0, &now);
    mo_vec3 t = {cos(direction), 0, sin(direction)};
    *speed = mo_dot(now.velocity, t);
    mo_sim_destroy(sim), end(&s);
    return (*speed - mo_dot(half.velocity, t)) / 0.3;
}

static void incline(validation *v)
{
    double mu = 0.4, speed;
    for (int k = 0; k < 2; k++) {
        double direction = k * 0.6;
        slide(v, 0.98 * mu, direction, mu, &speed);
        at_most(v, fabs(speed), 1e-3, "incline, tan = 0.98 mu, direction %.1f: speed after 0.6 s, m/s", direction);
        double slow = slide(v, 1.02 * mu, direction, mu, &speed), exact = g * 0.02 * mu / sqrt(1 + pow(1.02 * mu, 2));
        at_most(v, fabs(slow / exact - 1), 0.05, "incline, tan = 1.02 mu, direction %.1f: acceleration", direction);
        double steep = slide(v, 2 * mu, direction, mu, &speed), fast = g * mu / sqrt(1 + 4 * mu * mu);
        at_most(v, fabs(steep / fast - 1), 0.01, "incline, tan = 2 mu, direction %.1f: acceleration", direction);
    }
}

// ---- Hertz's sphere, pressed onto the floor by its weight ----

// A ball of elements that are finer by a factor of (1 + t)/(1 - t) at its lowest point than at its middle: a motion of
// hyperbolic space, which keeps the shapes of small elements.
static void make_ball(double element, double radius, mo_vec3 centre, double t, mo_tets *out)
{
    mo_error err;
    mo_shape *ball = checked(mo_shape_sphere(1));
    must(mo_tets_from_shape(ball, element, false, out, &err), &err);
    mo_shape_release(ball);
    for (int32_t i = 0; i < out->vertex_count; i++) {
        double *p = out->position + 3 * i;
        mo_vec3 x = {p[0], p[1], p[2]}, a = {0, -t, 0};
        double ax = mo_dot(a, x), xx = mo_dot(x, x);
        mo_vec3 y = mo_mul(radius / (1 + 2 * ax + t * t * xx), mo_mad(mo_mul(1 + 2 * ax + xx, a), 1 - t * t, x));
        y = mo_add(y, centre);
        p[0] = y.x, p[1] = y.y, p[2] = y.z;
    }
}

// How far the middle of the ball is below where it would be without weight.
static double sinking(const mo_sim *sim, mo_vec3 middle, double near)
{
    const mo_elastic_body *b = &sim->elastics.body[0].body;
    double sum = 0, mass = 0;
    for (int32_t i = 0; i < b->vertices; i++)
        if (mo_norm(mo_sub(b->rest[i], middle)) < near)
            sum += b->mass[i] * (b->rest[i].y - b->position[i].y), mass += b->mass[i];
    return sum / mass;
}

static void hertz(validation *v)
{
    enum { LEVELS = 4 };
    const double radius = 0.2, young = 1e6, poisson = 0.3;
    static const double part[LEVELS] = {0.002, 0.004, 0.008, 0.032}; // of the radius
    double approach[LEVELS], force[LEVELS], exact[LEVELS], stiff = 4.0 / 3 * young / (1 - poisson * poisson);
    for (int k = 0; k < LEVELS; k++) {
        scene s;
        mo_vec3 middle = {0.5, radius, 0.5};
        start(&s, v, mo_v3(1, 0.6, 1), 20, 0.05);
        mo_elastic_def *e = put_elastic(&s, NULL, 0, young, 1000);
        make_ball(v->quick ? 0.2 : 0.14, radius, middle, 0.7, &s.mesh[0]);
        e->mesh = &s.mesh[0], e->poisson = poisson, e->friction = 0, e->drag = 30;
        s.def.domain.friction = 0;
        double weight = stiff * sqrt(radius) * pow(part[k] * radius, 1.5);
        s.def.gravity = mo_v3(0, -weight / (1000 * 4.0 / 3 * M_PI * pow(radius, 3)), 0);
        mo_sim *sim = create_sim(&s.def);
        run(sim, 1);
        double d = sinking(sim, middle, 0.3 * radius);
        approach[k] = d / radius, force[k] = force_between(sim, 0, -1);
        exact[k] = stiff * sqrt(radius) * pow(d, 1.5);
        if (k == 0) figure(sim->elastics.body[0].body.vertices, "Hertz: vertices");
        double error = force[k] / exact[k] - 1;
        if (k < LEVELS - 1)
            at_most(v, fabs(error), 0.1, "Hertz, d/R = %.4f: force against 4/3 E/(1 - nu^2) sqrt(R) d^1.5",
                    approach[k]);
        figure(error / sqrt(approach[k]), "Hertz, d/R = %.4f: error, in radii of contact over that of the ball",
               approach[k]);
        mo_sim_destroy(sim), end(&s);
    }
    if (!v->plots) return;
    plot_series_t series[] = {{"simulated", LEVELS, approach, force, PLOT_POINTS},
                              {"Hertz", LEVELS, approach, exact, PLOT_LINE}};
    plot_def def = {"An elastic ball pressed onto a floor", "approach, of the radius", "force, N", true, true};
    plot_write(v->plots, "elastic_hertz.svg", &def, series, 2);
}

// ---- Stacks ----

static void stack_of_blocks(validation *v)
{
    scene s;
    start(&s, v, mo_v3(1, 1.2, 1), 16, 0.01);
    static const double edge[3] = {0.4, 0.4, 0.32}, element[3] = {0.08, 0.1, 0.08};
    double bottom = 0.001;
    for (int k = 0; k < 3; k++) {
        mo_vec3 at = {0.5, bottom + 0.1, 0.5};
        put_elastic(&s, box_at(mo_v3(edge[k], 0.2, edge[k]), at), element[k], 3e4, 600)->drag = 10;
        bottom += 0.201;
    }
    mo_sim *sim = create_sim(&s.def);
    course c = run(sim, 3);
    double above = 0;
    for (int k = 2; k >= 0; k--) {
        above += g * mass_of(sim, k);
        at_most(v, fabs((k ? force_between(sim, k - 1, k) : force_between(sim, 0, -1)) / above - 1), 1e-4,
                "stack of three elastic blocks: force below block %d", k + 1);
    }
    at_most(v, c.late, 1e-5, "stack of three elastic blocks: overlap at rest, m");
    at_most(v, c.rise / c.start, 1e-6, "stack: growth of energy in any step, of the whole");
    tell_cost(&c, "stack");
    mo_sim_destroy(sim), end(&s);
}

// A heavy rigid box on a soft cushion.
static void cushion(validation *v)
{
    scene s;
    start(&s, v, mo_v3(1, 0.8, 1), 16, 0.01);
    put_rigid(&s, box_at(mo_v3(0.25, 0.2, 0.25), mo_v3(0.52, 0.34, 0.48)), 3000);
    put_elastic(&s, box_at(mo_v3(0.6, 0.2, 0.6), mo_v3(0.5, 0.101, 0.5)), 0.07, 4e4, 100)->viscosity = 20;
    mo_sim *sim = create_sim(&s.def);
    course c = run(sim, v->quick ? 2 : 6);
    mo_body_state box;
    mo_sim_body(sim, 0, &box);
    double heavy = g * box.mass, weight = g * mass_of(sim, 0);
    at_most(v, fabs(force_between(sim, 0, 1) / heavy - 1), 1e-3, "rigid box of %.0f kg on a cushion of %.1f: force",
            heavy / g, weight / g);
    at_most(v, fabs(force_between(sim, 1, -1) / (heavy + weight) - 1), 1e-3, "cushion on the floor: force");
    at_most(v, c.late, 1e-5, "cushion: overlap at rest, m");
    at_most(v, mo_norm(box.velocity), 1e-3, "box on the cushion: speed at the end, m/s");
    at_most(v, c.rise / c.start, 1e-3, "cushion: growth of energy in any step, of the whole");
    figure(0.2 + 0.1 - (box.pose.position.y - 0), "cushion: the box sinks in, m");
    at_most(v, (double)c.fallbacks, 0, "cushion: solves handed to the alternative");
    tell_cost(&c, "cushion");
    mo_sim_destroy(sim), end(&s);
}

// A cushion between a light box below and a heavy one above.
static void sandwich(validation *v)
{
    for (int k = 0; k < 2; k++) {
        double light = k ? 5000 : 5, heavy = k ? 5 : 5000; // below, above
        scene s;
        start(&s, v, mo_v3(1, 1, 1), 16, 0.01);
        put_rigid(&s, box_at(mo_v3(0.4, 0.15, 0.4), mo_v3(0.5, 0.0751, 0.5)), light);
        put_rigid(&s, box_at(mo_v3(0.3, 0.15, 0.3), mo_v3(0.5, 0.38, 0.5)), heavy);
        put_elastic(&s, box_at(mo_v3(0.36, 0.15, 0.36), mo_v3(0.5, 0.2265, 0.5)), 0.075, 2e5, 500)->viscosity = 50;
        mo_sim *sim = create_sim(&s.def);
        course c = run(sim, 2);
        mo_body_state box[2];
        for (int i = 0; i < 2; i++) mo_sim_body(sim, i, &box[i]);
        double upper = g * box[1].mass, middle = upper + g * mass_of(sim, 0), all = middle + g * box[0].mass;
        const char *which = k ? "light above heavy" : "heavy above light";
        at_most(v, fabs(force_between(sim, 1, 2) / upper - 1), 1e-2, "cushion between boxes 1 : 1000, %s: above it",
                which);
        at_most(v, fabs(force_between(sim, 0, 2) / middle - 1), 1e-2, "cushion between boxes, %s: below it", which);
        at_most(v, fabs(force_between(sim, 0, -1) / all - 1), 1e-2, "cushion between boxes, %s: on the floor", which);
        at_most(v, c.late, 1e-4, "cushion between boxes, %s: overlap, m", which);
        at_most(v, (double)c.fallbacks, 0, "cushion between boxes, %s: solves handed to the alternative", which);
        tell_cost(&c, which);
        mo_sim_destroy(sim), end(&s);
    }
}

// ---- A ring that is crushed until it touches itself ----

static mo_status crush(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = (mo_pose){mo_v3(0.5, 0.66 - 0.25 * fmin(t, 1.9), 0), mo_quat_identity()};
    return MO_OK;
}

// How many vertices of the surface are in elements that are not about them, deeper than a twentieth of an element; and
// how deep in such an element one is at most, m.
static double self_overlap(const mo_elastic *e, int32_t *inside_others)
{
    const mo_elastic_body *b = &e->body;
    double most = 0;
    *inside_others = 0;
    for (int32_t i = 0; i < e->surface.vertices; i++) {
        int32_t v = e->surface.vertex[i];
        double own_most = 0;
        for (int32_t k = 0; k < b->elements; k++) {
            const int32_t *c = b->corner + 3 * k;
            bool own = c[0] == v || c[1] == v || c[2] == v, inside = true;
            double depth = INFINITY;
            for (int m = 0; m < 3; m++) {
                mo_vec3 p = b->position[c[m]], side = mo_sub(b->position[c[(m + 1) % 3]], p),
                        way = mo_sub(b->position[v], p);
                double height = (side.x * way.y - side.y * way.x) / mo_norm(side);
                inside &= height > 0, depth = fmin(depth, height);
            }
            if (!own && inside) own_most = fmax(own_most, depth);
        }
        *inside_others += own_most > 0.05 * e->surface.element, most = fmax(most, own_most);
    }
    return most;
}

static double crush_ring(const validation *v, bool self, course *c, int32_t *inside)
{
    scene s;
    start(&s, v, mo_v3(1, 0.8, 0), 40, 0.005);
    mo_shape *outer = checked(mo_shape_cylinder(0.25, 1)), *inner = checked(mo_shape_cylinder(0.2, 2)),
             *ring = checked(mo_shape_difference(outer, inner)),
             *lying = checked(mo_shape_rotate(ring, mo_v3(1, 0, 0), 90));
    mo_elastic_def *e = put_elastic(&s, checked(mo_shape_move(lying, mo_v3(0.5, 0.252, 0))), 0.0125, 1e5, 800);
    e->self_contact = self, e->viscosity = 20;
    mo_shape_release(outer), mo_shape_release(inner), mo_shape_release(ring), mo_shape_release(lying);
    put_rigid(&s, mo_shape_box(mo_v3(0.9, 0.1, 1)), 0)->motion = crush;
    mo_sim *sim = create_sim(&s.def);
    double most = 0;
    *c = (course){0}, *inside = 0;
    while (mo_sim_time(sim) < 2) {
        course part = run(sim, 0.05);
        c->steps += part.steps, c->iterations += part.iterations, c->rounds += part.rounds;
        c->overlap = fmax(c->overlap, part.overlap), c->fallbacks += part.fallbacks;
        int32_t now;
        most = fmax(most, self_overlap(&sim->elastics.body[0], &now));
        *inside = now > *inside ? now : *inside;
    }
    mo_sim_destroy(sim), end(&s);
    return most;
}

static void ring(validation *v)
{
    course c;
    int32_t inside;
    double depth = crush_ring(v, true, &c, &inside);
    at_most(v, inside, 0, "ring crushed flat: vertices deep in its other elements");
    at_most(v, depth / 0.0125, 0.05, "ring: largest depth in an element, elements");
    at_most(v, c.overlap, 1e-3, "ring: overlap of contacts, m");
    at_most(v, (double)c.fallbacks, 0, "ring: solves handed to the alternative");
    tell_cost(&c, "ring");
    crush_ring(v, false, &c, &inside);
    figure(inside, "ring without self_contact: vertices deep in its other elements");
}

// ---- A ball between walls ----

static void bounces(validation *v)
{
    enum { SAMPLES = 400 };
    double time[SAMPLES], energy[SAMPLES];
    int n = 0;
    scene s;
    start(&s, v, mo_v3(1, 1, 1), 16, 0.005);
    s.def.gravity = mo_v3(0, 0, 0), s.def.domain.friction = 0;
    mo_shape *ball = checked(mo_shape_sphere(0.2));
    mo_elastic_def *e = put_elastic(&s, checked(mo_shape_move(ball, mo_v3(0.5, 0.5, 0.5))), 0.08, 1e5, 500);
    e->velocity = mo_v3(2, 1.3, 0.7), e->friction = 0;
    mo_shape_release(ball);
    mo_sim *sim = create_sim(&s.def);
    course all = {.rise = -INFINITY};
    double seconds = v->quick ? 2 : 10;
    int64_t touches = 0;
    while (mo_sim_time(sim) < seconds - 1e-9) {
        course c = run(sim, seconds / SAMPLES);
        all.rise = fmax(all.rise, c.rise), all.overlap = fmax(all.overlap, c.overlap);
        if (n == 0) all.start = c.start;
        if (n < SAMPLES) time[n] = mo_sim_time(sim), energy[n++] = c.energy / all.start;
        touches += force_between(sim, 0, -1) > 0;
    }
    at_most(v, all.rise / all.start, 1e-6, "ball between walls, %g s: growth of energy in any step", seconds);
    at_most(v, energy[n - 1], 1, "ball between walls: energy left");
    between(v, (double)touches, 3, SAMPLES, "ball between walls: samples in which it touches");
    at_most(v, all.overlap, 1e-3, "ball between walls: overlap, m");
    mo_sim_destroy(sim), end(&s);
    if (!v->plots) return;
    plot_series_t series[] = {{"energy", n, time, energy, PLOT_LINE}};
    plot_def def = {"An elastic ball between walls", "s", "energy, of that at the start", false, false};
    plot_write(v->plots, "elastic_bounces.svg", &def, series, 1);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Contacts of elastic bodies");
    if (wants(&v, "rest")) at_rest(&v);
    if (wants(&v, "incline")) incline(&v);
    if (wants(&v, "hertz")) hertz(&v);
    if (wants(&v, "stack")) stack_of_blocks(&v);
    if (wants(&v, "cushion")) cushion(&v);
    if (wants(&v, "sandwich")) sandwich(&v);
    if (wants(&v, "ring")) ring(&v);
    if (wants(&v, "bounces")) bounces(&v);
    return validation_end(&v);
}
