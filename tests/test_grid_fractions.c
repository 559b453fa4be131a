// Fractions: exact clipping, volumes and areas of known solids, walls, the common rigid motion of docs/math.md 3.1.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/fractions.h"
#include "grid/meet.h"
#include "base/parallel.h"
#include <stdlib.h>
#include <string.h>

static double uniform(uint32_t *seed) { return mo_unit(mo_hash((*seed)++, 17, 4)); }

// Volume of n.x < c in the unit cube (n > 0): inclusion-exclusion over the corners of simplices, in long double.
static double exact_cube(const double n[3], double c)
{
    long double sum = 0;
    for (int i = 0; i < 8; i++) {
        long double r = c - (i & 1) * n[0] - (i >> 1 & 1) * n[1] - (i >> 2) * n[2];
        if (r > 0) sum += (__builtin_popcount((unsigned)i) & 1 ? -1 : 1) * r * r * r;
    }
    return (double)(sum / (6.0L * n[0] * n[1] * n[2]));
}

static double exact_square(const double n[2], double c)
{
    long double sum = 0;
    for (int i = 0; i < 4; i++) {
        long double r = c - (i & 1) * n[0] - (i >> 1 & 1) * n[1];
        if (r > 0) sum += (__builtin_popcount((unsigned)i) & 1 ? -1 : 1) * r * r;
    }
    return (double)(sum / (2.0L * n[0] * n[1]));
}

static void planes_are_exact(void **state)
{
    (void)state;
    uint32_t seed = 0;
    for (int trial = 0; trial < 20000; trial++) {
        double n[3], c = 0, flip[3];
        for (int a = 0; a < 3; a++) n[a] = 0.01 + uniform(&seed), flip[a] = uniform(&seed) < 0.5;
        // Mirrored so that the plane meets the tetrahedra from every side.
        double offset = uniform(&seed) * (n[0] + n[1] + n[2]), corner[8], centre = -offset;
        for (int a = 0; a < 3; a++) centre += 0.5 * n[a];
        for (int i = 0; i < 8; i++) {
            corner[i] = -offset;
            for (int a = 0; a < 3; a++) corner[i] += n[a] * ((i >> a & 1) ^ (int)flip[a]);
        }
        assert_true(fabs(mo_fraction_box(corner, centre) - exact_cube(n, offset)) < 1e-9);
        c = uniform(&seed) * (n[0] + n[1]);
        for (int i = 0; i < 4; i++) corner[i] = n[0] * ((i & 1) ^ (int)flip[0]) + n[1] * ((i >> 1) ^ (int)flip[1]) - c;
        assert_true(fabs(mo_fraction_square(corner, 0.5 * (n[0] + n[1]) - c) - exact_square(n, c)) < 1e-12);
    }
}

static void signs_are_exact(void **state)
{
    (void)state;
    uint32_t seed = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double c[8], m[8], centre = uniform(&seed);
        for (int i = 0; i < 8; i++) c[i] = uniform(&seed) * (trial % 3 != 0), m[i] = -c[i] - 1e-300;
        assert_true(mo_fraction_box(c, centre) == 0 && mo_fraction_box(m, -centre - 1e-300) == 1);
        assert_true(mo_fraction_square(c, centre) == 0 && mo_fraction_square(m, -centre - 1e-300) == 1);
    }
    // Zeros anywhere give a number in range.
    for (int pattern = 0; pattern < 6561; pattern++) {
        double c[8];
        for (int i = 0, p = pattern; i < 8; i++, p /= 3) c[i] = p % 3 - 1;
        for (int centre = -1; centre <= 1; centre++) {
            double box = mo_fraction_box(c, centre), square = mo_fraction_square(c, centre);
            assert_true(box >= 0 && box <= 1 && square >= 0 && square <= 1);
        }
    }
    assert_true(mo_fraction_tet((double[4]){0, 0, 0, 0}) == 0);
    assert_true(mo_fraction_tet((double[4]){-1, 0, 0, 0}) == 1);
    assert_true(fabs(mo_fraction_tet((double[4]){-1, -1, 1, 1}) - 0.5) < 1e-15);
}

