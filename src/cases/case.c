// Analytic cases.
#include "cases/case.h"
#include "grid/ghosts.h"
#include "base/parallel.h"
#include "fluid/rheology.h"
#include <math.h>
#include <string.h>

static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const mo_case_def *d = user;
    (void)solid;
    return d->solid(d->user, x);
}

static mo_solid_set solids_of(const mo_case *c)
{
    mo_solid_set set = {.count = c->def.solid != NULL, .distance = solid_distance, .user = &c->def};
    if (c->def.solids) set = *c->def.solids;
    if (c->def.soft) set = c->def.soft->solids;
    for (int w = 0; w < 6; w++) set.slip_wall[w] = c->def.slip_wall[w];
    return set;
}

// Tiles within a cell of the liquid.
static mo_status activate(mo_case *c, mo_error *err)
{
    mo_grid *g = c->grid;
    double reach = (0.5 * sqrt(3.0) * MO_TILE + 2) * c->def.dx;
    for (int32_t k = 0; k < g->tn[2]; k++)
        for (int32_t j = 0; j < g->tn[1]; j++)
            for (int32_t i = 0; i < g->tn[0]; i++) {
                int32_t cell[3] = {8 * i, 8 * j, 8 * k};
                if (c->def.liquid(c->def.user, mo_grid_world(g, cell[0] + 4, cell[1] + 4, cell[2] + 4)) < reach)
                    mo_grid_want(g, cell, cell);
            }
    return mo_grid_activate(g, err);
}

static bool has_open_face(const mo_case *c, int32_t i)
{
    mo_row_sample six[6];
    const mo_row_sample *list;
    for (int k = 0, count = mo_row_samples(c->grid, i, six, &list); k < count; k++)
        if (c->area[list[k].axis][list[k].sample] > 0) return true;
    return false;
}

// One cover for every tile and body: cases are small.
static mo_status reserve_covers(mo_case *c, const mo_solid_set *set)
{
    int32_t tiles = c->grid->tiles, n = 0;
    size_t most = 0;
    for (int32_t s = 0; s < set->count; s++) most += (size_t)tiles * mo_solid_moves(set, s);
    c->cover = mo_calloc(sizeof(mo_cover) * most);
    c->cover_first = mo_alloc(sizeof(int32_t) * ((size_t)tiles + 1));
    c->spare = mo_calloc(sizeof(mo_spare) * most);
    if (!c->cover || !c->spare || !c->cover_first) return MO_ERROR_MEMORY;
    for (int32_t t = 0; t < tiles; t++) {
        c->cover_first[t] = n;
        for (int32_t s = 0; s < set->count; s++)
            if (mo_solid_moves(set, s)) c->cover[n].tile = t, c->cover[n++].solid = s;
    }
    c->cover_first[tiles] = n;
    return MO_OK;
}

// (alpha Mr)^-1 and velocities of the bodies, into a system; and velocities back.
static mo_status add_bodies(const mo_case *c, mo_system *y, mo_error *err)
{
    double volume = c->def.dx * c->def.dx * c->def.dx;
    bool flat = mo_grid_is_2d(c->grid);
    for (int32_t b = 0; b < mo_body_count(&y->bodies); b++) {
        const mo_rigid *r = &c->def.rigid[b];
        mo_mat3 inverse = mo_rigid_inertia_inverse(r);
        mo_body_mass *m = &y->bodies.body[b];
        double *v = mo_body_velocity(&y->bodies, b);
        for (int i = 0; i < 3; i++) {
            m->inverse[i][i] = volume / r->mass;
            for (int j = 0; j < 3; j++)
                if (!flat || (i == 2 && j == 2)) m->inverse[3 + i][3 + j] = volume * inverse.m[i][j];
            v[i] = mo_get(r->velocity, i);
            v[3 + i] = mo_get(r->angular_velocity, i);
        }
        mo_body_mass_from_inverse(m);
    }
    return c->def.soft ? mo_soft_join(c->def.soft, y->dt, volume, &y->nodes, err) : MO_OK;
}

static void take_bodies(const mo_case *c, const mo_system *y)
{
    for (int32_t b = 0; b < mo_body_count(&y->bodies); b++) {
        const double *v = mo_body_velocity(&y->bodies, b);
        c->def.rigid[b].velocity = mo_v3(v[0], v[1], v[2]);
        c->def.rigid[b].angular_velocity = mo_v3(v[3], v[4], v[5]);
    }
    if (c->def.soft) mo_soft_take(c->def.soft, &y->nodes);
}

static void set_rheology(mo_case *c, int32_t i)
{
    const mo_rheology *r = c->def.rheology;
    const double value[4] = {r->consistency, r->flow_index, r->yield_stress, r->threshold};
    for (int k = 0; k < 4; k++) c->parameter[k][i] = (float)value[k];
    c->viscosity[i] = (float)mo_rheology_viscosity(r, 0);
}

