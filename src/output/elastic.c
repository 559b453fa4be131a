// What a frame holds of an elastic body.
#include "output/elastic.h"
#include "output/file.h"
#include "output/writers.h"
#include "base/base.h"

static mo_status write_skin(const char *path, const mo_sim *sim, int32_t elastic, mo_error *err)
{
    mo_mesh mesh = {0};
    float *von_mises = NULL;
    MO_TRY(mo_sim_elastic_surface_stress(sim, elastic, &mesh, &von_mises, err));
    mo_status status = mo_write_skin(path, &mesh, von_mises, err);
    mo_mesh_destroy(&mesh);
    mo_free_block(von_mises);
    return status;
}

static mo_status write_elements(const char *path, const mo_sim *sim, int32_t elastic, mo_error *err)
{
    mo_elastic_state s;
    mo_sim_elastic(sim, elastic, &s);
    size_t n = (size_t)s.vertex_count, m = (size_t)s.element_count;
    double *data = mo_alloc(sizeof *data * (6 * n + 2 * m + 1));
    if (!data) return mo_fail_memory(err);
    double *position = data, *velocity = data + 3 * n, *ratio = data + 6 * n, *stress = ratio + m;
    mo_sim_elastic_vertices(sim, elastic, position, velocity);
    mo_sim_elastic_elements(sim, elastic, ratio, stress);
    mo_elements elements = {s.dimension, s.vertex_count, s.element_count, s.element, position, velocity, ratio, stress};
    mo_status status = mo_write_vtu(path, &elements, err);
    mo_free(data);
    return status;
}

mo_status mo_write_elastic(const char *dir, const char *file, const mo_sim *sim, int32_t elastic, bool elements,
                           mo_error *err)
{
    char *skin = mo_path(dir, "frames/%s_%05d.ply", file, mo_sim_frame(sim));
    char *volume = mo_path(dir, "frames/%s_%05d.vtu", file, mo_sim_frame(sim));
    mo_status status = skin && volume ? write_skin(skin, sim, elastic, err) : mo_fail_memory(err);
    if (status == MO_OK && elements) status = write_elements(volume, sim, elastic, err);
    mo_free(skin);
    mo_free(volume);
    return status;
}

mo_status mo_write_elastic_series(const char *dir, const char *file, bool elements, int32_t frames, double fps,
                                  mo_error *err)
{
    char *skin = mo_path(dir, "frames/%s.ply.series", file), *volume = mo_path(dir, "frames/%s.pvd", file);
    mo_status status = skin && volume ? mo_write_series(skin, file, "ply", frames, fps, err) : mo_fail_memory(err);
    if (status == MO_OK && elements) status = mo_write_pvd(volume, file, "vtu", frames, fps, err);
    mo_free(skin);
    mo_free(volume);
    return status;
}

mo_status mo_write_cloth(const char *dir, const char *file, const mo_sim *sim, int32_t cloth, mo_error *err)
{
    mo_mesh mesh = {0};
    char *path = mo_path(dir, "frames/%s_%05d.ply", file, mo_sim_frame(sim));
    mo_status status = path ? mo_sim_cloth_surface(sim, cloth, &mesh, err) : mo_fail_memory(err);
    if (status == MO_OK) status = mo_write_ply(path, &mesh, err);
    mo_mesh_destroy(&mesh);
    mo_free(path);
    return status;
}
