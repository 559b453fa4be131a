// The form `viscous` with elastic bodies: its matrix against the blocks, its solution against the equations and the
// papers' route, with and without contacts, its iterations.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "soft_test.h"
#include "system/applied_form.h"
#include "system/solids.h"
#include "system/viscous.h"
#include "ration.h"
#include <math.h>

static const double dt = 0.01;

static double random_number(uint32_t a, uint32_t b) { return 2 * mo_unit(mo_hash(a, b, 77)) - 1; }

static mo_solver_def solver_of(mo_route route, double tolerance, int32_t rounds)
{
    mo_solver_def out = {.route = route, .tolerance = tolerance, .max_iterations = 20000, .rounds = rounds};
    if (rounds < 10 && route == MO_ROUTE_PAPER) memcpy(out.method, "delassus", 9); // the same H in every round
    return out;
}

// Kinetic energy over dt, dissipation by stress, and what restores the trace: y.K y of motions u, v.
static double energy(const mo_viscous_form *f, const double *u, const double *v)
{
    const mo_system *s = f->system;
    const double *of[MO_GROUPS] = {u, v, v + s->bodies.count};
    double sum = 0, *r = malloc(sizeof(double) * (size_t)(f->stress->rows + f->pressures + mo_solids_count(s)));
    for (int32_t i = 0; i < f->faces; i++) sum += s->faces.mass[i] * u[i] * u[i] / s->dt;
    for (int32_t g = MO_BODIES; g <= MO_NODES; g++) sum += 2 * mo_group_energy(&s->group[g], of[g], r) / s->dt;
    mo_block_multiply(f->stress, of, r);
    for (int32_t i = 0; i < f->stress->rows; i++) {
        double weight[2];
        int32_t partner = mo_viscous_stiffness(&f->stress->compliance, i, weight);
        sum += r[i] * (weight[0] * r[i] + weight[1] * r[partner]);
    }
    mo_block_multiply(f->pressure, of, r);
    for (int32_t i = 0; i < f->pressures; i++) sum += f->gamma[i] * r[i] * r[i];
    free(r);
    return sum;
}

static void matrix_of_the_form(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        soft_case c;
        mo_liquid_system l;
        mo_viscous_form f;
        soft_def d = {12, k % 2, 50, 1e4, 0.3, 1.1, .rigid = k / 2, .pinned = k / 2, .second = !(k / 2)};
        mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-6, 1);
        soft_case_create(&c, &d);
        assert_int_equal(mo_case_stokes_assemble(&c.c, dt, &solver, &l, NULL), MO_OK);
        mo_system *s = &l.system;
        double *target = malloc(sizeof(double) * (size_t)s->nodes.count);
        assert_int_equal(s->nodes.kind->linearise(&s->nodes, s->nodes.velocity, target, NULL), MO_OK);
        assert_int_equal(mo_viscous_form_create(s, 3, &f), MO_OK);
        assert_true(f.extra > f.carried && f.carried == (d.rigid ? (d.flat ? 4 : 6) : 0));
        size_t solids = (size_t)mo_solids_count(s);
        double *y = malloc(sizeof(double) * 4 * ((size_t)f.n + solids)), *Ky = y + f.n, *u = Ky + f.n, *v = u + f.n;
        double *back = v + solids;
        for (int32_t i = 0; i < f.n; i++) y[i] = random_number((uint32_t)i, (uint32_t)k);
        mo_viscous_velocity(&f, y, u, v);
        for (size_t i = 0; i < solids; i++)
            if (f.dof[i] < 0) assert_true(v[i] == 0); // held at rest
        mo_csr_multiply(&f.K, y, Ky);
        double own = 0, other = energy(&f, u, v);
        for (int32_t i = 0; i < f.n; i++) own += y[i] * Ky[i];
        assert_true(fabs(own - other) < 1e-10 * other);
        mo_viscous_unknowns(&f, u, v, back);
        for (int32_t i = 0; i < f.n; i++) assert_true(fabs(back[i] - y[i]) < 1e-9);
        for (int32_t i = 0; i < f.n; i++) // symmetric
            for (int64_t e = f.K.row[i]; e < f.K.row[i + 1]; e++)
                assert_true(fabs(f.K.val[e] - mo_csr_entry(&f.K, f.K.col[e], i)) <= 1e-11 * fabs(f.K.val[e]) + 1e-12);
        free(y), free(target);
        mo_viscous_form_destroy(&f);
        mo_liquid_destroy(&l);
        soft_case_destroy(&c);
    }
}

