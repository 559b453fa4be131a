// What a run needs, told before it starts: particles, memory, CPU time of a frame.
//
// Memory depends on too much for a formula: viscosity, how bodies and sheets cut the grid, the scheme, meshes. So
// coarser copies of the scene are made, as fine as the time allows, and do some steps. Their memory and their time are
// fitted and continued to the scene's own cells. Meshes of elastic bodies in the copies are those of the scene.
#include "base/elementary.h"
#include "base/parallel.h"
#include "sim/sim.h"
#include <math.h>

// Bytes per particle, per cell of liquid and per vertex, as measured on a settled pool (docs/performance.md): the rule
// of thumb where nothing is measured.
enum { BYTES_PER_PARTICLE = 110, BYTES_PER_CELL = 1100, BYTES_PER_VERTEX = 6000, BYTES_PER_AIR_CELL = 600 };
enum { BYTES_PER_VISCOUS_CELL = 4000 };

// ---- Counting ----

static bool is_flat(const mo_sim *sim) { return sim->cells[2] == 1; }

static double particles_per_cell(const mo_sim *sim)
{
    double n = sim->def.particles_per_axis;
    return n * n * (is_flat(sim) ? 1 : n);
}

static double domain_cells(const mo_sim *sim)
{
    return (double)sim->cells[0] * (double)sim->cells[1] * (double)sim->cells[2];
}

// Particles that emitters let in until the end, if nothing flows out; never more than the domain holds.
static double emitted(const mo_sim *sim, int64_t seeds)
{
    double cells = 0, room = domain_cells(sim) - (double)seeds / particles_per_cell(sim);
    for (int32_t i = 0; i < sim->def.emitter_count; i++) {
        double open = fmin(sim->emitters[i].seconds, sim->def.time.seconds - sim->emitters[i].start);
        cells += fmax(open, 0) * sim->flow[i].volume;
    }
    return fmax(fmin(cells, room), 0) * particles_per_cell(sim);
}

static double rule_of_thumb(const mo_sim *sim, int64_t particles)
{
    double bytes = sim->air.present ? BYTES_PER_AIR_CELL * domain_cells(sim) : 0;
    for (int32_t k = 0; k < sim->elastics.count; k++)
        bytes += (double)mo_cholesky_bytes(sim->elastics.node[k].factor) +
                 (double)sim->elastics.body[k].body.vertices * BYTES_PER_VERTEX;
    double per_cell = sim->viscous ? BYTES_PER_VISCOUS_CELL : BYTES_PER_CELL, n = (double)particles;
    return bytes + n * BYTES_PER_PARTICLE + n / particles_per_cell(sim) * per_cell;
}

// Counts particles, and measures the memory of everything that is not liquid, smoke or tiles: as it is afterwards, and
// the most that making it took. `size` is what memory and time grow with, in cells.
typedef struct body_of_scene {
    double size, domain, bytes, peak; // domain: its cells
    double thumb;                     // bytes of the rest, by the rule of thumb
    bool viscous;
} body_of_scene;

static double size_of(const mo_sim *sim, int64_t particles)
{
    bool liquid = sim->def.liquid_count + sim->def.emitter_count > 0;
    return liquid ? (double)particles / particles_per_cell(sim) + sim->band.cells : domain_cells(sim);
}

static mo_status count(const mo_sim_def *def, mo_needs *out, body_of_scene *body, mo_error *err)
{
    mo_sim *sim = NULL;
    int64_t before = mo_memory_in_use();
    mo_memory_reset_peak();
    mo_status status = mo_sim_create_empty(def, &sim, err);
    body->bytes = (double)(mo_memory_in_use() - before), body->peak = (double)(mo_memory_peak() - before);
    if (status == MO_OK) {
        out->particles = mo_sim_count_seeds(sim, &out->sampled, err);
        if (out->particles < 0) status = err->status;
    }
    if (status == MO_OK) {
        out->most_particles = out->particles + (int64_t)emitted(sim, out->particles);
        body->viscous = sim->viscous;
        body->thumb = rule_of_thumb(sim, out->most_particles);
        out->bytes = before + (int64_t)fmax(body->bytes + body->thumb, body->peak);
        body->size = size_of(sim, out->most_particles), body->domain = domain_cells(sim);
    }
    mo_sim_destroy(sim);
    return status;
}

// ---- Copies ----

typedef struct sample {
    int32_t cells, steps;
    double size, bytes, frame_seconds; // bytes: without those of `body_of_scene`
    double time;                       // s, until which it came
    double filled;                     // the most of the domain that liquid filled, if the copy came to its end, else 0
} sample;

