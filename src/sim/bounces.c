// Bounces that would create energy.
//
// A contact that bounces leaves at a part of the speed at which it met (system/contact_rows.c). This is Newton's law of
// impact. It keeps or loses energy if contacts bounce one by one. But bodies in liquid, and bodies that others hold, do
// not have the speed of a free impact when they leave: a light body that is pinched by heavy ones and meets one of them
// with a fast corner throws all of them apart. So energy is compared before and after the solve. If it grew by more
// than prescribed motion explains, bounces keep a half of their speed, then a quarter, then nothing, and the step is
// solved again. Without bounces a solve never gains energy.
//
// Gravity acts before the solve, and positions move after it. The energy that a bounce keeps is therefore the one in
// the middle: 1/2 |v - g dt/2|^2_H before (v = v*) and after (sim/bounces.c and leaves_at agree in this).
#include "sim/sim.h"
#include "system/state.h"
#include <string.h>

static const double least_gain = 1e-4; // of the energy before the solve: less is rounding and the contacts' softness

static bool bounces(const mo_system *s)
{
    const mo_block *b = s->block[MO_BLOCK_CONTACT];
    for (int32_t i = 0; b && i < b->rows; i++)
        if (s->bounce[i] > 0 && b->x[i] > 0) return true;
    return false;
}

// 1/2 |v - g dt/2|^2 of faces and bodies, J. scratch: two motions.
static double middle_energy(const mo_sim *sim, const mo_step_context *c, const double *motion, double *scratch)
{
    const mo_liquid_system *l = &c->assemble.liquid;
    const mo_system *s = &l->system;
    int64_t size = mo_motion_size(s);
    double *v = scratch, energy = 0;
    const double half[3] = {0.5 * c->dt * sim->def.gravity.x, 0.5 * c->dt * sim->def.gravity.y,
                            0.5 * c->dt * sim->def.gravity.z};
    memcpy(v, motion, sizeof(double) * (size_t)size);
    for (int32_t k = 0; k < s->faces.count - l->gaps; k++) v[k] -= half[mo_face_axis(l->face_at[k])];
    for (int32_t k = 0; k < s->bodies.count; k++)
        if (k % MO_BODY_UNKNOWNS < 3) v[s->faces.count + k] -= half[k % MO_BODY_UNKNOWNS];
    const double *of[MO_GROUPS];
    mo_motion_split(s, v, of);
    for (int32_t g = 0; g < MO_NODES; g++)
        if (s->group[g].count) energy += mo_group_energy(&s->group[g], of[g], scratch + size);
    return energy * mo_grid_cell_volume(sim->grid);
}

// Takes the part of every bounce that is to go: a half of what is left, and in the end all of it.
static void weaken(mo_system *s, bool whole)
{
    mo_block *b = s->block[MO_BLOCK_CONTACT];
    for (int32_t i = 0; i < b->rows; i++) {
        double less = whole ? s->bounce[i] : 0.5 * s->bounce[i];
        b->rhs[i] += less, s->bounce[i] -= less;
    }
}

mo_status mo_sim_review_bounces(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err)
{
    enum { HALVINGS = 2 };
    mo_system *s = &c->assemble.liquid.system;
    if (*again || s->nodes.count || sim->air.present || !bounces(s)) return MO_OK;
    int64_t size = mo_motion_size(s);
    double *now = MO_ARENA_ARRAY(sim->arena, double, 3 * size + 1), work;
    if (!now) return mo_fail_memory(err);
    mo_motion_get(s, now);
    const double *of[MO_GROUPS];
    mo_motion_split(s, now, of);
    MO_TRY(mo_sim_solve_work(sim, c, of, &work, err));
    double before = middle_energy(sim, c, c->solve.start, now + size), after = middle_energy(sim, c, now, now + size);
    if (after - before - work <= least_gain * before) return MO_OK;
    weaken(s, c->solve.repeats >= HALVINGS);
    *again = true;
    return MO_OK;
}
