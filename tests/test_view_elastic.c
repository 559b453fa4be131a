// Viewing elastic bodies: triangles once, places, normals and stress per frame, exported pages, memory that runs out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "output/writers.h"
#include "view/view.h"
#include "ration.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/mo_test_view_elastic_XXXXXX";

static void write_text(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// A triangle whose height and stress are the frame's; the second body has no file in frame 2.
static void write_body(const char *name, int frame)
{
    char path[200];
    float h = (float)frame;
    float position[] = {0, h, 0, 1, h, 0, 0, h, -1}, normal[] = {0, 1, 0, 0, 1, 0, 0, 1, 0}, stress[] = {0, h, 2 * h};
    int32_t triangle[] = {0, 1, 2};
    mo_mesh mesh = {3, 1, position, normal, triangle, NULL};
    mo_error err;
    snprintf(path, sizeof path, "%s/frames/%s_%05d.ply", dir, name, frame);
    if (mo_write_skin(path, &mesh, stress, &err) != MO_OK) fail_msg("%s", err.text);
}

static int make_run(void **state)
{
    (void)state;
    char path[200];
    if (!mkdtemp(dir)) return -1;
    snprintf(path, sizeof path, "%s/frames", dir);
    mkdir(path, 0777);
    write_text("run.json", "{\"status\":\"done\",\"frames_done\":2,\"frames\":2,\"fps\":50,"
                           "\"output\":{\"surface\":false,\"particles\":false,\"elastic\":true},"
                           "\"settings\":{\"domain\":{\"size\":[1,2,0.5],\"cells\":20}},\"solids\":[],"
                           "\"elastics\":[{\"name\":\"a\",\"file\":\"elastic_a\",\"color\":[0.5,0.25,0.125]},"
                           "{\"name\":\"b c\",\"file\":\"elastic_b_c\",\"visible\":false}]}\n");
    write_text("stats.jsonl", "{\"step\":0,\"frame\":1,\"time\":0.02,\"elastic_energy\":3}\n");
    write_text("page.html", "<a><!--monolith-data--></a>");
    for (int frame = 0; frame < 3; frame++) write_body("elastic_a", frame);
    for (int frame = 0; frame < 2; frame++) write_body("elastic_b_c", frame);
    return 0;
}

static int remove_run(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static mo_reader *open_run(void)
{
    mo_reader *r = NULL;
    mo_error err = {0};
    if (mo_reader_open(dir, &r, &err) != MO_OK) fail_msg("%s", err.text);
    return r;
}

static mo_text ask(const mo_reader *r, const char *path, bool compact, cJSON **json)
{
    mo_text t = {0};
    mo_error err = {0};
    mo_view_route route = mo_view_find_route(path);
    if (mo_view_pack(r, &route, compact, &t, &err) != MO_OK) fail_msg("%s: %s", path, err.text);
    uint32_t bytes;
    memcpy(&bytes, t.data + t.bytes - 4, 4);
    *json = cJSON_ParseWithLength(t.data + t.bytes - 4 - bytes, bytes);
    assert_non_null(*json);
    return t;
}

static const void *array(const mo_text *t, const cJSON *json, const char *name, const char *type, int count)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(json, name);
    if (!a) fail_msg("no array %s", name);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(a, "type")), type);
    assert_int_equal(cJSON_GetObjectItem(a, "count")->valueint, count);
    return t->data + cJSON_GetObjectItem(a, "offset")->valueint;
}

static void summary_lists_bodies(void **state)
{
    (void)state;
    mo_reader *r = open_run();
    mo_text t = {0};
    assert_int_equal(mo_view_summary(r, (mo_view_frames){.every = 1}, &t, NULL), MO_OK);
    cJSON *json = cJSON_Parse(t.data);
    const cJSON *list = cJSON_GetObjectItem(json, "elastics"), *b = cJSON_GetArrayItem(list, 1);
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "frames")), 3);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(b, "path")), "skin/b%20c");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(b, "visible")));
    assert_true(cJSON_GetArrayItem(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "color"), 1)->valuedouble == 0.25);
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_reader_close(r);
}

