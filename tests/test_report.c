// The report: numbers and axes, curves read back from the page, comparisons, pictures, hostile and damaged runs,
// memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "output/file.h"
#include "report/report.h"
#include "ration.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Run directories made by hand ----

typedef struct place {
    char dir[64], *path[64];
    int names;
} place;

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/mo_report_XXXXXX");
    *state = p;
    return mkdtemp(p->dir) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[128];
    place *p = *state;
    snprintf(command, sizeof command, "rm -rf '%s'", p->dir);
    for (int i = 0; i < p->names; i++) free(p->path[i]);
    free(p);
    return system(command);
}

// DIR/NAME; valid until the test ends.
static const char *in(place *p, const char *name)
{
    for (int i = 0; i < p->names; i++)
        if (strcmp(p->path[i] + strlen(p->dir) + 1, name) == 0) return p->path[i];
    assert_true(p->names < (int)(sizeof p->path / sizeof *p->path));
    assert_true(asprintf(&p->path[p->names], "%s/%s", p->dir, name) > 0);
    return p->path[p->names++];
}

static void put(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

typedef struct run_spec {
    int32_t steps;
    const char *route, *reason, *text;
    double slow;                      // factor on the times
    double (*error)(int32_t step);    // volume_error, NAN = null
    double (*residual)(int32_t step); // NAN = null
    bool viscous;                     // with stresses, one to three rounds and the settings of two liquids
} run_spec;

static double small_error(int32_t step) { return 0.01 * sin(0.7 * step) - 0.002; }
static double small_residual(int32_t step) { return 1e-7 * (1 + step % 3); }

static const run_spec plain = {10, "fast", "converged", "liquid {}", 1, small_error, small_residual, false};

static void add_number(char *out, double v) { sprintf(out, isfinite(v) ? "%.17g" : "null", v); }

static void make_run(const char *dir, run_spec s)
{
    char path[320], error[40], residual[40];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/run.json", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    mo_text text = {0};
    mo_json_string(&text, NULL, s.text);
    fprintf(f,
            "{\n\"status\":\"done\",\"message\":null,\"frames_done\":5,\"frames\":5,\"fps\":50,"
            "\"start\":\"2026-01-01T00:00:00Z\",\"end\":\"2026-01-01T00:01:40Z\",\"version\":\"0.1.0\","
            "\"compiler\":\"gcc\",\"threads\":2,\"settings\":{\"domain\":{\"size\":[2,1,0],\"cells\":64},"
            "\"time\":{\"fps\":50},\"solver\":{\"scheme\":\"\",\"route\":\"%s\",\"tolerance\":1e-06}%s},\"solids\":[],"
            "\"scene\":{\"path\":\"dam.lua\",\"overrides\":[\"solver.route=%s\"],\"text\":%s}}\n",
            s.route,
            s.viscous ? ",\"liquids\":[{\"density\":900,\"viscosity\":\"function(x, y, z)\"},{\"density\":900,"
                        "\"rheology\":{\"consistency\":5,\"flow_index\":0.5}}],\"emitters\":[]"
                      : "",
            s.route, text.data);
    fclose(f);
    mo_text_destroy(&text);
    snprintf(path, sizeof path, "%s/stats.jsonl", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    for (int32_t i = 0; i < s.steps; i++) {
        add_number(error, s.error(i));
        add_number(residual, s.residual(i));
        fprintf(f,
                "{\"step\":%d,\"frame\":1,\"time\":%.17g,\"dt\":0.01,\"particles\":1000,\"dofs\":{\"p\":250,\"s\":%d},"
                "\"rounds\":%d,\"round_change\":%.17g,\"iterations\":%d,\"correction_iterations\":1,\"residual\":%s,"
                "\"reason\":\"%s\",\"volume\":0.5,"
                "\"volume_target\":0.5,\"volume_error\":%s,\"density_rms\":0.05,\"kinetic_energy\":3,"
                "\"momentum\":[1,-2,0],\"max_speed\":2,\"max_divergence\":1e-5,\"ballistic\":0,\"clamped\":0,"
                "\"contacts\":0,\"max_penetration\":0,\"seconds\":{\"transfer\":%.17g,\"solve\":%.17g},"
                "\"cpu_seconds\":%.17g,\"memory_bytes\":2000000}\n",
                i, 0.01 * (i + 1), s.viscous ? 500 + i : 0, s.viscous ? 1 + i % 3 : 1,
                s.viscous ? small_residual(i) : 0, 5, residual, i == 1 ? s.reason : "converged", error, 0.001 * s.slow,
                0.003 * s.slow, 0.004 * s.slow);
    }
    fclose(f);
}

static char *page_of(const char *const *dirs, int32_t count, const char *path)
{
    mo_error err = {0};
    char *data;
    size_t bytes;
    if (mo_report_write(dirs, count, path, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(mo_file_read(path, &data, &bytes, NULL, &err), MO_OK);
    assert_int_equal(strlen(data), bytes);
    return data;
}

static char *page_of_one(place *p, run_spec s)
{
    const char *dir = in(p, "run");
    make_run(dir, s);
    return page_of(&dir, 1, in(p, "page.html"));
}

// ---- Numbers ----

static const char *shown(void (*add)(mo_text *, double, int), double value, int digits)
{
    static char out[64];
    mo_text t = {0};
    add(&t, value, digits);
    snprintf(out, sizeof out, "%s", t.data);
    mo_text_destroy(&t);
    return out;
}

static void numbers_as_people_read_them(void **state)
{
    (void)state;
    assert_string_equal(shown(mo_html_number, 0, 4), "0");
    assert_string_equal(shown(mo_html_number, NAN, 4), "–");
    assert_string_equal(shown(mo_html_number, INFINITY, 4), "–");
    assert_string_equal(shown(mo_html_number, 1.5, 4), "1.5");
    assert_string_equal(shown(mo_html_number, -2, 4), "−2");
    assert_string_equal(shown(mo_html_number, 123.456, 4), "123.5");
    assert_string_equal(shown(mo_html_number, 99999.6, 4), "10⁵");
    assert_string_equal(shown(mo_html_number, 99.996, 4), "100");
    assert_string_equal(shown(mo_html_number, 0.00123456, 3), "0.00123");
    assert_string_equal(shown(mo_html_number, 1e-6, 3), "10⁻⁶");
    assert_string_equal(shown(mo_html_number, -5.868e-7, 3), "−5.87×10⁻⁷");
    assert_string_equal(shown(mo_html_number, 1.5e300, 4), "1.5×10³⁰⁰");
    assert_string_equal(shown(mo_html_number, 5e-324, 4), "0");
    assert_string_equal(shown(mo_html_fixed, -0.001, 2), "0.00");
    assert_string_equal(shown(mo_html_fixed, -1.005, 1), "−1.0");
    mo_text t = {0};
    mo_html_count(&t, 1234567);
    mo_html_count(&t, -1234);
    mo_html_count(&t, NAN);
    assert_string_equal(t.data, "1\u202f234\u202f567−1234–");
    mo_text_clear(&t);
    mo_html_ratio(&t, 3, 2);
    mo_html_ratio(&t, 3, 0);
    mo_html_ratio(&t, NAN, 2);
    mo_html_ratio(&t, 1, 200);
    assert_string_equal(t.data, "<small>×1.50</small><small>×0.005</small>");
    mo_text_clear(&t);
    mo_html_escape(&t, "a<b>&\"\x01\tc", 9);
    assert_string_equal(t.data, "a&lt;b&gt;&amp;&quot;\uFFFD\tc");
    mo_text_destroy(&t);
}

// ---- Axes ----

static void axes_hold_their_range(void **state)
{
    (void)state;
    static const double range[][2] = {{0, 1},     {-0.3, 17}, {5.546e-3, 5.551e-3}, {1e-12, 3e-12},
                                      {-5, -4.9}, {0, 1e9},   {-1e300, 1e300},      {727, 727},
                                      {0, 0},     {-3, -3},   {0.1, 0.3},           {1, 1 + 1e-15}};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        double lo = range[i][0], hi = range[i][1];
        mo_axis a = mo_axis_linear(lo, hi, 5, false);
        double slack = 1e-6 * (a.hi - a.lo);
        assert_true(a.lo < a.hi && a.lo <= lo + slack && a.hi >= hi - slack);
        assert_in_range(a.ticks, 2, 8);
        assert_true(a.tick[0] == a.lo && fabs(a.tick[a.ticks - 1] - a.hi) <= slack);
        // Steps are 1, 2 or 5 times a power of ten, and not much wider than needed.
        double step = a.tick[1] - a.tick[0], m = step / pow(10, floor(log10(step) + 1e-9));
        assert_true(fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 5) < 1e-6);
        if (hi - lo > 1e-9 * fmax(fabs(lo), fabs(hi))) assert_true(a.hi - a.lo < 2 * (hi - lo) + 1e-30);
        assert_true(fabs(mo_axis_place(&a, a.lo)) < 1e-12 && fabs(mo_axis_place(&a, a.hi) - 1) < 1e-12);
    }
    mo_axis whole = mo_axis_linear(0, 2, 5, true);
    assert_int_equal(whole.ticks, 3);
    assert_int_equal(whole.decimals, 0);
    assert_int_equal(mo_axis_linear(0, 0.25, 5, false).decimals, 2);
    mo_axis log = mo_axis_log(3e-9, 2e-4, 5);
    assert_true(log.lo == -9 && log.hi == -3 && fabs(mo_axis_place(&log, 1e-6) - 0.5) < 1e-12);
    assert_in_range(mo_axis_log(1e-300, 1e300, 5).ticks, 2, MO_TICKS);
    log = mo_axis_log(1e-6, 1e-6, 5);
    assert_true(log.hi > log.lo && log.ticks >= 1);
}

// ---- The page as text ----

// Every tag is closed, in order; text between is not looked at.
static void check_tags(const char *page)
{
    static const char *const empty[] = {"!DOCTYPE", "meta", "br", "img"};
    char stack[64][24];
    int depth = 0;
    for (const char *s = page; (s = strchr(s, '<'));) {
        bool closing = s[1] == '/';
        const char *name = s + 1 + closing, *end = strchr(s, '>');
        assert_non_null(end);
        int length = (int)strcspn(name, " />\n");
        assert_in_range(length, 1, 23);
        bool lone = end[-1] == '/';
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
            lone = lone || ((int)strlen(empty[i]) == length && strncmp(name, empty[i], (size_t)length) == 0);
        s = end;
        if (lone) continue;
        if (closing) {
            assert_true(depth > 0);
            if ((int)strlen(stack[--depth]) != length || strncmp(stack[depth], name, (size_t)length) != 0)
                fail_msg("</%.*s> closes <%s>", length, name, stack[depth]);
            continue;
        }
        assert_true(depth < 64);
        snprintf(stack[depth++], sizeof *stack, "%.*s", length, name);
        if (strcmp(stack[depth - 1], "script") == 0) s = strstr(s, "</script>");
        if (strcmp(stack[depth - 1], "style") == 0) s = strstr(s, "</style>");
    }
    assert_int_equal(depth, 0);
}

static const char *find(const char *text, const char *what)
{
    const char *found = strstr(text, what);
    if (!found) fail_msg("'%s' is not in the page", what);
    return found;
}
static void absent(const char *text, const char *what)
{
    if (strstr(text, what)) fail_msg("'%s' is in the page", what);
}

static double attribute(const char *svg, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "data-%s=\"", name);
    return atof(find(svg, key) + strlen(key));
}

// The points of the first curve of the plot named `title`, as values; NAN between stretches. Returns their number.
static int32_t read_curve(const char *page, const char *title, double (*point)[2], int32_t size)
{
    char label[80];
    snprintf(label, sizeof label, "aria-label=\"%s over time\"", title);
    const char *svg = find(page, label), *end = strstr(svg, "</g>"), *s = svg;
    double x0 = attribute(svg, "x0"), x1 = attribute(svg, "x1"), y0 = attribute(svg, "y0"), y1 = attribute(svg, "y1");
    double left, top, width, height;
    assert_int_equal(sscanf(find(svg, "data-box=\"") + 10, "%lf %lf %lf %lf", &left, &top, &width, &height), 4);
    bool log = attribute(svg, "log") == 1;
    int32_t n = 0;
    while ((s = strstr(s, "points=\"")) && s < end) {
        if (n) point[n++][0] = NAN;
        for (s += 8; *s != '"';) {
            double x, y;
            int used;
            assert_int_equal(sscanf(s, "%lf,%lf %n", &x, &y, &used), 2);
            assert_true(n + 1 < size);
            assert_true(x >= left - 0.01 && x <= left + width + 0.01 && y >= top - 0.01 && y <= top + height + 0.01);
            double v = y1 + (y0 - y1) * (y - top) / height;
            point[n][0] = x0 + (x1 - x0) * (x - left) / width;
            point[n++][1] = log ? pow(10, v) : v;
            s += used;
        }
    }
    return n;
}

static void curves_tell_the_values(void **state)
{
    char *page = page_of_one(*state, plain);
    check_tags(page);
    double point[64][2];
    assert_int_equal(read_curve(page, "Volume error", point, 64), 10);
    for (int32_t i = 0; i < 10; i++) {
        assert_true(fabs(point[i][0] - 0.01 * (i + 1)) < 1e-4);
        assert_true(fabs(point[i][1] - 100 * small_error(i)) < 1e-3);
    }
    assert_int_equal(read_curve(page, "Residual", point, 64), 10);
    for (int32_t i = 0; i < 10; i++) assert_true(fabs(point[i][1] / small_residual(i) - 1) < 2e-3);
    // The summary: 10 steps of 4 ms over 1000 particles each.
    find(page, "<tr><td>Wall time of the steps</td><td>0.04\u00a0s</td></tr>");
    find(page, "<tr><td>Wall time per particle and step</td><td>4\u00a0µs</td></tr>");
    find(page, "<tr><td>Steps</td><td>10</td></tr>");
    find(page, "<tr><td>Cells</td><td>64 × 32 of 31.25\u00a0mm, 2D</td></tr>");
    find(page, "ended after 100\u00a0s");
    find(page, "tolerance 10⁻⁶");
    // Nothing of contacts, of reasons or of z where there is none; nothing from elsewhere.
    absent(page, "Contacts between solids");
    absent(page, "Stress unknowns");
    absent(page, "Rounds");
    absent(page, "Change of the last round");
    absent(page, "How the solves ended");
    absent(page, "data-name=\"z\"");
    absent(page, "http");
    absent(page, "Settings that differ");
    mo_free_block(page);
}

static double gappy(int32_t step) { return step == 3 || step == 4 ? NAN : step == 7 ? 0 : 1e-7; }

static void gaps_stay_gaps(void **state)
{
    run_spec s = plain;
    s.residual = gappy;
    char *page = page_of_one(*state, s);
    double point[64][2];
    int32_t n = read_curve(page, "Residual", point, 64), gaps = 0;
    for (int32_t i = 0; i < n; i++) gaps += isnan(point[i][0]);
    assert_int_equal(gaps, 2); // the nulls, and the zero that has no logarithm
    assert_int_equal(n - gaps, 7);
    mo_free_block(page);
}

enum { LONG = 60000, SPIKE = 41234 };
static double spiky(int32_t step) { return step == SPIKE ? 0.05 : step == SPIKE + 7000 ? -0.04 : 0.001 * (step % 2); }

static void long_runs_keep_their_extremes(void **state)
{
    run_spec s = plain;
    s.steps = LONG, s.error = spiky;
    char *page = page_of_one(*state, s);
    assert_true(strlen(page) < 600000);
    static double point[4000][2];
    int32_t n = read_curve(page, "Volume error", point, 4000);
    assert_in_range(n, 1000, 4 * 566);
    double lo = 0, hi = 0, at = 0;
    for (int32_t i = 0; i < n; i++) {
        if (point[i][1] > hi) hi = point[i][1], at = point[i][0];
        lo = fmin(lo, point[i][1]);
        if (i) assert_true(point[i][0] >= point[i - 1][0]);
    }
    assert_true(fabs(hi - 5) < 1e-3 && fabs(lo + 4) < 1e-3 && fabs(at - 0.01 * (SPIKE + 1)) < 0.02);
    mo_free_block(page);
}

// ---- Comparisons ----

// Stresses and rounds of a viscous run, and what its liquids are.
static void viscous_runs(void **state)
{
    run_spec s = plain;
    s.viscous = true;
    char *page = page_of_one(*state, s);
    check_tags(page);
    double point[64][2];
    assert_int_equal(read_curve(page, "Rounds", point, 64), 10);
    for (int32_t i = 0; i < 10; i++) assert_true(fabs(point[i][1] - (1 + i % 3)) < 1e-2);
    assert_int_equal(read_curve(page, "Change of the last round", point, 64), 10);
    for (int32_t i = 0; i < 10; i++) assert_true(fabs(point[i][1] / small_residual(i) - 1) < 2e-3);
    find(page, "<tr><td>Stress unknowns, most</td><td>509</td></tr>");
    find(page, "<tr><td>Rounds of a step, mean</td><td>1.9</td></tr>");
    find(page, "<tr><td>Change of the last round, largest</td><td>3\xc3\x97"
               "10\xe2\x81\xbb\xe2\x81\xb7</td></tr>");
    find(page, "<td>liquids</td><td>density\u00a0900, viscosity\u00a0function(x, y, z)<br>density\u00a0900, "
               "rheology\u00a0(consistency\u00a05, flow_index\u00a00.5)</td>");
    mo_free_block(page);
}

static void runs_are_compared(void **state)
{
    place *p = *state;
    run_spec s = plain;
    const char *dirs[] = {in(p, "fast"), in(p, "paper")};
    make_run(dirs[0], s);
    s.route = "paper", s.slow = 2.5, s.steps = 20, s.reason = "max_iterations";
    make_run(dirs[1], s);
    char *page = page_of(dirs, 2, in(p, "page.html"));
    check_tags(page);
    find(page, "<title>fast and paper – Monolith report</title>");
    find(page,
         "<tr><td>Wall time per particle and step</td><td>4\u00a0µs</td><td>10\u00a0µs<small>×2.50</small></td></tr>");
    find(page, "<tr><td>Wall time of the steps</td><td>0.04\u00a0s</td><td>0.2\u00a0s<small>×5.00</small></td></tr>");
    find(page, "<tr><td>Steps not converged</td><td>0</td><td>1</td></tr>");
    const char *differences = find(page, "Settings that differ"), *end = strstr(differences, "</table>");
    assert_true(find(differences, "<td>solver.route</td><td>fast</td><td>paper</td>") < end);
    const char *tolerance = strstr(differences, "solver.tolerance");
    assert_true(tolerance > end); // only among all settings
    find(page, "<tr class=\"differs\"><td>solver.route</td>");
    // One time axis for all: the shorter curve ends half way.
    double point[64][2];
    int32_t n = read_curve(page, "Volume error", point, 64);
    assert_int_equal(n, 10);
    assert_true(attribute(find(page, "aria-label=\"Volume error over time\""), "x1") == 0.2);
    find(page, "How the solves ended");
    find(page, "<td>max_iterations</td>");
    find(page, "Momentum, x over time");
    find(page, "Scene of fast, paper</summary>"); // the same text is shown once
    mo_free_block(page);
}

static void equal_names_are_told_apart(void **state)
{
    place *p = *state;
    mkdir(in(p, "a"), 0777), mkdir(in(p, "b"), 0777);
    const char *dirs[] = {in(p, "a/run/"), in(p, "b/run")};
    make_run(dirs[0], plain);
    make_run(dirs[1], plain);
    char *page = page_of(dirs, 2, in(p, "page.html"));
    find(page, "a/run");
    find(page, "None: the runs have the same settings.");
    char title[256];
    snprintf(title, sizeof title, "<h1>%s and %s</h1>", dirs[0], dirs[1]);
    find(page, title);
    mo_free_block(page);
    // The default place, and a title for ".".
    assert_int_equal(mo_report_write(dirs + 1, 1, NULL, NULL), MO_OK);
    assert_int_equal(access(in(p, "b/run/report.html"), F_OK), 0);
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in(p, "b/run")), 0);
    const char *here = ".";
    page = page_of(&here, 1, "page.html");
    assert_int_equal(chdir(before), 0);
    find(page, "<h1>run</h1>");
    mo_free_block(page);
}

