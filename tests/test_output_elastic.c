// What a run writes of elastic bodies, and how it is read back: surfaces with stress, elements, lines, names of files.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/vec.h"
#include "output/directory.h"
#include "output/reader.h"
#include "output/reader_files.h"
#include "output/records.h"
#include "output/run.h"
#include "output/writers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/monolith_elastic_XXXXXX";

static void find(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("no\n%s\nin\n%s", part, text);
}

static char *read_all(const char *name, size_t *bytes)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("no %s", path);
    char *text = calloc(1, 1 << 22);
    *bytes = fread(text, 1, (1 << 22) - 1, f);
    fclose(f);
    return text;
}

static bool exists(const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

// ---- Records ----

static void steps_tell_elastic_bodies(void **state)
{
    (void)state;
    mo_text t = {0};
    mo_stats stats = {.scheme = "PC-unified", .route = "fast", .vertices = 70, .newton = 0.5, .halvings = 2};
    stats.projected = 1, stats.least_volume = 0.25, stats.inverted = 3, stats.elastic_energy = 1.5;
    mo_record_step(&t, &stats);
    find(t.data, "\"n\":0,\"e\":70}");
    find(t.data, "\"elastic_energy\":1.5,");
    find(t.data, "\"elastic\":{\"newton\":0.5,\"halvings\":2,\"projected\":1,\"least_volume\":0.25,\"inverted\":3},");
    mo_text_clear(&t);
    stats.vertices = 0;
    mo_record_step(&t, &stats);
    assert_null(strstr(t.data, "\"elastic\":")); // nothing of what is not there
    mo_text_destroy(&t);
}

static void lines_tell_motion_and_energy(void **state)
{
    (void)state;
    mo_text t = {0};
    mo_elastic_state e = {.name = "jelly", .centre = {1, 2, 3}, .rotation = {1, 0, 0, 0}, .velocity = {4, 5, 6}};
    e.force = (mo_vec3){7, 8, 9}, e.kinetic = 0.5, e.elastic = 0.25, e.least = 0.75, e.inverted = 0;
    mo_record_elastic(&t, 3, 0.5, &e);
    assert_string_equal(t.data, "{\"frame\":3,\"time\":0.5,\"name\":\"jelly\",\"position\":[1,2,3],"
                                "\"rotation\":[1,0,0,0],\"velocity\":[4,5,6],\"angular_velocity\":[0,0,0],"
                                "\"force\":[7,8,9],\"kinetic_energy\":0.5,\"elastic_energy\":0.25,"
                                "\"least_volume\":0.75,\"inverted\":0}\n");
    mo_text_destroy(&t);
}

static void names_become_files(void **state)
{
    (void)state;
    mo_elastic_def e[4];
    const char *const names[] = {"beam", "a/b", "A:b", ""};
    const char *const expected[] = {"elastic_beam", "elastic_a_b", "elastic_A_b_2", "elastic_body"};
    for (int i = 0; i < 4; i++) e[i] = mo_elastic_def_default(), e[i].name = names[i];
    char **files;
    mo_error err;
    assert_int_equal(mo_elastic_files(e, 4, &files, &err), MO_OK);
    for (int i = 0; i < 4; i++) assert_string_equal(files[i], expected[i]);
    mo_free_files(files, 4);
}

// ---- Files ----

static void skins_are_read_back(void **state)
{
    (void)state;
    float position[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, normal[] = {0, 0, 1, 0, 0, 1, 0, 0, 1}, stress[] = {1, 2, 3};
    int32_t triangle[] = {0, 1, 2};
    mo_mesh mesh = {3, 1, position, normal, triangle, NULL}, back;
    char path[100];
    float *values;
    mo_error err;
    snprintf(path, sizeof path, "%s/skin.ply", dir);
    assert_int_equal(mo_write_skin(path, &mesh, stress, &err), MO_OK);
    assert_int_equal(mo_read_skin(path, &back, &values, &err), MO_OK);
    assert_memory_equal(values, stress, sizeof stress);
    assert_memory_equal(back.normal, normal, sizeof normal);
    assert_null(back.velocity);
    mo_mesh_destroy(&back);
    mo_free_block(values);
    assert_int_equal(mo_read_ply(path, &back, &err), MO_OK); // also by those who do not ask for it
    mo_mesh_destroy(&back);
    stress[1] = NAN;
    assert_int_equal(mo_write_skin(path, &mesh, stress, &err), MO_OK);
    assert_int_equal(mo_read_skin(path, &back, &values, &err), MO_ERROR_FILE);
    assert_null(values);
    assert_int_equal(truncate(path, 200), 0);
    assert_int_equal(mo_read_skin(path, &back, &values, &err), MO_ERROR_FILE);
    assert_int_equal(mo_write_ply(path, &mesh, &err), MO_OK);
    assert_int_equal(mo_read_skin(path, &back, &values, &err), MO_OK);
    assert_null(values); // there is none
    mo_mesh_destroy(&back);
    unlink(path);
}

// The array of a .vtu called `name`, of float32.
static const float *vtu_floats(const char *text, size_t bytes, const char *name, size_t count)
{
    char words[64];
    snprintf(words, sizeof words, "Name=\"%s\"", name);
    const char *tag = strstr(text, words), *raw = memmem(text, bytes, "encoding=\"raw\">", 15);
    assert_true(tag && raw);
    const char *offset = strstr(tag, "offset=\"");
    raw = strchr(raw, '_') + 1 + atol(offset + 8);
    uint64_t length;
    memcpy(&length, raw, sizeof length);
    assert_int_equal(length, count * sizeof(float));
    static float values[10000];
    assert_true(count <= 10000);
    memcpy(values, raw + sizeof length, length);
    return values;
}

// ---- A run ----

typedef struct scene {
    mo_shape *box, *ball;
    mo_elastic_def elastic[2];
    mo_pin_def pin;
    mo_sim_def def;
    mo_run_def run;
} scene;

// A ball that drifts, and a beam held at its end.
static void make_scene(scene *s, bool flat)
{
    s->box = mo_shape_box((mo_vec3){0.4, 0.2, 0.2});
    s->ball = mo_shape_sphere(0.15);
    mo_shape *box = mo_shape_move(s->box, (mo_vec3){0.3, 0.7, flat ? 0 : 0.5});
    mo_shape *ball = mo_shape_move(s->ball, (mo_vec3){0.7, 0.5, flat ? 0 : 0.5});
    mo_shape_release(s->box), mo_shape_release(s->ball);
    s->box = box, s->ball = ball;
    s->pin = (mo_pin_def){.where = mo_shape_plane((mo_vec3){1, 0, 0}, 0.11)};
    for (int i = 0; i < 2; i++) s->elastic[i] = mo_elastic_def_default(), s->elastic[i].element = 0.1;
    s->elastic[0].name = "beam", s->elastic[0].shape = box, s->elastic[0].pins = &s->pin, s->elastic[0].pin_count = 1;
    s->elastic[1].name = "ball", s->elastic[1].shape = ball, s->elastic[1].velocity = (mo_vec3){1, 0, 0};
    s->elastic[1].look.material = MO_MATERIAL_COAT;
    s->def = mo_sim_def_default();
    s->def.domain.cells = 8;
    if (flat) s->def.domain.size.z = 0;
    s->def.time.fps = 100, s->def.time.seconds = 0.03;
    s->def.elastics = s->elastic, s->def.elastic_count = 2;
    s->run = mo_run_def_default();
    s->run.directory = dir, s->run.scene_path = "scene.lua", s->run.scene_text = "", s->run.sim = &s->def;
    s->run.overwrite = true;
}

static void run_scene(scene *s)
{
    mo_error err = {0};
    mo_sim *sim;
    mo_run *run;
    mo_stats stats;
    if (mo_run_create(&s->run, &run, &err) != MO_OK || mo_sim_create(&s->def, &sim, &err) != MO_OK ||
        mo_run_start(run, sim, &err) != MO_OK)
        fail_msg("%s", err.text);
    while (!mo_sim_done(sim))
        if (mo_sim_step(sim, &stats, &err) != MO_OK || mo_run_step(run, sim, &stats, &err) != MO_OK)
            fail_msg("%s", err.text);
    assert_int_equal(mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err), MO_OK);
    mo_run_destroy(run);
    mo_sim_destroy(sim);
}

static void release_scene(scene *s)
{
    mo_shape_release(s->box);
    mo_shape_release(s->ball);
    mo_shape_release(s->pin.where);
}

static void check_surfaces(const mo_reader *r, double depth)
{
    mo_error err = {0};
    mo_mesh first, mesh;
    float *stress;
    for (int32_t e = 0; e < 2; e++) {
        if (mo_reader_elastic_surface(r, e, 0, &first, &stress, &err) != MO_OK) fail_msg("%s", err.text);
        for (int32_t v = 0; v < first.vertex_count; v++) assert_true(stress[v] >= 0 && stress[v] < 1e-6); // at rest
        mo_free_block(stress);
        if (mo_reader_elastic_surface(r, e, 3, &mesh, &stress, &err) != MO_OK) fail_msg("%s", err.text);
        assert_int_equal(mesh.vertex_count, first.vertex_count);
        assert_int_equal(mesh.triangle_count, first.triangle_count);
        assert_memory_equal(mesh.triangle, first.triangle, sizeof(int32_t) * 3 * (size_t)mesh.triangle_count);
        assert_true(mesh.normal && mesh.velocity);
        // The beam is under stress, the ball flies as it is.
        float most = 0;
        for (int32_t v = 0; v < mesh.vertex_count; v++) most = fmaxf(most, stress[v]);
        assert_true(e == 0 ? most > 10 : most < 1e-2f);
        if (e == 0 && depth == 0) assert_true(fabs(mo_mesh_volume(&first) - 0.016) < 1e-6);
        if (e == 0 && depth > 0) assert_true(fabs(mo_mesh_volume(&first) - 0.08 * depth) < 1e-6);
        if (e == 1) assert_true(fabsf(mesh.velocity[0] - 1) < 1e-5f);
        mo_mesh_destroy(&first);
        mo_mesh_destroy(&mesh);
        mo_free_block(stress);
    }
}

static void a_run_is_read_back(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, false);
    run_scene(&s);
    mo_reader *r;
    mo_error err = {0};
    if (mo_reader_open(dir, &r, &err) != MO_OK) fail_msg("%s", err.text);
    find(mo_reader_settings(r), "\"elastics\":[{\"name\":\"beam\",\"file\":\"elastic_beam\",\"vertices\":45,");
    find(mo_reader_settings(r), "\"surface\":true,\"particles\":true,\"elastic\":true,\"elements\":true,");
    assert_int_equal(mo_reader_frame_count(r), 4);
    assert_int_equal(mo_reader_body_count(r), 0);
    assert_int_equal(mo_reader_elastic_count(r), 2);
    assert_string_equal(mo_reader_elastic_name(r, 1), "ball");
    assert_int_equal(mo_reader_elastic_look(r, 1).material, MO_MATERIAL_COAT);
    check_surfaces(r, 0);
    mo_elastic_line start, line;
    assert_true(mo_reader_elastic_line(r, 1, 0, &start) && mo_reader_elastic_line(r, 1, 3, &line));
    assert_true(fabs(line.pose.position.x - start.pose.position.x - 0.03) < 1e-6);
    assert_true(line.kinetic > 0 && line.least > 0.99);
    assert_true(mo_reader_elastic_line(r, 0, 3, &line) && line.elastic > 0);
    assert_false(mo_reader_elastic_line(r, 0, 4, &line));
    assert_true(mo_reader_value(r, 0, "elastic.least_volume") > 0.9);
    mo_reader_close(r);

    size_t bytes;
    char *vtu = read_all("frames/elastic_beam_00003.vtu", &bytes);
    find(vtu, "<Piece NumberOfPoints=\"45\" NumberOfCells=\"80\">");
    const float *J = vtu_floats(vtu, bytes, "J", 80);
    for (int i = 0; i < 80; i++) assert_true(J[i] > 0.9f && J[i] < 1.1f);
    const float *x = vtu_floats(vtu, bytes, "Points", 3 * 45);
    assert_true(fabsf(x[0] - 0.1f) < 1e-6f && x[134] > 0);
    free(vtu);
    char *series = read_all("frames/elastic_ball.ply.series", &bytes);
    find(series, "{\"name\":\"elastic_ball_00003.ply\",\"time\":0.03}");
    free(series);
    series = read_all("frames/elastic_ball.pvd", &bytes);
    find(series, "file=\"elastic_ball_00003.vtu\"");
    free(series);
    release_scene(&s);
}

