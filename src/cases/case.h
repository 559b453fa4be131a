// Analytic cases: one solve on a grid whose liquid and solids are given as signed distances, without particles. Tests
// of the system use them, benchmarks, and validations that need an exact level set.
#ifndef MO_CASE_H
#define MO_CASE_H

#include "cases/soft.h"
#include "fluid/surface.h"
#include "grid/cut.h"
#include "grid/fractions.h"
#include "solid/rigid.h"
#include "system/stress_sheets.h"

typedef double (*mo_distance_fn)(const void *user, mo_vec3 x); // m, negative inside

typedef struct mo_case_def {
    int32_t cells[3];
    double dx;
    mo_distance_fn liquid, solid; // solid may be NULL
    const mo_solid_set *solids;   // instead of `solid`: several, with velocities; or NULL
    mo_rigid *rigid;              // [solids->bodies] of those that the solve moves: velocities v* in, v out
    mo_soft *soft; // instead of `solids`: elastic bodies, and others that they hold; velocities v* in, v out; or NULL
    const mo_sheet *sheet;             // cuts cells; or NULL
    bool ghosts;                       // the sheet has ghosts of whole cells instead (grid/ghosts.h)
    const double (*sheet_velocity)[3]; // [vertices] m/s; NULL: at rest
    const uint8_t *sheet_slip;         // [triangles] 1: viscous liquid slips along it; or NULL
    const int32_t *sheet_solid;        // [triangles] the solid that each belongs to, if the solve moves it; or NULL
    const void *user;
    double density;
    double viscosity;            // Pa s
    mo_distance_fn viscosity_fn; // Pa s at a point, instead; or NULL
    const mo_rheology *rheology; // Herschel-Bulkley, instead of both; or NULL
    bool slip_wall[6];
} mo_case_def;

typedef struct mo_case {
    mo_case_def def;
    mo_grid *grid;
    mo_cut_info cut;
    float *memory; // all fields
    float *u[3], *area[3], *flux[3], *volume, *distance, *phi;
    uint8_t *phase;
    float *viscosity, *parameter[4]; // of the rheology
    mo_solid_set solids;             // as the blocks see them
    mo_weights weights;              // made by the first viscous solve
    mo_cover *cover;                 // parts of faces that bodies take
    mo_spare *spare;                 // and shut out
    int32_t *cover_first;
    mo_arena *arena;
} mo_case;

mo_status mo_case_create(const mo_case_def *def, mo_case *out, mo_error *err);
void mo_case_destroy(mo_case *c);
// Makes the system of a step of inviscid liquid, with u* and v*, before any solve.
mo_status mo_case_pressure_assemble(mo_case *c, double dt, mo_liquid_system *out, mo_error *err);
// The definition from which it is made, for forces.
mo_pressure_def mo_case_pressure_def(const mo_case *c, double dt);
// Assembles and solves the pressure of the face velocities u over dt; u is updated. p (may be NULL) receives the
// pressures, one per row of *pressure, which the caller destroys unless it is NULL.
mo_status mo_case_project(mo_case *c, double dt, const mo_solver_def *solver, mo_system_info *info,
                          mo_liquid_system *pressure, mo_error *err);

// The same for a viscous liquid, with the scheme, weights and rounds of the solver's definition. The first makes the
// system alone, with u* and v*, before any solve; the second makes the whole step.
mo_status mo_case_stokes_assemble(mo_case *c, double dt, const mo_solver_def *solver, mo_liquid_system *out,
                                  mo_error *err);
mo_status mo_case_stokes(mo_case *c, double dt, const mo_solver_def *solver, mo_system_info *info,
                         mo_liquid_system *liquid, mo_error *err);
// The definition from which the blocks were made, for mo_stress_forces and further assemblies.
mo_stress_def mo_case_stress_def(const mo_case *c, double dt, const mo_solver_def *solver);

// The definition of the stress where sheets are, for its forces.
mo_sheet_stress_def mo_case_sheet_stress_def(const mo_case *c, const mo_pressure_def *pressure,
                                             const mo_solver_def *solver);

// The irregular test domain, in the unit cube: a ball joined with a slab on a floor that does not follow the grid,
// overlapping a solid sphere, a thin filament and two droplets.
double mo_case_std_liquid(const void *user, mo_vec3 x);
double mo_case_std_solid(const void *user, mo_vec3 x);

// The same domain without filament and droplets, and balls in it that the solve moves: they are the `solids` and
// `rigid` of a case. The struct points into itself.
double mo_case_plain_liquid(const void *user, mo_vec3 x);
enum { MO_CASE_BALLS = 3 };
typedef struct mo_case_balls {
    mo_solid_set solids; // the standard solid first
    int32_t body[1 + MO_CASE_BALLS];
    mo_vec3 centre[1 + MO_CASE_BALLS];
    mo_rigid rigid[MO_CASE_BALLS]; // with velocities v*
} mo_case_balls;
void mo_case_balls_create(int32_t count, double density, mo_case_balls *out); // count <= MO_CASE_BALLS
// A velocity with divergence everywhere, plus noise.
void mo_case_std_velocity(mo_case *c);

#endif