// Sides have the level set and the viscosity of their cell's centre, pieces the open part of their face.
static void fill_sites(mo_case *c)
{
    const mo_grid *g = c->grid;
    int32_t cells = (int32_t)mo_grid_cells(g);
    for (int32_t k = 0; k < g->sites->rows; k++) {
        c->phi[cells + k] = c->phi[g->sites->cell[k]];
        c->viscosity[cells + k] = c->viscosity[g->sites->cell[k]];
        if (c->def.rheology) set_rheology(c, cells + k);
    }
    for (int32_t k = 0; k < g->sites->samples; k++) {
        const mo_sample *s = &g->sites->sample[k];
        c->area[s->axis][cells + k] = c->area[s->axis][s->cell];
    }
}

static void fill(mo_case *c)
{
    mo_solid_set set = solids_of(c);
    mo_openings open = {.volume = c->volume, .distance = c->distance};
    for (int a = 0; a < 3; a++) open.area[a] = c->area[a], open.flux[a] = c->flux[a];
    open.cover = c->cover, open.spare = c->spare, open.first = c->cover_first;
    const mo_grid *g = c->grid;
    mo_openings_compute(g, &set, &open);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < g->tiles; t++) {
        for (int32_t i = t * MO_TILE_CELLS; i < (t + 1) * MO_TILE_CELLS; i++) {
            int32_t at[3];
            mo_grid_cell(g, i, at);
            double z = mo_grid_is_2d(g) ? 0 : at[2] + 0.5; // in 2D the plane z = 0 counts
            mo_vec3 x = mo_grid_world(g, at[0] + 0.5, at[1] + 0.5, z);
            if (mo_grid_is_2d(g)) x.z = 0;
            c->phi[i] = (float)(c->def.liquid(c->def.user, x) / c->def.dx);
            c->viscosity[i] = (float)(c->def.viscosity_fn ? c->def.viscosity_fn(c->def.user, x) : c->def.viscosity);
            if (c->def.rheology) set_rheology(c, i);
        }
    }
    int32_t rows = (int32_t)mo_grid_cells(g);
    if (g->sites) rows += g->sites->rows, fill_sites(c);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < rows; i++)
        c->phase[i] = c->phi[i] < 0 && has_open_face(c, i) ? MO_PHASE_LIQUID : MO_PHASE_AIR;
}

mo_status mo_case_create(const mo_case_def *def, mo_case *out, mo_error *err)
{
    *out = (mo_case){.def = *def};
    MO_TRY(mo_grid_create(def->cells, def->dx, &out->grid, err));
    mo_status status = def->soft ? mo_soft_place(def->soft, out->grid, err) : MO_OK;
    if (status == MO_OK) status = activate(out, err);
    if (status == MO_OK && def->sheet)
        status = (def->ghosts ? mo_ghosts_cut : mo_cut)(out->grid, def->sheet, &out->cut, err);
    size_t cells = (size_t)mo_grid_fields(out->grid);
    float **fields[] = {&out->u[0],         &out->u[1],        &out->u[2],      &out->area[0],      &out->area[1],
                        &out->area[2],      &out->flux[0],     &out->flux[1],   &out->flux[2],      &out->volume,
                        &out->distance,     &out->phi,         &out->viscosity, &out->parameter[0], &out->parameter[1],
                        &out->parameter[2], &out->parameter[3]};
    size_t count = sizeof fields / sizeof *fields;
    out->memory = mo_calloc(cells * (count * sizeof(float) + 1));
    out->arena = mo_arena_create();
    if (status == MO_OK && (!out->memory || !out->arena)) status = mo_fail_memory(err);
    if (status != MO_OK) {
        mo_case_destroy(out);
        return status;
    }
    for (size_t i = 0; i < count; i++) *fields[i] = out->memory + i * cells;
    out->phase = (uint8_t *)(out->memory + count * cells);
    mo_solid_set set = solids_of(out);
    if (set.body && reserve_covers(out, &set) != MO_OK) {
        mo_case_destroy(out);
        return mo_fail_memory(err);
    }
    fill(out);
    return MO_OK;
}

void mo_case_destroy(mo_case *c)
{
    mo_grid_destroy(c->grid);
    mo_free(c->memory);
    mo_weights_destroy(&c->weights);
    mo_free(c->cover), mo_free(c->spare), mo_free(c->cover_first);
    mo_arena_destroy(c->arena);
    memset(c, 0, sizeof *c);
}

