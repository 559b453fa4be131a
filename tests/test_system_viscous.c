// The form `viscous`: the papers' solution on random worlds, properties of the hierarchy, bodies, threads,
// lack of memory.
#include "stress_test.h"
#include "sparse/ldl.h"
#include "sparse/face_level.h"
#include "system/viscous.h"
#include "ration.h"

enum { WORLDS = 24 };

static double smooth_viscosity(const void *user, mo_vec3 x)
{
    (void)user;
    return pow(10, 6 * fmin(fmax(0.5 + 0.5 * sin(4 * x.x + 2) * cos(3 * x.y), 0), 1));
}
static double jumping_viscosity(const void *user, mo_vec3 x) { return (void)user, x.x + 0.2 * x.y < 0.6 ? 1 : 1e4; }

// Small droplets beside the balls, moving solids with and without slip, enclosed liquid, viscosities of all kinds.
static world world_of(int k)
{
    static const double viscosity[6] = {1, 1e2, 1e4, 1e6, 0.01, 30};
    world w = random_world(900 + (uint32_t)k, k % 2 == 0, k % 2 ? 12 + k % 5 : 24 + k, k % 3 == 0);
    w.viscosity = viscosity[k % 6];
    if (k % 8 == 5) w.viscosity_fn = smooth_viscosity;
    if (k % 8 == 6) w.viscosity_fn = jumping_viscosity;
    if (k % 4 == 1) w.liquid[w.liquids++] = (shape){false, {0.9, 0.9, 0.5}, 0.04};
    if (k % 7 == 3) memset(w.slip, 0, sizeof w.slip), memset(w.slip_wall, 0, sizeof w.slip_wall);
    if (k % 6 == 2) { // enclosed: solids at rest, or pressing
        w.full = true;
        if (k < 20) memset(w.linear, 0, sizeof w.linear), memset(w.angular, 0, sizeof w.angular);
    }
    return w;
}

static double relative_difference(int32_t n, const double *a, const double *b)
{
    double most = 0, size = 1e-300;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
    return most / size;
}

static double velocity_difference(const mo_system *y, const double *a, const double *b)
{
    double difference = 0, size = 0;
    for (int32_t f = 0; f < y->faces.count; f++)
        difference += y->faces.mass[f] * (a[f] - b[f]) * (a[f] - b[f]), size += y->faces.mass[f] * b[f] * b[f];
    return sqrt(difference / size);
}

static void fast_and_paper_agree(void **state)
{
    (void)state;
    int enclosed = 0, relaxed = 0, iterations = 0;
    for (int k = 0; k < WORLDS; k++) {
        world w = world_of(k);
        start_world(&w);
        stir(&w, (uint32_t)k);
        mo_liquid_system s[2];
        mo_system_info info[2];
        for (int route = 0; route < 2; route++) {
            mo_solver_def solver = exact_solver("PV-unified", false);
            solver.route = route ? MO_ROUTE_PAPER : MO_ROUTE_FAST;
            solver.tolerance = route ? 1e-12 : 1e-10;
            assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s[route], NULL), MO_OK);
            assert_int_equal(mo_system_solve(&s[route].system, &solver, &info[route], NULL), MO_OK);
        }
        mo_system *fast = &s[0].system, *paper = &s[1].system;
        double difference[3] = {velocity_difference(fast, fast->faces.velocity, paper->faces.velocity)};
        for (int b = 0; b < 2; b++)
            difference[1 + b] = relative_difference(fast->block[b]->rows, fast->block[b]->x, paper->block[b]->x);
        print_message("world %d: %d faces, %d iterations (paper %d, %g), velocity %g, pressure %g, stress %g\n", k,
                      fast->faces.count, info[0].solve.iterations, info[1].solve.iterations, info[1].solve.residual,
                      difference[0], difference[1], difference[2]);
        assert_int_equal(info[0].solve.reason, MO_REASON_CONVERGED);
        assert_true(info[0].by_paper == 0 && info[0].fallbacks == 0 && info[1].by_paper == 1);
        assert_true(info[0].enclosed == info[1].enclosed && info[0].relaxed == info[1].relaxed);
        assert_true(info[0].solve.iterations <= 60);
        assert_true(difference[0] < 1e-7 && difference[1] < 1e-6 && difference[2] < 1e-6);
        enclosed += info[0].enclosed, relaxed += info[0].relaxed, iterations += info[0].solve.iterations;
        mo_liquid_destroy(&s[0]), mo_liquid_destroy(&s[1]);
        end_world(&w);
    }
    assert_true(enclosed >= 3 && relaxed >= 1);
    // 440 as measured; 465 if cells with faces without stress seem to pass their pressure on by the masses of others.
    assert_true(iterations <= 450);
}

