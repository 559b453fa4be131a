// Particles: sorting by cell, the tiles around them, restoring lists, removal, storage.
#include "fluid_test.h"
#include "ration.h"

static int32_t lattice_cell(const liquid *l, int32_t q)
{
    const mo_particles *p = &l->p;
    return (int32_t)p->x[0][q] + l->g->n[0] * ((int32_t)p->x[1][q] + l->g->n[1] * (int32_t)p->x[2][q]);
}

static bool wanted(const liquid *l, int32_t tile, int32_t q)
{
    for (int a = 0; a < 3; a++) {
        int32_t c = (int32_t)l->p.x[a][q], first = 8 * l->g->coord[tile][a];
        if (c + MO_REACH < first || c - MO_REACH > first + 7) return false;
    }
    return true;
}

// Every particle is in the list of its cell, the lists hold each once, tiles within reach of every particle exist and
// no others.
static void check_sorted(const liquid *l)
{
    const mo_particles *p = &l->p;
    const mo_grid *g = l->g;
    int32_t cells = (int32_t)mo_grid_cells(g);
    assert_int_equal(p->start[0], 0);
    assert_int_equal(p->start[cells], p->count);
    for (int32_t i = 0; i < cells; i++) {
        int32_t c[3];
        mo_grid_cell(g, i, c);
        assert_true(p->start[i + 1] >= p->start[i]);
        for (int32_t q = p->start[i]; q < p->start[i + 1]; q++)
            for (int a = 0; a < 3; a++) assert_int_equal((int32_t)p->x[a][q], c[a]);
    }
    for (int32_t q = 0; q < p->count; q++)
        for (int corner = 0; corner < 8; corner++) {
            int32_t c[3];
            for (int a = 0; a < 3; a++) {
                c[a] = (int32_t)p->x[a][q] + (corner >> a & 1 ? MO_REACH : -MO_REACH);
                c[a] = c[a] < 0 ? 0 : c[a] >= g->n[a] ? g->n[a] - 1 : c[a];
            }
            assert_true(mo_grid_index(g, c[0], c[1], c[2]) >= 0);
        }
    for (int32_t t = 0; t < g->tiles; t++) {
        bool used = false;
        for (int32_t q = 0; q < p->count && !used; q++) used = wanted(l, t, q);
        assert_true(used);
    }
}

// What makes a particle recognisable: all its fields depend on v[0] = its number.
static void tag(liquid *l)
{
    for (int32_t q = 0; q < l->p.count; q++) {
        l->p.v[0][q] = (float)q;
        for (int f = 4; f < l->p.fields; f++) l->p.field[f][q] = (float)(q * 17 + f);
    }
}

static void check_tags(const liquid *l, int32_t original)
{
    uint8_t *seen = calloc((size_t)original + 1, 1);
    for (int32_t q = 0; q < l->p.count; q++) {
        int32_t number = (int32_t)l->p.v[0][q];
        assert_true(number >= 0 && number < original);
        assert_int_equal(seen[number]++, 0);
        for (int f = 4; f < l->p.fields; f++) assert_true(l->p.field[f][q] == (float)(number * 17 + f));
    }
    free(seen);
}

static void random_particle(liquid *l, bool edges)
{
    double x[3];
    for (int a = 0; a < 3; a++) {
        double lo = MO_MARGIN, hi = l->g->n[a] - MO_MARGIN;
        x[a] = lo + (hi - lo) * uniform(l);
        if (edges && uniform(l) < 0.4) x[a] = uniform(l) < 0.5 ? lo + 0.01 : hi - 0.01;
        // Beyond open walls they may also sit in the margin until they are taken out.
        if (edges && uniform(l) < 0.1) x[a] = uniform(l) < 0.5 ? 0.0 : l->g->n[a] - 0.01;
    }
    liquid_add(l, x[0], x[1], x[2], 0.125);
}

static void sorted_for_random_particles(void **state)
{
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        liquid l;
        liquid_create(&l, 5 + trial % 29, 4 + trial * 7 % 31, trial % 3 ? 3 + trial * 5 % 23 : 1);
        if (trial & 2) l.p.fields = MO_PARTICLE_FIELDS;
        l.seed = (uint32_t)trial * 100000;
        int32_t count = trial == 0 ? 0 : trial == 1 ? 1 : 2 + trial * trial % 400;
        for (int32_t q = 0; q < count; q++) random_particle(&l, trial & 1);
        tag(&l);
        for (int round = 0; round < 3; round++) { // again after motion: tiles appear and vanish
            liquid_sort(&l);
            check_sorted(&l);
            check_tags(&l, count);
            liquid_stir(&l, 3);
        }
        liquid_destroy(&l);
    }
}

