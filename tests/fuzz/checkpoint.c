// Any bytes as a checkpoint: as the file, and as the state inside it, which the checksums of the file would guard.
// Inputs that begin with S replace bytes of a good state: pairs of a place (4 bytes) and a value.
#include "fuzz.h"
#include "monolith/monolith.h"
#include "output/checkpoint.h"

static mo_sim *new_sim(void)
{
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_solid_def solid = mo_solid_def_default();
    mo_shape *box = mo_shape_box((mo_vec3){1, 0.5, 1}), *ball = mo_shape_sphere(0.1);
    mo_shape *placed = mo_shape_move(ball, (mo_vec3){0.5, 0.7, 0});
    mo_sim *sim = NULL;
    def.domain.size = (mo_vec3){1, 1, 0}, def.domain.cells = 8, def.threads = 1;
    liquid.shape = box, def.liquids = &liquid, def.liquid_count = 1;
    solid.shape = placed, solid.rigid = true, def.solids = &solid, def.solid_count = 1;
    if (mo_sim_create(&def, &sim, NULL) != MO_OK) abort();
    mo_shape_release(box), mo_shape_release(ball), mo_shape_release(placed);
    return sim;
}

static void load_state(const void *state, size_t bytes)
{
    mo_sim *sim = new_sim();
    mo_error err = {0};
    mo_stats stats;
    if (mo_sim_load(sim, state, bytes, &err) != MO_OK) {
        if (!err.text[0]) abort();
    } else {
        mo_sim_step(sim, &stats, &err); // whatever it says, it must end
    }
    mo_sim_destroy(sim);
}

static void load_changed(const uint8_t *data, size_t bytes)
{
    mo_sim *sim = new_sim();
    void *state = NULL;
    size_t size = 0;
    if (mo_sim_save(sim, &state, &size, NULL) != MO_OK) abort();
    for (size_t i = 0; i + 5 <= bytes; i += 5) {
        uint32_t place;
        memcpy(&place, data + i, 4);
        ((uint8_t *)state)[place % size] = data[i + 4];
    }
    load_state(state, size);
    mo_free_block(state);
    mo_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    mo_checkpoint c = {0};
    bool missing = false;
    mo_error err = {0};
    if (bytes && data[0] == 'S') {
        load_changed(data + 1, bytes - 1);
        return 0;
    }
    if (mo_checkpoint_read(fuzz_file("state.bin", data, bytes), &c, &missing, &err) == MO_OK)
        mo_free_block(c.payload);
    else if (!err.text[0])
        abort();
    load_state(data, bytes);
    return 0;
}