// Iterations on the standard domain as measured, to the papers' tolerance. 24 cells have a lump of liquid where the
// filament begins, 48 have cells of a ten millionth of liquid at the surface.
static void iteration_counts_are_as_measured(void **state)
{
    (void)state;
    static const struct {
        int32_t cells;
        double viscosity;
        bool raw;
        int32_t most;
    } known[] = {{32, 1, false, 10},   {32, 1e2, false, 16}, {32, 1e4, false, 23},
                 {32, 1e6, false, 26}, {24, 1e4, false, 21}, {24, 1e6, false, 22},
                 {48, 1e6, false, 32}, {32, 1e4, true, 28},  {32, 1e6, true, 33}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int32_t n = known[k].cells;
        mo_case_def def = {.cells = {n, n, n},
                           .dx = 1.0 / n,
                           .liquid = mo_case_std_liquid,
                           .solid = mo_case_std_solid,
                           .density = 1000,
                           .viscosity = known[k].viscosity};
        mo_solver_def solver = {
            .route = MO_ROUTE_FAST, .tolerance = 1e-6, .max_iterations = 200, .rounds = 1, .raw_weights = known[k].raw};
        mo_case c;
        mo_system_info info;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        mo_case_std_velocity(&c);
        assert_int_equal(mo_case_stokes(&c, 0.01, &solver, &info, NULL, NULL), MO_OK);
        print_message("%d cells, viscosity %g, %s: %d iterations\n", n, known[k].viscosity,
                      known[k].raw ? "raw" : "clamped", info.solve.iterations);
        assert_true(info.solve.reason == MO_REASON_CONVERGED && info.by_paper == 0);
        assert_true(info.solve.iterations <= known[k].most);
        mo_case_destroy(&c);
    }
}

// ---- Bodies ----

// The balls of a random world as rigid bodies, of a part or a multiple of the liquid's density, beside its plane.
static void roll_bodies(const world *w, double ratio, mo_rigid *rigid, mo_vec3 *centre)
{
    for (int b = 0; b < 2; b++) {
        double r = w->solid[b].radius, dx = 1.0 / w->cells[1];
        double mass = ratio * w->density * (w->flat ? M_PI * r * r * dx : 4 * M_PI / 3 * r * r * r),
               turn = 0.4 * mass * r * r;
        centre[b] = w->solid[b].at;
        if (w->flat) centre[b].z = 0.5 * dx;
        rigid[b] = (mo_rigid){.mass = mass, .pose = {centre[b], {1, 0, 0, 0}}, .velocity = w->linear[b]};
        rigid[b].angular_velocity = w->angular[b];
        for (int a = 0; a < 3; a++) rigid[b].inertia.m[a][a] = turn, rigid[b].inverse.m[a][a] = 1 / turn;
    }
}

