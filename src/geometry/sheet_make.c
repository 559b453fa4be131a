// Makers of sheets: plates, surfaces of revolution, ribbons, curves, files.
#include "geometry/sheet_make.h"
#include "geometry/mesh.h"
#include <math.h>
#include <string.h>

static mo_status check(const char *what, double value, mo_error *err)
{
    if (value > 0 && value < 1e18) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT, "%s of a sheet must be > 0, got %g", what, value);
}

// In how many parts a length is divided.
static int64_t parts(double length, double edge)
{
    double n = ceil(length / edge - 1e-9);
    return n < 1 ? 1 : n > 1e9 ? (int64_t)1e9 : (int64_t)n;
}

static void put(mo_sheet *s, int64_t v, double x, double y, double z)
{
    s->position[v][0] = x, s->position[v][1] = y, s->position[v][2] = z;
}

static void put_triangle(mo_sheet *s, int64_t t, int64_t a, int64_t b, int64_t c)
{
    s->triangle[t][0] = (int32_t)a, s->triangle[t][1] = (int32_t)b, s->triangle[t][2] = (int32_t)c;
}

// The triangles of a lattice of nu x nv quadrangles; diagonals alternate.
static mo_status quadrangles(int64_t nu, int64_t nv, mo_sheet *out, mo_error *err)
{
    MO_TRY(mo_sheet_reserve((nu + 1) * (nv + 1), 2 * nu * nv, out, err));
    for (int64_t j = 0; j < nv; j++)
        for (int64_t i = 0; i < nu; i++) {
            int64_t a = i + (nu + 1) * j, b = a + 1, c = a + nu + 1, d = c + 1, t = 2 * (i + nu * j);
            bool turn = (i + j) % 2;
            put_triangle(out, t, a, c, turn ? b : d);
            put_triangle(out, t + 1, turn ? b : a, turn ? c : d, turn ? d : b);
        }
    return MO_OK;
}

mo_status mo_sheet_plate(double size_x, double size_z, double edge, mo_sheet *out, mo_error *err)
{
    MO_TRY(check("the size", size_x, err));
    MO_TRY(check("the size", size_z, err));
    MO_TRY(check("the edge", edge, err));
    int64_t nx = parts(size_x, edge), nz = parts(size_z, edge);
    MO_TRY(quadrangles(nx, nz, out, err));
    for (int64_t j = 0; j <= nz; j++)
        for (int64_t i = 0; i <= nx; i++)
            put(out, i + (nx + 1) * j, size_x * ((double)i / (double)nx - 0.5), 0,
                size_z * ((double)j / (double)nz - 0.5));
    return MO_OK;
}

mo_status mo_sheet_helix(double radius, double pitch, double turns, double width, double edge, mo_sheet *out,
                         mo_error *err)
{
    MO_TRY(check("the radius", radius, err));
    MO_TRY(check("the number of turns", turns, err));
    MO_TRY(check("the width", width, err));
    MO_TRY(check("the edge", edge, err));
    if (width >= radius) return mo_fail(err, MO_ERROR_INPUT, "the width of a helix must be below its radius");
    double length = turns * sqrt(4 * M_PI * M_PI * radius * radius + pitch * pitch);
    int64_t nu = parts(length, edge), nv = parts(width, edge);
    MO_TRY(quadrangles(nu, nv, out, err));
    for (int64_t j = 0; j <= nv; j++)
        for (int64_t i = 0; i <= nu; i++) {
            double turn = turns * (double)i / (double)nu, angle = 2 * M_PI * turn;
            double r = radius - width * (double)j / (double)nv;
            put(out, i + (nu + 1) * j, r * mo_cos(angle), pitch * turn, r * mo_sin(angle));
        }
    return MO_OK;
}

