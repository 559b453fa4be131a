// Shells: their definition, where they are, and how they move in a step.
#include "sim/shells.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

mo_shell_def mo_shell_def_default(void)
{
    return (mo_shell_def){.name = "shell",
                          .pose = mo_pose_identity(),
                          .wall = MO_WALL_NO_SLIP,
                          .friction = mo_solid_def_default().friction,
                          .look = mo_solid_def_default().look};
}

// ---- Checks ----

static const double least_thickness = 0.01, usual_thickness = 0.05, most_thickness = 0.5; // cells

static double cell_of(const mo_domain_def *d) { return fmax(d->size.x, fmax(d->size.y, d->size.z)) / d->cells; }

static mo_status check_sheet(const mo_sheet *s, const char *name, mo_error *err)
{
    if (!s || s->triangles < 1 || s->vertices < 3) return mo_fail(err, MO_ERROR_INPUT, "shell '%s': no sheet", name);
    for (int32_t v = 0; v < s->vertices; v++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(s->position[v][a]))
                return mo_fail(err, MO_ERROR_INPUT, "shell '%s': vertex %d is not finite", name, v);
    for (int32_t t = 0; t < s->triangles; t++)
        for (int k = 0; k < 3; k++)
            if (s->triangle[t][k] < 0 || s->triangle[t][k] >= s->vertices)
                return mo_fail(err, MO_ERROR_INPUT, "shell '%s': triangle %d has no vertex %d", name, t,
                               s->triangle[t][k]);
    return MO_OK;
}

static mo_status check_rigid(const mo_shell_def *s, const char *name, mo_error *err)
{
    if (!(isfinite(s->density) && s->density >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': density must be > 0 kg/m^2, or 0: not a rigid body", name);
    if (s->density > 0 && s->motion)
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': has a motion and a density: a script moves it, or forces do",
                       name);
    if (!mo_v3_finite(s->velocity) || !mo_v3_finite(s->angular_velocity))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': velocity and angular_velocity must be finite", name);
    if (!(isfinite(s->friction) && s->friction >= 0))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': friction must be >= 0, got %g", name, s->friction);
    if (!(s->restitution >= 0 && s->restitution <= 1))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': restitution must be in 0..1, got %g", name, s->restitution);
    return MO_OK;
}

static mo_status check_shell(const mo_shell_def *s, double cell, mo_error *err)
{
    const char *name = s->name ? s->name : "?";
    MO_TRY(check_sheet(s->sheet, name, err));
    if (s->wall != MO_WALL_SLIP && s->wall != MO_WALL_NO_SLIP)
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': its wall must be slip or no-slip", name);
    if (!mo_pose_finite(s->pose)) return mo_fail(err, MO_ERROR_INPUT, "shell '%s': its pose must be finite", name);
    MO_TRY(check_rigid(s, name, err));
    double t = s->thickness / cell;
    if (t != 0 && !(t >= least_thickness * (1 - 1e-9) && t <= most_thickness * (1 + 1e-9)))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': thickness must be %g..%g m (%g..%g cells), got %g m", name,
                       least_thickness * cell, most_thickness * cell, least_thickness, most_thickness, s->thickness);
    return MO_OK;
}

// The form "paper" exists for fixed and scripted shells in air without bodies.
static mo_status check_form(const mo_sim_def *def, mo_error *err)
{
    const char *what = def->air ? NULL : "in liquid";
    if (def->solver.shells != MO_SHELLS_PAPER || !def->shell_count) return MO_OK;
    if (def->cloth_count) what = "with cloth";
    for (int32_t i = 0; i < def->solid_count; i++)
        if (def->solids[i].rigid) what = "with rigid bodies";
    for (int32_t i = 0; i < def->shell_count; i++)
        if (def->shells[i].density > 0) what = "for rigid shells";
    if (!what) return MO_OK;
    return mo_fail(err, MO_ERROR_INPUT,
                   "solver: shells = \"paper\" does not exist %s yet, only for fixed and scripted shells in air; take "
                   "\"cut\"",
                   what);
}

