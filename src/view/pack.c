// Payloads: arrays with a description behind them (view.h).
#include "view/payload.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Arrays ----

static void add_floats(mo_payload *p, const char *name, const float *values, int64_t count)
{
    void *to = mo_payload_array(p, name, "f32", count, 4 * count);
    if (to && count) memcpy(to, values, (size_t)(4 * count));
    mo_payload_array_end(p);
}

// Coordinates as u16 in their own bounding box: value = origin + scale * stored, an error of 1/131070 of the box.
static void add_quantised(mo_payload *p, const char *name, const float *x, int64_t points, int64_t stride)
{
    MO_ASSERT(points >= 0 && stride > 0);
    float lo[3] = {0}, hi[3] = {0};
    for (int64_t i = 0; i < points; i++)
        for (int a = 0; a < 3; a++) {
            float v = x[3 * i * stride + a];
            if (i == 0 || v < lo[a]) lo[a] = v;
            if (i == 0 || v > hi[a]) hi[a] = v;
        }
    double scale[3];
    for (int a = 0; a < 3; a++) scale[a] = ((double)hi[a] - lo[a]) / 65535;
    uint16_t *to = mo_payload_array(p, name, "u16", 3 * points, 6 * points);
    if (!to) return;
    for (int64_t i = 0; i < points; i++)
        for (int a = 0; a < 3; a++) {
            double q = scale[a] > 0 ? ((double)x[3 * i * stride + a] - lo[a]) / scale[a] : 0;
            to[3 * i + a] = (uint16_t)lrint(fmin(fmax(q, 0), 65535)); // rounding may leave the box; NaN: its corner
        }
    mo_json_vector(&p->describe, "origin", (mo_vec3){lo[0], lo[1], lo[2]});
    mo_json_vector(&p->describe, "scale", (mo_vec3){scale[0], scale[1], scale[2]});
    mo_payload_array_end(p);
}

static void add_normals(mo_payload *p, const char *name, const float *normal, int64_t count)
{
    int8_t *to = mo_payload_array(p, name, "i8", count, count);
    for (int64_t i = 0; to && i < count; i++) to[i] = (int8_t)lrintf(127 * fminf(fmaxf(normal[i], -1), 1));
    mo_payload_array_end(p);
}

// Neighbouring triangles name neighbouring vertices: most differences fit into one byte.
static void add_deltas(mo_payload *p, const int32_t *triangle, int64_t count)
{
    uint8_t *to = mo_payload_array(p, "triangle", "delta", count, 5 * count);
    if (!to) return;
    uint8_t *end = to;
    int32_t last = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t step = triangle[i] - last;
        uint32_t rest = ((uint32_t)step << 1) ^ (uint32_t)(step >> 31);
        for (; rest >= 128; rest >>= 7) *end++ = (uint8_t)(rest | 128);
        *end++ = (uint8_t)rest;
        last = triangle[i];
    }
    p->out->bytes -= 5 * count - (end - to);
    mo_payload_array_end(p);
}

static void add_triangles(mo_payload *p, const mo_mesh *mesh, bool compact)
{
    int64_t indices = 3 * (int64_t)mesh->triangle_count;
    if (compact) {
        add_deltas(p, mesh->triangle, indices);
        return;
    }
    void *to = mo_payload_array(p, "triangle", "i32", indices, 4 * indices);
    if (to && indices) memcpy(to, mesh->triangle, (size_t)(4 * indices));
    mo_payload_array_end(p);
}

// ---- Payloads ----

mo_status mo_view_pack_mesh(const mo_mesh *mesh, bool compact, mo_text *out, mo_error *err)
{
    mo_payload p = mo_payload_begin(out);
    int64_t points = mesh->vertex_count;
    if (compact) {
        add_quantised(&p, "position", mesh->position, points, 1);
        if (mesh->normal) add_normals(&p, "normal", mesh->normal, 3 * points);
    } else {
        add_floats(&p, "position", mesh->position, 3 * points);
        if (mesh->normal) add_floats(&p, "normal", mesh->normal, 3 * points);
    }
    add_triangles(&p, mesh, compact);
    return mo_payload_end(&p, err);
}

