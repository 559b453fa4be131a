// What each face is to a viscous liquid: unknown, air, moved by a solid, inside a slippery solid (VS 5.3).
#include "system/stress_faces.h"
#include <math.h>
#include <string.h>

// ---- States ----

static bool inside_domain(const mo_grid *g, const int32_t c[3], int axis)
{
    return c[axis] >= MO_MARGIN && c[axis] < g->n[axis] - MO_MARGIN;
}

bool mo_stress_on_wall(const mo_stress_def *d, const int32_t c[3], int axis)
{
    const mo_grid *g = d->grid;
    bool low = c[axis] == MO_MARGIN, high = c[axis] == g->n[axis] - MO_MARGIN;
    if (!low && !high) return false;
    if (d->solids && d->solids->open_wall[2 * axis + high]) return false;
    for (int a = 0; a < 3; a++)
        if (a != axis && !inside_domain(g, c, a)) return false;
    return true;
}

typedef struct nearest_slip { // the slippery wall or solid a point is deepest in, and how much of its normal is `axis`
    double distance, part;
} nearest_slip;

static nearest_slip nearest_wall(const mo_stress_def *d, const double at[3], int axis)
{
    const mo_grid *g = d->grid;
    nearest_slip nearest = {INFINITY, 0};
    for (int side = 0; d->solids && side < 2 * mo_grid_axes(g); side++) {
        int a = side / 2;
        double cells = side & 1 ? g->n[a] - MO_MARGIN - at[a] : at[a] - MO_MARGIN;
        if (d->solids->open_wall[side] || !d->solids->slip_wall[side] || g->dx * cells >= nearest.distance) continue;
        nearest = (nearest_slip){g->dx * cells, a == axis};
    }
    return nearest;
}

static double normal_part(const mo_stress_def *d, int32_t solid, const double at[3], int axis)
{
    double h = 0.25, n[3] = {0}, length = 0;
    for (int a = 0; a < mo_grid_axes(d->grid); a++) {
        double y[3] = {at[0], at[1], at[2]}, z[3] = {at[0], at[1], at[2]};
        y[a] += h, z[a] -= h;
        n[a] = d->solids->distance(d->solids->user, solid, mo_grid_world(d->grid, y[0], y[1], y[2])) -
               d->solids->distance(d->solids->user, solid, mo_grid_world(d->grid, z[0], z[1], z[2]));
        length += n[a] * n[a];
    }
    return fabs(n[axis]) / fmax(sqrt(length), 1e-300);
}

// A face across which a slippery solid is met head on has the solid's velocity; others tell nothing of the liquid's.
// Only faces exactly so: one a few degrees off would hold a stiff liquid that slides along the solid.
static bool met_head_on(const mo_stress_def *d, const int32_t c[3], int axis)
{
    const double aligned = 1 - 1e-6; // cosine
    if (mo_stress_on_wall(d, c, axis)) return true;
    double at[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
    at[axis] -= 0.5;
    nearest_slip nearest = nearest_wall(d, at, axis);
    mo_vec3 x = mo_grid_world(d->grid, at[0], at[1], at[2]);
    for (int32_t s = 0; d->solids && s < d->solids->count; s++) {
        if (!d->solids->slip || !d->solids->slip[s]) continue;
        double distance = d->solids->distance(d->solids->user, s, x);
        if (distance < nearest.distance) nearest = (nearest_slip){distance, normal_part(d, s, at, axis)};
    }
    return nearest.part > aligned;
}

static uint8_t covered_state(const mo_stress_def *d, int32_t i, int axis)
{
    int kind = MO_SAMPLE_FACE + axis;
    if (mo_weight_slippery(d, kind, i) <= d->weights->stick[kind][i]) return MO_FACE_SOLID;
    int32_t c[3];
    mo_grid_cell(d->grid, i, c);
    return met_head_on(d, c, axis) ? MO_FACE_SOLID : MO_FACE_SLIP;
}

// A cell of liquid without room, or an edge of liquid inside a no-slip solid: faces next to it move with the solid.
static bool dead_cell(const mo_stress_def *d, int32_t i)
{
    return i >= 0 && d->weights->liquid[MO_SAMPLE_CELL][i] >= mo_weight_none &&
           d->weights->fluid[MO_SAMPLE_CELL][i] < mo_weight_none;
}
static bool dead_edge(const mo_stress_def *d, int kind, int32_t i)
{
    return i >= 0 && d->weights->liquid[kind][i] >= mo_weight_none && 1 - d->weights->stick[kind][i] < mo_weight_none;
}

static bool beside_dead_sample(const mo_stress_def *d, int32_t i, int axis)
{
    const mo_grid *g = d->grid;
    if (dead_cell(d, i) || dead_cell(d, mo_grid_step(g, i, axis, -1))) return true;
    for (int along = 0; along < 3; along++) { // edges of the face, along one axis across the other
        if (along == axis || (mo_grid_is_2d(g) && along != 2)) continue;
        int kind = MO_SAMPLE_EDGE + along, across = 3 - axis - along;
        if (dead_edge(d, kind, i) || dead_edge(d, kind, mo_grid_step(g, i, across, 1))) return true;
    }
    return false;
}

static uint8_t state_of(const mo_stress_def *d, int32_t i, int axis)
{
    int kind = MO_SAMPLE_FACE + axis;
    if (d->fixed && d->fixed[axis][i]) return MO_FACE_SOLID;
    if (d->weights->fluid[kind][i] < mo_weight_none) return covered_state(d, i, axis);
    if (d->weights->liquid[kind][i] <= 0) return MO_FACE_AIR;
    return beside_dead_sample(d, i, axis) ? covered_state(d, i, axis) : MO_FACE_FREE;
}

void mo_stress_face_states(const mo_stress_def *d, uint8_t *const state[3])
{
    int axes = mo_grid_axes(d->grid);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < d->grid->tiles; t++)
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            for (int a = 0; a < axes; a++) state[a][i] = state_of(d, i, a);
            if (axes == 2) state[2][i] = MO_FACE_SOLID;
        }
}

