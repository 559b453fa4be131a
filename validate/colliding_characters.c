// Two viscous characters collide off-centre without gravity and turn on as one (scenes/colliding_characters.lua), with
// pressure and viscosity together (PV-unified) and in turn (P-V-P): angular momentum, angular velocity, energy, volume.
//
// Angular momentum is that of the momentum which the particles give to the faces, about the centre of mass: with the
// affine velocities, Sum_f w (x_f - x) x C (x_f - x), whose second moments of trilinear weights are f (1 - f) cells^2.
// Particles keep their velocity while they go round, so every scheme loses 1 - cos(omega dt) of it in a step: the
// floor.
//
// Run from the project's directory: it reads the scene.
#include "validate.h"
#include "plot.h"
#include "sim/sim.h"

enum { MAX_FRAMES = 1000 };

static const double collision = 1.1; // s: the two are one from here

typedef struct motion {
    mo_vec3 linear, angular; // momenta, kg m/s and, about the centre of mass, kg m^2/s
    double inertia;          // about the axis of the angular momentum, kg m^2
    double energy;           // J, less that of the centre of mass
    double mass, speeds;     // kg; sum of m |v|: the scale of the linear momentum
} motion;

// f (1 - f) dx^2 along axis b of the samples of component a.
static double second_moment(const mo_sim *sim, int32_t q, int a, int b)
{
    double at = sim->particles.x[b][q] - (a == b ? 0 : 0.5), f = at - floor(at), dx = sim->grid->dx;
    return f * (1 - f) * dx * dx;
}

static double affine(const mo_sim *sim, int32_t q, int a, int b) // d v[a] / d x[b], 1/s
{
    return sim->particles.c[a][b][q] / sim->grid->dx;
}

static motion measure(const mo_sim *sim)
{
    const mo_particles *p = &sim->particles;
    double dx = sim->grid->dx, cell_mass = sim->density * dx * dx * dx;
    motion m = {0};
    mo_vec3 centre = {0, 0, 0};
    for (int32_t q = 0; q < p->count; q++) {
        double mass = cell_mass * p->volume[q];
        mo_vec3 v = {p->v[0][q], p->v[1][q], p->v[2][q]};
        centre = mo_mad(centre, mass, mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]));
        m.linear = mo_mad(m.linear, mass, v);
        m.mass += mass, m.speeds += mass * mo_norm(v), m.energy += 0.5 * mass * mo_dot(v, v);
    }
    centre = mo_mul(1 / m.mass, centre);
    m.energy -= 0.5 * mo_dot(m.linear, m.linear) / m.mass;
    for (int32_t q = 0; q < p->count; q++) {
        double mass = cell_mass * p->volume[q], part[3];
        mo_vec3 r = mo_sub(mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]), centre);
        m.angular = mo_mad(m.angular, mass, mo_cross(r, mo_v3(p->v[0][q], p->v[1][q], p->v[2][q])));
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            part[k] =
                second_moment(sim, q, b, a) * affine(sim, q, b, a) - second_moment(sim, q, a, b) * affine(sim, q, a, b);
        }
        m.angular = mo_mad(m.angular, mass, mo_v3(part[0], part[1], part[2]));
    }
    // Moment of inertia about the axis n: m (|r|^2 - (n r)^2), and the affine parts of a rotation about it.
    mo_vec3 n = mo_normalize(m.angular);
    for (int32_t q = 0; q < p->count; q++) {
        double mass = cell_mass * p->volume[q];
        mo_vec3 r = mo_sub(mo_grid_world(sim->grid, p->x[0][q], p->x[1][q], p->x[2][q]), centre);
        double along = mo_dot(n, r), arm = mo_dot(r, r) - along * along;
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            arm += mo_get(n, k) * mo_get(n, k) * (second_moment(sim, q, b, a) + second_moment(sim, q, a, b));
        }
        m.inertia += mass * arm;
    }
    return m;
}

typedef struct run {
    const char *scheme;
    int frames;
    double time[MAX_FRAMES], angular[MAX_FRAMES], spin[MAX_FRAMES], energy[MAX_FRAMES], volume[MAX_FRAMES];
    double floor;  // what rotation in steps loses, relative
    double turned; // rad, after the collision
    motion first, last;
} run;

static void on_step(void *user, const mo_stats *stats)
{
    run *r = user;
    if (stats->time <= collision) return;
    double spin = r->spin[r->frames - 1];
    r->floor += 1 - cos(spin * stats->dt);
    r->turned += spin * stats->dt;
}

static void sample(run *r, const mo_sim *sim)
{
    motion m = measure(sim);
    double seen;
    mo_error err;
    must(mo_sim_visible_volume(sim, &seen, &err), &err);
    int i = r->frames++;
    if (i == 0) r->first = m;
    r->last = m;
    r->time[i] = mo_sim_time(sim), r->angular[i] = mo_norm(m.angular), r->spin[i] = r->angular[i] / m.inertia;
    r->energy[i] = m.energy, r->volume[i] = 100 * (seen * sim->density / m.mass - 1);
    if (i % 25 == 0)
        fprintf(stderr, "  %s: t = %.1f s, L %.4f, omega %.4f, energy %.4f, volume %+.2f%%\n", r->scheme, r->time[i],
                r->angular[i], r->spin[i], r->energy[i], r->volume[i]);
}

static mo_scene *load(const validation *v, const char *const *overrides, int32_t count)
{
    mo_scene *scene;
    mo_error err;
    must(mo_scene_load("scenes/colliding_characters.lua", overrides, count, &scene, &err), &err);
    mo_scene_sim_def_mutable(scene)->threads = v->threads;
    return scene;
}

