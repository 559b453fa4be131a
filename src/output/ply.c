// PLY: the format every mesh tool reads.
#include "output/writers.h"
#include "output/file.h"
#include <string.h>

static void write_header(mo_file *f, const mo_mesh *mesh, const mo_surface_account *account, bool von_mises)
{
    mo_file_print(f, "ply\nformat binary_little_endian 1.0\ncomment monolith %s, metres, y up\n", mo_version());
    if (account) mo_file_print(f, "comment volume %.9g\ncomment film %.9g\n", account->volume, account->film);
    mo_file_print(f, "element vertex %d\nproperty float x\nproperty float y\nproperty float z\n", mesh->vertex_count);
    if (mesh->normal) mo_file_print(f, "property float nx\nproperty float ny\nproperty float nz\n");
    if (mesh->velocity) mo_file_print(f, "property float vx\nproperty float vy\nproperty float vz\n");
    if (von_mises) mo_file_print(f, "property float von_mises\n");
    mo_file_print(f, "element face %d\nproperty list uchar int vertex_indices\nend_header\n", mesh->triangle_count);
}

static mo_status write_mesh(const char *path, const mo_mesh *mesh, const mo_surface_account *account,
                            const float *von_mises, mo_error *err)
{
    mo_file *f;
    mo_status status = mo_file_create(path, &f, err);
    if (status != MO_OK) return status;
    write_header(f, mesh, account, von_mises);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        mo_file_write(f, mesh->position + 3 * i, 3 * sizeof(float));
        if (mesh->normal) mo_file_write(f, mesh->normal + 3 * i, 3 * sizeof(float));
        if (mesh->velocity) mo_file_write(f, mesh->velocity + 3 * i, 3 * sizeof(float));
        if (von_mises) mo_file_write(f, von_mises + i, sizeof(float));
    }
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        char row[1 + 3 * sizeof(int32_t)] = {3};
        memcpy(row + 1, mesh->triangle + 3 * i, 3 * sizeof(int32_t));
        mo_file_write(f, row, sizeof row);
    }
    return mo_file_commit(f, err);
}

mo_status mo_write_surface(const char *path, const mo_mesh *mesh, const mo_surface_account *account, mo_error *err)
{
    return write_mesh(path, mesh, account, NULL, err);
}

mo_status mo_write_skin(const char *path, const mo_mesh *mesh, const float *von_mises, mo_error *err)
{
    return write_mesh(path, mesh, NULL, von_mises, err);
}

mo_status mo_write_ply(const char *path, const mo_mesh *mesh, mo_error *err)
{
    return write_mesh(path, mesh, NULL, NULL, err);
}
