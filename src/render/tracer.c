// The stage (Embree's geometries) and the pixels.
#include "base/parallel.h"
#include "render/tracer.h"
#include "render/path.h"
#include <string.h>

enum { TILE = 16 };

// ---- Stage ----

mo_status mo_tracer_create(const mo_tracer_def *def, mo_tracer **out, mo_error *err)
{
    *out = NULL;
    MO_TRY(mo_need_threads(err));
    mo_tracer *t = mo_calloc(sizeof *t);
    if (!t) return mo_fail_memory(err);
    t->def = *def;
    t->device = rtcNewDevice("threads=1"); // building alone: the same tree every time
    RTCScene *scenes[] = {&t->all, &t->opaque, &t->clear};
    for (int i = 0; i < 3 && t->device; i++) {
        *scenes[i] = rtcNewScene(t->device);
        if (*scenes[i]) rtcSetSceneFlags(*scenes[i], RTC_SCENE_FLAG_ROBUST);
    }
    if (!t->all || !t->opaque || !t->clear) {
        mo_tracer_destroy(t);
        return mo_fail_memory(err);
    }
    *out = t;
    return MO_OK;
}

void mo_tracer_destroy(mo_tracer *t)
{
    if (!t) return;
    for (int32_t i = 0; i < t->count; i++) {
        mo_free(t->object[i].normal);
        mo_free(t->object[i].triangle);
        mo_free(t->object[i].colors);
        mo_free(t->object[i].paint);
    }
    mo_free(t->object);
    mo_smoke_destroy(t->smoke);
    if (t->all) rtcReleaseScene(t->all);
    if (t->opaque) rtcReleaseScene(t->opaque);
    if (t->clear) rtcReleaseScene(t->clear);
    if (t->device) rtcReleaseDevice(t->device);
    mo_free(t);
}

// Puts a geometry on the stage under the number of the object; takes the object's arrays.
static mo_status attach(mo_tracer *t, RTCGeometry geometry, mo_stage_object object, mo_error *err)
{
    bool clear =
        object.kind == MO_SURFACE_LIQUID || (object.kind == MO_SURFACE_SOLID && object.material == MO_MATERIAL_GLASS);
    if (!geometry || rtcGetDeviceError(t->device) != RTC_ERROR_NONE ||
        !mo_reserve((void **)&t->object, &t->capacity, t->count + 1, sizeof *t->object)) {
        mo_free(object.normal);
        mo_free(object.triangle);
        mo_free(object.colors);
        mo_free(object.paint);
        if (geometry) rtcReleaseGeometry(geometry);
        return mo_fail_memory(err);
    }
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(t->all, geometry, (unsigned)t->count);
    if (object.kind != MO_SURFACE_MARK)
        rtcAttachGeometryByID(clear ? t->clear : t->opaque, geometry, (unsigned)t->count);
    rtcReleaseGeometry(geometry);
    t->object[t->count++] = object;
    t->clear_count += clear;
    return MO_OK;
}

static void *new_buffer(RTCGeometry g, enum RTCBufferType type, enum RTCFormat format, size_t stride, int64_t count)
{
    return g ? rtcSetNewGeometryBuffer(g, type, 0, format, stride, (size_t)count) : NULL;
}

