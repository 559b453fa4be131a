// The scenes of Takahashi and Batty (2020), Monolith, with viscous liquid, and what their figures claim, as numbers:
// pressure, viscosity and contact in one solve against the same in turn (figures 4 to 7), momentum in free flight
// (figure 8), sinking into four liquids (figure 11).
//
// Run from the project's directory: it reads the scenes.
#include "validate.h"
#include "plot.h"
#include "base/vec.h"

enum { MOST = 400 };

typedef struct track { // a run, by frames
    const char *name, *scheme;
    int frames;
    double time[MOST], height[MOST]; // s, m: of the first rigid body
    double slip[MOST], wetted[MOST]; // m/s, m^3: of the liquid next to what it sticks to, slip_at_wall, slip_at_body
    double liquid[MOST];             // m: height of the liquid's centre
    mo_vec3 momentum[MOST];          // kg m/s, of everything
    double push[MOST];               // kg m/s: momentum of the first rigid body in x
    double iterations, steps;        // of all solves
    double deepest, least, last;     // cells: overlap of solids; relative: volume error, <= 0, and in the last step
    double fastest;                  // m/s: body
    double farthest;                 // m: body from the first one, at the end
    double dx, mass;                 // m, kg
    bool failed;                     // the run ended with an error
    char error[1000];
} track;

typedef struct place { // where to measure slip: at a plane x = wall, or at the first rigid body
    double wall;       // m; NAN: at the body
} place;

// ---- Measures ----

static mo_body_state first_rigid(const mo_sim *sim)
{
    mo_body_state b = {0};
    for (int32_t i = 0; i < mo_sim_solid_count(sim) && !b.rigid; i++) mo_sim_body(sim, i, &b);
    return b;
}

static mo_vec3 velocity_of(const mo_body_state *b, mo_vec3 x)
{
    return mo_add(b->velocity, mo_cross(b->angular_velocity, mo_sub(x, b->pose.position)));
}

// Speed of the liquid along the wall, as it is at the wall itself: the line through the speeds of the liquid within
// three cells of it, which a shear flow that sticks makes 0. What lies within half a cell tells nothing: there may be
// no particle, and a speed there is mostly shear. And the volume of that layer.
static void slip_at_wall(double wall, const snapshot *s, double dx, double *slip, double *wetted)
{
    double n = 0, d = 0, v = 0, dd = 0, dv = 0;
    for (int64_t q = 0; q < s->count; q++) {
        double at = (s->x[3 * q] - wall) / dx, w = s->volume[q];
        if (at > 3) continue;
        double speed = hypot(s->v[3 * q + 1], s->v[3 * q + 2]);
        n += w, d += w * at, v += w * speed, dd += w * at * at, dv += w * at * speed;
    }
    double spread = n * dd - d * d;
    *slip = spread > 0 ? (v * dd - d * dv) / spread : 0, *wetted = n;
}

// Mean speed of the liquid within half a cell of the body, relative to it, and the volume of that layer.
static void slip_at_body(const mo_body_state *b, const snapshot *s, double dx, double *slip, double *wetted)
{
    double sum = 0, volume = 0;
    for (int64_t q = 0; q < s->count; q++) {
        mo_vec3 x = mo_v3(s->x[3 * q], s->x[3 * q + 1], s->x[3 * q + 2]),
                v = mo_v3(s->v[3 * q], s->v[3 * q + 1], s->v[3 * q + 2]);
        if (mo_shape_distance(b->shape, mo_pose_to_body(b->pose, x)) > 0.5 * dx) continue;
        sum += s->volume[q] * mo_norm(mo_sub(v, velocity_of(b, x))), volume += s->volume[q];
    }
    *slip = volume > 0 ? sum / volume : 0, *wetted = volume;
}

