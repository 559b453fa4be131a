// Part of monolith.h: what to simulate, and the look of pictures.
#ifndef MONOLITH_DEFINITIONS_H
#define MONOLITH_DEFINITIONS_H

#include "monolith/shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- What to simulate --------------------------------------------------------------------------------------------

// MO_WALL_WIND: a wall of the domain in scenes with air, through which the wind blows; nothing else passes it.
typedef enum mo_wall { MO_WALL_SLIP, MO_WALL_NO_SLIP, MO_WALL_OPEN, MO_WALL_WIND } mo_wall;
enum { MO_XMIN, MO_XMAX, MO_YMIN, MO_YMAX, MO_ZMIN, MO_ZMAX };

// The box [0, size]. A depth (size.z) of 0 means two dimensions: one cell thick, slip walls in z.
typedef struct mo_domain_def {
    mo_vec3 size;                 // m
    int32_t cells;                // along the longest edge, 4..4096; a cube ends at 1278 (2^31)
    mo_wall walls[6];             // indexed by MO_XMIN...; default slip
    bool contact;                 // bodies collide with the closed walls; default true
    double friction, restitution; // of closed walls against rigid bodies; defaults 0.3 and 0
} mo_domain_def;

typedef struct mo_time_def {
    double fps;      // frames per second of output, default 50
    double seconds;  // length of the run, default 1
    double cfl;      // cells a particle may cross in a step, default 3, at most 3.5
    double max_step; // s, default 0 = one frame
} mo_time_def;

typedef enum mo_route { MO_ROUTE_FAST, MO_ROUTE_PAPER } mo_route;
typedef enum mo_preconditioner {
    MO_PRECONDITIONER_SSOR,
    MO_PRECONDITIONER_IC0,
    MO_PRECONDITIONER_JACOBI
} mo_preconditioner;

typedef enum mo_friction {
    MO_FRICTION_JOINT,    // bounds from the last round's contact forces, friction and contact in one solve
    MO_FRICTION_STAGGERED // friction alone, then the rest with friction fixed, as the papers
} mo_friction;
typedef enum mo_expansion {    // what MPRGP does when a step meets a bound
    MO_EXPANSION_PROJECTED_CG, // the whole conjugate gradient step, projected (Kruzik et al.): few, long expansions;
                               // one that does not lead downwards is taken back and replaced by a fixed one
    MO_EXPANSION_FIXED,        // a gradient step of fixed length, as the papers
} mo_expansion;

typedef enum mo_coupling { // where pressure and stress act on elastic bodies
    MO_COUPLING_FACES,     // on their parts of cells' faces, as for rigid bodies: rotations are exact
    MO_COUPLING_POLYGONS   // on the pieces of their surface in cells, as in ElastoMonolith: translations are exact
} mo_coupling;

typedef enum mo_shell_form { // how fluid meets shells
    MO_SHELLS_CUT,           // shells cut cells and faces: a pressure for each side, a velocity for each piece
    MO_SHELLS_PAPER          // whole cells, ghosts and multipliers of slip, as Robinson-Mosher et al. (2009)
} mo_shell_form;

typedef enum mo_touching { // which solids touch
    MO_TOUCHING_AHEAD,     // those that meet in the step: they approach up to touching
    MO_TOUCHING_OVERLAP    // those that overlap already, as Monolith: they approach no further, and what meets bounces
} mo_touching;

typedef enum mo_decoupled_stress { // in schemes that solve viscosity without pressure
    MO_DECOUPLED_FULL,             // all diagonal stresses, as Batty and Bridson (2008)
    MO_DECOUPLED_REDUCED           // stress without trace, as Monolith: what the unified schemes have
} mo_decoupled_stress;

