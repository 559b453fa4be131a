// The tables of the page: what was run and how it went, and where the runs differ.
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// ---- Figures: one row each, ratios against the first run ----

static mo_summary of(const mo_report_run *r, mo_field f) { return mo_summarize(r->value[f], r->steps); }

static double simulated(const mo_report_run *r) { return of(r, MO_FIELD_TIME).last; }
static double steps(const mo_report_run *r) { return r->steps; }
static double particles(const mo_report_run *r) { return of(r, MO_FIELD_PARTICLES).last; }
static double pressures(const mo_report_run *r) { return of(r, MO_FIELD_PRESSURES).max; }
static double stresses(const mo_report_run *r) { return of(r, MO_FIELD_STRESSES).max; }
static double wall(const mo_report_run *r) { return of(r, MO_FIELD_WALL_SECONDS).sum; }
static double cpu(const mo_report_run *r) { return of(r, MO_FIELD_CPU_SECONDS).sum; }
static double per_particle(const mo_report_run *r)
{
    double work = of(r, MO_FIELD_PARTICLES).sum;
    return work > 0 ? 1e6 * wall(r) / work : NAN;
}
static double cpu_per_particle(const mo_report_run *r)
{
    double work = of(r, MO_FIELD_PARTICLES).sum;
    return work > 0 ? 1e6 * cpu(r) / work : NAN;
}
static double iterations(const mo_report_run *r) { return of(r, MO_FIELD_ITERATIONS).mean; }
static double iterations_max(const mo_report_run *r) { return of(r, MO_FIELD_ITERATIONS).max; }
static double rounds(const mo_report_run *r)
{
    mo_summary s = of(r, MO_FIELD_ROUNDS);
    return s.max > 1 ? s.mean : 0; // one is no rounds
}
static double round_change(const mo_report_run *r) { return of(r, MO_FIELD_ROUND_CHANGE).max; }
static double correction(const mo_report_run *r) { return of(r, MO_FIELD_CORRECTION_ITERATIONS).mean; }
static double correction_max(const mo_report_run *r) { return of(r, MO_FIELD_CORRECTION_ITERATIONS).max; }
static double unconverged(const mo_report_run *r) { return (double)r->unconverged; }
static double residual(const mo_report_run *r) { return of(r, MO_FIELD_RESIDUAL).max; }
static double divergence(const mo_report_run *r) { return of(r, MO_FIELD_MAX_DIVERGENCE).max; }
static double volume_min(const mo_report_run *r) { return 100 * of(r, MO_FIELD_VOLUME_ERROR).min; }
static double volume_max(const mo_report_run *r) { return 100 * of(r, MO_FIELD_VOLUME_ERROR).max; }
static double volume_last(const mo_report_run *r) { return 100 * of(r, MO_FIELD_VOLUME_ERROR).last; }
static double density(const mo_report_run *r) { return 100 * of(r, MO_FIELD_DENSITY_RMS).mean; }
static double speed(const mo_report_run *r) { return of(r, MO_FIELD_MAX_SPEED).max; }
static double energy(const mo_report_run *r) { return of(r, MO_FIELD_KINETIC_ENERGY).max; }
static double energy_last(const mo_report_run *r) { return of(r, MO_FIELD_KINETIC_ENERGY).last; }
static double energy_error(const mo_report_run *r) { return 100 * of(r, MO_FIELD_ENERGY_ERROR).max; }
static double penetration(const mo_report_run *r) { return 1e3 * of(r, MO_FIELD_MAX_PENETRATION).max; }
static double vertices(const mo_report_run *r) { return of(r, MO_FIELD_VERTICES).max; }
static double squeeze(const mo_report_run *r)
{
    double least = of(r, MO_FIELD_LEAST_VOLUME).min;
    return isfinite(least) ? least : 0; // no elastic body: no row
}
static double inverted(const mo_report_run *r) { return of(r, MO_FIELD_INVERTED).max; }
static double newton(const mo_report_run *r) { return of(r, MO_FIELD_NEWTON).max; }
static double most(const mo_report_run *r, mo_field field)
{
    double value = of(r, field).max;
    return isfinite(value) ? value : 0; // no shells: no row
}
static double cut_cells(const mo_report_run *r) { return most(r, MO_FIELD_CUT_CELLS); }
static double tangled(const mo_report_run *r) { return most(r, MO_FIELD_TANGLED); }
static double crossed(const mo_report_run *r) { return most(r, MO_FIELD_CROSSED); }
static double memory(const mo_report_run *r) { return 1e-6 * of(r, MO_FIELD_MEMORY).max; }

typedef struct figure {
    const char *name, *unit;
    double (*value)(const mo_report_run *);
    bool count, ratio, only_nonzero;
} figure;

