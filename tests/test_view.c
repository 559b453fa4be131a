// Viewing: the table of routes, who may ask, payloads read back, exported pages, and memory that runs out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "view/view.h"
#include "ration.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Routes ----

static void routes_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        mo_view_kind kind;
        int32_t number;
    } good[] = {
        {"/", MO_VIEW_PAGE, 0},
        {"/run.json", MO_VIEW_RUN, 0},
        {"/stats", MO_VIEW_STATS, 0},
        {"/stats/0", MO_VIEW_STATS, 0},
        {"/stats/1234567", MO_VIEW_STATS, 1234567},
        {"/frame/0/surface", MO_VIEW_SURFACE, 0},
        {"/frame/42/particles", MO_VIEW_PARTICLES, 42},
        {"/frame/9999999/bodies", MO_VIEW_BODIES, 9999999},
        {"/frame/7/elastic", MO_VIEW_ELASTIC, 7},
        {"/frame/8/smoke", MO_VIEW_SMOKE, 8},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        mo_view_route route = mo_view_find_route(good[i].path);
        assert_int_equal(route.kind, good[i].kind);
        assert_int_equal(route.number, good[i].number);
    }
    mo_view_route body = mo_view_find_route("/body/a%20b%2fc");
    assert_int_equal(body.kind, MO_VIEW_BODY);
    assert_string_equal(body.name, "a b/c");
    assert_int_equal(mo_view_find_route("/skin/jelly").kind, MO_VIEW_SKIN);
}

static void anything_else_is_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "x",
        "//",
        "/index.html",
        "/run.jso",
        "/run.json/",
        "/run.json?",
        "/%72un.json",
        "/../run.json",
        "/frame",
        "/frame/",
        "/frame/0",
        "/frame/0/",
        "/frame/0/x",
        "/frame/00/surface",
        "/frame/-1/surface",
        "/frame/+1/surface",
        "/frame/ 1/surface",
        "/frame/1e1/surface",
        "/frame/10000000/surface",
        "/frame/4294967296/surface",
        "/frame/0/surfaces",
        "/stats/",
        "/stats/01",
        "/stats/1/",
        "/stats/-1",
        "/body/",
        "/body/%",
        "/body/%4",
        "/body/%g0",
        "/body/a%00",
        "http://127.0.0.1/",
        "/etc/passwd",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mo_view_find_route(bad[i]).kind, MO_VIEW_NOTHING);
    char path[2000] = "/body/";
    memset(path + 6, 'a', 511);
    assert_int_equal(mo_view_find_route(path).kind, MO_VIEW_BODY);
    memset(path + 6, 'a', 512);
    assert_int_equal(mo_view_find_route(path).kind, MO_VIEW_NOTHING);
}

static void body_paths_come_back(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        const char name[] = {'a', (char)c, '.', '.', 0};
        mo_text path = {0};
        mo_text_add(&path, "/", 1);
        mo_view_add_body_path(&path, name);
        assert_null(strstr(path.data, ".."));
        assert_null(strpbrk(path.data, "\"<>& "));
        mo_view_route route = mo_view_find_route(path.data);
        assert_int_equal(route.kind, MO_VIEW_BODY);
        assert_string_equal(route.name, name);
        mo_text_destroy(&path);
    }
}

static void only_this_machine_is_a_host(void **state)
{
    (void)state;
    static const char *const good[] = {"localhost", "LocalHost", "127.0.0.1", "localhost:8123", "127.0.0.1:1"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "localhost.evil.example",
                                      "127.0.0.1.nip.io",
                                      "localhost:",
                                      "localhost:80x",
                                      "127.0.0.1:80@evil",
                                      "127.0.0.10",
                                      "xlocalhost",
                                      "localhost,evil.com",
                                      "[::1]:8123",
                                      "0.0.0.0:8123"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(mo_view_host_is_local(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(mo_view_host_is_local(bad[i]));
    assert_false(mo_view_host_is_local(NULL));
}

// ---- Payloads read back, as the page does ----

static cJSON *description(const mo_text *t)
{
    uint32_t bytes;
    assert_true(t->bytes > 4);
    memcpy(&bytes, t->data + t->bytes - 4, 4);
    assert_true((int64_t)bytes + 4 <= t->bytes);
    cJSON *json = cJSON_ParseWithLength(t->data + t->bytes - 4 - bytes, bytes);
    assert_non_null(json);
    return json;
}

// The bytes of an array of a type with its number of items.
static const void *array(const mo_text *t, const cJSON *json, const char *name, const char *type, int count)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(json, name);
    assert_non_null(a);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(a, "type")), type);
    assert_int_equal(cJSON_GetObjectItem(a, "count")->valueint, count);
    int offset = cJSON_GetObjectItem(a, "offset")->valueint;
    assert_int_equal(offset % 8, 0);
    return t->data + offset;
}