// ---- Solids ----

typedef struct ball {
    mo_vec3 centre;
    double radius;  // 0: the half space behind the centre along
    mo_vec3 normal; // this
} ball;
typedef struct world {
    const ball *balls;
    mo_vec3 linear, angular; // one rigid motion for all
    _Atomic int64_t *calls;  // threads count together
} world;

static double ball_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const world *w = user;
    const ball *b = &w->balls[solid];
    if (w->calls) ++*w->calls;
    mo_vec3 r = mo_sub(x, b->centre);
    return b->radius > 0 ? mo_norm(r) - b->radius : mo_dot(b->normal, r);
}

static mo_vec3 ball_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    const world *w = user;
    (void)solid;
    return mo_add(w->linear, mo_cross(w->angular, x));
}

static mo_grid *full_grid(int32_t x, int32_t y, int32_t z, double dx)
{
    mo_grid *g;
    assert_int_equal(mo_grid_create((int32_t[3]){x, y, z}, dx, &g, NULL), MO_OK);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, g->n);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    return g;
}

static mo_openings new_openings(const mo_grid *g)
{
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(g);
    mo_openings o = {.volume = mo_alloc(bytes), .distance = mo_alloc(bytes)};
    for (int a = 0; a < 3; a++) o.area[a] = mo_alloc(bytes), o.flux[a] = mo_alloc(bytes);
    return o;
}

static void free_openings(mo_openings *o)
{
    for (int a = 0; a < 3; a++) mo_free(o->area[a]), mo_free(o->flux[a]);
    mo_free(o->volume), mo_free(o->distance);
}

static void fill(const mo_grid *g, const mo_solid_set *s, mo_openings *o) { mo_openings_compute(g, s, o); }

static bool in_domain(const mo_grid *g, const int32_t c[3])
{
    for (int a = 0; a < 3; a++)
        if (c[a] < MO_MARGIN || c[a] >= g->n[a] - MO_MARGIN) return false;
    return true;
}

// Covered volume in the domain, and the covered volume from areas: slices through the faces of one axis.
static double covered(const mo_grid *g, const mo_openings *o, int axis)
{
    double sum = 0;
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        if (!in_domain(g, c) || (axis >= 0 && c[axis] == MO_MARGIN)) continue;
        sum += 1 - (axis < 0 ? o->volume[q] : o->area[axis][q]);
    }
    return sum;
}

static void sphere_volume_converges(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    double before = 0;
    for (int r = 4; r <= 16; r *= 2) {
        int32_t n = 2 * r + 6;
        mo_grid *g = full_grid(n, n, n, 0.1);
        mo_openings o = new_openings(g);
        double worst = 0, exact = 4 * pi / 3 * r * r * r;
        for (int shot = 0; shot < 4; shot++) {
            double h = 0.05 * n;
            ball b = {.centre = {h + 0.013 * shot, h + 0.027 * shot, h - 0.031 * shot}, .radius = 0.1 * r};
            world w = {.balls = &b};
            mo_solid_set s = {.count = 1, .distance = ball_distance, .user = &w};
            fill(g, &s, &o);
            worst = fmax(worst, fabs(covered(g, &o, -1) / exact - 1));
            for (int a = 0; a < 3; a++) assert_true(fabs(covered(g, &o, a) / exact - 1) < 0.02 * 16 / (r * r));
        }
        print_message("sphere of %d cells: volume error %.2e\n", r, worst);
        if (r == 8) assert_true(worst < 1e-3);
        if (before > 0) assert_true(worst < 0.5 * before);
        before = worst;
        free_openings(&o);
        mo_grid_destroy(g);
    }
}