static mo_status add_mesh(mo_tracer *t, const mo_mesh *mesh, mo_pose pose, mo_stage_object object, mo_error *err)
{
    if (mesh->triangle_count == 0) return MO_OK;
    int64_t vertices = mesh->vertex_count, triangles = mesh->triangle_count;
    RTCGeometry g = rtcNewGeometry(t->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *position = new_buffer(g, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3, 3 * sizeof(float), vertices);
    int32_t *corners = new_buffer(g, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3, 3 * sizeof(int32_t), triangles);
    object.normal = mesh->normal ? mo_alloc(3 * sizeof(float) * (size_t)vertices) : NULL;
    object.triangle = mo_alloc(3 * sizeof(int32_t) * (size_t)triangles);
    if (!position || !corners || !object.triangle || (mesh->normal && !object.normal)) {
        if (g) rtcReleaseGeometry(g);
        return attach(t, NULL, object, err);
    }
    for (int64_t i = 0; i < vertices; i++) {
        const float *x = mesh->position + 3 * i, *n = mesh->normal ? mesh->normal + 3 * i : NULL;
        mo_vec3 p = mo_pose_apply(pose, mo_v3(x[0], x[1], x[2]));
        memcpy(position + 3 * i, (float[]){(float)p.x, (float)p.y, (float)p.z}, 3 * sizeof(float));
        if (!mesh->normal) continue;
        mo_vec3 q = mo_quat_rotate(pose.rotation, mo_v3(n[0], n[1], n[2]));
        memcpy(object.normal + 3 * i, (float[]){(float)q.x, (float)q.y, (float)q.z}, 3 * sizeof(float));
    }
    memcpy(corners, mesh->triangle, 3 * sizeof(int32_t) * (size_t)triangles);
    memcpy(object.triangle, mesh->triangle, 3 * sizeof(int32_t) * (size_t)triangles);
    return attach(t, g, object, err);
}

mo_status mo_tracer_add_liquid(mo_tracer *t, const mo_mesh *mesh, mo_error *err)
{
    mo_stage_object object = {.kind = MO_SURFACE_LIQUID, .color = {1, 1, 1}};
    if (t->def.opaque) // like a solid: under a clear coat
        object =
            (mo_stage_object){.kind = MO_SURFACE_SOLID, .material = MO_MATERIAL_COAT, .color = t->def.liquid_color};
    return add_mesh(t, mesh, mo_pose_identity(), object, err);
}

mo_status mo_tracer_add_solid(mo_tracer *t, const mo_mesh *mesh, mo_pose pose, const mo_solid_look *look, mo_error *err)
{
    if (!look->visible) return MO_OK;
    mo_stage_object object = {.kind = MO_SURFACE_SOLID, .material = look->material, .color = mo_f3_from(look->color)};
    return add_mesh(t, mesh, pose, object, err);
}

mo_status mo_tracer_add_shell(mo_tracer *t, const mo_mesh *mesh, mo_pose pose, const mo_solid_look *look, mo_error *err)
{
    if (!look->visible) return MO_OK;
    mo_stage_object object = {.kind = MO_SURFACE_SOLID, .material = look->material, .color = mo_f3_from(look->color)};
    object.thin = true;
    return add_mesh(t, mesh, pose, object, err);
}

mo_status mo_tracer_add_painted(mo_tracer *t, const mo_mesh *mesh, const float *color, const mo_solid_look *look,
                                mo_error *err)
{
    if (!look->visible || mesh->triangle_count == 0) return MO_OK;
    mo_stage_object object = {.kind = MO_SURFACE_SOLID, .material = look->material, .color = {1, 1, 1}};
    if (object.material == MO_MATERIAL_GLASS) object.material = MO_MATERIAL_COAT; // colours need something to be on
    size_t bytes = 3 * sizeof(float) * (size_t)mesh->vertex_count;
    object.paint = mo_alloc(bytes);
    if (!object.paint) return mo_fail_memory(err);
    memcpy(object.paint, color, bytes);
    return add_mesh(t, mesh, mo_pose_identity(), object, err);
}

void mo_tracer_add_smoke(mo_tracer *t, mo_smoke *smoke)
{
    mo_smoke_destroy(t->smoke);
    t->smoke = smoke;
}

mo_status mo_tracer_add_marks(mo_tracer *t, const mo_mesh *mesh, mo_vec3f color, mo_error *err)
{
    return add_mesh(t, mesh, mo_pose_identity(), (mo_stage_object){.kind = MO_SURFACE_MARK, .color = color}, err);
}

mo_status mo_tracer_add_spheres(mo_tracer *t, int64_t count, const float *sphere, const float *color, mo_error *err)
{
    MO_ASSERT(count >= 0);
    if (count == 0) return MO_OK;
    RTCGeometry g = rtcNewGeometry(t->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    float *data = new_buffer(g, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 4 * sizeof(float), count);
    mo_stage_object object = {.kind = MO_SURFACE_SPHERES, .color = {1, 1, 1}};
    object.colors = mo_alloc(3 * sizeof(float) * (size_t)count);
    if (!data || !object.colors) {
        if (g) rtcReleaseGeometry(g);
        return attach(t, NULL, object, err);
    }
    memcpy(data, sphere, 4 * sizeof(float) * (size_t)count);
    memcpy(object.colors, color, 3 * sizeof(float) * (size_t)count);
    return attach(t, g, object, err);
}

mo_status mo_tracer_commit(mo_tracer *t, mo_error *err)
{
    rtcCommitScene(t->all);
    rtcCommitScene(t->opaque);
    rtcCommitScene(t->clear);
    struct RTCBounds b = {0};
    if (t->count) rtcGetSceneBounds(t->all, &b);
    float more = 4 * t->def.offset;
    t->lo = mo_f3(b.lower_x - more, b.lower_y - more, b.lower_z - more);
    t->hi = mo_f3(b.upper_x + more, b.upper_y + more, b.upper_z + more);
    enum RTCError failure = rtcGetDeviceError(t->device);
    if (failure == RTC_ERROR_NONE) return MO_OK;
    if (failure == RTC_ERROR_OUT_OF_MEMORY) return mo_fail_memory(err);
    return mo_fail(err, MO_ERROR_FAILED, "Embree could not build its tree (error %d)", (int)failure);
}

// ---- Pixels ----

mo_camera mo_camera_create(mo_vec3 eye, mo_vec3 target, double fov, double aspect)
{
    MO_ASSERT(fov > 0 && fov < 180 && aspect > 0);
    mo_vec3 forward = mo_normalize(mo_sub(target, eye));
    mo_vec3 right = mo_cross(forward, mo_v3(0, 1, 0));
    if (mo_norm(right) < 1e-6) right = mo_v3(1, 0, 0); // straight down or up
    right = mo_normalize(right);
    mo_vec3 up = mo_cross(right, forward);
    double half = tan(0.5 * fov * 3.14159265358979 / 180);
    return (mo_camera){mo_f3_from(eye), mo_f3_from(forward), mo_f3_from(mo_mul(half * aspect, right)),
                       mo_f3_from(mo_mul(half, up))};
}

static mo_vec3f camera_ray(const mo_camera *c, float x, float y)
{
    return mo_f3_unit(mo_f3_mad(mo_f3_mad(c->forward, x, c->right), -y, c->up));
}

// The mean is known well enough when its error is about half a step of an 8-bit picture. Judged on a compressed scale,
// as the tone curve does; the error of well spread samples falls like 1/n on smooth pixels.
static bool is_quiet(double sum, double sum2, int n)
{
    double mean = sum / n, variance = sum2 / n - mean * mean;
    return variance <= 6e-6 * n * n;
}

static mo_vec3f pixel(const mo_tracer *t, const mo_camera *camera, int32_t x, int32_t y, int32_t width, int32_t height,
                      int32_t samples)
{
    mo_vec3f sum = {0, 0, 0};
    double tone = 0, tone2 = 0;
    uint32_t seed = mo_hash((uint32_t)x, (uint32_t)y, 17);
    for (int32_t i = 0; i < samples; i++) {
        mo_sampler sampler = {seed, (uint32_t)i, 0};
        float u, v;
        mo_sample_pair(&sampler, &u, &v);
        mo_vec3f d = camera_ray(camera, 2 * ((float)x + u) / (float)width - 1, 2 * ((float)y + v) / (float)height - 1);
        mo_vec3f c = mo_path_light(t, camera->eye, d, &sampler);
        sum = mo_f3_add(sum, c);
        double bright = mo_luminance(c);
        bright = bright / (1 + bright);
        tone += bright, tone2 += bright * bright;
        int32_t n = i + 1;
        if (n >= MO_QUIET_SAMPLES && n % 4 == 0 && is_quiet(tone, tone2, n)) return mo_f3_scale(1 / (float)n, sum);
    }
    return mo_f3_scale(1 / (float)samples, sum);
}

void mo_tracer_render(const mo_tracer *t, const mo_camera *camera, int32_t width, int32_t height, int32_t samples,
                      float *rgb)
{
    MO_ASSERT(width > 0 && height > 0 && samples > 0);
    int32_t columns = (width + TILE - 1) / TILE, rows = (height + TILE - 1) / TILE;
#pragma omp parallel for schedule(dynamic)
    for (int32_t tile = 0; tile < columns * rows; tile++) {
        int32_t x0 = tile % columns * TILE, y0 = tile / columns * TILE;
        for (int32_t y = y0; y < y0 + TILE && y < height; y++)
            for (int32_t x = x0; x < x0 + TILE && x < width; x++) {
                mo_vec3f c = pixel(t, camera, x, y, width, height, samples);
                memcpy(rgb + 3 * ((int64_t)y * width + x), (float[]){c.x, c.y, c.z}, 3 * sizeof(float));
            }
    }
}
