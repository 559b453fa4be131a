// A box and a ball of any density in liquids of any viscosity: 1 s each on a coarse grid, and nothing may break.
//
// Both start at rest under water, with densities of 1e-3 to 1e3 times the liquid's. Required of every run: it ends;
// kinetic and potential energy together never grow by more than 2% of what the bodies can do, the larger of weight
// and lift times their depth; solids overlap by less than half a cell; light bodies rise and heavy ones sink; where the
// viscosity lets them get there within the second, light ones have surfaced and heavy ones rest on the floor. Limits
// are on the worst of all densities.
#include "validate.h"
#include "base/vec.h"

enum { CELLS = 24, BODIES = 2 };
static const double level = 0.5, gravity = 9.81, density = 1000, start = 0.27;
static const double box_width = 0.22, box_height = 0.16, ball_radius = 0.1, tank_depth = 0.5;

typedef struct outcome {
    bool finished;
    double fastest;                  // of the bodies, m/s
    double energy;                   // most that kinetic and potential energy grew, over the bodies' work
    double overlap;                  // cells
    double y[BODIES], speed[BODIES]; // at the end, m, m/s
    double level;                    // that the liquid would have with both bodies out of it
    double iterations;               // per step
} outcome;

static mo_shape *moved(mo_shape *shape, mo_vec3 by)
{
    mo_shape *m = checked(mo_shape_move(checked(shape), by));
    mo_shape_release(shape);
    return m;
}

// A cylinder along z, so that every slice is the same.
static mo_shape *disc(void)
{
    mo_shape *c = checked(mo_shape_cylinder(ball_radius, 1)), *t = mo_shape_rotate(c, mo_v3(1, 0, 0), 90);
    mo_shape_release(c);
    return t;
}

static double liquid_potential(const mo_sim *sim)
{
    snapshot s = take_snapshot(sim);
    double sum = 0;
    for (int64_t q = 0; q < s.count; q++) sum += (double)s.volume[q] * s.x[3 * q + 1];
    free_snapshot(&s);
    return density * gravity * sum;
}

// Adds to the kinetic energy, notes where the bodies are and how fast.
static double bodies_potential(const mo_sim *sim, bool flat, double *kinetic, outcome *o)
{
    double potential = 0;
    for (int32_t i = 0; i < BODIES; i++) {
        mo_body_state b;
        mo_sim_body(sim, i, &b);
        double speed = mo_norm(b.velocity), turn = mo_norm(b.angular_velocity);
        // Squared radius of gyration; of the box about z: turning about other axes is counted a little too high.
        double k2 = i == 1 ? (flat ? 0.5 : 0.4) * ball_radius * ball_radius
                           : (box_height * box_height + box_width * box_width) / 12;
        *kinetic += 0.5 * b.mass * (speed * speed + k2 * turn * turn);
        potential += b.mass * gravity * b.pose.position.y;
        o->fastest = fmax(o->fastest, speed), o->y[i] = b.pose.position.y, o->speed[i] = speed;
    }
    return potential;
}

static outcome run(const validation *v, bool flat, double ratio, double viscosity)
{
    outcome o = {0};
    mo_sim_def def = mo_sim_def_default();
    double dx = 1.0 / CELLS, z = flat ? 0 : 0.5 * tank_depth;
    def.domain.size = mo_v3(1, 1, flat ? 0 : tank_depth), def.domain.cells = CELLS;
    def.threads = v->threads, def.gravity = mo_v3(0, -gravity, 0), def.time.seconds = 1;
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = checked(mo_shape_plane(mo_v3(0, 1, 0), level));
    liquid.viscosity = viscosity, liquid.density = density;
    mo_solid_def body[BODIES] = {mo_solid_def_default(), mo_solid_def_default()};
    body[0].name = "box", body[1].name = "ball";
    body[0].shape = moved(mo_shape_box(mo_v3(box_width, box_height, box_width)), mo_v3(0.3, start, z));
    body[1].shape = moved(flat ? disc() : mo_shape_sphere(ball_radius), mo_v3(0.7, start, z));
    for (int i = 0; i < BODIES; i++) body[i].rigid = true, body[i].density = ratio * density;
    def.liquids = &liquid, def.liquid_count = 1, def.solids = body, def.solid_count = BODIES;
    mo_sim *sim = create_sim(&def);
    double first = 0, most = 0;
    int steps = 0;
    mo_status status = MO_OK;
    while (status == MO_OK && !mo_sim_done(sim)) {
        mo_stats stats;
        mo_error err;
        status = mo_sim_step(sim, &stats, &err);
        if (status != MO_OK) {
            printf("    %s\n", err.text);
            break;
        }
        double kinetic = stats.kinetic_energy;
        double energy = liquid_potential(sim) + bodies_potential(sim, flat, &kinetic, &o) + kinetic;
        if (steps == 0) first = energy; // the first correction moves the new particles more than any later one
        most = fmax(most, energy - first);
        o.overlap = fmax(o.overlap, stats.max_penetration / dx);
        o.iterations += stats.iterations, steps++;
    }
    double volume = (flat ? dx : 1) * (box_width * box_height * (flat ? 1 : box_width)) +
                    (flat ? dx * M_PI * ball_radius * ball_radius : 4.0 / 3 * M_PI * pow(ball_radius, 3));
    double work = density * volume * gravity * fmax(1, fabs(ratio - 1)) * (level - start);
    o.finished = status == MO_OK, o.energy = most / work, o.iterations /= steps;
    o.level = level - volume / (flat ? dx : tank_depth);
    mo_sim_destroy(sim);
    mo_shape_release(liquid.shape);
    for (int i = 0; i < BODIES; i++) mo_shape_release(body[i].shape);
    return o;
}

