// Monolith: liquids and solids in one solve. This header and the parts that it includes are the
// whole public interface and its manual; programs include this one alone.
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

#include "monolith/base.h"
#include "monolith/definitions.h"
#include "monolith/shapes.h"
#include "monolith/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

// The version of the project is written here and nowhere else: the build files and mo_version take it from here.
#define MO_VERSION_MAJOR 0
#define MO_VERSION_MINOR 1
#define MO_VERSION_PATCH 0
const char *mo_version(void); // "MAJOR.MINOR.PATCH" of the library that is linked
// A hash of the sources of that library, 15 characters. Runs of one build agree bit by bit, whatever compiled it.
const char *mo_build(void);

// ---- Scenes ------------------------------------------------------------------------------------------------------

// Loads a Lua scene file (docs/scene.md). `overrides` are "key=value" strings such as "solver.route=paper".
typedef struct mo_scene mo_scene;
mo_status mo_scene_load(const char *path, const char *const *overrides, int32_t override_count, mo_scene **out,
                        mo_error *err);
void mo_scene_destroy(mo_scene *scene); // after the simulation that uses it
const mo_sim_def *mo_scene_sim_def(const mo_scene *scene);
mo_sim_def *mo_scene_sim_def_mutable(mo_scene *scene); // to set threads and the log
const mo_look_def *mo_scene_look(const mo_scene *scene);
const char *mo_scene_text(const mo_scene *scene);    // the file's text
uint64_t mo_scene_files_hash(const mo_scene *scene); // of the contents of the mesh files that it read

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