static float speed_of(const mo_points *points, int64_t i)
{
    if (!points->velocity) return 0;
    const float *v = points->velocity + 3 * i;
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Speeds as u8 of the largest.
static void add_compact_speeds(mo_payload *p, const mo_points *points, int64_t count, int64_t stride)
{
    float most = 0;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, speed_of(points, i * stride));
    uint8_t *to = mo_payload_array(p, "speed", "u8", count, count);
    if (!to) return;
    for (int64_t i = 0; i < count; i++) {
        float share = most > 0 ? speed_of(points, i * stride) / most : 0;
        to[i] = (uint8_t)(share >= 0 && share <= 1 ? lrintf(255 * share) : 0);
    }
    mo_json_number(&p->describe, "scale", most / 255);
    mo_payload_array_end(p);
}

mo_status mo_view_pack_points(const mo_points *points, int64_t most, bool compact, mo_text *out, mo_error *err)
{
    MO_ASSERT(most > 0 && points->count >= 0);
    mo_payload p = mo_payload_begin(out);
    // Particles are sorted by cell, so that each k-th is an even sample.
    int64_t stride = points->count > most ? (points->count + most - 1) / most : 1;
    int64_t count = (points->count + stride - 1) / stride;
    mo_json_integer(&p.describe, "total", points->count);
    mo_json_integer(&p.describe, "stride", stride);
    if (compact) {
        add_quantised(&p, "position", points->position, count, stride);
        add_compact_speeds(&p, points, count, stride);
        return mo_payload_end(&p, err);
    }
    float *x = mo_payload_array(&p, "position", "f32", 3 * count, 12 * count);
    for (int64_t i = 0; x && i < count; i++) memcpy(x + 3 * i, points->position + 3 * i * stride, 12);
    mo_payload_array_end(&p);
    float *speed = mo_payload_array(&p, "speed", "f32", count, 4 * count);
    for (int64_t i = 0; speed && i < count; i++) speed[i] = speed_of(points, i * stride);
    mo_payload_array_end(&p);
    return mo_payload_end(&p, err);
}

