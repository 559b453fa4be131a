// Part of monolith.h: running a simulation, its statistics, warnings, state and checkpoints.
#ifndef MONOLITH_SIMULATION_H
#define MONOLITH_SIMULATION_H

#include "monolith/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Running -----------------------------------------------------------------------------------------------------

typedef struct mo_sim mo_sim;

enum { MO_STAGE_COUNT = 9 };
extern const char *const mo_stage_name[MO_STAGE_COUNT]; // "transfer", "fractions", ... in the order of a step

typedef enum mo_reason { // why a solve ended
    MO_REASON_CONVERGED,
    MO_REASON_MAX_ITERATIONS,
    MO_REASON_STALLED,
    MO_REASON_NOTHING_TO_DO,
} mo_reason;
const char *mo_reason_name(mo_reason reason); // "converged", ...

enum { MO_MOST_SETS = 4 };
typedef struct mo_set_stats { // all solves of one set of blocks in a step
    char name[8];             // its blocks: P pressure, V viscosity, E elasticity, C contact and friction
    char form[12]; // how it was solved last: draped, joint, contacts, bodies, viscous, pressure, ... (docs/math.md)
    int32_t solves, iterations;
    double seconds; // wall, with assembly
} mo_set_stats;

typedef struct mo_verify_stats { // a step's solution against a tighter one by route paper (docs/output.md)
    bool done;                   // with mo_solver_def.verify
    double velocity;    // largest difference of a velocity of faces or bodies, over the largest speed of the step
    double pressure;    // largest difference of a pressure, over the largest one or what stops that speed in a cell
    double contact;     // largest difference of a normal force, over the largest; not unique if contacts are redundant
    int32_t iterations; // of the second solve
    double residual;    // at which the second solve ended ...
    mo_reason reason;   // ... and why
    double seconds, cpu_seconds; // wall and CPU time of the second solve, which the step's own times do not contain
} mo_verify_stats;

typedef struct mo_sheet_stats { // how shells cut the grid in a step
    int64_t cut_cells;          // cells that triangles meet; 0: no shell is near the liquid
    int64_t sides, gaps;        // of these cells, beyond one side each; openings between sides, at borders
    int64_t pockets;            // sides without an opening; liquid in them moves with the shell
    int64_t tangled;            // triangles that meet others where they should not; nothing flows along them
    int64_t closed;             // cells that are closed, because rounding errors contradict each other there
    int64_t crossed;            // particles that were found on the other side of a shell
    int64_t slips;              // rows of slip, where the solver's shells are "paper"; sides are ghost cells then
    double penetration;         // m/s: the fastest that air flows into a shell at these rows, as the solve left it
    int64_t light;              // rigid shells that weigh less than the liquid in their cells counts (docs/shells.md)
} mo_sheet_stats;

typedef struct mo_cloth_stats { // of all cloth
    int64_t vertices;
    int64_t impacts;        // that contacts did not foresee, found by following the step's motion
    int64_t zones, stopped; // groups of vertices that moved as one after an impact; cloths that went part of their way
    double stretch;         // largest principal stretch of a triangle - 1
    double energy;          // J, of stretching, bending and cords; part of elastic_energy
} mo_cloth_stats;