static void sample(track *t, const mo_sim *sim, const place *p)
{
    if (t->frames >= MOST) return;
    int i = t->frames++;
    snapshot s = take_snapshot(sim);
    mo_body_state first = first_rigid(sim);
    double volume = 0, moment = 0;
    mo_vec3 momentum = {0, 0, 0};
    for (int64_t q = 0; q < s.count; q++) {
        double m = 1000 * s.volume[q];
        volume += s.volume[q], moment += s.volume[q] * s.x[3 * q + 1];
        momentum = mo_mad(momentum, m, mo_v3(s.v[3 * q], s.v[3 * q + 1], s.v[3 * q + 2]));
    }
    t->mass = 1000 * volume, t->farthest = 0;
    for (int32_t k = 0; k < mo_sim_solid_count(sim); k++) {
        mo_body_state b;
        mo_sim_body(sim, k, &b);
        if (!b.rigid) continue;
        t->mass += b.mass;
        momentum = mo_mad(momentum, b.mass, b.velocity);
        t->fastest = fmax(t->fastest, mo_norm(b.velocity));
        t->farthest = fmax(t->farthest, mo_norm(mo_sub(b.pose.position, first.pose.position)));
    }
    if (isnan(p->wall))
        slip_at_body(&first, &s, t->dx, &t->slip[i], &t->wetted[i]);
    else
        slip_at_wall(p->wall, &s, t->dx, &t->slip[i], &t->wetted[i]);
    t->time[i] = mo_sim_time(sim), t->height[i] = first.pose.position.y, t->liquid[i] = moment / volume;
    t->momentum[i] = momentum, t->push[i] = first.mass * first.velocity.x;
    free_snapshot(&s);
}

static void on_step(void *user, const mo_stats *stats)
{
    track *t = user;
    t->iterations += stats->iterations, t->steps++;
    t->deepest = fmax(t->deepest, stats->max_penetration / t->dx);
    t->least = fmin(t->least, stats->volume_error), t->last = stats->volume_error;
}

// The value of a series at a time, between frames.
static double at(const track *t, const double *series, double time)
{
    for (int i = 1; i < t->frames; i++) {
        if (t->time[i] < time) continue;
        double w = (time - t->time[i - 1]) / (t->time[i] - t->time[i - 1]);
        return (1 - w) * series[i - 1] + w * series[i];
    }
    return NAN;
}

static double mean(const track *t, const double *series, double from, double to)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < t->frames; i++)
        if (t->time[i] >= from - 1e-9 && t->time[i] <= to + 1e-9) sum += series[i], n++;
    return n ? sum / n : NAN;
}

static double speed_down(const track *t, const double *series, double from, double to)
{
    return (at(t, series, from) - at(t, series, to)) / (to - from);
}

// ---- Runs ----

typedef struct setting {
    const char *scene;
    int cells;
    double seconds;
    const char *more; // one more override, or NULL
} setting;

static mo_scene *load(const validation *v, const setting *s, const char *scheme)
{
    char path[100], cells[40], seconds[40], chosen[60];
    snprintf(path, sizeof path, "scenes/%s.lua", s->scene);
    snprintf(cells, sizeof cells, "domain.cells=%d", v->cells ? v->cells : s->cells);
    snprintf(seconds, sizeof seconds, "time.seconds=%g", s->seconds);
    snprintf(chosen, sizeof chosen, "solver.scheme=%s", scheme);
    const char *overrides[] = {cells, seconds, chosen, s->more};
    mo_scene *scene;
    mo_error err;
    must(mo_scene_load(path, overrides, s->more ? 4 : 3, &scene, &err), &err);
    mo_scene_sim_def_mutable(scene)->threads = v->threads;
    return scene;
}

static double cell_size(const mo_sim_def *d)
{
    return fmax(d->domain.size.x, fmax(d->domain.size.y, d->domain.size.z)) / d->domain.cells;
}

// Runs a scene, from a state if there is one.
static void run(const validation *v, const setting *s, const place *p, track *t, const void *state, size_t bytes)
{
    mo_scene *scene = load(v, s, t->scheme);
    mo_sim *sim = create_sim(mo_scene_sim_def(scene));
    mo_error err;
    t->dx = cell_size(mo_scene_sim_def(scene));
    if (state) must(mo_sim_load(sim, state, bytes, &err), &err);
    sample(t, sim, p);
    while (!mo_sim_done(sim) && !t->failed) {
        t->failed = mo_sim_advance(sim, on_step, t, &err) != MO_OK;
        if (t->failed)
            snprintf(t->error, sizeof t->error, "%s", err.text);
        else
            sample(t, sim, p);
    }
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
    fprintf(stderr, "  %s, %s: %g steps, %g iterations%s%s\n", s->scene, t->scheme, t->steps, t->iterations,
            t->failed ? ", failed: " : "", t->error);
}

// The state of the unified scheme at the time `from`.
static void *state_of(const validation *v, const setting *s, double from, size_t *bytes)
{
    mo_scene *scene = load(v, s, "PVC-unified");
    mo_sim *sim = create_sim(mo_scene_sim_def(scene));
    mo_error err;
    void *state;
    while (mo_sim_time(sim) < from - 1e-9) must(mo_sim_advance(sim, NULL, NULL, &err), &err);
    must(mo_sim_save(sim, &state, bytes, &err), &err);
    mo_sim_destroy(sim);
    mo_scene_destroy(scene);
    return state;
}

