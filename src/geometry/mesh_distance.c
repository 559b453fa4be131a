// A closed mesh as a sampled signed distance. Magnitude: nearest triangle, through the hierarchy. Sign: winding number,
// counted along every row of samples from its crossings with the surface.
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape_node.h"
#include <string.h>

enum { MOST_EXACT = 20000 }; // triangles; of more, only samples near the surface are compared with all (mesh_sweep.c)
enum { PADDING = 2, DEFAULT_RESOLUTION = 128, MAX_RESOLUTION = 1024, ATTEMPTS = 16 };

static mo_vec3 sample_position(const mo_distance_lattice *l, int32_t i, int32_t j, int32_t k)
{
    return mo_v3(l->origin.x + i * l->spacing, l->origin.y + j * l->spacing, l->origin.z + k * l->spacing);
}

static int64_t sample_count(const mo_distance_lattice *l) { return (int64_t)l->n[0] * l->n[1] * l->n[2]; }

static void place_lattice(mo_distance_lattice *l, int32_t resolution)
{
    mo_vec3 size = mo_sub(l->box.hi, l->box.lo), centre = mo_mul(0.5, mo_add(l->box.hi, l->box.lo));
    l->spacing = fmax(size.x, fmax(size.y, size.z)) / resolution;
    MO_ASSERT(l->spacing > 0);
    for (int a = 0; a < 3; a++) l->n[a] = (int32_t)ceil(mo_get(size, a) / l->spacing - 1e-9) + 1 + 2 * PADDING;
    l->origin = mo_sub(centre, mo_mul(0.5 * l->spacing, mo_v3(l->n[0] - 1, l->n[1] - 1, l->n[2] - 1)));
}

// Each row is done by one thread from its start, the nearest triangle of a sample being the guess for the next.
static void sample_magnitudes(mo_distance_lattice *l, const mo_mesh_bvh *bvh)
{
    int32_t rows = l->n[1] * l->n[2];
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t row = 0; row < rows; row++) {
        int32_t triangle = -1;
        for (int32_t i = 0; i < l->n[0]; i++) {
            mo_vec3 p = sample_position(l, i, row % l->n[1], row / l->n[1]);
            l->sample[(int64_t)row * l->n[0] + i] = (float)mo_mesh_bvh_distance(bvh, p, &triangle);
        }
    }
}

// > 0 where (y, z) is left of the edge a -> b of the mesh, seen along x. Both triangles of an edge compute the very
// same number, up to its sign: a row cannot slip between them.
static double edge_side(const mo_mesh *m, int32_t a, int32_t b, double y, double z)
{
    if (a > b) return -edge_side(m, b, a, y, z);
    const float *p = m->position + 3 * (int64_t)a, *q = m->position + 3 * (int64_t)b;
    return ((double)q[1] - p[1]) * (z - p[2]) - ((double)q[2] - p[2]) * (y - p[1]);
}

// Adds the crossing of the row at (y, z) with a triangle to the first sample behind it.
static void cross_row(const mo_distance_lattice *l, const mo_mesh *m, int32_t t, double y, double z, int16_t *row)
{
    const int32_t *c = m->triangle + 3 * (int64_t)t;
    double w[3];
    for (int k = 0; k < 3; k++) w[k] = edge_side(m, c[(k + 1) % 3], c[(k + 2) % 3], y, z);
    bool left = w[0] > 0 && w[1] > 0 && w[2] > 0, right = w[0] < 0 && w[1] < 0 && w[2] < 0;
    if (!left && !right) return;
    double x = 0;
    for (int k = 0; k < 3; k++) x += w[k] * m->position[3 * (int64_t)c[k]];
    x /= w[0] + w[1] + w[2];
    int32_t i = (int32_t)fmin(fmax(ceil((x - l->origin.x) / l->spacing), 0), l->n[0] - 1);
    row[i] = (int16_t)(row[i] + (left ? -1 : 1)); // left: the outside is towards +x, so the way leaves
}