static const figure cost[] = {
    {"Simulated time", "s", simulated, .ratio = false},
    {"Steps", "", steps, .count = true, .ratio = true},
    {"Particles at the end", "", particles, .count = true, .ratio = true},
    {"Pressure unknowns, most", "", pressures, .count = true, .ratio = true},
    {"Stress unknowns, most", "", stresses, .count = true, .ratio = true, .only_nonzero = true},
    {"Vertices of elastic bodies", "", vertices, .count = true, .ratio = true, .only_nonzero = true},
    {"Cells that shells cut, most", "", cut_cells, .count = true, .ratio = true, .only_nonzero = true},
    {"Wall time of the steps", "s", wall, .ratio = true},
    {"CPU time of the steps", "s", cpu, .ratio = true},
    {"Wall time per particle and step", "\xc2\xb5s", per_particle, .ratio = true},
    {"CPU time per particle and step", "\xc2\xb5s", cpu_per_particle, .ratio = true},
    {"Memory, most", "MB", memory, .ratio = true},
    {0},
};

static const figure quality[] = {
    {"Iterations of the solve, mean", "", iterations, .ratio = true},
    {"Iterations of the solve, most", "", iterations_max, .count = true, .ratio = true},
    {"Rounds of a step, mean", "", rounds, .ratio = true, .only_nonzero = true},
    {"Change of the last round, largest", "", round_change, .ratio = true, .only_nonzero = true},
    {"Correction iterations, mean", "", correction, .ratio = true},
    {"Correction iterations, most", "", correction_max, .count = true, .ratio = true},
    {"Steps not converged", "", unconverged, .count = true},
    {"Residual, largest", "", residual, .ratio = true},
    {"Divergence, largest", "1/s", divergence, .ratio = true},
    {"Volume error, lowest", "%", volume_min, .ratio = false},
    {"Volume error, highest", "%", volume_max, .ratio = false},
    {"Volume error, last", "%", volume_last, .ratio = false},
    {"Density deviation (rms), mean", "%", density, .ratio = true},
    {"Largest speed", "m/s", speed, .ratio = true},
    {"Largest kinetic energy", "J", energy, .ratio = true},
    {"Kinetic energy, last", "J", energy_last, .ratio = true},
    {"Energy error, largest", "%", energy_error, .ratio = false, .only_nonzero = true},
    {"Deepest penetration", "mm", penetration, .ratio = true, .only_nonzero = true},
    {"Least det F of an element", "", squeeze, .ratio = false, .only_nonzero = true},
    {"Inverted elements, most", "", inverted, .count = true, .only_nonzero = true},
    {"Last step of Newton's method, largest", "", newton, .ratio = true, .only_nonzero = true},
    {"Tangled triangles of shells, most", "", tangled, .count = true, .only_nonzero = true},
    {"Particles that crossed shells in a step, most", "", crossed, .count = true, .only_nonzero = true},
    {0},
};

static void add_figure(mo_text *t, const figure *f, const mo_report_run *run, int32_t count)
{
    double first = f->value(&run[0]);
    bool nonzero = !f->only_nonzero;
    for (int32_t k = 0; k < count; k++) nonzero = nonzero || f->value(&run[k]) > 0;
    if (!nonzero) return;
    mo_html_print(t, "<tr><td>%s</td>", f->name);
    for (int32_t k = 0; k < count; k++) {
        double value = f->value(&run[k]);
        mo_html_print(t, "<td>");
        if (f->count)
            mo_html_count(t, value);
        else
            mo_html_number(t, value, 4);
        if (*f->unit && isfinite(value)) mo_html_print(t, "\xc2\xa0%s", f->unit);
        if (k && f->ratio) mo_html_ratio(t, value, first);
        mo_html_print(t, "</td>");
    }
    mo_html_print(t, "</tr>\n");
}

// ---- What was run: words ----

static void add_word(mo_text *t, const mo_report_run *r, const char *path)
{
    const char *word = mo_report_word(r, path);
    mo_html_escape(t, word, strlen(word));
}

static void fact_directory(mo_text *t, const mo_report_run *r)
{
    const char *directory = mo_reader_directory(r->reader);
    mo_html_escape(t, directory, strlen(directory));
}
static void fact_scene(mo_text *t, const mo_report_run *r) { add_word(t, r, "scene.path"); }

static void fact_overrides(mo_text *t, const mo_report_run *r)
{
    const cJSON *item, *list = mo_report_get(r, "scene.overrides");
    if (cJSON_GetArraySize(list) == 0) mo_html_print(t, "none");
    cJSON_ArrayForEach(item, list)
    {
        const char *word = cJSON_GetStringValue(item);
        if (item != list->child) mo_html_print(t, "<br>");
        if (word) mo_html_escape(t, word, strlen(word));
    }
}

static void fact_status(mo_text *t, const mo_report_run *r)
{
    static const char *const known[] = {"done", "failed", "running", "interrupted"};
    const char *status = mo_reader_status(r->reader), *style = "";
    for (int i = 0; i < 4; i++)
        if (strcmp(status, known[i]) == 0) style = known[i];
    mo_html_print(t, "<span class=\"status %s\">", style);
    mo_html_escape(t, status, strlen(status));
    mo_html_print(t, "</span>");
    if (!*mo_report_word(r, "message")) return;
    mo_html_print(t, ": ");
    add_word(t, r, "message");
}

