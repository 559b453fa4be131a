// Warnings about completed steps: every step's statistics are compared with bounds, and excesses are counted by kind.
// Values beyond all bounds (NaN, or a hundred times the speed that the scene can make) are errors instead.
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>

// ---- Kinds ----

typedef struct kind {
    const char *name, *text;
    double scale; // of the worst value when shown
    const char *format;
} kind;

static const kind kinds[MO_WARNING_COUNT] = {
    [MO_WARNING_UNSOLVED] = {"unsolved", "a solve ended before it reached its tolerance", 1, "residual %.1e"},
    [MO_WARNING_RELAXED] = {"relaxed", "liquid that cannot change its volume was made to by prescribed motions", 1,
                            "%.0f pieces"},
    [MO_WARNING_ENERGY] = {"energy", "there is more energy than was put in", 100, "%+.3g %%"},
    [MO_WARNING_VOLUME] = {"volume", "the visible volume is off by more than 5 %", 100, "%+.3g %%"},
    [MO_WARNING_OVERLAP] = {"overlap", "solids overlap by more than half a cell", 1, "%.3g cells"},
    [MO_WARNING_ESCAPED] = {"escaped", "bodies are outside closed walls", 1, "%.0f bodies"},
    [MO_WARNING_CLAMPED] = {"clamped", "the correction of more than 2 % of the particles hit its limit", 100,
                            "%.3g %%"},
    [MO_WARNING_BALLISTIC] = {"ballistic", "more than 20 % of the particles fly without pressure", 100, "%.3g %%"},
    [MO_WARNING_INVERTED] = {"inverted", "elements of elastic bodies are turned inside out", 1, "%.0f elements"},
    [MO_WARNING_NEWTON] = {"newton", "Newton's method for elastic bodies ended with a large step", 100, "%.1f %%"},
    [MO_WARNING_SPEED] = {"speed", "something moves faster than anything in the scene can make it", 1, "%.3g m/s"},
};

static const kind *kind_of(mo_warning k) { return (unsigned)k < MO_WARNING_COUNT ? &kinds[k] : NULL; }
const char *mo_warning_name(mo_warning k) { return kind_of(k) ? kind_of(k)->name : "unknown"; }
const char *mo_warning_text(mo_warning k) { return kind_of(k) ? kind_of(k)->text : "unknown"; }

void mo_warning_worst(mo_warning k, double worst, char text[32])
{
    text[0] = 0;
    if (!kind_of(k)) return;
    snprintf(text, 32, kind_of(k)->format, kind_of(k)->scale * worst);
}

// ---- Judging a step ----

enum { FEW = 32 }; // so few particles give no warning, such as the first of an emitter

// The measured value of a kind in a step, and whether it is too large.
typedef struct finding {
    double value;
    bool raised;
} finding;

static finding unsolved(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){s->residual, s->reason == MO_REASON_MAX_ITERATIONS || s->reason == MO_REASON_STALLED};
}

static finding relaxed(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){(double)s->relaxed, s->relaxed > 0};
}

static finding energy(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){s->energy_error, !(s->energy_error <= 0.01)};
}

static finding volume(const mo_stats *s, const mo_warning_bounds *b)
{
    double cell = b->cell * b->cell * b->cell;
    return (finding){s->volume_error,
                     !(fabs(s->volume_error) <= 0.05) && !(fabs(s->volume - s->volume_target) <= cell)};
}

static finding overlap(const mo_stats *s, const mo_warning_bounds *b)
{
    double cells = s->max_penetration / b->cell;
    return (finding){cells, !(cells <= 0.5)};
}

static finding escaped(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){(double)s->escaped, s->escaped > 0};
}

static finding share(int64_t count, int64_t particles, double most)
{
    double value = particles > 0 ? (double)count / (double)particles : 0;
    return (finding){value, count > FEW && value > most};
}

static finding clamped(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return share(s->clamped, s->particles, 0.02);
}

static finding ballistic(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return share(s->ballistic, s->particles, 0.2);
}

static finding inverted(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){(double)s->inverted, s->inverted > 0};
}

// The change of a single round is that of the whole step, and says nothing.
static finding newton(const mo_stats *s, const mo_warning_bounds *b)
{
    (void)b;
    return (finding){s->newton, s->rounds > 1 && !(s->newton <= 0.01)};
}

