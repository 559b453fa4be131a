// What the tests of elastic bodies in a simulation share.
#ifndef MO_ELASTIC_TEST_H
#define MO_ELASTIC_TEST_H

#include "sim_test.h"
#include "sim/sim.h"

typedef struct world { // a scene with elastic bodies
    scene s;
    mo_elastic_def elastic[3];
    mo_pin_def pin[2];
} world;

static inline void world_start(world *w, int32_t cells, double depth)
{
    memset(w, 0, sizeof *w);
    scene_start(&w->s, cells, depth);
    w->s.def.elastics = w->elastic;
}

static inline mo_elastic_def *world_elastic(world *w, const char *name, mo_shape *shape)
{
    mo_elastic_def *e = &w->elastic[w->s.def.elastic_count++];
    *e = mo_elastic_def_default(), e->name = name, e->shape = shape;
    return e;
}

static inline void world_end(world *w)
{
    for (int32_t i = 0; i < w->s.def.elastic_count; i++)
        if (w->elastic[i].shape) mo_shape_release(w->elastic[i].shape);
    for (int k = 0; k < 2; k++)
        if (w->pin[k].where) mo_shape_release(w->pin[k].where);
    scene_end(&w->s);
}

static inline void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

#endif
