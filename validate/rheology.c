// Herschel-Bulkley liquids on the grid: the exact flow between plates driven by a force, what rounds of renewed
// viscosity leave of the error (MO fig. 9), what the threshold adds, the yield stress that stops a flow, and uniform
// shear.
//
// Between plates 2 h apart, with the force G per volume, the stress is G |y|, whatever the liquid: where it exceeds the
// yield stress tau0 the shear rate is ((G |y| - tau0) / K)^(1/n), inside |y| < y0 = tau0 / G nothing shears.
#include "plot.h"
#include "viscous.h"
#include "fluid/rheology.h"

static const double h = 0.5, G = 1, K = 0.3, density = 1; // m, N/m^3, Pa s^n, kg/m^3
enum { MOST = 8, MANY_ROUNDS = 100 };

typedef struct liquid {
    const char *name, *file;
    double n, tau0;
} liquid;

static const liquid liquids[] = {
    {"Newtonian", "newtonian", 1, 0},
    {"thinning, n = 0.5", "thinning", 0.5, 0},
    {"thickening, n = 2", "thickening", 2, 0},
    {"Bingham", "bingham", 1, 0.2},
    {"Herschel-Bulkley, n = 0.5", "herschel_bulkley", 0.5, 0.2},
};
enum { LIQUIDS = sizeof liquids / sizeof *liquids };

static double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

static mo_vec3 drive(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return mo_v3(G / density, 0, 0);
}

// ---- The channel ----

static double plug_speed(const liquid *l)
{
    double wide = h - l->tau0 / G;
    return wide > 0 ? l->n / (l->n + 1) * pow(G / K, 1 / l->n) * pow(wide, (l->n + 1) / l->n) : 0;
}

static double exact_flow(const liquid *l)
{
    return 2 * plug_speed(l) * (h - (h - l->tau0 / G) * l->n / (2 * l->n + 1));
}

static mo_vec3 profile(const void *user, mo_vec3 x)
{
    const liquid *l = user;
    double beyond = fmax(fabs(x.y - h) - l->tau0 / G, 0);
    return mo_v3(plug_speed(l) - l->n / (l->n + 1) * pow(G / K, 1 / l->n) * pow(beyond, (l->n + 1) / l->n), 0, 0);
}

// A channel at rest, `cells` across.
static void channel(flow *f, const liquid *l, double threshold, int32_t cells, double dt, mo_rheology *rheology)
{
    *rheology = (mo_rheology){K, l->n, l->tau0, threshold};
    mo_case_def def = {
        .cells = {8, cells, 1}, .dx = 2 * h / cells, .liquid = everywhere, .density = density, .rheology = rheology};
    flow_create(f, &def);
    flow_open_ends(f, 0, 2, 5);
    flow_ready(f, dt);
    f->solver.rounds = MANY_ROUNDS;
}

static double largest(const flow *f)
{
    double most = 0;
    for (int32_t i = 0; i < f->s.system.faces.count; i++) most = fmax(most, fabs(f->s.system.faces.velocity[i]));
    return most;
}

// ---- (a) Profile, plug speed and flow under refinement ----

// Thresholds this small add less than the coarsest error shown: the plug creeps by threshold y0 / u0.
static const double fine_threshold = 1e-4;

static void plot_profile(const validation *v, const liquid *l, const flow *f)
{
    enum { POINTS = 200 };
    double y[POINTS], u[POINTS], exact_y[POINTS], exact_u[POINTS];
    int count = 0;
    for (int32_t i = 0; i < f->s.system.faces.count && count < POINTS; i++) {
        int32_t at[3], face = f->s.face_at[i];
        mo_grid_cell(f->c.grid, mo_face_sample(face), at);
        if (mo_face_axis(face) != 0 || at[0] != MO_MARGIN + 4) continue;
        y[count] = flow_face(f, face).y, u[count++] = f->s.system.faces.velocity[i];
    }
    for (int i = 0; i < POINTS; i++)
        exact_y[i] = 2 * h * i / (POINTS - 1), exact_u[i] = profile(l, mo_v3(0, exact_y[i], 0)).x;
    char file[100];
    snprintf(file, sizeof file, "rheology_%s.svg", l->file);
    plot_series_t series[] = {{"32 cells", count, y, u, PLOT_POINTS}, {"exact", POINTS, exact_y, exact_u, PLOT_LINE}};
    plot_write(v->plots, file, &(plot_def){l->name, "y, m", "u, m/s", false, false}, series, 2);
}