typedef struct mo_solver_def {
    char scheme[32]; // "" = all blocks of the scene in one solve: "P", "PV-unified", "PC-unified", "PVC-unified", with
                     // elastic bodies "PEC-unified" or "PVEC-unified". The others, such as "P-V-P", "P-C",
                     // "PC-iterative", are for comparisons (docs/scene.md)
    mo_route route;  // default fast
    char method[16]; // of route paper for elastic bodies (docs/scene.md); "" = "ldlt", ElastoMonolith's
    mo_preconditioner preconditioner; // of route paper, default SSOR
    double tolerance;                 // relative residual in the max norm, default 1e-6
    int32_t max_iterations;           // default 10000
    bool raw_weights; // volume weights of viscous liquids as they are; default false: at least 0.01 where not zero
    int32_t rounds;   // most solves per step with friction or viscosity that depends on the flow, 1..100, default 2
    mo_friction friction;
    bool cone; // friction of a contact is bounded as a vector, |z| <= mu n (Coulomb); default false: on each of two
               // tangents, the first where the contact slides. Route fast only
    mo_expansion expansion;
    mo_coupling coupling; // default faces
    mo_shell_form
        shells;      // default cut; paper only for fixed and scripted shells in air, which then advects as papers do
    double softness; // of contacts on elastic bodies, relative to how far their vertices yield: 1e-10..1e-4, default
                     // 1e-6
    mo_touching contact;  // default ahead; overlap is for comparisons, and not for cloth
    double margin;        // cells: tolerated overlap of rigid bodies, 0..1, default 0.1
    double stabilisation; // part of a deeper overlap that contacts take back in a step, 0..1, default 0.2
    mo_decoupled_stress decoupled_stress; // default full
    bool verify; // every step is solved again by route paper, to a smaller tolerance, and mo_stats has the difference;
                 // the run itself stays the same, bit for bit. Not with cone. Default false
    bool strict; // a step that raises a warning (below) is an error; default false
} mo_solver_def;

// These give the initial velocity at a point, and the pose of a scripted solid at a time. To stop with an error they
// return anything but MO_OK, with the text in err.
typedef mo_status (*mo_velocity_fn)(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err);
typedef mo_status (*mo_motion_fn)(void *user, double t, mo_pose *pose, mo_error *err);
// Gives the viscosity (Pa s, >= 0) at a point and time.
typedef mo_status (*mo_viscosity_fn)(void *user, mo_vec3 x, double t, double *viscosity, mo_error *err);

// Herschel-Bulkley liquids: the viscosity depends on the shear rate r = sqrt(2 D:D), D the rate of strain,
//     eta = consistency r^(flow_index - 1) + yield_stress / r,   r not taken below `threshold`.
// flow_index < 1 thins, > 1 thickens; with a yield stress the liquid hardly flows where the stress is below it.
typedef struct mo_rheology {
    double consistency;  // Pa s^n, >= 0; 0 and no yield stress: the liquid is Newtonian, of its `viscosity`
    double flow_index;   // n > 0, default 1
    double yield_stress; // Pa, >= 0, default 0
    double threshold;    // 1/s, > 0; default 0 = not given, allowed only for flow_index 1 without yield stress
} mo_rheology;

typedef struct mo_liquid_def {
    const mo_shape *shape;
    double density;   // kg/m^3, > 0, default 1000; all liquids of a simulation share one density
    mo_vec3 velocity; // m/s, used when velocity_fn is NULL
    mo_velocity_fn velocity_fn;
    double viscosity;             // Pa s, >= 0, default 0; used when viscosity_fn is NULL
    mo_viscosity_fn viscosity_fn; // called when a particle is made, which carries the value along
    bool viscosity_varies;        // viscosity_fn is called again in every step, at the particle's present place
    mo_rheology rheology;         // default: Newtonian
    double surface_tension;       // N/m, >= 0, default 0; all liquids and emitters share one
    void *user;
} mo_liquid_def;

typedef enum mo_material { MO_MATERIAL_DIFFUSE, MO_MATERIAL_GLASS, MO_MATERIAL_METAL, MO_MATERIAL_COAT } mo_material;
const char *mo_material_name(mo_material material); // "diffuse", "glass", "metal", "coat" (diffuse under clear coat)

typedef struct mo_solid_look { // in pictures only
    mo_vec3 color;             // linear red, green, blue, 0..1; default (0.70, 0.68, 0.65)
    mo_material material;      // default diffuse
    bool visible;              // default true
} mo_solid_look;

