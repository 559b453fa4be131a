// The contact benchmark: systems taken from scenes, the same answer by both routes, scenes that are missing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "bench/trial.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 64 };
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

// Lines of one system: paper, fast, fast without contacts, paper without (clamped only), ratios.
static int check_system(const char (*line)[1000])
{
    bool raw = has(line[0], "\"weights\":\"raw\"");
    int solves = raw ? 3 : 4;
    assert_true(has(line[0], "\"route\":\"paper\"") && has(line[1], "\"route\":\"fast\""));
    for (int i = 0; i < solves; i++) {
        bool kept = has(line[i], "\"contact_rows\":\"kept\"");
        assert_true(kept == (i < 2) && has(line[i], "\"reason\":\"converged\""));
        assert_true(number(line[i], "residual") <= 1e-6 && number(line[i], "bytes") > 0);
        assert_true(number(line[i], "unknowns") ==
                    number(line[0], "unknowns") - (kept ? 0 : number(line[0], "contacts")));
        // Two orders above the tolerance: it bounds a residual, and contacts amplify it.
        if (kept) assert_true(number(line[i], "error") < 1e-4 && number(line[i], "body_error") < 1e-4);
        if (kept) assert_true(number(line[i], "reference_residual") < 1e-8);
    }
    const char *ratios = line[solves];
    assert_true(has(ratios, ", ratios\"") && has(ratios, "\"at_least\":false"));
    assert_true(number(ratios, "contacts") > 0 && number(ratios, "body_difference") < 1e-4);
    double cpu[2] = {number(line[0], "cpu_seconds"), number(line[1], "cpu_seconds")};
    assert_true(fabs(number(ratios, "paper_to_fast") / (cpu[0] / cpu[1]) - 1) < 0.02);
    return solves + 1;
}

static void routes_agree_on_systems_of_scenes(void **state)
{
    (void)state;
    static lines l;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    int systems = 0, raw = 0;
    mo_bench_options options = {
        .min_cells = 16, .max_cells = 16, .repeats = 1, .seconds = 20, .threads = 1, .scenes = SOURCE_DIR "/scenes"};
    mo_status status = mo_bench_run("contact", &options, keep, &l, &err);
    if (status != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(mo_memory_in_use(), before);
    for (int i = 0; i < l.count; systems++) {
        raw += has(l.text[i], "\"weights\":\"raw\"");
        i += check_system((const char(*)[1000])(l.text + i));
    }
    assert_int_equal(systems, 10); // three scenes at two moments, the viscous ones with both kinds of weights
    assert_int_equal(raw, 4);
}

// Solves the system by the other route, and puts it back.
static mo_status look(void *user, mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_trial t;
    mo_cost cost = {0};
    mo_solver_def solver = sim->def.solver;
    solver.route = MO_ROUTE_PAPER;
    assert_int_equal(mo_trial_create(&c->assemble.liquid.system, &t, err), MO_OK);
    assert_int_equal(mo_trial_measure(&t, &solver, &cost, err), MO_OK);
    mo_trial_restart(&t, false);
    mo_trial_destroy(&t);
    ++*(int *)user;
    return MO_OK;
}

static void a_look_at_a_step_changes_nothing(void **state)
{
    (void)state;
    const char *const overrides[] = {"domain.cells=16"};
    void *data[2];
    size_t bytes[2];
    int looks = 0;
    for (int k = 0; k < 2; k++) {
        mo_scene *scene;
        mo_sim *sim;
        assert_int_equal(mo_scene_load(SOURCE_DIR "/scenes/bowl_afloat.lua", overrides, 1, &scene, NULL), MO_OK);
        assert_int_equal(mo_sim_create(mo_scene_sim_def(scene), &sim, NULL), MO_OK);
        if (k) sim->inspect = look, sim->inspect_user = &looks;
        while (mo_sim_time(sim) < 0.3) assert_int_equal(mo_sim_step(sim, NULL, NULL), MO_OK);
        assert_true(sim->stats.contacts > 0);
        assert_int_equal(mo_sim_save(sim, &data[k], &bytes[k], NULL), MO_OK);
        mo_sim_destroy(sim);
        mo_scene_destroy(scene);
    }
    assert_true(looks > 10 && bytes[0] == bytes[1]);
    assert_memory_equal(data[0], data[1], bytes[0]);
    mo_free(data[0]), mo_free(data[1]);
}

static void missing_scenes_are_told(void **state)
{
    (void)state;
    static lines l;
    mo_error err = {0};
    int64_t before = mo_memory_in_use();
    mo_bench_options options = {.min_cells = 16, .max_cells = 16, .scenes = "/nowhere"};
    assert_true(mo_bench_run("contact", &options, keep, &l, &err) != MO_OK);
    assert_non_null(strstr(err.text, "/nowhere/bowl_afloat.lua"));
    assert_int_equal(mo_memory_in_use(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_agree_on_systems_of_scenes),
        cmocka_unit_test(a_look_at_a_step_changes_nothing),
        cmocka_unit_test(missing_scenes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
