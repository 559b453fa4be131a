// Makes a stage from a run: the objects of a frame, and the place of the camera.
#ifndef MO_STAGE_H
#define MO_STAGE_H

#include "output/reader.h"
#include "render/tracer.h"

typedef struct mo_stage { // data that all frames of a run share
    const mo_reader *run;
    const mo_render_options *options;
    mo_look_def look;
    mo_camera camera;
    mo_mesh *body; // [bodies], rest shapes
    mo_mesh edges; // bars along the domain's edges; may be empty
    double top_speed;
    float top_stress;  // Pa, where the colours of stress end
    float thin, thick; // least and largest viscosity > 0 of particles, when they are coloured by it
} mo_stage;

mo_status mo_stage_create(const mo_reader *run, const mo_render_options *options, mo_stage *out, mo_error *err);
void mo_stage_destroy(mo_stage *s);
// A frame whose files are missing or damaged is MO_ERROR_FILE.
mo_status mo_stage_frame(const mo_stage *s, int32_t frame, mo_tracer **out, mo_error *err);

#endif
