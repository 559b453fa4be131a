// Elastic bodies and cloth of a simulation: what they are made of and what each keeps from step to step. sim.h declares
// the functions; each body also has an entry among the simulation's solids.
#ifndef MO_SIM_ELASTIC_H
#define MO_SIM_ELASTIC_H

#include "solid/cloth.h"
#include "solid/cloth_pairs.h"
#include "solid/cloth_wind.h"
#include "solid/elastic_field.h"
#include "solid/elastic_pieces.h"
#include "solid/elastic_surface.h"
#include "system/elastic_law.h"

typedef struct mo_pin {  // what holds vertices
    mo_motion_fn motion; // NULL: they stay
    void *user;
    int32_t solid;      // instead, the solid that they move with; -1: none
    mo_pose base;       // its pose at the start
    mo_pose pose, next; // at the start and at the end of the step, by the script
} mo_pin;

typedef struct mo_elastic {
    mo_elastic_body body;       // places and velocities of vertices are state
    mo_elastic_field field;     // where it is, from the places
    mo_elastic_pieces pieces;   // of its surface in cells, for the coupling `polygons`
    mo_elastic_surface surface; // for contacts; contact detection fits it to the places
    int32_t solid;              // its entry among the solids
    int32_t first;              // its first unknown in the group of nodes
    mo_pin *pins;
    int32_t pin_count;
    int32_t *pin;       // [vertices] which pin holds it, -1: none
    uint8_t *pinned;    // [vertices] whether one does
    int32_t *bond;      // [vertices] the rigid solid that it is attached to, -1: none; NULL: no vertex is
    mo_vec3 *anchor;    // [vertices] where on that solid, in its frame
    mo_vec3 *script;    // [vertices] m/s in the step ahead, of those that are held; 0 of others
    double *target;     // [unknowns] v* of the step, m/s
    double *follow;     // [unknowns] the part of the pressure round it that the law subtracts (elastic_law.h), N
    double pressure;    // Pa, mean of the liquid's round it in the last step; state
    double drag;        // 1/s
    mo_vec3 held;       // of cloth: the force of its pins in the last step, N
    mo_drape drape;     // of cloth: its path through a step, from the places to `ends`
    mo_vec3 *ends;      // [vertices]
    double *kick;       // [unknowns] of cloth in air, N: the last step's pressure on it, of which the next applies half
                        // (air_cloth.c); state
    mo_cloth_wind wind; // of cloth without air; without arrays: none
    bool self_contact;
    mo_box3 box; // round the vertices
} mo_elastic;

typedef struct mo_elastics {
    int32_t count, unknowns;
    int32_t cloths;        // how many of them are cloth: the last ones
    mo_elastic *body;      // [count]
    mo_node_part *node;    // [count] matrices and orderings, made once
    mo_elastic_part *part; // [count]
    mo_elastic_law law;    // of the step
} mo_elastics;

static inline const char *mo_elastic_kind(const mo_elastic *e) { return e->body.cloth ? "cloth" : "elastic"; }

#endif