static void at_least(validation *v, double measured, double limit, const char *what)
{
    between(v, measured, limit, INFINITY, "%s", what);
}

// ---- Figure 4: thrown at a wall ----

static const char *const pair_name[2] = {"unified", "decoupled"};
static const char *const pair_scheme[2] = {"PVC-unified", "PC-VC-PC"};

static void plot_pair(const validation *v, const char *file, const char *title, const char *label, const track *t,
                      bool slip)
{
    if (!v->plots) return;
    plot_series_t series[2];
    for (int k = 0; k < 2; k++)
        series[k] = (plot_series_t){t[k].name, t[k].frames, t[k].time, slip ? t[k].slip : t[k].height, PLOT_LINE};
    plot_def p = {title, "t, s", label, false, false};
    plot_write(v->plots, file, &p, series, 2);
}

// The two schemes have left each other's ways by the time they are compared. So also: both go on from the state that
// the unified one has at the time `from`.
static void go_on(const validation *v, const setting *s, const place *p, double from, track t[2])
{
    size_t bytes;
    void *state = state_of(v, s, from, &bytes);
    for (int k = 0; k < 2; k++) {
        t[k] = (track){.name = pair_name[k], .scheme = pair_scheme[k]};
        run(v, s, p, &t[k], state, bytes);
    }
    mo_free_block(state);
}

static void thrown_at_wall(validation *v)
{
    static track t[2], next[2];
    const place wall = {0.1};
    const double end = v->quick ? 0.4 : 0.8;
    setting s = {"wall_drag", 40, end, NULL};
    double slip[2], wetted[2], sinking[2][2];
    for (int k = 0; k < 2; k++) {
        t[k] = (track){.name = pair_name[k], .scheme = pair_scheme[k]};
        run(v, &s, &wall, &t[k], NULL, 0);
        slip[k] = mean(&t[k], t[k].slip, 0.04, 0.1), wetted[k] = at(&t[k], t[k].wetted, 0.2);
        figure(slip[k], "wall, %s: slip at the wall, 0.04 .. 0.1 s, m/s", t[k].name);
        figure(mean(&t[k], t[k].slip, 0.2, end), "wall, %s: ... after 0.2 s, m/s", t[k].name);
        figure(1e3 * wetted[k], "wall, %s: liquid within 3 cells of it at 0.2 s, litres", t[k].name);
        figure(t[k].liquid[0] - at(&t[k], t[k].liquid, end), "wall, %s: height lost by the liquid, m", t[k].name);
        figure(t[k].height[0] - at(&t[k], t[k].height, end), "wall, %s: height lost by the rabbit, m", t[k].name);
    }
    plot_pair(v, "monolith_wall_slip.svg", "Thrown at a wall: slip of the liquid along it", "m/s", t, true);
    plot_pair(v, "monolith_wall_height.svg", "Thrown at a wall: the rabbit's height", "m", t, false);
    s.seconds = 0.4;
    go_on(v, &s, &wall, 0.2, next);
    for (int k = 0; k < 2; k++) {
        sinking[0][k] = speed_down(&next[k], next[k].liquid, 0.2, 0.4);
        sinking[1][k] = speed_down(&next[k], next[k].height, 0.2, 0.4);
        figure(mean(&next[k], next[k].slip, 0.22, 0.4), "wall, same state, %s: slip at the wall, m/s", next[k].name);
        figure(sinking[0][k], "wall, same state, %s: liquid sinks at, m/s", next[k].name);
        figure(sinking[1][k], "wall, same state, %s: rabbit sinks at, m/s", next[k].name);
    }
    double leaves[2] = {sinking[1][0] - sinking[0][0], sinking[1][1] - sinking[0][1]};
    figure(sinking[0][1] / sinking[0][0], "wall, same state: liquid sinks, decoupled / unified");
    at_least(v, slip[1] / slip[0], 1.3, "wall: slip at impact, decoupled / unified");
    at_least(v, sinking[1][1] / sinking[1][0], 1.05, "wall, same state: rabbit sinks, decoupled / unified");
    at_least(v, leaves[1] / leaves[0], 1.05, "wall, same state: rabbit leaves the liquid, decoupled / unified");
}

// ---- Figure 5: on a hemisphere ----

