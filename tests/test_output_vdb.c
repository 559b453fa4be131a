// OpenVDB files: what is written is read back, also by OpenVDB itself where it is installed; damaged files and memory
// that runs out are errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "output/file.h"
#include "output/vdb.h"
#include "ration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAVES = 7 };

typedef struct place {
    char dir[64], path[128];
    float density[MO_VDB_LEAF * LEAVES], velocity[3][MO_VDB_LEAF * LEAVES];
    mo_vdb_grid grid[2];
    mo_vdb vdb;
} place;

// Leaves in several nodes of every level, one of them empty; values of all kinds of masks.
static const int32_t leaves[LEAVES][3] = {{0, 0, 0},  {1, 0, 0},   {0, 17, 2}, {15, 15, 15},
                                          {16, 0, 3}, {513, 2, 1}, {3, 3, 3}};

static int make_place(void **state)
{
    place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/mo_test_XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->path, sizeof p->path, "%s/smoke.vdb", p->dir);
    uint32_t seed = 1;
    for (int i = 0; i < MO_VDB_LEAF * LEAVES; i++) {
        int leaf = i / MO_VDB_LEAF;
        seed = seed * 1664525u + 1013904223u;
        bool active = leaf == 0 || leaf == 1 ? true : leaf == 6 ? false : seed >> 30 == 0;
        p->density[i] = active ? leaf == 1 ? 2.5f : (float)(1 + (seed >> 8) % 1000) : 0;
        for (int k = 0; k < 3; k++) p->velocity[k][i] = leaf < 3 && k < 2 ? p->density[i] * (float)(k + 1) : 0;
    }
    p->grid[0] = (mo_vdb_grid){.name = "density", .components = 1, .value = {p->density}};
    p->grid[1] =
        (mo_vdb_grid){.name = "velocity", .components = 3, .value = {p->velocity[0], p->velocity[1], p->velocity[2]}};
    p->vdb = (mo_vdb){.voxel = 0.25,
                      .origin = {1, 2, -3},
                      .leaves = LEAVES,
                      .leaf = (int32_t(*)[3])leaves,
                      .grids = 2,
                      .grid = p->grid};
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    place *p = *state;
    unlink(p->path);
    int left = rmdir(p->dir);
    free(p);
    return left;
}

// Every value of a volume that was read is the one that was written, and nothing that was written is missing.
static void same_values(const mo_vdb *v, const mo_vdb *written, const mo_vdb_grid *g)
{
    double sum = 0, expected = 0;
    assert_int_equal(v->grid->components, g->components);
    for (int32_t l = 0; l < v->leaves; l++) {
        int32_t from = 0;
        while (from < LEAVES && memcmp(written->leaf[from], v->leaf[l], sizeof *v->leaf) != 0) from++;
        assert_true(from < LEAVES);
        for (int k = 0; k < g->components; k++)
            assert_memory_equal(v->grid->value[k] + l * MO_VDB_LEAF, g->value[k] + from * MO_VDB_LEAF,
                                sizeof(float) * MO_VDB_LEAF);
    }
    for (int k = 0; k < g->components; k++) {
        for (int32_t i = 0; i < v->leaves * MO_VDB_LEAF; i++) sum += v->grid->value[k][i];
        for (int32_t i = 0; i < written->leaves * MO_VDB_LEAF; i++) expected += g->value[k][i];
    }
    assert_true(sum == expected);
}

static void read_back(void **state)
{
    place *p = *state;
    mo_error err = {0};
    assert_int_equal(mo_write_vdb(p->path, &p->vdb, &err), MO_OK);
    for (int g = 0; g < 2; g++) {
        mo_vdb v;
        if (mo_read_vdb(p->path, p->grid[g].name, &v, &err) != MO_OK) fail_msg("%s", err.text);
        assert_true(v.voxel == 0.25 && v.origin.x == 1 && v.origin.y == 2 && v.origin.z == -3);
        assert_int_equal(v.leaves, g == 0 ? 6 : 3); // the empty one is left out
        same_values(&v, &p->vdb, &p->grid[g]);
        mo_vdb_destroy(&v);
    }
    mo_vdb v;
    assert_int_equal(mo_read_vdb(p->path, "heat", &v, &err), MO_ERROR_FILE);
    assert_non_null(strstr(err.text, "smoke.vdb: heat: has no volume of this name"));
    mo_vdb_destroy(&v);
}

