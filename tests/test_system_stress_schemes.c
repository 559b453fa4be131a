// Schemes and rounds on the blocks of viscous liquids: absent blocks, renewed coefficients, fields of viscosity,
// threads, lack of memory.
#include "stress_test.h"
#include "ration.h"

static double difference(int32_t n, const double *a, const double *b)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static world stirred_world(uint32_t seed, bool flat)
{
    world w = random_world(seed, flat, flat ? 12 : 8, true);
    return w;
}

static mo_liquid_system assemble(world *w, const mo_solver_def *solver)
{
    mo_liquid_system s;
    assert_int_equal(mo_case_stokes_assemble(&w->c, w->dt, solver, &s, NULL), MO_OK);
    return s;
}

// ---- Schemes ----

static void schemes_run_without_absent_blocks(void **state)
{
    (void)state;
    mo_use_threads(1);
    for (int k = 0; k < 2; k++) {
        world w = stirred_world(700, k);
        start_world(&w);
        stir(&w, 1);
        mo_solver_def solver = exact_solver("P", false);
        mo_system_info info;
        mo_liquid_system p = assemble(&w, &solver);
        mo_system *y = &p.system;
        int32_t n = y->faces.count;
        double *start = dense(n), *alone = dense(n);
        memcpy(start, y->faces.velocity, sizeof(double) * (size_t)n);
        assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
        memcpy(alone, y->faces.velocity, sizeof(double) * (size_t)n);
        assert_true(difference(n, start, alone) > 0.01);
        // The stress is taken away: every scheme is the pressure alone, the second pressure of P-V-P finds nothing
        // left.
        mo_block *stress = y->block[MO_BLOCK_STRESS];
        y->block[MO_BLOCK_STRESS] = NULL;
        static const char *const scheme[3] = {"", "PV-unified", "P-V-P"};
        for (int q = 0; q < 3; q++) {
            snprintf(solver.scheme, sizeof solver.scheme, "%s", scheme[q]);
            memcpy(y->faces.velocity, start, sizeof(double) * (size_t)n);
            memset(y->block[MO_BLOCK_PRESSURE]->x, 0, sizeof(double) * (size_t)y->block[MO_BLOCK_PRESSURE]->rows);
            assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
            assert_true(difference(n, y->faces.velocity, alone) < 1e-7);
        }
        // The pressure is taken away: what is left diffuses and loses energy.
        mo_block *pressure = y->block[MO_BLOCK_PRESSURE];
        y->block[MO_BLOCK_PRESSURE] = NULL, y->block[MO_BLOCK_STRESS] = stress;
        memcpy(y->faces.velocity, start, sizeof(double) * (size_t)n);
        snprintf(solver.scheme, sizeof solver.scheme, "PV-unified");
        assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
        assert_true(info.enclosed == 0 && difference(n, y->faces.velocity, start) > 0.01);
        y->block[MO_BLOCK_PRESSURE] = pressure;
        mo_liquid_destroy(&p);
        free(start), free(alone);
        end_world(&w);
    }
}

// ---- Rounds ----

typedef struct renewal {
    mo_liquid_system *s;
    int32_t calls;
    double result;
} renewal;

static double renew_nothing(void *user, mo_system *system, int32_t round)
{
    renewal *r = user;
    (void)system;
    assert_int_equal(round, r->calls++);
    return r->result;
}

static void renewal_of_nothing_ends_after_one_round(void **state)
{
    (void)state;
    world w = stirred_world(701, true);
    start_world(&w);
    stir(&w, 2);
    mo_solver_def solver = exact_solver("PV-unified", false);
    solver.rounds = 7;
    mo_system_info info;
    mo_liquid_system once = assemble(&w, &solver), rounds = assemble(&w, &solver);
    assert_int_equal(mo_system_solve(&once.system, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.rounds, 1);
    renewal r = {&rounds, 0, 0};
    mo_system *y = &rounds.system;
    y->renew = renew_nothing, y->renew_user = &r;
    assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.rounds, 1);
    assert_int_equal(r.calls, 2);
    assert_true(info.change == 0);
    assert_memory_equal(y->faces.velocity, once.system.faces.velocity, sizeof(double) * (size_t)y->faces.count);
    // Never settled: as many rounds as allowed, each from u*; the last one warm.
    mo_liquid_destroy(&rounds);
    rounds = assemble(&w, &solver);
    r = (renewal){&rounds, 0, 1};
    y->renew = renew_nothing, y->renew_user = &r;
    assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
    assert_int_equal(info.rounds, 7);
    assert_true(difference(y->faces.count, y->faces.velocity, once.system.faces.velocity) < 1e-8);
    // Failures, and how the rheology reports velocities that are no numbers.
    mo_error err;
    mo_stress_rheology rheology = {&rounds, w.c.grid, true, w.c.arena, w.c.viscosity, {NULL}};
    for (int k = 0; k < 4; k++) rheology.parameter[k] = w.c.viscosity;
    y->renew = mo_stress_renew, y->renew_user = &rheology;
    y->faces.velocity[0] = NAN;
    assert_int_equal(mo_system_solve(y, &solver, &info, &err), MO_ERROR_FAILED);
    assert_non_null(strstr(err.text, "renewed"));
    mo_liquid_destroy(&rounds); // its coefficients are no numbers now
    rounds = assemble(&w, &solver);
    y->renew = renew_nothing, y->renew_user = &r;
    r = (renewal){&rounds, 0, NAN};
    assert_int_equal(mo_system_solve(y, &solver, &info, &err), MO_ERROR_FAILED);
    r = (renewal){&rounds, 0, -1};
    assert_int_equal(mo_system_solve(y, &solver, &info, &err), MO_ERROR_MEMORY);
    mo_liquid_destroy(&once), mo_liquid_destroy(&rounds);
    end_world(&w);
}

