// A blob of liquid far from everything, without gravity: in rigid translation or rotation the velocity field has no
// divergence, so a step must leave the particles' velocities as they are.
//
// Translation keeps that up for ever. A rotation needs a centripetal pressure from the second step on, whose forces act
// on face masses that are not the particles', so momentum is kept to the accuracy of the grid only.
// Angular momentum is that of the particles' velocities; affine parts are not counted.
#include "validate.h"
#include "sim/sim.h"

static const mo_vec3 middle = {0.5, 0.5, 0.5}, drift = {0.31, -0.17, 0.23}, spin = {0.7, -0.4, 1.1};

typedef struct motion {
    const char *name;
    bool flat, turns, affine; // affine: particles start with their velocity gradients
} motion;

static mo_vec3 rigid(const motion *m, mo_vec3 x)
{
    mo_vec3 w = m->flat ? mo_v3(0, 0, 1.4) : spin, v = m->turns ? mo_cross(w, mo_sub(x, middle)) : drift;
    if (m->flat) v.z = 0;
    return v;
}

static mo_status velocity_at(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    (void)err;
    *velocity = rigid(user, x);
    return MO_OK;
}

// The gradient of the velocity, m/s per cell.
static void set_gradients(mo_sim *sim, const motion *m)
{
    mo_particles *p = &sim->particles;
    double h = sim->grid->dx;
    mo_vec3 at_middle = rigid(m, middle);
    for (int b = 0; b < 3; b++) {
        mo_vec3 x = middle;
        *(b == 0 ? &x.x : b == 1 ? &x.y : &x.z) += h;
        mo_vec3 difference = mo_sub(rigid(m, x), at_middle);
        for (int a = 0; a < 3; a++)
            for (int32_t q = 0; q < p->count; q++) p->c[a][b][q] = (float)mo_get(difference, a);
    }
}

typedef struct sums {
    mo_vec3 linear, angular;
    double speeds; // sum of m |v|: the scale of the linear momentum
} sums;

static sums momenta(const mo_sim *sim)
{
    snapshot s = take_snapshot(sim);
    sums m = {0};
    for (int64_t q = 0; q < s.count; q++) {
        mo_vec3 x = {s.x[3 * q], s.x[3 * q + 1], s.x[3 * q + 2]}, v = {s.v[3 * q], s.v[3 * q + 1], s.v[3 * q + 2]};
        double mass = 1000.0 * s.volume[q];
        m.linear = mo_mad(m.linear, mass, v);
        m.angular = mo_mad(m.angular, mass, mo_cross(mo_sub(x, middle), v));
        m.speeds += mass * mo_norm(v);
    }
    free_snapshot(&s);
    return m;
}

// Largest difference of the particles' velocities from the rigid motion at the place where they were before the step:
// the step gives a particle the velocity of the field there, then moves it.
static double change(const mo_sim *sim, const motion *m, double dt)
{
    snapshot s = take_snapshot(sim);
    double worst = 0;
    for (int64_t q = 0; q < s.count; q++) {
        mo_vec3 x = {s.x[3 * q], s.x[3 * q + 1], s.x[3 * q + 2]}, v = {s.v[3 * q], s.v[3 * q + 1], s.v[3 * q + 2]};
        // Back along the rigid motion.
        mo_vec3 w = m->flat ? mo_v3(0, 0, 1.4) : spin;
        mo_vec3 before =
            m->turns ? mo_add(middle, mo_quat_rotate(mo_quat_axis_angle(w, -dt * mo_norm(w)), mo_sub(x, middle))) : x;
        worst = fmax(worst, mo_norm(mo_sub(v, rigid(m, before))));
    }
    free_snapshot(&s);
    return worst;
}

static mo_sim *blob(const validation *v, const motion *m, int32_t cells)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(1, 1, m->flat ? 0 : 1);
    def.domain.cells = cells;
    def.gravity = mo_v3(0, 0, 0);
    def.threads = v->threads;
    def.time.fps = 100, def.time.seconds = 0.5;
    def.correct_volume = false; // it moves particles, so that velocities could not be compared where they are
    mo_shape *ball = checked(mo_shape_sphere(0.2)), *moved = checked(mo_shape_move(ball, middle));
    if (m->flat) {
        mo_shape *upright = checked(mo_shape_cylinder(0.2, 10)),
                 *lying = checked(mo_shape_rotate(upright, mo_v3(1, 0, 0), 90));
        mo_shape_release(moved);
        moved = checked(mo_shape_move(lying, middle));
        mo_shape_release(upright), mo_shape_release(lying);
    }
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = moved, liquid.velocity_fn = velocity_at, liquid.user = (void *)m;
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    if (m->affine) set_gradients(sim, m);
    mo_shape_release(ball), mo_shape_release(moved);
    return sim;
}

static void follow(validation *v, const motion *m, int32_t cells)
{
    mo_sim *sim = blob(v, m, cells);
    const char *d = m->flat ? "2D" : "3D";
    sums start = momenta(sim);
    double dt = step_sim(sim).dt, worst = change(sim, m, dt);
    if (m->affine)
        at_most(v, worst, 1e-6, "%s, %s: change of velocity in one step, m/s", d, m->name);
    else
        figure(worst, "%s, %s: change of velocity in one step, m/s", d, m->name);
    sums first = momenta(sim);
    while (!mo_sim_done(sim)) step_sim(sim);
    sums end = momenta(sim);
    double lost = mo_norm(mo_sub(end.linear, start.linear)) / start.speeds;
    if (!m->turns) {
        at_most(v, lost, 1e-5, "%s, %s: change of linear momentum in 0.5 s, relative", d, m->name);
    } else {
        figure(lost, "%s, %s: change of linear momentum in 0.5 s, relative", d, m->name);
        double scale = mo_norm(start.angular);
        figure(mo_norm(first.angular) / scale - 1, "%s, %s: angular momentum after a step, relative", d, m->name);
        figure(mo_norm(end.angular) / scale - 1, "%s, %s: angular momentum after 0.5 s, relative", d, m->name);
    }
    mo_sim_destroy(sim);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "A free blob in rigid motion");
    int32_t cells = v.cells ? v.cells : v.quick ? 24 : 40;
    for (int flat = 1; flat >= 0; flat--) {
        follow(&v, &(motion){"translation", flat, false, true}, cells);
        follow(&v, &(motion){"rotation", flat, true, true}, cells);
        follow(&v, &(motion){"rotation as seeded", flat, true, false}, cells);
    }
    return validation_end(&v);
}
