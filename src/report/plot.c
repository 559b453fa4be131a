// Figures of a report page: a caption with the curves' names, extremes and last values, and a drawing that the page
// scales. The drawing carries its axes as data attributes, so that the page's script can turn a place back into values.
#include "report/drawing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static mo_drawing drawing_on(mo_text *t, mo_axis x, mo_axis y, double scale)
{
    return (mo_drawing){.t = t,
                        .width = 640,
                        .height = 270,
                        .left = 62,
                        .right = 14,
                        .top = 10,
                        .bottom = 34,
                        .x = x,
                        .y = y,
                        .scale = scale};
}

static void add_attribute(mo_text *t, const char *name, double value)
{
    char text[32];
    mo_format_double(value, text);
    mo_html_print(t, " data-%s=\"%s\"", name, text);
}

static void begin_drawing(const mo_drawing *d, const char *unit, const char *title)
{
    mo_text *t = d->t;
    mo_html_print(t, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over time\"", d->width, d->height, title);
    add_attribute(t, "x0", d->x.lo), add_attribute(t, "x1", d->x.hi);
    add_attribute(t, "y0", d->y.lo), add_attribute(t, "y1", d->y.hi);
    mo_html_print(t, " data-box=\"%d %d %d %d\" data-log=\"%d\" data-unit=\"%s\">\n", d->left, d->top,
                  d->width - d->left - d->right, d->height - d->top - d->bottom, d->y.log, unit);
    mo_drawing_grid(d, "s");
}

static void add_unit(mo_text *t, const char *unit, int exponent)
{
    if (!exponent && !*unit) return;
    mo_html_print(t, " <small>");
    if (exponent) {
        mo_html_power(t, exponent);
        if (*unit) mo_html_print(t, "\xe2\x80\x89");
    }
    mo_html_print(t, "%s</small>", unit);
}

static void begin_figure(mo_text *t, const char *title, const char *unit, int exponent, const char *note)
{
    mo_html_print(t, "<figure><figcaption><div><h3>%s", title);
    add_unit(t, unit, exponent);
    mo_html_print(t, "</h3>");
    if (note) mo_html_print(t, "<p>%s</p>", note);
    mo_html_print(t, "</div>");
}

// Times run from 0 to the last of the runs; the axis ends there, not on a tick.
static mo_axis time_axis(double last)
{
    mo_axis x = mo_axis_linear(0, last > 0 ? last : 1, 8, false);
    x.lo = 0, x.hi = last > 0 ? last : 1;
    return x;
}

// ---- Lines ----

static void add_marks(const mo_drawing *d, const mo_line *line)
{
    mo_summary s = mo_summarize(line->y, line->count);
    const int32_t at[3] = {s.at_min, s.at_max, s.at_last};
    mo_html_print(d->t, "<g class=\"c%d\">", (int)(line->colour % 8));
    for (int i = s.min == s.max ? 2 : 0; i < 3; i++) mo_drawing_mark(d, i == 2 ? "last" : "extreme", line, at[i]);
    mo_html_print(d->t, "</g>\n");
}

static void add_legend(mo_text *t, const mo_plot *plot, int exponent)
{
    static const char *const head[] = {"min", "max", "last"};
    double scale = plot->scale / pow(10, exponent);
    mo_html_print(t, "<table class=\"legend\"><tr><td></td>");
    for (int i = 0; i < 3; i++) mo_html_print(t, "<th>%s</th>", head[i]);
    mo_html_print(t, "</tr>");
    for (int32_t k = 0; k < plot->lines; k++) {
        const mo_line *line = &plot->line[k];
        mo_summary s = mo_summarize(line->y, line->count);
        const double value[3] = {s.min, s.max, s.last};
        mo_html_print(t, "<tr><td><i class=\"c%d%s\"></i>", (int)(line->colour % 8), line->dashed ? " dash" : "");
        mo_html_escape(t, line->name, strlen(line->name));
        for (int i = 0; i < 3; i++) {
            mo_html_print(t, "</td><td>");
            if (plot->whole && !exponent)
                mo_html_count(t, value[i] * scale);
            else
                mo_html_number(t, value[i] * scale, 4);
        }
        mo_html_print(t, "</td></tr>");
    }
    mo_html_print(t, "</table></figcaption>\n");
}

static mo_axis value_axis(const mo_plot *plot, double lo, double hi)
{
    if (plot->log) return mo_axis_log(lo, hi, 5);
    // From zero unless that would waste most of the height.
    if (plot->zero || (lo > 0 && lo < 0.6 * hi)) lo = fmin(lo, 0);
    if (plot->zero || (hi < 0 && hi > 0.6 * lo)) hi = fmax(hi, 0);
    return mo_axis_linear(lo, hi, 5, plot->whole);
}

