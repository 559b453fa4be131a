// Cloth that meets solids, other cloth and itself: nothing ever crosses, forces carry weights, friction holds.
#include "cloth_test.h"
#include "base/parallel.h"

static uint32_t seed;
static double uniform(double lo, double hi) { return lo + (hi - lo) * mo_unit(mo_hash(seed++, 29, 6)); }

// ---- An independent check ----

// Six times the volume; what only rounding makes of triangles in a plane is 0.
static double volume(mo_vec3 a, mo_vec3 b, mo_vec3 c, mo_vec3 d)
{
    mo_vec3 u = mo_sub(b, a), v = mo_sub(c, a), w = mo_sub(d, a);
    double volume = mo_dot(u, mo_cross(v, w));
    return fabs(volume) > 1e-12 * mo_norm(u) * mo_norm(v) * mo_norm(w) ? volume : 0;
}

// Whether the segment p, q meets the triangle, by signs of volumes.

static bool pierces(mo_vec3 p, mo_vec3 q, const mo_vec3 t[3])
{
    double a = volume(t[0], t[1], t[2], p), b = volume(t[0], t[1], t[2], q);
    if (!((a < 0 && b > 0) || (a > 0 && b < 0))) return false;
    double u = volume(p, q, t[0], t[1]), v = volume(p, q, t[1], t[2]), w = volume(p, q, t[2], t[0]);
    return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

static void corners_of(const mo_elastic *e, int32_t t, mo_vec3 x[3])
{
    for (int k = 0; k < 3; k++) x[k] = e->body.position[e->body.cloth->triangle[t][k]];
}

// Pairs of triangles that cross, of one cloth or of two, all against all.
static int32_t crossings(const mo_elastic *a, const mo_elastic *b)
{
    int32_t count = 0;
    for (int32_t i = 0; i < a->body.cloth->triangles; i++)
        for (int32_t j = a == b ? i + 1 : 0; j < b->body.cloth->triangles; j++) {
            mo_vec3 x[3], y[3];
            bool hit = false;
            corners_of(a, i, x), corners_of(b, j, y);
            for (int k = 0; k < 3 && !hit; k++) // edges that share a vertex with the triangle do not count
                for (int side = 0; side < 2 && !hit; side++) {
                    const int32_t *own = side ? b->body.cloth->triangle[j] : a->body.cloth->triangle[i],
                                  *other = side ? a->body.cloth->triangle[i] : b->body.cloth->triangle[j];
                    bool shared = false;
                    for (int c = 0; c < 3 && a == b; c++) shared |= own[k] == other[c] || own[(k + 1) % 3] == other[c];
                    const mo_vec3 *p = side ? y : x;
                    hit = !shared && pierces(p[k], p[(k + 1) % 3], side ? x : y);
                }
            count += hit;
        }
    return count;
}

// The deepest point of the triangles inside a shape, of a lattice of points on each.
static double deepest(const mo_elastic *e, const mo_shape *shape)
{
    enum { N = 6 };
    double least = INFINITY;
    for (int32_t t = 0; t < e->body.cloth->triangles; t++) {
        mo_vec3 x[3];
        corners_of(e, t, x);
        for (int i = 0; i <= N; i++)
            for (int k = 0; k + i <= N; k++) {
                mo_vec3 y =
                    mo_mad(mo_mad(mo_mul((N - i - k) / (double)N, x[0]), i / (double)N, x[1]), k / (double)N, x[2]);
                least = fmin(least, mo_shape_distance(shape, y));
            }
    }
    return least;
}

// ---- Drops ----

typedef struct outcome {
    int64_t impacts, zones, stopped;
    double deepest; // thicknesses, of anything in a solid
    int64_t self;   // contacts of cloth with itself or other cloth
} outcome;

// Leaves so few repeated solves that impacts remain.
static mo_status repeat_less(void *user, mo_sim *sim, mo_step_context *c, mo_error *err)
{
    (void)user, (void)sim, (void)err;
    c->solve.repeats = 5;
    return MO_OK;
}

static outcome drop_with(world *w, int32_t steps, mo_status (*inspect)(void *, mo_sim *, mo_step_context *, mo_error *))
{
    outcome out = {.deepest = INFINITY};
    mo_sim *sim = scene_create(&w->s);
    sim->inspect = inspect;
    for (int32_t k = 0; k < steps; k++) {
        mo_stats stats = sim_step(sim);
        out.impacts += stats.cloth.impacts, out.zones += stats.cloth.zones, out.stopped += stats.cloth.stopped;
        assert_true(stats.energy_error < 1e-2);
        for (int32_t i = 0; i < sim->contacts.count; i++)
            out.self += sim->contacts.contact[i].on[0].count && sim->contacts.contact[i].on[1].count;
        for (int32_t i = 0; i < sim->elastics.cloths; i++)
            for (int32_t j = i; j < sim->elastics.cloths; j++)
                assert_int_equal(crossings(world_body(sim, i), world_body(sim, j)), 0);
        for (int32_t i = 0; i < sim->elastics.cloths; i++)
            for (int32_t j = 0; j < w->s.def.solid_count; j++) {
                double d = deepest(world_body(sim, i), w->s.solid[j].shape);
                out.deepest = fmin(out.deepest, d / world_body(sim, i)->drape.thickness);
            }
    }
    mo_sim_destroy(sim);
    return out;
}

static outcome drop(world *w, int32_t steps) { return drop_with(w, steps, NULL); }

static void place(world *w, int k, mo_vec3 at)
{
    double angle = uniform(-0.6, 0.6), z = uniform(-1, 1), y = uniform(-1, 1), x = uniform(-1, 1);
    mo_sheet_rotate(&w->sheet[k], mo_v3(x, y, z), angle); // the same by any compiler
    mo_sheet_move(&w->sheet[k], at);
}

static void tell(const char *what, int trial, const outcome *o)
{
    print_message("%s %d: %lld contacts of cloth with cloth, %lld impacts, %lld zones, %lld stops, nearest to a solid "
                  "%.3f thicknesses\n",
                  what, trial, (long long)o->self, (long long)o->impacts, (long long)o->zones, (long long)o->stopped,
                  o->deepest);
}

static void on_a_ball(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2; trial++) {
        world w;
        seed = (uint32_t)(100 * trial);
        world_start(&w, 16);
        world_cloth(&w, "cloth", 0.5, 0.07)->velocity = mo_v3(0, -2, 0);
        place(&w, 0, mo_v3(0.5, 0.62, 0.5));
        scene_solid(&w.s, "ball", ball_at(0.5, 0.22, 0.5, 0.15), NULL);
        outcome o = drop(&w, 16);
        tell("ball", trial, &o);
        assert_true(o.deepest > 0);
        world_end(&w);
    }
}

