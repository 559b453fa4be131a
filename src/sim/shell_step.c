// Shells in a step: they cut the grid, particles slide along them, and the liquid presses on them.
#include "grid/extrapolate.h"
#include "grid/ghosts.h"
#include "grid/reach.h"
#include "sim/sim.h"
#include "system/pressure_slip.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

mo_status mo_sim_refuse_shells(const mo_sim *sim, mo_error *err)
{
    if (!sim->shells.count) return MO_OK;
    const char *name = sim->shells.shell[0].name, *what = NULL, *kind = sim->shells.shell[0].cloth ? "cloth" : "shell";
    if (sim->non_newtonian && sim->shells.cloths) what = "liquids with a rheology";
    if (sim->surface_tension > 0) what = "surface tension";
    if (sim->elastics.count > sim->elastics.cloths) what = "elastic bodies";
    if (sim->band.depth) what = "a band of particles";
    if (what && sim->shells.cloths)
        return mo_fail(err, MO_ERROR_INPUT, "%s '%s': scenes with cloth in liquid cannot have %s yet", kind, name,
                       what);
    if (what) return mo_fail(err, MO_ERROR_INPUT, "shell '%s': scenes with shells cannot have %s yet", name, what);
    return MO_OK;
}

// ---- The grid ----

mo_status mo_sim_cut_shells(mo_sim *sim, mo_error *err)
{
    if (!sim->shells.count) return MO_OK;
    if (!sim->shells.is_cut || !sim->grid->sites) { // else neither shells nor tiles have changed
        bool paper = sim->def.solver.shells == MO_SHELLS_PAPER;
        MO_TRY((paper ? mo_ghosts_cut : mo_cut)(sim->grid, &sim->shells.all, &sim->shells.cut, err));
        sim->shells.is_cut = true;
        MO_TRY(mo_reach_create(sim->grid, err));
    }
    return mo_particles_find_rows(&sim->particles, sim->grid, err);
}

static double nearest_solid(const void *user, const double x[3])
{
    const mo_sim *sim = user;
    mo_solid_set set = mo_sim_solid_set(sim);
    double d = MO_LEVELSET_BAND;
    for (int32_t k = 0; k < set.count; k++)
        d = fmin(d, set.distance(set.user, k, mo_grid_world(sim->grid, x[0], x[1], x[2])) / sim->grid->dx);
    return d;
}

// ---- Solids at pieces of faces ----

typedef struct corners_depth { // of the four corners of a face: distance to solids, cells
    double lowest, highest;
} corners_depth;

static corners_depth depth_of_face(const mo_sim *sim, int32_t cell, int axis)
{
    corners_depth d = {INFINITY, -INFINITY};
    int32_t c[3];
    mo_grid_cell(sim->grid, cell, c);
    for (int k = 0; k < 4; k++) {
        double x[3] = {c[0], c[1], c[2]};
        x[(axis + 1) % 3] += k & 1, x[(axis + 2) % 3] += k >> 1;
        double at = nearest_solid(sim, x);
        d.lowest = fmin(d.lowest, at), d.highest = fmax(d.highest, at);
    }
    return d;
}

// Whether a piece lies in solids (-1), out of them (1), or they may cut it (0). The height of a convex piece above its
// centre is at most twice that below it, which ends at the face's corners.
static int side_of_solids(const mo_sim *sim, int axis, int32_t sample, const corners_depth *face)
{
    double x[3];
    mo_sample_place(sim->grid, axis, sample, x);
    double at = nearest_solid(sim, x);
    if (at < 0 && 2 * (at - face->lowest) <= -at) return -1;
    return at > 0 && 2 * (face->highest - at) <= at ? 1 : 0;
}

typedef struct face_pieces { // of one face
    int count;
    int32_t sample[MO_REACH_SAMPLES];
    int side[MO_REACH_SAMPLES];
    double cut, open; // areas: of pieces that solids cut, of those out of solids
} face_pieces;

