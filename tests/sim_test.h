// What the tests of the simulation share: small scenes and their shapes.
#ifndef MO_SIM_TEST_H
#define MO_SIM_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    mo_sim_def def;
    mo_liquid_def liquid[2];
    mo_solid_def solid[3];
    mo_emitter_def emitter[2];
    double amplitude; // of the solids' motion, m
} scene;

static inline mo_shape *box_between(double x0, double y0, double z0, double x1, double y1, double z1)
{
    mo_shape *box = mo_shape_box(mo_v3(x1 - x0, y1 - y0, z1 - z0));
    mo_shape *moved = mo_shape_move(box, mo_v3(0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)));
    mo_shape_release(box);
    return moved;
}

static inline mo_shape *ball_at(double x, double y, double z, double radius)
{
    mo_shape *ball = mo_shape_sphere(radius), *moved = mo_shape_move(ball, mo_v3(x, y, z));
    mo_shape_release(ball);
    return moved;
}

// A domain of edge 1 (depth 0: two dimensions) without contents.
static inline void scene_start(scene *s, int32_t cells, double depth)
{
    memset(s, 0, sizeof *s);
    s->def = mo_sim_def_default();
    s->def.domain.size = mo_v3(1, 1, depth), s->def.domain.cells = cells;
    s->def.liquids = s->liquid, s->def.solids = s->solid, s->def.emitters = s->emitter;
    s->def.threads = 1;
}

static inline mo_liquid_def *scene_liquid(scene *s, mo_shape *shape)
{
    mo_liquid_def *l = &s->liquid[s->def.liquid_count++];
    *l = mo_liquid_def_default(), l->shape = shape;
    return l;
}

static inline mo_solid_def *scene_solid(scene *s, const char *name, mo_shape *shape, mo_motion_fn motion)
{
    mo_solid_def *o = &s->solid[s->def.solid_count++];
    *o = mo_solid_def_default(), o->name = name, o->shape = shape, o->motion = motion, o->user = s;
    return o;
}

static inline mo_emitter_def *scene_emitter(scene *s, mo_shape *shape, mo_vec3 velocity)
{
    mo_emitter_def *e = &s->emitter[s->def.emitter_count++];
    *e = mo_emitter_def_default(), e->shape = shape, e->velocity = velocity;
    return e;
}

static inline void scene_end(scene *s)
{
    for (int32_t i = 0; i < s->def.liquid_count; i++) mo_shape_release(s->liquid[i].shape);
    for (int32_t i = 0; i < s->def.solid_count; i++) mo_shape_release(s->solid[i].shape);
    for (int32_t i = 0; i < s->def.emitter_count; i++) mo_shape_release(s->emitter[i].shape);
}

static inline mo_sim *scene_create(const scene *s)
{
    mo_sim *sim = NULL;
    mo_error err = {0};
    mo_status status = mo_sim_create(&s->def, &sim, &err);
    if (status != MO_OK) print_error("%s\n", err.text);
    assert_int_equal(status, MO_OK);
    return sim;
}

static inline mo_stats sim_step(mo_sim *sim)
{
    mo_stats stats;
    mo_error err = {0};
    mo_status status = mo_sim_step(sim, &stats, &err);
    if (status != MO_OK) print_error("%s\n", err.text);
    assert_int_equal(status, MO_OK);
    return stats;
}

// A solid that swings along x and turns about an oblique axis.
static inline mo_status swing(void *user, double t, mo_pose *pose, mo_error *err)
{
    (void)err;
    const scene *s = user;
    pose->position = mo_v3(0.55 + s->amplitude * sin(9 * t), 0.15, 0.3);
    pose->rotation = mo_quat_axis_angle(mo_v3(1, 2, 0.5), 4 * t);
    return MO_OK;
}

// A column that collapses over a ledge, a swinging bar in it, a jet, two open walls: a bit of everything.
static inline void scene_busy(scene *s, int32_t threads)
{
    scene_start(s, 16, 0.6);
    s->amplitude = 0.1;
    s->def.domain.walls[MO_XMAX] = s->def.domain.walls[MO_YMAX] = MO_WALL_OPEN;
    s->def.time.fps = 20, s->def.threads = threads;
    scene_liquid(s, box_between(-1, -1, -1, 0.4, 0.5, 2))->velocity = mo_v3(0.5, 0, 0.2);
    scene_solid(s, "ledge", box_between(0.7, -1, -1, 0.8, 0.12, 2), NULL);
    scene_solid(s, "bar", mo_shape_box(mo_v3(0.2, 0.08, 0.3)), swing);
    scene_emitter(s, ball_at(0.7, 0.7, 0.3, 0.08), mo_v3(-1.5, 0.3, 0))->start = 0.02;
}

typedef struct block {
    void *data;
    size_t bytes;
} block;

static inline block sim_save(const mo_sim *sim)
{
    block b;
    assert_int_equal(mo_sim_save(sim, &b.data, &b.bytes, NULL), MO_OK);
    return b;
}

static inline void block_free(block *b) { mo_free_block(b->data); }

static inline void assert_same_blocks(const block *a, const block *b)
{
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->data, b->data, a->bytes);
}

#endif
