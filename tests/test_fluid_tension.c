// Surface tension: curvature from jittered particles against spheres, waves, ropes and drops on walls; the jump of
// pressure; the longest step.
#include "fluid_test.h"
#include "fluid/tension.h"
#include "grid/fractions.h"
#include "ration.h"

typedef double (*solid_fn)(const void *user, int32_t solid, mo_vec3 x);

// A body of revolution about x in 3D, a curve in 2D: r = R (1 + amplitude P(theta)), or a rope along z.
typedef struct drop {
    double centre[3], radius, amplitude;
    int mode; // of the Legendre polynomial in 3D, of the cosine in 2D
    bool flat, rope, on_solid;
} drop;
static drop d; // what inside_drop, which has no argument for it, means

static double shape(double theta)
{
    double c = cos(theta);
    if (d.amplitude == 0) return d.radius;
    double p = d.flat        ? cos(d.mode * theta)
               : d.mode == 2 ? 1.5 * c * c - 0.5
               : d.mode == 3 ? 2.5 * c * c * c - 1.5 * c
                             : (35 * c * c * c * c - 30 * c * c + 3) / 8;
    return d.radius * (1 + d.amplitude * p);
}

// Distance from the centre (or the rope's axis) and angle from x.
static double polar(const double x[3], double *theta)
{
    double y[3];
    for (int a = 0; a < 3; a++) y[a] = x[a] - d.centre[a];
    if (d.flat || d.rope) y[2] = 0;
    double r = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    *theta = d.flat ? atan2(y[1], y[0]) : acos(r > 0 ? y[0] / r : 1);
    return r;
}

// Curvature per cell, from the derivatives of the shape.
static double exact_curvature(double theta)
{
    const double h = 1e-3;
    double r = shape(theta), a = shape(theta - h), b = shape(theta + h), r1 = (b - a) / (2 * h),
           r2 = (a - 2 * r + b) / (h * h), s = r * r + r1 * r1;
    double meridian = (r * r + 2 * r1 * r1 - r * r2) / (s * sqrt(s));
    if (d.flat || d.rope) return meridian;
    double sine = fmax(sin(theta), 1e-4);
    return meridian + (r * sine - r1 * cos(theta)) / (r * sine * sqrt(s));
}

// An oblique plane through lattice position (17, 14); the lattice's origin is two cells before the world's.
static double oblique(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user, (void)solid;
    return 0.6 * (x.x - 0.125 * 15) + 0.8 * (x.y - 0.125 * 12);
}

// Negative inside the drop and outside the solid.
static double inside_drop(const double x[3])
{
    double theta, r = polar(x, &theta), value = r - shape(theta);
    if (!d.on_solid) return value;
    return fmax(value, -oblique(NULL, 0, mo_mul(0.125, mo_v3(x[0] - 2, x[1] - 2, x[2] - 2))));
}

typedef struct bowl { // the openings around a liquid
    float *area[3], *flux[3], *volume, *distance, *kappa;
    mo_surface_walls walls;
} bowl;

static void bowl_create(bowl *b, const liquid *l, solid_fn solid)
{
    mo_solid_set set = {.count = solid != NULL, .distance = solid};
    memset(b, 0, sizeof *b);
    b->volume = new_field(l), b->distance = new_field(l), b->kappa = new_field(l);
    mo_openings out = {.volume = b->volume, .distance = b->distance};
    for (int a = 0; a < 3; a++) out.area[a] = b->area[a] = new_field(l), out.flux[a] = b->flux[a] = new_field(l);
    mo_openings_compute(l->g, &set, &out);
    b->walls = (mo_surface_walls){.distance = b->distance, .area = b->area};
    for (int64_t i = 0; i < mo_grid_cells(l->g); i++) b->kappa[i] = NAN; // every cell must be written
}

static void bowl_destroy(bowl *b)
{
    for (int a = 0; a < 3; a++) free(b->area[a]), free(b->flux[a]);
    free(b->volume), free(b->distance), free(b->kappa);
}

static void bend(const liquid *l, bowl *b)
{
    mo_arena_reset(l->arena);
    assert_int_equal(mo_curvature(&l->p, l->g, NULL, &b->walls, b->kappa, l->arena, NULL), MO_OK);
    float most = (float)((mo_grid_is_2d(l->g) ? 1 : 2) / l->g->dx);
    for (int64_t i = 0; i < mo_grid_cells(l->g); i++) assert_true(fabsf(b->kappa[i]) <= most);
}

