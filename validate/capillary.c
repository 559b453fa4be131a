// Surface tension: drops without gravity, in whole simulations with particles. Radius, density and tension are 1, so
// speeds come in sqrt(sigma / (rho R)), times in sqrt(rho R^3 / sigma), pressures in sigma / R.
//
// At rest the pressure is 1 in 2D and 2 in 3D, and what moves is driven by the noise of the curvature. Stretched into
// an ellipse or spheroid, mode n = 2, the drop oscillates or creeps back: its second moments against the root s of the
// dispersion relation. That of a viscous disc is exact for every viscosity (disc_relation below); its limits are the
// textbook's w^2 = n (n^2 - 1) and decay 2 n (n - 1) nu of thin liquids, and decay n / (2 eta) of thick ones.
#include "plot.h"
#include "viscous.h"
#include "base/vec.h"
#include "fluid/tension.h"
#include "sim/sim.h"
#include <complex.h>

typedef struct drop {
    bool flat;
    int32_t radius; // cells
    double viscosity;
    double stretch; // logarithm of the factor along x
    int place;      // of the centre on the grid
} drop;

enum { MARGIN = 6, MOST_RADII = 3 }; // MARGIN: cells of air around the drop

static const char *dimensions(bool flat) { return flat ? "2D" : "3D"; }

// Radii in cells to be compared; returns how many.
static int radii(const validation *v, bool flat, double radius[MOST_RADII])
{
    const double all[2][MOST_RADII] = {{8, 10}, {8, 12, 16}};
    memcpy(radius, all[flat], sizeof all[flat]);
    if (v->cells) radius[0] = v->cells;
    return v->cells ? 1 : (flat ? 3 : 2) - v->quick;
}

static mo_vec3 centre(const drop *d)
{
    double h = 1.0 / d->radius, middle = 1 + MARGIN * h;
    return mo_v3(middle + h * (0.31 * d->place + 0.13), middle + h * (0.29 - 0.47 * d->place),
                 d->flat ? 0 : middle + h * (0.23 * d->place - 0.41));
}

static mo_shape *ball(const drop *d)
{
    mo_shape *shape = checked(mo_shape_sphere(1));
    if (d->flat) {
        mo_shape *upright = checked(mo_shape_cylinder(1, 10));
        mo_shape_release(shape);
        shape = checked(mo_shape_rotate(upright, mo_v3(1, 0, 0), 90));
        mo_shape_release(upright);
    }
    mo_shape *moved = checked(mo_shape_move(shape, centre(d)));
    mo_shape_release(shape);
    return moved;
}

// The level set of the stretched ball, to second order in its stretch: r / |gradient r| - 1 of r = |x / factor|.
static void stretch_level(mo_sim *sim, const drop *d, const double middle[3], const double factor[3])
{
    const mo_grid *g = sim->grid;
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t c[3];
        double square = 0, slope = 0;
        mo_grid_cell(g, i, c);
        for (int a = 0; a < (d->flat ? 2 : 3); a++) {
            double x = (c[a] + 0.5 - middle[a]) / factor[a];
            square += x * x, slope += x * x / (factor[a] * factor[a]);
        }
        double r = sqrt(square), phi = slope > 0 ? (r - d->radius) * r / sqrt(slope) : -d->radius;
        sim->level.phi[i] = sim->level.press[i] = (float)fmin(fmax(phi, -MO_LEVELSET_BAND), MO_LEVELSET_BAND);
    }
}

// Moves the particles of the ball to those of an ellipse or spheroid of the same volume, and the surface with them.
static void stretch(mo_sim *sim, const drop *d)
{
    mo_particles *p = &sim->particles;
    mo_error err;
    double middle[3] = {0}, factor[3] = {1, 1, 1};
    for (int a = 0; a < (d->flat ? 2 : 3); a++) {
        middle[a] = mo_get(centre(d), a) * d->radius + MO_MARGIN;
        factor[a] = exp(a == 0 ? d->stretch : d->stretch / (d->flat ? -1 : -2));
        for (int32_t q = 0; q < p->count; q++) p->x[a][q] = (float)(middle[a] + factor[a] * (p->x[a][q] - middle[a]));
    }
    mo_arena_reset(sim->arena);
    must(mo_particles_sort(p, sim->grid, sim->arena, &err), &err);
    must(mo_sim_reserve_fields(sim, &err), &err);
    must(mo_levelset_settle(&sim->level, sim->grid, sim->arena, &err), &err);
    stretch_level(sim, d, middle, factor);
    mo_sim_openings(sim, 0, NULL);
}