typedef struct worst { // over all densities
    int failed;
    double energy, overlap, fastest, iterations;
    double way;   // least way in the right direction, m
    double sunk;  // of light bodies: how far the centre is below the depth at which the body is just covered, cells
    double above; // of heavy bodies: how far above its place on the floor, cells
    double hurry; // their speed there, m/s
} worst;

static void include(worst *w, const outcome *o, double ratio)
{
    static const double half[BODIES] = {0.5 * box_height, ball_radius};
    w->failed += !o->finished;
    w->energy = fmax(w->energy, o->energy), w->overlap = fmax(w->overlap, o->overlap);
    w->fastest = fmax(w->fastest, o->fastest), w->iterations = fmax(w->iterations, o->iterations);
    for (int i = 0; i < BODIES && ratio != 1; i++) {
        w->way = fmin(w->way, ratio < 1 ? o->y[i] - start : start - o->y[i]);
        if (ratio < 1) w->sunk = fmax(w->sunk, (o->level - half[i] - o->y[i]) * CELLS);
        if (ratio > 1)
            w->above = fmax(w->above, fabs(o->y[i] - half[i]) * CELLS), w->hurry = fmax(w->hurry, o->speed[i]);
    }
}

// Every `stride`-th power of ten.
static void check(validation *v, bool flat, double viscosity, int stride)
{
    worst w = {.way = INFINITY, .sunk = -INFINITY};
    char name[60];
    snprintf(name, sizeof name, "%s, %g Pa s", flat ? "2D" : "3D", viscosity);
    for (int k = -3; k <= 3; k += stride) {
        outcome o = run(v, flat, pow(10, k), viscosity);
        include(&w, &o, pow(10, k));
    }
    at_most(v, w.failed, 0, "%s: runs that failed", name);
    at_most(v, 100 * w.energy, 2, "%s: growth of kinetic and potential energy, %%", name);
    at_most(v, w.overlap, 0.5, "%s: overlap of solids, cells", name);
    between(v, 1000 * w.way, 1e-3, 1000, "%s: least way up or down, mm", name);
    figure(w.fastest, "%s: fastest body, m/s", name);
    figure(w.iterations, "%s: most iterations per step", name);
    if (viscosity > 1) return;
    at_most(v, w.sunk, 0, "%s: light bodies deeper than just covered by, cells", name);
    at_most(v, w.above, 0.5, "%s: heavy bodies above or below their place on the floor, cells", name);
    at_most(v, w.hurry, 0.1, "%s: speed of heavy bodies at the end, m/s", name);
}

int main(int argc, char **argv)
{
    validation v =
        validation_start(argc, argv, "A box and a ball of 1e-3 to 1e3 times the liquid's density, 24 cells, 1 s");
    static const double viscosities[4] = {0, 1, 1e3, 1e5};
    for (int e = 0; e < 4; e++)
        if (wants(&v, "2D")) check(&v, true, viscosities[e], 1);
    for (int e = 0; e < 4; e++)
        if (wants(&v, "3D") && !v.quick) check(&v, false, viscosities[e], 3);
    return validation_end(&v);
}
