// The Stokes benchmark: iteration counts that were measured before, lines with the promised fields, solves that end
// when their time is up, exported systems that other programs can read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "cases/case.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Iteration counts ----

static int32_t iterations(double viscosity, bool raw)
{
    mo_case_def def = {.cells = {32, 32, 32},
                       .dx = 1.0 / 32,
                       .liquid = mo_case_std_liquid,
                       .solid = mo_case_std_solid,
                       .density = 1000,
                       .viscosity = viscosity};
    mo_solver_def solver = {
        .route = MO_ROUTE_PAPER, .tolerance = 1e-6, .max_iterations = 2000, .raw_weights = raw, .rounds = 1};
    mo_case c;
    mo_system_info info;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    mo_case_std_velocity(&c);
    assert_int_equal(mo_case_stokes(&c, 0.01, &solver, &info, NULL, NULL), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    assert_true(info.solve.residual <= 1e-6);
    mo_case_destroy(&c);
    return info.solve.iterations;
}

static void iteration_counts_are_as_measured(void **state)
{
    (void)state;
    static const struct {
        double viscosity;
        bool raw;
        int32_t iterations;
    } golden[] = {{0, false, 25}, {1, false, 27}, {1e2, false, 65}, {1e4, false, 475}, {0, true, 25}, {1, true, 50}};
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        int32_t n = iterations(golden[i].viscosity, golden[i].raw);
        if (abs(n - golden[i].iterations) > 1 + golden[i].iterations / 20)
            fail_msg("viscosity %g, %s: %d iterations, were %d", golden[i].viscosity, golden[i].raw ? "raw" : "clamped",
                     n, golden[i].iterations);
    }
}

// ---- Lines ----

enum { LINES = 48 };
typedef struct lines {
    int count;
    char text[LINES][1000];
} lines;

static void keep(void *user, const char *line)
{
    lines *l = user;
    assert_true(l->count < LINES && strlen(line) < sizeof l->text[0]);
    strcpy(l->text[l->count++], line);
}

static bool has(const char *line, const char *text) { return strstr(line, text) != NULL; }

static double number(const char *line, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(line, name);
    if (!at) fail_msg("no %s in %s", key, line);
    return strncmp(at + strlen(name), "null", 4) ? strtod(at + strlen(name), NULL) : NAN;
}

static void run(int32_t cells, const char *export_to, lines *l)
{
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {
        .min_cells = cells, .max_cells = cells, .seconds = 1, .threads = 1, .export_to = export_to};
    l->count = 0;
    assert_int_equal(mo_bench_run("stokes", &options, keep, l, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), before);
    assert_int_equal(l->count, 5 * (2 * 4 + 1));
}

static void check_solve(const char *line)
{
    double error = number(line, "error"), reference = number(line, "reference_residual");
    assert_true(fabs(number(line, "viscous_number") / (number(line, "viscosity") * 0.01 / 1000 * 24 * 24) - 1) < 1e-3 ||
                number(line, "viscosity") == 0);
    assert_true(number(line, "unknowns") > 1000 && number(line, "bytes") > 1e5 && number(line, "cpu_seconds") > 0);
    bool converged = has(line, "\"reason\":\"converged\"");
    assert_true(converged == (number(line, "residual") <= 1e-6));
    // An error is told where there is a reference, and only there.
    assert_true(isnan(error) == isnan(reference) && !(reference > 1e-8));
    if (converged) assert_true(!isnan(error) && error < 1e-4);
    if (has(line, "\"reason\":\"time\"")) assert_true(number(line, "iterations") < 20000);
}

static void lines_tell_how_solves_went(void **state)
{
    (void)state;
    static lines l;
    int solves = 0, converged = 0, late = 0;
    run(24, NULL, &l);
    for (int i = 0; i < l.count; i++) {
        assert_true(has(l.text[i], "{\"bench\":\"stokes\"") && !has(l.text[i], "nan"));
        if (has(l.text[i], "clamped against raw")) {
            if (number(l.text[i], "viscosity") < 10) assert_true(number(l.text[i], "difference") < 0.1);
            continue;
        }
        solves++;
        check_solve(l.text[i]);
        converged += has(l.text[i], "\"reason\":\"converged\"");
        late += has(l.text[i], "\"reason\":\"time\"");
        // Without viscosity the unknowns are pressures, and incomplete factors exist.
        if (number(l.text[i], "viscosity") == 0) assert_true(number(l.text[i], "breakdowns") == 0);
        if (number(l.text[i], "viscosity") >= 1e4 && has(l.text[i], "\"ic0\""))
            assert_true(number(l.text[i], "breakdowns") > 0);
    }
    assert_int_equal(solves, 40);
    assert_true(converged >= 20);
    assert_true(late >= 1); // raw weights at the highest viscosity
}

