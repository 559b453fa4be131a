// Viscous liquid and sheets in one solve: rest, common motion, opposite flows, shear between plates, forces, and a
// dense reference.
#include "dense_test.h"
#include "sheet_flow_test.h"

static const double gravity = 9.81, dt = 0.01, eta = 20;

// The largest row of stress, times dx.
static double strain(const mo_liquid_system *l, double dx)
{
    const mo_block *b = l->system.block[MO_BLOCK_STRESS];
    double *r = malloc(sizeof(double) * (size_t)(b->rows + 1)), most = 0;
    mo_block_residual(&l->system, b, r);
    for (int32_t k = 0; k < b->rows; k++) most = fmax(most, fabs(r[k]) * dx);
    free(r);
    return most;
}

// ---- A drop about a plate ----

typedef struct trial {
    mo_sheet sheet;
    double (*velocity)[3];
    uint8_t *slip;
    double radius;
    mo_case c;
    mo_liquid_system l;
} trial;

static void trial_create(trial *t, int32_t n, bool flat, double size, const flow *f, mo_vec3 axis, double angle,
                         bool moves, bool slips)
{
    t->radius = flat ? -0.36 : 0.36;
    if (flat) {
        const double line[2][2] = {{-0.5 * size, 0}, {0.5 * size, 0}};
        assert_int_equal(mo_sheet_curve(2, line, 1.0 / n, 3.0 / n, &t->sheet, NULL), MO_OK);
    } else
        assert_int_equal(mo_sheet_plate(size, size, 1.0 / n, &t->sheet, NULL), MO_OK);
    mo_sheet_rotate(&t->sheet, flat ? mo_v3(0, 0, 1) : axis, angle);
    mo_sheet_move(&t->sheet, f->centre);
    t->velocity = calloc((size_t)t->sheet.vertices, sizeof *t->velocity);
    t->slip = malloc((size_t)t->sheet.triangles);
    memset(t->slip, slips, (size_t)t->sheet.triangles);
    for (int32_t v = 0; moves && v < t->sheet.vertices; v++) {
        const double *x = t->sheet.position[v];
        mo_vec3 u = flow_at(f, mo_v3(x[0], x[1], x[2]));
        t->velocity[v][0] = u.x, t->velocity[v][1] = u.y, t->velocity[v][2] = u.z;
    }
    mo_case_def def = {
        .cells = {n, n, flat ? 1 : n}, .dx = 1.0 / n, .liquid = drop, .user = &t->radius, .density = density};
    def.sheet = &t->sheet, def.sheet_velocity = (const double(*)[3])t->velocity, def.sheet_slip = t->slip;
    def.viscosity = 100;
    assert_int_equal(mo_case_create(&def, &t->c, NULL), MO_OK);
    assert_int_equal(mo_case_stokes_assemble(&t->c, dt, &(mo_solver_def){0}, &t->l, NULL), MO_OK);
    assert_null(mo_system_fault(&t->l.system));
}

static void trial_destroy(trial *t)
{
    mo_liquid_destroy(&t->l);
    mo_case_destroy(&t->c);
    free(t->velocity), free(t->slip);
    mo_sheet_destroy(&t->sheet);
}

// Liquid that moves and turns with a plate, to which it sticks or along which it slips; that slides along a plate on
// which it slips; that flows in opposite directions on both sides of it: no row sees any strain.
static void no_strain_where_there_is_none(void **state)
{
    (void)state;
    double worst[4] = {0};
    for (int flat = 0; flat < 2; flat++)
        for (int k = 0; k < 6; k++) {
            mo_vec3 axis = flat ? mo_v3(0, 0, 1) : mo_normalize(mo_v3(0.3, 0.2 + 0.1 * k, 1));
            double angle = k == 0 ? 0 : k == 1 ? M_PI / 16 : k == 2 ? M_PI / 4 : 0.37 * k;
            mo_vec3 along = turned(axis, angle, mo_v3(1, 0, 0)), normal = turned(axis, angle, mo_v3(0, 1, 0));
            mo_vec3 middle = {0.5, 0.5, flat ? 0 : 0.5}, off = mo_add(middle, mo_v3(0.013, -0.007, flat ? 0 : 0.003));
            flow slide = {along, {0, 0, 0}, middle, {0, 0, 0}}, opposite = {along, {0, 0, 0}, off, normal};
            flow common = {{0.7, -0.4, flat ? 0 : 0.2}, {flat ? 0 : 1.3, flat ? 0 : -0.6, 0.9}, off, {0, 0, 0}};
            for (int what = 0; what < 4; what++) {
                trial t;
                const flow *f = what < 2 ? &common : what == 2 ? &slide : &opposite;
                trial_create(&t, 16, flat, what == 3 ? 1.6 : 0.41, f, axis, angle, what<2, what> 0);
                set_flow(&t.c, f, &t.l);
                worst[what] = fmax(worst[what], strain(&t.l, t.c.def.dx));
                assert_true(t.l.system.block[MO_BLOCK_STRESS]->rows > (flat ? 100 : 2000));
                trial_destroy(&t);
            }
        }
    print_message("strain: common motion %.1e, with slip %.1e, sliding %.1e, opposite flows %.1e\n", worst[0], worst[1],
                  worst[2], worst[3]);
    for (int what = 0; what < 4; what++) assert_true(worst[what] < 1e-10);
}

