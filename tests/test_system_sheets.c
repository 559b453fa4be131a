// Inviscid liquid and sheets in one solve: still water, flow along plates, common motion, opposite flows, a piston.
#include "sheet_flow_test.h"

static const double gravity = 9.81, dt = 0.01;

// The largest change of any velocity by a solve.
static double change(const mo_case *c, const flow *f, mo_liquid_system *l, mo_system_info *info)
{
    set_flow(c, f, l);
    size_t bytes = sizeof(double) * (size_t)l->system.faces.count;
    double *before = malloc(bytes), most = 0;
    memcpy(before, l->system.faces.velocity, bytes);
    solve(l, MO_ROUTE_FAST, 1e-12, info);
    for (int32_t k = 0; k < l->system.faces.count; k++)
        most = fmax(most, fabs(l->system.faces.velocity[k] - before[k]));
    free(before);
    return most;
}

// ---- Sheets in a unit box ----

enum { PLATE, CUP, JUNCTION, BOWL, SHEETS };
static const char *const names[SHEETS] = {"plate", "cup", "junction", "bowl"};

static void make_sheet(int sort, int32_t n, mo_sheet *s)
{
    double edge = 1.0 / n;
    if (sort == PLATE) assert_int_equal(mo_sheet_plate(0.43, 0.37, edge, s, NULL), MO_OK);
    if (sort == CUP) assert_int_equal(mo_sheet_cup(0.22, 0.4, edge, s, NULL), MO_OK);
    if (sort == BOWL) assert_int_equal(mo_sheet_hemisphere(0.3, edge, s, NULL), MO_OK);
    if (sort == JUNCTION) {
        mo_sheet a, b;
        assert_int_equal(mo_sheet_plate(0.4, 0.3, edge, &a, NULL), MO_OK);
        assert_int_equal(mo_sheet_plate(0.4, 0.3, edge, &b, NULL), MO_OK);
        mo_sheet_move(&b, mo_v3(0.2, 0, 0));
        mo_sheet_rotate(&b, mo_v3(0, 0, 1), 1.9);
        mo_sheet_move(&b, mo_v3(-0.2, 0, 0));
        assert_int_equal(mo_sheet_weld(&a, &b, 1e-9, s, NULL), MO_OK);
        mo_sheet_destroy(&a), mo_sheet_destroy(&b);
    }
}

// Water at rest under gravity stays at rest: submerged plates at angles, a cup whose rim stands out of the water, and
// junctions.
static void still_water_stays(void **state)
{
    (void)state;
    for (int sort = 0; sort < SHEETS; sort++)
        for (int turn = 0; turn < 4; turn++) {
            mo_sheet s;
            int32_t n = 16;
            make_sheet(sort, n, &s);
            mo_sheet_rotate(&s, mo_v3(0.2, 0.3, 1), sort == CUP && turn == 0 ? 0 : 0.3 * turn * turn);
            mo_sheet_move(&s, mo_v3(0.51, sort == CUP ? 0.4 : 0.43, 0.49));
            double height = 0.72;
            mo_case_def def = {.cells = {n, n, n}, .dx = 1.0 / n, .liquid = pool, .user = &height, .density = density};
            def.sheet = &s;
            mo_case c;
            mo_liquid_system l;
            mo_system_info info;
            assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
            assert_int_equal(mo_case_pressure_assemble(&c, dt, &l, NULL), MO_OK);
            assert_null(mo_system_fault(&l.system));
            set_flow(&c, &(flow){.velocity = {0, 0, 0}}, &l);
            for (int32_t k = 0; k < l.system.faces.count - l.gaps; k++)
                if (mo_face_axis(l.face_at[k]) == 1) l.system.faces.velocity[k] = -gravity * dt;
            solve(&l, MO_ROUTE_FAST, 1e-13, &info);
            double most = 0;
            for (int32_t k = 0; k < l.system.faces.count; k++) most = fmax(most, fabs(l.system.faces.velocity[k]));
            print_message("%s %d: %d sides, %d gaps, %d tangled, %d iterations: %.1e g dt\n", names[sort], turn,
                          c.cut.sides, l.gaps, c.cut.tangled, info.solve.iterations, most / (gravity * dt));
            assert_true(most < 1e-10 * gravity * dt);
            assert_true(c.cut.sides > 50 && (l.gaps > 10 || sort == CUP)); // its rim may be dry
            mo_liquid_destroy(&l);
            mo_case_destroy(&c);
            mo_sheet_destroy(&s);
        }
}

