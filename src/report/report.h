// Data and functions that the parts of the report page share. mo_report_write (public header) loads the runs; then the
// page is built as one growing text and written at once. Numbers never go through printf's %f or %g, because a locale's
// comma would break the page.
#ifndef MO_REPORT_H
#define MO_REPORT_H

#include "base/base.h"
#include "output/json.h"
#include "output/reader.h"
#include "report/plot.h"
#include <cjson/cJSON.h>

enum { MO_REPORT_RUNS = 16, MO_REPORT_STAGES = 24, MO_REPORT_REASONS = 8, MO_REPORT_NAME = 32 };

// ---- A run as the page shows it ----

typedef enum mo_field { // columns of stats.jsonl that the page uses
    MO_FIELD_TIME,
    MO_FIELD_DT,
    MO_FIELD_PARTICLES,
    MO_FIELD_PRESSURES,
    MO_FIELD_STRESSES,
    MO_FIELD_ROUNDS,
    MO_FIELD_ROUND_CHANGE,
    MO_FIELD_ITERATIONS,
    MO_FIELD_CORRECTION_ITERATIONS,
    MO_FIELD_RESIDUAL,
    MO_FIELD_VOLUME,
    MO_FIELD_VOLUME_TARGET,
    MO_FIELD_VOLUME_ERROR,
    MO_FIELD_DENSITY_RMS,
    MO_FIELD_KINETIC_ENERGY,
    MO_FIELD_ENERGY,
    MO_FIELD_ENERGY_WORK,
    MO_FIELD_ENERGY_LOSS,
    MO_FIELD_ENERGY_ERROR,
    MO_FIELD_MOMENTUM_X,
    MO_FIELD_MOMENTUM_Y,
    MO_FIELD_MOMENTUM_Z,
    MO_FIELD_MAX_SPEED,
    MO_FIELD_MAX_DIVERGENCE,
    MO_FIELD_BALLISTIC,
    MO_FIELD_CLAMPED,
    MO_FIELD_OUTLIERS,
    MO_FIELD_CONTACTS,
    MO_FIELD_MAX_PENETRATION,
    MO_FIELD_VERTICES,
    MO_FIELD_ELASTIC_ENERGY,
    MO_FIELD_LEAST_VOLUME,
    MO_FIELD_INVERTED,
    MO_FIELD_NEWTON,
    MO_FIELD_HALVINGS,
    MO_FIELD_PROJECTED,
    MO_FIELD_CUT_CELLS,
    MO_FIELD_TANGLED,
    MO_FIELD_CROSSED,
    MO_FIELD_CPU_SECONDS,
    MO_FIELD_MEMORY,
    MO_FIELD_WALL_SECONDS, // sum of the stages
    MO_FIELD_COUNT
} mo_field;

typedef struct mo_report_run {
    mo_reader *reader;
    cJSON *json; // run.json
    char *label; // last part of the directory's name, or the whole when two runs share it
    int32_t steps;
    double *value[MO_FIELD_COUNT]; // [steps] each, NAN where absent; pieces of `values`
    double *values;
    int32_t stage_count;
    char stage[MO_REPORT_STAGES][MO_REPORT_NAME];
    double *seconds[MO_REPORT_STAGES]; // [steps] each, pieces of `values`
    int32_t reason_count;
    char reason[MO_REPORT_REASONS][MO_REPORT_NAME];
    int64_t reason_steps[MO_REPORT_REASONS];
    int64_t unconverged; // steps whose solve ended otherwise than converged or with nothing to do
} mo_report_run;

// A value of run.json by its path, such as "scene.path"; NULL if absent.
const cJSON *mo_report_get(const mo_report_run *run, const char *path);
const char *mo_report_word(const mo_report_run *run, const char *path); // "" if absent
double mo_report_value(const mo_report_run *run, const char *path);     // NAN if absent

mo_status mo_report_run_load(const char *directory, mo_report_run *run, mo_error *err);
void mo_report_run_destroy(mo_report_run *run);

typedef struct mo_summary { // of the finite values; NAN when there is none
    double min, max, last, mean, sum;
    int32_t count, at_min, at_max, at_last; // indices
} mo_summary;
mo_summary mo_summarize(const double *value, int32_t count);

// ---- Text ----

void mo_html_print(mo_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3))); // whole numbers and words
void mo_html_escape(mo_text *t, const char *text, size_t bytes);
void mo_html_number(mo_text *t, double value, int digits); // significant digits; "5.87×10⁻⁷", "1.234", "–" for NAN
void mo_html_count(mo_text *t, double value);              // "1 234 567"
void mo_html_fixed(mo_text *t, double value, int decimals);
void mo_html_ratio(mo_text *t, double value, double reference); // "×0.83", small; nothing without a reference
void mo_html_power(mo_text *t, int exponent);                   // "10⁻⁷"

// ---- Plots ----

void mo_plot_lines(mo_text *t, const mo_plot *plot); // a figure of the page, over time
// Plots the time of each stage of one run, stacked, in milliseconds. `top` is the highest value shown, the same for all
// runs of a page; colour[stage] is the stage's place in the list of stages of the page.
void mo_plot_stages(mo_text *t, const mo_report_run *run, const int32_t *colour, double top);
double mo_plot_stages_top(const mo_report_run *run); // ms that hold all but rare outliers

// ---- Parts of the page ----

extern const char mo_report_style[], mo_report_script[];
void mo_report_head(mo_text *t, const mo_report_run *run, int32_t count); // of a table: the runs, if several
void mo_report_page(mo_text *t, const mo_report_run *run, int32_t count);
void mo_report_warnings(mo_text *t, const mo_report_run *run, int32_t count); // first on the page
void mo_report_summary(mo_text *t, const mo_report_run *run, int32_t count);
void mo_report_settings(mo_text *t, const mo_report_run *run, int32_t count, bool only_differences);
void mo_report_scenes(mo_text *t, const mo_report_run *run, int32_t count);
void mo_report_elastics(mo_text *t, const mo_report_run *run, int32_t count); // a table; nothing if there are none
void mo_report_stages(mo_text *t, const mo_report_run *run, int32_t count);
void mo_report_reasons(mo_text *t, const mo_report_run *run, int32_t count);
// Shows the first, the middle and the last of DIR/images/*.png. The page says which files are missing, too big or not
// pictures.
void mo_report_images(mo_text *t, const mo_report_run *run, int32_t count);

#endif
