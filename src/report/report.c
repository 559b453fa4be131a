// mo_report_write: runs in, one page out. The order of the page, and the plots over time as a table.
#include "report/report.h"
#include "output/file.h"
#include <math.h>
#include <string.h>

// ---- Plots ----

enum { FIELDS = 3 };
typedef struct plot_def {
    const char *title, *unit, *note;
    double scale;
    struct {
        mo_field field;
        const char *name, *title; // name of the curve; title where each field has a plot of its own
    } curve[FIELDS];
    bool log, zero, whole;
    bool together; // the further curves only explain the first: not compared among runs
} plot_def;

static const plot_def motion_plots[] = {
    {"Volume error", "%", "Visible volume against what was filled and emitted, less what left.", 100,
     .curve = {{MO_FIELD_VOLUME_ERROR, "error", NULL}}, .zero = true},
    {"Volume", "m\xc2\xb3", NULL, 1,
     .curve = {{MO_FIELD_VOLUME, "volume", NULL}, {MO_FIELD_VOLUME_TARGET, "target", NULL}}, .together = true},
    {"Kinetic energy", "J", NULL, 1, .curve = {{MO_FIELD_KINETIC_ENERGY, "energy", NULL}}},
    {"Energy", "J", "Of liquid and bodies; work from outside and known losses since the start.", 1,
     .curve = {{MO_FIELD_ENERGY, "energy", "Energy"},
               {MO_FIELD_ENERGY_WORK, "work", "Work from outside"},
               {MO_FIELD_ENERGY_LOSS, "loss", "Known losses of energy"}}},
    {"Energy error", "%", "Growth of energy that no work explains.", 100,
     .curve = {{MO_FIELD_ENERGY_ERROR, "error", NULL}}, .zero = true},
    {"Momentum", "kg\xe2\x80\x89m/s", NULL, 1,
     .curve = {{MO_FIELD_MOMENTUM_X, "x", "Momentum, x"},
               {MO_FIELD_MOMENTUM_Y, "y", "Momentum, y"},
               {MO_FIELD_MOMENTUM_Z, "z", "Momentum, z"}},
     .zero = true},
    {"Largest speed", "m/s", NULL, 1, .curve = {{MO_FIELD_MAX_SPEED, "speed", NULL}}},
    {"Particles", "", NULL, 1, .curve = {{MO_FIELD_PARTICLES, "particles", NULL}}, .whole = true},
    {"Particle density, rms deviation", "%", "In cells well inside the liquid.", 100,
     .curve = {{MO_FIELD_DENSITY_RMS, "deviation", NULL}}},
    {"Particles out of the ordinary", "",
     "In free flight; stopped by the limit of the correction; too fast for the step.", 1,
     .curve = {{MO_FIELD_BALLISTIC, "free flight", "Particles in free flight"},
               {MO_FIELD_CLAMPED, "limited", "Particles with limited correction"},
               {MO_FIELD_OUTLIERS, "fast", "Particles that moved in parts of a step"}},
     .whole = true},
    {"Contacts between solids", "", NULL, 1, .curve = {{MO_FIELD_CONTACTS, "contacts", NULL}}, .whole = true},
    {"Deepest penetration", "mm", NULL, 1e3, .curve = {{MO_FIELD_MAX_PENETRATION, "penetration", NULL}}},
};

static const plot_def elastic_plots[] = {
    {"Elastic energy", "J", "In deformed elastic bodies.", 1, .curve = {{MO_FIELD_ELASTIC_ENERGY, "energy", NULL}}},
    {"Least det F", "", "The most squeezed element, its volume over that at rest; inverted below 0.", 1,
     .curve = {{MO_FIELD_LEAST_VOLUME, "det F", NULL}}, .zero = true},
    {"Inverted elements", "", NULL, 1, .curve = {{MO_FIELD_INVERTED, "elements", NULL}}, .whole = true},
    {"Last step of Newton's method", "", "Change of velocities in the last round, relative.", 1,
     .curve = {{MO_FIELD_NEWTON, "change", NULL}}, .log = true},
    {"Newton's method in trouble", "", "Halved steps; linearisations that left negative stiffness out.", 1,
     .curve = {{MO_FIELD_HALVINGS, "halvings", "Halved steps of Newton's method"},
               {MO_FIELD_PROJECTED, "projected", "Linearisations that left negative stiffness out"}},
     .whole = true},
};

