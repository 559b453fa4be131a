// Which faces sheets occlude, and the sheet beside them. See ghost_faces.h.
#include "grid/ghost_faces.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

bool mo_ghost_in_domain(const mo_grid *g, int32_t cell)
{
    int32_t c[3];
    if (cell < 0) return false;
    mo_grid_cell(g, cell, c);
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

int32_t mo_ghost_open_step(const mo_ghost_faces *f, int32_t cell, int axis, int side)
{
    int32_t to = mo_grid_step(f->g, cell, axis, side);
    if (!mo_ghost_in_domain(f->g, to) || f->closed[3 * (int64_t)(side > 0 ? to : cell) + axis]) return -1;
    return to;
}

static mo_vec3 centre_of(const mo_grid *g, int32_t cell)
{
    int32_t c[3];
    mo_grid_cell(g, cell, c);
    return mo_v3(c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
}

static mo_vec3 vertex_of(const mo_sheet *s, int32_t triangle, int corner)
{
    const double *x = s->position[s->triangle[triangle][corner]];
    return mo_v3(x[0], x[1], x[2]);
}

// ---- Cells near triangles ----

// Cells that the box of a triangle meets: counts them, or writes them.
static int64_t scan(const mo_ghost_faces *f, int32_t t, int32_t *cell)
{
    const mo_grid *g = f->g;
    int32_t lo[3], hi[3];
    int64_t count = 0;
    for (int a = 0; a < 3; a++) {
        double x = mo_get(vertex_of(&f->sheet, t, 0), a), y = mo_get(vertex_of(&f->sheet, t, 1), a),
               z = mo_get(vertex_of(&f->sheet, t, 2), a);
        lo[a] = (int32_t)fmax(floor(fmin(x, fmin(y, z))), 0);
        hi[a] = (int32_t)fmin(floor(fmax(x, fmax(y, z))), g->n[a] - 1);
    }
    if (mo_grid_is_2d(g)) lo[2] = lo[2] > MO_MARGIN ? lo[2] : MO_MARGIN, hi[2] = hi[2] < MO_MARGIN ? hi[2] : MO_MARGIN;
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                int32_t index = mo_grid_index(g, i, j, k);
                if (index < 0) continue;
                if (cell) cell[count] = index;
                count++;
            }
    return count;
}

static mo_status list_cells(mo_ghost_faces *f, mo_arena *arena, mo_error *err)
{
    int32_t triangles = f->sheet.triangles;
    int64_t *first = MO_ARENA_ARRAY(arena, int64_t, triangles + 1), total = 0;
    if (!first) return mo_fail_memory(err);
    for (int32_t t = 0; t < triangles; t++) first[t] = total, total += scan(f, t, NULL);
    if (total > INT32_MAX / 4) return mo_fail(err, MO_ERROR_INPUT, "the triangles of sheets are far larger than cells");
    int32_t *cell = MO_ARENA_ARRAY(arena, int32_t, total + 1), *of = MO_ARENA_ARRAY(arena, int32_t, total + 1);
    int32_t *order = MO_ARENA_ARRAY(arena, int32_t, total + 1);
    int32_t *start = MO_ARENA_ARRAY(arena, int32_t, mo_grid_cells(f->g) + 2);
    f->cell = mo_alloc(sizeof(int32_t) * ((size_t)total + 1)),
    f->triangle = mo_alloc(sizeof(int32_t) * ((size_t)total + 1));
    if (!cell || !of || !order || !start || !f->cell || !f->triangle) return mo_fail_memory(err);
    for (int32_t t = 0; t < triangles; t++)
        for (int64_t k = first[t], end = first[t] + scan(f, t, cell + first[t]); k < end; k++) of[k] = t;
    if (!mo_counting_sort(total, cell, (int32_t)mo_grid_cells(f->g), start, order, arena)) return mo_fail_memory(err);
    for (int64_t k = 0; k < total; k++) f->cell[k] = cell[order[k]], f->triangle[k] = of[order[k]];
    f->entries = total;
    return MO_OK;
}

// The entries of a cell, or where they would be.
static int64_t first_entry(const mo_ghost_faces *f, int32_t cell)
{
    int64_t lo = 0, hi = f->entries;
    while (lo < hi) {
        int64_t middle = lo + (hi - lo) / 2;
        if (f->cell[middle] < cell)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// ---- Occluded faces ----

static bool is_occluded(const mo_ghost_faces *f, int32_t cell, int axis)
{
    int32_t low = mo_grid_step(f->g, cell, axis, -1), triangle;
    if (!mo_ghost_in_domain(f->g, low) || !mo_ghost_in_domain(f->g, cell)) return false;
    return mo_sheet_tree_meet(f->tree, centre_of(f->g, low), centre_of(f->g, cell), &triangle) <= 1;
}

// A segment between two centres lies in their cells, so that one of them has the triangle that it meets.
static mo_status find_occluded(mo_ghost_faces *f, mo_error *err)
{
    int64_t cells = mo_grid_cells(f->g);
    f->closed = mo_calloc(3 * (size_t)cells + 1);
    uint8_t *may = mo_calloc(3 * (size_t)cells + 1);
    if (f->closed && may) {
        for (int64_t k = 0; k < f->entries; k++)
            for (int a = 0; a < mo_grid_axes(f->g); a++) {
                int32_t i = f->cell[k], high = mo_grid_step(f->g, i, a, 1);
                may[3 * (int64_t)i + a] = 1;
                if (high >= 0) may[3 * (int64_t)high + a] = 1;
            }
#pragma omp parallel for schedule(dynamic, 4096)
        for (int64_t k = 0; k < 3 * cells; k++)
            if (may[k]) f->closed[k] = is_occluded(f, (int32_t)(k / 3), (int)(k % 3));
        for (int64_t k = 0; k < 3 * cells; k++) f->count += f->closed[k];
        f->face = mo_alloc(sizeof(int32_t) * ((size_t)f->count + 1));
        int32_t at = 0;
        for (int64_t k = 0; f->face && k < 3 * cells; k++)
            if (f->closed[k]) f->face[at++] = (int32_t)k;
    }
    mo_free(may);
    return f->closed && f->face ? MO_OK : mo_fail_memory(err);
}

mo_status mo_ghost_faces_create(const mo_grid *g, const mo_sheet *sheet, mo_ghost_faces *out, mo_error *err)
{
    const double shift[3] = {1.13e-9, 1.71e-9, 2.39e-9}; // cells
    *out = (mo_ghost_faces){.g = g};
    MO_TRY(mo_sheet_copy(sheet, &out->sheet, err));
    for (int32_t v = 0; v < sheet->vertices; v++)
        for (int a = 0; a < 3; a++)
            out->sheet.position[v][a] = (sheet->position[v][a] - mo_get(g->origin, a)) / g->dx + shift[a];
    MO_TRY(mo_sheet_tree_create(&out->sheet, &out->tree, err));
    mo_arena *arena = mo_arena_create();
    mo_status status = arena ? list_cells(out, arena, err) : mo_fail_memory(err);
    mo_arena_destroy(arena);
    return status == MO_OK ? find_occluded(out, err) : status;
}

void mo_ghost_faces_destroy(mo_ghost_faces *f)
{
    mo_sheet_tree_destroy(f->tree);
    mo_sheet_destroy(&f->sheet);
    mo_free(f->closed), mo_free(f->face), mo_free(f->cell), mo_free(f->triangle);
    *f = (mo_ghost_faces){0};
}

// ---- The sheet beside a face ----

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

// Barycentric weights of a point in the plane of a triangle.
static void find_weights(const mo_vec3 corner[3], mo_vec3 x, double weight[3])
{
    mo_vec3 u = mo_sub(corner[1], corner[0]), v = mo_sub(corner[2], corner[0]), w = mo_sub(x, corner[0]);
    double uu = mo_dot(u, u), uv = mo_dot(u, v), vv = mo_dot(v, v), det = uu * vv - uv * uv;
    weight[1] = (mo_dot(w, u) * vv - mo_dot(w, v) * uv) / det,
    weight[2] = (mo_dot(w, v) * uu - mo_dot(w, u) * uv) / det;
    weight[0] = 1 - weight[1] - weight[2];
}

// Adds the part of a triangle that lies in the box of half a cell round x.
static void add_triangle(const mo_ghost_faces *f, int32_t t, mo_vec3 x, mo_vec3 towards, mo_vec3 *normal,
                         mo_ghost_patch *out)
{
    mo_vec3 corner[3], p[CORNERS], sum = {0, 0, 0}, middle = {0, 0, 0};
    int n = 3;
    for (int k = 0; k < 3; k++) p[k] = corner[k] = vertex_of(&f->sheet, t, k);
    for (int a = 0; a < 3 && n; a++) {
        n = cut(p, n, a, mo_get(x, a) + 0.5, 1);
        if (n) n = cut(p, n, a, mo_get(x, a) - 0.5, -1);
    }
    if (n < 3 || out->count == MO_GHOST_PIECES) return;
    for (int k = 1; k + 1 < n; k++) {
        mo_vec3 part = mo_mul(0.5, mo_cross(mo_sub(p[k], p[0]), mo_sub(p[k + 1], p[0])));
        sum = mo_add(sum, part);
        middle = mo_mad(middle, mo_norm(part) / 3, mo_add(p[0], mo_add(p[k], p[k + 1])));
    }
    double area = mo_norm(sum);
    if (!(area > 0)) return;
    if (mo_dot(sum, mo_sub(towards, corner[0])) < 0) sum = mo_mul(-1, sum);
    *normal = mo_add(*normal, sum);
    out->piece[out->count].triangle = t, out->piece[out->count].part = area;
    find_weights(corner, mo_mul(1 / area, middle), out->piece[out->count].weight);
    out->count++;
}

void mo_ghost_find_patch(const mo_ghost_faces *f, const mo_ghost_side *s, mo_ghost_patch *out)
{
    const mo_grid *g = f->g;
    mo_vec3 towards = centre_of(g, s->cell), x = mo_mul(0.5, mo_add(towards, centre_of(g, s->other))), sum = {0, 0, 0};
    double area = 0;
    out->count = 0;
    int64_t a = first_entry(f, s->cell), b = first_entry(f, s->other);
    while (true) { // the triangles of both cells, each once
        bool has_a = a < f->entries && f->cell[a] == s->cell, has_b = b < f->entries && f->cell[b] == s->other;
        if (!has_a && !has_b) break;
        int32_t t = !has_b || (has_a && f->triangle[a] <= f->triangle[b]) ? f->triangle[a] : f->triangle[b];
        a += has_a && f->triangle[a] == t, b += has_b && f->triangle[b] == t;
        add_triangle(f, t, x, towards, &sum, out);
    }
    for (int32_t k = 0; k < out->count; k++) area += out->piece[k].part;
    for (int32_t k = 0; k < out->count; k++) out->piece[k].part /= area;
    double length = mo_norm(sum);
    for (int k = 0; k < 3; k++)
        out->normal[k] =
            length > 1e-9 * area && length > 0 ? mo_get(sum, k) / length : (k == s->axis ? (s->side ? -1 : 1) : 0);
}