static void add_piece(const mo_sim *sim, int axis, int32_t sample, const corners_depth *depth, face_pieces *p)
{
    double area = mo_sites_sample(sim->grid, axis, sample).area;
    int side = side_of_solids(sim, axis, sample, depth);
    if (p->count == MO_REACH_SAMPLES || !(area > 0)) return;
    p->sample[p->count] = sample, p->side[p->count++] = side;
    p->cut += side == 0 ? area : 0, p->open += side > 0 ? area : 0;
}

// Pieces in solids are closed, pieces out of them are open, and the others share what is left of the face's open part.
static void open_pieces(mo_sim *sim, int axis, const face_pieces *p, double whole)
{
    mo_openings *o = &sim->openings;
    double left = p->cut > 0 ? fmin(fmax((whole - p->open) / p->cut, 0), 1) : 0, flux = 0;
    if (p->count) flux = o->flux[axis][mo_sites_sample(sim->grid, axis, p->sample[0]).cell] / (1 - whole);
    for (int k = 0; k < p->count; k++) {
        double part = p->side[k] < 0 ? 0 : p->side[k] > 0 ? 1 : left;
        o->area[axis][p->sample[k]] = (float)part, o->flux[axis][p->sample[k]] = (float)(flux * (1 - part));
    }
}

// Pieces of faces that fixed and scripted solids cover in part. Bodies take the same part of every piece.
static void clip_pieces(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    int32_t cells = (int32_t)mo_grid_cells(g), end = mo_grid_samples(g);
    for (int32_t i = cells, next; i < end; i = next) { // pieces of a face follow each other
        int32_t cell = mo_sites_sample(g, 0, i).cell, axis = mo_sites_sample(g, 0, i).axis;
        double whole = sim->openings.area[axis][cell];
        for (next = i + 1; next < end; next++) {
            mo_sample s = mo_sites_sample(g, 0, next);
            if (s.cell != cell || s.axis != axis) break;
        }
        if (!(whole > 0 && whole < 1)) continue;
        corners_depth depth = depth_of_face(sim, cell, axis);
        face_pieces p = {.count = 0};
        add_piece(sim, axis, cell, &depth, &p);
        for (int32_t k = i; k < next; k++) add_piece(sim, axis, k, &depth, &p);
        open_pieces(sim, axis, &p, whole);
    }
}

// A row has its share of the open part of its cell. Areas are parts of pieces.
void mo_sim_open_shells(mo_sim *sim)
{
    const mo_grid *g = sim->grid;
    mo_openings *o = &sim->openings;
    if (!g->sites) return;
    if (sim->solid_count) mo_cut_cover_gaps(sim->grid, nearest_solid, sim);
    int32_t cells = (int32_t)mo_grid_cells(g);
    for (int32_t i = cells; i < mo_grid_rows(g); i++) {
        int32_t cell = mo_site_cell(g, i);
        o->volume[i] = o->volume[cell] * (float)mo_site_volume(g, i), o->distance[i] = o->distance[cell];
    }
    for (int32_t i = 0; i < cells; i++)
        if (mo_reach_near(g, i, 0)) o->volume[i] *= (float)mo_site_volume(g, i);
    for (int32_t i = cells; i < mo_grid_samples(g); i++)
        for (int a = 0; a < 3; a++) {
            int32_t cell = mo_sites_sample(g, a, i).cell;
            bool own = mo_sites_sample(g, a, i).axis == a;
            o->area[a][i] = own ? o->area[a][cell] : 0, o->flux[a][i] = own ? o->flux[a][cell] : 0;
        }
    if (sim->solid_count && !sim->bodies && !sim->elastics.count) clip_pieces(sim);
}

mo_status mo_sim_keep_rows(const mo_sim *sim, mo_kept_rows *kept, mo_error *err)
{
    const float *const field[MO_KEPT_FIELDS] = {sim->level.phi, sim->level.press, sim->level.moved};
    return mo_rows_keep(sim->grid, sim->shells.is_cut, field, kept, err);
}

