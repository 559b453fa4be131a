// Volume weights: half spaces exactly, balls, walls and their corners, slip, covers, 2D, threads, memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/weights.h"
#include "base/parallel.h"
#include "ration.h"
#include <stdlib.h>
#include <string.h>

static double uniform(uint32_t *seed) { return mo_unit(mo_hash((*seed)++, 23, 9)); }

static mo_grid *full_grid(int32_t x, int32_t y, int32_t z, double dx)
{
    mo_grid *g;
    assert_int_equal(mo_grid_create((int32_t[3]){x, y, z}, dx, &g, NULL), MO_OK);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, g->n);
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    return g;
}

// ---- Shapes: balls and half spaces, as solids (metres) and as liquid (cells) ----

typedef struct shape {
    mo_vec3 centre;
    double radius;  // 0: the half space behind the centre along
    mo_vec3 normal; // this
} shape;

static double distance(const shape *s, mo_vec3 x)
{
    mo_vec3 r = mo_sub(x, s->centre);
    return s->radius > 0 ? mo_norm(r) - s->radius : mo_dot(s->normal, r);
}

static double solid_distance(const void *user, int32_t solid, mo_vec3 x)
{
    return distance((const shape *)user + solid, x);
}

static mo_vec3 world_of(const mo_grid *g, int32_t q, double x, double y, double z)
{
    int32_t c[3];
    mo_grid_cell(g, q, c);
    return mo_grid_world(g, c[0] + x, c[1] + y, c[2] + z);
}

// Distance in cells at the cells' centres, at most `cap`; NULL: air everywhere.
static float *new_level(const mo_grid *g, const shape *s, double cap)
{
    float *phi = mo_alloc(sizeof *phi * (size_t)mo_grid_cells(g));
    for (int32_t q = 0; q < mo_grid_cells(g); q++)
        phi[q] = s ? (float)fmax(-cap, fmin(cap, distance(s, world_of(g, q, 0.5, 0.5, 0.5)) / g->dx)) : 2.0f;
    return phi;
}

// Low corner of a sample's control volume, from its cell's.
static const double corner_of[7][3] = {{0, 0, 0},       {-0.5, 0, 0},    {0, -0.5, 0},   {0, 0, -0.5},
                                       {0, -0.5, -0.5}, {-0.5, 0, -0.5}, {-0.5, -0.5, 0}};

static const mo_solid_set open_air = {.open_wall = {true, true, true, true, true, true}};

static mo_weights compute(const mo_grid *g, const float *phi, const mo_solid_set *s)
{
    mo_weights w = {0};
    assert_int_equal(mo_weights_compute(g, phi, s, &w, NULL), MO_OK);
    return w;
}

// The liquid's weights of a level set, and those of the solids deep under water.
static mo_weights compute_apart(const mo_grid *g, const float *phi, const mo_solid_set *s)
{
    size_t cells = (size_t)mo_grid_cells(g);
    float *deep = mo_alloc(sizeof *deep * cells);
    for (size_t q = 0; q < cells; q++) deep[q] = -2;
    mo_weights wet = compute(g, phi, &open_air), w = compute(g, deep, s);
    for (int kind = 0; kind < 7; kind++) memcpy(w.liquid[kind], wet.liquid[kind], sizeof(float) * cells);
    mo_weights_destroy(&wet);
    mo_free(deep);
    return w;
}

// Not at the end of the tiles, where the level set beyond them is air.
static bool inner(const mo_grid *g, int32_t q)
{
    int32_t c[3];
    mo_grid_cell(g, q, c);
    for (int a = 0; a < 3; a++)
        if (c[a] < 3 || c[a] >= 8 * g->tn[a] - 3) return false;
    return true;
}

// Volume of n.x < c in the unit cube: inclusion-exclusion over its corners, after mirroring to n > 0.
static double exact_cube(mo_vec3 normal, double c)
{
    double n[3] = {normal.x, normal.y, normal.z};
    for (int a = 0; a < 3; a++)
        if (n[a] < 0) c -= n[a], n[a] = -n[a];
    if (c <= 0) return 0;
    if (c >= n[0] + n[1] + n[2]) return 1;
    long double sum = 0;
    for (int i = 0; i < 8; i++) {
        long double r = c - (i & 1) * n[0] - (i >> 1 & 1) * n[1] - (i >> 2) * n[2];
        if (r > 0) sum += (__builtin_popcount((unsigned)i) & 1 ? -1 : 1) * r * r * r;
    }
    return (double)(sum / (6.0L * n[0] * n[1] * n[2]));
}

