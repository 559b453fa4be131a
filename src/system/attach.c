// Liquid that moves with bodies and nodes.
#include "system/attach.h"
#include "base/vec.h"
#include "system/nodes.h"
#include "system/solid_rows.h"
#include <string.h>

static void attach_to_body(mo_attached *to, const double *v, double mass, int axis, mo_vec3 arm, const double *u)
{
    mo_vec3 e = {axis == 0, axis == 1, axis == 2}, turn = mo_cross(arm, e);
    const double q[MO_BODY_UNKNOWNS] = {e.x, e.y, e.z, turn.x, turn.y, turn.z};
    double excess = u ? *u - v[axis] - mo_get(mo_cross(mo_v3(v[3], v[4], v[5]), arm), axis) : 0;
    for (int i = 0; i < MO_BODY_UNKNOWNS; i++) {
        to->momentum[i] += mass * q[i] * excess;
        for (int k = 0; k < MO_BODY_UNKNOWNS; k++) to->mass[i][k] += mass * q[i] * q[k];
    }
}

static void attach_to_nodes(mo_group *nodes, const mo_solid_set *solids, int32_t solid, double mass, int axis,
                            mo_vec3 x, const double *u)
{
    mo_vec3 e = {axis == 0, axis == 1, axis == 2};
    mo_column column[MO_SOLID_COLUMNS];
    int32_t n = mo_solid_columns(solids, solid, x, e, column);
    double own = 0;
    for (int32_t k = 0; k < n; k++) own += column[k].weight * nodes->velocity[column[k].unknown];
    for (int32_t k = 0; k < n; k++)
        mo_nodes_attach(nodes, column[k].unknown, column[k].weight * mass,
                        u ? column[k].weight * mass * (*u - own) : 0);
}

void mo_attach_face(mo_system *s, mo_attached *of, const mo_solid_set *solids, int32_t solid, double mass, int axis,
                    mo_vec3 x, const double *u)
{
    MO_ASSERT(axis >= 0 && axis < 3 && mo_solid_moves(solids, solid));
    int32_t body = solids->body[solid];
    MO_ASSERT(mass >= 0 || body < mo_body_count(&s->bodies));
    if (body >= mo_body_count(&s->bodies)) {
        attach_to_nodes(&s->nodes, solids, solid, mass, axis, x, u);
        return;
    }
    mo_vec3 arm = mo_sub(x, solids->centre[solid]);
    attach_to_body(&of[body], mo_body_velocity(&s->bodies, body), mass, axis, arm, u);
}

// Whether M/2 + part Ma is positive, among the directions in which the body can move.
static bool keeps_half(const mo_body_mass *m, const mo_body_matrix attached, double part)
{
    mo_body_matrix A;
    for (int i = 0; i < MO_BODY_UNKNOWNS; i++)
        for (int k = 0; k < MO_BODY_UNKNOWNS; k++) A[i][k] = 0.5 * m->matrix[i][k] + part * attached[i][k];
    for (int p = 0; p < MO_BODY_UNKNOWNS; p++) {
        if (!(m->inverse[p][p] > 0)) continue;
        if (!(A[p][p] > 0)) return false;
        for (int i = p + 1; i < MO_BODY_UNKNOWNS; i++)
            for (int k = p + 1; k < MO_BODY_UNKNOWNS && m->inverse[i][i] > 0; k++)
                A[i][k] -= A[i][p] * A[p][k] / A[p][p];
    }
    return true;
}

static double part_of(const mo_body_mass *m, const mo_body_matrix attached)
{
    enum { HALVINGS = 20 };
    double part = 0;
    if (keeps_half(m, attached, 1)) return 1;
    for (double step = 0.5; step > 1.0 / (1 << HALVINGS); step *= 0.5)
        if (keeps_half(m, attached, part + step)) part += step;
    return part;
}

void mo_attach_excess(mo_system *s, mo_attached *of, const mo_excess *excess, double density)
{
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++) {
        mo_body_matrix mass = {{0}};
        for (int a = 0; a < 3; a++) {
            mass[a][a] = density * excess[b].force[a];
            for (int k = 0; k < 3; k++) mass[3 + k][a] = mass[a][3 + k] = density * mo_get(excess[b].turn[a], k);
        }
        double part = part_of(&s->bodies.body[b], (const double(*)[MO_BODY_UNKNOWNS])mass);
        for (int i = 0; i < MO_BODY_UNKNOWNS; i++)
            for (int k = 0; k < MO_BODY_UNKNOWNS; k++) of[b].mass[i][k] += part * mass[i][k];
    }
}

int32_t mo_attach_limit(mo_system *s, mo_attached *of, mo_vec3 fall)
{
    int32_t limited = 0;
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++) {
        double part = part_of(&s->bodies.body[b], (const double(*)[MO_BODY_UNKNOWNS])of[b].mass);
        if (part == 1) continue;
        limited++;
        for (int i = 0; i < MO_BODY_UNKNOWNS; i++) {
            for (int a = 0; a < 3; a++) of[b].momentum[i] += (1 - part) * of[b].mass[i][a] * mo_get(fall, a);
            for (int k = 0; k < MO_BODY_UNKNOWNS; k++) of[b].mass[i][k] *= part;
        }
    }
    return limited;
}

mo_status mo_attach(mo_system *s, mo_attached *of, mo_error *err)
{
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++) {
        double *v = mo_body_velocity(&s->bodies, b);
        bool any = false;
        for (int i = 0; i < MO_BODY_UNKNOWNS; i++) any |= of[b].mass[i][i] != 0 || of[b].momentum[i] != 0;
        memcpy(of[b].velocity, v, sizeof of[b].velocity);
        if (any) mo_body_add_mass(&s->bodies, b, of[b].mass, of[b].momentum);
    }
    return mo_nodes_attach_end(&s->nodes, err);
}

void mo_attached_force(const mo_attached *of, const double v[MO_BODY_UNKNOWNS], double dt,
                       double force[MO_BODY_UNKNOWNS])
{
    MO_ASSERT(dt > 0);
    for (int i = 0; i < MO_BODY_UNKNOWNS; i++) {
        force[i] = of->momentum[i] / dt;
        for (int k = 0; k < MO_BODY_UNKNOWNS; k++) force[i] -= of->mass[i][k] * (v[k] - of->velocity[k]) / dt;
    }
}