// A rheology that is Newtonian gives the Newtonian velocities, a shear-thinning one others, which settle.
static void rheology_settles(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w = stirred_world(702, k);
        start_world(&w);
        mo_solver_def solver = exact_solver(k ? "P-V-P" : "PV-unified", false);
        solver.rounds = 40, solver.tolerance = 1e-9;
        mo_rheology rheology[2] = {{.consistency = 200, .flow_index = 1, .threshold = 0.01},
                                   {.consistency = 200, .flow_index = 0.6, .yield_stress = 20, .threshold = 0.01}};
        mo_liquid_system s[3];
        mo_system_info info[3];
        for (int q = 0; q < 3; q++) {
            w.c.def.rheology = q ? &rheology[q - 1] : NULL;
            stir(&w, 3);
            for (int64_t i = 0; q && i < mo_grid_cells(w.c.grid); i++) {
                const mo_rheology *r = &rheology[q - 1];
                w.c.parameter[0][i] = (float)r->consistency, w.c.parameter[1][i] = (float)r->flow_index;
                w.c.parameter[2][i] = (float)r->yield_stress, w.c.parameter[3][i] = (float)r->threshold;
            }
            assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info[q], &s[q], NULL), MO_OK);
        }
        int32_t n = s[0].system.faces.count;
        assert_int_equal(info[1].rounds, 1);
        assert_true(difference(n, s[0].system.faces.velocity, s[1].system.faces.velocity) < 1e-6);
        assert_true(info[2].rounds > 2 && info[2].rounds < 40 && info[2].change < 1e-4);
        assert_true(difference(n, s[0].system.faces.velocity, s[2].system.faces.velocity) > 1e-3);
        for (int q = 0; q < 3; q++) mo_liquid_destroy(&s[q]);
        end_world(&w);
    }
}

// ---- Viscosity ----

static double layered_viscosity(const void *user, mo_vec3 x)
{
    (void)user;
    return x.x < 0.4 ? 0 : x.x < 0.55 ? 30 : x.y < 0.5 ? 300 : -1;
}

// A sample has the harmonic mean of the known viscosities round it; one without, or beside an inviscid cell, no row.
static void samples_take_the_viscosity_round_them(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        world w = stirred_world(703, flat);
        w.viscosity_fn = layered_viscosity;
        start_world(&w);
        stir(&w, 4);
        mo_solver_def solver = exact_solver("PV-unified", false);
        mo_liquid_system s = assemble(&w, &solver);
        const mo_block *b = s.system.block[MO_BLOCK_STRESS];
        const mo_grid *g = w.c.grid;
        int32_t mixed = 0;
        assert_true(b->rows > 20);
        for (int32_t r = 0; r < b->rows; r++) {
            int kind = s.sample_at[r] & 7, across[2] = {kind == MO_STRESS_YZ, kind == MO_STRESS_XY ? 1 : 2};
            double sum = 0, least = INFINITY, most = 0, count = 0;
            for (int q = 0; q < (kind >= MO_STRESS_YZ ? 4 : 1); q++) {
                int32_t c[3] = {b->coord[r][0], b->coord[r][1], b->coord[r][2]};
                if (q & 1) c[across[0]]--;
                if (q & 2) c[across[1]]--;
                double eta = layered_viscosity(&w, mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5));
                assert_true(eta != 0);
                if (eta < 0) continue;
                sum += 1 / eta, count++, least = fmin(least, eta), most = fmax(most, eta);
            }
            assert_true(count > 0 && fabs(s.viscosity[r] * sum / count - 1) < 1e-12);
            mixed += least < most;
        }
        assert_true(mixed > 0);
        mo_system_info info;
        assert_int_equal(mo_system_solve(&s.system, &solver, &info, NULL), MO_OK);
        assert_int_equal(info.solve.reason, MO_REASON_CONVERGED);
        mo_liquid_destroy(&s);
        end_world(&w);
    }
}