static void triangles_come_once(void **state)
{
    (void)state;
    mo_reader *r = open_run();
    cJSON *json;
    mo_text t = ask(r, "/skin/b%20c", false, &json);
    const int32_t *triangle = array(&t, json, "triangle", "i32", 3);
    assert_true(triangle[0] == 0 && triangle[1] == 1 && triangle[2] == 2);
    assert_int_equal(cJSON_GetObjectItem(json, "vertices")->valueint, 3);
    assert_true(cJSON_GetObjectItem(json, "stress_top")->valuedouble == 2); // of frame 1, the last that it has
    cJSON_Delete(json);
    mo_text_destroy(&t);
    t = ask(r, "/skin/a", true, &json);
    array(&t, json, "triangle", "delta", 3);
    assert_true(cJSON_GetObjectItem(json, "stress_top")->valuedouble == 4);
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_view_route absent = mo_view_find_route("/skin/c");
    assert_int_equal(mo_view_pack(r, &absent, false, &t, NULL), MO_ERROR_INPUT);
    mo_reader_close(r);
}

static void frames_hold_places_and_stress(void **state)
{
    (void)state;
    mo_reader *r = open_run();
    cJSON *json;
    mo_text t = ask(r, "/frame/1/elastic", false, &json);
    for (int e = 0; e < 2; e++) {
        const float *x = array(&t, json, e ? "position1" : "position0", "f32", 9);
        assert_true(x[1] == 1 && x[3] == 1 && x[8] == -1);
        assert_true(((const float *)array(&t, json, e ? "normal1" : "normal0", "f32", 9))[1] == 1);
        const float *stress = array(&t, json, e ? "stress1" : "stress0", "f32", 3);
        assert_true(stress[1] == 1 && stress[2] == 2);
    }
    cJSON_Delete(json);
    mo_text_destroy(&t);
    // What is missing in a frame is missing; the rest is there, compact too.
    t = ask(r, "/frame/2/elastic", true, &json);
    assert_null(cJSON_GetObjectItem(json, "position1"));
    array(&t, json, "position0", "u16", 9);
    assert_int_equal(((const int8_t *)array(&t, json, "normal0", "i8", 9))[4], 127);
    const uint8_t *share = array(&t, json, "stress0", "u8", 3);
    double scale = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "stress0"), "scale")->valuedouble;
    assert_true(share[0] == 0 && share[2] == 255 && fabs(255 * scale - 4) < 1e-6 && fabs(share[1] * scale - 2) < 0.02);
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_view_route absent = mo_view_find_route("/frame/3/elastic");
    assert_int_equal(mo_view_pack(r, &absent, false, &t, NULL), MO_ERROR_INPUT);
    mo_reader_close(r);
}

static void exported_pages_hold_them(void **state)
{
    (void)state;
    char page[100], out[100], *text = calloc(1, 100001);
    snprintf(page, sizeof page, "%s/page.html", dir);
    snprintf(out, sizeof out, "%s/out.html", dir);
    mo_view_options options = mo_view_options_default();
    options.page = page;
    mo_error err = {0};
    if (mo_view_export(dir, out, &options, &err) != MO_OK) fail_msg("%s", err.text);
    FILE *f = fopen(out, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, 100000, f) > 0);
    fclose(f);
    static const char *const there[] = {"id=\"/skin/a\"", "id=\"/skin/b%20c\"", "id=\"/frame/0/elastic\"",
                                        "id=\"/frame/2/elastic\""};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) assert_non_null(strstr(text, there[i]));
    free(text);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const paths[] = {"/skin/a", "/frame/1/elastic"};
    ration memory = {0};
    mo_set_allocator(rationed, &memory);
    mo_reader *r = open_run();
    for (int p = 0; p < 4; p++) {
        mo_view_route route = mo_view_find_route(paths[p / 2]);
        for (int k = 0; k < 60; k++) {
            mo_text t = {0};
            int64_t before = mo_memory_in_use();
            memory = (ration){.fail_at = k + 1};
            mo_status status = mo_view_pack(r, &route, p % 2, &t, NULL);
            memory.fail_at = 0;
            mo_text_destroy(&t);
            assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
            assert_true(mo_memory_in_use() == before);
        }
    }
    mo_reader_close(r);
    mo_set_allocator(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_lists_bodies),
        cmocka_unit_test(triangles_come_once),
        cmocka_unit_test(frames_hold_places_and_stress),
        cmocka_unit_test(exported_pages_hold_them),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, make_run, remove_run);
}