// Seven numbers per body: position, rotation (w, x, y, z); NaN where the frame has no pose.
mo_status mo_view_pack_bodies(const mo_reader *r, int32_t frame, mo_text *out, mo_error *err)
{
    mo_payload p = mo_payload_begin(out);
    int32_t bodies = mo_reader_body_count(r);
    float *to = mo_payload_array(&p, "pose", "f32", 7 * (int64_t)bodies, 28 * (int64_t)bodies);
    for (int32_t b = 0; to && b < bodies; b++) {
        mo_pose pose = {{NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
        mo_reader_body_pose(r, b, frame, &pose);
        mo_vec3 x = pose.position;
        mo_quat q = pose.rotation;
        const double values[7] = {x.x, x.y, x.z, q.w, q.x, q.y, q.z};
        for (int k = 0; k < 7; k++) to[7 * b + k] = (float)values[k];
    }
    mo_payload_array_end(&p);
    return mo_payload_end(&p, err);
}

// ---- Elastic bodies ----

mo_status mo_view_pack_skin(const mo_reader *r, int32_t elastic, bool compact, mo_text *out, mo_error *err)
{
    mo_mesh mesh;
    float *stress;
    if (mo_reader_frame_count(r) == 0)
        return mo_fail(err, MO_ERROR_INPUT, "%s: has no frame yet", mo_reader_directory(r));
    MO_TRY(mo_reader_elastic_surface(r, elastic, mo_reader_frame(r, 0), &mesh, &stress, err));
    mo_payload p = mo_payload_begin(out);
    mo_json_integer(&p.describe, "vertices", mesh.vertex_count);
    mo_json_number(&p.describe, "stress_top", mo_reader_elastic_stress(r, elastic));
    add_triangles(&p, &mesh, compact);
    mo_mesh_destroy(&mesh);
    mo_free(stress);
    return mo_payload_end(&p, err);
}

// Values >= 0 as u8 of the largest.
static void add_shares(mo_payload *p, const char *name, const float *value, int64_t count)
{
    float most = 0;
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, value[i]);
    uint8_t *to = mo_payload_array(p, name, "u8", count, count);
    if (!to) return;
    for (int64_t i = 0; i < count; i++) to[i] = (uint8_t)(most > 0 ? lrintf(255 * fmaxf(value[i], 0) / most) : 0);
    mo_json_number(&p->describe, "scale", most / 255);
    mo_payload_array_end(p);
}

static void add_skin(mo_payload *p, int32_t elastic, const mo_mesh *mesh, const float *stress, bool compact)
{
    char name[3][24];
    static const char *const words[] = {"position", "normal", "stress"};
    for (int k = 0; k < 3; k++) snprintf(name[k], sizeof name[k], "%s%d", words[k], (int)elastic);
    int64_t points = mesh->vertex_count;
    if (compact) {
        add_quantised(p, name[0], mesh->position, points, 1);
        if (mesh->normal) add_normals(p, name[1], mesh->normal, 3 * points);
        if (stress) add_shares(p, name[2], stress, points);
    } else {
        add_floats(p, name[0], mesh->position, 3 * points);
        if (mesh->normal) add_floats(p, name[1], mesh->normal, 3 * points);
        if (stress) add_floats(p, name[2], stress, points);
    }
}

mo_status mo_view_pack_elastic(const mo_reader *r, int32_t frame, bool compact, mo_text *out, mo_error *err)
{
    mo_payload p = mo_payload_begin(out);
    mo_status status = MO_OK;
    for (int32_t i = 0; i < mo_reader_elastic_count(r) && status == MO_OK; i++) {
        mo_mesh mesh;
        float *stress;
        status = mo_reader_elastic_surface(r, i, frame, &mesh, &stress, err);
        if (status == MO_ERROR_FILE) {
            status = MO_OK;
            continue;
        }
        if (status == MO_OK) add_skin(&p, i, &mesh, stress, compact);
        mo_mesh_destroy(&mesh);
        mo_free(stress);
    }
    mo_status end = mo_payload_end(&p, status == MO_OK ? err : NULL);
    return status == MO_OK ? end : status;
}

mo_status mo_view_pack_stats(const mo_reader *r, int32_t first_step, mo_text *out, mo_error *err)
{
    static const char *const fields[] = {"step",
                                         "frame",
                                         "time",
                                         "dt",
                                         "particles",
                                         "iterations",
                                         "correction_iterations",
                                         "residual",
                                         "volume",
                                         "volume_error",
                                         "density_rms",
                                         "kinetic_energy",
                                         "body_kinetic_energy",
                                         "elastic_energy",
                                         "max_speed",
                                         "max_divergence",
                                         "cpu_seconds",
                                         "memory_bytes"};
    enum { FIELDS = sizeof fields / sizeof *fields };
    mo_payload p = mo_payload_begin(out);
    int32_t steps = mo_reader_step_count(r), rows = steps > first_step ? steps - first_step : 0;
    mo_json_integer(&p.describe, "first", first_step);
    for (int f = 0; f < FIELDS + MO_STAGE_COUNT; f++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", f < FIELDS ? "" : "seconds.",
                 f < FIELDS ? fields[f] : mo_stage_name[f - FIELDS]);
        float *to = mo_payload_array(&p, name, "f32", rows, 4 * (int64_t)rows);
        for (int32_t i = 0; to && i < rows; i++) to[i] = (float)mo_reader_value(r, first_step + i, name);
        mo_payload_array_end(&p);
    }
    return mo_payload_end(&p, err);
}

// ---- By route ----

static bool has_frame(const mo_reader *r, int32_t frame)
{
    int32_t lo = 0, hi = mo_reader_frame_count(r);
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (mo_reader_frame(r, mid) < frame)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < mo_reader_frame_count(r) && mo_reader_frame(r, lo) == frame;
}

