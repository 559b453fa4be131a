// Runs of the scenes with elastic bodies (scenes/elastic_*.lua) with other sizes and solvers, and what is measured of
// them step by step. The programs that use it run in the project's directory, since they read the scenes.
#ifndef VALIDATE_ELASTIC_COURSE_H
#define VALIDATE_ELASTIC_COURSE_H

#include "plot.h"
#include "sim/sim.h"
#include <time.h>

enum { MOST_FRAMES = 300, MOST_SETTINGS = 16 };

// What a curve shows of a frame. It gets the vertex that lies furthest along `course.mark` at rest.
typedef double (*course_look)(const mo_sim *sim, int32_t vertex);

typedef struct course {
    const char *name;          // in plots and reports
    const char *const *solver; // settings that only this run has, ended by NULL
    int frames;
    double time[MOST_FRAMES], shown[MOST_FRAMES];
    double steps, rounds, passes, iterations; // sums over the steps
    int unsolved, most;                       // steps whose last solve did not converge; most iterations of a step
    double cpu;                               // s
    double sunk;                              // m, deepest vertex of an elastic body below the floor
    double overlap;                           // cells, deepest overlap of solids that a step began with
    double push, pull;            // sums of normal forces over contacts and steps, N: those that push, and the others
    double contacts, pulling;     // the numbers of these contacts
    int off;                      // steps without any contact, after the first with one
    double volume;                // largest error of the liquid's, of either sign
    double growth;                // of energy
    double stage[MO_STAGE_COUNT]; // s, wall
    double vertices, dx;
    char trouble[200]; // why it ended early
} course;

static inline double course_cpu(void) { return (double)clock() / CLOCKS_PER_SEC; }

static inline void course_contacts(course *c, const mo_sim *sim, const mo_stats *s)
{
    double unit = c->dx * c->dx;
    for (int32_t i = 0; i < sim->kept_count; i++) {
        double n = sim->kept[i].normal;
        if (n > 0) c->push += unit * n, c->contacts++;
        if (n < 0) c->pull -= unit * n, c->contacts++, c->pulling++;
    }
    c->off += c->push > 0 && s->contacts == 0;
    c->overlap = fmax(c->overlap, s->max_penetration / c->dx);
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic_body *b = &sim->elastics.body[k].body;
        for (int32_t i = 0; i < b->vertices; i++) c->sunk = fmax(c->sunk, -b->position[i].y);
    }
}

static inline void course_step(course *c, const mo_sim *sim, const mo_stats *s)
{
    c->steps++, c->rounds += s->rounds, c->passes += s->passes, c->iterations += s->iterations;
    c->most = s->iterations > c->most ? s->iterations : c->most;
    c->unsolved += s->reason != MO_REASON_CONVERGED && s->reason != MO_REASON_NOTHING_TO_DO;
    c->volume = fmax(c->volume, fabs(s->volume_error)), c->growth = fmax(c->growth, s->energy_error);
    c->vertices = (double)s->vertices;
    for (int k = 0; k < MO_STAGE_COUNT; k++) c->stage[k] += s->seconds[k];
    course_contacts(c, sim, s);
}

// The vertex of the first elastic body that is furthest along a direction at rest, -1 without one.
static inline int32_t course_vertex(const mo_sim *sim, mo_vec3 direction)
{
    if (!sim->elastics.count) return -1;
    const mo_elastic_body *b = &sim->elastics.body[0].body;
    int32_t best = 0;
    for (int32_t i = 1; i < b->vertices; i++)
        if (mo_dot(direction, b->rest[i]) > mo_dot(direction, b->rest[best]) + 1e-9) best = i;
    return best;
}

static inline void course_frame(course *c, const mo_sim *sim, course_look look, int32_t vertex)
{
    if (c->frames >= MOST_FRAMES) return;
    c->time[c->frames] = mo_sim_time(sim), c->shown[c->frames++] = look(sim, vertex);
}

// Runs a scene with settings that all runs of a figure share, ended by NULL, and with the course's own. `mark`: see
// course_look.
static inline void course_play(const validation *v, course *c, const char *file, const char *const *shared,
                               mo_vec3 mark, course_look look)
{
    const char *setting[MOST_SETTINGS];
    int count = 0;
    for (; *shared && count < MOST_SETTINGS; shared++) setting[count++] = *shared;
    for (const char *const *s = c->solver; s && *s && count < MOST_SETTINGS; s++) setting[count++] = *s;
    mo_scene *scene;
    mo_error err;
    double start = course_cpu();
    must(mo_scene_load(file, setting, count, &scene, &err), &err);
    mo_scene_sim_def_mutable(scene)->threads = v->threads ? v->threads : 1;
    mo_sim *sim = create_sim(mo_scene_sim_def(scene));
    int32_t vertex = course_vertex(sim, mark);
    c->dx = sim->grid->dx;
    course_frame(c, sim, look, vertex);
    while (!mo_sim_done(sim) && !c->trouble[0]) {
        int32_t frame = mo_sim_frame(sim);
        mo_stats stats;
        if (mo_sim_step(sim, &stats, &err) != MO_OK) {
            snprintf(c->trouble, sizeof c->trouble, "%.150s", err.text);
            break;
        }
        course_step(c, sim, &stats);
        if (mo_sim_frame(sim) > frame) course_frame(c, sim, look, vertex);
    }
    c->cpu = course_cpu() - start;
    fprintf(stderr, "  %-14s %4.0f steps, %.1f rounds, %.0f iterations a step, %d unsolved, %.1f s of CPU %s\n",
            c->name, c->steps, c->rounds / c->steps, c->iterations / c->steps, c->unsolved, c->cpu, c->trouble);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

// Largest difference of the curves of two runs, up to the frame that both have.
static inline double course_distance(const course *a, const course *b)
{
    double most = 0;
    for (int i = 0; i < a->frames && i < b->frames; i++) most = fmax(most, fabs(a->shown[i] - b->shown[i]));
    return most;
}

// How far a curve goes up and down from a time on.
static inline double course_swing(const course *c, double from)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < c->frames; i++)
        if (c->time[i] >= from - 1e-9) low = fmin(low, c->shown[i]), high = fmax(high, c->shown[i]);
    return high - low;
}

static inline void course_plot(const validation *v, const char *file, const char *title, const char *unit,
                               const course *c, int count)
{
    if (!v->plots) return;
    plot_series_t series[PLOT_MOST_SERIES];
    for (int k = 0; k < count; k++)
        series[k] = (plot_series_t){c[k].name, c[k].frames, c[k].time, c[k].shown, PLOT_LINE};
    plot_def def = {title, "s", unit, false, false};
    plot_write(v->plots, file, &def, series, count);
}

#endif
