// Isosurface stuffing: angles within the proven bounds, closed boundaries, volumes that converge, the same mesh for any
// number of threads, and errors that tell an element that fits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/parallel.h"
#include "geometry/mesh.h"
#include "geometry/shape_node.h"
#include "geometry/stuffing.h"
#include "geometry/tets.h"
#include "ration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mesh_shape(const mo_shape *s, double element, bool flat, mo_tets *t)
{
    mo_error err;
    if (mo_tets_from_shape(s, element, flat, t, &err) != MO_OK) fail_msg("%s", err.text);
    const char *fault = mo_tets_fault(t);
    if (fault) fail_msg("%s", fault);
}

// Every edge of the boundary belongs to two triangles, in opposite directions; 2D: every vertex ends one edge and
// begins another.
static void assert_closed(const mo_tets *t)
{
    int32_t *faces, count;
    mo_error err;
    if (mo_tets_boundary(t, &faces, &count, &err) != MO_OK) fail_msg("%s", err.text);
    if (t->dimension == 3) {
        mo_mesh m = {t->vertex_count, count, NULL, NULL, faces, NULL};
        if (mo_mesh_check_closed(&m, "boundary", &err) != MO_OK) fail_msg("%s", err.text);
    } else {
        int32_t *uses = calloc((size_t)t->vertex_count, 2 * sizeof *uses);
        for (int32_t i = 0; i < 2 * count; i++) uses[2 * faces[i] + i % 2]++;
        for (int32_t v = 0; v < t->vertex_count; v++) {
            assert_int_equal(uses[2 * v], uses[2 * v + 1]);
            assert_true(uses[2 * v] <= 1);
        }
        free(uses);
    }
    mo_free(faces);
}

static void assert_angles(const mo_tets *t)
{
    mo_tets_quality q;
    assert_int_equal(mo_tets_measure(t, NULL, &q, NULL), MO_OK);
    double least = t->dimension == 3 ? 10.78 : 15.4, most = t->dimension == 3 ? 164.75 : 120.001;
    if (!(q.smallest_angle >= least && q.largest_angle <= most))
        fail_msg("angles %g .. %g, must be within %g .. %g", q.smallest_angle, q.largest_angle, least, most);
}

// ---- Random shapes ----

static double any(uint32_t seed, uint32_t i, double lo, double hi)
{
    return lo + (hi - lo) * mo_unit(mo_hash(seed, i, 4711));
}

static mo_shape *primitive(uint32_t seed)
{
    double size = any(seed, 1, 0.25, 0.6), other = any(seed, 2, 0.25, 0.6);
    switch (mo_hash(seed, 0, 1) % 4) {
    case 0: return mo_shape_sphere(size);
    case 1: return mo_shape_ellipsoid(mo_v3(size, other, any(seed, 3, 0.25, 0.6)));
    case 2: return mo_shape_capsule(size, 2 * size + other);
    default: return mo_shape_torus(size + 0.2, 0.5 * other + 0.1);
    }
}

static mo_shape *placed(uint32_t seed)
{
    mo_shape *s = primitive(seed);
    mo_shape *turned = mo_shape_rotate(s, mo_v3(any(seed, 4, -1, 1), any(seed, 5, -1, 1), 1), any(seed, 6, 0, 360));
    mo_shape *moved = mo_shape_move(turned, mo_v3(any(seed, 7, -.5, .5), any(seed, 8, -.5, .5), any(seed, 9, -.5, .5)));
    mo_shape_release(s);
    mo_shape_release(turned);
    return moved;
}

// One to three round primitives, blended.
static mo_shape *random_shape(uint32_t seed)
{
    mo_shape *s = placed(3 * seed);
    for (uint32_t i = 1; i <= seed % 3; i++) {
        mo_shape *next = placed(3 * seed + i), *both = mo_shape_smooth_union(s, next, 0.3);
        mo_shape_release(s);
        mo_shape_release(next);
        s = both;
    }
    return s;
}

static void assert_on_surface(const mo_tets *t, const mo_shape *s, double element)
{
    int32_t *faces, count;
    assert_int_equal(mo_tets_boundary(t, &faces, &count, NULL), MO_OK);
    for (int32_t i = 0; i < t->dimension * count; i++)
        assert_true(fabs(mo_shape_distance(s, mo_tets_position(t, faces[i]))) < 1e-6 * element);
    mo_free(faces);
}

