// Bodies that float in a surface inclined to the grid: they are lifted by the weight of the liquid that they displace,
// at its centroid (docs/math.md 3.3). So nothing pushes them along the surface or turns them, and they rest.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim/sim.h"
#include <math.h>

static const double gravity = 9.81, radius = 0.15;

typedef struct floater {
    bool flat, box;
    int32_t cells;
    double viscosity, degrees; // Pa s; of the surface
    double height, tilt;       // m above the surface, degrees against it
} floater;

static mo_vec3 up_of(const floater *f)
{
    double angle = f->degrees * M_PI / 180;
    return mo_v3(sin(angle), cos(angle), 0);
}

static mo_shape *replaced(mo_shape *made, mo_shape *old)
{
    assert_non_null(made);
    mo_shape_release(old);
    return made;
}

// Half as heavy as the liquid, a ball (2D: a disc) or a box, half immersed.
static mo_shape *shape_of(const floater *f)
{
    mo_vec3 up = up_of(f), at = mo_add(mo_v3(0.5, 0.5573, f->flat ? 0 : 0.5), mo_mul(f->height, up));
    mo_shape *s;
    if (f->box)
        s = mo_shape_box(mo_v3(2 * radius, 1.2 * radius, f->flat ? 1 : 2 * radius));
    else if (f->flat)
        s = mo_shape_cylinder(radius, 1), s = replaced(mo_shape_rotate(s, mo_v3(1, 0, 0), 90), s);
    else
        s = mo_shape_sphere(radius);
    s = replaced(mo_shape_rotate(s, mo_v3(0, 0, 1), f->tilt - f->degrees), s);
    return replaced(mo_shape_move(s, at), s);
}

static mo_sim *create(const floater *f)
{
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_solid_def solid = mo_solid_def_default();
    mo_vec3 up = up_of(f);
    mo_shape *water = mo_shape_plane(up, mo_dot(up, mo_v3(0.5, 0.5573, 0))), *body = shape_of(f);
    liquid.shape = water, liquid.viscosity = f->viscosity;
    solid.name = "body", solid.shape = body, solid.rigid = true, solid.density = 500;
    def.domain.size = mo_v3(1, 1, f->flat ? 0 : 1), def.domain.cells = f->cells;
    def.gravity = mo_mul(-gravity, up), def.time.fps = 100, def.threads = 1;
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &solid, def.solid_count = 1;
    mo_sim *sim;
    mo_error err;
    if (mo_sim_create(&def, &sim, &err) != MO_OK) fail_msg("%s", err.text);
    mo_shape_release(water), mo_shape_release(body);
    return sim;
}

static mo_stats step(mo_sim *sim)
{
    mo_stats stats;
    mo_error err;
    if (mo_sim_step(sim, &stats, &err) != MO_OK) fail_msg("%s", err.text);
    assert_int_equal(stats.reason, MO_REASON_CONVERGED);
    return stats;
}

typedef struct push { // the body's acceleration in the first step, over g; turns times the radius
    double heave, along, spin;
} push;

static push first_push(const floater *f)
{
    mo_sim *sim = create(f);
    mo_vec3 up = up_of(f);
    mo_body_state b;
    double unit = step(sim).dt * gravity;
    mo_sim_body(sim, 0, &b);
    mo_sim_destroy(sim);
    double heave = mo_dot(b.velocity, up);
    return (push){heave / unit, mo_norm(mo_sub(b.velocity, mo_mul(heave, up))) / unit,
                  b.angular_velocity.z * radius / unit};
}

// Without the attached liquid that undoes the excess of lift, the ball has 4e-4 along the surface and a spin of 7e-3
// here, the box 4e-3 and 1e-2. What is left of the box's spin is its true trim on the grid, which it turns to.
static void nothing_pushes_along_the_surface(void **state)
{
    (void)state;
    const double degrees[] = {17, 34};
    for (int k = 0; k < 16; k++) {
        floater f = {.flat = k & 1, .box = k & 2, .viscosity = k & 4 ? 0.001 : 0, .degrees = degrees[k >> 3]};
        f.cells = f.flat ? 32 : 16;
        push p = first_push(&f);
        print_message("%s %s, %g Pa s, %g degrees: heave %.1e, along %.1e, spin %.1e\n", f.flat ? "2D" : "3D",
                      f.box ? "box" : "ball", f.viscosity, f.degrees, p.heave, p.along, p.spin);
        assert_true(fabs(p.heave) < (f.box ? 1e-5 : 5e-4));
        assert_true(p.along < 1e-5);
        assert_true(fabs(p.spin) < (f.box ? 2e-4 : 1e-5));
    }
}