static double item(const cJSON *json, const char *array_name, const char *key, int i)
{
    const cJSON *a = cJSON_GetObjectItem(cJSON_GetObjectItem(json, array_name), key);
    return cJSON_IsArray(a) ? cJSON_GetArrayItem(a, i)->valuedouble : a->valuedouble;
}

enum { SIDE = 40, POINTS = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

// A wavy sheet, with triangles that jump about in the list of points.
static mo_mesh make_sheet(void)
{
    mo_mesh m = {POINTS, TRIANGLES, mo_alloc(12 * POINTS), mo_alloc(12 * POINTS), mo_alloc(12 * TRIANGLES), NULL};
    for (int i = 0; i < POINTS; i++) {
        float u = (float)(i % SIDE) / SIDE, v = (float)(i / SIDE) / SIDE;
        const float x[3] = {-3 + 7 * u, 0.1f * sinf(9 * u + 5 * v), 2 * v};
        float n[3] = {-0.9f * cosf(9 * u + 5 * v), 1, -0.3f}, length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int a = 0; a < 3; a++) m.position[3 * i + a] = x[a], m.normal[3 * i + a] = n[a] / length;
    }
    for (int t = 0, k = 0; t < TRIANGLES / 2; t++) {
        int corner = t % (SIDE - 1) + SIDE * (t / (SIDE - 1));
        const int32_t c[6] = {corner, corner + 1, corner + SIDE, corner + 1, corner + SIDE + 1, corner + SIDE};
        for (int j = 0; j < 6; j++) m.triangle[k++] = c[j];
    }
    m.triangle[0] = POINTS - 1; // the largest differences there can be
    m.triangle[1] = 0;
    return m;
}

static void meshes_are_copied(void **state)
{
    (void)state;
    mo_mesh m = make_sheet();
    mo_text t = {0};
    assert_int_equal(mo_view_pack_mesh(&m, false, &t, NULL), MO_OK);
    cJSON *json = description(&t);
    assert_memory_equal(array(&t, json, "position", "f32", 3 * POINTS), m.position, 12 * POINTS);
    assert_memory_equal(array(&t, json, "normal", "f32", 3 * POINTS), m.normal, 12 * POINTS);
    assert_memory_equal(array(&t, json, "triangle", "i32", 3 * TRIANGLES), m.triangle, 12 * TRIANGLES);
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_mesh_destroy(&m);
}

