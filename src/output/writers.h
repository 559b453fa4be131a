// Geometry files: PLY meshes, VTP particles, VTU elements, and the series files that give their frames a time in
// ParaView.
#ifndef MO_WRITERS_H
#define MO_WRITERS_H

#include "monolith/monolith.h"

// Writes binary little-endian PLY: float positions, float normals and velocities if the mesh has them, int32 triangles.
mo_status mo_write_ply(const char *path, const mo_mesh *mesh, mo_error *err);
// The same; comments in the header have the volume that the surface encloses.
mo_status mo_write_surface(const char *path, const mo_mesh *mesh, const mo_surface_account *account, mo_error *err);
// The same with a number per vertex, the property von_mises.
mo_status mo_write_skin(const char *path, const mo_mesh *mesh, const float *von_mises, mo_error *err);

// Writes VTK XML PolyData, appended raw: one vertex cell per particle, point data `velocity`, `volume` and `viscosity`
// (each may be NULL).
mo_status mo_write_vtp(const char *path, int64_t count, const float *position, const float *velocity,
                       const float *volume, const float *viscosity, mo_error *err);

typedef struct mo_elements { // an elastic body in a frame
    int32_t dimension;       // 3: tetrahedra, 2: triangles
    int32_t vertex_count, element_count;
    const int32_t *element;                 // [(dimension + 1) * element_count]
    const double *position, *velocity;      // [3 * vertex_count] m, m/s
    const double *volume_ratio, *von_mises; // [element_count] det F, Pa
} mo_elements;
// Writes VTK XML UnstructuredGrid, appended raw: point data `velocity`, cell data `J` (det F) and `von_mises`.
mo_status mo_write_vtu(const char *path, const mo_elements *e, mo_error *err);

// These list frames 0 .. frames - 1 of a series, at the times frame / fps. Members are PREFIX_00042.EXT in the same
// directory. ParaView's .pvd holds VTK files only; for PLY it reads the .series form.
mo_status mo_write_pvd(const char *path, const char *prefix, const char *extension, int32_t frames, double fps,
                       mo_error *err);
mo_status mo_write_series(const char *path, const char *prefix, const char *extension, int32_t frames, double fps,
                          mo_error *err);

#endif
