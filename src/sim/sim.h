// The simulation's state, grouped by the stage that writes it. Stages are the functions of step.c.
#ifndef MO_SIM_H
#define MO_SIM_H

#include "base/base.h"
#include "base/vec.h"
#include "fluid/balance.h"
#include "fluid/level.h"
#include "fluid/particles.h"
#include "fluid/surface.h"
#include "fluid/transfer.h"
#include "grid/fractions.h"
#include "solid/contact.h"
#include "solid/rigid.h"
#include "system/stokes.h"

typedef struct mo_solid { // fixed, scripted or a rigid body
    char name[64];
    const mo_shape *shape;
    mo_vec3 centre; // of a ball round the shape, body frame
    double radius;
    mo_motion_fn motion;
    void *user;
    mo_wall wall;                       // slip or no-slip, for viscous liquids
    mo_vec3 surface_velocity;           // of the surface along itself, m/s
    mo_pose pose, next;                 // now, and at the end of the step
    mo_vec3 velocity, angular_velocity; // that lead from one to the other
    bool dynamic;                       // a rigid body: moved by the solve
    double volume;                      // m^3, of a rigid body
    mo_rigid rigid;                     // its mass; pose and velocities above are the truth
    double friction, restitution;
    mo_samples samples;    // of its surface, for contacts; of fixed and scripted ones only where there are bodies
    int32_t twin;          // the first body of an equal shape, whose samples serve; itself
    mo_vec3 force, torque; // of the liquid in the last step; torque about the pose's position
} mo_solid;

typedef struct mo_kept_contact { // force of a contact in the last step, for the next to start from
    int32_t a, b;
    uint32_t feature, unused;
    double normal;    // multiplier
    mo_vec3 friction; // multipliers along the tangents, as a vector
} mo_kept_contact;

typedef struct mo_fields { // over the tiles of the grid
    float *u[3];           // face velocity
    uint8_t *valid[3];
    float *mass[3];                               // that particles gave to a face, cells; until apply
    float *area[3], *flux[3], *volume, *distance; // openings (grid/fractions.h)
    float *phi;                                   // a scratch field: the union of balls round particles, in correct
    uint8_t *phase;
    float *scratch[4];
    uint8_t *bytes;      // two byte fields
    float *viscosity;    // Pa s, < 0 not known; of viscous liquids only
    float *parameter[4]; // of the rheology (system/stokes.h), if any
} mo_fields;

// The account of energy (energy.c): running values, J. Everything is of the liquid and the rigid bodies together.
typedef struct mo_account {
    double work;      // put in from outside since the start, minus what left
    double loss;      // to viscosity, friction and contact since the start, as far as the solves tell it
    double corrected; // that the position correction added since the start; it is no work
    double least;     // smallest value of energy - work so far
    double carried;   // potential energy that came and went with liquid through emitters and open walls
    double highest;   // largest value of potential energy - carried so far
    double released;  // deepest fall of it below that
    double kinetic;   // largest kinetic energy so far
    double most_work; // largest absolute value of the work so far
} mo_account;

struct mo_sim {
    // The definition, with its arrays copied.
    mo_sim_def def;
    mo_liquid_def *liquids;
    mo_emitter_def *emitters;
    mo_solid *solids;
    uint8_t *slip;      // [solids] of those that let viscous liquids slip
    uint8_t *faceted;   // [solids] bodies bounded by planes alone
    int32_t bodies;     // rigid ones
    int32_t *body_of;   // [solids] number among them, -1
    mo_vec3 *centre;    // [solids] of mass, world
    bool moving, open;  // some solid moves; some wall is open
    bool viscous;       // some liquid or emitter has a viscosity or rheology: particles carry it
    bool non_newtonian; // and some a rheology
    bool broken;        // a step failed halfway: only a saved state helps
    double density, surface_tension;
    double least_viscosity; // of all liquids, Pa s; 0 where it is a function or depends on the flow
    int32_t cells[3];
    mo_radii radii;
    mo_log log;
    // State: what a checkpoint holds.
    double time;
    int64_t step;
    int32_t frame;
    mo_account account;
    double given_speed; // fastest motion so far that was prescribed or there at the start, m/s
    mo_warning_count warning[MO_WARNING_COUNT];
    mo_particles particles;
    mo_levelset level;     // the liquid's surface
    mo_kept_contact *kept; // by a, b, feature
    int32_t kept_count;
    int64_t kept_capacity;
    mo_grid *grid;
    // Of the current step.
    double dt;
    mo_fields field;
    int64_t field_cells; // capacity
    void *field_memory;
    mo_arena *arena;
    const float *came_from[3]; // where particles were before they moved (cells), while they collide; else NULL
    mo_weights weights;        // of viscous liquids
    mo_contacts contacts;
    mo_cover *cover;      // what bodies take of faces, of inviscid liquids
    mo_spare *spare;      // and shut out
    int32_t *cover_first; // [tiles + 1]
    int64_t cover_capacity, cover_tiles;
    mo_stokes stokes; // the system; of inviscid liquids with the pressure alone
    mo_stats stats;
    // Asked with the system of every step before it is solved, for benchmarks; NULL: no one looks.
    mo_status (*inspect)(void *user, mo_sim *sim, mo_error *err);
    void *inspect_user;
};

