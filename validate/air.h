// Cases of air that have an exact answer, for tests and for the validation.
#ifndef VALIDATE_AIR_H
#define VALIDATE_AIR_H

#include "sim/sim.h"
#include "validate.h"

static const double air_pi = 3.14159265358979323846;

static inline mo_sim_def air_room(int32_t threads, mo_vec3 size, int32_t cells, const mo_air_def *air)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = size, def.domain.cells = cells;
    def.gravity = mo_v3(0, 0, 0);
    def.threads = threads;
    def.air = air;
    return def;
}

static inline bool air_inside(const mo_sim *sim, int32_t i)
{
    int32_t c[3];
    mo_grid_cell(sim->grid, i, c);
    return mo_levelset_in_domain(sim->grid, c);
}

// A vortex in a box with slip walls is a steady flow: the rms error after 1 s.
static inline mo_vec3 air_vortex(mo_vec3 x)
{
    return mo_v3(sin(air_pi * x.x) * cos(air_pi * x.y), -cos(air_pi * x.x) * sin(air_pi * x.y), 0);
}

static inline double air_vortex_error(int32_t cells, mo_advection advection, int32_t threads)
{
    mo_air_def air = mo_air_def_default();
    air.advection = advection;
    mo_sim_def def = air_room(threads, mo_v3(1, 1, 0), cells, &air);
    def.time.cfl = 1, def.time.seconds = 1, def.time.fps = 1;
    mo_sim *sim = create_sim(&def);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++)
        for (int a = 0; a < 2; a++) sim->air.gas.u[a][i] = (float)mo_get(air_vortex(mo_grid_face(sim->grid, i, a)), a);
    while (!mo_sim_done(sim)) step_sim(sim);
    double sum = 0;
    int count = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++)
        for (int a = 0; a < 2 && air_inside(sim, i); a++, count++) {
            double d = sim->air.gas.u[a][i] - mo_get(air_vortex(mo_grid_face(sim->grid, i, a)), a);
            sum += d * d;
        }
    mo_sim_destroy(sim);
    return sqrt(sum / count);
}

// A ball that is lighter than the air round it by a little begins to rise by 2/3 of its buoyancy, as the air round it
// moves too; in two dimensions by a half. Returns that part, as measured in a room of 1 m.
static inline double air_first_rise(bool flat, int32_t cells, double radius, int32_t threads)
{
    mo_air_def air = mo_air_def_default();
    mo_vec3 centre = mo_v3(0.5, 0.5, flat ? 0 : 0.5);
    mo_sim_def def = air_room(threads, mo_v3(1, 1, flat ? 0 : 1), cells, &air);
    def.gravity = mo_v3(0, -9.81, 0);
    mo_shape *ball = checked(mo_shape_sphere(radius)), *moved = checked(mo_shape_move(ball, centre));
    mo_smoke_def smoke = mo_smoke_def_default();
    smoke.shape = moved, smoke.density = 0, smoke.temperature = air.temperature * 1.01;
    def.smokes = &smoke, def.smoke_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_stats s = step_sim(sim);
    double sum = 0, count = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(sim->grid); i++) {
        mo_vec3 x = mo_grid_face(sim->grid, i, 1);
        if (flat) x.z = 0;
        if (!air_inside(sim, i) || mo_norm(mo_sub(x, centre)) > 0.8 * radius) continue;
        sum += sim->air.gas.u[1][i], count++;
    }
    mo_sim_destroy(sim);
    mo_shape_release(ball), mo_shape_release(moved);
    return sum / count / (s.dt * 9.81 * 0.01);
}

#endif
