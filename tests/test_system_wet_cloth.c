// Cloth in one solve with the liquid: rows of pressure on its vertices, momentum, common motion, a dense reference.
#include "base/parallel.h"
#include "solid/cloth.h"
#include "system/elastic_law.h"
#include "dense_test.h"
#include "sheet_flow_test.h"

static const double dt = 0.01;

static double nothing(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user, (void)solid, (void)x;
    return INFINITY;
}

typedef struct trial { // a cloth in a liquid
    mo_sheet sheet;
    mo_elastic_body body;
    mo_node_part node;
    mo_elastic_part part;
    mo_elastic_law law;
    uint8_t *pinned;   // [vertices]
    int32_t *unknown;  // [vertices]
    double *target;    // [unknowns]
    int32_t number[1]; // of solids
    mo_solid_set solids;
    double radius;
    mo_case c;
    mo_pressure_def def;
    mo_liquid_system l;
} trial;

enum { DISK, BOWL, PLATE, SHEETS };

static void make_sheet(trial *t, int sort, int32_t n, double size, double turn)
{
    double dx = 1.0 / n;
    assert_int_equal(sort == DISK   ? mo_sheet_disk(size, dx, &t->sheet, NULL)
                     : sort == BOWL ? mo_sheet_hemisphere(size, dx, &t->sheet, NULL)
                                    : mo_sheet_plate(size, 0.7 * size, dx, &t->sheet, NULL),
                     MO_OK);
    mo_sheet_rotate(&t->sheet, mo_v3(0.6, 0, 0.8), turn);
    mo_sheet_move(&t->sheet, mo_v3(0.5 + 0.3 * dx, 0.5 + 0.1 * dx, 0.5 + 0.2 * dx));
}

static void make_cloth(trial *t, double mass_per_area, double stretch, bool pinned)
{
    mo_cloth_material m = {mass_per_area, stretch, 1e-5, 0.3, 0};
    assert_int_equal(mo_cloth_create(&t->sheet, &m, 0, NULL, &t->body, NULL), MO_OK);
    int32_t vertices = t->body.vertices;
    t->pinned = calloc((size_t)vertices, 1), t->unknown = malloc(sizeof(int32_t) * (size_t)vertices);
    t->target = calloc((size_t)(3 * vertices), sizeof(double));
    for (int32_t v = 0; v < vertices; v++) t->unknown[v] = 3 * v, t->pinned[v] = pinned && t->body.position[v].x < 0.45;
    assert_int_equal(mo_elastic_part_create(&t->body, t->pinned, &t->node, NULL), MO_OK);
    t->number[0] = 0;
    t->solids = (mo_solid_set){.count = 0, .distance = nothing, .body = t->number, .nodes = 3 * vertices};
}

static void assemble(trial *t, int32_t n, mo_distance_fn liquid, double gravity)
{
    mo_case_def def = {.cells = {n, n, n}, .dx = 1.0 / n, .liquid = liquid, .user = &t->radius, .density = density};
    def.sheet = &t->sheet, def.solids = &t->solids;
    assert_int_equal(mo_case_create(&def, &t->c, NULL), MO_OK);
    t->c.solids = t->solids;
    t->def = mo_case_pressure_def(&t->c, dt);
    t->def.sheet_node = t->unknown, t->def.gravity = mo_v3(0, -gravity, 0);
    assert_int_equal(mo_pressure_assemble(&t->def, t->c.arena, &t->l, NULL), MO_OK);
}

// The quadratic of a step from rest, so that a solve is one linear problem.
static void join(trial *t)
{
    mo_group *nodes = &t->l.system.nodes;
    int32_t n = 3 * t->body.vertices;
    double *gradient = malloc(sizeof(double) * (size_t)n), *rest = calloc((size_t)n, sizeof(double));
    mo_csr H;
    t->part = (mo_elastic_part){.body = &t->body, .target = t->target};
    t->law = (mo_elastic_law){&t->part, dt, pow(t->c.def.dx, 3), t->c.arena};
    mo_node_law law = mo_elastic_law_of(&t->law);
    assert_int_equal(law.derive(law.user, 0, rest, true, gradient, &t->node.H), MO_OK);
    assert_int_equal(mo_csr_create(n, n, mo_csr_entries(&t->node.H), &H), MO_OK);
    memcpy(H.row, t->node.H.row, sizeof *H.row * ((size_t)n + 1));
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = H.row[i]; e < H.row[i + 1]; e++) {
            H.col[e] = t->node.H.col[e];
            H.val[e] = t->pinned[i / 3] || t->pinned[H.col[e] / 3] ? 0 : t->node.H.val[e];
        }
    assert_int_equal(mo_nodes_create(&H, nodes, NULL), MO_OK);
    memcpy(nodes->velocity, t->target, sizeof(double) * (size_t)n);
    assert_int_equal(mo_pressure_attach(&t->def, &t->l, NULL), MO_OK);
    assert_null(mo_system_fault(&t->l.system));
    free(gradient), free(rest);
}