// Where shells moved some rows are new: they take values from the rows that they reach, and count as moving.
mo_status mo_sim_recall_rows(mo_sim *sim, const mo_kept_rows *kept, mo_error *err)
{
    mo_levelset *l = &sim->level;
    const mo_grid *g = sim->grid;
    float *const field[MO_KEPT_FIELDS] = {l->phi, l->press, l->moved};
    if (!sim->shells.count) return MO_OK;
    uint8_t *known, *tells;
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &known, err));
    MO_TRY(mo_sim_bytes(sim, sim->arena, 1, &tells, err));
    mo_rows_recall(g, kept, field, known);
    if (kept->still) return MO_OK;
    memcpy(tells, known, (size_t)mo_grid_fields(g));
    mo_extrapolate(g, MO_SITE_ROW, l->phi, tells, 2, 1, sim->scratch.field[0], sim->scratch.bytes);
    for (int32_t i = 0; i < mo_grid_rows(g); i++) {
        if (known[i]) continue;
        l->phi[i] = mo_minf(mo_maxf(l->phi[i], -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
        l->press[i] = l->phi[i], l->moved[i] = 1;
    }
    return MO_OK;
}

// ---- Particles ----

static const double shell_gap = 2e-3; // cells: distance that particles keep

bool mo_sim_shell_between(const mo_sim *sim, mo_vec3 a, mo_vec3 b)
{
    for (int32_t i = 0; i < sim->shells.count; i++) {
        const mo_shell *s = &sim->shells.shell[i];
        int32_t triangle;
        if (mo_sheet_tree_meet(s->tree, mo_pose_to_body(s->pose, a), mo_pose_to_body(s->pose, b), &triangle) <= 1)
            return true;
    }
    return false;
}

bool mo_sim_shell_stops(const mo_sim *sim, mo_vec3 a, mo_vec3 b)
{
    double gap = shell_gap * sim->grid->dx, enough = 0.99 * gap; // places are rounded
    return mo_sim_shell_distance(sim, b, gap) < enough || mo_sim_shell_between(sim, a, b);
}

double mo_sim_shell_distance(const mo_sim *sim, mo_vec3 x, double most)
{
    mo_vec3 way;
    for (int32_t i = 0; i < sim->shells.count; i++) {
        const mo_shell *s = &sim->shells.shell[i];
        most = mo_sheet_tree_near(s->tree, mo_pose_to_body(s->pose, x), most, &way);
    }
    return most;
}

typedef struct slide { // of one particle, against all shells
    mo_vec3 x, v;      // where it arrives, m; m/s
    double work;       // of scripted shells, per mass
    bool met;
    const mo_collision *of;
    int32_t particle;
} slide;

// Whether the particle's liquid takes part in the solve.
static bool in_solve(const slide *p)
{
    const mo_collision *c = p->of;
    int32_t q = p->particle;
    int32_t row = mo_site_find(c->sim->grid, (double[3]){c->from[0][q], c->from[1][q], c->from[2][q]});
    return row >= 0 && (c->phase[row] == MO_PHASE_LIQUID || c->phase[row] == MO_PHASE_SLAVED);
}

static mo_vec3 shell_velocity(const mo_shell *s, mo_vec3 x)
{
    return mo_add(s->velocity, mo_cross(s->angular_velocity, mo_sub(x, s->next.position)));
}

// Removes the part of v that leads into a shell that the particle met. The solve gives a rigid shell the momentum that
// the liquid loses; here the shell would get nothing, so v stays.
static void take_inward(const mo_shell *s, mo_vec3 normal, int32_t triangle, slide *p)
{
    if (s->rigid && in_solve(p)) return;
    mo_vec3 n = mo_quat_rotate(s->next.rotation, normal), own = shell_velocity(s, p->x);
    if (s->cloth) own = mo_shells_velocity_of(&p->of->sim->shells, s, triangle);
    double inward = mo_dot(mo_sub(p->v, own), n);
    if (inward >= 0) return;
    p->v = mo_mad(p->v, -inward, n);
    if (s->motion) p->work -= inward * mo_dot(n, own);
}

// The shell at the end of the step, in its own frame.
static const mo_sheet_tree *tree_of(const mo_shell *s) { return s->ahead_tree ? s->ahead_tree : s->tree; }

// Moves a particle from the place `from`, beside shells at the start of the step, to p->x beside shells at its end. A
// shell is rigid: in its own frame it rests, and a path that does not meet it there does not pass it.
static void slide_shells(const mo_shells *shells, double gap, mo_vec3 from, slide *p)
{
    enum { ROUNDS = 4 };
    int32_t last = -1;
    for (int round = 0; round < ROUNDS; round++) {
        bool again = false;
        for (int32_t i = 0; i < shells->count; i++) {
            const mo_shell *s = &shells->shell[i];
            mo_vec3 b = mo_pose_to_body(s->next, p->x);
            mo_vec3 a =
                s->sweep ? mo_sheet_sweep_carry(s->sweep, s->ahead_tree, from, b, gap) : mo_pose_to_body(s->pose, from);
            mo_sheet_slide r = mo_sheet_tree_slide(tree_of(s), a, b, gap);
            if (r.met == 0 && mo_norm(mo_sub(r.end, b)) < 1e-6 * gap) continue;
            p->x = mo_pose_apply(s->next, r.end), p->met = again = true, last = i;
            for (int k = 0; k < r.met; k++) take_inward(s, r.normal[k], r.triangle[k], p);
        }
        if (!again || shells->count == 1) return;
    }
    // Several shells push in turn: the particle stays where it was beside the last of them.
    const mo_shell *s = &shells->shell[last];
    if (!s->sweep) p->x = mo_pose_apply(s->next, mo_pose_to_body(s->pose, from));
}

// Whether a particle at x, rounded, is so near to a shell that it may be in it.
static bool touches(const mo_shells *shells, mo_vec3 x, double gap)
{
    for (int32_t i = 0; i < shells->count; i++) {
        const mo_shell *s = &shells->shell[i];
        mo_vec3 way;
        if (mo_sheet_tree_near(tree_of(s), mo_pose_to_body(s->next, x), gap, &way) < gap) return true;
    }
    return false;
}

static void put(mo_sim *sim, int32_t q, mo_vec3 x, mo_vec3 v)
{
    const mo_grid *g = sim->grid;
    for (int a = 0; a < (sim->cells[2] == 1 ? 2 : 3); a++) {
        sim->particles.x[a][q] = (float)((mo_get(x, a) - mo_get(g->origin, a)) / g->dx);
        sim->particles.v[a][q] = (float)mo_get(v, a);
    }
}

// Walls come last. Where a wall would push the particle through a shell, it stays where it was beside the shell.
static void hold_in_walls(mo_sim *sim, int32_t q, mo_vec3 from, const slide *s)
{
    const mo_particles *p = &sim->particles;
    mo_sim_collide_walls(sim, q);
    mo_vec3 x = mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
    for (int32_t i = 0; i < sim->shells.count; i++) {
        const mo_shell *shell = &sim->shells.shell[i];
        mo_vec3 a = mo_pose_to_body(shell->next, s->x), b = mo_pose_to_body(shell->next, x);
        int32_t triangle;
        if (mo_sheet_tree_meet(tree_of(shell), a, b, &triangle) > 1) continue;
        put(sim, q, shell->sweep ? s->x : mo_pose_apply(shell->next, mo_pose_to_body(shell->pose, from)), s->v);
        return;
    }
}

mo_status mo_sim_collide_shells(const mo_collision *c, mo_error *err)
{
    mo_sim *sim = c->sim;
    mo_particles *p = &sim->particles;
    const mo_grid *g = sim->grid;
    const mo_shells *shells = &sim->shells;
    int64_t crossed = 0;
    if (!shells->count) return MO_OK;
    double *work = MO_ARENA_ARRAY(sim->arena, double, p->count + 1), gap = shell_gap * g->dx;
    if (!work) return mo_fail_memory(err);
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : crossed)
    for (int32_t q = 0; q < p->count; q++) {
        work[q] = 0;
        mo_vec3 from = mo_grid_world(g, c->from[0][q], c->from[1][q], c->from[2][q]);
        slide s = {.of = c,
                   .particle = q,
                   .x = mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]),
                   .v = {p->v[0][q], p->v[1][q], p->v[2][q]}};
        slide_shells(shells, gap, from, &s);
        if (!s.met) continue;
        put(sim, q, s.x, s.v);
        hold_in_walls(sim, q, from, &s);
        work[q] = p->volume[q] * s.work;
        crossed += touches(shells, mo_grid_world(g, p->x[0][q], p->x[1][q], p->x[2][q]), 0.01 * gap);
    }
    if (!c->swept) p->stale += (float)shell_gap;
    sim->stats.crossed += crossed;
    sim->account.work += sim->density * mo_grid_cell_volume(g) * mo_sum(p->count, work);
    return MO_OK;
}