// What the liquid's weight should be, from the volume of a box whose low corner is given: of faces the mean over the
// boxes between the centres of their two cells.
typedef double (*box_fn)(const void *user, const double low[3]);
static double expected_liquid(int kind, box_fn box, const void *user)
{
    enum { BOXES = 200 };
    const double *low = corner_of[kind];
    double sum = 0, at[3] = {low[0], low[1], low[2]};
    if (kind < MO_SAMPLE_FACE || kind >= MO_SAMPLE_EDGE) return box(user, low);
    for (int k = 0; k < BOXES; k++) {
        at[kind - MO_SAMPLE_FACE] = low[kind - MO_SAMPLE_FACE] + (k + 0.5) / BOXES - 0.5;
        sum += box(user, at);
    }
    return sum / BOXES;
}

typedef struct box_of {
    const mo_grid *g;
    const shape *s;
    int32_t q;
} box_of;
static double half_space_in_box(const void *user, const double low[3])
{
    const box_of *b = user;
    return exact_cube(b->s->normal, -distance(b->s, world_of(b->g, b->q, low[0], low[1], low[2])) / b->g->dx);
}

static void half_spaces_are_exact(void **state)
{
    (void)state;
    mo_grid *g = full_grid(12, 12, 12, 0.1);
    uint32_t seed = 0;
    double worst = 0;
    for (int trial = 0; trial < 40; trial++) {
        mo_vec3 n = {uniform(&seed) - 0.5, uniform(&seed) - 0.5, uniform(&seed) - 0.5};
        for (int a = 0; a < 3; a++)
            if (fabs(mo_get(n, a)) < 0.02) n = mo_v3(0.3, -0.7, 0.02);
        n = mo_normalize(n);
        shape plane = {.centre = {0.6 + 0.4 * uniform(&seed), 0.6, 0.6}, .normal = n};
        float *phi = new_level(g, &plane, 2);
        mo_solid_set s = {.count = 1, .distance = solid_distance, .user = &plane};
        memset(s.open_wall, true, sizeof s.open_wall);
        mo_weights w = compute_apart(g, phi, &s);
        for (int32_t q = 0; q < mo_grid_cells(g); q++)
            for (int kind = 0; kind < 7 && inner(g, q); kind++) {
                const double *low = corner_of[kind];
                double part = exact_cube(n, -distance(&plane, world_of(g, q, low[0], low[1], low[2])) / g->dx);
                double wet = expected_liquid(kind, half_space_in_box, &(box_of){g, &plane, q});
                worst = fmax(worst, fabs(w.liquid[kind][q] - wet));
                worst = fmax(worst, fabs(1 - w.fluid[kind][q] - part));
                assert_true((w.liquid[kind][q] == 0) == (wet == 0) || fabs(wet) < 1e-6);
                assert_true(w.stick[kind][q] + w.fluid[kind][q] == 1);
            }
        mo_free(phi);
        mo_weights_destroy(&w);
    }
    print_message("planes: error %.1e\n", worst);
    assert_true(worst < 1e-5);
    mo_grid_destroy(g);
}

// Along an axis, at every offset within a cell; the surface through centres and faces included.
static void level_surfaces_are_exact(void **state)
{
    (void)state;
    mo_grid *g = full_grid(12, 12, 12, 1);
    for (int a = 0; a < 3; a++)
        for (double at = 5; at <= 6; at += 0.125) {
            mo_vec3 n = mo_v3(a == 0, a == 1, a == 2);
            shape plane = {.centre = mo_mul(at, n), .normal = n};
            float *phi = new_level(g, &plane, 2);
            mo_weights w = compute(g, phi, &open_air);
            for (int32_t q = 0; q < mo_grid_cells(g); q++)
                for (int kind = 0; kind < 7 && inner(g, q); kind++) {
                    int32_t c[3];
                    mo_grid_cell(g, q, c);
                    double x = MO_MARGIN + at - (c[a] + corner_of[kind][a]), part = fmax(0, fmin(1, x));
                    if (kind == MO_SAMPLE_FACE + a) { // a tent across the surface
                        double below = fmin(fmax(x + 0.5, 0), 2);
                        part = below < 1 ? 0.5 * below * below : 1 - 0.5 * (2 - below) * (2 - below);
                    }
                    assert_true(fabs(w.liquid[kind][q] - part) < 2e-6);
                }
            mo_free(phi);
            mo_weights_destroy(&w);
        }
    mo_grid_destroy(g);
}

// The part of a box that lies in a shape, by points.
static double sampled(const mo_grid *g, const shape *s, int32_t q, const double low[3])
{
    enum { N = 20 };
    int inside = 0;
    double d = distance(s, world_of(g, q, low[0] + 0.5, low[1] + 0.5, low[2] + 0.5)) / g->dx;
    if (fabs(d) > 0.87) return d < 0;
    for (int i = 0; i < N * N * N; i++)
        inside += distance(s, world_of(g, q, low[0] + (i % N + 0.5) / N, low[1] + (i / N % N + 0.5) / N,
                                       low[2] + (i / N / N + 0.5) / N)) < 0;
    return inside / (double)(N * N * N);
}

