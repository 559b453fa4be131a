// Looking at elastic bodies: their motion as a whole, vertices, elements, surface.
#include "base/matrix3.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

int32_t mo_sim_elastic_count(const mo_sim *sim) { return sim->elastics.count; }

// The rotation nearest to sum m (x - c) (X - C)^T, by its singular vectors.
static mo_quat best_rotation(const mo_elastic_body *b, mo_vec3 centre)
{
    double A[3][3] = {{0}}, U[3][3], s[3], V[3][3], mass = 0;
    mo_vec3 rest = {0, 0, 0};
    for (int32_t v = 0; v < b->vertices; v++) rest = mo_mad(rest, b->mass[v], b->rest[v]), mass += b->mass[v];
    rest = mo_mul(1 / mass, rest);
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 x = mo_sub(b->position[v], centre), X = mo_sub(b->rest[v], rest);
        for (int i = 0; i < b->dimension; i++)
            for (int k = 0; k < b->dimension; k++) A[i][k] += b->mass[v] * mo_get(x, i) * mo_get(X, k);
    }
    if (b->dimension == 2) A[2][2] = hypot(hypot(A[0][0], A[0][1]), hypot(A[1][0], A[1][1]));
    mo_svd3((const double(*)[3])A, U, s, V);
    mo_mat3 R = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) R.m[i][k] += U[i][l] * V[k][l];
    return mo_quat_from_matrix(R);
}

void mo_sim_elastic(const mo_sim *sim, int32_t elastic, mo_elastic_state *out)
{
    MO_ASSERT(elastic >= 0 && elastic < sim->elastics.count);
    const mo_elastic *e = &sim->elastics.body[elastic];
    const mo_elastic_body *b = &e->body;
    const mo_solid *s = &sim->solids[e->solid];
    mo_elastic_sums sums = mo_elastic_measure(b);
    *out = (mo_elastic_state){.name = s->name,
                              .dimension = b->dimension,
                              .vertex_count = b->vertices,
                              .element_count = b->elements,
                              .face_count = e->field.faces,
                              .element = b->corner,
                              .face = e->field.face,
                              .mass = sums.mass,
                              .centre = sums.centre,
                              .rotation = best_rotation(b, sums.centre),
                              .velocity = s->velocity,
                              .angular_velocity = s->angular_velocity,
                              .force = s->force,
                              .kinetic = sums.kinetic,
                              .elastic = sums.elastic,
                              .least = sums.least,
                              .inverted = sums.inverted};
}

static void copy_vectors(int32_t count, const mo_vec3 *from, double *to)
{
    for (int32_t v = 0; to && v < count; v++)
        for (int a = 0; a < 3; a++) to[3 * (int64_t)v + a] = mo_get(from[v], a);
}

void mo_sim_elastic_vertices(const mo_sim *sim, int32_t elastic, double *position, double *velocity)
{
    MO_ASSERT(elastic >= 0 && elastic < sim->elastics.count);
    const mo_elastic_body *b = &sim->elastics.body[elastic].body;
    copy_vectors(b->vertices, b->position, position);
    copy_vectors(b->vertices, b->velocity, velocity);
}

void mo_sim_elastic_elements(const mo_sim *sim, int32_t elastic, double *volume_ratio, double *von_mises)
{
    MO_ASSERT(elastic >= 0 && elastic < sim->elastics.count);
    const mo_elastic_body *b = &sim->elastics.body[elastic].body;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < b->elements; i++) {
        double F[3][3];
        mo_elastic_deformation(b, b->position, i, F);
        if (volume_ratio) volume_ratio[i] = mo_det3((const double(*)[3])F);
        if (von_mises) von_mises[i] = mo_elasticity_von_mises(&b->elasticity, (const double(*)[3])F);
    }
}

// ---- Surface ----

static bool allocate_mesh(int32_t vertices, int32_t triangles, mo_mesh *out)
{
    size_t floats = sizeof(float) * 3 * ((size_t)vertices + 1);
    *out = (mo_mesh){.vertex_count = vertices, .triangle_count = triangles};
    out->position = mo_calloc(floats), out->normal = mo_calloc(floats), out->velocity = mo_calloc(floats);
    out->triangle = mo_calloc(sizeof(int32_t) * 3 * ((size_t)triangles + 1));
    return out->position && out->normal && out->velocity && out->triangle;
}

static void put(float *to, int32_t vertex, mo_vec3 x)
{
    for (int a = 0; a < 3; a++) to[3 * (int64_t)vertex + a] = (float)mo_get(x, a);
}

// The normal of a face times its area (in 2D its length).
static mo_vec3 area_of(const mo_elastic *e, const int32_t *face)
{
    const mo_vec3 *x = e->body.position;
    mo_vec3 side = mo_sub(x[face[1]], x[face[0]]);
    if (e->body.dimension == 2) return mo_v3(side.y, -side.x, 0); // the inside is on its left
    return mo_mul(0.5, mo_cross(side, mo_sub(x[face[2]], x[face[0]])));
}

static void fill_triangles(const mo_elastic *e, const int32_t *number, int32_t layer, mo_mesh *out)
{
    for (int32_t i = 0; i < e->field.faces; i++) {
        const int32_t *face = e->field.face + (int64_t)i * e->field.dimension;
        int32_t a = number[face[0]], b = number[face[1]];
        if (e->field.dimension == 3) {
            const int32_t corner[3] = {a, b, number[face[2]]};
            memcpy(out->triangle + 3 * (int64_t)i, corner, sizeof corner);
        } else { // low z, then high z: counter-clockwise seen from the edge's right
            const int32_t corner[6] = {a, b, layer + b, a, layer + b, layer + a};
            memcpy(out->triangle + 3 * (2 * (int64_t)i), corner, sizeof corner);
        }
    }
}

mo_status mo_sim_elastic_surface(const mo_sim *sim, int32_t elastic, mo_mesh *out, mo_error *err)
{
    MO_ASSERT(elastic >= 0 && elastic < sim->elastics.count);
    const mo_elastic *e = &sim->elastics.body[elastic];
    const mo_elastic_body *b = &e->body;
    int32_t d = b->dimension, count = 0, layers = d == 2 ? 2 : 1,
            *number = mo_alloc(sizeof(int32_t) * (size_t)b->vertices);
    mo_vec3 *normal = mo_calloc(sizeof(mo_vec3) * (size_t)b->vertices);
    bool ok = number && normal;
    for (int32_t v = 0; ok && v < b->vertices; v++) number[v] = -1;
    for (int32_t i = 0; ok && i < d * e->field.faces; i++) {
        int32_t v = e->field.face[i];
        normal[v] = mo_add(normal[v], area_of(e, e->field.face + i / d * d));
        number[v] = 0;
    }
    for (int32_t v = 0; ok && v < b->vertices; v++)
        if (number[v] == 0) number[v] = count++;
    ok = ok && allocate_mesh(layers * count, (d == 2 ? 2 : 1) * e->field.faces, out);
    for (int32_t v = 0; ok && v < b->vertices; v++)
        for (int32_t k = 0; number[v] >= 0 && k < layers; k++) {
            mo_vec3 x = b->position[v];
            if (d == 2) x.z = k * sim->grid->dx;
            put(out->position, k * count + number[v], x), put(out->velocity, k * count + number[v], b->velocity[v]);
            put(out->normal, k * count + number[v], mo_normalize(normal[v]));
        }
    if (ok) fill_triangles(e, number, count, out);
    if (!ok && number && normal) mo_mesh_destroy(out);
    mo_free(number), mo_free(normal);
    return ok ? MO_OK : mo_fail_memory(err);
}
