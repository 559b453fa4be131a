// Viscous flows past sheets with known solutions: between two cylinders, and past a disk.
#include "sheet_flow_test.h"

static const double eta = 20; // Pa s

// ---- A cylinder that turns in another one ----

typedef struct ring {
    mo_sheet sheet;
    int32_t inner; // triangles of the inner one, which come first
    double (*velocity)[3];
} ring;

static void ring_create(ring *r, double inner, double outer, double turn, int32_t n)
{
    mo_sheet a, b;
    circle(inner, n, &a), circle(outer, n, &b);
    r->inner = a.triangles;
    int32_t vertices = a.vertices;
    assert_int_equal(mo_sheet_weld(&a, &b, 1e-9, &r->sheet, NULL), MO_OK);
    mo_sheet_destroy(&a), mo_sheet_destroy(&b);
    r->velocity = calloc((size_t)r->sheet.vertices, sizeof *r->velocity);
    for (int32_t v = 0; v < vertices; v++) {
        r->velocity[v][0] = -turn * r->sheet.position[v][1], r->velocity[v][1] = turn * r->sheet.position[v][0];
    }
    mo_sheet_move(&r->sheet, mo_v3(0.503, 0.496, 0));
}

// The error of the torque on the inner cylinder, relative; *most: the largest error of a velocity between the
// cylinders, over that of the inner one; *inside: elsewhere.
static double torque_error(int32_t n, double *most, double *inside)
{
    const double R1 = 0.21, R2 = 0.37, turn = 1.3, large = 1e4;
    ring r;
    mo_case c;
    mo_liquid_system l;
    mo_system_info info;
    ring_create(&r, R1, R2, turn, n);
    mo_case_def def = {.cells = {n, n, 1}, .dx = 1.0 / n, .liquid = everywhere, .density = density, .viscosity = eta};
    def.sheet = &r.sheet, def.sheet_velocity = (const double(*)[3])r.velocity;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    assert_int_equal(mo_case_stokes_assemble(&c, large, &(mo_solver_def){0}, &l, NULL), MO_OK);
    solve(&l, MO_ROUTE_FAST, 1e-9, &info);
    mo_pressure_def pressure = mo_case_pressure_def(&c, large);
    mo_sheet_stress_def made = mo_case_sheet_stress_def(&c, &pressure, &(mo_solver_def){0});
    mo_vec3 *force = calloc(2 * (size_t)r.sheet.triangles, sizeof *force), *torque = force + r.sheet.triangles;
    mo_sheet_stress_forces out = {.sheet = force, .sheet_torque = torque};
    assert_int_equal(mo_sheet_stress_force(&made, &l, c.arena, &out, NULL), MO_OK);
    mo_vec3 centre = {0.503, 0.496, 0};
    double sum = 0;
    for (int32_t t = 0; t < r.inner; t++) sum += mo_sub(torque[t], mo_cross(centre, force[t])).z;
    double B = turn * R1 * R1 * R2 * R2 / (R2 * R2 - R1 * R1), exact = -4 * M_PI * eta * B / n;
    *most = *inside = 0;
    for (int32_t f = 0; f < l.system.faces.count - l.gaps; f++) {
        mo_vec3 x = mo_sub(sample_at(&c, l.face_at[f]), centre);
        double radius = hypot(x.x, x.y);
        double rate = radius < R1 ? turn : radius < R2 ? B / (radius * radius) - B / (R2 * R2) : 0;
        mo_vec3 u = {-rate * x.y, rate * x.x, 0};
        double error = fabs(l.system.faces.velocity[f] - mo_get(u, mo_face_axis(l.face_at[f]))) / (turn * R1);
        if (radius > R1 && radius < R2)
            *most = fmax(*most, error);
        else
            *inside = fmax(*inside, error);
    }
    print_message(
        "%d cells: torque %.5f of the exact one, velocities off by %.4f, by %.1e where the liquid is rigid; %d "
        "iterations (%s)\n",
        n, sum / exact, *most, *inside, info.solve.iterations, info.form);
    free(force), free(r.velocity);
    mo_liquid_destroy(&l);
    mo_case_destroy(&c);
    mo_sheet_destroy(&r.sheet);
    return fabs(sum / exact - 1);
}