typedef struct mo_stats { // of one step; the fields of stats.jsonl
    int64_t step;
    int32_t frame;   // frame the step leads to
    double time, dt; // s, time after the step
    int64_t particles;
    int64_t deep;       // cells of liquid without particles
    double deep_volume; // m^3 that they hold, of volume_target
    int64_t pressures;  // dofs.p
    int64_t stresses;   // dofs.s
    const char *scheme, *route;
    int32_t rounds, iterations;    // how often the scheme was solved; iterations of all these solves
    double round_change;           // mean relative change of the viscosity in the last round, 0 without rounds
    int32_t correction_iterations; // of the position correction's solve
    double residual;
    mo_reason reason;
    double volume;              // m^3 of liquid: what the level set encloses outside solids, and films
    double volume_target;       // m^3 filled and emitted minus what left through open walls
    double volume_error;        // volume / volume_target - 1
    double film;                // m^3 of `volume` that particles hold in films and drops too thin for the level set
    double density_rms;         // rms deviation of the particle density in interior cells, relative
    double kinetic_energy;      // J, of the liquid
    double body_kinetic_energy; // J, of rigid and elastic bodies and cloth
    double potential_energy;    // J, of liquid and bodies in gravity, from the lowest point of the domain
    double surface_energy;      // J, surface tension times the area of the free surface
    double elastic_energy;      // J, in deformed elastic bodies and cloth
    double energy;              // J, sum of the five
    double energy_work; // J since the start: by scripted solids, belts, emitters, minus what left through open walls
    double energy_loss; // J since the start: to viscosity, friction and contact, as far as the solves show it
    double energy_correction; // J since the start: added by the position correction of particles
    double energy_withheld;   // J in this step: energy that the correction would have needed beyond what was available
    double energy_error;      // growth of energy - energy_work over its least value so far, relative (docs/output.md)
    mo_vec3 momentum;         // kg m/s
    double max_speed;         // m/s
    double max_body_speed;    // m/s, fastest centre of mass of a rigid body
    int64_t escaped;          // rigid bodies whose centre of mass lies outside a closed wall
    double max_divergence;    // 1/s, largest in a liquid cell after the solve
    int64_t contacts;         // between solids
    double max_penetration;   // m, deepest overlap of solids that the step began with
    double staggering;        // relative change of bodies' velocities in the last round of friction
    int32_t passes;           // of an iterative scheme over its sets, in the last round; else 0
    int32_t set_count;        // sets of blocks that the scheme solves, in their order
    mo_set_stats sets[MO_MOST_SETS];
    int64_t vertices;           // of elastic bodies and cloth
    double newton;              // change of velocities in the last step of Newton's method, relative
    int64_t halvings;           // of steps of Newton's method
    double least_volume;        // smallest det F of elastic elements; 1 without elastic bodies
    int64_t inverted;           // elastic elements with det F <= 0
    int64_t projected;          // linearisations that had to leave out negative stiffness
    mo_cloth_stats cloth;       // without cloth all 0
    double smoke, smoke_target; // kg of soot in the air: the present mass, and what sources gave minus what left
    double smoke_error;         // smoke / smoke_target - 1
    int64_t tiles;              // of 8^3 cells in which air is simulated
    int64_t shells;             // how many there are
    mo_sheet_stats sheets;
    int64_t pieces, enclosed; // connected pieces of liquid; those that touch no air
    int64_t ballistic;        // particles that flew freely
    int64_t crossed;          // particles found in a shell, where none should be
    int64_t outliers;  // particles that are too fast for the step, or whose path is too bent: they moved in parts
    int64_t shared;    // faces lighter than their particles, which moved with their neighbours
    int64_t limited;   // light faces, and faces beyond the system, that gave energy back
    int64_t clamped;   // particles whose correction hit its limit of two cells
    int32_t stalled;   // emitters that stood still, because no air was left for their liquid to displace
    int64_t relaxed;   // enclosed pieces whose volume a prescribed motion would change (no exact solution)
    int64_t fallbacks; // solves that one form gave up and another finished
    double seconds[MO_STAGE_COUNT];
    double cpu_seconds;
    int64_t memory_bytes;
    mo_verify_stats verify;
} mo_stats;

typedef void (*mo_step_fn)(void *user, const mo_stats *stats); // called after every step

// Checks the definition and fills the domain. The simulation retains the definition's shapes and copies its names; user
// pointers must outlive it.
mo_status mo_sim_create(const mo_sim_def *def, mo_sim **out, mo_error *err);
void mo_sim_destroy(mo_sim *sim);