static void balls_are_near_exact(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 20, 20, 0.1);
    shape ball = {.centre = {1.013, 0.98, 1.031}, .radius = 0.8};
    float *phi = new_level(g, &ball, 2);
    mo_solid_set s = {.count = 1, .distance = solid_distance, .user = &ball};
    mo_weights w = compute_apart(g, phi, &s);
    double worst[2] = {0}, volume[2][7] = {{0}}, exact = 4 * 3.14159265358979 / 3 * 512;
    for (int32_t q = 0; q < mo_grid_cells(g); q++)
        for (int kind = 0; kind < 7 && inner(g, q); kind++) {
            double part = sampled(g, &ball, q, corner_of[kind]);
            if (kind == MO_SAMPLE_CELL || kind >= MO_SAMPLE_EDGE)
                worst[0] = fmax(worst[0], fabs(w.liquid[kind][q] - part));
            worst[1] = fmax(worst[1], fabs(1 - w.fluid[kind][q] - part));
            volume[0][kind] += w.liquid[kind][q], volume[1][kind] += 1 - w.fluid[kind][q];
        }
    print_message("ball of 8 cells: worst fraction %.1e liquid, %.1e solid; volume %.1e liquid\n", worst[0], worst[1],
                  volume[0][0] / exact - 1);
    assert_true(worst[0] < 0.01 && worst[1] < 0.01);
    for (int kind = 0; kind < 7; kind++) assert_true(fabs(volume[0][kind] / exact - 1) < 3e-3);
    mo_free(phi);
    mo_weights_destroy(&w);
    mo_grid_destroy(g);
}

// The curvature's shift: bubbles as good as drops, a capped level set as good as a distance.
static void ball_volume_converges(void **state)
{
    (void)state;
    double before = 0;
    for (int r = 4; r <= 16; r *= 2) {
        int32_t n = 2 * r + 8;
        mo_grid *g = full_grid(n, n, n, 1);
        double worst = 0, exact = 4 * 3.14159265358979 / 3 * r * r * r;
        for (int shot = 0; shot < 6; shot++) {
            double h = 0.5 * n + 0.17 * shot;
            shape ball = {.centre = {h, h - 0.05 * shot, h}, .radius = r};
            float *phi = new_level(g, &ball, shot & 2 ? 2 : 1e9);
            for (int32_t q = 0; (shot & 1) && q < mo_grid_cells(g); q++) phi[q] = -phi[q];
            mo_weights w = compute(g, phi, &open_air);
            double sum = 0;
            for (int32_t q = 0; q < mo_grid_cells(g); q++)
                if (inner(g, q)) sum += shot & 1 ? 1 - w.liquid[0][q] : w.liquid[0][q];
            worst = fmax(worst, fabs(sum / exact - 1));
            mo_free(phi);
            mo_weights_destroy(&w);
        }
        print_message("ball of %d cells: volume error %.1e\n", r, worst);
        if (r == 8) assert_true(worst < 3e-3);
        if (before > 0) assert_true(worst < 0.4 * before);
        before = worst;
        mo_grid_destroy(g);
    }
}

// Sheets, drops and threads: the faces of each axis have the volume of the cells, whatever the shape.
static void faces_have_the_cells_volume(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 20, 20, 1);
    float *phi = mo_alloc(sizeof *phi * (size_t)mo_grid_cells(g));
    for (int shot = 0; shot < 12; shot++) {
        double thickness = 0.4 + 0.15 * shot;
        mo_vec3 n = mo_normalize(mo_v3(0.3 * (shot % 3), 1, 0.2 * (shot % 2)));
        for (int32_t q = 0; q < mo_grid_cells(g); q++) {
            mo_vec3 x = mo_sub(world_of(g, q, 0.5, 0.5, 0.5), mo_v3(10.1, 10.2, 9.7));
            double across = fabs(mo_dot(n, x));
            if (shot % 4 == 3) across = mo_norm(mo_mad(x, -mo_dot(n, x), n)); // a thread
            phi[q] = (float)fmin(fmax(fmax(across - thickness, mo_norm(x) - 6), -2), 2);
        }
        mo_weights w = compute(g, phi, &open_air);
        double sum[7] = {0};
        for (int32_t q = 0; q < mo_grid_cells(g); q++)
            for (int kind = 0; kind < 7; kind++) sum[kind] += w.liquid[kind][q];
        for (int a = 0; a < 3; a++) assert_true(fabs(sum[MO_SAMPLE_FACE + a] - sum[0]) <= 2e-5 * sum[0]);
        mo_weights_destroy(&w);
    }
    mo_free(phi);
    mo_grid_destroy(g);
}

