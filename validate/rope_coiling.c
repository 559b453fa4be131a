// Coiling of a falling viscous rope (scenes/rope_coiling.lua): the pressure-viscosity system solved as one against the
// two solved in turn; frequency against Ribe's regimes, thinning against the viscous thread equation.
#include "validate.h"
#include "plot.h"
#include "base/vec.h"

enum { MAX_SAMPLES = 4000, LEVELS = 128 };

typedef struct coiling {
    const char *name, *scheme;
    double viscosity, speed, radius, fall, seconds; // Pa s, m/s, m, m, s
    double dx;                                      // m
    double *time, *x, *z, *turns;                   // where the rope lands, about the nozzle's axis; turns so far
    double height, peak;                            // m, m/s: of the landing point, of the stream; sums, then means
    double stream[LEVELS]; // m/s, downwards, at (k + 1/2) dx below the nozzle; sums, then means
    int stream_samples[LEVELS];
    int samples;
    // What measure() finds.
    double longest, roundness, frequency, coil_radius, rope; // turns; 0 folds .. 1 circles; rad/s; m; m
    double area;                                             // m^2 of surface below 2.5 cm, at the end
    int reversals;
} coiling;

static const double density = 1000, gravity = 9.81, middle = 0.05; // kg/m^3, m/s^2, m: of the nozzle in x, z

// ---- Where the rope lands ----

typedef struct slab {
    double x, z, speed; // mean of the particles
    int count;
} slab;

static slab slab_at(const snapshot *s, double y, double half, double x, double z, double reach)
{
    slab m = {0};
    for (int64_t q = 0; q < s->count; q++) {
        const float *p = s->x + 3 * q;
        if (fabs(p[1] - y) > half) continue;
        double dx = p[0] - x, dz = p[2] - z;
        if (dx * dx + dz * dz > reach * reach) continue;
        m.x += p[0], m.z += p[2], m.speed -= s->v[3 * q + 1], m.count++;
    }
    if (m.count > 0) m.x /= m.count, m.z /= m.count, m.speed /= m.count;
    return m;
}

// Follows the stream down from the nozzle to where it has lost half of its largest speed. False: not landed yet.
static bool follow(const coiling *c, const snapshot *s, slab level[LEVELS], int *levels, double *peak)
{
    double x = middle, z = middle;
    *peak = 0, *levels = 0;
    for (int k = 0; k < LEVELS; k++) {
        double y = c->fall - (k + 0.5) * c->dx;
        slab m = slab_at(s, y, 0.5 * c->dx, x, z, 1.25 * c->radius);
        if (y < 0 || m.count < 4) return false;
        level[k] = m, *levels = k + 1;
        x = m.x, z = m.z;
        *peak = fmax(*peak, m.speed);
        if (m.speed < 0.5 * *peak) return true;
    }
    return false;
}

static void sample(coiling *c, const mo_sim *sim)
{
    snapshot s = take_snapshot(sim);
    slab level[LEVELS];
    int levels;
    double peak;
    bool landed = follow(c, &s, level, &levels, &peak);
    free_snapshot(&s);
    if (!landed || c->samples >= MAX_SAMPLES) return;
    int i = c->samples;
    c->time[i] = mo_sim_time(sim), c->x[i] = level[levels - 1].x - middle, c->z[i] = level[levels - 1].z - middle;
    // From the moment on at which it lands beside the axis.
    if (i == 0 && hypot(c->x[i], c->z[i]) < c->radius) return;
    c->samples++;
    c->height += c->fall - levels * c->dx, c->peak += peak;
    for (int k = 0; k < levels; k++) c->stream[k] += level[k].speed, c->stream_samples[k]++;
}

// ---- Turns ----

