// Figures of the documentation, drawn by the programs that measure what they show (report/plot.h).
#ifndef VALIDATE_PLOT_H
#define VALIDATE_PLOT_H

#include "report/plot.h"
#include "validate.h"

typedef enum plot_style {
    PLOT_LINE = MO_LINE_PLAIN,
    PLOT_POINTS = MO_LINE_POINTS,
    PLOT_MARKED = MO_LINE_MARKED, // a line with points
    PLOT_HOLLOW = MO_LINE_HOLLOW, // hollow points in the colour of the series before, without a name: its bounds
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

enum { PLOT_MOST_SERIES = 32 };

// Writes DIRECTORY/FILE; ends the program if that fails.
static inline void plot_write(const char *directory, const char *file, const plot_def *def, const plot_series_t *series,
                              int count)
{
    mo_line line[PLOT_MOST_SERIES];
    mo_plot plot = {.title = def->title,
                    .x_label = def->x_label,
                    .y_label = def->y_label,
                    .log_x = def->log_x,
                    .log = def->log_y,
                    .scale = 1,
                    .line = line};
    for (int s = 0, colour = -1; s < count && s < PLOT_MOST_SERIES; s++) {
        colour += series[s].style != PLOT_HOLLOW;
        line[plot.lines++] = (mo_line){.name = series[s].name,
                                       .x = series[s].x,
                                       .y = series[s].y,
                                       .count = series[s].count,
                                       .colour = colour,
                                       .style = (mo_line_style)series[s].style};
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    mo_error err;
    if (mo_plot_write(path, &plot, &err) == MO_OK) return;
    fprintf(stderr, "error: %s\n", err.text);
    exit(1);
}

#endif