static mo_sim *create_drop(const validation *v, const drop *d, double max_step)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.cells = 2 * (d->radius + MARGIN);
    double size = (double)def.domain.cells / d->radius;
    def.domain.size = mo_v3(size, size, d->flat ? 0 : size);
    def.gravity = mo_v3(0, 0, 0);
    def.threads = v->threads;
    def.time.fps = 1, def.time.seconds = 1000, def.time.max_step = max_step;
    mo_shape *shape = ball(d);
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = shape, liquid.density = 1, liquid.surface_tension = 1, liquid.viscosity = d->viscosity;
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_shape_release(shape);
    if (d->stretch != 0) stretch(sim, d);
    return sim;
}

// ---- At rest ----

typedef struct spread {
    double mean, rms; // and the deviation from it
} spread;

// Of the pressure deeper than three cells, where the viscous liquid's multiplier WL^p p is p. Cells are those of the
// drop as created.
static spread inner_pressure(const mo_sim *sim, const mo_block *b, const drop *d)
{
    double sum = 0, squares = 0, count = 0;
    for (int32_t r = 0; r < b->rows; r++) {
        mo_vec3 x = mo_grid_world(sim->grid, b->coord[r][0] + 0.5, b->coord[r][1] + 0.5, b->coord[r][2] + 0.5);
        x = mo_sub(x, centre(d));
        if (d->flat) x.z = 0;
        if (mo_norm(x) < 1 - 3.0 / d->radius) sum += b->x[r], squares += b->x[r] * b->x[r], count++;
    }
    double mean = sum / count;
    return (spread){mean, sqrt(fmax(0, squares / count - mean * mean))};
}

// Runs the stages of a step up to its solve.
static spread solve_pressure(mo_sim *sim, const drop *d)
{
    mo_step_context c = {.dt = mo_tension_time_step(1, 1, d->viscosity, sim->grid->dx)};
    mo_system *system = &c.assemble.liquid.system;
    mo_system_info info;
    mo_error err;
    mo_arena_reset(sim->arena), mo_arena_reset(sim->step_arena);
    must(mo_stage_transfer(sim, &c, &err), &err);
    must(mo_stage_fractions(sim, &c, &err), &err);
    must(mo_stage_assemble(sim, &c, &err), &err);
    must(mo_system_solve(system, &sim->def.solver, &info, &err), &err);
    spread p = inner_pressure(sim, system->block[MO_BLOCK_PRESSURE], d);
    mo_liquid_destroy(&c.assemble.liquid);
    return p;
}

// The pressure of a drop just made, the worst of a few places on the grid; then 100 steps.
static void rest(validation *v, bool flat, double radius, double viscosity)
{
    drop d = {.flat = flat, .radius = (int32_t)radius, .viscosity = viscosity};
    double exact = flat ? 1 : 2, error = 0, noise = 0, speed = 0;
    char name[100];
    snprintf(name, sizeof name, "%s, %s, R = %d cells", dimensions(flat), viscosity > 0 ? "viscous" : "inviscid",
             d.radius);
    for (d.place = flat ? 5 : 1; d.place >= 0; d.place--) {
        mo_sim *sim = create_drop(v, &d, 0);
        spread p = solve_pressure(sim, &d);
        error = fmax(error, fabs(p.mean / exact - 1)), noise = fmax(noise, p.rms / exact);
        if (d.place == 0) {
            at_most(v, 100 * error, 1, "%s: error of the mean pressure, %%", name);
            figure(100 * noise, "%s: rms of the pressure, %%", name);
            for (int s = 0; s < 100; s++) speed = step_sim(sim).max_speed;
            at_most(v, speed, viscosity > 0 ? 0.03 : 0.1, "%s: largest speed after 100 steps", name);
            figure(100 * (solve_pressure(sim, &d).mean / exact - 1), "%s: error of the pressure then, %%", name);
        }
        mo_sim_destroy(sim);
    }
}

