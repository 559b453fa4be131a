// Runs read back: what was written comes back, runs in progress grow, damage is named and never read.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "output/file.h"
#include "output/reader.h"
#include "output/reader_files.h"
#include "output/run.h"
#include "output/writers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char scene_text[] =
    "domain { size = {1, 0.5, 0.5}, cells = 12, walls = {ymax = 'open'} }\n"
    "time { fps = 40, seconds = 0.05 }\n"
    "look { sky = 'studio', liquid_color = {0.5, 0.25, 1}, opaque = true, ground = false }\n"
    "liquid { shape = box{size = {0.8, 0.6, 2}} }\n"
    "fixed { name = 'ball', shape = sphere{radius = 0.1}:move(0.8, 0.2, 0.25), color = "
    "{1, 0, 0}, material = 'metal' }\n"
    "moving { name = 'bar', shape = box{size = {0.1, 0.3, 0.4}}, visible = false,\n"
    "         motion = function(t) return { position = {0.6 + t, 0.2, 0.25} } end }\n";

typedef struct place {
    char dir[64], scene[128];
} place;

static void write_text(const char *path, const char *text, size_t bytes, const char *mode)
{
    FILE *f = fopen(path, mode);
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

static const char *in(const place *p, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/run/%s", p->dir, name);
    return path;
}

// A finished run of two frames.
static int make_run(void **state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/mo_reader_XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->scene, sizeof p->scene, "%s/scene.lua", p->dir);
    write_text(p->scene, scene_text, sizeof scene_text - 1, "w");
    mo_error err = {0};
    mo_scene *scene;
    if (mo_scene_load(p->scene, NULL, 0, &scene, &err) != MO_OK) fail_msg("%s", err.text);
    mo_run_def def = mo_run_def_default();
    char dir[128];
    snprintf(dir, sizeof dir, "%s/run", p->dir);
    def.directory = dir, def.scene_path = p->scene, def.scene_text = mo_scene_text(scene);
    def.sim = mo_scene_sim_def(scene), def.look = mo_scene_look(scene);
    mo_run *run;
    mo_sim *sim;
    assert_int_equal(mo_run_create(&def, &run, &err), MO_OK);
    assert_int_equal(mo_sim_create(def.sim, &sim, &err), MO_OK);
    assert_int_equal(mo_run_start(run, sim, &err), MO_OK);
    while (!mo_sim_done(sim)) {
        mo_stats stats;
        assert_int_equal(mo_sim_step(sim, &stats, &err), MO_OK);
        assert_int_equal(mo_run_step(run, sim, &stats, &err), MO_OK);
    }
    assert_int_equal(mo_run_finish(run, sim, MO_RUN_DONE, NULL, &err), MO_OK);
    mo_run_destroy(run);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
    *state = p;
    return 0;
}

static int remove_run(void **state)
{
    place *p = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", p->dir);
    int status = system(command);
    free(p);
    return status;
}

static mo_reader *open_run(const place *p)
{
    mo_error err = {0};
    mo_reader *r;
    if (mo_reader_open(in(p, ""), &r, &err) != MO_OK) fail_msg("%s", err.text);
    return r;
}

static void refused(const place *p, const char *words)
{
    mo_error err = {0};
    mo_reader *r;
    assert_int_equal(mo_reader_open(in(p, ""), &r, &err), MO_ERROR_FILE);
    assert_null(r);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in '%s'", words, err.text);
    assert_non_null(strstr(err.text, p->dir));
}

static void settings_come_back(void **state)
{
    mo_reader *r = open_run(*state);
    assert_string_equal(mo_reader_status(r), "done");
    assert_float_equal(mo_reader_fps(r), 40, 0);
    assert_float_equal(mo_reader_cell(r), 1.0 / 12, 1e-15);
    mo_box3 box = mo_reader_domain(r);
    assert_float_equal(box.hi.x, 1, 1e-12);
    assert_float_equal(box.hi.y, 0.5, 1e-12);
    assert_false(mo_reader_flat(r));
    assert_int_equal(mo_reader_wall(r, MO_YMAX), MO_WALL_OPEN);
    assert_int_equal(mo_reader_wall(r, MO_YMIN), MO_WALL_SLIP);
    mo_look_def look = mo_reader_look(r);
    assert_int_equal(look.sky, MO_SKY_STUDIO);
    assert_false(look.ground);
    assert_false(look.camera);
    assert_float_equal(look.liquid_color.y, 0.25, 0);
    assert_true(look.opaque);
    mo_solid_look ball = mo_reader_body_look(r, 0), bar = mo_reader_body_look(r, 1);
    assert_int_equal(ball.material, MO_MATERIAL_METAL);
    assert_float_equal(ball.color.x, 1, 0);
    assert_true(ball.visible);
    assert_false(bar.visible);
    assert_non_null(strstr(mo_reader_settings(r), "\"frames_done\":2"));
    mo_reader_close(r);
}

