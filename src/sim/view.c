// Looking at the state: particles, bodies, visible surface and volume.
#include "fluid/liquid_mesh.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

int64_t mo_sim_particle_count(const mo_sim *sim) { return sim->particles.count; }

void mo_sim_particles(const mo_sim *sim, float *position, float *velocity, float *volume)
{
    const mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    double cell = g->dx * g->dx * g->dx;
    for (int32_t q = 0; q < p->count; q++) {
        mo_vec3 x = mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]);
        for (int a = 0; a < 3; a++) {
            if (position) position[3 * q + a] = (float)mo_get(x, a);
            if (velocity) velocity[3 * q + a] = p->v[a][q];
        }
        if (volume) volume[q] = (float)(p->volume[q] * cell);
    }
}

bool mo_sim_particle_viscosity(const mo_sim *sim, float *viscosity)
{
    const mo_particles *p = &sim->particles;
    if (p->fields <= MO_PLAIN_FIELDS) return false;
    if (viscosity && p->count) memcpy(viscosity, p->viscosity, sizeof(float) * (size_t)p->count);
    return true;
}

int32_t mo_sim_solid_count(const mo_sim *sim) { return sim->def.solid_count; }

void mo_sim_body(const mo_sim *sim, int32_t body, mo_body_state *out)
{
    MO_ASSERT(body >= 0);
    const mo_solid *s = &sim->solids[body];
    *out = (mo_body_state){.name = s->name,
                           .shape = s->shape,
                           .moving = s->motion || s->rigid,
                           .rigid = s->rigid,
                           .mass = s->rigid ? s->body.mass : 0,
                           .pose = s->pose,
                           .velocity = s->velocity,
                           .angular_velocity = s->angular_velocity,
                           .force = s->force,
                           .torque = s->torque};
}

int32_t mo_sim_shell_count(const mo_sim *sim) { return sim->shells.count - sim->shells.cloths; }

void mo_sim_shell(const mo_sim *sim, int32_t shell, mo_body_state *out)
{
    MO_ASSERT(shell >= 0 && shell < mo_sim_shell_count(sim));
    const mo_shell *s = &sim->shells.shell[shell];
    *out = (mo_body_state){.name = s->name,
                           .sheet = &s->sheet,
                           .moving = s->motion || s->rigid,
                           .rigid = s->rigid,
                           .mass = s->rigid ? s->body.mass : 0,
                           .pose = s->pose,
                           .velocity = s->velocity,
                           .angular_velocity = s->angular_velocity,
                           .force = s->force,
                           .torque = s->torque};
}

// ---- The visible surface ----

static double meet_shells(const void *user, mo_vec3 a, mo_vec3 b, mo_vec3 *normal)
{
    const mo_shells *all = &((const mo_sim *)user)->shells;
    double first = 2;
    for (int32_t i = 0; i < all->count; i++) {
        const mo_shell *s = &all->shell[i];
        int32_t triangle;
        double at = mo_sheet_tree_meet(s->tree, mo_pose_to_body(s->pose, a), mo_pose_to_body(s->pose, b), &triangle);
        if (at > 1 || at >= first) continue;
        mo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const double *p = all->all.position[all->all.triangle[s->first_triangle + triangle][k]];
            x[k] = mo_v3(p[0], p[1], p[2]);
        }
        mo_vec3 n = mo_normalize(mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0])));
        first = at, *normal = mo_dot(n, mo_sub(b, a)) < 0 ? mo_mul(-1, n) : n;
    }
    return first;
}

mo_status mo_sim_surface_account(const mo_sim *sim, mo_mesh *out, mo_surface_account *account, mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_liquid_surface surface = {.grid = sim->grid,
                                 .phi = sim->level.phi,
                                 .particles = &sim->particles,
                                 .solids = &solids,
                                 .refine = sim->def.surface ? sim->def.surface : 2,
                                 .sheet = sim->shells.count ? meet_shells : NULL,
                                 .user = sim};
    mo_liquid_account told;
    MO_TRY(mo_liquid_mesh(&surface, out, &told, err));
    double dx = sim->grid->dx;
    if (account) *account = (mo_surface_account){mo_mesh_volume(out), told.film * dx * dx * dx};
    return MO_OK;
}

mo_status mo_sim_surface(const mo_sim *sim, mo_mesh *out, mo_error *err)
{
    return mo_sim_surface_account(sim, out, NULL, err);
}

mo_status mo_sim_visible_volume(const mo_sim *sim, double *volume, mo_error *err)
{
    mo_mesh mesh;
    mo_surface_account account = {0};
    MO_TRY(mo_sim_surface_account(sim, &mesh, &account, err));
    mo_mesh_destroy(&mesh);
    *volume = account.volume;
    return MO_OK;
}

// ---- Air ----

bool mo_sim_air(const mo_sim *sim, mo_air_state *out)
{
    const mo_grid *g = sim->grid;
    const mo_gas *gas = &sim->air.gas;
    if (!sim->air.present) return false;
    *out = (mo_air_state){.cell = g->dx,
                          .origin = mo_grid_world(g, 0.5, 0.5, 0.5),
                          .tiles = g->tiles,
                          .tile = (const int32_t(*)[3])g->coord,
                          .soot = gas->soot,
                          .heat = gas->heat,
                          .velocity = {gas->u[0], gas->u[1], gas->u[2]}};
    return true;
}