// Honey at rest under gravity stays at rest about plates at angles and in a cup.
static void still_honey_stays(void **state)
{
    (void)state;
    for (int sort = 0; sort < 2; sort++)
        for (int turn = 0; turn < 3; turn++) {
            mo_sheet s;
            int32_t n = 12;
            if (sort)
                assert_int_equal(mo_sheet_cup(0.22, 0.4, 1.0 / n, &s, NULL), MO_OK);
            else
                assert_int_equal(mo_sheet_plate(0.43, 0.37, 1.0 / n, &s, NULL), MO_OK);
            mo_sheet_rotate(&s, mo_v3(0.2, 0.3, 1), 0.3 * turn * turn);
            mo_sheet_move(&s, mo_v3(0.51, sort ? 0.4 : 0.43, 0.49));
            double height = 0.72, most = 0;
            mo_case_def def = {.cells = {n, n, n}, .dx = 1.0 / n, .liquid = pool, .user = &height, .density = density};
            def.sheet = &s, def.viscosity = 10;
            mo_case c;
            mo_liquid_system l;
            mo_system_info info;
            assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
            assert_int_equal(mo_case_stokes_assemble(&c, dt, &(mo_solver_def){0}, &l, NULL), MO_OK);
            set_flow(&c, &(flow){.velocity = {0, 0, 0}}, &l);
            for (int32_t k = 0; k < l.system.faces.count - l.gaps; k++)
                if (mo_face_axis(l.face_at[k]) == 1) l.system.faces.velocity[k] = -gravity * dt;
            solve(&l, MO_ROUTE_FAST, 1e-12, &info);
            for (int32_t k = 0; k < l.system.faces.count; k++) most = fmax(most, fabs(l.system.faces.velocity[k]));
            print_message("%s %d: %d iterations (%s): %.1e g dt\n", sort ? "cup" : "plate", turn, info.solve.iterations,
                          info.form, most / (gravity * dt));
            assert_true(most < 1e-8 * gravity * dt);
            mo_liquid_destroy(&l);
            mo_case_destroy(&c);
            mo_sheet_destroy(&s);
        }
}

// ---- Shear between a plate and walls ----

