// Tables 1 to 3 of the Monolith paper, at reduced resolution: the scenes of its figures under each scheme. Prints
// Markdown for docs/tables.md; `make tables` runs it from the project's directory, since it reads the scenes.
//   tables [SECONDS]    most CPU seconds of one row, default 150: a run that takes longer is shown as far as it came
#include "monolith/monolith.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TABLES = 3, MOST_SCHEMES = 4, MOST_COLUMNS = 3 };

typedef struct study { // a scene under several schemes
    int table;
    const char *figure, *scene;
    int cells;
    double seconds;         // of the scene
    const char *correction; // of particles' positions: it would hide what P-C loses of the liquid
    const char *scheme[MOST_SCHEMES];
} study;

static const study studies[] = {
    {0, "2", "bowl_on_ground", 60, 1.2, "volume.correct=false", {"P-C", "C-P", "PC-iterative", "PC-unified"}},
    {0, "3", "bowl_afloat", 32, 1, "volume.correct=true", {"P-C", "C-P", "PC-iterative", "PC-unified"}},
    {1, "4", "wall_drag", 32, 0.6, "volume.correct=true", {"PC-VC-PC", "PVC-unified"}},
    {1, "5", "rabbit_hemisphere", 28, 0.4, "volume.correct=true", {"PC-VC-PC", "PVC-unified"}},
    {2, "6", "viscous_bowl", 32, 0.8, "volume.correct=true", {"PV-C", "C-PV", "PVC-iterative", "PVC-unified"}},
    {2, "7", "nine_in_bowl", 28, 0.5, "volume.correct=true", {"PV-C", "C-PV", "PVC-iterative", "PVC-unified"}},
};
enum { STUDIES = sizeof studies / sizeof *studies };

static const char *const titles[TABLES] = {"Table 1: inviscid liquid and contact", "Table 2: pressure and viscosity",
                                           "Table 3: viscous liquid and contact"};
static const char *const columns[TABLES][MOST_COLUMNS] = {{"P", "C", "PC"}, {"PC", "VC", "PVC"}, {"PV", "C", "PVC"}};

typedef struct set_sum { // of one set of blocks
    double seconds;
    long long solves, iterations;
} set_sum;

typedef struct row {
    int table;
    set_sum set[MOST_COLUMNS];
    double passes, pressures, stresses, contacts; // sums over steps
    double penetration, dx;                       // m
    double volume;                                // relative error at the end
    double solve;                                 // wall s of all sets
    long long particles;
    int steps, frames, unfinished; // unfinished: steps whose last solve did not converge
    double time;                   // s of the scene that were run
    char trouble[400];
} row;