static void compact_meshes_are_near_and_small(void **state)
{
    (void)state;
    mo_mesh m = make_sheet();
    mo_text t = {0};
    assert_int_equal(mo_view_pack_mesh(&m, true, &t, NULL), MO_OK);
    assert_true(t.bytes < 9 * POINTS + 2 * 3 * TRIANGLES + 1000);
    cJSON *json = description(&t);
    const uint16_t *q = array(&t, json, "position", "u16", 3 * POINTS);
    const int8_t *n = array(&t, json, "normal", "i8", 3 * POINTS);
    const uint8_t *d = array(&t, json, "triangle", "delta", 3 * TRIANGLES);
    const double width[3] = {7, 0.2, 2};
    for (int i = 0; i < 3 * POINTS; i++) {
        double x = item(json, "position", "origin", i % 3) + q[i] * item(json, "position", "scale", i % 3);
        assert_true(fabs(x - m.position[i]) <= 0.51 * width[i % 3] / 65535 + 1e-7);
        assert_true(fabsf(n[i] / 127.f - m.normal[i]) <= 0.51f / 127);
    }
    int32_t last = 0;
    for (int i = 0; i < 3 * TRIANGLES; i++) {
        uint32_t value = 0;
        int shift = 0;
        do value |= (uint32_t)(*d & 127) << shift, shift += 7;
        while (*d++ & 128);
        last += (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
        assert_int_equal(last, m.triangle[i]);
    }
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_mesh_destroy(&m);
}

static void empty_meshes_have_empty_arrays(void **state)
{
    (void)state;
    for (int compact = 0; compact < 2; compact++) {
        mo_mesh m = {0};
        mo_text t = {0};
        assert_int_equal(mo_view_pack_mesh(&m, compact, &t, NULL), MO_OK);
        cJSON *json = description(&t);
        array(&t, json, "position", compact ? "u16" : "f32", 0);
        array(&t, json, "triangle", compact ? "delta" : "i32", 0);
        assert_null(cJSON_GetObjectItem(json, "normal"));
        cJSON_Delete(json);
        mo_text_destroy(&t);
    }
}

static void particles_are_thinned_out(void **state)
{
    (void)state;
    enum { N = 1001 };
    static float x[3 * N], v[3 * N];
    for (int i = 0; i < N; i++) x[3 * i] = (float)i, v[3 * i] = 3.f * (float)i, v[3 * i + 1] = 4.f * (float)i;
    mo_points points = {.count = N, .position = x, .velocity = v};
    static const int most[] = {N, N - 1, 400, 1}, stride[] = {1, 2, 3, N};
    for (int k = 0; k < 8; k++) {
        bool compact = k >= 4;
        mo_text t = {0};
        assert_int_equal(mo_view_pack_points(&points, most[k % 4], compact, &t, NULL), MO_OK);
        cJSON *json = description(&t);
        int s = stride[k % 4], count = (N + s - 1) / s;
        assert_true(count <= most[k % 4]);
        assert_int_equal(cJSON_GetObjectItem(json, "total")->valueint, N);
        assert_int_equal(cJSON_GetObjectItem(json, "stride")->valueint, s);
        const float *position = compact ? NULL : array(&t, json, "position", "f32", 3 * count);
        const float *speed = compact ? NULL : array(&t, json, "speed", "f32", count);
        const uint16_t *q = compact ? array(&t, json, "position", "u16", 3 * count) : NULL;
        const uint8_t *share = compact ? array(&t, json, "speed", "u8", count) : NULL;
        for (int i = 0; i < count; i++) {
            double at = compact ? item(json, "position", "origin", 0) + q[3 * i] * item(json, "position", "scale", 0)
                                : position[3 * i];
            double fast = compact ? share[i] * item(json, "speed", "scale", 0) : speed[i];
            assert_true(fabs(at - i * s) <= (compact ? 0.51 * N / 65535 : 0));
            assert_true(fabs(fast - 5.0 * i * s) <= (compact ? 0.51 * 5 * N / 255 : 1e-3));
        }
        cJSON_Delete(json);
        mo_text_destroy(&t);
    }
    points.velocity = NULL;
    mo_text t = {0};
    assert_int_equal(mo_view_pack_points(&points, N, true, &t, NULL), MO_OK);
    mo_text_destroy(&t);
}

// Two voxels with soot in neighbouring leaves: their cells, the empty border, and the same mass when it is coarser.
static void smoke_is_a_box_of_bytes(void **state)
{
    (void)state;
    float value[2 * MO_VDB_LEAF] = {0};
    int32_t leaf[2][3] = {{-1, 0, 0}, {0, 0, 0}};
    mo_vdb_grid grid = {.name = "density", .components = 1, .value = {value}};
    mo_vdb vdb = {.voxel = 0.1, .origin = {0.05, 0.05, 0.05}, .leaves = 2, .leaf = leaf, .grids = 1, .grid = &grid};
    value[1 + 8 * (2 + 8 * 3)] = 2e-3f;               // voxel (-7, 2, 3)
    value[MO_VDB_LEAF + 7 + 8 * (2 + 8 * 3)] = 1e-3f; // voxel (7, 2, 3)
    for (int coarse = 0; coarse < 2; coarse++) {
        static const int cells[2][3] = {{17, 3, 3}, {10, 3, 3}};
        const int *n = cells[coarse], count = n[0] * n[1] * n[2], size = coarse ? 2 : 1;
        mo_text t = {0};
        assert_int_equal(mo_view_pack_smoke(&vdb, coarse ? 10 : 96, &t, NULL), MO_OK);
        cJSON *json = description(&t);
        const uint8_t *density = array(&t, json, "density", "u8", count);
        for (int a = 0; a < 3; a++) {
            const int first[3] = {-7, 2, 3};
            assert_int_equal(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "cells"), a)->valueint, n[a]);
            double lo = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "lo"), a)->valuedouble;
            assert_true(fabs(lo - 0.1 * (first[a] - size)) < 1e-12);
        }
        assert_true(fabs(cJSON_GetObjectItem(json, "cell")->valuedouble - 0.1 * size) < 1e-12);
        double most = cJSON_GetObjectItem(json, "most")->valuedouble;
        assert_true(fabs(most - 2e-3 / (size * size * size)) < 1e-9);
        for (int i = 0; i < count; i++) {
            int row = n[0] * (1 + n[1]), expected = i == row + 1 ? 255 : i == row + n[0] - 2 ? 128 : 0;
            assert_int_equal(density[i], expected);
        }
        cJSON_Delete(json);
        mo_text_destroy(&t);
    }
    mo_text t = {0};
    vdb.leaves = 0;
    assert_int_equal(mo_view_pack_smoke(&vdb, 96, &t, NULL), MO_OK);
    cJSON *json = description(&t);
    array(&t, json, "density", "u8", 0);
    cJSON_Delete(json);
    mo_text_destroy(&t);
}