static void unwrap(coiling *c)
{
    double angle = 0, cross = 0, path = 0;
    for (int i = 1; i < c->samples; i++) {
        double x = c->x[i - 1], z = c->z[i - 1], dx = c->x[i] - x, dz = c->z[i] - z;
        angle += atan2(x * c->z[i] - z * c->x[i], x * c->x[i] + z * c->z[i]);
        c->turns[i] = angle / (2 * M_PI);
        cross += x * dz - z * dx, path += hypot(x, z) * hypot(dx, dz);
    }
    c->roundness = path > 0 ? fabs(cross) / path : 0;
}

// The longest turning in one direction; turning back by a quarter ends it and counts as a reversal.
static void find_longest(coiling *c, int *first, int *last)
{
    int start = 0, extreme = 0;
    double direction = 0;
    *first = *last = 0;
    for (int i = 1; i < c->samples; i++) {
        double way = c->turns[i] - c->turns[start];
        if (direction == 0 && fabs(way) > 0.25) direction = way > 0 ? 1 : -1, extreme = i;
        if (direction == 0) continue;
        if (direction * (c->turns[i] - c->turns[extreme]) > 0) extreme = i;
        if (fabs(c->turns[extreme] - c->turns[start]) > fabs(c->turns[*last] - c->turns[*first]))
            *first = start, *last = extreme;
        if (direction * (c->turns[extreme] - c->turns[i]) > 0.25) start = extreme, direction = 0, c->reversals++;
    }
    c->longest = fabs(c->turns[*last] - c->turns[*first]);
}

// Frequency (radians per second) by least squares and mean radius, after the first turn of the longest turning.
static void measure(coiling *c)
{
    int first, last, n = 0;
    double t = 0, a = 0, tt = 0, ta = 0, r = 0;
    unwrap(c);
    find_longest(c, &first, &last);
    for (int i = first; i <= last; i++) {
        if (fabs(c->turns[i] - c->turns[first]) < fmin(1, 0.5 * c->longest)) continue;
        double x = c->time[i] - c->time[first], y = 2 * M_PI * c->turns[i];
        n++, t += x, a += y, tt += x * x, ta += x * y, r += hypot(c->x[i], c->z[i]);
    }
    c->frequency = n > 1 ? fabs(n * ta - t * a) / (n * tt - t * t) : 0;
    c->coil_radius = n > 0 ? r / n : 0;
    if (c->samples) c->height /= c->samples, c->peak /= c->samples;
    for (int k = 0; k < LEVELS; k++) c->stream[k] /= c->stream_samples[k] ? c->stream_samples[k] : 1;
    c->rope = c->radius * sqrt(c->speed / c->peak);
}

// Liquid that keeps its coils has more surface than one that melts.
static double pile_area(const mo_sim *sim)
{
    mo_mesh m;
    mo_error err;
    must(mo_sim_surface(sim, &m, &err), &err);
    double sum = 0;
    for (int32_t t = 0; t < m.triangle_count; t++) {
        mo_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            const float *q = m.position + 3 * m.triangle[3 * t + k];
            p[k] = mo_v3(q[0], q[1], q[2]);
        }
        double y = (p[0].y + p[1].y + p[2].y) / 3;
        if (y < 0.0005 || y > 0.025) continue; // the sole, the stream
        sum += 0.5 * mo_norm(mo_cross(mo_sub(p[1], p[0]), mo_sub(p[2], p[0])));
    }
    mo_mesh_destroy(&m);
    return sum;
}

// ---- Runs ----