static void frames_and_bodies_come_back(void **state)
{
    mo_reader *r = open_run(*state);
    mo_error err = {0};
    assert_int_equal(mo_reader_frame_count(r), 3);
    for (int32_t i = 0; i < 3; i++) assert_int_equal(mo_reader_frame(r, i), i);
    mo_mesh mesh;
    assert_int_equal(mo_reader_surface(r, 2, &mesh, &err), MO_OK);
    assert_true(mesh.vertex_count > 100 && mesh.triangle_count > 200 && mesh.normal && mesh.velocity);
    float fastest = 0;
    for (int32_t i = 0; i < 3 * mesh.vertex_count; i++) fastest = fmaxf(fastest, fabsf(mesh.velocity[i]));
    assert_true(fastest > 0 && fastest < 10);
    mo_mesh_destroy(&mesh);
    mo_points points;
    assert_int_equal(mo_reader_particles(r, 1, &points, &err), MO_OK);
    assert_int_equal(points.count, (int64_t)mo_reader_value(r, 0, "particles"));
    double volume = 0;
    for (int64_t i = 0; i < points.count; i++) volume += points.volume[i];
    assert_float_equal(volume, mo_reader_value(r, 0, "volume_target"), 0.02 * volume);
    mo_points_destroy(&points);

    assert_int_equal(mo_reader_body_count(r), 2);
    assert_string_equal(mo_reader_body_name(r, 1), "bar");
    assert_int_equal(mo_reader_body_mesh(r, 1, &mesh, &err), MO_OK);
    assert_true(mesh.triangle_count > 10);
    mo_mesh_destroy(&mesh);
    mo_pose pose;
    assert_true(mo_reader_body_pose(r, 1, 2, &pose));
    assert_float_equal(pose.position.x, 0.6 + 2.0 / 40, 1e-9);
    assert_float_equal(pose.rotation.w, 1, 1e-12);
    assert_false(mo_reader_body_pose(r, 1, 3, &pose));
    assert_false(mo_reader_body_pose(r, 2, 0, &pose));
    mo_reader_close(r);
}

static void statistics_by_name(void **state)
{
    mo_reader *r = open_run(*state);
    int32_t last = mo_reader_step_count(r) - 1;
    assert_true(last >= 1);
    assert_float_equal(mo_reader_value(r, last, "step"), last, 0);
    assert_float_equal(mo_reader_value(r, last, "time"), 0.05, 1e-9);
    assert_true(mo_reader_value(r, last, "dofs.p") > 10);
    assert_true(mo_reader_value(r, last, "seconds.solve") >= 0);
    assert_true(isfinite(mo_reader_value(r, last, "momentum.0")));
    assert_true(isnan(mo_reader_value(r, last, "momentum.3")));
    assert_true(isnan(mo_reader_value(r, last, "reason")));
    assert_true(isnan(mo_reader_value(r, last + 1, "step")));
    assert_true(isnan(mo_reader_value(r, -1, "step")));
    mo_reader_close(r);
}