static void volume_fractions_add_up(void **state)
{
    (void)state;
    mo_grid *g = full_grid(26, 26, 26, 0.5);
    // Two balls that overlap.
    ball b[2] = {{.centre = {6.1, 6.3, 6.6}, .radius = 4}, {.centre = {10, 7, 7}, .radius = 2.2}};
    world w = {.balls = b};
    mo_solid_set s = {.count = 2, .distance = ball_distance, .user = &w};
    float(*solid)[7][512] = mo_alloc(2 * sizeof *solid), fluid[7][512];
    double total[7] = {0};
    for (int32_t t = 0; t < g->tiles; t++) {
        mo_volume_fractions_tile(g, &s, t, solid, fluid);
        for (int k = 0; k < 7; k++)
            for (int c = 0; c < 512; c++) {
                assert_true(solid[0][k][c] + solid[1][k][c] + fluid[k][c] == 1.0f);
                assert_true(solid[0][k][c] >= 0 && solid[1][k][c] >= 0 && fluid[k][c] >= 0);
                total[k] += solid[0][k][c];
            }
    }
    for (int k = 0; k < 7; k++) {
        double error = total[k] / (4 * 3.14159265358979 / 3 * 512) - 1;
        print_message("kind %d: sphere of 8 cells %.2e\n", k, error);
        assert_true(fabs(error) < 1e-3);
    }
    mo_free(solid);
    mo_grid_destroy(g);
}

// With everything in one rigid motion every cell's divergence vanishes, with cut, full, open and doubly cut faces.
static void common_rigid_motion_has_no_divergence(void **state)
{
    (void)state;
    mo_grid *g = full_grid(28, 24, 22, 0.25);
    ball b[3] = {{.centre = {2.6, 2.9, 2.7}, .radius = 1.6},
                 {.centre = {5.1, 3, 2.5}, .radius = 0.9},
                 {.centre = {2, 1, 1}, .radius = 0.06}};
    world w = {.balls = b, .linear = {0.3, -1.2, 0.7}, .angular = {0.4, 0.1, -0.3}};
    mo_solid_set s = {.count = 3, .distance = ball_distance, .velocity = ball_velocity, .user = &w};
    mo_openings o = new_openings(g);
    fill(g, &s, &o);
    int cut = 0, full = 0;
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        bool interior = true;
        for (int a = 0; a < 3; a++) interior &= c[a] > MO_MARGIN && c[a] < g->n[a] - MO_MARGIN - 1;
        if (!interior) continue;
        double sum = 0, size = 0;
        for (int a = 0; a < 3; a++)
            for (int side = 0; side < 2; side++) {
                int32_t at[3] = {c[0], c[1], c[2]};
                at[a] += side;
                int32_t f = mo_grid_index(g, at[0], at[1], at[2]);
                mo_vec3 x = mo_grid_world(g, at[0] + 0.5 * (a != 0), at[1] + 0.5 * (a != 1), at[2] + 0.5 * (a != 2));
                double u = mo_get(ball_velocity(&w, 0, x), a), flow = o.area[a][f] * u + o.flux[a][f];
                assert_true(fabs(flow - u) <= 3e-7 * (1 + fabs(u)));
                assert_true(o.area[a][f] >= 0 && o.area[a][f] <= 1);
                sum += side ? flow : -flow;
                size += fabs(u);
                cut += o.area[a][f] > 0 && o.area[a][f] < 1, full += o.area[a][f] == 0;
            }
        assert_true(fabs(sum) <= 1e-6 * (1 + size));
    }
    assert_true(cut > 500 && full > 500);
    free_openings(&o);
    mo_grid_destroy(g);
}