static void run(coiling *c, const validation *v)
{
    mo_sim_def d = mo_sim_def_default();
    d.domain.size = mo_v3(2 * middle, 0.11, 2 * middle);
    d.domain.cells = v->cells ? v->cells : 66;
    c->dx = d.domain.size.y / d.domain.cells;
    for (int w = 0; w < 6; w++) d.domain.walls[w] = w == MO_YMIN ? MO_WALL_NO_SLIP : MO_WALL_OPEN;
    d.time = (mo_time_def){.fps = 50, .seconds = c->seconds, .cfl = 2};
    d.threads = v->threads;
    snprintf(d.solver.scheme, sizeof d.solver.scheme, "%s", c->scheme);
    d.solver.tolerance = 1e-4;
    mo_shape *upright = checked(mo_shape_cylinder(c->radius, 0.012)),
             *nozzle = checked(mo_shape_move(upright, mo_v3(middle, c->fall + 0.006, middle)));
    mo_emitter_def emitter = mo_emitter_def_default();
    emitter.shape = nozzle, emitter.velocity = mo_v3(0, -c->speed, 0);
    emitter.density = density, emitter.viscosity = c->viscosity;
    d.emitters = &emitter, d.emitter_count = 1;
    c->time = checked(calloc(4 * MAX_SAMPLES, sizeof(double)));
    c->x = c->time + MAX_SAMPLES, c->z = c->x + MAX_SAMPLES, c->turns = c->z + MAX_SAMPLES;
    mo_sim *sim = create_sim(&d);
    while (!mo_sim_done(sim)) {
        step_sim(sim);
        sample(c, sim);
    }
    c->area = pile_area(sim);
    mo_sim_destroy(sim);
    mo_shape_release(upright), mo_shape_release(nozzle);
    measure(c);
}

// ---- The viscous thread: u u' = g + 3 nu u (u'/u)' ----

// Speed at the levels 0 .. last for a stretching u'/u of w at the nozzle; returns the stretching at the last.
static double thread(const coiling *c, int last, double w, double *u)
{
    enum { PARTS = 50 };
    double nu = c->viscosity / density, speed = c->speed, h = c->dx / PARTS;
    for (int i = 0; i < last * PARTS + PARTS / 2; i++) {
        if (i % PARTS == PARTS / 2) u[i / PARTS] = speed;
        double dw = h * (speed * speed * w - gravity) / (3 * nu * speed);
        speed *= exp(h * (w + 0.5 * dw)), w += dw;
    }
    u[last] = speed;
    return w;
}

// Largest relative deviation of the stream's speed from the thread that stretches down to the same level as the stream.
static double thinning_error(const coiling *c)
{
    double expected[LEVELS];
    int last = 0;
    for (int k = 0; k < LEVELS && c->stream_samples[k] == c->stream_samples[0]; k++)
        if (c->stream[k] > c->stream[last]) last = k;
    double low = 0, high = gravity * last * c->dx / (c->viscosity / density * c->speed), worst = 0;
    for (int i = 0; i < 60; i++) {
        double w = 0.5 * (low + high);
        *(thread(c, last, w, expected) < 0 ? &low : &high) = w;
    }
    for (int k = 0; k <= last; k++) worst = fmax(worst, fabs(c->stream[k] / expected[k] - 1));
    return worst;
}

// ---- Judgement ----

typedef struct regimes {
    double viscous, gravitational, inertial; // radians per second
} regimes;

static regimes regimes_of(const coiling *c)
{
    double flow = M_PI * c->radius * c->radius * c->speed, nu = c->viscosity / density, a = c->rope;
    return (regimes){flow / ((c->fall - c->height) * a * a), pow(gravity * pow(flow, 3) / (nu * pow(a, 8)), 0.25),
                     pow(pow(flow, 4) / (nu * pow(a, 10)), 1.0 / 3)};
}

static void report(const coiling *c)
{
    figure(c->longest, "%s: most turns in one direction", c->name);
    figure(c->reversals, "%s: reversals", c->name);
    figure(c->roundness, "%s: roundness of the path", c->name);
    figure(c->frequency / (2 * M_PI), "%s: turns per second", c->name);
    figure(1e3 * c->coil_radius, "%s: radius of the coil, mm", c->name);
    figure(c->frequency * c->coil_radius / c->peak, "%s: speed along the coil / speed of the stream", c->name);
}

static coiling scene(const char *name, const char *scheme, double fall, double seconds)
{
    return (coiling){.name = name,
                     .scheme = scheme,
                     .viscosity = 25,
                     .speed = 0.25,
                     .radius = 0.005,
                     .fall = fall,
                     .seconds = seconds};
}

