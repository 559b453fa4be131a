// Liquid that moves with rigid bodies.
#include "system/attach.h"
#include "base/vec.h"
#include <string.h>

void mo_attach_face(mo_attached *to, double mass, int axis, mo_vec3 arm, double excess)
{
    mo_vec3 e = {axis == 0, axis == 1, axis == 2}, turn = mo_cross(arm, e);
    const double q[6] = {e.x, e.y, e.z, turn.x, turn.y, turn.z};
    for (int i = 0; i < 6; i++) {
        to->momentum[i] += mass * q[i] * excess;
        for (int k = 0; k < 6; k++) to->mass[i][k] += mass * q[i] * q[k];
    }
}

// Inverse of a symmetric positive matrix, among the directions with a diagonal; the others stay 0. Gauss-Jordan.
static void invert(double A[6][6])
{
    for (int p = 0; p < 6; p++) {
        if (!(A[p][p] > 0)) continue;
        double pivot = 1 / A[p][p];
        A[p][p] = 1;
        for (int k = 0; k < 6; k++) A[p][k] *= pivot;
        for (int i = 0; i < 6; i++) {
            double factor = A[i][p];
            if (i == p || factor == 0) continue;
            A[i][p] = 0;
            for (int k = 0; k < 6; k++) A[i][k] -= factor * A[p][k];
        }
    }
}

void mo_attach(mo_system *s, mo_attached *of)
{
    for (int32_t b = 0; b < s->bodies; b++) {
        double(*W)[6] = s->body[b].inverse, *v = s->body_velocity + 6 * b;
        bool moves[6], any = false;
        for (int i = 0; i < 6; i++) moves[i] = W[i][i] > 0, any |= of[b].mass[i][i] > 0;
        memcpy(of[b].velocity, v, sizeof of[b].velocity);
        if (!any) continue;
        invert(W);
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) W[i][k] += moves[i] && moves[k] ? of[b].mass[i][k] : 0;
        invert(W);
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 6; k++) v[i] += W[i][k] * of[b].momentum[k];
    }
}

void mo_attached_force(const mo_attached *of, const double v[6], double dt, double force[6])
{
    for (int i = 0; i < 6; i++) {
        force[i] = of->momentum[i] / dt;
        for (int k = 0; k < 6; k++) force[i] -= of->mass[i][k] * (v[k] - of->velocity[k]) / dt;
    }
}