// A plate along the lattice moves between two walls, nearer to one of them. The shear of each side is exact, whatever
// the plate's place in its cells, and no face is pushed.
static void shear_beside_a_plate_is_exact(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        int32_t n = 12;
        double U = 0.7, y0 = (6 + (double[]){0, 0.07, 0.5, 0.81, 0.999}[k]) / n, off = 0, push = 0;
        const double line[2][2] = {{-0.8, 0}, {0.8, 0}};
        mo_sheet s;
        assert_int_equal(mo_sheet_curve(2, line, 1.0 / n, 3.0 / n, &s, NULL), MO_OK);
        mo_sheet_move(&s, mo_v3(0.5, y0, 0));
        double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity);
        for (int32_t v = 0; v < s.vertices; v++) velocity[v][0] = U;
        mo_case_def def = {.cells = {n, n, 1}, .dx = 1.0 / n, .liquid = everywhere, .density = density};
        def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity, def.viscosity = eta;
        mo_case c;
        mo_liquid_system l;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        assert_int_equal(mo_case_stokes_assemble(&c, dt, &(mo_solver_def){0}, &l, NULL), MO_OK);
        for (int32_t f = 0; f < l.system.faces.count - l.gaps; f++) {
            double y = sample_at(&c, l.face_at[f]).y;
            bool flows = mo_face_axis(l.face_at[f]) == 0;
            l.system.faces.velocity[f] = flows ? U * (y > y0 ? (1 - y) / (1 - y0) : y / y0) : 0;
        }
        mo_block *b = l.system.block[MO_BLOCK_STRESS];
        mo_stress_strain_of(&l, b->x);
        double *force = calloc((size_t)l.system.faces.count, sizeof *force);
        int32_t seen = 0;
        for (int32_t r = 0; r < b->rows; r++) {
            b->x[r] *= 2 * l.viscosity[r];
            int32_t component = mo_stress_component(l.sample_at[r]), x = b->coord[r][0] - MO_MARGIN;
            if (component != MO_STRESS_XY || x < 2 || x > n - 2) continue;
            double above = -eta * U / (1 - y0), below = eta * U / y0, found = b->x[r];
            // Rows that have the other difference alone are 0.
            off = fmax(off, fmin(fabs(found), fmin(fabs(found - above), fabs(found - below))));
            seen += fabs(found) > 1;
        }
        mo_block_add_force(b, MO_FACES, force);
        for (int32_t f = 0; f < l.system.faces.count - l.gaps; f++) {
            double x = n * sample_at(&c, l.face_at[f]).x;
            if (x > 1.9 && x < n - 1.9) push = fmax(push, fabs(force[f]) / (eta * U * n));
        }
        print_message("plate at %.3f: stress off by %.1e Pa, push %.1e\n", y0 * n, off, push);
        assert_true(off < 1e-6 * eta && push < 1e-7 && seen > n * (n - 3));
        free(force), free(velocity);
        mo_liquid_destroy(&l);
        mo_case_destroy(&c);
        mo_sheet_destroy(&s);
    }
}

// ---- Forces and the solve ----

// A drop about a plate that moves and turns on its own, with u* = 0.
static void moving_plate(trial *t, bool flat, int32_t n, bool slips)
{
    mo_vec3 middle = {0.503, 0.496, flat ? 0 : 0.502}, axis = flat ? mo_v3(0, 0, 1) : mo_normalize(mo_v3(0.3, 0.2, 1));
    flow own = {{0.4, -0.3, flat ? 0 : 0.2}, {0, 0, 2}, middle, {0, 0, 0}};
    trial_create(t, n, flat, 0.41, &own, axis, 0.4, true, slips);
    set_flow(&t->c, &(flow){.velocity = {0, 0, 0}}, &t->l);
}

// What the liquid gains, the plate loses: the forces of pressure and stress on the plate are minus the change of the
// liquid's momentum; their power is what the liquid gains and what viscosity takes.
static void the_plate_feels_what_the_liquid_gets(void **state)
{
    (void)state;
    for (int slips = 0; slips < 2; slips++) {
        trial t;
        mo_system_info info;
        moving_plate(&t, false, 12, slips);
        const mo_block *b = t.l.system.block[MO_BLOCK_STRESS];
        const mo_group *faces = &t.l.system.faces;
        double volume = pow(t.c.def.dx, 3), energy = 0, heat = 0, work = 0;
        solve(&t.l, MO_ROUTE_FAST, 1e-11, &info);
        mo_pressure_def pressure = mo_case_pressure_def(&t.c, dt);
        mo_sheet_stress_def made = mo_case_sheet_stress_def(&t.c, &pressure, &(mo_solver_def){0});
        mo_vec3 *force = calloc(2 * (size_t)t.sheet.triangles, sizeof *force), sum = {0, 0, 0}, shear = {0, 0, 0};
        double(*pushed)[3] = calloc((size_t)t.sheet.vertices, sizeof *pushed);
        mo_sheet_stress_forces out = {.sheet = force, .sheet_torque = force + t.sheet.triangles};
        assert_int_equal(mo_sheet_stress_force(&made, &t.l, t.c.arena, &out, NULL), MO_OK);
        mo_pressure_sheet_forces(&pressure, &t.l, pushed);
        mo_vec3 centre = {0.503, 0.496, 0.502}, velocity = {0.4, -0.3, 0.2}, turn = {0, 0, 2};
        for (int32_t k = 0; k < t.sheet.triangles; k++) {
            shear = mo_add(shear, force[k]);
            work -= dt * (mo_dot(force[k], velocity) +
                          mo_dot(mo_sub(out.sheet_torque[k], mo_cross(centre, force[k])), turn));
        }
        for (int32_t v = 0; v < t.sheet.vertices; v++) {
            sum = mo_add(sum, mo_v3(pushed[v][0], pushed[v][1], pushed[v][2]));
            for (int a = 0; a < 3; a++) work -= dt * pushed[v][a] * t.velocity[v][a];
        }
        sum = mo_add(sum, shear);
        for (int32_t f = 0; f < faces->count; f++) {
            double m = volume * faces->mass[f], u = faces->velocity[f];
            energy += m * u * u; // implicit: half of it is lost by the step
            if (f >= faces->count - t.l.gaps) continue;
            int axis = mo_face_axis(t.l.face_at[f]);
            mo_vec3 e = {axis == 0, axis == 1, axis == 2};
            sum = mo_mad(sum, m * u / dt, e);
        }
        for (int32_t r = 0; r < b->rows; r++)
            for (int64_t k = b->compliance.row[r]; k < b->compliance.row[r + 1]; k++)
                heat += dt * volume * b->x[r] * b->compliance.val[k] * b->x[b->compliance.col[k]];
        print_message("%s: shear force %.3f N, momentum off by %.1e N; work %.6f J = %.6f + heat %.6f\n",
                      slips ? "slip" : "stick", mo_norm(shear), mo_norm(sum), work, energy, heat);
        assert_true(mo_norm(sum) < 1e-6 && (mo_norm(shear) > 1) == !slips);
        assert_true(fabs(work - energy - heat) < 1e-7 * work && heat > 0.1 * work);
        free(force), free(pushed);
        trial_destroy(&t);
    }
}

