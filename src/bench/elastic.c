// An elastic block on a floor, dry and in a tank of liquid, inviscid or viscous: one step of Newton's method, which is
// one quadratic program with bounds, by route fast (the form `joint`, or `viscous`) and by ElastoMonolith's `ldlt`, in
// turn.
//
// The block is made of cells of the grid, five tetrahedra each; it is bent, sheared and moving, and every vertex of its
// lower side is a contact with friction. Both solve the same program: the projected stiffness, the same bounds, and
// ElastoMonolith's softness of contacts, a thousandth of what the masses alone would give way.
#include "bench/bench.h"
#include "bench/trial.h"
#include "cases/case.h"
#include "geometry/tets.h"
#include <math.h>
#include <string.h>

static const double dt = 0.01, gravity = 9.8, friction = 0.5, softness = 1e-3;
static const double young = 1e4, poisson = 0.49, density = 200, liquid_density = 1000;

typedef struct block_def { // in cells of the grid, which has an edge of 1 m
    const char *name;
    int32_t cells, width, height;
    double level;     // of the liquid, m; 0: there is none
    double viscosity; // Pa s
} block_def;

// ---- The system ----

typedef struct block {
    const block_def *def;
    double dx;
    mo_soft soft;
    mo_case c;
    mo_liquid_system liquid;
} block;

static double below_level(const void *user, mo_vec3 x)
{
    const block_def *d = user;
    return x.y - d->level;
}

// Bent and sheared a little, nothing below the floor; velocities with gravity.
static void deform(mo_elastic_body *b, double dx)
{
    double wide = 1 / sqrt(0.97);
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 x = b->rest[v], c = mo_v3(x.x - 0.5, x.y, x.z - 0.5);
        double wave = sin(7 * c.x) * cos(6 * c.z);
        b->position[v] = mo_v3(0.5 + c.x * wide + 0.05 * x.y, 0.97 * x.y + 0.33 * dx * wave * wave,
                               0.5 + c.z * wide + 0.02 * sin(5 * c.x) * x.y);
        b->velocity[v] = mo_v3(0.3 + 0.2 * c.z, -0.3 + 0.8 * c.x - gravity * dt, -0.2 * c.x);
    }
}

static mo_status add_block(block *b, mo_error *err)
{
    const block_def *d = b->def;
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    double width = d->width * b->dx, height = d->height * b->dx;
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, poisson, 0);
    pose.position = mo_v3(0.5, 0.5 * height, 0.5);
    MO_TRY(mo_tets_box(mo_v3(width, height, width), pose, b->dx, false, &mesh, err));
    mo_status status = mo_soft_add(&b->soft, &mesh, &law, density, 1, NULL, err);
    mo_tets_destroy(&mesh);
    if (status == MO_OK) deform(&b->soft.body[0], b->dx);
    return status;
}

static mo_status assemble(block *b, mo_error *err)
{
    const block_def *d = b->def;
    double volume = b->dx * b->dx * b->dx;
    if (d->level == 0) {
        b->liquid.system.dt = dt;
        return mo_soft_join(&b->soft, dt, volume, &b->liquid.system.nodes, err);
    }
    mo_case_def def = {.cells = {d->cells, d->cells, d->cells},
                       .dx = b->dx,
                       .liquid = below_level,
                       .soft = &b->soft,
                       .user = d,
                       .density = liquid_density,
                       .viscosity = d->viscosity};
    MO_TRY(mo_case_create(&def, &b->c, err));
    mo_case_std_velocity(&b->c);
    mo_solver_def solver = {.rounds = 1};
    if (d->viscosity > 0) return mo_case_stokes_assemble(&b->c, dt, &solver, &b->liquid, err);
    return mo_case_pressure_assemble(&b->c, dt, &b->liquid, err);
}

// Contacts of the lowest vertices with the floor, or their friction along it.
static mo_block *create_rows(const mo_elastic_body *body, int32_t contacts, const int32_t *vertex, bool normal)
{
    static const int axis[] = {0, 2};
    int32_t rows = normal ? contacts : 2 * contacts;
    size_t bytes = sizeof(double) * (size_t)rows;
    mo_block *b = mo_calloc(sizeof *b);
    if (!b || mo_csr_create(rows, mo_elastic_unknowns(body), rows, &b->on[MO_NODES]) != MO_OK) return b;
    b->rows = rows, b->x = mo_calloc(bytes), b->rhs = mo_calloc(bytes), b->softness = mo_calloc(bytes);
    b->lower = mo_calloc(bytes), b->upper = mo_calloc(bytes);
    if (!b->x || !b->rhs || !b->softness || !b->lower || !b->upper) return b;
    for (int32_t i = 0; i < rows; i++) {
        int32_t v = vertex[normal ? i : i / 2];
        b->on[MO_NODES].col[i] = 3 * v + (normal ? 1 : axis[i % 2]);
        b->on[MO_NODES].val[i] = normal ? -1 : 1, b->on[MO_NODES].row[i + 1] = i + 1;
        if (normal) b->rhs[i] = body->position[v].y / dt, b->upper[i] = INFINITY;
    }
    return b;
}

