// Elastic bodies as nodes of the system: the law of a step against differences, Newton's method in rounds, contact with
// a floor on both routes, what is conserved.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "elastic_block_test.h"

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.15g is not %.15g within %g", a, b, tolerance);
}

static void the_law_and_its_derivatives(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world *w = world_create(flat, 0.5, 100, 0.02, false);
        int32_t n = mo_elastic_unknowns(&w->body);
        double *v = malloc(sizeof(double) * (size_t)n * 4), *g = v + n, *lo = g + n, *hi = lo + n, h = 1e-5;
        for (int32_t i = 0; i < n; i++) v[i] = 3 * world_random((uint32_t)i, 5);
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