static void a_growing_run(void **state)
{
    const place *p = *state;
    mo_reader *r = open_run(p);
    int32_t steps = mo_reader_step_count(r);
    // Half a line is not seen; its end brings it, with a field that earlier lines lack.
    write_text(in(p, "stats.jsonl"), "{\"step\":77,\"ne", 14, "a");
    assert_int_equal(mo_reader_refresh(r, NULL), MO_OK);
    assert_int_equal(mo_reader_step_count(r), steps);
    write_text(in(p, "stats.jsonl"), "w\":[1,null,3]}\n", 15, "a");
    assert_int_equal(mo_reader_refresh(r, NULL), MO_OK);
    assert_int_equal(mo_reader_step_count(r), steps + 1);
    assert_float_equal(mo_reader_value(r, steps, "step"), 77, 0);
    assert_float_equal(mo_reader_value(r, steps, "new.2"), 3, 0);
    assert_true(isnan(mo_reader_value(r, steps, "new.1")));
    assert_true(isnan(mo_reader_value(r, 0, "new.2")));
    assert_true(isnan(mo_reader_value(r, steps, "time")));
    // Cut back, as a resumed run does.
    assert_int_equal(truncate(in(p, "stats.jsonl"), 0), 0);
    assert_int_equal(mo_reader_refresh(r, NULL), MO_OK);
    assert_int_equal(mo_reader_step_count(r), 0);
    // A frame above frames_done is still being written; a missing one is not listed; absent .jsonl files are empty.
    char newer[256];
    strcpy(newer, in(p, "frames/surface_liquid_00003.ply"));
    assert_int_equal(rename(in(p, "frames/surface_liquid_00001.ply"), newer), 0);
    assert_int_equal(unlink(in(p, "frames/particles_liquid_00001.vtp")), 0);
    assert_int_equal(unlink(in(p, "stats.jsonl")), 0);
    assert_int_equal(unlink(in(p, "bodies.jsonl")), 0);
    assert_int_equal(mo_reader_refresh(r, NULL), MO_OK);
    assert_int_equal(mo_reader_frame_count(r), 2);
    assert_int_equal(mo_reader_frame(r, 1), 2);
    mo_pose pose;
    assert_false(mo_reader_body_pose(r, 0, 0, &pose));
    mo_reader_close(r);
}

static void write_line(FILE *f, int32_t frame, const char *name)
{
    fprintf(f, "{\"frame\":%d,\"name\":\"%s\",\"position\":[1,2,3],\"rotation\":[1,0,0,0]}\n", frame, name);
}

// Single lines of absurd frames cost nothing: frames are bounded by run.json, and those that are not there cost an
// index.
static void absurd_frames(void **state)
{
    const place *p = *state;
    FILE *f = fopen(in(p, "bodies.jsonl"), "a");
    assert_non_null(f);
    write_line(f, 9999999, "ball");
    write_line(f, 2147483647, "bar");
    fclose(f);
    mo_reader *r;
    mo_pose pose;
    mo_memory_reset_peak();
    int64_t before = mo_memory_in_use();
    assert_int_equal(mo_reader_open(p->dir, &r, NULL), MO_ERROR_FILE); // the place above the run holds none
    char dir[128];
    snprintf(dir, sizeof dir, "%s/run", p->dir);
    assert_int_equal(mo_reader_open(dir, &r, NULL), MO_OK);
    assert_true(mo_memory_peak() - before < 1 << 20);
    assert_false(mo_reader_body_pose(r, 0, 9999999, &pose));
    assert_true(mo_reader_body_pose(r, 0, 2, &pose));
    mo_reader_close(r);
}

// 20,000 solids are read in a time that grows with their number, not with its square; it took 40 s.
static void many_solids(void **state)
{
    enum { MANY = 20000 };
    const place *p = *state;
    char name[32], dir[128];
    FILE *f = fopen(in(p, "run.json"), "w"), *lines = fopen(in(p, "bodies.jsonl"), "w");
    assert_true(f && lines);
    fprintf(f, "{\"fps\":50,\"frames\":1000000,\"settings\":{\"domain\":{\"size\":[1,1,1],\"cells\":8}},\"solids\":[");
    for (int32_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "b%d", i);
        fprintf(f, "%s{\"name\":\"%s\",\"kind\":\"rigid\",\"file\":\"%s.ply\"}", i ? "," : "", name, name);
        write_line(lines, 0, name);
    }
    write_line(lines, 999999, "b7");
    fprintf(f, "]}");
    fclose(f), fclose(lines);
    snprintf(dir, sizeof dir, "%s/run", p->dir);
    mo_reader *r;
    mo_pose pose;
    double start = mo_cpu_seconds();
    int64_t before = mo_memory_in_use();
    assert_int_equal(mo_reader_open(dir, &r, NULL), MO_OK);
    int32_t shells = 0, visible = 0, posed = 0;
    for (int32_t i = 0; i < MANY; i++) {
        shells += mo_reader_body_shell(r, i), visible += mo_reader_body_look(r, i).visible;
        posed += mo_reader_body_pose(r, i, 0, &pose);
    }
    assert_true(shells == 0 && visible == MANY && posed == MANY);
    assert_true(mo_reader_body_pose(r, 7, 999999, &pose) && !mo_reader_body_pose(r, 7, 1000, &pose));
    print_message("%d solids: %.2f s, %.1f MB\n", MANY, mo_cpu_seconds() - start,
                  1e-6 * (double)(mo_memory_in_use() - before));
    assert_true(mo_memory_in_use() - before < 50 << 20);
    assert_true(mo_cpu_seconds() - start < 5); // 0.1 s; 30 times as much under sanitizers
    mo_reader_close(r);
}