static void refine(validation *v, const liquid *l)
{
    double n[MOST], velocity[MOST], plug[MOST], through[MOST], u0 = plug_speed(l);
    int count = 0;
    for (int32_t cells = 16; cells <= (v->quick ? 32 : 64); cells *= 2, count++) {
        flow f;
        mo_rheology rheology;
        channel(&f, l, fine_threshold, cells, 10, &rheology);
        int steps = flow_settle(&f, drive, NULL, 1e-6 * u0, 50);
        n[count] = cells;
        velocity[count] = flow_error(&f, everywhere, profile, l) / u0;
        plug[count] = fabs(largest(&f) / u0 - 1);
        through[count] = fabs(flow_through(&f, 0, 4) / exact_flow(l) - 1);
        printf("  %s, n = %d: velocity max %.3e, plug %.3e, flow %.3e (%d steps, %d rounds in the last)\n", l->name,
               cells, velocity[count], plug[count], through[count], steps, f.info.rounds);
        if (cells == 32 && v->plots) plot_profile(v, l, &f);
        flow_destroy(&f);
    }
    // A thickening liquid's profile bends like |y|^1.5 in the middle: order 1.5.
    between(v, fitted_order(count, n, velocity), l->n > 1 ? 1.5 : 1.8, 9, "%s: order of the velocity, max", l->name);
    between(v, fitted_order(count, n, through), 1.8, 9, "%s: order of the flow", l->name);
    at_most(v, velocity[count - 1], 10 / pow(n[count - 1], 2) + 1e-3, "%s: error of the velocity at n = %.0f", l->name,
            n[count - 1]);
    at_most(v, plug[count - 1], 10 / pow(n[count - 1], 2) + 1e-3, "%s: error of the plug's speed", l->name);
    at_most(v, through[count - 1], 10 / pow(n[count - 1], 2) + 1e-3, "%s: error of the flow", l->name);
}

// ---- (b) Rounds ----

// The papers' renewal, for comparison: the viscosity of the shear rate just found.
static double plain_renewal(void *user, mo_system *system, int32_t round)
{
    flow *f = user;
    int32_t rows = system->block[MO_BLOCK_STRESS]->rows;
    double *rate = checked(malloc(sizeof(double) * (size_t)rows)),
           *eta = checked(malloc(sizeof(double) * (size_t)rows));
    mo_error err;
    if (round == 0)
        mo_stress_strain_of(&f->s, eta);
    else
        mo_stress_strain(&f->s, eta);
    must(mo_shear_rate(f->c.grid, &f->s, eta, f->def.reduced, f->c.arena, rate, &err), &err);
    for (int32_t i = 0; i < rows; i++) eta[i] = mo_rheology_viscosity(f->c.def.rheology, rate[i]);
    mo_stress_set_viscosity(&f->s, eta);
    free(rate), free(eta);
    return 1;
}

// The renewal in use, but never told settled.
static double endless_renewal(void *user, mo_system *system, int32_t round)
{
    flow *f = user;
    double change = mo_stress_renew(&f->rheology, system, round);
    return change >= 0 ? fmax(change, 1) : change;
}

