// What a body displaces: integrals over boxes that two planes cut, and the volume and first moment of a ball below an
// inclined surface.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "grid/displaced.h"
#include "base/parallel.h"
#include <math.h>

static double uniform(uint32_t *seed) { return 2 * mo_unit(mo_hash((*seed)++, 17, 4)) - 1; }

// A random linear function at the corners of the unit box and at its centre.
static double random_plane(uint32_t *seed, double corner[8])
{
    double n[3] = {uniform(seed), uniform(seed), uniform(seed)}, offset = 0.5 * uniform(seed);
    for (int i = 0; i < 8; i++)
        corner[i] = offset + n[0] * ((i & 1) - 0.5) + n[1] * ((i >> 1 & 1) - 0.5) + n[2] * ((i >> 2) - 0.5);
    return offset;
}

// Both sides of the second plane make up the part of the first; the planes may be exchanged; a single one has the
// volume that clipping has.
static void two_planes_are_exact(void **state)
{
    (void)state;
    const double below[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    uint32_t seed = 1;
    double largest = 0;
    for (int k = 0; k < 2000; k++) {
        double f[8], g[8], other[8], centre = random_plane(&seed, f), second = random_plane(&seed, g);
        double all[4], wet[4], dry[4], turned[4];
        for (int i = 0; i < 8; i++) other[i] = -g[i];
        mo_integrate_box(f, centre, below, all);
        mo_integrate_box(f, centre, g, wet);
        mo_integrate_box(f, centre, other, dry);
        mo_integrate_box(g, second, f, turned);
        largest = fmax(largest, fabs(all[0] - mo_fraction_box(f, centre)));
        for (int i = 0; i < 4; i++) {
            largest = fmax(largest, fabs(wet[i] + dry[i] - all[i]));
            largest = fmax(largest, fabs(wet[i] - turned[i]));
        }
    }
    assert_true(largest < 1e-13);
}

typedef struct ball {
    mo_vec3 centre;
    double radius;
} ball;

static double ball_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const ball *b = user;
    (void)solid;
    return mo_norm(mo_sub(x, b->centre)) - b->radius;
}

// Below the plane n.x = depth above its centre, a ball of radius r has a cap whose volume and moment are known.
static void balls_displace_their_caps(void **state)
{
    (void)state;
    enum { CELLS = 20 };
    mo_grid *g;
    mo_error err;
    if (mo_grid_create((int32_t[3]){CELLS, CELLS, CELLS}, 0.1, &g, &err) != MO_OK) fail_msg("%s", err.text);
    mo_grid_want(g, (int32_t[3]){0, 0, 0}, (int32_t[3]){g->n[0] - 1, g->n[1] - 1, g->n[2] - 1});
    assert_int_equal(mo_grid_activate(g, &err), MO_OK);
    ball b = {mo_grid_world(g, 11.3, 12.1, 11.8), 0.47};
    const mo_vec3 up = mo_normalize(mo_v3(0.3, 0.9, -0.2));
    const double depth = 0.08, r = b.radius, cap = M_PI * (r + depth) * (r + depth) * (2 * r - depth) / 3,
                 moment = -M_PI / 4 * (r * r - depth * depth) * (r * r - depth * depth);
    float *phi = mo_calloc(sizeof(float) * (size_t)mo_grid_cells(g)),
          *distance = mo_calloc(sizeof(float) * (size_t)mo_grid_cells(g));
    for (int32_t i = 0; i < mo_grid_cells(g); i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        mo_vec3 x = mo_grid_world(g, c[0] + 0.5, c[1] + 0.5, c[2] + 0.5);
        phi[i] = (float)((mo_dot(up, mo_sub(x, b.centre)) - depth) / g->dx);
    }
    mo_solid_set solids = {.count = 1, .distance = ball_distance, .user = &b, .body = (int32_t[]){0}};
    solids.centre = &b.centre, solids.bodies = 1;
    mo_displacing def = {.grid = g, .phi = phi, .distance = distance, .solids = &solids};
    mo_displaced sum = {.lift = {0}};
    mo_lifts *lifts = mo_calloc(sizeof *lifts); // every box counts, and nothing is lifted
    for (int32_t t = 0; t < g->tiles; t++) mo_displaced_tile(&def, g->coord[t], lifts, &sum);
    for (int a = 0; a < 3; a++) {
        mo_vec3 turn = mo_cross(mo_mul(moment, up), mo_v3(a == 0, a == 1, a == 2));
        double volume = sum.volume[a] * pow(g->dx, 3);
        mo_vec3 found = mo_mul(pow(g->dx, 3), sum.volume_turn[a]);
        print_message("axis %d: volume %+.1e, moment %.1e\n", a, volume / cap - 1,
                      mo_norm(mo_sub(found, turn)) / -moment);
        assert_true(fabs(volume - cap) < 2e-3 * cap);
        assert_true(mo_norm(mo_sub(found, turn)) < -5e-3 * moment);
        assert_true(fabs(sum.volume[a] - sum.volume[0]) < 1e-10 * sum.volume[0]);
        assert_true(sum.lift[a] == 0);
    }
    mo_free(phi), mo_free(distance), mo_free(lifts);
    mo_grid_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_planes_are_exact),
        cmocka_unit_test(balls_displace_their_caps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
