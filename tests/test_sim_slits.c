// Bodies that stand on the floor, on a solid or on each other in liquid: what is under them presses too. Light ones
// rise, heavy ones feel the weight of what they displace, and liquid follows them without a change of its volume.
#include "sim_test.h"

static mo_solid_def *scene_rigid(scene *s, const char *name, mo_shape *shape, double density)
{
    mo_solid_def *o = scene_solid(s, name, shape, NULL);
    o->rigid = true, o->density = density;
    return o;
}

// A tank of 1 x 0.6 m, 20 cells wide.
static void tank_start(scene *s, double depth, double level, double viscosity)
{
    scene_start(s, 20, depth);
    s->def.domain.size.y = 0.6, s->def.time.fps = 25;
    scene_liquid(s, box_between(-1, -1, -1, 2, level, 2))->viscosity = viscosity;
}

typedef struct outcome {
    mo_body_state body;
    double volume, energy; // worst of all steps
} outcome;

static outcome run(scene *s, double seconds, int32_t body)
{
    outcome o = {0};
    mo_sim *sim = scene_create(s);
    while (mo_sim_time(sim) < seconds - 1e-9) {
        mo_stats stats = sim_step(sim);
        o.volume = fmax(o.volume, fabs(stats.volume_error)), o.energy = fmax(o.energy, stats.energy_error);
    }
    mo_sim_body(sim, body, &o.body);
    mo_sim_destroy(sim);
    scene_end(s);
    return o;
}

static void heavy_bodies_feel_what_they_displace(void **state)
{
    (void)state;
    static const char *const name[] = {"box", "box off the grid", "ball", "box on a shelf", "turned box"};
    for (int viscous = 0; viscous < 2; viscous++)
        for (int which = 0; which < 5; which++) {
            scene s;
            double volume = 0.2 * 0.2 * 0.2, ratio;
            tank_start(&s, 0.6, 0.4, viscous ? 0.01 : 0);
            mo_shape *shape = NULL;
            if (which == 0) shape = box_between(0.4, 0, 0.2, 0.6, 0.2, 0.4);
            if (which == 1) shape = box_between(0.413, 0, 0.192, 0.613, 0.2, 0.392);
            if (which == 2) shape = ball_at(0.5, 0.11, 0.3, 0.11), volume = 4 * M_PI / 3 * pow(0.11, 3);
            if (which == 3) {
                scene_solid(&s, "shelf", box_between(0.2, 0.06, 0.1, 0.8, 0.12, 0.5), NULL);
                shape = box_between(0.413, 0.12, 0.192, 0.613, 0.32, 0.392);
            }
            if (which == 4) {
                mo_shape *box = mo_shape_box(mo_v3(0.2, 0.2, 0.2)), *turned = mo_shape_rotate(box, mo_v3(0, 1, 0), 33);
                shape = mo_shape_move(turned, mo_v3(0.5, 0.1, 0.3));
                mo_shape_release(box), mo_shape_release(turned);
            }
            scene_rigid(&s, "stone", shape, 2500);
            outcome o = run(&s, 0.8, which == 3 ? 1 : 0);
            ratio = o.body.force.y / (1000 * 9.81 * volume);
            print_message("%s, %s: %.4f of the displaced weight, volume %.2f%%\n", name[which],
                          viscous ? "viscous" : "inviscid", ratio, 100 * o.volume);
            assert_true(ratio > 0.97 && ratio < 1.03);
            assert_true(o.volume < 0.01 && o.energy < 0.01);
        }
}

// From the floor to where it floats, with its bottom on the floor, a little above it and overlapping it.
static void light_bodies_rise(void **state)
{
    (void)state;
    static const double gap[] = {0, -0.1, 0.1, 0.25}, viscosity[] = {0, 0.001};
    for (int k = 0; k < 4; k++)
        for (int v = 0; v < 2; v++)
            for (int flat = k > 0; flat < 2; flat++) { // what differs with the gap shows in 2D
                scene s;
                double low = gap[k] * 0.05;
                tank_start(&s, flat ? 0 : 0.6, 0.3, viscosity[v]);
                scene_rigid(&s, "crate", box_between(0.38, low, flat ? -1 : 0.21, 0.62, low + 0.15, flat ? 1 : 0.43),
                            500);
                outcome o = run(&s, 1.2, 0);
                print_message("gap %g, %g Pa s, %dD: at %.3f m, volume %.2f%%, energy %.2f%%\n", gap[k], viscosity[v],
                              flat ? 2 : 3, o.body.pose.position.y, 100 * o.volume, 100 * o.energy);
                assert_true(o.body.pose.position.y > 0.2); // it floats at 0.3 and heaves
                assert_true(o.volume < 0.01 && o.energy < 0.015);
            }
}

// A crate stands in a film that does not reach its middle: the liquid that there is, is not increased.
static void films_stay_what_they_are(void **state)
{
    (void)state;
    for (int viscous = 0; viscous < 2; viscous++) {
        scene s;
        tank_start(&s, 0.6, 0.06, viscous ? 0.001 : 0);
        scene_rigid(&s, "crate", box_between(0.2, 0, 0.1, 0.8, 0.1, 0.5), 100); // rises by less than the film
        outcome o = run(&s, 0.8, 0);
        print_message("film: crate at %.4f m, volume %.2f%%\n", o.body.pose.position.y, 100 * o.volume);
        assert_true(o.volume < 0.03);
    }
}

// A slab falls flat onto the floor of the tank and stays there: liquid leaves the gap.
static void gaps_close(void **state)
{
    (void)state;
    for (int viscous = 0; viscous < 2; viscous++) {
        scene s;
        tank_start(&s, 0, 0.4, viscous ? 0.001 : 0);
        scene_rigid(&s, "slab", box_between(0.3, 0.12, -1, 0.7, 0.22, 1), 4000);
        outcome o = run(&s, 1.6, 0);
        print_message("slab at %.4f m, force %.2f of the displaced weight, volume %.2f%%\n", o.body.pose.position.y,
                      o.body.force.y / (1000 * 9.81 * 0.04 * 0.05), 100 * o.volume);
        assert_true(fabs(o.body.pose.position.y - 0.05) < 0.5 * 0.05);
        assert_true(o.volume < 0.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heavy_bodies_feel_what_they_displace),
        cmocka_unit_test(light_bodies_rise),
        cmocka_unit_test(films_stay_what_they_are),
        cmocka_unit_test(gaps_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
