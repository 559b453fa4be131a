// Spheres that settle in a viscous liquid.
//
// Tube: creeping flow on the grid, without particles. One implicit step, so long that inertia does not matter, gives
// the speed at which a sphere sinks along the axis of a closed tube; Stokes' speed 2 (rs - rf) g R^2 / (9 eta) over the
// wall factor of Haberman and Sayre is that in an endless one. The ends are 1.5 tube radii away, where their effect has
// decayed by exp(-6).
//
// Tank: the experiments of ten Cate, Nieuwstad, Derksen and Van den Akker, Physics of Fluids 14 (2002) 4012: a sphere
// of 15 mm released in a tank of 100 x 160 x 100 mm, its lowest point 120 mm above the floor, in four silicon oils.
// What is compared is the largest speed, 0.947, 0.953, 0.959 and 0.955 times (their table II) the speed u of Abraham's
// correlation for an endless liquid. The walls' steady effect would be much more but takes (50 mm)^2 / nu, 6 to 40 s,
// to arrive; so a simulation must run from the release. The sphere has D / dx cells: 3, 4.5 and 6 at 32, 48 and 64.
//
//     --cells N   the finest grid of the tank, cells along the height; from 64 on 5% is required there
#include "plot.h"
#include "cases/case.h"
#include "validate.h"

// ---- Tube ----

typedef struct tube {
    mo_vec3 centre; // of the sphere, on the axis
    double radius, sphere;
} tube;

static double tube_distance(const void *user, int32_t solid, mo_vec3 x)
{
    const tube *t = user;
    if (solid == 1) return t->radius - hypot(x.x - t->centre.x, x.z - t->centre.z);
    return mo_norm(mo_sub(x, t->centre)) - t->sphere;
}

static double everywhere(const void *user, mo_vec3 x)
{
    (void)user, (void)x;
    return -1;
}

// Speed over theory's (over Stokes' if the sphere has the liquid's density: then it should be 0).
static double settled(int32_t n, int place, double density)
{
    static const double ratio = 0.3, dt = 10, gravity = 1, viscosity = 1;
    double dx = 2.0 / (n - 0.5), half = 0.5 * dx * n, up = 0.75 * dx * n, radius = 0.99;
    tube t = {mo_v3(half + 0.13 * place * dx, up + 0.31 * place * dx, half + 0.07 * place * dx), radius,
              ratio * radius};
    int32_t body[2] = {0, -1};
    mo_vec3 centre[2] = {t.centre};
    double mass = density * 4 / 3 * M_PI * pow(t.sphere, 3), inertia = 0.4 * mass * t.sphere * t.sphere;
    mo_rigid ball = {.mass = mass, .pose = mo_pose_identity(), .velocity = mo_v3(0, -gravity * dt, 0)};
    ball.pose.position = t.centre;
    for (int a = 0; a < 3; a++) ball.inertia.m[a][a] = inertia, ball.inverse.m[a][a] = 1 / inertia;
    mo_solid_set solids = {.count = 2, .distance = tube_distance, .user = &t};
    solids.body = body, solids.centre = centre, solids.bodies = 1;
    mo_case_def def = {.cells = {n, 3 * n / 2, n},
                       .dx = dx,
                       .liquid = everywhere,
                       .solids = &solids,
                       .rigid = &ball,
                       .user = &t,
                       .density = 1,
                       .viscosity = viscosity};
    mo_solver_def solver = mo_sim_def_default().solver;
    mo_system_info info;
    mo_case c;
    mo_error err;
    must(mo_case_create(&def, &c, &err), &err);
    for (int64_t i = 0; i < mo_grid_cells(c.grid); i++) c.u[1][i] = (float)(-gravity * dt);
    must(mo_case_stokes(&c, dt, &solver, &info, NULL, &err), &err);
    mo_case_destroy(&c);
    double l = ratio, wall = (1 - 0.75857 * pow(l, 5)) /
                             (1 - 2.1050 * l + 2.0865 * pow(l, 3) - 1.7068 * pow(l, 5) + 0.72603 * pow(l, 6));
    double excess = density > 1 ? density - 1 : 1;
    return -ball.velocity.y / (2 * excess * gravity * t.sphere * t.sphere / (9 * viscosity) / wall);
}

static void check_tube(validation *v)
{
    enum { GRIDS = 3, PLACES = 2 };
    double n[GRIDS], error[GRIDS];
    int count = v->quick ? 2 : GRIDS;
    for (int k = 0; k < count; k++) {
        n[k] = 16 + 8 * k, error[k] = 0;
        for (int place = 0; place < PLACES; place++)
            error[k] = fmax(error[k], fabs(settled((int32_t)n[k], place, 1.5) - 1));
        figure(100 * error[k], "tube of %.0f cells, sphere of %.1f: error of the speed, %%", n[k],
               0.297 * (n[k] - 0.5));
    }
    double order = log(error[0] / error[count - 1]) / log(n[count - 1] / n[0]);
    between(v, order, 1, 99, "tube: order of the speed");
    if (!v->quick) at_most(v, 100 * error[count - 1], 5, "tube of %.0f cells: error of the speed, %%", n[count - 1]);
    at_most(v, 100 * fabs(settled(24, 1, 1)), 1,
            "tube of 24 cells, sphere as heavy as the liquid: speed over Stokes', %%");
}

