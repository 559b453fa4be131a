// The simulation's state: the same bytes for any number of threads, saved and continued exactly, refused when damaged,
// nothing lost when memory runs out at any call.
#include "sim_test.h"
#include "sim/sim.h"
#include "ration.h"

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int32_t threads[] = {1, 2, 4};
    block first = {0};
    mo_stats reference[20];
    for (int n = 0; n < 3; n++) {
        scene s;
        scene_busy(&s, threads[n]);
        mo_sim *sim = scene_create(&s);
        for (int step = 0; step < 20; step++) {
            mo_stats stats = sim_step(sim), *r = &reference[step];
            memset(stats.seconds, 0, sizeof stats.seconds), stats.cpu_seconds = 0, stats.memory_bytes = 0;
            if (n == 0) *r = stats;
            assert_true(stats.particles == r->particles && stats.iterations == r->iterations);
            assert_true(stats.volume == r->volume && stats.kinetic_energy == r->kinetic_energy);
            assert_true(stats.max_divergence == r->max_divergence && stats.residual == r->residual);
            assert_true(stats.energy == r->energy && stats.energy_work == r->energy_work);
            assert_true(stats.energy_error == r->energy_error && stats.energy_loss == r->energy_loss);
            assert_true(stats.ballistic == r->ballistic && stats.clamped == r->clamped);
            assert_true(stats.density_rms == r->density_rms && stats.momentum.x == r->momentum.x);
        }
        block b = sim_save(sim);
        if (n == 0)
            first = b;
        else {
            assert_same_blocks(&first, &b);
            block_free(&b);
        }
        mo_sim_destroy(sim);
        scene_end(&s);
    }
    // The scene did have what it is meant to: flights, outflow or emission, several steps in a frame.
    assert_true(reference[19].frame < 20 && reference[19].particles != reference[10].particles);
    block_free(&first);
}

// N steps = k steps, saved, loaded into another simulation (itself some steps on), N - k steps; at every k.
static void saved_states_continue_exactly(void **state)
{
    (void)state;
    enum { STEPS = 8 };
    scene s;
    scene_busy(&s, 2);
    s.def.time.cfl = 1; // several steps in a frame
    mo_sim *sim = scene_create(&s);
    block saved[STEPS + 1];
    bool inside_a_frame = false;
    for (int k = 0; k <= STEPS; k++) {
        saved[k] = sim_save(sim);
        inside_a_frame |= fabs(mo_sim_time(sim) - mo_sim_frame(sim) / 20.0) > 1e-6;
        if (k < STEPS) sim_step(sim);
    }
    assert_true(inside_a_frame);
    mo_sim_destroy(sim);
    for (int k = 0; k <= STEPS; k++) {
        mo_sim *other = scene_create(&s);
        if (k % 3 == 1) sim_step(other);
        assert_int_equal(mo_sim_load(other, saved[k].data, saved[k].bytes, NULL), MO_OK);
        block again = sim_save(other); // loading and saving is the identity
        assert_same_blocks(&saved[k], &again);
        block_free(&again);
        int last = k + 2 < STEPS ? k + 2 : STEPS;
        if (k == 3) last = STEPS;
        for (int step = k; step < last; step++) sim_step(other);
        block end = sim_save(other);
        assert_same_blocks(&saved[last], &end);
        block_free(&end);
        mo_sim_destroy(other);
    }
    for (int k = 0; k <= STEPS; k++) block_free(&saved[k]);
    scene_end(&s);
}

// Looking at a simulation does not change it.
static void looking_changes_nothing(void **state)
{
    (void)state;
    scene s;
    scene_busy(&s, 1);
    block end[2];
    for (int look = 0; look < 2; look++) {
        mo_sim *sim = scene_create(&s);
        for (int step = 0; step < 6; step++) {
            if (look) {
                mo_mesh mesh;
                double volume, rms;
                assert_int_equal(mo_sim_surface(sim, &mesh, NULL), MO_OK);
                mo_mesh_destroy(&mesh);
                assert_int_equal(mo_sim_visible_volume(sim, &volume, NULL), MO_OK);
                assert_int_equal(mo_sim_density_rms(sim, &rms, NULL), MO_OK);
            }
            sim_step(sim);
        }
        end[look] = sim_save(sim);
        mo_sim_destroy(sim);
    }
    assert_same_blocks(&end[0], &end[1]);
    block_free(&end[0]), block_free(&end[1]);
    scene_end(&s);
}

static void refuse(mo_sim *sim, const void *data, size_t bytes, const char *what, size_t at)
{
    mo_error err = {0};
    mo_status status = mo_sim_load(sim, data, bytes, &err);
    if (status != MO_ERROR_INPUT) print_error("%s %zu: status %d, \"%s\"\n", what, at, status, err.text);
    assert_int_equal(status, MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "checkpoint: "));
}

