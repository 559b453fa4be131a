// Marching cubes. Every brick is turned into vertices and triangles of its own in parallel; then the bricks are joined
// in order, vertices on brick boundaries being found again by their lattice edge.
#include "geometry/surface.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "geometry/brick_mesh.h"
#include "geometry/cube_table.h"
#include <omp.h>
#include <string.h>

// Vertices keep this share of a lattice edge away from its ends, so that no triangle collapses.
static const float MARGIN = 1e-4f;
enum { AXIS_BITS = 20 }; // of a lattice coordinate in a key

typedef struct vertex {
    uint64_t key; // lattice edge; MO_KEY_SHARED: may be shared with another brick
    float x[3];
    int32_t id; // in the output
} vertex;

// One thread's output and scratch.
typedef struct worker {
    vertex *vertices;
    int32_t (*triangles)[3]; // vertices of the brick
    int64_t vertex_count, triangle_count, vertex_capacity, triangle_capacity;
    float *sample;
    uint8_t *inside;
    int32_t *edge_vertex; // 3 per sample, -1 = none yet
    bool failed;
} worker;

typedef struct piece { // what a brick gave
    int32_t worker, vertices, triangles;
    int64_t first_vertex, first_triangle;
} piece;

typedef struct job {
    const mo_bricks *bricks;
    int32_t low[3]; // smallest lattice coordinate
    worker *workers;
    int32_t worker_count;
    piece *pieces;
    mo_cube_table table;
} job;

static bool worker_prepare(worker *w, int32_t side)
{
    size_t samples = (size_t)side * (size_t)side * (size_t)side;
    w->sample = mo_alloc(samples * sizeof(float));
    w->inside = mo_alloc(samples);
    w->edge_vertex = mo_alloc(3 * samples * sizeof(int32_t));
    return w->sample && w->inside && w->edge_vertex;
}

static void job_free(job *j)
{
    for (int32_t i = 0; j->workers && i < j->worker_count; i++) {
        worker *w = &j->workers[i];
        mo_free(w->vertices);
        mo_free(w->triangles);
        mo_free(w->sample);
        mo_free(w->inside);
        mo_free(w->edge_vertex);
    }
    mo_free(j->workers);
    mo_free(j->pieces);
}

// The vertex on the edge of axis a that starts at sample c of the brick.
static int32_t edge_vertex(const job *j, worker *w, int32_t brick, const int32_t c[3], int axis, int64_t first)
{
    const mo_bricks *b = j->bricks;
    int32_t side = b->edge + 1, i = c[0] + side * (c[1] + side * c[2]);
    int32_t step = axis == 0 ? 1 : axis == 1 ? side : side * side;
    int32_t *known = &w->edge_vertex[3 * i + axis];
    if (*known >= 0) return *known;
    float t = w->sample[i] / (w->sample[i] - w->sample[i + step]);
    t = fminf(fmaxf(t, MARGIN), 1 - MARGIN); // a NaN ends at the margin
    vertex *v = &w->vertices[w->vertex_count];
    double origin[3] = {b->origin.x, b->origin.y, b->origin.z};
    v->key = (uint64_t)axis;
    bool shared = false;
    for (int a = 0; a < 3; a++) {
        int32_t lattice = b->lo[brick][a] + c[a];
        v->x[a] = (float)(origin[a] + b->spacing * (lattice + (a == axis ? (double)t : 0)));
        v->key = v->key << AXIS_BITS | (uint64_t)(lattice - j->low[a]);
        shared = shared || (a != axis && (c[a] == 0 || c[a] == b->edge));
    }
    if (shared) v->key |= MO_KEY_SHARED;
    *known = (int32_t)(w->vertex_count - first);
    w->vertex_count++;
    return *known;
}

static bool classify(worker *w, int32_t samples)
{
    int32_t inside = 0;
    for (int32_t i = 0; i < samples; i++) {
        w->inside[i] = w->sample[i] < 0;
        inside += w->inside[i];
    }
    return inside > 0 && inside < samples;
}

