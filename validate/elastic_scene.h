// Scenes with elastic bodies for the validation programs, made piece by piece, and what holds them up.
#ifndef VALIDATE_ELASTIC_SCENE_H
#define VALIDATE_ELASTIC_SCENE_H

#include "sim/sim.h"
#include "validate.h"

enum { MOST = 4 };
static const double g = 9.81;

typedef struct scene {
    mo_sim_def def;
    mo_solid_def solid[MOST];
    mo_elastic_def elastic[MOST];
    mo_tets mesh[MOST];
    char name[2 * MOST][16];
} scene;

static inline void start(scene *s, const validation *v, mo_vec3 size, int32_t cells, double step)
{
    memset(s, 0, sizeof *s);
    s->def = mo_sim_def_default();
    s->def.domain.size = size, s->def.domain.cells = cells, s->def.domain.friction = 0.5;
    s->def.solids = s->solid, s->def.elastics = s->elastic;
    s->def.threads = v->threads ? v->threads : 1;
    s->def.time.seconds = 1000, s->def.time.max_step = step, s->def.time.fps = 1 / step;
}

static inline void end(scene *s)
{
    for (int32_t i = 0; i < s->def.solid_count; i++) mo_shape_release(s->solid[i].shape);
    for (int32_t i = 0; i < s->def.elastic_count; i++) {
        if (s->elastic[i].shape) mo_shape_release(s->elastic[i].shape);
        mo_tets_destroy(&s->mesh[i]);
    }
}

static inline mo_shape *box_at(mo_vec3 size, mo_vec3 at)
{
    mo_shape *box = checked(mo_shape_box(size)), *moved = checked(mo_shape_move(box, at));
    mo_shape_release(box);
    return moved;
}

static inline mo_elastic_def *put_elastic(scene *s, mo_shape *shape, double element, double young, double density)
{
    int32_t i = s->def.elastic_count++;
    mo_elastic_def *e = &s->elastic[i];
    snprintf(s->name[i], sizeof s->name[i], "elastic%d", (int)i);
    *e = mo_elastic_def_default();
    e->name = s->name[i], e->shape = shape, e->element = element, e->young = young, e->density = density;
    e->friction = 0.5, e->poisson = 0.4;
    return e;
}

static inline mo_solid_def *put_rigid(scene *s, mo_shape *shape, double density)
{
    int32_t i = s->def.solid_count++;
    mo_solid_def *d = &s->solid[i];
    snprintf(s->name[MOST + i], sizeof s->name[0], "rigid%d", (int)i);
    *d = mo_solid_def_default();
    d->name = s->name[MOST + i], d->shape = checked(shape), d->friction = 0.5;
    d->rigid = density > 0, d->density = density > 0 ? density : d->density;
    return d;
}

// The vertical force between two solids in the last step, N; b < 0: all walls.
static inline double force_between(const mo_sim *sim, int32_t a, int32_t b)
{
    double sum = 0;
    for (int32_t i = 0; i < sim->kept_count; i++) {
        const mo_kept_contact *k = &sim->kept[i]; // of contact i
        bool wall = b < 0 && k->b >= sim->solid_count;
        if (k->a == a && (wall || k->b == b)) sum += k->normal * sim->contacts.contact[i].normal.y + k->friction.y;
    }
    return fabs(sum) * sim->grid->dx * sim->grid->dx;
}

static inline double mass_of(const mo_sim *sim, int32_t elastic)
{
    mo_elastic_state e;
    mo_sim_elastic(sim, elastic, &e);
    return e.mass;
}

#endif