// Crossings of all rows still open with all triangles. Rows are moved by a tiny jitter off vertices and edges.
static void cross_rows(const mo_distance_lattice *l, const mo_mesh *m, const uint8_t *done, int attempt,
                       int16_t *crossing)
{
    double jy = l->spacing * 1e-5 * (0.35 + 0.618034 * attempt), jz = l->spacing * 1e-5 * (0.71 - 0.414214 * attempt);
    for (int32_t t = 0; t < m->triangle_count; t++) {
        int32_t lo[2], hi[2];
        for (int a = 1; a < 3; a++) {
            double x[3], origin = (a == 1 ? l->origin.y + jy : l->origin.z + jz);
            for (int k = 0; k < 3; k++) x[k] = mo_get(mo_mesh_corner(m, t, k), a);
            lo[a - 1] = (int32_t)floor((fmin(x[0], fmin(x[1], x[2])) - origin) / l->spacing);
            hi[a - 1] = (int32_t)ceil((fmax(x[0], fmax(x[1], x[2])) - origin) / l->spacing);
            if (lo[a - 1] < 0) lo[a - 1] = 0;
            if (hi[a - 1] > l->n[a] - 1) hi[a - 1] = l->n[a] - 1;
        }
        for (int32_t k = lo[1]; k <= hi[1]; k++)
            for (int32_t j = lo[0]; j <= hi[0]; j++) {
                int64_t row = j + (int64_t)l->n[1] * k;
                mo_vec3 p = sample_position(l, 0, j, k);
                if (!done[row]) cross_row(l, m, t, p.y + jy, p.z + jz, crossing + row * l->n[0]);
            }
    }
}

// Turns crossings into winding numbers and gives the samples their signs. A row whose crossings do not cancel met an
// edge within rounding: it is cleared for another attempt. Returns the rows left; wrong counts samples whose winding
// number is neither 0 nor 1.
static int32_t apply_signs(mo_distance_lattice *l, int16_t *crossing, uint8_t *done, int64_t *wrong)
{
    int32_t left = 0;
    for (int64_t row = 0; row < (int64_t)l->n[1] * l->n[2]; row++) {
        if (done[row]) continue;
        int16_t *c = crossing + row * l->n[0];
        float *sample = l->sample + row * l->n[0];
        int32_t winding = 0;
        for (int32_t i = 0; i < l->n[0]; i++) winding += c[i];
        done[row] = winding == 0;
        for (int32_t i = 0; i < l->n[0]; i++) {
            winding += c[i];
            if (!done[row])
                c[i] = 0;
            else if (winding != 0)
                sample[i] = -sample[i];
            *wrong += done[row] && winding != 0 && winding != 1;
        }
        left += !done[row];
    }
    return left;
}

static mo_status sample_signs(mo_distance_lattice *l, const mo_mesh *mesh, const char *name, mo_error *err)
{
    size_t rows = (size_t)l->n[1] * (size_t)l->n[2];
    int16_t *crossing = mo_calloc(sizeof(int16_t) * (size_t)sample_count(l));
    uint8_t *done = mo_calloc(rows);
    int64_t wrong = 0;
    int32_t left = 1;
    bool enough = crossing && done;
    for (int attempt = 0; enough && left > 0 && attempt < ATTEMPTS; attempt++) {
        cross_rows(l, mesh, done, attempt, crossing);
        left = apply_signs(l, crossing, done, &wrong);
    }
    mo_free(crossing);
    mo_free(done);
    if (!enough) return mo_fail_memory(err);
    if (left > 0)
        return mo_fail(err, MO_ERROR_INPUT, "%s: inside and outside cannot be told apart on %d of %lld lines", name,
                       left, (long long)rows);
    if (wrong > 0)
        return mo_fail(err, MO_ERROR_INPUT,
                       "%s: parts of the mesh overlap or are inside out: %lld of %lld samples are not enclosed exactly "
                       "once or not at all",
                       name, (long long)wrong, (long long)sample_count(l));
    return MO_OK;
}

