// Elastic bodies without liquid and contact, against formulas and published results: beams that bend a little and much,
// vibrate, and fall freely. Steps are those of the simulation's solve, with the group of nodes alone.
#include "validate.h"
#include "plot.h"
#include "geometry/tets.h"
#include "system/elastic_law.h"
#include "system/system.h"

typedef struct world { // one body
    mo_elastic_body body;
    uint8_t *pinned;
    double *target; // v*
    mo_node_part part;
    mo_arena *arena;
    double drag;
    mo_system_info info; // of the last step
} world;

typedef bool (*region)(mo_vec3 x);

static world *world_create(mo_vec3 size, mo_vec3 corner, double element, bool flat, double depth,
                           const mo_elasticity *law, double density, region pins)
{
    world *w = checked(calloc(1, sizeof *w));
    mo_tets mesh;
    mo_error err;
    mo_pose pose = mo_pose_identity();
    pose.position = mo_mad(corner, 0.5, size);
    if (flat) pose.position.z = 0;
    must(mo_tets_box(size, pose, element, flat, &mesh, &err), &err);
    if (mo_elastic_create(&mesh, law, density, depth, &w->body) != MO_OK) checked(NULL);
    mo_tets_destroy(&mesh);
    w->pinned = checked(calloc((size_t)w->body.vertices, 1));
    w->target = checked(calloc((size_t)mo_elastic_unknowns(&w->body), sizeof(double)));
    for (int32_t v = 0; pins && v < w->body.vertices; v++) w->pinned[v] = pins(w->body.rest[v]);
    must(mo_elastic_part_create(&w->body, w->pinned, &w->part, &err), &err);
    w->arena = checked(mo_arena_create());
    return w;
}

static void world_destroy(world *w)
{
    mo_elastic_destroy(&w->body);
    mo_node_part_destroy(&w->part);
    mo_arena_destroy(w->arena);
    free(w->pinned), free(w->target), free(w);
}

// One step with accelerations `a` everywhere and forces `f` on vertices (NULL: none).
static void step(world *w, double dt, mo_vec3 a, const mo_vec3 *f)
{
    mo_elastic_body *b = &w->body;
    int32_t d = b->dimension;
    mo_system s = {.dt = dt};
    mo_error err;
    mo_elastic_part part = {.body = b, .target = w->target, .drag = w->drag};
    mo_elastic_law elastic = {&part, dt, 1, w->arena};
    mo_node_law law = mo_elastic_law_of(&elastic);
    mo_solver_def solver = {.tolerance = 1e-9, .max_iterations = 1000, .rounds = 60};
    must(mo_nodes_join(1, &w->part, &law, &s.nodes, &err), &err);
    for (int32_t v = 0; v < b->vertices; v++) {
        mo_vec3 to = mo_mad(b->velocity[v], dt, a);
        if (f) to = mo_mad(to, dt / b->mass[v], f[v]);
        if (w->pinned[v]) to = mo_v3(0, 0, 0);
        for (int k = 0; k < d; k++) {
            w->target[d * v + k] = mo_get(to, k);
            s.nodes.velocity[d * v + k] = w->pinned[v] ? 0 : mo_get(b->velocity[v], k);
        }
    }
    must(mo_system_solve(&s, &solver, &w->info, &err), &err);
    for (int32_t v = 0; v < b->vertices; v++) {
        const double *u = s.nodes.velocity + d * v;
        b->velocity[v] = mo_v3(u[0], u[1], d == 3 ? u[2] : 0);
        b->position[v] = mo_mad(b->position[v], dt, b->velocity[v]);
    }
    mo_system_destroy(&s);
}

// Rest under accelerations and forces: one step so long that inertia does not count.
static void relax(world *w, mo_vec3 a, const mo_vec3 *f)
{
    memset(w->body.velocity, 0, sizeof(mo_vec3) * (size_t)w->body.vertices);
    step(w, 1e4, a, f);
    memset(w->body.velocity, 0, sizeof(mo_vec3) * (size_t)w->body.vertices);
}

