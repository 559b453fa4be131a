// A scene with elastic and rigid bodies in liquid when memory runs out at any call: told, nothing lost, and a saved
// state goes on.
#include "elastic_test.h"
#include "ration.h"

static mo_status play(const mo_sim_def *def, ration *r)
{
    mo_sim *sim;
    mo_stats stats;
    mo_mesh mesh = {0};
    block b = {0};
    mo_status status = mo_sim_create(def, &sim, NULL);
    if (status != MO_OK) assert_null(sim);
    if (status == MO_OK) status = mo_sim_save(sim, &b.data, &b.bytes, NULL);
    bool began = status == MO_OK;
    for (int k = 0; k < 2 && status == MO_OK; k++) status = mo_sim_step(sim, &stats, NULL);
    if (status == MO_OK) assert_true(stats.contacts > 0);
    if (status == MO_OK) status = mo_sim_elastic_surface(sim, 0, &mesh, NULL);
    mo_mesh_destroy(&mesh);
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

static mo_status swayed(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)user, (void)err;
    *pose = mo_pose_identity();
    pose->position.x = 0.1 * t;
    return MO_OK;
}

static void exhausted_memory_is_survived(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) { // inviscid, viscous
        world w;
        world_start(&w, 8, 0);
        scene_liquid(&w.s, box_between(-1, -1, -1, 2, 0.4, 1))->viscosity = kind;
        mo_elastic_def *e = world_elastic(&w, "block", box_between(0.2, 0.01, -1, 0.6, 0.3, 1));
        e->pins = w.pin, e->pin_count = 1, w.pin[0].where = box_between(0, 0, -1, 0.25, 1, 1), w.pin[0].motion = swayed;
        scene_solid(&w.s, "box", box_between(0.3, 0.31, -1, 0.6, 0.5, 1), NULL)->rigid = true;
        int64_t before = mo_memory_in_use();
        ration all = {0};
        mo_set_allocator(rationed, &all);
        mo_status status = play(&w.s.def, &all);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(status, MO_OK);
        assert_int_equal(all.live, 0);
        int64_t stride = 1 + all.calls / 120;
        for (int64_t fail = 1; fail <= all.calls; fail += stride) {
            ration r = {.fail_at = fail};
            mo_set_allocator(rationed, &r);
            status = play(&w.s.def, &r);
            mo_set_allocator(NULL, NULL);
            if (status != MO_ERROR_MEMORY || r.live || mo_memory_in_use() != before)
                fail_msg("allocation %lld of %lld: status %d, %lld blocks lost", (long long)fail, (long long)all.calls,
                         status, (long long)r.live);
        }
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exhausted_memory_is_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
