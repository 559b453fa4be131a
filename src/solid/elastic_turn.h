// How an elastic body turns as a whole.
#ifndef MO_ELASTIC_TURN_H
#define MO_ELASTIC_TURN_H

#include "solid/elastic.h"

// Finds the rotation nearest to the one that leads from places `from` to places `to`, each about its centre of mass.
mo_quat mo_elastic_rotation(const mo_elastic_body *b, const mo_vec3 *from, const mo_vec3 *to);

// Vertices move along straight lines even if the body turns. With the rotation Q = exp(dt [w]x) about the centre they
// get the velocities (Q - 1) r / dt, which are w x r plus about dt/2 w x (w x r), which points inwards. This second
// part comes from moving along the chord. On the body's surface at the start of the step it looks like a loss of
// volume, which does not exist. This function writes that part to out[dimension * vertices], for velocities v of a step
// of length dt, with the nearest rotation.
void mo_elastic_chord(const mo_elastic_body *b, double dt, const double *v, double *out);

#endif
