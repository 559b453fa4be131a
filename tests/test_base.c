// Base: memory accounting, arena, reproducible sums and sorts, quaternions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "base/region.h"
#include "base/vec.h"
#include <stdlib.h>
#include <string.h>

static double uniform(uint32_t *seed) { return mo_unit(mo_hash((*seed)++, 5, 9)); }

// ---- Memory ----

static void allocations_are_counted(void **state)
{
    (void)state;
    int64_t start = mo_memory_in_use();
    mo_memory_reset_peak();
    assert_int_equal(mo_memory_peak(), start);
    void *block[50];
    int64_t sum = 0;
    for (int i = 0; i < 50; i++) {
        size_t bytes = (size_t)(i * i * 37);
        block[i] = mo_alloc(bytes);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % 64, 0);
        memset(block[i], 0xee, bytes);
        sum += (int64_t)bytes;
    }
    assert_int_equal(mo_memory_in_use(), start + sum);
    for (int i = 0; i < 50; i += 2) mo_free(block[i]);
    for (int i = 1; i < 50; i += 2) mo_free(block[i]);
    mo_free(NULL);
    assert_int_equal(mo_memory_in_use(), start);
    assert_int_equal(mo_memory_peak(), start + sum);
    mo_memory_reset_peak();
    assert_int_equal(mo_memory_peak(), start);
    char *zero = mo_calloc(1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(zero[i], 0);
    mo_free(zero);
    assert_null(mo_alloc(SIZE_MAX));
    assert_null(mo_alloc(SIZE_MAX - 100));
    assert_int_equal(mo_memory_in_use(), start);
}

typedef struct hook {
    int64_t live, calls, fail_at;
} hook;

static void *hooked(void *user, void *p, size_t bytes)
{
    hook *h = user;
    if (bytes == 0) {
        h->live--;
        free(p);
        return NULL;
    }
    if (++h->calls == h->fail_at) return NULL;
    h->live += p == NULL;
    return realloc(p, bytes);
}

static void the_hook_sees_everything(void **state)
{
    (void)state;
    hook h = {.fail_at = 3};
    int64_t start = mo_memory_in_use();
    mo_set_allocator(hooked, &h);
    void *a = mo_alloc(10), *b = mo_calloc(10), *c = mo_alloc(10), *d = mo_alloc(10);
    assert_true(a && b && !c && d);
    assert_int_equal(h.live, 3);
    assert_int_equal(mo_memory_in_use(), start + 30);
    mo_free(a), mo_free(b), mo_free(d);
    assert_int_equal(h.live, 0);
    mo_set_allocator(NULL, NULL);
    assert_int_equal(mo_memory_in_use(), start);
}

enum { MANY = 40 };
static const size_t large = (size_t)1 << 20;

static uint8_t pattern(int i, size_t k) { return (uint8_t)(17 * (size_t)i + k * 31); }

// Large blocks of all kinds of sizes come and go; none is touched by another.
static void large_blocks_do_not_overlap(void **state)
{
    (void)state;
    int64_t start = mo_memory_in_use(), sum = 0;
    uint8_t *block[MANY] = {0};
    size_t bytes[MANY] = {0};
    uint32_t seed = 5;
    mo_memory_hold();
    for (int round = 0; round < 4000; round++) {
        seed = seed * 1664525u + 1013904223u;
        int i = (int)(seed >> 8) % MANY;
        if (block[i]) {
            for (size_t k = 0; k < bytes[i]; k += 997) assert_int_equal(block[i][k], pattern(i, k));
            assert_int_equal(block[i][bytes[i] - 1], pattern(i, bytes[i] - 1));
            mo_free(block[i]), block[i] = NULL, sum -= (int64_t)bytes[i];
        } else {
            bytes[i] = (size_t)(seed >> 12) % (3 * large) + 1;
            block[i] = mo_alloc(bytes[i]), sum += (int64_t)bytes[i];
            assert_int_equal((uintptr_t)block[i] % 64, 0);
            for (size_t k = 0; k < bytes[i]; k += 997) block[i][k] = pattern(i, k);
            block[i][bytes[i] - 1] = pattern(i, bytes[i] - 1);
        }
        assert_int_equal(mo_memory_in_use(), start + sum);
    }
    mo_memory_release();
    for (int i = 0; i < MANY; i++) mo_free(block[i]); // they outlive the holder
    assert_int_equal(mo_memory_in_use(), start);
}