// Tilts at which impacts were left after three solves. Cloth that then went half of its way was compressed on it: it
// had 5.7, 19 and 1.4% more energy than its account. Now it goes as far as energy allows, and with eight solves none of
// sixty such drops stops.
static void stopping_adds_no_energy(void **state)
{
    static const struct {
        uint32_t seed;
        bool reverse;
    } of[] = {{100, true}, {400, false}, {2000, false}};
    (void)state;
    for (int trial = 0; trial < 3; trial++)
        for (int stops = 0; stops < 2; stops++) {
            world w;
            seed = of[trial].seed;
            world_start(&w, 16);
            world_cloth(&w, "cloth", 0.5, 0.07)->velocity = mo_v3(0, -2, 0);
            if (of[trial].reverse) {
                double x = uniform(-1, 1), y = uniform(-1, 1), z = uniform(-1, 1);
                mo_sheet_rotate(&w.sheet[0], mo_v3(x, y, z), uniform(-0.6, 0.6));
                mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.62, 0.5));
            } else {
                place(&w, 0, mo_v3(0.5, 0.62, 0.5));
            }
            scene_solid(&w.s, "ball", ball_at(0.5, 0.22, 0.5, 0.15), NULL);
            outcome o = drop_with(&w, 12, stops ? repeat_less : NULL);
            tell(stops ? "stopped" : "not stopped", trial, &o);
            assert_true(stops ? o.stopped > 0 : o.stopped == 0);
            assert_true(o.deepest > 0);
            world_end(&w);
        }
}