// ---- A drop about a plate ----

typedef struct trial {
    mo_sheet sheet;
    double (*velocity)[3];
    double radius;
    mo_case c;
    mo_liquid_system l;
} trial;

static void trial_create(trial *t, int32_t n, bool flat, double size, const flow *f, mo_vec3 axis, double angle,
                         bool moves)
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
    for (int32_t v = 0; moves && v < t->sheet.vertices; v++) {
        const double *x = t->sheet.position[v];
        mo_vec3 u = flow_at(f, mo_v3(x[0], x[1], x[2]));
        t->velocity[v][0] = u.x, t->velocity[v][1] = u.y, t->velocity[v][2] = u.z;
    }
    mo_case_def def = {
        .cells = {n, n, flat ? 1 : n}, .dx = 1.0 / n, .liquid = drop, .user = &t->radius, .density = density};
    def.sheet = &t->sheet, def.sheet_velocity = (const double(*)[3])t->velocity;
    assert_int_equal(mo_case_create(&def, &t->c, NULL), MO_OK);
    assert_int_equal(mo_case_pressure_assemble(&t->c, dt, &t->l, NULL), MO_OK);
}

static void trial_destroy(trial *t)
{
    mo_liquid_destroy(&t->l);
    mo_case_destroy(&t->c);
    free(t->velocity);
    mo_sheet_destroy(&t->sheet);
}

// Liquid that slides along a plate at rest; moves and turns with a plate; flows in opposite directions on both sides of
// a plate that divides the drop: a solve changes nothing.
static void nothing_changes_what_is_right(void **state)
{
    (void)state;
    double worst[3] = {0};
    for (int flat = 0; flat < 2; flat++)
        for (int k = 0; k < 7; k++) {
            mo_vec3 axis = flat ? mo_v3(0, 0, 1) : mo_normalize(mo_v3(0.3, 0.2 + 0.1 * k, 1));
            double angle = k == 0 ? 0 : k == 1 ? M_PI / 16 : k == 2 ? M_PI / 4 : 0.37 * k;
            mo_vec3 along = turned(axis, angle, mo_v3(1, 0, 0)), normal = turned(axis, angle, mo_v3(0, 1, 0));
            mo_vec3 middle = {0.5, 0.5, flat ? 0 : 0.5}; // a node of the lattice
            mo_vec3 off = mo_add(middle, mo_v3(0.013, -0.007, flat ? 0 : 0.003));
            flow slip = {along, {0, 0, 0}, middle, {0, 0, 0}}, opposite = {along, {0, 0, 0}, off, normal};
            flow common = {{0.7, -0.4, flat ? 0 : 0.2}, {flat ? 0 : 1.3, flat ? 0 : -0.6, 0.9}, middle, {0, 0, 0}};
            for (int what = 0; what < 3; what++) {
                trial t;
                mo_system_info info;
                const flow *f = what == 0 ? &slip : what == 1 ? &common : &opposite;
                trial_create(&t, 20, flat, what == 2 ? 1.6 : 0.41, f, axis, angle, what == 1);
                double most = change(&t.c, f, &t.l, &info);
                worst[what] = fmax(worst[what], most);
                if (what < 2) assert_true(t.l.gaps > 1);
                if (what == 2) assert_int_equal(info.pieces, 2);
                trial_destroy(&t);
            }
        }
    print_message("changes: slip %.1e, common motion %.1e, opposite flows %.1e\n", worst[0], worst[1], worst[2]);
    for (int what = 0; what < 3; what++) assert_true(worst[what] < 1e-10);
}

