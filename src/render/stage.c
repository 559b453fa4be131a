// A frame of a run put on the tracer's stage: liquid or particles, bodies, ground, bars along the tank's edges.
#include "render/stage.h"
#include "geometry/mesh.h"
#include "render/smoke.h"
#include <string.h>

// The ground lies this part of a cell above the domain's floor: rays in the liquid meet it before the liquid's own
// underside and the rounding of its lower edge.
#define GROUND_LIFT 0.25

// The liquid is shown this part of a cell larger, so that it reaches into the solids it touches, whose meshes' facets
// lie off the true surface by less: exactly coinciding surfaces would fight. Where they overlap the solid counts.
#define LIQUID_SWELLS 0.03

// ---- Camera ----

// Three quarters from above, as near as the whole domain allows.
static void choose_camera(const mo_reader *run, double aspect, mo_look_def *look)
{
    mo_box3 b = mo_reader_domain(run);
    mo_vec3 toward = mo_normalize(mo_reader_flat(run) ? mo_v3(0.10, 0.12, 1) : mo_v3(0.50, 0.30, 1));
    mo_vec3 target = mo_mul(0.5, mo_add(b.lo, b.hi));
    mo_vec3 right = mo_normalize(mo_cross(mo_v3(0, 1, 0), toward)), up = mo_cross(toward, right);
    double half = tan(0.5 * look->fov * 3.14159265358979 / 180), distance = 0;
    for (int i = 0; i < 8; i++) {
        mo_vec3 corner = mo_v3(i & 1 ? b.hi.x : b.lo.x, i & 2 ? b.hi.y : b.lo.y, i & 4 ? b.hi.z : b.lo.z);
        mo_vec3 r = mo_sub(corner, target);
        double side = fmax(fabs(mo_dot(r, right)) / aspect, fabs(mo_dot(r, up)));
        distance = fmax(distance, 1.08 * side / half + mo_dot(r, toward));
    }
    look->target = target;
    look->eye = mo_mad(target, distance, toward);
}

// ---- Edges ----

static void add_bar(mo_mesh *mesh, mo_vec3 lo, mo_vec3 hi)
{
    static const int8_t faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                        {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int i = 0; i < 8; i++) {
        float *p = mesh->position + 3 * (mesh->vertex_count + i);
        p[0] = (float)(i & 1 ? hi.x : lo.x), p[1] = (float)(i & 2 ? hi.y : lo.y), p[2] = (float)(i & 4 ? hi.z : lo.z);
    }
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            mesh->triangle[3 * (mesh->triangle_count + i) + k] = mesh->vertex_count + faces[i][k];
    mesh->vertex_count += 8;
    mesh->triangle_count += 12;
}

// Thin bars just outside the domain where two closed walls meet.
static mo_status make_edges(const mo_reader *run, mo_mesh *mesh, mo_error *err)
{
    mo_box3 b = mo_reader_domain(run);
    double lo[3] = {b.lo.x, b.lo.y, b.lo.z}, hi[3] = {b.hi.x, b.hi.y, b.hi.z};
    double width = 0.0035 * fmax(hi[0], fmax(hi[1], hi[2])), gap = 0.1 * mo_reader_cell(run);
    mesh->position = mo_alloc(12 * 8 * 3 * sizeof(float));
    mesh->triangle = mo_alloc(12 * 12 * 3 * sizeof(int32_t));
    if (!mesh->position || !mesh->triangle) return mo_fail_memory(err);
    for (int edge = 0; edge < 12; edge++) {
        int along = edge / 4, side[2] = {edge & 1, edge >> 1 & 1}, axis[2] = {(along + 1) % 3, (along + 2) % 3};
        double from[3], to[3];
        from[along] = lo[along] - gap - width, to[along] = hi[along] + gap + width;
        bool closed = true;
        for (int k = 0; k < 2; k++) {
            int a = axis[k];
            closed &= mo_reader_wall(run, 2 * a + side[k]) != MO_WALL_OPEN;
            from[a] = side[k] ? hi[a] + gap : lo[a] - gap - width;
            if (a == 1 && !side[k]) from[a] = lo[a] + GROUND_LIFT * mo_reader_cell(run); // on the ground
            to[a] = from[a] + width;
        }
        if (closed) add_bar(mesh, mo_v3(from[0], from[1], from[2]), mo_v3(to[0], to[1], to[2]));
    }
    return MO_OK;
}