// Some steps; with emitters as many as the time allows, because the liquid grows.
static mo_status run_copy(mo_sim *sim, double seconds, sample *out, mo_error *err)
{
    const int32_t most = sim->def.emitter_count ? INT32_MAX : 30;
    double start = mo_cpu_seconds(), used = 0;
    while (out->steps < most && !mo_sim_done(sim) && (out->steps < 2 || used < seconds)) {
        mo_stats stats;
        MO_TRY(mo_sim_step(sim, &stats, err));
        used = mo_cpu_seconds() - start;
        out->steps++;
        out->size = fmax(out->size, size_of(sim, mo_sim_particle_count(sim)));
    }
    out->time = mo_sim_time(sim);
    if (mo_sim_done(sim)) out->filled = out->size / domain_cells(sim);
    if (out->steps && mo_sim_time(sim) > 0) out->frame_seconds = used / (mo_sim_time(sim) * sim->def.time.fps);
    return MO_OK;
}

static mo_status measure(const mo_sim_def *def, int32_t cells, double seconds, sample *out, mo_error *err)
{
    mo_sim_def copy = *def;
    mo_sim *sim = NULL;
    copy.domain.cells = cells, copy.log = NULL;
    copy.solver.strict = copy.solver.verify = false;
    *out = (sample){.cells = cells};
    mo_status status = mo_sim_create_empty(&copy, &sim, err);
    int64_t before = mo_memory_in_use();
    mo_memory_reset_peak();
    if (status == MO_OK) status = mo_sim_fill(sim, err);
    if (status == MO_OK) status = run_copy(sim, seconds, out, err);
    out->bytes = (double)(mo_memory_peak() - before);
    mo_sim_destroy(sim);
    return status;
}

// Cells along the longest edge with which the domain has about so many cells in all.
static int32_t cells_for(const mo_domain_def *d, double total)
{
    double longest = fmax(d->size.x, fmax(d->size.y, d->size.z)), x = d->size.x / longest, y = d->size.y / longest,
           z = d->size.z / longest;
    double cells = z > 0 ? cbrt(total / (x * y * z)) : sqrt(total / (x * y));
    return (int32_t)fmax(4, fmin(cells, d->cells));
}

// Where liquid enters, only a copy that came as far as a coarser one says more than it.
static void note_sample(const mo_sim_def *def, const sample *next, sample pair[2], int *found)
{
    if (def->emitter_count == 0)
        pair[0] = pair[1], pair[1] = *next, ++*found;
    else if (!*found || next->time >= pair[1].time)
        pair[1] = *next, *found = 1;
}

// Measures copies that become finer while time is left; the last two go to pair[0] and pair[1]. `filled` is that of the
// finest copy that came to its end. Returns how many were measured.
static int measure_copies(const mo_sim_def *def, double seconds, sample pair[2], double *filled, mo_error *why)
{
    int found = 0;
    bool flat = def->domain.size.z <= 0;
    const double start = mo_cpu_seconds(), finer = 1.5, cost = flat ? 3 : 4.5; // of a copy so much finer
    int32_t cells = cells_for(&def->domain, flat ? 500 : 3000);
    for (;;) {
        sample next;
        double began = mo_cpu_seconds();
        mo_status status = measure(def, cells, seconds * (def->emitter_count ? 0.3 : 0.1), &next, why);
        if (status == MO_ERROR_MEMORY) break;
        if (status == MO_OK) note_sample(def, &next, pair, &found);
        if (status == MO_OK && next.filled > 0) *filled = next.filled;
        double now = mo_cpu_seconds(), took = def->emitter_count ? 0.3 * seconds : cost * (now - began);
        if (cells == def->domain.cells || now - start + took > seconds) break;
        cells = (int32_t)fmin(ceil(finer * cells), def->domain.cells);
    }
    return found;
}

// ---- From copies to the scene ----

static double to_the_power(double base, double exponent) { return mo_exp(exponent * mo_ln(base)); }

// Memory is a constant and a part that grows with the liquid, size; what grows with the liquid's surface is between.
static double extend_bytes(const sample *a, const sample *b, double size)
{
    size = fmax(size, b->size);
    if (!(b->size > a->size)) return b->bytes * size / b->size; // a single sample
    double linear = b->bytes + fmax(b->bytes - a->bytes, 0) / (b->size - a->size) * (size - b->size);
    double exponent = mo_ln(fmax(b->bytes / a->bytes, 1)) / mo_ln(b->size / a->size);
    return sqrt(linear * b->bytes * to_the_power(size / b->size, fmin(exponent, 1)));
}