// The drop, jittered as the seeds of a simulation, in a box of n cells along x and y (and z in 3D, if not 2D).
static void drop_liquid(liquid *l, bowl *b, int32_t n, uint32_t seed, double stir, solid_fn solid)
{
    liquid_create(l, n, n, d.flat ? 1 : n);
    l->seed = seed;
    double hi = n + MO_MARGIN;
    liquid_fill(l, (double[3]){2, 2, 2}, (double[3]){hi, hi, d.flat ? 3 : hi}, 2, 0.5, inside_drop);
    liquid_sort(l);
    if (stir > 0) liquid_stir(l, stir);
    bowl_create(b, l, solid);
    bend(l, b);
}

typedef struct errors {
    double mean, rms, slope; // of kappa - exact, times R; of kappa over exact (1 if exact is constant)
    int32_t cells, missing;  // open cells compared; of those within two cells without a value
} errors;

// Over the open cells of the domain within a cell of the surface.
static errors compare(const liquid *l, const bowl *b)
{
    errors e = {0};
    double sum = 0, squares = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(l->g); i++) {
        int32_t c[3];
        double theta;
        mo_grid_cell(l->g, i, c);
        if (b->distance[i] < 0) continue;
        double x[3] = {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}, away = polar(x, &theta) - shape(theta);
        e.missing += fabs(away) < 2 && b->kappa[i] == 0;
        if (fabs(away) > 1) continue;
        double k = b->kappa[i] * l->g->dx, exact = exact_curvature(theta), error = (k - exact) * d.radius;
        sum += error, squares += error * error, e.cells++;
        sx += exact, sxx += exact * exact, sy += k, sxy += exact * k;
    }
    double n = e.cells, spread = sxx - sx * sx / n;
    e.mean = sum / n, e.rms = sqrt(squares / n - e.mean * e.mean);
    e.slope = spread > 1e-9 * sxx ? (sxy - sx * sy / n) / spread : 1;
    return e;
}

static double wobble(int trial, int axis) { return mo_unit(mo_hash((uint32_t)trial, (uint32_t)axis, 9)) - 0.5; }

// A disc or sphere in the middle of a box; prints what is measured, so that a change shows before it fails.
static errors drop_errors(int trial, double stir)
{
    liquid l;
    bowl b;
    int32_t n = (int32_t)(2 * d.radius * (1 + d.amplitude)) + 14;
    for (int a = 0; a < 3; a++) d.centre[a] = MO_MARGIN + 0.5 * n + wobble(trial, a);
    drop_liquid(&l, &b, n, 1000u * (uint32_t)trial, stir, NULL);
    errors e = compare(&l, &b);
    bowl_destroy(&b);
    liquid_destroy(&l);
    return e;
}

static void laplace(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int radius = 8; radius <= 16; radius += 4)
            for (int stirred = 0; stirred < 2; stirred++) {
                int trials = flat ? 8 : 1;
                double mean = 0, square = 0;
                for (int t = 0; t < trials; t++) {
                    d = (drop){.radius = radius, .flat = flat};
                    errors e = drop_errors(t, 0.2 * stirred);
                    mean += e.mean / trials, square += e.rms * e.rms / trials;
                    assert_true(fabs(e.mean) < 0.02 * (flat ? 1 : 2));
                    assert_int_equal(e.missing, 0);
                }
                print_message("%s R %2d stirred %d: mean %+.4f rms %.4f\n", flat ? "disc  " : "sphere", radius, stirred,
                              mean, sqrt(square));
                assert_true(sqrt(square) < 0.05);
            }
}

static void waves(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int mode = 2; mode <= 4; mode++) {
            int trials = flat ? 4 : 1;
            double slope = 0;
            for (int t = 0; t < trials; t++) {
                d = (drop){.radius = 16, .flat = flat, .mode = mode, .amplitude = mode == 2 ? 0.1 : 0.05};
                slope += drop_errors(t, 0).slope / trials;
            }
            print_message("%s mode %d: %.3f\n", flat ? "disc  " : "sphere", mode, slope);
            assert_true(fabs(slope - 1) < 0.1);
        }
}

