// VTK XML files: particles (.vtp), elements (.vtu) and time series (.pvd, .series).
#include "output/writers.h"
#include "output/file.h"
#include "output/json.h"
#include "base/base.h"

// One appended array: where its block (an 8-byte length, then the data) starts, counted from the '_'.
typedef struct array {
    const char *type, *name;
    int components;
    size_t bytes, offset;
} array;

static void declare(mo_file *f, const char *indent, array *a, size_t *end)
{
    a->offset = *end;
    *end += sizeof(uint64_t) + a->bytes;
    mo_file_print(f, "%s<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\"", indent,
                  a->type, a->name, a->components);
    mo_file_print(f, " offset=\"%zu\"/>\n", a->offset);
}

static void append(mo_file *f, const array *a, const void *data)
{
    uint64_t length = a->bytes;
    mo_file_write(f, &length, sizeof length);
    mo_file_write(f, data, a->bytes);
}

// first, first + step, ...
static void append_range(mo_file *f, const array *a, int32_t first, int32_t step)
{
    uint64_t length = a->bytes;
    mo_file_write(f, &length, sizeof length);
    for (size_t i = 0; i < a->bytes / sizeof(int32_t); i++) {
        int32_t value = first + step * (int32_t)i;
        mo_file_write(f, &value, sizeof value);
    }
}

static void append_floats(mo_file *f, const array *a, const double *data)
{
    uint64_t length = a->bytes;
    mo_file_write(f, &length, sizeof length);
    for (size_t i = 0; i < a->bytes / sizeof(float); i++) {
        float value = (float)data[i];
        mo_file_write(f, &value, sizeof value);
    }
}

static void append_same(mo_file *f, const array *a, uint8_t value)
{
    uint64_t length = a->bytes;
    mo_file_write(f, &length, sizeof length);
    for (size_t i = 0; i < a->bytes; i++) mo_file_write(f, &value, 1);
}

mo_status mo_write_vtp(const char *path, int64_t count, const float *position, const float *velocity,
                       const float *volume, const float *viscosity, mo_error *err)
{
    MO_ASSERT(count >= 0 && (position || count == 0));
    if (count >= INT32_MAX) return mo_fail(err, MO_ERROR_FAILED, "%s: too many particles for a .vtp file", path);
    size_t n = (size_t)count, end = 0;
    array points = {"Float32", "Points", 3, 12 * n, 0}, speed = {"Float32", "velocity", 3, 12 * n, 0},
          share = {"Float32", "volume", 1, 4 * n, 0}, thickness = {"Float32", "viscosity", 1, 4 * n, 0};
    array vertices = {"Int32", "connectivity", 1, 4 * n, 0}, offsets = {"Int32", "offsets", 1, 4 * n, 0};

    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    mo_file_print(f,
                  "  <PolyData>\n    <Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" NumberOfLines=\"0\" "
                  "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n",
                  n, n);
    mo_file_print(f, "      <PointData>\n");
    if (velocity) declare(f, "        ", &speed, &end);
    if (volume) declare(f, "        ", &share, &end);
    if (viscosity) declare(f, "        ", &thickness, &end);
    mo_file_print(f, "      </PointData>\n      <Points>\n");
    declare(f, "        ", &points, &end);
    mo_file_print(f, "      </Points>\n      <Verts>\n");
    declare(f, "        ", &vertices, &end);
    declare(f, "        ", &offsets, &end);
    mo_file_print(f, "      </Verts>\n    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n_");
    if (velocity) append(f, &speed, velocity);
    if (volume) append(f, &share, volume);
    if (viscosity) append(f, &thickness, viscosity);
    append(f, &points, position);
    append_range(f, &vertices, 0, 1);
    append_range(f, &offsets, 1, 1);
    mo_file_print(f, "\n  </AppendedData>\n</VTKFile>\n");
    return mo_file_commit(f, err);
}

mo_status mo_write_vtu(const char *path, const mo_elements *e, mo_error *err)
{
    MO_ASSERT(e->dimension == 2 || e->dimension == 3);
    enum { TRIANGLE = 5, TETRAHEDRON = 10 }; // VTK's numbers
    size_t n = (size_t)e->vertex_count, m = (size_t)e->element_count, corners = (size_t)e->dimension + 1, end = 0;
    array points = {"Float32", "Points", 3, 12 * n, 0}, speed = {"Float32", "velocity", 3, 12 * n, 0};
    array ratio = {"Float32", "J", 1, 4 * m, 0}, stress = {"Float32", "von_mises", 1, 4 * m, 0};
    array vertices = {"Int32", "connectivity", 1, 4 * corners * m, 0}, offsets = {"Int32", "offsets", 1, 4 * m, 0};
    array types = {"UInt8", "types", 1, m, 0};

    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n");
    mo_file_print(f, "  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n", n, m);
    mo_file_print(f, "      <PointData>\n");
    declare(f, "        ", &speed, &end);
    mo_file_print(f, "      </PointData>\n      <CellData>\n");
    declare(f, "        ", &ratio, &end);
    declare(f, "        ", &stress, &end);
    mo_file_print(f, "      </CellData>\n      <Points>\n");
    declare(f, "        ", &points, &end);
    mo_file_print(f, "      </Points>\n      <Cells>\n");
    declare(f, "        ", &vertices, &end);
    declare(f, "        ", &offsets, &end);
    declare(f, "        ", &types, &end);
    mo_file_print(f, "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
    append_floats(f, &speed, e->velocity);
    append_floats(f, &ratio, e->volume_ratio);
    append_floats(f, &stress, e->von_mises);
    append_floats(f, &points, e->position);
    append(f, &vertices, e->element);
    append_range(f, &offsets, (int32_t)corners, (int32_t)corners);
    append_same(f, &types, e->dimension == 3 ? TETRAHEDRON : TRIANGLE);
    mo_file_print(f, "\n  </AppendedData>\n</VTKFile>\n");
    return mo_file_commit(f, err);
}

mo_status mo_write_pvd(const char *path, const char *prefix, const char *extension, int32_t frames, double fps,
                       mo_error *err)
{
    MO_ASSERT(frames >= 0 && fps > 0);
    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                     "byte_order=\"LittleEndian\">\n  <Collection>\n");
    for (int32_t i = 0; i < frames; i++) {
        char time[32];
        mo_format_double(i / fps, time);
        mo_file_print(f, "    <DataSet timestep=\"%s\" part=\"0\" file=\"%s_%05d.%s\"/>\n", time, prefix, i, extension);
    }
    mo_file_print(f, "  </Collection>\n</VTKFile>\n");
    return mo_file_commit(f, err);
}

mo_status mo_write_series(const char *path, const char *prefix, const char *extension, int32_t frames, double fps,
                          mo_error *err)
{
    MO_ASSERT(frames >= 0 && fps > 0);
    mo_file *f;
    MO_TRY(mo_file_create(path, &f, err));
    mo_file_print(f, "{\"file-series-version\":\"1.0\",\"files\":[");
    for (int32_t i = 0; i < frames; i++) {
        char time[32];
        mo_format_double(i / fps, time);
        mo_file_print(f, "%s\n{\"name\":\"%s_%05d.%s\",\"time\":%s}", i ? "," : "", prefix, i, extension, time);
    }
    mo_file_print(f, "\n]}\n");
    return mo_file_commit(f, err);
}