static void laplace(validation *v)
{
    for (int flat = 1; flat >= 0; flat--)
        for (int viscous = 0; viscous < 2; viscous++) {
            double radius[MOST_RADII];
            int count = radii(v, flat, radius);
            for (int k = 0; k < count; k++) rest(v, flat, radius[k], viscous ? 0.1 : 0);
        }
}

// ---- What the curvature makes of mode 2 ----

// Amplitude of 1 + 3 stretch cos(2 theta) over what it should be, cells within one of a disc's surface.
static double curvature_response(const validation *v, const drop *d)
{
    mo_sim *sim = create_drop(v, d, 0);
    const mo_grid *g = sim->grid;
    float *kappa = sim->scratch.field[3];
    mo_surface_walls walls = mo_sim_walls(sim);
    double sum = 0, squares = 0;
    mo_error err;
    mo_arena_reset(sim->arena);
    must(mo_curvature(&sim->particles, g, NULL, &walls, kappa, sim->arena, &err), &err);
    for (int32_t i = 0; i < (int32_t)mo_grid_cells(g); i++) {
        int32_t at[3];
        mo_grid_cell(g, i, at);
        mo_vec3 x = mo_sub(mo_grid_world(g, at[0] + 0.5, at[1] + 0.5, at[2] + 0.5), centre(d));
        double theta = atan2(x.y, x.x), wave = cos(2 * theta);
        if (at[2] != MO_MARGIN || fabs(hypot(x.x, x.y) - 1 - d->stretch * wave) > 1.0 / d->radius) continue;
        sum += (kappa[i] - 1) * wave, squares += wave * wave;
    }
    mo_sim_destroy(sim);
    return sum / squares / (3 * d->stretch);
}

static void response(validation *v)
{
    double radius[MOST_RADII];
    int count = radii(v, true, radius), places = 6;
    for (int k = 0; k < count; k++) {
        double sum = 0;
        for (int place = 0; place < places; place++)
            sum += curvature_response(v, &(drop){true, (int32_t)radius[k], 0, 0.04, place});
        const char *format = "2D, R = %g cells: part of mode 2 that the curvature sees";
        if (k < count - 1)
            figure(sum / places, format, radius[k]);
        else
            between(v, sum / places, 0.95, 1.05, format, radius[k]);
    }
}

// ---- Histories ----

enum { MAX_SAMPLES = 20000 };

typedef struct record {
    int count;
    double time[MAX_SAMPLES], stretch[MAX_SAMPLES];
} record;

// The stretch of an ellipse or spheroid with the second moments of the liquid, if small.
static double stretch_of(const mo_sim *sim, bool flat)
{
    snapshot s = take_snapshot(sim);
    double first[3] = {0}, second[3] = {0}, volume = 0;
    for (int64_t q = 0; q < s.count; q++) {
        volume += s.volume[q];
        for (int a = 0; a < 3; a++) {
            double x = s.x[3 * q + a], m = s.volume[q];
            first[a] += m * x, second[a] += m * x * x;
        }
    }
    free_snapshot(&s);
    for (int a = 0; a < 3; a++) first[a] /= volume, second[a] = second[a] / volume - first[a] * first[a];
    return flat ? second[0] - second[1] : 5.0 / 3 * (second[0] - 0.5 * (second[1] + second[2]));
}

static void run(const validation *v, const drop *d, double seconds, double max_step, record *r)
{
    mo_sim *sim = create_drop(v, d, max_step);
    for (r->count = 0; r->count < MAX_SAMPLES; step_sim(sim)) {
        r->time[r->count] = mo_sim_time(sim), r->stretch[r->count++] = stretch_of(sim, d->flat);
        if (mo_sim_time(sim) >= seconds) break;
    }
    mo_sim_destroy(sim);
}

// Slope of y over x, by least squares.
typedef struct line {
    double n, x, y, xx, xy;
} line;