// ---- Velocities of solids ----

static void add_cover(const mo_stress_def *d, const mo_cover *cover, float *const all[3], float *const stick[3])
{
    const mo_solid_set *solids = d->solids;
    bool slips = solids->slip && solids->slip[cover->solid];
    for (int a = 0; a < mo_grid_axes(d->grid); a++)
        for (int32_t l = 0; l < MO_TILE_CELLS; l++) {
            if (cover->part[a][l] <= 0) continue;
            int32_t i = cover->tile * MO_TILE_CELLS + l;
            mo_vec3 x = mo_grid_face(d->grid, i, a);
            float v = cover->part[a][l] * (float)mo_get(solids->velocity(solids->user, cover->solid, x), a);
            all[a][i] += v;
            if (!slips) stick[a][i] += v;
        }
}

void mo_stress_solid_velocity(const mo_stress_def *d, float *const all[3], float *const stick[3])
{
    const mo_weights *w = d->weights;
    int64_t cells = mo_grid_cells(d->grid);
    for (int a = 0; a < 3; a++) {
        memset(all[a], 0, sizeof(float) * (size_t)cells);
        memset(stick[a], 0, sizeof(float) * (size_t)cells);
    }
    if (d->solids && d->solids->velocity)
        for (int32_t k = 0; k < w->covers; k++)
            if (!mo_solid_moves(d->solids, w->cover[k].solid)) add_cover(d, &w->cover[k], all, stick);
    for (int a = 0; a < 3; a++) {
        int kind = MO_SAMPLE_FACE + a;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < cells; i++) {
            float covered = 1 - w->fluid[kind][i];
            if (covered > 0) all[a][i] /= covered;
            if (w->stick[kind][i] > 0) stick[a][i] /= w->stick[kind][i];
            if (d->fixed && d->fixed[a][i]) all[a][i] = stick[a][i] = d->u[a][i];
        }
    }
}

void mo_stress_shares(const mo_stress_def *d, uint8_t state, const mo_cover *cover, int axis, int32_t l,
                      double share[2])
{
    MO_ASSERT(axis >= 0 && axis < 3 && l >= 0 && l < MO_TILE_CELLS);
    int32_t i = cover->tile * MO_TILE_CELLS + l, kind = MO_SAMPLE_FACE + axis;
    bool slips = d->solids->slip && d->solids->slip[cover->solid];
    double part = cover->part[axis][l], covered = 1.0 - d->weights->fluid[kind][i], held = d->weights->stick[kind][i];
    share[0] = part / covered, share[1] = 0;
    if (state == MO_FACE_FREE) {
        share[0] *= 1 - mo_weight_fluid(d, kind, i);
        if (!slips && held > 0) share[1] = part / held * (1 - mo_stress_fluid(d, kind, i));
    } else if (state == MO_FACE_SOLID)
        share[1] = share[0];
}