mo_status mo_sheet_curve(int32_t count, const double (*point)[2], double edge, double depth, mo_sheet *out,
                         mo_error *err)
{
    MO_TRY(check("the edge", edge, err));
    MO_TRY(check("the depth", depth, err));
    int64_t nu = 0, at = 0;
    for (int32_t k = 0; k + 1 < count; k++)
        nu += parts(hypot(point[k + 1][0] - point[k][0], point[k + 1][1] - point[k][1]), edge);
    if (nu < 1) return mo_fail(err, MO_ERROR_INPUT, "a curve needs two points or more");
    MO_TRY(quadrangles(nu, 1, out, err));
    for (int32_t k = 0; k + 1 < count; k++) {
        int64_t n = parts(hypot(point[k + 1][0] - point[k][0], point[k + 1][1] - point[k][1]), edge);
        for (int64_t i = 0; i <= n; i++) {
            double t = (double)i / (double)n, x = (1 - t) * point[k][0] + t * point[k + 1][0],
                   y = (1 - t) * point[k][1] + t * point[k + 1][1];
            put(out, at + i, x, y, -depth), put(out, nu + 1 + at + i, x, y, depth);
        }
        at += n;
    }
    mo_status status = mo_sheet_join(out, 0, err); // a closed curve has equal ends
    if (status != MO_OK) mo_sheet_destroy(out);
    return status;
}

// ---- Surfaces of revolution: rings of as many points as their length asks for ----

typedef struct rings {
    int64_t count;
    double (*at)[2]; // [count] r, y
    int64_t *points; // [count] 1: a pole
} rings;

static mo_status find_rings(int32_t count, const double (*point)[2], double edge, rings *out, mo_error *err)
{
    int64_t n = 1, at = 0;
    for (int32_t k = 0; k + 1 < count; k++)
        n += parts(hypot(point[k + 1][0] - point[k][0], point[k + 1][1] - point[k][1]), edge);
    if (n > mo_sheet_most) return mo_fail(err, MO_ERROR_INPUT, "the edges of the sheet are too short");
    *out = (rings){n, mo_alloc(sizeof *out->at * (size_t)n), mo_alloc(sizeof(int64_t) * (size_t)n)};
    if (!out->at || !out->points) return mo_fail_memory(err);
    for (int32_t k = 0; k + 1 < count; k++) {
        int64_t p = parts(hypot(point[k + 1][0] - point[k][0], point[k + 1][1] - point[k][1]), edge);
        for (int64_t i = 0; i <= p; i++, at++)
            for (int a = 0; a < 2; a++) {
                double t = (double)i / (double)p;
                out->at[at][a] = (1 - t) * point[k][a] + t * point[k + 1][a];
            }
        at--; // the next line begins here
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t p = parts(2 * M_PI * out->at[k][0], edge);
        out->points[k] = out->at[k][0] <= 1e-9 * edge ? 1 : p < 5 ? 5 : p;
    }
    return MO_OK;
}

// Triangles between two rings: the ring whose next point comes first goes on. Returns their number.
static int64_t stitch(mo_sheet *s, int64_t t, int64_t a, int64_t na, int64_t b, int64_t nb)
{
    int64_t i = 0, j = 0, first = t, ends_a = na > 1 ? na : 0, ends_b = nb > 1 ? nb : 0;
    while (i < ends_a || j < ends_b) {
        bool on_a = j >= ends_b || (i < ends_a && (2 * i + 1) * nb <= (2 * j + 1) * na);
        int64_t p = a + i % na, q = b + j % nb;
        if (on_a)
            put_triangle(s, t++, p, q, a + ++i % na);
        else
            put_triangle(s, t++, p, q, b + ++j % nb);
    }
    return t - first;
}

