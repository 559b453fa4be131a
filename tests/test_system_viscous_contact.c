// Contact of bodies in viscous liquid by the form `viscous`: the papers' solution, reuse in rounds, threads, lack of
// memory.
#include "cases/case.h"
#include "stress_test.h"
#include "system/contact_rows.h"
#include "ration.h"

static double random_number(uint32_t i, uint32_t seed) { return 2 * mo_unit(mo_hash(i, seed, 99)) - 1; }

enum { BALLS = 3, POINTS = 5, GROUND = BALLS, COLLIDERS = BALLS + 1 };

// Every pair of balls, and each with the ground, as if they touched at a few points of almost the same place.
static void add_contacts(mo_system *y, const mo_case_balls *balls, double friction, uint32_t seed)
{
    static const int32_t body[COLLIDERS] = {0, 1, 2, -1};
    mo_vec3 centre[COLLIDERS] = {{0, 0, 0}};
    mo_contact contact[6 * POINTS];
    int32_t count = 0;
    for (int b = 0; b < BALLS; b++) centre[b] = balls->rigid[b].pose.position;
    for (int32_t a = 0; a < COLLIDERS; a++)
        for (int32_t b = a + 1; b < COLLIDERS; b++)
            for (int32_t k = 0; k < POINTS; k++, count++) {
                uint32_t n = seed + (uint32_t)count;
                mo_vec3 way = b == GROUND ? mo_v3(0, 1, 0) : mo_normalize(mo_sub(centre[a], centre[b]));
                mo_vec3 normal =
                    mo_normalize(mo_add(way, mo_v3(0.1 * random_number(n, 1), 0.1 * random_number(n, 2), 0)));
                contact[count] = (mo_contact){.a = a,
                                              .b = b,
                                              .point = mo_mad(centre[a], -0.1, normal),
                                              .normal = normal,
                                              .gap = 0.001 * random_number(n, 3),
                                              .friction = friction,
                                              .feature = (uint32_t)k};
            }
    mo_solid_set solids = {.count = COLLIDERS, .body = body, .centre = centre, .bodies = BALLS};
    mo_contacts contacts = {.count = count, .contact = contact};
    mo_contact_rows_def def = {.contacts = &contacts,
                               .solids = &solids,
                               .dx = 1.0 / 16,
                               .dt = y->dt,
                               .margin = 1e-3,
                               .stabilisation = 0.1,
                               .slowest = 0.1};
    for (int32_t k = 0; k < 6 * BALLS; k++) y->bodies.velocity[k] += 0.5 * random_number(seed + (uint32_t)k, 9);
    assert_int_equal(mo_contact_rows_add(&def, y, NULL), MO_OK);
}

static void create(double viscosity, double density, double friction, uint32_t seed, mo_case *c, mo_liquid_system *s)
{
    mo_case_balls balls;
    mo_case_balls_create(BALLS, density, &balls);
    mo_case_def def = {.cells = {16, 16, 16},
                       .dx = 1.0 / 16,
                       .liquid = mo_case_plain_liquid,
                       .solids = &balls.solids,
                       .rigid = balls.rigid,
                       .density = 1000,
                       .viscosity = viscosity};
    mo_solver_def solver = exact_solver("PVC-unified", false);
    assert_int_equal(mo_case_create(&def, c, NULL), MO_OK);
    mo_case_std_velocity(c);
    assert_int_equal(mo_case_stokes_assemble(c, 0.01, &solver, s, NULL), MO_OK);
    add_contacts(&s->system, &balls, friction, seed);
}

static double difference(int32_t n, const double *a, const double *b)
{
    double most = 0, size = 1e-300;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    return most / size;
}

