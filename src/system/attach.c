// Liquid that moves with rigid bodies.
#include "system/attach.h"
#include "base/vec.h"
#include <string.h>

void mo_attach_face(mo_attached *to, double mass, int axis, mo_vec3 arm, double excess)
{
    MO_ASSERT(axis >= 0 && axis < 3 && mass >= 0);
    mo_vec3 e = {axis == 0, axis == 1, axis == 2}, turn = mo_cross(arm, e);
    const double q[6] = {e.x, e.y, e.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < 6; i++) {
        to->momentum[i] += mass * q[i] * excess;
        for (int k = 0; k < 6; k++) to->mass[i][k] += mass * q[i] * q[k];
    }
}

void mo_attach(mo_system *s, mo_attached *of)
{
    for (int32_t b = 0; b < mo_body_count(&s->bodies); b++) {
        double *v = mo_body_velocity(&s->bodies, b);
        bool any = false;
        for (int i = 0; i < 6; i++) any |= of[b].mass[i][i] > 0;
        memcpy(of[b].velocity, v, sizeof of[b].velocity);
        if (any) mo_body_add_mass(&s->bodies, b, of[b].mass, of[b].momentum);
    }
}

void mo_attached_force(const mo_attached *of, const double v[6], double dt, double force[6])
{
    MO_ASSERT(dt > 0);
    for (int i = 0; i < 6; i++) {
        force[i] = of->momentum[i] / dt;
        for (int k = 0; k < 6; k++) force[i] -= of->mass[i][k] * (v[k] - of->velocity[k]) / dt;
    }
}
