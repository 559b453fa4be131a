// Reads a run directory back: settings, frames, bodies, statistics. Only complete frames are seen, so a run that is
// still computing can be read; mo_reader_refresh looks again.
#ifndef MO_READER_H
#define MO_READER_H

#include "base/base.h"
#include "output/vdb.h"

typedef struct mo_reader mo_reader;

// Fails with a message that names the directory if it holds no run or a damaged one. Half-written lines at the end of a
// .jsonl file are ignored: they belong to a run in progress.
mo_status mo_reader_open(const char *directory, mo_reader **out, mo_error *err);
void mo_reader_close(mo_reader *r);
mo_status mo_reader_refresh(mo_reader *r, mo_error *err);

const char *mo_reader_directory(const mo_reader *r);
const char *mo_reader_settings(const mo_reader *r); // text of run.json
const char *mo_reader_status(const mo_reader *r);   // "running", "done", "failed", "interrupted"
double mo_reader_fps(const mo_reader *r);
mo_box3 mo_reader_domain(const mo_reader *r);             // in 2D one cell thick
double mo_reader_cell(const mo_reader *r);                // m
bool mo_reader_flat(const mo_reader *r);                  // two dimensions
mo_wall mo_reader_wall(const mo_reader *r, int32_t side); // MO_XMIN ...
mo_look_def mo_reader_look(const mo_reader *r);           // defaults where run.json says nothing

// Does run.json say that frames have a "surface", "particles" or "elastic" bodies? Silence is a yes.
bool mo_reader_writes(const mo_reader *r, const char *kind);

// Frames present on disk, ascending; some numbers may be missing.
int32_t mo_reader_frame_count(const mo_reader *r);
int32_t mo_reader_frame(const mo_reader *r, int32_t i);
// Data of a frame (by its number). Arrays are the caller's: mo_mesh_destroy, mo_points_destroy.
mo_status mo_reader_surface(const mo_reader *r, int32_t frame, mo_mesh *out, mo_error *err);
typedef struct mo_points {
    int64_t count;
    float *position, *velocity;            // [3 n]
    float *volume, *viscosity;             // [n]
} mo_points;                               // what the frame lacks is NULL, except the positions
void mo_points_destroy(mo_points *points); // frees the arrays, not the struct
mo_status mo_reader_particles(const mo_reader *r, int32_t frame, mo_points *out, mo_error *err);

// Air: whether the run is one of air and smoke; the density of a frame's soot (mo_vdb_destroy).
bool mo_reader_air(const mo_reader *r);
mo_status mo_reader_smoke(const mo_reader *r, int32_t frame, mo_vdb *out, mo_error *err);

int32_t mo_reader_body_count(const mo_reader *r);
const char *mo_reader_body_name(const mo_reader *r, int32_t body);
mo_status mo_reader_body_mesh(const mo_reader *r, int32_t body, mo_mesh *out, mo_error *err); // rest shape
bool mo_reader_body_shell(const mo_reader *r, int32_t body); // its mesh is open, without an inside
mo_solid_look mo_reader_body_look(const mo_reader *r, int32_t body);
bool mo_reader_body_pose(const mo_reader *r, int32_t body, int32_t frame, mo_pose *out); // false: not recorded

// Elastic bodies. The surface of a frame has the same triangles in all of them; *von_mises gets the stress at its
// vertices (Pa, mo_free), NULL if the file lacks it.
int32_t mo_reader_elastic_count(const mo_reader *r); // elastic bodies, then cloth, which has no stress
const char *mo_reader_elastic_name(const mo_reader *r, int32_t elastic);
mo_solid_look mo_reader_elastic_look(const mo_reader *r, int32_t elastic);
mo_status mo_reader_elastic_surface(const mo_reader *r, int32_t elastic, int32_t frame, mo_mesh *out, float **von_mises,
                                    mo_error *err);
// Pa, where colours of its stress should end: what 90 % of the vertices do not exceed, in the worst of about twenty
// frames. A few corners always carry much more, and elements squeezed to nothing without bound. 0: no stress was
// written.
float mo_reader_elastic_stress(const mo_reader *r, int32_t elastic);
typedef struct mo_elastic_line { // of bodies.jsonl; NAN what a line lacks
    mo_pose pose;                // of the centre of mass, with the rotation that fits best
    double kinetic, elastic;     // J
    double least;                // smallest det F
} mo_elastic_line;
bool mo_reader_elastic_line(const mo_reader *r, int32_t elastic, int32_t frame, mo_elastic_line *out); // false: none

// Statistics have one row per step. Fields are asked for by name, nested ones with a dot ("dofs.p", "seconds.solve",
// "momentum.0").
int32_t mo_reader_step_count(const mo_reader *r);
double mo_reader_value(const mo_reader *r, int32_t step, const char *field); // NAN if absent or null

#endif
