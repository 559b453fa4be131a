// Elastic bodies as nodes of the system: the law of a step against differences, Newton's method in rounds, contact with
// a floor on both routes, what is conserved.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/tets.h"
#include "system/elastic_law.h"
#include "system/system.h"
#include <stdlib.h>
#include <string.h>

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static double random_number(uint32_t a, uint32_t b) { return 2 * mo_unit(mo_hash(a, b, 77)) - 1; }

typedef struct world { // a block of edge 1 on the floor y = 0
    mo_elastic_body body;
    uint8_t *pinned;
    double *target;
    mo_node_part node;
    mo_arena *arena;
    mo_elastic_part part;
    mo_elastic_law law;
    mo_system system;
} world;

static world *world_create(bool flat, double element, double young, double dt, bool pins)
{
    world *w = calloc(1, sizeof *w);
    mo_tets mesh;
    mo_pose pose = mo_pose_identity();
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, 0.4, 3);
    pose.position = mo_v3(0.5, 0.5, flat ? 0 : 0.5);
    assert_int_equal(mo_tets_box(mo_v3(1, 1, 1), pose, element, flat, &mesh, NULL), MO_OK);
    assert_int_equal(mo_elastic_create(&mesh, &law, 500, 0.1, &w->body), MO_OK);
    mo_tets_destroy(&mesh);
    int32_t n = mo_elastic_unknowns(&w->body), d = w->body.dimension;
    w->pinned = calloc((size_t)w->body.vertices, 1), w->target = calloc((size_t)n, sizeof(double));
    for (int32_t v = 0; pins && v < w->body.vertices; v++) w->pinned[v] = w->body.rest[v].y > 1 - 1e-9;
    assert_int_equal(mo_elastic_part_create(&w->body, w->pinned, &w->node, NULL), MO_OK);
    w->arena = mo_arena_create();
    w->part = (mo_elastic_part){&w->body, w->target, 0.2};
    w->law = (mo_elastic_law){&w->part, dt, 0.001, w->arena};
    mo_node_law node_law = mo_elastic_law_of(&w->law);
    w->system.dt = dt;
    assert_int_equal(mo_nodes_join(1, &w->node, &node_law, &w->system.nodes, NULL), MO_OK);
    for (int32_t i = 0; i < n; i++) {
        double v = w->pinned[i / d] ? 0 : random_number((uint32_t)i, 2) + (i % d == 1 ? -3 : 0);
        w->target[i] = w->system.nodes.velocity[i] = v;
    }
    return w;
}

static void world_destroy(world *w)
{
    mo_system_destroy(&w->system);
    mo_node_part_destroy(&w->node);
    mo_elastic_destroy(&w->body);
    mo_arena_destroy(w->arena);
    free(w->pinned), free(w->target), free(w);
}

static void the_law_and_its_derivatives(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.5, 100, 0.02, false);
        int32_t n = mo_elastic_unknowns(&w->body);
        double *v = malloc(sizeof(double) * (size_t)n * 4), *g = v + n, *lo = g + n, *hi = lo + n, h = 1e-5;
        for (int32_t i = 0; i < n; i++) v[i] = 3 * random_number((uint32_t)i, 5);
        mo_node_law l = mo_elastic_law_of(&w->law);
        mo_csr H, scratch;
        assert_int_equal(mo_elastic_pattern(&w->body, &H), MO_OK);
        assert_int_equal(mo_elastic_pattern(&w->body, &scratch), MO_OK);
        assert_int_equal(l.derive(l.user, 0, v, false, g, &H), MO_OK);
        double size = mo_max_abs(n, g), stiff = 0;
        for (int64_t e = 0; e < mo_csr_entries(&H); e++) stiff = fmax(stiff, fabs(H.val[e]));
        for (int32_t i = 0; i < n; i++) {
            double e[2], keep = v[i];
            for (int side = 0; side < 2; side++) {
                v[i] = keep + (side ? h : -h);
                assert_int_equal(l.value(l.user, 0, v, &e[side]), MO_OK);
                assert_int_equal(l.derive(l.user, 0, v, false, side ? hi : lo, &scratch), MO_OK);
            }
            v[i] = keep;
            near((e[1] - e[0]) / (2 * h), g[i], 1e-7 * size);
            for (int32_t j = 0; j < n; j++) near(mo_csr_entry(&H, i, j), (hi[j] - lo[j]) / (2 * h), 1e-7 * stiff);
        }
        mo_csr_destroy(&H), mo_csr_destroy(&scratch);
        free(v);
        world_destroy(w);
    }
}