static void line_add(line *l, double x, double y) { l->n++, l->x += x, l->y += y, l->xx += x * x, l->xy += x * y; }
static double line_slope(const line *l) { return (l->n * l->xy - l->x * l->y) / (l->n * l->xx - l->x * l->x); }

// From the zero crossings, and from the largest stretch before each of them. *half_periods: how many lie between.
static double complex ringing(const record *r, int *half_periods)
{
    double first = 0, last = 0, most = 0, at = 0;
    line extremes = {0};
    *half_periods = -1;
    for (int i = 1; i < r->count; i++) {
        double a = r->stretch[i - 1], b = r->stretch[i];
        if (fabs(a) > most) most = fabs(a), at = r->time[i - 1];
        if ((a < 0) == (b < 0)) continue;
        last = r->time[i - 1] + (r->time[i] - r->time[i - 1]) * a / (a - b);
        if (++*half_periods == 0) first = last;
        line_add(&extremes, at, log(most));
        most = 0;
    }
    return line_slope(&extremes) + I * M_PI * *half_periods / (last - first);
}

static void plot(const validation *v, const char *file, const char *title, const record *r, const double *radius,
                 int count, double complex s)
{
    static double theory[MAX_SAMPLES];
    plot_series_t series[MOST_RADII + 1];
    char name[MOST_RADII][40];
    if (!v->plots) return;
    const record *finest = &r[count - 1];
    double w = cimag(s), a = -creal(s); // starts at rest if it oscillates
    for (int i = 0; i < finest->count; i++) {
        double t = finest->time[i], turn = w > 0 ? cos(w * t) + a / w * sin(w * t) : 1;
        theory[i] = finest->stretch[0] * exp(-a * t) * turn;
    }
    series[0] = (plot_series_t){"linear theory", finest->count, finest->time, theory, PLOT_LINE};
    for (int k = 0; k < count; k++) {
        snprintf(name[k], sizeof name[k], "R = %g cells", radius[k]);
        series[k + 1] = (plot_series_t){name[k], r[k].count, r[k].time, r[k].stretch, PLOT_LINE};
    }
    plot_write(v->plots, file, &(plot_def){title, "t sqrt(sigma / (rho R^3))", "stretch", false, false}, series,
               count + 1);
}

// ---- Theory of mode n of a disc ----

// Flow r^n and I_n(k r) with k^2 = s / nu, no shear on the surface, pressure and normal viscous stress balance tension:
//     s^2 + 2 nu s n (n - 1 + b (L - 1)) + n (n^2 - 1) (1 + b) = 0
//     L = k I_n'(k) / I_n(k),  b = -2 n (n - 1) / (k^2 + 2 n^2 - 2 L)
static double complex disc_relation(int n, double nu, double complex s)
{
    double complex term = 1, sum = 0, slope = 0; // the series of I_n and of k I_n', both over (k/2)^n / n!
    for (int m = 0; m < 200; m++) {
        sum += term, slope += (2 * m + n) * term;
        term *= s / (4 * nu) / ((m + 1) * (m + 1 + n));
    }
    double complex L = slope / sum, b = -2 * n * (n - 1) / (s / nu + 2 * n * n - 2 * L);
    return s * s + 2 * nu * s * n * (n - 1 + b * (L - 1)) + n * (n * n - 1) * (1 + b);
}

// Newton from s.
static double complex disc_root(int n, double nu, double complex s)
{
    for (int i = 0; i < 50; i++) {
        double complex h = 1e-6 * s, slope = (disc_relation(n, nu, s + h) - disc_relation(n, nu, s - h)) / (2 * h);
        s -= disc_relation(n, nu, s) / slope;
    }
    return s;
}

// The relation against its limits: small corrections are of the order nu^(1/2) and 1 / nu^2.
static void check_theory(validation *v)
{
    double thin = 1e-3, thick = 100;
    double complex a = disc_root(2, thin, -4 * thin + I * sqrt(6)), b = disc_root(2, thick, -1 / thick);
    between(v, -creal(a) / (4 * thin), 0.96, 1.04, "theory, nu = %g: decay over 2 n (n - 1) nu", thin);
    between(v, cimag(a) / sqrt(6), 0.999, 1.001, "theory, nu = %g: w over sqrt(n (n^2 - 1))", thin);
    between(v, -creal(b) * thick, 0.999, 1.001, "theory, eta = %g: decay over n / (2 eta)", thick);
}