// Half spaces on both sides of one oblique plane leave nothing open, overlapping ones neither; moved apart by a third
// of a cell they leave that much.
static void touching_solids_fill_up(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 20, 20, 0.1);
    mo_vec3 n = mo_normalize(mo_v3(1, 3, -1.5));
    mo_openings o = new_openings(g);
    for (int shot = 0; shot < 3; shot++) {
        double gap = shot == 2 ? 0.1 / 3 : -0.03 * shot;
        ball b[2] = {{.centre = {1, 1, 1}, .normal = n},
                     {.centre = mo_mad(mo_v3(1, 1, 1), gap, n), .normal = mo_mul(-1, n)}};
        world w = {.balls = b, .linear = {2, -1, 3}};
        mo_solid_set s = {.count = 2, .distance = ball_distance, .velocity = ball_velocity, .user = &w};
        fill(g, &s, &o);
        double open = 0;
        for (int32_t q = 0; q < mo_grid_cells(g); q++) {
            int32_t c[3];
            mo_grid_cell(g, q, c);
            if (!in_domain(g, c)) continue;
            for (int a = 0; a < 3; a++) {
                float area = o.area[a][q];
                if (c[a] == MO_MARGIN) continue;
                if (shot < 2) assert_true(area == 0 && fabs(o.flux[a][q] - mo_get(w.linear, a)) < 1e-6);
                assert_true(fabs(o.flux[a][q] - (1 - area) * mo_get(w.linear, a)) < 1e-6);
            }
            if (shot < 2) assert_true(o.volume[q] == 0);
            open += o.volume[q];
        }
        // The plane's area in the cube is that of its slice y = const times |n| / n_y: here it crosses all of x and z.
        if (shot == 2) assert_true(fabs(open * g->dx * g->dx * g->dx - gap * 2 * 2 / n.y) < 0.01 * gap);
    }
    free_openings(&o);
    mo_grid_destroy(g);
}

static double plate_distance(const void *user, int32_t solid, mo_vec3 x)
{
    (void)solid;
    return fabs(x.y - *(const double *)user) - 0.5;
}

// A plate one cell thick covers exactly one cell's height wherever it lies, in spite of the ridge inside it.
static void plates_are_exact(void **state)
{
    (void)state;
    mo_grid *g = full_grid(4, 12, 4, 1);
    mo_openings o = new_openings(g);
    for (double middle = 4; middle < 6; middle += 0.07) {
        mo_solid_set s = {.count = 1, .distance = plate_distance, .user = &middle};
        fill(g, &s, &o);
        for (int32_t j = 0; j < 12; j++) {
            int32_t q = mo_grid_index(g, MO_MARGIN + 2, MO_MARGIN + j, MO_MARGIN + 2);
            double covered = fmax(0, fmin(j + 1, middle + 0.5) - fmax(j, middle - 0.5));
            assert_true(fabs(o.volume[q] - (1 - covered)) < 2e-6);
            assert_true(fabs(o.area[0][q] - (1 - covered)) < 2e-6 && fabs(o.area[2][q] - (1 - covered)) < 2e-6);
        }
    }
    free_openings(&o);
    mo_grid_destroy(g);
}

// ---- Boxes that touch ----

typedef struct brick {
    mo_vec3 low, high;
} brick;

static double brick_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const brick *b = (const brick *)user + solid;
    double outside = 0, inside = -INFINITY;
    for (int a = 0; a < 3; a++) {
        double d = fmax(mo_get(b->low, a) - mo_get(x, a), mo_get(x, a) - mo_get(b->high, a));
        inside = fmax(inside, d);
        outside += d > 0 ? d * d : 0;
    }
    return outside > 0 ? sqrt(outside) : inside;
}

static mo_vec3 brick_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    (void)user, (void)solid, (void)x;
    return mo_v3(1, 2, 4);
}

