// Any bytes as a mesh file. The first byte chooses the format; meshes of triangles become shapes, others tetrahedra.
#include "fuzz.h"
#include "monolith/monolith.h"
#include "geometry/mesh.h"
#include "geometry/tets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"m.obj", "m.off", "m.ply", "m.stl", "m.msh", "m.mesh", "m.vtk", "m.ele"};
    enum { NAMES = sizeof names / sizeof *names, TRIANGLES = 4 };
    if (bytes == 0) return 0;
    int kind = data[0] % NAMES;
    const char *path = fuzz_file(names[kind], data + 1, bytes - 1);
    mo_error err = {0};
    if (kind < TRIANGLES) {
        mo_shape *shape = NULL;
        if (mo_shape_mesh_file(path, 8, &shape, &err) != MO_OK && !err.text[0]) abort();
        if (shape) mo_shape_release(shape);
    } else {
        mo_tets mesh = {0};
        mo_status status = mo_tets_read(path, &mesh, &err);
        if (status != MO_OK && !err.text[0]) abort();
        if (status == MO_OK) mo_tets_destroy(&mesh);
    }
    return 0;
}