static const plot_def solver_plots[] = {
    {"Iterations", "", NULL, 1,
     .curve = {{MO_FIELD_ITERATIONS, "solve", "Iterations of the solve for pressure and stress"},
               {MO_FIELD_CORRECTION_ITERATIONS, "correction", "Iterations of the density correction"}},
     .whole = true},
    {"Rounds", "", "Solves of a step, each with the viscosities of the flow before it.", 1,
     .curve = {{MO_FIELD_ROUNDS, "rounds", NULL}}, .whole = true},
    {"Change of the last round", "", "Mean relative change of the viscosity.", 1,
     .curve = {{MO_FIELD_ROUND_CHANGE, "change", NULL}}, .log = true},
    {"Residual", "", "Where the solve stopped, relative.", 1, .curve = {{MO_FIELD_RESIDUAL, "residual", NULL}},
     .log = true},
    {"Largest divergence", "1/s", "In a liquid cell, after the solve.", 1,
     .curve = {{MO_FIELD_MAX_DIVERGENCE, "divergence", NULL}}, .log = true},
    {"Time step", "ms", NULL, 1e3, .curve = {{MO_FIELD_DT, "step", NULL}}},
    {"Memory", "MB", NULL, 1e-6, .curve = {{MO_FIELD_MEMORY, "in use", NULL}}},
};

// Nothing to show: no values but zeros. A single round is no rounds.
static bool all_zero(const mo_report_run *run, mo_field field)
{
    for (int32_t i = 0; i < run->steps; i++) {
        double value = run->value[field][i];
        if (isfinite(value) && value != 0 && !(field == MO_FIELD_ROUNDS && value == 1)) return false;
    }
    return true;
}

// The tolerance, where all runs share it, belongs into the plot of the residual.
static double reference_of(const plot_def *def, const mo_report_run *run, int32_t count)
{
    if (def->curve[0].field != MO_FIELD_RESIDUAL) return NAN;
    double tolerance = mo_report_value(&run[0], "settings.solver.tolerance");
    for (int32_t k = 1; k < count; k++)
        if (mo_report_value(&run[k], "settings.solver.tolerance") != tolerance) return NAN;
    return tolerance;
}

static mo_plot plot_of(const plot_def *def, const mo_report_run *run, int32_t count, const mo_line *line)
{
    return (mo_plot){.title = def->title,
                     .unit = def->unit,
                     .note = def->note,
                     .scale = def->scale,
                     .log = def->log,
                     .zero = def->zero,
                     .whole = def->whole,
                     .reference = reference_of(def, run, count),
                     .reference_name = "tolerance",
                     .line = line};
}

static mo_line line_of(const mo_report_run *run, mo_field field, const char *name, int32_t colour)
{
    return (mo_line){.name = name,
                     .x = run->value[MO_FIELD_TIME],
                     .y = run->value[field],
                     .count = run->steps,
                     .colour = colour,
                     .dashed = colour >= 8};
}

// One run: the curves of a plot together.
static void plot_fields(mo_text *t, const plot_def *def, const mo_report_run *run)
{
    mo_line line[FIELDS];
    mo_plot plot = plot_of(def, run, 1, line);
    for (int i = 0; i < FIELDS && def->curve[i].name; i++) {
        if (i && !all_zero(run, def->curve[0].field) && all_zero(run, def->curve[i].field)) continue;
        line[plot.lines] = line_of(run, def->curve[i].field, def->curve[i].name, i);
        line[plot.lines++].dashed = def->together && i > 0;
    }
    mo_plot_lines(t, &plot);
}

// Several runs: a plot per field, a colour per run.
static void plot_runs(mo_text *t, const plot_def *def, const mo_report_run *run, int32_t count)
{
    mo_line line[MO_REPORT_RUNS];
    for (int i = 0; i < FIELDS && def->curve[i].name && !(def->together && i); i++) {
        mo_plot plot = plot_of(def, run, count, line);
        bool zero = true;
        if (def->curve[i].title) plot.title = def->curve[i].title, plot.note = NULL;
        for (int32_t k = 0; k < count; k++) {
            line[plot.lines++] = line_of(&run[k], def->curve[i].field, run[k].label, k);
            zero = zero && all_zero(&run[k], def->curve[i].field);
        }
        if (!zero) mo_plot_lines(t, &plot);
    }
}

static void add_plots(mo_text *t, const plot_def *def, size_t defs, const mo_report_run *run, int32_t count)
{
    mo_html_print(t, "<div class=\"grid\">\n");
    for (size_t i = 0; i < defs; i++) {
        bool zero = true;
        for (int32_t k = 0; k < count; k++)
            for (int c = 0; c < FIELDS && def[i].curve[c].name; c++)
                zero = zero && all_zero(&run[k], def[i].curve[c].field);
        if (zero) continue;
        if (count == 1)
            plot_fields(t, &def[i], run);
        else
            plot_runs(t, &def[i], run, count);
    }
    mo_html_print(t, "</div>\n");
}