// Every byte of the first 256, then some of the rest; every short length, then some; and the simulation stays as it
// was.
static void damaged_states_are_refused(void **state)
{
    (void)state;
    scene s;
    scene_busy(&s, 1);
    mo_sim *sim = scene_create(&s), *other = scene_create(&s);
    for (int step = 0; step < 3; step++) sim_step(sim);
    sim_step(other);
    block good = sim_save(sim), before = sim_save(other);
    uint8_t *bad = malloc(good.bytes + 8);
    memcpy(bad, good.data, good.bytes), memset(bad + good.bytes, 0, 8);
    for (size_t at = 0; at < good.bytes; at += at < 256 ? 1 : 1 + good.bytes / 211)
        for (int bit = 0; bit < 8; bit += at < 256 ? 1 : 5) {
            bad[at] ^= (uint8_t)(1 << bit);
            refuse(other, bad, good.bytes, "flipped a bit of byte", at);
            bad[at] ^= (uint8_t)(1 << bit);
        }
    for (size_t bytes = 0; bytes < good.bytes; bytes += bytes < 256 ? 1 : 1 + good.bytes / 97)
        refuse(other, bad, bytes, "truncated to", bytes);
    refuse(other, bad, good.bytes - 1, "truncated to", good.bytes - 1);
    refuse(other, bad, good.bytes + 4, "extended to", good.bytes + 4);
    refuse(other, NULL, 0, "nothing", 0);
    block after = sim_save(other);
    assert_same_blocks(&before, &after);
    assert_int_equal(mo_sim_load(other, good.data, good.bytes, NULL), MO_OK);
    sim_step(other), sim_step(sim);
    block a = sim_save(sim), b = sim_save(other);
    assert_same_blocks(&a, &b);
    // States of other scenes.
    scene foreign[3];
    for (int i = 0; i < 3; i++) {
        scene_busy(&foreign[i], 1);
        if (i == 0) foreign[i].def.domain.cells = 22;
        if (i == 1) foreign[i].def.particles_per_axis = 3;
        if (i == 2) scene_solid(&foreign[i], "post", ball_at(0.9, 0.9, 0.3, 0.05), NULL);
        mo_sim *stranger = scene_create(&foreign[i]);
        refuse(stranger, good.data, good.bytes, "foreign", (size_t)i);
        sim_step(stranger);
        mo_sim_destroy(stranger);
        scene_end(&foreign[i]);
    }
    block_free(&good), block_free(&before), block_free(&after), block_free(&a), block_free(&b);
    free(bad);
    mo_sim_destroy(sim), mo_sim_destroy(other);
    scene_end(&s);
}

// The same particles with the arrays of viscous liquids, every number in them different.
static void make_viscous(mo_sim *sim)
{
    mo_particles old = sim->particles, *p = &sim->particles;
    *p = (mo_particles){.fields = MO_PARTICLE_FIELDS, .start = old.start, .stale = old.stale};
    p->start_capacity = old.start_capacity, old.start = NULL;
    assert_int_equal(mo_particles_reserve(p, old.count, NULL), MO_OK);
    p->count = old.count;
    for (int32_t q = 0; q < p->count; q++) {
        for (int f = 0; f < old.fields; f++) p->field[f][q] = old.field[f][q];
        p->viscosity[q] = 1.5f * (float)q, p->material[q] = (float)(q % 5);
    }
    mo_particles_destroy(&old);
}

// The arrays of viscous liquids are saved and come back; a scene without them refuses such a state, and the reverse.
static void states_know_their_fields(void **state)
{
    (void)state;
    scene s;
    scene_busy(&s, 1);
    mo_sim *plain = scene_create(&s), *viscous = scene_create(&s), *other = scene_create(&s);
    make_viscous(viscous), make_viscous(other);
    block a = sim_save(plain), b = sim_save(viscous);
    size_t count = (size_t)viscous->particles.count;
    assert_int_equal(b.bytes - a.bytes, 2 * sizeof(float) * count);

    mo_error err = {0};
    assert_int_equal(mo_sim_load(plain, b.data, b.bytes, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "18 numbers per particle, here 16"));
    assert_int_equal(mo_sim_load(viscous, a.data, a.bytes, &err), MO_ERROR_INPUT);
    assert_non_null(strstr(err.text, "16 numbers per particle, here 18"));
    block a2 = sim_save(plain), b2 = sim_save(viscous); // as they were
    assert_same_blocks(&a, &a2);
    assert_same_blocks(&b, &b2);

    memset(other->particles.viscosity, 0, sizeof(float) * count);
    memset(other->particles.material, 0, sizeof(float) * count);
    assert_int_equal(mo_sim_load(other, b.data, b.bytes, &err), MO_OK);
    for (size_t q = 0; q < count; q++)
        assert_true(other->particles.viscosity[q] == 1.5f * (float)q && other->particles.material[q] == (float)(q % 5));
    block b3 = sim_save(other);
    assert_same_blocks(&b, &b3);
    block_free(&a), block_free(&b), block_free(&a2), block_free(&b2), block_free(&b3);
    mo_sim_destroy(plain), mo_sim_destroy(viscous), mo_sim_destroy(other);

    // Nothing there yet: an emitter that starts later. Such states are plain too.
    s.def.liquid_count = 0;
    mo_sim *waiting = scene_create(&s), *again = scene_create(&s);
    assert_int_equal(waiting->particles.count, 0);
    block empty = sim_save(waiting);
    for (int step = 0; step < 3; step++) sim_step(again);
    assert_true(again->particles.count > 0);
    assert_int_equal(mo_sim_load(again, empty.data, empty.bytes, &err), MO_OK);
    assert_int_equal(again->particles.count, 0);
    block_free(&empty);
    mo_sim_destroy(waiting), mo_sim_destroy(again);
    s.def.liquid_count = 1; // for its shape
    scene_end(&s);
}

