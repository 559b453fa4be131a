// Surface tension: curvature of the liquid's surface, and the jump of pressure it makes (VS 5.1).
#ifndef MO_TENSION_H
#define MO_TENSION_H

#include "fluid/surface.h"

// Finds the curvature of the liquid's surface (1/m; > 0 for a convex drop, 2/R for a sphere, 1/R for a disc; at most
// 1/dx per principal direction) at the centres of cells within at least two cells of it. It is constant along the
// normal, and 0 elsewhere. Liquid meets walls and solids at a right angle. density: the liquid's hat density at cells,
// e.g. of the level set; NULL: that of the particles.
mo_status mo_curvature(const mo_particles *p, const mo_grid *g, const float *density, const mo_surface_walls *walls,
                       float *kappa, mo_arena *arena, mo_error *err);

typedef struct mo_tension_def {
    const mo_grid *grid;
    const float *kappa; // 1/m, cells
    const uint8_t *air; // 1 = the cell has no liquid pressure (W_A^p, rounded)
    float *const *wet;  // [3] WL^u of faces, in (0, 1], the same as in the system's mass (with the same minimum), so
                        // that its pressure can balance the jump; faces with 0 are left alone
    double gamma;       // N/m
    double density, dt; // kg/m^3, s
} mo_tension_def;

// u -= dt / (rho WL^u) (G W_A^p - W_A^u G) (gamma kappa), on every face of the grid with WL^u > 0.
void mo_tension_apply(const mo_tension_def *def, float *const u[3]);

// The longest stable step, s; infinite without tension. Capillary waves of the grid's size, slowed by viscosity, set
// it.
double mo_tension_time_step(double gamma, double density, double viscosity, double dx);

#endif