static void check_random(uint32_t seed, double element, bool flat, int32_t *pinched)
{
    mo_shape *s = random_shape(seed);
    mo_tets raw;
    mo_stuffing_outcome outcome;
    assert_int_equal(mo_stuff(s, element, flat, &outcome, &raw, NULL), MO_OK);
    if (outcome == MO_STUFFED) {
        int32_t before = raw.element_count;
        assert_on_surface(&raw, s, element);
        assert_int_equal(mo_tets_unpinch(&raw, NULL), MO_OK);
        *pinched += raw.element_count < before;
        assert_angles(&raw);
        assert_closed(&raw);
        assert_null(mo_tets_fault(&raw));
        mo_tets_destroy(&raw);
    } else {
        assert_true(flat && outcome == MO_STUFFED_NOTHING); // the plane may miss it
    }
    mo_shape_release(s);
}

static void random_shapes_have_good_angles(void **state)
{
    (void)state;
    int32_t pinched = 0, pinched_2d = 0;
    for (uint32_t seed = 0; seed < 600; seed++) check_random(seed, 0.12 + 0.04 * (seed % 5), false, &pinched);
    for (uint32_t seed = 0; seed < 400; seed++) check_random(seed + 5000, 0.05 + 0.01 * (seed % 7), true, &pinched_2d);
    assert_true(pinched < 30 && pinched_2d < 10); // of the coarsest
}

// Random samples with random cuts in all directions: every label of neighbours turns up, and nothing is smooth.
static mo_shape *noise(uint32_t seed, double fill)
{
    enum { N = 9 };
    mo_shape *s = mo_shape_new(&mo_shape_lattice, NULL, NULL);
    mo_distance_lattice *l = &s->lattice;
    *l = (mo_distance_lattice){.origin = {-4, -4, -4}, .spacing = 1, .n = {N, N, N}, .box = {{-4, -4, -4}, {4, 4, 4}}};
    l->sample = mo_alloc(sizeof(float) * N * N * N);
    for (int i = 0; i < N * N * N; i++) {
        int c[3] = {i % N, i / N % N, i / N / N};
        bool border = false;
        for (int a = 0; a < 3; a++) border = border || c[a] == 0 || c[a] == N - 1;
        l->sample[i] = border ? 0.5f : (float)(mo_unit(mo_hash((uint32_t)i, seed, 3)) - fill);
    }
    return mo_shape_finish(s);
}

static void noise_has_good_angles(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++) {
        mo_shape *s = noise(seed, 0.2 + 0.01 * seed);
        mo_tets t;
        for (int flat = 0; flat < 2; flat++) {
            mo_stuffing_outcome outcome;
            assert_int_equal(mo_stuff(s, flat ? 0.6 : 0.8, flat, &outcome, &t, NULL), MO_OK);
            if (outcome != MO_STUFFED) continue;
            assert_angles(&t);
            assert_null(mo_tets_fault(&t));
            assert_int_equal(mo_tets_unpinch(&t, NULL), MO_OK);
            if (t.element_count > 0) assert_closed(&t);
            mo_tets_destroy(&t);
        }
        mo_shape_release(s);
    }
}

// ---- All extreme cases ----

// One simplex of the lattice with any labels: its points on the surface are where they were, or as far along any edge
// as points move; cuts are as near to either end as they come, or in the middle.
typedef struct extremes {
    mo_stuffing s;
    int32_t at[4][3], first_cut[4], moved[4];
    int8_t label[4];
    uint8_t cut_mask[4];
    mo_stuffing_cut cut[8];
    double least, most;
    int64_t elements;
} extremes;

// The cuts of case `choice`, in the order of points and directions. Returns whether there is one.
static bool place_cuts(extremes *x, int32_t choice)
{
    mo_stuffing *s = &x->s;
    s->cut_count = 0;
    for (int32_t p = 0; p < s->count && p < 4; p++) {
        x->cut_mask[p] = 0;
        x->first_cut[p] = (int32_t)s->cut_count;
        for (int d = 0; d < s->directions; d++) {
            const int32_t *e = s->direction[d], *c = s->at[p];
            int32_t q = mo_stuffing_find(s, c[0] + e[0], c[1] + e[1], c[2] + e[2]);
            if (q < 0 || x->label[p] * x->label[q] >= 0) continue;
            double fraction[3] = {s->warp[d], 0.5, 1 - s->warp[d]};
            x->cut_mask[p] |= (uint8_t)(1 << d);
            x->cut[s->cut_count++] = (mo_stuffing_cut){p, d, fraction[choice % 3]};
            choice /= 3;
        }
    }
    return choice == 0;
}