static mo_vec3 mean_of(const world *w, region where, const mo_vec3 *field)
{
    mo_vec3 sum = {0};
    double count = 0;
    for (int32_t v = 0; v < w->body.vertices; v++)
        if (where(w->body.rest[v])) sum = mo_add(sum, field[v]), count++;
    return mo_mul(1 / count, sum);
}

static mo_vec3 moved(const world *w, region where)
{
    return mo_sub(mean_of(w, where, w->body.position), mean_of(w, where, w->body.rest));
}

// A force that is spread over an end face as its vertices share the mass there.
static mo_vec3 *push(const world *w, region where, mo_vec3 force)
{
    mo_vec3 *f = checked(calloc((size_t)w->body.vertices, sizeof *f));
    double mass = 0;
    for (int32_t v = 0; v < w->body.vertices; v++) mass += where(w->body.rest[v]) ? w->body.mass[v] : 0;
    for (int32_t v = 0; v < w->body.vertices; v++)
        if (where(w->body.rest[v])) f[v] = mo_mul(w->body.mass[v] / mass, force);
    return f;
}

// ---- A beam of length 1 and thickness 0.1, fixed at x = 0 ----

static const double thickness = 0.1, length = 1, width = 0.1, young = 1e6;
static bool at_root(mo_vec3 x) { return x.x < 1e-9; }
static bool at_tip(mo_vec3 x) { return x.x > length - 1e-9; }

static world *beam(int layers, bool flat, double poisson, double density)
{
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, young, poisson, 0);
    return world_create(mo_v3(length, thickness, width), mo_v3(0, 0, 0), thickness / layers, flat, width, &law, density,
                        at_root);
}

static double inertia(void) { return width * pow(thickness, 3) / 12; }

// With Poisson's ratio 0 plane strain and plane stress are the same, and beam theory holds but for shear, which adds
// 3 E I k / (G A L^2), k = 1.2, to the deflection by an end force.
static void small_deflections(validation *v)
{
    double load = 1e-3, shear = 3 * young * inertia() * 1.2 / (0.5 * young * width * thickness), error[3];
    double exact = load / (3 * young * inertia()) * (1 + shear);
    for (int flat = 0; flat < 2; flat++) {
        static const int layers[2][3] = {{3, 6, 12}, {4, 8, 16}};
        const char *space = flat ? "2D" : "3D";
        for (int k = 0; k < 3; k++) {
            world *w = beam(layers[flat][k], flat, 0, 1000);
            mo_vec3 *f = push(w, at_tip, mo_v3(0, -load, 0));
            relax(w, mo_v3(0, 0, 0), f);
            error[k] = fabs(-moved(w, at_tip).y / exact - 1);
            if (k < 2) figure(error[k], "%s: end force, %d layers, relative error", space, layers[flat][k]);
            free(f), world_destroy(w);
        }
        at_most(v, error[2], 0.03, "%s: end force, F L^3/(3 E I), error at %d layers", space, layers[flat][2]);
        between(v, log2(error[1] / error[2]), 1.5, 3, "%s: order of convergence", space);
    }
    world *w = beam(16, true, 0, 1000);
    double g = 1e-4, weight = 1000 * g * width * thickness; // N/m
    double bent = weight / (8 * young * inertia()), sheared = weight * 1.2 / (2 * 0.5 * young * width * thickness);
    relax(w, mo_v3(0, -g, 0), NULL);
    at_most(v, fabs(-moved(w, at_tip).y / (bent + sheared) - 1), 0.03, "2D: own weight, rho g A L^4/(8 E I), error");
    world_destroy(w);
    w = beam(8, true, 0.49, 1000);
    mo_vec3 *f = push(w, at_tip, mo_v3(0, -load, 0));
    relax(w, mo_v3(0, 0, 0), f);
    figure(-moved(w, at_tip).y / (exact * (1 - 0.49 * 0.49)),
           "2D: Poisson's ratio 0.49, part of the deflection (linear simplices lock)");
    free(f), world_destroy(w);
}

