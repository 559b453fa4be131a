// Complete-or-absent files, JSON text, PLY and VTP read back by small parsers, full disks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "output/file.h"
#include "output/json.h"
#include "output/writers.h"
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct place {
    char dir[64];
    char path[128], temporary[128];
} place;

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/mo_test_XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->path, sizeof p->path, "%s/file", p->dir);
    snprintf(p->temporary, sizeof p->temporary, "%s/file.tmp", p->dir);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    place *p = *state;
    unlink(p->path);
    unlink(p->temporary);
    int left = rmdir(p->dir); // fails if a test left anything else behind
    free(p);
    return left;
}

static char *slurp(const char *path, size_t *bytes)
{
    mo_error err = {0};
    char *data;
    assert_int_equal(mo_file_read(path, &data, bytes, NULL, &err), MO_OK);
    return data;
}

// ---- Files ----

static void absent_until_commit(void **state)
{
    place *p = *state;
    mo_file *f;
    assert_int_equal(mo_file_create(p->path, &f, NULL), MO_OK);
    char *big = malloc(300000);
    for (int i = 0; i < 300000; i++) big[i] = (char)(i * 7);
    mo_file_print(f, "%d\n", 12345);
    mo_file_write(f, big, 300000);
    mo_file_write(f, big, 0);
    mo_file_write(f, big, 65536);
    assert_int_not_equal(access(p->path, F_OK), 0);
    assert_int_equal(mo_file_commit(f, NULL), MO_OK);
    assert_int_not_equal(access(p->temporary, F_OK), 0);
    size_t bytes;
    char *back = slurp(p->path, &bytes);
    assert_int_equal(bytes, 6 + 300000 + 65536);
    assert_memory_equal(back, "12345\n", 6);
    assert_memory_equal(back + 6, big, 300000);
    assert_memory_equal(back + 300006, big, 65536);
    mo_free_block(back);

    // Abandoned: the old content stays.
    assert_int_equal(mo_file_create(p->path, &f, NULL), MO_OK);
    mo_file_print(f, "new");
    mo_file_abandon(f);
    back = slurp(p->path, &bytes);
    assert_int_equal(bytes, 6 + 300000 + 65536);
    mo_free_block(back);
    free(big);
}

static void errors_name_the_path(void **state)
{
    (void)state;
    mo_error err = {0};
    mo_file *f;
    assert_int_equal(mo_file_create("/nonexistent/x.ply", &f, &err), MO_ERROR_FILE);
    assert_string_equal(err.text, "/nonexistent/x.ply: cannot create: No such file or directory");
    assert_null(f);
    char *data;
    size_t bytes;
    bool missing = false;
    assert_int_equal(mo_file_read("/nonexistent/x", &data, &bytes, NULL, &err), MO_ERROR_FILE);
    assert_int_equal(mo_file_read("/nonexistent/x", &data, &bytes, &missing, &err), MO_OK);
    assert_true(missing && !data);
    assert_int_equal(mo_file_read("/tmp", &data, &bytes, &missing, &err), MO_ERROR_FILE);
    assert_int_equal(mo_directory_create("/dev/null/x", NULL, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "/dev/null"));
}