static void march_cube(const job *j, worker *w, int32_t brick, const int32_t c[3], int pattern, int64_t first)
{
    MO_ASSERT(pattern > 0 && pattern < 255);
    int32_t id[MO_CUBE_EDGES];
    for (int e = 0; e < MO_CUBE_EDGES; e++) {
        int corner = j->table.corner[e];
        if ((pattern >> corner & 1) == (pattern >> (corner | 1 << e / 4) & 1)) continue;
        int32_t low[3] = {c[0] + (corner & 1), c[1] + (corner >> 1 & 1), c[2] + (corner >> 2)};
        id[e] = edge_vertex(j, w, brick, low, e / 4, first);
    }
    const int8_t *edge = j->table.edge[pattern];
    for (int t = 0; t < j->table.count[pattern]; t++, w->triangle_count++)
        for (int k = 0; k < 3; k++) w->triangles[w->triangle_count][k] = id[edge[3 * t + k]];
}

static void march_brick(const job *j, worker *w, int32_t brick)
{
    int32_t n = j->bricks->edge, side = n + 1, slice = side * side, samples = slice * side;
    j->bricks->load(j->bricks->user, brick, w->sample);
    if (!classify(w, samples)) return;
    memset(w->edge_vertex, 0xff, 3 * (size_t)samples * sizeof(int32_t));
    piece *p = &j->pieces[brick];
    p->first_vertex = w->vertex_count;
    p->first_triangle = w->triangle_count;
    for (int32_t z = 0; z < n; z++)
        for (int32_t y = 0; y < n; y++) {
            // Room for a row of cubes, whatever the signs.
            if (!mo_reserve((void **)&w->vertices, &w->vertex_capacity, w->vertex_count + MO_CUBE_EDGES * n,
                            sizeof(vertex)) ||
                !mo_reserve((void **)&w->triangles, &w->triangle_capacity, w->triangle_count + MO_CUBE_TRIANGLES * n,
                            sizeof(int32_t[3]))) {
                w->failed = true;
                return;
            }
            const uint8_t *s = w->inside + side * (y + side * z);
            int high = s[0] << 1 | s[side] << 3 | s[slice] << 5 | s[slice + side] << 7; // x + 1 side of the cube before
            for (int32_t x = 0; x < n; x++) {
                const uint8_t *q = s + x + 1;
                int pattern = high >> 1;
                high = q[0] << 1 | q[side] << 3 | q[slice] << 5 | q[slice + side] << 7;
                pattern |= high;
                int32_t c[3] = {x, y, z};
                if (pattern != 0 && pattern != 255) march_cube(j, w, brick, c, pattern, p->first_vertex);
            }
        }
    p->worker = (int32_t)(w - j->workers);
    p->vertices = (int32_t)(w->vertex_count - p->first_vertex);
    p->triangles = (int32_t)(w->triangle_count - p->first_triangle);
}

static mo_status march_bricks(job *j, mo_error *err)
{
    j->worker_count = mo_thread_count();
    j->workers = mo_calloc(sizeof(worker) * (size_t)j->worker_count);
    j->pieces = mo_calloc(sizeof(piece) * (size_t)j->bricks->count);
    if (!j->workers || !j->pieces) return mo_fail_memory(err);
#pragma omp parallel num_threads(j->worker_count)
    {
        worker *w = &j->workers[omp_get_thread_num()];
        w->failed = !worker_prepare(w, j->bricks->edge + 1);
#pragma omp for schedule(dynamic, 8)
        for (int32_t b = 0; b < j->bricks->count; b++)
            if (!w->failed) march_brick(j, w, b);
    }
    for (int32_t i = 0; i < j->worker_count; i++)
        if (j->workers[i].failed) return mo_fail_memory(err);
    return MO_OK;
}

