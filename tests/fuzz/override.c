// Any text as the value of --set, for a scene that has most sections. The input is "section.key=value".
#include "fuzz.h"
#include "monolith/monolith.h"

static const char scene_text[] =
    "domain { size = {1, 1}, cells = 8 }\n"
    "time { fps = 50, seconds = 1 }\n"
    "param { angle = 10 }\n"
    "liquid { shape = box{size = {0.4, 0.4}}:move(0.2, 0.2), viscosity = 1 }\n"
    "rigid { name = 'ball', shape = sphere{radius = 0.1}:move(0.7, 0.7), density = 100 + angle }\n"
    "emitter { shape = box{size = {0.1, 0.1}}:move(0.5, 0.8), velocity = {0, -1} }\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = calloc(bytes + 1, 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    const char *set[] = {text};
    mo_scene *scene = NULL;
    mo_error err = {0};
    const char *path = fuzz_file("scene.lua", (const uint8_t *)scene_text, sizeof scene_text - 1);
    if (mo_scene_load(path, set, 1, &scene, &err) != MO_OK && !err.text[0]) abort();
    mo_scene_destroy(scene);
    free(text);
    return 0;
}