static void damaged_directories(void **state)
{
    const place *p = *state;
    mo_error err = {0};
    mo_reader *r;
    assert_int_equal(mo_reader_open("/nonexistent/run", &r, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "/nonexistent/run"));
    write_text(in(p, "stats.jsonl"), "{\"step\":1}\n[1,2]\n{\"step\":2}\n", 28, "w");
    refused(p, "stats.jsonl: damaged");
    assert_int_equal(unlink(in(p, "stats.jsonl")), 0);
    write_text(in(p, "run.json"), "{\"status\":\"done\"", 16, "w");
    refused(p, "run.json: damaged");
    write_text(in(p, "run.json"), "{\"fps\":50,\"settings\":{\"domain\":{\"size\":[1,1]}}}", 47, "w");
    refused(p, "size must be three lengths");
    assert_int_equal(unlink(in(p, "run.json")), 0);
    refused(p, "holds no run");
}

// Every possible truncation of a file is refused, and so are foreign bytes in it.
static void cut_files(void **state)
{
    place *p = *state;
    char path[256];
    strcpy(path, in(p, "cut"));
    float x[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, n[9] = {0, 0, 1, 0, 0, 1, 0, 0, 1}, volume[3] = {1, 2, 3};
    float viscosity[3] = {4, 5, 6};
    int32_t corner[3] = {0, 1, 2};
    mo_mesh mesh = {3, 1, x, n, corner, n}, back;
    mo_points points;
    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            assert_int_equal(mo_write_ply(path, &mesh, NULL), MO_OK);
        else
            assert_int_equal(mo_write_vtp(path, 3, x, n, volume, viscosity, NULL), MO_OK);
        char *data;
        size_t bytes;
        assert_int_equal(mo_file_read(path, &data, &bytes, NULL, NULL), MO_OK);
        // Of a VTP, the cells behind the points are not read.
        size_t needed = kind == 0 ? bytes : (size_t)((char *)memmem(data, bytes, "_", 1) - data);
        if (kind == 1) {
            assert_int_equal(mo_read_vtp(path, &points, NULL), MO_OK);
            assert_memory_equal(points.volume, volume, sizeof volume);
            assert_memory_equal(points.viscosity, viscosity, sizeof viscosity);
            mo_points_destroy(&points);
        }
        for (size_t cut = 0; cut < needed; cut++) {
            write_text(path, data, cut, "w");
            mo_status status = kind == 0 ? mo_read_ply(path, &back, NULL) : mo_read_vtp(path, &points, NULL);
            assert_int_equal(status, MO_ERROR_FILE);
        }
        mo_free(data);
    }
    corner[2] = 3;
    assert_int_equal(mo_write_ply(path, &mesh, NULL), MO_OK);
    assert_int_equal(mo_read_ply(path, &back, NULL), MO_ERROR_FILE);
    corner[2] = 2, x[4] = NAN;
    assert_int_equal(mo_write_ply(path, &mesh, NULL), MO_OK);
    assert_int_equal(mo_read_ply(path, &back, NULL), MO_ERROR_FILE);
    x[4] = 0, mesh.normal = NULL;
    assert_int_equal(mo_write_ply(path, &mesh, NULL), MO_OK);
    assert_int_equal(mo_read_ply(path, &back, NULL), MO_OK);
    assert_null(back.normal);
    assert_memory_equal(back.position, x, sizeof x);
    mo_mesh_destroy(&back);
    assert_int_equal(mo_write_vtp(path, 3, x, NULL, NULL, NULL, NULL), MO_OK);
    assert_int_equal(mo_read_vtp(path, &points, NULL), MO_OK);
    assert_true(points.count == 3 && !points.velocity && !points.volume && !points.viscosity);
    mo_points_destroy(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(settings_come_back, make_run, remove_run),
        cmocka_unit_test_setup_teardown(frames_and_bodies_come_back, make_run, remove_run),
        cmocka_unit_test_setup_teardown(statistics_by_name, make_run, remove_run),
        cmocka_unit_test_setup_teardown(a_growing_run, make_run, remove_run),
        cmocka_unit_test_setup_teardown(absurd_frames, make_run, remove_run),
        cmocka_unit_test_setup_teardown(many_solids, make_run, remove_run),
        cmocka_unit_test_setup_teardown(damaged_directories, make_run, remove_run),
        cmocka_unit_test_setup_teardown(cut_files, make_run, remove_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
