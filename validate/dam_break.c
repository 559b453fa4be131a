// Collapse of a water column against the experiment of Martin & Moyce (1952): a column a = 57.15 mm wide and 2 a high,
// front and height over time. The gate makes the experiment lag, so its front may be shifted in time.
//
//     T = n t sqrt(g/a), Z = front / a;   tau = t sqrt(g/a), H = height / (n^2 a);   n^2 = 2
#include "validate.h"
#include "plot.h"
#include "base/vec.h"

static const double a = 0.05715, gravity = 9.81;

static const double front_time[] = {.41,  .84,  1.19, 1.43, 1.63, 1.83, 1.98, 2.20,
                                    2.32, 2.51, 2.65, 2.83, 2.98, 3.11, 3.33};
static const double front_place[] = {1.11, 1.22, 1.44, 1.67, 1.89, 2.11, 2.33, 2.56,
                                     2.78, 3.00, 3.22, 3.44, 3.67, 3.89, 4.11};
static const double height_time[] = {.56,  .77,  .93,  1.08, 1.28, 1.46, 1.66, 1.84, 2.00,
                                     2.21, 2.45, 2.70, 3.06, 3.44, 4.20, 5.25, 7.40};
static const double height_place[] = {.94, .89, .83, .78, .72, .67, .61, .56, .50,
                                      .44, .39, .33, .28, .22, .17, .11, .06};
enum { FRONTS = sizeof front_time / sizeof *front_time, HEIGHTS = sizeof height_time / sizeof *height_time };
enum { MAX_SAMPLES = 1000 };

typedef struct record {
    int count;
    double T[MAX_SAMPLES], Z[MAX_SAMPLES], tau[MAX_SAMPLES], H[MAX_SAMPLES];
} record;

static int ascending(const void *p, const void *q)
{
    float x = *(const float *)p, y = *(const float *)q;
    return (x > y) - (x < y);
}

// The coordinate below which 99.9 percent of the chosen particles' volume lies; particles have equal volumes.
static double extent(float *values, int64_t count)
{
    if (count == 0) return 0;
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[(int64_t)(0.999 * (double)(count - 1))];
}

// Front: along the floor, the lowest 0.15 a. Height: along the wall behind the column, 0.1 a wide.
static void measure(const mo_sim *sim, record *r)
{
    snapshot s = take_snapshot(sim);
    float *floor_x = checked(malloc(sizeof(float) * (size_t)(s.count + 1))),
          *wall_y = checked(malloc(sizeof(float) * (size_t)(s.count + 1)));
    int64_t low = 0, near = 0;
    for (int64_t q = 0; q < s.count; q++) {
        if (s.x[3 * q + 1] < 0.15 * a) floor_x[low++] = s.x[3 * q];
        if (s.x[3 * q] < 0.1 * a) wall_y[near++] = s.x[3 * q + 1];
    }
    int i = r->count++;
    r->tau[i] = mo_sim_time(sim) * sqrt(gravity / a), r->T[i] = sqrt(2) * r->tau[i];
    r->Z[i] = extent(floor_x, low) / a, r->H[i] = extent(wall_y, near) / (2 * a);
    free(floor_x), free(wall_y);
    free_snapshot(&s);
}

static void run(const validation *v, int32_t per_a, int32_t layers, record *r)
{
    mo_sim_def def = mo_sim_def_default();
    double dx = a / per_a;
    def.domain.size = mo_v3(9 * a, 2.5 * a, layers * dx);
    def.domain.cells = 9 * per_a;
    def.gravity = mo_v3(0, -gravity, 0);
    def.threads = v->threads;
    def.time.fps = 400, def.time.seconds = 4.4 * sqrt(a / gravity);
    mo_shape *box = checked(mo_shape_box(mo_v3(2 * a, 4 * a, 1))); // a quarter of it lies in the tank
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = box;
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_error err;
    r->count = 0;
    measure(sim, r);
    while (!mo_sim_done(sim) && r->count < MAX_SAMPLES) {
        must(mo_sim_advance(sim, NULL, NULL, &err), &err);
        measure(sim, r);
    }
    mo_sim_destroy(sim);
    mo_shape_release(box);
}

// y at x, by linear interpolation in an ascending table.
static double lookup(int count, const double *xs, const double *ys, double x)
{
    if (x <= xs[0]) return ys[0];
    for (int i = 1; i < count; i++)
        if (x <= xs[i]) return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    return ys[count - 1];
}

// Time at which the front first reaches Z.
static double arrival(const record *r, double Z)
{
    for (int i = 1; i < r->count; i++)
        if (r->Z[i] >= Z) return r->T[i - 1] + (r->T[i] - r->T[i - 1]) * (Z - r->Z[i - 1]) / (r->Z[i] - r->Z[i - 1]);
    return NAN;
}

// Largest speed of the front over half a unit of T.
static double fastest(const record *r)
{
    double most = 0;
    for (int i = 0; i < r->count && r->T[i] + 0.5 <= r->T[r->count - 1]; i++)
        most = fmax(most, (lookup(r->count, r->T, r->Z, r->T[i] + 0.5) - r->Z[i]) / 0.5);
    return most;
}

static void check(validation *v, int32_t per_a, int32_t layers)
{
    static record r;
    run(v, per_a, layers, &r);
    const char *d = layers ? "3D" : "2D";
    between(v, 2 / (arrival(&r, 4) - arrival(&r, 2)), 1, 1.6, "%s, %d cells per a: speed of the front dZ/dT, 2 < Z < 4",
            d, per_a);
    at_most(v, fastest(&r), 2, "%s, %d cells per a: largest speed of the front", d, per_a);
    double lag = 0, height = 0;
    for (int i = 0; i < FRONTS; i++) lag += (front_time[i] - arrival(&r, front_place[i])) / FRONTS;
    double rms = 0;
    for (int i = 0; i < FRONTS; i++) rms += pow(front_time[i] - lag - arrival(&r, front_place[i]), 2) / FRONTS;
    for (int i = 0; i < HEIGHTS; i++)
        if (height_time[i] <= r.tau[r.count - 1])
            height = fmax(height, fabs(height_place[i] - lookup(r.count, r.tau, r.H, height_time[i])));
    at_most(v, fabs(lag), 0.35, "%s, %d cells per a: lag of the experiment's front in T, mean", d, per_a);
    figure(sqrt(rms), "%s, %d cells per a: front after the shift, rms in T", d, per_a);
    at_most(v, height, 0.1, "%s, %d cells per a: height, largest deviation", d, per_a);
    if (!v->plots || layers) return;
    plot_series_t front[] = {{"simulation", r.count, r.T, r.Z, PLOT_LINE},
                             {"Martin and Moyce 1952", FRONTS, front_time, front_place, PLOT_POINTS}};
    plot_series_t tall[] = {{"simulation", r.count, r.tau, r.H, PLOT_LINE},
                            {"Martin and Moyce 1952", HEIGHTS - 2, height_time, height_place, PLOT_POINTS}};
    plot_write(v->plots, "dam_break_front.svg", &(plot_def){"Dam break: front", "T", "Z", false, false}, front, 2);
    plot_write(v->plots, "dam_break_height.svg", &(plot_def){"Dam break: height", "tau", "H", false, false}, tall, 2);
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Dam break of Martin and Moyce");
    check(&v, v.cells ? v.cells : v.quick ? 12 : 24, 0);
    check(&v, v.quick ? 8 : 16, 4);
    return validation_end(&v);
}