// Makes one step. With `solver.strict` a step that raises a warning returns MO_ERROR_FAILED; the step is complete
// nevertheless: it has statistics, and the state can be saved or go on. After any other failure the state cannot be
// used.
mo_status mo_sim_step(mo_sim *sim, mo_stats *stats, mo_error *err);
mo_status mo_sim_advance(mo_sim *sim, mo_step_fn on_step, void *user, mo_error *err); // to the next frame
bool mo_sim_done(const mo_sim *sim);
double mo_sim_time(const mo_sim *sim);
int32_t mo_sim_frame(const mo_sim *sim);       // frames completed; 0 = the initial state
int32_t mo_sim_frame_count(const mo_sim *sim); // frames of the whole run
// Measures how shells lie on the grid at the start: one of them, or all together (-1), which may meet each other.
typedef struct mo_shell_quality {
    double mass; // kg, of rigid ones
    int32_t vertices, triangles;
    int32_t borders, junctions;          // edges of one triangle; of three or more
    int32_t cells;                       // of the grid that triangles meet
    int32_t sides, gaps;                 // of these cells, beyond one side each; openings between sides, at borders
    int32_t pockets;                     // sides without an opening
    int32_t crossings;                   // cells in which sheets pass through each other, or touch without being welded
    int32_t loose;                       // vertices of borders within 0.05 cells of a sheet, but not welded to it
    mo_vec3 crossing_place, loose_place; // m, of the first
} mo_shell_quality;
mo_status mo_sim_shell_quality(const mo_sim_def *def, int32_t shell, mo_shell_quality *out, mo_error *err);
// Estimates the bytes that mo_sim_create and the steps would use, without creating anything.
mo_status mo_sim_estimate(const mo_sim_def *def, int64_t *particles, int64_t *bytes, mo_error *err);

// What a run needs, found by a few steps of coarser copies of the scene.
typedef struct mo_needs {
    int64_t particles;      // at the start
    int64_t most_particles; // at the end, if emitters let in as much as they can
    bool sampled;           // these were not counted one by one: there are millions of cells
    int64_t bytes;          // the most memory in use, that of the process now included
    double frame_seconds;   // CPU time of a frame, if all go like the steps that were measured; 0: nothing was
    int32_t measured_cells; // along the longest edge, of the finest copy that was measured; 0: none
    int32_t measured_steps; // of that copy
    mo_error why;           // why nothing could be measured
} mo_needs;
// Takes about `seconds` of CPU time for the copies (0: none, then bytes is a rule of thumb), more if the bodies of the
// scene alone take longer. The peak of mo_memory_peak begins anew. Callbacks of the scene are called.
mo_status mo_sim_needs(const mo_sim_def *def, double seconds, mo_needs *out, mo_error *err);

// ---- Warnings ----------------------------------------------------------------------------------------------------

// A warning says what is wrong with a result although every step was completed. Each step's statistics are judged, and
// the steps that raise a warning are counted by its kind; the counts are part of the state and of its checkpoints. Two
// things are errors of mo_sim_step instead: a velocity or place that is not a number, and a speed of more than 100
// times what the scene can make: by gravity over the diagonal of the domain, by velocities that were prescribed or
// existed at the start, by surface tension and, if solids are scripted, by driving liquid out of a slit of one cell.
typedef enum mo_warning {
    MO_WARNING_UNSOLVED,  // the solve did not converge; measured by its residual
    MO_WARNING_RELAXED,   // enclosed pieces of liquid with impossible constraints; their number
    MO_WARNING_ENERGY,    // more energy than was put in; relative
    MO_WARNING_VOLUME,    // visible volume off by more than 5 %, and by more than a cell; relative, with its sign
    MO_WARNING_OVERLAP,   // solids overlap by more than half a cell; cells
    MO_WARNING_ESCAPED,   // rigid bodies outside closed walls; their number
    MO_WARNING_CLAMPED,   // corrections of more than 2 % of the particles hit their limit; share
    MO_WARNING_BALLISTIC, // more than 20 % of the particles fly without pressure; share
    MO_WARNING_INVERTED,  // elements of elastic bodies are turned inside out; their number
    MO_WARNING_NEWTON,    // the last step of Newton's method for elastic bodies was a large one; relative change
    MO_WARNING_SPEED,     // something moves three times faster than the scene can make it; m/s
    MO_WARNING_COUNT
} mo_warning;
const char *mo_warning_name(mo_warning kind); // "unsolved", "relaxed", ...
const char *mo_warning_text(mo_warning kind); // one sentence without its full stop

