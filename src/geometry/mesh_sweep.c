// Distances to a mesh of very many triangles, on a lattice.
//
// The nearest of 100,000 triangles takes long to find where many of them are nearly as near, as inside a sphere: 8 us
// per sample. So only samples within two spacings of a triangle are compared with all triangles there, which makes them
// exact. From there the nearest triangles spread: a sample is compared with those of its neighbours, in sweeps along
// the eight diagonals of the lattice, and then walks on the mesh to neighbours that are nearer. What results is the
// distance to some triangle, at least as large as to the nearest one; beyond the exact samples it is larger by a small
// part of the spacing at most. The order is fixed, so that results do not depend on threads. Time grows with the
// samples and with the triangles, not with their product.
#include "geometry/mesh.h"
#include "geometry/shape_node.h"
#include "geometry/triangle.h"
#include <float.h>
#include <math.h>

enum { NEAR = 2 }; // spacings

typedef struct sweep {
    const mo_distance_lattice *l;
    const mo_mesh *mesh;
    int32_t *nearest; // [samples] triangle, -1: none yet
} sweep;

static double distance_to(const sweep *s, int32_t triangle, mo_vec3 p)
{
    const mo_mesh *m = s->mesh;
    return mo_norm(mo_triangle_way(mo_mesh_corner(m, triangle, 0), mo_mesh_corner(m, triangle, 1),
                                   mo_mesh_corner(m, triangle, 2), p));
}

static mo_vec3 place_of(const mo_distance_lattice *l, int32_t i, int32_t j, int32_t k)
{
    return mo_v3(l->origin.x + i * l->spacing, l->origin.y + j * l->spacing, l->origin.z + k * l->spacing);
}

static void offer(sweep *s, int64_t sample, mo_vec3 p, int32_t triangle)
{
    float d = (float)distance_to(s, triangle, p);
    if (d < s->l->sample[sample]) s->l->sample[sample] = d, s->nearest[sample] = triangle;
}

// How far a point is from a box along its axes, at least; cheaper than the distance to the triangle inside.
static double beyond(mo_vec3 lo, mo_vec3 hi, mo_vec3 p)
{
    double x = fmax(fmax(lo.x - p.x, p.x - hi.x), 0), y = fmax(fmax(lo.y - p.y, p.y - hi.y), 0),
           z = fmax(fmax(lo.z - p.z, p.z - hi.z), 0);
    return sqrt(x * x + y * y + z * z);
}

// Offers a triangle to all samples round it.
static void offer_near(sweep *s, int32_t triangle)
{
    const mo_distance_lattice *l = s->l;
    mo_vec3 lo = mo_mesh_corner(s->mesh, triangle, 0), hi = lo;
    int32_t first[3], last[3];
    for (int k = 1; k < 3; k++) {
        mo_vec3 c = mo_mesh_corner(s->mesh, triangle, k);
        lo = mo_v3(fmin(lo.x, c.x), fmin(lo.y, c.y), fmin(lo.z, c.z));
        hi = mo_v3(fmax(hi.x, c.x), fmax(hi.y, c.y), fmax(hi.z, c.z));
    }
    for (int a = 0; a < 3; a++) {
        double from = (mo_get(lo, a) - mo_get(l->origin, a)) / l->spacing - NEAR,
               to = (mo_get(hi, a) - mo_get(l->origin, a)) / l->spacing + NEAR;
        first[a] = (int32_t)fmax(ceil(from), 0), last[a] = (int32_t)fmin(floor(to), l->n[a] - 1);
    }
    for (int32_t k = first[2]; k <= last[2]; k++)
        for (int32_t j = first[1]; j <= last[1]; j++)
            for (int32_t i = first[0]; i <= last[0]; i++) {
                int64_t sample = i + (int64_t)l->n[0] * (j + (int64_t)l->n[1] * k);
                mo_vec3 p = place_of(l, i, j, k);
                if (beyond(lo, hi, p) < l->sample[sample]) offer(s, sample, p, triangle);
            }
}