static void bodies_move_as_by_the_papers(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        static const double viscosity[4] = {1e2, 1e4, 1, 1e6};
        static const int32_t body[SOLIDS] = {0, 1, -1, -1};
        world w = random_world(300 + (uint32_t)k, k % 2, k % 2 ? 32 : 14, false);
        mo_rigid rigid[2][2];
        mo_vec3 centre[SOLIDS] = {{0, 0, 0}};
        mo_liquid_system s[2];
        mo_system_info info[2];
        w.viscosity = viscosity[k % 4];
        memset(&w.linear[2], 0, sizeof w.linear[2]), memset(&w.angular[2], 0, sizeof w.angular[2]);
        for (int route = 0; route < 2; route++) {
            roll_bodies(&w, k % 3 ? 0.1 : 10, rigid[route], centre);
            w.set = (mo_solid_set){.count = w.solids,
                                   .distance = world_solid,
                                   .velocity = world_velocity,
                                   .user = &w,
                                   .slip = w.slip,
                                   .body = body,
                                   .centre = centre,
                                   .bodies = 2};
            mo_case_def def = {.cells = {w.cells[0], w.cells[1], w.cells[2]},
                               .dx = 1.0 / w.cells[1],
                               .liquid = world_liquid,
                               .solids = &w.set,
                               .rigid = rigid[route],
                               .user = &w,
                               .density = w.density,
                               .viscosity = w.viscosity};
            assert_int_equal(mo_case_create(&def, &w.c, NULL), MO_OK);
            stir(&w, (uint32_t)k);
            mo_solver_def solver = exact_solver("PVC-unified", false);
            solver.route = route ? MO_ROUTE_PAPER : MO_ROUTE_FAST, solver.tolerance = route ? 1e-12 : 1e-10;
            assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info[route], &s[route], NULL), MO_OK);
            end_world(&w);
        }
        mo_system *fast = &s[0].system, *paper = &s[1].system;
        double difference[4] = {velocity_difference(fast, fast->faces.velocity, paper->faces.velocity),
                                relative_difference(12, fast->bodies.velocity, paper->bodies.velocity)};
        for (int b = 0; b < 2; b++)
            difference[2 + b] = relative_difference(fast->block[b]->rows, fast->block[b]->x, paper->block[b]->x);
        print_message("bodies %d: %d faces, %d iterations (paper %d), velocity %g, bodies %g, pressure %g, stress %g\n",
                      k, fast->faces.count, info[0].solve.iterations, info[1].solve.iterations, difference[0],
                      difference[1], difference[2], difference[3]);
        assert_int_equal(info[0].solve.reason, MO_REASON_CONVERGED);
        assert_true(info[0].by_paper == 0 && info[0].solve.iterations <= 60);
        assert_true(difference[0] < 1e-7 && difference[1] < 1e-7 && difference[2] < 1e-6 && difference[3] < 1e-6);
        mo_liquid_destroy(&s[0]), mo_liquid_destroy(&s[1]);
    }
}

// Three balls in the standard domain without its small pieces, at a tenth of the liquid's density.
static void light_bodies_cost_few_iterations(void **state)
{
    (void)state;
    static const double viscosity[2] = {1e2, 1e4};
    static const int32_t most[2] = {17, 25};
    for (int k = 0; k < 2; k++) {
        mo_case_balls balls;
        mo_case_balls_create(3, 100, &balls);
        mo_case_def def = {.cells = {32, 32, 32},
                           .dx = 1.0 / 32,
                           .liquid = mo_case_plain_liquid,
                           .solids = &balls.solids,
                           .rigid = balls.rigid,
                           .density = 1000,
                           .viscosity = viscosity[k]};
        mo_solver_def solver = {.route = MO_ROUTE_FAST, .tolerance = 1e-6, .max_iterations = 200, .rounds = 1};
        mo_case c;
        mo_system_info info;
        assert_int_equal(mo_case_create(&def, &c, NULL), MO_OK);
        mo_case_std_velocity(&c);
        assert_int_equal(mo_case_stokes(&c, 0.01, &solver, &info, NULL, NULL), MO_OK);
        print_message("three bodies, viscosity %g: %d iterations\n", viscosity[k], info.solve.iterations);
        assert_true(info.solve.reason == MO_REASON_CONVERGED && info.by_paper == 0);
        assert_true(info.solve.iterations <= most[k]);
        mo_case_destroy(&c);
    }
}

// ---- Hierarchy ----

typedef struct finest { // of a world, before anything is solved
    world w;
    mo_liquid_system s;
    mo_viscous_form form;
    mo_face_level level, next;
    int32_t *label, *place;
} finest;

static void open_finest(uint32_t seed, bool flat, finest *f)
{
    f->w = random_world(seed, flat, flat ? 32 : 16, false);
    start_world(&f->w);
    stir(&f->w, seed);
    mo_solver_def solver = exact_solver("PV-unified", false);
    assert_int_equal(mo_case_stokes_assemble(&f->w.c, f->w.dt, &solver, &f->s, NULL), MO_OK);
    mo_system *y = &f->s.system;
    assert_int_equal(mo_viscous_form_create(y, 3, &f->form), MO_OK);
    f->label = calloc((size_t)y->faces.count + 1, sizeof(int32_t)),
    f->place = calloc((size_t)y->faces.count + 1, sizeof(int32_t));
    uint8_t *none = calloc((size_t)y->faces.count + 1, 1);
    mo_face_multigrid_def def = {&f->form.K, y->faces.count, y->lattice->axes, (const int32_t(*)[4])y->lattice->face,
                                 none,       none,           f->form.mass,     NULL};
    assert_int_equal(mo_face_level_create(&def, f->label, f->place, &f->level), MO_OK);
    assert_int_equal(mo_face_level_compress(&f->level), MO_OK);
    assert_int_equal(mo_face_level_coarsen(&f->level, y->lattice->axes, NULL, &f->next), MO_OK);
    free(none);
}
static void close_finest(finest *f)
{
    mo_face_level_destroy(&f->level), mo_face_level_destroy(&f->next);
    mo_viscous_form_destroy(&f->form);
    mo_liquid_destroy(&f->s);
    end_world(&f->w);
    free(f->label), free(f->place);
}

