// What a run tells of viscous liquids: fields of stats.jsonl, settings in run.json, the particles' array; and that a
// run without viscosity writes its particles as before.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "output/file.h"
#include "output/reader.h"
#include "output/records.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find(const mo_text *t, const char *part)
{
    if (!strstr(t->data, part)) fail_msg("no\n%s\nin\n%s", part, t->data);
}

static void steps_tell_stresses_and_rounds(void **state)
{
    (void)state;
    mo_text t = {0};
    mo_stats stats = {.pressures = 11, .stresses = 22, .rounds = 3, .round_change = 0.125, .iterations = 44};
    stats.scheme = "PV-unified", stats.route = "fast";
    mo_record_step(&t, &stats);
    find(&t, "\"dofs\":{\"p\":11,\"s\":22,\"l\":0,\"n\":0,\"e\":0}");
    find(&t, "\"scheme\":\"PV-unified\",\"route\":\"fast\",\"rounds\":3,\"round_change\":0.125,\"staggering\":0,"
             "\"iterations\":44");
    mo_text_clear(&t);
    stats.round_change = NAN;
    mo_record_step(&t, &stats);
    find(&t, "\"round_change\":null,");
    mo_text_destroy(&t);
}

// ---- Definitions ----

static mo_status along(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err)
{
    (void)user, (void)t, (void)err;
    *viscosity = 1 + x.x;
    return MO_OK;
}

typedef struct fixture {
    mo_shape *box, *ball;
    mo_liquid_def liquid[3];
    mo_emitter_def emitter[2];
    mo_solid_def solid[2];
    mo_sim_def sim;
    mo_run_def run;
} fixture;

static void make_fixture(fixture *f, const char *dir)
{
    *f = (fixture){.box = mo_shape_box((mo_vec3){0.8, 0.8, 2}), .ball = mo_shape_sphere(0.2)};
    for (int i = 0; i < 3; i++) f->liquid[i] = mo_liquid_def_default(), f->liquid[i].shape = f->box;
    for (int i = 0; i < 2; i++) {
        f->emitter[i] = mo_emitter_def_default(), f->emitter[i].shape = f->ball;
        f->emitter[i].velocity = (mo_vec3){1, 0, 0};
        f->solid[i] = mo_solid_def_default(), f->solid[i].shape = f->ball;
    }
    f->solid[0].name = "a", f->solid[1].name = "b";
    f->sim = mo_sim_def_default();
    f->sim.domain.size = (mo_vec3){1, 1, 0}, f->sim.domain.cells = 8;
    f->sim.time.fps = 100, f->sim.time.seconds = 0.01;
    f->sim.liquids = f->liquid, f->sim.emitters = f->emitter, f->sim.solids = f->solid;
    f->sim.liquid_count = 1;
    f->run = mo_run_def_default();
    f->run.directory = dir, f->run.scene_path = "scene.lua", f->run.scene_text = "", f->run.sim = &f->sim;
}

static void free_fixture(fixture *f)
{
    mo_shape_release(f->box);
    mo_shape_release(f->ball);
}

