// Bricks are cut in parallel, each into vertices and triangles of its own; then they are joined in order, so that the
// mesh is the same for any number of threads.
#include "geometry/cut_mesh.h"
#include "base/parallel.h"
#include "geometry/cut_brick.h"
#include <omp.h>
#include <string.h>

typedef struct piece { // what a brick gave
    int32_t worker, vertices, triangles;
    int64_t first_vertex, first_triangle;
} piece;

typedef struct job {
    const mo_cut_def *def;
    int32_t low[3];
    mo_cut_worker *workers;
    int32_t worker_count;
    piece *pieces;
} job;

// ---- Bricks ----

static bool worker_prepare(mo_cut_worker *w, const job *j)
{
    const int32_t *n = j->def->edge;
    size_t samples = (size_t)(n[0] + 3) * (size_t)(n[1] + 3) * (size_t)(n[2] + 3);
    w->def = j->def;
    memcpy(w->low, j->low, sizeof w->low);
    w->stride[0] = 1, w->stride[1] = n[0] + 3, w->stride[2] = (n[0] + 3) * (n[1] + 3);
    w->phi = mo_alloc(sizeof(float) * samples);
    w->solid = mo_alloc(sizeof(float) * samples);
    w->root = mo_alloc(14 * sizeof(float) * samples);
    return mo_key_map_create(&w->map, 4096) && w->phi && w->solid && w->root;
}

static void cut_brick(const job *j, mo_cut_worker *w, int32_t brick)
{
    piece *p = &j->pieces[brick];
    w->brick = brick;
    w->solids = j->def->load(j->def->user, brick, w->phi, w->solid);
    p->worker = (int32_t)(w - j->workers);
    p->first_vertex = w->first = w->vertex_count;
    p->first_triangle = w->triangle_count;
    mo_cut_brick(w);
    p->vertices = (int32_t)(w->vertex_count - p->first_vertex);
    p->triangles = (int32_t)(w->triangle_count - p->first_triangle);
}

static mo_status cut_bricks(job *j, mo_error *err)
{
    j->worker_count = mo_thread_count();
    j->workers = mo_calloc(sizeof *j->workers * (size_t)j->worker_count);
    j->pieces = mo_calloc(sizeof *j->pieces * (size_t)j->def->count + 1);
    if (!j->workers || !j->pieces) return mo_fail_memory(err);
#pragma omp parallel num_threads(j->worker_count)
    {
        mo_cut_worker *w = &j->workers[omp_get_thread_num()];
        w->failed = !worker_prepare(w, j);
#pragma omp for schedule(dynamic, 4)
        for (int32_t b = 0; b < j->def->count; b++)
            if (!w->failed) cut_brick(j, w, b);
    }
    for (int32_t i = 0; i < j->worker_count; i++)
        if (j->workers[i].failed) return mo_fail_memory(err);
    return MO_OK;
}

static void job_free(job *j)
{
    for (int32_t i = 0; j->workers && i < j->worker_count; i++) {
        mo_cut_worker *w = &j->workers[i];
        mo_free(w->phi);
        mo_free(w->solid);
        mo_free(w->root);
        mo_key_map_destroy(&w->map);
        mo_free(w->vertices);
        mo_free(w->triangles);
    }
    mo_free(j->workers);
    mo_free(j->pieces);
}

// ---- Joining ----

static void join_piece(const job *j, const piece *p, mo_key_map *map, mo_mesh *out)
{
    const mo_cut_worker *w = &j->workers[p->worker];
    MO_ASSERT(p->first_vertex + p->vertices <= w->vertex_count);
    MO_ASSERT(p->first_triangle + p->triangles <= w->triangle_count);
    mo_cut_vertex *v = w->vertices + p->first_vertex;
    for (int32_t i = 0; i < p->vertices; i++) {
        v[i].id = v[i].key & MO_KEY_SHARED ? mo_key_map_put(map, v[i].key, out->vertex_count) : out->vertex_count;
        if (v[i].id < out->vertex_count) continue;
        memcpy(out->position + 3 * (int64_t)out->vertex_count, v[i].x, sizeof v[i].x);
        memcpy(out->normal + 3 * (int64_t)out->vertex_count, v[i].normal, sizeof v[i].normal);
        out->vertex_count++;
    }
    for (int32_t t = 0; t < p->triangles; t++) {
        int32_t *corner = out->triangle + 3 * (int64_t)out->triangle_count++;
        for (int k = 0; k < 3; k++) corner[k] = v[w->triangles[p->first_triangle + t][k]].id;
    }
}

static mo_status join(const job *j, mo_mesh *out, mo_error *err)
{
    int64_t vertices = 0, triangles = 0, shared = 0;
    for (int32_t i = 0; i < j->worker_count; i++) {
        const mo_cut_worker *w = &j->workers[i];
        vertices += w->vertex_count;
        triangles += w->triangle_count;
        for (int64_t v = 0; v < w->vertex_count; v++) shared += (w->vertices[v].key & MO_KEY_SHARED) != 0;
    }
    MO_TRY(mo_mesh_make_room(vertices, triangles, out, err));
    mo_key_map map = {0};
    bool enough = mo_key_map_create(&map, shared);
    for (int32_t b = 0; enough && b < j->def->count; b++) join_piece(j, &j->pieces[b], &map, out);
    mo_key_map_destroy(&map);
    return enough ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cut_mesh(const mo_cut_def *def, mo_mesh *out, mo_error *err)
{
    MO_ASSERT(def->count >= 0 && (def->count == 0 || (def->lo && def->load && def->distance)));
    MO_ASSERT(def->spacing[0] > 0 && def->spacing[1] > 0 && def->spacing[2] > 0);
    *out = (mo_mesh){0};
    job j = {.def = def};
    mo_status status = mo_bricks_low(def->count, def->lo, def->edge, MO_CUT_AXIS_BITS, j.low, err);
    if (status == MO_OK) status = cut_bricks(&j, err);
    if (status == MO_OK) status = join(&j, out, err);
    if (status != MO_OK) mo_mesh_destroy(out);
    job_free(&j);
    return status;
}

double mo_mesh_volume(const mo_mesh *m)
{
    // About the first vertex, so that rounding does not depend on where the mesh is; triangles in order.
    double sum = 0;
    if (m->vertex_count == 0) return 0;
    const float *o = m->position;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        mo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const float *p = m->position + 3 * (int64_t)m->triangle[3 * t + k];
            x[k] = mo_v3((double)p[0] - o[0], (double)p[1] - o[1], (double)p[2] - o[2]);
        }
        sum += mo_dot(x[0], mo_cross(x[1], x[2]));
    }
    return sum / 6;
}