mo_pressure_def mo_case_pressure_def(const mo_case *c, double dt)
{
    return (mo_pressure_def){.grid = c->grid,
                             .phi = c->phi,
                             .liquid = c->phase,
                             .area = c->area,
                             .density = c->def.density,
                             .dt = dt,
                             .dx = c->def.dx,
                             .sheet = c->def.sheet_velocity,
                             .sheet_at = c->def.sheet ? (const double(*)[3])c->def.sheet->position : NULL,
                             .sheet_solid = c->def.sheet_solid,
                             .solids = &c->solids,
                             .cover = c->cover,
                             .spare = c->spare,
                             .covers = c->cover ? c->cover_first[c->grid->tiles] : 0};
}

mo_status mo_case_pressure_assemble(mo_case *c, double dt, mo_liquid_system *out, mo_error *err)
{
    mo_arena_reset(c->arena);
    c->solids = solids_of(c);
    mo_pressure_def def = mo_case_pressure_def(c, dt);
    MO_TRY(mo_pressure_assemble(&def, c->arena, out, err));
    mo_liquid_gather(out, c->u);
    mo_status status = add_bodies(c, &out->system, err);
    if (status == MO_OK) status = mo_pressure_attach(&def, out, err);
    if (status != MO_OK) mo_liquid_destroy(out);
    return status;
}

mo_status mo_case_project(mo_case *c, double dt, const mo_solver_def *solver, mo_system_info *info,
                          mo_liquid_system *pressure, mo_error *err)
{
    mo_liquid_system p;
    MO_TRY(mo_case_pressure_assemble(c, dt, &p, err));
    mo_status status = mo_system_solve(&p.system, solver, info, err);
    if (status == MO_OK) take_bodies(c, &p.system);
    mo_liquid_scatter(&p, c->u, NULL);
    if (pressure && status == MO_OK)
        *pressure = p;
    else
        mo_liquid_destroy(&p);
    return status;
}

mo_stress_def mo_case_stress_def(const mo_case *c, double dt, const mo_solver_def *solver)
{
    return (mo_stress_def){.grid = c->grid,
                           .weights = &c->weights,
                           .solids = &c->solids,
                           .viscosity = c->viscosity,
                           .u = c->u,
                           .density = c->def.density,
                           .dt = dt,
                           .clamp = solver->raw_weights ? 0 : mo_weight_clamp,
                           .reduced = strcmp(solver->scheme, "P-V-P") != 0};
}

mo_sheet_stress_def mo_case_sheet_stress_def(const mo_case *c, const mo_pressure_def *pressure,
                                             const mo_solver_def *solver)
{
    return (mo_sheet_stress_def){.pressure = pressure,
                                 .viscosity = c->viscosity,
                                 .slip = c->def.sheet_slip,
                                 .reduced = strcmp(solver->scheme, "P-V-P") != 0,
                                 .varies = c->def.rheology != NULL};
}

// Where sheets are, stress is added to the pressure of cut cells.
static mo_status assemble_sheets(mo_case *c, double dt, const mo_solver_def *solver, mo_liquid_system *out,
                                 mo_error *err)
{
    MO_TRY(mo_case_pressure_assemble(c, dt, out, err));
    mo_pressure_def pressure = mo_case_pressure_def(c, dt);
    mo_sheet_stress_def def = mo_case_sheet_stress_def(c, &pressure, solver);
    mo_status status = mo_sheet_stress_add(&def, c->arena, out, err);
    if (status != MO_OK) mo_liquid_destroy(out);
    return status;
}

mo_status mo_case_stokes_assemble(mo_case *c, double dt, const mo_solver_def *solver, mo_liquid_system *out,
                                  mo_error *err)
{
    if (c->def.sheet) return assemble_sheets(c, dt, solver, out, err);
    mo_arena_reset(c->arena);
    c->solids = solids_of(c);
    if (!c->weights.memory) MO_TRY(mo_weights_compute(c->grid, c->phi, &c->solids, &c->weights, err));
    mo_stress_def def = mo_case_stress_def(c, dt, solver);
    MO_TRY(mo_stress_assemble(&def, c->arena, out, err));
    mo_status status = add_bodies(c, &out->system, err);
    if (status == MO_OK) status = mo_stress_attach(&def, out, err);
    if (status != MO_OK) mo_liquid_destroy(out);
    return status;
}

mo_status mo_case_stokes(mo_case *c, double dt, const mo_solver_def *solver, mo_system_info *info,
                         mo_liquid_system *liquid, mo_error *err)
{
    mo_liquid_system s;
    MO_TRY(mo_case_stokes_assemble(c, dt, solver, &s, err));
    mo_stress_rheology rheology = {&s,       c->grid,      mo_case_stress_def(c, dt, solver).reduced,
                                   c->arena, c->viscosity, {NULL}};
    for (int k = 0; k < 4; k++) rheology.parameter[k] = c->parameter[k];
    if (c->def.rheology) s.system.renew = mo_stress_renew, s.system.renew_user = &rheology;
    mo_status status = mo_system_solve(&s.system, solver, info, err);
    take_bodies(c, &s.system);
    s.system.renew = NULL;
    mo_liquid_scatter(&s, c->u, NULL);
    if (liquid && status == MO_OK)
        *liquid = s;
    else
        mo_liquid_destroy(&s);
    return status;
}

