// Scenes of air instead of liquid (docs/smoke.md): the grid carries velocity, soot and heat (fluid/gas.h). Some stages
// of the step are other ones than a liquid's; fractions, contacts, assembly and solve are the same, with a pressure in
// every open cell.
#ifndef MO_AIR_H
#define MO_AIR_H

#include "fluid/gas.h"

typedef struct mo_air { // of a simulation; its state is part of checkpoints
    bool present;
    mo_air_def def;
    mo_smoke_def *smokes;
    int32_t smoke_count;
    mo_gas gas;
    uint8_t *quiet;         // [tiles of the level set] steps since something happened in a tile
    int64_t quiet_capacity; // tiles
    double soot;            // kg that there should be: what sources gave, less what left through open walls
    bool skipped;           // the last step left the gas's kick as it was
} mo_air;

struct mo_sim;
struct mo_step_context;

mo_status mo_sim_check_air(const mo_sim_def *def, mo_error *err);
mo_status mo_sim_copy_air(struct mo_sim *sim, const mo_sim_def *def, mo_error *err); // into the simulation
void mo_sim_destroy_air(struct mo_sim *sim);

void mo_sim_want_air(struct mo_sim *sim); // asks for the tiles that something happens in; all of a closed box
// Makes its fields fit the grid's tiles; before the level set does.
mo_status mo_sim_settle_air(struct mo_sim *sim, mo_error *err);
void mo_sim_fill_air(struct mo_sim *sim);                        // the level set of a domain that is full
void mo_sim_start_air(struct mo_sim *sim);                       // what there is at the start
void mo_sim_act_air(struct mo_sim *sim, double from, double to); // sources, and what they put into the accounts
float mo_sim_wall_velocity(const struct mo_sim *sim, int wall);  // m/s along its axis: the wind's, of walls of wind
void mo_sim_open_to_wind(struct mo_sim *sim);                    // what passes them, into the openings' flux
double mo_sim_air_speed(const struct mo_sim *sim);               // m/s, for the length of a step

typedef struct mo_air_sums {
    double soot;               // kg
    double kinetic, potential; // J: of the air; of soot and heat, which falls as they move with their weight
    double weight;             // kg of soot and of air that heat displaces
} mo_air_sums;
mo_air_sums mo_sim_air_sums(const struct mo_sim *sim);
// Puts what came and went since into the accounts: of soot, and of energy if that is told. Returns what there is.
mo_air_sums mo_sim_air_exchange(struct mo_sim *sim, const mo_air_sums *before, bool energy);

// air_pressure.c: from step to step, and its force on solids.
struct mo_liquid_system;
// To the system: half of what pressure gave in the last step, and bodies' weight less that of the air they displace.
mo_status mo_sim_push_bodies(struct mo_sim *sim, double dt, struct mo_liquid_system *l, mo_error *err);
void mo_sim_finish_air_forces(struct mo_sim *sim);              // those of the solve, by that half
void mo_sim_air_before(const struct mo_sim *sim, double *body); // velocities of bodies as the step found them
// What the next step takes half of; before the system ends. The context's faces tell which ones it has.
mo_status mo_sim_renew_kick(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);

// The stages that differ from a liquid's, in the places of those of the same name.
mo_status mo_stage_air_transfer(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_apply(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_advect(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_settle(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_correct(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);

#endif
