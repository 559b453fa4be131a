// Small line plots as SVG, so that the documentation's figures come from the validation programs themselves.
#ifndef VALIDATE_PLOT_H
#define VALIDATE_PLOT_H

#include "validate.h"

typedef enum plot_style {
    PLOT_LINE,
    PLOT_POINTS,
    PLOT_MARKED, // a line with points
    PLOT_HOLLOW, // hollow points in the colour of the series before, without a name: its bounds
} plot_style;

typedef struct plot_series_t {
    const char *name;
    int count;
    const double *x, *y;
    plot_style style;
} plot_series_t;

typedef struct plot_def {
    const char *title, *x_label, *y_label;
    bool log_x, log_y;
} plot_def;

enum { PLOT_WIDTH = 560, PLOT_HEIGHT = 340, PLOT_LEFT = 64, PLOT_RIGHT = 16, PLOT_TOP = 50, PLOT_BOTTOM = 44 };

typedef struct plot_axis {
    double low, high; // of the value, or of its decimal logarithm
    bool logarithmic;
    double from, to; // pixels
} plot_axis;

static inline double plot_value(const plot_axis *a, double v) { return a->logarithmic ? log10(fmax(v, 1e-300)) : v; }

static inline double plot_pixel(const plot_axis *a, double v)
{
    return a->from + (a->to - a->from) * (plot_value(a, v) - a->low) / (a->high - a->low);
}

static inline void plot_include(plot_axis *a, double v)
{
    if (!isfinite(v) || (a->logarithmic && v <= 0)) return;
    a->low = fmin(a->low, plot_value(a, v)), a->high = fmax(a->high, plot_value(a, v));
}

// A step of 1, 2 or 5 times a power of ten that gives about five ticks.
static inline double plot_tick(const plot_axis *a)
{
    if (a->logarithmic) return fmax(1, ceil((a->high - a->low) / 7));
    double raw = (a->high - a->low) / 5, power = pow(10, floor(log10(raw))), m = raw / power;
    return power * (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10);
}

// Widens the range to whole ticks.
static inline void plot_fit(plot_axis *a)
{
    if (!(a->high > a->low)) a->low -= 0.5, a->high = a->low + 1;
    double t = plot_tick(a);
    a->low = floor(a->low / t + 1e-9) * t, a->high = ceil(a->high / t - 1e-9) * t;
}

static inline void plot_ticks(FILE *f, const plot_axis *a, bool horizontal)
{
    double step = plot_tick(a);
    for (double v = a->low; v < a->high + 0.5 * step; v += step) {
        double value = fabs(v) < 1e-9 * step ? 0 : v,
               at = a->from + (a->to - a->from) * (v - a->low) / (a->high - a->low);
        char label[40];
        snprintf(label, sizeof label, a->logarithmic ? "1e%g" : "%g", value);
        if (horizontal)
            fprintf(f, "<path d='M%.1f %d V%d' stroke='#ddd'/><text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n",
                    at, PLOT_TOP, PLOT_HEIGHT - PLOT_BOTTOM, at, PLOT_HEIGHT - PLOT_BOTTOM + 15, label);
        else
            fprintf(f, "<path d='M%d %.1f H%d' stroke='#ddd'/><text x='%d' y='%.1f' text-anchor='end'>%s</text>\n",
                    PLOT_LEFT, at, PLOT_WIDTH - PLOT_RIGHT, PLOT_LEFT - 6, at + 4, label);
    }
}

static inline void plot_curve(FILE *f, const plot_series_t *s, const plot_axis *x, const plot_axis *y,
                              const char *colour)
{
    if (s->style == PLOT_LINE || s->style == PLOT_MARKED) {
        fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='1.5' points='", colour);
        for (int i = 0; i < s->count; i++) {
            double px = plot_pixel(x, s->x[i]), py = plot_pixel(y, s->y[i]);
            if (isfinite(px) && isfinite(py)) fprintf(f, "%.1f,%.1f ", px, py);
        }
        fprintf(f, "'/>\n");
    }
    for (int i = 0; i < s->count && s->style != PLOT_LINE; i++) {
        double px = plot_pixel(x, s->x[i]), py = plot_pixel(y, s->y[i]);
        if (isfinite(px) && isfinite(py))
            fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s' stroke='%s'/>\n", px, py,
                    s->style == PLOT_HOLLOW ? "white" : colour, colour);
    }
}

static inline void plot_write(const char *directory, const char *file, const plot_def *def, const plot_series_t *series,
                              int count)
{
    static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"};
    plot_axis x = {INFINITY, -INFINITY, def->log_x, PLOT_LEFT, PLOT_WIDTH - PLOT_RIGHT};
    plot_axis y = {INFINITY, -INFINITY, def->log_y, PLOT_HEIGHT - PLOT_BOTTOM, PLOT_TOP};
    for (int s = 0; s < count; s++)
        for (int i = 0; i < series[s].count; i++) plot_include(&x, series[s].x[i]), plot_include(&y, series[s].y[i]);
    plot_fit(&x), plot_fit(&y);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "error: cannot write %s\n", path);
        exit(1);
    }
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' "
            "font-family='sans-serif' font-size='11'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
            PLOT_WIDTH, PLOT_HEIGHT, PLOT_WIDTH, PLOT_HEIGHT);
    plot_ticks(f, &x, true), plot_ticks(f, &y, false);
    fprintf(f, "<text x='%d' y='20' font-size='13' text-anchor='middle'>%s</text>\n", PLOT_WIDTH / 2, def->title);
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", (PLOT_LEFT + PLOT_WIDTH - PLOT_RIGHT) / 2,
            PLOT_HEIGHT - 10, def->x_label);
    int middle = (PLOT_TOP + PLOT_HEIGHT - PLOT_BOTTOM) / 2;
    fprintf(f, "<text x='14' y='%d' text-anchor='middle' transform='rotate(-90 14 %d)'>%s</text>\n", middle, middle,
            def->y_label);
    int legend = PLOT_LEFT;
    for (int s = 0, named = 0; s < count; s++) {
        named += series[s].style != PLOT_HOLLOW;
        const char *colour = colours[(named - 1) % 6];
        plot_curve(f, &series[s], &x, &y, colour);
        if (series[s].style == PLOT_HOLLOW) continue;
        fprintf(f, "<text x='%d' y='40' fill='%s'>%s</text>\n", legend, colour, series[s].name);
        legend += 20 + 6 * (int)strlen(series[s].name);
    }
    fprintf(f, "</svg>\n");
    if (fclose(f) != 0) {
        fprintf(stderr, "error: cannot write %s\n", path);
        exit(1);
    }
}

#endif