// Within a cell the order is that of before, so results do not depend on threads.
static void order_is_stable_for_any_threads(void **state)
{
    (void)state;
    float *first[MO_PARTICLE_FIELDS];
    int32_t *start = NULL, count = 0;
    for (int threads = 1; threads <= 4; threads++) {
        mo_use_threads(threads);
        liquid l;
        liquid_create(&l, 30, 20, 25);
        l.p.fields = MO_PARTICLE_FIELDS;
        for (int32_t q = 0; q < 150000; q++) random_particle(&l, false);
        tag(&l);
        liquid_sort(&l);
        size_t cells = (size_t)mo_grid_cells(l.g);
        if (threads == 1) {
            count = l.p.count;
            for (int f = 0; f < MO_PARTICLE_FIELDS; f++)
                first[f] = malloc(sizeof(float) * (size_t)count),
                memcpy(first[f], l.p.field[f], sizeof(float) * (size_t)count);
            start = malloc(sizeof(int32_t) * (cells + 1));
            memcpy(start, l.p.start, sizeof(int32_t) * (cells + 1));
            for (int64_t i = 0; i < (int64_t)cells; i++)
                for (int32_t q = start[i] + 1; q < start[i + 1]; q++) assert_true(l.p.v[0][q] > l.p.v[0][q - 1]);
        }
        for (int f = 0; f < MO_PARTICLE_FIELDS; f++)
            assert_memory_equal(first[f], l.p.field[f], sizeof(float) * (size_t)count);
        assert_memory_equal(start, l.p.start, sizeof(int32_t) * (cells + 1));
        liquid_destroy(&l);
    }
    for (int f = 0; f < MO_PARTICLE_FIELDS; f++) free(first[f]);
    free(start);
    mo_use_threads(0);
}

// A state saved with stale lists and loaded elsewhere has the same order, lists and tiles.
static void lists_are_restored_exactly(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        liquid a, b;
        liquid_create(&a, 21, 17, flat ? 1 : 14);
        liquid_create(&b, 21, 17, flat ? 1 : 14);
        a.p.fields = b.p.fields = flat ? MO_PLAIN_FIELDS : MO_PARTICLE_FIELDS;
        for (int32_t q = 0; q < 3000; q++) random_particle(&a, true);
        tag(&a);
        liquid_sort(&a);
        liquid_stir(&a, 0.25);
        int32_t *cell = malloc(sizeof(int32_t) * 3000);
        mo_particles_cells(&a.p, a.g, cell);
        int32_t elsewhere = 0;
        for (int32_t q = 0; q < 3000; q++) elsewhere += cell[q] != lattice_cell(&a, q);
        assert_true(elsewhere > 100);                                // the lists are stale indeed
        for (int32_t q = 0; q < 50; q++) random_particle(&b, false); // what was there before
        liquid_sort(&b);
        assert_int_equal(mo_particles_reserve(&b.p, 3000, NULL), MO_OK);
        b.p.count = 3000;
        for (int f = 0; f < a.p.fields; f++) memcpy(b.p.field[f], a.p.field[f], sizeof(float) * 3000);
        mo_arena_reset(b.arena);
        assert_int_equal(mo_particles_sort_by(&b.p, b.g, cell, b.arena, NULL), MO_OK);
        assert_int_equal(a.g->tiles, b.g->tiles);
        assert_memory_equal(a.g->coord, b.g->coord, sizeof *a.g->coord * (size_t)a.g->tiles);
        assert_memory_equal(a.p.start, b.p.start, sizeof(int32_t) * (size_t)(mo_grid_cells(a.g) + 1));
        for (int f = 0; f < a.p.fields; f++) assert_memory_equal(a.p.field[f], b.p.field[f], sizeof(float) * 3000);
        free(cell);
        liquid_destroy(&a), liquid_destroy(&b);
    }
}

static void check_removal(int32_t fields)
{
    liquid l;
    liquid_create(&l, 10, 10, 10);
    l.p.fields = fields;
    for (int32_t q = 0; q < 1000; q++) random_particle(&l, false);
    tag(&l);
    uint8_t gone[1000] = {0};
    mo_particles_remove(&l.p, gone);
    assert_int_equal(l.p.count, 1000);
    int32_t left = 0;
    for (int32_t q = 0; q < 1000; q++) gone[q] = q % 3 == 0 || (q > 400 && q < 600), left += !gone[q];
    mo_particles_remove(&l.p, gone);
    assert_int_equal(l.p.count, left);
    check_tags(&l, 1000);
    for (int32_t q = 1; q < left; q++) assert_true(l.p.v[0][q] > l.p.v[0][q - 1]);
    for (int32_t q = 0; q < left; q++) assert_false(gone[(int32_t)l.p.v[0][q]]);
    memset(gone, 1, sizeof gone);
    mo_particles_remove(&l.p, gone);
    assert_int_equal(l.p.count, 0);
    liquid_sort(&l);
    assert_int_equal(l.g->tiles, 0);
    liquid_destroy(&l);
}

static void removal_keeps_the_order(void **state)
{
    (void)state;
    check_removal(0);
    check_removal(MO_PARTICLE_FIELDS);
}