static void many_runs(void **state)
{
    place *p = *state;
    const char *dirs[17];
    for (int i = 0; i < 17; i++) {
        char name[16];
        snprintf(name, sizeof name, "run%d", i);
        make_run(dirs[i] = in(p, name), plain);
    }
    char *page = page_of(dirs, 16, in(p, "page.html"));
    check_tags(page);
    find(page, "<g class=\"line c7 dash\" data-name=\"run15\">");
    mo_free_block(page);
    mo_error err = {0};
    assert_int_equal(mo_report_write(dirs, 17, NULL, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "1 to 16 runs, got 17"));
    assert_int_equal(mo_report_write(dirs, 0, NULL, &err), MO_ERROR_INPUT);
}

// ---- Pictures ----

static void pictures_are_embedded(void **state)
{
    place *p = *state;
    make_run(in(p, "run"), plain);
    mkdir(in(p, "run/images"), 0777);
    static const char png[] = "\x89PNG\r\n\x1a\nABCDE", other[] = "GIF89a, not what its name says";
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "run/images/frame_%05d.png", i);
        put(in(p, name), i == 2 ? other : png, i == 2 ? sizeof other : sizeof png - 1 - (size_t)(i == 4));
    }
    put(in(p, "run/images/video.png"), png, sizeof png - 1);
    put(in(p, "run/images/notes.txt"), png, sizeof png - 1);
    const char *dir = in(p, "run");
    char *page = page_of(&dir, 1, in(p, "page.html"));
    check_tags(page);
    find(page, "src=\"data:image/png;base64,iVBORw0KGgpBQkNERQ==\"");
    find(page, "src=\"data:image/png;base64,iVBORw0KGgpBQkNE\"");
    find(page, "images/frame_00002.png: not a PNG picture");
    absent(page, "frame_00001");
    absent(page, "video.png");
    mo_free_block(page);
    size_t bytes = 5 << 20;
    char *big = calloc(1, bytes);
    memcpy(big, png, 8);
    put(in(p, "run/images/frame_00000.png"), big, bytes);
    free(big);
    page = page_of(&dir, 1, in(p, "page.html"));
    find(page, "images/frame_00000.png: too large to be embedded");
    assert_true(strlen(page) < 200000);
    mo_free_block(page);
}

