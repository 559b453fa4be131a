// Looking at elastic bodies: their motion as a whole, vertices, elements, surface.
#include "base/matrix3.h"
#include "sim/sim.h"
#include "solid/elastic_skin.h"
#include "solid/elastic_turn.h"
#include <math.h>

int32_t mo_sim_elastic_count(const mo_sim *sim) { return sim->elastics.count - sim->elastics.cloths; }

void mo_sim_elastic(const mo_sim *sim, int32_t elastic, mo_elastic_state *out)
{
    MO_ASSERT(elastic >= 0 && elastic < mo_sim_elastic_count(sim));
    const mo_elastic *e = &sim->elastics.body[elastic];
    const mo_elastic_body *b = &e->body;
    const mo_solid *s = &sim->solids[e->solid];
    mo_elastic_sums sums = mo_elastic_measure(b);
    *out = (mo_elastic_state){.name = s->name,
                              .dimension = b->dimension,
                              .vertex_count = b->vertices,
                              .element_count = b->elements,
                              .face_count = e->field.faces,
                              .element = b->corner,
                              .face = e->field.face,
                              .mass = sums.mass,
                              .centre = sums.centre,
                              .rotation = mo_elastic_rotation(b, b->rest, b->position),
                              .velocity = s->velocity,
                              .angular_velocity = s->angular_velocity,
                              .force = s->force,
                              .kinetic = sums.kinetic,
                              .elastic = sums.elastic,
                              .least = sums.least,
                              .inverted = sums.inverted};
}

void mo_sim_copy_vectors(int32_t count, const mo_vec3 *from, double *to)
{
    for (int32_t v = 0; to && v < count; v++)
        for (int a = 0; a < 3; a++) to[3 * (int64_t)v + a] = mo_get(from[v], a);
}

void mo_sim_elastic_vertices(const mo_sim *sim, int32_t elastic, double *position, double *velocity)
{
    MO_ASSERT(elastic >= 0 && elastic < mo_sim_elastic_count(sim));
    const mo_elastic_body *b = &sim->elastics.body[elastic].body;
    mo_sim_copy_vectors(b->vertices, b->position, position);
    mo_sim_copy_vectors(b->vertices, b->velocity, velocity);
}

void mo_sim_elastic_elements(const mo_sim *sim, int32_t elastic, double *volume_ratio, double *von_mises)
{
    MO_ASSERT(elastic >= 0 && elastic < mo_sim_elastic_count(sim));
    const mo_elastic_body *b = &sim->elastics.body[elastic].body;
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < b->elements; i++) {
        double F[3][3];
        mo_elastic_deformation(b, b->position, i, F);
        if (volume_ratio) volume_ratio[i] = mo_det3((const double(*)[3])F);
        if (von_mises) von_mises[i] = mo_elasticity_von_mises(&b->elasticity, (const double(*)[3])F);
    }
}

// ---- Surface ----

static mo_status element_means(const mo_elastic_skin *skin, const mo_elastic_body *b, const mo_sim *sim,
                               int32_t elastic, float **out, mo_error *err)
{
    double *value = mo_alloc(sizeof *value * ((size_t)b->elements + 1));
    *out = mo_alloc(sizeof **out * ((size_t)skin->vertices + 1));
    if (!value || !*out) {
        mo_free(value), mo_free(*out);
        *out = NULL;
        return mo_fail_memory(err);
    }
    mo_sim_elastic_elements(sim, elastic, NULL, value);
    mo_elastic_skin_mean(skin, b, value, *out);
    mo_free(value);
    return MO_OK;
}

mo_status mo_sim_elastic_surface_stress(const mo_sim *sim, int32_t elastic, mo_mesh *out, float **von_mises,
                                        mo_error *err)
{
    MO_ASSERT(elastic >= 0 && elastic < mo_sim_elastic_count(sim));
    const mo_elastic *e = &sim->elastics.body[elastic];
    mo_elastic_skin skin;
    MO_TRY(mo_elastic_skin_create(&e->body, e->field.face, e->field.faces, sim->grid->dx, &skin, err));
    mo_status status = mo_elastic_skin_mesh(&skin, &e->body, out, err);
    if (status == MO_OK && von_mises) {
        status = element_means(&skin, &e->body, sim, elastic, von_mises, err);
        if (status != MO_OK) mo_mesh_destroy(out);
    }
    mo_elastic_skin_destroy(&skin);
    return status;
}

mo_status mo_sim_elastic_surface(const mo_sim *sim, int32_t elastic, mo_mesh *out, mo_error *err)
{
    return mo_sim_elastic_surface_stress(sim, elastic, out, NULL, err);
}