// ---- What all frames share ----

void mo_stage_destroy(mo_stage *s)
{
    for (int32_t i = 0; s->body && i < mo_reader_body_count(s->run); i++) mo_mesh_destroy(&s->body[i]);
    mo_free(s->body);
    mo_mesh_destroy(&s->edges);
    *s = (mo_stage){0};
}

static mo_status read_bodies(mo_stage *s, mo_error *err)
{
    int32_t bodies = mo_reader_body_count(s->run);
    s->body = mo_calloc((size_t)bodies * sizeof *s->body + 1);
    if (!s->body) return mo_fail_memory(err);
    for (int32_t i = 0; i < bodies; i++)
        if (mo_reader_body_look(s->run, i).visible) MO_TRY(mo_reader_body_mesh(s->run, i, &s->body[i], err));
    return MO_OK;
}

// One scale for all pictures: from the first, the middle and the last frame of the run.
static mo_status find_viscosities(mo_stage *s, mo_error *err)
{
    int32_t frames = mo_reader_frame_count(s->run);
    for (int i = 0; i < 3 && frames; i++) {
        mo_points p;
        MO_TRY(mo_reader_particles(s->run, mo_reader_frame(s->run, i * (frames - 1) / 2), &p, err));
        bool there = p.viscosity != NULL;
        for (int64_t k = 0; there && k < p.count; k++) {
            float v = p.viscosity[k];
            if (v > 0 && (s->thin == 0 || v < s->thin)) s->thin = v;
            if (v > s->thick) s->thick = v;
        }
        mo_points_destroy(&p);
        if (!there)
            return mo_fail(err, MO_ERROR_INPUT, "%s: no liquid has a viscosity to colour the particles by",
                           mo_reader_directory(s->run));
    }
    return MO_OK;
}

// One scale for all bodies and pictures.
static mo_status find_stress(mo_stage *s, mo_error *err)
{
    if (mo_reader_elastic_count(s->run) == 0)
        return mo_fail(err, MO_ERROR_INPUT, "%s: has no elastic body to colour by stress", mo_reader_directory(s->run));
    for (int32_t e = 0; e < mo_reader_elastic_count(s->run); e++)
        s->top_stress = fmaxf(s->top_stress, mo_reader_elastic_stress(s->run, e));
    return MO_OK;
}

mo_status mo_stage_create(const mo_reader *run, const mo_render_options *options, mo_stage *out, mo_error *err)
{
    mo_stage s = {.run = run, .options = options, .look = mo_reader_look(run)};
    double aspect = (double)options->width / options->height;
    if (options->camera) {
        s.look.eye = options->eye, s.look.target = options->target, s.look.fov = options->fov;
    } else if (!s.look.camera) {
        choose_camera(run, aspect, &s.look);
    }
    s.camera = mo_camera_create(s.look.eye, s.look.target, s.look.fov, aspect);
    for (int32_t i = 0; i < mo_reader_step_count(run); i++)
        s.top_speed = fmax(s.top_speed, mo_reader_value(run, i, "max_speed"));
    mo_status status = read_bodies(&s, err);
    if (status == MO_OK && options->particles && options->color == MO_COLOR_VISCOSITY)
        status = find_viscosities(&s, err);
    if (status == MO_OK && options->stress) status = find_stress(&s, err);
    if (status == MO_OK && s.look.edges) status = make_edges(run, &s.edges, err);
    if (status != MO_OK)
        mo_stage_destroy(&s);
    else
        *out = s;
    return status;
}

// ---- A frame ----

static mo_tracer_def tracer_def(const mo_stage *s)
{
    mo_box3 b = mo_reader_domain(s->run);
    double cell = mo_reader_cell(s->run), size = fmax(b.hi.x, fmax(b.hi.y, b.hi.z));
    mo_vec3 c = s->look.liquid_color;
    // A slice shows the colour of a tank a third as deep as it is wide.
    double depth = mo_reader_flat(s->run) ? 0.35 * size / cell : 1;
    return (mo_tracer_def){
        .light = mo_light_create(s->look.sky, s->look.sun),
        .ground = s->look.ground,
        .ground_y = (float)(b.lo.y + GROUND_LIFT * cell),
        .ground_color = mo_f3_from(s->look.ground_color),
        .ground_tile = (float)(size / 4),
        .centre = mo_f3_from(mo_mul(0.5, mo_add(b.lo, b.hi))),
        .size = (float)size,
        .absorption = mo_f3_from(mo_mul(depth, mo_v3(-log(c.x), -log(c.y), -log(c.z)))),
        .opaque = s->look.opaque,
        .liquid_color = mo_f3_from(c),
        .smoke_color = mo_f3_from(s->look.smoke_color),
        .offset = (float)(1e-3 * cell + 1e-6 * size),
    };
}

