// The simulation: its state, and the data that the stages of a step (step.c) hand on.
#ifndef MO_SIM_H
#define MO_SIM_H

#include "base/base.h"
#include "base/vec.h"
#include "fluid/balance.h"
#include "fluid/band.h"
#include "fluid/levelset.h"
#include "fluid/particles.h"
#include "fluid/surface.h"
#include "fluid/transfer.h"
#include "grid/fractions.h"
#include "grid/kept_rows.h"
#include "sim/air.h"
#include "sim/elastic.h"
#include "sim/shells.h"
#include "solid/contact.h"
#include "solid/rigid.h"
#include "system/stress_sheets.h"

typedef struct mo_solid { // fixed, scripted, a rigid or an elastic body
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
    bool rigid;                         // a rigid body: moved by the solve
    double volume;                      // m^3, of a rigid body
    mo_rigid body;                      // its mass; pose and velocities above are the truth
    int32_t round_axes;                 // of a rigid body: turns about these axes of its frame leave its shape as it is
    mo_vec3 round_axis[3];
    mo_shell *shell;     // the solid is a shell: it has no inside, and its shape is used for contacts only
    mo_elastic *elastic; // an elastic body: it has no shape, the pose's position is its centre of mass, the ball
                         // encloses its vertices, and the velocities follow from its momenta
    double friction, restitution;
    mo_samples samples; // of its surface, for contacts; fixed and scripted solids have them only where there are bodies
    int32_t twin;       // the first body of an equal shape, whose samples are used; it may be the body itself
    mo_vec3 force, torque;           // of the liquid in the last step; torque about the pose's position
    mo_vec3 kick_force, kick_torque; // of air; the next step applies half of them (air_pressure.c)
} mo_solid;

// Whether the solve moves a solid; whether anything does.
static inline bool mo_solid_is_body(const mo_solid *s) { return s->rigid || s->elastic; }
// Its section in scenes, for messages.
static inline const char *mo_solid_kind(const mo_solid *s)
{
    return s->elastic  ? mo_elastic_kind(s->elastic)
           : s->shell  ? "shell"
           : s->rigid  ? "rigid"
           : s->motion ? "moving"
                       : "fixed";
}
// The volume of air that a body displaces, m^3. A shell has no inside.
static inline double mo_solid_displaced(const mo_solid *s) { return s->shell ? 0 : s->volume; }
static inline bool mo_solid_can_move(const mo_solid *s) { return s->motion || mo_solid_is_body(s); }

typedef struct mo_slit { // a cell between a body and what it stands on (slits.h)
    int32_t cell;        // of the grid
    int32_t body, solid; // the body, and the solid on the other side; -1: a wall
    int axis, sign;      // of a wall: its normal
    uint8_t along;       // bits of the axes along which the slit goes on
    mo_vec3 normal;      // of the other side
    mo_vec3 surface;     // m: where the solve takes its pressure
} mo_slit;

typedef struct mo_slit_set {
    mo_slit *slit;
    int32_t count, capacity;
} mo_slit_set;

typedef struct mo_kept_contact { // force of a contact in the last step, for the next to start from
    int32_t a, b;
    uint32_t feature, unused;
    double normal;    // multiplier
    mo_vec3 friction; // multipliers along the tangents, as a vector
} mo_kept_contact;

// The account of energy (energy.c): running values, J, of the liquid and all bodies together.
typedef struct mo_account {
    double work;      // put in from outside since the start, minus what left
    double loss;      // to viscosity, friction and contact since the start, as far as the solves show it
    double corrected; // energy that the position correction added since the start; it does not count as work
    double last;      // energy - work after the last step
    double owed;      // energy that corrections added beyond what the steps had lost before them; < 0 inside a step
    double least;     // smallest value of energy - work so far
    double carried;   // potential energy that came and went with liquid through emitters and open walls
    double highest;   // largest value of potential energy - carried so far
    double released;  // deepest fall of potential energy - carried below `highest`
    double kinetic;   // largest kinetic energy so far
    double most_work; // largest absolute value of the work so far
} mo_account;

typedef struct mo_emitter_flow {
    double volume;    // cells of volume that enter per second
    double in_liquid; // factor of the velocity on the faces of its cells, by which these let in as much
    double scale;     // the factor of the present step: 1 in the air
} mo_emitter_flow;

