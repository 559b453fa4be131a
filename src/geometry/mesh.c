// Meshes: files through Assimp, copies, bounds, and welding.
#include "geometry/mesh.h"
#include "base/parallel.h"
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

void mo_mesh_destroy(mo_mesh *mesh)
{
    if (!mesh) return;
    mo_free(mesh->position);
    mo_free(mesh->normal);
    mo_free(mesh->velocity);
    mo_free(mesh->triangle);
    *mesh = (mo_mesh){0};
}

static mo_status allocate(mo_mesh *m, int64_t vertices, int64_t triangles, mo_error *err)
{
    *m = (mo_mesh){.vertex_count = (int32_t)vertices, .triangle_count = (int32_t)triangles};
    m->position = mo_alloc(sizeof(float) * 3 * (size_t)vertices);
    m->triangle = mo_alloc(sizeof(int32_t) * 3 * (size_t)triangles);
    if (m->position && m->triangle) return MO_OK;
    mo_mesh_destroy(m);
    return mo_fail_memory(err);
}

mo_status mo_mesh_copy(const mo_mesh *mesh, mo_mesh *out, mo_error *err)
{
    MO_TRY(allocate(out, mesh->vertex_count, mesh->triangle_count, err));
    memcpy(out->position, mesh->position, sizeof(float) * 3 * (size_t)mesh->vertex_count);
    memcpy(out->triangle, mesh->triangle, sizeof(int32_t) * 3 * (size_t)mesh->triangle_count);
    return MO_OK;
}

static bool is_triangle(const struct aiFace *f) { return f->mNumIndices == 3; }

static mo_status copy_scene(const struct aiScene *scene, const char *path, mo_mesh *out, mo_error *err)
{
    int64_t vertices = 0, triangles = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        vertices += mesh->mNumVertices;
        for (unsigned f = 0; f < mesh->mNumFaces; f++) triangles += is_triangle(&mesh->mFaces[f]);
    }
    if (triangles == 0) return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh has no triangles", path);
    if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
        return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh is too large: %lld triangles", path, (long long)triangles);
    MO_TRY(allocate(out, vertices, triangles, err));
    float *x = out->position;
    int32_t *t = out->triangle, first = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        for (unsigned v = 0; v < mesh->mNumVertices; v++, x += 3)
            x[0] = mesh->mVertices[v].x, x[1] = mesh->mVertices[v].y, x[2] = mesh->mVertices[v].z;
        for (unsigned f = 0; f < mesh->mNumFaces; f++)
            if (is_triangle(&mesh->mFaces[f]))
                for (int k = 0; k < 3; k++) *t++ = first + (int32_t)mesh->mFaces[f].mIndices[k];
        first += (int32_t)mesh->mNumVertices;
    }
    return MO_OK;
}

// Assimp loops for ever on a PLY header without an end, and on fewer elements than the header promises.
static bool ply_is_whole(const char *head, int64_t file_bytes)
{
    const char *end = strstr(head, "end_header");
    for (const char *line = head; end && (line = strstr(line, "element ")) && line < end; line++) {
        long long count = 0;
        if (sscanf(line, "element %*s %lld", &count) == 1 && (count < 0 || count > file_bytes)) return false;
    }
    return end != NULL;
}

// What Assimp cannot say itself: files that do not open, are empty, or would keep it busy for ever.
static mo_status check_file(const char *path, mo_error *err)
{
    enum { HEAD = 1 << 16 };
    FILE *file = fopen(path, "rb");
    if (!file) return mo_fail(err, MO_ERROR_FILE, "%s: cannot open the mesh: %s", path, strerror(errno));
    char *head = mo_calloc(HEAD + 1);
    size_t length = head ? fread(head, 1, HEAD, file) : 0;
    int failure = ferror(file) || fseek(file, 0, SEEK_END) != 0 ? errno : 0;
    int64_t bytes = ftell(file);
    fclose(file);
    mo_status status = MO_OK;
    if (!head)
        status = mo_fail_memory(err);
    else if (failure)
        status = mo_fail(err, MO_ERROR_FILE, "%s: cannot read the mesh: %s", path, strerror(failure));
    else if (length == 0)
        status = mo_fail(err, MO_ERROR_INPUT, "%s: the file is empty", path);
    else if (memcmp(head, "ply", 3) == 0 && !ply_is_whole(head, bytes))
        status = mo_fail(err, MO_ERROR_INPUT, "%s: not a mesh: the PLY file is cut off", path);
    mo_free(head);
    return status;
}