static void shear_between_cylinders_converges(void **state)
{
    (void)state;
    double torque[3], most[3], inside[3];
    for (int k = 0; k < 3; k++) torque[k] = torque_error(16 << k, &most[k], &inside[k]);
    for (int k = 0; k < 3; k++) assert_true(inside[k] < 0.01);
    assert_true(torque[2] < 0.03 && most[2] < 0.03);
}

// ---- A disk in Stokes flow ----

// The drag over eta a U of a disk of 3 cells in a box of n cells.
static double drag(int32_t n, bool edge_on)
{
    double a = 3.0 / n, dx = 1.0 / n, angle = 0.4, large = 1e5;
    mo_vec3 axis = {0.6, 0, 0.8}, v = turned(axis, angle, edge_on ? mo_v3(1, 0, 0) : mo_v3(0, 1, 0)), total = {0, 0, 0};
    mo_sheet s;
    assert_int_equal(mo_sheet_disk(a, dx, &s, NULL), MO_OK);
    mo_sheet_rotate(&s, axis, angle);
    mo_sheet_move(&s, mo_v3(0.5 + 0.3 * dx, 0.5 + 0.1 * dx, 0.5 + 0.2 * dx));
    double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity),
    (*force)[3] = calloc((size_t)s.vertices, sizeof *force);
    for (int32_t i = 0; i < s.vertices; i++) velocity[i][0] = v.x, velocity[i][1] = v.y, velocity[i][2] = v.z;
    mo_case_def def = {.cells = {n, n, n}, .dx = dx, .liquid = everywhere, .density = density, .viscosity = eta};
    def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity;
    mo_case c;
    mo_liquid_system l;
    mo_system_info info;
    assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
    assert_int_equal(mo_case_stokes_assemble(&c, large, &(mo_solver_def){0}, &l, NULL), MO_OK);
    solve(&l, MO_ROUTE_FAST, 1e-6, &info);
    mo_pressure_def pressure = mo_case_pressure_def(&c, large);
    mo_sheet_stress_def made = mo_case_sheet_stress_def(&c, &pressure, &(mo_solver_def){0});
    mo_vec3 *shear = calloc((size_t)s.triangles, sizeof *shear);
    assert_int_equal(mo_sheet_stress_force(&made, &l, c.arena, &(mo_sheet_stress_forces){.sheet = shear}, NULL), MO_OK);
    mo_pressure_sheet_forces(&pressure, &l, force);
    for (int32_t t = 0; t < s.triangles; t++) total = mo_add(total, shear[t]);
    for (int32_t i = 0; i < s.vertices; i++) total = mo_add(total, mo_v3(force[i][0], force[i][1], force[i][2]));
    print_message("disk of 3 cells, %s, box of %d: drag %.3f eta a U, %d iterations (%s)\n",
                  edge_on ? "edge-on" : "broadside", n, -mo_dot(total, v) / (eta * a), info.solve.iterations,
                  info.form);
    assert_true(info.solve.iterations < 80);
    mo_liquid_destroy(&l);
    mo_case_destroy(&c);
    free(velocity), free(force), free(shear);
    mo_sheet_destroy(&s);
    return -mo_dot(total, v) / (eta * a);
}

// In an unbounded liquid it is 16 and 32/3. What a box adds to 1/drag falls with its size.
static void a_disk_has_the_drag_of_stokes_flow(void **state)
{
    (void)state;
    for (int edge_on = 0; edge_on < 2; edge_on++) {
        double small = drag(18, edge_on), large = drag(36, edge_on), found = 1 / (2 / large - 1 / small);
        print_message("%s: %.3f of the exact drag\n", edge_on ? "edge-on" : "broadside",
                      found / (edge_on ? 32.0 / 3 : 16));
        assert_true(fabs(found / (edge_on ? 32.0 / 3 : 16) - 1) < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shear_between_cylinders_converges),
        cmocka_unit_test(a_disk_has_the_drag_of_stokes_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