// The moves of case `choice`. False if there is none, or two points would move to the same cut.
static bool place_moves(extremes *x, int32_t choice)
{
    mo_stuffing *s = &x->s;
    int32_t target[4] = {-1, -1, -1, -1}, next = (int32_t)s->cut_count;
    for (int32_t p = 0; p < s->count; p++) {
        x->moved[p] = -1;
        if (x->label[p] != 0) continue;
        int32_t way = choice % (2 * s->directions + 1) - 1, d = way / 2, sign = way % 2 ? -1 : 1;
        choice /= 2 * s->directions + 1;
        if (way < 0) continue;
        const int32_t *e = s->direction[d], *c = s->at[p];
        target[p] = mo_stuffing_find(s, c[0] + sign * e[0], c[1] + sign * e[1], c[2] + sign * e[2]);
        if (target[p] >= 0 && target[p] < p && target[target[p]] == p) return false;
        x->cut[next] = (mo_stuffing_cut){p, d, sign * s->warp[d]};
        x->moved[p] = next++;
    }
    return choice == 0;
}

static void measure_case(extremes *x)
{
    mo_stuffing *s = &x->s;
    s->element_count = 0;
    if (s->dimension == 2)
        mo_stuffing_triangles(s);
    else
        mo_stuffing_tetrahedra(s);
    int32_t corners = s->dimension + 1;
    for (int64_t i = 0; i < s->element_count; i += corners) {
        double position[12];
        for (int32_t k = 0; k < corners; k++) {
            mo_vec3 v = mo_stuffing_position(s, s->element[i + k]);
            position[3 * k] = v.x, position[3 * k + 1] = v.y, position[3 * k + 2] = v.z;
        }
        int32_t element[4] = {0, 1, 2, 3};
        mo_tets t = {s->dimension, corners, 1, position, element};
        mo_tets_quality q;
        assert_int_equal(mo_tets_measure(&t, NULL, &q, NULL), MO_OK);
        assert_true(q.volume > 0);
        x->least = fmin(x->least, q.smallest_angle);
        x->most = fmax(x->most, q.largest_angle);
        x->elements++;
    }
}

static void measure_simplex(extremes *x)
{
    mo_stuffing *s = &x->s;
    mo_stuffing_index(s);
    for (int32_t labels = 0; labels < (s->dimension == 2 ? 27 : 81); labels++) {
        for (int32_t p = 0, rest = labels; p < s->count; p++, rest /= 3) x->label[p] = (int8_t)(rest % 3 - 1);
        for (int32_t cuts = 0; cuts < 81; cuts++) {
            if (!place_cuts(x, cuts)) break;
            for (int32_t moves = 0; moves < 3375; moves++)
                if (place_moves(x, moves)) measure_case(x);
        }
    }
    mo_free(s->table);
}

static void extreme_cases_keep_the_bounds(void **state)
{
    (void)state;
    static const int32_t simplex[2][2][4][3] = {
        {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 0, 0}, {0, 1, 0}, {-1, 1, 0}}},
        {{{0, 0, 0}, {2, 0, 0}, {1, 1, 1}, {1, -1, 1}}, {{0, 0, 0}, {0, 2, 0}, {1, 1, 1}, {1, 1, -1}}}};
    static const double bounds[2][2] = {{15.4586, 120}, {10.784, 164.7373}};
    for (int dimension = 2; dimension <= 3; dimension++) {
        extremes x = {.least = 180};
        x.s = (mo_stuffing){.dimension = dimension, .count = dimension + 1, .enough = true, .at = x.at};
        x.s.label = x.label, x.s.cut_mask = x.cut_mask, x.s.first_cut = x.first_cut;
        x.s.cut = x.cut, x.s.moved = x.moved;
        mo_stuffing_make_lattice(&x.s, 1);
        for (int i = 0; i < 2; i++) { // and its mirror image
            memcpy(x.at, simplex[dimension - 2][i], sizeof x.at);
            measure_simplex(&x);
        }
        mo_free(x.s.element);
        assert_true(x.elements > (dimension == 2 ? 200 : 50000));
        assert_true(fabs(x.least - bounds[dimension - 2][0]) < 0.001 &&
                    fabs(x.most - bounds[dimension - 2][1]) < 0.001);
    }
}

// ---- Known shapes ----

