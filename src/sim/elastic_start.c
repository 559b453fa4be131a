// Where Newton's method begins in a step: the velocities of elastic bodies' vertices at which they are linearised
// first.
//
// The target v* is a good start for soft bodies. But it strains stiff bodies that turn, or whose pins jerk, so much
// that a few steps of Newton's method do not remove the strain, and its energy is released in the next step. So there
// are other starts, and the one of least value is taken:
//
//     rigid      the body moves as it is: turned by its own turn, or carried by its first pin that moves
//     predicted  the quadratic that fits at the rigid motion, with pinned vertices where they go
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// A motion without strain in the step ahead.
typedef struct motion {
    mo_vec3 centre, way; // turns about the centre, which goes that way
    mo_quat turn;
} motion;

// The motion of a pin from pose to pose.
static motion motion_of_pin(const mo_pin *p)
{
    mo_quat turn = mo_quat_mul(p->next.rotation, mo_quat_conj(p->pose.rotation));
    return (motion){p->pose.position, mo_sub(p->next.position, p->pose.position), turn};
}

static motion rigid_motion(const mo_sim *sim, const mo_elastic *e, double dt)
{
    const mo_solid *s = &sim->solids[e->solid];
    for (int32_t k = 0; k < e->pin_count; k++)
        if (mo_pin_moves(&e->pins[k])) return motion_of_pin(&e->pins[k]);
    if (e->pin_count) return (motion){s->pose.position, mo_v3(0, 0, 0), mo_quat_identity()};
    double angle = mo_atan2(dt * mo_norm(s->angular_velocity), 1); // nearest to v* of all turns about this axis
    return (motion){s->pose.position, mo_mul(dt, mo_mad(s->velocity, dt, sim->def.gravity)),
                    mo_quat_axis_angle(s->angular_velocity, angle)};
}

// Velocities of vertices that move so; held: those of pinned ones are the script's.
static void velocities(const mo_elastic *e, const motion *m, double dt, bool held, double *v)
{
    const mo_elastic_body *b = &e->body;
    for (int32_t k = 0; k < b->vertices; k++) {
        mo_vec3 arm = mo_sub(b->position[k], m->centre), to = mo_add(mo_quat_rotate(m->turn, arm), m->way);
        mo_vec3 own = held && e->pinned[k] ? e->script[k] : mo_mul(1 / dt, mo_sub(to, arm));
        for (int a = 0; a < b->dimension; a++) *v++ = mo_get(own, a);
    }
}

// The largest value of a start that is not strained more than the motion itself can cause.
static mo_status fair_value(const mo_sim *sim, const mo_elastic *e, double *out, mo_error *err)
{
    const mo_elastic_body *b = &e->body;
    double kinetic = 0, elastic;
    if (mo_elastic_energy(b, b->position, NULL, sim->arena, &elastic) != MO_OK) return mo_fail_memory(err);
    for (int32_t i = 0; i < mo_elastic_unknowns(b); i++)
        kinetic += 0.5 * b->mass[i / b->dimension] * e->target[i] * e->target[i];
    *out = (kinetic + elastic) / mo_grid_cell_volume(sim->grid);
    return MO_OK;
}

static mo_status start_body(mo_sim *sim, mo_group *nodes, int32_t k, double dt, mo_error *err)
{
    const mo_elastic *e = &sim->elastics.body[k];
    int32_t n = mo_elastic_unknowns(&e->body);
    size_t mark = mo_arena_mark(sim->arena), bytes = sizeof(double) * (size_t)n;
    double *best = nodes->velocity + e->first, least, other, fair = 0,
           *v = MO_ARENA_ARRAY(sim->arena, double, 2 * n + 1);
    if (!v) return mo_fail_memory(err);
    motion rigid = rigid_motion(sim, e, dt);
    velocities(e, &rigid, dt, true, v);
    MO_TRY(mo_nodes_part_value(nodes, k, best, &least, err));
    MO_TRY(mo_nodes_part_value(nodes, k, v, &other, err));
    if (other < least) memcpy(best, v, bytes), least = other;
    MO_TRY(fair_value(sim, e, &fair, err));
    if (e->pin_count && least > fair) {
        velocities(e, &rigid, dt, false, v + n);
        MO_TRY(mo_nodes_part_predict(nodes, k, v + n, v, err));
        MO_TRY(mo_nodes_part_value(nodes, k, v, &other, err));
        if (other < least) memcpy(best, v, bytes);
    }
    mo_arena_release(sim->arena, mark);
    return MO_OK;
}

mo_status mo_sim_start_elastics(mo_sim *sim, mo_step_context *c, mo_error *err)
{
    for (int32_t k = 0; k < sim->elastics.count; k++)
        MO_TRY(start_body(sim, &c->assemble.liquid.system.nodes, k, c->dt, err));
    return MO_OK;
}