// A temporary that points to /dev/full: every write fails as on a full disk.
static void full_disk_is_reported(void **state)
{
    place *p = *state;
    for (size_t bytes = 1; bytes <= 200000; bytes *= 10) {
        assert_int_equal(symlink("/dev/full", p->temporary), 0);
        mo_file *f;
        mo_error err = {0};
        assert_int_equal(mo_file_create(p->path, &f, &err), MO_OK);
        char *data = calloc(1, bytes);
        mo_file_write(f, data, bytes);
        mo_file_write(f, data, bytes); // after the failure: harmless
        free(data);
        assert_int_equal(mo_file_commit(f, &err), MO_ERROR_FAILED);
        assert_non_null(strstr(err.text, p->path));
        assert_non_null(strstr(err.text, "No space left on device"));
        assert_int_not_equal(access(p->path, F_OK), 0);
        assert_int_not_equal(access(p->temporary, F_OK), 0);
    }
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void old_file_survives_a_full_disk(void **state)
{
    place *p = *state;
    mo_mesh mesh = {.vertex_count = 10000, .position = calloc(30000, sizeof(float))};
    mo_error err = {0};
    mo_file *f;
    mo_file_create(p->path, &f, NULL);
    mo_file_print(f, "precious");
    assert_int_equal(mo_file_commit(f, NULL), MO_OK);
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(50000);
    mo_status status = mo_write_ply(p->path, &mesh, &err);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(status, MO_ERROR_FAILED);
    assert_non_null(strstr(err.text, "File too large"));
    size_t bytes;
    char *back = slurp(p->path, &bytes);
    assert_string_equal(back, "precious");
    mo_free_block(back);
    assert_int_not_equal(access(p->temporary, F_OK), 0);
    free(mesh.position);
}

static void lines_are_whole(void **state)
{
    place *p = *state;
    mo_lines *l;
    mo_error err = {0};
    assert_int_equal(mo_lines_open(p->path, 0, &l, &err), MO_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(mo_lines_append(l, "abcdefghi\n", 10, &err), MO_OK);
    assert_int_equal(mo_lines_bytes(l), 30);
    // The fourth line fits only half: it must vanish, and the next one follow the third.
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(35);
    assert_int_equal(mo_lines_append(l, "abcdefghi\n", 10, &err), MO_ERROR_FAILED);
    assert_int_equal(mo_lines_bytes(l), 30);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(mo_lines_append(l, "ABCDEFGHI\n", 10, &err), MO_OK);
    mo_lines_close(l);
    size_t bytes;
    char *back = slurp(p->path, &bytes);
    assert_string_equal(back, "abcdefghi\nabcdefghi\nabcdefghi\nABCDEFGHI\n");
    mo_free_block(back);

    assert_int_equal(mo_lines_open(p->path, 20, &l, &err), MO_OK);
    assert_int_equal(mo_lines_append(l, "x\n", 2, &err), MO_OK);
    mo_lines_close(l);
    back = slurp(p->path, &bytes);
    assert_string_equal(back, "abcdefghi\nabcdefghi\nx\n");
    mo_free_block(back);
}

// ---- JSON ----

static void strings_are_escaped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "\"plain\""},
        {"", "\"\""},
        {"a\"b\\c/d", "\"a\\\"b\\\\c/d\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8a\""},
        {"\xe9t\xe9", "\"\xef\xbf\xbdt\xef\xbf\xbd\""},                               // Latin-1
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 // overlong
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},                 // surrogate
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, // above U+10FFFF
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                                 // cut off
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mo_text t = {0};
        mo_json_string(&t, NULL, cases[i][0]);
        assert_string_equal(t.data, cases[i][1]);
        mo_text_destroy(&t);
    }
}

static void numbers_read_back_equal(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e300, "1e+300"},
                 {NAN, "null"},
                 {INFINITY, "null"},
                 {-INFINITY, "null"},
                 {100, "100"},
                 {5e-324, "4.94065645841247e-324"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mo_text t = {0};
        mo_json_number(&t, NULL, cases[i].value);
        assert_string_equal(t.data, cases[i].text);
        mo_text_destroy(&t);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[32];
        mo_format_double(value, text);
        back = strtod(text, NULL);
        assert_memory_equal(&value, &back, sizeof value);
    }
}

static void objects_nest(void **state)
{
    (void)state;
    mo_text t = {0};
    mo_json_begin(&t, NULL, '{');
    mo_json_integer(&t, "a", -5);
    mo_json_begin(&t, "b", '[');
    mo_json_end(&t, ']');
    mo_json_begin(&t, "c", '{');
    mo_json_boolean(&t, "d", true);
    mo_json_string(&t, "e", NULL);
    mo_json_end(&t, '}');
    mo_json_vector(&t, "f", (mo_vec3){1, NAN, 0.5});
    mo_json_end(&t, '}');
    assert_string_equal(t.data, "{\"a\":-5,\"b\":[],\"c\":{\"d\":true,\"e\":null},\"f\":[1,null,0.5]}");
    mo_text_destroy(&t);
}