// Boxes side by side, one on the other, overlapping, on the floor, which together are one box: they close what that one
// closes, seams included, and leave open what it leaves, and areas and what moves through them add up to 1.
static void touching_boxes_are_one(void **state)
{
    (void)state;
    static const double shift[] = {0, 0.5, 0.31, 0.487, 0.013};
    mo_grid *g = full_grid(16, 14, 16, 1);
    mo_openings o = new_openings(g), whole = new_openings(g);
    double worst[2] = {0}; // seams on the lattice of half cells, and off it
    for (int shot = 0; shot < 50; shot++) {
        double s = shift[shot % 5], r = shift[shot / 5 % 5], m = shot < 25 ? 0 : 0.37, top = 4 + r;
        int off = shot % 5 > 1 && shot / 5 % 5 > 1;
        brick b[5] = {{{4 + m, 0, 4 + m}, {6 + s, top, 10 + m}},
                      {{6 + s, -1, 4 + m}, {9 + m, top, 10 + m}},
                      {{4 + m, top, 4 + m}, {9 + m, 7 + m, 7 + s}},
                      {{4 + m, top, 7 + s}, {9 + m, 7 + m, 10 + m}},
                      {{5.2, 6, 4 + m}, {8.1, 7 + m, 10 + m}}},
              one = {{4 + m, 0, 4 + m}, {9 + m, 7 + m, 10 + m}};
        mo_solid_set set = {.count = 5, .distance = brick_distance, .velocity = brick_velocity, .user = b},
                     alone = {.count = 1, .distance = brick_distance, .velocity = brick_velocity, .user = &one};
        fill(g, &set, &o), fill(g, &alone, &whole);
        for (int32_t q = 0; q < mo_grid_cells(g); q++) {
            int32_t c[3];
            mo_grid_cell(g, q, c);
            if (!in_domain(g, c)) continue;
            if (whole.volume[q] == 0) assert_true(o.volume[q] == 0);
            worst[off] = fmax(worst[off], fabs(o.volume[q] - whole.volume[q]));
            for (int a = 0; a < 3; a++) {
                if (c[a] == MO_MARGIN) continue;
                float area = o.area[a][q], open = whole.area[a][q];
                if (open == 0) assert_true(area == 0);
                assert_true(fabs(o.flux[a][q] - (1 - area) * (1 << a)) < 1e-5);
                worst[off] = fmax(worst[off], fabs(area - open));
            }
        }
    }
    print_message("boxes: worst difference %.3f, %.3f off the lattice\n", worst[0], worst[1]);
    // Of faces that are partly open: on the plane of a seam neither box knows how deep inside both it lies.
    assert_true(worst[0] < 0.25 && worst[1] < 0.2);
    free_openings(&o), free_openings(&whole);
    mo_grid_destroy(g);
}

// Gaps are kept down to 0.02 cells, between solids and to the floor, and closed below.
static void gaps_close_when_they_are_slits(void **state)
{
    (void)state;
    mo_grid *g = full_grid(12, 12, 12, 1);
    mo_openings o = new_openings(g);
    static const double gaps[] = {0, 1e-9, 0.01, 0.019, 0.021, 0.05, 0.2, 0.4};
    for (int k = 0; k < 8; k++)
        for (int floor = 0; floor < 2; floor++) {
            double gap = gaps[k], y = floor ? 0 : 4.13;
            brick b[2] = {{{-1, y + gap, -1}, {20, 8, 20}}, {{-1, -1, -1}, {20, y, 20}}};
            mo_solid_set set = {.count = 2, .distance = brick_distance, .user = b};
            fill(g, &set, &o);
            int32_t q = mo_grid_index(g, MO_MARGIN + 5, MO_MARGIN + (int)y, MO_MARGIN + 5);
            double open = gap < MO_SLIT ? 0 : gap;
            assert_true(fabs(o.area[0][q] - open) < 1e-5 && fabs(o.area[2][q] - open) < 1e-5);
        }
    free_openings(&o);
    mo_grid_destroy(g);
}

// ---- Walls that stand askew ----

typedef struct wall {
    mo_vec3 normal;
    double offset, half;
} wall;

static double wall_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const wall *w = (const wall *)user + solid;
    return fabs(mo_dot(w->normal, x) - w->offset) - w->half;
}

