// Cloth in liquid through whole steps: pools of cloth hold water, cloth sinks, floats and lies on a ball; nothing
// passes.
#include "shell_world.h"
#include <math.h>
#include <stdlib.h>

typedef struct tank { // a world whose sheet is cloth
    world w;
    mo_cloth_def cloth;
    mo_pin_def pin;
    mo_shape *rim;
} tank;

static void start(tank *t, int32_t cells)
{
    memset(t, 0, sizeof *t);
    world_start(&t->w, cells);
    t->w.def.shell_count = 0, t->w.def.time.fps = 100;
    t->cloth = mo_cloth_def_default();
    t->cloth.name = "cloth", t->cloth.sheet = &t->w.sheet, t->cloth.damping = 5e-3;
    t->w.def.cloths = &t->cloth, t->w.def.cloth_count = 1;
}

static void finish(tank *t, mo_sim *sim)
{
    world_end(&t->w, sim);
    if (t->rim) mo_shape_release(t->rim);
}

static void pin_above(tank *t, double y)
{
    t->rim = moved(mo_shape_box(mo_v3(2, 1, 2)), mo_v3(0.5, y + 0.5, 0.5));
    t->pin = (mo_pin_def){.where = t->rim};
    t->cloth.pins = &t->pin, t->cloth.pin_count = 1;
}

static mo_vec3 particle(const mo_sim *sim, int32_t q)
{
    const mo_particles *p = &sim->particles;
    return mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]);
}

// Particles with cloth straight above them.
static int32_t count_below(const mo_sim *sim)
{
    int32_t count = 0;
    for (int32_t q = 0; q < sim->particles.count; q++) {
        mo_vec3 x = particle(sim, q);
        count += mo_sim_shell_between(sim, x, mo_v3(x.x, 1.5, x.z));
    }
    return count;
}

static double weight_of_water(const mo_sim *sim) { return 9.81 * mo_sim_liquid_sums(sim).mass; }

typedef struct worst {
    double energy, volume, stretch, speed;
    int32_t iterations, rounds;
    int64_t impacts, stopped, fallbacks;
} worst;

static void note(const mo_stats *s, worst *w)
{
    w->energy = fmax(w->energy, s->energy_error), w->volume = fmax(w->volume, fabs(s->volume_error));
    w->stretch = fmax(w->stretch, s->cloth.stretch), w->speed = fmax(w->speed, s->max_speed);
    w->iterations = s->iterations > w->iterations ? s->iterations : w->iterations;
    w->rounds = s->rounds > w->rounds ? s->rounds : w->rounds;
    w->impacts += s->cloth.impacts, w->stopped += s->cloth.stopped, w->fallbacks += s->fallbacks;
}

static void tell(const char *what, const worst *w)
{
    print_message(
        "%s: energy error %.2g, volume error %.2g, stretch %.3g, fastest %.3g m/s, %d iterations in %d rounds, "
        "%lld impacts, %lld stopped, %lld fallbacks\n",
        what, w->energy, w->volume, w->stretch, w->speed, w->iterations, w->rounds, (long long)w->impacts,
        (long long)w->stopped, (long long)w->fallbacks);
}

// A bowl of cloth that hangs from its rim, full of water up to `depth` above its bottom.
static void bowl(tank *t, int32_t cells, double radius, double depth, double stretch)
{
    start(t, cells);
    assert_int_equal(mo_sheet_hemisphere(radius, 1.0 / cells, &t->w.sheet, &err), MO_OK);
    mo_sheet_move(&t->w.sheet, mo_v3(0.5, 0.7, 0.5));
    t->cloth.stretch = stretch;
    pin_above(t, 0.7 - 0.1 / cells);
    mo_shape *ball = moved(mo_shape_sphere(radius), mo_v3(0.5, 0.7, 0.5)),
             *slab = moved(mo_shape_box(mo_v3(1, depth, 1)), mo_v3(0.5, 0.7 - radius + 0.5 * depth, 0.5));
    add_liquid(&t->w, mo_shape_intersect(ball, slab));
    mo_shape_release(ball), mo_shape_release(slab);
}

