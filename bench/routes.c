// Time per step of the scenes of the Monolith paper's figures on both routes. Prints Markdown for docs/routes.md;
// `make routes` runs it from the project's directory, since it reads the scenes.
//   routes [SECONDS]    most CPU seconds of one run, default 22: a run that takes longer is compared as far as it came
//
// Each scene runs once per route, unified, for the same steps; only steps that all runs reached are compared. Both are
// of the same binary, alternating scene by scene.
#include "monolith/monolith.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 3, MOST_STEPS = 4000 };

typedef struct study {
    const char *figure, *scene;
    int cells;
    double seconds; // of the scene
} study;

static const study studies[] = {
    {"2", "bowl_on_ground", 96, 0.5},    {"3", "bowl_afloat", 48, 0.5},  {"4", "wall_drag", 48, 0.3},
    {"5", "rabbit_hemisphere", 40, 0.2}, {"6", "viscous_bowl", 64, 0.4}, {"7", "nine_in_bowl", 32, 0.5},
    {"7", "nine_in_bowl", 48, 0.3},      {"8", "free_flight", 32, 0.3},  {"11", "body_rheologies", 32, 0.2},
};
enum { STUDIES = sizeof studies / sizeof *studies };

static const char *const settings[RUNS][2] = {{"solver.route=fast", "solver.weights=clamped"},
                                              {"solver.route=paper", "solver.weights=clamped"},
                                              {"solver.route=paper", "solver.weights=raw"}};

typedef struct run {
    int steps;
    double solve[MOST_STEPS]; // wall s of the solve stage
    int iterations[MOST_STEPS];
    double unknowns, contacts; // sums
    int fallbacks, unfinished;
    bool viscous;
    char trouble[300];
} run;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void add_step(void *user, const mo_stats *s)
{
    run *r = user;
    if (r->steps == MOST_STEPS) return;
    double seconds = 0;
    for (int k = 0; k < s->set_count; k++) seconds += s->sets[k].seconds;
    r->solve[r->steps] = seconds, r->iterations[r->steps] = s->iterations;
    r->unknowns += (double)s->pressures + (double)s->stresses, r->contacts += (double)s->contacts;
    r->fallbacks += s->fallbacks;
    r->unfinished += s->reason != MO_REASON_CONVERGED && s->reason != MO_REASON_NOTHING_TO_DO;
    r->viscous |= s->stresses > 0;
    r->steps++;
}

static void run_scene(const study *s, const char *const setting[2], double seconds, run *r)
{
    char path[100], set[2][60];
    const char *overrides[] = {set[0], set[1], setting[0], setting[1]};
    mo_scene *scene = NULL;
    mo_sim *sim = NULL;
    mo_error err = {0};
    *r = (run){0};
    snprintf(path, sizeof path, "scenes/%s.lua", s->scene);
    snprintf(set[0], sizeof set[0], "domain.cells=%d", s->cells);
    snprintf(set[1], sizeof set[1], "time.seconds=%g", s->seconds);
    double start = cpu_seconds();
    mo_status status = mo_scene_load(path, overrides, 4, &scene, &err);
    if (status == MO_OK) status = mo_sim_create(mo_scene_sim_def(scene), &sim, &err);
    while (status == MO_OK && !mo_sim_done(sim) && cpu_seconds() - start < seconds)
        status = mo_sim_advance(sim, add_step, r, &err);
    if (status != MO_OK) snprintf(r->trouble, sizeof r->trouble, "failed: %.250s", err.text);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

static double mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum / n;
}

static double mean_iterations(const run *r, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += r->iterations[i];
    return sum / n;
}

static void print_study(const study *s, const run *r)
{
    const run *fast = &r[0];
    printf("| %s | %s | %d | %.1fk | %.0f |", s->figure, s->scene, s->cells, 1e-3 * fast->unknowns / fast->steps,
           fast->contacts / fast->steps);
    for (int k = 0; k < RUNS; k++) {
        int n = r[k].steps < fast->steps ? r[k].steps : fast->steps;
        if (n == 0 || (k == 2 && !fast->viscous))
            printf(" | | |");
        else
            printf(" %d | %.3g | %.1f |", n, mean(r[k].solve, n), mean_iterations(&r[k], n));
        if (k > 0 && n > 0 && (k == 1 || fast->viscous))
            printf(" %.1f |", mean(r[k].solve, n) / mean(fast->solve, n));
        else if (k > 0)
            printf(" |");
    }
    printf(" %d |", fast->fallbacks);
    for (int k = 0; k < RUNS; k++)
        if (r[k].trouble[0]) printf(" %s", r[k].trouble);
    printf(" |\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 22;
    if (argc > 2 || !(seconds > 0)) return fprintf(stderr, "usage: routes [SECONDS]\n"), 2;
    static run r[RUNS];
    printf(
        "# The scenes of the Monolith paper on both routes\n\n"
        "Written by `make routes` (%s). Unified schemes. Wall seconds and iterations per step of all solves of a step, "
        "set-up included, means over the steps that a run reached in %g CPU\n"
        "seconds; ratios are over the steps that both reached. `raw`: weights as in the papers (inviscid liquids have "
        "none). Fallbacks are of route fast.\n\n"
        "| figure | scene | cells | unknowns | contacts | fast: steps | s | iterations | paper: steps | s | iterations "
        "| paper/fast | raw: steps | s | iterations | raw/fast | fallbacks | |\n|",
        mo_version(), seconds);
    for (int c = 0; c < 18; c++) printf("---|");
    printf("\n");
    for (int i = 0; i < STUDIES; i++) {
        for (int k = 0; k < RUNS; k++)
            if (k < 2 || r[0].viscous) run_scene(&studies[i], settings[k], seconds, &r[k]);
        print_study(&studies[i], r);
    }
    return 0;
}