// Velocities after a step from `start` with so many rounds.
static void after_rounds(flow *f, const double *start, int32_t rounds, bool plain, double *u)
{
    mo_system *y = &f->s.system;
    size_t bytes = sizeof(double) * (size_t)y->faces.count;
    memcpy(y->faces.velocity, start, bytes);
    y->renew = plain ? plain_renewal : endless_renewal, y->renew_user = f;
    f->solver.rounds = rounds;
    flow_step(f, drive, NULL);
    memcpy(u, y->faces.velocity, bytes);
}

static double difference(const double *a, const double *b, int32_t count)
{
    double most = 0, scale = 0;
    for (int32_t i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i])), scale = fmax(scale, fabs(b[i]));
    return most / scale;
}

// The fifth step of a flow that starts from rest, with few rounds against very many.
static void rounds_of(validation *v, const liquid *l, double dt, double limit)
{
    static const int32_t tried[] = {1, 2, 3, 5, 7, 10, 14, 20};
    enum { TRIED = sizeof tried / sizeof *tried };
    double x[TRIED], used[TRIED], plain[TRIED];
    flow f;
    mo_rheology rheology;
    channel(&f, l, 1e-3, 32, dt, &rheology);
    for (int step = 0; step < 4; step++) flow_step(&f, drive, NULL);
    int32_t faces = f.s.system.faces.count;
    size_t bytes = sizeof(double) * (size_t)faces;
    double *start = checked(malloc(bytes)), *settled = checked(malloc(bytes)), *u = checked(malloc(bytes));
    memcpy(start, f.s.system.faces.velocity, bytes);
    after_rounds(&f, start, MANY_ROUNDS, false, settled);
    for (int k = 0; k < TRIED; k++)
        for (int p = 0; p < 2; p++) {
            after_rounds(&f, start, tried[k], p, u);
            x[k] = tried[k], (p ? plain : used)[k] = difference(u, settled, faces);
        }
    free(start), free(settled), free(u);
    flow_destroy(&f);
    for (int k = 0; k < TRIED; k++)
        if (tried[k] == 1 || tried[k] == 2 || tried[k] == 5 || tried[k] == 10)
            printf("  %s, dt = %g: %2d rounds leave %.2e, the papers' renewal %.2e\n", l->name, dt, tried[k], used[k],
                   plain[k]);
    at_most(v, used[5], limit, "%s, dt = %g: left after 10 rounds", l->name, dt);
    if (!v->plots) return;
    char file[100], title[100];
    snprintf(file, sizeof file, "rheology_rounds_%s_%s.svg", l->file, dt < 1 ? "short" : "long");
    snprintf(title, sizeof title, "%s, a step of %g s", l->name, dt);
    plot_series_t series[] = {{"as here", TRIED, x, used, PLOT_LINE}, {"as in the papers", TRIED, x, plain, PLOT_LINE}};
    plot_write(v->plots, file, &(plot_def){title, "rounds", "difference from settled", false, true}, series, 2);
}

// ---- (c) Threshold ----

// A sample below the threshold shears by less than it, so speeds change by less than threshold h.
static void thresholds(validation *v)
{
    const liquid *l = &liquids[3];
    double inverse[MOST], error[MOST], u0 = plug_speed(l), finest = 0, worst = 0;
    int count = 0;
    for (double threshold = 1e-5; threshold < 0.2; threshold *= 10) {
        flow f;
        mo_rheology rheology;
        channel(&f, l, threshold, 32, 10, &rheology);
        flow_settle(&f, drive, NULL, 1e-6 * u0, 50);
        double speed = largest(&f);
        flow_destroy(&f);
        if (finest == 0) {
            finest = speed;
            continue;
        }
        inverse[count] = 1 / threshold, error[count++] = fabs(speed - finest) / u0;
        worst = fmax(worst, fabs(speed - finest) / (threshold * h));
        printf("  Bingham, threshold %g: plug differs by %.3e\n", threshold, error[count - 1]);
    }
    at_most(v, worst, 1, "Bingham: change of the plug's speed over threshold h");
    between(v, fitted_order(count, inverse, error), 0.8, 1.5, "Bingham: its order in the threshold");
    if (!v->plots) return;
    plot_series_t series[] = {{"plug's speed", count, inverse, error, PLOT_POINTS}};
    plot_write(v->plots, "rheology_threshold.svg",
               &(plot_def){"Bingham: what the threshold changes", "1 / threshold, s", "relative", true, true}, series,
               1);
}