static mo_status stitch_rings(const rings *r, mo_sheet *out, mo_error *err)
{
    int64_t vertices = 0, triangles = 0;
    for (int64_t k = 0; k < r->count; k++) {
        vertices += r->points[k];
        if (k > 0) triangles += (r->points[k] > 1) * r->points[k] + (r->points[k - 1] > 1) * r->points[k - 1];
    }
    MO_TRY(mo_sheet_reserve(vertices, triangles, out, err));
    int64_t v = 0, t = 0;
    for (int64_t k = 0; k < r->count; k++) {
        for (int64_t i = 0; i < r->points[k]; i++) {
            double angle = 2 * M_PI * (double)i / (double)r->points[k], radius = r->points[k] > 1 ? r->at[k][0] : 0;
            put(out, v + i, radius * mo_cos(angle), r->at[k][1], radius * mo_sin(angle));
        }
        if (k > 0) t += stitch(out, t, v - r->points[k - 1], r->points[k - 1], v, r->points[k]);
        v += r->points[k];
    }
    MO_ASSERT(t == triangles);
    return MO_OK;
}

mo_status mo_sheet_revolve(int32_t count, const double (*point)[2], double edge, mo_sheet *out, mo_error *err)
{
    *out = (mo_sheet){0};
    MO_TRY(check("the edge", edge, err));
    for (int32_t k = 0; k < count; k++)
        if (!(point[k][0] >= 0)) return mo_fail(err, MO_ERROR_INPUT, "radii of a line that is revolved must be >= 0");
    if (count < 2) return mo_fail(err, MO_ERROR_INPUT, "a line that is revolved needs two points or more");
    rings r = {0};
    mo_status status = find_rings(count, point, edge, &r, err);
    if (status == MO_OK) status = stitch_rings(&r, out, err);
    mo_free(r.at), mo_free(r.points);
    return status;
}

mo_status mo_sheet_disk(double radius, double edge, mo_sheet *out, mo_error *err)
{
    MO_TRY(check("the radius", radius, err));
    return mo_sheet_revolve(2, (const double[2][2]){{0, 0}, {radius, 0}}, edge, out, err);
}

mo_status mo_sheet_tube(double radius, double height, double edge, mo_sheet *out, mo_error *err)
{
    MO_TRY(check("the radius", radius, err));
    MO_TRY(check("the height", height, err));
    return mo_sheet_revolve(2, (const double[2][2]){{radius, -0.5 * height}, {radius, 0.5 * height}}, edge, out, err);
}

mo_status mo_sheet_cup(double radius, double height, double edge, mo_sheet *out, mo_error *err)
{
    MO_TRY(check("the radius", radius, err));
    MO_TRY(check("the height", height, err));
    return mo_sheet_revolve(3, (const double[3][2]){{0, 0}, {radius, 0}, {radius, height}}, edge, out, err);
}

mo_status mo_sheet_hemisphere(double radius, double edge, mo_sheet *out, mo_error *err)
{
    enum { MOST_POINTS = 4096 };
    MO_TRY(check("the radius", radius, err));
    MO_TRY(check("the edge", edge, err));
    int64_t n = parts(0.5 * M_PI * radius, edge);
    if (n >= MOST_POINTS) return mo_fail(err, MO_ERROR_INPUT, "the edges of the sheet are too short");
    double(*point)[2] = mo_alloc(sizeof *point * MOST_POINTS);
    if (!point) return mo_fail_memory(err);
    for (int64_t k = 0; k <= n; k++) {
        double angle = 0.5 * M_PI * (double)k / (double)n;
        point[k][0] = k ? radius * mo_sin(angle) : 0, point[k][1] = k < n ? -radius * mo_cos(angle) : 0;
    }
    mo_status status = mo_sheet_revolve((int32_t)n + 1, (const double(*)[2])point, edge, out, err);
    mo_free(point);
    return status;
}

// ---- Files ----

static double edge_length(const mo_sheet *s, const int32_t v[2])
{
    double square = 0;
    for (int a = 0; a < 3; a++) {
        double d = s->position[v[0]][a] - s->position[v[1]][a];
        square += d * d;
    }
    return sqrt(square);
}

