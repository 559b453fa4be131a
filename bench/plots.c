// Figures of docs/performance.md from the tables of the benchmarks: `make plots`.
//   plots RESULTS IMAGES    reads RESULTS/NAME.csv, writes IMAGES/bench_NAME.svg
#include "../validate/plot.h"

enum { MOST_COLUMNS = 64, MOST_POINTS = 64, MOST_CURVES = 6, MOST_FILTERS = 6, LINE_BYTES = 4096 };

// ---- Tables ----

typedef struct table {
    int columns, rows;
    char **cell; // [rows * columns], the header first
} table;

static void die(const char *what, const char *about)
{
    fprintf(stderr, "plots: %s: %s\n", about, what);
    exit(1);
}

// Cuts a line into cells, which may be quoted, in place.
static int cut(char *line, char *cell[MOST_COLUMNS])
{
    int count = 0;
    char *to = line;
    for (char *c = line; count < MOST_COLUMNS; c++) {
        bool quoted = *c == '"', last;
        cell[count++] = to;
        for (c += quoted; *c && *c != '\n' && (quoted || *c != ','); c++) {
            if (quoted && *c == '"')
                quoted = false; // doubled quotes do not occur
            else
                *to++ = *c;
        }
        last = *c != ',';
        *to++ = 0;
        if (last) break;
    }
    return count;
}

static table read_table(const char *dir, const char *name)
{
    char path[1000], line[LINE_BYTES], *cell[MOST_COLUMNS];
    table t = {0};
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    FILE *f = fopen(path, "r");
    if (!f) die("cannot open", path);
    while (fgets(line, sizeof line, f)) {
        int count = cut(line, cell);
        if (!t.columns) t.columns = count;
        if (count != t.columns) die("rows of different lengths", path);
        t.cell = realloc(t.cell, sizeof *t.cell * (size_t)(++t.rows * t.columns));
        if (!t.cell) die("out of memory", path);
        for (int k = 0; k < count; k++) {
            char *copy = strdup(cell[k]);
            if (!copy) die("out of memory", path);
            t.cell[(t.rows - 1) * t.columns + k] = copy;
        }
    }
    fclose(f);
    return t;
}

static void free_table(table *t)
{
    for (int k = 0; k < t->rows * t->columns; k++) free(t->cell[k]);
    free(t->cell);
}

static const char *value(const table *t, int row, const char *column, size_t bytes)
{
    for (int k = 0; k < t->columns; k++)
        if (strlen(t->cell[k]) == bytes && !strncmp(t->cell[k], column, bytes)) return t->cell[row * t->columns + k];
    die("no such column", column);
    return NULL;
}

// "column=value"; numbers compare as such.
static bool fits(const table *t, int row, const char *filter)
{
    const char *equals = strchr(filter, '='), *is = value(t, row, filter, (size_t)(equals - filter));
    char *end[2];
    double a = strtod(is, &end[0]), b = strtod(equals + 1, &end[1]);
    if (*is && !*end[0] && !*end[1]) return a == b;
    return !strcmp(is, equals + 1);
}

// ---- Charts ----

typedef struct curve {
    const char *name;
    const char *filter[MOST_FILTERS];
} curve;

static const curve by_weights[] = {{"fast", {"route=fast", "weights=clamped"}},
                                   {"fast, raw", {"route=fast", "weights=raw"}},
                                   {"paper", {"route=paper", "preconditioner=ssor", "weights=clamped"}},
                                   {"paper, raw", {"route=paper", "preconditioner=ssor", "weights=raw"}},
                                   {0}};
static const curve by_viscosity[] = {{"fast, 100 Pa s", {"route=fast", "viscosity=100"}},
                                     {"fast, 1e4", {"route=fast", "viscosity=10000"}},
                                     {"paper, 100", {"route=paper", "preconditioner=ssor", "viscosity=100"}},
                                     {"paper, 1e4", {"route=paper", "preconditioner=ssor", "viscosity=10000"}},
                                     {0}};
static const curve by_contact[] = {{"fast", {"route=fast", "weights=clamped", "contact_rows=kept"}},
                                   {"contacts ignored", {"route=fast", "weights=clamped", "contact_rows=ignored"}},
                                   {"paper", {"route=paper", "weights=clamped", "contact_rows=kept"}},
                                   {"paper, raw", {"route=paper", "weights=raw", "contact_rows=kept"}},
                                   {0}};

