// Scenes of air instead of liquid (docs/smoke.md): the grid carries velocity, soot and heat (fluid/gas.h). Some stages
// of the step differ from those of a liquid; fractions, contacts, assembly and solve are the same, with a pressure in
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
    double soot;            // kg that should exist: what sources gave minus what left through open walls
    bool skipped;           // the last step left the gas's kick as it was
} mo_air;

struct mo_sim;
struct mo_step_context;

mo_status mo_sim_check_air(const mo_sim_def *def, mo_error *err);
mo_status mo_sim_copy_air(struct mo_sim *sim, const mo_sim_def *def, mo_error *err); // into the simulation
void mo_sim_destroy_air(struct mo_sim *sim);

void mo_sim_want_air(struct mo_sim *sim); // activates the tiles in which something happens; in a closed box all tiles
// Makes the fields of air fit the grid's tiles; to be called before the level set is settled. kept: what sides and
// pieces of cut cells had, or NULL.
mo_status mo_sim_settle_air(struct mo_sim *sim, const mo_gas_extras *kept, mo_error *err);
void mo_sim_fill_air(struct mo_sim *sim);  // the level set of a domain that is full
void mo_sim_start_air(struct mo_sim *sim); // the state at the start
// Applies sources, and adds their soot and energy to the accounts.
void mo_sim_act_air(struct mo_sim *sim, double from, double to);
// The velocity along its axis, m/s: that of the wind for walls of wind, else 0.
float mo_sim_wall_velocity(const struct mo_sim *sim, int wall);
void mo_sim_open_to_wind(struct mo_sim *sim);     // adds the flow through walls of wind to the openings' flux
bool mo_sim_has_ghosts(const struct mo_sim *sim); // shells have ghosts of whole cells (grid/ghosts.h)
// Whether all changes of the air's energy before the solve count as work. Energy that passes open walls cannot be
// separated from energy that moved; cooling and vorticity confinement change it too, and so does the flow into ghosts,
// which starts anew in every step.
bool mo_sim_air_exchanges(const struct mo_sim *sim);
double mo_sim_air_speed(const struct mo_sim *sim); // m/s, for the length of a step

typedef struct mo_air_sums {
    double soot;               // kg
    double kinetic, potential; // J: of the air; of soot and heat, which decreases as they move along their weight
    double weight;             // kg of soot and of air that heat displaces
} mo_air_sums;
mo_air_sums mo_sim_air_sums(const struct mo_sim *sim);
// Adds what came and went since `before` to the account of soot and, if `energy` is true, to that of energy. Returns
// the present sums.
mo_air_sums mo_sim_air_exchange(struct mo_sim *sim, const mo_air_sums *before, bool energy);

// air_pressure.c: the pressure from step to step, and its force on solids.
struct mo_liquid_system;
// Adds to the system half of the impulse of the last step's pressure, and the weight of bodies minus that of the air
// that they displace.
mo_status mo_sim_push_bodies(struct mo_sim *sim, double dt, struct mo_liquid_system *l, mo_error *err);
void mo_sim_set_air_gaps(const struct mo_sim *sim, double dt, struct mo_liquid_system *l); // w of gaps before the solve
void mo_sim_finish_air_forces(struct mo_sim *sim);              // adds that half to the forces of the solve
void mo_sim_air_before(const struct mo_sim *sim, double *body); // velocities of bodies at the start of the step
// Renews the kick, of which the next step applies half; to be called before the system ends. The context's faces show
// which faces the system has.
mo_status mo_sim_renew_kick(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);

// air_cloth.c: pressure on the vertices of cloth from step to step. F = -Fw^T P is kept for every vertex as it is for
// bodies, and half of it acts before the solve.
struct mo_system;
void mo_sim_kick_cloths(struct mo_sim *sim, double dt); // adds dt F/2 to the momenta that v* stands for
// F of the rows' present x.
mo_status mo_sim_find_cloth_kicks(struct mo_sim *sim, const struct mo_system *y, mo_error *err);
void mo_sim_add_cloth_kicks(const struct mo_sim *sim, double scale, double *force); // adds F to those of all nodes
// Adds the work of F/2 to the account, where that of the kick on the gas counts as work too (mo_sim_air_exchanges).
// before, now: velocities of nodes.
void mo_sim_account_kicks(struct mo_sim *sim, double dt, const double *before, const double *now);

// air_shells.c: moves the fields of air with shells that move, and the shells to their places at the end of the step.
// fresh: rows that are new in their cells (fluid/gas_move.h).
mo_status mo_sim_move_air(struct mo_sim *sim, uint8_t **fresh, mo_error *err);

// The stages that differ from those of a liquid; they replace the stages of the same name.
mo_status mo_stage_air_transfer(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_apply(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_advect(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_settle(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);
mo_status mo_stage_air_correct(struct mo_sim *sim, struct mo_step_context *c, mo_error *err);

#endif
