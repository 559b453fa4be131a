// Cloth: the data that a body takes from its sheet.
#include "solid/cloth.h"
#include <string.h>

void mo_cloth_destroy(mo_cloth *c)
{
    if (!c) return;
    mo_free(c->triangle), mo_free(c->gradient), mo_free(c->form), mo_free(c->kappa), mo_free(c->cord), mo_free(c);
}

static mo_vec3 vertex(const mo_sheet *s, int32_t v)
{
    return mo_v3(s->position[v][0], s->position[v][1], s->position[v][2]);
}

// ---- Corners ----

// The corner of the other triangle at corner k's opposite edge; -1: there is none, or more than one.
static int32_t across(const mo_sheet *s, const mo_sheet_edges *e, int32_t triangle, int k)
{
    int32_t edge = e->of[triangle][(k + 1) % 3]; // from the next corner to the one behind it
    const int32_t *around = e->around + e->first[edge];
    if (e->first[edge + 1] - e->first[edge] != 2) return -1;
    int32_t other = around[0] / 4 == triangle ? around[1] : around[0];
    return s->triangle[other / 4][(other % 4 + 2) % 3];
}

static void list_corners(const mo_sheet *s, const mo_sheet_edges *e, mo_elastic_body *b)
{
    for (int32_t i = 0; i < b->elements * b->corners; i++) b->corner[i] = -1;
    for (int32_t t = 0; t < s->triangles; t++)
        for (int k = 0; k < 3; k++) {
            b->corner[t * b->corners + k] = s->triangle[t][k];
            b->corner[t * b->corners + 3 + k] = across(s, e, t, k);
        }
    for (int32_t i = 0; i < b->cloth->cords; i++) {
        int32_t *corner = b->corner + (s->triangles + i) * b->corners;
        corner[0] = b->cloth->cord[i].from, corner[1] = b->cloth->cord[i].to;
    }
}

// ---- At rest ----

// Area and gradients in axes of the triangle's plane, of which the first goes along its first edge.
static void measure_plane(mo_elastic_body *b, int32_t t)
{
    const int32_t *c = b->corner + t * b->corners;
    mo_vec3 e1 = mo_sub(b->rest[c[1]], b->rest[c[0]]), e2 = mo_sub(b->rest[c[2]], b->rest[c[0]]);
    double l = mo_norm(e1), x = mo_dot(e1, e2) / l, y = mo_norm(mo_cross(e1, e2)) / l; // corners (0, 0), (l, 0), (x, y)
    double(*g)[2] = b->cloth->gradient[t];
    b->volume[t] = 0.5 * l * y;
    g[1][0] = 1 / l, g[1][1] = -x / (l * y);
    g[2][0] = 0, g[2][1] = 1 / y;
    for (int a = 0; a < 2; a++) g[0][a] = -(g[1][a] + g[2][a]);
}

static void measure_bending(mo_elastic_body *b, int32_t t)
{
    mo_cloth *c = b->cloth;
    const double(*g)[2] = (const double(*)[2])c->gradient[t], nu = c->material.poisson;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double product = g[i][0] * g[k][0] + g[i][1] * g[k][1];
            double squares = (g[i][0] * g[i][0] + g[i][1] * g[i][1]) * (g[k][0] * g[k][0] + g[k][1] * g[k][1]);
            c->form[t][i][k] = (1 - nu) * product * product + nu * squares;
        }
    for (int i = 0; i < 3; i++) {
        const int32_t *corner = b->corner + t * b->corners;
        mo_flap flap = {0};
        if (corner[3 + i] >= 0) {
            mo_vec3 x[4] = {b->rest[corner[(i + 1) % 3]], b->rest[corner[(i + 2) % 3]], b->rest[corner[i]],
                            b->rest[corner[3 + i]]};
            mo_flap_find(x, 0, &flap);
        }
        c->kappa[t][i] = flap.kappa;
    }
}

static void lump_mass(mo_elastic_body *b)
{
    for (int32_t t = 0; t < b->cloth->triangles; t++)
        for (int k = 0; k < 3; k++) b->mass[b->corner[t * b->corners + k]] += b->density * b->volume[t] / 3;
}

// ---- Creation ----

// A triangle is flat if its least height is below this part of its longest edge.
static const double flat = 1e-6;

