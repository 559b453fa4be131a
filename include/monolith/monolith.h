// Monolith: liquids and solids in one solve. This header is the whole public interface and its manual.
//
// A program describes what to simulate in definition structs (each from its `..._default` function, so that new
// fields never break old callers), creates a simulation, and advances it frame by frame:
//
//     mo_sim_def def = mo_sim_def_default();
//     mo_scene *scene;                                      // or fill `def` by hand
//     if (mo_scene_load("dam.lua", NULL, 0, &scene, &err) != MO_OK) die(err.text);
//     mo_sim *sim;
//     mo_sim_create(mo_scene_sim_def(scene), &sim, &err);
//     while (!mo_sim_done(sim)) mo_sim_advance(sim, NULL, NULL, &err);   // to the next frame
//
// Units are SI everywhere. y is up. The caller creates and destroys all objects; destroy(NULL) is fine. The library
// never prints and never exits: messages go to the log callback, mistakes come back as mo_status with a text in
// mo_error. Only one thread may use a simulation at a time; different simulations are independent.
#ifndef MONOLITH_H
#define MONOLITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of the project is written here and nowhere else: the build files and mo_version take it from here.
#define MO_VERSION_MAJOR 0
#define MO_VERSION_MINOR 1
#define MO_VERSION_PATCH 0
const char *mo_version(void); // "MAJOR.MINOR.PATCH" of the library that is linked

// ---- Status and errors -------------------------------------------------------------------------------------------

typedef enum mo_status {
    MO_OK = 0,
    MO_ERROR_FAILED,  // the run itself failed (not the caller's fault)
    MO_ERROR_INPUT,   // the caller's mistake: scene, mesh, parameter
    MO_ERROR_FILE,    // a file could not be read or written
    MO_ERROR_MEMORY,  // out of memory
    MO_ERROR_STOPPED, // a callback asked to stop
} mo_status;

// Every function that can fail fills one; pass NULL if the text is not wanted.
typedef struct mo_error {
    mo_status status;
    char text[1000]; // one line, names the place: "scene.lua:12: rigid 'bowl': density must be > 0, got -3"
} mo_error;

// ---- Memory and log ----------------------------------------------------------------------------------------------

// Sets one hook for every allocation of the library in this process; call it before anything else. `resize(user, p,
// bytes)` behaves like realloc, and like free for bytes = 0. NULL restores the functions of the C library.
typedef void *(*mo_resize_fn)(void *user, void *p, size_t bytes);
void mo_set_allocator(mo_resize_fn resize, void *user);
int64_t mo_memory_in_use(void); // bytes allocated now
int64_t mo_memory_peak(void);   // largest value of the above since the last reset
void mo_memory_reset_peak(void);

typedef enum mo_log_level { MO_LOG_DEBUG, MO_LOG_INFO, MO_LOG_WARNING } mo_log_level;
typedef void (*mo_log_fn)(void *user, mo_log_level level, const char *text);

// ---- Vectors -----------------------------------------------------------------------------------------------------

typedef struct mo_vec3 {
    double x, y, z;
} mo_vec3;
typedef struct mo_quat {
    double w, x, y, z;
} mo_quat; // unit quaternion
typedef struct mo_pose {
    mo_vec3 position;
    mo_quat rotation;
} mo_pose;
typedef struct mo_box3 {
    mo_vec3 lo, hi;
} mo_box3;

// ---- Shapes: signed distances, negative inside ----------------------------------------------------------------------

// Shapes are immutable and reference counted: constructors return a new reference (NULL = out of memory), operations
// keep a reference to their operands. Shapes are centred at the origin, y up. Lengths are in metres, all > 0.
typedef struct mo_shape mo_shape;