// The error of the volume at an element, as a part: the mean over balls at several places of the lattice.
static double volume_error(double element, bool flat)
{
    enum { PLACES = 4 };
    double sum = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        mo_shape *ball = mo_shape_ellipsoid(mo_v3(0.5, 0.5 + 0.01 * i, 0.5)); // about another lattice in 2D
        mo_shape *s = mo_shape_rotate(ball, mo_v3(1, 2, 3), 30.0 * i);
        double exact = M_PI / 6 * (1 + 0.02 * i);
        mo_tets t;
        mo_tets_quality q;
        mesh_shape(flat ? ball : s, element, flat, &t);
        assert_int_equal(mo_tets_measure(&t, NULL, &q, NULL), MO_OK);
        sum += fabs(q.volume / (flat ? 1.5 * exact : exact) - 1);
        assert_angles(&t);
        assert_closed(&t);
        mo_tets_destroy(&t);
        mo_shape_release(ball);
        mo_shape_release(s);
    }
    return sum / PLACES;
}

static void volumes_converge(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++) {
        double coarse = flat ? 0.1 : 0.2, first = volume_error(coarse, flat), last = volume_error(coarse / 4, flat);
        double order = log2(first / last) / 2;
        if (!(order >= 1.8 && order < 2.3)) fail_msg("%dD: order %g (errors %g, %g)", 3 - flat, order, first, last);
    }
}

// Vertices - edges + triangles of the boundary.
static int32_t euler(const mo_tets *t)
{
    int32_t *faces, count, used = 0;
    assert_int_equal(mo_tets_boundary(t, &faces, &count, NULL), MO_OK);
    bool *seen = calloc((size_t)t->vertex_count, 1);
    for (int32_t i = 0; i < 3 * count; i++) used += !seen[faces[i]], seen[faces[i]] = true;
    free(seen);
    mo_free(faces);
    return used - count / 2;
}

static void shapes_keep_topology_and_volume(void **state)
{
    (void)state;
    enum { SHAPES = 7 };
    mo_shape *s[SHAPES] = {
        mo_shape_sphere(1),    mo_shape_torus(1, 0.3),      mo_shape_bowl(1, 0.3),   mo_shape_hollow_sphere(1, 0.4),
        mo_shape_cone(1, 1.7), mo_shape_cylinder(0.5, 1.5), mo_shape_capsule(0.4, 2)};
    static const int32_t expected[SHAPES] = {2, 0, 2, 4, 2, 2, 2};
    for (int i = 0; i < SHAPES; i++) {
        mo_tets t;
        mo_tets_quality q;
        mesh_shape(s[i], 0.1, false, &t);
        assert_closed(&t);
        assert_angles(&t);
        assert_on_surface(&t, s[i], 0.1);
        assert_int_equal(euler(&t), expected[i]);
        assert_int_equal(mo_tets_measure(&t, s[i], &q, NULL), MO_OK);
        assert_true(fabs(q.volume_error) < 0.02);
        mo_tets_destroy(&t);
        mo_shape_release(s[i]);
    }
}

// The mesh of a moved shape is the moved mesh.
static void motion_does_not_matter(void **state)
{
    (void)state;
    mo_shape *s = mo_shape_rabbit(1), *turned = mo_shape_rotate(s, mo_v3(1, 2, 3), 77);
    mo_shape *moved = mo_shape_move(turned, mo_v3(3, -2, 5));
    mo_tets a, b;
    mesh_shape(s, 0.08, false, &a);
    mesh_shape(moved, 0.08, false, &b);
    assert_int_equal(a.vertex_count, b.vertex_count);
    assert_int_equal(a.element_count, b.element_count);
    assert_memory_equal(a.element, b.element, 16 * (size_t)a.element_count);
    mo_pose motion = {{3, -2, 5}, mo_quat_axis_angle(mo_v3(1, 2, 3), 77 * M_PI / 180)};
    for (int32_t v = 0; v < a.vertex_count; v++) {
        mo_vec3 x = mo_pose_apply(motion, mo_tets_position(&a, v));
        assert_true(mo_norm(mo_sub(x, mo_tets_position(&b, v))) < 1e-12);
    }
    mo_tets_destroy(&a);
    mo_tets_destroy(&b);
    mo_shape_release(s);
    mo_shape_release(turned);
    mo_shape_release(moved);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    mo_shape *s = mo_shape_rabbit(1);
    mo_tets first = {0};
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        mo_use_threads(threads);
        mo_tets t;
        mesh_shape(s, 0.07, false, &t);
        if (threads == 1) {
            first = t;
            continue;
        }
        assert_int_equal(t.vertex_count, first.vertex_count);
        assert_int_equal(t.element_count, first.element_count);
        assert_memory_equal(t.position, first.position, 24 * (size_t)t.vertex_count);
        assert_memory_equal(t.element, first.element, 16 * (size_t)t.element_count);
        mo_tets_destroy(&t);
    }
    mo_use_threads(0);
    mo_tets_destroy(&first);
    mo_shape_release(s);
}