static void collide(const validation *v, run *r)
{
    char cells[40], scheme[60];
    snprintf(cells, sizeof cells, "domain.cells=%d", v->cells ? v->cells : v->quick ? 36 : 60);
    snprintf(scheme, sizeof scheme, "solver.scheme=%s", r->scheme);
    const char *overrides[] = {cells, scheme, v->quick ? "time.seconds=2" : "time.seconds=4"};
    mo_scene *scene = load(v, overrides, 3);
    mo_sim *sim = create_sim(mo_scene_sim_def(scene));
    mo_error err;
    sample(r, sim);
    while (!mo_sim_done(sim) && r->frames < MAX_FRAMES) {
        must(mo_sim_advance(sim, on_step, r, &err), &err);
        sample(r, sim);
    }
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

static void report(validation *v, const run *r, bool required)
{
    int last = r->frames - 1;
    double high = -INFINITY, low = INFINITY, change = r->angular[last] / r->angular[0] - 1;
    for (int i = 0; i <= last; i++) high = fmax(high, r->volume[i]), low = fmin(low, r->volume[i]);
    double drift = mo_norm(mo_sub(r->last.linear, r->first.linear)) / r->first.speeds;
    if (required) {
        at_most(v, 100 * fabs(change), 2, "%s: change of angular momentum, %%", r->scheme);
        at_most(v, 100 * r->floor, 1, "%s: of that lost by turning in steps, %%", r->scheme);
        at_most(v, 100 * drift, 1, "%s: change of linear momentum over m |v|, %%", r->scheme);
    } else {
        figure(100 * fabs(change), "%s: change of angular momentum, %%", r->scheme);
        figure(100 * r->floor, "%s: of that lost by turning in steps, %%", r->scheme);
        figure(100 * drift, "%s: change of linear momentum over m |v|, %%", r->scheme);
    }
    figure(r->spin[last], "%s: angular velocity at the end, 1/s", r->scheme);
    figure(180 / M_PI * r->turned, "%s: turned since the collision, degrees", r->scheme);
    figure(r->energy[last] / r->energy[0], "%s: kinetic energy at the end over that before", r->scheme);
    figure(r->volume[0], "%s: volume error at the start, %%", r->scheme);
    figure(low, "%s: lowest volume error, %%", r->scheme);
    figure(high, "%s: highest volume error, %%", r->scheme);
    figure(r->volume[last], "%s: volume error at the end, %%", r->scheme);
}

static void plot(const validation *v, const run *runs)
{
    if (!v->plots) return;
    plot_series_t lines[2][2];
    for (int i = 0; i < 2; i++) {
        const run *r = &runs[i];
        lines[0][i] = (plot_series_t){r->scheme, r->frames, r->time, r->angular, PLOT_LINE};
        lines[1][i] = (plot_series_t){r->scheme, r->frames, r->time, r->spin, PLOT_LINE};
    }
    plot_def angular = {"Colliding characters: angular momentum", "t, s", "L, kg m^2/s", false, false};
    plot_def spin = {"Colliding characters: angular velocity L/I", "t, s", "omega, 1/s", false, false};
    plot_write(v->plots, "colliding_angular_momentum.svg", &angular, lines[0], 2);
    plot_write(v->plots, "colliding_angular_velocity.svg", &spin, lines[1], 2);
}

// ---- Rotation of one alone ----

static mo_status turn(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    const mo_vec3 *centre = user;
    (void)err;
    *velocity = mo_cross(mo_v3(0, 0, 1), mo_sub(x, *centre));
    return MO_OK;
}

static void rotate(validation *v, bool correct)
{
    char cells[40];
    snprintf(cells, sizeof cells, "domain.cells=%d", v->cells ? v->cells : v->quick ? 36 : 60);
    const char *overrides[] = {cells, correct ? "volume.correct=true" : "volume.correct=false", "time.seconds=1"};
    mo_scene *scene = load(v, overrides, 3);
    mo_sim_def def = *mo_scene_sim_def(scene);
    mo_liquid_def man = def.liquids[1];
    mo_vec3 centre = {1.33, 0.64, 0.6}; // about where the scene has it
    man.velocity_fn = turn, man.user = &centre;
    def.liquids = &man, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    motion start = measure(sim), m = start;
    double floor = 0;
    while (!mo_sim_done(sim)) {
        mo_stats stats = step_sim(sim);
        floor += 1 - cos(mo_norm(m.angular) / m.inertia * stats.dt);
        m = measure(sim);
    }
    double lost = 1 - mo_norm(m.angular) / mo_norm(start.angular) - floor;
    const char *name = correct ? "rotation" : "rotation without correction";
    at_most(v, 100 * fabs(lost), 0.2, "%s: angular momentum lost in 1 s beyond the steps', %%", name);
    figure(100 * (m.inertia / start.inertia - 1), "%s: change of the moment of inertia, %%", name);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Two viscous characters collide and turn together");
    if (wants(&v, "rotation")) rotate(&v, false), rotate(&v, true);
    static run runs[2] = {{.scheme = "PV-unified"}, {.scheme = "P-V-P"}};
    for (int i = 0; i < 2; i++) {
        if (!wants(&v, runs[i].scheme)) continue;
        collide(&v, &runs[i]);
        report(&v, &runs[i], i == 0);
    }
    if (!v.only) plot(&v, runs);
    return validation_end(&v);
}
