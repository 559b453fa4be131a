// Elastic bodies and cloth in a step: the group of nodes, the results of the solve, and their energy.
//
// With v0 the velocities before the step and x' = x + dt v, the step gives
//
//     M (v - v0) = dt (M g - a M v - dW/dx(x') - B^T x + r)      r: what holds pinned vertices, 0 elsewhere
//
// Pins do the work dt r.v. Rows of pressure, contact and so on take dt x.B (v + v0)/2, as from everything else that
// moves, and the order of the step takes 1/2 dt g.M (v - v0) where gravity acts (energy.c). The rest of the change of
// the body's energy was lost to drag, damping and implicit Euler.
#include "base/matrix3.h"
#include "sim/sim.h"
#include "system/state.h"
#include <math.h>
#include <string.h>

// ---- Speeds ----

static double fastest(int32_t count, const mo_vec3 *v)
{
    double square = 0;
    for (int32_t k = 0; k < count; k++) {
        double own = mo_dot(v[k], v[k]);
        if (!(own <= square)) square = own; // NaN wins
    }
    return sqrt(square);
}

double mo_elastic_script_speed(const mo_elastic *e) { return fastest(e->body.vertices, e->script); }

double mo_elastic_speed(const mo_elastic *e)
{
    double own = fastest(e->body.vertices, e->body.velocity), asked = mo_elastic_script_speed(e);
    return asked > own ? asked : own;
}

// ---- The system ----

static void set_target(const mo_sim *sim, mo_elastic *e, double dt)
{
    const mo_elastic_body *b = &e->body;
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 to = e->pinned[v] ? e->script[v] : mo_mad(b->velocity[v], dt, sim->def.gravity);
        for (int a = 0; a < b->dimension; a++) e->target[b->dimension * v + a] = mo_get(to, a);
    }
}

mo_status mo_sim_follow_pressure(mo_sim *sim, mo_error *err)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        e->body.elasticity.pressure = e->pressure;
        if (mo_elastic_follow(&e->body, sim->arena, e->follow) != MO_OK) return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_sim_add_elastics(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    mo_elastics *all = &sim->elastics;
    mo_group *nodes = &c->assemble.liquid.system.nodes;
    if (!all->count) return MO_OK;
    c->assemble.liquid.system.pace = c->dt * mo_norm(sim->def.gravity);
    for (int32_t k = 0; k < all->count; k++) set_target(sim, &all->body[k], c->dt);
    mo_sim_kick_cloths(sim, c->dt);
    MO_TRY(mo_sim_aim_wind(sim, err));
    MO_TRY(mo_sim_follow_pressure(sim, err));
    all->law = (mo_elastic_law){all->part, c->dt, mo_grid_cell_volume(sim->grid), sim->arena};
    mo_node_law law = mo_elastic_law_of(&all->law);
    if (all->cloths) law.modes = NULL;
    MO_TRY(mo_nodes_join(all->count, all->node, &law, nodes, err));
    // Liquid that is attached to vertices falls with them, even where these are held; air does not fall.
    mo_sim_elastic_before(sim, nodes->velocity);
    for (int32_t i = 0, d = all->body[0].body.dimension; i < nodes->count; i++)
        nodes->velocity[i] += c->dt * mo_get(mo_sim_fall(sim), i % d);
    return MO_OK;
}

void mo_sim_hold_elastics(const mo_sim *sim, mo_step_context *c)
{
    const mo_elastics *all = &sim->elastics;
    for (int32_t k = 0; k < all->count; k++)
        memcpy(c->assemble.liquid.system.nodes.velocity + all->body[k].first, all->body[k].target,
               sizeof(double) * (size_t)mo_elastic_unknowns(&all->body[k].body));
}

void mo_sim_take_elastics(mo_sim *sim, const mo_step_context *c)
{
    const mo_group *nodes = &c->assemble.liquid.system.nodes;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        const double *from = nodes->velocity + e->first;
        int d = e->body.dimension;
        e->body.elasticity.pressure = 0;
        for (int32_t v = 0; v < e->body.vertices; v++, from += d)
            e->body.velocity[v] = mo_v3(from[0], from[1], d == 3 ? from[2] : 0);
    }
}

// ---- Places ----

