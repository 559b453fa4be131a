// The papers' correction of particles' positions: crowded neighbours push each other apart, and nothing else moves.
#include "fluid_test.h"
#include "fluid/spread.h"
#include <math.h>

static const double lo[3] = {6, 6, 6}, hi[3] = {14, 14, 14};

static float *all_open(const liquid *l)
{
    float *open = malloc(sizeof(float) * (size_t)mo_grid_cells(l->g));
    for (int64_t i = 0; i < mo_grid_cells(l->g); i++) open[i] = 1;
    return open;
}

static void start(liquid *l, bool flat, double jitter)
{
    liquid_create(l, 16, 16, flat ? 1 : 16);
    liquid_fill(l, lo, hi, 2, jitter, NULL);
    liquid_sort(l);
}

static int64_t spread(liquid *l)
{
    int64_t clamped;
    float *open = all_open(l);
    assert_int_equal(mo_particles_spread(&l->p, l->g, open, 0.2f, &clamped, l->arena, NULL), MO_OK);
    free(open);
    return clamped;
}

// The sum of V x along an axis: what pairs push adds up to nothing, whatever their volumes.
static double moment_of(const liquid *l, int axis)
{
    double sum = 0;
    for (int32_t q = 0; q < l->p.count; q++) sum += (double)l->p.volume[q] * l->p.x[axis][q];
    return sum;
}

static double spread_of(const liquid *l)
{
    double sum = 0;
    for (int32_t q = 0; q < l->p.count; q++)
        for (int a = 0; a < mo_grid_axes(l->g); a++) sum += pow(l->p.x[a][q] - 10, 2);
    return sqrt(sum / l->p.count);
}

// How much the particles crowd, on average: sum V W - 1 where it is positive, with the kernel of the correction.
static double crowding(const liquid *l)
{
    double total = 0, k = mo_grid_is_2d(l->g) ? 4 / M_PI : 315 / (64 * M_PI);
    for (int32_t q = 0; q < l->p.count; q++) {
        double sum = 0;
        for (int32_t j = 0; j < l->p.count; j++) {
            double square = 0;
            for (int a = 0; a < 3; a++) square += pow((double)l->p.x[a][q] - l->p.x[a][j], 2);
            if (square < 1) sum += l->p.volume[j] * k * pow(1 - square, 3);
        }
        total += fmax(sum - 1, 0);
    }
    return total / l->p.count;
}

static void even_liquid_stays(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        start(&l, flat, 0);
        double before = spread_of(&l);
        assert_int_equal(spread(&l), 0);
        print_message("%s: crowding %.3f, radius %.6f -> %.6f\n", flat ? "2D" : "3D", crowding(&l), before,
                      spread_of(&l));
        assert_true(fabs(spread_of(&l) / before - 1) < 2e-3); // the kernel's sum over the lattice is 1.01
        liquid_destroy(&l);
    }
}

// Drawn together to 0.8 of its size, the liquid has 2 times its density in 3D, 1.6 in 2D.
static void a_crowd_spreads_and_keeps_its_centre(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid l;
        start(&l, flat, 0.5);
        for (int32_t q = 0; q < l.p.count; q++) {
            for (int a = 0; a < mo_grid_axes(l.g); a++) l.p.x[a][q] = (float)(10 + 0.8 * (l.p.x[a][q] - 10));
            l.p.volume[q] *= (float)(0.7 + 0.6 * uniform(&l));
        }
        liquid_sort(&l);
        double first = crowding(&l), radius = spread_of(&l);
        for (int pass = 0; pass < 8; pass++) {
            double moment[3];
            for (int a = 0; a < 3; a++) moment[a] = moment_of(&l, a);
            int64_t clamped = spread(&l);
            for (int a = 0; a < 3 && clamped == 0; a++)
                assert_true(fabs(moment_of(&l, a) - moment[a]) < 1e-5 * moment[a]); // positions are floats
            liquid_sort(&l);
        }
        print_message("%s: crowding %.3f -> %.3f, radius %.3f -> %.3f\n", flat ? "2D" : "3D", first, crowding(&l),
                      radius, spread_of(&l));
        assert_true(crowding(&l) < 0.5 * first);
        assert_true(spread_of(&l) > 1.05 * radius && spread_of(&l) < 1.3 * radius);
        liquid_destroy(&l);
    }
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    liquid l[2];
    for (int k = 0; k < 2; k++) {
        start(&l[k], false, 0.9);
        mo_use_threads(k ? 4 : 1);
        spread(&l[k]);
    }
    for (int a = 0; a < 3; a++) assert_memory_equal(l[0].p.x[a], l[1].p.x[a], sizeof(float) * (size_t)l[0].p.count);
    for (int k = 0; k < 2; k++) liquid_destroy(&l[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(even_liquid_stays),
                                       cmocka_unit_test(a_crowd_spreads_and_keeps_its_centre),
                                       cmocka_unit_test(any_number_of_threads_gives_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