#if !MO_SANITIZED
// The memory of large blocks is asked for once while someone holds it, joins again when they are freed, and is given
// back in the end.
static void held_memory_is_kept(void **state)
{
    (void)state;
    hook h = {0};
    mo_set_allocator(hooked, &h);
    mo_memory_hold();
    void *first[8];
    for (int i = 0; i < 8; i++) first[i] = mo_alloc(large);
    int64_t calls = h.calls;
    for (int i = 0; i < 8; i++) mo_free(first[(3 * i + 1) % 8]);
    void *all = mo_alloc(8 * large), *small = mo_alloc(10);
    assert_int_equal(h.calls, calls + 1); // the small one's
    mo_free(all), mo_free(small);
    mo_memory_hold();
    mo_memory_release();
    void *again = mo_alloc(8 * large);
    assert_int_equal(h.calls, calls + 1);
    mo_memory_release();
    assert_int_equal(h.live, 1); // the region, in which one block still lives
    mo_free(again);
    assert_int_equal(h.live, 0);
    // Without memory a large block is refused as others are.
    mo_memory_hold();
    h.fail_at = h.calls + 1;
    assert_null(mo_alloc(large));
    assert_non_null(again = mo_alloc(large));
    mo_free(again);
    mo_memory_release();
    mo_set_allocator(NULL, NULL);
    assert_int_equal(h.live, 0);
}
#endif

static void reserve_grows_and_keeps(void **state)
{
    (void)state;
    int64_t start = mo_memory_in_use(), capacity = 0, before;
    int32_t *v = NULL;
    for (int32_t i = 0; i < 5000; i++) {
        before = capacity;
        assert_true(mo_reserve((void **)&v, &capacity, i + 1, sizeof *v));
        assert_true(capacity >= i + 1 && (capacity == before || capacity >= 2 * before));
        v[i] = 7 * i;
    }
    for (int32_t i = 0; i < 5000; i++) assert_int_equal(v[i], 7 * i);
    assert_int_equal(mo_memory_in_use(), start + capacity * (int64_t)sizeof *v);
    // A request that cannot be met changes nothing.
    before = capacity;
    int32_t *old = v;
    assert_false(mo_reserve((void **)&v, &capacity, ((int64_t)1 << 62) + 1, sizeof *v));
    assert_true(v == old && capacity == before);
    hook h = {.fail_at = 1};
    mo_set_allocator(hooked, &h);
    assert_false(mo_reserve((void **)&v, &capacity, capacity + 1, sizeof *v));
    mo_set_allocator(NULL, NULL);
    assert_true(v == old && capacity == before && v[4999] == 7 * 4999);
    mo_free(v);
    assert_int_equal(mo_memory_in_use(), start);
}

// ---- Arena ----

typedef struct piece {
    uint8_t *at;
    size_t bytes, mark; // fill before it
    uint8_t value;
} piece;

// Random allocations, releases to random marks, resets: pieces still held keep their bytes.
static void arena_behaves_like_a_stack(void **state)
{
    (void)state;
    int64_t start = mo_memory_in_use();
    mo_arena *arena = mo_arena_create();
    assert_non_null(arena);
    enum { MOST = 400 };
    piece held[MOST];
    int count = 0;
    uint32_t seed = 1;
    for (int trial = 0; trial < 6000; trial++) {
        double what = uniform(&seed);
        if (what < 0.002) {
            mo_arena_reset(arena);
            count = 0;
        } else if ((what < 0.05 && count) || count == MOST) {
            int keep = (int)(uniform(&seed) * count);
            mo_arena_release(arena, held[keep].mark);
            count = keep;
        } else {
            // Mostly small ones, some larger than the chunk of a megabyte.
            double size = uniform(&seed);
            piece *p = &held[count++];
            p->bytes = size < 0.01    ? (size_t)(4e6 * uniform(&seed))
                       : size < 0.05  ? (size_t)(6e5 * uniform(&seed))
                       : size < 0.055 ? 0
                                      : (size_t)(3000 * uniform(&seed));
            p->mark = mo_arena_mark(arena), p->value = (uint8_t)trial;
            p->at = mo_arena_alloc(arena, p->bytes);
            assert_non_null(p->at);
            assert_int_equal((uintptr_t)p->at % 64, 0);
            memset(p->at, p->value, p->bytes);
        }
        if (trial % 50) continue;
        for (int i = 0; i < count; i++)
            for (size_t b = 0; b < held[i].bytes; b += 61) assert_int_equal(held[i].at[b], held[i].value);
    }
    mo_arena_destroy(arena);
    mo_arena_destroy(NULL);
    assert_int_equal(mo_memory_in_use(), start);
}

