// The scale of an elastic body's stress, from its frames.
#include "output/reader.h"
#include <math.h>
#include <stdlib.h>

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

float mo_reader_elastic_stress(const mo_reader *r, int32_t elastic)
{
    int32_t frames = mo_reader_frame_count(r), every = frames / 20 + 1;
    float top = 0;
    for (int32_t i = frames - 1; i >= 0; i -= every) {
        mo_mesh mesh;
        float *stress;
        // A frame without the file says nothing.
        if (mo_reader_elastic_surface(r, elastic, mo_reader_frame(r, i), &mesh, &stress, NULL) != MO_OK) continue;
        if (stress && mesh.vertex_count) {
            qsort(stress, (size_t)mesh.vertex_count, sizeof *stress, compare_floats);
            top = fmaxf(top, stress[(int64_t)mesh.vertex_count * 90 / 100]);
        }
        mo_mesh_destroy(&mesh);
        mo_free(stress);
    }
    return top;
}