// ---- Tank ----

typedef struct oil {
    double density, viscosity, endless, part, seconds; // kg/m^3, Pa s, u, largest speed over u, until it has passed
} oil;

static const oil oils[4] = {{970, 0.373, 0.03829, 0.947, 0.8},
                            {965, 0.212, 0.05992, 0.953, 0.9},
                            {962, 0.113, 0.09062, 0.959, 1},
                            {960, 0.058, 0.12839, 0.955, 0.9}};

enum { MAX_SAMPLES = 200, WINDOW = 5 }; // 0.1 s

typedef struct record {
    int count;
    double time[MAX_SAMPLES], speed[MAX_SAMPLES];
} record;

static void run_tank(const validation *v, const oil *o, int32_t cells, record *r)
{
    const double radius = 0.0075;
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(0.1, 0.16, 0.1), def.domain.cells = cells;
    for (int w = 0; w < 6; w++) def.domain.walls[w] = MO_WALL_NO_SLIP;
    def.time.seconds = o->seconds, def.time.max_step = 0.02, def.threads = v->threads;
    def.solver.tolerance = 1e-4;
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = checked(mo_shape_plane(mo_v3(0, 1, 0), 1));
    liquid.density = o->density, liquid.viscosity = o->viscosity;
    mo_shape *sphere = checked(mo_shape_sphere(radius));
    mo_solid_def ball = mo_solid_def_default();
    ball.name = "ball", ball.rigid = true, ball.density = 1120;
    ball.shape = checked(mo_shape_move(sphere, mo_v3(0.05, 0.12 + radius, 0.05)));
    def.liquids = &liquid, def.liquid_count = 1, def.solids = &ball, def.solid_count = 1;
    mo_sim *sim = create_sim(&def);
    for (r->count = 0; r->count < MAX_SAMPLES;) {
        mo_body_state b;
        mo_sim_body(sim, 0, &b);
        r->time[r->count] = mo_sim_time(sim), r->speed[r->count++] = -b.velocity.y;
        if (mo_sim_done(sim)) break;
        step_sim(sim);
    }
    mo_sim_destroy(sim);
    mo_shape_release(sphere), mo_shape_release(liquid.shape), mo_shape_release(ball.shape);
}

// The largest mean over 0.1 s: on coarse grids the speed wavers as the sphere passes cell after cell.
static double largest(const record *r)
{
    double most = 0;
    for (int i = 0; i + WINDOW <= r->count; i++) {
        double sum = 0;
        for (int k = 0; k < WINDOW; k++) sum += r->speed[i + k];
        most = fmax(most, sum / WINDOW);
    }
    return most;
}

static void check_tank(validation *v, int experiment)
{
    static const int32_t grids[] = {32, 48, 64};
    static record r[3];
    const oil *o = &oils[experiment];
    double exact = o->part * o->endless, error[3], n[3];
    int32_t finest = v->cells ? v->cells : v->quick ? 32 : 48;
    int count = 0;
    for (int k = 0; k < 3 && grids[k] <= finest; k++, count++) {
        run_tank(v, o, grids[k], &r[k]);
        double found = largest(&r[k]);
        n[k] = grids[k], error[k] = fabs(found / exact - 1);
        if (grids[k] >= 64)
            at_most(v, 100 * error[k], 5, "E%d, %d cells: largest speed %.4f for %.4f m/s, error %%", experiment + 1,
                    grids[k], found, exact);
        else
            figure(100 * error[k], "E%d, %d cells: largest speed %.4f for %.4f m/s, error %%", experiment + 1, grids[k],
                   found, exact);
    }
    if (count > 1)
        between(v, log(error[count - 2] / error[count - 1]) / log(n[count - 1] / n[count - 2]), 1, 99,
                "E%d: order between the last two grids", experiment + 1);
    if (!v->plots || count < 2) return;
    static const char *const names[] = {"32 cells", "48 cells", "64 cells"};
    char file[100], title[100];
    plot_series_t series[4];
    double ends[2] = {0, o->seconds}, line[2] = {exact, exact};
    for (int k = 0; k < count; k++) series[k] = (plot_series_t){names[k], r[k].count, r[k].time, r[k].speed, PLOT_LINE};
    series[count] = (plot_series_t){"largest speed of the experiment", 2, ends, line, PLOT_LINE};
    snprintf(file, sizeof file, "settling_E%d.svg", experiment + 1);
    snprintf(title, sizeof title, "Settling sphere of ten Cate et al., E%d", experiment + 1);
    plot_write(v->plots, file, &(plot_def){title, "t, s", "speed, m/s", false, false}, series, count + 1);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Settling spheres");
    static const char *const parts[4] = {"E1", "E2", "E3", "E4"};
    if (wants(&v, "tube")) check_tube(&v);
    for (int k = 0; k < 4; k++)
        if (wants(&v, parts[k])) check_tank(&v, k);
    return validation_end(&v);
}
