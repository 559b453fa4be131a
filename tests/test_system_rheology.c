// Rounds of liquids whose viscosity depends on the flow: they settle for every flow index, on the viscosity of the law.
#include "cases/case.h"
#include "fluid/rheology.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

// Two vortices of different strength, stirred for a time that leaves both inertia and stress their part.
static void stir(mo_case *c)
{
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(c->grid); i++) {
        int32_t at[3];
        mo_grid_cell(c->grid, i, at);
        mo_vec3 u = mo_grid_world(c->grid, at[0], at[1] + 0.5, 0), v = mo_grid_world(c->grid, at[0] + 0.5, at[1], 0);
        c->u[0][i] = (float)((1 + u.x) * sin(M_PI * u.x) * cos(2 * M_PI * u.y));
        c->u[1][i] = (float)(-sin(2 * M_PI * v.y) * cos(M_PI * v.x));
    }
}

static void rounds_settle_on_the_law(void **state)
{
    (void)state;
    const mo_rheology rheology[] = {{.consistency = 0.5, .flow_index = 0.3, .yield_stress = 0.2, .threshold = 0.01},
                                    {.consistency = 2, .flow_index = 0.5, .threshold = 0.01},
                                    {.consistency = 2, .flow_index = 2, .threshold = 0.01},
                                    {.consistency = 2, .flow_index = 3, .yield_stress = 0.2, .threshold = 0.01},
                                    {.yield_stress = 0.5, .flow_index = 1, .threshold = 0.01}};
    for (size_t k = 0; k < sizeof rheology / sizeof *rheology; k++) {
        mo_case_def def = {
            .cells = {20, 20, 1}, .dx = 0.05, .liquid = everywhere, .density = 1, .rheology = &rheology[k]};
        mo_case c;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        stir(&c);
        mo_solver_def solver = {.tolerance = 1e-9, .max_iterations = 10000, .rounds = 60};
        mo_system_info info;
        mo_liquid_system s;
        assert_int_equal(mo_case_stokes(&c, 0.5, &solver, &info, &s, NULL), MO_OK);
        assert_true(info.change < 1e-4 && info.rounds < 60);
        if (rheology[k].flow_index == 2) assert_true(info.rounds <= 12); // a third of the error is left each time
        int32_t rows = s.system.block[MO_BLOCK_STRESS]->rows;
        double *strain = malloc(sizeof(double) * (size_t)rows), *rate = malloc(sizeof(double) * (size_t)rows);
        double off = 0;
        mo_stress_strain(&s, strain);
        assert_int_equal(mo_shear_rate(c.grid, &s, strain, true, c.arena, rate, NULL), MO_OK);
        for (int32_t r = 0; r < rows; r++)
            off += fabs(s.viscosity[r] / mo_rheology_viscosity(&rheology[k], rate[r]) - 1) / rows;
        assert_true(off < 1e-3);
        free(strain), free(rate);
        mo_liquid_destroy(&s);
        mo_case_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_settle_on_the_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
