// Shells as solids. A shell that forces move has an entry among the solids: its mass, energy, unknowns and contacts are
// those of any rigid body. It has no inside: its distance is infinite for the liquid, which feels it by the walls of
// rows (system/pressure_sheets.h). In contacts it is as thick as its `thickness`. Where there are rigid bodies, fixed
// and scripted shells have such entries too, so that bodies touch them.
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static int32_t first_entry(const mo_sim *sim) { return sim->solid_count - sim->shell_solids; }

int32_t mo_sim_shell_solids(const mo_sim_def *def)
{
    bool bodies = false;
    for (int32_t i = 0; i < def->solid_count; i++) bodies |= def->solids[i].rigid;
    for (int32_t i = 0; i < def->shell_count; i++) bodies |= def->shells[i].density > 0;
    return bodies ? def->shell_count : 0;
}

// ---- Samples ----

// The normals of the triangles round each vertex, by area; a vertex where the sheet is folded has the sum.
static mo_vec3 *vertex_normals(const mo_sheet *s)
{
    mo_vec3 *normal = mo_calloc(sizeof *normal * (size_t)s->vertices);
    for (int32_t t = 0; normal && t < s->triangles; t++) {
        mo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const double *p = s->position[s->triangle[t][k]];
            x[k] = mo_v3(p[0], p[1], p[2]);
        }
        mo_vec3 n = mo_cross(mo_sub(x[1], x[0]), mo_sub(x[2], x[0]));
        for (int k = 0; k < 3; k++) normal[s->triangle[t][k]] = mo_add(normal[s->triangle[t][k]], n);
    }
    return normal;
}

// Two points for each vertex, on both sides. All are corners, so that each stands for itself. A curve in the plane is
// swept along z; one of its two rows of vertices counts, at z = 0.
static mo_status make_samples(const mo_shell *shell, double spacing, bool flat, mo_samples *out, mo_error *err)
{
    const mo_sheet *s = &shell->sheet;
    size_t most = 2 * (size_t)s->vertices;
    mo_vec3 *block = mo_calloc(sizeof(mo_vec3) * (4 * most + 1)), *normal = vertex_normals(s);
    *out = (mo_samples){.spacing = spacing, .two_dimensional = flat, .point = block, .kind = mo_alloc(most + 1)};
    if (!block || !normal || !out->kind) {
        mo_free(normal), mo_samples_destroy(out);
        return mo_fail_memory(err);
    }
    out->normal = block + most, out->tangent = block + 2 * most, out->bend = block + 3 * most;
    for (int32_t v = 0; v < s->vertices; v++) {
        const double *p = s->position[v];
        if (flat && p[2] <= 0) continue;
        mo_vec3 n = mo_normalize(normal[v]), x = {p[0], p[1], flat ? 0 : p[2]};
        for (int side = 0; side < 2; side++) {
            out->normal[out->count] = mo_mul(side ? -1 : 1, n);
            out->point[out->count] = mo_mad(x, 0.5 * shell->thickness, out->normal[out->count]);
            out->kind[out->count++] = MO_POINT_CORNER;
        }
    }
    mo_free(normal);
    return MO_OK;
}

// ---- Entries ----

static mo_status enter(mo_sim *sim, int32_t solid, mo_shell *shell, mo_error *err)
{
    mo_solid *s = &sim->solids[solid];
    *s = (mo_solid){.shell = shell, .wall = shell->wall, .rigid = shell->rigid, .body = shell->body, .twin = solid};
    memcpy(s->name, shell->name, sizeof s->name);
    s->friction = shell->friction, s->restitution = shell->restitution;
    sim->slip[solid] = shell->wall == MO_WALL_SLIP;
    s->shape = mo_shape_of_sheet(&shell->sheet, shell->tree, shell->thickness);
    if (!s->shape) return mo_fail_memory(err);
    mo_box3 box = mo_shape_bounds(s->shape);
    mo_vec3 size = mo_sub(box.hi, box.lo);
    s->centre = mo_mul(0.5, mo_add(box.lo, box.hi));
    s->radius = 0.5 * mo_norm(size);
    s->volume = size.x * size.y * (sim->cells[2] == 1 ? sim->grid->dx : size.z); // the most that it may hold
    return make_samples(shell, sim->grid->dx, sim->cells[2] == 1, &s->samples, err);
}

mo_status mo_sim_enter_shells(mo_sim *sim, const mo_sim_def *def, mo_error *err)
{
    mo_shells *shells = &sim->shells;
    sim->shell_solids = mo_sim_shell_solids(def);
    if (!sim->shell_solids) return MO_OK;
    shells->solid = mo_alloc(sizeof *shells->solid * (size_t)shells->all.triangles);
    if (!shells->solid) return mo_fail_memory(err);
    for (int32_t k = 0; k < shells->count; k++) MO_TRY(enter(sim, first_entry(sim) + k, &shells->shell[k], err));
    for (int32_t t = 0; t < shells->all.triangles; t++)
        shells->solid[t] = shells->shell[shells->of[t]].rigid ? first_entry(sim) + shells->of[t] : -1;
    mo_sim_follow_shells(sim);
    return MO_OK;
}

void mo_sim_leave_shells(mo_sim *sim)
{
    for (int32_t i = first_entry(sim); sim->shell_solids && i < sim->solid_count; i++)
        if (sim->solids[i].shape) mo_shape_release(sim->solids[i].shape);
}

void mo_sim_follow_shells(mo_sim *sim)
{
    for (int32_t i = first_entry(sim); i < sim->solid_count; i++) {
        mo_solid *s = &sim->solids[i];
        s->pose = s->shell->pose, s->next = s->shell->next;
        s->velocity = s->shell->velocity, s->angular_velocity = s->shell->angular_velocity;
        if (sim->centre) sim->centre[i] = s->pose.position;
    }
}

void mo_sim_lead_shells(mo_sim *sim)
{
    for (int32_t i = first_entry(sim); i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (s->rigid) mo_shells_lead(&sim->shells, i - first_entry(sim), s->next, s->velocity, s->angular_velocity);
    }
}