static finding fast(const mo_stats *s, const mo_warning_bounds *b)
{
    double speed = s->max_body_speed > s->max_speed ? s->max_body_speed : s->max_speed;
    return (finding){speed, !(speed <= 3 * b->speed)};
}

static finding (*const judges[MO_WARNING_COUNT])(const mo_stats *s, const mo_warning_bounds *b) = {
    [MO_WARNING_UNSOLVED] = unsolved, [MO_WARNING_RELAXED] = relaxed,     [MO_WARNING_ENERGY] = energy,
    [MO_WARNING_VOLUME] = volume,     [MO_WARNING_OVERLAP] = overlap,     [MO_WARNING_ESCAPED] = escaped,
    [MO_WARNING_CLAMPED] = clamped,   [MO_WARNING_BALLISTIC] = ballistic, [MO_WARNING_INVERTED] = inverted,
    [MO_WARNING_NEWTON] = newton,     [MO_WARNING_SPEED] = fast,
};

static void note(mo_warning_count *w, const mo_stats *s, double value)
{
    if (w->steps == 0) w->first_step = s->step, w->first_time = s->time;
    if (w->steps == 0 || !(fabs(value) <= fabs(w->worst))) // NaN is the worst
        w->worst = value, w->worst_step = s->step, w->worst_time = s->time;
    w->steps++;
}

mo_warning mo_warnings_judge(mo_warning_count count[MO_WARNING_COUNT], const mo_stats *stats,
                             const mo_warning_bounds *bounds)
{
    MO_ASSERT(bounds->cell > 0);
    mo_warning first = MO_WARNING_COUNT;
    for (int k = 0; k < MO_WARNING_COUNT; k++) {
        finding f = judges[k] ? judges[k](stats, bounds) : (finding){0};
        if (!f.raised) continue;
        note(&count[k], stats, f.value);
        if (first == MO_WARNING_COUNT) first = (mo_warning)k;
    }
    return first;
}

void mo_sim_warnings(const mo_sim *sim, mo_warning_count count[MO_WARNING_COUNT])
{
    for (int k = 0; k < MO_WARNING_COUNT; k++) count[k] = sim->warning[k];
}

// ---- Speeds ----

void mo_sim_note_start(mo_sim *sim)
{
    sim->given_speed = sim->air.present ? mo_sim_air_speed(sim) : mo_particles_max_speed(&sim->particles);
    if (sim->band.cells) sim->given_speed = fmax(sim->given_speed, mo_band_max_speed(&sim->band, sim->grid));
    for (int32_t i = 0; i < sim->def.emitter_count; i++)
        sim->given_speed = fmax(sim->given_speed, mo_norm(sim->emitters[i].velocity));
    for (int32_t i = 0; i < sim->solid_count; i++)
        sim->given_speed = fmax(sim->given_speed, mo_solid_speed(&sim->solids[i]));
    for (int32_t k = 0; k < sim->elastics.count; k++)
        sim->given_speed = fmax(sim->given_speed, mo_norm(sim->elastics.body[k].wind.velocity));
}

// The speed that the scene can make: the fall through the diagonal of the domain, motions that were prescribed or
// existed at the start, and the surface of a drop of one cell's radius, added up as energies. A cell per frame is
// always allowed.
static mo_warning_bounds bounds_of(const mo_sim *sim)
{
    double dx = sim->grid->dx, given = sim->given_speed;
    mo_vec3 size = mo_v3(dx * sim->cells[0], dx * sim->cells[1], sim->cells[2] > 1 ? dx * sim->cells[2] : 0);
    double squares =
        2 * mo_norm(sim->def.gravity) * mo_norm(size) + given * given + 6 * sim->surface_tension / (sim->density * dx);
    return (mo_warning_bounds){.cell = dx, .speed = fmax(sqrt(squares), dx * sim->def.time.fps)};
}

// The speed beyond which a result is wrong in any case: a hundred times that speed, or the speed at which a scripted
// solid drives liquid out of a slit of one cell.
static double speed_limit(const mo_sim *sim)
{
    double squeeze = 0, diagonal = mo_norm(mo_v3(sim->cells[0], sim->cells[1], sim->cells[2]));
    for (int32_t i = 0; i < sim->solid_count; i++)
        if (sim->solids[i].motion) squeeze = sim->given_speed * diagonal;
    return 100 * fmax(bounds_of(sim).speed, squeeze);
}