// ---- The page ----

static void add_title(mo_text *t, const mo_report_run *run, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        if (k) mo_html_print(t, k == count - 1 ? " and " : ", ");
        mo_html_escape(t, run[k].label, strlen(run[k].label));
    }
}

void mo_report_page(mo_text *t, const mo_report_run *run, int32_t count)
{
    MO_ASSERT(count > 0 && count <= MO_REPORT_RUNS);
    mo_html_print(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    add_title(t, run, count);
    mo_html_print(t,
                  " \xe2\x80\x93 Monolith report</title>\n<style>\n%s</style>\n</head>\n<body><main>\n"
                  "<header><h1>",
                  mo_report_style);
    add_title(t, run, count);
    mo_html_print(t, "</h1><p>%s</p></header>\n",
                  count == 1 ? "Report of a Monolith run"
                             : "Comparison of Monolith runs; ratios are against the first");
    mo_report_warnings(t, run, count);
    mo_report_summary(t, run, count);
    mo_report_images(t, run, count);
    mo_html_print(t, "<h2>Liquid</h2>\n");
    add_plots(t, motion_plots, sizeof motion_plots / sizeof *motion_plots, run, count);
    mo_report_elastics(t, run, count);
    bool elastic = false;
    for (int32_t k = 0; k < count; k++) elastic = elastic || !all_zero(&run[k], MO_FIELD_VERTICES);
    if (elastic) add_plots(t, elastic_plots, sizeof elastic_plots / sizeof *elastic_plots, run, count);
    mo_html_print(t, "<h2>Solver</h2>\n");
    add_plots(t, solver_plots, sizeof solver_plots / sizeof *solver_plots, run, count);
    mo_report_reasons(t, run, count);
    mo_report_stages(t, run, count);
    mo_html_print(t,
                  "<footer>Written by monolith report, version %s. Curves show every step; where several fall into one "
                  "pixel, their lowest and highest.</footer>\n</main>\n<script>\n%s</script>\n</body></html>\n",
                  mo_version(), mo_report_script);
}

// Runs whose directories end alike are told apart by the whole path.
static mo_status separate_labels(mo_report_run *run, int32_t count, mo_error *err)
{
    bool twice[MO_REPORT_RUNS] = {false};
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < count; j++) twice[i] = twice[i] || (i != j && strcmp(run[i].label, run[j].label) == 0);
    for (int32_t i = 0; i < count; i++) {
        if (!twice[i]) continue;
        char *whole = mo_path("", "%s", mo_reader_directory(run[i].reader));
        if (!whole) return mo_fail_memory(err);
        mo_free(run[i].label);
        run[i].label = whole;
    }
    return MO_OK;
}

static mo_status write_page(const mo_text *page, const char *directory, const char *path, mo_error *err)
{
    char *target = path ? mo_path("", "%s", path) : mo_path(directory, "report.html");
    if (!target) return mo_fail_memory(err);
    mo_file *file;
    mo_status status = mo_page_create(target, &file, err);
    mo_free(target);
    if (status != MO_OK) return status;
    mo_file_write(file, page->data, (size_t)page->bytes);
    return mo_file_commit(file, err);
}

mo_status mo_report_write(const char *const *dirs, int32_t count, const char *path, mo_error *err)
{
    if (!dirs || count < 1 || count > MO_REPORT_RUNS)
        return mo_fail(err, MO_ERROR_INPUT, "a report is of 1 to %d runs, got %d", MO_REPORT_RUNS, (int)count);
    mo_report_run *run = mo_calloc(sizeof *run * (size_t)count);
    if (!run) return mo_fail_memory(err);
    mo_status status = MO_OK;
    for (int32_t k = 0; k < count && status == MO_OK; k++) status = mo_report_run_load(dirs[k], &run[k], err);
    if (status == MO_OK) status = separate_labels(run, count, err);
    if (status == MO_OK) {
        mo_text page = {0};
        mo_report_page(&page, run, count);
        status = page.failed ? mo_fail_memory(err) : write_page(&page, dirs[0], path, err);
        mo_text_destroy(&page);
    }
    for (int32_t k = 0; k < count; k++) mo_report_run_destroy(&run[k]);
    mo_free(run);
    return status;
}
