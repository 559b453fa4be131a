// Looking at the state: particles, bodies, visible surface and volume.
#include "geometry/surface.h"
#include "grid/levelset.h"
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
    const mo_solid *s = &sim->solids[body];
    *out = (mo_body_state){.name = s->name,
                           .shape = s->shape,
                           .moving = s->motion || s->dynamic,
                           .rigid = s->dynamic,
                           .mass = s->dynamic ? s->rigid.mass : 0,
                           .pose = s->pose,
                           .velocity = s->velocity,
                           .angular_velocity = s->angular_velocity,
                           .force = s->force,
                           .torque = s->torque};
}

// ---- The visible surface ----

typedef struct fine { // the visible level set, twice as fine
    const mo_sim *sim;
    mo_grid *grid;
    float *phi;
} fine;

static mo_status fine_create(const mo_sim *sim, fine *out, mo_error *err)
{
    *out = (fine){.sim = sim};
    mo_status status =
        mo_surface_fine(&sim->particles, sim->grid, &sim->radii, sim->field.distance, &out->grid, &out->phi, err);
    if (status != MO_OK) mo_free(out->phi), mo_grid_destroy(out->grid);
    return status;
}

static void fine_destroy(fine *f)
{
    mo_free(f->phi);
    mo_grid_destroy(f->grid);
}

static int32_t coarse_index(const fine *f, const int32_t c[3])
{
    int32_t z = mo_grid_is_2d(f->grid) ? c[2] : (c[2] + MO_MARGIN) / 2;
    return mo_grid_index(f->sim->grid, (c[0] + MO_MARGIN) / 2, (c[1] + MO_MARGIN) / 2, z);
}

mo_status mo_sim_visible_volume(const mo_sim *sim, double *volume, mo_error *err)
{
    fine f;
    MO_TRY(fine_create(sim, &f, err));
    // Each tile's cells in order, tiles in order: the same sum for any number of threads.
    double total = 0;
    bool two_dimensional = mo_grid_is_2d(f.grid);
    for (int32_t t = 0; t < f.grid->tiles; t++) {
        float block[1000];
        mo_grid_block(f.grid, f.phi, t, 1, 3, block);
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            int32_t c[3];
            mo_grid_cell(f.grid, t * MO_TILE_CELLS + l, c);
            int32_t coarse = coarse_index(&f, c);
            if (coarse < 0 || sim->field.volume[coarse] <= 0 || (two_dimensional && c[2] != MO_MARGIN)) continue;
            const float *q = block + (l & 7) + 1 + 10 * ((l >> 3 & 7) + 1 + 10 * ((l >> 6) + 1));
            double wet = 0;
            for (int s = 0; s < 8; s++) { // 2 x 2 x 2 samples per fine cell
                int x = s & 1 ? 1 : -1, y = s & 2 ? 10 : -10, z = two_dimensional ? 0 : s & 4 ? 100 : -100;
                float a = 0.75f * (0.75f * q[0] + 0.25f * q[x]) + 0.25f * (0.75f * q[y] + 0.25f * q[x + y]);
                float b = 0.75f * (0.75f * q[z] + 0.25f * q[x + z]) + 0.25f * (0.75f * q[y + z] + 0.25f * q[x + y + z]);
                wet += fmin(fmax(0.5 - 2 * (0.75f * a + 0.25f * b), 0), 1);
            }
            total += wet / 8 * sim->field.volume[coarse];
        }
    }
    double h = f.grid->dx;
    *volume = total * h * h * (two_dimensional ? 2 * h : h);
    fine_destroy(&f);
    return MO_OK;
}

// Samples for marching cubes: the level set clipped by the domain and by the inside of solids (half a fine cell deep,
// so that no gap shows). In 2D the plane becomes a slab: samples beyond its two walls mirror those inside.
static float clipped(const fine *f, int32_t i, int32_t j, int32_t k)
{
    bool two_dimensional = mo_grid_is_2d(f->grid), beyond = false;
    int32_t c[3] = {i, j, k};
    float clip = -1e9f;
    if (two_dimensional) {
        beyond = k < MO_MARGIN || k > MO_MARGIN + 1;
        c[2] = MO_MARGIN;
    }
    for (int a = 0; a < (two_dimensional ? 2 : 3); a++) {
        float low = (float)MO_MARGIN - ((float)c[a] + 0.5f),
              high = (float)c[a] + 0.5f - (float)(f->grid->n[a] - MO_MARGIN);
        clip = mo_maxf(clip, mo_maxf(low, high));
    }
    int32_t index = mo_grid_index(f->grid, c[0], c[1], c[2]);
    float phi = index < 0 ? 4 : f->phi[index];
    int32_t coarse = index < 0 ? -1 : coarse_index(f, c);
    if (coarse >= 0 && f->sim->def.solid_count && f->sim->field.volume[coarse] < 1)
        clip = mo_maxf(clip, -2 * f->sim->field.distance[coarse] - 0.5f);
    phi = mo_maxf(phi, clip);
    if (beyond) phi = fabsf(phi);
    return phi == 0 ? 1e-6f : phi; // keeps triangles from vanishing
}

static void load_brick(void *user, int32_t brick, float *sample)
{
    const fine *f = user;
    const int32_t *t = f->grid->coord[brick];
    for (int32_t z = 0; z <= MO_TILE; z++)
        for (int32_t y = 0; y <= MO_TILE; y++)
            for (int32_t x = 0; x <= MO_TILE; x++)
                sample[x + (MO_TILE + 1) * (y + (MO_TILE + 1) * z)] =
                    clipped(f, 8 * t[0] + x, 8 * t[1] + y, 8 * t[2] + z);
}

mo_status mo_sim_surface(const mo_sim *sim, mo_mesh *out, mo_error *err)
{
    fine f;
    MO_TRY(fine_create(sim, &f, err));
    int32_t(*lo)[3] = mo_alloc(sizeof *lo * (size_t)(f.grid->tiles + 1));
    if (!lo) {
        fine_destroy(&f);
        return mo_fail_memory(err);
    }
    for (int32_t t = 0; t < f.grid->tiles; t++)
        for (int a = 0; a < 3; a++) lo[t][a] = 8 * f.grid->coord[t][a];
    // Samples sit at cell centres.
    double h = f.grid->dx;
    mo_bricks bricks = {
        f.grid->tiles, MO_TILE, (const int32_t(*)[3])lo, load_brick, &f, mo_grid_world(f.grid, 0.5, 0.5, 0.5), h};
    mo_status status = mo_marching_cubes(&bricks, out, err);
    mo_free(lo);
    fine_destroy(&f);
    return status;
}