static void ropes(void **state)
{
    (void)state;
    for (int radius = 1; radius <= 4; radius++) {
        liquid l;
        bowl b;
        int32_t n = 24;
        d = (drop){.radius = radius, .rope = true, .centre = {14.2, 13.9, 0}};
        drop_liquid(&l, &b, n, 7, 0, NULL);
        errors e = compare(&l, &b); // the walls at the ends are mirrors
        print_message("rope R %d: mean %+.3f rms %.3f\n", radius, e.mean, e.rms);
        if (radius > 1) assert_true(fabs(e.mean) < 0.05 && e.rms < 0.05);
        assert_true(fabs(e.mean) < 0.5);
        bowl_destroy(&b);
        liquid_destroy(&l);
    }
}

// Half a drop on the floor, a quarter in an edge, half on an oblique solid: as the whole one.
static void walls(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int kind = 0; kind < 3; kind++) {
            liquid l;
            bowl b;
            d = (drop){.radius = 10, .flat = flat, .centre = {18.3, 17.8, 18.1}};
            if (kind < 2) d.centre[1] = MO_MARGIN;
            if (kind == 1) d.centre[0] = MO_MARGIN;
            if (kind == 2) d.centre[0] = 17, d.centre[1] = 14, d.on_solid = true;
            liquid_create(&l, 32, 32, flat ? 1 : 32);
            double hi = 34;
            liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){hi, hi, flat ? 3 : hi}, 2, 0.5, inside_drop);
            liquid_sort(&l);
            bowl_create(&b, &l, kind == 2 ? oblique : NULL);
            bend(&l, &b);
            errors e = compare(&l, &b);
            print_message("%s on wall %d: mean %+.3f rms %.3f missing %d\n", flat ? "disc  " : "sphere", kind, e.mean,
                          e.rms, e.missing);
            assert_true(fabs(e.mean) < 0.04 * (flat ? 1 : 2) && e.rms < 0.08);
            bowl_destroy(&b);
            liquid_destroy(&l);
        }
}

// Curvature at points around a disc, interpolated.
enum { POINTS = 64 };
static void around(const liquid *l, const bowl *b, double k[POINTS])
{
    for (int n = 0; n < POINTS; n++) {
        double t = 2 * M_PI * n / POINTS, x = d.centre[0] + d.radius * cos(t) - 0.5,
               y = d.centre[1] + d.radius * sin(t) - 0.5;
        int32_t i = (int32_t)x, j = (int32_t)y;
        k[n] = 0;
        for (int o = 0; o < 4; o++) {
            double w = (o & 1 ? x - i : 1 - x + i) * (o & 2 ? y - j : 1 - y + j);
            k[n] += w * l->g->dx * b->kappa[mo_grid_index(l->g, i + (o & 1), j + (o >> 1), MO_MARGIN)];
        }
    }
}

// The same particles elsewhere on the grid have the same curvature: a drop at rest feels no lattice.
static void translation(void **state)
{
    (void)state;
    double first[POINTS], largest = 0, squares = 0;
    const int shifts = 8;
    for (int s = 0; s <= shifts; s++) {
        liquid l;
        bowl b;
        double k[POINTS];
        d = (drop){.radius = 12, .flat = true, .centre = {22, 22, 2.5}};
        liquid_create(&l, 40, 40, 1);
        liquid_fill(&l, (double[3]){2, 2, 2}, (double[3]){42, 42, 3}, 2, 0.5, inside_drop);
        double move[2] = {s ? wobble(s, 0) : 0, s ? wobble(s, 1) : 0};
        for (int a = 0; a < 2; a++) {
            d.centre[a] += move[a];
            for (int32_t q = 0; q < l.p.count; q++) l.p.x[a][q] += (float)move[a];
        }
        liquid_sort(&l);
        bowl_create(&b, &l, NULL);
        bend(&l, &b);
        around(&l, &b, s ? k : first);
        for (int i = 0; i < POINTS && s; i++) {
            double change = fabs(k[i] - first[i]) * d.radius;
            largest = fmax(largest, change), squares += change * change / (POINTS * shifts);
        }
        bowl_destroy(&b);
        liquid_destroy(&l);
    }
    print_message("moved disc: rms %.4f, most %.4f of 1/R\n", sqrt(squares), largest);
    assert_true(sqrt(squares) < 0.01 && largest < 0.03);
}

