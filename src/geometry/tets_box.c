// Structured meshes of boxes: exact volumes, planes and edges.
#include "geometry/tets.h"

typedef struct cells {
    int32_t n[3]; // per edge; 2D: n[2] = 0
} cells;

static cells count_cells(mo_vec3 size, double element, bool flat)
{
    cells c;
    for (int a = 0; a < 3; a++) {
        double n = fmin(fmax(rint(mo_get(size, a) / element), 1), 1e6);
        c.n[a] = a == 2 && flat ? 0 : (int32_t)n;
    }
    return c;
}

static double count_vertices(cells c) { return (c.n[0] + 1.0) * (c.n[1] + 1.0) * (c.n[2] + 1.0); }

static mo_status too_many(mo_vec3 size, double element, bool flat, mo_error *err)
{
    double fits = element;
    while (count_vertices(count_cells(size, fits, flat)) > MO_TETS_MAX_VERTICES) fits *= 1.05;
    return mo_fail(err, MO_ERROR_INPUT,
                   "elements of %g m would be too many for the box: more than %d vertices; %.3g m fits", element,
                   MO_TETS_MAX_VERTICES, 1.01 * fits);
}

static void place_vertices(mo_tets *t, cells c, mo_vec3 size, mo_pose motion)
{
    double *to = t->position;
    for (int32_t k = 0; k <= c.n[2]; k++)
        for (int32_t j = 0; j <= c.n[1]; j++)
            for (int32_t i = 0; i <= c.n[0]; i++, to += 3) {
                mo_vec3 x = {size.x * ((double)i / c.n[0] - 0.5), size.y * ((double)j / c.n[1] - 0.5), 0};
                if (c.n[2] > 0) x.z = size.z * ((double)k / c.n[2] - 0.5);
                x = mo_pose_apply(motion, x);
                to[0] = x.x, to[1] = x.y, to[2] = c.n[2] > 0 ? x.z : 0;
            }
}

// One tetrahedron in the middle and four at the corners it leaves; bits of a corner's number are its coordinates. Odd
// cells are mirrored in x.
static void add_tetrahedra(const int32_t corner[8], bool odd, int32_t *to)
{
    static const int32_t five[5][4] = {{0, 5, 3, 6}, {1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}};
    for (int e = 0; e < 5; e++, to += 4) {
        for (int k = 0; k < 4; k++) to[k] = corner[five[e][k] ^ (odd ? 1 : 0)];
        int32_t last = to[3];
        if (odd) to[3] = to[2], to[2] = last; // the mirror turns them inside out
    }
}

static void add_triangles(const int32_t corner[4], bool odd, int32_t *to)
{
    static const int32_t two[2][6] = {{0, 1, 3, 0, 3, 2}, {0, 1, 2, 1, 3, 2}};
    for (int k = 0; k < 6; k++) to[k] = corner[two[odd][k]];
}

static void add_cell(mo_tets *t, cells c, const int32_t at[3], int32_t **to)
{
    int32_t corner[8], dy = c.n[0] + 1, dz = dy * (c.n[1] + 1);
    for (int k = 0; k < 8; k++) corner[k] = at[0] + (k & 1) + dy * (at[1] + (k >> 1 & 1)) + dz * (at[2] + (k >> 2));
    bool odd = (at[0] + at[1] + at[2]) & 1;
    if (t->dimension == 3)
        add_tetrahedra(corner, odd, *to);
    else
        add_triangles(corner, odd, *to);
    *to += t->dimension == 3 ? 20 : 6;
}

mo_status mo_tets_box(mo_vec3 size, mo_pose motion, double element, bool two_dimensional, mo_tets *out, mo_error *err)
{
    *out = (mo_tets){0};
    cells c = count_cells(size, element, two_dimensional);
    if (count_vertices(c) > MO_TETS_MAX_VERTICES) return too_many(size, element, two_dimensional, err);
    int32_t layers = two_dimensional ? 1 : c.n[2], number = c.n[0] * c.n[1] * layers;
    *out = (mo_tets){.dimension = two_dimensional ? 2 : 3,
                     .vertex_count = (int32_t)count_vertices(c),
                     .element_count = number * (two_dimensional ? 2 : 5)};
    out->position = mo_alloc(sizeof(double) * 3 * (size_t)out->vertex_count);
    out->element = mo_alloc(sizeof(int32_t) * (size_t)(out->dimension + 1) * (size_t)out->element_count);
    if (!out->position || !out->element) {
        mo_tets_destroy(out);
        return mo_fail_memory(err);
    }
    place_vertices(out, c, size, motion);
    int32_t *to = out->element;
    for (int32_t k = 0; k < layers; k++)
        for (int32_t j = 0; j < c.n[1]; j++)
            for (int32_t i = 0; i < c.n[0]; i++) add_cell(out, c, (int32_t[3]){i, j, k}, &to);
    return MO_OK;
}