// Noise: fractions stay in range, a cell is wet if its centre is clearly.
static void noise_keeps_its_sign(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 20, 20, 1);
    float *phi = mo_alloc(sizeof *phi * (size_t)mo_grid_cells(g));
    uint32_t seed = 0;
    for (int shot = 0; shot < 4; shot++) {
        // From single wet cells in air to noise; zeros among it.
        for (int32_t q = 0; q < mo_grid_cells(g); q++) {
            double v = uniform(&seed);
            phi[q] = shot == 0 ? (v < 0.02 ? -0.3f : 0.7f) : shot == 1 ? (float)(int)(3 * v) - 1 : (float)(2 * v - 1);
        }
        mo_weights w = compute(g, phi, &open_air);
        for (int32_t q = 0; q < mo_grid_cells(g); q++)
            for (int kind = 0; kind < 7; kind++) {
                double part = w.liquid[kind][q];
                assert_true(part >= 0 && part <= 1);
                if (kind < MO_SAMPLE_FACE || kind >= MO_SAMPLE_EDGE)
                    assert_true((part == 0 || part > 1e-6) && (part == 1 || part < 1 - 1e-6));
                else { // wet exactly if one of its cells is
                    int32_t low = mo_grid_step(g, q, kind - MO_SAMPLE_FACE, -1);
                    bool wet = w.liquid[0][q] > 0 || (low >= 0 && w.liquid[0][low] > 0);
                    if (low >= 0) assert_true((part > 0) == wet);
                }
                if (kind == 0) assert_true(phi[q] > -0.1f || part > 0);
            }
        mo_weights_destroy(&w);
    }
    mo_free(phi);
    mo_grid_destroy(g);
}

static void missing_tiles_are_air(void **state)
{
    (void)state;
    mo_grid *g;
    assert_int_equal(mo_grid_create((int32_t[3]){60, 60, 60}, 1, &g, NULL), MO_OK);
    mo_grid_want(g, (int32_t[3]){24, 24, 24}, (int32_t[3]){31, 31, 31});
    assert_int_equal(mo_grid_activate(g, NULL), MO_OK);
    assert_int_equal(g->tiles, 1);
    float phi[512];
    for (int i = 0; i < 512; i++) phi[i] = -2;
    mo_weights w = compute(g, phi, &open_air);
    // Half way between -2 and +2, seen by the two half cells at the low end.
    for (int i = 0; i < 512; i++) {
        bool low[3] = {(i & 7) == 0, (i >> 3 & 7) == 0, i >> 6 == 0},
             high = (i & 7) == 7 || (i >> 3 & 7) == 7 || i >> 6 == 7;
        if (high || low[1] || low[2]) continue;
        assert_true(w.liquid[0][i] == 1);
        assert_true(fabs(w.liquid[1][i] - (low[0] ? 0.5 : 1)) < 1e-6);
        assert_true(fabs(w.liquid[6][i] - (low[0] ? 0.5 : 1)) < 1e-6);
        assert_true(w.fluid[3][i] == 1 && w.stick[3][i] == 0);
    }
    mo_weights_destroy(&w);
    mo_grid_destroy(g);
}

// ---- Walls ----

// What part of a control volume is open, or held, from the half cells it is made of.
static void expect_walls(const mo_grid *g, const mo_solid_set *s, const mo_weights *w, int32_t q, int kind)
{
    int32_t c[3];
    mo_grid_cell(g, q, c);
    float open = 0, held = 0;
    for (int i = 0; i < 8; i++) {
        bool closed = false, sticks = false;
        for (int a = 0; a < 3; a++) {
            double x = c[a] + corner_of[kind][a] + 0.25 + 0.5 * (i >> a & 1);
            int side = x < MO_MARGIN ? 2 * a : x > g->n[a] - MO_MARGIN ? 2 * a + 1 : -1;
            if (side < 0 || s->open_wall[side]) continue;
            closed = true, sticks |= !s->slip_wall[side];
        }
        open += !closed, held += sticks;
    }
    assert_true(w->fluid[kind][q] == open / 8 && w->stick[kind][q] == held / 8);
}