// Without viscosity its arrays are not there: not after growing, sorting or removing, and not in the memory used.
static void plain_liquids_carry_no_viscosity(void **state)
{
    (void)state;
    int64_t bytes[2];
    for (int viscous = 0; viscous < 2; viscous++) {
        liquid l;
        liquid_create(&l, 10, 10, 10);
        if (viscous) l.p.fields = MO_PARTICLE_FIELDS;
        int64_t before = mo_memory_in_use();
        assert_int_equal(mo_particles_reserve(&l.p, 10000, NULL), MO_OK);
        bytes[viscous] = mo_memory_in_use() - before;
        assert_int_equal(l.p.fields, viscous ? MO_PARTICLE_FIELDS : MO_PLAIN_FIELDS);
        for (int32_t q = 0; q < 500; q++) random_particle(&l, false);
        assert_int_equal(mo_particles_reserve(&l.p, 20000, NULL), MO_OK);
        liquid_sort(&l);
        mo_particles_remove(&l.p, (uint8_t[500]){1, 0, 1});
        assert_int_equal(l.p.count, 498);
        for (int f = 0; f < MO_PARTICLE_FIELDS; f++)
            assert_true((l.p.field[f] != NULL) == (viscous || f < MO_PLAIN_FIELDS));
        assert_ptr_equal(l.p.field[MO_PLAIN_FIELDS], l.p.viscosity);
        assert_ptr_equal(l.p.field[MO_PARTICLE_FIELDS - 1], l.p.material);
        liquid_destroy(&l);
    }
    assert_true(bytes[1] - bytes[0] >= 2 * 4 * 10000 && bytes[0] < 18 * 4 * 10000);
}

static void check_growth(int32_t fields)
{
    int64_t before = mo_memory_in_use();
    liquid l;
    liquid_create(&l, 12, 12, 12);
    l.p.fields = fields;
    for (int32_t q = 0; q < 5000; q++) random_particle(&l, false);
    tag(&l);
    check_tags(&l, 5000);
    mo_error err;
    assert_int_equal(mo_particles_reserve(&l.p, (int64_t)INT32_MAX + 1, &err), MO_ERROR_INPUT);
    int failures = 0;
    for (int at = 1; at < 30; at++) { // while growing
        ration r = {.fail_at = at};
        mo_set_allocator(rationed, &r);
        mo_status status = mo_particles_reserve(&l.p, l.p.capacity + 1, &err);
        mo_set_allocator(NULL, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        failures += status != MO_OK;
        check_tags(&l, 5000);
    }
    assert_int_equal(failures, fields + 1); // and the spare one
    failures = 0;
    for (int at = 1; at < 12; at++) { // while sorting
        ration r = {.fail_at = at};
        mo_arena *fresh = mo_arena_create();
        mo_set_allocator(rationed, &r);
        mo_status status = mo_particles_sort(&l.p, l.g, fresh, &err);
        mo_set_allocator(NULL, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        failures += status != MO_OK;
        check_tags(&l, 5000);
        mo_arena_destroy(fresh);
    }
    assert_true(failures > 0);
    liquid_sort(&l);
    check_sorted(&l);
    liquid_destroy(&l);
    assert_int_equal(mo_memory_in_use(), before);
}

static void storage_grows_and_failures_lose_nothing(void **state)
{
    (void)state;
    check_growth(MO_PLAIN_FIELDS);
    check_growth(MO_PARTICLE_FIELDS);
}

static void sums_do_not_depend_on_threads(void **state)
{
    (void)state;
    liquid l;
    liquid_create(&l, 12, 12, 12);
    assert_true(mo_particles_volume(&l.p) == 0 && mo_particles_max_speed(&l.p) == 0);
    for (int32_t q = 0; q < 10007; q++) {
        random_particle(&l, false);
        l.p.volume[q] = (float)uniform(&l);
        for (int a = 0; a < 3; a++) l.p.v[a][q] = (float)(uniform(&l) - 0.5);
    }
    double volume = 0, speed = 0, first[2] = {0};
    for (int32_t q = 0; q < 10007; q++) {
        double x = l.p.v[0][q], y = l.p.v[1][q], z = l.p.v[2][q];
        volume += l.p.volume[q], speed = fmax(speed, sqrt(x * x + y * y + z * z));
    }
    for (int threads = 1; threads <= 4; threads++) {
        mo_use_threads(threads);
        double got[2] = {mo_particles_volume(&l.p), mo_particles_max_speed(&l.p)};
        if (threads == 1) memcpy(first, got, sizeof got);
        assert_memory_equal(first, got, sizeof got);
        assert_true(fabs(got[0] - volume) < 1e-10 * volume && fabs(got[1] - speed) < 1e-6 * speed);
    }
    mo_use_threads(0);
    l.p.v[1][4321] = NAN;
    assert_true(isnan(mo_particles_max_speed(&l.p)));
    liquid_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_for_random_particles),      cmocka_unit_test(order_is_stable_for_any_threads),
        cmocka_unit_test(lists_are_restored_exactly),       cmocka_unit_test(removal_keeps_the_order),
        cmocka_unit_test(plain_liquids_carry_no_viscosity), cmocka_unit_test(storage_grows_and_failures_lose_nothing),
        cmocka_unit_test(sums_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