typedef struct outcome {
    int32_t count; // unknowns of solids
    double *v;
    mo_system_info info;
    int32_t pushing, sliding, sticking; // contacts, tangents
} outcome;

// Forces, momentum and rows fit together: what is left of the equations, relative.
static void check_equations(const soft_case *c, const mo_liquid_system *l, const double *u_star, double tolerance)
{
    const mo_system *s = &l->system;
    const mo_block *p = s->block[MO_BLOCK_PRESSURE], *v = s->block[MO_BLOCK_STRESS];
    double *force = mo_system_forces(s), size = 0, left = 0;
    for (int32_t i = 0; i < s->faces.count; i++) force[i] = 0;
    for (int32_t k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS; k++) mo_block_add_force(s->block[k], MO_FACES, force);
    for (int32_t i = 0; i < s->faces.count; i++) {
        size = fmax(size, fabs(u_star[i]));
        left = fmax(left, fabs(s->faces.velocity[i] - u_star[i] - s->dt * force[i] / s->faces.mass[i]));
    }
    assert_true(left < tolerance * size);
    double *r = malloc(sizeof(double) * (size_t)(p->rows + v->rows)), dx = c->c.grid->dx;
    mo_block_residual(s, p, r);
    assert_true(mo_max_abs(p->rows, r) < tolerance * size / dx);
    mo_block_residual(s, v, r);
    mo_csr_multiply_add(&v->compliance, -1, v->x, r);
    assert_true(mo_max_abs(v->rows, r) < tolerance * size / dx);
    free(r), mo_free(force);
    // Nodes: the gradient of what they minimise and the forces of rows.
    int32_t n = s->nodes.count;
    double *g = calloc((size_t)n, sizeof(double));
    for (int32_t k = 0; k < c->soft.count; k++) {
        const mo_node_law *law = &s->nodes.nodes->law;
        double *of = malloc(sizeof(double) * (size_t)(c->soft.first[k + 1] - c->soft.first[k]));
        const double *x = s->nodes.velocity + c->soft.first[k];
        assert_int_equal(law->derive(law->user, k, x, false, of, &s->nodes.nodes->part[k].H), MO_OK);
        for (int32_t i = c->soft.first[k]; i < c->soft.first[k + 1]; i++) g[i] = of[i - c->soft.first[k]];
        free(of);
    }
    double *push = calloc((size_t)n, sizeof(double)), most = 0;
    for (int32_t k = MO_BLOCK_PRESSURE; k <= MO_BLOCK_STRESS; k++) mo_block_add_force(s->block[k], MO_NODES, push);
    mo_nodes_attached_force(&s->nodes, s->dt, push);
    left = 0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, s->dt * fabs(push[i]));
    for (int32_t k = 0; k < c->soft.count; k++)
        for (int32_t i = c->soft.first[k]; i < c->soft.first[k + 1]; i++)
            if (!c->soft.node[k].held[i - c->soft.first[k]]) left = fmax(left, fabs(g[i] - s->dt * push[i]));
    assert_true(left < 10 * tolerance * most);
    free(g), free(push);
}

// Nothing pulls, what pushes does not approach, and friction is within the bounds it had.
static void check_contacts(const mo_system *s, double friction, outcome *out)
{
    const mo_block *n = s->block[MO_BLOCK_CONTACT], *z = s->block[MO_BLOCK_FRICTION];
    double *r = malloc(sizeof(double) * (size_t)(n->rows + z->rows)), largest = 0;
    mo_block_residual(s, n, r);
    for (int32_t i = 0; i < n->rows; i++) largest = fmax(largest, n->x[i]);
    for (int32_t i = 0; i < n->rows; i++) {
        assert_true(n->x[i] >= 0);
        assert_true(r[i] < 1e-3);
        if (n->x[i] > 1e-6 * largest) assert_true(fabs(r[i]) < 1e-3);
        out->pushing += n->x[i] > 0;
    }
    for (int32_t i = 0; i < z->rows; i++) {
        assert_true(fabs(z->x[i]) <= z->upper[i] * (1 + 1e-12));
        out->sliding += z->x[i] != 0 && fabs(z->x[i]) == z->upper[i];
        out->sticking += z->x[i] != 0 && fabs(z->x[i]) < z->upper[i];
    }
    if (friction == 0) assert_int_equal(out->sliding + out->sticking, 0);
    free(r);
}