// ---- Memory ----

// A small plane scene with everything, from creation over two steps to all that looks at it. After a failed step the
// simulation refuses to go on or goes on, but does not crash; a saved state makes it good again.
static mo_status play(const scene *s, ration *r)
{
    mo_sim *sim;
    mo_stats stats;
    mo_mesh mesh = {0};
    double value;
    block b = {0};
    mo_status status = mo_sim_create(&s->def, &sim, NULL);
    if (status != MO_OK) assert_null(sim);
    if (status == MO_OK) status = mo_sim_save(sim, &b.data, &b.bytes, NULL);
    bool began = status == MO_OK;
    if (status == MO_OK) status = mo_sim_step(sim, &stats, NULL);
    if (status == MO_OK) status = mo_sim_step(sim, &stats, NULL);
    if (status == MO_OK) status = mo_sim_surface(sim, &mesh, NULL);
    mo_mesh_destroy(&mesh);
    if (status == MO_OK) status = mo_sim_visible_volume(sim, &value, NULL);
    if (status == MO_OK) status = mo_sim_density_rms(sim, &value, NULL);
    if (status == MO_OK) status = mo_sim_load(sim, b.data, b.bytes, NULL);
    if (status != MO_OK && began) {
        r->fail_at = 0;
        mo_sim_step(sim, &stats, NULL);
        assert_int_equal(mo_sim_load(sim, b.data, b.bytes, NULL), MO_OK);
        assert_int_equal(mo_sim_step(sim, &stats, NULL), MO_OK);
    }
    mo_free_block(b.data);
    mo_sim_destroy(sim);
    return status;
}

static void exhausted_memory_is_survived(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 12, 0);
    s.amplitude = 0.05;
    s.def.domain.walls[MO_XMAX] = MO_WALL_OPEN;
    scene_liquid(&s, box_between(-1, -1, -1, 0.5, 0.4, 1))->velocity = mo_v3(1, 0, 0);
    scene_solid(&s, "bar", mo_shape_box(mo_v3(0.2, 0.1, 1)), swing);
    scene_emitter(&s, ball_at(0.7, 0.8, 0, 0.1), mo_v3(-1, 0, 0));
    for (int route = 0; route < 2; route++) {
        s.def.solver.route = route ? MO_ROUTE_PAPER : MO_ROUTE_FAST;
        ration all = {0};
        int64_t before = mo_memory_in_use();
        mo_set_allocator(rationed, &all);
        mo_status status = play(&s, &all);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(status, MO_OK);
        assert_int_equal(all.live, 0);
        print_message("route %d: %lld allocations\n", route, (long long)all.calls);
        for (int64_t fail = 1; fail <= all.calls; fail++) {
            ration r = {.fail_at = fail};
            mo_set_allocator(rationed, &r);
            status = play(&s, &r);
            mo_set_allocator(NULL, NULL);
            if (status != MO_ERROR_MEMORY || r.live || mo_memory_in_use() != before)
                print_error("allocation %lld of %lld: status %d, %lld blocks lost\n", (long long)fail,
                            (long long)all.calls, status, (long long)r.live);
            assert_int_equal(status, MO_ERROR_MEMORY);
            assert_int_equal(r.live, 0);
            assert_int_equal(mo_memory_in_use(), before);
        }
    }
    scene_end(&s);
}

// Steps in steady state take their memory from what is there.
static void steady_steps_do_not_grow(void **state)
{
    (void)state;
    scene s;
    scene_start(&s, 16, 1);
    scene_liquid(&s, box_between(-1, -1, -1, 2, 0.5, 2));
    mo_sim *sim = scene_create(&s);
    for (int step = 0; step < 3; step++) sim_step(sim);
    int64_t settled = mo_memory_in_use();
    for (int step = 0; step < 10; step++) sim_step(sim);
    assert_int_equal(mo_memory_in_use(), settled);
    mo_sim_destroy(sim);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_do_not_depend_on_threads), cmocka_unit_test(saved_states_continue_exactly),
        cmocka_unit_test(looking_changes_nothing),        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(states_know_their_fields),       cmocka_unit_test(exhausted_memory_is_survived),
        cmocka_unit_test(steady_steps_do_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