static void contacts_hold_as_by_the_papers(void **state)
{
    (void)state;
    static const double viscosity[4] = {0.1, 10, 1e3, 1e5}, density[3] = {50, 1000, 8000};
    int32_t pushed = 0, slid = 0;
    for (int k = 0; k < 12; k++) {
        mo_case c[2];
        mo_liquid_system s[2];
        mo_system_info info[2];
        double friction = k % 2 ? 0.2 : 0;
        for (int route = 0; route < 2; route++) {
            create(viscosity[k % 4], density[k % 3], friction, 100 * (uint32_t)k, &c[route], &s[route]);
            mo_solver_def solver = exact_solver("PVC-unified", false);
            solver.route = route ? MO_ROUTE_PAPER : MO_ROUTE_FAST, solver.tolerance = route ? 1e-12 : 1e-9;
            solver.max_iterations = 100000, solver.rounds = 3;
            assert_int_equal(mo_system_solve(&s[route].system, &solver, &info[route], NULL), MO_OK);
        }
        mo_system *fast = &s[0].system, *paper = &s[1].system;
        double bodies = difference(6 * BALLS, fast->bodies.velocity, paper->bodies.velocity),
               faces = difference(fast->faces.count, fast->faces.velocity, paper->faces.velocity);
        const mo_block *n = fast->block[MO_BLOCK_CONTACT], *z = fast->block[MO_BLOCK_FRICTION];
        for (int32_t i = 0; i < n->rows; i++) {
            assert_true(n->x[i] >= 0);
            pushed += n->x[i] > 0;
        }
        for (int32_t i = 0; i < z->rows; i++) slid += z->upper[i] > 0 && fabs(z->x[i]) == z->upper[i];
        print_message("viscosity %g, density %g: %d iterations (paper %d), %d rounds; bodies %g, faces %g\n",
                      viscosity[k % 4], density[k % 3], info[0].solve.iterations, info[1].solve.iterations,
                      info[0].rounds, bodies, faces);
        assert_int_equal(info[0].solve.reason, MO_REASON_CONVERGED);
        assert_true(info[0].by_paper == 0 && info[0].fallbacks == 0 && info[0].rounds == info[1].rounds);
        assert_true(bodies < 1e-6 && faces < 1e-6);
        assert_true(info[0].solve.iterations <= 40 * info[0].rounds); // 31 of a round as measured, at most
        for (int route = 0; route < 2; route++) mo_liquid_destroy(&s[route]), mo_case_destroy(&c[route]);
    }
    assert_true(pushed > 20 && slid > 5);
}

static void cones_hold_more_than_pyramids_nowhere(void **state)
{
    (void)state;
    mo_case c;
    mo_liquid_system s;
    mo_system_info info;
    create(100, 2000, 0.3, 7, &c, &s);
    mo_solver_def solver = exact_solver("PVC-unified", false);
    solver.route = MO_ROUTE_FAST, solver.tolerance = 1e-8, solver.cone = true, solver.rounds = 20;
    mo_system *y = &s.system;
    assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
    assert_true(info.solve.reason == MO_REASON_CONVERGED && info.fallbacks == 0);
    const mo_block *n = y->block[MO_BLOCK_CONTACT], *z = y->block[MO_BLOCK_FRICTION];
    int32_t pushed = 0;
    for (int32_t i = 0; i < n->rows; i++) {
        double force = hypot(z->x[2 * i], z->x[2 * i + 1]);
        assert_true(force <= z->upper[2 * i] * (1 + 1e-9));
        pushed += force > 0;
    }
    assert_true(pushed > 0);
    mo_liquid_destroy(&s), mo_case_destroy(&c);
}

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    double *first = NULL;
    for (int k = 0; k < 2; k++) {
        mo_case c;
        mo_liquid_system s;
        mo_system_info info;
        mo_use_threads(1 + 2 * k);
        create(100, 100, 0.4, 3, &c, &s);
        mo_system *y = &s.system;
        mo_solver_def solver = exact_solver("PVC-unified", false);
        solver.route = MO_ROUTE_FAST, solver.tolerance = 1e-5;
        assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
        assert_int_equal(info.fallbacks, 0);
        size_t bytes = sizeof(double) * (size_t)y->faces.count;
        if (k == 0)
            first = memcpy(malloc(bytes), y->faces.velocity, bytes);
        else
            assert_memory_equal(first, y->faces.velocity, bytes);
        mo_liquid_destroy(&s), mo_case_destroy(&c);
    }
    mo_use_threads(0);
    free(first);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    int64_t calls = 1;
    for (int64_t at = 0; at < calls; at += at < 40 ? 1 : 7) {
        mo_case c;
        mo_liquid_system s;
        mo_system_info info;
        mo_error err;
        create(100, 500, 0.4, 3, &c, &s);
        mo_solver_def solver = exact_solver("PVC-unified", false);
        solver.route = MO_ROUTE_FAST, solver.tolerance = 1e-2;
        int64_t used = mo_memory_in_use();
        ration r = {.fail_at = at};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_system_solve(&s.system, &solver, &info, &err);
        mo_set_allocator(NULL, NULL);
        if (at == 0) calls = r.calls;
        assert_int_equal(status, at == 0 ? MO_OK : MO_ERROR_MEMORY);
        assert_int_equal(mo_memory_in_use(), used);
        mo_liquid_destroy(&s), mo_case_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_hold_as_by_the_papers),
        cmocka_unit_test(cones_hold_more_than_pyramids_nowhere),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