// The angular velocity with the same angular momentum, from the inertia about the centre.
static mo_vec3 turn_of(const mo_elastic_body *b, const mo_elastic_sums *s)
{
    double I[3][3] = {{0}}, C[3][3];
    if (b->dimension == 2) I[0][0] = I[1][1] = 1;
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 r = mo_sub(b->position[v], s->centre);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                if (b->dimension == 3 || (i == 2 && k == 2))
                    I[i][k] += b->mass[v] * ((i == k ? mo_dot(r, r) : 0) - mo_get(r, i) * mo_get(r, k));
    }
    double J = mo_det3((const double(*)[3])I);
    if (!(J > 0)) return mo_v3(0, 0, 0);
    mo_cofactor3((const double(*)[3])I, C);
    mo_mat3 inverse; // I is symmetric
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) inverse.m[i][k] = C[i][k] / J;
    return mo_mat3_mul(inverse, s->angular_momentum);
}

// The entry among the solids: a ball round the vertices, and the mean motion.
static void describe(mo_sim *sim, mo_elastic *e)
{
    mo_elastic_body *b = &e->body;
    mo_solid *s = &sim->solids[e->solid];
    mo_elastic_sums sums = mo_elastic_measure(b);
    s->pose.position = s->next.position = sums.centre;
    s->velocity = mo_mul(1 / sums.mass, sums.momentum), s->angular_velocity = turn_of(b, &sums);
    s->volume = sums.mass / b->density;
    s->radius = 0;
    e->box = (mo_box3){sums.centre, sums.centre};
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 x = b->position[v], *lo = &e->box.lo, *hi = &e->box.hi;
        s->radius = fmax(s->radius, mo_norm(mo_sub(x, sums.centre)));
        *lo = mo_v3(fmin(lo->x, x.x), fmin(lo->y, x.y), fmin(lo->z, x.z));
        *hi = mo_v3(fmax(hi->x, x.x), fmax(hi->y, x.y), fmax(hi->z, x.z));
    }
}

// Only liquid uses the field.
mo_status mo_sim_settle_elastics(mo_sim *sim, mo_error *err)
{
    bool liquid = sim->def.liquid_count || sim->def.emitter_count;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        mo_error why = {0};
        describe(sim, e);
        if (sim->centre) sim->centre[e->solid] = sim->solids[e->solid].pose.position;
        if (!liquid || e->body.cloth) continue;
        mo_status status =
            mo_elastic_field_update(&e->field, &e->body, sim->grid->origin, 0.5 * sim->grid->dx, sim->arena, &why);
        if (status == MO_OK && sim->def.solver.coupling == MO_COUPLING_POLYGONS)
            status = mo_elastic_pieces_update(&e->pieces, &e->body, &e->field, mo_grid_world(sim->grid, 0, 0, 0),
                                              sim->grid->dx, sim->viscous, &why);
        if (status != MO_OK) return mo_fail(err, status, "elastic '%s': %s", sim->solids[e->solid].name, why.text);
    }
    return MO_OK;
}

mo_status mo_sim_move_elastics(mo_sim *sim, double dt, mo_error *err)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic_body *b = &sim->elastics.body[k].body;
        for (int32_t v = 0; v < b->vertices; v++) b->position[v] = mo_mad(b->position[v], dt, b->velocity[v]);
        if (mo_elastic_fault(b))
            return mo_fail(err, MO_ERROR_FAILED, "step %lld: %s '%s' has %s", (long long)sim->step,
                           mo_elastic_kind(&sim->elastics.body[k]), sim->solids[sim->elastics.body[k].solid].name,
                           mo_elastic_fault(b));
    }
    return mo_sim_settle_elastics(sim, err);
}

// ---- Energy ----

void mo_sim_elastic_before(const mo_sim *sim, double *v)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic_body *b = &sim->elastics.body[k].body;
        for (int32_t i = 0; i < b->vertices; i++)
            for (int a = 0; a < b->dimension; a++) *v++ = mo_get(b->velocity[i], a);
    }
}

typedef struct step_of_body { // what the account needs of one
    const mo_elastic *e;
    const double *before, *now; // [unknowns] v0, v
    const double *row_force;    // [unknowns] dt B^T x, over dx^3, less the force of liquid that moves along
    double dt, volume;
    mo_vec3 gravity;
} step_of_body;

// The kinetic, elastic and potential energy that the step adds, without the part that its order takes.
static mo_status gain_of(const step_of_body *s, const mo_vec3 *end, mo_arena *arena, double *gain)
{
    const mo_elastic_body *b = &s->e->body;
    double first, last;
    MO_TRY(mo_elastic_energy(b, b->position, NULL, arena, &first));
    MO_TRY(mo_elastic_energy(b, end, NULL, arena, &last));
    *gain = last - first;
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++) {
        double m = b->mass[i / b->dimension], v = s->now[i], v0 = s->before[i];
        double way = s->e->pinned[i / b->dimension] ? v : 0.5 * (v + v0);
        *gain += 0.5 * m * (v * v - v0 * v0) - s->dt * m * mo_get(s->gravity, i % b->dimension) * way;
    }
    return MO_OK;
}