// A linear function at a face of a level of spacing h (in finest cells).
static double linear_at(const int32_t c[4], double h)
{
    static const double slope[3][3] = {{0.3, -0.2, 0.7}, {-0.5, 0.4, 0.1}, {0.2, 0.6, -0.3}};
    double v = 1 + c[3];
    for (int a = 0; a < 3; a++) v += slope[c[3]][a] * h * (c[a] + (a == c[3] ? 0 : 0.5));
    return v;
}

// Interpolation keeps linear functions; A_c x x = A (P x) (P x).
static void coarse_levels_keep_linear_functions_and_energy(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        finest f = {0};
        open_finest(77, flat, &f);
        mo_face_level *l = &f.level, *next = &f.next;
        assert_true(next->rows > 0 && next->rows < l->rows / 2);
        if (flat) { // z is not coarsened
            for (int32_t i = 0; i < next->rows; i++) assert_int_equal(next->coord[i][2], l->coord[0][2]);
        } else {
            next->x = calloc((size_t)next->rows + 1, sizeof(float));
            for (int32_t i = 0; i < next->rows; i++) next->x[i] = (float)linear_at(next->coord[i], 2);
            memset(l->x, 0, sizeof(float) * (size_t)l->rows);
            mo_face_level_interpolate(l, next);
            for (int32_t i = 0; i < l->rows; i++) {
                double exact = linear_at(l->coord[i], 1);
                if (!(fabs(l->x[i] - exact) < 1e-4)) fail_msg("row %d: %g instead of %g", i, l->x[i], exact);
            }
            free(next->x);
        }
        double *x = dense(next->rows), *y = dense(l->rows), *Ax = dense(l->rows), energy[2] = {0};
        for (int32_t i = 0; i < next->rows; i++) x[i] = mo_unit(mo_hash(3, (uint32_t)i, 4)) - 0.5;
        for (int32_t i = 0; i < l->rows; i++)
            for (int64_t k = l->up.row[i]; k < l->up.row[i + 1]; k++) y[i] += (double)l->up.val[k] * x[l->up.col[k]];
        mo_csr_multiply(&l->A, y, Ax);
        for (int32_t i = 0; i < l->rows; i++) energy[0] += y[i] * Ax[i];
        mo_csr_multiply(&next->A, x, Ax);
        for (int32_t i = 0; i < next->rows; i++) energy[1] += x[i] * Ax[i];
        assert_true(fabs(energy[0] / energy[1] - 1) < 1e-10);
        free(x), free(y), free(Ax);
        close_finest(&f);
    }
}

// x A x of a matrix whose rows may be the first only.
static double energy_of(const mo_csr *A, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < A->rows; i++) sum += x[i] * mo_csr_row_product(A, i, x);
    return sum;
}
static double strain_energy(const mo_face_level *l, const double *x)
{
    double sum = 0;
    for (int32_t i = 0; i < l->faces; i++) {
        double row[MO_STRAIN_SLOTS];
        mo_strain_row(&l->strain, l->coord[i][3], i, row);
        row[0] -= l->strain.mass[i];
        for (int32_t k = 0; k < MO_STRAIN_SLOTS; k++)
            if (l->strain.near[i][k] >= 0) sum += x[i] * row[k] * x[l->strain.near[i][k]];
    }
    return sum;
}