mo_shape *mo_shape_sphere(double radius);
mo_shape *mo_shape_box(mo_vec3 size);                      // full edge lengths
mo_shape *mo_shape_capsule(double radius, double height);  // height of the whole capsule, caps included, along y
mo_shape *mo_shape_cylinder(double radius, double height); // axis y
mo_shape *mo_shape_cone(double radius, double height);     // base at -height/2, tip at +height/2
mo_shape *mo_shape_torus(double major, double minor);      // axis y
mo_shape *mo_shape_plane(mo_vec3 normal, double offset);   // half space dot(normal, x) < offset
mo_shape *mo_shape_bowl(double radius, double thickness);  // lower half shell, outer radius, open upwards
mo_shape *mo_shape_hollow_sphere(double radius, double thickness); // outer radius
mo_shape *mo_shape_rabbit(double height); // smooth union of ellipsoids; stands on y = -height/2
// Makes a sampled signed distance of a closed triangle mesh, from a file that Assimp reads. `resolution` is the number
// of samples along the longest edge (0: 128). Open or badly oriented meshes are refused; the message counts the edges
// that are wrong.
mo_status mo_shape_mesh_file(const char *path, int32_t resolution, mo_shape **out, mo_error *err);

mo_shape *mo_shape_move(const mo_shape *s, mo_vec3 by);
mo_shape *mo_shape_rotate(const mo_shape *s, mo_vec3 axis, double degrees);
mo_shape *mo_shape_scale(const mo_shape *s, double factor);
mo_shape *mo_shape_shell(const mo_shape *s, double thickness); // the wall of that thickness inside the surface of s
mo_shape *mo_shape_union(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_difference(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_intersect(const mo_shape *a, const mo_shape *b);
mo_shape *mo_shape_smooth_union(const mo_shape *a, const mo_shape *b, double radius);

const mo_shape *mo_shape_retain(const mo_shape *s);
void mo_shape_release(const mo_shape *s);
double mo_shape_distance(const mo_shape *s, mo_vec3 p); // < 0 inside; |gradient| <= 1
mo_box3 mo_shape_bounds(const mo_shape *s);             // encloses the inside; infinite for half spaces

// ---- Triangle meshes ---------------------------------------------------------------------------------------------

typedef struct mo_mesh {
    int32_t vertex_count, triangle_count;
    float *position;   // [3 * vertex_count]
    float *normal;     // [3 * vertex_count], unit, outwards; or NULL
    int32_t *triangle; // [3 * triangle_count], counter-clockwise seen from outside
    float *velocity;   // [3 * vertex_count], m/s, of what moves there; or NULL
} mo_mesh;
void mo_mesh_destroy(mo_mesh *mesh); // frees the arrays, not the struct
// Makes the surface of a shape by marching cubes, with `resolution` cells along the longest edge of its bounds.
mo_status mo_shape_to_mesh(const mo_shape *s, int32_t resolution, mo_mesh *out, mo_error *err);

// ---- Sheets: open surfaces without thickness ---------------------------------------------------------------------

// Thin shells are made of sheets. A sheet may have borders (an edge of one triangle) and junctions (an edge of three or
// more). Triangles need not be turned alike. In two dimensions a sheet is a curve, swept along z beyond the one layer
// of cells.
typedef struct mo_sheet {
    int32_t vertices, triangles;
    double (*position)[3];  // [vertices] m
    int32_t (*triangle)[3]; // [triangles]
} mo_sheet;
void mo_sheet_destroy(mo_sheet *s); // frees the arrays, not the struct

// The makers give edges of about `edge` m and not above 1.5 of it. MO_ERROR_INPUT: a number is not above 0, or there
// would be more than 2 million triangles.
// Makes a plate in the plane y = 0, centred.
mo_status mo_sheet_plate(double size_x, double size_z, double edge, mo_sheet *out, mo_error *err);
// Makes the surface that a line through `count` points (r, y), r >= 0, sweeps when it is turned about the y axis.
mo_status mo_sheet_revolve(int32_t count, const double (*point)[2], double edge, mo_sheet *out, mo_error *err);
mo_status mo_sheet_disk(double radius, double edge, mo_sheet *out, mo_error *err);                // in y = 0
mo_status mo_sheet_tube(double radius, double height, double edge, mo_sheet *out, mo_error *err); // about y, centred
mo_status mo_sheet_hemisphere(double radius, double edge, mo_sheet *out, mo_error *err);         // a bowl, rim in y = 0
mo_status mo_sheet_cup(double radius, double height, double edge, mo_sheet *out, mo_error *err); // its bottom in y = 0
// Makes a ribbon that winds about the y axis and rises by `pitch` per turn; from the radius inwards it is `width`
// broad.
mo_status mo_sheet_helix(double radius, double pitch, double turns, double width, double edge, mo_sheet *out,
                         mo_error *err);
// Sweeps a line through `count` points (x, y) from z = -depth to z = depth: for two dimensions. Its triangles are as
// long as that, and only its own edges are divided.
mo_status mo_sheet_curve(int32_t count, const double (*point)[2], double edge, double depth, mo_sheet *out,
                         mo_error *err);
// Reads the triangles of a file. Equal vertices become one, and edges above `edge` are halved until none is left.
mo_status mo_sheet_read(const char *path, double edge, mo_sheet *out, mo_error *err);

mo_status mo_sheet_copy(const mo_sheet *s, mo_sheet *out, mo_error *err);
void mo_sheet_move(mo_sheet *s, mo_vec3 by);
void mo_sheet_rotate(mo_sheet *s, mo_vec3 axis, double radians);
void mo_sheet_scale(mo_sheet *s, mo_vec3 by);
// Makes one sheet of both. Vertices at most `tolerance` apart become one, and triangles that lose a corner are left
// out.
mo_status mo_sheet_weld(const mo_sheet *a, const mo_sheet *b, double tolerance, mo_sheet *out, mo_error *err);
// The same triangles with normals, for pictures. A vertex where the sheet is bent by more than 35 degrees exists
// several times.
mo_status mo_sheet_to_mesh(const mo_sheet *s, mo_mesh *out, mo_error *err);

// ---- Simplex meshes ----------------------------------------------------------------------------------------------

// Tetrahedra, or triangles in two dimensions: what elastic bodies are made of. Neighbours share whole faces.
typedef struct mo_tets {
    int32_t dimension; // 3: tetrahedra; 2: triangles, z = 0 everywhere
    int32_t vertex_count, element_count;
    double *position; // [3 * vertex_count] m
    int32_t *element; // [(dimension + 1) * element_count] vertices; every element has positive volume
} mo_tets;
// Fills a shape (2D: its section at z = 0) with elements whose edges are about `element` long, at most 200000 vertices.
// Boxes, also turned ones, get layers of cells and keep their planes. All other shapes are filled by isosurface
// stuffing, which rounds sharp edges off; the angles between faces are within 10.7 .. 164.8 degrees (2D: 15 .. 120). A
// size of elements that does not suit the shape is an error, whose text names one that does.
mo_status mo_tets_from_shape(const mo_shape *shape, double element, bool two_dimensional, mo_tets *out, mo_error *err);
// Reads a mesh from a text file: Medit (.mesh), Gmsh (.msh, 2.2 and 4.1), VTK (.vtk, legacy, unstructured grid), TetGen
// and Triangle (.node and .ele; either may be named). Tetrahedra, or triangles at z = 0 if there are none. A mesh that
// is inside out is reversed; single inverted or flat elements are refused, and the message names file and line.
mo_status mo_tets_read(const char *path, mo_tets *out, mo_error *err);
void mo_tets_destroy(mo_tets *tets); // frees the arrays, not the struct
typedef struct mo_tets_quality {
    double volume;                        // m^3, 2D: m^2
    double smallest_angle, largest_angle; // degrees, between faces; 2D: between edges
    double shortest_altitude;             // m, of a vertex above the opposite face
    double shortest_edge, longest_edge;   // m
    double flattest;                      // the least altitude in parts of the longest edge of its element
    double volume_error;                  // part of the shape's volume; NAN where that is not known
    int32_t pieces;                       // parts that no vertex joins; thin parts of a shape may break off
    int32_t inner;                        // vertices that are not on the surface; 0: it is one element thick
} mo_tets_quality;
// Measures a mesh; shape: the shape from which it was made, or NULL. The volume of shapes in 2D is not known here.
mo_status mo_tets_measure(const mo_tets *t, const mo_shape *shape, mo_tets_quality *out, mo_error *err);

// ---- What to simulate --------------------------------------------------------------------------------------------

// MO_WALL_WIND: a wall of the domain in scenes with air, through which the wind blows; nothing else passes it.
typedef enum mo_wall { MO_WALL_SLIP, MO_WALL_NO_SLIP, MO_WALL_OPEN, MO_WALL_WIND } mo_wall;
enum { MO_XMIN, MO_XMAX, MO_YMIN, MO_YMAX, MO_ZMIN, MO_ZMAX };

// The box [0, size]. A depth (size.z) of 0 means two dimensions: one cell thick, slip walls in z.
typedef struct mo_domain_def {
    mo_vec3 size;                 // m
    int32_t cells;                // along the longest edge, 4..4096
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

// Shells: sheets that are fixed or follow a script. They separate the liquid on their two sides although they have no
// thickness.
typedef struct mo_shell_def {
    const char *name;
    const mo_sheet *sheet; // in the shell's own frame; copied
    mo_motion_fn motion;   // NULL: fixed, at `pose`
    void *user;
    mo_pose pose;     // of fixed ones, default identity
    mo_wall wall;     // for viscous liquids: MO_WALL_NO_SLIP (default) or MO_WALL_SLIP
    double thickness; // m, the distance that collisions keep: 0.01..0.5 cells; default 0 = 0.05 cells
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

// Cloth: sheets that stretch and bend as thin shells do. Liquid and air do not feel cloth yet, so a simulation with
// cloth has neither.
typedef struct mo_cord_def { // pulls when it is longer than at rest, and never pushes
    mo_vec3 from;            // m, at the start: the vertex of the cloth that is nearest holds this end
    mo_vec3 to;              // m: the other end stands still there
    double length;           // m at rest, > 0; default 0: as long as it is at the start
    double stretch;          // N, > 0, default 1000: force per relative extension
} mo_cord_def;

typedef struct mo_attachment_def { // vertices that go with a solid
    const char *solid;             // the name of a fixed or scripted one
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
    const mo_pin_def *pins;
    int32_t pin_count;
    const mo_attachment_def *attached;
    int32_t attached_count;
    const mo_cord_def *cords;
    int32_t cord_count;
    double friction; // Coulomb's coefficient, >= 0, default 0.3; of a pair the geometric mean
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
    char form[12]; // how it was solved last: joint, contacts, bodies, viscous, pressure, applied, dual (docs/math.md)
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
// Estimates the bytes that mo_sim_create and a step would use, without creating anything.
mo_status mo_sim_estimate(const mo_sim_def *def, int64_t *particles, int64_t *bytes, mo_error *err);

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

// ---- Scenes ------------------------------------------------------------------------------------------------------

// Loads a Lua scene file (docs/scene.md). `overrides` are "key=value" strings such as "solver.route=paper".
typedef struct mo_scene mo_scene;
mo_status mo_scene_load(const char *path, const char *const *overrides, int32_t override_count, mo_scene **out,
                        mo_error *err);
void mo_scene_destroy(mo_scene *scene); // after the simulation that uses it
const mo_sim_def *mo_scene_sim_def(const mo_scene *scene);
mo_sim_def *mo_scene_sim_def_mutable(mo_scene *scene); // to set threads and the log
const mo_look_def *mo_scene_look(const mo_scene *scene);
const char *mo_scene_text(const mo_scene *scene); // the file's text

// ---- Pictures ----------------------------------------------------------------------------------------------------

typedef enum mo_particle_color { MO_COLOR_SPEED, MO_COLOR_HEIGHT, MO_COLOR_VISCOSITY } mo_particle_color;
typedef enum mo_video { MO_VIDEO_NONE, MO_VIDEO_MP4, MO_VIDEO_APNG } mo_video;

typedef struct mo_render_options {
    int32_t first, last, every; // frames, default 0, INT32_MAX, 1; those missing on disk are skipped
    int32_t width, height;      // pixels, 16..16384; default 960 x 540
    int32_t samples;            // most paths per pixel, 1..65536; default 64. Quiet pixels take fewer
    int32_t threads;            // 0 = all cores; never changes the pictures
    const char *output;         // directory; NULL: DIR/images
    bool particles;             // spheres instead of the surface
    mo_particle_color color;    // of particles; default speed. Viscosity on a logarithmic scale
    bool stress;                // elastic bodies are coloured by their von Mises stress, one scale for all frames
    bool camera;                // eye, target and fov replace the scene's
    mo_vec3 eye, target;
    double fov;
    bool video; // also a video: H.264 in video.mp4 by the command ffmpeg if there is one, else video.png (animated PNG)
} mo_render_options;
mo_render_options mo_render_options_default(void);

typedef struct mo_render_progress {
    int32_t frame;       // number of the frame just done or skipped
    int32_t done, total; // frames
    const char *path;    // of its picture; NULL: skipped
    const char *note;    // why it was skipped, or another message; or NULL
    double cpu_seconds;  // of this picture
    mo_video video;      // set once, at the end, when a video was written to `path`
} mo_render_progress;
// The callback returns false to stop (MO_ERROR_STOPPED).
typedef bool (*mo_render_fn)(void *user, const mo_render_progress *progress);

// Renders the frames of a run directory (docs/render.md) as PNG files frame_00042.png. The pictures are the same, bit
// for bit, for any number of threads.
mo_status mo_render_run(const char *directory, const mo_render_options *options, mo_render_fn progress, void *user,
                        mo_error *err);

// ---- Viewing -----------------------------------------------------------------------------------------------------

// Shows a run in a browser (docs/view.md): served from 127.0.0.1, or exported as one page that holds the data.
typedef struct mo_view_options {
    int32_t port;             // 1..65535; default 0: the first free one from 8123 on
    int32_t every;            // of an exported page: each k-th frame (and the last), default 1
    const char *page;         // file of the viewer's page; default NULL: as installed, seen from the running program
    bool (*stop)(void *user); // called about ten times a second; true ends the serving; NULL: it never ends
} mo_view_options;
mo_view_options mo_view_options_default(void);

typedef void (*mo_view_ready_fn)(void *user, const char *url); // the server answers from now on, at this address

// Serves a run directory until `stop` says so. The page follows a run that is still computing. Returns MO_ERROR_INPUT
// if the port is in use, and MO_ERROR_FAILED if the library was built without libmicrohttpd.
mo_status mo_view_serve(const char *directory, const mo_view_options *options, mo_view_ready_fn ready, void *user,
                        mo_error *err);
// Writes the page with the frames that exist; positions are rounded to 1/65535 of their bounding box, and more than
// 50000 particles are thinned out.
mo_status mo_view_export(const char *directory, const char *path, const mo_view_options *options, mo_error *err);

// ---- Reports -----------------------------------------------------------------------------------------------------

// Writes one HTML page of a run, or of up to 16 runs side by side (docs/report.md): tables, plots over time, pictures
// if there are any. The page needs no other file. If `path` is NULL, it is report.html in the first directory. A run
// that is still computing is shown as far as it came; one without a step is MO_ERROR_INPUT.
mo_status mo_report_write(const char *const *dirs, int32_t count, const char *path, mo_error *err);

// ---- Benchmarks --------------------------------------------------------------------------------------------------

// Runs a benchmark ("pressure", "stokes", "contact", "step", "scaling", "triad", "kernels", "elastic", "smoke"); every
// measurement is one JSON line given to `line`.
typedef void (*mo_line_fn)(void *user, const char *line);
typedef struct mo_bench_options {
    int32_t min_cells, max_cells, repeats, threads;
    int32_t seconds;       // "stokes", "contact": most seconds of one solve, about; one that needs more reports "time"
    int32_t viscosity;     // "stokes": the only one, Pa s
    int32_t bodies;        // "stokes": light balls in the liquid, at most 3
    const char *scenes;    // "contact": directory of the scenes, default "scenes"
    const char *export_to; // "stokes": directory for the matrices, right-hand sides and solutions (Matrix Market)
} mo_bench_options;        // 0 = default
mo_status mo_bench_run(const char *name, const mo_bench_options *options, mo_line_fn line, void *user, mo_error *err);

#ifdef __cplusplus
}
#endif
#endif