// ---- A piston in a channel ----

static double channel(const void *user, mo_vec3 x)
{
    (void)user;
    return x.x - 0.83; // liquid reaches from the piston to here
}

// On which side of the piston a row lies: by its walls, or by the middle of its cell.
static bool is_behind(const mo_case *c, int32_t row, mo_vec3 normal)
{
    const mo_site_wall *wall;
    int32_t at[3];
    double sum = 0;
    int count = mo_site_walls(c->grid, row, &wall);
    for (int k = 0; k < count; k++)
        sum += mo_dot(normal, mo_v3(wall[k].vector[0], wall[k].vector[1], wall[k].vector[2]));
    if (count > 0) return sum > 0;
    mo_grid_cell(c->grid, mo_site_cell(c->grid, row), at);
    mo_vec3 x = mo_grid_world(c->grid, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5);
    return mo_dot(normal, mo_sub(x, mo_v3(0.4, 0.5, 0.5))) < 0;
}

// The liquid before a piston that spans a channel, at any angle, moves on as much as the piston sweeps.
static void a_piston_moves_its_volume(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        double angle = (double[]){0, M_PI / 16, 0.3, 0.6}[k], speed = 0.8;
        int32_t n = 16;
        mo_sheet s;
        mo_vec3 axis = mo_normalize(mo_v3(0, 0.1, 1)), normal = turned(axis, angle, mo_v3(1, 0, 0));
        assert_int_equal(mo_sheet_plate(3, 3, 1.0 / n, &s, NULL), MO_OK);
        mo_sheet_rotate(&s, mo_v3(0, 0, 1), -M_PI / 2);
        mo_sheet_rotate(&s, axis, angle);
        mo_sheet_move(&s, mo_v3(0.4, 0.5, 0.5));
        double(*v)[3] = calloc((size_t)s.vertices, sizeof *v);
        for (int32_t i = 0; i < s.vertices; i++) v[i][0] = speed;
        mo_case_def def = {.cells = {n, n, n}, .dx = 1.0 / n, .liquid = channel, .density = density};
        def.sheet = &s, def.sheet_velocity = (const double(*)[3])v;
        mo_case c;
        mo_liquid_system l;
        mo_system_info info;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        for (int32_t r = 0; r < (int32_t)mo_grid_cells(c.grid) + c.grid->sites->rows; r++)
            if (c.phase[r] == MO_PHASE_LIQUID && is_behind(&c, r, normal)) c.phase[r] = MO_PHASE_AIR, c.phi[r] = 1;
        assert_int_equal(mo_case_pressure_assemble(&c, dt, &l, NULL), MO_OK);
        solve(&l, MO_ROUTE_FAST, 1e-13, &info);
        double flux = 0;
        for (int32_t f = 0; f < l.system.faces.count - l.gaps; f++) {
            int32_t at[3], i = mo_face_sample(l.face_at[f]);
            if (mo_face_axis(l.face_at[f]) != 0 || i >= mo_grid_cells(c.grid)) continue;
            mo_grid_cell(c.grid, i, at);
            if (at[0] == MO_MARGIN + 13) flux += l.system.faces.velocity[f] / (n * n);
        }
        print_message("piston at %.3f: flux %.12f, %d iterations\n", angle, flux / speed, info.solve.iterations);
        assert_true(fabs(flux / speed - 1) < 1e-10);
        mo_liquid_destroy(&l);
        mo_case_destroy(&c);
        free(v);
        mo_sheet_destroy(&s);
    }
}

// ---- Forces ----

