// Volume over time: what one sees of the liquid against what was filled and emitted, evenness of the particles, and
// the price of the correction. Dam break, pool at rest, tank with moving walls, jet filling a tank, all in 3D.
#include "validate.h"
#include "plot.h"
#include "base/vec.h"

enum { MAX_SAMPLES = 2000 };

typedef struct scenario {
    const char *name;
    mo_sim_def def;
    double splash_until;  // s: the liquid is violent until here, settled in the last second
    double judge_from;    // s: before, there is too little liquid to measure its volume to percents
    double *time, *error; // samples of the visible volume, percent
    double *rms;          // percent
    int samples;
    int64_t iterations, extra;
} scenario;

static void count_iterations(void *user, const mo_stats *stats)
{
    scenario *s = user;
    s->iterations += stats->iterations;
    s->extra += stats->correction_iterations;
}

static double particle_volume(const mo_sim *sim)
{
    snapshot s = take_snapshot(sim);
    double sum = 0;
    for (int64_t q = 0; q < s.count; q++) sum += s.volume[q];
    free_snapshot(&s);
    return sum;
}

static void sample(scenario *s, const mo_sim *sim)
{
    double volume, rms;
    mo_error err;
    must(mo_sim_visible_volume(sim, &volume, &err), &err);
    must(mo_sim_density_rms(sim, &rms, &err), &err);
    double target = particle_volume(sim);
    if (target <= 0 || s->samples >= MAX_SAMPLES) return;
    int i = s->samples++;
    s->time[i] = mo_sim_time(sim), s->error[i] = 100 * (volume / target - 1), s->rms[i] = 100 * rms;
}

// Samples every fifth frame.
static mo_sim *run(scenario *s)
{
    s->time = checked(calloc(3 * MAX_SAMPLES, sizeof(double)));
    s->error = s->time + MAX_SAMPLES, s->rms = s->error + MAX_SAMPLES;
    mo_sim *sim = create_sim(&s->def);
    mo_error err;
    sample(s, sim);
    while (!mo_sim_done(sim)) {
        must(mo_sim_advance(sim, count_iterations, s, &err), &err);
        if (mo_sim_frame(sim) % 5) continue;
        sample(s, sim);
        int i = s->samples - 1;
        if (i >= 0 && mo_sim_frame(sim) % 50 == 0)
            fprintf(stderr, "  %s: t = %.1f s, volume %+.3f%%, density rms %.2f%%\n", s->name, s->time[i], s->error[i],
                    s->rms[i]);
    }
    return sim;
}

static void finish(scenario *s, mo_sim *sim)
{
    mo_sim_destroy(sim);
    free(s->time);
}

// Mean and extremes of a series between two times.
typedef struct span {
    double mean, low, high;
    int count;
} span;

static span over(const scenario *s, const double *series, double from, double to)
{
    span a = {0, INFINITY, -INFINITY, 0};
    for (int i = 0; i < s->samples; i++) {
        if (s->time[i] < from - 1e-9 || s->time[i] > to + 1e-9) continue;
        a.mean += series[i], a.count++;
        a.low = fmin(a.low, series[i]), a.high = fmax(a.high, series[i]);
    }
    a.mean /= a.count > 0 ? a.count : 1;
    return a;
}

static double largest(span a) { return fmax(fabs(a.low), fabs(a.high)); }

// Slope of the volume error in percent per second, by least squares.
static double creep(const scenario *s, double from)
{
    double n = 0, t = 0, e = 0, tt = 0, te = 0;
    for (int i = 0; i < s->samples; i++) {
        if (s->time[i] < from) continue;
        n++, t += s->time[i], e += s->error[i], tt += s->time[i] * s->time[i], te += s->time[i] * s->error[i];
    }
    return (n * te - t * e) / (n * tt - t * t);
}

static void judge(validation *v, const scenario *s, double settled_limit)
{
    double end = s->def.time.seconds;
    span all = over(s, s->error, s->judge_from, end), last = over(s, s->error, end - 1, end);
    if (s->judge_from > 0) {
        figure(largest(over(s, s->error, 0, s->judge_from)), "%s: largest volume error before %.1f s, %%", s->name,
               s->judge_from);
    }
    at_most(v, largest(all), 2, "%s: largest volume error, %%", s->name);
    at_most(v, fabs(last.mean), settled_limit, "%s: volume error, mean of the last second, %%", s->name);
    if (s->splash_until > 0)
        at_most(v, over(s, s->rms, fmax(s->judge_from, 0.1), s->splash_until).mean, 6,
                "%s: density rms while moving, mean, %%", s->name);
    at_most(v, over(s, s->rms, end - 1, end).mean, 4, "%s: density rms at the end, %%", s->name);
    at_most(v, 100.0 * (double)s->extra / (double)s->iterations, 25, "%s: extra iterations, %%", s->name);
}

static void plot_series(const validation *v, const scenario *s)
{
    if (!v->plots) return;
    char name[100], title[200];
    snprintf(name, sizeof name, "volume_%s.svg", s->name);
    snprintf(title, sizeof title, "%s: visible volume error and density rms", s->name);
    plot_series_t lines[] = {{"volume error, %", s->samples, s->time, s->error, PLOT_LINE},
                             {"density rms, %", s->samples, s->time, s->rms, PLOT_LINE}};
    plot_def p = {title, "t, s", "%", false, false};
    plot_write(v->plots, name, &p, lines, 2);
}

