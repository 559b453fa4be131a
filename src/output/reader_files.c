// Binary PLY and VTP as writers.h leaves them. Counts are checked against the file's length before anything is
// allocated, indices and coordinates before they are handed out.
#include "output/reader_files.h"
#include "output/file.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct span {
    const char *data, *end;
} span;

static bool all_finite(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

// ---- PLY ----

typedef struct ply_header {
    int32_t vertices, triangles;
    bool normals, velocities, stress;
} ply_header;

// The line at the cursor is `text`: steps over it.
static bool eat(span *s, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(s->end - s->data) < length || memcmp(s->data, text, length) != 0) return false;
    s->data += length;
    return true;
}

// "element vertex 42\n"
static bool eat_count(span *s, const char *words, int32_t *count)
{
    if (!eat(s, words)) return false;
    int64_t n = 0;
    const char *start = s->data;
    for (; s->data < s->end && *s->data >= '0' && *s->data <= '9'; s->data++) {
        n = 10 * n + (*s->data - '0');
        if (n > INT32_MAX) return false;
    }
    *count = (int32_t)n;
    return s->data > start && eat(s, "\n");
}

static bool ply_read_header(span *s, ply_header *h)
{
    if (!eat(s, "ply\nformat binary_little_endian 1.0\n")) return false;
    while (eat(s, "comment ")) {
        const char *line = memchr(s->data, '\n', (size_t)(s->end - s->data));
        if (!line) return false;
        s->data = line + 1;
    }
    if (!eat_count(s, "element vertex ", &h->vertices)) return false;
    if (!eat(s, "property float x\nproperty float y\nproperty float z\n")) return false;
    h->normals = eat(s, "property float nx\nproperty float ny\nproperty float nz\n");
    h->velocities = eat(s, "property float vx\nproperty float vy\nproperty float vz\n");
    h->stress = eat(s, "property float von_mises\n");
    if (!eat_count(s, "element face ", &h->triangles)) return false;
    return eat(s, "property list uchar int vertex_indices\nend_header\n");
}

enum { FACE_BYTES = 1 + 3 * sizeof(int32_t) };

static bool ply_fill(span s, const ply_header *h, mo_mesh *mesh, float *stress)
{
    float *const array[] = {mesh->position, mesh->normal, mesh->velocity, stress};
    const int width[] = {3, 3, 3, 1};
    for (int64_t i = 0; i < h->vertices; i++)
        for (int k = 0; k < 4; k++) {
            if (!array[k]) continue;
            memcpy(array[k] + width[k] * i, s.data, (size_t)width[k] * sizeof(float));
            s.data += (size_t)width[k] * sizeof(float);
        }
    for (int64_t i = 0; i < h->triangles; i++, s.data += FACE_BYTES) {
        int32_t *corner = mesh->triangle + 3 * i;
        memcpy(corner, s.data + 1, 3 * sizeof(int32_t));
        if (s.data[0] != 3) return false;
        for (int k = 0; k < 3; k++)
            if (corner[k] < 0 || corner[k] >= h->vertices) return false;
    }
    for (int k = 0; k < 4; k++)
        if (array[k] && !all_finite(array[k], width[k] * (int64_t)h->vertices)) return false;
    return true;
}

static mo_status ply_parse(const char *path, span s, mo_mesh *out, float **stress, mo_error *err)
{
    ply_header h = {0};
    if (!ply_read_header(&s, &h)) return mo_fail(err, MO_ERROR_FILE, "%s: not a PLY file of a run", path);
    int64_t vertex_bytes = (3 + 3 * h.normals + 3 * h.velocities + h.stress) * (int64_t)sizeof(float);
    if (s.end - s.data != h.vertices * vertex_bytes + h.triangles * (int64_t)FACE_BYTES)
        return mo_fail(err, MO_ERROR_FILE, "%s: cut short or damaged (%d vertices and %d triangles announced)", path,
                       h.vertices, h.triangles);
    mo_mesh mesh = {.vertex_count = h.vertices, .triangle_count = h.triangles};
    mesh.position = mo_alloc(3 * sizeof(float) * (size_t)h.vertices + 1);
    mesh.normal = h.normals ? mo_alloc(3 * sizeof(float) * (size_t)h.vertices + 1) : NULL;
    mesh.velocity = h.velocities ? mo_alloc(3 * sizeof(float) * (size_t)h.vertices + 1) : NULL;
    mesh.triangle = mo_alloc(3 * sizeof(int32_t) * (size_t)h.triangles + 1);
    float *values = h.stress ? mo_alloc(sizeof(float) * (size_t)h.vertices + 1) : NULL;
    mo_status status = MO_OK;
    if (!mesh.position || !mesh.triangle || (h.normals && !mesh.normal) || (h.velocities && !mesh.velocity) ||
        (h.stress && !values))
        status = mo_fail_memory(err);
    else if (!ply_fill(s, &h, &mesh, values))
        status = mo_fail(err, MO_ERROR_FILE, "%s: damaged: indices or coordinates make no sense", path);
    if (status != MO_OK || !stress) {
        mo_free(values);
        values = NULL;
    }
    if (status != MO_OK)
        mo_mesh_destroy(&mesh);
    else
        *out = mesh;
    if (stress) *stress = values;
    return status;
}