static void trial_destroy(trial *t)
{
    mo_liquid_destroy(&t->l);
    mo_case_destroy(&t->c);
    mo_node_part_destroy(&t->node);
    mo_elastic_destroy(&t->body);
    free(t->pinned), free(t->unknown), free(t->target);
    mo_sheet_destroy(&t->sheet);
}

static mo_system_info solve_trial(trial *t, mo_route route, double tolerance, int32_t rounds)
{
    mo_system_info info;
    mo_solver_def solver = {.route = route, .tolerance = tolerance, .max_iterations = 3000, .rounds = rounds};
    assert_int_equal(mo_system_solve(&t->l.system, &solver, &info, NULL), MO_OK);
    return info;
}

static double random_number(uint32_t i, uint32_t seed) { return 2 * mo_unit(mo_hash(i, seed, 77)) - 1; }

// A motion of all as velocities of faces, gaps and vertices.
static void set_motion(trial *t, const flow *f)
{
    double *v = t->l.system.nodes.velocity;
    set_flow(&t->c, f, &t->l);
    for (int32_t i = 0; i < 3 * t->body.vertices; i++) v[i] = mo_get(flow_at(f, t->body.position[i / 3]), i % 3);
}

// The rows on vertices are those of a sheet that moves by a script, and the force on vertices is their transpose.
static void rows_are_those_of_a_scripted_sheet(void **state)
{
    (void)state;
    for (int sort = 0; sort < SHEETS; sort++) {
        trial t = {.radius = 0.4};
        make_sheet(&t, sort, 16, 0.21, 0.4), make_cloth(&t, 0.2, 2000, false), assemble(&t, 16, drop, 0);
        mo_block *b = t.l.system.block[MO_BLOCK_PRESSURE];
        size_t vertices = (size_t)t.body.vertices;
        double(*V)[3] = malloc(sizeof *V * vertices), (*F)[3] = calloc(vertices, sizeof *F);
        double *rate = calloc((size_t)b->rows, sizeof(double)), most = 0, scale = 0, work = 0, power = 0;
        for (size_t i = 0; i < 3 * vertices; i++) V[i / 3][i % 3] = random_number((uint32_t)i, 1);
        mo_csr_multiply_add(&b->on[MO_NODES], 1, V[0], rate);
        mo_liquid_system other;
        t.def.sheet_node = NULL, t.def.sheet = (const double(*)[3])V;
        assert_int_equal(mo_pressure_assemble(&t.def, t.c.arena, &other, NULL), MO_OK);
        const mo_block *c = other.system.block[MO_BLOCK_PRESSURE];
        assert_int_equal(c->rows, b->rows);
        for (int32_t r = 0; r < b->rows; r++) {
            most = fmax(most, fabs(rate[r] + c->rhs[r])), scale = fmax(scale, fabs(rate[r]));
            b->x[r] = random_number((uint32_t)r, 2), work -= b->x[r] * rate[r];
        }
        mo_pressure_sheet_forces(&t.def, &t.l, F);
        for (size_t i = 0; i < 3 * vertices; i++) power += F[i / 3][i % 3] * V[i / 3][i % 3];
        work *= pow(t.c.def.dx, 3);
        print_message("sheet %d: rows differ by %.1e of %.1e, power %.12g and %.12g\n", sort, most, scale, work, power);
        assert_true(most < 1e-12 * scale && scale > 1 && fabs(work - power) < 1e-12 * fabs(power));
        mo_liquid_destroy(&other);
        free(V), free(F), free(rate);
        trial_destroy(&t);
    }
}