typedef struct mo_solid_def {
    const char *name;
    const mo_shape *shape; // in the body frame
    mo_motion_fn motion;   // NULL: fixed, at the identity pose
    bool rigid;            // moved by liquid, contacts and gravity; then no motion, and the shape is where it starts
    double density;        // kg/m^3, > 0, of rigid ones, default 1000
    mo_vec3 velocity, angular_velocity; // m/s of the centre of mass, 1/s: of rigid ones at the start
    double friction;                    // Coulomb's coefficient, >= 0, default 0.3; of a pair the geometric mean
    double restitution;                 // 0 .. 1, default 0; of a pair the larger
    void *user;
    mo_wall wall;             // for viscous liquids: MO_WALL_NO_SLIP (default) or MO_WALL_SLIP
    mo_vec3 surface_velocity; // m/s: the surface itself runs along, like a belt; its part into the solid does not count
    mo_solid_look look;
} mo_solid_def;

// Shells: sheets that are fixed, follow a script, or are rigid bodies. They separate the liquid on their two sides
// although they have no thickness.
typedef struct mo_shell_def {
    const char *name;
    const mo_sheet *sheet; // in the shell's own frame; copied
    mo_motion_fn motion;   // NULL: fixed, at `pose`
    void *user;
    mo_pose pose;   // of fixed ones, and of rigid ones at the start; default identity
    double density; // kg/m^2, > 0: it is a rigid body, moved by liquid, contacts and gravity; default 0: it is not
    mo_vec3 velocity, angular_velocity; // m/s of the centre of mass, 1/s: of rigid ones at the start
    double friction, restitution;       // of contacts, as those of a mo_solid_def
    mo_wall wall;                       // for viscous liquids: MO_WALL_NO_SLIP (default) or MO_WALL_SLIP
    double thickness;                   // m, of contacts with other solids: 0.01..0.5 cells; default 0 = 0.05 cells
    mo_solid_look look;
} mo_shell_def;

// Elastic bodies: solids that deform. The body is its mesh, whose volume gives mass and buoyancy.
typedef enum mo_elastic_model {
    MO_NEO_HOOKEAN,        // stable Neo-Hookean: finite where elements are inverted, and drives them back
    MO_ST_VENANT_KIRCHHOFF // for published benchmarks: it collapses under compression
} mo_elastic_model;

// Says whether a point of a body at rest belongs to a region.
typedef mo_status (*mo_region_fn)(void *user, mo_vec3 x, bool *inside, mo_error *err);

typedef struct mo_pin_def { // vertices that keep their place, or follow a script
    const mo_shape *where;  // those inside it at rest (2D: its section at z = 0); NULL: where_fn decides
    mo_region_fn where_fn;
    mo_motion_fn motion; // the pose that takes places at rest to their places at a time; NULL: they stay
    void *user;
} mo_pin_def;

typedef struct mo_elastic_def {
    const char *name;
    const mo_shape *shape; // filled with elements (mo_tets_from_shape); or
    const mo_tets *mesh;   // given; exactly one of the two. Copied
    double element;        // m, edge of elements in `shape`; default 0 = a cell, coarser above 5000 vertices
    double density;        // kg/m^3 at rest, > 0, default 1000
    double young;          // Pa, > 0, default 1e5
    double poisson;        // 0 .. 0.499, default 0.45
    mo_elastic_model model;
    double viscosity;                   // Pa s, >= 0, default 0: damps strains, not rotations (Kelvin and Voigt)
    double drag;                        // 1/s, >= 0, default 0: force -drag m v, for reaching rest
    mo_vec3 velocity, angular_velocity; // m/s, 1/s about the centre of mass: at the start
    const mo_pin_def *pins;
    int32_t pin_count;
    double friction;   // Coulomb's coefficient, >= 0, default 0.3; of a pair the geometric mean
    mo_wall wall;      // for viscous liquids: MO_WALL_NO_SLIP (default) or MO_WALL_SLIP
    bool self_contact; // its parts collide with each other, default false
    mo_solid_look look;
} mo_elastic_def;

