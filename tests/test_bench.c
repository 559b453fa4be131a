// Benchmarks: names, lines that are JSON with the promised fields, small errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lines {
    int count;
    char text[16][2000];
} lines;

static void keep(void *user, const char *line)
{
    lines *l = user;
    assert_true(l->count < 16 && strlen(line) < sizeof l->text[0]);
    strcpy(l->text[l->count++], line);
}

// A flat reading is enough: balanced, one line, every key with a value that is no NaN.
static void check_json(const char *line)
{
    int depth = 0;
    bool quoted = false;
    assert_true(line[0] == '{' && line[strlen(line) - 1] == '}');
    for (const char *c = line; *c; c++) {
        assert_true((unsigned char)*c >= ' ');
        if (*c == '"') quoted = !quoted;
        if (!quoted) depth += (*c == '{') - (*c == '}');
        assert_true(depth > 0 || !c[1]);
    }
    assert_true(depth == 0 && !quoted);
    assert_null(strstr(line, "nan"));
    assert_null(strstr(line, "inf"));
}

static double number(const char *line, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(line, name);
    if (!at) print_error("no %s in %s\n", key, line);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    lines l = {0};
    mo_error err = {0};
    assert_int_equal(mo_bench_run("speed", NULL, keep, &l, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "no benchmark 'speed'"));
    assert_non_null(strstr(err.text, "pressure, stokes, contact, elastic, smoke, step, scaling, triad, kernels"));
    assert_int_equal(l.count, 0);
}

static void pressure_compares_routes(void **state)
{
    (void)state;
    lines l = {0};
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.min_cells = 32, .max_cells = 32, .repeats = 1, .threads = 1}; // no small set
    assert_int_equal(mo_bench_run("pressure", &options, keep, &l, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), before);
    assert_int_equal(l.count, 3);
    for (int i = 0; i < 3; i++) {
        check_json(l.text[i]);
        assert_non_null(strstr(l.text[i], "\"bench\":\"pressure\""));
        assert_int_equal((int)number(l.text[i], "cells"), 32);
        assert_true(number(l.text[i], "unknowns") == number(l.text[0], "unknowns"));
        assert_true(number(l.text[i], "unknowns") > 1000);
        assert_true(number(l.text[i], "iterations") > 1);
        assert_true(number(l.text[i], "error") < 1e-3);
        assert_true(number(l.text[i], "cpu_seconds") > 0 && number(l.text[i], "bytes") > 0);
    }
    assert_non_null(strstr(l.text[0], "\"route\":\"fast\""));
    assert_non_null(strstr(l.text[1], "\"route\":\"paper\""));
    // What the fast route is for.
    assert_true(number(l.text[0], "iterations") < 0.5 * number(l.text[1], "iterations"));
}

static void steps_are_measured(void **state)
{
    (void)state;
    lines l = {0};
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.max_cells = 16, .repeats = 3, .threads = 1};
    assert_int_equal(mo_bench_run("step", &options, keep, &l, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), before);
    assert_int_equal(l.count, 1);
    check_json(l.text[0]);
    // The corner column of 0.3 x 0.6 x 1 at 8 particles a cell.
    assert_true(fabs(number(l.text[0], "unknowns") - 0.18 * 4096 * 8) < 0.05 * 0.18 * 4096 * 8);
    double stages = 0;
    for (int k = 0; k < MO_STAGE_COUNT; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s_seconds", mo_stage_name[k]);
        stages += number(l.text[0], name);
    }
    assert_true(stages > 0 && stages < 2 * number(l.text[0], "wall_seconds") + 1e-3);
    assert_true(number(l.text[0], "bytes_per_particle") > 64);
}

static void kernels_are_measured_against_bandwidth(void **state)
{
    (void)state;
    lines l = {0};
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.min_cells = 32, .max_cells = 32, .repeats = 2, .threads = 1};
    assert_int_equal(mo_bench_run("kernels", &options, keep, &l, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), before);
    assert_int_equal(l.count, 3);
    for (int i = 0; i < 3; i++) {
        check_json(l.text[i]);
        assert_true(number(l.text[i], "share_of_triad") > 0 && number(l.text[i], "bytes") > 0);
    }
    assert_true(number(l.text[0], "share_of_triad") == 1);
}

// Route fast and the papers' method solve one program; the former is the faster.
static void elastic_compares_methods(void **state)
{
    (void)state;
    lines l = {0};
    mo_error err = {0};
    mo_bench_options options = {.min_cells = 12, .max_cells = 12, .threads = 1};
    assert_int_equal(mo_bench_run("elastic", &options, keep, &l, &err), MO_OK);
    assert_int_equal(l.count, 9); // dry, inviscid and viscous
    for (int k = 0; k < 9; k++) {
        check_json(l.text[k]);
        if (k % 3 < 2) assert_non_null(strstr(l.text[k], "\"reason\":\"converged\""));
    }
    for (int k = 2; k < 9; k += 3) {
        assert_true(number(l.text[k], "node_difference") < 1e-5);
        assert_true(number(l.text[k], "ldlt_to_joint") > 2);
        if (k > 2) assert_true(number(l.text[k], "liquid_difference") < 1e-5);
    }
    assert_non_null(strstr(l.text[6], "\"method\":\"viscous\""));
    assert_true(number(l.text[0], "exact_solves") < 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_names_are_refused), cmocka_unit_test(pressure_compares_routes),
        cmocka_unit_test(steps_are_measured),        cmocka_unit_test(kernels_are_measured_against_bandwidth),
        cmocka_unit_test(elastic_compares_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