// The rate of strain of the stresses is that of the velocities that satisfy them.
static void strain_of_stress_is_that_of_velocity(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        world w = stirred_world(704 + (uint32_t)k, k & 1);
        start_world(&w);
        stir(&w, 5);
        mo_solver_def solver = exact_solver("PV-unified", k & 2);
        mo_liquid_system s = assemble(&w, &solver);
        mo_system_info info;
        assert_int_equal(mo_system_solve(&s.system, &solver, &info, NULL), MO_OK);
        int32_t n = s.system.block[MO_BLOCK_STRESS]->rows;
        double *of_stress = dense(n), *of_velocity = dense(n);
        mo_stress_strain(&s, of_stress);
        mo_stress_strain_of(&s, of_velocity);
        assert_true(mo_max_abs(n, of_stress) > 0.1);
        assert_true(difference(n, of_stress, of_velocity) < 1e-4 * mo_max_abs(n, of_stress));
        free(of_stress), free(of_velocity);
        mo_liquid_destroy(&s);
        end_world(&w);
    }
}

// ---- Threads and memory ----

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    double *first = NULL;
    mo_vec3 force[3][SOLIDS], torque[SOLIDS], about[SOLIDS] = {{0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        mo_use_threads(1 << k);
        world w = random_world(705, false, 24, false); // more rows than one thread would keep
        start_world(&w);
        stir(&w, 6);
        mo_solver_def solver = exact_solver("PV-unified", false);
        solver.max_iterations = 12; // more show nothing else
        mo_liquid_system s;
        mo_system_info info;
        assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info, &s, NULL), MO_OK);
        size_t bytes = sizeof(double) * (size_t)s.system.faces.count;
        assert_true(s.system.faces.count > 4096);
        mo_stress_def d = mo_case_stress_def(&w.c, w.dt, &solver);
        assert_int_equal(mo_stress_forces(&d, &s, about, force[k], torque, w.c.arena, NULL), MO_OK);
        if (k == 0)
            first = memcpy(malloc(bytes), s.system.faces.velocity, bytes);
        else {
            assert_memory_equal(first, s.system.faces.velocity, bytes);
            assert_memory_equal(force[0], force[k], sizeof(mo_vec3) * (size_t)w.solids);
        }
        mo_liquid_destroy(&s);
        end_world(&w);
    }
    free(first);
    mo_use_threads(1);
}

// One step with everything in it: solids, rheology, forces.
static mo_status whole_step(world *w, const mo_solver_def *solver, mo_error *err)
{
    mo_case_def def = {.cells = {w->cells[0], w->cells[1], w->cells[2]},
                       .dx = 1.0 / w->cells[1],
                       .liquid = world_liquid,
                       .solids = &w->set,
                       .user = w,
                       .density = 1000,
                       .rheology =
                           &(mo_rheology){.consistency = 100, .flow_index = 0.7, .yield_stress = 5, .threshold = 0.1}};
    MO_TRY(mo_case_create(&def, &w->c, err));
    stir(w, 9);
    mo_liquid_system s;
    mo_system_info info;
    mo_status status = mo_case_stokes(&w->c, w->dt, solver, &info, &s, err);
    if (status == MO_OK) {
        mo_vec3 force[SOLIDS], torque[SOLIDS], about[SOLIDS] = {{0, 0, 0}};
        mo_stress_def d = mo_case_stress_def(&w->c, w->dt, solver);
        status = mo_stress_forces(&d, &s, about, force, torque, w->c.arena, err);
        mo_liquid_destroy(&s);
    }
    mo_case_destroy(&w->c);
    return status;
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        world w = stirred_world(706, true);
        w.set = (mo_solid_set){
            .count = w.solids, .distance = world_solid, .velocity = world_velocity, .user = &w, .slip = w.slip};
        mo_solver_def solver = exact_solver(k == 3 ? "P-V-P" : "PV-unified", false);
        solver.tolerance = 1e-3, solver.preconditioner = (mo_preconditioner)(k % 3);
        if (k == 3) solver.route = MO_ROUTE_FAST;
        int64_t before = mo_memory_in_use();
        ration r = {0};
        mo_set_allocator(rationed, &r);
        assert_int_equal(whole_step(&w, &solver, NULL), MO_OK);
        int64_t calls = r.calls;
        assert_true(calls > 40);
        for (int64_t at = 0; at < calls; at++) {
            r = (ration){.fail_at = at + 1};
            mo_error err = {0};
            mo_status status = whole_step(&w, &solver, &err);
            if (status != MO_ERROR_MEMORY) fail_msg("allocation %d of %d: status %d", (int)at, (int)calls, status);
            assert_int_equal(mo_memory_in_use(), before);
            assert_true(err.text[0] != 0);
        }
        mo_set_allocator(NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_run_without_absent_blocks),
        cmocka_unit_test(renewal_of_nothing_ends_after_one_round),
        cmocka_unit_test(rheology_settles),
        cmocka_unit_test(samples_take_the_viscosity_round_them),
        cmocka_unit_test(strain_of_stress_is_that_of_velocity),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
