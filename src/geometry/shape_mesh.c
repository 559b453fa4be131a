// The surface of a shape: marching cubes over the bricks that its distance does not rule out.
#include "base/parallel.h"
#include "geometry/shape_node.h"
#include "geometry/surface.h"

enum { EDGE = 8, MIN_RESOLUTION = 2, MAX_RESOLUTION = 2048 };

typedef struct sampler {
    const mo_shape *shape;
    mo_vec3 origin;
    double spacing;
    int32_t (*lo)[3];
} sampler;

static mo_vec3 lattice_point(const sampler *s, double i, double j, double k)
{
    return mo_mad(s->origin, s->spacing, mo_v3(i, j, k));
}

static void load_brick(void *user, int32_t brick, float *sample)
{
    const sampler *s = user;
    const int32_t *lo = s->lo[brick];
    for (int32_t k = 0; k <= EDGE; k++)
        for (int32_t j = 0; j <= EDGE; j++)
            for (int32_t i = 0; i <= EDGE; i++)
                *sample++ = (float)mo_shape_distance(s->shape, lattice_point(s, lo[0] + i, lo[1] + j, lo[2] + k));
}

// Keeps the bricks the surface may pass through. sqrt(3): the slope trilinear samples of a mesh can reach.
static int32_t find_bricks(const sampler *s, const int32_t n[3], uint8_t *wanted, int64_t total)
{
    double reach = sqrt(3) * (0.5 * sqrt(3) * EDGE * s->spacing);
#pragma omp parallel for schedule(static, 64)
    for (int64_t b = 0; b < total; b++) {
        int64_t i = b % n[0], j = b / n[0] % n[1], k = b / n[0] / n[1];
        mo_vec3 centre = lattice_point(s, (i + 0.5) * EDGE, (j + 0.5) * EDGE, (k + 0.5) * EDGE);
        wanted[b] = fabs(mo_shape_distance(s->shape, centre)) <= reach;
    }
    int32_t count = 0;
    for (int64_t b = 0; b < total; b++) count += wanted[b];
    return count;
}

static void list_bricks(const int32_t n[3], const uint8_t *wanted, int64_t total, int32_t (*lo)[3])
{
    for (int64_t b = 0; b < total; b++) {
        if (!wanted[b]) continue;
        (*lo)[0] = (int32_t)(b % n[0]) * EDGE;
        (*lo)[1] = (int32_t)(b / n[0] % n[1]) * EDGE;
        (*lo)[2] = (int32_t)(b / n[0] / n[1]) * EDGE;
        lo++;
    }
}

mo_status mo_shape_to_mesh(const mo_shape *s, int32_t resolution, mo_mesh *out, mo_error *err)
{
    *out = (mo_mesh){0};
    mo_check_threads();
    if (!mo_shape_is_bounded(s))
        return mo_fail(err, MO_ERROR_INPUT, "the shape has no finite bounds (a half space?), so it has no mesh");
    if (resolution < MIN_RESOLUTION || resolution > MAX_RESOLUTION)
        return mo_fail(err, MO_ERROR_INPUT, "mesh resolution must be %d..%d, got %d", MIN_RESOLUTION, MAX_RESOLUTION,
                       resolution);
    mo_vec3 size = mo_sub(s->bounds.hi, s->bounds.lo), centre = mo_mul(0.5, mo_add(s->bounds.lo, s->bounds.hi));
    double longest = fmax(size.x, fmax(size.y, size.z));
    sampler u = {.shape = s, .spacing = longest > 0 ? longest / resolution : 1};
    int32_t n[3];
    for (int a = 0; a < 3; a++) n[a] = (int32_t)ceil((mo_get(size, a) / u.spacing + 2) / EDGE); // a cube of margin
    u.origin = mo_sub(centre, mo_mul(0.5 * EDGE * u.spacing, mo_v3(n[0], n[1], n[2])));
    int64_t total = (int64_t)n[0] * n[1] * n[2];
    uint8_t *wanted = mo_alloc((size_t)total);
    if (!wanted) return mo_fail_memory(err);
    int32_t count = find_bricks(&u, n, wanted, total);
    u.lo = mo_alloc(sizeof *u.lo * (size_t)count);
    mo_status status = u.lo ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) {
        list_bricks(n, wanted, total, u.lo);
        mo_bricks bricks = {count, EDGE, (const int32_t(*)[3])u.lo, load_brick, &u, u.origin, u.spacing};
        status = mo_marching_cubes(&bricks, out, err);
    }
    mo_free(u.lo);
    mo_free(wanted);
    return status;
}
