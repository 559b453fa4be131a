// Elastic bodies in analytic cases.
#include "cases/soft.h"
#include "geometry/tets.h"
#include "system/solid_rows.h"
#include <string.h>

// ---- As solids ----

static int32_t soft_number(const mo_soft *s, int32_t solid) { return solid - s->others.count; }

static double distance(const void *user, int32_t solid, mo_vec3 x)
{
    const mo_soft *s = user;
    int32_t k = soft_number(s, solid);
    return k < 0 ? s->others.distance(s->others.user, solid, x) : mo_elastic_field_distance(&s->field[k], x);
}

static mo_vec3 velocity(const void *user, int32_t solid, mo_vec3 x)
{
    const mo_soft *s = user;
    return s->others.velocity(s->others.user, solid, x);
}

static bool near(const void *user, int32_t solid, mo_vec3 x, double reach)
{
    const mo_soft *s = user;
    int32_t k = soft_number(s, solid);
    return k < 0 ? mo_solid_near(&s->others, solid, x, reach) : mo_elastic_field_near(&s->field[k], x, reach);
}

static int32_t columns(const void *user, int32_t solid, mo_vec3 x, mo_vec3 direction, mo_column *out)
{
    const mo_soft *s = user;
    int32_t k = soft_number(s, solid), vertex[MO_ELASTIC_WEIGHTS], at = 0;
    double weight[MO_ELASTIC_WEIGHTS];
    if (k < 0) return mo_solid_columns(&s->others, solid, x, direction, out);
    int32_t n = mo_elastic_field_weights(&s->field[k], &s->body[k], x, vertex, weight), d = s->body[k].dimension;
    for (int32_t i = 0; i < n; i++)
        for (int32_t a = 0; a < d; a++)
            if (mo_get(direction, a) != 0 && at < MO_SOLID_COLUMNS)
                out[at++] = (mo_column){MO_NODES, s->first[k] + d * vertex[i] + a, weight[i] * mo_get(direction, a)};
    return at;
}

static int32_t pieces_in(const void *user, int32_t solid, int sample, const int32_t cell[3],
                         const mo_surface_piece **first, int32_t *unknown)
{
    const mo_soft *s = user;
    int32_t k = soft_number(s, solid);
    if (k < 0) return 0;
    const int32_t at[3] = {cell[0], cell[1], s->body[k].dimension == 3 ? cell[2] : 0};
    *unknown = s->first[k];
    return mo_elastic_pieces_in(&s->pieces[k], sample, at, first);
}

// ---- Bodies ----

mo_status mo_soft_create(const mo_solid_set *others, mo_soft *out)
{
    *out = (mo_soft){.arena = mo_arena_create()};
    if (others) out->others = *others;
    size_t solids = (size_t)out->others.count + MO_MOST_SOFT;
    out->number = mo_alloc(sizeof(int32_t) * solids), out->centre = mo_calloc(sizeof(mo_vec3) * solids);
    if (out->arena && out->number && out->centre) return MO_OK;
    mo_soft_destroy(out);
    return MO_ERROR_MEMORY;
}

void mo_soft_destroy(mo_soft *s)
{
    for (int32_t k = 0; k < s->count; k++) {
        mo_elastic_destroy(&s->body[k]);
        mo_elastic_field_destroy(&s->field[k]);
        mo_elastic_pieces_destroy(&s->pieces[k]);
        mo_node_part_destroy(&s->node[k]);
        mo_free(s->pinned[k]);
    }
    mo_free(s->target), mo_free(s->number), mo_free(s->centre);
    mo_arena_destroy(s->arena);
    *s = (mo_soft){0};
}

mo_status mo_soft_add(mo_soft *s, const mo_tets *mesh, const mo_elasticity *elasticity, double density, double depth,
                      bool (*pin)(mo_vec3 x), mo_error *err)
{
    MO_ASSERT(s->count < MO_MOST_SOFT);
    int32_t k = s->count++;
    if (mo_elastic_create(mesh, elasticity, density, depth, &s->body[k]) != MO_OK) return mo_fail_memory(err);
    s->pinned[k] = mo_calloc((size_t)s->body[k].vertices + 1);
    if (!s->pinned[k]) return mo_fail_memory(err);
    for (int32_t v = 0; pin && v < s->body[k].vertices; v++) s->pinned[k][v] = pin(s->body[k].rest[v]);
    MO_TRY(mo_elastic_field_create(&s->body[k], &s->field[k], err));
    s->first[k + 1] = s->first[k] + mo_elastic_unknowns(&s->body[k]);
    return mo_elastic_part_create(&s->body[k], s->pinned[k], &s->node[k], err);
}

mo_status mo_soft_place(mo_soft *s, const mo_grid *g, mo_error *err)
{
    const mo_solid_set *o = &s->others;
    for (int32_t k = 0; k < s->count; k++) {
        mo_vec3 origin = mo_grid_world(g, 0, 0, 0);
        MO_TRY(mo_elastic_field_update(&s->field[k], &s->body[k], origin, 0.5 * g->dx, s->arena, err));
        if (s->polygons)
            MO_TRY(mo_elastic_pieces_update(&s->pieces[k], &s->body[k], &s->field[k], origin, g->dx, true, err));
    }
    for (int32_t i = 0; i < o->count; i++) {
        s->number[i] = o->body ? o->body[i] : -1;
        if (o->centre) s->centre[i] = o->centre[i];
    }
    for (int32_t k = 0; k < s->count; k++) s->number[o->count + k] = o->bodies + k;
    s->solids = *o;
    s->solids.count += s->count, s->solids.user = s, s->solids.distance = distance;
    s->solids.velocity = o->velocity ? velocity : NULL;
    s->solids.near = near, s->solids.columns = columns, s->solids.pieces = s->polygons ? pieces_in : NULL;
    s->solids.body = s->number, s->solids.centre = s->centre, s->solids.nodes = s->first[s->count];
    return MO_OK;
}

// ---- In a system ----

mo_status mo_soft_join(mo_soft *s, double dt, double volume, mo_group *nodes, mo_error *err)
{
    int32_t n = s->first[s->count];
    mo_free(s->target);
    s->target = mo_alloc(sizeof(double) * ((size_t)n + 1));
    if (!s->target) return mo_fail_memory(err);
    for (int32_t k = 0; k < s->count; k++) {
        const mo_elastic_body *b = &s->body[k];
        double *to = s->target + s->first[k];
        for (int32_t i = 0; i < mo_elastic_unknowns(b); i++)
            to[i] = mo_get(b->velocity[i / b->dimension], i % b->dimension);
        s->part[k] = (mo_elastic_part){.body = b, .target = to};
    }
    s->law = (mo_elastic_law){s->part, dt, volume, s->arena};
    mo_node_law law = mo_elastic_law_of(&s->law);
    MO_TRY(mo_nodes_join(s->count, s->node, &law, nodes, err));
    memcpy(nodes->velocity, s->target, sizeof(double) * (size_t)n);
    return MO_OK;
}

void mo_soft_take(mo_soft *s, const mo_group *nodes)
{
    for (int32_t k = 0; k < s->count; k++) {
        mo_elastic_body *b = &s->body[k];
        const double *v = nodes->velocity + s->first[k];
        for (int32_t i = 0, d = b->dimension; i < b->vertices; i++)
            b->velocity[i] = mo_v3(v[d * i], v[d * i + 1], d == 3 ? v[d * i + 2] : 0);
    }
}
