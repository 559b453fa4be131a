// Plots as inline SVG. A figure is a caption with the curves' names, extremes and last values, and a drawing of fixed
// coordinates that the page scales. The drawing carries its axes as data attributes, so that the page's script can turn
// a place back into values.
#include "report/report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 270, LEFT = 62, RIGHT = 14, TOP = 10, BOTTOM = 34 };
static const double inner_width = WIDTH - LEFT - RIGHT, inner_height = HEIGHT - TOP - BOTTOM;

// ---- Coordinates: two decimals, written without printf, for a page has many ----

static void add_coordinate(mo_text *t, double value)
{
    char text[24], *c = text + sizeof text;
    long hundredths = lround(value * 100), n = labs(hundredths);
    char *end = c;
    for (int digits = 0; n || digits < 3; n /= 10) {
        *--c = (char)('0' + n % 10);
        if (++digits == 2) *--c = '.';
    }
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    if (hundredths < 0) *--c = '-';
    mo_text_add(t, c, (size_t)(end - c));
}

static void add_point(mo_text *t, double x, double y)
{
    add_coordinate(t, x);
    mo_text_add(t, ",", 1);
    add_coordinate(t, y);
    mo_text_add(t, " ", 1);
}

static double place_x(const mo_axis *a, double value) { return LEFT + inner_width * mo_axis_place(a, value); }
static double place_y(const mo_axis *a, double value) { return TOP + inner_height * (1 - mo_axis_place(a, value)); }

// ---- Frame, grid and labels ----

// Ticks of small or large numbers share a power of ten, told beside the unit.
static int shared_exponent(const mo_axis *y)
{
    double size = fmax(fabs(y->lo), fabs(y->hi));
    if (y->log || !(size > 0) || (size < 1e5 && size >= 0.01)) return 0;
    return 3 * (int)floor(log10(size) / 3 + 1e-9);
}

static void add_y_label(mo_text *t, const mo_axis *y, double value, int exponent)
{
    if (y->log)
        mo_html_power(t, (int)lround(log10(value)));
    else if (y->decimals + exponent <= 0)
        mo_html_count(t, round(value / pow(10, exponent)));
    else
        mo_html_fixed(t, value / pow(10, exponent), y->decimals + exponent);
}

static void add_attribute(mo_text *t, const char *name, double value)
{
    char text[32];
    mo_format_double(value, text);
    mo_html_print(t, " data-%s=\"%s\"", name, text);
}