// ---- Oscillation and creep ----

typedef struct mode {
    const char *name, *file, *title;
    bool flat;
    double viscosity, periods;
    double limit; // of the period's error, %, times the radius in cells, at the finest
} mode;

static void oscillate(validation *v, const mode *m)
{
    static record r[MOST_RADII];
    double radius[MOST_RADII], error[MOST_RADII], w = sqrt(m->flat ? 6 : 8);
    int count = radii(v, m->flat, radius), half_periods;
    double complex exact = m->viscosity > 0 ? disc_root(2, m->viscosity, -4 * m->viscosity + I * w) : I * w, s = 0;
    for (int k = 0; k < count; k++) {
        drop d = {.flat = m->flat, .radius = (int32_t)radius[k], .viscosity = m->viscosity, .stretch = 0.04};
        run(v, &d, m->periods * 2 * M_PI / w, 0, &r[k]);
        s = ringing(&r[k], &half_periods);
        error[k] = 100 * (cimag(exact) / cimag(s) - 1);
        const char *format = "%s, R = %g cells: period too long by, %%";
        if (k < count - 1)
            figure(error[k], format, m->name, radius[k]);
        else
            at_most(v, fabs(error[k]), m->limit / radius[k], format, m->name, radius[k]);
        figure(-creal(s), "%s, R = %g cells: decay, for %.4f", m->name, radius[k], fabs(creal(exact)));
    }
    if (m->viscosity > 0)
        between(v, creal(s) / creal(exact), 0.9, 1.1, "%s: decay at the finest over theory's", m->name);
    if (count > 1) {
        at_most(v, fabs(error[count - 1]), fabs(error[0]), "%s: error at the finest, under that at the coarsest",
                m->name);
        figure(fitted_order(count, radius, error), "%s: fitted order of the period", m->name);
    }
    plot(v, m->file, m->title, r, radius, count, exact);
}

static void creep(validation *v)
{
    static record r[MOST_RADII];
    const double viscosity = 10;
    double radius[MOST_RADII], exact = -creal(disc_root(2, viscosity, -1 / viscosity)), found = 0;
    int count = radii(v, true, radius);
    for (int k = 0; k < count; k++) {
        drop d = {.flat = true, .radius = (int32_t)radius[k], .viscosity = viscosity, .stretch = 0.1};
        run(v, &d, 1.5 / exact, 0.01 / exact, &r[k]);
        line l = {0};
        for (int i = 0; i < r[k].count; i++)
            if (r[k].time[i] > 0.2 / exact) line_add(&l, r[k].time[i], log(fabs(r[k].stretch[i])));
        found = -line_slope(&l);
        figure(found, "2D, creep, R = %g cells: decay, for %.4f", radius[k], exact);
    }
    between(v, found / exact, 0.95, 1.05, "2D, creep: decay at the finest over theory's");
    plot(v, "capillary_creep.svg", "Viscous disc, eta = 10: back to round", r, radius, count, -exact);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Surface tension: drops of radius 1, density 1 and tension 1");
    if (wants(&v, "theory")) check_theory(&v);
    if (wants(&v, "laplace")) laplace(&v);
    if (wants(&v, "response")) response(&v);
    if (wants(&v, "modes"))
        oscillate(&v, &(mode){"2D, inviscid", "capillary_2D.svg", "Oscillating disc, inviscid", true, 0, 2.8, 80});
    if (wants(&v, "damped"))
        oscillate(&v,
                  &(mode){"2D, nu = 0.05", "capillary_damped.svg", "Oscillating disc, nu = 0.05", true, 0.05, 2.8, 80});
    if (wants(&v, "modes_3D"))
        oscillate(&v, &(mode){"3D, inviscid", "capillary_3D.svg", "Oscillating sphere, inviscid", false, 0, 2.1, 120});
    if (wants(&v, "creep")) creep(&v);
    return validation_end(&v);
}
