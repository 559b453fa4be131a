// Volume, centre and inertia of primitives by the formulas of their kind; of sections at z = 0 by a quadtree over the
// distance.
#include "solid/primitive_mass.h"
#include "geometry/shape_node.h"

bool mo_primitive_mass(const mo_shape *s, mo_mass *out)
{
    const mo_shape *own = s->kind == &mo_shape_transform ? s->a : s;
    mo_moments m;
    if (!own->kind->moments || !own->kind->moments(own, &m)) return false;
    double y = m.y / m.volume, yy = m.yy - m.volume * y * y, inertia[3] = {yy + m.zz, m.xx + m.zz, m.xx + yy};
    *out = (mo_mass){.volume = m.volume, .centre = {0, y, 0}};
    for (int i = 0; i < 3; i++) out->inertia.m[i][i] = inertia[i];
    if (own == s) return true;
    // x = move + scale R x_own, R^T = inverse
    double k = s->scale, k3 = k * k * k;
    mo_vec3 up = {s->inverse.m[1][0], s->inverse.m[1][1], s->inverse.m[1][2]};
    out->volume *= k3;
    out->centre = mo_mad(s->move, k * y, up);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int l = 0; l < 3; l++) sum += s->inverse.m[l][i] * inertia[l] * s->inverse.m[l][j];
            out->inertia.m[i][j] = k3 * k * k * sum;
        }
    return true;
}

// Moments of a section: area, first and second.
typedef struct flat_moments {
    double area, x, y, xx, yy, xy;
} flat_moments;

// Of the triangle (0, a, b): int x = A (a + b) / 3, int x x^T = A / 12 (a a^T + b b^T + s s^T), s = a + b.
static void add_triangle(flat_moments *m, const double a[2], const double b[2])
{
    double A = 0.5 * (a[0] * b[1] - a[1] * b[0]), x = a[0] + b[0], y = a[1] + b[1];
    m->area += A;
    m->x += A / 3 * x, m->y += A / 3 * y;
    m->xx += A / 12 * (a[0] * a[0] + b[0] * b[0] + x * x);
    m->yy += A / 12 * (a[1] * a[1] + b[1] * b[1] + y * y);
    m->xy += A / 12 * (a[0] * a[1] + b[0] * b[1] + x * y);
}

typedef struct section {
    const mo_shape *shape;
    flat_moments sum;
    double smallest; // cell that is clipped instead of split
} section;

// The part of a cell with negative distance, the distance taken as linear along its edges.
static void add_clipped(section *s, const double corner[4][2], const double d[4])
{
    double part[8][2];
    int n = 0;
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4;
        if (d[i] < 0) part[n][0] = corner[i][0], part[n++][1] = corner[i][1];
        if ((d[i] < 0) == (d[j] < 0)) continue;
        double t = d[i] / (d[i] - d[j]);
        for (int a = 0; a < 2; a++) part[n][a] = corner[i][a] + t * (corner[j][a] - corner[i][a]);
        n++;
    }
    for (int i = 0; i < n; i++) add_triangle(&s->sum, part[i], part[(i + 1) % n]);
}

static void add_cell(section *s, double x, double y, double half)
{
    double d = mo_shape_distance(s->shape, mo_v3(x, y, 0));
    double corner[4][2] = {{x - half, y - half}, {x + half, y - half}, {x + half, y + half}, {x - half, y + half}};
    bool split = fabs(d) < sqrt(3) * sqrt(2) * half; // sqrt(3): the slope trilinear samples of a mesh can reach
    if (split && half > s->smallest) {
        half *= 0.5;
        for (int k = 0; k < 4; k++) add_cell(s, x + (k & 1 ? half : -half), y + (k & 2 ? half : -half), half);
        return;
    }
    double at[4] = {d, d, d, d};
    for (int k = 0; split && k < 4; k++) at[k] = mo_shape_distance(s->shape, mo_v3(corner[k][0], corner[k][1], 0));
    add_clipped(s, corner, at);
}

mo_mass mo_section_mass(const mo_shape *shape, double depth)
{
    MO_ASSERT(depth > 0);
    mo_box3 b = mo_shape_bounds(shape);
    mo_vec3 middle = mo_mul(0.5, mo_add(b.lo, b.hi));
    double half = 0.501 * fmax(b.hi.x - b.lo.x, b.hi.y - b.lo.y);
    section s = {.shape = shape, .smallest = half / 1000};
    if (half > 0) add_cell(&s, middle.x, middle.y, half);
    flat_moments m = s.sum;
    mo_mass out = {.volume = m.area * depth};
    if (!(m.area > 0)) return out;
    double x = m.x / m.area, y = m.y / m.area, zz = m.area * depth * depth / 12;
    double xx = m.xx - m.area * x * x, yy = m.yy - m.area * y * y, xy = m.xy - m.area * x * y;
    out.centre = mo_v3(x, y, 0);
    out.inertia = (mo_mat3){
        {{depth * (yy + zz), -depth * xy, 0}, {-depth * xy, depth * (xx + zz), 0}, {0, 0, depth * (xx + yy)}}};
    return out;
}
