// Internal to the tracer: the objects on the stage, and the light along one path.
#ifndef MO_PATH_H
#define MO_PATH_H

#include "render/sampler.h"
#include "render/smoke.h"
#include "render/tracer.h"
#include <embree3/rtcore.h>

typedef enum mo_surface_kind {
    MO_SURFACE_LIQUID,
    MO_SURFACE_SOLID,
    MO_SURFACE_SPHERES,
    MO_SURFACE_MARK
} mo_surface_kind;

typedef struct mo_stage_object {
    mo_surface_kind kind;
    mo_material material;
    mo_vec3f color;
    float *normal;     // [3 * vertices], or NULL
    int32_t *triangle; // [3 * triangles], for the normals and the paint
    float *colors;     // of spheres
    float *paint;      // [3 * vertices] colours, or NULL
    bool thin;         // a sheet: glass is a pane
} mo_stage_object;

struct mo_tracer {
    mo_tracer_def def;
    RTCDevice device;
    RTCScene all, opaque, clear; // the same geometries; shadows use the last two
    mo_stage_object *object;     // by geometry number
    int64_t capacity;
    int32_t count, clear_count;
    mo_vec3f lo, hi; // bounds of all geometries, a little wider
    mo_smoke *smoke; // NULL: none
};

mo_vec3f mo_path_light(const mo_tracer *t, mo_vec3f origin, mo_vec3f direction, mo_sampler *sampler);

#endif