// Rows do not see a common motion.
static void a_common_motion_is_free(void **state)
{
    (void)state;
    const mo_vec3 zero = {0, 0, 0}, axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sort = 0; sort < SHEETS; sort++) {
        trial t = {.radius = 0.4};
        make_sheet(&t, sort, 16, 0.21, 0.4), make_cloth(&t, 0.2, 2000, false), assemble(&t, 16, drop, 0);
        join(&t);
        mo_block *b = t.l.system.block[MO_BLOCK_PRESSURE];
        double *r = malloc(sizeof(double) * (size_t)b->rows), most = 0;
        for (int k = 0; k < 6; k++) {
            set_motion(&t, &(flow){k < 3 ? axis[k] : zero, k < 3 ? zero : axis[k - 3], {0.5, 0.5, 0.5}, zero});
            mo_block_residual(&t.l.system, b, r);
            for (int32_t i = 0; i < b->rows; i++) most = fmax(most, fabs(r[i]) * t.c.def.dx);
        }
        print_message("sheet %d: common motion leaves %.1e\n", sort, most);
        assert_true(most < 1e-11);
        free(r);
        trial_destroy(&t);
    }
}

// The momentum of liquid and cloth along each axis.
static mo_vec3 momentum_of(const trial *t)
{
    const mo_system *s = &t->l.system;
    double sum[3] = {0}, volume = pow(t->c.def.dx, 3);
    for (int32_t k = 0; k < s->faces.count - t->l.gaps; k++)
        sum[mo_face_axis(t->l.face_at[k])] += s->faces.mass[k] * s->faces.velocity[k];
    for (int32_t i = 0; i < s->nodes.count; i++) {
        double more = s->nodes.nodes->attached ? s->nodes.nodes->attached[i] : 0;
        sum[i % 3] += (t->body.mass[i / 3] / volume + more) * s->nodes.velocity[i];
    }
    return mo_v3(sum[0], sum[1], sum[2]);
}

// Cloth that moves into resting liquid: what it loses the liquid gets. Both routes find the same.
static void momentum_is_exact_and_routes_agree(void **state)
{
    (void)state;
    for (int sort = 0; sort < SHEETS; sort++)
        for (int heavy = 0; heavy < 3; heavy++) {
            double per_area = (double[]){0.05, 0.5, 20}[heavy], lost = 0, apart = 0, fastest = 0, *first = NULL;
            int32_t iterations[2];
            for (int route = 0; route < 2; route++) {
                trial t = {.radius = 0.4};
                make_sheet(&t, sort, 16, 0.21, 0.4), make_cloth(&t, per_area, 2000, false);
                for (int32_t v = 0; v < t.body.vertices; v++) {
                    mo_vec3 x = t.body.position[v];
                    t.target[3 * v] = 0.3 * sin(9 * x.z), t.target[3 * v + 1] = -1, t.target[3 * v + 2] = x.x - 0.5;
                }
                assemble(&t, 16, drop, 0), join(&t);
                mo_vec3 before = momentum_of(&t);
                mo_system_info info = solve_trial(&t, (mo_route)route, 1e-11, 1);
                mo_vec3 change = mo_sub(momentum_of(&t), before);
                const mo_group *nodes = &t.l.system.nodes;
                lost = fmax(lost, mo_norm(change) / mo_norm(before));
                iterations[route] = info.solve.iterations;
                if (!route) {
                    assert_int_equal(info.fallbacks, 0);
                    assert_string_equal(info.sets[0].form, "joint");
                }
                if (!first)
                    first = memcpy(malloc(sizeof(double) * (size_t)nodes->count), nodes->velocity,
                                   sizeof(double) * (size_t)nodes->count);
                for (int32_t i = 0; i < nodes->count; i++)
                    apart = fmax(apart, fabs(nodes->velocity[i] - first[i])), fastest = fmax(fastest, fabs(first[i]));
                trial_destroy(&t);
            }
            print_message("sheet %d, %g kg/m^2: momentum changed by %.1e, routes differ by %.1e of %.2g, %d and %d "
                          "iterations\n",
                          sort, per_area, lost, apart, fastest, iterations[0], iterations[1]);
            assert_true(lost < 1e-9 && apart < 1e-9 * fastest + 1e-9);
            free(first);
        }
}

// Light cloth that moves into resting liquid, at the tolerance of simulations.
static void iterations_are_few(void **state)
{
    (void)state;
    for (int sort = 0; sort < SHEETS; sort++) {
        trial t = {.radius = 0.4};
        make_sheet(&t, sort, 32, 0.21, 0.4), make_cloth(&t, 0.2, 2000, false);
        for (int32_t v = 0; v < t.body.vertices; v++) t.target[3 * v + 1] = -1 + 0.3 * sin(9 * t.body.position[v].z);
        assemble(&t, 32, drop, 0), join(&t);
        mo_system_info info = solve_trial(&t, MO_ROUTE_FAST, 1e-6, 1);
        print_message("sheet %d, 32 cells: %d iterations\n", sort, info.solve.iterations);
        assert_true(info.solve.iterations <= 25 && info.fallbacks == 0);
        trial_destroy(&t);
    }
}