static void walls_close_and_hold(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 12, 29, 0.1);
    float *phi = new_level(g, NULL, 0);
    for (int shot = 0; shot < 24; shot++) {
        mo_solid_set s = {0};
        for (int side = 0; side < 6; side++) {
            uint32_t kind = shot == 0   ? 2
                            : shot == 1 ? 1
                            : shot == 2 ? 0
                                        : mo_hash((uint32_t)shot, (uint32_t)side, 3) % 3;
            s.open_wall[side] = kind == 0, s.slip_wall[side] = kind == 1;
        }
        mo_weights w = compute(g, phi, &s);
        for (int32_t q = 0; q < mo_grid_cells(g); q++)
            for (int kind = 0; kind < 7; kind++) {
                expect_walls(g, &s, &w, q, kind);
                if (shot == 2) assert_true(w.fluid[kind][q] == 1 && w.stick[kind][q] == 0);
                assert_true(w.liquid[kind][q] == 0);
            }
        // No-slip: on the wall x = 0 the face and the edges are half open, half held; at the domain's corner 1/4 is.
        if (shot == 0) {
            int32_t wall = mo_grid_index(g, MO_MARGIN, 8, 8), corner = mo_grid_index(g, MO_MARGIN, MO_MARGIN, 8);
            for (int k = 0; k < 3; k++) {
                int kind = (int[3]){1, 5, 6}[k];
                assert_true(w.fluid[kind][wall] == 0.5f && w.stick[kind][wall] == 0.5f);
            }
            assert_true(w.fluid[6][corner] == 0.25f && w.stick[6][corner] == 0.75f);
            assert_true(w.fluid[0][wall - 1] == 0 && w.stick[0][wall - 1] == 1);
        }
        assert_int_equal(w.covers, 0);
        mo_weights_destroy(&w);
    }
    mo_free(phi);
    mo_grid_destroy(g);
}

// ---- Solids ----

// On the faces, all that is not open belongs to walls and covers; what sticks, to the covers of solids without slip.
static void check_sums(const mo_grid *g, const mo_solid_set *s, const mo_weights *w, const mo_weights *bare)
{
    size_t cells = (size_t)mo_grid_cells(g);
    float *rest = mo_alloc(6 * sizeof *rest * cells);
    for (int a = 0; a < 3; a++)
        for (size_t q = 0; q < cells; q++) {
            rest[a * cells + q] = bare->fluid[a + 1][q] - w->fluid[a + 1][q];
            rest[(a + 3) * cells + q] = w->stick[a + 1][q] - bare->stick[a + 1][q];
        }
    for (int32_t n = 0; n < w->covers; n++) {
        const mo_cover *c = &w->cover[n];
        float most = 0;
        if (n > 0) assert_true(c->tile > c[-1].tile || (c->tile == c[-1].tile && c->solid > c[-1].solid));
        bool sticks = !(s->slip && s->slip[c->solid]);
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < 512; i++) {
                size_t q = (size_t)c->tile * 512 + (size_t)i;
                float part = c->part[a][i];
                assert_true(part >= 0 && part <= 1);
                most = fmaxf(most, part);
                rest[a * cells + q] -= part;
                if (sticks) rest[(a + 3) * cells + q] -= part;
            }
        assert_true(most > 0);
    }
    // Exactly; to rounding where areas of slippery solids take the place of volumes.
    for (size_t i = 0; i < 6 * cells; i++) assert_true(s->slip ? fabsf(rest[i]) < 1e-6f : rest[i] == 0);
    mo_free(rest);
}

static void solids_share_the_rest(void **state)
{
    (void)state;
    mo_grid *g = full_grid(26, 26, 26, 0.5);
    // Balls that overlap, one through the wall, one beyond it, one far from anything, one that hides another.
    shape balls[7] = {{.centre = {6.1, 6.3, 6.6}, .radius = 4},   {.centre = {10, 7, 7}, .radius = 2.2},
                      {.centre = {0.4, 6, 6}, .radius = 2},       {.centre = {-9, 6, 6}, .radius = 2},
                      {.centre = {6, 6, 6}, .radius = 1},         {.centre = {6, 10.1, 6}, .radius = 1.3},
                      {.centre = {11.3, 2.2, 2.1}, .radius = 0.2}};
    uint8_t slip[7] = {0, 1, 0, 1, 1, 0, 1};
    float *phi = new_level(g, &balls[0], 2);
    mo_solid_set none = {.slip_wall = {[MO_XMIN] = true, [MO_ZMAX] = true}, .open_wall = {[MO_YMAX] = true}}, s = none;
    s.count = 7, s.distance = solid_distance, s.user = balls;
    mo_weights bare = compute(g, phi, &none);
    for (int shot = 0; shot < 2; shot++) {
        s.slip = shot ? slip : NULL;
        mo_weights w = compute(g, phi, &s);
        check_sums(g, &s, &w, &bare);
        assert_true(w.covers > 20);
        bool seen[7] = {false};
        for (int32_t n = 0; n < w.covers; n++) seen[w.cover[n].solid] = true;
        assert_true(seen[0] && seen[1] && seen[2] && !seen[3] && !seen[4] && seen[5] && seen[6]);
        for (int32_t q = 0; q < mo_grid_cells(g); q++)
            for (int kind = 0; kind < 7; kind++) {
                double f = w.fluid[kind][q], k = w.stick[kind][q];
                assert_true(f >= 0 && k >= 0 && f + k <= 1 && f <= bare.fluid[kind][q]);
                assert_true((f == 0 || f > 1e-6) && (f == 1 || f < 1 - 1e-6));
                if (!shot) assert_true(k - bare.stick[kind][q] == bare.fluid[kind][q] - f);
            }
        mo_weights_destroy(&w);
    }
    mo_weights_destroy(&bare);
    mo_free(phi);
    mo_grid_destroy(g);
}