// ---- The standard domain ----

static double ball(mo_vec3 x, double cx, double cy, double cz, double r)
{
    return mo_norm(mo_sub(x, mo_v3(cx, cy, cz))) - r;
}

static double slab(mo_vec3 x)
{
    double q[3] = {fabs(x.x - 0.5) - 0.37, fabs(x.y - 0.0365) - 0.2365, fabs(x.z - 0.505) - 0.345};
    double outside = 0, inside = fmax(q[0], fmax(q[1], q[2]));
    for (int a = 0; a < 3; a++) outside += fmax(q[a], 0) * fmax(q[a], 0);
    return sqrt(outside) + fmin(inside, 0);
}

double mo_case_plain_liquid(const void *user, mo_vec3 x)
{
    (void)user;
    return fmin(ball(x, 0.45, 0.52, 0.49, 0.27), slab(x));
}

double mo_case_std_liquid(const void *user, mo_vec3 x)
{
    mo_vec3 a = {0.45, 0.75, 0.49}, ab = {0.38, 0.15, -0.19};
    double t = fmin(fmax(mo_dot(mo_sub(x, a), ab) / mo_dot(ab, ab), 0), 1);
    double d = mo_case_plain_liquid(user, x);
    d = fmin(d, mo_norm(mo_sub(x, mo_mad(a, t, ab))) - 0.026);
    return fmin(d, fmin(ball(x, 0.2, 0.8, 0.3, 0.047), ball(x, 0.83, 0.72, 0.71, 0.021)));
}

double mo_case_std_solid(const void *user, mo_vec3 x)
{
    (void)user;
    return fmin(x.y - 0.1037, ball(x, 0.63, 0.2, 0.52, 0.17));
}

// Centre and radius.
static const double balls[MO_CASE_BALLS][4] = {
    {0.42, 0.5, 0.47, 0.11}, {0.27, 0.22, 0.4, 0.06}, {0.5, 0.66, 0.6, 0.07}};

static double balls_distance(const void *user, int32_t solid, mo_vec3 x)
{
    if (solid == 0) return mo_case_std_solid(user, x);
    const double *b = balls[solid - 1];
    return ball(x, b[0], b[1], b[2], b[3]);
}

void mo_case_balls_create(int32_t count, double density, mo_case_balls *out)
{
    *out = (mo_case_balls){.body = {-1}};
    for (int32_t b = 0; b < count; b++) {
        double r = balls[b][3], mass = density * 4 * M_PI / 3 * r * r * r, turn = 0.4 * mass * r * r;
        mo_rigid *rigid = &out->rigid[b];
        out->body[b + 1] = b, out->centre[b + 1] = mo_v3(balls[b][0], balls[b][1], balls[b][2]);
        *rigid = (mo_rigid){.mass = mass, .pose = {out->centre[b + 1], {1, 0, 0, 0}}, .velocity = {0.3, -1.2, 0.2}};
        rigid->angular_velocity = mo_v3(0.5 / r, 0.1 / r, -0.4 / r);
        for (int a = 0; a < 3; a++) rigid->inertia.m[a][a] = turn, rigid->inverse.m[a][a] = 1 / turn;
    }
    out->solids = (mo_solid_set){.count = 1 + count, .distance = balls_distance, .bodies = count};
    out->solids.body = out->body, out->solids.centre = out->centre;
}

void mo_case_std_velocity(mo_case *c)
{
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(c->grid); i++) {
        int32_t at[3];
        mo_grid_cell(c->grid, i, at);
        for (int a = 0; a < 3; a++) {
            mo_vec3 w = mo_grid_world(c->grid, at[0] + (a == 0 ? 0 : 0.5), at[1] + (a == 1 ? 0 : 0.5),
                                      at[2] + (a == 2 ? 0 : 0.5));
            double x = w.x - 0.45, y = w.y - 0.4,
                   noise = mo_unit(mo_hash((uint32_t)at[0], (uint32_t)at[1], (uint32_t)(3 * at[2] + a))) - 0.5;
            double v = a == 0   ? -2 * y + 0.3 * sin(7 * x) * cos(5 * y)
                       : a == 1 ? x - 1.098 + 0.3 * cos(6 * x + 2 * y)
                                : 0.4 * sin(4 * x + 3 * (w.z - 0.5));
            c->u[a][i] = (float)(v + 0.17 * noise);
        }
    }
}