// The same requests after a reset take no new memory, whatever their order of sizes.
static void arena_reuses_its_memory(void **state)
{
    (void)state;
    mo_arena *arena = mo_arena_create();
    static const size_t rising[] = {100, 1 << 20, 3 << 20, 200, 5 << 20}, falling[] = {9 << 20, 5 << 20, 1 << 20, 100};
    int64_t settled = 0;
    for (int round = 0; round < 6; round++) {
        mo_arena_reset(arena);
        for (int i = 0; i < 5; i++) memset(mo_arena_alloc(arena, rising[i]), round, rising[i]);
        if (round == 1) assert_true(mo_memory_in_use() < settled); // one chunk for all of them
        if (round < 2) settled = mo_memory_in_use();
        assert_int_equal(mo_memory_in_use(), settled);
    }
    for (int round = 0; round < 6; round++) {
        mo_arena_reset(arena);
        for (int i = 0; i < 4; i++) memset(mo_arena_alloc(arena, falling[i]), round, falling[i]);
        if (round == 1) settled = mo_memory_in_use();
        if (round) assert_int_equal(mo_memory_in_use(), settled);
    }
    // A mark taken in one chunk survives excursions into others.
    mo_arena_reset(arena);
    uint8_t *first = mo_arena_alloc(arena, 64), *second = NULL;
    *first = 42;
    size_t mark = mo_arena_mark(arena);
    for (int round = 0; round < 4; round++) {
        memset(mo_arena_alloc(arena, (size_t)(round + 1) << 22), 0, (size_t)(round + 1) << 22);
        mo_arena_release(arena, mark);
        assert_int_equal(mo_arena_mark(arena), mark);
        uint8_t *next = mo_arena_alloc(arena, 64);
        assert_true(next >= first + 64 && (!round || next == second)); // under AddressSanitizer there is a gap
        second = next;
        mo_arena_release(arena, mark);
    }
    assert_int_equal(*first, 42);
    mo_arena_destroy(arena);
}

static void arena_refuses_the_impossible(void **state)
{
    (void)state;
    int64_t start = mo_memory_in_use();
    mo_arena *arena = mo_arena_create();
    assert_null(mo_arena_alloc(arena, SIZE_MAX));
    uint8_t *p = mo_arena_alloc(arena, 100);
    memset(p, 1, 100);
    for (int i = 0; i < 300; i += 7) assert_null(mo_arena_alloc(arena, SIZE_MAX - (size_t)i));
    assert_null(mo_arena_alloc(arena, SIZE_MAX / 2));
    uint8_t *q = mo_arena_alloc(arena, 100);
    assert_non_null(q);
    memset(q, 2, 100);
    assert_int_equal(p[99], 1);
    mo_arena_destroy(arena);
    // Failing at each call: nothing is lost.
    for (int64_t fail = 1; fail < 8; fail++) {
        hook h = {.fail_at = fail};
        mo_set_allocator(hooked, &h);
        arena = mo_arena_create();
        for (int i = 0; arena && i < 6; i++) {
            size_t bytes = (size_t)(i + 1) << 20;
            uint8_t *at = mo_arena_alloc(arena, bytes);
            if (at) memset(at, 0, bytes);
            if (i == 3) mo_arena_reset(arena);
        }
        mo_arena_destroy(arena);
        mo_set_allocator(NULL, NULL);
        assert_int_equal(h.live, 0);
    }
    assert_int_equal(mo_memory_in_use(), start);
}

// ---- Reproducible sums and sorts ----