static void members_are_walked(void **state)
{
    (void)state;
    mo_json_member m;
    const char *line = " { \"a\" : 1.5 , \"b,}\\\"\":\"x\\ny\",\"c\":[1,{\"d\":2}], \"e\":null}";
    assert_int_equal(mo_json_next(&line, &m), 1);
    assert_string_equal(m.key, "a");
    assert_string_equal(m.value, "1.5");
    assert_false(m.is_string);
    assert_int_equal(mo_json_next(&line, &m), 1);
    assert_string_equal(m.key, "b,}\"");
    assert_string_equal(m.value, "x\ny");
    assert_true(m.is_string);
    assert_int_equal(mo_json_next(&line, &m), 1);
    assert_string_equal(m.value, "[1,{\"d\":2}]");
    assert_int_equal(mo_json_next(&line, &m), 1);
    assert_string_equal(m.value, "null");
    assert_int_equal(mo_json_next(&line, &m), 0);
    static const char *const bad[] = {
        "", "x", "[1]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"", "{\"a\" 1}", "{a:1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        line = bad[i];
        assert_int_equal(mo_json_next(&line, &m), -1);
    }
}

// ---- Geometry ----

static void check_ply(const char *path, const mo_mesh *mesh)
{
    size_t bytes, stride = mesh->normal ? 24 : 12;
    char *data = slurp(path, &bytes);
    assert_memory_equal(data, "ply\nformat binary_little_endian 1.0\n", 36);
    assert_non_null(strstr(data, "element vertex 4\n"));
    assert_non_null(strstr(data, "element face 2\n"));
    assert_int_equal(strstr(data, "property float nx\n") != NULL, mesh->normal != NULL);
    const char *body = strstr(data, "end_header\n");
    assert_non_null(body);
    body += 11;
    assert_int_equal(data + bytes - body, 4 * stride + 2 * 13);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(body + stride * i, mesh->position + 3 * i, 12);
        if (mesh->normal) assert_memory_equal(body + stride * i + 12, mesh->normal + 3 * i, 12);
    }
    for (size_t i = 0; i < 2; i++) {
        const char *row = body + 4 * stride + 13 * i;
        assert_int_equal(row[0], 3);
        assert_memory_equal(row + 1, mesh->triangle + 3 * i, 12);
    }
    mo_free_block(data);
}