static void finish(coiling *c) { free(c->time); }

static void at_least(validation *v, double measured, double limit, const char *what)
{
    between(v, measured, limit, INFINITY, "%s", what);
}

static void plot_paths(const validation *v, const coiling *a, const coiling *b)
{
    if (!v->plots) return;
    plot_series_t turns[] = {{a->name, a->samples, a->time, a->turns, PLOT_LINE},
                             {b->name, b->samples, b->time, b->turns, PLOT_LINE}};
    plot_def p = {"Where the rope lands: turns about the nozzle", "t, s", "turns", false, false};
    plot_write(v->plots, "rope_coiling_turns.svg", &p, turns, 2);
    plot_series_t paths[] = {{a->name, a->samples, a->x, a->z, PLOT_LINE},
                             {b->name, b->samples, b->x, b->z, PLOT_LINE}};
    p = (plot_def){"Where the rope lands, seen from above", "x, m", "z, m", false, false};
    plot_write(v->plots, "rope_coiling_path.svg", &p, paths, 2);
}

static void schemes(validation *v, const coiling *one)
{
    coiling two = scene("decoupled", "P-V-P", 0.075, one->seconds);
    run(&two, v), report(&two);
    if (!v->quick) at_least(v, one->longest, 3, "unified: turns in one direction");
    at_least(v, one->roundness, 0.7, "unified: roundness of the path, 0 folds .. 1 circles");
    at_least(v, one->roundness - two.roundness, 0.1, "rounder than decoupled by");
    at_least(v, one->area / two.area, 1.2, "surface of the pile, unified / decoupled");
    plot_paths(v, one, &two);
    finish(&two);
}

// Which regime: frequency x a^2 goes with 1 / H in viscous coiling and does not depend on H in gravitational coiling.
// Ribe's formulas leave out a factor of the order of 1: what must hold is that one of them fits every height.
static void heights(validation *v, const coiling *one)
{
    coiling each[3] = {scene("low", "PV-unified", 0.06, 1.2), *one, scene("high", "PV-unified", 0.09, 1.2)};
    double x[3], y[3], mx = 0, my = 0, xx = 0, xy = 0, low = INFINITY, high = 0;
    for (int i = 0; i < 3; i++) {
        coiling *c = &each[i];
        if (i != 1) run(c, v), report(c);
        regimes r = regimes_of(c);
        figure(c->frequency / r.viscous, "%s: frequency / Ribe's viscous", c->name);
        figure(c->frequency / r.gravitational, "%s: frequency / Ribe's gravitational", c->name);
        figure(c->frequency / r.inertial, "%s: frequency / Ribe's inertial", c->name);
        low = fmin(low, c->frequency / r.gravitational), high = fmax(high, c->frequency / r.gravitational);
        x[i] = log(c->fall - c->height), y[i] = log(c->frequency * c->rope * c->rope);
        mx += x[i] / 3, my += y[i] / 3;
        if (i != 1) finish(c);
    }
    for (int i = 0; i < 3; i++) xx += (x[i] - mx) * (x[i] - mx), xy += (x[i] - mx) * (y[i] - my);
    between(v, xy / xx, -0.5, 0.5, "slope of log(frequency a^2) over log(H); viscous -1, gravitational 0");
    at_most(v, high / low, 1.5, "frequency / Ribe's gravitational: largest / least");
    between(v, M_PI * sqrt(low * high), 0.5, 2, "frequency / (stream's speed / (nu Q / g)^(1/4))");
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Coiling of a viscous rope, 3D, nozzle 6 cells wide");
    coiling one = scene("unified", "PV-unified", 0.075, v.quick ? 1 : 1.6);
    run(&one, &v), report(&one);
    at_most(&v, 100 * thinning_error(&one), 5, "stream: speed against the viscous thread, %%");
    if (wants(&v, "schemes")) schemes(&v, &one);
    if (wants(&v, "heights") && !v.quick) heights(&v, &one);
    finish(&one);
    return validation_end(&v);
}