static void base64_is_that_of_the_standard(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xfb\xff\xbf", "+/+/"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        mo_text t = {0};
        mo_view_add_base64(&t, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(t.data, pairs[i][1]);
        mo_text_destroy(&t);
    }
    char *zeros = mo_calloc(10000);
    mo_text t = {0};
    mo_view_add_base64(&t, zeros, 10000);
    assert_int_equal(t.bytes, 4 * ((10000 + 2) / 3));
    assert_int_equal(strspn(t.data, "A"), t.bytes - 2);
    mo_text_destroy(&t);
    mo_free(zeros);
}

// ---- A run ----

typedef struct place {
    char dir[64], page[96], out[96];
} place;

static void write_text(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static const char triangle_ply[] =
    "ply\nformat binary_little_endian 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\n"
    "property float nx\nproperty float ny\nproperty float nz\nelement face 0\n"
    "property list uchar int vertex_indices\nend_header\n";

// A run of two frames without particles; its surfaces are empty.
static int make_run(void **state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/mo_test_view_XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->page, sizeof p->page, "%s/page.html", p->dir);
    snprintf(p->out, sizeof p->out, "%s/out.html", p->dir);
    char path[256];
    static const char *const folders[] = {"frames", "bodies"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", p->dir, folders[i]);
        mkdir(path, 0777);
    }
    write_text(p->dir, "run.json",
               "{\"status\":\"running\",\"frames_done\":1,\"frames\":9,\"fps\":50,"
               "\"output\":{\"surface\":true,\"particles\":false},"
               "\"settings\":{\"domain\":{\"size\":[1,2,0.5],\"cells\":20}},"
               "\"solids\":[{\"name\":\"ball\",\"kind\":\"moving\",\"file\":\"ball.ply\"}],"
               "\"scene\":{\"path\":\"a.lua\",\"text\":\"</script><b>\"}}\n");
    write_text(p->dir, "stats.jsonl",
               "{\"step\":0,\"frame\":1,\"time\":0.01,\"volume_error\":0.5,\"seconds\":{\"solve\":0.25}}\n"
               "{\"step\":1,\"frame\":1,\"time\":0.02,\"volume_error\":null,\"seconds\":{\"solve\":0.125}}\n");
    write_text(p->dir, "bodies.jsonl",
               "{\"frame\":0,\"time\":0,\"name\":\"ball\",\"position\":[1,2,3],\"rotation\":[0,1,0,0]}\n");
    write_text(p->dir, "bodies/ball.ply", triangle_ply);
    write_text(p->dir, "frames/surface_liquid_00000.ply", triangle_ply);
    write_text(p->dir, "frames/surface_liquid_00001.ply", triangle_ply);
    write_text(p->dir, "page.html", "<a><!--monolith-data--><script>\n</script>");
    *state = p;
    return 0;
}