// ---- A dense reference ----

// One row of the conditions of optimality, H (v - v^) + dt B^T x = 0, for unknown i of a group.
static void write_unknown(const mo_system *s, int32_t g, int32_t i, int32_t at, int32_t n, const double *aim, double *A,
                          double *b)
{
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    const mo_group *group = &s->group[g];
    int32_t unknowns = s->faces.count + s->nodes.count;
    double *e = calloc(2 * (size_t)group->count, sizeof(double)), *f = e + group->count;
    e[i] = 1;
    mo_group_apply(group, 1, e, f);
    bool held = f[i] == 0;
    b[at + i] = held ? aim[i] : 0;
    A[(at + i) * n + at + i] = 1;
    for (int32_t k = 0; k < group->count && !held; k++) A[(at + i) * n + at + k] = f[k], b[at + i] += f[k] * aim[k];
    for (int32_t r = 0; r < p->rows; r++)
        for (int64_t k = p->on[g].row[r]; k < p->on[g].row[r + 1]; k++) {
            if (p->on[g].col[k] != i) continue;
            A[(unknowns + r) * n + at + i] += p->on[g].val[k];
            if (!held) A[(at + i) * n + unknowns + r] += s->dt * p->on[g].val[k];
        }
    free(e);
}

// Velocities of faces and nodes, then pressures.
static double *dense_solution(trial *t, int32_t *size)
{
    mo_system *s = &t->l.system;
    const mo_block *p = s->block[MO_BLOCK_PRESSURE];
    int32_t unknowns = s->faces.count + s->nodes.count, n = *size = unknowns + p->rows;
    double *A = calloc((size_t)n * (size_t)n, sizeof(double)), *b = calloc((size_t)n, sizeof(double));
    for (int32_t i = 0; i < s->faces.count; i++) write_unknown(s, MO_FACES, i, 0, n, s->faces.velocity, A, b);
    for (int32_t i = 0; i < s->nodes.count; i++)
        write_unknown(s, MO_NODES, i, s->faces.count, n, s->nodes.velocity, A, b);
    for (int32_t r = 0; r < p->rows; r++) b[unknowns + r] = p->rhs[r];
    eliminate(n, A, b);
    free(A);
    return b;
}

// A sheet that is held on one side, in a drop that moves. Both routes against the dense solution.
static void a_solve_is_the_dense_one(void **state)
{
    (void)state;
    for (int heavy = 0; heavy < 2; heavy++)
        for (int route = 0; route < 2; route++) {
            trial t = {.radius = 0.42};
            int32_t n;
            double most = 0, scale = 0;
            make_sheet(&t, PLATE, 7, 0.5, 0.4), make_cloth(&t, heavy ? 20 : 0.2, 500, true);
            for (int32_t v = 0; v < t.body.vertices; v++)
                for (int a = 0; a < 3; a++)
                    t.target[3 * v + a] = t.pinned[v] ? 0 : 0.3 * random_number((uint32_t)(3 * v + a), 4);
            assemble(&t, 7, drop, 9.81), join(&t);
            mo_system *s = &t.l.system;
            for (int32_t k = 0; k < s->faces.count; k++) s->faces.velocity[k] = random_number((uint32_t)k, 5);
            double *x = dense_solution(&t, &n);
            mo_system_info info = solve_trial(&t, (mo_route)route, 1e-9, 1);
            for (int32_t k = 0; k < s->faces.count + s->nodes.count; k++) {
                double own = k < s->faces.count ? s->faces.velocity[k] : s->nodes.velocity[k - s->faces.count];
                most = fmax(most, fabs(own - x[k])), scale = fmax(scale, fabs(x[k]));
            }
            print_message("%s cloth, route %d: %d unknowns differ by %.1e of %.2g, %d iterations\n",
                          heavy ? "heavy" : "light", route, n, most, scale, info.solve.iterations);
            assert_true(most < 1e-8 * scale);
            free(x);
            trial_destroy(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_a_scripted_sheet), cmocka_unit_test(a_common_motion_is_free),
        cmocka_unit_test(momentum_is_exact_and_routes_agree), cmocka_unit_test(iterations_are_few),
        cmocka_unit_test(a_solve_is_the_dense_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