static void sums_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const int64_t size[] = {0, 1, 3, 2047, 2048, 2049, 10000, 524288, 1000003};
    double *a = malloc(sizeof *a * 1000003), *b = malloc(sizeof *b * 1000003);
    uint32_t seed = 3;
    for (int i = 0; i < 1000003; i++) {
        a[i] = (uniform(&seed) - 0.5) * exp(20 * uniform(&seed));
        b[i] = uniform(&seed) - 0.3;
    }
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        int64_t n = size[k];
        double first[3] = {0}, exact[2] = {0}, scale[2] = {1e-300, 1e-300}, largest = 0;
        for (int64_t i = 0; i < n; i++) {
            exact[0] += a[i], exact[1] += a[i] * b[i];
            scale[0] += fabs(a[i]), scale[1] += fabs(a[i] * b[i]);
            largest = fmax(largest, fabs(a[i]));
        }
        for (int threads = 1; threads <= 4; threads++) {
            mo_use_threads(threads);
            double value[3] = {mo_sum(n, a), mo_dot_product(n, a, b), mo_max_abs(n, a)};
            if (threads == 1) memcpy(first, value, sizeof first);
            assert_memory_equal(first, value, sizeof first);
            assert_true(fabs(value[0] - exact[0]) <= 1e-12 * scale[0]);
            assert_true(fabs(value[1] - exact[1]) <= 1e-12 * scale[1]);
            assert_true(value[2] == largest);
        }
    }
    a[777777] = NAN;
    for (int threads = 1; threads <= 4; threads++) {
        mo_use_threads(threads);
        assert_true(isnan(mo_max_abs(1000003, a)) && isnan(mo_sum(1000003, a)));
        assert_false(isnan(mo_max_abs(777777, a)));
    }
    mo_use_threads(0);
    free(a), free(b);
}

static void sort_is_stable_for_any_threads(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        int32_t keys;
    } cases[] = {{0, 1}, {0, 5}, {1, 1}, {1000, 1}, {1000, 7}, {99999, 300}, {250000, 10}, {250000, 100000}};
    mo_arena *arena = mo_arena_create();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t n = cases[k].n;
        int32_t keys = cases[k].keys, *key = malloc(4 * (size_t)n + 4), *order = malloc(4 * (size_t)n + 4),
                *start = malloc(4 * (size_t)keys + 4), *seen = calloc((size_t)n + 1, 4);
        for (int64_t i = 0; i < n; i++) key[i] = (int32_t)(mo_hash((uint32_t)i, 2, 2) % (uint32_t)keys);
        for (int threads = 1; threads <= 4; threads++) {
            mo_use_threads(threads);
            void *held = mo_arena_alloc(arena, 100);
            size_t mark = mo_arena_mark(arena);
            assert_non_null(held);
            assert_true(mo_counting_sort(n, key, keys, start, order, arena));
            assert_int_equal(mo_arena_mark(arena), mark);
            assert_int_equal(start[0], 0);
            assert_int_equal(start[keys], n);
            memset(seen, 0, 4 * (size_t)n);
            for (int32_t c = 0; c < keys; c++)
                for (int32_t i = start[c]; i < start[c + 1]; i++) {
                    assert_int_equal(key[order[i]], c);
                    assert_int_equal(seen[order[i]]++, 0);
                    if (i > start[c]) assert_true(order[i] > order[i - 1]); // stable
                }
        }
        free(key), free(order), free(start), free(seen);
    }
    mo_use_threads(0);
    mo_arena_destroy(arena);
    int32_t count[6] = {3, 0, 5, 1, 0, 2};
    assert_int_equal(mo_prefix_sum(6, count), 11);
    assert_memory_equal(count, ((int32_t[6]){0, 3, 3, 8, 9, 9}), sizeof count);
    assert_int_equal(mo_prefix_sum(0, count), 0);
}

// ---- Rotations ----

static mo_vec3 random_vector(uint32_t *seed)
{
    return mo_v3(uniform(seed) - 0.5, uniform(seed) - 0.5, uniform(seed) - 0.5);
}

static bool near(mo_vec3 a, mo_vec3 b, double tolerance) { return mo_norm(mo_sub(a, b)) <= tolerance; }

