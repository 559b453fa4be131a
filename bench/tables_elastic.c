// Tables 1 to 5 of ElastoMonolith, at reduced resolution: the scenes of its figures with each of its methods, and with
// route fast. Prints Markdown for docs/tables_elastic.md; `make tables` runs it from the project's directory, since it
// reads the scenes.
//   tables_elastic [SECONDS [TABLE]]
//       SECONDS: most CPU seconds of one row, default 20; a table compares the frames that all its rows reached
//       TABLE: 1 to 5, default all
#include "monolith/monolith.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TABLES = 5, MOST_ROWS = 7, MOST_FRAMES = 120, MOST_OWN = 4, MOST_SHARED = 8 };

typedef struct method {
    const char *name;
    const char *own[MOST_OWN]; // settings
    const char *paper[3];      // what the paper has: outer iterations, those of MPRGP, seconds
} method;

typedef struct table {
    const char *title, *scene, *outer; // outer: what the paper counts in its first column
    const char *paper;                 // its size
    int first;                         // frame from which means are taken: before it bodies and liquid fall freely
    const char *shared[MOST_SHARED];
    method row[MOST_ROWS];
} table;

#define ROUTE_PAPER(method) "solver.route=paper", "solver.method=" method
#define FAST                                                                                                           \
    {                                                                                                                  \
        "`fast`", {"solver.route=fast"}, { "", "", "" }                                                                \
    }

static const table tables[TABLES] = {
    {"Table 1 (figure 3): elasticity alone",
     "elastic_beam",
     "Newton",
     "2.3k vertices, 200 frames",
     0,
     {"param.layers=3", "solver.scheme=E", "solver.tolerance=1e-8", "solver.max_iterations=1000", "solver.rounds=100",
      "time.seconds=0.2"},
     {{"K", {ROUTE_PAPER("primal")}, {"10.7", "1.1k", "3.8"}},
      {"NF", {ROUTE_PAPER("natural"), "solver.rounds=10"}, {"10.0", "1.0k", "145.7"}},
      {"IC", {ROUTE_PAPER("ic")}, {"100.0", "2.3k", "52.3"}},
      {"LDLT", {ROUTE_PAPER("ldlt")}, {"10.5", "0.5k", "20.3"}},
      FAST}},
    {"Table 2 (figure 5): contacts of an elastic body",
     "elastic_rabbit",
     "Newton, UCG, ICA or ADMM",
     "5.0k vertices, 183 to 493 contacts, 200 frames",
     5,
     {"param.element=0.07", "param.level=0.4", "solver.tolerance=1e-8", "solver.max_iterations=1000", "solver.rounds=1",
      "time.seconds=0.3"},
     {{"ADMM", {ROUTE_PAPER("admm")}, {"47.8", "10.7k", "153.9"}},
      {"UCG-Cholesky", {ROUTE_PAPER("ucg")}, {"99.4", "", "4.9"}},
      {"UCG-MPRGP", {ROUTE_PAPER("ucg-cg")}, {"109.3", "20.6k", "22.4"}},
      {"ICA", {ROUTE_PAPER("ica")}, {"1.4k", "215.3k + 112.4k", "200.2"}},
      {"LDLT", {ROUTE_PAPER("ldlt")}, {"1.0", "422.0", "32.5"}},
      FAST}},
    {"Table 3 (figure 7): liquid and an elastic body",
     "elastic_dam",
     "Newton",
     "2.2k vertices, 80^3 cells, 200 frames",
     8,
     {"param.element=0.05", "domain.cells=24", "solver.tolerance=1e-8", "solver.max_iterations=5000", "solver.rounds=1",
      "time.seconds=0.4"},
     {{"Z1-Z2", {ROUTE_PAPER("z1-z2"), "solver.preconditioner=ic0"}, {"1", "7255.6", "270.7"}},
      {"LDLT SSOR", {ROUTE_PAPER("ldlt"), "solver.preconditioner=ssor"}, {"1", "3511.4", "166.2"}},
      {"LDLT IC", {ROUTE_PAPER("ldlt"), "solver.preconditioner=ic0"}, {"1", "599.0", "58.0"}},
      FAST}},
    {"Table 4 (figure 9): inviscid liquid, elastic body, contact",
     "elastic_bowl",
     "UCG or passes",
     "3.7k vertices, 128 x 64 x 128 cells",
     7,
     {"param.element=0.1", "param.height=0.5", "param.level=0.5", "domain.cells=32", "solver.tolerance=1e-6",
      "solver.max_iterations=1000", "solver.preconditioner=ic0", "time.seconds=0.3"},
     {{"PE-EC", {ROUTE_PAPER("ldlt"), "solver.scheme=PE-EC"}, {"", "211.6 + 244.7", "130.4"}},
      {"EC-PE", {ROUTE_PAPER("ldlt"), "solver.scheme=EC-PE"}, {"", "204.3 + 397.5", "173.0"}},
      {"PEC UCG", {ROUTE_PAPER("ucg"), "solver.scheme=PEC-unified"}, {"5414.2", "", "77.8"}},
      {"PEC LDLT GS", {ROUTE_PAPER("ldlt"), "solver.scheme=PEC-iterative"}, {"80.6", "841.4 + 19252.1", "1062.9"}},
      {"PEC LDLT", {ROUTE_PAPER("ldlt"), "solver.scheme=PEC-unified"}, {"", "1900.1", "253.2"}},
      FAST}},
    {"Table 5 (figure 11): viscous liquid, elastic body, contact",
     "elastic_honey",
     "UCG",
     "2.3k vertices, 64^3 cells",
     6,
     {"param.element=0.08", "domain.cells=16", "solver.tolerance=1e-6", "solver.max_iterations=1000",
      "solver.preconditioner=ic0", "time.seconds=0.4"},
     {{"PVEC UCG", {ROUTE_PAPER("ucg"), "solver.scheme=PVEC-unified"}, {"1537.3", "117.6k", "632.0"}},
      {"PVEC LDLT", {ROUTE_PAPER("ldlt"), "solver.scheme=PVEC-unified"}, {"", "559.4", "84.4"}},
      FAST}},
};