// The elastica: F L^2/(E I) = 1, 2, 5, 10; a slender beam, so that shear and stretching do not matter.
static bool slender_tip(mo_vec3 x) { return x.x > 1 - 1e-9; }

static void large_deflections(validation *v)
{
    static const double load[] = {1, 2, 5, 10}, down[] = {.3017, .4935, .7138, .8106},
                        shorter[] = {.0564, .1606, .3876, .5550};
    double t = 0.025, stiff = young * width * t * t * t / 12, y[4], x[4];
    mo_elasticity law = mo_elasticity_create(MO_ST_VENANT_KIRCHHOFF, young, 0, 0);
    world *w = world_create(mo_v3(1, t, width), mo_v3(0, 0, 0), t / 16, true, width, &law, 1000, at_root);
    for (int k = 0; k < 4; k++) {
        mo_vec3 *f = push(w, slender_tip, mo_v3(0, -load[k] * stiff, 0));
        relax(w, mo_v3(0, 0, 0), f);
        y[k] = -moved(w, slender_tip).y, x[k] = -moved(w, slender_tip).x;
        at_most(v, fabs(y[k] - down[k]), 0.03 * down[k],
                "elastica F L^2/(E I) = %g: deflection %.4f, %d steps of Newton", load[k], down[k], w->info.rounds);
        at_most(v, fabs(x[k] - shorter[k]), 0.03 * shorter[k], "elastica F L^2/(E I) = %g: shortening %.4f", load[k],
                shorter[k]);
        free(f);
    }
    world_destroy(w);
    if (!v->plots) return;
    plot_series_t series[] = {{"deflection", 4, load, y, PLOT_POINTS},
                              {"exact", 4, load, down, PLOT_LINE},
                              {"shortening", 4, load, x, PLOT_POINTS},
                              {"exact", 4, load, shorter, PLOT_LINE}};
    plot_def def = {"A cantilever under an end force", "F L^2/(E I)", "of the length", false, false};
    plot_write(v->plots, "elastic_elastica.svg", &def, series, 4);
}

// The first mode: implicit Euler turns the frequency w into atan(w dt)/dt, and takes (1 + w^2 dt^2)^-1/2 in each step.
static void vibration(validation *v)
{
    double density = 1000, dt = 2e-3, first = 1.87510407;
    world *w = beam(8, true, 0, density);
    mo_vec3 *f = push(w, at_tip, mo_v3(0, -1e-3, 0));
    relax(w, mo_v3(0, 0, 0), f);
    // One period, from the second peak on: higher modes have died out by then.
    double theory = first * first * sqrt(young * inertia() / (density * width * thickness)) / (2 * M_PI);
    double y[3] = {0, 0, moved(w, at_tip).y}, crossing[5], peak[5], time = 0;
    int crossings = 0, peaks = 0;
    for (; (crossings < 5 || peaks < 5) && time < 20; time += dt) {
        step(w, dt, mo_v3(0, 0, 0), NULL);
        y[0] = y[1], y[1] = y[2], y[2] = moved(w, at_tip).y;
        if (crossings < 5 && y[2] * y[1] < 0) crossing[crossings++] = time + dt * y[1] / (y[1] - y[2]);
        double slope = 0.5 * (y[2] - y[0]), bend = y[2] - 2 * y[1] + y[0];
        if (peaks < 5 && time > 2 * dt && (y[2] - y[1]) * (y[1] - y[0]) < 0)
            peak[peaks++] = fabs(y[1] - 0.5 * slope * slope / bend);
    }
    double period = crossing[4] - crossing[2], omega = tan(2 * M_PI / period * dt) / dt;
    double decay = peak[4] / peak[2], expected = pow(1 + omega * omega * dt * dt, -0.5 * period / dt);
    at_most(v, fabs(omega / (2 * M_PI * theory) - 1), 0.03,
            "first mode: frequency without the step's error, against beam theory");
    at_most(v, fabs(decay / expected - 1), 0.01, "first mode: decay in a period, against that of the step");
    free(f), world_destroy(w);
}