static bool rows_complete(const mo_block *b) { return b && b->upper && b->lower && b->softness && b->rhs && b->x; }

// Bounds of friction come from forces that carry the block's weight in equal parts.
static mo_status add_floor(block *b, mo_error *err)
{
    mo_system *s = &b->liquid.system;
    const mo_elastic_body *body = &b->soft.body[0];
    int32_t contacts = 0, *vertex = mo_alloc(sizeof(int32_t) * (size_t)body->vertices);
    for (int32_t v = 0; vertex && v < body->vertices; v++)
        if (body->rest[v].y < 1e-9) vertex[contacts++] = v;
    s->friction = mo_alloc(sizeof(double) * (size_t)contacts);
    s->tangent = mo_calloc(sizeof(mo_vec3) * 2 * (size_t)contacts);
    if (vertex) {
        s->block[MO_BLOCK_CONTACT] = create_rows(body, contacts, vertex, true);
        s->block[MO_BLOCK_FRICTION] = create_rows(body, contacts, vertex, false);
    }
    bool ok = vertex && s->friction && s->tangent && rows_complete(s->block[MO_BLOCK_CONTACT]) &&
              rows_complete(s->block[MO_BLOCK_FRICTION]);
    double weight = mo_elastic_measure(body).mass * gravity / (b->dx * b->dx * b->dx);
    for (int32_t i = 0; ok && i < contacts; i++)
        s->friction[i] = friction, s->block[MO_BLOCK_CONTACT]->x[i] = weight / contacts;
    mo_free(vertex);
    return ok ? MO_OK : mo_fail_memory(err);
}

// Softness is relative to what nodes give way with their stiffness, 1 / H_ii.
static mo_status soften(block *b, mo_error *err)
{
    mo_group *g = &b->liquid.system.nodes;
    const mo_node_matrix *m = g->nodes;
    double *scratch = mo_alloc(sizeof(double) * 2 * (size_t)g->count), *mass = scratch, *diagonal = mass + g->count;
    if (!scratch) return mo_fail_memory(err);
    mo_status status = g->kind->linearise(g, g->velocity, scratch, err);
    g->kind->diagonal(g, diagonal);
    m->law.mass(m->law.user, 0, mass);
    for (int32_t k = MO_BLOCK_CONTACT; k <= MO_BLOCK_FRICTION; k++) {
        mo_block *c = b->liquid.system.block[k];
        for (int32_t i = 0; i < c->rows; i++) {
            int32_t u = c->on[MO_NODES].col[i];
            c->softness[i] = softness * diagonal[u] / (mass[u] + (m->attached ? m->attached[u] : 0));
        }
    }
    mo_free(scratch);
    return status;
}

static mo_status block_create(const block_def *def, block *b, mo_error *err)
{
    *b = (block){.def = def, .dx = 1.0 / def->cells};
    if (mo_soft_create(NULL, &b->soft) != MO_OK) return mo_fail_memory(err);
    MO_TRY(add_block(b, err));
    MO_TRY(assemble(b, err));
    b->liquid.system.nodes.nodes->law.convex = true;
    MO_TRY(add_floor(b, err));
    return soften(b, err);
}

static void block_destroy(block *b)
{
    mo_liquid_destroy(&b->liquid);
    if (b->c.grid) mo_case_destroy(&b->c);
    mo_soft_destroy(&b->soft);
}

// ---- Solves ----

enum { JOINT, LDLT, WAYS };

typedef struct study {
    const mo_bench *bench;
    block b;
    mo_trial trial;
    mo_cost cost[WAYS];
    int64_t solves; // of the joint form, exact, with H
    double *found[WAYS];
} study;

static mo_status run_way(study *s, int32_t k)
{
    mo_node_matrix *nodes = s->b.liquid.system.nodes.nodes;
    mo_solver_def solver = {
        .route = k == JOINT ? MO_ROUTE_FAST : MO_ROUTE_PAPER, .tolerance = 1e-6, .max_iterations = 20000, .rounds = 1};
    int64_t before = nodes->solves;
    MO_TRY(mo_trial_measure(&s->trial, &solver, &s->cost[k], s->bench->err));
    if (k == JOINT) s->solves = nodes->solves - before;
    memcpy(s->found[k], s->trial.velocity, sizeof(double) * (size_t)mo_trial_size(&s->trial));
    return MO_OK;
}

