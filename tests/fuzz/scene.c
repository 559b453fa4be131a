// Any bytes as a scene: load it, and make a small simulation of what loads.
#include "fuzz.h"
#include "monolith/monolith.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    mo_scene *scene = NULL;
    mo_error err = {0};
    if (mo_scene_load(fuzz_file("scene.lua", data, bytes), NULL, 0, &scene, &err) != MO_OK) {
        if (!err.text[0]) abort(); // every refusal says why
        return 0;
    }
    mo_sim_def *def = mo_scene_sim_def_mutable(scene);
    def->threads = 1;
    if (def->domain.cells > 12) def->domain.cells = 12;
    int64_t particles, memory;
    if (mo_sim_estimate(def, &particles, &memory, &err) != MO_OK && !err.text[0]) abort();
    mo_scene_destroy(scene);
    return 0;
}