static void add_step(void *user, const mo_stats *s)
{
    row *r = user;
    for (int k = 0; k < s->set_count; k++) {
        const mo_set_stats *from = &s->sets[k];
        const char *name = strcmp(from->name, "F") ? from->name : "C"; // friction goes with contact
        r->solve += from->seconds;
        for (int c = 0; c < MOST_COLUMNS; c++) {
            if (strcmp(name, columns[r->table][c]) != 0) continue;
            r->set[c].seconds += from->seconds;
            r->set[c].solves += from->solves, r->set[c].iterations += from->iterations;
        }
    }
    r->passes += s->passes;
    r->pressures += (double)s->pressures, r->stresses += (double)s->stresses, r->contacts += (double)s->contacts;
    r->penetration = fmax(r->penetration, s->max_penetration);
    r->unfinished += s->reason != MO_REASON_CONVERGED && s->reason != MO_REASON_NOTHING_TO_DO;
    r->particles = s->particles;
    r->steps++;
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static mo_status run_sim(const mo_sim_def *def, double seconds, row *r, mo_error *err)
{
    mo_sim *sim;
    double volume[2] = {0}, start = cpu_seconds();
    mo_status status = mo_sim_create(def, &sim, err);
    if (status != MO_OK) return status;
    status = mo_sim_visible_volume(sim, &volume[0], err);
    while (status == MO_OK && !mo_sim_done(sim) && cpu_seconds() - start < seconds)
        status = mo_sim_advance(sim, add_step, r, err);
    if (status == MO_OK && !mo_sim_done(sim)) snprintf(r->trouble, sizeof r->trouble, "stopped after %g s", seconds);
    r->frames = mo_sim_frame(sim), r->time = mo_sim_time(sim);
    if (status == MO_OK) status = mo_sim_visible_volume(sim, &volume[1], err);
    r->volume = volume[1] / volume[0] - 1;
    mo_sim_destroy(sim);
    return status;
}

static row run_row(const study *s, const char *scheme, double seconds)
{
    row r = {.table = s->table};
    char path[100], set[3][60];
    const char *overrides[] = {set[0], set[1], set[2], s->correction, "solver.route=paper"};
    mo_scene *scene = NULL;
    mo_error err = {0};
    snprintf(path, sizeof path, "scenes/%s.lua", s->scene);
    snprintf(set[0], sizeof set[0], "domain.cells=%d", s->cells);
    snprintf(set[1], sizeof set[1], "time.seconds=%g", s->seconds);
    snprintf(set[2], sizeof set[2], "solver.scheme=%s", scheme);
    mo_status status = mo_scene_load(path, overrides, 5, &scene, &err);
    if (status == MO_OK) {
        const mo_sim_def *def = mo_scene_sim_def(scene);
        mo_vec3 size = def->domain.size;
        r.dx = fmax(size.x, fmax(size.y, size.z)) / def->domain.cells;
        status = run_sim(def, seconds, &r, &err);
    }
    if (status != MO_OK) snprintf(r.trouble, sizeof r.trouble, "failed: %.300s", err.text);
    mo_scene_destroy(scene);
    return r;
}

static void print_header(int table)
{
    printf("\n## %s\n\n| figure | scene | cells | particles | scheme |", titles[table]);
    for (int c = 0; c < MOST_COLUMNS; c++) printf(" %s s |", columns[table][c]);
    printf(" T s | passes |");
    for (int c = 0; c < MOST_COLUMNS; c++) printf(" %s iterations |", columns[table][c]);
    printf(" p | s | contacts | volume | penetration / dx | |\n|");
    for (int c = 0; c < 13 + 2 * MOST_COLUMNS; c++) printf("---|");
    printf("\n");
}

static void print_row(const study *s, const char *scheme, const row *r)
{
    double frames = r->frames ? r->frames : 1, steps = r->steps ? r->steps : 1;
    printf("| %s | %s | %d | %.1fk | %s |", s->figure, s->scene, s->cells, 1e-3 * (double)r->particles, scheme);
    for (int c = 0; c < MOST_COLUMNS; c++)
        r->set[c].solves ? printf(" %.3g |", r->set[c].seconds / frames) : printf(" |");
    printf(" %.3g |", r->solve / frames);
    r->passes > 0 ? printf(" %.1f |", r->passes / steps) : printf(" |");
    for (int c = 0; c < MOST_COLUMNS; c++)
        r->set[c].solves ? printf(" %.1f |", (double)r->set[c].iterations / (double)r->set[c].solves) : printf(" |");
    printf(" %.1fk | %.1fk | %.1f | %+.1f%% | %.2f |", 1e-3 * r->pressures / steps, 1e-3 * r->stresses / steps,
           r->contacts / steps, 100 * r->volume, r->penetration / r->dx);
    if (r->trouble[0]) printf(" %s at %.2g s", r->trouble, r->time);
    if (r->unfinished) printf("%s%d of %d steps unconverged", r->trouble[0] ? "; " : " ", r->unfinished, r->steps);
    printf(" |\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 150;
    if (argc > 2 || !(seconds > 0)) return fprintf(stderr, "usage: tables [SECONDS]\n"), 2;
    printf(
        "# The tables of the Monolith paper, at reduced resolution\n\n"
        "Written by `make tables` (%s), all with the route of the papers (SSOR under CG or MPRGP). Seconds are wall "
        "seconds per frame for each set of blocks (P pressure, V\n"
        "viscosity, C contact with friction) and for all solves (T); iterations are means over the solves of a set;\n"
        "passes: of the iterative schemes over their sets, per step; p, s: unknowns of pressure and stress, mean;\n"
        "volume: error of the visible volume at the end; penetration: the largest of the run. A row stops after %g "
        "CPU\n"
        "seconds. Figure 2 runs without the correction of particles' positions, which would put back most of what P-C\n"
        "loses; without it thin splashes count for more than they are.\n",
        mo_version(), seconds);
    for (int t = 0; t < TABLES; t++) {
        print_header(t);
        for (int i = 0; i < STUDIES; i++)
            for (int k = 0; studies[i].table == t && k < MOST_SCHEMES && studies[i].scheme[k]; k++) {
                row r = run_row(&studies[i], studies[i].scheme[k], seconds);
                print_row(&studies[i], studies[i].scheme[k], &r);
            }
    }
    return 0;
}