static void settings_tell_the_liquids(void **state)
{
    (void)state;
    static const char *const files[] = {"a.ply", "b.ply"};
    fixture f;
    make_fixture(&f, "dir");
    f.sim.liquid_count = 3, f.sim.emitter_count = f.sim.solid_count = 2;
    f.liquid[0].viscosity = 12.5;
    f.liquid[1].viscosity_fn = along;
    f.liquid[2].rheology = (mo_rheology){.consistency = 3, .flow_index = 0.5, .yield_stress = 20, .threshold = 0.01};
    f.emitter[0].viscosity_fn = along, f.emitter[0].viscosity_varies = true;
    for (int i = 0; i < 3; i++) f.liquid[i].surface_tension = 0.07;
    f.solid[1].wall = MO_WALL_SLIP, f.solid[1].surface_velocity = (mo_vec3){1, 2, 3};
    f.sim.solver.raw_weights = true, f.sim.solver.rounds = 9;
    mo_text t = {0};
    mo_record_run(&t, &(mo_run_record){.def = &f.run, .body_file = files});
    find(
        &t,
        "\"max_iterations\":10000,\"weights\":\"raw\",\"rounds\":9,\"friction\":\"joint\",\"cone\":false,\"expansion\":"
        "\"projected-cg\",\"coupling\":\"faces\",\"shells\":\"cut\",\"softness\":1e-06,\"contact\":\"ahead\","
        "\"margin\":0.1,"
        "\"stabilisation\":0.2,"
        "\"decoupled_stress\":\"full\",\"verify\":false,\"strict\":false}");
    find(&t, "\"liquids\":[{\"density\":1000,\"viscosity\":12.5,\"surface_tension\":0.07},"
             "{\"density\":1000,\"viscosity\":\"function(x, y, z)\",\"surface_tension\":0.07},"
             "{\"density\":1000,\"rheology\":{\"consistency\":3,\"flow_index\":0.5,\"yield_stress\":20,"
             "\"threshold\":0.01},\"surface_tension\":0.07}]");
    find(&t, "\"emitters\":[{\"density\":1000,\"viscosity\":\"function(x, y, z, t)\",\"surface_tension\":0},"
             "{\"density\":1000,\"viscosity\":0,\"surface_tension\":0}]");
    find(&t, "\"file\":\"a.ply\",\"wall\":\"no-slip\",\"surface_velocity\":[0,0,0],");
    find(&t, "\"file\":\"b.ply\",\"wall\":\"slip\",\"surface_velocity\":[1,2,3],");
    f.sim.solver.raw_weights = false;
    mo_text_clear(&t);
    mo_record_run(&t, &(mo_run_record){.def = &f.run, .body_file = files});
    find(&t, "\"weights\":\"clamped\"");
    mo_text_destroy(&t);
    free_fixture(&f);
}

// ---- Particles ----

static int make_place(void **state)
{
    char *dir = strdup("/tmp/mo_test_XXXXXX");
    *state = dir;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return system(command);
}

// The first frame of a run of the fixture.
static mo_points first_frame(const fixture *f, mo_sim **sim)
{
    mo_error err = {0};
    mo_run *run;
    mo_reader *reader;
    mo_points points;
    if (mo_sim_create(&f->sim, sim, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(mo_run_create(&f->run, &run, &err), MO_OK);
    assert_int_equal(mo_run_start(run, *sim, &err), MO_OK);
    assert_int_equal(mo_run_finish(run, *sim, MO_RUN_INTERRUPTED, NULL, &err), MO_OK);
    mo_run_destroy(run);
    assert_int_equal(mo_reader_open(f->run.directory, &reader, &err), MO_OK);
    if (mo_reader_particles(reader, 0, &points, &err) != MO_OK) fail_msg("%s", err.text);
    mo_reader_close(reader);
    return points;
}

static void particles_have_their_viscosity(void **state)
{
    fixture f;
    make_fixture(&f, *state);
    f.liquid[0].viscosity_fn = along;
    mo_sim *sim;
    mo_points points = first_frame(&f, &sim);
    assert_int_equal(points.count, mo_sim_particle_count(sim));
    float *viscosity = malloc(sizeof(float) * (size_t)points.count);
    assert_true(mo_sim_particle_viscosity(sim, viscosity));
    assert_non_null(points.viscosity);
    assert_memory_equal(points.viscosity, viscosity, sizeof(float) * (size_t)points.count);
    for (int64_t i = 0; i < points.count; i++) assert_float_equal(viscosity[i], 1 + points.position[3 * i], 1e-5);
    free(viscosity);
    mo_points_destroy(&points);
    mo_sim_destroy(sim);
    free_fixture(&f);
}

static void inviscid_particles_have_none(void **state)
{
    fixture f;
    make_fixture(&f, *state);
    mo_sim *sim;
    mo_points points = first_frame(&f, &sim);
    assert_non_null(points.volume);
    assert_null(points.viscosity);
    mo_points_destroy(&points);
    mo_sim_destroy(sim);
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_tell_stresses_and_rounds),
        cmocka_unit_test(settings_tell_the_liquids),
        cmocka_unit_test_setup_teardown(particles_have_their_viscosity, make_place, remove_place),
        cmocka_unit_test_setup_teardown(inviscid_particles_have_none, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