mo_status mo_mesh_read(const char *path, mo_mesh *out, mo_error *err)
{
    *out = (mo_mesh){0};
    MO_TRY(check_file(path, err));
    const struct aiScene *scene =
        aiImportFile(path, aiProcess_Triangulate | aiProcess_JoinIdenticalVertices | aiProcess_PreTransformVertices);
    if (!scene) return mo_fail(err, MO_ERROR_INPUT, "%s: not a mesh: %s", path, aiGetErrorString());
    mo_status status = copy_scene(scene, path, out, err);
    aiReleaseImport(scene);
    return status;
}

mo_box3 mo_mesh_bounds(const mo_mesh *mesh)
{
    mo_box3 b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const float *x = mesh->position + 3 * (int64_t)v;
        b.lo = mo_v3(fmin(b.lo.x, x[0]), fmin(b.lo.y, x[1]), fmin(b.lo.z, x[2]));
        b.hi = mo_v3(fmax(b.hi.x, x[0]), fmax(b.hi.y, x[1]), fmax(b.hi.z, x[2]));
    }
    return b;
}

// Welding: vertices hashed by a cell twice the tolerance wide; candidates are in the (up to 8) cells within reach.
typedef struct welder {
    const float *position;
    double tolerance;
    int32_t *head, *next; // chains of kept vertices
    uint32_t mask;
} welder;

// The bucket of the cell that holds x, or (reach 0..7) of x moved by the tolerance along each axis.
static uint32_t weld_bucket(const welder *w, const float *x, int reach)
{
    MO_ASSERT(reach >= -1 && reach < 8);
    uint32_t h[3];
    for (int a = 0; a < 3; a++) {
        float exact = x[a] + 0.0f; // -0 and 0 are equal
        memcpy(&h[a], &exact, sizeof h[a]);
        if (w->tolerance == 0) continue;
        double shift = reach < 0 ? 0 : reach >> a & 1 ? w->tolerance : -w->tolerance;
        h[a] = (uint32_t)(int64_t)fmod(floor((x[a] + shift) / (2 * w->tolerance)), 4294967296.0);
    }
    return mo_hash(h[0], h[1], h[2]) & w->mask;
}

static bool weld_match(const welder *w, const float *x, int32_t v)
{
    const float *y = w->position + 3 * (int64_t)v;
    double dx = (double)x[0] - y[0], dy = (double)x[1] - y[1], dz = (double)x[2] - y[2];
    return dx * dx + dy * dy + dz * dz <= w->tolerance * w->tolerance;
}

// The kept vertex at x, or -1.
static int32_t weld_find(const welder *w, const float *x)
{
    for (int reach = 0; reach < (w->tolerance > 0 ? 8 : 1); reach++)
        for (int32_t v = w->head[weld_bucket(w, x, reach)]; v >= 0; v = w->next[v])
            if (weld_match(w, x, v)) return v;
    return -1;
}

// target[v]: the vertex that v becomes one with.
static void weld_vertices(welder *w, int32_t vertices, int32_t *target)
{
    memset(w->head, 0xff, sizeof(int32_t) * ((size_t)w->mask + 1));
    for (int32_t v = 0; v < vertices; v++) {
        const float *x = w->position + 3 * (int64_t)v;
        target[v] = weld_find(w, x);
        if (target[v] >= 0) continue;
        uint32_t bucket = weld_bucket(w, x, -1);
        target[v] = v;
        w->next[v] = w->head[bucket];
        w->head[bucket] = v;
    }
}