// Cells that can be reached from the wall's lower side through open faces.
static int64_t flood(const mo_grid *g, const mo_openings *o, const wall *w, bool *leaks)
{
    int32_t cells = (int32_t)mo_grid_cells(g), *stack = malloc(sizeof(int32_t) * (size_t)cells), n = 0;
    uint8_t *seen = calloc((size_t)cells, 1);
    int64_t count = 0;
    *leaks = false;
    for (int32_t q = 0; q < cells; q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        if (in_domain(g, c) && mo_dot(w->normal, x) < w->offset - w->half - 0.9) seen[q] = 1, stack[n++] = q;
    }
    while (n > 0) {
        int32_t q = stack[--n], c[3];
        mo_grid_cell(g, q, c);
        mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        *leaks |= mo_dot(w->normal, x) > w->offset + w->half;
        count++;
        for (int k = 0; k < 6; k++) {
            int32_t next = mo_grid_step(g, q, k / 2, k & 1 ? 1 : -1), face = k & 1 ? next : q;
            if (next < 0 || seen[next] || o->area[k / 2][face] <= 0) continue;
            seen[next] = 1, stack[n++] = next;
        }
    }
    free(stack), free(seen);
    return count;
}

static void walls_of_a_cell_are_tight(void **state)
{
    (void)state;
    mo_grid *g = full_grid(12, 12, 12, 1), *flat = full_grid(20, 20, 1, 1);
    mo_openings o = new_openings(g), p = new_openings(flat);
    uint32_t seed = 5;
    for (int trial = 0; trial < 200; trial++) {
        mo_vec3 n = {uniform(&seed) - 0.5, uniform(&seed) - 0.5, trial & 1 ? 0 : uniform(&seed) - 0.5};
        if (trial % 16 == 4) n = mo_v3(1, 1, 1);
        if (trial % 16 == 5) n = mo_v3(1, -1, 0);
        if (trial % 16 == 6) n = mo_v3(0, 1, 0);
        double middle = trial & 1 ? 10 : 6;
        wall w = {mo_normalize(n), 0, 0.5 + (trial % 3 == 0 ? 0 : 0.25 * uniform(&seed))};
        w.offset =
            mo_dot(w.normal, mo_v3(middle, middle, trial & 1 ? 0 : 6)) + (trial % 32 < 8 ? 0 : 2 * uniform(&seed) - 1);
        mo_solid_set set = {.count = 1, .distance = wall_distance, .user = &w};
        bool leaks;
        mo_openings *out = trial & 1 ? &p : &o;
        fill(trial & 1 ? flat : g, &set, out);
        int64_t reached = flood(trial & 1 ? flat : g, out, &w, &leaks);
        assert_true(reached > 30);
        assert_false(leaks);
    }
    free_openings(&o), free_openings(&p);
    mo_grid_destroy(g), mo_grid_destroy(flat);
}

static void walls_close_and_open(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 11, 30, 0.1);
    _Atomic int64_t calls = 0;
    world w = {.calls = &calls};
    mo_solid_set s = {.distance = ball_distance, .user = &w, .open_wall = {[MO_YMAX] = true}};
    mo_openings o = new_openings(g);
    fill(g, &s, &o);
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        double d = 4;
        bool open = true;
        for (int side = 0; side < 6; side++) {
            int a = side / 2;
            if (s.open_wall[side]) continue;
            double e = side & 1 ? g->n[a] - MO_MARGIN - (c[a] + 0.5) : c[a] + 0.5 - MO_MARGIN;
            d = fmin(d, e), open &= e > 0;
        }
        assert_true(o.distance[q] == (float)fmax(d, -4));
        assert_true(o.volume[q] == open);
        for (int a = 0; a < 3; a++) {
            bool at_wall = c[a] == MO_MARGIN || (c[a] == g->n[a] - MO_MARGIN && !s.open_wall[2 * a + 1]);
            assert_true(o.area[a][q] == (open && !at_wall) && o.flux[a][q] == 0);
        }
    }
    assert_int_equal(calls, 0);
    free_openings(&o);
    mo_grid_destroy(g);
}