// A level pool has none, at walls neither; a full tank has no surface.
static void pool(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (int full = 0; full < 2; full++) {
            liquid l;
            bowl b;
            liquid_create(&l, 30, 24, flat ? 1 : 20);
            double hi[3] = {32, full ? 26 : 14.5, flat ? 3 : 22};
            liquid_fill(&l, (double[3]){2, 2, 2}, hi, 2, 0.5, NULL);
            liquid_sort(&l);
            bowl_create(&b, &l, NULL);
            bend(&l, &b);
            int32_t near = 0;
            float most = 0;
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
                int32_t c[3];
                mo_grid_cell(l.g, i, c);
                if (b.distance[i] < 0) continue;
                near += b.kappa[i] != 0;
                most = mo_maxf(most, fabsf(b.kappa[i]) * (float)l.g->dx);
                if (fabs(c[1] + 0.5 - 14.5) > 4) assert_true(b.kappa[i] == 0);
            }
            print_message("pool: %d cells, most %.4f\n", near, most);
            if (full)
                assert_int_equal(near, 0);
            else
                assert_true(near >= 4 * 30 * (flat ? 1 : 20) && most < 0.01);
            bowl_destroy(&b);
            liquid_destroy(&l);
        }
}

// Spray, single particles, sheets, nothing at all: finite (bend checks the limit), and none for less than a cell.
static void scraps(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        liquid l;
        bowl b;
        bool flat = trial & 1;
        liquid_create(&l, 20, 22, flat ? 1 : 18);
        l.seed = 977u * (uint32_t)trial;
        int count = trial < 2 ? 0 : trial < 4 ? 1 : 40 * trial;
        for (int i = 0; i < count; i++)
            liquid_add(&l, 2.01 + 19.9 * uniform(&l), 2.01 + 21.9 * uniform(&l), 2.01 + 17.9 * uniform(&l),
                       flat ? 0.25 : 0.125);
        if (trial % 3 == 0 && trial > 4)
            liquid_fill(&l, (double[3]){2, 9, 2}, (double[3]){22, 9.5 + 0.5 * (trial % 4), flat ? 3 : 20}, 2, 0.9,
                        NULL);
        if (trial == 23) // all in one place
            for (int32_t q = 0; q < l.p.count; q++) l.p.x[0][q] = l.p.x[1][q] = 12.5f;
        liquid_sort(&l);
        if (trial & 2) liquid_stir(&l, 0.45);
        bowl_create(&b, &l, trial & 4 ? oblique : NULL);
        bend(&l, &b);
        for (int64_t i = 0; i < mo_grid_cells(l.g) && count <= 1; i++) assert_true(b.kappa[i] == 0);
        bowl_destroy(&b);
        liquid_destroy(&l);
    }
}

static void threads(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        float *one = NULL;
        for (int t = 1; t <= 3; t++) {
            liquid l;
            bowl b;
            mo_use_threads(t);
            d = (drop){.radius = 9, .flat = flat, .centre = {17, 14, 16}, .on_solid = true};
            drop_liquid(&l, &b, 30, 5, 0.3, oblique);
            size_t bytes = sizeof(float) * (size_t)mo_grid_cells(l.g);
            if (one) assert_memory_equal(one, b.kappa, bytes);
            if (!one) one = memcpy(malloc(bytes), b.kappa, bytes);
            bowl_destroy(&b);
            liquid_destroy(&l);
        }
        free(one);
    }
    mo_use_threads(0);
}

static void memory_runs_out(void **state)
{
    (void)state;
    int allowed = 0;
    mo_status status = MO_ERROR_MEMORY;
    for (; status != MO_OK; allowed++) {
        liquid l;
        bowl b;
        mo_error err;
        d = (drop){.radius = 5, .centre = {12, 12, 12}};
        drop_liquid(&l, &b, 20, 5, 0, NULL);
        mo_arena_destroy(l.arena); // the one that grew already
        int64_t before = mo_memory_in_use();
        ration r = {.fail_at = allowed + 2, .for_good = true}; // the first call makes the arena itself
        mo_set_allocator(rationed, &r);
        mo_arena *arena = mo_arena_create();
        assert_non_null(arena);
        status = mo_curvature(&l.p, l.g, NULL, &b.walls, b.kappa, arena, &err);
        if (status != MO_OK) assert_true(status == MO_ERROR_MEMORY && err.status == MO_ERROR_MEMORY);
        mo_arena_destroy(arena);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(mo_memory_in_use(), before);
        l.arena = NULL;
        bowl_destroy(&b);
        liquid_destroy(&l);
    }
    assert_true(allowed > 1);
}

typedef struct force {
    float *kappa, *wet[3], *u[3];
    uint8_t *air;
    mo_tension_def def;
} force;

