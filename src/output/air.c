// What a frame holds of air.
#include "output/air.h"
#include "base/base.h"
#include "output/file.h"
#include "output/vdb.h"
#include <string.h>

// The velocity at the centre of a cell: the mean of those on its two faces along an axis. The face on the high side of
// a tile's last cell is that of another tile; there the one of the low side stands for both.
static float velocity_of(const mo_air_state *a, int axis, int64_t i)
{
    static const int stride[3] = {1, 8, 64};
    const float *u = a->velocity[axis];
    return (i / stride[axis] & 7) == 7 ? u[i] : 0.5f * (u[i] + u[i + stride[axis]]);
}

static void fill_velocity(const mo_air_state *a, float *const out[3])
{
    for (int64_t i = 0; i < (int64_t)a->tiles * MO_VDB_LEAF; i++)
        for (int k = 0; k < 3; k++) out[k][i] = a->soot[i] != 0 || a->heat[i] != 0 ? velocity_of(a, k, i) : 0;
}

mo_status mo_write_smoke(const char *dir, const mo_sim *sim, mo_error *err)
{
    mo_air_state a;
    if (!mo_sim_air(sim, &a)) return MO_OK;
    size_t voxels = (size_t)a.tiles * MO_VDB_LEAF;
    float *u = mo_alloc(sizeof(float) * (3 * voxels + 1));
    char *path = mo_path(dir, "frames/smoke_%05d.vdb", mo_sim_frame(sim));
    mo_status status = u && path ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        mo_vdb_grid grid[] = {{.name = "density", .components = 1, .value = {(float *)a.soot}},
                              {.name = "temperature", .components = 1, .value = {(float *)a.heat}},
                              {.name = "velocity", .components = 3, .value = {u, u + voxels, u + 2 * voxels}}};
        mo_vdb vdb = {.voxel = a.cell,
                      .origin = a.origin,
                      .leaves = a.tiles,
                      .leaf = (int32_t(*)[3])a.tile,
                      .grids = sizeof grid / sizeof *grid,
                      .grid = grid};
        fill_velocity(&a, grid[2].value);
        status = mo_write_vdb(path, &vdb, err);
    }
    mo_free(path);
    mo_free(u);
    return status;
}