// The dense conditions of optimality: M u + dt B^T x = M u*, B u - S x = c.
static double *dense_solution(const mo_system *y)
{
    int32_t faces = y->faces.count, n = faces, first = faces;
    for (int k = 0; k <= MO_BLOCK_STRESS; k++) n += y->block[k]->rows;
    double *A = calloc((size_t)n * (size_t)n, sizeof *A), *x = calloc((size_t)n, sizeof *x);
    for (int32_t f = 0; f < faces; f++) A[f * n + f] = y->faces.mass[f], x[f] = y->faces.mass[f] * y->faces.velocity[f];
    for (int k = 0; k <= MO_BLOCK_STRESS; k++) {
        const mo_block *b = y->block[k];
        for (int32_t r = 0; r < b->rows; r++) {
            const mo_csr *B = &b->on[MO_FACES], *S = &b->compliance;
            x[first + r] = b->rhs[r];
            for (int64_t e = B->row[r]; e < B->row[r + 1]; e++) {
                A[(first + r) * n + B->col[e]] += B->val[e];
                A[B->col[e] * n + first + r] += y->dt * B->val[e];
            }
            for (int64_t e = mo_csr_begin(S, r); e < mo_csr_end(S, r); e++)
                A[(first + r) * n + first + S->col[e]] -= S->val[e];
        }
        first += b->rows;
    }
    eliminate(n, A, x);
    free(A);
    return x;
}

// Both routes find the solution of the dense system.
static void both_routes_agree_with_a_dense_solve(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int paper = 0; paper < 2; paper++) {
            trial t;
            mo_system_info info;
            double most = 0, fastest = 0;
            moving_plate(&t, k < 2, k < 2 ? 14 : 7, k % 2);
            double *exact = dense_solution(&t.l.system);
            solve(&t.l, paper ? MO_ROUTE_PAPER : MO_ROUTE_FAST, 1e-10, &info);
            for (int32_t f = 0; f < t.l.system.faces.count; f++) {
                most = fmax(most, fabs(t.l.system.faces.velocity[f] - exact[f]));
                fastest = fmax(fastest, fabs(exact[f]));
            }
            print_message("%s, %s, %s: off by %.1e of %.2f m/s\n", k < 2 ? "2D" : "3D", k % 2 ? "slip" : "stick",
                          info.form, most, fastest);
            assert_true(most < 1e-6 * fastest);
            free(exact);
            trial_destroy(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_strain_where_there_is_none),        cmocka_unit_test(still_honey_stays),
        cmocka_unit_test(shear_beside_a_plate_is_exact),        cmocka_unit_test(the_plate_feels_what_the_liquid_gets),
        cmocka_unit_test(both_routes_agree_with_a_dense_solve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
