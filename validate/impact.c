// A disc (2D) and a ball of liquid of radius R hit a floor at speed V, without gravity, against Wagner's theory of
// impact for V t << R (Wagner 1932; for drops: Philippi, Lagree, Antkowiak 2016). The place up to which the floor is
// wet, behind the layer that is thrown out, is at
//
//     c = 2 sqrt(R V t) for a disc,  c = sqrt(3 R V t) for a ball;
//
// the floor takes the momentum of the added mass of the wet part, pi/2 rho c^2 V per length and 4/3 rho c^3 V; and the
// layer leaves at 2 dc/dt: at 4 V R/c and 3 V R/c, many times the speed of the fall. What left at the time s flies on,
// and is at c(s) + 2 c'(s) (t - s) = t 2 c'(s): at any time, liquid of the layer at x has the speed x/t. The layer is
// pi c^3/(32 R^2) thick for a disc: less than a cell at first, when it would be fastest.
//
// One half of the disc and a quarter of the ball are in the domain, beside walls that they slip along.
#include "validate.h"
#include "plot.h"
#include "sim/sim.h"

enum { TIMES = 6 };
static const double times[TIMES] = {0.02, 0.04, 0.06, 0.08, 0.1, 0.15}; // V t/R

typedef struct state {
    double momentum; // that the floor took, kg m/s
    double fastest;  // m/s
    double layer;    // median of (speed) t/x of what lies beyond c
    double spread;   // three quarters of it differ by less from 1
    int64_t count;   // of particles there
    double part;     // of the liquid that is faster than 3 V
} state;

static int ascending(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static state measure(const mo_sim *sim, double t, double c)
{
    snapshot s = take_snapshot(sim);
    state m = {0};
    double all = 0, *layer = checked(malloc(sizeof(double) * (size_t)(s.count + 1)));
    for (int64_t q = 0; q < s.count; q++) {
        const float *x = s.x + 3 * q, *v = s.v + 3 * q;
        double r = hypot(x[0], x[2]), speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        m.momentum += 1000 * s.volume[q] * (v[1] + 1), all += s.volume[q];
        m.fastest = fmax(m.fastest, speed);
        if (speed > 3) m.part += s.volume[q];
        if (r > 1.1 * c && x[1] < 0.1 * c) layer[m.count++] = speed * t / r;
    }
    qsort(layer, (size_t)m.count, sizeof *layer, ascending);
    m.layer = m.count > 10 ? layer[m.count / 2] : 0, m.part /= all;
    for (int64_t k = 0; k < m.count; k++) layer[k] = fabs(layer[k] - 1);
    qsort(layer, (size_t)m.count, sizeof *layer, ascending);
    m.spread = m.count > 10 ? layer[3 * m.count / 4] : 0;
    free(layer);
    free_snapshot(&s);
    return m;
}

static mo_sim *falling(const validation *v, bool flat, int32_t per_radius)
{
    mo_sim_def def = mo_sim_def_default();
    def.domain.size = mo_v3(2, 2.25, flat ? 0 : 2), def.domain.cells = per_radius * 9 / 4;
    def.gravity = mo_v3(0, 0, 0), def.threads = v->threads;
    def.time.fps = 100, def.time.seconds = 0.15, def.time.max_step = 0.1 / per_radius;
    mo_shape *ball = checked(flat ? mo_shape_cylinder(1, 10) : mo_shape_sphere(1)),
             *lying = checked(mo_shape_rotate(ball, mo_v3(1, 0, 0), 90)),
             *above = checked(mo_shape_move(lying, mo_v3(0, 1, 0)));
    mo_liquid_def liquid = mo_liquid_def_default();
    liquid.shape = above, liquid.velocity = mo_v3(0, -1, 0);
    def.liquids = &liquid, def.liquid_count = 1;
    mo_sim *sim = create_sim(&def);
    mo_shape_release(ball), mo_shape_release(lying), mo_shape_release(above);
    return sim;
}

typedef struct course { // of v t/x in the layer
    char name[24];
    int32_t count;
    double t[TIMES], layer[TIMES];
} course;

// `within`: how far the layer may be from theory, 0: as far as it likes.
static void tell(validation *v, const char *what, double within, double t, const state *s, course *c)
{
    figure(s->fastest, "%s, V t/R %.2f: fastest liquid over V", what, t);
    if (s->count < 10) return;
    c->t[c->count] = t, c->layer[c->count++] = s->layer;
    if (within > 0 && t > 0.09)
        between(v, s->layer, 1 - within, 1 + within, "%s, V t/R %.2f: median of v t/x in the layer, 1 by theory", what,
                t);
    else
        figure(s->layer, "%s, V t/R %.2f: median of v t/x in the layer, 1 by theory", what, t);
    figure(s->part, "%s, V t/R %.2f: part of the liquid that is faster than 3 V", what, t);
}

// The layer is a cell thick when c^3 = 32/(pi per_radius), c in radii: at V t/R = 0.09 for 48 cells, 0.06 for 96.
static course impact(validation *v, bool flat, double within, int32_t per_radius)
{
    mo_sim *sim = falling(v, flat, per_radius);
    double width = flat ? sim->grid->dx : 1, most = 0;
    course out = {.count = 0};
    snprintf(out.name, sizeof out.name, "%s, %d cells", flat ? "disc" : "ball", per_radius);
    for (int k = 0; k < TIMES; k++) {
        while (mo_sim_time(sim) < times[k] - 1e-9) most = fmax(most, step_sim(sim).energy_error);
        double t = mo_sim_time(sim), c = flat ? 2 * sqrt(t) : sqrt(3 * t);
        double taken = flat ? 0.5 * M_PI / 2 * 1000 * c * c * width : 0.25 * 4.0 / 3 * 1000 * c * c * c;
        state s = measure(sim, t, c);
        figure(s.momentum / taken, "%s, V t/R %.2f: momentum that the floor took, over theory", out.name, t);
        tell(v, out.name, within, t, &s, &out);
    }
    at_most(v, most, 0.01, "%s: largest energy error", out.name);
    mo_sim_destroy(sim);
    return out;
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "A disc and a ball of liquid hit a floor");
    course c[5];
    plot_series_t series[5];
    int count = 0;
    if (wants(&v, "disc"))
        for (int k = 0; k < (v.quick ? 2 : 3); k++)
            c[count++] = impact(&v, true, (double[]){0, 0.12, 0.04}[k], 48 << k);
    if (wants(&v, "ball"))
        for (int k = 0; k < (v.quick ? 1 : 2); k++) c[count++] = impact(&v, false, 0, 16 << k);
    for (int k = 0; k < count; k++) series[k] = (plot_series_t){c[k].name, c[k].count, c[k].t, c[k].layer, PLOT_LINE};
    if (v.plots)
        plot_write(v.plots, "impact.svg",
                   &(plot_def){"Impact: speed of the layer over x/t", "V t/R", "v t/x", false, false}, series, count);
    return validation_end(&v);
}