static int remove_run(void **state)
{
    place *p = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", p->dir);
    int status = system(command);
    free(p);
    return status;
}

static mo_reader *open_run(const place *p)
{
    mo_reader *r = NULL;
    mo_error err = {0};
    if (mo_reader_open(p->dir, &r, &err) != MO_OK) fail_msg("%s", err.text);
    return r;
}

static void summary_tells_what_there_is(void **state)
{
    mo_reader *r = open_run(*state);
    mo_text t = {0};
    assert_int_equal(mo_view_summary(r, (mo_view_frames){.every = 1}, &t, NULL), MO_OK);
    cJSON *json = cJSON_Parse(t.data);
    assert_non_null(json);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(json, "status")), "running");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "frames")), 2);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "surface")));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "particles")));
    assert_int_equal(cJSON_GetObjectItem(json, "steps")->valueint, 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "stages")), MO_STAGE_COUNT);
    const cJSON *ball = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "bodies"), 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(ball, "path")), "body/ball");
    assert_non_null(strstr(cJSON_GetStringValue(cJSON_GetObjectItem(json, "settings")), "\"fps\":50"));
    cJSON_Delete(json);
    mo_text_destroy(&t);
    mo_reader_close(r);
}

static void statistics_and_poses_are_columns(void **state)
{
    mo_reader *r = open_run(*state);
    for (int first = 0; first < 4; first++) {
        mo_text t = {0};
        mo_view_route route = {.kind = MO_VIEW_STATS, .number = first};
        assert_int_equal(mo_view_pack(r, &route, false, &t, NULL), MO_OK);
        cJSON *json = description(&t);
        int rows = first < 2 ? 2 - first : 0;
        const float *time = array(&t, json, "time", "f32", rows), *error = array(&t, json, "volume_error", "f32", rows);
        const float *solve = array(&t, json, "seconds.solve", "f32", rows);
        for (int i = 0; i < rows; i++) {
            assert_true(time[i] == 0.01f * (float)(first + i + 1));
            assert_true(solve[i] == (first + i ? 0.125f : 0.25f));
            assert_true(first + i ? isnan(error[i]) : error[i] == 0.5f);
        }
        cJSON_Delete(json);
        mo_text_destroy(&t);
    }
    for (int frame = 0; frame < 2; frame++) {
        mo_text t = {0};
        assert_int_equal(mo_view_pack_bodies(r, frame, &t, NULL), MO_OK);
        cJSON *json = description(&t);
        const float *pose = array(&t, json, "pose", "f32", 7), wanted[7] = {1, 2, 3, 0, 1, 0, 0};
        for (int i = 0; i < 7; i++) assert_true(frame ? isnan(pose[i]) : pose[i] == wanted[i]);
        cJSON_Delete(json);
        mo_text_destroy(&t);
    }
    mo_reader_close(r);
}

static void what_the_run_lacks_is_refused(void **state)
{
    mo_reader *r = open_run(*state);
    static const char *const absent[] = {"/frame/2/surface", "/frame/2/bodies", "/body/bal", "/body/ball.ply", "/"};
    mo_text t = {0};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        mo_view_route route = mo_view_find_route(absent[i]);
        assert_int_equal(mo_view_pack(r, &route, false, &t, NULL), MO_ERROR_INPUT);
    }
    mo_view_route particles = mo_view_find_route("/frame/0/particles");
    assert_int_equal(mo_view_pack(r, &particles, false, &t, NULL), MO_ERROR_FILE);
    mo_text_destroy(&t);
    mo_reader_close(r);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 100001);
    assert_true(fread(text, 1, 100000, f) > 0);
    fclose(f);
    return text;
}