// Strain, mass and rest are the matrix. On the next level strain does not see rigid motions, sees linear functions as
// much as the finest level does, and others no less.
static void strain_is_kept_apart(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        finest f = {0};
        open_finest(78, flat, &f);
        mo_face_level *l = &f.level, *next = &f.next;
        int32_t n = next->faces;
        double *mass = dense(l->faces), *x = dense(n), *y = dense(l->faces), galerkin[2], part = 0.85;
        for (int32_t i = 0; i < l->faces; i++) mass[f.place[i]] = f.form.mass[i];
        for (int32_t i = 0; i < n; i++) x[i] = mo_unit(mo_hash(3, (uint32_t)i, 5)) - 0.5;
        galerkin[0] = energy_of(&next->A, x);
        mo_face_level_destroy(next);
        assert_int_equal(mo_face_level_split(l, mass), MO_OK);
        for (int32_t i = 0; i < l->faces; i++) y[i] = mo_unit(mo_hash(4, (uint32_t)i, 5)) - 0.5;
        double whole = energy_of(&l->A, y), parts = strain_energy(l, y) + energy_of(&l->rest, y);
        for (int32_t i = 0; i < l->faces; i++) parts += mass[i] * y[i] * y[i];
        assert_true(fabs(parts - whole) < 1e-8 * whole);
        assert_true(mo_csr_entries(&l->rest) < mo_csr_entries(&l->A) / 4);
        mo_free(l->up.row), mo_free(l->up.col), mo_free(l->up.val);
        mo_free(l->down.row), mo_free(l->down.col), mo_free(l->down.val);
        assert_int_equal(mo_face_level_coarsen(l, f.s.system.lattice->axes, NULL, next), MO_OK);
        assert_int_equal(next->faces, n);
        galerkin[1] = energy_of(&next->A, x);
        assert_true(galerkin[1] > part * galerkin[0] && galerkin[1] < 16 * galerkin[0]);
        double size = strain_energy(next, x);
        for (int32_t i = 0; i < n; i++) { // turning about the z axis, and moving
            int a = next->coord[i][3];
            x[i] = a == 0 ? 1 - 2e-2 * (next->coord[i][1] + 0.5) : a == 1 ? 2e-2 * (next->coord[i][0] + 0.5) - 2 : 3;
        }
        assert_true(fabs(strain_energy(next, x)) < 1e-9 * size);
        for (int32_t i = 0; i < n; i++) x[i] = linear_at(next->coord[i], 2);
        for (int32_t i = 0; i < l->faces; i++) y[i] = linear_at(l->coord[i], 1);
        double fine = strain_energy(l, y), coarse = strain_energy(next, x);
        print_message("linear: %g on the finest level, %g on the next\n", fine, coarse);
        assert_true(fabs(coarse - part * fine) < 1e-8 * fine + 1e-9 * size);
        free(mass), free(x), free(y);
        close_finest(&f);
    }
}

// Groups of one colour do not couple: sweeps may run in parallel.
static void colours_do_not_couple(void **state)
{
    (void)state;
    finest f = {0};
    open_finest(78, false, &f);
    for (int which = 0; which < 2; which++) {
        mo_face_level *l = which ? &f.next : &f.level;
        int32_t *group = calloc((size_t)l->rows + 1, sizeof(int32_t)), *colour = calloc((size_t)l->groups + 1, 4);
        for (int32_t g = 0; g < l->groups; g++)
            for (int32_t i = l->group[g]; i < l->group[g + 1]; i++) group[i] = g;
        for (int32_t c = 0; c < l->colours; c++)
            for (int32_t g = l->colour[c]; g < l->colour[c + 1]; g++) colour[g] = c;
        for (int32_t i = 0; i < l->rows; i++)
            for (int64_t k = l->A.row[i]; k < l->A.row[i + 1]; k++) {
                int32_t a = group[i], b = group[l->A.col[k]];
                assert_true(a == b || colour[a] != colour[b]);
            }
        free(group), free(colour);
    }
    close_finest(&f);
}

