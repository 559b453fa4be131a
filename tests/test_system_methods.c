// The methods of route paper for elastic bodies: factors of the stiffness, the same step as the form `joint`, schemes,
// refusals, lack of memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "elastic_block_test.h"
#include "soft_test.h"
#include "system/method.h"
#include "system/state.h"
#include "system_test.h"
#include "ration.h"
#include <stdio.h>

// ---- Systems ----

// Liquid whose rows push the nodes at random, beside the world's body.
static void add_liquid(world *w, int32_t axes)
{
    domain D;
    mo_system *s = &w->system;
    domain_create(7, axes, std_liquid, no_solid, &D);
    take_faces(&D, &s->faces);
    mo_free(D.mass);
    for (int32_t f = 0; f < s->faces.count; f++) s->faces.velocity[f] = random_number((uint32_t)f, 4);
    mo_block *p = s->block[MO_BLOCK_PRESSURE] = mo_calloc(sizeof *p);
    *p = (mo_block){.rows = D.rows, .on = {D.B}, .coord = D.coord};
    p->x = mo_calloc(sizeof(double) * (size_t)p->rows);
    int64_t at = 0;
    mo_csr *R = &p->on[MO_NODES];
    assert_int_equal(mo_csr_create(p->rows, s->nodes.count, 6 * (int64_t)p->rows, R), MO_OK);
    for (int32_t i = 0; i < p->rows; i++) {
        int32_t first = (int32_t)(mo_unit(mo_hash((uint32_t)i, 3, 4)) * (s->nodes.count - 6));
        for (int32_t k = 0; i % 3 == 0 && k < 6; k++)
            R->col[at] = first + k, R->val[at++] = random_number((uint32_t)(6 * i + k), 8) / D.dx;
        R->row[i + 1] = at;
    }
}

typedef struct trial { // which system, and how it is solved
    bool flat, pins, contacts, liquid, convex;
    int32_t rounds;
    const char *scheme;
    double young; // Pa; 0: 3e4
    bool smooth;  // no friction
    mo_preconditioner preconditioner;
} trial;

static world *trial_world(const trial *t)
{
    world *w = world_create(t->flat, t->flat ? 0.34 : 0.5, t->young > 0 ? t->young : 3e4, 0.02, t->pins);
    if (t->contacts) {
        add_floor(w, t->smooth ? 0 : 0.4);
        mo_block *c = w->system.block[MO_BLOCK_CONTACT];
        for (int32_t i = 0; i < c->rows; i++) c->x[i] = 1000 * (1 + world_random((uint32_t)i, 9)); // bounds of friction
    }
    if (t->liquid) add_liquid(w, t->flat ? 2 : 3);
    w->system.nodes.nodes->law.convex = t->convex; // on every route: one step is then one problem
    return w;
}

static mo_solver_def trial_solver(const trial *t, const char *method)
{
    mo_solver_def solver = {.route = method ? MO_ROUTE_PAPER : MO_ROUTE_FAST,
                            .preconditioner = t->preconditioner,
                            .tolerance = 1e-10,
                            .max_iterations = 20000,
                            .rounds = t->rounds};
    snprintf(solver.method, sizeof solver.method, "%s", method ? method : "");
    if (t->scheme) snprintf(solver.scheme, sizeof solver.scheme, "%s", t->scheme);
    return solver;
}

// The motion that a method finds, NULL: route fast; free it. *count of velocities.
static double *solve_trial(const trial *t, const char *method, int64_t *count, mo_system_info *info)
{
    world *w = trial_world(t);
    mo_solver_def solver = trial_solver(t, method);
    mo_error err;
    if (mo_system_solve(&w->system, &solver, info, &err) != MO_OK) fail_msg("%s: %s", method, err.text);
    assert_null(w->system.block[MO_BLOCK_ELASTIC]);
    assert_true(!w->system.method && !w->system.nodes.nodes->guise);
    *count = mo_motion_size(&w->system);
    double *motion = malloc(sizeof(double) * (size_t)*count);
    mo_motion_get(&w->system, motion);
    world_destroy(w);
    return motion;
}

// A method finds what route fast finds; returns the iterations.
static int32_t check_agrees(const trial *t, const char *method, double tolerance)
{
    int64_t count, other;
    mo_system_info info, paper;
    double *fast = solve_trial(t, NULL, &count, &info), *v = solve_trial(t, method, &other, &paper), most = 0;
    assert_true(count == other && info.fallbacks == 0);
    assert_true(paper.solve.reason == MO_REASON_CONVERGED || paper.solve.reason == MO_REASON_NOTHING_TO_DO);
    double size = mo_max_abs(count, fast);
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(v[i] - fast[i]));
    if (!(most <= tolerance * size))
        fail_msg("%s: %g of %g (flat %d pins %d contacts %d liquid %d %s)", method, most, size, t->flat, t->pins,
                 t->contacts, t->liquid, t->scheme ? t->scheme : "");
    free(fast), free(v);
    return paper.solve.iterations;
}