typedef struct mo_scratch { // fields over the grid's tiles, for any use within one function and what it calls
    float *field[5];
    uint8_t *bytes; // two byte fields, one behind the other
} mo_scratch;

typedef struct mo_liquid_sums {
    double mass; // kg
    mo_vec3 momentum;
    double kinetic, potential, max_speed; // J, J, m/s
} mo_liquid_sums;

typedef struct mo_step_context mo_step_context;
typedef struct mo_displacings mo_displacings;

struct mo_sim {
    // The definition, with its arrays copied.
    mo_sim_def def;
    mo_liquid_def *liquids;
    mo_emitter_def *emitters;
    mo_emitter_flow *flow; // [emitters]
    uint8_t *stalled;      // [emitters] those that have no room in the present step
    mo_solid *solids;      // those of the definition, then the elastic bodies; with rigid bodies, then the shells
    int32_t solid_count, shell_solids; // all, and the shells among them
    mo_elastics elastics;
    mo_shells shells;
    uint8_t *slip;      // [solids] of those that let viscous liquids slip
    uint8_t *faceted;   // [solids] bodies bounded by planes alone
    int32_t bodies;     // rigid ones
    int32_t *body_of;   // [solids] number among them, elastic ones behind; -1
    mo_vec3 *centre;    // [solids] of mass, world
    bool moving, open;  // some solid moves; some wall is open
    bool viscous;       // some liquid or emitter has a viscosity or rheology: particles carry it
    bool weighed;       // and rows come from volume weights: where there are no shells
    bool non_newtonian; // and some a rheology
    bool broken;        // a step failed halfway: only a saved state can be used
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
    double given_speed; // fastest motion so far that was prescribed or existed at the start, m/s
    mo_warning_count warning[MO_WARNING_COUNT];
    mo_particles particles;
    mo_levelset level;     // the liquid's surface
    mo_band band;          // liquid without particles
    mo_air air;            // instead of all liquid
    mo_kept_contact *kept; // by a, b, feature
    int32_t kept_count;
    int64_t kept_capacity;
    mo_grid *grid;
    // The open parts of the grid's tiles at the present poses of solids. Code that changes tiles or poses makes them
    // anew (mo_sim_openings).
    mo_openings openings;
    mo_slit_set slits; // likewise
    mo_stats stats;    // of the last step; its stages fill them
    // Memory that is kept so that a step in steady state allocates little. It has no meaning between steps.
    mo_scratch scratch;
    void *field_memory; // of openings and scratch
    int64_t field_cells;
    int32_t *cover_first; // of the openings, [tiles + 1]
    int64_t cover_capacity, cover_tiles;
    mo_weights weights;   // of the context's fractions
    mo_contacts contacts; // of the context's contacts
    mo_contacts impacts;  // impacts of cloth that its motion in the step shows
    mo_arena *arena;      // scratch of one stage: empty when a stage begins
    mo_arena *step_arena; // data that stages hand on: empty when a step begins
    // Called with the system of every step before it is solved, for benchmarks; NULL: not called.
    mo_status (*inspect)(void *user, mo_sim *sim, mo_step_context *c, mo_error *err);
    void *inspect_user;
    // Called with the system of every step when it is solved (solve.c); it may change the system and set *again. NULL:
    // not called.
    mo_status (*review)(void *user, mo_sim *sim, mo_step_context *c, bool *again, mo_error *err);
    void *review_user;
};

typedef struct mo_deep_step { // of liquid without particles, within `advect`
    mo_band_flow flow;
    mo_band_gaps exposed; // freed when the step ends
} mo_deep_step;