// Numbers the vertices brick by brick and copies their positions; then the triangles.
static void join_pieces(const job *j, mo_key_map *map, mo_mesh *out)
{
    int32_t vertices = 0, triangles = 0;
    for (int32_t b = 0; b < j->bricks->count; b++) {
        const piece *p = &j->pieces[b];
        if (p->vertices == 0) continue;
        const worker *w = &j->workers[p->worker];
        vertex *v = w->vertices + p->first_vertex;
        for (int32_t i = 0; i < p->vertices; i++) {
            v[i].id = v[i].key & MO_KEY_SHARED ? mo_key_map_put(map, v[i].key, vertices) : vertices;
            if (v[i].id < vertices) continue;
            memcpy(out->position + 3 * (int64_t)vertices, v[i].x, sizeof v[i].x);
            vertices++;
        }
        for (int32_t t = 0; t < p->triangles; t++, triangles++)
            for (int k = 0; k < 3; k++)
                out->triangle[3 * (int64_t)triangles + k] = v[w->triangles[p->first_triangle + t][k]].id;
    }
    out->vertex_count = vertices;
    out->triangle_count = triangles;
}

static void add_normals(mo_mesh *m)
{
    memset(m->normal, 0, sizeof(float) * 3 * (size_t)m->vertex_count);
    for (int32_t t = 0; t < m->triangle_count; t++) {
        const int32_t *c = m->triangle + 3 * (int64_t)t;
        const float *a = m->position + 3 * (int64_t)c[0], *b = m->position + 3 * (int64_t)c[1],
                    *d = m->position + 3 * (int64_t)c[2];
        mo_vec3 n =
            mo_cross(mo_v3(b[0] - a[0], b[1] - a[1], b[2] - a[2]), mo_v3(d[0] - a[0], d[1] - a[1], d[2] - a[2]));
        for (int k = 0; k < 3; k++) {
            float *normal = m->normal + 3 * (int64_t)c[k];
            normal[0] += (float)n.x, normal[1] += (float)n.y, normal[2] += (float)n.z;
        }
    }
#pragma omp parallel for
    for (int32_t v = 0; v < m->vertex_count; v++) {
        float *n = m->normal + 3 * (int64_t)v;
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        if (length > 0)
            n[0] /= length, n[1] /= length, n[2] /= length;
        else
            n[1] = 1;
    }
}

static mo_status join(const job *j, mo_mesh *out, mo_error *err)
{
    int64_t vertices = 0, triangles = 0, shared = 0;
    for (int32_t i = 0; i < j->worker_count; i++) {
        const worker *w = &j->workers[i];
        vertices += w->vertex_count;
        triangles += w->triangle_count;
        for (int64_t v = 0; v < w->vertex_count; v++) shared += (w->vertices[v].key & MO_KEY_SHARED) != 0;
    }
    MO_TRY(mo_mesh_make_room(vertices, triangles, out, err));
    mo_key_map map = {0};
    bool enough = mo_key_map_create(&map, shared);
    if (enough) {
        join_pieces(j, &map, out);
        add_normals(out);
    }
    mo_key_map_destroy(&map);
    return enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_marching_cubes(const mo_bricks *bricks, mo_mesh *out, mo_error *err)
{
    MO_ASSERT(bricks->count >= 0 && bricks->edge > 0 && bricks->spacing > 0);
    *out = (mo_mesh){0};
    job *j = mo_calloc(sizeof *j);
    if (!j) return mo_fail_memory(err);
    j->bricks = bricks;
    mo_cube_table_make(&j->table);
    const int32_t edge[3] = {bricks->edge, bricks->edge, bricks->edge};
    mo_status status = mo_bricks_low(bricks->count, bricks->lo, edge, AXIS_BITS, j->low, err);
    if (status == MO_OK) status = march_bricks(j, err);
    if (status == MO_OK) status = join(j, out, err);
    if (status != MO_OK) mo_mesh_destroy(out);
    job_free(j);
    mo_free(j);
    return status;
}
