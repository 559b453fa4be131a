// Rooms of air for tests.
#ifndef MO_AIR_TEST_H
#define MO_AIR_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>

typedef struct room { // a definition and what it points to
    mo_sim_def def;
    mo_air_def air;
    mo_smoke_def smoke;
    mo_solid_def solid[8];
} room;

static inline room make_room(mo_vec3 size, int cells)
{
    room r = {.def = mo_sim_def_default(), .air = mo_air_def_default(), .smoke = mo_smoke_def_default()};
    r.def.domain.size = size, r.def.domain.cells = cells;
    r.def.threads = 1;
    return r;
}

static inline mo_sim *enter(room *r)
{
    mo_sim *sim;
    mo_error err = {0};
    r->def.air = &r->air, r->def.solids = r->solid;
    if (r->smoke.shape) r->def.smokes = &r->smoke, r->def.smoke_count = 1;
    if (mo_sim_create(&r->def, &sim, &err) != MO_OK) fail_msg("%s", err.text);
    return sim;
}

static inline mo_stats step(mo_sim *sim)
{
    mo_error err = {0};
    mo_stats stats;
    if (mo_sim_step(sim, &stats, &err) != MO_OK) fail_msg("%s", err.text);
    return stats;
}

static inline const mo_shape *ball(double radius, mo_vec3 at)
{
    mo_shape *s = mo_shape_sphere(radius), *moved = mo_shape_move(s, at);
    mo_shape_release(s);
    return moved;
}

static inline void same_fields(const mo_sim *a, const mo_sim *b)
{
    assert_int_equal(a->grid->tiles, b->grid->tiles);
    for (int f = 0; f < MO_GAS_FIELDS; f++)
        assert_memory_equal(a->air.gas.field[f], b->air.gas.field[f], sizeof(float) * (size_t)mo_grid_fields(a->grid));
}

#endif