static mo_solver_def solver_of(mo_route route, int32_t rounds)
{
    return (mo_solver_def){.route = route, .tolerance = 1e-10, .max_iterations = 20000, .rounds = rounds};
}

// What is left of the conditions of optimality: gradient + dt B^T x on what moves, relative to the largest weight.
static double residual(world *w)
{
    int32_t n = mo_elastic_unknowns(&w->body);
    double *g = calloc(2 * (size_t)n, sizeof(double)), *f = g + n, most = 0, size = 0;
    mo_node_law l = mo_elastic_law_of(&w->law);
    assert_int_equal(l.derive(l.user, 0, w->system.nodes.velocity, false, g, &w->node.H), MO_OK);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (w->system.block[k]) mo_csr_push(&w->system.block[k]->on[MO_NODES], w->system.dt, w->system.block[k]->x, f);
    for (int32_t i = 0; i < n; i++) {
        if (w->pinned[i / w->body.dimension]) continue;
        most = fmax(most, fabs(g[i] + f[i]));
        size = fmax(size, w->body.mass[i / w->body.dimension] / w->law.volume * fabs(w->target[i]));
    }
    free(g);
    return most / size;
}

// Soft and stiff bodies, gentle and violent steps: the equations of the step hold in the end.
static void newton_solves_the_step(void **state)
{
    (void)state;
    static const double young[] = {1e2, 1e5}, dt[] = {1e-3, 0.05, 1};
    for (int k = 0; k < 6; k++)
        for (int flat = 0; flat < 2; flat++) {
            world *w = world_create(flat, 0.34, young[k % 2], dt[k / 2], k % 3 == 0);
            mo_solver_def solver = solver_of(MO_ROUTE_FAST, 60);
            mo_system_info info;
            assert_int_equal(mo_system_solve(&w->system, &solver, &info, NULL), MO_OK);
            assert_true(info.rounds > 1 && info.rounds < 60);
            assert_true(residual(w) < 1e-6);
            for (int32_t i = 0; i < w->system.nodes.count; i++)
                if (w->pinned[i / w->body.dimension]) assert_true(w->system.nodes.velocity[i] == 0);
            world_destroy(w);
        }
}

// Rows of contact with the floor below and of friction along it, for the lowest vertices: y + dt v_y >= 0.
static void add_floor(world *w, double friction)
{
    int32_t d = w->body.dimension, count = 0, *low = malloc(sizeof(int32_t) * (size_t)w->body.vertices);
    mo_system *s = &w->system;
    for (int32_t v = 0; v < w->body.vertices; v++)
        if (w->body.position[v].y < 1e-9) low[count++] = v;
    mo_block *c = s->block[MO_BLOCK_CONTACT] = mo_calloc(sizeof *c);
    mo_block *z = s->block[MO_BLOCK_FRICTION] = mo_calloc(sizeof *z);
    mo_block *both[2] = {c, z};
    for (int k = 0; k < 2; k++) {
        mo_block *b = both[k];
        b->rows = (k + 1) * count;
        assert_int_equal(mo_csr_create(b->rows, s->nodes.count, b->rows, &b->on[MO_NODES]), MO_OK);
        b->x = mo_calloc(sizeof(double) * (size_t)b->rows), b->lower = mo_calloc(sizeof(double) * (size_t)b->rows);
        b->upper = mo_calloc(sizeof(double) * (size_t)b->rows), b->rhs = mo_calloc(sizeof(double) * (size_t)b->rows);
        b->softness = mo_calloc(sizeof(double) * (size_t)b->rows);
        int64_t at = 0;
        for (int32_t i = 0; i < b->rows; i++) {
            int32_t vertex = low[i / (k + 1)], axis = k == 0 ? 1 : i % 2 == 0 ? 0 : 2;
            b->softness[i] = 1e-6;
            if (k == 0) b->upper[i] = INFINITY;
            if (axis < d) b->on[MO_NODES].col[at] = d * vertex + axis, b->on[MO_NODES].val[at++] = k ? 1 : -1;
            b->on[MO_NODES].row[i + 1] = at;
        }
    }
    s->friction = mo_calloc(sizeof(double) * (size_t)count);
    s->tangent = mo_calloc(sizeof(mo_vec3) * 2 * (size_t)count);
    for (int32_t i = 0; i < count; i++) s->friction[i] = friction;
    free(low);
}