// What holds pinned vertices: the work dt r.v where scripts move them, and the sum of r, which is told for cloth.
static mo_status pin_work(const step_of_body *s, const mo_vec3 *end, mo_arena *arena, double *work, mo_vec3 *held)
{
    const mo_elastic_body *b = &s->e->body;
    int32_t n = mo_elastic_unknowns(b);
    bool any = b->cloth && s->e->pin_count;
    double sum[3] = {0};
    *work = 0, *held = mo_v3(0, 0, 0);
    for (int32_t k = 0; k < s->e->pin_count; k++) any |= mo_pin_moves(&s->e->pins[k]);
    if (!any) return MO_OK;
    double *gradient = MO_ARENA_ARRAY(arena, double, n + 1);
    mo_elastic_step step = {b->position, s->dt};
    if (!gradient) return MO_ERROR_MEMORY;
    MO_TRY(mo_elastic_gradient(b, end, &step, arena, gradient));
    for (int32_t i = 0; i < n; i++) {
        if (!s->e->pinned[i / b->dimension]) continue;
        double m = b->mass[i / b->dimension], v = s->now[i];
        double change = v - s->before[i] - s->dt * mo_get(s->gravity, i % b->dimension) + s->e->drag * s->dt * v;
        double impulse = m * change + s->dt * gradient[i] + s->volume * s->row_force[i];
        *work += v * impulse, sum[i % b->dimension] += impulse;
    }
    *held = mo_mul(1 / s->dt, mo_v3(sum[0], sum[1], sum[2]));
    return MO_OK;
}

static mo_status account_body(mo_sim *sim, const step_of_body *s, double to_rows, mo_vec3 *held)
{
    const mo_elastic_body *b = &s->e->body;
    size_t mark = mo_arena_mark(sim->arena);
    mo_vec3 *end = MO_ARENA_ARRAY(sim->arena, mo_vec3, b->vertices + 1);
    double gain = 0, work = 0;
    if (!end) return MO_ERROR_MEMORY;
    for (int32_t v = 0, d = b->dimension; v < b->vertices; v++)
        end[v] = mo_mad(b->position[v], s->dt, mo_v3(s->now[d * v], s->now[d * v + 1], d == 3 ? s->now[d * v + 2] : 0));
    MO_TRY(gain_of(s, end, sim->arena, &gain));
    MO_TRY(pin_work(s, end, sim->arena, &work, held));
    sim->account.work += work;
    sim->account.loss += work - gain - to_rows;
    mo_arena_release(sim->arena, mark);
    return MO_OK;
}

mo_status mo_sim_elastic_account(mo_sim *sim, const mo_step_context *c, const double *before, const double *now,
                                 mo_error *err)
{
    const mo_system *y = &c->assemble.liquid.system;
    int32_t n = y->nodes.count;
    double volume = mo_grid_cell_volume(sim->grid), *force = MO_ARENA_ARRAY(sim->arena, double, n + 1);
    if (!force) return mo_fail_memory(err);
    memset(force, 0, sizeof(double) * (size_t)n);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (y->block[k] && y->block[k]->on[MO_NODES].rows)
            mo_csr_push(&y->block[k]->on[MO_NODES], -1, y->block[k]->x, force);
    mo_nodes_attached_force(&y->nodes, c->dt, force);
    mo_sim_add_cloth_kicks(sim, 0.5 / volume, force);
    mo_sim_add_wind(sim, now, 1 / volume, force);
    for (int32_t i = 0; i < n; i++) force[i] *= -c->dt;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic *e = &sim->elastics.body[k];
        step_of_body s = {e, before + e->first, now + e->first, force + e->first, c->dt, volume, sim->def.gravity};
        double to_rows = 0;
        for (int32_t i = 0; i < mo_elastic_unknowns(&e->body); i++)
            to_rows += 0.5 * volume * s.row_force[i] * (s.before[i] + s.now[i]);
        if (account_body(sim, &s, to_rows, &e->held) != MO_OK) return mo_fail_memory(err);
    }
    mo_sim_account_kicks(sim, c->dt, before, now);
    return mo_sim_account_wind(sim, c->dt, before, now, err);
}