static void weld_triangles(mo_mesh *mesh, const int32_t *target)
{
    int32_t kept = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *c = mesh->triangle + 3 * (int64_t)t;
        int32_t a = target[c[0]], b = target[c[1]], d = target[c[2]];
        if (a == b || b == d || d == a) continue;
        int32_t *to = mesh->triangle + 3 * (int64_t)kept++;
        to[0] = a, to[1] = b, to[2] = d;
    }
    mesh->triangle_count = kept;
}

// Renumbers the vertices in use without gaps. place: work of vertex_count entries.
static void drop_unused(mo_mesh *mesh, int32_t *place)
{
    memset(place, 0, sizeof(int32_t) * (size_t)mesh->vertex_count);
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++) place[mesh->triangle[i]] = 1;
    int32_t kept = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (!place[v]) continue;
        memmove(mesh->position + 3 * (int64_t)kept, mesh->position + 3 * (int64_t)v, 3 * sizeof(float));
        place[v] = kept++;
    }
    for (int64_t i = 0; i < 3 * (int64_t)mesh->triangle_count; i++) mesh->triangle[i] = place[mesh->triangle[i]];
    mesh->vertex_count = kept;
}

mo_status mo_mesh_weld(mo_mesh *mesh, double tolerance, mo_error *err)
{
    MO_ASSERT(tolerance >= 0);
    size_t buckets = 16, vertices = (size_t)mesh->vertex_count;
    while (buckets < 2 * vertices) buckets *= 2;
    welder w = {mesh->position, tolerance, NULL, NULL, (uint32_t)(buckets - 1)};
    w.head = mo_alloc(buckets * sizeof(int32_t));
    w.next = mo_alloc(vertices * sizeof(int32_t));
    int32_t *target = mo_alloc(vertices * sizeof(int32_t));
    bool enough = w.head && w.next && target;
    if (enough) {
        weld_vertices(&w, mesh->vertex_count, target);
        weld_triangles(mesh, target);
        drop_unused(mesh, target);
    }
    mo_free(w.head);
    mo_free(w.next);
    mo_free(target);
    return enough ? MO_OK : mo_fail_memory(err);
}

// target[v] for all vertices: the first at the same place.
static bool find_twins(const mo_mesh *mesh, int32_t *target)
{
    size_t buckets = 16, vertices = (size_t)mesh->vertex_count;
    while (buckets < 2 * vertices) buckets *= 2;
    welder w = {mesh->position, 0, NULL, NULL, (uint32_t)(buckets - 1)};
    w.head = mo_alloc(buckets * sizeof(int32_t));
    w.next = mo_alloc(vertices * sizeof(int32_t) + 1);
    bool enough = w.head && w.next;
    if (enough) weld_vertices(&w, mesh->vertex_count, target);
    mo_free(w.head);
    mo_free(w.next);
    return enough;
}

mo_status mo_mesh_swell(mo_mesh *mesh, double distance, mo_error *err)
{
    MO_ASSERT(mesh->normal || mesh->vertex_count == 0);
    size_t vertices = (size_t)mesh->vertex_count;
    int32_t *target = mo_alloc(vertices * sizeof(int32_t) + 1);
    float *sum = mo_calloc(3 * vertices * sizeof(float) + 1);
    bool enough = target && sum && find_twins(mesh, target);
    for (size_t i = 0; enough && i < 3 * vertices; i++) sum[3 * target[i / 3] + (int32_t)(i % 3)] += mesh->normal[i];
    for (size_t i = 0; enough && i < 3 * vertices; i++)
        mesh->position[i] += (float)distance * sum[3 * target[i / 3] + (int32_t)(i % 3)];
    mo_free(target);
    mo_free(sum);
    return enough ? MO_OK : mo_fail_memory(err);
}