typedef struct frame { // sums over its steps
    double cpu, rounds, passes, iterations, steps, contacts, unsolved;
} frame;

typedef struct course { // of a row
    frame frame[MOST_FRAMES];
    int frames;
    double vertices, pressures; // of the last step
    char trouble[200];
} course;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void add_step(void *user, const mo_stats *s)
{
    course *c = user;
    frame *f = &c->frame[c->frames];
    f->cpu += s->cpu_seconds, f->rounds += s->rounds, f->passes += s->passes, f->iterations += s->iterations;
    f->steps++, f->contacts += (double)s->contacts;
    f->unsolved += s->reason != MO_REASON_CONVERGED && s->reason != MO_REASON_NOTHING_TO_DO;
    c->vertices = (double)s->vertices, c->pressures = (double)s->pressures;
}

static mo_status run_sim(mo_scene *scene, double seconds, course *c, mo_error *err)
{
    mo_sim *sim;
    mo_scene_sim_def_mutable(scene)->threads = 1;
    double start = cpu_seconds();
    mo_status status = mo_sim_create(mo_scene_sim_def(scene), &sim, err);
    if (status != MO_OK) return status;
    while (status == MO_OK && !mo_sim_done(sim) && c->frames < MOST_FRAMES && cpu_seconds() - start < seconds) {
        status = mo_sim_advance(sim, add_step, c, err);
        c->frames += status == MO_OK;
    }
    mo_sim_destroy(sim);
    return status;
}