// friction < 0: there are no contacts.
static outcome solve_contacts(const soft_def *d, double friction, mo_route route, double tolerance, int32_t rounds,
                              bool check)
{
    soft_case c;
    mo_liquid_system l;
    outcome out = {0};
    mo_solver_def solver = solver_of(route, tolerance, rounds);
    soft_case_create(&c, d);
    assert_int_equal(mo_case_stokes_assemble(&c.c, dt, &solver, &l, NULL), MO_OK);
    if (friction >= 0) soft_add_contacts(&c, &l.system, friction);
    double *before = malloc(sizeof(double) * (size_t)l.system.faces.count);
    memcpy(before, l.system.faces.velocity, sizeof(double) * (size_t)l.system.faces.count);
    assert_int_equal(mo_system_solve(&l.system, &solver, &out.info, NULL), MO_OK);
    assert_int_equal(out.info.solve.reason, MO_REASON_CONVERGED);
    assert_int_equal(out.info.fallbacks, 0);
    assert_string_equal(out.info.form, route == MO_ROUTE_FAST ? "viscous" : "dual");
    out.count = mo_solids_count(&l.system);
    out.v = malloc(sizeof(double) * (size_t)out.count);
    mo_solids_get(&l.system, out.v);
    if (check) check_equations(&c, &l, before, 100 * tolerance);
    if (friction >= 0) check_contacts(&l.system, friction, &out);
    free(before);
    mo_liquid_destroy(&l);
    soft_case_destroy(&c);
    return out;
}

static outcome solve(const soft_def *d, mo_route route, double tolerance, int32_t rounds, bool check)
{
    return solve_contacts(d, -1, route, tolerance, rounds, check);
}

static double difference(const outcome *a, const outcome *b)
{
    double most = 0, size = 0;
    assert_int_equal(a->count, b->count);
    for (int32_t i = 0; i < a->count; i++) most = fmax(most, fabs(a->v[i] - b->v[i])), size = fmax(size, fabs(b->v[i]));
    return most / size;
}

// One round, so that both solve the same quadratic problem.
static void routes_agree(void **state)
{
    (void)state;
    static const double eta[] = {1, 1e2, 1e4}, young[] = {1e4, 1e6};
    for (int k = 0; k < 12; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 24 : 12,          flat, eta[k / 2 % 3],    young[k / 6],
                      k % 3 == 1 ? 0.49 : 0.3, 1.2,  .rigid = k % 4 < 2};
        d.pinned = k % 3 == 2, d.second = k % 4 >= 2;
        outcome fast = solve(&d, MO_ROUTE_FAST, 1e-8, 1, false), paper = solve(&d, MO_ROUTE_PAPER, 1e-8, 1, false);
        assert_true(difference(&fast, &paper) < 1e-6);
        free(fast.v), free(paper.v);
    }
}

// Newton's method to its end: the equations of the step hold.
static void equations_hold(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 24 : 12, flat, k / 2 ? 1e3 : 5, 1e4, 0.45, 1.2, .rigid = true, .pinned = k / 2};
        outcome one = solve(&d, MO_ROUTE_FAST, 1e-8, 20, true);
        assert_true(one.info.rounds > 2 && one.info.rounds < 20);
        free(one.v);
    }
}

// So does the papers' route, whose steps are others: its H is always convex.
static void newton_ends_at_one_place(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        soft_def d = {24, true, k ? 1e3 : 5, 1e4, 0.4, 1.2, .rigid = true, .second = true, .heavy = true};
        outcome fast = solve_contacts(&d, 0, MO_ROUTE_FAST, 1e-8, 60, false);
        outcome paper = solve_contacts(&d, 0, MO_ROUTE_PAPER, 1e-8, 60, false);
        assert_true(difference(&fast, &paper) < 1e-5);
        free(fast.v), free(paper.v);
    }
}

static void report(const soft_def *d, const outcome *one)
{
    print_message("%dD, %d cells, eta %g, E %g, nu %g, %d contacts that push: %d iterations\n", d->flat ? 2 : 3,
                  d->cells, d->viscosity, d->young, d->poisson, one->pushing, one->info.solve.iterations);
}