static void on_hemisphere(validation *v)
{
    static track t[2], next[2];
    const place body = {NAN};
    setting s = {"rabbit_hemisphere", 32, v->quick ? 0.6 : 1, NULL};
    double sinking[2], slip[2];
    for (int k = 0; k < 2; k++) {
        t[k] = (track){.name = pair_name[k], .scheme = pair_scheme[k]};
        run(v, &s, &body, &t[k], NULL, 0);
        figure(1e3 * speed_down(&t[k], t[k].height, 0.4, s.seconds), "hemisphere, %s: sinks after 0.4 s at, mm/s",
               t[k].name);
        figure(1e6 * t[k].wetted[t[k].frames - 1], "hemisphere, %s: liquid at the rabbit at the end, cm^3", t[k].name);
        figure(t[k].iterations / t[k].steps, "hemisphere, %s: iterations a step", t[k].name);
    }
    plot_pair(v, "monolith_hemisphere.svg", "A rabbit on tar: its height", "m", t, false);
    s.seconds = 0.6;
    go_on(v, &s, &body, 0.4, next);
    for (int k = 0; k < 2; k++) {
        sinking[k] = speed_down(&next[k], next[k].height, 0.4, 0.6);
        slip[k] = mean(&next[k], next[k].slip, 0.42, 0.6);
        figure(1e3 * sinking[k], "hemisphere, same state, %s: sinks at, mm/s", next[k].name);
        figure(1e3 * slip[k], "hemisphere, same state, %s: slip along the rabbit, mm/s", next[k].name);
    }
    at_least(v, sinking[1] / sinking[0], 1.2, "hemisphere, same state: sinks, decoupled / unified");
    at_least(v, slip[1] / slip[0], 1.2, "hemisphere, same state: slip, decoupled / unified");
}

// ---- Figures 6 and 7: bowls ----

// The papers correct particles' positions locally (docs/volume.md). Ours makes up for what split schemes press out of a
// bowl, so that volume would not tell them apart.
static const char *const schemes[] = {"PVC-unified", "PV-C", "C-PV", "PVC-iterative"};
enum { UNIFIED, CONTACT_LAST, CONTACT_FIRST, ITERATED, SCHEMES };
static const char papers_correction[] = "volume.correct=local";

static void report_bowl(const char *what, const track *t)
{
    figure(100 * t->least, "%s, %s: least volume, %% off", what, t->scheme);
    figure(100 * t->last, "%s, %s: volume at the end, %% off", what, t->scheme);
    figure(t->deepest, "%s, %s: deepest overlap of solids, cells", what, t->scheme);
    figure(t->iterations / t->steps, "%s, %s: iterations a step", what, t->scheme);
    figure(t->fastest, "%s, %s: fastest body, m/s", what, t->scheme);
}

static void plot_bowls(const validation *v, const char *file, const char *title, const track *t, int count)
{
    if (!v->plots) return;
    plot_series_t series[SCHEMES];
    for (int k = 0; k < count; k++)
        series[k] = (plot_series_t){t[k].scheme, t[k].frames, t[k].time, t[k].height, PLOT_LINE};
    plot_def p = {title, "t, s", "m", false, false};
    plot_write(v->plots, file, &p, series, count);
}

static void into_bowl(validation *v)
{
    static track t[SCHEMES], papers[2];
    const place body = {NAN};
    setting s = {"viscous_bowl", 32, v->quick ? 0.4 : 0.8, NULL};
    double apart = 0;
    for (int k = 0; k < SCHEMES; k++) {
        t[k] = (track){.name = schemes[k], .scheme = schemes[k]};
        run(v, &s, &body, &t[k], NULL, 0);
        report_bowl("bowl", &t[k]);
    }
    for (int i = 0; i < t[UNIFIED].frames && i < t[ITERATED].frames; i++)
        apart = fmax(apart, fabs(t[UNIFIED].height[i] - t[ITERATED].height[i]) / t[UNIFIED].dx);
    plot_bowls(v, "monolith_bowl.svg", "Syrup into a bowl: the bowl's height", t, SCHEMES);
    at_most(v, 100 * fabs(t[UNIFIED].least), 1, "bowl, PVC-unified: volume lost, %%");
    at_most(v, t[UNIFIED].deepest, 0.5, "bowl, PVC-unified: deepest overlap, cells");
    s.more = papers_correction;
    for (int k = 0; k < 2; k++) {
        papers[k] = (track){.name = schemes[k], .scheme = schemes[k]};
        run(v, &s, &body, &papers[k], NULL, 0);
        report_bowl("bowl, the papers' correction", &papers[k]);
    }
    at_least(v, -100 * papers[CONTACT_LAST].last, 20, "bowl, the papers' correction, PV-C: volume lost at the end, %");
    at_most(v, -100 * papers[UNIFIED].last, 5, "bowl, the papers' correction, PVC-unified: the same, %%");
    at_least(v, t[CONTACT_FIRST].deepest, 1, "bowl, C-PV: deepest overlap, cells");
    at_most(v, apart, 0.01, "bowl: PVC-iterative against PVC-unified, height of the bowl, cells");
    at_least(v, t[ITERATED].iterations / t[UNIFIED].iterations, 5, "bowl: iterations, PVC-iterative / PVC-unified");
}

