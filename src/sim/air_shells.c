// Air where shells move: the gas's fields follow them to the sites of their new places (fluid/gas_move.h).
#include "fluid/gas_move.h"
#include "sim/sim.h"
#include <math.h>

typedef struct passage { // of shells in a step
    const mo_sim *sim;
    mo_pose *before; // [shells]
} passage;

// A shell is rigid: in its own frame it rests, and a path that does not meet it there does not pass it.
static bool parts(const void *user, const double a[3], const double b[3])
{
    const passage *p = user;
    const mo_grid *g = p->sim->grid;
    mo_vec3 from = mo_grid_world(g, a[0], a[1], a[2]), to = mo_grid_world(g, b[0], b[1], b[2]);
    for (int32_t i = 0; i < p->sim->shells.count; i++) {
        const mo_shell *s = &p->sim->shells.shell[i];
        int32_t triangle;
        mo_vec3 x = mo_pose_to_body(p->before[i], from), y = mo_pose_to_body(s->pose, to);
        if (mo_sheet_tree_meet(s->tree, x, y, &triangle) <= 1) return true;
    }
    return false;
}

// The way of the fastest vertex in the step, m.
static double way_of(const mo_shells *s)
{
    double most = 0;
    for (int32_t v = 0; v < s->all.vertices; v++) {
        const double *x = s->all.position[v], *y = s->next[v];
        most = fmax(most, mo_norm(mo_v3(y[0] - x[0], y[1] - x[1], y[2] - x[2])));
    }
    return most;
}

mo_status mo_sim_move_air(mo_sim *sim, uint8_t **fresh, mo_error *err)
{
    mo_shells *shells = &sim->shells;
    mo_grid old = *sim->grid; // the same tiles, with the sites before the move
    passage p = {sim, MO_ARENA_ARRAY(sim->arena, mo_pose, shells->count + 1)};
    if (!p.before) return mo_fail_memory(err);
    mo_gas_move m = {.old = &old,
                     .now = sim->grid,
                     .parts = parts,
                     .user = &p,
                     .velocity = (const double(*)[3])shells->velocity,
                     .way = way_of(shells) / old.dx};
    for (int32_t i = 0; i < shells->count; i++) p.before[i] = shells->shell[i].pose;
    MO_TRY(mo_shells_arrive(shells, err));
    sim->grid->sites = NULL;
    mo_status status = mo_sim_cut_shells(sim, err);
    if (status == MO_OK) status = mo_gas_follow_sheets(&sim->air.gas, &m, sim->arena, fresh, err);
    mo_sites_destroy(&old);
    return status;
}