// ---- Factors ----

// The largest part of Q C Q^T y - (H - weight) y for a random y, relative. S = C^-1 must be positive.
static double factor_error(const world *w, const mo_csr *Qt, const mo_csr *S)
{
    const mo_node_part *p = &w->node;
    const double *weight = w->system.nodes.nodes->guise->weight;
    int32_t n = p->H.rows, rows = Qt->rows;
    double *dense = malloc(sizeof(double) * (size_t)rows * (size_t)rows), most = 0, size = 0;
    double *y = calloc(2 * (size_t)(n + rows), sizeof(double)), *back = y + n, *q = back + n, *x = q + rows;
    for (int32_t i = 0; i < n; i++) y[i] = p->held[i] ? 0 : world_random((uint32_t)i, 31);
    mo_csr_multiply(Qt, y, q);
    dense_matrix(S, dense);
    dense_solve(rows, dense, q, x); // Cholesky: NaN if S is not positive
    mo_csr_push(Qt, 1, x, back);
    for (int32_t i = 0; i < n; i++) {
        double wanted = p->held[i] ? 0 : mo_csr_row_product(&p->H, i, y) - weight[i] * y[i];
        most = fmax(most, isnan(back[i]) ? INFINITY : fabs(back[i] - wanted));
        size = fmax(size, fabs(wanted));
    }
    free(dense), free(y);
    return most / size;
}

static void factors_make_up_the_stiffness(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mo_stiffness_factor factor;
        double share;
    } all[] = {{"ldlt", mo_factor_ldlt, 1}, {"natural", mo_factor_natural, 1}, {"z1-z2", mo_factor_itself, 0.9}};
    for (int k = 0; k < 12; k++) {
        int flat = k % 2, pins = k / 2 % 2;
        world *w = world_create(flat, 0.5, 1e3, 0.02, pins);
        mo_group *g = &w->system.nodes;
        mo_csr Qt, S;
        double *target = malloc(sizeof(double) * (size_t)g->count);
        assert_int_equal(mo_nodes_lump(g, all[k / 4].share), MO_OK);
        assert_int_equal(g->kind->linearise(g, g->velocity, target, NULL), MO_OK);
        assert_int_equal(all[k / 4].factor(g, 0, &Qt, &S), MO_OK);
        assert_null(mo_csr_fault(&Qt));
        double error = factor_error(w, &Qt, &S);
        if (!(error < 1e-10)) fail_msg("%s: %g (flat %d, pins %d)", all[k / 4].name, error, flat, pins);
        mo_csr_destroy(&Qt), mo_csr_destroy(&S);
        free(target);
        world_destroy(w);
    }
}

// Nearly incompressible bodies: pivots of the incomplete factor turn negative unless the diagonal is shifted, and
// replacing them would let it grow without bounds.
static void incomplete_factors_stay_bounded(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        world *w = world_create(false, k & 1 ? 0.25 : 0.5, 1e4, 0.02, k & 2);
        w->body.elasticity = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.49, 0);
        mo_group *g = &w->system.nodes;
        mo_csr Qt, S;
        double *target = malloc(sizeof(double) * (size_t)g->count), most = 0, size = 0;
        assert_int_equal(mo_nodes_lump(g, 1), MO_OK);
        assert_int_equal(g->kind->linearise(g, g->velocity, target, NULL), MO_OK);
        assert_int_equal(mo_factor_ic(g, 0, &Qt, &S), MO_OK);
        for (int64_t e = 0; e < mo_csr_entries(&Qt); e++) most = fmax(most, Qt.val[e] * Qt.val[e]);
        for (int64_t e = 0; e < mo_csr_entries(&w->node.H); e++) size = fmax(size, w->node.H.val[e]);
        assert_true(most > 0.1 * size && most < 2 * size);
        mo_csr_destroy(&Qt), mo_csr_destroy(&S);
        free(target);
        world_destroy(w);
    }
}

// ---- One step, and many ----

static void one_step_is_that_of_the_joint_form(void **state)
{
    (void)state;
    static const char *const methods[] = {"ldlt", "natural", "z1-z2", "delassus"};
    for (int k = 0; k < 16; k++) {
        trial t = {k & 1, k & 2, k & 4, k & 8, true, 1, NULL, 0, false, 0};
        for (int m = 0; m < 4; m++) check_agrees(&t, methods[m], 1e-9); // ten times the solver's tolerance
    }
}