static void exported_pages_hold_the_run(void **state)
{
    place *p = *state;
    mo_view_options options = mo_view_options_default();
    options.page = p->page;
    mo_error err = {0};
    if (mo_view_export(p->dir, p->out, &options, &err) != MO_OK) fail_msg("%s", err.text);
    char *text = read_all(p->out);
    assert_int_equal(strncmp(text, "<a><script type=\"text/plain\" id=\"/run.json\">", 44), 0);
    static const char *const there[] = {"id=\"/stats\"",           "id=\"/body/ball\"",      "id=\"/frame/0/surface\"",
                                        "id=\"/frame/1/surface\"", "id=\"/frame/1/bodies\"", "<script>\n</script>"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) assert_non_null(strstr(text, there[i]));
    assert_null(strstr(text, "particles"));
    assert_null(strstr(text, "<b>")); // what a scene says never becomes part of the page
    free(text);

    options.every = 0;
    assert_int_equal(mo_view_export(p->dir, p->out, &options, &err), MO_ERROR_INPUT);
    options.every = 1;
    write_text(p->dir, "page.html", "<html>");
    assert_int_equal(mo_view_export(p->dir, p->out, &options, &err), MO_ERROR_FILE);
    options.page = "/no/such/page.html";
    assert_int_equal(mo_view_export(p->dir, p->out, &options, &err), MO_ERROR_FILE);
}

// ---- Memory that runs out ----

static void no_memory_leaves_nothing_behind(void **state)
{
    place *p = *state;
    mo_view_options options = mo_view_options_default();
    options.page = p->page;
    mo_status status = MO_ERROR_MEMORY;
    int tries = 0;
    for (; status != MO_OK && tries < 2000; tries++) {
        ration r = {.fail_at = tries + 1, .for_good = true};
        mo_error err = {0};
        mo_set_allocator(rationed, &r);
        unlink(p->out);
        status = mo_view_export(p->dir, p->out, &options, &err);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(mo_memory_in_use(), 0);
        if (status == MO_OK) break;
        assert_int_equal(status, MO_ERROR_MEMORY);
        assert_int_not_equal(access(p->out, F_OK), 0);
    }
    assert_int_equal(status, MO_OK);
    assert_true(tries > 10);
}

static void serving_needs_a_run_a_page_and_a_port(void **state)
{
    place *p = *state;
    mo_error err = {0};
    mo_view_options options = mo_view_options_default();
    options.page = p->page;
    options.port = 70000;
    assert_int_not_equal(mo_view_serve(p->dir, &options, NULL, NULL, &err), MO_OK);
    assert_true(strstr(err.text, "70000") || strstr(err.text, "libmicrohttpd"));
    options.port = 0;
    assert_int_not_equal(mo_view_serve("/no/such/run", &options, NULL, NULL, &err), MO_OK);
    options.page = "/no/such/page.html";
    assert_int_not_equal(mo_view_serve(p->dir, &options, NULL, NULL, &err), MO_OK);
    assert_int_equal(mo_memory_in_use(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_are_found),
        cmocka_unit_test(anything_else_is_nothing),
        cmocka_unit_test(body_paths_come_back),
        cmocka_unit_test(only_this_machine_is_a_host),
        cmocka_unit_test(meshes_are_copied),
        cmocka_unit_test(compact_meshes_are_near_and_small),
        cmocka_unit_test(empty_meshes_have_empty_arrays),
        cmocka_unit_test(particles_are_thinned_out),
        cmocka_unit_test(smoke_is_a_box_of_bytes),
        cmocka_unit_test(base64_is_that_of_the_standard),
        cmocka_unit_test_setup_teardown(summary_tells_what_there_is, make_run, remove_run),
        cmocka_unit_test_setup_teardown(statistics_and_poses_are_columns, make_run, remove_run),
        cmocka_unit_test_setup_teardown(what_the_run_lacks_is_refused, make_run, remove_run),
        cmocka_unit_test_setup_teardown(exported_pages_hold_the_run, make_run, remove_run),
        cmocka_unit_test_setup_teardown(no_memory_leaves_nothing_behind, make_run, remove_run),
        cmocka_unit_test_setup_teardown(serving_needs_a_run_a_page_and_a_port, make_run, remove_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
