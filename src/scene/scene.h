// A scene: the Lua state it runs in and the simulation definition it fills. Internal to src/scene.
#ifndef MO_SCENE_H
#define MO_SCENE_H

#include "scene/override.h"
#include "scene/sandbox.h"
#include "scene/sheets.h"
#include "scene/table.h"

enum { MO_SECTION_COUNT = 19 }; // domain, gravity, ... (sections.c)
enum {
    MO_SCENE_SHAPES = 100000,    // shapes a scene may make
    MO_SCENE_SHAPE_DEPTH = 1000, // operations nested in one shape: the distance recurses that deep
    MO_SCENE_SHAPE_PARTS = 10000,
    MO_SCENE_MESHES = 64,
    MO_SCENE_POINTS = 1000000, // of lines that are revolved, and of curves
    MO_SCENE_ITEMS = 10000,    // liquids, solids, elastic bodies, emitters, each
    MO_SCENE_PINS = 1000,      // of an elastic body
};

typedef enum mo_call { MO_CALL_MOTION, MO_CALL_VELOCITY, MO_CALL_VISCOSITY, MO_CALL_REGION, MO_CALL_COUNT } mo_call;
typedef struct mo_callback { // functions of one solid, pin, liquid or emitter, called at run time
    struct mo_callback *next;
    mo_scene *scene;
    char label[96]; // "moving 'board'"
    struct {
        int ref;                     // in the Lua registry
        char where[LUA_IDSIZE + 16]; // of the function
    } call[MO_CALL_COUNT];
} mo_callback;

typedef struct mo_viscous_keys { // the keys that liquids and emitters share
    double viscosity;
    mo_viscosity_fn viscosity_fn;
    bool viscosity_varies;
    mo_rheology rheology;
    double surface_tension;
} mo_viscous_keys;

typedef struct mo_flat { // a value that must be 0 in two dimensions
    char what[200];      // "scene.lua:12: gravity: z"
    double z;
} mo_flat;

typedef struct mo_elastic_parts { // what an elastic body's definition points to
    mo_pin_def *pins;
    mo_tets mesh;
    char what[200]; // "scene.lua:12: elastic 'beam'"
} mo_elastic_parts;

typedef struct mo_shell_parts { // what a shell's definition points to
    const mo_scene_sheet *recipe;
    mo_sheet sheet;
    char what[200]; // "scene.lua:12: shell 'cup'"
} mo_shell_parts;

typedef struct mo_cloth_parts { // what a cloth's definition points to
    const mo_scene_sheet *recipe;
    mo_sheet sheet;
    mo_pin_def *pins;
    mo_attachment_def *attached;
    mo_cord_def *cords;
} mo_cloth_parts;

struct mo_scene {
    mo_sandbox box;
    mo_sim_def def;
    mo_look_def look;
    char *path, *text;
    size_t text_bytes;
    mo_overrides *overrides;
    mo_liquid_def *liquids;
    mo_solid_def *solids;
    mo_elastic_def *elastics;
    mo_elastic_parts **parts; // [elastic_count]
    mo_shell_def *shells;
    mo_shell_parts *shell_parts; // [shell_count]
    mo_cloth_def *cloths;
    mo_cloth_parts *cloth_parts; // [cloth_count]
    mo_emitter_def *emitters;
    mo_air_def air;
    mo_smoke_def *smokes;
    mo_flat *flats;
    int64_t liquid_capacity, solid_capacity, elastic_capacity, parts_capacity, emitter_capacity, flat_capacity;
    int64_t smoke_capacity, shell_capacity, shell_parts_capacity, cloth_capacity, cloth_parts_capacity;
    int32_t flat_count, shapes, meshes;
    uint64_t files_hash;    // of the files' contents so far
    mo_scene_sheet *sheets; // all that the scene made
    int64_t sheet_points, sheet_triangles;
    mo_callback *callbacks;
    int32_t calls[MO_SECTION_COUNT];                     // of each section...
    char called_from[MO_SECTION_COUNT][LUA_IDSIZE + 16]; // ...and where the first was
};

// Shapes are userdata in Lua that own one reference. mo_scene_to_shape returns NULL for anything else.
void mo_scene_add_shapes(mo_scene *scene); // the constructors and functions, into the table at the top
const mo_shape *mo_scene_to_shape(lua_State *L, int index);

// Types of values, their methods, and functions.
typedef struct mo_scene_operation {
    const char *name; // NULL: the list ends
    lua_CFunction fn; // its first upvalue is the scene
} mo_scene_operation;
void mo_scene_add_functions(mo_scene *scene, const mo_scene_operation *list); // into the table at the top
void mo_scene_add_type(mo_scene *scene, const char *name, const mo_scene_operation *methods); // pushes its metatable
// A reader for messages of a method or function, which must get lo..hi arguments.
mo_table mo_scene_start_operation(mo_scene *scene, const char *name, int lo, int hi, const char *usage);
double mo_scene_number_argument(const mo_table *r, int index, const char *what);
double mo_scene_length_argument(const mo_table *r, int index, const char *what); // > 0
mo_vec3 mo_scene_move_arguments(const mo_table *r);                              // value:move(x, y, z)
double mo_scene_turn_argument(mo_scene *scene, mo_vec3 *axis); // value:rotate{axis, degrees}: degrees, unit axis