static void run_row(const table *t, const method *m, double seconds, course *c)
{
    char path[100];
    const char *setting[MOST_SHARED + MOST_OWN];
    int count = 0;
    mo_scene *scene = NULL;
    mo_error err = {0};
    *c = (course){0};
    for (int i = 0; i < MOST_SHARED && t->shared[i]; i++) setting[count++] = t->shared[i];
    for (int i = 0; i < MOST_OWN && m->own[i]; i++) setting[count++] = m->own[i];
    snprintf(path, sizeof path, "scenes/%s.lua", t->scene);
    mo_status status = mo_scene_load(path, setting, count, &scene, &err);
    if (status == MO_OK) status = run_sim(scene, seconds, c, &err);
    if (status != MO_OK) snprintf(c->trouble, sizeof c->trouble, " failed: %.150s", err.text);
    mo_scene_destroy(scene);
    fprintf(stderr, "%s, %s: %d frames\n", t->scene, m->name, c->frames);
}

static void print_row(const method *m, const course *c, int first, int frames)
{
    frame sum = {0};
    for (int i = first; i < frames; i++) {
        const frame *f = &c->frame[i];
        sum.cpu += f->cpu, sum.rounds += f->rounds, sum.passes += f->passes, sum.iterations += f->iterations;
        sum.steps += f->steps, sum.contacts += f->contacts, sum.unsolved += f->unsolved;
    }
    double n = frames > first ? frames - first : 1;
    printf("| %s | %.1f | %.1f |", m->name, sum.contacts / (sum.steps > 0 ? sum.steps : 1), sum.rounds / n);
    sum.passes > 0 ? printf(" %.1f |", sum.passes / n) : printf(" |");
    printf(" %.1f | %.3g |", sum.iterations / n, sum.cpu / n);
    for (int k = 0; k < 3; k++) printf(" %s |", m->paper[k]);
    if (sum.unsolved > 0) printf(" %.0f of %.0f steps unconverged", sum.unsolved, sum.steps);
    printf("%s |\n", c->trouble);
}

static void print_table(const table *t, double seconds)
{
    static course c[MOST_ROWS];
    int rows = 0, frames = MOST_FRAMES;
    for (; rows < MOST_ROWS && t->row[rows].name; rows++) {
        run_row(t, &t->row[rows], seconds, &c[rows]);
        frames = c[rows].frames < frames ? c[rows].frames : frames;
    }
    printf("\n## %s\n\n`%s` with", t->title, t->scene);
    for (int i = 0; i < MOST_SHARED && t->shared[i]; i++) printf(" `%s`", t->shared[i]);
    printf("; %.0f vertices", c[0].vertices);
    if (c[0].pressures > 0) printf(", %.0f pressures at the end", c[0].pressures);
    printf("; means over the frames %d to %d. The paper's: %s.\n\n", t->first + 1, frames, t->paper);
    printf("| method | contacts | Newton | passes | iterations | CPU s | paper: %s | MPRGP | s | "
           "|\n|---|---|---|---|---|---|---|---|"
           "---|---|\n",
           t->outer);
    for (int k = 0; k < rows; k++) print_row(&t->row[k], &c[k], t->first, frames);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 20;
    int only = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 3 || !(seconds > 0) || only < 0 || only > TABLES)
        return fprintf(stderr, "usage: tables_elastic [SECONDS [TABLE]]\n"), 2;
    printf("# The tables of ElastoMonolith, at reduced resolution\n\n"
           "Written by `make tables` (%s). Means per frame (50 per second) of one thread. Tolerances, bounds of "
           "iterations, steps of Newton's method, Poisson's ratio, friction and preconditioners are the\n"
           "paper's; sizes are not, nor are lengths: a row ends after %g CPU seconds, and a table compares the frames "
           "that all its rows reached, from where bodies and liquid meet. Seconds are CPU seconds of\n"
           "whole steps; the paper's are wall seconds of the solve on 8 cores. Iterations are those of MPRGP or CG, "
           "for UCG, ICA and ADMM the outer ones (inner ones are in the seconds). *Newton*: steps of\n"
           "Newton's method; where the paper stops at a gradient of 1e3, ours stop at a change of velocities of 1e-8. "
           "*Passes*: of the iterative scheme, at most 200 (the paper's 15). `fast` is route fast.\n",
           mo_version(), seconds);
    for (int t = 0; t < TABLES; t++)
        if (!only || only == t + 1) print_table(&tables[t], seconds);
    return 0;
}