// ---- Scenarios ----

static mo_sim_def base_def(const validation *v, double seconds)
{
    mo_sim_def d = mo_sim_def_default();
    d.domain.cells = v->cells ? v->cells : v->quick ? 32 : 64;
    d.threads = v->threads;
    d.time.seconds = seconds;
    return d;
}

static mo_shape *box_between(mo_vec3 lo, mo_vec3 hi)
{
    mo_shape *b = checked(mo_shape_box(mo_sub(hi, lo)));
    mo_shape *moved = checked(mo_shape_move(b, mo_mul(0.5, mo_add(lo, hi))));
    mo_shape_release(b);
    return moved;
}

static void dam_break(validation *v)
{
    scenario s = {.name = "dam", .def = base_def(v, v->quick ? 4 : 10), .splash_until = v->quick ? 2 : 4};
    mo_shape *column = box_between(mo_v3(-1, -1, -1), mo_v3(0.3, 0.6, 2));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = column;
    s.def.liquids = &liquid, s.def.liquid_count = 1;
    mo_sim *sim = run(&s);
    judge(v, &s, 0.5);
    plot_series(v, &s);
    finish(&s, sim);
    mo_shape_release(column);
}

static void pool(validation *v)
{
    scenario s = {.name = "pool", .def = base_def(v, v->quick ? 4 : 10)};
    mo_shape *water = box_between(mo_v3(-1, -1, -1), mo_v3(2, 0.4, 2));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water;
    s.def.liquids = &liquid, s.def.liquid_count = 1;
    mo_sim *sim = run(&s);
    judge(v, &s, 0.5);
    at_most(v, fabs(creep(&s, 1)), 0.02, "pool: creep after the first second, %%/s");
    plot_series(v, &s);
    finish(&s, sim);
    mo_shape_release(water);
}

typedef struct sway {
    double x, amplitude, period, stop; // m, m, s, s
} sway;

// Sways until `stop`, a whole number of periods, with an amplitude that grows over the first and fades over the last.
static mo_status sway_motion(void *user, double t, mo_pose *pose, mo_error *err)
{
    const sway *w = user;
    (void)err;
    double ramp = fmin(fmax(fmin(t, w->stop - t) / w->period, 0), 1);
    *pose = mo_pose_identity();
    pose->position =
        mo_v3(w->x + w->amplitude * ramp * ramp * (3 - 2 * ramp) * sin(2 * M_PI * t / w->period), 0.5, 0.25);
    return MO_OK;
}

static void moving_walls(validation *v)
{
    double stop = v->quick ? 2.7 : 4.5;
    scenario s = {.name = "walls", .def = base_def(v, v->quick ? 5 : 10), .splash_until = stop};
    s.def.domain.size = mo_v3(1, 0.5, 0.5);
    mo_shape *wall = checked(mo_shape_box(mo_v3(0.3, 2, 2)));
    mo_shape *water = box_between(mo_v3(-1, -1, -1), mo_v3(2, 0.2, 2));
    sway sways[2] = {{-0.05, 0.04, 0.9, stop}, {1.05, 0.04, 0.9, stop}};
    mo_solid_def walls[2];
    for (int i = 0; i < 2; i++)
        walls[i] =
            (mo_solid_def){.name = i ? "right" : "left", .shape = wall, .motion = sway_motion, .user = &sways[i]};
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = water;
    s.def.liquids = &liquid, s.def.liquid_count = 1;
    s.def.solids = walls, s.def.solid_count = 2;
    mo_sim *sim = run(&s);
    judge(v, &s, 0.5);
    plot_series(v, &s);
    finish(&s, sim);
    mo_shape_release(wall), mo_shape_release(water);
}

static void jet(validation *v)
{
    double seconds = v->quick ? 2.5 : 4, radius = 0.1, length = 0.1, speed = 1;
    scenario s = {.name = "jet", .def = base_def(v, seconds + 4), .splash_until = seconds};
    s.judge_from = 0.15 / speed / (M_PI * radius * radius) * 0.25; // the tank is 0.15 m deep
    s.def.domain.size = mo_v3(0.5, 1, 0.5);
    mo_shape *upright = checked(mo_shape_cylinder(radius, length)),
             *nozzle = checked(mo_shape_move(upright, mo_v3(0.2, 0.85, 0.25)));
    mo_emitter_def emitter = mo_emitter_def_default();
    emitter.shape = nozzle, emitter.velocity = mo_v3(0, -speed, 0), emitter.seconds = seconds;
    s.def.emitters = &emitter, s.def.emitter_count = 1;
    mo_sim *sim = run(&s);
    judge(v, &s, 0.5);
    double poured = M_PI * radius * radius * (length + speed * seconds);
    at_most(v, 100 * fabs(particle_volume(sim) / poured - 1), 1, "jet: emitted against nozzle area x speed x time, %%");
    plot_series(v, &s);
    finish(&s, sim);
    mo_shape_release(upright), mo_shape_release(nozzle);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Volume of the liquid over time, 3D");
    if (wants(&v, "dam")) dam_break(&v);
    if (wants(&v, "pool")) pool(&v);
    if (wants(&v, "walls")) moving_walls(&v);
    if (wants(&v, "jet")) jet(&v);
    return validation_end(&v);
}