// ---- Turek and Hron's beam: 0.35 x 0.02 m, gravity 2 m/s^2, fixed at its left ----

static bool csm_tip(mo_vec3 x) { return x.x > 0.35 - 1e-9 && fabs(x.y - 0.01) < 1e-6; }

static void turek_hron(validation *v)
{
    static const double shear[] = {0.5e6, 2e6}, x[] = {-7.188e-3, -0.469e-3}, y[] = {-66.10e-3, -16.97e-3};
    for (int k = 0; k < 2; k++) {
        mo_elasticity law = mo_elasticity_create(MO_ST_VENANT_KIRCHHOFF, 2 * shear[k] * 1.4, 0.4, 0);
        world *w = world_create(mo_v3(0.35, 0.02, 1), mo_v3(0, 0, 0), 0.02 / 24, true, 1, &law, 1000, at_root);
        relax(w, mo_v3(0, -2, 0), NULL);
        mo_vec3 m = moved(w, csm_tip);
        at_most(v, fabs(m.x / x[k] - 1), 0.05, "CSM%d: tip moves %.4g mm along x", k + 1, 1e3 * x[k]);
        at_most(v, fabs(m.y / y[k] - 1), 0.05, "CSM%d: tip moves %.4g mm along y", k + 1, 1e3 * y[k]);
        world_destroy(w);
    }
}

// ---- A body that flies freely, spinning and deformed ----

static void free_flight(validation *v)
{
    mo_elasticity law = mo_elasticity_create(MO_NEO_HOOKEAN, 1e4, 0.4, 0);
    world *w = world_create(mo_v3(0.4, 0.2, 0.2), mo_v3(0, 0, 0), 0.1, false, 1, &law, 800, NULL);
    mo_elastic_body *b = &w->body;
    for (int32_t k = 0; k < b->vertices; k++) {
        mo_vec3 x = b->position[k];
        b->velocity[k] = mo_add(mo_v3(1, 2, 3), mo_cross(mo_v3(2, -5, 7), x));
        b->position[k] = mo_v3(1.2 * x.x, 0.9 * x.y + 0.1 * x.x, x.z);
    }
    double momentum = 0, angular = 0;
    mo_vec3 *old = checked(malloc(sizeof *old * (size_t)b->vertices)), g = {0, -9.81, 0};
    for (int n = 0; n < 50; n++) {
        double dt = 0.01;
        mo_vec3 left = {0};
        mo_elastic_sums before = mo_elastic_measure(b);
        memcpy(old, b->velocity, sizeof *old * (size_t)b->vertices);
        step(w, dt, g, NULL);
        mo_elastic_sums now = mo_elastic_measure(b);
        momentum = fmax(momentum, mo_norm(mo_sub(mo_sub(now.momentum, before.momentum), mo_mul(now.mass * dt, g))));
        // Inner forces have no moment about where they act, at the end of the step: sum m x' x (v' - v*) = 0.
        for (int32_t k = 0; k < b->vertices; k++)
            left = mo_mad(left, b->mass[k], mo_cross(b->position[k], mo_sub(b->velocity[k], mo_mad(old[k], dt, g))));
        angular = fmax(angular, mo_norm(left));
    }
    mo_elastic_sums s = mo_elastic_measure(b);
    at_most(v, momentum / (s.mass * 4), 1e-9, "free flight: momentum but for gravity, of the largest");
    at_most(v, angular / (s.mass * 4), 1e-9, "free flight: moment of inner forces, of the largest momentum times 1 m");
    free(old), world_destroy(w);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Elastic bodies without liquid");
    if (wants(&v, "beam")) small_deflections(&v);
    if (wants(&v, "elastica")) large_deflections(&v);
    if (wants(&v, "vibration")) vibration(&v);
    if (wants(&v, "csm")) turek_hron(&v);
    if (wants(&v, "flight")) free_flight(&v);
    return validation_end(&v);
}
