// Opposite streams on the two sides of a plate (figure 5 of "Accurate Tangential Velocities", 2009), for tests and for
// the validation.
#ifndef VALIDATE_SHELL_FORMS_H
#define VALIDATE_SHELL_FORMS_H

#include "grid/ghosts.h"
#include "sim/sim.h"
#include <math.h>

typedef struct mo_streams { // in a room of 1 m x 1 m, divided by a plate through its middle
    double angle;           // of the plate, rad; 1 m/s along it above, -1 m/s below
} mo_streams;

static inline double streams_side(const mo_streams *f, mo_vec3 x)
{
    return cos(f->angle) * (x.y - 0.5) - sin(f->angle) * (x.x - 0.5);
}

// A real cell of a sample of ghosts; -1: it is none.
static inline int32_t streams_cell(const mo_grid *g, int axis, int32_t sample)
{
    const mo_ghosts *s = mo_ghosts_of(g);
    for (int32_t k = 0; s && k < s->sides; k++)
        if (s->side[k].axis == axis && (s->side[k].own == sample || s->side[k].beside == sample))
            return s->side[k].cell;
    for (int32_t k = 0; s && k < s->links; k++)
        if (s->link[k].axis == axis && s->link[k].sample == sample) return s->link[k].cell[0];
    return -1;
}

// The exact velocity of a sample. Those of ghosts belong to the side of their cell, others lie on the side of their
// place.
static inline float streams_exact(const mo_grid *g, const mo_streams *f, int axis, int32_t sample)
{
    int32_t owner = streams_cell(g, axis, sample), c[3];
    double x[3];
    mo_sample_place(g, axis, sample, x);
    if (owner >= 0) {
        mo_grid_cell(g, owner, c);
        for (int a = 0; a < 3; a++) x[a] = c[a] + 0.5;
    }
    double side = streams_side(f, mo_grid_world(g, x[0], x[1], x[2])), along = axis ? sin(f->angle) : cos(f->angle);
    return (float)(side > 0 ? along : -along);
}

// Whether a sample is a velocity of gas, and not of ghosts.
static inline bool streams_is_gas(const mo_grid *g, int axis, int32_t i)
{
    if (i >= mo_grid_cells(g) && mo_sites_sample(g, axis, i).axis != axis) return false;
    int32_t low = mo_sample_low(g, axis, i), high = mo_sample_high(g, axis, i);
    if (!mo_ghosts_of(g)) return low >= 0 && high >= 0;
    return mo_ghost_owner(g, axis, i) >= 0 || (!mo_is_ghost(g, low) && !mo_is_ghost(g, high));
}

// Sets the velocities: all, or those of gas within `edge` cells of the room's walls and beyond.
static inline void streams_set(mo_sim *sim, const mo_streams *f, double edge, bool all)
{
    const mo_grid *g = sim->grid;
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 2; a++) {
            double x[3];
            if (i >= mo_grid_cells(g) && mo_sites_sample(g, a, i).axis != a) continue;
            if (!all && !streams_is_gas(g, a, i)) continue;
            mo_sample_place(g, a, i, x);
            bool outer = all;
            for (int b = 0; b < 2; b++) outer |= x[b] < MO_MARGIN + edge || x[b] > g->n[b] - MO_MARGIN - edge;
            if (outer) sim->air.gas.u[a][i] = streams_exact(g, f, a, i);
        }
}

// The largest change of a velocity of gas, farther than `edge` cells from the walls, m/s.
static inline double streams_change(const mo_sim *sim, const mo_streams *f, double edge)
{
    const mo_grid *g = sim->grid;
    double worst = 0;
    for (int32_t i = 0; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 2; a++) {
            double x[3];
            if (!streams_is_gas(g, a, i)) continue;
            mo_sample_place(g, a, i, x);
            bool inner = true;
            for (int b = 0; b < 2; b++) inner &= x[b] > MO_MARGIN + edge && x[b] < g->n[b] - MO_MARGIN - edge;
            if (inner) worst = fmax(worst, fabs(sim->air.gas.u[a][i] - streams_exact(g, f, a, i)));
        }
    return worst;
}

#endif
