// The law of elastic bodies in a step of implicit Euler.
#include "system/elastic_law.h"
#include "solid/elastic_turn.h"
#include <string.h>

// Where vertices come to with velocities v, in the arena.
static mo_vec3 *places(const mo_elastic_body *b, double dt, const double *v, mo_arena *arena)
{
    mo_vec3 *x = MO_ARENA_ARRAY(arena, mo_vec3, b->vertices + 1);
    for (int32_t k = 0, d = b->dimension; x && k < b->vertices; k++)
        x[k] = mo_mad(b->position[k], dt, mo_v3(v[d * k], v[d * k + 1], d == 3 ? v[d * k + 2] : 0));
    return x;
}

static mo_status value(void *user, int32_t k, const double *v, double *out)
{
    const mo_elastic_law *l = user;
    const mo_elastic_part *p = &l->part[k];
    const mo_elastic_body *b = p->body;
    size_t mark = mo_arena_mark(l->arena);
    mo_elastic_step step = {b->position, l->dt};
    mo_vec3 *x = places(b, l->dt, v, l->arena);
    mo_status status = x ? mo_elastic_energy(b, x, &step, l->arena, out) : MO_ERROR_MEMORY;
    for (int32_t i = 0; status == MO_OK && i < mo_elastic_unknowns(b); i++) {
        double change = v[i] - p->target[i];
        *out += 0.5 * b->mass[i / b->dimension] * (change * change + p->drag * l->dt * v[i] * v[i]);
        if (p->follow) *out -= l->dt * p->follow[i] * v[i];
    }
    if (p->wind && status == MO_OK) *out += l->dt * mo_cloth_wind_value(b, p->wind, v);
    *out /= l->volume;
    mo_arena_release(l->arena, mark);
    return status;
}

mo_status mo_elastic_follow(const mo_elastic_body *b, mo_arena *arena, double *follow)
{
    if (b->cloth) { // it encloses nothing
        memset(follow, 0, sizeof(double) * (size_t)mo_elastic_unknowns(b));
        return MO_OK;
    }
    mo_elastic_body volume = *b; // on which only pressure acts
    volume.elasticity = (mo_elasticity){.model = MO_NEO_HOOKEAN, .pressure = b->elasticity.pressure};
    return mo_elastic_gradient(&volume, b->position, NULL, arena, follow);
}

// M (v - v*) + a dt M v + dt (dW/dx - f)
static void add_inertia(const mo_elastic_law *l, const mo_elastic_part *p, const double *v, double *gradient)
{
    const mo_elastic_body *b = p->body;
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
        double inertia = b->mass[i / b->dimension] * (v[i] - p->target[i] + p->drag * l->dt * v[i]);
        gradient[i] = (inertia + l->dt * (gradient[i] - (p->follow ? p->follow[i] : 0))) / l->volume;
    }
}

// M + a dt M + dt^2 d2W/dx2
static void add_masses(const mo_elastic_law *l, const mo_elastic_part *p, mo_csr *H)
{
    double scale = l->dt * l->dt / l->volume;
    for (int32_t i = 0; i < H->rows; i++)
        for (int64_t e = H->row[i]; e < H->row[i + 1]; e++) {
            H->val[e] *= scale;
            if (H->col[e] == i) H->val[e] += p->body->mass[i / p->body->dimension] * (1 + p->drag * l->dt) / l->volume;
        }
}

static mo_status derive(void *user, int32_t k, const double *v, bool convex, double *gradient, mo_csr *H)
{
    const mo_elastic_law *l = user;
    const mo_elastic_part *p = &l->part[k];
    size_t mark = mo_arena_mark(l->arena);
    mo_elastic_step step = {p->body->position, l->dt};
    mo_vec3 *x = places(p->body, l->dt, v, l->arena);
    mo_status status = x ? mo_elastic_gradient(p->body, x, &step, l->arena, gradient) : MO_ERROR_MEMORY;
    if (status == MO_OK) status = mo_elastic_stiffness(p->body, x, &step, convex, l->arena, H, NULL);
    if (status == MO_OK && p->wind) {
        mo_cloth_wind_add_force(p->body, p->wind, v, -1, gradient);
        mo_cloth_wind_add_stiffness(p->body, p->wind, v, 1 / l->dt, H); // in terms of places, as the rest of H
    }
    if (status == MO_OK) add_inertia(l, p, v, gradient), add_masses(l, p, H);
    mo_arena_release(l->arena, mark);
    return status;
}

static void mass(void *user, int32_t k, double *out)
{
    const mo_elastic_law *l = user;
    const mo_elastic_part *p = &l->part[k];
    for (int32_t i = 0, d = p->body->dimension; i < mo_elastic_unknowns(p->body); i++)
        out[i] = p->body->mass[i / d] * (1 + p->drag * l->dt) / l->volume;
}

static mo_status modes(void *user, int32_t k, const double *v, mo_csr *rows, double **out)
{
    const mo_elastic_law *l = user;
    const mo_elastic_body *b = l->part[k].body;
    size_t mark = mo_arena_mark(l->arena);
    mo_elastic_step step = {b->position, l->dt};
    mo_vec3 *x = places(b, l->dt, v, l->arena);
    mo_status status = x ? mo_elastic_modes(b, x, &step, rows, out) : MO_ERROR_MEMORY;
    for (int32_t i = 0; status == MO_OK && i < rows->rows; i++) (*out)[i] *= l->dt * l->dt / l->volume;
    mo_arena_release(l->arena, mark);
    return status;
}

static void chord(void *user, int32_t k, const double *v, double *out)
{
    const mo_elastic_law *l = user;
    mo_elastic_chord(l->part[k].body, l->dt, v, out);
}

mo_node_law mo_elastic_law_of(mo_elastic_law *l)
{
    MO_ASSERT(l->volume > 0 && l->arena);
    return (mo_node_law){l, value, derive, mass, modes, false, chord};
}

mo_status mo_elastic_part_create(const mo_elastic_body *b, const uint8_t *pinned, mo_node_part *out, mo_error *err)
{
    mo_csr H = {0};
    int32_t n = mo_elastic_unknowns(b);
    uint8_t *held = mo_calloc((size_t)n + 1);
    mo_status status = held && mo_elastic_pattern(b, &H) == MO_OK ? MO_OK : mo_fail_memory(err);
    for (int32_t i = 0; pinned && held && i < n; i++) held[i] = pinned[i / b->dimension];
    if (status == MO_OK) status = mo_node_part_create(&H, b->dimension, held, out, err);
    if (status == MO_OK) out->place = b->position;
    mo_free(held);
    return status;
}
