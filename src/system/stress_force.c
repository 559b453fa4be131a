// Forces of a viscous liquid on solids: F = -Q WS^u (G WL^p p + D^T WL^s s), the fluid's own operators
// (docs/math.md 3.1); and the liquid that solids carry along.
#include "system/stress_faces.h"
#include <string.h>

enum { FIELDS = 7, PRESSURE = 3 }; // weighted stresses in the places of MO_STRESS_..., the pressure in the free one

typedef struct traction {
    const mo_stress_def *d;
    float *field[FIELDS];
} traction;

static float value(const float *field, int32_t i) { return i < 0 ? 0 : field[i]; }

static mo_status scatter(traction *t, const mo_liquid_system *s, mo_arena *arena, mo_error *err)
{
    const mo_stress_def *d = t->d;
    int64_t cells = mo_grid_cells(d->grid);
    for (int k = 0; k < FIELDS; k++) {
        t->field[k] = MO_ARENA_ARRAY(arena, float, cells + 1);
        if (!t->field[k]) return mo_fail_memory(err);
        memset(t->field[k], 0, sizeof(float) * (size_t)cells);
    }
    const mo_block *p = s->system.block[MO_BLOCK_PRESSURE], *v = s->system.block[MO_BLOCK_STRESS];
    for (int32_t r = 0; r < p->rows; r++) t->field[PRESSURE][s->cell_at[r]] = (float)p->x[r];
    for (int32_t r = 0; r < v->rows; r++) {
        int32_t i = mo_stress_cell(s->sample_at[r]), kind = mo_stress_component(s->sample_at[r]);
        float stress = (float)(mo_stress_liquid(d, mo_stress_sample_kind(kind), i) * v->x[r]);
        t->field[kind][i] += stress;
        if (kind < MO_STRESS_YZ && d->reduced) t->field[mo_grid_axes(d->grid) - 1][i] -= stress;
    }
    return MO_OK;
}

static double pressure_force(const traction *t, int32_t i, int axis)
{
    const mo_grid *g = t->d->grid;
    return (value(t->field[PRESSURE], i) - value(t->field[PRESSURE], mo_grid_step(g, i, axis, -1))) / g->dx;
}

static double stress_force(const traction *t, int32_t i, int axis)
{
    const mo_grid *g = t->d->grid;
    double sum = value(t->field[axis], mo_grid_step(g, i, axis, -1)) - value(t->field[axis], i);
    for (int along = 0; along < 3; along++) {
        if (along == axis) continue;
        const float *shear = t->field[MO_STRESS_YZ + along];
        sum += value(shear, i) - value(shear, mo_grid_step(g, i, 3 - axis - along, 1));
    }
    return sum / g->dx;
}

mo_status mo_stress_forces(const mo_stress_def *d, const mo_liquid_system *s, const mo_vec3 *about, mo_vec3 *force,
                           mo_vec3 *torque, mo_arena *arena, mo_error *err)
{
    MO_ASSERT(about && force);
    const mo_grid *g = d->grid;
    size_t mark = mo_arena_mark(arena);
    traction t = {.d = d};
    int32_t count = d->solids ? d->solids->count : 0;
    for (int32_t k = 0; k < count; k++) force[k] = torque[k] = mo_v3(0, 0, 0);
    if (count == 0) return MO_OK;
    MO_TRY(scatter(&t, s, arena, err));
    double volume = g->dx * g->dx * g->dx;
    for (int32_t k = 0; k < d->weights->covers; k++) {
        const mo_cover *cover = &d->weights->cover[k];
        for (int a = 0; a < mo_grid_axes(g); a++)
            for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
                if (cover->part[a][l] <= 0) continue;
                int32_t i = cover->tile * MO_TILE_CELLS + l;
                double share[2];
                mo_stress_shares(d, s->state[a * mo_grid_cells(g) + i], cover, a, l, share);
                double f = -volume * (share[0] * pressure_force(&t, i, a) + share[1] * stress_force(&t, i, a));
                if (f == 0) continue;
                mo_vec3 x = mo_grid_face(g, i, a);
                mo_vec3 F = {a == 0 ? f : 0, a == 1 ? f : 0, a == 2 ? f : 0};
                force[cover->solid] = mo_add(force[cover->solid], F);
                torque[cover->solid] = mo_add(torque[cover->solid], mo_cross(mo_sub(x, about[cover->solid]), F));
            }
    }
    mo_arena_release(arena, mark);
    return MO_OK;
}

// ---- Liquid that moves with bodies ----

// Mass over dx^3 of the liquid on face l of a tile that moves with the cover's solid, and the face's centre.
static double carried_mass(const mo_stress_def *d, const mo_liquid_system *s, const mo_cover *cover, int axis,
                           int32_t l, mo_vec3 *x)
{
    const mo_grid *g = d->grid;
    int32_t i = cover->tile * MO_TILE_CELLS + l, kind = MO_SAMPLE_FACE + axis;
    uint8_t state = s->state[axis * mo_grid_cells(g) + i];
    if (cover->part[axis][l] <= 0 || state == MO_FACE_FREE || state == MO_FACE_AIR) return 0;
    if (d->weights->fluid[kind][i] < mo_weight_none || (d->fixed && d->fixed[axis][i])) return 0;
    double share[2];
    mo_stress_shares(d, state, cover, axis, l, share);
    *x = mo_grid_face(g, i, axis);
    return share[0] * d->density * d->weights->fluid[kind][i] * d->weights->liquid[kind][i];
}

static void attach_cover(const mo_stress_def *d, mo_liquid_system *s, const mo_cover *cover)
{
    for (int a = 0; a < mo_grid_axes(d->grid); a++)
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            mo_vec3 x;
            double mass = carried_mass(d, s, cover, a, l, &x), u = d->u[a][cover->tile * MO_TILE_CELLS + l];
            if (mass > 0) mo_attach_face(&s->system, s->attached, d->solids, cover->solid, mass, a, x, &u);
        }
}

int32_t mo_stress_carried(const mo_stress_def *d, const mo_liquid_system *s, mo_carried *out)
{
    int32_t count = 0;
    for (int32_t k = 0; k < d->weights->covers && d->solids->velocity; k++) {
        const mo_cover *cover = &d->weights->cover[k];
        if (mo_solid_moves(d->solids, cover->solid)) continue;
        for (int a = 0; a < mo_grid_axes(d->grid); a++)
            for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
                mo_vec3 x;
                double mass = carried_mass(d, s, cover, a, l, &x);
                if (mass == 0) continue;
                double v = mo_get(d->solids->velocity(d->solids->user, cover->solid, x), a);
                if (out) out[count] = (mo_carried){cover->tile * MO_TILE_CELLS + l, a, mass, v};
                count++;
            }
    }
    return count;
}

mo_status mo_stress_attach(const mo_stress_def *d, mo_liquid_system *s, mo_error *err)
{
    MO_TRY(mo_liquid_attached(s, err));
    for (int32_t k = 0; k < d->weights->covers; k++)
        if (mo_solid_moves(d->solids, d->weights->cover[k].solid)) attach_cover(d, s, &d->weights->cover[k]);
    if (d->excess) mo_attach_excess(&s->system, s->attached, d->excess, d->density);
    return mo_attach(&s->system, s->attached, err);
}