static void on_the_edge_of_a_box(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2; trial++) {
        world w;
        seed = (uint32_t)(100 * trial + 7);
        world_start(&w, 16);
        world_cloth(&w, "cloth", 0.5, 0.07)->velocity = mo_v3(0, -2, 0);
        place(&w, 0, mo_v3(0.5, 0.75, 0.5));
        scene_solid(&w.s, "box", box_between(0.3, -1, 0.45, 0.6, 0.4, 0.8), NULL);
        outcome o = drop(&w, 16);
        tell("box", trial, &o);
        assert_true(o.deepest > 0);
        world_end(&w);
    }
}

// A sheet bent double comes down on the floor, upright, so that it folds up.
static void folded(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2; trial++) {
        world w;
        seed = (uint32_t)(100 * trial + 11);
        world_start(&w, 16);
        mo_cloth_def *d = world_cloth(&w, "cloth", 0.5, 0.08);
        d->velocity = mo_v3(0, -1.5, 0);
        mo_sheet_rotate(&w.sheet[0], mo_v3(0, 0, 1), 1.4 + 0.1 * trial);
        mo_sheet_move(&w.sheet[0], mo_v3(0.5, 0.28, 0.5));
        outcome o = drop(&w, 12);
        tell("fold", trial, &o);
        assert_true(o.self > 0);
        world_end(&w);
    }
}

static void on_another(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2; trial++) {
        world w;
        seed = (uint32_t)(100 * trial + 23);
        world_start(&w, 16);
        world_cloth(&w, "lower", 0.4, 0.09);
        place(&w, 0, mo_v3(0.5, 0.45, 0.5));
        world_cloth(&w, "upper", 0.4, 0.08)->velocity = mo_v3(0, -2, 0);
        place(&w, 1, mo_v3(0.48, 0.8, 0.5));
        scene_solid(&w.s, "ball", ball_at(0.5, 0.15, 0.5, 0.1), NULL);
        outcome o = drop(&w, 16);
        tell("two", trial, &o);
        assert_true(o.self > 0);
        assert_true(o.deepest > 0);
        world_end(&w);
    }
}

// ---- Forces ----

// Cloth at rest on a slope: it stays while the slope is less steep than friction, and slides beyond.
static void friction_holds(void **state)
{
    (void)state;
    for (int slides = 0; slides < 2; slides++) {
        world w;
        world_start(&w, 16);
        double slope = slides ? 0.5 : 0.25; // its tangent; friction 0.36
        mo_cloth_def *d = world_cloth(&w, "cloth", 0.3, 0.1);
        mo_vec3 normal = mo_normalize(mo_v3(-slope, 1, 0));
        d->friction = 0.36;
        mo_sheet_rotate(&w.sheet[0], mo_v3(0, 0, 1), atan(slope));
        mo_sheet_move(&w.sheet[0], mo_mad(mo_v3(0.5, 0.5, 0.5), 0.002, normal));
        mo_shape *plane = mo_shape_plane(normal, mo_dot(normal, mo_v3(0.5, 0.5, 0.5)));
        scene_solid(&w.s, "slope", plane, NULL)->friction = 0.36;
        w.s.def.domain.contact = false;
        mo_sim *sim = scene_create(&w.s);
        mo_stats stats = {0};
        for (int k = 0; k < 15; k++) stats = sim_step(sim);
        double speed = mo_norm(world_body(sim, 0)->body.velocity[5]), c = 1 / sqrt(1 + slope * slope);
        double slid = 9.81 * c * (slope - 0.36) * stats.time;
        print_message("slope %g: %g m/s, law %g\n", slope, speed, fmax(slid, 0));
        near(speed, fmax(slid, 0), slides ? 0.05 * slid : 1e-3);
        mo_sim_destroy(sim);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_ball),
        cmocka_unit_test(stopping_adds_no_energy),
        cmocka_unit_test(on_the_edge_of_a_box),
        cmocka_unit_test(folded),
        cmocka_unit_test(on_another),
        cmocka_unit_test(friction_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