mo_status mo_shells_check(const mo_sim_def *def, mo_error *err)
{
    int64_t triangles = 0, vertices = 0;
    MO_TRY(check_form(def, err));
    if (def->shell_count < 0) return mo_fail(err, MO_ERROR_INPUT, "the count of shells is negative");
    for (int32_t i = 0; i < def->shell_count; i++) {
        MO_TRY(check_shell(&def->shells[i], cell_of(&def->domain), err));
        triangles += def->shells[i].sheet->triangles, vertices += def->shells[i].sheet->vertices;
    }
    if (triangles > mo_sheet_most || vertices > 3 * (int64_t)mo_sheet_most)
        return mo_fail(err, MO_ERROR_INPUT, "shells: %lld triangles, at most %d are allowed: take longer edges",
                       (long long)triangles, mo_sheet_most);
    return MO_OK;
}

// ---- Where they are ----

static mo_status pose_at(const mo_shell *s, bool flat, double t, mo_pose *pose, mo_error *err)
{
    MO_TRY(s->motion(s->user, t, pose, err));
    if (!mo_pose_finite(*pose)) return mo_fail(err, MO_ERROR_INPUT, "shell '%s': motion(%g) is not finite", s->name, t);
    if (flat && (pose->position.z != 0 || pose->rotation.x != 0 || pose->rotation.y != 0))
        return mo_fail(err, MO_ERROR_INPUT, "shell '%s': motion(%g) leaves the plane of the domain", s->name, t);
    return MO_OK;
}

// The vertices of a shell at a pose, among those of all shells.
static void place(const mo_shell *s, mo_pose pose, double (*all)[3])
{
    for (int32_t v = 0; v < s->sheet.vertices; v++) {
        const double *p = s->sheet.position[v];
        mo_vec3 x = mo_pose_apply(pose, mo_v3(p[0], p[1], p[2]));
        double *to = all[s->first_vertex + v];
        to[0] = x.x, to[1] = x.y, to[2] = x.z;
    }
}

void mo_shells_place(mo_shells *s)
{
    s->is_cut = false;
    for (int32_t i = 0; i < s->count; i++) {
        mo_shell *shell = &s->shell[i];
        shell->next = shell->pose;
        if (!shell->rigid) shell->velocity = shell->angular_velocity = mo_v3(0, 0, 0);
        place(shell, shell->pose, s->all.position);
    }
    memcpy(s->next, s->all.position, sizeof *s->next * (size_t)s->all.vertices);
    memset(s->velocity, 0, sizeof *s->velocity * (size_t)s->all.vertices);
}

mo_status mo_shells_aim(mo_shells *s, double time, double dt, mo_error *err)
{
    for (int32_t i = 0; i < s->count; i++) {
        mo_shell *shell = &s->shell[i];
        if (!shell->motion) continue;
        MO_TRY(pose_at(shell, s->flat, time + dt, &shell->next, err));
        shell->velocity = mo_mul(1 / dt, mo_sub(shell->next.position, shell->pose.position));
        shell->angular_velocity = mo_mul(1 / dt, mo_quat_difference(shell->pose.rotation, shell->next.rotation));
        place(shell, shell->next, s->next);
        for (int32_t v = shell->first_vertex; v < shell->first_vertex + shell->sheet.vertices; v++)
            for (int a = 0; a < 3; a++) s->velocity[v][a] = (s->next[v][a] - s->all.position[v][a]) / dt;
    }
    return MO_OK;
}

void mo_shells_lead(mo_shells *s, int32_t k, mo_pose next, mo_vec3 velocity, mo_vec3 angular_velocity)
{
    mo_shell *shell = &s->shell[k];
    shell->next = next, shell->velocity = velocity, shell->angular_velocity = angular_velocity;
    place(shell, next, s->next);
    for (int32_t v = shell->first_vertex; v < shell->first_vertex + shell->sheet.vertices; v++) {
        const double *x = s->all.position[v];
        mo_vec3 arm = mo_sub(mo_v3(x[0], x[1], x[2]), shell->pose.position);
        mo_vec3 u = mo_add(velocity, mo_cross(angular_velocity, arm));
        s->velocity[v][0] = u.x, s->velocity[v][1] = u.y, s->velocity[v][2] = u.z;
    }
}

static void end_way(mo_shell *s)
{
    mo_sheet_tree_destroy(s->ahead_tree), mo_sheet_sweep_destroy(s->sweep);
    s->ahead_tree = NULL, s->sweep = NULL;
}