static void iterations_stay_few(void **state)
{
    (void)state;
    static const double eta[] = {1, 1e2, 1e4, 1e6};
    static const int32_t most[] = {18, 20, 30, 34};
    for (int k = 0; k < 16; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 32 : 16,         flat, eta[k / 4],    k / 2 % 2 ? 1e6 : 1e4,
                      k / 2 % 2 ? 0.3 : 0.49, 1,    .rigid = false};
        outcome one = solve(&d, MO_ROUTE_FAST, 1e-6, 1, false);
        report(&d, &one);
        if (one.info.solve.iterations > most[k / 4]) fail_msg("too many iterations");
        free(one.v);
    }
}

// With contacts on a floor, between elastic bodies and with a rigid one; rounds have bounds of friction from the round
// before, so that both routes solve the same problems.
static void routes_agree_on_contacts(void **state)
{
    (void)state;
    static const double eta[] = {1, 1e2, 1e4}, young[] = {1e4, 1e6}, poisson[] = {0.3, 0.49};
    int32_t pushing = 0, sliding = 0, sticking = 0;
    for (int k = 0; k < 24; k++) {
        double friction = k % 2 ? 0.4 : 0;
        soft_def d = {24, true, eta[k / 8], young[k / 4 % 2], poisson[k / 2 % 2], 1, .heavy = true};
        d.rigid = k % 3 == 1, d.second = k % 3 != 0;
        outcome fast = solve_contacts(&d, friction, MO_ROUTE_FAST, 1e-8, 2, false);
        outcome paper = solve_contacts(&d, friction, MO_ROUTE_PAPER, 1e-8, 2, false);
        assert_true(difference(&fast, &paper) < 1e-6);
        assert_int_equal(fast.pushing, paper.pushing);
        pushing += fast.pushing, sliding += fast.sliding, sticking += fast.sticking;
        free(fast.v), free(paper.v);
    }
    if (pushing < 200 || sliding < 20 || sticking < 20)
        fail_msg("%d push, %d slide, %d stick", pushing, sliding, sticking);
}

static void routes_agree_on_contacts_in_space(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        soft_def d = {10, false, k ? 1e3 : 10, k ? 1e6 : 1e4, k ? 0.49 : 0.3, 1, .heavy = true};
        d.rigid = true, d.second = true;
        outcome fast = solve_contacts(&d, 0.4, MO_ROUTE_FAST, 1e-8, 2, false);
        outcome paper = solve_contacts(&d, 0.4, MO_ROUTE_PAPER, 1e-8, 2, false);
        assert_true(difference(&fast, &paper) < 1e-6);
        assert_true(fast.pushing > 10 && fast.sliding + fast.sticking > 10);
        free(fast.v), free(paper.v);
    }
}

// Iterations of all solves of a round: which contacts hold is found beside them.
static void iterations_with_contacts_stay_few(void **state)
{
    (void)state;
    static const double eta[] = {1, 1e2, 1e4};
    static const int32_t most[] = {25, 30, 60};
    for (int k = 0; k < 12; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 32 : 16, flat, eta[k / 4], k / 2 % 2 ? 1e6 : 1e4, 0.45, 1, .heavy = true};
        d.rigid = d.second = true;
        outcome one = solve_contacts(&d, 0.4, MO_ROUTE_FAST, 1e-6, 1, false);
        report(&d, &one);
        if (one.info.solve.iterations > most[k / 4]) fail_msg("too many iterations");
        free(one.v);
    }
}

// Liquid below a body that reaches from wall to wall gives way with it, not by its own faces.
static void liquid_shut_in_by_a_body(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        soft_def d = {24, true,           k % 2 ? 10 : 0.1, k / 2 ? 1e6 : 1e4, 0.45,
                      1,  .second = true, .heavy = true,    .seal = true};
        outcome fast = solve_contacts(&d, 0, MO_ROUTE_FAST, 1e-8, 1, false);
        outcome paper = solve_contacts(&d, 0, MO_ROUTE_PAPER, 1e-8, 1, false);
        assert_true(difference(&fast, &paper) < 1e-6);
        if (fast.info.solve.iterations > 60) fail_msg("%d iterations", fast.info.solve.iterations);
        free(fast.v), free(paper.v);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    soft_def d = {16, false, 1e2, 1e5, 0.4, 1, .rigid = true, .second = true, .heavy = true};
    int32_t threads = mo_thread_count();
    mo_use_threads(1);
    outcome one = solve_contacts(&d, 0.4, MO_ROUTE_FAST, 1e-6, 2, false);
    mo_use_threads(4);
    outcome four = solve_contacts(&d, 0.4, MO_ROUTE_FAST, 1e-6, 2, false);
    mo_use_threads(threads);
    assert_memory_equal(one.v, four.v, sizeof(double) * (size_t)one.count);
    free(one.v), free(four.v);
}

