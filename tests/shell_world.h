// A box of liquid with one shell, for tests of whole steps.
#ifndef MO_SHELL_WORLD_H
#define MO_SHELL_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "geometry/sheet.h"
#include "sim/sim.h"
#include <string.h>

static mo_error err;

typedef struct world {
    mo_sim_def def;
    mo_sheet sheet;
    mo_shell_def shell;
    mo_liquid_def liquid[2];
    mo_solid_def solid;
} world;

static inline void world_start(world *w, int32_t cells)
{
    memset(w, 0, sizeof *w);
    w->def = mo_sim_def_default();
    w->def.domain.size = mo_v3(1, 1, 1), w->def.domain.cells = cells;
    w->def.time.fps = 25, w->def.time.seconds = 60;
    w->shell = mo_shell_def_default();
    w->shell.name = "sheet", w->shell.sheet = &w->sheet;
    w->def.shells = &w->shell, w->def.shell_count = 1, w->def.liquids = w->liquid;
}

static inline void add_liquid(world *w, mo_shape *shape)
{
    mo_liquid_def *l = &w->liquid[w->def.liquid_count++];
    *l = mo_liquid_def_default();
    l->shape = shape;
    assert_non_null(shape);
}

static inline mo_shape *moved(mo_shape *s, mo_vec3 by)
{
    mo_shape *m = mo_shape_move(s, by);
    mo_shape_release(s);
    return m;
}

static inline mo_sim *world_create(world *w)
{
    mo_sim *sim;
    if (mo_sim_create(&w->def, &sim, &err) != MO_OK) fail_msg("%s", err.text);
    return sim;
}

static inline void world_end(world *w, mo_sim *sim)
{
    mo_sim_destroy(sim);
    for (int32_t i = 0; i < w->def.liquid_count; i++) mo_shape_release((mo_shape *)w->liquid[i].shape);
    for (int32_t i = 0; i < w->def.solid_count; i++) mo_shape_release((mo_shape *)w->solid.shape);
    mo_sheet_destroy(&w->sheet);
}

static inline mo_stats step(mo_sim *sim)
{
    mo_stats s;
    if (mo_sim_step(sim, &s, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(s.crossed, 0);
    return s;
}

#endif