// A disk that begins to move in a large drop drags the added mass 8/3 rho a^3 broadside and none edgewise; on every
// vertex the force does the work that the liquid gains.
static void a_disk_feels_the_liquid(void **state)
{
    (void)state;
    for (int32_t cells = 4; cells <= 8; cells += 4)
        for (int along = 0; along < 2; along++) {
            int32_t n = 6 * cells;
            double a = (double)cells / n, dx = 1.0 / n, radius = 0.47, angle = 0.4, work = 0, energy = 0;
            mo_vec3 axis = {0.6, 0, 0.8}, v = turned(axis, angle, along ? mo_v3(1, 0, 0) : mo_v3(0, 1, 0)),
                    total = {0, 0, 0};
            mo_sheet s;
            assert_int_equal(mo_sheet_disk(a, dx, &s, NULL), MO_OK);
            mo_sheet_rotate(&s, axis, angle);
            mo_sheet_move(&s, mo_v3(0.5 + 0.3 * dx, 0.5 + 0.1 * dx, 0.5 + 0.2 * dx));
            double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity),
            (*force)[3] = calloc((size_t)s.vertices, sizeof *force);
            for (int32_t i = 0; i < s.vertices; i++) velocity[i][0] = v.x, velocity[i][1] = v.y, velocity[i][2] = v.z;
            mo_case_def def = {.cells = {n, n, n}, .dx = dx, .liquid = drop, .user = &radius, .density = density};
            def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity;
            mo_case c;
            mo_liquid_system l;
            mo_system_info info;
            assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
            assert_int_equal(mo_case_pressure_assemble(&c, dt, &l, NULL), MO_OK);
            solve(&l, MO_ROUTE_FAST, 1e-11, &info);
            mo_pressure_def made = mo_case_pressure_def(&c, dt);
            mo_pressure_sheet_forces(&made, &l, force);
            for (int32_t i = 0; i < s.vertices; i++) {
                mo_vec3 f = {force[i][0], force[i][1], force[i][2]};
                total = mo_add(total, f), work -= dt * mo_dot(f, v);
            }
            for (int32_t f = 0; f < l.system.faces.count; f++)
                energy +=
                    l.system.faces.mass[f] * l.system.faces.velocity[f] * l.system.faces.velocity[f] * dx * dx * dx;
            double mass = -dt * mo_dot(total, v) / (8.0 / 3 * density * a * a * a);
            print_message("disk of %d cells, %s: added mass %.6f of 8/3 rho a^3, work - energy %.1e\n", cells,
                          along ? "edgewise" : "broadside", mass, work - energy);
            if (along)
                assert_true(fabs(mass) < 1e-12 && mo_norm(total) * dt < 1e-9 * density * a * a * a);
            else
                assert_true(fabs(mass - 1) < (cells == 4 ? 0.08 : 0.04) && fabs(work - energy) < 1e-8 * work);
            mo_liquid_destroy(&l);
            mo_case_destroy(&c);
            free(velocity), free(force);
            mo_sheet_destroy(&s);
        }
}