// The form has the blocks' solution: with the papers' multipliers and velocities its residual vanishes.
static void the_form_is_that_of_the_blocks(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        world w = random_world(40 + (uint32_t)k, k % 2, k % 2 ? 24 : 12, false);
        start_world(&w);
        stir(&w, 3);
        mo_solver_def solver = exact_solver("PV-unified", false);
        mo_liquid_system s;
        mo_system_info info;
        mo_viscous_form f;
        assert_int_equal(mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, NULL), MO_OK);
        mo_system *y = &s.system;
        assert_int_equal(mo_viscous_form_create(y, 3, &f), MO_OK); // with u*
        assert_int_equal(mo_system_solve(y, &solver, &info, NULL), MO_OK);
        double *x = dense(f.n), *r = dense(f.n), worst = 0, size = 0;
        for (int32_t i = 0; i < f.n; i++) x[i] = y->faces.velocity[i] * y->lattice->open[i];
        mo_csr_multiply(&f.K, x, r);
        mo_csr_multiply_add(&f.Bpt, 1, y->block[MO_BLOCK_PRESSURE]->x, r);
        for (int32_t i = 0; i < f.n; i++) worst = fmax(worst, fabs(r[i] - f.f[i])), size = fmax(size, fabs(f.f[i]));
        if (!info.relaxed && !(worst < 1e-6 * size)) fail_msg("world %d: %g of %g", k, worst, size);
        for (int32_t i = 0; i < f.n; i++) // symmetric
            for (int64_t e = f.K.row[i]; e < f.K.row[i + 1]; e++) {
                int32_t j = f.K.col[e];
                double other = NAN;
                for (int64_t m = f.K.row[j]; m < f.K.row[j + 1]; m++)
                    if (f.K.col[m] == i) other = f.K.val[m];
                assert_true(fabs(other - f.K.val[e]) <= 1e-9 * size / 1e-3);
            }
        free(x), free(r);
        mo_viscous_form_destroy(&f);
        mo_liquid_destroy(&s);
        end_world(&w);
    }
}

// ---- Threads and memory ----

static void results_do_not_depend_on_threads(void **state)
{
    (void)state;
    double *first[3] = {NULL};
    for (int k = 0; k < 3; k++) {
        mo_use_threads(1 << k);
        world w = random_world(705, false, 24, false);
        start_world(&w);
        stir(&w, 6);
        mo_solver_def solver = exact_solver("PV-unified", false);
        solver.route = MO_ROUTE_FAST, solver.tolerance = 1e-4;
        mo_liquid_system s;
        mo_system_info info;
        assert_int_equal(mo_case_stokes(&w.c, w.dt, &solver, &info, &s, NULL), MO_OK);
        assert_true(info.solve.reason == MO_REASON_CONVERGED && info.by_paper == 0);
        mo_system *y = &s.system;
        assert_true(y->faces.count > 4096);
        for (int q = 0; q < 3; q++) {
            const double *v = q ? y->block[q - 1]->x : y->faces.velocity;
            size_t bytes = sizeof(double) * (size_t)(q ? y->block[q - 1]->rows : y->faces.count);
            if (k == 0)
                first[q] = memcpy(malloc(bytes), v, bytes);
            else
                assert_memory_equal(first[q], v, bytes);
        }
        mo_liquid_destroy(&s);
        end_world(&w);
    }
    for (int q = 0; q < 3; q++) free(first[q]);
    mo_use_threads(1);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    world w = random_world(706, true, 40, false);
    start_world(&w);
    mo_solver_def solver = exact_solver("PV-unified", false);
    solver.route = MO_ROUTE_FAST, solver.tolerance = 1e-3;
    int64_t before = 0, calls = 1;
    for (int64_t at = -3; at < calls; at++) { // the first of all also makes the weights, the second joins the arena
        stir(&w, 9);
        mo_liquid_system s;
        mo_system_info info;
        mo_error err = {0};
        ration r = {.fail_at = at < 0 ? 0 : at + 1};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_case_stokes_assemble(&w.c, w.dt, &solver, &s, &err);
        if (status == MO_OK) {
            status = mo_system_solve(&s.system, &solver, &info, &err);
            mo_liquid_destroy(&s);
        }
        if (at < 0) {
            assert_int_equal(status, MO_OK);
            assert_true(info.by_paper == 0 && info.solve.reason == MO_REASON_CONVERGED);
            calls = r.calls, before = mo_memory_in_use();
            assert_true(calls > 80);
            continue;
        }
        if (status != MO_ERROR_MEMORY) fail_msg("allocation %d of %d: status %d", (int)at, (int)calls, status);
        assert_int_equal(mo_memory_in_use(), before);
        assert_true(err.text[0] != 0);
    }
    mo_set_allocator(NULL, NULL);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_and_paper_agree),
        cmocka_unit_test(iteration_counts_are_as_measured),
        cmocka_unit_test(bodies_move_as_by_the_papers),
        cmocka_unit_test(light_bodies_cost_few_iterations),
        cmocka_unit_test(coarse_levels_keep_linear_functions_and_energy),
        cmocka_unit_test(strain_is_kept_apart),
        cmocka_unit_test(colours_do_not_couple),
        cmocka_unit_test(the_form_is_that_of_the_blocks),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