static void nothing_at_all(void **state)
{
    place *p = *state;
    mo_error err = {0};
    mo_vdb empty = p->vdb, v;
    empty.leaves = 0;
    assert_int_equal(mo_write_vdb(p->path, &empty, &err), MO_OK);
    assert_int_equal(mo_read_vdb(p->path, "density", &v, &err), MO_OK);
    assert_int_equal(v.leaves, 0);
    mo_vdb_destroy(&v);
}

// OpenVDB's own reader, where Debian's python3-openvdb is there.
static void openvdb_agrees(void **state)
{
    place *p = *state;
    if (system("/usr/bin/python3 -c 'import pyopenvdb' 2>/dev/null") != 0) skip();
    assert_int_equal(mo_write_vdb(p->path, &p->vdb, NULL), MO_OK);
    double sum = 0;
    int active = 0;
    for (int i = 0; i < MO_VDB_LEAF * LEAVES; i++) sum += p->density[i], active += p->density[i] != 0;
    // Voxel (2, 3, 5) of leaf (16, 0, 3); leaf 4 of the list.
    double one = p->density[4 * MO_VDB_LEAF + 2 + 8 * (3 + 8 * 5)];
    const float *u = p->velocity[0];
    char script[1500];
    snprintf(script, sizeof script,
             "/usr/bin/python3 -c \"\nimport pyopenvdb as vdb\n"
             "g = vdb.read('%s', 'density'); w = vdb.read('%s', 'velocity')\n"
             "a = g.getConstAccessor(); b = w.getConstAccessor()\n"
             "total = sum(i.value * i.count for i in g.citerOnValues())\n"
             "assert g.activeVoxelCount() == %d, g.activeVoxelCount()\n"
             "assert abs(total - %.17g) < 1e-6 * total, total\n"
             "assert a.getValue((8 * 16 + 2, 3, 8 * 3 + 5)) == %.9g\n"
             "assert b.getValue((1, 2, 3))[0] == %.9g and b.getValue((1, 2, 3))[2] == 0\n"
             "assert g.transform.voxelSize() == (0.25, 0.25, 0.25)\n"
             "assert g.transform.indexToWorld((4, 0, 8)) == (2, 2, -1)\n"
             "assert g.gridClass == 'fog volume' and g.name == 'density'\n\"",
             p->path, p->path, active, sum, one, (double)u[1 + 8 * (2 + 8 * 3)]);
    assert_int_equal(system(script), 0);
}

static void overwrite(const char *path, const char *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, bytes, f), bytes);
    fclose(f);
}

// Every end of the file and every flipped byte of a sample gives an error or a volume, nothing else.
static void damaged_files(void **state)
{
    place *p = *state;
    size_t bytes;
    char *data;
    assert_int_equal(mo_write_vdb(p->path, &p->vdb, NULL), MO_OK);
    assert_int_equal(mo_file_read(p->path, &data, &bytes, NULL, NULL), MO_OK);
    for (size_t cut = 0; cut < bytes; cut += cut < 400 ? 1 : 97) {
        mo_vdb v;
        overwrite(p->path, data, cut);
        assert_int_equal(mo_read_vdb(p->path, "velocity", &v, NULL), MO_ERROR_FILE);
        mo_vdb_destroy(&v);
    }
    for (size_t at = 0; at < bytes; at += at < 400 ? 1 : 61) {
        mo_vdb v;
        data[at] ^= (char)(1 << at % 8);
        overwrite(p->path, data, bytes);
        mo_read_vdb(p->path, "density", &v, NULL);
        mo_vdb_destroy(&v);
        data[at] ^= (char)(1 << at % 8);
    }
    mo_free_block(data);
}

static void memory_runs_out(void **state)
{
    place *p = *state;
    ration r = {0};
    mo_vdb v;
    mo_set_allocator(rationed, &r);
    mo_status status = MO_ERROR_MEMORY;
    for (r.fail_at = 1; status != MO_OK; r.fail_at++) {
        r.calls = 0;
        status = mo_write_vdb(p->path, &p->vdb, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        assert_int_equal(r.live, 0);
    }
    status = MO_ERROR_MEMORY;
    for (r.fail_at = 1; status != MO_OK; r.fail_at++) {
        r.calls = 0;
        status = mo_read_vdb(p->path, "density", &v, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        mo_vdb_destroy(&v);
        assert_int_equal(r.live, 0);
    }
    mo_set_allocator(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(read_back, make_place, remove_place),
        cmocka_unit_test_setup_teardown(nothing_at_all, make_place, remove_place),
        cmocka_unit_test_setup_teardown(openvdb_agrees, make_place, remove_place),
        cmocka_unit_test_setup_teardown(damaged_files, make_place, remove_place),
        cmocka_unit_test_setup_teardown(memory_runs_out, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
