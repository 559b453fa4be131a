// The system of a liquid: where its unknowns and rows sit on the grid.
#include "system/liquid_system.h"
#include "grid/sites.h"
#include "system/nodes.h"

void mo_liquid_destroy(mo_liquid_system *l)
{
    mo_system_destroy(&l->system);
    mo_free(l->face_at), mo_free(l->cell_at), mo_free(l->attached);
    mo_free(l->sample_at), mo_free(l->unit_compliance), mo_free(l->viscosity), mo_free(l->state);
    mo_free(l->first_home), mo_free(l->home), mo_free(l->host), mo_free(l->push), mo_free(l->gap_at);
    mo_free(l->slip_at);
    mo_csr_destroy(&l->gap_mean);
    *l = (mo_liquid_system){0};
}

void mo_liquid_gather(mo_liquid_system *l, float *const u[3])
{
#pragma omp parallel for schedule(static)
    for (int32_t f = 0; f < l->system.faces.count - l->gaps; f++)
        l->system.faces.velocity[f] = u[mo_face_axis(l->face_at[f])][mo_face_sample(l->face_at[f])];
}

void mo_liquid_set_gaps(mo_liquid_system *l, const double *through)
{
    double *u = l->system.faces.velocity, *w = u + l->system.faces.count - l->gaps;
    for (int32_t k = 0; k < l->gaps; k++) w[k] = through[l->gap_at[k]] - mo_csr_row_product(&l->gap_mean, k, u);
}

static inline int32_t host_of(const mo_liquid_system *l, int32_t face) { return l->host ? l->host[face] : face; }

// Followers come first, as long as the field has u* at their hosts.
void mo_liquid_scatter(const mo_liquid_system *l, float *const u[3], uint8_t *const *valid)
{
    const double *v = l->system.faces.velocity;
    for (int own = l->host ? 0 : 1; own < 2; own++)
#pragma omp parallel for schedule(static)
        for (int32_t f = 0; f < l->system.faces.count - l->gaps; f++) {
            int32_t host = host_of(l, f), axis = mo_face_axis(l->face_at[f]), index = mo_face_sample(l->face_at[f]);
            if (host < 0 || (host == f) != own) continue;
            if (own)
                u[axis][index] = (float)v[f];
            else
                u[axis][index] += (float)(v[host] - u[axis][mo_face_sample(l->face_at[host])]);
            if (valid) valid[axis][index] = 1;
        }
}

void mo_liquid_follow(mo_liquid_system *l, const double *before)
{
    double *v = l->system.faces.velocity;
    for (int32_t f = 0; l->host && f < l->system.faces.count; f++)
        if (l->host[f] >= 0 && l->host[f] != f) v[f] = before[f] + (v[l->host[f]] - before[l->host[f]]);
}

mo_status mo_liquid_push(mo_liquid_system *l, int32_t unknowns, mo_error *err)
{
    mo_free(l->push);
    l->push = mo_calloc(sizeof(double) * (size_t)unknowns);
    return l->push ? MO_OK : mo_fail_memory(err);
}

mo_status mo_liquid_attached(mo_liquid_system *l, mo_error *err)
{
    mo_free(l->attached);
    l->attached = NULL;
    MO_TRY(mo_nodes_attach_begin(&l->system.nodes, err));
    if (l->system.bodies.count == 0) return MO_OK;
    l->attached = mo_calloc(sizeof(mo_attached) * (size_t)mo_body_count(&l->system.bodies));
    if (!l->attached) return mo_fail_memory(err);
    for (int32_t k = 0; l->push && k < l->system.bodies.count; k++)
        l->attached[k / MO_BODY_UNKNOWNS].momentum[k % MO_BODY_UNKNOWNS] = l->push[k];
    return MO_OK;
}
