// Scenes of rigid bodies without liquid, for validate/stacks.c.
#ifndef VALIDATE_STACKS_H
#define VALIDATE_STACKS_H

#include "validate.h"
#include "base/vec.h"

enum { MOST_BODIES = 64 };
static const double TOWER_DX = 0.025, CARDS_DX = 0.02, HEAP_DX = 0.025;

typedef struct dry {
    mo_sim_def def;
    mo_solid_def solid[MOST_BODIES];
    char name[MOST_BODIES][16];
} dry;

static inline void dry_start(dry *d, mo_vec3 size, int32_t cells)
{
    memset(d, 0, sizeof *d);
    d->def = mo_sim_def_default();
    d->def.domain.size = size, d->def.domain.cells = cells, d->def.domain.friction = 0.6;
    d->def.solids = d->solid, d->def.threads = 1;
    d->def.time.seconds = 100, d->def.time.max_step = 0.01;
}

static inline void dry_end(dry *d)
{
    for (int32_t i = 0; i < d->def.solid_count; i++) mo_shape_release(d->solid[i].shape);
}

static inline mo_solid_def *dry_fixed(dry *d, mo_shape *shape)
{
    int32_t i = d->def.solid_count++;
    mo_solid_def *s = &d->solid[i];
    snprintf(d->name[i], sizeof d->name[i], "body%d", (int)i);
    *s = mo_solid_def_default();
    s->name = d->name[i], s->shape = checked(shape), s->friction = 0.6;
    return s;
}

static inline mo_solid_def *dry_place(dry *d, mo_shape *shape, mo_vec3 at)
{
    mo_solid_def *s = dry_fixed(d, mo_shape_move(shape, at));
    mo_shape_release(shape);
    s->rigid = true;
    return s;
}

static inline mo_solid_def *dry_rigid(dry *d, mo_shape *shape, double degrees, mo_vec3 at) // turned about z
{
    mo_shape *turned = mo_shape_rotate(shape, mo_v3(0, 0, 1), degrees);
    mo_shape_release(shape);
    return dry_place(d, turned, at);
}

// Stacks begin at rest: bodies overlap by the margin of contacts, 0.1 cells.

static inline void build_tower(dry *d)
{
    double overlap = 0.1 * TOWER_DX;
    dry_start(d, mo_v3(0.5, 1.2, 0.5), 48);
    for (int k = 0; k < 10; k++)
        dry_rigid(d, mo_shape_box(mo_v3(0.1, 0.1, 0.1)), 0, mo_v3(0.25, 0.05 - overlap + k * (0.1 - overlap), 0.25));
}

static inline void build_pyramid(dry *d)
{
    double overlap = 0.1 * TOWER_DX;
    dry_start(d, mo_v3(1.2, 0.6, 0.4), 48);
    for (int row = 0; row < 5; row++)
        for (int k = 0; k < 5 - row; k++)
            dry_rigid(d, mo_shape_box(mo_v3(0.1, 0.1, 0.1)), 0,
                      mo_v3(0.6 + (k - 0.5 * (4 - row)) * 0.11, 0.05 - overlap + row * (0.1 - overlap), 0.2));
}

// Two plates that lean on each other, edge against edge; returns the height of their top.
static inline double add_tent(dry *d, mo_vec3 size, double degrees, double overlap, mo_vec3 at)
{
    double a = degrees * M_PI / 180, wide = size.x * cos(a) + size.y * sin(a), tall = size.y * cos(a) + size.x * sin(a);
    for (int side = -1; side <= 1; side += 2)
        dry_rigid(d, mo_shape_box(size), side * degrees,
                  mo_v3(at.x + 0.5 * side * (wide - overlap), at.y + 0.5 * tall - overlap, at.z));
    return at.y + tall - overlap;
}

// Two tents, a plate across, a tent on it; friction 0.6. A plate needs tan 20 = 0.36 at most.
static inline void build_cards(dry *d)
{
    const mo_vec3 plate = {0.04, 0.3, 0.2};
    double overlap = 0.1 * CARDS_DX, apart = 0.3, y = 0;
    dry_start(d, mo_v3(1.28, 0.96, 0.4), 64);
    for (int k = 0; k < 2; k++) y = add_tent(d, plate, 20, overlap, mo_v3(0.64 + (k - 0.5) * apart, 0, 0.2));
    dry_rigid(d, mo_shape_box(mo_v3(2 * apart, plate.x, plate.z)), 0, mo_v3(0.64, y + 0.5 * plate.x - overlap, 0.2));
    add_tent(d, plate, 20, overlap, mo_v3(0.64, y + plate.x - overlap, 0.2));
}

// Six kinds of bodies about `size` large.
static inline mo_shape *mixed_shape(int kind, double size)
{
    switch (kind % 6) {
    case 0: return mo_shape_box(mo_v3(size, 0.6 * size, 0.8 * size));
    case 1: return mo_shape_sphere(0.45 * size);
    case 2: return mo_shape_cylinder(0.35 * size, 0.8 * size);
    case 3: return mo_shape_capsule(0.25 * size, size);
    case 4: return mo_shape_rabbit(size);
    default: return mo_shape_cone(0.45 * size, size);
    }
}

// Five layers of nine in a tall box, each turned its own way.
static inline void build_heap(dry *d, bool rabbits)
{
    dry_start(d, mo_v3(0.8, 1.4, 0.8), 56);
    d->def.domain.friction = 0.5, d->def.time.max_step = 0.005;
    for (int k = 0; k < 45; k++) {
        int layer = k / 9, i = k % 9;
        mo_shape *shape = rabbits ? mo_shape_rabbit(0.2) : mixed_shape(k, 0.2);
        mo_shape *turned = mo_shape_rotate(shape, mo_v3(cos(k), 1, sin(3 * k)), 40 * k);
        mo_shape_release(shape);
        dry_place(d, turned,
                  mo_v3(0.15 + 0.25 * (i % 3) + 0.02 * sin(7 * k), 0.15 + 0.25 * layer,
                        0.15 + 0.25 * (i / 3) + 0.02 * cos(5 * k)))
            ->friction = 0.4;
    }
}

#endif