static mo_status add_bodies(const mo_stage *s, int32_t frame, mo_tracer *t, mo_error *err)
{
    for (int32_t i = 0; i < mo_reader_body_count(s->run); i++) {
        mo_solid_look look = mo_reader_body_look(s->run, i);
        mo_pose pose;
        if (!mo_reader_body_pose(s->run, i, frame, &pose))
            return mo_fail(err, MO_ERROR_FILE, "%s: no pose of '%s' in frame %d", mo_reader_directory(s->run),
                           mo_reader_body_name(s->run, i), frame);
        MO_TRY(mo_reader_body_shell(s->run, i) ? mo_tracer_add_shell(t, &s->body[i], pose, &look, err)
                                               : mo_tracer_add_solid(t, &s->body[i], pose, &look, err));
    }
    return mo_tracer_add_marks(t, &s->edges, mo_f3(0.10f, 0.11f, 0.12f), err);
}

enum { STOPS = 5 };

static mo_vec3f color_between(const mo_vec3f stops[STOPS], float x)
{
    float at = (STOPS - 1) * mo_clampf(x, 0, 1);
    int i = at >= STOPS - 1 ? STOPS - 2 : (int)at;
    return mo_f3_mix(stops[i], stops[i + 1], at - (float)i);
}

// Deep blue, blue, cyan, white.
static mo_vec3f color_map(float x)
{
    static const mo_vec3f stops[STOPS] = {{0.012f, 0.035f, 0.16f},
                                          {0.02f, 0.14f, 0.50f},
                                          {0.05f, 0.42f, 0.78f},
                                          {0.40f, 0.80f, 0.92f},
                                          {0.95f, 0.97f, 1}};
    return color_between(stops, x);
}

// Violet, blue, green, yellow, red: of a stress.
static mo_vec3f stress_map(float x)
{
    static const mo_vec3f stops[STOPS] = {{0.10f, 0.08f, 0.36f},
                                          {0.04f, 0.32f, 0.62f},
                                          {0.12f, 0.60f, 0.30f},
                                          {0.90f, 0.68f, 0.08f},
                                          {0.75f, 0.06f, 0.04f}};
    return color_between(stops, x);
}

// Where particle i lies on the colour map, 0..1.
static float shade(const mo_stage *s, const mo_points *p, int64_t i)
{
    const float *x = p->position + 3 * i;
    if (s->options->color == MO_COLOR_VISCOSITY && p->viscosity) {
        if (!(s->thick > s->thin)) return p->viscosity[i] > 0 ? 0.5f : 0;
        return p->viscosity[i] > s->thin ? logf(p->viscosity[i] / s->thin) / logf(s->thick / s->thin) : 0;
    }
    if (s->options->color != MO_COLOR_SPEED || !p->velocity || s->top_speed <= 0)
        return x[1] / (float)mo_reader_domain(s->run).hi.y;
    const float *v = p->velocity + 3 * i;
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (float)s->top_speed;
}

static mo_status add_particles(const mo_stage *s, int32_t frame, mo_tracer *t, mo_error *err)
{
    mo_points p;
    MO_TRY(mo_reader_particles(s->run, frame, &p, err));
    float *sphere = mo_alloc(4 * sizeof(float) * (size_t)p.count + 1);
    float *color = mo_alloc(3 * sizeof(float) * (size_t)p.count + 1);
    float cell = (float)mo_reader_cell(s->run);
    for (int64_t i = 0; i < p.count && sphere && color; i++) {
        const float *x = p.position + 3 * i;
        float radius = p.volume ? 0.55f * cbrtf(p.volume[i]) : 0.25f * cell;
        memcpy(sphere + 4 * i, (float[]){x[0], x[1], x[2], radius}, 4 * sizeof(float));
        mo_vec3f c = color_map(shade(s, &p, i));
        memcpy(color + 3 * i, (float[]){c.x, c.y, c.z}, 3 * sizeof(float));
    }
    mo_status status = sphere && color ? mo_tracer_add_spheres(t, p.count, sphere, color, err) : mo_fail_memory(err);
    mo_free(sphere);
    mo_free(color);
    mo_points_destroy(&p);
    return status;
}