// Cloth: sheets that stretch and bend as thin shells do. Inviscid liquid and air press on cloth and do not pass it.
typedef struct mo_cord_def { // pulls when it is longer than at rest, and never pushes
    mo_vec3 from;            // m, at the start: the vertex of the cloth that is nearest holds this end
    mo_vec3 to;              // m, at the start: the other end
    const char *solid; // the name of the fixed, scripted or rigid solid that `to` moves with; NULL: it stands still
    double length;     // m at rest, > 0; default 0: as long as it is at the start
    double stretch;    // N, > 0, default 1000: force per relative extension
} mo_cord_def;

typedef struct mo_attachment_def { // vertices that go with a solid
    const char *solid;             // the name of a fixed, scripted or rigid one
    const mo_shape *where;         // vertices inside it at rest; NULL: where_fn decides
    mo_region_fn where_fn;
    void *user;
} mo_attachment_def;

typedef struct mo_cloth_def {
    const char *name;
    const mo_sheet *sheet; // at rest, where it is at the start; copied
    double density;        // kg/m^2, > 0, default 0.2
    double stretch;        // N/m, > 0, default 2000: E t/(1 - poisson^2)
    double bend;           // N m, >= 0, default 1e-5: E t^3/12/(1 - poisson^2)
    double poisson;        // 0 .. 0.49, default 0.3
    double damping;        // s, >= 0, default 0: stresses act on strain + damping * its rate (Kelvin and Voigt)
    double drag;           // 1/s, >= 0, default 0: force -drag m v
    double thickness;      // m, > 0: the distance that contacts keep between two layers; default 0 = 0.05 cells
    mo_vec3 velocity, angular_velocity; // m/s, 1/s about the centre of mass: at the start
    mo_vec3 wind; // m/s, default 0; in simulations without air: presses with 0.6 kg/m^3 s |s| on what is dry, s =
                  // n.(wind - V)
    const mo_pin_def *pins;
    int32_t pin_count;
    const mo_attachment_def *attached;
    int32_t attached_count;
    const mo_cord_def *cords;
    int32_t cord_count;
    double friction; // Coulomb's coefficient, >= 0, default 0.3; of a pair the geometric mean
    mo_wall wall;    // MO_WALL_SLIP or MO_WALL_NO_SLIP (default): whether viscous liquid sticks to it
    mo_solid_look look;
} mo_cloth_def;

typedef struct mo_emitter_def {
    const mo_shape *shape; // liquid inside it has the emitter's velocity; new liquid enters at its upstream side
    mo_vec3 velocity;      // m/s, not zero
    double density;        // as the liquids', default 1000
    double start, seconds; // emits from start for that long; defaults 0, infinity
    double viscosity;      // these five as of mo_liquid_def
    mo_viscosity_fn viscosity_fn;
    bool viscosity_varies;
    mo_rheology rheology;
    double surface_tension;
    void *user;
} mo_emitter_def;

// Air instead of liquid: an incompressible gas that fills the domain, with soot and heat in it, which move it by their
// weight. It flows past fixed and scripted solids. Beyond open walls, and where nothing happens, it moves with the
// wind.
typedef enum mo_advection {
    MO_ADVECTION_SECOND_ORDER,
    MO_ADVECTION_PAPER // semi-Lagrangian, of first order
} mo_advection;

typedef struct mo_air_def {
    double density;     // kg/m^3, > 0, default 1.2
    double temperature; // K, > 0, default 293
    mo_vec3 wind;       // m/s, default 0
    double cooling;     // 1/s, >= 0, default 0: the rate at which heat is lost
    double vorticity;   // 1/s, >= 0, default 0: strength of vorticity confinement, which makes small swirls livelier
    mo_advection advection; // of velocity
    int32_t margin; // cells that are simulated round places where something happens, 4..64, default 8; closed boxes are
                    // simulated whole
} mo_air_def;

typedef struct mo_smoke_def { // a source of smoke, which fills its shape
    const mo_shape *shape;
    double density;        // kg/m^3 of soot, >= 0, default 1e-3
    double temperature;    // K; default 0 = the air's
    bool moves;            // the air in it has `velocity`; default false: the source does not change the air's motion
    mo_vec3 velocity;      // m/s
    double start, seconds; // acts from start for that long; default 0, 0: fills its shape once
} mo_smoke_def;

