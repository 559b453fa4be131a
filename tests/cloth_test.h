// What the tests of cloth in simulations share.
#ifndef MO_CLOTH_TEST_H
#define MO_CLOTH_TEST_H

#include "sim_test.h"
#include "sim/sim.h"
#include "solid/cloth.h"

typedef struct world { // a scene with cloth
    scene s;
    mo_cloth_def cloth[2];
    mo_sheet sheet[2];
    mo_pin_def pin[2];
} world;

static inline void world_start(world *w, int32_t cells)
{
    memset(w, 0, sizeof *w);
    scene_start(&w->s, cells, 1);
    w->s.def.cloths = w->cloth;
}

// A square sheet in the plane y = 0 about the origin; move it before the simulation is created.
static inline mo_cloth_def *world_cloth(world *w, const char *name, double size, double edge)
{
    int32_t k = w->s.def.cloth_count++;
    assert_int_equal(mo_sheet_plate(size, size, edge, &w->sheet[k], NULL), MO_OK);
    w->cloth[k] = mo_cloth_def_default();
    w->cloth[k].name = name, w->cloth[k].sheet = &w->sheet[k];
    return &w->cloth[k];
}

static inline void world_end(world *w)
{
    for (int k = 0; k < 2; k++) {
        mo_sheet_destroy(&w->sheet[k]);
        if (w->pin[k].where) mo_shape_release(w->pin[k].where);
    }
    scene_end(&w->s);
}

static inline const mo_elastic *world_body(const mo_sim *sim, int32_t cloth)
{
    return &sim->elastics.body[sim->elastics.count - sim->elastics.cloths + cloth];
}

static inline void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

#endif