typedef struct mo_warning_count { // of one kind
    int64_t steps;                // that raised it; 0: none, and the rest is 0
    int64_t first_step, worst_step;
    double first_time, worst_time; // s, after those steps
    double worst;                  // as the kind is measured
} mo_warning_count;
void mo_sim_warnings(const mo_sim *sim, mo_warning_count count[MO_WARNING_COUNT]);
// Writes the worst value with its unit: "-7.3 %", "0.61 cells".
void mo_warning_worst(mo_warning kind, double worst, char text[32]);

// ---- Looking at the state ----------------------------------------------------------------------------------------

// Copies the particles into arrays of the caller; pass NULL for what is not wanted. Units are m, m/s, m^3.
int64_t mo_sim_particle_count(const mo_sim *sim);
void mo_sim_particles(const mo_sim *sim, float *position, float *velocity, float *volume);
// Copies the particles' viscosity (Pa s; the consistency of a Herschel-Bulkley liquid). Returns false and writes
// nothing if the simulation is not viscous; `viscosity` may be NULL to ask only that.
bool mo_sim_particle_viscosity(const mo_sim *sim, float *viscosity);
// Makes the liquid's surface, a closed mesh with velocities, `surface` (of mo_sim_def) times finer than the
// simulation's grid. It consists of the free surface and of the parts that touch solids and walls, which it follows
// exactly. A vertex on a crease between these parts exists once for each part, with that part's normal.
mo_status mo_sim_surface(const mo_sim *sim, mo_mesh *out, mo_error *err);
typedef struct mo_surface_account {
    double volume; // m^3 that the mesh encloses
    double film;   // m^3 of particles that the mesh is too coarse to show
} mo_surface_account;
mo_status mo_sim_surface_account(const mo_sim *sim, mo_mesh *out, mo_surface_account *account, mo_error *err);
// Finds the volume that this mesh encloses, m^3.
mo_status mo_sim_visible_volume(const mo_sim *sim, double *volume, mo_error *err);
double mo_mesh_volume(const mo_mesh *mesh); // enclosed by a closed mesh, m^3
// Returns the root mean square of the relative error of the particle density, over cells at least 2.5 cells below the
// surface and off walls.
mo_status mo_sim_density_rms(const mo_sim *sim, double *rms, mo_error *err);
int32_t mo_sim_solid_count(const mo_sim *sim);
typedef struct mo_body_state {
    const char *name;
    const mo_shape *shape; // NULL: it is a shell
    const mo_sheet *sheet; // of a shell, in its own frame; else NULL
    bool moving, rigid;
    double mass;                        // kg, of rigid ones
    mo_pose pose;                       // of rigid ones: the position is the centre of mass
    mo_vec3 velocity, angular_velocity; // m/s, 1/s
    mo_vec3 force, torque;              // N, N m about the pose's position: of the liquid in the last step
} mo_body_state;
void mo_sim_body(const mo_sim *sim, int32_t body, mo_body_state *out);
int32_t mo_sim_shell_count(const mo_sim *sim);
void mo_sim_shell(const mo_sim *sim, int32_t shell, mo_body_state *out);