void mo_plot_lines(mo_text *t, const mo_plot *plot)
{
    mo_plot_range r;
    if (!mo_plot_find_range(plot, &r)) return;
    double reference = plot->reference * plot->scale;
    bool referred = isfinite(reference) && !(plot->log && reference <= 0);
    if (referred) r.y[0] = fmin(r.y[0], reference), r.y[1] = fmax(r.y[1], reference);
    mo_drawing d = drawing_on(t, time_axis(r.x[1]), value_axis(plot, r.y[0], r.y[1]), plot->scale);
    int exponent = mo_axis_exponent(&d.y);
    begin_figure(t, plot->title, plot->unit, exponent, plot->note);
    add_legend(t, plot, exponent);
    begin_drawing(&d, plot->unit, plot->title);
    for (int32_t k = 0; k < plot->lines; k++) mo_drawing_line(&d, &plot->line[k]);
    for (int32_t k = 0; k < plot->lines; k++) add_marks(&d, &plot->line[k]);
    if (referred) mo_drawing_reference(&d, plot->reference_name, reference);
    mo_html_print(t, "</svg></figure>\n");
}

// ---- Stages, stacked ----

enum { COLUMNS = 288 };

// Means over at most COLUMNS equal groups of steps: time at the group's end, milliseconds of a stage.
static int32_t group_count(int32_t steps) { return steps < COLUMNS ? steps : COLUMNS; }
static int32_t group_start(int32_t steps, int32_t group)
{
    return (int32_t)((int64_t)steps * group / group_count(steps));
}
static double group_mean(const double *value, int32_t steps, int32_t group)
{
    int32_t begin = group_start(steps, group), end = group_start(steps, group + 1), n = 0;
    double sum = 0;
    for (int32_t i = begin; i < end; i++)
        if (isfinite(value[i])) sum += value[i], n++;
    return n ? sum / n : 0;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double mo_plot_stages_top(const mo_report_run *run)
{
    double total[COLUMNS];
    int32_t n = group_count(run->steps);
    for (int32_t g = 0; g < n; g++) total[g] = 1e3 * group_mean(run->value[MO_FIELD_WALL_SECONDS], run->steps, g);
    qsort(total, (size_t)n, sizeof *total, compare_doubles);
    // The machine's hiccups must not flatten everything else.
    double usual = total[(int32_t)(0.97 * (n - 1))];
    return total[n - 1] > 3 * usual && usual > 0 ? 1.5 * usual : total[n - 1];
}

static void add_corner(const mo_drawing *d, double time, double value)
{
    mo_drawing_point(d->t, mo_drawing_x(d, fmin(fmax(time, 0), d->x.hi)), mo_drawing_y(d, fmin(value, d->y.hi)));
}

static void add_band(const mo_drawing *d, const mo_report_run *run, const double *below, const double *above)
{
    int32_t n = group_count(run->steps);
    const double *time = run->value[MO_FIELD_TIME];
    for (int32_t g = -1; g < n; g++) { // there, from time 0
        double at = g < 0 ? 0 : time[group_start(run->steps, g + 1) - 1];
        add_corner(d, at, above[g < 0 ? 0 : g]);
    }
    for (int32_t g = n - 1; g >= -1; g--) { // and back
        double at = g < 0 ? 0 : time[group_start(run->steps, g + 1) - 1];
        add_corner(d, at, below[g < 0 ? 0 : g]);
    }
}

void mo_plot_stages(mo_text *t, const mo_report_run *run, const int32_t *colour, double top)
{
    MO_ASSERT(top > 0);
    mo_summary time = mo_summarize(run->value[MO_FIELD_TIME], run->steps);
    mo_drawing d = drawing_on(t, time_axis(time.max), mo_axis_linear(0, top, 5, false), 1);
    double below[COLUMNS] = {0}, above[COLUMNS] = {0};
    begin_figure(t, "Time per step", "ms", mo_axis_exponent(&d.y), NULL);
    mo_html_print(t, "<p>");
    mo_html_escape(t, run->label, strlen(run->label));
    mo_summary wall = mo_summarize(run->value[MO_FIELD_WALL_SECONDS], run->steps);
    mo_html_print(t, ": mean ");
    mo_html_number(t, 1e3 * wall.mean, 3);
    mo_html_print(t, ", longest ");
    mo_html_number(t, 1e3 * wall.max, 3);
    mo_html_print(t, "\xe2\x80\x89ms</p></figcaption>\n");
    begin_drawing(&d, "ms", "Time per step");
    for (int32_t k = 0; k < run->stage_count; k++) {
        for (int32_t g = 0; g < group_count(run->steps); g++)
            above[g] = below[g] + 1e3 * group_mean(run->seconds[k], run->steps, g);
        mo_html_print(t, "<polygon class=\"s%d\" points=\"", (int)(colour[k] % 10));
        add_band(&d, run, below, above);
        mo_html_print(t, "\"><title>");
        mo_html_escape(t, run->stage[k], strlen(run->stage[k]));
        mo_html_print(t, "</title></polygon>\n");
        memcpy(below, above, sizeof below);
    }
    mo_html_print(t, "</svg></figure>\n");
}