static void nine_bodies(validation *v)
{
    static track t[SCHEMES];
    const place body = {NAN};
    for (int k = 0; k < SCHEMES; k++) {
        setting s = {"nine_in_bowl", 30, v->quick || k == ITERATED ? 0.26 : 0.5, NULL};
        t[k] = (track){.name = schemes[k], .scheme = schemes[k]};
        run(v, &s, &body, &t[k], NULL, 0);
        report_bowl("nine", &t[k]);
        figure(t[k].farthest, "nine, %s: body farthest from the bowl at the end, m", t[k].scheme);
    }
    double end = t[UNIFIED].time[t[UNIFIED].frames - 1],
           sunk = t[UNIFIED].height[0] - at(&t[UNIFIED], t[UNIFIED].height, end),
           pushed = t[CONTACT_LAST].height[0] - at(&t[CONTACT_LAST], t[CONTACT_LAST].height, end);
    plot_bowls(v, "monolith_nine.svg", "Nine bodies into a floating bowl: the bowl's height", t, SCHEMES);
    at_most(v, t[UNIFIED].failed, 0, "nine, PVC-unified: failed");
    at_most(v, t[UNIFIED].deepest, 0.5, "nine, PVC-unified: deepest overlap, cells");
    at_most(v, t[UNIFIED].fastest, 4, "nine, PVC-unified: fastest body, m/s");
    at_most(v, t[UNIFIED].farthest, 0.34, "nine, PVC-unified: body farthest from the bowl at the end, m");
    at_most(v, 100 * fabs(t[UNIFIED].least), 1, "nine, PVC-unified: volume lost, %%");
    at_least(v, t[CONTACT_FIRST].deepest / t[UNIFIED].deepest, 1.5, "nine: deepest overlap, C-PV / PVC-unified");
    figure(sunk, "nine, PVC-unified: bowl pushed down by, m");
    at_least(v, pushed / sunk, 1.3, "nine: bowl pushed down by, PV-C / PVC-unified");
}

// ---- Figure 8: free flight ----

typedef struct spin {
    mo_vec3 velocity, turn, centre;
} spin;

static mo_status common_motion(void *user, mo_vec3 x, mo_vec3 *velocity, mo_error *err)
{
    const spin *s = user;
    (void)err;
    *velocity = mo_add(s->velocity, mo_cross(s->turn, mo_sub(x, s->centre)));
    return MO_OK;
}

// Ball and rabbit touch and share one rigid motion: nothing may act between them. Largest difference between the body
// and one without the ball, and, without turning, between the liquid and free fall; m/s and 1/s.
static double fly_as_one(const validation *v, mo_vec3 turn, int steps)
{
    setting s = {"free_flight", 40, 0.4, "param.gap=0"};
    mo_scene *scene = load(v, &s, "PVC-unified");
    mo_sim_def def = *mo_scene_sim_def(scene);
    mo_liquid_def ball = def.liquids[0];
    mo_solid_def rabbit = def.solids[0];
    mo_sim *both = create_sim(&def);
    spin all = {mo_v3(0.3, 2, -0.2), turn, first_rigid(both).pose.position};
    mo_sim_destroy(both);
    ball.velocity_fn = common_motion, ball.user = &all;
    rabbit.velocity = all.velocity, rabbit.angular_velocity = turn;
    def.liquids = &ball, def.solids = &rabbit;
    def.time.max_step = 0.005;
    both = create_sim(&def);
    def.liquid_count = 0;
    mo_sim *alone = create_sim(&def);
    double worst = 0;
    for (int i = 0; i < steps; i++) {
        mo_stats stats = step_sim(both), other = step_sim(alone);
        if (stats.dt != other.dt) return INFINITY;
        mo_body_state a = first_rigid(both), b = first_rigid(alone);
        worst = fmax(worst, mo_norm(mo_sub(a.velocity, b.velocity)));
        worst = fmax(worst, mo_norm(mo_sub(a.angular_velocity, b.angular_velocity)));
        snapshot p = take_snapshot(both);
        for (int64_t q = 0; q < p.count && mo_norm(turn) == 0; q++) {
            mo_vec3 u = mo_v3(p.v[3 * q], p.v[3 * q + 1], p.v[3 * q + 2]);
            worst = fmax(worst, mo_norm(mo_sub(u, b.velocity)));
        }
        free_snapshot(&p);
    }
    mo_sim_destroy(both), mo_sim_destroy(alone);
    mo_scene_destroy(scene);
    return worst;
}