int32_t mo_sim_elastic_count(const mo_sim *sim);
typedef struct mo_elastic_state {
    const char *name;
    int32_t dimension, vertex_count, element_count, face_count;
    const int32_t *element;             // [(dimension + 1) * element_count] vertices
    const int32_t *face;                // [dimension * face_count] of the surface: outward; both last as long as sim
    double mass;                        // kg
    mo_vec3 centre;                     // of mass, m
    mo_quat rotation;                   // that fits the deformation best
    mo_vec3 velocity, angular_velocity; // m/s of the centre, 1/s: of the same momenta
    mo_vec3 force;                      // N, of the liquid in the last step
    double kinetic, elastic;            // J
    double least;                       // smallest det F of an element
    int32_t inverted;                   // elements with det F <= 0
} mo_elastic_state;
void mo_sim_elastic(const mo_sim *sim, int32_t elastic, mo_elastic_state *out);
// Makes the mesh that a simulation of this definition would give to an elastic body, without creating anything else.
mo_status mo_sim_elastic_mesh(const mo_sim_def *def, int32_t elastic, mo_tets *out, mo_error *err);
// Copies places and velocities of vertices (m, m/s; [3 * vertex_count]), and det F and von Mises stress (Pa) of
// elements; NULL for what is not wanted.
void mo_sim_elastic_vertices(const mo_sim *sim, int32_t elastic, double *position, double *velocity);
void mo_sim_elastic_elements(const mo_sim *sim, int32_t elastic, double *volume_ratio, double *von_mises);
// Makes the surface a closed mesh with normals and velocities; in 2D it is that of the slice, one cell deep. Its
// triangles are the same at all times. A vertex on an edge that is sharp at rest exists once for each side, with that
// side's normal.
mo_status mo_sim_elastic_surface(const mo_sim *sim, int32_t elastic, mo_mesh *out, mo_error *err);
// The same, with the von Mises stress (Pa) at its vertices, the mean over the elements about each: [vertex_count] in
// *von_mises, for mo_free_block.
mo_status mo_sim_elastic_surface_stress(const mo_sim *sim, int32_t elastic, mo_mesh *out, float **von_mises,
                                        mo_error *err);

int32_t mo_sim_cloth_count(const mo_sim *sim);
typedef struct mo_cloth_state {
    const char *name;
    int32_t vertex_count, triangle_count;
    const int32_t (*triangle)[3];       // [triangle_count] vertices; lasts as long as sim
    double thickness, mass;             // m, kg
    mo_vec3 centre;                     // of mass, m
    mo_quat rotation;                   // that fits the deformation best
    mo_vec3 velocity, angular_velocity; // m/s of the centre, 1/s: of the same momenta
    double kinetic;                     // J
    double stretching, bending, cords;  // J
    double stretch;                     // largest principal stretch of a triangle - 1
    mo_vec3 force;                      // of the liquid in the last step, N
    mo_vec3 held;                       // of pins and of fixed and moving solids that it is attached to, likewise, N
} mo_cloth_state;
void mo_sim_cloth(const mo_sim *sim, int32_t cloth, mo_cloth_state *out);
// Copies places and velocities of vertices (m, m/s; [3 * vertex_count]); NULL for what is not wanted.
void mo_sim_cloth_vertices(const mo_sim *sim, int32_t cloth, double *position, double *velocity);
// Makes a mesh of the triangles with normals and velocities. It has borders, and both of its sides are visible.
mo_status mo_sim_cloth_surface(const mo_sim *sim, int32_t cloth, mo_mesh *out, mo_error *err);

// The fields of air are over tiles of 8^3 cells and last until the next step. A value of cell (x, y, z) of a tile has
// the index 512 * tile + x + 8 (y + 8 z). mo_sim_air returns false and writes nothing if the simulation has no air.
typedef struct mo_air_state {
    double cell;    // m
    mo_vec3 origin; // m, the centre of cell (0, 0, 0) of tile (0, 0, 0)
    int32_t tiles;
    const int32_t (*tile)[3]; // [tiles] place of a tile, in tiles
    const float *soot, *heat; // kg/m^3, K above the air's temperature
    const float *velocity[3]; // m/s, each on the low face of its cell along its axis
} mo_air_state;
bool mo_sim_air(const mo_sim *sim, mo_air_state *out);

// ---- Checkpoints -------------------------------------------------------------------------------------------------

// These save and load the complete state as one block of memory. Loading it into a simulation created from the same
// definition continues exactly, bit for bit. A damaged or foreign block is refused with a message.
mo_status mo_sim_save(const mo_sim *sim, void **data, size_t *bytes, mo_error *err); // free with mo_free_block
mo_status mo_sim_load(mo_sim *sim, const void *data, size_t bytes, mo_error *err);
void mo_free_block(void *data);

#ifdef __cplusplus
}
#endif
#endif