// Once the places of the sheet have changed.
static mo_status renew_tree(mo_shell *s, mo_error *err)
{
    end_way(s);
    mo_sheet_tree_destroy(s->tree);
    s->tree = NULL;
    return mo_sheet_tree_create(&s->sheet, &s->tree, err);
}

bool mo_shells_still(const mo_shells *s)
{
    for (int32_t i = 0; i < s->count; i++)
        if (s->shell[i].motion || s->shell[i].rigid || s->shell[i].cloth) return false;
    return true;
}

mo_status mo_shells_arrive(mo_shells *s, mo_error *err)
{
    if (!mo_shells_still(s)) s->is_cut = false;
    for (int32_t i = 0; i < s->count; i++) {
        mo_shell *shell = &s->shell[i];
        shell->pose = shell->next;
        if (!shell->cloth) continue;
        memcpy(shell->sheet.position, s->next + shell->first_vertex, sizeof *s->next * (size_t)shell->sheet.vertices);
        MO_TRY(renew_tree(shell, err));
    }
    if (s->count) memcpy(s->all.position, s->next, sizeof *s->next * (size_t)s->all.vertices);
    return MO_OK;
}

// ---- Cloth ----

mo_status mo_shells_lay(mo_shells *s, int32_t k, const mo_vec3 *x, mo_error *err)
{
    mo_shell *shell = &s->shell[k];
    s->is_cut = false;
    for (int32_t v = 0; v < shell->sheet.vertices; v++)
        for (int a = 0; a < 3; a++) {
            int32_t at = shell->first_vertex + v;
            shell->sheet.position[v][a] = s->all.position[at][a] = s->next[at][a] = mo_get(x[v], a);
        }
    return renew_tree(shell, err);
}

mo_status mo_shells_sweep(mo_shells *s, int32_t k, double dt, const mo_vec3 *velocity, mo_error *err)
{
    mo_shell *shell = &s->shell[k];
    double(*to)[3] = s->next + shell->first_vertex;
    for (int32_t v = 0; v < shell->sheet.vertices; v++)
        for (int a = 0; a < 3; a++) {
            s->velocity[shell->first_vertex + v][a] = mo_get(velocity[v], a);
            to[v][a] = shell->sheet.position[v][a] + dt * mo_get(velocity[v], a);
        }
    end_way(shell);
    shell->ahead = shell->sheet, shell->ahead.position = to;
    MO_TRY(mo_sheet_tree_create(&shell->ahead, &shell->ahead_tree, err));
    return mo_sheet_sweep_create(&shell->sheet, (const double(*)[3])to, &shell->sweep, err);
}

double mo_shells_speed(const mo_shells *s)
{
    double most = 0;
    for (int32_t v = 0; v < s->all.vertices; v++)
        most = fmax(most, mo_norm(mo_v3(s->velocity[v][0], s->velocity[v][1], s->velocity[v][2])));
    return most;
}

// ---- Making them ----

// The sheet is moved so that its centre of mass is the origin of its frame.
static mo_status make_rigid(const mo_shell_def *from, const mo_domain_def *domain, mo_shell *to, mo_error *err)
{
    bool flat = domain->size.z == 0;
    char name[100];
    snprintf(name, sizeof name, "shell '%s'", to->name);
    MO_TRY(mo_rigid_of_sheet(&to->sheet, from->density, flat, cell_of(domain), name, &to->body, err));
    mo_vec3 centre = to->body.pose.position;
    mo_sheet_move(&to->sheet, mo_mul(-1, centre));
    to->rigid = true;
    to->pose.position = mo_pose_apply(from->pose, centre);
    to->body.pose = to->pose;
    to->velocity = from->velocity, to->angular_velocity = from->angular_velocity;
    if (flat) to->velocity.z = to->angular_velocity.x = to->angular_velocity.y = 0;
    return MO_OK;
}