// The stages of step.c, each in the file of its name.
mo_status mo_stage_transfer(mo_sim *sim, mo_error *err);
mo_status mo_stage_fractions(mo_sim *sim, mo_error *err);
mo_status mo_stage_contacts(mo_sim *sim, mo_error *err);
mo_status mo_stage_assemble(mo_sim *sim, mo_error *err);
mo_status mo_stage_solve(mo_sim *sim, mo_error *err);
mo_status mo_stage_apply(mo_sim *sim, mo_error *err);
mo_status mo_stage_advect(mo_sim *sim, mo_error *err);
mo_status mo_stage_settle(mo_sim *sim, mo_error *err);
mo_status mo_stage_correct(mo_sim *sim, mo_error *err);
// solids.c
mo_solid_set mo_sim_solid_set(const mo_sim *sim);
mo_surface_walls mo_sim_walls(const mo_sim *sim);
double mo_solid_distance_at(const mo_solid *s, mo_vec3 x); // m, < 0 inside
mo_vec3 mo_sim_solid_normal(const mo_sim *sim, int32_t solid, mo_vec3 x);
mo_vec3 mo_solid_velocity_at(const mo_solid *s, mo_vec3 x);
double mo_solid_speed(const mo_solid *s); // m/s, at most that of any of its points
// Whether the ball round a solid that moves tells that x is at least `distance` away: cheaper than the shape itself.
bool mo_solid_beyond(const mo_solid *s, mo_vec3 x, double distance);
// The solid nearest to x that is at rest or moved by its script; -1 if there is none.
int32_t mo_sim_nearest_prescribed(const mo_sim *sim, mo_vec3 x);
mo_vec3 mo_sim_nearest_velocity(const mo_sim *sim, mo_vec3 x);                         // of the solid nearest to x
mo_status mo_solid_pose_at(const mo_solid *s, double t, mo_pose *pose, mo_error *err); // checked to be finite
mo_status mo_sim_move_solids(mo_sim *sim, mo_error *err); // next poses and velocities for the step ahead
// fractions.c
mo_status mo_sim_openings(mo_sim *sim, double time, mo_error *err); // area, flux, volume, distance at the present poses
mo_status mo_sim_weigh(mo_sim *sim, mo_error *err);                 // weights, viscosity and rheology on the grid
// assemble.c
mo_stokes_def mo_sim_stokes_def(const mo_sim *sim, const mo_solid_set *solids);
mo_pressure_def mo_sim_pressure_def(const mo_sim *sim, const mo_solid_set *solids);
// forces.c
mo_status mo_sim_measure_forces(mo_sim *sim, mo_error *err); // of the solved pressure and stress on solids
// apply.c
void mo_sim_fix_walls(mo_sim *sim); // faces on closed walls: velocity 0, valid 2
// collide.c
// Puts particles out of solids and walls; swept: along the way they came in this step. What scripted solids do to them
// counts as work.
mo_status mo_sim_collide(mo_sim *sim, bool swept, mo_error *err);
// The same, swept, for all particles but the outliers, ...
mo_status mo_sim_collide_moved(mo_sim *sim, const uint8_t *outlier, mo_error *err);
// ... which this has collided part by part of their way.
void mo_sim_collide_part(void *sim, int32_t q, const float from[3], double part, double ahead);
// settle.c
mo_status mo_sim_reserve_fields(mo_sim *sim, mo_error *err);
// bodies.c
mo_status mo_sim_create_bodies(mo_sim *sim, const mo_solid_def *defs, mo_error *err);
mo_status mo_sim_add_bodies(mo_sim *sim, mo_error *err); // to the system: masses, velocities v*, contacts
void mo_sim_take_bodies(mo_sim *sim);                    // velocities from the system; next poses
void mo_sim_destroy_bodies(mo_sim *sim);
// bodies_check.c, thickness.c
mo_status mo_sim_check_bodies(mo_sim *sim, mo_error *err);          // where they start, and how thick they are
mo_status mo_sim_check_thickness(const mo_sim *sim, mo_error *err); // warns of fixed and scripted solids that leak
// kept.c
void mo_sim_warm_contacts(mo_sim *sim);                     // the system's contact forces from those of the last step
mo_status mo_sim_keep_contacts(mo_sim *sim, mo_error *err); // and back, once solved
// seed.c
int64_t mo_sim_seed(mo_sim *sim, bool count_only, mo_error *err); // -1 = error
// Adds a particle of liquid `source`, or of emitter source - liquid_count, at x (cells).
mo_status mo_sim_add_particle(mo_sim *sim, int32_t source, const double x[3], mo_vec3 v, mo_error *err);
void mo_sim_jittered(const mo_sim *sim, int64_t a, int64_t b, int64_t c, double x[3]); // place in a sub-cell, cells
bool mo_sim_inside_solid(const mo_sim *sim, mo_vec3 x);
void mo_sim_cell_range(const mo_sim *sim, mo_box3 box, int32_t lo[3], int32_t hi[3]); // domain cells a box touches
// emitter.c
void mo_sim_emitter_openings(mo_sim *sim, double time);   // faces inside active emitters close, and sweep
void mo_sim_emitter_velocities(mo_sim *sim, double time); // those faces get the emitter's velocity
void mo_sim_emitter_fix(mo_sim *sim, double time);  // for viscous liquids: those faces get it and are marked in `valid`
void mo_sim_emitter_hold(mo_sim *sim, double time); // the position correction moves nothing inside active emitters
double mo_sim_emitter_lift(const mo_sim *sim); // J that active emitters spend on gravity in this step, before it moves
mo_status mo_sim_emit(mo_sim *sim, double from, double to, mo_error *err); // from < 0: fill emitters that start at 0
// level.c
void mo_sim_start_level(mo_sim *sim);    // from the shapes; particles get the volume that it holds
void mo_sim_start_emitters(mo_sim *sim); // and from what emitters hold at first
void mo_sim_advect_level(mo_sim *sim);   // with the faces' velocity
// Lets the surface follow the particles, once they are sorted, and makes what pressure sees. thin gets the thin cells;
// it is the second byte field of field.bytes. Leaves the particles' density in scratch[2].
mo_status mo_sim_correct_level(mo_sim *sim, uint8_t *thin, mo_error *err);
// energy.c
typedef struct mo_liquid_sums {
    double mass; // kg
    mo_vec3 momentum;
    double kinetic, potential, max_speed; // J, J, m/s
} mo_liquid_sums;
mo_liquid_sums mo_sim_liquid_sums(const mo_sim *sim);
void mo_sim_energy_open(mo_sim *sim); // the account of the state before the first step
// The first keeps the velocities before a solve; the second adds the work of prescribed motions and the losses, which
// the multipliers tell, to the account.
mo_status mo_sim_energy_before(const mo_sim *sim, double **kept, mo_error *err); // in the arena
mo_status mo_sim_energy_after(mo_sim *sim, const double *kept, mo_error *err);
void mo_sim_energy_exchange(mo_sim *sim, const mo_liquid_sums *before); // liquid came or went since
// Liquid was moved without a force, in between.
void mo_sim_energy_correction(mo_sim *sim, const mo_liquid_sums *before, const mo_liquid_sums *after);
void mo_sim_energy_close(mo_sim *sim, const mo_liquid_sums *liquid); // the step's statistics, for the liquid as it is
// balance.c: before the solve's velocities are taken; system masses are in scratch[0..2] until share
mo_status mo_sim_balance(mo_sim *sim, mo_balance *out, mo_error *err);
// verify.c: the step's solve done again and compared (solver.verify): begin before it, end after it
typedef struct mo_verification mo_verification;
mo_status mo_verify_begin(const mo_sim *sim, mo_verification **out, mo_error *err); // destroy *out in any case
mo_status mo_verify_end(mo_sim *sim, mo_verification *v, mo_error *err); // into stats; the system is left as it was
void mo_verify_destroy(mo_verification *v);
// warnings.c
typedef struct mo_warning_bounds {
    double cell;  // m
    double speed; // m/s, that the scene can give
} mo_warning_bounds;
// Counts what a step's statistics tell; returns the first kind that they raise, or MO_WARNING_COUNT.
mo_warning mo_warnings_judge(mo_warning_count count[MO_WARNING_COUNT], const mo_stats *stats,
                             const mo_warning_bounds *bounds);
void mo_sim_note_start(mo_sim *sim);                       // how fast everything starts
mo_status mo_sim_check_motion(mo_sim *sim, mo_error *err); // bodies' statistics; what is beyond all bounds is an error
mo_status mo_sim_judge(mo_sim *sim, mo_error *err);        // the step just completed; an error only if strict
// sim.c
// The viscosity (Pa s; the consistency of a Herschel-Bulkley liquid) of a new particle of liquid `source`, or of
// emitter source - liquid_count; old particles ask again if their liquid varies. What a scene's function returns is
// checked.
mo_status mo_sim_viscosity_at(const mo_sim *sim, int32_t source, mo_vec3 x, double t, double *viscosity, mo_error *err);

#endif