static mo_status sample_mesh(mo_distance_lattice *l, const mo_mesh *mesh, const char *name, int32_t resolution,
                             mo_error *err)
{
    mo_mesh_bvh *bvh;
    MO_TRY(mo_mesh_bvh_create(mesh, &bvh, err));
    mo_status status = MO_OK;
    int64_t crossings = mo_mesh_bvh_crossings(bvh);
    if (crossings > 0)
        status = mo_fail(err, MO_ERROR_INPUT, "%s: the mesh intersects itself: %lld pairs of triangles cross", name,
                         (long long)crossings);
    l->box = mo_mesh_bounds(mesh);
    place_lattice(l, resolution);
    if (status == MO_OK) {
        l->sample = mo_alloc(sizeof(float) * (size_t)sample_count(l));
        if (!l->sample) status = mo_fail_memory(err);
    }
    if (status == MO_OK && mesh->triangle_count <= MOST_EXACT) sample_magnitudes(l, bvh);
    if (status == MO_OK && mesh->triangle_count > MOST_EXACT) status = mo_mesh_sweep_distances(l, mesh, err);
    if (status == MO_OK) status = sample_signs(l, mesh, name, err);
    mo_mesh_bvh_destroy(bvh);
    return status;
}

// Outwards, whatever the file says.
static mo_status orient(mo_mesh *mesh, const char *name, mo_error *err)
{
    mo_box3 box = mo_mesh_bounds(mesh);
    double volume = mo_mesh_mass(mesh).volume, size = mo_norm(mo_sub(box.hi, box.lo));
    if (!(fabs(volume) > 1e-10 * size * size * size))
        return mo_fail(err, MO_ERROR_INPUT, "%s: the mesh encloses no volume", name);
    for (int32_t t = 0; volume < 0 && t < mesh->triangle_count; t++) {
        int32_t *c = mesh->triangle + 3 * (int64_t)t, corner = c[1];
        c[1] = c[2], c[2] = corner;
    }
    return MO_OK;
}

// Closed as it is, or after merging vertices that differ only by rounding.
static mo_status close_mesh(mo_mesh *mesh, const char *name, mo_error *err)
{
    MO_TRY(mo_mesh_weld(mesh, 0, err));
    mo_status status = mo_mesh_check_closed(mesh, name, err);
    if (status != MO_ERROR_INPUT) return status;
    mo_box3 box = mo_mesh_bounds(mesh);
    MO_TRY(mo_mesh_weld(mesh, 1e-6 * mo_norm(mo_sub(box.hi, box.lo)), err));
    return mo_mesh_check_closed(mesh, name, err);
}

// Checks, repairs and samples; the mesh is used up.
static mo_status shape_of(mo_mesh *mesh, const char *name, int32_t resolution, mo_shape **out, mo_error *err)
{
    MO_TRY(mo_mesh_check_numbers(mesh, name, err));
    MO_TRY(close_mesh(mesh, name, err));
    MO_TRY(mo_mesh_check_numbers(mesh, name, err));
    MO_TRY(orient(mesh, name, err));
    mo_check_threads();
    mo_shape *s = mo_shape_new(&mo_shape_lattice, NULL, NULL);
    if (!s) return mo_fail_memory(err);
    mo_status status = sample_mesh(&s->lattice, mesh, name, resolution, err);
    if (status == MO_OK)
        *out = mo_shape_finish(s);
    else
        mo_shape_release(s);
    return status;
}

static mo_status check_resolution(int32_t *resolution, const char *name, mo_error *err)
{
    if (*resolution == 0) *resolution = DEFAULT_RESOLUTION;
    if (*resolution >= 4 && *resolution <= MAX_RESOLUTION) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s: resolution must be 4..%d samples, got %d", name, MAX_RESOLUTION,
                   *resolution);
}

mo_status mo_shape_from_mesh(const mo_mesh *mesh, const char *name, int32_t resolution, mo_shape **out, mo_error *err)
{
    *out = NULL;
    MO_TRY(check_resolution(&resolution, name, err));
    mo_mesh copy;
    MO_TRY(mo_mesh_copy(mesh, &copy, err));
    mo_status status = shape_of(&copy, name, resolution, out, err);
    mo_mesh_destroy(&copy);
    return status;
}

mo_status mo_shape_mesh_file(const char *path, int32_t resolution, mo_shape **out, mo_error *err)
{
    *out = NULL;
    MO_TRY(check_resolution(&resolution, path, err));
    mo_mesh mesh;
    MO_TRY(mo_mesh_read(path, &mesh, err));
    mo_status status = shape_of(&mesh, path, resolution, out, err);
    mo_mesh_destroy(&mesh);
    return status;
}