static mo_status copy_shell(const mo_shell_def *from, const mo_domain_def *domain, mo_shell *to, mo_error *err)
{
    *to = (mo_shell){.motion = from->motion, .user = from->user, .wall = from->wall, .pose = from->pose};
    strncpy(to->name, from->name ? from->name : "shell", sizeof to->name - 1);
    to->thickness = from->thickness != 0 ? from->thickness : usual_thickness * cell_of(domain);
    if (to->motion) MO_TRY(pose_at(to, domain->size.z == 0, 0, &to->pose, err));
    MO_TRY(mo_sheet_copy(from->sheet, &to->sheet, err));
    to->friction = from->friction, to->restitution = from->restitution;
    return from->density > 0 ? make_rigid(from, domain, to, err) : MO_OK;
}

static mo_status copy_cloth(const mo_cloth_def *from, mo_shell *to, mo_error *err)
{
    *to = (mo_shell){.cloth = true, .wall = from->wall, .pose = mo_pose_identity(), .next = mo_pose_identity()};
    strncpy(to->name, from->name && from->name[0] ? from->name : "cloth", sizeof to->name - 1);
    return mo_sheet_copy(from->sheet, &to->sheet, err);
}

// Memory for the vertices and triangles of all, and the triangles themselves.
static mo_status join(mo_shells *s, mo_error *err)
{
    mo_sheet *all = &s->all;
    for (int32_t i = 0; i < s->count; i++) {
        s->shell[i].first_vertex = all->vertices, s->shell[i].first_triangle = all->triangles;
        all->vertices += s->shell[i].sheet.vertices, all->triangles += s->shell[i].sheet.triangles;
    }
    all->position = mo_alloc(sizeof *all->position * (size_t)all->vertices);
    all->triangle = mo_alloc(sizeof *all->triangle * (size_t)all->triangles);
    s->next = mo_alloc(sizeof *s->next * (size_t)all->vertices);
    s->velocity = mo_alloc(sizeof *s->velocity * (size_t)all->vertices);
    s->of = mo_alloc(sizeof *s->of * (size_t)all->triangles), s->slip = mo_alloc((size_t)all->triangles);
    if (!all->position || !all->triangle || !s->next || !s->velocity || !s->of || !s->slip) return mo_fail_memory(err);
    for (int32_t i = 0; i < s->count; i++)
        for (int32_t t = 0; t < s->shell[i].sheet.triangles; t++) {
            int32_t at = s->shell[i].first_triangle + t;
            s->of[at] = i, s->slip[at] = s->shell[i].wall == MO_WALL_SLIP;
            for (int k = 0; k < 3; k++)
                all->triangle[at][k] = s->shell[i].first_vertex + s->shell[i].sheet.triangle[t][k];
        }
    return MO_OK;
}

mo_status mo_shells_create(const mo_sim_def *def, mo_shells *out, mo_error *err)
{
    bool fluid = def->liquid_count || def->emitter_count || def->air;
    int32_t cloths = fluid ? def->cloth_count : 0, count = def->shell_count + cloths;
    *out = (mo_shells){.flat = def->domain.size.z == 0};
    if (count == 0) return MO_OK;
    out->shell = mo_calloc(sizeof *out->shell * (size_t)count);
    if (!out->shell) return mo_fail_memory(err);
    out->count = count, out->cloths = cloths;
    for (int32_t i = 0; i < def->shell_count; i++)
        MO_TRY(copy_shell(&def->shells[i], &def->domain, &out->shell[i], err));
    for (int32_t i = 0; i < cloths; i++) MO_TRY(copy_cloth(&def->cloths[i], &out->shell[def->shell_count + i], err));
    MO_TRY(join(out, err));
    mo_shells_place(out);
    for (int32_t i = 0; i < out->count; i++)
        MO_TRY(mo_sheet_tree_create(&out->shell[i].sheet, &out->shell[i].tree, err));
    return MO_OK;
}

void mo_shells_destroy(mo_shells *s)
{
    for (int32_t i = 0; i < s->count; i++) {
        end_way(&s->shell[i]);
        mo_sheet_tree_destroy(s->shell[i].tree), mo_sheet_destroy(&s->shell[i].sheet);
    }
    mo_free(s->shell);
    mo_sheet_destroy(&s->all);
    mo_free(s->next), mo_free(s->velocity), mo_free(s->of), mo_free(s->slip), mo_free(s->solid), mo_free(s->node);
    *s = (mo_shells){0};
}
