// Plots as SVG: figures of report pages (report.h), and files of their own for the documentation. Both are made of the
// same axes, lines and marks (drawing.h).
#ifndef MO_PLOT_H
#define MO_PLOT_H

#include "base/base.h"

// ---- Axes ----

enum { MO_TICKS = 16 };
typedef struct mo_axis {
    double lo, hi; // of the values, or their decimal logarithms
    bool log;
    double tick[MO_TICKS]; // values
    int32_t ticks;
    int decimals; // of the ticks' labels (linear)
} mo_axis;

// These make axes that hold lo..hi and end on ticks, of which there are about `wanted`. whole: there is no tick between
// whole numbers.
mo_axis mo_axis_linear(double lo, double hi, int32_t wanted, bool whole);
mo_axis mo_axis_log(double lo, double hi, int32_t wanted);
double mo_axis_place(const mo_axis *axis, double value); // 0 at lo .. 1 at hi

// ---- Plots ----

typedef enum mo_line_style {
    MO_LINE_PLAIN,
    MO_LINE_POINTS, // points alone
    MO_LINE_MARKED, // a line with points
    MO_LINE_HOLLOW, // hollow points, not in the legend: bounds of the line before
} mo_line_style;

typedef struct mo_line {
    const char *name;
    const double *x, *y; // not finite: a gap
    int32_t count, colour;
    bool dashed;
    mo_line_style style; // in files; pages have plain lines
} mo_line;

typedef struct mo_plot {
    const char *title, *unit, *note; // note: what the curve means, NULL for none
    double scale;                    // shown = value * scale
    bool log, zero, whole;           // zero: the axis holds 0
    double reference;                // a horizontal line, NAN for none
    const char *reference_name;
    const mo_line *line;
    int32_t lines;
    // In files, where x need not be time:
    const char *x_label, *y_label;
    bool log_x;
} mo_plot;

// Writes a plot as a file of its own, with title, labels and legend.
mo_status mo_plot_write(const char *path, const mo_plot *plot, mo_error *err);

#endif