typedef enum mo_correction { // of particles' positions at the end of a step (docs/volume.md)
    MO_CORRECTION_NONE,      // the surface still keeps the volume of its particles
    MO_CORRECTION_GLOBAL,    // a solve keeps density even and volume true
    MO_CORRECTION_LOCAL // crowded neighbours push each other apart and the surface keeps no volume, as the papers: for
                        // comparisons; not with particles_band
} mo_correction;

typedef struct mo_sim_def {
    mo_domain_def domain;
    mo_vec3 gravity; // m/s^2, default (0, -9.81, 0)
    mo_time_def time;
    mo_solver_def solver;
    const mo_liquid_def *liquids;
    int32_t liquid_count;
    const mo_solid_def *solids;
    int32_t solid_count;
    const mo_shell_def *shells;
    int32_t shell_count;
    const mo_elastic_def *elastics;
    int32_t elastic_count;
    const mo_cloth_def *cloths;
    int32_t cloth_count;
    const mo_emitter_def *emitters;
    int32_t emitter_count;
    const mo_air_def *air; // instead of liquids and emitters; default NULL: none
    const mo_smoke_def *smokes;
    int32_t smoke_count;
    int32_t particles_per_axis; // of a cell, default 2: 8 per cell in 3D, 4 in 2D
    // Cells below the surface that keep their particles: deeper liquid has none, the grid carries its velocity. 2..4;
    // default 0: all liquid has particles. All liquid must have one constant viscosity, or none.
    int32_t particles_band;
    int32_t surface; // how much finer than the grid the written surface of the liquid is, 1..4, default 2; 0: none is
                     // written
    mo_correction correct_volume; // of particles' positions, default global
    int32_t threads;              // 0 = as many cores as pay; never changes the result
    mo_log_fn log;
    void *log_user;
} mo_sim_def;

mo_domain_def mo_domain_def_default(void);
mo_liquid_def mo_liquid_def_default(void);
mo_solid_def mo_solid_def_default(void);
mo_shell_def mo_shell_def_default(void);
mo_elastic_def mo_elastic_def_default(void);
mo_cloth_def mo_cloth_def_default(void);
mo_cord_def mo_cord_def_default(void);
mo_emitter_def mo_emitter_def_default(void);
mo_air_def mo_air_def_default(void);
mo_smoke_def mo_smoke_def_default(void);
mo_sim_def mo_sim_def_default(void);

// ---- The look of pictures ----------------------------------------------------------------------------------------

typedef enum mo_sky { MO_SKY_DAY, MO_SKY_STUDIO, MO_SKY_DUSK, MO_SKY_WHITE } mo_sky;
const char *mo_sky_name(mo_sky sky); // "day", "studio", "dusk", "white" (the same from everywhere, no sun)

// Camera, light and colours; never changes what is simulated. Colours are linear red, green, blue, 0..1.
typedef struct mo_look_def {
    bool camera;          // eye, target and fov are given; default false: a view of the whole domain
    mo_vec3 eye, target;  // m
    double fov;           // degrees, vertical, 1..150; default 35
    mo_sky sky;           // default day
    mo_vec3 sun;          // direction towards it, any length; default depends on the sky when (0, 0, 0)
    bool ground;          // a floor under the domain, default true
    mo_vec3 ground_color; // default (0.36, 0.34, 0.31)
    mo_vec3 liquid_color; // part of white light left after a metre of liquid, > 0; default (0.12, 0.55, 0.72)
    bool opaque;          // liquid lets no light through, liquid_color is that of its surface; default false
    mo_vec3 smoke_color;  // the part of the light that soot scatters; default (0.75, 0.75, 0.76)
    double exposure;      // factor, > 0; default 1
    bool edges;           // thin bars along the edges between closed walls, default true
} mo_look_def;
mo_look_def mo_look_def_default(void);

#ifdef __cplusplus
}
#endif
#endif