static void begin_drawing(mo_text *t, const mo_axis *x, const mo_axis *y, const char *unit, const char *title)
{
    mo_html_print(t, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over time\"", WIDTH, HEIGHT, title);
    add_attribute(t, "x0", x->lo), add_attribute(t, "x1", x->hi);
    add_attribute(t, "y0", y->lo), add_attribute(t, "y1", y->hi);
    mo_html_print(t, " data-box=\"%d %d %d %d\" data-log=\"%d\" data-unit=\"%s\">\n", LEFT, TOP, WIDTH - LEFT - RIGHT,
                  HEIGHT - TOP - BOTTOM, y->log, unit);
    int exponent = shared_exponent(y);
    for (int32_t i = 0; i < y->ticks; i++) {
        double at = place_y(y, y->tick[i]);
        mo_html_print(t, "<path class=\"%s\" d=\"M%d ", !y->log && y->tick[i] == 0 ? "zero" : "grid", LEFT);
        add_coordinate(t, at);
        mo_html_print(t, "H%d\"/><text class=\"y\" x=\"%d\" y=\"", WIDTH - RIGHT, LEFT - 8);
        add_coordinate(t, at + 4);
        mo_text_add(t, "\">", 2);
        add_y_label(t, y, y->tick[i], exponent);
        mo_html_print(t, "</text>\n");
    }
    for (int32_t i = 0; i < x->ticks; i++) {
        if (x->tick[i] < x->lo || x->tick[i] > x->hi * (1 + 1e-9)) continue;
        double at = place_x(x, x->tick[i]);
        mo_html_print(t, "<path class=\"grid\" d=\"M");
        add_coordinate(t, at);
        mo_html_print(t, " %dV%d\"/><text class=\"x\" x=\"", TOP, HEIGHT - BOTTOM);
        add_coordinate(t, at);
        mo_html_print(t, "\" y=\"%d\">", HEIGHT - BOTTOM + 17);
        mo_html_fixed(t, x->tick[i], x->decimals);
        if (i == x->ticks - 1 || x->tick[i + 1] > x->hi * (1 + 1e-9)) mo_html_print(t, "\xe2\x80\x89s");
        mo_html_print(t, "</text>\n");
    }
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

typedef struct column { // what falls into one column of pixels
    int32_t count;
    double x_first, x_min, x_max, x_last;
    double first, min, max, last; // y, already in pixels
} column;

static void flush_column(mo_text *t, column *c)
{
    if (c->count) add_point(t, c->x_first, c->first);
    bool min_first = c->x_min <= c->x_max;
    for (int i = 0; i < 2 && c->count > 2; i++) {
        bool min = min_first == (i == 0);
        double x = min ? c->x_min : c->x_max, y = min ? c->min : c->max;
        if (x > c->x_first && x < c->x_last) add_point(t, x, y);
    }
    if (c->count > 1) add_point(t, c->x_last, c->last);
    c->count = 0;
}

static void add_to_column(column *c, double x, double y)
{
    if (!c->count++) *c = (column){1, x, x, x, x, y, y, y, y};
    if (y < c->min) c->min = y, c->x_min = x;
    if (y > c->max) c->max = y, c->x_max = x;
    c->x_last = x, c->last = y;
}

// One polyline per stretch without gaps. Of the points in one column of pixels the first, lowest, highest and last are
// drawn: the picture is that of all points, whatever their number.
static void add_line(mo_text *t, const mo_line *line, const mo_plot *plot, const mo_axis *x, const mo_axis *y)
{
    column c = {0};
    bool open = false;
    int32_t at = 0;
    mo_html_print(t, "<g class=\"line c%d%s\" data-name=\"", (int)(line->colour % 8), line->dashed ? " dash" : "");
    mo_html_escape(t, line->name, strlen(line->name));
    mo_html_print(t, "\">");
    for (int32_t i = 0; i <= line->count; i++) {
        double v = i < line->count ? line->y[i] * plot->scale : NAN;
        bool gap = !isfinite(v) || !isfinite(line->x[i]) || (plot->log && v <= 0);
        double px = gap ? 0 : place_x(x, line->x[i]), py = gap ? 0 : place_y(y, v);
        if (open && (gap || (int32_t)px != at)) flush_column(t, &c);
        if (open && gap) mo_html_print(t, "\"/>"), open = false;
        if (gap) continue;
        if (!open) mo_html_print(t, "<polyline points=\""), open = true;
        at = (int32_t)px;
        add_to_column(&c, px, py);
    }
    mo_html_print(t, "</g>\n");
}

static void add_mark(mo_text *t, const char *kind, double x, double y)
{
    mo_html_print(t, "<circle class=\"%s\" r=\"%s\" cx=\"", kind, kind[0] == 'l' ? "3.2" : "2.8");
    add_coordinate(t, x);
    mo_html_print(t, "\" cy=\"");
    add_coordinate(t, y);
    mo_html_print(t, "\"/>");
}

static void add_marks(mo_text *t, const mo_line *line, const mo_plot *plot, const mo_axis *x, const mo_axis *y)
{
    mo_summary s = mo_summarize(line->y, line->count);
    const int32_t at[3] = {s.at_min, s.at_max, s.at_last};
    mo_html_print(t, "<g class=\"c%d\">", (int)(line->colour % 8));
    for (int i = s.min == s.max ? 2 : 0; i < 3; i++) {
        double v = at[i] < 0 ? NAN : line->y[at[i]] * plot->scale;
        if (!isfinite(v) || !isfinite(line->x[at[i]]) || (plot->log && v <= 0)) continue;
        add_mark(t, i == 2 ? "last" : "extreme", place_x(x, line->x[at[i]]), place_y(y, v));
    }
    mo_html_print(t, "</g>\n");
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

// The range of all lines; false if there is nothing to draw.
static bool value_range(const mo_plot *plot, double *lo, double *hi, double *last_time)
{
    *lo = INFINITY, *hi = -INFINITY, *last_time = 0;
    for (int32_t k = 0; k < plot->lines; k++) {
        const mo_line *line = &plot->line[k];
        for (int32_t i = 0; i < line->count; i++) {
            double v = line->y[i] * plot->scale;
            if (isfinite(line->x[i])) *last_time = fmax(*last_time, line->x[i]);
            if (!isfinite(v) || (plot->log && v <= 0)) continue;
            *lo = fmin(*lo, v), *hi = fmax(*hi, v);
        }
    }
    return *lo <= *hi;
}

static mo_axis value_axis(const mo_plot *plot, double lo, double hi)
{
    if (plot->log) return mo_axis_log(lo, hi, 5);
    // From zero unless that would waste most of the height.
    if (plot->zero || (lo > 0 && lo < 0.6 * hi)) lo = fmin(lo, 0);
    if (plot->zero || (hi < 0 && hi > 0.6 * lo)) hi = fmax(hi, 0);
    return mo_axis_linear(lo, hi, 5, plot->whole);
}

static void add_reference(mo_text *t, const char *name, double at)
{
    mo_html_print(t, "<path class=\"reference\" d=\"M%d ", LEFT);
    add_coordinate(t, at);
    mo_html_print(t, "H%d\"/><text class=\"reference\" x=\"%d\" y=\"", WIDTH - RIGHT, WIDTH - RIGHT - 4);
    add_coordinate(t, at > TOP + 20 ? at - 5 : at + 15);
    mo_html_print(t, "\">%s</text>\n", name);
}

void mo_plot_lines(mo_text *t, const mo_plot *plot)
{
    double lo, hi, last_time;
    if (!value_range(plot, &lo, &hi, &last_time)) return;
    double reference = plot->reference * plot->scale;
    bool referred = isfinite(reference) && !(plot->log && reference <= 0);
    if (referred) lo = fmin(lo, reference), hi = fmax(hi, reference);
    mo_axis x = time_axis(last_time), y = value_axis(plot, lo, hi);
    int exponent = shared_exponent(&y);
    begin_figure(t, plot->title, plot->unit, exponent, plot->note);
    add_legend(t, plot, exponent);
    begin_drawing(t, &x, &y, plot->unit, plot->title);
    for (int32_t k = 0; k < plot->lines; k++) add_line(t, &plot->line[k], plot, &x, &y);
    for (int32_t k = 0; k < plot->lines; k++) add_marks(t, &plot->line[k], plot, &x, &y);
    if (referred) add_reference(t, plot->reference_name, place_y(&y, reference));
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

static void add_band(mo_text *t, const mo_report_run *run, const double *below, const double *above, const mo_axis *x,
                     const mo_axis *y)
{
    int32_t n = group_count(run->steps);
    const double *time = run->value[MO_FIELD_TIME];
    for (int32_t g = -1; g < n; g++) { // there, from time 0
        double at = g < 0 ? 0 : time[group_start(run->steps, g + 1) - 1];
        add_point(t, place_x(x, fmin(fmax(at, 0), x->hi)), place_y(y, fmin(above[g < 0 ? 0 : g], y->hi)));
    }
    for (int32_t g = n - 1; g >= -1; g--) { // and back
        double at = g < 0 ? 0 : time[group_start(run->steps, g + 1) - 1];
        add_point(t, place_x(x, fmin(fmax(at, 0), x->hi)), place_y(y, fmin(below[g < 0 ? 0 : g], y->hi)));
    }
}

void mo_plot_stages(mo_text *t, const mo_report_run *run, const int32_t *colour, double top)
{
    mo_summary time = mo_summarize(run->value[MO_FIELD_TIME], run->steps);
    mo_axis x = time_axis(time.max), y = mo_axis_linear(0, top, 5, false);
    double below[COLUMNS] = {0}, above[COLUMNS] = {0};
    begin_figure(t, "Time per step", "ms", shared_exponent(&y), NULL);
    mo_html_print(t, "<p>");
    mo_html_escape(t, run->label, strlen(run->label));
    mo_summary wall = mo_summarize(run->value[MO_FIELD_WALL_SECONDS], run->steps);
    mo_html_print(t, ": mean ");
    mo_html_number(t, 1e3 * wall.mean, 3);
    mo_html_print(t, ", longest ");
    mo_html_number(t, 1e3 * wall.max, 3);
    mo_html_print(t, "\xe2\x80\x89ms</p></figcaption>\n");
    begin_drawing(t, &x, &y, "ms", "Time per step");
    for (int32_t k = 0; k < run->stage_count; k++) {
        for (int32_t g = 0; g < group_count(run->steps); g++)
            above[g] = below[g] + 1e3 * group_mean(run->seconds[k], run->steps, g);
        mo_html_print(t, "<polygon class=\"s%d\" points=\"", (int)(colour[k] % 10));
        add_band(t, run, below, above, &x, &y);
        mo_html_print(t, "\"><title>");
        mo_html_escape(t, run->stage[k], strlen(run->stage[k]));
        mo_html_print(t, "</title></polygon>\n");
        memcpy(below, above, sizeof below);
    }
    mo_html_print(t, "</svg></figure>\n");
}