static bool is_outside(const mo_sim *sim, mo_vec3 x)
{
    if (!sim->def.domain.contact) return false; // the scene lets them pass
    for (int a = 0; a < (sim->cells[2] > 1 ? 3 : 2); a++) {
        const mo_wall *wall = &sim->def.domain.walls[2 * a];
        if (wall[0] != MO_WALL_OPEN && mo_get(x, a) < 0) return true;
        if (wall[1] != MO_WALL_OPEN && mo_get(x, a) > sim->grid->dx * sim->cells[a]) return true;
    }
    return false;
}

// Fails with step, place and speed in the message, and counts a warning too.
static mo_status fail_speed(mo_sim *sim, double dt, const char *what, mo_vec3 x, double speed, double limit,
                            mo_error *err)
{
    mo_stats now = {.step = sim->step, .time = sim->time + dt};
    note(&sim->warning[MO_WARNING_SPEED], &now, speed);
    if (!isfinite(speed))
        return mo_fail(err, MO_ERROR_FAILED, "step %lld, %g s: the velocity of %s at (%g, %g, %g) m is not finite",
                       (long long)now.step, now.time, what, x.x, x.y, x.z);
    return mo_fail(
        err, MO_ERROR_FAILED,
        "step %lld, %g s: %s at (%g, %g, %g) m moves at %.3g m/s, a hundred times what the scene can give and "
        "more (limit %.3g m/s)",
        (long long)now.step, now.time, what, x.x, x.y, x.z, speed, limit);
}

static mo_status check_bodies(mo_sim *sim, double dt, double limit, mo_error *err)
{
    mo_stats *stats = &sim->stats;
    for (int32_t i = 0; i < sim->solid_count; i++) {
        const mo_solid *s = &sim->solids[i];
        if (!mo_solid_is_body(s)) continue;
        double speed = s->elastic ? mo_elastic_speed(s->elastic) : mo_norm(s->velocity);
        char what[96];
        snprintf(what, sizeof what, "%s '%s'", mo_solid_kind(s), s->name);
        bool known = mo_v3_finite(s->pose.position) && mo_v3_finite(s->angular_velocity) && isfinite(speed);
        if (!known || speed > limit)
            return fail_speed(sim, dt, what, s->pose.position, known ? speed : NAN, limit, err);
        stats->max_body_speed = fmax(stats->max_body_speed, mo_norm(s->velocity));
        stats->escaped += is_outside(sim, s->pose.position);
    }
    return MO_OK;
}

mo_status mo_sim_check_motion(mo_sim *sim, double dt, mo_error *err)
{
    for (int32_t i = 0; i < sim->solid_count; i++)
        if (sim->solids[i].motion) sim->given_speed = fmax(sim->given_speed, mo_solid_speed(&sim->solids[i]));
    for (int32_t k = 0; k < sim->elastics.count; k++)
        sim->given_speed = fmax(sim->given_speed, mo_elastic_script_speed(&sim->elastics.body[k]));
    const mo_particles *p = &sim->particles;
    double limit = speed_limit(sim), most = mo_particles_max_speed(p);
    MO_TRY(check_bodies(sim, dt, limit, err));
    if (most <= limit) return MO_OK;
    int32_t worst = 0;
    double speed = -1;
    for (int32_t q = 0; q < p->count && !isnan(speed); q++) {
        double here = mo_norm(mo_v3(p->v[0][q], p->v[1][q], p->v[2][q])); // squares that are too large for a float
        if (!(here <= speed)) speed = here, worst = q;
    }
    mo_vec3 x = mo_grid_world(sim->grid, p->x[0][worst], p->x[1][worst], p->x[2][worst]);
    return fail_speed(sim, dt, "liquid", x, speed, limit, err);
}

mo_status mo_sim_judge(mo_sim *sim, mo_error *err)
{
    mo_warning_bounds bounds = bounds_of(sim);
    mo_warning warning = mo_warnings_judge(sim->warning, &sim->stats, &bounds);
    if (warning == MO_WARNING_COUNT || !sim->def.solver.strict) return MO_OK;
    char worst[32];
    mo_warning_worst(warning, judges[warning](&sim->stats, &bounds).value, worst);
    return mo_fail(err, MO_ERROR_FAILED, "strict: step %lld, %g s: %s: %s (%s)", (long long)sim->stats.step,
                   sim->stats.time, mo_warning_name(warning), mo_warning_text(warning), worst);
}