static void slices_have_depth(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, true);
    run_scene(&s);
    mo_reader *r;
    mo_error err = {0};
    if (mo_reader_open(dir, &r, &err) != MO_OK) fail_msg("%s", err.text);
    check_surfaces(r, 0.125);
    mo_reader_close(r);
    size_t bytes;
    char *vtu = read_all("frames/elastic_beam_00003.vtu", &bytes);
    find(vtu, "<Piece NumberOfPoints=\"15\" NumberOfCells=\"16\">");
    free(vtu);
    release_scene(&s);
}

static void switches_leave_files_out(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, false);
    s.run.elements = s.run.surface = s.run.particles = false;
    run_scene(&s);
    assert_true(exists("frames/elastic_ball_00003.ply") && !exists("frames/elastic_ball_00003.vtu"));
    assert_false(exists("frames/elastic_ball.pvd"));
    mo_reader *r;
    mo_error err = {0};
    if (mo_reader_open(dir, &r, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(mo_reader_frame_count(r), 4); // elastic bodies alone make frames
    mo_reader_close(r);
    s.run.elastic = false;
    run_scene(&s);
    assert_false(exists("frames/elastic_ball_00000.ply") || exists("frames/elastic_ball.ply.series"));
    release_scene(&s);
}

static void files_belong_to_the_run(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, false);
    run_scene(&s);
    mo_error err = {0};
    assert_int_equal(mo_directory_remove_frames(dir, 1, &err), MO_OK);
    assert_true(exists("frames/elastic_ball_00001.ply") && exists("frames/elastic_ball_00001.vtu"));
    assert_false(exists("frames/elastic_ball_00002.ply") || exists("frames/elastic_ball_00003.vtu"));
    char path[200]; // a file of the user, which stays
    snprintf(path, sizeof path, "%s/frames/elastic_notes.txt", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(mo_directory_remove_run(dir, &err), MO_OK);
    assert_false(exists("frames/elastic_ball_00000.ply") || exists("frames/elastic_ball_00000.vtu"));
    assert_false(exists("frames/elastic_beam.pvd") || exists("frames/elastic_beam.ply.series"));
    assert_true(exists("frames/elastic_notes.txt"));
    release_scene(&s);
}

// run.json with a file that leads elsewhere, or without a name, is refused.
static void damaged_descriptions_are_refused(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, false);
    run_scene(&s);
    size_t bytes;
    char *text = read_all("run.json", &bytes), path[200];
    char *at = strstr(text, "elastic_beam");
    memcpy(at, "../astic_bea", 12);
    snprintf(path, sizeof path, "%s/run.json", dir);
    FILE *f = fopen(path, "wb");
    fwrite(text, 1, bytes, f);
    fclose(f);
    mo_reader *r;
    mo_error err = {0};
    assert_int_equal(mo_reader_open(dir, &r, &err), MO_ERROR_FILE);
    find(err.text, "an elastic body has no files of frames/");
    free(text);
    release_scene(&s);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_tell_elastic_bodies),
        cmocka_unit_test(lines_tell_motion_and_energy),
        cmocka_unit_test(names_become_files),
        cmocka_unit_test(skins_are_read_back),
        cmocka_unit_test(a_run_is_read_back),
        cmocka_unit_test(slices_have_depth),
        cmocka_unit_test(switches_leave_files_out),
        cmocka_unit_test(files_belong_to_the_run),
        cmocka_unit_test(damaged_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