// ---- Forces ----

// The pressure of a row is that at its cell's centre; it is continued to the shell by the weight of the liquid.
static void add_weight(const mo_sim *sim, const mo_liquid_system *l, int32_t r, double (*force)[3])
{
    const mo_grid *g = sim->grid;
    const mo_site_wall *wall;
    const double gravity[3] = {sim->def.gravity.x, sim->def.gravity.y, sim->def.gravity.z};
    int32_t row = l->cell_at[r], c[3];
    mo_grid_cell(g, mo_site_cell(g, row), c);
    mo_vec3 centre = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
    for (int k = 0, count = mo_site_walls(g, row, &wall); k < count; k++) {
        double depth = 0;
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++)
                depth += wall[k].weight[v] * gravity[a] *
                         (sim->shells.all.position[wall[k].vertex[v]][a] - mo_get(centre, a));
        for (int v = 0; v < 3; v++)
            for (int a = 0; a < 3; a++)
                force[wall[k].vertex[v]][a] +=
                    sim->density * depth * g->dx * g->dx * wall[k].vector[a] * wall[k].weight[v];
    }
}

mo_status mo_sim_press_shells(mo_sim *sim, const mo_step_context *c, mo_error *err)
{
    mo_shells *shells = &sim->shells;
    if (shells->count == shells->cloths) return MO_OK; // cloth is pushed as elastic bodies are
    double(*force)[3] = mo_arena_alloc(sim->arena, sizeof *force * (size_t)shells->all.vertices);
    if (!force) return mo_fail_memory(err);
    memset(force, 0, sizeof *force * (size_t)shells->all.vertices);
    mo_solid_set solids = mo_sim_solid_set(sim);
    mo_pressure_def def = mo_sim_pressure_def(sim, c, &solids);
    mo_block *b = c->assemble.liquid.system.block[MO_BLOCK_PRESSURE];
    double *found = b->x, *acted = MO_ARENA_ARRAY(sim->arena, double, b->rows + 1);
    if (!acted) return mo_fail_memory(err);
    for (int32_t r = 0; r < b->rows; r++) // air got half of the last step's pressure before the solve
        acted[r] = found[r] + (sim->air.present ? 0.5 * sim->air.gas.pressure[c->assemble.liquid.cell_at[r]] : 0);
    b->x = acted;
    mo_pressure_sheet_forces(&def, &c->assemble.liquid, force);
    b->x = found;
    mo_slip_sheet_forces(&def, &c->assemble.liquid, force);
    for (int32_t r = 0; !sim->air.present && r < b->rows; r++) add_weight(sim, &c->assemble.liquid, r, force);
    for (int32_t i = 0; i < shells->count; i++) {
        mo_shell *s = &shells->shell[i];
        s->force = s->torque = mo_v3(0, 0, 0);
        for (int32_t v = s->first_vertex; v < s->first_vertex + s->sheet.vertices; v++) {
            const double *x = shells->all.position[v];
            mo_vec3 f = {force[v][0], force[v][1], force[v][2]};
            s->force = mo_add(s->force, f);
            s->torque = mo_add(s->torque, mo_cross(mo_sub(mo_v3(x[0], x[1], x[2]), s->pose.position), f));
        }
    }
    return MO_OK;
}
