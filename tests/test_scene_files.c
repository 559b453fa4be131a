// Every scene of scenes/ is loaded, made with coarse cells and stepped a few times.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "monolith/monolith.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2 };

static int is_scene(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".lua");
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

// At 16 cells nothing is left of the cylinder's ring.
static const char *cells_of(const char *name)
{
    return strcmp(name, "cylinder.lua") != 0 ? "domain.cells=16" : "domain.cells=40";
}

static void step_scene(const char *name)
{
    const char *sets[] = {cells_of(name)};
    char file[1000];
    mo_scene *scene;
    mo_sim *sim;
    mo_error err;
    mo_stats s;
    snprintf(file, sizeof file, "%s/scenes/%s", SOURCE_DIR, name);
    if (mo_scene_load(file, sets, 1, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    mo_scene_sim_def_mutable(scene)->threads = 1;
    if (mo_sim_create(mo_scene_sim_def(scene), &sim, &err) != MO_OK) fail_msg("%s: %s", name, err.text);
    for (int k = 0; k < STEPS; k++) {
        if (mo_sim_step(sim, &s, &err) != MO_OK) fail_msg("%s, step %d: %s", name, k + 1, err.text);
        bool solved = s.reason == MO_REASON_CONVERGED || s.reason == MO_REASON_NOTHING_TO_DO;
        if (!solved || !(s.dt > 0) || !isfinite(s.max_speed) || !(fabs(s.volume_error) < 0.04) ||
            !(s.energy_error < 0.01))
            fail_msg("%s, step %d: %s, %g m/s, volume error %g, energy error %g", name, k + 1, mo_reason_name(s.reason),
                     s.max_speed, s.volume_error, s.energy_error);
    }
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

static void every_scene_steps(void **state)
{
    (void)state;
    struct dirent **entry;
    int n = scandir(SOURCE_DIR "/scenes", &entry, is_scene, by_name);
    assert_true(n >= 60);
    for (int i = 0; i < n; i++) {
        step_scene(entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
