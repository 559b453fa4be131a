// Energy between particles and system: rest, free fall and rigid motion stay as they are; light faces go with their
// neighbours; particles gain no more than the system gave.
#include "fluid_test.h"
#include "fluid/balance.h"
#include "fluid/transfer.h"
#include <math.h>

typedef struct faces { // a blob of particles, its faces, and a balance over them
    liquid l;
    mo_balance b;
    float *u[3], *before[3], *particles[3], *system[3], *scratch[3];
    uint8_t *valid[3];
} faces;

static double ball(const double x[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++) sum += (x[a] - 10) * (x[a] - 10);
    return sqrt(sum) - 5;
}
static double disc(const double x[3]) { return hypot(x[0] - 10, x[1] - 10) - 6; }

// Masses of the particles from a transfer; the system's are half of them inside, and nearly nothing near the surface.
static void faces_create(faces *f, bool flat)
{
    *f = (faces){0};
    liquid *l = &f->l;
    liquid_create(l, 20, 20, flat ? 1 : 20);
    double lo[3] = {3, 3, 3}, hi[3] = {18, 18, 18};
    liquid_fill(l, lo, hi, 2, 0.5, flat ? disc : ball);
    liquid_sort(l);
    mo_balance *b = &f->b;
    b->grid = l->g, b->courant = 0.1f;
    b->given[0] = new_field(l), b->given[1] = new_field(l), b->light = new_bytes(l, 1);
    for (int a = 0; a < 3; a++) {
        f->u[a] = new_field(l), f->before[a] = new_field(l), f->particles[a] = new_field(l);
        f->system[a] = new_field(l), f->scratch[a] = new_field(l), f->valid[a] = new_bytes(l, 1);
        b->u[a] = f->u[a], b->before[a] = f->before[a], b->particles[a] = f->particles[a];
        b->system[a] = f->system[a], b->valid[a] = f->valid[a];
    }
    mo_faces all = {{f->u[0], f->u[1], f->u[2]}, {f->valid[0], f->valid[1], f->valid[2]}};
    mo_transfer_to_faces(&l->p, l->g, &all, f->particles);
    for (int a = 0; a < (flat ? 2 : 3); a++)
        for (int64_t i = 0; i < mo_grid_cells(l->g); i++) {
            float mp = f->particles[a][i];
            f->valid[a][i] = mp > 0.2f;
            f->system[a][i] = !f->valid[a][i] ? 0 : mp < 0.7f ? 0.01f + 0.1f * (float)uniform(l) : 1.2f;
        }
}

static void faces_destroy(faces *f)
{
    for (int a = 0; a < 3; a++) {
        free(f->u[a]), free(f->before[a]), free(f->particles[a]), free(f->system[a]), free(f->scratch[a]);
        free(f->valid[a]);
    }
    free(f->b.given[0]), free(f->b.given[1]), free(f->b.light);
    liquid_destroy(&f->l);
}

static void balance(faces *f)
{
    mo_arena_reset(f->l.arena);
    assert_int_equal(mo_balance_share(&f->b, f->l.arena, NULL), MO_OK);
    assert_int_equal(mo_balance_limit(&f->b, f->scratch, f->l.arena, NULL), MO_OK);
}

static double energy(const faces *f, float *const mass[3], float *const u[3])
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < mo_grid_cells(f->l.g); i++) sum += 0.5 * mass[a][i] * u[a][i] * u[a][i];
    return sum;
}

// A rigid motion of the faces, at a face of an axis.
static float rigid(const mo_grid *g, int32_t i, int axis)
{
    int32_t c[3];
    mo_grid_cell(g, i, c);
    mo_vec3 x = mo_v3(c[0] + 0.5 * (axis != 0) - 10, c[1] + 0.5 * (axis != 1) - 10, c[2] + 0.5 * (axis != 2) - 10);
    mo_vec3 v = mo_add(mo_v3(0.3, -0.2, 0.1), mo_cross(mo_v3(0.02, -0.03, 0.05), x));
    return (float)mo_get(v, axis);
}