static int32_t rows_of(const mo_system *y, int32_t kind) { return y->block[kind] ? y->block[kind]->rows : 0; }

static void report(const study *s)
{
    const mo_system *y = &s->b.liquid.system;
    double cpu[WAYS], own[WAYS];
    for (int32_t k = 0; k < WAYS; k++) {
        const mo_cost *c = &s->cost[k];
        cpu[k] = mo_cost_median(c, MO_COST_CPU);
        own[k] = cpu[k] * mo_cost_median(c, MO_COST_SOLVE) / mo_cost_median(c, MO_COST_WALL);
        mo_bench_report(
            s->bench,
            "{\"bench\":\"elastic\",\"case\":\"%s\",\"method\":\"%s\",\"cells\":%d,\"vertices\":%d,\"contacts\":%d,"
            "\"liquid_cells\":%d,\"iterations\":%d,\"exact_solves\":%lld,\"reason\":\"%s\",\"residual\":%.3g,"
            "\"cpu_seconds\":%.4g,\"iteration_cpu_seconds\":%.4g,\"bytes\":%lld}",
            s->b.def->name, k == LDLT ? "ldlt" : c->info.form, s->b.def->cells, s->b.soft.body[0].vertices,
            rows_of(y, MO_BLOCK_CONTACT), rows_of(y, MO_BLOCK_PRESSURE), c->info.solve.iterations,
            (long long)(k == JOINT ? s->solves : 0), c->reason, c->info.solve.residual, cpu[k], own[k],
            (long long)c->bytes);
    }
    char text[32];
    double liquid = y->faces.count ? mo_trial_difference(&s->trial, s->found[LDLT], s->found[JOINT]) : NAN;
    mo_bench_report(s->bench,
                    "{\"bench\":\"elastic\",\"case\":\"%s, ratios\",\"cells\":%d,\"ldlt_to_joint\":%.3g,"
                    "\"ldlt_iterations_to_joint\":%.3g,\"node_difference\":%.3g,\"liquid_difference\":%s}",
                    s->b.def->name, s->b.def->cells, cpu[LDLT] / cpu[JOINT], own[LDLT] / cpu[JOINT],
                    mo_trial_body_difference(&s->trial, s->found[LDLT], s->found[JOINT]),
                    mo_bench_number(liquid, text));
}

static mo_status run_ways(study *s)
{
    int32_t repeats = mo_bench_option(s->bench->options.repeats, 1);
    if (repeats > MO_TRIAL_RUNS) repeats = MO_TRIAL_RUNS;
    MO_TRY(mo_trial_create(&s->b.liquid.system, &s->trial, s->bench->err));
    size_t size = (size_t)mo_trial_size(&s->trial);
    double *memory = mo_alloc(sizeof(double) * WAYS * size);
    mo_status status = memory ? MO_OK : mo_fail_memory(s->bench->err);
    for (int32_t k = 0; memory && k < WAYS; k++) s->found[k] = memory + (size_t)k * size;
    for (int32_t r = 0; r < repeats; r++) // in turn, so that ratios hold on a noisy machine
        for (int32_t k = 0; k < WAYS && status == MO_OK; k++) status = run_way(s, k);
    if (status == MO_OK) report(s);
    mo_trial_destroy(&s->trial);
    mo_free(memory);
    return status;
}

mo_status mo_bench_elastic(const mo_bench *b)
{
    static const block_def cases[] = {
        {"dry", 12, 6, 3, 0, 0},     {"wet", 12, 6, 3, 0.5, 0},   {"viscous", 12, 6, 3, 0.5, 100},
        {"dry", 20, 10, 6, 0, 0},    {"wet", 20, 10, 6, 0.55, 0}, {"viscous", 20, 10, 6, 0.55, 100},
        {"dry", 32, 16, 8, 0, 0},    {"wet", 32, 16, 8, 0.5, 0},  {"dry", 40, 20, 10, 0, 0},
        {"wet", 40, 20, 10, 0.5, 0}, {"thin", 44, 32, 3, 0.3, 0}, {"wide", 64, 16, 8, 0.5, 0},
    };
    int32_t least = mo_bench_option(b->options.min_cells, 20), most = mo_bench_option(b->options.max_cells, 32);
    if (most < least) most = least;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (cases[k].cells < least || cases[k].cells > most) continue;
        study s = {.bench = b};
        mo_status status = block_create(&cases[k], &s.b, b->err);
        if (status == MO_OK) status = run_ways(&s);
        block_destroy(&s.b);
        MO_TRY(status);
    }
    return MO_OK;
}
