// Elastic bodies: the data that a body takes from its mesh.
#include "solid/elastic.h"
#include "base/matrix3.h"
#include "solid/cloth.h"
#include <stdlib.h>
#include <string.h>

void mo_elastic_destroy(mo_elastic_body *b)
{
    mo_free(b->corner), mo_free(b->gradient), mo_free(b->volume), mo_free(b->mass);
    mo_free(b->rest), mo_free(b->position), mo_free(b->velocity);
    mo_free(b->first), mo_free(b->use), mo_free(b->start), mo_free(b->near), mo_free(b->place);
    mo_cloth_destroy(b->cloth);
    *b = (mo_elastic_body){0};
}

// Volume and gradients of one simplex at rest: the rows of the inverse of its edges, g_0 = -(g_1 + g_2 + ...).
static void measure_element(mo_elastic_body *b, int32_t e, double depth)
{
    int d = b->dimension;
    const int32_t *c = b->corner + (int64_t)e * (d + 1);
    double *g = b->gradient + (int64_t)e * (d + 1) * 3, E[3][3] = {{0}, {0}, {0, 0, 1}}, C[3][3];
    for (int k = 0; k < d; k++) {
        mo_vec3 edge = mo_sub(b->rest[c[k + 1]], b->rest[c[0]]);
        E[0][k] = edge.x, E[1][k] = edge.y;
        if (d == 3) E[2][k] = edge.z;
    }
    double J = mo_det3(E);
    mo_cofactor3(E, C);
    b->volume[e] = d == 3 ? J / 6 : J / 2 * depth;
    memset(g, 0, sizeof(double) * 3);
    for (int k = 1; k <= d; k++)
        for (int i = 0; i < 3; i++) {
            g[3 * k + i] = i < d ? C[i][k - 1] / J : 0;
            g[i] -= g[3 * k + i];
        }
}

// Every corner gets an equal part of its elements' masses.
static void lump_mass(mo_elastic_body *b)
{
    int corners = b->dimension + 1;
    for (int32_t v = 0; v < b->vertices; v++)
        for (int32_t k = b->first[v]; k < b->first[v + 1]; k++)
            b->mass[v] += b->density * b->volume[b->use[k] / corners] / corners;
}

