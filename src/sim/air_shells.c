// Air where shells move: the gas's fields follow them to the sites of their new places (fluid/gas_move.h).
#include "fluid/gas_move.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

typedef struct crossing { // of one shell in a step
    mo_pose before;
    mo_sheet sheet;        // of cloth: where it was, in the memory of others
    mo_sheet_sweep *sweep; // of its way; NULL: the shell is rigid
} crossing;

typedef struct passage { // of shells in a step
    const mo_sim *sim;
    crossing *shell; // [shells]
} passage;

// A rigid shell rests in its own frame, and a path that does not meet it there does not pass it. The vertices of cloth
// move along straight lines while a point moves along its own.
static bool parts(const void *user, const double a[3], const double b[3])
{
    const double nearest = 1e-6; // cells
    const passage *p = user;
    const mo_grid *g = p->sim->grid;
    mo_vec3 from = mo_grid_world(g, a[0], a[1], a[2]), to = mo_grid_world(g, b[0], b[1], b[2]);
    for (int32_t i = 0; i < p->sim->shells.count; i++) {
        const mo_shell *s = &p->sim->shells.shell[i];
        const crossing *c = &p->shell[i];
        int32_t triangle;
        mo_sweep_hit hit;
        bool met = c->sweep ? mo_sheet_sweep_meet(c->sweep, from, to, nearest * g->dx, &hit)
                            : mo_sheet_tree_meet(s->tree, mo_pose_to_body(c->before, from),
                                                 mo_pose_to_body(s->pose, to), &triangle) <= 1;
        if (met) return true;
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

// To be called before shells arrive.
static mo_status start_passage(mo_sim *sim, passage *p, mo_error *err)
{
    const mo_shells *shells = &sim->shells;
    *p = (passage){sim, MO_ARENA_ARRAY(sim->arena, crossing, shells->count + 1)};
    double(*from)[3] = mo_arena_alloc(sim->arena, sizeof *from * ((size_t)shells->all.vertices + 1));
    if (!p->shell || !from) return mo_fail_memory(err);
    memset(p->shell, 0, sizeof *p->shell * ((size_t)shells->count + 1));
    memcpy(from, shells->all.position, sizeof *from * (size_t)shells->all.vertices);
    for (int32_t i = 0; i < shells->count; i++) {
        const mo_shell *s = &shells->shell[i];
        crossing *c = &p->shell[i];
        c->before = s->pose, c->sheet = s->sheet, c->sheet.position = from + s->first_vertex;
        if (!s->cloth) continue;
        MO_TRY(mo_sheet_sweep_create(&c->sheet, (const double(*)[3])(shells->next + s->first_vertex), &c->sweep, err));
    }
    return MO_OK;
}

static void end_passage(const passage *p)
{
    for (int32_t i = 0; p->shell && i < p->sim->shells.count; i++) mo_sheet_sweep_destroy(p->shell[i].sweep);
}

static mo_status move_air(mo_sim *sim, const passage *p, uint8_t **fresh, mo_error *err)
{
    mo_shells *shells = &sim->shells;
    mo_grid old = *sim->grid; // the same tiles, with the sites before the move
    mo_gas_move m = {.old = &old,
                     .now = sim->grid,
                     .parts = parts,
                     .user = p,
                     .velocity = (const double(*)[3])shells->velocity,
                     .way = way_of(shells) / old.dx};
    MO_TRY(mo_shells_arrive(shells, err));
    sim->grid->sites = NULL;
    mo_status status = mo_sim_cut_shells(sim, err);
    if (status == MO_OK) status = mo_gas_follow_sheets(&sim->air.gas, &m, sim->arena, fresh, err);
    mo_sites_destroy(&old);
    return status;
}

mo_status mo_sim_move_air(mo_sim *sim, uint8_t **fresh, mo_error *err)
{
    passage p;
    mo_status status = start_passage(sim, &p, err);
    if (status == MO_OK) status = move_air(sim, &p, fresh, err);
    end_passage(&p);
    return status;
}
