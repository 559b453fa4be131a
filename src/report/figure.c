// A plot as a file of its own: the drawing with its styles, a title, labels of the axes and a legend.
#include "output/file.h"
#include "report/drawing.h"
#include <stdio.h>
#include <string.h>

enum { WIDTH = 560, PLOT_HEIGHT = 246, LEFT = 72, RIGHT = 16, TITLE = 32, LEGEND_LINE = 17, BOTTOM = 48 };

static const char style[] =
    "<style>text{fill:#444}text.title{font-size:14px;fill:#111}text.x,text.title,text.label{text-anchor:middle}"
    "text.y{text-anchor:end}path.grid{stroke:#ddd}path.zero{stroke:#999}"
    ".line polyline{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}"
    ".line.dash polyline{stroke-dasharray:6 4}circle.point{fill:currentColor}"
    "circle.hollow{fill:#fff;stroke:currentColor;stroke-width:1.4}"
    "text.c0,text.c1,text.c2,text.c3,text.c4,text.c5,text.c6,text.c7{fill:currentColor}"
    ".c0{color:#1f77b4}.c1{color:#d62728}.c2{color:#2ca02c}.c3{color:#9467bd}.c4{color:#e07000}.c5{color:#0f9fb0}"
    ".c6{color:#8c564b}.c7{color:#555}</style>\n";

static void add_text(mo_text *t, const char *class, double x, double y, const char *more, const char *text)
{
    mo_html_print(t, "<text class=\"%s\" x=\"", class);
    mo_drawing_number(t, x);
    mo_html_print(t, "\" y=\"");
    mo_drawing_number(t, y);
    mo_html_print(t, "\"%s>", more);
    mo_html_escape(t, text, strlen(text));
}

// A label, with the power of ten that the ticks share.
static void add_label(mo_text *t, double x, double y, const char *more, const char *text, int exponent)
{
    add_text(t, "label", x, y, more, text);
    if (exponent) {
        mo_html_print(t, " / ");
        mo_html_power(t, exponent);
    }
    mo_html_print(t, "</text>\n");
}

// About as wide as a name of the legend is drawn, with the gap behind it. Bytes of UTF-8 beyond a character's first
// have no width.
static int32_t width_of(const char *name)
{
    int32_t characters = 0;
    for (const char *c = name; *c; c++) characters += (*c & 0xc0) != 0x80;
    return 22 + 6 * characters;
}

// The names of the lines in their colours, in as many rows as they need; returns how many. t NULL: counts alone.
static int32_t add_legend(mo_text *t, const mo_plot *plot)
{
    int32_t x = LEFT, rows = 1;
    for (int32_t k = 0; k < plot->lines; k++) {
        const mo_line *line = &plot->line[k];
        if (line->style == MO_LINE_HOLLOW) continue;
        if (x > LEFT && x + width_of(line->name) > WIDTH) x = LEFT, rows++;
        char class[8] = {'c', (char)('0' + line->colour % 8)};
        if (t) {
            add_text(t, class, x, TITLE + 8 + LEGEND_LINE * (rows - 1), "", line->name);
            mo_html_print(t, "</text>\n");
        }
        x += width_of(line->name);
    }
    return rows;
}

static mo_axis axis_of(bool log, const double range[2])
{
    if (log) return mo_axis_log(range[0], range[1], 7);
    return mo_axis_linear(range[0], range[1], 6, false);
}

static void draw(mo_text *t, const mo_plot *plot)
{
    mo_plot_range r;
    if (!mo_plot_find_range(plot, &r)) r = (mo_plot_range){{1, 10}, {1, 10}};
    int32_t rows = add_legend(NULL, plot), top = TITLE + LEGEND_LINE * rows;
    mo_drawing d = {.t = t,
                    .width = WIDTH,
                    .height = top + PLOT_HEIGHT + BOTTOM,
                    .left = LEFT,
                    .right = RIGHT,
                    .top = top,
                    .bottom = BOTTOM,
                    .x = axis_of(plot->log_x, r.x),
                    .y = axis_of(plot->log, r.y),
                    .scale = plot->scale};
    mo_html_print(t,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"11.5\">\n%s"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  d.width, d.height, d.width, d.height, style);
    mo_drawing_grid(&d, "");
    add_text(t, "title", WIDTH / 2, 20, "", plot->title);
    mo_html_print(t, "</text>\n");
    add_legend(t, plot);
    int32_t middle = top + PLOT_HEIGHT / 2;
    char turn[64] = " transform=\"rotate(-90 ";
    snprintf(turn + strlen(turn), sizeof turn - strlen(turn), "16 %d)\"", (int)middle);
    add_label(t, LEFT + (WIDTH - LEFT - RIGHT) / 2, d.height - 12, "", plot->x_label, mo_axis_exponent(&d.x));
    add_label(t, 16, middle, turn, plot->y_label, mo_axis_exponent(&d.y));
    for (int32_t k = 0; k < plot->lines; k++) {
        const mo_line *line = &plot->line[k];
        if (line->style == MO_LINE_PLAIN || line->style == MO_LINE_MARKED) mo_drawing_line(&d, line);
        if (line->style != MO_LINE_PLAIN) mo_drawing_points(&d, line);
    }
    mo_html_print(t, "</svg>\n");
}

mo_status mo_plot_write(const char *path, const mo_plot *plot, mo_error *err)
{
    mo_text t = {0};
    mo_file *file;
    draw(&t, plot);
    mo_status status = t.failed ? mo_fail_memory(err) : mo_file_create(path, &file, err);
    if (status == MO_OK) {
        mo_file_write(file, t.data, (size_t)t.bytes);
        status = mo_file_commit(file, err);
    }
    mo_text_destroy(&t);
    return status;
}