static void ply_reads_back(void **state)
{
    place *p = *state;
    float position[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.5f}, normal[12] = {-1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int32_t triangle[6] = {0, 1, 2, 0, 3, 1};
    mo_mesh mesh = {4, 2, position, normal, triangle, NULL}, empty = {0};
    assert_int_equal(mo_write_ply(p->path, &mesh, NULL), MO_OK);
    check_ply(p->path, &mesh);
    mesh.normal = NULL;
    assert_int_equal(mo_write_ply(p->path, &mesh, NULL), MO_OK);
    check_ply(p->path, &mesh);
    assert_int_equal(mo_write_ply(p->path, &empty, NULL), MO_OK); // no liquid: an empty mesh is a mesh
}

// The appended block of the array called `name`: its bytes, checked against its length word and the file's end.
static const char *vtp_array(const char *data, size_t bytes, const char *name, const char *type, int components,
                             size_t expected)
{
    char tag[200], start[200];
    snprintf(tag, sizeof tag,
             "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"", type, name,
             components);
    const char *found = strstr(data, tag), *base = strstr(data, "<AppendedData encoding=\"raw\">\n_");
    if (!found || !base) return NULL;
    snprintf(start, sizeof start, "%s", found + strlen(tag));
    const char *block = base + strlen("<AppendedData encoding=\"raw\">\n_") + strtoull(start, NULL, 10);
    uint64_t length;
    memcpy(&length, block, sizeof length);
    assert_int_equal(length, expected);
    assert_true(block + 8 + length <= data + bytes);
    return block + 8;
}

static void vtp_reads_back(void **state)
{
    place *p = *state;
    enum { N = 1000 };
    float *data = malloc(8 * N * sizeof(float));
    for (int i = 0; i < 8 * N; i++) data[i] = 0.25f * (float)i - 3;
    assert_int_equal(mo_write_vtp(p->path, N, data, data + 3 * N, data + 6 * N, data + 7 * N, NULL), MO_OK);
    size_t bytes;
    char *file = slurp(p->path, &bytes);
    assert_non_null(strstr(file, "byte_order=\"LittleEndian\" header_type=\"UInt64\""));
    assert_non_null(strstr(file, "NumberOfPoints=\"1000\" NumberOfVerts=\"1000\""));
    assert_memory_equal(vtp_array(file, bytes, "Points", "Float32", 3, 12 * N), data, 12 * N);
    assert_memory_equal(vtp_array(file, bytes, "velocity", "Float32", 3, 12 * N), data + 3 * N, 12 * N);
    assert_memory_equal(vtp_array(file, bytes, "volume", "Float32", 1, 4 * N), data + 6 * N, 4 * N);
    assert_memory_equal(vtp_array(file, bytes, "viscosity", "Float32", 1, 4 * N), data + 7 * N, 4 * N);
    const char *vertices = vtp_array(file, bytes, "connectivity", "Int32", 1, 4 * N);
    const char *offsets = vtp_array(file, bytes, "offsets", "Int32", 1, 4 * N);
    for (int32_t i = 0; i < N; i++) {
        int32_t v, o;
        memcpy(&v, vertices + 4 * i, 4), memcpy(&o, offsets + 4 * i, 4);
        assert_int_equal(v, i);
        assert_int_equal(o, i + 1);
    }
    const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    assert_string_equal(file + bytes - strlen(tail), tail);
    assert_ptr_equal(offsets + 4 * N, file + bytes - strlen(tail)); // the blocks fill the section exactly
    mo_free_block(file);

    assert_int_equal(mo_write_vtp(p->path, 0, data, NULL, NULL, NULL, NULL), MO_OK);
    file = slurp(p->path, &bytes);
    assert_null(vtp_array(file, bytes, "velocity", "Float32", 3, 0));
    assert_null(vtp_array(file, bytes, "viscosity", "Float32", 1, 0));
    assert_non_null(vtp_array(file, bytes, "Points", "Float32", 3, 0));
    mo_free_block(file);
    free(data);
}

static void series_lists_frames(void **state)
{
    place *p = *state;
    assert_int_equal(mo_write_pvd(p->path, "particles_liquid", "vtp", 3, 50, NULL), MO_OK);
    size_t bytes;
    char *file = slurp(p->path, &bytes);
    assert_non_null(strstr(file, "<DataSet timestep=\"0\" part=\"0\" file=\"particles_liquid_00000.vtp\"/>\n"));
    assert_non_null(strstr(file, "<DataSet timestep=\"0.04\" part=\"0\" file=\"particles_liquid_00002.vtp\"/>\n"));
    assert_null(strstr(file, "_00003"));
    mo_free_block(file);
    assert_int_equal(mo_write_series(p->path, "surface_liquid", "ply", 2, 50, NULL), MO_OK);
    file = slurp(p->path, &bytes);
    assert_string_equal(file, "{\"file-series-version\":\"1.0\",\"files\":[\n{\"name\":\"surface_liquid_00000.ply\","
                              "\"time\":0},\n{\"name\":\"surface_liquid_00001.ply\",\"time\":0.02}\n]}\n");
    mo_free_block(file);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(absent_until_commit),
        cmocka_unit_test(errors_name_the_path),
        IN_PLACE(full_disk_is_reported),
        IN_PLACE(old_file_survives_a_full_disk),
        IN_PLACE(lines_are_whole),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(numbers_read_back_equal),
        cmocka_unit_test(objects_nest),
        cmocka_unit_test(members_are_walked),
        IN_PLACE(ply_reads_back),
        IN_PLACE(vtp_reads_back),
        IN_PLACE(series_lists_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
