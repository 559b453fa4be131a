// Whether emitters have room for their liquid. Liquid cannot be compressed: an emitter in a closed vessel that is full
// meets a pressure without bound, and stands still. It does so for a step if the air that its liquid can reach is less
// than what it would let in, and goes on when there is room again. Liquid reaches what the solve lets it reach:
// inviscid liquid passes the open areas of faces, viscous liquid only faces that solids beside them do not hold.
#include "fluid/band.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

typedef struct flood {
    const mo_sim *sim;
    uint8_t *state[3]; // MO_FACE_... of viscous liquid, NULL: there is none
    uint8_t *seen;
    int32_t *queue, count;
    double room; // cells of volume minus those of liquid, in the cells that were reached
    bool open;   // reached an open wall, or air far from all liquid
} flood;

static void reach(flood *f, int32_t cell)
{
    const mo_particles *p = &f->sim->particles;
    if (f->seen[cell] || f->sim->openings.volume[cell] <= 0) return;
    f->seen[cell] = 1, f->queue[f->count++] = cell;
    f->room += f->sim->openings.volume[cell];
    if (p->deep && p->deep[cell]) f->room -= p->deep_share;
    for (int32_t q = p->start[cell]; q < p->start[cell + 1]; q++) f->room -= p->volume[q];
}

// Cells in the emitter and one around it: its own faces are closed.
static void start(flood *f, const mo_emitter_def *e)
{
    const mo_sim *sim = f->sim;
    double dx = sim->grid->dx;
    mo_box3 box = mo_shape_bounds(e->shape);
    mo_vec3 around = mo_v3(dx, dx, dx);
    int32_t lo[3], hi[3];
    mo_sim_cell_range(sim, (mo_box3){mo_sub(box.lo, around), mo_add(box.hi, around)}, lo, hi);
    for (int32_t k = lo[2]; k <= hi[2]; k++)
        for (int32_t j = lo[1]; j <= hi[1]; j++)
            for (int32_t i = lo[0]; i <= hi[0]; i++) {
                int32_t at = mo_grid_index(sim->grid, i, j, k);
                mo_vec3 x = mo_grid_world(sim->grid, i + 0.5, j + 0.5, k + 0.5);
                if (at >= 0 && mo_shape_distance(e->shape, x) < 0.8 * dx) reach(f, at);
                f->open |= at < 0 && mo_shape_distance(e->shape, x) < 0; // nothing is there yet
            }
}

static bool is_closed(const flood *f, int axis, int32_t face)
{
    if (!f->state[axis]) return f->sim->openings.area[axis][face] <= 0;
    return f->state[axis][face] == MO_FACE_SOLID || f->state[axis][face] == MO_FACE_SLIP;
}

static void spread(flood *f)
{
    const mo_grid *g = f->sim->grid;
    for (int32_t k = 0; k < f->count && !f->open; k++)
        for (int e = 0; e < (mo_grid_is_2d(g) ? 4 : 6) && !f->open; e++) {
            int32_t i = f->queue[k], n = mo_grid_step(g, i, e >> 1, e & 1 ? 1 : -1), c[3];
            if (n >= 0 && is_closed(f, e >> 1, e & 1 ? n : i)) continue;
            mo_grid_cell(g, i, c);
            c[e >> 1] += e & 1 ? 1 : -1;
            if (mo_levelset_in_domain(g, c) && n >= 0)
                reach(f, n);
            else
                f->open |= n < 0 || f->sim->openings.volume[n] > 0; // no tile: no liquid is near
        }
}

static mo_status has_room(const mo_sim *sim, uint8_t *const state[3], const mo_emitter_def *e, double dt, bool *room,
                          mo_error *err)
{
    size_t cells = (size_t)mo_grid_cells(sim->grid), mark = mo_arena_mark(sim->arena);
    flood f = {.sim = sim,
               .state = {state[0], state[1], state[2]},
               .seen = MO_ARENA_ARRAY(sim->arena, uint8_t, cells + 1),
               .queue = MO_ARENA_ARRAY(sim->arena, int32_t, cells + 1)};
    if (!f.seen || !f.queue) return mo_fail_memory(err);
    memset(f.seen, 0, cells);
    start(&f, e);
    spread(&f);
    *room = f.open || f.room >= dt * sim->flow[e - sim->emitters].volume;
    mo_arena_release(sim->arena, mark);
    return MO_OK;
}

bool mo_sim_emitter_active(const mo_sim *sim, int32_t emitter, double time)
{
    const mo_emitter_def *e = &sim->emitters[emitter];
    return !sim->stalled[emitter] && time >= e->start && time < e->start + e->seconds;
}

static bool is_due(const mo_sim *sim, const mo_emitter_def *e, double dt)
{
    return sim->time + dt >= e->start && sim->time < e->start + e->seconds;
}

// The weights are those that the step would compute later.
static mo_status find_states(mo_sim *sim, mo_step_context *c, uint8_t *state[3], mo_error *err)
{
    mo_solid_set solids = mo_sim_solid_set(sim);
    MO_TRY(mo_sim_weights(sim, c, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 3, state, err));
    mo_stress_def def = mo_sim_stress_def(sim, c, &solids);
    mo_stress_face_states(&def, state);
    return MO_OK;
}

mo_status mo_sim_stall_emitters(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    bool changed = false, due = false;
    uint8_t *state[3] = {0};
    for (int32_t i = 0; i < sim->def.emitter_count; i++) due |= is_due(sim, &sim->emitters[i], c->dt);
    if (due && sim->weighed) MO_TRY(find_states(sim, c, state, err));
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        const mo_emitter_def *e = &sim->emitters[i];
        bool room = true;
        if (is_due(sim, e, c->dt)) MO_TRY(has_room(sim, state, e, c->dt, &room, err));
        if (is_due(sim, e, c->dt)) changed |= mo_sim_scale_flow(sim, i);
        changed |= sim->stalled[i] != !room;
        sim->stalled[i] = !room;
        sim->stats.stalled += !room;
    }
    return changed ? mo_sim_openings(sim, sim->time, err) : MO_OK;
}