// The true equations of the step, whatever stiffness leads there.
static void rounds_end_where_the_joint_form_does(void **state)
{
    (void)state;
    static const char *const methods[] = {"", "ldlt", "natural", "ic", "z1-z2"};
    for (int k = 0; k < 8; k++) {
        trial t = {k & 1, true, k & 2, k & 4, false, 60, NULL, 0, false, 0};
        for (int m = 0; m < 5; m++) check_agrees(&t, methods[m], 1e-6); // friction follows the forces of rounds
    }
}

// ---- Methods that others are compared with ----

// The conditions of optimality of one step on nodes: gradient + H (v - v_k) + dt B^T x = 0, relative.
static double imbalance(world *w, const double *start)
{
    int32_t n = w->system.nodes.count;
    double *g = calloc(4 * (size_t)n, sizeof(double)), *f = g + n, *change = f + n, most = 0, size = 0;
    mo_node_law law = mo_elastic_law_of(&w->law);
    assert_int_equal(law.derive(law.user, 0, start, true, g, &w->node.H), MO_OK);
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++)
        if (w->system.block[k]) mo_csr_push(&w->system.block[k]->on[MO_NODES], w->system.dt, w->system.block[k]->x, f);
    for (int32_t i = 0; i < n; i++) change[i] = w->system.nodes.velocity[i] - start[i];
    for (int32_t i = 0; i < n; i++) {
        if (w->node.held[i]) continue;
        most = fmax(most, fabs(g[i] + f[i] + mo_csr_row_product(&w->node.H, i, change)));
        size = fmax(size, fabs(f[i]));
    }
    free(g);
    return most / size;
}

// Contacts hold as equations, friction too, and forces may pull.
static void check_clings(const trial *t, const char *method)
{
    world *w = trial_world(t);
    mo_system *s = &w->system;
    mo_solver_def solver = trial_solver(t, method);
    mo_system_info info;
    for (int32_t i = 1; i < s->nodes.count; i += w->body.dimension) // thrown upwards
        s->nodes.velocity[i] = w->target[i] = -w->target[i];
    double *start = malloc(sizeof(double) * (size_t)s->nodes.count), *r = malloc(sizeof(double) * 1000);
    memcpy(start, s->nodes.velocity, sizeof(double) * (size_t)s->nodes.count);
    assert_int_equal(mo_system_solve(s, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
    assert_string_equal(info.form, method);
    assert_true(imbalance(w, start) < 1e-8);
    int32_t pulling = 0;
    for (int32_t k = 0; k < MO_BLOCK_KINDS; k++) {
        if (!s->block[k]) continue;
        mo_block_residual(s, s->block[k], r);
        for (int32_t i = 0; i < s->block[k]->rows; i++)
            assert_true(fabs(r[i]) < (k < MO_BLOCK_CONTACT ? 1e-7 : 1e-4)), // contacts are soft
                pulling += k == MO_BLOCK_CONTACT && s->block[k]->x[i] < 0;
    }
    assert_true(!t->contacts || pulling > 0);
    free(start), free(r);
    world_destroy(w);
}

static void uzawa_clings(void **state)
{
    (void)state;
    for (int k = 2; k < 8; k++) {
        trial t = {k & 1, true, k & 2, k & 4, true, 1, NULL, 0, false, 0};
        check_clings(&t, "ucg");
        check_clings(&t, "ucg-cg");
    }
}

static void primal_is_for_nodes_alone(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        trial t = {k & 1, k & 2, false, false, true, 1, NULL, 0, false, 0};
        assert_true(check_agrees(&t, "primal", 1e-9) > 1);
        t.convex = false, t.rounds = 60;
        check_agrees(&t, "primal", 1e-9);
    }
}

// Both converge for soft bodies; the second has no friction.
static void contacts_by_turns(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        trial t = {k & 1, k & 2, true, false, true, 1, NULL, 300, false, 0};
        assert_true(check_agrees(&t, "ica", 1e-7) > 1);
        t.smooth = true;
        check_agrees(&t, "ica", 1e-7);
        int64_t count;
        mo_system_info info;
        double *u = solve_trial(&t, NULL, &count, &info), *v = solve_trial(&t, "admm", &count, &info), most = 0;
        for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(u[i] - v[i]));
        assert_true(most < 1e-3 * mo_max_abs(count, u)); // fifty turns are not enough for more
        assert_true(info.solve.iterations <= 50 && info.inner_iterations > 50);
        free(u), free(v);
    }
}

