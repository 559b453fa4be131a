// What the tests of particles, transfers and surfaces share: a grid with particles on it, random numbers.
#ifndef MO_FLUID_TEST_H
#define MO_FLUID_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "fluid/particles.h"
#include <stdlib.h>
#include <string.h>

typedef struct liquid {
    mo_grid *g;
    mo_arena *arena;
    mo_particles p;
    uint32_t seed;
} liquid;

static inline double uniform(liquid *l) { return mo_unit(mo_hash(l->seed++, 3, 77)); }

static inline void liquid_create(liquid *l, int32_t nx, int32_t ny, int32_t nz)
{
    *l = (liquid){.seed = 1, .arena = mo_arena_create()};
    int32_t cells[3] = {nx, ny, nz};
    assert_non_null(l->arena);
    assert_int_equal(mo_grid_create(cells, 0.125, &l->g, NULL), MO_OK);
}

static inline void liquid_destroy(liquid *l)
{
    mo_particles_destroy(&l->p);
    mo_grid_destroy(l->g);
    mo_arena_destroy(l->arena);
}

// At a lattice position, in 2D in the middle plane; a volume that makes every particle distinguishable by its v[0].
static inline void liquid_add(liquid *l, double x, double y, double z, double volume)
{
    mo_particles *p = &l->p;
    if (p->count == p->capacity) assert_int_equal(mo_particles_reserve(p, p->count + p->count / 2 + 16, NULL), MO_OK);
    int32_t q = p->count++;
    for (int f = 0; f < p->fields; f++) p->field[f][q] = 0;
    p->x[0][q] = (float)x, p->x[1][q] = (float)y;
    p->x[2][q] = mo_grid_is_2d(l->g) ? MO_MARGIN + 0.5f : (float)z;
    p->volume[q] = (float)volume;
}

// Jittered particles, per_axis^d in each cell, in the box lo .. hi (lattice positions) where inside(x) < 0.
typedef double (*inside_fn)(const double x[3]);
static inline void liquid_fill(liquid *l, const double lo[3], const double hi[3], int per_axis, double jitter,
                               inside_fn inside)
{
    double h = 1.0 / per_axis, volume = mo_grid_is_2d(l->g) ? h * h : h * h * h;
    int64_t n[3];
    for (int a = 0; a < 3; a++) n[a] = llround((hi[a] - lo[a]) * per_axis);
    if (mo_grid_is_2d(l->g)) n[2] = 1;
    for (int64_t k = 0; k < n[2]; k++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++) {
                double x[3] = {lo[0] + h * ((double)i + 0.5 + jitter * (uniform(l) - 0.5)),
                               lo[1] + h * ((double)j + 0.5 + jitter * (uniform(l) - 0.5)),
                               lo[2] + h * ((double)k + 0.5 + jitter * (uniform(l) - 0.5))};
                if (mo_grid_is_2d(l->g)) x[2] = MO_MARGIN + 0.5;
                if (!inside || inside(x) < 0) liquid_add(l, x[0], x[1], x[2], volume);
            }
}

static inline void liquid_sort(liquid *l)
{
    mo_arena_reset(l->arena);
    assert_int_equal(mo_particles_sort(&l->p, l->g, l->arena, NULL), MO_OK);
}

// Moves every particle by up to `most` cells in a random direction, within the domain, leaving its lists stale.
static inline void liquid_stir(liquid *l, double most)
{
    for (int32_t q = 0; q < l->p.count; q++) {
        mo_vec3 d = mo_v3(uniform(l) - 0.5, uniform(l) - 0.5, mo_grid_is_2d(l->g) ? 0 : uniform(l) - 0.5);
        d = mo_mul(most * cbrt(uniform(l)), mo_normalize(d));
        for (int a = 0; a < 3; a++) {
            double lo = MO_MARGIN + 0.01, hi = l->g->n[a] - MO_MARGIN - 0.01;
            l->p.x[a][q] = (float)fmin(fmax(l->p.x[a][q] + mo_get(d, a), lo), hi);
        }
    }
    l->p.stale += (float)most;
}

static inline float *new_field(const liquid *l) { return calloc((size_t)mo_grid_cells(l->g) + 1, sizeof(float)); }
static inline uint8_t *new_bytes(const liquid *l, int n) { return calloc((size_t)(n * mo_grid_cells(l->g)) + 1, 1); }

#endif
