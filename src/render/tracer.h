// The path tracer: a stage of meshes and spheres, lit by a sky, seen by a camera. It knows nothing of runs.
//
//     mo_tracer_create; mo_tracer_add_...; mo_tracer_commit; mo_tracer_render
//
// The liquid and glass refract; where they overlap the glass counts, so that a liquid whose mesh reaches a little into
// a tank's wall has no gap (nested dielectrics, Schmidt and Budge 2002). Light from the sun reaches surfaces behind
// them straight, weakened by absorption and reflection: no caustics, and no noise from them.
#ifndef MO_TRACER_H
#define MO_TRACER_H

#include "base/base.h"
#include "render/sky.h"
#include "render/smoke.h"

typedef struct mo_tracer mo_tracer;

typedef struct mo_tracer_def {
    mo_light light;
    bool ground; // the plane y = ground_y, seen from above only
    float ground_y;
    mo_vec3f ground_color;
    float ground_tile; // m, of its soft checker; 0 = plain
    mo_vec3f centre;   // where the ground is crisp; it fades into the horizon at a distance of some `size`
    float size;
    mo_vec3f absorption;   // of the liquid, 1/m
    bool opaque;           // the liquid looks like a coated solid
    mo_vec3f liquid_color; // and has this colour
    mo_vec3f smoke_color;  // the part of the light that soot scatters
    float offset;          // m by which a new ray starts off its surface
} mo_tracer_def;

typedef struct mo_camera {
    mo_vec3f eye, forward, right, up; // right and up as long as half the picture at distance 1
} mo_camera;

mo_status mo_tracer_create(const mo_tracer_def *def, mo_tracer **out, mo_error *err);
void mo_tracer_destroy(mo_tracer *t);
// Meshes are copied. A mesh without normals is seen flat.
mo_status mo_tracer_add_liquid(mo_tracer *t, const mo_mesh *mesh, mo_error *err);
mo_status mo_tracer_add_solid(mo_tracer *t, const mo_mesh *mesh, mo_pose pose, const mo_solid_look *look,
                              mo_error *err);
// A sheet without thickness: both sides are alike. One of glass is a pane: it reflects and lets light go straight on.
mo_status mo_tracer_add_shell(mo_tracer *t, const mo_mesh *mesh, mo_pose pose, const mo_solid_look *look,
                              mo_error *err);
// A solid with a colour at each vertex, [3 * vertices], in place of the look's.
mo_status mo_tracer_add_painted(mo_tracer *t, const mo_mesh *mesh, const float *color, const mo_solid_look *look,
                                mo_error *err);
mo_status mo_tracer_add_spheres(mo_tracer *t, int64_t count, const float *sphere, const float *color,
                                mo_error *err); // [4 n] position, radius; [3 n]
// Adds a mesh that only the camera sees, directly: it has no shadow and no image in water or glass.
mo_status mo_tracer_add_marks(mo_tracer *t, const mo_mesh *mesh, mo_vec3f color, mo_error *err);
void mo_tracer_add_smoke(mo_tracer *t, mo_smoke *smoke); // becomes the tracer's; NULL is fine
mo_status mo_tracer_commit(mo_tracer *t, mo_error *err);

// Renders linear radiance, [3 * width * height] from the top left. A pixel takes at most `samples` paths; it stops
// early when its mean is known well. The result does not depend on the number of threads.
void mo_tracer_render(const mo_tracer *t, const mo_camera *camera, int32_t width, int32_t height, int32_t samples,
                      float *rgb);
mo_camera mo_camera_create(mo_vec3 eye, mo_vec3 target, double fov, double aspect);

enum { MO_PATH_LENGTH = 24, MO_PATH_DIFFUSE = 2, MO_PATH_SMOKE = 12, MO_QUIET_SAMPLES = 8 };
#define MO_FIREFLY_CLAMP 8.0f // brightest light a path may bring after its first surface

#endif
