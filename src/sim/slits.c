// Slits between bodies and what they stand on (system/slits.h): where they are, and the liquid that enters and leaves
// them as bodies move.
//
// A gap of less than `narrow` is a slit. For the solve it is closed, and the pressure beside it is continued into it.
// Particles cannot follow a flow that the grid does not see, so they are moved by the result of the solve: as a body
// rises, the rim takes in the liquid that the gap needs, and just as many particles go from the rim into the gap. No
// volume is made or lost.
#include "sim/slits.h"
#include <math.h>
#include <string.h>

// The width of a slit, in cells. Faces of inviscid liquid are open by their area; those of viscous liquid move with a
// body that covers the centres of the cells beside them.
static double narrow(const mo_sim *sim) { return sim->weighed ? 0.5 : 0.3; }
static const double below = 0.15;  // cells: how deep in the other solid the gap is measured; more than contacts overlap
static const double facing = -0.8; // cosine between the normals of the two sides
static const double beside = 0.75; // cosine between the gap's normal and an axis along which it goes on, at most
static const double near = 1;      // cells: from a slit cell's centre to each of the solids, at most

// ---- Where they are ----

typedef struct side { // of a gap, opposite to a body: a solid, or a wall
    int32_t solid;    // -1: a wall
    int axis, sign;   // of a wall: its normal into the domain
} side;

static double side_distance(const mo_sim *sim, const side *s, mo_vec3 x)
{
    if (s->solid >= 0) return mo_solid_distance_at(&sim->solids[s->solid], x) / sim->grid->dx;
    const mo_grid *g = sim->grid;
    mo_vec3 at =
        mo_grid_world(g, s->sign > 0 ? MO_MARGIN : g->n[0] - MO_MARGIN, s->sign > 0 ? MO_MARGIN : g->n[1] - MO_MARGIN,
                      s->sign > 0 ? MO_MARGIN : g->n[2] - MO_MARGIN);
    return s->sign * (mo_get(x, s->axis) - mo_get(at, s->axis)) / g->dx;
}

static mo_vec3 side_normal(const mo_sim *sim, const side *s, mo_vec3 x)
{
    if (s->solid >= 0) return mo_sim_solid_normal(sim, s->solid, x);
    return mo_v3(s->axis == 0 ? s->sign : 0, s->axis == 1 ? s->sign : 0, s->axis == 2 ? s->sign : 0);
}

// The gap between a body and a side, in cells, where x is nearest to the side; n: the side's normal there. It is
// INFINITY where the two do not face each other. It is measured from inside the side, because the edge of a body that
// overlaps the side is nearer than its bottom.
static double gap_at(const mo_sim *sim, int32_t body, const side *s, mo_vec3 x, mo_vec3 n)
{
    double dx = sim->grid->dx;
    mo_vec3 at = mo_mad(x, -(side_distance(sim, s, x) + below) * dx, n);
    double gap = mo_solid_distance_at(&sim->solids[body], at) / dx - below;
    if (gap >= narrow(sim)) return INFINITY;
    return mo_dot(mo_sim_solid_normal(sim, body, at), n) < facing ? gap : INFINITY;
}

// Whether a cell is in a slit: the gap is narrow nearly all over it.
static bool is_slit(const mo_sim *sim, int32_t body, const side *s, mo_vec3 x, mo_slit *out)
{
    const double inside = 0.42; // cells from the centre: less than the rest of a cell may be open beside the body
    double dx = sim->grid->dx;
    if (fabs(side_distance(sim, s, x)) > near) return false;
    mo_vec3 n = side_normal(sim, s, x);
    double gap = gap_at(sim, body, s, x, n);
    if (gap >= narrow(sim)) return false;
    int axes = sim->cells[2] == 1 ? 2 : 3;
    uint8_t along = 0;
    for (int a = 0; a < axes; a++)
        if (fabs(mo_get(n, a)) < beside) along |= (uint8_t)(1 << a);
    for (int corner = 0; corner < 1 << axes; corner++) {
        double d[3] = {0};
        bool skip = false;
        for (int a = 0; a < axes; a++) {
            bool high = corner >> a & 1;
            if (along >> a & 1)
                d[a] = (high ? inside : -inside) * dx;
            else
                skip |= high; // only one point across the gap
        }
        if (!skip && gap_at(sim, body, s, mo_add(x, mo_v3(d[0], d[1], d[2])), n) >= narrow(sim)) return false;
    }
    // The half cell at a wall is counted with those beside slits (wall_lift.c).
    mo_vec3 surface = s->solid < 0 ? x : mo_mad(x, (gap - side_distance(sim, s, x)) * dx, n);
    *out = (mo_slit){.body = body, .solid = s->solid, .axis = s->axis, .sign = s->sign, .along = along, .normal = n};
    out->surface = surface;
    return true;
}

// Finds the k-th of walls and solids as a possible side of a slit; false: it cannot be one.
static bool side_of(const mo_sim *sim, int32_t body, int32_t k, side *s)
{
    if (k < 6) {
        *s = (side){-1, k / 2, k & 1 ? -1 : 1};
        return sim->def.domain.walls[k] != MO_WALL_OPEN && !(k >= 4 && sim->cells[2] == 1);
    }
    *s = (side){.solid = k - 6};
    if (sim->solids[s->solid].elastic) return false; // slits between elastic bodies and others stay closed
    return s->solid != body && (!sim->solids[s->solid].rigid || s->solid > body); // a pair of bodies counts once
}