// A body displaces what it covers of the liquid: of the tents of any axis its parts are the volume below the surface,
// wherever the surface cuts it; what is open and what is covered are all of the liquid.
static void solids_take_their_part_of_the_liquid(void **state)
{
    (void)state;
    mo_grid *g = full_grid(20, 20, 20, 1);
    shape ball = {.centre = {10.1, 9.7, 10.3}, .radius = 5.2};
    mo_solid_set s = {.count = 1, .distance = solid_distance, .user = &ball};
    for (int shot = 0; shot < 9; shot++) {
        double up = -4.8 + 1.27 * shot, r = ball.radius; // of the surface above the ball's centre
        mo_vec3 n = mo_normalize(mo_v3(0.3 * (shot % 3), 1, 0.2 * (shot % 2)));
        shape water = {.centre = mo_mad(ball.centre, up, n), .normal = n};
        float *phi = new_level(g, &water, 2);
        mo_weights w = compute(g, phi, &s), bare = compute(g, phi, &open_air);
        double exact = 3.14159265358979 / 3 * (up + r) * (up + r) * (2 * r - up), sum[3] = {0};
        if (up >= r) exact = 4 * 3.14159265358979 / 3 * r * r * r;
        for (int32_t k = 0; k < w.covers; k++)
            for (int a = 0; a < 3; a++)
                for (int i = 0; i < 512; i++)
                    sum[a] += w.cover[k].part[a][i] * w.liquid[1 + a][512 * w.cover[k].tile + i];
        for (int a = 0; a < 3; a++) {
            // Half cells that ball and surface both cut count the product of their parts: 0.1% of the ball.
            if (!(fabs(sum[a] - exact) < 1.2e-3 * 589)) fail_msg("%g covers %g of %g", up, sum[a], exact);
            assert_true(fabs(sum[a] - sum[0]) < 1e-5 * sum[0]);
            for (int32_t q = 0; q < mo_grid_cells(g); q++) assert_true(w.liquid[1 + a][q] == bare.liquid[1 + a][q]);
        }
        mo_free(phi);
        mo_weights_destroy(&w), mo_weights_destroy(&bare);
    }
    mo_grid_destroy(g);
}

// ---- 2D ----

static double half_plane_in_box(const void *user, const double low[3])
{
    const box_of *b = user;
    double depth = -distance(b->s, world_of(b->g, b->q, low[0], low[1], 0));
    return exact_cube(mo_v3(b->s->normal.x, b->s->normal.y, 1e-4), depth + 5e-5);
}

static void planes_of_2d_know_no_height(void **state)
{
    (void)state;
    mo_grid *g = full_grid(26, 20, 1, 1);
    // A half plane as liquid and a ball as solid, cut by the plane z = 1/2 in a disc.
    mo_vec3 n = mo_normalize(mo_v3(0.3, 1, 0));
    shape half = {.centre = {13, 11.3, 0}, .normal = n}, ball = {.centre = {12.2, 9.6, 3.5}, .radius = 5};
    float *phi = new_level(g, &half, 2);
    // Only the plane's values count.
    for (int32_t q = 0; q < mo_grid_cells(g); q++)
        if ((q >> 6 & 7) != MO_MARGIN) phi[q] = q & 1 ? -2 : 2;
    mo_solid_set s = {.count = 1, .distance = solid_distance, .user = &ball, .slip_wall = {[MO_YMIN] = true}};
    s.open_wall[MO_ZMAX] = true; // means nothing in 2D
    mo_weights w = compute(g, phi, &s);
    s.count = 0;
    mo_weights bare = compute(g, phi, &s);
    s.count = 1;
    mo_weights under = compute_apart(g, phi, &s);
    double disc[4] = {0};
    for (int32_t q = 0; q < mo_grid_cells(g); q++)
        for (int kind = 0; kind < 7; kind++) {
            int32_t c[3];
            mo_grid_cell(g, q, c);
            const double *low = corner_of[kind];
            if (c[2] != MO_MARGIN || kind == 3 || kind == 4 || kind == 5) {
                assert_true(w.fluid[kind][q] == 0 && w.stick[kind][q] == 0 && w.liquid[kind][q] == 0);
                continue;
            }
            float open = 0, held = 0;
            for (int i = 0; i < 4; i++) {
                double x = c[0] + low[0] + 0.25 + 0.5 * (i & 1), y = c[1] + low[1] + 0.25 + 0.5 * (i >> 1);
                bool stick = x < 2 || x > 28 || y > 22;
                open += !stick && y > 2, held += stick;
            }
            assert_true(bare.fluid[kind][q] == open / 4 && bare.stick[kind][q] == held / 4);
            if (kind == 6) disc[3] += 1 - w.fluid[kind][q] - (1 - bare.fluid[kind][q]);
            if (kind < 3) disc[kind] += bare.fluid[kind][q] - under.fluid[kind][q];
            if (c[0] < 3 || c[1] < 3 || c[0] > 28 || c[1] > 20) continue;
            double part = expected_liquid(kind, half_plane_in_box, &(box_of){g, &half, q});
            assert_true(fabs(w.liquid[kind][q] - part) < 1e-5);
        }
    for (int i = 0; i < 4; i++) {
        double error = disc[i] / (3.14159265358979 * (25 - 9)) - 1;
        assert_true(fabs(error) < 2e-3);
    }
    assert_true(w.covers > 0 && bare.covers == 0);
    check_sums(g, &s, &w, &bare);
    mo_weights_destroy(&w), mo_weights_destroy(&bare), mo_weights_destroy(&under);
    mo_free(phi);
    mo_grid_destroy(g);
}