// The data that the stages of one step hand on, grouped by the stage that writes them. The context is made anew for
// every step, and its arrays are valid until the step ends; those over the grid's tiles are valid until `advect` ends,
// because the tiles change then.
struct mo_step_context {
    double dt; // s, chosen before the first stage
    struct {
        float *u[3];    // m/s, on faces: u* of the particles, with gravity; in emitters of viscous liquids, what
                        // `fractions` makes of the emitter's velocity
        float *mass[3]; // cells: the volume that particles gave to the face
        uint8_t *phase; // MO_PHASE_...
    } transfer;
    struct { // for viscous liquids; the stage also renews the openings
        const mo_weights *weights;
        float *viscosity;       // Pa s, of cells, < 0 not known
        float *parameter[4];    // of the rheology (system/stress.h); NULL: of no liquid
        uint8_t *prescribed[3]; // faces in emitters; NULL: none
        // In any liquid, for rigid bodies; NULL: there are none.
        const float *surface;        // cells: what pressure sees, continued inside bodies
        mo_displacings *displacings; // how (displaced.c)
        const mo_excess *excess;     // [bodies] of lift
    } fractions;
    struct {
        const mo_contacts *found; // NULL: no bodies
    } contacts;
    struct {
        mo_liquid_system liquid; // the system of the step. It ends in `apply`
    } assemble;
    struct {
        const double *start; // velocities v* that the solve starts from
        int32_t repeats;     // how often the system has been solved again because a review asked for it
        double *before;      // velocities of faces and then of bodies before gravity
        mo_carried *carried; // faces of viscous liquid that move with prescribed solids
        int32_t carried_count;
    } solve;
    struct {
        mo_faces faces; // new velocities; valid: 0 unknown, 1 known, 2 set by a wall or emitter
        uint8_t *phase; // that of transfer; cells in emitters are liquid
    } apply;
    mo_deep_step advect;
    struct {
        mo_liquid_sums before; // the liquid, before particles are moved
        double surface;        // J, energy of the surface minus the work so far, before the surface is corrected
    } correct;
};