static void fact_cells(mo_text *t, const mo_report_run *r)
{
    mo_box3 box = mo_reader_domain(r->reader);
    const double size[3] = {box.hi.x - box.lo.x, box.hi.y - box.lo.y, box.hi.z - box.lo.z};
    double cells = mo_report_value(r, "settings.domain.cells"), cell = fmax(size[0], fmax(size[1], size[2])) / cells;
    bool flat = size[2] < 1.5 * cell;
    for (int a = 0; a < (flat ? 2 : 3); a++) {
        if (a) mo_html_print(t, " \xc3\x97 ");
        mo_html_count(t, round(size[a] / cell));
    }
    mo_html_print(t, " of ");
    mo_html_number(t, 1e3 * cell, 4);
    mo_html_print(t, "\xc2\xa0mm, %s", flat ? "2D" : "3D");
}

static void fact_frames(mo_text *t, const mo_report_run *r)
{
    mo_html_count(t, mo_report_value(r, "frames_done"));
    mo_html_print(t, " of ");
    mo_html_count(t, mo_report_value(r, "frames"));
    mo_html_print(t, ", ");
    mo_html_number(t, mo_reader_fps(r->reader), 4);
    mo_html_print(t, " per second");
}

static void fact_solver(mo_text *t, const mo_report_run *r)
{
    mo_html_print(t, "route ");
    add_word(t, r, "settings.solver.route");
    if (*mo_report_word(r, "settings.solver.scheme")) {
        mo_html_print(t, ", scheme ");
        add_word(t, r, "settings.solver.scheme");
    }
    mo_html_print(t, ", tolerance ");
    mo_html_number(t, mo_report_value(r, "settings.solver.tolerance"), 3);
}

static bool parse_date(const char *text, time_t *out)
{
    struct tm d = {0};
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &d.tm_year, &d.tm_mon, &d.tm_mday, &d.tm_hour, &d.tm_min, &d.tm_sec) !=
        6)
        return false;
    d.tm_year -= 1900, d.tm_mon -= 1;
    *out = timegm(&d);
    return true;
}

static void fact_elapsed(mo_text *t, const mo_report_run *r)
{
    time_t start, end;
    add_word(t, r, "start");
    if (!parse_date(mo_report_word(r, "start"), &start) || !parse_date(mo_report_word(r, "end"), &end)) return;
    mo_html_print(t, ", ended after ");
    mo_html_count(t, difftime(end, start));
    mo_html_print(t, "\xc2\xa0s");
}

static void fact_program(mo_text *t, const mo_report_run *r)
{
    mo_html_print(t, "Monolith ");
    add_word(t, r, "version");
    mo_html_print(t, ", ");
    add_word(t, r, "compiler");
    mo_html_print(t, ", ");
    double threads = mo_report_value(r, "threads");
    mo_html_count(t, threads);
    mo_html_print(t, threads == 1 ? " thread" : " threads");
}

typedef struct fact {
    const char *name;
    void (*add)(mo_text *t, const mo_report_run *r);
} fact;

static const fact facts[] = {
    {"Status", fact_status},       {"Scene", fact_scene},     {"Overrides", fact_overrides},
    {"Directory", fact_directory}, {"Cells", fact_cells},     {"Frames", fact_frames},
    {"Solver", fact_solver},       {"Started", fact_elapsed}, {"Program", fact_program},
};

static void add_figures(mo_text *t, const figure *list, const mo_report_run *run, int32_t count)
{
    mo_html_print(t, "<div class=\"card\"><table class=\"facts numbers\">");
    mo_report_head(t, run, count);
    for (const figure *f = list; f->name; f++) add_figure(t, f, run, count);
    mo_html_print(t, "</table></div>\n");
}

void mo_report_summary(mo_text *t, const mo_report_run *run, int32_t count)
{
    // Tables of many columns take the whole width each.
    mo_html_print(t, "<div class=\"%s\"><div class=\"stack\"><div class=\"card\"><table class=\"facts\">",
                  count <= 3 ? "grid" : "stack");
    mo_report_head(t, run, count);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        mo_html_print(t, "<tr><td>%s</td>", facts[i].name);
        for (int32_t k = 0; k < count; k++) {
            mo_html_print(t, "<td>");
            facts[i].add(t, &run[k]);
            mo_html_print(t, "</td>");
        }
        mo_html_print(t, "</tr>\n");
    }
    mo_html_print(t, "</table></div>\n");
    add_figures(t, cost, run, count);
    mo_html_print(t, "</div>\n<div class=\"stack\">");
    add_figures(t, quality, run, count);
    if (count > 1) mo_report_settings(t, run, count, true);
    mo_report_settings(t, run, count, false);
    mo_report_scenes(t, run, count);
    mo_html_print(t, "</div></div>\n");
}