// At rest the solve takes back what gravity gave; in free fall and in rigid motion it changes nothing.
static void rest_fall_and_rotation_stay(void **state)
{
    (void)state;
    const float kick[3] = {0.02f, -0.1f, 0};
    for (int flat = 0; flat < 2; flat++)
        for (int kind = 0; kind < 3; kind++) {
            faces f;
            faces_create(&f, flat);
            for (int a = 0; a < 3; a++) {
                f.b.kick[a] = kick[a];
                for (int32_t i = 0; i < (int32_t)mo_grid_cells(f.l.g); i++) {
                    f.before[a][i] = kick[a] + (kind == 2 ? rigid(f.l.g, i, a) : 0);
                    f.u[a][i] = kind == 0 ? 0 : f.before[a][i];
                }
            }
            balance(&f);
            assert_true(f.b.shared > (flat ? 20 : 100));
            assert_int_equal(f.b.limited, 0);
            for (int a = 0; a < 3; a++)
                for (int32_t i = 0; i < (int32_t)mo_grid_cells(f.l.g); i++)
                    assert_true(fabsf(f.u[a][i] - (kind == 0 ? 0 : f.before[a][i])) < 1e-7f);
            faces_destroy(&f);
        }
}

// Of a system as heavy as the particles all there is is taken; of one that is fatter the particles' part, but for a
// fifth. What the parts are is smooth: noise of single faces is not in them.
static void masses_are_those_of_particles(void **state)
{
    (void)state;
    static const double fat[] = {0.7, 1, 1.2, 2, 5, 100};
    for (int flat = 0; flat < 2; flat++) {
        faces f;
        faces_create(&f, flat);
        const float *particles[3] = {f.particles[0], f.particles[1], f.particles[2]};
        const float *system[3] = {f.system[0], f.system[1], f.system[2]};
        for (int k = 0; k < 6; k++) {
            double expected = fmin(fmax(1 / (0.8 * fat[k]), 0.05), 1), most = 0, least = 2;
            int32_t seen = 0;
            for (int a = 0; a < 3; a++)
                for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++)
                    f.system[a][i] = (float)fat[k] * f.particles[a][i] * (i % 2 ? 1.0f : 1.02f);
            mo_balance_masses(f.l.g, particles, system, f.scratch[0]);
            for (int a = 0; a < 3 - flat; a++)
                for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
                    if (!(f.system[a][i] > 0)) continue;
                    most = fmax(most, f.scratch[0][i]), least = fmin(least, f.scratch[0][i]), seen++;
                }
            assert_true(seen > 100 && most <= 1 && most < expected * 1.001 && least > expected * 0.98);
        }
        faces_destroy(&f);
    }
}

// Faces as heavy as their particles are left alone, whatever they do.
static void heavy_faces_are_left_alone(void **state)
{
    (void)state;
    faces f;
    faces_create(&f, false);
    float *copy[3];
    for (int a = 0; a < 3; a++) {
        copy[a] = new_field(&f.l);
        for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
            f.valid[a][i] = 1, f.system[a][i] = f.particles[a][i];
            copy[a][i] = f.u[a][i] = (float)uniform(&f.l), f.before[a][i] = (float)uniform(&f.l);
        }
    }
    balance(&f);
    assert_int_equal(f.b.shared + f.b.limited, 0);
    for (int a = 0; a < 3; a++) {
        assert_memory_equal(copy[a], f.u[a], sizeof(float) * (size_t)mo_grid_cells(f.l.g));
        free(copy[a]);
    }
    faces_destroy(&f);
}

// One light face among heavy ones keeps its change for the part of its mass that the system has, for the rest it takes
// its neighbours'.
static void a_light_face_goes_with_its_neighbours(void **state)
{
    (void)state;
    faces f;
    faces_create(&f, false);
    const mo_grid *g = f.l.g;
    int32_t middle = mo_grid_index(g, 10, 10, 10);
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < mo_grid_cells(g); i++) f.valid[a][i] = 1, f.system[a][i] = f.particles[a][i] = 1;
    float sum = 0;
    for (int a = 0; a < 3; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t n = mo_grid_step(g, middle, a, side);
            f.u[1][n] = (float)uniform(&f.l), sum += f.u[1][n];
        }
    f.system[1][middle] = 0.2f, f.u[1][middle] = -3;
    mo_arena_reset(f.l.arena);
    assert_int_equal(mo_balance_share(&f.b, f.l.arena, NULL), MO_OK);
    assert_int_equal(f.b.shared, 1);
    assert_true(fabsf(f.u[1][middle] - (0.25f * -3 + 0.75f * sum / 6)) < 1e-5f);
    faces_destroy(&f);
}