// ---- Damage ----

static void hostile_text_stays_text(void **state)
{
    run_spec s = plain;
    s.text = "-- </pre></details><script>alert('x')</script> & \"quotes\" \x01 \u00e9\n";
    s.route = "<b>fast";
    s.reason = "<i>bold";
    char *page = page_of_one(*state, s);
    check_tags(page);
    absent(page, "<script>alert");
    absent(page, "<b>fast");
    absent(page, "<i>bold");
    find(page, "&lt;/pre&gt;&lt;/details&gt;&lt;script&gt;alert('x')&lt;/script&gt; &amp; &quot;quotes&quot;");
    find(page, "\u00e9\n</pre>");
    mo_free_block(page);
}

static void expect_error(const char *dir, const char *path, mo_status status, const char *text)
{
    mo_error err = {0};
    assert_int_equal(mo_report_write(&dir, 1, path, &err), status);
    if (!strstr(err.text, text)) fail_msg("'%s' is not in '%s'", text, err.text);
    if (!strstr(err.text, "/tmp/") && !strstr(err.text, "/proc/")) fail_msg("'%s' names no place", err.text);
}

static void damaged_runs_are_refused(void **state)
{
    place *p = *state;
    const char *dir = in(p, "run");
    expect_error(dir, NULL, MO_ERROR_FILE, "");
    mkdir(dir, 0777);
    expect_error(dir, NULL, MO_ERROR_FILE, "holds no run");
    run_spec s = plain;
    s.steps = 0;
    make_run(dir, s);
    expect_error(dir, NULL, MO_ERROR_INPUT, "no steps yet");
    unlink(in(p, "run/stats.jsonl"));
    expect_error(dir, NULL, MO_ERROR_INPUT, "no steps yet");
    make_run(dir, plain);
    expect_error(dir, "/proc/page.html", MO_ERROR_FILE, "/proc/page.html");
    expect_error(dir, in(p, "absent/page.html"), MO_ERROR_FILE, "absent/page.html");
    expect_error(dir, in(p, "run"), MO_ERROR_FILE, "/run");
    // A line that is still being written does not count; one cut run.json does.
    size_t bytes;
    char *text;
    assert_int_equal(mo_file_read(in(p, "run/stats.jsonl"), &text, &bytes, NULL, NULL), MO_OK);
    put(in(p, "run/stats.jsonl"), text, bytes - 20);
    mo_free_block(text);
    char *page = page_of(&dir, 1, in(p, "page.html"));
    find(page, "<tr><td>Steps</td><td>9</td></tr>");
    mo_free_block(page);
    assert_int_equal(truncate(in(p, "run/run.json"), 300), 0);
    expect_error(dir, NULL, MO_ERROR_FILE, "run.json");
    assert_int_equal(access(in(p, "run/report.html"), F_OK), -1);
}