// Two plates in two dimensions, closer than a cell; one of them begins to move to the other. The film between them must
// leave: 2/3 rho L^3 / gap per depth, and the other side of the plate drags half the added mass of a free one.
static void a_film_is_squeezed(void **state)
{
    (void)state;
    static const double gaps[] = {0.6, 0.2, 0.05, 0.01};
    for (int k = 0; k < 4; k++) {
        int32_t n = 72;
        double dx = 1.0 / n, half = 10.3 * dx, gap = gaps[k] * dx, radius = -0.45, total = 0;
        mo_sheet part[2], s;
        const double line[2][2] = {{-half, 0}, {half, 0}};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(mo_sheet_curve(2, line, dx, 3 * dx, &part[i], NULL), MO_OK);
            mo_sheet_move(&part[i], mo_v3(0, i * gap, 0));
        }
        assert_int_equal(mo_sheet_weld(&part[0], &part[1], 0, &s, NULL), MO_OK);
        mo_sheet_rotate(&s, mo_v3(0, 0, 1), 0.3);
        mo_sheet_move(&s, mo_v3(0.503, 0.496, 0));
        mo_vec3 v = turned(mo_v3(0, 0, 1), 0.3, mo_v3(0, -1, 0)); // the second comes down
        double(*velocity)[3] = calloc((size_t)s.vertices, sizeof *velocity);
        double(*force)[3] = calloc((size_t)s.vertices, sizeof *force);
        for (int32_t i = part[0].vertices; i < s.vertices; i++) velocity[i][0] = v.x, velocity[i][1] = v.y;
        mo_case_def def = {.cells = {n, n, 1}, .dx = dx, .liquid = drop, .user = &radius, .density = density};
        def.sheet = &s, def.sheet_velocity = (const double(*)[3])velocity;
        mo_case c;
        mo_liquid_system l;
        mo_system_info info;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        assert_int_equal(mo_case_pressure_assemble(&c, dt, &l, NULL), MO_OK);
        solve(&l, MO_ROUTE_FAST, 1e-9, &info);
        mo_pressure_def made = mo_case_pressure_def(&c, dt);
        mo_pressure_sheet_forces(&made, &l, force);
        for (int32_t i = part[0].vertices; i < s.vertices; i++)
            total -= dt * (force[i][0] * v.x + force[i][1] * v.y) / dx;
        double film = 2.0 / 3 * density * half * half * half / gap, outside = 0.5 * M_PI * density * half * half;
        print_message("gap of %.2f cells: impulse %.3f of film and outside, %d pockets, %d iterations\n", gaps[k],
                      total / (film + outside), c.cut.pockets, info.solve.iterations);
        assert_true(fabs(total / (film + outside) - 1) < 0.2);
        mo_liquid_destroy(&l);
        mo_case_destroy(&c);
        free(velocity), free(force);
        for (int i = 0; i < 2; i++) mo_sheet_destroy(&part[i]);
        mo_sheet_destroy(&s);
    }
}

// ---- Iterations ----

static void multigrid_needs_few_iterations(void **state)
{
    (void)state;
    for (int sort = -1; sort < SHEETS; sort++)
        for (int32_t n = 32; n <= 48; n += 16) {
            mo_sheet s = {0};
            if (sort >= 0) {
                make_sheet(sort, n, &s);
                mo_sheet_rotate(&s, mo_v3(0.2, 0.3, 1), 0.5);
                mo_sheet_move(&s, mo_v3(0.51, 0.43, 0.49));
            }
            double height = 0.8;
            mo_case_def def = {.cells = {n, n, n}, .dx = 1.0 / n, .liquid = pool, .user = &height, .density = density};
            double(*v)[3] = calloc((size_t)s.vertices + 1, sizeof *v);
            for (int32_t i = 0; i < s.vertices; i++) v[i][1] = 1; // it moves
            if (sort >= 0) def.sheet = &s, def.sheet_velocity = (const double(*)[3])v;
            mo_case c;
            mo_liquid_system l;
            mo_system_info info;
            assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
            mo_case_std_velocity(&c);
            assert_int_equal(mo_case_pressure_assemble(&c, dt, &l, NULL), MO_OK);
            solve(&l, MO_ROUTE_FAST, 1e-6, &info);
            print_message("%s, %d: %d rows, %d sides, %d gaps: %d iterations\n", sort < 0 ? "none" : names[sort], n,
                          l.system.block[MO_BLOCK_PRESSURE]->rows, c.cut.sides, l.gaps, info.solve.iterations);
            assert_in_range(info.solve.iterations, 1, 12);
            mo_liquid_destroy(&l);
            mo_case_destroy(&c);
            free(v);
            mo_sheet_destroy(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_water_stays),         cmocka_unit_test(nothing_changes_what_is_right),
        cmocka_unit_test(a_piston_moves_its_volume), cmocka_unit_test(a_disk_feels_the_liquid),
        cmocka_unit_test(a_film_is_squeezed),        cmocka_unit_test(multigrid_needs_few_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