// Viscous liquid with an elastic body, without contacts: all methods find what route fast finds.
static void viscous_liquid(void **state)
{
    (void)state;
    static const char *const methods[] = {"", "ldlt", "natural", "ucg", "ucg-cg"};
    for (int flat = 0; flat < 2; flat++) {
        double *v[2] = {NULL, NULL};
        for (int m = 0; m < 5; m++) {
            soft_case c;
            soft_def def = {
                .cells = flat ? 12 : 8, .flat = flat, .viscosity = 5, .young = 1e4, .poisson = 0.3, .element = 1};
            mo_liquid_system l;
            mo_system_info info;
            mo_error err;
            mo_solver_def solver = {
                .route = m ? MO_ROUTE_PAPER : MO_ROUTE_FAST, .tolerance = 1e-9, .max_iterations = 20000, .rounds = 1};
            snprintf(solver.method, sizeof solver.method, "%s", methods[m]);
            soft_case_create(&c, &def);
            assert_int_equal(mo_case_stokes_assemble(&c.c, 0.01, &solver, &l, NULL), MO_OK);
            l.system.nodes.nodes->law.convex = true;
            int64_t count = mo_motion_size(&l.system);
            if (mo_system_solve(&l.system, &solver, &info, &err) != MO_OK) fail_msg("%s", err.text);
            assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
            v[m > 0] = malloc(sizeof(double) * (size_t)count);
            mo_motion_get(&l.system, v[m > 0]);
            double most = 0;
            for (int64_t i = 0; m && i < count; i++) most = fmax(most, fabs(v[1][i] - v[0][i]));
            assert_true(most <= 10 * solver.tolerance * mo_max_abs(count, v[0]));
            if (m) free(v[1]);
            mo_liquid_destroy(&l);
            soft_case_destroy(&c);
        }
        free(v[0]);
    }
}

// ---- Schemes ----

static double difference(const trial *a, const trial *b, const char *method)
{
    int64_t count, other;
    mo_system_info info;
    double *u = solve_trial(a, method, &count, &info), *v = solve_trial(b, method, &other, &info), most = 0;
    assert_true(count == other);
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(u[i] - v[i]));
    double size = mo_max_abs(count, u);
    free(u), free(v);
    return most / size;
}

static void schemes_with_elasticity(void **state)
{
    (void)state;
    static const char *const same[] = {"E",     "EC-unified", "PE-unified", "PEC-unified", "PVEC-unified",
                                       "PE-EC", "EC-PE"};
    for (int flat = 0; flat < 2; flat++) {
        trial t = {flat, true, true, true, true, 1, NULL, 0, false, 0}, all = t;
        for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
            t.scheme = same[k];
            check_agrees(&t, k % 2 ? "ldlt" : "natural", 1e-9);
        }
        t.scheme = "PEC-iterative"; // to the unified solution, on both routes
        assert_true(difference(&all, &t, "ldlt") < 1e-7);
        assert_true(difference(&all, &t, NULL) < 1e-7);
        t.scheme = "PE-EC"; // and split solves are different indeed
        assert_true(difference(&all, &t, "ldlt") > 1e-3);
    }
}

// Elastic bodies in liquid, with and without contacts: rows are coupled far beyond their neighbours, which IC(0) must
// bear.
static void preconditioners_agree(void **state)
{
    (void)state;
    static const char *const methods[] = {"ldlt", "delassus"};
    for (int k = 0; k < 8; k++) {
        trial t = {.flat = true, .pins = true, .contacts = k & 1, .liquid = true, .convex = true, .rounds = 1};
        t.preconditioner = k & 2 ? MO_PRECONDITIONER_IC0 : MO_PRECONDITIONER_JACOBI;
        check_agrees(&t, methods[k / 4], 1e-8);
    }
    trial t = {.pins = true, .liquid = true, .convex = true, .rounds = 1, .preconditioner = MO_PRECONDITIONER_IC0};
    check_agrees(&t, "ldlt", 1e-8);
}

static void set_names(void **state)
{
    (void)state;
    trial t = {.contacts = true, .liquid = true, .rounds = 1, .scheme = "PE-EC"};
    int64_t count;
    mo_system_info info;
    free(solve_trial(&t, "ldlt", &count, &info));
    assert_true(info.set_count == 2);
    assert_string_equal(info.sets[0].name, "PE");
    assert_string_equal(info.sets[1].name, "EC");
    assert_string_equal(info.sets[1].form, "dual");
}

