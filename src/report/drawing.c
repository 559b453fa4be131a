// Axes, grid, lines and marks of a plot.
#include "report/drawing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Coordinates: two decimals, written without printf, for a page has many ----

void mo_drawing_number(mo_text *t, double value)
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

void mo_drawing_point(mo_text *t, double x, double y)
{
    mo_drawing_number(t, x);
    mo_text_add(t, ",", 1);
    mo_drawing_number(t, y);
    mo_text_add(t, " ", 1);
}

double mo_drawing_x(const mo_drawing *d, double value)
{
    return d->left + (d->width - d->left - d->right) * mo_axis_place(&d->x, value);
}

double mo_drawing_y(const mo_drawing *d, double shown)
{
    return d->top + (d->height - d->top - d->bottom) * (1 - mo_axis_place(&d->y, shown));
}

// Whether point i of a line has a place on the axes.
static bool is_shown(const mo_line *line, int32_t i, double scale, bool log_x, bool log_y)
{
    double y = line->y[i] * scale;
    return isfinite(line->x[i]) && isfinite(y) && !(log_x && line->x[i] <= 0) && !(log_y && y <= 0);
}

bool mo_plot_find_range(const mo_plot *plot, mo_plot_range *r)
{
    *r = (mo_plot_range){{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    for (int32_t k = 0; k < plot->lines; k++) {
        const mo_line *line = &plot->line[k];
        for (int32_t i = 0; i < line->count; i++) {
            double x = line->x[i], y = line->y[i] * plot->scale;
            if (isfinite(x) && !(plot->log_x && x <= 0)) r->x[0] = fmin(r->x[0], x), r->x[1] = fmax(r->x[1], x);
            if (!is_shown(line, i, plot->scale, plot->log_x, plot->log)) continue;
            r->y[0] = fmin(r->y[0], y), r->y[1] = fmax(r->y[1], y);
        }
    }
    return r->y[0] <= r->y[1];
}

// ---- Grid ----

int mo_axis_exponent(const mo_axis *a)
{
    double size = fmax(fabs(a->lo), fabs(a->hi));
    if (a->log || !(size > 0) || (size < 1e5 && size >= 0.01)) return 0;
    return 3 * (int)floor(log10(size) / 3 + 1e-9);
}

static void add_label(mo_text *t, const mo_axis *a, double value, int exponent)
{
    if (a->log)
        mo_html_power(t, (int)lround(log10(value)));
    else if (a->decimals + exponent <= 0)
        mo_html_count(t, round(value / pow(10, exponent)));
    else
        mo_html_fixed(t, value / pow(10, exponent), a->decimals + exponent);
}

static const char *grid_class(const mo_axis *a, double tick) { return !a->log && tick == 0 ? "zero" : "grid"; }

static void add_y_ticks(const mo_drawing *d)
{
    mo_text *t = d->t;
    int exponent = mo_axis_exponent(&d->y);
    for (int32_t i = 0; i < d->y.ticks; i++) {
        double at = mo_drawing_y(d, d->y.tick[i]);
        mo_html_print(t, "<path class=\"%s\" d=\"M%d ", grid_class(&d->y, d->y.tick[i]), d->left);
        mo_drawing_number(t, at);
        mo_html_print(t, "H%d\"/><text class=\"y\" x=\"%d\" y=\"", d->width - d->right, d->left - 8);
        mo_drawing_number(t, at + 4);
        mo_text_add(t, "\">", 2);
        add_label(t, &d->y, d->y.tick[i], exponent);
        mo_html_print(t, "</text>\n");
    }
}

// An axis of time may end between ticks.
static bool is_on_axis(const mo_axis *a, double tick)
{
    return a->log || (tick >= a->lo && tick <= a->hi + 1e-9 * fabs(a->hi));
}

static void add_x_ticks(const mo_drawing *d, const char *unit)
{
    mo_text *t = d->t;
    for (int32_t i = 0; i < d->x.ticks; i++) {
        double tick = d->x.tick[i];
        if (!is_on_axis(&d->x, tick)) continue;
        double at = mo_drawing_x(d, tick);
        mo_html_print(t, "<path class=\"grid\" d=\"M");
        mo_drawing_number(t, at);
        mo_html_print(t, " %dV%d\"/><text class=\"x\" x=\"", d->top, d->height - d->bottom);
        mo_drawing_number(t, at);
        mo_html_print(t, "\" y=\"%d\">", d->height - d->bottom + 17);
        add_label(t, &d->x, tick, *unit ? 0 : mo_axis_exponent(&d->x));
        if (*unit && (i == d->x.ticks - 1 || !is_on_axis(&d->x, d->x.tick[i + 1])))
            mo_html_print(t, "\xe2\x80\x89%s", unit);
        mo_html_print(t, "</text>\n");
    }
}

void mo_drawing_grid(const mo_drawing *d, const char *x_unit)
{
    add_y_ticks(d);
    add_x_ticks(d, x_unit);
}

// ---- Lines ----

typedef struct column { // what falls into one column of pixels
    int32_t count;
    double x_first, x_min, x_max, x_last;
    double first, min, max, last; // y, already in pixels
} column;

static void flush_column(mo_text *t, column *c)
{
    if (c->count) mo_drawing_point(t, c->x_first, c->first);
    bool min_first = c->x_min <= c->x_max;
    for (int i = 0; i < 2 && c->count > 2; i++) {
        bool min = min_first == (i == 0);
        double x = min ? c->x_min : c->x_max, y = min ? c->min : c->max;
        if (x > c->x_first && x < c->x_last) mo_drawing_point(t, x, y);
    }
    if (c->count > 1) mo_drawing_point(t, c->x_last, c->last);
    c->count = 0;
}

static void add_to_column(column *c, double x, double y)
{
    if (!c->count++) *c = (column){1, x, x, x, x, y, y, y, y};
    if (y < c->min) c->min = y, c->x_min = x;
    if (y > c->max) c->max = y, c->x_max = x;
    c->x_last = x, c->last = y;
}

// A path that turns back is drawn with every point.
static bool is_ascending(const mo_line *line)
{
    double last = -INFINITY;
    for (int32_t i = 0; i < line->count; i++) {
        if (line->x[i] < last) return false;
        if (isfinite(line->x[i])) last = line->x[i];
    }
    return true;
}

// Draws one polyline per stretch without gaps. Where several points fall into one column of pixels, the first, lowest,
// highest and last of them are drawn: the picture is that of all points, whatever their number.
void mo_drawing_line(const mo_drawing *d, const mo_line *line)
{
    mo_text *t = d->t;
    column c = {0};
    bool open = false, thin = is_ascending(line);
    int32_t at = 0;
    mo_html_print(t, "<g class=\"line c%d%s\" data-name=\"", (int)(line->colour % 8), line->dashed ? " dash" : "");
    mo_html_escape(t, line->name, strlen(line->name));
    mo_html_print(t, "\">");
    for (int32_t i = 0; i <= line->count; i++) {
        bool gap = i == line->count || !is_shown(line, i, d->scale, d->x.log, d->y.log);
        double px = gap ? 0 : mo_drawing_x(d, line->x[i]), py = gap ? 0 : mo_drawing_y(d, line->y[i] * d->scale);
        if (open && (gap || !thin || (int32_t)px != at)) flush_column(t, &c);
        if (open && gap) mo_html_print(t, "\"/>"), open = false;
        if (gap) continue;
        if (!open) mo_html_print(t, "<polyline points=\""), open = true;
        at = (int32_t)px;
        add_to_column(&c, px, py);
    }
    mo_html_print(t, "</g>\n");
}

void mo_drawing_mark(const mo_drawing *d, const char *kind, const mo_line *line, int32_t i)
{
    if (i < 0 || !is_shown(line, i, d->scale, d->x.log, d->y.log)) return;
    mo_html_print(d->t, "<circle class=\"%s\" r=\"%s\" cx=\"", kind, kind[0] == 'e' ? "2.8" : "3.2");
    mo_drawing_number(d->t, mo_drawing_x(d, line->x[i]));
    mo_html_print(d->t, "\" cy=\"");
    mo_drawing_number(d->t, mo_drawing_y(d, line->y[i] * d->scale));
    mo_html_print(d->t, "\"/>");
}

void mo_drawing_points(const mo_drawing *d, const mo_line *line)
{
    mo_html_print(d->t, "<g class=\"c%d\">", (int)(line->colour % 8));
    for (int32_t i = 0; i < line->count; i++)
        mo_drawing_mark(d, line->style == MO_LINE_HOLLOW ? "hollow" : "point", line, i);
    mo_html_print(d->t, "</g>\n");
}

void mo_drawing_reference(const mo_drawing *d, const char *name, double shown)
{
    double at = mo_drawing_y(d, shown);
    mo_html_print(d->t, "<path class=\"reference\" d=\"M%d ", d->left);
    mo_drawing_number(d->t, at);
    mo_html_print(d->t, "H%d\"/><text class=\"reference\" x=\"%d\" y=\"", d->width - d->right, d->width - d->right - 4);
    mo_drawing_number(d->t, at > d->top + 20 ? at - 5 : at + 15);
    mo_html_print(d->t, "\">%s</text>\n", name);
}