// The triangles into which one with vertices c is divided; m: the vertex in the middle of each edge, -1: it stays
// whole.
static int divide(const int32_t c[3], const int32_t m[3], int32_t part[4][3])
{
    int split = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0), k = 0;
    if (split == 1)
        while (m[k] < 0) k++;
    if (split == 2)
        while (m[k] >= 0) k++;
    int32_t a = c[k], b = c[(k + 1) % 3], d = c[(k + 2) % 3], ab = m[k], bd = m[(k + 1) % 3], da = m[(k + 2) % 3];
    const int32_t whole[1][3] = {{a, b, d}}, one[2][3] = {{a, ab, d}, {ab, b, d}},
                  two[3][3] = {{da, bd, d}, {a, b, bd}, {a, bd, da}},
                  all[4][3] = {{a, ab, da}, {ab, b, bd}, {da, bd, d}, {ab, bd, da}};
    const int32_t(*list[4])[3] = {whole, one, two, all};
    memcpy(part, list[split], sizeof(int32_t) * 3 * (size_t)(split + 1));
    return split + 1;
}

// Halves every edge above the length; *more tells whether there was one.
static mo_status halve(mo_sheet *s, double edge, bool *more, mo_error *err)
{
    mo_sheet_edges e;
    MO_TRY(mo_sheet_edges_create(s, &e, err));
    int32_t *middle = mo_alloc(sizeof(int32_t) * ((size_t)e.count + 1));
    int64_t vertices = s->vertices, triangles = 0;
    for (int32_t k = 0; middle && k < e.count; k++)
        middle[k] = edge_length(s, e.vertex[k]) > edge ? (int32_t)vertices++ : -1;
    for (int32_t t = 0; middle && t < s->triangles; t++)
        for (int k = 0; k < 4; k++) triangles += k == 3 || middle[e.of[t][k]] >= 0;
    mo_sheet out = {0};
    mo_status status = middle ? mo_sheet_reserve(vertices, triangles, &out, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        memcpy(out.position, s->position, sizeof *s->position * (size_t)s->vertices);
        for (int32_t k = 0; k < e.count; k++)
            for (int a = 0; a < 3 && middle[k] >= 0; a++)
                out.position[middle[k]][a] = 0.5 * (s->position[e.vertex[k][0]][a] + s->position[e.vertex[k][1]][a]);
        int64_t n = 0;
        for (int32_t t = 0; t < s->triangles; t++) {
            int32_t m[3] = {middle[e.of[t][0]], middle[e.of[t][1]], middle[e.of[t][2]]}, part[4][3];
            int count = divide(s->triangle[t], m, part);
            memcpy(out.triangle[n], part, sizeof(int32_t) * 3 * (size_t)count), n += count;
        }
        *more = vertices > s->vertices;
        mo_sheet_destroy(s);
        *s = out;
    }
    mo_free(middle);
    mo_sheet_edges_destroy(&e);
    return status;
}

mo_status mo_sheet_read(const char *path, double edge, mo_sheet *out, mo_error *err)
{
    *out = (mo_sheet){0};
    MO_TRY(check("the edge", edge, err));
    mo_mesh mesh;
    MO_TRY(mo_mesh_read(path, &mesh, err));
    mo_status status = mo_mesh_check_numbers(&mesh, path, err);
    if (status == MO_OK) status = mo_mesh_weld(&mesh, 0, err);
    if (status == MO_OK) status = mo_sheet_reserve(mesh.vertex_count, mesh.triangle_count, out, err);
    if (status == MO_OK) {
        for (int64_t i = 0; i < 3 * (int64_t)mesh.vertex_count; i++) out->position[i / 3][i % 3] = mesh.position[i];
        memcpy(out->triangle, mesh.triangle, sizeof *out->triangle * (size_t)mesh.triangle_count);
    }
    mo_mesh_destroy(&mesh);
    for (bool more = true; status == MO_OK && more;) status = halve(out, edge, &more, err);
    if (status != MO_OK) mo_sheet_destroy(out);
    return status;
}