// Bytes changed at random: a message or a page, never a crash, always with its tags in order.
static void random_damage(void **state)
{
    place *p = *state;
    const char *dir = in(p, "run"), *const file[] = {"run/run.json", "run/stats.jsonl"};
    make_run(dir, plain);
    static const char byte[] = "{}[]\",:0-9.eE\\un\n<& \xff";
    char *good[2];
    size_t bytes[2];
    for (int k = 0; k < 2; k++) assert_int_equal(mo_file_read(in(p, file[k]), &good[k], &bytes[k], NULL, NULL), MO_OK);
    uint32_t seed = 7, pages = 0;
    for (int i = 0; i < 400; i++) {
        char bad[16384];
        int k = i % 2;
        assert_true(bytes[k] < sizeof bad);
        memcpy(bad, good[k], bytes[k]);
        for (int n = 1 + i % 3; n > 0; n--) {
            seed = seed * 1664525u + 1013904223u;
            bad[(seed >> 8) % bytes[k]] = byte[(seed >> 3) % (sizeof byte - 1)];
        }
        put(in(p, file[k]), bad, bytes[k]);
        put(in(p, file[!k]), good[!k], bytes[!k]);
        mo_error err = {0};
        if (mo_report_write(&dir, 1, in(p, "page.html"), &err) == MO_OK) {
            char *page;
            size_t length;
            assert_int_equal(mo_file_read(in(p, "page.html"), &page, &length, NULL, NULL), MO_OK);
            check_tags(page);
            mo_free_block(page);
            pages++;
        } else {
            assert_non_null(strstr(err.text, dir));
        }
    }
    assert_in_range(pages, 20, 380); // both outcomes were met
    mo_free_block(good[0]);
    mo_free_block(good[1]);
}