static void in_flight(validation *v)
{
    static track t;
    const place body = {NAN};
    const mo_vec3 still = {0, 0, 0}, turn = {1, -2, 3};
    at_most(v, fly_as_one(v, still, 40), 2e-5, "flight: as one, 40 steps: what acts between the two, m/s");
    at_most(v, fly_as_one(v, turn, 1), 2e-5, "flight: as one, turning, one step: what acts, m/s and 1/s");
    setting s = {"free_flight", 32, 0.4, NULL};
    t = (track){.name = "unified", .scheme = "PVC-unified"};
    run(v, &s, &body, &t, NULL, 0);
    double drift[3] = {0}, exchanged = fabs(t.push[t.frames - 1] - t.push[0]);
    for (int i = 0; i < t.frames; i++) {
        mo_vec3 free = mo_mad(t.momentum[0], t.mass * t.time[i], mo_v3(0, -9.81, 0)), d = mo_sub(t.momentum[i], free);
        for (int a = 0; a < 3; a++) drift[a] = fmax(drift[a], fabs(mo_get(d, a)) / exchanged);
    }
    figure(100 * drift[0], "flight: momentum of the pair, x, %% of what is exchanged");
    figure(100 * drift[1], "flight: ... y");
    figure(100 * drift[2], "flight: ... z");
    at_most(v, 100 * fmax(drift[0], fmax(drift[1], drift[2])), 2, "flight: momentum of the pair, largest, %%");
    figure(t.slip[t.frames - 1], "flight: slip between the two at the end, m/s");
}

// ---- Figure 11: sinking into four liquids ----

static void four_liquids(validation *v)
{
    static track t[4];
    static const char *const names[] = {"Newtonian", "thinning", "thickening", "Bingham"};
    const place body = {NAN};
    double speed[4];
    for (int k = 0; k < 4; k++) {
        char only[40];
        snprintf(only, sizeof only, "param.only=%d", k + 1);
        setting s = {"body_rheologies", 24, v->quick ? 0.3 : 0.4, only};
        t[k] = (track){.name = names[k], .scheme = "PVC-unified"};
        run(v, &s, &body, &t[k], NULL, 0);
        speed[k] = speed_down(&t[k], t[k].height, 0.1, 0.2);
        figure(speed[k], "liquids, %s: sinking speed 0.1 .. 0.2 s, m/s", t[k].name);
        figure(t[k].height[0] - t[k].height[t[k].frames - 1], "liquids, %s: fallen at the end, m", t[k].name);
    }
    if (v->plots) {
        plot_series_t series[4];
        for (int k = 0; k < 4; k++)
            series[k] = (plot_series_t){t[k].name, t[k].frames, t[k].time, t[k].height, PLOT_LINE};
        plot_def p = {"A rabbit falls into four liquids: its height", "t, s", "m", false, false};
        plot_write(v->plots, "monolith_liquids.svg", &p, series, 4);
    }
    at_least(v, speed[1] / speed[0], 1.1, "liquids: sinking speed, thinning / Newtonian");
    at_least(v, speed[0] / speed[2], 1.1, "liquids: sinking speed, Newtonian / thickening");
    at_least(v, speed[2] / speed[3], 1.1, "liquids: sinking speed, thickening / Bingham");
}

int main(int argc, char **argv)
{
    validation v = validation_start(argc, argv, "Viscous liquids and rigid bodies: the claims of the Monolith paper");
    if (wants(&v, "wall")) thrown_at_wall(&v);
    if (wants(&v, "hemisphere")) on_hemisphere(&v);
    if (wants(&v, "bowl")) into_bowl(&v);
    if (wants(&v, "nine")) nine_bodies(&v);
    if (wants(&v, "flight")) in_flight(&v);
    if (wants(&v, "liquids")) four_liquids(&v);
    return validation_end(&v);
}