// ---- Threads, memory, time ----

typedef struct scene {
    mo_grid *g;
    float *phi;
    shape balls[3];
    mo_solid_set solids;
} scene;

static void scene_create(scene *c, int32_t cells, int32_t solids)
{
    double h = 0.5 * cells;
    *c = (scene){.g = full_grid(cells, cells, cells, 1)};
    c->balls[0] = (shape){.centre = {h, 0.8 * h, h}, .radius = 0.4 * cells};
    c->balls[1] = (shape){.centre = {h, h, 0.3 * h}, .radius = 0.2 * cells};
    c->balls[2] = (shape){.centre = {1.5 * h, h, 0.3 * h}, .radius = 0.2 * cells};
    c->phi = new_level(c->g, &c->balls[0], 2);
    c->solids = (mo_solid_set){.count = solids, .distance = solid_distance, .user = c->balls + 1};
}

static void scene_destroy(scene *c)
{
    mo_free(c->phi);
    mo_grid_destroy(c->g);
}

static void assert_same(const mo_grid *g, const mo_weights *a, const mo_weights *b)
{
    size_t bytes = sizeof(float) * (size_t)mo_grid_cells(g);
    for (int kind = 0; kind < 7; kind++) {
        assert_memory_equal(a->liquid[kind], b->liquid[kind], bytes);
        assert_memory_equal(a->fluid[kind], b->fluid[kind], bytes);
        assert_memory_equal(a->stick[kind], b->stick[kind], bytes);
    }
    assert_int_equal(a->covers, b->covers);
    assert_memory_equal(a->cover, b->cover, sizeof *a->cover * (size_t)a->covers);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    scene c;
    scene_create(&c, 36, 2);
    mo_use_threads(1);
    mo_weights one = compute(c.g, c.phi, &c.solids);
    assert_true(one.covers > 10);
    for (int threads = 2; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_weights many = compute(c.g, c.phi, &c.solids);
        assert_same(c.g, &one, &many);
        mo_weights_destroy(&many);
    }
    mo_use_threads(0);
    mo_weights_destroy(&one);
    scene_destroy(&c);
}

static void memory_is_reused(void **state)
{
    (void)state;
    scene small, large;
    scene_create(&small, 20, 1), scene_create(&large, 36, 2);
    int64_t before = mo_memory_in_use();
    mo_weights w = {0};
    assert_int_equal(mo_weights_compute(large.g, large.phi, &large.solids, &w, NULL), MO_OK);
    const float *memory = w.memory;
    const mo_cover *cover = w.cover;
    assert_int_equal(mo_weights_compute(small.g, small.phi, &small.solids, &w, NULL), MO_OK);
    assert_true(w.memory == memory && w.cover == cover);
    mo_weights fresh = compute(small.g, small.phi, &small.solids);
    assert_same(small.g, &w, &fresh);
    // Growing, and a grid without tiles.
    assert_int_equal(mo_weights_compute(large.g, large.phi, &large.solids, &fresh, NULL), MO_OK);
    assert_int_equal(mo_weights_compute(large.g, large.phi, &large.solids, &w, NULL), MO_OK);
    assert_same(large.g, &w, &fresh);
    assert_int_equal(mo_grid_activate(small.g, NULL), MO_OK);
    assert_int_equal(mo_weights_compute(small.g, small.phi, &small.solids, &w, NULL), MO_OK);
    assert_int_equal(w.covers, 0);
    mo_weights_destroy(&w), mo_weights_destroy(&fresh), mo_weights_destroy(&fresh);
    assert_int_equal(mo_memory_in_use(), before);
    scene_destroy(&small), scene_destroy(&large);
}