// ---- (d) Stop ----

// A force that does not exceed the yield stress: the liquid creeps as one of the limiting viscosity, by less than
// threshold h.
static void no_flow(validation *v)
{
    static const double over[] = {1.0, 1.05, 2};
    for (int k = 0; k < 3; k++)
        for (int q = 0; q < 2; q++) {
            liquid l = {"", "", q ? 0.5 : 1, over[k] * G * h};
            double threshold = 1e-3;
            flow f;
            mo_rheology rheology;
            channel(&f, &l, threshold, 32, 10, &rheology);
            flow_settle(&f, drive, NULL, 1e-9, 50);
            double creep = G * h * h / (2 * mo_rheology_viscosity(&rheology, 0));
            // At the yield stress itself the rounds have not settled, and only the threshold bounds the speed.
            at_most(v, largest(&f), over[k] > 1 ? 1.01 * creep : threshold * h, "n = %g, tau0 = %g G h: speed, m/s",
                    l.n, over[k]);
            flow_destroy(&f);
        }
}

// The force ends: a Bingham liquid stops in finite time T. While it flows the stress at the walls, largest there, is at
// least tau0 and at most the G h it begins with; momentum gives rho Q / (2 G h) <= T <= rho Q / (2 tau0).
// The energy inequality gives (Glowinski's form) T <= rho / (K a) ln(1 + K a |u| / (tau0 b)) with a = (pi / 2h)^2 and
// b = sqrt(2 / h), |u| the L2 norm at the beginning.
typedef struct stop {
    double time, lower, upper, energy;
} stop;

static stop stopping(const validation *v, const liquid *l, double threshold, int32_t cells, double dt)
{
    enum { CURVE = 2000 };
    static double t[CURVE], speed[CURVE];
    flow f;
    mo_rheology rheology;
    channel(&f, l, threshold, cells, dt, &rheology);
    f.solver.rounds = 10, f.solver.tolerance = 1e-7;
    double a = pow(M_PI / (2 * h), 2), b = sqrt(2 / h), square = 0, rest = threshold * h;
    for (int32_t i = 0; i < f.s.system.faces.count; i++) {
        mo_vec3 x = flow_face(&f, f.s.face_at[i]);
        f.s.system.faces.velocity[i] = mo_get(profile(l, x), mo_face_axis(f.s.face_at[i]));
    }
    for (int k = 0; k < 1000; k++) square += pow(profile(l, mo_v3(0, 2 * h * (k + 0.5) / 1000, 0)).x, 2) * 2 * h / 1000;
    int steps = 0;
    t[0] = 0, speed[0] = largest(&f);
    while (speed[steps] > rest && steps + 1 < CURVE) {
        flow_step(&f, NULL, NULL);
        steps++, t[steps] = steps * dt, speed[steps] = fmax(largest(&f), 1e-12);
    }
    if (v->plots && cells == 64) {
        plot_series_t series[] = {{"largest speed", steps + 1, t, speed, PLOT_LINE}};
        plot_write(v->plots, "rheology_stop.svg",
                   &(plot_def){"Bingham liquid after its force has ended", "t, s", "m/s", false, false}, series, 1);
    }
    flow_destroy(&f);
    double Q = exact_flow(l);
    return (stop){steps * dt, density * Q / (2 * G * h), density * Q / (2 * l->tau0),
                  density / (K * a) * log(1 + K * a * sqrt(square) / (l->tau0 * b))};
}