static bool find_in_cell(const mo_sim *sim, int32_t body, const int32_t c[3], mo_slit *out)
{
    double dx = sim->grid->dx;
    mo_vec3 x = mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    if (fabs(mo_solid_distance_at(&sim->solids[body], x)) > (near + below) * dx) return false;
    for (int32_t k = 0; k < 6 + sim->def.solid_count; k++) {
        side s;
        if (!side_of(sim, body, k, &s)) continue;
        if (s.solid >= 0 && mo_solid_beyond(&sim->solids[s.solid], x, near * dx)) continue;
        if (is_slit(sim, body, &s, x, out)) return true;
    }
    return false;
}

static mo_status keep(mo_slit_set *set, mo_slit slit, mo_error *err)
{
    if (set->count == set->capacity) {
        int32_t capacity = 2 * set->capacity + 64;
        mo_slit *more = mo_alloc(sizeof *more * (size_t)capacity);
        if (!more) return mo_fail_memory(err);
        if (set->count) memcpy(more, set->slit, sizeof *more * (size_t)set->count);
        mo_free(set->slit);
        set->slit = more, set->capacity = capacity;
    }
    set->slit[set->count++] = slit;
    return MO_OK;
}

// Cells of slits are among those whose nearest solid is near, on either side of its surface.
static mo_status find_of_body(mo_sim *sim, int32_t body, uint8_t *taken, mo_error *err)
{
    const mo_grid *g = sim->grid;
    const mo_solid *s = &sim->solids[body];
    int32_t lo[3], hi[3];
    mo_vec3 middle = mo_pose_apply(s->pose, s->centre);
    double r = s->radius + g->dx;
    mo_sim_cell_range(sim, (mo_box3){mo_sub(middle, mo_v3(r, r, r)), mo_add(middle, mo_v3(r, r, r))}, lo, hi);
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                int32_t at = mo_grid_index(g, i, j, k);
                if (at < 0 || taken[at]) continue;
                float d = sim->openings.distance[at];
                if (d < -(float)(near + below) || d > 0.5f * (float)narrow(sim) + 1e-3f) continue;
                mo_slit slit;
                if (!find_in_cell(sim, body, (int32_t[3]){i, j, k}, &slit)) continue;
                slit.cell = at, taken[at] = 1;
                MO_TRY(keep(&sim->slits, slit, err));
            }
    return MO_OK;
}

mo_status mo_sim_find_slits(mo_sim *sim, mo_error *err)
{
    sim->slits.count = 0;
    if (!sim->bodies || mo_grid_cells(sim->grid) == 0) return MO_OK;
    uint8_t *taken = sim->scratch.bytes;
    memset(taken, 0, (size_t)mo_grid_cells(sim->grid));
    for (int32_t s = 0; s < sim->def.solid_count; s++)
        if (sim->solids[s].rigid) MO_TRY(find_of_body(sim, s, taken, err));
    return MO_OK;
}

void mo_slit_set_destroy(mo_slit_set *set)
{
    mo_free(set->slit);
    *set = (mo_slit_set){0};
}

// ---- Slits on the grid ----

void mo_sim_close_slits(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    for (int32_t k = 0; k < sim->slits.count; k++)
        for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6); e++) {
            int32_t cell = sim->slits.slit[k].cell, face = e & 1 ? mo_grid_step(g, cell, e >> 1, 1) : cell;
            if (face >= 0) mo_openings_close(&sim->openings, face, e >> 1);
        }
}

mo_status mo_sim_slits(const mo_sim *sim, mo_arena *arena, mo_slits *out, mo_error *err)
{
    int32_t n = sim->slits.count;
    int32_t *cell = MO_ARENA_ARRAY(arena, int32_t, n + 1);
    uint8_t *along = MO_ARENA_ARRAY(arena, uint8_t, n + 1);
    mo_vec3 *surface = MO_ARENA_ARRAY(arena, mo_vec3, n + 1);
    if (!cell || !along || !surface) return mo_fail_memory(err);
    for (int32_t k = 0; k < n; k++) {
        const mo_slit *s = &sim->slits.slit[k];
        cell[k] = s->cell, along[k] = s->along, surface[k] = s->surface;
    }
    *out = (mo_slits){n, cell, along, surface};
    return MO_OK;
}

// The cell's gap at the present poses.
double mo_sim_slit_gap(const mo_sim *sim, const mo_slit *slit)
{
    side s = {slit->solid, slit->axis, slit->sign};
    int32_t c[3];
    mo_grid_cell(sim->grid, slit->cell, c);
    mo_vec3 x = mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5), n = side_normal(sim, &s, x);
    mo_vec3 at = mo_mad(x, -(side_distance(sim, &s, x) + below) * sim->grid->dx, n);
    return mo_solid_distance_at(&sim->solids[slit->body], at) / sim->grid->dx - below;
}

// A point of the gap, `height` cells from the side, at an offset from the cell's centre along it.
mo_vec3 mo_sim_slit_point(const mo_sim *sim, const mo_slit *slit, mo_vec3 offset, double height)
{
    side s = {slit->solid, slit->axis, slit->sign};
    int32_t c[3];
    mo_grid_cell(sim->grid, slit->cell, c);
    mo_vec3 x = mo_add(mo_grid_world(sim->grid, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5), offset);
    return mo_mad(x, (height - side_distance(sim, &s, x)) * sim->grid->dx, side_normal(sim, &s, x));
}