static void force_create(force *f, liquid *l)
{
    f->kappa = new_field(l), f->air = new_bytes(l, 1);
    for (int a = 0; a < 3; a++) f->wet[a] = new_field(l), f->u[a] = new_field(l);
    for (int64_t i = 0; i < mo_grid_cells(l->g); i++) {
        f->air[i] = uniform(l) < 0.5;
        for (int a = 0; a < 3; a++)
            f->wet[a][i] = uniform(l) < 0.2 ? 0 : (float)(0.01 + 0.99 * uniform(l)), f->u[a][i] = (float)uniform(l);
    }
    f->def = (mo_tension_def){l->g, f->kappa, f->air, f->wet, 0.0728, 998, 1e-3};
}

static void force_destroy(force *f)
{
    for (int a = 0; a < 3; a++) free(f->wet[a]), free(f->u[a]);
    free(f->kappa), free(f->air);
}

// One curvature everywhere is the gradient that a jump of liquid pressure balances, whatever the air and the weights,
// also where only one of two cells has it; a varying one as VS 5.1 writes it.
static void jump_of_pressure(void **state)
{
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        liquid l;
        force f;
        bool flat = kind & 1, varying = kind / 2 == 2;
        liquid_create(&l, 20, 12, flat ? 1 : 10);
        liquid_add(&l, 8, 8, 8, 1), liquid_add(&l, 17, 6, 8, 1);
        liquid_sort(&l);
        force_create(&f, &l);
        for (int64_t i = 0; i < mo_grid_cells(l.g); i++)
            f.kappa[i] = varying ? (float)(100 * uniform(&l) - 50) : kind / 2 == 1 && uniform(&l) < 0.4 ? 0 : 37.5f;
        float *before[3];
        for (int a = 0; a < 3; a++) {
            before[a] = new_field(&l);
            memcpy(before[a], f.u[a], sizeof(float) * (size_t)mo_grid_cells(l.g));
        }
        mo_tension_apply(&f.def, f.u);
        int32_t pushed = 0;
        for (int a = 0; a < 3; a++)
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(l.g); i++) {
                int32_t low = mo_grid_step(l.g, i, a, -1);
                double w = f.wet[a][i], k1 = f.kappa[i], k0 = low < 0 ? 0 : f.kappa[low], expected = before[a][i];
                double air1 = f.air[i], air0 = low < 0 ? 1 : f.air[low], push = 0;
                if (!varying)
                    push = k0 || k1 ? 37.5 * (air1 - air0) : 0;
                else if (low >= 0)
                    push = air1 * k1 - air0 * k0 - (1 - w) * (k1 - k0);
                else
                    push = (air1 - air0) * k1;
                bool none = w == 0 || (flat && a == 2);
                if (!none) expected -= 1e-3 / (998 * w) * 0.0728 * push / l.g->dx;
                assert_true(fabs(f.u[a][i] - expected) <= (none ? 0 : 1e-6 * (1 + fabs(expected))));
                pushed += f.u[a][i] != before[a][i];
            }
        assert_true(pushed > 1000);
        for (int a = 0; a < 3; a++) free(before[a]);
        force_destroy(&f);
        liquid_destroy(&l);
    }
}

// Water on a millimetre grid by hand; the limits of no and of much viscosity; no tension, no limit.
static void longest_step(void **state)
{
    (void)state;
    assert_true(isinf(mo_tension_time_step(0, 1000, 1, 0.01)));
    double water = mo_tension_time_step(0.07, 1000, 0, 1e-3);
    assert_float_equal(water, sqrt(1e-6 / (4 * M_PI * 0.07)), 1e-9);
    assert_float_equal(mo_tension_time_step(0.07, 1000, 1e4, 1e-3), 2 / M_PI * 1e4 * 1e-3 / 0.07, 1e-5);
    for (double eta = 1e-3; eta < 1e4; eta *= 10)
        assert_true(mo_tension_time_step(0.07, 1000, 10 * eta, 1e-3) > mo_tension_time_step(0.07, 1000, eta, 1e-3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(laplace),
                                       cmocka_unit_test(waves),
                                       cmocka_unit_test(ropes),
                                       cmocka_unit_test(walls),
                                       cmocka_unit_test(pool),
                                       cmocka_unit_test(translation),
                                       cmocka_unit_test(scraps),
                                       cmocka_unit_test(threads),
                                       cmocka_unit_test(memory_runs_out),
                                       cmocka_unit_test(jump_of_pressure),
                                       cmocka_unit_test(longest_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