// The pins carry the weight of water and cloth.
static void a_bowl_of_cloth_holds_water(void **state)
{
    (void)state;
    tank t;
    worst w = {0};
    bowl(&t, 16, 0.27, 0.2, 20000);
    mo_sim *sim = world_create(&t.w);
    double pins = 0, pushes = 0;
    int32_t steps = 60, last = 20;
    for (int i = 0; i < steps; i++) {
        mo_stats s = step(sim);
        mo_cloth_state c;
        mo_sim_cloth(sim, 0, &c);
        note(&s, &w);
        assert_int_equal(count_below(sim), 0);
        if (i >= steps - last) pins += c.held.y / last, pushes -= c.force.y / last;
    }
    mo_cloth_state c;
    mo_sim_cloth(sim, 0, &c);
    double water = weight_of_water(sim), all = water + 9.81 * c.mass;
    tell("bowl", &w);
    print_message("pins carry %.4f of the weight of %.2f N, the water presses with %.4f of its own\n", pins / all, all,
                  pushes / water);
    assert_true(fabs(pins / all - 1) < 0.01 && fabs(pushes / water - 1) < 0.01);
    assert_true(w.energy < 0.01 && w.volume < 0.01 && w.stretch < 0.1 && w.fallbacks == 0);
    finish(&t, sim);
}

// The volume of water whose particles have cloth straight above them, over all.
static double part_below(const mo_sim *sim) { return (double)count_below(sim) / sim->particles.count; }

// A square of heavy cloth sinks in water, slowly because of what it drags along. What it sinks through passes round its
// border.
static void heavy_cloth_sinks(void **state)
{
    (void)state;
    tank t;
    worst w = {0};
    start(&t, 16);
    assert_int_equal(mo_sheet_plate(0.5, 0.5, 1.0 / 16, &t.w.sheet, &err), MO_OK);
    mo_sheet_rotate(&t.w.sheet, mo_v3(0, 1, 0), 0.3), mo_sheet_move(&t.w.sheet, mo_v3(0.5, 0.37, 0.5));
    t.cloth.density = 20;
    add_liquid(&t.w, moved(mo_shape_box(mo_v3(1, 0.5, 1)), mo_v3(0.5, 0.25, 0.5)));
    mo_sim *sim = world_create(&t.w);
    mo_cloth_state c;
    double below = part_below(sim);
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        mo_sim_cloth(sim, 0, &c);
        note(&s, &w);
    }
    tell("heavy cloth", &w);
    print_message("sank to %.3f m, %.3f of the water was below it at first, now %.3f\n", c.centre.y, below,
                  part_below(sim));
    assert_true(c.centre.y < 0.3 && c.velocity.y < -0.2);
    assert_true(w.energy < 0.01 && w.volume < 0.02 && w.stretch < 0.1 && w.stopped == 0);
    finish(&t, sim);
}

// A square of light cloth falls on water and stays there.
static void light_cloth_floats(void **state)
{
    (void)state;
    tank t;
    worst w = {0};
    start(&t, 16);
    assert_int_equal(mo_sheet_plate(0.5, 0.5, 1.0 / 16, &t.w.sheet, &err), MO_OK);
    mo_sheet_rotate(&t.w.sheet, mo_v3(0, 1, 0), 0.3), mo_sheet_move(&t.w.sheet, mo_v3(0.5, 0.42, 0.5));
    t.cloth.density = 0.2;
    add_liquid(&t.w, moved(mo_shape_box(mo_v3(1, 0.35, 1)), mo_v3(0.5, 0.175, 0.5)));
    mo_sim *sim = world_create(&t.w);
    mo_cloth_state c;
    for (int i = 0; i < 60; i++) {
        mo_stats s = step(sim);
        mo_sim_cloth(sim, 0, &c);
        note(&s, &w);
    }
    tell("light cloth", &w);
    assert_true(fabs(c.centre.y - 0.35) < 0.5 / 16);
    assert_true(w.energy < 0.01 && w.volume < 0.02 && w.stretch < 0.1 && w.stopped == 0);
    finish(&t, sim);
}

