// What the tests of scenes share: a folder with one scene file, and loading it.
#ifndef MO_SCENE_TEST_H
#define MO_SCENE_TEST_H

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
#include <unistd.h>

static char folder[] = "/tmp/monolith_scene_XXXXXX";
static char path[64];

static inline int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/scene.lua", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    remove(path);
    return rmdir(folder);
}

static inline mo_status load_with(const char *text, const char *const *sets, int32_t count, mo_scene **scene,
                                  mo_error *err)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    *err = (mo_error){0};
    return mo_scene_load(path, sets, count, scene, err);
}

static inline mo_scene *load_good(const char *text)
{
    mo_scene *scene;
    mo_error err;
    if (load_with(text, NULL, 0, &scene, &err) != MO_OK) fail_msg("%s\n%s", err.text, text);
    return scene;
}

// The scene must be refused as the user's mistake, in one line that holds `message`.
static inline void assert_refused(const char *text, const char *set, const char *message)
{
    mo_scene *scene;
    mo_error err;
    int64_t before = mo_memory_in_use();
    if (load_with(text, &set, set != NULL, &scene, &err) == MO_OK)
        fail_msg("accepted: %s\n--set %s", text, set ? set : "");
    assert_null(scene);
    assert_int_equal(err.status, MO_ERROR_INPUT);
    if (!strstr(err.text, message) || strchr(err.text, '\n'))
        fail_msg("\n%s\n--set %s\nsays     %s\nexpected %s", text, set ? set : "", err.text, message);
    assert_true(mo_memory_in_use() == before);
}

#define DOMAIN "domain{size={1,1,1}, cells=8}\n"
#define BALL   "sphere{radius=0.1}"
#define LIQUID "liquid{shape=" BALL "}\n"

#endif