// Puts the body where the grid lets it float: its volume is not quite that of the grid.
static void settle(floater *f)
{
    const double higher = 1e-4, turned = 0.05;
    for (int round = 0; round < 4; round++) {
        floater h = *f, t = *f;
        h.height += higher, t.tilt += turned;
        push p = first_push(f), up = first_push(&h);
        double a = (up.heave - p.heave) / higher, c = (up.spin - p.spin) / higher;
        if (!f->box) {
            f->height -= p.heave / a;
            continue;
        }
        push turn = first_push(&t);
        double b = (turn.heave - p.heave) / turned, d = (turn.spin - p.spin) / turned, det = a * d - b * c;
        f->height -= (d * p.heave - b * p.spin) / det;
        f->tilt -= (a * p.spin - c * p.heave) / det;
    }
}

// From there, everything rests: largest rms speed of liquid and body in a second, without and with viscosity.
static void bodies_rest_in_inclined_surfaces(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        floater f = {.flat = true, .box = k & 1, .cells = 32, .viscosity = k & 2 ? 0.001 : 0, .degrees = 17};
        double most = 0;
        settle(&f);
        assert_true(fabs(f.height) * f.cells < 0.001 && fabs(f.tilt) < 0.01);
        mo_sim *sim = create(&f);
        for (int i = 0; i < 100; i++) {
            mo_stats s = step(sim);
            most = fmax(most, sqrt(2 * (s.kinetic_energy + s.body_kinetic_energy) / (1000 * s.volume_target)));
        }
        mo_sim_destroy(sim);
        print_message("%s, %g Pa s: %.1e m/s (rms)\n", f.box ? "box" : "disc", f.viscosity, most);
        assert_true(most < 3e-7);
    }
}

// Liquid that undoes an excess of lift falls with the body: both together fall freely.
static void bodies_and_liquid_fall_together(void **state)
{
    (void)state;
    mo_sim_def def = mo_sim_def_default();
    mo_liquid_def liquid = mo_liquid_def_default();
    mo_solid_def solid = mo_solid_def_default();
    mo_shape *drop = mo_shape_box(mo_v3(0.6, 0.4, 0.6)), *ball = mo_shape_sphere(radius);
    drop = replaced(mo_shape_rotate(drop, mo_v3(0, 0, 1), -17), drop);
    drop = replaced(mo_shape_move(drop, mo_v3(0.5, 1.4, 0.5)), drop);
    ball = replaced(mo_shape_move(ball, mo_v3(0.53, 1.6, 0.51)), ball);
    liquid.shape = drop;
    solid.name = "ball", solid.shape = ball, solid.rigid = true, solid.density = 300;
    def.domain.size = mo_v3(1, 2, 1), def.domain.cells = 16, def.time.fps = 100, def.threads = 1;
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &solid, def.solid_count = 1;
    mo_sim *sim;
    mo_error err;
    if (mo_sim_create(&def, &sim, &err) != MO_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 5; i++) {
        mo_stats s = step(sim);
        mo_body_state b;
        mo_sim_body(sim, 0, &b);
        assert_true(mo_norm(mo_sub(b.velocity, mo_v3(0, -gravity * s.time, 0))) < 1e-5 * gravity * s.time);
        assert_true(mo_norm(b.angular_velocity) < 1e-5);
    }
    mo_sim_destroy(sim);
    mo_shape_release(drop), mo_shape_release(ball);
}

// A ball is round about all axes, a cylinder about one, and a cube about none, although its moments are a ball's.
static void round_shapes_are_known(void **state)
{
    (void)state;
    mo_shape *shape[3] = {mo_shape_sphere(0.1), mo_shape_cylinder(0.1, 0.3), mo_shape_box(mo_v3(0.2, 0.2, 0.2))};
    for (int k = 0; k < 3; k++) {
        mo_solid s = {.radius = 0.3};
        mo_shape *turned = mo_shape_rotate(shape[k], mo_v3(1, 2, 3), 40);
        mo_error err;
        mo_rigid body;
        if (mo_rigid_create(turned, 1000, false, 0, "body", &body, &s.shape, &err) != MO_OK) fail_msg("%s", err.text);
        s.body = body;
        mo_sim_find_round_axes(&s, false);
        assert_int_equal(s.round_axes, k == 0 ? 3 : k == 1 ? 1 : 0);
        mo_shape_release(s.shape), mo_shape_release(turned), mo_shape_release(shape[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_pushes_along_the_surface),
        cmocka_unit_test(bodies_rest_in_inclined_surfaces),
        cmocka_unit_test(bodies_and_liquid_fall_together),
        cmocka_unit_test(round_shapes_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