// Water falls on a cloth that lies on a ball.
static void cloth_on_a_ball_gets_wet(void **state)
{
    (void)state;
    tank t;
    worst w = {0};
    start(&t, 16);
    assert_int_equal(mo_sheet_plate(0.6, 0.6, 1.0 / 16, &t.w.sheet, &err), MO_OK);
    mo_sheet_rotate(&t.w.sheet, mo_v3(0, 1, 0), 0.3), mo_sheet_move(&t.w.sheet, mo_v3(0.5, 0.48, 0.5));
    t.w.solid = mo_solid_def_default();
    t.w.solid.name = "ball", t.w.solid.shape = moved(mo_shape_sphere(0.2), mo_v3(0.5, 0.25, 0.5));
    t.w.def.solids = &t.w.solid, t.w.def.solid_count = 1;
    add_liquid(&t.w, moved(mo_shape_sphere(0.12), mo_v3(0.5, 0.7, 0.52)));
    mo_sim *sim = world_create(&t.w);
    for (int i = 0; i < 24; i++) {
        mo_stats s = step(sim);
        note(&s, &w);
    }
    tell("cloth on a ball", &w);
    assert_true(w.energy < 0.01 && w.volume < 0.03 && w.stretch < 0.2);
    finish(&t, sim);
}

// Stops the cloth halfway, as impacts may, and lets the liquid follow.
static mo_status halve(void *user, mo_sim *sim, mo_step_context *c, bool *again, mo_error *e)
{
    mo_system *y = &c->assemble.liquid.system;
    mo_block *p = y->block[MO_BLOCK_PRESSURE];
    double *r = malloc(sizeof(double) * (size_t)p->rows), *most = user;
    (void)again;
    for (int32_t i = 0; i < y->nodes.count; i++) y->nodes.velocity[i] *= 0.5;
    mo_block_residual(y, p, r);
    for (int32_t i = 0; i < p->rows; i++) most[0] = fmax(most[0], fabs(r[i]));
    mo_status status = mo_sim_liquid_follows(sim, c, e);
    mo_block_residual(y, p, r);
    for (int32_t i = 0; i < p->rows; i++) most[1] = fmax(most[1], fabs(r[i]));
    free(r);
    return status;
}

static void liquid_follows_cloth_that_stops(void **state)
{
    (void)state;
    tank t;
    double most[2] = {0, 0};
    bowl(&t, 12, 0.27, 0.2, 5000);
    mo_sim *sim = world_create(&t.w);
    sim->review = halve, sim->review_user = most;
    for (int k = 0; k < 3; k++) step(sim);
    print_message("divergence %.2g beside stopped cloth, %.2g once the liquid follows\n", most[0], most[1]);
    assert_true(most[0] > 0.1 && most[1] < 1e-4 * most[0]);
    finish(&t, sim);
}

// A run that was stopped and loaded goes on as one that was not, bit by bit, and with any number of threads.
static void a_state_holds_wet_cloth(void **state)
{
    (void)state;
    tank t;
    void *data, *a, *b;
    size_t bytes, more;
    bowl(&t, 12, 0.27, 0.2, 5000);
    t.w.def.threads = 1;
    mo_sim *sim = world_create(&t.w);
    t.w.def.threads = 2;
    mo_sim *other = world_create(&t.w);
    for (int k = 0; k < 3; k++) step(sim);
    assert_int_equal(mo_sim_save(sim, &data, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_load(other, data, bytes, &err), MO_OK);
    for (int k = 0; k < 3; k++) step(sim), step(other);
    mo_free(data);
    assert_int_equal(mo_sim_save(sim, &a, &bytes, &err), MO_OK);
    assert_int_equal(mo_sim_save(other, &b, &more, &err), MO_OK);
    assert_int_equal(bytes, more);
    assert_memory_equal(a, b, bytes);
    mo_free(a), mo_free(b);
    mo_sim_destroy(other);
    finish(&t, sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bowl_of_cloth_holds_water), cmocka_unit_test(heavy_cloth_sinks),
        cmocka_unit_test(light_cloth_floats),          cmocka_unit_test(cloth_on_a_ball_gets_wet),
        cmocka_unit_test(a_state_holds_wet_cloth),     cmocka_unit_test(liquid_follows_cloth_that_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