mo_status mo_read_skin(const char *path, mo_mesh *out, float **von_mises, mo_error *err)
{
    *out = (mo_mesh){0};
    if (von_mises) *von_mises = NULL;
    char *data;
    size_t bytes;
    MO_TRY(mo_file_read(path, &data, &bytes, NULL, err));
    mo_status status = ply_parse(path, (span){data, data + bytes}, out, von_mises, err);
    mo_free(data);
    return status;
}

mo_status mo_read_ply(const char *path, mo_mesh *out, mo_error *err) { return mo_read_skin(path, out, NULL, err); }

// ---- VTP ----

// The number behind `name="` inside an XML tag that starts at `tag`.
static bool attribute(const char *tag, const char *name, uint64_t *value)
{
    const char *end = strchr(tag, '>'), *at = strstr(tag, name);
    return end && at && at < end && sscanf(at + strlen(name), "=\"%lu\"", value) == 1;
}

// Copies the appended array called `name` of `bytes` bytes. False: no such array, or not that long.
static bool vtp_array(const char *header, span raw, const char *name, uint64_t bytes, float *out)
{
    char words[64];
    snprintf(words, sizeof words, "type=\"Float32\" Name=\"%s\"", name);
    const char *tag = strstr(header, words);
    uint64_t offset = 0, length = 0, room = (uint64_t)(raw.end - raw.data);
    if (!tag || !attribute(tag, "offset", &offset) || offset > room || room - offset < sizeof length) return false;
    memcpy(&length, raw.data + offset, sizeof length);
    if (length != bytes || room - offset - sizeof length < bytes) return false;
    memcpy(out, raw.data + offset + sizeof length, bytes);
    return true;
}

// The values of an optional array: absent is fine, damaged is not.
static bool vtp_optional(const char *header, span raw, const char *name, int64_t count, float **out)
{
    char words[64];
    snprintf(words, sizeof words, "Name=\"%s\"", name);
    if (!strstr(header, words)) {
        mo_free(*out);
        *out = NULL;
        return true;
    }
    return vtp_array(header, raw, name, (uint64_t)count * sizeof(float), *out) && all_finite(*out, count);
}

static mo_status vtp_parse(const char *path, char *data, size_t bytes, mo_points *out, mo_error *err)
{
    static const char mark[] = "<AppendedData encoding=\"raw\">";
    char *raw = memmem(data, bytes, mark, sizeof mark - 1), *end = data + bytes;
    char *first = raw ? memchr(raw, '_', (size_t)(end - raw)) : NULL;
    uint64_t count = 0;
    if (first) *raw = 0; // the header becomes a string
    const char *piece = first ? strstr(data, "<Piece ") : NULL;
    if (!piece || !attribute(piece, "NumberOfPoints", &count) || count > bytes / (3 * sizeof(float)))
        return mo_fail(err, MO_ERROR_FILE, "%s: not a VTP file of a run, or cut short", path);
    span body = {first + 1, end};
    int64_t n = (int64_t)count;
    mo_points p = {n, mo_alloc(12 * count + 1), mo_alloc(12 * count + 1), mo_alloc(4 * count + 1),
                   mo_alloc(4 * count + 1)};
    mo_status status = MO_OK;
    if (!p.position || !p.velocity || !p.volume || !p.viscosity)
        status = mo_fail_memory(err);
    else if (!vtp_array(data, body, "Points", 12 * count, p.position) || !all_finite(p.position, 3 * n) ||
             !vtp_optional(data, body, "velocity", 3 * n, &p.velocity) ||
             !vtp_optional(data, body, "volume", n, &p.volume) ||
             !vtp_optional(data, body, "viscosity", n, &p.viscosity))
        status = mo_fail(err, MO_ERROR_FILE, "%s: cut short or damaged (%lld points announced)", path, (long long)n);
    if (status != MO_OK)
        mo_points_destroy(&p);
    else
        *out = p;
    return status;
}

mo_status mo_read_vtp(const char *path, mo_points *out, mo_error *err)
{
    *out = (mo_points){0};
    char *data;
    size_t bytes;
    MO_TRY(mo_file_read(path, &data, &bytes, NULL, err));
    mo_status status = vtp_parse(path, data, bytes, out, err);
    mo_free(data);
    return status;
}

void mo_points_destroy(mo_points *points)
{
    mo_free(points->position);
    mo_free(points->velocity);
    mo_free(points->volume);
    mo_free(points->viscosity);
    *points = (mo_points){0};
}
