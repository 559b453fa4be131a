// Faces that sheets occlude, and the sheet beside them. See slip_sides.h.
#include "cases/slip_sides.h"
#include <math.h>
#include <string.h>

mo_vec3 mo_slip_centre(const mo_slip_box *b, const int32_t c[3])
{
    return mo_mul(b->def->dx, mo_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5));
}

mo_vec3 mo_slip_middle(const mo_slip_box *b, int axis, const int32_t c[3])
{
    return mo_mul(b->def->dx, mo_v3(c[0] + 0.5 * (axis != 0), c[1] + 0.5 * (axis != 1), c[2] + 0.5 * (axis != 2)));
}

int32_t mo_slip_open_step(const mo_slip_box *b, int32_t cell, int axis, int side)
{
    int32_t c[3], face[3];
    mo_slip_cell_at(b, cell, c);
    memcpy(face, c, sizeof face);
    c[axis] += side, face[axis] += side > 0;
    if (c[axis] < 0 || c[axis] >= b->n[axis] || b->closed[axis][mo_slip_face_index(b, axis, face)]) return -1;
    return mo_slip_cell_index(b, c);
}

// ---- The sheet in a box ----

enum { CORNERS = 16 };

// Cuts a polygon to the side x_axis <= bound, or >= bound if sign < 0. Returns the number of its corners.
static int cut(mo_vec3 *p, int count, int axis, double bound, double sign)
{
    mo_vec3 out[CORNERS];
    int n = 0;
    for (int k = 0; k < count; k++) {
        mo_vec3 a = p[k], b = p[(k + 1) % count];
        double da = sign * (mo_get(a, axis) - bound), db = sign * (mo_get(b, axis) - bound);
        if (da <= 0) out[n++] = a;
        if ((da < 0 && db > 0) || (da > 0 && db < 0)) out[n++] = mo_mad(a, da / (da - db), mo_sub(b, a));
    }
    memcpy(p, out, sizeof *p * (size_t)n);
    return n;
}

typedef struct patch { // the sheet in a box
    mo_vec3 normal;    // sum, by area, towards a place
    double area;       // of all
    mo_vec3 moved;     // sum of area times velocity
} patch;

// Adds the part of a triangle that lies in the box of half width h round x.
static void add_triangle(const mo_slip_box *b, int32_t t, mo_vec3 x, double h, mo_vec3 towards, patch *out)
{
    mo_vec3 corner[3], p[CORNERS], sum = {0, 0, 0}, middle = {0, 0, 0};
    int n = 3;
    for (int k = 0; k < 3; k++) {
        const double *q = b->sheet.position[b->sheet.triangle[t][k]];
        p[k] = corner[k] = mo_v3(q[0], q[1], q[2]);
    }
    for (int a = 0; a < 3 && n; a++) {
        n = cut(p, n, a, mo_get(x, a) + h, 1);
        if (n) n = cut(p, n, a, mo_get(x, a) - h, -1);
    }
    if (n < 3) return;
    for (int k = 1; k + 1 < n; k++) {
        mo_vec3 part = mo_mul(0.5, mo_cross(mo_sub(p[k], p[0]), mo_sub(p[k + 1], p[0])));
        sum = mo_add(sum, part);
        middle = mo_mad(middle, mo_norm(part) / 3, mo_add(p[0], mo_add(p[k], p[k + 1])));
    }
    double area = mo_norm(sum);
    if (!(area > 0)) return;
    if (mo_dot(sum, mo_sub(towards, corner[0])) < 0) sum = mo_mul(-1, sum);
    out->normal = mo_add(out->normal, sum), out->area += area;
    if (!b->def->sheet_velocity) return;
    // The velocity at the centre of the part, by barycentric weights.
    mo_vec3 u = mo_sub(corner[1], corner[0]), v = mo_sub(corner[2], corner[0]),
            w = mo_sub(mo_mul(1 / area, middle), corner[0]);
    double uu = mo_dot(u, u), uv = mo_dot(u, v), vv = mo_dot(v, v), det = uu * vv - uv * uv;
    double s = (mo_dot(w, u) * vv - mo_dot(w, v) * uv) / det, r = (mo_dot(w, v) * uu - mo_dot(w, u) * uv) / det;
    const double weight[3] = {1 - s - r, s, r};
    for (int k = 0; k < 3; k++) {
        const double *q = b->def->sheet_velocity[b->sheet.triangle[t][k]];
        out->moved = mo_mad(out->moved, area * weight[k], mo_v3(q[0], q[1], q[2]));
    }
}