// Random impulses at every face, light ones answering wildly: without the balance particles gain several times what
// they had, with it no more than the system gave.
static void particles_gain_no_more_than_the_system_gave(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            faces f;
            faces_create(&f, flat);
            f.l.seed = 1000 * seed;
            for (int a = 0; a < (flat ? 2 : 3); a++)
                for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
                    f.before[a][i] = (float)(0.5 + uniform(&f.l));
                    float impulse = 0.4f * (float)(uniform(&f.l) - 0.5);
                    f.u[a][i] = f.before[a][i] + (f.system[a][i] > 0 ? impulse / f.system[a][i] : 0);
                }
            double before = energy(&f, f.particles, f.before), wild = energy(&f, f.particles, f.u);
            double given = energy(&f, f.system, f.u) - energy(&f, f.system, f.before);
            balance(&f);
            double after = energy(&f, f.particles, f.u);
            assert_true(wild - before > fmax(given, 0) + 0.1 * before);
            assert_true(after - before <= fmax(given, 0) + 2e-3 * before);
            assert_true(f.b.shared > 0);
            faces_destroy(&f);
        }
}

// Faces beyond the system, continued from it too fast: they give back what they would gain, but for the tolerance.
static void faces_beyond_the_system_gain_nothing(void **state)
{
    (void)state;
    for (int flat = 0; flat < 2; flat++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            faces f;
            faces_create(&f, flat);
            f.l.seed = 1000 * seed;
            for (int a = 0; a < (flat ? 2 : 3); a++)
                for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
                    f.valid[a][i] = f.particles[a][i] >= 0.7f;
                    f.u[a][i] = f.before[a][i] = (float)(0.5 + uniform(&f.l));
                }
            double before = energy(&f, f.particles, f.before);
            mo_arena_reset(f.l.arena);
            assert_int_equal(mo_balance_share(&f.b, f.l.arena, NULL), MO_OK);
            for (int a = 0; a < (flat ? 2 : 3); a++)
                for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++)
                    if (!f.valid[a][i]) f.valid[a][i] = 1, f.u[a][i] += 3 * (float)(uniform(&f.l) - 0.3);
            double wild = energy(&f, f.particles, f.u);
            assert_int_equal(mo_balance_limit(&f.b, f.scratch, f.l.arena, NULL), MO_OK);
            double after = energy(&f, f.particles, f.u);
            assert_true(f.b.limited > 0);
            assert_true(wild > 1.1 * before);
            assert_true(after <= before * (1 + 0.01 * 0.1 * 1.5));
            faces_destroy(&f);
        }
}

// Faces set by walls and emitters are not the balance's to change, and what they give is not held against the others.
static void set_faces_keep_their_velocity(void **state)
{
    (void)state;
    faces f;
    faces_create(&f, false);
    for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) f.before[1][i] = 1, f.u[1][i] = 1;
    mo_arena_reset(f.l.arena);
    assert_int_equal(mo_balance_share(&f.b, f.l.arena, NULL), MO_OK);
    for (int64_t i = 0; i < mo_grid_cells(f.l.g); i += 5) f.valid[1][i] = 2, f.u[1][i] = 4;
    assert_int_equal(mo_balance_limit(&f.b, f.scratch, f.l.arena, NULL), MO_OK);
    assert_int_equal(f.b.limited, 0);
    for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) assert_true(f.u[1][i] == (i % 5 ? 1 : 4));
    faces_destroy(&f);
}

// Liquid that lands stops at the floor's faces. What its particles lose there the system does not give: it makes no
// face beyond the system faster.
static void what_walls_take_covers_no_gain(void **state)
{
    (void)state;
    faces f;
    faces_create(&f, false);
    for (int a = 0; a < 2; a++)
        for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
            f.valid[a][i] = f.particles[a][i] >= 0.7f;
            f.u[a][i] = f.before[a][i] = a == 0 ? 1 : -3;
        }
    mo_arena_reset(f.l.arena);
    assert_int_equal(mo_balance_share(&f.b, f.l.arena, NULL), MO_OK);
    double before = energy(&f, f.particles, f.before), landed = 0;
    for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++) {
        if (!f.valid[0][i]) f.valid[0][i] = 1, f.u[0][i] = 3;
        if (!f.valid[1][i]) f.valid[1][i] = 2, f.u[1][i] = 0, landed += 4.5 * f.particles[1][i];
    }
    double wild = energy(&f, f.particles, f.u);
    assert_int_equal(mo_balance_limit(&f.b, f.scratch, f.l.arena, NULL), MO_OK);
    double after = energy(&f, f.particles, f.u);
    assert_true(wild > before - 0.5 * landed); // the gain is within what is lost by landing
    assert_true(f.b.limited > 0);
    assert_true(after <= before - landed + 0.01 * 0.1 * 3 * before); // but for the tolerance
    faces_destroy(&f);
}