// ---- Memory ----

static void every_allocation_may_fail(void **state)
{
    place *p = *state;
    const char *dirs[] = {in(p, "a"), in(p, "b")};
    make_run(dirs[0], plain);
    make_run(dirs[1], plain);
    mkdir(in(p, "a/images"), 0777);
    put(in(p, "a/images/x.png"), "\x89PNG\r\n\x1a\n", 8);
    ration r = {.for_good = true};
    int64_t before = mo_memory_in_use();
    mo_set_allocator(rationed, &r);
    mo_status status = MO_ERROR_MEMORY;
    int64_t n = 0;
    for (; status != MO_OK && n < 5000; n++) {
        r.calls = 0, r.fail_at = n + 1;
        mo_error err = {0};
        status = mo_report_write(dirs, 2, in(p, "page.html"), &err);
        if (status != MO_OK) assert_int_equal(status, MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), before);
        assert_int_equal(access(in(p, "page.html"), F_OK), status == MO_OK ? 0 : -1);
    }
    mo_set_allocator(NULL, NULL);
    assert_int_equal(status, MO_OK);
    assert_true(n > 20);
}

// ---- Plots as files ----

static int count_of(const char *text, const char *what)
{
    int count = 0;
    for (const char *c = text; (c = strstr(c, what)); c += strlen(what)) count++;
    return count;
}