// A block thrown onto the floor: both routes agree, nothing pulls, nothing passes the floor, and friction is bounded.
static void contact_with_a_floor(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        double *v[2];
        int32_t n = 0, pushing = 0, sliding = 0, sticking = 0;
        for (int route = 0; route < 2; route++) {
            world *w = world_create(flat, 0.25, 1e4, 0.01, false);
            add_floor(w, 0.3);
            mo_solver_def solver = solver_of((mo_route)route, 40);
            mo_system_info info;
            assert_int_equal(mo_system_solve(&w->system, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            assert_string_equal(info.form, route ? "dual" : "joint");
            if (!route) assert_true(info.fallbacks == 0);
            assert_true(residual(w) < 1e-5);
            n = w->system.nodes.count;
            v[route] = malloc(sizeof(double) * (size_t)n);
            memcpy(v[route], w->system.nodes.velocity, sizeof(double) * (size_t)n);
            const mo_block *c = w->system.block[MO_BLOCK_CONTACT], *z = w->system.block[MO_BLOCK_FRICTION];
            for (int32_t i = 0; i < c->rows; i++) {
                assert_true(c->x[i] >= 0);
                assert_true(mo_csr_row_product(&c->on[MO_NODES], i, v[route]) < 1e-4);
                pushing += c->x[i] > 0;
            }
            for (int32_t i = 0; i < z->rows; i++) {
                double bound = 0.3 * c->x[i / 2] * (1 + 1e-3) + 1e-9;
                assert_true(fabs(z->x[i]) <= bound);
                sliding += z->x[i] != 0 && fabs(z->x[i]) > 0.99 * 0.3 * c->x[i / 2];
                sticking += z->x[i] != 0 && fabs(z->x[i]) < 0.98 * 0.3 * c->x[i / 2];
            }
            world_destroy(w);
        }
        assert_true(pushing > 0 && sliding + sticking > 0);
        for (int32_t i = 0; i < n; i++) near(v[0][i], v[1][i], 2e-4);
        free(v[0]), free(v[1]);
    }
}

// Without pins, drag and damping a step keeps momentum, and forces have no moment about where they act.
static void momentum_stays(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.5, 1e3, 0.02, false);
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 60);
        mo_system_info info;
        int32_t d = w->body.dimension;
        w->part.drag = 0, w->body.elasticity.viscosity = 0;
        assert_int_equal(mo_system_solve(&w->system, &solver, &info, NULL), MO_OK);
        mo_vec3 sum = {0}, moment = {0};
        double size = 0;
        for (int32_t k = 0; k < w->body.vertices; k++) {
            const double *u = w->system.nodes.velocity + d * k, *t = w->target + d * k;
            mo_vec3 v = mo_v3(u[0], u[1], d == 3 ? u[2] : 0), from = mo_v3(t[0], t[1], d == 3 ? t[2] : 0);
            mo_vec3 x = mo_mad(w->body.position[k], w->system.dt, v), change = mo_sub(v, from);
            sum = mo_mad(sum, w->body.mass[k], change), moment = mo_mad(moment, w->body.mass[k], mo_cross(x, change));
            size += w->body.mass[k] * mo_norm(from);
        }
        near(mo_norm(sum), 0, 1e-9 * size);
        near(mo_norm(moment), 0, 1e-9 * size);
        world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_and_its_derivatives),
        cmocka_unit_test(newton_solves_the_step),
        cmocka_unit_test(contact_with_a_floor),
        cmocka_unit_test(momentum_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