// How many times more cells the tiles over a domain have than it has itself: much in coarse copies.
static double excess_of_tiles(const mo_domain_def *d, int32_t cells)
{
    const double size[3] = {d->size.x, d->size.y, d->size.z}, longest = fmax(size[0], fmax(size[1], size[2]));
    double excess = 1;
    for (int a = 0; a < (size[2] > 0 ? 3 : 2); a++) {
        double along = fmax(floor(size[a] / longest * cells + 0.5), 1);
        excess *= MO_TILE * ceil((along + 2 * MO_MARGIN) / MO_TILE) / along;
    }
    return excess;
}

static void conclude(const mo_sim_def *def, const body_of_scene *body, const sample pair[2], int found, mo_needs *out)
{
    const sample *a = &pair[found > 1 ? 0 : 1], *b = &pair[1];
    double n = def->domain.cells, axes = def->domain.size.z > 0 ? 3 : 2;
    out->measured_cells = b->cells, out->measured_steps = b->steps;
    // Small copies vary: two thirds of the power with which time grows are those of the number of cells.
    double power = axes;
    if (a->frame_seconds > 0 && b->cells > a->cells)
        power = mo_ln(b->frame_seconds / a->frame_seconds) / mo_ln((double)b->cells / a->cells);
    power = (fmin(fmax(power, 0), axes + 1) + 2 * axes) / 3;
    out->frame_seconds = b->frame_seconds * to_the_power(n / b->cells, power);
    double bytes = extend_bytes(a, b, body->size);
    // Nearly half of the memory of liquids without viscosity is that of tiles.
    if (!body->viscous)
        bytes *= to_the_power(
            excess_of_tiles(&def->domain, def->domain.cells) / excess_of_tiles(&def->domain, b->cells), 0.4);
    // A coarse jet fills few cells of its tiles, and the mean with the rule of thumb was nearer in the two scenes that
    // were compared.
    if (def->emitter_count) bytes = sqrt(bytes * body->thumb);
    out->bytes = mo_memory_in_use() + (int64_t)fmax(body->bytes + bytes, body->peak);
}

// Emitters were measured to the end: liquid filled that part of the domain, which says more than their flow.
static void follow_emitters(double filled, mo_needs *out, body_of_scene *body)
{
    double size = fmin(body->size,
                       fmax(filled * body->domain, body->size * (double)out->particles / (double)out->most_particles));
    out->most_particles = (int64_t)((double)out->most_particles * size / body->size);
    body->thumb *= size / body->size, body->size = size;
}

// Gives the copies the meshes of the scene's elastic bodies, which are chosen by its cells.
static mo_status keep_meshes(mo_sim_def *def, mo_elastic_def *elastics, mo_tets *meshes, mo_error *err)
{
    for (int32_t i = 0; i < def->elastic_count; i++) {
        MO_TRY(mo_sim_elastic_mesh(def, i, &meshes[i], err));
        elastics[i] = def->elastics[i];
        elastics[i].mesh = &meshes[i], elastics[i].shape = NULL, elastics[i].element = 0;
    }
    def->elastics = elastics;
    return MO_OK;
}

mo_status mo_sim_needs(const mo_sim_def *def, double seconds, mo_needs *out, mo_error *err)
{
    mo_error local;
    body_of_scene body;
    if (!err) err = &local;
    *out = (mo_needs){0};
    mo_use_threads(def->threads);
    MO_TRY(count(def, out, &body, err));
    if (!(seconds > 0)) return MO_OK;
    mo_sim_def copy = *def;
    mo_elastic_def *elastics = mo_calloc(sizeof *elastics * (size_t)def->elastic_count + 1);
    mo_tets *meshes = mo_calloc(sizeof *meshes * (size_t)def->elastic_count + 1);
    mo_status status = elastics && meshes ? keep_meshes(&copy, elastics, meshes, err) : mo_fail_memory(err);
    sample pair[2];
    double filled = 0;
    int found = status == MO_OK ? measure_copies(&copy, seconds, pair, &filled, &out->why) : 0;
    for (int32_t i = 0; meshes && i < def->elastic_count; i++) mo_tets_destroy(&meshes[i]);
    mo_free(elastics), mo_free(meshes);
    if (filled > 0 && def->emitter_count) follow_emitters(filled, out, &body);
    if (found) conclude(def, &body, pair, found, out);
    return status;
}

mo_status mo_sim_estimate(const mo_sim_def *def, int64_t *particles, int64_t *bytes, mo_error *err)
{
    mo_needs needs;
    MO_TRY(mo_sim_needs(def, 0, &needs, err));
    *particles = needs.particles, *bytes = needs.bytes - mo_memory_in_use();
    return MO_OK;
}
