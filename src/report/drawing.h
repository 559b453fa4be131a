// Internal to plots: a drawing of fixed coordinates, with axes, grid, lines and marks. Colours and widths come from the
// styles of its classes (style.c of a page, figure.c of a file): grid, zero, x, y, line, c0..c7, dash, last, extreme,
// point, hollow, reference.
#ifndef MO_DRAWING_H
#define MO_DRAWING_H

#include "report/report.h"

typedef struct mo_drawing {
    mo_text *t;
    int32_t width, height;            // of the whole
    int32_t left, right, top, bottom; // margins round the axes
    mo_axis x, y;
    double scale; // y shown = value * scale
} mo_drawing;

double mo_drawing_x(const mo_drawing *d, double value);
double mo_drawing_y(const mo_drawing *d, double shown);
void mo_drawing_number(mo_text *t, double value); // a coordinate, two decimals
void mo_drawing_point(mo_text *t, double x, double y);

// The range of x, and of y where points are shown; false if there is nothing to draw.
typedef struct mo_plot_range {
    double x[2], y[2];
} mo_plot_range;
bool mo_plot_find_range(const mo_plot *plot, mo_plot_range *range);

// Ticks of small or large numbers share a power of ten, shown beside the unit; 0: they do not.
int mo_axis_exponent(const mo_axis *a);

void mo_drawing_grid(const mo_drawing *d, const char *x_unit); // the unit is shown at the last tick
void mo_drawing_line(const mo_drawing *d, const mo_line *line);
void mo_drawing_points(const mo_drawing *d, const mo_line *line); // every point, filled or hollow
void mo_drawing_mark(const mo_drawing *d, const char *kind, const mo_line *line, int32_t i);
void mo_drawing_reference(const mo_drawing *d, const char *name, double shown);

#endif