static void stops(validation *v)
{
    const liquid *l = &liquids[3];
    stop s = {0};
    double dt = 0.005, before = 0;
    for (int32_t cells = 16; cells <= (v->quick ? 32 : 64); cells *= 2) {
        before = s.time;
        s = stopping(v, l, 1e-3, cells, dt);
        printf("  Bingham, n = %d: stops after %.4f s; bounds %.4f, %.4f, by energy %.4f s\n", cells, s.time, s.lower,
               s.upper, s.energy);
    }
    between(v, s.time, s.lower, fmin(s.upper, s.energy), "Bingham: time to stop, s, between its bounds");
    at_most(v, fabs(s.time / before - 1), 0.05, "Bingham: its change by the last refinement");
    figure(stopping(v, l, 1e-3, 32, 0.5 * dt).time, "Bingham: time to stop with half the time step, s");
    figure(stopping(v, l, 1e-4, 32, dt).time, "Bingham: time to stop with a tenth of the threshold, s");
}

// ---- (e) Uniform shear ----

typedef struct gap {
    double low, high, speed; // plates, m; speed of the upper, m/s
} gap;

static double plate(const void *user, int32_t solid, mo_vec3 x)
{
    const gap *q = user;
    return solid == 0 ? x.y - q->low : q->high - x.y;
}

static mo_vec3 plate_velocity(const void *user, int32_t solid, mo_vec3 x)
{
    (void)x;
    return mo_v3(solid == 1 ? ((const gap *)user)->speed : 0, 0, 0);
}

// Largest deviation of the stress from K g^n + tau0, relative; plates off the grid.
static double sheared(const liquid *l, double rate)
{
    gap q = {0.213, 0.787, 0};
    q.speed = rate * (q.high - q.low);
    mo_rheology rheology = {K, l->n, l->tau0, 1e-3};
    mo_solid_set solids = {.count = 2, .distance = plate, .velocity = plate_velocity, .user = &q};
    mo_case_def def = {.cells = {8, 16, 1},
                       .dx = 1.0 / 16,
                       .liquid = everywhere,
                       .solids = &solids,
                       .user = &q,
                       .density = density,
                       .rheology = &rheology};
    flow f;
    flow_create(&f, &def);
    flow_open_ends(&f, 0, 2, 5);
    flow_ready(&f, 10);
    f.solver.rounds = MANY_ROUNDS;
    flow_settle(&f, NULL, NULL, 1e-10 * q.speed, 60);
    const mo_block *b = f.s.system.block[MO_BLOCK_STRESS];
    double exact = K * pow(rate, l->n) + l->tau0, worst = 0;
    for (int32_t r = 0; r < b->rows; r++)
        if ((f.s.sample_at[r] & 7) == MO_STRESS_XY) worst = fmax(worst, fabs(b->x[r] / exact - 1));
    flow_destroy(&f);
    return worst;
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Herschel-Bulkley liquids");
    mo_use_threads(v.threads);
    for (int k = 0; k < LIQUIDS && wants(&v, "channel"); k++) refine(&v, &liquids[k]);
    for (int k = 1; k < LIQUIDS && wants(&v, "rounds"); k++) {
        // A power law leaves a third of the error per round, a yield stress more.
        double limit = liquids[k].tau0 > 0 ? 0.01 : 1e-3;
        rounds_of(&v, &liquids[k], 0.02, limit);
        if (!v.quick) rounds_of(&v, &liquids[k], 10, limit);
    }
    if (wants(&v, "threshold")) thresholds(&v);
    if (wants(&v, "stop")) no_flow(&v), stops(&v);
    for (int k = 0; k < LIQUIDS && wants(&v, "shear"); k++)
        for (double rate = 0.1; rate < 20; rate *= 10)
            at_most(&v, sheared(&liquids[k], rate), 1e-5, "%s, sheared by %g/s: stress - (K g^n + tau0), relative",
                    liquids[k].name, rate);
    return validation_end(&v);
}