static mo_status add_surface(const mo_stage *s, int32_t frame, mo_tracer *t, mo_error *err)
{
    mo_mesh mesh;
    MO_TRY(mo_reader_surface(s->run, frame, &mesh, err));
    mo_status status = mesh.normal ? mo_mesh_swell(&mesh, LIQUID_SWELLS * mo_reader_cell(s->run), err) : MO_OK;
    if (status == MO_OK) status = mo_tracer_add_liquid(t, &mesh, err);
    mo_mesh_destroy(&mesh);
    return status;
}

static mo_status add_painted(const mo_stage *s, const mo_mesh *mesh, const float *stress, const mo_solid_look *look,
                             mo_tracer *t, mo_error *err)
{
    float *color = mo_alloc(3 * sizeof(float) * (size_t)mesh->vertex_count + 1);
    if (!color) return mo_fail_memory(err);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        mo_vec3f c = stress_map(s->top_stress > 0 ? stress[i] / s->top_stress : 0);
        memcpy(color + 3 * i, (float[]){c.x, c.y, c.z}, 3 * sizeof(float));
    }
    mo_status status = mo_tracer_add_painted(t, mesh, color, look, err);
    mo_free(color);
    return status;
}

static mo_status add_elastic(const mo_stage *s, int32_t elastic, int32_t frame, mo_tracer *t, mo_error *err)
{
    mo_solid_look look = mo_reader_elastic_look(s->run, elastic);
    mo_mesh mesh;
    float *stress;
    if (!look.visible) return MO_OK;
    MO_TRY(mo_reader_elastic_surface(s->run, elastic, frame, &mesh, &stress, err));
    mo_status status = s->options->stress && stress ? add_painted(s, &mesh, stress, &look, t, err)
                                                    : mo_tracer_add_solid(t, &mesh, mo_pose_identity(), &look, err);
    mo_mesh_destroy(&mesh);
    mo_free(stress);
    return status;
}

// m^2/kg: what soot covers, from the light that flames' soot swallows and scatters.
static const double soot_extinction = 8700;

static mo_status add_smoke(const mo_stage *s, int32_t frame, mo_tracer *t, mo_error *err)
{
    mo_vdb vdb = {0};
    mo_smoke *smoke = NULL;
    // A slice shows the smoke of a room a third as deep as it is wide.
    mo_box3 b = mo_reader_domain(s->run);
    double depth = mo_reader_flat(s->run) ? 0.35 * fmax(b.hi.x, b.hi.y) / mo_reader_cell(s->run) : 1;
    mo_status status = mo_reader_smoke(s->run, frame, &vdb, err);
    if (status == MO_OK) status = mo_smoke_create(&vdb, depth * soot_extinction, &smoke, err);
    mo_vdb_destroy(&vdb);
    if (status == MO_OK) status = mo_smoke_light(smoke, tracer_def(s).light.sun, err);
    mo_tracer_add_smoke(t, smoke);
    return status;
}

mo_status mo_stage_frame(const mo_stage *s, int32_t frame, mo_tracer **out, mo_error *err)
{
    MO_ASSERT(frame >= 0);
    mo_tracer_def def = tracer_def(s);
    MO_TRY(mo_tracer_create(&def, out, err));
    // A run of bodies alone may have been written without the surface that it does not have.
    bool bodies = mo_reader_body_count(s->run) + mo_reader_elastic_count(s->run) > 0;
    bool air = mo_reader_air(s->run), liquid = !air && (!bodies || mo_reader_writes(s->run, "surface"));
    mo_status status = air                     ? add_smoke(s, frame, *out, err)
                       : s->options->particles ? add_particles(s, frame, *out, err)
                       : liquid                ? add_surface(s, frame, *out, err)
                                               : MO_OK;
    if (status == MO_OK) status = add_bodies(s, frame, *out, err);
    for (int32_t i = 0; status == MO_OK && i < mo_reader_elastic_count(s->run); i++)
        status = add_elastic(s, i, frame, *out, err);
    if (status == MO_OK) status = mo_tracer_commit(*out, err);
    if (status != MO_OK) {
        mo_tracer_destroy(*out);
        *out = NULL;
    }
    return status;
}
