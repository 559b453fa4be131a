// Liquids whose viscosity depends on the flow, beside sheets: shear rates, a power law between two cylinders, and the
// plug of a Bingham liquid between two plates.
#include "fluid/rheology.h"
#include "sheet_flow_test.h"

static const double eta = 20; // Pa s

static void line_of(double y, int32_t n, mo_sheet *out)
{
    const double line[2][2] = {{-0.8, 0}, {0.8, 0}};
    assert_int_equal(mo_sheet_curve(2, line, 1.0 / n, 3.0 / n, out, NULL), MO_OK);
    mo_sheet_move(out, mo_v3(0.5, y, 0));
}

// ---- Shear rates ----

// A plate along the lattice moves between two walls: each side has its own rate, in every row of strain, whatever the
// plate's place in its cells.
static void each_side_has_its_own_rate(void **state)
{
    (void)state;
    const mo_rheology law = {.consistency = eta, .flow_index = 1, .threshold = 0.01};
    for (int k = 0; k < 5; k++) {
        int32_t n = 12, seen = 0;
        double U = 0.7, y0 = (6 + (double[]){0, 0.07, 0.5, 0.81, 0.999}[k]) / n, off = 0;
        mo_sheet s;
        line_of(y0, n, &s);
        double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity);
        for (int32_t v = 0; v < s.vertices; v++) velocity[v][0] = U;
        mo_case_def def = {.cells = {n, n, 1}, .dx = 1.0 / n, .liquid = everywhere, .density = density};
        def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity, def.rheology = &law;
        mo_case c;
        mo_liquid_system l;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        assert_int_equal(mo_case_stokes_assemble(&c, 0.01, &(mo_solver_def){0}, &l, NULL), MO_OK);
        for (int32_t f = 0; f < l.system.faces.count - l.gaps; f++) {
            double y = sample_at(&c, l.face_at[f]).y;
            bool flows = mo_face_axis(l.face_at[f]) == 0;
            l.system.faces.velocity[f] = flows ? U * (y > y0 ? (1 - y) / (1 - y0) : y / y0) : 0;
        }
        const mo_block *b = l.system.block[MO_BLOCK_STRESS];
        double *strain = malloc(2 * sizeof(double) * (size_t)b->rows), *rate = strain + b->rows;
        mo_stress_strain_of(&l, strain);
        assert_int_equal(mo_shear_rate(c.grid, &l, strain, true, c.arena, rate, NULL), MO_OK);
        for (int32_t r = 0; r < b->rows; r++, seen++) {
            int32_t x = b->coord[r][0] - MO_MARGIN;
            if (x < 2 || x > n - 3) continue;
            off = fmax(off, fmin(fabs(rate[r] - U / (1 - y0)), fabs(rate[r] - U / y0)));
        }
        print_message("plate at %.3f: rates off by %.1e of %.2f and %.2f 1/s\n", y0 * n, off, U / (1 - y0), U / y0);
        assert_true(off < 1e-6 && seen > n * n);
        free(strain), free(velocity);
        mo_liquid_destroy(&l);
        mo_case_destroy(&c);
        mo_sheet_destroy(&s);
    }
}

// ---- A cylinder that turns in another one ----

static const double R1 = 0.21, R2 = 0.37, turn = 1.3;

// The rate at which the inner cylinder turns, if the stress is C/r^2: the integral of the shear rate over r.
static double turn_of(const mo_rheology *law, double C)
{
    enum { PARTS = 2000 };
    double sum = 0, h = (R2 - R1) / PARTS;
    for (int k = 0; k < PARTS; k++) {
        double r = R1 + (k + 0.5) * h, beyond = C / (r * r) - law->yield_stress;
        if (beyond > 0) sum += h / r * pow(beyond / law->consistency, 1 / law->flow_index);
    }
    return sum;
}

static double exact_torque(const mo_rheology *law, double depth)
{
    double low = 0, high = 1e4;
    for (int k = 0; k < 100; k++) {
        double C = 0.5 * (low + high);
        *(turn_of(law, C) < turn ? &low : &high) = C;
    }
    return -2 * M_PI * low * depth;
}

// The torque on the inner cylinder over the exact one, after a step that is so long that inertia does not count.
static double torque_of(const mo_rheology *law, int32_t n)
{
    mo_sheet a, b, s;
    circle(R1, n, &a), circle(R2, n, &b);
    int32_t triangles = a.triangles, vertices = a.vertices;
    assert_int_equal(mo_sheet_weld(&a, &b, 1e-9, &s, NULL), MO_OK);
    double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity);
    for (int32_t v = 0; v < vertices; v++)
        velocity[v][0] = -turn * s.position[v][1], velocity[v][1] = turn * s.position[v][0];
    mo_sheet_move(&s, mo_v3(0.503, 0.496, 0));
    mo_case_def def = {.cells = {n, n, 1}, .dx = 1.0 / n, .liquid = everywhere, .density = density, .rheology = law};
    def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity;
    mo_case c;
    mo_liquid_system l;
    mo_system_info info;
    mo_solver_def solver = {.tolerance = 1e-7, .max_iterations = 10000, .rounds = 40};
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    assert_int_equal(mo_case_stokes(&c, 1e4, &solver, &info, &l, NULL), MO_OK);
    mo_pressure_def pressure = mo_case_pressure_def(&c, 1e4);
    mo_sheet_stress_def made = mo_case_sheet_stress_def(&c, &pressure, &solver);
    mo_vec3 *force = calloc(2 * (size_t)s.triangles, sizeof *force), *torque = force + s.triangles;
    mo_sheet_stress_forces out = {.sheet = force, .sheet_torque = torque};
    assert_int_equal(mo_sheet_stress_force(&made, &l, c.arena, &out, NULL), MO_OK);
    double sum = 0, exact = exact_torque(law, 1.0 / n);
    for (int32_t t = 0; t < triangles; t++) sum += mo_sub(torque[t], mo_cross(mo_v3(0.503, 0.496, 0), force[t])).z;
    print_message("index %.1f, yield stress %.0f Pa, %d cells: torque %.4f of the exact one, %d rounds, change %.1e\n",
                  law->flow_index, law->yield_stress, n, sum / exact, info.rounds, info.change);
    free(force), free(velocity);
    mo_liquid_destroy(&l);
    mo_case_destroy(&c);
    mo_sheet_destroy(&s), mo_sheet_destroy(&a), mo_sheet_destroy(&b);
    return fabs(sum / exact - 1);
}

// Shear-thinning, shear-thickening and Bingham liquids; the last one is rigid beyond some radius.
static void torques_converge(void **state)
{
    (void)state;
    const mo_rheology law[] = {{.consistency = eta, .flow_index = 0.5, .threshold = 0.01},
                               {.consistency = eta, .flow_index = 1.5, .threshold = 0.01},
                               {.consistency = eta, .flow_index = 1, .yield_stress = 60, .threshold = 0.01}};
    for (int k = 0; k < 3; k++) {
        double coarse = torque_of(&law[k], 16), fine = torque_of(&law[k], 32);
        assert_true(coarse < 0.07 && fine < 0.025);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_has_its_own_rate),
        cmocka_unit_test(torques_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