typedef struct chart {
    const char *file, *table, *x, *y;
    const char *filter[MOST_FILTERS]; // of all curves
    const curve *curves;
    plot_def look;
} chart;

static const char over_viscosity[] = "viscosity, Pa s", over_cells[] = "cells along an edge",
                  seconds[] = "CPU s, set-up included";

static const chart charts[] = {
    {"stokes_iterations_viscosity",
     "stokes",
     "viscosity",
     "iterations",
     {"case=std", "cells=64"},
     by_weights,
     {"Pressure and viscosity, 64^3 cells: iterations", over_viscosity, "iterations", true, true}},
    {"stokes_cpu_viscosity",
     "stokes",
     "viscosity",
     "cpu_seconds",
     {"case=std", "cells=64"},
     by_weights,
     {"Pressure and viscosity, 64^3 cells: time", over_viscosity, seconds, true, true}},
    {"stokes_iterations_cells",
     "stokes",
     "cells",
     "iterations",
     {"case=std", "weights=clamped"},
     by_viscosity,
     {"Pressure and viscosity: iterations", over_cells, "iterations", false, true}},
    {"stokes_cpu_cells",
     "stokes",
     "cells",
     "cpu_seconds",
     {"case=std", "weights=clamped"},
     by_viscosity,
     {"Pressure and viscosity: time", over_cells, seconds, false, true}},
    {"stokes_cpu_bodies",
     "stokes",
     "cells",
     "cpu_seconds",
     {"case=balls", "weights=clamped"},
     by_viscosity,
     {"Pressure, viscosity and three light bodies: time", over_cells, seconds, false, true}},
    {"contact_cpu_cells",
     "contact",
     "cells",
     "cpu_seconds",
     {"case=nine_in_bowl", "time=0.6"},
     by_contact,
     {"Nine bodies in a bowl afloat on syrup: time of a step's solve", over_cells, seconds, false, true}},
};

typedef struct points {
    int count;
    double x[MOST_POINTS], y[MOST_POINTS];
} points;

static void add_point(points *p, double x, double y)
{
    if (p->count == MOST_POINTS) die("too many points", "a curve");
    int at = p->count++;
    for (; at > 0 && p->x[at - 1] > x; at--) p->x[at] = p->x[at - 1], p->y[at] = p->y[at - 1];
    p->x[at] = x, p->y[at] = y;
}

static bool all_fit(const table *t, int row, const char *const filter[MOST_FILTERS])
{
    for (int k = 0; k < MOST_FILTERS && filter[k]; k++)
        if (!fits(t, row, filter[k])) return false;
    return true;
}

// A solve that did not get there shows where it was stopped, as a hollow point.
static void draw(const chart *c, const char *results, const char *images)
{
    table t = read_table(results, c->table);
    points *p = calloc(2 * MOST_CURVES, sizeof *p); // of each curve, those that got there and those that did not
    plot_series_t series[2 * MOST_CURVES];
    char file[200];
    int count = 0;
    if (!p) die("out of memory", c->file);
    for (; count < MOST_CURVES && c->curves[count].name; count++) {
        points *of = p + 2 * count;
        for (int row = 1; row < t.rows; row++) {
            if (!all_fit(&t, row, c->filter) || !all_fit(&t, row, c->curves[count].filter)) continue;
            double x = atof(value(&t, row, c->x, strlen(c->x))), y = atof(value(&t, row, c->y, strlen(c->y)));
            if (x > 0) add_point(&of[strcmp(value(&t, row, "reason", 6), "converged") != 0], x, y);
        }
        if (!of[0].count && !of[1].count) die("nothing to draw", c->curves[count].name);
        series[2 * count] = (plot_series_t){c->curves[count].name, of[0].count, of[0].x, of[0].y, PLOT_MARKED};
        series[2 * count + 1] = (plot_series_t){"", of[1].count, of[1].x, of[1].y, PLOT_HOLLOW};
    }
    snprintf(file, sizeof file, "bench_%s.svg", c->file);
    plot_write(images, file, &c->look, series, 2 * count);
    free(p);
    free_table(&t);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: plots RESULTS IMAGES\n");
        return 2;
    }
    for (size_t k = 0; k < sizeof charts / sizeof *charts; k++) draw(&charts[k], argv[1], argv[2]);
    return 0;
}