// Liquid that a vessel takes along, turning as it goes, gains nothing relative to it; beside a vessel at rest the same
// change is limited where faces are light.
static void common_motion_with_a_vessel_stays(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        faces f;
        faces_create(&f, false);
        const mo_grid *g = f.l.g;
        mo_frame *frame = malloc(sizeof *frame * (size_t)g->tiles);
        for (int a = 0; a < 3; a++)
            for (int32_t t = 0; t < g->tiles; t++) {
                static const int step[3] = {1, 8, 64};
                int32_t first = t * MO_TILE_CELLS;
                frame[t].velocity[a] = rigid(g, first, a);
                for (int k = 0; k < 3; k++)
                    frame[t].gradient[a][k] = rigid(g, first + step[k], a) - frame[t].velocity[a];
            }
        if (moves) f.b.frame = frame;
        for (int a = 0; a < 3; a++)
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) f.u[a][i] = rigid(g, i, a), f.system[a][i] *= 0.4f;
        mo_arena_reset(f.l.arena);
        assert_int_equal(mo_balance_share(&f.b, f.l.arena, NULL), MO_OK);
        for (int a = 0; a < 3; a++)
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) f.u[a][i] = rigid(g, i, a);
        assert_int_equal(mo_balance_limit(&f.b, f.scratch, f.l.arena, NULL), MO_OK);
        assert_true(moves ? f.b.limited == 0 : f.b.limited > 100);
        for (int a = 0; a < 3 && moves; a++)
            for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) assert_true(f.u[a][i] == rigid(g, i, a));
        free(frame);
        faces_destroy(&f);
    }
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    float *first[3] = {NULL, NULL, NULL};
    for (int threads = 1; threads <= 4; threads++) {
        faces f;
        mo_use_threads(threads);
        faces_create(&f, false);
        for (int a = 0; a < 3; a++)
            for (int64_t i = 0; i < mo_grid_cells(f.l.g); i++)
                f.before[a][i] = (float)uniform(&f.l), f.u[a][i] = 3 * (float)uniform(&f.l);
        balance(&f);
        assert_true(f.b.limited > 0);
        for (int a = 0; a < 3; a++) {
            size_t bytes = sizeof(float) * (size_t)mo_grid_cells(f.l.g);
            if (threads == 1) first[a] = malloc(bytes), memcpy(first[a], f.u[a], bytes);
            assert_memory_equal(first[a], f.u[a], bytes);
        }
        faces_destroy(&f);
    }
    mo_use_threads(0);
    for (int a = 0; a < 3; a++) free(first[a]);
}

static void nothing_is_balanced_without_liquid(void **state)
{
    (void)state;
    liquid l;
    liquid_create(&l, 8, 8, 8);
    mo_balance b = {.grid = l.g};
    float *none[3] = {NULL, NULL, NULL};
    assert_int_equal(mo_balance_share(&b, l.arena, NULL), MO_OK);
    assert_int_equal(mo_balance_limit(&b, none, l.arena, NULL), MO_OK);
    assert_int_equal(b.shared + b.limited, 0);
    liquid_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_fall_and_rotation_stay),
        cmocka_unit_test(masses_are_those_of_particles),
        cmocka_unit_test(heavy_faces_are_left_alone),
        cmocka_unit_test(a_light_face_goes_with_its_neighbours),
        cmocka_unit_test(particles_gain_no_more_than_the_system_gave),
        cmocka_unit_test(faces_beyond_the_system_gain_nothing),
        cmocka_unit_test(set_faces_keep_their_velocity),
        cmocka_unit_test(what_walls_take_covers_no_gain),
        cmocka_unit_test(common_motion_with_a_vessel_stays),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(nothing_is_balanced_without_liquid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