// What follows where the form stalls finds the same velocities, without a full matrix.
static void the_fallback_agrees(void **state)
{
    (void)state;
    enum { SET = 1 << MO_BLOCK_PRESSURE | 1 << MO_BLOCK_STRESS | 1 << MO_BLOCK_CONTACT | 1 << MO_BLOCK_FRICTION };
    for (int k = 0; k < 4; k++) {
        bool flat = k % 2;
        soft_def d = {flat ? 24 : 10, flat, k / 2 ? 100 : 1, 1e5, 0.4, 1, .rigid = true, .second = true, .heavy = true};
        d.pinned = true;
        double *v[2];
        int32_t n = 0;
        for (int way = 0; way < 2; way++) {
            soft_case c;
            mo_liquid_system l;
            mo_system_info info = {0};
            mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-9, 1);
            soft_case_create(&c, &d);
            assert_int_equal(mo_case_stokes_assemble(&c.c, dt, &solver, &l, NULL), MO_OK);
            soft_add_contacts(&c, &l.system, 0.3);
            mo_group *nodes = &l.system.nodes;
            double *target = malloc(sizeof(double) * (size_t)nodes->count);
            assert_int_equal(nodes->kind->linearise(nodes, nodes->velocity, target, NULL), MO_OK);
            memcpy(nodes->velocity, target, sizeof(double) * (size_t)nodes->count);
            mo_block *z = l.system.block[MO_BLOCK_FRICTION];
            for (int32_t i = 0; i < z->rows; i++) z->upper[i] = 3000, z->lower[i] = -3000;
            if (way)
                assert_int_equal(mo_applied_solve(&l.system, SET, &solver, &info, NULL), MO_OK);
            else
                assert_int_equal(mo_viscous_solve(&l.system, SET, &solver, &info, NULL), MO_OK);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            n = mo_solids_count(&l.system);
            v[way] = malloc(sizeof(double) * (size_t)n);
            mo_solids_get(&l.system, v[way]);
            free(target);
            mo_liquid_destroy(&l);
            soft_case_destroy(&c);
        }
        for (int32_t i = 0; i < n; i++) assert_true(fabs(v[0][i] - v[1][i]) < 1e-6);
        free(v[0]), free(v[1]);
    }
}

// A solve that runs out of memory says so, and leaves nothing behind.
static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    soft_def d = {10, true, 50, 1e4, 0.4, 1.5, .rigid = true, .second = true, .heavy = true};
    mo_solver_def solver = solver_of(MO_ROUTE_FAST, 1e-4, 2);
    bool done = false;
    mo_use_threads(1);
    for (int32_t n = 1; !done; n += 1 + n / 40) {
        soft_case c;
        mo_liquid_system l;
        mo_system_info info;
        mo_error err = {0};
        soft_case_create(&c, &d);
        assert_int_equal(mo_case_stokes_assemble(&c.c, dt, &solver, &l, NULL), MO_OK);
        soft_add_contacts(&c, &l.system, 0.3);
        ration r = {.fail_at = n};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_system_solve(&l.system, &solver, &info, &err);
        done = r.calls < n;
        mo_set_allocator(NULL, NULL);
        if (done)
            assert_int_equal(status, MO_OK);
        else if (status != MO_ERROR_MEMORY)
            fail_msg("allocation %d: status %d, %s", n, status, err.text);
        mo_liquid_destroy(&l);
        soft_case_destroy(&c);
    }
    mo_use_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_of_the_form),
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(equations_hold),
        cmocka_unit_test(newton_ends_at_one_place),
        cmocka_unit_test(iterations_stay_few),
        cmocka_unit_test(routes_agree_on_contacts),
        cmocka_unit_test(routes_agree_on_contacts_in_space),
        cmocka_unit_test(iterations_with_contacts_stay_few),
        cmocka_unit_test(liquid_shut_in_by_a_body),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(the_fallback_agrees),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