static void distance_is_the_nearest(void **state)
{
    (void)state;
    mo_grid *g = full_grid(40, 40, 40, 0.1);
    ball b[2] = {{.centre = {1.5, 1.6, 1.4}, .radius = 0.9}, {.centre = {3, 3, 3}, .radius = 0.2}};
    world w = {.balls = b};
    mo_solid_set s = {.count = 2, .distance = ball_distance, .user = &w};
    mo_openings o = new_openings(g);
    fill(g, &s, &o);
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        double d = fmin(ball_distance(&w, 0, x), ball_distance(&w, 1, x)) / g->dx;
        for (int a = 0; a < 3; a++) d = fmin(d, fmin(c[a] + 0.5 - MO_MARGIN, g->n[a] - MO_MARGIN - c[a] - 0.5));
        assert_true(fabs(o.distance[q] - fmax(-4, fmin(4, d))) < 1e-5);
    }
    free_openings(&o);
    mo_grid_destroy(g);
}

// Only the surface is sampled: a tile far from it costs one question, the rest a fraction of all samples.
static void far_tiles_cost_nothing(void **state)
{
    (void)state;
    mo_grid *g = full_grid(92, 92, 92, 1);
    _Atomic int64_t calls = 0;
    ball b = {.centre = {20, 20, 20}, .radius = 4};
    world w = {.balls = &b, .calls = &calls};
    mo_solid_set s = {.count = 1, .distance = ball_distance, .user = &w};
    mo_openings o = new_openings(g);
    mo_openings_compute(g, &s, &o);
    print_message("%d tiles, %lld samples\n", g->tiles, (long long)calls);
    assert_true(calls < g->tiles + 30 * 512 + 30 * 300);
    free_openings(&o);
    mo_grid_destroy(g);
}

static void flat_grids_have_walls_in_z(void **state)
{
    (void)state;
    mo_grid *g = full_grid(30, 30, 1, 0.1);
    // A half space, whose parts are the same in every plane z.
    ball b = {.centre = {1.234, 0, 0}, .normal = {-1, 0, 0}};
    world w = {.balls = &b, .linear = {1, 2, 0}};
    mo_solid_set s = {.count = 1, .distance = ball_distance, .velocity = ball_velocity, .user = &w};
    s.open_wall[MO_ZMIN] = true; // means nothing in 2D
    mo_openings o = new_openings(g);
    fill(g, &s, &o);
    for (int32_t q = 0; q < mo_grid_cells(g); q++) {
        int32_t c[3];
        mo_grid_cell(g, q, c);
        double open = fmax(0, fmin(1, 12.34 + MO_MARGIN - c[0]));
        if (!in_domain(g, c)) open = 0;
        assert_true(fabs(o.volume[q] - open) < 1e-6);
        assert_true(o.area[2][q] == 0 && o.flux[2][q] == 0);
        if (open > 0 && c[1] > MO_MARGIN) {
            assert_true(fabs(o.area[1][q] - open) < 1e-6);
            assert_true(fabs(o.flux[1][q] - 2 * (1 - open)) < 2e-6);
        }
        if (in_domain(g, c) && c[1] == 15 && c[0] > 6 && c[0] < 26)
            assert_true(fabs(o.distance[q] - fmax(-4, fmin(4, 12.34 + MO_MARGIN - c[0] - 0.5))) < 1e-5);
    }
    free_openings(&o);
    mo_grid_destroy(g);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    mo_grid *g = full_grid(30, 30, 30, 0.1);
    ball b[2] = {{.centre = {1.5, 1.6, 1.4}, .radius = 0.9}, {.centre = {2.5, 2.2, 1}, .radius = 0.6}};
    world w = {.balls = b, .linear = {1, 2, 3}, .angular = {1, 0, 1}};
    mo_solid_set s = {.count = 2, .distance = ball_distance, .velocity = ball_velocity, .user = &w};
    mo_openings one = new_openings(g), many = new_openings(g);
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(g);
    mo_use_threads(1);
    fill(g, &s, &one);
    for (int threads = 2; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        fill(g, &s, &many);
        for (int a = 0; a < 3; a++) {
            assert_memory_equal(one.area[a], many.area[a], bytes);
            assert_memory_equal(one.flux[a], many.flux[a], bytes);
        }
        assert_memory_equal(one.volume, many.volume, bytes);
        assert_memory_equal(one.distance, many.distance, bytes);
    }
    mo_use_threads(0);
    free_openings(&one), free_openings(&many);
    mo_grid_destroy(g);
}