static void plots_are_files_of_their_own(void **state)
{
    place *p = *state;
    enum { MANY = 5000 };
    static double x[MANY], y[MANY], turn_x[MANY], turn_y[MANY];
    for (int i = 0; i < MANY; i++) {
        x[i] = 1 + i, y[i] = 1e-3 * (1 + i % 7);
        turn_x[i] = 100 + 50 * cos(0.01 * i), turn_y[i] = 1e-3 * (2 + sin(0.01 * i));
    }
    const mo_line line[] = {
        {.name = "long <one>", .x = x, .y = y, .count = MANY},
        {.name = "turning", .x = turn_x, .y = turn_y, .count = MANY, .colour = 1},
        {.name = "points", .x = x, .y = y, .count = 5, .colour = 2, .style = MO_LINE_POINTS},
        {.name = "not told", .x = x, .y = y, .count = 3, .colour = 2, .style = MO_LINE_HOLLOW},
    };
    mo_plot plot = {.title = "a & b",
                    .scale = 1,
                    .log_x = true,
                    .x_label = "x, m",
                    .y_label = "y, s",
                    .line = line,
                    .lines = sizeof line / sizeof *line};
    mo_error err = {0};
    char *svg;
    size_t bytes;
    assert_int_equal(mo_plot_write(in(p, "plot.svg"), &plot, &err), MO_OK);
    assert_int_equal(mo_file_read(in(p, "plot.svg"), &svg, &bytes, NULL, &err), MO_OK);
    find(svg, "xmlns=\"http://www.w3.org/2000/svg\"");
    find(svg, ">a &amp; b</text>");
    find(svg, ">long &lt;one&gt;</text>");
    find(svg, ">y, s / 10⁻³</text>"); // what the ticks share
    find(svg, ">10³</text>");
    absent(svg, ">not told<");
    absent(svg, "nan");
    assert_int_equal(count_of(svg, "class=\"point\""), 5);
    assert_int_equal(count_of(svg, "class=\"hollow\""), 3);
    // A long curve is thinned to what pixels show, a path that turns back is not.
    const char *second = find(svg, "data-name=\"turning\""), *third = find(second, "</g>");
    assert_true(count_of(second, ",") - count_of(third, ",") == MANY);
    assert_true(count_of(svg, ",") - count_of(second, ",") < 2200);
    mo_free_block(svg);
    assert_int_equal(mo_plot_write(in(p, "absent/plot.svg"), &plot, &err), MO_ERROR_FILE);
    plot.lines = 0; // nothing to draw is drawn as an empty plot
    assert_int_equal(mo_plot_write(in(p, "plot.svg"), &plot, &err), MO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_as_people_read_them),
        cmocka_unit_test(axes_hold_their_range),
        cmocka_unit_test_setup_teardown(curves_tell_the_values, make_place, remove_place),
        cmocka_unit_test_setup_teardown(plots_are_files_of_their_own, make_place, remove_place),
        cmocka_unit_test_setup_teardown(gaps_stay_gaps, make_place, remove_place),
        cmocka_unit_test_setup_teardown(long_runs_keep_their_extremes, make_place, remove_place),
        cmocka_unit_test_setup_teardown(viscous_runs, make_place, remove_place),
        cmocka_unit_test_setup_teardown(runs_are_compared, make_place, remove_place),
        cmocka_unit_test_setup_teardown(equal_names_are_told_apart, make_place, remove_place),
        cmocka_unit_test_setup_teardown(many_runs, make_place, remove_place),
        cmocka_unit_test_setup_teardown(pictures_are_embedded, make_place, remove_place),
        cmocka_unit_test_setup_teardown(hostile_text_stays_text, make_place, remove_place),
        cmocka_unit_test_setup_teardown(damaged_runs_are_refused, make_place, remove_place),
        cmocka_unit_test_setup_teardown(random_damage, make_place, remove_place),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
