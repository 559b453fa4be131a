// Volume, centre and inertia: of a closed mesh exactly, of a shape through its surface mesh with the error of flat
// triangles taken out.
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

// Moments about a fixed point: volume, first and second (xx, yy, zz, xy, yz, zx).
typedef struct moments {
    double m[10];
} moments;

static void add_point(moments *s, double weight, mo_vec3 x)
{
    double term[10] = {1, x.x, x.y, x.z, x.x * x.x, x.y * x.y, x.z * x.z, x.x * x.y, x.y * x.z, x.z * x.x};
    for (int i = 0; i < 10; i++) s->m[i] += weight * term[i];
}

// Of the tetrahedron (0, a, b, c): int x = V (a + b + c) / 4, int x x^T = V / 20 (a a^T + b b^T + c c^T + s s^T) with s
// = a + b + c.
static void add_tetrahedron(moments *s, mo_vec3 a, mo_vec3 b, mo_vec3 c)
{
    double volume = mo_dot(a, mo_cross(b, c)) / 6;
    mo_vec3 sum = mo_add(a, mo_add(b, c));
    moments second = {{0}};
    add_point(&second, volume / 20, a);
    add_point(&second, volume / 20, b);
    add_point(&second, volume / 20, c);
    add_point(&second, volume / 20, sum);
    s->m[0] += volume;
    s->m[1] += volume / 4 * sum.x, s->m[2] += volume / 4 * sum.y, s->m[3] += volume / 4 * sum.z;
    for (int i = 4; i < 10; i++) s->m[i] += second.m[i];
}

// Moments about `origin` -> mass about its own centre.
static mo_mass mass_of(const moments *s, mo_vec3 origin)
{
    mo_mass out = {.volume = s->m[0]};
    mo_vec3 c = s->m[0] != 0 ? mo_mul(1 / s->m[0], mo_v3(s->m[1], s->m[2], s->m[3])) : mo_v3(0, 0, 0);
    double xx = s->m[4] - s->m[0] * c.x * c.x, yy = s->m[5] - s->m[0] * c.y * c.y, zz = s->m[6] - s->m[0] * c.z * c.z;
    double xy = s->m[7] - s->m[0] * c.x * c.y, yz = s->m[8] - s->m[0] * c.y * c.z, zx = s->m[9] - s->m[0] * c.z * c.x;
    out.centre = mo_add(origin, c);
    out.inertia = (mo_mat3){{{yy + zz, -xy, -zx}, {-xy, zz + xx, -yz}, {-zx, -yz, xx + yy}}};
    return out;
}

static mo_vec3 middle(const mo_mesh *mesh)
{
    mo_box3 box = mo_mesh_bounds(mesh);
    return mesh->vertex_count > 0 ? mo_mul(0.5, mo_add(box.lo, box.hi)) : mo_v3(0, 0, 0);
}

static void add_triangle(moments *s, const mo_mesh *mesh, int32_t t, mo_vec3 origin)
{
    add_tetrahedron(s, mo_sub(mo_mesh_corner(mesh, t, 0), origin), mo_sub(mo_mesh_corner(mesh, t, 1), origin),
                    mo_sub(mo_mesh_corner(mesh, t, 2), origin));
}

mo_mass mo_mesh_mass(const mo_mesh *mesh)
{
    moments s = {{0}};
    mo_vec3 origin = middle(mesh); // near the mesh: less cancellation
    for (int32_t t = 0; t < mesh->triangle_count; t++) add_triangle(&s, mesh, t, origin);
    return mass_of(&s, origin);
}

// The layer between a flat triangle and the surface: its height is -distance, quadratic to leading order, so the rule
// of the three edge midpoints integrates it. Takes the error from O(h^2) to O(h^4) where the surface is smooth.
static void add_layer(moments *s, const mo_shape *shape, const mo_mesh *mesh, int32_t t, mo_vec3 origin)
{
    mo_vec3 x[3];
    for (int k = 0; k < 3; k++) x[k] = mo_mesh_corner(mesh, t, k);
    double area = 0.5 * mo_norm(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
    for (int k = 0; k < 3; k++) {
        mo_vec3 mid = mo_mul(0.5, mo_add(x[k], x[(k + 1) % 3]));
        double height = -mo_shape_distance(shape, mid);
        add_point(s, area / 3 * height, mo_sub(mid, origin));
    }
}

enum { DEFAULT_RESOLUTION = 64, BLOCK = 2048 };

mo_status mo_shape_mass(const mo_shape *s, int32_t resolution, mo_mass *out, mo_error *err)
{
    *out = (mo_mass){0};
    mo_check_threads();
    mo_mesh mesh;
    if (resolution <= 0) resolution = DEFAULT_RESOLUTION;
    MO_TRY(mo_shape_to_mesh(s, 2 * resolution, &mesh, err)); // twice as fine: sharp edges lose least
    int32_t blocks = (mesh.triangle_count + BLOCK - 1) / BLOCK;
    moments *part = mo_calloc(sizeof(moments) * (size_t)(blocks + 1));
    if (part) {
        mo_vec3 origin = middle(&mesh);
#pragma omp parallel for
        for (int32_t b = 0; b < blocks; b++)
            for (int32_t t = b * BLOCK; t < (b + 1) * BLOCK && t < mesh.triangle_count; t++) {
                add_triangle(&part[b], &mesh, t, origin);
                add_layer(&part[b], s, &mesh, t, origin);
            }
        for (int32_t b = 0; b < blocks; b++)
            for (int i = 0; i < 10; i++) part[blocks].m[i] += part[b].m[i];
        *out = mass_of(&part[blocks], origin);
    }
    mo_free(part);
    mo_mesh_destroy(&mesh);
    return part ? MO_OK : mo_fail_memory(err);
}