// The stages of step.c, each in the file of its name.
mo_status mo_stage_transfer(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_fractions(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_contacts(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_assemble(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_solve(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_apply(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_advect(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_settle(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_stage_correct(mo_sim *sim, mo_step_context *c, mo_error *err);
// The gravity that acts on the fluid. For air it is 0: air is computed without its own weight and the pressure of that.
static inline mo_vec3 mo_sim_fall(const mo_sim *sim) { return sim->air.present ? mo_v3(0, 0, 0) : sim->def.gravity; }
// solids.c
mo_solid_set mo_sim_solid_set(const mo_sim *sim);
mo_surface_walls mo_sim_walls(const mo_sim *sim);
double mo_solid_distance_at(const mo_solid *s, mo_vec3 x); // m, < 0 inside
mo_vec3 mo_sim_solid_normal(const mo_sim *sim, int32_t solid, mo_vec3 x);
mo_vec3 mo_solid_velocity_at(const mo_solid *s, mo_vec3 x);
double mo_solid_speed(const mo_solid *s); // m/s, at most that of any of its points
// Whether the ball round a moving solid shows that x is at least `distance` away; cheaper than the shape itself.
bool mo_solid_beyond(const mo_solid *s, mo_vec3 x, double distance);
// The solid nearest to x that is at rest or moved by its script; -1 if there is none.
int32_t mo_sim_nearest_prescribed(const mo_sim *sim, mo_vec3 x);
mo_vec3 mo_sim_nearest_velocity(const mo_sim *sim, mo_vec3 x);                         // of the solid nearest to x
mo_status mo_solid_pose_at(const mo_solid *s, double t, mo_pose *pose, mo_error *err); // checked to be finite
mo_status mo_sim_move_solids(mo_sim *sim, double dt, mo_error *err); // next poses and velocities for the step ahead
// fractions.c
mo_status mo_sim_openings(mo_sim *sim, double time, mo_error *err); // at the present poses; time: of emitters
// The weights of viscous liquid, once in a step: c->fractions.weights.
mo_status mo_sim_weights(mo_sim *sim, mo_step_context *c, mo_error *err);
// displaced.c
void mo_sim_find_round_axes(mo_solid *s, bool flat);
// The liquid's surface, continued inside rigid bodies: c->fractions.surface. Needs openings alone.
mo_status mo_sim_continue_surface(mo_sim *sim, mo_step_context *c, const mo_solid_set *solids, mo_error *err);
// What is lifted of bodies beyond what they displace: c->fractions.excess. Needs the covers too.
mo_status mo_sim_find_excess(mo_sim *sim, mo_step_context *c, const mo_solid_set *solids, mo_error *err);
// assemble.c
mo_stress_def mo_sim_stress_def(const mo_sim *sim, const mo_step_context *c, const mo_solid_set *solids);
mo_pressure_def mo_sim_pressure_def(const mo_sim *sim, const mo_step_context *c, const mo_solid_set *solids);
// Of viscous liquid where there are shells; the pressure's definition must stay.
mo_sheet_stress_def mo_sim_sheet_stress_def(const mo_sim *sim, const mo_step_context *c,
                                            const mo_pressure_def *pressure);
// forces.c
mo_status mo_sim_measure_round(mo_sim *sim, const mo_step_context *c, mo_error *err); // pressure round elastic bodies
mo_status mo_sim_measure_forces(mo_sim *sim, const mo_step_context *c,
                                mo_error *err); // of the solved pressure and stress on solids
// apply.c
// Sets the velocities of faces on closed walls (mo_sim_wall_velocity), and valid = 2.
void mo_sim_fix_walls(const mo_sim *sim, const mo_faces *faces);
void mo_sim_constrain(const mo_sim *sim, const mo_faces *faces); // removes flow into solids on known faces inside them
// collide.c
typedef struct mo_collision {
    mo_sim *sim;
    const uint8_t *phase; // of the cells that particles come from: whether their liquid takes part in the solve
    bool swept;           // test the paths of particles in this step, of length dt
    double dt;
    const float *from[3];   // [particles] where they were, cells; NULL where there are no solids
    const uint8_t *outlier; // [particles] those that mo_sim_collide_part has treated on their way; NULL: none
} mo_collision;
// Stores the places of particles before they move, in the arena of the stage.
mo_status mo_collision_start(mo_collision *collision, mo_error *err);
// Puts particles out of solids and walls. The change that scripted solids make to them counts as work.
mo_status mo_sim_collide(const mo_collision *collision, mo_error *err);
void mo_sim_collide_walls(mo_sim *sim, int32_t q); // one particle, with walls alone
// Does the same for one particle on a part of its way (mo_advect); user: the mo_sim.
void mo_sim_collide_part(void *user, int32_t q, const float from[3], double part, double ahead);
// shell_step.c
mo_status mo_sim_refuse_shells(const mo_sim *sim, mo_error *err); // with features that stages do not support yet
// Adds the forces of the solved stress to those on shells and prescribed solids. shell_stress.c
mo_status mo_sim_shear_shells(mo_sim *sim, const mo_step_context *c, mo_error *err);
mo_status mo_sim_cut_shells(mo_sim *sim, mo_error *err); // the grid's sites, and the rows of particles
void mo_sim_open_shells(mo_sim *sim);                    // openings of rows and samples where shells are
// The level set on rows in cut cells, over a change of tiles or a move of shells. Destroy *kept.
mo_status mo_sim_keep_rows(const mo_sim *sim, mo_kept_rows *kept, mo_error *err);
mo_status mo_sim_recall_rows(mo_sim *sim, const mo_kept_rows *kept, mo_error *err);
mo_status mo_sim_collide_shells(const mo_collision *c, mo_error *err);               // no particle passes a shell
mo_status mo_sim_press_shells(mo_sim *sim, const mo_step_context *c, mo_error *err); // forces on them
// wet_cloth.c
mo_status mo_sim_wet_cloths(mo_sim *sim, mo_error *err);              // once cloth exists: it is among the shells
mo_status mo_sim_lay_cloths(mo_sim *sim, mo_error *err);              // makes its places known to the shells
mo_status mo_sim_sweep_cloths(mo_sim *sim, double dt, mo_error *err); // once solved: where it goes in the step
// Solves for the liquid once more, with solids that move as the system says now, because they were stopped.
mo_status mo_sim_liquid_follows(mo_sim *sim, mo_step_context *c, mo_error *err);
mo_vec3 mo_shells_velocity_of(const mo_shells *s, const mo_shell *shell, int32_t triangle); // m/s, mean of a triangle
// rigid_shells.c
int32_t mo_sim_shell_solids(const mo_sim_def *def);                               // how many shells are solids too
mo_status mo_sim_enter_shells(mo_sim *sim, const mo_sim_def *def, mo_error *err); // makes them
void mo_sim_follow_shells(mo_sim *sim); // scripted ones, and all after loading: their solids are where the shells are
void mo_sim_lead_shells(mo_sim *sim);   // rigid ones: the shells go where the solve leads their solids
void mo_sim_leave_shells(mo_sim *sim);  // frees what the solids of shells own
// shell_step.c again
// Whether the straight line between two places (m) meets a shell in its present place.
bool mo_sim_shell_between(const mo_sim *sim, mo_vec3 a, mo_vec3 b);
// The same, or that the end is nearer to a shell than particles may be.
bool mo_sim_shell_stops(const mo_sim *sim, mo_vec3 a, mo_vec3 b);
double mo_sim_shell_distance(const mo_sim *sim, mo_vec3 x, double most); // m, at most `most`
// level_start.c: the distances of the liquids' shapes, cells; where they end at walls, the surface of the open part is
// continued. Then: whether a place (lattice) outside a liquid's shape, or hardly inside it, lies behind a shell at
// which the shape ends.
mo_status mo_sim_level_from_shapes(mo_sim *sim, float *phi, mo_error *err);
bool mo_sim_behind_shell(const mo_sim *sim, int32_t liquid, const double x[3]);
// settle.c
mo_status mo_sim_reserve_fields(mo_sim *sim, mo_error *err); // openings and scratch, for the grid's tiles
// Sorts the particles, makes the tiles follow them, and moves the fields to the new tiles; openings are those at the
// time. Scratch and data that stages handed on over the old tiles are no longer valid.
mo_status mo_sim_follow_particles(mo_sim *sim, double time, mo_error *err);
// Allocates fields over the grid's tiles in an arena, uninitialised.
mo_status mo_sim_floats(const mo_sim *sim, mo_arena *arena, int count, float **out, mo_error *err);
mo_status mo_sim_bytes(const mo_sim *sim, mo_arena *arena, int count, uint8_t **out, mo_error *err);
// bodies.c
mo_status mo_sim_create_bodies(mo_sim *sim, const mo_solid_def *defs, mo_error *err);
mo_status mo_sim_add_contact_rows(mo_sim *sim, mo_step_context *c, mo_error *err); // while velocities are v*
mo_status mo_sim_add_bodies(mo_sim *sim, mo_step_context *c,
                            mo_error *err); // to the system: masses, velocities v*, contacts
mo_status mo_sim_take_bodies(mo_sim *sim, const mo_step_context *c,
                             mo_error *err); // velocities from the system; next poses
void mo_sim_end_motion(mo_sim *sim); // once everything has moved: takes over spins and centres of bodies from the move
void mo_sim_destroy_bodies(mo_sim *sim);
// elastic.c
mo_status mo_sim_check_elastics(const mo_sim_def *def, mo_error *err);
mo_status mo_sim_create_elastics(mo_sim *sim, const mo_sim_def *def, mo_error *err); // and cloth, once there is a grid
void mo_sim_destroy_elastics(mo_sim *sim);
// cloth.c
mo_status mo_sim_check_cloths(const mo_sim_def *def, mo_error *err);
mo_status mo_sim_create_cloth(mo_sim *sim, const mo_cloth_def *def, mo_elastic *out, mo_error *err);
void mo_sim_cloth_statistics(mo_sim *sim); // of the step, as cloth is now
// wind.c
bool mo_elastic_in_wind(const mo_elastic *e);
mo_status mo_sim_aim_wind(mo_sim *sim, mo_error *err); // at cloth as it is and as dry as it is at the start of the step
void mo_sim_add_wind(const mo_sim *sim, const double *v, double scale, double *force); // of all nodes, by velocities v
// Adds the work of the wind to the account; before, now: velocities of nodes.
mo_status mo_sim_account_wind(mo_sim *sim, double dt, const double *before, const double *now, mo_error *err);
// pins.c
bool mo_pin_moves(const mo_pin *p); // by a script or with a solid
// Makes room for the data of a body's vertices in a step, and `count` pins that hold them, with room for `more`.
mo_status mo_elastic_hold(mo_elastic *e, const char *name, int32_t count, const mo_pin_def *pins, int32_t more,
                          mo_error *err);
// Makes one of those pins move with a fixed or scripted solid, whose pose at the start is `base`.
mo_status mo_elastic_attach(mo_elastic *e, const char *name, int32_t pin, const mo_pin_def *where, int32_t solid,
                            mo_pose base, mo_error *err);
// Attaches vertices inside `where`, or vertex v, to a rigid solid.
mo_status mo_elastic_bond(mo_elastic *e, const char *name, const mo_pin_def *where, int32_t solid, mo_error *err);
mo_status mo_elastic_bond_vertex(mo_elastic *e, int32_t v, int32_t solid, mo_error *err);
// Lets a pin, which moves with a fixed or scripted solid, hold vertex v.
void mo_elastic_attach_vertex(mo_elastic *e, int32_t v, int32_t pin, int32_t solid, mo_pose base);
// bonds.c
void mo_sim_anchor_bonds(mo_sim *sim); // once rigid bodies have their poses at the start
// Adds the bonds of vertices with rigid bodies to the contacts of a step.
mo_status mo_sim_add_bonds(mo_sim *sim, double dt, mo_error *err);
// cords.c
mo_status mo_sim_make_cords(const mo_cloth_def *d, mo_cord *cord, mo_error *err);            // [cord_count]
mo_status mo_cords_draw(const mo_elastic *e, mo_vec3 gravity, mo_mesh *mesh, mo_error *err); // adds them as tubes
void mo_elastic_start_moving(mo_elastic *e, mo_vec3 v, mo_vec3 w);                           // all but pinned vertices
mo_status mo_sim_place_pins(mo_sim *sim, mo_error *err); // puts pinned vertices at their places at the present time
mo_status mo_sim_ask_pins(mo_sim *sim, double dt, mo_error *err); // velocities of scripted vertices for the step ahead
// elastic_step.c
double mo_elastic_speed(const mo_elastic *e);                 // m/s, of the fastest vertex, now or by its script
double mo_elastic_script_speed(const mo_elastic *e);          // by its script alone
mo_status mo_sim_follow_pressure(mo_sim *sim, mo_error *err); // gives elastic bodies the pressure that they feel
mo_status mo_sim_add_elastics(mo_sim *sim, mo_step_context *c, mo_error *err); // to the system: the group of nodes
// Holds pinned vertices, once liquid is attached to all.
void mo_sim_hold_elastics(const mo_sim *sim, mo_step_context *c);
// elastic_start.c
mo_status mo_sim_start_elastics(mo_sim *sim, mo_step_context *c, mo_error *err); // finds where Newton's method begins
void mo_sim_take_elastics(mo_sim *sim, const mo_step_context *c);                // velocities from the system
mo_status mo_sim_move_elastics(mo_sim *sim, double dt, mo_error *err);           // vertices
mo_status mo_sim_settle_elastics(mo_sim *sim, mo_error *err); // renews what follows from the vertices' places
void mo_sim_elastic_before(const mo_sim *sim, double *v);     // nodes' velocities, for energy.c
// Adds the energy of elastic bodies in the step to the account, once solved; before, now: velocities of nodes.
mo_status mo_sim_elastic_account(mo_sim *sim, const mo_step_context *c, const double *before, const double *now,
                                 mo_error *err);
// elastic_view.c
void mo_sim_copy_vectors(int32_t count, const mo_vec3 *from, double *to); // x y z of each; to NULL: nothing
// bodies_check.c, thickness.c
mo_status mo_sim_check_bodies(mo_sim *sim, mo_error *err);          // where they start, and how thick they are
mo_status mo_sim_check_thickness(const mo_sim *sim, mo_error *err); // warns of fixed and scripted solids that leak
// shells_check.c
mo_status mo_sim_check_shells(const mo_sim *sim, mo_error *err); // warns of how they lie
// contacts.c
enum { MO_COLLIDER_WALLS = 6 };
typedef struct mo_colliders { // solids first, then the closed walls as half spaces: dot(normal, x) < offset is solid
    mo_collider *collider;    // in the arena of the stage
    int32_t count;
    const mo_shape *wall[MO_COLLIDER_WALLS];
} mo_colliders;
mo_status mo_sim_lay_colliders(mo_sim *sim, mo_colliders *out, mo_error *err); // release them in any case
void mo_sim_release_colliders(mo_colliders *c);
// impacts.c
void mo_sim_aim_cloth(mo_sim *sim, double dt); // ends of the paths by the velocities at the start
// Turns every crossing of cloth into a contact. If there is any, the step is to be solved again.
mo_status mo_sim_review_cloth(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err);
// Fails if cloth crosses cloth in its present place.
mo_status mo_sim_check_crossing(mo_sim *sim, mo_error *err);
// Once solved: if cloth would still cross something, it goes only a part of its way.
mo_status mo_sim_part_cloth(mo_sim *sim, mo_step_context *c, mo_error *err);
// bounces.c
// If bounces gave the system energy, they get less speed, and the step is to be solved again.
mo_status mo_sim_review_bounces(mo_sim *sim, mo_step_context *c, bool *again, mo_error *err);
// kept.c
// The system's contact forces start from those of the last step; once solved, they are kept for the next.
void mo_sim_warm_contacts(const mo_sim *sim, mo_step_context *c);
mo_status mo_sim_keep_contacts(mo_sim *sim, const mo_step_context *c, mo_error *err);
// seed.c
int64_t mo_sim_seed(mo_sim *sim, bool count_only, mo_error *err); // -1 = error
// Counts them; where that would take longer than seconds, by samples of the cells, and *sampled is set.
int64_t mo_sim_count_seeds(mo_sim *sim, bool *sampled, mo_error *err);
// Adds a particle of liquid `source`, or of emitter source - liquid_count, at x (cells).
mo_status mo_sim_add_particle(mo_sim *sim, int32_t source, const double x[3], mo_vec3 v, mo_error *err);
void mo_sim_jittered(const mo_sim *sim, int64_t a, int64_t b, int64_t c, double x[3]); // place in a sub-cell, cells
bool mo_sim_inside_solid(const mo_sim *sim, mo_vec3 x);
void mo_sim_cell_range(const mo_sim *sim, mo_box3 box, int32_t lo[3], int32_t hi[3]); // domain cells a box touches
// emitter_flow.c
mo_emitter_flow mo_sim_find_flow(const mo_sim *sim, const mo_emitter_def *e); // of one without solids round it
bool mo_sim_scale_flow(mo_sim *sim, int32_t emitter); // by what is beside it; whether its scale has changed
// emitter_room.c
// Finds emitters without room; renews the openings.
mo_status mo_sim_stall_emitters(mo_sim *sim, mo_step_context *c, mo_error *err);
bool mo_sim_emitter_active(const mo_sim *sim, int32_t emitter, double time);
// emitter.c
double mo_sim_emitter_source(const mo_sim *sim, const mo_emitter_def *e); // flow through its faces, unscaled, cells/s
void mo_sim_emitter_openings(mo_sim *sim, double time); // faces inside active emitters close, and sweep
// Faces inside active emitters get their velocity and valid = 2; cells inside become liquid.
void mo_sim_emitter_velocities(const mo_sim *sim, double time, const mo_faces *faces, uint8_t *phase);
// Does the same for viscous liquids by their weights, except on the upstream side; the faces are marked in `valid`.
// Where solids cover a part of a face, it has the mean of both velocities.
void mo_sim_emitter_prescribe(const mo_sim *sim, double time, const mo_faces *faces);
// Sets velocities inside active emitters to 0, so that the position correction moves nothing there.
void mo_sim_emitter_hold(const mo_sim *sim, double time, const mo_faces *faces);
// Returns the energy (J) that active emitters spend against gravity in the step; to be called before mo_balance_share.
double mo_sim_emitter_lift(const mo_sim *sim, const uint8_t *phase, const mo_balance *b, double dt);
mo_status mo_sim_emit(mo_sim *sim, double from, double to, mo_error *err); // from < 0: fill emitters that start at 0
// level.c
// From the shapes; scales particles to the volume of the level set.
mo_status mo_sim_start_level(mo_sim *sim, mo_error *err);
mo_status mo_sim_start_emitters(mo_sim *sim, mo_error *err); // adds the inside of emitters that are active at first
void mo_sim_advect_level(mo_sim *sim, const mo_faces *faces, double dt);
// Lets the surface follow the particles, once they are sorted, and makes `press`. thin: a byte field, gets the thin
// cells; density: a field, gets the density of the particles; it must not be scratch.field[2].
mo_status mo_sim_correct_level(mo_sim *sim, double dt, uint8_t *thin, float *density, mo_error *err);
// spin.c: free pieces of liquid keep their angular momentum when the correction moves them. Between the two calls
// particles move but are not sorted.
typedef struct mo_spin {
    const struct mo_spin *next;
    const int32_t *cell; // the cells of a piece that touches nothing
    int32_t cells;
    mo_vec3 spin; // sum of V (x - centre) x v, cells
} mo_spin;
typedef struct mo_spins {
    const mo_spin *last; // NULL: there are none
} mo_spins;
mo_status mo_sim_note_spins(const mo_sim *sim, mo_spins *out, mo_error *err);
void mo_sim_restore_spins(mo_sim *sim, const mo_spins *spins);
// band.c: liquid without particles. The volume of the liquid is that of the particles plus the account of deep liquid.
mo_status mo_sim_start_band(mo_sim *sim,
                            mo_error *err); // takes the particles out of what is deep, before tiles are laid
void mo_sim_show_deep(mo_sim *sim);         // to the particles, once its fields fit the tiles
mo_status mo_sim_carry_deep(mo_sim *sim, mo_step_context *c, mo_error *err);    // before surface and particles move
mo_status mo_sim_exchange_deep(mo_sim *sim, mo_step_context *c, mo_error *err); // with the particles, once they moved
mo_status mo_sim_absorb_deep(mo_sim *sim, mo_error *err); // turns particles in deep cells into deep liquid
// Part of the position correction; allowed: energy that it may add by lifting, J.
void mo_sim_even_deep(mo_sim *sim, double allowed);
double mo_sim_liquid_volume(const mo_sim *sim); // cells, of all liquid
// energy.c
mo_liquid_sums mo_sim_liquid_sums(const mo_sim *sim);
double mo_sim_surface_energy(const mo_sim *sim); // J, 0 without surface tension
void mo_sim_energy_open(mo_sim *sim);            // the account of the state before the first step
// The first stores the velocities before a solve; the second adds the work of prescribed motions and the losses, which
// follow from the multipliers, to the account.
mo_status mo_sim_energy_before(const mo_sim *sim, mo_step_context *c, mo_error *err);
mo_status mo_sim_energy_after(mo_sim *sim, mo_step_context *c, mo_error *err);
// The work of prescribed motion in the present solution, J.
mo_status mo_sim_solve_work(const mo_sim *sim, const mo_step_context *c, const double *const motion[MO_GROUPS],
                            double *work, mo_error *err);
// To be called when the faces' new velocities are known.
void mo_sim_energy_carried(mo_sim *sim, const mo_step_context *c);
void mo_sim_energy_carry(mo_sim *sim, double kinetic, double potential); // J that came with fluid
void mo_sim_energy_exchange(mo_sim *sim, const mo_liquid_sums *before);  // liquid came or went since
// Returns the energy (J) that the position correction may add in this step: the energy that the step has lost until
// now, from the liquid's sums.
double mo_sim_energy_spare(mo_sim *sim, const mo_liquid_sums *liquid);
void mo_sim_energy_correction(mo_sim *sim, const mo_step_context *c, const mo_liquid_sums *after);
void mo_sim_energy_close(mo_sim *sim, const mo_liquid_sums *liquid); // the step's statistics, for the liquid as it is
// balance.c: in liquid thinner than cells, reduces the masses of the system's faces to those of its particles
mo_status mo_sim_fit_masses(const mo_sim *sim, mo_step_context *c, mo_error *err);
// To be called before the solve's velocities are taken; the system's masses are in the first three scratch fields until
// mo_balance_share.
mo_status mo_sim_balance(mo_sim *sim, mo_step_context *c, mo_balance *out, mo_error *err);
// verify.c: the step's solve done again and compared (solver.verify): begin before it, end after it
typedef struct mo_verification mo_verification;
mo_status mo_verify_begin(const mo_step_context *c, mo_verification **out, mo_error *err); // destroy *out in any case
mo_status mo_verify_end(mo_sim *sim, mo_step_context *c, mo_verification *v,
                        mo_error *err); // into stats; the system is left as it was
void mo_verify_destroy(mo_verification *v);
// warnings.c
typedef struct mo_warning_bounds {
    double cell;  // m
    double speed; // m/s, that the scene can make
} mo_warning_bounds;
// Counts the warnings that a step's statistics raise; returns the first kind, or MO_WARNING_COUNT.
mo_warning mo_warnings_judge(mo_warning_count count[MO_WARNING_COUNT], const mo_stats *stats,
                             const mo_warning_bounds *bounds);
void mo_sim_note_start(mo_sim *sim); // how fast everything starts
mo_status mo_sim_check_motion(mo_sim *sim, double dt,
                              mo_error *err);       // statistics of bodies; fails if something is beyond all bounds
mo_status mo_sim_judge(mo_sim *sim, mo_error *err); // the step just completed; an error only if strict
// sim.c
// Checks the definition and makes everything but liquid, air and tiles. *out is to be destroyed also if this fails.
mo_status mo_sim_create_empty(const mo_sim_def *def, mo_sim **out, mo_error *err);
mo_status mo_sim_fill(mo_sim *sim, mo_error *err); // the rest
// The viscosity (Pa s; the consistency of a Herschel-Bulkley liquid) of a new particle of liquid `source`, or of
// emitter source - liquid_count; for old particles it is called again if their liquid varies. The value of a scene's
// function is checked.
mo_status mo_sim_viscosity_at(const mo_sim *sim, int32_t source, mo_vec3 x, double t, double *viscosity, mo_error *err);

#endif
