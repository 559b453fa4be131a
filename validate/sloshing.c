// Small standing waves in a tank: the first mode's frequency against w^2 = g k tanh(k h), k = pi / L.
//
// The liquid starts with a slightly tilted surface. The x of its centre of mass moves with the first mode; higher modes
// enter a tilted plane with 1/9, 1/25 of the amplitude and the centre of mass with as little again. The frequency comes
// from the zero crossings over the whole run.
//
// Parts: "short", 6 and 7 periods on fine grids; "long", 30 periods on coarse ones: waves must neither fade nor grow,
// and keep their frequency.
#include "validate.h"
#include "plot.h"
#include "base/vec.h"

static const double length = 1, gravity = 9.81, amplitude = 0.03;

typedef struct wave {
    double depth;
    int32_t cells, layers; // layers: cells across the tank in 3D, 0 = 2D
    double periods;
    double tolerance; // of the frequency, %; 0: only told
    double fading;    // how much of the amplitude may go or come per period, %; 0: only told
} wave;

enum { MAX_SAMPLES = 4000 };

typedef struct record {
    int count;
    double time[MAX_SAMPLES], x[MAX_SAMPLES];
} record;

static double centre_x(const mo_sim *sim)
{
    snapshot s = take_snapshot(sim);
    double sum = 0, volume = 0;
    for (int64_t q = 0; q < s.count; q++) sum += (double)s.volume[q] * s.x[3 * q], volume += s.volume[q];
    free_snapshot(&s);
    return sum / volume;
}

static double theory(const wave *w)
{
    double k = M_PI / length;
    return sqrt(gravity * k * tanh(k * w->depth));
}

static void run(const validation *v, const wave *w, record *r)
{
    mo_sim_def def = mo_sim_def_default();
    double dx = length / w->cells;
    def.domain.size = mo_v3(length, ceil((w->depth + 0.15) / dx) * dx, w->layers * dx);
    def.domain.cells = w->cells;
    def.gravity = mo_v3(0, -gravity, 0);
    def.threads = v->threads;
    def.time.seconds = w->periods * 2 * M_PI / theory(w);
    // The half space below a plane through the middle of the surface.
    mo_vec3 normal = mo_normalize(mo_v3(-2 * amplitude / length, 1, 0));
    mo_shape *below = checked(mo_shape_plane(normal, mo_dot(normal, mo_v3(0.5 * length, w->depth, 0))));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = below;
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_error err;
    r->count = 0;
    for (;;) {
        r->time[r->count] = mo_sim_time(sim), r->x[r->count++] = centre_x(sim) - 0.5 * length;
        if (mo_sim_done(sim) || r->count == MAX_SAMPLES) break;
        must(mo_sim_advance(sim, NULL, NULL, &err), &err);
    }
    mo_sim_destroy(sim);
    mo_shape_release(below);
}

// From the first to the last zero crossing, by linear interpolation. *half_periods: how many lie between.
static double measured(const record *r, int *half_periods)
{
    double first = 0, last = 0;
    int crossings = 0;
    for (int i = 1; i < r->count; i++) {
        double a = r->x[i - 1], b = r->x[i];
        if ((a < 0) == (b < 0)) continue;
        double t = r->time[i - 1] + (r->time[i] - r->time[i - 1]) * a / (a - b);
        if (crossings++ == 0) first = t;
        last = t;
    }
    *half_periods = crossings - 1;
    return M_PI * (crossings - 1) / (last - first);
}

// What is left of the amplitude per period, from the largest excursions of the first and the last period.
static double left_per_period(const record *r, double frequency)
{
    double period = 2 * M_PI / frequency, end = r->time[r->count - 1], first = 0, last = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->time[i] < period) first = fmax(first, fabs(r->x[i]));
        if (r->time[i] > end - period) last = fmax(last, fabs(r->x[i]));
    }
    return pow(last / first, 1 / (end / period - 1));
}

static void check(validation *v, const wave *w)
{
    static record r;
    run(v, w, &r);
    int half_periods;
    double exact = theory(w), found = measured(&r, &half_periods);
    const char *d = w->layers ? "3D" : "2D";
    between(v, half_periods, 10, 100, "%s, %d cells, depth %g: half periods measured", d, w->cells, w->depth);
    double error = 100 * fabs(found / exact - 1), lost = 100 * (1 - left_per_period(&r, exact));
    char what[100];
    snprintf(what, sizeof what, "%s, %d cells, depth %g: w = %.4f for %.4f 1/s, error %%", d, w->cells, w->depth, found,
             exact);
    if (w->tolerance > 0)
        at_most(v, error, w->tolerance, "%s", what);
    else
        figure(error, "%s", what);
    snprintf(what, sizeof what, "%s, %d cells, depth %g, %g periods: amplitude lost per period, %%", d, w->cells,
             w->depth, w->periods);
    if (w->fading > 0)
        between(v, lost, -w->fading, w->fading, "%s", what);
    else
        figure(lost, "%s", what);
    if (!v->plots || w->fading > 0) return;
    char file[100], title[100];
    double *theory_x = checked(malloc(sizeof(double) * MAX_SAMPLES));
    for (int i = 0; i < r.count; i++) theory_x[i] = r.x[0] * cos(exact * r.time[i]);
    snprintf(file, sizeof file, "sloshing_%s_%g.svg", d, w->depth);
    snprintf(title, sizeof title, "Sloshing, %s, depth %g m: centre of mass", d, w->depth);
    plot_series_t s[] = {{"linear theory", r.count, r.time, theory_x, PLOT_LINE},
                         {"simulation", r.count, r.time, r.x, PLOT_LINE}};
    plot_write(v->plots, file, &(plot_def){title, "t, s", "x - L/2, m", false, false}, s, 2);
    free(theory_x);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Sloshing: first mode of a tank of length 1 m");
    if (wants(&v, "short")) {
        int32_t cells = v.cells ? v.cells : v.quick ? 56 : 96;
        check(&v, &(wave){0.5, cells, 0, 7, 2, 0});
        check(&v, &(wave){0.25, cells, 0, 7, 2, 0});
        check(&v, &(wave){0.5, v.quick ? 56 : 64, v.quick ? 4 : 6, 6, 2, 0});
    }
    if (wants(&v, "long"))
        for (int32_t cells = v.cells ? v.cells : 32; cells <= (v.cells ? v.cells : 48); cells += 16) {
            double periods = v.quick ? 10 : 30;
            check(&v, &(wave){0.5, cells, 0, periods, 0.5, 1});
            check(&v, &(wave){0.25, cells, 0, periods, 0.5, 1});
        }
    return validation_end(&v);
}
