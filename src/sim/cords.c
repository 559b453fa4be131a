// Cords of cloth: which vertex each begins at, and how it looks.
#include "sim/sim.h"
#include "solid/cloth.h"
#include <math.h>
#include <string.h>

static int32_t nearest_vertex(const mo_sheet *s, mo_vec3 x)
{
    int32_t nearest = 0;
    double best = INFINITY;
    for (int32_t v = 0; v < s->vertices; v++) {
        double d = mo_norm(mo_sub(mo_v3(s->position[v][0], s->position[v][1], s->position[v][2]), x));
        if (d < best) best = d, nearest = v;
    }
    return nearest;
}

mo_status mo_sim_make_cords(const mo_cloth_def *d, mo_cord *cord, mo_error *err)
{
    for (int32_t k = 0; k < d->cord_count; k++) {
        const mo_cord_def *c = &d->cords[k];
        int32_t v = nearest_vertex(d->sheet, c->from);
        const double *x = d->sheet->position[v];
        double length = c->length > 0 ? c->length : mo_norm(mo_sub(c->to, mo_v3(x[0], x[1], x[2])));
        if (!(length > 0))
            return mo_fail(err, MO_ERROR_INPUT, "cloth '%s': cord %d has no length",
                           d->name && d->name[0] ? d->name : "cloth", k + 1);
        cord[k] = (mo_cord){v, -1, c->to, length, c->stretch, c->solid != NULL};
    }
    return MO_OK;
}

// ---- Pictures ----

enum { SIDES = 6, PIECES = 8, TUBE_VERTICES = SIDES * (PIECES + 1), TUBE_TRIANGLES = 2 * SIDES * PIECES };

static mo_status make_room(mo_mesh *m, int32_t tubes)
{
    size_t old = 3 * (size_t)m->vertex_count, old_triangles = 3 * (size_t)m->triangle_count;
    size_t all = old + 3 * TUBE_VERTICES * (size_t)tubes,
           all_triangles = old_triangles + 3 * TUBE_TRIANGLES * (size_t)tubes;
    float **list[] = {&m->position, &m->normal, &m->velocity};
    for (int k = 0; k < 3; k++) {
        float *more = mo_alloc(sizeof(float) * all);
        if (!more) return MO_ERROR_MEMORY;
        memcpy(more, *list[k], sizeof(float) * old);
        mo_free(*list[k]);
        *list[k] = more;
    }
    int32_t *triangle = mo_alloc(sizeof(int32_t) * all_triangles);
    if (!triangle) return MO_ERROR_MEMORY;
    memcpy(triangle, m->triangle, sizeof(int32_t) * old_triangles);
    mo_free(m->triangle);
    m->triangle = triangle;
    return MO_OK;
}

static void put(float *to, mo_vec3 x) { memcpy(to, (float[]){(float)x.x, (float)x.y, (float)x.z}, 3 * sizeof(float)); }

typedef struct curve { // a taut cord is straight, a slack one hangs as a parabola of about its length
    mo_vec3 from, way, sag;
} curve;

static curve curve_of(const mo_cord *c, mo_vec3 from, mo_vec3 to, mo_vec3 gravity)
{
    curve k = {from, mo_sub(to, from), {0, 0, 0}};
    double slack = c->length * c->length - mo_dot(k.way, k.way), g = mo_norm(gravity);
    if (slack > 0 && g > 0) k.sag = mo_mul(0.25 * sqrt(3) * sqrt(slack) / g, gravity);
    return k;
}

static void draw_ring(const curve *k, double t, double radius, float *position, float *normal)
{
    const double turn = 6.283185307179586;
    mo_vec3 middle = mo_mad(mo_mad(k->from, t, k->way), 4 * t * (1 - t), k->sag), u, v;
    mo_vec3 along = mo_mad(k->way, 4 * (1 - 2 * t), k->sag);
    if (!(mo_norm(along) > 0)) along = mo_v3(0, 1, 0); // both ends in one place
    mo_tangents(mo_normalize(along), &u, &v);
    for (int i = 0; i < SIDES; i++) {
        mo_vec3 out = mo_mad(mo_mul(mo_cos(turn * i / SIDES), u), mo_sin(turn * i / SIDES), v);
        put(position + 3 * (ptrdiff_t)i, mo_mad(middle, radius, out)), put(normal + 3 * (ptrdiff_t)i, out);
    }
}

static void draw(const mo_elastic *e, const mo_cord *c, mo_vec3 gravity, mo_mesh *m)
{
    const mo_elastic_body *b = &e->body;
    mo_vec3 to = c->to < 0 ? c->point : b->position[c->to];
    mo_vec3 v0 = b->velocity[c->from], v1 = c->to < 0 ? mo_v3(0, 0, 0) : b->velocity[c->to];
    curve k = curve_of(c, b->position[c->from], to, gravity);
    for (int32_t ring = 0; ring <= PIECES; ring++) {
        double t = (double)ring / PIECES;
        int64_t first = 3 * ((int64_t)m->vertex_count + ring * SIDES);
        draw_ring(&k, t, e->drape.thickness, m->position + first, m->normal + first);
        for (int i = 0; i < SIDES; i++) put(m->velocity + first + 3 * (ptrdiff_t)i, mo_mad(mo_mul(1 - t, v0), t, v1));
        for (int32_t i = 0; i < SIDES && ring < PIECES; i++) {
            int32_t a = m->vertex_count + ring * SIDES + i, n = m->vertex_count + ring * SIDES + (i + 1) % SIDES;
            const int32_t corner[6] = {a, n, n + SIDES, a, n + SIDES, a + SIDES};
            memcpy(m->triangle + 3 * (int64_t)m->triangle_count, corner, sizeof corner);
            m->triangle_count += 2;
        }
    }
    m->vertex_count += TUBE_VERTICES;
}

mo_status mo_cords_draw(const mo_elastic *e, mo_vec3 gravity, mo_mesh *mesh, mo_error *err)
{
    const mo_cloth *c = e->body.cloth;
    if (!c->cords) return MO_OK;
    if (make_room(mesh, c->cords) != MO_OK) {
        mo_mesh_destroy(mesh);
        return mo_fail_memory(err);
    }
    for (int32_t i = 0; i < c->cords; i++) draw(e, &c->cord[i], gravity, mesh);
    return MO_OK;
}
