// What a run tells of rigid bodies: fields of stats.jsonl, their kind in run.json, and rest shapes that the recorded
// poses put where the bodies are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/vec.h"
#include "output/reader.h"
#include "output/records.h"
#include "output/run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no\n%s\nin\n%s", part, text);
}

static void steps_tell_contacts(void **state)
{
    (void)state;
    mo_text t = {0};
    mo_stats stats = {.pressures = 11, .rounds = 2, .staggering = 0.25, .contacts = 7, .max_penetration = 0.5};
    stats.scheme = "PC-unified", stats.route = "fast";
    mo_record_step(&t, &stats);
    find(t.data, "\"dofs\":{\"p\":11,\"s\":0,\"l\":0,\"n\":7,\"e\":0}");
    find(t.data, "\"scheme\":\"PC-unified\",\"route\":\"fast\",\"rounds\":2,\"round_change\":0,\"staggering\":0.25,");
    find(t.data, "\"contacts\":7,\"max_penetration\":0.5,");
    find(t.data, "\"seconds\":{\"transfer\":0,\"fractions\":0,\"contacts\":0,\"assemble\":0,");
    mo_text_destroy(&t);
}

static mo_box3 placed_bounds(const mo_mesh *mesh, mo_pose pose)
{
    mo_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const float *v = mesh->position + 3 * i;
        mo_vec3 x = mo_pose_apply(pose, mo_v3(v[0], v[1], v[2]));
        b.lo = mo_v3(fmin(b.lo.x, x.x), fmin(b.lo.y, x.y), fmin(b.lo.z, x.z));
        b.hi = mo_v3(fmax(b.hi.x, x.x), fmax(b.hi.y, x.y), fmax(b.hi.z, x.z));
    }
    return b;
}

static void assert_box(mo_box3 b, mo_vec3 lo, mo_vec3 hi)
{
    if (!(mo_norm(mo_sub(b.lo, lo)) < 1e-4 && mo_norm(mo_sub(b.hi, hi)) < 1e-4))
        fail_msg("(%g, %g, %g) .. (%g, %g, %g)", b.lo.x, b.lo.y, b.lo.z, b.hi.x, b.hi.y, b.hi.z);
}

// A crate that reaches out of the domain and drifts without gravity: its shape is neither clipped nor misplaced.
static void shapes_stand_where_bodies_are(void **state)
{
    (void)state;
    char dir[] = "/tmp/monolith_rigid_XXXXXX";
    assert_non_null(mkdtemp(dir));
    mo_shape *box = mo_shape_box((mo_vec3){0.4, 0.2, 0.2});
    mo_shape *moved = mo_shape_move(box, (mo_vec3){0.9, 0.5, 0.5});
    mo_solid_def solid = mo_solid_def_default();
    solid.name = "crate", solid.shape = moved, solid.rigid = true, solid.velocity = (mo_vec3){-1, 0, 0};
    mo_sim_def def = mo_sim_def_default();
    def.domain.cells = 8, def.domain.contact = false, def.gravity = (mo_vec3){0, 0, 0};
    def.time.fps = 100, def.time.seconds = 0.01;
    def.solids = &solid, def.solid_count = 1;
    mo_run_def run_def = mo_run_def_default();
    run_def.directory = dir, run_def.scene_path = "scene.lua", run_def.scene_text = "", run_def.sim = &def;
    mo_error err = {0};
    mo_sim *sim;
    mo_run *run;
    mo_stats stats;
    if (mo_run_create(&run_def, &run, &err) != MO_OK || mo_sim_create(&def, &sim, &err) != MO_OK ||
        mo_run_start(run, sim, &err) != MO_OK)
        fail_msg("%s", err.text);
    while (!mo_sim_done(sim))
        if (mo_sim_step(sim, &stats, &err) != MO_OK || mo_run_step(run, sim, &stats, &err) != MO_OK)
            fail_msg("%s", err.text);
    assert_int_equal(mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err), MO_OK);
    mo_run_destroy(run);
    mo_sim_destroy(sim);

    mo_reader *reader;
    mo_mesh mesh = {0};
    mo_pose pose;
    if (mo_reader_open(dir, &reader, &err) != MO_OK) fail_msg("%s", err.text);
    find(mo_reader_settings(reader), "\"name\":\"crate\",\"kind\":\"rigid\"");
    assert_int_equal(mo_reader_body_mesh(reader, 0, &mesh, &err), MO_OK);
    assert_true(mo_reader_body_pose(reader, 0, 0, &pose));
    assert_true(mo_norm(mo_sub(pose.position, mo_v3(0.9, 0.5, 0.5))) < 1e-9);
    assert_box(placed_bounds(&mesh, pose), mo_v3(0.7, 0.4, 0.4), mo_v3(1.1, 0.6, 0.6));
    assert_true(mo_reader_body_pose(reader, 0, 1, &pose));
    assert_box(placed_bounds(&mesh, pose), mo_v3(0.69, 0.4, 0.4), mo_v3(1.09, 0.6, 0.6));
    mo_mesh_destroy(&mesh);
    mo_reader_close(reader);
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    mo_shape_release(moved);
    mo_shape_release(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_tell_contacts),
        cmocka_unit_test(shapes_stand_where_bodies_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