// ---- Errors ----

// The text must name an element that fits.
static void expect_hint(const mo_shape *s, double element, bool flat, const char *word)
{
    mo_tets t;
    mo_error err;
    assert_int_equal(mo_tets_from_shape(s, element, flat, &t, &err), MO_ERROR_INPUT);
    assert_null(t.element);
    if (!strstr(err.text, word)) fail_msg("'%s' is not in: %s", word, err.text);
    const char *hint = strrchr(err.text, ';');
    assert_non_null(hint);
    double fits = strtod(hint + 1, NULL);
    if (mo_tets_from_shape(s, fits, flat, &t, &err) != MO_OK) fail_msg("%g: %s", fits, err.text);
    assert_true(t.element_count > 0 && t.vertex_count <= MO_TETS_MAX_VERTICES);
    mo_tets_destroy(&t);
}

static void expect_refusal(const mo_shape *s, double element, bool flat, const char *word)
{
    mo_tets t;
    mo_error err;
    int64_t before = mo_memory_in_use();
    assert_int_equal(mo_tets_from_shape(s, element, flat, &t, &err), MO_ERROR_INPUT);
    assert_int_equal(mo_memory_in_use(), before);
    if (!strstr(err.text, word)) fail_msg("'%s' is not in: %s", word, err.text);
}

static void errors_tell_what_fits(void **state)
{
    (void)state;
    mo_shape *ball = mo_shape_sphere(0.5), *box = mo_shape_box(mo_v3(1, 2, 3)),
             *plane = mo_shape_plane(mo_v3(0, 1, 0), 0);
    mo_shape *thin = mo_shape_hollow_sphere(0.5, 0.02), *nothing = mo_shape_difference(ball, ball);
    mo_memory_reset_peak();
    expect_hint(ball, 1e-3, false, "more than 200000 vertices");
    expect_hint(ball, 1e-9, true, "more than 200000 vertices");
    expect_hint(box, 1e-3, false, "more than 200000 vertices");
    expect_hint(box, 1e-12, true, "more than 200000 vertices");
    assert_true(mo_memory_peak() < 400000000);
    expect_hint(ball, 3, false, "no element of 3 m fits");
    expect_hint(ball, 1e6, true, "no element of 1e+06 m fits");
    expect_hint(thin, 0.5, false, "no element of 0.5 m fits");
    expect_refusal(plane, 0.1, false, "no finite bounds");
    expect_refusal(nothing, 0.1, false, "empty");
    expect_refusal(ball, 0, false, "element must be > 0, got 0");
    expect_refusal(ball, NAN, false, "element must be > 0");
    expect_refusal(NULL, 1, false, "no shape");
    mo_shape_release(ball);
    mo_shape_release(box);
    mo_shape_release(plane);
    mo_shape_release(thin);
    mo_shape_release(nothing);
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    mo_use_threads(1);
    bool done = false;
    int64_t count = 0;
    for (; !done; count++) {
        ration r = {.for_good = true};
        mo_set_allocator(rationed, &r);
        int64_t before = mo_memory_in_use();
        mo_shape *s = noise(3, 0.5);
        r.fail_at = r.calls + count + 1;
        mo_tets t;
        mo_status status = mo_tets_from_shape(s, 1, false, &t, NULL);
        assert_true(status == MO_OK || status == MO_ERROR_MEMORY);
        done = status == MO_OK;
        mo_tets_destroy(&t);
        mo_shape_release(s);
        assert_int_equal(mo_memory_in_use(), before);
    }
    assert_true(count > 20);
    mo_set_allocator(NULL, NULL);
    mo_use_threads(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_shapes_have_good_angles),
        cmocka_unit_test(noise_has_good_angles),
        cmocka_unit_test(extreme_cases_keep_the_bounds),
        cmocka_unit_test(volumes_converge),
        cmocka_unit_test(shapes_keep_topology_and_volume),
        cmocka_unit_test(motion_does_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(errors_tell_what_fits),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
