// Wind on cloth in liquid and in a vacuum (solid/cloth_wind.h). It acts on what is dry: on each side of a triangle as
// far as no liquid is there.
#include "grid/sites.h"
#include "sim/sim.h"
#include <math.h>

static const double air_density = 1.2; // kg/m^3

bool mo_elastic_in_wind(const mo_elastic *e) { return e->wind.strength != NULL; }

// How dry the place x is, 0 to 1, by the level set of its row.
static double dryness_at(const mo_sim *sim, mo_vec3 x)
{
    const mo_grid *g = sim->grid;
    double at[3];
    for (int a = 0; a < 3; a++) at[a] = (mo_get(x, a) - mo_get(g->origin, a)) / g->dx;
    for (int a = 0; a < 3; a++)
        if (!(at[a] >= 0 && at[a] < g->n[a])) return 1;
    int32_t row = mo_site_find(g, at);
    return row < 0 ? 1 : fmin(fmax(0.5 + sim->level.phi[row], 0), 1);
}

static void find_dry(const mo_sim *sim, const mo_elastic_body *b, double *dry)
{
    const double beside = 0.05; // cells, of the place that is asked on either side
    for (int32_t t = 0; t < b->cloth->triangles; t++) {
        mo_vec3 x[3], middle = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            x[k] = b->position[b->cloth->triangle[t][k]], middle = mo_mad(middle, 1.0 / 3, x[k]);
        mo_vec3 n = mo_normalize(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
        double way = beside * sim->grid->dx;
        dry[t] = 0.5 * (dryness_at(sim, mo_mad(middle, way, n)) + dryness_at(sim, mo_mad(middle, -way, n)));
    }
}

mo_status mo_sim_aim_wind(mo_sim *sim, mo_error *err)
{
    bool liquid = sim->def.liquid_count || sim->def.emitter_count;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        double *dry = NULL;
        if (!mo_elastic_in_wind(e)) continue;
        if (liquid && !(dry = MO_ARENA_ARRAY(sim->arena, double, e->body.cloth->triangles))) return mo_fail_memory(err);
        if (dry) find_dry(sim, &e->body, dry);
        mo_cloth_wind_aim(&e->body, air_density, dry, &e->wind);
    }
    return MO_OK;
}

void mo_sim_add_wind(const mo_sim *sim, const double *v, double scale, double *force)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        if (mo_elastic_in_wind(e)) mo_cloth_wind_add_force(&e->body, &e->wind, v + e->first, scale, force + e->first);
    }
}

mo_status mo_sim_account_wind(mo_sim *sim, double dt, const double *before, const double *now, mo_error *err)
{
    double *force = MO_ARENA_ARRAY(sim->arena, double, sim->elastics.unknowns + 1);
    if (!force) return mo_fail_memory(err);
    for (int32_t i = 0; i < sim->elastics.unknowns; i++) force[i] = 0;
    mo_sim_add_wind(sim, now, 1, force);
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic *e = &sim->elastics.body[k];
        int32_t first = e->first, d = e->body.dimension;
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body) && mo_elastic_in_wind(e); i++) {
            double way = e->pinned[i / d] ? now[first + i] : 0.5 * (before[first + i] + now[first + i]);
            sim->account.work += dt * force[first + i] * way;
        }
    }
    return MO_OK;
}