// Offers a sample the triangles of the seven neighbours behind it; step: +1 or -1 along each axis. A neighbour that is
// farther from its triangle than the way between them cannot have a better one.
static void take_from_behind(sweep *s, const int32_t at[3], const int32_t step[3])
{
    const mo_distance_lattice *l = s->l;
    const int64_t stride[3] = {1, l->n[0], (int64_t)l->n[0] * l->n[1]};
    int64_t sample = at[0] + stride[1] * at[1] + stride[2] * at[2];
    mo_vec3 p = place_of(l, at[0], at[1], at[2]);
    for (int side = 1; side < 8; side++) {
        int64_t other = sample;
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            if (!(side >> a & 1)) continue;
            int32_t to = at[a] - step[a];
            inside &= to >= 0 && to < l->n[a];
            other -= step[a] * stride[a];
        }
        static const double way[8] = {0, 1, 1, 1.4143, 1, 1.4143, 1.4143, 1.7321};
        if (!inside || s->nearest[other] < 0 || s->nearest[other] == s->nearest[sample]) continue;
        if (l->sample[other] - way[side] * l->spacing < l->sample[sample]) offer(s, sample, p, s->nearest[other]);
    }
}

static void sweep_along(sweep *s, const int32_t step[3])
{
    const int32_t *n = s->l->n;
    int32_t at[3];
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++)
            for (int32_t x = 0; x < n[0]; x++) {
                at[0] = step[0] > 0 ? x : n[0] - 1 - x;
                at[1] = step[1] > 0 ? y : n[1] - 1 - y;
                at[2] = step[2] > 0 ? z : n[2] - 1 - z;
                take_from_behind(s, at, step);
            }
}

// ---- Walking on the mesh ----

typedef struct fans { // triangles round each vertex
    int32_t *start;   // [vertices + 1] into `triangle`
    int32_t *triangle;
} fans;

static mo_status find_fans(const mo_mesh *m, fans *out, mo_error *err)
{
    int64_t corners = 3 * (int64_t)m->triangle_count;
    out->start = mo_calloc(sizeof(int32_t) * ((size_t)m->vertex_count + 2));
    out->triangle = mo_alloc(sizeof(int32_t) * (size_t)corners);
    if (!out->start || !out->triangle) return mo_fail_memory(err);
    for (int64_t c = 0; c < corners; c++) out->start[m->triangle[c] + 2]++;
    for (int32_t v = 0; v < m->vertex_count; v++) out->start[v + 2] += out->start[v + 1];
    for (int64_t c = 0; c < corners; c++) out->triangle[out->start[m->triangle[c] + 1]++] = (int32_t)(c / 3);
    return MO_OK;
}

// Goes to the nearest triangle that shares a corner, until none is nearer.
static void walk(sweep *s, const fans *f, int64_t sample, mo_vec3 p)
{
    for (int32_t from = -1; from != s->nearest[sample];) {
        from = s->nearest[sample];
        for (int k = 0; k < 3; k++) {
            int32_t v = s->mesh->triangle[3 * (int64_t)from + k];
            for (int32_t i = f->start[v]; i < f->start[v + 1]; i++)
                if (f->triangle[i] != from) offer(s, sample, p, f->triangle[i]);
        }
    }
}

// Samples that are exact stay.
static void walk_all(sweep *s, const fans *f)
{
    const mo_distance_lattice *l = s->l;
    int32_t rows = l->n[1] * l->n[2];
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t row = 0; row < rows; row++)
        for (int32_t i = 0; i < l->n[0]; i++) {
            int64_t sample = (int64_t)row * l->n[0] + i;
            if (l->sample[sample] < NEAR * l->spacing) continue;
            walk(s, f, sample, place_of(l, i, row % l->n[1], row / l->n[1]));
        }
}

mo_status mo_mesh_sweep_distances(mo_distance_lattice *l, const mo_mesh *mesh, mo_error *err)
{
    int64_t samples = (int64_t)l->n[0] * l->n[1] * l->n[2];
    sweep s = {l, mesh, mo_alloc(sizeof(int32_t) * (size_t)samples)};
    fans f = {0};
    mo_status status = s.nearest ? find_fans(mesh, &f, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        for (int64_t i = 0; i < samples; i++) l->sample[i] = FLT_MAX, s.nearest[i] = -1;
        for (int32_t t = 0; t < mesh->triangle_count; t++) offer_near(&s, t);
        for (int32_t way = 0; way < 8; way++)
            sweep_along(&s, (int32_t[3]){way & 1 ? -1 : 1, way & 2 ? -1 : 1, way & 4 ? -1 : 1});
        walk_all(&s, &f);
    }
    mo_free(s.nearest), mo_free(f.start), mo_free(f.triangle);
    return status;
}