// A ball that passes a closed wall sweeps its section through it, from either side and along every axis: the liquid of
// the first cells has to give way for just what comes in.
static void solids_sweep_through_walls(void **state)
{
    (void)state;
    const double radius = 0.45, dx = 0.1, depth = 0.2;
    mo_grid *g = full_grid(20, 20, 20, dx);
    mo_openings o = new_openings(g);
    for (int k = 0; k < 6; k++) {
        int axis = k / 2, high = k % 2;
        double centre[3] = {1.03, 0.96, 1.01}, speed[3] = {0.5, 0.25, 0.125}, swept = 0;
        centre[axis] = high ? 2 + depth : -depth;
        ball b = {.centre = {centre[0], centre[1], centre[2]}, .radius = radius};
        world w = {.balls = &b, .linear = {speed[0], speed[1], speed[2]}};
        mo_solid_set s = {.count = 1, .distance = ball_distance, .velocity = ball_velocity, .user = &w};
        fill(g, &s, &o);
        for (int32_t q = 0; q < mo_grid_cells(g); q++) {
            int32_t c[3], at;
            mo_grid_cell(g, q, c);
            at = high ? g->n[axis] - MO_MARGIN : MO_MARGIN;
            if (c[axis] == at) swept += o.flux[axis][q], assert_true(o.area[axis][q] == 0);
        }
        double section = 3.14159265358979 * (radius * radius - depth * depth) * speed[axis];
        assert_true(fabs(swept * dx * dx - section) < 0.01 * section);
    }
    free_openings(&o);
    mo_grid_destroy(g);
}

// A shape that changes with height counts in two dimensions as its slice in the middle of the plane, bit for bit.
static double leaning_disc(const void *user, int32_t solid, mo_vec3 x)
{
    const double *lean = user;
    (void)solid;
    return 0.86 * (sqrt(pow(x.x - 0.91, 2) + pow(x.y - 0.77, 2)) - 0.17) + *lean * (x.z - 0.05);
}

static void flat_grids_see_slices(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 16, 1, 0.1);
    mo_openings o[2] = {new_openings(g), new_openings(g)};
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(g);
    for (int k = 0; k < 2; k++) {
        double lean = 0.5 * k;
        mo_solid_set s = {.count = 1, .distance = leaning_disc, .user = &lean, .slices = true};
        fill(g, &s, &o[k]);
    }
    for (int a = 0; a < 2; a++) assert_memory_equal(o[0].area[a], o[1].area[a], bytes);
    assert_memory_equal(o[0].volume, o[1].volume, bytes);
    free_openings(&o[0]), free_openings(&o[1]);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_exact),
        cmocka_unit_test(signs_are_exact),
        cmocka_unit_test(sphere_volume_converges),
        cmocka_unit_test(volume_fractions_add_up),
        cmocka_unit_test(common_rigid_motion_has_no_divergence),
        cmocka_unit_test(touching_solids_fill_up),
        cmocka_unit_test(plates_are_exact),
        cmocka_unit_test(touching_boxes_are_one),
        cmocka_unit_test(gaps_close_when_they_are_slits),
        cmocka_unit_test(walls_of_a_cell_are_tight),
        cmocka_unit_test(walls_close_and_open),
        cmocka_unit_test(solids_sweep_through_walls),
        cmocka_unit_test(distance_is_the_nearest),
        cmocka_unit_test(far_tiles_cost_nothing),
        cmocka_unit_test(flat_grids_have_walls_in_z),
        cmocka_unit_test(flat_grids_see_slices),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