// Enough rows for loops to be shared.
static void threads_change_nothing(void **state)
{
    (void)state;
    double *v[2];
    int32_t n = 0;
    for (int k = 0; k < 2; k++) {
        world *w = world_create(true, 0.055, 3e3, 0.02, false);
        trial t = {.rounds = 1};
        mo_solver_def solver = trial_solver(&t, "natural");
        mo_system_info info;
        solver.tolerance = 1e-2; // some iterations are enough
        add_floor(w, 0.4);
        mo_use_threads(1 + k);
        assert_int_equal(mo_system_solve(&w->system, &solver, &info, NULL), MO_OK);
        assert_true(info.solve.iterations > 3);
        n = w->system.nodes.count, v[k] = malloc(sizeof(double) * (size_t)n);
        memcpy(v[k], w->system.nodes.velocity, sizeof(double) * (size_t)n);
        world_destroy(w);
    }
    mo_use_threads(0);
    assert_memory_equal(v[0], v[1], sizeof(double) * (size_t)n);
    free(v[0]), free(v[1]);
}

// ---- Refusals and lack of memory ----

static void expect_refusal(const trial *t, const char *method, mo_route route, const char *text)
{
    world *w = trial_world(t);
    mo_solver_def solver = trial_solver(t, method);
    mo_system_info info;
    mo_error err = {0};
    solver.route = route;
    assert_int_equal(mo_system_solve(&w->system, &solver, &info, &err), MO_ERROR_INPUT);
    if (!strstr(err.text, text)) fail_msg("\"%s\" does not say \"%s\"", err.text, text);
    assert_true(!w->system.method && !w->system.nodes.nodes->guise);
    world_destroy(w);
}

static void what_is_refused(void **state)
{
    (void)state;
    trial t = {.contacts = true, .liquid = true, .rounds = 1};
    expect_refusal(&t, "ldl", MO_ROUTE_PAPER, "unknown method \"ldl\"; route \"paper\" has \"ldlt\", \"natural\"");
    expect_refusal(&t, "ldlt", MO_ROUTE_FAST, "is one of route \"paper\"");
    expect_refusal(&t, "primal", MO_ROUTE_PAPER, "method \"primal\" is for elastic bodies alone");
    expect_refusal(&t, "ica", MO_ROUTE_PAPER,
                   "method \"ica\" is for elastic bodies and their contacts, without liquid");
    expect_refusal(&t, "admm", MO_ROUTE_PAPER, "without liquid");
    t.scheme = "PC-unified";
    expect_refusal(&t, "ldlt", MO_ROUTE_PAPER, "leaves the elastic bodies out");
    t.scheme = NULL;
    world *w = trial_world(&t);
    mo_solver_def solver = trial_solver(&t, "natural");
    mo_system_info info;
    w->system.nodes.nodes->law.modes = NULL;
    assert_int_equal(mo_system_solve(&w->system, &solver, &info, NULL), MO_ERROR_INPUT);
    world_destroy(w);
}

static void lack_of_memory(void **state)
{
    (void)state;
    static const char *const methods[] = {"ldlt", "natural", "ic", "z1-z2", "ucg", "ucg-cg", "ica", "admm", "primal"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        trial t = {.flat = true, .pins = true, .contacts = strcmp(methods[m], "primal") != 0, .rounds = 1};
        mo_solver_def solver = trial_solver(&t, methods[m]);
        mo_system_info info;
        mo_status status = MO_ERROR_MEMORY;
        int64_t k = 0;
        for (; status != MO_OK; k++) {
            int64_t before = (int64_t)mo_memory_in_use();
            world *w = trial_world(&t);
            ration r = {.fail_at = k + 1};
            mo_set_allocator(rationed, &r);
            status = mo_system_solve(&w->system, &solver, &info, NULL);
            mo_set_allocator(NULL, NULL);
            assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
            assert_true(!w->system.block[MO_BLOCK_ELASTIC] && !w->system.nodes.nodes->guise);
            world_destroy(w);
            assert_int_equal(mo_memory_in_use(), before);
        }
        assert_true(k > 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_make_up_the_stiffness),
        cmocka_unit_test(incomplete_factors_stay_bounded),
        cmocka_unit_test(one_step_is_that_of_the_joint_form),
        cmocka_unit_test(rounds_end_where_the_joint_form_does),
        cmocka_unit_test(uzawa_clings),
        cmocka_unit_test(primal_is_for_nodes_alone),
        cmocka_unit_test(contacts_by_turns),
        cmocka_unit_test(viscous_liquid),
        cmocka_unit_test(schemes_with_elasticity),
        cmocka_unit_test(preconditioners_agree),
        cmocka_unit_test(set_names),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