// The mean normal of the sheet in the box round a face, each part turned towards the cell; without one, in a box twice
// as wide; at last along the axis.
static void find_normal(const mo_slip_box *b, mo_slip_side *s)
{
    int32_t c[3];
    mo_slip_cell_at(b, s->cell, c);
    mo_vec3 towards = mo_slip_centre(b, c), x = mo_slip_middle(b, s->axis, s->at);
    patch p = {0};
    for (int wide = 1; wide <= 2 && p.area == 0; wide++)
        for (int32_t t = 0; t < b->sheet.triangles; t++) add_triangle(b, t, x, 0.5 * wide * b->def->dx, towards, &p);
    double length = mo_norm(p.normal);
    s->normal = length > 1e-9 * p.area && length > 0
                    ? mo_mul(1 / length, p.normal)
                    : mo_mul(-s->sign, mo_v3(s->axis == 0, s->axis == 1, s->axis == 2));
    s->wall = p.area > 0 ? mo_dot(s->normal, p.moved) / p.area : 0;
}

// ---- Occluded faces ----

static bool is_wall(const mo_slip_box *b, int axis, const int32_t at[3])
{
    return at[axis] == 0 || at[axis] == b->n[axis];
}

static bool occluded(const mo_slip_box *b, int axis, const int32_t at[3])
{
    int32_t low[3] = {at[0], at[1], at[2]}, triangle;
    low[axis]--;
    return mo_sheet_tree_meet(b->tree, mo_slip_centre(b, low), mo_slip_centre(b, at), &triangle) <= 1;
}

// Visits all faces of an axis: marks occluded ones, or lists their sides.
static int32_t visit(mo_slip_box *b, int axis, bool list)
{
    int32_t end[3] = {b->n[0], b->n[1], b->n[2]}, at[3], count = 0;
    for (at[2] = 0; at[2] < end[2]; at[2]++)
        for (at[1] = 0; at[1] < end[1]; at[1]++)
            for (at[0] = 0; at[0] < end[0]; at[0]++) {
                uint8_t *closed = &b->closed[axis][mo_slip_face_index(b, axis, at)];
                if (is_wall(b, axis, at)) continue;
                if (!list) *closed = occluded(b, axis, at);
                count += *closed;
                for (int k = 0; list && *closed && k < 2; k++) {
                    int32_t low[3] = {at[0], at[1], at[2]};
                    low[axis]--;
                    int32_t cell[2] = {mo_slip_cell_index(b, low), mo_slip_cell_index(b, at)};
                    mo_slip_side s = {.axis = axis, .cell = cell[k], .other = cell[1 - k], .sign = k ? -1 : 1};
                    memcpy(s.at, at, sizeof s.at);
                    find_normal(b, &s);
                    b->side[b->sides++] = s;
                }
            }
    return count;
}

mo_status mo_slip_box_create(const mo_slip_def *def, mo_slip_box *out, mo_error *err)
{
    const double shift[3] = {1.13e-9, 1.71e-9, 2.39e-9}; // cells
    int32_t count = 0;
    *out = (mo_slip_box){.def = def, .cells = def->cells[0] * def->cells[1] * def->cells[2]};
    memcpy(out->n, def->cells, sizeof out->n);
    MO_TRY(mo_sheet_copy(def->sheet, &out->sheet, err));
    mo_sheet_move(&out->sheet, mo_mul(def->dx, mo_v3(shift[0], shift[1], shift[2])));
    MO_TRY(mo_sheet_tree_create(&out->sheet, &out->tree, err));
    for (int a = 0; a < 3; a++) {
        out->closed[a] = mo_calloc((size_t)mo_slip_face_count(out, a));
        if (!out->closed[a]) return mo_fail_memory(err);
        count += visit(out, a, false);
    }
    out->side = mo_alloc(sizeof *out->side * (2 * (size_t)count + 1));
    if (!out->side) return mo_fail_memory(err);
    for (int a = 0; a < 3; a++) visit(out, a, true);
    return MO_OK;
}

void mo_slip_box_destroy(mo_slip_box *b)
{
    for (int a = 0; a < 3; a++) mo_free(b->closed[a]);
    mo_free(b->side);
    mo_sheet_tree_destroy(b->tree);
    mo_sheet_destroy(&b->sheet);
    *b = (mo_slip_box){0};
}
