// The group of rigid bodies. A body has six unknowns, and its mass is a block of 6 x 6. Rows on bodies have all six
// entries of every body that they touch, in the order of bodies.
#ifndef MO_BODIES_H
#define MO_BODIES_H

#include "system/group.h"

enum { MO_BODY_UNKNOWNS = 6 }; // of a body: the velocity of its centre of mass, then its angular velocity
typedef double mo_body_matrix[MO_BODY_UNKNOWNS][MO_BODY_UNKNOWNS];

typedef struct mo_body_mass { // 0 where the body cannot move
    mo_body_matrix matrix;    // alpha Mr, alpha = 1/dx^3
    mo_body_matrix inverse;
} mo_body_mass;

mo_status mo_bodies_create(int32_t bodies, mo_group *out); // nothing moves until masses are set

static inline int32_t mo_body_count(const mo_group *bodies) { return bodies->count / MO_BODY_UNKNOWNS; }
static inline double *mo_body_velocity(const mo_group *bodies, int32_t body)
{
    MO_ASSERT(body >= 0 && body < mo_body_count(bodies));
    return bodies->velocity + MO_BODY_UNKNOWNS * body;
}

// These make one matrix from the other, for the directions that have a diagonal entry > 0. The other entries stay 0.
void mo_body_mass_from_inverse(mo_body_mass *m);
void mo_body_mass_from_matrix(mo_body_mass *m);
// Adds a mass that moves with a body, and changes the body's velocity by the momentum p that comes with it: the mass
// acts along the directions in which the body can move.
void mo_body_add_mass(mo_group *bodies, int32_t body, mo_body_matrix mass, const double p[MO_BODY_UNKNOWNS]);

// Makes C = s R H^-1 R^T of the rows `from` and after, among themselves. The rows before stay empty.
mo_status mo_bodies_product(const mo_group *bodies, double s, const mo_csr *R, int32_t from, mo_csr *out);

#endif