void mo_scene_add_sections(mo_scene *scene); // domain, liquid, ... into the table at the top
// These read the sections camera{...} and look{...}, and the keys color, material, visible of a solid (look.c).
void mo_scene_read_camera(mo_scene *scene, mo_table *r);
void mo_scene_read_look(mo_scene *scene, mo_table *r);
mo_solid_look mo_scene_read_solid_look(const mo_table *r);
// Reads the keys of viscous liquids (viscous.c). A function goes into the callback *user, which is made if NULL.
mo_viscous_keys mo_scene_read_viscous(mo_scene *scene, const mo_table *r, void **user);
mo_wall mo_scene_read_wall_kind(const mo_table *r, mo_wall otherwise);
void mo_scene_read_wall(const mo_table *r, mo_solid_def *solid); // wall and surface_velocity
void mo_scene_read_elastic(mo_scene *scene, mo_table *r);        // the section elastic{...} (elastic.c)
void mo_scene_release_elastics(mo_scene *scene);
void mo_scene_read_shell(mo_scene *scene, mo_table *r); // the section shell{...} (shells.c)
void mo_scene_finish_shells(mo_scene *scene);           // makes their sheets; raises errors
void mo_scene_release_shells(mo_scene *scene);
void mo_scene_read_cloth(mo_scene *scene, mo_table *r); // the section cloth{...} (cloth.c)
void mo_scene_finish_cloths(mo_scene *scene);           // makes their sheets; raises errors
void mo_scene_release_cloths(mo_scene *scene);

// What holds vertices (pins.c). Reads the list of tables under a key: leaves it at the top of the stack and returns the
// number of its entries; 0: nothing is left there. entry: what an entry looks like, for messages.
int32_t mo_scene_read_list(const mo_table *r, const char *key, const char *entry, int32_t most);
// Opens entry `number` of the list at the top, whose table it leaves above it; `what` is for messages.
mo_table mo_scene_open_entry(const mo_table *r, const char *key, const char *what, int32_t number,
                             const char *const *keys);
// The key `where`: a shape, retained, or NULL for a function, which goes into the callback (mo_scene_region).
const mo_shape *mo_scene_read_where(const mo_table *r, mo_callback *callback);
// The key `pins`; release both in any case.
void mo_scene_read_pins(mo_scene *scene, const mo_table *r, mo_pin_def **pins, int32_t *count);
void mo_scene_release_pins(mo_pin_def *pins, int32_t count);
void mo_scene_read_air(mo_scene *scene, mo_table *r); // the sections air{...} and smoke{...} (air.c)
void mo_scene_read_smoke(mo_scene *scene, mo_table *r);

// Functions that sections share (sections.c). Makes room for one more item behind `count`; raises errors.
void *mo_scene_grow(mo_scene *scene, const mo_table *r, void **items, int64_t *capacity, int32_t count, size_t size);
// Remembers a component that must be 0 if the domain turns out to be two-dimensional.
void mo_scene_add_flat(mo_scene *scene, const mo_table *r, const char *key, double z);
const mo_shape *mo_scene_read_shape(const mo_table *r); // the key `shape`, which the table keeps
// The same; a shape without bounds is an error.
const mo_shape *mo_scene_read_bounded(const mo_table *r);
// The optional name, checked for use in file names, goes into the label of messages. NULL: none given.
const char *mo_scene_read_name(mo_table *r);
void mo_scene_read_touch(const mo_table *r, double *friction, double *restitution); // where they are given
// Returns a copy of a solid's, shell's or elastic body's name, or one made from the section's name and number
// (mo_free). A name that another of them has is an error.
char *mo_scene_body_name(mo_scene *scene, const mo_table *r, const char *name);
// Reads the key `motion`, which must be a function(t), and calls it once. The result is the user of mo_scene_motion.
mo_callback *mo_scene_read_motion(mo_scene *scene, const mo_table *r);
// Puts the folder of the scene in front of a relative path. A file that cannot be read is an error.
void mo_scene_find_file(mo_scene *scene, const mo_table *r, const char *key, const char *file, char path[4096]);

void mo_scene_finish(mo_scene *scene); // what can be checked only after the whole scene ran; raises errors

// Both raise errors. The second refers to the function at the top of the stack, and pops it.
mo_callback *mo_scene_add_callback(mo_scene *scene, const char *label);
void mo_scene_set_function(mo_callback *callback, mo_call which);
mo_status mo_scene_velocity(void *callback, mo_vec3 x, mo_vec3 *velocity, mo_error *err);
mo_status mo_scene_viscosity(void *callback, mo_vec3 x, double t, double *viscosity, mo_error *err);
mo_status mo_scene_motion(void *callback, double t, mo_pose *pose, mo_error *err);
mo_status mo_scene_region(void *callback, mo_vec3 x, bool *inside, mo_error *err);
mo_pose mo_scene_call_motion(const mo_callback *callback, double t); // inside a protected call; raises errors

// Raises an error if the scene has been loaded already: sections and shapes belong to loading.
void mo_scene_only_loading(mo_scene *scene, const char *name);

#endif