static void list_uses(mo_elastic_body *b)
{
    int32_t count = b->elements * b->corners;
    for (int32_t k = 0; k < count; k++)
        if (b->corner[k] >= 0) b->first[b->corner[k] + 1]++;
    for (int32_t v = 0; v < b->vertices; v++) b->first[v + 1] += b->first[v];
    for (int32_t k = 0; k < count; k++)
        if (b->corner[k] >= 0) b->use[b->first[b->corner[k]]++] = k;
    memmove(b->first + 1, b->first, sizeof(int32_t) * (size_t)b->vertices);
    b->first[0] = 0;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The corners of all elements about v, sorted, each once; at most `use` * corners of them.
static int32_t list_near(const mo_elastic_body *b, int32_t v, int32_t *out)
{
    int32_t n = 0, kept = 0;
    for (int32_t k = b->first[v]; k < b->first[v + 1]; k++) {
        const int32_t *c = b->corner + b->use[k] / b->corners * b->corners;
        for (int l = 0; l < b->corners; l++)
            if (c[l] >= 0) out[n++] = c[l];
    }
    qsort(out, (size_t)n, sizeof *out, ascending);
    for (int32_t k = 0; k < n; k++)
        if (k == 0 || out[k] != out[k - 1]) out[kept++] = out[k];
    return kept;
}

static mo_status list_neighbours(mo_elastic_body *b)
{
    int32_t most = 0;
    for (int32_t v = 0; v < b->vertices; v++) {
        int32_t n = b->corners * (b->first[v + 1] - b->first[v]);
        if (n > most) most = n;
    }
    int32_t *found = mo_alloc(sizeof(int32_t) * (size_t)(most + 1));
    if (!found) return MO_ERROR_MEMORY;
    for (int32_t v = 0; v < b->vertices; v++) b->start[v + 1] = b->start[v] + list_near(b, v, found);
    b->near = mo_alloc(sizeof(int32_t) * (size_t)(b->start[b->vertices] + 1));
    for (int32_t v = 0; b->near && v < b->vertices; v++) {
        int32_t n = list_near(b, v, found);
        memcpy(b->near + b->start[v], found, sizeof(int32_t) * (size_t)n);
    }
    mo_free(found);
    return b->near ? MO_OK : MO_ERROR_MEMORY;
}

static void find_places(mo_elastic_body *b)
{
    int corners = b->corners;
    for (int32_t e = 0; e < b->elements; e++)
        for (int k = 0; k < corners; k++)
            for (int l = 0; l < corners; l++) {
                int32_t v = b->corner[e * corners + k], w = b->corner[e * corners + l];
                if (v < 0 || w < 0) continue;
                int32_t at = b->start[v];
                while (b->near[at] != w) at++;
                b->place[((int64_t)e * corners + k) * corners + l] = at - b->start[v];
            }
}

mo_status mo_elastic_connect(mo_elastic_body *b)
{
    MO_ASSERT(b->corners <= MO_MOST_CORNERS);
    list_uses(b);
    MO_TRY(list_neighbours(b));
    find_places(b);
    return MO_OK;
}

bool mo_elastic_allocate(mo_elastic_body *b)
{
    size_t v = (size_t)b->vertices, e = (size_t)b->elements, c = (size_t)b->corners;
    b->corner = mo_alloc(sizeof(int32_t) * e * c), b->gradient = mo_alloc(sizeof(double) * e * c * 3);
    b->volume = mo_alloc(sizeof(double) * e), b->mass = mo_calloc(sizeof(double) * v);
    b->rest = mo_alloc(sizeof(mo_vec3) * v), b->position = mo_alloc(sizeof(mo_vec3) * v);
    b->velocity = mo_calloc(sizeof(mo_vec3) * v);
    b->first = mo_calloc(sizeof(int32_t) * (v + 1)), b->use = mo_alloc(sizeof(int32_t) * e * c);
    b->start = mo_calloc(sizeof(int32_t) * (v + 1)), b->place = mo_alloc(sizeof(int32_t) * e * c * c);
    return b->corner && b->gradient && b->volume && b->mass && b->rest && b->position && b->velocity && b->first &&
           b->use && b->start && b->place;
}

mo_status mo_elastic_create(const mo_tets *mesh, const mo_elasticity *elasticity, double density, double depth,
                            mo_elastic_body *out)
{
    *out = (mo_elastic_body){.dimension = mesh->dimension,
                             .vertices = mesh->vertex_count,
                             .elements = mesh->element_count,
                             .corners = mesh->dimension + 1,
                             .elasticity = *elasticity,
                             .density = density};
    mo_status status = mo_elastic_allocate(out) ? MO_OK : MO_ERROR_MEMORY;
    if (status == MO_OK) {
        memcpy(out->corner, mesh->element, sizeof(int32_t) * (size_t)out->elements * (size_t)out->corners);
        for (int32_t v = 0; v < out->vertices; v++)
            out->rest[v] = out->position[v] =
                mo_v3(mesh->position[3 * v], mesh->position[3 * v + 1], mesh->position[3 * v + 2]);
        for (int32_t e = 0; e < out->elements; e++) measure_element(out, e, depth);
        status = mo_elastic_connect(out);
    }
    if (status == MO_OK)
        lump_mass(out);
    else
        mo_elastic_destroy(out);
    return status;
}

void mo_elastic_deformation(const mo_elastic_body *b, const mo_vec3 *x, int32_t element, double F[3][3])
{
    int corners = b->dimension + 1;
    const int32_t *c = b->corner + (int64_t)element * corners;
    const double *g = b->gradient + (int64_t)element * corners * 3;
    memset(F, 0, sizeof(double) * 9);
    for (int k = 0; k < corners; k++)
        for (int j = 0; j < b->dimension; j++) {
            F[0][j] += x[c[k]].x * g[3 * k + j], F[1][j] += x[c[k]].y * g[3 * k + j];
            if (b->dimension == 3) F[2][j] += x[c[k]].z * g[3 * k + j];
        }
    if (b->dimension == 2) F[2][2] = 1;
}

mo_elastic_sums mo_elastic_measure(const mo_elastic_body *b)
{
    mo_elastic_sums s = {.least = INFINITY};
    for (int32_t v = 0; v < b->vertices; v++) {
        s.mass += b->mass[v];
        s.centre = mo_mad(s.centre, b->mass[v], b->position[v]);
        s.momentum = mo_mad(s.momentum, b->mass[v], b->velocity[v]);
        s.kinetic += 0.5 * b->mass[v] * mo_dot(b->velocity[v], b->velocity[v]);
    }
    if (s.mass > 0) s.centre = mo_mul(1 / s.mass, s.centre);
    for (int32_t v = 0; v < b->vertices; v++)
        s.angular_momentum =
            mo_mad(s.angular_momentum, b->mass[v], mo_cross(mo_sub(b->position[v], s.centre), b->velocity[v]));
    if (b->cloth) {
        mo_cloth_sums own = mo_cloth_measure(b, b->position);
        s.elastic = own.stretching + own.bending + own.cords, s.least = 1;
    }
    for (int32_t e = 0; e < b->elements && !b->cloth; e++) {
        double F[3][3];
        mo_elastic_deformation(b, b->position, e, F);
        double J = mo_det3(F);
        s.elastic += b->volume[e] * mo_elasticity_energy(&b->elasticity, F);
        s.least = fmin(s.least, J), s.inverted += !(J > 0);
    }
    return s;
}

const char *mo_elastic_fault(const mo_elastic_body *b)
{
    for (int32_t v = 0; v < b->vertices; v++) {
        if (!mo_v3_finite(b->position[v]) || !mo_v3_finite(b->velocity[v])) return "a vertex that is not a number";
        if (!(b->mass[v] > 0)) return "a vertex without mass";
    }
    for (int32_t e = 0; e < b->elements; e++)
        if (!(b->volume[e] > 0)) return "an element without volume";
    return NULL;
}