static mo_status check_sheet(const mo_sheet *s, mo_error *err)
{
    for (int32_t t = 0; t < s->triangles; t++) {
        mo_vec3 x[3];
        double longest = 0;
        for (int k = 0; k < 3; k++) x[k] = vertex(s, s->triangle[t][k]);
        for (int k = 0; k < 3; k++) longest = fmax(longest, mo_norm(mo_sub(x[(k + 1) % 3], x[k])));
        double area2 = mo_norm(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
        if (!(area2 > flat * longest * longest))
            return mo_fail(err, MO_ERROR_INPUT, "triangle %d of its sheet has no area", t + 1);
    }
    return MO_OK;
}

static mo_cloth *new_cloth(const mo_sheet *sheet, const mo_cloth_material *material, int32_t cords, const mo_cord *cord)
{
    mo_cloth *c = mo_calloc(sizeof *c);
    if (!c) return NULL;
    *c = (mo_cloth){.material = *material, .triangles = sheet->triangles, .cords = cords};
    size_t n = (size_t)sheet->triangles + 1;
    c->triangle = mo_alloc(sizeof *c->triangle * n);
    c->gradient = mo_alloc(sizeof *c->gradient * n), c->form = mo_alloc(sizeof *c->form * n);
    c->kappa = mo_alloc(sizeof *c->kappa * n), c->cord = mo_alloc(sizeof *c->cord * ((size_t)cords + 1));
    if (c->triangle && c->gradient && c->form && c->kappa && c->cord) {
        memcpy(c->triangle, sheet->triangle, sizeof *c->triangle * (size_t)sheet->triangles);
        if (cords) memcpy(c->cord, cord, sizeof *cord * (size_t)cords);
        return c;
    }
    mo_cloth_destroy(c);
    return NULL;
}

// Ends of cords that are held: vertices behind those of the sheet.
static void add_ends(const mo_sheet *sheet, mo_elastic_body *b)
{
    int32_t v = sheet->vertices;
    double mass = 0;
    for (int32_t t = 0; t < sheet->triangles; t++) mass += b->density * b->volume[t];
    for (int32_t i = 0; i < b->cloth->cords; i++)
        if (b->cloth->cord[i].held) b->mass[v++] = mass / sheet->vertices;
}

static void number_ends(const mo_sheet *sheet, mo_elastic_body *b)
{
    int32_t v = sheet->vertices;
    for (int32_t i = 0; i < b->cloth->cords; i++) {
        mo_cord *c = &b->cloth->cord[i];
        if (c->held) b->rest[v] = b->position[v] = c->point, c->to = v++;
    }
}

static mo_status fill(const mo_sheet *sheet, const mo_sheet_edges *edges, mo_elastic_body *b, mo_error *err)
{
    for (int32_t v = 0; v < sheet->vertices; v++) b->rest[v] = b->position[v] = vertex(sheet, v);
    number_ends(sheet, b);
    list_corners(sheet, edges, b);
    for (int32_t t = 0; t < sheet->triangles; t++) measure_plane(b, t), measure_bending(b, t);
    for (int32_t i = 0; i < b->cloth->cords; i++) b->volume[sheet->triangles + i] = b->cloth->cord[i].length;
    lump_mass(b);
    add_ends(sheet, b);
    for (int32_t v = 0; v < b->vertices; v++)
        if (!(b->mass[v] > 0))
            return mo_fail(err, MO_ERROR_INPUT, "vertex %d of its sheet belongs to no triangle", v + 1);
    return mo_elastic_connect(b) == MO_OK ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cloth_create(const mo_sheet *sheet, const mo_cloth_material *material, int32_t cords, const mo_cord *cord,
                          mo_elastic_body *out, mo_error *err)
{
    int32_t ends = 0;
    for (int32_t i = 0; i < cords; i++) ends += cord[i].held;
    *out = (mo_elastic_body){.dimension = 3,
                             .vertices = sheet->vertices + ends,
                             .elements = sheet->triangles + cords,
                             .corners = MO_CLOTH_CORNERS,
                             .density = material->density};
    mo_sheet_edges edges;
    MO_TRY(check_sheet(sheet, err));
    MO_TRY(mo_sheet_edges_create(sheet, &edges, err));
    out->cloth = new_cloth(sheet, material, cords, cord);
    if (out->cloth) out->cloth->ends = ends;
    mo_status status = out->cloth && mo_elastic_allocate(out) ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK) status = fill(sheet, &edges, out, err);
    mo_sheet_edges_destroy(&edges);
    if (status != MO_OK) mo_elastic_destroy(out);
    return status;
}
