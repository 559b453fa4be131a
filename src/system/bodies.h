// The group of rigid bodies. A body has six unknowns, and its mass is a block of 6 x 6. Rows on bodies have all six
// entries of every body that they touch, in the order of bodies.
#ifndef MO_BODIES_H
#define MO_BODIES_H

#include "system/group.h"

typedef struct mo_body_mass { // of the velocity of the centre of mass and the angular velocity; 0: cannot move so
    double matrix[6][6];      // alpha Mr, alpha = 1/dx^3
    double inverse[6][6];
} mo_body_mass;

mo_status mo_bodies_create(int32_t bodies, mo_group *out); // nothing moves until masses are set
enum { MO_BODY_UNKNOWNS = 6 }; // of a body: the velocity of its centre of mass, then its angular velocity

static inline int32_t mo_body_count(const mo_group *bodies) { return bodies->count / MO_BODY_UNKNOWNS; }
static inline double *mo_body_velocity(const mo_group *bodies, int32_t body)
{
    MO_ASSERT(body >= 0 && body < mo_body_count(bodies));
    return bodies->velocity + MO_BODY_UNKNOWNS * body;
}

// These make one matrix from the other, on the directions that have a diagonal entry > 0. The others stay 0.
void mo_body_mass_from_inverse(mo_body_mass *m);
void mo_body_mass_from_matrix(mo_body_mass *m);
// Adds a mass that moves with a body, and changes the body's velocity by the momentum p that comes with it: the mass
// acts along the directions in which the body can move.
void mo_body_add_mass(mo_group *bodies, int32_t body, double mass[6][6], const double p[6]);

// Makes C = s R H^-1 R^T of the rows `from` and after, among themselves. The rows before stay empty.
mo_status mo_bodies_product(const mo_group *bodies, double s, const mo_csr *R, int32_t from, mo_csr *out);

#endif
