// The light of a picture: a sky seen in every direction, and a sun (or a soft lamp) sampled on its own.
#ifndef MO_SKY_H
#define MO_SKY_H

#include "render/vec3f.h"

typedef struct mo_light {
    mo_sky kind;
    mo_vec3f sun;        // unit, towards it
    mo_vec3f irradiance; // of the sun on a surface that faces it; 0: no sun
    float cos_radius;    // of its disc
    mo_vec3f radiance;   // of its disc
    mo_vec3f ambient;    // mean of the sky: used for light that is not followed further
} mo_light;

mo_light mo_light_create(mo_sky sky, mo_vec3 sun);              // sun (0, 0, 0): the sky's own
mo_vec3f mo_light_sky(const mo_light *l, mo_vec3f direction);   // without lamps
mo_vec3f mo_light_lamps(const mo_light *l, mo_vec3f direction); // the sun's disc, the soft boxes of the studio
mo_vec3f mo_light_sample(const mo_light *l, float u, float v);  // a direction into the sun's disc

#endif