static void quaternions_rotate(void **state)
{
    (void)state;
    uint32_t seed = 11;
    assert_true(
        near(mo_quat_rotate(mo_quat_axis_angle(mo_v3(0, 0, 2), 0.5 * M_PI), mo_v3(1, 0, 0)), mo_v3(0, 1, 0), 1e-15));
    for (int trial = 0; trial < 2000; trial++) {
        mo_vec3 axis = random_vector(&seed), x = random_vector(&seed), y = random_vector(&seed), n = mo_normalize(axis);
        double angle = (2 * uniform(&seed) - 1) * M_PI;
        mo_quat q = mo_quat_axis_angle(axis, angle);
        // Rodrigues.
        mo_vec3 expected = mo_add(mo_mad(mo_mul(cos(angle), x), sin(angle), mo_cross(n, x)),
                                  mo_mul((1 - cos(angle)) * mo_dot(n, x), n));
        assert_true(near(mo_quat_rotate(q, x), expected, 1e-14));
        mo_quat r = mo_quat_axis_angle(random_vector(&seed), 5 * uniform(&seed));
        assert_true(near(mo_quat_rotate(mo_quat_mul(q, r), x), mo_quat_rotate(q, mo_quat_rotate(r, x)), 1e-14));
        assert_true(near(mo_quat_rotate(mo_quat_conj(q), mo_quat_rotate(q, x)), x, 1e-14));
        mo_pose pose = {y, q};
        assert_true(near(mo_pose_to_body(pose, mo_pose_apply(pose, x)), x, 1e-14));
        assert_true(near(mo_pose_apply(pose, mo_v3(0, 0, 0)), y, 0));
    }
    mo_quat zero = mo_quat_normalize((mo_quat){0, 0, 0, 0});
    assert_true(zero.w == 1 && zero.x == 0 && zero.y == 0 && zero.z == 0);
    assert_true(near(mo_pose_apply(mo_pose_identity(), mo_v3(1, 2, 3)), mo_v3(1, 2, 3), 0));
}

// exp(difference(a, b)) a = b, for angles from rounding to half a turn, whatever the quaternions' signs.
static void difference_is_the_logarithm(void **state)
{
    (void)state;
    uint32_t seed = 21;
    for (int trial = 0; trial < 4000; trial++) {
        mo_quat a = mo_quat_axis_angle(random_vector(&seed), 6 * uniform(&seed));
        mo_vec3 axis = mo_normalize(random_vector(&seed));
        double angle = trial % 4 == 0 ? 1e-12 * uniform(&seed) : trial % 4 == 1 ? 1e-5 : 3.14 * uniform(&seed);
        mo_quat b = mo_quat_mul(mo_quat_axis_angle(axis, angle), a);
        if (trial & 8) b = (mo_quat){-b.w, -b.x, -b.y, -b.z};
        assert_true(near(mo_quat_difference(a, b), mo_mul(angle, axis), 1e-13));
    }
    mo_quat one = mo_quat_identity(), half = {0, 0, 1, 0};
    assert_true(near(mo_quat_difference(one, one), mo_v3(0, 0, 0), 0));
    assert_true(fabs(mo_norm(mo_quat_difference(one, half)) - M_PI) < 1e-15);
}

static void errors_fit_their_text(void **state)
{
    (void)state;
    mo_error err = {0};
    assert_int_equal(mo_fail(NULL, MO_ERROR_FILE, "%d", 1), MO_ERROR_FILE);
    assert_int_equal(mo_fail(&err, MO_ERROR_INPUT, "%s: %d", "place", 7), MO_ERROR_INPUT);
    assert_int_equal(err.status, MO_ERROR_INPUT);
    assert_string_equal(err.text, "place: 7");
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1), longer[sizeof longer - 1] = 0;
    mo_fail(&err, MO_ERROR_FAILED, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(mo_fail_memory(&err), MO_ERROR_MEMORY);
    assert_int_equal(err.status, MO_ERROR_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_counted),
        cmocka_unit_test(the_hook_sees_everything),
        cmocka_unit_test(large_blocks_do_not_overlap),
#if !MO_SANITIZED
        cmocka_unit_test(held_memory_is_kept),
#endif
        cmocka_unit_test(reserve_grows_and_keeps),
        cmocka_unit_test(arena_behaves_like_a_stack),
        cmocka_unit_test(arena_reuses_its_memory),
        cmocka_unit_test(arena_refuses_the_impossible),
        cmocka_unit_test(sums_do_not_depend_on_threads),
        cmocka_unit_test(sort_is_stable_for_any_threads),
        cmocka_unit_test(quaternions_rotate),
        cmocka_unit_test(difference_is_the_logarithm),
        cmocka_unit_test(errors_fit_their_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