static void failing_memory_is_reported(void **state)
{
    (void)state;
    scene small, large;
    scene_create(&small, 12, 1), scene_create(&large, 20, 2);
    int64_t before = mo_memory_in_use();
    for (int used = 0; used < 2; used++) {
        mo_status status = MO_ERROR_MEMORY;
        int failures = 0;
        for (int at = 0; status != MO_OK; at++, failures++) {
            mo_weights w = {0};
            mo_error err = {0};
            if (used) assert_int_equal(mo_weights_compute(small.g, small.phi, &small.solids, &w, NULL), MO_OK);
            ration r = {.fail_at = at + 1};
            mo_set_allocator(rationed, &r);
            status = mo_weights_compute(large.g, large.phi, &large.solids, &w, &err);
            mo_set_allocator(NULL, NULL);
            assert_true(status == MO_OK || (status == MO_ERROR_MEMORY && err.status == status && w.covers == 0));
            // What failed can be tried again.
            assert_int_equal(mo_weights_compute(large.g, large.phi, &large.solids, &w, NULL), MO_OK);
            mo_weights_destroy(&w);
            assert_int_equal(mo_memory_in_use(), before);
        }
        assert_int_equal(failures, 3); // two allocations, then success
    }
    scene_destroy(&small), scene_destroy(&large);
}

static int64_t calls;
static double counted_distance(const void *user, int32_t solid, mo_vec3 x)
{
    calls++;
    return solid_distance(user, solid, x);
}

static double seconds(const scene *c)
{
    mo_weights w = {0};
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        double start = mo_wall_seconds();
        assert_int_equal(mo_weights_compute(c->g, c->phi, &c->solids, &w, NULL), MO_OK);
        best = fmin(best, mo_wall_seconds() - start);
    }
    mo_weights_destroy(&w);
    return best;
}

// Solids are asked about tiles they are near only, and there about their surface; the times are for the reader.
static void far_solids_cost_nothing(void **state)
{
    (void)state;
    scene c;
    scene_create(&c, 60, 2);
    mo_use_threads(1);
    c.solids.distance = counted_distance;
    memset(c.solids.open_wall, true, sizeof c.solids.open_wall);
    mo_weights w = compute(c.g, c.phi, &c.solids);
    double cut[2] = {0}, walls, solids, open, air;
    for (int32_t t = 0; t < c.g->tiles; t++)
        for (int s = 0; s < 2; s++) {
            float lo = 2, hi = -2;
            for (int i = 0; i < 512; i++) {
                float d = s ? w.fluid[0][t * 512 + i] : c.phi[t * 512 + i];
                lo = mo_minf(lo, d), hi = mo_maxf(hi, d);
            }
            cut[s] += s ? hi > 0 && lo < 1 : lo < 0 && hi > 0;
        }
    mo_weights_destroy(&w);
    print_message("%d tiles, %.0f cut by solids: %.2f samples per half cell of these\n", c.g->tiles, cut[1],
                  (double)calls / (18 * 18 * 18 * cut[1]));
    assert_true(calls < 2 * 2 * c.g->tiles + 0.58 * (18 * 18 * 18) * cut[1]);
    c.solids.distance = solid_distance;
    memset(c.solids.open_wall, false, sizeof c.solids.open_wall);
    solids = seconds(&c);
    c.solids.count = 0;
    walls = seconds(&c);
    memset(c.solids.open_wall, true, sizeof c.solids.open_wall);
    open = seconds(&c);
    for (int32_t q = 0; q < mo_grid_cells(c.g); q++) c.phi[q] = 2;
    air = seconds(&c);
    print_message("64^3 cells, %.0f of %d tiles on the surface: %.1f ms; with walls %.1f, and 2 balls %.1f; air %.1f; "
                  "%.0f ns per cell of a surface tile\n",
                  cut[0], c.g->tiles, 1e3 * open, 1e3 * walls, 1e3 * solids, 1e3 * air,
                  1e9 * ((open - air) / (512 * cut[0]) + air / (double)mo_grid_cells(c.g)));
    mo_use_threads(0);
    scene_destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_spaces_are_exact),
        cmocka_unit_test(level_surfaces_are_exact),
        cmocka_unit_test(balls_are_near_exact),
        cmocka_unit_test(ball_volume_converges),
        cmocka_unit_test(faces_have_the_cells_volume),
        cmocka_unit_test(noise_keeps_its_sign),
        cmocka_unit_test(missing_tiles_are_air),
        cmocka_unit_test(walls_close_and_hold),
        cmocka_unit_test(solids_share_the_rest),
        cmocka_unit_test(solids_take_their_part_of_the_liquid),
        cmocka_unit_test(planes_of_2d_know_no_height),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(memory_is_reused),
        cmocka_unit_test(failing_memory_is_reported),
        cmocka_unit_test(far_solids_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