// Three light balls: both routes, the same motion of the liquid and of the balls.
static void bodies_are_measured(void **state)
{
    (void)state;
    static lines l;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.min_cells = 16, .max_cells = 16, .seconds = 1, .threads = 1, .bodies = 3};
    l.count = 0;
    assert_int_equal(mo_bench_run("stokes", &options, keep, &l, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), before);
    assert_int_equal(l.count, 5 * (2 * 2 + 1));
    for (int i = 0; i < l.count; i++) {
        assert_true(has(l.text[i], "\"case\":\"balls") && number(l.text[i], "bodies") == 3);
        if (has(l.text[i], "clamped against raw")) continue;
        assert_true(number(l.text[i], "bytes_per_unknown") > 10);
        if (has(l.text[i], "\"fast\"")) assert_true(has(l.text[i], "\"reason\":\"converged\""));
        if (has(l.text[i], "\"reason\":\"converged\""))
            assert_true(number(l.text[i], "error") < 1e-4 && number(l.text[i], "body_error") < 1e-4);
    }
    options.export_to = "systems";
    assert_int_equal(mo_bench_run("stokes", &options, keep, &l, &err), MO_ERROR_INPUT);
    options = (mo_bench_options){.bodies = 4};
    assert_int_equal(mo_bench_run("stokes", &options, keep, &l, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "at most 3 bodies"));
}

// ---- Export ----

// The array of BASE_KIND.mtx, whose header must fit; the size line gives *rows.
static double *read_array(const char *base, char kind, int cols, int *rows)
{
    char path[600], line[300];
    snprintf(path, sizeof path, "%s_%c.mtx", base, kind);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, kind == 'c' ? "%%MatrixMarket matrix array integer general\n"
                                          : "%%MatrixMarket matrix array real general\n");
    assert_true(fgets(line, sizeof line, f) && has(line, "viscosity 100, weights clamped"));
    int n;
    assert_int_equal(fscanf(f, "%d %d", rows, &n), 2);
    assert_int_equal(n, cols);
    double *v = malloc(sizeof(double) * (size_t)(*rows * cols));
    for (int i = 0; i < *rows * cols; i++) assert_int_equal(fscanf(f, "%lf", &v[i]), 1);
    double more;
    assert_int_equal(fscanf(f, "%lf", &more), EOF);
    fclose(f);
    return v;
}

// Subtracts the product of the exported matrix with x from r.
static void subtract_product(const char *base, int rows, const double *x, double *r)
{
    char path[600], line[300];
    snprintf(path, sizeof path, "%s_A.mtx", base);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "%%MatrixMarket matrix coordinate real symmetric\n");
    assert_non_null(fgets(line, sizeof line, f));
    int m, n, i, j;
    long entries;
    double v;
    assert_int_equal(fscanf(f, "%d %d %ld", &m, &n, &entries), 3);
    assert_true(m == rows && n == rows);
    for (long k = 0; k < entries; k++) {
        assert_int_equal(fscanf(f, "%d %d %lf", &i, &j, &v), 3);
        assert_true(1 <= j && j <= i && i <= rows);
        r[i - 1] -= v * x[j - 1];
        if (i != j) r[j - 1] -= v * x[i - 1];
    }
    assert_int_equal(fscanf(f, "%d", &i), EOF);
    fclose(f);
}

static void exported_systems_have_their_solution(void **state)
{
    (void)state;
    static lines l;
    char dir[] = "/tmp/monolith_stokes_XXXXXX", base[300], command[300];
    assert_non_null(mkdtemp(dir));
    snprintf(base, sizeof base, "%s/systems", dir);
    run(12, base, &l);
    snprintf(base, sizeof base, "%s/systems/std_12_100_clamped", dir);
    int rows, same;
    double *b = read_array(base, 'b', 1, &rows), *x = read_array(base, 'x', 1, &same);
    assert_int_equal(same, rows);
    double *c = read_array(base, 'c', 3, &same), most = 0;
    assert_int_equal(same, rows);
    for (int i = 0; i < 3 * rows; i++) assert_true(c[i] >= 0 && c[i] <= 12 && c[i] == floor(c[i]));
    for (int i = 0; i < rows; i++) most = fmax(most, fabs(b[i]));
    subtract_product(base, rows, x, b);
    for (int i = 0; i < rows; i++) assert_true(fabs(b[i]) <= 1e-9 * most);
    free(b), free(x), free(c);
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
}

static void a_directory_that_cannot_be_is_told(void **state)
{
    (void)state;
    static lines l;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.min_cells = 8, .max_cells = 8, .threads = 1, .export_to = "/dev/null/systems"};
    l.count = 0;
    assert_int_equal(mo_bench_run("stokes", &options, keep, &l, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "/dev/null"));
    assert_int_equal(l.count, 0); // before anything is measured
    assert_int_equal(mo_memory_in_use(), before);
}

int main(void)
{
    mo_use_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iteration_counts_are_as_measured),
        cmocka_unit_test(lines_tell_how_solves_went),
        cmocka_unit_test(bodies_are_measured),
        cmocka_unit_test(exported_systems_have_their_solution),
        cmocka_unit_test(a_directory_that_cannot_be_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