static mo_status pack_body(const mo_reader *r, const char *name, bool compact, mo_text *out, mo_error *err)
{
    for (int32_t b = 0; b < mo_reader_body_count(r); b++) {
        if (strcmp(name, mo_reader_body_name(r, b)) != 0) continue;
        mo_mesh mesh = {0};
        MO_TRY(mo_reader_body_mesh(r, b, &mesh, err));
        mo_status status = mo_view_pack_mesh(&mesh, compact, out, err);
        mo_mesh_destroy(&mesh);
        return status;
    }
    return mo_fail(err, MO_ERROR_INPUT, "%s: has no such body", mo_reader_directory(r));
}

static mo_status pack_skin(const mo_reader *r, const char *name, bool compact, mo_text *out, mo_error *err)
{
    for (int32_t i = 0; i < mo_reader_elastic_count(r); i++)
        if (strcmp(name, mo_reader_elastic_name(r, i)) == 0) return mo_view_pack_skin(r, i, compact, out, err);
    return mo_fail(err, MO_ERROR_INPUT, "%s: has no such elastic body", mo_reader_directory(r));
}

static mo_status pack_surface(const mo_reader *r, int32_t frame, bool compact, mo_text *out, mo_error *err)
{
    mo_mesh mesh = {0};
    MO_TRY(mo_reader_surface(r, frame, &mesh, err));
    mo_status status = mo_view_pack_mesh(&mesh, compact, out, err);
    mo_mesh_destroy(&mesh);
    return status;
}

static mo_status pack_particles(const mo_reader *r, int32_t frame, bool compact, mo_text *out, mo_error *err)
{
    int64_t most = compact ? MO_VIEW_MAX_COMPACT_PARTICLES : MO_VIEW_MAX_PARTICLES;
    mo_points points = {0};
    MO_TRY(mo_reader_particles(r, frame, &points, err));
    mo_status status = mo_view_pack_points(&points, most, compact, out, err);
    mo_points_destroy(&points);
    return status;
}

static mo_status pack_smoke(const mo_reader *r, int32_t frame, bool compact, mo_text *out, mo_error *err)
{
    mo_vdb vdb = {0};
    mo_status status = mo_reader_smoke(r, frame, &vdb, err);
    if (status == MO_OK)
        status = mo_view_pack_smoke(&vdb, compact ? MO_VIEW_MAX_COMPACT_SMOKE : MO_VIEW_MAX_SMOKE, out, err);
    mo_vdb_destroy(&vdb);
    return status;
}

mo_status mo_view_pack(const mo_reader *r, const mo_view_route *route, bool compact, mo_text *out, mo_error *err)
{
    bool of_frame = route->kind == MO_VIEW_SURFACE || route->kind == MO_VIEW_PARTICLES ||
                    route->kind == MO_VIEW_BODIES || route->kind == MO_VIEW_ELASTIC || route->kind == MO_VIEW_SMOKE;
    if (of_frame && !has_frame(r, route->number))
        return mo_fail(err, MO_ERROR_INPUT, "%s: has no frame %d", mo_reader_directory(r), route->number);
    switch (route->kind) {
    case MO_VIEW_RUN: return mo_view_summary(r, (mo_view_frames){.every = 1}, out, err);
    case MO_VIEW_STATS: return mo_view_pack_stats(r, route->number, out, err);
    case MO_VIEW_SURFACE: return pack_surface(r, route->number, compact, out, err);
    case MO_VIEW_PARTICLES: return pack_particles(r, route->number, compact, out, err);
    case MO_VIEW_BODIES: return mo_view_pack_bodies(r, route->number, out, err);
    case MO_VIEW_ELASTIC: return mo_view_pack_elastic(r, route->number, compact, out, err);
    case MO_VIEW_SMOKE: return pack_smoke(r, route->number, compact, out, err);
    case MO_VIEW_SKIN: return pack_skin(r, route->name, compact, out, err);
    case MO_VIEW_BODY: return pack_body(r, route->name, compact, out, err);
    default: return mo_fail(err, MO_ERROR_INPUT, "there is no such thing to view");
    }
}
